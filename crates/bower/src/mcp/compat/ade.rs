//! Implements ADE's memory tools: memorySearch, memoryAdd, memoryPin.

use bower_core::item::{CurateOutcome, Kind, MemoryType, Profile, Scope, Status, Tier};
use bower_core::request::Item;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt::Write as _;

use crate::failure::Failure;
use crate::mcp::responses::{Response, look, moment};
use crate::mcp::schema;
use crate::mcp::tool::{Call, Effect, Given, Tool};
use crate::render;
use crate::service::{CurateBody, PinBody, QueryBody, SelectBody, Served, Service};

/// Maximum number of characters of a content, as in ADE.
const LONGEST_CONTENT: usize = 2_000;
/// Default number of hits.
const RESULTS: u16 = 5;

/// ADE's tools.
pub const TOOLS: &[Tool] = &[
    Tool {
        name: "memorySearch",
        about: "Search project memory for facts, preferences, patterns, decisions and gotchas.",
        shown: &[("query", ""), ("scope", ""), ("status", ""), ("limit", "1-50, default 5")],
        required: &["query"],
        effect: Effect::Reads,
        body: schema::of::<Search>,
        answer: schema::of_answer::<Found>,
        told: &["memories", "count"],
        call: search,
    },
    Tool {
        name: "memoryAdd",
        about: "Keep a durable insight that future work needs, in one or two sentences. Raw diffs, traces and session \
                summaries are refused.",
        shown: &[
            ("content", "at most 2000 characters"),
            ("category", ""),
            ("importance", ""),
            ("scope", ""),
            ("pin", ""),
        ],
        required: &["content", "category"],
        effect: Effect::Keeps,
        body: schema::of::<Add>,
        answer: schema::of_answer::<Added>,
        told: &["saved", "id", "deduped", "reason"],
        call: add,
    },
    Tool {
        name: "memoryPin",
        about: "Pin a memory: it is always in context and never fades.",
        shown: &[("id", ""), ("pinned", "false takes the pin out")],
        required: &["id"],
        effect: Effect::Keeps,
        body: schema::of::<PinBody>,
        answer: schema::of_answer::<PinState>,
        told: &["id", "pinned", "tier"],
        call: pin,
    },
];

/// A scope in ADE's terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Room {
    Project,
    Agent,
    Mission,
}

impl Room {
    fn scope(self) -> Scope {
        match self {
            Self::Project => Scope::Project,
            Self::Agent => Scope::Agent,
            Self::Mission => Scope::Mission,
        }
    }
}

/// A status in ADE's terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Stage {
    Candidate,
    Promoted,
    Archived,
    All,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Importance {
    Low,
    Medium,
    High,
}

