//! The engine's requests and answers, as plain data.
//! Serialised, these are the `data` of every front end.

mod brief;
mod changes;
mod curate;
mod documents;
mod life;
pub mod moving;
mod part;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::path::PathBuf;

mod forget;

use crate::evidence::Evidence;
use crate::filter::Filter;
use crate::item::{
    Author, Band, Channel, Kind, MemoryType, Part, Profile, Provenance, Rerank, RowId, Ruling, Scope, Status,
    Tier, When,
};
pub use brief::{Brief, BriefRequest, KeptSentence, SessionRead, SessionRequest, ToldTurn, TurnsRequest};
pub use changes::StoreChange;
pub use curate::{CurateRequest, Curated, Other};
pub use documents::{Document, Documents};
pub use forget::{
    Elsewhere, Erased, ForgetRequest, Forgetting, Forgotten, Receipt, Residue, ResidueFile, ResidueTerm,
};
pub use life::{
    CandidateRuling, ClockJump, Cluster, ConsolidateRequest, Consolidated, Feedback, Held, MaintenanceReport,
    MaintenanceRequest, Neglected, Pinning, PruneEvery, PruneRequest, Pruned, Refused, SweepRequest, Swept,
    Taken, Turned, UndoRequest, Undone, Unmoved, Wording,
};
pub use part::VisibleStatus;

pub use crate::rank::brief::{BriefLine, Section as BriefSection};
pub use crate::rank::candidate::{Factor, Step as FactorStep};
pub use crate::rank::rerank::Reranked;

/// When to compact an index or a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompactWhen {
    /// Whenever it lacks a change: when somebody forgets, and at the end of a run that somebody waits for.
    Always,
    /// When it lacks more than is worth waiting for, or does not match the store. Others read and write meanwhile, and are not
    /// kept waiting.
    Due,
}

/// A whole item as its reader sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Item {
    /// The row in this store; not shown.
    #[serde(skip, default = "no_row")]
    pub row: RowId,
    /// Stable text id: 16 hex digits.
    pub id: String,
    /// Memory or chunk.
    pub kind: Kind,
    /// What a memory is about; a chunk has none.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub memory_type: Option<MemoryType>,
    /// The text.
    pub content: String,
    /// Title of the document, or the memory's first sentence.
    pub summary: String,
    /// Stored importance, 0..1.
    pub importance: f32,
    /// Real uses (not silent prefetches).
    pub access_count: u64,
    /// When it was written.
    pub create_time: Timestamp,
    /// When it was last used.
    pub access_time: Timestamp,
    /// Per-day decay of importance, at least .001.
    pub decay_rate: f32,
    /// The conversation it came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_conv_id: Option<String>,
    /// The item that this one replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supersedes_id: Option<String>,
    /// The item that replaced this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub superseded_by_id: Option<String>,
    /// Since when it is true, where it says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<Timestamp>,
    /// Until when it was true, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_to: Option<Timestamp>,
    /// 0..1.
    pub confidence: f32,
    /// Without `#`, lower case, sorted.
    pub tags: Vec<String>,
    /// The words that describe it best, best first.
    pub keywords: Vec<String>,
    /// Free fields; for a chunk also `path`, `source`, `file_name`, `section_title`, `version`, `chunk_size`.
    pub metadata: Map<String, Value>,
    /// Its domain.
    pub collection: String,
    /// Who may see it.
    pub scope: Scope,
    /// Whose it is, within the scope.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Where it is in its life.
    pub status: Status,
    /// Its budget class, as a number.
    #[serde(with = "tier_number")]
    #[schemars(with = "u8", range(min = 1, max = 3))]
    pub tier: Tier,
    /// Its text is not as it was written: the disk or something else changed it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub damaged: bool,
    /// Whose words it is.
    pub provenance: Provenance,
    /// What brought it: `bower` for what somebody told, else the program whose session or memories it is from.
    pub source: String,
    /// The program that its writer runs in, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
}

/// Times and shares are told to the third digit: what follows is noise.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn thousandths<S: serde::Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64((value * 1_000.0).round() / 1_000.0)
}

/// A tier is the number 1, 2 or 3.
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

