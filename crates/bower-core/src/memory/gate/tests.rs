//! Golden tests of each admission rule: texts that it refuses, beside texts that it must accept.
//! All are invented; secrets are put together from pieces, so that no scanner of repositories takes them for real.

use proptest::prelude::*;

use super::*;

fn refused(text: &str) -> Option<Refusal> {
    judge(text, Gate::Normal, &Constants::default()).refused
}

#[track_caller]
fn check(expected: Refusal, refuse: &[&str], accept: &[&str]) {
    for text in refuse {
        assert_eq!(refused(text), Some(expected), "{text}");
    }
    for text in accept {
        assert_eq!(refused(text), None, "{text}");
    }
}

#[test]
fn words_are_those_of_json() {
    for refusal in Refusal::ALL {
        assert_eq!(serde_json::to_string(refusal).unwrap(), format!("\"{refusal}\""));
        let reason = refusal.reason();
        assert!(!reason.contains('\n') && !reason.ends_with('.') && reason.len() > 20, "{reason}");
    }
}

#[test]
fn diffs_are_in_git() {
    check(
        Refusal::Diff,
        &[
            "diff --git a/src/main.rs b/src/main.rs\nindex 3f2a91c..07be45d 100644\n--- a/src/main.rs\n+++ b/src/main.rs\n\
             @@ -1,3 +1,3 @@\n fn main() {\n-    run(8080);\n+    run(9090);\n }",
            "@@ -10,2 +10,2 @@ fn port() {\n-let port = 8080;\n+let port = 9090;",
            "Here is the diff:\n```diff\n-timeout: 5\n+timeout: 30\n```",
            "--- old.yml\n+++ new.yml\n@@ -1 +1 @@\n-port: 80\n+port: 81",
        ],
        &[
            "The port moved to 9090 because 8080 is taken by the proxy:\n```diff\n-port: 8080\n+port: 9090\n```",
            "- tabs, not spaces\n- two reviewers\n+ tests for each change",
            "Review diffs with `git diff --word-diff` when prose changes.",
            "--- \nA rule above a note is no diff.",
        ],
    );
}

#[test]
fn a_sentence_carries_a_screen_of_lines() {
    let lines = |n: usize| {
        format!("The fix for the crash in the parser was this.\n@@ -1 +1 @@\n{}", "+x\n".repeat(n))
    };
    let most = Constants::default().most_quoted_lines;
    assert_eq!(refused(&lines(most - 1)), None);
    assert_eq!(refused(&lines(most)), Some(Refusal::Diff));
}

#[test]
fn traces_say_nothing_alone() {
    check(
        Refusal::StackTrace,
        &[
            "Traceback (most recent call last):\n  File \"app.py\", line 12, in <module>\n    main()\nValueError: invalid literal for int() with base 10: 'abc'",
            "thread 'main' panicked at src/main.rs:4:10:\nindex out of bounds: the len is 3 but the index is 7\nstack backtrace:\n   0: rust_begin_unwind\n             at /rustc/abc/library/std/src/panicking.rs:652:5\n   1: app::main",
            "Exception in thread \"main\" java.lang.NullPointerException: name is null\n\tat com.acme.Users.find(Users.java:31)\n\tat com.acme.Main.main(Main.java:9)\nCaused by: java.io.IOException: closed\n\t... 12 more",
            "TypeError: Cannot read properties of undefined (reading 'id')\n    at getUser (/srv/app/users.js:14:22)\n    at async handler (/srv/app/index.js:9:3)",
            "panic: runtime error: invalid memory address\n\ngoroutine 1 [running]:\nmain.load(0x0)\n\t/srv/app/main.go:14 +0x1d\nmain.main()\n\t/srv/app/main.go:9 +0x25",
            "Here is the stack trace from the failing test:\n```\nTraceback (most recent call last):\n  File \"t.py\", line 1, in f\nKeyError: 'id'\n```",
        ],
        &[
            "Login fails with `TypeError: user is undefined at auth.js:14` when the cookie is missing; clear it.",
            "The ValueError in parse_port comes from an empty PORT; give it a default.",
            "KeyError: 'id' means that the export is older than version 3.",
            "The import crashes when the file is empty, so check its size first.\n```\nTraceback (most recent call last):\n  File \"t.py\", line 1, in f\nKeyError: 'id'\n```",
            "We meet at noon (12:00) in the large room.",
        ],
    );
}

