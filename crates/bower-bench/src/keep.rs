//! A hundred thousand memories and what is done with all of them: keeping one more with every check, sweeping, pruning,
//! consolidating, taking back, and asking what was known at a time.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use bower_core::config::Settings;
use bower_core::embed::{EmbeddedQuestion, EmbeddedText, Embedder, MiniLm};
use bower_core::engine::Engine;
use bower_core::item::{Change, Gate, Scope, Status, Tier, derive_id};
use bower_core::memory::judge::{self, judge_text};
use bower_core::request::{Clocks, ConsolidateRequest, CurateRequest, QueryRequest, Selection};
use bower_core::store::{Decided, NewMemory, NewTokens, NewVector, SqliteStore, Stamp, Standing, Store};
use bower_core::text::{Language, encode_terms};
use bower_core::vector::halves;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, json};

use crate::corpus::Corpus;
use crate::gauge::{Times, timed};
use crate::{Failed, Options, Verdict, packed, table};

/// One memory of so many is told three times, in words that differ little.
const AGAIN: usize = 100;
/// Days over which the memories were written.
const DAYS: i64 = 400;
/// Memories that are kept one by one and timed, and questions of each clock.
const ONES: usize = 200;
/// Runs of what can be taken back; the least is the figure.
const RUNS: usize = 3;

/// The model, and the time that it took.
struct Clocked {
    model: MiniLm,
    microseconds: Arc<AtomicU64>,
}

impl Clocked {
    fn clock<T>(&self, once: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = once();
        self.microseconds.fetch_add(start.elapsed().as_micros() as u64, Ordering::Relaxed);
        result
    }
}

impl Embedder for Clocked {
    fn model(&self) -> &str {
        self.model.model()
    }

    fn dimension(&self) -> usize {
        self.model.dimension()
    }

    fn embed(&self, text: &str) -> bower_core::Result<Vec<f32>> {
        self.clock(|| self.model.embed(text))
    }

    fn tokens(&self) -> Option<&str> {
        self.model.tokens()
    }

    fn embed_text(&self, text: &str) -> bower_core::Result<EmbeddedText> {
        self.clock(|| self.model.embed_text(text))
    }

    fn embed_question(&self, text: &str) -> bower_core::Result<EmbeddedQuestion> {
        self.clock(|| self.model.embed_question(text))
    }

    fn count_pieces(&self, text: &str) -> bower_core::Result<usize> {
        self.model.count_pieces(text)
    }
}

fn settings(options: &Options) -> Settings {
    // One project may hold them all: what a sweep takes by age alone is measured.
    Settings {
        models_folder: Some(options.models.clone()),
        limit_project: 0,
        sweep_hours: 0,
        ..Settings::default()
    }
}

/// What is told as memory `at` of a corpus, and whose vector stands for it.
fn told(corpus: &Corpus, at: usize, again: usize) -> NewMemory {
    let passage = corpus.passage(at);
    let ending = ["", " Noted again.", " This was noted once more."][again];
    let content = format!("{}{ending}", passage.text.trim());
    let output = corpus.output(at);
    let mut vector = output.vector;
    // A few words more turn a vector a little.
    let turn = 0.02 * again as f32;
    for (nth, value) in vector.iter_mut().enumerate() {
        *value += if nth % 2 == 0 { turn } else { -turn } * 0.2;
    }
    let judged = judge_text(&content, None, 0.5, &judge::Constants::default());
    NewMemory {
        id: derive_id(&["keep", &content]),
        collection: "memories".into(),
        memory_type: judged.memory_type,
        terms: encode_terms(&content, Language::English),
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
        slot: None,
        valid_from: None,
        valid_to: None,
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

/// Writes the memories over [`DAYS`] days up to `now`.
fn build(
    options: &Options,
    corpus: &Corpus,
    model: &MiniLm,
    home: &Path,
    now: Timestamp,
) -> Result<usize, Failed> {
    let store = SqliteStore::open(&home.join("memory.db"), &settings(options), now)?;
    let start = now - SignedDuration::from_hours(24 * DAYS);
    let decided = Decided {
        standing: Standing::Alone,
        also: Vec::new(),
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
                vector.model = model.model().to_owned();
                if let (Some(tokens), Some(scheme)) = (&mut vector.tokens, model.tokens()) {
                    tokens.model = scheme.to_owned();
                }
            }
            let seconds = DAYS * 86_400 * at as i64 / options.count as i64;
            let stamp = Stamp { now: start + SignedDuration::from_secs(seconds), actor: "bench" };
            written += usize::from(store.put_memory(&memory, &decided, stamp)?.is_some());
        }
    }
    Ok(written)
}

