//! Tests entities, neighbours, paths, relations and the whole graph on real stores without a model.

use bower_core::Error;
use bower_core::engine::{DocumentInput, Engine};
use bower_core::item::{Author, EntityKind, NodeKind, Scope, Visibility};
use bower_core::request::{
    CurateRequest, EntityRequest, GraphPath, GraphRequest, Neighbours, NeighboursRequest, PathRequest,
    QueryRequest, RelateOutcome, RelateRequest, Selection,
};

use crate::place::{Place, now};

/// Adds notes, one document each: path, title (none if empty) and text.
fn add(engine: &Engine, collection: &str, notes: &[(&str, &str, &str)]) {
    let input = |(path, title, text): &(&str, &str, &str)| DocumentInput {
        id: (*path).to_owned(),
        title: Some((*title).to_owned()).filter(|title| !title.is_empty()),
        text: (*text).to_owned(),
        collection: Some(collection.to_owned()),
        ..DocumentInput::default()
    };
    let documents = notes.iter().map(input).collect();
    engine.add_documents(&Visibility::everything(), documents, (Scope::Project, None), now()).unwrap();
}

/// A chain of notes: Ada - engine - Babbage - Cambridge, and one apart.
fn notes(engine: &Engine) {
    add(
        engine,
        "notes",
        &[
            ("a.md", "Ada Lovelace", "Her notes on the Analytical Engine were the first program."),
            ("b.md", "Analytical Engine", "Designed by Charles Babbage, never built. See [[Ada Lovelace]]."),
            ("c.md", "Cambridge", "In Cambridge Charles Babbage held the chair of Newton."),
            ("d.md", "Bread", "Knead the dough with Rosa Bianchi."),
        ],
    );
}

fn path(engine: &Engine, from: &str, to: &str) -> GraphPath {
    let request = PathRequest { from: from.into(), to: to.into(), select: Selection::default() };
    engine.graph_path(&Visibility::everything(), &request, now()).unwrap()
}

fn near(engine: &Engine, name: &str, depth: usize) -> Neighbours {
    let request = NeighboursRequest {
        name: name.into(),
        depth,
        kinds: Vec::new(),
        limit: 20,
        select: Selection::default(),
    };
    engine.graph_neighbours(&Visibility::everything(), &request, now()).unwrap()
}

fn entity(name: &str) -> EntityRequest {
    EntityRequest { name: name.into(), limit: 10, select: Selection::default() }
}

#[test]
fn an_entity_is_shown_with_its_spellings_and_mentions() {
    let place = Place::without_model();
    let engine = place.open();
    notes(&engine);
    add(&engine, "notes", &[("e.md", "Letters", "Then Charles BABBAGE wrote to Ada again.")]);
    let caller = Visibility::everything();
    let found = engine.graph_entity(&caller, &entity("charles babbage"), now()).unwrap();
    assert_eq!((found.entity.name.as_str(), found.entity.kind), ("Charles Babbage", EntityKind::Name));
    assert_eq!((found.entity.items, found.documents, found.hub), (3, 3, false));
    assert_eq!(found.aliases, ["Charles BABBAGE"]);
    let texts: Vec<&str> = found.mentions.iter().map(|mention| mention.proof.text.as_str()).collect();
    assert!(texts.iter().all(|text| text.to_lowercase().contains("babbage")), "{texts:?}");
    // A title is a link's target too, whatever the case.
    let found = engine.graph_entity(&caller, &entity("ADA LOVELACE"), now()).unwrap();
    let kinds: Vec<EntityKind> = found.mentions.iter().map(|mention| mention.kind).collect();
    assert_eq!(kinds, [EntityKind::Title, EntityKind::Link]);
}

