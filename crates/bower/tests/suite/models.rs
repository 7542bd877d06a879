//! Tests that another model can be chosen, through the program: what it takes, the switch, the way back, what stays.

use serde_json::{Value, json};
use std::path::Path;

use crate::command::Home;
use crate::published::encoder;

/// Returns a home whose models are those of the tests and any that a test adds, with the files of a small sentence encoder
/// in the folder `small`.
pub(crate) fn home() -> Home {
    let real = Home::with_model();
    let real = Path::new(real.models_folder().unwrap()).join("all-MiniLM-L6-v2");
    let home = Home::new();
    let models = home.path("models");
    std::fs::create_dir_all(models.join("all-MiniLM-L6-v2")).unwrap();
    for entry in std::fs::read_dir(&real).unwrap() {
        let entry = entry.unwrap();
        if entry.file_name() != "model.safetensors" {
            std::fs::copy(entry.path(), models.join("all-MiniLM-L6-v2").join(entry.file_name())).unwrap();
        }
    }
    for (name, body) in encoder() {
        home.write(&format!("small/{name}"), body);
    }
    let folder = models.to_str().unwrap().to_owned();
    home.with("BOWER_MODELS_FOLDER", &folder)
}

fn asked(home: &Home) -> Value {
    home.data(["query", "when does the ferry leave"])
}

#[test]
fn another_model_answers_after_its_vectors_are_made_and_the_old_one_can_return() {
    let home = home();
    for text in ["The ferry leaves at seven in the morning.", "Ada Marsh keeps the keys of the boathouse."] {
        home.data(["curate", text]);
    }
    let trial = ["model", "use", "someone/small", "--from", "small", "--dry-run"];
    let told = home.data(trial);
    assert_eq!((&told["switched"], told.get("cost")), (&json!(false), None));
    assert!(!home.path("models/small/origin.json").exists(), "a trial fetches nothing");
    home.data(["model", "pull", "someone/small", "--from", "small"]);
    let told = home.data(trial);
    assert_eq!(
        (&told["switched"], &told["embedded"], &told["cost"]["waiting"]),
        (&json!(false), &json!(0), &json!(2))
    );
    assert_eq!(asked(&home)["model_used"], "all-MiniLM-L6-v2.i8-2");

    let used = home.data(["model", "use", "someone/small"]);
    assert_eq!(
        (&used["switched"], &used["embedded"], &used["previous"]),
        (&json!(true), &json!(2), &json!("all-MiniLM-L6-v2"))
    );
    assert_eq!(asked(&home)["model_used"], used["identity"]);
    let answer = asked(&home);
    assert!(answer["results"][0]["memory"]["content"].as_str().unwrap().contains("ferry"), "{answer}");
    assert_eq!(answer["degraded"], json!([]));
    // The default model still classifies what is told: thanks are junk to it.
    let refused = home.run(["curate", "Thanks, that looks great to me!"]);
    assert!(refused.out.contains("\"accepted\":false"), "{refused:?}");
    home.data(["curate", "The mill at Orsland grinds on Wednesdays."]);
    let again = home.data(["model", "use", "someone/small"]);
    assert_eq!((&again["switched"], &again["embedded"]), (&json!(false), &json!(0)));

    let back = home.data(["model", "back"]);
    assert_eq!((&back["model"], &back["embedded"]), (&json!("all-MiniLM-L6-v2"), &json!(1)));
    assert_eq!(asked(&home)["model_used"], "all-MiniLM-L6-v2.i8-2");
    assert_eq!(home.data(["model", "back"])["model"], "small");
    assert_eq!(home.data(["model", "back"])["model"], "all-MiniLM-L6-v2");

    let refused = home.run(["model", "drop", "all-MiniLM-L6-v2"]);
    assert!(refused.status == 2 && refused.out.contains("answers questions here"), "{refused:?}");
    assert_eq!(home.data(["model", "drop", "small"])["vectors"], 3);
    assert_eq!(home.data(["model", "drop", "small"])["vectors"], 0);
    let refused = home.run(["model", "back"]);
    assert!(refused.out.contains("this store has vectors of no other model"), "{refused:?}");
    assert_eq!(home.run(["doctor"]).status, 0);
}

#[test]
fn a_setting_above_the_file_is_named_and_a_home_without_a_store_needs_no_vectors() {
    let home = home().with("BOWER_MODEL", "all-MiniLM-L6-v2");
    let used = home.data(["model", "use", "someone/small", "--from", "small"]);
    assert_eq!((&used["embedded"], &used["overridden_by"]), (&json!(0), &json!("BOWER_MODEL")));
    for (name, body) in crate::published::published() {
        home.write(&format!("cross/{name}"), body);
    }
    let refused = home.run(["model", "use", "someone/cross", "--from", "cross"]);
    assert!(
        refused.status == 2 && refused.out.contains("name it in the setting rerank_model"),
        "{refused:?}"
    );
    let refused = home.run(["model", "use", "someone/other", "--from", "nowhere"]);
    assert!(refused.status != 0 && refused.out.contains("nowhere has no config.json"), "{refused:?}");
}
