//! Tests `bower serve` as its clients see it: a real process, a real listener, real requests.

mod background;
mod crowded;
mod early;
mod refused;
mod served;
mod streams;

use super::command::{Home, PATIENCE, until};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Instant;

/// A running server.
struct Server {
    child: Child,
    address: SocketAddr,
    log: Arc<Mutex<String>>,
    reader: Option<JoinHandle<()>>,
    agent: ureq::Agent,
}

/// An answer.
#[derive(Debug)]
struct Got {
    status: u16,
    headers: Vec<(String, String)>,
    body: String,
}

impl Got {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|why| panic!("{why}: {self:?}"))
    }

    fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// Whether it has the one shape of all that is no success.
    #[track_caller]
    fn is_problem(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{self:?}");
        let json = self.json();
        assert_eq!(json["status"], "error", "{json}");
        assert!(json["error"].is_string() && json["hint"].is_string(), "{json}");
        json
    }
}

impl Server {
    fn start<const N: usize>(home: &Home, arguments: [&str; N]) -> Self {
        let mut command = home.command(["--format", "json", "serve", "--port", "0"]);
        command.args(arguments);
        Self::of(command)
    }

    /// Started by a shell that does something first.
    fn start_with<const N: usize>(home: &Home, script: &str, arguments: [&str; N]) -> Self {
        let mut command = home.command(["--format", "json", "serve", "--port", "0"]);
        command.args(arguments);
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", script, "sh"]).arg(command.get_program()).args(command.get_args()).env_clear();
        shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        shell.current_dir(command.get_current_dir().unwrap()).stdin(Stdio::null());
        Self::of(shell)
    }

    fn of(mut command: Command) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let log = Arc::new(Mutex::new(String::new()));
        let reader = {
            let (log, lines) = (Arc::clone(&log), BufReader::new(child.stderr.take().unwrap()));
            std::thread::spawn(move || {
                for line in lines.lines().map_while(Result::ok) {
                    *log.lock().unwrap() += &(line + "\n");
                }
            })
        };
        let mut first = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        let Ok(envelope) = serde_json::from_str::<Value>(&first) else {
            panic!("{first}: {:?}: {}", child.wait(), log.lock().unwrap());
        };
        let url = envelope["data"]["address"].as_str().unwrap_or_else(|| panic!("{envelope}"));
        let address = url.strip_prefix("http://").unwrap().parse().unwrap();
        let config = ureq::Agent::config_builder().http_status_as_error(false).timeout_global(Some(PATIENCE));
        Self { child, address, log, reader: Some(reader), agent: config.build().new_agent() }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    fn get(&self, path: &str) -> Got {
        self.get_as(path, "")
    }

    fn get_as(&self, path: &str, token: &str) -> Got {
        let mut request = self.agent.get(self.url(path));
        if !token.is_empty() {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        got(request.call().unwrap())
    }

    fn post(&self, path: &str, body: &Value) -> Got {
        self.post_as(path, body, "")
    }

    fn post_as(&self, path: &str, body: &Value, token: &str) -> Got {
        let mut request = self.agent.post(self.url(path)).header("content-type", "application/json");
        if !token.is_empty() {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        got(request.send(body.to_string()).unwrap())
    }

    /// What somebody gets who writes the request himself.
    fn raw(&self, request: &str) -> Got {
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).unwrap();
        read_answer(stream)
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    fn wire(&self) -> Wire {
        Wire(BufReader::new(self.connect()))
    }

    fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// Waits for a line of the log.
    fn logged(&self, words: &str) {
        let start = Instant::now();
        while !self.log().contains(words) {
            assert!(start.elapsed() < PATIENCE, "{words} is not in\n{}", self.log());
            std::thread::yield_now();
        }
    }

    /// Waits until its indexes are up to the store.
    fn until_ready(&self) {
        until("a server that is ready", || self.get("/ready").status != 503);
        assert_eq!(self.get("/ready").status, 200);
    }

    fn tell_to_end(&self) {
        let told = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().unwrap();
        assert!(told.success());
    }

    /// Ends it as an operating system does; its exit status and log.
    fn end(mut self) -> (Option<i32>, String) {
        self.tell_to_end();
        let status = self.child.wait().unwrap();
        self.reader.take().unwrap().join().unwrap();
        (status.code(), self.log())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // One that a failed test left.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn got(mut response: ureq::http::Response<ureq::Body>) -> Got {
    let headers = response.headers().iter();
    let headers =
        headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned())).collect();
    let status = response.status().as_u16();
    Got { status, headers, body: response.body_mut().read_to_string().unwrap() }
}

/// Everything until the server ends the connection.
fn read_answer(mut stream: TcpStream) -> Got {
    let mut bytes = Vec::new();
    // A connection that is cut may have given its answer first.
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok()).unwrap_or(0);
    let headers = lines.filter_map(|line| line.split_once(": "));
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    Got { status, headers, body: body.to_owned() }
}

/// A connection on which somebody writes requests himself and reads one answer after the other.
struct Wire(BufReader<TcpStream>);

impl Wire {
    fn send(&mut self, bytes: &str) {
        self.0.get_mut().write_all(bytes.as_bytes()).unwrap();
    }

    /// The next answer; none where the connection has ended.
    fn answer(&mut self) -> Option<Got> {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if self.0.read_line(&mut head).unwrap_or(0) == 0 {
                return None;
            }
        }
        let mut lines = head.trim_end().lines();
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers = lines.map(|line| line.split_once(": ").unwrap());
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let mut got = Got { status, headers, body: String::new() };
        let length = got.header("content-length").map_or(0, |length| length.parse().unwrap());
        let mut body = vec![0; length];
        self.0.read_exact(&mut body).ok()?;
        got.body = String::from_utf8(body).unwrap();
        Some(got)
    }

    /// Sends a request and reads its answer.
    fn ask(&mut self, request: &str) -> Got {
        self.send(request);
        self.answer().unwrap_or_else(|| panic!("no answer to {request:?}"))
    }

    /// Whether the server has ended it.
    fn has_ended(&mut self) -> bool {
        !self.0.get_mut().peek(&mut [0]).is_ok_and(|bytes| bytes > 0)
    }
}

/// A request as its bytes; a body is JSON.
fn request(method: &str, path: &str, token: &str, body: Option<&str>) -> String {
    let mut request = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\n");
    if !token.is_empty() {
        request.push_str("Authorization: Bearer ");
        request.push_str(token);
        request.push_str("\r\n");
    }
    match body {
        Some(body) => {
            let length = body.len();
            request + &format!("Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}")
        }
        None => request + "\r\n",
    }
}

/// Makes a token by the command.
fn token<const N: usize>(home: &Home, name: &str, arguments: [&str; N]) -> String {
    let mut command = home.command(["--format", "json", "token", "create", name]);
    let output = command.args(arguments).output().unwrap();
    let envelope: Value = serde_json::from_slice(&output.stdout).unwrap();
    envelope["data"]["token"].as_str().unwrap_or_else(|| panic!("{envelope}")).to_owned()
}
