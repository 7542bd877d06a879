//! Tests that a caller without permission is told so, and that the log tells nothing that it should not.

use super::{Home, Server, token};
use serde_json::{Value, json};
use std::io::Write;
use std::time::{Duration, Instant};

#[test]
fn pages_of_a_browser_are_refused_on_the_loopback() {
    let home = Home::new();
    let server = Server::start(&home, []);
    let port = server.address.port();
    let check = |head: &str, status: u16| {
        let got = server.raw(&format!("GET /api/v1/status HTTP/1.1\r\n{head}Connection: close\r\n\r\n"));
        assert_eq!(got.status, status, "{head}: {got:?}");
    };
    check(&format!("Host: 127.0.0.1:{port}\r\n"), 200);
    check(&format!("Host: localhost:{port}\r\n"), 200);
    check(&format!("Host: localhost:{port}\r\nOrigin: http://localhost:{port}\r\n"), 200);
    check(&format!("Host: evil.example:{port}\r\n"), 403);
    check(&format!("Host: evil.example:{port}\r\nOrigin: http://evil.example:{port}\r\n"), 403);
    check(&format!("Host: localhost:{port}\r\nOrigin: http://evil.example\r\n"), 403);
    check(&format!("Host: localhost:{port}\r\nOrigin: null\r\n"), 403);
    check(&format!("Host: localhost:{port}\r\nSec-Fetch-Site: cross-site\r\n"), 403);
    check("", 403);
    // Nothing is served to them, not even that a server is there and well.
    let got = server.raw("GET /health HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n");
    got.is_problem(403);
    let preflight = format!(
        "OPTIONS /api/v1/query HTTP/1.1\r\nHost: localhost:{port}\r\nOrigin: http://evil.example\r\n\
         Access-Control-Request-Method: POST\r\nConnection: close\r\n\r\n"
    );
    let got = server.raw(&preflight);
    assert!(got.status == 403 && got.header("access-control-allow-origin").is_none(), "{got:?}");
}

#[test]
fn pages_of_an_origin_that_was_named_may_ask() {
    let home = Home::new();
    let server = Server::start(&home, ["--cors", "https://app.example"]);
    let port = server.address.port();
    let ask = |method: &str, origin: &str, more: &str| {
        server.raw(&format!(
            "{method} /api/v1/status HTTP/1.1\r\nHost: localhost:{port}\r\nOrigin: {origin}\r\n{more}Connection: close\r\n\r\n"
        ))
    };
    let preflight = "Access-Control-Request-Method: GET\r\nAccess-Control-Request-Headers: authorization\r\n";
    let got = ask("OPTIONS", "https://app.example", preflight);
    assert_eq!(got.header("access-control-allow-origin"), Some("https://app.example"), "{got:?}");
    let got = ask("GET", "https://app.example", "");
    assert_eq!((got.status, got.header("access-control-allow-origin")), (200, Some("https://app.example")));
    let got = ask("GET", "https://other.example", "");
    assert_eq!((got.status, got.header("access-control-allow-origin")), (403, None));
}

#[test]
fn an_address_that_others_reach_takes_a_token() {
    let home = Home::new();
    let ended = home.run(["--format", "json", "serve", "--port", "0", "--bind", "0.0.0.0"]);
    assert_eq!(ended.status, 2, "{ended:?}");
    assert!(ended.json()["data"]["hint"].as_str().unwrap().contains("bower token create"), "{ended:?}");
    assert!(!home.home().join("memory.db-wal").exists() || home.home().exists());
    let reader = token(&home, "reader", []);
    let server = Server::start(&home, ["--bind", "0.0.0.0"]);
    let mut server = server;
    server.address.set_ip([127, 0, 0, 1].into());
    server.get("/api/v1/status").is_problem(401);
    assert_eq!(server.get_as("/api/v1/status", &reader).status, 200);
}

