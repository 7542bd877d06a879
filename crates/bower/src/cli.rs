//! Defines and parses the command line.
//! Nothing here reads a file, a clock or an environment variable.

#![expect(
    clippy::doc_markdown,
    reason = "doc comments here are the help that a terminal shows: no backticks"
)]

mod agents;
mod cache;
#[cfg(test)]
mod documents;
mod graph;
mod index;
mod life;
mod llm;
mod mcp;
mod models;
mod moving;
mod serve;
mod tags;

use bower_core::item::{Author, Gate, Kind, MemoryType, Profile, Rerank, Scope, Status, When};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::str::FromStr;

use crate::service::LISTED;

pub use agents::{BriefArgs, HookArgs, SetupArgs};
pub use cache::{BenchArgs, BenchKind, CacheAction, CacheArgs, WarmArgs};
pub use graph::{GraphAction, GraphArgs, GraphForm, RelateArgs};
pub use index::IndexArgs;
pub use life::{ConsolidateArgs, FeedbackArgs, PinArgs, PruneArgs, SweepArgs, UndoArgs};
pub use llm::{LlmAction, LlmArgs};
pub use mcp::McpArgs;
pub use models::{ModelAction, ModelArgs, ModelSource};
pub use moving::{ExportArgs, Form, ImportArgs, MigrateArgs, MigrateFrom};
pub use serve::{ServeArgs, TokenAction, TokenArgs, TokenCreateArgs};
pub use tags::{TagListArgs, TagsAction, TagsArgs};

/// A memory and a library for AI agents: one binary, one folder, no network needed
#[derive(Debug, Parser)]
#[command(
    name = "bower",
    version,
    max_term_width = 100,
    after_help = "Start with: bower index FOLDER, then bower query \"a question\". \
                  Data goes to standard output, talk to standard error.\n\
                  Exit status: 0 done, 1 not found, 2 wrong usage, 3 environment or data, 4 internal error."
)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

/// Flags of every command.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Everywhere")]
pub struct Global {
    /// The folder that holds everything [default: $BOWER_HOME, else ~/.bowerbird]
    #[arg(long, global = true, value_name = "DIR")]
    pub home: Option<PathBuf>,
    /// Output format [default: text on a terminal, json elsewhere]
    #[arg(long, global = true, value_name = "FORMAT")]
    pub format: Option<Format>,
    /// When to colour; auto honours NO_COLOR
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
    /// Use a setting for this run only (see `bower config`); may be given again
    #[arg(long = "set", global = true, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Say more: causes of errors, every skipped file
    #[arg(long, short, global = true)]
    pub verbose: bool,
    /// Say nothing on standard error but errors
    #[arg(long, short, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
}

/// Output formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    Text,
    /// One envelope {"command","success","data"}
    Json,
    /// `query` and `brief` only: a block for a prompt
    Context,
}

/// When to colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Even into a pipe
    Always,
    /// Not at all
    Never,
}

/// Commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Ask a question: ranked items with the reasons for their rank
    Query(QueryArgs),
    /// Keep a memory
    Curate(CurateArgs),
    /// Index files and folders, reading only what changed
    Index(IndexArgs),
    /// Show one item
    Get(IdArgs),
    /// List items, newest first
    List(ListArgs),
    /// Show the graph: entities, what is near them, and how they are connected
    Graph(GraphArgs),
    /// State how two memories or two names are related, or take it back
    Relate(RelateArgs),
    /// List tags with their numbers of items; rename, merge, export and import them
    Tags(Box<TagsArgs>),
    /// Delete items for good, out of every table, index and log, and print a receipt
    Forget(ForgetArgs),
    /// Show the texts of a memory over time and its events, oldest first; works for deleted ones too
    History(IdArgs),
    /// Show contradictions that no rule could decide, and decide which side is right
    Review(ReviewArgs),
    /// Settle what a memory is to an earlier one: it replaces it, says the same, or is a different fact
    Settle(SettleArgs),
    /// Record that a memory was useful, is wrong or is stale, which changes its confidence
    Feedback(FeedbackArgs),
    /// Pin a memory, so that it never fades
    Pin(PinArgs),
    /// Run the daily maintenance: promote candidates, fade and archive unused memories, enforce the limits of scopes
    Sweep(SweepArgs),
    /// Archive memories of low importance
    Prune(PruneArgs),
    /// Make patterns of similar memories, which are archived as examples
    Consolidate(ConsolidateArgs),
    /// Reverse an event (a sweep, a pruning, a pattern, something kept or replaced), or everything that one session, host or
    /// source wrote
    Undo(UndoArgs),
    /// Copy the store into a new file while other processes write
    Backup(BackupArgs),
    /// Replace the store by a backup that was checked first; the old store is kept beside it
    Restore(RestoreArgs),
    /// Export memories: as JSON lines that lose nothing, as files to edit, or as files that agents load
    Export(ExportArgs),
    /// Import an export, an edited folder, conversations of ChatGPT or Claude, or a transcript
    Import(ImportArgs),
    /// Import the memories of another program
    Migrate(MigrateArgs),
    /// Serve agents by the Model Context Protocol on standard input and output
    Mcp(McpArgs),
    /// Print what an agent should know when a session begins: pinned memories, decisions, open questions and procedures
    Brief(BriefArgs),
    /// Run a hook of an agent's host: return context, or keep findings of the session
    Hook(HookArgs),
    /// Write the configuration of an agent's host, or remove it
    Setup(SetupArgs),
    /// Show how much is stored and whether the indexes match it
    Status,
    /// Serve the store to other programs over HTTP
    Serve(ServeArgs),
    /// Create, list and revoke tokens for bower serve
    Token(TokenArgs),
    /// Show or change settings
    Config(ConfigArgs),
    /// Examine the store, the model, links and canonical facts; salvage a damaged store; or search every file for words
    Doctor(DoctorArgs),
    /// Fetch, list and check local models
    Model(ModelArgs),
    /// Show the cache of vectors, or remove entries
    Cache(CacheArgs),
    /// Make missing vectors, and read the store and its indexes into memory
    Warm(WarmArgs),
    /// Measure this store: the time of questions, the recall of the vector search, files and memory
    Bench(BenchArgs),
    /// Show and test the language models of the settings
    Llm(LlmArgs),
    /// Evaluate the ranking on a labelled set
    Eval(EvalArgs),
    /// Print a completion script
    Completions(CompletionsArgs),
    /// Print the version and the commit it was built from
    Version,
}

impl Command {
    /// Returns the command's name in the envelope.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Query(_) => "query",
            Self::Curate(_) => "curate",
            Self::Index(_) => "index",
            Self::Get(_) => "get",
            Self::List(_) => "list",
            Self::Graph(_) => "graph",
            Self::Relate(_) => "relate",
            Self::Tags(_) => "tags",
            Self::Forget(_) => "forget",
            Self::History(_) => "history",
            Self::Review(_) => "review",
            Self::Settle(_) => "settle",
            Self::Feedback(_) => "feedback",
            Self::Pin(_) => "pin",
            Self::Sweep(_) => "sweep",
            Self::Prune(_) => "prune",
            Self::Consolidate(_) => "consolidate",
            Self::Undo(_) => "undo",
            Self::Backup(_) => "backup",
            Self::Restore(_) => "restore",
            Self::Export(_) => "export",
            Self::Import(_) => "import",
            Self::Migrate(_) => "migrate",
            Self::Mcp(_) => "mcp",
            Self::Brief(_) => "brief",
            Self::Hook(_) => "hook",
            Self::Setup(_) => "setup",
            Self::Status => "status",
            Self::Serve(_) => "serve",
            Self::Token(_) => "token",
            Self::Config(_) => "config",
            Self::Doctor(_) => "doctor",
            Self::Model(_) => "model",
            Self::Cache(_) => "cache",
            Self::Warm(_) => "warm",
            Self::Bench(_) => "bench",
            Self::Llm(_) => "llm",
            Self::Eval(_) => "eval",
            Self::Completions(_) => "completions",
            Self::Version => "version",
        }
    }
}

