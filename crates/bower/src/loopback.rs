//! Runs an HTTP/1.1 server on the loopback for tests of HTTP clients.
//! It gives the answers that a test defines, one connection after the other, and ends with the test.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// A request as the server saw it.
#[derive(Clone, Debug)]
pub struct Request {
    /// `GET`, `HEAD` or `POST`.
    pub method: String,
    /// Path from the first slash on.
    pub path: String,
    /// Body of the request.
    pub body: Vec<u8>,
    headers: Vec<(String, String)>,
}

impl Request {
    /// Returns the first header of a name; case is ignored.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// Reads the request of a connection; `None` if the client sent nothing.
    fn read(stream: &TcpStream) -> Option<Self> {
        let mut reader = BufReader::new(stream);
        let mut line = || {
            let mut line = String::new();
            reader.read_line(&mut line).ok()?;
            Some(line.trim_end().to_owned())
        };
        let first = line()?;
        let (method, path) = first.strip_suffix(" HTTP/1.1")?.split_once(' ')?;
        let mut headers = Vec::new();
        while let Some((key, value)) = line()?.split_once(':') {
            headers.push((key.to_owned(), value.trim().to_owned()));
        }
        let (method, path) = (method.to_owned(), path.to_owned());
        let mut request = Self { method, path, body: Vec::new(), headers };
        let length = request.header("content-length").map_or(0, |length| length.parse().unwrap());
        request.body = vec![0; length];
        reader.read_exact(&mut request.body).ok()?;
        Some(request)
    }
}

/// An answer.
pub struct Reply {
    /// The status line after the version.
    pub status: &'static str,
    /// Further headers, each with its line end.
    pub headers: String,
    /// Announced length of the body.
    pub promised: usize,
    /// Bytes that are sent.
    pub body: Vec<u8>,
}

impl Reply {
    /// Creates a reply whose body has the announced length.
    pub fn new(status: &'static str, body: impl Into<Vec<u8>>) -> Self {
        let body = body.into();
        Self { status, headers: String::new(), promised: body.len(), body }
    }
}

/// A running server.
pub struct Server {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Request>>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts a server. `answer` gets a request and the earlier ones; if it returns `None`, the client waits until it
    /// disconnects.
    pub fn start(mut answer: impl FnMut(&Request, &[Request]) -> Option<Reply> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&seen);
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let Some(request) = Request::read(&stream) else { return };
                let is_head = request.method == "HEAD";
                let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
                let reply = answer(&request, &log);
                log.push(request);
                drop(log);
                // The client may disconnect first.
                let _ = match reply {
                    Some(reply) => send(&mut stream, &reply, is_head),
                    None => stream.read(&mut [0]).map(drop),
                };
            }
        });
        Self { address, seen, thread: Some(thread) }
    }

    /// Returns the address on which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the requests so far, oldest first.
    pub fn seen(&self) -> Vec<Request> {
        self.seen.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A connection without a request ends the thread.
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(ended.is_ok() || std::thread::panicking(), "the server panicked");
        }
    }
}

/// Returns an address on which no server listens any more.
pub fn nobody() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

fn send(stream: &mut TcpStream, reply: &Reply, is_head: bool) -> std::io::Result<()> {
    let Reply { status, headers, promised, body } = reply;
    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {promised}\r\nConnection: close\r\n{headers}\r\n")?;
    if is_head { Ok(()) } else { stream.write_all(body) }
}
