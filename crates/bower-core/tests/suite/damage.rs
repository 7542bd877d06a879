//! Tests of damaged files below `index/` and of the model.
//! They must cause no panic and no different answer without a warning, and the next compaction makes the indexes anew.

mod matrix;

use bower_core::engine::Engine;
use bower_core::item::Visibility;
use bower_core::request::{Answer, ForgetRequest, Forgetting, Outcome, QueryRequest};
use std::fs;
use std::path::{Path, PathBuf};

use crate::place::{Place, keep, now};

const WORDS: [&str; 12] =
    ["weir", "carp", "tench", "perch", "otter", "reed", "lock", "sluice", "heron", "ferry", "mill", "barge"];

const QUESTION: &str = "where does the otter cross the sluice?";

/// A compacted store of 340 items in which every index has something to lose.
fn filled() -> Place {
    let mut place = Place::new();
    place.settings.compact_after = 300;
    for page in 0..20_usize {
        let line = |at: usize| {
            let word = |by: usize| WORDS[(page * 7 + at * by + by) % WORDS.len()];
            format!(
                "## Part {at}\n\nThe {} stands by the {} of reach {page}{at}, past the {}.\n",
                word(1),
                word(5),
                word(7)
            )
        };
        place.write(
            &format!("{page}.md"),
            format!("# Page {page}\n\n{}", (0..15).map(line).collect::<String>()),
        );
    }
    let engine = place.open();
    for nth in 0..40 {
        keep(
            &engine,
            &format!("Note {nth}: the {} was seen near the {}.", WORDS[nth % 12], WORDS[(nth * 5 + 3) % 12]),
        );
    }
    place.index(&engine);
    place
}

fn ask(engine: &Engine, text: &str) -> Answer {
    engine
        .query(
            &Visibility::everything(),
            &QueryRequest { text: text.into(), ..QueryRequest::default() },
            now(),
        )
        .unwrap()
}

fn ids(answer: &Answer) -> Vec<String> {
    answer.hits.iter().map(|hit| hit.memory.id.clone()).collect()
}

/// Every file of the indexes, by its path below the folder of the store's indexes.
fn index_files(place: &Place) -> Vec<PathBuf> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { walk(&path, found) } else { found.push(path) }
        }
    }
    let mut found = Vec::new();
    walk(&place.home().join("index"), &mut found);
    found.retain(|path| path.extension().is_none_or(|kind| kind != "lock"));
    found.sort();
    found
}

fn noise(path: &Path, at: usize) {
    let mut bytes = fs::read(path).unwrap();
    for (nth, byte) in bytes.iter_mut().skip(at).take(16).enumerate() {
        *byte = !*byte ^ (nth as u8).wrapping_mul(37);
    }
    fs::write(path, bytes).unwrap();
}

/// No check finds an index weak or bad.
#[track_caller]
fn is_sound(engine: &Engine) {
    for check in engine.doctor(&Visibility::everything()).unwrap() {
        let is_index = check.name.ends_with("index");
        assert!(!is_index || check.outcome == Outcome::Good, "{check:?}");
    }
}

#[test]
fn a_damaged_file_of_an_index_changes_no_answer_without_a_word_and_is_made_anew() {
    let place = filled();
    let sound = ids(&ask(&place.open(), QUESTION));
    assert_eq!(sound.len(), 10);
    let kinds: Vec<String> = index_files(&place)
        .iter()
        .filter_map(|path| Some(path.extension()?.to_string_lossy().into_owned()))
        .collect();
    for kind in ["term", "idx", "fast", "fieldnorm", "sums", "json", "segment"] {
        assert!(kinds.iter().any(|one| one == kind), "{kind}: {kinds:?}");
    }
    let mut named = 0;
    for nth in 0..index_files(&place).len() {
        for how in 0..4 {
            let path = index_files(&place)[nth].clone();
            let len = fs::metadata(&path).unwrap().len() as usize;
            match how {
                0 => noise(&path, len / 2),
                1 => noise(&path, len.saturating_sub(120)),
                2 => fs::write(&path, &fs::read(&path).unwrap()[..len / 2]).unwrap(),
                _ => fs::remove_file(&path).unwrap(),
            }
            let what = format!("{} by {how}", path.display());
            let engine = place.open();
            let answer = ask(&engine, QUESTION);
            // A lost index answers by the store, whose vectors are exact: scores differ, and what is named may differ.
            if answer.degraded.is_empty() {
                assert_eq!(ids(&answer), sound, "{what}");
            }
            named += usize::from(!answer.degraded.is_empty());
            assert!(answer.hits.len() == 10, "{what}: {} hits", answer.hits.len());
            engine.doctor(&Visibility::everything()).unwrap();
            // What is damaged and was not read is found by doctor; the codes of tokens come from the model.
            place.index(&place.open());
            let healed = place.open();
            is_sound(&healed);
            let answer = ask(&healed, QUESTION);
            assert_eq!((ids(&answer), answer.degraded), (sound.clone(), vec![]), "{what}");
        }
    }
    assert!(named > 10, "{named}");
}

