//! Measures the local model: milliseconds a text by length and instruction set, texts a second, threads. It prints ratios of
//! one run, because absolute times of a shared machine are noise.

use std::path::Path;
use std::time::Instant;

use bower_core::embed::MiniLm;
use bower_kernels::Isa;

/// Times of one length of text, in milliseconds.
struct Figures {
    least: f64,
    median: f64,
}

/// Prints the model's speed on this machine. `packed` is a file that `bower_core::embed::pack` wrote.
pub fn run(packed: &Path) -> Result<(), bower_core::Error> {
    println!("model    isa      tokens   least ms  median ms");
    for isa in Isa::available() {
        let model = MiniLm::with_isa(packed, isa)?;
        for tokens in [8, 16, 64, 128, 256] {
            let text = text(tokens);
            let read = model.encode(&text)?.tokens;
            let figures = measure(|| model.encode(&text).map(|_| ()))?;
            println!(
                "MiniLM   {:<8} {read:>6} {:>10.2} {:>10.2}",
                format!("{isa:?}"),
                figures.least,
                figures.median
            );
        }
    }
    let model = MiniLm::open(packed)?;
    let one = texts_a_second(&model, 1)?;
    let two = texts_a_second(&model, 2)?;
    println!("64 tokens: {one:.0} texts/s on one thread, {two:.0} on two ({:.2} times)", two / one);
    Ok(())
}

/// A text of so many tokens, `[CLS]` and `[SEP]` included: every word here is one piece.
fn text(tokens: usize) -> String {
    const WORDS: [&str; 12] = [
        "river", "stone", "market", "window", "paper", "garden", "signal", "memory", "bridge", "winter",
        "engine", "letter",
    ];
    (0..tokens - 2).map(|i| WORDS[(i * 7 + i / 12) % WORDS.len()]).collect::<Vec<_>>().join(" ")
}

/// Runs for about a second after a warm-up.
fn measure(mut once: impl FnMut() -> Result<(), bower_core::Error>) -> Result<Figures, bower_core::Error> {
    once()?;
    let mut times = Vec::new();
    let start = Instant::now();
    while start.elapsed().as_secs_f64() < 1.0 || times.len() < 5 {
        let before = Instant::now();
        once()?;
        times.push(before.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    Ok(Figures { least: times[0], median: times[times.len() / 2] })
}

/// The best of some short runs with so many threads, each embedding its own texts.
fn texts_a_second(model: &MiniLm, threads: usize) -> Result<f64, bower_core::Error> {
    const TEXTS: usize = 60;
    let text = text(64);
    let mut best = 0.0_f64;
    for _ in 0..8 {
        let start = Instant::now();
        std::thread::scope(|scope| {
            let work = || (0..TEXTS).try_for_each(|_| model.encode(&text).map(|_| ()));
            let running: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            running
                .into_iter()
                .try_for_each(|thread| thread.join().expect("a thread that embeds does not panic"))
        })?;
        best = best.max((threads * TEXTS) as f64 / start.elapsed().as_secs_f64());
    }
    Ok(best)
}
