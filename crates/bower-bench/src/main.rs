//! Measures Bowerbird: latency, throughput, ranking quality.
//! It prints figures and the limits they are held to; a missed limit is a mark and an exit status, never a hidden one. It drives the
//! `bower` binary as a user would.

mod cold;
mod corpus;
mod eval;
mod gauge;
mod index;
mod keep;
mod life;
mod model;
mod outputs;
mod pairs;
mod passages;
mod pipeline;
mod scale;
mod serve;
mod table;
mod tokens;
mod turns;
mod vectors;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "bower-bench PART [options]

  model     milliseconds a text by length and instruction set, texts a second, threads
  vectors   recall and time of the vector channel on made vectors
  tokens    late interaction: time of 400 candidates by length, question and instruction set
  states    token states of passages, for tools/late_axes.py (into --out)
  index     10,000 real passages: total time, share of the model, chunks a second
  cold      a new process over those passages: wall time, CPU time and memory of query and status
  pipeline  what ranking adds to the channels' time over those passages
  fill      gives the passages of scale to the model, once
  scale     stores of 10,000 passages and more: questions, writes, memory and disk of each, with a picture
  pairs     what becomes of labelled pairs of sentences: the same, a denial, or two facts
  turns     what is picked from labelled turns of sessions: --show so many of what is wrong and what is missed
  turns-rows each sentence of those turns with what is seen of it, for tools/fit_turns.py (into --out)
  keep      --count memories: keeping one more, sweeping, pruning, consolidating, taking back, asking the past
  serve     bower serve under load, on a copy of the store in --home: --clients, --rate and --seconds
  export    the input folder of tools/peers, of --count passages (into --out)
  life      a made month of one agent: what the store knows at the end of it, by the truth of what it was told
  life-ideal the same where the truth decides what is kept: what finding alone misses
  life-text what that agent writes and asks, to be read
  eval      ranking quality on every labelled set below a folder, beside reference figures
  all       each of these, one after the other

  --bower PATH       the program to measure            (target/release/bower)
  --models DIR       where its models are              (target/model)
  --passages FILE    .jsonl or .jsonl.gz with title and text, also several; else text files of this machine
  --sizes N,N        sizes of the stores of scale and fill (10000; 100000 too where its passages are cached)
  --cache DIR        what the model made, and stores     ($XDG_CACHE_HOME/bowerbird/bench)
  --count N          passages to index                 (10000)
  --runs N           runs of each cold command         (50)
  --data DIR         labelled sets in BEIR's form      (../shared/data)
  --out DIR          where states go                   (target/states)
  --seed N           what the month of life is made from (1)
  --days N           its days                          (30)
  --writes N         what is told in them              (20000)
  --clients N        connections of serve              (64)
  --rate N           requests a second of all of them  (100)
  --seconds N        how long they ask                 (600)
  --show N           failures of each figure that are shown (0)
  --home DIR         the store that index makes and cold asks (target/bench)";

/// A measurement that could not be made, in one line.
type Failed = Box<dyn std::error::Error>;

/// What to measure, and with what.
struct Options {
    bower: PathBuf,
    models: PathBuf,
    passages: Vec<PathBuf>,
    cache: PathBuf,
    sizes: Vec<usize>,
    count: usize,
    runs: usize,
    data: PathBuf,
    home: PathBuf,
    out: PathBuf,
    seed: u64,
    days: u32,
    writes: usize,
    show: usize,
    clients: usize,
    rate: usize,
    seconds: u64,
}

impl Options {
    fn parse(mut words: impl Iterator<Item = String>) -> Result<(String, Self), Failed> {
        let part = words.next().ok_or("no part named")?;
        let mut options = Self {
            bower: "target/release/bower".into(),
            models: "target/model".into(),
            passages: Vec::new(),
            cache: cache_folder(),
            sizes: Vec::new(),
            count: 10_000,
            runs: 50,
            data: "../shared/data".into(),
            home: "target/bench".into(),
            out: "target/states".into(),
            seed: 1,
            days: 30,
            writes: 20_000,
            show: 0,
            clients: 64,
            rate: 100,
            seconds: 600,
        };
        while let Some(flag) = words.next() {
            let value = words.next().ok_or_else(|| format!("{flag} needs a value"))?;
            let number = || value.parse::<usize>().ok().filter(|number| *number > 0);
            let count = || number().ok_or_else(|| format!("{flag} {value}: not a number above 0"));
            match flag.as_str() {
                "--bower" => options.bower = value.into(),
                "--models" => options.models = value.into(),
                "--passages" => options.passages.push(value.into()),
                "--cache" => options.cache = value.into(),
                "--sizes" => options.sizes = sizes(&value)?,
                "--count" => options.count = count()?,
                "--runs" => options.runs = count()?,
                "--data" => options.data = value.into(),
                "--out" => options.out = value.into(),
                "--seed" => options.seed = count()? as u64,
                "--days" => options.days = u32::try_from(count()?)?,
                "--writes" => options.writes = count()?,
                "--show" => options.show = count()?,
                "--clients" => options.clients = count()?,
                "--rate" => options.rate = count()?,
                "--seconds" => options.seconds = count()? as u64,
                "--home" => options.home = value.into(),
                _ => return Err(format!("unknown option {flag}").into()),
            }
        }
        // Children run in other folders' names: relative paths are made whole once.
        for path in [&mut options.bower, &mut options.models, &mut options.home, &mut options.cache] {
            *path = std::path::absolute(&*path)?;
        }
        Ok((part, options))
    }

