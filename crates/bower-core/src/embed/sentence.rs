//! Embeds texts with a sentence encoder in int8: a BERT, pooling, and dense layers, from a mapped packed file.
//! The same text gives the same bits on every machine. No text is truncated: a long one is read in windows.
//!
//! all-MiniLM-L6-v2 is the default and is packed by [`super::pack`]; [`pack_sentence`] packs any other. Only the default has
//! axes for token codes and an adapter for statements.

mod pack;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use bower_kernels::Isa;
use serde::{Deserialize, Serialize};

use super::adapter::{Adapter, Classifier, Statements, adapter};
use super::bert::{Encoder, EncoderShape, Scratch, Wanted, array, at_path};
use super::late::{TOKENS_IDENTITY, Tokens, distinct_codes};
use super::layout::{PackedLayout, damaged};
use super::pack::{DEFAULT_MODEL, IDENTITY, SHAPE};
use super::packed::Packed;
use super::tokenizer::Tokenizer;
use super::{EmbeddedQuestion, EmbeddedText, Embedder};
use crate::error::{Error, Result};

pub use pack::{SENTENCE_FILES, SENTENCE_PACKED, SentenceOptions, pack_sentence};

/// Most pieces of one window of the default model: with `[CLS]` and `[SEP]` the 256 tokens that it was trained on.
pub const WINDOW_PIECES: usize = 254;
/// Number of control tokens of a window.
const CONTROL_TOKENS: usize = 2;
/// The end of every identity but the default model's. Raise the last number whenever the same text would get another vector.
const ARITHMETIC: &str = ".sentence.i8-1";

/// The open model. One value serves all threads; each call borrows a set of buffers.
#[derive(Debug)]
pub struct SentenceEncoder {
    file: Packed,
    isa: Isa,
    about: SentenceModel,
    /// Buffers that no call is using.
    idle: Mutex<Vec<Scratch>>,
}

/// What a packed model is: the last section of its file, as JSON. The default model's file has none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SentenceModel {
    shape: EncoderShape,
    pooling: Pooling,
    counts_prompt: bool,
    dense: Vec<DenseShape>,
    /// Numbers of a vector.
    pub dimension: usize,
    /// Texts before a question and before a text.
    pub prompts: Prompts,
    /// Most tokens of one window, its control tokens and prompt included.
    pub window: usize,
    /// SHA-256 of each published file, by its path in the model's folder.
    pub sources: BTreeMap<String, String>,
}

/// Texts that an encoder expects before a question and before a text. They are part of the model's identity.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prompts {
    /// Before a question.
    pub question: String,
    /// Before a text.
    pub text: String,
}

/// How the states of a window's tokens become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Pooling {
    /// Their mean.
    Mean,
    /// The state of the first token.
    First,
}

/// The sizes of a product after pooling.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct DenseShape {
    pub(super) inputs: usize,
    pub(super) outputs: usize,
    pub(super) activation: Activation,
}

/// The function after a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Activation {
    /// None.
    Identity,
    /// The hyperbolic tangent.
    Tanh,
}

/// The use of a text, which decides its prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Question,
    Text,
}

/// The result of embedding a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Encoding {
    /// The vector, at unit length.
    pub vector: Vec<f32>,
    /// Number of tokens read, including each window's `[CLS]` and `[SEP]`.
    pub tokens: usize,
    /// Number of windows; 1 for a text that fits one.
    pub windows: usize,
}

/// The last layer's states of one window of a text, as passed to a visitor of [`SentenceEncoder::encode`]. A model that pools the
/// first token passes its state alone.
#[derive(Clone, Copy, Debug)]
pub struct Window<'a> {
    /// The window's tokens, `[CLS]` first and `[SEP]` last.
    pub ids: &'a [u32],
    /// As many numbers per token as the model's width, in the order of `ids`, not normalised.
    pub states: &'a [f32],
    /// Tokens of the prompt, after `[CLS]`.
    prompt: usize,
    /// Numbers of a state.
    width: usize,
}

