//! Prints all output of the program: envelopes on standard output, messages on standard error.
//! Nothing else in the binary prints.

use serde::Serialize;
use std::io::{IsTerminal, Write};

use crate::cli::{Color, Format, Global};
use crate::failure::{Failure, Hint, Result, one_line};
use crate::render::{Look, clean, style};

/// Output options of this run.
#[derive(Clone, Debug)]
pub struct Output {
    /// Name of the command in the envelope.
    pub command: &'static str,
    /// The requested format, or the one that fits standard output.
    pub format: Format,
    /// Whether causes and details are printed.
    pub verbose: bool,
    /// Whether only errors go to standard error.
    pub quiet: bool,
    terminal: bool,
    color: Color,
}

#[derive(Serialize)]
struct Envelope<'a, T> {
    command: &'a str,
    success: bool,
    data: T,
}

#[derive(Serialize)]
struct Wrong<'a> {
    error: &'a str,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    causes: &'a [String],
}

impl Output {
    /// Creates the output for a parsed command line.
    pub fn new(command: &'static str, global: &Global) -> Self {
        let terminal = std::io::stdout().is_terminal();
        Self {
            command,
            format: global.format.unwrap_or(if terminal { Format::Text } else { Format::Json }),
            verbose: global.verbose,
            quiet: global.quiet,
            terminal,
            color: global.color,
        }
    }

    /// Returns the format of text on standard output.
    pub fn look(&self) -> Look {
        let color = colored(self.color, &std::io::stdout());
        let width = if self.terminal {
            terminal_size::terminal_size().map(|(width, _)| width.0.into())
        } else {
            None
        };
        Look {
            width: width.unwrap_or(100),
            color,
            terminal: self.terminal,
            verbose: self.verbose,
            here: std::env::current_dir().ok(),
            ..Look::now()
        }
    }

    /// Prints a command's data: as an envelope, or as the text that `text` makes of it.
    pub fn say<T: Serialize>(&self, data: &T, text: impl FnOnce(&Look) -> String) -> Result<()> {
        match self.format {
            Format::Text | Format::Context => Self::put(&text(&self.look())),
            Format::Json => Self::put(&self.envelope(true, data)?),
        }
    }

    /// Prints text unchanged, whatever the format.
    pub fn put(text: &str) -> Result<()> {
        let mut out = std::io::stdout().lock();
        let ends = text.is_empty() || text.ends_with('\n');
        let written = out
            .write_all(text.as_bytes())
            .and_then(|()| if ends { Ok(()) } else { out.write_all(b"\n") })
            .and_then(|()| out.flush());
        match written {
            // The reader has closed the pipe (`bower list | head`).
            Err(source) if source.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
            Err(source) => Err(Failure::environment(
                format!("cannot write standard output: {source}"),
                "check the disk or the program that reads it",
            )),
            Ok(()) => Ok(()),
        }
    }

    /// Prints a message of one line on standard error, unless `--quiet`.
    pub fn note(&self, text: &str) {
        if !self.quiet {
            complain(text);
        }
    }

    /// Prints a message with `--verbose` only.
    pub fn detail(&self, text: &str) {
        if self.verbose {
            complain(text);
        }
    }

    /// Prints a failure: in the envelope for JSON, else on standard error.
    pub fn fail(&self, failure: &Failure) {
        let envelope = match self.format {
            Format::Json => {
                let causes = if self.verbose { &failure.causes[..] } else { &[] };
                let hint = failure.hint.as_ref().map(Hint::command);
                let data = Wrong { error: &failure.message, status: "error", hint, causes };
                self.envelope(false, data).is_ok_and(|text| Self::put(&text).is_ok())
            }
            Format::Text | Format::Context => false,
        };
        // If the data went to a file, the failure is shown on the terminal as well.
        if !envelope || (!self.terminal && std::io::stderr().is_terminal()) {
            let color = colored(self.color, &std::io::stderr());
            complain(&format!("{} {}", style::paint(style::BAD, "bower:", color), clean(&failure.line())));
            if self.verbose {
                for cause in &failure.causes {
                    complain(&format!("  because {}", clean(cause)));
                }
            }
            if let Some(hint) = &failure.hint {
                complain(&format!(
                    "{} {}",
                    style::paint(style::GOOD, "hint:", color),
                    clean(&one_line(hint.command()))
                ));
            }
        }
    }

    fn envelope<T: Serialize>(&self, success: bool, data: T) -> Result<String> {
        let envelope = Envelope { command: self.command, success, data };
        let text = if self.terminal {
            serde_json::to_string_pretty(&envelope)
        } else {
            serde_json::to_string(&envelope)
        };
        text.map(|text| text + "\n")
            .map_err(|source| Failure::internal(format!("cannot write JSON: {source}")))
    }
}

/// Reports a hook's failure in one line. The status is success, because another one would block the host's user.
pub fn excuse(failure: &Failure) -> std::process::ExitCode {
    complain(&format!("bower hook: {}", clean(&failure.line())));
    std::process::ExitCode::SUCCESS
}

/// Prints one line on standard error. A failure to print is not worth a panic.
pub fn complain(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Whether a stream gets colour: as requested, or else on a terminal that supports it unless `NO_COLOR` is set.
pub fn colored(color: Color, stream: &impl anstream::stream::RawStream) -> bool {
    match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => anstream::AutoStream::choice(stream) != anstream::ColorChoice::Never,
    }
}

/// Guesses the global flags of an invalid command line: `--format` as typed, before any `--`.
pub fn guess(arguments: &[std::ffi::OsString]) -> Global {
    let mut global = Global::default();
    let mut words =
        arguments.iter().skip(1).map(|word| word.to_string_lossy()).take_while(|word| word != "--");
    while let Some(word) = words.next() {
        let value = match word.strip_prefix("--format") {
            Some("") => words.next(),
            Some(rest) => rest.strip_prefix('=').map(|rest| rest.to_string().into()),
            None => None,
        };
        match value.as_deref() {
            Some("json") => global.format = Some(Format::Json),
            Some("text") => global.format = Some(Format::Text),
            Some("context") => global.format = Some(Format::Context),
            Some(_) | None => {}
        }
    }
    global
}
