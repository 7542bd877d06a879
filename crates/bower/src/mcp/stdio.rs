//! Reads and writes protocol messages on standard input and output, one per line.
//! A line that is not a message gets an error response. Nothing but messages is ever written. The memory for one line
//! is limited.

use rmcp::model::{ClientJsonRpcMessage, ErrorCode, ErrorData, RequestId, ServerJsonRpcMessage};
use rmcp::service::RoleServer;
use rmcp::transport::Transport;
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;

/// Longest message in bytes: sixteen times the longest text of a memory.
pub const LONGEST_LINE: usize = 16 << 20;
/// Bytes that are kept of the beginning and the end of a line that is too long, to find its id there.
const KEPT_HEAD: usize = 64 << 10;
const KEPT_TAIL: usize = 256;
/// Byte order mark, which some clients write before the first line.
const MARK: &[u8] = b"\xEF\xBB\xBF";

/// The two streams. Clones share them, because a failed handshake is followed by another on the same streams.
pub struct Stdio<R, W> {
    read: Arc<Mutex<Lines<R>>>,
    write: Arc<Mutex<Option<W>>>,
}

impl<R, W> Clone for Stdio<R, W> {
    fn clone(&self) -> Self {
        Self { read: Arc::clone(&self.read), write: Arc::clone(&self.write) }
    }
}

impl<R: AsyncRead + Unpin, W> Stdio<R, W> {
    /// Creates a transport on two streams.
    pub fn new(read: R, write: W) -> Self {
        let lines = Lines {
            stream: BufReader::with_capacity(64 << 10, read),
            line: Vec::new(),
            passed: 0,
            tail: VecDeque::new(),
            waiting: VecDeque::new(),
            longest: LONGEST_LINE,
        };
        Self { read: Arc::new(Mutex::new(lines)), write: Arc::new(Mutex::new(Some(write))) }
    }
}

impl<R, W> Transport<RoleServer> for Stdio<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        put(Arc::clone(&self.write), message)
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        // Bytes that were read stay in `lines` when this future is dropped half way, so the next one continues from
        // there.
        let mut lines = self.read.lock().await;
        loop {
            if let Some(message) = lines.waiting.pop_front() {
                return Some(message);
            }
            let trouble = match lines.next().await {
                Ok(None) => return None,
                Ok(Some(Line::Whole)) => {
                    let line = std::mem::take(&mut lines.line);
                    match understood(line.strip_prefix(MARK).unwrap_or(&line)) {
                        Ok(messages) => {
                            lines.waiting.extend(messages);
                            continue;
                        }
                        Err(trouble) => *trouble,
                    }
                }
                Ok(Some(Line::TooLong { id })) => {
                    let told = format!("the message is longer than {} MB", lines.longest >> 20);
                    ServerJsonRpcMessage::error(ErrorData::invalid_request(told, None), id)
                }
                Err(error) => {
                    tracing::error!(%error, "cannot read standard input");
                    return None;
                }
            };
            // Written in a task of its own. Otherwise a dropped future could leave half a line, which would break the
            // stream.
            tokio::spawn(put(Arc::clone(&self.write), trouble));
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.write.lock().await.take();
        Ok(())
    }
}

async fn put<W: AsyncWrite + Unpin>(
    write: Arc<Mutex<Option<W>>>,
    message: ServerJsonRpcMessage,
) -> io::Result<()> {
    let mut line = serde_json::to_vec(&message)?;
    line.push(b'\n');
    let mut write = write.lock().await;
    let Some(stream) = write.as_mut() else { return Err(io::ErrorKind::NotConnected.into()) };
    stream.write_all(&line).await?;
    stream.flush().await
}

struct Lines<R> {
    stream: BufReader<R>,
    /// The line so far, or the beginning of a line that is too long.
    line: Vec<u8>,
    /// Bytes so far of a line that is too long; otherwise 0.
    passed: usize,
    /// The end so far of a line that is too long.
    tail: VecDeque<u8>,
    /// Further messages from the same line.
    waiting: VecDeque<ClientJsonRpcMessage>,
    longest: usize,
}

