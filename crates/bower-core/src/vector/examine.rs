//! Computes cosines of given rows in the vector index, and how similar a question is to rows in general.
//! No function here searches for the nearest rows.

use bower_kernels::Isa;
use bower_kernels::scan::bytes;

use super::VectorIndex;
use super::best::Best;
use super::quantise::{ByteQuery, ByteRows, Quantised};
use super::segment::VectorSegment;
use crate::item::{Allowed, RowId, RowSet};

/// Number of rows that [`VectorIndex::background`] samples: the deviation of a thousand is within about 2 % of that of all.
const SAMPLE: usize = 1_024;

/// A sample's rows are in runs of this length, so that it touches a few pages of a large index instead of a thousand.
const RUN: usize = 32;

/// How similar a question is to rows in general, as the reference for the best similarity.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Background {
    /// Number of rows that it represents.
    pub rows: f64,
    /// The mean of their cosines.
    pub mean: f64,
    /// The mean of their cosines' squares.
    pub square: f64,
}

impl Background {
    /// Returns the background of all rows from their cosines.
    pub fn of(cosines: impl IntoIterator<Item = f32>) -> Self {
        let (mut rows, mut sum, mut squares) = (0_u64, 0.0, 0.0);
        for cosine in cosines {
            rows += 1;
            sum += f64::from(cosine);
            squares += f64::from(cosine) * f64::from(cosine);
        }
        Self::of_sums(rows, sum, squares)
    }

    /// Returns the background of rows from the sums of their cosines and squares.
    pub(super) fn of_sums(rows: u64, sum: f64, squares: f64) -> Self {
        if rows == 0 {
            return Self::default();
        }
        let count = rows as f64;
        Self { rows: count, mean: sum / count, square: squares / count }
    }

    /// Returns the background of rows from a sample of every `step`th.
    pub(super) fn of_sample(cosines: Vec<f32>, step: usize) -> Self {
        let mut background = Self::of(cosines);
        background.rows *= step as f64;
        background
    }

    /// Returns the background of both sets of rows together.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        let rows = self.rows + other.rows;
        if rows <= 0.0 {
            return Self::default();
        }
        let (one, two) = (self.rows / rows, other.rows / rows);
        Self {
            rows,
            mean: one * self.mean + two * other.mean,
            square: one * self.square + two * other.square,
        }
    }

    /// Returns the standard deviation of the cosines.
    pub fn deviation(&self) -> f64 {
        (self.square - self.mean * self.mean).max(0.0).sqrt()
    }
}

/// Returns the step of a sample of the rows that a filter keeps.
pub(super) fn sample_step(keep: &RowSet) -> usize {
    keep.len().div_ceil(SAMPLE).max(1)
}

impl VectorIndex {
    /// Returns the cosine of each row with `query`, by int8 (within about .002), in order. `None` for a row that the
    /// index lacks, or for a query of another dimension or without direction.
    pub fn cosines(&self, query: &[f32], rows: &[RowId]) -> Vec<Option<f32>> {
        let mut cosines = vec![None; rows.len()];
        let bytes = ByteQuery::new(query);
        if query.len() != self.dimension() || bytes.scale == 0.0 {
            return cosines;
        }
        for (segment, found) in self.places(rows) {
            let positions: Vec<u32> = found.iter().map(|&(position, _)| position).collect();
            let scores = self.score_positions(segment, &bytes, &positions);
            for (&(_, place), score) in found.iter().zip(scores) {
                cosines[place] = Some(score.clamp(-1.0, 1.0));
            }
        }
        cosines
    }

    /// Returns the int8 vectors of rows, in order; `None` for a row that the index lacks.
    pub fn quantised(&self, rows: &[RowId]) -> Vec<Option<Quantised>> {
        let mut vectors = vec![None; rows.len()];
        let stride = bytes::stride(self.dimension());
        for (segment, found) in self.places(rows) {
            for (position, place) in found {
                let at = position as usize;
                let bytes = segment.rows_at(&[position])[at * stride..][..stride].to_vec();
                vectors[place] = Some(Quantised { bytes, scale: segment.scales()[at] });
            }
        }
        vectors
    }

