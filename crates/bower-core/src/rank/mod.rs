//! Ranking: turns the candidates of all channels into one order.
//! Pure functions: same input, same order, every tie broken.

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
pub mod time;
