//! Tests the worker: what it makes, when it gives way, and that one process works on a store. Its clock is the test's.

use bower_core::engine::{Activity, Engine, Worker};
use bower_core::item::Visibility;
use bower_core::model::Embedder;
use bower_core::request::{CompactWhen, QueryRequest, WorkerActivity, WorkerState};
use bower_core::{Error, Result};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::place::{Place, keep, now};
use crate::two_models::Letters;

/// A worker with its clock.
struct Hand {
    worker: Worker,
    at: Duration,
}

impl Hand {
    fn new() -> Self {
        Self { worker: Worker::new(), at: Duration::ZERO }
    }

    /// One step, and the wait after it.
    fn step(&mut self, engine: &Engine, activity: Activity) -> Duration {
        let wait = self.worker.step(engine, &|| activity, self.at, now());
        self.at += wait;
        wait
    }

    /// Steps until no row waits. Returns the time that passed.
    fn drain(&mut self, engine: &Engine, activity: Activity) -> Duration {
        let start = self.at;
        for _ in 0..1_000 {
            self.step(engine, activity);
            if self.worker.is_drained() {
                return self.at.saturating_sub(start);
            }
        }
        panic!("rows still wait: {:?}", self.worker.status());
    }
}

/// A store with so many memories, none with a vector.
fn place(memories: usize) -> Place {
    let place = Place::without_model();
    let engine = place.open();
    for number in 0..memories {
        keep(&engine, &format!("The key of shed number {number} hangs on hook {number}."));
    }
    place
}

fn open(place: &Place, model: &'static str) -> Engine {
    place.open().with_embedder(Box::new(Letters(model)))
}

fn unembedded(engine: &Engine) -> u64 {
    engine.status(&Visibility::everything()).unwrap().unembedded
}

#[test]
fn rows_without_a_vector_are_embedded_in_batches_and_counted() {
    let place = place(120);
    let engine = open(&place, "letters");
    let mut hand = Hand::new();
    assert_eq!(hand.worker.status().state, WorkerState::Idle);
    hand.drain(&engine, Activity::Idle);
    let status = hand.worker.status();
    // 50, 50 and 20.
    assert_eq!((status.batches, status.written, status.failed), (3, 120, 0));
    assert_eq!((status.largest_batch, status.last_batch, status.queue), (50, 20, 0));
    assert_eq!((status.state, status.activity), (WorkerState::Ready, WorkerActivity::Idle));
    assert_eq!((status.model.as_str(), status.last_time), ("letters", Some(now())));
    assert_eq!(unembedded(&engine), 0);
    // Other processes see what it did last.
    let seen = place.open().status(&Visibility::everything()).unwrap().worker.unwrap();
    assert_eq!((seen.written, seen.state, seen.queue), (120, WorkerState::Ready, 0));

    // A row that comes later is found at the next look.
    keep(&place.open(), "The mill at Orsland grinds on Wednesdays.");
    hand.drain(&engine, Activity::Active);
    assert_eq!((hand.worker.status().written, unembedded(&engine)), (121, 0));
}

#[test]
fn batches_are_small_while_somebody_asks_and_it_gives_way_to_a_crowd() {
    let place = place(25);
    let engine = open(&place, "letters");
    let mut hand = Hand::new();
    let took = hand.drain(&engine, Activity::Active);
    assert_eq!((hand.worker.status().batches, hand.worker.status().largest_batch), (3, 10));
    assert!(took >= Duration::from_millis(300) && took < Duration::from_secs(5), "{took:?}");

    let place = self::place(15);
    let engine = open(&place, "letters");
    let mut hand = Hand::new();
    let took = hand.drain(&engine, Activity::Busy);
    assert_eq!(hand.worker.status().batches, 2, "rows do not wait for ever");
    // A minute before each batch.
    assert!(took >= Duration::from_mins(2) && took < Duration::from_secs(125), "{took:?}");
}

/// An embedder without sense: all texts have the same vector.
struct Senseless;

impl Embedder for Senseless {
    fn model(&self) -> &'static str {
        "senseless"
    }

    fn dimension(&self) -> usize {
        64
    }

    fn embed(&self, _: &str) -> Result<Vec<f32>> {
        Ok(vec![0.125; 64])
    }

    fn count_pieces(&self, _: &str) -> Result<usize> {
        Ok(1)
    }
}

#[test]
fn a_model_whose_vectors_say_nothing_writes_none() {
    let place = place(3);
    let engine = place.open().with_embedder(Box::new(Senseless));
    let mut hand = Hand::new();
    hand.step(&engine, Activity::Idle);
    let status = hand.worker.status();
    assert_eq!((status.state, status.activity), (WorkerState::Unavailable, WorkerActivity::Waiting));
    let reason = status.reason.clone().unwrap();
    assert!(reason.contains("two paraphrases have cosine 1.00, strangers 1.00"), "{reason}");
    assert_eq!(status.last_error.as_ref(), Some(&reason));
    assert_eq!(hand.at, Duration::from_mins(1), "it is tried again after a minute");
    assert_eq!(unembedded(&engine), 3);
}

/// A service that fails until it was asked so often, and then makes vectors.
struct Service {
    failures: AtomicUsize,
}

