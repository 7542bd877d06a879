//! Defines what a setting is, and checks the values that one takes.

use bower_core::config::Gates;
use serde_json::Value;
use std::path::Path;

/// What values a setting takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Form {
    /// One of these words.
    Word(&'static [&'static str]),
    /// Text that is not blank.
    Text,
    /// A folder's whole path; none unless it is told.
    Folder,
    /// Gates by collection; may be blank.
    Gates,
    /// A whole number, both ends included.
    Whole(u64, u64),
    /// A number, both ends included.
    Real(f64, f64),
}

/// One setting.
#[derive(Clone, Copy, Debug)]
pub struct Knob {
    /// Its name in the file, in `--set` and, in capitals after `BOWER_`, in the environment. A dot stands between a table
    /// of the file and a key in it; in the environment it is `_`.
    pub key: &'static str,
    /// Its name in earlier versions, which is still understood.
    pub former: Option<&'static str>,
    /// What values it takes.
    pub form: Form,
    /// What it does, in one line.
    pub meaning: &'static str,
}

impl Knob {
    /// The environment variable that sets it.
    pub fn variable(&self) -> String {
        variable(self.key)
    }

    /// The environment variable that set it in earlier versions.
    pub fn former_variable(&self) -> Option<String> {
        self.former.map(variable)
    }

    /// The same setting, which earlier versions knew by another name.
    pub const fn formerly(self, name: &'static str) -> Self {
        Self { former: Some(name), ..self }
    }
}

/// A setting, for the tables.
pub const fn knob(key: &'static str, form: Form, meaning: &'static str) -> Knob {
    Knob { key, former: None, form, meaning }
}

fn variable(key: &str) -> String {
    format!("BOWER_{}", key.replace('.', "_").to_uppercase())
}

/// A value from text, as a variable or `--set` gives it.
pub fn typed(knob: &Knob, text: &str) -> Result<Value, String> {
    let text = text.trim();
    let value = match knob.form {
        Form::Word(_) | Form::Text | Form::Folder | Form::Gates => Value::from(text),
        Form::Whole(..) => {
            text.replace('_', "").parse::<u64>().map_or_else(|_| Value::from(text), Value::from)
        }
        Form::Real(..) => text.parse::<f64>().map_or_else(|_| Value::from(text), Value::from),
    };
    checked(knob, value)
}

/// The value, if the setting takes it.
pub fn checked(knob: &Knob, value: Value) -> Result<Value, String> {
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
