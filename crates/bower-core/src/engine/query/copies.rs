//! Finds which of the best candidates say the same: memories of one content, and chunks that mostly repeat another.
//! Only the texts of pairs with close vectors are read.

use std::cell::OnceCell;
use std::collections::HashMap;

use crate::engine::Engine;
use crate::engine::query::likeness::Likeness;
use crate::error::Result;
use crate::item::RowId;
use crate::rank::group::{self, OVERLAPS, Print, Runs, SAME};

/// The texts of candidates that may repeat each other, compared on demand.
#[derive(Clone, Debug, Default)]
pub(crate) struct Copies {
    texts: HashMap<RowId, Text>,
}

#[derive(Clone, Debug)]
struct Text {
    content: String,
    is_chunk: bool,
    print: OnceCell<Print>,
    runs: OnceCell<Runs>,
}

impl Text {
    fn print(&self) -> &Print {
        self.print.get_or_init(|| Print::of(&self.content))
    }

    fn runs(&self) -> &Runs {
        self.runs.get_or_init(|| Runs::of(&self.content))
    }
}

impl Copies {
    /// Reads the texts of rows that are close to another of them.
    pub(crate) fn load(engine: &Engine, likeness: &Likeness, rows: &[RowId]) -> Result<Self> {
        let places: Vec<usize> = rows.iter().filter_map(|row| likeness.places.get(row).copied()).collect();
        let is_close =
            |one: usize, two: usize| likeness.at(one, two).is_some_and(|cosine| cosine >= OVERLAPS);
        let suspects: Vec<RowId> = rows
            .iter()
            .copied()
            .filter(|row| {
                let place = likeness.places.get(row);
                place.is_some_and(|&one| places.iter().any(|&two| one != two && is_close(one, two)))
            })
            .collect();
        if suspects.is_empty() {
            return Ok(Self::default());
        }
        let known = |text: crate::store::IndexedText| {
            let (print, runs) = (OnceCell::new(), OnceCell::new());
            (text.row, Text { is_chunk: text.parent != 0, content: text.text, print, runs })
        };
        Ok(Self { texts: engine.store.texts(&suspects)?.into_iter().map(known).collect() })
    }

    /// Whether `later` only repeats `shown`.
    fn repeats(&self, likeness: &Likeness, shown: RowId, later: RowId) -> bool {
        let Some(cosine) = likeness.of(shown, later).filter(|cosine| *cosine >= OVERLAPS) else {
            return false;
        };
        let (Some(one), Some(two)) = (self.texts.get(&shown), self.texts.get(&later)) else { return false };
        cosine >= SAME && one.print().fits(two.print())
            || one.is_chunk && two.is_chunk && two.runs().repeat(one.runs())
    }

    /// Groups rows, best first: each group has the positions of a row and of those that repeat it. Rows for which
    /// `is_apart` holds stay alone.
    pub(crate) fn groups(
        &self,
        likeness: &Likeness,
        rows: &[RowId],
        is_apart: impl Fn(RowId) -> bool,
    ) -> Vec<Vec<usize>> {
        let same = |one: usize, two: usize| {
            self.repeats(likeness, rows[one], rows[two]) && !is_apart(rows[one]) && !is_apart(rows[two])
        };
        group::groups(rows.len(), &same)
    }
}
