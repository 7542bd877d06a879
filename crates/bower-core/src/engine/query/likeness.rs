//! Keeps how similar the best rows of a ranking are to each other.

use std::collections::HashMap;

use crate::item::RowId;

/// Similarity of the best rows: the cosine of their vectors.
#[derive(Clone, Debug, Default)]
pub(crate) struct Likeness {
    pub(crate) places: HashMap<RowId, usize>,
    /// Number of rows that were compared.
    compared: usize,
    cosines: Vec<f32>,
}

impl Likeness {
    /// Creates it from the rows and their cosines, row by row.
    pub(crate) fn new(rows: &[RowId], cosines: Vec<f32>) -> Self {
        let places = rows.iter().zip(0..).map(|(row, at)| (*row, at)).collect();
        Self { places, compared: rows.len(), cosines }
    }

    /// Lets a memory stand where a wording of it stood.
    pub(crate) fn rename(&mut self, wording: RowId, memory: RowId) {
        if let Some(at) = self.places.remove(&wording) {
            self.places.insert(memory, at);
        }
    }

    /// Returns the cosine of two rows; `None` where one is not among the best, or has no vector.
    pub(crate) fn of(&self, one: RowId, two: RowId) -> Option<f32> {
        self.at(*self.places.get(&one)?, *self.places.get(&two)?)
    }

    pub(crate) fn at(&self, one: usize, two: usize) -> Option<f32> {
        let cosine = *self.cosines.get(one * self.compared + two)?;
        (cosine != 0.0).then_some(cosine)
    }
}