#[test]
fn a_token_is_wanted_known_in_force_and_of_the_right_kind() {
    let home = Home::new();
    let reader = token(&home, "reader", []);
    let writer = token(&home, "writer", ["--access", "write"]);
    let late = token(&home, "late", ["--expires", "1d"]);
    let server = Server::start(&home, []);
    let refused = server.get("/api/v1/status");
    refused.is_problem(401);
    assert!(refused.header("www-authenticate").unwrap().starts_with("Bearer"));
    server.get_as("/api/v1/status", &format!("{reader}0")).is_problem(401);
    server.get_as("/api/v1/status", "bower_0").is_problem(401);
    assert_eq!(server.get_as("/api/v1/status", &reader).status, 200);
    assert_eq!(server.get("/health").status, 200);
    assert_eq!(server.get("/openapi.json").status, 200);
    server.get("/metrics").is_problem(401);

    let text = json!({"content": "The keel of the boat was laid in March"});
    server.post_as("/api/v1/curate", &text, &reader).is_problem(403);
    assert_eq!(server.post_as("/api/v1/curate", &text, &writer).status, 200);

    // A day later.
    assert_eq!(server.get_as("/api/v1/status", &late).status, 200);
    let path = home.home().join("tokens.json");
    let mut kept: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    kept["tokens"][2]["expire_time"] = "2020-01-01T00:00:00Z".into();
    std::fs::write(&path, kept.to_string()).unwrap();
    let problem = server.get_as("/api/v1/status", &late).is_problem(401);
    assert!(problem["error"].as_str().unwrap().contains("expired"), "{problem}");

    assert_eq!(home.data(["token", "revoke", "writer"])["standing"], "revoked");
    server.post_as("/api/v1/curate", &text, &writer).is_problem(401);
    let listed = home.data(["token", "list"]);
    let standings: Vec<_> =
        listed["tokens"].as_array().unwrap().iter().map(|token| &token["standing"]).collect();
    assert_eq!(standings, ["active", "revoked", "expired"]);
    let printed = listed.to_string();
    assert!(!printed.contains("sha256") && !printed.contains("bower_"), "{printed}");

    let (status, log) = server.end();
    assert_eq!(status, Some(0));
    for secret in [&reader, &writer, &late, "keel of the boat", "bower_0"] {
        assert!(!log.contains(secret), "{secret} is in the log\n{log}");
    }
    assert!(log.contains("\"asker\":\"reader\""), "{log}");
    // Nor are tokens in what leaves the store.
    home.run(["backup", home.path("copy.db").to_str().unwrap()]);
    let hash = kept["tokens"][0]["sha256"].as_str().unwrap();
    let copy = std::fs::read(home.path("copy.db")).unwrap();
    assert!(!copy.windows(hash.len()).any(|window| window == hash.as_bytes()));
}

