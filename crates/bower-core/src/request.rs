//! The engine's requests and answers, as plain data.
//! Serialised, they are the `data` field of every front end.

mod alias;
mod anchors;
mod brief;
mod cache;
mod changes;
mod check;
mod curate;
mod documents;
mod graph;
mod life;
mod llm;
mod measure;
mod models;
pub mod moving;
mod part;
mod relate;
mod tags;
mod triples;
mod worker;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::PathBuf;

mod forget;
mod indexing;

use crate::evidence::Evidence;
use crate::filter::Filter;
use crate::item::{
    Author, Band, Channel, CheckedAnchor, Kind, MemoryType, Part, Profile, Provenance, Rerank, RowId, Ruling,
    Scope, Status, Tier, When,
};
pub use alias::{AliasList, AliasOutcome, AliasRequest, AliasedEntity, EntityAlias, StatedAlias};
pub use anchors::{AnchoredMemory, AnchorsReport};
pub use brief::{Brief, BriefRequest, KeptSentence, SessionRead, SessionRequest, ToldTurn, TurnsRequest};
pub use cache::{CachePruneRequest, CachePruned, CacheStatus, CachedModel, ProcessCache};
pub use changes::StoreChange;
pub use check::{
    Check, CheckFinding, CheckProblem, ConflictKind, ConflictingMemory, NearCopies, NearCopy, NearCopyGroup,
    Outcome,
};
pub use curate::{
    CurateRequest, Curated, EARLIER_TEXT, EarlierMemory, LaterMemory, Other, PairRequest, SettledPair,
};
pub use documents::{Document, Documents};
pub use forget::{
    Elsewhere, Erased, ForgetRequest, Forgetting, Forgotten, Receipt, Residue, ResidueFile, ResidueTerm,
};
pub use graph::{
    CentralItem, CommunitiesReport, CommunitiesRequest, EntityMention, EntityName, EntityRelation,
    EntityReport, EntityRequest, GraphCommunity, GraphEdge, GraphLevel, GraphNode, GraphPath, GraphRelation,
    GraphRequest, Hop, MemoryRelation, NearEntity, Neighbours, NeighboursRequest, PathRequest, Proof,
    RelatedMemory, WholeGraph,
};
pub use indexing::{FileProblem, IndexProgress, IndexReport, IndexRequest, Skipped};
pub use life::{
    CandidateRuling, ClockJump, Cluster, ConsolidateRequest, Consolidated, Feedback, Held, MaintenanceReport,
    MaintenanceRequest, Neglected, Pinning, PruneEvery, PruneRequest, Pruned, Refused, SettledByModel,
    SweepRequest, Swept, Taken, Turned, UndoRequest, Undone, Unmoved, Wording,
};
pub use llm::{LlmFailure, LlmModelDay, LlmReport, LlmTested, LlmUse, LlmUses};
pub use measure::{RecallReport, StoredPart, WarmReport};
pub use models::{EmbeddingCost, ModelState, ModelVectors};
pub use part::VisibleStatus;
pub use relate::{RelateOutcome, RelateRequest, Related};
pub use tags::{
    RenameTags, RenamedTags, TagAlias, TagCount, TagImportRequest, TagIndexRead, TagIndexWritten, TagList,
};
pub use triples::{
    DroppedAnswers, ExtractProgress, ExtractReport, ExtractRequest, FailedRequests, RemovedTriples,
    TripleSource,
};

pub use worker::{WorkerActivity, WorkerState, WorkerStatus};

pub use crate::rank::brief::{BriefLine, Section as BriefSection};
pub use crate::rank::candidate::{Factor, Step as FactorStep};
pub use crate::rank::rerank::Reranked;

/// When to compact an index or a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompactWhen {
    /// Whenever it lacks a change. Used after forgetting, and at the end of a run whose caller waits for it.
    Always,
    /// When its delta is larger than it may be, or it does not match the store. Readers and writers are not blocked meanwhile.
    Due,
}

