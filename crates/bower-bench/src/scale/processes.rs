//! Measures whole processes over one store: wall time from spawn to exit, CPU time, peak memory.
//! The page cache is warm. Commands alternate, so that a disturbance on the machine affects all of them.

use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use super::place::{Place, SCRATCH, fresh_questions, tell};
use super::writes;
use crate::cold::{Measured, measure, ms};
use crate::gauge::Times;
use crate::options::{Failed, Options};

/// Uncounted runs at the start.
const WARM_UP: usize = 3;

/// Text of a command: none, a question whose vector is cached, or a new text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Text {
    None,
    Cached,
    New,
}

const JOBS: &[(&str, &[&str], Text)] = &[
    ("query, new text", &["query"], Text::New),
    ("query, cached text", &["query"], Text::Cached),
    ("query --fast", &["query", "--fast"], Text::New),
    ("curate", &["curate", "--collection", SCRATCH], Text::New),
    ("status", &["status"], Text::None),
    ("version", &["version"], Text::None),
];

pub fn run(options: &Options, place: &Place) -> Result<Value, Failed> {
    let known = place.questions()?;
    let mut new = fresh_questions(&known, JOBS.len() * (options.runs + WARM_UP));
    let mut found: Vec<(Times, f64)> = JOBS.iter().map(|_| (Times::new(), 0.0)).collect();
    for round in 0..options.runs + WARM_UP {
        for ((_, before, text), (times, peak)) in JOBS.iter().zip(&mut found) {
            let text = match text {
                Text::None => None,
                Text::Cached => Some(known[round % known.len()].clone()),
                Text::New => new.next(),
            };
            let one = measure(options, &place.home, before, text.as_deref())?;
            if round >= WARM_UP {
                times.add(ms(one.wall), ms(one.cpu));
                *peak = peak.max(one.peak_mb);
            }
        }
    }
    let mut figures = json!({});
    for ((name, ..), (times, peak)) in JOBS.iter().zip(found) {
        let mut one = times.json();
        one["peak_bytes"] = json!((peak * 1e6) as u64);
        figures[*name] = one;
    }
    figures["query, after a crash"] = after_a_crash(options, place, &known)?;
    writes::forget_scratch(options, place)?;
    Ok(figures)
}

/// Kills a writer during its work, and measures the first question of a new process.
fn after_a_crash(options: &Options, place: &Place, known: &[String]) -> Result<Value, Failed> {
    let mut times = Times::new();
    let mut peak = 0f64;
    for question in fresh_questions(known, 5) {
        let mut writer = Command::new(std::env::current_exe()?);
        let mut writer = tell(&mut writer, "scale-writer", options.count, options).spawn()?;
        std::thread::sleep(Duration::from_millis(700));
        writer.kill()?;
        writer.wait()?;
        let Measured { wall, cpu, peak_mb } =
            measure(options, &place.home, &["query"], Some(question.as_str()))?;
        times.add(ms(wall), ms(cpu));
        peak = peak.max(peak_mb);
    }
    let mut one = times.json();
    one["peak_bytes"] = json!((peak * 1e6) as u64);
    Ok(one)
}
