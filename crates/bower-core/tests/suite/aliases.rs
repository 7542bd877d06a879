//! Tests aliases, names that people state to mean one entity: in the graph, in questions, moved and undone.

use bower_core::Error;
use bower_core::engine::Engine;
use bower_core::item::{Scope, Visibility};
use bower_core::request::moving::{ExportRequest, ImportRequest};
use bower_core::request::{
    AliasList, AliasOutcome, AliasRequest, EntityReport, EntityRequest, ForgetRequest, Forgetting,
    GraphRequest, NeighboursRequest, PathRequest, QueryRequest, Selection, StatedAlias,
};
use std::path::Path;

use crate::place::{Place, contents, keep, now};

const ALL: Visibility = Visibility::everything();

/// Three notes that only an alias connects: one says `K8s`, the others `Kubernetes`.
fn notes() -> (Place, Engine) {
    let place = Place::without_model();
    for (name, text) in [
        ("orders.md", "# Orders\n\nThe order service runs on K8s in Fornholt.\n"),
        ("cluster.md", "# Kubernetes\n\nThe cluster is paid by Orsland Court.\n"),
        ("upgrade.md", "# Upgrade\n\nWe upgrade Kubernetes each May, says Rosa Bianchi.\n"),
        ("bread.md", "# Bread\n\nKnead the dough with Rosa Bianchi.\n"),
    ] {
        place.write(name, text);
    }
    let engine = place.open();
    place.index(&engine);
    (place, engine)
}

fn alias(engine: &Engine, name: &str, other: &str) -> StatedAlias {
    let request = AliasRequest { name: name.into(), other: other.into(), undo: false };
    engine.alias(&ALL, &request, now()).unwrap()
}

fn entity(engine: &Engine, name: &str) -> Result<EntityReport, Error> {
    let request = EntityRequest { name: name.into(), limit: 10, select: Selection::default() };
    engine.graph_entity(&ALL, &request, now())
}

fn path(engine: &Engine, from: &str, to: &str) -> Vec<(Option<String>, Option<String>)> {
    let request = PathRequest { from: from.into(), to: to.into(), select: Selection::default() };
    let path = engine.graph_path(&ALL, &request, now()).unwrap().path;
    path.into_iter().map(|hop| (hop.to, hop.alias)).collect()
}

/// The names of each entity with aliases.
fn names(list: &AliasList) -> Vec<String> {
    list.entities.iter().map(|one| one.names.join(" = ")).collect()
}

#[test]
fn names_that_a_person_joins_are_one_entity_everywhere() {
    let (_place, engine) = notes();
    assert_eq!(entity(&engine, "K8s").unwrap().entity.items, 1);
    assert!(path(&engine, "Fornholt", "Orsland Court").is_empty());
    let before = engine.graph(&ALL, &GraphRequest::default()).unwrap();
    let request = QueryRequest { text: "Who pays for K8s?".into(), ..QueryRequest::default() };
    let asked = || contents(&engine.query(&ALL, &request, now()).unwrap()).join("\n");
    assert!(!asked().contains("Orsland Court"));

    let stated = alias(&engine, "K8s", "Kubernetes");
    assert_eq!((stated.outcome, stated.unknown.len()), (AliasOutcome::Stated, 0));
    let found = entity(&engine, "k8s").unwrap();
    assert_eq!((found.entity.items, found.documents), (3, 3));
    assert_eq!((found.stated[0].name.as_str(), found.stated[0].other.as_str()), ("K8s", "Kubernetes"));
    assert_eq!(found, entity(&engine, "Kubernetes").unwrap(), "by whichever name");
    // The path says where the name changes.
    assert_eq!(
        path(&engine, "Fornholt", "Orsland Court"),
        [(Some("K8s".into()), Some("Kubernetes".into())), (Some("Orsland Court".into()), None)]
    );
    let near = NeighboursRequest {
        name: "K8s".into(),
        depth: 1,
        kinds: Vec::new(),
        limit: 20,
        select: Selection::default(),
    };
    let near = engine.graph_neighbours(&ALL, &near, now()).unwrap();
    assert!(near.neighbours.iter().any(|one| one.entity.name == "Rosa Bianchi"), "{near:?}");
    let after = engine.graph(&ALL, &GraphRequest::default()).unwrap();
    let count = |graph: &bower_core::request::WholeGraph, name: &str| {
        graph
            .nodes
            .iter()
            .filter(|node| node.name == name && !node.kind.is_item())
            .map(|node| node.items)
            .sum::<usize>()
    };
    assert_eq!((count(&before, "Kubernetes"), count(&after, "Kubernetes")), (2, 3));
    assert!(asked().contains("Orsland Court"), "the walk passes the alias");
    // A document's title is known by its aliases too.
    let title = QueryRequest { text: "k8s".into(), ..QueryRequest::default() };
    assert!(engine.query(&ALL, &title, now()).unwrap().hits[0].memory.content.starts_with("# Kubernetes"));

    engine.undo(&ALL, stated.event.unwrap(), now()).unwrap();
    assert_eq!(entity(&engine, "K8s").unwrap().entity.items, 1);
    assert_eq!(engine.graph(&ALL, &GraphRequest::default()).unwrap(), before, "as if nobody had said so");
    assert!(!asked().contains("Orsland Court"));
}