#[test]
fn git_keeps_its_own_history() {
    check(
        Refusal::GitHistory,
        &[
            "commit 3f2a91c07be45d6688a1f0c2d9e4b5a6c7d8e9f0\nAuthor: Ada <ada@acme.test>\nDate:   Mon Mar 3 10:00:00 2025 +0100\n\n    parser: keep lines\n\n    It lost them before.",
            "3f2a91c parser: keep the lines of a table\n07be45d docs: say what a fold is\nd9e4b5a tests: cover the empty file",
            "On branch main\nYour branch is up to date with 'origin/main'.\n\nChanges not staged for commit:\n  (use \"git add <file>...\" to update)\n\tmodified:   src/main.rs\n\nno changes added to commit",
            " src/main.rs | 12 ++++----\n src/lib.rs  |  3 +--\n 2 files changed, 7 insertions(+), 8 deletions(-)",
            " M src/main.rs\n?? notes/plan.md",
            "Git log:\n```\n* 3f2a91c (HEAD -> main) parser: keep lines\n* 07be45d docs: folds\n```",
        ],
        &[
            "3f2a91c introduced the regression in the table parser.",
            "On branch main we keep releases only.",
            "The commit 3f2a91c must not be reverted: the migration depends on it.",
            "Commit to a date before the launch is announced.",
            "Author: Ada Lovelace, notes on the engine, 1843.",
        ],
    );
}

#[test]
fn logs_are_output() {
    check(
        Refusal::Log,
        &[
            "2026-11-22T10:00:01Z INFO server: listening on 0.0.0.0:8080\n2026-11-22T10:00:02Z WARN pool: slow checkout",
            "[2026-11-22 10:00:01,123] ERROR in worker: job 17 failed after 3 retries",
            "level=info ts=2026-11-22T10:00:01Z msg=\"started the worker\"",
            "127.0.0.1 - - [22/Nov/2026:10:00:01 +0000] \"GET /health HTTP/1.1\" 200 2",
            "Nov 22 10:00:01 web1 sshd[812]: Accepted publickey for deploy",
            "running 3 tests\ntest parse::empty ... ok\ntest parse::table ... FAILED\ntest result: FAILED. 2 passed; 1 failed",
            "   Compiling serde v1.0.200\n   Compiling acme v0.1.0 (/srv/acme)\n    Finished `dev` profile in 3.1s",
            "$ cargo build\n   Compiling acme v0.1.0\n    Finished dev [unoptimized + debuginfo] target(s) in 1.2s",
            "HEARTBEAT_OK",
            "Heartbeat check at 10:30: no issues found.",
            "Cron job nightly-backup completed successfully at 03:00.",
        ],
        &[
            "WARNING: never run the migration on a Friday.",
            "2026-03-01 We moved the API to port 9090.",
            "The cron job for backups runs at 03:00 every night.",
            "The log line `ERROR pool exhausted` means that a connection leaks; restart the worker.",
            "10:30 is when the heartbeat of the pumps is measured.",
            "[10:02] Anna: we ship on Friday\n[10:04] Ben: then I freeze the branch",
        ],
    );
}

