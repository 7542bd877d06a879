//! Decides what a text is to the existing memories: new, an addition, a repeat, an update or a contradiction.
//! It is a pure decision, which the engine applies. Nothing is ever overwritten: what is superseded stays in the chain of what
//! took its place.

mod why;

use jiff::Timestamp;

use super::claims::{Claims, Difference, What, words};
use super::conflict::{self, Side, Verdict};
use super::frame::{self, Frame, Pairing};
use super::slot::{Holds, Slot, slot};
use crate::item::CurateOutcome;
pub use why::{Rule, Why};

/// A text that is told.
#[derive(Clone, Copy, Debug)]
pub struct Incoming<'a> {
    /// What it claims.
    pub claims: &'a Claims,
    /// Its slot, where it has one.
    pub slot: Option<&'a Slot>,
    /// Its first sentence, taken apart.
    pub frame: &'a Frame,
    /// How sure it is, 0..1.
    pub confidence: f32,
    /// When it is told, by the clock.
    pub time: Timestamp,
    /// When it was told first, where that was before and whoever tells it says so: then it may be told late. Else it is told
    /// after everything that is there: its change comes after theirs, whatever the clock said at any of them.
    pub first_time: Option<Timestamp>,
}

impl Incoming<'_> {
    /// Whether it was told before a memory that is there.
    fn is_late(&self, memory: &Existing<'_>) -> bool {
        self.first_time.is_some_and(|first| first < memory.time)
    }

    /// When it was told, as far as a memory's time can be compared with it. A memory that the clock dated later is no newer.
    fn time_beside(&self, memory: &Existing<'_>) -> Timestamp {
        self.first_time.unwrap_or_else(|| self.time.max(memory.time))
    }
}

/// A memory that is there: the head of its chain, never one that was superseded.
#[derive(Clone, Copy, Debug)]
pub struct Existing<'a> {
    /// What it claims.
    pub claims: &'a Claims,
    /// Its slot, where it has one.
    pub slot: Option<&'a Slot>,
    /// Its first sentence, taken apart.
    pub frame: &'a Frame,
    /// How sure it is, 0..1.
    pub confidence: f32,
    /// When it was told, by the clock of that day, or as whoever told it said.
    pub time: Timestamp,
    /// Its likeness in meaning to the told text; none without a model.
    pub cosine: Option<f32>,
    /// The likeness of both without their names and values, as [`asked`] gives them; none where it was not asked.
    pub likeness: Option<f32>,
    /// Whether somebody pinned it: then nothing takes its place without somebody's word.
    pub pinned: bool,
}

/// From which likeness on a text is what.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bands {
    /// Below this cosine a text is new (Bowerbird's first version: "<.70 create; .70-.85 append/link").
    pub near: f32,
    /// From this cosine on two texts without a differing claim say the same (section 1: ">=.95").
    pub same: f32,
    /// The same where both are about the same words: .967 of 123 pairs of SICK agree (`bower-bench pairs`, as below).
    pub same_content: f32,
    /// The same where each has a word of its own: a word exchanged for another is mostly another fact. All of
    /// 25 agree; from .95 on 63 of 66.
    pub same_exchanged: f32,
    /// From this share of common words on two texts of the same words say the same (section 2: "token Jaccard >= .85").
    pub same_words: f32,
    /// Without a model, from this share of common words on a text is near.
    pub near_words: f32,
    /// From this cosine on a denial is one of the same thing: a "not" alone takes up to .4 from it.
    pub denied: f32,
    /// So much of what both are about must be in both: .988 of 484 denials found are denials, and .72 of all are found.
    pub denied_words: f32,
    /// From this cosine on two texts that name the same thing, and one of which has a slot of one value, speak of one attribute
    /// in other words ("has 16 GB of RAM", "memory is 32 GB"). Of 11,000 pairs about one thing in two made months (`bower-bench
    /// life-text`, seeds 7 and 8) .92 of those above .75 did, .98 above .80, all above .85.
    pub attribute: f32,
    /// The same where the text itself says that something changed: .97 of those above .75 (the same pairs).
    pub attribute_update: f32,
    /// From this likeness without names and values on, two texts that give one thing an amount, a time or a version each speak of
    /// one attribute: of 416 invented pairs of such statements with 53 of one attribute, all above .65 did, .60 of them are found
    /// from .55 on, where .96 did.
    pub frame: f32,
    /// The same of names, addresses and commands: of 300 such pairs with 23 of one attribute all above .69 did.
    pub frame_name: f32,
    /// The same of one product in two versions ("PostgreSQL 14", "PostgreSQL 16"): it is seldom used twice by one thing.
    pub frame_variant: f32,
    /// So much less is enough where the text itself says that something changed.
    pub frame_update: f32,
    /// So much less is enough where the words of both speak of one attribute ("owner", "looked after by").
    pub frame_akin: f32,
    /// So much more a name takes where one text speaks of an attribute that is known, and the other of none.
    pub frame_unlike: f32,
    /// Below this likeness two texts are not of one attribute, however close they are with their names.
    pub frame_least: f32,
    /// The same is enough where the told text names the very value that the memory gives as the former one.
    pub frame_former: f32,
    /// Who is right of two that deny each other.
    pub conflict: conflict::Constants,
}

