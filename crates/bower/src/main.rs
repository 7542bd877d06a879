//! The `bower` command.

#[allow(dead_code, unused_imports)] // wired up by the command line
mod model;

fn main() {}
