//! Builds the cached stores of the scale benchmark through the engine's public methods.
//! Vectors and token codes were computed before, so that no model time is measured.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::sync::Arc;

use bower_core::engine::DocumentInput;
use bower_core::item::{Scope, Visibility};
use bower_core::model::{Embedder, SentenceEncoder};
use serde_json::{Map, Value, json};

use super::place::{LOTS, Place, name, open};
use crate::corpus::{Corpus, Recorded};
use crate::gauge;
use crate::options::{Failed, Options, Verdict, packed};

/// Passages that are passed to the engine at once.
const BATCH: usize = 50_000;
/// Number of exported questions.
const EXPORTED: usize = 1_000;

/// Returns the number of cached real passages, up to 100,000.
pub fn cached(options: &Options) -> Result<usize, Failed> {
    let model = SentenceEncoder::open(&packed(options)?)?;
    Ok(Corpus::open(options, &model, 100_000).map_or(0, |corpus| corpus.real()))
}

/// Version of the layout that the engine writes. It is raised when the layout changes, and kept stores are then built again.
const LAYOUT: u32 = 2;

/// Builds the store and returns the figures of the build; if it exists, returns the figures of its first build.
pub fn run(options: &Options, place: &Place) -> Result<Value, Failed> {
    let model = SentenceEncoder::open(&packed(options)?)?;
    let scheme = model.tokens().unwrap_or_default().to_owned();
    let is_as_now = |built: &Value| {
        built["items"] == options.count && built["model"] == scheme && built["layout"] == LAYOUT
    };
    if let Some(built) = place.built().filter(is_as_now) {
        return Ok(built);
    }
    if place.folder.exists() {
        std::fs::remove_dir_all(&place.folder)?;
    }
    std::fs::create_dir_all(&place.home)?;
    let corpus = Arc::new(Corpus::open(options, &model, options.count)?);
    let questions = corpus.questions(super::warm::QUESTIONS, 0);
    std::fs::write(place.folder.join("questions.json"), serde_json::to_vec(&questions)?)?;
    let recorded = Recorded::new(model, Arc::clone(&corpus));
    let engine = open(options, &place.home)?.with_embedder(Box::new(recorded.clone()));
    let (mut wall_s, mut cpu_s, mut text_bytes) = (0.0, 0.0, 0);
    for first in (0..options.count).step_by(BATCH) {
        let batch = first..options.count.min(first + BATCH);
        let passages: Vec<_> = batch.clone().zip(batch.clone().map(|at| corpus.passage(at))).collect();
        recorded.expect(passages.iter().map(|(at, passage)| (*at, passage)));
        let documents: Vec<DocumentInput> = passages
            .into_iter()
            .map(|(at, passage)| DocumentInput {
                id: name(at),
                text: passage.markdown(),
                metadata: Map::from_iter([("lot".to_owned(), json!(at % LOTS))]),
                ..DocumentInput::default()
            })
            .collect();
        text_bytes += documents.iter().map(|document| document.text.len()).sum::<usize>();
        let (added, wall_ms, cpu_ms) = gauge::timed(|| {
            engine.add_documents(
                &Visibility::everything(),
                documents,
                (Scope::Project, None),
                jiff::Timestamp::now(),
            )
        });
        added?;
        (wall_s, cpu_s) = (wall_s + wall_ms / 1e3, cpu_s + cpu_ms / 1e3);
        eprintln!("  {} passages in {wall_s:.0} s", batch.end);
    }
    let status = engine.status(&Visibility::everything())?;
    // Nearly every passage is one chunk; a few hold a table or a list that is split.
    let (chunks, passages) = (status.total_chunks, options.count as u64);
    if chunks < passages || chunks > passages + passages / 1_000 {
        return Err(format!("{passages} passages became {chunks} chunks").into());
    }
    let memory = gauge::memory();
    drop(engine);
    let disk = gauge::disk(&place.home);
    // Space for vectors: half floats and rows of the store, and codes of the indexes.
    let vectors = tables(&place.home.join("memory.db"))?;
    let bytes = |name: &str| disk.get(name).and_then(Value::as_u64).unwrap_or(0);
    let without_text =
        vectors["vectors"].as_u64().unwrap_or(0) + bytes("vectors_bytes") + bytes("tokens_bytes");
    let built = json!({
        "items": options.count,
        "real": corpus.real(),
        "made": options.count - corpus.real(),
        "model": scheme,
        "layout": LAYOUT,
        "given_to_the_model": recorded.unknown(),
        "vector_tier": status.vector_index_tier,
        "load_s": gauge::round(wall_s),
        "load_cpu_s": gauge::round(cpu_s),
        "passages_a_second": (options.count as f64 / wall_s).round(),
        "peak_bytes": memory["peak_bytes"],
        "text_bytes": text_bytes,
        "disk": disk,
        "disk_without_text": without_text,
        "store_tables": vectors,
    });
    std::fs::write(place.folder.join("built.json"), serde_json::to_vec_pretty(&built)?)?;
    Ok(built)
}

