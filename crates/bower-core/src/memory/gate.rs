//! Admission: refuses texts that are no memory, with a reason, and cuts secrets out of those that are kept.
//!
//! ```
//! use bower_core::item::{Durability, Gate};
//! use bower_core::parts::memory::gate::{Constants, Refusal, judge};
//!
//! let verdict = judge("The API listens on port 8080.", Gate::Normal, &Constants::default());
//! assert_eq!((verdict.refused, verdict.durability()), (None, Durability::Lasting));
//! let verdict = judge("ok, thanks!", Gate::Normal, &Constants::default());
//! assert_eq!(verdict.refused, Some(Refusal::Chatter));
//! ```
//!
//! Every rule works on the text alone, in time linear in its length, and knows English only: a text in another language
//! meets the rules for what programs print and for secrets (in many languages), and is never refused for its words.

mod agent;
mod boot;
mod code;
mod durability;
mod echo;
mod fields;
mod list;
mod output;
mod prose;
mod random;
mod secrets;
mod shape;
mod step;
mod talk;
mod tally;

use serde::{Deserialize, Serialize};
use std::fmt;

use super::cues::Reading;
use crate::item::{Durability, Gate};
pub(super) use durability::durability;
pub use echo::{Heard, is_echo};
pub use fields::{Cut, Field, Named, clean};
use secrets::Found;
pub use secrets::SecretKind;

/// The numbers of the gate.
#[derive(Clone, Debug, PartialEq)]
pub struct Constants {
    /// Longer texts (characters) are documents. The largest evidence that a prompt is given by default has 2,048 tokens,
    /// some 8,000 characters: twice that could never be shown whole.
    pub most_chars: usize,
    /// The same in strict mode: ADE's cap on a memory's content.
    pub most_chars_strict: usize,
    /// A line with fewer words says nothing about the code beside it.
    pub least_saying_words: usize,
    /// Lines of code or output that one sentence may bring along. A screen has 24.
    pub most_quoted_lines: usize,
    /// Words in a run that is compared to find echoes. Broder's documents take ten; in a sentence of ten words three
    /// still leave eight runs.
    pub shingle: usize,
    /// The share of a sentence's words that must come from what was returned. With every word left over a small one,
    /// lower shares find nothing more in the golden tests; .7 would let one of three words in a short sentence be new.
    pub least_echo: f32,
    /// Shorter values that no word announces may be ids: 192 bits, the least of the published forms, are 32 in base64.
    pub least_bare: usize,
    /// With fewer words of its own left, a text was there for its secrets.
    pub least_left: usize,
    /// Longer texts are no chatter, whatever they are made of.
    pub most_chatter_words: usize,
    /// The same for one sentence of several, its marks counted.
    pub most_talk_words: usize,
    /// Longer texts are no sign of life.
    pub most_heartbeat_words: usize,
    /// From so many items on, a list of what was done is the account of a session.
    pub least_done: usize,
    /// Below this likelihood that a text is worth keeping, the model refuses it. Of texts by authors that it was not fitted to,
    /// .20 to .53 of the junk passes, and at most .008 of what is worth keeping is refused.
    pub least_worth: f32,
    /// The same in strict mode, where .08 to .32 of the junk passes and .02 to .05 of what is worth keeping is refused.
    pub least_worth_strict: f32,
}

impl Default for Constants {
    fn default() -> Self {
        Self {
            most_chars: 16_000,
            most_chars_strict: 2_000,
            least_saying_words: 4,
            most_quoted_lines: 24,
            shingle: 3,
            least_echo: 0.8,
            least_bare: 32,
            least_left: 3,
            most_chatter_words: 12,
            most_talk_words: 16,
            most_heartbeat_words: 25,
            least_done: 3,
            least_worth: 0.05,
            least_worth_strict: 0.5,
        }
    }
}

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
    /// What git prints of its history or of a tree's state.
    GitHistory,
    /// What a program logs, prints while it builds, or reports though nothing happened.
    Log,
    /// A list of paths, or a folder's.
    Paths,
    /// Code that nothing is said about.
    Code,
    /// What every session is told when it begins.
    BootFile,
    /// What this store said itself.
    Echo,
    /// Words that keep a conversation going.
    Chatter,
    /// What an agent does, counts or waits for while it works.
    Step,
    /// The account of a session.
    SessionSummary,
    /// The state of a moment; refused in strict mode only.
    Passing,
    /// What the model finds to be no memory.
    Junk,
}

