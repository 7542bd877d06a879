//! Tests stores and models that are broken, foreign or too new.
//! Each gives one line that says so, a hint, and nothing made worse.

use crate::command::{Ended, Home};
use crate::exits::check;
use std::path::Path;

/// A home with enough in it that its database has many pages, all in the one file.
fn filled() -> Home {
    let home = Home::new();
    for nth in 0..40 {
        let text = format!("Fact {nth}: the zymurgy valve is {} mm wide. ", nth * 7).repeat(60);
        home.write(&format!("docs/{nth}.md"), format!("# Valve {nth}\n\n{text}"));
    }
    assert_eq!(home.run(["curate", "The spare valve is in the cellar."]).status, 0);
    assert_eq!(home.data(["index", "docs"])["indexed"], 40);
    let log = std::fs::metadata(home.path("home/memory.db-wal")).map_or(0, |log| log.len());
    assert_eq!(log, 0, "a fold leaves the store as one file");
    home
}

fn patch(path: &Path, at: usize, bytes: &[u8]) {
    let mut whole = std::fs::read(path).unwrap();
    whole[at..at + bytes.len()].copy_from_slice(bytes);
    std::fs::write(path, whole).unwrap();
}

/// Every command on this store ends with 3 and these words, and the file stays as it was.
fn all_refuse(home: &Home, words: &str) {
    let database = home.path("home/memory.db");
    let before = std::fs::read(&database).unwrap();
    for arguments in [
        &["query", "valve"][..],
        &["query", "--fast", "valve"],
        &["curate", "something new"],
        &["list"],
        &["status"],
        &["index", "."],
        &["history", "0123456789abcdef"],
        &["forget", "--yes", "--tag", "x"],
    ] {
        let ended = Ended::from(home.command(arguments).output().unwrap());
        check(&ended, 3, words);
        assert!(ended.json()["data"]["hint"].is_string(), "{arguments:?}: {ended:?}");
    }
    assert!(std::fs::read(&database).unwrap() == before, "a file that is not ours is not touched");
}

#[test]
fn random_bytes_are_no_store() {
    let home = Home::new();
    let mut state = 1_u32;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    })
    .take(100_000)
    .collect();
    home.write("home/memory.db", noise);
    all_refuse(&home, "not a database");
}

#[test]
fn another_programs_database_is_left_alone() {
    let home = filled();
    // The application's number in SQLite's file header (https://www.sqlite.org/fileformat.html, offset 68).
    patch(&home.path("home/memory.db"), 68, b"GPKG");
    all_refuse(&home, "another program's database");
}

#[test]
fn a_newer_store_asks_for_a_newer_program() {
    let home = filled();
    // The user version, offset 60.
    patch(&home.path("home/memory.db"), 60, &9_999_u32.to_be_bytes());
    all_refuse(&home, "schema 9999 is newer than");
    assert!(home.run(["status"]).json()["data"]["hint"].as_str().unwrap().contains("upgrade"));
}

/// What a damaged store may answer: the truth, or exit status 3 with a hint. Never a panic, never an empty list.
fn tells_or_refuses(home: &Home) {
    let mut refused = 0;
    for arguments in [
        &["query", "zymurgy", "--limit", "50"][..],
        &["query", "--fast", "cellar"],
        &["list"],
        &["status"],
        &["curate", "The damage was found on a Monday."],
    ] {
        let ended = Ended::from(home.command(arguments).output().unwrap());
        if ended.status == 0 {
            let data = &ended.json()["data"];
            let missing = data["degraded"].as_array().is_some_and(|list| !list.is_empty());
            let empty =
                ["results", "memories"].iter().any(|list| data[*list].as_array().is_some_and(Vec::is_empty));
            assert!(!empty || missing, "{arguments:?}: {ended:?}");
        } else {
            check(&ended, 3, "memory.db");
            assert!(ended.json()["data"]["hint"].is_string(), "{arguments:?}: {ended:?}");
            refused += 1;
        }
    }
    let examined = home.run(["doctor"]);
    assert_eq!(examined.status, 3, "{examined:?}");
    assert!(refused > 0 || examined.json()["data"]["healthy"] == false, "{examined:?}");
}

