//! Parses transcripts of conversations into turns: who said what, and when.
//! It parses one line of a transcript at a time and reads no files.

use jiff::Timestamp;
use serde_json::Value;
use std::collections::HashMap;

use super::brought::brought;
use super::fields::{content, text, time_of};
use crate::item::{Author, Provenance, derive_id};

/// One turn of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The program that recorded it: `chatgpt`, `claude`, `claude-code`, `codex`, `copilot`, `gemini`, `transcript`.
    pub origin: &'static str,
    /// The conversation's own id.
    pub conversation: String,
    /// The conversation's title.
    pub title: Option<String>,
    /// The turn's id; if it has none, its number in the conversation, from 1.
    pub id: String,
    /// The speaker: a name or a role.
    pub speaker: Speaker,
    /// When it was said.
    pub time: Option<Timestamp>,
    /// The text.
    pub text: String,
    /// The least trusted source earlier in the conversation: a fetched page, a tool's output.
    pub among: Author,
    /// The least trusted source within the text: a document, if it contains a file's text.
    pub holds: Author,
}

impl Turn {
    /// Returns its provenance. Other people than the user are outside; an agent is as trusted as what it had read.
    pub(crate) fn provenance(&self, me: Option<&str>) -> Provenance {
        match &self.speaker {
            Speaker::User => Provenance::picked(Author::User, self.holds),
            Speaker::Assistant(_) => Provenance::picked(Author::Agent, self.among.less_trusted(self.holds)),
            Speaker::Named(name) if me.is_some_and(|me| me.trim().eq_ignore_ascii_case(name.trim())) => {
                Provenance::picked(Author::User, self.holds)
            }
            Speaker::Named(_) => Provenance::picked(Author::Import, Author::Import),
        }
    }
}

/// The speaker of a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// The user of the program.
    User,
    /// The program, by its name.
    Assistant(&'static str),
    /// A person with a name.
    Named(String),
}

impl Speaker {
    /// Returns the name before the speaker's lines: with a capital, so that it is recognised as a speaker's. `me` is
    /// the user's name.
    pub fn name(&self, me: Option<&str>) -> String {
        let name = match self {
            Self::User => me.unwrap_or("User"),
            Self::Assistant(name) => name,
            Self::Named(name) => name.trim(),
        };
        let mut letters = name.chars();
        letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
    }

    /// Parses a role or a name, as transcripts have it.
    pub(crate) fn of(word: &str, assistant: &'static str) -> Option<Self> {
        match word.trim().to_lowercase().as_str() {
            "" | "system" | "tool" | "developer" | "function" => None,
            "user" | "human" => Some(Self::User),
            "assistant" | "ai" | "model" | "bot" => Some(Self::Assistant(assistant)),
            _ => Some(Self::Named(word.trim().to_owned())),
        }
    }
}

/// Parses a transcript line by line: sessions of Claude Code, Codex, Gemini and Copilot, and objects with a speaker and a text.
#[derive(Clone, Debug)]
pub struct Transcript {
    /// The conversation's title if no line contains one: the file's name.
    name: String,
    /// The conversation's id if no line contains one: from its name and its beginning. Two files may have one name, and
    /// a file that grows keeps its beginning.
    unnamed: Option<String>,
    /// The session, once a line contained one.
    session: Option<String>,
    /// Whether it is Codex's; its first line shows that.
    is_codex: bool,
    /// Whether it is Gemini's; its first line shows that.
    is_gemini: bool,
    turns: HashMap<String, u32>,
    /// The least trusted source so far in each conversation.
    among: HashMap<String, Author>,
}

