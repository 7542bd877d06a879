//! Tests answers that are sent before the request's body was read.
//! The next request on the connection begins where it should, or the answer says that the connection ends, and reaches its client.

use super::{Home, Server, request, token};
use serde_json::json;
use std::io::Write;

const HEALTH: &str = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// A body that fits into no buffer.
fn long() -> String {
    json!({"content": "x".repeat(500_000)}).to_string()
}

#[test]
fn a_client_over_its_rate_is_told_so_and_its_connection_works_on() {
    let home = Home::new();
    let server = Server::start(&home, ["--rate", "20"]);
    let mut wire = server.wire();
    let (mut answered, mut refused) = (0, 0);
    for n in 0..300 {
        let body = json!({"query": format!("which berth has boat {n}?"), "fast": true}).to_string();
        let got = wire.ask(&request("POST", "/api/v1/query", "", Some(&body)));
        match got.status {
            200 => answered += 1,
            429 => {
                refused += 1;
                assert!(got.header("retry-after").is_some() && got.header("connection").is_none(), "{got:?}");
            }
            _ => panic!("{got:?}"),
        }
    }
    assert!(answered >= 40 && refused > 0, "{answered} answered, {refused} refused");
    // A long body is thrown away too. Keeping one takes tens of milliseconds, so the rate is one that no machine stays below.
    let home = Home::new();
    let server = Server::start(&home, ["--rate", "1"]);
    let mut wire = server.wire();
    let mut statuses = Vec::new();
    for _ in 0..50 {
        statuses.push(wire.ask(&request("POST", "/api/v1/curate", "", Some(&long()))).status);
    }
    assert!(statuses.contains(&429), "{statuses:?}");
}

#[test]
fn one_loop_never_exceeds_the_rate_that_is_built_in() {
    let home = Home::new();
    let server = Server::start(&home, []);
    let mut wire = server.wire();
    for n in 0..1_000 {
        let got = match n % 2 {
            0 => wire.ask(&request("GET", "/api/v1/models", "", None)),
            _ => wire.ask(HEALTH),
        };
        assert_eq!(got.status, 200, "{n}: {got:?}");
    }
}

#[test]
fn every_early_answer_leaves_its_connection_in_order() {
    let home = Home::new();
    let reader = token(&home, "reader", []);
    let server = Server::start(&home, ["--max-body", "600"]);
    let foreign = |body: &str| {
        let head = "POST /api/v1/query HTTP/1.1\r\nHost: evil.example\r\nContent-Type: application/json\r\n";
        format!("{head}Content-Length: {}\r\n\r\n{body}", body.len())
    };
    let text = |body: &str| {
        request("POST", "/api/v1/query", &reader, Some(body)).replace("application/json", "text/plain")
    };
    let cases = |body: &str| {
        [
            (request("POST", "/api/v1/curate", "", Some(body)), 401),
            (foreign(body), 403),
            (request("POST", "/api/v1/curate", &reader, Some(body)), 403),
            (request("POST", "/api/v1/nothing", &reader, Some(body)), 404),
            (request("POST", "/api/v1/items", &reader, Some(body)), 405),
            (request("POST", "/health", &reader, Some(body)), 405),
            (request("GET", "/health", &reader, Some(body)), 200),
            (text(body), 415),
        ]
    };
    let mut wire = server.wire();
    for body in ["{\"content\":\"x\"}", &long()] {
        for (request, status) in cases(body) {
            let got = wire.ask(&request);
            assert_eq!(got.status, status, "{}: {got:?}", &request[..80]);
            assert!(got.header("connection").is_none(), "{got:?}");
            assert_eq!(wire.ask(HEALTH).status, 200, "after {status}");
        }
    }
    // All at once, before any of them is answered.
    let all: String = cases("{\"content\":\"x\"}").map(|(request, _)| request + HEALTH).concat();
    wire.send(&all);
    for (_, status) in cases("") {
        assert_eq!(wire.answer().unwrap().status, status);
        assert_eq!(wire.answer().unwrap().status, 200);
    }
    // What is too long to be thrown away ends the connection, and the client hears why, though it sends on.
    let much = "x".repeat(8 << 20);
    for (path, status) in [("/api/v1/query", 413), ("/api/v1/nothing", 404)] {
        let mut wire = server.wire();
        let mut writer = wire.0.get_ref().try_clone().unwrap();
        let request = request("POST", path, &reader, Some(&much));
        let writing = std::thread::spawn(move || writer.write_all(request.as_bytes()).is_ok());
        assert!(writing.join().unwrap(), "the server takes what is still sent");
        let got = wire.answer().unwrap_or_else(|| panic!("no answer: {status}"));
        assert_eq!((got.status, got.header("connection")), (status, Some("close")), "{got:?}");
        assert!(wire.has_ended());
    }
    // A body without an end.
    let mut wire = server.wire();
    wire.send(
        "POST /api/v1/curate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
    );
    let mut writer = wire.0.get_ref().try_clone().unwrap();
    let writing = std::thread::spawn(move || {
        let piece = format!("8000\r\n{}\r\n", "x".repeat(0x8000));
        while writer.write_all(piece.as_bytes()).is_ok() {}
    });
    let got = wire.answer().unwrap();
    assert_eq!((got.status, got.header("connection")), (401, Some("close")), "{got:?}");
    drop(wire);
    writing.join().unwrap();
}

#[test]
fn who_waits_for_a_word_before_it_sends_is_given_one() {
    let home = Home::new();
    let reader = token(&home, "reader", []);
    let server = Server::start(&home, []);
    let body = "{\"query\":\"x\",\"fast\":true}";
    let waiting = |token: &str| {
        let whole = request("POST", "/api/v1/query", token, Some(body));
        let head = whole.strip_suffix(body).unwrap();
        head.replace("Content-Type", "Expect: 100-continue\r\nContent-Type")
    };
    let mut wire = server.wire();
    assert_eq!(wire.ask(&waiting(&reader)).status, 100);
    assert_eq!(wire.ask(body).status, 200);
    let got = wire.ask(&waiting(""));
    assert_eq!((got.status, got.header("connection")), (401, Some("close")), "{got:?}");
    assert!(wire.has_ended());
}

#[test]
fn clients_of_the_last_century_are_served() {
    let home = Home::new();
    let server = Server::start(&home, []);
    let old = "GET /health HTTP/1.0\r\nHost: localhost\r\n";
    let mut wire = server.wire();
    assert_eq!(wire.ask(&format!("{old}Connection: keep-alive\r\n\r\n")).status, 200);
    let got = wire.ask(&format!("{old}\r\n"));
    assert_eq!(got.status, 200, "{got:?}");
    assert!(wire.has_ended());
    // What is no request at all is answered before the connection ends.
    let mut wire = server.wire();
    let got = wire.ask("\x16\x03\x01 hello\r\n\r\n");
    assert_eq!(got.status, 400);
    assert!(wire.has_ended());
}
