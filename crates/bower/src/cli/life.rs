//! Arguments of the commands that maintain memories: `feedback`, `pin`, `sweep`, `prune`, `consolidate`, `undo`.

use bower_core::item::Verdict;
use clap::Args;

use super::{VisibilityArgs, filled, words};
use crate::service::PRUNE_THRESHOLD;

/// `bower feedback`
#[derive(Args, Debug)]
pub struct FeedbackArgs {
    /// The memory's id, or its first digits (at least 6)
    #[arg(value_name = "ID")]
    pub id: String,
    /// useful: it helped, and its confidence rises. wrong: it is not true. stale: it is no longer true, and leaves answers
    #[arg(value_name = "VERDICT", value_parser = words::<Verdict>(Verdict::ALL.iter().map(|v| v.word())))]
    pub verdict: Verdict,
    #[command(flatten)]
    pub visibility: VisibilityArgs,
}

/// `bower pin`
#[derive(Args, Debug)]
pub struct PinArgs {
    /// The memory's id, or its first digits (at least 6)
    #[arg(value_name = "ID")]
    pub id: String,
    /// Remove the pin
    #[arg(long)]
    pub off: bool,
    #[command(flatten)]
    pub visibility: VisibilityArgs,
}

/// `bower sweep`
#[derive(Args, Debug)]
pub struct SweepArgs {
    /// Only show which memories would change, and why
    #[arg(long)]
    pub dry_run: bool,
}

/// `bower prune`
#[derive(Args, Debug)]
pub struct PruneArgs {
    /// Archive memories whose importance now is below this, 0 to 1
    #[arg(long, value_name = "X", default_value_t = PRUNE_THRESHOLD)]
    pub threshold: f64,
    /// Only show which memories would be archived, and why
    #[arg(long)]
    pub dry_run: bool,
}

/// `bower consolidate`
#[derive(Args, Debug)]
pub struct ConsolidateArgs {
    /// Least cosine of similar memories, above 0 and up to 1
    #[arg(long, value_name = "X", default_value_t = 0.9)]
    pub similarity: f32,
    /// Only show which patterns would be made, and from which memories
    #[arg(long)]
    pub dry_run: bool,
    /// Time limit; remaining memories wait for the next run
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub seconds: u64,
    /// Let the language model that the settings name (llm, llm_url, llm_model) write the patterns' texts. If a text says
    /// anything that the memories do not say, their own words are used. Sends their texts to it; not with --dry-run
    #[arg(long)]
    pub llm: bool,
    #[command(flatten)]
    pub visibility: VisibilityArgs,
}

/// `bower undo`
///
/// With an event, reverses its changes, except those that were changed again since. With --session, --host or --source,
/// reverses everything that this origin wrote. Its memories and turns of conversations leave answers, and memories that it
/// replaced come back. Its confirmations are subtracted, and patterns made of its memories are dissolved. This is one run, and
/// its own event reverses all of it. Indexed files stay; bower forget --source removes those.
#[derive(Args, Debug)]
#[command(group = clap::ArgGroup::new("what").required(true).multiple(true).args(["event", "session", "host", "source"]))]
pub struct UndoArgs {
    /// The event's number, as the command printed it, or as bower history shows it
    #[arg(value_name = "EVENT", conflicts_with_all = ["session", "host", "source", "collection", "scope", "owner", "dry_run"])]
    pub event: Option<u64>,
    /// Everything that this conversation wrote
    #[arg(long, value_name = "ID", value_parser = filled)]
    pub session: Option<String>,
    /// Everything that agents and sessions of this program wrote, e.g. codex
    #[arg(long, value_name = "NAME", value_parser = filled)]
    pub host: Option<String>,
    /// Everything that has this source, e.g. brv
    #[arg(long, value_name = "NAME", value_parser = filled)]
    pub source: Option<String>,
    /// Only show what would be reversed
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub visibility: VisibilityArgs,
}
