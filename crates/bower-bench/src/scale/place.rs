//! Defines a store of the cache: its folder, the names of its passages, how it is opened and queried.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use bower_core::config::Settings;
use bower_core::engine::Engine;
use bower_core::item::Visibility;
use bower_core::request::QueryRequest;
use serde_json::Value;

use crate::gauge::{self, Times};
use crate::options::{Failed, Options};

/// Number of metadata values for filtered questions: passage `at` is in lot `at % LOTS`, so a lot holds 1 % of the passages.
pub const LOTS: usize = 100;
pub const LOT: usize = 7;
/// Collection of a measurement's own memories, which are forgotten at its end.
pub const SCRATCH: &str = "bench";

/// A store of the cache.
pub struct Place {
    pub folder: PathBuf,
    pub home: PathBuf,
}

impl Place {
    pub fn of(options: &Options) -> Self {
        let folder = options.cache.join("stores").join(options.count.to_string());
        Self { home: folder.join("home"), folder }
    }

    /// Returns the figures of a store that was built completely.
    pub fn built(&self) -> Option<Value> {
        serde_json::from_slice(&std::fs::read(self.folder.join("built.json")).ok()?).ok()
    }

    /// Returns the number of its real passages.
    pub fn real(&self) -> Result<usize, Failed> {
        let built = self.built().ok_or("the store is not whole")?;
        Ok(built["real"].as_u64().ok_or("the store does not say how much of it is real")? as usize)
    }

    pub fn questions(&self) -> Result<Vec<String>, Failed> {
        Ok(serde_json::from_slice(&std::fs::read(self.folder.join("questions.json"))?)?)
    }
}

/// Returns the name of a passage in a store; [`number`] is the inverse.
pub fn name(at: usize) -> String {
    format!("{:03}/{at:07}.md", at / 1_000)
}

pub fn number(name: &str) -> Option<usize> {
    name.rsplit('/').next()?.strip_suffix(".md")?.parse().ok()
}

/// Returns questions that no run asked before: recombined known ones, different for each process and call.
pub fn fresh_questions(questions: &[String], count: usize) -> impl Iterator<Item = String> + '_ {
    let salt = jiff::Timestamp::now().as_microsecond().cast_unsigned();
    let mut dice = crate::tokens::Dice(salt ^ u64::from(std::process::id()) << 40);
    (0..count).map(move |_| {
        let mut pick = || &questions[dice.next() as usize % questions.len()];
        let (one, two) = (pick(), pick());
        let (one, two) = (one.split(' ').take(5), two.split(' ').skip(5).take(4));
        one.chain(two).collect::<Vec<_>>().join(" ")
    })
}

/// Opens the engine over the store in `home`, with the models of the options.
pub fn open(options: &Options, home: &Path) -> Result<Engine, Failed> {
    let settings = Settings { models_folder: Some(options.models.clone()), ..Settings::default() };
    Ok(Engine::open(home, settings, jiff::Timestamp::now())?)
}

pub fn ask(question: &str) -> QueryRequest {
    QueryRequest { text: question.to_owned(), ..QueryRequest::default() }
}

/// Measures hybrid questions that arrive evenly for some seconds, whether or not the previous one is answered. Also returns the
/// longest delta that one of them searched.
pub fn paced(
    engine: &Engine,
    questions: &[String],
    rate: u32,
    seconds: u32,
) -> Result<(Times, usize), Failed> {
    let (mut times, mut delta) = (Times::new(), 0);
    let start = Instant::now();
    for (at, question) in (0..rate * seconds).zip(questions.iter().cycle()) {
        let due = start + Duration::from_secs(1) * at / rate;
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        let request = ask(question);
        let cpu = gauge::process_cpu_s();
        let answer = engine.query(&Visibility::everything(), &request, jiff::Timestamp::now())?;
        times.add(due.elapsed().as_secs_f64() * 1e3, (gauge::process_cpu_s() - cpu) * 1e3);
        delta = delta.max(answer.effort.delta);
    }
    Ok((times, delta))
}

/// Adds a step and the options that it may need to the command line of a process of this program.
pub fn tell<'a>(command: &'a mut Command, step: &str, size: usize, options: &Options) -> &'a mut Command {
    command.arg(step).args(["--count", &size.to_string(), "--runs", &options.runs.to_string()]);
    for passages in &options.passages {
        command.arg("--passages").arg(passages);
    }
    for (flag, path) in [
        ("--bower", &options.bower),
        ("--models", &options.models),
        ("--cache", &options.cache),
        ("--home", &options.home),
    ] {
        command.arg(flag).arg(path);
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_which_passage_it_is() {
        for at in [0, 999, 1_000, 999_999] {
            assert_eq!(number(&name(at)), Some(at));
        }
        assert_eq!(number("notes.md"), None);
    }
}
