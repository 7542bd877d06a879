//! Parses the arguments of `ByteRover`'s command line, as far as this program has an equivalent.

#![expect(
    clippy::doc_markdown,
    reason = "doc comments here are the help that a terminal shows: no backticks"
)]

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::cli::filled;

/// ByteRover's command line, answered by Bowerbird: the same commands, one local store, no network
#[derive(Debug, Parser)]
#[command(name = "brv", version, max_term_width = 100)]
pub(super) struct Brv {
    /// The folder that holds everything [default: $BOWER_HOME, else ~/.bowerbird]
    #[arg(long, global = true, value_name = "DIR")]
    pub home: Option<PathBuf>,
    /// The collection of this project [default: made from the project's folder]
    #[arg(long, global = true, value_name = "NAME", value_parser = filled)]
    pub collection: Option<String>,
    #[command(subcommand)]
    pub action: Action,
}

#[derive(Debug, Subcommand)]
pub(super) enum Action {
    /// Ask a question, and get the evidence as one text
    Query(QueryArgs),
    /// Keep something
    Curate(CurateArgs),
    /// Ask a question, and get a list of hits
    Search(SearchArgs),
    /// Show what is kept for this project, and where
    Status(StatusArgs),
    /// Serve agents by the Model Context Protocol, with the tools brv-query and brv-curate
    Mcp(ServeArgs),
    /// Do nothing: the store is made when it is needed
    Init(InitArgs),
}

/// Output formats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Form {
    /// For people and prompts
    #[default]
    Text,
    /// One JSON object a line
    Json,
}

/// Returns the name of the requested action, even if the arguments are otherwise invalid.
pub(super) fn action_of(arguments: &[OsString]) -> String {
    let brv = Brv::command();
    let mut words = arguments.iter().skip(1).filter_map(|word| word.to_str());
    while let Some(word) = words.next() {
        if matches!(word, "--collection" | "--home" | "--format") {
            // The next word is the value of this option, whatever its name.
            words.next();
        } else if brv.find_subcommand(word).is_some() {
            return word.to_owned();
        }
    }
    "brv".to_owned()
}

/// Whether arguments that cannot be parsed request JSON. A program that reads JSON lines gets the error as one, too.
pub(super) fn asks_for_json(arguments: &[OsString]) -> bool {
    let before_text = arguments.iter().map_while(|one| one.to_str().filter(|one| *one != "--"));
    let given: Vec<&str> = before_text.collect();
    // With other actions `-f` names a file.
    let is_status = action_of(arguments) == "status";
    let names = |name: &str| name == "--format" || (name == "-f" && is_status);
    given.contains(&"--format=json") || given.windows(2).any(|two| names(two[0]) && two[1] == "json")
}

#[derive(Args, Debug)]
pub(super) struct QueryArgs {
    /// The question; text that begins with - goes after --
    #[arg(value_name = "TEXT")]
    pub text: Vec<String>,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Form,
    /// Accepted and ignored: nothing here waits
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<u32>,
}

#[derive(Args, Debug)]
pub(super) struct CurateArgs {
    /// What to keep; text that begins with - goes after --
    #[arg(value_name = "TEXT")]
    pub text: Vec<String>,
    /// Return at once; by then the text is on disk, and it is processed afterwards
    #[arg(long)]
    pub detach: bool,
    /// A file that belongs to the text; up to five
    #[arg(long, short, value_name = "PATH")]
    pub files: Vec<PathBuf>,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Form,
    /// Accepted and ignored: nothing here waits
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<u32>,
    /// Process one entry of the queue
    #[arg(long, value_name = "ENTRY", hide = true)]
    pub queued: Option<String>,
}

#[derive(Args, Debug)]
pub(super) struct SearchArgs {
    /// The question; text that begins with - goes after --
    #[arg(value_name = "TEXT")]
    pub text: Vec<String>,
    /// Number of results
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=50))]
    pub limit: u16,
    /// Only items from this path or below it
    #[arg(long, value_name = "PATH")]
    pub scope: Option<String>,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Form,
}

#[derive(Args, Debug)]
pub(super) struct StatusArgs {
    /// Output format
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    pub format: Form,
    /// The project's folder
    #[arg(long, value_name = "DIR")]
    pub project_root: Option<PathBuf>,
    /// Show how the project's folder was found
    #[arg(long, short)]
    pub verbose: bool,
}

#[derive(Args, Debug)]
pub(super) struct ServeArgs {}

#[derive(Args, Debug)]
pub(super) struct InitArgs {
    /// Accepted and ignored
    #[arg(long, short)]
    pub force: bool,
}

impl Action {
    /// Returns the name of the command for output lines.
    pub(super) const fn word(&self) -> &'static str {
        match self {
            Self::Query(_) => "query",
            Self::Curate(_) => "curate",
            Self::Search(_) => "search",
            Self::Status(_) => "status",
            Self::Mcp(_) => "mcp",
            Self::Init(_) => "init",
        }
    }

    /// Returns the requested output format.
    pub(super) const fn form(&self) -> Form {
        match self {
            Self::Query(arguments) => arguments.format,
            Self::Curate(arguments) => arguments.format,
            Self::Search(arguments) => arguments.format,
            Self::Status(arguments) => arguments.format,
            Self::Mcp(_) | Self::Init(_) => Form::Text,
        }
    }

    /// Returns the project's folder if the arguments name one.
    pub(super) fn root(&self) -> Option<&Path> {
        match self {
            Self::Status(arguments) => arguments.project_root.as_deref(),
            Self::Query(_) | Self::Curate(_) | Self::Search(_) | Self::Mcp(_) | Self::Init(_) => None,
        }
    }
}
