//! Tests that a server makes missing vectors, and follows the setting `model` without a restart.

use serde_json::{Value, json};

use super::Server;
use crate::command::{Home, until};
use crate::models;
use crate::watching::Watcher;

fn model_used(server: &Server) -> Value {
    let answer = server.post("/api/v1/query", &json!({"query": "when does the ferry leave"}));
    assert_eq!(answer.status, 200, "{answer:?}");
    let answer = answer.json();
    assert!(answer["results"][0]["memory"]["content"].as_str().unwrap().contains("ferry"), "{answer}");
    assert_eq!(answer["degraded"], json!([]), "{answer}");
    answer["model_used"].clone()
}

#[test]
fn a_model_that_another_process_chose_answers_without_a_restart() {
    let home = models::home();
    for text in ["The ferry leaves at seven in the morning.", "Ada Marsh keeps the keys of the boathouse."] {
        home.data(["curate", text]);
    }
    home.data(["model", "pull", "someone/small", "--from", "small"]);
    let server = Server::start(&home, []);
    assert_eq!(model_used(&server), "all-MiniLM-L6-v2.i8-2");
    let used = home.data(["model", "use", "someone/small"]);
    let identities = [json!("all-MiniLM-L6-v2.i8-2"), used["identity"].clone()];
    until("the new model answers", || {
        let used = model_used(&server);
        assert!(identities.contains(&used), "{used}");
        used == identities[1]
    });
    let health = server.get("/api/v1/health").json();
    assert_eq!((&health["status"], &health["queue"]), (&json!("ok"), &json!(0)), "{health}");
    assert_eq!(health["model"]["name"], "someone/small");
    assert!(health["cache"]["process"]["hits"].as_u64().unwrap() > 0, "{health}");

    // Named in the settings alone, a model's vectors are made first: here that of one item that it has not seen.
    server.post("/api/v1/curate", &json!({"content": "The mill at Orsland grinds on Wednesdays."}));
    home.data(["config", "set", "model", "all-MiniLM-L6-v2"]);
    until("the model of before answers", || model_used(&server) == identities[0]);
    assert_eq!(server.get("/api/v1/status").json()["unembedded"], 0);
}

/// A home with a model, and items that were kept without one.
fn without_vectors(items: usize) -> Home {
    let home = Home::with_model();
    for number in 0..items {
        home.write(
            &format!("docs/{number}.md"),
            format!("# Shed {number}\n\nThe key of shed {number} hangs on hook {number} beside the door of the boathouse.\n"),
        );
    }
    let indexed = home.data(["--set", "model=none", "index", "docs"]);
    assert_eq!(indexed["embedded"], 0, "{indexed}");
    home
}

fn unembedded(home: &Home) -> u64 {
    home.data(["status"])["unembedded"].as_u64().unwrap()
}

#[test]
fn a_server_that_is_killed_while_it_makes_vectors_loses_nothing() {
    let home = without_vectors(400);
    let waiting = unembedded(&home);
    assert_eq!(waiting, 400);
    for _ in 0..3 {
        let before = unembedded(&home);
        let mut server = Server::start(&home, []);
        until("some vectors are made", || unembedded(&home) < before);
        server.child.kill().unwrap();
        server.child.wait().unwrap();
    }
    let server = Server::start(&home, []);
    until("all vectors are made", || unembedded(&home) == 0);
    // The worker records its state a moment after its last batch.
    let worker = || server.get("/api/v1/health").json()["worker"].clone();
    until("the worker has nothing to do", || worker()["queue"] == json!(0));
    let worker = worker();
    assert_eq!(worker["is_coming"], json!(false), "{worker}");
    assert!(
        worker["written"].as_u64().unwrap() > 0 && worker["largest_batch"].as_u64().unwrap() <= 50,
        "{worker}"
    );
    let answer = server.post("/api/v1/query", &json!({"query": "shed 17"})).json();
    assert_eq!(answer["degraded"], json!([]), "{answer}");
    assert_eq!(home.run(["doctor"]).status, 0);
}

#[test]
fn a_watcher_makes_missing_vectors_too() {
    let home = without_vectors(1);
    let _watcher = Watcher::start(&home, "docs");
    home.data(["--set", "model=none", "curate", "The mill at Orsland grinds on Wednesdays."]);
    until("the vector is made", || unembedded(&home) == 0);
}
