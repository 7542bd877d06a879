//! Tests that `bower index --watch` follows a folder, and that Ctrl-C ends it without losing anything.

use crate::command::{Home, until};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};

/// A watcher that ends with the test, however that ends.
pub(crate) struct Watcher(Child);

impl Watcher {
    /// Watches a path, and returns when nothing is missed any more.
    pub(crate) fn start(home: &Home, path: &str) -> Self {
        let mut command = home.command(["index", path, "--watch"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut talk = BufReader::new(child.stderr.take().unwrap()).lines();
        assert!(talk.any(|line| line.unwrap().contains("watching for changes")));
        // Nobody reads what it says later; it goes on without.
        std::thread::spawn(move || talk.for_each(drop));
        Self(child)
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The names of the files that have this word, in order.
fn found(home: &Home, word: &str) -> Vec<String> {
    let answer = home.data(["query", "--fast", word]);
    let mut names: Vec<String> = answer["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hit| hit["memory"]["metadata"]["file_name"].as_str().unwrap().to_string())
        .collect();
    names.sort();
    names
}

#[test]
fn a_watched_folder_is_followed() {
    let home = Home::new();
    home.write("docs/old.md", "# Old\n\nThe aardvark was here first.\n");
    home.write("docs/.gitignore", "*.log\n");
    (0..20).for_each(|at| drop(home.write(&format!("docs/still/{at}.md"), format!("# Still {at}\n"))));
    let mut command = home.command(["index", "docs", "--watch", "--format", "json"]);
    let mut watcher = Watcher(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
    let mut lines = BufReader::new(watcher.0.stdout.take().unwrap()).lines();
    let first: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    assert_eq!(first["data"]["indexed"], 21, "{first}");
    let mut talk = BufReader::new(watcher.0.stderr.take().unwrap()).lines();
    assert!(talk.any(|line| line.unwrap().contains("watching for changes")));

    home.write("docs/new.md", "# New\n\nA badger arrives.\n");
    home.write("docs/noise.log", "a badger in a log\n");
    until("a new file", || found(&home, "badger") == ["new.md"]);

    home.write("docs/new.md", "# New\n\nA capybara instead.\n");
    until("a changed file", || found(&home, "capybara") == ["new.md"] && found(&home, "badger").is_empty());

    // As editors save: aside, then in its place.
    let aside = home.write("docs/.new.md.swp", "# New\n\nA dormouse by rename.\n");
    std::fs::rename(aside, home.path("docs/new.md")).unwrap();
    until("a file replaced by a rename", || found(&home, "dormouse") == ["new.md"]);

    std::fs::rename(home.path("docs/new.md"), home.path("docs/renamed.md")).unwrap();
    until("a renamed file", || found(&home, "dormouse") == ["renamed.md"]);

    home.write("elsewhere/deep/er/one.md", "# One\n\nAn echidna.\n");
    home.write("elsewhere/two.md", "# Two\n\nAnother echidna.\n");
    std::fs::rename(home.path("elsewhere"), home.path("docs/moved")).unwrap();
    until("a folder moved in", || found(&home, "echidna") == ["one.md", "two.md"]);
    home.write("docs/moved/deep/er/three.md", "# Three\n\nA third echidna.\n");
    until("a file in the folder that was moved in", || found(&home, "echidna").len() == 3);

    std::fs::rename(home.path("docs/moved"), home.path("elsewhere")).unwrap();
    std::fs::remove_file(home.path("docs/renamed.md")).unwrap();
    until("what went away", || found(&home, "echidna").is_empty() && found(&home, "dormouse").is_empty());
    assert_eq!(found(&home, "aardvark"), ["old.md"]);

    home.write("docs/last.md", "# Last\n\nA ferret, just before the end.\n");
    until("the last file", || found(&home, "ferret") == ["last.md"]);
    // Not INT: where the tests run in the background of a shell, children are born ignoring it.
    let asked = Command::new("kill").args(["-TERM", &watcher.0.id().to_string()]).status().unwrap();
    assert!(asked.success());
    let ended = watcher.0.wait().unwrap();
    assert!(ended.signal() == Some(15) || matches!(ended.code(), Some(0 | 143)), "{ended:?}");
    assert_eq!(found(&home, "ferret"), ["last.md"]);
    assert_eq!(home.data(["doctor"])["healthy"], true);
    for line in lines {
        let envelope: Value = serde_json::from_str(&line.unwrap()).unwrap();
        assert_eq!(
            (envelope["command"].as_str(), envelope["success"].as_bool()),
            (Some("index"), Some(true))
        );
        let unchanged = envelope["data"]["unchanged"].as_u64().unwrap();
        assert!(unchanged < 20, "files that did not change were looked at: {envelope}");
    }
}

#[test]
fn a_watched_file_survives_its_editor() {
    let home = Home::new();
    let file = home.write("notes.md", "# Notes\n\nThe gazelle.\n");
    home.write("other.md", "# Other\n\nNobody asked for the heron.\n");
    let _watcher = Watcher::start(&home, "notes.md");
    for word in ["ibis", "jackal"] {
        let aside = home.write("notes.tmp", format!("# Notes\n\nThe {word}.\n"));
        std::fs::rename(aside, &file).unwrap();
        until("a file replaced by its editor", || found(&home, word) == ["notes.md"]);
    }
    assert!(found(&home, "heron").is_empty());
}
