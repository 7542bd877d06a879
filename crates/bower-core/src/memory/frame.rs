//! What a text tells of a thing in whatever words: the things that it names, the values that it may give them, and the words that
//! say which attribute. Two texts are laid side by side; which attribute it is, a likeness of what is left without names and values
//! says. Where anything is unsure there is no pairing: a wrong one hides what is still true.

pub(super) mod parts;
mod tense;

use super::claims::tokens::Token;
use super::said::Said;
use super::slot::{Holds, Slot};
pub(super) use parts::Sort;
use parts::{Former, Part, Role};

/// A longer first sentence tells more than one thing: parts.
const MOST_PARTS: usize = 48;

/// The first sentence of a text, taken apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// The words of the first sentence in lower case with single spaces around each, without what was so before.
    present: String,
    parts: Vec<Part>,
    /// What the text says that a value was before.
    former: Vec<Former>,
    /// Whether it says what is so now.
    is_of_now: bool,
    /// Whether it tells of something that happened.
    is_event: bool,
    /// Whether more is told than the first sentence and remarks on it.
    has_more: bool,
}

/// Two texts laid side by side: of one thing, each with one value of a kind.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pairing {
    /// What becomes of the value.
    pub change: Change,
    /// What kind of value it is.
    pub sort: Sort,
    /// Both texts without names and values: the memory's, then the told one's.
    pub masked: [String; 2],
    /// Whether the masked texts have the same words.
    pub has_same_words: bool,
    /// Whether both values are one product in two versions.
    pub is_variant: bool,
}

/// What became of a value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Change {
    /// It is the same.
    Nothing,
    /// It is another: as it is written, before and now.
    Value { from: String, to: String, before: String },
    /// The told text itself says that the memory's value is the former one.
    Former { from: String, to: Option<String>, before: String },
}

impl Change {
    /// The former value in one form.
    pub fn before(&self) -> Option<&str> {
        match self {
            Self::Nothing => None,
            Self::Value { before, .. } | Self::Former { before, .. } => Some(before),
        }
    }
}

impl Frame {
    /// Takes a text apart. Any text has a frame; what has no single statement pairs with nothing.
    pub fn of(text: &str) -> Self {
        Self::read(text, &super::claims::tokens::tokens(text))
    }

    pub(super) fn read(text: &str, tokens: &[Token<'_>]) -> Self {
        let (core, has_more) = tense::first_sentence(text, tokens);
        let mut parts = if core.len() > MOST_PARTS { Vec::new() } else { parts::read(core) };
        let former = parts::take_former(&mut parts);
        Self {
            present: parts::present(&parts),
            is_of_now: tense::is_of_now(core) && !tokens.iter().any(|token| token.is("?")),
            is_event: tense::is_event(core),
            former,
            parts,
            has_more,
        }
    }

    /// Whether both texts speak of now, and neither of another of a kind than the other.
    pub(super) fn stands_beside(&self, other: &Self) -> bool {
        self.is_of_now && other.is_of_now && !is_qualified(self, other)
    }

    /// Whether neither speaks of another of a kind than the other.
    pub(super) fn is_unqualified(&self, other: &Self) -> bool {
        !is_qualified(self, other)
    }

    /// Whether a name, in the form of [`parts::flat`], is said of the present.
    fn says(&self, flat: &str) -> bool {
        self.present.contains(flat)
    }

    /// Names that both texts say, those of this one's first sentence.
    fn shared<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = &'a Part> {
        self.parts.iter().filter(move |part| {
            !part.is_former
                && match part.role {
                    Role::Name | Role::Value(Sort::Code) => other.says(&part.flat),
                    // A capital at the head of a sentence is a name where the other text has one there or in the middle.
                    Role::Opener => other
                        .parts
                        .iter()
                        .any(|one| one.flat == part.flat && matches!(one.role, Role::Name | Role::Opener)),
                    Role::Value(_) | Role::Word | Role::Grammar | Role::Idle => false,
                }
        })
    }