#[test]
fn a_chain_is_one_entity_and_a_circle_joins_no_more() {
    let (_place, engine) = notes();
    alias(&engine, "K8s", "Kube");
    let chain = alias(&engine, "kube", "Kubernetes");
    assert_eq!(chain.names, ["K8s", "Kube", "Kubernetes"]);
    let whole = entity(&engine, "K8s").unwrap();
    assert_eq!(whole.entity.items, 3);
    let circle = alias(&engine, "Kubernetes", "K8s");
    assert_eq!((circle.outcome, circle.names.len()), (AliasOutcome::Stated, 3));
    assert_eq!(entity(&engine, "K8s").unwrap().entity, whole.entity);
    assert_eq!(names(&engine.aliases(&ALL, None).unwrap()), ["K8s = Kube = Kubernetes"]);
    // Without the middle, the circle still joins the ends.
    let undo = AliasRequest { name: "Kube".into(), other: "K8S".into(), undo: true };
    assert_eq!(engine.alias(&ALL, &undo, now()).unwrap().outcome, AliasOutcome::Ended);
    assert_eq!(entity(&engine, "K8s").unwrap().entity, whole.entity);
    assert_eq!(engine.aliases(&ALL, Some("nobody")).unwrap().entities, []);
    assert_eq!(engine.aliases(&ALL, Some("kube")).unwrap().entities[0].names.len(), 3);
}

#[test]
fn a_repeated_alias_changes_nothing_and_bad_names_are_refused() {
    let (_place, engine) = notes();
    let wild = alias(&engine, "'; DROP TABLE entity_aliases; --", "Kubernetes");
    assert_eq!(wild.unknown, ["'; DROP TABLE entity_aliases; --"]);
    let change = engine.last_change().unwrap();
    let again = alias(&engine, "KUBERNETES", "'; drop table entity_aliases; --");
    assert_eq!((again.outcome, again.event), (AliasOutcome::Unchanged, None));
    assert_eq!(engine.last_change().unwrap(), change);
    let refused = |name: &str, other: &str, undo: bool, part: &str| {
        let request = AliasRequest { name: name.into(), other: other.into(), undo };
        let error = engine.alias(&ALL, &request, now()).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    };
    refused("K8s", "k8S.", false, "one name already");
    refused("?!", "K8s", false, "no letter or digit");
    refused("K8s", &"a".repeat(201), false, "longer than 200 bytes");
    refused("K8s", "Kubernetes", true, "alias");
    let part = Visibility { scope: Some(Scope::Project), ..Visibility::everything() };
    let request = AliasRequest { name: "K8s".into(), other: "Kubernetes".into(), undo: false };
    assert!(matches!(engine.alias(&part, &request, now()), Err(Error::WholeStore { .. })));
    assert!(matches!(engine.aliases(&part, None), Err(Error::WholeStore { .. })));
    alias(&engine, "K8s", "Kubernetes");
    let request = EntityRequest { name: "K8s".into(), limit: 10, select: Selection::default() };
    let seen = engine.graph_entity(&part, &request, now()).unwrap();
    assert_eq!((seen.entity.items, seen.stated.len()), (3, 0), "the alias holds, and names nothing else");
}

