//! Cross-encoders: an int8 BERT reads a question and a text together and gives one relevance score.
//! It runs from a mapped packed file. Relevances of different models are never compared, and the score of a pair does
//! not depend on other pairs.
//!
//! Any folder of the model hub works whose `config.json` describes a `BertForSequenceClassification` with one label
//! (`cross-encoder/ms-marco-MiniLM-L6-v2`, Apache-2.0, is the usual one). For others [`pack_cross`] reports what is not
//! supported.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use bower_kernels::Isa;
use bower_kernels::gemm::Then;
use serde::{Deserialize, Serialize};

use super::bert::{
    Encoder, EncoderShape, Product, SECTIONS_PRODUCT, Scratch, Second, Wanted, array, at_path,
};
use super::layout::{self, PackedLayout, damaged};
use super::pack::read;
use super::packed::Packed;
use super::packed::place;
use super::published::{BertConfig, cased};
use super::weights::{Tensors, floats, measured_sections, quantized};
use super::wordpiece::pack_vocabulary;
use crate::error::{Error, Result};

/// The arithmetic of a packed cross-encoder. Raise the last number whenever the same pair would get another relevance.
pub const CROSS_ARITHMETIC: &str = "cross.i8-1";
/// The packed file's name in the model's folder.
pub const CROSS_PACKED: &str = "cross.i8-1.packed";
/// The published files from which a cross-encoder is packed.
pub const CROSS_FILES: [&str; 3] = ["config.json", "vocab.txt", "model.safetensors"];

/// Most tokens of one pair (Athena), `[CLS]` and both `[SEP]` included.
const PAIR_TOKENS: usize = 512;
/// Number of control tokens: `[CLS] question [SEP] text [SEP]`.
const CONTROL_TOKENS: usize = 3;
/// Number of sections after the encoder: the second text's shift, the pooler, the classifier's weights, then the description.
const AFTER: usize = 1 + SECTIONS_PRODUCT + 2;

/// An open cross-encoder. One value serves all threads; each call borrows a set of buffers.
#[derive(Debug)]
pub struct CrossEncoder {
    name: String,
    file: Packed,
    isa: Isa,
    about: About,
    most_tokens: usize,
    idle: Mutex<Vec<Scratch>>,
}

/// How well a text answers a question.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Relevance {
    /// The classifier's output. It orders texts even if their scores are equal.
    pub logit: f32,
    /// The output as its authors use it: unchanged, or through a sigmoid (0..1). See [`CrossEncoder::is_probability`].
    pub score: f32,
}

/// The sources of a packed file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CrossSources {
    /// SHA-256 of each published file, by name.
    pub sha256: BTreeMap<String, String>,
}

/// The last section, as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct About {
    shape: EncoderShape,
    activation: Activation,
    sources: CrossSources,
}

/// The function that the authors apply to the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Activation {
    Identity,
    Sigmoid,
}

