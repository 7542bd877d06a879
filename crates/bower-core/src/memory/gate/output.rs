//! Recognises lines that only programs print: compilers, package managers, test runners, git, shells, servers.
//! No person writes so, and what such a line shows is told in a sentence.

use super::list::List;
use super::random::is_noise;

/// Beginnings that leave no doubt.
const SURE: &[&str] = &[
    "fatal: ",
    "error TS",
    "Switched to branch '",
    "Switched to a new branch '",
    "Already on '",
    "Cloning into '",
    "Enumerating objects: ",
    "Counting objects: ",
    "Compressing objects: ",
    "Writing objects: ",
    "Receiving objects: ",
    "Resolving deltas: ",
    "Unpacking objects: ",
    "remote: ",
    "HEAD is now at ",
    "Auto-merging ",
    "CONFLICT (",
    "Deleted branch ",
    "Your branch is ",
    "Saved working directory ",
    "Dropped refs/stash",
    "Successfully rebased ",
    "up to date, audited ",
    "npm warn ",
    "npm WARN ",
    "npm error ",
    "npm notice ",
    "Reading package lists",
    "Building dependency tree",
    "Reading state information",
    "Setting up ",
    "Preparing to unpack ",
    "Selecting previously unselected package",
    "Requirement already satisfied: ",
    "Installing collected packages: ",
    "Successfully built ",
    "Successfully tagged ",
    "Removing intermediate container ",
    "---> ",
    "Sending build context to Docker",
    "Status: Downloaded newer image",
    "Digest: sha256:",
    "PING ",
    "HTTP/1.",
    "HTTP/2 ",
    "< HTTP/",
    "> GET ",
    "> POST ",
    "* Connected to ",
    "* Trying ",
    "[INFO]",
    "[ERROR]",
    "[WARN]",
    "[WARNING]",
    "[DEBUG]",
    "[TRACE]",
    "[info]",
    "[error]",
    "[warn]",
    "[debug]",
    "[tool_result]",
    "[tool_use]",
    "[tool]",
    "[tool_call]",
    "[assistant]",
    "[system]",
    "<function_results>",
    "<function_call",
    "<tool_call",
    "<tool_output",
    "<stdout>",
    "<stderr>",
    "<output>",
    "<result>",
    "Tool result:",
    "Tool output:",
    "Tool call:",
    "Tool use:",
    "Function call:",
    "Function result:",
    "Function output:",
    "Action Input:",
    "Calling tool:",
    "Calling function:",
    "Executing tool:",
    "Command output:",
    "stdout:",
    "stderr:",
    "Exit code:",
    "exit code:",
    "Process finished with exit code ",
    "Process exited with ",
    "Command exited with ",
    "Command failed with exit code",
    "BUILD SUCCESS",
    "BUILD FAILED",
    "npm ERR! ",
    "Build succeeded.",
    "FAILED tests/",
    "PASSED tests/",
    "FAIL src/",
    "PASS src/",
    "ok  \t",
    "FAIL\t",
    "--- PASS:",
    "--- FAIL:",
    "=== RUN",
    "Test Suites: ",
    "Snapshots: ",
    "collected ",
    "platform linux -- ",
    "Apply complete! ",
    "Terraform will ",
    "Refreshing state...",
    "Active: active (",
    "Active: inactive (",
    "Loaded: loaded (",
    "Main PID: ",
    "Traceback ",
    "Segmentation fault",
    "make: *** ",
    "make[",
    "ninja: ",
    "CMake Error",
    "ld: ",
    "gcc: ",
    "clang: ",
    "rustc ",
    "Hit:",
    "Get:",
    "Ign:",
    "Mem: ",
    "Swap: ",
    ">>> ",
    "PS C:\\",
    "debug1: ",
    "Microsoft Windows [Version",
    "Last login: ",
    "Welcome to Ubuntu",
    "Linux version ",
    "* daemon started",
];

