//! Golden tests of claims: the differences that make two similar texts two facts.

use super::*;

/// The differences, one a line.
fn shown(one: &str, two: &str) -> String {
    let found = Claims::of(one).differences(&Claims::of(two));
    found
        .iter()
        .map(|difference| format!("{:?}: {difference}", difference.what))
        .collect::<Vec<_>>()
        .join("; ")
}

#[track_caller]
fn check(one: &str, two: &str, expected: &str) {
    assert_eq!(shown(one, two), expected, "{one} / {two}");
}

#[test]
fn quantities_differ_in_number_or_unit() {
    check("listens on port 8080", "listens on port 9090", "Number: port 8080 -> 9090");
    check("a limit of 30 s", "a limit of 30 ms", "Unit: 30 s -> 30 ms");
    check("it holds 1,000 rows", "it holds 1000 rows", "");
    check("it waits 60 seconds", "it waits one minute", "");
    check("two workers", "three workers", "Number: 2 -> 3");
    check("a worker", "one worker", "");
    check("the first worker", "the second worker", "Number: #1 -> #2");
    check("three rows of 8 cells", "rows of 8 cells", "Number: only before: 3");
}

#[test]
fn times_and_versions_differ() {
    check("the demo is on Friday", "the demo is on Monday", "Date: Friday -> Monday");
    check("the demo is on May 5", "the demo is on 2024-05-05", "");
    check("the demo is at 10:30", "the demo is at 10:45", "Date: 10:30 -> 10:45");
    check("backups run daily", "backups run weekly", "Date: daily -> weekly");
    check("tested with v1.2.3", "tested with 1.2.3", "");
    check("tested with v1.2.3", "tested with v1.2.4", "Version: 1.2.3 -> 1.2.4");
}

#[test]
fn names_differ_wherever_they_stand() {
    check("Alice leads the team", "Bob leads the team", "Name: Alice -> Bob");
    check("the lead is Alice", "the lead is Bob", "Name: Alice -> Bob");
    check("the lead is Alice", "Alice is the lead", "");
    check("host web-041 is full", "host web-042 is full", "Name: web-041 -> web-042");
    check("see user_id", "see userId", "Name: user_id -> userId");
    check("The worker is full", "A worker is full", "");
    check("Kids play outside", "Children play outside", "Name: Kids -> Children");
    check("the API is up", "the api is up", "");
    check("Alice manages Bob", "Bob manages Alice", "Order: the same words in another order");
    check("the dog chases the cat", "the cat chases the dog", "Order: the same words in another order");
    check("the dog chases the cat", "the cat is chased by the dog", "");
    check("the dog chases the cat", "the dog is chased by the cat", "Order: the same words in another order");
    check("the port in staging is open", "in staging the port is open", "");
}

#[test]
fn denials_and_opposites_flip() {
    let denial = "Negation: one denies the other";
    check("the cache is used", "the cache is not used", denial);
    check("the cache is used", "the cache isn’t used", denial);
    check("we use Redis", "we no longer use Redis", denial);
    check("there is a cache", "there is no cache", denial);
    check("we stopped using Redis", "we use Redis", denial);
    check("it has a lock", "it works without a lock", denial);
    check("the port is 9090, not 8080", "the port is 9090 and 8080 was", "Limit: only now: was");
    check("no more than two", "at most two", "Limit: only now: most");
    check("the cache is enabled", "the cache is disabled", "Opposite: enabled -> disabled");
    check("the cache is on", "the cache is off", "Opposite: on -> off");
    check("the cache is not enabled", "the cache is disabled", "");
    check("it increases latency", "it decreases latency", "Opposite: increase -> decrease");
    check("the left pane", "the right pane", "Contrary: left -> right");
    check("it is on the desk", "it is off the desk", "Contrary: on -> off");
}

#[test]
fn limits_differ() {
    check("deploys run on Fridays", "deploys only run on Fridays", "Limit: only now: only");
    check("it might fail", "it fails", "Limit: only before: may");
    check("the port is 80", "the port was 80", "Limit: only now: was");
    check("every node is full", "all nodes are full", "");
}

#[test]
fn a_document_is_like_nothing_else() {
    let many: Vec<String> = (0..200).map(|n| format!("row {n}")).collect();
    let many = many.join(", ");
    check(&many, &many, "Crowded: too many claims to compare");
    let versions: Vec<String> = (0..200).map(|n| format!("v{n}.{n}.1")).collect();
    let versions = versions.join(" ");
    check(&versions, &versions, "Crowded: too many claims to compare");
}

#[test]
fn other_languages_have_numbers_codes_and_dates() {
    check("端口是8080", "端口是9090", "Number: 端口是 8080 -> 9090");
    check("Der Server hat 16 GB", "Der Server hat 32 GB", "Number: hat 16 GB -> 32 GB");
    check("Встреча 2024-05-01", "Встреча 2024-05-02", "Date: 2024-05-01 -> 2024-05-02");
}

#[test]
fn the_share_of_common_words_is_jaccards() {
    // 3 shared of 5: the, is, red / port / desk.
    let share = Claims::of("the port is red").jaccard(&Claims::of("the desk is red"));
    assert!((share - 3.0 / 5.0).abs() < 1e-6, "{share}");
    assert!(Claims::of("").jaccard(&Claims::of("")).abs() < 1e-6);
}
