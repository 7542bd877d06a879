//! Tests of tags in a real store without a model: folders' names, renamings that questions see, and the tag index.

use bower_core::engine::{DocumentInput, Engine};
use bower_core::item::{Scope, Visibility};
use bower_core::request::{
    CompactWhen, CurateRequest, EntityRequest, ForgetRequest, Forgetting, IndexRequest, QueryRequest,
    RenameTags, Selection, TagImportRequest,
};
use bower_core::{Error, Result};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::place::{Place, now};

/// The tags of each file's chunks, by file name.
fn tags_of_files(engine: &Engine) -> BTreeMap<String, String> {
    let listed = engine.list(&Visibility::everything(), &Selection::default(), 500, 0).unwrap().memories;
    let name =
        |item: &bower_core::request::Item| item.metadata["file_name"].as_str().unwrap_or("-").to_owned();
    listed.iter().map(|item| (name(item), item.tags.join(" "))).collect()
}

fn tags(engine: &Engine) -> Vec<(String, u64)> {
    let list = engine.tags(&Visibility::everything(), &Selection::default(), None, 100, 0).unwrap();
    list.tags.into_iter().map(|count| (count.tag, count.items)).collect()
}

fn rename(engine: &Engine, from: &[&str], to: &str) -> Result<u64> {
    let from: Vec<String> = from.iter().map(|&tag| tag.to_owned()).collect();
    let merges = from.len() > 1;
    let request = RenameTags { from, to: to.into(), merges, dry_run: false };
    Ok(engine.rename_tags(&Visibility::everything(), &request, now())?.event)
}

fn found_by(engine: &Engine, question: &str, tag: Option<&str>) -> Vec<String> {
    let select = Selection { tags: tag.iter().map(|&tag| tag.to_owned()).collect(), ..Selection::default() };
    let request = QueryRequest { text: question.into(), fast: true, select, ..QueryRequest::default() };
    let answer = engine.query(&Visibility::everything(), &request, now()).unwrap();
    assert_eq!(answer.degraded, []);
    answer.hits.into_iter().map(|hit| hit.memory.content).collect()
}

#[test]
fn untagged_notes_get_the_name_of_their_folder() {
    let place = Place::without_model();
    place.write("root.md", "# Root\n\nNothing above it is indexed.\n");
    place.write("01 My Projects/plain.md", "# Plain\n\nOne two three.\n\n## More\n\nFour five six.\n");
    place.write("alpha/tagged.md", "---\ntags: [own]\n---\nOne two three.\n");
    place.write("alpha/inline.md", "# Inline\n\nOne two #three.\n");
    place.write("alpha/beta/deep.txt", "A text in a folder of a folder.\n");
    place.write("alpha/org.org", "#+FILETAGS: :work:\nA text of Org.\n");
    place.write("alpha/code.rs", "/// Adds.\npub fn add(a: u8, b: u8) -> u8 {\n    a + b\n}\n");
    place.write("alpha/table.csv", "name,port\napi,8080\n");
    place.write("2024/number.md", "A number is no tag.\n");
    let engine = place.open();
    place.index(&engine);
    let expected = [
        ("code.rs", ""),
        ("deep.txt", "beta"),
        ("inline.md", "three"),
        ("number.md", ""),
        ("org.org", "work"),
        ("plain.md", "my-projects"),
        ("root.md", ""),
        ("table.csv", ""),
        ("tagged.md", "own"),
    ];
    let expected: BTreeMap<String, String> =
        expected.into_iter().map(|(name, tags)| (name.to_owned(), tags.to_owned())).collect();
    assert_eq!(tags_of_files(&engine), expected);

    // The front matter changes, a file moves, and one is indexed by its own path.
    place.write("alpha/tagged.md", "---\ntags: [other]\n---\nOne two three.\n");
    fs::create_dir_all(place.notes().join("gamma")).unwrap();
    fs::rename(place.notes().join("alpha/beta/deep.txt"), place.notes().join("gamma/deep.txt")).unwrap();
    place.index(&engine);
    let changed = place.write("gamma/deep.txt", "A text that was changed.\n");
    let one = IndexRequest::new(vec![changed]);
    engine.index(&Visibility::everything(), &one, now(), &|_| {}, &|| true).unwrap();
    let files = tags_of_files(&engine);
    assert_eq!((files["tagged.md"].as_str(), files["deep.txt"].as_str()), ("other", "gamma"));
    for (text, tag) in [("A text.\n", "gamma"), ("A text with a #word.\n", "word"), ("A text.\n", "gamma")] {
        place.write("gamma/later.md", text);
        place.index(&engine);
        assert_eq!(tags_of_files(&engine)["later.md"], tag);
    }
}