#[test]
fn lists_of_paths_say_nothing() {
    check(
        Refusal::Paths,
        &[
            "src/main.rs\nsrc/lib.rs\nsrc/parse/table.rs\nCargo.toml",
            "acme/\n├── Cargo.toml\n├── src\n│   ├── main.rs\n│   └── lib.rs\n└── tests",
            "total 16\ndrwxr-xr-x 2 ada ada 4096 Nov 22 10:00 src\n-rw-r--r-- 1 ada ada  812 Nov 22 10:00 Cargo.toml\n-rw-r--r-- 1 ada ada  120 Nov 22 10:00 README.md",
            "Files changed:\n- src/main.rs\n- src/lib.rs\n- tests/table.rs",
            "src/main.rs:12: let port = 8080;\nsrc/lib.rs:3:use acme::port;\nsrc/port.rs:9:pub fn port() -> u16 {",
        ],
        &[
            "The settings are in /etc/acme/acme.toml.",
            "Config path:\n/etc/acme/acme.toml",
            "src/main.rs",
            "The three files of the parser are the only ones that may allocate.\n- src/parse/table.rs\n- src/parse/cell.rs\n- src/parse/row.rs",
            "src/: the program\n  src/parse: reads tables and cells into rows\n  src/print: writes them in columns",
        ],
    );
}

#[test]
fn code_needs_a_sentence() {
    check(
        Refusal::Code,
        &[
            "fn main() {\n    println!(\"hello\");\n}",
            "```python\nprint('hello')\n```",
            "def write(self, n):\n    \"\"\"Writes a number to the stream.\"\"\"\n    # it has four bytes\n    self.stream.write(n)",
            "import os\nimport sys\n\nfor name in os.listdir(\".\"):\n    print(name)",
            "SELECT name, port FROM services WHERE state = 'up' ORDER BY name",
            "{\n  \"name\": \"acme\",\n  \"port\": 8080,\n  \"tags\": [\"a\", \"b\"]\n}",
            "const x = items.map((item) => item.id);",
            "Here is the code:\n```\nfn port() -> u16 { 8080 }\n```",
        ],
        &[
            "To restart the worker run:\n```sh\nsystemctl restart acme-worker\n```",
            "Use `let Some(x) = y else { return };` for early exits.",
            "The retry helper waits twice as long each time.\nfn wait(n: u32) -> Duration {\n    Duration::from_secs(1 << n)\n}",
            "ACME_PORT=8080",
            "ACME_PORT=8080\nACME_HOST=db1\nACME_USER=app",
            "{\"port\": 8080}",
            "Name: Anna\nCity: Porto\nRole: head of data",
            "We use tabs (see docs);",
            "From Berlin to Paris by train it takes eight hours.",
            "Call foo() before bar(), or the lock is never released.",
        ],
    );
}

#[test]
fn boot_files_are_read_anyway() {
    check(
        Refusal::BootFile,
        &[
            "You are Claude, made by Anthropic.",
            "Your name is Atlas. You are a personal assistant to Tom.",
            "The agent is Atlas, an AI assistant.",
            "{\"role\":\"user\",\"content\":\"hi\"}",
            "You are a helpful assistant that answers questions about the code base.",
            "You are an expert Rust engineer and coding agent working in a terminal.",
            "IMPORTANT: you must never commit without being asked.",
            "## Relevant Knowledge\n\n### Document 1: fact 3f2a91c07be45d66\n\nThe API listens on port 8080.",
            "<system-reminder>The file was modified.</system-reminder>",
            "CLAUDE.md says to use pnpm instead of npm.",
            "According to AGENTS.md, tests are run with make test.",
            "At session start the agent reads SOUL.md and USER.md.",
            "This file provides guidance to Claude Code when working with this repository.",
            "<memory-context>\nThe port is 8080.\n</memory-context>",
        ],
        &[
            "You are right that the port is 9090, we changed it in May.",
            "CLAUDE.md is kept below 200 lines.",
            "Important: the backup key is in the safe.",
            "The knowledge base is searched by BM25.",
            "You are an inspiration to all of us, Anna!",
            "Claude is our CFO's first name.",
        ],
    );
}

