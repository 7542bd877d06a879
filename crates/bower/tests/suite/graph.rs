//! Tests `bower graph` and `bower relate` as a person and a program use them, without a model.

use crate::command::{Ended, Home};

/// A home with three notes of a chain and one apart.
fn notes() -> Home {
    let home = Home::new();
    home.write(
        "notes/ada.md",
        "# Ada Lovelace\n\nHer notes on the Analytical Engine were the first program.\n",
    );
    home.write(
        "notes/engine.md",
        "# Analytical Engine\n\nDesigned by Charles Babbage. See [[Ada Lovelace]].\n",
    );
    home.write("notes/town.md", "# Cambridge\n\nCharles Babbage held a chair in the town. #history\n");
    home.write("notes/bread.md", "# Bread\n\nKnead the dough with Rosa Bianchi.\n");
    home.data(["index", "notes"]);
    home
}

fn text<const N: usize>(home: &Home, arguments: [&str; N]) -> String {
    let ended = Ended::from(home.command(arguments).args(["--format", "text"]).output().unwrap());
    // Ids depend on the folder, and are of 8 hex digits.
    let is_id = |word: &str| word.len() == 8 && word.bytes().all(|b| b.is_ascii_hexdigit());
    let line = |line: &str| {
        line.split(' ').map(|word| if is_id(word) { "[ID]" } else { word }).collect::<Vec<_>>().join(" ")
    };
    (ended.out + &ended.talk).lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn an_entity_its_neighbours_and_a_path_for_people() {
    let home = notes();
    insta::assert_snapshot!("entity", text(&home, ["graph", "entity", "charles babbage"]));
    insta::assert_snapshot!("neighbours", text(&home, ["graph", "neighbours", "Charles Babbage"]));
    insta::assert_snapshot!("path", text(&home, ["graph", "path", "Ada Lovelace", "Cambridge"]));
    insta::assert_snapshot!("communities", text(&home, ["graph", "communities"]));
    // The second run starts from the first, and finds the same.
    insta::assert_snapshot!("communities", text(&home, ["graph", "communities"]));
    insta::assert_snapshot!("unknown", text(&home, ["graph", "entity", "Charles Darwin"]));
}

#[test]
fn a_path_that_does_not_exist_ends_with_status_1() {
    let home = notes();
    let ended = home.run(["graph", "path", "Ada Lovelace", "Rosa Bianchi"]);
    assert_eq!(ended.status, 1, "{}", ended.out);
    assert_eq!(ended.json()["data"]["path"], serde_json::json!([]));
    let ended = home.run(["graph", "path", "Ada Lovelace", "Nobody Known"]);
    assert_eq!(ended.status, 1, "{}", ended.out);
    assert!(ended.json()["data"]["error"].as_str().unwrap().contains("no item mentions"), "{}", ended.out);
}

#[test]
fn a_graph_is_exported_in_four_forms() {
    let home = notes();
    let data = home.data(["graph", "export"]);
    assert!(data["nodes"].as_array().unwrap().iter().any(|node| node["name"] == "Charles Babbage"), "{data}");
    for (form, start) in [("graphml", "<?xml"), ("dot", "graph bowerbird {"), ("html", "<!doctype html>")] {
        let file = home.path(&format!("out.{form}"));
        let name = file.to_str().unwrap();
        let report = home.data(["graph", "export", "--as", form, "-o", name]);
        assert!(report["entities"].as_u64().unwrap() > 0, "{report}");
        let written = std::fs::read_to_string(&file).unwrap();
        assert!(written.starts_with(start) && written.contains("Charles Babbage"), "{written}");
        assert_eq!(home.run(["graph", "export", "--as", form]).out.trim_end(), written.trim_end());
        // A file that is there stays, unless it is told to be replaced.
        assert_eq!(home.run(["graph", "export", "--as", form, "-o", name]).status, 2);
        home.data(["graph", "export", "--as", form, "-o", name, "--force"]);
    }
    let folder = home.path("");
    assert_eq!(home.run(["graph", "export", "-o", folder.to_str().unwrap()]).status, 2);
}

#[test]
fn a_relation_is_stated_and_taken_back() {
    let home = notes();
    let stated = home.data(["relate", "Rosa Bianchi", "taught", "Charles Babbage"]);
    assert_eq!(stated["outcome"], "stated");
    let path = home.data(["graph", "path", "Rosa Bianchi", "Ada Lovelace"]);
    assert_eq!(path["path"][0]["relation"], "taught", "{path}");
    assert_eq!(home.data(["relate", "Rosa Bianchi", "taught", "Charles Babbage"])["outcome"], "unchanged");
    let ended = home.data(["relate", "Rosa Bianchi", "taught", "Charles Babbage", "--undo"]);
    assert_eq!(ended["outcome"], "ended");
    assert_eq!(home.run(["graph", "path", "Rosa Bianchi", "Ada Lovelace"]).status, 1);
    assert_eq!(home.run(["relate", "Rosa Bianchi", "taught", "Charles Babbage", "--undo"]).status, 1);
    assert_eq!(home.run(["relate", "Rosa Bianchi", "", "Charles Babbage"]).status, 2);
}

#[test]
fn two_names_are_joined_listed_and_parted_again() {
    let home = notes();
    home.write("notes/letters.md", "# Letters\n\nC. B. wrote to Rosa Bianchi. So \"the mill owner\" knew.\n");
    home.data(["index", "notes"]);
    assert_eq!(home.run(["graph", "path", "Rosa Bianchi", "Cambridge"]).status, 1);
    let steps = [
        text(&home, ["graph", "alias", "the mill owner", "Charles Babbage"]),
        text(&home, ["graph", "alias", "Mr Babbage", "the mill owner"]),
        text(&home, ["graph", "aliases"]),
        text(&home, ["graph", "entity", "the mill owner"]),
        text(&home, ["graph", "path", "Rosa Bianchi", "Cambridge"]),
        text(&home, ["graph", "alias", "Charles Babbage", "the mill owner", "--undo"]),
        text(&home, ["graph", "aliases", "charles babbage"]),
        text(&home, ["graph", "alias", "Charles Babbage", "the mill owner", "--undo"]),
        text(&home, ["graph", "alias", "Ada", "ADA."]),
    ];
    insta::assert_snapshot!("aliases", steps.join("\n---\n"));
    let data = home.data(["graph", "aliases"]);
    assert_eq!(data["entities"][0]["names"], serde_json::json!(["Mr Babbage", "the mill owner"]), "{data}");
}

#[test]
fn triples_are_read_only_by_a_model_of_the_settings() {
    let home = notes();
    let ended = home.run(["graph", "extract"]);
    let error = ended.json()["data"]["error"].as_str().unwrap().to_owned();
    assert_eq!(ended.status, 2, "{}", ended.out);
    assert!(error.contains("set llm (openai, gemini, anthropic or ollama) and llm_model"), "{error}");
    // Nobody listens on the discard port of the loopback.
    let set = ["--set", "llm=openai", "--set", "llm_url=http://127.0.0.1:9/v1", "--set", "llm_model=tiny"];
    let run = |more: &[&str]| {
        let arguments = [&["graph", "extract"], more, &set[..]].concat();
        let ended = Ended::from(home.command(arguments).output().unwrap());
        (ended.status, ended.json()["data"].clone())
    };
    let (status, would) = run(&["--dry-run", "--limit", "3"]);
    assert_eq!(status, 0, "{would}");
    assert_eq!(
        (&would["source"], &would["items"], &would["requests"]),
        (&"llm:tiny".into(), &3.into(), &1.into())
    );
    let (status, done) = run(&[]);
    assert_eq!(status, 3, "{done}");
    assert_eq!((&done["items"], &done["waiting"]), (&0.into(), &4.into()), "{done}");
    assert!(done["failures"][0]["why"].as_str().unwrap().contains("127.0.0.1:9"), "{done}");
    let ended = home.run(["graph", "extract", "--remove", "llm:tiny"]);
    assert_eq!(ended.status, 2, "{}", ended.out);
    assert!(ended.out.contains("the store has no triples"), "{}", ended.out);
}
