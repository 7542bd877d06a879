//! Golden tests of each admission rule: texts that it refuses, beside texts that it must accept.
//! All are invented; secrets are put together from pieces, so that no scanner of repositories takes them for real.

use proptest::prelude::*;

use super::*;

fn refused(text: &str) -> Option<Refusal> {
    judge(text, Gate::Normal, &Constants::default()).refused
}

#[track_caller]
fn check(expected: Refusal, refuse: &[&str], accept: &[&str]) {
    for text in refuse {
        assert_eq!(refused(text), Some(expected), "{text}");
    }
    for text in accept {
        assert_eq!(refused(text), None, "{text}");
    }
}

#[test]
fn words_are_those_of_json() {
    for refusal in Refusal::ALL {
        assert_eq!(serde_json::to_string(refusal).unwrap(), format!("\"{refusal}\""));
        let reason = refusal.reason();
        assert!(!reason.contains('\n') && !reason.ends_with('.') && reason.len() > 20, "{reason}");
    }
}

#[test]
fn echoes_are_known_already() {
    let returned = ["The billing API listens on port 8080.", "Anna prefers green tea."].map(Heard::of);
    let check = |text: &str, expected| {
        // No other rule knows it.
        assert_eq!(
            (refused(text), is_echo(text, &returned, &Constants::default())),
            (None, expected),
            "{text}"
        );
    };
    check("According to memory, the billing API listens on port 8080.", true);
    check("The billing API listens on port 8081.", false);
    check("Anna prefers black tea.", false);
}

#[test]
fn a_memory_has_a_length() {
    let text = |n: usize| "word ".repeat(n / 5);
    let most = Constants::default();
    let judge = |text: &str, gate| judge(text, gate, &most).refused;
    assert_eq!(judge(&text(most.most_chars), Gate::Normal), None);
    assert_eq!(judge(&text(most.most_chars + 5), Gate::Normal), Some(Refusal::TooLong));
    assert_eq!(judge(&text(most.most_chars_strict + 5), Gate::Strict), Some(Refusal::TooLong));
    assert_eq!(judge(&text(most.most_chars + 5), Gate::Off), None);
}

fn made(prefix: &str, length: usize) -> String {
    let letters = b"7Gk2pQ9xVb4LmT8wZc1RdN5sYh3FjK6aEuXo0WiBvMtCgHyPqSrD";
    prefix
        .chars()
        .chain((0..length).map(|at| char::from(letters[(at * 7 + length) % letters.len()])))
        .collect()
}

#[test]
fn a_text_that_is_a_secret_is_refused() {
    let token = made("ghp_", 36);
    let env = format!("GITHUB_TOKEN={token}\nDB_PASSWORD=hunter2\n");
    check(
        Refusal::Secret,
        &[&token, &env, "my password is hunter2"],
        &[&format!("The release job of the web repository signs in with {token}; rotate it in March.")],
    );
    // The refused text is safe to log.
    let verdict = judge(&env, Gate::Normal, &Constants::default());
    let safe = verdict.redacted.unwrap().text;
    assert!(!safe.contains("hunter2") && !safe.contains(&token[4..]), "{safe}");
    // Off means byte for byte.
    assert_eq!(judge(&env, Gate::Off, &Constants::default()).redacted, None);
}

proptest! {
    #[test]
    fn any_text_is_judged(text in "\\PC{0,200}", other in "\\PC{0,80}") {
        let verdict = judge(&text, Gate::Strict, &Constants::default());
        is_echo(&text, &[Heard::of(&other), Heard::of(&text)], &Constants::default());
        if let Some(redacted) = verdict.redacted {
            prop_assert!(!redacted.found.is_empty());
        }
    }

    /// Pieces that the rules look for, in any order and cut anywhere.
    #[test]
    fn pieces_of_rules_never_break_it(pieces in prop::collection::vec(prop::sample::select(vec![
        "```", "\n", "diff --git a", "@@ -1 @@", "commit 3f2a91c", "token", "password", "=", ":", " is ", "\"", "'", "`", "eyJ", ".eyJ", ".",
        "-----BEGIN ", "PRIVATE KEY-----", "-----END ", "sk-", "ghp_", "://", "@", "at ", "(", ")", "版", "é", "👍", "Authorization: Bearer ",
        "├── ", "├", "total 4", "drwxr-xr-x ", "  File \"", "\", line ", "10:00:01 ", " INFO ", "[", "]", "- ", "AKIA", "//", "/*", "*/",
        "\"\"\"", "You are a ", "agent", "##", "Let me check ", "\u{200d}", "i'm instructed", "my ", "role is to ", "session ", "ended ", "I ", "will ", "read ", "next ", "3 of 4 ", "pin ", "creds ", "a/b1", "--", " | 12 ++", "\t", "import ", "raise ", "İ", "ß", "。", "’",
    ]), 0..40)) {
        let text: String = pieces.concat();
        for gate in Gate::ALL {
            judge(&text, *gate, &Constants::default());
        }
        is_echo(&text, &[Heard::of(&text)], &Constants::default());
    }
}

#[test]
fn time_is_linear() {
    // Each would take minutes where a rule looks back or ahead without a limit.
    for piece in [
        "-----BEGIN PRIVATE KEY-----",
        "eyJa.",
        "a://",
        "token ",
        "glpat-a.",
        "'",
        "@@ -1 @@\n",
        "a=",
        "(((",
        "password is ",
        "。",
        "According to memory, ",
    ] {
        let text = piece.repeat(400_000 / piece.len());
        let constants = Constants { most_chars: usize::MAX, ..Constants::default() };
        judge(&text, Gate::Normal, &constants);
        is_echo(&text, &[Heard::of(&text)], &constants);
    }
}