/// Selection of items.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Which items")]
pub struct SelectArgs {
    /// Only this collection; may be given again
    #[arg(long, value_name = "NAME", value_parser = filled)]
    pub collection: Vec<String>,
    /// Only memories of this type; may be given again
    #[arg(long = "type", value_name = "TYPE", value_parser = words::<MemoryType>(MemoryType::ALL.iter().map(|v| v.word())))]
    pub types: Vec<MemoryType>,
    /// Only items with this tag; given again, items must have them all
    #[arg(long, value_name = "TAG")]
    pub tag: Vec<String>,
    /// Only items that match this filter, e.g. '{"version": "v2", "chunk_size": {"$gt": 100}, "$contains": "retry"}'
    #[arg(long, value_name = "JSON")]
    pub filter: Option<String>,
    /// Only items written at or after: a date, an RFC 3339 time, "7d", "2 weeks ago", "yesterday"
    #[arg(long, value_name = "WHEN")]
    pub since: Option<String>,
    /// Only items written before: the same forms
    #[arg(long, value_name = "WHEN")]
    pub until: Option<String>,
    /// As the store was at this time: the same forms of time
    #[arg(long, value_name = "WHEN")]
    pub as_of: Option<String>,
    /// Only what was true at this time, as far as is known: the same forms of time
    #[arg(long, value_name = "WHEN")]
    pub valid_at: Option<String>,
    /// Only documents of this version, e.g. v2
    #[arg(long, value_name = "VERSION")]
    pub version: Option<String>,
    /// Only this scope
    #[arg(long, value_name = "SCOPE", value_parser = words::<Scope>(Scope::ALL.iter().map(|v| v.word())))]
    pub scope: Option<Scope>,
    /// Only items of this owner
    #[arg(long, value_name = "OWNER", value_parser = filled)]
    pub owner: Option<String>,
    /// Only documents at this path or in this folder, and memories of this source or conversation; may be given again
    #[arg(long, value_name = "PATH|NAME")]
    pub source: Vec<String>,
    /// Only items said by this author; may be given again
    #[arg(long, value_name = "AUTHOR", value_parser = words::<Author>(Author::ALL.iter().map(|v| v.word())))]
    pub said_by: Vec<Author>,
    /// Only memories, or only chunks of documents
    #[arg(long, value_name = "KIND", value_parser = words::<Kind>(Kind::ALL.iter().map(|v| v.word())))]
    pub kind: Option<Kind>,
    /// Only this status [default: candidate and active]; may be given again
    #[arg(long, value_name = "STATUS", value_parser = words::<Status>(Status::ALL.iter().map(|v| v.word())))]
    pub status: Vec<Status>,
}

/// `bower query`
#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own on the command line")]
pub struct QueryArgs {
    /// The question, any text; `-` reads standard input, and text that begins with - goes after --
    #[arg(required = true, value_name = "TEXT")]
    pub text: Vec<String>,
    /// Number of hits, 1 to 50 [default: 10; 3 with --format context and no --budget]
    #[arg(long, short = 'n', value_name = "N", value_parser = clap::value_parser!(u16).range(1..=50))]
    pub limit: Option<u16>,
    /// Search words only: no model is loaded, and no reranker is used but one that --rerank names
    #[arg(long)]
    pub fast: bool,
    /// The set of retrieval settings that ranks [default: the setting `profile`]
    #[arg(long, value_name = "PROFILE", value_parser = words::<Profile>(Profile::ALL.iter().map(|v| v.word())))]
    pub profile: Option<Profile>,
    /// The reranker for the best hits where their order is uncertain [default: the setting `rerank`; none with --fast]
    #[arg(long, value_name = "RERANKER", value_parser = words::<Rerank>(Rerank::ALL.iter().map(|v| v.word())))]
    pub rerank: Option<Rerank>,
    /// Effect of times in the question: none, raise hits that match, or lower hits that do not
    #[arg(long, value_name = "HOW", default_value = "soft", value_parser = words::<When>(When::ALL.iter().map(|v| v.word())))]
    pub when: When,
    /// Prefer hits that differ from better ones: 1 is relevance alone, 0 difference alone [default: the setting `diversity`]
    #[arg(long, value_name = "LAMBDA")]
    pub diversity: Option<f32>,
    /// Leave out hits whose probability is below this, 0 to 1
    #[arg(long, value_name = "PROBABILITY", default_value_t = 0.0)]
    pub min_score: f32,
    /// Leave out weak matches, and all hits if nothing seems to answer the question
    #[arg(long)]
    pub strict: bool,
    /// Pack evidence into this many tokens, 32 or more: the best whole sentences of as many hits as fit, each piece cited
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(32..=1_000_000))]
    pub budget: Option<u32>,
    /// Leave out items that this session was given before, and record what it is given now; any text, the same in each turn
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// For queries that no user asked: return only hits that share rare words with the text or are clearly close to it
    #[arg(long)]
    pub prefetch: bool,
    /// Show this many neighbours before and after each hit in its document, 1 to 10
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=10))]
    pub around: Option<u16>,
    /// Show each channel's rank and raw score, the path over the graph, and what the answer cost
    #[arg(long)]
    pub explain: bool,
    #[command(flatten)]
    pub select: SelectArgs,
}

