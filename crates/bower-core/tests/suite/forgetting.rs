//! Tests of forgetting: no file holds what was forgotten any more, and everything else is still there.
//! This holds whatever it was and wherever it had got to.

use bower_core::engine::{DocumentInput, Engine};
use bower_core::item::{Gate, Scope, Status, Visibility};
use bower_core::request::{Check, CurateRequest, ForgetRequest, Forgetting, Item, QueryRequest, Selection};
use jiff::{SignedDuration, Timestamp};
use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::place::{Place, Random, keep, now};

/// Forgets of [`no_file_holds_what_was_forgotten`]; `make test-full` does 1,000.
fn forgets() -> usize {
    std::env::var("BOWER_FORGETS").ok().and_then(|number| number.parse().ok()).unwrap_or(30)
}

/// A word that no other text has; its first eight letters are those of its stem too.
fn any_word(random: &mut Random) -> String {
    (0..11).map(|_| char::from(b"bcdfghklmnprtvwxz"[random.below(17)])).collect()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// Which of some letters stand in which file below a folder, in UTF-8 or UTF-16, in whatever case: the slow way, by itself.
fn standing(folder: &Path, letters: &BTreeSet<String>) -> Vec<String> {
    let start = |bytes: &[u8]| u64::from_le_bytes(bytes[..8].try_into().unwrap());
    let wanted: HashSet<u64> = letters.iter().map(|word| start(word.as_bytes())).collect();
    // Most places are ruled out by their first two bytes.
    let mut firsts = vec![false; 1 << 16];
    for word in &wanted {
        firsts[(word & 0xFFFF) as usize] = true;
    }
    let mut found = Vec::new();
    for path in files(folder) {
        let mut bytes = fs::read(&path).unwrap();
        bytes.make_ascii_lowercase();
        let every_second =
            |from: usize| bytes[from.min(bytes.len())..].iter().step_by(2).copied().collect::<Vec<u8>>();
        for bytes in [&bytes, &every_second(0), &every_second(1)] {
            for at in 0..bytes.len().saturating_sub(7) {
                if firsts[usize::from(bytes[at]) | usize::from(bytes[at + 1]) << 8]
                    && wanted.contains(&start(&bytes[at..]))
                {
                    let word = String::from_utf8_lossy(&bytes[at..at + 8]);
                    found.push(format!("{word} at {at} of {}", path.display()));
                }
            }
        }
    }
    found
}

fn words_of(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !c.is_ascii_lowercase()).filter(|word| word.len() == 11).map(str::to_owned).collect()
}

fn all(engine: &Engine) -> Vec<Item> {
    let select = Selection { statuses: Status::ALL.to_vec(), ..Selection::default() };
    engine.list(&Visibility::everything(), &select, 100_000, 0).unwrap().memories
}

/// Keeps three memories, some with a second value of the same thing, and one time in three a document.
fn keep_more(engine: &Engine, random: &mut Random, kept: &mut usize, at: Timestamp) {
    let reach = Visibility::everything();
    for _ in 0..3 {
        *kept += 1;
        let [one, two, three] = [(); 3].map(|()| any_word(random));
        let owner = (random.below(3) == 0).then(|| format!("owner{}", random.below(4)));
        let request = CurateRequest {
            gate: Some(Gate::Off),
            tags: vec![format!("t{}", random.below(5)), one.clone()],
            metadata: serde_json::Map::from_iter([("note".to_owned(), serde_json::json!(two))]),
            source_conv_id: Some(format!("talk{}", *kept % 7)),
            owner,
            ..CurateRequest::new(format!("The {one} port of {two} is {kept}. Then {three}!"))
        };
        engine.curate(&reach, &request, at).unwrap();
        if random.below(4) == 0 {
            // Another value of the same thing: a chain, in which tags are handed on.
            let next = format!("The {one} port of {two} is {}. Then {three}!", *kept + 5_000);
            let request = CurateRequest { content: next, tags: Vec::new(), ..request };
            engine.curate(&reach, &request, at).unwrap();
        }
    }
    if random.below(3) == 0 {
        let lines: Vec<String> = (0..60)
            .map(|n| format!("Line {n} tells of {} and of {}.", any_word(random), any_word(random)))
            .collect();
        let id = format!("/notes/{}.txt", any_word(random));
        let input = DocumentInput { id, text: lines.join("\n"), ..DocumentInput::default() };
        engine.add_documents(&reach, vec![input], (Scope::Project, None), at).unwrap();
    }
}

