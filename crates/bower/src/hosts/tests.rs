//! Tests that entries are added to hosts' files and removed again, with files of any form.

use super::json::is_ours;
use super::setup::groups;
use super::*;
use proptest::prelude::*;
use serde_json::json;
use std::path::Path;

/// Hosts that have files of a user and of a project.
const HOSTS: [Host; 7] =
    [Host::ClaudeCode, Host::Codex, Host::Copilot, Host::Cursor, Host::Gemini, Host::Opencode, Host::Vscode];

fn call() -> Call {
    Call { program: "/opt/bin/bower".into(), home: Some("/my home".into()) }
}

fn edits() -> Vec<Edit> {
    let mut edits = vec![
        Edit::Absent { name: "version", value: json!(1) },
        Edit::member(&["mcpServers"], call().server()),
    ];
    let events = [("Stop", Event::Stop, 60), ("SessionStart", Event::SessionStart, 5)];
    edits.extend(groups(&call(), Host::Codex, &events, "Edit").into_iter().map(|(_, edit)| edit));
    edits
}

#[test]
fn commands_are_words_for_a_shell() {
    assert_eq!(
        call().hook(Event::UserPrompt, Host::Codex),
        "/opt/bin/bower --home '/my home' hook user-prompt --host codex"
    );
    let here = Call { program: "/it's/bower".into(), home: None };
    assert_eq!(here.hook(Event::Stop, Host::ClaudeCode), "'/it'\\''s/bower' hook stop");
    for ours in [
        "bower hook stop",
        "/a/bower --home /b hook stop",
        "'/a b/bower' hook stop",
        "C:\\x\\bower.exe hook stop",
    ] {
        assert!(is_ours(ours), "{ours}");
    }
    for theirs in ["", "bowery hook stop", "bower mcp", "echo bower hook", "npm run hook", "'bower"] {
        assert!(!is_ours(theirs), "{theirs}");
    }
}

/// Adds all entries, reverts them by their splices, and adds them again.
#[track_caller]
fn check(text: &str, edits: &[Edit], expected: &str) {
    let (after, splices) = edit::put(text, edits).unwrap();
    assert_eq!(after, expected);
    assert_eq!(edit::take_back(&after, &splices, true).as_deref(), Some(text));
    let (again, none) = edit::put(&edit::take_back(&after, &splices, true).unwrap(), edits).unwrap();
    assert_eq!((again, none), (after, splices));
}

#[test]
fn a_member_is_put_in_as_its_neighbours_are() {
    let edit = [Edit::member(&["mcpServers"], json!({ "command": "bower", "args": ["mcp"] }))];
    check(
        "",
        &edit,
        "{\n  \"mcpServers\": {\n    \"bower\": {\n      \"command\": \"bower\",\n      \"args\": [\"mcp\"]\n    }\n  }\n}\n",
    );
    check(
        "{\n\t// mine\n\t\"mcpServers\": {\n\t\t\"other\": {} // it\n\t},\n}\n",
        &edit,
        "{\n\t// mine\n\t\"mcpServers\": {\n\t\t\"other\": {}, // it\n\t\t\"bower\": {\n\t\t\t\"command\": \"bower\",\n\t\t\t\"args\": [\"mcp\"]\n\t\t}\n\t},\n}\n",
    );
}

#[test]
fn a_hook_of_others_stays() {
    let text = r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"say done"},{"type":"command","command":"bower hook stop"}]}]}}"#;
    let without = edit::take_out(text, &edits()).unwrap();
    let stop = json::list_at(&without, &["hooks", "Stop"]).unwrap();
    assert_eq!(stop.elements().len(), 1);
    assert!(without.contains("say done") && !without.contains("bower"), "{without}");
    assert_eq!(edit::take_out(&without, &edits()).unwrap(), without);
}

#[test]
fn what_cannot_be_changed_is_told_with_its_place() {
    let check = |text: &str, expected: &str| {
        let error = edit::put(text, &edits()).unwrap_err();
        assert!(error.contains(expected), "{text}: {error}");
    };
    check("{\n  \"a\": 1,,\n}", "line 2 column 10");
    check("{\n  \"a\": \"b\n}", "line 2");
    check("[1]", "its outermost value is not an object");
    check("{\"mcpServers\": null}", "mcpServers is not an object");
    check("{\"hooks\": {\"Stop\": {}}}", "hooks.Stop is not a list");
    check("{\"mcpServers\": {}, \"mcpServers\": {}}", "mcpServers is in the file twice");
    let table = [Edit::Table { at: "mcp_servers", command: "bower".into(), arguments: vec![] }];
    let error = edit::put("a = 1\nb = = 2\n", &table).unwrap_err();
    assert!(error.contains("line 2 column 5"), "{error}");
    assert!(edit::put("mcp_servers = 1\n", &table).unwrap_err().contains("not a table"));
}