/// `bower curate`
#[derive(Args, Debug)]
pub struct CurateArgs {
    /// The text to keep; `-` reads standard input, and text that begins with - goes after --
    #[arg(required_unless_present = "transcript", value_name = "TEXT")]
    pub text: Vec<String>,
    /// Read the transcript of a session instead (Claude Code, Codex, Gemini, Copilot, or objects with a role and a text).
    /// Decisions, corrections, statements and findings in it become candidates. Turns that were read before are not read again;
    /// `-` reads standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["text", "memory_type", "tags", "metadata", "pin", "conversation", "gate", "said_by", "replaces", "confirms", "different_from"])]
    pub transcript: Option<PathBuf>,
    /// With --transcript: the session's folder, so that briefings for another folder leave its candidates out
    #[arg(long, value_name = "PATH")]
    pub folder: Option<PathBuf>,
    /// With --transcript: the name of its user in it; what others say counts as external
    #[arg(long, value_name = "NAME", value_parser = filled)]
    pub me: Option<String>,
    /// With --transcript: only show what would be kept
    #[arg(long)]
    pub dry_run: bool,
    /// The type of the memory [default: derived from the text]
    #[arg(long = "type", value_name = "TYPE", value_parser = words::<MemoryType>(MemoryType::ALL.iter().map(|v| v.word())))]
    pub memory_type: Option<MemoryType>,
    /// Tags, separated by commas; may be given again
    #[arg(long, visible_alias = "tag", value_name = "TAGS", value_delimiter = ',')]
    pub tags: Vec<String>,
    /// A free field; numbers, true, false and null are kept as such, anything else as text; may be given again
    #[arg(long, value_name = "KEY=VALUE", value_parser = metadata_pair)]
    pub metadata: Vec<(String, serde_json::Value)>,
    /// The collection of the memory
    #[arg(long, value_name = "NAME", value_parser = filled)]
    pub collection: Option<String>,
    /// The scope in which it is visible
    #[arg(long, value_name = "SCOPE", default_value = "project", value_parser = words::<Scope>(Scope::ALL.iter().map(|v| v.word())))]
    pub scope: Scope,
    /// The owner of the memory
    #[arg(long, value_name = "OWNER", value_parser = filled)]
    pub owner: Option<String>,
    /// Pin it: it never fades, and a briefing always includes it
    #[arg(long)]
    pub pin: bool,
    /// The conversation that it came from
    #[arg(long, value_name = "ID")]
    pub conversation: Option<String>,
    /// How strictly it is checked before it is kept [default: the settings `gates` and `gate`]
    #[arg(long, value_name = "GATE", value_parser = words::<Gate>(Gate::ALL.iter().map(|v| v.word())))]
    pub gate: Option<Gate>,
    /// The author, for scripts: a memory from a tool, a document, an import or the web is a candidate until a person keeps it
    #[arg(long, value_name = "AUTHOR", default_value = "user", value_parser = words::<Author>(Author::ALL.iter().map(|v| v.word())))]
    pub said_by: Author,
    /// The program that its author runs in; bower undo --host reverses all that it wrote
    #[arg(long, value_name = "NAME", value_parser = filled)]
    pub host: Option<String>,
    /// The earlier memory that it replaces, whatever the rules say; a pinned one too
    #[arg(long, value_name = "ID", conflicts_with = "confirms")]
    pub replaces: Option<String>,
    /// The earlier memory that says the same; the text is kept as another wording of it
    #[arg(long, value_name = "ID")]
    pub confirms: Option<String>,
    /// An earlier memory that is a different fact; may be given again
    #[arg(long, value_name = "ID")]
    pub different_from: Vec<String>,
}

