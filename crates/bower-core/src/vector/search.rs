//! Searches the vector index: 1-bit candidates, int8 scores, then exact cosines of stored vectors for the best.
//! Every stage has a total order: score, then row.

use std::sync::atomic::Ordering;

use bower_kernels::scan::bits::{self, BLOCK, Estimate};
use bower_kernels::scan::bytes;

use super::best::{Best, DELTA, Fetch, RESCORED, ROWS_PER_RESCORED, VectorCandidate, rescore};
use super::clusters::Near;
use super::examine::{Background, sample_step};
use super::quantise::{ByteQuery, bit_query, shared};
use super::segment::{VectorRows, VectorSegment};
use super::{DeltaScores, VectorIndex};
use crate::error::{Error, Result};
use crate::item::{Allowed, RowId, RowSet, Scored};

/// Candidates of the 1-bit scan: at least 400, and five for each result. Measured on MiniLM vectors: recall@10 .997-1.0
/// with 400; recall@200 .985-.996 with 1,000 (.90-.98 with 400).
const CANDIDATES: usize = 400;
const CANDIDATES_PER_RESULT: usize = 5;

/// A filter that keeps at most one in this many vectors is scored row by row with int8; otherwise the codes are scanned.
const NARROW: usize = 20;

/// In a segment with clusters, the nearest are scanned until this share of its rows was read, and at least a minimum.
/// Measured on MiniLM vectors, 400 questions, a million rows in segments of 680,000 and 318,000: recall@10 .979 with
/// .15, .987 with .25, .993 with .4, .997 with all. One segment of a million has .993 with .15, but compaction makes
/// one only by chance.
const VISITED: f64 = 0.4;
const VISITED_ROWS: f64 = 75_000.0;

/// Factor on this share under a filter, of the rows that it keeps: the best of fewer rows are farther from the query.
const FILTERED: f64 = 2.0;

/// Blocks scanned between two reads of the threshold.
const BLOCKS: usize = 16;

/// Number and length (in blocks) of the runs of the sample that sets the first threshold. Neighbours are similar, so
/// many short runs represent more than a few long ones.
const SAMPLED_RUNS: usize = 16;
const SAMPLED_BLOCKS: usize = 4;
const SAMPLED: usize = SAMPLED_RUNS * SAMPLED_BLOCKS * BLOCK;

/// The sample's threshold lets about this many times as many codes pass as are needed. With 2.5, too few passed for 45
/// of 1,000 questions on 100,000 real passages, which were searched again.
const AMPLY: f64 = 3.0;

/// Rows scored between two reads of the threshold.
const ROWS: usize = 256;

/// The first stage of a search: selects the vectors of coded segments that are rescored.
struct Scan<'a> {
    format: &'a VectorRows,
    /// The unit query, rotated.
    rotated: &'a [f32],
    bytes: &'a ByteQuery,
    allowed: Allowed<'a>,
    candidates: Best,
    passed: Vec<Estimate>,
}

