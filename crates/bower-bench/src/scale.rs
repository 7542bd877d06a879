//! Measures stores of 10,000 to 1,000,000 passages: questions warm and cold, writes, memory, disk.
//! Each is measured the same way in one run.
//!
//! Each step runs in a process of its own: what one leaves in memory would count as the next one's. Stores are kept below
//! the cache's folder and used again when they are whole.

mod build;
mod chart;
mod folding;
mod limits;
mod processes;
mod warm;
mod writes;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use bower_core::config::Settings;
use bower_core::engine::Engine;
use bower_core::item::Visibility;
use bower_core::request::QueryRequest;
use serde_json::{Value, json};

use crate::gauge::{self, Times};
use crate::{Failed, Options, Verdict, table};

pub use build::export;

/// The metadata that filtered questions filter by: passage `at` is in lot `at % LOTS`, so a lot holds 1 % of them.
const LOTS: usize = 100;
const LOT: usize = 7;
/// Where a measurement's own memories are kept, to be forgotten at its end.
const SCRATCH: &str = "bench";

/// A store of the cache.
struct Place {
    folder: PathBuf,
    home: PathBuf,
}

impl Place {
    fn of(options: &Options) -> Self {
        let folder = options.cache.join("stores").join(options.count.to_string());
        Self { home: folder.join("home"), folder }
    }

    /// What is known of a store that was built to its end.
    fn built(&self) -> Option<Value> {
        serde_json::from_slice(&std::fs::read(self.folder.join("built.json")).ok()?).ok()
    }

    /// How many of its passages are real.
    fn real(&self) -> Result<usize, Failed> {
        let built = self.built().ok_or("the store is not whole")?;
        Ok(built["real"].as_u64().ok_or("the store does not say how much of it is real")? as usize)
    }

    fn questions(&self) -> Result<Vec<String>, Failed> {
        Ok(serde_json::from_slice(&std::fs::read(self.folder.join("questions.json"))?)?)
    }
}

/// The name of a passage in a store, and back.
fn name(at: usize) -> String {
    format!("{:03}/{at:07}.md", at / 1_000)
}

fn number(name: &str) -> Option<usize> {
    name.rsplit('/').next()?.strip_suffix(".md")?.parse().ok()
}

/// Questions that no run asked before: known ones with their words in another order, different ones for each process and call.
fn fresh_questions(questions: &[String], count: usize) -> impl Iterator<Item = String> + '_ {
    let salt = jiff::Timestamp::now().as_microsecond().cast_unsigned();
    let mut dice = crate::tokens::Dice(salt ^ u64::from(std::process::id()) << 40);
    (0..count).map(move |_| {
        let mut pick = || &questions[dice.next() as usize % questions.len()];
        let (one, two) = (pick(), pick());
        let (one, two) = (one.split(' ').take(5), two.split(' ').skip(5).take(4));
        one.chain(two).collect::<Vec<_>>().join(" ")
    })
}

/// The engine over the store in `home`, with the models of the options.
pub fn open(options: &Options, home: &Path) -> Result<Engine, Failed> {
    let settings = Settings { models_folder: Some(options.models.clone()), ..Settings::default() };
    Ok(Engine::open(home, settings, jiff::Timestamp::now())?)
}

fn ask(question: &str) -> QueryRequest {
    QueryRequest { text: question.to_owned(), ..QueryRequest::default() }
}

/// The times of hybrid questions that arrive evenly for some seconds, whether the one before is answered or not, and the
/// longest tail that one of them searched.
fn paced(engine: &Engine, questions: &[String], rate: u32, seconds: u32) -> Result<(Times, usize), Failed> {
    let (mut times, mut tail) = (Times::new(), 0);
    let start = Instant::now();
    for (at, question) in (0..rate * seconds).zip(questions.iter().cycle()) {
        let due = start + Duration::from_secs(1) * at / rate;
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        let request = ask(question);
        let cpu = gauge::process_cpu_s();
        let answer = engine.query(&Visibility::everything(), &request, jiff::Timestamp::now())?;
        times.add(due.elapsed().as_secs_f64() * 1e3, (gauge::process_cpu_s() - cpu) * 1e3);
        tail = tail.max(answer.effort.tail);
    }
    Ok((times, tail))
}

/// The steps of one size, in their order.
const STEPS: [&str; 6] =
    ["scale-build", "scale-warm", "scale-one", "scale-processes", "scale-writes", "scale-folding"];

