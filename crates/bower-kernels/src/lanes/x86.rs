//! Implements [`Simd`] for x86-64.
//! A value of these types exists only inside a function that was entered after its instructions were found to be present.

use std::arch::x86_64::{
    __m128i, __m256, __m256i, __m512, __m512i, _MM_HINT_T0, _mm_add_epi32, _mm_loadu_si128, _mm_madd_epi16,
    _mm_packus_epi16, _mm_prefetch, _mm_set1_epi32, _mm_setzero_si128, _mm_srai_epi16, _mm_storeu_si128,
    _mm_unpackhi_epi8, _mm_unpacklo_epi8, _mm256_add_epi32, _mm256_add_ps, _mm256_and_si256,
    _mm256_castps_si256, _mm256_castsi256_ps, _mm256_castsi256_si128, _mm256_cvtepi8_epi16,
    _mm256_cvtepi32_ps, _mm256_cvtps_epi32, _mm256_dpbusd_avx_epi32, _mm256_dpwssd_avx_epi32,
    _mm256_extracti128_si256, _mm256_hadd_epi32, _mm256_loadu_ps, _mm256_loadu_si256, _mm256_madd_epi16,
    _mm256_max_ps, _mm256_min_ps, _mm256_mul_ps, _mm256_mullo_epi32, _mm256_or_si256, _mm256_packs_epi32,
    _mm256_packus_epi32, _mm256_permute4x64_epi64, _mm256_set1_epi32, _mm256_set1_epi64x, _mm256_set1_ps,
    _mm256_setzero_si256, _mm256_slli_epi32, _mm256_storeu_ps, _mm256_storeu_si256, _mm256_sub_epi32,
    _mm256_sub_ps, _mm512_add_epi32, _mm512_add_ps, _mm512_and_si512, _mm512_castps_si512,
    _mm512_castsi512_ps, _mm512_cvtepi32_epi8, _mm512_cvtepi32_epi16, _mm512_cvtepi32_ps, _mm512_cvtps_epi32,
    _mm512_dpbusd_epi32, _mm512_dpwssd_epi32, _mm512_loadu_ps, _mm512_loadu_si512, _mm512_max_ps,
    _mm512_min_ps, _mm512_mul_ps, _mm512_mullo_epi32, _mm512_or_si512, _mm512_set1_epi32, _mm512_set1_ps,
    _mm512_setzero_si512, _mm512_slli_epi32, _mm512_storeu_ps, _mm512_storeu_si512, _mm512_sub_epi32,
    _mm512_sub_ps,
};

use super::simd::{Kernel, LANES, Simd, TILE};

/// AVX-512 F, BW, DQ, VL and VNNI are present.
#[derive(Clone, Copy)]
pub(crate) struct Avx512(());

/// AVX2 and FMA are present (FMA is not used: its single rounding would give other bits than the plain twin), and with `VNNI`
/// the dot products of AVX-VNNI.
#[derive(Clone, Copy)]
pub(crate) struct Avx2<const VNNI: bool>(());

/// Runs a kernel compiled for AVX-512.
///
/// # Safety
/// The machine must have the instructions of [`crate::Isa::Avx512`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
pub(crate) unsafe fn on_avx512(kernel: impl Kernel) {
    kernel.run(Avx512(()));
}

/// Runs a kernel compiled for AVX2.
///
/// # Safety
/// The machine must have the instructions of [`crate::Isa::Avx2`].
#[target_feature(enable = "avx2,fma")]
pub(crate) unsafe fn on_avx2(kernel: impl Kernel) {
    kernel.run(Avx2::<false>(()));
}

/// Runs a kernel compiled for AVX2 and AVX-VNNI.
///
/// # Safety
/// The machine must have the instructions of [`crate::Isa::Avx2`], and AVX-VNNI.
#[target_feature(enable = "avx2,fma,avxvnni")]
pub(crate) unsafe fn on_avx2_vnni(kernel: impl Kernel) {
    kernel.run(Avx2::<true>(()));
}

