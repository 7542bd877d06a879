//! The integration tests of the core, as one binary: linking once is what keeps the suite fast.

#![allow(clippy::unwrap_used, reason = "the helpers of tests are tests")]

mod aliases;
mod answers;
mod api;
mod channels;
mod clocks;
mod communities;
mod damage;
mod deltas;
mod engine;
mod evidence;
mod explore;
mod findings;
mod forgetting;
mod formats;
mod graph;
mod lifecycle;
mod losses;
mod maintenance;
mod memories;
mod minilm;
mod model;
mod moving;
mod moving_in;
mod pairs;
mod place;
mod repeat;
mod scopes;
mod spelling;
mod statements;
mod tags;
mod tidy;
mod two_models;
mod wordpiece;
mod worker;