/// `bower settle`
#[derive(Args, Debug)]
pub struct SettleArgs {
    /// The memory, or its first digits where they are unique
    #[arg(value_name = "NEW")]
    pub id: String,
    #[command(flatten)]
    pub what: PairArgs,
    #[command(flatten)]
    pub visibility: VisibilityArgs,
}

/// What a memory is to an earlier one: exactly one of these.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
pub struct PairArgs {
    /// It takes the earlier memory's place; a pinned one's too
    #[arg(long, value_name = "OLD")]
    pub replaces: Option<String>,
    /// It says the same: its text becomes another wording of the earlier memory
    #[arg(long, value_name = "OLD")]
    pub confirms: Option<String>,
    /// The two are different facts
    #[arg(long, value_name = "OLD")]
    pub different_from: Option<String>,
}

/// `bower get` and `bower history`
#[derive(Args, Debug)]
pub struct IdArgs {
    /// The item's id, or its first digits where they are unique
    #[arg(value_name = "ID")]
    pub id: String,
    #[command(flatten)]
    pub visibility: VisibilityArgs,
}

/// Limits on the items that a command may see. Items outside do not exist for it; without these flags it sees everything.
#[derive(Args, Clone, Debug, Default)]
pub struct VisibilityArgs {
    /// Only within this scope: items outside are not found
    #[arg(long, global = true, value_name = "SCOPE", value_parser = words::<Scope>(Scope::ALL.iter().map(|v| v.word())))]
    pub scope: Option<Scope>,
    /// Only items of this owner: others are not found
    #[arg(long, global = true, value_name = "OWNER", value_parser = filled)]
    pub owner: Option<String>,
    /// Only in this collection (repeatable): items in others are not found
    #[arg(long, global = true, value_name = "NAME", value_parser = filled)]
    pub collection: Vec<String>,
}

/// `bower review`
#[derive(Args, Debug)]
pub struct ReviewArgs {
    #[command(subcommand)]
    pub action: Option<ReviewAction>,
    #[command(flatten)]
    pub visibility: VisibilityArgs,
}

/// Actions on reviews; without one, the open ones are listed.
#[derive(Debug, Subcommand)]
pub enum ReviewAction {
    /// List open reviews with both sides
    List {
        /// Also those that are settled
        #[arg(long)]
        all: bool,
    },
    /// The newer side is right: it replaces the older one
    Accept {
        /// The review's number
        #[arg(value_name = "N")]
        review: u64,
    },
    /// The older side is right: the newer is superseded
    Reject {
        /// The review's number
        #[arg(value_name = "N")]
        review: u64,
    },
    /// Make candidates memories; several may be named
    Keep {
        /// Ids of candidates, or their first digits (at least 6)
        #[arg(required_unless_present = "source", conflicts_with = "source", value_name = "ID")]
        ids: Vec<String>,
        /// All unreviewed memories with this source or conversation, e.g. brv
        #[arg(long, value_name = "NAME", value_parser = filled)]
        source: Option<String>,
    },
    /// Archive candidates; several may be named
    Drop {
        /// Ids of candidates, or their first digits (at least 6)
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
    },
    /// Both are right and stay
    Both {
        /// The review's number
        #[arg(value_name = "N")]
        review: u64,
    },
    /// Replace both by one text
    Merge {
        /// The review's number
        #[arg(value_name = "N")]
        review: u64,
        /// The text; `-` reads standard input
        #[arg(required = true, value_name = "TEXT")]
        text: Vec<String>,
    },
}

/// `bower list`
#[derive(Args, Debug)]
pub struct ListArgs {
    /// Number of items
    #[arg(long, short = 'n', value_name = "N", default_value_t = LISTED, value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: u32,
    /// Items to leave out at the start
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub offset: u32,
    #[command(flatten)]
    pub select: SelectArgs,
}

