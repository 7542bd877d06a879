//! Classifies an answer that is no success: its kind, the server's words, and whether it may be asked again.

use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::failure::FailureKind;
use crate::wait::{parse_duration, retry_after};
use crate::wire::WireAnswer;

/// A classified answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refusal {
    pub kind: FailureKind,
    /// The server's message, or the beginning of its body.
    pub detail: String,
    /// Whether the same request may succeed later.
    pub retried: bool,
    /// The wait that the server asks for.
    pub wait: Option<Duration>,
}

/// Parts of messages, in lower case, that say that a text or a batch is too long.
const SIZE: [&str; 15] = [
    "too large to process", // llama.cpp, also with status 500
    "physical batch size",
    "maximum context length", // OpenAI, vLLM
    "context length",         // Ollama, LM Studio
    "context window",
    "context size", // llama.cpp
    "too many tokens",
    "token limit",
    "max tokens per",
    "maximum number of tokens",
    "exceeds the maximum",
    "exceeds the limit",
    "batch size",
    "too long",
    "payload size",
];
/// Parts of messages and codes that say that money is missing, whatever the status.
const MONEY: [&str; 7] = [
    "insufficient_quota", // OpenAI, with status 429
    "usage limits",       // Anthropic, with status 400
    "credit balance",     // Anthropic, with status 400
    "billing_hard_limit",
    "exceeded your current quota, please check your plan and billing",
    "payment required",
    "insufficient balance",
];
/// Parts of messages and codes that say that the key is wrong, with status 400.
const KEY: [&str; 4] = ["api_key_invalid", "api key not valid", "invalid_api_key", "invalid api key"];
/// Parts of messages and codes that say that there is no such model, with status 400 or 404.
const MODEL: [&str; 4] =
    ["model_not_found", "no models loaded", "is not found for api version", "unknown model"];

/// Returns the kind of an answer; `None` if it is a success. `now` is the date that `Retry-After` refers to.
pub(crate) fn classify(answer: &WireAnswer, now: SystemTime) -> Option<Refusal> {
    if (200..300).contains(&answer.status) {
        return None;
    }
    if (300..400).contains(&answer.status) {
        let place = answer.header("location").unwrap_or("another address");
        let detail = format!("it redirects to {place} (status {}), which is not followed", answer.status);
        return Some(Refusal { kind: FailureKind::RefusedAddress, detail, retried: false, wait: None });
    }
    let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let message = message(&body);
    let all = body.to_string().to_ascii_lowercase();
    let kind = kind(answer.status, &body, &all);
    let words = message.unwrap_or_else(|| answer.beginning());
    let asked = retry_after(|name| answer.header(name), now).or_else(|| retry_info(&body));
    let may = may_retry(kind, answer.status);
    let retried = match answer.header("x-should-retry") {
        Some("false") => false,
        Some("true") => !is_permanent(kind),
        Some(_) | None => may,
    };
    let separator = if words.is_empty() { "" } else { ": " };
    let detail = format!("status {}{separator}{words}", answer.status);
    Some(Refusal { kind, detail, retried, wait: asked })
}

/// Returns the kind of a success that carries an error instead of a result.
pub(crate) fn error_within(answer: &WireAnswer) -> Option<Refusal> {
    let body: Value = serde_json::from_slice(&answer.body).ok()?;
    let error = body.get("error").filter(|error| !error.is_null() && **error != Value::Bool(false))?;
    let code = error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
    let status = code.filter(|code| (400..600).contains(code)).unwrap_or(500);
    let kind = kind(status, &body, &body.to_string().to_ascii_lowercase());
    let detail = format!("status {} with an error: {}", answer.status, message(&body).unwrap_or_default());
    Some(Refusal { kind, detail, retried: false, wait: retry_info(&body) })
}

/// Returns the server's message in any of the vendors' shapes.
pub(crate) fn message(body: &Value) -> Option<String> {
    // Gemini wraps some errors in a list.
    let body = body.get(0).unwrap_or(body);
    let error = body.get("error").unwrap_or(body);
    let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let of_list = |list: &Value| list.get(0)?.get("msg").and_then(text);
    text(error)
        .or_else(|| error.get("message").and_then(text))
        .or_else(|| body.get("detail").and_then(text))
        .or_else(|| body.get("detail").and_then(of_list))
        .or_else(|| body.get("message").and_then(text))
}

