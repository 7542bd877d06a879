//! Ensures that a hook's process ends with status 0 and in time, whatever its input and whatever fails.

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use crate::cli::Cli;
use crate::failure::{Failure, Result};
use crate::wire::excuse;

/// Time for a host to write its input, which it has ready.
const INPUT: Duration = Duration::from_secs(3);
/// Longest time that a blocked standard error may delay the end of the process.
const LAST_WORD: Duration = Duration::from_millis(200);
/// Message after a fault that cannot be caught.
const FAULT: &str =
    "bower hook: internal error: a fault ended it; nothing acknowledged is lost; please report it\n";

/// Global flags that take a value.
const WITH_VALUE: &[&str] = &["--home", "--format", "--color", "--set"];

/// Whether an invalid command line was meant for a hook: the setup of another version may have written it, or a person left
/// something out. If `--home` has no folder, it has taken the word `hook` as its value.
pub fn is_called(arguments: &[OsString]) -> bool {
    let command = <Cli as clap::CommandFactory>::command();
    let mut words = arguments.iter().skip(1).map(|word| word.to_string_lossy());
    let mut is_named = false;
    while let Some(word) = words.next().filter(|word| word != "--") {
        if word.starts_with('-') {
            if WITH_VALUE.contains(&&*word) {
                is_named |= words.next().is_some_and(|value| value == "hook");
            }
        } else if word == "hook" {
            return true;
        } else if command.find_subcommand(&*word).is_some() {
            return false;
        }
    }
    is_named
}

/// Time limit of a hook: a thread ends the process when it is over.
pub struct Guard {
    more: SyncSender<Duration>,
}

impl Guard {
    /// Starts the time limit for the host's input.
    fn start() -> Result<Self> {
        let (more, ended) = sync_channel::<Duration>(1);
        let watch = move || {
            let mut left = INPUT;
            loop {
                match ended.recv_timeout(left) {
                    Ok(more) => left = more,
                    Err(RecvTimeoutError::Disconnected) => return,
                    Err(RecvTimeoutError::Timeout) => end(left),
                }
            }
        };
        std::thread::Builder::new().name("bower-deadline".into()).spawn(watch).map_err(|source| {
            Failure::environment(format!("cannot start a thread: {source}"), "end some programs")
        })?;
        Ok(Self { more })
    }

    /// Replaces the time limit, from now on.
    pub fn allow(&self, time: Duration) {
        // This fails only when the process is ending.
        let _ = self.more.send(time);
    }
}

/// Ends the process when its time is up. As after a kill, a pending write is complete or absent.
fn end(after: Duration) -> ! {
    let line = format!("it took longer than {:.1} s and was ended", after.as_secs_f32());
    // Writing may block, because another process holds standard error or nobody reads it.
    let said = std::thread::Builder::new().spawn(move || excuse(&Failure::environment(line, "bower doctor")));
    if let Ok(said) = said {
        for _ in 0..20 {
            if said.is_finished() {
                break;
            }
            std::thread::sleep(LAST_WORD / 20);
        }
    }
    std::process::exit(0)
}

/// Runs a hook. Hosts treat a non-zero status as blocking the user's action, so the status is always 0.
pub fn guarded(work: impl FnOnce(&Guard) -> Result<()>) -> ExitCode {
    bower_kernels::faults::end_with_success(FAULT);
    let guard = match Guard::start() {
        Ok(guard) => guard,
        Err(failure) => return excuse(&failure),
    };
    match crate::whole(|| work(&guard)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => excuse(&failure),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_is_known_by_its_word_wherever_it_stands() {
        let check = |line: &str, expected: bool| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            assert_eq!(is_called(&words), expected, "{line}");
        };
        check("bower hook user-prompt --newflag", true);
        check("bower --home /h hook user-prompt --newflag", true);
        check("bower --home=/h --newflag hook", true);
        check("bower --set a=b -v hook of-another-version", true);
        check("bower --home hook user-prompt", true);
        check("bower --home query hook user-prompt --newflag", true);
        check("bower --newflag value hook stop", true);
        check("bower --home", false);
        check("bower --home hook status --newflag", false);
        check("bower query hook --newflag", false);
        check("bower -- hook", false);
        check("bower", false);
        check("bower hok user-prompt", false);
    }
}
