//! Every setting of the engine with its meaning, range and default. Layers (file, environment, flags) belong to the binary.

use serde::{Deserialize, Serialize};

/// How long a commit waits for the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sync {
    /// WAL with `synchronous=NORMAL`: nothing is lost when a process dies; the last commits may be when the power does.
    #[default]
    Normal,
    /// `synchronous=FULL`: nothing acknowledged is lost when the power goes either; each write waits for the disk.
    Full,
}

/// The engine's settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// How long a commit waits for the disk.
    pub sync: Sync,
    /// How long a write waits for another process's write, in milliseconds.
    pub busy_timeout_ms: u64,
    /// The local model's name, or `none` for words alone.
    pub model: String,
    /// Where models are kept; `models` in the home unless told.
    pub models_folder: Option<std::path::PathBuf>,
    /// Threads that embed while indexing; 0 is one per core.
    pub threads: usize,
    /// The collection that `index` writes to when none is named.
    pub document_collection: String,
    /// The collection that `curate` writes to when none is named.
    pub memory_collection: String,
    /// Markdown and HTML: the longest chunk, in characters (Atlas: 2,000).
    pub markdown_chunk_max: usize,
    /// Markdown and HTML: sections shorter than this join their neighbour, in characters (Atlas: 200).
    pub markdown_chunk_min: usize,
    /// Source code: the longest chunk, in characters (Atlas: 2,500).
    pub code_chunk_max: usize,
    /// Plain text: the longest chunk, in characters (Atlas: 1,000).
    pub text_chunk_max: usize,
    /// Plain text: characters that a chunk repeats of the one before (Atlas: 200).
    pub text_chunk_overlap: usize,
    /// Files larger than this are skipped and listed, in bytes.
    pub max_file_bytes: u64,
    /// Candidates that each channel gives to fusion (systems.md, section 1: 200 of each).
    pub candidates: usize,
    /// The constant of reciprocal rank fusion (Cormack, Clarke & Büttcher, SIGIR 2009: 60).
    pub rrf_k: f32,
    /// Changed rows that may wait outside an index before a process with time folds them in.
    pub fold_after: usize,
    /// Query vectors kept in the store's cache.
    pub cached_queries: usize,
    /// What a session was given is remembered for so many days, 1 to 3,650: longer than a conversation lasts.
    pub session_days: u32,
    /// Tokens of a block for a prompt where no budget is told (systems.md, section 1: 2,048).
    pub context_tokens: usize,
    /// Documents in a block for a prompt where no budget is told (systems.md, section 3: 3).
    pub context_documents: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            sync: Sync::Normal,
            busy_timeout_ms: 30_000,
            model: "all-MiniLM-L6-v2".into(),
            models_folder: None,
            threads: 0,
            document_collection: "documents".into(),
            memory_collection: "memories".into(),
            markdown_chunk_max: 2_000,
            markdown_chunk_min: 200,
            code_chunk_max: 2_500,
            text_chunk_max: 1_000,
            text_chunk_overlap: 200,
            max_file_bytes: 10 << 20,
            candidates: 200,
            rrf_k: 60.0,
            fold_after: 2_000,
            cached_queries: 10_000,
            session_days: 90,
            context_tokens: 2_048,
            context_documents: 3,
        }
    }
}
