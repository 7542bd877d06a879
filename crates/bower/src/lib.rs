//! Runs the `bower` command: one match from command to function.
//! Every run ends with a status of `failure::Exit`.

mod background;
mod brv;
mod cli;
mod commands;
mod eval;
mod failure;
mod hosts;
mod http;
#[cfg(test)]
mod interference;
mod llm;
#[cfg(test)]
mod loopback;
mod mcp;
mod model;
mod remote;
mod render;
mod service;
mod settings;
mod web;
mod when;
mod wire;

#[cfg(any(test, feature = "fuzzing"))]
pub use service::fuzzing;

use clap::Parser;
use clap::error::ErrorKind;
use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Mutex;

use cli::{Cli, Command, Format};
use commands::Session;
use failure::{Exit, Failure, Result, one_line};
use wire::Output;

/// Location and message of this process's first panic.
static PANIC: Mutex<Option<String>> = Mutex::new(None);

/// Runs the program with its arguments.
pub fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        let message = panic.payload_as_str().unwrap_or("no message");
        let mut first = PANIC.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        first.get_or_insert_with(|| one_line(&format!("{message} ({place})")));
    }));
    let arguments: Vec<OsString> = std::env::args_os().collect();
    if brv::is_called(arguments.first()) {
        return brv::main(&arguments);
    }
    let cli = match Cli::try_parse_from(&arguments) {
        Ok(cli) => cli,
        Err(error) => return not_understood(&error, &arguments),
    };
    let out = Output::new(cli.command.word(), &cli.global);
    let session = Session::new(out.clone(), cli.global);
    let ended = whole(|| run(cli.command, &session));
    match ended {
        Ok(code) => code,
        Err(failure) => {
            out.fail(&failure);
            ExitCode::from(failure.exit as u8)
        }
    }
}

/// Returns the result of `run`, or the panic that ended it as a failure.
fn whole<T>(run: impl FnOnce() -> Result<T>) -> Result<T> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).unwrap_or_else(|_| {
        let first = PANIC.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        Err(Failure::internal(first.unwrap_or_else(|| "a panic without a message".into())))
    })
}

fn run(command: Command, session: &Session) -> Result<ExitCode> {
    // A hook prints in the format of its host.
    let takes_context = matches!(command, Command::Query(_) | Command::Brief(_) | Command::Hook(_));
    if session.out.format == Format::Context && !takes_context {
        return Err(Failure::usage("--format context is for query and brief", "use --format text or json"));
    }
    let done = |()| ExitCode::SUCCESS;
    match command {
        Command::Query(arguments) => commands::query::run(&arguments, session).map(done),
        Command::Curate(arguments) => commands::curate::run(arguments, session).map(done),
        Command::Index(arguments) => commands::index::run(&arguments, session).map(done),
        Command::Get(arguments) => commands::get::run(&arguments, session).map(done),
        Command::List(arguments) => commands::list::run(&arguments, session).map(done),
        Command::Graph(arguments) => commands::graph::run(&arguments, session),
        Command::Relate(arguments) => commands::graph::relate(&arguments, session).map(done),
        Command::Tags(arguments) => commands::tags::run(*arguments, session).map(done),
        Command::Forget(arguments) => commands::forget::run(&arguments, session),
        Command::History(arguments) => commands::history::run(&arguments, session).map(done),
        Command::Backup(arguments) => commands::backup::backup(&arguments, session).map(done),
        Command::Restore(arguments) => commands::backup::restore(&arguments, session).map(done),
        Command::Settle(arguments) => commands::review::pair(arguments, session).map(done),
        Command::Review(arguments) => commands::review::run(arguments, session).map(done),
        Command::Feedback(arguments) => commands::feedback::feedback(&arguments, session).map(done),
        Command::Pin(arguments) => commands::feedback::pin(&arguments, session).map(done),
        Command::Sweep(arguments) => commands::sweep::sweep(&arguments, session).map(done),
        Command::Prune(arguments) => commands::sweep::prune(&arguments, session).map(done),
        Command::Consolidate(arguments) => commands::sweep::consolidate(&arguments, session).map(done),
        Command::Undo(arguments) => commands::sweep::undo(&arguments, session).map(done),
        Command::Export(arguments) => commands::export::run(&arguments, session).map(done),
        Command::Import(arguments) => commands::import::run(&arguments, session),
        Command::Migrate(arguments) => commands::migrate::run(&arguments, session).map(done),
        Command::Mcp(arguments) => commands::mcp::run(arguments, session).map(done),
        Command::Brief(arguments) => commands::brief::run(&arguments, session).map(done),
        Command::Hook(arguments) => Ok(commands::hook::run(&arguments, session)),
        Command::Setup(arguments) => commands::setup::run(&arguments, session).map(done),
        Command::Status => commands::status::run(session).map(done),
        Command::Serve(arguments) => commands::serve::run(&arguments, session).map(done),
        Command::Token(arguments) => commands::token::run(arguments, session).map(done),
        Command::Config(arguments) => commands::config::run(arguments, session).map(done),
        Command::Doctor(arguments) => commands::doctor::run(&arguments, session),
        Command::Llm(arguments) => commands::llm::run(&arguments, session).map(done),
        Command::Model(arguments) => commands::model::run(arguments, session).map(done),
        Command::Cache(arguments) => commands::cache::run(&arguments, session).map(done),
        Command::Warm(arguments) => commands::cache::warm(&arguments, session).map(done),
        Command::Bench(arguments) => commands::bench::run(&arguments, session).map(done),
        Command::Eval(arguments) => commands::eval::run(&arguments, session).map(done),
        Command::Completions(arguments) => commands::completions::run(&arguments).map(done),
        Command::Version => commands::version::run(session).map(done),
    }
}