/// Calls an intrinsic that only computes.
macro_rules! compute {
    ($call:expr) => {
        // SAFETY: `self` proves that the instructions are present, and the call touches no memory.
        unsafe { $call }
    };
}

impl Simd for Avx512 {
    type V = __m512;
    type I = __m512i;
    const ROWS: usize = 8;

    #[inline(always)]
    fn splat(self, x: f32) -> Self::V {
        compute!(_mm512_set1_ps(x))
    }
    #[inline(always)]
    fn load(self, from: &[f32; LANES]) -> Self::V {
        // SAFETY: the instructions are present; the reference covers 64 bytes.
        unsafe { _mm512_loadu_ps(from.as_ptr()) }
    }
    #[inline(always)]
    fn store(self, v: Self::V, to: &mut [f32; LANES]) {
        // SAFETY: the instructions are present; the reference covers 64 bytes.
        unsafe { _mm512_storeu_ps(to.as_mut_ptr(), v) }
    }
    #[inline(always)]
    fn add(self, a: Self::V, b: Self::V) -> Self::V {
        compute!(_mm512_add_ps(a, b))
    }
    #[inline(always)]
    fn sub(self, a: Self::V, b: Self::V) -> Self::V {
        compute!(_mm512_sub_ps(a, b))
    }
    #[inline(always)]
    fn mul(self, a: Self::V, b: Self::V) -> Self::V {
        compute!(_mm512_mul_ps(a, b))
    }
    #[inline(always)]
    fn max(self, a: Self::V, b: Self::V) -> Self::V {
        compute!(_mm512_max_ps(a, b))
    }
    #[inline(always)]
    fn min(self, a: Self::V, b: Self::V) -> Self::V {
        compute!(_mm512_min_ps(a, b))
    }
    #[inline(always)]
    fn store_bytes(self, v: Self::V, to: &mut [u8; LANES]) {
        // SAFETY: the instructions are present; the reference covers 16 bytes.
        unsafe { _mm_storeu_si128(to.as_mut_ptr().cast(), _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(v))) }
    }
    #[inline(always)]
    fn scale(self, v: Self::V, power: Self::V) -> Self::V {
        compute!(_mm512_castsi512_ps(_mm512_add_epi32(
            _mm512_castps_si512(v),
            _mm512_slli_epi32::<23>(_mm512_castps_si512(power))
        )))
    }
    #[inline(always)]
    fn store_words(self, v: Self::V, to: &mut [i16; LANES]) {
        // SAFETY: the instructions are present; the reference covers 32 bytes.
        unsafe {
            _mm256_storeu_si256(to.as_mut_ptr().cast(), _mm512_cvtepi32_epi16(_mm512_cvtps_epi32(v)));
        }
    }
    #[inline(always)]
    fn store_pairs(self, a: Self::V, b: Self::V, to: &mut [[i16; 2]; LANES]) {
        // SAFETY: the instructions are present; the reference covers 64 bytes.
        unsafe {
            let low = _mm512_and_si512(_mm512_cvtps_epi32(a), _mm512_set1_epi32(0xffff));
            let high = _mm512_slli_epi32::<16>(_mm512_cvtps_epi32(b));
            _mm512_storeu_si512(to.as_mut_ptr().cast(), _mm512_or_si512(low, high));
        }
    }
    #[inline(always)]
    fn no_sums(self) -> Self::I {
        compute!(_mm512_setzero_si512())
    }
    #[inline(always)]
    fn dot_pairs(self, sums: Self::I, a: [i16; 2], b: &[[i16; 2]; LANES]) -> Self::I {
        let a: i32 = bytemuck::cast(a);
        // SAFETY: the instructions are present; the reference covers 64 bytes.
        unsafe { _mm512_dpwssd_epi32(sums, _mm512_set1_epi32(a), _mm512_loadu_si512(b.as_ptr().cast())) }
    }
    #[inline(always)]
    fn floats_of(self, sums: Self::I) -> Self::V {
        compute!(_mm512_cvtepi32_ps(sums))
    }
    #[inline(always)]
    fn centred(self, sums: &[i32; LANES], zero: i32, columns: &[i32; LANES]) -> Self::V {
        // SAFETY: the instructions are present; each reference covers 64 bytes.
        unsafe {
            let sums = _mm512_loadu_si512(sums.as_ptr().cast());
            let columns = _mm512_loadu_si512(columns.as_ptr().cast());
            _mm512_cvtepi32_ps(_mm512_sub_epi32(sums, _mm512_mullo_epi32(_mm512_set1_epi32(zero), columns)))
        }
    }

    #[inline(always)]
    fn tile<const R: usize>(
        self,
        rows: [&[u8]; R],
        weights: &[i8],
        ahead: usize,
        sums: &mut [[i32; TILE]; R],
    ) {
        let steps = weights.len() / (TILE * 4);
        assert!(rows.iter().all(|row| row.len() >= steps * 4), "a row is shorter than the weights");
        // SAFETY: the instructions are present. Step s < steps reads weights [256 s, 256 s + 256), inside the slice by
        // the division above, and bytes [4 s, 4 s + 4) of each row, inside by the assertion. A prefetch reads nothing.
        unsafe {
            let mut kept = [[_mm512_setzero_si512(); 4]; R];
            for step in 0..steps {
                let block = weights.as_ptr().add(step * TILE * 4);
                let mut w = [_mm512_setzero_si512(); 4];
                for (i, w) in w.iter_mut().enumerate() {
                    *w = _mm512_loadu_si512(block.add(64 * i).cast());
                    _mm_prefetch::<_MM_HINT_T0>(block.wrapping_add(ahead + 64 * i));
                }
                for r in 0..R {
                    let a = _mm512_set1_epi32(rows[r].as_ptr().add(step * 4).cast::<i32>().read_unaligned());
                    for (kept, w) in kept[r].iter_mut().zip(w) {
                        *kept = _mm512_dpbusd_epi32(*kept, a, w);
                    }
                }
            }
            for (sums, kept) in sums.iter_mut().zip(kept) {
                for (i, kept) in kept.into_iter().enumerate() {
                    _mm512_storeu_si512(sums.as_mut_ptr().add(LANES * i).cast(), kept);
                }
            }
        }
    }
}

