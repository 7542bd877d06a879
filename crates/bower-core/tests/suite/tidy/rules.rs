//! The repository's rules as pure functions from a file's path and text to the list of its problems.
//! Nothing here reads the tree, so that each rule is tested with an example that passes and one that does not.

use std::collections::BTreeMap;

use super::source::{Named, Token, module_of, named, tokens, without_tests};

/// A file past this many lines is two files.
const MOST_LINES: usize = 800;
/// Characters of a file's first line.
const MOST_FIRST: usize = 120;
/// ARCHITECTURE.md stays a map.
const MOST_MAP_LINES: usize = 250;

/// Which rooms of the core a room may name, besides itself. Who is not in the table may not exist.
/// The pure rooms know values only; `engine` knows all and nobody knows it.
const ARROWS: &[(&str, &[&str])] = &[
    ("error", &[]),
    ("checksum", &[]),
    ("cpu_time", &[]),
    ("files", &[]),
    ("item", &["error"]),
    ("config", &["item", "error", "rank"]),
    ("strength", &["item"]),
    ("filter", &["item", "error"]),
    ("prompt", &[]),
    ("evidence", &["item", "prompt"]),
    ("request", &["item", "error", "filter", "evidence", "rank"]),
    ("text", &["item", "error", "checksum", "files"]),
    ("generation", &["item", "error", "checksum", "files"]),
    ("vector", &["item", "error", "generation"]),
    ("tokens", &["item", "error", "generation"]),
    ("graph", &["item", "error", "generation", "text"]),
    ("rank", &["item", "error", "evidence", "prompt", "strength"]),
    ("memory", &["item", "error", "text", "strength"]),
    ("embed", &["item", "error", "config", "checksum", "files"]),
    ("llm", &["item", "error", "config", "prompt"]),
    ("ingest", &["item", "error", "config", "request", "cpu_time"]),
    ("store", &["item", "error", "files", "request", "filter", "config", "vector"]),
    (
        "engine",
        &[
            "item", "error", "files", "config", "cpu_time", "filter", "evidence", "prompt", "request",
            "text", "vector", "tokens", "graph", "rank", "strength", "memory", "embed", "llm", "ingest",
            "store",
        ],
    ),
];

/// The rooms of the engine, each with those that it may name. What they share lies beside them, and names none of them.
const ENGINE_ROOMS: &[(&str, &[&str])] = &[
    ("query", &[]),
    ("explore", &["query"]),
    ("curate", &["query"]),
    ("index", &["curate"]),
    ("session", &["query", "curate", "index"]),
    ("transfer", &["query", "curate", "index", "session"]),
    ("maintain", &["query", "curate", "index"]),
];

/// What the engine's shared files take from its rooms: the type of a cache.
const ENGINE_SHARED: &[(&str, &str)] = &[("caches", "query")];

/// Re-exports at the root of the core, and the room that each belongs to.
const ROOT_NAMES: &[(&str, &str)] = &[("Error", "error"), ("Result", "error")];

/// What the core must not reach for: environment, home, clock, terminal, an async runtime.
const OUT_OF_BOUNDS: &[&[&str]] = &[
    &["env", "var"],
    &["env", "var_os"],
    &["env", "vars"],
    &["env", "vars_os"],
    &["env", "args"],
    &["env", "home_dir"],
    &["env", "current_dir"],
    &["env", "temp_dir"],
    &["SystemTime", "now"],
    &["Timestamp", "now"],
    &["Zoned", "now"],
    &["TimeZone", "system"],
    &["io", "stdin"],
    &["io", "stdout"],
    &["io", "stderr"],
    &["print", "!"],
    &["println", "!"],
    &["eprint", "!"],
    &["eprintln", "!"],
    &["dbg", "!"],
];

/// What makes files and folders with the mode that the umask leaves.
const MAKES_FILES: &[[&str; 2]] = &[
    ["File", "create"],
    ["File", "create_new"],
    ["File", "options"],
    ["OpenOptions", "new"],
    ["DirBuilder", "new"],
    ["fs", "write"],
    ["fs", "copy"],
    ["fs", "create_dir"],
    ["fs", "create_dir_all"],
];

/// What becomes a part of a prompt over the Model Context Protocol.
const PROMPT_CONTENT: &[&[&str]] = &[
    &["ContentBlock", "text"],
    &["ContentBlock", "resource"],
    &["ResourceContents", "text"],
    &["PromptMessage", "new_text"],
    &["PromptMessage", "new"],
    &["CallToolResult", "structured"],
];