/// Which items a command speaks of. Empty lists and `None` hold nothing back, except that archived and superseded
/// items are left out unless `statuses` names them.
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
    /// Written at or after.
    pub since: Option<Timestamp>,
    /// Written before.
    pub until: Option<Timestamp>,
    /// Documents of this version only (memories pass only when this is `None`).
    pub version: Option<String>,
    /// Scope to keep.
    pub scope: Option<Scope>,
    /// Owner to keep.
    pub owner: Option<String>,
    /// Where items came from, any of these: a document's path or a folder above it; a memory's source or conversation.
    pub sources: Vec<String>,
    /// Said by any of these.
    pub said_by: Vec<Author>,
    /// Statuses to keep; empty is candidate and active, or what `clocks` says.
    pub statuses: Vec<Status>,
    /// The past that is asked about.
    pub clocks: Clocks,
}

/// The two clocks of a question: what the store knew, and what was so. Neither is the present.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clocks {
    /// As the store knew it then: what it learned later is not there, and what was superseded or archived later still is.
    pub as_of: Option<Timestamp>,
    /// What was true then, as far as is known: since a memory says so, or since it replaced another; until it was replaced.
    pub valid_at: Option<Timestamp>,
}

/// A question.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryRequest {
    /// Any Unicode text.
    pub text: String,
    /// Hits wanted, 1 to 50.
    pub limit: usize,
    /// Words alone: no model is loaded, and the settings' reranker is not asked.
    pub fast: bool,
    /// The profile that ranks; the settings' `profile` unless told.
    pub profile: Option<Profile>,
    /// Who reorders the best hits; the settings' `rerank` unless told, and nobody where words alone are wanted.
    pub rerank: Option<Rerank>,
    /// What may be found.
    pub select: Selection,
    /// What the times in the question do.
    pub when: When,
    /// Relevance against diversity, 0..1; the settings' `diversity` unless told.
    pub diversity: Option<f32>,
    /// Hits below this probability are left out, 0..1.
    pub min_score: f32,
    /// Weak matches are left out, and everything where nothing answers.
    pub strict: bool,
    /// Packs evidence into so many tokens, citations included; at least 32.
    pub budget_tokens: Option<usize>,
    /// Leaves out what this session was already given, and remembers what it is given now.
    pub session: Option<String>,
    /// Nobody asked: only what is specific to the question or clearly close to it passes.
    pub prefetch: bool,
}

impl Default for QueryRequest {
    /// Ten hits of everything, by all channels.
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
        }
    }
}

/// An answer: hits, what it cost, and what was missing.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Answer {
    /// The question as asked.
    pub query: String,
    /// Best first.
    #[serde(rename = "results")]
    pub hits: Vec<Hit>,
    /// The probability that the hits hold what answers the question, 0..1; none where the profile cannot tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answerable: Option<f32>,
    /// Nothing here seems to answer the question: what is shown is only what comes nearest.
    pub abstained: bool,
    /// What fits the budget, where one was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    /// Better or equal hits that the session had already been given, where one was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub already_given: Option<usize>,
    /// Hits below the bar for what nobody asked for, where that bar was set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_back: Option<usize>,
    /// Different items that any channel found, before the limit.
    pub total_found: usize,
    /// Wall time inside the engine.
    #[serde(serialize_with = "thousandths")]
    pub took_ms: f64,
    /// The model whose vectors were compared, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_used: Option<String>,
    /// Channels that were missing or failed, with the reason. Empty is a whole answer.
    pub degraded: Vec<Degraded>,
    /// What was spent.
    pub effort: Effort,
}

/// An item that was found.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Hit {
    /// The item.
    pub memory: Item,
    /// The probability that it answers the question, 0..1; in the profiles of other systems, their score.
    pub score: f32,
    /// How sure that is, in a word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub band: Option<Band>,
    /// The place of a hit from canonical memory, as it is cited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub citation: Option<String>,
    /// Ids of items that say the same: this one stands for them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub duplicates: Vec<String>,
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
    /// What its place is made of, in the order in which it counts: by how far it differs from the other candidates, so that nothing
    /// is left of it where there is one alone.
    pub factors: Vec<Factor>,
    /// What its score is made of where that is a probability: log odds that add up to its own, `ln(score / (1 - score))`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub odds: Vec<Factor>,
}