enum Line {
    /// The line is in `line`.
    Whole,
    /// The line was discarded.
    TooLong { id: Option<RequestId> },
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// Returns the next line that is not blank. Safe to cancel: the next call continues.
    async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            let read = self.stream.fill_buf().await?;
            if read.is_empty() {
                // Text without a final line break is half a message, whose writer is gone.
                return Ok(None);
            }
            let end = read.iter().position(|&byte| byte == b'\n');
            let piece = &read[..end.unwrap_or(read.len())];
            let taken = piece.len() + usize::from(end.is_some());
            if self.passed > 0 || self.line.len() + piece.len() > self.longest {
                if self.passed == 0 {
                    self.passed = self.line.len();
                    self.tail =
                        self.line[self.line.len().saturating_sub(KEPT_TAIL)..].iter().copied().collect();
                    self.line.extend_from_slice(&piece[..piece.len().min(KEPT_HEAD)]);
                    self.line.truncate(KEPT_HEAD);
                    self.line.shrink_to_fit();
                }
                self.passed += piece.len();
                self.tail.extend(&piece[piece.len().saturating_sub(KEPT_TAIL)..]);
                let spare = self.tail.len().saturating_sub(KEPT_TAIL);
                self.tail.drain(..spare);
            } else {
                self.line.extend_from_slice(piece);
            }
            self.stream.consume(taken);
            if end.is_none() {
                continue;
            }
            if self.passed > 0 {
                let tail: Vec<u8> = std::mem::take(&mut self.tail).into();
                let id = id_in_head(&self.line).or_else(|| id_in_tail(&tail));
                self.passed = 0;
                self.line.clear();
                return Ok(Some(Line::TooLong { id }));
            }
            if self.line.iter().all(u8::is_ascii_whitespace) {
                self.line.clear();
                continue;
            }
            return Ok(Some(Line::Whole));
        }
    }
}

/// Parses the body of a request into its one message, or returns the error response. Batches are refused, because the
/// client waits for one response.
pub fn message(body: &[u8]) -> Result<ClientJsonRpcMessage, Box<ServerJsonRpcMessage>> {
    let is_batch = body.trim_ascii_start().starts_with(b"[");
    let mut messages = understood(body)?;
    if messages.len() == 1 && !is_batch {
        return Ok(messages.remove(0));
    }
    let told = ErrorData::invalid_request("no JSON-RPC 2.0 message, or more than one", None);
    Err(Box::new(ServerJsonRpcMessage::error(told, None)))
}

/// Parses a line or a body into one message, or into the batch that revision 2025-03-26 allowed. Otherwise returns the
/// error response.
pub fn understood(line: &[u8]) -> Result<Vec<ClientJsonRpcMessage>, Box<ServerJsonRpcMessage>> {
    let one = match serde_json::from_slice::<ClientJsonRpcMessage>(line) {
        Ok(message) => return Ok(vec![message]),
        Err(error) => error,
    };
    let refused = |code, message: String, id| {
        tracing::debug!(%message, "refused a line");
        Err(Box::new(ServerJsonRpcMessage::error(ErrorData::new(code, message, None), id)))
    };
    let value: serde_json::Value = match serde_json::from_slice(line) {
        Ok(value) => value,
        Err(error) => {
            return refused(ErrorCode::PARSE_ERROR, format!("it is not valid JSON: {error}"), None);
        }
    };
    match value {
        serde_json::Value::Array(all) if !all.is_empty() => {
            serde_json::from_value(serde_json::Value::Array(all)).or_else(|error| {
                refused(
                    ErrorCode::INVALID_REQUEST,
                    format!("no batch of JSON-RPC 2.0 messages: {error}"),
                    None,
                )
            })
        }
        // A notification never gets a response, not even an invalid one.
        value if value.get("method").is_some() && value.get("id").is_none() => Ok(Vec::new()),
        value => {
            let id = value.get("id").and_then(|id| serde_json::from_value(id.clone()).ok());
            refused(ErrorCode::INVALID_REQUEST, format!("no JSON-RPC 2.0 message: {one}"), id)
        }
    }
}

