//! Reads agents' sessions, and briefs a session that begins.

pub(crate) mod brief;
pub(crate) mod conversation;
mod pick;
mod transcript;
mod turns;
