//! Defines what an import remembers of other programs' memories between its files.

use std::collections::{HashMap, HashSet};

use crate::engine::transfer::import::foreign::planned::Planned;
use crate::request::Item;

/// What an import remembers of other programs' memories between its files.
#[derive(Default)]
pub(crate) struct ForeignState {
    /// The memories that earlier imports brought, by source, then by the id in the other program.
    pub(super) known: HashMap<&'static str, HashMap<String, Item>>,
    /// Hashes of the memories that this import has read: two files of a program may both hold one.
    pub(super) read: HashSet<String>,
    /// Ids of the memories that this import wrote.
    pub(super) written: HashSet<String>,
    /// What a dry run would have written.
    pub(super) planned: Planned,
    /// Number of databases that were copied.
    pub(super) databases: u64,
}
