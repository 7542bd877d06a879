//! Starts the `bower` command.
//! All code is in the library of the same name, which tests and fuzzers use.

use std::process::ExitCode;

fn main() -> ExitCode {
    bower::main()
}
