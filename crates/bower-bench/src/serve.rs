//! Measures `bower serve` under load: many clients mix questions and writes at a given rate.
//! The clients have real connections. Every acknowledged write is looked up three times: at once, at the end, and after the
//! server was restarted.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use bower_kernels::scan::rotate::splitmix;
use serde_json::{Value, json};

use crate::gauge::{Times, kilobytes};
use crate::options::{Failed, Options, Verdict};
use crate::{passages, table};

/// Limit for the 99th percentile of a question, in milliseconds (issue: 64 clients at 100,000 items on two cores).
const MOST_MS: f64 = 50.0;
/// Number of different passages that questions and memories are built from.
const PASSAGES: usize = 20_000;
/// Number of questions that are repeated.
const REPEATED: u64 = 50;
/// Time before the first counted request.
const WARM: Duration = Duration::from_secs(5);

/// Kinds of requests; [`KINDS`] has their shares in percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A new question: the model embeds it.
    New,
    /// A repeated question: its vector is cached.
    Again,
    /// A question for the text channel only.
    Fast,
    /// Keeping a memory.
    Curate,
    /// Reading an item by its id.
    Get,
}

const KINDS: [(Kind, &str, u64); 5] = [
    (Kind::New, "query, new", 60),
    (Kind::Again, "query, again", 15),
    (Kind::Fast, "query, fast", 10),
    (Kind::Curate, "curate", 10),
    (Kind::Get, "get", 5),
];

/// A running server.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(options: &Options, home: &Path) -> Result<Self, Failed> {
        let mut command = options.command(home);
        command.args(["--format", "json", "--quiet", "serve", "--port", "0", "--rate", "0"]);
        let mut child = command.stdout(Stdio::piped()).stdin(Stdio::null()).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().ok_or("no output")?).read_line(&mut line)?;
        let envelope: Value =
            serde_json::from_str(&line).map_err(|_| format!("it does not serve: {line}"))?;
        let address = envelope["data"]["address"].as_str().ok_or("it tells no address")?.to_owned();
        Ok(Self { child, address })
    }

    /// Ends the server with SIGTERM, as an operating system does; returns whether its exit status was 0.
    fn end(mut self) -> Result<bool, Failed> {
        Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status()?;
        Ok(self.child.wait()?.success())
    }

    /// Returns resident bytes, resident bytes that belong to no file, and CPU seconds.
    fn usage(&self) -> (u64, u64, f64) {
        let read = |name: &str| {
            std::fs::read_to_string(format!("/proc/{}/{name}", self.child.id())).unwrap_or_default()
        };
        let (status, stat) = (read("status"), read("stat"));
        let bytes = |name: &str| status.lines().find_map(|line| kilobytes(line, name)).unwrap_or(0);
        // Fields 14 and 15, in hundredths of a second, counted after the name, which may hold spaces.
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
        let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
        (bytes("VmRSS:"), bytes("RssAnon:"), (ticks(11) + ticks(12)) / 100.0)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One connection to a server.
struct Client {
    agent: ureq::Agent,
    address: String,
}

impl Client {
    fn new(address: &str) -> Self {
        let config = ureq::Agent::config_builder().http_status_as_error(false);
        let agent = config.timeout_global(Some(Duration::from_mins(1))).build().new_agent();
        Self { agent, address: address.to_owned() }
    }

    fn ask(&self, path: &str, body: Option<&Value>) -> Result<Value, Failed> {
        let url = format!("{}{path}", self.address);
        let mut response = match body {
            Some(body) => {
                self.agent.post(url).header("content-type", "application/json").send(body.to_string())?
            }
            None => self.agent.get(url).call()?,
        };
        let (status, text) = (response.status().as_u16(), response.body_mut().read_to_string()?);
        if status != 200 {
            return Err(format!("{path}: {status}: {text}").into());
        }
        Ok(serde_json::from_str(&text)?)
    }

    /// Returns whether the memory with this number is found by its unique word.
    fn finds(&self, number: u64) -> Result<bool, Failed> {
        let body = json!({"query": word(number), "limit": 5, "fast": true});
        let answer = self.ask("/api/v1/query", Some(&body))?;
        let hits = answer["results"].as_array().ok_or("no results")?;
        Ok(hits
            .iter()
            .any(|hit| hit["memory"]["content"].as_str().is_some_and(|text| text.contains(&word(number)))))
    }

    /// Counts the ids that the server does not have.
    fn lacks(&self, ids: &[String]) -> u64 {
        ids.iter().filter(|id| self.ask(&format!("/api/v1/items/{id}"), None).is_err()).count() as u64
    }
}

/// State that all clients share.
struct Load {
    address: String,
    texts: Vec<String>,
    next: AtomicU64,
    ends: AtomicBool,
    counts: AtomicBool,
    found: Mutex<Found>,
}

/// Results of all clients.
struct Found {
    times: Vec<Times>,
    errors: Vec<String>,
    failed: u64,
    kept: Vec<String>,
    missing_at_once: u64,
}

/// Returns a pseudo-random number, so that a seed determines the run.
fn scramble(mut number: u64) -> u64 {
    splitmix(&mut number)
}

/// Returns a word that occurs nowhere else.
fn word(number: u64) -> String {
    let letters = std::iter::successors(Some(scramble(number)), |left| (*left >= 20).then_some(left / 20));
    letters.map(|left| char::from(b"bcdfghjklmnpqrstvwxz"[(left % 20) as usize])).collect()
}

/// Returns a few consecutive words from the middle of a text.
fn question(text: &str, random: u64) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let many = 6 + (random % 6) as usize;
    let from = (random >> 8) as usize % words.len().saturating_sub(many).max(1);
    words.iter().skip(from).take(many).copied().collect::<Vec<_>>().join(" ")
}

