//! Tests of picking sentences from turns: which are picked, and which are not.

use super::rules::{CORRECTS, without};
use super::*;
use proptest::prelude::*;

#[track_caller]
fn check(voice: Voice, said: &str, expected: &[(Cue, &str)]) {
    let found = picks(said, voice);
    let found: Vec<(Cue, &str)> = found.iter().map(|pick| (pick.cue, pick.text.as_str())).collect();
    assert_eq!(found, expected, "{said}");
}

#[track_caller]
fn user(said: &str, expected: &[(Cue, &str)]) {
    check(Voice::User, said, expected);
}

#[track_caller]
fn assistant(said: &str, expected: &[(Cue, &str)]) {
    check(Voice::Assistant, said, expected);
}

#[test]
fn what_a_user_decides_and_rules() {
    user(
        "We decided to keep invoices in PostgreSQL.",
        &[(Cue::Decided, "We decided to keep invoices in PostgreSQL.")],
    );
    user(
        "Let's go with axum for the HTTP server. Then run the tests.",
        &[(Cue::Decided, "Let's go with axum for the HTTP server.")],
    );
    user("Never push to main directly.", &[(Cue::Ruled, "Never push to main directly.")]);
    user(
        "I prefer small commits with a reason in the body.",
        &[(Cue::Ruled, "I prefer small commits with a reason in the body.")],
    );
    user("Use pnpm instead of npm here.", &[(Cue::Ruled, "Use pnpm instead of npm here.")]);
    user(
        "This repo targets Rust 1.85, we don't use nightly.",
        &[(Cue::Ruled, "This repo targets Rust 1.85, we don't use nightly.")],
    );
}

#[test]
fn what_a_user_tells_corrects_and_states() {
    user(
        "Remember that the staging database listens on port 5433.",
        &[(Cue::Told, "The staging database listens on port 5433.")],
    );
    user(
        "FYI: deploys are frozen on Fridays after 3 pm.",
        &[(Cue::Told, "Deploys are frozen on Fridays after 3 pm.")],
    );
    user("No, the API port is 9090.", &[(Cue::Corrected, "The API port is 9090.")]);
    user(
        "That's wrong. The timeout is 30 s, not 10 s.",
        &[(Cue::Corrected, "The timeout is 30 s, not 10 s.")],
    );
    user("Actually, the timeout is 30 seconds.", &[(Cue::Corrected, "The timeout is 30 seconds.")]);
    user("The API port is 9090.", &[(Cue::Stated, "The API port is 9090.")]);
}

#[test]
fn people_who_chat_begin_with_small_letters() {
    user(
        "no, don't pin it. we never pin system libraries in this repo.",
        &[(Cue::Ruled, "we never pin system libraries in this repo.")],
    );
    user(
        "We use short forms, e.g. ms and approx. none else! ok.",
        &[(Cue::Ruled, "We use short forms, e.g. ms and approx. none else!")],
    );
    user(
        "This project is called Heron, not Crane.",
        &[(Cue::Stated, "This project is called Heron, not Crane.")],
    );
    user("my name is Dana and i work on billing", &[(Cue::Stated, "my name is Dana and i work on billing")]);
}

#[test]
fn what_a_user_wants_now_is_no_memory() {
    for said in [
        "Fix the login test and run everything again.",
        "Can you always show me the diff first?",
        "What is the API port?",
        "Maybe we should use Redis for that.",
        "I think the port is 9090.",
        "ok, thanks!",
        "Never mind, it works now.",
        "Don't touch the tests in this change.",
        "Please add a test for the parser.",
        "If the port is 9090, use TLS.",
        "Use the new helper in the parser.",
        "no tests needed for this one",
        "Remember to run the linter.",
        "It never worked.",
        "",
    ] {
        user(said, &[]);
    }
}

#[test]
fn what_an_agent_found_out() {
    assistant(
        "The root cause was that `SQLITE_BUSY` is returned when two writers meet.",
        &[(Cue::Found, "The root cause was that `SQLITE_BUSY` is returned when two writers meet.")],
    );
    assistant(
        "It turns out that the CI image has Node 18, and vite 8 requires Node 20.",
        &[(Cue::Found, "The CI image has Node 18, and vite 8 requires Node 20.")],
    );
    assistant(
        "I found that `cargo test` fails because TZ is unset in the container.",
        &[(Cue::Found, "`cargo test` fails because TZ is unset in the container.")],
    );
    for said in [
        "I'll look at src/main.rs and fix the problem.",
        "Let me check whether vite 8 requires Node 20.",
        "Done! All 42 tests pass.",
        "The function requires a bit of care.",
        "You must be logged in to GitHub first.",
        "This probably fails because TZ is unset.",
        "Would you like me to use Redis, which requires port 6379?",
        "We decided to keep invoices in PostgreSQL.",
    ] {
        assistant(said, &[]);
    }
}