/// Reads a published cross-encoder's files ([`CROSS_FILES`]) in `source_dir` and writes the packed file: to a temporary
/// name first, synced, then renamed. Returns the checksums of what it read, which are also stored in the file.
///
/// Fails with [`Error::Model`] that names `name` if the files are not a BERT with one output, have sizes that the
/// kernels do not support, or a cased vocabulary. Fails with [`Error::Io`] or a related error on the disk.
pub fn pack_cross(name: &str, source_dir: &Path, packed: &Path) -> Result<CrossSources> {
    let broken = |reason: String| Error::Model { model: name.into(), reason };
    let mut sources = CrossSources { sha256: BTreeMap::new() };
    let mut load = |file: &str| -> Result<Vec<u8>> {
        let (bytes, sum) = read(&source_dir.join(file))?;
        sources.sha256.insert(file.into(), sum);
        Ok(bytes)
    };
    let (config, vocabulary, weights) =
        (load("config.json")?, load("vocab.txt")?, load("model.safetensors")?);
    let config = BertConfig::parse(&config).map_err(broken)?;
    let is_classifier = |name: &str| name == "BertForSequenceClassification";
    let shape = config.shape(&is_classifier, "BertForSequenceClassification").map_err(broken)?;
    // Unless configured, `sentence-transformers` applies a sigmoid to a single label.
    let activation = match config.output_activation() {
        Some("Identity") => Activation::Identity,
        None | Some("Sigmoid") => Activation::Sigmoid,
        Some(other) => {
            return Err(broken(format!(
                "config.json: the activation {other} is neither Identity nor Sigmoid"
            )));
        }
    };
    if let Some(piece) = cased(&vocabulary) {
        let reason = format!("vocab.txt has the piece {piece:?}; only uncased vocabularies are read");
        return Err(broken(reason));
    }
    let tensors = Tensors::open(name, &weights)?;
    let prefix = if tensors.has("bert.embeddings.word_embeddings.weight") { "bert." } else { "" };
    let encoder =
        measured_sections(&tensors, prefix, shape, pack_vocabulary(&vocabulary)?, CROSS_ARITHMETIC)?;
    let hidden = shape.hidden;
    let mut sections = encoder.sections;
    sections.push(floats(&encoder.second));
    let pooler = tensors.product(&format!("{prefix}pooler.dense"), hidden, hidden)?;
    sections.extend(quantized(&pooler, &[]));
    let classifier = tensors.product("classifier", 1, hidden)?;
    sections.push(floats(&[classifier.weights, classifier.bias].concat()));
    let about = About { shape, activation, sources: sources.clone() };
    sections.push(serde_json::to_vec(&about).map_err(|cause| broken(cause.to_string()))?);
    place(packed, &layout::write(CROSS_ARITHMETIC, &sections))?;
    Ok(sources)
}

impl CrossEncoder {
    /// Maps a file that [`pack_cross`] wrote; `name` is the model's name for errors. Checks the header and all lengths
    /// and reads none of the weights; [`CrossEncoder::verify`] verifies those.
    ///
    /// Fails with [`Error::Model`] on a file that is damaged, truncated, of another format or something else.
    pub fn open(name: &str, packed: &Path) -> Result<Self> {
        Self::with_isa(name, packed, Isa::best())
    }

    /// Like [`CrossEncoder::open`], with the instructions to use; all of them give the same relevances.
    pub(crate) fn with_isa(name: &str, packed: &Path, isa: Isa) -> Result<Self> {
        if !isa.is_present() {
            return Err(Error::invalid(
                format!("instruction set {isa:?}"),
                "must be one that this machine has",
            ));
        }
        let here = |error| at_path(name, packed, error);
        let file = Packed::open(packed).map_err(here)?;
        if file.layout.name != CROSS_ARITHMETIC {
            let reason = format!("holds {}, not {CROSS_ARITHMETIC}: pack the model again", file.layout.name);
            return Err(here(damaged(reason)));
        }
        let about = About::read(file.bytes(), &file.layout).map_err(here)?;
        let idle = Mutex::new(Vec::new());
        let (name, most_tokens) = (name.into(), about.shape.positions.min(PAIR_TOKENS));
        let model = Self { name, file, isa, about, most_tokens, idle };
        model.parts()?;
        Ok(model)
    }

    /// Returns the model's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether scores are 0..1; otherwise they are the unbounded outputs.
    pub fn is_probability(&self) -> bool {
        match self.about.activation {
            Activation::Identity => false,
            Activation::Sigmoid => true,
        }
    }

    /// Returns the sources of the packed file.
    pub fn sources(&self) -> &CrossSources {
        &self.about.sources
    }

    /// Returns the most tokens of one pair.
    pub fn most_tokens(&self) -> usize {
        self.most_tokens
    }

    /// Returns the model with a smaller limit on the tokens of a pair, because time grows with them. The limit is at
    /// most the model's own and at least 16 (or all, if the model has fewer).
    #[must_use]
    pub fn reading_at_most(self, tokens: usize) -> Self {
        let most = self.about.shape.positions.min(PAIR_TOKENS);
        Self { most_tokens: tokens.max(16).min(most), ..self }
    }

    /// Returns how well a text answers a question. A pair that is too long loses the end of its text; a question takes
    /// at most half of the tokens. The time grows with the tokens of both: a 6-layer model of 384 reads 128 of them in
    /// about the time that MiniLM needs.
    pub fn relevance(&self, question: &str, text: &str) -> Result<Relevance> {
        let mut scratch = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
        let relevance = self.relevance_into(question, text, &mut scratch);
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(scratch);
        relevance
    }

