//! Tests `bower eval` on a set of a few lines, by words alone.
//! It checks what the flags add, and that what is hidden is really gone.

use serde_json::Value;

use crate::command::Home;
use crate::exits::check;

/// Two conversations; each question has one answer, the last one's is not in the corpus.
fn home() -> Home {
    let home = Home::new();
    let line = |id: &str, group: &str, text: &str| {
        format!("{{\"_id\": \"{id}\", \"title\": \"\", \"text\": \"{text}\", \"group\": \"{group}\"}}\n")
    };
    let corpus = [
        line("a1", "a", "Zinnia keeps seventeen parakeets in the attic."),
        line("a2", "a", "The parakeets eat millet and sing at dawn."),
        line("a3", "a", "Rain fell on the harbour all night."),
        line("b1", "b", "Otto repaired the lighthouse lens with beeswax."),
        line("b2", "b", "A ferry leaves the harbour every hour."),
    ];
    home.write("set/corpus.jsonl", corpus.concat());
    let ask = |id: &str, group: &str, kind: &str, text: &str| {
        format!(
            "{{\"_id\": \"{id}\", \"text\": \"{text}\", \"group\": \"{group}\", \"category\": \"{kind}\"}}\n"
        )
    };
    let queries = [
        ask("q1", "a", "who", "who keeps seventeen parakeets in the attic"),
        ask("q2", "b", "what", "what was the lighthouse lens repaired with"),
        ask("q3", "b", "what", "when does the ferry leave the quay"),
    ];
    home.write("set/queries.jsonl", queries.concat());
    home.write("set/qrels.tsv", "query-id\tcorpus-id\tscore\nq1\ta1\t1\nq2\tb1\t1\nq3\tgone\t1\nq3\ta3\t1\n");
    home
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn figures_have_intervals_and_parts_can_be_removed() {
    let data = home().data(["eval", "set", "--ablate", "--format", "json"]);
    assert_eq!((data["documents"].as_u64(), data["queries"].as_u64()), (Some(5), Some(3)));
    // Two of three questions find their answer first; the third has none to find.
    assert!((number(&data["figures"]["fused"]["ndcg@10"]) - 2.0 / 3.0).abs() < 1e-9, "{data}");
    let interval = &data["intervals"]["fused"]["ndcg@10"];
    assert!(number(&interval[0]) < 2.0 / 3.0 && number(&interval[1]) > 2.0 / 3.0, "{interval}");
    assert_eq!(data["category_queries"], serde_json::json!({"who": 1, "what": 2}));
    let rows = data["ablation"].as_array().unwrap();
    let row = |removed: &str| rows.iter().find(|row| row["removed"] == removed).unwrap();
    // Without a model there is nothing but words.
    assert!((number(&row("text")["difference"]) + 2.0 / 3.0).abs() < 1e-9, "{rows:?}");
    assert_eq!(row("text")["worse"], 2);
    assert_eq!((&row("vector")["equal"], &row("meaning")["equal"]), (&3.into(), &3.into()));
    for optional in ["comparison", "calibration", "evidence"] {
        assert!(data.get(optional).is_none(), "{optional} was not asked for");
    }
}

#[test]
fn two_profiles_are_compared_on_one_index() {
    let data = home().data(["eval", "set", "--compare", "atlas", "bower", "--format", "json"]);
    assert_eq!(data["profile"], "atlas");
    let comparison = &data["comparison"];
    assert_eq!(comparison["profiles"], serde_json::json!(["atlas", "bower"]));
    let all = &comparison["all"]["differences"]["ndcg@10"];
    let count = |name: &str| all[name].as_u64().unwrap();
    assert_eq!(count("better") + count("worse") + count("equal"), 3);
    assert_eq!(comparison["by_category"]["what"]["queries"], 2);
}

#[test]
fn judged_documents_are_gone_when_a_question_is_asked_again() {
    let home = home();
    let data = home.data([
        "eval",
        "set",
        "--calibration",
        "--evidence",
        "--features",
        "hits.jsonl",
        "--format",
        "json",
    ]);
    let abstention = &data["calibration"]["abstention"];
    // Of the third question's judged documents, one is nowhere and one in another conversation: nothing can be hidden.
    assert_eq!((&abstention["questions"], &abstention["answered"]), (&2.into(), &2.into()));
    assert!(number(&abstention["auroc_answered"]) > 0.99, "{abstention}");
    assert_eq!(data["evidence"].as_array().map(Vec::len), Some(4));
    assert!((number(&data["evidence"][0]["cited"]) - 2.0 / 3.0).abs() < 1e-9, "{}", data["evidence"]);
    assert!((number(&data["evidence"][0]["words"]) - 2.0 / 3.0).abs() < 1e-9, "{}", data["evidence"]);

    let lines = std::fs::read_to_string(home.path("hits.jsonl")).unwrap();
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |question: &str, removed: bool| -> Vec<&Value> {
        lines.iter().filter(|line| line["question"] == question && line["removed"] == removed).collect()
    };
    assert_eq!((&of("q1", false)[0]["relevant"], &of("q1", false)[0]["set"]), (&true.into(), &"set".into()));
    // The other text of its conversation with one of its words is all that is left.
    assert_eq!((of("q1", false).len(), of("q1", true).len()), (2, 1), "{lines:?}");
    assert!(of("q1", true).iter().all(|line| line["relevant"] == false));
    assert_eq!(of("q2", true).len(), 0, "{lines:?}");
}

/// A note that its own question drops would be its best hit, with and without the answer.
#[test]
fn documents_that_a_question_drops_are_gone_both_times() {
    let home = home();
    home.write(
        "set/queries.jsonl",
        "{\"_id\": \"q1\", \"text\": \"parakeets eat millet and sing\", \"group\": \"a\", \"exclude\": [\"a2\"]}\n",
    );
    home.write("set/qrels.tsv", "query-id\tcorpus-id\tscore\nq1\ta1\t1\n");
    let data = home.data(["eval", "set", "--calibration", "--features", "hits.jsonl", "--format", "json"]);
    let lines = std::fs::read_to_string(home.path("hits.jsonl")).unwrap();
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    // One hit, and nothing ahead of it; without it there is none.
    assert_eq!(
        (lines.len(), &lines[0]["place"], &lines[0]["removed"]),
        (1, &1.into(), &false.into()),
        "{lines:?}"
    );
    assert!(number(&lines[0]["standing"]).abs() < 1e-9, "{lines:?}");
    assert!((number(&data["calibration"]["abstention"]["auroc"]) - 1.0).abs() < 1e-9, "{data}");
}

#[test]
fn one_question_is_explained() {
    let home = home();
    let data = home.data(["eval", "set", "--explain", "q3", "--format", "json"]);
    let fates: Vec<_> = data["documents"].as_array().unwrap().iter().map(|one| &one["fate"]).collect();
    assert_eq!(fates, ["another_group", "not_in_corpus"]);
    let text = home.run(["eval", "set", "--explain", "q1", "--format", "text"]);
    assert!(text.out.contains("a1  grade 1 · rank 1"), "{text:?}");
    check(&home.run(["eval", "set", "--explain", "q9"]), 1, "q9");
    check(&home.run(["eval", "set", "--explain", "q1", "--ablate"]), 2, "--ablate");
    check(&home.run(["eval", "set", "--compare", "atlas", "atlas"]), 2, "two different profiles");
    check(&home.run(["eval", "set", "--profile", "ade", "--calibration"]), 2, "no probabilities");
}