impl Default for Bands {
    fn default() -> Self {
        Self {
            near: 0.70,
            same: 0.95,
            same_content: 0.90,
            same_exchanged: 0.97,
            same_words: 0.85,
            near_words: 0.5,
            denied: 0.60,
            denied_words: 0.7,
            attribute: 0.82,
            attribute_update: 0.78,
            frame: 0.62,
            frame_name: 0.70,
            frame_variant: 0.40,
            frame_update: 0.04,
            frame_akin: 0.15,
            frame_unlike: 0.08,
            frame_least: 0.50,
            frame_former: 0.15,
            conflict: conflict::Constants::default(),
        }
    }
}

/// What becomes of a told text.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// What is done.
    pub fate: CurateOutcome,
    /// With which of the memories, as a place in the list; none for a new one.
    pub target: Option<usize>,
    /// Where one of the two is superseded, which of them stays. Where that is what was kept, the told text is written too,
    /// as superseded by it: it is older or less sure, and part of the history all the same.
    pub stays: Side,
    /// Other memories that say what is no longer so: where one was told in several ways, all of them are superseded.
    pub also: Vec<usize>,
    /// Memories that the told text may replace or repeat, for whoever tells it to settle; the nearest first.
    pub possible: Vec<Possible>,
    /// By which rule.
    pub why: Why,
}

impl Decision {
    fn new(fate: CurateOutcome, target: usize, why: Why) -> Self {
        Self { fate, target: Some(target), stays: Side::Told, also: Vec::new(), possible: Vec::new(), why }
    }
}

/// A memory that a told text may mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Possible {
    /// Its place in the list.
    pub at: usize,
    /// What the text may be to it.
    pub why: PossibleWhy,
    /// The likelihood, 0..1.
    pub likelihood: f32,
}

/// What a told text may be to a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PossibleWhy {
    /// A later value of the same thing.
    Update,
    /// The same in other words.
    Same,
    /// A contradiction.
    Contradiction,
}

/// What two statements about one thing are to each other, by the cosine of both: from this cosine on, the shares of updates, of
/// the same in other words, and of contradictions. Below the last cosine a text has another subject: of 201 statements about
/// anything, .15 have a neighbour above it. `bower-bench possible` prints these shares, of its `data/memory/statements`.
const NEAR: [(f32, [f32; 3]); 6] = [
    (0.90, [0.38, 0.05, 0.08]),
    (0.80, [0.19, 0.25, 0.16]),
    (0.70, [0.16, 0.28, 0.20]),
    (0.60, [0.19, 0.18, 0.18]),
    (0.50, [0.27, 0.11, 0.14]),
    (0.47, [0.30, 0.10, 0.13]),
];

