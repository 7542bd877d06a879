//! Tests the clients against a server of our own over real connections, without waiting.

mod batches;
mod chat;
mod faults;
mod keys;
mod support;
mod waits;
