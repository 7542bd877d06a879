//! Names the memory systems whose tools can be offered.

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
