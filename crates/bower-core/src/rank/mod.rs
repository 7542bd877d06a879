//! Ranking: turns the candidates of all channels into one order.
//! Its functions are pure: the same input gives the same order, and every tie is broken.

pub mod brief;
pub mod budget;
pub mod calibrate;
pub mod candidate;
pub mod diversity;
pub mod fuse;
pub mod group;
pub mod prefetch;
pub mod profile;
pub mod rerank;
pub mod sketch;
pub mod time;
mod words;
