//! Tests over real sockets which model is asked, which one stands in, what it costs, and that no key is shown.

use bower_core::Engine;
use bower_core::config::Settings;
use bower_core::engine::evaluation::Reranking;
use bower_core::item::{Dollars, LlmProvider, LlmTier, Rerank, Scored, Visibility};
use bower_core::request::{CurateRequest, ForgetRequest, Forgetting, LlmUse};
use bower_providers::fake::{FakeOptions, FakeServer, Fault};
use jiff::Timestamp;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

use crate::llm::{chosen, chosen_reranker};

const ALL: Visibility = Visibility::everything();
const NOW: Timestamp = Timestamp::UNIX_EPOCH;
const KEY: &str = "sk-4f9a1c77e0b2d5";
const GOOD: &str = r#"{"scores":[{"text":1,"score":2},{"text":2,"score":5}]}"#;
/// Its prices are $0.10 and $0.50.
const LITE: &str = "claude-haiku-5-5";
/// Its prices are $2 and $10.
const FLASH: &str = "claude-sonnet-5-5";

fn answering(answers: &[&str]) -> FakeOptions {
    let answers = answers.iter().map(|answer| (*answer).to_owned()).collect();
    FakeOptions { answers, answer: GOOD.into(), ..FakeOptions::default() }
}

/// Two tiers at Anthropic's dialect, both at one server.
fn settings(server: &FakeServer) -> Settings {
    Settings {
        llm: LlmProvider::Anthropic,
        llm_url: server.url(""),
        llm_model: LITE.into(),
        llm_flash: Some(format!("anthropic/{FLASH}")),
        llm_timeout_ms: 20_000,
        model: "none".into(),
        ..Settings::default()
    }
}

fn open(folder: &Path, settings: &Settings) -> Engine {
    let variable =
        |name: &str| matches!(name, "BOWER_LLM_KEY" | "CO_API_KEY" | "MY_KEY").then(|| KEY.to_owned());
    let engine = Engine::open(folder, settings.clone(), NOW).unwrap();
    let engine = match chosen(settings, variable) {
        Some(llms) => engine.with_llms(llms),
        None => engine,
    };
    match chosen_reranker(settings, variable) {
        Some(reranker) => engine.with_reranker(reranker),
        None => engine,
    }
}

fn ranked(engine: &Engine) -> Vec<Scored> {
    let row = |text: &str| {
        let kept = engine.curate(&ALL, &CurateRequest::new(text), NOW).unwrap();
        engine.get(&ALL, &kept.id.unwrap()).unwrap().row
    };
    ["the market is closed", "the bridge is by the river"]
        .map(|text| Scored { row: row(text), score: 0.4 })
        .into()
}

fn rerank(engine: &Engine, how: Rerank) -> Reranking {
    engine.rerank(&ALL, "where is the bridge", &ranked(engine), 10, how, NOW).unwrap()
}

fn uses(got: &Reranking) -> Vec<LlmUse> {
    got.uses.iter().cloned().collect()
}

/// Returns the models that a server was asked for.
fn asked(server: &FakeServer) -> Vec<String> {
    let model = |body: &[u8]| {
        serde_json::from_slice::<serde_json::Value>(body).unwrap()["model"].as_str().unwrap().to_owned()
    };
    server.requests().iter().map(|request| model(&request.body)).collect()
}