/// Writes the input folder of `tools/peers` into `options.out`: the same passages, vectors and questions.
pub fn export(options: &Options) -> Result<Verdict, Failed> {
    let model = SentenceEncoder::open(&packed(options)?)?;
    let corpus = Corpus::open(options, &model, options.count)?;
    std::fs::create_dir_all(&options.out)?;
    let create = |name: &str| File::create(options.out.join(name)).map(BufWriter::new);
    let (mut lines, mut vectors) = (create("passages.jsonl")?, create("vectors.f32")?);
    for at in 0..options.count {
        let passage = corpus.passage(at);
        let line = json!({ "_id": name(at), "title": passage.title, "text": passage.text });
        writeln!(lines, "{line}")?;
        write_vector(&mut vectors, &corpus.output(at).vector)?;
    }
    lines.flush()?;
    vectors.flush()?;
    let (mut lines, mut vectors) = (create("queries.jsonl")?, create("queries.f32")?);
    for question in corpus.questions(EXPORTED, 0) {
        writeln!(lines, "{}", json!({ "text": question }))?;
        write_vector(&mut vectors, &model.embed_question(&question)?.vector)?;
    }
    lines.flush()?;
    vectors.flush()?;
    println!(
        "{} passages ({} real) and {EXPORTED} questions in {}",
        options.count,
        corpus.real(),
        options.out.display()
    );
    Ok(Verdict::Kept)
}

/// Writes a vector scaled to unit length, as floats: half floats deviate by up to 2^-11.
fn write_vector(to: &mut impl Write, vector: &[f32]) -> std::io::Result<()> {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    vector.iter().try_for_each(|value| to.write_all(&(value / length).to_le_bytes()))
}

/// Converts the figures of one size to the format of `tools/peers/README.md`.
pub fn as_peer(whole: &Value, figures: &Value) -> Value {
    let build = &figures["build"];
    let disk: u64 =
        build["disk"].as_object().into_iter().flatten().filter_map(|(_, bytes)| bytes.as_u64()).sum();
    let cold = &figures["processes"]["query, cached text"];
    let warm = |step: &str| {
        let found = &figures[step];
        if found["hybrid"].is_null() {
            return Value::Null;
        }
        // Recall is computed once: later answers have the same bytes.
        let recall = |name: &str| figures["warm"][name].clone();
        let one = |times: &Value, recall: Value| {
            json!([{
                "setting": {}, "recall": recall, "p50_ms": times["p50_ms"], "p95_ms": times["p95_ms"],
                "p99_ms": times["p99_ms"], "cpu_ms": times["cpu_ms"], "queries": times["count"], "rounds": 1,
            }])
        };
        let mut hybrid = found["hybrid"].clone();
        for name in ["p50_ms", "p95_ms", "p99_ms"] {
            let rounds = found["rounds"].as_array().into_iter().flatten();
            let least = rounds.filter_map(|round| round[name].as_f64()).fold(f64::INFINITY, f64::min);
            hybrid[name] = json!(least);
        }
        json!({
            "open_ms": found["open_ms"],
            "peak_rss_bytes": found["memory"]["rss_bytes"],
            "failed": {},
            "text": one(&found["text_alone"], Value::Null),
            "vector": one(&found["vector_alone"], recall("recall")),
            "filtered": one(&found["filtered"]["vector"], recall("filtered_recall")),
            "hybrid": one(&hybrid, recall("recall")),
        })
    };
    json!({
        "peer": "bowerbird",
        "title": "Bowerbird",
        "error": null,
        "items": figures["items"],
        "versions": { "bower": whole["bower"] },
        "settings": {},
        "machine": whole["machine"],
        "load_average": whole["load_average"],
        "build": {
            "load_s": build["load_s"], "load_cpu_s": build["load_cpu_s"], "build_s": 0, "build_cpu_s": 0,
            "peak_rss_bytes": build["peak_bytes"], "disk_bytes": disk,
        },
        "cold": {
            "kind": "hybrid", "wall_ms": cold["min_ms"], "wall_p50_ms": cold["p50_ms"], "runs": cold["count"],
            "answer_ms": null, "cpu_ms": cold["cpu_ms"], "peak_rss_bytes": cold["peak_bytes"], "floor_ms": 0,
        },
        "warm": { "one": warm("one"), "all": warm("warm") },
    })
}

/// Returns the bytes of each table and index of a store, counted in pages.
fn tables(file: &std::path::Path) -> Result<Value, Failed> {
    let store = rusqlite::Connection::open_with_flags(file, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let mut query =
        store.prepare("SELECT name, pgsize FROM dbstat WHERE aggregate = TRUE ORDER BY pgsize DESC")?;
    let mut tables = serde_json::Map::new();
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        tables.insert(row.get(0)?, row.get::<_, i64>(1)?.into());
    }
    Ok(tables.into())
}
