//! Defines requests and answers as bytes: what a dialect makes and reads, without a network.

use serde::Serialize;

/// A request without its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WireRequest {
    /// The path after the server's address; it begins with a slash.
    pub path: String,
    /// Headers besides the content type and the key.
    pub headers: Vec<(&'static str, String)>,
    /// JSON.
    pub body: Vec<u8>,
    /// Most bytes of its answer.
    pub most_bytes: u64,
}

/// An answer of any status, read to its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WireAnswer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// Tries before this answer that may have been billed.
    pub unanswered_tries: u32,
}

impl WireRequest {
    /// Creates a request with a JSON body.
    pub fn json(path: impl Into<String>, body: &impl Serialize, most_bytes: u64) -> Self {
        let body = serde_json::to_vec(body).expect("strings, numbers and lists have a JSON form");
        Self { path: path.into(), headers: Vec::new(), body, most_bytes }
    }
}

impl WireAnswer {
    /// Returns the first header of a name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// Returns the beginning of the body as text, for messages.
    pub fn beginning(&self) -> String {
        let end = self.body.len().min(1_000);
        String::from_utf8_lossy(&self.body[..end]).into_owned()
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;
    use serde_json::Value;

    /// Returns an answer of a status with a body.
    pub fn answer(status: u16, body: &str) -> WireAnswer {
        WireAnswer { status, headers: Vec::new(), body: body.as_bytes().to_vec(), unanswered_tries: 0 }
    }

    /// Asserts the path and the body of a request.
    pub fn check(request: &WireRequest, path: &str, body: &Value) {
        let got: Value = serde_json::from_slice(&request.body).unwrap();
        assert_eq!((request.path.as_str(), &got), (path, body));
    }
}
