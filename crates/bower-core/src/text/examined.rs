//! The BM25 results of given rows for a question.

use super::language::Language;
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
    /// The share of each row's lines that a person spoke whom a used term names, 0..1: `weights.len()` numbers per row.
    pub spoken: Vec<f32>,
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
    /// The language of its text.
    pub language: Language,
}

impl Examined {
    /// Returns results for that many rows without terms.
    pub fn new(rows: usize, weights: Vec<f32>, idf_sum: f32) -> Self {
        let parts = vec![0.0; rows * weights.len()];
        let spoken = parts.clone();
        let names = vec![false; weights.len()];
        Self { rows: vec![RowWords::default(); rows], parts, spoken, names, weights, idf_sum }
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
        self.spoken.extend_from_slice(&other.spoken[place * other.weights.len()..][..other.weights.len()]);
    }

    /// Returns for each row the share of it that is spoken by people whom the question names, 0..1.
    ///
    /// A term's weight is the share of the rows containing it that a speaker of that name spoke. A colon makes a speaker of
    /// the title `The Index: a history`, but most rows with `index` have no such speaker. Only the given rows count, so the
    /// result reveals nothing about other rows. Of these, only the positions for which `counts` is true do.
    pub fn speakers(&self, counts: impl Fn(usize) -> bool) -> Vec<f32> {
        let width = self.weights.len();
        let count = |values: &[f32], nth: usize| {
            let of_term = values.iter().skip(nth).step_by(width).enumerate();
            of_term.filter(|(place, value)| **value > 0.0 && counts(*place)).count()
        };
        let certainty: Vec<f32> = (0..width)
            .map(|nth| match count(&self.spoken, nth) {
                0 => 0.0,
                spoken => spoken as f32 / count(&self.parts, nth).max(spoken) as f32,
            })
            .collect();
        (0..self.rows.len())
            .map(|place| {
                let spoken = &self.spoken[place * width..][..width];
                spoken.iter().zip(&certainty).map(|(share, certain)| share * certain).sum::<f32>().min(1.0)
            })
            .collect()
    }

    /// Adds lines of a row that a person spoke whom a term names; all its spoken lines are `lines`.
    pub(super) fn add_spoken(&mut self, place: usize, nth: usize, spoken: u32, lines: u32) {
        let share = &mut self.spoken[place * self.weights.len() + nth];
        *share = (*share + super::speaker::share(spoken, lines)).min(1.0);
    }

    pub(super) fn add(&mut self, place: usize, nth: usize, part: f32) {
        self.rows[place].score += part;
        self.parts[place * self.weights.len() + nth] += part;
    }

    /// Returns the part of each used term in the row at a position.
    pub fn parts_of(&self, place: usize) -> &[f32] {
        &self.parts[place * self.weights.len()..][..self.weights.len()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Terms `index` and `ada`; five rows.
    #[test]
    fn a_term_counts_by_how_sure_it_is_that_it_names_a_speaker() {
        let mut examined = Examined::new(5, vec![1.0, 1.0], 2.0);
        // The title `The Index: a history`, with a line below it, and three texts about an index.
        examined.add_spoken(0, 0, 1, 2);
        (0..4).for_each(|row| examined.add(row, 0, 1.0));
        // Ada spoke one of the two lines, and nobody else names her.
        examined.add_spoken(4, 1, 1, 2);
        examined.add(4, 1, 1.0);
        assert_eq!(examined.speakers(|_| true), [0.125, 0.0, 0.0, 0.0, 0.5]);
        // Somebody mentions her.
        examined.add(3, 1, 1.0);
        assert_eq!(examined.speakers(|_| true), [0.125, 0.0, 0.0, 0.0, 0.25]);
        assert_eq!(examined.speakers(|place| place != 3), [1.0 / 6.0, 0.0, 0.0, 0.0, 0.5]);
        assert_eq!(Examined::unknown(2).speakers(|_| true), [0.0, 0.0]);
    }
}
