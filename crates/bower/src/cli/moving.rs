//! Arguments of `bower export`, `bower import` and `bower migrate`.

#![expect(
    clippy::doc_markdown,
    reason = "doc comments here are the help that a terminal shows: no backticks"
)]

use bower_core::item::Scope;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

use super::{SelectArgs, filled, words};

/// `bower export`
#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own on the command line")]
pub struct ExportArgs {
    /// The target: a file, - for standard output, or for markdown and memory-md a folder [default: -]
    #[arg(value_name = "FILE|-|FOLDER")]
    pub to: Option<PathBuf>,
    /// The format
    #[arg(long = "as", value_name = "FORM", default_value = "jsonl")]
    pub form: Form,
    /// Also superseded and archived memories: whole chains
    #[arg(long, conflicts_with = "status")]
    pub all: bool,
    /// jsonl: also indexed documents; one that has a selected chunk is exported as a whole
    #[arg(long)]
    pub documents: bool,
    /// jsonl: also vectors, so that the next store need not compute them
    #[arg(long)]
    pub vectors: bool,
    /// memory-md: the most tokens of all files together
    #[arg(long, value_name = "TOKENS", default_value_t = 4_000, value_parser = clap::value_parser!(u32).range(64..=10_000_000))]
    pub budget: u32,
    /// Replace an existing file, or edits in a folder that were not imported
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub select: SelectArgs,
}

/// Formats of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Form {
    /// One object a line, nothing lost: to move or to archive a store
    Jsonl,
    /// One file a memory, to read and to edit; bower import reads the edits back
    Markdown,
    /// MEMORY.md and a file for each type, for agents that load files
    MemoryMd,
}

/// `bower import`
#[derive(Args, Debug)]
pub struct ImportArgs {
    /// Exports of bower (files, edited folders), of ChatGPT or Claude (zip or conversations.json), transcripts and sessions of
    /// Claude Code or Codex (JSON lines), memories of Claude Code, Codex, basic-memory, mem0, claude-mem, MemPalace, Hindsight
    /// or an OKF bundle, folders of them; - reads standard input
    #[arg(required = true, value_name = "FILE|FOLDER")]
    pub paths: Vec<PathBuf>,
    /// Only show what would be imported; of other programs' memories also what is junk, double, contradictory or stale
    #[arg(long)]
    pub dry_run: bool,
    /// Archive memories whose files were deleted from an edited folder
    #[arg(long)]
    pub delete: bool,
    /// Conversations: pass each turn through the gate as a candidate of a memory, instead of keeping it as a document
    #[arg(long)]
    pub as_memories: bool,
    /// Conversations: your name, if an archive only says "user"
    #[arg(long, value_name = "NAME")]
    pub me: Option<String>,
    /// The collection for conversations and new memories [default: sessions, and the setting `memory_collection`]
    #[arg(long, value_name = "NAME", value_parser = filled)]
    pub collection: Option<String>,
    /// The scope of everything that is imported, instead of the original one
    #[arg(long, value_name = "SCOPE", value_parser = words::<Scope>(Scope::ALL.iter().map(|v| v.word())))]
    pub scope: Option<Scope>,
    /// The owner of everything that is imported, instead of the original one
    #[arg(long, value_name = "OWNER", value_parser = filled)]
    pub owner: Option<String>,
}

/// `bower migrate`
#[derive(Args, Debug)]
pub struct MigrateArgs {
    #[command(subcommand)]
    pub from: MigrateFrom,
}

/// Stores of other programs.
#[derive(Debug, Subcommand)]
pub enum MigrateFrom {
    /// The context tree of brv; memories that exist already stay as they are
    FromBrv {
        /// The project, its .brv or the context tree itself
        #[arg(long, value_name = "DIR", default_value = ".")]
        path: PathBuf,
        /// Only show what would be imported
        #[arg(long)]
        dry_run: bool,
    },
}