    /// Verifies every byte of the file; reads all of it.
    pub fn verify(&self) -> Result<()> {
        self.file.verify().map_err(|error| self.here(error))
    }

    fn relevance_into(&self, question: &str, text: &str, scratch: &mut Scratch) -> Result<Relevance> {
        let parts = self.parts()?;
        let hidden = self.about.shape.hidden;
        self.file.check_vocabulary().map_err(|error| self.here(error))?;
        let second = self.pair(&parts.encoder, question, text, scratch);
        let width = self.about.shape.word_row();
        self.file.check_pass(&scratch.ids, width).map_err(|error| self.here(error))?;
        let second = Second { tokens: second..scratch.ids.len(), shift: parts.second };
        parts.encoder.forward(self.isa, Wanted::First, Some(second), scratch);
        let mut pooled = vec![0.0; hidden];
        parts.pooler.apply(self.isa, &scratch.states, &mut scratch.quantized, Then::Store, &mut pooled);
        let (weights, bias) = parts.classifier.split_at(hidden);
        let products =
            pooled.iter().zip(weights).map(|(x, weight)| f64::from(*x).tanh() * f64::from(*weight));
        let logit = (products.sum::<f64>() + f64::from(bias[0])) as f32;
        if !logit.is_finite() {
            return Err(
                self.here(damaged("gives no relevance: its contents are damaged, pack the model again"))
            );
        }
        let score = match self.about.activation {
            Activation::Identity => logit,
            Activation::Sigmoid => (1.0 / (1.0 + (-f64::from(logit)).exp())) as f32,
        };
        Ok(Relevance { logit, score })
    }

    /// Writes `[CLS] question [SEP] text [SEP]` to `scratch.ids`; returns where the text begins.
    fn pair(&self, encoder: &Encoder<'_>, question: &str, text: &str, scratch: &mut Scratch) -> usize {
        let room = self.most_tokens() - CONTROL_TOKENS;
        let Scratch { pieces, ids, .. } = scratch;
        ids.clear();
        ids.push(encoder.words.first());
        pieces.clear();
        encoder.words.encode(question, pieces);
        pieces.truncate(room / 2);
        ids.extend_from_slice(pieces);
        ids.push(encoder.words.last());
        let second = ids.len();
        let room = room - pieces.len();
        pieces.clear();
        encoder.words.encode(text, pieces);
        pieces.truncate(room);
        ids.extend_from_slice(pieces);
        ids.push(encoder.words.last());
        second
    }

    fn parts(&self) -> Result<Parts<'_>> {
        Parts::read(self.file.bytes(), &self.file.layout, self.about.shape).map_err(|error| self.here(error))
    }

    fn here(&self, error: Error) -> Error {
        at_path(&self.name, &self.file.path, error)
    }
}

impl About {
    /// Reads the last section and checks that the number of the others matches its sizes.
    fn read(file: &[u8], layout: &PackedLayout) -> Result<Self> {
        let last = layout.count().checked_sub(1).ok_or_else(|| damaged("has no sections"))?;
        let about: Self = serde_json::from_slice(layout.section(file, last)?)
            .map_err(|cause| damaged(format!("does not say what it is: {cause}")))?;
        about.shape.check().map_err(damaged)?;
        let wanted = about.shape.sections() + AFTER;
        if layout.count() == wanted {
            Ok(about)
        } else {
            Err(damaged(format!("has {} sections, not {wanted}", layout.count())))
        }
    }
}

/// The typed sections of the file.
struct Parts<'a> {
    encoder: Encoder<'a>,
    second: &'a [f32],
    pooler: Product<'a>,
    /// Weights, then the bias.
    classifier: &'a [f32],
}

impl<'a> Parts<'a> {
    fn read(file: &'a [u8], layout: &PackedLayout, shape: EncoderShape) -> Result<Self> {
        let (at, hidden) = (shape.sections(), shape.hidden);
        Ok(Self {
            encoder: Encoder::read(file, layout, shape)?,
            second: array(file, layout, at, hidden)?,
            pooler: Product::read(file, layout, at + 1, hidden, hidden)?,
            classifier: array(file, layout, at + 1 + SECTIONS_PRODUCT, hidden + 1)?,
        })
    }
}

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
