//! Compares the engine's decisions on labelled pairs of sentences with the labels that people gave.
//! Thresholds are chosen on sick-train alone and reported on the other two sets.

use std::collections::HashMap;
use std::path::Path;
use std::time::Instant;

use bower_core::item::CurateOutcome;
use bower_core::model::{Embedder, MiniLm};
use bower_core::parts::embed::{Classifier, Statements};
use bower_core::parts::memory::merge::{Bands, Decision, Existing, Incoming, Rule, decide};
use bower_core::parts::memory::relation::PairLikelihood;
use bower_core::parts::memory::said::Said;
use jiff::Timestamp;
use serde_json::Value;

use crate::options::{Failed, Options, Verdict, packed};
use crate::table;

/// The sets, each with whether thresholds may be chosen on it.
const SETS: [(&str, bool); 3] = [("sick-train", true), ("sick-trial", false), ("scifact-nli-train", false)];

/// Pairs with at least this score count as the same, whatever their label (SICK: 1 to 5).
const SAME_SCORE: f64 = 4.5;

/// Least precision of supersede, confirm and contradict decisions.
const LEAST_PRECISION: f64 = 0.95;

/// Largest share of all pairs that do not deny each other, but would be superseded if the second came weeks later.
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
    kept: Said,
    told: Said,
    cosine: f32,
    /// What the model says that the told text is to the kept one.
    relation: Option<PairLikelihood>,
}

pub fn run(options: &Options) -> Result<Verdict, Failed> {
    let folder = options.data.join("pairs");
    let model = MiniLm::open(&packed(options)?)?;
    let mut sets = Vec::new();
    for (name, _) in SETS {
        sets.push(read(&folder.join(format!("{name}.jsonl")), &model)?);
    }
    let mut verdict = Verdict::Kept;
    println!("the decision as it is: precision and recall, each with its 95 % Wilson interval\n");
    let mut rows = Vec::new();
    for ((name, _), pairs) in SETS.iter().zip(&sets) {
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
    println!(
        "\n\"ended\": superseded if the second is told 30 days later. \"same\" without a score is any entailment.\n"
    );
    println!(
        "sick-train: right and found of \"the same\" from each cosine on, by what each text has of its own\n"
    );
    by_cosine(&sets[0]);
    println!(
        "\nsick-train: right and found of \"denies\" from each cosine and each share of common words on\n"
    );
    by_denial(&sets[0]);
    let ms = time_ms(&sets[0]);
    println!(
        "\na told sentence beside {BESIDE} memories, claims and slots of all included: {ms:.2} ms at least"
    );
    Ok(verdict)
}

/// Number of memories that a new text is compared with.
const BESIDE: usize = 20;

/// Returns the least time of one decision from the texts alone, in milliseconds.
fn time_ms(pairs: &[Pair]) -> f64 {
    let mut least = f64::INFINITY;
    for pairs in pairs.chunks_exact(BESIDE).take(50) {
        let start = Instant::now();
        let parts: Vec<Said> = pairs.iter().map(|pair| Said::of(pair.kept.claims.plain())).collect();
        let kept: Vec<Existing<'_>> = parts.iter().map(|said| kept(said, Some(0.9), None)).collect();
        let said = Said::of(pairs[0].told.claims.plain());
        let told = told(&said, Timestamp::UNIX_EPOCH);
        std::hint::black_box(decide(&told, &kept, &Bands::default()));
        least = least.min(start.elapsed().as_secs_f64() * 1e3);
    }
    least
}

/// Returns the table row of one set, and whether it keeps its limits.
fn figures(name: &str, pairs: &[Pair]) -> (Vec<String>, bool) {
    let bands = Bands::default();
    let at_once: Vec<Decision> = pairs.iter().map(|pair| decided(pair, 0, &bands)).collect();
    let later: Vec<Decision> = pairs.iter().map(|pair| decided(pair, 30, &bands)).collect();
    let is_same =
        |decision: &Decision| matches!(decision.fate, CurateOutcome::Confirm | CurateOutcome::Append);
    let is_denial =
        |decision: &Decision| matches!(decision.fate, CurateOutcome::Contradict | CurateOutcome::Supersede);
    let count = |of: &[Decision], what: &dyn Fn(&Decision) -> bool, label: &dyn Fn(&Pair) -> bool| {
        of.iter().zip(pairs).filter(|(decision, pair)| what(decision) && label(pair)).count()
    };
    let any = |_: &Pair| true;
    let all = |label: &dyn Fn(&Pair) -> bool| pairs.iter().filter(|pair| label(pair)).count();
    let agrees = |pair: &Pair| matches!(pair.label, Label::Same | Label::Entails);
    let is = |label: Label| move |pair: &Pair| pair.label == label;
    let has_score = pairs.iter().any(|pair| pair.has_score);
    let target: &dyn Fn(&Pair) -> bool = if has_score { &is(Label::Same) } else { &agrees };
    let (said, right) = (count(&at_once, &is_same, &any), count(&at_once, &is_same, &agrees));
    let (denied, denied_right) =
        (count(&at_once, &is_denial, &any), count(&at_once, &is_denial, &is(Label::Denies)));
    let not_denied = |pair: &Pair| pair.label != Label::Denies;
    let ended = count(&later, &|decision| decision.fate == CurateOutcome::Supersede, &not_denied);
    let confirmed_denials = count(&at_once, &is_same, &is(Label::Denies));
    let share = |part: usize, of: usize| if of == 0 { 1.0 } else { part as f64 / of as f64 };
    let kept = share(right, said) >= LEAST_PRECISION
        && share(denied_right, denied) >= LEAST_PRECISION
        && ended as f64 <= MOST_WRONG * all(&not_denied) as f64;
    let row = vec![
        name.to_owned(),
        pairs.len().to_string(),
        wilson(right, said),
        wilson(count(&at_once, &is_same, target), all(target)),
        wilson(denied_right, denied),
        wilson(count(&at_once, &is_denial, &is(Label::Denies)), all(&is(Label::Denies))),
        wilson(count(&at_once, &is_same, &is(Label::Neither)), all(&is(Label::Neither))),
        wilson(ended, all(&not_denied)),
        wilson(confirmed_denials, all(&is(Label::Denies))),
        Verdict::of(kept).mark().into(),
    ];
    (row, kept)
}

/// Decides a pair whose second sentence comes `days` later; both have confidence .5.
fn decided(pair: &Pair, days: i64, bands: &Bands) -> Decision {
    let later = Timestamp::from_second(days * 86_400).unwrap_or(Timestamp::UNIX_EPOCH);
    decide(&told(&pair.told, later), &[kept(&pair.kept, Some(pair.cosine), pair.relation)], bands)
}

fn told(said: &Said, time: Timestamp) -> Incoming<'_> {
    let Said { claims, slot, frame } = said;
    Incoming { claims, slot: slot.as_ref(), frame, confidence: 0.5, time, first_time: None }
}

