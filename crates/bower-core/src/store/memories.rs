//! Memories: written as was decided, in one transaction each, and read for a decision.

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::clock::Stamp;
use super::vector::NewVector;
use crate::error::Result;
use crate::item::{
    Change, MemoryType, Provenance, Relation, RowId, Ruling, Scope, Status, Tier, Visibility, derive_id,
};

/// A memory to keep.
#[derive(Clone, Debug, PartialEq)]
pub struct NewMemory {
    /// Derived from collection, scope, owner and content: the same memory has the same id.
    pub id: String,
    /// Its domain.
    pub collection: String,
    /// What it is about.
    pub memory_type: MemoryType,
    /// The text.
    pub content: String,
    /// Its first sentence.
    pub summary: String,
    /// 0..1.
    pub importance: f32,
    /// 0..1.
    pub confidence: f32,
    /// Per day.
    pub decay_rate: f32,
    /// Normal form: no `#`, lower case.
    pub tags: Vec<String>,
    /// Best first.
    pub keywords: Vec<String>,
    /// Free fields.
    pub metadata: Map<String, Value>,
    /// Who may see it.
    pub scope: Scope,
    /// Whose it is.
    pub owner: Option<String>,
    /// Where it starts its life.
    pub status: Status,
    /// Its budget class.
    pub tier: Tier,
    /// Where it came from, e.g. `cli`.
    pub source: String,
    /// The conversation it came from.
    pub source_conv_id: Option<String>,
    /// Whose words it is.
    pub provenance: Provenance,
    /// The program that its writer runs in.
    pub host: Option<String>,
    /// Subject and attribute in a normal form, where the text says one thing.
    pub slot: Option<String>,
    /// Since when it is true, where the text says so.
    pub valid_from: Option<Timestamp>,
    /// Until when it is true, where the text says so.
    pub valid_to: Option<Timestamp>,
    /// When it was told first, where whoever tells it knows that; else it is told now.
    pub create_time: Option<Timestamp>,
    /// What the text channel needs until the index holds it.
    pub terms: Vec<u8>,
    /// Its vector, where a model was at hand.
    pub vector: Option<NewVector>,
}

/// Where memories belong together: one is never compared with those of another place, nor changed by them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Namespace {
    /// The domain.
    pub collection: String,
    /// Who may see them.
    pub scope: Scope,
    /// Whose they are.
    pub owner: Option<String>,
}

impl Namespace {
    /// The id of a memory that says something here for the first time.
    pub fn memory_id(&self, content: &str) -> String {
        derive_id(&self.id_parts(content))
    }

    /// The same where it was superseded and is told anew: the second time, the third.
    pub fn later_id(&self, content: &str, time: u32) -> String {
        derive_id(&[&self.id_parts(content)[..], &[&time.to_string()]].concat())
    }

    /// Who may see it is part of what it is: two owners who keep the same words keep two memories.
    fn id_parts<'a>(&'a self, content: &'a str) -> [&'a str; 5] {
        let owner = self.owner.as_deref().unwrap_or("");
        ["memory", &self.collection, self.scope.word(), owner, content]
    }
}

/// Who writes to a place, and what may be told of what is there: see [`Visibility::is_known_at`].
#[derive(Clone, Copy, Debug)]
pub struct Audience<'a> {
    /// What whoever writes may see.
    pub visibility: &'a Visibility,
    /// Where it is written.
    pub place: &'a Namespace,
}

impl Audience<'_> {
    /// Whether nothing is to be kept from it but what others own: there is no need to look at each item, for that is looked at
    /// once a text seems to be an echo.
    pub fn knows_everything(&self) -> bool {
        self.visibility.is_everything() && self.place.owner.is_none()
    }
}

/// What was decided about a new memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Decided {
    /// How it stands to what is there.
    pub standing: WriteAction,
    /// Others that a memory which replaces one makes untrue too; those that are gone or hidden meanwhile are passed over.
    pub also: Vec<RowId>,
    /// The rule and its figures, for the event; never a text.
    pub why: Map<String, Value>,
    /// Whether a confirmation is an observation: what the store said itself, told back, adds tags and no confidence.
    pub is_observed: bool,
    /// The store's last change when it was decided. Where a memory of the same place is newer, the decision is void.
    pub seen: Change,
}

/// How a new memory stands to one that is there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WriteAction {
    /// Nothing there has to do with it.
    Alone,
    /// The other says so already: no new row, one more observation.
    Confirms(RowId),
    /// A new row, related to the other with this strength, 0..1.
    Relates(RowId, Relation, f32),
    /// A new row, which takes the other's place in its chain; the other is superseded.
    Replaces(RowId),
    /// A new row beside the other, which it contradicts; somebody is asked.
    Disputes(RowId),
    /// A new row that is superseded from the start: the other, which it contradicts, stands.
    Yields(RowId),
}

impl WriteAction {
    /// The memory that is there.
    pub fn other(self) -> Option<RowId> {
        match self {
            Self::Alone => None,
            Self::Confirms(row)
            | Self::Relates(row, _, _)
            | Self::Replaces(row)
            | Self::Disputes(row)
            | Self::Yields(row) => Some(row),
        }
    }
}

/// What became of a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Its row.
    pub row: RowId,
    /// Its id: of a confirmed memory the one that was there.
    pub id: String,
    /// It was there before; tags and metadata were merged.
    pub is_update: bool,
    /// The review that asks which side is right, where that is open.
    pub review: Option<u64>,
}

/// Two memories that contradict each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewRow {
    /// Its number.
    pub review: u64,
    /// The newer side.
    pub row: RowId,
    /// The older side.
    pub other: RowId,
    /// Why nobody could tell; no text of theirs.
    pub reason: String,
    /// When it was found.
    pub create_time: Timestamp,
    /// How it ended; none while it is open.
    pub outcome: Option<Ruling>,
}

/// Writes memories as was decided, and reads those that a decision compares.
pub trait Memories {
    /// Keeps a memory as was decided, in one transaction with its events. One that has the same id is confirmed, whatever was
    /// decided: its tags and metadata are merged, its text stays.
    ///
    /// `None` where the decision is void: a memory of the same place was written since, or what it speaks of is gone or
    /// superseded. Nothing was written then; decide again.
    fn put_memory(&self, memory: &NewMemory, decided: &Decided, stamp: Stamp<'_>) -> Result<Option<Kept>>;
    /// Ends a review. The older side gives way to the newer when that is accepted, or was itself replaced by a text of both
    /// (merge); the newer is superseded when it is rejected. `None` where there is no such open review.
    fn settle(&self, review: u64, ruling: Ruling, stamp: Stamp<'_>) -> Result<Option<ReviewRow>>;
    /// Memories of a place that were told after a change, whatever their status, in no order that matters.
    fn memories_of(&self, place: &Namespace, after: Change) -> Result<Vec<RowId>>;
    /// Candidate and active memories of a place with this slot, newest first, at most `most`.
    fn in_slot(&self, place: &Namespace, slot: &str, most: usize) -> Result<Vec<RowId>>;
    /// Whether a memory was told to one scope and owner, whose it is exactly, after a change. Patterns are not told.
    fn is_told_since(&self, scope: Scope, owner: Option<&str>, after: Change) -> Result<bool>;
    /// The chain of a memory from its first form to its last, itself included.
    fn chain(&self, row: RowId) -> Result<Vec<RowId>>;
    /// Open reviews (or all), oldest first.
    fn reviews(&self, all: bool) -> Result<Vec<ReviewRow>>;
}
