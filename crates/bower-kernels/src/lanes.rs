//! Runs a kernel on an instruction set: one file for each implements the operations that kernels are written in.
//! A kernel is compiled once for each of them.

#[cfg(target_arch = "aarch64")]
mod neon;
mod plain;
pub(crate) mod simd;
#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(target_arch = "aarch64")]
use std::arch::is_aarch64_feature_detected;

use crate::cpu::Isa;
use plain::Plain;
use simd::Kernel;

/// Runs a kernel on an instruction set.
///
/// # Panics
/// When this machine does not have the instruction set.
pub(crate) fn dispatch(isa: Isa, kernel: impl Kernel) {
    assert!(isa.is_present(), "{isa:?} is not present on this machine");
    match isa {
        // SAFETY: the assertion above proved that the instructions are present.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => unsafe { x86::on_avx512(kernel) },
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => {
            if is_x86_feature_detected!("avxvnni") {
                // SAFETY: as above, and AVX-VNNI was just found.
                unsafe { x86::on_avx2_vnni(kernel) }
            } else {
                // SAFETY: as above.
                unsafe { x86::on_avx2(kernel) }
            }
        }
        #[cfg(target_arch = "aarch64")]
        Isa::Neon => {
            if is_aarch64_feature_detected!("i8mm") {
                // SAFETY: it was just found.
                unsafe { neon::on_neon_mixed(kernel) }
            } else if is_aarch64_feature_detected!("dotprod") {
                // SAFETY: as above.
                unsafe { neon::on_neon_dot(kernel) }
            } else {
                neon::on_neon(kernel);
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        Isa::Avx512 | Isa::Avx2 => unreachable!("not an x86-64"),
        #[cfg(not(target_arch = "aarch64"))]
        Isa::Neon => unreachable!("not an ARM"),
        Isa::Plain => kernel.run(Plain),
    }
}
