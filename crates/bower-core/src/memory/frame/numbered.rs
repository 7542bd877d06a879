//! Recognises things that a number tells apart: "tenant 3", "locker number 12", "Decision 7: …".
//! Such a number is the value of nothing; two texts with different ones speak of two things, however alike the rest of them is.

use super::super::slot::words as known;
use super::parts::{Part, Role, Sort};

/// A kind of thing with the number of one of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Numbered {
    noun: String,
    number: String,
    /// Whether it only heads the text ("Rule 3: …"), and the statement behind it may be of something else.
    is_label: bool,
}

/// Nouns of which there are many, told apart by numbers. A port, a limit or a level is given a number as its value, and is not here.
///
/// Sorted: it is searched.
const COUNTED: &[&str] = &[
    "account",
    "agent",
    "apartment",
    "batch",
    "bench",
    "bin",
    "block",
    "book",
    "box",
    "branch",
    "broker",
    "bucket",
    "bug",
    "building",
    "bus",
    "cabin",
    "camera",
    "car",
    "carton",
    "cell",
    "chapter",
    "clause",
    "client",
    "cluster",
    "component",
    "contact",
    "container",
    "contract",
    "controller",
    "convention",
    "counter",
    "course",
    "cow",
    "customer",
    "dataset",
    "day",
    "decision",
    "deployment",
    "desk",
    "device",
    "document",
    "door",
    "driver",
    "employee",
    "endpoint",
    "entry",
    "episode",
    "event",
    "example",
    "experiment",
    "fact",
    "farm",
    "file",
    "flat",
    "flight",
    "floor",
    "folder",
    "friend",
    "garden",
    "gate",
    "group",
    "hall",
    "hen",
    "host",
    "hotel",
    "house",
    "hub",
    "incident",
    "instance",
    "invoice",
    "issue",
    "item",
    "job",
    "key",
    "lamp",
    "lane",
    "layer",
    "lesson",
    "lift",
    "line",
    "location",
    "locker",
    "lot",
    "machine",
    "meeting",
    "member",
    "memory",
    "message",
    "milestone",
    "module",
    "motor",
    "node",
    "note",
    "object",
    "office",
    "operation",
    "order",
    "page",
    "parcel",
    "participant",
    "partition",
    "patient",
    "person",
    "phase",
    "plot",
    "pod",
    "preference",
    "procedure",
    "process",
    "project",
    "pump",
    "question",
    "queue",
    "rack",
    "recipe",
    "record",
    "region",
    "replica",
    "report",
    "request",
    "robot",
    "room",
    "row",
    "rule",
    "run",
    "scenario",
    "scene",
    "school",
    "seat",
    "section",
    "sensor",
    "sequence",
    "server",
    "service",
    "session",
    "shard",
    "sheet",
    "shelf",
    "shop",
    "site",
    "slot",
    "song",
    "sprint",
    "stage",
    "stand",
    "step",
    "store",
    "stream",
    "student",
    "switch",
    "table",
    "tank",
    "task",
    "team",
    "tenant",
    "terminal",
    "test",
    "thread",
    "ticket",
    "topic",
    "track",
    "train",
    "tree",
    "trial",
    "truck",
    "tunnel",
    "unit",
    "user",
    "valve",
    "van",
    "variant",
    "vehicle",
    "verse",
    "village",
    "ward",
    "warehouse",
    "week",
    "window",
    "worker",
    "workspace",
    "writer",
    "zone",
];

/// Words between a noun and its number.
const SIGNS: &[&str] = &["number", "no", "nr", "id"];

/// Verbs of grammar: a number before one of them stands behind its noun.
const FINITE: &[&str] = &[
    "are", "can", "cannot", "did", "do", "does", "had", "has", "have", "is", "may", "must", "should", "was",
    "were", "will", "would",
];

/// A label stands among so many parts at the head.
const LABEL: usize = 6;

/// Takes the numbered things of a sentence out of its values. What is left of a label says nothing.
pub(super) fn take(parts: &mut [Part]) -> Vec<Numbered> {
    let mut found = Vec::new();
    for at in 0..parts.len() {
        let Some(one) = at_part(parts, at).filter(|_| !parts[at].is_former) else { continue };
        if one.is_label {
            parts[at].role = Role::Idle;
        }
        found.push(one);
    }
    found
}

