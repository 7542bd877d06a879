//! The engine of Bowerbird: memory and retrieval for AI agents.
//!
//! An [`Engine`] keeps one store in one folder. It remembers short texts ([`Engine::curate`]), indexes files
//! ([`Engine::index`]) and other documents ([`Engine::add_documents`]), and answers questions about all of them
//! ([`Engine::query`]): by words, and by meaning if a local model is installed. It is synchronous and prints nothing.
//! It reads no environment, home, clock or terminal: time, paths and seeds are arguments.
//!
//! ```
//! use bower_core::Engine;
//! use bower_core::config::Settings;
//! use bower_core::engine::DocumentInput;
//! use bower_core::item::{Scope, Visibility};
//! use bower_core::request::{CurateRequest, QueryRequest};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let now: jiff::Timestamp = "2026-03-01T09:00:00Z".parse()?;
//! let engine = Engine::open(folder.path(), Settings::default(), now)?;
//! let caller = Visibility::everything();
//!
//! let text = "The garden has a bower of blue feathers, shells and berries.".into();
//! let page = DocumentInput { id: "garden.md".into(), text, ..DocumentInput::default() };
//! engine.add_documents(&caller, vec![page], (Scope::Project, None), now)?;
//! engine.curate(&caller, &CurateRequest::new("We decided to paint the garden gate blue."), now)?;
//!
//! // `fast` answers by words alone: no model is needed.
//! let question = QueryRequest { text: "blue garden".into(), fast: true, ..QueryRequest::default() };
//! let answer = engine.query(&caller, &question, now)?;
//! for hit in &answer.hits {
//!     println!("{:.2}  {:6}  {}", hit.score, hit.memory.kind, hit.memory.content);
//! }
//! assert_eq!(answer.hits.len(), 2);
//! # Ok(())
//! # }
//! ```
//!
//! # Where to begin
//!
//! [`Engine`] has all operations. Most take a request, a struct of [`request`] with defaults, and return a struct that can be
//! serialised. Methods that read or change items take the caller's [`Visibility`](item::Visibility): nothing outside it is
//! found, reported or changed. Methods without one maintain the store as a whole: upkeep, missing parts and repair.
//! [`Error`] has every way to fail.
//!
//! # Modules
//!
//! - [`engine`]: opens a store and does everything with it; [`engine::evaluation`] ranks for measurements.
//! - [`request`]: the requests and answers of the engine.
//! - [`item`]: memories, chunks, and their types, states and scopes.
//! - [`config`]: the settings, each with its range and default.
//! - [`filter`]: conditions on an item's fields and text.
//! - [`model`]: packs and opens local models; the trait of an embedder of your own.
//! - [`llm`]: the trait of a language model, for operations that may use one.
//! - [`prompt`] and [`evidence`]: text that may safely enter a prompt, with citations.
//! - [`shared`]: functions by which a program reads and shows text as the engine does.
//! - [`sqlite`]: restores and salvages the store in one file.
//! - [`files`]: creates files and folders that only their owner may read.
//! - [`error`]: the error type.

#![cfg_attr(not(feature = "parts"), warn(unnameable_types))]

mod checksum;
pub mod config;
mod cpu_time;
mod embed;
pub mod engine;
pub mod error;
pub mod evidence;
pub mod files;
pub mod filter;
mod generation;
mod graph;
mod ingest;
pub mod item;
pub mod llm;
mod memory;
pub mod prompt;
mod rank;
pub mod request;
mod store;
mod strength;
mod text;
mod tokens;
mod vector;

pub use engine::Engine;
pub use error::{Error, Result};

/// Packs and opens the local models, and defines the trait of an embedder.
///
/// An engine loads packed models from its home; [`Engine::with_embedder`] sets any other embedder.
pub mod model {
    pub use crate::embed::{
        CROSS_ARITHMETIC, CROSS_FILES, CROSS_PACKED, Classifier, CrossEncoder, CrossSources, DEFAULT_MODEL,
        EmbeddedQuestion, EmbeddedText, Embedder, Encoding, IDENTITY, Prompts, Relevance, SENTENCE_FILES,
        SENTENCE_PACKED, SentenceEncoder, SentenceModel, SentenceOptions, Statements, VOCABULARY_SHA256,
        WEIGHTS_SHA256, WINDOW_PIECES, Window, pack, pack_cross, pack_sentence,
    };
}

/// Functions that a program shares with the engine, so that both read and show texts alike. None needs a store.
pub mod shared {
    pub use crate::ingest::{
        IGNORE_FILE, Repository, Sitemap, WebPage, check_values, repository_at, sitemap, web_page,
    };
    pub use crate::memory::gate::{Constants as GateConstants, Redacted, SecretKind, redact};
    pub use crate::rank::brief::{block as briefing_block, tokens as briefing_tokens};
    pub use crate::rank::time::has_times;
    pub use crate::strength::strength;
    pub use crate::text::{Language, QueryTerm, Snippet, language_of, query_terms, snippet};
}

/// The store in one SQLite file: restores a copy of it and salvages a damaged one, without an engine.
pub mod sqlite {
    pub use crate::store::sqlite::{file_in, restore, salvage};
}

/// The engine's inner modules, for benchmarks, tests and fuzzing. They change without notice.
#[cfg(feature = "parts")]
pub mod parts {
    /// Local models.
    pub mod embed {
        pub use crate::embed::*;
    }
    /// The graph of items and entities.
    pub mod graph {
        pub use crate::graph::*;
    }
    /// Reading files into chunks.
    pub mod ingest {
        pub use crate::ingest::*;
    }
    /// The life of a memory.
    pub mod memory {
        pub use crate::memory::*;
    }
    /// Ranking of candidates.
    pub mod rank {
        pub use crate::rank::*;
    }
    /// The store.
    pub mod store {
        pub use crate::store::*;
    }
    /// The text index.
    pub mod text {
        pub use crate::text::*;
    }
    /// The token index.
    pub mod tokens {
        pub use crate::tokens::*;
    }
    /// The vector index.
    pub mod vector {
        pub use crate::vector::*;
    }
}
