//! Measures the vector channel: recall against exact search, and time of one query.
//! The vectors are synthetic (seeded, so figures repeat).
//!
//! The data resembles sentence embeddings: clusters, a falling spectrum, a common mean. A query is a stored vector, moved in a
//! random direction by half its length. Times are the least of five runs of each query, wall clock on one thread, so that other
//! load on the machine counts little.

use std::time::Instant;

use bower_core::Result;
use bower_core::item::{Allowed, Change, Coverage, RowId, RowSet, Scored};
use bower_core::parts::vector::{ExactQuery, VectorIndex, compact, halves};

const DIMENSION: usize = 384;
const QUERIES: usize = 100;
const RUNS: usize = 5;

/// Prints a table for each tier: 5,000 vectors (int8), 100,000 (two-stage) and 250,000 (clustered), and for 1,000,000 when
/// `BOWER_BENCH_LARGE` is set (2 GB of memory).
pub fn run() -> Result<()> {
    println!(
        "vectors x {DIMENSION}, synthetic; ms: p50 / p95 over {QUERIES} queries, least of {RUNS} runs each"
    );
    let large = std::env::var_os("BOWER_BENCH_LARGE").is_some();
    for count in [5_000, 100_000, 250_000].into_iter().chain(large.then_some(1_000_000)) {
        measure(count)?;
    }
    Ok(())
}

fn measure(count: usize) -> Result<()> {
    let data = Data::new(count);
    let dir = tempfile::tempdir().expect("a temporary folder");
    let none = RowSet::new();
    let coverage = Coverage { store: "bench".into(), change: Change(1), mark: 0 };
    let start = Instant::now();
    let rows = &mut (0..count as u32).map(|row| Ok((RowId(row), data.get(row as usize).to_vec())));
    compact(dir.path(), None, coverage, "synthetic", DIMENSION, &none, rows)?;
    let built = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let index = VectorIndex::open(dir.path())?.expect("what was just compacted");
    let opened = start.elapsed().as_secs_f64() * 1e3;
    println!("{count}: {} tier, compacted in {built:.2} s, opened in {opened:.3} ms", index.tier().word());
    let queries: Vec<Vec<f32>> = (0..QUERIES).map(|at| data.query(at)).collect();
    for (name, every, k) in [
        ("all, top 10", 1, 10),
        ("all, top 200", 1, 200),
        ("1% kept, top 10", 100, 10),
        ("5% kept, top 10", 20, 10),
        ("10% kept, top 10", 10, 10),
        ("50% kept, top 10", 2, 10),
    ] {
        let kept: RowSet = (0..count as u32).step_by(every).map(RowId).collect();
        let allowed = Allowed { keep: (every > 1).then_some(&kept), drop: &none };
        let (mut times, mut recall) = (Vec::new(), 0.0);
        for query in &queries {
            let mut fetch = |rows: &[RowId]| -> Result<Vec<Option<Vec<u8>>>> {
                Ok(rows.iter().map(|row| Some(halves(data.get(row.0 as usize)))).collect())
            };
            let mut least = f64::INFINITY;
            let mut found = Vec::new();
            for _ in 0..RUNS {
                let start = Instant::now();
                found = index.search(query, k, allowed, &mut fetch)?;
                least = least.min(start.elapsed().as_secs_f64() * 1e3);
            }
            times.push(least);
            let truth = data.nearest(query, k, allowed);
            let hit = found.iter().filter(|hit| truth.iter().any(|want| want.row == hit.row)).count();
            recall += hit as f64 / truth.len() as f64 / QUERIES as f64;
        }
        times.sort_by(f64::total_cmp);
        let (median, most) = (times[QUERIES / 2], times[QUERIES * 95 / 100]);
        println!("  {name:<17} recall {recall:.4}   {median:.3} / {most:.3} ms");
    }
    Ok(())
}

struct Data {
    values: Vec<f32>,
}

impl Data {
    /// Generates vectors around `count`/100 centres, in 96 directions of falling weight, with a mean and a little noise in all.
    fn new(count: usize) -> Self {
        const RANK: usize = 96;
        let mut dice = Dice(count as u64);
        let weights: Vec<f32> = (0..RANK).map(|at| 1.0 / (1.0 + at as f32).sqrt()).collect();
        let axes: Vec<f32> = (0..RANK * DIMENSION).map(|_| dice.normal()).collect();
        let centres: Vec<f32> =
            (0..count / 100 * RANK).map(|at| dice.normal() * weights[at % RANK]).collect();
        let mut values = Vec::with_capacity(count * DIMENSION);
        for _ in 0..count {
            let centre = &centres[dice.next() as usize % (count / 100) * RANK..][..RANK];
            let start = values.len();
            values.extend((0..DIMENSION).map(|_| 0.3 + 0.3 * dice.normal()));
            for ((axis, centre), weight) in axes.chunks_exact(DIMENSION).zip(centre).zip(&weights) {
                let place = centre + 0.8 * weight * dice.normal();
                for (value, axis) in values[start..].iter_mut().zip(axis) {
                    *value += place * axis;
                }
            }
        }
        Self { values }
    }

    fn get(&self, row: usize) -> &[f32] {
        &self.values[row * DIMENSION..][..DIMENSION]
    }

    fn query(&self, at: usize) -> Vec<f32> {
        let mut dice = Dice(at as u64 + 1);
        let from = self.get(at * 7_919 % (self.values.len() / DIMENSION));
        let length = from.iter().map(|value| value * value).sum::<f32>().sqrt();
        let step = 0.5 * length / (DIMENSION as f32).sqrt();
        from.iter().map(|value| value + step * dice.normal()).collect()
    }

    fn nearest(&self, query: &[f32], k: usize, allowed: Allowed<'_>) -> Vec<Scored> {
        let query = ExactQuery::new(query);
        let rows = (0..self.values.len() / DIMENSION).filter(|row| allowed.contains(RowId(*row as u32)));
        let mut all: Vec<Scored> =
            rows.map(|row| Scored { row: RowId(row as u32), score: query.cosine(self.get(row)) }).collect();
        all.sort_unstable_by(Scored::cmp_best_first);
        all.truncate(k);
        all
    }
}

/// A seeded generator: each run measures the same vectors.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mixed = (self.0 ^ (self.0 >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ (mixed >> 29)
    }

    /// Returns an approximately normal number: the sum of four uniforms.
    fn normal(&mut self) -> f32 {
        let word = self.next();
        let sum: u64 = (0..4).map(|at| word >> (16 * at) & 0xffff).sum();
        (sum as f32 / 65_536.0 - 2.0) * 1.732
    }
}
