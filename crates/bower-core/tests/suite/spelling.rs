//! Tests that misspelled words of a question are corrected by what the asker may see, and other words are not.

use bower_core::engine::Engine;
use bower_core::item::{Gate, Visibility};
use bower_core::request::{Answer, CurateRequest, QueryRequest, Selection};

use crate::place::{Place, contents, keep, now};

fn ask(engine: &Engine, text: &str, request: QueryRequest) -> Answer {
    let request = QueryRequest { text: text.into(), ..request };
    engine.query(&Visibility::everything(), &request, now()).unwrap()
}

fn corrections(answer: &Answer) -> Vec<String> {
    answer.corrections.iter().map(ToString::to_string).collect()
}

fn harbour() -> (Place, Engine) {
    let place = Place::new();
    let engine = place.open();
    keep(&engine, "The harbour master weighs the trawlers at low tide.");
    keep(&engine, "The lighthouse keeper paints the lantern in May.");
    (place, engine)
}

#[test]
fn a_misspelled_word_is_read_as_the_word_that_items_have() {
    let (_place, engine) = harbour();
    let question = "who paints the lanten";
    let answer = ask(&engine, question, QueryRequest::default());
    assert_eq!(corrections(&answer), ["“lanten” was read as “lantern”"]);
    assert_eq!(answer.query, question);
    assert!(contents(&answer)[0].contains("lantern"), "{answer:?}");
    let hit = &answer.hits[0];
    let right = ask(&engine, "who paints the lantern", QueryRequest::default());
    assert_eq!((hit.score, hit.bm25), (right.hits[0].score, right.hits[0].bm25));
}

#[test]
fn known_words_names_and_other_languages_stay() {
    let (_place, engine) = harbour();
    for question in [
        // The vocabulary of the model has it, though no item does ("tide" is one letter away).
        "who weighs the ride",
        "who paints the Lanten",
        "wer streicht lanten bei Niedrigwasser",
        // Items are counted by the stem "trawler", which does not say that one has "trawlers".
        "who weighs the trawlres",
    ] {
        assert_eq!(corrections(&ask(&engine, question, QueryRequest::default())), [""; 0], "{question}");
    }
    let fast = QueryRequest { fast: true, ..QueryRequest::default() };
    assert_eq!(corrections(&ask(&engine, "who paints the lanten", fast)), [""; 0]);
}

#[test]
fn a_word_of_items_that_the_question_may_not_find_corrects_nothing() {
    let (_place, engine) = harbour();
    let request = CurateRequest {
        gate: Some(Gate::Off),
        collection: Some("secret".into()),
        ..CurateRequest::new("The dreadnought lies at pier nine.")
    };
    engine.curate(&Visibility::everything(), &request, now()).unwrap();
    let within = |collection: &str| {
        let select = Selection { collections: vec![collection.into()], ..Selection::default() };
        let request = QueryRequest { select, ..QueryRequest::default() };
        corrections(&ask(&engine, "where lies the dreadnougt pier", request))
    };
    assert_eq!(within("secret"), ["“dreadnougt” was read as “dreadnought”"]);
    assert_eq!(within("memories"), [""; 0]);
}
