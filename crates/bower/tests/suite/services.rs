//! Tests that a service can make the vectors, through the program and over real connections: the switch, faults, keys.

use bower_providers::fake::{FakeOptions, FakeServer, Fault};
use serde_json::{Value, json};
use std::path::Path;

use crate::command::Home;

/// A key as no other text of a test has it.
const KEY: &str = "sk-test-5f1e9c7a2b";
const NAME: &str = "openai/text-embedding-3-small";

/// Returns a home with the local model and two memories.
fn home() -> Home {
    let home = Home::with_model().with("SERVICE_KEY", KEY);
    for text in ["The ferry leaves at seven in the morning.", "Ada Marsh keeps the keys of the boathouse."] {
        home.data(["curate", text]);
    }
    home.data(["config", "set", "model_key_variable", "SERVICE_KEY"]);
    home
}

fn server() -> FakeServer {
    FakeServer::start(FakeOptions { dimension: 1_536, ..FakeOptions::default() })
}

fn use_service(home: &Home, server: &FakeServer) -> Value {
    home.data(["model", "use", NAME, "--url", &server.url("/v1")])
}

fn asked(home: &Home) -> Value {
    home.data(["query", "when does the ferry leave in the morning"])
}

fn first(answer: &Value) -> &str {
    answer["results"][0]["memory"]["content"].as_str().unwrap_or_default()
}

/// Returns the texts that the server was asked to embed.
fn embedded(server: &FakeServer) -> String {
    server.requests().iter().map(|request| String::from_utf8_lossy(&request.body).into_owned()).collect()
}

fn holds(folder: &Path, needle: &str) -> bool {
    let entries = std::fs::read_dir(folder).unwrap().flatten();
    entries.into_iter().any(|entry| {
        let path = entry.path();
        if path.is_dir() {
            return holds(&path, needle);
        }
        let bytes = std::fs::read(&path).unwrap_or_default();
        bytes.windows(needle.len()).any(|window| window == needle.as_bytes())
    })
}

#[test]
fn the_bare_name_of_a_service_is_answered_with_its_models() {
    for (name, expected) in [("gemini", "gemini/gemini-embedding-001"), ("compatible/", "compatible/MODEL")] {
        let refused = Home::new().run(["model", "use", name]);
        assert_eq!(refused.status, 2, "{refused:?}");
        assert!(
            refused.out.contains("name the model of the service too") && refused.out.contains(expected),
            "{refused:?}"
        );
    }
}

#[test]
fn a_service_answers_after_its_vectors_are_made_and_its_key_is_kept_nowhere() {
    let (home, server) = (home(), server());
    let trial = home.data(["model", "use", NAME, "--url", &server.url("/v1"), "--dry-run"]);
    assert_eq!((&trial["host"], &trial["cost"]["waiting"]), (&json!("127.0.0.1"), &json!(2)));
    assert!(trial["dollars"].as_f64().is_some_and(|dollars| dollars < 0.01), "{trial}");
    assert_eq!(
        (server.requests().len(), asked(&home)["model_used"].clone()),
        (0, json!("all-MiniLM-L6-v2.i8-2"))
    );

    let used = use_service(&home, &server);
    assert_eq!((&used["switched"], &used["embedded"]), (&json!(true), &json!(2)));
    assert!(embedded(&server).contains("The ferry leaves at seven"), "{used}");
    let answer = asked(&home);
    assert_eq!((&answer["model_used"], &answer["degraded"]), (&used["identity"], &json!([])));
    assert!(first(&answer).contains("ferry"), "{answer}");
    // The question's vector is kept: asking again makes no call.
    let before = server.requests().len();
    asked(&home);
    assert_eq!(server.requests().len(), before);
    // The local model still judges what is told.
    assert!(home.run(["curate", "Thanks, that looks great to me!"]).out.contains("\"accepted\":false"));
    home.data(["curate", "The mill at Orsland grinds on Wednesdays."]);
    assert!(embedded(&server).contains("The mill at Orsland"));
    home.write("notes/tide.md", "# Tide\n\nThe tide table hangs in the harbour office.\n");
    let indexed = home.data(["index", "notes"]);
    assert_eq!((&indexed["embedded"], &indexed["degraded"]), (&json!(1), &json!([])));
    // The probe asks for one text as a question too.
    let again: Vec<String> =
        server.sent_again().into_iter().filter(|text| !text.starts_with("The car broke down")).collect();
    assert_eq!(again, [""; 0]);

    let authorized = server.requests().iter().all(|request| request.head.contains(&format!("Bearer {KEY}")));
    assert!(authorized && !holds(&home.home(), KEY));
    for arguments in [["config", "--format=text"], ["status", "--format=text"], ["doctor", "--format=text"]] {
        let ended = home.run(arguments);
        assert!(ended.status == 0 && !ended.out.contains(KEY) && !ended.talk.contains(KEY), "{ended:?}");
    }
    // `bower index` made the local vectors of what was written meanwhile.
    let back = home.data(["model", "back"]);
    assert_eq!((&back["model"], &back["embedded"]), (&json!("all-MiniLM-L6-v2"), &json!(0)));
    assert_eq!(home.data(["model", "back"])["model"], NAME);
    // Without --url the provider's own address is meant, and the key of the settings was for another host.
    let ended = home.run(["model", "use", "openai/text-embedding-3-large"]);
    assert!(
        ended.status == 3 && ended.out.contains("the key is for 127.0.0.1, not for api.openai.com"),
        "{ended:?}"
    );
    home.data(["model", "back"]);
    assert_eq!(home.data(["model", "drop", NAME])["vectors"], 4);
}

