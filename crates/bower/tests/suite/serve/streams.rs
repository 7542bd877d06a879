//! Tests answers that are sent piece by piece: changes as they happen, and exports.

use super::{Home, Server, token};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read};

/// Follows changes from one on.
struct Followed {
    lines: BufReader<ureq::BodyReader<'static>>,
}

impl Followed {
    fn start(server: &Server, query: &str, header: Option<&str>, token: &str) -> Self {
        let mut request = server.agent.get(server.url(&format!("/api/v1/events{query}")));
        if let Some(id) = header {
            request = request.header("last-event-id", id);
        }
        if !token.is_empty() {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let response = request.call().unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { lines: BufReader::new(response.into_body().into_reader()) }
    }

    /// The next event that is no sweep: its id and data.
    fn next(&mut self) -> (u64, Value) {
        let (mut id, mut data) = (None, None);
        loop {
            let mut line = String::new();
            assert!(self.lines.read_line(&mut line).unwrap() > 0, "the stream ended");
            let line = line.trim_end();
            if let Some(text) = line.strip_prefix("id: ") {
                id = Some(text.parse().unwrap());
            } else if let Some(text) = line.strip_prefix("data: ") {
                data = Some(serde_json::from_str::<Value>(text).unwrap());
            } else if line.is_empty()
                && let (Some(id), Some(data)) = (id, data.take())
            {
                // Whoever keeps the day's first memory sweeps too.
                if data["actions"]["sweep"].is_null() {
                    return (id, data);
                }
            }
        }
    }
}

#[test]
fn each_change_is_told_once_whichever_process_makes_it() {
    let home = Home::new();
    let first = home.data(["curate", "The ferry leaves at nine"]);
    let server = Server::start(&home, []);
    let mut all = Followed::start(&server, "?after=0", None, "");
    let (change, data) = all.next();
    assert_eq!(data["subjects"], json!([first["id"]]), "{data}");
    assert_eq!((data["change"].as_u64(), data["actions"]["curate"].as_u64()), (Some(change), Some(1)));
    let mut new = Followed::start(&server, "", None, "");
    // Another process, then this one.
    let second = home.data(["curate", "The cellar door is green"]);
    let (next, data) = all.next();
    assert!(next > change);
    assert_eq!(data["subjects"], json!([second["id"]]), "{data}");
    assert_eq!(new.next().0, next, "whoever names no change is told from now on");
    let third = server.post("/api/v1/curate", &json!({"content": "The attic window looks north"})).json();
    for follower in [&mut all, &mut new] {
        let (_, data) = follower.next();
        assert_eq!(data["subjects"], json!([third["id"]]), "{data}");
        assert!(!data.to_string().contains("attic"), "no text is told");
    }
    // Who comes back goes on where he was.
    let mut back = Followed::start(&server, "?after=0", Some(&next.to_string()), "");
    assert_eq!(back.next().1["subjects"], json!([third["id"]]));
    let (status, log) = server.end();
    assert_eq!(status, Some(0), "a stream does not keep the server: {log}");
}

#[test]
fn whoever_is_bound_is_told_of_his_own_changes_alone() {
    let home = Home::new();
    let bound = token(&home, "ann", ["--owner", "ann"]);
    let server = Server::start(&home, []);
    home.data(["curate", "The vault opens at nine", "--owner", "bob"]);
    let anns = home.data(["curate", "The roof was mended in May", "--owner", "ann"]);
    let mut followed = Followed::start(&server, "?after=0", None, &bound);
    assert_eq!(followed.next().1["subjects"], json!([anns["id"]]));
    let document = |text: &str| json!({"documents": [{"id": "log", "text": text}]});
    let writer = token(&home, "ann2", ["--access", "write", "--owner", "ann"]);
    assert_eq!(server.post_as("/api/v1/documents", &document("The mast is tall."), &writer).status, 200);
    assert_eq!(followed.next().1["actions"]["index"], 1, "a document is its chunks' owner's");
    for wrong in ["?after=x", "?before=1"] {
        server.get_as(&format!("/api/v1/events{wrong}"), &bound).is_problem(400);
    }
}

#[test]
fn a_stream_ends_with_the_token_that_began_it() {
    let home = Home::new();
    let reader = token(&home, "reader", []);
    let other = token(&home, "other", []);
    let server = Server::start(&home, []);
    let mut followed = Followed::start(&server, "?after=0", None, &reader);
    let mut going_on = Followed::start(&server, "?after=0", None, &other);
    home.data(["curate", "The ferry leaves at nine"]);
    assert_eq!(followed.next(), going_on.next());
    home.data(["token", "revoke", "reader"]);
    let told = home.data(["curate", "The cellar door is green"]);
    assert_eq!(going_on.next().1["subjects"], json!([told["id"]]));
    let mut rest = String::new();
    let ended = followed.lines.read_to_string(&mut rest);
    assert!(!rest.contains(told["id"].as_str().unwrap()), "{ended:?}: {rest}");
}

#[test]
fn an_export_over_http_is_the_commands() {
    let home = Home::new();
    for n in 0..300 {
        let text = format!("Boat number {n} lies in berth {} of the harbour\n{}", n * 7, "sail ".repeat(40));
        home.write(&format!("boats/{n}.md"), text);
    }
    home.run(["index", home.path("boats").to_str().unwrap()]);
    home.data(["curate", "The harbour master is called Ann"]);
    let server = Server::start(&home, []);
    let got = server.post("/api/v1/export", &json!({"documents": true}));
    assert_eq!((got.status, got.header("content-type")), (200, Some("application/x-ndjson")));
    let written = home.run(["export", "-", "--documents"]).out;
    let lines = |text: &str| -> Vec<Value> {
        text.lines().map(|line| serde_json::from_str(line).unwrap()).skip(1).collect()
    };
    assert!(lines(&got.body).len() > 600, "300 documents, 301 items, and what happened to them");
    assert_eq!(lines(&got.body), lines(&written));
    let none = server.post("/api/v1/export", &json!({"filter": {"$near": 1}}));
    none.is_problem(400);
    server.post("/api/v1/export", &json!({"all": true, "statuses": ["archived"]})).is_problem(400);
}