/// Beginnings that are a program's together with other such lines.
const MAYBE: &[&str] = &[
    "warning: ",
    "error: ",
    "note: ",
    "help: ",
    "info: ",
    "hint: ",
    "Content-Type: ",
    "Content-Length: ",
    "Date: ",
    "Server: ",
    "Set-Cookie: ",
    "Cache-Control: ",
    "ETag: ",
    "Connection: ",
    "Vary: ",
    "User-Agent: ",
    "Host: ",
    "Accept: ",
    "X-",
    "= note: ",
    "= help: ",
    "real\t",
    "user\t",
    "sys\t",
    "Unpacking ",
    "Downloading ",
    "Downloaded ",
    "Fetching ",
    "Resolving ",
    "Linking ",
    "Installing ",
    "Building ",
    "Checking ",
    "Bundling ",
    "Tests: ",
    "Time: ",
    "Tasks: ",
    "Memory: ",
    "CPU: ",
    "CGroup: ",
    "Author: ",
    "total ",
    "Thought:",
    "Action:",
    "Observation:",
    "Fast-forward",
    "Updating ",
    "Starting ",
    "Stopping ",
];

/// Ends that leave no doubt, behind a few words.
const ENDS: &[&str] = &[
    ": command not found",
    ": No such file or directory",
    ": Permission denied",
    ": Connection refused",
    "... Done",
    "...done",
    "... done",
    "... done.",
    ", done.",
    "... ok",
    "... OK",
    "... FAILED",
    "... failed",
    "... skipped",
    " [OK]",
    " [FAILED]",
    " packets transmitted",
    ": not found",
    ": cannot execute binary file",
];

/// Whole lines.
const WHOLE: &[&str] = &[
    "Already up to date.",
    "Everything up-to-date",
    "Done.",
    "OK",
    "PASS",
    "FAIL",
    "Killed",
    "Aborted (core dumped)",
    "Compiled successfully.",
    "Compiled successfully!",
    "No changes.",
    "nothing to commit, working tree clean",
];

/// What a program says of how long it took.
static TOOK: List = List::of(
    "done|built|build|finished|compiled|completed|bundled|ready|success|ran|tests|test|passed|\
     compilation|rebuilt|transformed|installed|resolved|deployed|linted|checked|fetched|took|elapsed|\
     total|successfully|webpack|vite|generated|rendered|packaged|✓|✔|✨|pushed|uploaded",
);

/// Whether a line is a program's; the answer is whether it alone leaves no doubt.
pub(super) fn of(line: &str) -> Option<bool> {
    let body = line.trim();
    let words = body.split_whitespace().count();
    if SURE.iter().any(|head| body.starts_with(head)) && !is_told(body) || WHOLE.contains(&body) {
        return Some(true);
    }
    if words <= 14 && ENDS.iter().any(|end| body.ends_with(end)) {
        return Some(true);
    }
    if is_prompt(body)
        || is_counter(body)
        || is_dump(body)
        || is_call(body)
        || is_rule(body)
        || is_network(body)
    {
        return Some(true);
    }
    // `error: could not compile ...`, `INFO  [main] ...`, `Plan: 2 to add, ...`
    let is_error = body
        .strip_prefix("error: ")
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase()) && !body.ends_with('.'));
    let is_level = ["INFO", "WARN", "ERROR", "DEBUG", "TRACE"].iter().any(|level| {
        body.strip_prefix(level).is_some_and(|rest| {
            rest.starts_with([' ', ':']) && rest.trim_start_matches([' ', ':']).starts_with('[')
        })
    });
    if is_error || is_level || (body.starts_with("Plan: ") && body.contains(" to add, ")) {
        return Some(true);
    }
    if body.contains("): error ")
        || body.contains("): warning ")
        || is_state_of(body)
        || is_timed(body, words)
    {
        return Some(true);
    }
    if body.ends_with(" packages are looking for funding")
        || body.starts_with("run `npm ")
        || (body.starts_with("added ") && body.contains(" packages"))
    {
        return Some(true);
    }
    if words <= 8 && ends_in_exit(body) {
        return Some(true);
    }
    if is_object(body) || is_status(body) {
        return Some(true);
    }
    if words == 1 && is_blob(body) {
        return Some(true);
    }
    let is_maybe = MAYBE.iter().any(|head| body.starts_with(head)) || is_margin(line) || is_size(body);
    (is_maybe && !is_told(body)).then_some(false)
}

/// `{"status":"ok","uptime":88123}`: an object of a program's, alone on its line.
fn is_object(body: &str) -> bool {
    let inside = body.strip_prefix('{').or_else(|| body.strip_prefix("[{"));
    inside.is_some_and(|inside| inside.trim_start().starts_with('"'))
        && body.ends_with(['}', ']'])
        && body.matches("\":").count() > 1
}

