//! Tests every command's whole JSON, which scripts read, against a snapshot.
//! Ids, times, sizes and places are replaced in it. A name that changes here breaks somebody's program; a name that is added does
//! not.

use crate::command::Home;
use serde_json::Value;

/// What differs from run to run, by its form or by its key.
fn redacted(home: &Home, mut value: Value) -> Value {
    redact(&mut value, "", &home.path("").canonicalize().unwrap().to_string_lossy());
    value
}

fn redact(value: &mut Value, key: &str, place: &str) {
    match value {
        Value::Object(fields) => fields.iter_mut().for_each(|(key, value)| redact(value, key, place)),
        Value::Array(values) => values.iter_mut().for_each(|value| redact(value, key, place)),
        Value::String(text) => {
            let is_hex = text.bytes().all(|b| b.is_ascii_hexdigit());
            let is_time = key.ends_with("_time") || matches!(key, "time" | "sweep");
            if is_time {
                assert!(text.ends_with('Z') && text.contains('T'), "RFC 3339 in UTC: {key} {text}");
                *text = "[time]".into();
            } else if is_hex && (text.len() == 16 || text.len() == 64) {
                *text = format!("[{} hex digits]", text.len());
            } else if key == "commit" {
                *text = "[commit]".into();
            } else {
                *text = text.replace(place.trim_end_matches('/'), "[place]");
            }
        }
        Value::Number(number) => {
            let told = number.as_f64().unwrap();
            if key.ends_with("_ms") {
                // Milliseconds to the third digit.
                assert!(
                    told >= 0.0 && (told * 1_000.0 - (told * 1_000.0).round()).abs() < 1e-6,
                    "{key} {told}"
                );
                *value = "[ms]".into();
            } else if matches!(key, "total_size_bytes" | "model_share") {
                *value = format!("[{key}]").into();
            } else if matches!(key, "score" | "bm25" | "semantic") {
                assert!(told.is_finite());
                *value = "[score]".into();
            }
        }
        Value::Bool(_) | Value::Null => {}
    }
}

#[test]
fn the_envelopes_of_every_command() {
    let home = Home::new();
    home.write(
        "docs/v2/guide.md",
        "---\ntags: [ops]\n---\n# Guide\n\n## Install\n\nRun the zymurgy installer as root.\n",
    );
    home.write("docs/picture.png", b"\x89PNG\r\n\x1a\n\0\0\0\0");
    let mut shown = Vec::new();
    let mut tell = |name: &str, arguments: &[&str]| {
        let ended = crate::command::Ended::from(home.command(arguments).output().unwrap());
        let mut envelope = redacted(&home, ended.json());
        envelope["exit status"] = ended.status.into();
        shown.push((name.to_string(), envelope));
        ended.json()["data"].clone()
    };
    let kept = tell(
        "curate",
        &[
            "curate",
            "Webhooks are retried five times. Then an operator is told.",
            "--type=decision",
            "--tags=api,retry",
            "--metadata=ticket=4711",
            "--owner=ada",
        ],
    );
    let id = kept["id"].as_str().unwrap().to_string();
    tell("index", &["index", "docs", "--collection", "handbook"]);
    tell("query", &["query", "webhooks zymurgy"]);
    tell("query_nothing", &["query", "quokka"]);
    tell("get", &["get", &id]);
    tell("list", &["list", "--kind", "memory"]);
    tell("status", &["status"]);
    tell("history", &["history", &id]);
    tell("doctor", &["doctor"]);
    tell("config_set", &["config", "set", "rrf_k", "30"]);
    tell("model_list", &["model", "list"]);
    tell("model_status", &["model", "status"]);
    tell("forget", &["forget", &id, "--yes"]);
    tell("version", &["version"]);
    tell("failure_not_found", &["get", "ffffffffffffffff"]);
    tell("failure_usage", &["query", "x", "--filter", r#"{"a":{"$near":1}}"#]);
    for (name, envelope) in shown {
        insta::assert_json_snapshot!(name, envelope);
    }
}
