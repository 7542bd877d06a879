//! Measures operations on a store of a hundred thousand memories.
//! The operations are: keep one more with every check, sweep, prune, consolidate, undo, and query the state at a past time.

use std::collections::HashMap;
use std::num::NonZero;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use bower_core::config::Settings;
use bower_core::engine::Engine;
use bower_core::item::{
    Author, Change, Durability, Gate, MemoryType, Provenance, Scope, Status, Tier, Visibility, derive_id,
};
use bower_core::model::{EmbeddedText, Embedder, SentenceEncoder};
use bower_core::parts::graph::{ItemText, encode};
use bower_core::parts::memory::judge::{self, judge_text};
use bower_core::parts::store::{
    Decided, DeltaData, Memories, NewMemory, NewTokens, NewVector, SqliteStore, Stamp, WriteAction,
};
use bower_core::parts::text::encode_terms;
use bower_core::parts::vector::{halves, in_order};
use bower_core::request::{
    Clocks, ConsolidateRequest, CurateRequest, PruneRequest, QueryRequest, Selection, SweepRequest,
};
use jiff::{SignedDuration, Timestamp};
use serde_json::Map;

use crate::corpus::Corpus;
use crate::gauge::{Timed, Times, timed};
use crate::options::{Failed, Options, Verdict, packed};
use crate::table;

/// One memory of this many is written three times, with different punctuation at its end.
const AGAIN: usize = 100;
/// Days over which the memories were written.
const DAYS: i64 = 400;
/// Number of memories that are kept one by one and timed, and of questions for each clock.
const ONES: usize = 200;
/// Runs of each operation that can be undone; the fastest is reported.
const RUNS: usize = 3;

fn settings(options: &Options) -> Settings {
    // Without a limit for a project, the sweep acts by age alone.
    Settings {
        models_folder: Some(options.models.clone()),
        limit_project: 0,
        sweep_hours: 0,
        ..Settings::default()
    }
}

/// Returns memory `at` of a corpus with its vector; `again` selects the punctuation at its end.
fn told(corpus: &Corpus, at: usize, again: usize) -> NewMemory {
    let passage = corpus.passage(at);
    let ending = ["", " .", " …"][again];
    let content = format!("{}{ending}", passage.text.trim());
    let output = corpus.output(at);
    let mut vector = output.vector;
    // The punctuation changes a vector slightly.
    let turn = 0.02 * again as f32;
    for (nth, value) in vector.iter_mut().enumerate() {
        *value += if nth % 2 == 0 { turn } else { -turn } * 0.2;
    }
    let judged =
        judge_text(&content, MemoryType::Fact, Durability::Lasting, 0.5, &judge::Constants::default());
    NewMemory {
        create_time: None,
        id: derive_id(&["keep", &content]),
        collection: "memories".into(),
        memory_type: judged.memory_type,
        delta: DeltaData {
            terms: encode_terms(&content),
            mentions: Some(encode(&ItemText { content: &content, has_words: true, ..ItemText::default() })),
        },
        summary: judged.summary,
        importance: judged.importance,
        confidence: 0.5,
        decay_rate: judged.decay_rate,
        tags: Vec::new(),
        keywords: judged.keywords,
        metadata: Map::new(),
        scope: Scope::Project,
        owner: None,
        status: Status::Active,
        tier: Tier::Active,
        source: "bench".into(),
        source_conv_id: None,
        provenance: Provenance::told(Author::User),
        host: None,
        valid_from: None,
        valid_to: None,
        anchors: Vec::new(),
        vector: Some(NewVector {
            model: String::new(),
            half: halves(&vector),
            tokens: output.codes.map(|codes| NewTokens {
                model: String::new(),
                bytes: codes.iter().flat_map(|code| code.to_le_bytes()).collect(),
            }),
        }),
        content,
    }
}

/// Writes the memories with times spread over [`DAYS`] days up to `now`.
fn build(
    options: &Options,
    corpus: &Corpus,
    model: &SentenceEncoder,
    home: &Path,
    now: Timestamp,
) -> Result<usize, Failed> {
    let store = SqliteStore::open(&home.join("memory.db"), &settings(options), now)?;
    let start = now - SignedDuration::from_hours(24 * DAYS);
    let decided = Decided {
        standing: WriteAction::Alone,
        possible: Vec::new(),
        different: Vec::new(),
        is_told: false,
        why: Map::new(),
        is_observed: true,
        seen: Change(i64::MAX.unsigned_abs()),
    };
    let mut written = 0;
    for at in 0..options.count {
        let times = if at % AGAIN == 0 { 3 } else { 1 };
        for again in 0..times {
            let mut memory = told(corpus, at, again);
            if let Some(vector) = &mut memory.vector {
                model.model().clone_into(&mut vector.model);
                if let (Some(tokens), Some(scheme)) = (&mut vector.tokens, model.tokens()) {
                    scheme.clone_into(&mut tokens.model);
                }
            }
            let share = at as f64 / options.count as f64;
            let since = SignedDuration::from_secs_f64(DAYS as f64 * 86_400.0 * share);
            let stamp = Stamp { now: start + since, actor: "bench" };
            written += usize::from(store.put_memory(&memory, &decided, stamp)?.is_some());
        }
    }
    Ok(written)
}

