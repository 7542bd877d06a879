//! Defines the table of operations: route, body, answer and what runs, once each.
//! The router and the `OpenAPI` document are both built from it, so neither can contain a route that the other lacks.

use axum::body::Bytes;
use axum::extract::Query;
use axum::http::Uri;
use bower_core::item::{Kind, MemoryType, Scope, Status};
use bower_core::request::{
    Consolidated, Documents, History, IndexReport, Listing, Review, SettledPair, TagList,
};
use jiff::Timestamp;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::app::{App, Work};
use super::auth::{Caller, sees_a_part};
use super::body::{body_of, to_json};
use super::clock::now;
use super::documents;
use super::problem::Problem;
use super::runs::{self, RunState};
use crate::model;
use crate::service::{
    Bounds, ConsolidateBody, Got, HealthReport, IndexBody, ListBody, PairBody, Reviews, SelectBody, Served,
    Service, SettleBody, StoreState, TagsBody,
};

/// Function that returns the schema of a type.
pub type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// Location of an operation's input.
#[derive(Clone, Copy)]
pub enum Input {
    /// A JSON body. It may be omitted unless `is_required`.
    Body { schema: SchemaOf, is_required: bool },
    /// The query string.
    Query(SchemaOf),
}

/// Unparsed parts of a request.
#[derive(Debug)]
pub struct Raw {
    /// The parameter in the path; empty if the path has none.
    pub id: String,
    /// The query string.
    pub query: String,
    pub body: Bytes,
}

type Run = Box<dyn Fn(&App, &Caller, Raw) -> Result<Vec<u8>, Problem> + Send + Sync>;

/// An operation of the API.
pub struct Operation {
    /// The route, with its parameter in braces.
    pub path: &'static str,
    /// Its operation id in the `OpenAPI` document.
    pub id: &'static str,
    /// One line that says what it does.
    pub summary: &'static str,
    /// The kind of work it does.
    pub work: Work,
    /// Location and schema of its input.
    pub input: Input,
    /// Schema of its response.
    pub answer: SchemaOf,
    /// Runs the operation.
    pub run: Run,
}

impl std::fmt::Debug for Operation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.id)
    }
}

impl Operation {
    /// Whether the operation takes a body and is a POST; otherwise it is a GET.
    pub fn takes_body(&self) -> bool {
        matches!(self.input, Input::Body { .. })
    }
}

fn schema_of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

fn post<B, A>(
    path: &'static str,
    id: &'static str,
    summary: &'static str,
    work: Work,
    run: impl Fn(&App, &Caller, &str, B) -> Result<A, Problem> + Send + Sync + 'static,
) -> Operation
where
    B: DeserializeOwned + JsonSchema + 'static,
    A: Serialize + JsonSchema + 'static,
{
    // The body may be omitted if an empty object is a valid one.
    let is_required = serde_json::from_slice::<B>(b"{}").is_err();
    Operation {
        path,
        id,
        summary,
        work,
        input: Input::Body { schema: schema_of::<B>, is_required },
        answer: schema_of::<A>,
        run: Box::new(move |app, caller, raw| to_json(&run(app, caller, &raw.id, body_of(&raw.body)?)?)),
    }
}

/// Wraps a method of the service, which applies the caller's bounds.
fn served<B: 'static, A: 'static>(
    run: fn(&Service, &B, &Bounds, Timestamp) -> Served<A>,
) -> impl Fn(&App, &Caller, &str, B) -> Result<A, Problem> + Send + Sync + 'static {
    move |app, caller, _, body| Ok(run(&app.service, &body, &caller.bounds, now())?)
}

fn get<Q, A>(
    path: &'static str,
    id: &'static str,
    summary: &'static str,
    run: fn(&App, &Caller, &str, Q) -> Result<A, Problem>,
) -> Operation
where
    Q: DeserializeOwned + JsonSchema + 'static,
    A: Serialize + JsonSchema + 'static,
{
    Operation {
        path,
        id,
        summary,
        work: Work::Read,
        input: Input::Query(schema_of::<Q>),
        answer: schema_of::<A>,
        run: Box::new(move |app, caller, raw| to_json(&run(app, caller, &raw.id, parse_query(&raw.query)?)?)),
    }
}

/// Parses a query string.
pub fn parse_query<Q: DeserializeOwned>(query: &str) -> Result<Q, Problem> {
    let uri: Uri = format!("/?{query}").parse().map_err(|_| Problem::bad("the query cannot be read"))?;
    let Query(query) = Query::try_from_uri(&uri).map_err(|why| Problem::bad(why.body_text()))?;
    Ok(query)
}

/// An empty body or query.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