/// The crates of the workspace that a crate may name.
const CRATES: &[(&str, &[&str])] = &[
    ("bower-kernels", &[]),
    ("bower-grammars", &[]),
    ("bower-core", &["bower_kernels", "bower_grammars"]),
    ("bower-providers", &[]),
    ("bower", &["bower_core", "bower_kernels", "bower_providers"]),
    ("bower-bench", &["bower_core", "bower_kernels"]),
];

/// The crates with unsafe code: they use vector instructions, map files, and call C.
const UNSAFE_CRATES: [&str; 2] = ["bower-kernels", "bower-grammars"];

/// A Rust file opens with one sentence that says what it does, short enough for a table.
pub fn first_line(path: &str, text: &str) -> Vec<String> {
    let first = text.lines().next().unwrap_or("");
    let said = first.strip_prefix("//! ").unwrap_or("");
    let is_plain =
        said.ends_with(['.', '`']) && !said.starts_with("What ") && first.chars().count() <= MOST_FIRST;
    problem(!is_plain, || {
        format!(
            "{path}:1: the first line must be //! and one sentence of {MOST_FIRST} characters, not beginning with \"What\""
        )
    })
}

/// A public type's name has one meaning in the core: the names that several files define, each with its files.
///
/// `files` are paths with their texts.
pub fn names_twice(files: &[(&str, &str)]) -> Vec<String> {
    let mut defined: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (path, text) in files {
        for name in public_types(text) {
            defined.entry(name).or_default().push(path);
        }
    }
    let twice = defined.into_iter().filter(|(_, paths)| paths.len() > 1);
    twice.map(|(name, paths)| format!("{name}: {}", paths.join(", "))).collect()
}

/// The public types that a file defines outside of its tests.
fn public_types(text: &str) -> Vec<String> {
    let all = without_tests(&tokens(text));
    let lines: Vec<&str> = text.lines().collect();
    let is_public_type = |at: &usize| {
        matches!(all[*at].text.as_str(), "struct" | "enum" | "trait" | "type" | "union")
            && matches!(all[at - 1].text.as_str(), "pub" | ")")
            // A type of an `impl` is indented; a type of the file is not.
            && lines.get(all[*at].line - 1).is_some_and(|line| line.starts_with("pub"))
    };
    (1..all.len().saturating_sub(1)).filter(is_public_type).map(|at| all[at + 1].text.clone()).collect()
}

/// Words that the glossary's last table bans come back as no public type and no file. `files` are paths with their texts.
pub fn banned_words(glossary: &str, files: &[(&str, &str)]) -> Vec<String> {
    let table = glossary.split("## Words that do not come back").nth(1).unwrap_or_default();
    let rows = table.lines().filter_map(|line| Some(quoted(line.strip_prefix('|')?.split('|').next()?)));
    let banned: Vec<&str> = rows.flatten().collect();
    let mut wrong =
        problem(banned.is_empty(), || "docs/glossary.md: the table of banned words is gone".to_owned());
    for (path, text) in files {
        let name = path.rsplit('/').next().unwrap_or(path);
        let types = public_types(text);
        let here = banned.iter().filter(|word| **word == name || types.iter().any(|one| one == *word));
        wrong.extend(here.map(|word| format!("{path}: docs/glossary.md has another word for {word}")));
    }
    wrong
}

/// A Rust file stays readable.
pub fn length(path: &str, text: &str) -> Vec<String> {
    let lines = text.lines().count();
    problem(lines > MOST_LINES, || format!("{path}: {lines} lines; split it, {MOST_LINES} is the most"))
}

/// Unsafe code lives in two crates alone.
pub fn unsafe_code(path: &str, text: &str) -> Vec<String> {
    if UNSAFE_CRATES.iter().any(|name| path.starts_with(&format!("crates/{name}/"))) {
        return Vec::new();
    }
    tokens(text)
        .iter()
        .filter(|token| token.text == "unsafe")
        .map(|token| format!("{path}:{}: unsafe code outside {}", token.line, UNSAFE_CRATES.join(" and ")))
        .collect()
}