#[test]
fn a_store_that_lost_its_end_says_so() {
    for part in [3, 2] {
        let home = filled();
        let database = home.path("home/memory.db");
        let whole = std::fs::read(&database).unwrap();
        std::fs::write(&database, &whole[..whole.len() / part]).unwrap();
        tells_or_refuses(&home);
    }
}

#[test]
fn an_overwritten_page_is_found() {
    // In 32nds of the file, with zeros, ones and text by turns.
    for (nth, part) in [1, 10, 16, 30].into_iter().enumerate() {
        let home = filled();
        let database = home.path("home/memory.db");
        let pages = std::fs::metadata(&database).unwrap().len() as usize / 4_096;
        let with = [[0_u8; 4_096], [0xFF; 4_096], [b'x'; 4_096]][nth % 3];
        patch(&database, pages * part / 32 * 4_096, &with);
        tells_or_refuses(&home);
    }
}

#[test]
fn indexes_that_are_broken_are_made_anew() {
    let home = filled();
    let wanted = home.data(["query", "zymurgy cellar"])["results"].as_array().unwrap().len();
    assert!(wanted > 1);
    let mut broken = 0;
    for entry in walk(&home.path("home/index")) {
        std::fs::write(&entry, b"broken").unwrap();
        broken += 1;
    }
    assert!(broken > 0, "there was an index to break");
    for _ in 0..2 {
        let answer = home.data(["query", "zymurgy cellar"]);
        assert_eq!(answer["results"].as_array().unwrap().len(), wanted, "{answer}");
    }
    std::fs::remove_dir_all(home.path("home/index")).unwrap();
    assert_eq!(home.data(["query", "zymurgy cellar"])["results"].as_array().unwrap().len(), wanted);
}

fn walk(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            files.extend(walk(&entry.path()));
        } else {
            files.push(entry.path());
        }
    }
    files
}

/// A model whose packed file is these bytes: words still answer, and the answer says what is wrong.
fn words_alone(packed: &[u8]) {
    let home = Home::new();
    let identity = bower_core::model::IDENTITY;
    home.write(&format!("home/models/all-MiniLM-L6-v2/{identity}.packed"), packed);
    assert_eq!(home.run(["curate", "The spare valve is in the cellar."]).status, 0);
    let answer = home.data(["query", "valve"]);
    assert_eq!(answer["results"].as_array().unwrap().len(), 1, "{answer}");
    let reason = answer["degraded"][0]["reason"].as_str().unwrap();
    assert_eq!(answer["degraded"][0]["channel"], "vector");
    assert!(reason.contains("bower model pull") && !reason.contains('\n'), "{reason}");
    assert_eq!(home.data(["query", "--fast", "valve"])["results"].as_array().unwrap().len(), 1);
    assert_eq!(home.data(["status"])["model"]["state"], "damaged");
    let listed = home.data(["model", "list"]);
    assert_eq!(listed["models"][0]["installed"], false, "{listed}");
}

#[test]
fn a_model_that_is_no_model_is_named() {
    words_alone(b"");
    words_alone(b"short");
    words_alone(&vec![0; 100_000]);
    words_alone(&b"BOWR".repeat(50_000));
}

