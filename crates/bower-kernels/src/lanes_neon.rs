//! The path for 64-bit ARM with dot products: the plain operations, compiled with those instructions. It holds no operations of
//! its own, so it cannot differ from its twin.

use crate::lanes::{Kernel, Plain};

/// Runs a kernel compiled for NEON and the dot product extension.
///
/// # Safety
/// The machine must have the instructions of [`crate::Isa::Neon`].
#[target_feature(enable = "neon,dotprod")]
pub(crate) unsafe fn on_neon(kernel: impl Kernel) {
    kernel.run(Plain);
}
