//! Packs a published sentence encoder, and prints the token ids and vectors of texts, for `tools/model_parity.py`.

use std::io::{BufRead, Write};

use bower_core::model::{Embedder, SentenceEncoder, SentenceOptions, pack_sentence};
use bower_kernels::Isa;
use serde_json::json;

use crate::options::{Failed, Options, Verdict};

/// Packs the folder in `--data` into `--out`, reads a text a line of standard input, as JSON, and prints a JSON line for each:
/// the ids of its windows, control tokens included, and its vectors as a text and as a question. Fails if the instruction sets
/// of this machine do not give the same bits.
pub fn run(options: &Options) -> Result<Verdict, Failed> {
    let about = pack_sentence("checked", &options.data, &options.out, &SentenceOptions::default())?;
    let encoders = Isa::available()
        .into_iter()
        .map(|isa| SentenceEncoder::with_isa(&options.out, isa))
        .collect::<Result<Vec<_>, _>>()?;
    let first = SentenceEncoder::open(&options.out)?;
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    writeln!(
        out,
        "{}",
        json!({ "dimension": about.dimension, "window": about.window, "prompts": about.prompts })
    )?;
    for line in std::io::stdin().lock().lines() {
        let text: String = serde_json::from_str(&line?)?;
        let mut ids = Vec::new();
        let vector = first.encode(&text, &mut |window| ids.push(window.ids.to_vec()))?.vector;
        for encoder in &encoders {
            if encoder.embed(&text)? != vector {
                return Err(format!("the instruction sets give different vectors of {text:?}").into());
            }
        }
        let question = first.embed_question(&text)?.vector;
        writeln!(out, "{}", json!({ "ids": ids, "vector": vector, "question": question }))?;
    }
    Ok(Verdict::Kept)
}
