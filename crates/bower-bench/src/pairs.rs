//! Compares the engine's decisions on labelled pairs of sentences with the labels that people gave.
//! Nothing is fitted to these sets.

use std::collections::HashMap;
use std::path::Path;

use bower_core::item::CurateOutcome;
use bower_core::model::{Embedder, SentenceEncoder};
use bower_core::parts::embed::{Classifier, Statements};
use bower_core::parts::memory::analysis::Analysis;
use bower_core::parts::memory::merge::{Decision, Existing, Incoming, decide};
use bower_core::parts::memory::relation::PairLikelihood;
use jiff::Timestamp;
use serde_json::Value;

use crate::options::{Failed, Options, Verdict, packed};
use crate::table;

/// The sets.
const SETS: [&str; 3] = ["sick-train", "sick-trial", "scifact-nli-train"];

/// Pairs with at least this score count as the same, whatever their label (SICK: 1 to 5).
const SAME_SCORE: f64 = 4.5;

/// Least precision of supersede, confirm and contradict decisions.
const LEAST_PRECISION: f64 = 0.95;

/// Largest share of all pairs that do not deny each other, but are superseded.
const MOST_WRONG: f64 = 0.01;

/// The label that people gave a pair.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Label {
    Same,
    Entails,
    Denies,
    Neither,
}

struct Pair {
    label: Label,
    /// False if the set has no scores (`SciFact`); then no pair is labelled as the same.
    has_score: bool,
    kept: Analysis,
    told: Analysis,
    cosine: f32,
    /// What the model says that the told text is to the kept one.
    relation: Option<PairLikelihood>,
}

pub fn run(options: &Options) -> Result<Verdict, Failed> {
    let folder = options.data.join("pairs");
    let model = SentenceEncoder::open(&packed(options)?)?;
    let mut sets = Vec::new();
    for name in SETS {
        sets.push(read(&folder.join(format!("{name}.jsonl")), &model)?);
    }
    let mut verdict = Verdict::Kept;
    println!("the decision as it is: precision and recall, each with its 95 % Wilson interval\n");
    let mut rows = Vec::new();
    for (name, pairs) in SETS.iter().zip(&sets) {
        let (row, kept) = figures(name, pairs);
        rows.push(row);
        verdict = verdict.and(Verdict::of(kept));
    }
    table::print(
        &[
            "set",
            "pairs",
            "same: right",
            "found",
            "denies: right",
            "found",
            "neither, same",
            "neither, ended",
            "denied, same",
            "",
        ],
        &rows,
    );
    println!("\n\"ended\": superseded by the second. \"same\" without a score is any entailment.");
    Ok(verdict)
}

/// Returns the table row of one set, and whether it keeps its limits.
fn figures(name: &str, pairs: &[Pair]) -> (Vec<String>, bool) {
    let decisions: Vec<Decision> = pairs.iter().map(decided).collect();
    let is_same =
        |decision: &Decision| matches!(decision.fate, CurateOutcome::Confirm | CurateOutcome::Append);
    let is_denial =
        |decision: &Decision| matches!(decision.fate, CurateOutcome::Contradict | CurateOutcome::Supersede);
    let count = |what: &dyn Fn(&Decision) -> bool, label: &dyn Fn(&Pair) -> bool| {
        decisions.iter().zip(pairs).filter(|(decision, pair)| what(decision) && label(pair)).count()
    };
    let any = |_: &Pair| true;
    let all = |label: &dyn Fn(&Pair) -> bool| pairs.iter().filter(|pair| label(pair)).count();
    let agrees = |pair: &Pair| matches!(pair.label, Label::Same | Label::Entails);
    let is = |label: Label| move |pair: &Pair| pair.label == label;
    let has_score = pairs.iter().any(|pair| pair.has_score);
    let target: &dyn Fn(&Pair) -> bool = if has_score { &is(Label::Same) } else { &agrees };
    let (said, right) = (count(&is_same, &any), count(&is_same, &agrees));
    let (denied, denied_right) = (count(&is_denial, &any), count(&is_denial, &is(Label::Denies)));
    let not_denied = |pair: &Pair| pair.label != Label::Denies;
    let ended = count(&|decision| decision.fate == CurateOutcome::Supersede, &not_denied);
    let confirmed_denials = count(&is_same, &is(Label::Denies));
    let share = |part: usize, of: usize| if of == 0 { 1.0 } else { part as f64 / of as f64 };
    let kept = share(right, said) >= LEAST_PRECISION
        && share(denied_right, denied) >= LEAST_PRECISION
        && ended as f64 <= MOST_WRONG * all(&not_denied) as f64;
    let row = vec![
        name.to_owned(),
        pairs.len().to_string(),
        wilson(right, said),
        wilson(count(&is_same, target), all(target)),
        wilson(denied_right, denied),
        wilson(count(&is_denial, &is(Label::Denies)), all(&is(Label::Denies))),
        wilson(count(&is_same, &is(Label::Neither)), all(&is(Label::Neither))),
        wilson(ended, all(&not_denied)),
        wilson(confirmed_denials, all(&is(Label::Denies))),
        Verdict::of(kept).mark().into(),
    ];
    (row, kept)
}

