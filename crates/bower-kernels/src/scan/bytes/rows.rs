//! Finds rows by position, and asks for those that a gather needs soon.

/// How many rows ahead a gather asks for: far enough to hide memory, near enough to stay in the first cache.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) const AHEAD: usize = 4;

#[inline]
pub(super) fn row(rows: &[u8], position: u32, stride: usize) -> &[u8] {
    &rows[position as usize * stride..][..stride]
}

/// Asks for the cache lines of a row that will be needed soon.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(super) fn prefetch(row: &[u8]) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    for line in row.as_chunks::<64>().0 {
        // SAFETY: a prefetch reads nothing that the program can see.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) }
    }
}

/// Asks for the cache lines of a row that will be needed soon.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
pub(super) fn prefetch(row: &[u8]) {
    use std::arch::asm;
    for line in row.as_chunks::<64>().0 {
        // SAFETY: a prefetch reads nothing that the program can see.
        unsafe {
            asm!("prfm pldl1keep, [{}]", in(reg) line.as_ptr(), options(readonly, nostack, preserves_flags));
        }
    }
}
