//! Reads the published files of BERT models: sizes, vocabularies, and how a sentence encoder makes a vector.
//!
//! The names of files and fields are those of the libraries `transformers` and `sentence-transformers`.

use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::bert::EncoderShape;
use super::pack::read;
use super::sentence::{Activation, DenseShape, Pooling, Prompts};
use super::unigram::pack_unigram;
use super::wordpiece::pack_vocabulary;
use crate::error::{Error, Result};

/// The used fields of `config.json`. Names and defaults are those of the `transformers` library's `BertConfig`.
#[derive(Debug, Deserialize)]
pub(super) struct BertConfig {
    model_type: Option<String>,
    #[serde(default)]
    architectures: Option<Vec<String>>,
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    max_position_embeddings: usize,
    #[serde(default = "gelu")]
    hidden_act: String,
    #[serde(default = "epsilon")]
    layer_norm_eps: f32,
    #[serde(default)]
    position_embedding_type: Option<String>,
    /// The output's function as `sentence-transformers` names it, before version 4 and since.
    #[serde(default)]
    sbert_ce_default_activation_function: Option<String>,
    #[serde(default)]
    sentence_transformers: Option<SentenceTransformers>,
}

#[derive(Debug, Deserialize)]
struct SentenceTransformers {
    #[serde(default)]
    activation_fn: Option<String>,
}

fn gelu() -> String {
    "gelu".into()
}

fn epsilon() -> f32 {
    1e-12
}

impl BertConfig {
    /// Reads a `config.json`; fails in words that follow "model NAME: ".
    pub(super) fn parse(json: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(json).map_err(|cause| format!("config.json does not describe a BERT: {cause}"))
    }

    /// Returns the sizes, or what is not supported. If architectures are named, one of them must be `architecture`.
    pub(super) fn shape(
        &self,
        architecture: &dyn Fn(&str) -> bool,
        wanted: &str,
    ) -> Result<EncoderShape, String> {
        let is = |found: Option<&str>, wanted: &str, what: &str| match found {
            None => Ok(()),
            Some(found) if found == wanted => Ok(()),
            Some(found) => Err(format!("config.json: {what} is {found}, not {wanted}")),
        };
        is(self.model_type.as_deref(), "bert", "model_type")?;
        is(self.position_embedding_type.as_deref(), "absolute", "position_embedding_type")?;
        is(Some(&self.hidden_act), "gelu", "hidden_act")?;
        if let Some(names) = &self.architectures
            && !names.iter().any(|name| architecture(name))
        {
            return Err(format!("config.json: architectures is {names:?}, without {wanted}"));
        }
        let shape = EncoderShape {
            hidden: self.hidden_size,
            inner: self.intermediate_size,
            layers: self.num_hidden_layers,
            heads: self.num_attention_heads,
            positions: self.max_position_embeddings,
            epsilon: self.layer_norm_eps,
        };
        shape.check().map_err(|reason| format!("config.json: {reason}"))?;
        Ok(shape)
    }

    /// Returns the name of the function that a cross-encoder applies to its output, without its module.
    pub(super) fn output_activation(&self) -> Option<&str> {
        let newer = self.sentence_transformers.as_ref().and_then(|said| said.activation_fn.as_deref());
        let said = newer.or(self.sbert_ce_default_activation_function.as_deref());
        said.map(|said| said.rsplit('.').next().unwrap_or(said))
    }
}

/// Returns a piece with a capital letter, which an uncased vocabulary does not have; control pieces do not count.
pub(super) fn cased(vocabulary: &[u8]) -> Option<String> {
    let lines = vocabulary.split(|byte| *byte == b'\n');
    let capital = |line: &&[u8]| !line.starts_with(b"[") && line.iter().any(u8::is_ascii_uppercase);
    lines.into_iter().find(capital).map(|line| String::from_utf8_lossy(line).into_owned())
}

/// The files of a published model. Remembers the checksum of each file that it read.
pub(super) struct PublishedFiles<'a> {
    name: &'a str,
    folder: &'a Path,
    /// SHA-256 of each file that was read, by its path in the folder.
    pub(super) sha256: BTreeMap<String, String>,
}

/// How a sentence encoder makes a vector of token states.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SentenceParts {
    /// Folder of the transformer below the model's, empty for the model's own.
    transformer: PathBuf,
    pub(super) pooling: Pooling,
    /// Whether the tokens of a prompt count in the mean.
    pub(super) counts_prompt: bool,
    /// The products after pooling, each with its weights (row-major) and bias.
    pub(super) dense: Vec<(DenseShape, Vec<f32>, Vec<f32>)>,
}

