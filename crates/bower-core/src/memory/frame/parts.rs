//! Splits a sentence into its parts: names, values by kind, and words.
//! Values have one form, so that 60 s is a minute.

use super::super::claims::tokens::{Kind, Token};
use super::super::claims::{dates, numbers, words as claimed};
use super::super::slot::words as known;

/// What a part is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A name: capitals in the middle of a sentence, or two in a row.
    Name,
    /// A word with a capital at the head of the sentence: a name or none.
    Opener,
    /// What gives a value.
    Value(Sort),
    /// A word that says something of the attribute.
    Word,
    /// A word of grammar: it makes a sentence and says nothing.
    Grammar,
    /// A word that says nothing of the attribute, or only that it changed; and marks.
    Idle,
}

/// The kind of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::memory) enum Sort {
    /// A quantity, by what its unit counts, and what stands for it.
    Number(String, &'static str),
    /// A time, by its kind.
    When(String),
    /// `v1.2.3`.
    Version,
    /// One of a closed list of words: `level`, `state`.
    State(&'static str),
    /// Where something is: `url`, `path`, `room`, `mail`, `address`.
    Place(&'static str),
    /// Something in quotes: a command, a title.
    Quoted,
    /// An identifier: the name of a thing as often as a value.
    Code,
    /// A name.
    Name,
    /// A name with a number: a product in a version.
    Product,
    /// Plain words.
    Plain,
}

impl Sort {
    /// Whether a thing has one of them for each attribute.
    pub fn is_amount(&self) -> bool {
        matches!(self, Self::Number(..) | Self::When(_) | Self::Version | Self::State(_))
    }

    /// Whether it names something.
    pub(super) fn is_nominal(&self) -> bool {
        matches!(self, Self::Name | Self::Product | Self::Code | Self::Quoted)
    }

    /// What stands for it where the value is not to count.
    pub(super) fn mask(&self) -> &'static str {
        match self {
            Self::Number(_, mask) => mask,
            Self::When(kind) => match kind.as_str() {
                "date" => "some date",
                "time" => "some time",
                "frequency" => "every day",
                _ => "some day",
            },
            Self::Version => "some version",
            Self::Place(kind) => match *kind {
                "url" => "some URL",
                "path" => "some file",
                "room" => "some channel",
                "mail" => "some mail address",
                _ => "some address",
            },
            Self::State("level") => "some level",
            Self::State(_) => "in some state",
            Self::Quoted | Self::Plain => "some words",
            Self::Code | Self::Name | Self::Product => "some name",
        }
    }
}

/// A part of a sentence.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Part {
    /// As it is written.
    pub text: String,
    /// Its words in lower case, a space around each.
    pub flat: String,
    /// Its one form.
    pub normal: String,
    pub role: Role,
    /// Whether the sentence says that it was so before.
    pub is_former: bool,
}

impl Part {
    pub fn is_value(&self) -> bool {
        matches!(self.role, Role::Value(_))
    }

    /// Whether it is written as things are: `owl-mailer` and `PAY-12`, where `GitLab` may be a value, and "3-clause" is of the name
    /// before it.
    pub fn is_thing(&self) -> bool {
        self.is_value()
            && self.text.starts_with(char::is_alphabetic)
            && !self.text.chars().all(char::is_alphabetic)
    }

    /// Whether it is written as a name, or as one may be at the head of a sentence.
    pub fn may_be_name(&self) -> bool {
        matches!(self.role, Role::Name | Role::Opener)
    }
}

/// What a sentence says that something was before.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Former {
    /// As [`flat`] has it.
    pub flat: String,
    /// In its one form, where it is one value.
    pub normal: Option<String>,
}

impl Former {
    /// Whether a part is it, or of it.
    pub fn has(&self, part: &Part) -> bool {
        self.flat.contains(&part.flat)
            || part.flat.contains(&self.flat)
            || (part.is_value() && self.normal.as_ref() == Some(&part.normal))
    }
}

/// Words in lower case with one space around each; `falcon-billing` and `FalconBilling` are
/// two words.
pub(super) fn flat(text: &str) -> String {
    let mut flat = String::with_capacity(text.len() + 2);
    flat.push(' ');
    let mut before = ' ';
    for c in text.chars() {
        let parts = !c.is_alphanumeric() || (before.is_lowercase() && c.is_uppercase());
        if parts && !flat.ends_with(' ') {
            flat.push(' ');
        }
        if c.is_alphanumeric() {
            flat.extend(c.to_lowercase());
        }
        before = c;
    }
    if !flat.ends_with(' ') {
        flat.push(' ');
    }
    flat
}

