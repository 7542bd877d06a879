//! Tests that a hook ends well whatever arguments, input and files it is given.
//! It ends with status 0, in time, and prints one JSON object or nothing.

use serde_json::{Value, json};
use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::command::{Ended, Home};

/// Runs of [`a_hook_ends_well_whatever_it_is_given`], unless `BOWER_HOOKS` says how many.
const RUNS: u64 = 40;
/// No run takes so long: the longest that a hook gives its host to tell something is 3 seconds, and machines may be busy.
const LONGEST: Duration = Duration::from_secs(30);

/// The end of a run, which must come by itself.
fn ended(mut child: Child, what: &str) -> Ended {
    let start = Instant::now();
    let (mut out, mut talk) = (child.stdout.take(), child.stderr.take());
    let read = |stream: Option<Box<dyn std::io::Read + Send>>| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            stream.map(|mut stream| stream.read_to_end(&mut bytes));
            String::from_utf8(bytes).unwrap()
        })
    };
    let out = read(out.take().map(|stream| Box::new(stream) as _));
    let talk = read(talk.take().map(|stream| Box::new(stream) as _));
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if start.elapsed() > LONGEST {
            child.kill().unwrap();
            panic!("it does not end: {what}");
        }
        std::thread::yield_now();
        std::thread::park_timeout(Duration::from_millis(2));
    };
    let code = status.code().unwrap_or_else(|| panic!("{status}: {what}"));
    Ended { status: code, out: out.join().unwrap(), talk: talk.join().unwrap() }
}

#[track_caller]
fn is_well(ended: &Ended, what: &str) {
    assert_eq!(ended.status, 0, "{what}: {ended:?}");
    assert!(ended.talk.lines().count() <= 1, "{what}: {ended:?}");
    if !ended.out.is_empty() {
        let answer: Value =
            serde_json::from_str(&ended.out).unwrap_or_else(|why| panic!("{why}: {what}: {ended:?}"));
        assert!(answer.is_object(), "{what}: {ended:?}");
    }
}

fn filled() -> Home {
    let home = Home::new();
    home.data(["curate", "Tomatoes were planted on 15 May.", "--type", "decision"]);
    home
}

fn started(mut command: Command, input: &[u8]) -> (Child, std::process::ChildStdin) {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // It may have ended before it has read everything.
    let _ = stdin.write_all(input);
    (child, stdin)
}

#[test]
fn a_host_of_another_version_gets_nothing_and_status_0() {
    let home = filled();
    let place = home.home().into_os_string();
    let words = |line: &[&str]| line.iter().map(OsString::from).collect::<Vec<_>>();
    let mut all = vec![
        words(&["hook", "user-prompt", "--newflag"]),
        words(&["--home", "X", "hook", "user-prompt", "--newflag"]),
        words(&["--home", "hook", "user-prompt"]),
        words(&["--home"]),
        words(&["hook"]),
        words(&["hook", "of-another-version", "--host", "nobody"]),
        words(&["--format", "odd", "hook", "stop"]),
    ];
    // `bower --home` alone is nobody's hook.
    all[3].push("hook".into());
    all[1][1] = place;
    #[cfg(unix)]
    all.push({
        use std::os::unix::ffi::OsStringExt;
        vec!["hook".into(), "stop".into(), "--owner".into(), OsString::from_vec(b"\xff\xfe".to_vec())]
    });
    for arguments in all {
        let (child, stdin) = started(home.command(&arguments), b"{}");
        drop(stdin);
        let ended = ended(child, &format!("{arguments:?}"));
        is_well(&ended, &format!("{arguments:?}"));
        assert_eq!((ended.out.as_str(), ended.talk.lines().count()), ("", 1), "{arguments:?}: {ended:?}");
        assert!(ended.talk.starts_with("bower hook: "), "{ended:?}");
    }
    assert_eq!(home.run(["query", "hook", "--newflag"]).status, 2, "a person is told");
}

#[test]
fn a_host_need_not_close_what_it_writes_to() {
    let home = filled();
    let prompt =
        json!({ "session_id": "s1", "prompt": "when were the tomatoes planted, on which day of May?" });
    let (child, stdin) = started(home.command(["hook", "user-prompt"]), prompt.to_string().as_bytes());
    let answered = ended(child, "an object and no end");
    drop(stdin);
    assert!(answered.out.contains("15 May"), "{answered:?}");
    let (child, stdin) = started(home.command(["hook", "user-prompt"]), b"{\"session_id\": ");
    let waited = ended(child, "half an object and no end");
    drop(stdin);
    is_well(&waited, "half an object and no end");
    assert!(waited.talk.contains("it took longer than 3.0 s"), "{waited:?}");
}

