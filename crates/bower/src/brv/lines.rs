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

/// Text result of a query without an answer. Hosts drop results of at most 20 characters, and must drop this one.
const NOTHING: &str = "Nothing found.";

/// The `tier` of results. `ByteRover` numbers its ways to answer; 2 is a search without a language model.
pub(super) const TIER: u8 = 2;

/// Output of one run.
pub(super) struct Lines<'a> {
    command: &'a str,
    form: Form,
    /// Id of the run, formatted like a UUID.
    pub task: String,
}

impl<'a> Lines<'a> {
    pub(super) fn new(command: &'a str, form: Form) -> Self {
        let seed = format!("{command} {} {}", Timestamp::now(), std::process::id());
        Self { command, form, task: task_id(seed.as_bytes()) }
    }

    /// Prints an intermediate line; only for JSON.
    pub(super) fn line(&self, data: &Value) -> Result<()> {
        match self.form {
            Form::Text => Ok(()),
            Form::Json => self.put(data, true),
        }
    }

    /// Prints the result of a successful run.
    pub(super) fn end(&self, data: &Value, text: &str) -> Result<()> {
        match self.form {
            // Hosts put this text into prompts.
            Form::Text => Output::put(&PromptText::lines(text)),
            Form::Json => self.put(data, true),
        }
    }

    /// Prints the error of a failed run. As text it goes to standard error, where no host takes it for an answer.
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

/// Returns the evidence of an answer as one text.
pub fn result_of(answer: &Answer) -> String {
    let block = answer.evidence.as_ref().map(|found| evidence::block(&found.pieces)).unwrap_or_default();
    if block.is_empty() { NOTHING.to_owned() } else { block.into() }
}

/// A hit in `ByteRover`'s format.
#[derive(Serialize, JsonSchema)]
pub struct Match {
    title: String,
    path: String,
    score: f32,
}

impl Match {
    /// Converts a hit.
    pub fn of(hit: &Hit) -> Self {
        Self { title: one_line(&hit.memory.summary), path: path_of(hit), score: hit.score }
    }
}

/// Returns a hit's path: that of its document, or a memory's type and id.
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

/// Formats 16 bytes of a digest like a UUID.
fn task_id(seed: &[u8]) -> String {
    let mut id: [u8; 32] = Sha256::digest(seed).into();
    // Version and variant of RFC 9562, for readers that check them: version 8 allows a custom digest.
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