#[test]
fn without_the_service_words_answer_writes_wait_and_both_say_so() {
    let (home, server) = (home(), server());
    home.data(["config", "set", "model_offline", "none"]);
    use_service(&home, &server);
    drop(server);
    let answer = home.data(["query", "ferry"]);
    assert_eq!(answer.get("model_used"), None, "{answer}");
    assert!(first(&answer).contains("ferry"), "{answer}");
    let degraded = answer["degraded"].to_string();
    assert!(degraded.contains("\"vector\"") && degraded.contains(NAME), "{degraded}");
    let kept = home.data(["curate", "The mill at Orsland grinds on Wednesdays."]);
    assert!(kept["id"].is_string() && kept["degraded"].to_string().contains(NAME), "{kept}");
    home.write("notes/tide.md", "# Tide\n\nThe tide table hangs in the harbour office.\n");
    let indexed = home.data(["index", "notes"]);
    assert_eq!((&indexed["chunks_added"], &indexed["embedded"]), (&json!(1), &json!(0)));
    assert!(indexed["degraded"].to_string().contains(NAME), "{indexed}");
    assert_eq!(home.data(["status"])["unembedded"], 2);
    // Another server at another address makes the same vectors, but they are not compared with those of the first.
    let other = FakeServer::start(FakeOptions { dimension: 1_536, ..FakeOptions::default() });
    assert_eq!(use_service(&home, &other)["embedded"], 4);
}

#[test]
fn without_the_service_the_vectors_of_the_local_model_answer_and_the_answer_says_so() {
    let (home, server) = (home(), server());
    use_service(&home, &server);
    home.data(["curate", "The mill at Orsland grinds on Wednesdays."]);
    home.data(["index", "."]);
    drop(server);
    // No word of the question is in the text.
    let answer = home.data(["query", "at which time do boats depart?"]);
    assert_eq!(
        (first(&answer), &answer["model_used"]),
        ("The ferry leaves at seven in the morning.", &json!("all-MiniLM-L6-v2.i8-2"))
    );
    let degraded = answer["degraded"].to_string();
    assert!(
        degraded.contains(NAME) && degraded.contains("all-MiniLM-L6-v2.i8-2 were compared instead"),
        "{degraded}"
    );

    // What was written while the service was there has a local vector too.
    let later = home.data(["query", "when can flour be made?"]);
    assert!(first(&later).contains("mill at Orsland"), "{later}");
}

