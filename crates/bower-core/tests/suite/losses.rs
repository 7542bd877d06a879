//! Tests of damaged store files: no acknowledged change goes in silence, and what can be read is saved.

use bower_core::engine::Engine;
use bower_core::item::{Kind, Part, Status, Step, Visibility};
use bower_core::request::{Check, Degraded, ForgetRequest, Forgetting, Outcome, QueryRequest, Selection};
use bower_core::sqlite;
use std::path::{Path, PathBuf};

use crate::place::{Place, Random, contents, keep, now};

const FRAME: usize = 24 + 4_096;
const LOG_HEADER: usize = 32;

fn file(place: &Place, name: &str) -> PathBuf {
    place.home().join(name)
}

fn told(nth: usize) -> String {
    format!("The valve number {nth} of the fountain is {} mm wide.", nth * 7 + 3)
}

/// Some memories, each of a process of its own.
fn filled(count: usize) -> Place {
    let place = Place::without_model();
    for nth in 0..count {
        keep(&place.open(), &told(nth));
    }
    place
}

fn of_store(degraded: &[Degraded]) -> Vec<&str> {
    let of_store = degraded.iter().filter(|one| one.channel == Part::Step(Step::Store));
    of_store.map(|one| one.reason.as_str()).collect()
}

fn listed(engine: &Engine) -> Vec<String> {
    let all = engine.list(&Visibility::everything(), &Selection::default(), 1_000, 0).unwrap();
    all.memories.into_iter().map(|item| item.content).collect()
}

fn asked(engine: &Engine, text: &str) -> bower_core::request::Answer {
    let request = QueryRequest { text: text.into(), fast: true, ..QueryRequest::default() };
    engine.query(&Visibility::everything(), &request, now()).unwrap()
}

fn bad(checks: &[Check]) -> Vec<&Check> {
    checks.iter().filter(|check| check.outcome == Outcome::Bad).collect()
}

/// Copies the files of a home into another.
fn copied(from: &Place) -> Place {
    let to = Place::without_model();
    std::fs::create_dir_all(to.home()).unwrap();
    for entry in std::fs::read_dir(from.home()).unwrap() {
        let entry = entry.unwrap();
        if entry.path().is_file() && !entry.path().to_string_lossy().ends_with("-shm") {
            std::fs::copy(entry.path(), to.home().join(entry.file_name())).unwrap();
        }
    }
    to
}

fn damage(path: &Path, at: usize, with: &[u8]) {
    let mut bytes = std::fs::read(path).unwrap();
    bytes[at..at + with.len()].copy_from_slice(with);
    std::fs::write(path, bytes).unwrap();
}

/// The log's frames prove themselves, and one changed byte is undone: all is there again, and nothing is left to tell. Behind the last
/// frame nothing proves which of several repairs is right: then it is told as a loss.
#[test]
fn one_changed_byte_in_the_log_is_undone_or_told() {
    let place = filled(4);
    let log = std::fs::read(file(&place, "memory.db-wal")).unwrap();
    let (mut chance, mut undone) = (Random(24), 0);
    for trial in 0..24 {
        let copy = copied(&place);
        let at =
            [1_000, LOG_HEADER + 3][..].get(trial).copied().unwrap_or_else(|| chance.below(log.len() - 8));
        damage(&file(&copy, "memory.db-wal"), at, &[log[at] ^ 0xFF]);
        let engine = copy.open();
        let mut found = listed(&engine);
        found.sort_unstable();
        let losses = engine.losses().unwrap();
        if !losses.is_empty() {
            assert!(losses[0].kept.is_some(), "byte {at}");
            assert!(!asked(&engine, "valve").degraded.is_empty(), "byte {at}");
            continue;
        }
        undone += 1;
        assert_eq!(found, (0..4).map(told).collect::<Vec<_>>(), "byte {at}");
        assert_eq!(
            bad(&engine.doctor(&Visibility::everything()).unwrap()),
            Vec::<&Check>::new(),
            "byte {at}"
        );
        keep(&engine, "The mill grinds on Wednesdays.");
        assert_eq!(contents(&asked(&engine, "mill")), ["The mill grinds on Wednesdays."]);
        assert!(!file(&copy, "memory.db-damaged").join("partial").exists());
    }
    // Of the rest several repairs fit: no text, checksum or page tells which is right.
    assert!(undone >= 22, "{undone} of 24");
}