/// `bower forget`
///
/// Deletes memories and chunks of documents for good: text, vector, terms, tags, keywords, fields, relations, reviews, cached
/// questions with the same text, and the texts in events, from the store, its log, its indexes and the free space of its file.
/// When the command ends, no file of the store has a trace, or the receipt names the obstacle. If a process is killed, a later
/// command completes the deletion. The history keeps ids, times, rules and figures.
///
/// Items derived from a forgotten one are deleted too. These are an earlier or later version of the memory, or one related to it,
/// that contains each of its sentences. A pattern that contains one of its sentences is deleted, and so are the chunks of its
/// document that overlap it. --keep-derived leaves them. Other items with the same content are named, and stay.
///
/// Documents themselves are not deleted: a forgotten chunk comes back when its file changes and is indexed again. Backups and
/// exports that you made are not deleted either; those below the home that contain the text are named. Copies that
/// `bower restore` kept beside the store lose the same items.
#[derive(Args, Debug)]
pub struct ForgetArgs {
    /// Ids of items, or their first digits (at least 6) where they are unique
    #[arg(value_name = "ID")]
    pub ids: Vec<String>,
    /// Only show what would be deleted
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask for confirmation
    #[arg(long, short)]
    pub yes: bool,
    /// Keep derived items: longer forms, patterns, overlapping chunks
    #[arg(long)]
    pub keep_derived: bool,
    #[command(flatten)]
    pub select: SelectArgs,
}

/// `bower doctor`
#[derive(Args, Debug)]
pub struct DoctorArgs {
    /// Search every file below the home for these words, as bytes in UTF-8 and UTF-16 and in any case; `-` reads them from
    /// standard input, so that no command history keeps them. The exit status is 1 if they are found
    #[arg(long, value_name = "WORDS")]
    pub residue: Option<String>,
    /// List documents that share most of their text: translations of a format, older editions, copies in other folders
    #[arg(long, conflicts_with = "residue")]
    pub copies: bool,
    /// Write the readable part of a damaged store into this new folder, which becomes a home, and list what is unreadable. The
    /// old files are not changed
    #[arg(long, value_name = "DIR", conflicts_with_all = ["residue", "copies"])]
    pub salvage: Option<PathBuf>,
    /// Accept that acknowledged changes are missing: answers no longer report it, and the files that were set aside are removed
    #[arg(long, conflicts_with_all = ["residue", "copies", "salvage"])]
    pub accept_loss: bool,
    /// List the memories that name files, symbols or commits which were moved, changed or removed since. The exit status is 1
    /// if there are any
    #[arg(long, conflicts_with_all = ["residue", "salvage", "accept_loss"])]
    pub anchors: bool,
}

