//! Implements Athena's tools and resources.
//! Its session log contains what this server's conversation kept. Its canonical memory contains the documents that the
//! setting `canonical_files` names.

use bower_core::item::{Kind, MemoryType, Profile, Rerank};
use bower_core::request::Hit;
use bower_core::shared::has_times;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use rmcp::model::Resource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::mcp::responses::{Response, moment};
use crate::mcp::schema;
use crate::mcp::session::{self, CHECKPOINT, Log};
use crate::mcp::tool::{Call, Effect, Given, Nothing, Tool};
use crate::service::{CurateBody, ListBody, QueryBody, SelectBody, Served, StoreState};

/// Default number of hits.
const RESULTS: u16 = 10;
/// Default number of lines of the log.
const LINES: usize = 50;
/// Pages of chunks that are read to find the folders of documents.
const PAGES: u32 = 20;
const PAGE: u32 = 500;

/// URI of Athena's canonical memory.
pub const CANONICAL: &str = "athena://memory/canonical";
/// URI of Athena's session log.
pub const SESSION: &str = "athena://session/current";

/// Athena's tools.
pub const TOOLS: &[Tool] = &[
    Tool {
        name: "smart_search",
        about: "Hybrid search over the knowledge base: canonical memory, tags, vectors, file names and words.",
        shown: &[
            ("query", ""),
            ("limit", "default 10"),
            ("strict", "drop weak matches"),
            ("rerank", "by the cross-encoder"),
        ],
        required: &["query"],
        effect: Effect::Reads,
        body: schema::of::<Search>,
        answer: schema::of_answer::<Found>,
        told: &["results", "suppressed", "intent", "degraded_recall"],
        call: search,
    },
    Tool {
        name: "recall_session",
        about: "The last lines of the session log.",
        shown: &[("lines", "default 50")],
        required: &[],
        effect: Effect::Reads,
        body: schema::of::<Recall>,
        answer: schema::of_answer::<Recalled>,
        told: &["status", "session_id", "total_lines", "content"],
        call: recall,
    },
    Tool {
        name: "quicksave",
        about: "Save a checkpoint to the session log: what was done or decided, and its details.",
        shown: &[("summary", ""), ("bullets", "")],
        required: &["summary"],
        effect: Effect::Keeps,
        body: schema::of::<Quicksave>,
        answer: schema::of_answer::<Saved>,
        told: &["status", "log_file", "timestamp"],
        call: quicksave,
    },
    Tool {
        name: "health_check",
        about: "Whether the database and the vector model work.",
        shown: &[],
        required: &[],
        effect: Effect::Reads,
        body: schema::of::<Nothing>,
        answer: schema::of_answer::<Health>,
        told: &["vector_api", "database", "overall"],
        call: health,
    },
    Tool {
        name: "list_memory_paths",
        about: "The folders that are searched, by collection.",
        shown: &[],
        required: &[],
        effect: Effect::Reads,
        body: schema::of::<Nothing>,
        answer: schema::of_answer::<Paths>,
        told: &["core_directories", "extended_directories", "active_count"],
        call: paths,
    },
];

