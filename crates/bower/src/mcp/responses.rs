//! Renders answers for a model: what it needs to act, and no more.
//! People and programs that want every field use HTTP or the command line.

use bower_core::evidence::{self, Piece};
use bower_core::item::{Band, CheckedAnchor, Kind, Part, Step};
use bower_core::prompt::{self, PromptText};
use bower_core::request::{
    Answer, ClockJump, Cluster, Consolidated, Degraded, Feedback, History, Hit, IndexReport, Item, Listing,
    MemoryWording, ModelState, Pruned, Review, Skipped, Turned,
};
use jiff::{RoundMode, Timestamp, TimestampRound, Unit};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::render::{self, Look};
use crate::service::StoreState;

/// Maximum number of entries of a list in a report; the full count is beside the list.
const MOST_TOLD: usize = 50;

/// A tool's response: fields for programs, and text that a model reads. A host may put either into a prompt, so neither
/// contains anything that could pass for another part of it. HTTP and the command line return the exact bytes.
#[derive(Debug)]
pub struct Response {
    fields: Map<String, Value>,
    text: PromptText,
}

impl Response {
    /// Creates a response from an answer and its text.
    pub fn new(answer: &impl Serialize, text: impl AsRef<str>) -> Self {
        // Serialized as text first, so that an `f32` keeps its own digits instead of those of the nearest `f64`.
        let told = serde_json::to_string(answer).and_then(|text| serde_json::from_str(&text));
        let fields =
            told.unwrap_or_else(|error| Map::from_iter([("error".to_owned(), error.to_string().into())]));
        Self { fields: prompt::json_fields(fields), text: PromptText::lines(text.as_ref()) }
    }

    /// Returns the text.
    pub const fn text(&self) -> &PromptText {
        &self.text
    }

    /// Returns the fields, as in the tool's output schema, and the text.
    pub fn into_parts(self) -> (Map<String, Value>, PromptText) {
        (self.fields, self.text)
    }
}

/// Returns the layout of a text for a model: plain, 100 columns wide.
pub fn look(now: Timestamp) -> Look {
    Look { now, width: 100, ..Look::now() }
}

/// Truncates a time to the second; finer digits are noise.
pub fn moment(time: Timestamp) -> Timestamp {
    time.round(TimestampRound::new().smallest(Unit::Second).mode(RoundMode::Trunc)).unwrap_or(time)
}

/// Answer of a search.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Found {
    /// The evidence, best first.
    results: Vec<Evidence>,
    /// Whether nothing seems to answer the question. The results are then only the nearest.
    abstained: bool,
    /// Missing or omitted parts, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

/// A piece of evidence.
#[derive(Debug, Serialize, JsonSchema)]
struct Evidence {
    id: String,
    text: String,
    source: String,
    score: f32,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    band: Option<Band>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    written: Option<Timestamp>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    /// What no longer holds of the files, symbols and commits that it names: `src/a.rs fn parse: changed`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    anchors: Vec<String>,
    /// Ids of all items that it combines, if they are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ids: Vec<String>,
}

/// Renders the answer to a question. If `asked` is false, the query was a prefetch, and the text is evidence only.
pub fn found(answer: &Answer, asked: bool) -> Response {
    let pieces: &[Piece] = answer.evidence.as_ref().map_or(&[], |evidence| &evidence.pieces);
    let results = pieces.iter().map(|piece| {
        let hit = answer.hits.iter().find(|hit| piece.ids.contains(&hit.memory.id));
        let memory = |hit: &&Hit| hit.memory.kind == Kind::Memory;
        Evidence {
            id: hit
                .map_or_else(|| piece.ids.first().cloned().unwrap_or_default(), |hit| hit.memory.id.clone()),
            text: piece.text.clone(),
            source: piece.citation().into(),
            score: (piece.score * 1e3).round() / 1e3,
            band: hit.and_then(|hit| hit.band),
            written: hit.filter(memory).map(|hit| moment(hit.memory.create_time)),
            tags: hit.map(|hit| hit.memory.tags.clone()).unwrap_or_default(),
            anchors: hit
                .into_iter()
                .flat_map(|hit| &hit.anchors)
                .filter(|anchor| anchor.is_doubtful())
                .map(CheckedAnchor::phrase)
                .collect(),
            ids: if piece.ids.len() > 1 { piece.ids.clone() } else { Vec::new() },
        }
    });
    let results: Vec<_> = results.collect();
    let mut notes = missing(&answer.degraded, "searched");
    notes.extend(answer.corrections.iter().map(ToString::to_string));
    if results.is_empty() && asked {
        notes.insert(0, render::evidence::nothing(answer));
    } else if let Some(given @ 1..) = answer.already_given {
        notes.push(format!(
            "{} left out that this session was already given",
            render::count(given as u64, "hit")
        ));
    }
    let block = evidence::block(pieces);
    // The text of a prefetch goes into a prompt unchanged, so it contains nothing but evidence.
    let text = if asked {
        with_notes(block.into(), answer.abstained && !results.is_empty(), &notes)
    } else {
        block.into()
    };
    Response::new(&Found { results, abstained: answer.abstained, notes }, text)
}

