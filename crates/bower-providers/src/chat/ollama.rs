//! Speaks Ollama's chat.

use serde_json::{Map, Value, json};

use crate::chat::message::{ChatAnswer, ChatRequest, ChatUsage, End, MOST_BYTES, Refused};
use crate::chat::message::{number, other_shape, put, text};
use crate::embed::check::Bad;
use crate::window::estimate_tokens;
use crate::wire::WireRequest;

/// Fields that a request can do without.
pub(super) const OPTIONAL: [&str; 5] = ["temperature", "think", "format", "num_predict", "num_ctx"];
/// The context of a request that is short: Ollama's own default cuts longer prompts without a word.
const FEWEST_CONTEXT: usize = 4_096;

pub(super) fn request(model: &str, ask: &ChatRequest, refused: &Refused) -> WireRequest {
    let mut options = Map::new();
    put(&mut options, refused, "num_predict", ask.most_tokens);
    let tokens = estimate_tokens(&ask.system) + estimate_tokens(&ask.user) + ask.most_tokens as usize;
    // A power of two: each other context loads the model again.
    put(&mut options, refused, "num_ctx", tokens.next_power_of_two().max(FEWEST_CONTEXT));
    if let Some(temperature) = ask.temperature {
        put(&mut options, refused, "temperature", temperature);
    }
    let mut body = Map::new();
    body.insert("model".into(), model.into());
    let messages = json!([{"role": "system", "content": ask.system}, {"role": "user", "content": ask.user}]);
    body.insert("messages".into(), messages);
    body.insert("stream".into(), false.into());
    body.insert("options".into(), options.into());
    let think = ask.effort.map_or(Value::Bool(false), |effort| effort.name().into());
    put(&mut body, refused, "think", think);
    if let Some(schema) = &ask.schema {
        put(&mut body, refused, "format", schema.clone());
    }
    WireRequest::json("/api/chat", &body, MOST_BYTES)
}

pub(super) fn read(body: &Value) -> Result<ChatAnswer, Bad> {
    let words = text(body, "/message/content").ok_or_else(|| other_shape("message"))?.to_owned();
    let end = match text(body, "/done_reason") {
        Some("stop") | None => End::Complete,
        Some("length") => End::Length,
        Some(other) => End::Other(other.to_owned()),
    };
    let usage = ChatUsage {
        input_tokens: number(body, "/prompt_eval_count"),
        output_tokens: number(body, "/eval_count"),
    };
    Ok(ChatAnswer { text: words, end, usage, left_out: Vec::new(), unanswered_tries: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::testing::{reads, with_schema};
    use crate::provider::Provider;
    use crate::wire::testing::check;

    #[test]
    fn a_body_is_that_of_the_contract() {
        let messages =
            json!([{"role": "system", "content": "be brief"}, {"role": "user", "content": "hello"}]);
        let expected = json!({"model": "qwen3:4b", "messages": messages, "stream": false, "think": false,
            "format": {"type": "object"}, "options": {"num_predict": 7, "num_ctx": 4096}});
        check(&request("qwen3:4b", &with_schema(), &Refused::new()), "/api/chat", &expected);
    }

    #[test]
    fn an_answer_has_text_end_and_counts() {
        let body = r#"{"message":{"role":"assistant","content":"a"},"done":true,"done_reason":"length",
            "prompt_eval_count":3,"eval_count":2}"#;
        let usage = ChatUsage { input_tokens: Some(3), output_tokens: Some(2) };
        let expected = ChatAnswer {
            text: "a".into(),
            end: End::Length,
            usage,
            left_out: Vec::new(),
            unanswered_tries: 0,
        };
        assert_eq!(reads(Provider::Ollama, body), Ok(expected));
    }
}
