//! Tests that wrong answers are failures of the right kind, and never vectors.

use std::time::{Duration, Instant};

use bower_providers::fake::{FakeOptions, FakeServer, Fault, vector_of};
use bower_providers::{EmbedderOptions, FailureKind, RemoteEmbedder, Role};

use crate::support::{EMBEDDERS, connection, embedder, is_near, options};

/// Embeds two texts with a fault in all requests.
fn kinds(fault: Fault) -> (Vec<Option<FailureKind>>, usize) {
    let server = FakeServer::with_faults(FakeOptions::default(), move |_| Some(fault.clone()));
    let (mut options, _) = options(&server);
    options.dimensions = Some(16);
    options.connection.try_timeout = Duration::from_millis(300);
    let embedder = RemoteEmbedder::new(options).expect("the options are valid");
    let texts = ["first text", "second text"];
    let vectors = embedder.embed(&texts, Role::Document);
    for (text, vector) in texts.iter().zip(&vectors) {
        assert!(vector.as_ref().map_or(true, |vector| is_near(vector, &vector_of(text, 16))));
        if let Err(failure) = vector {
            let line = failure.to_string();
            assert!(line.starts_with("openai text-embedding-9: ") && !line.contains('\n'), "{line}");
        }
    }
    let kinds = vectors.into_iter().map(|vector| vector.err().map(|failure| failure.kind));
    (kinds.collect(), server.requests().len())
}

#[test]
fn wrong_vectors_are_refused_and_not_asked_for_again() {
    let check = |fault: Fault, expected: [Option<FailureKind>; 2]| {
        let name = format!("{fault:?}");
        assert_eq!(kinds(fault), (expected.to_vec(), 1), "{name}");
    };
    let bad = Some(FailureKind::BadVectors);
    check(Fault::WrongDimension, [bad, bad]);
    check(Fault::Null, [None, bad]);
    check(Fault::NaN, [bad, bad]);
    check(Fault::Zero, [bad, None]);
    check(Fault::Fewer, [bad, bad]);
    check(Fault::Repeated, [bad, bad]);
    check(Fault::Swapped, [None, None]);
    check(Fault::Gzip, [None, None]);
}