/// More than a word is gone: what stood behind it is missing, every answer says so, and it can be saved.
#[test]
fn what_a_damaged_log_lost_is_told_and_saved() {
    let place = filled(6);
    let path = file(&place, "memory.db-wal");
    let frames = (std::fs::metadata(&path).unwrap().len() as usize - LOG_HEADER) / FRAME;
    // In the last third, so that some transactions stand before it and some behind.
    for part in [6, 7, 8] {
        let copy = copied(&place);
        // Later frames hold what one in the middle held, so one of the last is damaged as well.
        for frame in [frames * part / 10, frames - 2] {
            damage(&file(&copy, "memory.db-wal"), LOG_HEADER + frame * FRAME + 24 + 1_000, &[0xA5; 80]);
        }
        let engine = copy.open();
        let there = listed(&engine);
        assert!((1..6).contains(&there.len()), "{there:?}");
        let losses = engine.losses().unwrap();
        assert_eq!(losses.len(), 1);
        assert!(losses[0].kept.as_ref().unwrap().is_dir());
        let sentence = losses[0].sentence();
        for degraded in [
            asked(&engine, "valve").degraded,
            engine.list(&Visibility::everything(), &Selection::default(), 1, 0).unwrap().degraded,
            engine
                .curate(
                    &Visibility::everything(),
                    &bower_core::request::CurateRequest::new("The tower is white."),
                    now(),
                )
                .unwrap()
                .degraded,
            engine.degraded().unwrap(),
        ] {
            assert_eq!(of_store(&degraded), [sentence.as_str()]);
        }
        assert_eq!(engine.status(&Visibility::everything()).unwrap().losses, losses);
        assert_eq!(bad(&engine.doctor(&Visibility::everything()).unwrap())[0].name, "changes");
        // A number that was acknowledged means no other change.
        assert!(engine.last_change().unwrap() > losses[0].last_change);
        drop(engine);
        // Whoever opens it next is told as well.
        assert_eq!(copy.open().losses().unwrap(), losses);

        let rescue = Place::without_model();
        let salvaged =
            sqlite::salvage(&file(&copy, "memory.db"), &rescue.home(), &rescue.settings, now()).unwrap();
        let mut saved = listed(&rescue.open());
        saved.sort_unstable();
        let mut wanted: Vec<String> = (0..6).map(told).chain(["The tower is white.".to_owned()]).collect();
        wanted.sort_unstable();
        let lost: Vec<_> = wanted.iter().filter(|text| !saved.contains(text)).collect();
        assert!(lost.len() <= 1, "{lost:?} of {salvaged:?}");
        assert_eq!(salvaged.findings, Vec::<String>::new());

        assert_eq!(copy.open().accept_losses(now()).unwrap(), 1);
        let engine = copy.open();
        assert_eq!((engine.losses().unwrap(), engine.degraded().unwrap()), (vec![], vec![]));
        assert_eq!(bad(&engine.doctor(&Visibility::everything()).unwrap()), Vec::<&Check>::new());
        assert!(!file(&copy, "memory.db-damaged").exists());
    }
}

/// A log that is gone, a file that is empty, or none at all: what the head names is missing.
#[test]
fn files_that_are_gone_are_missed() {
    let place = filled(5);
    for (nth, name) in ["memory.db-wal", "memory.db", "memory.db"].into_iter().enumerate() {
        let copy = copied(&place);
        if nth == 2 {
            std::fs::write(file(&copy, name), b"").unwrap();
        } else {
            std::fs::remove_file(file(&copy, name)).unwrap();
        }
        let engine = copy.open();
        let found = listed(&engine);
        if found.len() < 5 {
            assert_eq!(engine.losses().unwrap().len(), 1, "{name}");
            assert_eq!(of_store(&asked(&engine, "valve").degraded).len(), 1);
        } else {
            assert_eq!(engine.losses().unwrap(), [], "{name}");
        }
        keep(&engine, "The tower is white.");
    }
}