#[test]
fn echoes_are_known_already() {
    let returned = ["The billing API listens on port 8080.", "Anna prefers green tea."].map(Heard::of);
    let check = |text: &str, expected| {
        // No other rule knows it.
        assert_eq!(
            (refused(text), is_echo(text, &returned, &Constants::default())),
            (None, expected),
            "{text}"
        );
    };
    check("According to memory, the billing API listens on port 8080.", true);
    check("The billing API listens on port 8081.", false);
    check("Anna prefers black tea.", false);
}

#[test]
fn chatter_tells_nothing() {
    check(
        Refusal::Chatter,
        &[
            "ok, thanks",
            "Done!",
            "Let me check that",
            "Let me look at the config file.",
            "Sounds good, go ahead.",
            "Thank you so much, Anna!",
            "Anna: Bye!",
            "👍",
            "...",
            "Sure, will do. Thanks again!",
            "I'll look into it.",
            "Now I understand the structure. Let me implement the fix.",
            "I've updated the file src/main.rs with the changes you asked for.",
            "The user said hello.",
        ],
        &[
            "Anna: Thanks for the book on coral reefs.",
            "Yes, the port is 9090.",
            "Let me check: the port is 9090.",
            "ok means that the queue is empty",
            "Decision: yes",
            "8080",
            "x",
            "one fact",
            "C++ and a/b don't agree",
            "Danke, das passt so.",
            "いいですね。",
        ],
    );
}

#[test]
fn a_session_is_not_one_memory() {
    check(
        Refusal::SessionSummary,
        &[
            "In this session we refactored the parser and added tests.",
            "Summary of the conversation: the user wants a new parser.",
            "This session is being continued from a previous conversation that ran out of context.",
            "The user asked me to fix the login page, and I did.",
            "- Added a parser\n- Fixed the port\n- Updated the docs\n- Ran the tests",
            "**Session 12 summary**: Worked on auth. Completed: login page. Pending: logout.",
            "Work completed:\n- [x] parser\n- [x] port",
            "I have successfully implemented the parser with all tests passing.",
        ],
        &[
            "Sessions end after thirty minutes without a request.",
            "The session on Rust at the meetup was full.",
            "Summary of the week: three releases, one incident, two new hires.",
            "- Added sugar hides the taste\n- Salt keeps it\n- Pepper lifts it",
            "Today we decided to keep the monorepo.",
            "The user asks for a diagram whenever a design is discussed.",
        ],
    );
}

#[test]
fn a_step_of_the_work_is_no_memory() {
    check(
        Refusal::Step,
        &[
            "Reading src/parser/mod.rs to see how tokens are made.",
            "I ran `cargo test` and 3 tests failed.",
            "Let me open the router and see where the 404 comes from.",
            "Committed the changes and pushed the branch.",
            "I will look at the schema next.",
            "Found 17 matches in 5 files.",
            "Step 4 of 9: rename the helper.",
            "On to the next file.",
            "The user has not answered yet.",
        ],
        &[
            // What was found, what holds from now on, and why.
            "I checked the config: the timeout is 30 seconds.",
            "Updated config.yaml to use port 9090.",
            "We added a retry because the gateway drops one request in a thousand.",
            // Somebody else, an order, a subject.
            "Ada is reading the parser's tests.",
            "Read the meter on the last day of each month.",
            "Running the tests in parallel breaks the upload test.",
            // Nothing that a session handles.
            "I read two books a month.",
            "I will look at two flats on Friday.",
            "Moved the API to port 9090.",
            "The search index has 17 shards in 5 regions.",
        ],
    );
}

#[test]
fn an_agent_tells_what_it_is() {
    check(
        Refusal::BootFile,
        &[
            "I am Orin, the operations assistant of the platform team.",
            "My instructions: answer briefly, never guess.",
            "Loaded CLAUDE.md: 22 rules, the first is to be brief.",
            "The guidelines in SOUL.md require me to stop when I am told to.",
            "The assistant should be helpful, harmless and honest.",
            "Available tools: bash, edit, search.",
            "# SOUL.md\n\nYou are Orin.\n- be brief",
            "Working directory: /srv/acme\nPlatform: linux",
        ],
        &[
            "I'm a lab assistant at the institute of geology.",
            "My role at Acme is head of data.",
            "CLAUDE.md is generated from docs/rules by `make rules`.",
            "The agent must be restarted after each update.",
            "You must use pnpm here, npm breaks the workspace links.",
            "The working directory of the job is /srv/jobs.",
        ],
    );
}

