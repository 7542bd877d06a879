//! Tests `bower mcp` as a process: what it writes where, and when it ends.

use crate::command::Home;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

pub struct Server {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    asked: i64,
}

impl Server {
    fn start(home: &Home, arguments: &[&str]) -> Self {
        Self::spawn(home.command(["mcp"].iter().chain(arguments)))
    }

    /// A program that speaks it.
    pub fn spawn(mut command: Command) -> Self {
        let mut child = command
            .env("BOWER_MODEL", "none")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self { child, stdin, stdout, asked: 0 }
    }

    fn initialized(home: &Home, arguments: &[&str]) -> Self {
        Self::start(home, arguments).greeted()
    }

    /// After the handshake.
    pub fn greeted(mut self) -> Self {
        let client = json!({"name": "test", "version": "1"});
        let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
        assert_eq!(self.ask("initialize", params)["result"]["serverInfo"]["name"], "bowerbird");
        self.line(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        self
    }

    fn line(&mut self, line: &str) {
        writeln!(self.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    #[expect(clippy::needless_pass_by_value, reason = "written in place")]
    fn begin(&mut self, method: &str, params: Value) -> i64 {
        self.asked += 1;
        let request = json!({"jsonrpc": "2.0", "id": self.asked, "method": method, "params": params});
        self.line(&request.to_string());
        self.asked
    }

    fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|why| panic!("{why}: {line:?}"))
    }

    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        loop {
            let heard = self.hear();
            if heard["id"] == id {
                return heard;
            }
        }
    }

    #[expect(clippy::needless_pass_by_value, reason = "written in place")]
    pub fn call(&mut self, name: &str, arguments: Value) -> Value {
        let result = self.ask("tools/call", json!({"name": name, "arguments": arguments}))["result"].take();
        assert_eq!(result["isError"], false, "{result}");
        result["structuredContent"].clone()
    }

    /// Closes the input and waits for the end: the exit status, what was still written, and the talk.
    pub fn end(mut self) -> (i32, Vec<Value>, String) {
        drop(self.stdin.take());
        let rest: Vec<Value> =
            self.stdout.lines().map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
        let ended = self.child.wait_with_output().unwrap();
        (ended.status.code().unwrap(), rest, String::from_utf8(ended.stderr).unwrap())
    }
}

#[test]
fn it_ends_with_its_input_and_answers_what_was_asked_before() {
    let home = Home::new();
    let mut server = Server::initialized(&home, &[]);
    let tools = [
        "spade", "rake", "hoe", "saw", "axe", "shears", "ladder", "bucket", "hose", "trowel", "fork",
        "sieve", "barrow", "dibber", "mallet", "twine", "gloves", "knife", "scythe", "broom",
    ];
    for tool in tools {
        let arguments = json!({"content": format!("We lent the {tool} to a neighbour"), "gate": "off"});
        server.begin("tools/call", json!({"name": "memory_store", "arguments": arguments}));
    }
    let (status, rest, talk) = server.end();
    assert_eq!((status, talk.as_str()), (0, ""));
    assert_eq!(rest.len(), 20);
    assert!(rest.iter().all(|answer| answer["result"]["isError"] == false), "{rest:?}");
    assert_eq!(home.data(["list"])["total"], 20);
    // Nobody there from the start is no failure either.
    assert_eq!(Server::start(&home, &[]).end(), (0, Vec::new(), String::new()));
}

#[test]
fn a_run_that_is_cancelled_stops_and_is_never_answered() {
    const FILES: usize = 8_000;
    let home = Home::new();
    for at in 0..FILES {
        home.write(&format!("docs/{at}.md"), format!("# Note {at}\n\nNumber {at} of many.\n"));
    }
    let docs = home.path("docs");
    let mut server = Server::initialized(&home, &[]);
    let arguments = json!({"paths": [docs]});
    let params = json!({"name": "memory_index", "arguments": arguments, "_meta": {"progressToken": 7}});
    let run = server.begin("tools/call", params);
    // It has begun, and is not near its end.
    let step = server.hear();
    assert_eq!(
        (&step["method"], &step["params"]["progressToken"]),
        (&json!("notifications/progress"), &json!(7))
    );
    assert!(step["params"]["progress"].as_f64() < step["params"]["total"].as_f64(), "{step}");
    let cancelled = json!({"requestId": run, "reason": "the user said stop"});
    let note = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled});
    server.line(&note.to_string());
    // Others are answered meanwhile.
    let status = server.begin("tools/call", json!({"name": "memory_status", "arguments": {}}));
    let mut heard = server.hear();
    while heard["id"] != status {
        assert_ne!(heard["id"], run, "{heard}");
        heard = server.hear();
    }
    let (ended, rest, talk) = server.end();
    assert_eq!((ended, talk.as_str()), (0, ""));
    assert!(rest.iter().all(|message| message["id"] != run), "{rest:?}");
    let kept = home.data(["status"])["total_documents"].as_u64().unwrap();
    assert!(kept < FILES as u64, "{kept}");
    // Whoever wants it after all has the rest.
    home.data(["index", docs.to_str().unwrap()]);
    assert_eq!(home.data(["status"])["total_documents"], FILES);
}