#[test]
fn a_renamed_tag_is_found_at_once_and_after_every_index() {
    let place = Place::without_model();
    let note = "---\ntags: [zebra]\n---\nThe kettle is descaled each month.\n";
    place.write("a.md", note);
    let engine = place.open();
    place.index(&engine);
    let caller = Visibility::everything();
    let request =
        CurateRequest { tags: vec!["zebra/x".into()], ..CurateRequest::new("The stove was cleaned in May.") };
    engine.curate(&caller, &request, now()).unwrap();
    engine.compact(CompactWhen::Always).unwrap();
    let event = rename(&engine, &["#Zebra"], "okapi").unwrap();
    let both = ["okapi".to_owned(), "okapi/x".to_owned()];
    let check = |engine: &Engine| {
        assert_eq!(tags(engine).into_iter().map(|(tag, _)| tag).collect::<Vec<_>>(), both);
        assert_eq!(found_by(engine, "#okapi", None).len(), 2);
        assert_eq!(found_by(engine, "#zebra", None).len(), 0);
        assert_eq!(found_by(engine, "kettle", Some("okapi")).len(), 1);
        assert_eq!(found_by(engine, "kettle", Some("zebra")).len(), 0);
    };
    check(&engine);
    engine.compact(CompactWhen::Always).unwrap();
    check(&engine);
    // The file is read again: once changed, once whole.
    place.write("a.md", note.replace("each month", "each week"));
    place.index(&engine);
    check(&engine);
    check(&place.open());
    let healthy = |engine: &Engine| {
        let checks = engine.doctor(&caller).unwrap();
        checks
            .into_iter()
            .filter(|check| check.outcome == bower_core::request::Outcome::Bad)
            .collect::<Vec<_>>()
    };
    assert_eq!(healthy(&engine), []);
    assert_eq!(engine.undo(&caller, event, now()).unwrap().action, "retag");
    assert_eq!(found_by(&engine, "#zebra", None).len(), 2);
    assert_eq!(found_by(&engine, "#okapi", None).len(), 0);
    assert_eq!(healthy(&engine), []);
}

/// Number of items that have a tag in the graph.
fn tagged(engine: &Engine, tag: &str) -> usize {
    let request = EntityRequest { name: tag.into(), limit: 1, select: Selection::default() };
    engine.graph_entity(&Visibility::everything(), &request, now()).map_or(0, |found| found.entity.items)
}

#[test]
fn the_graph_follows_renamed_tags() {
    let place = Place::without_model();
    place.write("a.md", "---\ntags: [okapi]\n---\nthe kettle is descaled each month.\n");
    place.write("b.md", "---\ntags: [zebra]\n---\nthe stove was cleaned again.\n");
    for at in 0..20 {
        place.write(
            &format!("other{at}.md"),
            format!("---\ntags: [t{at}]\n---\nthe lamp number {at} is lit.\n"),
        );
    }
    let engine = place.open();
    place.index(&engine);
    engine.compact(CompactWhen::Always).unwrap();
    assert_eq!(tagged(&engine, "#herd"), 0);
    let event = rename(&engine, &["okapi", "zebra"], "herd").unwrap();
    assert_eq!(tagged(&engine, "#herd"), 2, "in the delta");
    engine.compact(CompactWhen::Always).unwrap();
    assert_eq!(tagged(&engine, "#herd"), 2, "in the index");
    engine.undo(&Visibility::everything(), event, now()).unwrap();
    assert_eq!(tagged(&engine, "#herd"), 0);
    engine.compact(CompactWhen::Always).unwrap();
    assert_eq!(tagged(&engine, "#herd"), 0);
}

#[test]
fn a_forgotten_items_renamed_tag_leaves_no_trace() {
    let place = Place::without_model();
    let engine = place.open();
    let caller = Visibility::everything();
    let request =
        CurateRequest { tags: vec!["xanadu".into()], ..CurateRequest::new("The gate is painted blue.") };
    let id = engine.curate(&caller, &request, now()).unwrap().id.unwrap();
    rename(&engine, &["xanadu"], "shangrila").unwrap();
    engine.forget(&caller, &Forgetting::of(ForgetRequest::Ids(vec![id])), now()).unwrap();
    for word in ["xanadu", "shangrila"] {
        let residue = engine.residue(&caller, word).unwrap();
        assert!(residue.files.is_empty(), "{word}: {residue:?}");
    }
    assert_eq!(tags(&engine), []);
}

