//! Detects which SIMD instruction sets this machine has.
//! Every kernel takes the choice as an argument, so a test can run each path.

use std::sync::OnceLock;

/// A set of instructions that a kernel can be written for, fastest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Isa {
    /// x86-64 with AVX-512 F, BW, DQ, VL and VNNI.
    Avx512,
    /// x86-64 with AVX2 and FMA.
    Avx2,
    /// 64-bit ARM with NEON (all have it); where a kernel can use more (`dotprod`, `i8mm`), it looks for that itself.
    Neon,
    /// Plain Rust, any machine.
    Plain,
}

impl Isa {
    /// The fastest that this machine has; looked up once.
    pub fn best() -> Self {
        static BEST: OnceLock<Isa> = OnceLock::new();
        *BEST.get_or_init(|| Self::available()[0])
    }

    /// All that this machine has, fastest first; the last is [`Isa::Plain`].
    pub fn available() -> Vec<Self> {
        [Self::Avx512, Self::Avx2, Self::Neon, Self::Plain]
            .into_iter()
            .filter(|isa| isa.is_present())
            .collect()
    }

    /// Whether this machine has it.
    pub fn is_present(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512vnni")
            }
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            #[cfg(target_arch = "aarch64")]
            // Its kernels read numbers as they lie in memory: a big-endian machine takes the plain path.
            Self::Neon => cfg!(target_endian = "little") && std::arch::is_aarch64_feature_detected!("neon"),
            Self::Plain => true,
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx512 | Self::Avx2 => false,
            #[cfg(not(target_arch = "aarch64"))]
            Self::Neon => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_is_always_there_and_best_is_first() {
        let available = Isa::available();
        assert_eq!(available.last(), Some(&Isa::Plain));
        assert_eq!(Isa::best(), available[0]);
    }
}
