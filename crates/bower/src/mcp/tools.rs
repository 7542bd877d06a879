//! Defines the tools: name, description and operation of each.
//! Arguments are the same bodies as over HTTP; answers are rendered for a model (`responses.rs`).

use bower_core::item::Ruling;
use bower_core::request::{
    AliasList, Brief, Curated, Forgotten, GraphPath, Neighbours, Related, RenamedTags, SessionRead,
    SettledPair, StatedAlias, TagList, Undone,
};
use rmcp::model::Tool as Listed;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

use super::responses::{self, Response};
use super::tool::{Call, Effect, Given, Nothing, Tool};
use super::{compat, schema};
use crate::failure::{Failure, Result};
use crate::render;
use crate::service::{
    AliasBody, AliasesBody, BriefBody, ConsolidateBody, CurateBody, EVIDENCE_TOKENS, FeedbackBody,
    ForgetBody, Got, IndexBody, ListBody, NeighboursBody, PairBody, PathBody, PinBody, Pinned, PruneBody,
    QueryBody, RelateBody, RenameTagsBody, Served, Service, SettleBody, TagsBody, TurnsBody, UndoBody,
};

/// The tools that `--tools core` offers.
const CORE: [&str; 5] = ["memory_search", "memory_store", "memory_get", "memory_list", "memory_forget"];
/// Default number of hits that evidence is drawn from.
const RESULTS: u16 = 8;

/// A tool that this server offers.
pub struct Offered {
    /// Its definition.
    pub tool: &'static Tool,
    /// Schema of its body.
    pub body: Value,
    /// Its entry in the list of tools.
    pub listed: Listed,
}

impl Offered {
    fn new(tool: &'static Tool) -> Self {
        let body = (tool.body)();
        let input = schema::of_arguments(&body, tool.shown, tool.required);
        let listed = Listed::new(tool.name, tool.about, input)
            .with_raw_output_schema(Arc::new(schema::of_told(&(tool.answer)(), tool.told)))
            .with_annotations(tool.effect.hints());
        Self { tool, body, listed }
    }
}

/// Choice of a server's tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// Our own, or those of the compatible system if there is one.
    #[default]
    Usual,
    /// All of our own, and those of the compatible system.
    All,
    /// The few of our own that an agent needs every day.
    Core,
    /// The named ones.
    Named(Vec<String>),
}

impl std::str::FromStr for Choice {
    type Err = Failure;

    fn from_str(text: &str) -> Result<Self> {
        match text.trim() {
            "all" => Ok(Self::All),
            "core" => Ok(Self::Core),
            names => {
                let names: Vec<String> = names
                    .split(',')
                    .map(str::trim)
                    .filter(|name| !name.is_empty())
                    .map(String::from)
                    .collect();
                if names.is_empty() {
                    return Err(Failure::usage(
                        "--tools names no tool",
                        "use all, core, or names with commas",
                    ));
                }
                Ok(Self::Named(names))
            }
        }
    }
}