    /// Names and identifiers of the first sentence as they are written, to look for other texts about the same things.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let is_name = |part: &&Part| matches!(part.role, Role::Name | Role::Opener | Role::Value(Sort::Code));
        self.parts.iter().filter(is_name).map(|part| part.text.as_str())
    }

    /// The values that it gives and the other text does not say; names count as values where the other has them not.
    fn own<'a>(&'a self, other: &'a Self) -> Vec<(&'a Part, Sort)> {
        let mut own: Vec<(&Part, Sort)> = Vec::new();
        for part in self.parts.iter().filter(|part| !part.is_former) {
            let sort = match &part.role {
                Role::Value(sort) => sort.clone(),
                Role::Name if part.normal.trim_end().ends_with(|c: char| c.is_ascii_digit()) => Sort::Product,
                Role::Name => Sort::Name,
                Role::Opener | Role::Word | Role::Grammar | Role::Idle => continue,
            };
            let is_said =
                other.parts.iter().any(|one| one.is_value() && !one.is_former && one.normal == part.normal)
                    || (!sort.is_amount() && other.says(&part.flat));
            if !is_said && !own.iter().any(|(known, _)| known.normal == part.normal) {
                own.push((part, sort));
            }
        }
        own
    }

    /// Whether both texts have a value in common.
    fn has_same_value(&self, other: &Self) -> Option<Sort> {
        let values = |frame: &Self| -> Vec<(String, Sort)> {
            let of = |part: &Part| match &part.role {
                Role::Value(sort) if *sort != Sort::Code && !part.is_former => {
                    Some((part.normal.clone(), sort.clone()))
                }
                _ => None,
            };
            frame.parts.iter().filter_map(of).collect()
        };
        let others = values(other);
        values(self)
            .into_iter()
            .find(|(normal, _)| others.iter().any(|(one, _)| one == normal))
            .map(|(_, sort)| sort)
    }

    /// The words that say which attribute, sorted.
    fn words(&self) -> Vec<&str> {
        let words = self.parts.iter().filter(|part| matches!(part.role, Role::Word | Role::Opener));
        let mut words: Vec<&str> = words.map(|part| part.normal.as_str()).collect();
        words.sort_unstable();
        words.dedup();
        words
    }

    /// The first sentence with "it" for the things that both name and "some number" for values.
    fn masked(&self, other: &Self, former: Option<&Former>) -> String {
        let mut masked = String::new();
        for part in self.parts.iter().filter(|part| !part.is_former) {
            let is_shared = || self.shared(other).any(|one| std::ptr::eq(one, part));
            let word = match &part.role {
                Role::Idle => continue,
                Role::Word | Role::Opener | Role::Name
                    if former.is_some_and(|former| former.flat.contains(&part.flat)) =>
                {
                    "some name"
                }
                Role::Value(Sort::Code) | Role::Name | Role::Opener if is_shared() => "it",
                Role::Word | Role::Grammar | Role::Opener => part.text.as_str(),
                Role::Name => "some name",
                Role::Value(sort) => sort.mask(),
            };
            // "it it" where a thing has a name and a number.
            if (word == "it" || word == "some name") && masked.ends_with(word) {
                continue;
            }
            if !masked.is_empty() {
                masked.push(' ');
            }
            masked.push_str(word);
        }
        masked
    }
}

