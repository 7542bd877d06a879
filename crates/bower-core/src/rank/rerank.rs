//! Reranking: when it is worthwhile, how a language model's scores are parsed, and the new order.
//! Whatever a reranker returns, no row is lost or repeated, and unscored rows keep their positions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::item::RowId;

/// The thresholds that decide whether a list is still open.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gate {
    /// Least probability of a found hit; at 1 or more no hit is found, so every order is open.
    pub sure: f32,
    /// Least distance between the found hits and the first other hit.
    pub gap: f32,
}

/// A row that a reranker scored.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Reranked {
    /// The row; not serialised.
    #[serde(skip)]
    pub row: RowId,
    /// The reranker's score: a logit of a cross-encoder, 1..5 of a language model.
    pub score: f32,
    /// Its rank before, from 1.
    pub from: usize,
    /// Its rank after, from 1.
    pub to: usize,
}

/// A list in its new order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reordered {
    /// For each new position the old one, both from 0: a permutation of all rows.
    pub order: Vec<usize>,
    /// The rows that were scored, in their new order.
    pub changes: Vec<Reranked>,
}

/// The range of scores of a language model (Bowerbird's first version).
const LEAST: f32 = 1.0;
const MOST: f32 = 5.0;

/// Whether a list is worth reranking: its calibrated scores (0..1, best first) do not separate the answering hits from
/// the rest. `top` is the number of hits that will be shown.
///
/// The order is settled if some hits are at or above `sure`, and either the whole top is, or the first hit below lies
/// `gap` or more under the last of them. A list of one row, or none, is settled.
pub fn is_open(scores: &[f32], top: usize, gate: Gate) -> bool {
    if scores.len() < 2 {
        return false;
    }
    let found = scores.iter().take_while(|score| gate.sure < 1.0 && **score >= gate.sure).count();
    if found == 0 {
        return true;
    }
    let all = found >= top.min(scores.len());
    // A score that is NaN separates nothing.
    !all && (scores[found - 1] - scores[found]).partial_cmp(&gate.gap).is_none_or(std::cmp::Ordering::is_lt)
}

/// Reorders `rows` (best first) by new scores, higher is better. `scores[i]` is for `rows[i]`. Rows without a finite
/// score keep their positions; the others are sorted among their own positions. Equal scores keep their old order.
pub fn reorder(rows: &[RowId], scores: &[Option<f32>]) -> Reordered {
    let scored: Vec<(usize, f32)> = scores
        .iter()
        .take(rows.len())
        .enumerate()
        .filter_map(|(at, score)| score.filter(|score| score.is_finite()).map(|score| (at, score)))
        .collect();
    let mut best_first = scored.clone();
    best_first.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let mut order: Vec<usize> = (0..rows.len()).collect();
    let mut changes = Vec::with_capacity(scored.len());
    for ((place, _), (from, score)) in scored.into_iter().zip(best_first) {
        order[place] = from;
        changes.push(Reranked { row: rows[from], score, from: from + 1, to: place + 1 });
    }
    Reordered { order, changes }
}

/// Parses the scores in a language model's answer: `{"scores":[{"text":N,"score":S}]}`, or `[N]:score` as small models write it;
/// N from 1 to `count`, scores from 1 to 5, decimals allowed.
///
/// It tolerates the usual variations: spaces, emphasis and prose around entries, `[N] = score`, `[N] - score`,
/// `score/5`. Missing entries are `None`. Of repeated ones the last counts, because a model that corrects itself does
/// so later. Values out of range count as missing. An answer without a score gives `None` for all.
///
/// ```
/// # use bower_core::parts::rank::rerank::parse_scores;
/// assert_eq!(parse_scores("[1]:4\n[3] : 2.5", 3), [Some(4.0), None, Some(2.5)]);
/// ```
pub fn parse_scores(answer: &str, count: usize) -> Vec<Option<f32>> {
    let mut scores = vec![None; count];
    if let Some(given) = json_scores(answer) {
        for (number, score) in given {
            let at = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
            if let Some(slot) =
                at.and_then(|at| scores.get_mut(at)).filter(|_| (LEAST..=MOST).contains(&score))
            {
                *slot = Some(score);
            }
        }
        return scores;
    }
    for (at, _) in answer.match_indices('[') {
        if let Some((number, score)) = entry(&answer[at + 1..])
            && let Some(slot) = number.checked_sub(1).and_then(|index| scores.get_mut(index))
        {
            *slot = Some(score);
        }
    }
    scores
}