impl<const VNNI: bool> Simd for Avx2<VNNI> {
    type V = [__m256; 2];
    type I = [__m256i; 2];
    const ROWS: usize = 4;

    #[inline(always)]
    fn splat(self, x: f32) -> Self::V {
        compute!([_mm256_set1_ps(x); 2])
    }
    #[inline(always)]
    fn load(self, from: &[f32; LANES]) -> Self::V {
        // SAFETY: the instructions are present; the reference covers 64 bytes.
        unsafe { [_mm256_loadu_ps(from.as_ptr()), _mm256_loadu_ps(from.as_ptr().add(8))] }
    }
    #[inline(always)]
    fn store(self, v: Self::V, to: &mut [f32; LANES]) {
        // SAFETY: the instructions are present; the reference covers 64 bytes.
        unsafe {
            _mm256_storeu_ps(to.as_mut_ptr(), v[0]);
            _mm256_storeu_ps(to.as_mut_ptr().add(8), v[1]);
        }
    }
    #[inline(always)]
    fn add(self, a: Self::V, b: Self::V) -> Self::V {
        compute!([_mm256_add_ps(a[0], b[0]), _mm256_add_ps(a[1], b[1])])
    }
    #[inline(always)]
    fn sub(self, a: Self::V, b: Self::V) -> Self::V {
        compute!([_mm256_sub_ps(a[0], b[0]), _mm256_sub_ps(a[1], b[1])])
    }
    #[inline(always)]
    fn mul(self, a: Self::V, b: Self::V) -> Self::V {
        compute!([_mm256_mul_ps(a[0], b[0]), _mm256_mul_ps(a[1], b[1])])
    }
    #[inline(always)]
    fn max(self, a: Self::V, b: Self::V) -> Self::V {
        compute!([_mm256_max_ps(a[0], b[0]), _mm256_max_ps(a[1], b[1])])
    }
    #[inline(always)]
    fn min(self, a: Self::V, b: Self::V) -> Self::V {
        compute!([_mm256_min_ps(a[0], b[0]), _mm256_min_ps(a[1], b[1])])
    }
    #[inline(always)]
    fn store_bytes(self, v: Self::V, to: &mut [u8; LANES]) {
        // SAFETY: the instructions are present; the reference covers 16 bytes.
        unsafe {
            let words = _mm256_packus_epi32(_mm256_cvtps_epi32(v[0]), _mm256_cvtps_epi32(v[1]));
            // The pack works within halves of 128 bits; this puts the quarters back in order.
            let words = _mm256_permute4x64_epi64::<0b11_01_10_00>(words);
            let bytes = _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256::<1>(words));
            _mm_storeu_si128(to.as_mut_ptr().cast(), bytes);
        }
    }
    #[inline(always)]
    fn scale(self, v: Self::V, power: Self::V) -> Self::V {
        // SAFETY: the instructions are present, and nothing touches memory.
        unsafe {
            let low = _mm256_slli_epi32::<23>(_mm256_castps_si256(power[0]));
            let high = _mm256_slli_epi32::<23>(_mm256_castps_si256(power[1]));
            [
                _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(v[0]), low)),
                _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(v[1]), high)),
            ]
        }
    }
    #[inline(always)]
    fn store_words(self, v: Self::V, to: &mut [i16; LANES]) {
        // SAFETY: the instructions are present; the reference covers 32 bytes.
        unsafe {
            let words = _mm256_packs_epi32(_mm256_cvtps_epi32(v[0]), _mm256_cvtps_epi32(v[1]));
            // The pack works within halves of 128 bits; this puts the quarters back in order.
            let words = _mm256_permute4x64_epi64::<0b11_01_10_00>(words);
            _mm256_storeu_si256(to.as_mut_ptr().cast(), words);
        }
    }
    #[inline(always)]
    fn store_pairs(self, a: Self::V, b: Self::V, to: &mut [[i16; 2]; LANES]) {
        let (to, _) = to.as_chunks_mut::<8>();
        for i in 0..2 {
            // SAFETY: the instructions are present; each half covers 32 bytes.
            unsafe {
                let low = _mm256_and_si256(_mm256_cvtps_epi32(a[i]), _mm256_set1_epi32(0xffff));
                let high = _mm256_slli_epi32::<16>(_mm256_cvtps_epi32(b[i]));
                _mm256_storeu_si256(to[i].as_mut_ptr().cast(), _mm256_or_si256(low, high));
            }
        }
    }
    #[inline(always)]
    fn no_sums(self) -> Self::I {
        compute!([_mm256_setzero_si256(); 2])
    }
    #[inline(always)]
    fn dot_pairs(self, sums: Self::I, a: [i16; 2], b: &[[i16; 2]; LANES]) -> Self::I {
        let (low, high) = b.split_at(8);
        let a: i32 = bytemuck::cast(a);
        // SAFETY: the instructions are present; each half covers 32 bytes.
        unsafe {
            let a = _mm256_set1_epi32(a);
            let low = _mm256_loadu_si256(low.as_ptr().cast());
            let high = _mm256_loadu_si256(high.as_ptr().cast());
            if VNNI {
                return [_mm256_dpwssd_avx_epi32(sums[0], a, low), _mm256_dpwssd_avx_epi32(sums[1], a, high)];
            }
            let (low, high) = (_mm256_madd_epi16(a, low), _mm256_madd_epi16(a, high));
            [_mm256_add_epi32(sums[0], low), _mm256_add_epi32(sums[1], high)]
        }
    }
    #[inline(always)]
    fn floats_of(self, sums: Self::I) -> Self::V {
        compute!([_mm256_cvtepi32_ps(sums[0]), _mm256_cvtepi32_ps(sums[1])])
    }
    #[inline(always)]
    fn centred(self, sums: &[i32; LANES], zero: i32, columns: &[i32; LANES]) -> Self::V {
        let (sums, _) = sums.as_chunks::<8>();
        let (columns, _) = columns.as_chunks::<8>();
        let mut out = self.splat(0.0);
        for i in 0..2 {
            // SAFETY: the instructions are present; each reference covers 32 bytes. (No closure: it would not be compiled
            // with the instructions.)
            unsafe {
                let columns = _mm256_loadu_si256(columns[i].as_ptr().cast());
                let whole = _mm256_mullo_epi32(_mm256_set1_epi32(zero), columns);
                let sums = _mm256_loadu_si256(sums[i].as_ptr().cast());
                out[i] = _mm256_cvtepi32_ps(_mm256_sub_epi32(sums, whole));
            }
        }
        out
    }

    #[inline(always)]
    fn tile<const R: usize>(
        self,
        rows: [&[u8]; R],
        weights: &[i8],
        _ahead: usize,
        sums: &mut [[i32; TILE]; R],
    ) {
        if VNNI {
            self.tile_vnni(rows, weights, sums);
        } else {
            self.tile_wide(rows, weights, sums);
        }
    }
}

