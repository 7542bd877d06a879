//! Finds content from outside in a line of a transcript: tool output, pages, files and attachments.
//! It relies on the format's structure alone. A quotation within a message looks like its speaker's own words.

use serde_json::Value;

use super::fields::text;
use crate::item::Author;

/// Parts of tool names with the source of such tools' output, the least trusted first. Names are compared in lower
/// case, without signs.
const TOOLS: &[(&str, Author)] = &[
    ("web", Author::Web),
    ("fetch", Author::Web),
    ("browse", Author::Web),
    ("http", Author::Web),
    ("url", Author::Web),
    ("navigate", Author::Web),
    ("crawl", Author::Web),
    ("scrape", Author::Web),
    ("read", Author::Document),
    ("view", Author::Document),
    ("grep", Author::Document),
    ("glob", Author::Document),
    ("filesearch", Author::Document),
    ("listdir", Author::Document),
];

/// Tools that only store an agent's own plan.
const NOTES: &[&str] = &["todowrite", "writetodos", "updateplan", "exitplanmode", "setplan"];

/// Returns the source of a tool's output by the tool's name; `None` if it only records what its agent says.
pub(super) fn of_tool(name: &str) -> Option<Author> {
    let name: String = name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    if NOTES.contains(&name.as_str()) {
        return None;
    }
    let known = TOOLS.iter().find(|(part, _)| name.contains(part));
    Some(known.map_or(Author::Tool, |(_, author)| *author))
}

/// Returns the least trusted source in a line.
pub(super) fn brought(line: &Value) -> Option<Author> {
    let payload = line.get("payload").unwrap_or(line);
    let message = line.get("message").filter(|inner| inner.is_object()).unwrap_or(line);
    let data = line.get("data").filter(|data| data.is_object());
    let kind = text(payload, &["type"]).unwrap_or_default();
    let all = [
        called(kind, payload),
        data.and_then(|data| text(data, &["toolName"])).and_then(of_tool),
        // Some programs store tool calls and files with the turn that used them.
        calls(line.get("toolCalls")),
        calls(message.get("tool_calls")),
        blocks(message.get("content")),
        blocks(message.get("parts")),
        text(message, &["role"]).filter(|role| matches!(*role, "tool" | "function")).and_then(|_| {
            // A tool result without a name may be from any tool.
            text(message, &["name", "tool_name", "tool"]).map_or(Some(Author::Tool), of_tool)
        }),
        attached(message),
        printed(message),
    ];
    all.into_iter().flatten().max()
}

/// Returns the source of a separate call or result, which Codex and similar programs write on lines of their own.
fn called(kind: &str, of: &Value) -> Option<Author> {
    match kind {
        "function_call" | "custom_tool_call" | "mcp_tool_call" | "tool_use" | "server_tool_use" => {
            text(of, &["name", "tool"]).map_or(Some(Author::Tool), of_tool)
        }
        "local_shell_call" => Some(Author::Tool),
        "web_search_call" | "web_search_tool_result" | "web_fetch_tool_result" => Some(Author::Web),
        // The call before it has named the tool.
        "function_call_output" | "custom_tool_call_output" | "tool_result" | "attachment" => {
            Some(Author::Document)
        }
        _ => None,
    }
}

/// Returns the least trusted source in a list of calls, by the name of each or of its function.
fn calls(list: Option<&Value>) -> Option<Author> {
    let calls = list?.as_array()?.iter();
    calls
        .filter_map(|call| {
            let of = call.get("function").unwrap_or(call);
            text(of, &["name"]).map_or(Some(Author::Tool), of_tool)
        })
        .max()
}

/// Returns the least trusted source among the blocks of a message.
fn blocks(content: Option<&Value>) -> Option<Author> {
    let of = |block: &Value| match text(block, &["type", "content_type"]).unwrap_or_default() {
        "document" | "file" | "input_file" | "image" | "input_image" => Some(Author::Document),
        kind => called(kind, block),
    };
    content?.as_array()?.iter().filter_map(of).max()
}

/// Returns the source of files attached to a message.
pub(super) fn attached(message: &Value) -> Option<Author> {
    let lists = ["attachments", "files"].into_iter().filter_map(|name| message.get(name)?.as_array());
    lists.into_iter().any(|list| !list.is_empty()).then_some(Author::Document)
}

/// Returns the source of output of a command that the user ran beside the conversation, in Claude Code's form.
fn printed(message: &Value) -> Option<Author> {
    let said = message.get("content")?.as_str()?;
    ["<local-command-stdout>", "<bash-stdout>", "<bash-stderr>"]
        .iter()
        .any(|mark| said.starts_with(mark))
        .then_some(Author::Tool)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn tools_are_known_by_their_names() {
        let check = |name: &str, expected| assert_eq!(of_tool(name), expected, "{name}");
        for name in ["WebFetch", "web_search", "mcp__playwright__browser_navigate", "fetch", "http_get"] {
            check(name, Some(Author::Web));
        }
        for name in ["Read", "read_many_files", "view", "Grep", "NotebookRead", "file_search"] {
            check(name, Some(Author::Document));
        }
        for name in ["Bash", "shell", "mcp__mail__inbox", "Edit", "memory_search", ""] {
            check(name, Some(Author::Tool));
        }
        check("TodoWrite", None);
        check("update_plan", None);
    }

    #[test]
    fn lines_of_each_host_say_what_they_bring() {
        let check = |line: Value, expected| assert_eq!(brought(&line), expected, "{line}");
        let claude = |content: Value| json!({"type": "assistant", "message": {"role": "assistant", "content": content}});
        check(claude(json!([{"type": "tool_use", "name": "WebFetch", "input": {}}])), Some(Author::Web));
        check(claude(json!([{"type": "text", "text": "8080."}])), None);
        check(claude(json!([{"type": "tool_result", "content": "ok"}])), Some(Author::Document));
        check(
            json!({"type": "user", "message": {"content": "<local-command-stdout>ok"}}),
            Some(Author::Tool),
        );
        check(
            json!({"type": "response_item", "payload": {"type": "function_call", "name": "shell"}}),
            Some(Author::Tool),
        );
        check(json!({"type": "response_item", "payload": {"type": "web_search_call"}}), Some(Author::Web));
        check(json!({"type": "response_item", "payload": {"type": "message", "role": "user"}}), None);
        check(json!({"type": "tool.execution_start", "data": {"toolName": "view"}}), Some(Author::Document));
        check(
            json!({"type": "gemini", "content": "x", "toolCalls": [{"name": "web_fetch"}]}),
            Some(Author::Web),
        );
        check(json!({"role": "tool", "content": "3 passed"}), Some(Author::Tool));
        check(json!({"role": "tool", "name": "read_file", "content": "x"}), Some(Author::Document));
        check(
            json!({"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "fetch"}}]}),
            Some(Author::Web),
        );
        check(
            json!({"sender": "human", "text": "x", "attachments": [{"file_name": "a"}]}),
            Some(Author::Document),
        );
        check(json!({"sender": "human", "text": "x", "attachments": []}), None);
        check(json!({"speaker": "ada", "text": "hello"}), None);
        check(json!([]), None);
    }
}
