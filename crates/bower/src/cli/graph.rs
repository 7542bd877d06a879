//! Arguments of `bower graph` and `bower relate`.

use bower_core::item::{EntityKind, Scope};
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

use super::{VisibilityArgs, filled, words};
use crate::service::{COMMUNITIES, RESOLUTION};

/// `bower graph`
///
/// The graph connects documents and memories by the names, links, tags and words that they mention. It is read from their texts
/// without a language model. Queries use it by themselves; these commands show it.
#[derive(Args, Debug)]
pub struct GraphArgs {
    #[command(subcommand)]
    pub action: GraphAction,
    #[command(flatten)]
    pub visibility: VisibilityArgs,
}

/// `bower relate`
///
/// Between two memories, named by their ids, the relation is kept beside them. Between two names it is kept as a memory that states it
/// and links both: `[[Ada]] works at [[Acme]].` It is found, forgotten and exported like any other memory, and connects the two in
/// the graph.
#[derive(Args, Debug)]
pub struct RelateArgs {
    /// What has the relation: a name, or the id of a memory
    #[arg(value_name = "FROM")]
    pub from: String,
    /// Between names a verb such as works_at; between memories causes, informs, contradicts, example_of, prerequisite_for, led_to or
    /// related_to
    #[arg(value_name = "TYPE")]
    pub relation: String,
    /// What it leads to
    #[arg(value_name = "TO")]
    pub to: String,
    /// Between memories: its strength, above 0 and up to 1 [default: 1]
    #[arg(long, value_name = "X")]
    pub strength: Option<f32>,
    /// Between names: the id of the item that proves it
    #[arg(long, value_name = "ID")]
    pub proof: Option<String>,
    /// Take the relation back
    #[arg(long)]
    pub undo: bool,
    /// Between names: the collection of the memory that states it
    #[arg(long, value_name = "NAME", value_parser = filled)]
    pub collection: Option<String>,
    /// Its scope: who may see it [default: project]
    #[arg(long, value_name = "SCOPE", value_parser = words::<Scope>(Scope::ALL.iter().map(|v| v.word())))]
    pub scope: Option<Scope>,
    /// Its owner
    #[arg(long, value_name = "OWNER", value_parser = filled)]
    pub owner: Option<String>,
}

/// Views of the graph.
#[derive(Debug, Subcommand)]
pub enum GraphAction {
    /// Show an entity: its spellings, and the items that mention it
    Entity {
        /// A name, #tag, or the path of a note
        #[arg(value_name = "NAME")]
        name: String,
        /// Number of mentions, 1 to 200
        #[arg(long, short = 'n', value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=200))]
        limit: u16,
    },
    /// Show the entities that are mentioned together with an entity or by an item, nearest first
    Neighbours {
        /// A name, #tag, the path of a note, or an item's id
        #[arg(value_name = "NAME|ID")]
        name: String,
        /// Steps from entity to entity, 1 to 4
        #[arg(long, value_name = "STEPS", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=4))]
        depth: u8,
        /// Only entities of this type; may be given again
        #[arg(long = "type", value_name = "TYPE", value_parser = words::<EntityKind>(EntityKind::ALL.iter().map(|v| v.word())))]
        kinds: Vec<EntityKind>,
        /// Number of neighbours at each step, 1 to 200
        #[arg(long, short = 'n', value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=200))]
        limit: u16,
    },
    /// Show how two entities or items are connected, with the text that proves each step; exit status 1 if they are not
    Path {
        /// Where it starts: a name, #tag, the path of a note, or an item's id
        #[arg(value_name = "FROM")]
        from: String,
        /// Where it ends
        #[arg(value_name = "TO")]
        to: String,
    },
    /// Show groups of documents, memories and entities with more connections within the group than to the rest
    Communities {
        /// How fine the communities are: at least 0, more with a higher one
        #[arg(long, value_name = "X", default_value_t = RESOLUTION)]
        resolution: f64,
        /// The level: 0 is the finest, each further one joins communities of the level before
        #[arg(long, value_name = "N", default_value_t = 0)]
        level: u8,
        /// Number of communities, the largest
        #[arg(long, short = 'n', value_name = "N", default_value_t = COMMUNITIES, value_parser = clap::value_parser!(u16).range(1..=200))]
        limit: u16,
    },
    /// State that two names mean the same entity, or take it back; names are never joined because they are similar
    Alias {
        /// A name, or a #tag
        #[arg(value_name = "NAME")]
        name: String,
        /// The other name
        #[arg(value_name = "OTHER")]
        other: String,
        /// Take the alias back
        #[arg(long)]
        undo: bool,
    },
    /// List the aliases that were stated, by entity
    Aliases {
        /// Only those of the entity with this name
        #[arg(value_name = "NAME")]
        name: Option<String>,
    },
    /// Let the language model of the settings read relations between names off the texts, which are sent to it
    ///
    /// Nothing is sent unless the settings llm, llm_url and llm_model name a model. It reads each text once. Its relations are kept apart
    /// from those that people state, and --remove deletes them.
    Extract {
        /// Number of items whose texts are sent [default: all]
        #[arg(long, short = 'n', value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        limit: Option<u32>,
        /// Only count what would be sent
        #[arg(long)]
        dry_run: bool,
        /// Remove all relations of a source instead, such as llm:NAME for the model of that name
        #[arg(long, value_name = "SOURCE", value_parser = filled, conflicts_with_all = ["limit", "dry_run"])]
        remove: Option<String>,
    },
    /// Write the graph for other programs, or as a page with a drawing
    Export {
        /// The form of the file
        #[arg(long = "as", value_name = "FORM", default_value = "json")]
        form: GraphForm,
        /// The file [default: standard output]
        #[arg(long, short = 'o', value_name = "FILE")]
        output: Option<PathBuf>,
        /// Replace a file that is there already
        #[arg(long)]
        force: bool,
        /// Number of nodes, the most strongly connected ones [default: all; 300 in a page]
        #[arg(long, short = 'n', value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        limit: Option<u32>,
        /// Only entities of this type; may be given again
        #[arg(long = "type", value_name = "TYPE", value_parser = words::<EntityKind>(EntityKind::ALL.iter().map(|v| v.word())))]
        kinds: Vec<EntityKind>,
    },
}

/// Forms of an exported graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GraphForm {
    /// An object with nodes and edges
    Json,
    /// GraphML, which Gephi, yEd and networkx read
    Graphml,
    /// DOT, which Graphviz draws
    Dot,
    /// One page with a drawing for a browser; it loads nothing
    Html,
}
