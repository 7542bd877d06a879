//! Local embedding: MiniLM in int8, its tokenizer and its packed file.
//! Vectors of different models never meet.

mod bert;
mod calibrate;
mod cross;
mod late;
mod layout;
mod minilm;
mod outlier_inputs;
mod pack;
mod packed;
mod weights;
pub mod wordpiece;

#[cfg(test)]
pub(crate) use cross::testing;
pub use cross::{
    CROSS_ARITHMETIC, CROSS_FILES, CROSS_PACKED, CrossEncoder, CrossSources, Relevance, pack_cross,
};
#[cfg(feature = "parts")]
pub use late::distinct_codes;
pub use minilm::{Encoding, MiniLm, WINDOW_PIECES, Window};
pub use pack::{IDENTITY, VOCABULARY_SHA256, WEIGHTS_SHA256, pack};

use bower_kernels::scan::maxsim::MaxSimToken;

use crate::error::Result;

/// Turns text into vectors. Vectors of two embedders may be compared only when their [`Embedder::model`] is the same.
pub trait Embedder: Send + Sync {
    /// What the vectors are: the model and the arithmetic that made them, e.g. `all-MiniLM-L6-v2.i8-2`. Part of every key
    /// under which a vector is kept.
    fn model(&self) -> &str;

    /// Numbers of a vector.
    fn dimension(&self) -> usize;

    /// The vector of a text, at unit length. Any text has one, the empty one too; none is cut.
    fn embed(&self, text: &str) -> Result<Vec<f32>>;

    /// What the token codes are: model, arithmetic and scheme, e.g. `all-MiniLM-L6-v2.i8-2.t2`; `None` where the model gives
    /// no token states. Part of every key under which codes are kept.
    fn tokens(&self) -> Option<&str> {
        None
    }

    /// The vector of a text that is kept, with its tokens' codes, in one pass.
    fn embed_text(&self, text: &str) -> Result<EmbeddedText> {
        Ok(EmbeddedText { vector: self.embed(text)?, codes: None })
    }

    /// The vector of a question with its tokens, in one pass.
    fn embed_question(&self, text: &str) -> Result<EmbeddedQuestion> {
        Ok(EmbeddedQuestion { vector: self.embed(text)?, tokens: None })
    }

    /// Makes the checksums that its files lack, where it has files: after the answer, since all of them is read for it.
    fn add_sums(&self) -> Result<()> {
        Ok(())
    }

    /// Pieces that the model's tokenizer cuts a text into, without marks at its ends.
    fn count_pieces(&self, text: &str) -> Result<usize>;
}

/// What is kept of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct EmbeddedText {
    /// Unit length.
    pub vector: Vec<f32>,
    /// 64 signs a token, without `[CLS]` and `[SEP]`; `None` where the model gives no token states.
    pub codes: Option<Vec<u64>>,
}

/// What is compared of a question.
#[derive(Clone, Debug, PartialEq)]
pub struct EmbeddedQuestion {
    /// Unit length.
    pub vector: Vec<f32>,
    /// Its tokens with their weights; `None` where the model gives no token states.
    pub tokens: Option<Vec<MaxSimToken>>,
}