#[test]
fn bad_names_are_refused_with_a_reason() {
    let place = Place::without_model();
    let engine = place.open();
    let caller = Visibility::everything();
    let request =
        CurateRequest { tags: vec!["a".into(), "b".into()], ..CurateRequest::new("The gate is blue.") };
    engine.curate(&caller, &request, now()).unwrap();
    let check = |from: &[&str], to: &str, words: &str| {
        let error = rename(&engine, from, to).unwrap_err().to_string();
        assert!(error.contains(words) && error.chars().count() < 300, "{error}");
    };
    let long = "x".repeat(10_000);
    check(&["a"], &long, "10000 characters");
    check(&[&long], "c", "(10000 characters)");
    check(&["a"], "", "use one word");
    check(&["a"], "#", "use one word");
    check(&[""], "c", "it is empty");
    check(&["#"], "c", "it is empty");
    check(&["a"], "two words", "use one word");
    check(&["a"], "c//d", "use one word");
    check(&["a"], "/c", "use one word");
    check(&["nobody"], "c", "no item with the tag nobody");
    check(&["a"], "#A", "the new name is the same as the old one");
    check(&["a"], "b", "bower tags merge a --into b");
    check(&["a", "b"], "b", "among the tags to merge");
    check(&["a"], "a/b", "nested below a");
    check(&[], "c", "name at least one");
    let long_tag = CurateRequest { tags: vec![long.clone()], ..CurateRequest::new("The door is red.") };
    assert!(engine.curate(&caller, &long_tag, now()).unwrap_err().to_string().contains("at most 200"));
    let bound = Visibility { owner: Some("ann".into()), ..Visibility::everything() };
    let request = RenameTags { from: vec!["a".into()], to: "c".into(), merges: false, dry_run: false };
    let error = engine.rename_tags(&bound, &request, now()).unwrap_err();
    assert!(matches!(error, Error::WholeStore { .. }), "{error:?}");
    let seen = engine.tags(&bound, &Selection::default(), None, 9, 0).unwrap();
    assert_eq!((seen.total, seen.renamed.len()), (0, 0));
}

/// Documents with names that a table must escape.
fn documents(tags: bool) -> Vec<DocumentInput> {
    let names = [
        "plain/a.md",
        "pipe|d/b.md",
        "tick`s/`c`.md",
        r"C:\back\|slash.md",
        "line\nbreak.md",
        "日本/d.md",
        " e.md ",
    ];
    let document = |(at, name): (usize, &&str)| {
        let own = if tags { format!("#t{at} #ärger #shared/x") } else { String::new() };
        DocumentInput {
            id: (*name).to_owned(),
            text: format!("Text number {at}. {own}\n"),
            ..DocumentInput::default()
        }
    };
    names.iter().enumerate().map(document).collect()
}

fn add(engine: &Engine, documents: Vec<DocumentInput>) {
    // Texts without an extension have no inline tags, so these are files of Markdown.
    let as_markdown = |input: DocumentInput| DocumentInput {
        file: Some(bower_core::engine::FileContent {
            name: "x.md".into(),
            bytes: input.text.clone().into_bytes(),
        }),
        ..input
    };
    let documents = documents.into_iter().map(as_markdown).collect();
    engine.add_documents(&Visibility::everything(), documents, (Scope::Project, None), now()).unwrap();
}

fn contents(folder: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    entries
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read_to_string(entry.path()).unwrap()))
        .collect()
}