/// Copies, backups and homes without a head are whole, and nobody is told otherwise.
#[test]
fn nothing_is_missed_where_nothing_is_missing() {
    let place = filled(3);
    let backup = place.home().join("old.db");
    place.open().backup(&Visibility::everything(), &backup).unwrap();
    let sound = |place: &Place, count: usize| {
        let engine = place.open();
        assert_eq!(listed(&engine).len(), count);
        assert_eq!((engine.losses().unwrap(), engine.degraded().unwrap()), (vec![], vec![]));
        keep(&engine, "The tower is white.");
        assert_eq!(bad(&engine.doctor(&Visibility::everything()).unwrap()), Vec::<&Check>::new());
    };
    keep(&place.open(), &told(3));
    // A backup in the store's place, by hand and by command.
    let by_hand = copied(&place);
    std::fs::remove_file(file(&by_hand, "memory.db-wal")).unwrap();
    std::fs::copy(&backup, file(&by_hand, "memory.db")).unwrap();
    sound(&by_hand, 3);
    let restored = copied(&place);
    restored.restore(&backup);
    sound(&restored, 3);
    // A home that was copied without its head, and one whose head is older than the store.
    let headless = copied(&place);
    std::fs::remove_file(file(&headless, "memory.db-head")).unwrap();
    sound(&headless, 4);
    let behind = copied(&place);
    let head = std::fs::read(file(&behind, "memory.db-head")).unwrap();
    keep(&behind.open(), &told(9));
    std::fs::write(file(&behind, "memory.db-head"), head).unwrap();
    sound(&behind, 5);
    // One whose head is no head.
    let broken = copied(&place);
    std::fs::write(file(&broken, "memory.db-head"), [7; 900]).unwrap();
    sound(&broken, 4);
}

/// With the older files of two changes in the store's place, the third is told as a loss.
fn assert_third_change_is_missed(place: &Place, older: &Place) {
    for name in ["memory.db", "memory.db-wal"] {
        std::fs::copy(file(older, name), file(place, name)).unwrap();
    }
    std::fs::remove_file(file(place, "memory.db-shm")).ok();
    let engine = place.open();
    let losses = engine.losses().unwrap();
    assert_eq!((losses.len(), losses[0].first_change, losses[0].last_change), (1, 3, 3));
    assert_eq!(listed(&engine).len(), 2);
}

/// An older copy of the file in the store's place is a loss: it is told until it is accepted.
#[test]
fn an_older_file_in_the_stores_place_is_told() {
    let place = filled(2);
    let older = copied(&place);
    keep(&place.open(), &told(2));
    assert_third_change_is_missed(&place, &older);
}

/// The disk loses a store that was restored: what is there again is the store before it, and what that lacks is told.
#[test]
fn a_restored_store_that_the_disk_loses_is_told() {
    let place = filled(2);
    let backup = place.home().join("old.db");
    place.open().backup(&Visibility::everything(), &backup).unwrap();
    let older = copied(&place);
    keep(&place.open(), &told(2));
    place.restore(&backup);
    assert_third_change_is_missed(&place, &older);
}

/// A process that has the store open writes nothing over a log that turns out to be damaged.
#[test]
fn a_writer_looks_before_it_writes() {
    let place = filled(3);
    let engine = place.open();
    // Another process was killed after its head, with a log that the disk lost: as a head of a later change says.
    let ahead = copied(&place);
    keep(&ahead.open(), &told(7));
    std::fs::copy(file(&ahead, "memory.db-head"), file(&place, "memory.db-head")).unwrap();
    assert_eq!(engine.losses().unwrap(), []);
    keep(&engine, "The tower is white.");
    let losses = engine.losses().unwrap();
    assert_eq!((losses.len(), losses[0].first_change, losses[0].last_change), (1, 4, 4));
    assert_eq!(listed(&engine).len(), 4);
    assert_eq!(of_store(&asked(&engine, "tower").degraded).len(), 1);
}

