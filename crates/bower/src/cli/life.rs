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
    /// useful: it helped, and is surer now. wrong: it is not so. stale: it is so no longer, and leaves answers
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
    /// Take the pin out
    #[arg(long)]
    pub off: bool,
    #[command(flatten)]
    pub visibility: VisibilityArgs,
}

/// `bower sweep`
#[derive(Args, Debug)]
pub struct SweepArgs {
    /// Only say what would become of which memory, and why
    #[arg(long)]
    pub dry_run: bool,
}

/// `bower prune`
#[derive(Args, Debug)]
pub struct PruneArgs {
    /// Archive memories whose strength (importance as it counts now) is below this, 0 to 1
    #[arg(long, value_name = "X", default_value_t = PRUNE_THRESHOLD)]
    pub threshold: f64,
    /// Only say which would go, and why
    #[arg(long)]
    pub dry_run: bool,
}

/// `bower consolidate`
#[derive(Args, Debug)]
pub struct ConsolidateArgs {
    /// Cosine from which on two memories say much the same, above 0 and up to 1
    #[arg(long, value_name = "X", default_value_t = 0.9)]
    pub similarity: f32,
    /// Only say which patterns would be made of what
    #[arg(long)]
    pub dry_run: bool,
    /// How long it may take; what is left waits for the next run
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub seconds: u64,
    /// Let the language model that the settings name (llm, llm_url, llm_model) write the patterns' texts; where it says anything
    /// that the memories do not say, their own words stand. Sends their texts there; not with --dry-run
    #[arg(long)]
    pub llm: bool,
    #[command(flatten)]
    pub visibility: VisibilityArgs,
}

/// `bower undo`
///
/// With an event, whatever that did, as far as nothing changed it since. With --session, --host or --source all that this
/// origin wrote: its memories and turns of conversations leave answers, what they had replaced comes back, what they had
/// confirmed counts once less, and patterns that were made of them are dissolved. It is one run: its own event takes all of it
/// back. Files that were indexed stay; bower forget --source removes those.
#[derive(Args, Debug)]
#[command(group = clap::ArgGroup::new("what").required(true).multiple(true).args(["event", "session", "host", "source"]))]
pub struct UndoArgs {
    /// The event's number, as the command printed it, or as bower history shows it
    #[arg(value_name = "EVENT", conflicts_with_all = ["session", "host", "source", "collection", "scope", "owner", "dry_run"])]
    pub event: Option<u64>,
    /// All that this conversation wrote
    #[arg(long, value_name = "ID", value_parser = filled)]
    pub session: Option<String>,
    /// All that was written by agents and sessions of this program, e.g. codex
    #[arg(long, value_name = "NAME", value_parser = filled)]
    pub host: Option<String>,
    /// All that carries this source, e.g. brv
    #[arg(long, value_name = "NAME", value_parser = filled)]
    pub source: Option<String>,
    /// Only say what would be taken back
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub visibility: VisibilityArgs,
}
