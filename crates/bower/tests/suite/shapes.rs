//! Tests the envelopes that scripts rely on: fields may be added, never renamed.

use crate::command::Home;
use serde_json::Value;

fn fields(value: &Value) -> Vec<&str> {
    value.as_object().unwrap_or_else(|| panic!("no object: {value}")).keys().map(String::as_str).collect()
}

fn has(value: &Value, names: &[&str]) {
    for name in names {
        assert!(value.get(name).is_some(), "{name} is missing among {:?}", fields(value));
    }
}

#[test]
fn an_envelope_names_its_command() {
    let home = Home::new();
    let ended = home.run(["version"]);
    let envelope = ended.json();
    assert_eq!(fields(&envelope), ["command", "data", "success"]);
    assert_eq!(envelope["command"], "version");
    has(&envelope["data"], &["version", "commit"]);
    assert!(ended.out.ends_with("}\n") && ended.out.lines().count() == 1, "one line into a pipe");
    assert_eq!(home.run(["version", "--format", "text"]).out.split(' ').next(), Some("bower"));
}

#[test]
fn a_memory_goes_in_is_found_and_is_forgotten() {
    let home = Home::new();
    let kept = home.data([
        "curate",
        "Webhooks are retried five times.",
        "--type",
        "decision",
        "--tags",
        "api,#Retry",
        "--metadata",
        "ticket=4711",
        "--owner",
        "ada",
    ]);
    has(&kept, &["id", "summary", "type", "took_ms", "is_update", "accepted"]);
    assert_eq!((kept["type"].as_str(), kept["accepted"].as_bool()), (Some("decision"), Some(true)));
    let id = kept["id"].as_str().unwrap();
    assert!(id.len() == 16 && id.chars().all(|c| c.is_ascii_hexdigit()), "{id}");

    let answer = home.data(["query", "webhooks retried", "--explain"]);
    has(&answer, &["query", "results", "total_found", "took_ms", "degraded", "effort"]);
    let hit = &answer["results"][0];
    has(hit, &["memory", "score", "signals"]);
    has(
        &hit["memory"],
        &[
            "id",
            "kind",
            "type",
            "content",
            "summary",
            "importance",
            "access_count",
            "create_time",
            "access_time",
            "decay_rate",
            "confidence",
            "tags",
            "keywords",
            "metadata",
            "collection",
            "scope",
            "owner",
            "status",
            "tier",
        ],
    );
    assert_eq!(hit["memory"]["id"], id);
    assert_eq!(hit["memory"]["tags"], serde_json::json!(["api", "retry"]));
    assert_eq!(hit["memory"]["metadata"]["ticket"], 4711);
    assert!((0.0..=1.0).contains(&hit["score"].as_f64().unwrap()), "{hit}");
    let missing: Vec<_> = answer["degraded"].as_array().unwrap().iter().map(|one| &one["channel"]).collect();
    assert_eq!(missing, ["vector"], "no model is there, and the answer says so");

    assert_eq!(home.data(["get", &id[..8]])["memory"]["id"], id);
    let listing = home.data(["list", "--type", "decision", "--tag", "retry"]);
    assert_eq!((listing["total"].as_u64(), listing["memories"][0]["id"].as_str()), (Some(1), Some(id)));
    let again = home.data(["curate", "Webhooks are retried five times.", "--owner", "ada"]);
    assert_eq!((again["id"].as_str(), again["is_update"].as_bool()), (Some(id), Some(true)));

    let refused = home.run(["forget", "--tag", "retry"]);
    assert_eq!(refused.status, 2, "nobody is there to ask: {refused:?}");
    let would = home.data(["forget", id, "--dry-run"]);
    assert_eq!(
        (would["receipt"]["items"].as_u64(), would["receipt"]["dry_run"].as_bool()),
        (Some(1), Some(true))
    );
    let gone = home.data(["forget", "--tag", "retry", "--yes"]);
    assert_eq!(gone["forgotten"], serde_json::json!([id]));
    has(&gone["receipt"], &["items", "vectors", "documents", "event", "sha256", "dry_run"]);
    assert_eq!(home.run(["get", id]).status, 1);
    let history = home.data(["history", id]);
    let actions: Vec<_> = history["history"].as_array().unwrap().iter().map(|one| &one["action"]).collect();
    assert_eq!(actions.last().unwrap().as_str(), Some("forget"), "history outlives what it describes");
    assert!(!history.to_string().contains("Webhooks"), "and says nothing of the text");
}

