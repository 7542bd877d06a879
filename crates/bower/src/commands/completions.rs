//! Implements `bower completions SHELL`: prints the shell's completion script.
//! It prints the script itself, whatever the format, because a shell reads it.

use clap::CommandFactory;

use crate::cli::{Cli, CompletionsArgs};
use crate::failure::Result;
use crate::wire::Output;

/// Prints the script.
pub fn run(arguments: &CompletionsArgs) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "bower", &mut script);
    Output::put(&String::from_utf8_lossy(&script))
}
