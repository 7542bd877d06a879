//! [`Simd`] for 64-bit ARM. A value of these types exists only after its instructions were found to be present.
