//! The engine of Bowerbird: memory and retrieval for AI agents.
//! It reads no environment, home, clock or terminal: time, paths and seeds are arguments.

#![cfg_attr(not(feature = "parts"), warn(unnameable_types))]

mod checksum;
pub mod config;
mod embed;
pub mod engine;
pub mod error;
pub mod evidence;
pub mod files;
pub mod filter;
mod generation;
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
/// An engine finds packed models in its home; [`Engine::with_embedder`] takes any other embedder.
pub mod model {
    pub use crate::embed::{
        CROSS_ARITHMETIC, CROSS_FILES, CROSS_PACKED, CrossEncoder, CrossSources, EmbeddedQuestion,
        EmbeddedText, Embedder, Encoding, IDENTITY, MiniLm, Relevance, VOCABULARY_SHA256, WEIGHTS_SHA256,
        WINDOW_PIECES, Window, pack, pack_cross,
    };
}

/// Functions that a program shares with the engine, so that both read and show a text in the same way. None needs a store.
pub mod shared {
    pub use crate::ingest::check_values;
    pub use crate::memory::gate::{Constants as GateConstants, Redacted, SecretKind, redact};
    pub use crate::rank::brief::{block as briefing_block, tokens as briefing_tokens};
    pub use crate::rank::time::has_times;
    pub use crate::strength::strength;
    pub use crate::text::{Language, QueryTerm, Snippet, query_terms, snippet};
}

/// The engine's inner modules, for benchmarks, tests and fuzzing. They change without notice.
#[cfg(feature = "parts")]
pub mod parts {
    /// Local models.
    pub mod embed {
        pub use crate::embed::*;
    }
    /// From a file to chunks.
    pub mod ingest {
        pub use crate::ingest::*;
    }
    /// The life of a memory.
    pub mod memory {
        pub use crate::memory::*;
    }
    /// From candidates to one order.
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
