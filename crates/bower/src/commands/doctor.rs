//! Implements `bower doctor`: examines the settings and the store, or salvages a damaged store.
//! It also searches every file for given words, and checks the code that memories name. Any problem shows in the exit status.

use bower_core::item::Visibility;
use bower_core::request::{Check, Loss, Outcome};
use bower_core::sqlite;
use serde::Serialize;
use std::path::Path;
use std::process::ExitCode;

use super::{Session, now, text_of};
use crate::cli::DoctorArgs;
use crate::failure::{Exit, Failure, Result};
use crate::render;

#[derive(Serialize)]
struct Accepted<'a> {
    accepted: &'a [Loss],
}

#[derive(Serialize)]
struct Examined {
    healthy: bool,
    checks: Vec<Check>,
}

/// Prints the result of every check. A store that cannot be opened is reported like any other problem.
pub fn run(arguments: &DoctorArgs, session: &Session) -> Result<ExitCode> {
    if let Some(words) = &arguments.residue {
        return residue(words, session);
    }
    if arguments.copies {
        return copies(session);
    }
    if let Some(into) = &arguments.salvage {
        return salvage(into, session);
    }
    if arguments.anchors {
        return anchors(session);
    }
    if arguments.accept_loss {
        return accept_loss(session);
    }
    let home = session.home()?;
    let mut checks = Vec::new();
    match session.settings(&home) {
        Ok(resolved) => {
            let file = home.config();
            let detail = if file.exists() {
                format!("{} is in order", file.display())
            } else {
                "all built-in: there is no config.toml".to_string()
            };
            checks.push(Check::good("settings", detail));
            match Session::engine_of(&home, resolved.settings)
                .and_then(|engine| engine.doctor(&Visibility::everything()))
            {
                Ok(found) => checks.extend(found),
                Err(error) => checks.push(bad("store", &error.into())),
            }
        }
        Err(failure) => checks.push(bad("settings", &failure)),
    }
    let examined = Examined { healthy: checks.iter().all(|check| check.outcome != Outcome::Bad), checks };
    session.out.say(&examined, |look| render::doctor::doctor(&examined.checks, look))?;
    Ok(if examined.healthy { ExitCode::SUCCESS } else { ExitCode::from(Exit::Environment as u8) })
}

/// Salvages the readable part of the store. The exit status shows whether anything was unreadable.
fn salvage(into: &Path, session: &Session) -> Result<ExitCode> {
    let home = session.home()?;
    let settings = session.settings(&home)?.settings;
    let salvaged = sqlite::salvage(&sqlite::file_in(&home.path), into, &settings, now())?;
    session.out.say(&salvaged, |look| render::store::salvaged(&salvaged, look))?;
    let is_whole = salvaged.unreadable.is_empty() && salvaged.damaged.is_empty() && salvaged.unplaced == 0;
    Ok(if is_whole && salvaged.findings.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(Exit::Nothing as u8)
    })
}

/// Accepts the recorded losses, so that they are no longer reported.
fn accept_loss(session: &Session) -> Result<ExitCode> {
    let service = session.service()?;
    let losses = service.engine().losses()?;
    service.engine().accept_losses(now())?;
    session.out.say(&Accepted { accepted: &losses }, |_| render::store::accepted(&losses))?;
    Ok(ExitCode::SUCCESS)
}

/// Prints where given words are still stored. The exit status is 0 if there is no residue.
fn residue(words: &str, session: &Session) -> Result<ExitCode> {
    let words = text_of(&[words.to_owned()], "doctor --residue")?;
    let residue = session.service()?.engine().residue(&Visibility::everything(), &words)?;
    session.out.say(&residue, |look| render::forget::residue(&residue, look))?;
    Ok(if residue.found { ExitCode::from(Exit::Nothing as u8) } else { ExitCode::SUCCESS })
}

/// Prints which documents are near copies of another. Copies are no fault, so the exit status is 0.
fn copies(session: &Session) -> Result<ExitCode> {
    let copies = session.service()?.engine().copies(&Visibility::everything())?;
    session.out.say(&copies, |look| render::store::copies(&copies, look))?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the memories whose anchors do not hold any more. The exit status is 0 if there are none.
fn anchors(session: &Session) -> Result<ExitCode> {
    let here = std::env::current_dir().map_err(|source| {
        Failure::environment(format!("cannot find the current folder: {source}"), "change to a project")
    })?;
    let report = session.service()?.engine().check_anchors(&Visibility::everything(), &here)?;
    session.out.say(&report, |look| render::store::anchors(&report, look))?;
    Ok(if report.memories.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(Exit::Nothing as u8) })
}

fn bad(name: &str, failure: &Failure) -> Check {
    let hint = failure.hint.as_ref().map(|hint| hint.command().to_owned());
    Check { hint, ..Check::bad(name, failure.message.clone(), "") }
}