#[test]
fn talk_is_known_among_other_talk() {
    let most = Constants::default().most_talk_words;
    let offer = |words: usize| {
        format!("Got it. Would you like me to {}?", vec!["paint"; words.saturating_sub(6)].join(" "))
    };
    assert_eq!(refused(&offer(most)), Some(Refusal::Chatter));
    assert_eq!(refused(&offer(most + 2)), None);
    check(
        Refusal::Chatter,
        &[
            "Awesome, thanks a bunch!",
            "That makes sense, carry on.",
            "What did we decide about the billing port?",
            "No relevant memories found.",
            "Sorry for the confusion earlier!",
        ],
        &[
            "Thanks to the index the report takes two seconds.",
            "Good catch is the name of the fish shop in Bergen.",
            "No backups are kept of the scratch volume.",
            "I don't have access to the payroll system, ask Ada.",
        ],
    );
}

#[test]
fn output_is_known_by_a_line() {
    check(
        Refusal::Log,
        &[
            "exit code 1",
            "bash: foo: command not found",
            "[3/7] Linking targets",
            "Build finished in 12.3s",
            "ada@build7:~/acme$ ls",
            "NAME   READY   STATUS\nweb-1  1/1     Running",
            "name,port,owner\nweb,8080,ada\nadmin,9090,ben",
            "{\"tool\":\"bash\",\"args\":{\"cmd\":\"ls\"}}",
            "added 67 packages, and audited 68 packages in 7s\n\nfound 0 vulnerabilities",
        ],
        &[
            "Exit code 3 means that the license has expired.",
            "web: 8080\nadmin: 9090\nmail: 25",
            "Plan: Norway in May, Sweden in June.",
            "The build takes twelve minutes on the old runner.",
        ],
    );
}

/// How many of the sample are refused, and which of it should (or should not) have been.
fn tell(texts: &[&str], should: bool) -> (usize, String) {
    let wrong: Vec<&str> = texts.iter().copied().filter(|text| refused(text).is_some() != should).collect();
    (texts.len() - wrong.len(), wrong.join("\n"))
}

#[test]
fn junk_is_told_from_the_world() {
    let lists =
        [(sample::JUNK, 174), (sample::LATER_JUNK, 76), (sample::LAST_JUNK, 45), (sample::MORE_JUNK, 6)];
    for (junk, least) in lists {
        let (right, wrong) = tell(junk, true);
        assert!(right >= least, "{right} of {}, kept:\n{wrong}", junk.len());
    }
    for world in [sample::WORLD, sample::LATER_WORLD, sample::LAST_WORLD, sample::MORE_WORLD] {
        let (right, wrong) = tell(world, false);
        assert_eq!(right, world.len(), "refused:\n{wrong}");
    }
}

#[test]
fn a_memory_has_a_length() {
    let text = |n: usize| "word ".repeat(n / 5);
    let most = Constants::default();
    let judge = |text: &str, gate| judge(text, gate, &most).refused;
    assert_eq!(judge(&text(most.most_chars), Gate::Normal), None);
    assert_eq!(judge(&text(most.most_chars + 5), Gate::Normal), Some(Refusal::TooLong));
    assert_eq!(judge(&text(most.most_chars_strict + 5), Gate::Strict), Some(Refusal::TooLong));
    assert_eq!(judge(&text(most.most_chars + 5), Gate::Off), None);
}

