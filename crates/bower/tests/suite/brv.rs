//! Tests the program as `brv`: arguments, lines and statuses as `ByteRover`'s hosts expect them.

use crate::command::{Ended, Home, until};
use crate::mcp::Server;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// A run as `brv` in one project's folder.
fn brv(home: &Home, folder: &Path, arguments: &[&str]) -> Ended {
    Ended::from(command(home, folder, arguments).stdin(Stdio::null()).output().unwrap())
}

fn command(home: &Home, folder: &Path, arguments: &[&str]) -> Command {
    std::fs::create_dir_all(folder).unwrap();
    let link = home.path("brv");
    if !link.exists() {
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_bower"), &link).unwrap();
    }
    let mut command = Command::new(link);
    command.env_clear().env("BOWER_HOME", home.home()).env("TZ", "UTC").current_dir(folder);
    command.envs(home.models_folder().map(|folder| ("BOWER_MODELS_FOLDER", folder)));
    command.args(arguments);
    command
}

fn lines(ended: &Ended) -> Vec<Value> {
    ended.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn what_is_told_is_found_as_text_and_nothing_is_short_enough_to_be_dropped() {
    let home = Home::new();
    let folder = home.path("hermes/byterover");
    let kept = brv(&home, &folder, &["curate", "--", "The staging database runs on port 6543"]);
    assert_eq!(kept.status, 0, "{kept:?}");
    let found = brv(&home, &folder, &["query", "--", "which port does the staging database use?"]);
    assert!(found.status == 0 && found.out.contains("port 6543") && found.out.len() > 20, "{found:?}");
    let nothing = brv(&home, &folder, &["query", "--", "who paints the garden fence?"]);
    assert!(nothing.status == 0 && nothing.out.trim().len() <= 20, "{nothing:?}");
    // Another project knows nothing of it.
    let other =
        brv(&home, &home.path("other"), &["query", "--", "which port does the staging database use?"]);
    assert!(other.status == 0 && !other.out.contains("6543"), "{other:?}");
    let status = brv(&home, &folder, &["status"]);
    assert!(status.out.contains("(1 item)") && status.out.contains("brv-byterover-"), "{status:?}");
}

#[test]
fn lines_have_the_promised_shape() {
    let home = Home::new();
    let folder = home.path("app");
    let kept = lines(&brv(&home, &folder, &["curate", "--format", "json", "--", "The build needs Node 22"]));
    assert_eq!(kept.len(), 1);
    let data = &kept[0]["data"];
    assert_eq!((kept[0]["command"].as_str(), kept[0]["success"].as_bool()), (Some("curate"), Some(true)));
    assert_eq!((data["status"].as_str(), data["event"].as_str()), (Some("completed"), Some("completed")));
    assert_eq!(
        (data["changes"]["created"].as_array().unwrap().len(), &data["pendingReview"]),
        (1, &false.into())
    );
    kept[0]["timestamp"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();

    let asked = lines(&brv(&home, &folder, &["query", "which node does the build need", "--format", "json"]));
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[0]["data"]["event"], "response");
    let data = &asked[1]["data"];
    assert_eq!((data["status"].as_str(), data["event"].as_str()), (Some("completed"), Some("completed")));
    assert_eq!(data["taskId"], asked[0]["data"]["taskId"]);
    assert_eq!(data["result"], asked[0]["data"]["content"]);
    assert!(data["topScore"].is_number() && data["durationMs"].is_number(), "{data}");
    assert!(data["matchedDocs"][0]["title"].as_str().unwrap().contains("Node 22"));

    let found = lines(&brv(&home, &folder, &["search", "node", "--limit", "5", "--format", "json"]));
    let data = &found[0]["data"];
    assert_eq!((data["totalFound"].as_u64(), data["status"].as_str()), (Some(1), Some("completed")));
    assert_eq!(data["results"][0]["excerpt"], "The build needs Node 22");
    assert!(data["results"][0]["path"].as_str().unwrap().contains('/'));
}

#[test]
fn what_failed_ends_with_a_status_and_never_on_standard_output_as_text() {
    let home = Home::new();
    let folder = home.path("app");
    let refused = brv(&home, &folder, &["curate", "--", "@@ -1 +1 @@\n-port: 80\n+port: 81"]);
    assert!(
        refused.status == 1 && refused.out.is_empty() && refused.talk.contains("not kept"),
        "{refused:?}"
    );
    let refused =
        brv(&home, &folder, &["curate", "--format", "json", "--", "@@ -1 +1 @@\n-port: 80\n+port: 81"]);
    let line = &lines(&refused)[0];
    assert_eq!((refused.status, line["success"].as_bool()), (1, Some(false)));
    assert_eq!(line["data"]["status"], "error");
    assert_eq!(brv(&home, &folder, &["query", "--", " "]).status, 2);
    assert_eq!(brv(&home, &folder, &["dance"]).status, 2);
    assert_eq!(brv(&home, &folder, &["search", "x", "--limit", "51"]).status, 2);
    // What reads lines is told of what was typed wrong in one, too.
    let refused = brv(&home, &folder, &["search", "x", "--limit", "51", "--format", "json"]);
    let line = &lines(&refused)[0];
    assert_eq!((refused.status, line["command"].as_str()), (2, Some("search")), "{line}");
    assert!(line["data"]["error"].as_str().unwrap().contains("1..=50"), "{line}");
    assert_eq!(line["data"]["status"], "error");
    for (arguments, action) in [
        (&["--collection", "notes", "search", "x", "--limit", "51", "--format", "json"][..], "search"),
        (&["status", "-f", "json", "--nonsense"], "status"),
        (&["--collection", "search", "status", "--nonsense", "--format", "json"], "status"),
        (&["--nonsense", "--format=json"], "brv"),
    ] {
        let refused = brv(&home, &folder, arguments);
        let line = &lines(&refused)[0];
        assert_eq!((refused.status, line["command"].as_str()), (2, Some(action)), "{line}");
    }
    let text = brv(&home, &folder, &["dance", "--", "--format", "json"]);
    assert!(text.status == 2 && text.out.is_empty(), "{text:?}");
    let home = Home::new();
    std::fs::create_dir_all(home.home()).unwrap();
    std::fs::write(home.home().join("memory.db"), "this is no database, but long enough to be read as one")
        .unwrap();
    let broken = brv(&home, &folder, &["query", "--", "which port?"]);
    assert!(broken.status == 3 && broken.out.is_empty(), "{broken:?}");
}

#[test]
fn a_detached_text_is_on_the_disk_at_once_and_kept_soon() {
    let home = Home::new();
    let folder = home.path("app");
    let told = "Releases are cut on the first Monday of a month";
    let queued = lines(&brv(&home, &folder, &["curate", "--detach", "--format", "json", "--", told]));
    assert_eq!(queued[0]["data"]["status"], "queued");
    assert!(queued[0]["data"]["logId"].as_str().unwrap().starts_with("cur-"));
    until("the text is kept and the queue is empty", || {
        let found = brv(&home, &folder, &["query", "--", "when are releases cut?"]);
        found.out.contains("first Monday") && std::fs::read_dir(queue(&home)).unwrap().count() == 0
    });
}

/// The queue of the one project that has any.
fn queue(home: &Home) -> PathBuf {
    let all = std::fs::read_dir(home.home().join("queue")).unwrap();
    let [only] = all.map(|entry| entry.unwrap().path()).collect::<Vec<_>>().try_into().unwrap();
    only
}

/// Leaves an entry in a queue, as a process does that died some time ago.
fn left(queue: &Path, entry: &str, text: &[u8]) -> PathBuf {
    let path = queue.join(entry);
    std::fs::write(&path, text).unwrap();
    let old = std::time::SystemTime::now() - Duration::from_mins(10);
    std::fs::File::options().write(true).open(&path).unwrap().set_modified(old).unwrap();
    path
}

#[test]
fn what_a_dead_process_left_in_the_queue_is_kept_by_the_next_of_its_project() {
    let home = Home::new();
    let folder = home.path("app");
    assert_eq!(brv(&home, &folder, &["curate", "--detach", "--", "The office closes at six"]).status, 0);
    let queue = queue(&home);
    // One that nobody can read fails nobody's run, and keeps no other from being kept.
    let broken = left(&queue, "cur-0000000000000000", b"\xff\xfe");
    let entry = left(&queue, "cur-0123456789abcdef", b"The backup runs every night at two");
    assert_eq!(brv(&home, &home.path("other"), &["curate", "--", "The fence is painted green"]).status, 0);
    assert!(entry.exists(), "it is another project's");
    assert_eq!(brv(&home, &folder, &["curate", "--", "The cellar is locked on Sundays"]).status, 0);
    assert!(!entry.exists() && broken.exists());
    let found = brv(&home, &folder, &["query", "--", "when does the backup run?"]);
    assert!(found.out.contains("every night at two"), "{found:?}");
}

#[test]
fn turns_are_kept_as_turns_once() {
    let home = Home::new();
    let folder = home.path("app");
    let turn =
        "User: The garden gate needs a new hinge by Friday\nAssistant: Noted, a hinge for the garden gate.";
    assert_eq!(brv(&home, &folder, &["curate", "--", turn]).status, 0);
    let again = "[Pre-compression context]\nuser: The garden gate needs a new hinge by Friday";
    assert_eq!(brv(&home, &folder, &["curate", "--", again]).status, 0);
    let status = brv(&home, &folder, &["status"]);
    assert!(status.out.contains("(2 items)"), "{status:?}");
    let found = brv(&home, &folder, &["query", "--", "what does the garden gate need?"]);
    assert!(found.out.contains("a new hinge by Friday"), "{found:?}");
}

#[test]
fn an_existing_context_tree_is_taken_over_once() {
    let home = Home::new();
    let folder = home.path("app");
    let text = "---\ntitle: Retry policy\ntags: [http]\n---\n## Facts\n- **client**: The HTTP client retries three times [api]\n";
    home.write("app/.brv/context-tree/api/http/retry-policy.md", text);
    // A tree may come with somebody else's repository, and hosts put answers into prompts unasked: it waits until somebody keeps it.
    let held = brv(&home, &folder, &["query", "--", "how often does the HTTP client retry?"]);
    assert!(held.out.contains("Nothing found"), "{held:?}");
    home.data(["review", "keep", "--source", "brv"]);
    let found = brv(&home, &folder, &["query", "--", "how often does the HTTP client retry?"]);
    assert!(found.out.contains("retries three times"), "{found:?}");
    let again = brv(&home, &folder.join("src"), &["query", "--", "how often does the HTTP client retry?"]);
    assert!(again.out.contains("retries three times"), "{again:?}");
}

#[test]
fn what_is_decided_in_a_turn_becomes_a_candidate_once() {
    let home = Home::with_model();
    let folder = home.path("app");
    let turn = "User: From now on we use pnpm, not npm.\nAssistant: Understood, pnpm it is.";
    let kept = &lines(&brv(&home, &folder, &["curate", "--format", "json", "--", turn]))[0]["data"];
    assert_eq!(kept["changes"]["created"].as_array().unwrap().len(), 1, "{kept}");
    let again = &lines(&brv(&home, &folder, &["curate", "--format", "json", "--", turn]))[0]["data"];
    assert_eq!(again["changes"]["created"].as_array().unwrap().len(), 0, "{again}");
    let candidates = home.data(["list", "--kind", "memory", "--status", "candidate"]);
    assert_eq!(candidates["memories"][0]["content"], "From now on we use pnpm, not npm.");
    // A secret in a turn is not kept, in whatever form.
    let key = format!("AKIA{}", "Q3ZK7W2LT5NVX8RD");
    let secret = format!("User: the deploy key is {key} by the way\nAssistant: I will not repeat it.");
    assert_eq!(brv(&home, &folder, &["curate", "--", &secret]).status, 0);
    let residue = home.data(["doctor", "--residue", &key]);
    assert_eq!(residue["files"].as_array().map_or(0, Vec::len), 0, "{residue}");
}

#[test]
fn agents_ask_and_keep_by_the_tools_of_the_other_program() {
    let home = Home::new();
    let (folder, other) = (home.path("app"), home.path("other"));
    home.write("app/deploy.md", "Deploys run from the host crane-7.");
    home.write("app/notes/tide.md", "# Tide\n\nThe tide table hangs in the boat house.\n");
    std::fs::create_dir_all(&other).unwrap();
    let mut server = Server::spawn(command(&home, &folder, &["mcp"])).greeted();
    let listed = server.ask("tools/list", json!({}))["result"]["tools"].take();
    let names: Vec<_> =
        listed.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["brv-query", "brv-curate"]);
    let kept =
        server.call("brv-curate", json!({"context": "The staging database runs on port 6543", "wait": true}));
    assert_eq!(
        (&kept["status"], kept["changes"]["created"].as_array().unwrap().len()),
        (&json!("completed"), 1)
    );
    let ask = |query: &str| json!({"query": query});
    let found = server.call("brv-query", ask("which port does the staging database use?"));
    assert!(found["result"].as_str().unwrap().contains("port 6543"), "{found}");
    assert!(found["topScore"].is_number() && found["matchedDocs"][0]["title"].is_string(), "{found}");
    // The same project by the command line, and another by its folder.
    assert!(
        brv(&home, &folder, &["query", "--", "which port does the staging database use?"])
            .out
            .contains("6543")
    );
    let elsewhere = json!({"query": "which port does the staging database use?", "cwd": other});
    assert!(!server.call("brv-query", elsewhere)["result"].as_str().unwrap().contains("6543"));
    server.call("brv-curate", json!({"context": "Deploys are done by hand:", "files": ["deploy.md"]}));
    assert!(
        server.call("brv-query", ask("from which host do deploys run?"))["result"]
            .to_string()
            .contains("crane-7")
    );
    server.call("brv-curate", json!({"folder": "notes"}));
    assert!(
        server.call("brv-query", ask("where does the tide table hang?"))["result"]
            .to_string()
            .contains("boat house")
    );
    let mut refused = |arguments: Value, words: &str| {
        let params = json!({"name": "brv-curate", "arguments": arguments});
        let result = server.ask("tools/call", params)["result"].take();
        assert!(result["isError"] == true && result.to_string().contains(words), "{result}");
    };
    refused(json!({}), "give context, files or a folder");
    refused(json!({"context": "@@ -1 +1 @@\n-port: 80\n+port: 81"}), "not kept");
    refused(json!({"context": "x", "files": ["a", "b", "c", "d", "e", "f"]}), "5 is the most");
    refused(json!({"context": "The lamp is blue", "cwd": "app"}), "no folder of this machine");
    assert_eq!(server.end().0, 0);
}
