//! Speaks `OpenAI`'s chat completions, also with the older name of the most tokens.

use serde_json::{Map, Value, json};

use crate::chat::message::{ChatAnswer, ChatRequest, ChatUsage, End, MOST_BYTES, Refused};
use crate::chat::message::{number, other_shape, put, refusal, text};
use crate::embed::check::Bad;
use crate::provider::Provider;
use crate::wire::WireRequest;

/// Fields that a request can do without.
pub(super) const OPTIONAL: [&str; 5] =
    ["temperature", "reasoning_effort", "response_format", "max_completion_tokens", "max_tokens"];

pub(super) fn request(provider: Provider, model: &str, ask: &ChatRequest, refused: &Refused) -> WireRequest {
    let mut body = Map::new();
    body.insert("model".into(), model.into());
    let messages = json!([{"role": "system", "content": ask.system}, {"role": "user", "content": ask.user}]);
    body.insert("messages".into(), messages);
    let names = match provider {
        Provider::OpenAi => ["max_completion_tokens", "max_tokens"],
        Provider::Gemini
        | Provider::Voyage
        | Provider::Ollama
        | Provider::Cohere
        | Provider::Mistral
        | Provider::Jina
        | Provider::Anthropic
        | Provider::Compatible => ["max_tokens", "max_completion_tokens"],
    };
    // Where one name is refused, the other one is right.
    if let Some(name) = names.into_iter().find(|name| !refused.contains(name)) {
        body.insert(name.into(), ask.most_tokens.into());
    }
    if let Some(temperature) = ask.temperature {
        put(&mut body, refused, "temperature", temperature);
    }
    if let Some(effort) = ask.effort {
        put(&mut body, refused, "reasoning_effort", effort.name());
    }
    if let Some(schema) = &ask.schema {
        let schema = json!({"name": "answer", "strict": is_strict(schema), "schema": schema});
        let format = json!({"type": "json_schema", "json_schema": schema});
        put(&mut body, refused, "response_format", format);
    }
    WireRequest::json("/chat/completions", &body, MOST_BYTES)
}

/// Returns whether a schema has what strict mode demands: each object names all its fields as required and allows no others.
fn is_strict(schema: &Value) -> bool {
    match schema {
        Value::Object(map) => {
            let fields = map.get("properties").and_then(Value::as_object);
            let required = map.get("required").and_then(Value::as_array);
            let complete = fields.is_none_or(|fields| {
                let all = required.map_or(0, Vec::len) == fields.len();
                all && map.get("additionalProperties") == Some(&Value::Bool(false))
            });
            let object = map.get("type").and_then(Value::as_str) == Some("object");
            complete && (fields.is_some() || !object) && map.values().all(is_strict)
        }
        Value::Array(list) => list.iter().all(is_strict),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

pub(super) fn read(body: &Value) -> Result<ChatAnswer, Bad> {
    let choice = body.pointer("/choices/0").ok_or_else(|| other_shape("choice"))?;
    if let Some(words) = text(choice, "/message/refusal").filter(|words| !words.is_empty()) {
        return Err(refusal(words));
    }
    let end = match text(choice, "/finish_reason") {
        Some("stop") | None => End::Complete,
        Some("length") => End::Length,
        Some("content_filter") => return Err(refusal("content_filter")),
        Some(other) => End::Other(other.to_owned()),
    };
    let usage = ChatUsage {
        input_tokens: number(body, "/usage/prompt_tokens"),
        output_tokens: number(body, "/usage/completion_tokens"),
    };
    let text = match text(choice, "/message/content") {
        // A call of a tool has no content, and is no answer.
        None if end == End::Complete => return Err(other_shape("text")),
        content => content.unwrap_or_default().to_owned(),
    };
    Ok(ChatAnswer { text, end, usage, left_out: Vec::new(), unanswered_tries: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::Effort;
    use crate::chat::testing::{reads, with_schema};
    use crate::failure::FailureKind;
    use crate::wire::testing::check;

    #[test]
    fn a_body_is_that_of_the_contract() {
        let messages =
            json!([{"role": "system", "content": "be brief"}, {"role": "user", "content": "hello"}]);
        let ask = ChatRequest { effort: Some(Effort::Low), ..with_schema() };
        let format = json!({"type": "json_schema", "json_schema":
            {"name": "answer", "strict": false, "schema": {"type": "object"}}});
        let expected = json!({"model": "gpt-6-luna", "messages": messages, "max_completion_tokens": 7,
            "reasoning_effort": "low", "response_format": format});
        let path = "/chat/completions";
        check(&request(Provider::OpenAi, "gpt-6-luna", &ask, &Refused::new()), path, &expected);
        let old = json!({"model": "m", "messages": messages, "max_tokens": 7});
        let refused = Refused::from(["max_completion_tokens", "response_format"]);
        check(&request(Provider::OpenAi, "m", &with_schema(), &refused), path, &old);
        let plain = ChatRequest { schema: None, ..with_schema() };
        check(&request(Provider::Compatible, "m", &plain, &Refused::new()), path, &old);
    }

    #[test]
    fn a_schema_is_strict_if_it_names_all() {
        let field = json!({"type": "string"});
        let strict = json!({"type": "object", "properties": {"a": field}, "required": ["a"], "additionalProperties": false});
        assert!(is_strict(&strict));
        assert!(is_strict(&json!({"type": "array", "items": strict})));
        assert!(!is_strict(&json!({"type": "object", "properties": {"a": field}, "required": ["a"]})));
        assert!(!is_strict(
            &json!({"type": "object", "properties": {"a": field}, "additionalProperties": false})
        ));
    }

    #[test]
    fn an_answer_has_text_end_and_usage() {
        let body = r#"{"choices":[{"message":{"content":"hi"},"finish_reason":"length"}],
            "usage":{"prompt_tokens":3,"completion_tokens":2}}"#;
        let usage = ChatUsage { input_tokens: Some(3), output_tokens: Some(2) };
        let expected = ChatAnswer {
            text: "hi".into(),
            end: End::Length,
            usage,
            left_out: Vec::new(),
            unanswered_tries: 0,
        };
        assert_eq!(reads(Provider::OpenAi, body), Ok(expected));
        let body = r#"{"choices":[{"message":{"content":null,"refusal":"no"},"finish_reason":"stop"}]}"#;
        assert_eq!(reads(Provider::OpenAi, body), Err(FailureKind::ContentRefused));
    }
}
