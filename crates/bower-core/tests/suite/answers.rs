//! Tests of how a ranking is shown: bands, strict answers and reranking, on a store without a model.

use bower_core::config::Settings;
use bower_core::engine::Engine;
use bower_core::item::{Band, Profile, Rerank, Visibility};
use bower_core::llm::{Ask, Completion, Llm, NoAnswer};
use bower_core::request::{Answer, QueryRequest};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::place::{Place, contents, keep, now};

const BEST: &str = "The ferry leaves the harbour at noon.";

/// One memory with both words of the question, and seven that share its common one.
fn harbour(settings: Settings) -> (Place, Engine) {
    let place = Place::with(Settings { model: "none".into(), ..settings });
    let engine = place.open();
    keep(&engine, BEST);
    for boat in ["red", "blue", "old", "new", "long", "slow", "third"] {
        keep(&engine, &format!("A {boat} boat lies in the harbour tonight."));
    }
    (place, engine)
}

fn ask(engine: &Engine, request: QueryRequest) -> Answer {
    engine
        .query(&Visibility::everything(), &QueryRequest { text: "ferry harbour".into(), ..request }, now())
        .unwrap()
}

fn bands(answer: &Answer) -> Vec<Option<Band>> {
    answer.hits.iter().map(|hit| hit.band).collect()
}

/// A language model that gives every text a higher score than the one before it, and counts how often it is asked.
struct Backwards(Arc<AtomicUsize>);

impl Llm for Backwards {
    fn model(&self) -> &'static str {
        "backwards"
    }

    fn complete(&self, _: &Ask, _: Duration) -> Result<Completion, NoAnswer> {
        self.0.fetch_add(1, Ordering::Relaxed);
        let text = "[1]:1.5 [2]:2 [3]:2.5 [4]:3 [5]:3.5 [6]:4 [7]:4.5 [8]:5".into();
        Ok(Completion { text, ..Completion::default() })
    }
}

/// The store with that model, and its count. Every order counts as open.
fn backwards(rerank: Rerank) -> (Place, Engine, Arc<AtomicUsize>) {
    let (place, engine) = harbour(Settings { rerank, rerank_sure: 1.0, ..Settings::default() });
    let asked = Arc::new(AtomicUsize::new(0));
    (place, engine.with_llm(Box::new(Backwards(Arc::clone(&asked)))), asked)
}

#[test]
fn athenas_strict_drops_its_weak_matches() {
    let athena = || QueryRequest { profile: Some(Profile::Athena), ..QueryRequest::default() };
    let (_place, engine) = harbour(Settings::default());
    // Words alone: first 20 * (.5 + 1) / 61 = .49, MED. Any other has less than a quarter of the first's words, so at most
    // 20 * .75 / 62 = .24, LOW.
    let mut expected = vec![Some(Band::Low); 8];
    expected[0] = Some(Band::Medium);
    assert_eq!(bands(&ask(&engine, athena())), expected);
    assert_eq!(contents(&ask(&engine, QueryRequest { strict: true, ..athena() })), [BEST]);
    // Where the bands lie is Athena's own setting.
    let mut settings = Settings::default();
    settings.athena.medium = 0.1;
    let (_place, engine) = harbour(settings);
    assert_eq!(ask(&engine, QueryRequest { strict: true, ..athena() }).hits.len(), 8);
    // Without bands there is nothing weak to drop.
    let atlas = QueryRequest { profile: Some(Profile::Atlas), strict: true, ..QueryRequest::default() };
    assert_eq!(ask(&engine, atlas).hits.len(), 8);
}

#[test]
fn a_band_stays_with_its_place_as_the_score_does() {
    let (_place, engine, _) = backwards(Rerank::Llm);
    let request = || QueryRequest { profile: Some(Profile::Athena), ..QueryRequest::default() };
    let answer = ask(&engine, request());
    assert_eq!(contents(&answer)[7], BEST, "the model has the other opinion");
    assert!(answer.hits.is_sorted_by(|a, b| a.score >= b.score));
    assert_eq!((answer.hits[0].band, answer.hits[7].band), (Some(Band::Medium), Some(Band::Low)));
    let strict = ask(&engine, QueryRequest { strict: true, ..request() });
    assert_eq!(contents(&strict), contents(&answer)[..1], "what the model put first is not weak");
}

#[test]
fn words_alone_leave_the_settings_reranker_unasked() {
    let fast = || QueryRequest { fast: true, ..QueryRequest::default() };
    let (_place, engine, asked) = backwards(Rerank::Llm);
    let answer = ask(&engine, fast());
    assert_eq!((contents(&answer)[0], asked.load(Ordering::Relaxed)), (BEST, 0));
    assert!(answer.effort.rerank.is_none() && answer.degraded.is_empty(), "{answer:?}");
    // Without --fast it is asked; with it, where the request itself names it.
    assert_ne!(contents(&ask(&engine, QueryRequest::default()))[0], BEST);
    assert_ne!(contents(&ask(&engine, QueryRequest { rerank: Some(Rerank::Llm), ..fast() }))[0], BEST);
    // The same question over the same texts is answered by the cache.
    assert_eq!(asked.load(Ordering::Relaxed), 1);

    // A cross-encoder that is not installed would be named as missing, had it been asked.
    let (_place, engine, _) = backwards(Rerank::CrossEncoder);
    let named = |request| {
        let degraded = ask(&engine, request).degraded;
        degraded.iter().any(|one| one.channel.to_string() == "rerank")
    };
    assert!(named(QueryRequest::default()) && !named(fast()));
}