#[test]
fn answers_that_are_none_are_refused_and_not_asked_for_again() {
    let check = |fault: Fault, kind: FailureKind| {
        let name = format!("{fault:?}");
        assert_eq!(kinds(fault), (vec![Some(kind); 2], 1), "{name}");
    };
    check(Fault::CutJson, FailureKind::NotJson);
    check(Fault::Html, FailureKind::NotJson);
    check(Fault::WrongGzip, FailureKind::NotJson);
    check(Fault::Success(r#"{"error":{"message":"no credit","code":402}}"#.into()), FailureKind::Money);
    check(Fault::Success(r#"{"error":"EOF"}"#.into()), FailureKind::Server);
    check(Fault::Redirect("http://127.0.0.1:1/".into()), FailureKind::RefusedAddress);
    check(Fault::status(401), FailureKind::Key);
    check(Fault::status(402), FailureKind::Money);
    check(Fault::status(403), FailureKind::Key);
    check(Fault::status(404), FailureKind::ModelUnknown);
    check(Fault::status(501), FailureKind::Server);
}

#[test]
fn the_number_of_vectors_is_checked_in_every_dialect() {
    for (provider, path, model) in EMBEDDERS {
        for (fault, lost) in
            [(Fault::Fewer, 3), (Fault::Null, 1), (Fault::Zero, 1), (Fault::WrongDimension, 3)]
        {
            let name = format!("{provider} {fault:?}");
            let server = FakeServer::with_faults(FakeOptions::default(), move |_| Some(fault.clone()));
            let (connection, _) = connection(provider, &server, path);
            let options = EmbedderOptions { dimensions: Some(16), ..EmbedderOptions::new(connection, model) };
            let vectors =
                RemoteEmbedder::new(options).unwrap().embed(&["a one", "a two", "a three"], Role::Document);
            let failed = vectors.iter().filter(|vector| vector.is_err()).count();
            // A vector of one number more is cut where the model is known to be matryoshka.
            let lost =
                if model == "gemini-embedding-2" && name.ends_with("WrongDimension") { 0 } else { lost };
            assert_eq!((failed, server.requests().len()), (lost, 1), "{name}");
        }
    }
}

#[test]
fn connections_that_end_or_hang_are_tried_again() {
    for fault in
        [Fault::Reset, Fault::ResetInBody, Fault::status(500), Fault::status(529), Fault::status(408)]
    {
        let name = format!("{fault:?}");
        let server = FakeServer::with_faults(FakeOptions::default(), move |number| {
            (number < 2).then(|| fault.clone())
        });
        let (embedder, clock) = embedder(&server);
        let vectors = embedder.embed(&["text"], Role::Document);
        assert!(is_near(vectors[0].as_ref().unwrap(), &vector_of("text", 16)), "{name}");
        assert_eq!((server.requests().len(), clock.waits().len()), (3, 2), "{name}");
        assert!(server.sent_again().is_empty(), "{name}");
    }
}

#[test]
fn slow_answers_are_left_after_the_time_of_a_try() {
    for fault in [Fault::SlowHead(Duration::from_mins(1)), Fault::SlowBody(Duration::from_mins(1))] {
        let name = format!("{fault:?}");
        let server = FakeServer::with_faults(FakeOptions::default(), move |number| {
            (number == 0).then(|| fault.clone())
        });
        let (mut options, _) = options(&server);
        options.connection.try_timeout = Duration::from_millis(200);
        let embedder = RemoteEmbedder::new(options).unwrap();
        assert!(embedder.embed(&["text"], Role::Document)[0].is_ok(), "{name}");
    }
}

#[test]
fn a_question_has_one_try_within_its_time() {
    let fault = Fault::SlowHead(Duration::from_mins(1));
    let server = FakeServer::with_faults(FakeOptions::default(), move |_| Some(fault.clone()));
    let (options, clock) = options(&server);
    let options = EmbedderOptions { question_timeout: Duration::from_millis(50), ..options };
    let embedder = RemoteEmbedder::new(options).unwrap();
    let start = Instant::now();
    let failure = embedder.embed(&["text"], Role::Question).remove(0).unwrap_err();
    // A try alone would have 20 s.
    assert!(start.elapsed() < Duration::from_secs(15));
    assert_eq!(failure.kind, FailureKind::Timeout);
    assert!(clock.waits().is_empty() && server.requests().len() == 1);
    for fault in [Fault::status(500), Fault::status(429), Fault::Reset] {
        let server = FakeServer::with_faults(FakeOptions::default(), move |_| Some(fault.clone()));
        let (embedder, clock) = crate::support::embedder(&server);
        assert!(embedder.embed(&["text"], Role::Question)[0].is_err());
        assert!(clock.waits().is_empty() && server.requests().len() == 1);
    }
}

#[test]
fn nobody_who_listens_is_a_failed_connection() {
    let server = FakeServer::start(FakeOptions::default());
    let (embedder, clock) = embedder(&server);
    drop(server);
    let failure = embedder.embed(&["text"], Role::Document).remove(0).unwrap_err();
    assert_eq!((failure.kind, clock.waits().len()), (FailureKind::Transport, 3));
    assert!(failure.to_string().contains("check the network and the address"), "{failure}");
}

#[test]
fn an_answer_is_read_no_further_than_it_may_be() {
    // 64 MB of spaces are some kilobytes on the network.
    let server = FakeServer::with_faults(FakeOptions::default(), |_| Some(Fault::Huge(64 << 20)));
    let (embedder, _) = embedder(&server);
    let failure = embedder.embed(&["text"], Role::Document).remove(0).unwrap_err();
    assert_eq!((failure.kind, server.requests().len()), (FailureKind::NotJson, 1));
    assert!(failure.detail().starts_with("the answer has more than"), "{failure}");
}

#[test]
fn a_proxy_gets_nothing_that_is_for_this_machine() {
    // Variables are set for a new process alone: this program, with one of its tests.
    let test = ["--exact", "faults::wrong_vectors_are_refused_and_not_asked_for_again"];
    let mut program = std::process::Command::new(std::env::current_exe().unwrap());
    program.args(test).env("http_proxy", "http://127.0.0.1:9").env("all_proxy", "http://127.0.0.1:9");
    let output = program.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}
