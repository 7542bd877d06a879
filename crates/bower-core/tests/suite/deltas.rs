//! Tests of deltas in a process that stays: it answers as one that has just begun.
//! This holds whatever others write and compact between its questions; what is damaged takes nothing else with it.

use bower_core::config::Settings;
use bower_core::engine::evaluation::RankRequest;
use bower_core::engine::{DocumentInput, Engine};
use bower_core::item::{Channel, Visibility};
use bower_core::request::{ForgetRequest, Forgetting, IndexRequest, QueryRequest, Selection};

use crate::model::models_folder;
use crate::place::{Place, keep, now};

const FISH: [&str; 8] =
    ["red cod", "blue eel", "old carp", "small tench", "red perch", "cod roe", "eel trap", "cold tench"];

/// What the hits are and why.
type Hits = Vec<(String, String, f32, Vec<(Channel, f32)>)>;

fn ask(engine: &Engine, text: &str, fast: bool) -> Hits {
    let answer = engine
        .query(
            &Visibility::everything(),
            &QueryRequest { text: text.into(), fast, ..QueryRequest::default() },
            now(),
        )
        .unwrap();
    assert_eq!(answer.degraded, []);
    let hit = |hit: bower_core::request::Hit| {
        let signals = hit.signals.iter().map(|signal| (signal.channel, signal.score)).collect();
        (hit.memory.id, hit.memory.content, hit.score, signals)
    };
    answer.hits.into_iter().map(hit).collect()
}

#[test]
fn a_process_that_stays_sees_what_others_write() {
    let settings = Settings {
        models_folder: Some(models_folder()),
        threads: 2,
        compact_after: 40,
        ..Settings::default()
    };
    let place = Place::with(settings);
    let (stays, other) = (place.open(), place.open());
    let mut ids = Vec::new();
    // Deterministic: a linear congruential generator (Knuth, MMIX).
    let mut state = 11_u64;
    let mut dice = |sides: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % sides
    };
    let mut found = 0;
    for step in 0..120 {
        let writer = if dice(4) == 0 { &stays } else { &other };
        let fish = FISH[dice(FISH.len())];
        match dice(10) {
            0..=4 => ids.push(keep(writer, &format!("note {step}: a {fish} by the weir"))),
            5 | 6 if !ids.is_empty() => {
                let id = ids.swap_remove(dice(ids.len()));
                writer
                    .forget(&Visibility::everything(), &Forgetting::of(ForgetRequest::Ids(vec![id])), now())
                    .unwrap();
            }
            7 | 8 => {
                let id = format!("page-{}", dice(6));
                let text = format!("# Page\n\nThe {fish} of step {step} was seen.\n");
                writer
                    .add_documents(
                        &Visibility::everything(),
                        vec![DocumentInput { id, text, ..DocumentInput::default() }],
                        (bower_core::item::Scope::Project, None),
                        now(),
                    )
                    .unwrap();
            }
            _ => drop(writer.maintain(now()).unwrap()),
        }
        let begun = place.open();
        for fast in [false, true] {
            let hits = ask(&stays, fish, fast);
            assert_eq!(hits, ask(&begun, fish, fast), "step {step}");
            found += hits.len();
        }
    }
    assert!(found > 1_000, "{found}");
}

/// Letters of which nothing is left once they are compacted name a speaker: nothing to find, and no reason to stop.
#[test]
fn a_speaker_without_letters_is_compacted_and_forgotten() {
    let place = Place::without_model();
    place.write("weir.md", "# Weir\n\nWater falls here.\n");
    let engine = place.open();
    let id = keep(&engine, "س ـ: مرحبا cod\nس ـ: مرحبا");
    keep(&engine, "🅰: hello cod\n🅰: again");
    engine
        .index(&Visibility::everything(), &IndexRequest::new(vec![place.notes()]), now(), &|_| {}, &|| true)
        .unwrap();
    assert_eq!(engine.status(&Visibility::everything()).unwrap().text_delta, 0);
    assert_eq!(ask(&engine, "cod", true).len(), 2);
    engine.forget(&Visibility::everything(), &Forgetting::of(ForgetRequest::Ids(vec![id])), now()).unwrap();
    assert_eq!(ask(&engine, "cod", true).len(), 1);
}

/// A vector of the store that is not as it was written is left out, and named.
#[test]
fn a_damaged_vector_is_left_out_and_named() {
    let place = Place::new();
    place.write("fish.md", "# Fish\n\nThe red cod swims by the weir.\n");
    let engine = place.open();
    for fish in FISH {
        keep(&engine, &format!("a {fish} by the weir"));
    }
    place.index(&engine);
    let select = Selection::default();
    let request = RankRequest::new("red cod", &select, now());
    let store = rusqlite::Connection::open(place.home().join("memory.db")).unwrap();
    // Two bytes are one number: a vector of another dimension.
    store.execute("UPDATE vectors SET vector = x'0000'", []).unwrap();
    assert!(!engine.rank(&Visibility::everything(), &request).unwrap().fused.is_empty());
    let named = engine.degraded().unwrap();
    assert!(named.iter().any(|one| one.reason.contains("vector")), "{named:?}");
    // An odd number of bytes is a packed vector; one that cannot be unpacked is none, and is named.
    store.execute("UPDATE vectors SET vector = x'00ff00'", []).unwrap();
    assert_eq!(engine.rank(&Visibility::everything(), &request).unwrap().degraded, []);
    let found = engine.doctor(&Visibility::everything()).unwrap();
    assert!(format!("{found:?}").contains("is damaged: forget it"), "{found:?}");
}