fn has(text: &str, parts: &[&str]) -> bool {
    parts.iter().any(|part| text.contains(part))
}

fn kind(status: u16, body: &Value, all: &str) -> FailureKind {
    let is_size = has(all, &SIZE);
    match status {
        402 => FailureKind::Money,
        400 | 403 | 429 if has(all, &MONEY) => FailureKind::Money,
        401 | 403 => FailureKind::Key,
        400 if has(all, &KEY) => FailureKind::Key,
        429 if is_daily(body) => FailureKind::DailyQuota,
        429 => FailureKind::Rate,
        400 if has(all, &MODEL) => FailureKind::ModelUnknown,
        404 => FailureKind::ModelUnknown,
        413 => FailureKind::TooLong,
        400 | 422 | 500 if is_size => FailureKind::TooLong,
        408 => FailureKind::Timeout,
        409 | 425 => FailureKind::Server,
        400..500 => FailureKind::BadRequest,
        _ => FailureKind::Server,
    }
}

/// Returns whether a 429 of Gemini is about the quota of a day.
fn is_daily(body: &Value) -> bool {
    let body = body.get(0).unwrap_or(body);
    let details = body.pointer("/error/details").and_then(Value::as_array);
    let mut violations =
        details.into_iter().flatten().filter_map(|detail| detail.get("violations")?.as_array());
    violations.any(|list| {
        list.iter().any(|violation| {
            let name = violation.get("quotaId").or_else(|| violation.get("quotaMetric"));
            let name = name.and_then(Value::as_str).unwrap_or_default().to_ascii_lowercase();
            name.contains("perday") || name.contains("per_day")
        })
    })
}

/// Returns the wait within Gemini's body: it sends no header.
fn retry_info(body: &Value) -> Option<Duration> {
    let body = body.get(0).unwrap_or(body);
    let details = body.pointer("/error/details")?.as_array()?;
    details.iter().find_map(|detail| parse_duration(detail.get("retryDelay")?.as_str()?))
}

/// Returns whether waiting cannot help, even if the server says so.
fn is_permanent(kind: FailureKind) -> bool {
    matches!(kind, FailureKind::Key | FailureKind::Money | FailureKind::DailyQuota | FailureKind::TooLong)
}

