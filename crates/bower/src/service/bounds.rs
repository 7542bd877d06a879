//! Defines access bounds: what a caller may reach and do.
//! No argument of a request can leave them. There is one rule for every way in.

use bower_core::Error;
use bower_core::item::{Author, Scope, Visibility};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;

/// What somebody may do. Each may what the one before may.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// Ask, list, look.
    Read,
    /// Keep, judge, forget.
    Write,
    /// Have files of this machine indexed, and do what touches the whole store.
    #[default]
    Admin,
}

impl Access {
    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Admin => "admin",
        }
    }
}

/// How a request came. Its errors name what was asked with, and what guards a server binds wires alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Via {
    /// From a process of this machine that was started for it: flags of a command line, or the call of a host's hook.
    CommandLine,
    /// As fields of a body, by MCP or HTTP.
    #[default]
    Wire,
}

/// The bounds of whoever asks. The default holds nothing back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// Only this scope.
    pub scope: Option<Scope>,
    /// Only this owner's.
    pub owner: Option<String>,
    /// Only these collections; empty is all.
    pub collections: Vec<String>,
    /// What may be done.
    pub access: Access,
    /// The program that whoever asks runs in, for all that they write.
    pub host: Option<String>,
    /// Whoever asks is an agent, whatever it may do: it never speaks for the user.
    pub is_agent: bool,
    /// How the request came.
    pub via: Via,
}

/// The engine's answer to a request, or why there is none.
pub type Served<T> = std::result::Result<T, Refused>;

/// Why a request was not served.
#[derive(Debug)]
pub enum Refused {
    /// It is outside the bounds of whoever asks.
    Outside(Failure),
    /// It was tried, or could not be.
    Failed(Failure),
}

impl Refused {
    /// What to tell.
    pub fn failure(&self) -> &Failure {
        match self {
            Self::Outside(failure) | Self::Failed(failure) => failure,
        }
    }
}

impl From<Failure> for Refused {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Outside(failure) | Refused::Failed(failure) => failure,
        }
    }
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        let is_outside = matches!(error, Error::Outside { .. } | Error::WholeStore { .. });
        // Over a wire a caller is bound by its token or its server's settings, and may not know to what.
        let bound =
            if let Error::Outside { what, bound, .. } = &error { Some((*what, bound.clone())) } else { None };
        let mut failure = Failure::from(error);
        if let Some((what, bound)) = bound {
            failure.hint = Some(format!("leave it out, or name {what} {bound}").into());
        }
        if is_outside { Self::Outside(failure) } else { Self::Failed(failure) }
    }
}

/// Where something new goes.
#[derive(Debug, PartialEq, Eq)]
pub struct Place {
    /// Its collection; the settings' where none was named.
    pub collection: Option<String>,
    /// Who may see it.
    pub scope: Scope,
    /// Whose it is.
    pub owner: Option<String>,
}

impl Place {
    /// The scope, where somebody is named; nobody named is nobody: what belongs to a person alone carries no place in its name.
    pub fn named_scope(&self) -> Option<Scope> {
        (self.owner.is_some() || self.scope != Scope::Project).then_some(self.scope)
    }
}

impl Bounds {
    /// Of a person at the command line of their own machine: they hold nothing back.
    pub fn local() -> Self {
        Self { via: Via::CommandLine, ..Self::default() }
    }

    /// Whether they hold no item back.
    pub fn is_everything(&self) -> bool {
        self.visibility().is_everything()
    }

    /// What they let be seen, as the engine takes it.
    pub fn visibility(&self) -> Visibility {
        let collections = Some(&self.collections).filter(|names| !names.is_empty());
        Visibility {
            scope: self.scope,
            owner: self.owner.clone(),
            collections: collections.map(|names| names.iter().cloned().collect()),
        }
    }

    /// Who says what whoever asks keeps, unless they say that it is from elsewhere: the user at a command line, an agent over a
    /// wire. Only who may do everything speaks for the user.
    pub fn author(&self, told: Option<Author>) -> Result<Author, Refused> {
        match told {
            Some(Author::User) if self.is_agent || self.access < Access::Admin => {
                Err(Refused::Outside(Failure::usage(
                    "said_by user: whoever asks is not the user",
                    "leave it out: an agent's word is kept as an agent's",
                )))
            }
            Some(author) => Ok(author),
            None if self.via == Via::CommandLine && !self.is_agent => Ok(Author::User),
            None => Ok(Author::Agent),
        }
    }

    /// Refuses whoever may not do this.
    pub fn may(&self, access: Access) -> Result<(), Refused> {
        if self.access >= access {
            return Ok(());
        }
        Err(Refused::Outside(Failure::usage(
            format!("this needs {} access, and whoever asks has {}", access.word(), self.access.word()),
            "ask with a token that may do it",
        )))
    }

    /// Refuses whoever may not touch the whole store.
    pub fn may_all(&self, what: &'static str) -> Result<(), Refused> {
        self.may(Access::Write)?;
        if self.is_everything() {
            return Ok(());
        }
        Err(Error::WholeStore { what }.into())
    }

    /// Where something new goes that names these, or none of them.
    pub fn place(
        &self,
        collection: Option<&str>,
        scope: Option<Scope>,
        owner: Option<&str>,
    ) -> Result<Place, Refused> {
        for (what, name) in [("collection", collection), ("owner", owner)] {
            if name.is_some_and(|name| name.trim().is_empty()) {
                let failure = Failure::usage(format!("{what} is blank"), "leave it out, or give a name");
                return Err(Refused::Failed(failure));
            }
        }
        let visibility = self.visibility().narrowed(scope, owner)?;
        let collection = match (collection, self.collections.as_slice()) {
            (Some(name), _) => {
                visibility.check_collection(name)?;
                Some(name.to_owned())
            }
            (None, []) => None,
            (None, [only]) => Some(only.clone()),
            (None, several) => {
                return Err(Refused::Failed(Failure::usage(
                    "no collection is named",
                    format!("name one of {}", several.join(", ")),
                )));
            }
        };
        let Visibility { scope, owner, .. } = visibility;
        Ok(Place { collection, scope: scope.unwrap_or(Scope::Project), owner })
    }
}
