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
    /// Where to: a file, - for standard output, or for markdown and memory-md a folder [default: -]
    #[arg(value_name = "FILE|-|FOLDER")]
    pub to: Option<PathBuf>,
    /// In which form
    #[arg(long = "as", value_name = "FORM", default_value = "jsonl")]
    pub form: Form,
    /// Superseded and archived memories too: whole chains
    #[arg(long, conflicts_with = "status")]
    pub all: bool,
    /// jsonl: indexed documents too; one that has a selected chunk goes whole
    #[arg(long)]
    pub documents: bool,
    /// jsonl: vectors too, so that the next store need not make them
    #[arg(long)]
    pub vectors: bool,
    /// memory-md: how many tokens all files may have together
    #[arg(long, value_name = "TOKENS", default_value_t = 4_000, value_parser = clap::value_parser!(u32).range(64..=10_000_000))]
    pub budget: u32,
    /// Replace a file that is there, or edits in a folder that were not imported
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub select: SelectArgs,
}

/// The forms of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Form {
    /// One piece a line, nothing lost: to move a store or to keep it
    Jsonl,
    /// One file a memory, to read and to edit; bower import takes the edits back
    Markdown,
    /// MEMORY.md and a file for each type, for agents that load files
    MemoryMd,
}

/// `bower import`
#[derive(Args, Debug)]
pub struct ImportArgs {
    /// Exports of bower (files, edited folders), of ChatGPT or Claude (zip or conversations.json), transcripts and sessions of
    /// Claude Code or Codex (JSON lines), folders of them; - reads standard input
    #[arg(required = true, value_name = "FILE|FOLDER")]
    pub paths: Vec<PathBuf>,
    /// Only say what would come in
    #[arg(long)]
    pub dry_run: bool,
    /// Archive memories whose files were deleted from an edited folder
    #[arg(long)]
    pub delete: bool,
    /// Conversations: each turn goes through the gate and becomes a candidate of a memory, instead of a document
    #[arg(long)]
    pub as_memories: bool,
    /// Conversations: what you are called, where an archive only says "user"
    #[arg(long, value_name = "NAME")]
    pub me: Option<String>,
    /// Where conversations and new memories go [default: sessions, and the setting `memory_collection`]
    #[arg(long, value_name = "NAME", value_parser = filled)]
    pub collection: Option<String>,
    /// Who may see what comes in, whoever might before
    #[arg(long, value_name = "SCOPE", value_parser = words::<Scope>(Scope::ALL.iter().map(|v| v.word())))]
    pub scope: Option<Scope>,
    /// Whose it becomes, whoever's it was
    #[arg(long, value_name = "OWNER", value_parser = filled)]
    pub owner: Option<String>,
}

/// `bower migrate`
#[derive(Args, Debug)]
pub struct MigrateArgs {
    #[command(subcommand)]
    pub from: MigrateFrom,
}

/// Other programs' stores.
#[derive(Debug, Subcommand)]
pub enum MigrateFrom {
    /// The context tree of brv; what is there already stays as it is
    FromBrv {
        /// The project, its .brv or the context tree itself
        #[arg(long, value_name = "DIR", default_value = ".")]
        path: PathBuf,
        /// Only say what would come in
        #[arg(long)]
        dry_run: bool,
    },
}
