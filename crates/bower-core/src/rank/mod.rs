//! From channels to one order. Pure functions: same input, same order, every tie broken.

pub mod budget;
pub mod fuse;
pub mod prefetch;
