//! Packs the adapter for statements, and prints what its classifiers say of inputs.
//! `tools/fit_statements.py` uses both.

use std::io::{BufRead, Write};

use bower_core::model::{Embedder, SentenceEncoder};
use bower_core::parts::embed::{Classifier, Statements, pack_adapter};
use serde::Deserialize;

use crate::options::{Failed, Options, Verdict, packed};

/// One line of the input.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Line {
    Text(String),
    Pair(String, String),
    Piece(String, String, String, String),
}

/// Packs the tensors in `--data` into `--out`.
pub fn pack(options: &Options) -> Result<Verdict, Failed> {
    pack_adapter(&options.data, &options.out)?;
    Ok(Verdict::Kept)
}

/// Reads an input a line of standard input, as JSON, and prints its probabilities as a JSON line: those of the relation for
/// `{"pair": [earlier, later]}`, those of the piece for `{"piece": [role, before, piece, after]}`, and those of admission, type
/// and durability for `{"text": text}`.
pub fn classify(options: &Options) -> Result<Verdict, Failed> {
    let model = SentenceEncoder::open(&packed(options)?)?;
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let line: Line = serde_json::from_str(&line?)?;
        let (input, classifiers): (_, &[Classifier]) = match &line {
            Line::Text(text) => {
                (Statements::Text(text), &[Classifier::Admission, Classifier::Kind, Classifier::Durability])
            }
            Line::Pair(earlier, later) => (Statements::Pair { earlier, later }, &[Classifier::Relation]),
            Line::Piece(role, before, piece, after) => {
                (Statements::Piece { role, before, piece, after }, &[Classifier::Piece])
            }
        };
        let found = model.classify(&input, classifiers)?.ok_or("the model has no adapter for statements")?;
        writeln!(out, "{}", serde_json::to_string(&found)?)?;
    }
    Ok(Verdict::Kept)
}