impl<'a> Window<'a> {
    /// Returns the window without `[CLS]`, the prompt and `[SEP]`, which are not words of the text; without states if they are
    /// not those of all tokens.
    #[must_use]
    pub fn inner(self) -> Window<'a> {
        let (first, last) = (1 + self.prompt, self.ids.len() - 1);
        let states = self.states.get(first * self.width..last * self.width).unwrap_or_default();
        Self { ids: &self.ids[first..last], states, prompt: 0, width: self.width }
    }
}

impl SentenceEncoder {
    /// Returns the path of the packed file of a model, by the value of the setting `model`. Nothing is read.
    pub fn packed_path(models: &Path, name: &str) -> PathBuf {
        let folder = models.join(name.rsplit('/').next().unwrap_or(name));
        match name {
            DEFAULT_MODEL => folder.join(format!("{IDENTITY}.packed")),
            _ => folder.join(SENTENCE_PACKED),
        }
    }

    /// Maps a file that [`super::pack`] or [`pack_sentence`] wrote. Checks the header and all lengths and reads none of the
    /// weights. Those are verified when they are first used, and all at once by [`SentenceEncoder::verify`].
    ///
    /// Fails with [`Error::Model`] on a file that is damaged, truncated, of another format or something else.
    pub fn open(packed: &Path) -> Result<Self> {
        Self::with_isa(packed, Isa::best())
    }

    /// Like [`SentenceEncoder::open`], with the instructions to use; all of them give the same vectors.
    pub fn with_isa(packed: &Path, isa: Isa) -> Result<Self> {
        if !isa.is_present() {
            return Err(Error::invalid(
                format!("instruction set {isa:?}"),
                "must be one that this machine has",
            ));
        }
        let here = |error| at_path("sentence encoder", packed, error);
        let file = Packed::open(packed).map_err(here)?;
        let about = SentenceModel::read(file.bytes(), &file.layout)
            .map_err(|error| at_path(&file.layout.name, packed, error))?;
        let model = Self { file, isa, about, idle: Mutex::new(Vec::new()) };
        model.parts()?;
        Ok(model)
    }

    /// Returns what the model is: its dimension, prompts, window and sources.
    pub fn about(&self) -> &SentenceModel {
        &self.about
    }