#[test]
fn nothing_of_another_owner_or_collection_is_reached_by_any_route() {
    let home = Home::new();
    let own = |name: &str, text: &str, collection: &str| {
        let data = home.data(["curate", text, "--owner", name, "--collection", collection]);
        data["id"].as_str().unwrap().to_owned()
    };
    let anns = own("ann", "The API port of the harbour is 8080", "memories");
    let bobs = own("bob", "The cellar door code is nineteen", "memories");
    let other = own("ann", "The attic window looks to the north", "attic");
    let bound = token(&home, "ann", ["--access", "write", "--owner", "ann", "--collection", "memories"]);
    let server = Server::start(&home, []);
    let path = |id: &str, rest: &str| format!("/api/v1/items/{id}{rest}");
    assert_eq!(server.get_as(&path(&anns, ""), &bound).status, 200);
    for id in [&bobs, &other] {
        server.get_as(&path(id, ""), &bound).is_problem(404);
        server.get_as(&path(id, "/history"), &bound).is_problem(404);
        server.post_as("/api/v1/forget", &json!({"ids": [id]}), &bound).is_problem(404);
        server.post_as("/api/v1/pin", &json!({"id": id}), &bound).is_problem(404);
        server.post_as("/api/v1/feedback", &json!({"id": id, "verdict": "wrong"}), &bound).is_problem(404);
    }
    assert_eq!(server.get_as("/api/v1/items", &bound).json()["total"], 1);
    server.get_as("/api/v1/items?owner=bob", &bound).is_problem(403);
    server.get_as("/api/v1/items?collection=attic", &bound).is_problem(403);
    let ask = |body: Value| server.post_as("/api/v1/query", &body, &bound);
    let answer = ask(json!({"query": "cellar door code attic window", "fast": true})).json();
    assert!(!answer.to_string().contains("nineteen") && !answer.to_string().contains("looks to the north"));
    ask(json!({"query": "x", "owner": "bob"})).is_problem(403);
    ask(json!({"query": "x", "collections": ["memories", "attic"]})).is_problem(403);
    let curate = |body: Value| server.post_as("/api/v1/curate", &body, &bound);
    curate(json!({"content": "The lamp is blue", "owner": "bob"})).is_problem(403);
    curate(json!({"content": "The lamp is blue", "collection": "attic"})).is_problem(403);
    let export = server.post_as("/api/v1/export", &json!({"all": true, "documents": true}), &bound);
    assert!(export.body.contains("harbour") && !export.body.contains("nineteen"), "{export:?}");
    assert!(!export.body.contains("looks to the north"));
    server.post_as("/api/v1/export", &json!({"owner": "bob"}), &bound).is_problem(403);
    assert_eq!(server.get_as("/api/v1/tags", &bound).json()["total"], 0);
    let renaming = json!({"tags": ["a"], "to": "b"});
    server.post_as("/api/v1/tags/rename", &renaming, &bound).is_problem(403);
    for whole in ["sweep", "prune"] {
        server.post_as(&format!("/api/v1/{whole}"), &json!({"dry_run": true}), &bound).is_problem(403);
    }
    server.post_as("/api/v1/undo", &json!({"event": 1}), &bound).is_problem(403);
    server.get_as("/metrics", &bound).is_problem(403);
    let state = server.get_as("/api/v1/status", &bound);
    assert_eq!(
        (&state.json()["total_memories"], &state.json()["bound_to"]["owner"]),
        (&json!(1), &json!("ann"))
    );
    assert!(!state.body.contains(home.home().to_str().unwrap()) && !state.body.contains("bob"), "{state:?}");
    assert_eq!(
        server.get_as("/api/v1/collections", &bound).json()["collections"],
        json!([{"name": "memories", "items": 1}])
    );
    // A document of the same name is another's, and stays it; nor does anybody learn that it is there.
    home.run([
        "index",
        home.write("wiki.md", "# Wiki\n\nThe mast is tall.").to_str().unwrap(),
        "--owner",
        "bob",
    ]);
    let id = home.path("wiki.md").to_str().unwrap().to_owned();
    let document = json!({"documents": [{"id": id, "text": "mine now"}], "collection": "documents"});
    let anybody = token(&home, "ann2", ["--access", "write", "--owner", "ann"]);
    assert_eq!(server.get_as("/api/v1/documents", &anybody).json(), json!({"documents": [], "total": 0}));
    server.get_as("/api/v1/documents?owner=bob", &anybody).is_problem(403);
    assert_eq!(server.post_as("/api/v1/documents", &document, &anybody).json()["indexed"], 1);
    assert_eq!(server.post_as("/api/v1/documents", &document, &anybody).json()["unchanged"], 1);
    for (asked, owner) in [("mast", "bob"), ("mine", "ann")] {
        let found = home.data(["query", asked, "--fast", "--owner", owner, "--collection", "documents"]);
        assert_eq!(found["results"].as_array().unwrap().len(), 1, "{found}");
    }
}

#[test]
fn what_cannot_be_understood_is_refused_in_one_shape() {
    let home = Home::new();
    let server = Server::start(&home, ["--max-body", "64"]);
    let send = |form: &str, body: &str| {
        let request = server.agent.post(server.url("/api/v1/query")).header("content-type", form);
        super::got(request.send(body).unwrap())
    };
    send("application/json", "{\"query\":").is_problem(400);
    send("application/json", "{\"query\":\"x\",\"limits\":3}").is_problem(400);
    send("application/json", "{\"query\":\"x\",\"limit\":0}").is_problem(400);
    send("application/json", "{\"query\":\"x\",\"limit\":51}").is_problem(400);
    send("text/plain", "{\"query\":\"x\"}").is_problem(415);
    assert_eq!(send("application/json; charset=utf-8", "{\"query\":\"x\"}").status, 200);
    // No object, though its elements could be fields.
    for path in ["/api/v1/prune", "/api/v1/export"] {
        server.post(path, &json!([])).is_problem(400);
    }
    for blank in [
        json!({"content": "The lid is red", "owner": ""}),
        json!({"content": "The lid is red", "collection": " "}),
    ] {
        server.post("/api/v1/curate", &blank).is_problem(400);
    }
    server.post("/api/v1/brief", &json!({"budget_tokens": 63})).is_problem(400);
    server.post("/api/v1/consolidate", &json!({"seconds": 0})).is_problem(400);
    server.get("/api/v1/nothing").is_problem(404);
    let wrong = server.get("/api/v1/query");
    wrong.is_problem(405);
    assert_eq!(wrong.header("allow"), Some("POST"));
    server.get("/api/v1/items/zz").is_problem(400);
    server.post("/api/v1/reviews/x", &json!({"ruling": "both"})).is_problem(400);
    server.post("/api/v1/reviews/7", &json!({"ruling": "both"})).is_problem(404);

    // Told, and not told, to be too long.
    let head = |more: &str| {
        format!(
            "POST /api/v1/query HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n{more}\r\n",
            server.address
        )
    };
    server.raw(&head("Content-Length: 65537\r\n")).is_problem(413);
    let mut stream = server.connect();
    stream.write_all(head("Transfer-Encoding: chunked\r\n").as_bytes()).unwrap();
    let piece = format!("8000\r\n{}\r\n", "x".repeat(0x8000));
    for _ in 0..3 {
        let _ = stream.write_all(piece.as_bytes());
    }
    super::read_answer(stream).is_problem(413);
    // A head that is too long is none.
    let mut stream = server.connect();
    let _ =
        stream.write_all(format!("GET /health HTTP/1.1\r\nX: {}\r\n\r\n", "y".repeat(1 << 20)).as_bytes());
    let got = super::read_answer(stream);
    assert!(matches!(got.status, 0 | 400 | 431), "{got:?}");
    assert_eq!(server.get("/health").status, 200);
}

