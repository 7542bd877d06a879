//! What somebody who asks over a wire may reach: bounds that no argument of a request can leave. One rule for every wire.

use bower_core::item::{Reach, Scope};
use bower_core::request::{Item, Selection};
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

/// The bounds of whoever asks. The default holds nothing back: a person at their own machine.
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
}

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
    /// Whether they hold no item back.
    pub fn is_everything(&self) -> bool {
        self.reach().is_everything() && self.collections.is_empty()
    }

    /// Scope and owner, as the engine knows them.
    pub fn reach(&self) -> Reach {
        Reach { scope: self.scope, owner: self.owner.clone() }
    }

    /// Whether an item is within.
    pub fn holds(&self, item: &Item) -> bool {
        item.is_within(&self.reach()) && self.has_collection(&item.collection)
    }

    /// Whether a collection is within.
    pub fn has_collection(&self, name: &str) -> bool {
        self.collections.is_empty() || self.collections.iter().any(|allowed| allowed == name)
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
    pub fn may_all(&self, what: &str) -> Result<(), Refused> {
        self.may(Access::Write)?;
        if self.is_everything() {
            return Ok(());
        }
        Err(Refused::Outside(Failure::usage(
            format!("{what} touches the whole store, and whoever asks is bound to a part of it"),
            "ask without a scope, an owner or collections that bind",
        )))
    }

    /// Refuses whoever is bound to some collections what no collection bounds.
    pub fn all_collections(&self, what: &str) -> Result<(), Refused> {
        if self.collections.is_empty() {
            return Ok(());
        }
        Err(Refused::Outside(Failure::usage(
            format!("{what} goes through all collections, and whoever asks is bound to some"),
            "ask without collections that bind",
        )))
    }

    /// A reach as far as it is within; an error where it names what is outside.
    pub fn within(&self, wanted: &Reach) -> Result<Reach, Refused> {
        let scope = narrowed(self.scope.as_ref(), wanted.scope.as_ref(), "scope")?;
        let owner = narrowed(self.owner.as_ref(), wanted.owner.as_ref(), "owner")?;
        Ok(Reach { scope, owner })
    }

    /// A selection as far as it is within; an error where it names what is outside.
    pub fn narrow(&self, select: Selection) -> Result<Selection, Refused> {
        let Reach { scope, owner } = self.within(&select.reach())?;
        let collections = if select.collections.is_empty() {
            self.collections.clone()
        } else {
            if let Some(outside) = select.collections.iter().find(|name| !self.has_collection(name)) {
                return Err(outside_of("collection", outside, self.collections.join(", ")));
            }
            select.collections
        };
        Ok(Selection { scope, owner, collections, ..select })
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
        let wanted = Reach { scope, owner: owner.map(str::to_owned) };
        let Reach { scope, owner } = self.within(&wanted)?;
        let collection = match (collection, self.collections.as_slice()) {
            (Some(name), _) if !self.has_collection(name) => {
                return Err(outside_of("collection", name, self.collections.join(", ")));
            }
            (Some(name), _) => Some(name.to_owned()),
            (None, []) => None,
            (None, [only]) => Some(only.clone()),
            (None, several) => {
                return Err(Refused::Failed(Failure::usage(
                    "no collection is named",
                    format!("name one of {}", several.join(", ")),
                )));
            }
        };
        Ok(Place { collection, scope: scope.unwrap_or(Scope::Project), owner })
    }
}

/// What is bound, else what is wanted; an error where both are there and differ.
fn narrowed<T: Clone + PartialEq + std::fmt::Display>(
    bound: Option<&T>,
    wanted: Option<&T>,
    what: &str,
) -> Result<Option<T>, Refused> {
    match (bound, wanted) {
        (Some(bound), Some(wanted)) if bound != wanted => Err(outside_of(what, wanted, bound)),
        (bound, wanted) => Ok(bound.or(wanted).cloned()),
    }
}

fn outside_of(what: &str, wanted: impl std::fmt::Display, bound: impl std::fmt::Display) -> Refused {
    Refused::Outside(Failure::usage(
        format!("{what} {wanted} is outside of what whoever asks may reach"),
        format!("leave it out, or name {what} {bound}"),
    ))
}