#[test]
fn a_sentence_that_looks_back_brings_the_one_before() {
    user(
        "We chose Redis for the queue. It must be version 7.",
        &[(Cue::Decided, "We chose Redis for the queue. It must be version 7.")],
    );
    assistant(
        "The tests hang on macOS. That was caused by `kqueue` timers.",
        &[(Cue::Found, "The tests hang on macOS. That was caused by `kqueue` timers.")],
    );
    assistant("Hm. That was caused by `kqueue` timers.", &[]);
}

#[test]
fn what_a_host_put_in_is_not_what_somebody_said() {
    user("<system-reminder>We use tabs everywhere in this repo.</system-reminder>\nFix it.", &[]);
    user(
        "<bowerbird>\nThe API port is 9090.\n</bowerbird>\nThe API host is example.org.",
        &[(Cue::Stated, "The API host is example.org.")],
    );
    user(
        "<user_query>\nWe use tabs in this repo.\n</user_query>",
        &[(Cue::Ruled, "We use tabs in this repo.")],
    );
    user("```\nWe use tabs in this repo.\n```\n> We always use tabs.\n    never do that here", &[]);
    user("## Relevant Knowledge\n\n### Document 1: fact ab\n\nThe API port is 9090.\n", &[]);
    user("<bowerbird>\nThe API port is 9090.", &[]);
    user("<bowerbirds> are nice. The API port is 9090.", &[(Cue::Stated, "The API port is 9090.")]);
}

#[test]
fn lists_are_read_item_by_item() {
    user(
        "Rules:\n- Always sign your commits.\n- 2 reviewers per pull request\n1. Never use `unwrap` in core.",
        &[(Cue::Ruled, "Always sign your commits."), (Cue::Ruled, "Never use `unwrap` in core.")],
    );
    let many: Vec<String> = (0..20).map(|n| format!("- Never use port {n} here.")).collect();
    let many = many.join("\n");
    assert_eq!(picks(&many, Voice::User).len(), MOST_OF_USER);
}

#[test]
fn several_marks_end_one_sentence() {
    for text in [".? x", "Really?! We use pnpm from now on.", "Wait... what?. No"] {
        picks(text, Voice::User);
    }
    let found = picks("Really?! From now on we use pnpm, not npm.", Voice::User);
    assert_eq!(found[0].text, "From now on we use pnpm, not npm.");
}

#[test]
fn what_no_rule_knows_is_kept_by_what_is_seen_of_it() {
    user(
        "Our laundry is picked up on Mondays, the hotel has no machines of its own. Can you add that to the guest folder?",
        &[(Cue::Stated, "Our laundry is picked up on Mondays, the hotel has no machines of its own.")],
    );
    assistant(
        "I looked into the missing payments. The payments API returns 200 even when the card is declined. I'll add a test now.",
        &[(Cue::Found, "The payments API returns 200 even when the card is declined.")],
    );
}

#[test]
fn what_somebody_else_said_and_what_a_program_wrote_is_not_kept() {
    for said in [
        "The letter says: \"We never deliver on Sundays and always call first.\"",
        "Their mail was: \"We never deliver on Sundays. We always call first.\"",
        "2031-04-02T11:20:31Z WARN we never retry on this host, always fail",
        "[11:20:31] we never retry on this host, always fail",
    ] {
        user(said, &[]);
    }
}

proptest! {
    #[test]
    fn any_text_is_read(said in "\\PC{0,200}", voice in prop::bool::ANY) {
        let voice = if voice { Voice::User } else { Voice::Assistant };
        for pick in picks(&said, voice) {
            prop_assert!(!pick.text.trim().is_empty());
        }
    }

    #[test]
    fn leads_are_taken_off_any_text(lead in prop::sample::select(CORRECTS), rest in "[,. \\-’'İßa-zA-Z]{0,40}") {
        let (text, _) = without(&format!("{lead}{rest}"), CORRECTS);
        // Upper case may be longer than what it was made of.
        prop_assert!(text.chars().count() <= lead.chars().count() + rest.chars().count() + 2);
    }
}
