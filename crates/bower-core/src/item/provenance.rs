//! The provenance of an item: its speaker, its least trusted source, and whether a person reviewed it.
//! They alone decide which items may enter an agent's prompt unasked, and with which mark.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

use super::{Kind, Status};
use crate::error::Error;

words! {
    /// A speaker or source, from the most trusted to the least. A text with several sources is as trusted as the least of them.
    Author, "author" {
        /// The store's user.
        User = "user",
        /// The user's agent.
        Agent = "agent",
        /// A file that was opened or attached.
        Document = "document",
        /// Output of a tool: a command, a mailbox, another service.
        Tool = "tool",
        /// Another program's memories, and other people's turns in an imported conversation.
        Import = "import",
        /// A fetched web page: anybody may have written it.
        Web = "web",
    }
}

impl Author {
    /// Whether neither the user nor their agent is the author.
    pub const fn is_outside(self) -> bool {
        match self {
            Self::User | Self::Agent => false,
            Self::Document | Self::Tool | Self::Import | Self::Web => true,
        }
    }

    /// Returns the less trusted of two.
    #[must_use]
    pub fn less_trusted(self, other: Self) -> Self {
        self.max(other)
    }

    /// Returns the source as words for the reader of a prompt.
    const fn whence(self) -> &'static str {
        match self {
            // A message may quote others, which cannot be detected here.
            Self::User => "a user's message that may quote others",
            Self::Agent => "an agent's message",
            Self::Document => "a document",
            Self::Tool => "a tool's output",
            Self::Import => "another person or program",
            Self::Web => "the web",
        }
    }
}

words! {
    /// The effect on an item of undoing what an origin wrote.
    TakenHow, "what" {
        /// The origin wrote it: it is archived.
        Archived = "archived",
        /// The origin had replaced it: it is active again.
        Restored = "restored",
        /// The origin had repeated it: that confirmation is removed.
        Unconfirmed = "unconfirmed",
    }
}

/// Speaker, least trusted source and review state of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Provenance {
    /// The speaker.
    pub said_by: Author,
    /// The least trusted of its sources. For an agent's statement after it read a page, this is the web.
    pub least_trusted: Author,
    /// Whether a person decided to keep it: stated it, pinned it, or kept it in a review.
    pub reviewed: bool,
}

/// Whether an item may enter a prompt that did not ask for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// Without a mark.
    Plain,
    /// Only with the mark that [`Provenance::mark`] returns.
    Marked,
    /// Not before a person keeps it.
    Held,
}

impl Provenance {
    /// A part of a file: a person chose to index the file, and its path cites it.
    pub const FILE: Self =
        Self { said_by: Author::Document, least_trusted: Author::Document, reviewed: true };

    /// Returns the provenance of a text whose author asked to keep it. If the author is outside, it waits for a review
    /// nevertheless.
    pub const fn told(by: Author) -> Self {
        Self { said_by: by, least_trusted: by, reviewed: !by.is_outside() }
    }

    /// Returns the provenance of a text extracted from words that nobody asked to keep. `among` is the least trusted
    /// source before it.
    pub fn picked(by: Author, among: Author) -> Self {
        Self { said_by: by, least_trusted: by.less_trusted(among), reviewed: false }
    }

    /// Whether any of its sources is outside.
    pub const fn is_outside(self) -> bool {
        self.said_by.is_outside() || self.least_trusted.is_outside()
    }

