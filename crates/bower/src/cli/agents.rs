//! Arguments of the commands that inform agents: `brief`, `hook` and `setup`.
//! They are typed in mostly by other programs, so that agents know what is kept.

use bower_core::item::{Briefing, Scope};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::path::PathBuf;

use super::{VisibilityArgs, filled, words};
use crate::hosts::{Event, Host};

/// `bower brief`
#[derive(Args, Debug)]
pub struct BriefArgs {
    /// How much: 3, 8 or 20 entries, of 200 tokens each at most; what is pinned is always among them
    #[arg(long, value_name = "BUDGET", default_value = "standard", value_parser = budgets())]
    pub budget: Briefing,
    /// Tokens of the whole [default: 600, 1,600 or 4,000]
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(64..=100_000))]
    pub tokens: Option<u32>,
    /// What is to be done: what has to do with it comes first
    #[arg(long = "for", value_name = "TASK")]
    pub task: Option<String>,
    /// Where: what was told in another folder is left out
    #[arg(long, value_name = "PATH")]
    pub folder: Option<PathBuf>,
    /// Leave out what this session was already given, and remember what it is given now
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Words alone: no model is loaded
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
/// Reads what a host tells its hooks, one JSON object on standard input, and prints what the host puts into the context, or
/// nothing. Whatever fails, it prints nothing, says so in one line on standard error, and its exit status is 0. The settings
/// hook_brief, hook_tokens and keep_sessions say how much it does; docs/hooks.md tells the whole of it.
#[derive(Args, Debug)]
pub struct HookArgs {
    /// What happened
    #[arg(value_name = "EVENT")]
    pub event: Event,
    /// The host that calls
    #[arg(long, value_name = "HOST", default_value = "claude-code")]
    pub host: Host,
    /// Only this scope: of what is given, and of what is kept
    #[arg(long, value_name = "SCOPE", value_parser = words::<Scope>(Scope::ALL.iter().map(|v| v.word())))]
    pub scope: Option<Scope>,
    /// Only this owner's: of what is given, and of what is kept
    #[arg(long, value_name = "OWNER", value_parser = filled)]
    pub owner: Option<String>,
    /// The collection in which findings are kept [default: the setting `memory_collection`]
    #[arg(long, value_name = "NAME", value_parser = filled)]
    pub collection: Option<String>,
}

/// `bower setup`
///
/// Shows what would change in the host's files, asks, and changes that: an entry for the server (bower mcp) and for hooks
/// (bower hook). Everything else in the files stays as it is written; --remove leaves them as they were before, to the byte
/// where nobody changed them since, and takes away what was made.
#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own on the command line")]
pub struct SetupArgs {
    /// The host
    #[arg(value_name = "HOST")]
    pub host: Host,
    /// Take out what setup put in
    #[arg(long)]
    pub remove: bool,
    /// Do not ask
    #[arg(long, short)]
    pub yes: bool,
    /// Only show what would change
    #[arg(long)]
    pub dry_run: bool,
    /// The files of a project, in this folder or the one that is named, instead of the user's
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = ".")]
    pub project: Option<PathBuf>,
    /// Hooks alone: no server
    #[arg(long, conflicts_with = "no_hooks")]
    pub no_server: bool,
    /// The server alone: no hooks
    #[arg(long)]
    pub no_hooks: bool,
    /// A hook for each use of a tool on a file too: it gives what is known of that file
    #[arg(long, conflicts_with = "no_hooks")]
    pub tools: bool,
    /// How the host is to call bower [default: this program's whole path; with --project, bower]
    #[arg(long, value_name = "PROGRAM")]
    pub program: Option<String>,
}