#[test]
fn aliases_are_undone_and_brought_back() {
    let (_place, engine) = notes();
    let stated = alias(&engine, "K8s", "Kubernetes").event.unwrap();
    let undone = engine.undo(&ALL, stated, now()).unwrap();
    assert_eq!(undone.items, ["K8s = Kubernetes"]);
    assert!(engine.aliases(&ALL, None).unwrap().entities.is_empty());
    let refused = engine.undo(&ALL, stated, now()).unwrap_err().to_string();
    assert!(refused.contains("it was taken back since"), "{refused}");
    engine.undo(&ALL, undone.event, now()).unwrap();
    assert_eq!(names(&engine.aliases(&ALL, None).unwrap()), ["K8s = Kubernetes"]);
    let request = AliasRequest { name: "K8s".into(), other: "Kubernetes".into(), undo: true };
    let ended = engine.alias(&ALL, &request, now()).unwrap();
    engine.undo(&ALL, ended.event.unwrap(), now()).unwrap();
    assert_eq!(entity(&engine, "K8s").unwrap().entity.items, 3, "an undo of --undo");
}

#[test]
fn aliases_move_with_the_whole_store_and_outlive_what_they_name() {
    let (_place, engine) = notes();
    let secret = keep(&engine, "The Bluebird project is led by Ada Marsh");
    alias(&engine, "Bluebird", "Project Kestrel");
    alias(&engine, "K8s", "Kubernetes");
    let mut lines = Vec::new();
    let request = ExportRequest::default();
    let exported = engine.export_lines(&ALL, &request, &mut lines, Path::new("out"), now()).unwrap();
    assert_eq!(exported.aliases, 2);
    let part = ExportRequest {
        select: Selection { tags: vec!["none".into()], ..Selection::default() },
        ..ExportRequest::default()
    };
    let of_part = engine.export_lines(&ALL, &part, &mut Vec::new(), Path::new("out"), now()).unwrap();
    assert_eq!(of_part.aliases, 0, "a part names nothing else");

    let other = Place::without_model();
    let copy = other.open();
    let read = |dry_run: bool| {
        let request = ImportRequest { dry_run, ..ImportRequest::default() };
        let mut import = copy.import(&ALL, request, now(), &|_| {}).unwrap();
        import.file("lines", lines.as_slice()).unwrap();
        import.finish().unwrap()
    };
    assert_eq!((read(true).aliases, copy.aliases(&ALL, None).unwrap().entities.len()), (2, 0));
    let imported = read(false);
    assert_eq!((imported.aliases, imported.failed), (2, 0), "{imported:?}");
    assert_eq!(copy.aliases(&ALL, None).unwrap(), engine.aliases(&ALL, None).unwrap());
    assert_eq!(read(false).aliases, 0, "again nothing is new");

    let quoted = |words: &str| engine.residue(&ALL, words).unwrap();
    // What a person said about names is no part of a text, so it stays until that person takes it back.
    engine.forget(&ALL, &Forgetting::of(ForgetRequest::Ids(vec![secret])), now()).unwrap();
    assert_eq!(names(&engine.aliases(&ALL, None).unwrap()).len(), 2);
    assert_eq!(quoted("bluebird").aliases, ["Bluebird = Project Kestrel"]);
    // Taken back, its names go with the next text that has them.
    let undo = AliasRequest { name: "Project Kestrel".into(), other: "Bluebird".into(), undo: true };
    engine.alias(&ALL, &undo, now()).unwrap();
    let again = keep(&engine, "Nobody may know of the Bluebird plan");
    engine.forget(&ALL, &Forgetting::of(ForgetRequest::Ids(vec![again])), now()).unwrap();
    let left = quoted("bluebird");
    assert!(!left.found && left.aliases.is_empty(), "{left:?}");
    assert!(!quoted("kestrel").found);
}
