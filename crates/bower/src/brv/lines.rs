//! Prints the output of a `brv` run: text, or one JSON object per line, as `ByteRover` does.

use bower_core::evidence;
use bower_core::item::hex;
use bower_core::prompt::{self, PromptText};
use bower_core::request::{Answer, Hit};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;

use super::cli::Form;
use crate::failure::{Failure, Result, one_line};
use crate::wire::{Output, complain};

/// What a query without an answer says. Hosts drop what has 20 characters or fewer, and this must be dropped.
const NOTHING: &str = "Nothing found.";

/// The other program numbers its ways to answer; 2 is a search without a language model.
pub(super) const TIER: u8 = 2;

/// One run's output.
pub(super) struct Lines<'a> {
    command: &'a str,
    form: Form,
    /// The run's own id, in the form of a UUID.
    pub task: String,
}

impl<'a> Lines<'a> {
    pub(super) fn new(command: &'a str, form: Form) -> Self {
        let seed = format!("{command} {} {}", Timestamp::now(), std::process::id());
        Self { command, form, task: task_id(seed.as_bytes()) }
    }

    /// A line on the way; text has none.
    pub(super) fn line(&self, data: &Value) -> Result<()> {
        match self.form {
            Form::Text => Ok(()),
            Form::Json => self.put(data, true),
        }
    }

    /// The end of a run that did what it was asked.
    pub(super) fn end(&self, data: &Value, text: &str) -> Result<()> {
        match self.form {
            // Hosts put it into prompts.
            Form::Text => Output::put(&PromptText::lines(text)),
            Form::Json => self.put(data, true),
        }
    }

    /// The end of one that did not. In text it goes where no host takes it for an answer.
    pub(super) fn fail(&self, failure: &Failure) {
        let mut told = failure.line();
        if let Some(hint) = &failure.hint {
            let _ = write!(told, " ({})", one_line(hint.command()));
        }
        let data = json!({"error": told, "status": "error"});
        let is_told = self.form == Form::Json && self.put(&data, false).is_ok();
        if !is_told {
            complain(&format!("brv: {told}"));
        }
    }

    fn put(&self, data: &Value, success: bool) -> Result<()> {
        let line = json!({
            "command": self.command, "data": prompt::json(data.clone()), "success": success,
            "timestamp": Timestamp::now().to_string(),
        });
        Output::put(&format!("{line}\n"))
    }
}

/// What answers a question, as one text.
pub fn result_of(answer: &Answer) -> String {
    let block = answer.evidence.as_ref().map(|found| evidence::block(&found.pieces)).unwrap_or_default();
    if block.is_empty() { NOTHING.to_owned() } else { block.into() }
}

/// A hit as the other program lists it.
#[derive(Serialize, JsonSchema)]
pub struct Match {
    title: String,
    path: String,
    score: f32,
}

impl Match {
    /// Of a hit.
    pub fn of(hit: &Hit) -> Self {
        Self { title: one_line(&hit.memory.summary), path: path_of(hit), score: hit.score }
    }
}

/// Where a hit stands: a document's path, or a memory's type and id.
pub(super) fn path_of(hit: &Hit) -> String {
    let path = hit.memory.metadata.get("path").and_then(Value::as_str);
    path.map_or_else(
        || {
            let kind = hit.memory.memory_type.map_or("memory", |memory_type| memory_type.word());
            format!("{kind}/{}", hit.memory.id)
        },
        one_line,
    )
}

/// 16 bytes of a digest, written as a UUID is.
fn task_id(seed: &[u8]) -> String {
    let mut id: [u8; 32] = Sha256::digest(seed).into();
    // Version and variant of RFC 9562, for readers that look: 8 is a digest of one's own.
    id[6] = id[6] & 0x0f | 0x80;
    id[8] = id[8] & 0x3f | 0x80;
    [&id[..4], &id[4..6], &id[6..8], &id[8..10], &id[10..16]].map(hex).join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_has_an_id_of_the_usual_form() {
        let id = task_id(b"x");
        // `printf x | sha256sum` begins 2d711642b726b04401627ca9fbac32f5.
        assert_eq!(id, "2d711642-b726-8044-8162-7ca9fbac32f5");
        assert!(NOTHING.len() <= 20, "hosts drop 20 characters and fewer");
    }
}