    /// Writes the vectors of rows into their slots; returns the slots of rows that the index lacks.
    pub fn pack(&self, rows: &[RowId], into: &mut ByteRows) -> Vec<usize> {
        let mut is_left = vec![true; rows.len()];
        let stride = bytes::stride(self.dimension());
        for (segment, found) in self.places(rows) {
            for (position, place) in found {
                let at = position as usize;
                let bytes = &segment.rows_at(&[position])[at * stride..][..stride];
                is_left[place] &= !into.put(place, bytes, segment.scales()[at]);
            }
        }
        (0..rows.len()).filter(|&place| is_left[place]).collect()
    }

    /// Whether a search without a filter scores every row, and so computes the background of all of them at no cost.
    pub fn scores_all(&self) -> bool {
        !self.segments.iter().any(VectorSegment::is_coded)
    }

    /// Returns how similar `query` is to the allowed rows in general. If [`VectorIndex::scores_all`] and nothing is
    /// filtered, it covers all of them, so that it does not depend on their order. Otherwise it covers an even sample
    /// of at most about 1,024, the same rows for the same index. Empty for a query of another dimension or without
    /// direction.
    pub fn background(&self, query: &[f32], allowed: Allowed<'_>) -> Background {
        let bytes = ByteQuery::new(query);
        if query.len() != self.dimension() || bytes.scale == 0.0 {
            return Background::default();
        }
        let mut cosines = Vec::with_capacity(SAMPLE);
        if let Some(keep) = allowed.keep {
            let step = sample_step(keep);
            let rows: Vec<RowId> = keep.iter().step_by(step).collect();
            for (segment, found) in self.places(&rows) {
                let kept = found.iter().filter(|&&(_, place)| !allowed.drop.contains(rows[place]));
                let positions: Vec<u32> = kept.map(|&(position, _)| position).collect();
                cosines.extend(self.score_positions(segment, &bytes, &positions));
            }
            return Background::of_sample(cosines, step);
        }
        if self.scores_all() {
            let mut best = Best::new(1, 1);
            return self.score_small(&bytes, allowed, &mut best);
        }
        let all: usize = self.segments.iter().map(VectorSegment::rows).sum();
        let step = all.div_ceil(RUN).div_ceil(SAMPLE / RUN).max(1);
        let mut before: usize = 0; // runs in the segments before
        for segment in &self.segments {
            let here = segment.rows().div_ceil(RUN);
            let first = before.next_multiple_of(step) - before;
            let starts = (first..here).step_by(step).map(|run| run * RUN);
            let positions: Vec<u32> = starts
                .flat_map(|start| start..(start + RUN).min(segment.rows()))
                .filter(|&at| !segment.view().is_dead(at) && !allowed.drop.contains(RowId(segment.ids()[at])))
                .map(|at| at as u32)
                .collect();
            cosines.extend(self.score_positions(segment, &bytes, &positions));
            before += here;
        }
        let mut background = Background::of(cosines);
        if background.rows > 0.0 {
            background.rows = background.rows.max(self.len() as f64);
        }
        background
    }

    /// Returns for each segment the given rows in it, as their position and their index in `rows`; positions ascend.
    fn places(&self, rows: &[RowId]) -> Vec<(&VectorSegment, Vec<(u32, usize)>)> {
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_unstable_by_key(|&place| rows[place]);
        self.segments
            .iter()
            .map(|segment| {
                let (mut from, mut found) = (0, Vec::new());
                for &place in &order {
                    match segment.view().find(rows[place], from) {
                        Ok(at) => {
                            from = at;
                            if !segment.view().is_dead(at) {
                                found.push((at as u32, place));
                            }
                        }
                        Err(at) => from = at,
                    }
                }
                (segment, found)
            })
            .collect()
    }

    pub(super) fn score_positions(
        &self,
        segment: &VectorSegment,
        query: &ByteQuery,
        positions: &[u32],
    ) -> Vec<f32> {
        let mut dots = vec![0; positions.len()];
        bytes::dots_at(self.format.isa, segment.rows_at(positions), positions, &query.values, &mut dots);
        let score = |(&dot, &at): (&i32, &u32)| dot as f32 * segment.scales()[at as usize] * query.scale;
        dots.iter().zip(positions).map(score).collect()
    }
}

