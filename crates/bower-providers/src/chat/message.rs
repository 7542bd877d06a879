//! A request to a language model and its answer, with what all dialects read and write alike.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::embed::check::Bad;
use crate::failure::FailureKind;

/// Most bytes of an answer.
pub(super) const MOST_BYTES: u64 = 4 << 20;

/// One request to a language model.
#[derive(Clone, Debug, PartialEq)]
pub struct ChatRequest {
    /// The instructions.
    pub system: String,
    /// The data.
    pub user: String,
    /// The JSON schema that the answer follows, if there is one.
    pub schema: Option<Value>,
    /// Most tokens of the answer.
    pub most_tokens: u32,
    /// How random the answer is. `None` sends nothing: later models refuse the field.
    pub temperature: Option<f32>,
    /// How much the model thinks first. `None` is the model's default.
    pub effort: Option<Effort>,
    /// Whether a model that refuses to be told the most tokens is not asked: its answer could cost anything.
    pub must_be_limited: bool,
}

/// How much a model thinks before it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Little.
    Low,
    /// More.
    Medium,
    /// Much.
    High,
}

/// The answer of a language model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatAnswer {
    /// The text.
    pub text: String,
    /// Why it ended.
    pub end: End,
    /// The tokens.
    pub usage: ChatUsage,
    /// Fields that the model refuses, and that were left out. Without its field a schema is not followed.
    pub left_out: Vec<&'static str>,
    /// Tries before this answer that may have been billed.
    pub unanswered_tries: u32,
}

/// Why an answer ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// The model was done.
    Complete,
    /// The most tokens were reached.
    Length,
    /// Another reason, in the service's word.
    Other(String),
}

/// The tokens of a request and its answer, if the service reports them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChatUsage {
    /// Tokens of the request.
    pub input_tokens: Option<u64>,
    /// Tokens of the answer, with those of its thoughts.
    pub output_tokens: Option<u64>,
}

/// Fields that a model has refused.
pub(crate) type Refused = BTreeSet<&'static str>;

impl ChatRequest {
    /// Creates a request without a schema.
    pub fn new(system: &str, user: &str, most_tokens: u32) -> Self {
        Self {
            system: system.to_owned(),
            user: user.to_owned(),
            schema: None,
            most_tokens,
            temperature: None,
            effort: None,
            must_be_limited: false,
        }
    }
}

impl Effort {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// Adds a field unless the model has refused it.
pub(super) fn put(
    map: &mut Map<String, Value>,
    refused: &Refused,
    field: &'static str,
    value: impl Into<Value>,
) {
    if !refused.contains(field) {
        map.insert(field.to_owned(), value.into());
    }
}

pub(super) fn number(body: &Value, path: &str) -> Option<u64> {
    body.pointer(path).and_then(Value::as_u64)
}

pub(super) fn text<'a>(body: &'a Value, path: &str) -> Option<&'a str> {
    body.pointer(path).and_then(Value::as_str)
}

pub(super) fn refusal(words: &str) -> Bad {
    Bad { kind: FailureKind::ContentRefused, detail: words.to_owned() }
}

pub(super) fn other_shape(what: &str) -> Bad {
    Bad { kind: FailureKind::NotJson, detail: format!("it has no {what}") }
}
