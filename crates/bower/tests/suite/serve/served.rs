//! Tests that requests are carried out, and that everybody who has the store open finds what they did.

use super::{Got, Home, Server, token};
use crate::command::until;
use serde_json::{Value, json};
use std::io::Write;

#[test]
fn what_one_process_keeps_the_others_find_at_once() {
    let home = Home::new();
    let server = Server::start(&home, []);
    let health = server.get("/health").json();
    assert_eq!((health["status"].as_str(), health["version"].is_string()), (Some("ok"), true));
    server.until_ready();

    let kept =
        server.post("/api/v1/curate", &json!({"content": "The API listens on port 8080", "tags": ["net"]}));
    assert_eq!(kept.status, 200, "{kept:?}");
    let id = kept.json()["id"].as_str().unwrap().to_owned();
    let answer =
        server.post("/api/v1/query", &json!({"query": "which port", "limit": 3, "fast": true})).json();
    assert_eq!(answer["results"][0]["memory"]["id"], id.as_str(), "{answer}");
    // The command, in a process of its own.
    assert_eq!(home.data(["get", &id])["memory"]["content"], "The API listens on port 8080");
    let other = home.data(["curate", "The cellar door is painted green"]);
    let other = other["id"].as_str().unwrap();
    assert_eq!(server.get(&format!("/api/v1/items/{other}")).json()["memory"]["id"], other);
    let answer = server.post("/api/v1/query", &json!({"query": "cellar door", "fast": true})).json();
    assert_eq!(answer["results"][0]["memory"]["id"], other, "{answer}");

    assert_eq!(server.get("/api/v1/items?limit=1&type=fact").json()["memories"].as_array().unwrap().len(), 1);
    assert_eq!(server.post("/api/v1/list", &json!({"tags": ["net"]})).json()["total"], 1);
    assert_eq!(server.get("/api/v1/tags?under=net").json()["tags"][0]["items"], 1);
    server.get("/api/v1/tags?limit=0").is_problem(400);
    let renamed = server.post("/api/v1/tags/rename", &json!({"tags": ["net"], "to": "web"})).json();
    assert_eq!(server.post("/api/v1/list", &json!({"tags": ["web"]})).json()["total"], 1);
    assert_eq!(server.post("/api/v1/undo", &json!({"event": renamed["event"]})).json()["action"], "retag");
    assert_eq!(server.get("/api/v1/status").json()["total_memories"], 2);
    assert_eq!(
        server.get("/api/v1/collections").json()["collections"],
        json!([{"name": "memories", "items": 2}])
    );
    assert!(server.get("/api/v1/models").json()["models"].is_array());
    let history = server.get(&format!("/api/v1/items/{id}/history")).json();
    assert_eq!(history["history"][0]["action"], "curate", "{history}");
    let told = server.post("/api/v1/feedback", &json!({"id": id, "verdict": "useful"})).json();
    let undone = server.post("/api/v1/undo", &json!({"event": told["event"]})).json();
    assert_eq!(undone["items"], json!([id]), "{undone}");
    assert_eq!(server.post("/api/v1/pin", &json!({"id": id})).json()["memory"]["tier"], 1);
    let brief = server.post("/api/v1/brief", &json!({"budget": "lite", "fast": true})).json();
    assert_eq!(brief["entries"][0]["id"], id.as_str(), "{brief}");
    server.post("/api/v1/brief", &json!({"folder": "docs"})).is_problem(400);
    let turns = json!({"conversation": "c1", "turns": [
        {"speaker": "user", "text": "From now on we use pnpm, not npm."}, {"speaker": "assistant", "text": "Understood."},
    ]});
    let kept = server.post("/api/v1/turns", &turns).json();
    assert_eq!((&kept["turns"], &kept["kept"]), (&json!(2), &json!([])), "{kept}");
    assert_eq!(kept["degraded"][0]["channel"], "pick", "there is no model here: {kept}");
    assert_eq!(server.post("/api/v1/turns", &turns).json()["turns"], 0);
    for run in ["sweep", "prune"] {
        let done = server.post(&format!("/api/v1/{run}"), &json!({"dry_run": true}));
        assert_eq!((done.status, done.json()["dry_run"].as_bool()), (200, Some(true)), "{run}: {done:?}");
    }
    // It compares meanings, and there is no model here.
    server.post("/api/v1/consolidate", &json!({"dry_run": true, "llm": true})).is_problem(400);
    assert_eq!(server.get("/api/v1/reviews").json()["reviews"], json!([]));
    let lamp = json!({"content": "The lamp over the quay is lit at dusk", "different_from": [id]});
    let lamp = server.post("/api/v1/curate", &lamp).json()["id"].as_str().unwrap().to_owned();
    let settle = format!("/api/v1/items/{lamp}/settle");
    let settled = server.post(&settle, &json!({"confirms": id})).json();
    assert_eq!((&settled["memory"]["status"], &settled["other"]["id"]), (&json!("variant"), &json!(id)));
    let got = server.get(&format!("/api/v1/items/{id}")).json();
    assert_eq!(got["wordings"][0]["id"], lamp.as_str(), "{got}");
    assert_eq!(server.post(&settle, &json!({"confirms": id})).json()["event"], Value::Null, "said again");
    server.post(&settle, &json!({})).is_problem(400);
    server.post(&settle, &json!({"confirms": id, "replaces": id})).is_problem(400);
    server.post(&settle, &json!({"replaces": "0123456789abcdef"})).is_problem(404);
    server.post("/api/v1/undo", &json!({"event": settled["event"]}));
    let forgotten = server.post("/api/v1/forget", &json!({"ids": [id]})).json();
    assert_eq!(forgotten["forgotten"], json!([id]), "{forgotten}");
    assert_eq!(home.run(["get", &id]).status, 1);

    let (status, log) = server.end();
    assert_eq!(status, Some(0), "{log}");
}

