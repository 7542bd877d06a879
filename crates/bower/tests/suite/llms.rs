//! Tests of language models through the program: their state, a test of one, a reranked question, and errors.

use bower_providers::fake::{FakeOptions, FakeServer, Fault};
use serde_json::json;

use crate::command::Home;

const KEY: &str = "sk-test-77ab1e9c0d";

fn home(server: &FakeServer) -> Home {
    let home = Home::new().with("ANTHROPIC_API_KEY", "sk-not-for-this-address").with("BOWER_LLM_KEY", KEY);
    for (name, value) in [("model", "none"), ("llm", "anthropic"), ("llm_model", "claude-haiku-5-5")] {
        home.data(["config", "set", name, value]);
    }
    home.data(["config", "set", "llm_url", &server.url("")]);
    home
}

#[test]
fn a_question_is_reranked_once_and_its_cost_is_told() {
    let answer = r#"{"scores":[{"text":1,"score":1},{"text":2,"score":5}]}"#;
    let server = FakeServer::start(FakeOptions { answer: answer.into(), ..FakeOptions::default() });
    let home = home(&server);
    for text in ["The ferry to the island leaves at noon.", "The ferry to the mainland leaves at seven."] {
        home.data(["curate", text]);
    }
    let ask = || home.data(["query", "when does the ferry leave", "--rerank", "llm"]);
    let used = ask()["effort"]["llm"][0].clone();
    let expected = json!({"operation": "rerank", "model": "claude-haiku-5-5", "requests": 1, "cached": 0, "repaired": 0, "failed": 0,
        "input_tokens": 3, "output_tokens": 1, "cost_dollars": 0.000_000_8});
    assert_eq!(used, expected);
    let again = ask()["effort"]["llm"][0].clone();
    assert_eq!((&again["requests"], &again["cached"], server.requests().len()), (&json!(0), &json!(1), 1));

    let status = home.data(["llm", "status"]);
    assert_eq!(status["tiers"].as_array().unwrap().len(), 4, "{status}");
    let tier = &status["tiers"][1];
    assert_eq!((&tier["tier"], &tier["key_variable"]), (&json!("lite"), &json!("BOWER_LLM_KEY")));
    assert_eq!((&status["cached_answers"], &status["cache_hits"]), (&json!(1), &json!(1)));
    assert!(!status.to_string().contains(KEY), "{status}");
}

#[test]
fn a_test_prints_what_it_took_or_why_it_failed() {
    let server = FakeServer::start(FakeOptions::default());
    let home = home(&server);
    let tested = home.data(["llm", "test", "--tier", "pro"]);
    assert_eq!((&tested["tier"], &tested["input_tokens"]), (&json!("pro"), &json!(3)));
    let refuse = format!(r#"{{"error":{{"message":"bad key {KEY}"}}}}"#);
    let server =
        FakeServer::with_faults(FakeOptions::default(), move |_| Some(Fault::with_body(401, &refuse)));
    home.data(["config", "set", "llm_url", &server.url("")]);
    let ended = home.run(["llm", "test"]);
    assert_ne!(ended.status, 0);
    assert!(ended.out.contains("the key is missing or refused") && !ended.out.contains(KEY), "{}", ended.out);
    assert!(home.data(["llm", "status"])["last_failure"]["reason"].as_str().unwrap().contains("refused"));
    home.data(["config", "set", "llm", "none"]);
    let ended = home.run(["llm", "test"]);
    assert!(ended.out.contains("no language model is chosen"), "{}", ended.out);
    let wrong = home.run(["config", "set", "llm_pro", "gpt"]);
    assert!(wrong.out.contains("PROVIDER/MODEL"), "{}", wrong.out);
}
