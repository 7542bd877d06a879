//! Arguments of the commands that inform agents: `brief`, `hook` and `setup`.
//! Mostly other programs call them.

use bower_core::item::{Briefing, Scope};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::path::PathBuf;

use super::{VisibilityArgs, filled, words};
use crate::hosts::{Event, Host};

/// `bower brief`
#[derive(Args, Debug)]
pub struct BriefArgs {
    /// The size: 3, 8 or 20 entries of at most 200 tokens each; pinned memories are always included
    #[arg(long, value_name = "BUDGET", default_value = "standard", value_parser = budgets())]
    pub budget: Briefing,
    /// Tokens of the whole briefing [default: 600, 1,600 or 4,000]
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(64..=100_000))]
    pub tokens: Option<u32>,
    /// The task: entries that are related to it come first
    #[arg(long = "for", value_name = "TASK")]
    pub task: Option<String>,
    /// The folder: entries that belong to another folder are left out
    #[arg(long, value_name = "PATH")]
    pub folder: Option<PathBuf>,
    /// Leave out items that this session was given before, and record what it is given now
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Search words only: no model is loaded
    #[arg(long)]
    pub fast: bool,
    #[command(flatten)]
    pub visibility: VisibilityArgs,
}

fn budgets() -> impl TypedValueParser<Value = Briefing> {
    let all = Briefing::ALL.iter().filter(|budget| **budget != Briefing::Off).map(|budget| budget.word());
    PossibleValuesParser::new(all).try_map(|word| word.parse::<Briefing>())
}

/// `bower hook`
///
/// Reads a host's input for its hooks, one JSON object on standard input. Prints the output that the host adds to the context,
/// or nothing. After any failure it prints nothing but one line on standard error, and the exit status is 0. The settings
/// hook_brief, hook_tokens and keep_sessions control how much it does; docs/hooks.md describes all of it.
#[derive(Args, Debug)]
pub struct HookArgs {
    /// The event
    #[arg(value_name = "EVENT")]
    pub event: Event,
    /// The host that calls the hook
    #[arg(long, value_name = "HOST", default_value = "claude-code")]
    pub host: Host,
    /// Only this scope, for items that are given and kept
    #[arg(long, value_name = "SCOPE", value_parser = words::<Scope>(Scope::ALL.iter().map(|v| v.word())))]
    pub scope: Option<Scope>,
    /// Only this owner, for items that are given and kept
    #[arg(long, value_name = "OWNER", value_parser = filled)]
    pub owner: Option<String>,
    /// The collection for findings [default: the setting `memory_collection`]
    #[arg(long, value_name = "NAME", value_parser = filled)]
    pub collection: Option<String>,
}

/// `bower setup`
///
/// Shows the changes to the host's files, asks for confirmation and makes them: an entry for the server (bower mcp) and entries
/// for hooks (bower hook). Everything else in the files stays as it is written. --remove restores the files, to the byte if
/// nothing changed them since, and removes the files that were created.
#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own on the command line")]
pub struct SetupArgs {
    /// The host
    #[arg(value_name = "HOST")]
    pub host: Host,
    /// Remove the entries that setup added
    #[arg(long)]
    pub remove: bool,
    /// Do not ask for confirmation
    #[arg(long, short)]
    pub yes: bool,
    /// Only show what would change
    #[arg(long)]
    pub dry_run: bool,
    /// Write the files of a project, in this folder or the one that is named, instead of the user's
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = ".")]
    pub project: Option<PathBuf>,
    /// Hooks only: no server
    #[arg(long, conflicts_with = "no_hooks")]
    pub no_server: bool,
    /// The server only: no hooks
    #[arg(long)]
    pub no_hooks: bool,
    /// Also a hook for each use of a tool on a file, which returns memories about that file
    #[arg(long, conflicts_with = "no_hooks")]
    pub tools: bool,
    /// The host's call of bower [default: this program's absolute path; with --project, bower]
    #[arg(long, value_name = "PROGRAM")]
    pub program: Option<String>,
}
