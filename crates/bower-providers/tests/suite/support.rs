//! Creates the clients that the tests have in common.

use std::sync::Arc;
use std::time::Duration;

use bower_providers::fake::{FakeServer, ManualClock};
use bower_providers::{Connection, EmbedderOptions, Provider, RemoteEmbedder, Secret};

/// The key of all tests.
pub const KEY: &str = "sk-0123456789abcdef-secret";

/// A provider with embeddings, its path and a model.
pub const EMBEDDERS: [(Provider, &str, &str); 8] = [
    (Provider::Gemini, "/v1beta", "gemini-embedding-2"),
    (Provider::OpenAi, "/v1", "text-embedding-9"),
    (Provider::Voyage, "/v1", "voyage-9"),
    (Provider::Ollama, "", "all-minilm-9"),
    (Provider::Cohere, "", "embed-v9"),
    (Provider::Mistral, "/v1", "mistral-embed"),
    (Provider::Jina, "/v1", "jina-embeddings-v9"),
    (Provider::Compatible, "/v1", "all-MiniLM-L6-v2"),
];

/// Returns a connection to a server with a clock that only moves when somebody waits.
pub fn connection(provider: Provider, server: &FakeServer, path: &str) -> (Connection, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::default());
    let connection = Connection {
        base_url: Some(server.url(path)),
        key: Secret::new(KEY),
        try_timeout: Duration::from_secs(20),
        clock: clock.clone(),
        seed: 7,
        ..Connection::new(provider)
    };
    (connection, clock)
}

/// Returns the options of an unknown model of a compatible server, with that server's clock.
pub fn options(server: &FakeServer) -> (EmbedderOptions, Arc<ManualClock>) {
    let (connection, clock) = connection(Provider::OpenAi, server, "/v1");
    let options = EmbedderOptions {
        flight: 1,
        question_timeout: Duration::from_secs(20),
        ..EmbedderOptions::new(connection, "text-embedding-9")
    };
    (options, clock)
}

/// Returns an embedder with these options.
pub fn embedder(server: &FakeServer) -> (RemoteEmbedder, Arc<ManualClock>) {
    let (options, clock) = options(server);
    (RemoteEmbedder::new(options).expect("the options are valid"), clock)
}

/// Returns whether two vectors are the same but for rounding.
pub fn is_near(a: &[f32], b: &[f32]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-5)
}
