//! The engine of Bowerbird: memory and retrieval for AI agents.
//! It reads no environment, home, clock or terminal: time, paths and seeds are arguments.

mod checksum;
pub mod config;
pub mod embed;
pub mod engine;
pub mod error;
pub mod evidence;
pub mod files;
pub mod filter;
mod generation;
pub mod ingest;
pub mod item;
pub mod llm;
pub mod memory;
pub mod prompt;
pub mod rank;
pub mod request;
pub mod store;
pub mod strength;
pub mod text;
pub mod tokens;
pub mod vector;

pub use engine::Engine;
pub use error::{Error, Result};
