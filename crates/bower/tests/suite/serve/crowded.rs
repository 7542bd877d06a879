//! Tests crowds of connections: clients without a token, or with too many for one, take nobody else's place.

use super::{Home, Server, Wire, request, token};
use serde_json::json;
use std::io::BufRead;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

const HEALTH: &str = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// Ends the crowd whatever becomes of the test.
struct Ends<'a>(&'a AtomicBool);
impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The attack that locked a valid token out: as many connections as the server takes, each of them alive and asking what needs no
/// token, and coming back as soon as it is closed.
#[test]
fn a_crowd_without_a_token_locks_no_token_out() {
    let home = Home::new();
    let reader = token(&home, "reader", []);
    let server = Server::start(&home, ["--connections", "64"]);
    let (is_over, asked) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        let _ends = Ends(&is_over);
        for _ in 0..4 {
            scope.spawn(|| {
                let mut crowd: Vec<Wire> = (0..32).map(|_| server.wire()).collect();
                while !is_over.load(Ordering::Relaxed) {
                    for wire in &mut crowd {
                        let sent = std::io::Write::write_all(wire.0.get_mut(), HEALTH.as_bytes());
                        match sent.ok().and_then(|()| wire.answer()) {
                            Some(got) => assert_eq!(got.status, 200),
                            None => *wire = server.wire(),
                        }
                        asked.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
        // Twice all of them have come before anybody with a token does.
        while asked.load(Ordering::Relaxed) < 256 {
            std::thread::yield_now();
        }
        let ask = request("GET", "/api/v1/status", &reader, None);
        let mut first = server.wire();
        for n in 0..20 {
            assert_eq!(first.ask(&ask).status, 200, "a connection that has shown a token stays");
            let mut wire = server.wire();
            assert_eq!(wire.ask(&ask).status, 200, "new connection {n}");
        }
    });
    let metrics = server.get_as("/metrics", &reader).body;
    let closed = metrics.lines().find_map(|line| line.strip_prefix("bower_http_connections_closed_total "));
    assert!(closed.unwrap().parse::<u64>().unwrap() >= 64, "{metrics}");
}

/// A system gives a process 1,024 files, or fewer: a crowd must not take those that the store needs.
#[test]
fn a_crowd_takes_no_more_files_than_the_store_leaves() {
    let home = Home::new();
    let reader = token(&home, "reader", []);
    let server = Server::start_with(&home, "ulimit -n 96; exec \"$@\"", ["--connections", "1024"]);
    let mut crowd: Vec<Wire> = (0..200).map(|_| server.wire()).collect();
    for wire in &mut crowd {
        let _ = std::io::Write::write_all(wire.0.get_mut(), HEALTH.as_bytes());
    }
    for _ in 0..3 {
        let mut wire = server.wire();
        assert_eq!(wire.ask(&request("GET", "/api/v1/status", &reader, None)).status, 200);
    }
    server.logged("\"most\":48");
}

#[test]
fn connections_of_the_machines_own_programs_make_room_for_each_other() {
    let home = Home::new();
    let server = Server::start(&home, ["--connections", "8"]);
    let ask = request("GET", "/api/v1/status", "", None);
    let mut first = server.wire();
    assert_eq!(first.ask(&ask).status, 200);
    let mut more: Vec<Wire> = (0..40).map(|_| server.wire()).collect();
    for wire in &mut more[32..] {
        assert_eq!(wire.ask(&ask).status, 200);
    }
    assert!(first.has_ended(), "the one that rested longest");
}

#[test]
fn one_tokens_streams_leave_room_for_its_requests_and_for_others() {
    let home = Home::new();
    let (greedy, other) = (token(&home, "greedy", []), token(&home, "other", []));
    let server = Server::start(
        &home,
        ["--set", "serve.streams=6", "--set", "serve.streams_each=4", "--set", "serve.requests_each=4"],
    );
    let follow = |token: &str| {
        let mut wire = server.wire();
        wire.send(&request("GET", "/api/v1/events", token, None));
        let got = wire.answer().unwrap();
        (got.status, wire, got)
    };
    let mut streams: Vec<_> = (0..4).map(|_| follow(&greedy)).collect();
    assert!(streams.iter().all(|(status, ..)| *status == 200));
    let (status, _, got) = follow(&greedy);
    assert_eq!((status, got.header("retry-after")), (429, Some("60")), "{got:?}");
    assert_eq!(server.get_as("/api/v1/status", &greedy).status, 200, "streams are no requests at once");
    let others: Vec<_> = (0..3).map(|_| follow(&other)).collect();
    assert!(others.iter().all(|(status, ..)| *status == 200), "one of the greedy one's makes room");
    // The one that goes is told so, and when to come back.
    let mut rest = String::new();
    // It ends as an answer does.
    while !rest.ends_with("0\r\n\r\n") {
        assert!(streams[0].1.0.read_line(&mut rest).unwrap() > 0, "{rest}");
    }
    assert!(rest.contains("event: end\nretry: 60000\ndata: {\"reason\":\"room\"}\n\n"), "{rest}");
}

#[test]
fn a_stream_ends_in_time_and_its_client_goes_on_where_it_was() {
    let home = Home::new();
    let first = home.data(["curate", "The ferry leaves at nine"]);
    let server = Server::start(&home, ["--set", "serve.stream_s=1"]);
    let start = Instant::now();
    let whole = server.get("/api/v1/events?after=0").body;
    assert!(start.elapsed() < super::PATIENCE);
    assert!(whole.contains(first["id"].as_str().unwrap()), "{whole}");
    assert!(whole.ends_with("event: end\nretry: 2000\ndata: {\"reason\":\"age\"}\n\n"), "{whole}");
    let last = whole.lines().filter_map(|line| line.strip_prefix("id: ")).next_back().unwrap().to_owned();
    let second = server.post("/api/v1/curate", &json!({"content": "The cellar door is green"})).json();
    let again = server.agent.get(server.url("/api/v1/events")).header("last-event-id", &last);
    let again = super::got(again.call().unwrap()).body;
    assert!(again.contains(second["id"].as_str().unwrap()) && !again.contains(first["id"].as_str().unwrap()));
}

#[test]
fn a_rest_has_an_end_and_so_has_a_connection() {
    let home = Home::new();
    let server = Server::start(&home, ["--idle-timeout", "1s"]);
    let mut wire = server.wire();
    assert_eq!(wire.ask(HEALTH).status, 200);
    assert!(wire.has_ended());
    drop(server);
    let server = Server::start(&home, ["--set", "serve.connection_s=1"]);
    let mut wire = server.wire();
    // Its answers say so before it ends: no request is lost.
    let start = Instant::now();
    loop {
        let got = wire.ask(HEALTH);
        assert!(got.status == 200 && start.elapsed() < super::PATIENCE, "{got:?}");
        if got.header("connection") == Some("close") {
            break;
        }
    }
    assert!(wire.has_ended());
    let mut line = String::new();
    assert_eq!(wire.0.read_line(&mut line).unwrap(), 0);
}
