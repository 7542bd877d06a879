//! The life of a memory as pure rules: admission, judgement, merging, consolidation and fading.
//! Each takes values and returns a decision; the engine applies it, in one transaction.

pub mod analysis;
pub mod anchors;
pub mod conflict;
pub mod consolidate;
pub mod feedback;
pub mod gate;
pub mod judge;
mod linear;
pub mod merge;
pub(crate) mod past;
pub mod relation;
pub mod sweep;
pub mod turns;
