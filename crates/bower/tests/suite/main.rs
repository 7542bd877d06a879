//! Tests the real binary: exit statuses, envelopes, layers of settings.
//! Every test has a home of its own and sees no variable of its caller's.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where by panicking")]

mod agents;
mod anchors;
#[cfg(target_os = "linux")]
mod bombs;
#[cfg(unix)]
mod brv;
mod canonical;
mod command;
mod config;
mod contract;
mod damage;
mod eval;
mod evidence;
mod exits;
#[cfg(unix)]
mod files;
mod graph;
mod hooks;
mod life;
mod llms;
mod mcp;
mod models;
mod moving;
#[cfg(target_os = "linux")]
mod network;
mod origins;
#[cfg(unix)]
mod private;
mod prompts;
#[path = "../../src/model/repository/published.rs"]
mod published;
mod repositories;
#[cfg(unix)]
mod serve;
mod services;
mod setup;
mod shapes;
mod tags;
#[cfg(unix)]
mod watching;