impl Scan<'_> {
    /// Estimates a score that more than `limit` of the codes of all `rows` are likely above, by a sample of one
    /// segment. Without it the first thousands of codes all pass, and keeping the best of them takes a quarter of a
    /// search's time.
    ///
    /// `None` if a sample is not worthwhile or not representative: few rows, or codes in clusters, which are scanned
    /// best first.
    fn guess(&mut self, segment: &VectorSegment, limit: usize, rows: usize) -> Option<f32> {
        let runs = segment.rows() / (SAMPLED_BLOCKS * BLOCK);
        if segment.is_clustered() || runs < 4 * SAMPLED_RUNS || rows < 8 * limit {
            return None;
        }
        let (centre, blocks) = segment.codes(self.format);
        let query = bit_query(self.rotated, centre, shared(self.rotated, centre));
        let len = SAMPLED_BLOCKS * bits::block_len(self.rotated.len());
        let mut scores = Vec::with_capacity(SAMPLED);
        let keep = self.allowed.keep;
        for run in (0..SAMPLED_RUNS).map(|at| at * runs / SAMPLED_RUNS) {
            self.passed.clear();
            let first = (run * SAMPLED_BLOCKS * BLOCK) as u32;
            let blocks = &blocks[run * len..][..len];
            bits::scan(self.format.isa, blocks, &query, f32::NEG_INFINITY, first, &mut self.passed);
            // Without a filter nearly all rows are allowed, and checking each takes longer than scoring it.
            let counts = |found: &&Estimate| keep.is_none() || self.is_allowed(segment, found.position);
            scores.extend(self.passed.iter().filter(counts).map(|found| found.score));
        }
        let share = limit as f64 / rows as f64;
        let place = (share * AMPLY * SAMPLED as f64).ceil() as usize;
        let (_, score, _) =
            (place < scores.len()).then(|| scores.select_nth_unstable_by(place, |a, b| b.total_cmp(a)))?;
        Some(*score)
    }

    /// Scans all codes of a segment.
    fn whole(&mut self, number: u32, segment: &VectorSegment) {
        let (centre, blocks) = segment.codes(self.format);
        let query = bit_query(self.rotated, centre, shared(self.rotated, centre));
        for (at, blocks) in blocks.chunks(BLOCKS * bits::block_len(self.rotated.len())).enumerate() {
            self.passed.clear();
            let first = (at * BLOCKS * BLOCK) as u32;
            bits::scan(self.format.isa, blocks, &query, self.candidates.threshold, first, &mut self.passed);
            for at in 0..self.passed.len() {
                let Estimate { position, score } = self.passed[at];
                self.take(number, segment, position, score);
            }
        }
    }

    /// Scans the codes of a segment's clusters, nearest first, until a [`VISITED`] share of its allowed rows was read.
    fn visit(&mut self, number: u32, segment: &VectorSegment, cold: bool) {
        let (centre, clusters, blocks) = segment.clusters(self.format);
        let query = bit_query(self.rotated, centre, 0.0);
        let len = bits::block_len(self.rotated.len());
        let near = clusters.nearest(self.format.isa, self.bytes);
        let ids = segment.ids();
        let keep = self.allowed.keep;
        let share = VISITED.max(VISITED_ROWS / segment.rows() as f64);
        let share = if keep.is_some() { FILTERED * share } else { share };
        let wanted = share * keep.map_or(segment.rows(), |keep| keep.len().min(segment.rows())) as f64;
        let mut seen = 0;
        for Near { shared, cluster, .. } in near {
            if seen as f64 >= wanted {
                break;
            }
            let places = clusters.places(cluster);
            if places.is_empty() {
                continue;
            }
            // The first and last block may contain codes of adjacent clusters, which have other centres.
            let (first, end) = (places.start / BLOCK, places.end.div_ceil(BLOCK));
            if cold {
                segment.warm_more(&blocks[first * len..end * len]);
            }
            segment.check_more(&blocks[first * len..end * len]);
            segment.check_more(bytemuck::cast_slice(&clusters.order[places.clone()]));
            for first in (first..end).step_by(BLOCKS) {
                let blocks = &blocks[first * len..end.min(first + BLOCKS) * len];
                self.passed.clear();
                let threshold = self.candidates.threshold - shared;
                let first = (first * BLOCK) as u32;
                bits::scan(self.format.isa, blocks, &query, threshold, first, &mut self.passed);
                for at in 0..self.passed.len() {
                    let Estimate { position: place, score } = self.passed[at];
                    if places.contains(&(place as usize)) {
                        self.take(number, segment, clusters.order[place as usize], score + shared);
                    }
                }
            }
            seen += match keep {
                None => places.len(),
                Some(keep) => {
                    let rows =
                        clusters.order[places].iter().filter_map(|position| ids.get(*position as usize));
                    rows.filter(|row| keep.contains(RowId(**row))).count()
                }
            };
        }
    }

    /// Adds a vector whose estimate passed. The filter is checked last, because few vectors pass the threshold.
    /// Positions after the last row pass only if the file is damaged, and then they have no row.
    #[inline]
    fn take(&mut self, segment: u32, rows: &VectorSegment, position: u32, score: f32) {
        if score > self.candidates.threshold && self.is_allowed(rows, position) {
            let row = RowId(rows.ids()[position as usize]);
            self.candidates.push(VectorCandidate { score, row, segment, position });
        }
    }

    #[inline]
    fn is_allowed(&self, rows: &VectorSegment, position: u32) -> bool {
        let row = rows.ids().get(position as usize).map(|row| RowId(*row));
        row.is_some_and(|row| self.allowed.contains(row)) && !rows.view().is_dead(position as usize)
    }
}

