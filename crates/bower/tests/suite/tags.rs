//! Tests `bower tags` through the program: lists, renamings and their undo, the tag index, and refusals.

use crate::command::Home;
use crate::exits::check;
use serde_json::json;

#[test]
fn tags_are_listed_renamed_and_taken_back() {
    let home = Home::new();
    home.write("notes/infra/db.md", "# Database\n\nThe database runs on the third host.\n");
    home.data(["index", "notes"]);
    home.data(["curate", "The queue listens on port 7001", "--tags", "ops,ops/queue"]);
    let list = home.data(["tags"]);
    let infra = json!({"tag": "infra", "items": 1, "memories": 0, "documents": 1});
    assert_eq!((&list["tags"][0], &list["total"]), (&infra, &json!(3)), "{list}");
    assert_eq!(home.data(["tags", "list", "--under", "ops"])["total"], 2);
    assert_eq!(home.data(["tags", "--kind", "chunk"])["total"], 1);
    let looked = home.data(["tags", "rename", "ops", "team", "--dry-run"]);
    assert_eq!(
        (&looked["event"], &looked["memories"], &looked["dry_run"]),
        (&json!(0), &json!(1), &json!(true))
    );

    let merged = home.data(["tags", "merge", "ops", "infra", "--into", "team"]);
    assert_eq!((&merged["memories"], &merged["chunks"]), (&json!(1), &json!(1)));
    let found = home.data(["query", "port", "--tag", "team/queue"]);
    assert_eq!(found["total_found"], 1, "{found}");
    home.write("notes/infra/db.md", "# Database\n\nThe database runs on the fourth host.\n");
    home.data(["index", "notes"]);
    let list = home.data(["tags"]);
    assert_eq!((&list["tags"][0]["tag"], &list["tags"][0]["items"]), (&json!("team"), &json!(2)), "{list}");
    assert_eq!(list["renamed"].as_array().unwrap().len(), 2);
    let undone = home.data(["undo", &merged["event"].to_string()]);
    assert_eq!((&undone["action"], undone["items"].as_array().unwrap().len()), (&json!("retag"), 2));
    let list = home.data(["tags"]);
    assert_eq!((&list["tags"][0]["tag"], &list["total"]), (&json!("infra"), &json!(3)), "{list}");
    let text = home.run(["tags", "--format", "text"]);
    assert!(text.out.contains("\n  ops/queue") && text.out.ends_with("3 tags\n"), "{text:?}");
    let nothing = home.run(["tags", "--under", "none", "--format", "text"]);
    assert_eq!((nothing.status, nothing.out.as_str()), (0, "no tags\n"));
}

#[test]
fn a_tag_index_goes_out_and_comes_back() {
    let home = Home::new();
    home.write("notes/infra/db.md", "# Database\n\nThe database runs on the third host.\n");
    home.data(["index", "notes"]);
    let written = home.data(["tags", "export", "index", "--root", "notes"]);
    assert_eq!((&written["tags"], &written["files"]), (&json!(1), &json!(1)));
    let path = home.path("index/TAG_INDEX_I.md");
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("| #infra | `infra/db.md` |"), "{text}");
    std::fs::write(&path, text.replace("| #infra |\n", "| #infra #host |\n")).unwrap();
    let taken = home.data(["tags", "import", "index", "--root", "notes"]);
    assert_eq!((&taken["added"], &taken["missing"]), (&json!(1), &json!([])), "{taken}");
    assert_eq!(home.data(["tags"])["total"], 2);
    home.data(["undo", &taken["event"].to_string()]);
    assert_eq!(home.data(["tags"])["total"], 1);
    // Without the root no document has this path.
    assert_eq!(home.data(["tags", "import", "index"])["missing"], json!(["infra/db.md"]));
}

#[test]
fn what_cannot_be_done_with_tags_says_why() {
    let home = Home::new();
    home.data(["curate", "The queue listens on port 7001", "--tags", "ops"]);
    let long = "x".repeat(10_000);
    check(&home.run(["tags", "rename", "ops", &long]), 2, "10000 characters");
    check(&home.run(["tags", "rename", "ops", ""]), 2, "use one word");
    check(&home.run(["tags", "rename", "#", "x"]), 2, "it is empty");
    check(&home.run(["tags", "rename", "ops", "ops"]), 2, "the same as the old one");
    check(&home.run(["tags", "rename", "none", "x"]), 1, "no item with the tag none");
    check(&home.run(["tags", "merge", "ops", "team", "--into", "team"]), 2, "among the tags to merge");
    check(&home.run(["tags", "merge", "ops"]), 2, "--into");
    check(&home.run(["tags", "list", "--under", " "]), 2, "blank");
    home.write("file", "text");
    check(&home.run(["tags", "export", "file"]), 2, "it is a file");
    check(&home.run(["tags", "import", "nowhere"]), 1, "nowhere");
    home.write(
        "index/TAG_INDEX_A.md",
        "# TAG INDEX (A)\n## 📂 File → Tags\n| `a.md` |\n*1 tags across 1 files.*\n",
    );
    check(&home.run(["tags", "import", "index"]), 2, "TAG_INDEX_A.md:3: it has 1 cells");
    assert_eq!(home.data(["tags"])["total"], 1, "nothing was changed");
}
