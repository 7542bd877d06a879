//! Clusters the vectors of a large segment, so that a search reads only the codes near its query.
//! Clusters depend on int8 values alone and every sum has a fixed order: the same rows give the same clusters on every machine.
//!
//! ```text
//! centroids  clusters x stride     the mean of each cluster's vectors at unit length, values + 128
//! factors    clusters x 2 x f32    the scale to coordinates of a unit vector; the length of the mean
//! starts     clusters + 1 x u32    where each cluster starts in the order of the codes
//! order      rows x u32            the position of each code's row; by cluster, then by position
//! ```

use std::ops::Range;

use bower_kernels::Isa;
use bower_kernels::scan::bytes;

use super::quantise::{ByteQuery, quantise, restore};

/// Average rows per cluster: 8 blocks of codes. Like all constants of this file, a part of the format.
const ROWS: usize = 512;

/// Sampled vectors per centroid for the training.
const SAMPLED: usize = 24;

/// Rounds of k-means over the sample.
const ROUNDS: usize = 4;

/// Rounds of k-means over the centroids, for the groups of centroids.
const GROUP_ROUNDS: usize = 3;

/// Number of groups whose centroids are compared with a vector.
const GROUPS_ASKED: usize = 2;

/// Returns the number of clusters of a segment with this many rows.
pub fn count(rows: usize) -> usize {
    rows.div_ceil(ROWS)
}

/// Returns the rows from which the centroids of a segment are trained: evenly spaced ones.
pub fn sample(rows: usize) -> impl Iterator<Item = usize> {
    let taken = (count(rows) * SAMPLED).min(rows);
    (0..taken).map(move |at| at * rows / taken)
}

/// Returns the lengths of the sections, in order, each a multiple of 64.
pub fn sections(rows: usize, dimension: usize) -> [usize; 4] {
    let clusters = count(rows);
    [
        clusters * bytes::stride(dimension),
        (clusters * size_of::<CentroidScale>()).next_multiple_of(64),
        ((clusters + 1) * size_of::<u32>()).next_multiple_of(64),
        (rows * size_of::<u32>()).next_multiple_of(64),
    ]
}

/// The scales that turn a centroid's bytes into coordinates.
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct CentroidScale {
    /// The scale to the unit vector in the mean's direction.
    pub unit: f32,
    /// The length of the mean.
    pub length: f32,
}

/// Directions as int8 rows with their scales to unit vectors.
#[derive(Debug)]
struct Directions {
    isa: Isa,
    stride: usize,
    rows: Vec<u8>,
    scales: Vec<f32>,
}

impl Directions {
    fn new(isa: Isa, stride: usize) -> Self {
        Self { isa, stride, rows: Vec::new(), scales: Vec::new() }
    }

    fn get(&self, at: usize) -> (&[u8], f32) {
        (&self.rows[at * self.stride..][..self.stride], self.scales[at])
    }

    fn push(&mut self, row: &[u8], scale: f32) {
        self.rows.extend_from_slice(row);
        self.scales.push(scale);
    }

    /// Returns the directions at some indexes, in that order.
    fn pick(&self, places: impl Iterator<Item = usize>) -> Self {
        let mut picked = Self::new(self.isa, self.stride);
        for place in places {
            let (row, scale) = self.get(place);
            picked.push(row, scale);
        }
        picked
    }

    /// Appends to `scores` the cosines (times the query's length) with a range of directions, each with its index.
    fn score(&self, query: &[i8], range: Range<usize>, dots: &mut Vec<i32>, scores: &mut Vec<(f32, u32)>) {
        dots.resize(range.len(), 0);
        bytes::dots(self.isa, &self.rows[range.start * self.stride..range.end * self.stride], query, dots);
        let scored = dots.iter().zip(range).map(|(dot, at)| (*dot as f32 * self.scales[at], at as u32));
        scores.extend(scored);
    }
}

