//! BM25 as tantivy computes it, for rows of the index and of the delta alike.
//! Both use the summed statistics of index and delta.

use tantivy::fieldnorm::FieldNormReader;

/// Term saturation and length normalisation (Robertson and Zaragoza 2009); tantivy has the same values built in.
const K1: f32 = 1.2;
const B: f32 = 0.75;

/// Most that a term of rarity 1 can add.
pub(super) const MOST_OF_A_TERM: f32 = 1.0 + K1;

/// Higher frequencies count as this: it fits a delta's byte, and BM25 hardly distinguishes them.
pub(super) const MOST_FREQUENCY: u32 = 255;

/// The bits of an `f32`'s exponent; adding one to the lowest doubles the number.
const EXPONENT: u32 = 0x7F80_0000;
const DOUBLE: u32 = 1 << 23;

/// Statistics of all rows together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Statistics {
    /// Number of rows.
    pub docs: u64,
    /// Number of their terms.
    pub tokens: u64,
    /// For each term of the query, the number of rows that contain it.
    pub frequencies: Vec<u64>,
}

/// The BM25 of one query.
///
/// The part of each term is a multiple of one step, so small that sums of all terms are exact. So a row's score does
/// not depend on the order of addition. The step is under 2^-22 of the greatest sum.
#[derive(Clone, Debug)]
pub(super) struct Bm25 {
    weights: Vec<f32>,
    /// The power of two above the sum of the weights. Adding and subtracting it rounds a smaller number to the step,
    /// because between it and its double neighbouring `f32` are one step apart.
    above: f32,
    norms: Box<[f32; 256]>,
}

impl Bm25 {
    /// Creates the BM25; `boosts` has one entry per term, like `statistics.frequencies`. A row may contain up to `most_forms`
    /// forms of a term, each of which adds its part.
    pub fn new(statistics: &Statistics, boosts: impl Iterator<Item = f32>, most_forms: usize) -> Self {
        let average = statistics.tokens.max(1) as f32 / statistics.docs.max(1) as f32;
        let mut norms = Box::new([0.0; 256]);
        for (id, norm) in (0..=u8::MAX).zip(norms.iter_mut()) {
            let length = FieldNormReader::id_to_fieldnorm(id) as f32;
            *norm = K1 * (1.0 - B + B * length / average);
        }
        let weights = statistics
            .frequencies
            .iter()
            .zip(boosts)
            .map(|(&frequency, boost)| idf(frequency, statistics.docs) * MOST_OF_A_TERM * boost);
        let weights: Vec<f32> = weights.collect();
        let sum: f32 = weights.iter().sum::<f32>() * most_forms as f32;
        let above = f32::from_bits((sum.to_bits() & EXPONENT) + DOUBLE);
        Self { weights, above, norms }
    }

    /// Returns the most that each of the first `count` terms can add to a score.
    pub fn weights(&self, count: usize) -> Vec<f32> {
        self.weights[..count.min(self.weights.len())].to_vec()
    }

    /// Returns what the term at `nth` adds to a row's score.
    #[inline]
    pub fn term(&self, nth: usize, length_id: u8, frequency: u32) -> f32 {
        let frequency = frequency.min(MOST_FREQUENCY) as f32;
        let part = self.weights[nth] * (frequency / (frequency + self.norms[usize::from(length_id)]));
        (part + self.above) - self.above
    }

    /// Returns the most that the term at `nth` can add; sums of these are exact too.
    pub fn most(&self, nth: usize) -> f32 {
        let step = self.above * f32::EPSILON;
        (self.weights[nth] + self.above) - self.above + step
    }
}

/// Returns `ln(1 + (N - n + .5) / (n + .5))`, as in Lucene and tantivy: never negative.
pub(super) fn idf(frequency: u64, docs: u64) -> f32 {
    let rest = docs.saturating_sub(frequency) as f32;
    (1.0 + (rest + 0.5) / (frequency as f32 + 0.5)).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_those_of_the_formula() {
        // N 10, n 2, average length 8: idf ln(1 + 8.5/2.5) = 1.481605; length 8, frequency 2: 2.2 * 2/(2 + 1.2) * idf.
        let statistics = Statistics { docs: 10, tokens: 80, frequencies: vec![2] };
        let bm25 = Bm25::new(&statistics, [1.0].into_iter(), 1);
        assert!((bm25.term(0, 8, 2) - 2.037_206).abs() < 1e-5, "{}", bm25.term(0, 8, 2));
        assert!(bm25.term(0, 8, 0).abs() < f32::EPSILON);
    }
}
