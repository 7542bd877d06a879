//! Tests of packing: within the budget, whole sentences of the sources, nothing twice, the same each time.

use super::*;
use crate::item::RowId;
use proptest::prelude::*;

const SOURCE: &str = "a.md";

fn memory(row: u32, score: f32, content: &str) -> RankedText<'_> {
    RankedText {
        row: RowId(row),
        id: "id",
        document: None,
        position: 0,
        lines: None,
        source: SOURCE,
        path: None,
        heading: None,
        mark: None,
        is_code: false,
        is_beside: false,
        score,
        content,
    }
}

fn chunk(row: u32, position: u32, lines: (u32, u32), content: &str) -> RankedText<'_> {
    let heading = Some("Guide > Part");
    RankedText {
        document: Some("d"),
        position,
        lines: Some(lines),
        heading,
        mark: None,
        path: Some(SOURCE),
        ..memory(row, 1.0, content)
    }
}

/// Packs for a question whose terms are lower-case words of equal weight.
fn pack_for(
    question: &str,
    candidates: &[RankedText<'_>],
    budget: usize,
    count: &dyn Fn(&str) -> usize,
) -> Evidence {
    let terms: Vec<String> = question.split_whitespace().map(str::to_lowercase).collect();
    let marks = |text: &str, out: &mut Vec<(usize, usize)>| {
        let mut at = 0;
        for word in text.split_inclusive(|c: char| !c.is_alphanumeric()) {
            let shown = word.trim_end_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
            out.extend(terms.iter().position(|term| *term == shown).map(|term| (at, term)));
            at += word.len();
        }
    };
    let weights = vec![1.0; terms.len()];
    pack(candidates, &QuestionWords { marks: &marks, weights: &weights }, budget, count)
}

fn words(text: &str) -> usize {
    text.split_whitespace().count()
}

#[track_caller]
fn check(question: &str, candidates: &[RankedText<'_>], budget: usize, expected: &[&str]) {
    let evidence = pack_for(question, candidates, budget, &words);
    let texts: Vec<_> = evidence.pieces.iter().map(|piece| piece.text.as_str()).collect();
    assert_eq!(texts, expected);
    assert!(evidence.tokens <= budget);
    assert_eq!(evidence.tokens, words(&crate::evidence::block(&evidence.pieces)));
}

#[test]
fn the_sentences_that_answer_go_in_first() {
    let text = "The garden is old. Tomatoes want water in the morning. The fence is green. Birds come.";
    // The opening costs 3 words, the citation 4. Twelve more are left, three of them for the mark of a gap.
    check("tomatoes morning", &[memory(1, 1.0, text)], 14, &["Tomatoes want water in the morning."]);
    check("tomatoes morning", &[memory(1, 1.0, text)], 99, &[text]);
    check("fence garden", &[memory(1, 1.0, text)], 17, &["The garden is old. […] The fence is green."]);
}

#[test]
fn the_first_hit_is_always_in_and_cut_only_when_nothing_of_it_fits() {
    let long = "one two three four five six seven eight nine ten eleven twelve";
    check("five", &[memory(1, 0.1, long), memory(2, 0.1, "Short.")], 10, &["one two three…"]);
    assert!(pack_for("five", &[memory(1, 0.1, long)], 10, &words).pieces[0].is_cut);
    check("five", &[memory(1, 0.1, long)], 7, &[]);
    check("five", &[memory(1, 0.1, "Short. One two three four five.")], 9, &["Short."]);
    check("x", &[], 10, &[]);
}

#[test]
fn copies_are_given_once() {
    let fact = "The port of the server is 8080.";
    let hits = [
        memory(1, 0.9, fact),
        memory(2, 0.8, fact),
        memory(3, 0.7, "the PORT of the server is 8080! It is new."),
    ];
    check("port", &hits, 99, &[fact, "It is new."]);
    let evidence = pack_for("port", &hits, 99, &words);
    assert_eq!(evidence.left_out, 1);
}

#[test]
fn neighbours_become_one_piece_in_the_order_of_the_document() {
    let (one, two) = ("First is here. Second is there.", "Third is far.\nFourth is lost.");
    let evidence = pack_for("third", &[chunk(8, 5, (12, 13), two), chunk(7, 4, (10, 10), one)], 99, &words);
    assert_eq!(evidence.pieces.len(), 1);
    let piece = &evidence.pieces[0];
    assert_eq!(piece.text, format!("{one}\n{two}"));
    assert_eq!((piece.rows.clone(), piece.lines), (vec![RowId(7), RowId(8)], Some((10, 13))));
    assert_eq!(piece.heading.as_deref(), Some("Guide > Part"));
}

#[test]
fn what_a_chunk_repeats_of_the_one_before_is_given_once() {
    let (one, two) = ("Alpha is one. Beta is two. Gamma", "Beta is two. Gamma is three. Delta is four.");
    let hits = [chunk(1, 0, (1, 1), one), chunk(2, 1, (1, 1), two)];
    check("beta", &hits, 99, &["Alpha is one. Beta is two.\nGamma is three. Delta is four."]);
}

#[test]
fn lines_are_those_of_the_sentences_taken() {
    let text = "Alpha is one.\n\nBeta is two.\nGamma\n";
    let lines = |lines| pack_for("beta", &[chunk(1, 0, lines, text)], 16, &words).pieces[0].lines;
    assert_eq!(lines((10, 13)), Some((12, 12)));
    assert_eq!(lines((10, 19)), Some((10, 19)), "the content does not stand there as it is");
}

#[test]
fn an_item_has_its_share_before_another_has_more() {
    let long: Vec<String> = (0..200).map(|n| format!("The apple number {n} is red.")).collect();
    let long = long.join(" ");
    let hits = [memory(1, 1.0, &long), memory(2, 0.3, "An apple pie."), memory(3, 0.2, "An apple tree.")];
    let evidence = pack_for("apple", &hits, 500, &words);
    assert_eq!(evidence.left_out, 0, "{evidence:?}");
    assert!(evidence.tokens > 485, "{}", evidence.tokens);
}

#[test]
fn a_line_of_code_brings_its_fence() {
    let text = "Run this:\n\n```sh\nls\nrm -r target\ncd\n```\n";
    check("target", &[memory(1, 1.0, text)], 15, &["```sh\n[…]\nrm -r target\n[…]\n```"]);
}

#[test]
fn an_estimate_is_a_quarter_of_the_characters() {
    let check = |text: &str, expected: usize| assert_eq!(estimate_tokens(text), expected);
    check("", 0);
    check("abcde", 2);
    check("Grüße", 2);
    check("版本是二", 4);
}

fn texts() -> impl Strategy<Value = Vec<(String, bool, Option<u32>, f32)>> {
    let sentence =
        "(Alpha|Beta|- gamma|\\| delta|```|# Eps|Dr. Zeta|二。|x = 1)( [a-f]{1,4}){0,7}(\\.|!|\n|\n\n| )";
    let text = prop::collection::vec(sentence, 0..9).prop_map(|parts| parts.concat());
    prop::collection::vec((text, any::<bool>(), prop::option::of(0_u32..5), 0.0_f32..1.0), 0..7)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn any_items_fit_any_budget(texts in texts(), budget in 0_usize..120, counter in 0_usize..4) {
        // The last counter counts the whole higher than the sum of its parts.
        let counters: [&dyn Fn(&str) -> usize; 4] =
            [&words, &|text| text.len().div_ceil(4), &estimate_tokens, &|text| words(text) + words(text) / 7];
        let mut hits: Vec<RankedText<'_>> = texts.iter().enumerate().map(|(at, (text, is_code, position, score))| {
            let row = at as u32 + 1;
            let item = match position {
                Some(position) => chunk(row, *position, (position * 10 + 1, position * 10 + 9), text),
                None => memory(row, 0.0, text),
            };
            RankedText { is_code: *is_code, score: *score, ..item }
        }).collect();
        hits.sort_by(|a, b| b.score.total_cmp(&a.score));
        let evidence = pack_for("alpha a beta", &hits, budget, counters[counter]);
        let block = crate::evidence::block(&evidence.pieces);
        prop_assert!(evidence.tokens <= budget);
        prop_assert!(counter == 3 || counters[counter](&block) <= budget, "{}", block);
        prop_assert_eq!(&evidence, &pack_for("alpha a beta", &hits, budget, counters[counter]));

        let mut given = std::collections::HashSet::new();
        for piece in &evidence.pieces {
            let sources: Vec<_> = hits.iter().filter(|hit| piece.rows.contains(&hit.row)).collect();
            prop_assert_eq!(sources.len(), piece.rows.len());
            if piece.is_cut {
                let begun = piece.text.trim_end_matches('…');
                prop_assert!(evidence.pieces.len() == 1 && sources[0].content.contains(begun));
                continue;
            }
            // Split again, a piece consists of whole units of its sources and nothing else.
            let mut rest = piece.text.as_str();
            let units: Vec<(&str, UnitShape)> = sources.iter().flat_map(|hit| {
                units::cut(hit.content, hit.is_code).into_iter().map(|unit| (&hit.content[unit.range], unit.shape))
            }).collect();
            while !rest.trim_start().is_empty() {
                if let Some(after) = rest.trim_start().strip_prefix(assemble::GAP) {
                    rest = after;
                    continue;
                }
                let longest = units.iter().filter_map(|(unit, _)| {
                    let body = rest.trim_start_matches('\n');
                    let after = body.strip_prefix(unit).or_else(|| rest.trim_start().strip_prefix(unit.trim_start()));
                    after.map(|after| (after, unit))
                }).min_by_key(|(after, _)| after.len());
                prop_assert!(longest.is_some(), "{:?} is no unit of {:?}", rest, units);
                let (after, unit) = longest.unwrap();
                // A line of code may be needed twice, and headings of a document may be equal.
                let is_sentence = units.iter().all(|(other, shape)| other != unit || *shape == UnitShape::Sentence);
                if is_sentence && unit.chars().any(char::is_alphanumeric) {
                    prop_assert!(given.insert(unit.to_lowercase()), "{:?} twice", unit);
                }
                rest = after;
            }
        }
    }
}
