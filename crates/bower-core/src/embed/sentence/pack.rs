//! Packs a published sentence encoder into the int8 file that the engine maps.

use std::path::Path;

use sha2::{Digest, Sha256};

use super::{ARITHMETIC, CONTROL_TOKENS, Prompts, SentenceModel};
use crate::embed::layout;
use crate::embed::packed::place;
use crate::embed::published::PublishedFiles;
use crate::embed::tokenizer::Tokenizer;
use crate::embed::weights::{Tensors, floats, measured_sections};
use crate::error::Result;
use crate::item::hex;

/// The packed file's name in the model's folder.
pub const SENTENCE_PACKED: &str = "sentence.i8-1.packed";
/// The published files from which a sentence encoder is packed. All but the first two may be absent; `modules.json` may name
/// further folders, each with a `config.json` and perhaps a `model.safetensors`.
pub const SENTENCE_FILES: [&str; 7] = [
    "config.json",
    "model.safetensors",
    "vocab.txt",
    "tokenizer.json",
    "modules.json",
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
];
/// Longest name of a model in an identity, in bytes: the packed file's name has 64, of which the checksum and the arithmetic
/// take 23.
const LONGEST_NAME: usize = 40;
/// Characters of the checksum in an identity.
const SUM_CHARS: usize = 8;
/// Fewest pieces of a text in a window, beside its prompt.
const LEAST_ROOM: usize = 16;

/// What the published files leave open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SentenceOptions {
    /// The prompts of a model whose files name none.
    pub prompts: Option<Prompts>,
    /// The numbers that are kept of each vector, for a model trained so that its first numbers are a vector too
    /// (Kusupati et al., "Matryoshka Representation Learning", 2022). `None` keeps all.
    pub dimension: Option<usize>,
}

/// Reads a published sentence encoder's files ([`SENTENCE_FILES`]) in `source_dir` and writes the packed file: to a temporary
/// name first, synced, then renamed. Returns what the model is. Its identity has a checksum of all that decides a vector:
/// the files, prompts, window and dimension.
///
/// Fails with [`crate::Error::Model`] that names `name` if the files are not a BERT with pooling by the mean or the first
/// token. Fails with it too if the kernels do not support the sizes, or the tokenizer is of another kind. Fails with
/// [`crate::Error::Io`] or a related error on the disk.
pub fn pack_sentence(
    name: &str,
    source_dir: &Path,
    packed: &Path,
    options: &SentenceOptions,
) -> Result<SentenceModel> {
    let mut files = PublishedFiles::new(name, source_dir);
    let parts = files.parts()?;
    let (config, weights) = files.transformer(&parts)?;
    let shape = config
        .shape(&|name| name.starts_with("Bert"), "a Bert model")
        .map_err(|reason| files.broken(reason))?;
    let tokenizer = files.tokenizer(&parts)?;
    let tensors = Tensors::open(name, &weights)?;
    let prefix = if tensors.has("bert.embeddings.word_embeddings.weight") { "bert." } else { "" };
    let width = parts.dense.last().map_or(shape.hidden, |(dense, ..)| dense.outputs);
    let window = files.most_tokens(&parts)?.unwrap_or(shape.positions).min(shape.positions);
    let prompts = files.prompts()?.or_else(|| options.prompts.clone()).unwrap_or_default();
    let about = SentenceModel {
        shape,
        pooling: parts.pooling,
        counts_prompt: parts.counts_prompt,
        dense: parts.dense.iter().map(|(shape, ..)| *shape).collect(),
        dimension: options.dimension.unwrap_or(width),
        prompts,
        window,
        sources: files.sha256.clone(),
    };
    about.check().map_err(|reason| files.broken(reason))?;
    let mut longest = 0;
    for prompt in [&about.prompts.question, &about.prompts.text] {
        let mut pieces = Vec::new();
        Tokenizer::open(&tokenizer)?.encode(prompt, &mut pieces);
        longest = longest.max(pieces.len());
    }
    if longest + CONTROL_TOKENS + LEAST_ROOM > window {
        return Err(files.broken(format!("has a prompt of {longest} pieces for windows of {window} tokens")));
    }
    let json = serde_json::to_vec(&about).map_err(|cause| files.broken(cause.to_string()))?;
    let identity = identity(name, &json);
    let encoder = measured_sections(&tensors, prefix, shape, tokenizer, &identity)
        .map_err(|error| files.name_it(error))?;
    let mut sections = encoder.sections;
    sections.extend(parts.dense.into_iter().map(|(_, weights, bias)| floats(&[weights, bias].concat())));
    sections.push(json);
    place(packed, &layout::write(&identity, &sections))?;
    Ok(about)
}

/// Returns a model's identity: its name, a checksum of what it is, and the arithmetic.
fn identity(name: &str, about: &[u8]) -> String {
    let mut name = name.rsplit('/').next().unwrap_or(name).to_owned();
    name.retain(|char| char.is_ascii_alphanumeric() || "-_.".contains(char));
    name.truncate(LONGEST_NAME);
    let sum = hex(&Sha256::digest(about));
    format!("{name}.{}{ARITHMETIC}", &sum[..SUM_CHARS])
}
