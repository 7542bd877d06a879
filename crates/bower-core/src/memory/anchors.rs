//! Finds the names of files, symbols and commits in a text, by their form alone.
//! Whether such a name is anything is for the reader of the project's files to say.

/// Most names of a text. A longer list is a listing, of which no memory has that many anchors.
const MOST_NAMES: usize = 64;
/// Longest name in bytes; longer runs are data.
const LONGEST_NAME: usize = 512;
/// Digits of a commit: git's shortest and longest (SHA-1).
const COMMIT_DIGITS: std::ops::RangeInclusive<usize> = 7..=40;
/// Longest extension of a file: `properties`.
const LONGEST_EXTENSION: usize = 10;

/// A name in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CodeName {
    /// A file or folder: `src/a/b.rs`, `b.rs:120`.
    File {
        /// The path as it is written, with `/` between its parts.
        path: String,
        /// First and last line, from 1, if it names lines.
        lines: Option<(u32, u32)>,
    },
    /// A symbol: `Foo::bar` is `["Foo", "bar"]`.
    Symbol {
        /// Its parts, the innermost last.
        parts: Vec<String>,
        /// Whether no prose contains it. Other words stand in backticks, and may be anything: `true`, `text`.
        is_distinct: bool,
    },
    /// The first digits of a commit.
    Commit(String),
}

/// Returns the names in a text, each once, in the order of their first appearance.
///
/// A name may be more than one of these: `a.b` is a file or a symbol. Then both are returned, the file first.
pub fn code_names(text: &str) -> Vec<CodeName> {
    let mut found = Vec::new();
    let mut spans = text.split('`').peekable();
    let mut in_code = false;
    while let Some(span) = spans.next() {
        // The last backtick of an odd number opens nothing: it stands for an apostrophe.
        let is_code = in_code && spans.peek().is_some();
        for run in span.split(|c: char| !is_part(c)).filter(|run| !run.is_empty()) {
            if run.len() <= LONGEST_NAME {
                of_run(run, is_code, is_called(span, run), &mut found);
            }
            if found.len() >= MOST_NAMES {
                return found;
            }
        }
        in_code = !in_code;
    }
    found
}

/// Whether a character may be a part of a name.
fn is_part(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '\\' | ':' | '#' | '$' | '@' | '+' | '~')
}

/// Whether `(` follows a run, which is a part of the text. In prose a bracket stands after a space.
fn is_called(text: &str, run: &str) -> bool {
    let end = run.as_ptr() as usize - text.as_ptr() as usize + run.len();
    text[end..].starts_with('(')
}

/// Adds the names that a run of characters may be.
fn of_run(run: &str, is_code: bool, is_called: bool, found: &mut Vec<CodeName>) {
    let run =
        run.trim_matches(|c: char| matches!(c, ':' | '-' | '#' | '@' | '$' | '+')).trim_end_matches('.');
    let mut add = |name: CodeName| {
        if !found.contains(&name) {
            found.push(name);
        }
    };
    if is_commit(run) {
        add(CodeName::Commit(run.to_owned()));
        return;
    }
    if let Some((path, lines)) = file(run) {
        add(CodeName::File { path, lines });
    }
    if let Some((parts, has_form)) = symbol(run)
        && (is_code || is_called || has_form)
    {
        let is_qualified = is_code && parts.len() > 1;
        add(CodeName::Symbol { parts, is_distinct: is_called || has_form || is_qualified });
    }
}

/// Whether a run is the digits of a commit. A number alone is a number.
fn is_commit(run: &str) -> bool {
    COMMIT_DIGITS.contains(&run.len())
        && run.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        && run.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// Returns the path and lines of a run that looks like a file: with a separator or an extension, and not an address.
fn file(run: &str) -> Option<(String, Option<(u32, u32)>)> {
    if run.contains("://") || run.contains('@') {
        return None;
    }
    let (path, lines) = without_lines(run);
    let path = path.replace('\\', "/");
    let path = path.strip_prefix("./").unwrap_or(&path).trim_end_matches(['.', ':']);
    let last = path.trim_end_matches('/').rsplit('/').next()?;
    let has_extension = last.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty()
            && extension.len() <= LONGEST_EXTENSION
            && extension.starts_with(|c: char| c.is_ascii_alphabetic())
            && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
    });
    let is_path = !last.is_empty() && !path.contains(':') && (path.contains('/') || has_extension);
    is_path.then(|| (path.trim_end_matches('/').to_owned(), lines))
}