/// Returns the memories that a text may mean where no rule merges the two, the nearest first.
fn possible(decision: &Decision, kept: &[Existing<'_>]) -> Vec<Possible> {
    if !matches!(decision.fate, CurateOutcome::Create | CurateOutcome::Link) {
        return Vec::new();
    }
    let of = |(at, memory): (usize, &Existing<'_>)| {
        let cosine = memory.cosine?;
        let (_, [update, same, contradiction]) = NEAR.iter().find(|(least, _)| cosine >= *least)?;
        let whys = [
            (PossibleWhy::Update, *update),
            (PossibleWhy::Same, *same),
            (PossibleWhy::Contradiction, *contradiction),
        ];
        let (why, likelihood) = whys.into_iter().max_by(|one, two| one.1.total_cmp(&two.1))?;
        Some((cosine, Possible { at, why, likelihood }))
    };
    let mut near: Vec<_> = kept.iter().enumerate().filter_map(of).collect();
    near.sort_by(|one, two| two.0.total_cmp(&one.0).then(one.1.at.cmp(&two.1.at)));
    near.into_iter().map(|(_, possible)| possible).collect()
}

/// Decides. Of the memories, the one with the same slot decides first, then the same text, then whatever is closest; ties
/// go to the earlier place in the list.
///
/// A memory is superseded only by a text of the same slot, by one of the same attribute in other words, or by one that denies it
/// and differs from it in nothing else. A differing number, date, name, version, unit or limit elsewhere makes two facts.
pub fn decide(told: &Incoming<'_>, kept: &[Existing<'_>], bands: &Bands) -> Decision {
    let mut decision = decide_one(told, kept, bands);
    let ends = matches!(decision.why.rule, Rule::NewValue | Rule::NoLonger);
    if decision.fate == CurateOutcome::Supersede && decision.stays == Side::Told && ends {
        let target = decision.target.map(|at| &kept[at]);
        let paired = target.and_then(|target| pairing(told, target));
        let before = paired.as_ref().and_then(|pairing| pairing.change.before());
        let others = kept.iter().enumerate().filter(|(at, _)| Some(*at) != decision.target);
        decision.also =
            others.filter(|(_, memory)| gives_way(told, memory, before, bands)).map(|(at, _)| at).collect();
    }
    decision.possible = possible(&decision, kept);
    decision
}

/// What a model is to compare before a decision: for each of the memories, both texts without names and values (the memory's
/// first), where the likeness of the two may decide.
pub fn asked(told: &Incoming<'_>, kept: &[Existing<'_>]) -> Vec<Option<[String; 2]>> {
    let asked = |memory: &Existing<'_>| {
        let has_key = told.slot.zip(memory.slot).is_some_and(|(slot, other)| slot.key == other.key);
        let is_asked = !has_key && memory.claims.plain() != told.claims.plain();
        let pairing = is_asked.then(|| pairing(told, memory)).flatten();
        pairing.filter(|pairing| !pairing.is_sure).map(|pairing| pairing.masked)
    };
    kept.iter().map(asked).collect()
}

fn pairing(told: &Incoming<'_>, memory: &Existing<'_>) -> Option<Pairing> {
    frame::pairing((memory.frame, memory.slot), (told.frame, told.slot))
}

/// Whether a memory says another value of what a told text says; `before` is what the text ends.
fn gives_way(told: &Incoming<'_>, memory: &Existing<'_>, before: Option<&str>, bands: &Bands) -> bool {
    if memory.pinned || told.is_late(memory) {
        return false;
    }
    if let Some((slot, other)) = told.slot.zip(memory.slot)
        && slot.key == other.key
    {
        return slot.holds.max(other.holds) == Holds::One && !slot.same_value(other);
    }
    if let Some(pairing) = pairing(told, memory)
        && before.is_some()
        && pairing.change.before() == before
        && memory.likeness.is_some_and(|likeness| likeness >= bands.frame_least)
    {
        return true;
    }
    matches!(changed_value(told, memory, bands), Some(Change::Value(_)))
}