/// A complete item, as answers show it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Item {
    /// The row in this store; not serialised.
    #[serde(skip, default = "no_row")]
    pub row: RowId,
    /// Stable text id: 16 hex digits.
    pub id: String,
    /// Memory or chunk.
    pub kind: Kind,
    /// The type of a memory; a chunk has none.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub memory_type: Option<MemoryType>,
    /// The text.
    pub content: String,
    /// Title of the document, or the memory's first sentence.
    pub summary: String,
    /// Stored importance, 0..1.
    pub importance: f32,
    /// Number of uses; silent prefetches do not count.
    pub access_count: u64,
    /// When it was written.
    pub create_time: Timestamp,
    /// When it was last used.
    pub access_time: Timestamp,
    /// Decay of importance per day, at least .001.
    pub decay_rate: f32,
    /// The conversation that it came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_conv_id: Option<String>,
    /// The item that this one replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supersedes_id: Option<String>,
    /// The item that replaced this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub superseded_by_id: Option<String>,
    /// The time from which it is true, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<Timestamp>,
    /// The time until which it was true, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_to: Option<Timestamp>,
    /// Confidence, 0..1.
    pub confidence: f32,
    /// Tags without `#`, in lower case, sorted.
    pub tags: Vec<String>,
    /// The most descriptive words, best first.
    pub keywords: Vec<String>,
    /// Free fields. A chunk also has `path`, `source`, `file_name`, `section_title`, `version` and `chunk_size`.
    pub metadata: Map<String, Value>,
    /// The collection that it belongs to.
    pub collection: String,
    /// Its scope: who may see it.
    pub scope: Scope,
    /// Its owner within the scope.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Its state in the life of a memory.
    pub status: Status,
    /// Its budget class, as a number.
    #[serde(with = "tier_number")]
    #[schemars(with = "u8", range(min = 1, max = 3))]
    pub tier: Tier,
    /// Whether the stored text differs from the text that was written: the disk or another program changed it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub damaged: bool,
    /// Its speaker, its least trusted source, and whether a person reviewed it.
    pub provenance: Provenance,
    /// The program that wrote it: `bower`, or the program whose session or memories were read.
    pub source: String,
    /// The program that its writer runs in, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
}

/// Rounds times and shares to three decimals; further digits are noise.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn thousandths<S: serde::Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64((value * 1_000.0).round() / 1_000.0)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// Serialises a tier as the number 1, 2 or 3.
pub(crate) mod tier_number {
    use crate::item::Tier;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
    pub(crate) fn serialize<S: Serializer>(tier: &Tier, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(match tier {
            Tier::Pinned => 1,
            Tier::Active => 2,
            Tier::Fading => 3,
        })
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Tier, D::Error> {
        match u8::deserialize(deserializer)? {
            1 => Ok(Tier::Pinned),
            2 => Ok(Tier::Active),
            3 => Ok(Tier::Fading),
            other => Err(D::Error::custom(format!("tier {other} is not 1, 2 or 3"))),
        }
    }
}

fn no_row() -> RowId {
    RowId(0)
}

/// The items that a command applies to. Empty lists and `None` do not restrict. Archived and superseded items are left
/// out unless `statuses` names them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    /// Kinds to keep.
    pub kinds: Vec<Kind>,
    /// Collections to keep.
    pub collections: Vec<String>,
    /// Memory types to keep.
    pub types: Vec<MemoryType>,
    /// Items must carry every one of these tags.
    pub tags: Vec<String>,
    /// A filter over metadata and text.
    pub filter: Option<Filter>,
    /// Only items written at or after this time.
    pub since: Option<Timestamp>,
    /// Only items written before this time.
    pub until: Option<Timestamp>,
    /// Only documents of this version. Memories pass only if this is `None`.
    pub version: Option<String>,
    /// Scope to keep.
    pub scope: Option<Scope>,
    /// Owner to keep.
    pub owner: Option<String>,
    /// Sources of items; one of them must match. Of a document: its path or a folder above it. Of a memory: its source
    /// or conversation.
    pub sources: Vec<String>,
    /// Speakers; one of them must match.
    pub said_by: Vec<Author>,
    /// Statuses to keep. Empty means candidate and active, or what `clocks` implies.
    pub statuses: Vec<Status>,
    /// The past time that the question is about.
    pub clocks: Clocks,
}

/// The two clocks of a question: transaction time and valid time. `None` is the present.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clocks {
    /// Answers from the store's state at this time. Later additions are absent; items superseded or archived later are present.
    pub as_of: Option<Timestamp>,
    /// Keeps what was true at this time, as far as is known. A memory is true from the time that it states, or from
    /// when it replaced another, until it was replaced.
    pub valid_at: Option<Timestamp>,
}