impl<'a> PublishedFiles<'a> {
    /// Names a model's folder; nothing is read.
    pub(super) fn new(name: &'a str, folder: &'a Path) -> Self {
        Self { name, folder, sha256: BTreeMap::new() }
    }

    /// Returns an error about this model.
    pub(super) fn broken(&self, reason: impl Into<String>) -> Error {
        Error::Model { model: self.name.into(), reason: reason.into() }
    }

    /// Returns the bytes of a file that must be there.
    pub(super) fn load(&mut self, file: &Path) -> Result<Vec<u8>> {
        let (bytes, sum) = read(&self.folder.join(file))?;
        self.sha256.insert(file.display().to_string(), sum);
        Ok(bytes)
    }

    /// Returns the bytes of a file, or `None` if there is no such file.
    fn load_optional(&mut self, file: &Path) -> Result<Option<Vec<u8>>> {
        match self.load(file) {
            Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(None),
            read => read.map(Some),
        }
    }

    /// Returns a file as JSON, `null` if there is no such file.
    fn load_json(&mut self, file: &Path) -> Result<Value> {
        let Some(bytes) = self.load_optional(file)? else { return Ok(Value::Null) };
        serde_json::from_slice(&bytes)
            .map_err(|cause| self.broken(format!("{} is not JSON: {cause}", file.display())))
    }

    /// Returns the packed tokenizer of the transformer in a folder.
    pub(super) fn tokenizer(&mut self, parts: &SentenceParts) -> Result<Vec<u8>> {
        let folder = &parts.transformer;
        if let Some(vocabulary) = self.load_optional(&folder.join("vocab.txt"))? {
            return self.word_pieces(&vocabulary);
        }
        let Some(json) = self.load_optional(&folder.join("tokenizer.json"))? else {
            return Err(self.broken("has neither vocab.txt nor tokenizer.json"));
        };
        let said: Value = serde_json::from_slice(&json)
            .map_err(|cause| self.broken(format!("tokenizer.json is not JSON: {cause}")))?;
        // Old files do not name the kind; a WordPiece vocabulary is a map, that of a unigram model a list.
        if said["model"]["vocab"].is_object() {
            let lines =
                vocabulary_of(&said).map_err(|reason| self.broken(format!("tokenizer.json {reason}")))?;
            return self.word_pieces(&lines);
        }
        pack_unigram(&json).map_err(|error| self.name_it(error))
    }

    fn word_pieces(&self, vocabulary: &[u8]) -> Result<Vec<u8>> {
        if let Some(piece) = cased(vocabulary) {
            let reason = format!("the vocabulary has the piece {piece:?}; only uncased ones are read");
            return Err(self.broken(reason));
        }
        pack_vocabulary(vocabulary).map_err(|error| self.name_it(error))
    }

    /// Replaces the model's name in an error about contents.
    pub(super) fn name_it(&self, error: Error) -> Error {
        match error {
            Error::Model { reason, .. } => self.broken(reason),
            other => other,
        }
    }

    /// Returns the configuration and the weights of the transformer.
    pub(super) fn transformer(&mut self, parts: &SentenceParts) -> Result<(BertConfig, Vec<u8>)> {
        let config = self.load(&parts.transformer.join("config.json"))?;
        let config = BertConfig::parse(&config).map_err(|reason| self.broken(reason))?;
        Ok((config, self.load(&parts.transformer.join("model.safetensors"))?))
    }

    /// Returns the most tokens of a text that the authors give the model, both control tokens included.
    pub(super) fn most_tokens(&mut self, parts: &SentenceParts) -> Result<Option<usize>> {
        let said = self.load_json(&parts.transformer.join("sentence_bert_config.json"))?;
        Ok(said["max_seq_length"].as_u64().map(|tokens| tokens as usize))
    }

    /// Returns the prompts of the files, if they have any.
    pub(super) fn prompts(&mut self) -> Result<Option<Prompts>> {
        let said = self.load_json(Path::new("config_sentence_transformers.json"))?;
        let prompts = &said["prompts"];
        let find = |names: &[&str]| {
            let found = names.iter().find_map(|name| prompts[*name].as_str());
            // A default prompt is put before every text.
            found.or_else(|| prompts[said["default_prompt_name"].as_str()?].as_str()).map(str::to_owned)
        };
        let (question, text) = (find(&["query", "question"]), find(&["document", "passage", "corpus"]));
        Ok(match (question, text) {
            (None, None) => None,
            (question, text) => {
                Some(Prompts { question: question.unwrap_or_default(), text: text.unwrap_or_default() })
            }
        })
    }

