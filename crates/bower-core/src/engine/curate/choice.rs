//! Chooses the outcome for a new memory, by the rules' decision or by the caller's word, and what stays open.

use serde_json::{Map, Value, json};

use crate::engine::curate::neighbours::Neighbour;
use crate::engine::query::possible::named;
use crate::item::{CurateOutcome, PairRuling, Relation, Status, Tier};
use crate::memory::analysis::Analysis;
use crate::memory::merge::{Decision, PossibleWhy, Side};
use crate::request::{EarlierMemory, Item, Other};
use crate::store::{NewMemory, PossibleRow, WriteAction};

/// Most earlier memories that an answer names.
const MOST_POSSIBLE: usize = 3;

/// The outcome for a new memory, with the existing memory that decided it.
pub(crate) struct Choice {
    pub(crate) fate: CurateOutcome,
    pub(crate) other: Option<Item>,
    stays: Side,
    /// Whether the other memory says the same in other words, which are kept.
    is_reworded: bool,
    /// The reason, in one line.
    pub(crate) why: String,
    /// The rule and its figures, for the event. Words of either text are not among them.
    pub(crate) reasons: Map<String, Value>,
    /// Strength of a link, 0..1.
    strength: f32,
    possible: Vec<(Item, PossibleWhy, f32)>,
}

impl Choice {
    /// Takes the rules' decision about a text.
    pub(crate) fn ruled(decision: &Decision, near: &[Neighbour], told: &Analysis) -> Self {
        let target = decision.target.map(|at| &near[at]);
        let possible = decision.possible.iter();
        let mut possible: Vec<_> =
            possible.map(|one| (near[one.at].item.clone(), one.why, one.likelihood)).collect();
        possible.truncate(MOST_POSSIBLE);
        Self {
            fate: decision.fate,
            other: target.map(|near| near.item.clone()),
            stays: decision.stays,
            is_reworded: target.is_some_and(|near| !near.has_text(told)),
            why: decision.why.to_string(),
            reasons: reasons(decision),
            strength: decision.why.cosine.or(decision.why.jaccard).unwrap_or(1.0).clamp(0.0, 1.0),
            possible,
        }
    }

    /// Takes the caller's word about an existing memory.
    pub(crate) fn told(other: &Item, ruling: PairRuling, told: &Analysis) -> Self {
        let mut reasons = Map::from_iter([("rule".to_owned(), json!("told"))]);
        let fate = match ruling {
            PairRuling::Replaces => {
                if other.tier == Tier::Pinned {
                    reasons.insert("pinned".to_owned(), json!(true));
                }
                CurateOutcome::Supersede
            }
            PairRuling::Confirms => CurateOutcome::Confirm,
            PairRuling::DifferentFrom => CurateOutcome::Create,
        };
        Self {
            fate,
            other: Some(other.clone()),
            stays: Side::Told,
            is_reworded: Analysis::of(&other.content).plain() != told.plain(),
            why: "as the caller said".to_owned(),
            reasons,
            strength: 1.0,
            possible: Vec::new(),
        }
    }

    /// Returns what the store does with the memory. A candidate replaces only another candidate, and none of more trusted
    /// sources. An unreviewed memory of an import replaces only what was imported. Where it would supersede another memory, a
    /// review is opened. Where it would only add detail, it is kept beside it.
    pub(crate) fn action(&self, memory: &NewMemory) -> WriteAction {
        let Some(other) = &self.other else { return WriteAction::Alone };
        let link = WriteAction::Relates(other.row, Relation::RelatedTo, self.strength);
        let action = match (self.fate, self.stays) {
            (CurateOutcome::Create | CurateOutcome::Refuse, _) => WriteAction::Alone,
            (CurateOutcome::Confirm, _) if self.is_reworded => WriteAction::Rewords(other.row),
            (CurateOutcome::Confirm, _) => WriteAction::Confirms(other.row),
            (CurateOutcome::Link, _) => link,
            (CurateOutcome::Append, _) | (CurateOutcome::Supersede, Side::Told) => {
                WriteAction::Replaces(other.row)
            }
            (CurateOutcome::Supersede, Side::Kept) => WriteAction::Yields(other.row),
            (CurateOutcome::Contradict, _) => WriteAction::Disputes(other.row),
        };
        let is_unreviewed = memory.status == Status::Candidate || !memory.provenance.reviewed;
        let is_bold = is_unreviewed
            && (other.status != memory.status
                || other.provenance.reviewed && memory.status != Status::Candidate
                || other.provenance.least_trusted < memory.provenance.least_trusted);
        match (action, self.fate) {
            (WriteAction::Replaces(_), CurateOutcome::Append) if is_bold => link,
            (WriteAction::Replaces(row), _) if is_bold => WriteAction::Disputes(row),
            (action, _) => action,
        }
    }

    /// Whether the text replaces a memory that says the same but is unreviewed or comes from outside. Then only the caller's
    /// own words are trusted.
    pub(crate) fn is_heard_in_own_words(&self, memory: &NewMemory) -> bool {
        let other = self.other.as_ref().filter(|_| self.fate == CurateOutcome::Confirm);
        other.is_some_and(|other| {
            other.id != memory.id
                && other.tier != Tier::Pinned
                && other.provenance.yields_to(memory.provenance)
        })
    }

    /// Returns what stays open, as the store keeps it.
    pub(crate) fn possible_rows(&self) -> Vec<PossibleRow> {
        let row = |(item, why, likelihood): &(Item, PossibleWhy, f32)| {
            let relation = match why {
                PossibleWhy::Update | PossibleWhy::Contradiction => Relation::MayReplace,
                PossibleWhy::Same => Relation::MayRepeat,
            };
            PossibleRow { row: item.row, relation, likelihood: *likelihood }
        };
        self.possible.iter().map(row).collect()
    }

    /// Returns what stays open, as the answer names it.
    pub(crate) fn possible(&self) -> Vec<EarlierMemory> {
        self.possible.iter().map(|(item, why, likelihood)| named(item, *why, *likelihood)).collect()
    }

    /// Returns the existing memory as the answer names it.
    pub(crate) fn other(&self) -> Option<Other> {
        self.other.as_ref().map(|item| Other {
            id: item.id.clone(),
            create_time: item.create_time,
            why: self.why.clone(),
            stands: self.fate == CurateOutcome::Supersede && self.stays == Side::Kept,
        })
    }
}

/// Returns the rule that decided and its figures, for the event. Words of either text are not among them.
fn reasons(decision: &Decision) -> Map<String, Value> {
    let why = &decision.why;
    let figure = |name: &str, value: Option<f64>| {
        value.map(|value| (name.to_owned(), json!((value * 1e3).round() / 1e3)))
    };
    [
        Some(("rule".to_owned(), json!(why.rule))),
        figure("cosine", why.cosine.map(f64::from)),
        figure("jaccard", why.jaccard.map(f64::from)),
        figure("likelihood", why.likelihood.map(f64::from)),
    ]
    .into_iter()
    .flatten()
    .collect()
}
