//! Tests that anchors are made of what is there, and what a check says after the files changed.

use super::*;
use crate::item::AnchorState::{self, Changed, Gone, Holds, Moved};
use std::fs;

const PARSE: &str = "pub fn parse(text: &str) -> usize {\n    text.trim().len()\n}\n";

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new(files: &[(&str, &str)]) -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir(place.folder.path().join(".git")).unwrap();
        for (path, text) in files {
            place.write(path, text);
        }
        place
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn remove(&self, path: &str) {
        fs::remove_file(self.folder.path().join(path)).unwrap();
    }

    fn anchors(&self, text: &str) -> Vec<Anchor> {
        anchors_of(Some(self.folder.path()), text)
    }

    fn names(&self, text: &str) -> Vec<(Option<String>, Option<String>)> {
        self.anchors(text).into_iter().map(|one| (one.path, one.symbol)).collect()
    }

    #[track_caller]
    fn check(&self, anchors: &[Anchor], expected: &[(AnchorState, Option<&str>)]) {
        let checked = AnchorCheck::new(self.folder.path()).check(anchors);
        let found: Vec<_> = checked.iter().map(|one| (one.state, one.now_at.as_deref())).collect();
        assert_eq!(found, expected, "{anchors:?}");
    }
}

fn pair(path: &str, symbol: Option<&str>) -> (Option<String>, Option<String>) {
    (Some(path.to_owned()), symbol.map(str::to_owned))
}

#[test]
fn names_are_looked_up_in_the_files() {
    let shelf = "class Shelf:\n    def put(self, book):\n        self.books.append(book)\n";
    let place = Place::new(&[
        (
            "src/a.rs",
            &format!(
                "use x;\n\n{PARSE}\nstruct Foo;\nimpl Foo {{\n    fn get_it(&self) {{ parse(\"x\"); }}\n}}\n"
            ),
        ),
        ("src/b/shelf.py", shelf),
        ("docs/guide.md", "# Guide\n\nHow the parser is called from other code.\n"),
    ]);
    let check = |text: &str, expected: &[(Option<String>, Option<String>)]| {
        assert_eq!(place.names(text), expected, "{text}");
    };
    check("`parse` in src/a.rs trims", &[pair("src/a.rs", Some("fn parse"))]);
    check("Foo::get_it calls it", &[pair("src/a.rs", Some("impl Foo > fn get_it"))]);
    check("Bar::get_it does not exist", &[]);
    check("the guide (docs/guide.md) is old", &[pair("docs/guide.md", None)]);
    check("see shelf.py:2", &[pair("src/b/shelf.py", Some("class Shelf > def put"))]);
    check("docs/guide.md:3", &[pair("docs/guide.md", None)]);
    check("`Shelf.put` appends", &[pair("src/b/shelf.py", Some("class Shelf > def put"))]);
    check("nothing.rs, and/or `text`, ../../etc/passwd, /etc/passwd", &[]);
    assert_eq!(place.anchors("docs/guide.md:3")[0].lines, Some((3, 3)));
    assert_eq!(anchors_of(None, "src/a.rs"), []);
    let inner = place.folder.path().join("src");
    assert_eq!(anchors_of(Some(&inner), "a.rs")[0].path.as_deref(), Some("src/a.rs"));
}

#[test]
fn a_qualifier_names_a_receiver_or_the_package_of_a_file() {
    let go = "package shop\n\nfunc (s *Shelf) Put(book Book) {\n\ts.books = append(s.books, book)\n}\n\nfunc sorted() {}\n";
    let place = Place::new(&[("lib/shelf.go", go)]);
    let put = [pair("lib/shelf.go", Some("func (s *Shelf) Put"))];
    assert_eq!(place.names("`Shelf.Put` in shelf.go appends"), put);
    assert_eq!(place.names("Shelf::Put appends"), put);
    assert_eq!(place.names("`shop.sorted` in shelf.go"), [pair("lib/shelf.go", Some("func sorted"))]);
    assert_eq!(place.names("`Table.Put` in shelf.go"), [pair("lib/shelf.go", None)]);
}