    /// Returns the steps after the transformer. Without `modules.json` they are the mean, as in the library.
    pub(super) fn parts(&mut self) -> Result<SentenceParts> {
        let mut parts = SentenceParts {
            transformer: PathBuf::new(),
            pooling: Pooling::Mean,
            counts_prompt: true,
            dense: Vec::new(),
        };
        let modules = self.load_json(Path::new("modules.json"))?;
        for module in modules.as_array().into_iter().flatten() {
            let kind = module["type"].as_str().unwrap_or_default();
            let kind = kind.rsplit('.').next().unwrap_or_default();
            let path = self.inside(module["path"].as_str().unwrap_or_default())?;
            match kind {
                "Transformer" => parts.transformer = path,
                "Pooling" => self.pooling(&path, &mut parts)?,
                "Dense" => {
                    let dense = self.dense(&path)?;
                    parts.dense.push(dense);
                }
                // Every vector has unit length here.
                "Normalize" => {}
                other => return Err(self.broken(format!("modules.json has the module {other}"))),
            }
        }
        Ok(parts)
    }

    fn pooling(&mut self, path: &Path, parts: &mut SentenceParts) -> Result<()> {
        let said = self.load_json(&path.join("config.json"))?;
        let is = |field: &str, name: &str| {
            said[field].as_bool().unwrap_or(false) || said["pooling_mode"].as_str() == Some(name)
        };
        let modes = said.as_object().into_iter().flatten();
        let chosen =
            modes.filter(|(key, value)| key.starts_with("pooling_mode_") && **value == Value::Bool(true));
        parts.pooling = match (is("pooling_mode_cls_token", "cls"), is("pooling_mode_mean_tokens", "mean")) {
            (true, false) => Pooling::First,
            (false, true) => Pooling::Mean,
            (true, true) | (false, false) => {
                return Err(self.broken("pools states in another way than by the mean or the first token"));
            }
        };
        if chosen.count() > 1 {
            return Err(self.broken("joins the results of several ways of pooling"));
        }
        parts.counts_prompt = said["include_prompt"].as_bool().unwrap_or(true);
        Ok(())
    }

    fn dense(&mut self, path: &Path) -> Result<(DenseShape, Vec<f32>, Vec<f32>)> {
        let said = self.load_json(&path.join("config.json"))?;
        let size = |field: &str| said[field].as_u64().filter(|size| (1..=1 << 16).contains(size));
        let (Some(inputs), Some(outputs)) = (size("in_features"), size("out_features")) else {
            return Err(self.broken(format!("{}/config.json names no sizes", path.display())));
        };
        let (inputs, outputs) = (inputs as usize, outputs as usize);
        let function = said["activation_function"].as_str().unwrap_or("Tanh");
        let activation = match function.rsplit('.').next() {
            Some("Identity") => Activation::Identity,
            Some("Tanh") => Activation::Tanh,
            Some(_) | None => {
                return Err(self.broken(format!("the activation {function} is neither Identity nor Tanh")));
            }
        };
        let bytes = self.load(&path.join("model.safetensors"))?;
        let tensors = super::weights::Tensors::open(self.name, &bytes)?;
        let weights = tensors.get("linear.weight", &[outputs, inputs])?;
        let bias = match said["bias"].as_bool() {
            Some(false) => vec![0.0; outputs],
            Some(true) | None => tensors.get("linear.bias", &[outputs])?,
        };
        Ok((DenseShape { inputs, outputs, activation }, weights, bias))
    }

    /// Returns a path of `modules.json` that stays in the model's folder.
    fn inside(&self, path: &str) -> Result<PathBuf> {
        let found = PathBuf::from(path);
        if found.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
            Ok(found)
        } else {
            Err(self.broken(format!("modules.json names {path:?}, which is outside of its folder")))
        }
    }
}

/// Returns the vocabulary of a `tokenizer.json` with `WordPiece`, a piece a line.
fn vocabulary_of(said: &Value) -> Result<Vec<u8>, String> {
    if said["model"]["type"].as_str().is_some_and(|kind| kind != "WordPiece") {
        return Err(format!("has a model of type {}, not WordPiece or Unigram", said["model"]["type"]));
    }
    if said["normalizer"]["lowercase"].as_bool() == Some(false) {
        return Err("keeps capital letters; only uncased vocabularies are read".into());
    }
    let pieces: BTreeMap<u64, &str> = said["model"]["vocab"]
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(piece, id)| Some((id.as_u64()?, piece.as_str())))
        .collect();
    if pieces.keys().copied().ne(0..pieces.len() as u64) {
        return Err("has ids with gaps".into());
    }
    Ok(pieces.values().flat_map(|piece| [piece, "\n"]).collect::<String>().into_bytes())
}
