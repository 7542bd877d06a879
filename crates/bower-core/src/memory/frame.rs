//! Frames: a statement split into things, values and attribute words, to pair it with a reworded one.
//! Two texts are laid side by side: whether both speak of one attribute is told by how alike in meaning they are without names
//! and values. Where anything is unsure there is no pairing: a wrong one hides what is still true.

mod attribute;
mod numbered;
pub(super) mod parts;
mod question;
mod tense;

use super::claims::tokens::Token;
use super::slot::{Holds, Slot};
use attribute::{Attributes, Kinship};
use numbered::Numbered;
pub(super) use parts::Sort;
use parts::{Former, Part, Role};
pub use question::{Question, Worth};

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
    /// Which attributes its words speak of.
    attributes: Attributes,
    /// The things that it tells apart by a number.
    numbered: Vec<Numbered>,
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
    /// Whether the words of both speak of the same attribute, and neither of another one of its kind.
    pub is_sure: bool,
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
        let words: Vec<String> = parts.iter().map(|part| part.text.to_lowercase()).collect();
        let former = parts::take_former(&mut parts, &words);
        let numbered = numbered::take(&mut parts);
        Self {
            present: parts::present(&parts),
            is_of_now: tense::is_of_now(core) && !tokens.iter().any(|token| token.is("?")),
            is_event: tense::is_event(core),
            attributes: Attributes::of(&parts, &words),
            numbered,
            former,
            parts,
            has_more,
        }
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
                        .any(|one| one.flat == part.flat && !one.is_former && one.may_be_name()),
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

    /// Words at the head of the sentence, written as names are, that the other text says in the middle without a capital.
    fn opened_by<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = &'a Part> {
        self.parts.iter().filter(move |part| {
            let is_it = |one: &Part| {
                one.role == Role::Word
                    && one.flat == part.flat
                    && !one.is_former
                    && other.attributes.leaves(&one.normal)
            };
            part.role == Role::Opener && !part.is_former && other.parts.iter().any(is_it)
        })
    }

    /// The plain word right before a name, where it says nothing of the attribute: a first name in lower case.
    fn word_before(&self, name: &Part) -> Option<&str> {
        let at = self.parts.iter().position(|part| part.flat == name.flat)?;
        let before = self.parts.get(at.checked_sub(1)?)?;
        let is_plain = matches!(before.role, Role::Word) && self.attributes.leaves(&before.normal);
        (name.may_be_name() && is_plain && !parts::GENERIC.contains(&before.normal.as_str()))
            .then_some(before.normal.as_str())
    }

    /// Whether a longer name of this text ends with a name that another text gives behind a word which this one has not: "Fiona
    /// Gallo" beside "emil Gallo".
    fn is_longer(&self, name: &Part, before: &str) -> bool {
        let longer = self.parts.iter().find(|part| {
            part.may_be_name() && part.flat.len() > name.flat.len() && part.flat.ends_with(&name.flat)
        });
        longer.is_some_and(|part| !part.flat.contains(before))
    }

    /// The parts that say something.
    fn telling(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter().filter(|part| !matches!(part.role, Role::Idle | Role::Grammar))
    }

    /// Whether the sentence tells what one at its head does to another: "Ada manages Bo" tells who manages Bo.
    fn is_done_by(&self, part: &Part) -> bool {
        let mut telling = self.telling();
        telling.next().is_some_and(|first| first.flat == part.flat)
            && telling.next().is_some_and(|verb| DOES.contains(&verb.flat.trim()))
    }

    /// The word at the head of the sentence where it may be a name that the other text does not say.
    fn opener_beside<'a>(&'a self, other: &Self) -> Vec<(&'a Part, Sort)> {
        let is_own = |part: &&Part| part.role == Role::Opener && !part.is_former && !other.says(&part.flat);
        self.parts.iter().filter(is_own).map(|part| (part, Sort::Name)).take(1).collect()
    }

    /// Whether the sentence begins with one of these things.
    fn begins_with(&self, things: &[&Part]) -> bool {
        self.telling().next().is_some_and(|first| things.iter().any(|thing| thing.flat == first.flat))
    }

    /// The value in plain words of a statement whose attribute takes such: that of its slot, or else the one run of words that say
    /// nothing of the attribute.
    fn plain_value(&self, slot: Option<&Slot>) -> Option<String> {
        if let Some(slot) = slot {
            return Some(slot.shown.clone());
        }
        let is_rest = |part: &Part| {
            matches!(part.role, Role::Word) && !part.is_former && self.attributes.leaves(&part.normal)
        };
        let first = self.parts.iter().position(is_rest)?;
        let length = self.parts[first..].iter().take_while(|part| is_rest(part)).count();
        let (run, behind) = self.parts[first..].split_at(length);
        let describes = |part: &Part| super::slot::words::describes(&part.text.to_lowercase());
        let is_value = length <= 3 && !behind.iter().any(is_rest) && !run.iter().any(describes);
        is_value.then(|| run.iter().map(|part| part.text.as_str()).collect::<Vec<_>>().join(" "))
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

/// Values of one text, those that stand together in the value of its slot as one: "BSD 3-clause".
fn joined<'a>(own: Vec<(&'a Part, Sort)>, slot: Option<&Slot>) -> Vec<(&'a Part, Sort)> {
    let Some(slot) = slot.filter(|_| own.len() > 1) else { return own };
    let shown = parts::flat(&slot.shown);
    let first = own.iter().position(|(part, _)| shown.contains(&part.flat));
    let parts = own.into_iter().enumerate();
    parts
        .filter(|(at, (part, _))| Some(*at) == first || !shown.contains(&part.flat))
        .map(|(_, one)| one)
        .collect()
}