impl<const VNNI: bool> Avx2<VNNI> {
    /// Only for `VNNI`.
    #[expect(clippy::unused_self, reason = "it proves that the instructions are present")]
    #[inline(always)]
    fn tile_vnni<const R: usize>(self, rows: [&[u8]; R], weights: &[i8], sums: &mut [[i32; TILE]; R]) {
        assert!(VNNI, "AVX-VNNI has not been found");
        let steps = weights.len() / (TILE * 4);
        assert!(rows.iter().all(|row| row.len() >= steps * 4), "a row is shorter than the weights");
        for pass in 0..TILE / LANES {
            // SAFETY: the instructions are present. Step s < steps and pass p < 4 read weights
            // [256 s + 64 p, 256 s + 64 p + 64), inside the slice by the division above, and bytes [4 s, 4 s + 4) of each
            // row, inside by the assertion; a pass writes 16 of the 64 sums of each row.
            unsafe {
                // 6 x 16 sums fill 12 of the 16 registers.
                let mut kept = [[_mm256_setzero_si256(); 2]; R];
                for step in 0..steps {
                    let at = weights.as_ptr().add(step * TILE * 4 + pass * LANES * 4);
                    let low = _mm256_loadu_si256(at.cast());
                    let high = _mm256_loadu_si256(at.add(32).cast());
                    for r in 0..R {
                        let a = rows[r].as_ptr().add(step * 4).cast::<i32>().read_unaligned();
                        let a = _mm256_set1_epi32(a);
                        kept[r][0] = _mm256_dpbusd_avx_epi32(kept[r][0], a, low);
                        kept[r][1] = _mm256_dpbusd_avx_epi32(kept[r][1], a, high);
                    }
                }
                for r in 0..R {
                    let to = sums[r].as_mut_ptr().add(pass * LANES);
                    _mm256_storeu_si256(to.cast(), kept[r][0]);
                    _mm256_storeu_si256(to.add(8).cast(), kept[r][1]);
                }
            }
        }
    }

