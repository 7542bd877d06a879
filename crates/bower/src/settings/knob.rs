//! Defines the type of a setting, and checks values against it.

use bower_core::config::{CanonicalFiles, Gates};
use serde_json::Value;
use std::path::Path;

use crate::llm::is_tier_model;

/// The largest budget.
const MOST_DOLLARS: f64 = 1_000_000.0;

/// The values that a setting accepts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Form {
    /// One of these words.
    Word(&'static [&'static str]),
    /// Text that is not blank.
    Text,
    /// Absolute path of a folder; unset by default.
    Folder,
    /// Admission levels by collection; may be blank.
    Gates,
    /// A list of patterns of files; may be empty.
    Files,
    /// A language model at a service, as `PROVIDER/MODEL`; unset by default.
    LanguageModel,
    /// An amount of dollars; unset by default.
    Dollars,
    /// An integer between these limits, inclusive.
    Whole(u64, u64),
    /// A number between these limits, inclusive.
    Real(f64, f64),
}

/// Definition of a setting.
#[derive(Clone, Copy, Debug)]
pub struct Knob {
    /// Name in the file and in `--set`. Its environment variable is the name in capitals after `BOWER_`. A dot
    /// separates a table of the file from a key in it; in the environment it is `_`.
    pub key: &'static str,
    /// Name in earlier versions, which is still accepted.
    pub former: Option<&'static str>,
    /// The values that it accepts.
    pub form: Form,
    /// One line that says what it does.
    pub meaning: &'static str,
}

impl Knob {
    /// Returns the environment variable that sets it.
    pub fn variable(&self) -> String {
        variable(self.key)
    }

    /// Returns the environment variable that set it in earlier versions.
    pub fn former_variable(&self) -> Option<String> {
        self.former.map(variable)
    }

    /// Returns the setting with its name in earlier versions.
    pub const fn formerly(self, name: &'static str) -> Self {
        Self { former: Some(name), ..self }
    }
}

/// Creates a setting, for the tables.
pub const fn knob(key: &'static str, form: Form, meaning: &'static str) -> Knob {
    Knob { key, former: None, form, meaning }
}

fn variable(key: &str) -> String {
    format!("BOWER_{}", key.replace('.', "_").to_uppercase())
}

/// Parses a value of a setting from the text of a variable or of `--set`.
pub fn typed(knob: &Knob, text: &str) -> Result<Value, String> {
    let text = text.trim();
    let value = match knob.form {
        Form::Word(_) | Form::Text | Form::Folder | Form::Gates | Form::LanguageModel => Value::from(text),
        // A name with a comma can be written in a list with quotes.
        Form::Files => serde_json::from_str::<Vec<String>>(text).map_or_else(
            |_| text.split(',').map(str::trim).filter(|part| !part.is_empty()).collect(),
            Value::from,
        ),
        Form::Whole(..) => {
            text.replace('_', "").parse::<u64>().map_or_else(|_| Value::from(text), Value::from)
        }
        Form::Real(..) | Form::Dollars => text.parse::<f64>().map_or_else(|_| Value::from(text), Value::from),
    };
    checked(knob, value)
}

/// Returns the value if the setting accepts it, else the reason.
pub fn checked(knob: &Knob, value: Value) -> Result<Value, String> {
    if knob.form == Form::Files {
        return files(value);
    }
    let (good, wanted) = match knob.form {
        Form::Word(all) => (value.as_str().is_some_and(|word| all.contains(&word)), all.join(" or ")),
        Form::Text => {
            (value.as_str().is_some_and(|text| !text.trim().is_empty()), "text that is not blank".into())
        }
        Form::Folder => {
            (value.as_str().is_some_and(|path| Path::new(path).is_absolute()), "an absolute path".into())
        }
        Form::Gates => (
            value.as_str().is_some_and(|text| text.parse::<Gates>().is_ok()),
            "a list like tickets=strict, scratch=off (off, normal or strict)".into(),
        ),
        Form::Files => (value.is_array(), "a list of files".into()),
        Form::LanguageModel => (
            value.as_str().is_some_and(is_tier_model),
            "PROVIDER/MODEL, such as anthropic/claude-haiku-5-5 (gemini, openai, anthropic, ollama or compatible)".into(),
        ),
        Form::Dollars => (
            value.as_f64().is_some_and(|dollars| (0.0..=MOST_DOLLARS).contains(&dollars)),
            format!("an amount of dollars from 0 to {MOST_DOLLARS}"),
        ),
        Form::Whole(from, to) => (
            value.as_u64().is_some_and(|number| (from..=to).contains(&number)),
            format!("a whole number from {from} to {to}"),
        ),
        Form::Real(from, to) => (
            value.as_f64().is_some_and(|number| (from..=to).contains(&number)),
            format!("a number from {from} to {to}"),
        ),
    };
    if good { Ok(value) } else { Err(format!("{value} is not {wanted}")) }
}

/// Returns a list of patterns of files if each can match one. A text is a list of one.
fn files(value: Value) -> Result<Value, String> {
    let value = if value.is_string() { Value::from(vec![value]) } else { value };
    match serde_json::from_value::<Vec<String>>(value.clone()) {
        Ok(patterns) => CanonicalFiles::new(patterns).map(|_| value).map_err(|error| error.to_string()),
        Err(_) => Err(format!("{value} is not a list of files like [\"CANONICAL.md\", \"rules/*.md\"]")),
    }
}
