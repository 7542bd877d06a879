//! Defines the bodies of requests, with their schemas: what MCP calls arguments and HTTP a body.
//! An unknown field is an error, so that a misspelt one is not silently nothing.

#![expect(clippy::doc_markdown, reason = "doc comments here are what a schema says to models and programs")]

use bower_core::filter::Filter;
use bower_core::item::{
    Author, Briefing, Gate, Kind, MemoryType, Profile, Rerank, Scope, Status, Verdict, When,
};
use bower_core::request::moving::ExportRequest;
use bower_core::request::{Clocks, ForgetRequest, PruneRequest, Selection, Settlement};
use jiff::{Timestamp, Zoned};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

use super::bounds::{Bounds, Served, Via};
use crate::failure::{Failure, Result};
use crate::when;

/// Memories whose strength is below this are pruned, unless told otherwise.
pub const PRUNE_THRESHOLD: f64 = PruneRequest::THRESHOLD;

/// Items on a page of a list, unless told otherwise.
pub const LISTED: u32 = 20;
/// Items on a page of a list over a wire at most: an answer is held in memory whole.
const MOST_LISTED: u32 = 500;

/// Which items a request speaks of. What is left out holds nothing back.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SelectBody {
    /// Only these collections.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub collections: Vec<String>,
    /// Only memories of these types.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<MemoryType>,
    /// Only items with all of these tags.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Only items that pass, e.g. {"version": "v2", "chunk_size": {"$gt": 100}, "$contains": "retry"}.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<Map<String, Value>>,
    /// Only items written at or after: a date, an RFC 3339 time, "7d", "2 weeks ago", "yesterday".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// Only items written before: the same forms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// As the store knew it then: the same forms of time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub as_of: Option<String>,
    /// What was true then, as far as is known: the same forms of time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_at: Option<String>,
    /// Only documents of this version, e.g. v2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Only this scope.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// Only this owner's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Only documents at these paths or below, and memories of these sources or conversations.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// Only what one of these said.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub said_by: Vec<Author>,
    /// Only memories, or only chunks of documents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// Only these statuses; candidate and active unless told.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub statuses: Vec<Status>,
}

impl SelectBody {
    /// As the engine takes it.
    pub fn selection(&self, via: Via, now: Timestamp) -> Result<Selection> {
        let name = |field: &str| match via {
            Via::CommandLine => format!("--{}", field.replace('_', "-")),
            Via::Wire => field.to_owned(),
        };
        let moment = |field: &str, text: &Option<String>| {
            // Finding the system's time zone reads a whole folder: only where a time has to be understood.
            let local = || Zoned::new(now, jiff::tz::TimeZone::system());
            text.as_deref().map(|text| when::parse(text, &local()).map_err(|why| {
                Failure::usage(format!("{} {text:?}: {why}", name(field)), "use a date (2025-03-01), a time (2025-03-01T12:00:00Z), 7d, \"2 weeks ago\", today or yesterday")
            })).transpose()
        };
        let (since, until) = (moment("since", &self.since)?, moment("until", &self.until)?);
        let clocks =
            Clocks { as_of: moment("as_of", &self.as_of)?, valid_at: moment("valid_at", &self.valid_at)? };
        if let (Some(since), Some(until)) = (since, until)
            && since >= until
        {
            return Err(Failure::usage(
                format!("{} ({since}) is not before {} ({until})", name("since"), name("until")),
                format!("swap them; {} leaves out what was written at that time or later", name("until")),
            ));
        }
        let filter =
            self.filter.clone().map(|fields| Filter::from_value(&Value::Object(fields))).transpose()?;
        Ok(Selection {
            kinds: self.kind.into_iter().collect(),
            collections: self.collections.clone(),
            types: self.types.clone(),
            tags: self.tags.clone(),
            filter,
            since,
            until,
            version: self.version.clone(),
            scope: self.scope,
            owner: self.owner.clone(),
            sources: self.sources.clone(),
            said_by: self.said_by.clone(),
            statuses: self.statuses.clone(),
            clocks,
        })
    }
}

/// Whether a selection leaves nothing out. `{}` and `{"$and": [{}]}` are filters that keep everything.
pub(super) fn holds_everything(select: &Selection) -> bool {
    fn vacuous(filter: &Filter) -> bool {
        match filter {
            Filter::All(parts) => parts.iter().all(vacuous),
            Filter::Any(parts) => parts.iter().any(vacuous),
            Filter::Field { .. } | Filter::Contains(_) | Filter::NotContains(_) => false,
        }
    }
    let plain = Selection { filter: None, ..select.clone() };
    plain == Selection::default() && select.filter.as_ref().is_none_or(vacuous)
}

