//! Makes requests for one answer of a language model and reads it: one file a dialect, all of them pure.

mod anthropic;
mod gemini;
mod ollama;
mod openai;

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::embed::check::Bad;
use crate::failure::FailureKind;
use crate::provider::Provider;
use crate::refusal::error_within;
use crate::wire::{WireAnswer, WireRequest};

/// Most bytes of an answer.
const MOST_BYTES: u64 = 4 << 20;

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
        }
    }
}

impl Effort {
    fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// Returns the request, without the fields that the model has refused.
pub(crate) fn request(provider: Provider, model: &str, ask: &ChatRequest, refused: &Refused) -> WireRequest {
    match provider {
        Provider::Gemini => gemini::request(model, ask, refused),
        Provider::Anthropic => anthropic::request(model, ask, refused),
        Provider::Ollama => ollama::request(model, ask, refused),
        Provider::OpenAi
        | Provider::Voyage
        | Provider::Cohere
        | Provider::Mistral
        | Provider::Jina
        | Provider::Compatible => openai::request(provider, model, ask, refused),
    }
}

/// Returns the answer within a success.
pub(crate) fn read(provider: Provider, answer: &WireAnswer) -> Result<ChatAnswer, Bad> {
    if let Some(error) = error_within(answer) {
        return Err(Bad { kind: error.kind, detail: error.detail });
    }
    let body: Value = crate::embed::check::read(&answer.body)?;
    let read = match provider {
        Provider::Gemini => gemini::read(&body),
        Provider::Anthropic => anthropic::read(&body),
        Provider::Ollama => ollama::read(&body),
        Provider::OpenAi
        | Provider::Voyage
        | Provider::Cohere
        | Provider::Mistral
        | Provider::Jina
        | Provider::Compatible => openai::read(&body),
    }?;
    if read.text.trim().is_empty() {
        let detail = match read.end {
            End::Complete => "it has no text".to_owned(),
            End::Length => "it has no text: its tokens were used up by thoughts".to_owned(),
            End::Other(reason) => format!("it has no text: {reason}"),
        };
        return Err(Bad { kind: FailureKind::NotJson, detail });
    }
    Ok(read)
}

/// Returns the field that an answer with status 400 refuses, if the request had it and can do without.
pub(crate) fn refused_field(
    provider: Provider,
    sent: &WireRequest,
    answer: &WireAnswer,
) -> Option<&'static str> {
    if !matches!(answer.status, 400 | 422) {
        return None;
    }
    let fields: &[&'static str] = match provider {
        Provider::Gemini => &gemini::OPTIONAL,
        Provider::Anthropic => &anthropic::OPTIONAL,
        Provider::Ollama => &ollama::OPTIONAL,
        Provider::OpenAi
        | Provider::Voyage
        | Provider::Cohere
        | Provider::Mistral
        | Provider::Jina
        | Provider::Compatible => &openai::OPTIONAL,
    };
    let sent: Value = serde_json::from_slice(&sent.body).ok()?;
    let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let named = body.pointer("/error/param").and_then(Value::as_str).unwrap_or_default();
    let message = crate::refusal::message(&body).unwrap_or_else(|| answer.beginning());
    let is_sent = |field: &&&'static str| has_key(&sent, field);
    let by = |text: &str| fields.iter().filter(is_sent).find(|field| names(text, field)).copied();
    by(named).or_else(|| by(&message))
}

fn has_key(value: &Value, key: &str) -> bool {
    match value {
        // A schema is data: its names are not ours.
        Value::Object(map) => {
            let inner = map.iter().filter(|(name, _)| !is_schema(name));
            map.contains_key(key) || inner.map(|(_, value)| value).any(|value| has_key(value, key))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => false,
    }
}

fn is_schema(name: &str) -> bool {
    matches!(name, "schema" | "responseJsonSchema" | "format")
}

/// Returns whether a text has a field's name as a word, also in snake case.
fn names(text: &str, field: &str) -> bool {
    let mut snake = String::new();
    for c in field.chars() {
        if c.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    words.into_iter().any(|word| word == field || word == snake)
}

/// Adds a field unless the model has refused it.
fn put(map: &mut Map<String, Value>, refused: &Refused, field: &'static str, value: impl Into<Value>) {
    if !refused.contains(field) {
        map.insert(field.to_owned(), value.into());
    }
}

fn number(body: &Value, path: &str) -> Option<u64> {
    body.pointer(path).and_then(Value::as_u64)
}

fn text<'a>(body: &'a Value, path: &str) -> Option<&'a str> {
    body.pointer(path).and_then(Value::as_str)
}