/// Whether two texts speak of different ones of a kind. What only heads a text counts where nothing else tells.
pub(super) fn is_apart(one: &[Numbered], two: &[Numbered]) -> bool {
    let (mine, theirs) = (with_label(one, false), with_label(two, false));
    if mine.is_empty() && theirs.is_empty() {
        return differ(&with_label(one, true), &with_label(two, true));
    }
    differ(&mine, &theirs)
}

fn with_label(list: &[Numbered], is_label: bool) -> Vec<&Numbered> {
    list.iter().filter(|each| each.is_label == is_label).collect()
}

/// Whether both lists name something and nothing in common, or of a noun in both one has a number that the other has not.
fn differ(one: &[&Numbered], two: &[&Numbered]) -> bool {
    let is_common = one
        .iter()
        .any(|each| two.iter().any(|other| (&each.noun, &each.number) == (&other.noun, &other.number)));
    if !is_common {
        return !one.is_empty() && !two.is_empty();
    }
    let is_other = |each: &Numbered, others: &[&Numbered]| {
        let mut same = others.iter().filter(|other| other.noun == each.noun).peekable();
        same.peek().is_some() && !same.any(|other| other.number == each.number)
    };
    one.iter().any(|each| is_other(each, two)) || two.iter().any(|each| is_other(each, one))
}

fn at_part(parts: &[Part], at: usize) -> Option<Numbered> {
    let part = &parts[at];
    let word = |at: usize| parts.get(at).map(|part| part.text.to_lowercase()).unwrap_or_default();
    if part.role == Role::Name {
        // "Tenant 5", a name as it is written.
        let (noun, number) = part.flat.trim().split_once(' ')?;
        let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
        return (is_number && is_counted(noun)).then(|| Numbered {
            noun: noun.to_owned(),
            number: number.to_owned(),
            is_label: false,
        });
    }
    let is_bare = matches!(part.role, Role::Value(Sort::Number(..)))
        && part.text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_bare || at == 0 {
        return None;
    }
    let sign = usize::from(SIGNS.contains(&word(at - 1).as_str()) && at > 1);
    let noun = &parts[at - 1 - sign];
    if !matches!(noun.role, Role::Word | Role::Opener | Role::Idle)
        || !noun.text.starts_with(char::is_alphabetic)
    {
        return None;
    }
    let noun_word = known::singular(&noun.text.to_lowercase());
    let next = word(at + 1);
    let is_label = next == ":" && at < LABEL;
    let is_head = FINITE.contains(&next.as_str());
    let is_counted = is_counted(&noun_word);
    let before = (at - 1 - sign).checked_sub(1).map(word).unwrap_or_default();
    let is_of = matches!(before.as_str(), "of" | "for");
    let is_followed = parts.get(at + 1).is_some_and(|next| next.role == Role::Word);
    let tells = is_label || is_head || sign == 1 || is_counted && (is_of || is_followed);
    tells.then(|| Numbered { noun: noun_word, number: part.text.clone(), is_label })
}

fn is_counted(noun: &str) -> bool {
    COUNTED.binary_search(&noun).is_ok()
}

#[cfg(test)]
mod tests {
    use super::super::Frame;
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let found = Frame::of(text).numbered;
        let shown: Vec<String> = found
            .iter()
            .map(|one| format!("{} {}{}", one.noun, one.number, if one.is_label { ":" } else { "" }))
            .collect();
        assert_eq!(shown.join(", "), expected, "{text}");
    }

    #[test]
    fn a_number_behind_its_noun_tells_which_one() {
        check("The rotation interval of tenant 4 is 30 days", "tenant 4");
        check("Alice's locker number 12 holds the stone", "locker 12");
        check("Decision 7: we use Redis for component number 9", "decision 7:, component 9");
        check("Rule 3: never deploy on Fridays", "rule 3:");
        check("User 28 prefers tea", "user 28");
        check("Valve 9 is closed", "valve 9");
        check("The quota of Tenant 5 is 300 requests", "tenant 5");
    }

    #[test]
    fn a_value_tells_none() {
        for text in [
            "The API listens on port 8080",
            "The port of the API is 8080",
            "We keep 30 backups of each node",
            "The pool holds 20 connections",
            "The log level of owl-mailer is 3",
            "The job runs on worker 7",
            "Retries: 5",
            "The timeout is 30 s",
        ] {
            check(text, "");
        }
    }

    #[test]
    fn the_nouns_are_sorted() {
        assert!(COUNTED.is_sorted() && FINITE.is_sorted());
    }
}
