//! Vectors: quantise, scan, file format. Vectors of different models are never compared.
