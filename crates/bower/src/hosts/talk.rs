//! Reads a host's input for a hook from standard input, and formats the answer for standard output.
//! Hosts differ in names only. Input is accepted with any of the names; the answer has the host's own.

use bower_core::prompt::PromptText;
use clap::ValueEnum;
use serde::Deserialize;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;

use super::host::Host;

/// A byte order mark, which some programs write first.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Event at which a host calls a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Event {
    /// A session begins, goes on, or begins anew after its context was cleared or compacted
    SessionStart,
    /// The user sent a prompt
    UserPrompt,
    /// The conversation is about to be compacted
    PreCompact,
    /// The agent has answered, or the session ends
    Stop,
    /// The agent has used a tool
    ToolUse,
}

impl Host {
    /// Whether a resumed session still contains the context that it got when it began.
    pub const fn keeps_its_beginning(self) -> bool {
        !self.is_copilot()
    }

    /// Whether the host calls a hook before the last message is in its transcript.
    pub const fn writes_late(self) -> bool {
        self.is_copilot()
    }

    /// Whether this is GitHub Copilot, in a terminal or in VS Code.
    const fn is_copilot(self) -> bool {
        match self {
            Self::Copilot | Self::Vscode => true,
            Self::Brv
            | Self::ClaudeCode
            | Self::Codex
            | Self::Cursor
            | Self::Gemini
            | Self::Hermes
            | Self::Opencode => false,
        }
    }

    /// Whether a call before a compaction means that the session loses the context that it got. Claude Code and Codex call
    /// again when the session begins anew after it. Gemini calls before each request to a model, whether or not it compresses;
    /// only a compaction that its user requests is certain.
    pub const fn loses_by_compacting(self, is_automatic: bool) -> bool {
        match self {
            Self::ClaudeCode | Self::Codex => false,
            Self::Gemini => !is_automatic,
            Self::Brv | Self::Copilot | Self::Cursor | Self::Hermes | Self::Opencode | Self::Vscode => true,
        }
    }

    /// Whether a session without context gets the briefing with its next prompt: the first one, or the one after a compaction.
    /// Other hosts call a hook when a session begins, also after a compaction.
    pub const fn begins_with_a_prompt(self) -> bool {
        match self {
            Self::Copilot | Self::Gemini | Self::Vscode => true,
            Self::Brv | Self::ClaudeCode | Self::Codex | Self::Cursor | Self::Hermes | Self::Opencode => {
                false
            }
        }
    }
}

impl Event {
    /// Returns the event's word on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::SessionStart => "session-start",
            Self::UserPrompt => "user-prompt",
            Self::PreCompact => "pre-compact",
            Self::Stop => "stop",
            Self::ToolUse => "tool-use",
        }
    }

    /// Returns the host's own name for the event.
    const fn of(self, host: Host) -> &'static str {
        match (host, self) {
            (Host::Gemini, Self::UserPrompt) => "BeforeAgent",
            (Host::Gemini, Self::PreCompact) => "PreCompress",
            (Host::Gemini, Self::Stop) => "AfterAgent",
            (Host::Gemini, Self::ToolUse) => "AfterTool",
            (Host::Cursor, Self::SessionStart) => "sessionStart",
            (Host::Cursor, Self::UserPrompt) => "beforeSubmitPrompt",
            (Host::Cursor, Self::PreCompact) => "preCompact",
            (Host::Cursor, Self::Stop) => "stop",
            (Host::Cursor, Self::ToolUse) => "postToolUse",
            (_, Self::SessionStart) => "SessionStart",
            (_, Self::UserPrompt) => "UserPromptSubmit",
            (_, Self::PreCompact) => "PreCompact",
            (_, Self::Stop) => "Stop",
            (_, Self::ToolUse) => "PostToolUse",
        }
    }
}

