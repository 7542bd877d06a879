//! Measures stores of 10,000 to 1,000,000 passages: questions warm and cold, writes, memory, disk.
//! All sizes are measured the same way in one run.
//!
//! Each step runs in its own process: memory that one leaves would count in the next one's figures. Stores are kept below the
//! cache's folder and reused if they are complete.

mod build;
mod chart;
mod compaction;
mod limits;
mod place;
mod processes;
mod warm;
mod writes;

use std::process::Command;

use serde_json::{Value, json};

use crate::options::{Failed, Options, Verdict};
use place::{Place, tell};

pub use build::export;
pub use place::open;

/// Steps of one size, in order.
const STEPS: [&str; 6] =
    ["scale-build", "scale-warm", "scale-one", "scale-processes", "scale-writes", "scale-folding"];

/// Runs one step of one size in this process; its figures are written to `options.out`.
pub fn step(step: &str, options: &Options) -> Result<Verdict, Failed> {
    let place = Place::of(options);
    let figures = match step {
        "scale-build" => build::run(options, &place)?,
        "scale-warm" | "scale-one" => warm::run(options, &place, step == "scale-warm")?,
        "scale-processes" => processes::run(options, &place)?,
        "scale-writes" => writes::run(options, &place)?,
        "scale-folding" => compaction::run(options, &place)?,
        "scale-stream" => compaction::stream(options, &place)?,
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
        // Saved after each size, so that a long run that is stopped leaves its results.
        save(options, &all)?;
    }
    let mut verdict = Verdict::Kept;
    for figures in &all {
        verdict = verdict.and(limits::print(figures));
    }
    limits::print_targets(&all);
    eprintln!("\nFigures: {0}/scale.json; picture: {0}/scale.svg", options.home.display());
    Ok(verdict)
}

/// Runs a step in its own process. `scale-one` is bound to one processor if the system supports that.
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