/// Refuses a path that does not mean the same to whoever asks and to whoever answers.
pub(super) fn check_absolute(path: &Path, via: Via) -> Result<()> {
    if path.is_absolute() || via == Via::CommandLine {
        return Ok(());
    }
    Err(Failure::usage(
        format!("path {} is relative", path.display()),
        "give it whole, from the root on: the server's folder is not yours",
    ))
}

/// A question.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct QueryBody {
    /// The question, any text.
    pub query: String,
    /// Hits wanted, 1 to 50; 10 unless told.
    #[schemars(range(min = 1, max = 50))]
    pub limit: Option<u16>,
    /// Words alone: no model is used.
    pub fast: bool,
    /// The set of retrieval settings that ranks.
    pub profile: Option<Profile>,
    /// Who reorders the best hits.
    pub rerank: Option<Rerank>,
    /// What the times in the question do.
    pub when: Option<When>,
    /// Relevance (1) against diversity (0).
    #[schemars(range(min = 0, max = 1))]
    pub diversity: Option<f32>,
    /// Leave out hits that answer with less than this probability.
    #[schemars(range(min = 0, max = 1))]
    pub min_score: Option<f32>,
    /// Leave out weak matches, and everything where nothing seems to answer.
    pub strict: bool,
    /// Pack evidence into so many tokens: the best whole sentences, each cited.
    #[schemars(range(min = 32, max = 1_000_000))]
    pub budget_tokens: Option<u32>,
    /// Leave out what this session was already given, and remember what it is given now.
    pub session: Option<String>,
    /// Nobody asked: give only what is specific to the text or clearly close to it, else nothing.
    pub prefetch: bool,
    /// Which items.
    #[serde(flatten)]
    pub select: SelectBody,
}

/// Something to keep.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CurateBody {
    /// The text to keep.
    pub content: String,
    /// What it is about; judged from the text unless told.
    #[serde(default, rename = "type")]
    pub memory_type: Option<MemoryType>,
    /// Tags, with or without #.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Free fields.
    #[serde(default)]
    pub metadata: Map<String, Value>,
    /// The collection to keep it in.
    #[serde(default)]
    pub collection: Option<String>,
    /// Who may see it; project unless told.
    #[serde(default)]
    pub scope: Option<Scope>,
    /// Whose it is.
    #[serde(default)]
    pub owner: Option<String>,
    /// Pin it: it always fits the budget and never fades.
    #[serde(default)]
    pub pinned: bool,
    /// The conversation it came from.
    #[serde(default)]
    pub conversation: Option<String>,
    /// How closely it is looked at before it is kept.
    #[serde(default)]
    pub gate: Option<Gate>,
    /// Who says it; an agent unless told. What comes from a tool, a document, an import or the web is a candidate, until somebody
    /// keeps it. None but whoever may do everything speaks for the user.
    #[serde(default)]
    pub said_by: Option<Author>,
}

/// Turns of a conversation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TurnsBody {
    /// The conversation's name, the same with each turn.
    pub conversation: String,
    /// What was said, in order; a turn that was handed over before adds nothing.
    pub turns: Vec<TurnBody>,
    /// The collection of the candidates that are picked from it; the turns themselves go to `sessions`.
    #[serde(default)]
    pub collection: Option<String>,
    /// Who may see it; project unless told.
    #[serde(default)]
    pub scope: Option<Scope>,
    /// Whose it is.
    #[serde(default)]
    pub owner: Option<String>,
    /// The collection of the turns themselves, where it is not `sessions`.
    #[serde(skip)]
    pub documents: Option<String>,
    /// Where the conversation is held, as an absolute path.
    #[serde(skip)]
    pub folder: Option<String>,
    /// The program that hands it over, where that is not the agent itself.
    #[serde(skip)]
    pub origin: Option<&'static str>,
}

