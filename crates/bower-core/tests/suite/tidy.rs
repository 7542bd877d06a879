//! The tidy test: checks the repository's own rules on every file that belongs to it.
//! A rule is a pure function in `rules`; here they only meet the tree.

mod circles;
mod documents;
mod figures;
mod memory;
mod rules;
mod sentences;
mod sleeps;
mod source;

use std::path::{Path, PathBuf};

/// A file of the repository: its path from the root, with `/`, and its text.
struct Held {
    path: String,
    text: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .expect("the workspace is where cargo found it")
}

/// Every text file that git would keep, by path.
fn held() -> Vec<Held> {
    let root = root();
    let walk = ignore::WalkBuilder::new(&root)
        .hidden(false)
        .parents(false)
        .git_global(false)
        .require_git(false)
        .filter_entry(|entry| entry.file_name() != ".git" && entry.file_name() != "target")
        .sort_by_file_path(Ord::cmp)
        .build();
    let mut held = Vec::new();
    for entry in walk {
        let entry = entry.expect("the repository can be walked");
        if !entry.file_type().is_some_and(|kind| kind.is_file()) {
            continue;
        }
        let path = entry.path().strip_prefix(&root).expect("it is below the root");
        let bytes = std::fs::read(entry.path()).expect("a file of the repository can be read");
        if let Ok(text) = String::from_utf8(bytes) {
            held.push(Held { path: path.to_string_lossy().replace('\\', "/"), text });
        }
    }
    held
}

/// The text of a file that the repository must have.
fn document(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Applies a rule to every file whose path passes, and fails with all that it finds.
fn check(belongs: impl Fn(&str) -> bool, rule: impl Fn(&str, &str) -> Vec<String>) {
    let held = held();
    let examined: Vec<_> = held.iter().filter(|file| belongs(&file.path)).collect();
    assert!(!examined.is_empty(), "the rule found no file to examine");
    none(&examined.iter().flat_map(|file| rule(&file.path, &file.text)).collect::<Vec<_>>());
}

fn none(problems: &[String]) {
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
}

fn is_rust(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == "rs")
}

fn is_markdown(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == "md")
}

/// Whether a file belongs on the map. The usage of `bower-bench` lists its measurements.
fn is_source(path: &str) -> bool {
    let is_bench = path.starts_with("crates/bower-bench/");
    is_rust(path) && path.starts_with("crates/") && path.contains("/src/") && !is_bench
}

#[test]
fn each_file_says_what_lives_in_it() {
    check(is_rust, rules::first_line);
}

/// How many circles of imports each crate still has: the number only falls.
const CIRCLES: &[(&str, usize)] = &[
    ("bower-core", 0),
    ("bower", 0),
    ("bower-kernels", 0),
    ("bower-grammars", 0),
    ("bower-providers", 0),
    ("bower-bench", 0),
];

/// Public type names of the core with two meanings or more, and why: the list only shrinks.
const NAMES_TWICE: &[(&str, &str)] = &[
    ("Constants", "the constants of one formula, always named with its module"),
    ("Rule", "in memory/ alone: of a merge and of a sweep"),
];

#[test]
fn imports_go_round_in_no_more_circles() {
    let held = held();
    for (name, most) in CIRCLES {
        let source = format!("crates/{name}/src/");
        let files: Vec<(&str, &str)> = held
            .iter()
            .filter_map(|file| Some((file.path.strip_prefix(&source)?, file.text.as_str())))
            .collect();
        let found = circles::circles(&files);
        let list: Vec<String> = found.iter().map(|circle| circle.join(" ")).collect();
        assert_eq!(
            found.len(),
            *most,
            "circles of {name}; where they are fewer, lower the number:\n{}",
            list.join("\n")
        );
    }
}

/// The core's files but those of tests, with their texts.
fn core(held: &[Held]) -> Vec<(&str, &str)> {
    let is_core = |path: &str| {
        let is_test = path.ends_with("tests.rs") || path.ends_with("testing.rs") || path.contains("/tests/");
        path.starts_with("crates/bower-core/src/") && !is_test
    };
    let files = held.iter().filter(|file| is_core(&file.path));
    files.map(|file| (file.path.as_str(), file.text.as_str())).collect()
}