/// Lays a told text beside a memory; `None` where they are not of one thing, or it is not clear which value is which.
pub(super) fn pairing(kept: (&Frame, Option<&Slot>), told: (&Frame, Option<&Slot>)) -> Option<Pairing> {
    let ((kept, kept_slot), (told, told_slot)) = (kept, told);
    let slots = [kept_slot, told_slot];
    if kept.has_more
        || told.has_more
        || !kept.is_of_now
        || !told.is_of_now
        || kept.parts.is_empty()
        || told.parts.is_empty()
    {
        return None;
    }
    let is_one = slots.iter().flatten().all(|slot| slot.holds == Holds::One);
    let has_slot = slots.iter().flatten().next().is_some();
    if !has_slot && (kept.is_event || told.is_event) && told.former.is_empty() {
        return None;
    }
    // A value is never the thing: of "Alice owns billing" the value is Alice.
    let is_value =
        |part: &Part| slots.iter().flatten().any(|slot| parts::flat(&slot.shown).contains(&part.flat));
    let things: Vec<&Part> =
        told.shared(kept).chain(kept.shared(told)).filter(|part| !is_value(part)).collect();
    if things.is_empty() || is_qualified(kept, told) {
        return None;
    }
    let (old, new) = (kept.own(told), told.own(kept));
    let former = told.former.iter().find(|former| {
        let is_it =
            |part: &Part| part.is_value() && !part.is_former && former.normal.as_ref() == Some(&part.normal);
        kept.says(&former.flat) || kept.parts.iter().any(is_it)
    });
    let paired = |change: Change, sort: Sort| {
        let masked = [kept.masked(told, former), told.masked(kept, None)];
        let has_same_words = !kept.words().is_empty() && kept.words() == told.words();
        let is_variant = sort == Sort::Product
            && matches!(&change, Change::Value { from, to, .. } if from.split(' ').next() == to.split(' ').next());
        Some(Pairing { change, sort, masked, has_same_words, is_variant })
    };
    let to = || {
        told_slot.map(|slot| slot.shown.clone()).or_else(|| new.first().map(|(part, _)| part.text.clone()))
    };
    if let Some(former) = former {
        // What else the memory says is not the former value alone.
        let is_former = |part: &Part| former.has(part);
        let rest = old.iter().filter(|(part, _)| !is_former(part)).count();
        let is_told_again = new.iter().any(|(part, _)| is_former(part));
        if rest > 0 || new.len() > 1 || is_told_again {
            return None;
        }
        let said =
            kept.parts.iter().find(|part| !part.is_former && part.role != Role::Idle && former.has(part));
        let shown = kept_slot.map(|slot| slot.shown.clone()).or_else(|| Some(said?.text.clone()));
        let from = shown.unwrap_or_else(|| former.flat.trim().to_owned());
        let before = former.normal.clone().unwrap_or_else(|| former.flat.clone());
        let sort = old.first().or(new.first()).map_or(Sort::Name, |(_, sort)| sort.clone());
        return paired(Change::Former { from, to: to(), before }, sort);
    }
    match (old.as_slice(), new.as_slice()) {
        _ if !is_one => None,
        ([], []) => paired(Change::Nothing, kept.has_same_value(told)?),
        ([(one, sort)], [(two, other)]) if sort == other => {
            let is_known = |slot: &Slot, part: &Part| parts::flat(&slot.shown).contains(&part.flat);
            let is_slotted = kept_slot.is_some_and(|slot| is_known(slot, one))
                || told_slot.is_some_and(|slot| is_known(slot, two));
            // Of names and identifiers there may be many, of amounts and times there is one.
            if !is_slotted && !sort.is_amount() {
                return None;
            }
            // Of one system on two machines the machines are the things.
            if *sort == Sort::Code && !things.iter().any(|part| part.is_value()) {
                return None;
            }
            let before = one.normal.clone();
            paired(Change::Value { from: one.text.clone(), to: two.text.clone(), before }, sort.clone())
        }
        _ => None,
    }
}

/// How alike in meaning two texts of one thing with values of one kind are, names and all, for the newer to stand first: only their
/// order depends on it. At .62 a stale answer stood first in 2.1 and 2.0 % of the questions of two made months, at .70 in 2.3 and 2.4 %.
const BESIDE: f32 = 0.62;