/// A page of items, by query parameters; POST /api/v1/list takes every filter.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ListQuery {
    /// Number of items, 1 to 500; default 20.
    #[schemars(range(min = 1, max = 500))]
    limit: Option<u32>,
    /// Number of items to skip.
    offset: Option<u32>,
    /// Only this collection.
    collection: Option<String>,
    /// Only memories of this type.
    #[serde(rename = "type")]
    memory_type: Option<MemoryType>,
    /// Only items with this tag.
    tag: Option<String>,
    /// Only memories, or only chunks of documents.
    kind: Option<Kind>,
    /// Only items with this status; default candidate and active.
    status: Option<Status>,
    /// Only this scope.
    scope: Option<Scope>,
    /// Only items of this owner.
    owner: Option<String>,
    /// Only documents at this path or below, and memories of this source or conversation.
    source: Option<String>,
    /// Only items written at or after this time: a date, an RFC 3339 time, 7d, yesterday.
    since: Option<String>,
    /// Only items written before this time, in the same forms.
    until: Option<String>,
}

impl From<ListQuery> for ListBody {
    fn from(query: ListQuery) -> Self {
        Self {
            limit: query.limit,
            offset: query.offset,
            select: SelectBody {
                collections: query.collection.into_iter().collect(),
                types: query.memory_type.into_iter().collect(),
                tags: query.tag.into_iter().collect(),
                since: query.since,
                until: query.until,
                scope: query.scope,
                owner: query.owner,
                sources: query.source.into_iter().collect(),
                kind: query.kind,
                statuses: query.status.into_iter().collect(),
                ..SelectBody::default()
            },
        }
    }
}

/// A page of documents, by query parameters.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DocumentsQuery {
    /// Number of documents, 1 to 500; default 20.
    #[schemars(range(min = 1, max = 500))]
    limit: Option<u32>,
    /// Number of documents to skip.
    offset: Option<u32>,
    /// Only this collection.
    collection: Option<String>,
    /// Only documents of this version, e.g. v2.
    version: Option<String>,
    /// Only this scope.
    scope: Option<Scope>,
    /// Only documents of this owner.
    owner: Option<String>,
    /// Only documents at this path or below.
    source: Option<String>,
}

impl From<DocumentsQuery> for ListBody {
    fn from(query: DocumentsQuery) -> Self {
        let DocumentsQuery { limit, offset, collection, version, scope, owner, source } = query;
        let kind = Some(Kind::Chunk);
        let chunks =
            ListQuery { limit, offset, collection, kind, scope, owner, source, ..ListQuery::default() };
        let mut body = Self::from(chunks);
        body.select.version = version;
        body
    }
}

/// A page of tags, by query parameters.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TagsQuery {
    /// Only this tag and those nested below it, e.g. infra/db.
    under: Option<String>,
    /// Number of tags, 1 to 1,000; default 1,000.
    #[schemars(range(min = 1, max = 1_000))]
    limit: Option<u32>,
    /// Number of tags to skip.
    offset: Option<u32>,
    /// Only items of this collection.
    collection: Option<String>,
    /// Only memories, or only chunks of documents.
    kind: Option<Kind>,
    /// Only items of this scope.
    scope: Option<Scope>,
    /// Only items of this owner.
    owner: Option<String>,
    /// Only documents at this path or below, and memories of this source or conversation.
    source: Option<String>,
}

impl From<TagsQuery> for TagsBody {
    fn from(query: TagsQuery) -> Self {
        let TagsQuery { under, limit, offset, collection, kind, scope, owner, source } = query;
        let items = ListQuery { collection, kind, scope, owner, source, ..ListQuery::default() };
        Self { under, limit, offset, select: ListBody::from(items).select }
    }
}

/// Selection of reviews.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReviewsQuery {
    /// Include settled reviews.
    all: bool,
}

/// The collections.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Collections {
    /// The collections, by name.
    collections: Vec<Collection>,
}

/// A collection.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Collection {
    /// Its name.
    name: String,
    /// Number of items that the caller may see.
    items: u64,
}

/// Local models.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Models {
    /// All known models, installed or not.
    models: Vec<model::Listed>,
}

fn collections(app: &App, caller: &Caller) -> Result<Collections, Problem> {
    let state = app.service.status(&caller.bounds)?;
    let some = state.by_collection().iter().filter(|(_, items)| **items > 0);
    Ok(Collections {
        collections: some.map(|(name, &items)| Collection { name: name.clone(), items }).collect(),
    })
}

/// Indexes folders of this machine that the token allows.
fn index(app: &App, caller: &Caller, mut body: IndexBody) -> Result<IndexReport, Problem> {
    // A path belongs to one scope and owner: indexing it for another would take it from them.
    if caller.bounds.scope.is_some() || caller.bounds.owner.is_some() {
        return Err(sees_a_part());
    }
    for path in &mut body.paths {
        *path = caller.folder(path)?;
    }
    Ok(app.service.index(&body, &caller.bounds, now(), &|_| {}, &|| true)?)
}