    /// The program with a store of its own, reading the shared models and no setting of the caller.
    fn command(&self, home: &Path) -> std::process::Command {
        // Where this fails, `bower` finds no model and says so in each answer.
        #[cfg(unix)]
        let _ = std::os::unix::fs::symlink(&self.models, home.join("models"));
        let mut command = std::process::Command::new(&self.bower);
        for (key, _) in std::env::vars_os() {
            if key.to_string_lossy().starts_with("BOWER_") {
                command.env_remove(key);
            }
        }
        command.env("BOWER_HOME", home);
        command
    }
}

/// Where others keep what can be made again.
fn cache_folder() -> PathBuf {
    let home = || std::env::home_dir().map(|home| home.join(".cache"));
    let caches = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    caches.or_else(home).unwrap_or_else(|| "target".into()).join("bowerbird/bench")
}

fn sizes(words: &str) -> Result<Vec<usize>, Failed> {
    let one = |word: &str| word.parse().ok().filter(|size| *size >= 1_000);
    let sizes: Option<Vec<usize>> = words.split(',').map(|word| one(word.trim())).collect();
    let mut sizes =
        sizes.ok_or_else(|| format!("--sizes {words}: numbers from 1000, separated by commas"))?;
    sizes.sort_unstable();
    Ok(sizes)
}

/// Whether every figure kept its limit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Kept,
    Missed,
}

impl Verdict {
    fn of(kept: bool) -> Self {
        if kept { Self::Kept } else { Self::Missed }
    }

    fn and(self, other: Self) -> Self {
        Self::of(self == Self::Kept && other == Self::Kept)
    }

    fn mark(self) -> &'static str {
        match self {
            Self::Kept => "ok",
            Self::Missed => "MISSED",
        }
    }
}

fn main() -> ExitCode {
    let (part, options) = match Options::parse(std::env::args().skip(1)) {
        Ok(parsed) => parsed,
        Err(error) => {
            eprintln!("{error}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let measured = match part.as_str() {
        "model" => packed(&options).and_then(|packed| Ok(model::run(&packed).map(|()| Verdict::Kept)?)),
        "vectors" => vectors::run().map(|()| Verdict::Kept).map_err(Into::into),
        "tokens" => tokens::run(),
        "states" => packed(&options).and_then(|packed| tokens::states(&options, &packed)),
        "index" => index::run(&options),
        "cold" => cold::run(&options),
        "pipeline" => pipeline::run(&options),
        "eval" => eval::run(&options),
        "keep" => keep::run(&options),
        "life" => life::run(&options, life::Keeper::Engine),
        "life-ideal" => life::run(&options, life::Keeper::Truth),
        "life-text" => Ok(life::print_stream(&options)),
        "serve" => serve::run(&options),
        "pairs" => pairs::run(&options),
        "turns" => turns::run(&options),
        "turns-rows" => turns::write_rows(&options),
        "fill" => corpus::fill(&options),
        "export" => scale::export(&options),
        "scale" => scale::run(&options),
        part if part.starts_with("scale-") => scale::step(part, &options),
        "all" => all(),
        _ => Err(format!("unknown part {part}\n\n{USAGE}").into()),
    };
    match measured {
        Ok(Verdict::Kept) => ExitCode::SUCCESS,
        Ok(Verdict::Missed) => ExitCode::from(1),
        Err(error) => {
            eprintln!("{part}: {error}");
            ExitCode::from(3)
        }
    }
}

/// Each part in a process of its own: what one leaves in memory would count as the peak of the next one's children.
fn all() -> Result<Verdict, Failed> {
    let program = std::env::current_exe()?;
    let options: Vec<String> = std::env::args().skip(2).collect();
    let mut verdict = Verdict::Kept;
    for part in
        ["model", "vectors", "tokens", "index", "cold", "pipeline", "fill", "scale", "pairs", "turns", "eval"]
    {
        println!("\n== {part} ==\n");
        let status = std::process::Command::new(&program).arg(part).args(&options).status()?;
        verdict = verdict.and(Verdict::of(status.success()));
    }
    Ok(verdict)
}

fn packed(options: &Options) -> Result<PathBuf, Failed> {
    let folder = options.models.join("all-MiniLM-L6-v2");
    let entries = std::fs::read_dir(&folder)
        .map_err(|error| format!("cannot read {}: {error}; run make model", folder.display()))?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "packed"));
    files.sort();
    files.pop().ok_or_else(|| format!("no packed model in {}; run make model", folder.display()).into())
}
