//! The life of a memory as pure rules: admission, judgement, merging, consolidation and fading.
//! Each takes values and returns a decision; the engine applies it, in one transaction.

mod calendar;
pub mod claims;
pub mod conflict;
pub mod consolidate;
mod cues;
pub mod feedback;
pub mod frame;
pub mod gate;
pub mod judge;
mod linear;
pub mod merge;
pub(crate) mod past;
pub mod relation;
pub mod said;
pub mod slot;
pub mod sweep;
pub mod turns;
