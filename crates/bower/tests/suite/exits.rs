//! Tests every exit status, and that each failure is one line with a hint.

use crate::command::{Ended, Home};
use std::ffi::OsString;
use std::process::Stdio;

/// The run must end with this status and an error envelope that holds these words.
pub fn check(ended: &Ended, status: i32, words: &str) {
    assert_eq!(ended.status, status, "{ended:?}");
    let envelope = ended.json();
    assert_eq!(envelope["success"], false, "{envelope}");
    assert_eq!(envelope["data"]["status"], "error", "{envelope}");
    let error = envelope["data"]["error"].as_str().unwrap();
    assert!(!error.contains('\n'), "{error:?}");
    let hint = envelope["data"]["hint"].as_str().unwrap_or_default();
    assert!(format!("{error} | {hint}").contains(words), "{envelope}");
    assert!(!ended.talk.contains("panicked"), "{ended:?}");
}

#[test]
fn done_is_0() {
    let home = Home::new();
    assert_eq!(home.run(["version"]).status, 0);
    assert_eq!(home.run(["--help"]).status, 0);
    assert_eq!(home.run(["help", "query"]).status, 0);
    assert_eq!(home.run(["--version"]).out, format!("bower {}\n", env!("CARGO_PKG_VERSION")));
    let nothing = home.run(["query", "anything"]);
    assert_eq!((nothing.status, nothing.json()["data"]["total_found"].as_u64()), (0, Some(0)), "{nothing:?}");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = home.run(["completions", shell]);
        assert!(script.status == 0 && script.out.contains("bower"), "{shell}");
    }
}

#[test]
fn not_found_is_1() {
    let home = Home::new();
    check(&home.run(["get", "ffffffffffffffff"]), 1, "bower list");
    check(&home.run(["history", "ffffffffffffffff"]), 1, "ffffffffffffffff");
    check(&home.run(["forget", "ffffffffffffffff"]), 1, "ffffffffffffffff");
    check(&home.run(["index", "no/such/folder"]), 1, "no/such/folder");
    check(&home.run(["index", "no/such/folder"]), 1, "seen from the current folder");
}