    /// Embeds a text; an empty one is `[CLS]`, `[SEP]`. Windows are of nearly equal length and do not overlap; with pooling
    /// by the mean, each token of the text has the same weight in whatever window it is. `see` is called with each window's
    /// token states, in order.
    pub fn encode(&self, text: &str, see: &mut dyn FnMut(Window<'_>)) -> Result<Encoding> {
        self.encode_as(Role::Text, text, see)
    }

    fn encode_as(&self, role: Role, text: &str, see: &mut dyn FnMut(Window<'_>)) -> Result<Encoding> {
        let mut scratch = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
        let encoding = self.encode_into(role, text, &mut scratch, see);
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(scratch);
        encoding
    }

    /// Returns the number of pieces of a text, without `[CLS]` and `[SEP]`.
    fn count(&self, text: &str) -> Result<usize> {
        let mut pieces = Vec::with_capacity(text.len() / 3);
        self.file.check_vocabulary().map_err(|error| self.here(error))?;
        self.parts()?.encoder.words.encode(text, &mut pieces);
        Ok(pieces.len())
    }

    /// Verifies every byte of the file; reads all of it.
    pub fn verify(&self) -> Result<()> {
        self.file.verify().map_err(|error| self.here(error))
    }

    fn here(&self, error: Error) -> Error {
        at_path(&self.file.layout.name, &self.file.path, error)
    }

    /// Whether this is the default model, which alone has token codes and an adapter.
    fn is_default(&self) -> bool {
        self.file.layout.name == IDENTITY
    }

    fn encode_into(
        &self,
        role: Role,
        text: &str,
        scratch: &mut Scratch,
        see: &mut dyn FnMut(Window<'_>),
    ) -> Result<Encoding> {
        let parts = self.parts()?;
        self.file.check_vocabulary().map_err(|error| self.here(error))?;
        let SentenceModel { shape, pooling, window, prompts, counts_prompt, .. } = &self.about;
        let words = &parts.encoder.words;
        let mut pieces = std::mem::take(&mut scratch.pieces);
        pieces.clear();
        words.encode(
            match role {
                Role::Question => &prompts.question,
                Role::Text => &prompts.text,
            },
            &mut pieces,
        );
        let prompt = pieces.len();
        words.encode(text, &mut pieces);
        let room = window.saturating_sub(CONTROL_TOKENS + prompt).max(1);
        let wanted = match pooling {
            Pooling::Mean => Wanted::All,
            Pooling::First => Wanted::First,
        };
        let mut pool = Pool::new(shape.hidden);
        let (mut tokens, mut windows) = (0, 0);
        for range in split(pieces.len() - prompt, room) {
            scratch.ids.clear();
            scratch.ids.push(words.first());
            scratch.ids.extend_from_slice(&pieces[..prompt]);
            scratch.ids.extend_from_slice(&pieces[prompt + range.start..prompt + range.end]);
            scratch.ids.push(words.last());
            self.file.check_pass(&scratch.ids, shape.word_row()).map_err(|error| self.here(error))?;
            parts.encoder.forward(self.isa, wanted, None, scratch);
            match pooling {
                Pooling::Mean if *counts_prompt || prompt == 0 => pool.add(&scratch.states, 1.0),
                Pooling::Mean => pool.add(&scratch.states[(1 + prompt) * shape.hidden..], 1.0),
                Pooling::First => pool.add(&scratch.states, scratch.ids.len() as f64),
            }
            tokens += scratch.ids.len();
            windows += 1;
            see(Window { ids: &scratch.ids, states: &scratch.states, prompt, width: shape.hidden });
        }
        scratch.pieces = pieces;
        let pooled = parts.apply_dense(pool);
        let vector = pooled.finish(self.about.dimension).ok_or_else(|| {
            self.here(damaged("gives no vector: its contents are damaged, pack the model again"))
        })?;
        Ok(Encoding { vector, tokens, windows })
    }

    fn classify_into(
        &self,
        input: &Statements<'_>,
        classifiers: &[Classifier],
        scratch: &mut Scratch,
    ) -> Result<Vec<Vec<f32>>> {
        let (parts, adapter) = (self.parts()?.encoder, adapter()?);
        self.file.check_vocabulary().map_err(|error| self.here(error))?;
        let second = Adapter::tokens(&parts, input, scratch);
        self.file.check_pass(&scratch.ids, SHAPE.word_row()).map_err(|error| self.here(error))?;
        Ok(adapter.classify(self.isa, &parts, second, classifiers, scratch))
    }

    /// Views all sections and checks their lengths. It takes a microsecond or two, so it is done for each text.
    fn parts(&self) -> Result<Parts<'_>> {
        Parts::read(self.file.bytes(), &self.file.layout, &self.about).map_err(|error| self.here(error))
    }
}

impl SentenceModel {
    /// Returns what the default model is.
    fn default_model() -> Self {
        Self {
            shape: SHAPE,
            pooling: Pooling::Mean,
            counts_prompt: true,
            dense: Vec::new(),
            dimension: SHAPE.hidden,
            prompts: Prompts::default(),
            window: WINDOW_PIECES + CONTROL_TOKENS,
            sources: BTreeMap::new(),
        }
    }

    /// Reads the last section, and checks that the sizes fit together and that the file has as many sections.
    fn read(file: &[u8], layout: &PackedLayout) -> Result<Self> {
        if layout.name == IDENTITY {
            return Ok(Self::default_model());
        }
        if !layout.name.ends_with(ARITHMETIC) {
            return Err(damaged(format!("holds {}, no sentence encoder: pack the model again", layout.name)));
        }
        let last = layout.count().checked_sub(1).ok_or_else(|| damaged("has no sections"))?;
        let about: Self = serde_json::from_slice(layout.section(file, last)?)
            .map_err(|cause| damaged(format!("does not say what it is: {cause}")))?;
        about.check().map_err(damaged)?;
        let wanted = about.shape.sections() + about.dense.len() + 1;
        if layout.count() == wanted {
            Ok(about)
        } else {
            Err(damaged(format!("has {} sections, not {wanted}", layout.count())))
        }
    }

    /// Returns an error for sizes that do not fit together, in words that follow "model NAME: ".
    fn check(&self) -> Result<(), String> {
        self.shape.check()?;
        let mut width = self.shape.hidden;
        for DenseShape { inputs, outputs, .. } in &self.dense {
            if *inputs != width {
                return Err(format!("has a dense layer of {inputs} inputs after {width} numbers"));
            }
            width = *outputs;
        }
        if !(1..=width).contains(&self.dimension) {
            return Err(format!("has vectors of {width} numbers, which cannot be cut to {}", self.dimension));
        }
        if !(8..=self.shape.positions).contains(&self.window) {
            return Err(format!(
                "has a window of {} tokens; it must be 8 to {}",
                self.window, self.shape.positions
            ));
        }
        Ok(())
    }
}

/// The typed sections of the file.
struct Parts<'a> {
    encoder: Encoder<'a>,
    /// Each product after pooling: its sizes, then its weights and bias.
    dense: Vec<(DenseShape, &'a [f32])>,
}

impl<'a> Parts<'a> {
    fn read(file: &'a [u8], layout: &PackedLayout, about: &SentenceModel) -> Result<Self> {
        let encoder = Encoder::read(file, layout, about.shape)?;
        let dense = (about.shape.sections()..).zip(&about.dense).map(|(section, shape)| {
            let numbers = (shape.inputs + 1) * shape.outputs;
            Ok((*shape, array(file, layout, section, numbers)?))
        });
        Ok(Self { encoder, dense: dense.collect::<Result<_>>()? })
    }

    /// Applies the products to pooled states.
    fn apply_dense(&self, pool: Pool) -> Pool {
        if self.dense.is_empty() {
            return pool;
        }
        let mut row: Vec<f32> = pool.total.iter().map(|x| (x / pool.weight) as f32).collect();
        for (shape, numbers) in &self.dense {
            let (weights, bias) = numbers.split_at(shape.inputs * shape.outputs);
            let products = weights.chunks_exact(shape.inputs).zip(bias);
            row = products
                .map(|(weights, bias)| {
                    let x = dot(weights, &row) + bias;
                    match shape.activation {
                        Activation::Identity => x,
                        Activation::Tanh => f64::from(x).tanh() as f32,
                    }
                })
                .collect();
        }
        Pool { total: row.into_iter().map(f64::from).collect(), weight: 1.0 }
    }
}

/// Returns the sum of products, in an order that does not depend on the machine and that compilers can vectorise.
fn dot(one: &[f32], other: &[f32]) -> f32 {
    let mut sums = [0.0_f32; 16];
    let (ones, one_rest) = one.as_chunks::<16>();
    let (others, other_rest) = other.as_chunks::<16>();
    for (x, y) in ones.iter().zip(others) {
        sums.iter_mut().zip(x.iter().zip(y)).for_each(|(sum, (x, y))| *sum += x * y);
    }
    let rest: f32 = one_rest.iter().zip(other_rest).map(|(x, y)| x * y).sum();
    sums.iter().sum::<f32>() + rest
}

impl Embedder for SentenceEncoder {
    fn model(&self) -> &str {
        &self.file.layout.name
    }

    fn add_sums(&self) -> Result<()> {
        self.file.add_sums().map_err(|error| self.here(error))
    }

    fn dimension(&self) -> usize {
        self.about.dimension
    }

    /// The uncased word pieces that this program reads are those of English models. A model of many languages has a Unigram
    /// vocabulary.
    fn knows_all_languages(&self) -> bool {
        self.parts().is_ok_and(|parts| matches!(parts.encoder.words, Tokenizer::Unigram(_)))
    }

    fn embed(&self, text: &str) -> Result<Vec<f32>> {
        Ok(self.encode(text, &mut |_| ())?.vector)
    }

    fn tokens(&self) -> Option<&str> {
        self.is_default().then_some(TOKENS_IDENTITY)
    }

    fn embed_text(&self, text: &str) -> Result<EmbeddedText> {
        if !self.is_default() {
            return Ok(EmbeddedText { vector: self.embed(text)?, codes: None });
        }
        let (mut tokens, mut codes) = (Tokens::default(), Vec::new());
        let encoding = self.encode(text, &mut |window| {
            let inner = window.inner();
            tokens.codes(self.isa, inner.ids, inner.states, &mut codes);
        })?;
        Ok(EmbeddedText { vector: encoding.vector, codes: Some(distinct_codes(codes)) })
    }

    fn embed_question(&self, text: &str) -> Result<EmbeddedQuestion> {
        if !self.is_default() {
            let encoding = self.encode_as(Role::Question, text, &mut |_| ())?;
            return Ok(EmbeddedQuestion { vector: encoding.vector, tokens: None });
        }
        let (mut tokens, mut question) = (Tokens::default(), Vec::new());
        let encoding = self.encode(text, &mut |window| {
            let inner = window.inner();
            tokens.question(self.isa, inner.ids, inner.states, &mut question);
        })?;
        Ok(EmbeddedQuestion { vector: encoding.vector, tokens: Some(question) })
    }

    fn classify(&self, input: &Statements<'_>, classifiers: &[Classifier]) -> Result<Option<Vec<Vec<f32>>>> {
        if !self.is_default() {
            return Ok(None);
        }
        let mut scratch = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
        let found = self.classify_into(input, classifiers, &mut scratch);
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(scratch);
        found.map(Some)
    }

    fn count_pieces(&self, text: &str) -> Result<usize> {
        self.count(text)
    }
}

/// A weighted sum of token states.
#[derive(Clone, Debug)]
struct Pool {
    total: Vec<f64>,
    /// The sum of the weights.
    weight: f64,
}

impl Pool {
    fn new(width: usize) -> Self {
        Self { total: vec![0.0; width], weight: 0.0 }
    }

    /// Adds states, each with this weight.
    fn add(&mut self, states: &[f32], weight: f64) {
        for state in states.chunks_exact(self.total.len()) {
            self.total.iter_mut().zip(state).for_each(|(total, x)| *total += f64::from(*x) * weight);
            self.weight += weight;
        }
    }

    /// Returns the direction of the first `dimension` numbers, at unit length; `None` if they have none.
    fn finish(mut self, dimension: usize) -> Option<Vec<f32>> {
        self.total.truncate(dimension);
        let norm = self.total.iter().map(|x| x * x).sum::<f64>().sqrt();
        (norm.is_finite() && norm > 0.0).then(|| self.total.iter().map(|x| (x / norm) as f32).collect())
    }
}

/// Splits `pieces` pieces into the fewest windows of at most `most`, whose lengths differ by at most one. No pieces give one
/// empty window.
fn split(pieces: usize, most: usize) -> impl Iterator<Item = Range<usize>> {
    let windows = pieces.div_ceil(most).max(1);
    (0..windows).map(move |window| window * pieces / windows..(window + 1) * pieces / windows)
}

#[cfg(test)]
mod tests;