/// A transcript of a session, which its reader has as a file or as bytes.
#[derive(Clone, Debug, Default)]
pub struct TranscriptBody {
    /// The file's name.
    pub name: String,
    /// The collection of the candidates.
    pub collection: Option<String>,
    /// Who may see them; project unless told.
    pub scope: Option<Scope>,
    /// Whose they are.
    pub owner: Option<String>,
    /// Where the session was, as an absolute path.
    pub folder: Option<String>,
    /// The name under which answers were given to it, where that is not the conversation's own.
    pub session: Option<String>,
    /// What its user is called in it.
    pub me: Option<String>,
    /// Only look.
    pub dry_run: bool,
}

/// What one side said.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TurnBody {
    /// user, assistant or a name.
    pub speaker: String,
    /// What.
    pub text: String,
    /// When, as an RFC 3339 time; now unless told.
    #[serde(default)]
    pub time: Option<Timestamp>,
    /// The least trusted of what its speaker had read for it: user where that was nothing, web where it was a page. Of an agent
    /// that does not tell, a tool's output.
    #[serde(default)]
    pub least_trusted: Option<Author>,
}

/// A page of items.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ListBody {
    /// Items wanted, 1 to 500; 20 unless told.
    #[schemars(range(min = 1, max = 500))]
    pub limit: Option<u32>,
    /// Items to leave out at the start.
    pub offset: Option<u32>,
    /// Which items.
    #[serde(flatten)]
    pub select: SelectBody,
}

impl ListBody {
    /// How many are wanted, and how many are left out at the start.
    pub(super) fn page(&self, via: Via) -> Result<(usize, usize)> {
        let limit = self.limit.unwrap_or(LISTED);
        if via == Via::Wire && !(1..=MOST_LISTED).contains(&limit) {
            return Err(Failure::usage(
                format!("limit {limit}"),
                format!("use 1 to {MOST_LISTED}, and offset for the next page"),
            ));
        }
        Ok((limit as usize, self.offset.unwrap_or(0) as usize))
    }
}

/// What is to leave the store.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ExportBody {
    /// Superseded and archived memories too: whole chains.
    pub all: bool,
    /// Indexed documents too: each that has a selected chunk, whole.
    pub documents: bool,
    /// Vectors too, so that the next store need not make them.
    pub vectors: bool,
    /// Which items.
    #[serde(flatten)]
    pub select: SelectBody,
}

impl ExportBody {
    /// As the engine takes it, as far as it is within the bounds.
    pub fn request(&self, bounds: &Bounds, now: Timestamp) -> Served<ExportRequest> {
        let mut select = self.select.selection(bounds.via, now)?;
        if self.all {
            select.statuses = Status::ALL.to_vec();
        }
        let select = select.within(&bounds.visibility())?;
        Ok(ExportRequest { select, documents: self.documents, vectors: self.vectors, force: false })
    }
}

/// What is to go for good: ids, or a selection.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ForgetBody {
    /// Ids, or their first digits (at least 6).
    pub ids: Vec<String>,
    /// What was made of them stays.
    pub keep_derived: bool,
    /// Only look.
    pub dry_run: bool,
    /// Delete what the selection holds; ids need no such word.
    pub confirm: bool,
    /// Which items, where no ids are given.
    #[serde(flatten)]
    pub select: SelectBody,
}

impl ForgetBody {
    /// What is to be forgotten: ids, or a selection that leaves something out; never everything for want of either.
    pub fn what(&self, via: Via, now: Timestamp) -> Result<ForgetRequest> {
        let (ids, select) = (&self.ids, self.select.selection(via, now)?);
        // A scope or an owner says who asks; beside ids it selects nothing by itself.
        let bare = Selection { scope: None, owner: None, ..select.clone() };
        match (ids.is_empty(), holds_everything(if ids.is_empty() { &select } else { &bare })) {
            (false, true) => Ok(ForgetRequest::Ids(ids.iter().map(|id| id.trim().to_owned()).collect())),
            (true, false) => Ok(ForgetRequest::Selected(Box::new(select))),
            (false, false) => Err(Failure::usage("both ids and a selection are given", "give one of them")),
            (true, true) => {
                let (with, look) = match via {
                    Via::CommandLine => ("--tag or --collection", "add --dry-run to see it first"),
                    Via::Wire => ("tags or collections", "dry_run shows what would go"),
                };
                Err(Failure::usage(
                    "nothing says what to forget",
                    format!("give ids, or narrow it down, e.g. with {with}; {look}"),
                ))
            }
        }
    }
}

/// How a review ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SettleBody {
    /// Which side is right: accept the newer, reject it, both, or merge both into `text`.
    pub ruling: bower_core::item::Ruling,
    /// The text that takes the place of both, for merge.
    #[serde(default)]
    pub text: Option<String>,
}

