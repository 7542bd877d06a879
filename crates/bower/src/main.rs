//! Starts the `bower` command.
//! All of it is in the library of this name, where tests and fuzzers reach it.

use std::process::ExitCode;

fn main() -> ExitCode {
    bower::main()
}