#[test]
fn an_unknown_name_is_an_error_that_offers_similar_ones() {
    let place = Place::without_model();
    let engine = place.open();
    notes(&engine);
    let caller = Visibility::everything();
    let error = engine.graph_entity(&caller, &entity("Charles Xavier"), now()).unwrap_err();
    let Error::UnknownEntity { near, .. } = error else { panic!("{error}") };
    assert!(near.contains(&"Charles Babbage".to_owned()), "{near:?}");
    for name in ["'; DROP TABLE items; --", "no such thing", "[[", "#", "\u{0}"] {
        let error = engine.graph_entity(&caller, &entity(name), now()).unwrap_err();
        assert!(matches!(error, Error::UnknownEntity { .. }), "{name:?}: {error}");
    }
    for name in ["", "  "] {
        let error = engine.graph_entity(&caller, &entity(name), now()).unwrap_err();
        assert!(matches!(error, Error::Invalid { .. }), "{name:?}: {error}");
    }
}

#[test]
fn a_path_names_each_step_and_proves_it() {
    let place = Place::without_model();
    let engine = place.open();
    notes(&engine);
    let found = path(&engine, "ada lovelace", "Cambridge");
    let steps: Vec<(Option<&str>, Option<&str>)> =
        found.path.iter().map(|hop| (hop.from.as_deref(), hop.to.as_deref())).collect();
    assert_eq!(steps.first().unwrap().0, Some("Ada Lovelace"), "{steps:?}");
    assert_eq!(steps.last().unwrap().1, Some("Cambridge"), "{steps:?}");
    for pair in steps.windows(2) {
        assert_eq!(pair[0].1, pair[1].0, "{steps:?}");
    }
    assert!(steps.iter().any(|(_, to)| *to == Some("Charles Babbage")), "{steps:?}");
    assert!(path(&engine, "Ada Lovelace", "Rosa Bianchi").path.is_empty());
    // An item is a start too, by its id.
    let caller = Visibility::everything();
    let items = engine.list(&caller, &Selection::default(), 10, 0).unwrap().memories;
    let bread = items.iter().find(|item| item.summary == "Bread").unwrap();
    assert!(path(&engine, &bread.id, "Cambridge").path.is_empty());
    let engine_note = items.iter().find(|item| item.summary == "Analytical Engine").unwrap();
    let found = path(&engine, &engine_note.id, "Cambridge");
    assert_eq!((found.from.as_str(), found.path[0].from.as_deref()), ("Analytical Engine", None));
}

#[test]
fn neighbours_are_nearest_first_and_of_the_wanted_kind() {
    let place = Place::without_model();
    let engine = place.open();
    notes(&engine);
    let one = near(&engine, "Charles Babbage", 1);
    let names: Vec<&str> = one.neighbours.iter().map(|near| near.entity.name.as_str()).collect();
    assert!(names.contains(&"Analytical Engine"), "{names:?}");
    let sum: f32 = one.neighbours.iter().map(|near| near.weight).sum();
    assert!(sum <= 1.0 && one.neighbours.is_sorted_by(|a, b| a.weight >= b.weight), "{:?}", one.neighbours);
    let two = near(&engine, "Cambridge", 2);
    assert!(two.neighbours.iter().any(|near| near.depth == 2), "{:?}", two.neighbours);
    let request = NeighboursRequest {
        name: "Analytical Engine".into(),
        depth: 1,
        kinds: vec![EntityKind::Tag],
        limit: 5,
        select: Selection::default(),
    };
    let none = engine.graph_neighbours(&Visibility::everything(), &request, now()).unwrap();
    assert!(none.neighbours.is_empty());
    for (depth, limit) in [(0, 5), (5, 5), (1, 0), (1, 201)] {
        let request = NeighboursRequest { depth, limit, ..request.clone() };
        let error = engine.graph_neighbours(&Visibility::everything(), &request, now()).unwrap_err();
        assert!(matches!(error, Error::Invalid { .. }), "{error}");
    }
}