/// A text's frame, and its slot where it has one.
pub type Stated<'a> = (&'a Frame, Option<&'a Slot>);

/// A part of a text that is a value, and of what kind.
type Valued<'a> = (&'a Part, Sort);

/// The values of each side that the other has not.
fn values<'a>(
    (kept, kept_slot): Stated<'a>,
    (told, told_slot): Stated<'a>,
    is_akin: bool,
) -> (Vec<Valued<'a>>, Vec<Valued<'a>>) {
    let (mut old, mut new) = (joined(kept.own(told), kept_slot), joined(told.own(kept), told_slot));
    // "Jenkins builds Heron": who stands at the head is the value.
    if is_akin && old.is_empty() && new.len() == 1 {
        old = kept.opener_beside(told);
    } else if is_akin && new.is_empty() && old.len() == 1 {
        new = told.opener_beside(kept);
    }
    (old, new)
}

/// What both texts speak of: the names that they share and that are no values.
fn things<'a>((kept, kept_slot): Stated<'a>, (told, told_slot): Stated<'a>, is_akin: bool) -> Vec<&'a Part> {
    // A value is never the thing: of "Alice owns billing" the value is Alice.
    let is_value = |part: &Part| {
        [kept_slot, told_slot].iter().flatten().any(|slot| parts::flat(&slot.shown).contains(&part.flat))
    };
    let mut things: Vec<&Part> =
        told.shared(kept).chain(kept.shared(told)).filter(|part| !is_value(part)).collect();
    if things.is_empty() && is_akin {
        things = told.opened_by(kept).chain(kept.opened_by(told)).filter(|part| !is_value(part)).collect();
    }
    // "carla Gallo" and "emil Gallo" are two, however they are written.
    things.retain(|part| {
        let (one, two) = (kept.word_before(part), told.word_before(part));
        let is_other =
            |frame: &Frame, word: Option<&str>| word.is_some_and(|word| frame.is_longer(part, word));
        (one.is_none() || two.is_none() || one == two) && !is_other(kept, two) && !is_other(told, one)
    });
    // Who manages somebody is managed by another.
    if is_akin {
        things.retain(|part| !kept.is_done_by(part) && !told.is_done_by(part));
    }
    things
}

/// Lays a told text beside a memory; `None` where they are not of one thing, or it is not clear which value is which.
pub(super) fn pairing(memory: Stated<'_>, text: Stated<'_>) -> Option<Pairing> {
    let ((kept, kept_slot), (told, told_slot)) = (memory, text);
    if [kept, told].iter().any(|frame| frame.has_more || !frame.is_of_now || frame.parts.is_empty()) {
        return None;
    }
    if [kept_slot, told_slot] == [None; 2] && (kept.is_event || told.is_event) && told.former.is_empty() {
        return None;
    }
    let kinship = kept.attributes.beside(&told.attributes);
    let is_akin = kinship == Kinship::Same;
    let things = things(memory, text, is_akin);
    if things.is_empty() || kinship == Kinship::Apart {
        return None;
    }
    // Not even the former value tells which of several is meant: they begin with one value, as often as not.
    if is_qualified(kept, told) {
        return None;
    }
    let (old, new) = values(memory, text, is_akin);
    let former = told.former.iter().find(|former| {
        let is_it =
            |part: &Part| part.is_value() && !part.is_former && former.normal.as_ref() == Some(&part.normal);
        kept.says(&former.flat) || kept.parts.iter().any(is_it)
    });
    let (change, sort) = match former {
        Some(former) => former_change(memory, text, former, &old, &new)?,
        None => value_change(memory, text, is_akin, &things, &old, &new)?,
    };
    Some(Pairing {
        masked: [kept.masked(told, former), told.masked(kept, None)],
        has_same_words: !kept.words().is_empty() && kept.words() == told.words(),
        is_sure: is_akin && (sort == Sort::Plain || kept.attributes.is_as_near(&told.attributes)),
        change,
        sort,
    })
}

