//! Defines the fuzz targets of this crate: the input that hosts, agents and HTTP clients send.
//! Tests run the same functions over seeded changes of a few inputs. `make fuzz` runs them, and the core's, for any
//! length of time.

#[path = "../../../bower-core/src/engine/fuzzing/target.rs"]
mod target;

use bower_core::config::Settings;
use bower_core::prompt::PromptText;
use bower_core::{Engine, request::CurateRequest};
use jiff::Timestamp;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::ffi::OsString;
use std::sync::LazyLock;

pub use target::Target;
#[cfg(test)]
use target::run_all;

use crate::commands::hook;
use crate::hosts::{Event, Host, answer, told};
use crate::http;
use crate::mcp;
use crate::service::{
    Access, Bounds, BriefBody, ConsolidateBody, CurateBody, FeedbackBody, ForgetBody, IndexBody, ListBody,
    PinBody, PruneBody, QueryBody, Served, Service, SettleBody, SweepBody, TurnsBody, UndoBody,
};

/// The targets of this crate.
pub const TARGETS: &[Target] = &[
    Target {
        name: "hook",
        run: hooked,
        seeds: &[
            br#"{"session_id":"s1","transcript_path":"/t/s1.jsonl","cwd":"/w","hook_event_name":"SessionStart","source":"resume"}"#,
            br#"{"sessionId":"v1","tool_input":{"command":"*** Begin Patch\n*** Update File: src/a.py\n"},"messages":[{"role":"user"}]}"#,
            "\u{feff}{\"prompt\":\"<hook_context>&lt;bowerbird&gt;</hook_context>\\n\\nWhich port?\",\"workspace_roots\":[\"/w\"]} rest".as_bytes(),
            b"--home\0/h\0hook\0user-prompt\0--newflag",
        ],
    },
    Target {
        name: "mcp",
        run: frames,
        seeds: &[
            br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_search","arguments":{"query":"port","limit":"3","tags":["a"],"filter":{"a":{"$gt":1}}}}}"#,
            br#"[{"jsonrpc":"2.0","id":"a","method":"resources/read","params":{"uri":"bower://session/a%20b"}},{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}]"#,
            br#"{"jsonrpc":"2.0","id":3,"method":"prompts/get","params":{"name":"recall","arguments":{"topic":"the retry port"}}}"#,
            br#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"memory_store","arguments":{"content":"x","metadata":{"a":[1]}}}}"#,
        ],
    },
    Target {
        name: "http",
        run: bodies,
        seeds: &[
            br#"{"query":"retry port","limit":3,"since":"7d","until":"yesterday","filter":{"a":{"$in":[1]}},"budget_tokens":64,"session":"s"}"#,
            br#"{"content":"Ada prefers axum.","type":"preference","tags":["a"],"metadata":{"n":1.5},"valid_from":"2026-01-01"}"#,
            br#"{"ids":["00112233"],"dry_run":true,"tags":["x"],"as_of":"2 weeks ago","kind":"memory","statuses":["archived"]}"#,
            b"limit=20&offset=1&collection=a%20b&tag=x&type=fact&since=7d",
        ],
    },
];

/// A store with some items and no model, and bounds that may read all of it.
struct Home {
    service: Service,
    bounds: Bounds,
    _folder: tempfile::TempDir,
}

static HOME: LazyLock<Home> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let settings = Settings { model: "none".into(), ..Settings::default() };
    let engine = Engine::open(folder.path(), settings, now()).expect("an empty store opens");
    for content in ["The port of the retry service is 5433.", "Ada prefers axum (v2)."] {
        engine
            .curate(&bower_core::item::Visibility::everything(), &CurateRequest::new(content), now())
            .expect("a memory is kept");
    }
    let bounds = Bounds { access: Access::Read, ..Bounds::default() };
    Home { service: Service::new(engine), bounds, _folder: folder }
});

/// Returns the same time for every run.
fn now() -> Timestamp {
    Timestamp::from_second(1_700_000_000).expect("it is in range")
}

/// Reads the input as a host's message, and as the command line by which a host calls a hook.
fn hooked(data: &[u8]) {
    if let Ok(told) = told(data) {
        for host in [Host::ClaudeCode, Host::Cursor, Host::Copilot] {
            for event in [Event::SessionStart, Event::UserPrompt, Event::Stop] {
                let context = PromptText::lines(told.prompt.as_deref().unwrap_or_default());
                if let Some(line) = answer(host, event, &context) {
                    let value: Value = serde_json::from_str(&line).expect("an answer is JSON");
                    assert!(value.is_object() && !line.contains('\n'), "{line}");
                }
            }
        }
    }
    let words: Vec<OsString> = std::iter::once("bower".into())
        .chain(
            data.split(|byte| *byte == 0)
                .take(32)
                .map(|word| String::from_utf8_lossy(word).into_owned().into()),
        )
        .collect();
    hook::is_called(&words);
}

/// Reads the input as lines of an MCP client, and runs those calls, resources and prompts in it that only read.
fn frames(data: &[u8]) {
    let _ = mcp::message(data);
    for message in mcp::messages(data).unwrap_or_default() {
        let ClientJsonRpcMessage::Request(request) = message else { continue };
        match request.request {
            ClientRequest::CallToolRequest(call) => {
                mcp::fuzzed_call(&call.params, &HOME.service, &HOME.bounds, now());
            }
            ClientRequest::ReadResourceRequest(read) => {
                mcp::fuzzed_read(&read.params.uri, &HOME.service, &HOME.bounds, now());
            }
            ClientRequest::GetPromptRequest(prompt) => {
                mcp::fuzzed_prompt(&prompt.params, &HOME.service, &HOME.bounds, now());
            }
            _ => {}
        }
    }
}

/// Parses a body; none if the input is not one.
fn body<T: DeserializeOwned>(data: &[u8]) -> Option<T> {
    serde_json::from_slice(data).ok()
}

/// Checks that a refusal has a message.
fn served<T>(served: Served<T>) {
    if let Err(refused) = served {
        assert!(!refused.failure().message.trim().is_empty());
    }
}

/// Reads the input as the body of each request, and runs the queries. Writes are parsed, then refused for lack of
/// access.
fn bodies(data: &[u8]) {
    let Home { service, bounds, .. } = &*HOME;
    if let Some(query) = body::<QueryBody>(data) {
        served(service.query(&query, bounds, now()));
    }
    if let Some(list) = body::<ListBody>(data) {
        served(service.list(&list, bounds, now()));
        served(service.documents(&list, bounds, now()));
    }
    if let Some(brief) = body::<BriefBody>(data) {
        served(service.brief(&brief, bounds, now()));
    }
    if let Some(forget) = body::<ForgetBody>(data) {
        served(service.forget(&forget, bounds, now()));
    }
    if let Some(curate) = body::<CurateBody>(data) {
        served(service.curate(&curate, bounds, now()));
    }
    if let Some(turns) = body::<TurnsBody>(data) {
        served(service.keep_turns(&turns, bounds, now()));
    }
    let _ =
        (body::<FeedbackBody>(data), body::<PinBody>(data), body::<SweepBody>(data), body::<PruneBody>(data));
    let _ = (
        body::<ConsolidateBody>(data),
        body::<UndoBody>(data),
        body::<SettleBody>(data),
        body::<IndexBody>(data),
    );
    http::fuzzed_query(&String::from_utf8_lossy(data));
}

#[cfg(test)]
#[test]
fn targets_take_whatever_comes() {
    run_all(TARGETS, 400);
}
