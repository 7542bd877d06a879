//! Local embedding: sentence encoders in int8, their tokenizers and packed files.
//! Vectors of different models are never compared.

mod adapter;
mod bert;
mod calibrate;
mod cross;
mod late;
mod layout;
mod outlier_inputs;
mod pack;
mod packed;
mod published;
mod sentence;
mod tokenizer;
mod unigram;
mod weights;
pub mod wordpiece;

#[cfg(feature = "parts")]
pub use adapter::pack_adapter;
pub use adapter::{Classifier, KINDS, Statements};
#[cfg(test)]
pub(crate) use cross::testing;
pub use cross::{
    CROSS_ARITHMETIC, CROSS_FILES, CROSS_PACKED, CrossEncoder, CrossSources, Relevance, pack_cross,
};
#[cfg(feature = "parts")]
pub use late::distinct_codes;
pub use pack::{DEFAULT_MODEL, IDENTITY, VOCABULARY_SHA256, WEIGHTS_SHA256, pack};
pub use sentence::{
    Encoding, Prompts, SENTENCE_FILES, SENTENCE_PACKED, SentenceEncoder, SentenceModel, SentenceOptions,
    WINDOW_PIECES, Window, pack_sentence,
};

use bower_kernels::scan::maxsim::MaxSimToken;

use crate::error::Result;

/// Turns text into vectors. Vectors of two embedders may be compared only if their [`Embedder::model`] is the same.
pub trait Embedder: Send + Sync {
    /// Returns the identity of the vectors: the model and the arithmetic that made them, e.g. `all-MiniLM-L6-v2.i8-2`. Part of
    /// every key under which a vector is stored.
    fn model(&self) -> &str;

    /// Returns the dimension of the vectors.
    fn dimension(&self) -> usize;

    /// Whether it was made for texts of many languages, as far as is known; `false` for a model of English alone.
    fn knows_all_languages(&self) -> bool {
        true
    }

    /// Returns the vector of a text, at unit length. Every text has one, the empty one too; none is truncated.
    fn embed(&self, text: &str) -> Result<Vec<f32>>;

    /// Returns the identity of the token codes: model, arithmetic and scheme, e.g. `all-MiniLM-L6-v2.i8-2.t2`. `None` if the
    /// model provides no token states. Part of every key under which codes are stored.
    fn tokens(&self) -> Option<&str> {
        None
    }

    /// Returns the vector of a text to store, with its token codes, in one pass.
    fn embed_text(&self, text: &str) -> Result<EmbeddedText> {
        Ok(EmbeddedText { vector: self.embed(text)?, codes: None })
    }

    /// Returns the vector of a question with its tokens, in one pass.
    fn embed_question(&self, text: &str) -> Result<EmbeddedQuestion> {
        Ok(EmbeddedQuestion { vector: self.embed(text)?, tokens: None })
    }

    /// Returns how many texts one call of [`Embedder::embed_texts`] should have. `None` for a model on this machine: its texts are
    /// embedded one at a time, as they are read. A service takes many at once, and no write waits for it.
    fn batch_texts(&self) -> Option<usize> {
        None
    }

    /// Returns the stored form of each text, in order, or why it has none.
    fn embed_texts(&self, texts: &[&str]) -> Vec<Result<EmbeddedText>> {
        texts.iter().map(|text| self.embed_text(text)).collect()
    }

    /// Returns what classifiers say of an input: for each the probabilities of its classes, which add up to 1. `None` if the
    /// model has no adapter for statements.
    fn classify(
        &self,
        _input: &Statements<'_>,
        _classifiers: &[Classifier],
    ) -> Result<Option<Vec<Vec<f32>>>> {
        Ok(None)
    }

    /// Creates missing checksums of its files, if it has files. Called after an answer, because it reads all of them.
    fn add_sums(&self) -> Result<()> {
        Ok(())
    }

    /// Returns the number of pieces that the model's tokenizer makes of a text, without control tokens at its ends.
    fn count_pieces(&self, text: &str) -> Result<usize>;
}

/// The stored form of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct EmbeddedText {
    /// The vector, at unit length.
    pub vector: Vec<f32>,
    /// 64 signs per token, without `[CLS]` and `[SEP]`; `None` if the model provides no token states.
    pub codes: Option<Vec<u64>>,
}

/// The form of a question that is compared with texts.
#[derive(Clone, Debug, PartialEq)]
pub struct EmbeddedQuestion {
    /// The vector, at unit length.
    pub vector: Vec<f32>,
    /// Its tokens with their weights; `None` if the model provides no token states.
    pub tokens: Option<Vec<MaxSimToken>>,
}
