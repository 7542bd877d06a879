//! Sketches documents, and finds those that are near copies of another among many.
//!
//! A sketch has the smallest hashes of a document's runs of five words. The share of hashes that two sketches have in common
//! estimates the share of runs that their documents have in common. The standard error is 4 % at a half.
//!
//! Source: Broder, "On the resemblance and containment of documents", SEQUENCES 1997.

use std::collections::HashMap;

use super::words::{LEAST_RUNS, runs};

/// Hashes of a sketch.
const SIZE: usize = 128;
/// The smallest hashes, by which similar documents find each other. Two documents that share half of their runs share none of
/// them with a chance of 2^-16 or so.
const KEYS: usize = 32;
/// Most documents that a run may be in to count for finding others: what more have is a licence or a page's foot.
const MOST_SHARING: usize = 64;
/// Least share of the runs of two documents that are near copies.
const NEAR_COPY: f32 = 0.5;

/// The sketch of one document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sketch {
    /// The smallest different hashes, ascending.
    hashes: Vec<u64>,
    runs: usize,
}

impl Sketch {
    /// Sketches a document that consists of some texts. No run crosses the border of two texts.
    pub fn of<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        let mut hashes: Vec<u64> = Vec::new();
        for text in texts {
            hashes.extend(runs(text).into_iter().map(spread));
        }
        hashes.sort_unstable();
        hashes.dedup();
        let runs = hashes.len();
        hashes.truncate(SIZE);
        Self { hashes, runs }
    }

    /// Returns the share of the runs of two documents that stand in both, 0..1, as an estimate.
    pub fn likeness(&self, other: &Self) -> f32 {
        let (mut one, mut two) = (self.hashes.iter().peekable(), other.hashes.iter().peekable());
        let (mut all, mut both) = (0_usize, 0_usize);
        while all < SIZE {
            let (a, b) = match (one.peek(), two.peek()) {
                (Some(a), Some(b)) => (**a, **b),
                (Some(_), None) | (None, Some(_)) => {
                    all += one.len() + two.len();
                    break;
                }
                (None, None) => break,
            };
            all += 1;
            both += usize::from(a == b);
            if a <= b {
                one.next();
            }
            if b <= a {
                two.next();
            }
        }
        if all == 0 { 0.0 } else { both as f32 / all.min(SIZE) as f32 }
    }
}

/// Returns the groups of near copies: the position of a document, and of each later one that repeats it with their likeness.
/// A document is in one group at most. Groups and members are in the order of the documents.
pub fn near_copies(sketches: &[Sketch]) -> Vec<(usize, Vec<(usize, f32)>)> {
    let mut holders: HashMap<u64, Vec<usize>> = HashMap::new();
    let compared = || sketches.iter().enumerate().filter(|(_, sketch)| sketch.runs >= LEAST_RUNS);
    for (at, sketch) in compared() {
        for hash in sketch.hashes.iter().take(KEYS) {
            let holders = holders.entry(*hash).or_default();
            if holders.len() <= MOST_SHARING {
                holders.push(at);
            }
        }
    }
    let mut groups: Vec<(usize, Vec<(usize, f32)>)> = Vec::new();
    // The group that a document begins.
    let mut begun: HashMap<usize, usize> = HashMap::new();
    let mut is_member = vec![false; sketches.len()];
    for (at, sketch) in compared() {
        let lists = sketch.hashes.iter().take(KEYS).filter_map(|hash| holders.get(hash));
        let mut earlier: Vec<usize> = lists
            .filter(|list| list.len() <= MOST_SHARING)
            .flatten()
            .copied()
            .filter(|&other| other < at && !is_member[other])
            .collect();
        earlier.sort_unstable();
        earlier.dedup();
        let like = |other: usize| {
            Some((other, sketches[other].likeness(sketch))).filter(|(_, like)| *like >= NEAR_COPY)
        };
        let Some((first, likeness)) = earlier.into_iter().find_map(like) else { continue };
        is_member[at] = true;
        let group = *begun.entry(first).or_insert_with(|| {
            groups.push((first, Vec::new()));
            groups.len() - 1
        });
        groups[group].1.push((at, likeness));
    }
    groups.sort_unstable_by_key(|(first, _)| *first);
    groups
}

/// Spreads a hash over all bits, so that the smallest are a fair sample (the last step of `SplitMix64`, Steele et al. 2014).
fn spread(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(words: impl Iterator<Item = usize>) -> String {
        words.map(|nth| format!("w{nth} ")).collect::<Vec<_>>().concat()
    }

    fn sketch(words: impl Iterator<Item = usize>) -> Sketch {
        Sketch::of([text(words).as_str()].into_iter())
    }

    #[test]
    fn likeness_is_the_share_of_runs() {
        // 996 runs each, 496 of them in both: 496 of 1,496.
        let (one, two) = (sketch(0..1_000), sketch(500..1_500));
        assert!((one.likeness(&two) - 0.33).abs() < 0.12, "{}", one.likeness(&two));
        let is = |likeness: f32, expected: f32| (likeness - expected).abs() < 1e-6;
        assert!(is(one.likeness(&one), 1.0) && is(one.likeness(&sketch(5_000..6_000)), 0.0));
        // Of short documents all runs are in the sketch: 26 of 46 are in both.
        assert!(is(sketch(0..40).likeness(&sketch(10..50)), 26.0 / 46.0));
        assert!(is(Sketch::default().likeness(&Sketch::default()), 0.0));
    }

    #[test]
    fn copies_are_grouped_behind_the_first() {
        let head = 0..30_usize;
        let documents = [
            sketch(1_000..1_400),
            sketch(2_000..2_400),
            sketch(1_000..1_390),
            sketch(head.clone()),
            sketch((1_000..1_400).chain(9_000..9_010)),
            sketch(0..20),
            sketch(2_010..2_400),
        ];
        let groups: Vec<(usize, Vec<usize>)> = near_copies(&documents)
            .into_iter()
            .map(|(first, rest)| (first, rest.into_iter().map(|(at, _)| at).collect()))
            .collect();
        assert_eq!(groups, [(0, vec![2, 4]), (1, vec![6])]);
    }

    #[test]
    fn what_very_many_share_brings_nobody_together() {
        let documents: Vec<Sketch> =
            (0..200).map(|nth| sketch((0..40).chain(nth * 1_000..nth * 1_000 + 400))).collect();
        assert!(near_copies(&documents).is_empty());
    }
}
