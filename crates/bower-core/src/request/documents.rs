//! The documents of a library as a listing shows them.
//! Nothing here holds a text.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::item::Scope;

/// A document, without its text: `list` and `query` have that, chunk by chunk.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Document {
    /// Its name within its collection: the path of a file, or the id under which it was sent.
    pub id: String,
    /// What changes of the store call it.
    pub subject: String,
    /// The collection that it belongs to.
    pub collection: String,
    /// Its title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its version, as its path says.
    pub version: String,
    /// How many chunks it has.
    pub chunks: u64,
    /// How long it was when it was read.
    pub bytes: u64,
    /// Who may see it.
    pub scope: Scope,
    /// Whose it is.
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
    /// The last changed first.
    pub documents: Vec<Document>,
    /// How many there are in all.
    pub total: usize,
}