/// `M  src/app.ts` as git prints it, `total 48` as ls does.
fn is_status(body: &str) -> bool {
    let mut words = body.split_whitespace();
    let (Some(head), Some(rest), None) = (words.next(), words.next(), words.next()) else { return false };
    let is_mark = head.len() <= 2
        && head.bytes().all(|b| matches!(b, b'M' | b'A' | b'D' | b'R' | b'C' | b'U' | b'?' | b'!'));
    (is_mark && rest.contains(['/', '.'])) || (head == "total" && rest.bytes().all(|b| b.is_ascii_digit()))
}

/// Whether a line goes on as a sentence does: a program's lines do not end in a full stop behind seven plain words.
fn is_told(body: &str) -> bool {
    body.ends_with('.')
        && super::code::is_prose(body)
        && body.split_whitespace().count() > 7
        && !body.starts_with(['[', '<', '>', '*'])
}

/// `ada@build7:~/acme$ ls`, `$ git pull`, `> acme@1.2.0 build`.
fn is_prompt(body: &str) -> bool {
    if let Some(rest) = body.strip_prefix("$ ") {
        return rest.starts_with(|c: char| c.is_ascii_lowercase() || matches!(c, '.' | '/'));
    }
    if let Some(rest) = body.strip_prefix("> ") {
        let mut words = rest.split(' ');
        let is_package = words.next().is_some_and(|name| {
            name.rsplit_once('@').is_some_and(|(name, version)| {
                !name.is_empty() && version.starts_with(|c: char| c.is_ascii_digit()) && version.contains('.')
            })
        });
        return is_package && words.count() <= 2;
    }
    let head = body.split(' ').next().unwrap_or("");
    let place = head.trim_start_matches(['[', '(']).trim_end_matches(['$', '#', '%', ']']);
    let Some((user, host)) = place.split_once('@') else { return false };
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
    };
    let is_closed = head.ends_with(['$', '#', '%'])
        || body.split(' ').nth(1).is_some_and(|next| next.ends_with(['$', '#']) && next.len() < 40);
    is_name(user)
        && is_name(host.split(':').next().unwrap_or(""))
        && is_closed
        && (host.contains(':') || head.ends_with(['$', '#', '%']) || head.starts_with('['))
}

/// `[3/7] Linking`, `(3/7) linking`, `Step 4/12 :`, `45%|####`, `ok 3 - name`.
fn is_counter(body: &str) -> bool {
    let inside = body.strip_prefix(['[', '(']).unwrap_or("");
    let is_share = |text: &str| {
        let Some((a, b)) = text.trim().split_once('/') else { return false };
        let all = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        all(a.trim()) && all(b.trim())
    };
    if inside.split([']', ')']).next().is_some_and(is_share) && inside.contains([']', ')']) {
        return true;
    }
    if let Some(rest) =
        body.strip_prefix("Step ").or_else(|| body.strip_prefix("STEP ").or_else(|| body.strip_prefix("#")))
        && is_share(rest.split([' ', ':']).next().unwrap_or(""))
    {
        return true;
    }
    let lower = body.to_lowercase();
    let bar = ["eta ", "it/s", "mb/s", "kb/s", "b/s]", "█", "####", "====>", "━━", "░", "remaining"];
    if lower.contains('%')
        && bar.iter().any(|sign| lower.contains(sign))
        && body.split_whitespace().count() <= 14
    {
        return !super::code::is_prose(body);
    }
    let mut words = body.split(' ');
    match (words.next(), words.next(), words.next()) {
        (Some("ok"), Some(n), Some("-")) => n.bytes().all(|b| b.is_ascii_digit()),
        (Some("not"), Some("ok"), Some(n)) => n.bytes().all(|b| b.is_ascii_digit()),
        _ => false,
    }
}

/// `00000000: 7f45 4c46 ...`
fn is_dump(body: &str) -> bool {
    let mut words = body.split_whitespace();
    let hex = |word: &str| word.bytes().all(|b| b.is_ascii_hexdigit());
    let place = words.next().unwrap_or("").trim_end_matches(':');
    place.len() >= 7
        && hex(place)
        && words.by_ref().take(4).filter(|word| matches!(word.len(), 2 | 4 | 8) && hex(word)).count() == 4
}

