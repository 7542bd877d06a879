//! The attributes of the simulated agent's facts: how each is stated, changed and asked for.
//! `{s}` is the subject, `{v}` the value, `{o}` the value before, `{n}` the attribute's name. Every family is said in several ways and
//! asked in words that it is not said in.

use std::sync::LazyLock;

use super::names::Subject;
use super::tables::{Groups, several, table, variant};
use super::values::Holds;

/// An attribute of a kind of subject: a row of `families.tsv`, with its sentences of `sayings.tsv`.
#[derive(Debug)]
pub struct Family {
    pub name: &'static str,
    pub subject: Subject,
    pub holds: &'static Holds,
    /// Whether a subject has several values at once, each a fact of its own.
    pub several: bool,
    /// What the attribute is called; where it has no name, only `says` and `turns` speak of it.
    pub nouns: Vec<&'static str>,
    pub says: &'static [&'static str],
    /// How a change is told, beside the ways that fit any attribute with a name.
    pub turns: &'static [&'static str],
    pub asks: &'static [&'static str],
}

pub static FAMILIES: LazyLock<Vec<Family>> = LazyLock::new(|| {
    let rows = table!("families.tsv", "family", "subject", "nouns", "value", "several").into_iter();
    rows.map(|[name, subject, nouns, value, is_several]| Family {
        name,
        subject: variant(Subject::ALL, subject),
        holds: Holds::named(value),
        several: variant(&[true, false], is_several),
        nouns: several(nouns),
        says: sayings(name, "says"),
        turns: sayings(name, "changes"),
        asks: sayings(name, "asks"),
    })
    .collect()
});

/// Ways to say something, in `sayings.tsv`: that it is so, that it is not, that it changed, was so long ago or may come to be, and
/// to ask for it.
const WAYS: &[&str] = &["says", "denies", "changes", "past", "planned", "asks"];

static SAYINGS: LazyLock<Groups> = LazyLock::new(|| {
    let mut sayings = Groups::new();
    for [of, way, text] in table!("sayings.tsv", "of", "way", "text") {
        assert!(WAYS.contains(&way), "sayings.tsv: {way:?} is none of {WAYS:?}");
        sayings.entry(format!("{of} {way}")).or_default().push(text);
    }
    sayings
});

/// The sentences of a family, a piece of prose, or any `attribute` that has a name, in one of the ways; none where there are none.
pub fn sayings(of: &str, way: &str) -> &'static [&'static str] {
    SAYINGS.get(&format!("{of} {way}")).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::life::words::rule;

    #[test]
    fn every_family_can_be_said_changed_and_asked() {
        for family in &*FAMILIES {
            let name = family.name;
            assert!(family.says.len() + family.nouns.len() >= 4, "{name} is said in too few ways");
            assert!(family.asks.len() >= 2, "{name} is asked in too few ways");
            assert!(
                family.several || !(family.nouns.is_empty() && family.turns.is_empty()),
                "{name} cannot change"
            );
            for said in family.says.iter().chain(family.turns) {
                assert!(said.contains("{s}") && said.contains("{v}"), "{name}: {said}");
            }
            for asked in family.asks {
                assert!(asked.contains("{s}"), "{name}: {asked}");
                assert_eq!(
                    asked.contains("{v}"),
                    family.several,
                    "{name}: a question must not tell its answer: {asked}"
                );
            }
        }
    }

    #[test]
    fn what_the_code_names_has_sentences() {
        let both = |of: &str| [format!("{of} says"), format!("{of} asks")];
        let mut needed: Vec<String> =
            ["says", "changes", "asks", "past", "planned"].map(|way| format!("attribute {way}")).to_vec();
        needed.extend(both("rename"));
        for list in ["claims", "notes", "details"] {
            needed.extend(rule(list).iter().flat_map(|of| both(of)));
        }
        needed.extend(rule("claims").iter().map(|of| format!("{of} denies")));
        for of in needed {
            assert!(SAYINGS.contains_key(&of), "sayings.tsv has no {of:?}");
        }
    }

    #[test]
    fn every_sentence_belongs_to_something() {
        let mut known = vec!["attribute", "rename"];
        known.extend(FAMILIES.iter().map(|family| family.name));
        known.extend(["claims", "notes", "details"].into_iter().flat_map(rule));
        let prose = table!("prose.tsv", "prose", "said_as", "share", "draws", "fields", "key");
        known.extend(prose.iter().flat_map(|[name, said_as, ..]| [*name, *said_as]));
        for [of, _, text] in table!("sayings.tsv", "of", "way", "text") {
            assert!(known.contains(&of), "sayings.tsv: there is no {of:?} that says {text:?}");
        }
    }
}
