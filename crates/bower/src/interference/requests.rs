//! Generates one request for each operation, tool, resource and prompt that a caller can use.
//! Requests contain words that others use too, and ids of the caller's own items, of others' items, or of none.

use bower_core::item::Profile;
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use std::path::Path;

use super::plan::Plan;
use super::random::Random;
use crate::http::probe::Probe;
use crate::mcp::compat::System;
use crate::mcp::completions::{self, What};
use crate::mcp::tool::{Call, Given};
use crate::mcp::tools::{self, Choice};
use crate::mcp::{errors, prompts, resources};
use crate::service::Bounds;

const THINGS: &[&str] = &["gateway", "queue", "backup", "warehouse", "harbour", "ledger"];
const TAGS: &[&str] = &["ops", "build", "quicksave"];

/// Returns a sentence that may be kept as a memory. There are about a hundred, so that different callers write the same
/// ones.
pub fn sentence(random: &mut Random) -> String {
    let thing = random.of(THINGS);
    match random.below(7) {
        0 => format!("The {thing} port is {}.", 8_000 + random.below(4)),
        1 => format!("We decided to move the {thing} to the cellar because the attic is too hot."),
        2 => format!("The {thing} is{} encrypted before it leaves the building.", random.of(&["", " not"])),
        3 => format!("To restart the {thing}, stop the {} first and then drain it.", random.of(THINGS)),
        4 => format!("The {thing} runs every {} hours and takes forty minutes.", 2 + random.below(3)),
        5 => format!("I prefer that the {thing} logs to a file of its own."),
        _ => format!("The {thing} belongs to the team of {}.", random.of(&["Ada", "Grace", "Edsger"])),
    }
}

/// Ids that a caller learned or can guess.
#[derive(Clone, Debug, Default)]
pub struct Known {
    ids: Vec<String>,
    reviews: Vec<u64>,
    /// Ids of items that it may not see: anyone can compute the id of a known text.
    pub others: Vec<String>,
}

impl Known {
    /// Adds the ids in an answer.
    pub fn learn(&mut self, answer: &str) {
        if let Ok(value) = serde_json::from_str(answer) {
            self.take(&value);
        }
    }

    fn take(&mut self, value: &Value) {
        match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    match value {
                        Value::String(id) if name == "id" && id.len() == 16 && !self.ids.contains(id) => {
                            self.ids.push(id.clone());
                        }
                        Value::Number(number) if name == "review" => self.reviews.extend(number.as_u64()),
                        other => self.take(other),
                    }
                }
            }
            Value::Array(all) => all.iter().for_each(|value| self.take(value)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    /// Returns one of its own ids, another caller's, or an unused one; sometimes only its first digits.
    fn id(&self, random: &mut Random) -> String {
        let mut id = match random.below(5) {
            0 | 1 if !self.others.is_empty() => random.of(&self.others),
            4 => format!("{:016x}", random.below(1 << 30) * 7_919),
            _ if !self.ids.is_empty() => random.of(&self.ids),
            _ => "0123456789abcdef".to_owned(),
        };
        if random.one_in(4) {
            id.truncate(6 + random.below(6));
        }
        id
    }

    /// Returns a review of its own, or a number that may be another caller's review.
    fn review(&self, random: &mut Random) -> u64 {
        if self.reviews.is_empty() || random.one_in(3) {
            1 + random.below(6) as u64
        } else {
            random.of(&self.reviews)
        }
    }
}

