//! Tests of the graph channel on a real store without a model: what names connect is found, and nothing else is told.

use bower_core::engine::evaluation::RankRequest;
use bower_core::engine::{DocumentInput, Engine};
use bower_core::item::{Channel, Scope, Scored, Visibility};
use bower_core::request::{CompactWhen, ForgetRequest, Forgetting, QueryRequest, Selection};

use crate::place::{Place, now};

/// Adds notes of a collection, one document each: title and text.
fn add(engine: &Engine, collection: &str, notes: &[(&str, String)]) {
    let input = |(title, text): &(&str, String)| DocumentInput {
        id: format!("{collection} {title}"),
        title: Some((*title).to_owned()),
        text: text.clone(),
        collection: Some(collection.to_owned()),
        ..DocumentInput::default()
    };
    let documents = notes.iter().map(input).collect();
    engine.add_documents(&Visibility::everything(), documents, (Scope::Project, None), now()).unwrap();
}

/// The places of a small county and of thirty others, which share all words but the names.
fn counties(engine: &Engine) {
    let others: Vec<(String, String)> = (0..30)
        .flat_map(|at| {
            let county = format!("Q{}ia County", "abcdefghijklmnopqrstuvwxyzABCD".chars().nth(at).unwrap());
            let seat = format!(
                "The seat of {county} is the town where the court of the county is. It is a county seat."
            );
            [(county, seat)]
        })
        .collect();
    let others: Vec<(&str, String)> =
        others.iter().map(|(title, text)| (title.as_str(), text.clone())).collect();
    add(engine, "places", &others);
    let township = "Fornholt Township is a township in Orsland County, by the river.".to_owned();
    let county = "In Orsland County there is a court at Marrowby, and fields.".to_owned();
    add(engine, "places", &[("Fornholt Township", township), ("Orsland County", county)]);
}

const QUESTION: &str = "What is the seat of the county where Fornholt Township is?";

/// The ids of the documents of a ranking, best first.
fn ranked(engine: &Engine, select: &Selection, without: Option<Channel>) -> Vec<String> {
    let caller = Visibility::everything();
    let request = RankRequest { fast: true, without, ..RankRequest::new(QUESTION, select, now()) };
    let fused = engine.rank(&caller, &request).unwrap().fused;
    let rows: Vec<Scored> = fused.iter().map(|one| Scored { row: one.row, score: one.score }).collect();
    engine.sources(&caller, &rows).unwrap()
}

#[test]
fn a_note_is_found_through_what_another_mentions() {
    let place = Place::without_model();
    let engine = place.open();
    counties(&engine);
    let everything = Selection::default();
    let place_of = |without| {
        let ids = ranked(&engine, &everything, without);
        ids.iter().position(|id| id == "places Orsland County").unwrap()
    };
    assert!(place_of(Some(Channel::Graph)) > 20, "words prefer every other county");
    assert_eq!(place_of(None), 1);
    let asked = QueryRequest { text: QUESTION.into(), fast: true, ..QueryRequest::default() };
    let answer = engine.query(&Visibility::everything(), &asked, now()).unwrap();
    assert!(answer.degraded.is_empty(), "{:?}", answer.degraded);
    assert!(
        answer.hits[1].factors.iter().any(|factor| factor.name == "graph"),
        "{:?}",
        answer.hits[1].factors
    );
}

/// What waits for compaction, what is compacted, and both together give the same ranking.
#[test]
fn the_delta_and_the_index_rank_alike() {
    let place = Place::without_model();
    let engine = place.open();
    counties(&engine);
    let everything = Selection::default();
    let compacted = |engine: &Engine| {
        engine.compact(CompactWhen::Always).unwrap();
        ranked(engine, &everything, None)
    };
    let whole = compacted(&engine);
    // The note is replaced, so the index has an old copy of it and the delta the new one.
    let note = |text: &str| add(&engine, "places", &[("Fornholt Township", text.to_owned())]);
    note("A township without a name.");
    assert_ne!(ranked(&engine, &everything, None), whole);
    note("Fornholt Township is a township in Orsland County, by the river.");
    let waits = ranked(&engine, &everything, None);
    assert_eq!((&waits, &compacted(&engine)), (&whole, &whole));
    let checks = engine.doctor(&Visibility::everything()).unwrap();
    assert!(checks.iter().any(|check| check.name == "graph index"));
}

/// A walk neither passes an item that the question may not find, nor does such an item change a rank.
#[test]
fn a_walk_stays_within_the_selection() {
    let (one, two) = (Place::without_model(), Place::without_model());
    let (with, without) = (one.open(), two.open());
    let bridge = "Fornholt Township pays its taxes in Qaia County and Qbia County.".to_owned();
    add(&with, "secret", &[("Taxes", bridge)]);
    for engine in [&with, &without] {
        counties(engine);
        engine.compact(CompactWhen::Always).unwrap();
    }
    let places = Selection { collections: vec!["places".into()], ..Selection::default() };
    assert_eq!(ranked(&with, &places, None), ranked(&without, &places, None));
    assert_ne!(ranked(&with, &Selection::default(), None), ranked(&without, &Selection::default(), None));
}

#[test]
fn forgetting_removes_mentions_from_the_index() {
    let place = Place::without_model();
    let engine = place.open();
    counties(&engine);
    engine.compact(CompactWhen::Always).unwrap();
    let everything = Visibility::everything();
    let told = |engine: &Engine| {
        let residue = engine.residue(&everything, "Marrowby").unwrap();
        residue.untold.iter().any(|line| line.contains("graph"))
    };
    assert!(!told(&engine));
    // A removal alone leaves the row in the file, marked.
    let note = [("Orsland County", "Nothing is known of it.".to_owned())];
    add(&engine, "places", &note);
    engine.compact(CompactWhen::Always).unwrap();
    let left = engine.list(&everything, &Selection::default(), 100, 0).unwrap().memories;
    let id = left.into_iter().find(|item| item.content.contains("Nothing is known")).unwrap().id;
    engine.forget(&everything, &Forgetting::of(ForgetRequest::Ids(vec![id])), now()).unwrap();
    assert!(!told(&engine), "no file has a removed row");
}