/// Parses `{"scores":[{"text":N,"score":S}]}` within an answer. `None` if it has no such object.
fn json_scores(answer: &str) -> Option<Vec<(u64, f32)>> {
    #[derive(Deserialize)]
    struct Scores {
        scores: Vec<Entry>,
    }
    #[derive(Deserialize)]
    struct Entry {
        text: u64,
        score: f32,
    }
    let (start, end) = (answer.find('{')?, answer.rfind('}')?);
    let read: Scores = serde_json::from_str(answer.get(start..=end)?).ok()?;
    Some(read.scores.into_iter().map(|entry| (entry.text, entry.score)).collect())
}

/// Parses `N]:score` at the start of a text.
fn entry(text: &str) -> Option<(usize, f32)> {
    let (number, rest) = digits(blank(text))?;
    let rest = blank(rest).strip_prefix(']')?;
    let rest = blank(rest).strip_prefix([':', '=', '-', '\u{2013}', '\u{2014}'])?;
    let rest = blank(rest);
    let (whole, after) = digits(rest)?;
    let fraction = after.strip_prefix('.').and_then(digits);
    let after = fraction.map_or(after, |(_, after)| after);
    // `4th` and `1e3` are not scores.
    if after.starts_with(char::is_alphanumeric) {
        return None;
    }
    let score: f32 = rest[..rest.len() - after.len()].parse().ok()?;
    let number: usize = number.parse().ok()?;
    ((LEAST..=MOST).contains(&score) && !whole.is_empty()).then_some((number, score))
}

/// Returns the text after blanks and emphasis marks.
fn blank(text: &str) -> &str {
    text.trim_start_matches([' ', '\t', '\u{a0}', '*', '_', '`', '"'])
}

