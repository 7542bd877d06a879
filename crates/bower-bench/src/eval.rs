//! Runs `bower eval` on every labelled set below a folder and prints its figures beside reference figures.
//! A set without a reference is printed only.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::options::{Failed, Options, Verdict};
use crate::table;

/// nDCG@10 of three independent rankings in numpy: BM25 (k1 1.2, b .75, English stemmer and stop words), MiniLM at 256
/// tokens, and RRF (k = 60) of both top hundreds. `None` where it was not measured.
struct Reference {
    set: &'static str,
    text: f64,
    vector: Option<f64>,
    fused: Option<f64>,
}

const REFERENCES: &[Reference] = &[
    Reference { set: "locomo", text: 0.446, vector: Some(0.328), fused: Some(0.447) },
    Reference { set: "locomo-session", text: 0.783, vector: None, fused: None },
    Reference { set: "scifact-train", text: 0.696, vector: Some(0.659), fused: Some(0.721) },
    Reference { set: "cranfield", text: 0.519, vector: Some(0.500), fused: Some(0.553) },
    Reference { set: "cosqa-dev", text: 0.340, vector: Some(0.603), fused: Some(0.486) },
    Reference { set: "vault-missinglink", text: 0.211, vector: Some(0.219), fused: Some(0.249) },
];

/// Largest difference by which a figure may be below its reference.
const CHANNEL_SLACK: f64 = 0.01;
const FUSED_SLACK: f64 = 0.005;

pub fn run(options: &Options) -> Result<Verdict, Failed> {
    let sets = sets(&options.data)?;
    let home = options.home.join("eval");
    std::fs::create_dir_all(&home)?;
    let (mut rows, mut verdict) = (Vec::new(), Verdict::Kept);
    for set in &sets {
        let out = options.command(&home).arg("eval").arg(set).args(["--format", "json"]).output()?;
        let answer: Value = serde_json::from_slice(&out.stdout).unwrap_or_default();
        let data = &answer["data"];
        let name = set.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !out.status.success() {
            return Err(format!("bower eval {name} failed: {}", data["error"]).into());
        }
        let reference = REFERENCES.iter().find(|reference| reference.set == name);
        let mut row = vec![name, data["queries"].to_string()];
        let mut kept = true;
        for (channel, expected, slack) in [
            ("text", reference.map(|reference| reference.text), CHANNEL_SLACK),
            ("vector", reference.and_then(|reference| reference.vector), CHANNEL_SLACK),
            ("fused", reference.and_then(|reference| reference.fused), FUSED_SLACK),
        ] {
            let figure = data["figures"][channel]["ndcg@10"].as_f64();
            kept &=
                expected.is_none_or(|expected| figure.is_some_and(|figure| keeps(figure, expected, slack)));
            row.push(shown(figure));
            row.push(shown(expected));
        }
        row.push(shown(data["figures"]["fused"]["recall@10"].as_f64()));
        row.push(shown(data["figures"]["fused"]["recall@100"].as_f64()));
        row.push(data["latency_ms"]["p50"].as_f64().map_or("-".into(), |ms| format!("{ms:.1}")));
        row.push(data["latency_ms"]["p95"].as_f64().map_or("-".into(), |ms| format!("{ms:.1}")));
        row.push(if reference.is_some() { Verdict::of(kept).mark().into() } else { String::new() });
        verdict = verdict.and(Verdict::of(kept));
        rows.push(row);
    }
    println!("nDCG@10 beside its reference; R is recall of fused\n");
    table::print(
        &[
            "set", "queries", "text", "BM25", "vector", "MiniLM", "fused", "RRF", "R@10", "R@100", "p50 ms",
            "p95 ms", "",
        ],
        &rows,
    );
    Ok(verdict)
}

/// Returns whether a figure keeps its reference, both rounded to three places as they are printed.
fn keeps(figure: f64, expected: f64, slack: f64) -> bool {
    (figure * 1e3).round() >= ((expected - slack) * 1e3).round()
}

fn shown(figure: Option<f64>) -> String {
    figure.map_or("-".into(), |figure| format!("{figure:.3}"))
}

fn sets(data: &Path) -> Result<Vec<PathBuf>, Failed> {
    let entries = std::fs::read_dir(data).map_err(|error| {
        format!("cannot read {}: {error}; name a folder of BEIR sets with --data", data.display())
    })?;
    let mut sets: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    sets.retain(|set| set.join("corpus.jsonl").is_file());
    sets.sort();
    if sets.is_empty() {
        return Err(format!("no set below {}", data.display()).into());
    }
    Ok(sets)
}

#[cfg(test)]
mod tests {
    use super::keeps;

    #[test]
    fn a_figure_keeps_its_reference_to_three_places() {
        assert!(keeps(0.436, 0.446, 0.01) && keeps(0.4355, 0.446, 0.01) && keeps(0.9, 0.446, 0.01));
        assert!(!keeps(0.4354, 0.446, 0.01) && !keeps(0.7155, 0.721, 0.005 - 0.001));
    }
}