fn decide_one(told: &Incoming<'_>, kept: &[Existing<'_>], bands: &Bands) -> Decision {
    if let Some(decision) = by_slot(told, kept) {
        return decision;
    }
    let is_same = |memory: &Existing<'_>| memory.claims.plain() == told.claims.plain();
    if let Some(target) = kept.iter().position(is_same) {
        return Decision::new(CurateOutcome::Confirm, target, Why::of(Rule::SameText));
    }
    let mut best: Option<(u8, f32, Decision)> = None;
    for (at, memory) in kept.iter().enumerate() {
        let Some(decision) = beside(told, memory, at, bands) else { continue };
        let rank = match decision.fate {
            CurateOutcome::Confirm => 4,
            CurateOutcome::Append => 3,
            CurateOutcome::Supersede | CurateOutcome::Contradict => 2,
            CurateOutcome::Link => 1,
            CurateOutcome::Create | CurateOutcome::Refuse => 0,
        };
        let strength = memory.cosine.or(decision.why.jaccard).unwrap_or(0.0);
        let is_better = best.as_ref().is_none_or(|(best_rank, best_strength, _)| {
            rank.cmp(best_rank).then(strength.total_cmp(best_strength)).is_gt()
        });
        if is_better {
            best = Some((rank, strength, decision));
        }
    }
    best.map_or_else(
        || Decision {
            fate: CurateOutcome::Create,
            target: None,
            stays: Side::Told,
            also: Vec::new(),
            possible: Vec::new(),
            why: Why::of(Rule::New),
        },
        |(_, _, decision)| decision,
    )
}

/// What a later text changed of an earlier one, in one line: the value of their slot, else the first claim that differs.
pub fn changed(earlier: &str, later: &str) -> Option<String> {
    let slots =
        slot(earlier).zip(slot(later)).filter(|(one, two)| one.key == two.key && !one.same_value(two));
    let value = slots.map(|(one, two)| value_of(&two, &one));
    let first = || Claims::of(earlier).differences(&Claims::of(later)).into_iter().next();
    value.or_else(first).map(|difference| difference.to_string())
}

