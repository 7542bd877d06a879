//! Measures the cost of scoring candidates by late interaction, and writes token states for fitting its axes.
//! Codes are random (seeded): times do not depend on their content.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use bower_core::item::{Change, Coverage, RowId, RowSet, indexed_text};
use bower_core::model::SentenceEncoder;
use bower_core::parts::tokens::{TokenIndex, TokenQuery, compact};
use bower_kernels::Isa;
use bower_kernels::scan::maxsim::{MaxSimQuery, MaxSimToken, maxsim};
use serde_json::Value;

use crate::options::{Failed, Options, Verdict};
use crate::table;

/// Candidates that are scored for one question.
const CANDIDATES: usize = 400;
/// Number of codes among which the candidates lie: 32 MB, more than second-level caches hold.
const WORDS: usize = 4_000_000;
/// Number of runs, of which the fastest counts: other load on the machine only adds time.
const RUNS: usize = 200;
/// Limits for 400 candidates of 100 tokens and a question of 12, in milliseconds.
const LIMITS_MS: [(Isa, f64); 2] = [(Isa::Avx512, 0.3), (Isa::Avx2, 0.8)];
/// Rows of the measured index, and tokens per row.
const ROWS: u32 = 100_000;
const ROW_TOKENS: usize = 60;

/// A small seeded generator (splitmix64, Steele et al. 2014).
pub struct Dice(pub u64);

impl Dice {
    /// Returns an approximately normal number, mean 0, variance 1: the sum of four uniforms.
    pub fn normal(&mut self) -> f32 {
        let word = self.next();
        let sum: u64 = (0..4).map(|at| word >> (16 * at) & 0xffff).sum();
        (sum as f32 / 65_536.0 - 2.0) * 1.732
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn question(&mut self, tokens: usize) -> Vec<MaxSimToken> {
        let mut token = || MaxSimToken {
            values: std::array::from_fn(|_| (self.next() as u8).cast_signed().max(-127)),
            step: 0.001,
            weight: 1.0 + (self.next() % 8) as f32,
        };
        (0..tokens).map(|_| token()).collect()
    }
}

/// Prints the times of the kernel, then of an index of 100,000 rows.
pub fn run() -> Result<Verdict, Failed> {
    let mut dice = Dice(5);
    let words: Vec<u64> = (0..WORDS).map(|_| dice.next()).collect();
    let mut verdict = Verdict::Kept;
    let mut rows = Vec::new();
    for isa in Isa::available() {
        for (question, tokens) in [(12, 20), (12, 100), (12, 250), (32, 100), (100, 100)] {
            let query = MaxSimQuery::new(&dice.question(question));
            let documents: Vec<&[u64]> = (0..CANDIDATES)
                .map(|_| &words[dice.next() as usize % (WORDS - tokens)..][..tokens])
                .collect();
            let mut scores = vec![0.0; CANDIDATES];
            let least = least_ms(|| maxsim(isa, &query, &documents, &mut scores));
            let limit =
                LIMITS_MS.iter().find(|(limited, _)| *limited == isa && (question, tokens) == (12, 100));
            let kept = Verdict::of(limit.is_none_or(|(_, limit)| least <= *limit));
            verdict = verdict.and(kept);
            rows.push(vec![
                format!("{isa:?}"),
                question.to_string(),
                tokens.to_string(),
                format!("{least:.3}"),
                format!("{:.2}", least * 1e6 / (CANDIDATES * tokens) as f64),
                limit.map_or_else(String::new, |(_, limit)| format!("{limit}")),
                limit.map_or("", |_| kept.mark()).into(),
            ]);
        }
    }
    println!("{CANDIDATES} candidates; ms: the least of {RUNS} runs");
    table::print(&["isa", "question", "tokens", "ms", "ns a token", "limit", ""], &rows);
    index(&mut dice)?;
    Ok(verdict)
}

fn index(dice: &mut Dice) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let coverage = Coverage { store: "bench".into(), change: Change(1), mark: 0 };
    let start = Instant::now();
    let fresh = &mut (0..ROWS).map(|row| {
        Ok((RowId(row), (0..ROW_TOKENS).flat_map(|_| dice.next().to_le_bytes()).collect::<Vec<u8>>()))
    });
    compact(folder.path(), None, coverage, "made up", &RowSet::new(), fresh)?;
    let compacted = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let index = TokenIndex::open(folder.path())?.ok_or("what was just compacted is not there")?;
    let opened = start.elapsed().as_secs_f64() * 1e3;
    let bytes: u64 = std::fs::read_dir(folder.path())?
        .flatten()
        .map(|file| file.metadata().map_or(0, |file| file.len()))
        .sum();
    let query = TokenQuery::new(&dice.question(12));
    let rows: Vec<RowId> = (0..CANDIDATES).map(|_| RowId(dice.next() as u32 % ROWS)).collect();
    let mut failed = None;
    let least = least_ms(|| failed = index.score(&query, &rows).err());
    failed.map_or(Ok(()), Err)?;
    println!(
        "\n{ROWS} rows of {ROW_TOKENS} tokens: compacted in {compacted:.2} s, {:.2} bytes a token, opened in {opened:.3} ms, \
         {CANDIDATES} rows scored in {least:.3} ms",
        bytes as f64 / (f64::from(ROWS) * ROW_TOKENS as f64)
    );
    Ok(())
}

fn least_ms(mut run: impl FnMut()) -> f64 {
    let mut least = f64::INFINITY;
    for _ in 0..RUNS {
        let start = Instant::now();
        run();
        least = least.min(start.elapsed().as_secs_f64() * 1e3);
    }
    least
}

/// Writes `states.f32` (384 numbers a token, unit length, without `[CLS]` and `[SEP]`), `pieces.u32` and `lengths.u32` of the
/// first passages of a file of JSON lines into `options.out`.
pub fn states(options: &Options, packed: &Path) -> Result<Verdict, Failed> {
    let file = options.passages.first().ok_or("name a file of JSON lines with --passages")?;
    let model = SentenceEncoder::open(packed)?;
    std::fs::create_dir_all(&options.out)?;
    let create = |name| File::create(options.out.join(name)).map(BufWriter::new);
    let (mut states, mut pieces, mut lengths) =
        (create("states.f32")?, create("pieces.u32")?, create("lengths.u32")?);
    for line in BufReader::new(File::open(file)?).lines().take(options.count) {
        let value: Value = serde_json::from_str(&line?)?;
        let text = indexed_text(value["title"].as_str(), None, value["text"].as_str().unwrap_or_default());
        let (mut length, mut written) = (0u32, Ok(()));
        model.encode(&text, &mut |window| {
            let inner = window.inner();
            length += inner.ids.len() as u32;
            for (id, state) in inner.ids.iter().zip(inner.states.chunks_exact(384)) {
                let norm = state.iter().map(|x| x * x).sum::<f32>().sqrt();
                let unit = state.iter().flat_map(|x| (x / norm).to_le_bytes()).collect::<Vec<u8>>();
                let all = pieces.write_all(&id.to_le_bytes()).and_then(|()| states.write_all(&unit));
                if written.is_ok() {
                    written = all;
                }
            }
        })?;
        written?;
        lengths.write_all(&length.to_le_bytes())?;
    }
    for mut file in [states, pieces, lengths] {
        file.flush()?;
    }
    Ok(Verdict::Kept)
}
