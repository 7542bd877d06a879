//! Adds documents whose text comes with the request.
//! Document ids are separate for each scope and owner. So no caller can replace another's document by sending the same
//! id, or learn that it exists.

use bower_core::engine::DocumentInput;
use bower_core::item::Scope;
use bower_core::request::IndexReport;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::app::App;
use super::auth::Caller;
use super::clock::now;
use super::problem::Problem;
use crate::service::Access;

/// Maximum number of documents in one request.
const MOST_DOCUMENTS: usize = 1_000;
/// Longest id of a document, in bytes.
const LONGEST_ID: usize = 4_096;

/// Documents to add.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DocumentsBody {
    /// The documents, at most 1,000.
    #[schemars(length(min = 1, max = 1_000))]
    pub documents: Vec<DocumentBody>,
    /// Collection to keep them in.
    #[serde(default)]
    pub collection: Option<String>,
    /// Their scope; default project.
    #[serde(default)]
    pub scope: Option<Scope>,
    /// Their owner.
    #[serde(default)]
    pub owner: Option<String>,
}

/// A document.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DocumentBody {
    /// Its id within its collection; a document with the same id is replaced.
    #[schemars(length(min = 1, max = 4_096))]
    pub id: String,
    /// Its title.
    #[serde(default)]
    pub title: Option<String>,
    /// Its text; Markdown is cut at its headings.
    pub text: String,
    /// Free metadata.
    #[serde(default)]
    pub metadata: Map<String, Value>,
    /// The conversation or thread that it is part of.
    #[serde(default)]
    pub session: Option<String>,
}

/// Adds documents, or replaces those with the same id.
pub fn add(app: &App, caller: &Caller, body: DocumentsBody) -> Result<IndexReport, Problem> {
    caller.bounds.may(Access::Write)?;
    let place = caller.bounds.place(body.collection.as_deref(), body.scope, body.owner.as_deref())?;
    if body.documents.is_empty() || body.documents.len() > MOST_DOCUMENTS {
        return Err(Problem::bad(format!("documents: send 1 to {MOST_DOCUMENTS}")));
    }
    if body.documents.iter().any(|document| document.id.trim().is_empty() || document.id.len() > LONGEST_ID) {
        return Err(Problem::bad(format!("documents: an id is 1 to {LONGEST_ID} bytes, and not blank")));
    }
    let engine = app.service.engine();
    let documents = body.documents.into_iter().map(|document| DocumentInput {
        file: None,
        id: document.id,
        title: document.title,
        text: document.text,
        collection: place.collection.clone(),
        metadata: document.metadata,
        session: document.session,
        provenance: None,
        host: caller.bounds.host.clone(),
    });
    Ok(engine.add_documents(
        &caller.bounds.visibility(),
        documents.collect(),
        (place.scope, place.owner),
        now(),
    )?)
}