/// JSON that only tools speak: `{"tool": "bash", "args": ...}`.
fn is_call(body: &str) -> bool {
    let is_object =
        (body.starts_with('{') && body.ends_with('}')) || (body.starts_with("[{") && body.ends_with("}]"));
    let keys = [
        "\"tool",
        "\"args\"",
        "\"arguments\"",
        "\"function\"",
        "\"function_call\"",
        "\"stdout\"",
        "\"stderr\"",
        "\"exit_code\"",
        "\"exitCode\"",
        "\"role\"",
        "\"cmd\"",
        "\"input\"",
        "\"returncode\"",
        "\"finish_reason\"",
        "\"usage\"",
        "\"traceId\"",
        "\"level\"",
        "\"msg\"",
        "\"timestamp\"",
    ];
    // An object of objects is no note of a few values either.
    is_object && (keys.iter().any(|key| body.contains(key)) || body.matches('{').count() > 2)
}

/// The rules of a table and the banners of test runners: `----+------`, `+----+`, `(2 rows)`, `=== 3 passed in 0.2s ===`.
fn is_rule(body: &str) -> bool {
    let is_line = body.len() >= 5
        && body.contains('+')
        && body.contains("--")
        && body.bytes().all(|b| matches!(b, b'-' | b'+' | b' '));
    let is_rows = body.starts_with('(') && (body.ends_with(" rows)") || body.ends_with(" row)"));
    let is_banner = body.starts_with("===") && body.ends_with("===") && body.len() > 10 && body.contains(' ');
    is_line || is_rows || is_banner || body.contains(" rows in set (")
}

fn is_network(body: &str) -> bool {
    body.contains(" bytes from ") && body.contains("ttl=")
        || body.contains(" packets transmitted, ")
        || (["GET /", "POST /", "PUT /", "DELETE /", "PATCH /", "HEAD /"]
            .iter()
            .any(|head| body.starts_with(head))
            && (body.contains(" HTTP/1")
                || body
                    .split_whitespace()
                    .nth(2)
                    .is_some_and(|code| code.len() == 3 && code.bytes().all(|b| b.is_ascii_digit()))))
}

/// `deployment.apps/web configured`
fn is_state_of(body: &str) -> bool {
    let mut words = body.split(' ');
    let (Some(name), Some(state), None) = (words.next(), words.next(), words.next()) else { return false };
    name.contains('/')
        && !name.contains("//")
        && matches!(
            state,
            "created"
                | "configured"
                | "unchanged"
                | "deleted"
                | "patched"
                | "restarted"
                | "scaled"
                | "annotated"
                | "labeled"
        )
}

/// `Build finished in 12.3s`, `✔ Built in 3.21s`
fn is_timed(body: &str, words: usize) -> bool {
    let bare = body.trim_end_matches(['.', '!']);
    let unit = ["ms", "s", " seconds", " secs", " sec", " ms", " s"].iter().find(|unit| {
        bare.strip_suffix(**unit).is_some_and(|rest| rest.ends_with(|c: char| c.is_ascii_digit()))
    });
    let Some(unit) = unit else { return false };
    let number = bare[..bare.len() - unit.len()].rsplit([' ', '(', '~']).next().unwrap_or("");
    let is_number =
        !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit() || b == b'.' || b == b',');
    let lower = body.to_lowercase();
    let first_words = lower
        .split_whitespace()
        .take(3)
        .map(|word| word.trim_matches(|c: char| matches!(c, ':' | ',' | '(')));
    is_number
        && words <= 9
        && !lower.starts_with("the ")
        && first_words.into_iter().any(|word| TOOK.has(word))
        && lower.contains(" in ")
}

/// `exit code 1`, `exited with code 0`
fn ends_in_exit(body: &str) -> bool {
    let lower = body.to_lowercase();
    let bare = lower.trim_end_matches(['.', ')', ']']);
    let number = bare.rsplit(' ').next().unwrap_or("");
    let before = bare[..bare.len() - number.len()].trim_end();
    !number.is_empty()
        && number.bytes().all(|b| b.is_ascii_digit())
        && [
            "exit code",
            "exit status",
            "exited with code",
            "exited with",
            "return code",
            "status code",
            "exit",
        ]
        .iter()
        .any(|end| before.ends_with(end))
        && !lower.contains(" means ")
        && !lower.contains(" is ")
}