/// The memories of the same slot.
fn by_slot(told: &Incoming<'_>, kept: &[Existing<'_>]) -> Option<Decision> {
    let slot = told.slot?;
    let mut same: Vec<(usize, &Existing<'_>, &Slot)> = kept
        .iter()
        .enumerate()
        .filter_map(|(at, memory)| Some((at, memory, memory.slot.filter(|other| other.key == slot.key)?)))
        .collect();
    // The newest first: an older head with the same value does not bring that value back. What a wrong clock dated later than
    // now was told before now; of two such the one that comes first in the list was told last.
    same.sort_by_key(|(_, memory, _)| std::cmp::Reverse(memory.time.min(told.time)));
    let &(at, memory, newest) = same.first()?;
    if slot.holds.max(newest.holds) == Holds::One {
        return Some(if slot.same_value(newest) {
            confirmed(told, slot, at, memory, newest)
        } else {
            replaced(told, slot, at, memory, newest)
        });
    }
    let find = |fits: &dyn Fn(&Slot) -> bool| same.iter().find(|(_, _, other)| fits(other)).copied();
    if let Some((at, memory, other)) = find(&|other| slot.ends(other)) {
        return Some(replaced(told, slot, at, memory, other));
    }
    if let Some((at, memory, other)) = find(&|other| slot.same_value(other)) {
        return Some(confirmed(told, slot, at, memory, other));
    }
    if let Some((at, memory, other)) = find(&|other| slot.is_variant(other)) {
        return Some(replaced(told, slot, at, memory, other));
    }
    if slot.holds.max(newest.holds) == Holds::Mostly && slot.says_update {
        return Some(replaced(told, slot, at, memory, newest));
    }
    let why = Why::of(Rule::SeveralValues).with(value_of(slot, newest));
    Some(Decision::new(CurateOutcome::Link, at, why))
}

/// The same value: said once more, or with a reason that was not known.
fn confirmed(told: &Incoming<'_>, slot: &Slot, at: usize, memory: &Existing<'_>, other: &Slot) -> Decision {
    if memory.claims.plain() == told.claims.plain() {
        return Decision::new(CurateOutcome::Confirm, at, Why::of(Rule::SameText));
    }
    let value = Difference { from: None, ..value_of(slot, other) };
    if slot.has_remark && !other.has_remark && !told.is_late(memory) && !memory.pinned {
        return Decision::new(CurateOutcome::Append, at, Why::of(Rule::SaysMore).with(value));
    }
    Decision::new(CurateOutcome::Confirm, at, Why::of(Rule::SameValue).with(value))
}

/// What a text changed of a memory that speaks of the same attribute.
enum Change {
    /// The value is the same.
    Nothing,
    /// It is another.
    Value(Difference),
}

/// What a text changed of a memory that speaks of the same attribute; `None` where it is another, or nothing can tell.
fn changed_value(told: &Incoming<'_>, memory: &Existing<'_>, bands: &Bands) -> Option<Change> {
    if let Some(pairing) = pairing(told, memory)
        && is_evident(&pairing, told, memory, bands)
    {
        return Some(changed_by(pairing, told, memory));
    }
    if memory.likeness.is_some_and(|likeness| likeness < bands.frame_least)
        || !is_same_attribute(told, memory, bands)
    {
        return None;
    }
    value_change(told, memory, &memory.claims.differences(told.claims))
}

/// Whether two texts that lie side by side speak of one attribute.
fn is_evident(pairing: &Pairing, told: &Incoming<'_>, memory: &Existing<'_>, bands: &Bands) -> bool {
    let is_alike = |least: f32| memory.likeness.is_some_and(|likeness| likeness >= least);
    let less = if told.claims.says_update() { bands.frame_update } else { 0.0 }
        + if pairing.is_akin { bands.frame_akin } else { 0.0 };
    let more = if pairing.is_unlike { bands.frame_unlike } else { 0.0 };
    let least = if pairing.sort.is_amount() {
        bands.frame
    } else if matches!(pairing.sort, frame::Sort::Place(_)) {
        bands.frame + more
    } else if pairing.is_variant {
        bands.frame_variant
    } else {
        bands.frame_name + more
    };
    match &pairing.change {
        // A number of one digit is the former value of much.
        frame::Change::Former { from, .. } if from.trim().len() > 1 => {
            memory.likeness.is_none_or(|likeness| likeness >= bands.frame_former)
        }
        frame::Change::Former { .. } => is_alike(bands.frame_least),
        frame::Change::Nothing | frame::Change::Value { .. } => {
            pairing.has_same_words || pairing.is_sure || is_alike(least - less)
        }
    }
}

fn changed_by(pairing: Pairing, told: &Incoming<'_>, memory: &Existing<'_>) -> Change {
    let (from, to) = match pairing.change {
        frame::Change::Nothing => return Change::Nothing,
        frame::Change::Value { from, to, .. } => (from, Some(to)),
        frame::Change::Former { from, to, .. } => (from, to),
    };
    let label = told.slot.or(memory.slot).map(|slot| slot.label.clone());
    let has = |text: &str, label: &str| text.to_lowercase().contains(label);
    let label = label.filter(|label| !has(&from, label) && !to.as_deref().is_some_and(|to| has(to, label)));
    Change::Value(Difference { what: What::Value, label, from: Some(from), to })
}

/// Whether two texts speak of one attribute of one thing, in whatever words: they share a name, they are close in meaning, and
/// one of them is known to speak of something that has one value at a time.
fn is_same_attribute(told: &Incoming<'_>, memory: &Existing<'_>, bands: &Bands) -> bool {
    let holds = [told.slot, memory.slot].map(|slot| slot.map(|slot| slot.holds));
    let has_one = holds.contains(&Some(Holds::One));
    let least = if told.claims.says_update() { bands.attribute_update } else { bands.attribute };
    has_one
        && holds.iter().flatten().all(|holds| *holds == Holds::One)
        && memory.cosine.is_some_and(|cosine| cosine >= least)
        && told.claims.is_of_now()
        && memory.claims.is_of_now()
        && memory.frame.stands_beside(told.frame)
        && memory.frame.may_replace(told.frame)
        && is_one_thing(told, memory)
        && !is_qualified(told, memory)
}

/// Whether two texts name one thing: what a text with a slot names outside its value, and one name at least, the other says too.
fn is_one_thing(told: &Incoming<'_>, memory: &Existing<'_>) -> bool {
    let sides = [(told.slot, told.claims, memory.claims), (memory.slot, memory.claims, told.claims)];
    let mut named = false;
    for (slot, claims, other) in sides {
        let Some(slot) = slot else { continue };
        for name in claims.names_outside(&slot.shown) {
            if !other.says(&name) {
                return false;
            }
            named = true;
        }
    }
    named
}

/// Words that tell one thing of a kind from another, stemmed: which of several the text speaks of.
const QUALIFIERS: &[&str] = &[
    "alpha",
    "backup",
    "beta",
    "blue",
    "canari",
    "default",
    "demo",
    "dev",
    "develop",
    "east",
    "extern",
    "fallback",
    "first",
    "follow",
    "front",
    "green",
    "intern",
    "last",
    "leader",
    "left",
    "legaci",
    "live",
    "local",
    "lower",
    "main",
    "master",
    "nightli",
    "north",
    "old",
    "preprod",
    "preview",
    "primari",
    "privat",
    "prod",
    "product",
    "public",
    "qa",
    "replica",
    "right",
    "sandbox",
    "second",
    "secondari",
    "shadow",
    "south",
    "stage",
    "standbi",
    "test",
    "third",
    "uat",
    "upper",
    "west",
];

/// Whether one of two texts has a qualifier that the other lacks, or one slot is the other with a word more: two things then.
fn is_qualified(told: &Incoming<'_>, memory: &Existing<'_>) -> bool {
    let apart = told.claims.beyond(memory.claims).chain(memory.claims.beyond(told.claims));
    if apart.into_iter().any(|word| QUALIFIERS.contains(&word)) {
        return true;
    }
    let words =
        |slot: &Slot| slot.key.split(' ').map(str::to_owned).collect::<std::collections::BTreeSet<_>>();
    told.slot.zip(memory.slot).is_some_and(|(slot, other)| {
        let (one, two) = (words(slot), words(other));
        one.is_subset(&two) || two.is_subset(&one)
    })
}

/// What became of the value of such an attribute; `None` where nothing can tell, or the values are of different kinds.
///
/// Words around the value may differ as they like, even where they would make two facts of other texts: "no longer 8080", "from
/// May on", "is now".
fn value_change(told: &Incoming<'_>, memory: &Existing<'_>, differences: &[Difference]) -> Option<Change> {
    let says_update = told.claims.says_update();
    if differences.iter().any(Difference::is_denial) && !says_update {
        return None;
    }
    let unit = |slot: &Slot| slot.value.split_once(' ').map(|(_, unit)| unit.to_owned());
    let is_quantity = |slot: &Slot| slot.value.starts_with(|c: char| c.is_ascii_digit());
    let is_same = match (told.slot, memory.slot) {
        (Some(slot), Some(other)) => {
            if is_quantity(slot) != is_quantity(other) || is_quantity(slot) && unit(slot) != unit(other) {
                return None;
            }
            slot.same_value(other)
        }
        // What was so before is said by a text that tells of a change.
        (Some(slot), None) => {
            let is_said = memory.claims.says_all(&slot.shown);
            if is_said && memory.claims.says_update() {
                return None;
            }
            is_said
        }
        (None, Some(other)) => !says_update && told.claims.says_all(&other.shown),
        (None, None) => return None,
    };
    if is_same {
        // A confirmation drops the text: it must say nothing else.
        return differences.is_empty().then_some(Change::Nothing);
    }
    let joined = |side: fn(&Difference) -> &Option<String>| {
        let parts: Vec<&str> = differences.iter().filter_map(|one| side(one).as_deref()).collect();
        (!parts.is_empty()).then(|| parts.join(" "))
    };
    let shown = |slot: Option<&Slot>| slot.map(|slot| slot.shown.clone());
    let from = shown(memory.slot).or_else(|| joined(|one| &one.from));
    let to = shown(told.slot).or_else(|| joined(|one| &one.to))?;
    // A quantity may be told with what it is of.
    let label = told.slot.or(memory.slot).map(|slot| slot.label.clone());
    let has = |text: &str, label: &str| text.contains(label);
    let label =
        label.filter(|label| !has(&to, label) && !from.as_deref().is_some_and(|from| has(from, label)));
    Some(Change::Value(Difference { what: What::Value, label, from, to: Some(to) }))
}

/// Another value of the same slot: the later one stays.
fn replaced(told: &Incoming<'_>, slot: &Slot, at: usize, memory: &Existing<'_>, other: &Slot) -> Decision {
    supersedes(told, at, memory, value_of(slot, other))
}

fn supersedes(told: &Incoming<'_>, at: usize, memory: &Existing<'_>, value: Difference) -> Decision {
    if told.is_late(memory) {
        let why = Why::of(Rule::OlderValue).with(value);
        return Decision { stays: Side::Kept, ..Decision::new(CurateOutcome::Supersede, at, why) };
    }
    if memory.pinned {
        return Decision::new(CurateOutcome::Contradict, at, Why::of(Rule::Pinned).with(value));
    }
    let rule = if value.to.is_some() { Rule::NewValue } else { Rule::NoLonger };
    Decision::new(CurateOutcome::Supersede, at, Why::of(rule).with(value))
}

fn value_of(slot: &Slot, other: &Slot) -> Difference {
    Difference {
        what: What::Value,
        label: Some(slot.label.clone()),
        from: Some(other.shown.clone()),
        to: Some(slot.shown.clone()),
    }
}

/// A text beside one memory that is not of its slot; `None` where they are far apart.
fn beside(told: &Incoming<'_>, memory: &Existing<'_>, at: usize, bands: &Bands) -> Option<Decision> {
    let jaccard = memory.claims.jaccard(told.claims);
    let share = |least: f32| memory.cosine.is_some_and(|cosine| cosine >= least);
    let differences = memory.claims.differences(told.claims);
    let is_near = match memory.cosine {
        Some(_) => share(bands.near) || jaccard >= bands.same_words,
        None => jaccard >= bands.near_words,
    };
    let why = |rule: Rule| Why { cosine: memory.cosine, jaccard: Some(jaccard), ..Why::of(rule) };
    let link = |why: Why| is_near.then(|| Decision::new(CurateOutcome::Link, at, why));
    match changed_value(told, memory, bands) {
        Some(Change::Nothing) if !differences.is_empty() => {}
        Some(Change::Nothing) if told.slot.is_some() && memory.slot.is_none() && !memory.pinned => {
            return Some(Decision::new(CurateOutcome::Append, at, why(Rule::SameAttribute)));
        }
        Some(Change::Nothing) => {
            return Some(Decision::new(CurateOutcome::Confirm, at, why(Rule::SameAttribute)));
        }
        Some(Change::Value(value)) => {
            let decision = supersedes(told, at, memory, value);
            let why = Why {
                rule: decision.why.rule,
                difference: decision.why.difference.clone(),
                ..why(Rule::NewValue)
            };
            return Some(Decision { why, ..decision });
        }
        None => {}
    }
    if !is_near && !share(bands.denied) {
        return None;
    }
    if told.slot.zip(memory.slot).is_some() {
        return link(why(Rule::OtherSlot));
    }
    if memory.slot.is_none()
        && !memory.pinned
        && extends(memory.claims, told.claims, &differences, Side::Told)
    {
        return Some(Decision::new(CurateOutcome::Append, at, why(Rule::SaysMore)));
    }
    if told.slot.is_none() && extends(told.claims, memory.claims, &differences, Side::Kept) {
        return Some(Decision::new(CurateOutcome::Confirm, at, why(Rule::SaysLess)));
    }
    let denial = differences.iter().find(|difference| difference.is_denial());
    // "No jobs are dropped" denies "four jobs are dropped": how many is no difference where there are none.
    let is_counted_away = |difference: &Difference| {
        let is_told = told.claims.denials() > memory.claims.denials();
        let side = if is_told { &difference.to } else { &difference.from };
        denial.is_some() && difference.what == What::Number && side.is_none()
    };
    let mut others = differences.iter().filter(|difference| !difference.is_denial());
    if let Some(other) = others.find(|other| !is_counted_away(other)) {
        return link(why(Rule::OtherFact).with(other.clone()));
    }
    if let Some(denial) = denial {
        if !denies(told.claims, memory, denial, bands) {
            return link(why(Rule::OtherFact).with(denial.clone()));
        }
        return Some(denied(told, memory, at, bands, &why(Rule::Undecided).with(denial.clone())));
    }
    if !memory.frame.is_unqualified(told.frame) {
        return link(why(Rule::OtherFact));
    }
    let own = |one: &Claims, two: &Claims| one.beyond(two).next().is_some();
    let is_same = match (own(told.claims, memory.claims), own(memory.claims, told.claims)) {
        (false, false) if jaccard >= bands.same_words => Some(Rule::SameWords),
        (false, false) => share(bands.same_content).then_some(Rule::SameMeaning),
        (true, true) => share(bands.same_exchanged).then_some(Rule::SameMeaning),
        (true, false) | (false, true) => share(bands.same).then_some(Rule::SameMeaning),
    };
    match is_same {
        // Only what has a slot is found when its value changes: it takes the place of a text that has none.
        Some(rule) if told.slot.is_some() && !memory.pinned => {
            Some(Decision::new(CurateOutcome::Append, at, why(rule)))
        }
        Some(rule) => Some(Decision::new(CurateOutcome::Confirm, at, why(rule))),
        None => link(why(Rule::Near)),
    }
}

/// Whether a longer text is a shorter one with another clause behind it. What the clause adds is no difference; a denial, a
/// limit or an opposite in it is, as it may take back what was said.
fn extends(short: &Claims, long: &Claims, differences: &[Difference], longer: Side) -> bool {
    const JOINTS: &[&str] = &[
        ". ",
        "; ",
        " because ",
        ", because ",
        ", so ",
        " so that ",
        ", which ",
        " (",
        " - ",
        " — ",
        ", and ",
        " and ",
    ];
    let Some(rest) = long.plain().strip_prefix(short.plain()) else { return false };
    let adds = |difference: &Difference| {
        let absent = match longer {
            Side::Told => &difference.from,
            Side::Kept => &difference.to,
        };
        let is_claim = matches!(difference.what, What::Number | What::Date | What::Version | What::Name);
        is_claim && absent.is_none()
    };
    !short.plain().is_empty()
        && JOINTS.iter().any(|joint| rest.starts_with(joint))
        && differences.iter().all(adds)
}

/// Whether one text denies what the other says, and not something beside it: what the denying text is about is all in the
/// other text, and is most of it.
fn denies(told: &Claims, memory: &Existing<'_>, denial: &Difference, bands: &Bands) -> bool {
    let kept = memory.claims;
    let weighs = |word: &&str| {
        let is_change = matches!(*word, "longer" | "anymor" | "stop" | "ceas" | "quit");
        let is_pole = denial.what == What::Opposite && !words::opposites(word).is_empty();
        !is_change && !is_pole
    };
    let fresh = told.beyond(kept).filter(weighs).count();
    let lost = kept.beyond(told).filter(weighs).count();
    let shared = told.shared(kept).len();
    let all = (shared + fresh + lost).max(1) as f32;
    let is_most = shared > 0 && shared as f32 / all >= bands.denied_words;
    let is_about_it = match (denial.what, told.denials() > kept.denials()) {
        (What::Negation, true) => fresh == 0,
        (What::Negation, false) => lost == 0,
        _ => fresh == 0 && lost == 0,
    };
    is_most && is_about_it && memory.cosine.is_none_or(|cosine| cosine >= bands.denied)
}

/// One denies the other: who stays.
fn denied(told: &Incoming<'_>, memory: &Existing<'_>, at: usize, bands: &Bands, why: &Why) -> Decision {
    let decision =
        |rule: Rule, fate: CurateOutcome, stays: Side, days: Option<f64>, surer: Option<f32>| Decision {
            fate,
            target: Some(at),
            stays,
            also: Vec::new(),
            possible: Vec::new(),
            why: Why { rule, days, surer, ..why.clone() },
        };
    if memory.pinned {
        return decision(Rule::Pinned, CurateOutcome::Contradict, Side::Told, None, None);
    }
    if told.claims.says_update() && !told.is_late(memory) {
        return decision(Rule::NoLonger, CurateOutcome::Supersede, Side::Told, None, None);
    }
    let sides = ((told.time_beside(memory), told.confidence), (memory.time, memory.confidence));
    match conflict::resolve(sides.0, sides.1, &bands.conflict) {
        Verdict::Newer(side, days) => decision(Rule::Newer, CurateOutcome::Supersede, side, Some(days), None),
        Verdict::Surer(side, by) => decision(Rule::Surer, CurateOutcome::Supersede, side, None, Some(by)),
        Verdict::Open => decision(Rule::Undecided, CurateOutcome::Contradict, Side::Told, None, None),
    }
}

#[cfg(test)]
mod tests;
