//! `bower completions SHELL`: the script itself, whatever the format, because a shell reads it.

use clap::CommandFactory;

use super::Session;
use crate::cli::{Cli, CompletionsArgs};
use crate::failure::Result;

/// Prints the script.
pub fn run(arguments: &CompletionsArgs, session: &Session) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "bower", &mut script);
    session.out.put(&String::from_utf8_lossy(&script))
}
