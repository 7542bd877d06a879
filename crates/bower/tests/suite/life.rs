//! Tests what people do to memories by hand: verdicts, pins, runs over all of them, and undo.
//! It goes through the program.

use crate::command::Home;
use serde_json::Value;

fn keep<const N: usize>(home: &Home, arguments: [&str; N]) -> String {
    home.data(arguments)["id"].as_str().unwrap().to_owned()
}

#[test]
fn a_verdict_and_a_pin_are_kept_and_taken_back() {
    let home = Home::new();
    let id = keep(&home, ["curate", "The harbour office opens at nine"]);
    let got = home.data(["get", &id]);
    assert!(got["strength"].as_f64().unwrap() > 0.05, "{got}");
    let said = home.data(["feedback", &id[..8], "wrong"]);
    assert_eq!(
        (said["verdict"].as_str(), said["memory"]["confidence"].as_f64()),
        (Some("wrong"), Some(0.25))
    );
    assert_eq!(said["memory"]["status"], "candidate");
    assert_eq!(said["memory"]["access_count"], 1, "it was opened");
    let undone = home.data(["undo", &said["event"].to_string()]);
    assert_eq!(
        (undone["items"][0].as_str(), undone["action"].as_str()),
        (Some(id.as_str()), Some("feedback"))
    );
    assert_eq!(home.data(["get", &id])["memory"]["status"], "active");

    assert_eq!(home.data(["pin", &id])["memory"]["tier"], 1);
    assert_eq!(home.data(["pin", &id, "--off"])["memory"]["tier"], 2);
    let again = home.run(["undo", &said["event"].to_string()]);
    assert_ne!(again.status, 0);
    assert!(again.json()["data"]["error"].as_str().unwrap().contains("it changed since"), "{}", again.out);
    assert_eq!(home.run(["undo", "4711"]).status, 1, "not found");
    assert_eq!(home.run(["feedback", &id, "nice"]).status, 2);
}

#[test]
fn runs_say_what_they_did_and_status_shows_limits() {
    let home = Home::new();
    keep(&home, ["curate", "The harbour office opens at nine", "--scope", "mission", "--owner", "ada"]);
    let swept = home.data(["sweep", "--dry-run"]);
    assert_eq!((swept["archived"].as_u64(), swept["dry_run"].as_bool()), (Some(0), Some(true)));
    assert_eq!(swept.get("event"), None);
    home.data(["sweep"]);
    let pruned = home.data(["prune", "--threshold", "1", "--dry-run"]);
    assert_eq!((pruned["pruned"].as_u64(), pruned["remaining"].as_u64()), (Some(1), Some(0)));
    let pruned = home.data(["prune", "--threshold", "1"]);
    assert_eq!(pruned["turned"][0]["turn"], "archive");
    let status = home.data(["status"]);
    assert_eq!(status["scopes"], Value::Array(Vec::new()));
    assert!(status["last_runs"]["sweep"].is_string() && status["last_runs"]["prune"].is_string(), "{status}");
    home.data(["undo", &pruned["event"].to_string()]);
    let held = home.data(["status"])["scopes"][0].clone();
    assert_eq!(
        (held["scope"].as_str(), held["owner"].as_str(), held["memories"].as_u64(), held["limit"].as_u64()),
        (Some("mission"), Some("ada"), Some(1), Some(200))
    );
    let text = home.run(["status", "--format", "text"]).out;
    assert!(text.contains("mission of ada 1 of 200 (0 %)") && text.contains("last runs"), "{text}");
    assert_eq!(home.run(["prune", "--threshold", "7"]).status, 2);
    assert_eq!(home.run(["consolidate", "--similarity", "0"]).status, 2);
}

/// Without a model nothing can be compared, and that is said.
#[test]
fn patterns_need_a_model() {
    let home = Home::new();
    let ended = home.run(["consolidate", "--set", "model=none"]);
    assert_eq!(ended.status, 2);
    assert!(ended.json()["data"]["error"].as_str().unwrap().contains("there is no model"), "{}", ended.out);
}

#[test]
fn a_caller_settles_what_a_memory_is_to_an_earlier_one() {
    let home = Home::new();
    let old = keep(&home, ["curate", "--pin", "Deploys happen on Friday night"]);
    let new = home.data(["curate", "We ship when the zephyr shift ends", "--replaces", &old]);
    assert_eq!(
        (new["outcome"].as_str(), new["other"]["id"].as_str()),
        (Some("supersede"), Some(old.as_str())),
        "{new}"
    );
    let new = new["id"].as_str().unwrap();
    let refused = home.run(["curate", "Deploys happen at noon", "--confirms", &old]);
    assert_ne!(refused.status, 0);
    assert!(refused.json()["data"]["error"].as_str().unwrap().contains(new), "{}", refused.out);
    assert_eq!(home.run(["curate", "x", "--confirms", &old, "--replaces", new]).status, 2);
    assert_eq!(home.run(["curate", "Deploys happen at noon", "--replaces", "0123456789abcdef"]).status, 1);

    let other = keep(&home, ["curate", "The harbour office opens at nine"]);
    let settled = home.data(["settle", &other[..8], "--confirms", new]);
    assert_eq!(settled["memory"]["status"], "variant", "{settled}");
    assert_eq!(home.data(["get", new])["wordings"][0]["id"], other.as_str());
    assert!(home.run(["history", new, "--format", "text"]).out.contains("also told as: The harbour office"));
    assert_eq!(home.data(["settle", &other, "--confirms", new]).get("event"), None, "said again");
    home.data(["undo", &settled["event"].to_string()]);
    assert_eq!(home.data(["get", &other])["memory"]["status"], "active");
    assert_eq!(home.run(["settle", &other]).status, 2);
    let text = home.run(["settle", &other, "--different-from", new, "--format", "text"]).out;
    assert!(text.contains("is a different fact from"), "{text}");
}
