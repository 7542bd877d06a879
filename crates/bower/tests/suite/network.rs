//! Tests that no command opens a connection to a network unless a setting names a service.

use std::path::Path;
use std::process::Command;

use crate::command::Home;

/// Variables that other tools use. Keys among them are no consent to use a service.
const VARIABLES: [(&str, &str); 7] = [
    ("OPENAI_API_KEY", "sk-not-for-us"),
    ("GEMINI_API_KEY", "not-for-us"),
    ("VOYAGE_API_KEY", "not-for-us"),
    ("ANTHROPIC_API_KEY", "not-for-us"),
    ("OLLAMA_HOST", "http://127.0.0.1:11434"),
    ("OPENAI_BASE_URL", "http://127.0.0.1:1/v1"),
    ("HTTPS_PROXY", "http://127.0.0.1:2"),
];

/// Returns the sockets of a command other than those between processes of this machine.
fn sockets(home: &Home, arguments: &[&str]) -> Vec<String> {
    let log = home.path("trace");
    let mut traced = Command::new("strace");
    traced.args(["-f", "-qq", "-e", "trace=socket,connect,sendto", "-e", "signal=none", "-o"]).arg(&log);
    let command = home.command(arguments);
    traced.arg(command.get_program()).args(command.get_args()).current_dir(home.path(""));
    traced.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    traced.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let done = traced.output().unwrap();
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stdout));
    let calls = std::fs::read_to_string(log).unwrap();
    calls
        .lines()
        .filter(|call| call.contains("AF_") && !call.contains("AF_UNIX"))
        .map(str::to_owned)
        .collect()
}

/// Whether `strace` is here and may trace: a sandbox may forbid it.
fn can_trace() -> bool {
    let probe = Command::new("strace").args(["-qq", "-o", "/dev/null", "true"]).output();
    probe.is_ok_and(|done| done.status.success())
}

#[test]
fn no_command_opens_a_socket_unless_a_service_is_set() {
    if !can_trace() {
        eprintln!("not tested: strace is not here, or may not trace");
        return;
    }
    let home = VARIABLES.iter().fold(Home::with_model(), |home, (name, value)| home.with(name, value));
    home.write("notes/ferry.md", "# Ferry\n\nThe ferry leaves at seven.\n");
    let copy = home.path("copy.db");
    let commands: [&[&str]; 12] = [
        &["curate", "The boathouse keys hang behind the pump."],
        &["index", "notes"],
        &["query", "when does the ferry leave", "--explain"],
        &["query", "where are the keys", "--format", "context"],
        &["list"],
        &["status"],
        &["doctor"],
        &["model", "list"],
        &["model", "use", "openai/text-embedding-3-small", "--dry-run"],
        &["sweep"],
        &["export", "out.jsonl"],
        &["backup", copy.to_str().unwrap()],
    ];
    for arguments in commands {
        let found = sockets(&home, arguments);
        assert!(found.is_empty(), "{arguments:?}: {found:#?}");
    }
    assert!(Path::new(&copy).exists());
}

/// The test above would notice a connection: fetching a model from an address that nobody serves opens a socket.
#[test]
fn a_connection_is_noticed() {
    if !can_trace() {
        eprintln!("not tested: strace is not here, or may not trace");
        return;
    }
    let home = Home::new();
    let log = home.path("trace");
    let mut traced = Command::new("strace");
    traced.args(["-f", "-qq", "-e", "trace=socket", "-o"]).arg(&log);
    let command = home.command(["index", "http://127.0.0.1:9/", "--private-addresses"]);
    traced.arg(command.get_program()).args(command.get_args()).current_dir(home.path(""));
    traced.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    traced.output().unwrap();
    assert!(std::fs::read_to_string(log).unwrap().contains("AF_INET"));
}
