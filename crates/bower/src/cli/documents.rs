//! Checks that the commands, flags and settings that documents name exist.

use std::path::Path;

use clap::{Arg, Command, CommandFactory};

use super::Cli;
use crate::settings::table::knobs;

/// Returns the commands in a document: backticked `bower …`, and lines of code blocks that begin so.
fn shown(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    let (mut is_code, mut is_shell) = (false, false);
    for line in text.lines() {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            is_code = !is_code;
            is_shell = language != "text";
        } else if is_code && !is_shell {
            // A drawing.
        } else if is_code {
            let line = line.trim_start().trim_start_matches("$ ");
            all.extend(
                line.starts_with("bower ").then(|| line.split(" #").next().unwrap_or(line).to_owned()),
            );
        } else {
            let spans = line.split('`').skip(1).step_by(2);
            all.extend(spans.filter(|span| span.starts_with("bower ")).map(str::to_owned));
        }
    }
    all
}

/// Whether a word is a placeholder for the reader: `NAME`, `DIR…`, `<ID>`, or several joined by `|`.
fn is_open(word: &str) -> bool {
    word.contains(['|', '<', '[', '…', '"', '\'', '$'])
        || word.chars().all(|c| c.is_ascii_uppercase() || c == '_')
}

/// Returns the error in a command of a document, if any.
fn problem(root: &Command, shown: &str) -> Option<String> {
    // Anything after a pipe or another command is not checked.
    let ours = shown.split([';', '>', '&']).next()?.split(" | ").next()?;
    // Quoted parts are text, not flags.
    let ours: String = ours.split('"').step_by(2).collect::<Vec<_>>().join("TEXT");
    let mut words = ours.split_whitespace().skip(1).peekable();
    let mut path = vec![root];
    let mut is_argument = false;
    while let Some(word) = words.next() {
        let here = *path.last()?;
        if let Some(flag) = word.strip_prefix("--") {
            let name = flag.split(['=', ',', ')', '|']).next().unwrap_or(flag);
            let is_named = |arg: &&Arg| {
                arg.get_long() == Some(name) || arg.get_all_aliases().is_some_and(|all| all.contains(&name))
            };
            match path.iter().rev().find_map(|command| command.get_arguments().find(is_named)) {
                Some(arg) if arg.get_action().takes_values() && !flag.contains('=') => {
                    words.next();
                }
                Some(_) => {}
                None if name.is_empty() || name == "help" => {}
                None => return Some(format!("`{shown}`: {} has no --{name}", here.get_name())),
            }
        } else if word.starts_with('-') {
            // A short flag.
        } else if !is_argument && !is_open(word) && here.has_subcommands() {
            match here.find_subcommand(word) {
                Some(command) => path.push(command),
                // The value of a global option, or an argument of a command that has subcommands too.
                None if path.len() > 1 || words.peek().is_some() && here.get_name() != "bower" => {
                    is_argument = true;
                }
                None => return Some(format!("`{shown}`: there is no command {word}")),
            }
        } else {
            is_argument = true;
        }
        // The setting of `config set` must exist.
        if path.iter().map(|command| command.get_name()).eq(["bower", "config", "set"]) && word != "set" {
            let is_setting = knobs().any(|knob| knob.key == word) || is_open(word);
            return (!is_setting).then(|| format!("`{shown}`: there is no setting {word}"));
        }
    }
    None
}

fn documents() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut all = vec!["README.md".to_owned(), "CONTRIBUTING.md".to_owned(), "ARCHITECTURE.md".to_owned()];
    for folder in ["docs", "docs/hosts"] {
        let names = std::fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().file_name());
        all.extend(names.filter_map(|name| Some(format!("{folder}/{}", name.to_str()?))));
    }
    let is_page = |name: &String| Path::new(name).extension().is_some_and(|extension| extension == "md");
    let read = |name: String| (name.clone(), std::fs::read_to_string(root.join(&name)).unwrap());
    all.into_iter().filter(is_page).map(read).collect()
}

#[test]
fn documents_show_commands_flags_and_settings_that_exist() {
    let mut root = Cli::command();
    root.build();
    let mut wrong = Vec::new();
    for (name, text) in documents() {
        wrong.extend(shown(&text).iter().filter_map(|one| Some(format!("{name}: {}", problem(&root, one)?))));
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn a_command_that_does_not_exist_is_found() {
    let mut root = Cli::command();
    root.build();
    let check = |text: &str| shown(text).iter().filter_map(|one| problem(&root, one)).collect::<Vec<_>>();
    let good = "`bower query --limit 5 WORDS`, `bower setup codex|opencode --tools`, `bower config set echo_hours 2`\n\
                ```\n$ bower doctor --salvage DIR   # saves\nbower query \"a --b\" | head --lines 3\n```\n";
    assert_eq!(check(good), Vec::<String>::new());
    let wrong = "`bower remember x`, `bower query --budgets 3`, `bower config set echo_days 2`";
    assert_eq!(check(wrong).len(), 3, "{:?}", check(wrong));
}
