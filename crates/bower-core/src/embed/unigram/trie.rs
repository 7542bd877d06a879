//! Reads a double-array trie of bytes in place: the format of Darts-clone, which `SentencePiece` writes too.
//! Every access is checked, so that damaged bytes give other matches and never a panic.
//!
//! A unit has 32 bits. Bits 0 to 7 hold the label of the edge that leads to it. Bit 8 says whether a value follows. Bits 10
//! to 30 hold the offset of its children, in steps of 256 if bit 9 is set. A unit with bit 31 is a value of 31 bits.

/// A trie, borrowed from little-endian units.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trie<'a> {
    units: &'a [u8],
}

impl<'a> Trie<'a> {
    /// Views units as a trie; nothing is read.
    pub(super) fn new(units: &'a [u8]) -> Self {
        Self { units }
    }

    /// Calls `see` with the length in bytes and the value of each key that `text` begins with, the shortest first.
    pub(super) fn prefixes(self, text: &[u8], see: &mut impl FnMut(usize, u32)) {
        let Some(root) = read(self.units, 0) else { return };
        let mut at = offset(root);
        for (index, byte) in text.iter().enumerate() {
            // A null byte would lead to the value's own unit.
            if *byte == 0 {
                return;
            }
            at ^= usize::from(*byte);
            let Some(unit) = read(self.units, at) else { return };
            if unit & LABEL != u32::from(*byte) {
                return;
            }
            at ^= offset(unit);
            if unit & HAS_VALUE != 0 {
                match read(self.units, at) {
                    Some(value) => see(index + 1, value & !IS_VALUE),
                    None => return,
                }
            }
        }
    }

    /// Returns the value of the shortest key that `text` begins with.
    pub(super) fn shortest(self, text: &[u8]) -> Option<u32> {
        let mut found = None;
        self.prefixes(text, &mut |_, value| {
            found.get_or_insert(value);
        });
        found
    }
}

const IS_VALUE: u32 = 1 << 31;
const HAS_VALUE: u32 = 1 << 8;
/// A value's unit has the top bit, so no byte equals its label.
const LABEL: u32 = IS_VALUE | 0xff;

fn offset(unit: u32) -> usize {
    ((unit >> 10) << ((unit & (1 << 9)) >> 6)) as usize
}

/// Returns the number at an index of little-endian numbers.
pub(super) fn read(numbers: &[u8], index: usize) -> Option<u32> {
    let bytes = numbers.get(index.checked_mul(4)?..)?.first_chunk::<4>()?;
    Some(u32::from_le_bytes(*bytes))
}
