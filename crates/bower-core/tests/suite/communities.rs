//! Tests relations between memories in the whole graph, and communities with their terms, on real stores.
//! No model is loaded.

use bower_core::engine::{DocumentInput, Engine};
use bower_core::filter::Filter;
use bower_core::item::{Author, Relation, Scope, Visibility};
use bower_core::request::{
    CommunitiesRequest, CurateRequest, GraphCommunity, GraphRequest, MemoryRelation, RelateRequest,
    Selection, WholeGraph,
};
use serde_json::json;

use crate::place::{Place, now};

/// Keeps a memory without names, and returns its id. Its field `part` has the number of its words.
fn keep(engine: &Engine, text: &str) -> String {
    let mut request = CurateRequest::new(text);
    request.metadata.insert("part".into(), json!(text.split(' ').count()));
    engine.curate(&Visibility::everything(), &request, now()).unwrap().id.unwrap()
}

fn relate(engine: &Engine, from: &str, relation: &str, to: &str, strength: f32) {
    let request = RelateRequest {
        from: from.into(),
        relation: relation.into(),
        to: to.into(),
        strength: Some(strength),
        proof: None,
        undo: false,
        collection: None,
        scope: Scope::Project,
        owner: None,
        said_by: Author::User,
        host: None,
    };
    engine.relate(&Visibility::everything(), &request, now()).unwrap();
}

fn whole(engine: &Engine, caller: &Visibility, request: &GraphRequest) -> WholeGraph {
    engine.graph(caller, request).unwrap()
}

/// Four memories of which no two share a word, with their ids.
fn four(engine: &Engine) -> [String; 4] {
    [
        "Rain fell over nine days.",
        "Cellars were flooded.",
        "Pumps cost more than expected this spring.",
        "Nobody insures them.",
    ]
    .map(|text| keep(engine, text))
}

#[test]
fn relations_between_memories_are_edges_of_the_whole_graph() {
    let place = Place::without_model();
    let engine = place.open();
    let [rain, flood, pumps, insurance] = four(&engine);
    relate(&engine, &rain, "causes", &flood, 0.5);
    relate(&engine, &pumps, "contradicts", &rain, 1.0);
    relate(&engine, &rain, "led_to", &flood, 1.0);
    let everything = Visibility::everything();
    let all = whole(&engine, &everything, &GraphRequest::default());
    let relation = |from: &str, relation, to: &str, strength| MemoryRelation {
        from: from.into(),
        relation,
        to: to.into(),
        strength,
    };
    let mut expected = vec![
        relation(&rain, Relation::Causes, &flood, 0.5),
        relation(&rain, Relation::LedTo, &flood, 1.0),
        relation(&pumps, Relation::Contradicts, &rain, 1.0),
    ];
    expected.sort_by_key(|one| (one.from.clone(), one.to.clone(), one.relation.word()));
    assert_eq!(all.memory_relations, expected);
    // .5 of .8, and a contradiction connects nothing.
    let weight =
        |relation| all.memory_relations.iter().find(|one| one.relation == relation).unwrap().weight();
    assert!((weight(Relation::Causes) - 0.4).abs() < 1e-6);
    assert!((weight(Relation::LedTo) - 0.8).abs() < 1e-6);
    assert!(weight(Relation::Contradicts).abs() < 1e-6);
    // A memory that shares nothing with others is a node, and stays one within a limit if a relation connects it.
    let ids = |graph: &WholeGraph| graph.nodes.iter().map(|node| node.id.clone()).collect::<Vec<_>>();
    assert!(all.edges.is_empty() && ids(&all).contains(&insurance));
    let few = whole(&engine, &everything, &GraphRequest { limit: Some(2), ..GraphRequest::default() });
    assert_eq!((ids(&few), few.memory_relations.len()), (vec![rain.clone(), flood.clone()], 2));
    // The same graph has the same bytes, before and after a compaction.
    let bytes = |graph: &WholeGraph| serde_json::to_string(graph).unwrap();
    engine.compact(bower_core::request::CompactWhen::Always).unwrap();
    assert_eq!(bytes(&whole(&engine, &everything, &GraphRequest::default())), bytes(&all));
    // Where one of the two may not be found, the relation is not shown.
    let filter = Filter::from_value(&json!({"part": 5})).unwrap();
    let select = Selection { filter: Some(filter), ..Selection::default() };
    let part = whole(&engine, &everything, &GraphRequest { select, ..GraphRequest::default() });
    assert_eq!((ids(&part), part.memory_relations.len()), (vec![rain], 0));
    let other = Visibility { collections: Some(["notes".to_owned()].into()), ..Visibility::everything() };
    let unseen = whole(&engine, &other, &GraphRequest::default());
    assert!(unseen.nodes.is_empty() && unseen.memory_relations.is_empty());
}