/// Returns the cosine of each pair of vectors by int8 (within about .004), row by row; 0 if one is missing, and for a
/// vector with itself. Empty for vectors of different dimensions.
pub fn likenesses(vectors: &[Option<Quantised>]) -> Vec<f32> {
    let count = vectors.len();
    let mut likenesses = vec![0.0; count * count];
    let Some(longest) = vectors.iter().flatten().map(|vector| vector.bytes.len()).max() else {
        return likenesses;
    };
    let mut rows = ByteRows::new(longest, count);
    for (at, vector) in vectors.iter().enumerate() {
        if let Some(vector) = vector
            && !rows.put(at, &vector.bytes, vector.scale)
        {
            return likenesses;
        }
    }
    let (isa, mut dots) = (Isa::best(), vec![0; count]);
    for one in (0..count).filter(|&one| vectors[one].is_some()) {
        // The matrix is symmetric.
        rows.each_after(isa, one, &mut dots, |two, cosine| {
            (likenesses[one * count + two], likenesses[two * count + one]) = (cosine, cosine);
        });
    }
    likenesses
}

#[cfg(test)]
mod tests {
    use super::super::ExactQuery;
    use super::super::quantise::restore;
    use super::super::testing::{IndexFolder, Vectors};
    use super::*;

    #[test]
    fn rows_are_scored_wherever_they_are() {
        let folder = IndexFolder::new(128);
        let data = Vectors::clustered(128, 13_000, 5);
        folder.compact(1, &[], data.rows(0..12_000));
        folder.compact(2, &[700, 12_500], data.rows(12_000..13_000));
        let index = folder.open().unwrap();
        let rows = [12_900, 3, 700, 11_999, 13_001, 0].map(RowId);
        let query = ExactQuery::new(data.get(42));
        let cosines = index.cosines(data.get(42), &rows);
        let quantised = index.quantised(&rows);
        for ((row, cosine), vector) in rows.iter().zip(&cosines).zip(&quantised) {
            let is_here = ![700, 13_001].contains(&row.0);
            assert_eq!((cosine.is_some(), vector.is_some()), (is_here, is_here), "{row:?}");
            if let (Some(cosine), Some(vector)) = (cosine, vector) {
                let exact = query.cosine(data.get(row.0));
                let mut restored = vec![0.0; 128];
                restore(&vector.bytes, vector.scale, &mut restored);
                assert!((cosine - exact).abs() < 0.005 && (query.cosine(&restored) - exact).abs() < 0.005);
            }
        }
        assert_eq!(index.cosines(&[0.0; 128], &rows), [None; 6]);
        assert_eq!(index.cosines(&[1.0; 64], &rows), [None; 6]);
    }

    #[test]
    fn the_background_is_that_of_the_allowed_rows() {
        let folder = IndexFolder::new(128);
        let data = Vectors::clustered(128, 20_000, 6);
        folder.compact(1, &[], data.rows(0..15_000));
        folder.compact(2, &[], data.rows(15_000..20_000));
        let index = folder.open().unwrap();
        let none = RowSet::new();
        let check = |keep: Option<&RowSet>, slack: f64| {
            let query = ExactQuery::new(data.get(1));
            let rows = (0..20_000).filter(|&row| keep.is_none_or(|keep| keep.contains(RowId(row))));
            let exact = Background::of(rows.map(|row| query.cosine(data.get(row))));
            let found = index.background(data.get(1), Allowed { keep, drop: &none });
            assert!((found.rows / exact.rows - 1.0).abs() < 0.05, "{found:?} {exact:?}");
            assert!((found.mean - exact.mean).abs() < slack * exact.deviation(), "{found:?} {exact:?}");
            assert!((found.deviation() / exact.deviation() - 1.0).abs() < slack, "{found:?} {exact:?}");
        };
        check(None, 0.15);
        check(Some(&(0..20_000).filter(|row| row % 7 < 3).map(RowId).collect()), 0.15);
        check(Some(&(300..600).map(RowId).collect()), 0.01);
        let few: RowSet = [RowId(5)].into_iter().collect();
        assert!(index.background(data.get(1), Allowed { keep: Some(&few), drop: &few }).rows.abs() < 1e-9);
    }