/// The change where the told text says what the value was before; `None` where either text has more values than that.
fn former_change(
    (kept, kept_slot): Stated<'_>,
    (told, told_slot): Stated<'_>,
    former: &Former,
    old: &[Valued<'_>],
    new: &[Valued<'_>],
) -> Option<(Change, Sort)> {
    // What else the memory says is not the former value alone.
    let is_former = |part: &Part| former.has(part);
    let rest = old.iter().filter(|(part, _)| !is_former(part)).count();
    let is_told_again = new.iter().any(|(part, _)| is_former(part));
    if rest > 0 || new.len() > 1 || is_told_again {
        return None;
    }
    let said = kept.parts.iter().find(|part| !part.is_former && part.role != Role::Idle && former.has(part));
    let shown = kept_slot.map(|slot| slot.shown.clone()).or_else(|| Some(said?.text.clone()));
    let is_one = former.normal.is_some() || kept_slot.is_some();
    let from = shown.filter(|_| is_one).unwrap_or_else(|| former.flat.trim().to_owned());
    let own = || new.first().map(|(part, _)| part.text.clone());
    let plain = || told.attributes.is_plain().then(|| told.plain_value(None)).flatten();
    let to = told_slot.map(|slot| slot.shown.clone()).or_else(own).or_else(plain);
    let before = former.normal.clone().unwrap_or_else(|| former.flat.clone());
    let sort = old.first().or(new.first()).map_or(Sort::Name, |(_, sort)| sort.clone());
    Some((Change::Former { from, to, before }, sort))
}

/// The change where each text has one value, or both have the same; `None` where it is not clear which value is which.
fn value_change(
    memory: Stated<'_>,
    text: Stated<'_>,
    is_akin: bool,
    things: &[&Part],
    old: &[Valued<'_>],
    new: &[Valued<'_>],
) -> Option<(Change, Sort)> {
    let ((kept, kept_slot), (told, told_slot)) = (memory, text);
    if [kept_slot, told_slot].iter().flatten().any(|slot| slot.holds != Holds::One) {
        return None;
    }
    match (old, new) {
        ([], []) if is_akin && told.attributes.is_plain() => {
            let (from, to) = (kept.plain_value(kept_slot)?, told.plain_value(told_slot)?);
            if kept_slot.is_none() && told_slot.is_none() {
                return None;
            }
            let before = parts::flat(&from);
            let is_same = before == parts::flat(&to);
            let change = if is_same { Change::Nothing } else { Change::Value { from, to, before } };
            Some((change, Sort::Plain))
        }
        ([], []) => Some((Change::Nothing, kept.has_same_value(told)?)),
        ([one], [two]) if is_replaced(memory, text, is_akin, things, one, two) => {
            let ((old, sort), (new, _)) = (one, two);
            let (from, to, before) = (old.text.clone(), new.text.clone(), old.normal.clone());
            Some((Change::Value { from, to, before }, sort.clone()))
        }
        _ => None,
    }
}

/// Whether of the things named a told value takes the place of a memory's.
fn is_replaced(
    (kept, kept_slot): Stated<'_>,
    (told, told_slot): Stated<'_>,
    is_akin: bool,
    things: &[&Part],
    (one, sort): &Valued<'_>,
    (two, other): &Valued<'_>,
) -> bool {
    if sort != other && !(is_akin && sort.is_nominal() && other.is_nominal()) {
        return false;
    }
    let is_known = |slot: &Slot, part: &Part| parts::flat(&slot.shown).contains(&part.flat);
    let is_slotted = kept_slot.is_some_and(|slot| is_known(slot, one))
        || told_slot.is_some_and(|slot| is_known(slot, two));
    // Of names and identifiers there may be many, of amounts and times there is one. A name beside an identifier is its
    // value where the words say of what.
    let is_of_code = *sort != Sort::Code && *other != Sort::Code && things.iter().any(|part| part.is_thing());
    let is_headed = told.attributes.is_plain() && [kept, told].iter().all(|frame| frame.begins_with(things));
    let is_beside = is_akin && (is_of_code || is_headed);
    // Of two things in one region, tested by one command, the things differ.
    let is_name = |sort: &Sort| matches!(sort, Sort::Name | Sort::Product);
    let are_apart = is_name(sort)
        && is_name(other)
        && told.attributes.are_coded()
        && things.iter().all(|part| part.is_value());
    // Of one system on two machines the machines are the things.
    let are_on_machines = *sort == Sort::Code && !things.iter().any(|part| part.is_value());
    (is_slotted || sort.is_amount() || is_beside) && !are_apart && !are_on_machines
}

/// How alike in meaning two texts of one thing with values of one kind are, names and all, for the newer to stand first: only their
/// order depends on it. At .62 a stale answer stood first in 2.1 and 2.0 % of the questions of two made months, at .70 in 2.3 and 2.4 %.
const BESIDE: f32 = 0.62;

/// Whether a later text tells another value of what an earlier one tells, as far as that can be told from the texts and the cosine
/// of both. Surer than a guess, not sure enough to end the earlier one.
pub fn seems_to_replace(earlier: Stated<'_>, later: Stated<'_>, cosine: Option<f32>) -> bool {
    pairing(earlier, later).is_some_and(|pairing| match pairing.change {
        Change::Nothing => false,
        Change::Former { .. } => true,
        Change::Value { .. } => {
            pairing.has_same_words || pairing.is_sure || cosine.is_some_and(|cosine| cosine >= BESIDE)
        }
    }) || earlier.1.zip(later.1).is_some_and(|(one, two)| {
        one.key == two.key && one.holds.max(two.holds) == Holds::One && !one.same_value(two)
    })
}

/// Verbs of who answers for a thing or a person, behind the one who does.
const DOES: &[&str] =
    &["coaches", "heads", "leads", "maintains", "manages", "mentors", "owns", "represents", "supervises"];

/// Words that tell one thing of a kind from another, or one attribute from the next: which of several a text speaks of.
///
/// Sorted: each word of a text is looked for.
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

/// The qualifiers of a text.
fn qualifiers(frame: &Frame) -> Vec<&'static str> {
    let found = |part: &Part| {
        let word = QUALIFIERS[QUALIFIERS.binary_search(&part.normal.as_str()).ok()?];
        Some(ALIKE.iter().find(|(other, _)| *other == word).map_or(word, |(_, same)| *same))
    };
    let is_word = |part: &Part| matches!(part.role, Role::Word | Role::Opener) && !part.is_former;
    // "connect to port 80" is no connection's port.
    let is_verb = |at: usize| {
        frame.parts[at].normal == "connect"
            && frame.parts.get(at + 1).is_some_and(|next| next.normal.trim() == "to")
    };
    let parts = frame.parts.iter().enumerate();
    parts.filter(|(at, part)| is_word(part) && !is_verb(*at)).filter_map(|(_, part)| found(part)).collect()
}

/// Whether the first of two lists has a qualifier that the second has not.
fn has_beyond(these: &[&str], those: &[&str]) -> bool {
    these.iter().any(|word| !those.contains(word))
}

/// Whether two texts speak of two of a kind.
fn is_qualified(one: &Frame, two: &Frame) -> bool {
    let (mine, theirs) = (qualifiers(one), qualifiers(two));
    has_beyond(&mine, &theirs)
        || has_beyond(&theirs, &mine)
        || is_apart(one, two)
        || numbered::is_apart(&one.numbered, &two.numbered)
}

/// Whether one text speaks of what the other excludes.
fn is_apart(one: &Frame, two: &Frame) -> bool {
    let has =
        |frame: &Frame, word: &str| frame.parts.iter().any(|part| !part.is_former && part.normal == word);
    let is = |a: &str, b: &str| has(one, a) && has(two, b) && !has(one, b) && !has(two, a);
    APART.iter().any(|[a, b]| is(a, b) || is(b, a))
}

#[cfg(test)]
mod tests;
