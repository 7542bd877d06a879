//! Measures precision and recall of the sentences extracted from labelled turns of sessions.
//! Extracted sentences are compared with those that a person would keep; each figure has its 95 % Wilson interval. Weights are
//! fitted on `train`, thresholds are chosen on `tune`. Failures of `held-out` are never shown.

use std::collections::HashSet;
use std::path::Path;

use bower_core::parts::memory::turns::{Pick, Voice, picks, seen, sign_names};
use serde_json::{Value, json};

use crate::options::{Failed, Options, Verdict};
use crate::{pairs, table};

/// The sets, each with whether its failures may be shown.
const SETS: [(&str, bool); 4] = [("train", true), ("tune", true), ("held-out", false), ("languages", true)];

/// A turn with the sentences of it that are worth keeping.
struct Turn {
    voice: Voice,
    text: String,
    keep: Vec<String>,
}

/// Hits and errors on one set.
#[derive(Default)]
struct Counts {
    found: usize,
    missed: Vec<String>,
    wrong: Vec<String>,
    right: usize,
}

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/turns")
}

pub fn run(options: &Options) -> Result<Verdict, Failed> {
    let mut rows = Vec::new();
    for (name, is_shown) in SETS {
        // A person who looks at failures is changing the rules, so `held-out` is left out.
        if options.show > 0 && !is_shown {
            continue;
        }
        let turns = read(&folder().join(format!("{name}.jsonl")))?;
        for (voice, who) in [(Voice::User, "user"), (Voice::Assistant, "assistant")] {
            let of_voice: Vec<&Turn> = turns.iter().filter(|turn| turn.voice == voice).collect();
            let counts = count(&of_voice);
            rows.push(vec![
                name.to_owned(),
                who.to_owned(),
                of_voice.len().to_string(),
                pairs::wilson(counts.right, counts.right + counts.wrong.len()),
                pairs::wilson(counts.found, counts.found + counts.missed.len()),
            ]);
            if is_shown {
                for (what, texts) in [("wrong", &counts.wrong), ("missed", &counts.missed)] {
                    texts
                        .iter()
                        .take(options.show)
                        .for_each(|text| println!("{name}, {who}, {what}: {text}"));
                }
            }
        }
    }
    table::print(&["set", "voice", "turns", "right", "found"], &rows);
    Ok(Verdict::Kept)
}

fn read(file: &Path) -> Result<Vec<Turn>, Failed> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    text.lines().map(turn).collect()
}

fn turn(line: &str) -> Result<Turn, Failed> {
    let value: Value = serde_json::from_str(line)?;
    let voice = match value["voice"].as_str() {
        Some("user") => Voice::User,
        Some("assistant") => Voice::Assistant,
        other => return Err(format!("{other:?} is no voice").into()),
    };
    let text = value["text"].as_str().ok_or("a turn without a text")?.to_owned();
    let keep = value["keep"].as_array().ok_or("a turn without what to keep")?;
    let keep = keep.iter().filter_map(|one| one.as_str().map(plain)).collect();
    Ok(Turn { voice, text, keep })
}

/// Compares extracted sentences with the labels. One is right if it contains a labelled text or is a part of one.
fn count(turns: &[&Turn]) -> Counts {
    let mut counts = Counts::default();
    for turn in turns {
        let picked: Vec<Pick> = picks(&turn.text, turn.voice);
        let mut right = HashSet::new();
        for keep in &turn.keep {
            let fits = |pick: &Pick| {
                let text = plain(&pick.text);
                text.contains(keep.as_str()) || keep.contains(&text)
            };
            let fitting: Vec<usize> = (0..picked.len()).filter(|&at| fits(&picked[at])).collect();
            if fitting.is_empty() {
                counts.missed.push(keep.clone());
            } else {
                counts.found += 1;
            }
            right.extend(fitting);
        }
        counts.right += right.len();
        let wrong = (0..picked.len()).filter(|at| !right.contains(at));
        counts.wrong.extend(wrong.map(|at| picked[at].text.clone()));
    }
    counts
}

/// Writes the training data of a scorer: each sentence of `train` and `tune` that could be kept, with its features and its
/// label.
pub fn write_rows(options: &Options) -> Result<Verdict, Failed> {
    use std::io::Write;
    let mut out = std::io::BufWriter::new(std::fs::File::create(&options.out)?);
    writeln!(out, "{}", json!({ "signs": sign_names() }))?;
    for set in ["train", "tune"] {
        for (nth, turn) in read(&folder().join(format!("{set}.jsonl")))?.iter().enumerate() {
            for seen in seen(&turn.text, turn.voice) {
                let text = plain(&seen.text);
                let kept = turn.keep.iter().position(|keep| text.contains(keep) || keep.contains(&text));
                let row = json!({
                    "set": set,
                    "turn": nth,
                    "voice": if turn.voice == Voice::User { "user" } else { "assistant" },
                    "text": seen.text,
                    "kept": kept,
                    "ruled": seen.is_ruled,
                    "signs": seen.signs,
                });
                writeln!(out, "{row}")?;
            }
        }
    }
    out.flush()?;
    Ok(Verdict::Kept)
}

/// Returns the words of a text in lower case.
fn plain(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}
