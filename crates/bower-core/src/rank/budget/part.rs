//! Holds a ranked item cut into units, and which of them were taken.

use super::units::TextUnit;
use crate::item::RowId;

/// One ranked item.
#[derive(Clone, Copy, Debug)]
pub struct RankedText<'a> {
    /// Its row.
    pub row: RowId,
    /// Its id.
    pub id: &'a str,
    /// The document that it is part of; a memory has none.
    pub document: Option<&'a str>,
    /// Where it stands in the document, from 0.
    pub position: u32,
    /// First and last line in the document, from 1.
    pub lines: Option<(u32, u32)>,
    /// How a reader names it.
    pub source: &'a str,
    /// The document's path.
    pub path: Option<&'a str>,
    /// Heading path or symbol.
    pub heading: Option<&'a str>,
    /// What a reader must know of whose words it is.
    pub mark: Option<&'a str>,
    /// Source code: cut at lines.
    pub is_code: bool,
    /// Not found itself, but beside a hit: it is there to complete what was found.
    pub is_beside: bool,
    /// 0..1; of the hit that it stands beside, where it is not one.
    pub score: f32,
    /// The text.
    pub content: &'a str,
}

/// An item cut into units.
pub(super) struct CutItem<'a> {
    pub(super) item: RankedText<'a>,
    pub(super) units: Vec<TextUnit>,
    /// What each unit gains.
    pub(super) gains: Vec<f32>,
    pub(super) state: Vec<PackState>,
    /// Tokens taken so far.
    pub(super) tokens: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PackState {
    Free,
    Taken,
    /// Its text stands elsewhere already.
    Twice,
}

impl CutItem<'_> {
    pub(super) fn text(&self, unit: usize) -> &str {
        &self.item.content[self.units[unit].range.clone()]
    }

    pub(super) fn is_open(&self) -> bool {
        self.state.contains(&PackState::Taken)
    }

    /// The unit with those that must come with it and are not there yet.
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