impl VectorIndex {
    /// Returns the `k` vectors with the largest cosine to `query` among the allowed, best first; equal scores by row.
    ///
    /// `exact` is called once for the stored vectors of the best 14 and more, in ascending order of rows, and returns
    /// them in that order. `None` is a missing row; it is left out. Further results keep their int8 score, which
    /// differs from the cosine by about .002. A query without direction (all zero) has no results.
    ///
    /// Fails with [`Error::Invalid`] if the query has another dimension or is not finite, and with the errors of `exact`.
    #[cfg(feature = "parts")]
    pub fn search(
        &self,
        query: &[f32],
        k: usize,
        allowed: Allowed<'_>,
        exact: &mut Fetch<'_>,
    ) -> Result<Vec<Scored>> {
        Ok(self.search_with_delta(query, k, allowed, &DeltaScores::new(), exact)?.0)
    }

    /// Runs [`VectorIndex::search`] over the index's rows and those of a delta, whose scores replace those of the same
    /// rows in the index. Also returns the [`VectorIndex::background`] of the index's rows if that costs nothing: a
    /// narrow filter's rows are all scored anyway, and so are all rows if no segment has codes.
    pub fn search_with_delta(
        &self,
        query: &[f32],
        k: usize,
        allowed: Allowed<'_>,
        delta: &DeltaScores,
        exact: &mut Fetch<'_>,
    ) -> Result<(Vec<Scored>, Option<Background>)> {
        if query.len() != self.dimension() {
            let reason = format!("has {} dimensions, the index has {}", query.len(), self.dimension());
            return Err(Error::invalid("query vector", reason));
        }
        if query.iter().any(|value| !value.is_finite()) {
            return Err(Error::invalid("query vector", "holds a number that is not finite"));
        }
        let bytes = ByteQuery::new(query);
        let rows: usize = self.segments.iter().map(VectorSegment::rows).sum();
        if bytes.scale == 0.0 || k == 0 || rows + delta.len() == 0 {
            return Ok((Vec::new(), None));
        }
        let k = k.min(rows + delta.len());
        let cold = !self.format.warmed.swap(true, Ordering::Relaxed);
        let rescored = RESCORED + rows / ROWS_PER_RESCORED;
        // A row may be in the index and in the delta, so there is space for both until the older one is removed.
        let mut best = Best::new(k.max(rescored) + delta.len().min(k), rows + delta.len());
        let background = match allowed.keep {
            Some(keep) if keep.len() <= rows / NARROW => {
                Some(self.score_kept(&bytes, keep, allowed, &mut best))
            }
            Some(_) | None => {
                self.score_candidates(query, k, &bytes, allowed, cold, &mut best);
                let small = self.score_small(&bytes, allowed, &mut best);
                (allowed.keep.is_none() && self.scores_all()).then_some(small)
            }
        };
        for (&row, &score) in delta {
            best.push(VectorCandidate::of_delta(row, score));
        }
        let mut kept = best.into_kept();
        if !delta.is_empty() {
            kept.retain(|candidate| candidate.segment == DELTA || !delta.contains_key(&candidate.row));
        }
        let fail = |cause| Error::index("rescore results of", &self.dir, cause);
        Ok((rescore(query, k, kept, rescored, exact, fail)?, background))
    }