    /// Combines the provenance of two sources: as trusted as the less trusted, and reviewed if both are.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            said_by: self.said_by.less_trusted(other.said_by),
            least_trusted: self.least_trusted.less_trusted(other.least_trusted),
            reviewed: self.reviewed && other.reviewed,
        }
    }

    /// Combines the provenance of several sources; `None` if there are none.
    pub fn of_sources(sources: impl IntoIterator<Item = Self>) -> Option<Self> {
        sources.into_iter().reduce(Self::and)
    }

    /// Returns the provenance after the same words were repeated. A reviewed repetition raises trust to the better of
    /// both. An unreviewed one leaves a reviewed item unchanged, and lowers an unreviewed item's trust to the worse of
    /// both.
    #[must_use]
    pub fn said_again(self, told: Self) -> Self {
        match (self.reviewed, told.reviewed) {
            (_, true) => Self {
                said_by: self.said_by.min(told.said_by),
                least_trusted: self.least_trusted.min(told.least_trusted),
                reviewed: true,
            },
            (true, false) => self,
            (false, false) => Self { said_by: self.said_by, ..self.and(told) },
        }
    }

    /// Whether a reviewed new wording of the same content replaces the stored one. The stored one must be unreviewed, or
    /// from outside while the new one is not.
    pub fn yields_to(self, told: Self) -> bool {
        told.reviewed && (!self.reviewed || (self.is_outside() && !told.is_outside()))
    }

    /// Returns the provenance of a memory written before provenance was stored, from its source and speaker. It is the
    /// least trust that fits. Schema 10 has the same rule in SQL.
    pub fn of_source(source: &str, speaker: Option<&str>, status: Status) -> Self {
        let is_waiting = status == Status::Candidate;
        let said_by = match speaker {
            Some(name) if name.eq_ignore_ascii_case("user") => Author::User,
            Some(_) | None => Author::Agent,
        };
        match source {
            // A person, or an agent by a tool: the two were not distinguished.
            "bower" | "cli" | "consolidate" => {
                Self { said_by: Author::Agent, least_trusted: Author::Agent, reviewed: !is_waiting }
            }
            "claude-code" | "codex" | "copilot" | "gemini" | "transcript" | "agent" => {
                Self { reviewed: !is_waiting, ..Self::picked(said_by, said_by) }
            }
            _ => Self { said_by: Author::Import, least_trusted: Author::Import, reviewed: !is_waiting },
        }
    }

    /// Returns whether an item may enter a prompt that did not ask for it.
    ///
    /// A part of a document is cited by its path, and a person chose to index it: it is never held.
    pub fn admission(self, kind: Kind, status: Status) -> Admission {
        let is_confirmed = self.reviewed && status != Status::Candidate;
        match kind {
            Kind::Chunk if self.reviewed => Admission::Plain,
            Kind::Chunk => Admission::Marked,
            Kind::Memory => match (is_confirmed, self.is_outside()) {
                (true, false) => Admission::Plain,
                (true, true) | (false, false) => Admission::Marked,
                (false, true) => Admission::Held,
            },
        }
    }

    /// Returns the note that a reader needs beside the item, in our own words; `None` if none is needed.
    pub fn mark(self, kind: Kind, status: Status) -> Option<String> {
        if self.admission(kind, status) == Admission::Plain {
            return None;
        }
        let whence = if self.said_by == self.least_trusted || self.said_by.is_outside() {
            self.said_by.less_trusted(self.least_trusted).whence().to_owned()
        } else {
            format!("{} after {}", self.said_by.whence(), self.least_trusted.whence())
        };
        Some(if self.reviewed && status != Status::Candidate {
            format!("from {whence}, kept in a review")
        } else {
            format!("unconfirmed, from {whence}")
        })
    }
}

/// A writer, as far as it can be named: a session, the program that a session or agent runs in, or the source stored
/// with a memory. Fields that are `None` match everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Origin {
    /// The conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

