//! Tests of merge decisions: an invented example for each outcome, and cases that must never have it.

use proptest::prelude::*;

use super::*;

const DAY: i64 = 86_400;

fn at(day: i64) -> Timestamp {
    Timestamp::from_second(1_700_000_000 + day * DAY).unwrap()
}

fn existing(text: &Analysis, cosine: Option<f32>) -> Existing<'_> {
    Existing { text, happened: false, time: at(0), cosine, relation: None, pinned: false }
}

/// What becomes of a text beside one memory, which may be changed before.
fn decided(kept: &str, told: &str, change: impl Fn(&mut Existing<'_>)) -> Decision {
    let (kept, told) = (Analysis::of(kept), Analysis::of(told));
    let mut memory = existing(&kept, Some(0.6));
    change(&mut memory);
    decide(&Incoming { text: &told, happened: false, first_time: None }, &[memory])
}

fn line(decision: &Decision) -> String {
    format!("{}: {}", decision.fate, decision.why)
}

/// What becomes of a text that no model has compared.
fn unread(kept: &str, told: &str) -> String {
    line(&decided(kept, told, |_| ()))
}

/// What becomes of a text that the model has compared: likelihoods of the same, more, an update, a contradiction and another
/// matter.
fn judged(kept: &str, told: &str, likelihoods: [f32; 5]) -> (String, Vec<(PossibleWhy, f32)>) {
    let decision =
        decided(kept, told, |memory| memory.relation = PairLikelihood::new(&likelihoods, likelihoods[2]));
    let possible = decision.possible.iter().map(|one| (one.why, one.likelihood)).collect();
    (line(&decision), possible)
}

const DIFFERENT: [f32; 5] = [0.0, 0.0, 0.1, 0.0, 0.9];
const SAME: [f32; 5] = [0.9, 0.0, 0.1, 0.0, 0.0];
const UPDATE: [f32; 5] = [0.0, 0.0, 0.9, 0.0, 0.1];

#[test]
fn what_the_model_is_sure_of_is_done_and_the_rest_is_asked() {
    let (kept, told) = ("Mother wears size 38 boots", "For footwear, 38 is what fits Mum");
    let confirmed = ("confirm: likely says the same (.65)".to_owned(), vec![]);
    assert_eq!(judged(kept, told, [0.65, 0.1, 0.1, 0.0, 0.15]), confirmed);
    let (fate, possible) = judged(kept, told, [0.64, 0.1, 0.1, 0.0, 0.16]);
    assert_eq!((fate.as_str(), possible), ("create: new", vec![(PossibleWhy::Same, 0.64)]));
    let (fate, possible) = judged(kept, "Mother never fits into a 38", [0.0, 0.0, 0.25, 0.6, 0.15]);
    assert_eq!(fate, "contradict: likely a contradiction (.60)");
    assert_eq!(possible, [(PossibleWhy::Contradiction, 0.85)]);
    let (fate, possible) = judged(kept, "Her feet have spread to a 39", [0.0, 0.0, 0.5, 0.125, 0.375]);
    assert_eq!((fate.as_str(), possible), ("create: new", vec![(PossibleWhy::Update, 0.625)]));
}

#[test]
fn the_same_text_is_the_same_whatever_the_model_says() {
    assert_eq!(judged("Keep  the lock short.", "keep the lock short", DIFFERENT).0, "confirm: the same text");
    assert_eq!(unread("Keep  the lock short.", "keep the lock short"), "confirm: the same text");
}

#[test]
fn another_number_in_the_same_words_ends_the_earlier_one() {
    let (kept, told) = ("The API listens on port 8080.", "The API listens on port 9090.");
    assert_eq!(unread(kept, told), "supersede: 8080 -> 9090");
    assert_eq!(judged(kept, told, UPDATE), ("supersede: 8080 -> 9090".to_owned(), vec![]));
    // What happened stays true.
    let (kept_text, told_text) = (Analysis::of(kept), Analysis::of(told));
    let happened = Incoming { text: &told_text, happened: true, first_time: None };
    assert_eq!(decide(&happened, &[existing(&kept_text, Some(0.9))]).fate, CurateOutcome::Link);
    let happened = decided(kept, told, |memory| memory.happened = true);
    assert_ne!(happened.fate, CurateOutcome::Supersede);
    // The model finds two facts, or no one number differs.
    assert!(!judged(kept, told, DIFFERENT).0.starts_with("supersede"));
    assert!(!unread("Ben lives in Bern", "Ben lives in Basel").starts_with("supersede"));
    assert!(!unread("Bay 12 is for the midwives", "Bay 13 is for the midwives").starts_with("supersede"));
    assert!(!judged("Ben lives in Bern", "Ben lives in Basel", UPDATE).0.starts_with("supersede"));
}

#[test]
fn what_is_pinned_or_told_late_ends_nothing() {
    let (kept, told) = ("The API listens on port 8080.", "The API listens on port 9090.");
    let pinned = decided(kept, told, |memory| memory.pinned = true);
    assert_eq!(line(&pinned), "contradict: against what is pinned: 8080 -> 9090");
    let (kept, told) = (Analysis::of(kept), Analysis::of(told));
    let late = Incoming { text: &told, happened: false, first_time: Some(at(-1)) };
    let decision = decide(&late, &[existing(&kept, None)]);
    assert_eq!(
        (line(&decision).as_str(), decision.stays),
        ("supersede: told late: 8080 -> 9090", Side::Kept)
    );
    let later = Incoming { text: &told, happened: false, first_time: Some(at(1)) };
    assert_eq!(decide(&later, &[existing(&kept, None)]).stays, Side::Told);
}

#[test]
fn a_longer_text_takes_the_place_of_its_beginning() {
    let (short, long) = ("Locks are short.", "Locks are short; long ones stall the queue.");
    assert_eq!(unread(short, long), "append: says the same and more");
    assert_eq!(unread(long, short), "confirm: is a part of what is known");
    assert!(!judged(short, long, DIFFERENT).0.starts_with("append"));
    let pinned = decided(short, long, |memory| memory.pinned = true);
    assert_eq!(pinned.fate, CurateOutcome::Create);
    // It narrows the statement, and does not add to it.
    assert!(!unread("The port is 8080", "The port is 8080 in staging").starts_with("append"));
}

#[test]
fn another_value_in_the_same_words_is_no_repeat() {
    let fate = |kept: &str, told: &str| judged(kept, told, SAME).0;
    assert!(
        fate("The choir meets in the old mill", "The choir meets in the town hall").starts_with("create")
    );
    assert!(fate("Pia pays 14 euros for the box", "The box is 15 euros when Pia pays").starts_with("create"));
    assert!(
        fate("The choir meets in the old mill", "The old mill is where the choir comes together")
            .starts_with("confirm")
    );
}

#[test]
fn what_the_model_has_not_read_to_its_end_merges_nothing() {
    let long = |end: &str| format!("{} {end}", "the mill has a wheel and a race ".repeat(6));
    let (fate, possible) = judged(&long("of oak"), &long("of elm in spring"), SAME);
    assert!(!fate.starts_with("confirm"), "{fate}");
    assert_eq!(possible, [(PossibleWhy::Same, 0.9)]);
}

#[test]
fn a_text_is_linked_to_the_nearest_memory() {
    let near = |cosine| line(&decided("Ida feeds the hens", "Hens eat at six", |one| one.cosine = cosine));
    assert_eq!(near(Some(0.7)), "link: near (cosine .70)");
    assert_eq!(near(Some(0.69)), "create: new");
    // Without a model: two of four words.
    let words = |told| line(&decided("one two three", told, |memory| memory.cosine = None));
    assert_eq!(
        (words("one two four"), words("one four")),
        ("link: near (words .50)".into(), "create: new".into())
    );
    let texts = ["a b", "c d", "e f"].map(Analysis::of);
    let kept = [0.8, 0.9, 0.9].into_iter().zip(&texts).map(|(cosine, text)| existing(text, Some(cosine)));
    let told = Analysis::of("g");
    let decision =
        decide(&Incoming { text: &told, happened: false, first_time: None }, &kept.collect::<Vec<_>>());
    assert_eq!((decision.fate, decision.target), (CurateOutcome::Link, Some(1)));
}

#[test]
fn the_likeliest_of_several_memories_decides() {
    let texts = ["a b", "c d", "e f"].map(Analysis::of);
    let likelihoods = [[0.75, 0.0, 0.0, 0.0, 0.25], [0.8, 0.0, 0.0, 0.0, 0.2], [0.1, 0.0, 0.0, 0.9, 0.0]];
    let kept = texts.iter().zip(&likelihoods).map(|(text, likelihoods)| Existing {
        relation: PairLikelihood::new(likelihoods, likelihoods[2]),
        ..existing(text, Some(0.6))
    });
    let told = Analysis::of("g h");
    let decision =
        decide(&Incoming { text: &told, happened: false, first_time: None }, &kept.collect::<Vec<_>>());
    assert_eq!((decision.fate, decision.target), (CurateOutcome::Confirm, Some(1)));
}

proptest! {
    /// Only another number, or a text that goes on after all of another, ends a memory.
    #[test]
    fn nothing_else_supersedes(
        kept in "((The|Ben's|API|port|not|only|in|8080|9090|4 May|tea) ){1,6}",
        told in "((The|Ben's|API|port|not|only|in|8080|9090|4 May|tea) ){1,6}",
        likelihoods in prop::array::uniform5(0.0_f32..1.0),
        pinned: bool,
        is_read: bool,
    ) {
        let decision = decided(&kept, &told, |memory| {
            memory.pinned = pinned;
            memory.relation = PairLikelihood::new(&likelihoods, likelihoods[2]).filter(|_| is_read);
        });
        let (one, two) = (Analysis::of(&kept), Analysis::of(&told));
        if decision.fate == CurateOutcome::Supersede {
            prop_assert!(one.has_other_number(&two) && !pinned);
            prop_assert!(!is_read || likelihoods[2] >= 0.8);
        }
        if decision.fate == CurateOutcome::Append {
            prop_assert!(one.is_begun_by(&two) && !pinned);
        }
        prop_assert_eq!(decision.target.is_none(), decision.fate == CurateOutcome::Create);
    }
}