    /// Scores the rows that a narrow filter keeps by int8, and returns their background.
    fn score_kept(
        &self,
        query: &ByteQuery,
        keep: &RowSet,
        allowed: Allowed<'_>,
        best: &mut Best,
    ) -> Background {
        let (step, mut sample) = (sample_step(keep), Vec::new());
        for (number, segment) in self.segments.iter().enumerate() {
            let (mut positions, mut sampled, mut from) = (Vec::new(), Vec::new(), 0);
            for (nth, row) in keep.iter().enumerate() {
                match segment.view().find(row, from) {
                    Ok(at) => {
                        from = at + 1;
                        if !allowed.drop.contains(row) && !segment.view().is_dead(at) {
                            if nth % step == 0 {
                                sampled.push(positions.len());
                            }
                            positions.push(at as u32);
                        }
                    }
                    Err(at) => from = at,
                }
                if from >= segment.rows() {
                    break;
                }
            }
            let scores = self.score_at(query, number, &positions, best);
            sample.extend(sampled.into_iter().map(|at| scores[at]));
        }
        Background::of_sample(sample, step)
    }

    /// Scores the candidates of every segment's 1-bit codes by int8.
    fn score_candidates(
        &self,
        query: &[f32],
        k: usize,
        bytes: &ByteQuery,
        allowed: Allowed<'_>,
        cold: bool,
        best: &mut Best,
    ) {
        if !self.segments.iter().any(VectorSegment::is_coded) {
            return;
        }
        let norm = query.iter().map(|value| f64::from(*value) * f64::from(*value)).sum::<f64>().sqrt();
        let mut rotated: Vec<f32> = query.iter().map(|value| (f64::from(*value) / norm) as f32).collect();
        self.format.rotation.apply(self.format.isa, &mut rotated);
        let limit = CANDIDATES.max(CANDIDATES_PER_RESULT.saturating_mul(k));
        let rows = self.segments.iter().map(VectorSegment::rows).sum();
        let mut scan = Scan {
            format: &self.format,
            rotated: &rotated,
            bytes,
            allowed,
            candidates: Best::new(limit, rows),
            passed: Vec::with_capacity(BLOCKS * BLOCK),
        };
        let coded = || self.segments.iter().zip(0..).filter(|(segment, _)| segment.is_coded());
        if cold {
            coded().filter(|(segment, _)| !segment.is_clustered()).for_each(|(segment, _)| segment.warm());
        }
        let sampled = coded().map(|(segment, _)| segment).max_by_key(|segment| segment.rows());
        let guess = sampled.and_then(|segment| scan.guess(segment, limit, rows));
        for threshold in guess.into_iter().chain([f32::NEG_INFINITY]) {
            scan.candidates.begin(threshold);
            for (segment, number) in coded() {
                if segment.is_clustered() {
                    scan.visit(number, segment, cold);
                } else {
                    scan.whole(number, segment);
                }
            }
            if scan.candidates.kept.len() >= limit {
                break;
            }
        }
        let mut candidates = scan.candidates.into_kept();
        candidates.sort_unstable_by_key(|candidate| (candidate.segment, candidate.position));
        for group in candidates.chunk_by(|a, b| a.segment == b.segment) {
            let number = group[0].segment as usize;
            let positions: Vec<u32> = group.iter().map(|candidate| candidate.position).collect();
            if cold {
                for at in &positions {
                    self.segments[number].warm_rows(*at as usize..*at as usize + 1);
                }
            }
            self.score_at(bytes, number, &positions, best);
        }
    }

