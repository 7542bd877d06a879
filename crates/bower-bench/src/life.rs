//! Simulates one agent's use of the store for a month, and judges the content of the store at the end.
//! `stream` generates from a seed the agent's writes and questions, with the truth. `agent` runs them through the engine in
//! this process, at simulated times. `judge` compares the result with the truth.

mod agent;
mod families;
mod judge;
mod junk;
mod lived;
mod names;
mod prose;
mod stream;
mod surface;
mod tables;
mod values;
mod words;
mod world;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use bower_core::config::Settings;
use bower_core::engine::Engine;
use bower_core::model::SentenceEncoder;
use serde_json::{Value, json};

use crate::gauge::Timed;
use crate::options::{Failed, Options, Verdict, packed};
use crate::table;
pub use agent::Keeper;
use judge::{Figure, Limit, Verdicts};
use lived::Lived;
use stream::{Plan, Step};

/// Largest number of failures for each figure in the output file.
const KEPT_FAILURES: usize = 200;

/// Runs a stream and judges the result. `keeper` is the engine, or an oracle in place of its gate, which isolates retrieval
/// errors.
pub fn run(options: &Options, keeper: Keeper) -> Result<Verdict, Failed> {
    let plan = Plan { seed: options.seed, days: options.days, writes: options.writes };
    let home = options.home.join(format!("life-{}", plan.seed));
    if home.exists() {
        std::fs::remove_dir_all(&home)?;
    }
    std::fs::create_dir_all(&home)?;
    let ns = Arc::new(AtomicU64::new(0));
    let model = Arc::new(SentenceEncoder::open(&packed(options)?)?);
    let open = |now| -> Result<Engine, Failed> {
        let engine = Engine::open(&home, Settings::default(), now)?;
        Ok(engine.with_embedder(Box::new(Timed::new(model.clone(), ns.clone()))))
    };
    let stream = stream::make(plan);
    let lived = agent::live(&stream, &open, &ns, keeper)?;
    let verdicts = judge::judge(&stream, &lived, &home)?;
    println!(
        "seed {}, {} days, {} writes, {} facts with {} values\n",
        plan.seed,
        plan.days,
        lived.told.len(),
        stream.world.facts.len(),
        stream.world.facts.iter().map(|fact| fact.values.len()).sum::<usize>()
    );
    let verdict = print(&verdicts, options.show);
    print_outcomes(&verdicts);
    print_times(&lived, &verdicts);
    print_curve(&lived);
    let file = options.home.join(format!("life-{}.json", plan.seed));
    std::fs::write(&file, serde_json::to_vec_pretty(&figures(plan, &lived, &verdicts))?)?;
    eprintln!("\nFigures: {}; store: {}", file.display(), home.display());
    Ok(verdict)
}

/// Prints the generated stream.
pub fn print_stream(options: &Options) -> Verdict {
    let stream = stream::make(Plan { seed: options.seed, days: options.days, writes: options.writes });
    for step in &stream.steps {
        match step {
            Step::Write(write) => {
                println!("{} {}: {}", write.at, write.kind.word(), write.text.escape_default());
            }
            Step::Ask { at, question, .. } => println!("{at} asks: {question}"),
            Step::EchoBack { at, how, .. } => println!("{at} echoes: {how:?}"),
        }
    }
    Verdict::Kept
}

fn asked(limit: Limit) -> String {
    match limit {
        Limit::Least(least) => format!(">= {:.1} %", 100.0 * least),
        Limit::Most(most) => format!("<= {:.1} %", 100.0 * most),
        Limit::Told => String::new(),
    }
}

/// Formats the factor by which failures could grow before the limit is missed.
fn margin(figure: &Figure) -> String {
    let (most, found) = match figure.limit {
        Limit::Least(least) => (1.0 - least, 1.0 - figure.share()),
        Limit::Most(most) => (most, figure.share()),
        Limit::Told => return String::new(),
    };
    if found <= 0.0 { "none failed".to_owned() } else { format!("{:.2}", most / found) }
}