/// Lets one thing happen that copies texts elsewhere: a compaction, a question in a session, a new process, or nothing.
fn copy_about(place: &Place, engine: &mut Engine, random: &mut Random, at: Timestamp) {
    let items = all(engine);
    let text = items[random.below(items.len())].content.clone();
    match random.below(5) {
        0 => {
            place.index(engine);
        }
        1 => {
            let session = Some(format!("session{}", random.below(3)));
            let question = QueryRequest { text, session, ..QueryRequest::default() };
            engine.query(&Visibility::everything(), &question, at).unwrap();
            engine.maintain(at).unwrap();
        }
        2 => *engine = place.open(),
        _ => {}
    }
}

/// A request that forgets some of the items: by source, owner, tag or id.
fn any_request(random: &mut Random, items: &[Item]) -> ForgetRequest {
    let item = &items[random.below(items.len())];
    let select = match random.below(8) {
        0 => {
            let source = item.metadata.get("path").map_or("talk3", |path| path.as_str().unwrap());
            Selection { sources: vec![source.to_owned()], ..Selection::default() }
        }
        1 => Selection { owner: Some(format!("owner{}", random.below(4))), ..Selection::default() },
        2 => Selection {
            tags: vec![format!("t{}", random.below(5))],
            statuses: Status::ALL.to_vec(),
            ..Selection::default()
        },
        _ => {
            let ids = (0..=random.below(2)).map(|_| items[random.below(items.len())].id.clone());
            return ForgetRequest::Ids(ids.collect());
        }
    };
    ForgetRequest::Selected(Box::new(select))
}

/// Adds the words of the items that went to those that must be nowhere, and takes out those of the items that are left.
fn note_words(gone: &mut BTreeSet<String>, went: &[&Item], left: &[Item]) {
    for item in went {
        gone.extend(words_of(&item.content));
        gone.extend(item.tags.iter().flat_map(|tag| words_of(tag)));
    }
    for item in left {
        // The other forms of a chain, and whom tags were handed on to, have them still.
        for word in words_of(&format!("{} {}", item.content, item.tags.join(" "))) {
            gone.remove(&word);
        }
    }
}

/// Memories and documents, compacted and not, in sessions and caches, replaced and confirmed; some are forgotten, one after the
/// other, in every way in which that can be asked.
#[test]
fn no_file_holds_what_was_forgotten() {
    let place = Place::new();
    place.write("unrelated.md", "# Nothing\n\nNothing to speak of.\n");
    let mut engine = place.open();
    place.index(&engine);
    let random = &mut Random(forgets() as u64);
    let mut kept = 0;
    let mut at = now();
    let mut gone: BTreeSet<String> = BTreeSet::new();
    for done in 1..=forgets() {
        at += SignedDuration::from_secs(60);
        keep_more(&engine, random, &mut kept, at);
        copy_about(&place, &mut engine, random, at);
        // What was forgotten as a whole is indexed again, where its file is still there.
        let items = all(&engine);
        let what = any_request(random, &items);
        let forgotten = engine.forget(&Visibility::everything(), &Forgetting::of(what), at).unwrap();
        let erased = forgotten.erased.unwrap();
        assert!(erased.complete && erased.waits.is_empty() && erased.elsewhere.is_empty(), "{erased:?}");

        let left = all(&engine);
        let went: Vec<&Item> = items.iter().filter(|item| forgotten.forgotten.contains(&item.id)).collect();
        assert_eq!((left.len() + went.len(), forgotten.receipt.items), (items.len(), went.len()));
        // What was forgotten before is looked for again: it does not come back.
        note_words(&mut gone, &went, &left);
        let found = standing(&place.home(), &gone);
        assert!(found.is_empty(), "after {done}: {} {:?}", found.len(), &found[..found.len().min(5)]);
    }
    let checks = engine.doctor(&Visibility::everything()).unwrap();
    // Random words are in any language, for which another model is named.
    let is_well = |check: &Check| check.hint.is_none() || check.name == "languages";
    assert!(checks.iter().all(is_well), "{checks:?}");
    assert!(engine.status(&Visibility::everything()).unwrap().index_healthy);
}

