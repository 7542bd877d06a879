//! Requests and answers of briefings and of reading sessions.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::moving::Problem;
use super::{Degraded, thousandths};
use crate::item::{Author, Briefing, CurateOutcome, MemoryType, Scope};
use crate::rank::brief::BriefLine;

/// A briefing for somebody who begins.
#[derive(Clone, Debug, PartialEq)]
pub struct BriefRequest {
    /// How much it says.
    pub budget: Briefing,
    /// Its tokens; those of the budget unless told.
    pub budget_tokens: Option<usize>,
    /// What is to be done.
    pub task: Option<String>,
    /// Where, as an absolute path: what was told in another folder is left out.
    pub folder: Option<String>,
    /// Remembers for this session what it was given.
    pub session: Option<String>,
    /// Says again what the session was given already: it began anew, and has lost what it knew.
    pub repeat: bool,
    /// Words alone: no model is loaded.
    pub fast: bool,
}

impl Default for BriefRequest {
    /// Eight entries for anybody.
    fn default() -> Self {
        Self {
            budget: Briefing::Standard,
            budget_tokens: None,
            task: None,
            folder: None,
            session: None,
            repeat: true,
            fast: false,
        }
    }
}

/// A briefing.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Brief {
    /// How much was asked for.
    pub budget: Briefing,
    /// What is to be done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// Where.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// What is said, by section.
    pub entries: Vec<BriefLine>,
    /// Tokens of the whole block; at most `budget_tokens`, unless what is pinned takes more.
    pub tokens: usize,
    /// What was asked for.
    pub budget_tokens: usize,
    /// How tokens were counted: a model's name, or `estimate`.
    pub counted_by: String,
    /// Entries that would have been said if there had been more tokens.
    pub left_out: usize,
    /// Entries that the session had been given already.
    pub already_given: usize,
    /// Candidates that nobody has looked at.
    pub candidates: usize,
    /// Wall time inside the engine.
    #[serde(serialize_with = "thousandths")]
    pub took_ms: f64,
    /// Channels that were missing, with the reason.
    pub degraded: Vec<Degraded>,
}

/// How a session is read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionRequest {
    /// Where its candidates go; the settings' `memory_collection` unless told.
    pub collection: Option<String>,
    /// Who may see them; a project's unless told.
    pub scope: Option<Scope>,
    /// Whose they are.
    pub owner: Option<String>,
    /// Where the session was, as an absolute path.
    pub folder: Option<String>,
    /// The name under which answers were given to it, where that is not the conversation's own.
    pub session: Option<String>,
    /// The program that it ran in, where that is not what its transcript shows.
    pub host: Option<String>,
    /// What its user is called in it, where speakers have names; what others say is theirs.
    pub me: Option<String>,
    /// Only says what would be kept.
    pub dry_run: bool,
}

/// Turns of a conversation, as a host hands them over.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TurnsRequest {
    /// The conversation's name, the same with each turn.
    pub conversation: String,
    /// What was said, in order.
    pub turns: Vec<ToldTurn>,
    /// Who hands them over.
    pub origin: &'static str,
    /// The collection that the turns themselves go to; `sessions` unless told.
    pub documents: Option<String>,
    /// Where candidates go, and whose everything is.
    pub session: SessionRequest,
}

/// What one side said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToldTurn {
    /// `user`, `assistant` or a name; what a tool or the system says is passed over.
    pub speaker: String,
    /// What.
    pub text: String,
    /// When; now unless told.
    pub time: Option<Timestamp>,
    /// The least trusted of what its speaker had read. Of an agent's turn that does not tell, a tool's output: few answer
    /// without one.
    pub least_trusted: Option<Author>,
}

/// What came of reading a session.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct SessionRead {
    /// Its ids, as the transcript names them.
    pub conversations: Vec<String>,
    /// Turns that are new.
    pub turns: u64,
    /// Turns that were read at an earlier time.
    pub known: u64,
    /// Candidates that were made, and memories that were confirmed.
    pub kept: Vec<KeptSentence>,
    /// Sentences that the gate refused.
    pub refused: u64,
    /// Sentences that were kept, or forgotten, before.
    pub unchanged: u64,
    /// Nothing was written.
    pub dry_run: bool,
    /// Lines that could not be read; the first hundred.
    pub errors: Vec<Problem>,
    /// How many there were.
    pub failed: u64,
    /// Wall time inside the engine.
    #[serde(serialize_with = "thousandths")]
    pub took_ms: f64,
    /// Channels that cannot find what was kept yet, with the reason.
    pub degraded: Vec<Degraded>,
}

/// A sentence of a session that was kept.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct KeptSentence {
    /// The candidate, or the memory that it confirms; none in a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What it says.
    pub text: String,
    /// What it is about.
    #[serde(rename = "type")]
    pub memory_type: MemoryType,
    /// Who said it, by name.
    pub speaker: String,
    /// Who said it, as far as it is trusted.
    pub said_by: Author,
    /// The least trusted of what its speaker had read.
    pub least_trusted: Author,
    /// Why it was picked: `told`, `decided`, `ruled`, `corrected`, `stated`, `found`.
    pub cue: String,
    /// What became of it.
    pub outcome: CurateOutcome,
    /// The review that asks whether it takes another's place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub review: Option<u64>,
}
