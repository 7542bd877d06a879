//! Arguments of `bower index`.

use bower_core::item::Scope;
use clap::Args;
use std::path::PathBuf;

use super::{filled, words};

/// `bower index`
#[derive(Args, Debug)]
pub struct IndexArgs {
    /// Files and folders; .gitignore and .bowerignore are honoured, hidden files are left out. Or an address: a page, a sitemap, or
    /// with a / at its end a site, of which the links below it are followed
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// The collection to index into
    #[arg(long, value_name = "NAME", value_parser = filled)]
    pub collection: Option<String>,
    /// Only files that match this glob; may be given again
    #[arg(long, value_name = "GLOB")]
    pub include: Vec<String>,
    /// No files that match this glob; may be given again
    #[arg(long, value_name = "GLOB")]
    pub exclude: Vec<String>,
    /// Keep running and index changes
    #[arg(long)]
    pub watch: bool,
    /// Most pages of an address
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    pub pages: usize,
    /// Most links between the address of a site and a page
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub depth: usize,
    /// Pause between two requests to one host, in milliseconds; a site may ask for a longer one
    #[arg(long, value_name = "MS", default_value_t = 1_000)]
    pub pause_ms: u64,
    /// Also fetch from this machine and from private networks
    #[arg(long)]
    pub private_addresses: bool,
    /// The scope in which the chunks are visible
    #[arg(long, value_name = "SCOPE", default_value = "project", value_parser = words::<Scope>(Scope::ALL.iter().map(|v| v.word())))]
    pub scope: Scope,
    /// The owner of the chunks
    #[arg(long, value_name = "OWNER", value_parser = filled)]
    pub owner: Option<String>,
}
