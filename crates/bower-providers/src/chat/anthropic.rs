//! Speaks Anthropic's messages.

use serde_json::{Map, Value, json};

use crate::chat::message::{ChatAnswer, ChatRequest, ChatUsage, End, MOST_BYTES, Refused};
use crate::chat::message::{number, other_shape, put, refusal, text};
use crate::embed::check::Bad;
use crate::wire::WireRequest;

/// Fields that a request can do without.
pub(super) const OPTIONAL: [&str; 4] = ["temperature", "effort", "format", "output_config"];
/// The version of the format.
const VERSION: &str = "2023-06-01";

pub(super) fn request(model: &str, ask: &ChatRequest, refused: &Refused) -> WireRequest {
    let mut body = Map::new();
    body.insert("model".into(), model.into());
    body.insert("max_tokens".into(), ask.most_tokens.into());
    body.insert("system".into(), ask.system.as_str().into());
    body.insert("messages".into(), json!([{"role": "user", "content": ask.user}]));
    let mut output = Map::new();
    if let Some(schema) = &ask.schema {
        put(&mut output, refused, "format", json!({"type": "json_schema", "schema": schema}));
    }
    if let Some(effort) = ask.effort {
        put(&mut output, refused, "effort", effort.name());
    }
    if !output.is_empty() {
        put(&mut body, refused, "output_config", output);
    }
    if let Some(temperature) = ask.temperature {
        put(&mut body, refused, "temperature", temperature);
    }
    let mut request = WireRequest::json("/v1/messages", &body, MOST_BYTES);
    request.headers.push(("anthropic-version", VERSION.to_owned()));
    request
}

pub(super) fn read(body: &Value) -> Result<ChatAnswer, Bad> {
    let content = body.get("content").and_then(Value::as_array).ok_or_else(|| other_shape("content"))?;
    let texts = content.iter().filter(|part| text(part, "/type") == Some("text"));
    let words: String = texts.filter_map(|part| text(part, "/text")).collect();
    let end = match text(body, "/stop_reason") {
        Some("end_turn" | "stop_sequence") | None => End::Complete,
        Some("max_tokens") => End::Length,
        Some("refusal") => return Err(refusal(if words.is_empty() { "refusal" } else { &words })),
        Some(other) => End::Other(other.to_owned()),
    };
    let usage = ChatUsage {
        input_tokens: number(body, "/usage/input_tokens"),
        output_tokens: number(body, "/usage/output_tokens"),
    };
    Ok(ChatAnswer { text: words, end, usage, left_out: Vec::new(), unanswered_tries: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::Effort;
    use crate::chat::testing::{reads, with_schema};
    use crate::failure::FailureKind;
    use crate::provider::Provider;
    use crate::wire::testing::check;

    #[test]
    fn a_body_is_that_of_the_contract() {
        let ask = ChatRequest { effort: Some(Effort::High), ..with_schema() };
        let request = request("claude-haiku-5-5", &ask, &Refused::new());
        let expected = json!({
            "model": "claude-haiku-5-5", "max_tokens": 7, "system": "be brief",
            "messages": [{"role": "user", "content": "hello"}],
            "output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}, "effort": "high"},
        });
        check(&request, "/v1/messages", &expected);
        assert_eq!(request.headers, [("anthropic-version", "2023-06-01".to_owned())]);
    }

    #[test]
    fn an_answer_is_its_parts_of_type_text() {
        let body = r#"{"content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"a"}],
            "stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":2}}"#;
        let usage = ChatUsage { input_tokens: Some(3), output_tokens: Some(2) };
        let expected = ChatAnswer {
            text: "a".into(),
            end: End::Complete,
            usage,
            left_out: Vec::new(),
            unanswered_tries: 0,
        };
        assert_eq!(reads(Provider::Anthropic, body), Ok(expected));
        let refused = r#"{"content":[],"stop_reason":"refusal"}"#;
        assert_eq!(reads(Provider::Anthropic, refused), Err(FailureKind::ContentRefused));
    }
}