    /// `vpmaddubsw` would saturate, so both sides are widened to 16 bits and multiplied with `vpmaddwd`: exact.
    #[expect(clippy::unused_self, reason = "it proves that the instructions are present")]
    #[inline(always)]
    fn tile_wide<const R: usize>(self, rows: [&[u8]; R], weights: &[i8], sums: &mut [[i32; TILE]; R]) {
        /// Steps of four inputs whose widened bytes are kept at a time (6 rows x 128 steps x 8 bytes = 6 KB).
        const STEPS: usize = 128;
        /// Outputs of one pass: with 6 rows, 12 of the 16 registers hold sums.
        const PASS: usize = 8;
        let steps = weights.len() / (TILE * 4);
        assert!(rows.iter().all(|row| row.len() >= steps * 4), "a row is shorter than the weights");
        *sums = [[0; TILE]; R];
        let mut wide = [[0_i64; STEPS]; R];
        for start in (0..steps).step_by(STEPS) {
            let count = STEPS.min(steps - start);
            for (wide, row) in wide.iter_mut().zip(rows) {
                let (quads, _) = row[start * 4..][..count * 4].as_chunks::<4>();
                for (wide, q) in wide.iter_mut().zip(quads) {
                    let x = u64::from(u32::from_le_bytes(*q));
                    let x = (x | (x << 16)) & 0x0000_ffff_0000_ffff;
                    *wide = ((x | (x << 8)) & 0x00ff_00ff_00ff_00ff) as i64;
                }
            }
            for pass in 0..TILE / PASS {
                // SAFETY: the instructions are present. Step s < steps and pass p < 8 read weights
                // [256 s + 32 p, 256 s + 32 p + 32), inside the slice by the division above; `wide` holds `count`
                // values a row; a pass writes 8 of the 64 sums of each row.
                unsafe {
                    let mut kept = [[_mm256_setzero_si256(); 2]; R];
                    let block = weights.as_ptr().add(start * TILE * 4 + pass * PASS * 4);
                    for step in 0..count {
                        let at = block.add(step * TILE * 4);
                        let low = _mm256_cvtepi8_epi16(_mm_loadu_si128(at.cast()));
                        let high = _mm256_cvtepi8_epi16(_mm_loadu_si128(at.add(16).cast()));
                        for r in 0..R {
                            let a = _mm256_set1_epi64x(*wide[r].get_unchecked(step));
                            kept[r][0] = _mm256_add_epi32(kept[r][0], _mm256_madd_epi16(a, low));
                            kept[r][1] = _mm256_add_epi32(kept[r][1], _mm256_madd_epi16(a, high));
                        }
                    }
                    for r in 0..R {
                        let pairs = _mm256_hadd_epi32(kept[r][0], kept[r][1]);
                        let eight = _mm256_permute4x64_epi64::<0b11_01_10_00>(pairs);
                        let to = sums[r].as_mut_ptr().add(pass * PASS);
                        _mm256_storeu_si256(
                            to.cast(),
                            _mm256_add_epi32(_mm256_loadu_si256(to.cast()), eight),
                        );
                    }
                }
            }
        }
    }
}