/// Returns whether answers of a status are asked again. 501 is a server without the function, e.g. llama.cpp without a
/// reranker.
fn may_retry(kind: FailureKind, status: u16) -> bool {
    !is_permanent(kind) && matches!(status, 408 | 409 | 425 | 429 | 500 | 502..=504 | 506..)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::testing::answer;

    fn of(status: u16, body: &str) -> Refusal {
        classify(&answer(status, body), SystemTime::UNIX_EPOCH).unwrap()
    }

    #[test]
    fn each_status_is_retried_or_never() {
        for status in [400, 401, 402, 403, 404, 413, 422, 424, 501, 505] {
            assert!(!of(status, "{}").retried, "{status}");
        }
        for status in [408, 409, 425, 429, 500, 502, 503, 504, 520, 529] {
            assert!(of(status, "{}").retried, "{status}");
        }
        assert_eq!(classify(&answer(200, "{}"), SystemTime::UNIX_EPOCH), None);
    }

    #[test]
    fn money_is_not_rate() {
        let check = |status: u16, body: &str, kind: FailureKind| {
            let refusal = of(status, body);
            assert_eq!((refusal.kind, refusal.retried), (kind, kind == FailureKind::Rate), "{body}");
        };
        let openai =
            |code: &str| format!(r#"{{"error":{{"message":"Slow down","type":"t","code":"{code}"}}}}"#);
        check(429, &openai("insufficient_quota"), FailureKind::Money);
        check(429, &openai("rate_limit_exceeded"), FailureKind::Rate);
        check(402, "", FailureKind::Money);
        let anthropic = |message: &str| {
            format!(r#"{{"type":"error","error":{{"type":"invalid_request_error","message":"{message}"}}}}"#)
        };
        check(400, &anthropic("You have reached your specified API usage limits."), FailureKind::Money);
        check(400, &anthropic("Your credit balance is too low"), FailureKind::Money);
        check(400, &anthropic("max_tokens: required"), FailureKind::BadRequest);
    }

    #[test]
    fn gemini_says_its_wait_in_the_body_and_a_day_is_permanent() {
        let body = |quota: &str| {
            format!(
                r#"{{"error":{{"code":429,"message":"Quota","status":"RESOURCE_EXHAUSTED","details":[
                {{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{{"quotaId":"{quota}"}}]}},
                {{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"45.837906927s"}}]}}}}"#
            )
        };
        let minute = of(429, &body("EmbedContentRequestsPerMinutePerUser"));
        assert_eq!((minute.kind, minute.retried), (FailureKind::Rate, true));
        assert_eq!(minute.wait, Some(Duration::from_nanos(45_837_906_927)));
        let day = of(429, &body("GenerateRequestsPerDayPerProjectPerModel-FreeTier"));
        assert_eq!((day.kind, day.retried), (FailureKind::DailyQuota, false));
        let list = of(429, &format!("[{}]", body("PerDay")));
        assert_eq!(list.kind, FailureKind::DailyQuota);
    }

    #[test]
    fn kinds_come_from_the_servers_words() {
        let check = |status: u16, body: &str, kind: FailureKind, detail: &str| {
            let refusal = of(status, body);
            assert_eq!((refusal.kind, refusal.detail.as_str()), (kind, detail), "{body}");
        };
        let llama = r#"{"error":{"code":500,"message":"input (900 tokens) is too large to process. increase the physical batch size (current batch size: 512)","type":"server_error"}}"#;
        let refusal = of(500, llama);
        assert_eq!((refusal.kind, refusal.retried), (FailureKind::TooLong, false));
        check(401, r#"{"error":{"message":"no"}}"#, FailureKind::Key, "status 401: no");
        let gemini = r#"{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT"}}"#;
        check(400, gemini, FailureKind::Key, "status 400: API key not valid.");
        check(
            404,
            r#"{"error":"model \"x\" not found"}"#,
            FailureKind::ModelUnknown,
            "status 404: model \"x\" not found",
        );
        check(
            400,
            r#"{"error":"No models loaded"}"#,
            FailureKind::ModelUnknown,
            "status 400: No models loaded",
        );
        check(
            400,
            r#"{"detail":"Request to model exceeds the maximum"}"#,
            FailureKind::TooLong,
            "status 400: Request to model exceeds the maximum",
        );
        check(
            422,
            r#"{"detail":[{"msg":"field required"}]}"#,
            FailureKind::BadRequest,
            "status 422: field required",
        );
        check(400, r#"{"message":"bad texts"}"#, FailureKind::BadRequest, "status 400: bad texts");
        check(503, "<html>busy</html>", FailureKind::Server, "status 503: <html>busy</html>");
        check(413, "", FailureKind::TooLong, "status 413");
        check(
            400,
            r#"{"error":"the input length exceeds the context length"}"#,
            FailureKind::TooLong,
            "status 400: the input length exceeds the context length",
        );
    }

    #[test]
    fn x_should_retry_decides_except_where_waiting_cannot_help() {
        let with = |status: u16, value: &str| {
            let mut answer = answer(status, "{}");
            answer.headers.push(("X-Should-Retry".into(), value.into()));
            classify(&answer, SystemTime::UNIX_EPOCH).unwrap().retried
        };
        assert!(!with(500, "false"));
        assert!(with(400, "true"));
        assert!(!with(402, "true"));
        assert!(!with(401, "true"));
    }

    #[test]
    fn a_redirect_is_refused() {
        let mut answer = answer(302, "");
        answer.headers.push(("location".into(), "https://evil.example/".into()));
        let refusal = classify(&answer, SystemTime::UNIX_EPOCH).unwrap();
        assert_eq!((refusal.kind, refusal.retried), (FailureKind::RefusedAddress, false));
        assert!(refusal.detail.contains("https://evil.example/"));
    }

    #[test]
    fn a_success_may_carry_an_error() {
        let check = |body: &str, kind: Option<FailureKind>| {
            assert_eq!(error_within(&answer(200, body)).map(|refusal| refusal.kind), kind, "{body}");
        };
        check(r#"{"error":{"code":429,"message":"slow"}}"#, Some(FailureKind::Rate));
        check(r#"{"error":{"code":402,"message":"pay"}}"#, Some(FailureKind::Money));
        check(r#"{"error":"EOF"}"#, Some(FailureKind::Server));
        check(r#"{"error":null,"data":[]}"#, None);
        check(r#"{"data":[]}"#, None);
    }
}