/// Decides a pair whose second sentence comes later.
fn decided(pair: &Pair) -> Decision {
    let told = Incoming { text: &pair.told, happened: false, first_time: None };
    let kept = Existing {
        text: &pair.kept,
        happened: false,
        time: Timestamp::UNIX_EPOCH,
        cosine: Some(pair.cosine),
        relation: pair.relation,
        pinned: false,
    };
    decide(&told, &[kept])
}

/// Formats a share with its 95 % interval (Wilson, 1927).
pub fn wilson(part: usize, of: usize) -> String {
    if of == 0 {
        return "-".into();
    }
    let (low, high) = interval(part, of);
    format!("{:.3} [{low:.3} {high:.3}] {part}/{of}", part as f64 / of as f64)
}

fn interval(part: usize, of: usize) -> (f64, f64) {
    const Z: f64 = 1.959_963_984_540_054;
    let (share, count) = (part as f64 / of as f64, of as f64);
    let whole = 1.0 + Z * Z / count;
    let middle = share + Z * Z / (2.0 * count);
    let half = Z * (share * (1.0 - share) / count + Z * Z / (4.0 * count * count)).sqrt();
    (((middle - half) / whole).max(0.0), ((middle + half) / whole).min(1.0))
}

fn read(file: &Path, model: &SentenceEncoder) -> Result<Vec<Pair>, Failed> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| format!("cannot read {}: {error}; name a folder with --data", file.display()))?;
    let mut vectors: HashMap<String, Vec<f32>> = HashMap::new();
    let mut vector = |text: &str| -> Result<Vec<f32>, Failed> {
        if let Some(vector) = vectors.get(text) {
            return Ok(vector.clone());
        }
        let vector = model.embed(text)?;
        vectors.insert(text.to_owned(), vector.clone());
        Ok(vector)
    };
    let mut pairs = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let row: Value = serde_json::from_str(line)?;
        let field = |name: &str| row[name].as_str().ok_or_else(|| format!("line {}: no {name}", at + 1));
        let (kept, told) = (field("a")?, field("b")?);
        let score = row["score"].as_f64();
        let label = match field("label")? {
            "CONTRADICTION" | "CONTRADICT" => Label::Denies,
            _ if score.is_some_and(|score| score >= SAME_SCORE) => Label::Same,
            "ENTAILMENT" | "SUPPORT" => Label::Entails,
            "NEUTRAL" => Label::Neither,
            other => return Err(format!("line {}: label {other}", at + 1).into()),
        };
        let cosine = vector(kept)?.iter().zip(&vector(told)?).map(|(one, two)| one * two).sum();
        let pair = Statements::Pair { earlier: kept, later: told };
        let found = model.classify(&pair, &[Classifier::Relation, Classifier::Number])?;
        let relation = found.and_then(|found| PairLikelihood::new(found.first()?, *found.get(1)?.get(1)?));
        let (kept, told) = (Analysis::of(kept), Analysis::of(told));
        pairs.push(Pair { label, has_score: score.is_some(), kept, told, cosine, relation });
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::interval;

    #[test]
    fn the_interval_is_wilsons() {
        // statsmodels.stats.proportion.proportion_confint(8, 10, method="wilson")
        let (low, high) = interval(8, 10);
        assert!((low - 0.490_162).abs() < 1e-5 && (high - 0.943_318).abs() < 1e-5, "{low} {high}");
        assert!(interval(0, 5).0.abs() < 1e-9 && (interval(5, 5).1 - 1.0).abs() < 1e-9);
    }
}
