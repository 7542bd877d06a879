//! Judges how long a text is likely to hold, by its words for time.
//! English words; a text in another language counts as lasting unless it names a date in digits.

use super::super::calendar::{DAYS, MONTHS, is_iso, is_year};
use crate::item::Durability;
use crate::memory::cues::Cues;

/// What begins the naming of an end.
const UNTIL: &[&str] = &["until", "till", "through", "by", "before"];

/// Ends in so many words.
const ENDS: &[&str] = &[
    " for this sprint ",
    " for the sprint ",
    " for this release ",
    " for the rest of the ",
    " for the next ",
    " for the coming ",
    " during this sprint ",
    " this sprint only ",
    " for the time being ",
    " for now ",
    " temporarily ",
    " temporary workaround ",
    " expires on ",
    " expires in ",
    " expires at ",
    " valid until ",
    " valid through ",
    " deadline is ",
    " is due on ",
    " is due by ",
    " due date is ",
    " until further notice ",
    " until then ",
    " until we ",
    " until the ",
    " as long as the freeze ",
];

/// What somebody is at, or how a thing stands, when the text is written.
const MOMENTS: &[&str] = &[
    " right now ",
    " at the moment ",
    " just now ",
    " as we speak ",
    " in progress . ",
    " is in progress ",
    " are in progress ",
    " work in progress ",
    " currently running ",
    " currently failing ",
    " currently broken ",
    " currently blocked ",
    " currently building ",
    " currently waiting ",
    " currently debugging ",
    " currently investigating ",
    " currently testing ",
    " currently looking ",
    " currently stuck ",
    " currently down ",
    " currently reviewing ",
    " currently fixing ",
    " i'm now ",
    " i am now ",
    " we're now ",
    " i'm looking at ",
    " i am looking at ",
    " i'm looking into ",
    " i am looking into ",
    " i'm checking ",
    " i am checking ",
    " i'm debugging ",
    " i am debugging ",
    " i'm waiting ",
    " i am waiting ",
    " i'm about to ",
    " i am about to ",
    " i'm going to check ",
    " we are waiting for ",
    " we're waiting for ",
    " still waiting for ",
    " waiting for the build ",
    " waiting for ci ",
    " still failing ",
    " still running ",
    " is about to start ",
    " the user is now ",
    " the user is looking at ",
    " the user just ",
    " the user has just ",
    " the user opened ",
    " the user is viewing ",
    " the user is asking ",
    " user is asking ",
];

/// Things whose state changes by the hour.
const THINGS: &[&str] = &[
    "build",
    "builds",
    "test",
    "tests",
    "job",
    "jobs",
    "pipeline",
    "ci",
    "deploy",
    "deployment",
    "migration",
    "backup",
    "import",
    "download",
    "upload",
    "install",
    "installation",
    "compile",
    "compilation",
    "process",
    "script",
    "benchmark",
    "suite",
    "queue",
    "rollout",
];

/// The state that they are in.
const STATES: &[&str] = &[
    "running",
    "failing",
    "passing",
    "building",
    "green",
    "red",
    "stuck",
    "pending",
    "queued",
    "broken",
    "finished",
    "done",
    "compiling",
    "deploying",
    "blocked",
    "hanging",
    "complete",
    "completed",
    "starting",
    "underway",
    "installing",
    "down",
];

/// How they end.
const OUTCOMES: &[&str] = &[
    "pass",
    "passed",
    "passes",
    "succeeded",
    "failed",
    "completed",
    "finished",
    "compiles",
    "compiled",
    "started",
    "crashed",
];

/// Words of a rule or a reason: what they stand in is meant for longer than the moment.
const RULES: &[&str] = &[
    " because ",
    " since ",
    " due to ",
    " so that ",
    " unless ",
    " whenever ",
    " always ",
    " never ",
    " every ",
    " if ",
    " usually ",
    " must ",
    " should ",
    " when ",
    " on windows ",
    " on macos ",
    " on linux ",
];

/// How long a text is likely to hold.
pub(in crate::memory) fn durability(cues: &Cues) -> Durability {
    if names_end(cues) {
        Durability::Dated
    } else if is_passing(cues) {
        Durability::Passing
    } else {
        Durability::Lasting
    }
}

fn names_end(cues: &Cues) -> bool {
    let words: Vec<&str> = cues.each().collect();
    let has_end = cues.any(ENDS)
        && !(is_past(&words, words.len()) && cues.any(&[" until the ", " until we ", " for the next "]));
    if has_end {
        return true;
    }
    for (at, word) in words.iter().enumerate() {
        // `She worked there until 2019` tells of something that is over.
        if UNTIL.contains(word)
            && is_date(&words[at + 1..], *word == "by" || *word == "before")
            && !is_past(&words, at)
        {
            return true;
        }
    }
    false
}

/// Whether a verb of the past stands in the few words before `at`, in its sentence.
fn is_past(words: &[&str], at: usize) -> bool {
    words[..at].iter().rev().take(10).take_while(|word| **word != ".").any(|word| {
        matches!(
            *word,
            "was"
                | "were"
                | "had"
                | "did"
                | "went"
                | "stayed"
                | "lasted"
                | "took"
                | "ran"
                | "came"
                | "grew"
                | "rose"
                | "fell"
                | "made"
                | "met"
                | "kept"
                | "got"
                | "said"
                | "left"
                | "wrote"
                | "built"
        ) || (word.len() > 4
            && word.ends_with("ed")
            && !matches!(*word, "need" | "based" | "needed" | "allowed" | "supposed"))
    })
}

