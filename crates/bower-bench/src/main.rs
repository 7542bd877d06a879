//! Measures Bowerbird: latency, throughput, ranking quality.
//! It prints figures with their limits. A missed limit shows as a mark and in the exit status. It drives the `bower` binary as
//! a user would.

mod cold;
mod communities;
mod corpus;
mod encode;
mod eval;
mod figures;
mod gauge;
mod index;
mod life;
mod lifecycle;
mod model;
mod options;
mod pairs;
mod passages;
mod pipeline;
mod scale;
mod serve;
mod statements;
mod table;
mod tokens;
mod turns;
mod vectors;

use std::process::ExitCode;

use options::{Options, Verdict, packed};

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
  adapter   packs the tensors in --data, which tools/fit_statements.py wrote, into --out
  classify  what the adapter's classifiers say of the statements on standard input, a JSON line each
  encode    packs the sentence encoder in --data into --out, and prints token ids and vectors of the texts on standard input
  turns     what is picked from labelled turns of sessions: --show so many of what is wrong and what is missed
  keep      --count memories: keeping one more, sweeping, pruning, consolidating, taking back, asking the past
  serve     bower serve under load, on a copy of the store in --home: --clients, --rate and --seconds
  export    the input folder of tools/peers, of --count passages (into --out)
  communities modularity and CPU time of the communities in --data, a list of edges, at --resolution
  life      a made month of one agent: what the store knows at the end of it, by the truth of what it was told
  life-ideal the same where the truth decides what is kept: what finding alone misses
  life-text what that agent writes and asks, to be read
  eval      ranking quality on every labelled set below a folder, beside reference figures
  all       each of these, one after the other

  --bower PATH       the program to measure            (target/release/bower)
  --models DIR       where its models are, or one packed file (target/model)
  --passages FILE    .jsonl or .jsonl.gz with title and text, also several; else text files of this machine
  --sizes N,N        sizes of the stores of scale and fill (10000; 100000 too where its passages are cached)
  --cache DIR        what the model made, and stores     ($XDG_CACHE_HOME/bowerbird/bench)
  --count N          passages to index                 (10000)
  --runs N           runs of each cold command         (50)
  --data DIR         labelled sets in BEIR's form      (../shared/data)
  --out DIR          where states go                   (target/states)
  --resolution X     of communities (0.5)
  --seed N           what the month of life is made from, and communities visits nodes by (1)
  --days N           its days                          (30)
  --writes N         what is told in them              (20000)
  --clients N        connections of serve              (64)
  --rate N           requests a second of all of them  (100)
  --seconds N        how long they ask                 (600)
  --show N           failures of each figure that are shown (0)
  --home DIR         the store that index makes and cold asks (target/bench)
  --into FILE        the document that gets the figures, between its markers figures:PART:start and :end
  --tables markdown  prints tables in Markdown         (columns)";

/// Parts that `all` runs, in order.
const ALL: [&str; 11] =
    ["model", "vectors", "tokens", "index", "cold", "pipeline", "fill", "scale", "pairs", "turns", "eval"];

fn main() -> ExitCode {
    let (part, options) = match Options::parse(std::env::args().skip(1)) {
        Ok(parsed) => parsed,
        Err(error) => {
            eprintln!("{error}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let measured = match part.as_str() {
        "all" => figures::run(&ALL, &options),
        part if options.into.is_some() => figures::run(&[part], &options),
        "model" => packed(&options).and_then(|packed| Ok(model::run(&packed).map(|()| Verdict::Kept)?)),
        "vectors" => vectors::run().map(|()| Verdict::Kept).map_err(Into::into),
        "tokens" => tokens::run(),
        "states" => packed(&options).and_then(|packed| tokens::states(&options, &packed)),
        "index" => index::run(&options),
        "cold" => cold::run(&options),
        "pipeline" => pipeline::run(&options),
        "eval" => eval::run(&options),
        "keep" => lifecycle::run(&options),
        "life" => life::run(&options, life::Keeper::Engine),
        "life-ideal" => life::run(&options, life::Keeper::Truth),
        "life-text" => Ok(life::print_stream(&options)),
        "serve" => serve::run(&options),
        "pairs" => pairs::run(&options),
        "adapter" => statements::pack(&options),
        "classify" => statements::classify(&options),
        "communities" => communities::run(&options),
        "encode" => encode::run(&options),
        "turns" => turns::run(&options),
        "fill" => corpus::fill(&options),
        "export" => scale::export(&options),
        "scale" => scale::run(&options),
        part if part.starts_with("scale-") => scale::step(part, &options),
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