/// The core is told the time, the paths and the seeds; it looks for none and prints nothing.
pub fn pure_core(path: &str, text: &str) -> Vec<String> {
    if !path.starts_with("crates/bower-core/src/") {
        return Vec::new();
    }
    named(&without_tests(&tokens(text)))
        .iter()
        .filter_map(|named| {
            let root = named.parts.first().map(String::as_str);
            let banned = root == Some("tokio")
                || OUT_OF_BOUNDS.iter().any(|banned| {
                    named.parts.windows(2).any(|pair| pair[0] == banned[0] && pair[1] == banned[1])
                });
            banned.then(|| {
                format!(
                    "{path}:{}: the core may not use {}",
                    named.line,
                    named.parts.join("::").replace("::!", "!")
                )
            })
        })
        .collect()
}

/// What a model reads is made of texts that may enter a prompt, in one place.
pub fn prompts(path: &str, text: &str) -> Vec<String> {
    // The other file is the server of a test suite.
    let is_made_here =
        ["crates/bower/src/mcp/content.rs", "crates/bower/src/mcp/conformance.rs"].contains(&path);
    if is_made_here || !path.starts_with("crates/bower/src/") {
        return Vec::new();
    }
    named(&without_tests(&tokens(text)))
        .iter()
        .filter(|named| {
            PROMPT_CONTENT
                .iter()
                .any(|made| named.parts.windows(2).any(|pair| pair[0] == made[0] && pair[1] == made[1]))
        })
        .map(|named| {
            format!(
                "{path}:{}: {} is made in mcp/content.rs, of a PromptText",
                named.line,
                named.parts.join("::")
            )
        })
        .collect()
}

/// Files and folders are made in one place, for their owner alone. Measuring makes what it likes.
pub fn private_files(path: &str, text: &str) -> Vec<String> {
    if path == "crates/bower-core/src/files.rs"
        || path.starts_with("crates/bower-bench/")
        || !path.contains("/src/")
        || path.ends_with("tests.rs")
        || path.ends_with("testing.rs")
        || path.starts_with("crates/bower/src/interference")
    {
        return Vec::new();
    }
    named(&without_tests(&tokens(text)))
        .iter()
        .filter(|named| {
            let made = |pair: &[String]| MAKES_FILES.iter().any(|makes| pair[0] == makes[0] && pair[1] == makes[1]);
            named.parts.windows(2).any(made)
        })
        .map(|named| {
            format!(
                "{path}:{}: {} makes a file as the umask says; bower_core::files makes one for its owner alone",
                named.line,
                named.parts.join("::")
            )
        })
        .collect()
}

/// Arrows between crates and between the rooms of the core point one way.
pub fn arrows(path: &str, text: &str) -> Vec<String> {
    let Some((member, file)) = path.strip_prefix("crates/").and_then(|rest| rest.split_once('/')) else {
        return Vec::new();
    };
    let Some((_, friends)) = CRATES.iter().find(|(name, _)| *name == member) else {
        return vec![format!("{path}: crate {member} is not in the table of crates")];
    };
    let all: Vec<Token> = tokens(text);
    let mut wrong = Vec::new();
    for named in named(&all) {
        // `impl Trait + use<'a>` names nothing.
        let Some(root) = named.parts.first().map(String::as_str) else { continue };
        let other = CRATES.iter().map(|(name, _)| name.replace('-', "_")).find(|name| name == root);
        let own = member.replace('-', "_");
        if let Some(other) = other
            && other != own
            && !friends.contains(&other.as_str())
        {
            wrong.push(format!("{path}:{}: {member} may not name {other}", named.line));
        }
        let Some(("bower-core", module)) = file.strip_prefix("src/").map(|module| (member, module)) else {
            continue;
        };
        if let Some(problem) = room_arrow(module, &named) {
            wrong.push(format!("{path}:{}: {problem}", named.line));
        }
    }
    wrong
}

/// What is wrong with one path named in a file of the core, if anything. `module` is relative to `src/`.
fn room_arrow(module: &str, named: &Named) -> Option<String> {
    let here = module_of(module)?;
    let room = here.first()?.as_str();
    let path = named.absolute(&here)?;
    if let ([engine, from, ..], [one, to, ..]) = (&here[..], &path[..])
        && [engine, one] == ["engine", "engine"]
    {
        return engine_arrow(from, to);
    }
    let target = path.first()?.as_str();
    let target = ROOT_NAMES.iter().find(|(name, _)| *name == target).map_or(target, |(_, room)| room);
    if target == room {
        return None;
    }
    let Some((_, may)) = ARROWS.iter().find(|(name, _)| *name == room) else {
        return Some(format!("room {room} is not in the table of arrows"));
    };
    (!may.contains(&target)).then(|| format!("{room} may not name {target}"))
}