/// The store with its measurements.
struct Bench {
    engine: Engine,
    /// Nanoseconds spent in the model.
    spent: Arc<AtomicU64>,
    /// Outputs that the model computed ahead.
    ahead: Arc<RwLock<HashMap<String, EmbeddedText>>>,
    now: Timestamp,
    rows: Vec<Vec<String>>,
    verdict: Verdict,
}

impl Bench {
    /// Runs `once`; returns its result, wall and process milliseconds without the model's, and the model's milliseconds.
    fn beside<T>(&self, once: impl FnOnce() -> T) -> (T, f64, f64, f64) {
        let before = self.spent.load(Ordering::Relaxed);
        let (done, wall, cpu) = timed(once);
        let model = (self.spent.load(Ordering::Relaxed) - before) as f64 / 1e6;
        (done, wall - model, cpu - model, model)
    }

    fn row(&mut self, what: &str, ms: f64, limit: f64, note: String) {
        let kept = Verdict::of(ms <= limit);
        self.verdict = self.verdict.and(kept);
        self.rows.push(vec![
            what.to_owned(),
            table::number(ms),
            table::number(limit),
            kept.mark().to_owned(),
            note,
        ]);
    }

    /// Keeps memories that contain words of stored passages in new sentences: similar to existing memories, and new.
    fn curate(&mut self, corpus: &Corpus) -> Result<(), Failed> {
        let (mut beside, mut all) = (Times::new(), Times::new());
        for (nth, words) in corpus.questions(ONES, 5).iter().enumerate() {
            let text = format!("We noted on day {nth} that {words} holds for build {}", 7_000 + nth);
            let request = CurateRequest { gate: Some(Gate::Normal), ..CurateRequest::new(text) };
            let (kept, wall, cpu, model) =
                self.beside(|| self.engine.curate(&Visibility::everything(), &request, self.now));
            kept?;
            beside.add(wall, cpu);
            all.add(wall + model, cpu + model);
        }
        let note = format!("cpu {}; with the model {}", cpu_p50(&beside), table::number(p50(&all)));
        self.row("curate, beside the model", p50(&beside), 15.0, note);
        while self.engine.maintain(self.now)? {}
        Ok(())
    }

    fn past(&mut self, corpus: &Corpus) -> Result<(), Failed> {
        let then = Clocks { as_of: Some(self.now - SignedDuration::from_hours(24 * 100)), valid_at: None };
        let (mut plain, mut past) = (Times::new(), Times::new());
        for text in &corpus.questions(ONES, 9) {
            for (clocks, times) in [(Clocks::default(), &mut plain), (then, &mut past)] {
                let select = Selection { clocks, ..Selection::default() };
                let request = QueryRequest { text: text.clone(), select, ..QueryRequest::default() };
                let (answer, wall, cpu, _) =
                    self.beside(|| self.engine.query(&Visibility::everything(), &request, self.now));
                answer?;
                times.add(wall, cpu);
            }
        }
        let note = format!("{} and {} ms", table::number(p50(&past)), table::number(p50(&plain)));
        self.row("as-of query, times a plain one", p50(&past) / p50(&plain), 1.5, note);
        Ok(())
    }

    /// Runs and undoes an operation [`RUNS`] times; the last run is not undone. Returns the least time of the run, the number
    /// of changed memories, and the least time of the undo.
    fn run(
        &self,
        once: impl Fn(&Engine) -> bower_core::Result<(usize, Option<u64>)>,
    ) -> Result<(f64, usize, f64), Failed> {
        let (mut best, mut turned, mut back) = (f64::INFINITY, 0, f64::INFINITY);
        for run in 1..=RUNS {
            let (done, wall, _) = timed(|| once(&self.engine));
            let (number, event) = done?;
            (best, turned) = (best.min(wall), number);
            if let (Some(event), true) = (event, number > 0 && run < RUNS) {
                let (undone, wall, _) =
                    timed(|| self.engine.undo(&Visibility::everything(), event, self.now));
                undone?;
                back = back.min(wall);
            }
        }
        Ok((best, turned, back))
    }

