//! Embeds texts with all-MiniLM-L6-v2 in int8, from a mapped packed file.
//! The same text gives the same bits on every machine. No text is truncated: a long one is read in windows.

use std::ops::Range;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use bower_kernels::Isa;

use super::adapter::{Adapter, Classifier, Statements, adapter};
use super::bert::{Encoder, Scratch, Wanted, at_path};
use super::late::{TOKENS_IDENTITY, Tokens, distinct_codes};
use super::layout::damaged;
use super::pack::{IDENTITY, SHAPE};
use super::packed::Packed;
use super::{EmbeddedQuestion, EmbeddedText, Embedder};
use crate::error::{Error, Result};

/// Numbers of a token and of a vector.
const HIDDEN: usize = SHAPE.hidden;

/// Most pieces of one window: with `[CLS]` and `[SEP]` the 256 tokens that the model was trained on.
pub const WINDOW_PIECES: usize = 254;

/// The open model. One value serves all threads; each call borrows a set of buffers.
#[derive(Debug)]
pub struct MiniLm {
    file: Packed,
    isa: Isa,
    /// Buffers that no call is using.
    idle: Mutex<Vec<Scratch>>,
}

/// The result of embedding a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Encoding {
    /// The vector: unit length, 384 numbers.
    pub vector: Vec<f32>,
    /// Number of tokens read, including each window's `[CLS]` and `[SEP]`.
    pub tokens: usize,
    /// Number of windows; 1 for up to [`WINDOW_PIECES`] pieces.
    pub windows: usize,
}

/// The last layer's states of one window of a text, as passed to a visitor of [`MiniLm::encode`].
#[derive(Clone, Copy, Debug)]
pub struct Window<'a> {
    /// The window's tokens, `[CLS]` first and `[SEP]` last.
    pub ids: &'a [u32],
    /// 384 numbers per token, in the order of `ids`, not normalised.
    pub states: &'a [f32],
}

impl<'a> Window<'a> {
    /// Returns the window without `[CLS]` and `[SEP]`, which are not words.
    #[must_use]
    pub fn inner(self) -> Window<'a> {
        let last = self.ids.len() - 1;
        Self { ids: &self.ids[1..last], states: &self.states[HIDDEN..last * HIDDEN] }
    }
}

impl MiniLm {
    /// Maps a file that [`super::pack`] wrote. Checks the header and all lengths and reads none of the weights. Those
    /// are verified when they are first used, and all at once by [`MiniLm::verify`].
    ///
    /// Fails with [`Error::Model`] on a file that is damaged, truncated, of another format or something else.
    pub fn open(packed: &Path) -> Result<Self> {
        Self::with_isa(packed, Isa::best())
    }

    /// Like [`MiniLm::open`], with the instructions to use; all of them give the same vectors.
    pub fn with_isa(packed: &Path, isa: Isa) -> Result<Self> {
        if !isa.is_present() {
            return Err(Error::invalid(
                format!("instruction set {isa:?}"),
                "must be one that this machine has",
            ));
        }
        let file = Packed::open(packed).map_err(|error| at_path(IDENTITY, packed, error))?;
        let model = Self { file, isa, idle: Mutex::new(Vec::new()) };
        if model.file.layout.name != IDENTITY {
            let reason = format!("holds {}, not {IDENTITY}: pack the model again", model.file.layout.name);
            return Err(at_path(IDENTITY, packed, damaged(reason)));
        }
        model.parts()?;
        Ok(model)
    }

