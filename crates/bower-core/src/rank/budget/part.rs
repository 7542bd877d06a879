//! A ranked item that is cut into units, some of which are taken.

use super::units::TextUnit;
use crate::item::RowId;

/// One ranked item.
#[derive(Clone, Copy, Debug)]
pub struct RankedText<'a> {
    /// Its row.
    pub row: RowId,
    /// Its id.
    pub id: &'a str,
    /// The document that contains it; a memory has none.
    pub document: Option<&'a str>,
    /// Its position in the document, from 0.
    pub position: u32,
    /// First and last line in the document, from 1.
    pub lines: Option<(u32, u32)>,
    /// Its name for a reader.
    pub source: &'a str,
    /// The document's path.
    pub path: Option<&'a str>,
    /// Heading path or symbol.
    pub heading: Option<&'a str>,
    /// A note for the reader on who wrote it.
    pub mark: Option<&'a str>,
    /// Whether it is source code, which is cut at lines.
    pub is_code: bool,
    /// Whether it is not a hit, but adjacent to one and completes it.
    pub is_beside: bool,
    /// Its score, 0..1; for an adjacent text the hit's.
    pub score: f32,
    /// The text.
    pub content: &'a str,
}

/// An item cut into units.
pub(super) struct CutItem<'a> {
    pub(super) item: RankedText<'a>,
    pub(super) units: Vec<TextUnit>,
    /// The gain of each unit.
    pub(super) gains: Vec<f32>,
    pub(super) state: Vec<PackState>,
    /// Tokens taken so far.
    pub(super) tokens: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PackState {
    Free,
    Taken,
    /// Its text is already included elsewhere.
    Twice,
}

impl CutItem<'_> {
    pub(super) fn text(&self, unit: usize) -> &str {
        &self.item.content[self.units[unit].range.clone()]
    }

    pub(super) fn is_open(&self) -> bool {
        self.state.contains(&PackState::Taken)
    }

    /// Returns the unit with the units of its frame that are not taken yet.
    pub(super) fn with_frame(&self, unit: usize) -> Vec<usize> {
        let frame = self.units[unit].frame.into_iter().flatten().map(|at| at as usize);
        let mut all: Vec<usize> =
            frame.filter(|&at| self.state[at] == PackState::Free && at != unit).collect();
        all.push(unit);
        all.sort_unstable();
        all.dedup();
        all
    }
}