#[test]
fn only_strict_mode_minds_the_moment() {
    let verdict = |gate| judge("The build is running.", gate, &Constants::default());
    assert_eq!(verdict(Gate::Strict).refused, Some(Refusal::Passing));
    assert_eq!(
        (verdict(Gate::Normal).refused, verdict(Gate::Normal).durability()),
        (None, Durability::Passing)
    );
    assert_eq!(judge("ok, thanks", Gate::Off, &Constants::default()).refused, None);
}

/// Characters as random as a key's.
fn made(prefix: &str, length: usize) -> String {
    let letters = b"7Gk2pQ9xVb4LmT8wZc1RdN5sYh3FjK6aEuXo0WiBvMtCgHyPqSrD";
    prefix
        .chars()
        .chain((0..length).map(|at| char::from(letters[(at * 7 + length) % letters.len()])))
        .collect()
}

#[test]
fn a_text_that_is_a_secret_is_refused() {
    let token = made("ghp_", 36);
    let env = format!("GITHUB_TOKEN={token}\nDB_PASSWORD=hunter2\n");
    check(
        Refusal::Secret,
        &[&token, &env, "my password is hunter2", &format!("Please remember the API key {token}")],
        &[&format!("The release job of the web repository signs in with {token}; rotate it in March.")],
    );
    // The refused text is safe to log.
    let verdict = judge(&env, Gate::Normal, &Constants::default());
    let safe = verdict.redacted.unwrap().text;
    assert!(!safe.contains("hunter2") && !safe.contains(&token[4..]), "{safe}");
    // Off means byte for byte.
    assert_eq!(judge(&env, Gate::Off, &Constants::default()).redacted, None);
}

proptest! {
    #[test]
    fn any_text_is_judged(text in "\\PC{0,200}", other in "\\PC{0,80}") {
        let verdict = judge(&text, Gate::Strict, &Constants::default());
        is_echo(&text, &[Heard::of(&other), Heard::of(&text)], &Constants::default());
        if let Some(redacted) = verdict.redacted {
            prop_assert!(!redacted.found.is_empty());
        }
    }

    /// Pieces that the rules look for, in any order and cut anywhere.
    #[test]
    fn pieces_of_rules_never_break_it(pieces in prop::collection::vec(prop::sample::select(vec![
        "```", "\n", "diff --git a", "@@ -1 @@", "commit 3f2a91c", "token", "password", "=", ":", " is ", "\"", "'", "`", "eyJ", ".eyJ", ".",
        "-----BEGIN ", "PRIVATE KEY-----", "-----END ", "sk-", "ghp_", "://", "@", "at ", "(", ")", "版", "é", "👍", "Authorization: Bearer ",
        "├── ", "├", "total 4", "drwxr-xr-x ", "  File \"", "\", line ", "10:00:01 ", " INFO ", "[", "]", "- ", "AKIA", "//", "/*", "*/",
        "\"\"\"", "You are a ", "agent", "##", "Let me check ", "\u{200d}", "i'm instructed", "my ", "role is to ", "session ", "ended ", "I ", "will ", "read ", "next ", "3 of 4 ", "pin ", "creds ", "a/b1", "--", " | 12 ++", "\t", "import ", "raise ", "İ", "ß", "。", "’",
    ]), 0..40)) {
        let text: String = pieces.concat();
        for gate in Gate::ALL {
            judge(&text, *gate, &Constants::default());
        }
        is_echo(&text, &[Heard::of(&text)], &Constants::default());
    }
}

#[test]
fn time_is_linear() {
    // Each would take minutes where a rule looks back or ahead without a limit.
    for piece in [
        "-----BEGIN PRIVATE KEY-----",
        "eyJa.",
        "a://",
        "token ",
        "glpat-a.",
        "'",
        "@@ -1 @@\n",
        "a=",
        "(((",
        "password is ",
        "。",
        "According to memory, ",
    ] {
        let text = piece.repeat(400_000 / piece.len());
        let constants = Constants { most_chars: usize::MAX, ..Constants::default() };
        judge(&text, Gate::Normal, &constants);
        is_echo(&text, &[Heard::of(&text)], &constants);
    }
}
