//! Arguments of `bower mcp`, the server for agents.

use bower_core::item::Scope;
use clap::Args;

use super::{filled, words};
use crate::mcp::compat::System;

/// `bower mcp`
#[derive(Args, Debug)]
#[command(
    after_help = "An agent's host starts this by itself, e.g. claude mcp add bowerbird -- bower mcp. docs/mcp.md shows each host."
)]
pub struct McpArgs {
    /// The tools to offer: all, core (search, store, get, list, forget), or names with commas
    /// [default: twelve of Bowerbird's, or those of --compat]
    #[arg(long, value_name = "TOOLS")]
    pub tools: Option<String>,
    /// Offer the tools of another memory system under their names, instead of Bowerbird's (--tools all: beside them)
    #[arg(long, value_name = "SYSTEM")]
    pub compat: Option<System>,
    /// Reach only items of this scope, and keep new ones in it, whatever a tool's arguments say
    #[arg(long, value_name = "SCOPE", value_parser = words::<Scope>(Scope::ALL.iter().map(|v| v.word())))]
    pub scope: Option<Scope>,
    /// Reach only this owner's items, and keep new ones as theirs
    #[arg(long, value_name = "NAME", value_parser = filled)]
    pub owner: Option<String>,
    /// Reach only this collection, and keep new ones in it; may be given again
    #[arg(long, value_name = "NAME", value_parser = filled)]
    pub collection: Vec<String>,
    /// Offer no tool that changes the store
    #[arg(long)]
    pub read_only: bool,
    /// The conversation that memories are recorded with [default: a new name for each run]
    #[arg(long, value_name = "NAME")]
    pub session: Option<String>,
}
