//! Defines the request bodies of all operations, with their schemas. MCP calls them arguments.
//! An unknown field is an error, so that a misspelt one is not silently ignored.

#![expect(clippy::doc_markdown, reason = "doc comments here are what a schema says to models and programs")]

use bower_core::filter::Filter;
use bower_core::item::{
    Author, Briefing, Gate, Kind, MemoryType, PairRuling, Profile, Rerank, Scope, Status, Verdict, When,
};
use bower_core::request::moving::ExportRequest;
use bower_core::request::{Clocks, ForgetRequest, PairRequest, PruneRequest, Selection, Settlement};
use jiff::{Timestamp, Zoned};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

use super::bounds::{Bounds, Served, Via};
use crate::failure::{Failure, Result};
use crate::when;

/// Default strength below which memories are pruned.
pub const PRUNE_THRESHOLD: f64 = PruneRequest::THRESHOLD;

/// Default number of items on a page.
pub const LISTED: u32 = 20;
/// Maximum number of items on a page over a wire, because a response is held in memory whole.
const MOST_LISTED: u32 = 500;

/// Selection of items. A field that is left out selects everything.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SelectBody {
    /// Only these collections.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub collections: Vec<String>,
    /// Only memories of these types.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<MemoryType>,
    /// Only items with all these tags.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Only items that match, e.g. {"version": "v2", "chunk_size": {"$gt": 100}, "$contains": "retry"}.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<Map<String, Value>>,
    /// Only items written at or after this time: a date, an RFC 3339 time, "7d", "2 weeks ago", "yesterday".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// Only items written before this time, in the same forms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// The items as the store had them at this time, in the same forms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub as_of: Option<String>,
    /// Only items that were true at this time, as far as is known, in the same forms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_at: Option<String>,
    /// Only documents of this version, e.g. v2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Only this scope.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// Only items of this owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Only documents at these paths or below, and memories of these sources or conversations.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// Only items by one of these authors.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub said_by: Vec<Author>,
    /// Only memories, or only chunks of documents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// Only items with these statuses; default candidate and active.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub statuses: Vec<Status>,
}

