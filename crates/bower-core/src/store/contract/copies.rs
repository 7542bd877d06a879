//! Contract tests of export and import: items arrive as they were, all or nothing, and overwrite nothing.
//! They arrive with their times, chain, reviews and history.

use super::*;
use crate::item::{Anchor, Relation, Ruling, TextHash, Visibility};
use crate::store::copies::{EventCopy, ExportPiece, ItemCopy, NewItem, NewPiece, PieceOutcome, ReviewCopy};

/// Returns everything in a store, without the header.
pub(super) fn all(store: &dyn Store) -> Vec<ExportPiece> {
    let select = Selection { statuses: Status::ALL.to_vec(), ..Selection::default() };
    let rows = store.page(&select, 1_000, 0).unwrap().0;
    let mut pieces = Vec::new();
    let counts = store
        .give_pieces(&rows, true, at(99), &mut |piece| {
            pieces.push(piece);
            true
        })
        .unwrap();
    let ExportPiece::Header(header) = pieces.remove(0) else { panic!("no header") };
    assert_eq!((header.counts, header.store.as_str()), (counts, store.identity()));
    pieces
}

fn terms() -> DeltaData {
    DeltaData { terms: vec![1], mentions: None }
}

pub(super) fn coming(piece: &ExportPiece) -> Option<NewPiece> {
    Some(match piece.clone() {
        // The reader of an export folds their names.
        ExportPiece::Header(_) | ExportPiece::Alias(_) => return None,
        ExportPiece::Document(document) => NewPiece::Document(document),
        ExportPiece::Item(mut item) => {
            // Made of bytes that show which model they belong to.
            let vector = item.vector.take().map(|vector| NewVector {
                model: vector.model,
                half: (0..vector.half_floats.len() / 2)
                    .map(|at| u8::from_str_radix(&vector.half_floats[at * 2..at * 2 + 2], 16).unwrap())
                    .collect(),
                tokens: None,
            });
            NewPiece::Item(Box::new(NewItem {
                item: *item,
                delta: terms(),
                vector,
                action: "import",
                why: Map::new(),
            }))
        }
        ExportPiece::Relation(relation) => NewPiece::Relation(relation),
        ExportPiece::Review(review) => NewPiece::Review(review),
        ExportPiece::Event(event) => NewPiece::Event(event),
    })
}

/// Fills a store with memories in all stages of their life.
fn lived(store: &dyn StoreAndDesk) {
    store.put_documents(&[document("/notes/v2/a.md", &["one", "two"])], stamp(0)).unwrap();
    let first = put(store, &memory("port 8080"), stamp(1)).unwrap().row;
    let second = store.put_memory(&memory("port 9090"), &decided(WriteAction::Replaces(first)), stamp(2));
    let second = second.unwrap().unwrap().row;
    store.put_memory(&memory("port 9090"), &decided(WriteAction::Confirms(second)), stamp(3)).unwrap();
    let anchor = Anchor {
        root: "/srv/app".into(),
        path: Some("src/a.rs".into()),
        symbol: None,
        lines: Some((3, 9)),
        text: Some(TextHash::of(b"let port = 8080;")),
        commit: None,
    };
    let wild = NewMemory {
        anchors: vec![anchor],
        tags: Vec::new(),
        owner: None,
        id: derive_id(&["wild"]),
        ..memory("\u{0}\u{1b}[2J\r\n𝕏 \u{feff}\"")
    };
    let wild = put(store, &wild, stamp(4)).unwrap().row;
    let disputed =
        store.put_memory(&memory("it is safe"), &decided(WriteAction::Alone), stamp(5)).unwrap().unwrap().row;
    store.put_memory(&memory("it is not safe"), &decided(WriteAction::Disputes(disputed)), stamp(6)).unwrap();
    let settled =
        store.put_memory(&memory("tea"), &decided(WriteAction::Disputes(second)), stamp(7)).unwrap().unwrap();
    store.settle(settled.review.unwrap(), Ruling::Both, stamp(8)).unwrap();
    let related = WriteAction::Relates(second, Relation::RelatedTo, 0.75);
    store.put_memory(&memory("ports are numbers"), &decided(related), stamp(9)).unwrap();
    store.expose(&[(wild, at(10)), (wild, at(11))]).unwrap();
}