/// What is wrong with a part of the engine naming another.
fn engine_arrow(from: &str, to: &str) -> Option<String> {
    let is_room = |name: &str| ENGINE_ROOMS.iter().any(|(room, _)| *room == name);
    let is_shared = ENGINE_SHARED.contains(&(from, to)) || from == "fuzzing";
    if from == to || !is_room(to) || is_shared {
        return None;
    }
    let may = ENGINE_ROOMS.iter().find(|(room, _)| *room == from).map_or(&[][..], |(_, may)| may);
    (!may.contains(&to)).then(|| format!("engine/{from} may not name engine/{to}"))
}

/// The map stays short.
pub fn map_length(map: &str) -> Vec<String> {
    let lines = map.lines().count();
    problem(lines > MOST_MAP_LINES, || {
        format!("ARCHITECTURE.md: {lines} lines, {MOST_MAP_LINES} is the most")
    })
}

/// Every source file is covered by a row in the "where to go" table, and every row has its file or folder.
///
/// The table is split by headings that name a source folder (`crates/bower-core/src`); in the rows below one,
/// each path in backticks before the second `|` is a file of that folder, which covers the folder of its name too
/// (`eval.rs` covers `eval/metrics.rs`), or a folder with all it holds (`text/`).
pub fn map_rows(map: &str, sources: &[&str]) -> Vec<String> {
    let mut listed = Vec::new();
    let mut folder = None;
    let mut table = false;
    for line in map.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            table = heading.to_lowercase().contains("where to go");
            folder = None;
        } else if line.starts_with("### ") {
            folder = quoted(line).first().map(ToString::to_string);
        } else if let (true, Some(folder), Some(row)) = (table, &folder, line.strip_prefix('|')) {
            let cell = row.split('|').next().unwrap_or("");
            listed.extend(quoted(cell).iter().map(|file| format!("{folder}/{file}")));
        }
    }
    let covers = |row: &str, path: &str| {
        let inside = |folder: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        row == path || row.strip_suffix('/').or(row.strip_suffix(".rs")).is_some_and(inside)
    };
    let missing = sources
        .iter()
        .filter(|path| !listed.iter().any(|row| covers(row, path)))
        .map(|path| format!("{path}: has no row in ARCHITECTURE.md's \"where to go\" table"));
    let dead = listed
        .iter()
        .filter(|row| !sources.iter().any(|path| covers(row, path)))
        .map(|row| format!("ARCHITECTURE.md: the row of {row} leads nowhere"));
    missing.chain(dead).collect()
}

/// Every test that `docs/security.md` names exists: `part::of::its_path::name`, or the path of a file that holds some. `files` are
/// paths with their texts.
pub fn named_tests(page: &str, files: &[(&str, &str)]) -> Vec<String> {
    let is_there = |name: &str| {
        let Some((room, test)) = name.rsplit_once("::") else {
            return files.iter().any(|(path, _)| *path == name);
        };
        let (room, test) = (format!("/{}/", room.replace("::", "/")), format!("fn {test}("));
        let holds = |(path, text): &(&str, &str)| {
            let path = path.strip_suffix(".rs").unwrap_or(path);
            let path = path.strip_suffix("/mod").unwrap_or(path);
            format!("/{path}/").ends_with(&room) && text.contains("#[test]") && text.contains(&test)
        };
        files.iter().any(holds)
    };
    page.lines()
        .flat_map(quoted)
        .filter(|span| !span.contains(' ') && (span.contains("::") || span.starts_with("tools/")))
        .filter(|name| !is_there(name))
        .map(|name| format!("docs/security.md: no test {name}"))
        .collect()
}