fn tell(engine: &Engine, text: &str, at: Timestamp) -> String {
    engine.curate(&Visibility::everything(), &CurateRequest::new(text), at).unwrap().id.unwrap()
}

fn forget(engine: &Engine, how: &Forgetting) -> bower_core::request::Forgotten {
    engine.forget(&Visibility::everything(), how, now()).unwrap()
}

#[test]
fn what_holds_all_of_it_goes_along_unless_it_is_to_stay() {
    let place = Place::without_model();
    let engine = place.open();
    let short = tell(&engine, "API port is 8080", now());
    let long = tell(&engine, "API port is 8080; 80 was taken", now());
    let history = engine.history(&Visibility::everything(), &short).unwrap();
    assert_eq!(history.chain.len(), 2, "the longer text took its place: {history:?}");

    let ids = |id: &str| ForgetRequest::Ids(vec![id.to_owned()]);
    let alone = Forgetting { keep_derived: true, dry_run: true, ..Forgetting::of(ids(&short)) };
    let would = forget(&engine, &alone);
    assert_eq!((would.forgotten.len(), would.derived.len(), would.erased), (1, 0, None));
    assert_eq!(would.held_by, std::slice::from_ref(&long), "it is said that another holds it");
    // The longer one says more: the shorter does not hold all of that.
    let other = Forgetting { dry_run: true, ..Forgetting::of(ids(&long)) };
    assert_eq!(forget(&engine, &other).derived, Vec::<String>::new());
    let both = forget(&engine, &Forgetting::of(ids(&short)));
    assert_eq!((both.derived, both.forgotten.len()), (vec![long.clone()], 2));
    assert!(engine.get(&Visibility::everything(), &long).is_err());
}

#[test]
fn another_value_of_the_same_thing_is_not_made_of_it() {
    let place = Place::without_model();
    let engine = place.open();
    let old = tell(&engine, "The API listens on port 8080.", now());
    let new = tell(&engine, "The API listens on port 9090.", now());
    let forgotten = forget(&engine, &Forgetting::of(ForgetRequest::Ids(vec![old])));
    assert_eq!((forgotten.forgotten.len(), forgotten.held_by.len()), (1, 0));
    assert!(engine.get(&Visibility::everything(), &new).is_ok());
}

#[test]
fn chunks_that_overlap_go_along_and_others_of_their_document_stay() {
    let place = Place::without_model();
    let engine = place.open();
    let random = &mut Random(5);
    let lines: Vec<String> = (0..80)
        .map(|n| format!("Line {n} tells of {} and of {}.", any_word(random), any_word(random)))
        .collect();
    place.write("notes.txt", lines.join("\n"));
    place.index(&engine);
    let mut chunks = all(&engine);
    chunks.sort_by_key(|item| item.metadata["lines"][0].as_u64());
    assert!(chunks.len() > 4, "{}", chunks.len());
    let forgotten = forget(&engine, &Forgetting::of(ForgetRequest::Ids(vec![chunks[2].id.clone()])));
    let mut beside = vec![chunks[1].id.clone(), chunks[3].id.clone()];
    beside.sort_unstable();
    assert_eq!((forgotten.derived, forgotten.receipt.chunks, forgotten.receipt.documents), (beside, 3, 0));
    assert_eq!(standing(&place.home(), &words_of(&chunks[2].content)), Vec::<String>::new());
    assert!(!standing(&place.home(), &words_of(&chunks[0].content)).is_empty());
    // An unchanged file is not read again.
    assert_eq!(place.index(&engine).chunks_added, 0);
    assert_eq!(all(&engine).len(), chunks.len() - 3);
}