#[test]
fn two_servers_and_commands_write_at_once_and_nothing_is_lost() {
    let home = Home::new();
    let servers = [Server::start(&home, []), Server::start(&home, [])];
    let kept = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|threads| {
        for (at, server) in servers.iter().cycle().take(4).enumerate() {
            let kept = &kept;
            threads.spawn(move || {
                for n in 0..10 {
                    let text = format!("Berth {at}{n} of the harbour is let to crew {}", at * 100 + n);
                    let got = server.post("/api/v1/curate", &json!({"content": text, "gate": "off"}));
                    assert_eq!(got.status, 200, "{got:?}");
                    let id = got.json()["id"].as_str().unwrap().to_owned();
                    let answer =
                        server.post("/api/v1/query", &json!({"query": text, "limit": 50, "fast": true}));
                    assert!(answer.body.contains(&id), "{id} is not found at once: {answer:?}");
                    kept.lock().unwrap().push(id);
                }
            });
        }
        for n in 0..5 {
            let data =
                home.data(["curate", &format!("Cellar {n} holds {} barrels", n * 7 + 1), "--gate", "off"]);
            kept.lock().unwrap().push(data["id"].as_str().unwrap().to_owned());
        }
    });
    for id in kept.into_inner().unwrap() {
        for server in &servers {
            assert_eq!(server.get(&format!("/api/v1/items/{id}")).status, 200, "{id}");
        }
    }
    for server in servers {
        let (status, log) = server.end();
        assert!(status == Some(0) && !log.contains("\"ERROR\""), "{log}");
    }
}

/// A session of MCP over HTTP.
struct Mcp<'a> {
    server: &'a Server,
    token: &'a str,
    id: String,
}

impl<'a> Mcp<'a> {
    /// Sends a body as it is, in a session or none, by a token or none.
    fn send(server: &Server, session: &str, token: &str, body: &str) -> Got {
        let mut request = server.agent.post(server.url("/mcp")).header("content-type", "application/json");
        request = request.header("accept", "application/json, text/event-stream");
        if !session.is_empty() {
            request = request.header("mcp-session-id", session);
        }
        if !token.is_empty() {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        super::got(request.send(body).unwrap())
    }

    fn initialize(server: &Server, token: &str) -> Got {
        let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
        }});
        Self::send(server, "", token, &hello.to_string())
    }

    fn begin(server: &'a Server, token: &'a str) -> Self {
        let got = Self::initialize(server, token);
        assert_eq!(got.status, 200, "{got:?}");
        let session = Self { server, token, id: got.header("mcp-session-id").unwrap().to_owned() };
        let told = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(session.ask(&told).status, 202);
        session
    }

    fn ask(&self, body: &serde_json::Value) -> Got {
        Self::send(self.server, &self.id, self.token, &body.to_string())
    }

    fn call(&self, tool: &str, arguments: &serde_json::Value) -> String {
        let params = json!({"name": tool, "arguments": arguments});
        self.ask(&json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params})).body
    }

    fn list_tools(&self) -> String {
        self.ask(&json!({"jsonrpc": "2.0", "id": 3, "method": "tools/list"})).body
    }
}