/// Every `make TARGET` that the README shows can be run.
pub fn make_targets(readme: &str, makefile: &str) -> Vec<String> {
    let targets: Vec<&str> = makefile
        .lines()
        .filter(|line| !line.starts_with(['\t', ' ', '.', '#']))
        .filter_map(|line| line.split_once(':'))
        .filter(|(_, rest)| !rest.starts_with('='))
        .flat_map(|(names, _)| names.split_whitespace())
        .collect();
    let mut missing = Vec::new();
    let mut code = false;
    for line in readme.lines() {
        if line.trim_start().starts_with("```") {
            code = !code;
            continue;
        }
        let spans = if code { vec![line] } else { quoted(line) };
        for span in spans {
            for command in span.split("&&").map(str::trim) {
                let mut words = command.trim_start_matches("$ ").split_whitespace();
                if words.next() == Some("make")
                    && let Some(target) = words.next().filter(|word| !word.starts_with(['-', '#']))
                    && !targets.contains(&target)
                {
                    missing.push(format!("README.md: make {target} is not a target of the Makefile"));
                }
            }
        }
    }
    missing
}

/// What is committed works on any machine: no paths of the one it was written on, no registry's host.
pub fn portable(path: &str, text: &str) -> Vec<String> {
    // Written in pieces, or this file would break its own rule.
    let folders = [concat!("/wo", "rk/"), concat!("/ro", "ot/")];
    let hosts = [
        concat!("crates", ".io"),
        concat!("pypi", ".org"),
        concat!("python", "hosted.org"),
        concat!("npmjs", ".org"),
        concat!("npmjs", ".com"),
        concat!("proxy.golang", ".org"),
    ];
    let mut wrong = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let at = at + 1;
        for folder in folders {
            let alone = line.match_indices(folder).any(|(start, _)| {
                !line[..start]
                    .ends_with(|before: char| before.is_alphanumeric() || "_-.}>*/".contains(before))
            });
            if alone {
                wrong.push(format!("{path}:{at}: names a folder of one machine, {folder}"));
            }
        }
        // Lock files are cargo's own, and name where each crate comes from.
        for host in hosts.iter().filter(|_| !path.ends_with("Cargo.lock")) {
            if line.contains(host) {
                wrong.push(format!("{path}:{at}: names the package registry {host}"));
            }
        }
    }
    wrong
}

/// The texts between single backticks.
fn quoted(line: &str) -> Vec<&str> {
    line.split('`').skip(1).step_by(2).collect()
}

fn problem(wrong: bool, text: impl Fn() -> String) -> Vec<String> {
    if wrong { vec![text()] } else { Vec::new() }
}

/// No function of the public API takes a bare `true`: options are fields of a struct, or an enum. `listing` is `api.txt`.
pub fn bare_booleans(listing: &str) -> Vec<String> {
    let takes_one = |line: &&str| {
        let signature = line.split_once("fn ").map_or("", |(_, signature)| signature);
        [": bool,", ": bool)"].iter().any(|bare| signature.contains(bare))
    };
    listing.lines().filter(takes_one).map(|line| format!("api.txt: takes a bare boolean: {line}")).collect()
}

