//! The arithmetic of Bowerbird. The only crate with unsafe code; every fast path has a plain twin with the same results.

pub mod cpu;
pub mod map;
pub mod scan;

pub use cpu::Isa;
pub use map::{Access, Mapped};