#[test]
fn the_memory_room_stays_small_and_has_no_list_of_words() {
    let held = held();
    let is_room = |file: &&Held| file.path.starts_with("crates/bower-core/src/memory/");
    let is_code = |file: &&Held| is_rust(&file.path) && !file.path.ends_with("tests.rs");
    let (code, tables): (Vec<&Held>, Vec<&Held>) =
        held.iter().filter(is_room).partition(|file| is_code(file));
    let lines = memory::lines(code.iter().map(|file| file.text.as_str()));
    assert!((1..=memory::MOST_LINES).contains(&lines), "{lines} lines");
    let entries: usize =
        tables.iter().filter(|file| !is_rust(&file.path)).map(|file| memory::entries(&file.text)).sum();
    assert!((1..=memory::MOST_ENTRIES).contains(&entries), "{entries} entries");
    none(&code.iter().flat_map(|file| memory::word_lists(&file.path, &file.text)).collect::<Vec<_>>());
}

#[test]
fn public_type_names_have_one_meaning() {
    let found = rules::names_twice(&core(&held()));
    let names: Vec<&str> = found.iter().filter_map(|line| Some(line.split_once(':')?.0)).collect();
    let excused: Vec<&str> = NAMES_TWICE.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, excused, "names; where one went, take it off the list:\n{}", found.join("\n"));
}

#[test]
fn banned_words_do_not_come_back() {
    none(&rules::banned_words(&document("docs/glossary.md"), &core(&held())));
}

#[test]
fn no_file_is_too_long() {
    check(is_rust, rules::length);
}

#[test]
fn nobody_sleeps_who_can_wait() {
    let held = held();
    let files = held.iter().filter(|file| is_rust(&file.path));
    none(&sleeps::sleeps(&files.map(|file| (file.path.as_str(), file.text.as_str())).collect::<Vec<_>>()));
}

#[test]
fn unsafe_code_lives_in_the_kernels() {
    check(is_rust, rules::unsafe_code);
}

#[test]
fn the_core_reads_no_surroundings() {
    check(is_source, rules::pure_core);
    check(is_source, rules::private_files);
}

#[test]
fn what_a_model_reads_is_made_in_one_place() {
    check(is_source, rules::prompts);
}

#[test]
fn arrows_point_one_way() {
    check(|path| is_rust(path) && path.starts_with("crates/"), rules::arrows);
}

#[test]
fn the_map_is_short() {
    none(&rules::map_length(&document("ARCHITECTURE.md")));
}

#[test]
fn every_source_file_is_on_the_map() {
    let held = held();
    let sources: Vec<_> = held.iter().map(|file| file.path.as_str()).filter(|path| is_source(path)).collect();
    none(&rules::map_rows(&document("ARCHITECTURE.md"), &sources));
}

#[test]
fn the_readme_shows_targets_that_exist() {
    none(&rules::make_targets(&document("README.md"), &document("Makefile")));
}

#[test]
fn documents_name_files_that_exist() {
    let held = held();
    let paths: Vec<_> = held.iter().map(|file| file.path.as_str()).collect();
    // The changelog tells what was, and the glossary what may not come back.
    let is_document = |path: &str| is_page(path) && path != "CHANGELOG.md" && path != "docs/glossary.md";
    check(is_document, |path, text| documents::missing_files(path, text, &paths));
}

/// Whether a path is a page for readers: every document but those of the example.
fn is_page(path: &str) -> bool {
    is_markdown(path) && !path.starts_with("examples/")
}

#[test]
fn sentences_of_documents_are_short() {
    check(is_page, sentences::long_sentences);
}

#[test]
fn tables_of_figures_name_their_command_and_commit() {
    check(is_page, figures::unsourced);
}

#[test]
fn the_changelog_has_the_version_of_the_workspace() {
    none(&documents::changelog_version(&document("CHANGELOG.md"), &document("Cargo.toml")));
}

#[test]
fn the_fuzzer_can_be_built() {
    let lock = document("fuzz/Cargo.lock");
    for name in ["bower", "bower-core", "bower-kernels", "bower-grammars", "bower-providers"] {
        none(&rules::locked(name, &document(&format!("crates/{name}/Cargo.toml")), &lock));
    }
}

#[test]
fn public_functions_take_no_bare_booleans() {
    none(&rules::bare_booleans(&document("crates/bower-core/api.txt")));
}

#[test]
fn every_promise_of_security_names_tests_that_exist() {
    let held = held();
    let files: Vec<_> = held.iter().map(|file| (file.path.as_str(), file.text.as_str())).collect();
    none(&rules::named_tests(&document("docs/security.md"), &files));
}

#[test]
fn nothing_belongs_to_one_machine() {
    check(|_| true, rules::portable);
}