/// A second lock file names whatever a crate of the workspace needs: else `--locked` refuses to build with it.
pub fn locked(crate_name: &str, manifest: &str, lock: &str) -> Vec<String> {
    let package = format!("name = \"{crate_name}\"\n");
    let entry = lock.split("[[package]]").find(|entry| entry.contains(&package)).unwrap_or_default();
    let is_needed = |section: &str| section == "dependencies" || section.ends_with(".dependencies");
    let sections = manifest.split("\n[").filter_map(|section| section.split_once("]\n"));
    sections
        .filter(|(name, _)| is_needed(name))
        .flat_map(|(_, lines)| lines.lines())
        .filter(|line| !line.contains("optional = true"))
        .filter_map(|line| line.split_once(['=', '.']))
        .map(|(name, _)| name.trim())
        .filter(|name| !name.starts_with('#'))
        .filter(|name| ["\"", " "].iter().all(|end| !entry.contains(&format!("\n \"{name}{end}"))))
        .map(|name| {
            format!(
                "fuzz/Cargo.lock: {crate_name} needs {name} (cargo metadata --manifest-path fuzz/Cargo.toml)"
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The problems, one a line.
    fn told(problems: &[String]) -> String {
        problems.join("\n")
    }

    #[test]
    fn a_file_says_first_what_lives_in_it() {
        assert!(first_line("a.rs", "//! Ranks.\nfn f() {}").is_empty());
        assert_eq!(first_line("a.rs", "//!\n").len(), 1);
        assert_eq!(first_line("a.rs", "// Ranks.\n").len(), 1);
        assert_eq!(first_line("a.rs", "//! What ranks.\n").len(), 1);
        assert_eq!(first_line("a.rs", "//! Ranks what\n//! was found.\n").len(), 1);
        assert_eq!(first_line("a.rs", &format!("//! {}.\n", "x".repeat(116))).len(), 1);
        assert!(first_line("a.rs", &format!("//! {}.\n", "x".repeat(115))).is_empty());
        assert_eq!(first_line("a.rs", "").len(), 1);
    }

    #[test]
    fn a_file_has_at_most_800_lines() {
        assert!(length("a.rs", &"x\n".repeat(800)).is_empty());
        assert_eq!(told(&length("a.rs", &"x\n".repeat(801))), "a.rs: 801 lines; split it, 800 is the most");
    }

    #[test]
    fn unsafe_is_for_kernels() {
        let text = "// unsafe\nlet s = \"unsafe\";\nunsafe { f() }";
        assert!(unsafe_code("crates/bower-kernels/src/map.rs", text).is_empty());
        assert!(unsafe_code("crates/bower/src/main.rs", "#![forbid(unsafe_code)] // unsafe").is_empty());
        assert_eq!(
            told(&unsafe_code("crates/bower/src/main.rs", text)),
            "crates/bower/src/main.rs:3: unsafe code outside bower-kernels and bower-grammars"
        );
    }

    #[test]
    fn the_core_reads_no_surroundings() {
        let core = "crates/bower-core/src/rank/fuse.rs";
        let bad = "use std::env;\nfn f() { env::var(\"HOME\"); println!(\"x\"); jiff::Timestamp::now(); }";
        assert_eq!(
            told(&pure_core(core, bad)),
            format!(
                "{core}:2: the core may not use env::var\n{core}:2: the core may not use println!\n\
                 {core}:2: the core may not use jiff::Timestamp::now"
            )
        );
        assert_eq!(pure_core(core, "use std::{env::{var as v}, fs};").len(), 1);
        assert_eq!(pure_core(core, "use tokio::runtime::Runtime;").len(), 1);
        assert!(pure_core(core, "fn f(now: Timestamp) { println(\"eprintln!\") }").is_empty());
        assert!(pure_core(core, &format!("fn g() {{}}\n#[cfg(test)]\nmod tests {{ {bad} }}")).is_empty());
        assert!(pure_core("crates/bower/src/main.rs", bad).is_empty());
    }

    #[test]
    fn what_a_model_reads_is_made_in_one_place() {
        let text = "fn f() { ContentBlock::text(text); }\n#[cfg(test)]\nmod tests { fn g() { ContentBlock::text(text); } }";
        assert!(prompts("crates/bower/src/mcp/content.rs", text).is_empty());
        assert_eq!(
            told(&prompts("crates/bower/src/mcp/said.rs", text)),
            "crates/bower/src/mcp/said.rs:1: ContentBlock::text is made in mcp/content.rs, of a PromptText"
        );
    }

    #[test]
    fn files_are_made_in_one_place() {
        let check = |path: &str, text: &str, wrong: usize| {
            assert_eq!(private_files(path, text).len(), wrong, "{text}");
        };
        let file = "crates/bower/src/model.rs";
        for bad in [
            "fn f() { std::fs::write(path, text) }",
            "fn f() { fs::create_dir_all(folder) }",
            "fn f() { File::create(path) }",
            "fn f() { std::fs::File::options().append(true) }",
            "use std::fs::OpenOptions; fn f() { OpenOptions::new() }",
        ] {
            check(file, bad, 1);
            check("crates/bower-core/src/files.rs", bad, 0);
            check("crates/bower-bench/src/main.rs", bad, 0);
            check(file, &format!("fn g() {{}}\n#[cfg(test)]\nmod tests {{ {bad} }}"), 0);
        }
        check(file, "fn f() { files::write(path, text); std::fs::read(path); File::open(path) }", 0);
    }

    #[test]
    fn arrows_between_rooms_point_one_way() {
        let rank = "crates/bower-core/src/rank/fuse.rs";
        assert!(arrows(rank, "use crate::item::{RowId, Scored};\nuse crate::{Error, Result};").is_empty());
        assert!(
            arrows(rank, "use super::Fused; mod tests { use super::*; use super::super::x; }").is_empty()
        );
        assert_eq!(
            told(&arrows(rank, "use crate::item::RowId;\nuse crate::{error::Error, store::{Store, Row}};")),
            format!("{rank}:2: rank may not name store\n{rank}:2: rank may not name store")
        );
        assert!(arrows(rank, "fn f<'a>(text: &'a str) -> impl Sized + use<'a> {}").is_empty());
        assert_eq!(
            told(&arrows(rank, "fn f() { crate::engine::open() }")),
            format!("{rank}:1: rank may not name engine")
        );
        assert_eq!(
            told(&arrows(rank, "use super::super::text;")),
            format!("{rank}:1: rank may not name text")
        );
        assert_eq!(
            told(&arrows(rank, "mod tests { use super::super::super::text::fold; }")),
            format!("{rank}:1: rank may not name text")
        );
        assert_eq!(
            told(&arrows("crates/bower-core/src/rank/mod.rs", "use super::vector;")).lines().count(),
            1
        );
        assert_eq!(arrows(rank, "use crate::*;").len(), 1);
        assert_eq!(arrows("crates/bower-core/src/cellar/mod.rs", "use crate::item::RowId;").len(), 1);
        assert!(
            arrows("crates/bower-core/src/engine.rs", "use crate::{store, rank::fuse, text::*};").is_empty()
        );
        assert_eq!(arrows("crates/bower-core/src/store/mod.rs", "use crate::engine::Engine;").len(), 1);
        let curate = "crates/bower-core/src/engine/curate/echo.rs";
        assert!(
            arrows(curate, "use crate::engine::{Engine, query::plan, indexes};\nuse super::write;")
                .is_empty()
        );
        assert_eq!(
            told(&arrows(curate, "use crate::engine::maintain;\nuse super::super::transfer::import;")),
            format!(
                "{curate}:1: engine/curate may not name engine/maintain\n{curate}:2: engine/curate may not name engine/transfer"
            )
        );
        let shared = "crates/bower-core/src/engine/pending.rs";
        assert_eq!(arrows(shared, "use super::query::record;").len(), 1);
    }

    #[test]
    fn arrows_between_crates_point_one_way() {
        assert!(arrows("crates/bower/src/main.rs", "use bower_core::engine::Engine;").is_empty());
        assert!(arrows("crates/bower-core/src/embed/mod.rs", "use bower_kernels::Isa;").is_empty());
        assert!(arrows("crates/bower-core/tests/suite/main.rs", "use bower_core::item::RowId;").is_empty());
        let kernel = "crates/bower-kernels/src/gemm.rs";
        assert_eq!(
            told(&arrows(kernel, "use bower_core::Error;")),
            format!("{kernel}:1: bower-kernels may not name bower_core")
        );
        assert_eq!(arrows("crates/bower-core/src/engine.rs", "fn f() { bower::main() }").len(), 1);
    }

    #[test]
    fn the_table_of_arrows_has_no_circle() {
        for (room, may) in ARROWS {
            for other in *may {
                let back = ARROWS.iter().find(|(name, _)| name == other);
                assert!(back.is_some_and(|(_, back)| !back.contains(room)), "{room} and {other}");
                assert_ne!(*other, "engine");
            }
        }
    }

    #[test]
    fn the_map_is_short_and_complete() {
        assert!(map_length(&"x\n".repeat(250)).is_empty());
        assert_eq!(map_length(&"x\n".repeat(251)).len(), 1);
        let map = "| `no.rs` | before the table |\n## Where to go\n### `crates/a/src`\n| file | holds |\n|---|---|\n\
                   | `x.rs`, `y/` | things like `z.rs` |\n## Other\n| `b.rs` | c |\n";
        let covered = ["crates/a/src/x.rs", "crates/a/src/x/part.rs", "crates/a/src/y/mod.rs"];
        assert!(map_rows(map, &covered).is_empty());
        assert_eq!(
            told(&map_rows(map, &["crates/a/src/x.rs", "crates/a/src/z.rs"])),
            "crates/a/src/z.rs: has no row in ARCHITECTURE.md's \"where to go\" table\n\
             ARCHITECTURE.md: the row of crates/a/src/y/ leads nowhere"
        );
    }

    #[test]
    fn the_readme_shows_only_targets_that_exist() {
        let makefile = "PARTS := a\n.PHONY: demo\ndemo: build ## try it\n\tmake later\ntest lint: x\n";
        assert!(
            make_targets(
                "Run `make demo`, then make sure.\n```\n$ cd x && make test\nmake -j2\n```",
                makefile
            )
            .is_empty()
        );
        assert_eq!(
            told(&make_targets("```\nmake dmo   # now\n```\n`make later`", makefile)),
            "README.md: make dmo is not a target of the Makefile\nREADME.md: make later is not a target of the Makefile"
        );
        assert_eq!(make_targets("`make PARTS`", makefile).len(), 1);
    }

    #[test]
    fn a_promise_names_tests_that_exist() {
        let files =
            [("crates/a/src/http/auth.rs", "#[test]\n fn a_page_is_refused() {"), ("tools/crash.py", "")];
        let page = "| x | `http::auth::a_page_is_refused`, `auth::a_page_is_refused`, `tools/crash.py` | `/ready` `tools/x --y`";
        assert!(named_tests(page, &files).is_empty());
        let wrong = "`http::a_page_is_refused`, `auth::a_page`, `tools/soak/x.toml`";
        let names: Vec<String> = named_tests(wrong, &files);
        assert_eq!(names.len(), 3, "{names:?}");
        assert_eq!(names[1], "docs/security.md: no test auth::a_page");
    }

    #[test]
    fn a_public_function_takes_no_bare_boolean() {
        let good = "a::B field is_c: bool\na::B fn d(&self, e: &dyn Fn(u8) -> bool) -> bool\n";
        assert!(bare_booleans(good).is_empty());
        let bad = "a::B fn d(&self, e: bool) -> u8\na fn f(g: bool, h: u8)\na::B const fn i(j: bool)\n";
        assert_eq!(bare_booleans(bad).len(), 3);
    }

    #[test]
    fn a_lock_file_names_what_a_crate_needs() {
        let manifest = "[package]\nname = \"a\"\n\n[dependencies]\nb = \"1\"\n# why\nc = { version = \"2\" }\nd.workspace = true\n\n\
                        [target.\"cfg(unix)\".dependencies]\ne = \"1\"\n\n[dev-dependencies]\nf = \"1\"\n";
        let lock =
            |names: &str| format!("[[package]]\nname = \"a\"\nversion = \"1\"\ndependencies = [\n{names}]\n");
        assert!(locked("a", manifest, &lock(" \"b\",\n \"c 2.0\",\n \"d\",\n \"e\",\n")).is_empty());
        let stale = locked("a", manifest, &lock(" \"bb\",\n \"c\",\n \"d\",\n"));
        assert_eq!(stale.len(), 2, "{stale:?}");
        assert!(stale[0].contains("a needs b ") && stale[1].contains("a needs e "), "{stale:?}");
    }

    #[test]
    fn a_public_name_is_defined_once() {
        let one = "pub struct A;\nstruct B;\npub(crate) enum C {}\nimpl X for A {\n    type D = u8;\n}\n";
        let two = "pub trait A {}\npub struct B;\n#[cfg(test)]\nmod tests {\npub struct C;\n}\n";
        assert_eq!(names_twice(&[("one.rs", one), ("two.rs", two)]), ["A: one.rs, two.rs"]);
    }

    #[test]
    fn a_banned_word_does_not_come_back() {
        let page = "| `Good` | x |\n## Words that do not come back\n| not this | but this |\n| `Told` | `Incoming` |\n| `house.rs` | x |\n";
        let files = [("a/good.rs", "pub struct Good;"), ("a/x.rs", "struct Told;"), ("house/y.rs", "")];
        assert!(banned_words(page, &files).is_empty());
        let files = [("a/x.rs", "pub enum Told {}"), ("a/house.rs", "")];
        assert_eq!(banned_words(page, &files).len(), 2);
        assert_eq!(banned_words("", &[]).len(), 1);
    }

    #[test]
    fn nothing_names_one_machine_or_a_registry() {
        let folder = concat!("cd /wo", "rk/x");
        assert_eq!(portable("a.sh", folder).len(), 1);
        assert!(portable("a.sh", concat!("cd ~/home", "wo", "rk/x and notes/wo", "rk/y")).is_empty());
        let host = concat!("see https://crates", ".io/crates/x");
        assert_eq!(portable("README.md", host).len(), 1);
        assert!(portable("Cargo.lock", host).is_empty());
    }
}