/// Returns the evidence with a warning if it is in doubt, and with notes.
fn with_notes(block: String, in_doubt: bool, notes: &[String]) -> String {
    let doubt = "Nothing here seems to answer this; what follows only comes nearest.\n\n";
    let mut text = if in_doubt { format!("{doubt}{block}") } else { block };
    for note in notes {
        let _ = write!(text, "{}({note})", if text.is_empty() { "" } else { "\n" });
    }
    text
}

fn missing(degraded: &[Degraded], what: &str) -> Vec<String> {
    let told = |one: &Degraded| match one.channel {
        Part::Channel(channel) => format!("{channel} not {what}: {}", one.reason),
        Part::Step(step @ (Step::Rerank | Step::Tokens)) => format!("{step} not done: {}", one.reason),
        Part::Step(Step::Pick | Step::Store | Step::Language) => one.reason.clone(),
    };
    degraded.iter().map(told).collect()
}

/// An item on a page.
#[derive(Debug, Serialize, JsonSchema)]
struct Entry {
    id: String,
    #[serde(rename = "type")]
    what: String,
    summary: String,
    collection: String,
    #[schemars(with = "String")]
    written: Timestamp,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
}

/// A page of items.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Page {
    memories: Vec<Entry>,
    total: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

/// Renders a page of items, newest first.
pub fn page(listing: &Listing, offset: usize, now: Timestamp) -> Response {
    let entry = |item: &Item| Entry {
        id: item.id.clone(),
        what: item.memory_type.map_or_else(|| item.kind.to_string(), |what| what.to_string()),
        summary: item.summary.clone(),
        collection: item.collection.clone(),
        written: moment(item.create_time),
        tags: item.tags.clone(),
    };
    let page = Page {
        memories: listing.memories.iter().map(entry).collect(),
        total: listing.total,
        notes: missing(&listing.degraded, "searched"),
    };
    Response::new(&page, render::item::list(listing, offset, &look(now)))
}

/// A version of a memory.
#[derive(Debug, Serialize, JsonSchema)]
struct Form {
    id: String,
    content: String,
    #[schemars(with = "String")]
    written: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    until: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    changed: Option<String>,
}

impl Form {
    fn of(item: &Item) -> Self {
        Self {
            id: item.id.clone(),
            content: item.content.clone(),
            written: moment(item.create_time),
            until: item.valid_to.map(moment),
            changed: None,
        }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
struct Happened {
    event: u64,
    #[schemars(with = "String")]
    time: Timestamp,
    action: String,
    actor: String,
}

/// The history of a memory.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Past {
    /// Its versions, oldest first.
    chain: Vec<Form>,
    /// Its events, oldest first.
    events: Vec<Happened>,
    /// Its other wordings, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    wordings: Vec<MemoryWording>,
}

/// Renders the history of a memory; of a long one the last entries.
pub fn past(history: &History, now: Timestamp) -> Response {
    fn last<T>(all: &[T]) -> &[T] {
        &all[all.len().saturating_sub(MOST_TOLD)..]
    }
    let chain = last(&history.chain)
        .iter()
        .map(|form| Form { changed: form.changed.clone(), ..Form::of(&form.memory) })
        .collect();
    let events = last(&history.history)
        .iter()
        .map(|event| Happened {
            event: event.event,
            time: moment(event.time),
            action: event.action.clone(),
            actor: event.actor.clone(),
        })
        .collect();
    let wordings = last(&history.wordings).to_vec();
    let shown = History {
        history: last(&history.history).to_vec(),
        chain: last(&history.chain).to_vec(),
        wordings: wordings.clone(),
    };
    Response::new(&Past { chain, events, wordings }, render::item::history(&shown, &look(now)))
}

#[derive(Debug, Serialize, JsonSchema)]
struct Open {
    review: u64,
    reason: String,
    newer: Form,
    older: Form,
    #[serde(skip_serializing_if = "Option::is_none")]
    ruling: Option<String>,
}

/// Contradictions between memories.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Conflicts {
    reviews: Vec<Open>,
}

/// Renders both sides of open contradictions, or how one was settled.
pub fn conflicts(reviews: &[Review], text: String) -> Response {
    let open = |review: &Review| Open {
        review: review.review,
        reason: review.reason.clone(),
        newer: Form::of(&review.newer),
        older: Form::of(&review.older),
        ruling: review.ruling.map(|ruling| ruling.to_string()),
    };
    Response::new(&Conflicts { reviews: reviews.iter().take(MOST_TOLD).map(open).collect() }, text)
}

/// Result of a verdict.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Judged {
    id: String,
    verdict: String,
    confidence_before: f32,
    confidence: f32,
    event: u64,
}

