//! Tests that each text gets its own vector, once, within the limits, whatever its length.

use std::sync::{Condvar, Mutex};
use std::time::Duration;

use bower_providers::fake::{FakeOptions, FakeServer, Fault, vector_of};
use bower_providers::{EmbedderOptions, FailureKind, Prompts, Provider, RemoteEmbedder, Role};

use crate::support::{EMBEDDERS, connection, embedder, is_near, options};

#[test]
fn every_dialect_returns_the_vectors_of_the_texts_in_order() {
    for (provider, path, model) in EMBEDDERS {
        let server = FakeServer::start(FakeOptions::default());
        let (connection, _) = connection(provider, &server, path);
        let options = EmbedderOptions { batch_texts: 3, ..EmbedderOptions::new(connection, model) };
        // Known models say their own dimension; the server's is 16.
        let options = EmbedderOptions { dimensions: Some(16), ..options };
        let embedder = RemoteEmbedder::new(options).unwrap();
        let texts: Vec<String> = (0..10).map(|at| format!("the text of number {at}")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let prompts = embedder.identity().prompts;
        for (role, prompt) in [(Role::Question, prompts.question), (Role::Document, prompts.document)] {
            let vectors = embedder.embed(&texts, role);
            for (text, vector) in texts.iter().zip(&vectors) {
                let expected = vector_of(&format!("{prompt}{text}"), 16);
                assert!(is_near(vector.as_ref().unwrap(), &expected), "{provider} {text}");
            }
        }
        assert_eq!(server.requests().len(), 8);
    }
}

#[test]
fn connections_are_kept_and_several_are_in_flight() {
    let server = FakeServer::start(FakeOptions::default());
    let (one, _) = options(&server);
    let texts: Vec<String> = (0..200).map(|at| format!("text {at}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let one = RemoteEmbedder::new(EmbedderOptions { batch_texts: 10, ..one }).unwrap();
    assert!(one.embed(&texts, Role::Document).iter().all(Result::is_ok));
    assert_eq!((server.requests().len(), server.connections()), (20, 1));
    let (many, _) = options(&server);
    let many = RemoteEmbedder::new(EmbedderOptions { batch_texts: 10, flight: 10, ..many }).unwrap();
    assert!(many.embed(&texts, Role::Document).iter().all(Result::is_ok));
    assert!(server.connections() <= 11, "{}", server.connections());
    assert_eq!(many.usage().requests, 20);
    assert_eq!((many.usage().tokens, many.usage().uncounted), (400, 0));
}

#[test]
fn ten_requests_are_under_way_at_once() {
    let (count, all) = (Mutex::new(0), Condvar::new());
    // Each request waits until ten have come.
    let faults = move |_| {
        let mut count = count.lock().unwrap();
        *count += 1;
        all.notify_all();
        let few = |count: &mut u32| *count < 10;
        drop(all.wait_timeout_while(count, Duration::from_secs(10), few).unwrap());
        None
    };
    let server = FakeServer::with_faults(FakeOptions::default(), faults);
    let (options, _) = options(&server);
    let embedder = RemoteEmbedder::new(EmbedderOptions { batch_texts: 1, flight: 10, ..options }).unwrap();
    assert!(embedder.embed(&["text"; 10], Role::Document).iter().all(Result::is_ok));
    assert_eq!(server.connections(), 10);
}

#[test]
fn a_batch_that_is_too_large_is_halved_for_each_status_of_that() {
    for status in [400, 413, 422, 500] {
        let body = r#"{"error":{"message":"too large to process"}}"#;
        // The whole batch, its first half and that one's first half.
        let fault = move |number: u64| (number < 3).then(|| Fault::with_body(status, body));
        let server = FakeServer::with_faults(FakeOptions::default(), fault);
        let (embedder, clock) = embedder(&server);
        let texts = ["one", "two", "three", "four", "five", "six", "seven", "eight"];
        let vectors = embedder.embed(&texts, Role::Document);
        for (text, vector) in texts.iter().zip(vectors) {
            assert!(is_near(&vector.unwrap(), &vector_of(text, 16)), "{text}");
        }
        assert_eq!(server.requests().len(), 7, "{status}");
        assert!(server.sent_again().is_empty() && clock.waits().is_empty(), "{status}");
    }
}

#[test]
fn a_batch_with_an_unclear_500_is_halved_before_it_is_given_up() {
    let fault = |number: u64| (number < 4).then(|| Fault::status(500));
    let server = FakeServer::with_faults(FakeOptions::default(), fault);
    let (embedder, clock) = embedder(&server);
    assert!(embedder.embed(&["one", "two"], Role::Document).iter().all(Result::is_ok));
    assert_eq!((server.requests().len(), clock.waits().len()), (6, 3));
}

#[test]
fn a_batch_that_is_lost_by_chance_is_called_once_more_at_the_end() {
    // Four faults in a row are the end of a call.
    let fault = |number: u64| (2..6).contains(&number).then(|| Fault::status(503));
    let server = FakeServer::with_faults(FakeOptions::default(), fault);
    let (options, _) = options(&server);
    let embedder = RemoteEmbedder::new(EmbedderOptions { batch_texts: 2, ..options }).unwrap();
    let texts = ["one", "two", "three", "four", "five", "six", "seven", "eight"];
    let vectors = embedder.embed(&texts, Role::Document);
    for (text, vector) in texts.iter().zip(vectors) {
        assert!(is_near(&vector.unwrap(), &vector_of(text, 16)), "{text}");
    }
    assert_eq!(server.requests().len(), 8);
    assert!(server.sent_again().is_empty());
}

#[test]
fn one_bad_text_is_found_and_the_others_get_their_vectors() {
    let refused_texts = vec!["five".to_owned()];
    let server = FakeServer::start(FakeOptions { refused_texts, ..FakeOptions::default() });
    let (embedder, _) = embedder(&server);
    let texts = ["one", "two", "three", "four", "five", "six", "seven", ""];
    let vectors = embedder.embed(&texts, Role::Document);
    let kinds: Vec<_> =
        vectors.iter().map(|vector| vector.as_ref().map_err(|failure| failure.kind).err()).collect();
    let (bad, empty) = (Some(FailureKind::BadRequest), Some(FailureKind::EmptyText));
    assert_eq!(kinds, [None, None, None, None, bad, None, None, empty]);
    assert!(server.sent_again().is_empty());
}

#[test]
fn a_request_that_is_always_wrong_is_not_sent_for_each_text() {
    let server = FakeServer::with_faults(FakeOptions::default(), |_| {
        Some(Fault::with_body(400, "{\"error\":\"no\"}"))
    });
    let (options, _) = options(&server);
    let embedder = RemoteEmbedder::new(EmbedderOptions { batch_texts: 100, ..options }).unwrap();
    let vectors = embedder.embed(&["text"; 1_000], Role::Document);
    assert!(
        vectors
            .iter()
            .all(|vector| vector.as_ref().is_err_and(|failure| failure.kind == FailureKind::BadRequest))
    );
    assert!(server.requests().len() < 80, "{}", server.requests().len());
}

#[test]
fn a_long_text_is_embedded_in_windows_and_averaged() {
    let server = FakeServer::start(FakeOptions { most_words: 100, ..FakeOptions::default() });
    let (options, _) = options(&server);
    let embedder = RemoteEmbedder::new(EmbedderOptions { window_tokens: Some(40), ..options }).unwrap();
    let long = "word ".repeat(1_000);
    let vectors = embedder.embed(&[&long, "short"], Role::Document);
    // All windows are the same text, but for the last space.
    assert!(vectors[0].as_ref().is_ok_and(|vector| vector.len() == 16));
    assert!(is_near(vectors[1].as_ref().unwrap(), &vector_of("short", 16)));
    let norm: f32 = vectors[0].as_ref().unwrap().iter().map(|number| number * number).sum();
    assert!((norm - 1.0).abs() < 1e-5);
    // 5,000 bytes in windows of at most 120.
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_text_that_is_too_long_for_the_server_alone_is_halved() {
    let server =
        FakeServer::start(FakeOptions { most_words: 40, long_status: 500, ..FakeOptions::default() });
    let (embedder, clock) = embedder(&server);
    let words: Vec<String> = (0..100).map(|at| format!("word{at:03}")).collect();
    let long = words.join(" ");
    let vectors = embedder.embed(&["one", &long, "two"], Role::Document);
    assert!(vectors.iter().all(Result::is_ok), "{vectors:?}");
    assert!(clock.waits().is_empty() && server.sent_again().is_empty());
    // A text that cannot be halved so far is left out alone.
    let server = FakeServer::start(FakeOptions { most_words: 1, ..FakeOptions::default() });
    let (options, _) = options(&server);
    let embedder = RemoteEmbedder::new(options).unwrap();
    let kinds = embedder.embed(&["one", "two words"], Role::Document);
    assert!(kinds[0].is_ok());
    assert_eq!(kinds[1].as_ref().unwrap_err().kind, FailureKind::TooLong);
}

#[test]
fn a_text_that_ollama_cut_has_no_vector_and_is_not_sent_again() {
    let server = FakeServer::start(FakeOptions { most_counted: 20, ..FakeOptions::default() });
    let (connection, _) = connection(Provider::Ollama, &server, "");
    let options = EmbedderOptions::new(connection, "all-minilm-9");
    let embedder = RemoteEmbedder::new(EmbedderOptions { window_tokens: Some(4_000), ..options }).unwrap();
    let long = "word ".repeat(600);
    let vectors = embedder.embed(&["short", &long], Role::Document);
    assert!(vectors[0].is_ok());
    assert_eq!(vectors[1].as_ref().unwrap_err().kind, FailureKind::TooLong);
    assert_eq!(server.requests().len(), 1);
    let body = String::from_utf8(server.requests()[0].body.clone()).unwrap();
    assert!(body.contains("\"truncate\":false"));
}

#[test]
fn dimensions_are_asked_for_where_that_is_right() {
    let check = |provider, model: &str, dimensions, honours, expected: Result<usize, FailureKind>| {
        let server = FakeServer::start(FakeOptions {
            honours_dimensions: honours,
            dimension: 64,
            ..FakeOptions::default()
        });
        let (connection, _) = connection(provider, &server, "");
        let options = EmbedderOptions { dimensions, ..EmbedderOptions::new(connection, model) };
        let got = RemoteEmbedder::new(options)
            .and_then(|embedder| embedder.embed(&["text"], Role::Document).remove(0));
        assert_eq!(got.map(|vector| vector.len()).map_err(|failure| failure.kind), expected, "{model}");
    };
    // llama.cpp ignores the field. Only what is known to be matryoshka is cut.
    check(Provider::Compatible, "all-MiniLM-L6-v2", Some(16), false, Err(FailureKind::BadVectors));
    // Ollama and some others cut any vector that they are asked to cut.
    check(Provider::Compatible, "all-MiniLM-L6-v2", Some(16), true, Err(FailureKind::BadVectors));
    check(Provider::Ollama, "all-minilm-9", Some(16), true, Err(FailureKind::BadVectors));
    check(Provider::Compatible, "all-MiniLM-L6-v2", Some(64), false, Ok(64));
    check(Provider::Compatible, "nomic-embed-text-v1.5", Some(16), false, Ok(16));
    check(Provider::Compatible, "nomic-embed-text-v1.5", Some(16), true, Ok(16));
    check(Provider::Compatible, "anything", None, true, Ok(64));
    check(Provider::Gemini, "gemini-embedding-001", Some(32), true, Ok(32));
    check(Provider::Gemini, "gemini-embedding-001", None, true, Err(FailureKind::BadVectors));
    check(Provider::OpenAi, "text-embedding-ada-002", Some(512), true, Err(FailureKind::BadRequest));
    check(Provider::OpenAi, "text-embedding-3-small", Some(3_072), true, Err(FailureKind::BadRequest));
    check(Provider::Anthropic, "claude", None, true, Err(FailureKind::ModelUnknown));
}

#[test]
fn a_probe_finds_a_model_that_embeds_nothing() {
    let server = FakeServer::start(FakeOptions { dimension: 64, ..FakeOptions::default() });
    let (good, _) = embedder(&server);
    let probe = good.probe().unwrap();
    assert!(probe.dimension == 64 && probe.paraphrase > probe.stranger, "{probe:?}");
    let server = FakeServer::with_faults(FakeOptions { dimension: 64, ..FakeOptions::default() }, |_| {
        Some(Fault::Unrelated)
    });
    let (bad, _) = embedder(&server);
    assert_eq!(bad.probe().unwrap_err().kind, FailureKind::BadVectors);
    // Two answers in the wrong order, without an index to see it by.
    let body = r#"{"error":{"message":"No models loaded. Please load a model"}}"#;
    let server = FakeServer::with_faults(FakeOptions::default(), move |_| Some(Fault::with_body(404, body)));
    let (none, _) = embedder(&server);
    let failure = none.probe().unwrap_err();
    assert_eq!(failure.kind, FailureKind::ModelUnknown);
    assert!(failure.to_string().contains("No models loaded"), "{failure}");
}

#[test]
fn an_identity_has_what_vectors_depend_on() {
    let server = FakeServer::start(FakeOptions::default());
    let identity = |change: fn(&mut EmbedderOptions)| {
        let (mut options, _) = options(&server);
        change(&mut options);
        RemoteEmbedder::new(options).unwrap().identity().to_string()
    };
    let host = server.url("").replace("http://", "");
    let plain = identity(|_| ());
    assert_eq!(plain, format!("openai:{host}:text-embedding-9:?:w6144:\"\":\"\""));
    let others = [
        identity(|options| options.model = "other".into()),
        identity(|options| options.dimensions = Some(8)),
        identity(|options| options.window_tokens = Some(100)),
        identity(|options| options.question_model = Some("lite".into())),
        identity(|options| {
            options.prompts = Some(Prompts { question: "q: ".into(), document: String::new() });
        }),
        identity(|options| {
            options.prompts = Some(Prompts { question: String::new(), document: "q: ".into() });
        }),
        identity(|options| options.connection.provider = Provider::Compatible),
    ];
    assert!(others.iter().all(|other| *other != plain));
    let (unknown, _) = embedder(&server);
    assert_eq!(unknown.identity().dimension, None);
    assert!(unknown.embed(&["text"], Role::Document)[0].is_ok());
    assert_eq!(unknown.identity().dimension, Some(16));
}

#[test]
fn questions_of_voyage_go_to_the_cheaper_model() {
    let server = FakeServer::start(FakeOptions { dimension: 1_024, ..FakeOptions::default() });
    let (connection, _) = connection(Provider::Voyage, &server, "");
    let embedder = RemoteEmbedder::new(EmbedderOptions::new(connection, "voyage-4-large")).unwrap();
    assert!(embedder.embed(&["text"], Role::Document)[0].is_ok());
    assert!(embedder.embed(&["text"], Role::Question)[0].is_ok());
    let bodies: Vec<String> =
        server.requests().iter().map(|request| String::from_utf8(request.body.clone()).unwrap()).collect();
    assert!(bodies[0].contains("\"voyage-4-large\"") && bodies[0].contains("\"document\""));
    assert!(bodies[1].contains("\"voyage-4-lite\"") && bodies[1].contains("\"query\""));
}