fn print(verdicts: &Verdicts, show: usize) -> Verdict {
    let mut verdict = Verdict::Kept;
    let mut rows = Vec::new();
    for figure in &verdicts.figures {
        let kept = Verdict::of(figure.is_kept());
        verdict = verdict.and(kept);
        rows.push(vec![
            figure.name.to_owned(),
            asked(figure.limit),
            format!("{:.2} %", 100.0 * figure.share()),
            format!("{} of {}", figure.hit, figure.of),
            margin(figure),
            if figure.limit == Limit::Told { String::new() } else { kept.mark().to_owned() },
        ]);
    }
    table::print(&["figure", "asked", "measured", "", "margin", ""], &rows);
    for figure in verdicts.figures.iter().filter(|figure| show > 0 && !figure.failures.is_empty()) {
        println!("\n{} ({}):", figure.name, figure.failures.len());
        for failure in figure.failures.iter().take(show) {
            println!("  {}", failure.replace('\n', "\\n"));
        }
    }
    verdict
}

fn print_outcomes(verdicts: &Verdicts) {
    let mut words: Vec<&str> =
        verdicts.outcomes.values().flat_map(|of| of.keys().map(String::as_str)).collect();
    words.sort_unstable();
    words.dedup();
    let rows: Vec<Vec<String>> = verdicts
        .outcomes
        .iter()
        .map(|(kind, of)| {
            let counts = words.iter().map(|word| of.get(*word).map_or_else(String::new, ToString::to_string));
            [kind.word(), of.values().sum::<usize>().to_string()].into_iter().chain(counts).collect()
        })
        .collect();
    println!();
    table::print(&["writes", "all"].into_iter().chain(words).collect::<Vec<_>>(), &rows);
}

fn print_times(lived: &Lived, verdicts: &Verdicts) {
    let row = |name: String, times: &Value, bare: Option<&Value>| {
        let ms = |of: &Value, place: &str| of[place].as_f64().map_or_else(String::new, table::number);
        let mut row = vec![
            name,
            times["count"].to_string(),
            ms(times, "p50_ms"),
            ms(times, "p95_ms"),
            ms(times, "cpu_p50_ms"),
        ];
        row.extend(bare.map(|bare| ms(bare, "p50_ms")));
        row.extend(bare.map(|bare| ms(bare, "p95_ms")));
        row
    };
    let mut rows: Vec<Vec<String>> = lived
        .spent
        .0
        .iter()
        .map(|(outcome, (whole, bare))| row(format!("curate: {outcome}"), &whole.json(), Some(&bare.json())))
        .collect();
    rows.push(row("query".to_owned(), &verdicts.questions.json(), None));
    println!();
    table::print(&["ms", "count", "p50", "p95", "CPU p50", "without the model p50", "p95"], &rows);
}

fn print_curve(lived: &Lived) {
    let rows: Vec<Vec<String>> = lived
        .curve
        .iter()
        .map(|point| {
            let share = |count: usize| format!("{:.1} %", 100.0 * count as f64 / point.asked.max(1) as f64);
            vec![
                point.at.strftime("%Y-%m-%d").to_string(),
                point.writes.to_string(),
                point.items.to_string(),
                point.asked.to_string(),
                share(point.found),
                share(point.stale),
            ]
        })
        .collect();
    println!();
    table::print(&["before", "writes", "memories", "asked", "found", "stale first"], &rows);
}

