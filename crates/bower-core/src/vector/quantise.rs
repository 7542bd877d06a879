//! Quantises vectors of floats to int8 and to 1-bit codes.
//! A code depends on int8 values alone, so merging segments loses nothing.

use bower_kernels::Isa;
use bower_kernels::scan::rotate::Rotation;
use bower_kernels::scan::{bits, bytes};

/// Calls [`bower_kernels::scan::quantise::quantise`] with the best available instructions.
pub fn quantise(vector: &[f32], out: &mut [u8]) -> f32 {
    bower_kernels::scan::quantise::quantise(Isa::best(), vector, out)
}

/// A vector as int8.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantised {
    /// The output of [`quantise`], padded with 128 to the stride of its dimension.
    pub bytes: Vec<u8>,
    /// The scale from a byte to a coordinate of the unit vector.
    pub scale: f32,
}

impl Quantised {
    /// Quantises a vector; its length is lost.
    pub fn new(vector: &[f32]) -> Self {
        let mut bytes = vec![0; bytes::stride(vector.len())];
        let scale = quantise(vector, &mut bytes);
        Self { bytes, scale }
    }
}

/// Consecutive int8 vectors. A slot that is not filled is near nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct ByteRows {
    pub(super) stride: usize,
    pub(super) bytes: Vec<u8>,
    pub(super) scales: Vec<f32>,
}

impl ByteRows {
    /// Creates room for `count` vectors of a dimension.
    pub fn new(dimension: usize, count: usize) -> Self {
        let stride = bytes::stride(dimension);
        Self { stride, bytes: vec![128; count * stride], scales: vec![0.0; count] }
    }

    /// Returns the number of slots.
    pub fn len(&self) -> usize {
        self.scales.len()
    }

    /// Whether there are no slots.
    #[cfg(feature = "parts")]
    pub fn is_empty(&self) -> bool {
        self.scales.is_empty()
    }

    /// Fills a slot; false if the vector has another dimension.
    pub fn put(&mut self, at: usize, bytes: &[u8], scale: f32) -> bool {
        if bytes.len() == self.stride {
            self.bytes[at * self.stride..][..self.stride].copy_from_slice(bytes);
            self.scales[at] = scale;
        }
        bytes.len() == self.stride
    }

    /// Returns the vector in a slot, with its scale.
    pub(super) fn row(&self, at: usize) -> (&[u8], f32) {
        (&self.bytes[at * self.stride..][..self.stride], self.scales[at])
    }

    /// Returns the vector in a slot as a query.
    pub(super) fn query(&self, at: usize) -> ByteQuery {
        let (bytes, scale) = self.row(at);
        ByteQuery::of(bytes, scale)
    }

    /// Passes on the cosine of one vector with each that follows it. `dots` is a buffer with a number for each.
    pub(super) fn each_after(
        &self,
        isa: Isa,
        one: usize,
        dots: &mut [i32],
        mut give: impl FnMut(usize, f32),
    ) {
        let query = self.query(one);
        let dots = &mut dots[one + 1..];
        bytes::dots(isa, &self.bytes[(one + 1) * self.stride..], &query.values, dots);
        for (two, dot) in (one + 1..).zip(dots) {
            give(two, (*dot as f32 * query.scale * self.scales[two]).clamp(-1.0, 1.0));
        }
    }
}

/// Writes the coordinates of a quantised vector.
pub fn restore(bytes: &[u8], scale: f32, out: &mut [f32]) {
    for (value, byte) in out.iter_mut().zip(bytes) {
        *value = (f32::from(*byte) - 128.0) * scale;
    }
}

/// A query for the int8 scan.
pub struct ByteQuery {
    /// Signed values, padded with 0.
    pub values: Vec<i8>,
    /// The scale from a value to a coordinate of the unit vector.
    pub scale: f32,
}

impl ByteQuery {
    /// Quantises a query in the same way as rows.
    pub fn new(query: &[f32]) -> Self {
        let vector = Quantised::new(query);
        Self::of(&vector.bytes, vector.scale)
    }

    /// Converts a row written by [`quantise`].
    fn of(bytes: &[u8], scale: f32) -> Self {
        Self { values: bytes.iter().map(|byte| (byte ^ 128).cast_signed()).collect(), scale }
    }
}