#[test]
fn a_table_goes_to_the_end() {
    let table = [Edit::Table { at: "mcp_servers", command: "bower".into(), arguments: vec!["mcp".into()] }];
    let ours = "[mcp_servers.bower]\ncommand = \"bower\"\nargs = [\"mcp\"]\n";
    check("", &table, ours);
    check("model = \"x\" # mine\n", &table, &format!("model = \"x\" # mine\n\n{ours}"));
    check(
        "[mcp_servers.other]\ncommand = 'o'",
        &table,
        &format!("[mcp_servers.other]\ncommand = 'o'\n\n{ours}"),
    );
    check(
        "a = 1\r\n",
        &table,
        "a = 1\r\n\r\n[mcp_servers.bower]\r\ncommand = \"bower\"\r\nargs = [\"mcp\"]\r\n",
    );
    check(
        "mcp_servers = { other = { command = \"o\" } }\n",
        &table,
        "mcp_servers = { other = { command = \"o\" } , bower = { command = \"bower\", args = [\"mcp\"] } }\n",
    );
    let without = edit::take_out("[mcp_servers.bower]\ncommand = \"x\"\n\n[other]\na = 1\n", &table).unwrap();
    assert!(!without.contains("bower") && without.contains("[other]\na = 1\n"), "{without}");
}

#[test]
fn every_host_has_its_files() {
    let wants = Wants { server: true, hooks: true, tools: true };
    for project in [None, Some(PathBuf::from("/project"))] {
        let at = Places { user: "/user".into(), project: project.clone(), variables: Vec::new() };
        let mut all = Vec::new();
        for host in HOSTS {
            let files = host.files(&at, &call(), wants);
            let base = project.as_deref().unwrap_or(Path::new("/user"));
            assert!(!files.is_empty() && files.iter().all(|(path, _)| path.starts_with(base)), "{files:?}");
            for (_, edits) in &files {
                let (text, _) = edit::put("", edits).unwrap();
                assert!(text.contains("/opt/bin/bower"), "{text}");
                assert!(edit::is_in(&text, edits));
            }
            all.extend(files.into_iter().map(|(path, _)| path));
            assert!(!host.next(&at).is_empty());
        }
        let count = all.len();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), count, "two hosts share a file");
    }
}

