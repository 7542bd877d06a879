//! Vector scan kernels: rotation, 1-bit codes, int8 and half-float scores, late interaction.
//! Every path of a kernel gives the same bits as its plain twin.
//!
//! Slices whose lengths do not fit together are the caller's mistake, and a panic.
#![allow(clippy::missing_panics_doc)] // said once, above

pub mod bits;
pub mod bytes;
pub mod exact;
pub mod maxsim;
pub mod project;
pub mod quantise;
pub mod rotate;
pub mod sketch;

/// A small seeded generator for the tests of these kernels (splitmix64, Steele et al. 2014).
#[cfg(test)]
pub(crate) struct Dice(pub u64);

#[cfg(test)]
impl Dice {
    pub fn next(&mut self) -> u64 {
        rotate::splitmix(&mut self.0)
    }

    /// Uniform in -1..1.
    pub fn float(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    }
}
