//! Reads the archives that chat programs export: `conversations.json`, a list of conversations that become turns.

use serde_json::Value;
use std::collections::HashSet;
use std::fmt::Write as _;

use super::brought::{attached, brought, of_tool};
use super::fields::{content, moment, text, time_of};
use super::transcript::{Speaker, Transcript, Turn};
use crate::item::Author;

/// The form of a file, recognised from its beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// An export of a store.
    Pieces,
    /// A list of conversations, or of the turns of one.
    Array,
    /// Concatenated objects, mostly one a line: the turns of a transcript, or a conversation.
    Objects,
    /// An unknown form, with what to do.
    Unknown(String),
}

/// Recognises the form from the first bytes of a file.
pub fn recognise(start: &[u8]) -> Form {
    let text = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).trim_ascii_start();
    let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let unknown = |what: &str| Form::Unknown(what.to_owned());
    match text.first() {
        Some(b'{') if serde_json::from_slice::<Value>(line).is_ok_and(|line| line.get("line").is_some()) => {
            Form::Pieces
        }
        Some(b'{') => Form::Objects,
        Some(b'[') => Form::Array,
        None => unknown("it is empty"),
        Some(_) if text.starts_with(b"SQLite format 3\0") => {
            unknown("it is a database; bower restore reads a backup of a store")
        }
        Some(_) if text.starts_with(b"---\n") || text.starts_with(b"---\r\n") => unknown(
            "it is a single Markdown file; import the folder that bower export wrote, or bower index documents",
        ),
        Some(_) => unknown(
            "neither an export of bower, of ChatGPT or of Claude, nor a transcript of one JSON object a line; bower index \
             reads documents",
        ),
    }
}

/// One element of a list.
#[derive(Clone, Debug, PartialEq)]
pub enum Element {
    /// A conversation with its turns, in order.
    Conversation(Vec<Turn>),
    /// Not a conversation, but perhaps a turn of one.
    Other(Value),
}

/// Parses a conversation of `ChatGPT` (`mapping`), of Claude (`chat_messages`), or one with its turns in `messages`.
/// The error describes what is wrong with it.
pub fn conversation(value: Value) -> Result<Element, String> {
    if value.get("mapping").is_some() {
        return chatgpt(&value).map(Element::Conversation);
    }
    if let Some(messages) = value.get("chat_messages") {
        return claude(&value, messages).map(Element::Conversation);
    }
    match value.get("messages") {
        Some(Value::Array(messages)) => {
            let name =
                text(&value, &["id", "uuid", "conversation_id", "title", "name"]).unwrap_or("conversation");
            let title = text(&value, &["title", "name"]).unwrap_or(name).to_owned();
            let mut transcript = Transcript::new(name);
            let turns = messages.iter().filter_map(|line| transcript.line(line).transpose());
            let titled = |turn: Turn| Turn { title: Some(title.clone()), ..turn };
            turns.map(|turn| turn.map(titled)).collect::<Result<_, _>>().map(Element::Conversation)
        }
        Some(_) | None => Ok(Element::Other(value)),
    }
}