#[test]
fn damage_under_a_running_process_stops_no_write_and_no_forget() {
    let place = filled();
    let engine = place.open();
    let id = keep(&engine, "The quagga keeper is called Wilhelmina Achterberg.");
    place.index(&engine);
    let sound = ids(&ask(&engine, QUESTION));
    let term =
        index_files(&place).into_iter().find(|path| path.extension().is_some_and(|kind| kind == "term"));
    let term = term.unwrap();
    // Somebody else than the one who read it; the files are looked at again some times a second.
    let fresh = place.open();
    let len = fs::metadata(&term).unwrap().len() as usize;
    for at in [len / 2, len - 300, len - 160] {
        noise(&term, at);
    }
    let answer = ask(&fresh, QUESTION);
    assert_eq!(ids(&answer), sound);
    assert!(format!("{:?}", answer.degraded).contains("text"), "{:?}", answer.degraded);
    assert_eq!(fresh.unusable_indexes().unwrap()[0].0, "text");
    keep(&fresh, "The second gate of the paddock opens at seven.");
    // It is marked for every process that opens it.
    assert_eq!(place.open().unusable_indexes().unwrap()[0].0, "text");
    let how = Forgetting::of(ForgetRequest::Ids(vec![id]));
    let erased = fresh.forget(&Visibility::everything(), &how, now()).unwrap().erased.unwrap();
    assert!(erased.complete, "{erased:?}");
    let residue = fresh.residue(&Visibility::everything(), "Achterberg").unwrap();
    assert!(!residue.found, "{residue:?}");
    assert_eq!(fresh.unusable_indexes().unwrap(), []);
    is_sound(&fresh);
    let answer = ask(&fresh, QUESTION);
    assert_eq!((ids(&answer), answer.degraded), (sound, vec![]));
}

/// Whoever forgets may be the one who meets it.
#[test]
fn a_forget_that_meets_damage_ends_with_proof() {
    for place_of_damage in ["term", "idx", "fast", "json"] {
        let place = filled();
        let engine = place.open();
        let id = keep(&engine, "The quagga keeper is called Wilhelmina Achterberg.");
        place.index(&engine);
        drop(engine);
        for path in index_files(&place)
            .iter()
            .filter(|path| path.extension().is_some_and(|kind| kind == place_of_damage))
        {
            let len = fs::metadata(path).unwrap().len() as usize;
            noise(path, len / 3);
            noise(path, len.saturating_sub(220));
        }
        let engine = place.open();
        let how = Forgetting::of(ForgetRequest::Ids(vec![id]));
        let erased = engine.forget(&Visibility::everything(), &how, now()).unwrap().erased.unwrap();
        assert!(erased.complete, "{place_of_damage}: {erased:?}");
        assert!(!engine.residue(&Visibility::everything(), "Achterberg").unwrap().found, "{place_of_damage}");
        engine.maintain(now()).unwrap();
        is_sound(&engine);
    }
}

