//! Memories: each written in one transaction with its decision, and read to decide about new ones.

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::clock::Stamp;
use super::feed::DeltaData;
use super::pairs::PossibleRow;
use super::vector::NewVector;
use crate::error::Result;
use crate::item::{
    Anchor, Change, MemoryType, Provenance, Relation, RowId, Ruling, Scope, Status, Tier, Visibility,
    derive_id,
};

/// A memory to keep.
#[derive(Clone, Debug, PartialEq)]
pub struct NewMemory {
    /// Derived from collection, scope, owner and content: equal memories have equal ids.
    pub id: String,
    /// Its collection.
    pub collection: String,
    /// Its type.
    pub memory_type: MemoryType,
    /// The text.
    pub content: String,
    /// Its first sentence.
    pub summary: String,
    /// Importance, 0..1.
    pub importance: f32,
    /// Confidence, 0..1.
    pub confidence: f32,
    /// Decay per day.
    pub decay_rate: f32,
    /// Tags in normal form: no `#`, lower case.
    pub tags: Vec<String>,
    /// Keywords, best first.
    pub keywords: Vec<String>,
    /// Free fields.
    pub metadata: Map<String, Value>,
    /// Its scope: who may see it.
    pub scope: Scope,
    /// Its owner.
    pub owner: Option<String>,
    /// Its first status.
    pub status: Status,
    /// Its budget class.
    pub tier: Tier,
    /// Its source, e.g. `cli`.
    pub source: String,
    /// The conversation it came from.
    pub source_conv_id: Option<String>,
    /// Its speaker, its least trusted source, and whether a person reviewed it.
    pub provenance: Provenance,
    /// The program that its writer runs in.
    pub host: Option<String>,
    /// Start of validity, if the text states it.
    pub valid_from: Option<Timestamp>,
    /// End of validity, if the text states it.
    pub valid_to: Option<Timestamp>,
    /// Time of the first statement, if the caller has it; otherwise the time of the write.
    pub create_time: Option<Timestamp>,
    /// The code that it names.
    pub anchors: Vec<Anchor>,
    /// What the indexes need until they hold the row.
    pub delta: DeltaData,
    /// Its vector, if a model was available.
    pub vector: Option<NewVector>,
}

/// Collection, scope and owner together. A memory is only compared with, and changed by, memories of the same namespace.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Namespace {
    /// The collection.
    pub collection: String,
    /// The scope: who may see them.
    pub scope: Scope,
    /// The owner.
    pub owner: Option<String>,
}

impl Namespace {
    /// Returns the id of a memory that is new in this namespace.
    pub fn memory_id(&self, content: &str) -> String {
        derive_id(&self.id_parts(content))
    }

    /// Returns the id of a memory that was superseded and is stated again; `time` counts the statements (2, 3, ...).
    pub fn later_id(&self, content: &str, time: u32) -> String {
        derive_id(&[&self.id_parts(content)[..], &[&time.to_string()]].concat())
    }

    /// The parts of the id include the scope and owner: two owners who keep the same words keep two memories.
    fn id_parts<'a>(&'a self, content: &'a str) -> [&'a str; 5] {
        let owner = self.owner.as_deref().unwrap_or("");
        ["memory", &self.collection, self.scope.word(), owner, content]
    }
}

/// The writer's visibility and namespace, which limit what it may learn of existing items: see
/// [`Visibility::is_known_at`].
#[derive(Clone, Copy, Debug)]
pub struct Audience<'a> {
    /// The items that the writer may see.
    pub visibility: &'a Visibility,
    /// The namespace that it writes to.
    pub place: &'a Namespace,
}

impl Audience<'_> {
    /// Whether the only items hidden from the writer are those that others own. Then items need no check one by one
    /// before a text seems to be an echo; the check follows only then.
    pub fn knows_everything(&self) -> bool {
        self.visibility.is_everything() && self.place.owner.is_none()
    }
}

/// The decision about a new memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Decided {
    /// Its action, with the existing memory that it refers to.
    pub standing: WriteAction,
    /// Memories that it may replace or repeat, for the caller to settle. None is kept for a confirmation.
    pub possible: Vec<PossibleRow>,
    /// Memories that the caller says are different facts.
    pub different: Vec<RowId>,
    /// Whether the caller said so: then it holds for a text that is kept already, too.
    pub is_told: bool,
    /// The rule and its figures, for the event; never a text.
    pub why: Map<String, Value>,
    /// Whether a confirmation counts as an observation. A text that the store itself returned before only adds tags, no
    /// confidence.
    pub is_observed: bool,
    /// The store's last change at the decision. If a memory of the same namespace is newer, the decision is void.
    pub seen: Change,
}