#[test]
fn wrong_usage_is_2() {
    let home = Home::new();
    check(&home.run([]), 2, "bower --help");
    check(&home.run(["nonsense"]), 2, "nonsense");
    check(&home.run(["querry", "x"]), 2, "query");
    check(&home.run(["query"]), 2, "TEXT");
    check(&home.run(["query", ""]), 2, "query is empty");
    check(&home.run(["query", " \u{2003}\t\n"]), 2, "query is empty");
    check(&home.feed(["query", "-"], b"  \n"), 2, "query is empty");
    check(&home.feed(["query", "-"], b"caf\xe9"), 2, "not valid UTF-8 (byte 3)");
    check(&home.run(["query", "x", "--limit", "0"]), 2, "1..=50");
    check(&home.run(["curate", "The sea is blue.", "--owner", " "]), 2, "leave it out");
    check(&home.run(["query", "x", "--collection", ""]), 2, "leave it out");
    check(&home.run(["query", "x", "--limit", "51"]), 2, "1..=50");
    let refused = home.run(["--format", "json", "query", "x", "--limit", "51"]).json();
    assert!(refused["data"]["hint"].as_str().is_some_and(|hint| !hint.is_empty()), "{refused}");
    check(&home.run(["query", "x", "--type", "decison"]), 2, "decision");
    check(&home.run(["query", "x", "--filter", r#"{"a":{"$near":1}}"#]), 2, "$near");
    check(&home.run(["query", "x", "--filter", "{"]), 2, "not valid JSON");
    check(&home.run(["query", "x", "--since", "soon"]), 2, "--since");
    check(&home.run(["query", "x", "--since", "1d", "--until", "2d"]), 2, "not before");
    check(&home.run(["curate", " "]), 2, "curate is empty");
    check(&home.run(["curate", "x", "--metadata", "novalue"]), 2, "KEY=VALUE");
    check(&home.run(["curate", "x", "--metadata", "a=1", "--metadata", "a=2"]), 2, "given twice");
    check(&home.run(["index"]), 2, "PATH");
    check(&home.run(["forget"]), 2, "nothing says what to forget");
    check(&home.run(["forget", "--yes"]), 2, "nothing says what to forget");
    check(&home.run(["forget", "--yes", "--filter", r#"{"$and":[{}]}"#]), 2, "nothing says what to forget");
    check(&home.run(["forget", "abc"]), 2, "shorter than 6");
    check(&home.run(["forget", "abcdef0123456789", "--tag", "x"]), 2, "both ids and a selection");
    check(&home.run(["list", "--set", "nope=1"]), 2, "unknown setting");
    assert_eq!(home.run(["list", "--format", "context"]).status, 2);
    assert!(!home.home().exists(), "a command line that cannot be acted on writes nothing");
}

#[test]
fn a_wrong_command_line_is_told_in_the_format_that_was_asked_for() {
    let home = Home::new();
    let text = home.run(["query", "x", "--limit", "0", "--format", "text"]);
    assert_eq!((text.status, text.out.as_str()), (2, ""));
    assert!(text.talk.starts_with("bower: invalid value '0' for '--limit <N>'"), "{}", text.talk);
    let json = home.run(["query", "--format=json", "--limit", "x", "y"]);
    assert_eq!(json.json()["command"], "query");
    let hidden = home.run(["query", "--limit", "x", "--", "--format=text"]);
    assert_eq!(hidden.json()["success"], false, "what follows -- is no flag");
}

#[test]
fn a_broken_environment_is_3() {
    let home = Home::new();
    std::fs::create_dir_all(home.home()).unwrap();
    home.write("home/memory.db", b"this is no database, whatever its name says".repeat(100));
    check(&home.run(["status"]), 3, "memory.db");
    let examined = home.run(["doctor"]);
    assert_eq!(
        (examined.status, examined.json()["data"]["healthy"].as_bool()),
        (3, Some(false)),
        "{examined:?}"
    );

    let home = Home::new();
    home.write("home", "a file where the folder should be");
    check(&home.run(["status"]), 3, "home");
    let home = Home::new();
    home.write("home/config.toml", "thread = 2\n");
    check(&home.run(["query", "x"]), 3, "did you mean threads?");
    assert_eq!(home.run(["version"]).status, 0, "it reads nothing");
    assert_eq!(home.run(["config", "path"]).status, 0, "this is how one finds what to mend");
    check(&Home::new().with("BOWER_THREADS", "many").run(["status"]), 3, "BOWER_THREADS");
}

#[test]
fn any_unicode_text_is_a_query() {
    let home = Home::new();
    assert_eq!(home.run(["curate", "C++ and a/b don't agree"]).status, 0);
    for text in [
        "C++",
        "a/b",
        "don't",
        "\"",
        "*",
        "' OR 1=1 --",
        "field:value",
        "🎉",
        "記憶",
        "\u{0}x".trim_matches('\0'),
        "(",
        "NOT",
    ] {
        let ended = home.run(["query", "--", text]);
        assert_eq!(ended.status, 0, "{text}: {ended:?}");
        assert_eq!(ended.json()["data"]["query"], text);
    }
    let long = "lorem ipsum dolor ".repeat(60_000);
    assert_eq!(home.feed(["query", "-"], long.as_bytes()).status, 0, "a query of 1 MB");
    assert_eq!(home.run(["query", "--", "--limit"]).json()["data"]["query"], "--limit");
    assert_eq!(home.feed(["query", "-"], "\u{feff}bom\r\n".as_bytes()).json()["data"]["query"], "bom");
}

#[cfg(unix)]
#[test]
fn an_argument_that_is_not_utf_8_is_named_as_such() {
    use std::os::unix::ffi::OsStringExt;
    let home = Home::new();
    let arguments = ["query".into(), OsString::from_vec(b"caf\xe9".to_vec())];
    check(&Ended::from(home.command(arguments).output().unwrap()), 2, "not valid UTF-8");
}

#[test]
fn a_reader_that_leaves_early_is_no_failure() {
    let home = Home::new();
    let mut child =
        home.command(["completions", "bash"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&ended.stderr), "");
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_3() {
    let home = Home::new();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let ended = home.command(["version", "--format", "text"]).stdout(full).output().unwrap();
    assert_eq!(ended.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&ended.stderr).contains("cannot write standard output"));
}