/// `bower backup`
#[derive(Args, Debug)]
pub struct BackupArgs {
    /// The file to create; an existing file is not overwritten
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

/// `bower restore`
#[derive(Args, Debug)]
pub struct RestoreArgs {
    /// A file that `bower backup` made, or any memory.db
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Do not ask for confirmation
    #[arg(long, short)]
    pub yes: bool,
}

/// `bower config`
#[derive(Args, Debug)]
pub struct ConfigArgs {
    #[command(subcommand)]
    pub action: Option<ConfigAction>,
}

/// Actions on settings; without one, they are shown.
#[derive(Debug, Subcommand)]
pub enum ConfigAction {
    /// Print the path of the settings file
    Path,
    /// Write a setting to the file, keeping its comments
    Set {
        /// The setting
        key: String,
        /// Its value
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
    /// Remove a setting from the file
    Unset {
        /// The setting
        key: String,
    },
}

/// `bower eval`
#[derive(Args, Debug)]
pub struct EvalArgs {
    /// A BEIR folder: corpus.jsonl, queries.jsonl, qrels.tsv
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// The set of retrieval settings to evaluate [default: the setting `profile`]
    #[arg(long, value_name = "PROFILE", value_parser = words::<Profile>(Profile::ALL.iter().map(|v| v.word())))]
    pub profile: Option<Profile>,
    /// The k of nDCG@k, Recall@k and MRR@k
    #[arg(long, value_name = "K", default_value_t = 10, value_parser = eval_cutoff)]
    pub limit_k: usize,
    /// Compare two profiles on one index, question by question: the second minus the first
    #[arg(long, num_args = 2, value_names = ["PROFILE", "PROFILE"], conflicts_with = "profile", value_parser = words::<Profile>(Profile::ALL.iter().map(|v| v.word())))]
    pub compare: Option<Vec<Profile>>,
    /// Evaluate the ranking without each channel and each factor of the default profile in turn
    #[arg(long)]
    pub ablate: bool,
    /// Evaluate probabilities and abstention too; asks each question again without its judged documents
    #[arg(long)]
    pub calibration: bool,
    /// Measure how much of the relevant documents fits 256, 512, 1,024 and 2,048 tokens
    #[arg(long)]
    pub evidence: bool,
    /// Show, for one question, the ranks of its judged documents and the reasons; nothing else is evaluated
    #[arg(long, value_name = "QUERY_ID", conflicts_with_all = ["compare", "ablate", "calibration", "evidence", "features", "factors"])]
    pub explain: Option<String>,
    /// Write the features of the best hits' probabilities, one line of JSON a hit, for tools/calibrate.py
    #[arg(long, value_name = "FILE")]
    pub features: Option<PathBuf>,
    /// Write the factors of all candidates' scores, one line of JSON a question, for tools/fit_rank.py
    #[arg(long, value_name = "FILE")]
    pub factors: Option<PathBuf>,
}

/// `bower completions`
#[derive(Args, Debug)]
pub struct CompletionsArgs {
    /// The shell to complete for
    pub shell: clap_complete::Shell,
}

/// Parses a word from a list, so that help and completion list the words and a misspelled one is answered with the nearest.
fn words<T>(all: impl Iterator<Item = &'static str>) -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err = bower_core::Error> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(all).try_map(|word| word.parse::<T>())
}

/// Accepts text that is not blank.
pub fn filled(text: &str) -> Result<String, String> {
    if text.trim().is_empty() {
        Err("it is blank: leave it out, or give a name".into())
    } else {
        Ok(text.to_owned())
    }
}

/// Accepts 1 to 100, the range of judged cutoffs.
fn eval_cutoff(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|k| (1..=100).contains(k)).ok_or_else(|| format!("{text} is not in 1..=100"))
}

/// Parses `port=8080` as a number, but `version=1.10` as text, because as a number it would become 1.1.
fn metadata_pair(pair: &str) -> Result<(String, serde_json::Value), String> {
    let (key, value) = pair.split_once('=').ok_or("write KEY=VALUE")?;
    if key.trim().is_empty() {
        return Err("the key before = is empty".into());
    }
    let scalar = serde_json::from_str::<serde_json::Value>(value)
        .ok()
        .filter(|parsed| !parsed.is_object() && !parsed.is_array() && !parsed.is_string())
        .filter(|parsed| parsed.to_string().as_str() == value);
    Ok((key.trim().to_string(), scalar.unwrap_or_else(|| value.into())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use serde_json::json;

    #[test]
    fn the_command_line_holds_together() {
        Cli::command().debug_assert();
    }

    #[test]
    fn metadata_keeps_what_was_typed() {
        let check = |pair: &str, key: &str, value| {
            assert_eq!(metadata_pair(pair).unwrap(), (key.to_string(), value), "{pair}");
        };
        check("port=8080", "port", json!(8080));
        check("version=1.10", "version", json!("1.10"));
        check("big=10000000000000000000000", "big", json!("10000000000000000000000"));
        check("on=true", "on", json!(true));
        check("url=http://a/?b=c", "url", json!("http://a/?b=c"));
        check("empty=", "empty", json!(""));
        check("list=[1]", "list", json!("[1]"));
        assert!(metadata_pair("port").is_err());
        assert!(metadata_pair("=1").is_err());
    }

    #[test]
    fn text_after_two_dashes_may_begin_with_one() {
        let cli = Cli::try_parse_from(["bower", "query", "-n", "3", "--", "--fast", "-x"]).unwrap();
        let Command::Query(query) = cli.command else { panic!("not a query") };
        assert_eq!(
            (query.text, query.limit, query.fast),
            (vec!["--fast".into(), "-x".into()], Some(3), false)
        );
    }

    #[test]
    fn a_version_filter_is_not_the_version_flag() {
        let cli = Cli::try_parse_from(["bower", "query", "x", "--version", "v2"]).unwrap();
        let Command::Query(query) = cli.command else { panic!("not a query") };
        assert_eq!(query.select.version.as_deref(), Some("v2"));
        let error = Cli::try_parse_from(["bower", "--version"]).unwrap_err();
        assert_eq!(error.kind(), clap::error::ErrorKind::DisplayVersion);
    }
}