/// A question to the store.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub struct QueryRequest {
    /// Any Unicode text.
    pub text: String,
    /// Hits wanted, 1 to 50.
    pub limit: usize,
    /// Searches by words alone: no model is loaded, and the configured reranker is not used.
    pub fast: bool,
    /// The profile that ranks; `None` is the setting `profile`.
    pub profile: Option<Profile>,
    /// The reranker of the best hits. `None` is the setting `rerank`, or no reranker if `fast` is set.
    pub rerank: Option<Rerank>,
    /// The items that may be found.
    pub select: Selection,
    /// How times in the question affect the answer.
    pub when: When,
    /// Relevance against diversity, 0..1; `None` is the setting `diversity`.
    pub diversity: Option<f32>,
    /// Least probability of a hit, 0..1; hits below it are left out.
    pub min_score: f32,
    /// Leaves out weak matches, and returns no hits when it abstains.
    pub strict: bool,
    /// Token budget of the evidence, citations included; at least 32. `None` packs no evidence.
    pub budget_tokens: Option<usize>,
    /// Leaves out what this session already received, and records what it receives now.
    pub session: Option<String>,
    /// Marks a prefetch: only hits that are specific to the question or clearly close to it pass.
    pub prefetch: bool,
    /// Number of neighbours on each side that a chunk's hit brings with it, 0 to 10.
    pub around: u32,
    /// Adds to each hit that the graph found the path to it.
    pub explain: bool,
    /// The working folder on this machine. With it, the anchors of memories are checked; `None` checks none.
    pub root: Option<PathBuf>,
}

impl Default for QueryRequest {
    /// Asks for ten hits from the whole store, by all channels.
    fn default() -> Self {
        Self {
            text: String::new(),
            limit: 10,
            fast: false,
            profile: None,
            rerank: None,
            select: Selection::default(),
            when: When::Soft,
            diversity: None,
            min_score: 0.0,
            strict: false,
            budget_tokens: None,
            session: None,
            prefetch: false,
            around: 0,
            explain: false,
            root: None,
        }
    }
}

/// An answer: hits, their cost, and what was missing.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Answer {
    /// The question as asked.
    pub query: String,
    /// Words of the question that no item has, and the words that were looked for instead.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub corrections: Vec<Correction>,
    /// The hits, best first.
    #[serde(rename = "results")]
    pub hits: Vec<Hit>,
    /// Probability that the hits contain the answer, 0..1; `None` if the profile cannot compute it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answerable: Option<f32>,
    /// Whether nothing seems to answer the question; the hits are then only the nearest ones.
    pub abstained: bool,
    /// The evidence that fits the budget, if a budget was set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    /// Number of better or equal hits that the named session had already received.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub already_given: Option<usize>,
    /// Number of hits below the bar for prefetches, if that bar was applied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_back: Option<usize>,
    /// Number of different items that any channel found, before the limit.
    pub total_found: usize,
    /// Wall time inside the engine.
    #[serde(serialize_with = "thousandths")]
    pub took_ms: f64,
    /// The model whose vectors were compared, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_used: Option<String>,
    /// The fields of this answer that are probabilities and were fitted to answers of another model than the one used: they order
    /// hits, but their size means little.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_calibrated: Vec<String>,
    /// Channels that were missing or failed, with the reason. Empty if the answer is complete.
    pub degraded: Vec<Degraded>,
    /// The cost of the answer.
    pub effort: Effort,
}

/// A misspelled word of a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Correction {
    /// The word as asked.
    pub word: String,
    /// The word that was looked for instead.
    pub read_as: String,
}

impl std::fmt::Display for Correction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { word, read_as } = self;
        write!(f, "“{word}” was read as “{read_as}”")
    }
}

/// An item that was found.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Hit {
    /// The item.
    pub memory: Item,
    /// Probability that it answers the question, 0..1. In the profiles of other systems, their score.
    pub score: f32,
    /// The probability as a word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub band: Option<Band>,
    /// The canonical fact that was found: `Canonical:` and its id, which edits of other lines do not change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub citation: Option<String>,
    /// Number of that fact's line in its document, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cited_line: Option<u32>,
    /// Ids of items with the same content, which this hit represents.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub duplicates: Vec<String>,
    /// Its neighbours in its document, in the order of the document, if the request asked for them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub around: Vec<NearbyChunk>,
    /// A later hit that may replace it: nothing says so for sure, and the reader judges.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub perhaps_replaced_by: Option<LaterMemory>,
    /// What became of the files, symbols and commits that it names, as far as they were checked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub anchors: Vec<CheckedAnchor>,
    /// The path over which the graph led from the question to it, if the request asked for an explanation.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<Hop>,
    /// Its ranks before and after reranking, and the reranker's score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reranked: Option<Reranked>,
    /// The text channel's BM25 score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bm25: Option<f32>,
    /// The vector channel's cosine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub semantic: Option<f32>,
    /// Rank and raw score in each channel.
    pub signals: Vec<Signal>,
    /// Contributions to its place, in ranking order. Each is measured by its difference from the other candidates, so a
    /// single candidate has none.
    pub factors: Vec<Factor>,
    /// Contributions to its score, if that is a probability: log odds whose sum is `ln(score / (1 - score))`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub odds: Vec<Factor>,
}

