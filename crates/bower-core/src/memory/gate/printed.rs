//! Finds texts that a program printed, by marks that are certain in any language: diffs, stack traces and encoded data.

use super::constants::Constants;
use super::refusal::Refusal;
use crate::memory::analysis::is_unspaced;

/// A line of so many characters without a space is encoded data.
const ENCODED_CHARS: usize = 60;

/// Returns why a text is no memory where most of its lines were printed; `None` if somebody says something about them.
pub(super) fn printed(text: &str, constants: &Constants) -> Option<Refusal> {
    let lines = lines(text);
    let count = |kind| lines.iter().filter(|(_, found)| *found == Some(kind)).count();
    let kinds = [Refusal::Diff, Refusal::StackTrace, Refusal::Encoded];
    let (most, kind) = kinds.map(|kind| (count(kind), kind)).into_iter().max_by_key(|(count, _)| *count)?;
    let says = lines.iter().any(|(line, found)| found.is_none() && says(line, constants));
    let is_refused = most > 0 && (!says || most >= constants.most_quoted_lines);
    is_refused.then_some(kind)
}

/// Returns the lines that are not empty and no fence, each with what printed it.
fn lines(text: &str) -> Vec<(&str, Option<Refusal>)> {
    let mut lines: Vec<(&str, Option<Refusal>)> = Vec::new();
    // A fence or an empty line parts what a program printed from what somebody says about it.
    let mut parts: Vec<usize> = Vec::new();
    for line in text.lines() {
        if line.trim().is_empty() || line.trim_start().starts_with("```") {
            parts.push(lines.len());
        } else {
            lines.push((line, of_form(line)));
        }
    }
    hunks(&mut lines);
    frames(&mut lines, &parts);
    lines
}

/// Returns what a line is by its own form.
fn of_form(line: &str) -> Option<Refusal> {
    let body = line.trim();
    if is_hunk(body) || body.starts_with("diff --git ") {
        Some(Refusal::Diff)
    } else if is_frame(line) {
        Some(Refusal::StackTrace)
    } else if is_encoded(body) {
        Some(Refusal::Encoded)
    } else {
        None
    }
}

/// `@@ -1,3 +1,4 @@`, the head of a hunk in the unified format of diff.
fn is_hunk(body: &str) -> bool {
    let Some((ranges, _)) = body.strip_prefix("@@ -").and_then(|rest| rest.split_once(" @@")) else {
        return false;
    };
    ranges.bytes().all(|b| b.is_ascii_digit() || b" ,+".contains(&b))
}

/// Marks the lines around the heads of hunks: the names of the files before, and the changed lines after.
fn hunks(lines: &mut [(&str, Option<Refusal>)]) {
    let mut is_inside = false;
    for at in 0..lines.len() {
        let (line, kind) = lines[at];
        let is_name = ["--- ", "+++ ", "index "].iter().any(|head| line.starts_with(head));
        let leads_in =
            is_name && lines[at + 1..].iter().take(2).any(|(_, kind)| *kind == Some(Refusal::Diff));
        let goes_on = is_inside && line.starts_with(['+', '-', ' ', '\\']);
        if kind.is_none() && (leads_in || goes_on || (is_inside && is_name)) {
            lines[at].1 = Some(Refusal::Diff);
        }
        is_inside = lines[at].1 == Some(Refusal::Diff);
    }
}

/// A frame of a stack: `File "app.py", line 12`, `at getUser (/srv/users.js:14:22)`, `at Main.main(Main.java:9)`,
/// `/srv/main.go:14 +0x1d`, `from app.rb:3:in 'load'`, `at src/main.rs:4:10`.
fn is_frame(line: &str) -> bool {
    let body = line.trim();
    let is_indented = line.starts_with([' ', '\t']);
    let is_python = body.starts_with("File \"") && body.contains("\", line ");
    let is_called =
        (body.starts_with("at ") || body.contains(" at ") && body.ends_with(':')) && has_place(body);
    let is_placed = is_indented && has_place(body.split([' ', '\t']).next().unwrap_or_default());
    let is_ruby = body.starts_with("from ") && body.contains(":in ") && has_place(body);
    let is_left_out = is_indented && body.starts_with("... ") && body.contains(|c: char| c.is_ascii_digit());
    is_python || is_called || is_placed || is_ruby || is_left_out
}

/// Whether a text names a line of a file: a name with a point, a colon and digits.
fn has_place(text: &str) -> bool {
    text.match_indices(':').any(|(at, _)| {
        let name = text[..at].rsplit([' ', '(', '/', '\\']).next().unwrap_or_default();
        let is_file = name.rsplit_once('.').is_some_and(|(stem, end)| {
            !stem.is_empty() && (1..=5).contains(&end.len()) && end.bytes().all(|b| b.is_ascii_alphabetic())
        });
        is_file && text[at + 1..].starts_with(|c: char| c.is_ascii_digit())
    })
}

