//! Reads agents' sessions, and briefs a session that begins.

pub(crate) mod brief;
pub(crate) mod conversation;
mod transcript;
mod turns;
