//! Tests that a memory knows the code that it names, as a user and an agent see it.

use serde_json::{Value, json};
use std::process::Command;

use crate::command::{Ended, Home};

const PARSE: &str = "pub fn parse(text: &str) -> usize {\n    text.trim().len()\n}\n";

/// A command that runs in the project's folder.
fn here<const N: usize>(home: &Home, arguments: [&str; N]) -> Command {
    let mut command = home.command(arguments);
    command.current_dir(home.path("app"));
    command
}

fn run<const N: usize>(home: &Home, arguments: [&str; N]) -> Ended {
    Ended::from(here(home, arguments).output().unwrap())
}

fn data<const N: usize>(home: &Home, arguments: [&str; N]) -> Value {
    run(home, arguments).json()["data"].take()
}

fn project() -> Home {
    let home = Home::new();
    home.write("app/.git/HEAD", "ref: refs/heads/main\n");
    home.write("app/src/a.rs", PARSE);
    home
}

/// Returns the context of the hook for a session that begins in the project.
fn briefing(home: &Home) -> String {
    let input = json!({ "session_id": "s", "cwd": home.path("app"), "source": "startup" });
    let ended = home.feed(["hook", "session-start"], input.to_string().as_bytes());
    let answer: Value = serde_json::from_str(&ended.out).unwrap_or_else(|why| panic!("{why}: {ended:?}"));
    answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned()
}

#[test]
fn a_memory_tells_what_became_of_the_code_that_it_names() {
    let home = project();
    let text = "We decided that `parse` in src/a.rs trims its text first.";
    let kept = data(&home, ["curate", text, "--type", "decision"]);
    assert_eq!(kept["anchors"], 1, "{kept}");
    let state = |expected: &str| {
        let found = data(&home, ["query", "where is the text trimmed first?"]);
        let anchor = &found["results"][0]["anchors"][0];
        assert_eq!((&anchor["state"], &anchor["path"]), (&json!(expected), &json!("src/a.rs")), "{found}");
        assert_eq!(anchor["symbol"], "fn parse");
    };
    state("holds");
    assert!(!briefing(&home).contains("since then"));
    let all = run(&home, ["doctor", "--anchors"]);
    assert_eq!((all.status, &all.json()["data"]["checked"]), (0, &json!(1)), "{all:?}");

    home.write("app/src/a.rs", "\npub fn parse(text: &str) -> usize {\n    text.len()\n}\n");
    state("changed");
    let phrase = "src/a.rs fn parse: changed, now at src/a.rs:2";
    let remark = format!("since then in the code: {phrase}");
    let told = briefing(&home);
    assert!(told.contains(&remark), "{told}");
    let block = run(&home, ["query", "where is the text trimmed first?", "--format", "context"]).out;
    assert!(block.contains(&remark), "{block}");
    let shown = run(&home, ["query", "where is the text trimmed first?", "--format", "text"]).out;
    assert!(shown.contains(&format!("anchor {phrase}")), "{shown}");
    let whole = run(&home, ["get", kept["id"].as_str().unwrap(), "--format", "text"]).out;
    assert!(whole.contains(&format!("anchor {phrase}")), "{whole}");
    let all = run(&home, ["doctor", "--anchors", "--format", "text"]);
    assert_eq!(all.status, 1, "{all:?}");
    assert!(all.out.contains(phrase) && all.out.contains("look again at 1 memory"), "{all:?}");

    home.write("app/src/b.rs", PARSE);
    home.write("app/src/a.rs", "");
    state("moved");
    home.write("app/src/b.rs", "");
    state("gone");
    // A project that is not on this machine is not judged.
    std::fs::rename(home.path("app"), home.path("other")).unwrap();
    let found = home.data(["query", "where is the text trimmed first?"]);
    assert_eq!(found["results"][0]["anchors"], Value::Null, "{found}");
}

#[test]
fn anchors_leave_and_go_with_their_memory() {
    let home = project();
    let kept = data(&home, ["curate", "The rule for `parse` is in src/a.rs."]);
    let out = home.path("all.jsonl");
    assert_eq!(run(&home, ["export", out.to_str().unwrap()]).status, 0);
    assert!(std::fs::read_to_string(&out).unwrap().contains("\"symbol\":\"fn parse\""));
    let forgotten = data(&home, ["forget", kept["id"].as_str().unwrap(), "--yes"]);
    assert_eq!(forgotten["receipt"]["anchors"], 1, "{forgotten}");
    assert_eq!(run(&home, ["doctor", "--residue", "fn parse"]).status, 0);
    assert_eq!(run(&home, ["import", out.to_str().unwrap()]).status, 0);
    let all = data(&home, ["doctor", "--anchors"]);
    assert_eq!((&all["anchored"], &all["memories"]), (&json!(1), &json!([])), "{all}");
    let bad = std::fs::read_to_string(&out).unwrap().replace("src/a.rs\"", "../a.rs\"");
    let bad = home.write("bad.jsonl", bad);
    let imported = run(&home, ["import", bad.to_str().unwrap()]);
    assert!(imported.out.contains("not below its root"), "{imported:?}");
}
