//! Reads triples from the answer of a language model, and keeps those whose names the text has.
//! The answer is only ever parsed. It may hold anything: a text can tell a model what to write.

use serde_json::{Deserializer, Value};
use std::collections::HashSet;

use super::entity::fold;
use crate::item::Triple;
use crate::text::{self, is_unspaced};

/// Most triples of one text.
const MOST_TRIPLES: usize = 16;
/// Longest name in words, as of the names that are found without a model.
const MOST_WORDS: usize = 8;
/// Longest name in characters.
const MOST_CHARS: usize = 100;
/// Longest type of a relation in characters.
const LONGEST_TYPE: usize = 40;
/// Bytes of an answer that are read: a few texts have some kilobytes of triples.
const MOST_BYTES: usize = 1 << 18;

/// Numbers of triples that were not kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DroppedTriples {
    /// Without one of the fields, with the number of no text, with a name or relation that cannot be one, or of one name alone.
    pub malformed: usize,
    /// With a name that the text does not have.
    pub invented: usize,
    /// Beyond the most that one text may have.
    pub surplus: usize,
}

/// The triples of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TriplesRead {
    /// Those of each text, in the order of the answer.
    pub of_texts: Vec<Vec<Triple>>,
    /// Those that were not kept.
    pub dropped: DroppedTriples,
    /// Whether the answer had the form that was asked for, even if it has no triple.
    pub is_readable: bool,
}

/// Reads the triples that a model found in some texts, numbered from 1. Each is an object with `note`, `subject`, `relation` and
/// `object`; what else the answer holds is skipped.
pub fn read_triples(answer: &str, texts: &[&str]) -> TriplesRead {
    let folded: Vec<String> = texts.iter().map(|text| fold_text(text)).collect();
    let mut read = TriplesRead { of_texts: vec![Vec::new(); texts.len()], ..TriplesRead::default() };
    let mut seen = HashSet::new();
    let (objects, broken) = objects(answer);
    read.dropped.malformed = broken;
    // A model says by an empty list that there is none.
    read.is_readable = !objects.is_empty() || answer.contains("[]");
    for object in objects {
        let Some((at, triple)) = checked(&object, texts.len()) else {
            read.dropped.malformed += 1;
            continue;
        };
        let names = [&triple.subject, &triple.object].map(|name| fold(name));
        if !names.iter().all(|name| occurs(&folded[at], name)) {
            read.dropped.invented += 1;
        } else if read.of_texts[at].len() == MOST_TRIPLES {
            read.dropped.surplus += 1;
        } else if seen.insert((at, names, triple.relation.clone())) {
            read.of_texts[at].push(triple);
        }
    }
    read
}

/// Returns the objects with the fields of a triple in an answer, and the number of places that only look like objects.
fn objects(answer: &str) -> (Vec<Value>, usize) {
    let answer = &answer[..answer.floor_char_boundary(MOST_BYTES)];
    let (mut found, mut broken, mut at) = (Vec::new(), 0, 0);
    while let Some(start) = answer[at..].find('{').map(|from| at + from) {
        let mut values = Deserializer::from_str(&answer[start..]).into_iter::<Value>();
        if let Some(Ok(value)) = values.next() {
            broken += usize::from(!collect(value, &mut found));
            at = start + values.byte_offset();
        } else {
            broken += 1;
            at = start + 1;
        }
    }
    (found, broken)
}