impl Transcript {
    /// Creates a parser; `name` is the conversation's name if the lines contain none.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            unnamed: None,
            session: None,
            is_codex: false,
            is_gemini: false,
            turns: HashMap::new(),
            among: HashMap::new(),
        }
    }

    /// Returns the least trusted source so far in a conversation.
    pub fn among(&self, conversation: &str) -> Author {
        let of = |name: &str| self.among.get(name).copied().unwrap_or(Author::User);
        // Sources before the first named conversation count for all of them.
        of(conversation).less_trusted(of(""))
    }

    /// Continues a conversation of which a part was read before.
    pub fn go_on(&mut self, conversation: &str, among: Author) {
        let stood = self.among.entry(conversation.to_owned()).or_insert(Author::User);
        *stood = stood.less_trusted(among);
    }

    /// Returns the turn of a line; `None` for lines that are no turn (tools, settings, instructions of the program to
    /// its model). The error describes what an unusable line lacks.
    ///
    /// A source from outside in a line counts from the next turn on.
    pub fn line(&mut self, line: &Value) -> Result<Option<Turn>, String> {
        let turn = self.said(line);
        if let Some(brought) = brought(line) {
            let conversation = match &turn {
                Ok(Some(turn)) => Some(turn.conversation.clone()),
                Ok(None) | Err(_) => self.conversation_of(line),
            };
            // The conversation is unknown before its first turn, and the source comes before that.
            self.go_on(&conversation.unwrap_or_default(), brought);
        }
        turn
    }

    /// Returns the conversation of a line that is no turn, as far as it is known yet.
    fn conversation_of(&self, line: &Value) -> Option<String> {
        let named = text(line, SESSIONS).or_else(|| text(line, &["sessionId"])).map(str::to_owned);
        named.or_else(|| self.session.clone()).or_else(|| self.unnamed.clone())
    }

    fn said(&mut self, line: &Value) -> Result<Option<Turn>, String> {
        let Value::Object(fields) = line else {
            return Err("a line is an object with a speaker and a text".to_owned());
        };
        let kind = fields.get("type").and_then(Value::as_str);
        if let (Some(kind), Some(payload)) = (kind, fields.get("payload")) {
            return Ok(self.codex(kind, payload, time_of(line)));
        }
        if fields.contains_key("projectHash") && text(line, &["sessionId"]).is_some() {
            (self.is_gemini, self.session) = (true, text(line, &["sessionId"]).map(str::to_owned));
            return Ok(None);
        }
        if self.is_gemini {
            return Ok(self.gemini(line));
        }
        if let (Some(kind), Some(data)) = (kind.filter(|kind| kind.contains('.')), fields.get("data")) {
            return Ok(self.copilot(kind, data, line));
        }
        if fields.contains_key("sessionId")
            || fields.contains_key("leafUuid")
            || fields.contains_key("isSidechain")
        {
            return Ok(self.claude_code(line));
        }
        if fields.contains_key("instructions")
            && fields.contains_key("timestamp")
            && text(line, &["id"]).is_some()
        {
            // Codex's first line in its first year.
            (self.is_codex, self.session) = (true, text(line, &["id"]).map(str::to_owned));
            return Ok(None);
        }
        if self.is_codex {
            return Ok(self.codex("response_item", line, time_of(line)));
        }
        self.plain(line)
    }

    fn codex(&mut self, kind: &str, payload: &Value, time: Option<Timestamp>) -> Option<Turn> {
        match kind {
            "session_meta" => {
                self.session = text(payload, &["id"]).map(str::to_owned);
                None
            }
            "response_item" if text(payload, &["type"]) == Some("message") => {
                let speaker = Speaker::of(text(payload, &["role"])?, "Codex")?;
                let said = content(payload.get("content")?);
                // The program's own instructions to its model are recorded as the user's, within such marks.
                let is_told = ["<environment_context", "<user_instructions", "# AGENTS.md instructions"]
                    .iter()
                    .any(|mark| said.trim_start().starts_with(mark));
                (!is_told).then(|| self.turn("codex", None, None, speaker, time, said)).flatten()
            }
            _ => None,
        }
    }

    /// Parses a message of Gemini's recording; records that set or undo something are no messages.
    fn gemini(&mut self, line: &Value) -> Option<Turn> {
        let speaker = match text(line, &["type"])? {
            "user" => Speaker::User,
            "gemini" => Speaker::Assistant("Gemini"),
            _ => return None,
        };
        let id = text(line, &["id"]).map(str::to_owned);
        let said = line.get("content")?;
        // Files that a message names are appended to it as if the user had written them.
        let said = match said.as_array() {
            Some(parts) => {
                let is_file = |part: &&Value| {
                    text(part, &["text"]).is_some_and(|said| said.trim_start().starts_with(GEMINI_FILES))
                };
                content(&parts.iter().take_while(|part| !is_file(part)).cloned().collect())
            }
            None => content(said),
        };
        self.turn("gemini", None, id, speaker, time_of(line), said)
    }

    /// Parses an event of Copilot's log: `user.message`, `assistant.message`.
    fn copilot(&mut self, kind: &str, data: &Value, line: &Value) -> Option<Turn> {
        let speaker = match kind {
            "session.start" => {
                self.session = text(data, &["sessionId"]).map(str::to_owned);
                return None;
            }
            "user.message" => Speaker::User,
            "assistant.message" => Speaker::Assistant("Copilot"),
            _ => return None,
        };
        let id = text(line, &["id"]).map(str::to_owned);
        self.turn("copilot", None, id, speaker, time_of(line), content(data.get("content")?))
    }

    fn claude_code(&mut self, line: &Value) -> Option<Turn> {
        let flag = |name: &str| line.get(name).and_then(Value::as_bool).unwrap_or(false);
        if flag("isSidechain") || flag("isMeta") || flag("isCompactSummary") {
            return None;
        }
        let speaker = match text(line, &["type"])? {
            "user" => Speaker::User,
            "assistant" => Speaker::Assistant("Claude"),
            _ => return None,
        };
        let said = content(line.get("message")?.get("content")?);
        // Commands and their output are recorded as the user's.
        if ["<command-", "<local-command-", "Caveat: The messages below"]
            .iter()
            .any(|mark| said.starts_with(mark))
        {
            return None;
        }
        let session = text(line, &["sessionId"]).map(str::to_owned);
        let id = text(line, &["uuid"]).map(str::to_owned);
        self.turn("claude-code", session, id, speaker, time_of(line), said)
    }

    fn plain(&mut self, line: &Value) -> Result<Option<Turn>, String> {
        let inner = line.get("message").filter(|inner| inner.is_object()).unwrap_or(line);
        let who = |of: &Value| {
            let named = text(of, SPEAKERS).map(str::to_owned);
            // {"author": {"role": "user", "name": "Ada"}}
            named.or_else(|| {
                let of = of.get("author").or_else(|| of.get("sender")).or_else(|| of.get("user"))?;
                text(of, &["name", "role"]).map(str::to_owned)
            })
        };
        let said = TEXTS.iter().find_map(|name| inner.get(name)).map(content);
        let (Some(who), Some(said)) = (who(inner).or_else(|| who(line)), said) else {
            let fields: Vec<&str> = line
                .as_object()
                .map(|fields| fields.keys().map(String::as_str).take(5).collect())
                .unwrap_or_default();
            return Err(format!(
                "no speaker ({}) or no text ({}) among {}",
                SPEAKERS.join(", "),
                TEXTS.join(", "),
                fields.join(", ")
            ));
        };
        let Some(speaker) = Speaker::of(&who, "Assistant") else { return Ok(None) };
        let session = text(line, SESSIONS).map(str::to_owned);
        let id = text(line, &["id", "uuid", "message_id"]).map(str::to_owned);
        let time = time_of(line).or_else(|| time_of(inner));
        Ok(self.turn("transcript", session, id, speaker, time, said))
    }

    fn turn(
        &mut self,
        origin: &'static str,
        session: Option<String>,
        id: Option<String>,
        speaker: Speaker,
        time: Option<Timestamp>,
        text: String,
    ) -> Option<Turn> {
        let conversation = session.or_else(|| self.session.clone()).unwrap_or_else(|| {
            let name = &self.name;
            let unnamed = self.unnamed.get_or_insert_with(|| {
                let time = time.map_or_else(String::new, |time| time.to_string());
                format!("{name}-{}", &derive_id(&[&time, &text])[..8])
            });
            unnamed.clone()
        });
        let among = self.among(&conversation);
        let number = self.turns.entry(conversation.clone()).or_insert(0);
        *number += 1;
        let id = id.unwrap_or_else(|| number.to_string());
        // An empty message is no turn but uses up its number, so that later lines never renumber earlier ones.
        (!text.trim().is_empty()).then(|| Turn {
            origin,
            conversation,
            title: Some(self.name.clone()),
            id,
            speaker,
            time,
            text,
            among,
            holds: Author::User,
        })
    }
}

