//! Finds the words that name secrets, numbers of people and what stands around them, in many languages, in one pass.
//! `labels.tsv` and `ids.tsv` have the words and explain how they are written.

use aho_corasick::{AhoCorasick, MatchKind};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;
use unicode_normalization::UnicodeNormalization;

use super::found::SecretKind;

const LABELS: &str = include_str!("labels.tsv");
const IDS: &str = include_str!("ids.tsv");

/// What a word says of the value beside it; `labels.tsv` explains each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LabelClass {
    Password,
    Key,
    /// The secret half of an AWS pair, which has no form of its own.
    AwsSecret,
    Pin,
    Code,
    /// A number that is one of a lock's only beside a word for it.
    Number,
    Lock,
    Once,
    Recovery,
    Phrase,
    Pair,
    Tells,
    About,
    Plain,
    Command,
    /// A number of a person; its row of `ids.tsv`.
    Id(usize),
}

/// Where a word of the tables stands.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LabelHit {
    pub(super) at: Range<usize>,
    pub(super) class: LabelClass,
}

/// A kind of number that names a person.
#[derive(Debug, PartialEq)]
pub(super) struct PersonalNumber {
    pub(super) kind: SecretKind,
    /// Characters without the signs between them.
    pub(super) length: Range<usize>,
    pub(super) most_letters: usize,
}

/// A word as it is looked for: which ends may be longer.
#[derive(Clone, Copy)]
struct Entry {
    class: LabelClass,
    opens: bool,
    closes: bool,
    /// Written in capitals in the table, it is one in capitals alone (`SIN`).
    is_capital: bool,
}

struct Labels {
    words: AhoCorasick,
    /// What each pattern is: `zip` is a command, and says of a code that it is a place's.
    of: Vec<Vec<Entry>>,
    stand_ins: AhoCorasick,
    /// Names of JSON fields that hold a value, and those that name one.
    holders: Vec<&'static str>,
    namers: Vec<&'static str>,
    ids: Vec<PersonalNumber>,
}

static TABLES: LazyLock<Labels> =
    LazyLock::new(|| parse(LABELS, IDS).expect("the tables are as their heads say"));

fn rows(table: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    table.lines().filter(|line| !line.starts_with('#')).map(|line| line.split('\t').collect())
}

fn parse(labels: &'static str, ids: &'static str) -> Option<Labels> {
    let (mut patterns, mut of, mut stand_ins, mut numbers) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut holders, mut namers) = (Vec::new(), Vec::new());
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut add = |words: &'static str, class: LabelClass| {
        for word in words.split('|') {
            let bare = word.trim_matches('*');
            let entry = Entry {
                class,
                opens: word.starts_with('*'),
                closes: word.ends_with('*'),
                is_capital: bare.bytes().all(|b| b.is_ascii_uppercase()),
            };
            for pattern in spellings(bare) {
                let at = *places.entry(pattern.clone()).or_insert(patterns.len());
                if at == patterns.len() {
                    patterns.push(pattern);
                    of.push(Vec::new());
                }
                of[at].push(entry);
            }
        }
    };
    for row in rows(labels) {
        let [class, _, words] = row.try_into().ok()?;
        match class {
            "stand-in" => stand_ins.extend(words.split('|').flat_map(spellings)),
            "holder" => holders.extend(words.split('|')),
            "namer" => namers.extend(words.split('|')),
            _ => add(words, class_of(class)?),
        }
    }
    for row in rows(ids) {
        let [kind, words, length, letters, _] = row.try_into().ok()?;
        add(words, LabelClass::Id(numbers.len()));
        let (least, most) = length.split_once('-')?;
        numbers.push(PersonalNumber {
            kind: SecretKind(kind),
            length: least.parse().ok()?..most.parse::<usize>().ok()? + 1,
            most_letters: letters.parse().ok()?,
        });
    }
    let automaton = |kind, patterns: Vec<String>| {
        AhoCorasick::builder().match_kind(kind).ascii_case_insensitive(true).build(patterns).ok()
    };
    let words = automaton(MatchKind::LeftmostLongest, patterns)?;
    Some(Labels {
        words,
        of,
        stand_ins: automaton(MatchKind::Standard, stand_ins)?,
        holders,
        namers,
        ids: numbers,
    })
}

fn class_of(name: &str) -> Option<LabelClass> {
    Some(match name {
        "password" => LabelClass::Password,
        "key" => LabelClass::Key,
        "aws key" => LabelClass::AwsSecret,
        "pin" => LabelClass::Pin,
        "code" => LabelClass::Code,
        "number" => LabelClass::Number,
        "lock" => LabelClass::Lock,
        "once" => LabelClass::Once,
        "recovery" => LabelClass::Recovery,
        "phrase" => LabelClass::Phrase,
        "pair" => LabelClass::Pair,
        "tells" => LabelClass::Tells,
        "about" => LabelClass::About,
        "plain" => LabelClass::Plain,
        "command" => LabelClass::Command,
        _ => return None,
    })
}

