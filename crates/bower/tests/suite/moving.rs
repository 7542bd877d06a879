//! Tests export, import and migrate as a user meets them.
//! The archives have the forms in which chat programs give them away.

use crate::command::Home;
use serde_json::{Value, json};
use std::io::Write;

fn message(id: &str, role: &str, time: f64, text: &str) -> Value {
    json!({"id": id, "author": {"role": role, "name": null, "metadata": {}}, "create_time": time, "update_time": null,
        "content": {"content_type": "text", "parts": [text]}, "status": "finished_successfully", "end_turn": true,
        "weight": 1.0, "metadata": {}, "recipient": "all", "channel": null})
}

/// A conversation of `ChatGPT` with an answer that was regenerated.
fn chatgpt(id: &str, title: &str) -> Value {
    json!({"title": title, "create_time": 1_683_554_100.5, "update_time": 1_683_554_300.0, "conversation_id": id, "id": id,
    "current_node": "n3", "moderation_results": [], "is_archived": false, "default_model_slug": "gpt-4", "mapping": {
        "n0": {"id": "n0", "message": null, "parent": null, "children": ["n1"]},
        "n1": {"id": "n1", "message": message("m1", "user", 1_683_554_160.25, "Where do lighthouses stand?"),
            "parent": "n0", "children": ["n2", "n3"]},
        "n2": {"id": "n2", "message": message("m2", "assistant", 1_683_554_170.0, "In deserts."), "parent": "n1", "children": []},
        "n3": {"id": "n3", "message": message("m3", "assistant", 1_683_554_180.0, "On coasts and harbour walls."),
            "parent": "n1", "children": []},
    }})
}

fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options =
        zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
    for (name, bytes) in files {
        archive.start_file(*name, options).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

#[test]
fn an_archive_of_chatgpt_is_taken_in_once() {
    let home = Home::new();
    let broken =
        json!({"title": "Broken", "id": "c9", "mapping": {"a": {"parent": "b"}}, "current_node": "a"});
    let list = json!([chatgpt("c1", "Lighthouses"), broken, chatgpt("c2", "More of them")]).to_string();
    let archive = zip(&[
        ("chat.html", b"<html>".as_slice()),
        ("user.json", b"{}"),
        ("conversations.json", list.as_bytes()),
    ]);
    home.write("export.zip", archive);
    let came = home.data(["import", "export.zip", "--me", "ada"]);
    assert_eq!(
        (&came["added"], &came["turns"], &came["conversations"], &came["failed"]),
        (&json!(4), &json!(4), &json!(2), &json!(1)),
        "{came}"
    );
    let error = &came["errors"][0];
    assert!(
        error["place"].as_str().unwrap().ends_with("export.zip/conversations.json: element 2"),
        "{error}"
    );
    assert!(error["reason"].as_str().unwrap().contains("the message b is missing"), "{error}");
    let again = home.data(["import", "export.zip", "--me", "ada"]);
    assert_eq!((&again["added"], &again["unchanged"]), (&json!(0), &json!(4)));
    let found =
        home.data(["query", "where did ChatGPT say lighthouses stand", "--fast", "--collection", "sessions"]);
    let contents: Vec<&str> = found["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hit| hit["memory"]["content"].as_str().unwrap())
        .collect();
    assert!(contents.contains(&"ChatGPT: On coasts and harbour walls."), "{contents:?}");
    assert!(contents.contains(&"Ada: Where do lighthouses stand?"), "{contents:?}");
    assert!(
        !contents.iter().any(|text| text.contains("deserts")),
        "what was regenerated is not seen: {contents:?}"
    );
}

#[test]
fn an_archive_of_claude_and_a_cut_one() {
    let home = Home::new();
    let export = json!([{"uuid": "u1", "name": "Ports", "created_at": "2025-03-01T09:00:00.000000Z",
        "updated_at": "2025-03-01T09:10:00.000000Z", "account": {"uuid": "a1"}, "chat_messages": [
        {"uuid": "m1", "text": "Which port has the API?", "sender": "human", "created_at": "2025-03-01T09:00:01.000000Z",
            "content": [{"type": "text", "text": "Which port has the API?"}], "attachments": [], "files": []},
        {"uuid": "m2", "text": "Port 8080.", "sender": "assistant", "created_at": "2025-03-01T09:00:09.000000Z",
            "content": [{"type": "text", "text": "Port 8080."}], "attachments": [], "files": []}]}]);
    home.write("claude/conversations.json", export.to_string());
    home.write("claude/users.json", "[]");
    let came = home.data(["import", "claude"]);
    assert_eq!((&came["added"], &came["failed"]), (&json!(2), &json!(0)), "{came}");
    // Half a file: what is whole comes in, the rest is told with its line.
    let half = serde_json::to_string_pretty(&export).unwrap();
    home.write("half.json", &half[..half.len() - 30]);
    let ended = home.run(["import", "half.json", "--format", "json"]);
    assert_eq!(ended.status, 3, "{}", ended.out);
    assert!(ended.out.contains("is the file complete?"), "{}", ended.out);
    for (name, text, reason) in [
        ("notes.txt", "just words", "neither an export of bower"),
        ("empty.json", "", "it is empty"),
        ("broken.zip", "PK\u{3}\u{4}nothing", "no whole zip file"),
    ] {
        home.write(name, text);
        let ended = home.run(["import", name, "--format", "text"]);
        assert_eq!(ended.status, 3, "{name}");
        assert!(ended.out.contains(reason), "{}", ended.out);
    }
    assert_eq!(home.run(["import", "nowhere.json"]).status, 1);
}

#[test]
fn a_store_is_moved_by_a_file_or_a_pipe() {
    let (here, there) = (Home::new(), Home::new());
    here.data(["curate", "The API listens on port 8080."]);
    here.data(["curate", "The API listens on port 9090.", "--tags", "net"]);
    let ended = here.run(["export", "--all"]);
    assert_eq!(ended.status, 0);
    assert!(ended.out.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{}", ended.out);
    let came = there.feed(["import", "-", "--format", "json"], ended.out.as_bytes()).json();
    assert_eq!(came["data"]["added"], 2, "{came}");
    here.data(["export", "all.jsonl", "--all"]);
    let ended = here.run(["export", "all.jsonl"]);
    assert_eq!(ended.status, 2, "a file that is there stays");
    here.data(["export", "all.jsonl", "--force"]);
    let one = std::fs::read_to_string(here.path("all.jsonl")).unwrap();
    assert_eq!(one.matches("\"line\":\"item\"").count(), 1, "without --all what was superseded stays behind");
    assert_eq!(here.run(["export", "--as", "markdown"]).status, 2);
    assert_eq!(here.run(["export", "x", "--as", "memory-md", "--vectors"]).status, 2);
    let left = here.data(["export", "agent", "--as", "memory-md", "--budget", "200"]);
    assert_eq!(left["memories"], 1, "{left}");
    assert!(here.path("agent/MEMORY.md").exists());
}

#[test]
fn a_folder_is_edited_by_hand() {
    let home = Home::new();
    home.data(["curate", "The API listens on port 8080."]);
    home.data(["export", "notes", "--as", "markdown"]);
    let folder = home.path("notes").join("fact");
    let file = std::fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    let text = std::fs::read_to_string(&file).unwrap().replace("8080", "9090");
    std::fs::write(&file, text).unwrap();
    let ended = home.run(["import", "notes", "--format", "text"]);
    assert_eq!(ended.status, 0);
    assert!(ended.out.contains("1 changed") && ended.out.contains("8080 -> 9090"), "{}", ended.out);
    let listed = home.data(["list"]);
    let id = listed["memories"][0]["id"].as_str().unwrap();
    let history = home.run(["history", id, "--format", "text"]);
    assert!(history.out.contains("8080") && history.out.contains("9090"), "{}", history.out);
}

#[test]
fn a_migration_says_what_scripts_rely_on() {
    let home = Home::new();
    home.write(
        "p/.brv/context-tree/auth/jwt/keys.md",
        "## Facts\n- **ttl**: Tokens live for 15 minutes [project]\n",
    );
    let came = home.data(["migrate", "from-brv", "--path", "p"]);
    assert_eq!((&came["migrated"], &came["errors"]), (&json!(1), &json!([])), "{came}");
    assert_eq!(home.data(["migrate", "from-brv", "--path", "p"])["migrated"], 0);
    assert_eq!(home.run(["migrate", "from-brv", "--path", "q"]).status, 1);
}
