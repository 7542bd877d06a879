//! Holds what a question's words say of given rows.

use super::score::MOST_OF_A_TERM;

/// What a question's words say of given rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Examined {
    /// For each row asked, in order.
    pub rows: Vec<RowWords>,
    /// The greatest that each used term can add (its rarity times how often the question has it, times k1 + 1).
    pub weights: Vec<f32>,
    /// Of each used term, whether the question names something by it; empty where no words are known.
    pub names: Vec<bool>,
    /// What each used term adds to each row: `weights.len()` numbers a row.
    pub parts: Vec<f32>,
    /// The sum of weight times rarity (idf) over all of the question's terms, those that no row has among them.
    pub idf_sum: f32,
}

/// What a question's words say of one row.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RowWords {
    /// BM25; 0 where it has none of the words.
    pub score: f32,
    /// The row's parent as it was compacted, 0 where it has none; `None` where the index does not have the row.
    pub parent: Option<u64>,
    /// The share of its lines that somebody speaks whom the question names, 0..1.
    pub speaker: f32,
}

impl Examined {
    /// So many rows that have no words yet.
    pub fn new(rows: usize, weights: Vec<f32>, idf_sum: f32) -> Self {
        let parts = vec![0.0; rows * weights.len()];
        let names = vec![false; weights.len()];
        Self { rows: vec![RowWords::default(); rows], parts, names, weights, idf_sum }
    }

    /// Rows that nothing is known of: no text channel took part.
    pub fn unknown(rows: usize) -> Self {
        Self::new(rows, Vec::new(), 0.0)
    }

    /// The sum of weight times rarity over the terms that the row at a place has.
    pub fn idf_found(&self, place: usize) -> f32 {
        let parts = self.parts_of(place).iter().zip(&self.weights);
        parts.filter(|(part, _)| **part > 0.0).map(|(_, weight)| weight / MOST_OF_A_TERM).sum()
    }

    /// The share of what the question names, by how rare it is, that the row at a place has; none where it names nothing.
    pub fn named(&self, place: usize) -> Option<f32> {
        let weights = || self.weights.iter().zip(&self.names).filter(|(_, is_name)| **is_name);
        let all: f32 = weights().map(|(weight, _)| weight).sum();
        let parts = self.parts_of(place).iter().zip(self.weights.iter().zip(&self.names));
        let found = parts.filter(|(part, (_, is_name))| **is_name && **part > 0.0);
        (all > 0.0).then(|| found.map(|(_, (weight, _))| weight).sum::<f32>() / all)
    }

    /// Adds what another says of the row at one of its places; both are of one question.
    pub fn push(&mut self, other: &Self, place: usize) {
        self.rows.push(other.rows[place]);
        self.parts.extend_from_slice(other.parts_of(place));
    }

    pub(super) fn add(&mut self, place: usize, nth: usize, part: f32) {
        self.rows[place].score += part;
        self.parts[place * self.weights.len() + nth] = part;
    }

    /// What each used term adds to the row at a place.
    pub fn parts_of(&self, place: usize) -> &[f32] {
        &self.parts[place * self.weights.len()..][..self.weights.len()]
    }
}
