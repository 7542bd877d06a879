//! SIMD kernels and low-level system calls of Bowerbird.
//! Every fast path has a plain twin with the same results.

pub mod attention;
pub mod cpu;
pub mod descriptors;
pub mod faults;
pub mod floats;
pub mod gemm;
pub mod heap;
mod lanes;
pub mod map;
pub mod scan;

pub use cpu::Isa;
pub use map::{Access, Mapped};