#[test]
fn what_is_no_message_or_comes_too_early_does_not_end_it() {
    let home = Home::new();
    let mut server = Server::start(&home, &[]);
    server.line(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    server.line(r#"{"jsonrpc":"2.0","id":9,"result":{}}"#);
    server.line("GET / HTTP/1.1");
    assert_eq!(server.hear()["error"]["code"], -32700);
    let early = server.ask("tools/list", json!({}));
    assert_eq!(early["error"]["code"], -32602, "{early}");
    assert_eq!(server.ask("ping", json!({}))["result"], json!({}));
    let params = json!({"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    assert_eq!(server.ask("initialize", params)["result"]["protocolVersion"], "2025-03-26");
    let long =
        format!(r#"{{"jsonrpc":"2.0","id":77,"method":"ping","params":{{"a":"{}"}}}}"#, "x".repeat(17 << 20));
    server.line(&long);
    let refused = server.hear();
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(77), &json!(-32600)), "{refused}");
    assert_eq!(server.call("memory_status", json!({}))["total_memories"], 0);
    assert_eq!(server.end().0, 0);
}

#[test]
fn it_shares_its_store_with_one_shot_commands() {
    let home = Home::new();
    let mut server = Server::initialized(&home, &["--owner", "ann"]);
    assert_eq!(server.call("memory_search", json!({"query": "quokka"}))["results"], json!([]));
    home.data(["curate", "The quokka sleeps in the shed", "--owner", "ann"]);
    home.data(["curate", "The quokka of Bob is in the cellar", "--owner", "bob"]);
    let found = server.call("memory_search", json!({"query": "quokka"}));
    assert_eq!(found["results"].as_array().unwrap().len(), 1, "{found}");
    let kept = server.call("memory_store", json!({"content": "The wombat is in the attic"}));
    assert_eq!(home.data(["get", kept["id"].as_str().unwrap()])["memory"]["owner"], "ann");
    home.data(["forget", kept["id"].as_str().unwrap()]);
    assert_eq!(server.call("memory_search", json!({"query": "wombat"}))["results"], json!([]));
    assert_eq!(server.end().0, 0);
}

#[test]
fn a_broken_store_is_told_in_the_answer_and_the_server_goes_on() {
    let home = Home::new();
    home.write("home/memory.db", "no database");
    let mut server = Server::initialized(&home, &[]);
    for _ in 0..2 {
        let answer = server.ask("tools/call", json!({"name": "memory_status", "arguments": {}}));
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert!(
            text.contains("is not a bowerbird store") && text.contains("what to do: tell the user:"),
            "{text}"
        );
    }
    std::fs::remove_file(home.path("home/memory.db")).unwrap();
    assert_eq!(server.call("memory_status", json!({}))["total_memories"], 0);
    let (status, _, talk) = server.end();
    assert_eq!((status, talk.as_str()), (0, ""));
}

#[test]
fn what_is_typed_wrong_is_told_before_anything_is_served() {
    let home = Home::new();
    let ended = home.run(["mcp", "--tools", "memory_nap", "--format", "json"]);
    assert_eq!(ended.status, 2, "{ended:?}");
    assert!(ended.json()["data"]["hint"].as_str().unwrap().contains("memory_search"), "{ended:?}");
    assert_eq!(home.run(["mcp", "--compat", "zettel"]).status, 2);
    assert_eq!(home.run(["mcp", "--scope", "everybody"]).status, 2);
}

#[cfg(unix)]
#[test]
fn it_ends_when_it_is_asked_to() {
    let home = Home::new();
    let mut server = Server::initialized(&home, &[]);
    server.call("memory_store", json!({"content": "The pump is in the shed"}));
    let killed = std::process::Command::new("kill").arg(server.child.id().to_string()).status().unwrap();
    assert!(killed.success());
    let start = Instant::now();
    let ended = server.child.wait().unwrap();
    assert!(
        ended.success() && start.elapsed() < Duration::from_secs(10),
        "{ended:?} after {:?}",
        start.elapsed()
    );
}