#[test]
fn mcp_is_behind_the_same_door_and_within_the_same_bounds() {
    let home = Home::new();
    let ann = token(&home, "ann", ["--access", "write", "--owner", "ann"]);
    let reader = token(&home, "reader", []);
    home.data(["curate", "The vault of the harbour opens at nine", "--owner", "bob"]);
    let server = Server::start(&home, []);
    Mcp::initialize(&server, "").is_problem(401);
    let anns = Mcp::begin(&server, &ann);
    // What is always refused here is not offered: no file of the server's is read, and hers is a part of the store.
    let offered = anns.list_tools();
    assert!(offered.contains("memory_store") && offered.contains("memory_consolidate"), "{offered}");
    assert!(!offered.contains("memory_index") && !offered.contains("memory_prune"), "{offered}");
    let kept = anns.call("memory_store", &json!({"content": "The roof of the mill was mended in May"}));
    assert!(kept.contains("kept as"), "{kept}");
    let found = anns.call("memory_search", &json!({"query": "when does the vault of the harbour open"}));
    assert!(!found.contains("at nine"), "{found}");
    assert_eq!(server.get_as("/api/v1/items", &ann).json()["memories"][0]["owner"], "ann");
    let readers = Mcp::begin(&server, &reader);
    let offered = readers.list_tools();
    assert!(offered.contains("memory_search") && !offered.contains("memory_store"), "{offered}");
    assert!(!offered.contains("memory_forget") && !offered.contains("memory_feedback"), "{offered}");
    let refused = readers.call("memory_store", &json!({"content": "The lamp in the hall is blue"}));
    assert!(refused.contains("\"isError\":true"), "{refused}");
    let unknown = readers.call("memory_x", &json!({}));
    assert!(unknown.contains("memory_search") && !unknown.contains("memory_store"), "{unknown}");
    // A session is its beginner's alone.
    let ping = json!({"jsonrpc": "2.0", "id": 4, "method": "ping"});
    Mcp::send(&server, &anns.id, &reader, &ping.to_string()).is_problem(404);
    assert_eq!(anns.ask(&ping).status, 200);
    // What is no message is told so in the protocol's own form.
    for (body, code) in
        [("{", -32700), ("[]", -32600), ("7", -32600), ("{\"jsonrpc\":\"2.0\",\"method\":7}", -32600)]
    {
        let got = Mcp::send(&server, "", &ann, body);
        assert_eq!((got.status, &got.json()["error"]["code"]), (400, &json!(code)), "{body}: {got:?}");
    }
    let batch = Mcp::send(&server, "", &ann, &json!([ping]).to_string());
    assert_eq!(batch.json()["error"]["code"], -32600);
    // Whoever begins one after another and ends none has so many.
    let begun = std::thread::scope(|threads| {
        let all: Vec<_> =
            (0..80).map(|_| threads.spawn(|| Mcp::initialize(&server, &reader).status == 200)).collect();
        all.into_iter().filter_map(|one| one.join().unwrap().then_some(())).count()
    });
    assert_eq!(begun, 63, "and the one that he had");
    Mcp::initialize(&server, &reader).is_problem(429);
    assert_eq!(Mcp::initialize(&server, &ann).status, 200, "others are not in his way");
    let (status, log) = server.end();
    assert_eq!(status, Some(0), "{log}");
    assert!(!log.contains("harbour") && !log.contains(&ann), "{log}");
}

