//! Rules of the memory room: its size, no list of words in its code, and few entries in tables that people wrote.

/// Lines of Rust in the room, tests aside.
pub const MOST_LINES: usize = 6_000;
/// Entries of its tables that people wrote. What a script fitted does not count.
pub const MOST_ENTRIES: usize = 1_500;
/// So many words in a row are a list.
const LIST: usize = 8;

/// Returns a file's text up to its tests.
fn code(text: &str) -> &str {
    text.find("#[cfg(test)]\nmod tests").map_or(text, |end| &text[..end])
}

/// Returns the number of lines of some files, tests aside.
pub fn lines<'a>(files: impl Iterator<Item = &'a str>) -> usize {
    files.map(|text| code(text).lines().count()).sum()
}

/// Returns the number of entries of a table: what `|` parts in the column that has most of them, on every line without `#`.
/// A table that a script wrote has none.
pub fn entries(table: &str) -> usize {
    if table.starts_with("# Written by tools/") {
        return 0;
    }
    let lines = table.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    lines.map(|line| line.split('\t').map(|column| column.split('|').count()).max().unwrap_or(0)).sum()
}

/// Returns the lists of words in a file's code: eight words or more in string literals that nothing but marks parts.
pub fn word_lists(path: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut run = 0;
    for (nth, line) in (1..).zip(code(text).lines()) {
        let line = line.trim();
        if line.starts_with("//") {
            continue;
        }
        for (at, part) in line.split('"').enumerate() {
            if at % 2 == 1 {
                let words: Vec<&str> = part.split('|').collect();
                let is_word = |word: &&str| {
                    word.chars().any(char::is_alphabetic)
                        && word.chars().all(|c| c.is_alphabetic() || matches!(c, ' ' | '-' | '\''))
                };
                run = if words.iter().all(is_word) { run + words.len() } else { 0 };
            } else if part.chars().any(char::is_alphanumeric) {
                run = 0;
            }
            if run >= LIST && at % 2 == 1 {
                run = 0;
                found.push(format!("{path}:{nth}: a list of words; put it into a table, or better learn it"));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_words_is_found_and_other_literals_are_none() {
        let list = "const A: &[&str] = &[\n    \"one\",\n    \"two\",\n    \"three\", \"four\",\n\"five\", \"six\", \"seven\", \"eight\"];";
        assert_eq!(word_lists("a.rs", list).len(), 1);
        assert_eq!(word_lists("a.rs", "\"a|b|c|d|e|f|g|h\"").len(), 1);
        assert_eq!(
            word_lists("a.rs", "matches!(x, \"a\" | \"b\" | \"c\" | \"d\" | \"e\" | \"f\" | \"g\" | \"h\")")
                .len(),
            1
        );
        let other = "match x {\n A => \"one\",\n B => \"two\",\n C => \"three\",\n D => \"four\",\n E => \"five\",\n F => \"six\",\n G => \"seven\",\n H => \"eight\" }";
        assert!(word_lists("a.rs", other).is_empty());
        assert!(word_lists("a.rs", &format!("#[cfg(test)]\nmod tests {{\n{list}")).is_empty());
    }

    #[test]
    fn entries_are_counted_in_tables_that_people_wrote() {
        assert_eq!(entries("# by hand\nkey\ten\ta|b|c\nDNI\tx\t1\n\n"), 4);
        assert_eq!(entries("# Written by tools/fit.py\na\t1\n"), 0);
        assert_eq!(lines(["a\nb\n#[cfg(test)]\nmod tests {\nc", "d"].into_iter()), 3);
    }
}