#[test]
fn whoever_sends_slowly_is_let_go() {
    let home = Home::new();
    let server = Server::start(&home, ["--header-timeout", "1s", "--timeout", "2s"]);
    let start = Instant::now();
    // Many who never end their head.
    let slow: Vec<_> = (0..32)
        .map(|_| {
            let mut stream = server.connect();
            stream.write_all(b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: ").unwrap();
            stream
        })
        .collect();
    // Others are served meanwhile.
    assert_eq!(server.get("/health").status, 200);
    for stream in slow {
        let got = super::read_answer(stream);
        assert!(matches!(got.status, 0 | 408), "{got:?}");
    }
    // One who never ends his body, and one who ends it letter by letter.
    let head = format!(
        "POST /api/v1/query HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: 9000\r\n\r\n{{",
        server.address
    );
    let mut stream = server.connect();
    stream.write_all(head.as_bytes()).unwrap();
    super::read_answer(stream).is_problem(408);
    let mut wire = server.wire();
    wire.send(&head);
    let mut writer = wire.0.get_ref().try_clone().unwrap();
    let writing =
        std::thread::spawn(
            move || while writer.write_all(b" ").is_ok() && start.elapsed() < super::PATIENCE {},
        );
    let got = wire.answer().unwrap();
    assert!(matches!(got.status, 400 | 408 | 504), "{got:?}");
    drop(wire);
    writing.join().unwrap();
    assert!(start.elapsed() < Duration::from_secs(30));
    assert_eq!(server.get("/health").status, 200);
}

/// What is said to come takes no memory from those whose bodies do.
#[test]
fn bodies_that_do_not_come_keep_nobody_waiting() {
    let home = Home::new();
    let server = Server::start(&home, ["--rate", "0"]);
    let head = format!(
        "POST /api/v1/query HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: 8000000\r\n\r\n{{",
        server.address
    );
    let slow: Vec<_> = (0..40)
        .map(|_| {
            let mut stream = server.connect();
            stream.write_all(head.as_bytes()).unwrap();
            stream
        })
        .collect();
    // Until all of them are being read.
    let under_way = || server.get("/metrics").body.contains("bower_http_requests_under_way 41");
    while !under_way() {
        std::thread::yield_now();
    }
    let start = Instant::now();
    assert_eq!(server.post("/api/v1/query", &json!({"query": "x", "fast": true})).status, 200);
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
    drop(slow);
}

#[test]
fn whoever_asks_too_often_is_told_when_to_come_back() {
    let home = Home::new();
    let one = token(&home, "one", []);
    let two = token(&home, "two", []);
    let server = Server::start(&home, ["--rate", "1"]);
    let answers: Vec<_> = (0..12).map(|_| server.get_as("/api/v1/models", &one)).collect();
    let refused = answers.iter().find(|got| got.status == 429).unwrap();
    refused.is_problem(429);
    assert!(refused.header("retry-after").unwrap().parse::<u64>().unwrap() >= 1);
    assert_eq!(server.get_as("/api/v1/models", &two).status, 200, "others are not");
    // Who guesses is stopped, and whoever has a token at the same address is not.
    let guesses: Vec<u16> =
        (0..40).map(|n| server.get_as("/api/v1/models", &format!("bower_{n}")).status).collect();
    assert!(guesses.starts_with(&[401]) && guesses.contains(&429), "{guesses:?}");
    assert_eq!(server.get_as("/api/v1/models", &two).status, 200);
}
