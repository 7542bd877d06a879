//! Makes requests for one answer of a language model and reads it: one file a dialect, all of them pure.

mod anthropic;
mod gemini;
mod message;
mod ollama;
mod openai;

use serde_json::Value;

use crate::embed::check::Bad;
use crate::failure::FailureKind;
use crate::provider::Provider;
use crate::refusal::error_within;
use crate::wire::{WireAnswer, WireRequest};

pub(crate) use message::Refused;
pub use message::{ChatAnswer, ChatRequest, ChatUsage, Effort, End};

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

/// Returns whether a request without some fields still says how many tokens its answer may have.
pub(crate) fn is_limited(provider: Provider, refused: &Refused) -> bool {
    match provider {
        Provider::Gemini => !refused.contains("maxOutputTokens"),
        Provider::Anthropic => true,
        Provider::Ollama => !refused.contains("num_predict"),
        Provider::OpenAi
        | Provider::Voyage
        | Provider::Cohere
        | Provider::Mistral
        | Provider::Jina
        | Provider::Compatible => {
            !(refused.contains("max_tokens") && refused.contains("max_completion_tokens"))
        }
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
    // A model that was done may have nothing to say.
    let reason = match &read.end {
        End::Complete => return Ok(read),
        End::Length => "its tokens were used up by thoughts",
        End::Other(reason) => reason,
    };
    if read.text.trim().is_empty() {
        let detail = format!("it has no text: {reason}");
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