#[test]
fn the_whole_graph_has_what_connects_two_documents() {
    let place = Place::without_model();
    let engine = place.open();
    notes(&engine);
    let caller = Visibility::everything();
    engine.curate(&caller, &CurateRequest::new("Charles Babbage is the hero of our talk."), now()).unwrap();
    let whole = engine.graph(&caller, &GraphRequest::default()).unwrap();
    let of = |kind: NodeKind| whole.nodes.iter().filter(|node| node.kind == kind).count();
    assert_eq!((of(NodeKind::Document), of(NodeKind::Memory)), (4, 1));
    let names: Vec<&str> = whole.nodes.iter().map(|node| node.name.as_str()).collect();
    assert!(names.contains(&"Charles Babbage") && !names.contains(&"Rosa Bianchi"), "{names:?}");
    for edge in &whole.edges {
        let known = |id: &str| whole.nodes.iter().any(|node| node.id == id);
        assert!(known(&edge.from) && known(&edge.to) && edge.weight > 0.0, "{edge:?}");
    }
    // The same before and after a compaction, and within a limit only what is connected.
    engine.compact(bower_core::request::CompactWhen::Always).unwrap();
    assert_eq!(engine.graph(&caller, &GraphRequest::default()).unwrap(), whole);
    let few = engine.graph(&caller, &GraphRequest { limit: Some(3), ..GraphRequest::default() }).unwrap();
    assert!(few.nodes.len() <= 3 && !few.edges.is_empty(), "{few:?}");
}

#[test]
fn a_question_is_explained_by_its_path() {
    let place = Place::without_model();
    let engine = place.open();
    notes(&engine);
    for at in 0..30 {
        let (path, name) = (format!("x{at}.md"), format!("Town Q{at}"));
        add(&engine, "notes", &[(&path, &name, "A town where people design and build engines for chairs.")]);
    }
    let ask = |explain| {
        let request = QueryRequest {
            text: "In which town is the chair of whoever designed the Analytical Engine?".into(),
            fast: true,
            explain,
            ..QueryRequest::default()
        };
        engine.query(&Visibility::everything(), &request, now()).unwrap()
    };
    let answer = ask(true);
    let hit = answer.hits.iter().find(|hit| hit.memory.summary == "Cambridge").unwrap();
    assert_eq!(
        hit.path.first().and_then(|hop| hop.from.as_deref()),
        Some("Analytical Engine"),
        "{:?}",
        hit.path
    );
    let last = hit.path.last().unwrap();
    assert_eq!((&last.proof.id, last.to.as_deref()), (&hit.memory.id, None));
    assert!(ask(false).hits.iter().all(|hit| hit.path.is_empty()));
}

/// What may not be seen is neither passed, nor named, nor counted.
#[test]
fn a_path_stays_within_what_the_caller_may_see() {
    let place = Place::without_model();
    let engine = place.open();
    add(&engine, "open", &[("a.md", "Alpha", "It begins."), ("c.md", "Gamma", "It ends.")]);
    add(&engine, "secret", &[("b.md", "Bridge", "From [[Alpha]] to [[Gamma]].")]);
    assert_eq!(path(&engine, "Alpha", "Gamma").path.len(), 1);
    let caller = Visibility { collections: Some(["open".to_owned()].into()), ..Visibility::everything() };
    let request = PathRequest { from: "Alpha".into(), to: "Gamma".into(), select: Selection::default() };
    assert!(engine.graph_path(&caller, &request, now()).unwrap().path.is_empty());
    let error = engine.graph_entity(&caller, &entity("Bridge"), now()).unwrap_err();
    assert!(matches!(error, Error::UnknownEntity { .. }), "{error}");
    assert_eq!(engine.graph_entity(&caller, &entity("Alpha"), now()).unwrap().entity.items, 1);
    let whole = engine.graph(&caller, &GraphRequest::default()).unwrap();
    assert_eq!((whole.nodes.len(), whole.edges.len()), (2, 0));
}

