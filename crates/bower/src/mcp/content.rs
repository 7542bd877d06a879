//! Builds what a model reads over MCP, in the protocol's types.
//! It is built here alone, of texts that may enter a prompt.

use bower_core::prompt::PromptText;
use rmcp::model::{CallToolResult, ContentBlock, PromptMessage, ResourceContents, Role};

use super::responses::Response;

/// A call's answer.
pub fn answered(said: Response) -> CallToolResult {
    let (fields, text) = said.into_parts();
    let mut result = CallToolResult::success(vec![ContentBlock::text(String::from(text))]);
    result.structured_content = Some(fields.into());
    result
}

/// A failed call, as its caller reads it.
pub fn failed(text: PromptText) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(String::from(text))])
}

/// What stands at an address.
pub fn resource(text: PromptText, uri: &str, kind: &str) -> ResourceContents {
    ResourceContents::text(String::from(text), uri).with_mime_type(kind)
}

/// What a person picked, as if they had said it.
pub fn message(text: PromptText) -> PromptMessage {
    PromptMessage::new_text(Role::User, String::from(text))
}
