//! Tests refusals of the file system: files that cannot be read, a full disk, a home that cannot be written.

use crate::command::{Ended, Home};
use crate::exits::check;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The number of the user `nobody` on every usual system.
const NOBODY: u32 = 65_534;

fn is_root(home: &Home) -> bool {
    std::fs::metadata(home.path("")).unwrap().uid() == 0
}

fn mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// The program where any user may run it: the folder it was built in may be somebody's own.
fn program(home: &Home) -> PathBuf {
    let at = home.path("bower");
    if !at.exists() {
        // By another process: were it open for writing here, a child that is born meanwhile would keep it "busy".
        let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_bower")).arg(&at).status().unwrap();
        assert!(copied.success());
        mode(&at, 0o755);
        mode(&home.path(""), 0o755);
    }
    at
}

/// Runs it as somebody whom permissions bind: this user, or nobody where this user is root.
fn bound<const N: usize>(home: &Home, arguments: [&str; N]) -> Ended {
    let mut command = Command::new(program(home));
    command.env_clear().env("BOWER_HOME", home.home()).env("TZ", "UTC").current_dir(home.path(""));
    command.args(arguments);
    if is_root(home) {
        command.uid(NOBODY).gid(NOBODY);
    }
    Ended::from(command.output().unwrap())
}

fn reason(report: &serde_json::Value, name: &str) -> String {
    let skipped = report["skipped"].as_array().unwrap();
    let one = skipped.iter().find(|one| one["path"].as_str().unwrap().ends_with(name));
    one.unwrap_or_else(|| panic!("{name} is not listed: {report}"))["reason"].as_str().unwrap().to_string()
}

#[test]
fn files_that_cannot_be_read_are_listed_and_stop_nothing() {
    let home = Home::new();
    home.write("docs/good.md", "# Good\n\nThe zymurgy valve.\n");
    home.write("docs/binary.md", b"text\0and more");
    home.write("docs/empty.md", "");
    let locked = home.write("docs/locked.md", "# Locked\n\nNobody reads this.\n");
    let folder =
        home.write("docs/closed/inside.md", "# Inside\n\nNor this.\n").parent().unwrap().to_path_buf();
    std::fs::create_dir(home.path("docs/folder.md")).unwrap();
    symlink("nowhere.md", home.path("docs/dangling.md")).unwrap();
    assert!(Command::new("mkfifo").arg(home.path("docs/pipe.md")).status().unwrap().success());
    mode(&locked, 0o000);
    mode(&folder, 0o000);
    std::fs::create_dir(home.home()).unwrap();
    mode(&home.home(), 0o777);
    let report = bound(&home, ["index", "docs"]);
    assert_eq!(report.status, 0, "{report:?}");
    let report = &report.json()["data"];
    assert_eq!(report["indexed"], 1, "{report}");
    assert!(reason(report, "locked.md").contains("ermission denied"), "{report}");
    assert!(reason(report, "closed").contains("ermission denied"), "{report}");
    for name in ["binary.md", "empty.md"] {
        assert!(!reason(report, name).is_empty(), "{report}");
    }
    // Named one by one they are told too, and a pipe is not waited for.
    for name in ["docs/pipe.md", "docs/locked.md"] {
        let ended = bound(&home, ["index", name]);
        assert_eq!(ended.status, 0, "{ended:?}");
        assert!(!reason(&ended.json()["data"], name.rsplit('/').next().unwrap()).is_empty(), "{ended:?}");
    }
    check(&bound(&home, ["index", "docs/dangling.md"]), 1, "dangling.md");
    assert_eq!(bound(&home, ["query", "zymurgy"]).json()["data"]["results"].as_array().unwrap().len(), 1);
    mode(&folder, 0o755);
}

