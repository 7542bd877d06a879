//! A server for tests that speaks every dialect over real connections, with faults by request number.

mod clock;
mod dialect;
mod fault;
mod options;
mod vector;

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

pub use clock::ManualClock;
pub use fault::Fault;
use options::lock;
pub use options::{FakeOptions, FakeRequest};
pub use vector::vector_of;

/// Most bytes of a request line or a header.
const MOST_LINE: u64 = 64 << 10;

/// A running server. It ends with its value.
pub struct FakeServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

type Faults = dyn Fn(u64) -> Option<Fault> + Send + Sync;

struct Shared {
    options: FakeOptions,
    faults: Box<Faults>,
    stopped: AtomicBool,
    stop: (Mutex<()>, Condvar),
    requests: Mutex<Vec<FakeRequest>>,
    bytes: Mutex<Vec<u8>>,
    streams: Mutex<Vec<TcpStream>>,
    connections: AtomicU64,
}

impl FakeServer {
    /// Starts a server without faults.
    pub fn start(options: FakeOptions) -> Self {
        Self::with_faults(options, |_| None)
    }

    /// Starts a server whose `faults` returns the fault of a request by its number, from 0.
    ///
    /// # Panics
    /// If the loopback cannot be listened on.
    pub fn with_faults(
        options: FakeOptions,
        faults: impl Fn(u64) -> Option<Fault> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("the loopback can be listened on");
        let address = listener.local_addr().expect("a listener has an address");
        let shared = Arc::new(Shared {
            options,
            faults: Box::new(faults),
            stopped: AtomicBool::new(false),
            stop: (Mutex::new(()), Condvar::new()),
            requests: Mutex::default(),
            bytes: Mutex::default(),
            streams: Mutex::default(),
            connections: AtomicU64::new(0),
        });
        let of_thread = Arc::clone(&shared);
        let thread = std::thread::spawn(move || accept(&listener, &of_thread));
        Self { address, shared, thread: Some(thread) }
    }

    /// Returns the address with a path, e.g. `http://127.0.0.1:1234/v1`.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Returns all requests so far, in order of their numbers.
    pub fn requests(&self) -> Vec<FakeRequest> {
        lock(&self.shared.requests).clone()
    }

    /// Returns the number of connections so far.
    pub fn connections(&self) -> u64 {
        self.shared.connections.load(Ordering::SeqCst)
    }

    /// Returns all bytes that were received and sent.
    pub fn bytes(&self) -> Vec<u8> {
        lock(&self.shared.bytes).clone()
    }

    /// Returns texts of embedding requests that were sent again after a whole answer with status 200.
    pub fn sent_again(&self) -> Vec<String> {
        let (mut done, mut again) = (HashSet::new(), Vec::new());
        for request in self.requests() {
            let texts = dialect::texts(&request.body);
            again.extend(texts.iter().filter(|text| done.contains(*text)).cloned());
            if request.answered {
                done.extend(texts);
            }
        }
        again
    }
}

impl Drop for FakeServer {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        self.shared.stop.1.notify_all();
        for stream in lock(&self.shared.streams).drain(..) {
            // The client may have closed it.
            drop(stream.shutdown(Shutdown::Both));
        }
        // A connection without a request ends the thread.
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(ended.is_ok() || std::thread::panicking(), "the server panicked");
        }
    }
}

impl Shared {
    /// Waits for a time, or until the server ends.
    fn wait(&self, time: Duration) {
        if !time.is_zero() {
            let guard = lock(&self.stop.0);
            let stopped = |(): &mut ()| !self.stopped.load(Ordering::SeqCst);
            drop(self.stop.1.wait_timeout_while(guard, time, stopped));
        }
    }

    fn record(&self, bytes: &[u8]) {
        lock(&self.bytes).extend_from_slice(bytes);
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    let mut threads = Vec::new();
    for stream in listener.incoming() {
        if shared.stopped.load(Ordering::SeqCst) {
            break;
        }
        let Ok(stream) = stream else { continue };
        let connection = shared.connections.fetch_add(1, Ordering::SeqCst);
        if let Ok(clone) = stream.try_clone() {
            lock(&shared.streams).push(clone);
        }
        let shared = Arc::clone(shared);
        threads.push(std::thread::spawn(move || {
            // An error is the client's end of the connection.
            drop(serve(&stream, connection, &shared));
            drop(stream.shutdown(Shutdown::Both));
        }));
    }
    for thread in threads {
        assert!(thread.join().is_ok(), "a connection panicked");
    }
}

fn serve(mut stream: &TcpStream, connection: u64, shared: &Shared) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    while let Some(mut request) = read(&mut reader)? {
        request.connection = connection;
        shared.record(request.head.as_bytes());
        shared.record(&request.body);
        let number = {
            let mut requests = lock(&shared.requests);
            request.number = requests.len() as u64;
            requests.push(request.clone());
            request.number
        };
        let fault = (shared.faults)(number);
        if let Some(Fault::SlowHead(time)) = fault {
            shared.wait(time);
        }
        if matches!(fault, Some(Fault::Reset)) {
            return Ok(());
        }
        let due = Instant::now() + shared.options.latency;
        let mut answer = dialect::answer(&request, &shared.options, fault.as_ref());
        answer.headers.extend(shared.options.headers.clone());
        let (head, body) = fault::encode(answer, fault.as_ref());
        shared.record(&head);
        shared.record(&body);
        // The latency is that of a service whose own work takes no time here.
        shared.wait(due.saturating_duration_since(Instant::now()));
        stream.write_all(&head)?;
        let (first, rest) = body.split_at(body.len() / 2);
        stream.write_all(first)?;
        match fault {
            Some(Fault::ResetInBody) => return Ok(()),
            Some(Fault::SlowBody(time)) => {
                stream.flush()?;
                shared.wait(time);
            }
            Some(_) | None => (),
        }
        if head.starts_with(b"HTTP/1.1 200") {
            // Before the last byte, so that no later request of the client comes first.
            lock(&shared.requests)[number as usize].answered = true;
        }
        stream.write_all(rest)?;
    }
    Ok(())
}

fn read(reader: &mut impl BufRead) -> std::io::Result<Option<FakeRequest>> {
    let mut head = String::new();
    loop {
        let before = head.len();
        reader.by_ref().take(MOST_LINE).read_line(&mut head)?;
        match &head[before..] {
            "" => return Ok(None),
            "\r\n" => break,
            _ => (),
        }
    }
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let value = |name: &str| {
        let lines = head.lines().filter_map(|line| line.split_once(':'));
        let mut values = lines.filter(|(key, _)| key.eq_ignore_ascii_case(name));
        values.next().map(|(_, value)| value.trim().to_owned())
    };
    let length = value("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Some(FakeRequest { number: 0, connection: 0, path, head, body, answered: false }))
}