/// A chunk that stands near a hit in its document.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct NearbyChunk {
    /// Its position from the hit: -1 stands directly before it, 1 directly after it.
    pub offset: i64,
    /// Its id.
    pub id: String,
    /// Its text.
    pub content: String,
}

/// One channel's result for one item.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Signal {
    /// The channel.
    pub channel: Channel,
    /// Rank from 1; `None` if the channel did not list the item and computed its score afterwards.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<usize>,
    /// Score on the channel's own scale.
    pub score: f32,
}

/// Changes that the store acknowledged and no longer has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Loss {
    /// The first missing change.
    pub first_change: u64,
    /// The last missing change.
    pub last_change: u64,
    /// When the loss was noticed.
    pub time: Timestamp,
    /// The folder with the parts that could still be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<PathBuf>,
}

impl Loss {
    /// Returns one line that says what is missing and what to do.
    pub fn sentence(&self) -> String {
        let count = self.last_change - self.first_change + 1;
        let changes = if count == 1 {
            format!("change {} was acknowledged and is missing", self.last_change)
        } else {
            format!("changes {} to {} were acknowledged and are missing", self.first_change, self.last_change)
        };
        format!(
            "{changes}, the store's files were damaged: bower doctor --salvage DIR saves what can be read; \
             bower doctor --accept-loss ends this warning"
        )
    }
}

/// The result of salvaging a damaged store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Salvaged {
    /// The folder of the new store.
    pub into: PathBuf,
    /// Candidate and active memories in it.
    pub memories: u64,
    /// Chunks in it.
    pub chunks: u64,
    /// Documents in it.
    pub documents: u64,
    /// Ids of items whose text differs from the text that was written. The new store holds them as they could be read,
    /// with the tag `damaged`.
    pub damaged: Vec<String>,
    /// Number of texts whose item could not be read; they are in a separate file.
    pub unplaced: usize,
    /// The file with those texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unplaced_file: Option<PathBuf>,
    /// Descriptions of the parts that could not be read.
    pub unreadable: Vec<String>,
    /// Problems of the new store; empty if it is sound.
    pub findings: Vec<String>,
}

/// A channel, or a later step, that did not take part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Degraded {
    /// The missing part.
    pub channel: Part,
    /// Why it is missing and what to do, in one line.
    pub reason: String,
}

/// The cost of an answer.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Effort {
    /// Each channel with its candidates and time.
    pub channels: Vec<ChannelEffort>,
    /// Different items considered.
    pub candidates: usize,
    /// Rows of the delta, searched directly because they are newer than the indexes. 0 for a caller who may see only a
    /// part of the store.
    #[serde(rename = "tail")]
    pub delta: usize,
    /// Time to make the query's vector; 0 when it was cached or not needed.
    #[serde(serialize_with = "thousandths")]
    pub embed_ms: f64,
    /// Time to rank the candidates of all channels.
    #[serde(serialize_with = "thousandths")]
    pub rank_ms: f64,
    /// Whether the query's vector came from the cache. Always false for a caller who may see only a part of the store.
    pub vector_cached: bool,
    /// The cost of reranking, if it was tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rerank: Option<RerankEffort>,
    /// What language models, or a reranker at a service, were used for.
    #[serde(skip_serializing_if = "LlmUses::is_empty")]
    pub llm: LlmUses,
}

/// The reranker's part of the effort.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RerankEffort {
    /// The kind of reranker.
    pub reranker: Rerank,
    /// The model's name.
    pub model: String,
    /// Texts that it scored in time.
    pub scored: usize,
    /// Wall time.
    #[serde(serialize_with = "thousandths")]
    pub took_ms: f64,
}

/// One channel's part of the effort.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct ChannelEffort {
    /// The channel.
    pub channel: Channel,
    /// Number of candidates that it returned.
    pub candidates: usize,
    /// Wall time.
    #[serde(serialize_with = "thousandths")]
    pub took_ms: f64,
}

/// An item's history: its events, and its text after each change.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct History {
    /// The events of all its versions, oldest first.
    pub history: Vec<Event>,
    /// Its versions from first to last, each replaced by the next. Empty if the item was forgotten.
    pub chain: Vec<Version>,
    /// Other wordings of its versions, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wordings: Vec<MemoryWording>,
}

/// Another wording of a memory.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MemoryWording {
    /// Its id.
    pub id: String,
    /// Id of the memory.
    pub of: String,
    /// The text.
    pub text: String,
    /// When it was told.
    pub told: Timestamp,
}

