//! Measures questions in one long-lived process: time of each channel and of ranking, memory, and recall.
//! Recall is that of the vector channel against exact search; memory is read afterwards. The loop is closed, one question at a
//! time, unless a rate is named. At a rate, a question's time begins when it was due.

use std::time::Instant;

use bower_core::engine::Engine;
use bower_core::engine::evaluation::{Depth, RankRequest};
use bower_core::filter::Filter;
use bower_core::item::{Channel, Visibility};
use bower_core::parts::vector::{floats, halves};
use bower_core::request::{QueryRequest, Selection};
use serde_json::{Value, json};

use super::place::{self, LOT, LOTS, Place, ask, fresh_questions, number, open};
use crate::corpus::Corpus;
use crate::gauge::{self, Times};
use crate::options::{Failed, Options, packed};

/// Questions per round.
pub const QUESTIONS: usize = 1_000;
const ROUNDS: usize = 3;
/// Parts of a question's time.
const PARTS: [&str; 4] = ["text", "vector", "ranking", "rest"];
/// Questions for the vector channel alone and with a filter.
const FEWER: usize = 300;
/// Number of questions whose answers are compared with exact search.
const JUDGED: usize = 100;
/// Questions per second, and seconds at that rate.
const RATE: u32 = 50;
const SECONDS: u32 = 10;
/// Rows that the text channel is asked for.
const WORDS: usize = 200;
/// Tolerance around the tenth best score: float32 sums in another order differ by less.
const SAME: f32 = 1e-5;

pub fn run(options: &Options, place: &Place, judged: bool) -> Result<Value, Failed> {
    let now = jiff::Timestamp::now;
    let start = Instant::now();
    let engine = open(options, &place.home)?;
    let open_ms = start.elapsed().as_secs_f64() * 1e3;
    let questions = place.questions()?;

    // These texts are new to the store, so the model computes their vectors.
    let mut new = Times::new();
    for question in fresh_questions(&questions, 200) {
        new.take(|| engine.query(&Visibility::everything(), &ask(&question), now()))?;
    }
    for question in &questions {
        engine.query(&Visibility::everything(), &ask(question), now())?;
    }
    engine.maintain(now())?;

    let Hybrid { whole, parts, rounds, least, memory } = hybrid(&engine, &questions)?;
    let [text, vector, rank, rest] = parts;
    let (paced, _) = place::paced(&engine, &questions, RATE, SECONDS)?;
    let mut paced = paced.json();
    paced["rate_a_second"] = RATE.into();

    let all = Selection::default();
    let lot = Selection {
        filter: Some(Filter::parse(&json!({ "lot": LOT }).to_string())?),
        ..Selection::default()
    };
    let alone = alone(&engine, &questions, &all, Channel::Text)?;
    let filtered = alone_filtered(&engine, &questions, &lot)?;
    let words = alone_words(&engine, &questions, &all)?;
    let mut result = json!({
        "best_of_rounds": best_of_rounds(&least),
        "open_ms": gauge::round(open_ms),
        "new_text": new.json(),
        "hybrid": whole.json(),
        "rounds": rounds,
        "shares": {
            "text": text.json(), "vector": vector.json(), "ranking": rank.json(), "rest": rest.json(),
        },
        "paced": paced,
        "vector_alone": alone,
        "text_alone": words,
        "filtered": filtered,
        "memory": memory,
    });
    if judged {
        for (name, select) in [("recall", &all), ("filtered_recall", &lot)] {
            result[name] = json!(judge(options, place, &engine, &questions, select)?);
        }
    }
    Ok(result)
}

/// Times of whole questions in the text and vector channels.
struct Hybrid {
    whole: Times,
    /// One for each of [`PARTS`], in their order.
    parts: [Times; PARTS.len()],
    rounds: Vec<Value>,
    /// Least time of all rounds for each question, by part and in total. It reduces the influence of other load on the machine.
    least: Vec<[f64; PARTS.len() + 1]>,
    /// Memory after the first round.
    memory: Value,
}