    /// A sample of a thousand deviates by a few per cent, and differently if the same vectors have other rows.
    #[test]
    fn below_ten_thousand_rows_the_background_is_that_of_all_in_whatever_order_they_came() {
        let data = Vectors::clustered(128, 6_000, 8);
        let (ascending, moved) = (IndexFolder::new(128), IndexFolder::new(128));
        ascending.compact(1, &[], data.rows(0..6_000));
        // Vectors as before with other row ids, in two segments, and one deleted row.
        let at = |row: u32| (row * 4_999 + 17) % 6_000;
        let rows = |rows: std::ops::Range<u32>| {
            let data = &data;
            rows.map(move |row| Ok((RowId(row), data.get(at(row)).to_vec())))
        };
        moved.compact(1, &[], rows(0..4_500));
        moved.compact(2, &[], rows(4_500..6_000).chain([Ok((RowId(6_000), data.get(1).to_vec()))]));
        moved.compact(3, &[6_000], data.rows(0..0));
        let none = RowSet::new();
        let allowed = Allowed { keep: None, drop: &none };
        for query in [1, 42, 5_999] {
            let (query, exact) = (data.get(query), ExactQuery::new(data.get(query)));
            let want = Background::of((0..6_000).map(|row| exact.cosine(data.get(row))));
            for folder in [&ascending, &moved] {
                let index = folder.open().unwrap();
                let fetch = &mut |rows: &[RowId]| Ok(vec![None; rows.len()]);
                let (_, found) = index
                    .search_with_delta(query, 10, allowed, &crate::vector::DeltaScores::new(), fetch)
                    .unwrap();
                assert_eq!(found, Some(index.background(query, allowed)), "whoever asks first");
                let found = found.unwrap();
                assert!((found.rows - 6_000.0).abs() < 0.5, "{found:?}");
                // Int8 scores differ from cosines by some .002, and means of them by less.
                assert!((found.mean - want.mean).abs() < 1e-3, "{found:?} {want:?}");
                assert!((found.deviation() - want.deviation()).abs() < 1e-3, "{found:?} {want:?}");
            }
            let [one, two] =
                [&ascending, &moved].map(|folder| folder.open().unwrap().background(query, allowed));
            assert!((one.mean - two.mean).abs() < 1e-12 && (one.square - two.square).abs() < 1e-12);
        }
    }

    #[test]
    fn backgrounds_add_up() {
        let (one, two) = (Background::of([0.1, 0.3]), Background::of([0.5]));
        let both = one.with(two);
        // By hand: mean .9/3, squares (.01 + .09 + .25)/3 = .35/3, deviation sqrt(.1167 - .09).
        assert!((both.mean - 0.3).abs() < 1e-6 && (both.deviation() - 0.163_3).abs() < 1e-4, "{both:?}");
        assert_eq!(Background::default().with(Background::default()), Background::default());
    }

    #[test]
    fn likenesses_are_cosines_and_empty_on_the_diagonal() {
        let data = Vectors::clustered(104, 9, 3);
        let mut vectors: Vec<_> = (0..9).map(|row| Some(data.get(row).to_vec())).collect();
        vectors[4] = None;
        let found =
            likenesses(&vectors.iter().map(|row| row.as_deref().map(Quantised::new)).collect::<Vec<_>>());
        for (at, likeness) in found.iter().enumerate() {
            let (one, two) = (at / 9, at % 9);
            let exact = match (&vectors[one], &vectors[two]) {
                (Some(a), Some(b)) if one != two => ExactQuery::new(a).cosine(b),
                (Some(_) | None, Some(_) | None) => 0.0,
            };
            assert!((likeness - exact).abs() < 0.01, "{one} {two}: {likeness} {exact}");
        }
        let (one, two) = (Quantised::new(&[1.0; 64]), Quantised::new(&[1.0; 128]));
        assert_eq!(likenesses(&[Some(one), Some(two)]), [0.0; 4]);
        assert_eq!(likenesses(&[None, None]), [0.0; 4]);
    }
}
