//! Renders a failed call for a model: what failed, on what, and what it can do about it with the tools that it has.

use bower_core::prompt::PromptText;
use rmcp::model::CallToolResult;

use super::content;
use crate::failure::Failure;
use crate::service::Refused;

/// Hints name commands; over this wire there are tools. What only a person can do is left to the person.
const TOOLS: &[(&str, &str)] = &[
    ("bower list", "memory_list"),
    ("bower history ID", "memory_history"),
    ("bower history", "memory_history"),
    ("bower review", "memory_review"),
    ("bower index", "memory_index"),
    (
        "bower query --help shows a filter as it should be",
        "a filter is an object like {\"version\": \"v2\", \"$contains\": \"retry\"}",
    ),
    ("the command's --help shows what it takes", "correct that argument and call again"),
    ("ask with --fast for words alone", "search with fast true for words alone"),
    ("add --dry-run", "add dry_run"),
];

/// A failed call, as its caller reads it.
pub fn told(tool: &str, refused: &Refused) -> CallToolResult {
    content::failed(text(tool, refused.failure()))
}

/// The same in words.
pub fn text(tool: &str, failure: &Failure) -> PromptText {
    let mut text = format!("{tool} failed: {}", failure.line());
    if let Some(hint) = &failure.hint {
        text.push_str("\nwhat to do: ");
        text.push_str(&hinted(hint));
    }
    PromptText::lines(&text)
}

fn hinted(hint: &str) -> String {
    let mut hint = hint.to_owned();
    for (command, tool) in TOOLS {
        hint = hint.replace(command, tool);
    }
    let is_for_a_person = hint.contains("bower ") || hint.contains("--home");
    if is_for_a_person { format!("tell the user: {hint}") } else { hint }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bower_core::Error;
    use std::path::PathBuf;

    #[test]
    fn a_failure_says_what_a_model_can_do() {
        let check = |error: Error, expected: &str| {
            assert_eq!(text("memory_get", &Failure::from(error)).as_str(), expected);
        };
        check(
            Error::NotFound { what: "item", id: "ffffff".into() },
            "memory_get failed: no item ffffff\nwhat to do: memory_list shows ids; the first digits are enough where they are unique",
        );
        check(
            Error::Corrupt { path: PathBuf::from("memory.db"), reason: "page 3".into() },
            "memory_get failed: memory.db is damaged: page 3\nwhat to do: tell the user: run bower doctor; a copy of the folder is worth making first",
        );
        check(
            Error::invalid("limit 99", "use 1 to 50"),
            "memory_get failed: limit 99: use 1 to 50\nwhat to do: correct that argument and call again",
        );
    }
}
