//! Offers the tools of other memory systems under their own names, so that what was written for them works unchanged.
//! Each answers in the shape of its own system, out of the same store.

pub mod ade;
pub mod athena;
mod brv;

use super::tools::Tool;

/// A system whose tools can be offered.
#[expect(clippy::doc_markdown, reason = "doc comments here are the help that a terminal shows: no backticks")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum System {
    /// smart_search, recall_session, quicksave, health_check, list_memory_paths; resources athena://…
    Athena,
    /// memorySearch, memoryAdd, memoryPin
    Ade,
    /// brv-query, brv-curate
    Brv,
}

impl System {
    /// Its tools.
    pub fn tools(self) -> &'static [Tool] {
        match self {
            Self::Athena => athena::TOOLS,
            Self::Ade => ade::TOOLS,
            Self::Brv => brv::TOOLS,
        }
    }
}