/// Orders by larger score, then by smaller index.
#[allow(clippy::trivially_copy_pass_by_ref)] // the shape that sorting asks for
fn nearest_first(a: &(f32, u32), b: &(f32, u32)) -> std::cmp::Ordering {
    b.0.total_cmp(&a.0).then(a.1.cmp(&b.1))
}

/// Writes the values of an int8 row in the form of a query.
fn signed(row: &[u8], query: &mut Vec<i8>) {
    query.clear();
    query.extend(row.iter().map(|byte| (byte ^ 128).cast_signed()));
}

/// Returns the directions of the sums; for a zero sum the direction before.
fn moved(before: &Directions, sums: &Sums) -> Directions {
    let mut moved = Directions::new(before.isa, before.stride);
    let mut row = vec![0; before.stride];
    for at in 0..before.scales.len() {
        let factor = sums.direction(at, &mut row);
        if factor.unit > 0.0 {
            moved.push(&row, factor.unit);
        } else {
            let (row, scale) = before.get(at);
            moved.push(row, scale);
        }
    }
    moved
}

/// Sums of the vectors of each cluster.
struct Sums {
    dimension: usize,
    totals: Vec<f32>,
    counts: Vec<u32>,
    vector: Vec<f32>,
}

impl Sums {
    fn new(clusters: usize, dimension: usize) -> Self {
        let totals = vec![0.0; clusters * dimension];
        Self { dimension, totals, counts: vec![0; clusters], vector: vec![0.0; dimension] }
    }

    fn add(&mut self, cluster: usize, row: &[u8], scale: f32) {
        restore(row, scale, &mut self.vector);
        let total = &mut self.totals[cluster * self.dimension..][..self.dimension];
        for (total, value) in total.iter_mut().zip(&self.vector) {
            *total += value;
        }
        self.counts[cluster] += 1;
    }

    /// Writes a cluster's direction and returns its scale. A cluster without vectors, or whose vectors cancel out, has none.
    fn direction(&self, cluster: usize, row: &mut [u8]) -> CentroidScale {
        let total = &self.totals[cluster * self.dimension..][..self.dimension];
        let square: f64 = total.iter().map(|value| f64::from(*value) * f64::from(*value)).sum();
        let unit = quantise(total, row);
        let count = f64::from(self.counts[cluster].max(1));
        CentroidScale { unit, length: if unit > 0.0 { (square.sqrt() / count) as f32 } else { 0.0 } }
    }
}

/// Finds the cluster of each vector: first its nearest groups of centroids, then the nearest centroid in them.
pub struct Assigner {
    dimension: usize,
    groups: Directions,
    /// The start of each group's centroids.
    starts: Vec<usize>,
    /// The centroids, group by group.
    centroids: Directions,
    query: Vec<i8>,
    dots: Vec<i32>,
    scores: Vec<(f32, u32)>,
}

impl Assigner {
    /// Trains the centroids of a segment with this many rows from its [`sample`], given as int8 rows and their scales.
    pub fn train(isa: Isa, dimension: usize, rows: usize, sample: &[u8], scales: &[f32]) -> Self {
        let stride = bytes::stride(dimension);
        let sample = Directions { isa, stride, rows: sample.to_vec(), scales: scales.to_vec() };
        let (clusters, taken) = (count(rows), scales.len());
        let first = sample.pick((0..clusters).map(|cluster| cluster * taken / clusters));
        let mut assigner = Self::over(dimension, &first);
        for _ in 0..ROUNDS {
            let mut sums = Sums::new(clusters, dimension);
            for at in 0..taken {
                let (row, scale) = sample.get(at);
                let cluster = assigner.cluster(row);
                sums.add(cluster as usize, row, scale);
            }
            let moved = moved(&assigner.centroids, &sums);
            assigner = Self::over(dimension, &moved);
        }
        assigner
    }