/// What stands where a transcript should, each with what is said of it.
#[cfg(unix)]
fn transcripts(home: &Home) -> Vec<(PathBuf, &'static str)> {
    let fifo = home.path("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let circle = home.path("circle");
    std::os::unix::fs::symlink(&circle, &circle).unwrap();
    let folder = home.path("folder");
    std::fs::create_dir(&folder).unwrap();
    let large = home.path("large.jsonl");
    // 10 GB that take no room.
    File::create(&large).unwrap().set_len(10 << 30).unwrap();
    vec![
        (fifo, "is no file"),
        (circle, "cannot find"),
        (folder, "is no file"),
        (large, "it is no transcript"),
        (PathBuf::from("/dev/zero"), "is no file"),
        (PathBuf::from("/proc/self/mem"), ""),
        (home.path("missing.jsonl"), ""),
        (home.path(&"long/".repeat(2_000)), "cannot find"),
        (PathBuf::from("a\0b"), "cannot find"),
    ]
}

#[test]
#[cfg(unix)]
fn a_transcript_may_be_anything() {
    let home = filled();
    for (path, why) in transcripts(&home) {
        for event in ["stop", "pre-compact"] {
            let input = json!({ "session_id": "s1", "transcript_path": path.to_str().unwrap() });
            let what = format!("{event} {}", path.display());
            let (child, stdin) = started(home.command(["hook", event]), input.to_string().as_bytes());
            drop(stdin);
            let ended = ended(child, &what);
            is_well(&ended, &what);
            assert!(ended.out.is_empty() && ended.talk.contains(why), "{what}: {ended:?}");
        }
    }
}

#[test]
#[cfg(unix)]
fn nobody_need_read_what_it_prints() {
    let prompt = json!({ "prompt": "when were the tomatoes planted, on which day of May?" }).to_string();
    let home = filled();
    for (out, talk) in [("/dev/full", "/dev/full"), ("/dev/null", "/dev/full"), ("/dev/full", "/dev/null")] {
        let mut command = home.command(["hook", "user-prompt"]);
        let open = |path: &str| Stdio::from(File::options().write(true).open(path).unwrap());
        let mut child = command.stdin(Stdio::piped()).stdout(open(out)).stderr(open(talk)).spawn().unwrap();
        child.stdin.take().unwrap().write_all(prompt.as_bytes()).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0), "{out} {talk}");
    }
    let shell = |redirect: &str| {
        let line = format!("\"$0\" hook user-prompt {redirect}");
        let mut command = home.command(["-c", &line, env!("CARGO_BIN_EXE_bower")]);
        let mut shell = Command::new("/bin/sh");
        shell.args(command.get_args()).env("BOWER_HOME", home.home()).stdin(Stdio::piped());
        command = shell;
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let _ = child.stdin.take().unwrap().write_all(prompt.as_bytes());
        assert_eq!(child.wait().unwrap().code(), Some(0), "{redirect}");
    };
    for redirect in [">&-", "2>&-", ">&- 2>&- <&-", "<&-", "< /dev/zero", "< /", "> /dev/full"] {
        shell(redirect);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_fault_that_nothing_catches_ends_it_well() {
    // A store of which half is cut off under a process that has mapped it would do; an abort is the same fault without the wait.
    let home = filled();
    let (child, stdin) = started(home.command(["hook", "user-prompt"]), b"{");
    let is_ready = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
        // SIGABRT is the sixth signal.
        u64::from_str_radix(caught.trim(), 16).unwrap() & (1 << 5) != 0
    };
    while !is_ready() {
        std::thread::yield_now();
    }
    let told = Command::new("kill").args(["-ABRT", &child.id().to_string()]).status().unwrap();
    assert!(told.success());
    let ended = ended(child, "an abort");
    drop(stdin);
    assert!(ended.status == 0 && ended.talk.contains("a fault ended it"), "{ended:?}");
}

#[test]
#[cfg(unix)]
fn settings_that_are_no_file_are_not_waited_for() {
    let home = filled();
    assert!(Command::new("mkfifo").arg(home.path("home/config.toml")).status().unwrap().success());
    let ended = home.feed(["hook", "user-prompt"], b"{\"prompt\": \"when were the tomatoes planted?\"}");
    is_well(&ended, "settings in a pipe");
    assert!(ended.talk.contains("config.toml is no file"), "{ended:?}");
}

/// A seeded choice (`SplitMix64`).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) % sides as u64) as usize
    }

    fn of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.roll(all.len())].clone()
    }

    fn some<T: Clone>(&mut self, all: &[T], most: usize) -> Vec<T> {
        (0..self.roll(most + 1)).map(|_| self.of(all)).collect()
    }
}

const EVENTS: &[&str] =
    &["session-start", "user-prompt", "pre-compact", "stop", "tool-use", "of-another-version", ""];

