//! Runs `bower eval` on the labelled sets below a folder, and compares their figures with references.

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

/// Rankings of each set, by their names in the answer of `bower eval`: the parts, then the whole.
const RANKINGS: [&str; 4] = ["text", "vector", "rrf", "fused"];

/// Largest difference by which the default profile may be below its best part.
const PART_SLACK: f64 = 0.003;

pub fn run(options: &Options) -> Result<Verdict, Failed> {
    let sets = sets(&options.data)?;
    let home = options.home.join("eval");
    std::fs::create_dir_all(&home)?;
    let (mut rows, mut verdict) = (Vec::new(), Verdict::Kept);
    let mut sums = [0.0; RANKINGS.len()];
    for set in &sets {
        let out = options.command(&home).arg("eval").arg(set).args(["--format", "json"]).output()?;
        let answer: Value = serde_json::from_slice(&out.stdout).unwrap_or_default();
        let data = &answer["data"];
        let name = set.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !out.status.success() {
            return Err(format!("bower eval {name} failed: {}", data["error"]).into());
        }
        let figures = RANKINGS.map(|ranking| data["figures"][ranking]["ndcg@10"].as_f64());
        let kept = keeps_parts(figures) && keeps_references(&name, figures);
        let half_width = || {
            let bounds = &data["intervals"]["fused"]["ndcg@10"];
            Some((bounds[1].as_f64()? - bounds[0].as_f64()?) / 2.0)
        };
        for (sum, figure) in sums.iter_mut().zip(figures) {
            *sum += figure.unwrap_or_default() / sets.len() as f64;
        }
        let mut row = vec![name, data["queries"].to_string()];
        row.extend(figures.map(shown));
        row.push(shown(half_width()));
        row.push(shown(data["figures"]["fused"]["recall@10"].as_f64()));
        row.push(shown(data["figures"]["fused"]["recall@100"].as_f64()));
        row.push(data["latency_ms"]["p50"].as_f64().map_or("-".into(), |ms| format!("{ms:.1}")));
        row.push(data["latency_ms"]["p95"].as_f64().map_or("-".into(), |ms| format!("{ms:.1}")));
        row.push(Verdict::of(kept).mark().into());
        verdict = verdict.and(Verdict::of(kept));
        rows.push(row);
    }
    let mut mean = vec!["mean".to_owned(), String::new()];
    mean.extend(sums.map(|sum| shown(Some(sum))));
    mean.resize(12, String::new());
    rows.push(mean);
    println!("The first four figures are nDCG@10. The other columns are of the default profile.\n");
    table::print(
        &[
            "set",
            "questions",
            "words",
            "vectors",
            "rank fusion",
            "default profile",
            "half width of 95 %",
            "Recall@10",
            "Recall@100",
            "p50 ms",
            "p95 ms",
            "check",
        ],
        &rows,
    );
    Ok(verdict)
}

/// Returns whether the default profile is nowhere worse than its best part.
fn keeps_parts([text, vector, fusion, fused]: [Option<f64>; 4]) -> bool {
    let best = [text, vector, fusion].into_iter().flatten().fold(0.0, f64::max);
    fused.is_some_and(|fused| keeps(fused, best, PART_SLACK))
}

/// Returns whether the figures of a set keep its references, if it has some.
fn keeps_references(set: &str, [text, vector, _, fused]: [Option<f64>; 4]) -> bool {
    let Some(reference) = REFERENCES.iter().find(|reference| reference.set == set) else { return true };
    let of = |figure: Option<f64>, expected: Option<f64>, slack: f64| {
        expected.is_none_or(|expected| figure.is_some_and(|figure| keeps(figure, expected, slack)))
    };
    of(text, Some(reference.text), CHANNEL_SLACK)
        && of(vector, reference.vector, CHANNEL_SLACK)
        && of(fused, reference.fused, FUSED_SLACK)
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
    use super::{keeps, keeps_parts, keeps_references};

    #[test]
    fn a_figure_keeps_its_reference_to_three_places() {
        assert!(keeps(0.436, 0.446, 0.01) && keeps(0.4355, 0.446, 0.01) && keeps(0.9, 0.446, 0.01));
        assert!(!keeps(0.4354, 0.446, 0.01) && !keeps(0.7155, 0.721, 0.005 - 0.001));
    }

    #[test]
    fn the_profile_may_be_little_below_its_best_part_and_a_set_below_its_references() {
        let figures = |fused: f64| [Some(0.5), Some(0.6), Some(0.55), Some(fused)];
        assert!(keeps_parts(figures(0.597)) && !keeps_parts(figures(0.596)));
        assert!(keeps_parts([Some(0.5), None, None, Some(0.5)]) && !keeps_parts([None; 4]));
        let cosqa = |text: f64| [Some(text), Some(0.6), None, Some(0.6)];
        assert!(keeps_references("cosqa-dev", cosqa(0.33)) && !keeps_references("cosqa-dev", cosqa(0.329)));
        assert!(keeps_references("another", [None; 4]));
    }
}
