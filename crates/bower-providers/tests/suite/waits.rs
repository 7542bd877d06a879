//! Tests when a call is tried again, how long it waits, and when it is not made at all.

use std::time::Duration;

use bower_providers::fake::{FakeOptions, FakeServer, Fault};
use bower_providers::{EmbedderOptions, Failure, FailureKind, RemoteEmbedder, Role};

use crate::support::{embedder, options};

const RETRY_INFO: &str = r#"{"error":{"code":429,"message":"Quota exceeded","status":"RESOURCE_EXHAUSTED","details":[
    {"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"2.5s"}]}}"#;
const PER_DAY: &str = r#"{"error":{"code":429,"message":"Quota exceeded","details":[
    {"violations":[{"quotaId":"EmbedContentRequestsPerDayPerUser"}]},{"retryDelay":"2.5s"}]}}"#;
const NO_QUOTA: &str =
    r#"{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}"#;

/// Embeds one text with a fault in the first requests, and returns its waits in milliseconds and the requests.
fn waits(fault: Fault, times: u64) -> (Result<(), Failure>, Vec<u128>, usize) {
    let server = FakeServer::with_faults(FakeOptions::default(), move |number| {
        (number < times).then(|| fault.clone())
    });
    let (embedder, clock) = embedder(&server);
    let result = embedder.embed(&["text"], Role::Document).remove(0).map(drop);
    let waits = clock.waits().iter().map(Duration::as_millis).collect();
    (result, waits, server.requests().len())
}

#[test]
fn the_servers_wish_is_the_least_wait() {
    let check = |fault: Fault, least: u128| {
        let (result, waits, requests) = waits(fault, 1);
        assert!(result.is_ok() && requests == 2);
        assert!(waits.len() == 1 && (least..=least + 100).contains(&waits[0]), "{waits:?}");
    };
    check(Fault::with_header(429, "retry-after", "2"), 2_000);
    check(Fault::with_header(429, "Retry-After", "Sun, 06 Nov 1994 08:49:40 GMT"), 3_000);
    check(Fault::with_header(429, "retry-after-ms", "120"), 120);
    check(Fault::with_header(503, "retry-after", "1"), 1_000);
    check(Fault::with_body(429, RETRY_INFO), 2_500);
    check(Fault::with_header(400, "x-should-retry", "true"), 250);
}

#[test]
fn a_call_has_four_tries_and_waits_that_double() {
    let (result, waits, requests) = waits(Fault::status(503), u64::MAX);
    assert_eq!((result.unwrap_err().kind, requests, waits.len()), (FailureKind::Server, 4, 3));
    for (wait, most) in waits.iter().zip([500, 1_000, 2_000]) {
        assert!((most / 2..=most).contains(wait), "{waits:?}");
    }
}

#[test]
fn a_connection_that_ended_is_replaced_at_once_the_first_time() {
    let (result, waits, requests) = waits(Fault::Reset, u64::MAX);
    assert_eq!((result.unwrap_err().kind, requests), (FailureKind::Transport, 4));
    assert!(waits[0] == 0 && waits[1] >= 500 && waits[2] >= 1_000, "{waits:?}");
}

#[test]
fn what_waiting_cannot_help_is_not_tried_again() {
    let check = |fault: Fault, kind: FailureKind| {
        let (result, waits, requests) = waits(fault, u64::MAX);
        assert_eq!((result.unwrap_err().kind, waits.len(), requests), (kind, 0, 1));
    };
    check(Fault::with_body(429, NO_QUOTA), FailureKind::Money);
    check(Fault::with_body(429, PER_DAY), FailureKind::DailyQuota);
    check(
        Fault::with_body(400, r#"{"error":{"message":"reached your specified API usage limits"}}"#),
        FailureKind::Money,
    );
    check(Fault::with_header(500, "x-should-retry", "false"), FailureKind::Server);
}

#[test]
fn a_wait_beyond_the_limits_fails_at_once_and_says_how_long() {
    let (result, waits, requests) = waits(Fault::with_header(429, "retry-after", "45"), u64::MAX);
    let failure = result.unwrap_err();
    assert_eq!((failure.kind, waits.len(), requests), (FailureKind::Rate, 0, 1));
    assert_eq!(failure.retry_after, Some(Duration::from_secs(45)));
    assert!(failure.to_string().ends_with("(in 45 s)"), "{failure}");
}

#[test]
fn a_deadline_is_kept() {
    let server = FakeServer::with_faults(FakeOptions::default(), |_| {
        Some(Fault::with_header(429, "retry-after", "5"))
    });
    let (options, clock) = options(&server);
    let options = EmbedderOptions { document_timeout: Some(Duration::from_secs(4)), ..options };
    let embedder = RemoteEmbedder::new(options).unwrap();
    let failure = embedder.embed(&["text"], Role::Document).remove(0).unwrap_err();
    assert_eq!((failure.kind, clock.waits().len()), (FailureKind::Rate, 0));
    // The next call knows that it would be too early, and is not sent.
    let failure = embedder.embed(&["text"], Role::Document).remove(0).unwrap_err();
    assert_eq!((failure.kind, failure.retry_after), (FailureKind::Rate, Some(Duration::from_secs(5))));
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_limit_that_is_nearly_used_slows_down_before_the_429() {
    let headers = vec![
        ("x-ratelimit-limit-requests", "100".to_owned()),
        ("x-ratelimit-remaining-requests", "4".to_owned()),
        ("x-ratelimit-reset-requests", "48s".to_owned()),
    ];
    let server = FakeServer::start(FakeOptions { headers, ..FakeOptions::default() });
    let (options, clock) = options(&server);
    let embedder = RemoteEmbedder::new(EmbedderOptions { batch_texts: 1, ..options }).unwrap();
    assert!(embedder.embed(&["text"; 4], Role::Document).iter().all(Result::is_ok));
    // 96 come back in 48 s: one in half a second, from the third request on, whose predecessor reserved its pause.
    assert_eq!(clock.waits(), [Duration::from_millis(500); 2]);
}

#[test]
fn a_breaker_stops_calls_without_money_for_an_hour() {
    let server =
        FakeServer::with_faults(FakeOptions::default(), |number| (number == 0).then(|| Fault::status(402)));
    let (embedder, clock) = embedder(&server);
    for _ in 0..100 {
        let failure = embedder.embed(&["text"], Role::Document).remove(0).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Money);
    }
    assert_eq!(server.requests().len(), 1);
    bower_providers::Clock::wait(&*clock, Duration::from_hours(1));
    assert!(embedder.embed(&["text"], Role::Document)[0].is_ok());
}

#[test]
fn a_breaker_stops_calls_to_a_server_that_fails() {
    let server = FakeServer::with_faults(FakeOptions::default(), |_| Some(Fault::status(503)));
    let (options, clock) = options(&server);
    let embedder = RemoteEmbedder::new(EmbedderOptions { batch_texts: 1, ..options }).unwrap();
    let vectors = embedder.embed(&["text"; 50], Role::Document);
    assert!(
        vectors
            .iter()
            .all(|vector| vector.as_ref().is_err_and(|failure| failure.kind == FailureKind::Server))
    );
    assert_eq!(server.requests().len(), 12, "three calls with four tries each");
    assert!(vectors[49].as_ref().unwrap_err().retry_after.is_some());
    assert_eq!(clock.waits().len(), 9);
}