    /// Groups centroids.
    fn over(dimension: usize, centroids: &Directions) -> Self {
        let clusters = centroids.scales.len();
        let count = clusters.isqrt().max(1);
        let mut groups = centroids.pick((0..count).map(|group| group * clusters / count));
        let mut of = vec![0; clusters];
        let (mut query, mut dots, mut scores) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..GROUP_ROUNDS {
            let mut sums = Sums::new(count, dimension);
            for (at, of) in of.iter_mut().enumerate() {
                let (row, scale) = centroids.get(at);
                scores.clear();
                signed(row, &mut query);
                groups.score(&query, 0..count, &mut dots, &mut scores);
                *of = scores.iter().copied().min_by(nearest_first).map_or(0, |(_, group)| group as usize);
                sums.add(*of, row, scale);
            }
            groups = moved(&groups, &sums);
        }
        let mut order: Vec<usize> = (0..clusters).collect();
        order.sort_by_key(|&at| (of[at], at));
        let starts = (0..=count).map(|group| order.partition_point(|&at| of[at] < group)).collect();
        let centroids = centroids.pick(order.into_iter());
        Self { dimension, groups, starts, centroids, query, dots, scores }
    }

    /// Returns the cluster of a vector, given as an int8 row.
    pub fn cluster(&mut self, row: &[u8]) -> u32 {
        let Self { groups, starts, centroids, query, dots, scores, .. } = self;
        signed(row, query);
        scores.clear();
        groups.score(query, 0..groups.scales.len(), dots, scores);
        let asked = GROUPS_ASKED.min(scores.len());
        if asked < scores.len() {
            scores.select_nth_unstable_by(asked, nearest_first);
        }
        let mut near = [0; GROUPS_ASKED];
        for (near, (_, group)) in near.iter_mut().zip(&scores[..asked]) {
            *near = *group as usize;
        }
        scores.clear();
        for group in &near[..asked] {
            centroids.score(query, starts[*group]..starts[group + 1], dots, scores);
        }
        scores.iter().copied().min_by(nearest_first).map_or(0, |(_, cluster)| cluster)
    }
}

/// Assigns all vectors of a segment to clusters.
pub struct Gathering {
    assigner: Assigner,
    sums: Sums,
    of: Vec<u32>,
}

impl Gathering {
    /// Starts with the trained centroids.
    pub fn new(assigner: Assigner) -> Self {
        let sums = Sums::new(assigner.centroids.scales.len(), assigner.dimension);
        Self { assigner, sums, of: Vec::new() }
    }

    /// Adds the next row.
    pub fn add(&mut self, row: &[u8], scale: f32) {
        let cluster = self.assigner.cluster(row);
        self.sums.add(cluster as usize, row, scale);
        self.of.push(cluster);
    }

    /// Returns the clusters of all rows.
    pub fn finish(self) -> Clustering {
        let Self { assigner, sums, of } = self;
        let (clusters, stride) = (sums.counts.len(), assigner.centroids.stride);
        let mut centroids = vec![0; clusters * stride];
        let rows = centroids.chunks_exact_mut(stride).enumerate();
        let factors = rows.map(|(cluster, row)| sums.direction(cluster, row)).collect();
        let mut starts = vec![0; clusters + 1];
        for (cluster, count) in sums.counts.iter().enumerate() {
            starts[cluster + 1] = starts[cluster] + count;
        }
        let mut next = starts.clone();
        let mut order = vec![0; of.len()];
        for (position, cluster) in of.into_iter().enumerate() {
            let place = &mut next[cluster as usize];
            order[*place as usize] = position as u32;
            *place += 1;
        }
        Clustering { centroids, factors, starts, order }
    }
}

/// The stored clusters of a segment, section by section.
pub struct Clustering {
    /// Int8 rows.
    pub centroids: Vec<u8>,
    /// One per cluster.
    pub factors: Vec<CentroidScale>,
    /// One more than there are clusters.
    pub starts: Vec<u32>,
    /// Positions of rows.
    pub order: Vec<u32>,
}

