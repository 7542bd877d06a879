//! Tests that a key is in one header of requests to its own host, and nowhere else.

use bower_providers::fake::{FakeOptions, FakeServer, Fault};
use bower_providers::{
    ChatRequest, Connection, EmbedderOptions, FailureKind, Provider, RemoteChat, RemoteEmbedder,
    RemoteReranker, Role, Secret,
};
use std::fmt::Write;
use std::time::Duration;

use crate::support::{EMBEDDERS, KEY, connection};

/// Asserts that a text has neither the key nor a part of it.
fn is_clean(text: &str) {
    for part in [KEY, &KEY[3..15], &KEY[10..20]] {
        assert!(!text.contains(part), "{text}");
    }
}

#[test]
fn the_key_is_one_header_and_in_no_message() {
    let echo = format!(r#"{{"error":{{"message":"Incorrect API key provided: {KEY}, sk-01234567****"}}}}"#);
    let faults = [
        None,
        Some(Fault::with_body(401, &echo)),
        Some(Fault::with_body(500, KEY)),
        Some(Fault::Success(echo.clone())),
        Some(Fault::Redirect(format!("https://evil.example/?key={KEY}"))),
        Some(Fault::Reset),
    ];
    for (provider, path, model) in EMBEDDERS {
        for fault in &faults {
            let of_server = fault.clone();
            let server = FakeServer::with_faults(FakeOptions::default(), move |_| of_server.clone());
            let (connection, _) = connection(provider, &server, path);
            let mut output = format!("{connection:?}");
            let options =
                EmbedderOptions { dimensions: Some(16), ..EmbedderOptions::new(connection.clone(), model) };
            write!(output, "{options:?}").unwrap();
            let embedder = RemoteEmbedder::new(options).unwrap();
            let vectors = embedder.embed(&["text"], Role::Document);
            assert_eq!(vectors[0].is_ok(), fault.is_none(), "{vectors:?}");
            let failure = vectors[0].as_ref().err();
            let failure =
                failure.map(|failure| format!("{failure} {failure:?} {} {}", failure.detail(), failure.hint));
            write!(output, "{embedder:?} {} {:?} {failure:?}", embedder.identity(), embedder.identity())
                .unwrap();
            is_clean(&output);
            let name = match provider {
                Provider::Gemini => format!("x-goog-api-key: {KEY}\r\n"),
                _ => format!("authorization: Bearer {KEY}\r\n"),
            };
            for request in server.requests() {
                assert_eq!(request.head.matches(KEY).count(), 1, "{provider}");
                assert!(request.head.to_ascii_lowercase().contains(&name.to_ascii_lowercase()), "{provider}");
                is_clean(&request.path);
                is_clean(&String::from_utf8_lossy(&request.body));
            }
            // In all bytes of both directions it is in one header a request, besides what the server itself says.
            if fault.is_none() {
                let bytes = String::from_utf8(server.bytes()).unwrap();
                assert_eq!(bytes.matches(KEY).count(), server.requests().len());
            }
        }
    }
}

#[test]
fn chats_and_rerankers_keep_the_key_too() {
    let echo = format!("{{\"error\":{{\"message\":\"key {KEY}\"}}}}");
    let server = FakeServer::with_faults(FakeOptions::default(), move |_| Some(Fault::with_body(401, &echo)));
    let time = Duration::from_secs(20);
    for provider in [Provider::OpenAi, Provider::Anthropic, Provider::Gemini, Provider::Ollama] {
        let chat = RemoteChat::new(connection(provider, &server, "").0, "m").unwrap();
        let failure = chat.complete(&ChatRequest::new("s", "u", 7), time).unwrap_err();
        is_clean(&format!("{chat:?} {failure} {failure:?}"));
        assert_eq!(failure.kind, FailureKind::Key);
    }
    for provider in [Provider::Cohere, Provider::Voyage, Provider::Compatible] {
        let reranker = RemoteReranker::new(connection(provider, &server, "").0, "m").unwrap();
        let failure = reranker.rerank("q", &["d"], time).unwrap_err();
        is_clean(&format!("{reranker:?} {failure} {failure:?}"));
    }
    let heads: Vec<String> = server.requests().into_iter().map(|request| request.head).collect();
    assert!(
        heads[1].contains(&format!("x-api-key: {KEY}")) && heads[1].contains("anthropic-version: 2023-06-01")
    );
    assert!(heads.iter().all(|head| head.matches(KEY).count() == 1));
}

#[test]
fn a_redirect_does_not_take_the_key_along() {
    let other = FakeServer::start(FakeOptions::default());
    let to = other.url("/v1/embeddings");
    let server = FakeServer::with_faults(FakeOptions::default(), move |_| Some(Fault::Redirect(to.clone())));
    let (connection, _) = connection(Provider::OpenAi, &server, "/v1");
    let embedder = RemoteEmbedder::new(EmbedderOptions::new(connection, "m")).unwrap();
    let failure = embedder.embed(&["text"], Role::Document).remove(0).unwrap_err();
    assert_eq!(failure.kind, FailureKind::RefusedAddress);
    assert_eq!((other.connections(), server.requests().len()), (0, 1));
}

#[test]
fn addresses_that_would_show_key_or_texts_are_refused() {
    let check =
        |base_url: Option<&str>, key: Option<Secret>, provider: Provider, expected: Option<FailureKind>| {
            let connection =
                Connection { base_url: base_url.map(str::to_owned), key, ..Connection::new(provider) };
            let got = RemoteEmbedder::new(EmbedderOptions::new(connection, "m"));
            assert_eq!(got.map_err(|failure| failure.kind).err(), expected, "{base_url:?}");
        };
    let key = || Secret::new(KEY);
    let of_openai = || key().map(|key| key.for_host("api.openai.com"));
    let refused = Some(FailureKind::RefusedAddress);
    check(None, key(), Provider::OpenAi, None);
    check(None, of_openai(), Provider::OpenAi, None);
    check(None, None, Provider::OpenAi, Some(FailureKind::Key));
    check(None, None, Provider::Ollama, None);
    check(None, None, Provider::Compatible, refused);
    check(Some("http://api.openai.com/v1"), key(), Provider::OpenAi, refused);
    check(Some("http://192.168.0.7:11434"), None, Provider::Ollama, refused);
    check(Some("https://proxy.example/v1"), of_openai(), Provider::OpenAi, refused);
    check(Some("http://127.0.0.1:1234/v1"), of_openai(), Provider::OpenAi, refused);
    check(Some("https://proxy.example/v1"), key(), Provider::OpenAi, None);
    check(Some("https://user:pass@proxy.example/v1"), key(), Provider::OpenAi, refused);
}

#[test]
fn keys_of_mongodb_choose_their_host() {
    let host = |key: &str| {
        let connection = Connection { key: Secret::new(key), ..Connection::new(Provider::Voyage) };
        RemoteEmbedder::new(EmbedderOptions::new(connection, "voyage-4")).unwrap().identity().host
    };
    assert_eq!((host("al-1"), host("pa-1")), ("ai.mongodb.com".into(), "api.voyageai.com".into()));
}