#[test]
fn a_symbol_holds_moves_changes_and_goes() {
    let place = Place::new(&[("src/a.rs", PARSE), ("src/b.rs", "fn other() {}\n")]);
    let anchors = place.anchors("`parse` of src/a.rs");
    place.check(&anchors, &[(Holds, None)]);
    // Another line and other white space are no change.
    place.write("src/a.rs", "// More.\n\npub fn parse(text: &str) -> usize { text.trim().len() }\n");
    place.check(&anchors, &[(Holds, None)]);
    place.write("src/a.rs", "// More.\npub fn parse(text: &str) -> usize {\n    text.len()\n}\n");
    place.check(&anchors, &[(Changed, Some("src/a.rs:2"))]);
    place.write("src/a.rs", "fn x() { parse(1) }\n");
    place.check(&anchors, &[(Gone, None)]);
    place.write("src/c/d.rs", &format!("use x;\n{PARSE}"));
    place.check(&anchors, &[(Moved, Some("src/c/d.rs:2"))]);
    place.remove("src/a.rs");
    place.check(&anchors, &[(Moved, Some("src/c/d.rs:2"))]);
    place.write("src/c/d.rs", "pub fn parse() {}");
    place.check(&anchors, &[(Changed, Some("src/c/d.rs:1"))]);
    place.write("src/b.rs", "fn parse() { 2 }");
    place.check(&anchors, &[(Gone, None)]);
    place.remove("src/c/d.rs");
    place.remove("src/b.rs");
    place.check(&anchors, &[(Gone, None)]);
}

#[test]
fn files_lines_and_folders_hold_move_and_go() {
    let text = "# Guide\n\nHow the parser is called from other code.\n";
    let place = Place::new(&[("docs/guide.md", text), ("tools/run.sh", "#!/bin/sh\nexec parser --all\n")]);
    let (file, line, folder) =
        (place.anchors("docs/guide.md"), place.anchors("docs/guide.md:3"), place.anchors("tools/ has it"));
    let all = [&file[..], &line, &folder].concat();
    place.check(&all, &[(Holds, None), (Holds, None), (Holds, None)]);
    place.write("docs/guide.md", &format!("New.\n{text}"));
    place.check(&all, &[(Holds, None), (Moved, Some("docs/guide.md:4")), (Holds, None)]);
    place.write("docs/guide.md", "Something else.\n");
    place.check(&all, &[(Holds, None), (Changed, None), (Holds, None)]);
    place.remove("docs/guide.md");
    place.remove("tools/run.sh");
    fs::remove_dir(place.folder.path().join("tools")).unwrap();
    place.check(&all, &[(Gone, None), (Gone, None), (Gone, None)]);
    place.write("manual/start.md", text);
    place.check(&all, &[(Moved, Some("manual/start.md")), (Moved, Some("manual/start.md:3")), (Gone, None)]);
    place.write("manual/guide.md", "Another text.\n");
    place.check(&file, &[(Moved, Some("manual/guide.md"))]);
}

#[test]
fn a_file_of_a_moved_folder_is_the_one_whose_path_ends_like_its_own() {
    let place = Place::new(&[("search/mod.rs", PARSE), ("print/mod.rs", "pub fn print() { println!(); }\n")]);
    let anchors = place.anchors("It is set up in search/mod.rs.");
    place.remove("search/mod.rs");
    place.remove("print/mod.rs");
    place.write("core/print/mod.rs", "// Edited.\n");
    place.write("core/write/mod.rs", "// New.\n");
    place.check(&anchors, &[(Gone, None)]);
    place.write("core/search/mod.rs", "// Edited too.\n");
    place.check(&anchors, &[(Moved, Some("core/search/mod.rs"))]);
    place.write("old/search/mod.rs", "// A copy.\n");
    place.check(&anchors, &[(Gone, None)]);
}

#[test]
fn what_is_not_here_is_not_judged() {
    let place = Place::new(&[("src/a.rs", PARSE)]);
    let anchors = place.anchors("src/a.rs");
    let name = place.folder.path().canonicalize().unwrap();
    let name = name.file_name().unwrap().to_str().unwrap().to_owned();
    let elsewhere = |root: String| vec![Anchor { root, ..anchors[0].clone() }];
    place.check(&elsewhere("/no/such/folder".into()), &[]);
    // The project came from another machine: its folder has the same name.
    place.check(&elsewhere(format!("/no/such/{name}")), &[(Holds, None)]);
    let large = "x ".repeat(600_000);
    place.write("src/a.rs", &large);
    place.check(&anchors, &[]);
}

#[test]
fn a_remark_names_a_few() {
    let one = |path: &str, state| CheckedAnchor {
        path: Some(path.into()),
        symbol: None,
        lines: None,
        commit: None,
        state,
        now_at: None,
    };
    assert_eq!(remark(&[one("a.rs", Holds)]), None);
    let all: Vec<_> = ["a", "b", "c", "d", "e"].map(|path| one(path, Gone)).into();
    assert_eq!(remark(&all).unwrap(), "since then in the code: a: gone; b: gone; c: gone; 2 more");
}