/// The mark before the files that a message to Gemini names.
const GEMINI_FILES: &str = "--- Content from referenced files";

const SPEAKERS: &[&str] = &["speaker", "role", "author", "sender", "from", "name", "user"];
const TEXTS: &[&str] = &["content", "text", "message", "body", "utterance"];
const SESSIONS: &[&str] = &[
    "session_id",
    "conversation_id",
    "session",
    "conversation",
    "thread_id",
    "thread",
    "chat_id",
    "channel",
];

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn turns(name: &str, lines: &[Value]) -> Vec<String> {
        let mut transcript = Transcript::new(name);
        lines
            .iter()
            .filter_map(|line| match transcript.line(line) {
                Ok(turn) => turn.map(|turn| {
                    let time = turn.time.map_or_else(|| "never".to_owned(), |time| time.to_string());
                    let who = turn.speaker.name(None);
                    format!("{}/{}/{} {time} {who}: {}", turn.origin, turn.conversation, turn.id, turn.text)
                }),
                Err(reason) => Some(reason),
            })
            .collect()
    }

    #[test]
    fn plain_lines_in_several_shapes() {
        let lines = [
            json!({"speaker": "ada", "text": "I moved the server.", "timestamp": "2023-05-08T13:56:00Z"}),
            json!({"role": "user", "content": "Where to?", "created_at": 1_683_554_220}),
            json!({"role": "assistant", "content": [{"type": "text", "text": "To Rome."}], "ts": "1683554280.5"}),
            json!({"from": "Grace", "message": "Fine.", "date": "2023-05-08 14:00"}),
            json!({"author": {"role": "user", "name": "Ada"}, "content": {"parts": ["a", "b"]}, "session_id": "s2"}),
            json!({"role": "system", "content": "You are helpful."}),
            json!({"role": "user", "content": "  "}),
            json!({"who": "x"}),
        ];
        let first = &derive_id(&["2023-05-08T13:56:00Z", "I moved the server."])[..8];
        let expected = [
            "transcript/chat/1 2023-05-08T13:56:00Z Ada: I moved the server.",
            "transcript/chat/2 2023-05-08T13:57:00Z User: Where to?",
            "transcript/chat/3 2023-05-08T13:58:00.5Z Assistant: To Rome.",
            "transcript/chat/4 2023-05-08T14:00:00Z Grace: Fine.",
            "transcript/s2/1 never Ada: a\n\nb",
            "no speaker (speaker, role, author, sender, from, name, user) or no text (content, text, message, body, utterance) \
             among who",
        ];
        let found: Vec<String> =
            turns("chat", &lines).iter().map(|turn| turn.replace(&format!("chat-{first}"), "chat")).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn sessions_of_claude_code() {
        let of = |kind: &str, uuid: &str, content: Value| {
            json!({"type": kind, "uuid": uuid, "parentUuid": null, "sessionId": "s1", "isSidechain": false,
                "timestamp": "2025-06-01T10:00:00.000Z", "cwd": "/w", "message": {"role": kind, "content": content}})
        };
        let mut side = of("assistant", "u9", json!("aside"));
        side["isSidechain"] = json!(true);
        let lines = [
            json!({"type": "summary", "summary": "Ports", "leafUuid": "u2"}),
            of("user", "u1", json!("Which port?")),
            of(
                "assistant",
                "u2",
                json!([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "8080."},
                {"type": "tool_use", "name": "Bash", "input": {}}]),
            ),
            of("user", "u3", json!([{"type": "tool_result", "content": "ok"}])),
            of("user", "u4", json!("<command-name>/clear</command-name>")),
            side,
            json!({"type": "file-history-snapshot", "messageId": "m", "sessionId": "s1"}),
        ];
        let expected = [
            "claude-code/s1/u1 2025-06-01T10:00:00Z User: Which port?",
            "claude-code/s1/u2 2025-06-01T10:00:00Z Claude: 8080.",
        ];
        assert_eq!(turns("file", &lines), expected);
    }

    #[test]
    fn sessions_of_codex() {
        let message = |role: &str, kind: &str, text: &str| json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]});
        let line = |kind: &str, payload: Value| json!({"timestamp": "2025-12-08T00:37:46.102Z", "type": kind, "payload": payload});
        let lines = [
            line("session_meta", json!({"id": "c1", "cwd": "/w"})),
            line(
                "response_item",
                message("user", "input_text", "<environment_context>x</environment_context>"),
            ),
            line("response_item", message("user", "input_text", "what is 2+2?")),
            line("event_msg", json!({"type": "user_message", "message": "what is 2+2?"})),
            line("response_item", json!({"type": "function_call", "name": "shell"})),
            line("response_item", message("assistant", "output_text", "4")),
            line("response_item", message("developer", "input_text", "be brief")),
        ];
        let expected = [
            "codex/c1/1 2025-12-08T00:37:46.102Z User: what is 2+2?",
            "codex/c1/2 2025-12-08T00:37:46.102Z Codex: 4",
        ];
        assert_eq!(turns("rollout", &lines), expected);
        let older = [
            json!({"id": "c0", "timestamp": "2025-05-01T00:00:00Z", "instructions": null}),
            message("user", "input_text", "hello there"),
        ];
        assert_eq!(turns("rollout", &older), ["codex/c0/1 never User: hello there"]);
    }

    #[test]
    fn sessions_of_gemini_and_copilot() {
        let gemini = [
            json!({"sessionId": "g1", "projectHash": "00ff", "startTime": "2026-01-01T00:00:00Z"}),
            json!({"id": "m1", "timestamp": "2026-01-01T00:00:01Z", "type": "user", "content": [{"text": "Which port?"}]}),
            json!({"$set": {"lastUpdated": "2026-01-01T00:00:02Z"}}),
            json!({"id": "m2", "timestamp": "2026-01-01T00:00:02Z", "type": "gemini", "content": "8080.", "tokens": null}),
            json!({"id": "m3", "timestamp": "2026-01-01T00:00:03Z", "type": "info", "content": "Saved."}),
        ];
        let expected = [
            "gemini/g1/m1 2026-01-01T00:00:01Z User: Which port?",
            "gemini/g1/m2 2026-01-01T00:00:02Z Gemini: 8080.",
        ];
        assert_eq!(turns("session-1", &gemini), expected);
        let event = |kind: &str, id: &str, data: Value| json!({"type": kind, "id": id, "timestamp": "2026-01-01T00:00:01Z", "parentId": null, "data": data});
        let copilot = [
            event("session.start", "e1", json!({"sessionId": "v1"})),
            event("user.message", "e2", json!({"content": "Which port?"})),
            event("tool.execution_start", "e3", json!({"toolName": "view"})),
            event("assistant.message", "e4", json!({"content": "8080."})),
        ];
        let expected = [
            "copilot/v1/e2 2026-01-01T00:00:01Z User: Which port?",
            "copilot/v1/e4 2026-01-01T00:00:01Z Copilot: 8080.",
        ];
        assert_eq!(turns("events", &copilot), expected);
    }
}