impl Refusal {
    /// Every value.
    #[cfg(feature = "parts")]
    pub const ALL: &'static [Self] = &[
        Self::TooLong,
        Self::Secret,
        Self::BootFile,
        Self::Diff,
        Self::StackTrace,
        Self::GitHistory,
        Self::Log,
        Self::Paths,
        Self::Code,
        Self::Chatter,
        Self::Step,
        Self::SessionSummary,
        Self::Passing,
        Self::Junk,
        Self::Echo,
    ];

    /// The word for it in JSON, events and help.
    pub const fn word(self) -> &'static str {
        match self {
            Self::TooLong => "too-long",
            Self::Secret => "secret",
            Self::Diff => "diff",
            Self::StackTrace => "stack-trace",
            Self::GitHistory => "git-history",
            Self::Log => "log",
            Self::Paths => "paths",
            Self::Code => "code",
            Self::BootFile => "boot-file",
            Self::Echo => "echo",
            Self::Chatter => "chatter",
            Self::Step => "step",
            Self::SessionSummary => "session-summary",
            Self::Passing => "passing",
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
            Self::GitHistory => "git keeps its own history; say what was decided or learned",
            Self::Log => "the output of a program; say in a sentence what it shows",
            Self::Paths => "a list of paths; say what is kept where and why, or index the folder",
            Self::Code => "code alone; index its file, or say in a sentence what it is for",
            Self::BootFile => "it repeats a prompt or a file that every session reads; keep it there",
            Self::Echo => "this store returned it a moment ago; tell only what is new",
            Self::Chatter => "it tells nothing; say what is to be remembered",
            Self::Step => "a step of the work at hand; say what it found, or what holds from now on",
            Self::SessionSummary => {
                "the account of a session; keep each decision, fact and lesson of it as a memory of its own"
            }
            Self::Passing => {
                "it holds for the moment only, and the gate is strict; say what will still be so next week"
            }
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

/// A text without its secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redacted {
    /// Each secret is replaced by what it is: `[redacted: AWS access key]`.
    pub text: String,
    /// What was cut out, in the order of the text.
    pub found: Vec<SecretKind>,
}

/// What the gate says to a text.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// Why it is not kept; `None` lets it in.
    pub refused: Option<Refusal>,
    /// What to keep in its place, where it holds secrets. It is there for refused texts too, so that a log of them is safe.
    pub redacted: Option<Redacted>,
    /// The words of what is kept, for whoever judges it next.
    pub reading: Reading,
}

impl Verdict {
    /// How long the text is likely to hold.
    pub fn durability(&self) -> Durability {
        self.reading.durability()
    }
}

/// Judges a text that wants to become a memory.
///
/// Rules are asked in the order of [`Refusal::ALL`], and the first that applies answers; of what programs print, what the
/// text has most of. Whether a text is an echo is asked by [`is_echo`], last and by who knows what was returned: texts must
/// be read for it. The account of a session comes last of what normal mode refuses here, so that a caller who was told that
/// the text is a digest or a handoff may let it in. With the gate off nothing is refused and secrets stay: whoever
/// switches it off wants the text byte for byte, as a restored backup or the import of an own export must be.
pub fn judge(text: &str, gate: Gate, constants: &Constants) -> Verdict {
    let most = match gate {
        Gate::Off => return Verdict { refused: None, redacted: None, reading: Reading::of(text) },
        Gate::Normal => constants.most_chars,
        Gate::Strict => constants.most_chars_strict,
    };
    let redacted = redact(text, constants);
    let kept = redacted.as_ref().map_or(text, |redacted| &redacted.text);
    let reading = Reading::of(kept);
    let cues = &reading.cues;
    let refused = if text.chars().nth(most).is_some() {
        Some(Refusal::TooLong)
    } else if redacted.is_some() && is_little(kept, constants) {
        Some(Refusal::Secret)
    } else if boot::is_boot_file(kept, cues) {
        Some(Refusal::BootFile)
    } else if let Some(printed) = shape::printed(kept, constants) {
        Some(printed)
    } else if prose::is_heartbeat(kept, cues, constants) {
        Some(Refusal::Log)
    } else if talk::is_chatter(kept, cues, constants) {
        Some(Refusal::Chatter)
    } else if let Some(own) = prose::about_itself(kept, cues, constants) {
        Some(own)
    } else if prose::is_session_summary(kept, cues, constants) {
        Some(Refusal::SessionSummary)
    } else if gate == Gate::Strict && reading.durability() == Durability::Passing {
        Some(Refusal::Passing)
    } else {
        None
    };
    Verdict { refused, redacted, reading }
}