#[test]
fn copies_that_restore_kept_lose_it_and_those_of_users_are_named() {
    let place = Place::without_model();
    let engine = place.open();
    let first = any_word(&mut Random(9));
    let id = tell(&engine, &format!("The {first} is in the cellar, says the porter."), now());
    let march = place.home().join("march.db");
    engine.backup(&Visibility::everything(), &march).unwrap();
    drop(engine);
    place.restore(&march);
    let kept = place.home().join(format!("memory.db.replaced-{}", now().as_second()));
    assert!(kept.exists());

    let engine = place.open();
    let forgotten = forget(&engine, &Forgetting::of(ForgetRequest::Ids(vec![id])));
    let erased = forgotten.erased.unwrap();
    assert!(erased.complete, "{erased:?}");
    assert_eq!(erased.copies, [kept]);
    assert_eq!(erased.elsewhere.iter().map(|file| &file.path).collect::<Vec<_>>(), [&march]);
    fs::remove_file(&march).unwrap();
    assert_eq!(standing(&place.home(), &BTreeSet::from([first])), Vec::<String>::new());
    assert!(!files(&place.home()).iter().any(|path| path.to_string_lossy().contains("replaced-1790000000-")));
}

#[test]
fn who_still_reads_the_log_is_named_and_the_next_with_time_goes_on() {
    let mut place = Place::without_model();
    place.settings.busy_timeout_ms = 20;
    let engine = place.open();
    let word = any_word(&mut Random(3));
    let id = keep(&engine, &format!("the {word} is late"));
    let reader = rusqlite::Connection::open(place.home().join("memory.db")).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM items").unwrap();
    let forgotten = forget(&engine, &Forgetting::of(ForgetRequest::Ids(vec![id])));
    let erased = forgotten.erased.unwrap();
    assert!(!erased.complete && erased.waits[0].contains("log"), "{erased:?}");
    let named = |engine: &Engine| {
        engine.doctor(&Visibility::everything()).unwrap().iter().any(|check| check.name == "forgotten")
    };
    assert!(named(&engine) && !standing(&place.home(), &BTreeSet::from([word.clone()])).is_empty());
    reader.execute_batch("COMMIT").unwrap();
    let other = place.open();
    other.maintain(now()).unwrap();
    assert!(!named(&other));
    assert_eq!(standing(&place.home(), &BTreeSet::from([word])), Vec::<String>::new());
}

#[test]
fn an_index_of_a_model_that_is_not_here_is_purged_too() {
    let place = Place::new();
    let engine = place.open();
    let id = keep(&engine, "the okapi is striped");
    for n in 0..20 {
        keep(&engine, &format!("filler {n} about nothing"));
    }
    place.write("x.md", "unrelated");
    place.index(&engine);
    let settings = place.settings.clone();
    let index = fs::read_dir(place.home().join("index")).unwrap().next().unwrap().unwrap().path();
    let stranger = place.home().join("index/0123456789abcdef/text");
    fs::create_dir_all(&stranger).unwrap();
    fs::write(stranger.join("x.term"), "okapi").unwrap();
    drop(engine);
    let without = place.reopened(bower_core::config::Settings { model: "none".into(), ..settings.clone() });
    let engine = without.open();
    let segments = || {
        let of = |path: &PathBuf| path.extension().is_some_and(|kind| kind == "segment" || kind == "dead");
        files(&index).into_iter().filter(of).collect::<BTreeSet<PathBuf>>()
    };
    let before = segments();
    assert!(before.len() >= 2, "{before:?}");
    assert!(forget(&engine, &Forgetting::of(ForgetRequest::Ids(vec![id]))).erased.unwrap().complete);
    assert!(segments().is_disjoint(&before), "every old file is gone");
    assert!(!stranger.exists());
    drop(engine);
    let status = without.reopened(settings).open().status(&Visibility::everything()).unwrap();
    assert_eq!((status.index_healthy, status.vector_delta, status.uncoded), (true, 0, 0));
}

