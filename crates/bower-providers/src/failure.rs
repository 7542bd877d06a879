//! Says why a call gave no result: what failed, on what, and what to do, in one line without secrets.

use std::fmt;
use std::time::Duration;

use crate::provider::Provider;
use crate::secret::Secret;

/// Most characters of a server's answer that a message repeats.
const MOST_CHARS: usize = 200;

/// The reason why there is no vector, answer or score.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The service.
    pub provider: Provider,
    /// The model that was asked.
    pub model: String,
    /// The kind, on which callers decide.
    pub kind: FailureKind,
    /// What to do about it.
    pub hint: String,
    /// The time after which the call may succeed, if it is known.
    pub retry_after: Option<Duration>,
    /// Whether a request was sent whose end is not known, so that it may cost money.
    pub may_be_billed: bool,
    /// What the server or the network reported, cleaned and cut.
    detail: String,
}

/// The kinds of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FailureKind {
    /// The key is missing or refused.
    Key,
    /// The account has no credit, or its spending limit is reached.
    Money,
    /// The quota of the day is used up.
    DailyQuota,
    /// Too many requests or tokens in a short time.
    Rate,
    /// The server has no such model, or none that does this.
    ModelUnknown,
    /// The text is longer than the model reads.
    TooLong,
    /// The text is empty.
    EmptyText,
    /// The server refuses the request as it is.
    BadRequest,
    /// The server refuses to treat this content.
    ContentRefused,
    /// The server failed.
    Server,
    /// The connection failed.
    Transport,
    /// There was no answer in time.
    Timeout,
    /// The answer is not in the expected format.
    NotJson,
    /// The vectors or scores are not usable: their number, length or content is wrong.
    BadVectors,
    /// The address must not be called: plain http, a redirect, or not the key's host.
    RefusedAddress,
}

/// The service and the model of a call, for its failures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Subject {
    pub provider: Provider,
    pub model: String,
}

impl FailureKind {
    /// Returns whether another text may succeed now.
    pub fn is_of_the_text(self) -> bool {
        match self {
            Self::TooLong | Self::EmptyText | Self::BadRequest | Self::ContentRefused | Self::BadVectors => {
                true
            }
            Self::Key
            | Self::Money
            | Self::DailyQuota
            | Self::Rate
            | Self::ModelUnknown
            | Self::Server
            | Self::Transport
            | Self::Timeout
            | Self::NotJson
            | Self::RefusedAddress => false,
        }
    }

    fn problem(self) -> &'static str {
        match self {
            Self::Key => "the key is missing or refused",
            Self::Money => "the account is out of credit",
            Self::DailyQuota => "the quota of the day is used up",
            Self::Rate => "too many requests",
            Self::ModelUnknown => "the server has no such model",
            Self::TooLong => "the text is too long",
            Self::EmptyText => "the text is empty",
            Self::BadRequest => "the request is refused",
            Self::ContentRefused => "the content is refused",
            Self::Server => "the server failed",
            Self::Transport => "the connection failed",
            Self::Timeout => "no answer in time",
            Self::NotJson => "the answer has another format",
            Self::BadVectors => "the numbers are not usable",
            Self::RefusedAddress => "the address is refused",
        }
    }

    fn hint(self, provider: Provider) -> String {
        let fixed = match self {
            Self::Key => {
                return match provider.key_variables() {
                    [] => "set the key of this server".to_owned(),
                    variables => format!("check {}", variables.join(" or ")),
                };
            }
            Self::ModelUnknown if provider == Provider::Ollama => "run ollama pull with the model's name",
            Self::Money => "add credit or raise the limit at the vendor",
            Self::DailyQuota => "wait until tomorrow or use another model",
            Self::Rate => "wait, or send fewer requests at once",
            Self::ModelUnknown => "check the model's name, and that the server has loaded it",
            Self::TooLong => "send a shorter text",
            Self::EmptyText => "leave it out",
            Self::BadRequest => "check the model and its settings",
            Self::ContentRefused => "leave it out or use another model",
            Self::Server | Self::Timeout => "try again later",
            Self::Transport => "check the network and the address",
            Self::NotJson => "check the address: it may be another service's",
            Self::BadVectors => "check that the server runs an embedding model of this dimension",
            Self::RefusedAddress => "use https, or http on this machine, and the address that the key is for",
        };
        fixed.to_owned()
    }
}