    /// Embeds a text; an empty one is `[CLS]`, `[SEP]`. Windows are of nearly equal length and do not overlap; the
    /// vector is the normalised mean of all states. `see` is called with each window's token states, in order.
    pub fn encode(&self, text: &str, see: &mut dyn FnMut(Window<'_>)) -> Result<Encoding> {
        let mut scratch = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
        let encoding = self.encode_into(text, &mut scratch, see);
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(scratch);
        encoding
    }

    /// Returns the number of pieces of a text, without `[CLS]` and `[SEP]`.
    fn count(&self, text: &str) -> Result<usize> {
        let mut pieces = Vec::with_capacity(text.len() / 3);
        self.file.check_vocabulary().map_err(|error| self.here(error))?;
        self.parts()?.words.encode(text, &mut pieces);
        Ok(pieces.len())
    }

    /// Verifies every byte of the file; reads all of it.
    pub fn verify(&self) -> Result<()> {
        self.file.verify().map_err(|error| self.here(error))
    }

    fn here(&self, error: Error) -> Error {
        at_path(IDENTITY, &self.file.path, error)
    }

    fn encode_into(
        &self,
        text: &str,
        scratch: &mut Scratch,
        see: &mut dyn FnMut(Window<'_>),
    ) -> Result<Encoding> {
        let parts = self.parts()?;
        self.file.check_vocabulary().map_err(|error| self.here(error))?;
        let mut pieces = std::mem::take(&mut scratch.pieces);
        pieces.clear();
        parts.words.encode(text, &mut pieces);
        let mut pool = Pool::default();
        let (mut tokens, mut windows) = (0, 0);
        for window in split(pieces.len()) {
            scratch.ids.clear();
            scratch.ids.push(parts.words.first());
            scratch.ids.extend_from_slice(&pieces[window]);
            scratch.ids.push(parts.words.last());
            self.file.check_pass(&scratch.ids, SHAPE.word_row()).map_err(|error| self.here(error))?;
            parts.forward(self.isa, Wanted::All, None, scratch);
            pool.add(&scratch.states);
            tokens += scratch.ids.len();
            windows += 1;
            see(Window { ids: &scratch.ids, states: &scratch.states });
        }
        scratch.pieces = pieces;
        let vector = pool.finish().ok_or_else(|| {
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
        let (parts, adapter) = (self.parts()?, adapter()?);
        self.file.check_vocabulary().map_err(|error| self.here(error))?;
        let second = Adapter::tokens(&parts, input, scratch);
        self.file.check_pass(&scratch.ids, SHAPE.word_row()).map_err(|error| self.here(error))?;
        Ok(adapter.classify(self.isa, &parts, second, classifiers, scratch))
    }

    /// Views all sections and checks their lengths. It takes a microsecond or two, so it is done for each text.
    fn parts(&self) -> Result<Encoder<'_>> {
        Encoder::read(self.file.bytes(), &self.file.layout, SHAPE).map_err(|error| self.here(error))
    }
}

impl Embedder for MiniLm {
    fn model(&self) -> &str {
        &self.file.layout.name
    }

    fn add_sums(&self) -> Result<()> {
        self.file.add_sums().map_err(|error| self.here(error))
    }

    fn dimension(&self) -> usize {
        HIDDEN
    }

    fn embed(&self, text: &str) -> Result<Vec<f32>> {
        Ok(self.encode(text, &mut |_| ())?.vector)
    }

    fn tokens(&self) -> Option<&str> {
        Some(TOKENS_IDENTITY)
    }

    fn embed_text(&self, text: &str) -> Result<EmbeddedText> {
        let (mut tokens, mut codes) = (Tokens::default(), Vec::new());
        let encoding = self.encode(text, &mut |window| {
            let inner = window.inner();
            tokens.codes(self.isa, inner.ids, inner.states, &mut codes);
        })?;
        Ok(EmbeddedText { vector: encoding.vector, codes: Some(distinct_codes(codes)) })
    }

    fn embed_question(&self, text: &str) -> Result<EmbeddedQuestion> {
        let (mut tokens, mut question) = (Tokens::default(), Vec::new());
        let encoding = self.encode(text, &mut |window| {
            let inner = window.inner();
            tokens.question(self.isa, inner.ids, inner.states, &mut question);
        })?;
        Ok(EmbeddedQuestion { vector: encoding.vector, tokens: Some(question) })
    }

    fn classify(&self, input: &Statements<'_>, classifiers: &[Classifier]) -> Result<Option<Vec<Vec<f32>>>> {
        let mut scratch = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
        let found = self.classify_into(input, classifiers, &mut scratch);
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(scratch);
        found.map(Some)
    }

    fn count_pieces(&self, text: &str) -> Result<usize> {
        self.count(text)
    }
}

/// The mean of token states; each token has the same weight in whatever window it is.
struct Pool {
    total: [f64; HIDDEN],
}

impl Default for Pool {
    fn default() -> Self {
        Self { total: [0.0; HIDDEN] }
    }
}

impl Pool {
    fn add(&mut self, states: &[f32]) {
        for state in states.chunks_exact(HIDDEN) {
            self.total.iter_mut().zip(state).for_each(|(total, x)| *total += f64::from(*x));
        }
    }

    /// Returns the mean at unit length; `None` if it has no direction.
    fn finish(self) -> Option<Vec<f32>> {
        let norm = self.total.iter().map(|x| x * x).sum::<f64>().sqrt();
        (norm.is_finite() && norm > 0.0).then(|| self.total.iter().map(|x| (x / norm) as f32).collect())
    }
}

/// Splits `pieces` pieces into the fewest windows of at most [`WINDOW_PIECES`], whose lengths differ by at most one. No
/// pieces give one empty window.
fn split(pieces: usize) -> impl Iterator<Item = Range<usize>> {
    let windows = pieces.div_ceil(WINDOW_PIECES).max(1);
    (0..windows).map(move |window| window * pieces / windows..(window + 1) * pieces / windows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(pieces: usize) -> Vec<usize> {
        split(pieces).map(|window| window.len()).collect()
    }

    #[test]
    fn windows_are_few_balanced_and_cover_everything() {
        assert_eq!(lengths(0), [0]);
        assert_eq!(lengths(1), [1]);
        assert_eq!(lengths(254), [254]);
        assert_eq!(lengths(255), [127, 128]);
        assert_eq!(lengths(508), [254, 254]);
        assert_eq!(lengths(509), [169, 170, 170]);
        let mut next = 0;
        for window in split(100_001) {
            assert_eq!(window.start, next);
            next = window.end;
        }
        assert_eq!(next, 100_001);
    }

    #[test]
    fn pooling_counts_each_token_once_and_normalises() {
        let mut pool = Pool::default();
        let mut states = vec![0.0; 3 * HIDDEN];
        (states[0], states[HIDDEN], states[2 * HIDDEN + 1]) = (2.0, 1.0, 4.0);
        pool.add(&states[..HIDDEN]);
        pool.add(&states[HIDDEN..]);
        let vector = pool.finish().unwrap();
        assert_eq!(vector[..3], [0.6, 0.8, 0.0]);
        assert!(Pool::default().finish().is_none());
        let mut pool = Pool::default();
        pool.add(&[f32::NAN; HIDDEN]);
        assert!(pool.finish().is_none());
    }

    #[test]
    fn other_files_are_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.bower");
        assert!(matches!(MiniLm::open(&path), Err(Error::Io { .. })));
        let other = crate::embed::layout::write("other.i8-2", &[vec![1]]);
        let empty = crate::embed::layout::write(IDENTITY, &[vec![1]]);
        for bytes in [&b""[..], b"short", &[0; 5000], &other, &empty] {
            std::fs::write(&path, bytes).unwrap();
            let error = MiniLm::open(&path).err().unwrap();
            assert!(matches!(&error, Error::Model { .. }), "{error}");
            assert!(error.to_string().contains("model.bower"), "{error}");
        }
    }
}
