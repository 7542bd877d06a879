//! Tests chat and rerank over real connections.

use std::time::Duration;

use bower_providers::fake::{FakeOptions, FakeServer, Fault};
use bower_providers::{
    ChatRequest, ChatUsage, Effort, End, FailureKind, Provider, RemoteChat, RemoteReranker,
};
use serde_json::json;

use crate::support::connection;

const TIME: Duration = Duration::from_secs(20);
const CHATS: [Provider; 5] =
    [Provider::OpenAi, Provider::Compatible, Provider::Gemini, Provider::Anthropic, Provider::Ollama];

fn ask() -> ChatRequest {
    ChatRequest {
        schema: Some(json!({"type": "object"})),
        temperature: Some(0.0),
        effort: Some(Effort::Low),
        ..ChatRequest::new("be brief", "hello", 7)
    }
}

#[test]
fn every_dialect_answers() {
    for provider in CHATS {
        let server = FakeServer::start(FakeOptions::default());
        let chat = RemoteChat::new(connection(provider, &server, "").0, "m").unwrap();
        let answer = chat.complete(&ChatRequest::new("be brief", "hello", 7), TIME).unwrap();
        assert_eq!((answer.text.as_str(), answer.end), ("hello", End::Complete), "{provider}");
        let usage = ChatUsage { input_tokens: Some(3), output_tokens: Some(1) };
        assert_eq!(answer.usage, usage, "{provider}");
        let body = String::from_utf8(server.requests()[0].body.clone()).unwrap();
        assert!(!body.contains("temperature") && body.contains("be brief") && body.contains("hello"));
    }
}

#[test]
fn a_refused_field_is_left_out_once_and_for_all() {
    for provider in CHATS {
        let server =
            FakeServer::start(FakeOptions { refused_fields: vec!["temperature"], ..FakeOptions::default() });
        let chat = RemoteChat::new(connection(provider, &server, "").0, "m").unwrap();
        for _ in 0..2 {
            let answer = chat.complete(&ask(), TIME).unwrap();
            assert_eq!((answer.text.as_str(), answer.left_out), ("hello", vec!["temperature"]));
        }
        let bodies: Vec<bool> = server
            .requests()
            .iter()
            .map(|request| String::from_utf8_lossy(&request.body).contains("temperature"))
            .collect();
        assert_eq!(bodies, [true, false, false], "{provider}");
    }
}

#[test]
fn the_older_name_of_the_most_tokens_replaces_the_newer_one() {
    for (provider, refused, kept) in [
        (Provider::OpenAi, "max_completion_tokens", "max_tokens"),
        (Provider::Compatible, "max_tokens", "max_completion_tokens"),
    ] {
        let refused_fields = vec![refused, "reasoning_effort"];
        let server = FakeServer::start(FakeOptions { refused_fields, ..FakeOptions::default() });
        let chat = RemoteChat::new(connection(provider, &server, "").0, "m").unwrap();
        assert!(chat.complete(&ask(), TIME).is_ok());
        let requests = server.requests();
        let last = String::from_utf8_lossy(&requests[2].body).into_owned();
        assert_eq!(requests.len(), 3);
        assert!(last.contains(&format!("\"{kept}\":7")) && !last.contains(refused), "{last}");
        assert!(!last.contains("reasoning_effort") && last.contains("temperature"));
    }
}

#[test]
fn a_400_that_names_no_field_is_a_failure() {
    let body = r#"{"error":{"message":"messages: at least one is required"}}"#;
    let server = FakeServer::with_faults(FakeOptions::default(), move |_| Some(Fault::with_body(400, body)));
    let chat = RemoteChat::new(connection(Provider::OpenAi, &server, "").0, "m").unwrap();
    let failure = chat.complete(&ask(), TIME).unwrap_err();
    assert_eq!((failure.kind, server.requests().len()), (FailureKind::BadRequest, 1));
    assert!(failure.to_string().contains("at least one is required"));
    // A server that names a field whatever is sent is not asked for ever.
    let body = r#"{"error":{"message":"temperature","param":"temperature"}}"#;
    let server = FakeServer::with_faults(FakeOptions::default(), move |_| Some(Fault::with_body(400, body)));
    let chat = RemoteChat::new(connection(Provider::OpenAi, &server, "").0, "m").unwrap();
    assert!(chat.complete(&ask(), TIME).is_err());
    assert_eq!(server.requests().len(), 2);
    // It is not the field, so the next request has it again.
    assert!(chat.complete(&ask(), TIME).is_err());
    let last = server.requests().into_iter().nth(2).unwrap();
    assert!(String::from_utf8_lossy(&last.body).contains("temperature"));
}

#[test]
fn a_chat_has_one_more_try() {
    let server = FakeServer::with_faults(FakeOptions::default(), |_| Some(Fault::status(529)));
    let (connection, clock) = connection(Provider::Anthropic, &server, "");
    let chat = RemoteChat::new(connection, "m").unwrap();
    assert_eq!(chat.complete(&ask(), TIME).unwrap_err().kind, FailureKind::Server);
    assert_eq!((server.requests().len(), clock.waits().len()), (2, 1));
}

#[test]
fn a_reranker_scores_in_the_order_of_the_documents() {
    for provider in [Provider::Cohere, Provider::Voyage, Provider::Jina, Provider::Compatible] {
        let server = FakeServer::start(FakeOptions::default());
        let reranker = RemoteReranker::new(connection(provider, &server, "/v1").0, "m").unwrap();
        let documents = ["a bridge", "the red bridge of iron", "nothing", "the red house"];
        let scores = reranker.rerank("the red bridge", &documents, TIME).unwrap();
        assert_eq!(scores, [1.0, 3.0, 0.0, 2.0], "{provider}");
        assert_eq!(reranker.rerank("q", &[], TIME), Ok(Vec::new()));
        assert_eq!(server.requests().len(), 1);
    }
    let server = FakeServer::start(FakeOptions::default());
    assert!(RemoteReranker::new(connection(Provider::OpenAi, &server, "").0, "m").is_err());
}

#[test]
fn a_server_without_a_reranker_says_how_to_start_it() {
    let body = r#"{"error":{"code":501,"message":"This server does not support reranking."}}"#;
    let server = FakeServer::with_faults(FakeOptions::default(), move |_| Some(Fault::with_body(501, body)));
    let reranker = RemoteReranker::new(connection(Provider::Compatible, &server, "/v1").0, "m").unwrap();
    let failure = reranker.rerank("q", &["d"], TIME).unwrap_err();
    assert!(failure.to_string().contains("--reranking") && server.requests().len() == 1, "{failure}");
}
