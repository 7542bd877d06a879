//! Measures indexing of real passages through the binary: total time, chunks per second, the model's share.
//! It starts with an empty store, and leaves the filled one for `cold`.

use std::path::PathBuf;
use std::time::Instant;

use serde_json::Value;
use wait4::Wait4;

use crate::options::{Failed, Options, Verdict};
use crate::{passages, table};

/// Least share of the CPU time that the model must take (the project's own limit).
const MODEL_SHARE: f64 = 0.90;

/// The folder of the passages, and the store built from them.
pub struct Store {
    pub passages: PathBuf,
    pub home: PathBuf,
}

impl Store {
    fn of(options: &Options) -> Self {
        Self { passages: options.home.join("passages"), home: options.home.join("home") }
    }

    /// Returns a store with as many passages as the options ask for. If it does not exist, it is built and the build is
    /// measured.
    pub fn filled(options: &Options) -> Result<Self, Failed> {
        let store = Self::of(options);
        if store.chunks(options) < options.count as u64 {
            run(options)?;
            println!();
        }
        Ok(store)
    }

    /// Returns the number of chunks in the store; 0 if there is none.
    pub fn chunks(&self, options: &Options) -> u64 {
        let answer = self
            .home
            .exists()
            .then(|| options.command(&self.home).args(["status", "--format", "json"]).output());
        let status =
            answer.and_then(Result::ok).and_then(|out| serde_json::from_slice::<Value>(&out.stdout).ok());
        status.and_then(|status| status["data"]["total_chunks"].as_u64()).unwrap_or(0)
    }
}

pub fn run(options: &Options) -> Result<Verdict, Failed> {
    let store = Store::of(options);
    let characters = passages::write(options, &store.passages)?;
    if store.home.exists() {
        std::fs::remove_dir_all(&store.home)?;
    }
    std::fs::create_dir_all(&store.home)?;
    println!("{} passages, {:.1} MB of text", options.count, characters as f64 / 1e6);
    // Written to a file, because a full pipe would block the measured program.
    let out = options.home.join("index.json");
    let start = Instant::now();
    let child = options
        .command(&store.home)
        .args(["index", "--format", "json"])
        .arg(&store.passages)
        .stdout(std::fs::File::create(&out)?)
        .stderr(std::process::Stdio::null())
        .spawn()?;
    let used = child.wait4()?;
    let wall_s = start.elapsed().as_secs_f64();
    let answer: Value = serde_json::from_slice(&std::fs::read(&out)?)?;
    if !used.status.success() {
        return Err(format!("bower index failed: {}", answer["data"]["error"]).into());
    }
    let data = &answer["data"];
    let chunks = data["chunks_added"].as_u64().unwrap_or(0);
    let share = data["model_share"].as_f64().unwrap_or(0.0);
    let cpu_s = (used.rusage.utime + used.rusage.stime).as_secs_f64();
    let verdict = Verdict::of(share >= MODEL_SHARE);
    table::print(
        &["figure", "value", "limit", ""],
        &[
            row("chunks", &chunks.to_string()),
            row("wall time", &format!("{wall_s:.1} s")),
            row("CPU time", &format!("{cpu_s:.1} s")),
            row("chunks a second", &format!("{:.0}", chunks as f64 / wall_s)),
            row("peak memory", &format!("{:.0} MB", used.rusage.maxrss as f64 / 1e6)),
            vec![
                "share of the model".into(),
                format!("{:.1} %", share * 100.0),
                format!("≥ {:.0} %", MODEL_SHARE * 100.0),
                verdict.mark().into(),
            ],
        ],
    );
    for degraded in data["degraded"].as_array().into_iter().flatten() {
        println!("degraded: {} ({})", degraded["channel"], degraded["reason"]);
    }
    Ok(verdict)
}

fn row(what: &str, value: &str) -> Vec<String> {
    vec![what.into(), value.into(), String::new(), String::new()]
}