impl Clustering {
    /// Restores a cluster's centre: the mean of its vectors, up to int8's error.
    pub fn centre(&self, cluster: usize, out: &mut [f32]) {
        let stride = self.centroids.len() / self.factors.len();
        let CentroidScale { unit, length } = self.factors[cluster];
        restore(&self.centroids[cluster * stride..], unit * length, out);
    }

    /// Returns the positions of a cluster's rows.
    pub fn rows(&self, cluster: usize) -> &[u32] {
        &self.order[self.starts[cluster] as usize..self.starts[cluster + 1] as usize]
    }
}

/// The clusters of an opened segment.
#[derive(Clone, Copy, Debug)]
pub struct Clusters<'a> {
    centroids: &'a [u8],
    factors: &'a [CentroidScale],
    starts: &'a [u32],
    /// The position of each code's row.
    pub order: &'a [u32],
}

/// A cluster's nearness to a query.
#[derive(Clone, Copy, Debug)]
pub struct Near {
    /// The cosine of the query with the centre's direction.
    pub cosine: f32,
    /// The dot product of the unit query and the centre.
    pub shared: f32,
    /// The cluster's number.
    pub cluster: u32,
}

impl<'a> Clusters<'a> {
    /// Views the sections of a segment with this many rows at the start of `bytes`; also returns the rest.
    pub fn view(bytes: &'a [u8], rows: usize, dimension: usize) -> (Self, &'a [u8]) {
        let clusters = count(rows);
        let [centroids, factors, starts, order] = sections(rows, dimension);
        let (centroids, rest) = bytes.split_at(centroids);
        let (factors, rest) = rest.split_at(factors);
        let (starts, rest) = rest.split_at(starts);
        let (order, rest) = rest.split_at(order);
        let factors = &bytemuck::cast_slice(factors)[..clusters];
        let starts = &bytemuck::cast_slice(starts)[..=clusters];
        (Self { centroids, factors, starts, order: &bytemuck::cast_slice(order)[..rows] }, rest)
    }

    /// Returns all clusters, nearest to the query first; equally near ones by number.
    pub fn nearest(&self, isa: Isa, query: &ByteQuery) -> Vec<Near> {
        let mut dots = vec![0; self.factors.len()];
        bytes::dots(isa, self.centroids, &query.values, &mut dots);
        let clusters = dots.iter().zip(self.factors).enumerate();
        let mut near: Vec<Near> = clusters
            .map(|(cluster, (dot, factor))| {
                let cosine = *dot as f32 * query.scale * factor.unit;
                Near { cosine, shared: cosine * factor.length, cluster: cluster as u32 }
            })
            .collect();
        near.sort_unstable_by(|a, b| b.cosine.total_cmp(&a.cosine).then(a.cluster.cmp(&b.cluster)));
        near
    }