/// A command line of a hook, right or not.
fn arguments(dice: &mut Dice, home: &Home) -> Vec<OsString> {
    let place = home.home().to_str().unwrap().to_owned();
    let before: Vec<String> = [
        format!("--home={place}"),
        "--newflag".into(),
        "-v".into(),
        "--quiet".into(),
        "--set=hook_tokens=64".into(),
        "--set=gate=odd".into(),
        "--format=context".into(),
        "--format=odd".into(),
        "--home=/dev/null".into(),
        "--home=".into(),
        "--no-such=hook".into(),
    ]
    .to_vec();
    let mut line: Vec<OsString> = dice.some(&before, 2).into_iter().map(OsString::from).collect();
    if dice.roll(4) == 0 {
        line.push("--home".into());
    }
    if dice.roll(2) == 0 {
        line.extend(["--home".into(), place.clone().into()]);
    }
    line.push("hook".into());
    let hosts =
        ["claude-code", "codex", "copilot", "cursor", "gemini", "hermes", "opencode", "vscode", "nobody"];
    let mut after: Vec<String> = EVENTS.iter().map(|event| (*event).to_owned()).collect();
    after.extend(hosts.map(|host| format!("--host={host}")));
    after.extend(
        [
            "--host",
            "--owner",
            "--owner=ann",
            "--scope=user",
            "--scope=odd",
            "--",
            "hook",
            "stop",
            "x\u{202e}y",
        ]
        .map(String::from),
    );
    after.push("x".repeat(5_000));
    if dice.roll(3) > 0 {
        line.push(dice.of(EVENTS).into());
    }
    line.extend(dice.some(&after, 3).into_iter().map(OsString::from));
    #[cfg(unix)]
    if dice.roll(8) == 0 {
        use std::os::unix::ffi::OsStringExt;
        line.push(OsString::from_vec(vec![b'-', b'-', 0xff, 0xc0]));
    }
    line
}

/// A host's input, right or not.
fn input(dice: &mut Dice, files: &[String]) -> Vec<u8> {
    let texts = [
        "s1",
        "",
        "when were the tomatoes planted, on which day of May?",
        "</bowerbird>\u{0}\u{202e}",
        "resume",
        "/compact",
        "auto",
    ];
    let value = |dice: &mut Dice| match dice.roll(9) {
        0 => Value::Null,
        1 => json!(dice.roll(1 << 20)),
        2 => json!({ "file_path": dice.of(files), "command": "*** Update File: a.rs" }),
        3 => json!([{ "role": "user", "content": "Remember that the port is 5433." }, 7, null]),
        4 => json!("tomatoes ".repeat(1 << dice.roll(16))),
        5 | 6 => json!(dice.of(files)),
        _ => json!(dice.of(&texts)),
    };
    let names = [
        "session_id",
        "sessionId",
        "cwd",
        "workspace_roots",
        "prompt",
        "user_prompt",
        "transcript_path",
        "transcriptPath",
        "messages",
        "tool_input",
        "source",
        "trigger",
        "file_path",
        "tool_name",
    ];
    let fields: serde_json::Map<String, Value> =
        dice.some(&names, 9).into_iter().map(|name| (name.to_owned(), value(dice))).collect();
    let mut bytes = Value::Object(fields).to_string().into_bytes();
    match dice.roll(10) {
        0 => bytes.truncate(dice.roll(bytes.len() + 1)),
        1 => bytes.clear(),
        2 => {
            let at = dice.roll(bytes.len());
            bytes[at] = dice.roll(256) as u8;
        }
        3 => bytes = b"[".repeat(dice.roll(100_000)),
        4 => bytes.splice(0..0, *b"\xef\xbb\xbf").for_each(drop),
        5 => bytes.extend_from_slice(b"}{ and more"),
        _ => {}
    }
    bytes
}

#[test]
#[cfg(unix)]
fn a_hook_ends_well_whatever_it_is_given() {
    let home = filled();
    let mut files: Vec<String> =
        transcripts(&home).into_iter().map(|(path, _)| path.to_str().unwrap().to_owned()).collect();
    let turns = r#"{"role":"user","content":"Remember that the staging port is 5433.","session_id":"c1"}"#;
    files.push(home.write("t.jsonl", format!("{turns}\n").repeat(3)).to_str().unwrap().to_owned());
    files.push(home.write("noise.jsonl", [0xff, 0, b'{', b'\n'].repeat(300)).to_str().unwrap().to_owned());
    let number =
        |name: &str, usual: u64| std::env::var(name).map_or(usual, |text| text.parse().expect("a number"));
    let (runs, seed) = (number("BOWER_HOOKS", RUNS), number("BOWER_SEED", 1));
    for run in 0..runs {
        let mut dice = Dice(seed.wrapping_mul(1_000_003).wrapping_add(run));
        let (line, bytes) = (arguments(&mut dice, &home), input(&mut dice, &files));
        let what = format!("run {run}: {line:?} {}", String::from_utf8_lossy(&bytes[..bytes.len().min(400)]));
        let (child, stdin) = started(home.command(&line), &bytes);
        // Now and then a host holds it open.
        let held = (dice.roll(20) == 0).then_some(stdin);
        is_well(&ended(child, &what), &what);
        drop(held);
    }
}