/// Finds the `id` among the outermost fields of an object's beginning.
fn id_in_head(head: &[u8]) -> Option<RequestId> {
    let (mut depth, mut at) = (0_usize, 0);
    // Whether the next string of the outermost object is a key.
    let mut is_key = true;
    while at < head.len() {
        match head[at] {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1)?,
            b':' if depth == 1 => is_key = false,
            b',' if depth == 1 => is_key = true,
            b'"' => {
                let end = string_end(head, at)?;
                if depth == 1 && is_key && &head[at..end] == b"\"id\"" {
                    let rest = head[end..].trim_ascii_start().strip_prefix(b":")?;
                    return scalar(rest.trim_ascii_start());
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Finds the `id` at the very end of an object: `…,"id":7}`. There it is the last outermost field, because a field of
/// an inner object would be followed by two brackets.
fn id_in_tail(tail: &[u8]) -> Option<RequestId> {
    let body = tail.trim_ascii_end().strip_suffix(b"}")?.trim_ascii_end();
    let at = body.windows(4).rposition(|four| four == b"\"id\"")?;
    let value = body[at + 4..].trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
    let length = match value.first()? {
        b'"' => string_end(value, 0)?,
        _ => value.iter().position(|byte| !byte.is_ascii_digit() && *byte != b'-').unwrap_or(value.len()),
    };
    if length == value.len() { scalar(value) } else { None }
}

/// Returns the position after the closing quote of the string that opens at `at`.
fn string_end(text: &[u8], at: usize) -> Option<usize> {
    let mut end = at + 1;
    loop {
        match text.get(end)? {
            b'\\' => end += 2,
            b'"' => return Some(end + 1),
            _ => end += 1,
        }
    }
}

/// Parses a number or a string at the beginning of a text.
fn scalar(text: &[u8]) -> Option<RequestId> {
    let mut values = serde_json::Deserializer::from_slice(text).into_iter::<serde_json::Value>();
    serde_json::from_value(values.next()?.ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    /// Returns the messages received from an input, and the responses written back.
    fn check(input: &[u8], longest: usize) -> (Vec<Value>, Vec<Value>) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (write, mut written) = tokio::io::duplex(1 << 20);
            let mut stdio = Stdio::new(std::io::Cursor::new(input.to_vec()), write);
            stdio.read.lock().await.longest = longest;
            let mut received = Vec::new();
            while let Some(message) = stdio.receive().await {
                received.push(serde_json::to_value(message).unwrap());
            }
            tokio::task::yield_now().await;
            stdio.close().await.unwrap();
            let mut text = String::new();
            tokio::io::AsyncReadExt::read_to_string(&mut written, &mut text).await.unwrap();
            (received, text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
        })
    }

    #[test]
    fn lines_become_messages() {
        let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
        let one = ping.to_string();
        let (received, written) = check(format!("\u{feff}{one}\r\n\n  \n{one}\nrest").as_bytes(), 1 << 20);
        assert_eq!((received, written.len()), (vec![ping.clone(), ping.clone()], 0));
        let (received, _) = check(format!("[{one},{one}]\n").as_bytes(), 1 << 20);
        assert_eq!(received, [ping.clone(), ping]);
    }

    #[test]
    fn what_is_no_message_is_answered_and_the_next_one_heard() {
        let ping = json!({"jsonrpc": "2.0", "id": "a", "method": "ping"});
        let refused = |line: &str, code: i64, id: Value| {
            let (received, written) = check(format!("{line}\n{ping}\n").as_bytes(), 1 << 20);
            assert_eq!(received, std::slice::from_ref(&ping), "{line}");
            assert_eq!(written.len(), 1, "{line}");
            assert_eq!(
                (&written[0]["error"]["code"], &written[0]["id"]),
                (&json!(code), &id),
                "{line}: {written:?}"
            );
        };
        refused("{", -32700, Value::Null);
        refused("\u{fffd}\u{0}", -32700, Value::Null);
        refused("[]", -32600, Value::Null);
        refused("7", -32600, Value::Null);
        refused(r#"{"id":9,"verb":"ping"}"#, -32600, json!(9));
        // No client waits for a response to a notification, even of an unknown form.
        let (received, written) = check(format!("{{\"method\":7}}\n{ping}\n").as_bytes(), 1 << 20);
        assert_eq!((received.len(), written.len()), (1, 0));
    }

    #[test]
    fn a_line_that_is_too_long_is_answered_under_its_id() {
        let long = |line: String, id: Value| {
            let (received, written) = check(format!("{line}\n").as_bytes(), 64 << 10);
            assert!(received.is_empty());
            assert_eq!((&written[0]["id"], &written[0]["error"]["code"]), (&id, &json!(-32600)));
        };
        let text = "é\\\"}".repeat(40_000);
        long(
            format!(r#"{{"jsonrpc":"2.0","id":17,"method":"x","params":{{"id":1,"a":"{text}"}}}}"#),
            json!(17),
        );
        long(
            format!(r#"{{"method":"x","params":{{"id":1,"a":"{text}"}},"jsonrpc":"2.0","id":"b\"7"}}"#),
            json!("b\"7"),
        );
        long(format!(r#"{{"method":"x","params":{{"a":"{text}","id":1}}}}"#), Value::Null);
        long("x".repeat(200_000), Value::Null);
    }

    proptest! {
        /// However reads split the line, only its length decides, and a short line after it is received whole.
        #[test]
        fn nothing_of_a_long_line_reaches_the_next(length in 60_usize << 10..70 << 10, id in 0_i64..1_000) {
            let frame = json!({"jsonrpc": "2.0", "id": id, "method": "ping", "params": {"_meta": {"a": ""}}}).to_string();
            let long = frame.replace("\"a\":\"\"", &format!("\"a\":\"{}\"", "x".repeat(length)));
            let (received, written) = check(format!("{long}\n{frame}\n").as_bytes(), 64 << 10);
            let fits = long.len() <= 64 << 10;
            prop_assert_eq!(received.len(), 1 + usize::from(fits));
            prop_assert_eq!(written.len(), usize::from(!fits));
            if let Some(told) = written.first() {
                prop_assert_eq!(&told["id"], &json!(id));
            }
        }
    }
}