/// Reads a tree of messages; its user sees the path to `current_node`.
fn chatgpt(value: &Value) -> Result<Vec<Turn>, String> {
    let mapping = value.get("mapping").and_then(Value::as_object).ok_or("mapping is no object")?;
    let conversation =
        text(value, &["conversation_id", "id"]).ok_or("it has no conversation_id and no id")?.to_owned();
    let title = text(value, &["title"]).map(str::to_owned);
    let leaf = match text(value, &["current_node"]) {
        Some(node) => node,
        // Without `current_node`, the last message without a successor.
        None => mapping
            .iter()
            .filter(|(_, node)| node.get("children").and_then(Value::as_array).is_none_or(Vec::is_empty))
            .max_by(|(_, a), (_, b)| {
                let time = |node: &Value| node.get("message").and_then(time_of);
                time(a).cmp(&time(b))
            })
            .map(|(name, _)| name.as_str())
            .ok_or("its mapping is empty")?,
    };
    let (mut path, mut seen) = (Vec::new(), HashSet::new());
    let mut at = Some(leaf);
    while let Some(name) = at {
        if !seen.insert(name) {
            return Err(format!("its messages go in a circle at {name}"));
        }
        let node = mapping.get(name).ok_or_else(|| format!("the message {name} is missing"))?;
        path.push((name, node));
        at = text(node, &["parent"]);
    }
    let started = value.get("create_time").and_then(moment);
    let mut among = Author::User;
    let turns = path.into_iter().rev().filter_map(|(name, node)| {
        let message = node.get("message").filter(|message| message.is_object())?;
        let before = among;
        let tool = message.get("author").filter(|author| text(author, &["role"]) == Some("tool"));
        let called = text(message, &["recipient"]).filter(|to| *to != "all").and_then(of_tool);
        let printed = tool.and_then(|tool| text(tool, &["name"]).map_or(Some(Author::Tool), of_tool));
        let files = message.get("metadata").and_then(attached);
        for brought in [called, printed, files].into_iter().flatten() {
            among = among.less_trusted(brought);
        }
        let hidden =
            message.pointer("/metadata/is_visually_hidden_from_conversation").and_then(Value::as_bool);
        // A message to a tool is not addressed to the user.
        if hidden == Some(true) || text(message, &["recipient"]).is_some_and(|to| to != "all") {
            return None;
        }
        let author = message.get("author")?;
        let speaker = Speaker::of(text(author, &["role"])?, "ChatGPT")?;
        let body = message.get("content")?;
        let said = match text(body, &["content_type"]) {
            Some("thoughts" | "reasoning_recap" | "user_editable_context" | "model_editable_context") => {
                return None;
            }
            Some("code") => format!(
                "```{}\n{}\n```",
                text(body, &["language"]).filter(|language| *language != "unknown").unwrap_or(""),
                text(body, &["text"])?
            ),
            _ => content(body),
        };
        let id = text(message, &["id"]).unwrap_or(name).to_owned();
        (!said.trim().is_empty()).then(|| Turn {
            origin: "chatgpt",
            conversation: conversation.clone(),
            title: title.clone(),
            id,
            speaker,
            time: message.get("create_time").and_then(moment).or(started),
            text: said,
            among: before,
            holds: Author::User,
        })
    });
    Ok(turns.collect())
}

