//! Tokenizes text of any language by the most likely pieces, over tables that are used in place from the packed file.
//! The ids equal those of the reference tokenizer, except that text never becomes a control token.
//!
//! A unigram model gives each piece the logarithm of a probability. A word becomes the pieces whose sum is greatest, which
//! the Viterbi algorithm finds (Kudo, "Subword Regularization", 2018). The reference is the Python package `tokenizers`:
//! it normalises the text, splits it at white space, and puts `▁` before each word.

mod charsmap;
mod published;
mod trie;

use unicode_normalization::UnicodeNormalization;

pub(super) use published::pack_unigram;

use self::charsmap::Charsmap;
use self::trie::Trie;
use crate::error::{Error, Result};

/// The section's first four bytes.
const MAGIC: [u8; 4] = *b"BUNI";
/// Raised when the layout below changes; other numbers are refused.
const FORMAT: u32 = 1;
/// Magic, format, then nine `u32`: pieces, bytes of the trie, bytes of the character map's trie, bytes of its texts,
/// unknown, first, last, steps of the normaliser; zeros. The tables follow in this order, scores first.
const HEADER_BYTES: usize = 64;
/// Bytes of a piece's score, a float64.
const SCORE_BYTES: usize = 8;
/// What the score of an unknown character is below the least score of a piece (`kUnkPenalty` of `SentencePiece`).
const UNKNOWN_PENALTY: f64 = 10.0;
/// The bit after those of the normaliser's steps.
const KEEPS_ASCII: u32 = 3;
/// The mark before each word.
const WORD_START: &str = "▁";

/// Steps of the normaliser, in the order in which they are done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Steps {
    charsmap: bool,
    nfkc: bool,
    lowercase: bool,
}

/// A vocabulary with its normaliser, borrowed from the output of [`pack_unigram`]. Opening reads 64 bytes.
///
/// Every access is checked against the section's end. Damaged bytes give other ids, all below [`Unigram::pieces`], and
/// never a panic.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unigram<'a> {
    scores: &'a [u8],
    pieces: Trie<'a>,
    charsmap: Charsmap<'a>,
    steps: Steps,
    /// Whether the character map leaves printable ASCII as it is, so that it need not be asked.
    keeps_ascii: bool,
    unknown: u32,
    unknown_score: f64,
    first: u32,
    last: u32,
}

/// The best way to a byte of a word.
#[derive(Clone, Copy, Debug)]
struct Best {
    score: f64,
    /// The byte at which its last piece begins; `None` if there is no way.
    start: Option<usize>,
    id: u32,
}

impl<'a> Unigram<'a> {
    /// Whether a section begins with this tokenizer's mark.
    pub(super) fn is_section(section: &[u8]) -> bool {
        section.starts_with(&MAGIC)
    }

    /// Opens a section, whose length must be exactly that of [`pack_unigram`]'s output. Checks the header against the
    /// length; fails with [`Error::Model`].
    pub(super) fn open(section: &'a [u8]) -> Result<Self> {
        let short = || damaged(format!("section of {} bytes is cut short", section.len()));
        let header = section.get(..HEADER_BYTES).ok_or_else(short)?;
        // The header has 16 numbers, so the default is never used.
        let number = |index: usize| trie::read(header, index + 1).unwrap_or_default();
        if !Self::is_section(section) || number(0) != FORMAT {
            return Err(damaged(format!("section has format {}, not {FORMAT}", number(0))));
        }
        let count = number(1);
        let sizes =
            [u64::from(count) * SCORE_BYTES as u64, number(2).into(), number(3).into(), number(4).into()];
        let (unknown, first, last) = (number(5), number(6), number(7));
        if HEADER_BYTES as u64 + sizes.iter().sum::<u64>() != section.len() as u64 {
            return Err(damaged(format!("section of {} bytes does not fit its header", section.len())));
        }
        if [unknown, first, last].iter().any(|id| *id >= count) {
            return Err(damaged("section's header contradicts itself"));
        }
        let (scores, rest) = section[HEADER_BYTES..].split_at(sizes[0] as usize);
        let (pieces, rest) = rest.split_at(sizes[1] as usize);
        let (map, texts) = rest.split_at(sizes[2] as usize);
        let unknown_score = f64::from_bits(u64::from(number(10)) << 32 | u64::from(number(9)));
        Ok(Self {
            scores,
            pieces: Trie::new(pieces),
            charsmap: Charsmap::new(map, texts),
            steps: Steps::from_bits(number(8)),
            keeps_ascii: number(8) >> KEEPS_ASCII & 1 == 1,
            unknown,
            unknown_score,
            first,
            last,
        })
    }