/// Whether the model refuses a text, by its likelihood of being worth keeping.
pub fn is_junk(worth: f32, gate: Gate, constants: &Constants) -> bool {
    match gate {
        Gate::Off => false,
        Gate::Normal => worth < constants.least_worth,
        Gate::Strict => worth < constants.least_worth_strict,
    }
}

/// The text without its secrets; `None` where it holds none.
pub fn redact(text: &str, constants: &Constants) -> Option<Redacted> {
    let found = secrets::find(text, constants);
    if found.is_empty() {
        return None;
    }
    Some(Redacted { text: cut(text, &found), found: found.iter().map(|secret| secret.kind).collect() })
}

/// What the words begin with that stand in for a secret.
const STAND_IN: &str = "[redacted: ";

/// The text with what each secret is in its place.
fn cut(text: &str, found: &[Found]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for secret in found {
        out.push_str(&text[from..secret.at.start]);
        out.push_str(STAND_IN);
        out.push_str(secret.kind.label());
        out.push(']');
        from = secret.at.end;
    }
    out.push_str(&text[from..]);
    out
}

/// Words that stand around a secret and say nothing of their own.
const AROUND: &[&str] = &[
    "the",
    "and",
    "for",
    "with",
    "are",
    "was",
    "this",
    "that",
    "from",
    "use",
    "your",
    "our",
    "his",
    "her",
    "key",
    "keys",
    "token",
    "tokens",
    "secret",
    "secrets",
    "password",
    "passwords",
    "passwd",
    "pwd",
    "passphrase",
    "pass",
    "api",
    "apikey",
    "access",
    "private",
    "public",
    "auth",
    "authorization",
    "bearer",
    "basic",
    "credential",
    "credentials",
    "login",
    "user",
    "username",
    "account",
    "export",
    "env",
    "set",
    "config",
    "value",
    "here",
    "url",
    "uri",
    "database",
    "db",
    "prod",
    "production",
    "staging",
    "dev",
    "test",
    "aws",
    "gcp",
    "google",
    "github",
    "gitlab",
    "slack",
    "stripe",
    "openai",
    "anthropic",
    "npm",
    "pypi",
    "hugging",
    "face",
    "jwt",
    "rsa",
    "ssh",
    "please",
    "remember",
    "save",
    "note",
    "new",
    "old",
    "client",
    "server",
    "admin",
    "root",
    "id",
    "redacted",
    "json",
    "web",
    "header",
    "http",
    "https",
    "postgres",
    "postgresql",
    "mysql",
    "redis",
    "mongodb",
    "curl",
];

/// Whether a redacted text has little left of its own.
fn is_little(redacted: &str, constants: &Constants) -> bool {
    let mut left = 0;
    let mut rest = redacted;
    // What stands in for secrets is no word of the text.
    while let Some(start) = rest.find(STAND_IN) {
        left += own_words(&rest[..start]);
        rest = rest[start..].find(']').map_or("", |end| &rest[start + end + 1..]);
    }
    left + own_words(rest) < constants.least_left
}

fn own_words(text: &str) -> usize {
    let unspaced = text.chars().filter(|c| super::cues::is_unspaced(*c)).count();
    let words = text.split(|c: char| !c.is_alphabetic()).filter(|word| {
        word.chars().count() > 2 && !AROUND.iter().any(|around| word.eq_ignore_ascii_case(around))
    });
    words.count() + unspaced / 2
}

#[cfg(test)]
mod sample;
#[cfg(test)]
mod tests;
