//! Finds sleeping threads and tests: whoever waits, waits for an event or for a condition with a deadline.

use std::collections::BTreeSet;

use super::source::{Token, named, tokens, without_tests};

/// Files and folders whose threads may sleep, each with its reason.
const SLEEPERS: &[(&str, &str)] = &[
    (
        "crates/bower-bench/src/",
        "a load is given at a rate, and a process is killed in the midst of its work",
    ),
    ("crates/bower-core/src/store/sqlite/backup.rs", "SQLite's backup does not wait for a lock by itself"),
    ("crates/bower-core/src/store/sqlite/head.rs", "no lock of a file can be waited for with a deadline"),
    (
        "crates/bower-core/src/store/sqlite/mod.rs",
        "SQLite does not wait for a lock where it turns its log on",
    ),
    ("crates/bower-providers/src/clock.rs", "a service says how long to wait before the next request"),
    ("crates/bower-providers/src/secret.rs", "no process's end can be waited for with a deadline"),
    ("crates/bower/src/commands/hook.rs", "a host writes its transcript late, and tells nobody"),
    ("crates/bower/src/commands/hook/guard.rs", "no thread's end can be waited for with a deadline"),
    ("crates/bower/src/web/fetch.rs", "a site asks for a pause between two requests"),
    ("crates/bower/src/mcp/conformance.rs", "a server that nobody ends has to end by itself"),
    ("crates/bower/tests/suite/command.rs", "another process tells nobody how far it is"),
];

/// Every file that sleeps and may not, and every file that may and does not: `files` are paths with their texts.
pub fn sleeps(files: &[(&str, &str)]) -> Vec<String> {
    let mut unused: BTreeSet<&str> = SLEEPERS.iter().map(|(path, _)| *path).collect();
    let mut wrong = Vec::new();
    for (path, text) in files {
        let lines = sleeping_lines(path, text);
        match SLEEPERS.iter().find(|(may, _)| path.starts_with(may)) {
            Some((may, _)) if !lines.is_empty() => drop(unused.remove(may)),
            Some(_) => {}
            None => wrong.extend(
                lines.iter().map(|line| format!("{path}:{line}: sleeps; wait for what it waits for")),
            ),
        }
    }
    wrong.extend(unused.iter().map(|path| format!("{path}: sleeps no more; take it from the list")));
    wrong
}

/// The lines that name `thread::sleep`, and in tests those that name `time::sleep` of an async runtime: elsewhere that is a timer.
fn sleeping_lines(path: &str, text: &str) -> BTreeSet<usize> {
    let all = tokens(text);
    let is_test = path.contains("/tests/") || path.ends_with("tests.rs");
    let code = if is_test { Vec::new() } else { without_tests(&all) };
    let of = |tokens: &[Token], module: &str| -> BTreeSet<usize> {
        let end = [module.to_owned(), "sleep".to_owned()];
        named(tokens).iter().filter(|path| path.parts.ends_with(&end)).map(|path| path.line).collect()
    };
    let timers = of(&code, "time");
    let in_tests = of(&all, "time").into_iter().filter(|line| !timers.contains(line));
    of(&all, "thread").into_iter().chain(in_tests).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_sleeps_only_where_it_may() {
        let listed: Vec<(&str, &str)> =
            SLEEPERS.iter().map(|(path, _)| (*path, "fn f() { std::thread::sleep(x) }")).collect();
        let check = |path: &'static str, text: &'static str, wrong: &[&str]| {
            assert_eq!(sleeps(&[listed.as_slice(), &[(path, text)]].concat()), wrong, "{text}");
        };
        let wrong = ["crates/bower/src/a.rs:1: sleeps; wait for what it waits for"];
        check("crates/bower/src/a.rs", "fn f() { std::thread::sleep(x) }", &wrong);
        check("crates/bower/src/a.rs", "use std::thread::{self, sleep};", &wrong);
        check("crates/bower/src/a.rs", "#[cfg(test)] mod tests { use tokio::time::sleep; }", &wrong);
        check("crates/bower/src/a.rs", "use tokio::time::sleep; // thread::sleep", &[]);
        check("crates/bower-bench/src/a.rs", "fn f() { thread::sleep(x) }", &[]);
        let unused = format!("{}: sleeps no more; take it from the list", SLEEPERS[1].0);
        assert_eq!(sleeps(&[&listed[..1], &listed[2..]].concat()), [unused]);
    }
}