    /// Scores every row of the segments without codes by int8, and returns their background if nothing is filtered.
    pub(super) fn score_small(&self, query: &ByteQuery, allowed: Allowed<'_>, best: &mut Best) -> Background {
        let mut dots = [0; ROWS];
        let (mut count, mut sum, mut squares) = (0, 0.0, 0.0);
        for (number, segment) in self.segments.iter().enumerate().filter(|(_, segment)| !segment.is_coded()) {
            let (ids, scales, view) = (segment.ids(), segment.scales(), segment.view());
            let is_whole = allowed.is_everything() && view.dead.is_none();
            let is_in = |position: usize| {
                is_whole || (allowed.contains(RowId(ids[position])) && !view.is_dead(position))
            };
            let bytes = segment.bytes(0..segment.bytes_len());
            for (chunk, rows) in bytes.chunks(ROWS * query.values.len()).enumerate() {
                let dots = &mut dots[..rows.len() / query.values.len()];
                bytes::dots(self.format.isa, rows, &query.values, dots);
                for (at, dot) in dots.iter().enumerate() {
                    let position = chunk * ROWS + at;
                    let score = *dot as f32 * scales[position] * query.scale;
                    // Few rows pass the threshold, so the filter is checked last.
                    if allowed.keep.is_some() && score <= best.threshold || !is_in(position) {
                        continue;
                    }
                    count += 1;
                    sum += f64::from(score);
                    squares += f64::from(score) * f64::from(score);
                    if score > best.threshold {
                        best.push(VectorCandidate {
                            score,
                            row: RowId(ids[position]),
                            segment: number as u32,
                            position: position as u32,
                        });
                    }
                }
            }
        }
        Background::of_sums(count, sum, squares)
    }

