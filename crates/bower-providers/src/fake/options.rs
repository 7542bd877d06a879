//! The options of the test server, and a request as it reads one.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What a server does.
#[derive(Clone, Debug)]
pub struct FakeOptions {
    /// The numbers of a vector.
    pub dimension: usize,
    /// Whether it gives shorter vectors when asked.
    pub honours_dimensions: bool,
    /// The time before each answer.
    pub latency: Duration,
    /// The status for texts of more words than `most_words`.
    pub long_status: u16,
    /// Most words of a text.
    pub most_words: usize,
    /// Most tokens that it admits to have read of a request, as Ollama's count.
    pub most_counted: u64,
    /// The text of chat answers.
    pub answer: String,
    /// The texts of the first chat answers, by request number; those after them are `answer`.
    pub answers: Vec<String>,
    /// Fields that it refuses with status 400.
    pub refused_fields: Vec<&'static str>,
    /// Texts that it refuses with status 400.
    pub refused_texts: Vec<String>,
    /// Headers of each answer.
    pub headers: Vec<(&'static str, String)>,
}

/// A request as the server read it.
#[derive(Clone, Debug)]
pub struct FakeRequest {
    /// Its number, from 0.
    pub number: u64,
    /// The number of its connection.
    pub connection: u64,
    /// The path.
    pub path: String,
    /// The lines of the head.
    pub head: String,
    /// The body.
    pub body: Vec<u8>,
    /// Whether a whole answer with status 200 was sent.
    pub answered: bool,
}

impl Default for FakeOptions {
    fn default() -> Self {
        Self {
            dimension: 16,
            honours_dimensions: true,
            latency: Duration::ZERO,
            long_status: 400,
            most_words: usize::MAX,
            most_counted: u64::MAX,
            answer: "hello".to_owned(),
            answers: Vec::new(),
            refused_fields: Vec::new(),
            refused_texts: Vec::new(),
            headers: Vec::new(),
        }
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