/// Renders the result of a verdict.
pub fn judged(kept: &Feedback, now: Timestamp) -> Response {
    let judged = Judged {
        id: kept.memory.id.clone(),
        verdict: kept.verdict.to_string(),
        confidence_before: kept.confidence_before,
        confidence: kept.memory.confidence,
        event: kept.event,
    };
    Response::new(&judged, render::life::feedback(kept, &look(now)))
}

/// The state of a store.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Health {
    total_memories: u64,
    total_chunks: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_documents: Option<u64>,
    by_type: BTreeMap<String, u64>,
    by_collection: BTreeMap<String, u64>,
    index_healthy: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    unembedded: Option<u64>,
    model: String,
    model_state: String,
}

/// Renders counts and health.
pub fn state(state: &StoreState, now: Timestamp) -> Response {
    let ModelState { name: model, state: model_state, .. } = state.model().clone();
    let (health, text) = match state {
        StoreState::Whole(report) => {
            let health = Health {
                total_memories: report.total_memories,
                total_chunks: report.total_chunks,
                total_documents: Some(report.total_documents),
                by_type: report.by_type.clone(),
                by_collection: report.by_collection.clone(),
                index_healthy: report.index_healthy,
                unembedded: Some(report.unembedded),
                model,
                model_state,
            };
            (health, render::store::status(report, &look(now)))
        }
        StoreState::Part(part) => {
            let health = Health {
                total_memories: part.total_memories,
                total_chunks: part.total_chunks,
                total_documents: None,
                by_type: part.by_type.clone(),
                by_collection: part.by_collection.clone(),
                index_healthy: part.index_healthy,
                unembedded: None,
                model,
                model_state,
            };
            (health, render::store::part(part, &look(now)))
        }
    };
    Response::new(&health, text)
}

#[derive(Debug, Serialize, JsonSchema)]
struct Went {
    id: String,
    summary: String,
    why: String,
}

/// Result of pruning.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Cut {
    pruned: usize,
    remaining: usize,
    dry_run: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<u64>,
    turned: Vec<Went>,
    #[serde(skip_serializing_if = "Option::is_none")]
    clock_jump: Option<ClockJump>,
}

/// Renders the result of pruning, or of its dry run.
pub fn cut(pruned: &Pruned, now: Timestamp) -> Response {
    let went = |turned: &Turned| Went {
        id: turned.id.clone(),
        summary: turned.summary.clone(),
        why: turned.why.clone(),
    };
    let told = Cut {
        pruned: pruned.pruned,
        remaining: pruned.remaining,
        dry_run: pruned.dry_run,
        event: pruned.event,
        turned: pruned.turned.iter().take(MOST_TOLD).map(went).collect(),
        clock_jump: pruned.clock_jump,
    };
    Response::new(&told, render::life::pruned(pruned, &look(now)))
}

#[derive(Debug, Serialize, JsonSchema)]
struct Group {
    #[serde(skip_serializing_if = "Option::is_none")]
    pattern: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<u64>,
    content: String,
    members: Vec<String>,
}

/// Result of consolidation.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Consolidation {
    merged: usize,
    patterns_created: usize,
    waiting: usize,
    dry_run: bool,
    clusters: Vec<Group>,
}

/// Renders the result of consolidation, or of its dry run.
pub fn merged(done: &Consolidated, now: Timestamp) -> Response {
    let pattern = |cluster: &Cluster| Group {
        pattern: cluster.pattern.clone(),
        event: cluster.event,
        content: cluster.content.clone(),
        members: cluster.members.clone(),
    };
    let told = Consolidation {
        merged: done.merged,
        patterns_created: done.patterns_created,
        waiting: done.waiting,
        dry_run: done.dry_run,
        clusters: done.clusters.iter().take(MOST_TOLD).map(pattern).collect(),
    };
    Response::new(&told, render::life::consolidated(done, &look(now)))
}

#[derive(Debug, Serialize, JsonSchema)]
struct Left {
    path: String,
    reason: String,
}

/// Result of an index run.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Run {
    files: usize,
    indexed: usize,
    unchanged: usize,
    removed: usize,
    chunks_added: usize,
    chunks_removed: usize,
    skipped: Vec<Left>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

/// Renders the result of an index run.
pub fn indexed(report: &IndexReport, now: Timestamp) -> Response {
    let left =
        |skipped: &Skipped| Left { path: skipped.path.display().to_string(), reason: skipped.reason.clone() };
    let told = Run {
        files: report.files,
        indexed: report.indexed,
        unchanged: report.unchanged,
        removed: report.removed,
        chunks_added: report.chunks_added,
        chunks_removed: report.chunks_removed,
        skipped: report.skipped.iter().take(MOST_TOLD).map(left).collect(),
        notes: missing(&report.degraded, "filled"),
    };
    Response::new(&told, render::index::report(report, &look(now)))
}