#[test]
fn wild_links_titles_and_hubs_give_clear_results() {
    let place = Place::without_model();
    let engine = place.open();
    let caller = Visibility::everything();
    let empty = engine.graph(&caller, &GraphRequest::default()).unwrap();
    assert!(empty.nodes.is_empty() && empty.edges.is_empty());
    // A circle of links, a link to nowhere, two files of one title, a title that is a stop word, a name for SQL.
    add(
        &engine,
        "wild",
        &[
            ("1.md", "One Note", "To [[Two Note]] and [[Nowhere At All]]."),
            ("2.md", "Two Note", "To [[One Note]]. Also `'; DROP TABLE items`."),
            ("3.md", "Home", "First home, see [[One Note]]."),
            ("4/home.md", "Home", "Second home, see [[Two Note]]."),
            ("5.md", "It", "It is it."),
        ],
    );
    let hubs: Vec<(String, String)> =
        (0..40).map(|at| (format!("h{at}.md"), format!("About Hub City number {at}."))).collect();
    let hubs: Vec<(&str, &str, &str)> =
        hubs.iter().map(|(path, text)| (path.as_str(), "", text.as_str())).collect();
    add(&engine, "wild", &hubs);
    assert_eq!(path(&engine, "One Note", "Two Note").path.len(), 1);
    let nowhere = engine.graph_entity(&caller, &entity("Nowhere at all"), now()).unwrap();
    assert_eq!((nowhere.entity.kind, nowhere.documents), (EntityKind::Link, 1));
    let home = engine.graph_entity(&caller, &entity("home"), now()).unwrap();
    assert_eq!((home.entity.kind, home.documents), (EntityKind::Title, 2));
    assert_eq!(engine.graph_entity(&caller, &entity("It"), now()).unwrap().documents, 1);
    let hub = engine.graph_entity(&caller, &entity("hub city"), now()).unwrap();
    assert_eq!((hub.entity.items, hub.hub), (40, true));
    let whole = engine.graph(&caller, &GraphRequest::default()).unwrap();
    assert!(whole.hubs.contains(&"Hub City".to_owned()), "{:?}", whole.hubs);
    let long = "x".repeat(10_000);
    let error = engine.graph_entity(&caller, &entity(&format!("#{long}")), now()).unwrap_err();
    assert!(matches!(error, Error::UnknownEntity { .. }));
}

#[test]
fn relations_are_stated_shown_and_taken_back() {
    let place = Place::without_model();
    let engine = place.open();
    let caller = Visibility::everything();
    let relate = |from: &str, relation: &str, to: &str| RelateRequest {
        from: from.into(),
        relation: relation.into(),
        to: to.into(),
        strength: None,
        proof: None,
        undo: false,
        collection: None,
        scope: Scope::Project,
        owner: None,
        said_by: Author::User,
        host: None,
    };
    let state = |request: &RelateRequest| engine.relate(&caller, request, now());
    // Between names: a memory that states it, once.
    let works = relate("Ada Lovelace", "works_at", "the mill");
    let stated = state(&works).unwrap();
    assert_eq!(stated.outcome, RelateOutcome::Stated);
    let id = stated.memory.unwrap();
    assert_eq!(engine.get(&caller, &id).unwrap().content, "[[Ada Lovelace]] works at [[the mill]].");
    assert_eq!(state(&works).unwrap().outcome, RelateOutcome::Unchanged);
    state(&relate("the mill", "stands-in", "Orsland")).unwrap();
    let found = path(&engine, "Ada Lovelace", "Orsland");
    let relations: Vec<Option<&str>> = found.path.iter().map(|hop| hop.relation.as_deref()).collect();
    assert_eq!(relations, [Some("works_at"), Some("stands_in")]);
    let undo = RelateRequest { undo: true, ..works.clone() };
    assert_eq!(state(&undo).unwrap().outcome, RelateOutcome::Ended);
    assert!(state(&relate("Ada Lovelace", "works_at", "the mill")).unwrap().outcome == RelateOutcome::Stated);
    state(&undo).unwrap();
    assert!(matches!(state(&undo).unwrap_err(), Error::NotFound { .. }));
    // Between memories: a row, whose event can be undone.
    let keep = |text: &str| engine.curate(&caller, &CurateRequest::new(text), now()).unwrap().id.unwrap();
    let (rain, flood) =
        (keep("It rained for nine days in Marrowby."), keep("The cellar of the library was flooded."));
    let causes = RelateRequest { strength: Some(0.5), ..relate(&rain, "causes", &flood) };
    let event = state(&causes).unwrap().event.unwrap();
    assert_eq!(state(&causes).unwrap().outcome, RelateOutcome::Unchanged);
    let related = near(&engine, &rain, 1).related;
    assert_eq!((related[0].inverse, related[0].strength), (false, 0.5));
    assert!(near(&engine, &flood, 1).related[0].inverse);
    let found = path(&engine, &rain, &flood);
    assert_eq!(found.path[0].relation.as_deref(), Some("causes"), "{found:?}");
    engine.undo(&caller, event, now()).unwrap();
    assert!(near(&engine, &rain, 1).related.is_empty());
    // An undo leaves what was said later.
    let first = state(&causes).unwrap().event.unwrap();
    state(&RelateRequest { strength: Some(0.9), ..causes.clone() }).unwrap();
    assert!(engine.undo(&caller, first, now()).is_err());
    assert!((near(&engine, &rain, 1).related[0].strength - 0.9).abs() < 1e-6);
    let ended = RelateRequest { undo: true, ..causes.clone() };
    assert_eq!(state(&ended).unwrap().outcome, RelateOutcome::Ended);
    assert!(matches!(state(&ended).unwrap_err(), Error::NotFound { .. }));
    // A mistyped id is no name.
    let error = state(&relate("0123456789abcdef", "causes", &flood)).unwrap_err();
    assert!(matches!(error, Error::NotFound { .. }), "{error}");
    // Another owner's statement is another one.
    let of = |owner: Option<&str>| RelateRequest {
        owner: owner.map(str::to_owned),
        ..relate("Ann", "likes", "Bob")
    };
    state(&of(Some("ann"))).unwrap();
    assert!(matches!(state(&RelateRequest { undo: true, ..of(None) }).unwrap_err(), Error::NotFound { .. }));
    // What is no relation is refused.
    let long = "x".repeat(201);
    for wrong in [
        relate(&rain, "causes", &rain),
        relate(&rain, "works_at", &flood),
        relate(&rain, "causes", "Ada"),
        relate("Ada", "", "Bob"),
        relate("Ada", "1st", "Bob"),
        relate("", "knows", "Bob"),
        relate("Ada]]", "knows", "Bob"),
        relate("Ada", "knows", &long),
        relate("Ada", "knows", "ADA!"),
        relate("Ada", "knows", "!!!"),
        RelateRequest { proof: Some(flood.clone()), ..causes.clone() },
        RelateRequest { strength: Some(0.0), ..causes.clone() },
        RelateRequest { strength: Some(f32::NAN), ..causes },
    ] {
        let error = state(&wrong).unwrap_err();
        assert!(matches!(error, Error::Invalid { .. }), "{wrong:?}: {error}");
    }
}