fn refusal(words: &str) -> Bad {
    Bad { kind: FailureKind::ContentRefused, detail: words.to_owned() }
}

fn other_shape(what: &str) -> Bad {
    Bad { kind: FailureKind::NotJson, detail: format!("it has no {what}") }
}

#[cfg(test)]
mod testing {
    use super::*;
    use serde_json::json;

    /// Returns a request with a schema.
    pub fn with_schema() -> ChatRequest {
        ChatRequest { schema: Some(json!({"type": "object"})), ..ChatRequest::new("be brief", "hello", 7) }
    }

    /// Reads the text, or the kind of the failure.
    pub fn reads(provider: Provider, body: &str) -> Result<ChatAnswer, FailureKind> {
        read(provider, &crate::wire::testing::answer(200, body)).map_err(|bad| bad.kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::testing::answer;
    use serde_json::json;

    #[test]
    fn no_temperature_is_sent_unless_it_is_asked_for() {
        for provider in Provider::ALL {
            let ask = ChatRequest::new("s", "u", 7);
            let body = |ask: &ChatRequest, refused: &Refused| {
                String::from_utf8(request(provider, "m", ask, refused).body).unwrap()
            };
            assert!(!body(&ask, &Refused::new()).contains("temperature"), "{provider}");
            let warm = ChatRequest { temperature: Some(0.5), ..ask };
            assert!(body(&warm, &Refused::new()).contains("\"temperature\":0.5"), "{provider}");
            assert!(!body(&warm, &Refused::from(["temperature"])).contains("temperature"), "{provider}");
        }
    }

    #[test]
    fn a_refused_field_is_one_that_was_sent() {
        let check = |provider, body: Value, expected: Option<&str>| {
            let ask = ChatRequest {
                temperature: Some(0.0),
                effort: Some(Effort::Low),
                schema: Some(json!({"properties": {"system": {}}})),
                ..ChatRequest::new("s", "u", 7)
            };
            let sent = request(provider, "m", &ask, &Refused::new());
            assert_eq!(refused_field(provider, &sent, &answer(400, &body.to_string())), expected, "{body}");
        };
        let message = |message: &str| json!({"error": {"message": message}});
        let openai = Provider::OpenAi;
        check(openai, json!({"error": {"message": "no", "param": "temperature"}}), Some("temperature"));
        check(
            openai,
            message("Unsupported value: 'reasoning_effort' is not known"),
            Some("reasoning_effort"),
        );
        check(
            openai,
            message("Use 'max_tokens' in place of 'max_completion_tokens'"),
            Some("max_completion_tokens"),
        );
        check(openai, message("Unsupported parameter: 'max_tokens'"), None);
        check(openai, message("messages: too many"), None);
        check(
            Provider::Anthropic,
            message("output_config: Extra inputs are not permitted"),
            Some("output_config"),
        );
        check(
            Provider::Anthropic,
            message("`temperature` is deprecated for this model."),
            Some("temperature"),
        );
        check(
            Provider::Gemini,
            message("Unknown name \"thinking_config\" at 'generation_config'"),
            Some("thinkingConfig"),
        );
        check(Provider::Ollama, json!({"error": "\"m\" does not support think"}), Some("think"));
        let sent = request(openai, "m", &ChatRequest::new("s", "u", 7), &Refused::new());
        let body = r#"{"error":{"param":"max_completion_tokens"}}"#;
        assert_eq!(refused_field(openai, &sent, &answer(500, body)), None);
    }

    #[test]
    fn an_answer_without_text_or_with_an_error_is_a_failure() {
        let check = |body: &str, kind| {
            assert_eq!(testing::reads(Provider::OpenAi, body), Err(kind), "{body}");
        };
        check("<html>", FailureKind::NotJson);
        check(r#"{"choices":[]}"#, FailureKind::NotJson);
        check(r#"{"choices":[{"message":{"content":" "},"finish_reason":"length"}]}"#, FailureKind::NotJson);
        check(r#"{"error":{"message":"no credit","code":402}}"#, FailureKind::Money);
    }
}