/// Handles arguments that clap did not parse. Help and the version are answers; anything else is a usage error, as JSON if
/// requested.
fn not_understood(error: &clap::Error, arguments: &[OsString]) -> ExitCode {
    let is_answer = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    if !is_answer && commands::hook::is_called(arguments) {
        return commands::hook::guarded(|_| Err(usage(error)));
    }
    let global = wire::guess(arguments);
    let named = arguments.iter().skip(1).filter_map(|word| word.to_str()).find(|word| !word.starts_with('-'));
    let command = <Cli as clap::CommandFactory>::command();
    let known =
        named.and_then(|word| command.find_subcommand(word).map(clap::Command::get_name).map(String::from));
    // The name must live until the process ends; one small leak is simpler than a lifetime everywhere.
    let known_word: Option<&'static str> = known.map(|word| &*word.leak());
    let out = Output::new(known_word.unwrap_or("bower"), &global);
    let help = |stream| {
        let text = error.render();
        if wire::colored(global.color, stream) { text.ansi().to_string() } else { text.to_string() }
    };
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => match Output::put(&help(&std::io::stdout())) {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => ExitCode::from(failure.exit as u8),
        },
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand
            if out.format != Format::Json =>
        {
            out.note(help(&std::io::stdout()).trim_end());
            ExitCode::from(Exit::Usage as u8)
        }
        _ => {
            out.fail(&usage(error));
            ExitCode::from(Exit::Usage as u8)
        }
    }
}

/// Converts clap's message of several lines into one line and a hint.
fn usage(error: &clap::Error) -> Failure {
    if error.kind() == ErrorKind::InvalidUtf8 {
        return Failure::usage(
            "an argument is not valid UTF-8",
            "text must be UTF-8; give it on standard input with - after converting it",
        );
    }
    if matches!(
        error.kind(),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand
    ) {
        return Failure::usage("no command given", "bower --help lists the commands");
    }
    let text = error.render().to_string();
    let mut message = Vec::new();
    let mut hint = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if let Some(tip) = line.strip_prefix("tip:") {
            hint.push(tip.trim().to_string());
        } else if let Some(usage) = line.strip_prefix("Usage:") {
            hint.push(format!("usage: {}", usage.trim()));
        } else if line.starts_with("For more information") {
        } else if hint.is_empty() {
            message.push(line.strip_prefix("error: ").unwrap_or(line).to_string());
        }
    }
    if hint.is_empty() {
        hint.push("the same command with --help shows what it takes".into());
    }
    Failure::usage(one_line(&message.join(" ")), hint.join("; "))
}
