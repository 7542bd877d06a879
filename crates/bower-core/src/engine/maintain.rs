//! Maintains the store: the life of memories, consolidation, forgetting, and examination.

mod bounded_llm;
mod conflicts;
pub(crate) mod consolidate;
pub(crate) mod forget;
pub(crate) mod health;
pub(crate) mod lifecycle;
mod links;
mod measure;
mod models;
mod near_copies;
pub(crate) mod purge;
pub(crate) mod residue;
pub(crate) mod schedule;
mod settle;
mod tags;
mod triples;
mod wording;
pub(crate) mod worker;