/// [`Simd::I`] of the plain path on x86-64: four vectors of SSE2, which every one of them has. The compiler does not find
/// `pmaddwd` in plain Rust by itself.
#[derive(Clone, Copy)]
pub(crate) struct Baseline([__m128i; 4]);

impl Default for Baseline {
    #[inline(always)]
    fn default() -> Self {
        // SAFETY: SSE2 is part of x86-64.
        Self([unsafe { _mm_setzero_si128() }; 4])
    }
}

impl Baseline {
    /// [`Simd::dot_pairs`].
    #[inline(always)]
    pub(crate) fn dot_pairs(mut self, a: [i16; 2], b: &[[i16; 2]; LANES]) -> Self {
        let a: i32 = bytemuck::cast(a);
        let (b, _) = b.as_chunks::<4>();
        for (sums, b) in self.0.iter_mut().zip(b) {
            // SAFETY: SSE2 is part of x86-64; the reference covers 16 bytes.
            *sums = unsafe {
                let products = _mm_madd_epi16(_mm_set1_epi32(a), _mm_loadu_si128(b.as_ptr().cast()));
                _mm_add_epi32(*sums, products)
            };
        }
        self
    }
}

impl From<Baseline> for [i32; LANES] {
    #[inline(always)]
    fn from(sums: Baseline) -> Self {
        bytemuck::cast(sums.0)
    }
}

