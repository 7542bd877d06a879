//! Measures the local model: milliseconds per text by length and instruction set, and texts per second by threads.
//! Wall times of a shared machine are noisy, so the least of many runs and the CPU time are reported beside the median.

use std::path::Path;
use std::time::Instant;

use bower_core::model::SentenceEncoder;
use bower_kernels::Isa;

use crate::table;

/// The project's limits for the fastest instruction set of a machine with AVX-512 VNNI: tokens and wall milliseconds.
const LIMITS_MS: [(usize, f64); 3] = [(16, 1.7), (64, 7.0), (128, 15.0)];
/// Least number of texts of 64 tokens per second on one thread, and the least speed-up with two.
const TEXTS_A_SECOND: f64 = 150.0;
const TWO_THREADS: f64 = 1.8;

/// Times of one length of text, in milliseconds.
struct Figures {
    least: f64,
    median: f64,
    /// Mean CPU time of one text; absent if the system does not report it.
    cpu: Option<f64>,
}

/// Prints the model's speed on this machine. `packed` is a file that `bower_core::model::pack` wrote.
pub fn run(packed: &Path) -> Result<(), bower_core::Error> {
    let mut rows = Vec::new();
    for isa in Isa::available() {
        let model = SentenceEncoder::with_isa(packed, isa)?;
        for tokens in [8, 16, 64, 128, 256] {
            let text = text(tokens);
            let read = model.encode(&text, &mut |_| ())?.tokens;
            let figures = measure(|| model.encode(&text, &mut |_| ()).map(|_| ()))?;
            let limit = LIMITS_MS.iter().find(|(limited, _)| isa == Isa::Avx512 && *limited == tokens);
            rows.push(vec![
                format!("{isa:?}"),
                read.to_string(),
                format!("{:.2}", figures.least),
                format!("{:.2}", figures.median),
                figures.cpu.map_or_else(|| "-".into(), |cpu| format!("{cpu:.2}")),
                limit.map_or_else(String::new, |(_, limit)| format!("{limit}")),
                limit.map_or("", |(_, limit)| mark(figures.least <= *limit)).into(),
            ]);
        }
    }
    table::print(&["isa", "tokens", "min ms", "median ms", "CPU ms", "limit", ""], &rows);
    let model = SentenceEncoder::open(packed)?;
    let one = texts_a_second(&model, 1)?;
    let two = texts_a_second(&model, 2)?;
    println!("64 tokens: {one:.0} texts/s on one thread ({})", mark(one >= TEXTS_A_SECOND));
    println!("64 tokens: {two:.0} on two, {:.2} times ({})", two / one, mark(two / one >= TWO_THREADS));
    Ok(())
}

fn mark(kept: bool) -> &'static str {
    if kept { "pass" } else { "FAIL" }
}

/// Returns this thread's CPU seconds so far, from the scheduler (Linux).
fn thread_cpu_s() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: u64 = text.split_whitespace().next()?.parse().ok()?;
    Some(nanoseconds as f64 / 1e9)
}

/// Returns a text of `tokens` tokens, `[CLS]` and `[SEP]` included: every word of it is one piece.
fn text(tokens: usize) -> String {
    const WORDS: [&str; 12] = [
        "river", "stone", "market", "window", "paper", "garden", "signal", "memory", "bridge", "winter",
        "engine", "letter",
    ];
    (0..tokens - 2).map(|i| WORDS[(i * 7 + i / 12) % WORDS.len()]).collect::<Vec<_>>().join(" ")
}

/// Repeats `once` for about a second after a warm-up.
fn measure(mut once: impl FnMut() -> Result<(), bower_core::Error>) -> Result<Figures, bower_core::Error> {
    once()?;
    let mut times = Vec::new();
    let (start, cpu) = (Instant::now(), thread_cpu_s());
    while start.elapsed().as_secs_f64() < 1.0 || times.len() < 5 {
        let before = Instant::now();
        once()?;
        times.push(before.elapsed().as_secs_f64() * 1e3);
    }
    let cpu = thread_cpu_s().zip(cpu).map(|(end, start)| (end - start) * 1e3 / times.len() as f64);
    times.sort_by(f64::total_cmp);
    Ok(Figures { least: times[0], median: times[times.len() / 2], cpu })
}

/// Returns the best of some short runs with `threads` threads, each embedding its own texts.
fn texts_a_second(model: &SentenceEncoder, threads: usize) -> Result<f64, bower_core::Error> {
    const TEXTS: usize = 60;
    let text = text(64);
    let mut best = 0.0_f64;
    for _ in 0..8 {
        let start = Instant::now();
        std::thread::scope(|scope| {
            let work = || (0..TEXTS).try_for_each(|_| model.encode(&text, &mut |_| ()).map(|_| ()));
            let running: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            running
                .into_iter()
                .try_for_each(|thread| thread.join().expect("a thread that embeds does not panic"))
        })?;
        best = best.max((threads * TEXTS) as f64 / start.elapsed().as_secs_f64());
    }
    Ok(best)
}