#[test]
fn documents_are_sent_or_indexed_from_a_folder_that_the_token_names() {
    let home = Home::new();
    home.write("docs/guide.md", "# Guide\n\nThe lantern hangs beside the gate.\n");
    home.write("private/notes.md", "# Notes\n\nThe safe stands behind the picture.\n");
    let docs = home.path("docs");
    let folder = docs.to_str().unwrap();
    let admin = token(&home, "indexer", ["--access", "admin", "--folder", folder]);
    let writer = token(&home, "writer", ["--access", "write"]);
    let server = Server::start(&home, []);
    let body = json!({"documents": [
        {"id": "wiki/ships", "title": "Ships", "text": "# Ships\n\nThe schooner has two masts.", "metadata": {"team": "sea"}},
        {"id": "wiki/rivers", "text": "The Elbe flows into the North Sea."},
    ], "collection": "wiki"});
    let report = server.post_as("/api/v1/documents", &body, &writer).json();
    assert_eq!((report["indexed"].as_u64(), report["chunks_added"].as_u64()), (Some(2), Some(2)), "{report}");
    let listed = server.get_as("/api/v1/documents?collection=wiki&source=wiki/ships", &writer).json();
    assert_eq!(
        (listed["total"].as_u64(), listed["documents"].as_array().unwrap().len()),
        (Some(1), 1),
        "{listed}"
    );
    let ships = &listed["documents"][0];
    assert_eq!((&ships["id"], &ships["title"]), (&json!("wiki/ships"), &json!("Ships")));
    assert_eq!((&ships["chunks"], &ships["metadata"]["team"]), (&json!(1), &json!("sea")), "{ships}");
    server.get_as("/api/v1/documents?limit=501", &writer).is_problem(400);
    let again = server.post_as("/api/v1/documents", &body, &writer).json();
    assert_eq!(again["unchanged"], 2, "{again}");
    let ask = |text: &str| {
        let answer = server.post_as("/api/v1/query", &json!({"query": text, "fast": true}), &writer).json();
        answer["results"][0]["memory"]["content"].as_str().unwrap_or("").to_owned()
    };
    assert!(ask("schooner masts").contains("two masts"));

    let index = |path: &str, token: &str| server.post_as("/api/v1/index", &json!({"paths": [path]}), token);
    assert_eq!(index(folder, &admin).json()["indexed"], 1);
    assert!(ask("lantern gate").contains("beside the gate"));
    let private = home.path("private");
    for (path, token) in
        [(private.to_str().unwrap(), &admin), (folder, &writer), ("docs", &admin), ("/", &admin)]
    {
        index(path, token).is_problem(403);
    }
    assert_eq!(ask("safe picture"), "");
}

#[test]
fn an_index_run_that_outlasts_its_request_goes_on_and_tells_how_it_ended() {
    let home = Home::new();
    for at in 0..3_000 {
        home.write(&format!("docs/{at}.md"), format!("# Note {at}\n\nNumber {at} of many.\n"));
    }
    let docs = home.path("docs");
    let admin = token(&home, "indexer", ["--access", "admin", "--folder", docs.to_str().unwrap()]);
    let other = token(&home, "other", ["--access", "admin"]);
    let server = Server::start(&home, ["--timeout", "1s"]);
    let begun = server.post_as("/api/v1/index", &json!({"paths": [docs]}), &admin);
    // A machine that reads them at once has nothing to wait for.
    let report = if begun.status == 200 {
        begun.json()
    } else {
        assert_eq!((begun.status, &begun.json()["state"]), (202, &json!("running")), "{begun:?}");
        let place = begun.header("location").unwrap();
        server.get_as(place, &other).is_problem(404);
        let mut state = json!({});
        until("the run has ended", || {
            state = server.get_as(place, &admin).json();
            state["state"] != "running"
        });
        assert_eq!((&state["state"], &state["operation"]), (&json!("done"), &json!("index")), "{state}");
        state["answer"].clone()
    };
    assert_eq!(report["indexed"], 3_000, "{report}");
    server.get_as("/api/v1/runs/0123456789abcdef", &admin).is_problem(404);
}

#[test]
fn requests_have_ids_and_routes_are_counted() {
    let home = Home::new();
    let server = Server::start(&home, []);
    let answer = server.agent.get(server.url("/health")).header("x-request-id", "mine-1").call().unwrap();
    assert_eq!(answer.headers()["x-request-id"], "mine-1");
    let made = server.get("/api/v1/status");
    assert_eq!(made.header("x-request-id").unwrap().len(), 16);
    assert_eq!(made.header("x-content-type-options"), Some("nosniff"));
    server.get("/api/v1/items/000000").is_problem(404);
    let text = server.get("/metrics").body;
    for line in [
        "bower_http_requests_total{route=\"/api/v1/status\",method=\"GET\",status=\"200\"} 1",
        "bower_http_requests_total{route=\"/api/v1/items/{id}\",method=\"GET\",status=\"404\"} 1",
        "bower_http_request_duration_seconds_count{route=\"/api/v1/status\"} 1",
        "bower_store_memories 0",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
    }
    // Each line is written after its answer was sent.
    server.logged(made.header("x-request-id").unwrap());
    server.logged("/api/v1/items/{id}");
    let lines = server.log();
    let line = lines.lines().find(|line| line.contains("/api/v1/items/{id}")).unwrap();
    let line: serde_json::Value = serde_json::from_str(line).unwrap();
    assert_eq!((line["status"].as_u64(), line["method"].as_str()), (Some(404), Some("GET")), "{line}");
    assert!(!lines.contains("000000"), "an id as it was asked is not in the log\n{lines}");
}

