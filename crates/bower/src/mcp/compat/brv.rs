//! Implements `ByteRover`'s tools brv-query and brv-curate, for the project around a folder.
//! Names and arguments are those of `brv mcp`, read in its code. Ours need no language model, so they finish within the
//! call.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

use crate::brv::{Changes, Match, Project, keep, result_of, with_files};
use crate::failure::Failure;
use crate::mcp::responses::{self, Response};
use crate::mcp::schema;
use crate::mcp::tool::{Call, Effect, Given, Tool};
use crate::service::{Access, EVIDENCE_TOKENS, IndexBody, QueryBody, SelectBody, Served};

/// The tools.
pub const TOOLS: &[Tool] = &[
    Tool {
        name: "brv-query",
        about: "Ask what is known in this project: patterns, decisions, implementation details.",
        shown: &[
            ("query", "a question in natural language"),
            ("cwd", "the project's folder, absolute; default: the server's"),
        ],
        required: &["query"],
        effect: Effect::Reads,
        body: schema::of::<Query>,
        answer: schema::of_answer::<Found>,
        told: &["result"],
        call: query,
    },
    Tool {
        name: "brv-curate",
        about: "Keep a decision, its reason, a convention or an insight for later sessions in this project. Not code, and not what \
                holds for today only.",
        shown: &[
            ("context", "what to keep; required without files and folder"),
            ("files", "at most 5 that belong to it"),
            ("folder", "read as a whole instead"),
            ("cwd", "the project's folder, absolute; default: the server's"),
        ],
        required: &[],
        effect: Effect::Keeps,
        body: schema::of::<Curate>,
        answer: schema::of_answer::<Curated>,
        told: &["status", "message"],
        call: curate,
    },
];

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Query {
    query: String,
    #[serde(default)]
    cwd: Option<PathBuf>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Curate {
    #[serde(default)]
    context: String,
    #[serde(default)]
    files: Vec<PathBuf>,
    #[serde(default)]
    folder: Option<PathBuf>,
    #[serde(default)]
    cwd: Option<PathBuf>,
    /// Accepted for compatibility and ignored: every call finishes before it returns.
    #[serde(default, rename = "wait")]
    _wait: Option<bool>,
}

/// Returns the project, the folder of the call, and the collection: that of the caller's bounds, or else the project's.
fn place(call: &Call<'_>, cwd: Option<&Path>) -> Served<(Project, PathBuf, String)> {
    let folder = match cwd {
        Some(folder) if folder.is_absolute() && folder.is_dir() => folder.to_path_buf(),
        Some(folder) => {
            let what = format!("cwd {} is no folder of this machine", folder.display());
            return Err(Failure::usage(what, "give the project's folder, from the root on").into());
        }
        None => std::env::current_dir()
            .map_err(|source| Failure::from(bower_core::Error::io("find", Path::new("."), source)))?,
    };
    let project = Project::around(&folder);
    let named = call.bounds.collections.is_empty().then_some(project.collection.as_str());
    let collection = call.bounds.place(named, None, None)?.collection;
    let collection = collection.unwrap_or_else(|| project.collection.clone());
    Ok((project, folder, collection))
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Found {
    status: &'static str,
    /// The answer as one text.
    result: String,
    matched_docs: Vec<Match>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_score: Option<f32>,
}

fn query(call: &Call<'_>, given: Given<'_>) -> Served<Response> {
    let body: Query = given.understood()?;
    if body.query.trim().is_empty() {
        return Err(Failure::usage("query is empty", "ask a question").into());
    }
    let (.., collection) = place(call, body.cwd.as_deref())?;
    let asked = QueryBody {
        query: body.query,
        budget_tokens: Some(EVIDENCE_TOKENS),
        select: SelectBody { collections: vec![collection], ..SelectBody::default() },
        ..QueryBody::default()
    };
    let answer = call.service.query(&asked, call.bounds, call.now)?;
    let result = result_of(&answer);
    let found = Found {
        status: "completed",
        result: result.clone(),
        matched_docs: answer.hits.iter().map(Match::of).collect(),
        top_score: answer.hits.first().map(|hit| hit.score),
    };
    Ok(Response::new(&found, result))
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Curated {
    status: &'static str,
    message: String,
    changes: Changes,
    pending_review: bool,
}

fn curate(call: &Call<'_>, given: Given<'_>) -> Served<Response> {
    let body: Curate = given.understood()?;
    call.bounds.may(Access::Write)?;
    if !body.files.is_empty() || body.folder.is_some() {
        // These files are read from this machine.
        call.bounds.may(Access::Admin)?;
    }
    let (project, folder, collection) = place(call, body.cwd.as_deref())?;
    let mut done = Curated {
        status: "completed",
        message: String::new(),
        changes: Changes::default(),
        pending_review: false,
    };
    let files: &[PathBuf] = if body.folder.is_some() { &[] } else { &body.files };
    let text = with_files(&body.context, files, &folder)?;
    if !text.is_empty() {
        let kept = keep(call.service, call.bounds, &project, &collection, &text, call.now)?;
        (done.message, done.changes, done.pending_review) = (kept.message, kept.changes, kept.review);
    } else if body.folder.is_none() {
        return Err(Failure::usage("nothing is to be kept", "give context, files or a folder").into());
    }
    if let Some(whole) = &body.folder {
        let index = IndexBody {
            paths: vec![folder.join(whole)],
            collection: Some(collection),
            ..IndexBody::default()
        };
        let report = call.service.index(&index, call.bounds, call.now, call.progress, call.go_on)?;
        let gap = if done.message.is_empty() { "" } else { "\n" };
        done.message =
            format!("{}{gap}{}", done.message, responses::indexed(&report, call.now).text().trim_end());
    }
    let text = done.message.clone();
    Ok(Response::new(&done, text))
}