/// A channel's opinion of one item.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Signal {
    /// Who says so.
    pub channel: Channel,
    /// From 1; none where the channel did not list the item and was asked for its score afterwards.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<usize>,
    /// The channel's own scale.
    pub score: f32,
}

/// Changes that the store acknowledged and does not have any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Loss {
    /// The first of them.
    pub first_change: u64,
    /// The last of them.
    pub last_change: u64,
    /// When that was noticed.
    pub time: Timestamp,
    /// The folder that keeps what could still be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<PathBuf>,
}

impl Loss {
    /// What is missing, and what to do, in one line.
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

/// What was saved of a damaged store.
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
    /// Ids of items whose text is not as it was written. They are in the new store as they could be read, with the tag `damaged`.
    pub damaged: Vec<String>,
    /// Texts whose item could not be read; they are in a file of their own.
    pub unplaced: usize,
    /// That file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unplaced_file: Option<PathBuf>,
    /// What could not be read, in words.
    pub unreadable: Vec<String>,
    /// What is wrong with the new store, in words; none where it is sound.
    pub findings: Vec<String>,
}

/// A channel, or a step behind the channels, that did not take part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Degraded {
    /// Which.
    pub channel: Part,
    /// Why, in one line, with what to do.
    pub reason: String,
}

/// What an answer cost.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Effort {
    /// Each channel with its candidates and time.
    pub channels: Vec<ChannelEffort>,
    /// Different items considered.
    pub candidates: usize,
    /// Rows that were searched outside the indexes because they are newer; 0 to whoever sees a part of the store.
    #[serde(rename = "tail")]
    pub delta: usize,
    /// Time to make the query's vector; 0 when it was cached or not needed.
    #[serde(serialize_with = "thousandths")]
    pub embed_ms: f64,
    /// Time to make one order of what the channels found.
    #[serde(serialize_with = "thousandths")]
    pub rank_ms: f64,
    /// Whether the query's vector came from the cache; never said to whoever sees a part of the store.
    pub vector_cached: bool,
    /// What reranking cost, where it was tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rerank: Option<RerankEffort>,
}

/// The reranker's part of the effort.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RerankEffort {
    /// Who.
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
    /// Which.
    pub channel: Channel,
    /// Items it gave.
    pub candidates: usize,
    /// Wall time.
    #[serde(serialize_with = "thousandths")]
    pub took_ms: f64,
}

/// An item's history: what happened, and what it said at each time.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct History {
    /// The events of all its forms, oldest first.
    pub history: Vec<Event>,
    /// Its forms from the first to the last, each replaced by the next; empty where it was forgotten.
    pub chain: Vec<Version>,
}

/// One form of a memory.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Version {
    /// The memory as it was then.
    pub memory: Item,
    /// What it changed of the one before, in one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed: Option<String>,
}

/// Which reviews are listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReviewsRequest {
    /// Those that ended too; else the open ones alone.
    pub all: bool,
}

/// Two memories that contradict each other, and how that ended.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Review {
    /// Its number.
    pub review: u64,
    /// When it was found.
    pub create_time: Timestamp,
    /// Why nothing could tell which is right.
    pub reason: String,
    /// The side that was told last.
    pub newer: Item,
    /// The side that was there.
    pub older: Item,
    /// How it ended; none while it is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ruling: Option<Ruling>,
    /// The text of both that took their place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merged: Option<Item>,
}

/// How somebody ends a review.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settlement {
    /// The newer side is right.
    Accept,
    /// The older side is right.
    Reject,
    /// Both are right.
    Both,
    /// This text says what both mean.
    Merge {
        /// The text.
        text: String,
        /// Who wrote it.
        said_by: Author,
    },
}

/// Paths to index.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexRequest {
    /// Files and folders; made absolute by the caller.
    pub paths: Vec<PathBuf>,
    /// The domain; the settings' `document_collection` unless told.
    pub collection: Option<String>,
    /// Globs that a file must match (any of them), gitignore syntax.
    pub include: Vec<String>,
    /// Globs that keep a file out.
    pub exclude: Vec<String>,
    /// Who may see the chunks.
    pub scope: Scope,
    /// Whose they are.
    pub owner: Option<String>,
}