/// Marks the lines that belong to frames: those between two of them, the message before the first, and the one after the last.
fn frames(lines: &mut [(&str, Option<Refusal>)], parts: &[usize]) {
    let places: Vec<usize> =
        (0..lines.len()).filter(|&at| lines[at].1 == Some(Refusal::StackTrace)).collect();
    let is_parted = |one: usize, other: usize| {
        let next = parts.partition_point(|part| *part <= one.min(other));
        parts.get(next).is_some_and(|part| *part <= one.max(other))
    };
    for &at in &places {
        for other in at.saturating_sub(1)..(at + 3).min(lines.len()) {
            if !is_parted(at, other) {
                lines[other].1.get_or_insert(Refusal::StackTrace);
            }
        }
    }
}

/// A line of base64, of hexadecimal digits, or of escapes.
fn is_encoded(body: &str) -> bool {
    let is_digit = |b: u8| b.is_ascii_alphanumeric() || b"+/=_-".contains(&b);
    body.len() >= ENCODED_CHARS
        && body.bytes().all(is_digit)
        && body.bytes().any(|b| b.is_ascii_digit())
        && !body.contains("://")
        && body.matches(['-', '_', '/']).count() * 8 < body.len()
}

/// Whether a line of prose says something: a few words that do not only announce what follows.
fn says(line: &str, constants: &Constants) -> bool {
    let words = line.split_whitespace().filter(|word| word.chars().any(char::is_alphabetic)).count();
    let unspaced = line.chars().filter(|c| is_unspaced(*c)).count();
    words + unspaced / 2 >= constants.least_saying_words && !line.starts_with('#')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> Option<Refusal> {
        printed(text, &Constants::default())
    }

    fn check(expected: Refusal, refuse: &[&str], accept: &[&str]) {
        for text in refuse {
            assert_eq!(refused(text), Some(expected), "{text}");
        }
        for text in accept {
            assert_eq!(refused(text), None, "{text}");
        }
    }

    #[test]
    fn diffs_are_in_git() {
        check(
            Refusal::Diff,
            &[
                "diff --git a/src/main.rs b/src/main.rs\nindex 3f2a91c..07be45d 100644\n--- a/src/main.rs\n+++ b/src/main.rs\n\
                 @@ -1,3 +1,3 @@\n fn main() {\n-    run(8080);\n+    run(9090);\n }",
                "@@ -10,2 +10,2 @@ fn port() {\n-let port = 8080;\n+let port = 9090;",
                "--- old.yml\n+++ new.yml\n@@ -1 +1 @@\n-port: 80\n+port: 81",
            ],
            &[
                "The port moved to 9090 because 8080 is taken by the proxy:\n```diff\n-port: 8080\n+port: 9090\n```",
                "- tabs, not spaces\n- two reviewers\n+ tests for each change",
                "Review diffs with `git diff --word-diff` when prose changes.",
                "--- \nA rule above a note is no diff.",
            ],
        );
    }

    #[test]
    fn a_sentence_carries_a_screen_of_lines() {
        let lines = |n: usize| {
            format!("The fix for the crash in the parser was this.\n@@ -1 +1 @@\n{}", "+x\n".repeat(n))
        };
        let most = Constants::default().most_quoted_lines;
        assert_eq!(refused(&lines(most - 2)), None);
        assert_eq!(refused(&lines(most)), Some(Refusal::Diff));
    }

    #[test]
    fn traces_say_nothing_alone() {
        check(
            Refusal::StackTrace,
            &[
                "Traceback (most recent call last):\n  File \"app.py\", line 12, in <module>\n    main()\nValueError: invalid literal for int() with base 10: 'abc'",
                "thread 'main' panicked at src/main.rs:4:10:\nindex out of bounds: the len is 3\n   0: rust_begin_unwind\n             at /rustc/abc/library/std/src/panicking.rs:652:5\n   1: app::main\n             at src/main.rs:4:10",
                "Exception in thread \"main\" java.lang.NullPointerException: name is null\n\tat com.acme.Users.find(Users.java:31)\n\tat com.acme.Main.main(Main.java:9)\n\t... 12 more",
                "TypeError: Cannot read properties of undefined (reading 'id')\n    at getUser (/srv/app/users.js:14:22)\n    at async handler (/srv/app/index.js:9:3)",
                "main.load(0x0)\n\t/srv/app/main.go:14 +0x1d\nmain.main()\n\t/srv/app/main.go:9 +0x25",
            ],
            &[
                "Login fails with `TypeError: user is undefined at auth.js:14` when the cookie is missing; clear it.",
                "The ValueError in parse_port comes from an empty PORT; give it a default.",
                "The import crashes when the file is empty, so check its size first.\n```\nTraceback (most recent call last):\n  File \"t.py\", line 1, in f\nKeyError: 'id'\n```",
                "We meet at noon (12:00) in the large room.",
            ],
        );
    }

    #[test]
    fn encoded_data_is_no_memory() {
        let base64 = "iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4AA0";
        assert_eq!(refused(base64), Some(Refusal::Encoded));
        assert_eq!(refused(&format!("The logo as a data URL is this one\n{base64}")), None);
        assert_eq!(
            refused("https://example.org/a/very/long/path/that/goes/on/and/on/and/on/until/it/ends/9"),
            None
        );
        assert_eq!(
            refused("a-title-that-somebody-wrote-with-hyphens-between-all-of-its-words-in-2024"),
            None
        );
    }
}