impl Origin {
    /// Whether no field is set.
    pub const fn is_nothing(&self) -> bool {
        self.session.is_none() && self.host.is_none() && self.source.is_none()
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = [("session", &self.session), ("host", &self.host), ("source", &self.source)];
        let named = named.iter().filter_map(|(what, name)| Some(format!("{what} {}", name.as_ref()?)));
        f.write_str(&named.collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USER: Provenance = Provenance::told(Author::User);

    #[test]
    fn the_order_of_trust_is_total_and_written_down() {
        let words: Vec<&str> = Author::ALL.iter().map(|author| author.word()).collect();
        assert_eq!(words, ["user", "agent", "document", "tool", "import", "web"]);
        assert!(Author::ALL.is_sorted());
        for &one in Author::ALL {
            for &two in Author::ALL {
                let less = one.less_trusted(two);
                assert_eq!(less, two.less_trusted(one));
                assert!((less == one || less == two) && less >= one && less >= two);
                assert_eq!(less.is_outside(), one.is_outside() || two.is_outside());
            }
        }
    }

    /// All combinations, written by hand from the rule. Nothing from outside enters before a person kept it. Nothing
    /// from outside or unreviewed enters without a mark.
    #[test]
    fn what_may_enter_a_context_that_nobody_asked_for() {
        use Admission::{Held, Marked, Plain};
        for &said_by in Author::ALL {
            for &least_trusted in Author::ALL {
                for reviewed in [false, true] {
                    for status in [Status::Candidate, Status::Active] {
                        let one = Provenance { said_by, least_trusted, reviewed };
                        let from_outside =
                            said_by > Author::Agent || !matches!(least_trusted, Author::User | Author::Agent);
                        let kept = reviewed && status == Status::Active;
                        let expected = if kept && !from_outside {
                            Plain
                        } else if from_outside && !kept {
                            Held
                        } else {
                            Marked
                        };
                        assert_eq!(one.admission(Kind::Memory, status), expected, "{one:?} {status}");
                        assert_eq!(one.mark(Kind::Memory, status).is_none(), expected == Plain, "{one:?}");
                    }
                }
            }
        }
        assert_eq!(Provenance::FILE.admission(Kind::Chunk, Status::Active), Plain);
        let turn = Provenance::picked(Author::User, Author::User);
        assert_eq!(turn.admission(Kind::Chunk, Status::Active), Marked);
    }

    #[test]
    fn a_mark_says_whence_and_that_nobody_confirmed_it() {
        let check = |said_by, least_trusted, reviewed, expected: &str| {
            let one = Provenance { said_by, least_trusted, reviewed };
            assert_eq!(one.mark(Kind::Memory, Status::Active).as_deref(), Some(expected));
        };
        check(Author::User, Author::User, false, "unconfirmed, from a user's message that may quote others");
        check(Author::Agent, Author::Web, false, "unconfirmed, from an agent's message after the web");
        check(Author::Web, Author::Web, true, "from the web, kept in a review");
        check(Author::Tool, Author::Web, true, "from the web, kept in a review");
        assert_eq!(USER.mark(Kind::Memory, Status::Active), None);
        assert!(USER.mark(Kind::Memory, Status::Candidate).unwrap().starts_with("unconfirmed"));
    }

    #[test]
    fn what_is_made_of_several_is_as_trusted_as_the_least() {
        let web = Provenance::told(Author::Web);
        assert!(!web.reviewed, "what was fetched waits for a review");
        assert_eq!(Provenance::of_sources([USER, web, USER]), Some(web));
        let agent = Provenance::told(Author::Agent);
        assert_eq!(Provenance::of_sources([USER, agent]), Some(agent));
        assert_eq!(Provenance::of_sources([]), None);
    }

    #[test]
    fn saying_it_again_raises_trust_only_where_somebody_decides() {
        let web = Provenance::picked(Author::Web, Author::Web);
        let pick = Provenance::picked(Author::User, Author::User);
        assert_eq!(web.said_again(USER), USER, "told by its user");
        assert_eq!(web.said_again(pick), web, "a message may quote the page");
        assert_eq!(USER.said_again(web), USER, "a page takes nothing away");
        assert_eq!(pick.said_again(web).least_trusted, Author::Web);
        assert!(web.yields_to(USER) && pick.yields_to(USER) && !USER.yields_to(USER));
        assert!(!web.yields_to(pick) && !USER.yields_to(Provenance::told(Author::Agent)));
        let kept = Provenance { reviewed: true, ..web };
        assert!(kept.yields_to(USER) && !kept.yields_to(kept));
    }

    #[test]
    fn an_origin_says_what_it_names() {
        let origin = Origin { session: Some("s1".into()), source: Some("codex".into()), host: None };
        assert_eq!(origin.to_string(), "session s1, source codex");
        assert!(Origin::default().is_nothing() && !origin.is_nothing());
    }
}
