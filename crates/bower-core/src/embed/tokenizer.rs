//! The tokenizer of a packed model: `WordPiece` or Unigram, as its first section says.

use super::unigram::Unigram;
use super::wordpiece::WordPiece;
use crate::error::Result;

/// A tokenizer, borrowed from the first section of a packed model.
#[derive(Clone, Copy, Debug)]
pub(super) enum Tokenizer<'a> {
    /// BERT's uncased pieces.
    WordPiece(WordPiece<'a>),
    /// The most likely pieces of `SentencePiece`, in any language.
    Unigram(Unigram<'a>),
}

impl<'a> Tokenizer<'a> {
    /// Opens a section, which begins with the mark of its kind. Takes a microsecond; fails with [`crate::Error::Model`].
    pub(super) fn open(section: &'a [u8]) -> Result<Self> {
        if Unigram::is_section(section) {
            Unigram::open(section).map(Self::Unigram)
        } else {
            WordPiece::open(section).map(Self::WordPiece)
        }
    }

    /// Returns the number of ids: every id is below it.
    pub(super) fn pieces(&self) -> usize {
        match self {
            Self::WordPiece(pieces) => pieces.pieces(),
            Self::Unigram(pieces) => pieces.pieces(),
        }
    }

    /// Returns the id that the model expects before a text: `[CLS]` or `<s>`.
    pub(super) fn first(&self) -> u32 {
        match self {
            Self::WordPiece(pieces) => pieces.first(),
            Self::Unigram(pieces) => pieces.first(),
        }
    }

    /// Returns the id that the model expects after a text: `[SEP]` or `</s>`.
    pub(super) fn last(&self) -> u32 {
        match self {
            Self::WordPiece(pieces) => pieces.last(),
            Self::Unigram(pieces) => pieces.last(),
        }
    }

    /// Appends the ids of a text's pieces, without the two control tokens at its ends.
    pub(super) fn encode(&self, text: &str, ids: &mut Vec<u32>) {
        match self {
            Self::WordPiece(pieces) => pieces.encode(text, ids),
            Self::Unigram(pieces) => pieces.encode(text, ids),
        }
    }
}