/// A request. Parts that [`Request::fill`] fills in are empty until then.
#[derive(Clone, Debug)]
pub enum Request {
    /// An operation of the HTTP server.
    Operation {
        /// Its id in the `OpenAPI` document.
        id: &'static str,
        /// The parameter in the path.
        path: String,
        /// The query string.
        query: String,
        body: Value,
    },
    /// The stream of changes, from the beginning.
    Events,
    /// An export.
    Export(Value),
    /// A tool of MCP: our own, or one of a compatible system.
    Tool(Option<System>, &'static str, Value),
    /// A resource of MCP.
    Resource(Option<System>, String),
    /// The prompt `recall`.
    Recall(Value),
    /// The completions of a typed text.
    Complete(What, String),
    /// The tools and prompts that are listed.
    Offers,
}

/// Our own tools alone, then with those of each other system.
const SYSTEMS: [Option<System>; 4] = [None, Some(System::Athena), Some(System::Ade), Some(System::Brv)];

impl Request {
    /// Returns one request of each kind, not filled in.
    pub fn everything(probe: &Probe) -> Vec<Self> {
        let operation =
            |(id, _)| Self::Operation { id, path: String::new(), query: String::new(), body: Value::Null };
        let mut all: Vec<Self> = probe.operations().into_iter().map(operation).collect();
        all.extend([Self::Events, Self::Export(Value::Null), Self::Recall(Value::Null), Self::Offers]);
        for system in SYSTEMS {
            let offered = tools::offered(&Choice::All, system).unwrap();
            // Every system lists our tools beside its own.
            let new = offered.iter().map(|one| one.tool.name).filter(|name| {
                system.is_none() || !tools::TOOLS.iter().chain(tools::MORE).any(|ours| ours.name == *name)
            });
            all.extend(new.map(|name| Self::Tool(system, name, Value::Null)));
            let listed = resources::listed(system).into_iter().map(|resource| resource.uri.clone());
            all.extend(listed.map(|uri| Self::Resource(system, uri)));
        }
        let templates = resources::templates().into_iter().map(|template| template.uri_template.clone());
        all.extend(templates.map(|uri| Self::Resource(None, uri)));
        for what in [What::Id, What::Session, What::Collection, What::Type, What::Tag, What::Free] {
            all.push(Self::Complete(what, String::new()));
        }
        all
    }

    /// Returns a request that keeps a memory or adds a document.
    pub fn writes(random: &mut Random, plan: &Plan) -> Self {
        let body = if random.one_in(6) { documents(random) } else { curate(random) };
        let id = if body.get("documents").is_some() { "addDocuments" } else { "curate" };
        Self::Operation { id, path: String::new(), query: String::new(), body: placed(body, plan) }
    }

    /// Returns the request with its arguments filled in.
    pub fn fill(&self, random: &mut Random, plan: &Plan, known: &Known, folder: &Path) -> Self {
        match self {
            Self::Operation { id, .. } => operation(id, random, plan, known, folder),
            Self::Events => Self::Events,
            Self::Export(_) => {
                Self::Export(json!({"all": random.one_in(2), "documents": true, "vectors": random.one_in(3)}))
            }
            Self::Tool(system, name, _) => Self::Tool(*system, name, tool(name, random, plan, known, folder)),
            Self::Resource(system, uri) => {
                let uri = uri.replace("{id}", &known.id(random)).replace("{name}", random.of(SESSIONS));
                Self::Resource(*system, uri)
            }
            Self::Recall(_) => Self::Recall(json!({"topic": sentence(random)})),
            Self::Complete(what, _) => {
                Self::Complete(*what, random.of(&["", "a", "ce", "0", "s"]).to_owned())
            }
            Self::Offers => Self::Offers,
        }
    }