/// Input of a host for a hook.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Told {
    /// Id of the session.
    pub session: Option<String>,
    /// Path of the session's transcript.
    pub transcript: Option<PathBuf>,
    /// The turns themselves, if there is no transcript file.
    pub messages: Option<Value>,
    /// Folder in which the session runs.
    pub folder: Option<String>,
    /// Text that the user typed.
    pub prompt: Option<String>,
    /// Whether the session's context is empty: it is new, or was cleared or compacted.
    pub is_fresh: bool,
    /// Whether the host acts by itself, not on its user's request.
    pub is_automatic: bool,
    /// File that a tool was used on.
    pub file: Option<String>,
}

/// Reads an input up to the end of its object, and does not wait for more. The error is one line.
pub fn told(input: impl Read) -> Result<Told, String> {
    let mut input = BufReader::new(input);
    let is_marked = input.fill_buf().is_ok_and(|begun| begun.starts_with(MARK));
    input.consume(if is_marked { MARK.len() } else { 0 });
    let value = Value::deserialize(&mut serde_json::Deserializer::from_reader(input));
    let value = value.map_err(|error| format!("its input is no JSON: {error}"))?;
    if !value.is_object() {
        return Err("its input is no JSON object".to_owned());
    }
    let text = |of: &Value, names: &[&str]| {
        let found =
            names.iter().find_map(|name| of.get(name)?.as_str().filter(|text| !text.trim().is_empty()));
        found.map(str::to_owned)
    };
    let folder = text(&value, &["cwd"])
        .or_else(|| Some(value.get("workspace_roots")?.as_array()?.first()?.as_str()?.to_owned()));
    let tool = value.get("tool_input").unwrap_or(&Value::Null);
    let file =
        text(tool, &["file_path", "path", "absolute_path", "notebook_path", "filePath", "target_file"])
            .or_else(|| text(tool, &["command", "patchText", "patch", "input"]).as_deref().and_then(patched))
            .or_else(|| text(&value, &["file_path"]));
    let source = text(&value, &["source", "trigger"]);
    Ok(Told {
        session: text(&value, &["session_id", "sessionId", "conversation_id", "sessionID"]),
        transcript: text(&value, &["transcript_path", "transcriptPath"]).map(PathBuf::from),
        messages: value.get("messages").filter(|messages| messages.is_array()).cloned(),
        folder,
        prompt: text(&value, &["prompt", "user_prompt"]).map(|prompt| typed(&prompt).to_owned()),
        // A host that sends no source is taken to begin a session.
        is_fresh: source.as_deref() != Some("resume"),
        is_automatic: text(&value, &["trigger"]).as_deref() == Some("auto"),
        file,
    })
}

/// Returns the first file of a patch in the format of Codex' models.
fn patched(patch: &str) -> Option<String> {
    let heads = ["*** Update File: ", "*** Add File: "];
    let name =
        |line: &str| heads.iter().find_map(|head| line.strip_prefix(head)).map(|name| name.trim().to_owned());
    patch.lines().find_map(name)
}

/// Returns the part of a prompt that its user typed: Gemini puts the output of hooks at the beginning of a session before it.
fn typed(prompt: &str) -> &str {
    let given = prompt.strip_prefix("<hook_context>").and_then(|rest| rest.split_once("</hook_context>"));
    given.map_or(prompt, |(_, typed)| typed.trim_start())
}

