//! Tests canonical files and the findings of `bower doctor` through the program, with refusals and exit status.

use crate::command::Home;
use serde_json::json;

#[test]
fn the_setting_is_a_list_of_files() {
    let home = Home::new();
    home.write("notes/rules/ports.md", "# Ports\n\nThe gateway listens on port 8080.\n");
    home.data(["index", "notes"]);
    let ask = |home: &Home| {
        home.data(["query", "gateway port", "--profile", "athena"])["results"][0]["citation"].clone()
    };
    assert_eq!(ask(&home), json!(null));
    home.data(["config", "set", "canonical_files", "CANONICAL.md, rules/*.md"]);
    let file = std::fs::read_to_string(home.path("home/config.toml")).unwrap_or_default();
    assert!(file.contains(r#"canonical_files = ["CANONICAL.md", "rules/*.md"]"#), "{file}");
    let citation = ask(&home);
    let citation = citation.as_str().unwrap();
    assert!(citation.starts_with("Canonical:") && citation.len() == 26, "{citation}");
    let got = home.data(["get", citation]);
    assert!(got["memory"]["content"].as_str().unwrap().contains("8080"), "{got}");
    let shown = home.run(["config", "--format", "text"]);
    assert!(shown.out.contains("CANONICAL.md, rules/*.md"), "{}", shown.out);
}

#[test]
fn a_file_that_cannot_be_meant_is_refused() {
    let home = Home::new();
    for (value, reason) in [
        ("!a.md", "no exceptions"),
        ("../a.md", "no .. in it"),
        ("a{b.md", "unclosed alternate group"),
        ("[\"/\"]", "the name of a file"),
    ] {
        let refused = home.run(["config", "set", "canonical_files", value]);
        assert!(refused.status == 2 && refused.out.contains(reason), "{refused:?}");
    }
    std::fs::create_dir_all(home.path("home")).unwrap();
    std::fs::write(home.path("home/config.toml"), "threads = 2\ncanonical_files = [1]\n").unwrap();
    let refused = home.run(["config"]);
    assert!(
        refused.out.contains("config.toml:2: canonical_files: [1] is not a list of texts"),
        "{refused:?}"
    );
}

#[test]
fn findings_are_no_damage() {
    let home = Home::new();
    home.write("notes/one.md", "# One\n\nSee [[two]] and [[gone]].\n");
    home.write("notes/two.md", "# Two\n\nSee [one](one.md), [three](../three.md).\n");
    home.data(["index", "notes"]);
    let ended = home.run(["doctor"]);
    assert_eq!(ended.status, 0, "{ended:?}");
    let checks = home.data(["doctor"])["checks"].as_array().unwrap().clone();
    let links = checks.iter().find(|check| check["name"] == "links").unwrap();
    assert_eq!((&links["outcome"], &links["findings"][0]["problem"]), (&json!("weak"), &json!("nowhere")));
    assert_eq!(
        (&links["findings"][0]["line"], &links["findings"][0]["text"]),
        (&json!(3), &json!("[[gone]]"))
    );
    let text = home.run(["doctor", "--format", "text"]);
    assert!(text.out.contains("one.md:3  [[gone]] leads nowhere"), "{}", text.out);
    assert!(text.out.contains("../three.md leads nowhere"), "{}", text.out);
}
