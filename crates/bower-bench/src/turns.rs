//! Measures precision and recall of the sentences picked from labelled turns of sessions.
//! Picked sentences are compared with those that a person would keep; each figure has its 95 % Wilson interval. Nothing is fitted
//! to these turns. Failures of `held-out` are never shown.

use std::collections::HashSet;
use std::path::Path;

use bower_core::model::{Embedder, SentenceEncoder};
use bower_core::parts::embed::{Classifier, Statements};
use bower_core::parts::memory::turns::{Odds, Voice, picks, pieces};
use serde_json::Value;

use crate::options::{Failed, Options, Verdict, packed};
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
    let model = SentenceEncoder::open(&packed(options)?)?;
    let mut rows = Vec::new();
    for (name, is_shown) in SETS {
        // A person who looks at failures is changing what is picked, so `held-out` is left out.
        if options.show > 0 && !is_shown {
            continue;
        }
        let turns = read(&folder().join(format!("{name}.jsonl")))?;
        for (voice, who) in [(Voice::User, "user"), (Voice::Assistant, "assistant")] {
            let of_voice: Vec<&Turn> = turns.iter().filter(|turn| turn.voice == voice).collect();
            let counts = count(&model, &of_voice)?;
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

/// Compares picked sentences with the labels. One is right if it contains a labelled text or is a part of one.
fn count(model: &SentenceEncoder, turns: &[&Turn]) -> Result<Counts, Failed> {
    let mut counts = Counts::default();
    for turn in turns {
        let picked = picked(model, turn)?;
        let mut right = HashSet::new();
        for keep in &turn.keep {
            let fits = |pick: &String| {
                let text = plain(pick);
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
        counts.wrong.extend(wrong.map(|at| picked[at].clone()));
    }
    Ok(counts)
}

/// Returns the picks of a turn, as the engine makes them.
fn picked(model: &SentenceEncoder, turn: &Turn) -> Result<Vec<String>, Failed> {
    let cut = pieces(&turn.text);
    let mut odds = Vec::with_capacity(cut.pieces.len());
    for at in 0..cut.pieces.len() {
        let input = Statements::Piece {
            role: turn.voice.word(),
            before: &cut.before(at),
            piece: &cut.piece(at),
            after: cut.after(at),
        };
        let classes = model.classify(&input, &[Classifier::Piece])?.and_then(|mut classes| classes.pop());
        let classes = classes.ok_or("the model has no classifier")?;
        odds.push(Odds::of(classes.try_into().map_err(|_| "the classifier has other classes")?));
    }
    Ok(picks(&cut, &odds, turn.voice))
}

/// Returns the words of a text in lower case.
fn plain(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}
