//! Holds the truth of a simulated life: facts with their values in the order of time.
//! A claim is that a text says that a fact has one of its values; whether a claim holds is asked of the world, never of the store.

use std::collections::HashSet;

use jiff::Timestamp;

use super::families::{Family, sayings};
use super::words::{Draw, Fields, fill};

/// How many of the questions for an attribute call it by its name, which may be another name than it was told by. The others
/// share no word with it.
const ASKED_BY_NAME: f64 = 0.5;

/// That a text says that a fact has a value, both by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Claim {
    pub fact: usize,
    pub value: usize,
}

/// How a question asks for a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asks {
    ByName,
    InOtherWords,
}

/// One thing that is so, and what was so before.
#[derive(Default)]
pub struct Fact {
    /// What kind of thing it is: a family's name, or that of a piece of prose.
    pub name: &'static str,
    pub family: Option<&'static Family>,
    /// The thing that it is about, among those that can be renamed.
    pub entity: Option<usize>,
    pub fields: Fields,
    /// Ways to say it, by value; the last serves the values beyond.
    pub says: Vec<&'static [&'static str]>,
    pub turns: &'static [&'static str],
    pub asks: &'static [&'static str],
    /// Its values in their spellings, none twice.
    pub values: Vec<Vec<String>>,
    /// From when on it has which value.
    pub since: Vec<(Timestamp, usize)>,
    /// It says more about this claim, and lapses with it for good.
    pub hangs_on: Option<Claim>,
    /// Somebody denied it: two texts stand against each other and no attribute tells which is newer.
    pub contested: bool,
    /// How it was said: the value, the template and the text.
    pub said: Vec<(usize, &'static str, String)>,
}

impl Fact {
    /// Its value at a time.
    pub fn at(&self, at: Timestamp) -> Option<usize> {
        self.since.iter().rev().find(|(since, _)| *since <= at).map(|(_, value)| *value)
    }

    /// Whether it is an attribute with a name and one value at a time.
    pub fn is_slot(&self) -> bool {
        self.family.is_some_and(|family| !family.several && !family.nouns.is_empty())
    }

    /// The usual spelling of a field.
    pub fn field(&self, name: &str) -> &str {
        self.fields.usual(name).unwrap_or_default()
    }

    /// Words of it that no slip of the pen may change.
    pub fn protected(&self) -> Vec<&str> {
        self.fields.all().chain(self.values.iter().flatten().map(String::as_str)).collect()
    }

    /// A way to say that it has a value. Where `fresh`, one that was not used for it, as far as there is one.
    pub fn template(&self, draw: &mut Draw, value: usize, fresh: bool) -> &'static str {
        let own = self.says.get(value).or(self.says.last()).copied().unwrap_or_default();
        let mut found = "{s}";
        for _ in 0..12 {
            found = if self.is_slot() && draw.chance(0.4) {
                draw.word(sayings("attribute", "says"))
            } else {
                draw.word(own)
            };
            if !fresh || self.said.iter().all(|(_, used, _)| *used != found) {
                break;
            }
        }
        found
    }

    /// A template with this fact's words. `usual` keeps to the first spelling of each.
    pub fn words(
        &self,
        draw: &mut Draw,
        template: &str,
        value: Option<usize>,
        before: Option<usize>,
        usual: bool,
    ) -> String {
        let mut spell = |forms: &[String]| {
            let first = usual || forms.len() < 2 || draw.chance(0.7);
            if first { forms.first().cloned() } else { Some(draw.pick(&forms[1..]).clone()) }
        };
        fill(template, |name| match name {
            "v" => spell(self.values.get(value?)?),
            "o" => spell(self.values.get(before?)?),
            _ => spell(self.fields.forms(name)?),
        })
    }

    /// A question for its present value, and how it asks.
    pub fn question(&self, draw: &mut Draw, value: usize) -> (String, Asks) {
        let by_name = self.is_slot() && draw.chance(ASKED_BY_NAME);
        let (asks, templates) = if by_name {
            (Asks::ByName, sayings("attribute", "asks"))
        } else {
            (Asks::InOtherWords, self.asks)
        };
        let template = draw.word(templates);
        let text = self.words(draw, template, Some(value), None, false);
        let text = if draw.chance(0.3) { text.trim_end_matches([' ', '?']).to_owned() } else { text };
        (text, asks)
    }
}

/// All facts.
#[derive(Default)]
pub struct World {
    pub facts: Vec<Fact>,
    keys: HashSet<String>,
}

impl World {
    /// Whether nothing has this key yet; it has it then.
    pub fn is_new(&mut self, key: String) -> bool {
        self.keys.insert(key)
    }

    /// Adds a fact that has its first value from now on.
    pub fn add(&mut self, mut fact: Fact, at: Timestamp) -> Claim {
        fact.since = vec![(at, 0)];
        self.facts.push(fact);
        Claim { fact: self.facts.len() - 1, value: 0 }
    }

    /// Whether what a text says is so.
    pub fn holds(&self, claim: Claim, at: Timestamp) -> bool {
        let fact = &self.facts[claim.fact];
        fact.at(at) == Some(claim.value)
            && fact.hangs_on.is_none_or(|base| {
                // It was said of a value that stayed: what lapsed with it does not come back with it.
                let told = fact.since[0].0;
                let turned =
                    self.facts[base.fact].since.iter().any(|(since, _)| told < *since && *since <= at);
                self.holds(base, at) && !turned
            })
    }

    /// The present claim of a fact, where it has one.
    pub fn current(&self, fact: usize, at: Timestamp) -> Option<Claim> {
        let claim = Claim { fact, value: self.facts[fact].at(at)? };
        self.holds(claim, at).then_some(claim)
    }
}

#[cfg(test)]
pub fn made_up(asks: &'static [&'static str], says: &'static [&'static str]) -> Fact {
    Fact {
        name: "made up",
        fields: Fields::from([("s", vec!["harbor-relay".to_owned()])]),
        says: vec![says],
        asks,
        values: vec![vec!["8080".to_owned()], vec!["9090".to_owned()]],
        ..Fact::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hangs_on_a_claim_lapses_with_it() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let mut world = World::default();
        let port = world.add(made_up(&[], &[]), at(10));
        let more = world.add(Fact { hangs_on: Some(port), ..made_up(&[], &[]) }, at(20));
        assert!(!world.holds(port, at(9)) && world.holds(port, at(10)) && world.holds(more, at(20)));
        world.facts[port.fact].since.push((at(30), 1));
        assert!(world.holds(port, at(29)) && !world.holds(port, at(30)) && !world.holds(more, at(30)));
        assert_eq!(world.current(port.fact, at(40)), Some(Claim { value: 1, ..port }));
        assert_eq!(world.current(more.fact, at(40)), None);
        // And back again.
        world.facts[port.fact].since.push((at(50), 0));
        assert!(world.holds(port, at(50)) && !world.holds(more, at(50)));
    }
}
