//! Implements `bower bench`: measures a store with its own items. Nothing is written.

use bower_core::item::Visibility;
use bower_core::request::{RecallReport, StoredPart};
use serde::Serialize;
use std::time::Instant;

use super::{Session, local, now};
use crate::cli::{BenchArgs, BenchKind};
use crate::failure::{Failure, Result};
use crate::http::resident_bytes;
use crate::render;
use crate::service::{QueryBody, Service};

/// Results of a search whose recall is measured.
const NEAREST: usize = 10;

/// Times of questions.
#[derive(Serialize)]
pub struct Latency {
    /// Items of the store.
    pub items: u64,
    /// The model that answers.
    pub model: String,
    /// Questions: the first sentences of so many items.
    pub questions: usize,
    /// The times by what was measured.
    pub times: Vec<Times>,
}

/// Times of one kind, in milliseconds.
#[derive(Serialize)]
pub struct Times {
    /// `cold`: the store is opened for each question. `first`: in an open store. `again`: the same questions a second time.
    pub kind: &'static str,
    /// Number of questions.
    pub count: usize,
    /// The median.
    pub p50_ms: f64,
    /// 95 of 100 take at most this.
    pub p95_ms: f64,
    /// 99 of 100 take at most this.
    pub p99_ms: f64,
    /// The longest.
    pub max_ms: f64,
}

/// Recall of the vector search.
#[derive(Serialize)]
pub struct Recall {
    /// What was measured; absent while there is no vector index, and everything is compared exactly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<RecallReport>,
}

/// Files and memory.
#[derive(Serialize)]
pub struct Resources {
    /// Items of the store.
    pub items: u64,
    /// The store and its indexes, the largest first.
    pub parts: Vec<StoredPart>,
    /// Bytes of all parts.
    pub bytes: u64,
    /// Resident memory of this process before the store was opened; absent where the system does not report it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before_bytes: Option<u64>,
    /// Resident memory after the questions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after_bytes: Option<u64>,
    /// Questions that were asked meanwhile.
    pub questions: usize,
}

/// Runs a measurement.
pub fn run(arguments: &BenchArgs, session: &Session) -> Result<()> {
    let most = arguments.samples as usize;
    match arguments.what {
        BenchKind::Latency => {
            let latency = latency(most, session)?;
            session.out.say(&latency, |look| render::bench::latency(&latency, look))
        }
        BenchKind::Recall => {
            let service = session.service()?;
            let index = service.engine().vector_recall(&Visibility::everything(), most, NEAREST)?;
            let recall = Recall { index };
            session.out.say(&recall, |look| render::bench::recall(&recall, look))
        }
        BenchKind::Resources => {
            let resources = resources(most, session)?;
            session.out.say(&resources, |look| render::bench::resources(&resources, look))
        }
    }
}

fn latency(most: usize, session: &Session) -> Result<Latency> {
    let service = session.service()?;
    let questions = questions(&service, most)?;
    let cold = questions.iter().map(|question| {
        let start = Instant::now();
        ask(&session.service()?, question)?;
        Ok(milliseconds(start))
    });
    let cold = Times::of("cold", cold.collect::<Result<_>>()?);
    let pass = |kind| {
        let times = questions.iter().map(|question| ask(&service, question));
        Ok::<_, Failure>(Times::of(kind, times.collect::<Result<_>>()?))
    };
    // The files of the index are opened by the first question of all, which no figure is about.
    ask(&service, "warm up")?;
    let times = vec![cold, pass("first")?, pass("again")?];
    let report = service.report()?;
    Ok(Latency {
        items: report.total_memories + report.total_chunks,
        model: report.model.name,
        questions: questions.len(),
        times,
    })
}

fn resources(most: usize, session: &Session) -> Result<Resources> {
    let before_bytes = resident_bytes();
    let service = session.service()?;
    let questions = questions(&service, most)?;
    for question in &questions {
        ask(&service, question)?;
    }
    let after_bytes = resident_bytes();
    let parts = service.engine().stored_parts(&Visibility::everything())?;
    let report = service.report()?;
    Ok(Resources {
        items: report.total_memories + report.total_chunks,
        bytes: parts.iter().map(|part| part.bytes).sum(),
        parts,
        before_bytes,
        after_bytes,
        questions: questions.len(),
    })
}

fn questions(service: &Service, most: usize) -> Result<Vec<String>> {
    let questions = service.engine().sample_questions(&Visibility::everything(), most)?;
    if questions.is_empty() {
        return Err(Failure::usage("the store is empty", "bower index FOLDER, or bower curate TEXT, first"));
    }
    Ok(questions)
}

/// Asks a question, and returns its milliseconds. What an answer leaves to be written is dropped with the engine.
fn ask(service: &Service, question: &str) -> Result<f64> {
    let body = QueryBody { query: question.to_owned(), ..QueryBody::default() };
    let start = Instant::now();
    service.query(&body, &local(), now())?;
    Ok(milliseconds(start))
}

fn milliseconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1_000.0
}

impl Times {
    fn of(kind: &'static str, mut times: Vec<f64>) -> Self {
        times.sort_unstable_by(f64::total_cmp);
        // The nearest rank: the least time that so many per cent of the questions do not exceed.
        let at = |percent: usize| {
            let rank = (times.len() * percent).div_ceil(100).max(1);
            times.get(rank - 1).copied().unwrap_or(0.0)
        };
        Self { kind, count: times.len(), p50_ms: at(50), p95_ms: at(95), p99_ms: at(99), max_ms: at(100) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_times_that_were_measured() {
        let times = Times::of("cold", (1..=200).rev().map(f64::from).collect());
        // By hand: ranks 100, 190, 198 and 200 of 1..=200.
        assert_eq!((times.p50_ms, times.p95_ms, times.p99_ms, times.max_ms), (100.0, 190.0, 198.0, 200.0));
        let one = Times::of("cold", vec![7.0]);
        assert_eq!((one.count, one.p50_ms, one.p99_ms), (1, 7.0, 7.0));
    }
}