#[test]
fn auto_takes_the_service_whose_key_is_in_the_environment_or_the_local_model() {
    let told = |home: Home| home.data(["model", "use", "auto", "--dry-run"])["model"].clone();
    assert_eq!(told(Home::with_model().with("OPENAI_API_KEY", KEY)), "openai/text-embedding-3-small");
    assert_eq!(
        told(Home::with_model().with("OPENAI_API_KEY", KEY).with("GEMINI_API_KEY", KEY)),
        "gemini/gemini-embedding-001"
    );
    // A key for chat alone chooses nothing.
    assert_eq!(told(Home::with_model().with("ANTHROPIC_API_KEY", KEY)), "all-MiniLM-L6-v2");
    let home = Home::with_model();
    home.data(["curate", "The ferry leaves at seven in the morning."]);
    home.data(["model", "use", "auto"]);
    assert_eq!(home.data(["status"])["model"]["name"], "all-MiniLM-L6-v2");
    // A key that came later is no consent.
    let home = home.with("GEMINI_API_KEY", KEY);
    assert_eq!(home.data(["status"])["model"]["name"], "all-MiniLM-L6-v2");
    let shown = home.run(["config", "--format=text"]);
    assert!(shown.out.lines().any(|line| line.starts_with("model ") && line.contains("auto")), "{shown:?}");
}

#[test]
fn a_wrong_key_no_money_and_wrong_vectors_are_told_before_anything_is_switched() {
    let refused = |fault: Fault, expected: &str| {
        let home = home();
        let options = FakeOptions { dimension: 1_536, ..FakeOptions::default() };
        let server = FakeServer::with_faults(options, move |_| Some(fault.clone()));
        let ended = home.run(["model", "use", NAME, "--url", &server.url("/v1")]);
        assert!(ended.status != 0 && ended.out.contains(expected), "{expected}: {ended:?}");
        assert!(ended.out.contains(NAME) && !ended.out.contains(KEY), "{ended:?}");
        assert_eq!(asked(&home)["model_used"], "all-MiniLM-L6-v2.i8-2");
        assert!(!embedded(&server).contains("The ferry leaves at seven"), "nothing of the store was sent");
    };
    let said = |status: u16, kind: &str| {
        let body = json!({"error": {"message": format!("refused: {KEY}"), "type": kind, "code": kind}});
        Fault::Status(status, Vec::new(), body.to_string())
    };
    refused(said(401, "invalid_api_key"), "key");
    refused(said(429, "insufficient_quota"), "credit");
    refused(Fault::Unrelated, "paraphrases");
    refused(Fault::NaN, "NaN or infinite");
    refused(Fault::Html, "it may be another service's");
}

#[test]
fn a_key_that_was_laid_out_for_the_vendor_does_not_go_to_another_address() {
    let (home, server) = (Home::with_model().with("OPENAI_API_KEY", KEY), server());
    home.data(["curate", "The ferry leaves at seven in the morning."]);
    // A key in the environment is no consent: nothing is sent until a service is chosen.
    let status = home.run(["status", "--format=text"]);
    assert!(status.talk.contains("OPENAI_API_KEY is set"), "{status:?}");
    assert!(!status.talk.contains(KEY) && !status.out.contains(KEY), "{status:?}");
    let ended = home.run(["model", "use", NAME, "--url", &server.url("/v1")]);
    let bytes = String::from_utf8_lossy(&server.bytes()).into_owned();
    assert!(!bytes.contains(KEY) && !ended.out.contains(KEY), "{ended:?}");
}

#[test]
fn a_length_that_no_index_holds_is_refused_before_texts_are_sent() {
    let home = home();
    let server = FakeServer::start(FakeOptions { dimension: 1_001, ..FakeOptions::default() });
    let ended = home.run(["model", "use", "compatible/odd", "--url", &server.url("/v1")]);
    assert!(ended.status == 2 && ended.out.contains("use a multiple of 8 from 64 to 4096"), "{ended:?}");
    assert!(!embedded(&server).contains("The ferry"), "nothing of the store was sent");
}

#[test]
fn an_unknown_price_is_asked_about() {
    let (home, server) = (home(), server());
    let ended = home.run(["model", "use", "openai/text-embedding-9-huge", "--url", &server.url("/v1")]);
    assert!(ended.status == 2 && ended.out.contains("add --yes"), "{ended:?}");
    assert!(!embedded(&server).contains("The ferry"), "nothing of the store was sent");
    let used =
        home.data(["model", "use", "openai/text-embedding-9-huge", "--url", &server.url("/v1"), "--yes"]);
    assert_eq!((&used["embedded"], used.get("dollars")), (&json!(2), None));
    let file = std::fs::read_to_string(home.path("home/config.toml")).unwrap();
    assert!(file.contains("model_dimensions = 1536"), "{file}");
}
