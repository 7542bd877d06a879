//! Defines access bounds: what a caller may see and do.
//! No argument of a request can exceed them. The same rule applies to the command line, MCP and HTTP.

use bower_core::Error;
use bower_core::item::{Author, Scope, Visibility};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

use crate::failure::Failure;

/// Access of a caller. Each level includes the one before.
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
    /// Returns its name as text.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Admin => "admin",
        }
    }
}

/// Source of a request. Error messages use the terms of their source. Limits that protect a server apply only to
/// requests over a wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Via {
    /// A process of this machine, started for the request: a command line, or the call of a host's hook.
    CommandLine,
    /// MCP or HTTP, with fields of a body.
    #[default]
    Wire,
}

/// Access bounds of a caller. The default allows everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// Allowed scope; none allows all.
    pub scope: Option<Scope>,
    /// Allowed owner; none allows all.
    pub owner: Option<String>,
    /// Allowed collections; empty allows all.
    pub collections: Vec<String>,
    /// Operations that the caller may use.
    pub access: Access,
    /// Program that the caller runs in; its writes are recorded under this name.
    pub host: Option<String>,
    /// Whether the caller is an agent, which never speaks for the user, whatever its access.
    pub is_agent: bool,
    /// Source of the request.
    pub via: Via,
    /// Working folder of the caller, if it works on this machine. In its project the code that memories name is looked up;
    /// for a caller without one, no file is read.
    pub folder: Option<PathBuf>,
}

/// The engine's answer to a request, or the reason for its refusal.
pub type Served<T> = std::result::Result<T, Refused>;

/// Reason why a request was not served.
#[derive(Debug)]
pub enum Refused {
    /// The request is outside the caller's bounds.
    Outside(Failure),
    /// The request failed, or is not valid.
    Failed(Failure),
}

impl Refused {
    /// Returns the failure to report.
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
        // Over a wire the caller may not know its bounds: its token or its server's settings set them. So the hint
        // names them.
        let bound =
            if let Error::Outside { what, bound, .. } = &error { Some((*what, bound.clone())) } else { None };
        let mut failure = Failure::from(error);
        if let Some((what, bound)) = bound {
            failure.hint = Some(format!("leave it out, or name {what} {bound}").into());
        }
        if is_outside { Self::Outside(failure) } else { Self::Failed(failure) }
    }
}

/// The namespace for something new.
#[derive(Debug, PartialEq, Eq)]
pub struct Place {
    /// Collection; none means the one of the settings.
    pub collection: Option<String>,
    /// The scope that may see it.
    pub scope: Scope,
    /// The owner.
    pub owner: Option<String>,
}

impl Place {
    /// Returns the scope if an owner is named or the scope is not `project`. Otherwise none: document ids of a conversation
    /// without scope and owner have no such prefix.
    pub fn named_scope(&self) -> Option<Scope> {
        (self.owner.is_some() || self.scope != Scope::Project).then_some(self.scope)
    }
}

impl Bounds {
    /// Returns the bounds of a person at the command line of their own machine, which allow everything.
    pub fn local() -> Self {
        Self { via: Via::CommandLine, ..Self::default() }
    }

    /// Whether the bounds hide no item.
    pub fn is_everything(&self) -> bool {
        self.visibility().is_everything()
    }

    /// Returns the items that the bounds allow to see, as the engine's [`Visibility`].
    pub fn visibility(&self) -> Visibility {
        let collections = Some(&self.collections).filter(|names| !names.is_empty());
        Visibility {
            scope: self.scope,
            owner: self.owner.clone(),
            collections: collections.map(|names| names.iter().cloned().collect()),
        }
    }

    /// Returns the author of a memory that the caller keeps. `told` is the author in the request. Without it, the
    /// author is the user at a command line and an agent over a wire. Only a caller with full access that is no agent
    /// may name the user.
    pub fn author(&self, told: Option<Author>) -> Result<Author, Refused> {
        match told {
            Some(Author::User) if self.is_agent || self.access < Access::Admin => {
                Err(Refused::Outside(Failure::usage(
                    "said_by user: the caller is not the user",
                    "leave it out: an agent's word is kept as an agent's",
                )))
            }
            Some(author) => Ok(author),
            None if self.via == Via::CommandLine && !self.is_agent => Ok(Author::User),
            None => Ok(Author::Agent),
        }
    }

    /// Refuses a caller without this access.
    pub fn may(&self, access: Access) -> Result<(), Refused> {
        if self.access >= access {
            return Ok(());
        }
        Err(Refused::Outside(Failure::usage(
            format!("this needs {} access, and the token has {}", access.word(), self.access.word()),
            "ask with a token that may do it",
        )))
    }

    /// Refuses a caller who may not change the whole store. `what` names the operation.
    pub fn may_all(&self, what: &'static str) -> Result<(), Refused> {
        self.may(Access::Write)?;
        if self.is_everything() {
            return Ok(());
        }
        Err(Error::WholeStore { what }.into())
    }

    /// Returns the namespace for something new. Fails if the arguments exceed the bounds, or if the bounds leave
    /// several collections.
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
