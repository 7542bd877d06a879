//! Decides what a text is to the existing memories: new, an addition, a repeat, an update or a contradiction.
//! It is a pure decision, which the engine applies. Nothing is ever overwritten: what is superseded stays in the chain of what
//! took its place.

mod why;

use jiff::Timestamp;

use super::claims::{Claims, Difference, What, words};
use super::conflict::{self, Side, Verdict};
use super::frame::{self, Frame, Pairing};
pub use super::relation::PossibleWhy;
use super::relation::{PairLikelihood, READ_WORDS};
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
    /// What the model says that the told text is to it; none where the model was not asked.
    pub relation: Option<PairLikelihood>,
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
    /// Returns a decision about one memory, by which the told text stays.
    pub fn new(fate: CurateOutcome, target: usize, why: Why) -> Self {
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

/// Returns the memories that a text may mean where no rule merges the two, the likeliest first.
fn possible(decision: &Decision, kept: &[Existing<'_>]) -> Vec<Possible> {
    let is_open = |at: usize| match decision.fate {
        CurateOutcome::Create | CurateOutcome::Link => true,
        CurateOutcome::Contradict => decision.target == Some(at),
        _ => false,
    };
    let of = |(at, memory): (usize, &Existing<'_>)| {
        let (why, likelihood) = memory.relation?.possible().filter(|_| is_open(at))?;
        Some(Possible { at, why, likelihood })
    };
    let mut possible: Vec<_> = kept.iter().enumerate().filter_map(of).collect();
    possible.sort_by(|one, two| two.likelihood.total_cmp(&one.likelihood).then(one.at.cmp(&two.at)));
    possible
}

/// Decides. Of the memories, the one with the same slot decides first, then the same text, then whatever is closest; ties
/// go to the earlier place in the list.
///
/// A memory is superseded only by a text of the same slot, by one of the same attribute in other words, or by one that denies it
/// and differs from it in nothing else. A differing number, date, name, version, unit or limit elsewhere makes two facts.
pub fn decide(told: &Incoming<'_>, kept: &[Existing<'_>], bands: &Bands) -> Decision {
    let mut decision = heard(decide_one(told, kept, bands), told, kept);
    let ends = matches!(decision.why.rule, Rule::NewValue | Rule::NoLonger);
    if decision.fate == CurateOutcome::Supersede && decision.stays == Side::Told && ends {
        let target = decision.target.map(|at| &kept[at]);
        let paired = target.and_then(|target| pairing(told, target));
        let before = paired.as_ref().and_then(|pairing| pairing.change.before());
        let others = kept.iter().enumerate().filter(|(at, _)| Some(*at) != decision.target);
        decision.also =
            others.filter(|(_, memory)| gives_way(told, memory, before)).map(|(at, _)| at).collect();
    }
    decision.possible = possible(&decision, kept);
    decision
}

/// Lets the model object to what the rules of words decided, and decide where they leave two texts apart.
fn heard(decision: Decision, told: &Incoming<'_>, kept: &[Existing<'_>]) -> Decision {
    let Some(at) = decision.target.filter(|_| decision.fate != CurateOutcome::Link) else {
        return judged(told, kept).unwrap_or(decision);
    };
    let Some(relation) = kept[at].relation else { return decision };
    let is_refused = match decision.why.rule {
        Rule::SameMeaning | Rule::SameAttribute | Rule::SameValue => !relation.may_repeat(),
        Rule::NewValue | Rule::NoLonger | Rule::OlderValue | Rule::Newer | Rule::Surer => {
            !relation.is_other_value()
        }
        _ => false,
    };
    if is_refused {
        let why = Why { rule: Rule::OtherFact, ..decision.why };
        let link = Decision::new(CurateOutcome::Link, at, why);
        return judged(told, kept).unwrap_or(link);
    }
    // Somebody decides which of two is right, whatever their times: only another value of the same thing replaces.
    if matches!(decision.why.rule, Rule::Newer | Rule::Surer) {
        let why = Why { rule: Rule::Undecided, days: None, surer: None, ..decision.why };
        return Decision::new(CurateOutcome::Contradict, at, why);
    }
    decision
}

/// Decides by the model alone: a text that says the same is kept as a wording, and a contradiction goes to review.
fn judged(told: &Incoming<'_>, kept: &[Existing<'_>]) -> Option<Decision> {
    let is_read = |claims: &Claims| claims.plain().split(' ').count() <= READ_WORDS;
    let decided = |(at, memory): (usize, &Existing<'_>)| {
        let relation = memory.relation.filter(|_| is_read(told.claims) && is_read(memory.claims))?;
        let why = |rule: Rule, likelihood| Why {
            likelihood: Some(likelihood),
            cosine: memory.cosine,
            ..Why::of(rule)
        };
        if relation.is_same() && !has_other_value(told.claims, memory.claims) {
            let why = why(Rule::LikelySame, relation.same);
            Some((relation.same, Decision::new(CurateOutcome::Confirm, at, why)))
        } else if relation.is_contradiction() && !told.is_late(memory) {
            let why = why(Rule::LikelyContradiction, relation.contradiction);
            Some((relation.contradiction, Decision::new(CurateOutcome::Contradict, at, why)))
        } else {
            None
        }
    };
    let decisions = kept.iter().enumerate().filter_map(decided);
    decisions.max_by(|one, two| one.0.total_cmp(&two.0)).map(|(_, decision)| decision)
}

/// Whether two texts differ in one place alone, or in a number or date: then no likelihood makes them the same.
fn has_other_value(told: &Claims, kept: &Claims) -> bool {
    let [one, two] = [told, kept].map(|claims| claims.plain().split(' ').collect::<Vec<_>>());
    let same = one.iter().zip(&two).take_while(|(one, two)| one == two).count();
    let [one, two] = [&one[same..], &two[same..]];
    let end = one.iter().rev().zip(two.iter().rev()).take_while(|(one, two)| one == two).count();
    let [one, two] = [one.len() - end, two.len() - end];
    let differs_once = one > 0 && two > 0 && one.max(two) <= same + end;
    let is_value = |difference: &Difference| {
        matches!(difference.what, What::Number | What::Date | What::Version)
            && difference.from.is_some()
            && difference.to.is_some()
    };
    differs_once || kept.differences(told).iter().any(is_value)
}

fn pairing(told: &Incoming<'_>, memory: &Existing<'_>) -> Option<Pairing> {
    frame::pairing((memory.frame, memory.slot), (told.frame, told.slot))
}

/// Whether a memory says another value of what a told text says; `before` is what the text ends.
fn gives_way(told: &Incoming<'_>, memory: &Existing<'_>, before: Option<&str>) -> bool {
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
        && memory.relation.is_some_and(|relation| relation.is_other_value())
    {
        return true;
    }
    matches!(changed_value(told, memory), Some(Change::Value(_)))
        && memory.relation.is_none_or(|relation| relation.is_other_value())
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
fn changed_value(told: &Incoming<'_>, memory: &Existing<'_>) -> Option<Change> {
    let pairing = pairing(told, memory).filter(is_evident)?;
    Some(changed_by(pairing, told, memory))
}

/// Whether two texts that lie side by side speak of one attribute.
fn is_evident(pairing: &Pairing) -> bool {
    match &pairing.change {
        // A number of one digit is the former value of much.
        frame::Change::Former { from, .. } => from.trim().len() > 1,
        frame::Change::Nothing | frame::Change::Value { .. } => pairing.has_same_words || pairing.is_sure,
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
    match changed_value(told, memory) {
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
