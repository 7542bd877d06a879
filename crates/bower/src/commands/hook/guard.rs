//! Makes sure that a hook's process ends with status 0 and in time, whatever it is given and whatever fails.

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use crate::cli::Cli;
use crate::failure::{Failure, Result};
use crate::wire::excuse;

/// How long a host may take to hand over what it tells: it has it ready.
const INPUT: Duration = Duration::from_secs(3);
/// How long whoever waits for a hook's line may keep the process from its end.
const LAST_WORD: Duration = Duration::from_millis(200);
/// What is said after a fault that nothing can catch.
const FAULT: &str =
    "bower hook: internal error: a fault ended it; nothing acknowledged is lost; please report it\n";

/// Flags of every command that take a word of their own.
const WITH_VALUE: &[&str] = &["--home", "--format", "--color", "--set"];

/// Whether a command line that was not understood is a hook's: another version's setup may have written it, or a person left
/// something out. Where `--home` lacks its folder it has taken the word `hook` for one.
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

/// The time that a hook has, and who ends the process when it is up.
pub struct Guard {
    more: SyncSender<Duration>,
}

impl Guard {
    /// From now on the host has to hand over its input.
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

    /// From now on it has so long.
    pub fn allow(&self, time: Duration) {
        // Nobody takes it only where the process ends.
        let _ = self.more.send(time);
    }
}

/// The end of a process whose time is up. What it has not written yet is as after a kill: there or not, and whole.
fn end(after: Duration) -> ! {
    let line = format!("it took longer than {:.1} s and was ended", after.as_secs_f32());
    // Somebody may hold standard error, or not read it.
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

/// Runs a hook. Its host takes a status for a verdict on what its user does, so there is one status.
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
