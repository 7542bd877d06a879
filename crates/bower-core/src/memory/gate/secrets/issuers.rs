//! Finds keys and tokens by the formats that their issuers publish, in one pass over the text.
//! `issuers.tsv` has the formats and explains its columns; values that are meant to be public are found the same way.

use aho_corasick::AhoCorasick;
use std::ops::Range;
use std::sync::LazyLock;

use super::found::{Found, LONGEST, SecretKind};
use super::placeholder::is_placeholder;

const TABLE: &str = include_str!("issuers.tsv");

/// Characters of one class, or one text.
#[derive(Clone, Debug, PartialEq)]
enum Part {
    Text(&'static str),
    Row { class: char, least: usize, most: usize },
}

/// A published format.
#[derive(Debug, PartialEq)]
struct IssuerFormat {
    /// `None` marks a public value.
    kind: Option<SecretKind>,
    before: Option<Part>,
    after: Vec<Part>,
}

struct Formats {
    prefixes: AhoCorasick,
    /// The prefixes, each with the place of its format.
    of: Vec<(&'static str, usize)>,
    rows: Vec<IssuerFormat>,
}

static FORMATS: LazyLock<Formats> = LazyLock::new(|| {
    let (of, formats) = parse(TABLE).expect("issuers.tsv is as its head says");
    let prefixes =
        AhoCorasick::new(of.iter().map(|(prefix, _)| prefix)).expect("the prefixes fit an automaton");
    Formats { prefixes, of, rows: formats }
});

type Parsed = (Vec<(&'static str, usize)>, Vec<IssuerFormat>);

fn parse(table: &'static str) -> Option<Parsed> {
    let (mut of, mut formats) = (Vec::new(), Vec::new());
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let [label, before, prefixes, after, source] =
            line.split('\t').collect::<Vec<_>>().try_into().ok()?;
        if source.is_empty() {
            return None;
        }
        of.extend(prefixes.split(' ').map(|prefix| (prefix, formats.len())));
        let after: Option<Vec<Part>> = after.split(' ').map(part).collect();
        formats.push(IssuerFormat {
            kind: (label != "-").then_some(SecretKind(label)),
            before: if before.is_empty() { None } else { Some(part(before)?) },
            after: after?,
        });
    }
    Some((of, formats))
}

fn part(text: &'static str) -> Option<Part> {
    if let Some(text) = text.strip_prefix('=') {
        return Some(Part::Text(text));
    }
    let (class, count) = text.split_once(':')?;
    let (least, most) = count.split_once('-').unwrap_or((count, count));
    let most = if most == "*" { LONGEST } else { most.parse().ok()? };
    let class = class.parse().ok()?;
    has(class, b'0')?;
    Some(Part::Row { class, least: least.parse().ok()?, most })
}

/// Whether a class of the table has a byte; `None` for no class.
fn has(class: char, byte: u8) -> Option<bool> {
    let alnum = byte.is_ascii_alphanumeric();
    let or = |signs: &str| alnum || signs.as_bytes().contains(&byte);
    Some(match class {
        'd' => byte.is_ascii_digit(),
        'a' => byte.is_ascii_lowercase(),
        'u' => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
        'l' => byte.is_ascii_lowercase() || byte.is_ascii_digit(),
        'h' => byte.is_ascii_hexdigit(),
        'n' => alnum,
        'w' => or("_-"),
        't' => or("_-."),
        'b' => or("+/=_-"),
        'c' => or("./"),
        'e' => byte.is_ascii_digit() || matches!(byte, b':' | b'-'),
        's' => or("+/=_-%.~"),
        'v' => or("_-.~"),
        'x' => or("+/=_-!"),
        'z' => or("_-=+/"),
        'p' => or("_-/"),
        'q' => or("_-/@."),
        'g' => byte.is_ascii_graphic() && !b"\"'`<>()[]".contains(&byte),
        _ => return None,
    })
}

/// Adds the keys of all published formats to `found` and the public values to `public`.
pub(super) fn scan(text: &str, found: &mut Vec<Found>, public: &mut Vec<Range<usize>>) {
    for hit in FORMATS.prefixes.find_overlapping_iter(text) {
        let (prefix, format) = FORMATS.of[hit.pattern().as_usize()];
        let format = &FORMATS.rows[format];
        let Some(start) = start_of(text, hit.start(), prefix, format) else { continue };
        let Some(end) = end_of(text, hit.end(), &format.after) else { continue };
        let Some(kind) = format.kind else {
            public.push(start..end);
            continue;
        };
        let value = &text[hit.end()..end];
        if is_placeholder(value) || !is_varied(&text[start..end]) {
            continue;
        }
        // A prefix that assigns names the value and is none of it.
        let start = if prefix.ends_with(['=', '"']) { hit.end() } else { start };
        let end = start + text[start..end].trim_end_matches(['.', '-', '_']).len();
        found.push(Found { at: start..end, kind });
    }
}

/// Where a key begins whose prefix is at `at`; `None` inside of a longer word.
fn start_of(text: &str, at: usize, prefix: &str, format: &IssuerFormat) -> Option<usize> {
    let Some(Part::Row { class, least, most }) = format.before else {
        let is_inside = prefix.starts_with(|c: char| c.is_ascii_alphanumeric()) && !starts_word(text, at);
        return (!is_inside).then_some(at);
    };
    let row = text.as_bytes()[..at].iter().rev().take(most + 1);
    let length = row.take_while(|byte| has(class, **byte) == Some(true)).count();
    (least..=most).contains(&length).then(|| at - length)
}

/// Whether a key may begin here: not inside a longer word.
pub(super) fn starts_word(text: &str, at: usize) -> bool {
    !text[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}

/// Where a key ends whose prefix ends at `at`; `None` if its parts do not follow, or more of the last class does.
fn end_of(text: &str, mut at: usize, parts: &[Part]) -> Option<usize> {
    let bytes = text.as_bytes();
    for (nth, part) in parts.iter().enumerate() {
        match part {
            Part::Text(literal) => {
                at += bytes[at..].starts_with(literal.as_bytes()).then_some(literal.len())?;
            }
            Part::Row { class, least, most } => {
                let row = bytes[at..].iter().take(most + 1);
                let length = row.take_while(|byte| has(*class, **byte) == Some(true)).count();
                let is_last = nth + 1 == parts.len();
                if length < *least || (is_last && length > *most && *most < LONGEST) {
                    return None;
                }
                at += length.min(*most);
            }
        }
    }
    Some(at)
}

/// Whether a key is neither one letter repeated nor a row of plain words (`sk-proj-my-first-little-test-project`).
fn is_varied(value: &str) -> bool {
    let mut seen = [false; 128];
    for byte in value.bytes().filter(u8::is_ascii) {
        seen[usize::from(byte)] = true;
    }
    seen.iter().filter(|seen| **seen).count() >= 6
        && value.bytes().any(|b| b.is_ascii_digit() || b.is_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_whole() {
        let (of, formats) = parse(TABLE).unwrap();
        let kinds: std::collections::BTreeSet<_> = formats.iter().filter_map(|format| format.kind).collect();
        assert!(kinds.len() >= 60, "{} issuers", kinds.len());
        for (prefix, _) in &of {
            assert!(prefix.len() >= 2 && prefix.is_ascii(), "{prefix}");
        }
        for wrong in ["a\t\tb\tn:1", "a\t\tb\tn:x\tc", "a\t\tb\t?:1\tc", "a\t\tb\tn:1\t"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn parts_follow_each_other() {
        let parts = [part("d:2").unwrap(), part("=-").unwrap(), part("h:3-4").unwrap()];
        assert_eq!(end_of("12-abc.", 0, &parts), Some(6));
        assert_eq!(end_of("12-abcd", 0, &parts), Some(7));
        for text in ["12-abcde", "1-abc", "12abc", "12-ab", ""] {
            assert_eq!(end_of(text, 0, &parts), None, "{text}");
        }
        assert_eq!(end_of("12-abcé", 0, &parts), Some(6));
    }
}
