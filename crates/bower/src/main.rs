//! The `bower` command.

#[expect(dead_code, reason = "the commands that call it come with the engine")]
mod eval;

fn main() {}