/// Everything that a store says, in one text.
fn said(engine: &Engine) -> bower_core::Result<String> {
    let select = Selection { statuses: Status::ALL.to_vec(), ..Selection::default() };
    let page = engine.list(&Visibility::everything(), &select, 1_000, 0)?;
    let mut all = serde_json::to_string(&page.memories).unwrap();
    for item in &page.memories {
        all += &serde_json::to_string(&engine.get(&Visibility::everything(), &item.id)?).unwrap();
        // Chunks have no history of their own.
        if item.kind == Kind::Memory {
            all += &serde_json::to_string(&engine.history(&Visibility::everything(), &item.id)?).unwrap();
        }
    }
    for question in ["valve", "drawer", "fountain 10"] {
        let request = QueryRequest { text: question.into(), fast: true, ..QueryRequest::default() };
        let answer = engine.query(&Visibility::everything(), &request, now())?;
        all += &serde_json::to_string(&answer.hits).unwrap();
    }
    for check in engine.documents(&Visibility::everything(), &Selection::default(), 100, 0)?.documents {
        all += &serde_json::to_string(&check).unwrap();
    }
    Ok(all)
}

/// A bit anywhere in the store's file: what it says is as before, or something tells.
#[test]
fn a_changed_bit_in_the_file_is_found_or_harmless() {
    let place = filled(12);
    for nth in 0..6 {
        place.write(
            &format!("{nth}.md"),
            format!("# Drawer {nth}\n\nThe spare valve {nth} lies in drawer {}.", nth + 2),
        );
    }
    let engine = place.open();
    place.index(&engine);
    let before = said(&engine).unwrap();
    drop(engine);
    let whole = std::fs::read(file(&place, "memory.db")).unwrap();
    assert_eq!(std::fs::metadata(file(&place, "memory.db-wal")).map_or(0, |log| log.len()), 0);
    let (mut chance, mut found, mut texts) = (Random(5), 0, 0);
    for trial in 0..120 {
        let copy = copied(&place);
        // Every other one where a text stands.
        let at = if trial % 2 == 0 {
            chance.below(whole.len())
        } else {
            let places: Vec<usize> = whole
                .windows(5)
                .enumerate()
                .filter(|(_, part)| *part == b"valve")
                .map(|(at, _)| at)
                .collect();
            places[chance.below(places.len())] + chance.below(5)
        };
        let bit = 1 << chance.below(8);
        damage(&file(&copy, "memory.db"), at, &[whole[at] ^ bit]);
        let opened = Engine::open(&copy.home(), copy.settings.clone(), now());
        let Ok(engine) = opened else {
            found += 1;
            continue;
        };
        let after = said(&engine);
        let is_told = after.is_err() || !of_store(&engine.degraded().unwrap_or_default()).is_empty();
        if after.as_ref().is_ok_and(|after| *after == before) {
            continue;
        }
        let is_found = match engine.doctor(&Visibility::everything()) {
            Ok(checks) => !bad(&checks).is_empty(),
            Err(_) => true,
        };
        assert!(is_found, "byte {at} ^ {bit}: {:?}", after.map(|after| after.len()));
        // A text is never given as if it were sound.
        if let Ok(after) = &after
            && trial % 2 == 1
            && !is_told
        {
            assert_eq!(after.len(), before.len(), "byte {at} ^ {bit}");
        }
        found += 1;
        texts += trial % 2;
    }
    assert!(found > 40 && texts > 20, "{found} and {texts} of 120");
}