/// Splits off leading ASCII digits, at least one.
fn digits(text: &str) -> Option<(&str, &str)> {
    let end = text.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::fmt::Write as _;

    fn rows(count: usize) -> Vec<RowId> {
        (0..count as u32).map(|row| RowId(row + 100)).collect()
    }

    #[test]
    fn an_order_is_open_until_the_answers_stand_apart() {
        let gate = Gate { sure: 0.8, gap: 0.2 };
        let check = |scores: &[f32], open: bool| assert_eq!(is_open(scores, 3, gate), open, "{scores:?}");
        check(&[], false);
        check(&[0.1], false);
        // Nothing is sure.
        check(&[0.79, 0.1, 0.1], true);
        check(&[0.02, 0.01], true);
        // One or two stand apart.
        check(&[0.95, 0.5, 0.5], false);
        check(&[0.95, 0.9, 0.4], false);
        // The next is too near.
        check(&[0.95, 0.79, 0.3], true);
        check(&[0.95, 0.85, 0.7], true);
        // All that will be seen are sure.
        check(&[0.9, 0.85, 0.82, 0.79], false);
        check(&[0.9, 0.9], false);
        check(&[0.9, f32::NAN], true);
        check(&[f32::NAN, 0.9], true);
        assert!(is_open(&[1.0, 0.0], 1, Gate { sure: 1.0, gap: 0.2 }), "1 leaves every order open");
    }

    #[test]
    fn new_scores_share_out_the_places_of_those_scored() {
        // By hand: rows 0, 2 and 3 are scored and hold places 1, 3 and 4.
        let got = reorder(&rows(6), &[Some(1.0), None, Some(3.0), Some(2.0), Some(f32::NAN)]);
        assert_eq!(got.order, [2, 1, 3, 0, 4, 5]);
        let changes: Vec<_> =
            got.changes.iter().map(|change| (change.row.0, change.score, change.from, change.to)).collect();
        assert_eq!(changes, [(102, 3.0, 3, 1), (103, 2.0, 4, 3), (100, 1.0, 1, 4)]);
        assert_eq!(reorder(&rows(3), &[Some(2.0); 3]).order, [0, 1, 2], "equal scores change nothing");
        assert_eq!(reorder(&rows(3), &[]).order, [0, 1, 2]);
        assert_eq!(reorder(&[], &[Some(1.0)]), Reordered::default());
        assert_eq!(reorder(&rows(2), &[Some(1.0), Some(2.0), Some(9.0)]).order, [1, 0]);
    }

    #[test]
    fn answers_are_read_as_models_write_them() {
        let check = |answer: &str, expected: &[Option<f32>]| {
            assert_eq!(parse_scores(answer, expected.len()), expected, "{answer:?}");
        };
        let (none, four, two) = (None, Some(4.0), Some(2.0));
        check("[1]:4\n[2]:2", &[four, two]);
        check("[2]:2[1]:4", &[four, two]);
        check("Sure! Here you go:\n- **[ 1 ]** : **4**/5 (good)\n- [2] = 2.0, weak", &[four, two]);
        check("`[1]: 4`\r\n[2]\t-\t2", &[four, two]);
        check("[2]:2", &[none, two]);
        check("[1]:3 wait, [1]:4", &[four]);
        check("[1]:4.75 [2]:2.", &[Some(4.75), two]);
        // The score of one entry does not count for another.
        check("[1] [2]:2", &[none, two]);
        check("[[1]:4]", &[four]);
        // Out of range, or no score at all.
        check("[0]:4 [3]:4 [1]:0.9 [2]:5.1", &[none, none]);
        check("[1]:-3 [2]:45", &[none, none]);
        check("[1]:4th [2]:1e0", &[none, none]);
        check("[99999999999999999999999]:4 [1]:", &[none]);
        check("[1]:nan [1]:inf", &[none]);
        check("I cannot judge these.", &[none, none]);
        check(r#"{"scores":[{"text":2,"score":2},{"text":1,"score":4.0}]}"#, &[four, two]);
        check(
            "```json\n{\"scores\": [{\"text\": 1, \"score\": 4}, {\"text\": 9, \"score\": 4}]}\n```",
            &[four, none],
        );
        check(r#"{"scores":[{"text":1,"score":45},{"text":0,"score":3}]}"#, &[none]);
        check(r#"{"scores":[]}"#, &[none]);
        check("", &[]);
        check("[1", &[none]);
    }

    proptest! {
        #[test]
        fn a_reordered_list_is_a_permutation_and_the_unscored_stay(
            scores in prop::collection::vec(prop::option::of(-3_i8..3), 0..40), more in 0_usize..10,
        ) {
            let scores: Vec<Option<f32>> = scores.iter().map(|score| score.map(f32::from)).collect();
            let rows = rows(scores.len() + more);
            let Reordered { order, changes } = reorder(&rows, &scores);
            let mut sorted = order.clone();
            sorted.sort_unstable();
            prop_assert_eq!(sorted, (0..rows.len()).collect::<Vec<_>>());
            for (place, &from) in order.iter().enumerate() {
                if scores.get(place).copied().flatten().is_none() {
                    prop_assert_eq!(from, place);
                }
            }
            prop_assert_eq!(changes.len(), scores.iter().flatten().count());
            for pair in changes.windows(2) {
                prop_assert!(pair[0].to < pair[1].to);
                prop_assert!(pair[0].score > pair[1].score
                    || (pair[0].score.to_bits() == pair[1].score.to_bits() && pair[0].from < pair[1].from));
            }
            for change in changes {
                prop_assert_eq!(rows[order[change.to - 1]], change.row);
                prop_assert_eq!(rows[change.from - 1], change.row);
            }
        }

        #[test]
        fn no_answer_panics_or_gives_a_wrong_score(answer in "(\\PC|[\\[\\]:0-9. \n*-]){0,200}", count in 0_usize..30) {
            let scores = parse_scores(&answer, count);
            prop_assert_eq!(scores.len(), count);
            prop_assert!(scores.iter().flatten().all(|score| (1.0..=5.0).contains(score)));
        }

        #[test]
        fn what_is_written_is_read(
            scores in prop::collection::vec(prop::option::of(4_u8..=20), 0..30),
            (open, middle, end) in ("[ \t]?", "[ *]?[:=-] ?\\*{0,2}", "(/5)?[,;.]?( [a-z ]{0,9})?\n"),
        ) {
            let scores: Vec<Option<f32>> =
                scores.iter().map(|quarters| quarters.map(|n| f32::from(n) / 4.0)).collect();
            let mut answer = String::from("Scores:\n");
            for (at, score) in scores.iter().enumerate() {
                if let Some(score) = score {
                    write!(answer, "[{open}{}]{middle}{score}{end}", at + 1).unwrap();
                }
            }
            prop_assert_eq!(parse_scores(&answer, scores.len()), scores, "{:?}", answer);
        }
    }
}
