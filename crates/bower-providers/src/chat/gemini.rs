//! Speaks Gemini's generateContent.

use serde_json::{Map, Value, json};

use crate::address::path_part;
use crate::chat::message::{ChatAnswer, ChatRequest, ChatUsage, End, MOST_BYTES, Refused};
use crate::chat::message::{number, other_shape, put, refusal, text};
use crate::embed::check::Bad;
use crate::wire::WireRequest;

/// Fields that a request can do without.
pub(super) const OPTIONAL: [&str; 5] =
    ["temperature", "thinkingConfig", "responseJsonSchema", "responseMimeType", "maxOutputTokens"];

pub(super) fn request(model: &str, ask: &ChatRequest, refused: &Refused) -> WireRequest {
    let mut config = Map::new();
    put(&mut config, refused, "maxOutputTokens", ask.most_tokens);
    if let Some(schema) = &ask.schema {
        put(&mut config, refused, "responseMimeType", "application/json");
        put(&mut config, refused, "responseJsonSchema", schema.clone());
    }
    if let Some(temperature) = ask.temperature {
        put(&mut config, refused, "temperature", temperature);
    }
    if let Some(effort) = ask.effort {
        put(&mut config, refused, "thinkingConfig", json!({"thinkingLevel": effort.name()}));
    }
    let body = json!({
        "systemInstruction": {"parts": [{"text": ask.system}]},
        "contents": [{"role": "user", "parts": [{"text": ask.user}]}],
        "generationConfig": config,
    });
    let model = model.strip_prefix("models/").unwrap_or(model);
    WireRequest::json(format!("/models/{}:generateContent", path_part(model)), &body, MOST_BYTES)
}

pub(super) fn read(body: &Value) -> Result<ChatAnswer, Bad> {
    if let Some(reason) = text(body, "/promptFeedback/blockReason") {
        return Err(refusal(reason));
    }
    let candidate = body.pointer("/candidates/0").ok_or_else(|| other_shape("candidate"))?;
    let end = match text(candidate, "/finishReason") {
        Some("STOP") | None => End::Complete,
        Some("MAX_TOKENS") => End::Length,
        Some(reason @ ("SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII")) => {
            return Err(refusal(reason));
        }
        Some(other) => End::Other(other.to_owned()),
    };
    let parts = candidate.pointer("/content/parts").and_then(Value::as_array);
    // Thoughts are parts too.
    let parts = parts.into_iter().flatten().filter(|part| part.get("thought") != Some(&Value::Bool(true)));
    let words: String = parts.filter_map(|part| text(part, "/text")).collect();
    let thoughts = number(body, "/usageMetadata/thoughtsTokenCount").unwrap_or(0);
    let usage = ChatUsage {
        input_tokens: number(body, "/usageMetadata/promptTokenCount"),
        output_tokens: number(body, "/usageMetadata/candidatesTokenCount").map(|tokens| tokens + thoughts),
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
        let ask = ChatRequest { effort: Some(Effort::Low), ..with_schema() };
        let expected = json!({
            "systemInstruction": {"parts": [{"text": "be brief"}]},
            "contents": [{"role": "user", "parts": [{"text": "hello"}]}],
            "generationConfig": {"maxOutputTokens": 7, "responseMimeType": "application/json",
                "responseJsonSchema": {"type": "object"}, "thinkingConfig": {"thinkingLevel": "low"}},
        });
        let path = "/models/gemini-3.8-flash:generateContent";
        check(&request("gemini-3.8-flash", &ask, &Refused::new()), path, &expected);
    }

    #[test]
    fn an_answer_is_its_parts_without_thoughts() {
        let body = r#"{"candidates":[{"content":{"parts":[{"text":"hm","thought":true},{"text":"a"},{"text":"b"}]},
            "finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":2,"thoughtsTokenCount":4}}"#;
        let usage = ChatUsage { input_tokens: Some(3), output_tokens: Some(6) };
        let expected = ChatAnswer {
            text: "ab".into(),
            end: End::Complete,
            usage,
            left_out: Vec::new(),
            unanswered_tries: 0,
        };
        assert_eq!(reads(Provider::Gemini, body), Ok(expected));
        let blocked = r#"{"promptFeedback":{"blockReason":"SAFETY"}}"#;
        assert_eq!(reads(Provider::Gemini, blocked), Err(FailureKind::ContentRefused));
        let stopped = r#"{"candidates":[{"finishReason":"SAFETY"}]}"#;
        assert_eq!(reads(Provider::Gemini, stopped), Err(FailureKind::ContentRefused));
    }
}