/// Measures what is done with all memories.
pub fn run(options: &Options) -> Result<Verdict, Failed> {
    let model = MiniLm::open(&packed(options)?)?;
    let corpus = Corpus::open(options, &model, options.count)?;
    let home = options.home.join("keep");
    if home.exists() {
        std::fs::remove_dir_all(&home)?;
    }
    std::fs::create_dir_all(&home)?;
    let now: Timestamp = "2026-06-01T00:00:00Z".parse()?;
    let (written, build_ms, _) = timed(|| build(options, &corpus, &model, &home, now));
    let written = written?;
    eprintln!("{written} memories written in {:.1} s", build_ms / 1e3);
    let spent = Arc::new(AtomicU64::new(0));
    let clocked = Clocked { model: MiniLm::open(&packed(options)?)?, microseconds: Arc::clone(&spent) };
    let engine = Engine::open(&home, settings(options), now)?.with_embedder(Box::new(clocked));
    while engine.maintain(now)? {}
    let model_ms = || spent.load(Ordering::Relaxed) as f64 / 1e3;

    let mut rows = Vec::new();
    let mut verdict = Verdict::Kept;
    let mut row = |what: &str, ms: f64, limit: f64, note: String| {
        let kept = Verdict::of(ms <= limit);
        verdict = verdict.and(kept);
        rows.push(vec![
            what.to_owned(),
            table::number(ms),
            table::number(limit),
            kept.mark().to_owned(),
            note,
        ]);
    };

    // Words of known passages in sentences of their own: near what is there, and new.
    let (mut curate, mut all) = (Times::new(), Times::new());
    let told = corpus.questions(ONES, 5);
    for (nth, words) in told.iter().enumerate() {
        let text = format!("We noted on day {nth} that {words} holds for build {}", 7_000 + nth);
        let request = CurateRequest { gate: Some(Gate::Normal), ..CurateRequest::new(text) };
        let before = model_ms();
        let (kept, wall, cpu) = timed(|| engine.curate(&request, now));
        kept?;
        let beside = model_ms() - before;
        curate.add(wall - beside, cpu - beside);
        all.add(wall, cpu);
    }
    let p50 = |times: &Times| times.json()["p50_ms"].as_f64().unwrap_or(f64::NAN);
    row("curate, beside the model", p50(&curate), 15.0, format!("with it {}", table::number(p50(&all))));
    while engine.maintain(now)? {}

    let questions = corpus.questions(ONES, 9);
    let clocks = Clocks { as_of: Some(now - SignedDuration::from_hours(24 * 100)), valid_at: None };
    let (mut plain, mut past) = (Times::new(), Times::new());
    for text in &questions {
        for (clocks, times) in [(Clocks::default(), &mut plain), (clocks, &mut past)] {
            let select = Selection { clocks, ..Selection::default() };
            let request = QueryRequest { text: text.clone(), select, ..QueryRequest::default() };
            let before = model_ms();
            let (answer, wall, cpu) = timed(|| engine.query(&request, now));
            answer?;
            let beside = model_ms() - before;
            times.add(wall - beside, cpu - beside);
        }
    }
    row(
        "as-of query, times a plain one",
        p50(&past) / p50(&plain),
        1.5,
        format!("{} and {} ms", table::number(p50(&past)), table::number(p50(&plain))),
    );

    let later = now + SignedDuration::from_hours(24);
    let least = |once: &mut dyn FnMut() -> Result<(usize, Option<u64>), Failed>| -> Result<(f64, usize, f64), Failed> {
        let (mut best, mut turned, mut back) = (f64::INFINITY, 0, f64::INFINITY);
        for run in 0..RUNS {
            let (done, wall, _) = timed(&mut *once);
            let (number, event) = done?;
            best = best.min(wall);
            turned = number;
            if let (Some(event), true) = (event, number > 0 && run + 1 < RUNS) {
                let (undone, wall, _) = timed(|| engine.undo(event, later));
                undone?;
                back = back.min(wall);
            }
        }
        Ok((best, turned, back))
    };
    // As weak as one in a hundred is.
    let mut strengths: Vec<f64> =
        engine.prune(1.0, true, later)?.turned.iter().map(|one| one.strength).collect();
    strengths.sort_unstable_by(f64::total_cmp);
    let threshold = strengths.get(written / 100).copied().unwrap_or(0.05);
    let (ms, pruned, back) = least(&mut || {
        let pruned = engine.prune(threshold, false, later)?;
        Ok((pruned.pruned, pruned.event))
    })?;
    row("prune", ms, 175.0, format!("{pruned} archived; taken back in {} ms", table::number(back)));
    let (ms, swept, back) = least(&mut || {
        let swept = engine.sweep(false, later)?;
        Ok((swept.turned.len(), swept.event))
    })?;
    row("sweep", ms, 1_000.0, format!("{swept} turned; taken back in {} ms", table::number(back)));

    let look = ConsolidateRequest { dry_run: true, ..ConsolidateRequest::default() };
    let mut dry = f64::INFINITY;
    for _ in 0..RUNS {
        let (done, wall, _) = timed(|| engine.consolidate(&look, later));
        done?;
        dry = dry.min(wall);
    }
    let before = model_ms();
    let (done, wall, _) = timed(|| engine.consolidate(&ConsolidateRequest::default(), later));
    let done = done?;
    let beside = model_ms() - before;
    row(
        "consolidate, beside the model",
        wall - beside,
        1_200.0,
        format!(
            "{} of {} into {} patterns; looking alone {} ms, the model {} ms",
            done.merged,
            done.compared,
            done.patterns_created,
            table::number(dry),
            table::number(beside)
        ),
    );
    let (status, ms, _) = timed(|| engine.status());
    let status = status?;
    row("status", ms, 5.0, json!(status.scopes).to_string());
    table::print(&["what", "ms", "at most", "", "note"], &rows);
    Ok(verdict)
}