impl SelectBody {
    /// Converts the body to the engine's selection.
    pub fn selection(&self, via: Via, now: Timestamp) -> Result<Selection> {
        let name = |field: &str| match via {
            Via::CommandLine => format!("--{}", field.replace('_', "-")),
            Via::Wire => field.to_owned(),
        };
        let moment = |field: &str, text: &Option<String>| {
            // Finding the system's time zone reads a whole folder, so it is done only for a time that needs it.
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

/// Whether a selection matches every item. `{}` and `{"$and": [{}]}` are filters that match everything.
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

/// Refuses a relative path over a wire, where the client and the server may have different working folders.
pub(super) fn check_absolute(path: &Path, via: Via) -> Result<()> {
    if path.is_absolute() || via == Via::CommandLine {
        return Ok(());
    }
    Err(Failure::usage(
        format!("path {} is relative", path.display()),
        "give it whole, from the root on: the server's folder is not yours",
    ))
}

/// A query.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub struct QueryBody {
    /// The question; any text.
    pub query: String,
    /// Number of hits, 1 to 50; default 10.
    #[schemars(range(min = 1, max = 50))]
    pub limit: Option<u16>,
    /// Use words only, no model.
    pub fast: bool,
    /// The profile that ranks the candidates.
    pub profile: Option<Profile>,
    /// Method that reorders the best hits.
    pub rerank: Option<Rerank>,
    /// Effect of the times in the question.
    pub when: Option<When>,
    /// Relevance (1) or diversity (0), or a value between them.
    #[schemars(range(min = 0, max = 1))]
    pub diversity: Option<f32>,
    /// Leave out hits whose probability is below this.
    #[schemars(range(min = 0, max = 1))]
    pub min_score: Option<f32>,
    /// Leave out weak hits, and all of them if nothing seems to answer.
    pub strict: bool,
    /// Pack evidence into this many tokens: the best whole sentences, each with its citation.
    #[schemars(range(min = 32, max = 1_000_000))]
    pub budget_tokens: Option<u32>,
    /// Name of a session: leave out what it was already given, and record what it is given now.
    pub session: Option<String>,
    /// A program asks by itself: return only evidence that is specific to the text or clearly close to it, else
    /// nothing.
    pub prefetch: bool,
    /// Neighbours on each side to return with each chunk, 0 to 10.
    #[schemars(range(min = 0, max = 10))]
    pub around: Option<u16>,
    /// Add to each hit that the graph found the path to it.
    pub explain: bool,
    /// Selection of items.
    #[serde(flatten)]
    pub select: SelectBody,
}

/// A memory to keep.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CurateBody {
    /// The text to keep.
    pub content: String,
    /// Its type; classified from the text by default.
    #[serde(default, rename = "type")]
    pub memory_type: Option<MemoryType>,
    /// Tags, with or without #.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Free metadata.
    #[serde(default)]
    pub metadata: Map<String, Value>,
    /// Collection to keep it in.
    #[serde(default)]
    pub collection: Option<String>,
    /// Its scope; default project.
    #[serde(default)]
    pub scope: Option<Scope>,
    /// Its owner.
    #[serde(default)]
    pub owner: Option<String>,
    /// Pin it: it always fits a briefing's budget and never fades.
    #[serde(default)]
    pub pinned: bool,
    /// Conversation that it comes from.
    #[serde(default)]
    pub conversation: Option<String>,
    /// Strictness of its admission.
    #[serde(default)]
    pub gate: Option<Gate>,
    /// Its author; default agent. A memory from a tool, a document, an import or the web is a candidate until it is reviewed.
    /// Only a caller with full access may name the user.
    #[serde(default)]
    pub said_by: Option<Author>,
    /// Id of an earlier memory that this text replaces, whatever the rules say; or its first digits (at least 6).
    #[serde(default)]
    pub replaces: Option<String>,
    /// Id of an earlier memory that says the same: the text is kept as another wording of it.
    #[serde(default)]
    pub confirms: Option<String>,
    /// Ids of earlier memories that are different facts.
    #[serde(default)]
    pub different_from: Vec<String>,
}

/// Turns of a conversation to keep.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TurnsBody {
    /// Name of the conversation, the same for all its turns.
    pub conversation: String,
    /// The turns, in order. A turn that was sent before adds nothing.
    pub turns: Vec<TurnBody>,
    /// Collection of the candidates extracted from the turns. The turns themselves go to `sessions`.
    #[serde(default)]
    pub collection: Option<String>,
    /// Their scope; default project.
    #[serde(default)]
    pub scope: Option<Scope>,
    /// Their owner.
    #[serde(default)]
    pub owner: Option<String>,
    /// Collection of the turns themselves, if it is not `sessions`.
    #[serde(skip)]
    pub documents: Option<String>,
    /// Folder of the conversation, as an absolute path.
    #[serde(skip)]
    pub folder: Option<String>,
    /// Program that sends the turns, if it is not the agent itself.
    #[serde(skip)]
    pub origin: Option<&'static str>,
}

/// Options for reading the transcript of a session. Its content is passed beside them.
#[derive(Clone, Debug, Default)]
pub struct TranscriptBody {
    /// Name of the file.
    pub name: String,
    /// Collection of the candidates.
    pub collection: Option<String>,
    /// Their scope; default project.
    pub scope: Option<Scope>,
    /// Their owner.
    pub owner: Option<String>,
    /// Folder of the session, as an absolute path.
    pub folder: Option<String>,
    /// Name under which answers were given to the session, if it is not the conversation's.
    pub session: Option<String>,
    /// Name of the user in the transcript.
    pub me: Option<String>,
    /// Change nothing, only report.
    pub dry_run: bool,
}