fn communities(engine: &Engine, caller: &Visibility) -> Vec<GraphCommunity> {
    let request = CommunitiesRequest {
        resolution: CommunitiesRequest::RESOLUTION,
        level: 0,
        limit: 20,
        save: false,
        select: Selection::default(),
    };
    engine.graph_communities(caller, &request).unwrap().communities
}

#[test]
fn related_memories_are_one_community_and_contradictions_are_not() {
    let place = Place::without_model();
    let engine = place.open();
    let [rain, flood, pumps, insurance] = four(&engine);
    relate(&engine, &pumps, "contradicts", &insurance, 1.0);
    assert!(communities(&engine, &Visibility::everything()).is_empty());
    relate(&engine, &rain, "causes", &flood, 0.5);
    let found = communities(&engine, &Visibility::everything());
    let mut ids: Vec<&str> = found[0].central.iter().map(|item| item.id.as_str()).collect();
    ids.sort_unstable();
    let mut expected = [rain.as_str(), flood.as_str()];
    expected.sort_unstable();
    assert_eq!((found.len(), ids), (1, expected.to_vec()), "{found:?}");
}

/// Adds notes of a collection, each with its path and its text.
fn add(engine: &Engine, collection: &str, notes: &[(&str, &str)]) {
    let input = |(path, text): &(&str, &str)| DocumentInput {
        id: (*path).to_owned(),
        text: (*text).to_owned(),
        collection: Some(collection.to_owned()),
        ..DocumentInput::default()
    };
    let documents = notes.iter().map(input).collect();
    engine.add_documents(&Visibility::everything(), documents, (Scope::Project, None), now()).unwrap();
}

/// Two groups of notes, each around one name.
fn two_groups(engine: &Engine) {
    let notes = [
        ("b1.md", "We met Rosa Bianchi, who folds the dough and waits for the starter."),
        ("b2.md", "Flour and starters are what Rosa Bianchi buys in 2019."),
        ("b3.md", "The dough of Rosa Bianchi rises, the starter too."),
        ("n1.md", "We asked Ada Marsh about the router and its firmware."),
        ("n2.md", "The firmware that Ada Marsh wrote waits for a router."),
        ("n3.md", "Routers of Ada Marsh restart in 2019."),
    ];
    add(engine, "open", &notes);
}

#[test]
fn a_community_has_the_words_that_its_texts_use_more_than_others_do() {
    let place = Place::without_model();
    let engine = place.open();
    two_groups(&engine);
    let found = communities(&engine, &Visibility::everything());
    let terms = |name: &str| {
        let one = found.iter().find(|one| one.entities.iter().any(|entity| entity == name)).unwrap();
        one.terms.clone()
    };
    // `starter` is in three of three texts and none of three others (G² 8.3), `dough` in two (3.8), and each further word in one
    // (1.5). `waits` is on both sides in one, and no number is a word. Nor are words of the name.
    assert_eq!(terms("Rosa Bianchi"), ["starter", "dough", "Flour", "buys", "folds", "met", "rises", "too"]);
    assert_eq!(terms("Ada Marsh"), ["router", "firmware", "asked", "restart", "wrote"]);
}

/// Texts that the caller may not see are not counted.
#[test]
fn terms_are_those_of_the_texts_that_the_caller_may_see() {
    let open = Visibility { collections: Some(["open".to_owned()].into()), ..Visibility::everything() };
    let place = Place::without_model();
    let engine = place.open();
    two_groups(&engine);
    let before = communities(&engine, &open);
    let secret = [
        "The starter and the dough of Ada Marsh.",
        "Firmware, router, dough.",
        "A starter for Rosa Bianchi.",
    ];
    let secret: Vec<(String, &str)> = (0..).map(|at| format!("s{at}.md")).zip(secret).collect();
    add(&engine, "secret", &secret.iter().map(|(path, text)| (path.as_str(), *text)).collect::<Vec<_>>());
    assert_eq!(communities(&engine, &open), before);
    assert_ne!(communities(&engine, &Visibility::everything()), before);
}