fn figures(plan: Plan, lived: &Lived, verdicts: &Verdicts) -> Value {
    let figures: Vec<Value> = verdicts
        .figures
        .iter()
        .map(|figure| {
            json!({
                "name": figure.name,
                "asked": asked(figure.limit),
                "measured": figure.share(),
                "hit": figure.hit,
                "of": figure.of,
                "kept": figure.is_kept(),
                "failures": figure.failures.iter().take(KEPT_FAILURES).collect::<Vec<_>>(),
            })
        })
        .collect();
    let outcomes: serde_json::Map<String, Value> =
        verdicts.outcomes.iter().map(|(kind, of)| (kind.word(), json!(of))).collect();
    let times: serde_json::Map<String, Value> = lived
        .spent
        .0
        .iter()
        .map(|(outcome, (whole, bare))| {
            (outcome.clone(), json!({ "whole": whole.json(), "without_the_model": bare.json() }))
        })
        .collect();
    let curve: Vec<Value> = lived
        .curve
        .iter()
        .map(|point| {
            json!({
                "before": point.at.to_string(), "writes": point.writes, "memories": point.items,
                "asked": point.asked, "found": point.found, "stale_first": point.stale,
            })
        })
        .collect();
    json!({
        "seed": plan.seed, "days": plan.days, "writes": lived.told.len(),
        "figures": figures, "outcomes": outcomes, "curate": times, "query": verdicts.questions.json(), "curve": curve,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    use stream::{Kind, Stream};

    fn texts(stream: &Stream) -> Vec<String> {
        let text = |step: &Step| match step {
            Step::Write(write) => format!("{} {:?} {} {:?}", write.at, write.kind, write.text, write.claims),
            Step::Ask { at, question, hold } => format!("{at} {question} {hold:?}"),
            Step::EchoBack { at, hold, how, seed } => format!("{at} {hold} {how:?} {seed}"),
        };
        stream.steps.iter().map(text).collect()
    }

    #[test]
    fn a_seed_makes_one_stream_and_another_seed_another() {
        let of = |seed| texts(&stream::make(Plan { seed, days: 5, writes: 1_500 }));
        let (one, again, other) = (of(1), of(1), of(2));
        assert!(one == again);
        assert!(one.iter().filter(|text| other.contains(text)).count() == 0);
    }

    #[test]
    fn most_of_a_stream_is_junk_and_every_kind_is_there() {
        let stream = stream::make(Plan { seed: 3, days: 30, writes: 6_000 });
        let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
        for step in &stream.steps {
            let kind = match step {
                Step::Write(write) => write.kind,
                Step::EchoBack { how, .. } => Kind::Echo(*how),
                Step::Ask { .. } => continue,
            };
            *kinds.entry(kind.word().split(':').next().unwrap_or_default().to_owned()).or_default() += 1;
        }
        let all: usize = kinds.values().sum();
        assert_eq!(all, 6_000);
        assert!(kinds["junk"] + kinds["echo"] > all * 58 / 100, "{kinds:?}");
        assert_eq!(kinds.len(), 16, "{kinds:?}");
        assert!(kinds.values().all(|count| *count >= 8), "{kinds:?}");
    }

    #[test]
    fn what_is_told_is_so_when_it_is_told_and_one_text_is_one_truth() {
        let stream = stream::make(Plan { seed: 4, days: 30, writes: 6_000 });
        let mut said: BTreeMap<&str, &[world::Claim]> = BTreeMap::new();
        let mut back = 0;
        for step in &stream.steps {
            let Step::Write(write) = step else { continue };
            back += usize::from(write.kind == Kind::Restated && said.contains_key(write.text.trim()));
            for claim in &write.claims {
                assert!(stream.world.holds(*claim, write.at), "{:?} {}", write.kind, write.text);
            }
            assert!(!write.text.contains("{s}") && !write.text.contains("{v}"), "{}", write.text);
            // Equal texts have equal claims: the judge identifies a memory's claims by its text.
            let claims = said.entry(write.text.trim()).or_insert(&write.claims);
            assert_eq!(*claims, &write.claims[..], "{}", write.text);
        }
        assert!(back > 0, "a value that comes back is told in its old words too");
    }

    /// Runs and judges a small stream without a model.
    fn small(seed: u64, home: &std::path::Path) -> (Stream, Lived, Verdicts) {
        let stream = stream::make(Plan { seed, days: 3, writes: 300 });
        let settings = || Settings { model: "none".to_owned(), ..Settings::default() };
        let open = |now| -> Result<Engine, Failed> { Ok(Engine::open(home, settings(), now)?) };
        let lived = agent::live(&stream, &open, &AtomicU64::new(0), Keeper::Engine).expect("a life");
        let verdicts = judge::judge(&stream, &lived, home).expect("verdicts");
        (stream, lived, verdicts)
    }

    #[test]
    fn a_small_life_is_judged_the_same_each_time() {
        let of = || {
            let home = tempfile::tempdir().expect("a folder");
            let (_, lived, verdicts) = small(7, home.path());
            let figures: Vec<(&str, usize, usize)> =
                verdicts.figures.iter().map(|figure| (figure.name, figure.hit, figure.of)).collect();
            (lived.told.len(), figures)
        };
        let (told, figures) = of();
        assert_eq!((told, &figures), (of().0, &of().1));
        let figure = |name: &str| figures.iter().find(|(known, _, _)| *known == name).copied().expect(name);
        // A written fact is found by its words, whatever else happens to it.
        let (_, found, asked) = figure("current facts found in the top 5");
        assert!(asked > 50 && found * 10 > asked * 8, "{found} of {asked}");
        let (_, _, writes) = figure("junk kept");
        assert!(writes > 100, "{writes}");
    }
}