impl Embedder for Service {
    fn model(&self) -> &'static str {
        "service"
    }

    fn dimension(&self) -> usize {
        64
    }

    fn embed(&self, text: &str) -> Result<Vec<f32>> {
        let fails =
            self.failures.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        match fails {
            Ok(_) => Err(Error::Model { model: "service".into(), reason: "no connection".into() }),
            Err(_) => Letters("service").embed(text),
        }
    }

    fn batch_texts(&self) -> Option<usize> {
        Some(100)
    }

    fn count_pieces(&self, _: &str) -> Result<usize> {
        Ok(1)
    }
}

#[test]
fn a_service_gets_no_text_before_a_person_chose_it_and_is_tried_again_after_it_failed() {
    let place = place(12);
    let engine = place.open().with_embedder(Box::new(Service { failures: AtomicUsize::new(0) }));
    let mut hand = Hand::new();
    hand.step(&engine, Activity::Idle);
    let reason = hand.worker.status().reason.clone().unwrap();
    assert!(reason.contains("no text of this store was sent to service yet"), "{reason}");
    assert_eq!(unembedded(&engine), 12);
    // `bower model use` makes the vectors of what is there.
    engine.embed_pending(now(), &|_| ()).unwrap();
    keep(&place.open(), "The mill at Orsland grinds on Wednesdays.");

    let engine = place.open().with_embedder(Box::new(Service { failures: AtomicUsize::new(4) }));
    let mut hand = Hand::new();
    hand.step(&engine, Activity::Idle);
    assert!(hand.worker.status().reason.as_ref().unwrap().contains("no connection"));
    assert_eq!(unembedded(&engine), 1, "nothing is lost");
    hand.drain(&engine, Activity::Idle);
    assert_eq!((hand.worker.status().state, unembedded(&engine)), (WorkerState::Ready, 0));
    assert!(hand.at >= Duration::from_mins(1));
}

#[test]
fn one_process_works_on_a_store_and_the_next_goes_on_when_it_has_ended() {
    let place = place(70);
    let (first, second) = (open(&place, "letters"), open(&place, "letters"));
    let (mut one, mut other) = (Hand::new(), Hand::new());
    // Loads, then embeds a batch.
    one.step(&first, Activity::Idle);
    one.step(&first, Activity::Idle);
    assert_eq!(one.worker.status().written, 50);
    for _ in 0..3 {
        other.step(&second, Activity::Idle);
    }
    assert_eq!(
        (other.worker.status().written, other.worker.status().activity),
        (0, WorkerActivity::Elsewhere)
    );
    // The operating system gives the lock back however the process ends.
    drop((one, first));
    other.drain(&second, Activity::Idle);
    assert_eq!((other.worker.status().written, unembedded(&second)), (20, 0));
}

#[test]
fn another_model_answers_on_the_same_store_without_a_mixed_answer() {
    let place = place(8);
    let engine = open(&place, "first");
    engine.embed_pending(now(), &|_| ()).unwrap();
    let coming = engine.beside(engine.settings()).with_embedder(Box::new(Letters("second")));
    assert!(coming.shares_store(&engine));
    let asked = |engine: &Engine| {
        let request = QueryRequest { text: "where is the key of shed 3".into(), ..QueryRequest::default() };
        engine.query(&Visibility::everything(), &request, now()).unwrap()
    };
    let mut hand = Hand { worker: Worker::coming(), at: Duration::ZERO };
    hand.step(&coming, Activity::Active);
    assert_eq!(asked(&engine).model_used.as_deref(), Some("first"));
    hand.drain(&coming, Activity::Active);
    assert!(hand.worker.status().is_coming);
    coming.compact(CompactWhen::Always).unwrap();
    let (before, after) = (asked(&engine), asked(&coming));
    assert_eq!((before.model_used.as_deref(), after.model_used.as_deref()), (Some("first"), Some("second")));
    assert!(before.degraded.is_empty() && after.degraded.is_empty(), "{before:?} {after:?}");
    // What both leave to be written is written by either.
    coming.maintain(now()).unwrap();
    let cache = coming.cache_status(&Visibility::everything()).unwrap();
    let models: Vec<_> = cache.models.iter().map(|one| (one.identity.as_str(), one.entries)).collect();
    assert_eq!(models, [("first", 1), ("second", 1)]);
    assert_eq!((cache.hits, cache.misses, cache.process.entries), (1, 2, 2));
}

#[test]
fn a_store_is_warmed_and_measured() {
    let place = place(30);
    let engine = open(&place, "letters");
    let all = Visibility::everything();
    let warmed = engine.warm(&all, Some(10), now(), &|_| ()).unwrap();
    assert_eq!((warmed.embedded, unembedded(&engine)), (10, 20));
    let warmed = engine.warm(&all, None, now(), &|_| ()).unwrap();
    assert_eq!((warmed.embedded, unembedded(&engine)), (20, 0));
    assert!(warmed.files > 2 && warmed.bytes > 0, "{warmed:?}");
    let recall = engine.vector_recall(&all, 7, 10).unwrap().unwrap();
    assert_eq!((recall.vectors, recall.k, recall.tier.as_str()), (30, 10, "int8"));
    // Every fifth of thirty rows.
    assert_eq!((recall.sampled, recall.whole, recall.recall), (6, 6, 1.0));
    assert_eq!(engine.sample_questions(&all, 7).unwrap().len(), 6);
    let parts = engine.stored_parts(&all).unwrap();
    assert!(parts.iter().any(|part| part.part == "store" && part.files == 1), "{parts:?}");
    assert!(parts.iter().any(|part| part.part.starts_with("index vectors-letters")), "{parts:?}");
}