/// How a word may be written: its parts joined in four ways, with and without marks on its letters, in three cases.
fn spellings(word: &str) -> Vec<String> {
    const SHORT: usize = 4;
    let mut all: Vec<String> = if word.contains(' ') {
        [" ", "", "-", "_"].map(|joint| word.replace(' ', joint)).into()
    } else {
        vec![word.to_owned()]
    };
    if !word.is_ascii() {
        for word in all.clone() {
            // Short words without their marks are other words: `è` and `e`.
            if word.chars().count() >= SHORT {
                all.push(word.nfd().filter(|c| !('\u{300}'..'\u{370}').contains(c)).map(unbarred).collect());
            }
            let mut letters = word.chars();
            all.extend(letters.next().map(|first| first.to_uppercase().chain(letters).collect()));
            all.push(word.to_uppercase());
        }
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// The letter that is typed for one whose bar is no mark of its own.
const fn unbarred(c: char) -> char {
    match c {
        'ł' => 'l',
        'ı' => 'i',
        'ø' => 'o',
        c => c,
    }
}

/// Whether a character is of a script that writes words without spaces, or joins endings to them freely.
pub(super) const fn is_joining(c: char) -> bool {
    matches!(c, '\u{590}'..='\u{6ff}' | '\u{900}'..='\u{97f}' | '\u{e00}'..='\u{e7f}') || is_wide(c)
}

/// Whether a character is of a script of Eastern Asia.
pub(super) const fn is_wide(c: char) -> bool {
    matches!(c, '\u{1100}'..='\u{11ff}' | '\u{2e80}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ffef}')
}

/// The words of the tables that stand in a text, in its order.
pub(super) fn hits(text: &str) -> Vec<LabelHit> {
    let words = TABLES.words.find_iter(text);
    words
        .flat_map(|hit| {
            TABLES.of[hit.pattern().as_usize()]
                .iter()
                .filter_map(move |entry| hit_of(text, hit.span().range(), *entry))
        })
        .collect()
}

fn hit_of(text: &str, at: Range<usize>, entry: Entry) -> Option<LabelHit> {
    // `Passwortmanager` is no password and `tokenization` no token, but `Haustürcode` is a code of a door.
    const MOST_ENDING: usize = 4;
    const MOST_COMPOUND: usize = 16;
    let word = &text[at.clone()];
    if word.chars().all(is_joining) {
        return Some(LabelHit { at, class: entry.class });
    }
    let before = text[..at.start].chars().next_back();
    let begins = before.is_none_or(|c| !c.is_alphanumeric() || is_joining(c));
    let is_case = !entry.is_capital || word.bytes().all(|b| b.is_ascii_uppercase());
    // `1Password` is a name.
    let opens = entry.opens && !before.is_some_and(|c| c.is_ascii_digit());
    if !(begins || opens) || !is_case {
        return None;
    }
    if entry.closes && matches!(entry.class, LabelClass::Lock | LabelClass::Recovery | LabelClass::Once) {
        return Some(LabelHit { at, class: entry.class });
    }
    let most = if !entry.closes {
        0
    } else if matches!(entry.class, LabelClass::Id(_)) {
        MOST_COMPOUND
    } else {
        MOST_ENDING
    };
    let letters = text[at.end..].chars().take_while(|c| c.is_alphabetic() && !is_wide(*c)).take(most);
    let end = at.end + letters.map(char::len_utf8).sum::<usize>();
    // `userPassword1` and `passwordHash` go on; a new capital begins another word.
    let goes_on = text[end..].chars().next().is_some_and(|c| c.is_alphanumeric() && !is_wide(c));
    (!goes_on).then_some(LabelHit { at: at.start..end, class: entry.class })
}

/// The words of examples in a value: `your`, `changeme`.
pub(super) fn stand_ins(value: &str) -> impl Iterator<Item = Range<usize>> {
    TABLES.stand_ins.find_overlapping_iter(value).map(|hit| hit.span().range())
}

/// Whether a name of a JSON field says nothing of its value (`value`, `data`).
pub(in super::super) fn is_holder(name: &str) -> bool {
    TABLES.holders.iter().any(|holder| name.eq_ignore_ascii_case(holder))
}

/// Whether the value of a JSON field names its neighbour (`name`, `key`).
pub(in super::super) fn is_namer(name: &str) -> bool {
    TABLES.namers.contains(&name)
}

/// Whether a value is nothing but a word for a secret: `https://user:password@host`.
pub(super) fn is_label(value: &str) -> bool {
    hits(value).iter().any(|hit| {
        hit.at == (0..value.len())
            && matches!(hit.class, LabelClass::Password | LabelClass::Key | LabelClass::Pin)
    })
}

/// A row of the table of personal numbers.
pub(super) fn personal_number(row: usize) -> &'static PersonalNumber {
    &TABLES.ids[row]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, class: LabelClass, expected: &[&str]) {
        let found: Vec<&str> =
            hits(text).into_iter().filter(|hit| hit.class == class).map(|hit| &text[hit.at]).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn words_are_found_with_their_endings() {
        check("DB_PASSWORD=x", LabelClass::Password, &["PASSWORD"]);
        check("Das WLAN-Passwort und der Passwortmanager", LabelClass::Password, &["Passwort"]);
        check("пароля, HASŁO, haslo, ŞIFRE", LabelClass::Password, &["пароля", "HASŁO", "haslo", "ŞIFRE"]);
        check("WiFiのパスワードは", LabelClass::Password, &["パスワード"]);
        check("Haustürcode", LabelClass::Lock, &["tür"]);
        check("apiKey api-key API KEY monkeys", LabelClass::Key, &["Key", "key", "KEY"]);
        check("this island was to", LabelClass::Tells, &["was", "to"]);
    }

    #[test]
    fn broken_tables_are_refused() {
        let id = "a\tb\t1-2\t0\tsource";
        assert!(parse("password\ten\tx", id).is_some());
        assert!(parse("other\ten\tx", id).is_none() && parse("password\tx", id).is_none());
        assert!(parse("password\ten\tx", "a\tb\t1\t0\tsource").is_none());
    }
}
