//! Local embedding: MiniLM in int8, its tokenizer and its packed file. Vectors of different models never meet.

mod layout;
mod minilm;
mod pack;
mod spread;
pub mod wordpiece;

pub use minilm::{Encoding, MiniLm, WINDOW_PIECES, Window};
pub use pack::{IDENTITY, VOCABULARY_SHA256, WEIGHTS_SHA256, pack};

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

    /// Pieces that the model's tokenizer cuts a text into, without marks at its ends.
    fn count_pieces(&self, text: &str) -> Result<usize>;
}
