//! Arguments of the commands around speed: `bower cache`, `bower warm` and `bower bench`.

#![expect(
    clippy::doc_markdown,
    reason = "doc comments here are the help that a terminal shows: no backticks"
)]

use clap::{Args, Subcommand, ValueEnum};
use std::time::Duration;

use super::serve::span;

/// `bower cache`
///
/// The cache keeps the vectors of questions, and of single texts that a service embedded. An entry holds a hash of the text, not
/// the text. The setting cached_queries limits the number of entries of each kind.
#[derive(Args, Debug)]
pub struct CacheArgs {
    #[command(subcommand)]
    pub action: CacheAction,
}

/// Actions on the cache.
#[derive(Debug, Subcommand)]
pub enum CacheAction {
    /// Show entries, sizes and hit ratios by model
    Status,
    /// Remove entries; what is removed is computed again when it is needed
    #[command(group = clap::ArgGroup::new("limit").required(true).multiple(true).args(["older_than", "max_size"]))]
    Prune {
        /// Remove entries that were not used for this long, e.g. 12h or 30d
        #[arg(long, value_name = "SPAN", value_parser = span)]
        older_than: Option<Duration>,
        /// Remove the least recently used entries until the others have at most this size, e.g. 500kB, 20MB or 0
        #[arg(long, value_name = "BYTES", value_parser = size)]
        max_size: Option<u64>,
        /// Only count what would be removed
        #[arg(long)]
        dry_run: bool,
    },
}

/// `bower warm`
///
/// Gets a store ready for questions, for example after a restart or a switch to another model: makes the vectors of the present
/// model that items lack, writes new rows into the indexes, and reads the files into memory. Cached questions hold no text, so
/// another model meets each question when it is asked again.
#[derive(Args, Debug)]
#[command(group = clap::ArgGroup::new("which").required(true).args(["all", "recent"]))]
pub struct WarmArgs {
    /// Make the vectors of all items that lack one
    #[arg(long)]
    pub all: bool,
    /// Make only those of the N newest items
    #[arg(long, value_name = "N")]
    pub recent: Option<usize>,
}

/// `bower bench`
///
/// Measures the store in this home with its own items, and writes nothing.
#[derive(Args, Debug)]
pub struct BenchArgs {
    /// What is measured
    #[arg(value_name = "WHAT")]
    pub what: BenchKind,
    /// Number of items that are sampled, evenly spaced over the store
    #[arg(long, short = 'n', value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub samples: u32,
}

/// Measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BenchKind {
    /// The time of a question: with opening the store, in an open store, and asked again
    Latency,
    /// The share of the 10 nearest vectors that the search finds, against comparing all of them
    Recall,
    /// Files, their sizes, and memory
    Resources,
}

/// Parses `4096`, `500kB`, `20 MB`, `1GB`: powers of 1,000, as `bower status` prints sizes.
fn size(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let bytes = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" => 1_000,
        "m" | "mb" => 1_000_000,
        "g" | "gb" => 1_000_000_000,
        _ => return Err("write a number with kB, MB or GB, such as 20MB".into()),
    };
    let whole = number.parse::<u64>().ok().and_then(|number| number.checked_mul(bytes));
    whole.filter(|size| *size <= 1 << 50).ok_or_else(|| "from 0 to 1,000,000 GB".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_numbers_with_a_unit() {
        let check = |text: &str, bytes: Option<u64>| assert_eq!(size(text).ok(), bytes, "{text}");
        check("0", Some(0));
        check("4096", Some(4_096));
        check("500kB", Some(500_000));
        check("20 mb", Some(20_000_000));
        check("1GB", Some(1_000_000_000));
        for wrong in ["", "MB", "-1", "1.5MB", "1TB", "99999999999999999999"] {
            check(wrong, None);
        }
    }
}