/// One step of one size, in this process; its figures go into `options.out`.
pub fn step(step: &str, options: &Options) -> Result<Verdict, Failed> {
    let place = Place::of(options);
    let figures = match step {
        "scale-build" => build::run(options, &place)?,
        "scale-warm" | "scale-one" => warm::run(options, &place, step == "scale-warm")?,
        "scale-processes" => processes::run(options, &place)?,
        "scale-writes" => writes::run(options, &place)?,
        "scale-folding" => folding::run(options, &place)?,
        "scale-stream" => folding::stream(options, &place)?,
        "scale-writer" => writes::write_for_ever(options, &place)?,
        _ => return Err(format!("unknown part {step}").into()),
    };
    std::fs::write(&options.out, serde_json::to_vec_pretty(&figures)?)?;
    Ok(Verdict::Kept)
}

pub fn run(options: &Options) -> Result<Verdict, Failed> {
    let mut sizes = options.sizes.clone();
    if sizes.is_empty() {
        sizes = vec![10_000];
        if build::cached(options)? >= 100_000 {
            sizes.push(100_000);
        }
    }
    std::fs::create_dir_all(&options.home)?;
    let mut all = Vec::new();
    for &size in &sizes {
        let mut figures = json!({ "items": size });
        for step in STEPS {
            eprintln!("{size}: {step}");
            figures[step.trim_start_matches("scale-")] = child(options, step, size)?;
        }
        all.push(figures);
        // After each size, so that a long run that is stopped has told something.
        save(options, &all)?;
    }
    let mut verdict = Verdict::Kept;
    for figures in &all {
        verdict = verdict.and(limits::print(figures));
    }
    limits::print_targets(&all);
    println!("\nFigures: {0}/scale.json; picture: {0}/scale.svg", options.home.display());
    Ok(verdict)
}

/// A step in a process of its own. `scale-one` is bound to one processor where the system can do that.
fn child(options: &Options, step: &str, size: usize) -> Result<Value, Failed> {
    let out = options.home.join(format!("{step}-{size}.json"));
    let program = std::env::current_exe()?;
    let mut command = if step == "scale-one" {
        let mut command = Command::new("taskset");
        command.args(["-c", "0"]).arg(program);
        command
    } else {
        Command::new(program)
    };
    match tell(&mut command, step, size, options).arg("--out").arg(&out).status() {
        Ok(status) if status.success() => Ok(serde_json::from_slice(&std::fs::read(&out)?)?),
        Ok(status) => Err(format!("{step} of {size} passages ended with {status}").into()),
        Err(error) if step == "scale-one" => Ok(json!({ "error": format!("taskset: {error}") })),
        Err(error) => Err(error.into()),
    }
}

/// Gives a process of this program a step and all that the step may need to know.
fn tell<'a>(command: &'a mut Command, step: &str, size: usize, options: &Options) -> &'a mut Command {
    command.arg(step).args(["--count", &size.to_string(), "--runs", &options.runs.to_string()]);
    for passages in &options.passages {
        command.arg("--passages").arg(passages);
    }
    for (flag, path) in [
        ("--bower", &options.bower),
        ("--models", &options.models),
        ("--cache", &options.cache),
        ("--home", &options.home),
    ] {
        command.arg(flag).arg(path);
    }
    command
}

fn save(options: &Options, sizes: &[Value]) -> Result<(), Failed> {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")?.split(": ").nth(1));
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let machine = json!({
        "cpus": std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        "model": model,
        "instructions": format!("{:?}", bower_kernels::Isa::best()),
    });
    let load: Vec<f64> = load.split(' ').take(3).filter_map(|word| word.parse().ok()).collect();
    let whole = json!({
        "machine": machine, "load_average": load, "bower": env!("CARGO_PKG_VERSION"), "sizes": sizes,
    });
    std::fs::write(options.home.join("scale.json"), serde_json::to_vec_pretty(&whole)?)?;
    std::fs::write(options.home.join("scale.svg"), chart::picture(sizes))?;
    for figures in sizes {
        let name = format!("bowerbird-{}.json", figures["items"]);
        let peer = build::as_peer(&whole, figures);
        std::fs::write(options.home.join(name), serde_json::to_vec_pretty(&peer)?)?;
    }
    Ok(())
}

/// Bytes of each table and index of a store, by the pages they have.
fn tables(file: &std::path::Path) -> Result<Value, Failed> {
    let store = rusqlite::Connection::open_with_flags(file, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let mut query =
        store.prepare("SELECT name, pgsize FROM dbstat WHERE aggregate = TRUE ORDER BY pgsize DESC")?;
    let mut tables = serde_json::Map::new();
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        tables.insert(row.get(0)?, row.get::<_, i64>(1)?.into());
    }
    Ok(tables.into())
}

/// A time as its table shows it, `-` where there is none.
fn shown(figure: &Value) -> String {
    figure.as_f64().map_or_else(|| "-".into(), table::number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_which_passage_it_is() {
        for at in [0, 999, 1_000, 999_999] {
            assert_eq!(number(&name(at)), Some(at));
        }
        assert_eq!(number("notes.md"), None);
    }
}
