//! Requests and answers of briefings, and of reading sessions.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::PathBuf;

use super::moving::Problem;
use super::{Degraded, EarlierMemory, thousandths};
use crate::item::{Author, Briefing, CurateOutcome, MemoryType, Scope};
use crate::rank::brief::BriefLine;

/// A request for a briefing.
#[derive(Clone, Debug, PartialEq)]
pub struct BriefRequest {
    /// The size of the briefing.
    pub budget: Briefing,
    /// Token budget; `None` is the default of the briefing's size.
    pub budget_tokens: Option<usize>,
    /// The task ahead.
    pub task: Option<String>,
    /// The working folder, as an absolute path. Memories from other folders are left out.
    pub folder: Option<String>,
    /// The working folder on this machine. With it, the anchors of memories are checked; `None` checks none.
    pub root: Option<PathBuf>,
    /// Records what this session received.
    pub session: Option<String>,
    /// Repeats what the session already received, because it restarted and lost its context.
    pub repeat: bool,
    /// Searches by words alone: no model is loaded.
    pub fast: bool,
}

impl Default for BriefRequest {
    /// Asks for a standard briefing (eight entries) for any task and folder.
    fn default() -> Self {
        Self {
            budget: Briefing::Standard,
            budget_tokens: None,
            task: None,
            folder: None,
            root: None,
            session: None,
            repeat: true,
            fast: false,
        }
    }
}

/// A briefing.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Brief {
    /// The requested size.
    pub budget: Briefing,
    /// The task ahead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// The working folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// The entries, by section.
    pub entries: Vec<BriefLine>,
    /// Tokens of the whole block; at most `budget_tokens`, unless pinned entries need more.
    pub tokens: usize,
    /// The requested token budget.
    pub budget_tokens: usize,
    /// The tokenizer that counted: a model's name, or `estimate`.
    pub counted_by: String,
    /// Entries that did not fit the budget.
    pub left_out: usize,
    /// Entries that the session had already received.
    pub already_given: usize,
    /// Candidates that nobody has reviewed.
    pub candidates: usize,
    /// Wall time inside the engine.
    #[serde(serialize_with = "thousandths")]
    pub took_ms: f64,
    /// Channels that were missing, with the reason.
    pub degraded: Vec<Degraded>,
}

/// Options for reading a session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionRequest {
    /// The collection of its candidates; `None` is the setting `memory_collection`.
    pub collection: Option<String>,
    /// The scope of its candidates; `None` is `project`.
    pub scope: Option<Scope>,
    /// The owner of its candidates.
    pub owner: Option<String>,
    /// The session's working folder, as an absolute path.
    pub folder: Option<String>,
    /// The session name under which it received answers, if that differs from the conversation's name.
    pub session: Option<String>,
    /// The program that it ran in, if its transcript does not show that.
    pub host: Option<String>,
    /// The user's name in a session whose speakers have names. All other speakers count as other people.
    pub me: Option<String>,
    /// Reports what would be kept and writes nothing.
    pub dry_run: bool,
}

/// Turns of a conversation, sent by a host.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TurnsRequest {
    /// The conversation's name, equal in each request.
    pub conversation: String,
    /// The turns in order.
    pub turns: Vec<ToldTurn>,
    /// The sender of the turns.
    pub origin: &'static str,
    /// The collection of the turns themselves; `None` is `sessions`.
    pub documents: Option<String>,
    /// The collection of the candidates, and the scope and owner of everything.
    pub session: SessionRequest,
}

/// One turn, as its sender passes it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToldTurn {
    /// `user`, `assistant` or a name. Turns of a tool or the system are skipped.
    pub speaker: String,
    /// The text.
    pub text: String,
    /// When it was said; `None` is now.
    pub time: Option<Timestamp>,
    /// The least trusted source that its speaker had read. For an agent's turn, `None` means a tool's output, because
    /// few agents answer without one.
    pub least_trusted: Option<Author>,
}

/// The result of reading a session.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct SessionRead {
    /// The conversations' ids, as the transcript names them.
    pub conversations: Vec<String>,
    /// Number of new turns.
    pub turns: u64,
    /// Number of turns that had been read before.
    pub known: u64,
    /// Candidates that were created, and memories that were confirmed.
    pub kept: Vec<KeptSentence>,
    /// Number of sentences that admission refused.
    pub refused: u64,
    /// Number of sentences that were kept or forgotten before.
    pub unchanged: u64,
    /// Whether nothing was written.
    pub dry_run: bool,
    /// The first hundred lines that could not be read.
    pub errors: Vec<Problem>,
    /// Number of lines that could not be read.
    pub failed: u64,
    /// Wall time inside the engine.
    #[serde(serialize_with = "thousandths")]
    pub took_ms: f64,
    /// Missing parts, with the reason: channels that cannot find the new candidates yet, and the model that picks.
    pub degraded: Vec<Degraded>,
}

/// A sentence of a session that was kept.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct KeptSentence {
    /// The candidate, or the memory that it confirms; `None` in a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The sentence.
    pub text: String,
    /// The memory's type.
    #[serde(rename = "type")]
    pub memory_type: MemoryType,
    /// The speaker's name.
    pub speaker: String,
    /// The kind of speaker, which decides how far the sentence is trusted.
    pub said_by: Author,
    /// The least trusted source that the speaker had read.
    pub least_trusted: Author,
    /// The outcome.
    pub outcome: CurateOutcome,
    /// The review that decides whether it replaces another memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub review: Option<u64>,
    /// Earlier memories that it may replace or repeat, the likeliest first, at most three.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub possible: Vec<EarlierMemory>,
}
