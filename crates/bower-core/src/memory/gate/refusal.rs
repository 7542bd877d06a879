//! Defines the reasons for which a text is refused.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Why a text is no memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Refusal {
    /// Longer than a thought.
    TooLong,
    /// Keys and passwords, and little else.
    Secret,
    /// A raw diff.
    Diff,
    /// A stack trace.
    StackTrace,
    /// Encoded data, such as base64.
    Encoded,
    /// What this store said itself.
    Echo,
    /// What the model finds to be no memory.
    Junk,
}

impl Refusal {
    /// Every value.
    #[cfg(feature = "parts")]
    pub const ALL: &'static [Self] =
        &[Self::TooLong, Self::Secret, Self::Diff, Self::StackTrace, Self::Encoded, Self::Junk, Self::Echo];

    /// The word for it, as it is serialized.
    pub const fn word(self) -> &'static str {
        match self {
            Self::TooLong => "too-long",
            Self::Secret => "secret",
            Self::Diff => "diff",
            Self::StackTrace => "stack-trace",
            Self::Encoded => "encoded",
            Self::Echo => "echo",
            Self::Junk => "junk",
        }
    }

    /// What it is, and what to do instead, in one line.
    pub fn reason(self) -> String {
        let reason = match self {
            Self::TooLong => {
                "the text is longer than a memory; put it in a file and index that, or keep what matters of it"
            }
            Self::Secret => {
                "the text is a key or password and little else; keep it in a vault and remember where"
            }
            Self::Diff => "a raw diff is in git already; say in a sentence what changed and why",
            Self::StackTrace => "a stack trace alone; say what fails, when, and what helps",
            Self::Encoded => {
                "encoded data says nothing to a reader; say in a sentence what it is and where it is kept"
            }
            Self::Echo => "this store returned it a moment ago; tell only what is new",
            Self::Junk => {
                "it reads like chatter, output or a step of the work; say in a sentence what is to be remembered"
            }
        };
        reason.to_owned()
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}
