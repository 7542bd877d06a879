//! Measures questions while another process adds items and compacts the indexes.
//!
//! It runs on a copy of the store, because added items stay in it. Questions arrive evenly, whether or not the previous one is
//! answered.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bower_core::engine::DocumentInput;
use bower_core::item::{Scope, Visibility};
use bower_core::model::SentenceEncoder;
use serde_json::{Value, json};

use super::place::{Place, ask, name, open, paced, tell};
use crate::corpus::{Corpus, Recorded};
use crate::options::{Failed, Options, packed};

/// Items that are added per second, and their number of transactions.
const ITEMS: usize = 1_000;
const BATCHES: usize = 10;
/// Seconds of the measurement, and seconds before it in which nothing is added.
const SECONDS: u32 = 20;
const BEFORE: u32 = 6;
/// Questions per second.
const RATE: u32 = 25;
/// Largest store that is copied, in items.
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
    let engine = open(options, &home)?;
    let questions = place.questions()?;
    for question in &questions {
        engine.query(&Visibility::everything(), &ask(question), jiff::Timestamp::now())?;
    }
    engine.maintain(jiff::Timestamp::now())?;
    let (alone, _) = paced(&engine, &questions, RATE, BEFORE)?;
    let before = engine.status(&Visibility::everything())?.total_chunks;
    let mut writer = Command::new(std::env::current_exe()?);
    let writer = tell(&mut writer, "scale-stream", options.count, options);
    let mut writer = writer.stdout(Stdio::piped()).spawn()?;
    let mut line = String::new();
    if let Some(out) = writer.stdout.take() {
        BufReader::new(out).read_line(&mut line)?;
    }
    if line.trim() != READY {
        writer.wait()?;
        return Err("the writer did not begin".into());
    }
    let (among, delta) = paced(&engine, &questions, RATE, SECONDS)?;
    let added = engine.status(&Visibility::everything())?.total_chunks - before;
    writer.kill()?;
    writer.wait()?;
    let result = json!({
        "alone": alone.json(),
        "while_written": among.json(),
        "items_a_second": (added as f64 / f64::from(SECONDS)).round(),
        "longest_tail": delta,
        "index_files": files(&home.join("index"))?,
    });
    drop(engine);
    std::fs::remove_dir_all(&home)?;
    Ok(result)
}

const READY: &str = "ready";

/// Adds items until it is killed, and compacts once a second.
pub fn stream(options: &Options, place: &Place) -> Result<Value, Failed> {
    let model = SentenceEncoder::open(&packed(options)?)?;
    let last = options.count + ITEMS * (SECONDS as usize + 5);
    let corpus = Arc::new(Corpus::open(options, &model, last)?);
    let recorded = Recorded::new(model, Arc::clone(&corpus));
    let engine = open(options, &home(place))?.with_embedder(Box::new(recorded.clone()));
    println!("{READY}");
    let start = Instant::now();
    for (nth, first) in (options.count..last).step_by(ITEMS / BATCHES).enumerate() {
        let due = start + Duration::from_secs(1) * nth as u32 / BATCHES as u32;
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        let passages: Vec<_> = (first..first + ITEMS / BATCHES).map(|at| (at, corpus.passage(at))).collect();
        recorded.expect(passages.iter().map(|(at, passage)| (*at, passage)));
        let documents = passages.into_iter().map(|(at, passage)| DocumentInput {
            id: name(at),
            text: passage.markdown(),
            ..DocumentInput::default()
        });
        engine.add_documents(
            &Visibility::everything(),
            documents.collect(),
            (Scope::Project, None),
            jiff::Timestamp::now(),
        )?;
        if nth % BATCHES == BATCHES - 1 {
            engine.maintain(jiff::Timestamp::now())?;
        }
    }
    Ok(Value::Null)
}

/// Copies a folder with its files and folders. Links are left out: they lead to models, which the settings name.
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

/// Counts the files below a folder. Files of old generations are deleted once no process has them open.
fn files(folder: &Path) -> Result<usize, Failed> {
    let mut count = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        count += if entry.file_type()?.is_dir() { files(&entry.path())? } else { 1 };
    }
    Ok(count)
}