#[test]
fn residue_is_found_wherever_it_stands() {
    let place = Place::without_model();
    let engine = place.open();
    let word = any_word(&mut Random(77));
    let id = tell(&engine, &format!("The {word} is in the cellar; nobody moved it."), now());
    let found =
        engine.residue(&Visibility::everything(), &format!("{}  IS in", word.to_uppercase())).unwrap();
    assert_eq!((found.found, &found.items), (true, &vec![id.clone()]));
    place.write("x.md", "unrelated");
    place.index(&engine);
    let found = engine.residue(&Visibility::everything(), &word).unwrap();
    assert_eq!(found.terms.iter().map(|term| term.rows).collect::<Vec<_>>(), [1]);
    forget(&engine, &Forgetting::of(ForgetRequest::Ids(vec![id])));
    let found = engine.residue(&Visibility::everything(), &word).unwrap();
    assert!(
        !found.found && found.files.is_empty() && found.terms.iter().all(|term| term.rows == 0),
        "{found:?}"
    );
    let wide: Vec<u8> = word.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let config = place.home().join("config.toml");
    fs::write(&config, wide).unwrap();
    let found = engine.residue(&Visibility::everything(), &word).unwrap();
    assert_eq!(found.files.iter().map(|file| (&file.path, file.matches)).collect::<Vec<_>>(), [(&config, 1)]);
    // Too short to be told from chance.
    let short = engine.residue(&Visibility::everything(), "ox").unwrap();
    assert!(!short.untold.is_empty(), "{short:?}");
    assert!(engine.residue(&Visibility::everything(), " ?! ").is_err());
}

#[test]
fn sources_are_paths_folders_and_conversations() {
    let place = Place::without_model();
    place.write("a/one.md", "One is a number.");
    place.write("a/b/two.md", "Two is a number.");
    place.write("ab/three.md", "Three is a number.");
    let engine = place.open();
    place.index(&engine);
    let talk = CurateRequest {
        source_conv_id: Some("talk".into()),
        ..CurateRequest::new("Four was told in a talk.")
    };
    engine.curate(&Visibility::everything(), &talk, now()).unwrap();
    let check = |source: &str, expected: &[&str]| {
        let select = Selection { sources: vec![source.to_owned()], ..Selection::default() };
        let listing = engine.list(&Visibility::everything(), &select, 10, 0).unwrap();
        let mut found: Vec<&str> =
            listing.memories.iter().map(|item| item.content.split(' ').next().unwrap()).collect();
        found.sort_unstable();
        assert_eq!(found, expected, "{source}");
        let rows = engine.query(
            &Visibility::everything(),
            &QueryRequest { text: "number told".into(), select, ..QueryRequest::default() },
            now(),
        );
        assert_eq!(rows.unwrap().total_found, expected.len(), "{source}");
    };
    let notes = place.notes();
    let path = |name: &str| notes.join(name).to_str().unwrap().to_owned();
    check(&path("a/one.md"), &["One"]);
    check(&path("a"), &["One", "Two"]);
    check(&path("a/"), &["One", "Two"]);
    check(&path("a/o"), &[]);
    check("talk", &["Four"]);
    check("nowhere", &[]);
    let forgotten = forget(
        &engine,
        &Forgetting::of(ForgetRequest::Selected(Box::new(Selection {
            sources: vec![path("a")],
            ..Selection::default()
        }))),
    );
    assert_eq!((forgotten.receipt.items, forgotten.receipt.documents), (2, 2));
}