#[test]
fn the_next_tier_stands_in_and_the_reason_is_told() {
    let check = |fault: Fault, timeout_ms: u64, expected: &str| {
        let server =
            FakeServer::with_faults(answering(&[]), move |number| (number == 0).then(|| fault.clone()));
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings { llm_timeout_ms: timeout_ms, ..settings(&server) };
        let got = rerank(&open(folder.path(), &settings), Rerank::Llm);
        assert_eq!((got.order.clone(), got.degraded.clone()), (vec![1, 0], None), "{expected}");
        assert_eq!(asked(&server), [LITE, FLASH], "{expected}");
        let [first, second] = &uses(&got)[..] else { panic!("two models: {got:?}") };
        assert_eq!((first.model.as_str(), first.requests, first.failed), (LITE, 0, 1));
        assert!(first.failure.as_ref().unwrap().contains(expected), "{first:?}");
        assert_eq!((second.model.as_str(), second.requests, second.failed), (FLASH, 1, 0));
        // 3 tokens at $2 and 1 at $10, per million.
        assert_eq!(second.cost_dollars, Some(Dollars::of_billionths(16_000)));
        assert_eq!(got.effort.unwrap().model, FLASH);
    };
    check(
        Fault::with_body(401, r#"{"error":{"message":"invalid x-api-key"}}"#),
        20_000,
        "the key is missing or refused",
    );
    check(Fault::with_body(402, r#"{"error":{"message":"no credit"}}"#), 20_000, "out of credit");
    check(Fault::with_body(404, r#"{"error":{"message":"model not found"}}"#), 20_000, "no such model");
    check(Fault::Html, 20_000, "the answer has another format");
}

#[test]
fn a_model_that_is_late_leaves_the_order_and_is_named() {
    let slow = |_| Some(Fault::SlowHead(Duration::from_secs(20)));
    let server = FakeServer::with_faults(answering(&[]), slow);
    let folder = tempfile::tempdir().unwrap();
    let got =
        rerank(&open(folder.path(), &Settings { llm_timeout_ms: 100, ..settings(&server) }), Rerank::Llm);
    assert_eq!(got.order, [0, 1]);
    let reason = got.degraded.unwrap().reason;
    assert!(reason.contains("no answer in time") && reason.contains("no time was left"), "{reason}");
}

#[test]
fn an_answer_that_cannot_be_used_is_asked_for_once_more_with_the_reason() {
    let server = FakeServer::start(answering(&["I would rather not."]));
    let folder = tempfile::tempdir().unwrap();
    let got = rerank(&open(folder.path(), &settings(&server)), Rerank::Llm);
    assert_eq!((got.order.clone(), got.degraded.clone()), (vec![1, 0], None));
    let [used] = &uses(&got)[..] else { panic!("one model: {got:?}") };
    assert_eq!((used.requests, used.repaired, used.failed), (2, 1, 0));
    let second = String::from_utf8(server.requests()[1].body.clone()).unwrap();
    assert!(
        second.contains("I would rather not.") && second.contains("it has no score of a text"),
        "{second}"
    );

    let stubborn = FakeServer::start(FakeOptions { answer: "no".into(), ..FakeOptions::default() });
    let folder = tempfile::tempdir().unwrap();
    let got = rerank(&open(folder.path(), &settings(&stubborn)), Rerank::Llm);
    assert_eq!(
        (got.order, stubborn.requests().len()),
        (vec![0, 1], 2),
        "no other model is asked for what is a matter of form"
    );
    assert!(got.degraded.unwrap().reason.contains("also when asked again"));
}

#[test]
fn a_schema_is_sent_where_the_service_has_it() {
    let server = FakeServer::start(answering(&[]));
    let folder = tempfile::tempdir().unwrap();
    rerank(&open(folder.path(), &settings(&server)), Rerank::Llm);
    let body: serde_json::Value = serde_json::from_slice(&server.requests()[0].body).unwrap();
    let schema = &body["output_config"]["format"]["schema"];
    assert_eq!(schema["properties"]["scores"]["items"]["required"], serde_json::json!(["text", "score"]));
}

#[test]
fn the_same_request_is_answered_by_the_cache_at_no_cost() {
    let server = FakeServer::start(answering(&[]));
    let folder = tempfile::tempdir().unwrap();
    let settings = settings(&server);
    rerank(&open(folder.path(), &settings), Rerank::Llm);
    // Another process, with no key and no server to answer it.
    let got = rerank(&open(folder.path(), &settings), Rerank::Llm);
    assert_eq!((got.order.clone(), server.requests().len()), (vec![1, 0], 1));
    let [used] = &uses(&got)[..] else { panic!("one model: {got:?}") };
    assert_eq!((used.requests, used.cached, used.cost_dollars), (0, 1, Some(Dollars::ZERO)));
    let report = open(folder.path(), &settings).llm_report(NOW).unwrap();
    assert_eq!((report.cached_answers, report.cache_hits, report.spent_today.billionths()), (1, 1, 800));
    // Another model is another question, and so is a later month.
    let other = Settings { llm_model: "claude-opus-5-5".into(), ..settings.clone() };
    assert_eq!(uses(&rerank(&open(folder.path(), &other), Rerank::Llm))[0].cached, 0);
    let engine = open(folder.path(), &settings);
    let later = NOW + jiff::SignedDuration::from_hours(31 * 24);
    let got = engine.rerank(&ALL, "where is the bridge", &ranked(&engine), 10, Rerank::Llm, later).unwrap();
    assert_eq!(uses(&got)[0].cached, 0);
    let without = Settings { llm_cache_days: 0, ..settings };
    assert_eq!(uses(&rerank(&open(folder.path(), &without), Rerank::Llm))[0].cached, 0);
}

/// The prompt of these tests has about 700 bytes, with 512 tokens for what a service adds. At the lite model's prices one request
/// may cost $.00025 for two tries, and at the flash model's $.005.
#[test]
fn nothing_is_sent_that_may_exceed_a_budget() {
    let check = |change: &dyn Fn(&mut Settings), expected: &str| {
        let server = FakeServer::start(answering(&[]));
        let folder = tempfile::tempdir().unwrap();
        let mut settings = settings(&server);
        change(&mut settings);
        let got = rerank(&open(folder.path(), &settings), Rerank::Llm);
        assert_eq!((got.order, server.requests().len()), (vec![0, 1], 0), "{expected}");
        let reason = got.degraded.unwrap().reason;
        assert!(reason.contains(expected), "{reason}");
    };
    check(&|settings| settings.llm_budget_call = Some(0.0001), "left of llm_budget_call for this request");
    check(&|settings| settings.llm_budget_day = Some(0.0001), "left of llm_budget_day until tomorrow");
    let unknown = |settings: &mut Settings| {
        (settings.llm_budget_day, settings.llm_model) = (Some(100.0), "claude-sonnet-4-5".into());
        settings.llm_flash = None;
    };
    check(&unknown, "its price is not known, and a budget is set");
}

#[test]
fn a_model_that_stands_in_does_not_escape_the_budget() {
    let check = |change: &dyn Fn(&mut Settings)| {
        // The server fails after it was at work, so both tries may be billed.
        let server = FakeServer::with_faults(answering(&[]), |_| Some(Fault::status(503)));
        let folder = tempfile::tempdir().unwrap();
        let mut settings = settings(&server);
        change(&mut settings);
        let engine = open(folder.path(), &settings);
        let got = rerank(&engine, Rerank::Llm);
        assert!(asked(&server).iter().all(|model| model == LITE), "{:?}", asked(&server));
        let reason = got.degraded.unwrap().reason;
        assert!(
            reason.contains("the server failed") && reason.contains("it was not asked: it may cost"),
            "{reason}"
        );
        let report = engine.llm_report(NOW).unwrap();
        assert!(
            report.spent_today > Dollars::ZERO && report.spent_today < Dollars::cost(0.001),
            "{report:?}"
        );
    };
    check(&|settings| settings.llm_budget_call = Some(0.001));
    check(&|settings| settings.llm_budget_day = Some(0.001));
}

#[test]
fn processes_share_the_budget_of_a_day_and_the_next_day_begins_anew() {
    let server = FakeServer::start(answering(&[]));
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings {
        llm_cache_days: 0,
        llm_flash: None,
        // Room for the most of one request, and the 800 billionths that it really costs.
        llm_budget_day: Some(0.0005),
        ..settings(&server)
    };
    let [one, two] = [open(folder.path(), &settings), open(folder.path(), &settings)];
    let list = ranked(&one);
    let mut sent = 0;
    for round in 0..2_000 {
        let engine = if round % 2 == 0 { &one } else { &two };
        let got = engine.rerank(&ALL, "where is the bridge", &list, 10, Rerank::Llm, NOW).unwrap();
        if let Some(degraded) = got.degraded {
            assert!(degraded.reason.contains("left of llm_budget_day"), "{}", degraded.reason);
            break;
        }
        sent += 1;
    }
    assert!((100..600).contains(&sent), "{sent}");
    assert!(one.llm_report(NOW).unwrap().spent_today <= Dollars::limit(0.0005));
    let tomorrow = NOW + jiff::SignedDuration::from_hours(24);
    assert!(
        one.rerank(&ALL, "where is the bridge", &list, 10, Rerank::Llm, tomorrow).unwrap().degraded.is_none()
    );
}

#[test]
fn a_forgotten_word_is_in_no_cached_answer() {
    let told = r#"The zylophone is nearest. {"scores":[{"text":1,"score":2},{"text":2,"score":5}]}"#;
    let server = FakeServer::start(answering(&[told]));
    let folder = tempfile::tempdir().unwrap();
    let engine = open(folder.path(), &settings(&server));
    let kept =
        engine.curate(&ALL, &CurateRequest::new("The spare key lies in the zylophone case."), NOW).unwrap();
    rerank(&engine, Rerank::Llm);
    assert_eq!(engine.llm_report(NOW).unwrap().cached_answers, 1);
    assert!(engine.residue(&ALL, "zylophone").unwrap().found);
    let forgotten =
        engine.forget(&ALL, &Forgetting::of(ForgetRequest::Ids(vec![kept.id.unwrap()])), NOW).unwrap();
    assert_eq!(forgotten.receipt.answers, 1);
    let residue = engine.residue(&ALL, "zylophone").unwrap();
    assert!(!residue.found, "{residue:?}");
}

#[test]
fn a_service_reranks_and_its_failure_keeps_the_order() {
    let of_service = |server: &FakeServer| Settings {
        llm: LlmProvider::None,
        rerank_model: "cohere/rerank-v5.0-fast".into(),
        rerank_url: Some(server.url("")),
        rerank_key_variable: Some("MY_KEY".into()),
        ..settings(server)
    };
    let server = FakeServer::start(FakeOptions::default());
    let folder = tempfile::tempdir().unwrap();
    let engine = open(folder.path(), &of_service(&server));
    let got = rerank(&engine, Rerank::Service);
    assert_eq!((got.order.clone(), got.degraded.clone()), (vec![1, 0], None));
    let effort = got.effort.clone().unwrap();
    assert_eq!(
        (effort.reranker, effort.model.as_str(), effort.scored),
        (Rerank::Service, "cohere/rerank-v5.0-fast", 2)
    );
    let [request] = &server.requests()[..] else { panic!("one request") };
    assert_eq!(request.path, "/v2/rerank");
    assert!(request.head.contains(&format!("authorization: Bearer {KEY}")), "{}", request.head);
    // Two texts of 20 and 26 bytes, the question's 19 twice, and 16 tokens with each, at $.02 a million.
    let used = &uses(&got)[0];
    assert_eq!(
        (used.requests, used.cost_dollars),
        (1, Some(Dollars::of_billionths((20 + 26 + 2 * 19 + 32) * 20)))
    );
    assert_eq!(engine.llm_report(NOW).unwrap().spent_today, used.cost_dollars.unwrap());

    let refused = |change: &dyn Fn(&mut Settings), fault: Option<Fault>, expected: &str| {
        let server = FakeServer::with_faults(FakeOptions::default(), move |_| fault.clone());
        let folder = tempfile::tempdir().unwrap();
        let mut settings = of_service(&server);
        change(&mut settings);
        let got = rerank(&open(folder.path(), &settings), Rerank::Service);
        let reason = got.degraded.unwrap().reason;
        assert_eq!(got.order, [0, 1]);
        assert!(reason.contains(expected) && !reason.contains(KEY), "{reason}");
    };
    refused(
        &|_| (),
        Some(Fault::with_body(401, r#"{"message":"invalid api token"}"#)),
        "the key is missing or refused",
    );
    let late = |settings: &mut Settings| settings.llm_timeout_ms = 60;
    refused(&late, Some(Fault::SlowHead(Duration::from_secs(20))), "no answer in time");
    refused(&|settings| settings.llm_budget_day = Some(0.000_001), None, "left of llm_budget_day");
    let local = |settings: &mut Settings| settings.rerank_model = "ms-marco-MiniLM-L6-v2".into();
    refused(&local, None, "no service is chosen: set rerank_model to PROVIDER/MODEL");
}

#[test]
fn a_test_asks_one_tier_and_names_what_it_took() {
    let server =
        FakeServer::start(FakeOptions { answer: r#"{"answer":"ready"}"#.into(), ..FakeOptions::default() });
    let folder = tempfile::tempdir().unwrap();
    let engine = open(folder.path(), &settings(&server));
    let tested = engine.test_llm(LlmTier::Flash, NOW).unwrap();
    assert_eq!((tested.model.as_str(), tested.input_tokens, tested.output_tokens), (FLASH, Some(3), Some(1)));
    assert_eq!(tested.cost_dollars, Some(Dollars::of_billionths(16_000)));
    engine.test_llm(LlmTier::Flash, NOW).unwrap();
    assert_eq!(server.requests().len(), 2, "a test is never answered by the cache");
}

/// Whatever fails, the key is in no file below the home, and in nothing that is told.
#[test]
fn a_key_is_in_no_file_and_in_nothing_that_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let mut told = String::new();
    let echo = format!(r#"{{"error":{{"message":"your key {KEY} is wrong"}}}}"#);
    for fault in [
        None,
        Some(Fault::with_body(401, &echo)),
        Some(Fault::with_body(500, &echo)),
        Some(Fault::Success(echo.clone())),
    ] {
        let server = FakeServer::with_faults(answering(&[]), move |_| fault.clone());
        let engine = open(folder.path(), &Settings { llm_cache_days: 0, ..settings(&server) });
        let got = rerank(&engine, Rerank::Llm);
        assert!(String::from_utf8_lossy(&server.bytes()).contains(KEY), "it was sent to the server");
        let _ = write!(
            told,
            "{got:?} {:?} {:?}",
            engine.llm_report(NOW).unwrap(),
            engine.test_llm(LlmTier::Lite, NOW)
        );
        told += &serde_json::to_string(&engine.llm_report(NOW).unwrap()).unwrap();
    }
    assert!(told.contains("***") && !told.contains(KEY), "{told}");
    assert!(files(&folder).iter().all(|bytes| !bytes.windows(KEY.len()).any(|part| part == KEY.as_bytes())));
}

fn files(folder: &TempDir) -> Vec<Vec<u8>> {
    let (mut folders, mut all) = (vec![folder.path().to_path_buf()], Vec::new());
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { all.push(std::fs::read(path).unwrap()) }
        }
    }
    all
}