fn claude(value: &Value, messages: &Value) -> Result<Vec<Turn>, String> {
    let messages = messages.as_array().ok_or("chat_messages is no list")?;
    let id = text(value, &["uuid", "id"]).ok_or("it has no uuid")?;
    let title = text(value, &["name", "title"]).map(str::to_owned);
    let mut turns = Vec::with_capacity(messages.len());
    let mut among = Author::User;
    for (number, message) in messages.iter().enumerate() {
        let role = text(message, &["sender", "role"])
            .ok_or_else(|| format!("message {} has no sender", number + 1))?;
        let Some(speaker) = Speaker::of(role, "Claude") else { continue };
        // Older exports have only the text, newer ones its blocks.
        let blocks = message.get("content").map(content).filter(|said| !said.trim().is_empty());
        let mut said = blocks.unwrap_or_else(|| text(message, &["text"]).unwrap_or_default().to_owned());
        for list in ["attachments", "files"] {
            for file in message.get(list).and_then(Value::as_array).into_iter().flatten() {
                let name = text(file, &["file_name", "name"]).unwrap_or("without a name");
                let within =
                    text(file, &["extracted_content"]).map_or(String::new(), |text| format!("\n{text}"));
                let _ = write!(said, "\n\n[file: {name}]{within}");
            }
        }
        let before = among;
        among = among.less_trusted(brought(message).unwrap_or(Author::User));
        if said.trim().is_empty() {
            continue;
        }
        turns.push(Turn {
            origin: "claude",
            conversation: id.to_owned(),
            title: title.clone(),
            id: text(message, &["uuid", "id"]).map_or_else(|| (number + 1).to_string(), str::to_owned),
            speaker,
            time: time_of(message).or_else(|| time_of(value)),
            text: said.trim().to_owned(),
            among: before,
            // The content of attached files is part of the turn that they came with.
            holds: attached(message).unwrap_or(Author::User),
        });
    }
    Ok(turns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn said(value: Value) -> Vec<String> {
        match conversation(value) {
            Ok(Element::Conversation(turns)) => turns
                .iter()
                .map(|turn| {
                    let time = turn.time.map_or_else(|| "never".to_owned(), |time| time.to_string());
                    format!("{} {time} {}: {}", turn.id, turn.speaker.name(Some("ada")), turn.text)
                })
                .collect(),
            Ok(Element::Other(_)) => vec!["other".to_owned()],
            Err(reason) => vec![reason],
        }
    }

    #[expect(clippy::needless_pass_by_value, reason = "values are written where they are used")]
    fn node(id: &str, parent: Option<&str>, children: &[&str], message: Value) -> (String, Value) {
        (id.to_owned(), json!({"id": id, "parent": parent, "children": children, "message": message}))
    }

    #[expect(clippy::needless_pass_by_value, reason = "values are written where they are used")]
    fn message(id: &str, role: &str, content: Value) -> Value {
        json!({"id": id, "author": {"role": role, "name": null, "metadata": {}}, "create_time": 1_683_554_160.25,
            "content": content, "status": "finished_successfully", "recipient": "all", "metadata": {}})
    }

    fn words(text: &str) -> Value {
        json!({"content_type": "text", "parts": [text]})
    }

    #[test]
    fn the_branch_that_is_seen_is_read() {
        let mut to_tool =
            message("m4", "assistant", json!({"content_type": "code", "language": "python", "text": "1+1"}));
        to_tool["recipient"] = json!("python");
        let mut hidden = message("m0", "system", words("x"));
        hidden["metadata"] = json!({"is_visually_hidden_from_conversation": true});
        let picture = json!({"content_type": "multimodal_text", "parts": [
            {"content_type": "image_asset_pointer", "asset_pointer": "file-service://f"}, "What is this?"]});
        let mapping: serde_json::Map<String, Value> = [
            node("root", None, &["n0"], Value::Null),
            node("n0", Some("root"), &["n1"], hidden),
            node("n1", Some("n0"), &["n2", "n3"], message("m1", "user", picture)),
            node("n2", Some("n1"), &[], message("m2", "assistant", words("An older answer."))),
            node("n3", Some("n1"), &["n4"], message("m3", "assistant", words("A lighthouse."))),
            node("n4", Some("n3"), &["n5"], to_tool),
            node(
                "n5",
                Some("n4"),
                &["n6"],
                message("m5", "tool", json!({"content_type": "execution_output", "text": "2"})),
            ),
            node(
                "n6",
                Some("n5"),
                &[],
                message(
                    "m6",
                    "assistant",
                    json!({"content_type": "code", "language": "unknown", "text": "ls"}),
                ),
            ),
        ]
        .into_iter()
        .collect();
        let mut export = json!({"title": "A picture", "create_time": 1_683_554_100.0, "conversation_id": "c1",
            "current_node": "n6", "mapping": mapping});
        let expected = [
            "m1 2023-05-08T13:56:00.25Z Ada: [image]\n\nWhat is this?",
            "m3 2023-05-08T13:56:00.25Z ChatGPT: A lighthouse.",
            "m6 2023-05-08T13:56:00.25Z ChatGPT: ```\nls\n```",
        ];
        assert_eq!(said(export.clone()), expected);
        export["mapping"]["n0"]["parent"] = json!("n3");
        assert_eq!(said(export.clone()), ["its messages go in a circle at n3"]);
        export["mapping"]["n0"]["parent"] = json!("gone");
        assert_eq!(said(export), ["the message gone is missing"]);
        assert_eq!(said(json!({"mapping": [], "id": "x"})), ["mapping is no object"]);
    }

    #[test]
    fn claude_has_blocks_and_files() {
        let export = json!({"uuid": "c2", "name": "Ports", "created_at": "2025-03-01T09:00:00.000000Z", "chat_messages": [
            {"uuid": "a", "sender": "human", "text": "old text", "created_at": "2025-03-01T09:00:01.5Z",
             "content": [{"type": "text", "text": "Which port?"}],
             "attachments": [{"file_name": "api.txt", "extracted_content": "port = 8080"}], "files": [{"file_name": "x.png"}]},
            {"uuid": "b", "sender": "assistant", "text": "8080.", "content": [], "attachments": [], "files": []},
            {"uuid": "c", "sender": "assistant", "text": "", "content": [{"type": "tool_use", "name": "web"}]},
        ]});
        let expected = [
            "a 2025-03-01T09:00:01.5Z Ada: Which port?\n\n[file: api.txt]\nport = 8080\n\n[file: x.png]",
            "b 2025-03-01T09:00:00Z Claude: 8080.",
        ];
        assert_eq!(said(export), expected);
        assert_eq!(said(json!({"uuid": "c", "chat_messages": [{"text": "x"}]})), ["message 1 has no sender"]);
        assert_eq!(said(json!({"role": "user", "content": "x"})), ["other"]);
    }

    #[test]
    fn files_are_known_by_how_they_begin() {
        let check = |start: &str, form: &Form| assert_eq!(&recognise(start.as_bytes()), form, "{start}");
        check("{\"line\":\"header\",\"bower\":1}\n{", &Form::Pieces);
        check("\u{feff} [\n", &Form::Array);
        check("{\"role\":\"user\"}\n", &Form::Objects);
        check("{\n \"mapping\": {", &Form::Objects);
        for start in ["", "hello", "---\nid: x", "SQLite format 3\0"] {
            assert!(matches!(recognise(start.as_bytes()), Form::Unknown(_)), "{start}");
        }
    }
}
