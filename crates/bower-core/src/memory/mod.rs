//! The life of a memory as pure rules. Each takes values and returns a decision; the engine applies it, in one transaction.

mod cues;
pub mod gate;
pub mod judge;
