//! Aliases: statements of people that two names mean one entity.
//! They are kept as they are stated; whoever reads the graph applies them, so a statement that is taken back leaves no trace in it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::clock::Stamp;
use crate::error::Result;
use crate::request::EntityAlias;

/// A stated alias.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AliasRow {
    /// One name, as it was written.
    pub name: String,
    /// The other name. In an event it has a field that forgetting takes for a user's words.
    #[serde(rename = "means")]
    pub other: String,
    /// The folded forms of both names, the lesser one first. Of equal forms there is one row.
    pub forms: [String; 2],
    /// Time when it was stated.
    pub time: Timestamp,
}

impl AliasRow {
    /// Returns the alias as answers show it.
    pub fn shown(self) -> EntityAlias {
        EntityAlias { name: self.name, other: self.other, time: self.time }
    }
}

/// Keeps what people state about names.
pub trait Aliases {
    /// Returns all aliases that hold, sorted by their forms.
    fn aliases(&self) -> Result<Vec<AliasRow>>;
    /// States an alias, with its event; `None` if it is stated already.
    fn add_alias(&self, alias: &AliasRow, stamp: Stamp<'_>) -> Result<Option<u64>>;
    /// Takes an alias back, with its event; `None` if no alias of these forms is stated.
    fn remove_alias(&self, forms: &[String; 2], stamp: Stamp<'_>) -> Result<Option<(AliasRow, u64)>>;
}