/// One version of a memory.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Version {
    /// The memory as of that version.
    pub memory: Item,
    /// The difference from the version before, in one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed: Option<String>,
}

/// The reviews to list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReviewsRequest {
    /// Also lists settled reviews; otherwise only open ones.
    pub all: bool,
}

/// Two contradicting memories and the decision about them.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Review {
    /// The review's number.
    pub review: u64,
    /// When the contradiction was found.
    pub create_time: Timestamp,
    /// Why no rule could decide which is right.
    pub reason: String,
    /// The memory that was written last.
    pub newer: Item,
    /// The memory that existed before.
    pub older: Item,
    /// The decision; `None` while the review is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ruling: Option<Ruling>,
    /// The merged memory that replaced both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merged: Option<Item>,
}

/// A person's decision on a review.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settlement {
    /// The newer side is right.
    Accept,
    /// The older side is right.
    Reject,
    /// Both are right.
    Both,
    /// A text that replaces both.
    Merge {
        /// The text.
        text: String,
        /// The author of the text.
        said_by: Author,
    },
}

/// A page of items.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Listing {
    /// The items, newest first.
    pub memories: Vec<Item>,
    /// Number of items in the selection.
    pub total: usize,
    /// For some of the memories: earlier ones that each may replace or repeat, the likeliest first.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub possible: BTreeMap<String, Vec<EarlierMemory>>,
    /// Parts of the store that are missing or damaged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub degraded: Vec<Degraded>,
}

/// A copy of a store in one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StoreCopy {
    /// Number of candidate and active memories, and chunks.
    pub items: u64,
    /// Change number of its last change.
    pub change: u64,
    /// Its schema number.
    pub schema: u32,
    /// Its size in bytes.
    pub bytes: u64,
    /// Where the replaced store was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaced: Option<PathBuf>,
}

/// Number of items in one language.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LanguageCount {
    /// The English name of the language in small letters, such as `german`.
    pub language: String,
    /// Number of items whose text is in it.
    pub items: u64,
}

/// The state of a store and its indexes.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StatusReport {
    /// Memories that are not archived or superseded.
    pub total_memories: u64,
    /// Chunks.
    pub total_chunks: u64,
    /// Documents.
    pub total_documents: u64,
    /// Bytes of the store and its indexes.
    pub total_size_bytes: u64,
    /// Memories by type.
    pub by_type: std::collections::BTreeMap<String, u64>,
    /// Items by collection.
    pub by_collection: std::collections::BTreeMap<String, u64>,
    /// Mean stored importance of the memories.
    pub avg_importance: f64,
    /// Whether the indexes match the store.
    pub index_healthy: bool,
    /// The store file.
    pub db_path: PathBuf,
    /// How vectors are searched: `none`, `tail`, `int8`, `two-stage` or `clustered`.
    pub vector_index_tier: String,
    /// The schema's number.
    pub schema: u32,
    /// The store's last change.
    pub change: u64,
    /// Rows that the text index lacks; they are searched directly.
    #[serde(rename = "text_tail")]
    pub text_delta: u64,
    /// Rows that the vector index lacks; they are searched directly.
    #[serde(rename = "vector_tail")]
    pub vector_delta: u64,
    /// Rows that the token index lacks; they are searched directly.
    #[serde(rename = "token_tail")]
    pub token_delta: u64,
    /// Items with a vector but without token codes; `bower index` makes the codes.
    pub uncoded: u64,
    /// Items without a vector of the current model.
    pub unembedded: u64,
    /// Number of items in each language, the most frequent first; empty if all are English.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub languages: Vec<LanguageCount>,
    /// What to do about texts in languages that the model does not know, if there are such.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown_languages: Option<String>,
    /// The local model and its state.
    pub model: ModelState,
    /// The cache of vectors.
    pub cache: CacheStatus,
    /// The worker of `bower serve`, `bower mcp` or `bower index --watch` that had something to do last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worker: Option<WorkerStatus>,
    /// Number of memories of each scope and owner, with its limit.
    pub scopes: Vec<Held>,
    /// When memories were last swept, pruned and consolidated.
    pub last_runs: std::collections::BTreeMap<String, Timestamp>,
    /// Losses that no person has accepted yet.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub losses: Vec<Loss>,
}

/// One line of an item's history.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Event {
    /// The event's number.
    pub event: u64,
    /// The change that it belongs to.
    pub change: u64,
    /// When it happened.
    pub time: Timestamp,
    /// The action: `curate`, `confirm`, `index`, `remove`, `forget`.
    pub action: String,
    /// Id of the item or document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The writer's name.
    pub actor: String,
    /// Counts and reasons; never the item's text.
    pub detail: Value,
}