/// Adds the objects that have a subject within a value. Returns whether there are any, or an empty list.
fn collect(value: Value, found: &mut Vec<Value>) -> bool {
    match value {
        Value::Object(fields) if fields.contains_key("subject") => {
            found.push(Value::Object(fields));
            true
        }
        Value::Object(fields) => collect_all(fields.into_iter().map(|(_, value)| value), found),
        Value::Array(values) if values.is_empty() => true,
        Value::Array(values) => collect_all(values.into_iter(), found),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Adds those of all values. Returns whether any of them has one.
fn collect_all(values: impl Iterator<Item = Value>, found: &mut Vec<Value>) -> bool {
    let mut any = false;
    for value in values {
        any |= collect(value, found);
    }
    any
}

/// Returns the place of a triple's text among `count` texts, with the triple; `None` if it is malformed.
fn checked(object: &Value, count: usize) -> Option<(usize, Triple)> {
    let number = match &object["note"] {
        Value::Number(number) => number.as_u64()?,
        Value::String(number) => number.trim().parse().ok()?,
        Value::Null if count == 1 => 1,
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    let at = usize::try_from(number).ok()?.checked_sub(1).filter(|at| *at < count)?;
    let field = |name: &str| object[name].as_str();
    let triple = Triple {
        subject: checked_name(field("subject")?)?,
        relation: relation_type(field("relation")?)?,
        object: checked_name(field("object")?)?,
    };
    (fold(&triple.subject) != fold(&triple.object)).then_some((at, triple))
}

/// Returns a name on one line; `None` if it is too long, a stop word, or without a letter or digit.
fn checked_name(name: &str) -> Option<String> {
    // Only as many words as a name may have are joined.
    let words: Vec<&str> = name.split_whitespace().take(MOST_WORDS + 1).collect();
    let name = words.join(" ");
    let folded = fold(&name);
    let fits = words.len() <= MOST_WORDS && name.chars().count() <= MOST_CHARS;
    (fits && !folded.is_empty() && !text::is_stop(&folded)).then_some(name)
}

/// Returns the type of a relation between names in lower case, with `_` between its words; `None` if it is no verb of at most 40
/// letters, digits and `_`.
pub fn relation_type(text: &str) -> Option<String> {
    let verb = text.trim().to_lowercase().replace([' ', '-'], "_");
    let is_verb = verb.chars().count() <= LONGEST_TYPE
        && verb.starts_with(char::is_alphabetic)
        && verb.chars().all(|c| c.is_alphanumeric() || c == '_');
    is_verb.then_some(verb)
}

/// Folds a text word by word, as names are folded.
fn fold_text(text: &str) -> String {
    let words = text.split_whitespace().map(|word| fold(word.trim_matches(|c: char| !c.is_alphanumeric())));
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Whether a folded text has a folded name as whole words. Scripts without spaces have no ends of words.
fn occurs(text: &str, name: &str) -> bool {
    let is_end = |inner: Option<char>, outer: Option<char>| {
        outer.is_none_or(|outer| outer == ' ' || is_unspaced(outer) || inner.is_some_and(is_unspaced))
    };
    text.match_indices(name).any(|(at, _)| {
        let (before, behind) = (&text[..at], &text[at + name.len()..]);
        is_end(name.chars().next(), before.chars().next_back())
            && is_end(name.chars().next_back(), behind.chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const TEXT: &str = "Dr. Ada Marsh's pump (at Orsland Court) feeds the cold store, says Théo.";

    /// The triples of one text, as `subject relation object`, with the numbers of dropped ones.
    #[track_caller]
    fn check(answer: &str, expected: &[&str], [malformed, invented, surplus]: [usize; 3]) {
        let read = read_triples(answer, &[TEXT]);
        let shown = |one: &Triple| format!("{} {} {}", one.subject, one.relation, one.object);
        assert_eq!(read.of_texts[0].iter().map(shown).collect::<Vec<_>>(), expected, "{answer}");
        assert_eq!(read.dropped, DroppedTriples { malformed, invented, surplus }, "{answer}");
    }

    fn line(subject: &str, relation: &str, object: &str) -> String {
        json!({ "note": 1, "subject": subject, "relation": relation, "object": object }).to_string()
    }

    #[test]
    fn triples_are_read_in_whatever_wrapping() {
        let one = line("Ada Marsh", "works at", "Orsland Court");
        let two = line("theo", "talks-about", "cold  store");
        let expected = ["Ada Marsh works_at Orsland Court", "theo talks_about cold store"];
        for answer in [
            format!("{one}\n{two}"),
            format!("Here they are:\n```json\n[{one}, {two}]\n```"),
            format!("{{\"triples\": [{one}, {two}], \"count\": 2}}"),
            // The same again is no further triple.
            format!("{one}{two}{one}"),
        ] {
            check(&answer, &expected, [0, 0, 0]);
        }
        // An answer that was cut off loses its last triple only.
        check(&format!("[{one}, {}", &two[..20]), &expected[..1], [1, 0, 0]);
        check(r#"{"subject": "Théo", "relation": "owns", "object": "PUMP"}"#, &["Théo owns PUMP"], [0, 0, 0]);
    }

    #[test]
    fn a_name_that_the_text_does_not_have_is_dropped() {
        check(&line("Ada Marsh", "works_at", "Marrowby"), &[], [0, 1, 0]);
        // A part of a word is no name: `Court` is one, `Cour` is none.
        check(&line("Ada", "is_in", "Court"), &["Ada is_in Court"], [0, 0, 0]);
        check(&line("Ada", "is_in", "Cour"), &[], [0, 1, 0]);
        let read = read_triples(
            r#"{"note":1,"subject":"黒澤明","relation":"監督","object":"七人の侍"}"#,
            &["黒澤明は七人の侍を監督した"],
        );
        assert_eq!((read.of_texts[0].len(), read.dropped.invented), (1, 0));
    }

    #[test]
    fn malformed_triples_are_dropped_and_counted() {
        let long = "Ada ".repeat(2_500);
        for (answer, malformed) in [
            (line(&long, "is", "pump"), 1),
            (line("Ada", &"is".repeat(5_000), "pump"), 1),
            (line("Ada", "is", &"p".repeat(10_000)), 1),
            (line("Ada", "", "pump"), 1),
            (line("Ada", "'; DROP TABLE items", "pump"), 1),
            (line("Ada", "is", "..."), 1),
            (line("the", "is", "pump"), 1),
            (line("Ada Marsh", "is", "ADA-MARSH"), 1),
            (json!({ "note": 2, "subject": "Ada", "relation": "is", "object": "pump" }).to_string(), 1),
            (json!({ "note": 0, "subject": "Ada", "relation": "is", "object": "pump" }).to_string(), 1),
            (json!({ "note": [1], "subject": "Ada", "relation": "is", "object": "pump" }).to_string(), 1),
            (json!({ "note": 1, "subject": "Ada", "relation": ["is"], "object": "pump" }).to_string(), 1),
            (json!({ "note": 1, "subject": "Ada" }).to_string(), 1),
            (r#"{"a": 1}"#.to_owned(), 1),
            ("{{{".to_owned(), 3),
        ] {
            check(&answer, &[], [malformed, 0, 0]);
        }
    }

    #[test]
    fn a_text_has_a_bounded_number_of_triples() {
        let many: String = (0..20).map(|n| line("Ada", &format!("is{n}"), "pump")).collect();
        let read = read_triples(&many, &[TEXT]);
        assert_eq!((read.of_texts[0].len(), read.dropped.surplus), (MOST_TRIPLES, 4));
    }

    #[test]
    fn an_answer_in_no_such_form_is_not_readable() {
        let is_readable = |answer: &str| read_triples(answer, &[TEXT]).is_readable;
        assert!(is_readable("[]") && is_readable("```json\n[]\n```") && is_readable(&line("x", "y", "z")));
        for answer in ["", "I cannot.", "{\"a\": 1", "null"] {
            assert!(!is_readable(answer), "{answer}");
        }
    }

    #[test]
    fn a_triple_is_kept_with_the_text_whose_number_it_has() {
        let answer = r#"{"note":"2","subject":"Ada","relation":"owns","object":"pump"}
            {"note":1,"subject":"Ada","relation":"owns","object":"pump"}"#;
        let read = read_triples(answer, &["Nothing here", "Ada owns a pump"]);
        assert_eq!((read.of_texts[0].len(), read.of_texts[1].len(), read.dropped.invented), (0, 1, 1));
    }

    proptest::proptest! {
        #[test]
        fn no_answer_is_refused(answer in "(?s)[\\PC{}\\[\\]\":,]{0,300}", text in "\\PC{0,80}") {
            let read = read_triples(&answer, &[&text, "Ada"]);
            proptest::prop_assert_eq!(read.of_texts.len(), 2);
        }
    }
}