/// Whether a later text tells another value of what an earlier one tells, as far as that can be told from the texts and the cosine
/// of both. Surer than a guess, not sure enough to end the earlier one.
pub fn seems_to_replace(earlier: &Said, later: &Said, cosine: Option<f32>) -> bool {
    let pairing = pairing((&earlier.frame, earlier.slot.as_ref()), (&later.frame, later.slot.as_ref()));
    pairing.is_some_and(|pairing| match pairing.change {
        Change::Nothing => false,
        Change::Former { .. } => true,
        Change::Value { .. } => pairing.has_same_words || cosine.is_some_and(|cosine| cosine >= BESIDE),
    }) || earlier.slot.as_ref().zip(later.slot.as_ref()).is_some_and(|(one, two)| {
        one.key == two.key && one.holds.max(two.holds) == Holds::One && !one.same_value(two)
    })
}

/// Words that tell one thing of a kind from another, or one attribute from the next: which of several a text speaks of.
const QUALIFIERS: &[&str] = &[
    "admin",
    "alpha",
    "average",
    "backup",
    "beta",
    "blue",
    "burst",
    "canary",
    "connect",
    "connection",
    "daily",
    "debug",
    "demo",
    "dev",
    "development",
    "disk",
    "east",
    "fallback",
    "first",
    "green",
    "grpc",
    "hourly",
    "idle",
    "last",
    "legacy",
    "local",
    "median",
    "memory",
    "metrics",
    "mobile",
    "monthly",
    "nightly",
    "north",
    "peak",
    "preprod",
    "preview",
    "production",
    "qa",
    "ram",
    "sandbox",
    "shadow",
    "south",
    "ssd",
    "ssh",
    "staging",
    "standby",
    "storage",
    "swap",
    "third",
    "uat",
    "volume",
    "weekly",
    "west",
    "yearly",
];

/// Qualifiers that are one: what the disk holds is storage.
const ALIKE: &[(&str, &str)] =
    &[("ram", "memory"), ("ssd", "disk"), ("storage", "disk"), ("volume", "disk"), ("connect", "connection")];

/// Qualifiers of which one excludes the other; where a text has neither, nothing is said.
const APART: &[[&str; 2]] = &[
    ["start", "end"],
    ["minimum", "maximum"],
    ["read", "write"],
    ["upload", "download"],
    ["internal", "external"],
    ["public", "private"],
    ["soft", "hard"],
    ["inbound", "outbound"],
    ["upper", "lower"],
    ["left", "right"],
    ["client", "server"],
    ["leader", "follower"],
    ["primary", "secondary"],
    ["primary", "replica"],
];

/// Whether two texts speak of two of a kind.
fn is_qualified(one: &Frame, two: &Frame) -> bool {
    let of = |frame: &Frame| -> Vec<&'static str> {
        let found = |part: &Part| {
            let word = QUALIFIERS.iter().find(|word| **word == part.normal)?;
            Some(ALIKE.iter().find(|(other, _)| other == word).map_or(*word, |(_, same)| *same))
        };
        let is_word = |part: &&Part| matches!(part.role, Role::Word | Role::Opener) && !part.is_former;
        frame.parts.iter().filter(is_word).filter_map(found).collect()
    };
    let has =
        |frame: &Frame, word: &str| frame.parts.iter().any(|part| !part.is_former && part.normal == word);
    let is_apart = || {
        let is = |a: &str, b: &str| has(one, a) && has(two, b) && !has(one, b) && !has(two, a);
        APART.iter().any(|[a, b]| is(a, b) || is(b, a))
    };
    let (mine, theirs) = (of(one), of(two));
    let only = |these: &[&'static str], those: &[&'static str]| -> Vec<&'static str> {
        these.iter().filter(|word| !those.contains(word)).copied().collect()
    };
    !only(&mine, &theirs).is_empty() || !only(&theirs, &mine).is_empty() || is_apart()
}

#[cfg(test)]
mod tests;
