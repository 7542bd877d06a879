//! Arguments of `bower tags`.

#![expect(
    clippy::doc_markdown,
    reason = "doc comments here are the help that a terminal shows: no backticks"
)]

use clap::{Args, Subcommand};
use std::path::PathBuf;

use super::{SelectArgs, filled};

/// `bower tags`
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub struct TagsArgs {
    #[command(subcommand)]
    pub action: Option<TagsAction>,
    #[command(flatten)]
    pub list: TagListArgs,
}

/// Actions on tags; without one, they are listed.
#[derive(Debug, Subcommand)]
pub enum TagsAction {
    /// List tags with their numbers of items, by name
    List(Box<TagListArgs>),
    /// Rename a tag, and the tags nested below it, on all memories and documents
    ///
    /// The renaming also applies to what is written later. A file that is indexed again does not bring the old name back.
    /// bower undo EVENT reverses it.
    Rename {
        /// The tag, with or without #
        #[arg(value_name = "OLD")]
        old: String,
        /// Its new name, which no item has yet
        #[arg(value_name = "NEW")]
        new: String,
        /// Only show how many items would change
        #[arg(long)]
        dry_run: bool,
    },
    /// Merge tags into one: items with any of them get the target instead. Like a renaming, it is kept
    Merge {
        /// The tags, with or without #
        #[arg(required = true, value_name = "TAG")]
        tags: Vec<String>,
        /// The tag that takes their place; it may be new
        #[arg(long, value_name = "TAG")]
        into: String,
        /// Only show how many items would change
        #[arg(long)]
        dry_run: bool,
    },
    /// Write the tags of documents as Markdown tables, TAG_INDEX_A.md and so on: tag to files, and file to tags
    ///
    /// There is a file for each first letter that occurs, and TAG_INDEX_OTHER.md for tags that begin with none of A to Z. The
    /// same tags make the same bytes, so that the folder can be kept under version control.
    Export {
        /// The folder
        #[arg(value_name = "DIR")]
        dir: PathBuf,
        /// Write paths below this folder relative to it
        #[arg(long, value_name = "FOLDER")]
        root: Option<PathBuf>,
        #[command(flatten)]
        select: Box<SelectArgs>,
    },
    /// Read such tables, and give the documents of the store the tags that they lack
    ///
    /// Nothing is removed, and documents that are not in the store are listed. A table that cannot be read is an error, and
    /// then nothing is written. bower undo EVENT reverses it.
    Import {
        /// The folder with TAG_INDEX_*.md
        #[arg(value_name = "DIR")]
        dir: PathBuf,
        /// Relative paths are below this folder [default: the current folder]
        #[arg(long, value_name = "FOLDER")]
        root: Option<PathBuf>,
        /// Only show what would change
        #[arg(long)]
        dry_run: bool,
    },
}

/// Arguments of a list of tags.
#[derive(Args, Clone, Debug, Default)]
pub struct TagListArgs {
    /// Only this tag and those nested below it, e.g. infra/db
    #[arg(long, value_name = "TAG", value_parser = filled)]
    pub under: Option<String>,
    #[command(flatten)]
    pub select: SelectArgs,
}
