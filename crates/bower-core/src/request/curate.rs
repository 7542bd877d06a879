//! The request to keep a memory, and what became of it.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{Degraded, thousandths};
use crate::item::{Author, CurateOutcome, Durability, Gate, MemoryType, Scope};

/// Something to keep.
#[derive(Clone, Debug, PartialEq)]
pub struct CurateRequest {
    /// The text, not blank, at most 1 MiB.
    pub content: String,
    /// What it is about; `fact` unless told.
    pub memory_type: Option<MemoryType>,
    /// Tags, with or without `#`.
    pub tags: Vec<String>,
    /// Free fields.
    pub metadata: Map<String, Value>,
    /// Its domain; the settings' `memory_collection` unless told.
    pub collection: Option<String>,
    /// Who may see it.
    pub scope: Scope,
    /// Whose it is.
    pub owner: Option<String>,
    /// Pinned items stay in tier 1.
    pub pinned: bool,
    /// The conversation it came from.
    pub source_conv_id: Option<String>,
    /// How closely it is looked at; the settings' gate of its collection unless told.
    pub gate: Option<Gate>,
    /// When it was told first, where whoever tells it knows that: an old memory that is taken over ends nothing that was told
    /// since. None is now: what is told now is later than all that is there, whatever the clock said when that was told.
    pub told_time: Option<Timestamp>,
    /// Who says it. What comes from outside is a candidate, until somebody keeps it.
    pub said_by: Author,
    /// The program that its writer runs in.
    pub host: Option<String>,
}

impl CurateRequest {
    /// A text that the user says, and nothing told about it.
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
        }
    }
}

/// What became of it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Curated {
    /// The memory's id: of a confirmed one, the id that it had. None where nothing was kept.
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
    /// A memory that was there is confirmed, or replaced by this one.
    pub is_update: bool,
    /// Whether it was kept, or said so already.
    pub accepted: bool,
    /// Why not, and what to do instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What became of it.
    pub outcome: CurateOutcome,
    /// How long it is likely to hold.
    pub durability: Durability,
    /// The memory that decided what became of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other: Option<Other>,
    /// Secrets that were cut out of the text and its fields before it was kept, by what they are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<String>,
    /// The fields beside the text that they stood in: `metadata`, `tags`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub redacted_fields: Vec<String>,
    /// It waits for somebody to keep it, for it came from outside.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_candidate: bool,
    /// The review that asks which side is right.
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
    /// Why it has to do with the new one, in one line: `port 8080 -> 9090`.
    pub why: String,
    /// It holds, and the new one is part of its history only.
    pub stands: bool,
}