#[test]
fn what_cannot_be_read_for_a_while_is_kept() {
    let home = Home::new();
    let inside = home.write("docs/closed/inside.md", "# Inside\n\nThe zymurgy valve.\n");
    let pipe = home.write("docs/other.md", "# Other\n\nAnother valve.\n");
    std::fs::create_dir(home.home()).unwrap();
    mode(&home.home(), 0o777);
    assert_eq!(bound(&home, ["index", "docs"]).json()["data"]["indexed"], 2);
    mode(inside.parent().unwrap(), 0o000);
    let report = bound(&home, ["index", "docs"]);
    assert_eq!((report.status, report.json()["data"]["removed"].as_u64()), (0, Some(0)), "{report:?}");
    assert_eq!(bound(&home, ["query", "zymurgy"]).json()["data"]["total_found"], 1);
    mode(inside.parent().unwrap(), 0o755);
    std::fs::remove_file(&pipe).unwrap();
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let report = bound(&home, ["index", "docs"]);
    assert_eq!((report.status, report.json()["data"]["removed"].as_u64()), (0, Some(1)), "{report:?}");
}

/// A small file system on `at`, until dropped.
struct Small(PathBuf);

impl Small {
    fn mount(at: PathBuf, options: &str) -> Option<Self> {
        std::fs::create_dir_all(&at).unwrap();
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(&at).output();
        if mounted.is_ok_and(|ended| ended.status.success()) { Some(Self(at)) } else { None }
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_takes_nothing_of_what_was_kept() {
    let home = Home::new();
    let Some(_small) = Small::mount(home.home(), "size=2m") else {
        println!("this user may not mount: the full disk was not tried");
        return;
    };
    assert_eq!(home.run(["curate", "The spare valve is in the cellar."]).status, 0);
    // All of what is left: not even a log can be begun.
    let ballast = home.path("home/ballast");
    let mut left = 4 << 20;
    let mut filled = Vec::new();
    while left >= 512 {
        filled.extend(std::iter::repeat_n(b'x', left));
        if std::fs::write(&ballast, &filled).is_err() {
            filled.truncate(filled.len() - left);
            left /= 2;
        }
    }
    let story = "A long story about valves. ".repeat(20_000);
    check(&home.feed(["curate", "--gate", "off", "-"], story.as_bytes()), 3, "is full");
    check(&home.run(["curate", "A short one."]), 3, "free some space");
    home.write("docs/long.md", format!("# Long\n\n{story}"));
    check(&home.run(["index", "docs"]), 3, "is full");
    check(&home.run(["config", "set", "rrf_k", "30"]), 3, "is full");
    assert!(!home.path("home/config.toml").exists(), "no half of a file is left");
    // Reading needs no space.
    assert_eq!(home.data(["query", "valve"])["total_found"], 1);
    assert_eq!(home.data(["list"])["total"], 1);
    assert_eq!(home.data(["status"])["total_memories"], 1);
    std::fs::remove_file(&ballast).unwrap();
    assert_eq!(home.data(["curate", "A short one."])["accepted"], true);
    assert_eq!(home.data(["doctor"])["healthy"], true);
    assert_eq!(home.data(["list"])["total"], 2);
}

#[test]
fn a_full_disk_at_the_very_first_write_leaves_no_broken_store() {
    let home = Home::new();
    let Some(_small) = Small::mount(home.home(), "size=64k") else {
        println!("this user may not mount: the full disk was not tried");
        return;
    };
    for _ in 0..2 {
        check(&home.run(["curate", "The spare valve is in the cellar."]), 3, "is full");
    }
}

#[test]
fn output_to_a_full_disk_is_told() {
    let home = Home::new();
    home.data(["curate", "one fact"]);
    for arguments in [["query", "fact"], ["list", "--format=text"], ["status", "--format=json"]] {
        let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") else {
            println!("no /dev/full here");
            return;
        };
        let ended = home.command(arguments).stdout(full).output().unwrap();
        assert_eq!(ended.status.code(), Some(3), "{arguments:?}: {ended:?}");
        let talk = String::from_utf8_lossy(&ended.stderr);
        assert!(talk.contains("cannot write standard output") && !talk.contains("panicked"), "{talk}");
    }
}

/// Questions are answered; what would write says that it cannot, and why.
fn reads_only(home: &Home, run: impl Fn(&[&str]) -> Ended) {
    let answer = run(&["query", "cellar"]);
    assert_eq!(answer.status, 0, "{answer:?}");
    assert_eq!(answer.json()["data"]["total_found"], 1, "{answer:?}");
    for arguments in [&["list"][..], &["status"], &["doctor"], &["query", "--fast", "valve"]] {
        let ended = run(arguments);
        assert_eq!(ended.status, 0, "{arguments:?}: {ended:?}");
    }
    for arguments in
        [&["curate", "something new"][..], &["index", "docs"], &["forget", "--yes", "--type", "fact"]]
    {
        let ended = run(arguments);
        check(&ended, 3, "read-only");
        assert!(ended.json()["data"]["hint"].as_str().unwrap().contains("--home"), "{ended:?}");
    }
    let ended = run(&["config", "set", "rrf_k", "30"]);
    assert_eq!(ended.status, 3, "{ended:?}");
    assert!(!home.path("home/config.toml").exists());
}

#[test]
fn a_home_that_cannot_be_written_still_answers() {
    let home = Home::new();
    home.write("docs/a.md", "# A\n\nSomething.\n");
    assert_eq!(home.run(["curate", "The spare valve is in the cellar."]).status, 0);
    assert_eq!(home.run(["index", "docs"]).status, 0);
    assert_eq!(home.run(["forget", "--yes", "--collection", "documents"]).status, 0);
    program(&home);
    // Made for their owner alone: here somebody else has to read them.
    for file in std::fs::read_dir(home.home()).unwrap().flatten().filter(|entry| entry.path().is_file()) {
        mode(&file.path(), 0o444);
    }
    mode(&home.home(), 0o555);
    for folder in std::fs::read_dir(home.home()).unwrap().flatten().filter(|entry| entry.path().is_dir()) {
        let _ = Command::new("chmod").args(["-R", "a-w,a+rX"]).arg(folder.path()).status();
    }
    reads_only(&home, |arguments| {
        let mut command = Command::new(program(&home));
        command.env_clear().env("BOWER_HOME", home.home()).current_dir(home.path("")).args(arguments);
        if is_root(&home) {
            command.uid(NOBODY).gid(NOBODY);
        }
        Ended::from(command.output().unwrap())
    });
    mode(&home.home(), 0o755);
}

#[test]
fn a_home_on_a_read_only_disk_still_answers() {
    let home = Home::new();
    home.write("docs/a.md", "# A\n\nSomething.\n");
    let Some(_small) = Small::mount(home.home(), "size=8m") else {
        println!("this user may not mount: the read-only disk was not tried");
        return;
    };
    assert_eq!(home.run(["curate", "The spare valve is in the cellar."]).status, 0);
    let remounted = Command::new("mount").args(["-o", "remount,ro"]).arg(home.home()).status();
    assert!(remounted.unwrap().success());
    reads_only(&home, |arguments| Ended::from(home.command(arguments).output().unwrap()));
}

#[test]
fn a_home_that_cannot_be_made_is_told() {
    let home = Home::new();
    program(&home);
    let parent = home.path("closed");
    std::fs::create_dir(&parent).unwrap();
    mode(&parent, 0o555);
    let inside = parent.join("home").into_os_string().into_string().unwrap();
    for arguments in [["curate", "x", "--home", &inside], ["query", "x", "--home", &inside]] {
        let ended = bound(&home, arguments);
        check(&ended, 3, "closed/home");
        assert!(ended.json()["data"]["hint"].as_str().unwrap().contains("--home"), "{ended:?}");
    }
    // A file that may not be read is no missing file.
    let home = Home::new();
    assert_eq!(home.run(["curate", "The spare valve is in the cellar."]).status, 0);
    program(&home);
    mode(&home.home(), 0o755);
    mode(&home.path("home/memory.db"), 0o000);
    check(&bound(&home, ["query", "valve"]), 3, "memory.db");
}
