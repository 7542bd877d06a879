//! Builds the content that a model reads over MCP, in the protocol's types.
//! Only this file builds it, from texts that may enter a prompt.

use bower_core::prompt::PromptText;
use rmcp::model::{CallToolResult, ContentBlock, PromptMessage, ResourceContents, Role};

use super::responses::Response;

/// Returns the result of a successful call.
pub fn answered(said: Response) -> CallToolResult {
    let (fields, text) = said.into_parts();
    let mut result = CallToolResult::success(vec![ContentBlock::text(String::from(text))]);
    result.structured_content = Some(fields.into());
    result
}

/// Returns the result of a failed call.
pub fn failed(text: PromptText) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(String::from(text))])
}

/// Returns the contents of a resource.
pub fn resource(text: PromptText, uri: &str, kind: &str) -> ResourceContents {
    ResourceContents::text(String::from(text), uri).with_mime_type(kind)
}

/// Returns a message of a prompt that a person picked, in the role of the user.
pub fn message(text: PromptText) -> PromptMessage {
    PromptMessage::new_text(Role::User, String::from(text))
}