/// Splits the lines off a path: `b.rs:120`, `b.rs:120-130`, `b.rs:120:5`, `b.rs#L120-L130`.
fn without_lines(run: &str) -> (&str, Option<(u32, u32)>) {
    let number = |text: &str| {
        let digits = text.trim_start_matches('L');
        digits.parse::<u32>().ok().filter(|line| *line > 0)
    };
    let Some((path, place)) = run.split_once("#L").or_else(|| run.split_once(':')) else {
        return (run, None);
    };
    // The column, if there is one, says nothing about the lines.
    let place = place.split(':').next().unwrap_or(place);
    let lines = match place.split_once('-') {
        Some((first, last)) => number(first).zip(number(last)),
        None => number(place).map(|line| (line, line)),
    };
    match lines.filter(|(first, last)| first <= last) {
        Some(lines) => (path, Some(lines)),
        None => (run, None),
    }
}

/// Returns the parts of a run that may be a symbol, and whether it has a form that no prose has.
fn symbol(run: &str) -> Option<(Vec<String>, bool)> {
    let parts: Vec<&str> = run.split("::").flat_map(|part| part.split(['.', '#'])).collect();
    let (last, first) = (parts.last()?, parts.first()?);
    let has_form = run.contains("::") || has_code_form(last) || (parts.len() > 1 && has_code_form(first));
    (last.len() > 1 && parts.iter().all(|part| is_identifier(part)))
        .then(|| (parts.iter().map(|part| (*part).to_owned()).collect(), has_form))
}

fn is_identifier(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// Whether an identifier has the form of code: `snake_case`, `CamelCase` or `camelCase`.
fn has_code_form(text: &str) -> bool {
    let is_snake = text.trim_matches('_').contains('_');
    let humps = text.chars().zip(text.chars().skip(1));
    is_snake || humps.filter(|(before, c)| before.is_lowercase() && c.is_uppercase()).count() > 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn path(path: &str, lines: Option<(u32, u32)>) -> CodeName {
        CodeName::File { path: path.into(), lines }
    }

    fn name(parts: &str) -> CodeName {
        CodeName::Symbol { parts: parts.split(' ').map(str::to_owned).collect(), is_distinct: true }
    }

    fn word(part: &str) -> CodeName {
        CodeName::Symbol { parts: vec![part.to_owned()], is_distinct: false }
    }

    #[track_caller]
    fn check(text: &str, expected: &[CodeName]) {
        assert_eq!(code_names(text), expected, "{text}");
    }

    #[test]
    fn files_are_known_by_their_form() {
        check("The rule is in src/a/b.rs.", &[path("src/a/b.rs", None)]);
        check(
            "See `b.rs:120`, then ./c/d.py:3-9.",
            &[path("b.rs", Some((120, 120))), path("c/d.py", Some((3, 9)))],
        );
        check("(docs/x.md#L4-L6)", &[path("docs/x.md", Some((4, 6)))]);
        check("src/a.rs:12:5: an error", &[path("src/a.rs", Some((12, 12)))]);
        check("crates\\core\\main.rs", &[path("crates/core/main.rs", None)]);
        check("tools are in crates/core/", &[path("crates/core", None)]);
        check("version 1.2.3, at 10:30, costs 3.5", &[]);
        check("https://example.com/a/b.html and ann@example.com", &[]);
    }

    #[test]
    fn symbols_are_known_by_their_form() {
        check("Parser::parse fails", &[name("Parser parse")]);
        check("call flush() before", &[name("flush")]);
        check("`retries` is 3", &[word("retries")]);
        check("max_len and HitCount and maxLen", &[name("max_len"), name("HitCount"), name("maxLen")]);
        check("Use `fn parse(text: &str)`.", &[word("fn"), name("parse"), word("text"), word("str")]);
        check("a plain sentence: nothing (at all) in it", &[]);
        check("Its name isn`t code", &[]);
        check("HTTP and JSON, Ann Miller, the A-team", &[]);
        check("`Shelf.putAll` stores", &[path("Shelf.putAll", None), name("Shelf putAll")]);
    }

    #[test]
    fn commits_are_hex_digits_with_a_letter() {
        check("since 1a2b3c4d the", &[CodeName::Commit("1a2b3c4d".into())]);
        check("order 12345678, beef, abcdefgh", &[]);
    }

    proptest! {
        #[test]
        fn wild_text_has_few_names(text in "\\PC{0,300}") {
            prop_assert!(code_names(&text).len() <= MOST_NAMES + 1);
        }
    }
}
