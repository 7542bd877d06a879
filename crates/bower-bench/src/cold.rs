//! Measures whole processes: wall time from spawn to exit, CPU time and peak memory.
//! The commands are `query`, `status` and `version` over a store of real passages with a warm page cache. Every question is
//! new. Commands alternate, so that a disturbance on the machine affects all of them.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use wait4::Wait4;

use crate::options::{Failed, Options, Verdict};
use crate::{index, passages, table};

/// Uncounted runs at the start, which bring the files into the page cache.
const WARM_UP: usize = 3;

/// One command and its limits: median wall time in milliseconds, peak memory in MB.
struct Job {
    name: &'static str,
    before: &'static [&'static str],
    asks: bool,
    most_ms: Option<f64>,
    most_mb: Option<f64>,
}

/// The commands with the project's own limits for 10,000 items.
const JOBS: &[Job] = &[
    Job { name: "query TEXT", before: &["query"], asks: true, most_ms: Some(30.0), most_mb: Some(60.0) },
    Job {
        name: "query --fast TEXT",
        before: &["query", "--fast"],
        asks: true,
        most_ms: Some(15.0),
        most_mb: None,
    },
    Job { name: "status", before: &["status"], asks: false, most_ms: Some(10.0), most_mb: None },
    Job { name: "version", before: &["version"], asks: false, most_ms: None, most_mb: None },
];

pub fn run(options: &Options) -> Result<Verdict, Failed> {
    let store = index::Store::filled(options)?;
    println!("{} chunks, {} runs of each\n", store.chunks(options), options.runs);
    let salt = std::process::id() as usize;
    let questions = passages::questions(&store.passages, 2 * (options.runs + WARM_UP), salt)?;
    let mut questions = questions.iter();
    let mut measured: Vec<Vec<Measured>> = JOBS.iter().map(|_| Vec::new()).collect();
    for round in 0..options.runs + WARM_UP {
        for (job, figures) in JOBS.iter().zip(&mut measured) {
            let question = if job.asks { questions.next() } else { None };
            let one = measure(options, &store.home, job.before, question.map(String::as_str))?;
            if round >= WARM_UP {
                figures.push(one);
            }
        }
    }
    let mut verdict = Verdict::Kept;
    let mut rows = Vec::new();
    for (job, figures) in JOBS.iter().zip(&measured) {
        let wall: Vec<f64> = figures.iter().map(|one| ms(one.wall)).collect();
        let cpu: Vec<f64> = figures.iter().map(|one| ms(one.cpu)).collect();
        let peak = figures.iter().map(|one| one.peak_mb).fold(0.0, f64::max);
        let median = table::percentile(&wall, 0.5);
        let kept = Verdict::of(
            job.most_ms.is_none_or(|most| median <= most) && job.most_mb.is_none_or(|most| peak <= most),
        );
        verdict = verdict.and(kept);
        let limits = [
            job.most_ms.map(|most| format!("{most:.0} ms")),
            job.most_mb.map(|most| format!("{most:.0} MB")),
        ];
        let limits: Vec<String> = limits.into_iter().flatten().collect();
        rows.push(vec![
            job.name.to_owned(),
            format!("{:.1}", table::percentile(&wall, 0.0)),
            format!("{median:.1}"),
            format!("{:.1}", table::percentile(&wall, 0.95)),
            format!("{:.1}", table::percentile(&cpu, 0.5)),
            format!("{peak:.1}"),
            limits.join(", "),
            if limits.is_empty() { String::new() } else { kept.mark().to_owned() },
        ]);
    }
    table::print(&["command", "min ms", "median ms", "p95 ms", "CPU ms", "peak MB", "limit", ""], &rows);
    Ok(verdict)
}

/// Time and peak memory of one process.
pub struct Measured {
    pub wall: Duration,
    pub cpu: Duration,
    pub peak_mb: f64,
}

/// Runs one command of the program over a store, from spawn to exit.
pub fn measure(
    options: &Options,
    home: &Path,
    before: &[&str],
    question: Option<&str>,
) -> Result<Measured, Failed> {
    let mut command = options.command(home);
    command.args(before).args(["--format", "json"]);
    if let Some(question) = question {
        command.arg("--").arg(question);
    }
    let start = Instant::now();
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let used = child.wait4()?;
    let wall = start.elapsed();
    if !used.status.success() {
        return Err(format!("bower {} {question:?} ended with {}", before.join(" "), used.status).into());
    }
    let cpu = used.rusage.utime + used.rusage.stime;
    Ok(Measured { wall, cpu, peak_mb: used.rusage.maxrss as f64 / 1e6 })
}

pub fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