/// Returns Athena's resources.
pub fn resources() -> [Resource; 2] {
    [
        Resource::new(CANONICAL, "Canonical Memory")
            .with_description("What CANONICAL.md (the setting canonical_files) says, as it was indexed")
            .with_mime_type("text/markdown"),
        Resource::new(SESSION, "Current Session Log")
            .with_description("The checkpoints of this session, or of the last one that has any")
            .with_mime_type("text/markdown"),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Search {
    query: String,
    #[serde(default)]
    limit: Option<u16>,
    #[serde(default)]
    strict: bool,
    #[serde(default)]
    rerank: Option<bool>,
}

/// A result as Athena's search prints it.
#[derive(Serialize, JsonSchema)]
struct Match {
    id: String,
    content: String,
    /// The channel in which it ranks best.
    source: String,
    rrf_score: f32,
    /// Rank and score in each channel.
    signals: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Found {
    results: Vec<Match>,
    /// Number of matches that strict search dropped.
    suppressed: usize,
    /// `temporal` if the question contains a time, else `general`.
    intent: String,
    /// Whether a part of the answer was missing.
    degraded_recall: bool,
    meta: Map<String, Value>,
}

fn search(call: &Call<'_>, given: Given<'_>) -> Served<Response> {
    let body: Search = given.understood()?;
    let limit = body.limit.unwrap_or(RESULTS);
    let ask = |strict| {
        let query = QueryBody {
            query: body.query.clone(),
            limit: Some(limit),
            strict,
            profile: Some(Profile::Athena),
            rerank: body.rerank.map(|wanted| if wanted { Rerank::CrossEncoder } else { Rerank::None }),
            ..QueryBody::default()
        };
        call.service.query(&query, call.bounds, call.now)
    };
    let answer = ask(body.strict)?;
    let suppressed = if body.strict { ask(false)?.hits.len().saturating_sub(answer.hits.len()) } else { 0 };
    let meta = json!({
        "query": body.query, "limit": limit, "strict": body.strict, "rerank": body.rerank,
        "timestamp": moment(call.now),
    });
    let found = Found {
        results: answer.hits.iter().map(matched).collect(),
        suppressed,
        intent: intent(&body.query, call.now).to_owned(),
        degraded_recall: !answer.degraded.is_empty(),
        meta: meta.as_object().cloned().unwrap_or_default(),
    };
    let mut text = String::new();
    for (at, one) in found.results.iter().enumerate() {
        let place = one.path.as_deref().unwrap_or(&one.id);
        let content = one.content.trim();
        let _ = writeln!(text, "{}. [{}] {place} ({:.3})\n{content}\n", at + 1, one.source, one.rrf_score);
    }
    if text.is_empty() {
        text.push_str("No results.\n");
    }
    for degraded in &answer.degraded {
        let _ = writeln!(text, "({} did not take part: {})", degraded.channel, degraded.reason);
    }
    Ok(Response::new(&found, text))
}

/// Returns `temporal` if the question contains a time, else `general`.
fn intent(question: &str, now: Timestamp) -> &'static str {
    if has_times(question, &now.to_zoned(TimeZone::UTC)) { "temporal" } else { "general" }
}

fn matched(hit: &Hit) -> Match {
    let best = hit.signals.iter().filter(|signal| signal.rank.is_some()).min_by_key(|signal| signal.rank);
    let signals = hit
        .signals
        .iter()
        .map(|signal| (signal.channel.to_string(), json!({"rank": signal.rank, "score": signal.score})));
    Match {
        // Athena's ids of facts are their lines.
        id: hit.cited_line.map_or_else(|| hit.memory.id.clone(), |line| format!("Canonical:L{line}")),
        content: hit.memory.content.clone(),
        source: best.map_or_else(|| "vector".to_owned(), |signal| signal.channel.to_string()),
        rrf_score: hit.score,
        signals: signals.collect(),
        path: hit.memory.metadata.get("path").and_then(Value::as_str).map(str::to_owned),
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Recall {
    #[serde(default)]
    lines: Option<usize>,
}

#[derive(Serialize, JsonSchema)]
struct Recalled {
    status: String,
    session_file: String,
    session_id: String,
    total_lines: usize,
    content: String,
}

fn recall(call: &Call<'_>, given: Given<'_>) -> Served<Response> {
    let body: Recall = given.understood()?;
    let Some(Log { session, text }) = session::log(call.service, call.bounds, call.session, call.now)? else {
        return Err(
            Failure::usage("no session has a log yet", "quicksave writes the first checkpoint").into()
        );
    };
    let lines: Vec<_> = text.lines().collect();
    let last = lines[lines.len().saturating_sub(body.lines.unwrap_or(LINES))..].join("\n");
    let recalled = Recalled {
        status: "ok".into(),
        session_file: format!("{}{session}", session::SESSION),
        session_id: session,
        total_lines: lines.len(),
        content: last.clone(),
    };
    Ok(Response::new(&recalled, last))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Quicksave {
    summary: String,
    #[serde(default)]
    bullets: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Saved {
    status: String,
    log_file: String,
    timestamp: String,
    id: String,
}

fn quicksave(call: &Call<'_>, given: Given<'_>) -> Served<Response> {
    let body: Quicksave = given.understood()?;
    let summary = body.summary.trim();
    let say = "say what was done or decided";
    if summary.is_empty() {
        return Err(Failure::usage("summary is empty", say).into());
    }
    let mut content = summary.to_owned();
    for bullet in body.bullets.iter().map(|bullet| bullet.trim()).filter(|bullet| !bullet.is_empty()) {
        let _ = write!(content, "\n- {}", bullet.strip_prefix("- ").unwrap_or(bullet));
    }
    let session = call.session.unwrap_or("athena").to_owned();
    let curate = CurateBody {
        content,
        // Admission refuses the account of a session unless its type says that it is one.
        memory_type: Some(MemoryType::Episode),
        tags: vec![CHECKPOINT.to_owned()],
        conversation: Some(session.clone()),
        ..CurateBody::default()
    };
    let curated = call.service.curate(&curate, call.bounds, call.now)?;
    let Some(id) = curated.id else {
        let why = curated.reason.unwrap_or_else(|| "it tells nothing".into());
        return Err(Failure::usage(format!("the checkpoint was not kept: {why}"), say).into());
    };
    let saved = Saved {
        status: "ok".into(),
        log_file: format!("{}{session}", session::SESSION),
        timestamp: moment(call.now).to_string(),
        id,
    };
    let text = format!("saved to {}", saved.log_file);
    Ok(Response::new(&saved, text))
}

#[derive(Serialize, JsonSchema)]
struct Part {
    status: String,
    detail: String,
}

#[derive(Serialize, JsonSchema)]
struct Health {
    vector_api: Part,
    database: Part,
    overall: String,
    timestamp: String,
}

fn health(call: &Call<'_>, given: Given<'_>) -> Served<Response> {
    let Nothing {} = given.understood()?;
    let state = call.service.status(call.bounds)?;
    let verdict = |good: bool| if good { "PASS" } else { "FAIL" };
    let (store, counts) = match &state {
        StoreState::Whole(report) => {
            let (memories, chunks) = (report.total_memories, report.total_chunks);
            (report.index_healthy, format!("{memories} memories, {chunks} chunks, schema {}", report.schema))
        }
        StoreState::Part(part) => {
            let (memories, chunks) = (part.total_memories, part.total_chunks);
            (part.index_healthy, format!("{memories} memories, {chunks} chunks"))
        }
    };
    let model = state.model();
    let vectors = model.state == "ready";
    let vector_api = Part {
        status: verdict(vectors).into(),
        detail: model.reason.clone().unwrap_or_else(|| format!("{} is {}", model.name, model.state)),
    };
    let database = Part { status: verdict(store).into(), detail: counts };
    let overall = verdict(vectors && store).to_owned();
    let text = format!(
        "overall {overall}\ndatabase {}: {}\nvector_api {}: {}",
        database.status, database.detail, vector_api.status, vector_api.detail
    );
    let timestamp = moment(call.now).to_string();
    Ok(Response::new(&Health { vector_api, database, overall, timestamp }, text))
}

#[derive(Serialize, JsonSchema)]
struct Extended {
    path: String,
    maps_to: String,
}

#[derive(Serialize, JsonSchema)]
struct Paths {
    /// For each collection the folder that contains all its documents.
    core_directories: BTreeMap<String, String>,
    extended_directories: Vec<Extended>,
    active_count: usize,
}

fn paths(call: &Call<'_>, given: Given<'_>) -> Served<Response> {
    let Nothing {} = given.understood()?;
    let mut folders: BTreeMap<String, PathBuf> = BTreeMap::new();
    let select = SelectBody { kind: Some(Kind::Chunk), ..SelectBody::default() };
    for page in 0..PAGES {
        let body = ListBody { limit: Some(PAGE), offset: Some(page * PAGE), select: select.clone() };
        let listing = call.service.list(&body, call.bounds, call.now)?;
        for chunk in &listing.memories {
            let path = chunk.metadata.get("path").and_then(Value::as_str).map(Path::new);
            let Some(folder) = path.and_then(Path::parent).filter(|folder| folder.is_absolute()) else {
                continue;
            };
            folders
                .entry(chunk.collection.clone())
                .and_modify(|known| *known = common(known, folder))
                .or_insert_with(|| folder.to_path_buf());
        }
        if listing.memories.len() < PAGE as usize {
            break;
        }
    }
    let core_directories: BTreeMap<_, _> =
        folders.into_iter().map(|(name, folder)| (name, folder.display().to_string())).collect();
    let mut text = String::new();
    for (name, folder) in &core_directories {
        let _ = writeln!(text, "{name}: {folder}");
    }
    if text.is_empty() {
        text.push_str("Nothing is indexed yet.");
    }
    let active_count = core_directories.len();
    Ok(Response::new(&Paths { core_directories, extended_directories: Vec::new(), active_count }, text))
}

/// Returns the innermost folder that contains both paths.
fn common(one: &Path, other: &Path) -> PathBuf {
    one.components().zip(other.components()).take_while(|(a, b)| a == b).map(|(a, _)| a).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_holds_both() {
        let check = |one: &str, other: &str, expected: &str| {
            assert_eq!(common(Path::new(one), Path::new(other)), Path::new(expected));
        };
        check("/a/b/c", "/a/b/d", "/a/b");
        check("/a/b", "/a/b/d", "/a/b");
        check("/a/bc", "/a/b", "/a");
        check("/x", "/y", "/");
    }
}
