//! Maximal marginal relevance: lowers hits that are similar to hits above them.
//! Relevance is one score, computed the same way for every candidate.

use crate::item::{RowId, Scored};

/// Returns the best `k` of a list, best first, each chosen by relevance minus similarity to those already chosen:
/// lambda * relevance - (1 - lambda) * max similarity to the chosen.
///
/// `list` is in order, best first; its scores are scaled to 0..1 over the list (if all are equal, all are 1).
/// `similarity` of two rows is clamped to 0..1. `None` (a row without a vector) counts as 0: such a row resembles no
/// other. Its relevance is scaled with all others, so that a missing vector is no advantage. `lambda` is clamped to
/// 0..1; 1 returns the first `k` in their order. Hits keep their scores. Equal values go to the earlier in the list.
/// The result is exact; `similarity` is called at most k * n times.
///
/// Source: Carbonell and Goldstein, "The Use of MMR, Diversity-Based Reranking for Reordering Documents and Producing
/// Summaries", SIGIR 1998.
pub fn mmr(
    list: &[Scored],
    k: usize,
    lambda: f32,
    similarity: &dyn Fn(RowId, RowId) -> Option<f32>,
) -> Vec<Scored> {
    let k = k.min(list.len());
    if lambda >= 1.0 || k == 0 {
        return list[..k].to_vec();
    }
    let lambda = lambda.max(0.0);
    let (least, most) = list.iter().fold((f32::INFINITY, f32::NEG_INFINITY), |(least, most), hit| {
        (least.min(hit.score), most.max(hit.score))
    });
    let relevance = |score: f32| if most > least { (score - least) / (most - least) } else { 1.0 };
    let mut waiting: Vec<Waiting> =
        list.iter().map(|&hit| Waiting { hit, relevance: relevance(hit.score), likeness: 0.0 }).collect();
    let mut chosen: Vec<Scored> = Vec::with_capacity(k);
    while chosen.len() < k {
        if let Some(last) = chosen.last() {
            for one in &mut waiting {
                one.likeness = one.likeness.max(bounded(similarity(last.row, one.hit.row)));
            }
        }
        let value = |one: &Waiting| lambda * one.relevance - (1.0 - lambda) * one.likeness;
        let best = (1..waiting.len()).fold(0, |best, at| {
            if value(&waiting[at]).total_cmp(&value(&waiting[best])).is_gt() { at } else { best }
        });
        // Keeps the order of the remaining ones, which decides between equals.
        chosen.push(waiting.remove(best).hit);
    }
    chosen
}

/// A candidate that is not chosen yet.
struct Waiting {
    hit: Scored,
    relevance: f32,
    /// The greatest similarity to anything chosen.
    likeness: f32,
}

fn bounded(similarity: Option<f32>) -> f32 {
    similarity.filter(|value| !value.is_nan()).unwrap_or(0.0).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn list(hits: &[(u32, f32)]) -> Vec<Scored> {
        hits.iter().map(|&(row, score)| Scored { row: RowId(row), score }).collect()
    }

    fn rows(list: &[Scored]) -> Vec<u32> {
        list.iter().map(|hit| hit.row.0).collect()
    }

    /// 1 and 2 are similar (.9), 3 is like neither (.1), 4 has no vector.
    fn alike(a: RowId, b: RowId) -> Option<f32> {
        match (a.0.min(b.0), a.0.max(b.0)) {
            (_, 4) => None,
            (1, 2) => Some(0.9),
            _ => Some(0.1),
        }
    }

    #[test]
    fn what_repeats_steps_back() {
        let hits = list(&[(1, 1.0), (2, 0.9), (3, 0.6), (5, 0.0)]);
        // Relevance 1, .9, .6, 0. First 1. Then, with lambda .7:
        // 2: .63 - .3*.9 = .36; 3: .42 - .3*.1 = .39 → 3. Then 2: .36; 5: 0 - .03.
        assert_eq!(rows(&mmr(&hits, 4, 0.7, &alike)), [1, 3, 2, 5]);
        assert_eq!(rows(&mmr(&hits, 2, 0.7, &alike)), [1, 3]);
        // With lambda .9: 2: .81 - .09 = .72; 3: .54 - .01 = .53.
        assert_eq!(rows(&mmr(&hits, 4, 0.9, &alike)), [1, 2, 3, 5]);
        assert_eq!(mmr(&hits, 9, 1.0, &alike), hits);
        assert_eq!(mmr(&hits, 0, 0.7, &alike), []);
        assert_eq!(mmr(&[], 3, 0.7, &alike), []);
    }

    #[test]
    fn the_score_that_is_scaled_is_everybodys() {
        // Scores of the same list on another scale give the same order.
        let small = list(&[(1, 0.010), (2, 0.009), (3, 0.006), (5, 0.0)]);
        assert_eq!(rows(&mmr(&small, 4, 0.7, &alike)), [1, 3, 2, 5]);
    }

    #[test]
    fn no_vector_is_no_merit() {
        // The original gave a row without a vector its whole relevance and all others .7 of theirs: 4 came before 3.
        let hits = list(&[(1, 1.0), (3, 0.9), (4, 0.8), (5, 0.0)]);
        // 3: .63 - .03 = .6; 4: .56 - 0 = .56
        assert_eq!(rows(&mmr(&hits, 3, 0.7, &alike)), [1, 3, 4]);
    }

    #[test]
    fn equals_keep_their_order() {
        let hits = list(&[(8, 0.5), (2, 0.5), (6, 0.5)]);
        assert_eq!(rows(&mmr(&hits, 3, 0.5, &|_, _| Some(f32::NAN))), [8, 2, 6]);
    }

    /// The definition, computed from scratch for every choice.
    fn slow(list: &[Scored], k: usize, lambda: f32, similarity: &[Vec<f32>]) -> Vec<usize> {
        let most = list.iter().map(|hit| hit.score).fold(f32::MIN, f32::max);
        let least = list.iter().map(|hit| hit.score).fold(f32::MAX, f32::min);
        let mut chosen: Vec<usize> = Vec::new();
        while chosen.len() < k.min(list.len()) {
            let value = |at: usize| {
                let relevance = if most > least { (list[at].score - least) / (most - least) } else { 1.0 };
                let likeness =
                    chosen.iter().map(|&other| similarity[other][at].clamp(0.0, 1.0)).fold(0.0, f32::max);
                lambda * relevance - (1.0 - lambda) * likeness
            };
            let left = (0..list.len()).filter(|at| !chosen.contains(at));
            let best = left.max_by(|&a, &b| value(a).total_cmp(&value(b)).then(b.cmp(&a))).unwrap();
            chosen.push(best);
        }
        chosen
    }

    proptest! {
        #[test]
        fn the_fast_way_is_the_definition(
            (scores, similarity) in (1_usize..34).prop_flat_map(|n| (
                prop::collection::vec(0.0_f32..1.0, n),
                prop::collection::vec(prop::collection::vec(-0.5_f32..1.2, n), n),
            )),
            k in 0_usize..40,
            lambda in 0.0_f32..1.0,
        ) {
            let mut scores = scores;
            scores.sort_unstable_by(|a, b| b.total_cmp(a));
            let hits: Vec<_> = scores.iter().enumerate().map(|(at, &score)| Scored { row: RowId(at as u32), score }).collect();
            let got = mmr(&hits, k, lambda, &|a, b| Some(similarity[a.0 as usize][b.0 as usize]));
            let got: Vec<_> = got.iter().map(|hit| hit.row.0 as usize).collect();
            prop_assert_eq!(got, slow(&hits, k, lambda, &similarity));
        }
    }
}