/// Consolidates within half of a request's time unless the body has a time limit. What is left waits for the next run.
fn consolidate(app: &App, caller: &Caller, mut body: ConsolidateBody) -> Result<Consolidated, Problem> {
    let most = u32::try_from(app.options.request_time.as_secs() / 2).unwrap_or(u32::MAX).max(1);
    body.seconds.get_or_insert(most);
    Ok(app.service.consolidate(&body, &caller.bounds, now(), &|| true)?)
}

/// Returns every operation that takes JSON and answers with JSON.
pub fn all() -> Vec<Operation> {
    let mut all = asking();
    all.extend(exploring());
    all.extend(keeping());
    all.extend(tending());
    all
}

fn asking() -> Vec<Operation> {
    vec![
        post(
            "/api/v1/query",
            "query",
            "Ask a question: ranked items with the reasons for their rank",
            Work::Read,
            served(Service::query),
        ),
        post(
            "/api/v1/brief",
            "brief",
            "Brief an agent that begins: pinned, decided, open, and how things are done",
            Work::Read,
            served(Service::brief),
        ),
        get::<Nothing, StoreState>(
            "/api/v1/status",
            "status",
            "How much is stored and whether the indexes match it, as far as the token reaches",
            |app, caller, _, _| Ok(app.service.status(&caller.bounds)?),
        ),
        get::<ListQuery, Listing>(
            "/api/v1/items",
            "list",
            "List items, newest first",
            |app, caller, _, query| Ok(app.service.list(&query.into(), &caller.bounds, now())?),
        ),
        post(
            "/api/v1/list",
            "listSelected",
            "List items of a selection, newest first",
            Work::Read,
            served(Service::list),
        ),
        get::<Nothing, Got>("/api/v1/items/{id}", "get", "One whole item", |app, caller, id, _| {
            Ok(app.service.get(id, &caller.bounds, now())?)
        }),
        get::<Nothing, History>(
            "/api/v1/items/{id}/history",
            "history",
            "What a memory said at each time and what happened to it",
            |app, caller, id, _| Ok(app.service.history(id, &caller.bounds)?),
        ),
        get::<DocumentsQuery, Documents>(
            "/api/v1/documents",
            "documents",
            "List documents, the last changed first",
            |app, caller, _, query| Ok(app.service.documents(&query.into(), &caller.bounds, now())?),
        ),
        get::<Nothing, Collections>(
            "/api/v1/collections",
            "collections",
            "The collections and how much each holds",
            |app, caller, _, _| collections(app, caller),
        ),
        get::<TagsQuery, TagList>(
            "/api/v1/tags",
            "tags",
            "Tags with their numbers of items, by name",
            |app, caller, _, query| Ok(app.service.tags(&query.into(), &caller.bounds, now())?),
        ),
        get::<ReviewsQuery, Reviews>(
            "/api/v1/reviews",
            "reviews",
            "Contradictions that nothing could settle, both sides of each",
            |app, caller, _, query| Ok(app.service.reviews(query.all, &caller.bounds)?),
        ),
        get::<Nothing, RunState>(
            runs::PATH,
            "run",
            "How an operation goes on, or ended, that takes longer than a request may",
            |app, caller, id, _| app.runs.state(id, &caller.key),
        ),
        get::<Nothing, Models>(
            "/api/v1/models",
            "models",
            "Local models and which of them are installed",
            |app, _, _, _| Ok(Models { models: model::list(&app.models) }),
        ),
    ]
}

fn exploring() -> Vec<Operation> {
    vec![
        post(
            "/api/v1/graph/entity",
            "graphEntity",
            "An entity that items mention, with the text of each mention",
            Work::Read,
            served(Service::graph_entity),
        ),
        post(
            "/api/v1/graph/neighbours",
            "graphNeighbours",
            "The entities that are mentioned together with an entity or by an item",
            Work::Read,
            served(Service::graph_neighbours),
        ),
        post(
            "/api/v1/graph/path",
            "graphPath",
            "How two entities or items are connected, with the text that proves each step",
            Work::Read,
            served(Service::graph_path),
        ),
        post(
            "/api/v1/graph/communities",
            "graphCommunities",
            "Groups of documents, memories and entities with more connections within the group than to the rest",
            Work::Long,
            served(Service::graph_communities),
        ),
        post(
            "/api/v1/graph/aliases",
            "aliases",
            "The aliases that were stated, by entity",
            Work::Read,
            served(Service::aliases),
        ),
        post(
            "/api/v1/graph",
            "graph",
            "Documents and memories with the entities that connect them, as nodes and edges",
            Work::Long,
            served(Service::graph),
        ),
    ]
}