/// Whether the words begin with a day, a month, a year, a date, or the end of something.
///
/// Behind `by` and `before` a lone number or month may be anything else (`by May`, `by 3`), so that more is asked for.
fn is_date(words: &[&str], is_strict: bool) -> bool {
    let mut words =
        words.iter().copied().filter(|word| !matches!(*word, "the" | "this" | "on" | "of")).take(3);
    let (Some(first), second) = (words.next(), words.next().unwrap_or("")) else { return false };
    let is_number = |word: &str| {
        let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        !digits.is_empty() && digits.len() <= 2 && digits.bytes().all(|b| b.is_ascii_digit())
    };
    let is_year = |word: &str| is_year(word, &["20"]);
    let months = |word: &str| {
        MONTHS.iter().any(|month| *month == word || (word.len() == 3 && month.starts_with(word)))
    };
    if is_iso(first)
        || DAYS.contains(&first)
        || is_year(first)
        || matches!(first, "tomorrow" | "tonight" | "eod" | "eow" | "midnight" | "christmas" | "easter")
    {
        return true;
    }
    if first == "end" || first == "next" {
        return !second.is_empty()
            && (DAYS.contains(&second)
                || months(second)
                || is_year(second)
                || matches!(
                    second,
                    "week"
                        | "month"
                        | "year"
                        | "quarter"
                        | "sprint"
                        | "release"
                        | "day"
                        | "summer"
                        | "winter"
                        | "spring"
                        | "autumn"
                        | "q1"
                        | "q2"
                        | "q3"
                        | "q4"
                ));
    }
    if matches!(first, "q1" | "q2" | "q3" | "q4") {
        return true;
    }
    if months(first) && first != "may" {
        return !is_strict || is_number(second) || is_year(second) || second == ".";
    }
    if first == "may" {
        return is_number(second) || is_year(second);
    }
    is_number(first) && months(second)
}

/// Whether every sentence of the text holds for the moment only.
fn is_passing(cues: &Cues) -> bool {
    // Shorter ones (`Hold on.`) are nothing on their own.
    const SENTENCE: usize = 2;
    let mut passing = 0;
    for sentence in cues.plain().split(" . ") {
        if sentence.split_ascii_whitespace().count() >= SENTENCE {
            if !passes(&format!(" {} . ", sentence.trim())) {
                return false;
            }
            passing += 1;
        }
    }
    passing > 0
}

fn passes(sentence: &str) -> bool {
    let has = |cues: &[&str]| cues.iter().any(|cue| sentence.contains(cue));
    if has(RULES) {
        return false;
    }
    if has(MOMENTS) {
        return true;
    }
    // `The build is still running.`, but not `The job is running on port 8080`.
    let words: Vec<&str> = sentence.split_ascii_whitespace().collect();
    let ends = |at: usize| {
        matches!(words.get(at), None | Some(&("." | "," | "now" | "again" | "successfully" | "at")))
    };
    words.windows(2).enumerate().any(|(at, pair)| {
        // `All 42 tests pass.`, `Build succeeded.`
        if THINGS.contains(&pair[0]) && OUTCOMES.contains(&pair[1]) && ends(at + 2) {
            return true;
        }
        if !THINGS.contains(&pair[0]) || !matches!(pair[1], "is" | "are") {
            return false;
        }
        let rest = &words[at + 2..];
        let rest = if matches!(rest.first(), Some(&("now" | "still" | "currently" | "already" | "all"))) {
            &rest[1..]
        } else {
            rest
        };
        let is_state = rest.first().is_some_and(|state| STATES.contains(state));
        is_state
            && matches!(
                rest.get(1),
                None | Some(&("." | "," | "now" | "again" | "and" | "but" | "still" | "at"))
            )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(expected: Durability, texts: &[&str]) {
        for text in texts {
            assert_eq!(durability(&Cues::of(text)), expected, "{text}");
        }
    }

    #[test]
    fn an_end_is_named() {
        check(
            Durability::Dated,
            &[
                "The freeze lasts until Friday.",
                "Use the old endpoint for this sprint.",
                "The report is due by 2026-03-01.",
                "Anna covers support until the end of June.",
                "Migrate the tables before next month.",
                "For now the job runs by hand.",
                "The voucher is valid until 3 May.",
                "Invoices go to Petra through December.",
                "Send the slides by tomorrow.",
            ],
        );
    }

    #[test]
    fn a_moment_passes() {
        check(
            Durability::Passing,
            &[
                "The build is running.",
                "I'm now looking at the parser.",
                "The tests are still failing.",
                "CI is red again.",
                "The import is in progress.",
                "All 42 tests pass.",
                "Build succeeded.",
                "Deployment completed successfully at 10:32.",
                "The user is asking about invoices.",
                "Waiting for CI, the upload is pending.",
            ],
        );
    }

    #[test]
    fn the_rest_lasts() {
        check(
            Durability::Lasting,
            &[
                "The API listens on port 8080.",
                "She worked there until 2019.",
                "The server is running on port 8080.",
                "I'm looking at flats right now. Anna prefers the one in Porto.",
                "The build is broken on Windows because paths are too long.",
                "I currently live in Berlin.",
                "The tests pass only with two threads.",
                "The user is currently learning Portuguese.",
                "It was written by May Miller.",
                "Beat the eggs until stiff.",
                "A man is playing a guitar.",
                "Tests are run by Jenkins.",
                "Wash your hands before dinner.",
                "Le serveur écoute sur le port 8080.",
                "",
            ],
        );
    }
}