impl Load {
    fn text(&self, random: u64) -> &str {
        &self.texts[(random % self.texts.len() as u64) as usize]
    }

    /// Makes one request. Returns whether a new text was written; the error names the deviation from the expected answer.
    fn once(&self, client: &Client, kind: Kind, random: u64, number: u64) -> Result<bool, Failed> {
        let query = |text: String, fast: bool| json!({"query": text, "limit": 5, "fast": fast});
        match kind {
            Kind::New => {
                let text = question(self.text(random), scramble(random));
                let answer = client.ask("/api/v1/query", Some(&query(text, false)))?;
                if answer["degraded"].as_array().is_none_or(|missing| !missing.is_empty()) {
                    return Err(format!("degraded: {}", answer["degraded"]).into());
                }
            }
            Kind::Again => {
                let one = scramble(random % REPEATED);
                let text = question(self.text(one), one);
                client.ask("/api/v1/query", Some(&query(text, false)))?;
            }
            Kind::Fast => {
                let text = question(self.text(random), scramble(random));
                client.ask("/api/v1/query", Some(&query(text, true)))?;
            }
            Kind::Curate => {
                let text =
                    format!("{}. It is filed under {}.", question(self.text(random), random), word(number));
                let body = json!({"content": text, "gate": "off"});
                let kept = client.ask("/api/v1/curate", Some(&body))?;
                let id = kept["id"].as_str().ok_or_else(|| format!("not kept: {kept}"))?;
                self.found().kept.push(id.to_owned());
                // A text that only confirms another memory is not written again.
                return Ok(kept["outcome"] != "confirm");
            }
            Kind::Get => {
                let some = {
                    let found = self.found();
                    let at = random as usize % found.kept.len().max(1);
                    found.kept.get(at).cloned()
                };
                match some {
                    Some(id) => client.ask(&format!("/api/v1/items/{id}"), None)?,
                    None => client.ask("/api/v1/items?limit=5", None)?,
                };
            }
        }
        Ok(false)
    }

    fn found(&self) -> std::sync::MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs one client. It asks at fixed times, however long the last answer took, and measures from the due time.
    fn run(&self, nth: u64, every: Duration) {
        let client = Client::new(&self.address);
        let mut due = Instant::now() + every.mul_f64((scramble(nth) % 1_000) as f64 / 1e3);
        while !self.ends.load(Ordering::Relaxed) {
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let random = scramble(number ^ 0x5eed);
            let mut share = random % 100;
            let at = KINDS.iter().position(|(_, _, part)| {
                let is_it = share < *part;
                share = share.wrapping_sub(*part);
                is_it
            });
            let at = at.unwrap_or(0);
            let kind = KINDS[at].0;
            let done = self.once(&client, kind, scramble(random), number);
            let took = due.elapsed();
            // Other connections' readers must find a write too; here the next request of this client checks it.
            let seen = if matches!(done, Ok(true)) { client.finds(number) } else { Ok(true) };
            let mut found = self.found();
            if self.counts.load(Ordering::Relaxed) {
                found.times[at].add(took.as_secs_f64() * 1e3, 0.0);
            }
            match seen {
                Ok(true) => {}
                Ok(false) => found.missing_at_once += 1,
                Err(error) => found.errors.push(error.to_string()),
            }
            if let Err(error) = done {
                found.failed += 1;
                found.errors.push(error.to_string());
            }
            drop(found);
            let jitter = 0.5 + (scramble(random ^ nth) % 1_000) as f64 / 1e3;
            due += every.mul_f64(jitter);
        }
    }
}