impl SettleBody {
    /// As the engine takes it.
    pub(super) fn settlement(&self, said_by: Author) -> Result<Settlement> {
        use bower_core::item::Ruling;
        match (self.ruling, self.text.as_deref()) {
            (Ruling::Merge, Some(text)) if !text.trim().is_empty() => {
                Ok(Settlement::Merge { text: text.to_owned(), said_by })
            }
            (Ruling::Merge, _) => {
                Err(Failure::usage("merge needs a text", "give the text that takes the place of both"))
            }
            (_, Some(_)) => Err(Failure::usage("a text is for merge alone", "leave it out, or merge")),
            (Ruling::Accept, None) => Ok(Settlement::Accept),
            (Ruling::Reject, None) => Ok(Settlement::Reject),
            (Ruling::Both, None) => Ok(Settlement::Both),
        }
    }
}

/// What somebody says of a memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FeedbackBody {
    /// The memory's id, or its first digits (at least 6).
    pub id: String,
    /// useful: it helped. wrong: it is not so. stale: it is so no longer, and leaves answers.
    pub verdict: Verdict,
}

/// A pin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PinBody {
    /// The memory's id, or its first digits (at least 6).
    pub id: String,
    /// False takes the pin out.
    #[serde(default = "yes")]
    pub pinned: bool,
}

fn yes() -> bool {
    true
}

/// A sweep of the whole store.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SweepBody {
    /// Only look.
    pub dry_run: bool,
}

/// Pruning of the whole store.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PruneBody {
    /// Archive memories whose strength is below this; .05 unless told.
    #[schemars(range(min = 0, max = 1))]
    pub threshold: Option<f64>,
    /// Only look.
    pub dry_run: bool,
}

/// How memories are consolidated.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ConsolidateBody {
    /// Cosine from which on two memories say much the same; .9 unless told.
    #[schemars(range(min = 0, max = 1))]
    pub similarity: Option<f32>,
    /// Only look.
    pub dry_run: bool,
    /// How long it may take, in seconds; 60 unless told.
    #[schemars(range(min = 1, max = 3_600))]
    pub seconds: Option<u32>,
    /// Let the language model that the settings name write the patterns; sends the memories' texts there. Not with dry_run.
    pub llm: bool,
    /// Only this scope.
    pub scope: Option<Scope>,
    /// Only this owner's.
    pub owner: Option<String>,
}

/// A briefing for somebody who begins.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BriefBody {
    /// How much: lite, standard or deep, for 3, 8 or 20 entries; standard unless told.
    pub budget: Option<Briefing>,
    /// Tokens of the whole; 200 for each entry unless told.
    #[schemars(range(min = 64, max = 100_000))]
    pub budget_tokens: Option<u32>,
    /// What is to be done: what has to do with it comes first.
    pub task: Option<String>,
    /// Where, as an absolute path: what was told in another folder is left out.
    pub folder: Option<PathBuf>,
    /// Leave out what this session was already given, and remember what it is given now.
    pub session: Option<String>,
    /// Say what the session was given all the same: it began anew.
    pub repeat: bool,
    /// Words alone: no model is used.
    pub fast: bool,
    /// Only this scope.
    pub scope: Option<Scope>,
    /// Only this owner's.
    pub owner: Option<String>,
}

/// What is to be taken back: what an event did, or all that one origin wrote.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct UndoBody {
    /// The event's number, as an answer or a history tells it.
    pub event: Option<u64>,
    /// All that this conversation wrote.
    pub session: Option<String>,
    /// All that was written by agents and sessions of this program.
    pub host: Option<String>,
    /// All that carries this source.
    pub source: Option<String>,
    /// Only look, where an origin is named.
    pub dry_run: bool,
}

/// Paths to index, on the server's machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IndexBody {
    /// Absolute paths of files and folders; .gitignore is honoured.
    pub paths: Vec<PathBuf>,
    /// The collection to index into.
    #[serde(default)]
    pub collection: Option<String>,
    /// Only files that match one of these globs.
    #[serde(default)]
    pub include: Vec<String>,
    /// No files that match one of these globs.
    #[serde(default)]
    pub exclude: Vec<String>,
    /// Who may see it; project unless told.
    #[serde(default)]
    pub scope: Option<Scope>,
    /// Whose it is.
    #[serde(default)]
    pub owner: Option<String>,
}
