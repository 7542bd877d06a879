//! The faults of the test server, and the bytes of an answer with them.

use std::io::Write;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;

/// What goes wrong with one request.
#[derive(Clone, Debug)]
pub enum Fault {
    /// The head comes after this time.
    SlowHead(Duration),
    /// The second half of the body comes after this time.
    SlowBody(Duration),
    /// The connection ends before the head.
    Reset,
    /// The connection ends within the body.
    ResetInBody,
    /// The JSON ends in its middle, as a complete body.
    CutJson,
    /// The body is compressed.
    Gzip,
    /// The body says that it is compressed, and is not.
    WrongGzip,
    /// Another status, with headers and a body.
    Status(u16, Vec<(&'static str, String)>, String),
    /// A success with this body.
    Success(String),
    /// Vectors of one number more.
    WrongDimension,
    /// The first number of the second vector, or of the only one, is `null`.
    Null,
    /// The first number is the word `NaN`.
    NaN,
    /// The first vector has only zeros.
    Zero,
    /// The last vector is missing.
    Fewer,
    /// Vectors with an index are in reverse order.
    Swapped,
    /// All vectors have index 0.
    Repeated,
    /// Vectors that have nothing to do with the texts.
    Unrelated,
    /// A page of a portal.
    Html,
    /// A redirect to this address.
    Redirect(String),
    /// A success with a body of this many bytes.
    Huge(usize),
}

/// An answer before it is encoded.
pub(super) struct Answer {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
}

impl Fault {
    /// Returns a status with an empty body.
    pub fn status(status: u16) -> Self {
        Self::Status(status, Vec::new(), String::new())
    }

    /// Returns a status with one header.
    pub fn with_header(status: u16, name: &'static str, value: &str) -> Self {
        Self::Status(status, vec![(name, value.to_owned())], String::new())
    }

    /// Returns a status with a body.
    pub fn with_body(status: u16, body: &str) -> Self {
        Self::Status(status, Vec::new(), body.to_owned())
    }
}

/// Returns the answer that a fault replaces the right one by.
pub(super) fn replaced(fault: &Fault) -> Option<Answer> {
    let answer =
        |status, headers, body: &str| Some(Answer { status, headers, body: body.as_bytes().to_vec() });
    match fault {
        Fault::Status(status, headers, body) => answer(*status, headers.clone(), body),
        Fault::Success(body) => answer(200, Vec::new(), body),
        Fault::Html => {
            answer(200, vec![("content-type", "text/html".to_owned())], "<html>Log in to the hotel</html>")
        }
        Fault::Redirect(to) => answer(307, vec![("location", to.clone())], ""),
        Fault::Huge(length) => Some(Answer { status: 200, headers: Vec::new(), body: vec![b' '; *length] }),
        Fault::SlowHead(_)
        | Fault::SlowBody(_)
        | Fault::Reset
        | Fault::ResetInBody
        | Fault::CutJson
        | Fault::Gzip
        | Fault::WrongGzip
        | Fault::WrongDimension
        | Fault::Null
        | Fault::NaN
        | Fault::Zero
        | Fault::Fewer
        | Fault::Swapped
        | Fault::Repeated
        | Fault::Unrelated => None,
    }
}

/// Returns the head and the body as they are sent.
pub(super) fn encode(mut answer: Answer, fault: Option<&Fault>) -> (Vec<u8>, Vec<u8>) {
    match fault {
        Some(Fault::CutJson) => answer.body.truncate(answer.body.len() / 2),
        Some(Fault::Gzip | Fault::Huge(_)) => {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(&answer.body).expect("memory can be written to");
            answer.body = encoder.finish().expect("memory can be written to");
            answer.headers.push(("content-encoding", "gzip".to_owned()));
        }
        Some(Fault::WrongGzip) => answer.headers.push(("content-encoding", "gzip".to_owned())),
        Some(_) | None => (),
    }
    let mut head = format!("HTTP/1.1 {} x\r\ncontent-length: {}\r\n", answer.status, answer.body.len());
    for (name, value) in &answer.headers {
        head.push_str(name);
        head.push_str(": ");
        head.push_str(value);
        head.push_str("\r\n");
    }
    head.push_str("\r\n");
    (head.into_bytes(), answer.body)
}
