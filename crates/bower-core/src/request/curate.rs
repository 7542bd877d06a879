//! The request to keep a memory, and its outcome.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use std::path::PathBuf;

use super::{Degraded, Item, thousandths};
use crate::item::{Author, CurateOutcome, Durability, Gate, MemoryType, PairRuling, Scope};

/// A request to keep a text as a memory.
#[derive(Clone, Debug, PartialEq)]
pub struct CurateRequest {
    /// The text, not blank, at most 1 MiB.
    pub content: String,
    /// The memory's type; `None` is `fact`.
    pub memory_type: Option<MemoryType>,
    /// Tags, with or without `#`.
    pub tags: Vec<String>,
    /// Free fields.
    pub metadata: Map<String, Value>,
    /// The collection; `None` is the setting `memory_collection`.
    pub collection: Option<String>,
    /// Its scope: who may see it.
    pub scope: Scope,
    /// Its owner.
    pub owner: Option<String>,
    /// Whether it is pinned; pinned items stay in tier 1.
    pub pinned: bool,
    /// The conversation that it came from.
    pub source_conv_id: Option<String>,
    /// How strict admission is; `None` is the gate of its collection.
    pub gate: Option<Gate>,
    /// When it was first said, if the caller knows that. An imported old memory replaces nothing that was said later.
    /// `None` is now: it counts as later than every stored memory, whatever the clock was when those were written.
    pub told_time: Option<Timestamp>,
    /// The speaker. A text from outside becomes a candidate until a person keeps it.
    pub said_by: Author,
    /// The program that its writer runs in.
    pub host: Option<String>,
    /// Id of the memory that it replaces, whatever the rules say, a pinned one too; or the id's first 6 or more digits.
    pub replaces: Option<String>,
    /// Id of the memory that it says in other words; the text is kept as a wording of it. Not together with `replaces`.
    pub confirms: Option<String>,
    /// Ids of memories that it is not to be compared with: they are different facts.
    pub different_from: Vec<String>,
    /// The working folder on this machine. With it, files, symbols and commits that the text names become its anchors.
    pub root: Option<PathBuf>,
}

impl CurateRequest {
    /// Creates a request for a text of the user, with defaults for all else.
    pub fn new(content: impl Into<String>) -> Self {
        Self {
            content: content.into(),
            memory_type: None,
            tags: Vec::new(),
            metadata: Map::new(),
            collection: None,
            scope: Scope::Project,
            owner: None,
            pinned: false,
            source_conv_id: None,
            gate: None,
            told_time: None,
            said_by: Author::User,
            host: None,
            replaces: None,
            confirms: None,
            different_from: Vec::new(),
            root: None,
        }
    }
}

/// The outcome of a request to keep a memory.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Curated {
    /// The memory's id; if it was confirmed, the existing id. `None` if nothing was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its first sentence.
    pub summary: String,
    /// Its type.
    #[serde(rename = "type")]
    pub memory_type: MemoryType,
    /// Wall time inside the engine.
    #[serde(serialize_with = "thousandths")]
    pub took_ms: f64,
    /// Whether an existing memory was confirmed or replaced.
    pub is_update: bool,
    /// Whether it was kept, or already stored with the same meaning.
    pub accepted: bool,
    /// Why it was refused, and what to do instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The outcome.
    pub outcome: CurateOutcome,
    /// How long it is likely to stay true.
    pub durability: Durability,
    /// The existing memory that decided the outcome.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other: Option<Other>,
    /// Earlier memories that it may replace or repeat, the likeliest first, at most three. The caller settles each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub possible: Vec<EarlierMemory>,
    /// Kinds of secrets that were removed from the text and its fields before it was kept.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<String>,
    /// Fields other than the text that contained secrets: `metadata`, `tags`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub redacted_fields: Vec<String>,
    /// Whether it is a candidate that a person has to keep, because it came from outside.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_candidate: bool,
    /// Number of anchors: places in the project's code that it names.
    #[serde(skip_serializing_if = "super::is_zero")]
    pub anchors: usize,
    /// The review that asks which memory is right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub review: Option<u64>,
    /// Channels that cannot find it yet, with the reason.
    pub degraded: Vec<Degraded>,
}

/// A memory that a new one was compared with.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Other {
    /// Its id.
    pub id: String,
    /// When it was written.
    pub create_time: Timestamp,
    /// How it relates to the new memory, in one line: `port 8080 -> 9090`.
    pub why: String,
    /// Whether it stays active and the new memory only joins its history.
    pub stands: bool,
}

/// Most characters of the text of an [`EarlierMemory`].
pub const EARLIER_TEXT: usize = 300;

/// An earlier memory that another one may replace or repeat.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct EarlierMemory {
    /// Its id.
    pub id: String,
    /// Its text, at most 300 characters, cut after a word.
    pub text: String,
    /// When it was told.
    pub told: Timestamp,
    /// What the other memory may be to it: `perhaps an earlier value of the same thing`, `perhaps the same in other words`
    /// or `perhaps a contradiction`.
    pub why: String,
    /// The likelihood, 0..1.
    #[serde(serialize_with = "thousandths")]
    pub likelihood: f64,
}

/// A request to settle what a memory is to an earlier one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairRequest {
    /// Id of the memory, or its first 6 or more digits.
    pub id: String,
    /// Id of the earlier memory, likewise.
    pub other: String,
    /// What the memory is to it.
    pub ruling: PairRuling,
}

/// A pair of memories that was settled.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SettledPair {
    /// What the memory is to the earlier one.
    pub ruling: PairRuling,
    /// The memory as it is now.
    pub memory: Item,
    /// The earlier memory as it is now.
    pub other: Item,
    /// The event that `undo` reverses; `None` if it was so already, and nothing was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<u64>,
}

/// A later memory that may replace an earlier one.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LaterMemory {
    /// Its id.
    pub id: String,
    /// When it was told.
    pub told: Timestamp,
    /// The likelihood that it replaces the earlier one, 0..1.
    pub likelihood: f32,
}