#[test]
fn a_tag_index_is_imported_and_exported_again_as_the_same_bytes() {
    let (one, two) = (Place::without_model(), Place::without_model());
    let caller = Visibility::everything();
    let first = one.open();
    add(&first, documents(true));
    let folder = one.notes().join("tags");
    let export = |engine: &Engine, folder: &Path| {
        engine.export_tags(&caller, &Selection::default(), None, folder).unwrap()
    };
    let written = export(&first, &folder);
    assert_eq!((written.tags, written.documents, written.files, written.written), (9, 7, 3, 3));
    let before = contents(&folder);
    let names: Vec<&String> = before.keys().collect();
    assert_eq!(names, ["TAG_INDEX_OTHER.md", "TAG_INDEX_S.md", "TAG_INDEX_T.md"]);
    assert_eq!(export(&first, &folder).written, 0, "the same bytes are not written again");

    let second = two.open();
    add(&second, documents(false));
    let import = |engine: &Engine, dry_run| {
        engine.import_tags(&caller, &TagImportRequest { root: None, dry_run }, &folder, now()).unwrap()
    };
    assert_eq!((import(&second, true).added, tags(&second).len()), (21, 0));
    let taken = import(&second, false);
    assert_eq!((taken.files, taken.changed, taken.added, taken.missing.len()), (3, 7, 21, 0));
    let again = two.notes().join("tags");
    export(&second, &again);
    assert_eq!(contents(&again), before);
    assert_eq!(import(&second, false).event, 0);

    // A tag vanishes, and its file with it. A file that is no shard of an export stays.
    fs::write(again.join("TAG_INDEX_A-M.md"), "mine").unwrap();
    rename(&second, &["shared"], "told").unwrap();
    assert_eq!(export(&second, &again).removed, 1);
    assert!(again.join("TAG_INDEX_A-M.md").exists() && !again.join("TAG_INDEX_S.md").exists());
    second.undo(&caller, taken.event, now()).unwrap();
    assert_eq!(tags(&second), []);
}

#[test]
fn a_tag_index_below_a_folder_has_relative_paths() {
    let place = Place::without_model();
    place.write("alpha/a.md", "One two three.\n");
    let engine = place.open();
    place.index(&engine);
    let caller = Visibility::everything();
    let folder = place.notes().join("tags");
    let root = fs::canonicalize(place.notes()).unwrap();
    let root = Some(root.to_str().unwrap().to_owned());
    engine.export_tags(&caller, &Selection::default(), root.as_deref(), &folder).unwrap();
    let text = contents(&folder).remove("TAG_INDEX_A.md").unwrap();
    assert!(text.contains("| `alpha/a.md` | #alpha |"), "{text}");
    let more = text
        .replace("| `alpha/a.md` | #alpha |", "| `alpha/a.md` | #alpha #More |\n| `alpha/b.md` | #more |");
    fs::write(folder.join("TAG_INDEX_A.md"), more).unwrap();
    let request = TagImportRequest { root, dry_run: false };
    let taken = engine.import_tags(&caller, &request, &folder, now()).unwrap();
    assert_eq!((taken.changed, taken.added, taken.missing), (1, 1, vec!["alpha/b.md".to_owned()]));
    assert_eq!(tags_of_files(&engine)["a.md"], "alpha more");
    // The file changes: what a person gave it stays.
    place.write("alpha/a.md", "Four five six.\n");
    place.index(&engine);
    assert_eq!(tags_of_files(&engine)["a.md"], "alpha more");
}

#[test]
fn a_tag_index_that_cannot_be_written_or_read_is_named() {
    let place = Place::without_model();
    let engine = place.open();
    let caller = Visibility::everything();
    let file = place.write("file", "text");
    let export = engine.export_tags(&caller, &Selection::default(), None, &file).unwrap_err();
    assert!(export.to_string().contains("it is a file"), "{export}");
    let import = |folder: &Path| {
        engine.import_tags(&caller, &TagImportRequest::default(), folder, now()).unwrap_err().to_string()
    };
    assert!(import(&file).contains("it is a file"));
    assert!(import(&place.notes().join("none")).starts_with("no folder"));
    let folder = place.write("tags/other.md", "text").parent().unwrap().to_path_buf();
    assert!(import(&folder).starts_with("no TAG_INDEX_*.md in"));
    place.write(
        "tags/TAG_INDEX_A.md",
        "# TAG INDEX (A)\n## 📂 File → Tags\n| `a.md` | a |\n*1 tags across 1 files.*\n",
    );
    assert!(import(&folder).contains("TAG_INDEX_A.md:3: a tag begins with #"));
    place.write("tags/TAG_INDEX_A.md", b"# TAG INDEX \xff");
    assert!(import(&folder).contains("not valid UTF-8"));
    let long = format!(
        "# TAG INDEX (A)\n## 📂 File → Tags\n| `a.md` | #{} |\n*1 tags across 1 files.*\n",
        "x".repeat(10_000)
    );
    place.write("tags/TAG_INDEX_A.md", long);
    let error = import(&folder);
    assert!(error.contains("10000 characters") && error.len() < 400, "{error}");
}
