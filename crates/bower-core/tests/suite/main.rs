//! The integration tests of the core, as one binary: linking once is what keeps the suite fast.

mod engine;
mod model;
mod tidy;
mod wordpiece;