/// [`Simd::tile`] with SSE2, which every x86-64 has: what the plain path uses here, because the compiler does not find
/// `pmaddwd` in plain Rust by itself (measured: ten times slower).
#[inline]
pub(crate) fn tile_baseline<const R: usize>(rows: [&[u8]; R], weights: &[i8], sums: &mut [[i32; TILE]; R]) {
    /// Outputs of one pass: with 6 rows, 12 of the 16 registers hold sums.
    const PASS: usize = 4;
    let (steps, _) = weights.as_chunks::<{ TILE * 4 }>();
    for pass in 0..TILE / PASS {
        // SAFETY: SSE2 is part of x86-64. Weights are read from 16 bytes of a step of 256; a pass writes 4 of the 64 sums
        // of each row. Rows are read through checked slices.
        unsafe {
            let mut kept = [[_mm_setzero_si128(); 2]; R];
            for (step, weights) in steps.iter().enumerate() {
                let w = _mm_loadu_si128(weights[pass * PASS * 4..][..16].as_ptr().cast());
                let low = _mm_srai_epi16::<8>(_mm_unpacklo_epi8(w, w));
                let high = _mm_srai_epi16::<8>(_mm_unpackhi_epi8(w, w));
                for r in 0..R {
                    let quad = &rows[r][step * 4..][..4];
                    let quad = i32::from_le_bytes([quad[0], quad[1], quad[2], quad[3]]);
                    let a = _mm_unpacklo_epi8(_mm_set1_epi32(quad), _mm_setzero_si128());
                    kept[r][0] = _mm_add_epi32(kept[r][0], _mm_madd_epi16(a, low));
                    kept[r][1] = _mm_add_epi32(kept[r][1], _mm_madd_epi16(a, high));
                }
            }
            for (sums, kept) in sums.iter_mut().zip(kept) {
                for (half, kept) in kept.into_iter().enumerate() {
                    let mut pairs = [0_i32; 4];
                    _mm_storeu_si128(pairs.as_mut_ptr().cast(), kept);
                    sums[pass * PASS + half * 2] = pairs[0] + pairs[1];
                    sums[pass * PASS + half * 2 + 1] = pairs[2] + pairs[3];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine with AVX-VNNI never takes the other path by itself, so this compares the two.
    #[test]
    fn both_avx2_tiles_give_the_same_sums() {
        if !is_x86_feature_detected!("avx2") || !is_x86_feature_detected!("avxvnni") {
            return;
        }
        for steps in [1, 3, 129] {
            let row: Vec<u8> = (0..steps * 4).map(|i| 255 - (i * 89 % 251) as u8).collect();
            let weights: Vec<i8> = (0..steps * TILE * 4).map(|i| (i * 53 % 255) as u8 as i8).collect();
            let (mut wide, mut vnni, mut plain) = ([[1; TILE]; 3], [[2; TILE]; 3], [[3; TILE]; 3]);
            Avx2::<false>(()).tile([&row; 3].map(|row| &row[..]), &weights, 0, &mut wide);
            Avx2::<true>(()).tile([&row; 3].map(|row| &row[..]), &weights, 0, &mut vnni);
            tile_baseline([&row; 3].map(|row| &row[..]), &weights, &mut plain);
            assert_eq!(wide, vnni, "{steps} steps");
            assert_eq!(wide, plain, "{steps} steps");
        }
    }
}
