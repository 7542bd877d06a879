//! Admission: refuses texts that are no memory, with a reason, and cuts secrets out of those that are kept.
//!
//! ```
//! use bower_core::item::Gate;
//! use bower_core::parts::memory::gate::{Constants, Refusal, judge};
//!
//! let verdict = judge("The API listens on port 8080.", Gate::Normal, &Constants::default());
//! assert_eq!(verdict.refused, None);
//! let verdict = judge("@@ -1 +1 @@\n-port: 80\n+port: 81", Gate::Normal, &Constants::default());
//! assert_eq!(verdict.refused, Some(Refusal::Diff));
//! ```
//!
//! Rules refuse only what is certain by its form: secrets alone, diffs, stack traces and encoded data. Whether any other text
//! is worth keeping, the local model decides ([`is_junk`]), in any language.

mod constants;
mod echo;
mod fields;
mod printed;
mod random;
mod refusal;
mod secrets;

use std::collections::BTreeSet;

use super::analysis::is_unspaced;
use crate::item::Gate;
pub use constants::Constants;
pub use echo::{Heard, is_echo};
pub use fields::{Cut, Field, Named, clean};
pub use refusal::Refusal;
use secrets::STAND_IN;
pub use secrets::{Redacted, SecretKind, redact};

/// What the gate says to a text.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// Why it is not kept; `None` lets it in.
    pub refused: Option<Refusal>,
    /// What to keep in its place, where it holds secrets. It is there for refused texts too, so that a log of them is safe.
    pub redacted: Option<Redacted>,
}

/// Judges a text that wants to become a memory, by its form alone.
///
/// The model is asked after these rules ([`is_junk`]), and then whether the text is an echo ([`is_echo`]). With the gate off
/// nothing is refused and secrets stay: whoever switches it off wants the text byte for byte, as a restored backup or the
/// import of an own export must be.
pub fn judge(text: &str, gate: Gate, constants: &Constants) -> Verdict {
    let most = match gate {
        Gate::Off => return Verdict { refused: None, redacted: None },
        Gate::Normal => constants.most_chars,
        Gate::Strict => constants.most_chars_strict,
    };
    let redacted = redact(text, constants);
    let kept = redacted.as_ref().map_or(text, |redacted| &redacted.text);
    let refused = if text.chars().nth(most).is_some() {
        Some(Refusal::TooLong)
    } else if redacted.is_some() && is_little(kept, constants) {
        Some(Refusal::Secret)
    } else {
        printed::printed(kept, constants)
    };
    Verdict { refused, redacted }
}

/// Whether the model refuses a text, by its likelihood of being worth keeping.
pub fn is_junk(worth: f32, gate: Gate, constants: &Constants) -> bool {
    match gate {
        Gate::Off => false,
        Gate::Normal => worth < constants.least_worth,
        Gate::Strict => worth < constants.least_worth_strict,
    }
}

/// Whether a redacted text has little left of its own.
fn is_little(redacted: &str, constants: &Constants) -> bool {
    let mut own = BTreeSet::new();
    let mut unspaced = 0;
    let mut rest = redacted;
    while !rest.is_empty() {
        // What stands in for secrets is no word of the text.
        let end = rest.find(STAND_IN).unwrap_or(rest.len());
        let words = rest[..end].split(|c: char| !c.is_alphabetic());
        own.extend(words.filter(|word| word.chars().count() > SMALL).map(str::to_lowercase));
        unspaced += rest[..end].chars().filter(|c| is_unspaced(*c)).count();
        rest = rest[end..].find(']').map_or("", |close| &rest[end + close + 1..]);
    }
    own.len() + unspaced / 2 < constants.least_left
}

/// A word with so many letters or fewer says little of what a secret is for (Zipf: the most frequent words are short).
const SMALL: usize = 3;

#[cfg(test)]
mod tests;
