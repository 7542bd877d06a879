//! Measures the time that ranking adds to the time of the retrieval channels.
//! Warm questions run in one process over the store that `index` made. Times of channels and ranking are the engine's own
//! figures; CPU time is the thread's.

use bower_core::engine::evaluation::RankRequest;
use bower_core::item::{Channel, Visibility};
use bower_core::request::Selection;

use crate::options::{Failed, Options, Verdict};
use crate::{index, passages, table};

/// Most milliseconds that ranking may add to the channels' time, late interaction included.
const MOST_MS: f64 = 1.0;

/// Uncounted questions at the start.
const WARM_UP: usize = 20;

pub fn run(options: &Options) -> Result<Verdict, Failed> {
    let store = index::Store::filled(options)?;
    let engine = crate::scale::open(options, &store.home)?;
    let count = options.runs.max(200);
    println!("{} chunks, {count} questions\n", engine.status(&Visibility::everything())?.total_chunks);
    let select = Selection::default();
    let (mut text, mut vector, mut rank, mut candidates) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (at, question) in
        passages::questions(&store.passages, count + WARM_UP, std::process::id() as usize)?.iter().enumerate()
    {
        let ranking = engine
            .rank(&Visibility::everything(), &RankRequest::new(question, &select, jiff::Timestamp::now()))?;
        if at < WARM_UP {
            continue;
        }
        for channel in &ranking.effort.channels {
            match channel.channel {
                Channel::Text => text.push(channel.took_ms),
                Channel::Vector => vector.push(channel.took_ms),
                Channel::Tags | Channel::Filename | Channel::Canonical | Channel::Graph => {}
            }
        }
        rank.push(ranking.effort.rank_ms);
        candidates.push(ranking.effort.candidates as f64);
    }
    let verdict = Verdict::of(table::percentile(&rank, 0.5) <= MOST_MS);
    let row = |name: &str, values: &[f64], limit: &str, mark: &str| {
        let figures = [0.0, 0.5, 0.95, 0.99].map(|share| format!("{:.2}", table::percentile(values, share)));
        std::iter::once(name.to_owned()).chain(figures).chain([limit.to_owned(), mark.to_owned()]).collect()
    };
    table::print(
        &["ms", "min", "p50", "p95", "p99", "limit (p50)", ""],
        &[
            row("text channel", &text, "", ""),
            row("vector channel", &vector, "", ""),
            row("ranking", &rank, &format!("{MOST_MS:.1}"), verdict.mark()),
            row("candidates", &candidates, "", ""),
        ],
    );
    Ok(verdict)
}
