//! The documents of a store, as listings show them.
//! They contain no text of a document.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::item::Scope;

/// A document without its text. `list` and `query` return the text by chunk.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Document {
    /// Its id within its collection: the path of a file, or the id that the caller chose.
    pub id: String,
    /// Its name in changes of the store.
    pub subject: String,
    /// The collection that it belongs to.
    pub collection: String,
    /// Its title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its version, taken from its path.
    pub version: String,
    /// Number of chunks.
    pub chunks: u64,
    /// Length in bytes when it was read.
    pub bytes: u64,
    /// Its scope: who may see it.
    pub scope: Scope,
    /// Its owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Free fields.
    pub metadata: Map<String, Value>,
    /// When it was first indexed.
    pub create_time: Timestamp,
    /// When it changed last.
    pub update_time: Timestamp,
}

/// A page of documents.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Documents {
    /// The documents, last changed first.
    pub documents: Vec<Document>,
    /// Number of documents in all.
    pub total: usize,
}