/// Returns the chosen tools, in the order in which they are listed.
pub fn offered(choice: &Choice, compat: Option<compat::System>) -> Result<Vec<Offered>> {
    let theirs = compat.map_or(&[][..], compat::System::tools);
    let every = || TOOLS.iter().chain(MORE).chain(theirs);
    let chosen: Vec<&'static Tool> = match choice {
        Choice::Usual if theirs.is_empty() => TOOLS.iter().collect(),
        Choice::Usual => theirs.iter().collect(),
        Choice::All => every().collect(),
        Choice::Core => TOOLS.iter().filter(|tool| CORE.contains(&tool.name)).collect(),
        Choice::Named(names) => {
            if let Some(unknown) = names.iter().find(|name| !every().any(|tool| tool.name == **name)) {
                let all: Vec<_> = every().map(|tool| tool.name).collect();
                return Err(Failure::usage(
                    format!("there is no tool {unknown}"),
                    format!("use all, core, or some of {}", all.join(", ")),
                ));
            }
            every().filter(|tool| names.iter().any(|name| name == tool.name)).collect()
        }
    };
    Ok(chosen.into_iter().map(Offered::new).collect())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct IdBody {
    /// Id of an item, or its first digits (at least 6).
    id: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PairOfBody {
    /// Id of the newer memory, or its first digits (at least 6).
    id: String,
    /// Id of the earlier memory whose place it takes.
    #[serde(default)]
    replaces: Option<String>,
    /// Id of the earlier memory that says the same; it becomes another wording of it.
    #[serde(default)]
    confirms: Option<String>,
    /// Id of the earlier memory that is a different fact.
    #[serde(default)]
    different_from: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReviewBody {
    /// The review to settle.
    #[serde(default)]
    review: Option<u64>,
    /// Which side is right.
    #[serde(default)]
    ruling: Option<Ruling>,
    /// The text that replaces both sides; only for merge.
    #[serde(default)]
    text: Option<String>,
    /// Include settled reviews.
    #[serde(default)]
    all: bool,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ConnectedBody {
    /// An entity's name, #tag, the path of a note, or an item's id.
    name: String,
    /// Another one: returns the path to it.
    #[serde(default)]
    to: Option<String>,
    /// Without to: steps from entity to entity, 1 to 4; default 1.
    #[serde(default)]
    depth: Option<u8>,
    /// Number of neighbours, 1 to 200; default 10.
    #[serde(default)]
    limit: Option<u16>,
}

/// What connects entities: the neighbours of one, or the path between two.
#[derive(Debug, Serialize, JsonSchema)]
struct Connected {
    #[serde(flatten)]
    near: Option<Neighbours>,
    #[serde(flatten)]
    path: Option<GraphPath>,
}

/// Returns an answer with all its fields.
fn whole(answer: &impl serde::Serialize, text: impl AsRef<str>) -> Response {
    Response::new(answer, text)
}

/// Our own tools.
pub const TOOLS: &[Tool] = &[
    Tool {
        name: "memory_search",
        about: "Search memories and indexed documents by meaning and words. Returns cited evidence that fits a token budget. \
                Use before answering about past decisions, preferences or this project.",
        shown: &[
            ("query", "a question, in words of its own"),
            ("limit", "1-50, default 8"),
            ("budget_tokens", "default 2048"),
            ("types*", ""),
            ("tags", "all of them"),
            ("collections", ""),
            ("since", "2025-03-01, 7d, yesterday"),
            ("until", ""),
            ("session", "a name: leaves out what it was already given"),
        ],
        required: &["query"],
        effect: Effect::Reads,
        body: schema::of::<QueryBody>,
        answer: schema::of_answer::<responses::Found>,
        told: &["results(id text source score band written)", "abstained"],
        call: search,
    },
    Tool {
        name: "memory_store",
        about: "Keep one fact, decision, preference or procedure that will matter later, as a sentence that stands alone. \
                Repeats confirm, a new number in the same words replaces the old one, junk is refused. If possible earlier memories are \
                named, settle each with memory_settle.",
        shown: &[
            ("content", ""),
            ("type", "judged unless told"),
            ("tags", ""),
            ("pinned", "never fades"),
            ("collection", ""),
            ("replaces", "outdated id"),
            ("confirms", ""),
            ("different_from", ""),
        ],
        required: &["content"],
        effect: Effect::Keeps,
        body: schema::of::<CurateBody>,
        answer: schema::of_answer::<Curated>,
        told: &["id", "outcome", "accepted", "reason", "possible(id text told why)"],
        call: store,
    },
    Tool {
        name: "memory_get",
        about: "One whole item with its metadata.",
        shown: &[("id", "or its first 6+ digits")],
        required: &["id"],
        effect: Effect::Reads,
        body: schema::of::<IdBody>,
        answer: schema::of_answer::<Got>,
        told: &["memory"],
        call: get,
    },
    Tool {
        name: "memory_list",
        about: "Items newest first, without a question.",
        shown: &[("limit", "default 20"), ("offset", ""), ("types*", ""), ("tags", ""), ("collections", "")],
        required: &[],
        effect: Effect::Reads,
        body: schema::of::<ListBody>,
        answer: schema::of_answer::<responses::Page>,
        told: &["memories", "total"],
        call: list,
    },
    Tool {
        name: "memory_forget",
        about: "Delete items for good, everywhere, with a receipt. For what is only outdated store the new value instead.",
        shown: &[("ids", ""), ("dry_run", "only look")],
        required: &["ids"],
        effect: Effect::Changes,
        body: schema::of::<ForgetBody>,
        answer: schema::of_answer::<Forgotten>,
        told: &["forgotten", "receipt"],
        call: forget,
    },
    Tool {
        name: "memory_history",
        about: "What a memory said at each time, and who changed it.",
        shown: &[("id", "")],
        required: &["id"],
        effect: Effect::Reads,
        body: schema::of::<IdBody>,
        answer: schema::of_answer::<responses::Past>,
        told: &["chain", "events"],
        call: history,
    },
    Tool {
        name: "memory_review",
        about: "List contradictions nobody settled; with review and ruling, settle one: accept the newer side, reject it, \
                both, or merge into text.",
        shown: &[("review", ""), ("ruling", ""), ("text", "")],
        required: &[],
        effect: Effect::Changes,
        body: schema::of::<ReviewBody>,
        answer: schema::of_answer::<responses::Conflicts>,
        told: &["reviews"],
        call: review,
    },
    Tool {
        name: "memory_settle",
        about: "Say what a memory is to an earlier one; name one of the three.",
        shown: &[
            ("id", "the newer memory"),
            ("replaces", "outdated id"),
            ("confirms", "id: it says the same"),
            ("different_from", "id: another fact"),
        ],
        required: &["id"],
        effect: Effect::Changes,
        body: schema::of::<PairOfBody>,
        answer: schema::of_answer::<SettledPair>,
        told: &["event"],
        call: settle,
    },
    Tool {
        name: "memory_feedback",
        about: "Say what a found memory was worth; wrong and stale ones leave answers.",
        shown: &[("id", ""), ("verdict", "")],
        required: &["id", "verdict"],
        effect: Effect::Keeps,
        body: schema::of::<FeedbackBody>,
        answer: schema::of_answer::<responses::Judged>,
        told: &["confidence"],
        call: |call, given| call.run(given, Service::feedback, responses::judged),
    },
    Tool {
        name: "memory_status",
        about: "Counts, collections, index and model health.",
        shown: &[],
        required: &[],
        effect: Effect::Reads,
        body: schema::of::<Nothing>,
        answer: schema::of_answer::<responses::Health>,
        told: &["total_memories", "total_documents", "by_collection", "index_healthy", "model_state"],
        call: status,
    },
    Tool {
        name: "memory_prune",
        about: "Archive memories too weak to matter; can be taken back.",
        shown: &[("threshold", "strength 0-1, default .05"), ("dry_run", "")],
        required: &[],
        effect: Effect::Changes,
        body: schema::of::<PruneBody>,
        answer: schema::of_answer::<responses::Cut>,
        told: &["pruned", "remaining", "event"],
        call: |call, given| call.run(given, Service::prune, responses::cut),
    },
    Tool {
        name: "memory_consolidate",
        about: "Put one pattern in the place of memories that say much the same; can be taken back.",
        shown: &[("similarity", "cosine, default .9"), ("dry_run", "")],
        required: &[],
        effect: Effect::Changes,
        body: schema::of::<ConsolidateBody>,
        answer: schema::of_answer::<responses::Consolidation>,
        told: &["merged", "patterns_created", "clusters"],
        call: consolidate,
    },
    Tool {
        name: "memory_index",
        about: "Read files or folders of this machine into the searchable library; only changes are read again.",
        shown: &[("paths", "absolute"), ("collection", "")],
        required: &["paths"],
        effect: Effect::Keeps,
        body: schema::of::<IndexBody>,
        answer: schema::of_answer::<responses::Run>,
        told: &["files", "indexed", "skipped"],
        call: index,
    },
];

/// Tools that few agents need; `--tools all` or their names offer them.
pub const MORE: &[Tool] = &[
    Tool {
        name: "memory_turns",
        about: "For hosts, not for models: keep turns of a conversation as they are said, and what is worth keeping in them \
                as candidates. A turn that was handed over before adds nothing.",
        shown: &[("conversation", "its name"), ("turns", "speaker (user, assistant or a name) and text")],
        required: &["conversation", "turns"],
        effect: Effect::Keeps,
        body: schema::of::<TurnsBody>,
        answer: schema::of_answer::<SessionRead>,
        told: &["turns", "kept"],
        call: |call, given| {
            call.run(given, Service::keep_turns, |read, _| {
                let kept = render::count(read.kept.len() as u64, "candidate");
                whole(read, format!("{} kept, {kept}", render::count(read.turns, "turn")))
            })
        },
    },
    Tool {
        name: "memory_brief",
        about: "Brief an agent that begins: pinned memories, recent decisions, open contradictions, how things are done.",
        shown: &[("task", "what is to be done"), ("folder", "absolute"), ("budget", ""), ("session", "")],
        required: &[],
        effect: Effect::Reads,
        body: schema::of::<BriefBody>,
        answer: schema::of_answer::<Brief>,
        told: &["entries(id text)", "left_out"],
        call: |call, given| {
            call.run(given, Service::brief, |brief, now| {
                let text = render::agents::briefing(brief, &responses::look(now));
                whole(brief, if text.is_empty() { render::agents::nothing(brief).to_owned() } else { text })
            })
        },
    },
    Tool {
        name: "memory_relate",
        about: "State how two names or two memories are related. Between names it becomes a memory that states it.",
        shown: &[
            ("from", "a name, or a memory's id"),
            ("type", "works_at; between memories causes, led_to, related_to, ..."),
            ("to", "a name or id, as from"),
            ("proof", "id of the item that proves it"),
            ("undo", "take it back"),
        ],
        required: &["from", "type", "to"],
        effect: Effect::Changes,
        body: schema::of::<RelateBody>,
        answer: schema::of_answer::<Related>,
        told: &["outcome", "memory"],
        call: |call, given| {
            call.run(given, Service::relate, |related, now| {
                whole(related, render::graph::related(related, &responses::look(now)))
            })
        },
    },
    Tool {
        name: "memory_graph",
        about: "How names are connected: with name alone, what is mentioned near it; with to, the path between the two. Each step \
                has the text that proves it.",
        shown: &[
            ("name", "a name, #tag, note path or id"),
            ("to", "the same"),
            ("depth", "1-4"),
            ("limit", "1-200, default 10"),
        ],
        required: &["name"],
        effect: Effect::Reads,
        body: schema::of::<ConnectedBody>,
        answer: schema::of_answer::<Connected>,
        told: &["neighbours", "path"],
        call: connected,
    },
    Tool {
        name: "memory_alias",
        about: "State that two names mean the same entity, in the whole store. Only if someone says so; can be taken back.",
        shown: &[("name", ""), ("other", "the other name"), ("undo", "take it back")],
        required: &["name", "other"],
        effect: Effect::Changes,
        body: schema::of::<AliasBody>,
        answer: schema::of_answer::<StatedAlias>,
        told: &["outcome", "event", "names", "unknown"],
        call: |call, given| {
            call.run(given, Service::alias, |alias, now| {
                whole(alias, render::graph::alias(alias, &responses::look(now)))
            })
        },
    },
    Tool {
        name: "memory_aliases",
        about: "The names that were stated to mean the same entity.",
        shown: &[("name", "only those of this entity")],
        required: &[],
        effect: Effect::Reads,
        body: schema::of::<AliasesBody>,
        answer: schema::of_answer::<AliasList>,
        told: &["entities"],
        call: |call, given| {
            call.run(given, Service::aliases, |list, now| {
                whole(list, render::graph::aliases(list, &responses::look(now)))
            })
        },
    },
    Tool {
        name: "memory_pin",
        about: "Pin a memory, so that it never fades, or take the pin out.",
        shown: &[("id", ""), ("pinned", "false takes it out")],
        required: &["id"],
        effect: Effect::Keeps,
        body: schema::of::<PinBody>,
        answer: schema::of_answer::<Pinned>,
        told: &["memory"],
        call: |call, given| {
            call.run(given, Service::pin, |pinned, now| {
                whole(pinned, render::life::pinned(&pinned.memory, &responses::look(now)))
            })
        },
    },
    Tool {
        name: "memory_tags",
        about: "Tags with their numbers of items, by name.",
        shown: &[
            ("under", "a tag, e.g. infra/db"),
            ("limit", "default 1000"),
            ("offset", ""),
            ("collections", ""),
        ],
        required: &[],
        effect: Effect::Reads,
        body: schema::of::<TagsBody>,
        answer: schema::of_answer::<TagList>,
        told: &["tags(tag items)", "total"],
        call: |call, given| {
            call.run(given, Service::tags, |list, now| {
                whole(list, render::tags::list(list, &responses::look(now)))
            })
        },
    },
    Tool {
        name: "memory_tags_rename",
        about: "Rename a tag with those nested below it everywhere, now and in what is written later; with merge, several tags \
                into one. Can be taken back.",
        shown: &[("tags", ""), ("to", "new name"), ("merge", ""), ("dry_run", "only look")],
        required: &["tags", "to"],
        effect: Effect::Changes,
        body: schema::of::<RenameTagsBody>,
        answer: schema::of_answer::<RenamedTags>,
        told: &["event", "memories", "chunks", "documents"],
        call: |call, given| {
            call.run(given, Service::rename_tags, |renamed, now| {
                whole(renamed, render::tags::renamed(renamed, &responses::look(now)))
            })
        },
    },
    Tool {
        name: "memory_undo",
        about: "Take back what an event did, as far as nothing changed it since: something kept, replaced, pruned or consolidated; \
                or all that one session, host or source wrote.",
        shown: &[
            ("event", "as an answer or memory_history tells it"),
            ("session", ""),
            ("host", "a program"),
            ("source", ""),
            ("dry_run", "only look"),
        ],
        required: &[],
        effect: Effect::Changes,
        body: schema::of::<UndoBody>,
        answer: schema::of_answer::<Undone>,
        told: &["items", "unmoved"],
        call: |call, given| {
            call.run(given, Service::undo, |undone, now| {
                whole(undone, render::life::undone(undone, &responses::look(now)))
            })
        },
    },
];

fn search(call: &Call<'_>, given: Given<'_>) -> Served<Response> {
    let mut body: QueryBody = given.understood()?;
    if body.query.trim().is_empty() {
        return Err(Failure::usage(
            "query is empty",
            "ask a question, or use memory_list to see what is there",
        )
        .into());
    }
    body.limit.get_or_insert(RESULTS);
    body.budget_tokens.get_or_insert(EVIDENCE_TOKENS);
    let asked = !body.prefetch;
    Ok(responses::found(&call.service.query(&body, call.bounds, call.now)?, asked))
}

fn store(call: &Call<'_>, given: Given<'_>) -> Served<Response> {
    let mut body: CurateBody = given.understood()?;
    if body.content.trim().is_empty() {
        return Err(Failure::usage("content is empty", "say what is to be remembered").into());
    }
    if body.conversation.is_none() {
        body.conversation = call.session.map(str::to_owned);
    }
    let curated: Curated = call.service.curate(&body, call.bounds, call.now)?;
    let look = responses::look(call.now);
    let text = render::store::curated(&Curated { possible: Vec::new(), ..curated.clone() }, &look);
    let named = curated
        .possible
        .iter()
        .map(|one| format!("{}: {} {} ({})\n", one.why, one.id, render::line(&one.text), look.age(one.told)));
    let mut text = text + &named.collect::<String>();
    if !curated.possible.is_empty() {
        text += "memory_settle with this id says which: replaces, confirms or different_from\n";
    }
    Ok(whole(&curated, text))
}

fn connected(call: &Call<'_>, given: Given<'_>) -> Served<Response> {
    let ConnectedBody { name, to, depth, limit } = given.understood()?;
    let look = responses::look(call.now);
    if let Some(to) = to {
        let body = PathBody { from: name, to, ..PathBody::default() };
        let path = call.service.graph_path(&body, call.bounds, call.now)?;
        let text = render::graph::path(&path, &look);
        return Ok(whole(&Connected { near: None, path: Some(path) }, text));
    }
    let body = NeighboursBody { name, depth, limit, ..NeighboursBody::default() };
    let near = call.service.graph_neighbours(&body, call.bounds, call.now)?;
    let text = render::graph::neighbours(&near, &look);
    Ok(whole(&Connected { near: Some(near), path: None }, text))
}

fn settle(call: &Call<'_>, given: Given<'_>) -> Served<Response> {
    let PairOfBody { id, replaces, confirms, different_from } = given.understood()?;
    let body = PairBody { replaces, confirms, different_from };
    let settled = call.service.settle_pair(&id, &body, call.bounds, call.now)?;
    let text = render::review::pair(&settled, &responses::look(call.now));
    Ok(whole(&settled, text))
}

fn get(call: &Call<'_>, given: Given<'_>) -> Served<Response> {
    let body: IdBody = given.understood()?;
    let got: Got = call.service.get(&body.id, call.bounds, call.now)?;
    let exposure = got.given_time.map(|time| (got.given_count, time));
    let look = responses::look(call.now);
    let text =
        render::item::one(&got.memory, exposure, &look) + &render::item::wordings(&got.wordings, &look);
    Ok(whole(&got, text))
}

fn list(call: &Call<'_>, given: Given<'_>) -> Served<Response> {
    let body: ListBody = given.understood()?;
    let listing = call.service.list(&body, call.bounds, call.now)?;
    Ok(responses::page(&listing, body.offset.unwrap_or(0) as usize, call.now))
}

fn forget(call: &Call<'_>, given: Given<'_>) -> Served<Response> {
    let body: ForgetBody = given.understood()?;
    if body.ids.is_empty() {
        // A selection may match more than a model expects. So it must look first, and name the items to forget.
        return Err(Failure::usage(
            "no ids are given",
            "memory_list and memory_search tell ids; name those to forget",
        )
        .into());
    }
    let forgotten: Forgotten = call.service.forget(&body, call.bounds, call.now)?;
    let text = render::forget::forgotten(&forgotten, &responses::look(call.now));
    Ok(whole(&forgotten, text))
}

fn history(call: &Call<'_>, given: Given<'_>) -> Served<Response> {
    let body: IdBody = given.understood()?;
    Ok(responses::past(&call.service.history(&body.id, call.bounds)?, call.now))
}

fn review(call: &Call<'_>, given: Given<'_>) -> Served<Response> {
    let body: ReviewBody = given.understood()?;
    match (body.review, body.ruling) {
        (None, None) => {
            let found = call.service.reviews(body.all, call.bounds)?.reviews;
            let text = render::review::list(&found, 0, &responses::look(call.now)).replace(
                "bower review accept|reject|both N, or merge N TEXT",
                "memory_review with review N and ruling accept, reject, both, or merge with text",
            );
            Ok(responses::conflicts(&found, text))
        }
        (Some(review), Some(ruling)) => {
            let body = SettleBody { ruling, text: body.text };
            let settled = call.service.settle(review, &body, call.bounds, call.now)?;
            let text = render::review::settled(&settled, &responses::look(call.now));
            Ok(responses::conflicts(&[settled], text))
        }
        (Some(_), None) => {
            Err(Failure::usage("no ruling is given", "add ruling: accept, reject, both or merge").into())
        }
        (None, Some(_)) => Err(Failure::usage(
            "no review is named",
            "add review: memory_review without arguments lists them",
        )
        .into()),
    }
}

fn status(call: &Call<'_>, given: Given<'_>) -> Served<Response> {
    let Nothing {} = given.understood()?;
    Ok(responses::state(&call.service.status(call.bounds)?, call.now))
}

fn consolidate(call: &Call<'_>, given: Given<'_>) -> Served<Response> {
    let body: ConsolidateBody = given.understood()?;
    Ok(responses::merged(&call.service.consolidate(&body, call.bounds, call.now, call.go_on)?, call.now))
}

fn index(call: &Call<'_>, given: Given<'_>) -> Served<Response> {
    let body: IndexBody = given.understood()?;
    let report = call.service.index(&body, call.bounds, call.now, call.progress, call.go_on)?;
    Ok(responses::indexed(&report, call.now))
}