/// In a store of two notes both mention whatever connects them, and a hub connects too where it is asked for.
#[test]
fn small_stores_and_hubs_are_connected() {
    let place = Place::without_model();
    let engine = place.open();
    let (ada, town) = ("Ada knew Charles Babbage.", "Here lived Charles Babbage.");
    add(&engine, "notes", &[("a.md", "Ada Lovelace", ada), ("b.md", "Cambridge", town)]);
    assert_eq!(path(&engine, "Ada Lovelace", "Cambridge").path.len(), 2);
    let request =
        PathRequest { from: "Cambridge".into(), to: "cambridge".into(), select: Selection::default() };
    let error = engine.graph_path(&Visibility::everything(), &request, now()).unwrap_err();
    assert!(matches!(error, Error::Invalid { .. }), "{error}");
    let whole = engine.graph(&Visibility::everything(), &GraphRequest::default()).unwrap();
    assert!(!whole.edges.is_empty() && whole.edges.iter().all(|edge| edge.weight > 0.0), "{whole:?}");
    let notes: Vec<(String, String)> = (0..40)
        .map(|at| (format!("h{at}.md"), format!("In Hub City we met Person Q{} again.", at / 2)))
        .collect();
    let notes: Vec<(&str, &str, &str)> =
        notes.iter().map(|(path, text)| (path.as_str(), "", text.as_str())).collect();
    add(&engine, "hubs", &notes);
    assert!(near(&engine, "Hub City", 1).neighbours.len() > 5);
    // Each step has neighbours of its own.
    let two = near(&engine, "Charles Babbage", 2);
    assert!(two.neighbours.iter().is_sorted_by_key(|near| near.depth), "{:?}", two.neighbours);
}
