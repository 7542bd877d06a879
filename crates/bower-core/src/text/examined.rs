//! The BM25 results of given rows for a question.

use super::score::MOST_OF_A_TERM;

/// The BM25 results of given rows for a question.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Examined {
    /// For each passed row, in order.
    pub rows: Vec<RowWords>,
    /// Most that each used term can add (its rarity times its frequency in the question, times k1 + 1).
    pub weights: Vec<f32>,
    /// For each used term, whether it is a name in the question; empty if no words are known.
    pub names: Vec<bool>,
    /// The part of each used term in each row: `weights.len()` numbers per row.
    pub parts: Vec<f32>,
    /// The sum of weight times rarity (idf) over all terms of the question, including those that no row has.
    pub idf_sum: f32,
}

/// The result of one row.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RowWords {
    /// BM25; 0 if it has none of the terms.
    pub score: f32,
    /// The row's indexed parent, 0 if it has none; `None` if the index lacks the row.
    pub parent: Option<u64>,
    /// The share of its lines spoken by a person whom the question names, 0..1.
    pub speaker: f32,
}

impl Examined {
    /// Returns results for that many rows without terms.
    pub fn new(rows: usize, weights: Vec<f32>, idf_sum: f32) -> Self {
        let parts = vec![0.0; rows * weights.len()];
        let names = vec![false; weights.len()];
        Self { rows: vec![RowWords::default(); rows], parts, names, weights, idf_sum }
    }

    /// Returns results for rows without a text channel.
    pub fn unknown(rows: usize) -> Self {
        Self::new(rows, Vec::new(), 0.0)
    }

    /// Returns the sum of weight times rarity over the terms in the row at a position.
    pub fn idf_found(&self, place: usize) -> f32 {
        let parts = self.parts_of(place).iter().zip(&self.weights);
        parts.filter(|(part, _)| **part > 0.0).map(|(_, weight)| weight / MOST_OF_A_TERM).sum()
    }

    /// Returns the share of the question's names, weighted by rarity, that the row at a position contains; `None` if it
    /// names nothing.
    pub fn named(&self, place: usize) -> Option<f32> {
        let weights = || self.weights.iter().zip(&self.names).filter(|(_, is_name)| **is_name);
        let all: f32 = weights().map(|(weight, _)| weight).sum();
        let parts = self.parts_of(place).iter().zip(self.weights.iter().zip(&self.names));
        let found = parts.filter(|(part, (_, is_name))| **is_name && **part > 0.0);
        (all > 0.0).then(|| found.map(|(_, (weight, _))| weight).sum::<f32>() / all)
    }

    /// Appends the row at a position of another result for the same question.
    pub fn push(&mut self, other: &Self, place: usize) {
        self.rows.push(other.rows[place]);
        self.parts.extend_from_slice(other.parts_of(place));
    }

    pub(super) fn add(&mut self, place: usize, nth: usize, part: f32) {
        self.rows[place].score += part;
        self.parts[place * self.weights.len() + nth] = part;
    }

    /// Returns the part of each used term in the row at a position.
    pub fn parts_of(&self, place: usize) -> &[f32] {
        &self.parts[place * self.weights.len()..][..self.weights.len()]
    }
}