#[test]
fn what_left_a_store_comes_in_as_it_was() {
    with_store(|store, _| {
        lived(store);
        let pieces = all(store);
        let sorts = |sort: fn(&ExportPiece) -> bool| pieces.iter().filter(|piece| sort(piece)).count();
        assert_eq!(sorts(|piece| matches!(piece, ExportPiece::Item(_))), 9);
        assert_eq!(sorts(|piece| matches!(piece, ExportPiece::Document(_))), 1);
        assert_eq!(sorts(|piece| matches!(piece, ExportPiece::Relation(_))), 3);
        assert_eq!(sorts(|piece| matches!(piece, ExportPiece::Review(_))), 2);
        // As written to JSON and parsed again.
        let lines: Vec<String> = pieces.iter().map(|piece| serde_json::to_string(piece).unwrap()).collect();
        let read: Vec<ExportPiece> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(read, pieces);
        with_store(|other, _| {
            let coming: Vec<NewPiece> = read.iter().filter_map(coming).collect();
            let dry = other.take_pieces(&coming, true, stamp(50)).unwrap();
            assert_eq!((all(other), other.coverage().unwrap().change), (Vec::new(), Change(0)), "a dry run");
            let fates = other.take_pieces(&coming, false, stamp(50)).unwrap();
            assert_eq!(fates, dry);
            assert!(fates.iter().all(|fate| *fate == PieceOutcome::Added), "{fates:?}");
            assert_eq!(all(other), pieces);
            assert_eq!(other.counts().unwrap(), store.counts().unwrap());
            // Importing the same again is no change.
            let change = other.coverage().unwrap();
            let fates = other.take_pieces(&coming, false, stamp(60)).unwrap();
            assert!(fates.iter().all(|fate| *fate == PieceOutcome::Same), "{fates:?}");
            assert_eq!((all(other), other.coverage().unwrap()), (pieces.clone(), change));
            let id = memory("port 9090").id;
            let actions: Vec<_> = other.events(&id).unwrap().into_iter().map(|event| event.action).collect();
            assert_eq!(
                actions,
                ["import", "curate", "supersede", "confirm", "contradict", "review", "link"]
                    .map(String::from)
                    .into_iter()
                    .filter(|action| actions.contains(action))
                    .collect::<Vec<_>>()
            );
        });
    });
}

fn item(store: &dyn Store, content: &str) -> ItemCopy {
    let (row, _) =
        store.rows_by_id(&memory(content).id, &Visibility::everything(), 1).unwrap().pop().unwrap();
    store.copies(&[row]).unwrap().pop().unwrap().unwrap()
}

fn take(store: &dyn Store, item: ItemCopy) -> PieceOutcome {
    let new = NewItem { item, delta: terms(), vector: None, action: "import", why: Map::new() };
    store.take_pieces(&[NewPiece::Item(Box::new(new))], false, stamp(70)).unwrap().pop().unwrap()
}

#[test]
fn what_is_there_is_not_overwritten() {
    with_store(|store, _| {
        lived(store);
        let before = all(store);
        let refuse = |item: ItemCopy, why: &str| match take(store, item) {
            PieceOutcome::Conflict(reason) => assert!(reason.contains(why), "{reason}"),
            other => panic!("{why}: {other:?}"),
        };
        let there = item(store, "port 9090");
        refuse(ItemCopy { content: "port 7070".into(), ..there.clone() }, "another text");
        refuse(ItemCopy { owner: Some("eve".into()), ..there.clone() }, "another collection, scope or owner");
        refuse(ItemCopy { importance: 0.9, tags: vec!["x".into()], ..there.clone() }, "importance, tags");
        // A chain stays a single line in one namespace, and never becomes a circle.
        let new = ItemCopy {
            id: derive_id(&["new"]),
            content: "port 7070".into(),
            supersedes_id: None,
            ..there.clone()
        };
        let after = |id: &str| ItemCopy { supersedes_id: Some(id.to_owned()), ..new.clone() };
        refuse(after(&memory("port 8080").id), "replaced here");
        refuse(after(&there.id), "is kept");
        refuse(after(&new.id), "circle");
        refuse(ItemCopy { owner: None, ..after(&memory("port 8080").id) }, "replaced here");
        let old = item(store, "port 8080");
        let back = ItemCopy { status: Status::Active, update_time: at(40), ..old };
        refuse(back, "replaced it here");
        assert_eq!(all(store), before);
        // An older form leaves the existing item as it is. A newer form replaces its fields.
        assert_eq!(
            take(store, ItemCopy { update_time: at(1), tags: Vec::new(), ..there.clone() }),
            PieceOutcome::Newer
        );
        assert_eq!(all(store), before);
        let newer = ItemCopy {
            update_time: at(40),
            tags: vec!["z".into(), "a".into()],
            status: Status::Archived,
            ..there
        };
        assert_eq!(take(store, newer.clone()), PieceOutcome::Updated);
        let now = item(store, "port 9090");
        assert_eq!((now.tags, now.hidden_time), (vec!["a".to_owned(), "z".to_owned()], Some(at(40))));
        assert_eq!(take(store, newer), PieceOutcome::Same);
        // An archived memory may become active again: no imported memory takes its place.
        refuse(after(&memory("port 9090").id), "is kept");
        let last = store.events(&memory("port 9090").id).unwrap().pop().unwrap();
        assert_eq!((last.action.as_str(), &last.detail["changed"]), ("import", &json!(["tags", "status"])));
    });
}