/// One turn of a conversation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TurnBody {
    /// user, assistant or a name.
    pub speaker: String,
    /// Text of the turn.
    pub text: String,
    /// Time of the turn, as an RFC 3339 time; default now.
    #[serde(default)]
    pub time: Option<Timestamp>,
    /// Least trusted source that its speaker had read for it: user if there was none, web for a page. The default for
    /// an agent's turn is a tool's output.
    #[serde(default)]
    pub least_trusted: Option<Author>,
}

/// A page of items.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ListBody {
    /// Number of items, 1 to 500; default 20.
    #[schemars(range(min = 1, max = 500))]
    pub limit: Option<u32>,
    /// Number of items to skip.
    pub offset: Option<u32>,
    /// Selection of items.
    #[serde(flatten)]
    pub select: SelectBody,
}

impl ListBody {
    /// Returns the number of items on the page, and the number to skip.
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

/// Selection and parts of an export.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ExportBody {
    /// Include superseded and archived memories, so that histories are complete.
    pub all: bool,
    /// Include indexed documents: each document with a selected chunk, whole.
    pub documents: bool,
    /// Include vectors, so that the next store need not compute them.
    pub vectors: bool,
    /// Selection of items.
    #[serde(flatten)]
    pub select: SelectBody,
}

impl ExportBody {
    /// Converts the body to the engine's request, limited to the bounds.
    pub fn request(&self, bounds: &Bounds, now: Timestamp) -> Served<ExportRequest> {
        let mut select = self.select.selection(bounds.via, now)?;
        if self.all {
            select.statuses = Status::ALL.to_vec();
        }
        let select = select.within(&bounds.visibility())?;
        Ok(ExportRequest { select, documents: self.documents, vectors: self.vectors, force: false })
    }
}

/// Items to delete for good: ids, or a selection.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ForgetBody {
    /// Ids, or their first digits (at least 6).
    pub ids: Vec<String>,
    /// Keep items that were derived from them.
    pub keep_derived: bool,
    /// Change nothing, only report.
    pub dry_run: bool,
    /// Confirm that the whole selection is deleted; not needed for ids.
    pub confirm: bool,
    /// Selection of items, if there are no ids.
    #[serde(flatten)]
    pub select: SelectBody,
}

impl ForgetBody {
    /// Returns the ids to forget, or a selection that does not match everything. Without either it fails, and never
    /// forgets everything.
    pub fn what(&self, via: Via, now: Timestamp) -> Result<ForgetRequest> {
        let (ids, select) = (&self.ids, self.select.selection(via, now)?);
        // Beside ids, a scope or an owner only names the caller and selects nothing by itself.
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

/// What a memory is to an earlier one: exactly one of these.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PairBody {
    /// Id of the earlier memory, or its first digits (at least 6): the memory takes its place.
    pub replaces: Option<String>,
    /// Id of the earlier memory: the memory says the same, and becomes another wording of it.
    pub confirms: Option<String>,
    /// Id of the earlier memory: the two are different facts.
    pub different_from: Option<String>,
}

impl PairBody {
    /// Converts the body to the engine's request about a memory.
    pub(super) fn request(&self, id: &str) -> Result<PairRequest> {
        let named = [
            (&self.replaces, PairRuling::Replaces),
            (&self.confirms, PairRuling::Confirms),
            (&self.different_from, PairRuling::DifferentFrom),
        ];
        let mut named = named.into_iter().filter_map(|(other, ruling)| Some((other.as_ref()?, ruling)));
        match (named.next(), named.next()) {
            (Some((other, ruling)), None) => {
                Ok(PairRequest { id: id.trim().to_owned(), other: other.trim().to_owned(), ruling })
            }
            (None, _) => Err(Failure::usage(
                "no earlier memory is named",
                "name one with replaces, confirms or different_from",
            )),
            (Some(_), Some(_)) => Err(Failure::usage(
                "several of replaces, confirms and different_from are named",
                "name one of them",
            )),
        }
    }
}

/// Settlement of a review.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SettleBody {
    /// The ruling: accept the newer side, reject it, keep both, or merge both into `text`.
    pub ruling: bower_core::item::Ruling,
    /// The text that replaces both; only for merge.
    #[serde(default)]
    pub text: Option<String>,
}

