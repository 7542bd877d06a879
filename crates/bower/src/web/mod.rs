//! Fetches pages of the web for `bower index ADDRESS`: only those that the user names on the command line.
//!
//! `robots`, `rules` and `address` decide and do no I/O. `fetch` is the only file that opens a connection, and `crawl` takes the
//! steps. Nothing that answers a client of MCP or HTTP imports this module.

mod address;
mod crawl;
mod fetch;
mod robots;
mod rules;

pub use crawl::{Fetched, Known, Limits, crawl};
pub use fetch::{Fetcher, Validators};

/// The name by which robots.txt and rules of pages address this program.
const AGENT: &str = "bowerbird";

/// Whether an argument is an address of the web and not a path.
pub fn is_address(argument: &str) -> bool {
    let has =
        |scheme: &str| argument.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    has("http://") || has("https://")
}