/// A long row of base64: an image, a key, whatever it is, nobody can read it.
fn is_blob(word: &str) -> bool {
    const LEAST: usize = 40;
    let is_base64 = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=' | b'-' | b'_');
    word.len() >= LEAST
        && word.bytes().all(is_base64)
        && word.bytes().any(|b| b.is_ascii_uppercase())
        && word.bytes().any(|b| b.is_ascii_lowercase())
        && is_noise(word)
}

/// The margin of a compiler's excerpt: `4 |     let x = 1;`, `  |`.
fn is_margin(line: &str) -> bool {
    let body = line.trim_start();
    let rest = body.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.starts_with(" | ") && rest.len() < body.len()
        || body == "|"
        || body.starts_with("| ^")
        || body.starts_with("|     ")
}

/// `4.0K ./src`, `120 src/main.rs`
fn is_size(body: &str) -> bool {
    let mut words = body.split_whitespace();
    let (Some(size), Some(path), None) = (words.next(), words.next(), words.next()) else { return false };
    let digits = size.trim_end_matches(['K', 'M', 'G', 'B']);
    !digits.is_empty()
        && digits.bytes().all(|b| b.is_ascii_digit() || b == b'.')
        && (path.contains('/') || path == "total" || path.contains('.'))
}

/// Which lines stand in the columns of a table that a program aligned, or in rows of values parted by commas.
pub(super) fn in_columns(lines: &[&str]) -> Vec<bool> {
    let mut found = vec![false; lines.len()];
    let cells: Vec<usize> = lines.iter().map(|line| cells(line)).collect();
    let commas: Vec<usize> = lines.iter().map(|line| values(line)).collect();
    let mut run = |least: usize, is_alike: &dyn Fn(usize, usize) -> bool| {
        let mut from = 0;
        while from < lines.len() {
            let mut to = from + 1;
            while to < lines.len() && is_alike(from, to) {
                to += 1;
            }
            if to - from >= least && is_alike(from, from) {
                found[from..to].fill(true);
            }
            from = to;
        }
    };
    // Two lines of a table are one where the first is a head in capitals (`NAME  READY  STATUS`).
    let is_head =
        |at: usize| !lines[at].contains(char::is_lowercase) && lines[at].contains(char::is_uppercase);
    run(2, &|from, to| cells[from] >= 3 && cells[to] + 1 >= cells[from] && cells[to] >= 2 && is_head(from));
    let has_digit = |at: usize| lines[at].bytes().any(|b| b.is_ascii_digit());
    let words = |at: usize| lines[at].split_whitespace().count();
    run(2, &|from, to| {
        is_head(from) && words(from) >= 3 && words(to) + 1 >= words(from) && (to == from || has_digit(to))
    });
    run(2, &|from, to| {
        cells[from] >= 3 && cells[to] >= cells[from] && !has_digit(from) && (to == from || has_digit(to))
    });
    run(2, &|from, to| {
        has_digit(to) && cells[from] >= 4 && cells[to] >= 3 && cells[from].abs_diff(cells[to]) <= 2
    });
    run(3, &|from, to| cells[from] >= 3 && cells[to] == cells[from]);
    run(3, &|from, to| commas[from] >= 2 && commas[to] == commas[from]);
    found
}

/// How many short cells a line has between runs of two spaces or more, or tabs.
fn cells(line: &str) -> usize {
    const LONGEST: usize = 40;
    let mut count = 0;
    for cell in
        line.split("  ").flat_map(|part| part.split('\t')).map(str::trim).filter(|cell| !cell.is_empty())
    {
        if cell.len() > LONGEST || (cell.ends_with('.') && cell.contains(' ')) {
            return 0;
        }
        count += 1;
    }
    count
}

/// How many commas part the values of a line; a sentence has a space behind its commas.
fn values(line: &str) -> usize {
    let line = line.trim();
    if line.contains(", ") || line.ends_with(['.', ',', ';', ')']) || line.contains(['(', '{']) {
        return 0;
    }
    line.matches([',', ';']).count()
}