#[test]
fn a_model_with_changed_bytes_is_named() {
    // The real one is tried where somebody says where it is; `make test` does.
    let Some(folder) = std::env::var_os("BOWER_TEST_MODEL") else {
        println!("no BOWER_TEST_MODEL: the real model was not damaged");
        return;
    };
    let name = format!("{}.packed", bower_core::model::IDENTITY);
    let Ok(whole) = std::fs::read(Path::new(&folder).join(&name)) else {
        println!("no packed model in {}: the real model was not damaged", folder.display());
        return;
    };
    words_alone(&whole[..whole.len() / 2]);
    words_alone(&whole[..whole.len() - 1]);
    let mut flipped = whole.clone();
    flipped[20] ^= 0x40;
    words_alone(&flipped);
    // Reading every weight at each start would cost more than the answer: the examination does it.
    let home = Home::new();
    let mut flipped = whole;
    let middle = flipped.len() / 2;
    flipped[middle] ^= 0x40;
    home.write(&format!("home/models/all-MiniLM-L6-v2/{name}"), flipped);
    let examined = home.run(["doctor"]);
    assert_eq!(
        (examined.status, examined.json()["data"]["healthy"].as_bool()),
        (3, Some(false)),
        "{examined:?}"
    );
    assert!(examined.out.contains("bower model pull"), "{examined:?}");
    assert_eq!(home.data(["model", "status"])["packed"]["state"], "damaged");
}

#[test]
fn a_question_as_long_as_a_book_is_answered_by_its_words() {
    let Some(folder) = std::env::var_os("BOWER_TEST_MODEL") else {
        println!("no BOWER_TEST_MODEL: the long question was not asked with a model");
        return;
    };
    let home =
        Home::new().with("BOWER_MODELS_FOLDER", Path::new(&folder).parent().unwrap().to_str().unwrap());
    assert_eq!(home.run(["curate", "The spare valve is in the cellar."]).status, 0);
    assert_eq!(home.data(["query", "where is the valve?"])["degraded"], serde_json::json!([]));
    let long = "where is the valve? ".repeat(50_000);
    let ended = home.feed(["query", "-"], long.as_bytes());
    let answer = &ended.json()["data"];
    assert_eq!((ended.status, answer["total_found"].as_u64()), (0, Some(1)), "{}", answer["degraded"]);
    assert!(answer["degraded"][0]["reason"].as_str().unwrap().contains("its words in full"), "{answer}");
}

/// Whatever stands in the files that settings and tokens are read from: an answer, or one line that names the file. A settings file is
/// its user's, so another number in it is another setting.
#[test]
fn damaged_settings_and_tokens_end_no_command_badly() {
    let home = Home::new();
    assert_eq!(home.run(["curate", "The zymurgy valve is 42 mm wide."]).status, 0);
    home.write(
        "home/config.toml",
        "candidates = 150\ncompact_after = 300\nprofile = \"bower\"\ntime_zone = \"UTC\"\n",
    );
    assert_eq!(home.run(["token", "create", "laptop", "--access", "read"]).status, 0);
    let mut state = 7_u64;
    let mut dice = |sides: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % sides.max(1)
    };
    for (file, commands) in [
        ("home/config.toml", &[&["query", "zymurgy"][..], &["status"]][..]),
        ("home/tokens.json", &[&["token", "list"][..]]),
    ] {
        let path = home.path(file);
        let whole = std::fs::read(&path).unwrap();
        for nth in 0..24 {
            let (mut bytes, at) = (whole.clone(), dice(whole.len()));
            match nth % 4 {
                0 => bytes[at] ^= 1 << dice(8),
                1 => bytes.iter_mut().skip(at).take(16).for_each(|byte| *byte = dice(256) as u8),
                2 => bytes.truncate(at),
                _ => bytes.extend((0..64).map(|_| dice(256) as u8)),
            }
            std::fs::write(&path, &bytes).unwrap();
            for arguments in commands {
                let ended = Ended::from(home.command(*arguments).output().unwrap());
                let what = format!("{file} {}: {arguments:?}: {ended:?}", bytes.escape_ascii());
                assert!([0, 2, 3].contains(&ended.status), "{what}");
                assert!(!ended.talk.contains("panicked"), "{what}");
            }
        }
        std::fs::write(&path, whole).unwrap();
    }
}

/// The store's sentences in a list of what an answer lacks.
fn of_store(data: &serde_json::Value) -> Vec<String> {
    let all = data["degraded"].as_array().cloned().unwrap_or_default();
    all.iter()
        .filter(|one| one["channel"] == "store")
        .map(|one| one["reason"].as_str().unwrap().to_owned())
        .collect()
}