impl Subject {
    /// Returns a failure with the kind's own hint. `detail` is cleaned, loses the key, and is cut.
    pub fn failure(&self, kind: FailureKind, detail: &str, key: Option<&Secret>) -> Failure {
        let model = without_key(&clean(&self.model), key);
        Failure {
            provider: self.provider,
            model: model.chars().take(MOST_CHARS).collect(),
            kind,
            hint: kind.hint(self.provider),
            retry_after: None,
            may_be_billed: false,
            detail: without_key(&clean(detail), key).chars().take(MOST_CHARS).collect(),
        }
    }
}

impl Failure {
    /// Returns the failure with another hint.
    pub(crate) fn with_hint(mut self, hint: &str) -> Self {
        hint.clone_into(&mut self.hint);
        self
    }

    /// Returns the failure with the time after which to try again.
    pub(crate) fn with_retry_after(mut self, wait: Option<Duration>) -> Self {
        self.retry_after = wait;
        self
    }

    /// Returns the failure of a request that may cost money all the same, or not.
    pub(crate) fn billed(mut self, may_be_billed: bool) -> Self {
        self.may_be_billed = may_be_billed;
        self
    }

    /// Returns the failure as one of another model of the service.
    pub(crate) fn of_model(mut self, model: &str) -> Self {
        self.model = clean(model).chars().take(MOST_CHARS).collect();
        self
    }

    /// Returns what the server or the network reported: one line of at most 200 characters.
    pub fn detail(&self) -> &str {
        &self.detail
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.provider, self.model, self.kind.problem())?;
        if !self.detail.is_empty() {
            write!(f, ": {}", self.detail.trim_end_matches('.'))?;
        }
        write!(f, "; {}", self.hint)?;
        match self.retry_after {
            Some(wait) if !wait.is_zero() => write!(f, " (in {} s)", wait.as_secs_f64().ceil()),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for Failure {}

fn without_key(text: &str, key: Option<&Secret>) -> String {
    key.map_or_else(|| text.to_owned(), |key| key.redact(text))
}

/// Removes characters that steer a terminal or hide text, and joins all space.
fn clean(text: &str) -> String {
    let hides = |c: char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    let shown = text.chars().filter(|&c| c.is_whitespace() || !(c.is_control() || hides(c)));
    let shown: String = shown.collect();
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(kind: FailureKind, detail: &str) -> Failure {
        let subject = Subject { provider: Provider::OpenAi, model: "m-1".into() };
        subject.failure(kind, detail, Secret::new("sk-4f9a1c77e0b2").as_ref())
    }

    #[test]
    fn a_failure_is_one_line_with_what_to_do() {
        assert_eq!(
            failure(FailureKind::Key, "Incorrect key\n provided: sk-4f9a1c77e0b2.").to_string(),
            "openai m-1: the key is missing or refused: Incorrect key provided: ***; check OPENAI_API_KEY"
        );
        let rate = failure(FailureKind::Rate, "").with_retry_after(Some(Duration::from_millis(4_200)));
        assert_eq!(
            rate.to_string(),
            "openai m-1: too many requests; wait, or send fewer requests at once (in 5 s)"
        );
    }

    #[test]
    fn a_message_has_no_control_characters_and_200_of_the_servers() {
        let shown = failure(FailureKind::Server, "a\u{1b}[31mred\u{7}\u{202e}x\u{9b}\r\nb");
        assert_eq!(shown.detail(), "a[31mredx b");
        assert_eq!(failure(FailureKind::Server, &"é".repeat(500)).detail().chars().count(), 200);
        // The key is removed before the text is cut, and when control characters split it.
        let split = format!("{}sk-4f9a1c77e0b2", "x".repeat(190));
        assert!(!failure(FailureKind::Server, &split).detail().contains("sk-4f"));
        assert!(!failure(FailureKind::Server, "sk-4f9a\u{1}1c77e0b2").to_string().contains("4f9a1c77"));
    }
}
