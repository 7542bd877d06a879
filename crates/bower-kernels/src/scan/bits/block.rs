//! Lays the codes of 64 vectors and their factors out in a block.

/// Vectors in a block.
pub const BLOCK: usize = 64;

/// Bytes of the factors of a block.
const FACTORS: usize = 2 * BLOCK * 4;

/// Bytes of a block for vectors of this dimension (a multiple of 8).
pub fn block_len(dimension: usize) -> usize {
    dimension / 8 * BLOCK + FACTORS
}

/// An empty block: no place in it can pass a threshold.
pub fn clear(block: &mut [u8]) {
    let factors = block.len() - FACTORS;
    block.fill(0);
    for b in block[factors + FACTORS / 2..].as_chunks_mut::<4>().0 {
        *b = f32::NEG_INFINITY.to_le_bytes();
    }
}

/// Writes the code of one vector (its rotated residual) and its factors into its place, 0..64, of a cleared block.
pub fn set(block: &mut [u8], place: usize, residual: &[f32], a: f32, b: f32) {
    assert!(place < BLOCK && block.len() == block_len(residual.len()), "a block of another dimension");
    let column = column(place);
    for (line, eight) in residual.as_chunks::<8>().0.iter().enumerate() {
        let byte =
            eight.iter().enumerate().fold(0, |byte, (bit, value)| byte | u8::from(*value > 0.0) << bit);
        block[line * BLOCK + column] = byte;
    }
    let factors = block.len() - FACTORS;
    block[factors + 4 * place..][..4].copy_from_slice(&a.to_le_bytes());
    block[factors + FACTORS / 2 + 4 * place..][..4].copy_from_slice(&b.to_le_bytes());
}

/// Where the byte of a place stands in its line. The first half of a block takes the even columns: then summing bytes
/// in 16-bit lanes leaves consecutive places in consecutive lanes.
pub(super) fn column(place: usize) -> usize {
    2 * (place % (BLOCK / 2)) + place / (BLOCK / 2)
}

/// Little-endian floats.
pub(super) type Floats = [[u8; 4]];

/// A block's lines and its factors.
#[inline]
pub(super) fn parts(block: &[u8]) -> (&[[u8; BLOCK]], &Floats, &Floats) {
    let (lines, factors) = block.split_at(block.len() - FACTORS);
    let (a, b) = factors.split_at(FACTORS / 2);
    (lines.as_chunks().0, a.as_chunks().0, b.as_chunks().0)
}