    /// Sends the request, and returns the answer as text.
    pub fn ask(&self, probe: &Probe, bounds: &Bounds, now: Timestamp) -> String {
        let service = probe.service();
        match self {
            Self::Operation { id, path, query, body } => plain(&probe.call(id, path, query, body)),
            Self::Events => probe.events(),
            Self::Export(body) => probe.export(body).lines().map(|line| plain(line) + "\n").collect(),
            Self::Tool(system, name, arguments) => {
                let offered = tools::offered(&Choice::All, *system).unwrap();
                let one = offered.iter().find(|one| one.tool.name == *name).unwrap();
                let call = Call {
                    service,
                    bounds,
                    now,
                    session: Some("monday"),
                    progress: &|_| {},
                    go_on: &|| true,
                };
                let arguments = arguments.as_object().cloned().unwrap_or_default();
                match (one.tool.call)(&call, Given { tool: one.tool.name, arguments, body: &one.body }) {
                    Ok(said) => {
                        let (fields, text) = said.into_parts();
                        let mut fields = Value::Object(fields);
                        without_times(&mut fields);
                        format!("{fields}\n{}", without_durations(text.as_str()))
                    }
                    Err(refused) => errors::text(name, refused.failure()).to_string(),
                }
            }
            Self::Resource(system, uri) => match resources::wanted(uri, *system) {
                None => "no such resource".to_owned(),
                Some(wanted) => match resources::read(uri, &wanted, service, bounds, Some("monday"), now) {
                    Ok(read) => json!(read).to_string(),
                    Err(refused) => format!("{:?}", resources::trouble(uri, &refused)),
                },
            },
            Self::Recall(arguments) => match prompts::recall(arguments.as_object(), service, bounds, now) {
                Ok(prompt) => json!(prompt).to_string(),
                Err(refused) => format!("{:?}", prompts::failure("recall", &refused)),
            },
            Self::Complete(what, typed) => {
                format!("{:?}", completions::values(*what, typed, service, bounds, now).ok())
            }
            Self::Offers => {
                let offered = tools::offered(&Choice::All, None).unwrap();
                let names: Vec<_> = offered
                    .iter()
                    .filter(|one| one.tool.is_within(bounds))
                    .map(|one| one.tool.name)
                    .collect();
                format!("{names:?} {}", json!(prompts::listed(bounds)))
            }
        }
    }
}

/// Returns JSON without wall-clock measurements; any other text unchanged.
fn plain(answer: &str) -> String {
    let Ok(mut value) = serde_json::from_str::<Value>(answer) else { return answer.to_owned() };
    without_times(&mut value);
    value.to_string()
}

const SESSIONS: &[&str] = &["monday", "tuesday"];
const VERDICTS: &[&str] = &["useful", "wrong", "stale"];

/// Adds a collection to a body if the caller's bounds allow several.
fn placed(mut body: Value, plan: &Plan) -> Value {
    if plan.bounds.collections.len() > 1 {
        body["collection"] = json!(plan.bounds.collections[0]);
    }
    body
}

fn curate(random: &mut Random) -> Value {
    let mut body = json!({
        "content": sentence(random),
        "tags": [random.of(TAGS)],
        "gate": random.of(&["off", "normal", "strict"]),
        "pinned": random.one_in(8),
        "conversation": random.of(SESSIONS),
    });
    if random.one_in(4) {
        body["content"] = json!(format!("According to memory: {}", sentence(random)));
    }
    body
}

/// Adds the caller's word about an earlier memory to a body, sometimes.
fn with_word(mut body: Value, random: &mut Random, known: &Known) -> Value {
    match random.below(9) {
        0 => body["replaces"] = json!(known.id(random)),
        1 => body["confirms"] = json!(known.id(random)),
        2 => body["different_from"] = json!([known.id(random)]),
        _ => {}
    }
    body
}

/// Returns a word about two memories.
fn pair(random: &mut Random, known: &Known) -> Value {
    json!({ random.of(&["replaces", "confirms", "different_from"]): known.id(random) })
}

fn documents(random: &mut Random) -> Value {
    let text = format!("# {}\n\n{} {}\n", random.of(THINGS), sentence(random), sentence(random));
    json!({"documents": [{"id": random.of(&["wiki", "log", "/etc/motd"]), "text": text, "title": random.of(THINGS)}]})
}

fn turns(random: &mut Random) -> Value {
    json!({"conversation": random.of(SESSIONS), "turns": [
        {"speaker": "user", "text": format!("{} Remember that.", sentence(random))},
        {"speaker": "assistant", "text": sentence(random)},
    ]})
}

fn query(random: &mut Random) -> Value {
    let mut body = json!({
        "query": format!("{} #ops", sentence(random)),
        "limit": 1 + random.below(20),
        "fast": random.one_in(3),
        "prefetch": random.one_in(4),
        "strict": random.one_in(4),
        "explain": random.one_in(2),
        "profile": random.of(Profile::WORDS),
    });
    if random.one_in(2) {
        body["session"] = json!(random.of(SESSIONS));
    }
    if random.one_in(2) {
        body["budget_tokens"] = json!(200 + random.below(800));
    }
    body
}

fn near(random: &mut Random, known: &Known) -> Value {
    json!({"name": entity(random, known), "limit": 1 + random.below(20)})
}

fn relate(random: &mut Random, known: &Known) -> Value {
    let relation = random.of(&["causes", "led_to", "works_at"]);
    let mut body = json!({"from": entity(random, known), "type": relation, "to": entity(random, known)});
    if random.one_in(3) {
        body["undo"] = json!(true);
    }
    body
}

/// Returns the name of an entity: a tag, an item, or a word of a sentence.
fn entity(random: &mut Random, known: &Known) -> String {
    match random.below(4) {
        0 => format!("#{}", random.of(TAGS)),
        1 => known.id(random),
        _ => {
            let sentence = sentence(random);
            let words: Vec<&str> = sentence.split_whitespace().collect();
            words[random.below(words.len())].to_owned()
        }
    }
}

fn alias(random: &mut Random, known: &Known) -> Value {
    json!({"name": entity(random, known), "other": entity(random, known), "undo": random.one_in(3)})
}

fn brief(random: &mut Random) -> Value {
    let mut body = json!({"fast": random.one_in(2), "budget": random.of(&["lite", "standard", "deep"])});
    if random.one_in(2) {
        body["session"] = json!(random.of(SESSIONS));
    }
    if random.one_in(2) {
        body["task"] = json!(sentence(random));
    }
    body
}

fn listed(random: &mut Random) -> Value {
    let mut body = json!({"limit": 200});
    if random.one_in(2) {
        body["statuses"] = json!(["candidate", "active", "superseded", "archived"]);
    }
    if random.one_in(3) {
        body["tags"] = json!([random.of(TAGS)]);
    }
    body
}

fn renamed(random: &mut Random) -> Value {
    json!({"tags": [random.of(TAGS)], "to": random.of(TAGS), "merge": random.one_in(2), "dry_run": true})
}

fn forget(random: &mut Random, known: &Known) -> Value {
    let dry_run = random.below(3) > 0;
    if random.one_in(5) {
        return json!({"tags": [random.of(TAGS)], "dry_run": dry_run, "confirm": true});
    }
    json!({"ids": [known.id(random)], "dry_run": dry_run, "keep_derived": random.one_in(3)})
}

fn settle(random: &mut Random) -> Value {
    match random.of(&["accept", "reject", "both", "merge"]) {
        "merge" => json!({"ruling": "merge", "text": sentence(random)}),
        ruling => json!({ "ruling": ruling }),
    }
}

/// Returns the request of an operation. Panics for an operation without one.
fn operation(id: &'static str, random: &mut Random, plan: &Plan, known: &Known, folder: &Path) -> Request {
    let (mut path, mut query_text) = (String::new(), String::new());
    let body = match id {
        "query" => query(random),
        "brief" => brief(random),
        "status" | "health" | "collections" | "models" => Value::Null,
        "list" => {
            query_text = random.of(&["limit=100", "status=superseded", "kind=chunk&limit=9"]).to_owned();
            Value::Null
        }
        "listSelected" => listed(random),
        "get" | "history" | "run" => {
            path = known.id(random);
            Value::Null
        }
        "documents" => {
            query_text = random.of(&["", "limit=1", "source=/etc"]).to_owned();
            Value::Null
        }
        "graphEntity" | "graphNeighbours" => near(random, known),
        "graphPath" => json!({"from": entity(random, known), "to": entity(random, known)}),
        "relate" => relate(random, known),
        "alias" => alias(random, known),
        "aliases" => json!({"name": entity(random, known)}),
        "graph" => json!({"limit": 1 + random.below(50), "communities": random.one_in(2)}),
        "graphCommunities" => json!({"level": random.below(2), "resolution": 0.5}),
        "reviews" => {
            query_text = format!("all={}", random.one_in(2));
            Value::Null
        }
        "curate" => placed(with_word(curate(random), random, known), plan),
        "settlePair" => {
            path = known.id(random);
            pair(random, known)
        }
        "keepTurns" => placed(turns(random), plan),
        "addDocuments" => placed(documents(random), plan),
        "index" => placed(json!({ "paths": [folder] }), plan),
        "feedback" => json!({"id": known.id(random), "verdict": random.of(VERDICTS)}),
        "pin" => json!({"id": known.id(random), "pinned": random.one_in(2)}),
        "settle" => {
            path = known.review(random).to_string();
            settle(random)
        }
        "forget" => forget(random, known),
        "sweep" | "prune" => json!({"dry_run": true}),
        "consolidate" => json!({"dry_run": random.one_in(2), "similarity": 0.8, "seconds": 600}),
        "tags" => {
            query_text = random.of(&["", "limit=2", "under=ops"]).to_owned();
            Value::Null
        }
        "renameTags" => renamed(random),
        "undo" => json!({"event": 1 + random.below(40)}),
        other => panic!("operation {other} has no request here: write one in interference/requests.rs"),
    };
    Request::Operation { id, path, query: query_text, body }
}

/// Returns the arguments of a tool. Panics for a tool without them.
fn tool(name: &str, random: &mut Random, plan: &Plan, known: &Known, folder: &Path) -> Value {
    match name {
        "memory_search" => query(random),
        "memory_store" => placed(with_word(curate(random), random, known), plan),
        "memory_settle" => {
            let mut body = pair(random, known);
            body["id"] = json!(known.id(random));
            body
        }
        "memory_get" | "memory_history" => json!({"id": known.id(random)}),
        "memory_list" => listed(random),
        "memory_forget" => forget(random, known),
        "memory_review" if random.one_in(2) => json!({"all": random.one_in(2)}),
        "memory_review" => {
            let mut body = settle(random);
            body["review"] = json!(known.review(random));
            body
        }
        "memory_feedback" => json!({"id": known.id(random), "verdict": random.of(VERDICTS)}),
        "memory_status" | "health_check" | "list_memory_paths" | "memory_aliases" => json!({}),
        "memory_prune" => json!({"dry_run": true}),
        "memory_consolidate" => json!({"dry_run": random.one_in(2), "similarity": 0.8, "seconds": 600}),
        "memory_index" => placed(json!({ "paths": [folder] }), plan),
        "memory_turns" => placed(turns(random), plan),
        "memory_brief" => brief(random),
        "memory_relate" => relate(random, known),
        "memory_alias" => alias(random, known),
        "memory_graph" if random.one_in(2) => near(random, known),
        "memory_graph" => json!({"name": entity(random, known), "to": entity(random, known)}),
        "memory_pin" | "memoryPin" => json!({"id": known.id(random), "pinned": random.one_in(2)}),
        "memory_tags" => json!({"under": random.of(TAGS)}),
        "memory_tags_rename" => renamed(random),
        "memory_undo" => json!({"event": 1 + random.below(40)}),
        "smart_search" => json!({"query": sentence(random), "strict": random.one_in(3)}),
        "recall_session" => json!({"lines": 20}),
        "quicksave" => json!({"summary": sentence(random)}),
        "memorySearch" => json!({"query": sentence(random)}),
        "memoryAdd" => json!({"content": sentence(random), "category": "fact"}),
        "brv-query" => json!({"query": sentence(random), "cwd": folder}),
        "brv-curate" => json!({"context": sentence(random), "cwd": folder}),
        other => panic!("tool {other} has no arguments here: write some in interference/requests.rs"),
    }
}

/// Shuffles the words of a text, which keeps rarities and lengths.
pub fn shuffled(text: &str, random: &mut Random) -> String {
    let mut words: Vec<&str> = text.split(' ').collect();
    for at in (1..words.len()).rev() {
        words.swap(at, random.below(at + 1));
    }
    words.join(" ")
}

/// Returns empty metadata.
pub fn no_fields() -> Map<String, Value> {
    Map::new()
}

/// Removes durations and rates from a text, such as `kept as fact (1.8 ms)` and `2 chunks (717 a second)`.
fn without_durations(text: &str) -> String {
    [" ms", " a second"].iter().fold(text.to_owned(), |text, unit| {
        let mut parts: Vec<&str> = text.split(unit).collect();
        let last = parts.pop().unwrap_or_default();
        let number = |c: char| c.is_ascii_digit() || c == '.';
        parts.iter().map(|part| part.trim_end_matches(number).to_owned() + unit).collect::<String>() + last
    })
}

/// Removes wall-clock measurements, and values that two stores never share.
fn without_times(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| !name.ends_with("_ms") && name != "model_share");
            if fields.contains_key("bower") && fields.contains_key("counts") {
                fields.remove("store");
            }
            fields.values_mut().for_each(without_times);
        }
        Value::Array(all) => all.iter_mut().for_each(without_times),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