impl SettleBody {
    /// Converts the body to the engine's settlement.
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

/// A verdict on a memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FeedbackBody {
    /// Id of the memory, or its first digits (at least 6).
    pub id: String,
    /// useful: it helped. wrong: it is not true. stale: it is no longer true, and leaves answers.
    pub verdict: Verdict,
}

/// Pinning of a memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PinBody {
    /// Id of the memory, or its first digits (at least 6).
    pub id: String,
    /// False removes the pin.
    #[serde(default = "yes")]
    pub pinned: bool,
}

fn yes() -> bool {
    true
}

/// Sweep of the whole store.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SweepBody {
    /// Change nothing, only report.
    pub dry_run: bool,
}

/// Pruning of the whole store.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PruneBody {
    /// Archive memories whose strength is below this; default .05.
    #[schemars(range(min = 0, max = 1))]
    pub threshold: Option<f64>,
    /// Change nothing, only report.
    pub dry_run: bool,
}

/// Consolidation of memories.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ConsolidateBody {
    /// Cosine from which two memories count as similar; default .9.
    #[schemars(range(min = 0, max = 1))]
    pub similarity: Option<f32>,
    /// Change nothing, only report.
    pub dry_run: bool,
    /// Time limit in seconds; default 60.
    #[schemars(range(min = 1, max = 3_600))]
    pub seconds: Option<u32>,
    /// Let the language model of the settings write the patterns; this sends the memories' texts to it. Not with
    /// dry_run.
    pub llm: bool,
    /// Only this scope.
    pub scope: Option<Scope>,
    /// Only memories of this owner.
    pub owner: Option<String>,
}

/// A briefing for the start of a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BriefBody {
    /// Size: lite, standard or deep, for 3, 8 or 20 entries; default standard.
    pub budget: Option<Briefing>,
    /// Tokens of the whole briefing; default 200 for each entry.
    #[schemars(range(min = 64, max = 100_000))]
    pub budget_tokens: Option<u32>,
    /// The task; entries that concern it come first.
    pub task: Option<String>,
    /// The working folder, as an absolute path: memories from other folders are left out.
    pub folder: Option<PathBuf>,
    /// Name of a session: leave out what it was already given, and record what it is given now.
    pub session: Option<String>,
    /// Include what the session was already given, because it began anew.
    pub repeat: bool,
    /// Use words only, no model.
    pub fast: bool,
    /// Only this scope.
    pub scope: Option<Scope>,
    /// Only memories of this owner.
    pub owner: Option<String>,
}

/// Changes to undo: those of an event, or all that one origin wrote.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct UndoBody {
    /// Number of the event, as in an answer or a history.
    pub event: Option<u64>,
    /// Undo all that this conversation wrote.
    pub session: Option<String>,
    /// Undo all that agents and sessions of this program wrote.
    pub host: Option<String>,
    /// Undo all that has this source.
    pub source: Option<String>,
    /// Change nothing, only report; only for an origin.
    pub dry_run: bool,
}

/// Paths to index, on the server's machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IndexBody {
    /// Absolute paths of files and folders; .gitignore and .bowerignore are respected.
    pub paths: Vec<PathBuf>,
    /// Looks only at these files and folders below them. The watcher sets it.
    #[serde(skip)]
    pub only: Vec<PathBuf>,
    /// Collection to index into.
    #[serde(default)]
    pub collection: Option<String>,
    /// Only files that match one of these globs.
    #[serde(default)]
    pub include: Vec<String>,
    /// Skip files that match one of these globs.
    #[serde(default)]
    pub exclude: Vec<String>,
    /// Their scope; default project.
    #[serde(default)]
    pub scope: Option<Scope>,
    /// Their owner.
    #[serde(default)]
    pub owner: Option<String>,
}