    /// Returns the range of a cluster's codes; empty if the file is damaged.
    pub fn places(&self, cluster: u32) -> Range<usize> {
        let at = cluster as usize;
        let (start, end) = (self.starts[at] as usize, self.starts[at + 1] as usize);
        if start <= end && end <= self.order.len() { start..end } else { 0..0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::testing::Vectors;

    const ROWS: usize = 5_000;

    /// Returns clusters of seeded vectors and their int8 rows, computed with one instruction set.
    fn gather(isa: Isa, dimension: usize) -> (Clustering, Vec<u8>) {
        let (data, stride) = (Vectors::clustered(dimension, ROWS, 31), bytes::stride(dimension));
        let mut rows = vec![0; ROWS * stride];
        let scales: Vec<f32> = rows
            .chunks_exact_mut(stride)
            .enumerate()
            .map(|(at, row)| quantise(data.get(at as u32), row))
            .collect();
        let (mut sampled, mut of) = (Vec::new(), Vec::new());
        for at in sample(ROWS) {
            sampled.extend_from_slice(&rows[at * stride..][..stride]);
            of.push(scales[at]);
        }
        let mut gathering = Gathering::new(Assigner::train(isa, dimension, ROWS, &sampled, &of));
        for (row, scale) in rows.chunks_exact(stride).zip(&scales) {
            gathering.add(row, *scale);
        }
        (gathering.finish(), rows)
    }

    #[test]
    fn every_row_is_in_one_cluster_and_nearer_to_it_than_to_most() {
        let (made, rows) = gather(Isa::Plain, 72);
        let (clusters, stride) = (count(ROWS), bytes::stride(72));
        assert_eq!((made.factors.len(), made.starts.len(), made.order.len()), (clusters, clusters + 1, ROWS));
        let mut seen = made.order.clone();
        seen.sort_unstable();
        assert!(seen.into_iter().eq(0..ROWS as u32));
        // The slow reference: the nearest centre by the definition, over all components of the vectors.
        let (mut centre, mut vector) = (vec![0.0; 72], vec![0.0; 72]);
        let mut best = 0;
        for cluster in 0..clusters {
            assert!(made.rows(cluster).is_sorted_by(|a, b| a < b));
            for position in made.rows(cluster).iter().step_by(16) {
                restore(&rows[*position as usize * stride..], 1.0, &mut vector);
                let mut cosine = |cluster: usize| {
                    made.centre(cluster, &mut centre);
                    let dot: f32 = centre.iter().zip(&vector).map(|(one, two)| one * two).sum();
                    dot / made.factors[cluster].length
                };
                let own = cosine(cluster);
                best += usize::from((0..clusters).all(|other| cosine(other) <= own));
            }
        }
        let asked = (0..clusters).map(|cluster| made.rows(cluster).len().div_ceil(16)).sum::<usize>();
        assert!(best * 10 > asked * 8, "{best} of {asked} are in the nearest cluster");
    }

    #[test]
    fn every_instruction_set_makes_the_same_clusters() {
        let (want, _) = gather(Isa::Plain, 72);
        for isa in Isa::available() {
            let (made, _) = gather(isa, 72);
            assert_eq!((&made.centroids, &made.factors), (&want.centroids, &want.factors), "{isa:?}");
            assert_eq!((&made.starts, &made.order), (&want.starts, &want.order), "{isa:?}");
        }
    }

    #[test]
    fn vectors_that_are_all_the_same_are_one_cluster() {
        let (stride, rows) = (64, 2_000);
        let mut row = vec![0; stride];
        let scale = quantise(&[1.0; 64], &mut row);
        let sampled = row.repeat(sample(rows).count());
        let scales = vec![scale; sample(rows).count()];
        let mut gathering = Gathering::new(Assigner::train(Isa::best(), 64, rows, &sampled, &scales));
        for _ in 0..rows - 1 {
            gathering.add(&row, scale);
        }
        // A vector without direction belongs to some cluster too.
        gathering.add(&vec![128; stride], 0.0);
        let made = gathering.finish();
        let full: Vec<_> = (0..count(rows)).filter(|cluster| !made.rows(*cluster).is_empty()).collect();
        assert_eq!((full.len(), made.order.len()), (1, rows));
        let mut centre = vec![0.0; 64];
        made.centre(full[0], &mut centre);
        assert!((centre[7] - 0.125 * 1_999.0 / 2_000.0).abs() < 1e-4, "{}", centre[7]);
    }

    #[test]
    fn damaged_starts_are_no_places() {
        let (order, factors) = ([0, 1, 2], [CentroidScale { unit: 1.0, length: 1.0 }; 3]);
        let clusters = Clusters { centroids: &[], factors: &factors, starts: &[2, 1, 9, 3], order: &order };
        assert_eq!([0, 1, 2].map(|cluster| clusters.places(cluster)), [0..0, 0..0, 0..0]);
    }
}
