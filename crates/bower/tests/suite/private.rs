//! Tests that files and folders are readable and writable by their owner only.
//! This holds whatever the umask of whoever runs the command.

use super::command::{Ended, Home};
use serde_json::json;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// The same command with nothing taken from the modes that it asks for.
fn open_handed(command: &Command) -> Command {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "umask 000; exec \"$@\"", "sh"]).arg(command.get_program()).args(command.get_args());
    shell.env_clear().envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell.current_dir(command.get_current_dir().unwrap()).stdin(Stdio::null());
    shell
}

fn run<const N: usize>(home: &Home, arguments: [&str; N]) -> Ended {
    Ended::from(open_handed(&home.command(arguments)).output().unwrap())
}

#[track_caller]
fn well<const N: usize>(home: &Home, arguments: [&str; N]) -> String {
    let ended = run(home, arguments);
    assert_eq!(ended.status, 0, "{arguments:?}: {ended:?}");
    ended.out
}

fn feed<const N: usize>(home: &Home, arguments: [&str; N], input: &str) -> Ended {
    let mut command = open_handed(&home.command(arguments));
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    Ended::from(child.wait_with_output().unwrap())
}

/// What others may do with files below a folder, each with its mode.
fn wide(folder: &Path, allowed: u32) -> Vec<String> {
    let (mut open, mut found, mut files) = (vec![folder.to_path_buf()], Vec::new(), 0);
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let about = std::fs::symlink_metadata(&path).unwrap();
            if about.is_symlink() {
                continue;
            }
            let mode = about.permissions().mode() & 0o777;
            if mode & !allowed & 0o077 != 0 {
                found.push(format!("{} {mode:o}", path.display()));
            }
            files += 1;
            if about.is_dir() {
                open.push(path);
            }
        }
    }
    assert!(files > 0, "{} is empty", folder.display());
    found
}

#[test]
fn nothing_that_any_command_makes_is_anybody_elses() {
    let home = Home::new();
    // Homes that are there already: nothing above protects what is made in them.
    for folder in ["home", "user", "out", "project"] {
        std::fs::create_dir(home.path(folder)).unwrap();
        std::fs::set_permissions(home.path(folder), std::fs::Permissions::from_mode(0o777)).unwrap();
    }
    let user = home.path("user").to_str().unwrap().to_owned();
    let home = home.with("HOME", &user);
    for n in 0..30 {
        let text = format!("# Boat {n}\n\nBoat number {n} lies in berth {} of the harbour.\n", n * 7);
        home.write(&format!("docs/{n}.md"), text);
    }
    let talk = json!({"sessionId": "s1", "uuid": "t1", "type": "user", "timestamp": "2026-11-01T10:00:00Z",
        "message": {"role": "user", "content": "From now on we always deploy on Tuesdays."}});
    home.write("talk.jsonl", talk.to_string() + "\n");

    let kept = well(&home, ["curate", "The API listens on port 8080"]);
    let id =
        serde_json::from_str::<serde_json::Value>(&kept).unwrap()["data"]["id"].as_str().unwrap().to_owned();
    well(&home, ["curate", "The API listens on port 9090"]);
    well(&home, ["index", "docs"]);
    well(&home, ["query", "where does boat 3 lie?", "--session", "s1"]);
    well(&home, ["feedback", &id, "useful"]);
    well(&home, ["pin", &id]);
    well(&home, ["config", "set", "gate", "strict"]);
    well(&home, ["config", "unset", "gate"]);
    well(&home, ["token", "create", "reader"]);
    well(&home, ["token", "revoke", "reader"]);
    well(&home, ["import", "talk.jsonl"]);
    well(&home, ["sweep"]);
    well(&home, ["brief"]);
    well(&home, ["forget", &id, "-y"]);
    well(&home, ["doctor"]);
    well(&home, ["backup", "out/copy.db"]);
    well(&home, ["export", "out/all.jsonl", "--all", "--documents"]);
    well(&home, ["export", "out/pages", "--as", "markdown"]);
    well(&home, ["export", "out/agent", "--as", "memory-md"]);
    well(&home, ["restore", "out/copy.db", "-y"]);
    well(&home, ["index", "docs"]);
    let hook = |event: &str, more: serde_json::Value| {
        let mut input = json!({"session_id": "s2", "cwd": home.path("project")});
        input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        assert_eq!(feed(&home, ["hook", event], &input.to_string()).status, 0);
    };
    hook("session-start", json!({"source": "startup"}));
    hook("user-prompt", json!({"prompt": "where does boat 3 lie?"}));
    hook("stop", json!({"transcript_path": home.path("talk.jsonl")}));
    for host in ["claude-code", "codex", "copilot", "cursor", "gemini", "opencode", "vscode"] {
        well(&home, ["setup", host, "--yes"]);
        well(&home, ["setup", host, "--yes", "--project", "project"]);
    }
    let mcp = concat!(
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#,
        "\n"
    );
    feed(&home, ["mcp"], mcp);
    // As brv: an entry of the queue is on the disk before it is kept.
    let brv = home.path("brv");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_bower"), &brv).unwrap();
    let mut queued = Command::new(&brv);
    queued.env_clear().env("BOWER_HOME", home.home()).env("TZ", "UTC").current_dir(home.path("project"));
    queued.args(["curate", "--detach", "--", "The build needs Node 22"]);
    let queued = Ended::from(open_handed(&queued).output().unwrap());
    assert_eq!(queued.status, 0, "{queued:?}");
    // A server folds and keeps house beside its answers.
    let mut server = open_handed(&home.command(["--format", "json", "serve", "--port", "0"]));
    let mut server = server.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut first = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut first).unwrap();
    assert!(first.contains("http://"), "{first}");
    assert_eq!(wide(&home.home(), 0), [""; 0], "while a server has the store open");
    Command::new("kill").args(["-TERM", &server.id().to_string()]).status().unwrap();
    assert!(server.wait().unwrap().success());

    assert_eq!(wide(&home.home(), 0), [""; 0]);
    assert_eq!(wide(&home.path("out"), 0), [""; 0]);
    assert_eq!(wide(&home.path("user"), 0), [""; 0]);
    // Whoever has the project reads what is in it, and only its owner writes it.
    assert_eq!(wide(&home.path("project"), 0o055), [""; 0]);
    // A mode that its owner gave to an export stays.
    let given = home.path("out/all.jsonl");
    std::fs::set_permissions(&given, std::fs::Permissions::from_mode(0o640)).unwrap();
    well(&home, ["export", "out/all.jsonl", "--force"]);
    assert_eq!(std::fs::metadata(&given).unwrap().permissions().mode() & 0o777, 0o640);
}