/// Formats context for a host as one line of JSON; `None` if the host accepts none at this event.
pub fn answer(host: Host, event: Event, context: &PromptText) -> Option<String> {
    let takes = match (host, event) {
        // Neither has hooks: Hermes has a provider, and programs that call `brv` ask by themselves.
        (_, Event::PreCompact | Event::Stop) | (Host::Brv | Host::Hermes, _) => false,
        (Host::Cursor, event) => event != Event::UserPrompt,
        (
            Host::ClaudeCode | Host::Codex | Host::Copilot | Host::Gemini | Host::Opencode | Host::Vscode,
            _,
        ) => true,
    };
    if !takes || context.trim().is_empty() {
        return None;
    }
    let answer = match host {
        Host::Cursor => json!({ "additional_context": context }),
        // The two run each other's files, and each reads one of the two names.
        Host::Copilot | Host::Vscode => json!({
            "additionalContext": context,
            "hookSpecificOutput": { "hookEventName": event.of(host), "additionalContext": context }
        }),
        Host::Brv | Host::Hermes | Host::ClaudeCode | Host::Codex | Host::Gemini | Host::Opencode => json!({
            "hookSpecificOutput": { "hookEventName": event.of(host), "additionalContext": context }
        }),
    };
    Some(answer.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_understood_by_their_own_names() {
        let claude = br#"{"session_id":"s1","transcript_path":"/t/s1.jsonl","cwd":"/w","hook_event_name":"SessionStart","source":"resume"}"#;
        let expected = Told {
            session: Some("s1".into()),
            transcript: Some("/t/s1.jsonl".into()),
            folder: Some("/w".into()),
            ..Told::default()
        };
        assert_eq!(told(&claude[..]).unwrap(), expected);
        let cursor =
            br#"{"conversation_id":"c1","workspace_roots":["/w","/v"],"hook_event_name":"sessionStart"}"#;
        let read = told(&cursor[..]).unwrap();
        assert_eq!(
            (read.session.as_deref(), read.folder.as_deref(), read.is_fresh),
            (Some("c1"), Some("/w"), true)
        );
        let vscode = br#"{"sessionId":"v1","hookEventName":"PostToolUse","tool_input":{"filePath":"/w/a.rs"},"transcript_path":null}"#;
        let read = told(&vscode[..]).unwrap();
        assert_eq!(
            (read.session.as_deref(), read.file.as_deref(), read.transcript),
            (Some("v1"), Some("/w/a.rs"), None)
        );
        let codex = br#"{"session_id":"x1","tool_name":"apply_patch","tool_input":{"command":"*** Begin Patch\n*** Update File: src/ledger.py\n@@\n"}}"#;
        assert_eq!(told(&codex[..]).unwrap().file.as_deref(), Some("src/ledger.py"));
        assert_eq!(told(&br#"{"tool_input":{"command":"ls -l"}}"#[..]).unwrap().file, None);
        let gemini = br#"{"session_id":"g1","hook_event_name":"BeforeAgent","prompt":"<hook_context>&lt;bowerbird&gt;\nx\n</hook_context>\n\nWhich port?"}"#;
        assert_eq!(told(&gemini[..]).unwrap().prompt.as_deref(), Some("Which port?"));
        for bad in [&b""[..], b"[]", b"nonsense", b"{", b"\xff"] {
            assert!(told(bad).is_err());
        }
    }

    #[test]
    fn answers_are_in_the_hosts_own_names() {
        let x = PromptText::own("x");
        let claude = answer(Host::ClaudeCode, Event::UserPrompt, &x).unwrap();
        let expected =
            r#"{"hookSpecificOutput":{"additionalContext":"x","hookEventName":"UserPromptSubmit"}}"#;
        let parsed: Value = serde_json::from_str(&claude).unwrap();
        assert_eq!(parsed, serde_json::from_str::<Value>(expected).unwrap());
        assert!(answer(Host::Gemini, Event::UserPrompt, &x).unwrap().contains("\"BeforeAgent\""));
        assert_eq!(answer(Host::Cursor, Event::SessionStart, &x).unwrap(), r#"{"additional_context":"x"}"#);
        assert_eq!(answer(Host::Cursor, Event::UserPrompt, &x), None);
        let copilot = answer(Host::Copilot, Event::SessionStart, &x).unwrap();
        assert!(copilot.starts_with(r#"{"additionalContext":"x","hookSpecificOutput":{"#), "{copilot}");
        assert_eq!(answer(Host::Codex, Event::Stop, &x), None);
        assert_eq!(answer(Host::Codex, Event::SessionStart, &PromptText::own(" \n")), None);
    }
}