    fn prune(&mut self, written: usize) -> Result<(), Failed> {
        // The threshold is the strength at the weakest hundredth.
        let all = self.engine.prune(
            &Visibility::everything(),
            &PruneRequest { threshold: 1.0, dry_run: true },
            self.now,
        )?;
        let threshold = all.turned.get(written / 100).map_or(0.05, |one| one.strength);
        let (ms, pruned, back) = self.run(|engine| {
            let pruned = engine.prune(
                &Visibility::everything(),
                &PruneRequest { threshold, dry_run: false },
                self.now,
            )?;
            Ok((pruned.pruned, pruned.event))
        })?;
        let note = format!("{pruned} archived; taken back in {} ms", table::number(back));
        self.row("prune", ms, 175.0, note);
        Ok(())
    }

    fn sweep(&mut self) -> Result<(), Failed> {
        let (ms, swept, back) = self.run(|engine| {
            let swept = engine.sweep(&Visibility::everything(), &SweepRequest::default(), self.now)?;
            Ok((swept.turned.len(), swept.event))
        })?;
        let note = format!("{swept} turned; taken back in {} ms", table::number(back));
        self.row("sweep", ms, 1_000.0, note);
        Ok(())
    }

    /// Measures consolidation without the model: the model embeds the patterns ahead, on as many threads as the engine would
    /// use.
    fn consolidate(&mut self, model: &SentenceEncoder) -> Result<(), Failed> {
        let look = ConsolidateRequest { dry_run: true, ..ConsolidateRequest::default() };
        let (mut least, mut least_cpu, mut would) = (f64::INFINITY, f64::INFINITY, None);
        for _ in 0..RUNS {
            let (done, wall, cpu) =
                timed(|| self.engine.consolidate(&Visibility::everything(), &look, self.now, &|| true));
            would = Some(done?);
            (least, least_cpu) = (least.min(wall), least_cpu.min(cpu));
        }
        let would = would.unwrap_or_default();
        let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
        let (made, model_ms, _) = timed(|| {
            in_order(threads, would.clusters.len(), |nth| {
                let text = &would.clusters[nth].content;
                Ok((text.clone(), model.embed_text(text)?))
            })
        });
        let made = made.into_iter().collect::<bower_core::Result<HashMap<_, _>>>()?;
        *self.ahead.write().unwrap_or_else(PoisonError::into_inner) = made;
        let before = self.spent.load(Ordering::Relaxed);
        let (done, wall, cpu) = timed(|| {
            self.engine.consolidate(
                &Visibility::everything(),
                &ConsolidateRequest::default(),
                self.now,
                &|| true,
            )
        });
        let done = done?;
        if self.spent.load(Ordering::Relaxed) > before {
            return Err("a pattern was made that looking alone had not found".into());
        }
        let note = format!(
            "{} of {} into {} patterns; cpu {}; looking alone {} (cpu {}), the model {}",
            done.merged,
            done.compared,
            done.patterns_created,
            table::number(cpu),
            table::number(least),
            table::number(least_cpu),
            table::number(model_ms)
        );
        self.row("consolidate, beside the model", wall, 1_200.0, note);
        Ok(())
    }
}

fn p50(times: &Times) -> f64 {
    times.json()["p50_ms"].as_f64().unwrap_or(f64::NAN)
}

fn cpu_p50(times: &Times) -> String {
    table::number(times.json()["cpu_p50_ms"].as_f64().unwrap_or(f64::NAN))
}

/// Measures the operations that involve all memories.
pub fn run(options: &Options) -> Result<Verdict, Failed> {
    let model = SentenceEncoder::open(&packed(options)?)?;
    let corpus = Corpus::open(options, &model, options.count)?;
    let home = options.home.join("keep");
    if home.exists() {
        std::fs::remove_dir_all(&home)?;
    }
    std::fs::create_dir_all(&home)?;
    let written_until: Timestamp = "2026-06-01T00:00:00Z".parse()?;
    let (written, build_ms, _) = timed(|| build(options, &corpus, &model, &home, written_until));
    let written = written?;
    eprintln!("{written} memories written in {:.1} s", build_ms / 1e3);
    let spent = Arc::new(AtomicU64::new(0));
    let clocked = Timed::new(Arc::new(SentenceEncoder::open(&packed(options)?)?), Arc::clone(&spent));
    let ahead = Arc::clone(&clocked.ahead);
    let now = written_until + SignedDuration::from_hours(24);
    let engine = Engine::open(&home, settings(options), now)?.with_embedder(Box::new(clocked));
    while engine.maintain(now)? {}
    let mut bench = Bench { engine, spent, ahead, now, rows: Vec::new(), verdict: Verdict::Kept };
    bench.curate(&corpus)?;
    bench.past(&corpus)?;
    bench.prune(written)?;
    bench.sweep()?;
    bench.consolidate(&model)?;
    let (status, ms, _) = timed(|| bench.engine.status(&Visibility::everything()));
    let held = status?.scopes.iter().map(|held| held.memories).sum::<u64>();
    bench.row("status", ms, 5.0, format!("{held} stay"));
    table::print(&["what", "ms", "at most", "", "note"], &bench.rows);
    Ok(bench.verdict)
}