    /// Returns the number of ids: every id is below it.
    pub(super) fn pieces(&self) -> usize {
        self.scores.len() / SCORE_BYTES
    }

    /// Returns the id of `<s>`, which the model expects before a text.
    pub(super) fn first(&self) -> u32 {
        self.first
    }

    /// Returns the id of `</s>`, which the model expects after a text.
    pub(super) fn last(&self) -> u32 {
        self.last
    }

    /// Appends the ids of a text's pieces, without `<s>` and `</s>`.
    pub(super) fn encode(&self, text: &str, ids: &mut Vec<u32>) {
        let mut normalised = String::with_capacity(text.len() + text.len() / 8);
        self.normalise(text, &mut normalised);
        let (mut word, mut best) = (String::new(), Vec::new());
        for part in normalised.split(char::is_whitespace).filter(|part| !part.is_empty()) {
            word.clear();
            word.push_str(WORD_START);
            word.push_str(part);
            self.split(&word, &mut best, ids);
        }
    }

    fn normalise(&self, text: &str, out: &mut String) {
        let Steps { charsmap, nfkc, lowercase } = self.steps;
        if charsmap {
            self.charsmap.apply(text, self.keeps_ascii, out);
        } else {
            out.push_str(text);
        }
        if nfkc && !out.is_ascii() {
            *out = out.nfkc().collect();
        }
        if lowercase {
            *out = out.to_lowercase();
        }
    }

    /// Appends the most likely pieces of a word. Adjacent unknown characters are one unknown piece.
    fn split(&self, word: &str, best: &mut Vec<Best>, ids: &mut Vec<u32>) {
        let bytes = word.as_bytes();
        best.clear();
        best.resize(bytes.len() + 1, Best { score: 0.0, start: None, id: self.unknown });
        for (at, char) in word.char_indices() {
            let (here, alone) = (best[at].score, at + char.len_utf8());
            let mut is_known = false;
            let mut offer = |end: usize, score: f64, id: u32| {
                let target = &mut best[end];
                if target.start.is_none() || here + score > target.score {
                    *target = Best { score: here + score, start: Some(at), id };
                }
            };
            self.pieces.prefixes(&bytes[at..], &mut |len, id| {
                if let Some(score) = self.score(id)
                    && word.is_char_boundary(at + len)
                {
                    offer(at + len, score, id);
                    is_known |= at + len == alone;
                }
            });
            if !is_known {
                offer(alone, self.unknown_score, self.unknown);
            }
        }
        let (from, mut end) = (ids.len(), bytes.len());
        while let Some(start) = best[end].start {
            let id = best[end].id;
            if id != self.unknown || ids.len() == from || ids.last() != Some(&self.unknown) {
                ids.push(id);
            }
            end = start;
        }
        ids[from..].reverse();
    }

    fn score(&self, id: u32) -> Option<f64> {
        let at = id as usize * SCORE_BYTES;
        let bytes = self.scores.get(at..at + SCORE_BYTES)?;
        Some(f64::from_le_bytes(bytes.try_into().ok()?))
    }
}

impl Steps {
    fn bits(self) -> u32 {
        u32::from(self.charsmap) | u32::from(self.nfkc) << 1 | u32::from(self.lowercase) << 2
    }

    fn from_bits(bits: u32) -> Self {
        let has = |bit: u32| bits >> bit & 1 == 1;
        Self { charsmap: has(0), nfkc: has(1), lowercase: has(2) }
    }
}

fn damaged(reason: impl std::fmt::Display) -> Error {
    super::layout::damaged(format!("has a bad vocabulary: its {reason}"))
}

#[cfg(test)]
mod tests;