fn keeping() -> Vec<Operation> {
    vec![
        post(
            "/api/v1/relate",
            "relate",
            "State how two memories or two names are related, or take it back",
            Work::Write,
            served(Service::relate),
        ),
        post(
            "/api/v1/graph/alias",
            "alias",
            "State that two names mean the same entity, or take it back, in the whole store",
            Work::Write,
            served(Service::alias),
        ),
        post("/api/v1/curate", "curate", "Keep a memory", Work::Write, served(Service::curate)),
        post(
            "/api/v1/turns",
            "keepTurns",
            "Keep turns of a conversation, and what is worth keeping in them as candidates",
            Work::Write,
            served(Service::keep_turns),
        ),
        post(
            "/api/v1/documents",
            "addDocuments",
            "Add documents that are sent with the request, or replace them",
            Work::Long,
            |app, caller, _, body| documents::add(app, caller, body),
        ),
        post(
            "/api/v1/index",
            "index",
            "Index files of the server's machine, for a token that names their folder",
            Work::Long,
            |app, caller, _, body| index(app, caller, body),
        ),
        post(
            "/api/v1/feedback",
            "feedback",
            "Say that a memory was useful, is wrong or is stale",
            Work::Write,
            served(Service::feedback),
        ),
        post(
            "/api/v1/pin",
            "pin",
            "Pin a memory, so that it never fades, or take the pin out",
            Work::Write,
            served(Service::pin),
        ),
        post::<SettleBody, Review>(
            "/api/v1/reviews/{review}",
            "settle",
            "Say which side of a contradiction is right",
            Work::Write,
            |app, caller, review, body| {
                let review = review.parse().map_err(|_| Problem::bad("review: a number is wanted"))?;
                Ok(app.service.settle(review, &body, &caller.bounds, now())?)
            },
        ),
        post::<PairBody, SettledPair>(
            "/api/v1/items/{id}/settle",
            "settlePair",
            "Say what a memory is to an earlier one: it replaces it, says the same, or is a different fact",
            Work::Write,
            |app, caller, id, body| Ok(app.service.settle_pair(id, &body, &caller.bounds, now())?),
        ),
        post(
            "/api/v1/forget",
            "forget",
            "Delete items for good, out of every file, with a receipt",
            Work::Long,
            served(Service::forget),
        ),
    ]
}

fn tending() -> Vec<Operation> {
    vec![
        get::<Nothing, HealthReport>(
            "/api/v1/health",
            "health",
            "Health of the models, the worker, the cache and the maintenance; needs a token that sees the whole store",
            |app, caller, _, _| Ok(app.service.health(&caller.bounds)?),
        ),
        post(
            "/api/v1/sweep",
            "sweep",
            "Run daily maintenance: promote candidates, fade and archive what nobody uses",
            Work::Long,
            served(Service::sweep),
        ),
        post(
            "/api/v1/prune",
            "prune",
            "Archive memories that are too weak to be asked for again",
            Work::Long,
            served(Service::prune),
        ),
        post(
            "/api/v1/consolidate",
            "consolidate",
            "Make patterns of memories that say much the same",
            Work::Long,
            |app, caller, _, body| consolidate(app, caller, body),
        ),
        post(
            "/api/v1/tags/rename",
            "renameTags",
            "Rename a tag with those nested below it, or merge tags, in the whole store",
            Work::Write,
            served(Service::rename_tags),
        ),
        post("/api/v1/undo", "undo", "Take back what an event did", Work::Write, served(Service::undo)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_operations_share_a_name_or_a_route() {
        let all = all();
        for (at, one) in all.iter().enumerate() {
            for other in &all[at + 1..] {
                assert_ne!(one.id, other.id);
                assert!(one.path != other.path || one.takes_body() != other.takes_body(), "{one:?}");
            }
        }
    }

    #[test]
    fn a_query_is_read_with_its_types_and_nothing_is_passed_over() {
        let query: ListQuery = parse_query("limit=3&type=fact&tag=a%20b&kind=memory").unwrap();
        let body = ListBody::from(query);
        assert_eq!(
            (body.limit, body.select.types, body.select.tags),
            (Some(3), vec![MemoryType::Fact], vec!["a b".into()])
        );
        for wrong in ["limit=x", "limits=3", "type=idea", "limit=-1"] {
            assert_eq!(parse_query::<ListQuery>(wrong).unwrap_err().status, 400, "{wrong}");
        }
        assert!(parse_query::<Nothing>("").is_ok() && parse_query::<Nothing>("x=1").is_err());
    }
}