#[test]
fn what_hangs_on_nothing_is_left_out() {
    with_store(|store, _| {
        put(store, &memory("one"), stamp(1)).unwrap();
        let elsewhere = NewMemory { owner: None, id: derive_id(&["other"]), ..memory("other") };
        put(store, &elsewhere, stamp(2)).unwrap();
        let review = |newer: &str, older: &str| {
            NewPiece::Review(ReviewCopy {
                review: 1,
                newer: newer.into(),
                older: older.into(),
                reason: "r".into(),
                create_time: at(1),
                outcome: None,
                close_time: None,
            })
        };
        let event = EventCopy {
            subject: derive_id(&["nobody"]),
            together: 1,
            action: "curate".into(),
            time: at(1),
            actor: "x".into(),
            detail: json!({}),
        };
        let pieces = [
            review(&memory("one").id, &elsewhere.id),
            review(&memory("one").id, "gone"),
            NewPiece::Event(event),
        ];
        let fates = store.take_pieces(&pieces, false, stamp(3)).unwrap();
        assert!(fates.iter().all(|fate| matches!(fate, PieceOutcome::Conflict(_))), "{fates:?}");
        assert_eq!(store.reviews(true).unwrap(), []);
        // A document that exists here in another version keeps out the imported chunks.
        store.put_documents(&[document("/a.md", &["one"])], stamp(4)).unwrap();
        let there = all(store);
        let Some(ExportPiece::Document(known)) =
            there.iter().find(|piece| matches!(piece, ExportPiece::Document(_)))
        else {
            panic!()
        };
        let Some(ExportPiece::Item(part)) =
            there.iter().find(|piece| matches!(piece, ExportPiece::Item(item) if item.part.is_some()))
        else {
            panic!()
        };
        let other =
            NewPiece::Document(crate::store::copies::DocumentCopy { hash: "h9".into(), ..known.clone() });
        let stray = ExportPiece::Item(Box::new(ItemCopy {
            id: derive_id(&["stray"]),
            content: "stray".into(),
            ..(**part).clone()
        }));
        let fates = store.take_pieces(&[other, coming(&stray).unwrap()], false, stamp(5)).unwrap();
        assert!(fates.iter().all(|fate| matches!(fate, PieceOutcome::Conflict(_))), "{fates:?}");
        assert_eq!(all(store), there);
    });
}

#[test]
fn a_batch_that_is_cut_short_is_not_there_at_all() {
    with_store(|from, _| {
        lived(from);
        let pieces = all(from);
        let coming: Vec<NewPiece> = pieces.iter().filter_map(coming).collect();
        with_store(|to, fixture| {
            let mut interrupted = 0;
            for steps in (1..).map(|n| n * 211) {
                let failing = fixture.open_failing(steps);
                match failing.take_pieces(&coming, false, stamp(50)) {
                    Err(error) => {
                        assert!(matches!(error, Error::Store { .. }), "{error:?}");
                        interrupted += 1;
                        assert_eq!(all(&*failing), []);
                    }
                    Ok(_) => break,
                }
            }
            assert!(interrupted > 10, "only {interrupted} writes were cut short");
            assert_eq!(all(to), pieces);
        });
    });
}