/// Creates a query for the 1-bit scan of one segment: the rotated unit query relative to the segment's rotated centre m.
///
/// With o a vector, q the query and c the centre of the code, `o·q = (o-c)·(q-m) + (o-c)·m + c·q`. Only the first term
/// is estimated. The second is a factor of the code. The third, `shared`, is one number per query if c is m. If c is a
/// cluster's centre it is one per cluster, and the scan adds it.
pub fn bit_query(rotated: &[f32], centre: &[f32], shared: f32) -> bits::BitQuery {
    let residual: Vec<f32> = rotated.iter().zip(centre).map(|(value, centre)| value - centre).collect();
    bits::BitQuery::new(&residual, shared)
}

/// Returns the dot product of a query and a centre, both rotated or both not.
pub fn shared(query: &[f32], centre: &[f32]) -> f32 {
    query.iter().zip(centre).map(|(value, centre)| f64::from(*value) * f64::from(*centre)).sum::<f64>() as f32
}

/// Makes the codes of one segment.
pub struct Coder<'a> {
    rotation: &'a Rotation,
    isa: Isa,
    /// The segment's rotated centre, which is subtracted from queries.
    centre: &'a [f32],
    residual: Vec<f32>,
}

impl<'a> Coder<'a> {
    /// Returns a coder for a segment with this rotated centre.
    pub fn new(rotation: &'a Rotation, isa: Isa, centre: &'a [f32]) -> Self {
        Self { rotation, isa, centre, residual: vec![0.0; centre.len()] }
    }

    /// Writes one quantised vector's code into a block. The code is of the residual after subtracting `around`
    /// (rotated; the segment's centre, or that of the vector's cluster).
    ///
    /// With r the rotated residual and s its signs, RaBitQ's estimate of `r·q` is `|r|²/Σ|r| · (s·q)` (their `|r| <s,q>
    /// / <s,r/|r|>`, section 3.2, without the common √d).
    pub fn write(&mut self, bytes: &[u8], scale: f32, around: &[f32], block: &mut [u8], place: usize) {
        restore(bytes, scale, &mut self.residual);
        self.rotation.apply(self.isa, &mut self.residual);
        let (mut square, mut sum, mut along) = (0f64, 0f64, 0f64);
        for ((value, around), centre) in self.residual.iter_mut().zip(around).zip(self.centre) {
            *value -= around;
            let wide = f64::from(*value);
            square += wide * wide;
            sum += wide.abs();
            along += wide * f64::from(*centre);
        }
        let a = if sum > 0.0 { square / sum } else { 0.0 };
        bits::set(block, place, &self.residual, a as f32, along as f32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn int8_by_hand() {
        // (3, -4, 0): length 5, largest 4, so the steps are 4/127/5.
        let mut out = [0u8; 5];
        let scale = quantise(&[3.0, -4.0, 0.0], &mut out);
        assert_eq!(out, [128 + 95, 128 - 127, 128, 128, 128]);
        assert!((scale - 0.8 / 127.0).abs() < 1e-7);
        let mut back = [0f32; 3];
        restore(&out, scale, &mut back);
        assert!((back[0] - 0.6).abs() < 0.004 && (back[1] + 0.8).abs() < 1e-6 && back[2] == 0.0);
    }

    #[test]
    fn a_vector_without_direction_scores_nothing() {
        for vector in [[0.0; 3], [f32::NAN, 1.0, 1.0], [f32::INFINITY, 0.0, 0.0]] {
            let mut out = [7u8; 3];
            assert_eq!(quantise(&vector, &mut out).to_bits(), 0);
            assert_eq!(out, [128; 3]);
        }
    }

    #[test]
    fn quantising_what_was_restored_changes_nothing() {
        let vector: Vec<f32> = (0..64).map(|at| ((at * 29 % 61) as f32 - 30.0) / 7.0).collect();
        let (mut once, mut twice, mut back) = ([0u8; 64], [0u8; 64], [0f32; 64]);
        let scale = quantise(&vector, &mut once);
        restore(&once, scale, &mut back);
        quantise(&back, &mut twice);
        assert_eq!(once, twice);
    }
}