impl Decided {
    /// Creates the decision of one rule, of which nothing stays open. `seen` is the store's last change at the decision.
    pub fn by_rule(standing: WriteAction, rule: &str, seen: Change) -> Self {
        Self {
            standing,
            possible: Vec::new(),
            different: Vec::new(),
            is_told: false,
            why: Map::from_iter([("rule".to_owned(), rule.into())]),
            is_observed: true,
            seen,
        }
    }
}

/// How a new memory relates to an existing one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WriteAction {
    /// No existing memory is related.
    Alone,
    /// The existing memory says the same: no new row, one more observation.
    Confirms(RowId),
    /// The existing memory says the same in other words: one more observation, and the text is kept as its wording.
    Rewords(RowId),
    /// A new row with a relation to the other, of this strength, 0..1.
    Relates(RowId, Relation, f32),
    /// A new row that takes the other's place in its chain; the other is superseded.
    Replaces(RowId),
    /// A new row that contradicts the other; a review is opened.
    Disputes(RowId),
    /// A new row that is superseded from the start: it contradicts the other, which stays.
    Yields(RowId),
}

impl WriteAction {
    /// Returns the existing memory.
    pub fn other(self) -> Option<RowId> {
        match self {
            Self::Alone => None,
            Self::Confirms(row)
            | Self::Rewords(row)
            | Self::Relates(row, _, _)
            | Self::Replaces(row)
            | Self::Disputes(row)
            | Self::Yields(row) => Some(row),
        }
    }
}

/// The result of keeping a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Its row.
    pub row: RowId,
    /// Its id. For a confirmation this is the id of the existing memory.
    pub id: String,
    /// Whether an existing memory was confirmed (tags and metadata were merged), or replaced by this one.
    pub is_update: bool,
    /// The open review that asks which side is right, if any.
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
    /// Rule that could not decide; contains no text of either side.
    pub reason: String,
    /// Time when the contradiction was found.
    pub create_time: Timestamp,
    /// Its ruling; `None` while it is open.
    pub outcome: Option<Ruling>,
}

/// Writes memories as decided, and reads those that a decision compares.
pub trait Memories {
    /// Keeps a memory as decided, in one transaction with its events. If a memory has the same id it is confirmed,
    /// whatever was decided: tags and metadata are merged, its text stays, and new anchors replace its old ones. What the caller said of other memories
    /// holds for it too. A text that is a wording confirms the wording's memory.
    ///
    /// Returns `None` if the decision is void: a memory of the same namespace was written since, or the one referred to
    /// was removed or superseded. Then nothing was written; decide again.
    fn put_memory(&self, memory: &NewMemory, decided: &Decided, stamp: Stamp<'_>) -> Result<Option<Kept>>;
    /// Closes a review. The newer side supersedes the older if it is accepted. With a merge the older was already
    /// replaced by a text of both. If the newer is rejected, it is superseded. Returns `None` if there is no such open
    /// review.
    fn settle(&self, review: u64, ruling: Ruling, stamp: Stamp<'_>) -> Result<Option<ReviewRow>>;
    /// Returns the memories of a namespace that were written after a change, whatever their status, in no particular
    /// order.
    fn memories_of(&self, place: &Namespace, after: Change) -> Result<Vec<RowId>>;
    /// Whether this exact scope and owner gained a memory after `after`. Patterns do not count.
    fn is_told_since(&self, scope: Scope, owner: Option<&str>, after: Change) -> Result<bool>;
    /// Returns the chain of a memory from its first form to its last, itself included.
    fn chain(&self, row: RowId) -> Result<Vec<RowId>>;
    /// Returns the anchors of each row, in their order; none for a row without any.
    fn anchors(&self, rows: &[RowId]) -> Result<Vec<Vec<Anchor>>>;
    /// Returns the rows that have anchors, ascending.
    fn anchored(&self) -> Result<Vec<RowId>>;
    /// Returns the open reviews, or all of them, oldest first.
    fn reviews(&self, all: bool) -> Result<Vec<ReviewRow>>;
}
