//! Questions while another process adds items and folds: what whoever asks notices of it.
//!
//! On a copy of the store: what is added stays in it. Questions arrive evenly, whether the one before is answered or not.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bower_core::config::Settings;
use bower_core::embed::MiniLm;
use bower_core::engine::{DocumentInput, Engine};
use bower_core::request::QueryRequest;
use serde_json::{Value, json};

use super::Place;
use crate::corpus::{Corpus, Recorded};
use crate::gauge::{self, Times};
use crate::{Failed, Options, packed};

/// Items that are added in a second, in so many transactions.
const ITEMS: usize = 1_000;
const BATCHES: usize = 10;
/// For how long, and for how long nothing is added before.
const SECONDS: usize = 20;
const BEFORE: usize = 6;
/// Questions a second.
const RATE: usize = 25;
/// A larger store is not copied.
const MOST: usize = 200_000;

fn home(place: &Place) -> PathBuf {
    place.folder.join("folding")
}

pub fn run(options: &Options, place: &Place) -> Result<Value, Failed> {
    if options.count > MOST {
        return Ok(Value::Null);
    }
    let home = home(place);
    if home.exists() {
        std::fs::remove_dir_all(&home)?;
    }
    copy(&place.home, &home)?;
    let settings = Settings { models_folder: Some(options.models.clone()), ..Settings::default() };
    let engine = Engine::open(&home, settings, jiff::Timestamp::now())?;
    let questions = place.questions()?;
    for question in &questions {
        engine.query(&ask(question), jiff::Timestamp::now())?;
    }
    engine.maintain(jiff::Timestamp::now())?;
    let (alone, _) = paced(&engine, &questions, BEFORE)?;
    let before = engine.status()?.total_chunks;
    let mut writer = Command::new(std::env::current_exe()?);
    writer.arg("scale-stream").args(["--count", &options.count.to_string()]);
    for passages in &options.passages {
        writer.arg("--passages").arg(passages);
    }
    writer.arg("--cache").arg(&options.cache).arg("--models").arg(&options.models).stdout(Stdio::piped());
    let mut writer = writer.spawn()?;
    let mut line = String::new();
    if let Some(out) = writer.stdout.take() {
        BufReader::new(out).read_line(&mut line)?;
    }
    if line.trim() != READY {
        writer.wait()?;
        return Err("the writer did not begin".into());
    }
    let (among, tail) = paced(&engine, &questions, SECONDS)?;
    let added = engine.status()?.total_chunks - before;
    writer.kill()?;
    writer.wait()?;
    let result = json!({
        "alone": alone.json(),
        "while_written": among.json(),
        "items_a_second": (added as f64 / SECONDS as f64).round(),
        "longest_tail": tail,
        "index_files": files(&home.join("index"))?,
    });
    drop(engine);
    std::fs::remove_dir_all(&home)?;
    Ok(result)
}

const READY: &str = "ready";

/// Adds items until it is killed, and folds once a second.
pub fn stream(options: &Options, place: &Place) -> Result<Value, Failed> {
    let model = MiniLm::open(&packed(options)?)?;
    let last = options.count + ITEMS * (SECONDS + 5);
    let corpus = Arc::new(Corpus::open(options, &model, last)?);
    let recorded = Recorded::new(model, Arc::clone(&corpus));
    let settings = Settings { models_folder: Some(options.models.clone()), ..Settings::default() };
    let engine = Engine::open(&home(place), settings, jiff::Timestamp::now())?
        .with_embedder(Box::new(recorded.clone()));
    println!("{READY}");
    let start = Instant::now();
    for (nth, first) in (options.count..last).step_by(ITEMS / BATCHES).enumerate() {
        let due = start + Duration::from_secs(1) * nth as u32 / BATCHES as u32;
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        let passages: Vec<_> = (first..first + ITEMS / BATCHES).map(|at| (at, corpus.passage(at))).collect();
        recorded.expect(passages.iter().map(|(at, passage)| (*at, passage)));
        let documents = passages.into_iter().map(|(at, passage)| DocumentInput {
            id: super::name(at),
            text: passage.markdown(),
            ..DocumentInput::default()
        });
        engine.add_documents(documents.collect(), jiff::Timestamp::now())?;
        if nth % BATCHES == BATCHES - 1 {
            engine.maintain(jiff::Timestamp::now())?;
        }
    }
    Ok(Value::Null)
}

fn ask(question: &str) -> QueryRequest {
    QueryRequest { text: question.to_owned(), ..QueryRequest::default() }
}

/// The times of questions that arrive evenly for some seconds, and the longest tail that one of them searched.
fn paced(engine: &Engine, questions: &[String], seconds: usize) -> Result<(Times, usize), Failed> {
    let (mut times, mut tail) = (Times::new(), 0);
    let start = Instant::now();
    for (at, question) in (0..(RATE * seconds) as u32).zip(questions.iter().cycle()) {
        let due = start + Duration::from_secs(1) * at / RATE as u32;
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        let cpu = gauge::process_cpu_s();
        let answer = engine.query(&ask(question), jiff::Timestamp::now())?;
        times.add(due.elapsed().as_secs_f64() * 1e3, (gauge::process_cpu_s() - cpu) * 1e3);
        tail = tail.max(answer.effort.tail);
    }
    Ok((times, tail))
}

/// Copies a folder with its files and folders; links lead to models, which the settings name.
fn copy(from: &Path, to: &Path) -> Result<(), Failed> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy(&entry.path(), &target)?;
        } else if kind.is_file() {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// How many files are below a folder: those of old generations go when nobody has them open.
fn files(folder: &Path) -> Result<usize, Failed> {
    let mut count = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        count += if entry.file_type()?.is_dir() { files(&entry.path())? } else { 1 };
    }
    Ok(count)
}