impl Importance {
    /// Returns ADE's word for a memory's importance. In ADE's own scores, the words high, medium and low mean 1, .6 and
    /// .3.
    fn of(item: &Item) -> Self {
        let told = item.metadata.get("importance").and_then(Value::as_str);
        match told {
            Some("high") => Self::High,
            Some("medium") => Self::Medium,
            Some("low") => Self::Low,
            _ if item.importance >= 0.8 => Self::High,
            _ if item.importance >= 0.45 => Self::Medium,
            _ => Self::Low,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Search {
    query: String,
    #[serde(default)]
    limit: Option<u16>,
    #[serde(default)]
    scope: Option<Room>,
    #[serde(default)]
    scope_owner_id: Option<String>,
    #[serde(default)]
    status: Option<Stage>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Add {
    content: String,
    category: MemoryType,
    #[serde(default)]
    importance: Option<Importance>,
    #[serde(default)]
    scope: Option<Room>,
    #[serde(default)]
    scope_owner_id: Option<String>,
    #[serde(default)]
    pin: bool,
}

/// A memory in ADE's format.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Memory {
    id: String,
    content: String,
    category: String,
    scope: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    scope_owner_id: Option<String>,
    tier: u8,
    status: String,
    pinned: bool,
    importance: Importance,
    confidence: f32,
    access_count: u64,
    created_at: String,
    last_accessed_at: String,
    composite_score: f32,
}

impl Memory {
    fn of(item: &Item, score: f32) -> Self {
        let status = match item.status {
            Status::Candidate => "candidate",
            Status::Active => "promoted",
            Status::Superseded | Status::Archived | Status::Variant => "archived",
        };
        let scope = match item.scope {
            Scope::Agent => "agent",
            Scope::Mission => "mission",
            // ADE has no user scope.
            Scope::Project | Scope::User => "project",
        };
        Self {
            id: item.id.clone(),
            content: item.content.clone(),
            category: item.memory_type.map_or("document", MemoryType::word).to_owned(),
            scope: scope.to_owned(),
            scope_owner_id: item.owner.clone(),
            tier: number(item.tier),
            status: status.to_owned(),
            pinned: item.tier == Tier::Pinned,
            importance: Importance::of(item),
            confidence: item.confidence,
            access_count: item.access_count,
            created_at: moment(item.create_time).to_string(),
            last_accessed_at: moment(item.access_time).to_string(),
            composite_score: score,
        }
    }
}

fn number(tier: Tier) -> u8 {
    match tier {
        Tier::Pinned => 1,
        Tier::Active => 2,
        Tier::Fading => 3,
    }
}

#[derive(Serialize, JsonSchema)]
struct Found {
    memories: Vec<Memory>,
    count: usize,
    /// Whether meaning was compared; without a model only words are.
    embeddings: bool,
}

fn search(call: &Call<'_>, given: Given<'_>) -> Served<Response> {
    let body: Search = given.understood()?;
    let statuses = match body.status {
        None => Vec::new(),
        Some(Stage::Candidate) => vec![Status::Candidate],
        Some(Stage::Promoted) => vec![Status::Active],
        Some(Stage::Archived) => vec![Status::Archived, Status::Superseded],
        Some(Stage::All) => Status::ALL.to_vec(),
    };
    let select = SelectBody {
        scope: body.scope.map(Room::scope),
        owner: body.scope_owner_id,
        kind: Some(Kind::Memory),
        statuses,
        ..SelectBody::default()
    };
    let query = QueryBody {
        query: body.query,
        limit: Some(body.limit.unwrap_or(RESULTS)),
        profile: Some(Profile::Ade),
        select,
        ..QueryBody::default()
    };
    let answer = call.service.query(&query, call.bounds, call.now)?;
    let memories: Vec<_> = answer.hits.iter().map(|hit| Memory::of(&hit.memory, hit.score)).collect();
    let mut text = String::new();
    for memory in &memories {
        let _ = writeln!(text, "[{}] {} ({})", memory.category, memory.content, memory.id);
    }
    if text.is_empty() {
        text.push_str("No memories found.");
    }
    let found = Found { count: memories.len(), memories, embeddings: answer.model_used.is_some() };
    Ok(Response::new(&found, text))
}

#[derive(Serialize, JsonSchema)]
struct Added {
    saved: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// Whether an existing memory says so already, or was replaced.
    deduped: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

fn add(call: &Call<'_>, given: Given<'_>) -> Served<Response> {
    let body: Add = given.understood()?;
    let length = body.content.chars().count();
    if length > LONGEST_CONTENT {
        return Err(Failure::usage(
            format!("content has {length} characters"),
            format!("say it in {LONGEST_CONTENT} or fewer, or in several memories"),
        )
        .into());
    }
    let mut metadata = Map::new();
    if let Some(importance) = body.importance {
        metadata.insert("importance".into(), importance.word().into());
    }
    let curate = CurateBody {
        content: body.content,
        memory_type: Some(body.category),
        metadata,
        scope: body.scope.map(Room::scope),
        owner: body.scope_owner_id,
        pinned: body.pin,
        conversation: call.session.map(str::to_owned),
        ..CurateBody::default()
    };
    let curated = call.service.curate(&curate, call.bounds, call.now)?;
    let text = render::store::curated(&curated, &look(call.now));
    let deduped =
        matches!(curated.outcome, CurateOutcome::Confirm | CurateOutcome::Append | CurateOutcome::Supersede);
    Ok(Response::new(
        &Added { saved: curated.accepted, id: curated.id, deduped, reason: curated.reason },
        text,
    ))
}

#[derive(Serialize, JsonSchema)]
struct PinState {
    id: String,
    pinned: bool,
    tier: u8,
}

fn pin(call: &Call<'_>, given: Given<'_>) -> Served<Response> {
    call.run(given, Service::pin, |pinned, now| {
        let memory = &pinned.memory;
        let (pinned, tier) = (memory.tier == Tier::Pinned, number(memory.tier));
        Response::new(
            &PinState { id: memory.id.clone(), pinned, tier },
            render::life::pinned(memory, &look(now)),
        )
    })
}