    /// Scores some rows of one segment by int8; returns the scores in the order of the positions.
    fn score_at(&self, query: &ByteQuery, number: usize, positions: &[u32], best: &mut Best) -> Vec<f32> {
        let segment = &self.segments[number];
        let scores = self.score_positions(segment, query, positions);
        for (&position, &score) in positions.iter().zip(&scores) {
            let row = RowId(segment.ids()[position as usize]);
            best.push(VectorCandidate { score, row, segment: number as u32, position });
        }
        scores
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::ExactQuery;
    use crate::vector::Tier;
    use crate::vector::segment::CLUSTERED;
    use crate::vector::testing::{IndexFolder, Vectors};

    /// Exact search, the slow reference.
    fn nearest(data: &Vectors, rows: u32, query: &[f32], k: usize, allowed: Allowed<'_>) -> Vec<Scored> {
        let query = ExactQuery::new(query);
        let rows = (0..rows).map(RowId).filter(|row| allowed.contains(*row));
        let mut all: Vec<Scored> =
            rows.map(|row| Scored { row, score: query.cosine(data.get(row.0)) }).collect();
        all.sort_unstable_by(Scored::cmp_best_first);
        all.truncate(k);
        all
    }

    fn recall(found: &[Scored], truth: &[Scored]) -> f64 {
        let hits = found.iter().filter(|hit| truth.iter().any(|want| want.row == hit.row)).count();
        hits as f64 / truth.len().max(1) as f64
    }

    /// Returns stored vectors, each moved slightly towards another.
    fn queries(data: &Vectors, rows: u32, count: u32) -> Vec<Vec<f32>> {
        let near = |at: u32| data.get(at * 7_919 % rows).iter().zip(data.get(at * 104_729 % rows));
        (1..=count).map(|at| near(at).map(|(one, other)| one + 0.3 * other).collect()).collect()
    }

    /// Checks mean recall and soundness for one filter, on two coded segments and a small one, with dead rows.
    fn check(index: &VectorIndex, data: &Vectors, rows: u32, allowed: Allowed<'_>, k: usize, least: f64) {
        let queries = queries(data, rows, 20);
        let mut sum = 0.0;
        for query in &queries {
            let found = index.search(query, k, allowed, &mut |rows| data.fetch(rows)).unwrap();
            assert!(found.iter().all(|hit| allowed.contains(hit.row)));
            assert!(
                found.is_sorted_by(|a, b| Scored::cmp_best_first(a, b).is_lt()),
                "each row once, best first"
            );
            let truth = nearest(data, rows, query, k, allowed);
            assert_eq!(found.len(), truth.len());
            sum += recall(&found, &truth);
        }
        assert!(sum / 20.0 >= least, "recall@{k} {}", sum / 20.0);
    }

    #[test]
    fn recall_and_filters_across_segments() {
        let folder = IndexFolder::new(128);
        let rows = 34_100;
        let data = Vectors::clustered(128, rows as usize, 21);
        folder.compact(1, &[], data.rows(0..23_000));
        folder.compact(2, &[], data.rows(23_000..34_000));
        folder.compact(3, &[], data.rows(34_000..rows));
        let index = folder.open().unwrap();
        assert_eq!((index.tier(), index.len()), (Tier::TwoStage, rows as usize));
        let none = RowSet::new();
        let drop: RowSet = (0..rows).step_by(97).map(RowId).collect();
        check(&index, &data, rows, Allowed { keep: None, drop: &none }, 10, 0.99);
        check(&index, &data, rows, Allowed { keep: None, drop: &drop }, 10, 0.99);
        check(&index, &data, rows, Allowed { keep: None, drop: &none }, 200, 0.95);
        for every in [2, 10, 19, 21, 100, 5_000] {
            let keep: RowSet = (0..rows).step_by(every).map(RowId).collect();
            let allowed = Allowed { keep: Some(&keep), drop: &drop };
            check(&index, &data, rows, allowed, 10, 0.99);
            for query in queries(&data, rows, 3) {
                let fetch = &mut |rows: &[RowId]| data.fetch(rows);
                let (found, background) =
                    index.search_with_delta(&query, 10, allowed, &DeltaScores::new(), fetch).unwrap();
                assert_eq!(found, index.search(&query, 10, allowed, fetch).unwrap());
                let own = (every > NARROW).then(|| index.background(&query, allowed));
                assert_eq!(background, own, "one in {every}");
            }
        }
        let keep: RowSet = [RowId(rows + 5), RowId(u32::from(u16::MAX))].into_iter().collect();
        check(&index, &data, rows, Allowed { keep: Some(&keep), drop: &none }, 10, 0.0);
        check(&index, &data, rows, Allowed { keep: Some(&none), drop: &none }, 10, 0.0);
    }

    #[test]
    fn every_instruction_set_gives_the_same_results() {
        let folder = IndexFolder::new(72);
        let data = Vectors::clustered(72, 10_100, 22);
        folder.compact(1, &[], data.rows(0..10_100));
        let mut index = folder.open().unwrap();
        assert_eq!(index.tier(), Tier::TwoStage);
        for query in queries(&data, 10_100, 5) {
            index.format.isa = bower_kernels::Isa::Plain;
            let want = data.search(&index, &query, 50);
            for isa in bower_kernels::Isa::available() {
                index.format.isa = isa;
                assert_eq!(data.search(&index, &query, 50), want, "{isa:?}");
            }
        }
    }

    #[test]
    fn a_segment_with_clusters_is_as_good_and_always_the_same() {
        let (folder, once) = (IndexFolder::new(64), IndexFolder::new(64));
        let rows = CLUSTERED;
        let data = Vectors::clustered(64, rows as usize, 25);
        folder.compact(1, &[], data.rows(0..120_000));
        folder.compact(2, &[], data.rows(120_000..rows));
        once.compact(2, &[], data.rows(0..rows));
        let mut index = once.open().unwrap();
        assert_eq!((index.tier(), index.segments()), (Tier::Clustered, 1));
        let steps = folder.open().unwrap();
        assert_eq!(steps.manifest.segments[0].sha256, index.manifest.segments[0].sha256);
        // 64 bits per code are less exact than 384: a scan of all of them has .98 here.
        let none = RowSet::new();
        let drop: RowSet = (0..rows).step_by(97).map(RowId).collect();
        check(&index, &data, rows, Allowed { keep: None, drop: &drop }, 10, 0.97);
        check(&index, &data, rows, Allowed { keep: None, drop: &none }, 200, 0.85);
        for every in [2, 10, 100] {
            let keep: RowSet = (0..rows).step_by(every).map(RowId).collect();
            check(&index, &data, rows, Allowed { keep: Some(&keep), drop: &drop }, 10, 0.97);
        }
        // A filter that keeps nothing near the query returns the best of the distant rows.
        let query = data.get(5);
        let near: RowSet = data.search(&index, query, 60_000).iter().map(|hit| hit.row).collect();
        let far: RowSet = (0..rows).map(RowId).filter(|row| !near.contains(*row)).collect();
        check(&index, &data, rows, Allowed { keep: Some(&far), drop: &none }, 10, 0.95);
        for query in queries(&data, rows, 3) {
            index.format.isa = bower_kernels::Isa::Plain;
            let want = data.search(&index, &query, 50);
            for isa in bower_kernels::Isa::available() {
                index.format.isa = isa;
                assert_eq!(data.search(&index, &query, 50), want, "{isa:?}");
            }
        }
        folder.compact(3, &[5], data.rows(0..0));
        assert_ne!(data.search(&folder.open().unwrap(), query, 1)[0].row, RowId(5));
    }

    #[test]
    fn a_query_that_cannot_be_answered_says_so() {
        let folder = IndexFolder::new(64);
        let data = Vectors::clustered(64, 100, 23);
        folder.compact(1, &[], data.rows(0..100));
        let index = folder.open().unwrap();
        let none = RowSet::new();
        let all = Allowed { keep: None, drop: &none };
        let mut fetch = |rows: &[RowId]| data.fetch(rows);
        assert!(
            index.search(&[1.0; 63], 5, all, &mut fetch).unwrap_err().to_string().contains("63 dimensions")
        );
        assert!(index.search(&[f32::NAN; 64], 5, all, &mut fetch).is_err());
        assert_eq!(index.search(&[0.0; 64], 5, all, &mut fetch).unwrap(), []);
        assert_eq!(index.search(data.get(1), 0, all, &mut fetch).unwrap(), []);
        assert_eq!(index.search(data.get(1), usize::MAX, all, &mut fetch).unwrap().len(), 100);
        // A row whose vector is missing is left out. A result of the wrong shape is an error.
        let mut gone = |rows: &[RowId]| -> Result<Vec<Option<Vec<u8>>>> { Ok(vec![None; rows.len()]) };
        assert_eq!(index.search(data.get(1), 5, all, &mut gone).unwrap(), []);
        assert!(index.search(data.get(1), 5, all, &mut |_| Ok(Vec::new())).is_err());
        assert!(
            index.search(data.get(1), 5, all, &mut |rows| Ok(vec![Some(vec![0, 60]); rows.len()])).is_err()
        );
        assert!(
            index.search(data.get(1), 5, all, &mut |_| Err(Error::invalid("the store", "is away"))).is_err()
        );
    }

    #[test]
    fn equal_vectors_come_in_the_order_of_their_rows() {
        let folder = IndexFolder::new(64);
        let mut data = Vectors::clustered(64, 100, 24);
        let one = data.get(0).to_vec();
        data.values = one.repeat(100);
        folder.compact(1, &[], data.rows(0..100));
        let found = data.search(&folder.open().unwrap(), &one, 5);
        assert_eq!(found.iter().map(|hit| hit.row.0).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    }

    /// Only the rows of the sample are near the question, so its threshold lets far fewer pass than are needed.
    #[test]
    fn a_sample_that_misleads_takes_nothing_away() {
        let (rows, dimension) = (70_000, 64);
        let folder = IndexFolder::new(dimension);
        let mut data = Vectors::clustered(dimension, rows, 27);
        let query = data.get(11).to_vec();
        let runs = rows / (SAMPLED_BLOCKS * BLOCK);
        for run in (0..SAMPLED_RUNS).map(|at| at * runs / SAMPLED_RUNS) {
            let first = run * SAMPLED_BLOCKS * BLOCK * dimension;
            for row in data.values[first..][..SAMPLED_BLOCKS * BLOCK * dimension].chunks_exact_mut(dimension)
            {
                row.iter_mut().zip(&query).for_each(|(value, query)| *value = 0.3 * *value + query);
            }
        }
        folder.compact(1, &[], data.rows(0..rows as u32));
        assert_eq!(data.search(&folder.open().unwrap(), &query, 200).len(), 200);
    }
}