#[test]
fn a_folder_goes_in() {
    let home = Home::new();
    home.write("docs/v2/guide.md", "# Guide\n\n## Install\n\nRun the zymurgy installer as root.\n");
    home.write("docs/picture.png", b"\x89PNG\r\n\x1a\n\0\0\0\0");
    let report = home.data(["index", "docs", "--collection", "handbook"]);
    has(
        &report,
        &["files", "indexed", "unchanged", "removed", "chunks_added", "skipped", "took_ms", "degraded"],
    );
    assert_eq!(report["indexed"], 1, "{report}");
    assert!(report["skipped"][0]["path"].as_str().unwrap().ends_with("picture.png"), "{report}");
    assert_eq!(home.data(["index", "docs", "--collection", "handbook"])["unchanged"], 1);

    let answer = home.data(["query", "zymurgy", "--collection", "handbook", "--version", "v2"]);
    let metadata = &answer["results"][0]["memory"]["metadata"];
    has(metadata, &["path", "source", "file_name", "section_title", "version", "chunk_size"]);
    assert_eq!(
        (metadata["file_name"].as_str(), metadata["version"].as_str()),
        (Some("guide.md"), Some("v2"))
    );
    assert_eq!(home.data(["query", "zymurgy", "--version", "v3"])["results"], serde_json::json!([]));

    let context = home.run(["query", "zymurgy", "--format", "context"]);
    assert!(context.out.starts_with("## Relevant Knowledge\n\n### Document 1: "), "{context:?}");
    assert!(context.out.contains("zymurgy installer") && !context.out.contains('\u{1b}'), "{context:?}");
    assert!(context.talk.contains("vector was not searched"), "{context:?}");

    std::fs::remove_file(home.path("docs/v2/guide.md")).unwrap();
    assert_eq!(home.data(["index", "docs", "--collection", "handbook"])["removed"], 1);
    assert_eq!(home.data(["query", "zymurgy"])["results"], serde_json::json!([]));
}

#[test]
fn a_store_says_how_it_is() {
    let home = Home::new();
    home.data(["curate", "one fact"]);
    let status = home.data(["status"]);
    has(
        &status,
        &[
            "total_memories",
            "total_size_bytes",
            "by_type",
            "avg_importance",
            "index_healthy",
            "db_path",
            "vector_index_tier",
            "schema",
            "model",
        ],
    );
    assert_eq!(status["total_memories"], 1);
    let examined = home.data(["doctor"]);
    assert_eq!(examined["healthy"], true, "{examined}");
    has(&examined["checks"][0], &["name", "outcome", "detail"]);
}

#[test]
fn text_is_for_people_and_cannot_drive_their_terminal() {
    let home = Home::new();
    let hostile = "retry \u{1b}[2J\u{1b}]0;owned\u{7} policy";
    let id = home.data(["curate", hostile])["id"].as_str().unwrap().to_string();
    for arguments in [vec!["query", "retry"], vec!["list"], vec!["status"]] {
        let ended =
            home.command(arguments.iter().chain(&["--format", "text", "--color", "never"])).output().unwrap();
        let text = String::from_utf8(ended.stdout).unwrap();
        assert!(!text.contains('\u{1b}') && !text.contains('\u{7}'), "{arguments:?}: {text:?}");
    }
    let text = home.run(["query", "retry", "--format", "text", "--color", "always"]).out;
    assert!(text.contains("\u{1b}[1m") && !text.contains("\u{1b}[2J"), "{text:?}");
    let json = home.run(["get", &id]);
    assert_eq!(json.json()["data"]["memory"]["content"], hostile, "data is as it was stored");
}