impl IndexRequest {
    /// All files of these paths, and nothing told about them.
    pub fn new(paths: Vec<PathBuf>) -> Self {
        Self {
            paths,
            collection: None,
            include: Vec::new(),
            exclude: Vec::new(),
            scope: Scope::Project,
            owner: None,
        }
    }
}

/// How far an index run is; sent at each step, for a progress bar.
#[derive(Clone, Debug, PartialEq)]
pub enum IndexProgress {
    /// Files found so far; the walk goes on while files are read.
    Found {
        /// Files to look at.
        files: usize,
    },
    /// The walk has ended.
    Walked {
        /// Files to look at.
        files: usize,
    },
    /// One file was dealt with (read, unchanged or skipped).
    File {
        /// Chunks that it added to the queue.
        chunks: usize,
    },
    /// Chunks were committed.
    Committed {
        /// Chunks written in this step, vectors included.
        chunks: usize,
    },
    /// The indexes are being brought up to date.
    Compacting,
}

/// What an index run did.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct IndexReport {
    /// Files looked at.
    pub files: usize,
    /// Files that were new or changed.
    pub indexed: usize,
    /// Files whose content hash was the same.
    pub unchanged: usize,
    /// Documents removed because their file is gone.
    pub removed: usize,
    /// Chunks written.
    pub chunks_added: usize,
    /// Chunks removed.
    pub chunks_removed: usize,
    /// Chunks that were kept from an earlier version of their document.
    pub chunks_kept: usize,
    /// Vectors made.
    pub embedded: usize,
    /// Files left out, each with the reason.
    pub skipped: Vec<Skipped>,
    /// Wall time.
    #[serde(serialize_with = "thousandths")]
    pub took_ms: f64,
    /// Share of the threads' CPU time that was spent in the model, 0..1.
    #[serde(serialize_with = "thousandths")]
    pub model_share: f64,
    /// Channels that cannot find the new chunks, with the reason.
    pub degraded: Vec<Degraded>,
}

/// A file that was left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Skipped {
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub reason: String,
}

/// A page of items.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Listing {
    /// Newest first.
    pub memories: Vec<Item>,
    /// How many the selection holds in all.
    pub total: usize,
    /// What of the store is missing or damaged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub degraded: Vec<Degraded>,
}

/// A store in one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StoreCopy {
    /// Memories that are candidate or active, and chunks.
    pub items: u64,
    /// Its last change.
    pub change: u64,
    /// Its schema.
    pub schema: u32,
    /// Its size.
    pub bytes: u64,
    /// Where the store that it replaced was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaced: Option<PathBuf>,
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
    /// `none`, `tail`, `int8`, `two-stage` or `clustered`.
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
    /// Items with a vector and without token codes; `bower index` makes them.
    pub uncoded: u64,
    /// Items without a vector of the current model.
    pub unembedded: u64,
    /// The local model and whether it is there.
    pub model: ModelState,
    /// What each scope and owner holds, beside its limit.
    pub scopes: Vec<Held>,
    /// When memories were last swept, pruned and consolidated.
    pub last_runs: std::collections::BTreeMap<String, Timestamp>,
    /// Acknowledged changes that are missing, until somebody accepts that.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub losses: Vec<Loss>,
}

/// The local model as the engine found it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ModelState {
    /// Its name.
    pub name: String,
    /// `ready`, `missing`, `off` or `damaged`.
    pub state: String,
    /// What is wrong and what to do, where it is not ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl ModelState {
    /// Why there are no vectors, in one line.
    pub fn why(&self) -> String {
        self.reason.clone().unwrap_or_else(|| self.state.clone())
    }
}

/// One examination by `doctor`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Check {
    /// What was examined.
    pub name: String,
    /// What was found.
    pub outcome: Outcome,
    /// In words.
    pub detail: String,
    /// What to do, where something is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// How an examination ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Nothing to do.
    Good,
    /// Works, but less well than it could.
    Weak,
    /// Something is broken.
    Bad,
}

/// One line of an item's history.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Event {
    /// Its number.
    pub event: u64,
    /// The change it belongs to.
    pub change: u64,
    /// When.
    pub time: Timestamp,
    /// What was done: `curate`, `confirm`, `index`, `remove`, `forget`.
    pub action: String,
    /// The item or document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Who did it.
    pub actor: String,
    /// Counts and reasons; never the item's text.
    pub detail: Value,
}