#[test]
fn what_runs_is_finished_when_the_server_is_told_to_end() {
    let home = Home::new();
    let mut server = Server::start(&home, []);
    let body = json!({"content": "The ferry leaves at nine on Sundays"}).to_string();
    let mut stream = server.connect();
    let head = format!(
        "POST /api/v1/curate HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        server.address,
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(&body.as_bytes()[..10]).unwrap();
    // The server has taken the request once it is counted.
    until("the request is under way", || {
        server.get("/metrics").body.lines().any(|line| line == "bower_http_requests_under_way 2")
    });
    server.tell_to_end();
    server.logged("nobody new is let in");
    stream.write_all(&body.as_bytes()[10..]).unwrap();
    let answer = super::read_answer(stream);
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
    assert_eq!(home.data(["list"])["total"], 1);
}

#[test]
fn the_document_describes_the_routes_and_every_schema_is_there() {
    let home = Home::new();
    let server = Server::start(&home, []);
    let document = server.get("/openapi.json").json();
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"), "{}", document["openapi"]);
    let body =
        &document["paths"]["/api/v1/query"]["post"]["requestBody"]["content"]["application/json"]["schema"];
    assert_eq!(body["$ref"], "#/components/schemas/QueryBody");
    assert!(document["components"]["schemas"]["QueryBody"]["properties"]["limit"]["maximum"] == 50);
}

/// The text index is overwritten under a running server: it answers, keeps, forgets with proof, and is whole again by itself.
#[test]
fn a_damaged_index_under_a_server_stops_nothing() {
    let home = Home::new();
    for nth in 0..40 {
        let text = format!("Fact {nth}: the zymurgy valve {nth} is {} mm wide. ", nth * 7).repeat(30);
        home.write(&format!("docs/{nth}.md"), format!("# Valve {nth}\n\n{text}"));
    }
    let kept = home.data(["curate", "The quagga keeper is called Wilhelmina Achterberg."]);
    assert_eq!(home.data(["index", "docs"])["indexed"], 40);
    let server = Server::start(&home, []);
    server.until_ready();
    let question = json!({"query": "zymurgy valve", "limit": 5});
    let sound = server.post("/api/v1/query", &question).json();
    let mut hurt = 0;
    for folder in std::fs::read_dir(home.home().join("index")).unwrap() {
        for file in std::fs::read_dir(folder.unwrap().path().join("text")).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|kind| kind == "term") {
                let mut file = std::fs::File::options().read(true).write(true).open(&path).unwrap();
                let len = file.metadata().unwrap().len();
                for at in [len / 2, len - 300, len - 160] {
                    std::io::Seek::seek(&mut file, std::io::SeekFrom::Start(at)).unwrap();
                    file.write_all(&[0xDE, 0xAD, 0xBE, 0xEF, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 255, 254])
                        .unwrap();
                    hurt += 1;
                }
            }
        }
    }
    assert!(hurt >= 3);
    let ids = |answer: &serde_json::Value| -> Vec<String> {
        let hits = answer["results"].as_array().unwrap().iter();
        hits.map(|hit| hit["memory"]["id"].as_str().unwrap().to_owned()).collect()
    };
    for nth in 0..3 {
        let answer = server.post("/api/v1/query", &question);
        assert_eq!(answer.status, 200, "{answer:?}");
        let text = format!("The gate number {nth} of the paddock opens at seven.");
        let kept = server.post("/api/v1/curate", &json!({"content": text}));
        assert_eq!(kept.status, 200, "{kept:?}");
    }
    let forgotten = server.post("/api/v1/forget", &json!({"ids": [kept["id"]]}));
    assert_eq!(forgotten.status, 200, "{forgotten:?}");
    assert_eq!(forgotten.json()["erased"]["complete"], true, "{forgotten:?}");
    server.until_ready();
    assert_eq!(ids(&server.post("/api/v1/query", &question).json()), ids(&sound));
    let residue = home.run(["doctor", "--residue", "Achterberg"]);
    assert_eq!(residue.json()["data"]["found"], false, "{residue:?}");
    assert_eq!(home.data(["doctor"])["healthy"], true);
}