/// A text that is not as it was written is not given: it is named, it can be forgotten, and salvaged.
#[test]
fn a_changed_text_is_named_and_never_given() {
    let place = filled(3);
    let id = keep(&place.open(), "The marmalade shelf stands in the pantry.");
    let engine = place.open();
    place.write("a.md", "# A\n\nThe pump is in the garden.");
    place.index(&engine);
    drop(engine);
    let database = file(&place, "memory.db");
    let bytes = std::fs::read(&database).unwrap();
    let needle = b"The marmalade shelf stands in the pantry.";
    let places: Vec<usize> = bytes
        .windows(needle.len())
        .enumerate()
        .filter(|(_, part)| part == needle)
        .map(|(at, _)| at)
        .collect();
    for at in &places {
        damage(&database, at + 4, b"M");
    }
    let engine = place.open();
    let answer = asked(&engine, "marmalade shelf pantry");
    assert!(contents(&answer).iter().all(|text| !text.contains("shelf")), "{answer:?}");
    assert!(of_store(&answer.degraded)[0].contains(&id), "{:?}", answer.degraded);
    let refused = engine.get(&Visibility::everything(), &id).unwrap_err().to_string();
    assert!(refused.contains(&id) && refused.contains("not as it was written"), "{refused}");
    let listing = engine.list(&Visibility::everything(), &Selection::default(), 100, 0).unwrap();
    assert_eq!(listing.memories.iter().filter(|item| item.damaged).count(), 1);
    let checks = engine.doctor(&Visibility::everything()).unwrap();
    assert!(bad(&checks)[0].detail.contains(&format!("the text of item {id}")), "{checks:?}");
    let refused = engine
        .export_lines(
            &Visibility::everything(),
            &bower_core::request::moving::ExportRequest::default(),
            &mut Vec::<u8>::new(),
            Path::new("x"),
            now(),
        )
        .unwrap_err()
        .to_string();
    assert!(refused.contains("read the items"), "{refused}");

    let rescue = Place::without_model();
    let salvaged =
        sqlite::salvage(&file(&place, "memory.db"), &rescue.home(), &rescue.settings, now()).unwrap();
    assert_eq!((salvaged.damaged.as_slice(), salvaged.memories), ([id.clone()].as_slice(), 4));
    let saved = rescue.open();
    assert_eq!(
        saved.get(&Visibility::everything(), &id).unwrap().content,
        "The Marmalade shelf stands in the pantry."
    );
    assert_eq!(saved.get(&Visibility::everything(), &id).unwrap().tags, ["damaged"]);

    let how = Forgetting::of(ForgetRequest::Ids(vec![id]));
    engine.forget(&Visibility::everything(), &how, now()).unwrap();
    assert_eq!(bad(&engine.doctor(&Visibility::everything()).unwrap()), Vec::<&Check>::new());
}

/// Whole pages are noise: the rest is saved, and what is not is named.
#[test]
fn a_broken_file_is_saved_page_by_page() {
    let place = filled(30);
    for nth in 0..10 {
        let text = format!("The spare valve {nth} lies in drawer {}. ", nth + 2).repeat(20);
        place.write(&format!("{nth}.md"), format!("# Drawer {nth}\n\n{text}"));
    }
    let engine = place.open();
    place.index(&engine);
    let all = engine.list(&Visibility::everything(), &Selection::default(), 1_000, 0).unwrap().total;
    drop(engine);
    let whole = std::fs::read(file(&place, "memory.db")).unwrap();
    let pages = whole.len() / 4_096;
    let (mut chance, mut least) = (Random(9), usize::MAX);
    for page in (0..pages).step_by(3) {
        let copy = copied(&place);
        let noise: Vec<u8> = (0..4_096).map(|_| chance.below(256) as u8).collect();
        damage(&file(&copy, "memory.db"), page * 4_096, &noise);
        let rescue = Place::without_model();
        let salvaged =
            sqlite::salvage(&file(&copy, "memory.db"), &rescue.home(), &rescue.settings, now()).unwrap();
        let saved = rescue.open();
        let there = saved.list(&Visibility::everything(), &Selection::default(), 1_000, 0).unwrap().total;
        assert_eq!(
            bad(&saved.doctor(&Visibility::everything()).unwrap()),
            Vec::<&Check>::new(),
            "page {page}"
        );
        assert!(
            there + salvaged.unplaced + salvaged.unreadable.len() >= all || there * 2 > all,
            "page {page}: {salvaged:?}"
        );
        least = least.min(there + salvaged.unplaced);
    }
    assert!(least * 3 > all, "{least} of {all}");
    // Nothing is written where a store is.
    let again = sqlite::salvage(&file(&place, "memory.db"), &place.home(), &place.settings, now())
        .unwrap_err()
        .to_string();
    assert!(again.contains("there is a store already"), "{again}");
}