fn kept(said: &Said, cosine: Option<f32>, relation: Option<PairLikelihood>) -> Existing<'_> {
    let Said { claims, slot, frame } = said;
    let time = Timestamp::UNIX_EPOCH;
    Existing { claims, slot: slot.as_ref(), frame, confidence: 0.5, time, cosine, relation, pinned: false }
}

/// Prints the precision of "the same" for each least cosine: with equal words, one word more on one side, and one word
/// exchanged.
fn by_cosine(pairs: &[Pair]) {
    let off = 2.0;
    let only = |same_content: f32, same: f32, same_exchanged: f32| Bands {
        same_content,
        same,
        same_exchanged,
        ..Bands::default()
    };
    let mut rows = Vec::new();
    for least in [0.70, 0.80, 0.85, 0.88, 0.90, 0.92, 0.94, 0.95, 0.96, 0.97, 0.98, 0.985, 0.99_f32] {
        let mut row = vec![format!("{least}")];
        for bands in [only(least, off, off), only(off, least, off), only(off, off, least)] {
            let said: Vec<&Pair> =
                pairs.iter().filter(|pair| decided(pair, 0, &bands).why.rule == Rule::SameMeaning).collect();
            let agrees = |pair: &&&Pair| matches!(pair.label, Label::Same | Label::Entails);
            row.push(wilson(said.iter().filter(agrees).count(), said.len()));
        }
        rows.push(row);
    }
    table::print(&["cosine from", "same words", "one has more", "exchanged"], &rows);
}

fn by_denial(pairs: &[Pair]) {
    let all = pairs.iter().filter(|pair| pair.label == Label::Denies).count();
    let mut rows = Vec::new();
    for denied in [0.50, 0.60, 0.70, 0.80, 0.90_f32] {
        let mut row = vec![format!("{denied}")];
        for denied_words in [0.5, 0.7, 0.9_f32] {
            let bands = Bands { denied, denied_words, ..Bands::default() };
            let found: Vec<&Pair> = pairs
                .iter()
                .filter(|pair| decided(pair, 0, &bands).fate == CurateOutcome::Contradict)
                .collect();
            let right = found.iter().filter(|pair| pair.label == Label::Denies).count();
            row.push(wilson(right, found.len()));
            row.push(format!("{:.3}", right as f64 / all.max(1) as f64));
        }
        rows.push(row);
    }
    table::print(&["cosine from", "words .5", "found", "words .7", "found", "words .9", "found"], &rows);
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

fn read(file: &Path, model: &MiniLm) -> Result<Vec<Pair>, Failed> {
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
        let found = model.classify(&pair, &[Classifier::Relation])?;
        let relation = found.and_then(|found| PairLikelihood::new(found.first()?));
        let (kept_said, told_said) = (Said::of(kept), Said::of(told));
        pairs.push(Pair {
            label,
            has_score: score.is_some(),
            kept: kept_said,
            told: told_said,
            cosine,
            relation,
        });
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