/// Runs the load on a copy of the store in `--home`.
pub fn run(options: &Options) -> Result<Verdict, Failed> {
    if !options.home.join("memory.db").exists() {
        return Err(format!("no store in {}: bower-bench scale makes some", options.home.display()).into());
    }
    let folder = tempfile::Builder::new().prefix("bower-serve").tempdir()?;
    let home = folder.path().join("home");
    let copied = Command::new("cp").arg("-a").arg(&options.home).arg(&home).status()?;
    if !copied.success() {
        return Err("the store cannot be copied".into());
    }
    let texts: Vec<String> = passages::load(options, PASSAGES)?.into_iter().map(|one| one.text).collect();
    let server = Server::start(options, &home)?;
    let load = Load {
        address: server.address.clone(),
        texts,
        next: AtomicU64::new(options.seed << 32),
        ends: AtomicBool::new(false),
        counts: AtomicBool::new(false),
        found: Mutex::new(Found {
            times: KINDS.iter().map(|_| Times::new()).collect(),
            errors: Vec::new(),
            failed: 0,
            kept: Vec::new(),
            missing_at_once: 0,
        }),
    };
    let client = Client::new(&server.address);
    let items = client.ask("/api/v1/status", None)?;
    let every = Duration::from_secs_f64(options.clients as f64 / options.rate as f64);
    let mut memory = Vec::new();
    let start = std::thread::scope(|threads| {
        for nth in 0..options.clients as u64 {
            let load = &load;
            threads.spawn(move || load.run(nth, every));
        }
        std::thread::sleep(WARM);
        load.counts.store(true, Ordering::Relaxed);
        let start = (Instant::now(), server.usage().2);
        while start.0.elapsed() < Duration::from_secs(options.seconds) {
            let (resident, anonymous, _) = server.usage();
            memory.push((resident, anonymous));
            std::thread::sleep(Duration::from_secs(1));
        }
        load.ends.store(true, Ordering::Relaxed);
        start
    });
    let (seconds, cpu_s) = (start.0.elapsed().as_secs_f64(), server.usage().2 - start.1);
    let kept = load.found().kept.clone();
    let lost_now = client.lacks(&kept);
    let ended = server.end()?;
    let again = Server::start(options, &home)?;
    let lost_later = Client::new(&again.address).lacks(&kept);
    again.end()?;
    print(&load, &items, &memory, seconds, cpu_s);
    println!(
        "\n{} writes acknowledged; not found at once {}, at the end {lost_now}, by a new server {lost_later}; ended well: {ended}",
        kept.len(),
        load.found().missing_at_once
    );
    let found = load.found();
    for error in found.errors.iter().take(5) {
        println!("error: {error}");
    }
    let worst =
        KINDS.iter().zip(&found.times).filter(|((kind, ..), _)| !matches!(kind, Kind::Curate | Kind::Get));
    let worst = worst.map(|(_, times)| p99(times)).fold(0.0, f64::max);
    let kept_all = found.errors.is_empty() && found.missing_at_once + lost_now + lost_later == 0 && ended;
    let verdict = Verdict::of(worst < MOST_MS && kept_all);
    println!("worst p99 of query {} ms, limit {MOST_MS}: {}", table::number(worst), verdict.mark());
    Ok(verdict)
}

fn p99(times: &Times) -> f64 {
    times.json()["p99_ms"].as_f64().unwrap_or(f64::INFINITY)
}

fn print(load: &Load, items: &Value, memory: &[(u64, u64)], seconds: f64, cpu_s: f64) {
    let found = load.found();
    let mut rows = Vec::new();
    let mut all = 0;
    for ((_, name, _), times) in KINDS.iter().zip(&found.times) {
        let json = times.json();
        all += json["count"].as_u64().unwrap_or(0);
        let cell = |key: &str| table::number(json[key].as_f64().unwrap_or(0.0));
        rows.push(vec![
            (*name).to_owned(),
            json["count"].to_string(),
            cell("p50_ms"),
            cell("p95_ms"),
            cell("p99_ms"),
            cell("max_ms"),
        ]);
    }
    println!(
        "{} memories and {} chunks; {all} requests in {seconds:.0} s ({:.0} a second), {} failed\n",
        items["total_memories"],
        items["total_chunks"],
        all as f64 / seconds,
        found.failed
    );
    table::print(&["ms", "requests", "p50", "p95", "p99", "max"], &rows);
    let mb = |bytes: u64| bytes >> 20;
    if let (Some(first), Some(middle), Some(last)) =
        (memory.first(), memory.get(memory.len() / 2), memory.last())
    {
        let most = memory.iter().map(|(resident, _)| *resident).max().unwrap_or(0);
        println!(
            "\nresident (its own) MB: {} ({}) at first, {} ({}) half way, {} ({}) at the end, {} at most",
            mb(first.0),
            mb(first.1),
            mb(middle.0),
            mb(middle.1),
            mb(last.0),
            mb(last.1),
            mb(most)
        );
    }
    println!(
        "CPU of the server: {:.2} s a second, {:.2} ms a request",
        cpu_s / seconds,
        1e3 * cpu_s / all.max(1) as f64
    );
}