/// Asks every question in each of the rounds.
fn hybrid(engine: &Engine, questions: &[String]) -> Result<Hybrid, Failed> {
    let mut found = Hybrid {
        whole: Times::new(),
        parts: std::array::from_fn(|_| Times::new()),
        rounds: Vec::new(),
        least: vec![[f64::INFINITY; PARTS.len() + 1]; questions.len()],
        memory: Value::Null,
    };
    for _ in 0..ROUNDS {
        let mut round = Times::new();
        for (question, least) in questions.iter().zip(&mut found.least) {
            let request = ask(question);
            let (answer, wall, cpu) =
                gauge::timed(|| engine.query(&Visibility::everything(), &request, jiff::Timestamp::now()));
            let answer = answer?;
            found.whole.add(wall, cpu);
            round.add(wall, cpu);
            if !answer.effort.vector_cached {
                return Err(format!("{question:?} was not in the cache").into());
            }
            let of = |wanted: Channel| {
                let channel = answer.effort.channels.iter().find(|channel| channel.channel == wanted);
                channel.map_or(0.0, |channel| channel.took_ms)
            };
            let (in_text, in_vector) = (of(Channel::Text), of(Channel::Vector));
            let outside = (answer.took_ms - in_text.max(in_vector) - answer.effort.rank_ms).max(0.0);
            let parts = [in_text, in_vector, answer.effort.rank_ms, outside];
            for (times, ms) in found.parts.iter_mut().zip(parts) {
                times.add(ms, 0.0);
            }
            for (least, ms) in least.iter_mut().zip(parts.into_iter().chain([wall])) {
                *least = least.min(ms);
            }
        }
        found.rounds.push(round.json());
        if found.memory.is_null() {
            found.memory = gauge::memory();
        }
    }
    Ok(found)
}