/// The words of what is so now, as [`flat`] has them.
pub(super) fn present(parts: &[Part]) -> String {
    let mut present = String::from(" ");
    for part in parts.iter().filter(|part| !part.is_former) {
        present.push_str(part.flat.trim_start());
    }
    present
}

/// Nouns before a name that say what it is of: "project Norby" is Norby.
pub(in crate::memory) const GENERIC: &[&str] = &[
    "app",
    "application",
    "bug",
    "client",
    "cluster",
    "company",
    "customer",
    "database",
    "dataset",
    "device",
    "epic",
    "host",
    "instance",
    "issue",
    "job",
    "library",
    "machine",
    "module",
    "node",
    "package",
    "pipeline",
    "project",
    "repo",
    "repository",
    "server",
    "service",
    "system",
    "table",
    "task",
    "team",
    "ticket",
    "user",
    "vm",
];

/// Words around a statement that say nothing of its attribute.
pub(super) const AROUND: &[&str] = &[
    "agreed",
    "btw",
    "checked",
    "confirmed",
    "correction",
    "discussed",
    "fact",
    "fyi",
    "important",
    "learned",
    "memo",
    "nb",
    "note",
    "noted",
    "now",
    "record",
    "remember",
    "reminder",
    "til",
    "today",
    "update",
    "wiki",
];

/// Words that say that something changed, and not what.
const CHANGED: &[&str] = &[
    "bumped",
    "changed",
    "gone",
    "increased",
    "longer",
    "lowered",
    "new",
    "now",
    "previously",
    "raised",
    "reduced",
    "replaced",
    "replaces",
    "replacing",
    "switched",
    "updated",
];

/// The parts of a sentence.
pub(super) fn read(tokens: &[Token<'_>]) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let token = &tokens[at];
        if matches!(token.lower.as_str(), "`" | "\"")
            && let Some(length) = tokens[at + 1..].iter().position(|one| one.lower == token.lower)
            && length > 1
            && !is_compound(&tokens[at + 1])
        {
            parts.push(part(&tokens[at + 1..=at + length], Role::Value(Sort::Quoted), None));
            at += length + 2;
            continue;
        }
        let used = name(tokens, at);
        if used > 0 && dates::read(tokens, at).is_none() {
            parts.push(part(&tokens[at..at + used], Role::Name, None));
            at += used;
            continue;
        }
        if let Some((role, normal, used)) = value(tokens, at) {
            parts.push(part(&tokens[at..at + used], role, normal));
            at += used;
            continue;
        }
        let role = match token.kind {
            Kind::Mark => Role::Idle,
            _ if token.among(AROUND) || token.among(CHANGED) => Role::Idle,
            _ if claimed::is_function(&token.lower) => Role::Grammar,
            Kind::Word if token.is_capital() && !token.among(GENERIC) && !token.among(ACRONYMS) => {
                Role::Opener
            }
            Kind::Word if token.among(GENERIC) && follows_name(tokens, at) => Role::Idle,
            Kind::Word | Kind::Number | Kind::Code => Role::Word,
        };
        parts.push(part(&tokens[at..=at], role, None));
        at += 1;
    }
    parts
}

/// Whether a generic noun stands beside a name.
fn follows_name(tokens: &[Token<'_>], at: usize) -> bool {
    let is_name = |token: &Token<'_>| token.kind == Kind::Code || (token.is_capital() && !token.opens);
    let before = at.checked_sub(1).and_then(|before| tokens.get(before));
    tokens.get(at + 1).is_some_and(is_name) || before.is_some_and(|token| token.kind == Kind::Code)
}

fn part<'a>(tokens: &'a [Token<'a>], role: Role, normal: Option<String>) -> Part {
    // The colon of ":8080" is read as a word.
    let shown = |token: &'a Token<'a>| -> &'a str {
        if token.text == ":" && !token.is_mark() { &token.lower } else { token.text }
    };
    let text = tokens.iter().map(shown).collect::<Vec<_>>().join(" ");
    let flat = flat(&text);
    let normal = normal.unwrap_or_else(|| match (&role, tokens) {
        (Role::Word | Role::Opener, [one]) => {
            known::canonical(&known::singular(known::canonical(&one.lower))).to_owned()
        }
        _ => flat.clone(),
    });
    Part { text, flat, normal, role, is_former: false }
}

