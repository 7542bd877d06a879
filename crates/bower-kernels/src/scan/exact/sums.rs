//! Sums products and squares in sixteen partial sums, and adds these up in one order.

/// Partial sums, so that one 512-bit register or four 128-bit ones hold them.
pub(super) const LANES: usize = 16;

/// The partial sums of a dot product and of a squared length.
#[derive(Clone, Copy)]
pub(super) struct Sums {
    pub dot: [f32; LANES],
    pub square: [f32; LANES],
}

impl Sums {
    pub const ZERO: Self = Self { dot: [0.0; LANES], square: [0.0; LANES] };

    #[inline(always)]
    #[allow(clippy::inline_always)] // it must be compiled with its caller's instructions
    pub fn add(&mut self, query: &[f32; LANES], vector: &[f32; LANES]) {
        for lane in 0..LANES {
            self.dot[lane] += query[lane] * vector[lane];
            self.square[lane] += vector[lane] * vector[lane];
        }
    }

    /// The dot product and the squared length.
    pub fn total(self) -> (f32, f32) {
        (total(self.dot), total(self.square))
    }
}

/// All lanes added, as a fixed tree.
fn total(mut lanes: [f32; LANES]) -> f32 {
    let mut half = LANES / 2;
    while half > 0 {
        for lane in 0..half {
            lanes[lane] += lanes[lane + half];
        }
        half /= 2;
    }
    lanes[0]
}

/// Fewer values than lanes, filled up with zeros.
pub(super) fn padded(values: &[f32]) -> [f32; LANES] {
    let mut lanes = [0.0; LANES];
    lanes[..values.len()].copy_from_slice(values);
    lanes
}