/// Returns the median and the 99th percentile of each part and of the total, over the questions' least times.
fn best_of_rounds(least: &[[f64; PARTS.len() + 1]]) -> Value {
    let names = PARTS.iter().copied().chain(["hybrid"]).enumerate();
    names
        .map(|(at, name)| {
            let mut times = Times::new();
            for question in least {
                times.add(question[at], 0.0);
            }
            let times = times.json();
            (name.to_owned(), json!({ "p50_ms": times["p50_ms"], "p99_ms": times["p99_ms"] }))
        })
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// Measures the vector channel alone by the engine's own figure; it runs on the calling thread. CPU time is that of the whole
/// question without ranking.
fn alone(
    engine: &Engine,
    questions: &[String],
    select: &Selection,
    without: Channel,
) -> Result<Value, Failed> {
    let mut times = Times::new();
    for question in questions.iter().take(FEWER) {
        let request = RankRequest {
            without: Some(without),
            ..RankRequest::new(question, select, jiff::Timestamp::now())
        };
        let cpu = gauge::process_cpu_s();
        let ranking = engine.rank(&Visibility::everything(), &request)?;
        let cpu = (gauge::process_cpu_s() - cpu) * 1e3 - ranking.effort.rank_ms;
        for channel in &ranking.effort.channels {
            if channel.channel == Channel::Vector {
                times.add(channel.took_ms, cpu.max(0.0));
            }
        }
    }
    Ok(times.json())
}

/// Measures hybrid questions that a filter limits to 1 % of the rows.
fn alone_filtered(engine: &Engine, questions: &[String], select: &Selection) -> Result<Value, Failed> {
    let mut times = Times::new();
    for question in questions.iter().take(FEWER) {
        let request = QueryRequest { select: select.clone(), ..ask(question) };
        times.take(|| engine.query(&Visibility::everything(), &request, jiff::Timestamp::now()))?;
    }
    let mut json = json!({ "hybrid": times.json() });
    json["vector"] = alone(engine, questions, select, Channel::Text)?;
    Ok(json)
}

/// Measures the text channel's best 200 by the engine's own figure. CPU time is that of the whole question, ranking included.
fn alone_words(engine: &Engine, questions: &[String], select: &Selection) -> Result<Value, Failed> {
    let mut times = Times::new();
    for question in questions {
        let (fast, depth) = (true, Depth::Rows(WORDS));
        let request =
            RankRequest { fast, depth, ..RankRequest::new(question, select, jiff::Timestamp::now()) };
        let cpu = gauge::thread_cpu_s();
        let ranking = engine.rank(&Visibility::everything(), &request)?;
        let cpu = (gauge::thread_cpu_s() - cpu) * 1e3;
        for channel in &ranking.effort.channels {
            if channel.channel == Channel::Text {
                times.add(channel.took_ms, cpu);
            }
        }
    }
    Ok(times.json())
}

/// Computes Recall@10 of the vector channel at ten hits, against exact search over the vectors that it was given.
fn judge(
    options: &Options,
    place: &Place,
    engine: &Engine,
    questions: &[String],
    select: &Selection,
) -> Result<f64, Failed> {
    use bower_core::model::{Embedder, SentenceEncoder};
    let model = SentenceEncoder::open(&packed(options)?)?;
    let corpus = Corpus::open(options, &model, place.real()?)?;
    let (mut asked, mut found) = (Vec::new(), Vec::new());
    for question in questions.iter().take(JUDGED) {
        asked.push(model.embed_question(question)?.vector);
        let request = RankRequest {
            without: Some(Channel::Text),
            depth: Depth::Hits(10),
            ..RankRequest::new(question, select, jiff::Timestamp::now())
        };
        let ranking = engine.rank(&Visibility::everything(), &request)?;
        let best = ranking.of(Channel::Vector);
        found.push(engine.sources(&Visibility::everything(), &best[..best.len().min(10)])?);
    }
    let step = if select.filter.is_some() { LOTS } else { 1 };
    let first = if select.filter.is_some() { LOT } else { 0 };
    let rows: Vec<usize> = (first..options.count).step_by(step).collect();
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut scores = vec![Vec::new(); asked.len()];
    std::thread::scope(|scope| {
        let shares: Vec<_> = rows
            .chunks(rows.len().div_ceil(threads).max(1))
            .map(|rows| scope.spawn(|| exact(&corpus, rows, &asked)))
            .collect();
        for share in shares {
            let part = share.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            for (all, part) in scores.iter_mut().zip(part) {
                all.extend(part);
            }
        }
    });
    let mut recall = 0.0;
    for ((mut scores, found), asked) in scores.into_iter().zip(found).zip(&asked) {
        scores.sort_unstable_by(|a, b| b.total_cmp(a));
        scores.truncate(10);
        let least = scores.last().copied().unwrap_or(f32::INFINITY) - SAME;
        let good = found.iter().filter(|name| {
            let at = number(name);
            at.is_some_and(|at| dot(asked, &halved(&corpus.output(at).vector)) >= least)
        });
        recall += good.count() as f64 / scores.len() as f64 / JUDGED as f64;
    }
    Ok(gauge::round(recall))
}

/// Returns the ten best scores of each question among some rows.
fn exact(corpus: &Corpus, rows: &[usize], asked: &[Vec<f32>]) -> Vec<Vec<f32>> {
    let mut best = vec![vec![f32::NEG_INFINITY; 10]; asked.len()];
    for &row in rows {
        let vector = halved(&corpus.output(row).vector);
        for (best, asked) in best.iter_mut().zip(asked) {
            let score = dot(asked, &vector);
            if score > best[9] {
                best[9] = score;
                best.sort_unstable_by(|a, b| b.total_cmp(a));
            }
        }
    }
    best
}

/// Converts a vector to half floats and back, as the store keeps it.
fn halved(vector: &[f32]) -> Vec<f32> {
    floats(&halves(vector))
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0f32; 16];
    for (a, b) in a.as_chunks::<16>().0.iter().zip(b.as_chunks::<16>().0) {
        for (sum, (a, b)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum += a * b;
        }
    }
    sums.iter().sum()
}