/// A value at a token: what it is, its one form where it has one, and how many tokens it takes.
fn value(tokens: &[Token<'_>], at: usize) -> Option<(Role, Option<String>, usize)> {
    let token = &tokens[at];
    if let Some((when, used)) = dates::read(tokens, at) {
        if matches!(when, dates::When::Relative(_)) {
            return Some((Role::Idle, None, used));
        }
        let (mut normal, mut kind, mut end) = (when.normal(), when.kind().to_owned(), used);
        let joint = usize::from(tokens.get(at + end).is_some_and(|next| next.is("at") || next.is(",")));
        if let Some((second, more)) = dates::read(tokens, at + end + joint)
            && second.kind() != when.kind()
        {
            normal = format!("{normal} {}", second.normal());
            kind = format!("{kind} {}", second.kind());
            end += joint + more;
        }
        return Some((Role::Value(Sort::When(kind)), Some(normal), end));
    }
    if let Some((number, used)) = numbers::read(tokens, at) {
        if number.digits.starts_with('#') || number.is_one {
            return Some((Role::Word, None, used));
        }
        let sort = Sort::Number(number.dimension().to_owned(), mask(&number));
        return Some((Role::Value(sort), Some(number.normal()), used));
    }
    if let Some(state) = state(tokens, at) {
        return Some((Role::Value(Sort::State(state)), None, 1));
    }
    if token.kind == Kind::Word && !token.marked && is_compound(token) {
        return Some((Role::Value(Sort::Code), None, 1));
    }
    if token.kind != Kind::Code && !token.marked {
        return None;
    }
    if super::super::claims::is_version(token.text) {
        return Some((Role::Value(Sort::Version), Some(token.lower.trim_start_matches('v').to_owned()), 1));
    }
    let text = token.text;
    let place = if text.contains("://") {
        Some("url")
    } else if token.marked {
        Some("room")
    } else if text.contains('@') {
        Some("mail")
    } else if text.contains(['/', '\\']) {
        Some("path")
    } else if text.contains(':') || (text.contains('.') && text.split('.').all(|part| !part.is_empty())) {
        Some("address")
    } else {
        None
    };
    Some((Role::Value(place.map_or(Sort::Code, Sort::Place)), None, 1))
}

/// The levels of a log.
const LEVELS: &[&str] = &["debug", "error", "fatal", "info", "trace", "verbose", "warn", "warning"];

/// How far a task is.
const STATES: &[&str] = &[
    "abandoned",
    "accepted",
    "approved",
    "blocked",
    "cancelled",
    "canceled",
    "closed",
    "deferred",
    "done",
    "finished",
    "merged",
    "open",
    "pending",
    "rejected",
    "released",
    "resolved",
];

/// A state where one is given: "is blocked", "status: done".
fn state(tokens: &[Token<'_>], at: usize) -> Option<&'static str> {
    let (token, before) = (&tokens[at], at.checked_sub(1).map(|before| &tokens[before]));
    let by = tokens.get(at + 1).is_some_and(|next| next.among(&["by", "with", "on", "source"]));
    let gives = before.is_some_and(|before| {
        before.among(&["is", "to", "at", ":", "as", "now", "=", "->", "level", "from"])
    });
    if token.kind == Kind::Word && gives && !by && STATES.contains(&token.lower.as_str()) {
        return Some("state");
    }
    (token.kind == Kind::Word && LEVELS.contains(&token.lower.as_str())).then_some("level")
}

/// What stands for a quantity: seconds and days are told of different things.
fn mask(number: &numbers::Number) -> &'static str {
    match number.unit {
        Some("ns" | "us" | "ms" | "s") => "some seconds",
        Some("min" | "h") => "some minutes",
        Some("days" | "weeks") => "some days",
        Some("months" | "years") => "some months",
        Some("%") => "some percent",
        Some("USD" | "EUR" | "GBP") => "some dollars",
        _ if number.dimension() == "data" => "some gigabytes",
        _ => "some number",
    }
}

/// First parts of everyday words with a hyphen.
const PREFIXES: &[&str] = &[
    "anti", "auto", "back", "client", "co", "cross", "double", "e", "end", "front", "full", "half", "hard",
    "high", "inter", "intra", "keep", "long", "low", "mid", "multi", "non", "open", "part", "per", "post",
    "pre", "re", "read", "real", "round", "self", "semi", "server", "short", "single", "soft", "stand",
    "start", "sub", "super", "time", "user", "well", "write", "x",
];

/// Whether a word with a hyphen is the name of a thing (`falcon-billing`), and not an everyday one ("read-only", "follow-up").
fn is_compound(token: &Token<'_>) -> bool {
    let mut parts = token.lower.split('-');
    let is_plain = |part: &str| {
        part.len() > 1
            && part.chars().all(char::is_alphanumeric)
            && !claimed::is_function(part)
            && !part.ends_with("ly")
            && !(part.ends_with("ed") && part.len() > 4 && !part.ends_with("eed"))
    };
    token.lower.contains('-')
        && !parts.clone().next().is_some_and(|first| PREFIXES.contains(&first))
        && parts.all(is_plain)
}

/// Words in capitals that say which attribute, and name nothing.
const ACRONYMS: &[&str] = &[
    "ca", "cd", "ci", "cpu", "dns", "eol", "eta", "gb", "gpu", "http", "https", "id", "iops", "ip", "json",
    "kb", "lts", "mac", "mb", "os", "pid", "pr", "ram", "rps", "qps", "rss", "rto", "rpo", "sla", "slo",
    "smtp", "sql", "ssd", "ssh", "ssl", "tb", "tcp", "tls", "ttl", "udp", "uri", "url", "vcpu", "vm",
];

/// How many tokens a name at a token takes; none where there is none.
fn name(tokens: &[Token<'_>], at: usize) -> usize {
    let is_capital = |token: &Token<'_>| {
        // "MariaDB" is a code only by its capitals.
        (token.kind == Kind::Word
            || (token.kind == Kind::Code && token.text.chars().all(char::is_alphabetic)))
            && token.is_capital()
            && !claimed::is_function(&token.lower)
            && !token.among(ACRONYMS)
            && !token.among(AROUND)
            && !token.among(CHANGED)
    };
    let first = &tokens[at];
    let is_label = |token: &Token<'_>| token.among(known::LABELS) || token.among(known::UPDATE_LABELS);
    let after_colon = at > 1 && tokens[at - 1].is(":") && !is_label(&tokens[at - 2]);
    if !is_capital(first) || first.among(&["i'm", "i've", "i'll", "ok"]) {
        return 0;
    }
    let mut used = 1;
    // A possessive ends a name, and so does a mark.
    while !tokens[at + used - 1].owns
        && tokens
            .get(at + used)
            .is_some_and(|next| is_capital(next) && (!next.opens || next.kind == Kind::Code))
    {
        used += 1;
    }
    if first.opens && used == 1 && !after_colon && first.kind == Kind::Word {
        return 0;
    }
    if first.opens && first.among(GENERIC) {
        return 0;
    }
    // "PostgreSQL 16"
    let last = &tokens[at + used - 1];
    let is_bare = |next: &Token<'_>| {
        next.kind == Kind::Number
            && next.text.bytes().all(|b| b.is_ascii_digit() || b == b'.')
            && tokens.get(at + used + 1).is_none_or(|after| !is_unit(after))
    };
    if !last.owns && tokens.get(at + used).is_some_and(is_bare) {
        used += 1;
    }
    used
}

fn is_unit(token: &Token<'_>) -> bool {
    token.text == "%" || (token.kind == Kind::Word && numbers::is_unit(token.text))
}

/// Marks what the sentence itself says was so before, and gives it as flat words: "from A to B", "A -> B", "no longer A",
/// "instead of A", "was A before", "A is gone". `words` are the parts in lower case.
pub(super) fn take_former(parts: &mut [Part], words: &[String]) -> Vec<Former> {
    let is = |at: usize, list: &[&str]| words.get(at).is_some_and(|word| list.contains(&word.as_str()));
    let mut found: Vec<std::ops::Range<usize>> = Vec::new();
    let mut markers: Vec<std::ops::Range<usize>> = Vec::new();
    for at in 0..words.len() {
        let starts = match words[at].as_str() {
            "no" if words.get(at + 1).is_some_and(|next| is_slip(next, "longer")) => Some(at + 2),
            word if is(at + 1, &["of"]) && is_slip(word, "instead") => Some(at + 2),
            "rather" if is(at + 1, &["than"]) => Some(at + 2),
            "away" | "up" | "down" if is(at + 1, &["from"]) => Some(at + 2),
            "replacing" | "replaces" | "replaced" | "dropped" | "previously" | "formerly" | "abandoned"
            | "ditched" => Some(at + 1),
            "from" if (at + 2..words.len().min(at + 8)).any(|to| is(to, &["to", "into"])) => Some(at + 1),
            "was" | "were" if is_marked_off(words, at) => Some(at + 1),
            "not" if at > 0 && is(at - 1, &[",", "and", "("]) => Some(at + 1),
            _ => None,
        };
        if let Some(start) = starts {
            let start = start
                + usize::from(is(
                    start,
                    &["the", "a", "an", "at", "by", "for", "in", "on", "still", "was", "with"],
                ));
            if let Some(range) = stretch(parts, words, start) {
                markers.push(at..start);
                found.push(range);
            }
        }
        // "A -> B", "A is gone"
        let is_gone = is(at, &["is", "are"]) && is(at + 1, &["gone", "history", "obsolete", "out"]);
        let is_left = is(at, &["->"]) || is_gone;
        if is_left && at > 0 && (parts[at - 1].is_value() || matches!(parts[at - 1].role, Role::Name)) {
            found.push(at - 1..at);
        } else if is_left && at > 1 && parts[at - 1].role == Role::Word && parts[at - 2].is_value() {
            // "13 points -> 21 points"
            found.push(at - 2..at);
        } else if is_gone {
            // "; search quality is gone"
            let is_mark =
                |at: usize| parts[at].role == Role::Idle && !words[at].contains(char::is_alphanumeric);
            let start = (at.saturating_sub(4)..at).rev().find(|&before| is_mark(before));
            found.extend(start.filter(|start| start + 1 < at).map(|start| start + 1..at));
        }
    }
    let mut former = Vec::new();
    for part in markers.into_iter().flatten() {
        parts[part].role = Role::Idle;
    }
    for range in found {
        let text: String =
            parts[range.clone()].iter().map(|part| part.text.as_str()).collect::<Vec<_>>().join(" ");
        // One small word is everywhere.
        let words = flat(&text);
        if words.trim().len() > 1 || parts[range.start].is_value() {
            let normal = parts[range.start].normal.clone();
            former.push(Former { flat: words, normal: (range.len() == 1).then_some(normal) });
        }
        parts[range].iter_mut().for_each(|part| part.is_former = true);
    }
    former.retain(|one| !one.flat.trim().is_empty());
    former
}

/// Whether a word is another one, or that with two letters exchanged, one lost or one doubled.
pub(super) fn is_slip(word: &str, of: &str) -> bool {
    let (one, two) = (word.as_bytes(), of.as_bytes());
    let same = one.iter().zip(two).take_while(|(one, two)| one == two).count();
    let (one, two) = (&one[same..], &two[same..]);
    match (one, two) {
        ([], []) => true,
        ([_, rest @ ..], two) if rest == two => word.is_ascii(),
        (one, [_, rest @ ..]) if one == rest => word.is_ascii(),
        ([a, b, one @ ..], [c, d, two @ ..]) => (a, b, one) == (d, c, two) && word.is_ascii(),
        _ => false,
    }
}

/// "(was 8080)", ", it was 8080 before", "; was 8080".
fn is_marked_off(words: &[String], at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).map_or("", |place| words[place].as_str());
    matches!(before(1), "," | "(" | ";" | "-")
        || (before(1) == "it" && matches!(before(2), "," | "(" | ";" | "-"))
}

/// A value or name at a part, or else the words up to the next mark or word of grammar.
fn stretch(parts: &[Part], words: &[String], start: usize) -> Option<std::ops::Range<usize>> {
    let first = parts.get(start)?;
    if first.is_value() || first.role == Role::Name {
        return Some(start..start + 1);
    }
    let ends = |at: &usize| {
        matches!(parts[*at].role, Role::Idle | Role::Grammar)
            || matches!(
                words[*at].as_str(),
                "but" | "to" | "for" | "in" | "and" | "before" | "until" | "anymore"
            )
    };
    let end = (start..parts.len().min(start + 4)).find(ends).unwrap_or(parts.len().min(start + 4));
    (end > start).then_some(start..end)
}