/// As an older version left them: read as they are, and the next who compacts makes their checksums.
#[test]
fn segments_without_checksums_get_them() {
    let place = filled();
    let sound = ids(&ask(&place.open(), QUESTION));
    let sums = |place: &Place| -> Vec<PathBuf> {
        let all = index_files(place).into_iter();
        all.filter(|path| {
            path.extension().is_some_and(|kind| kind == "sums") && !path.to_string_lossy().contains("/text/")
        })
        .collect()
    };
    let before: Vec<(PathBuf, Vec<u8>)> =
        sums(&place).into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect();
    assert!(before.len() >= 2);
    for (path, _) in &before {
        fs::remove_file(path).unwrap();
    }
    let engine = place.open();
    let answer = ask(&engine, QUESTION);
    assert_eq!((ids(&answer), answer.degraded), (sound, vec![]));
    assert!(engine.maintain(now()).unwrap());
    for (path, bytes) in before {
        assert!(fs::read(&path).unwrap() == bytes, "{}", path.display());
    }
    is_sound(&place.open());
}

/// Only the rows of the damaged block lose their codes.
#[test]
fn what_is_whole_of_a_damaged_token_index_is_kept() {
    let place = filled();
    let segment = index_files(&place).into_iter().find(|path| {
        path.extension().is_some_and(|kind| kind == "segment") && path.to_string_lossy().contains("tokens-")
    });
    noise(&segment.unwrap(), 9_000);
    let engine = place.open();
    engine.doctor(&Visibility::everything()).unwrap();
    assert_eq!(engine.unusable_indexes().unwrap()[0].0, "tokens");
    let answer = ask(&engine, QUESTION);
    assert!(format!("{:?}", answer.degraded).contains("tokens"), "{:?}", answer.degraded);
    assert!(engine.maintain(now()).unwrap());
    is_sound(&engine);
    let uncoded = engine.status(&Visibility::everything()).unwrap().uncoded;
    // A block holds the codes of some ten to thirty of 340 texts.
    assert!((1..80).contains(&uncoded), "{uncoded}");
    place.index(&engine);
    assert_eq!(engine.status(&Visibility::everything()).unwrap().uncoded, 0);
    assert_eq!(ask(&engine, QUESTION).degraded, []);
}

#[test]
fn a_damaged_model_is_named_and_keeps_nobody_from_writing() {
    let mut place = filled();
    let models = place.home().join("models");
    let name = place.settings.model.clone();
    let from = place.settings.models_folder.clone().unwrap().join(&name);
    fs::create_dir_all(models.join(&name)).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        if entry.path().extension().is_some_and(|kind| kind == "packed") {
            fs::copy(entry.path(), models.join(&name).join(entry.file_name())).unwrap();
        }
    }
    place.settings.models_folder = None;
    // Its checksums are made by the first who uses it.
    let engine = place.open();
    ask(&engine, QUESTION);
    engine.maintain(now()).unwrap();
    let files: Vec<PathBuf> =
        fs::read_dir(models.join(&name)).unwrap().map(|file| file.unwrap().path()).collect();
    assert!(files.iter().any(|path| path.extension().is_some_and(|kind| kind == "sums")), "{files:?}");
    let packed = files.iter().find(|path| path.extension().is_some_and(|kind| kind == "packed")).unwrap();
    let len = fs::metadata(packed).unwrap().len() as usize;
    noise(packed, len - len / 5);
    let engine = place.open();
    let answer = ask(&engine, "which fish is by the mill?");
    assert_eq!(answer.degraded.len(), 1, "{:?}", answer.degraded);
    assert!(answer.degraded[0].reason.contains("do not match their checksum"), "{:?}", answer.degraded);
    assert!(!answer.hits.is_empty());
    assert_eq!(engine.status(&Visibility::everything()).unwrap().model.state, "damaged");
    let kept = place
        .open()
        .curate(
            &Visibility::everything(),
            &bower_core::request::CurateRequest::new("The mill has a new wheel."),
            now(),
        )
        .unwrap();
    assert!(kept.accepted && kept.degraded.len() == 1, "{kept:?}");
    place.write("new.md", "# New\n\nThe ferry has a new rope.\n");
    let report = place.index(&place.open());
    assert_eq!((report.indexed, report.degraded.len()), (1, 1), "{report:?}");
}
