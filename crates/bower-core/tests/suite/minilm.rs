//! Tests sentence vectors against a float64 pass, on every instruction set that this machine has.
//! That pass shares no code with ours.

use std::fmt::Write as _;

use bower_core::model::{Embedder, SentenceEncoder, pack};
use bower_kernels::Isa;
use serde::Deserialize;

use crate::model::model_dir;

/// A line of `golden/minilm.jsonl`, which `tools/golden_model.py` wrote.
#[derive(Deserialize)]
struct Golden {
    text: String,
    /// Without `[CLS]` and `[SEP]`.
    pieces: usize,
    /// In millionths.
    vector: Vec<f64>,
}

fn cosine(ours: &[f32], golden: &[f64]) -> f64 {
    assert_eq!(ours.len(), golden.len());
    let dot = |one: &dyn Fn(usize) -> f64, other: &dyn Fn(usize) -> f64| -> f64 {
        (0..golden.len()).map(|index| one(index) * other(index)).sum()
    };
    let (ours, golden) = (|index: usize| f64::from(ours[index]), |index: usize| golden[index]);
    dot(&ours, &golden) / (dot(&ours, &ours) * dot(&golden, &golden)).sqrt()
}

/// The bounds are the product's promise; DESIGN's trial had .9989 on average and .998 at least.
#[test]
fn vectors_agree_with_float64_on_every_instruction_set() {
    let folder = tempfile::tempdir().unwrap();
    let packed = folder.path().join("model");
    pack(&model_dir(), &packed).unwrap();
    let goldens: Vec<Golden> = include_str!("../golden/minilm.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(goldens.len() >= 60 && goldens.iter().filter(|golden| golden.pieces > 254).count() >= 6);
    for isa in Isa::available() {
        let model = SentenceEncoder::with_isa(&packed, isa).unwrap();
        let mut sum = 0.0;
        let mut failures = String::new();
        for golden in &goldens {
            let vector = model.embed(&golden.text).unwrap();
            let length: f32 = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
            assert!((length - 1.0).abs() < 1e-4, "{isa:?}: length {length} for {:?}", golden.text);
            let cosine = cosine(&vector, &golden.vector);
            if cosine < 0.997 {
                writeln!(failures, "{cosine:.5} for {:?} ({} pieces)", golden.text, golden.pieces).unwrap();
            }
            sum += cosine;
        }
        let mean = sum / goldens.len() as f64;
        assert!(failures.is_empty() && mean >= 0.9985, "{isa:?}: {mean:.5} on average\n{failures}");
    }
}
