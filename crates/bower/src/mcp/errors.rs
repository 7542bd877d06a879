//! Renders a failed call for a model: what failed, on what, and what it can do about it with the tools that it has.

use bower_core::prompt::PromptText;
use rmcp::model::CallToolResult;
use std::borrow::Cow;

use super::content;
use crate::failure::{Failure, Hint};
use crate::service::Refused;

/// Returns the result of a failed call.
pub fn told(tool: &str, refused: &Refused) -> CallToolResult {
    content::failed(text(tool, refused.failure()))
}

/// Returns the text for a failed call.
pub fn text(tool: &str, failure: &Failure) -> PromptText {
    let mut text = format!("{tool} failed: {}", failure.line());
    if let Some(hint) = &failure.hint {
        text.push_str("\nwhat to do: ");
        text.push_str(&hinted(hint));
    }
    PromptText::lines(&text)
}

/// Returns a hint in its form for a model.
fn hinted(hint: &Hint) -> Cow<'_, str> {
    match hint {
        Hint::Same(words) => words.as_ref().into(),
        Hint::Person(words) => format!("tell the user: {words}").into(),
        Hint::Each { tool, .. } => (*tool).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::{Exit, table};
    use crate::mcp::{prompts, resources};
    use bower_core::Error;
    use bower_core::error::Missing;
    use rmcp::model::ErrorCode;
    use std::path::PathBuf;

    #[test]
    fn every_error_has_its_kind_and_hint() {
        for row in table::rows() {
            let refused = Refused::from((row.error)());
            let told = text("memory_get", refused.failure());
            let hint = told.as_str().split_once("\nwhat to do: ").map(|(_, hint)| hint);
            assert_eq!(hint, Some(row.tool), "{refused:?}");
            let (argument, resource) = match row.exit {
                Exit::Usage | Exit::Nothing => (ErrorCode::INVALID_PARAMS, ErrorCode::RESOURCE_NOT_FOUND),
                Exit::Environment | Exit::Internal => (ErrorCode::INTERNAL_ERROR, ErrorCode::INTERNAL_ERROR),
            };
            assert_eq!(prompts::failure("recall", &refused).code, argument, "{refused:?}");
            assert_eq!(resources::trouble("memory://x", &refused).code, resource, "{refused:?}");
        }
    }

    #[test]
    fn a_failure_says_what_a_model_can_do() {
        let check = |error: Error, expected: &str| {
            assert_eq!(text("memory_get", &Failure::from(error)).as_str(), expected);
        };
        check(
            Error::NotFound { what: Missing::Item, id: "ffffff".into() },
            "memory_get failed: no item ffffff\nwhat to do: memory_list shows ids; the first digits are enough where they are unique",
        );
        check(
            Error::Corrupt { at: PathBuf::from("memory.db").into(), reason: "page 3".into() },
            "memory_get failed: memory.db is damaged: page 3\nwhat to do: tell the user: run bower doctor; a copy of the folder is worth making first",
        );
        check(
            Error::invalid("limit 99", "use 1 to 50"),
            "memory_get failed: limit 99: use 1 to 50\nwhat to do: correct that argument and call again",
        );
    }
}