/// The command of whoever found it: one byte of the log of four memories.
#[test]
fn one_changed_byte_of_the_log_loses_nothing() {
    let home = Home::new();
    for text in
        ["The spare valve is in the cellar.", "The mill grinds.", "The tower is white.", "The well is deep."]
    {
        assert_eq!(home.run(["curate", text]).status, 0);
    }
    let log = home.path("home/memory.db-wal");
    let before = std::fs::read(&log).unwrap()[1_000];
    patch(&log, 1_000, &[before ^ 0xFF]);
    assert_eq!(home.data(["list"])["total"], 4);
    assert_eq!(of_store(&home.data(["query", "valve"])), Vec::<String>::new());
    assert_eq!(home.run(["doctor"]).status, 0);
}

#[test]
fn what_is_missing_is_told_by_every_command_until_it_is_accepted() {
    let home = Home::new();
    for text in
        ["The spare valve is in the cellar.", "The mill grinds.", "The tower is white.", "The well is deep."]
    {
        assert_eq!(home.run(["curate", text]).status, 0);
    }
    let log = home.path("home/memory.db-wal");
    let frames = (std::fs::metadata(&log).unwrap().len() as usize - 32) / 4_120;
    // Later frames hold what one in the middle held, so one of the last is damaged as well.
    for frame in [frames * 6 / 10, frames - 2] {
        patch(&log, 32 + frame * 4_120 + 600, &[0xA5; 90]);
    }
    for arguments in [&["query", "valve"][..], &["list"], &["curate", "The garden is green."], &["brief"]] {
        let ended = Ended::from(home.command(arguments).output().unwrap());
        let told = of_store(&ended.json()["data"]);
        assert!(told.len() == 1 && told[0].contains("doctor --salvage"), "{arguments:?}: {ended:?}");
    }
    assert_eq!(home.data(["status"])["losses"].as_array().unwrap().len(), 1);
    let shown = home.run(["list", "--format", "text"]).out;
    assert!(shown.contains("acknowledged and are missing"), "{shown}");
    assert_eq!(home.run(["doctor"]).status, 3);

    let saved = home.run(["doctor", "--salvage", "rescue"]);
    assert_eq!(saved.json()["data"]["memories"], 5, "{saved:?}");
    assert_eq!(home.run(["--home", "rescue", "list"]).json()["data"]["total"], 5);
    assert_eq!(home.run(["restore", "-y", "rescue/memory.db"]).status, 0);
    assert_eq!(home.data(["list"])["total"], 5);
    assert_eq!(of_store(&home.data(["list"])), Vec::<String>::new());
    assert_eq!(home.data(["doctor", "--accept-loss"])["accepted"], serde_json::json!([]));
    assert_eq!(home.run(["doctor"]).status, 0);
}

/// SQLite opens it no more: what can be read is saved, and takes its place.
#[test]
fn a_store_that_cannot_be_opened_is_salvaged_and_replaced() {
    let home = filled();
    let database = home.path("home/memory.db");
    patch(&database, 0, &[0x5A; 4_096]);
    assert_eq!(home.run(["list"]).status, 3);
    let saved = home.run(["doctor", "--salvage", "rescue"]);
    let data = &saved.json()["data"];
    assert!(data["chunks"].as_u64().unwrap() >= 40 && data["memories"] == 1, "{saved:?}");
    let restored = home.run(["restore", "-y", "rescue/memory.db"]);
    assert_eq!(restored.status, 0, "{restored:?}");
    assert!(
        restored.json()["data"]["replaced"].as_str().unwrap().contains("memory.db.broken-"),
        "{restored:?}"
    );
    assert!(!home.data(["query", "zymurgy"])["results"].as_array().unwrap().is_empty());
    assert_eq!(home.run(["doctor"]).status, 0);
}