#[test]
fn hermes_gets_a_provider_that_knows_its_program_and_home() {
    let at = Places { user: "/user".into(), project: None, variables: Vec::new() };
    let files = Host::Hermes.files(&at, &call(), Wants { server: true, hooks: true, tools: true });
    let text = |name: &str| {
        let (_, edits) = files.iter().find(|(path, _)| path.ends_with(name)).unwrap();
        let (text, _) = edit::put("", edits).unwrap();
        assert!(edit::is_in(&text, edits));
        text
    };
    assert!(files.iter().all(|(path, _)| path.starts_with("/user/.hermes")), "{files:?}");
    let provider = text("plugins/bowerbird/__init__.py");
    assert!(provider.contains(r#""command": "/opt/bin/bower", "home": "/my home""#), "{provider}");
    assert!(text("plugins/bowerbird/child.py").contains("class Child"));
    assert!(text("plugins/bowerbird/plugin.yaml").contains("name: bowerbird"));
    assert_eq!(text("config.yaml"), "memory:\n  provider: bowerbird\n");
}

#[cfg(unix)]
#[test]
fn a_program_that_is_gone_stops_no_prompt_of_gemini() {
    let at = Places { user: "/user".into(), project: None, variables: Vec::new() };
    let files = Host::Gemini.files(&at, &call(), Wants { server: true, hooks: true, tools: true });
    let (text, _) = edit::put("", &files[0].1).unwrap();
    let settings: serde_json::Value = serde_json::from_str(&text).unwrap();
    for hooks in settings["hooks"].as_object().unwrap().values() {
        let command = hooks[0]["hooks"][0]["command"].as_str().unwrap();
        assert!(command.ends_with(" --host gemini || true") && is_ours(command), "{command}");
    }
}

#[test]
fn what_an_older_version_wrote_for_gemini_is_taken_out() {
    let at = Places { user: "/user".into(), project: None, variables: Vec::new() };
    let files = Host::Gemini.files(&at, &call(), Wants { server: true, hooks: true, tools: false });
    let old = r#"{"hooks": {"SessionStart": [{"hooks": [{"command": "/x/bower hook session-start --host gemini"}]}]}}"#;
    assert_eq!(edit::take_out(old, &files[0].1).unwrap().trim(), "{}");
    let theirs = r#"{"hooks": {"SessionStart": [{"hooks": [{"command": "/x/other"}]}]}}"#;
    assert_eq!(edit::take_out(theirs, &files[0].1).unwrap(), theirs);
}

#[test]
fn variables_move_files() {
    let at = Places {
        variables: vec![("CODEX_HOME", "/c".into()), ("CLAUDE_CONFIG_DIR", "/d".into())],
        ..Places::default()
    };
    let wants = Wants { server: true, hooks: true, tools: false };
    let paths =
        |host: Host| host.files(&at, &call(), wants).into_iter().map(|(path, _)| path).collect::<Vec<_>>();
    assert_eq!(paths(Host::Codex), [PathBuf::from("/c/config.toml"), "/c/hooks.json".into()]);
    assert_eq!(paths(Host::ClaudeCode), [PathBuf::from("/d/.claude.json"), "/d/settings.json".into()]);
}

/// Generates any JSON, in unusual formatting.
fn wild() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("-1.5e3".to_owned()),
        "\"[a-zé☃ ]{0,6}\"",
        Just("\"\\u00e9\\n\"".to_owned()),
    ];
    let gap = prop_oneof![
        4 => Just(String::new()),
        3 => Just(" ".to_owned()),
        2 => Just("\n  ".to_owned()),
        1 => Just("\r\n\t".to_owned()),
        1 => Just("/* c */".to_owned()),
        1 => Just(" // c\n".to_owned()),
    ]
    .boxed();
    let name = prop_oneof![
        3 => "\"[a-z]{1,4}\"",
        1 => Just("\"mcpServers\"".to_owned()),
        1 => Just("\"hooks\"".to_owned()),
        1 => Just("\"Stop\"".to_owned()),
    ]
    .boxed();
    let inner = gap.clone();
    let value = leaf.prop_recursive(3, 24, 4, move |value| {
        let member = (inner.clone(), name.clone(), inner.clone(), value.clone(), inner.clone())
            .prop_map(|(a, name, b, value, c)| format!("{a}{name}{b}:{value}{c}"));
        let list = |open: char, close: char| {
            move |(all, trailing, gap): (Vec<String>, bool, String)| {
                let comma = if trailing && !all.is_empty() { "," } else { "" };
                format!("{open}{}{comma}{gap}{close}", all.join(","))
            }
        };
        prop_oneof![
            (prop::collection::vec(member, 0..4), any::<bool>(), inner.clone()).prop_map(list('{', '}')),
            (prop::collection::vec(value, 0..4), any::<bool>(), inner.clone()).prop_map(list('[', ']')),
        ]
    });
    (prop::option::of(Just('\u{feff}')), gap.clone(), value, gap).prop_map(|(mark, a, value, b)| {
        format!("{}{a}{value}{b}", mark.map(String::from).unwrap_or_default())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]
    #[test]
    fn a_wild_file_is_as_it_was(text in prop_oneof![wild(), "[ \n\t]{0,4}"], drift in "[a-z]{0,4}") {
        let edits = edits();
        // A file that cannot be changed gives an error, and nothing else.
        let Ok((after, splices)) = edit::put(&text, &edits) else { return Ok(()) };
        prop_assert_eq!(edit::take_back(&after, &splices, true), Some(text.clone()));
        prop_assert!(edit::is_in(&after, &edits));
        // Another program appended to the file meanwhile.
        let drifted = format!("{after}\n// {drift}\n");
        if let Some(back) = edit::take_back(&drifted, &splices, false) {
            prop_assert_eq!(back, format!("{text}\n// {drift}\n"));
        }
        // Without stored splices, our entries are still removed.
        let without = edit::take_out(&after, &edits).unwrap();
        prop_assert!(!edit::is_in(&without, &edits), "{}", without);
        let (again, _) = edit::put(&without, &edits).unwrap();
        prop_assert!(edit::is_in(&again, &edits));
    }

    #[test]
    fn a_wild_table_is_as_it_was(
        lines in prop::collection::vec(
            prop::sample::select(vec![
                "# a comment", "", "  ", "a = 1", "b = \"x\" # why", "c = [\n  1, # one\n  2,\n]", "d = \"\"\"\nm\n\"\"\"",
                "[t]", "[mcp_servers]", "[mcp_servers.other]", "[[list]]", "mcp_servers.other.command = 'o'",
                "mcp_servers = { other = {} }", "\tf = { g = 1 }",
            ]),
            0..6,
        ),
        newline in prop::sample::select(vec!["\n", "\r\n"]),
        ends in any::<bool>(),
    ) {
        let text = lines.join("\n").replace('\n', newline) + if ends { newline } else { "" };
        let edits = [Edit::Table { at: "mcp_servers", command: "bower".into(), arguments: vec!["mcp".into()] }];
        let Ok((after, splices)) = edit::put(&text, &edits) else { return Ok(()) };
        prop_assert_eq!(edit::take_back(&after, &splices, true), Some(text));
        prop_assert!(edit::is_in(&after, &edits));
        let without = edit::take_out(&after, &edits).unwrap();
        prop_assert!(!edit::is_in(&without, &edits) && !without.contains("bower"), "{}", without);
    }

    #[test]
    fn splices_are_taken_back(old in "\\PC{0,20}", new in "\\PC{0,20}") {
        let splice = edit::Splice::between(&old, &new);
        prop_assert_eq!(edit::take_back(&new, &[splice], true), Some(old));
    }
}
