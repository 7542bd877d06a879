//! Measures how fast 10,000 texts are embedded over latency and faults, and what an open breaker costs.

use std::time::{Duration, Instant};

use bower_providers::fake::{FakeOptions, FakeServer, Fault, vector_of};
use bower_providers::{Connection, EmbedderOptions, Provider, RemoteEmbedder, Role};

const TEXTS: usize = 10_000;
const DIMENSION: usize = 384;
const CALLS: u32 = 10_000;

fn embedder(server: &FakeServer) -> RemoteEmbedder {
    // A service that takes 2,048 texts a request, so that 100 are the client's choice.
    let connection = Connection { base_url: Some(server.url("/v1")), ..Connection::new(Provider::OpenAi) };
    let options =
        EmbedderOptions { batch_texts: 100, flight: 10, ..EmbedderOptions::new(connection, "model") };
    RemoteEmbedder::new(options).expect("the loopback is allowed")
}

/// Returns a fault for 20 of 100 requests: 429 with a short wait, 500, and a reset, in turn.
fn fault(number: u64) -> Option<Fault> {
    // Spread over the numbers by a multiplication: Knuth, section 6.4.
    let place = number.wrapping_mul(2_654_435_761) % 4_294_967_296 / 42_949_673;
    match place {
        0..7 => Some(Fault::with_header(429, "retry-after-ms", "20")),
        7..14 => Some(Fault::status(500)),
        14..20 => Some(Fault::Reset),
        _ => None,
    }
}

fn measure(name: &str, faults: fn(u64) -> Option<Fault>) {
    let options =
        FakeOptions { dimension: DIMENSION, latency: Duration::from_millis(50), ..FakeOptions::default() };
    let server = FakeServer::with_faults(options, faults);
    let embedder = embedder(&server);
    let texts: Vec<String> =
        (0..TEXTS).map(|at| format!("the text of number {at} is about topic {}", at % 97)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let start = Instant::now();
    let vectors = embedder.embed(&texts, Role::Document);
    let time = start.elapsed();
    let complete = vectors.iter().filter(|vector| vector.is_ok()).count();
    let is_right = |at: &usize| {
        let expected = vector_of(texts[*at], DIMENSION);
        let near = |(a, b): (&f32, &f32)| (a - b).abs() < 1e-5;
        vectors[*at].as_ref().is_ok_and(|vector| vector.iter().zip(&expected).all(near))
    };
    let right = (0..TEXTS).step_by(37).filter(is_right).count();
    println!(
        "{name}: {:.2} s, {complete} of {TEXTS} vectors, {right} of {} as expected, {} requests, {} connections, {} texts sent again after their 200",
        time.as_secs_f64(),
        TEXTS.div_ceil(37),
        server.requests().len(),
        server.connections(),
        server.sent_again().len(),
    );
}

fn main() {
    measure("no faults", |_| None);
    measure("20% faults", fault);
    let server = FakeServer::with_faults(FakeOptions::default(), |_| Some(Fault::status(402)));
    let embedder = embedder(&server);
    let mut failed = embedder.embed(&["text"], Role::Question);
    let start = Instant::now();
    for _ in 0..CALLS {
        failed = embedder.embed(&["text"], Role::Question);
    }
    let time = start.elapsed() / CALLS;
    println!(
        "open breaker: {time:?} a call, {} requests, {:?}",
        server.requests().len(),
        failed[0].as_ref().map_err(ToString::to_string)
    );
}
