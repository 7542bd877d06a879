//! Implements `bower config`: shows every setting with its origin, and changes the settings file.
//! Changes to the file keep its comments and are atomic.

use bower_core::files;
use serde::Serialize;
use std::path::{Path, PathBuf};

use super::{Session, config_text};
use crate::cli::{ConfigAction, ConfigArgs};
use crate::failure::{Failure, Result};
use crate::render;
use crate::settings::{self, Chosen, Home, Origin};

#[derive(Serialize)]
struct Shown {
    home: PathBuf,
    home_origin: Origin,
    path: PathBuf,
    exists: bool,
    settings: Vec<Chosen>,
}

#[derive(Serialize)]
struct Place {
    path: PathBuf,
    exists: bool,
}

#[derive(Serialize)]
struct Written {
    path: PathBuf,
    key: String,
    changed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    overridden_by: Option<Origin>,
}

/// Shows or changes settings.
pub fn run(arguments: ConfigArgs, session: &Session) -> Result<()> {
    let home = session.home()?;
    match arguments.action {
        None => show(&home, session),
        Some(ConfigAction::Path) => {
            let path = home.config();
            let place = Place { exists: path.exists(), path };
            session.out.say(&place, |_| place.path.display().to_string())
        }
        Some(ConfigAction::Set { key, value }) => {
            let changed = set(&home, &key, &value)?;
            written(&home, key, changed, session)
        }
        Some(ConfigAction::Unset { key }) => {
            let changed = unset(&home, &key)?;
            if !changed && let Err(why) = settings::known(&key) {
                return Err(Failure::usage(format!("config unset {key}: unknown setting"), why));
            }
            written(&home, key, changed, session)
        }
    }
}

fn show(home: &Home, session: &Session) -> Result<()> {
    let resolved = session.settings(home)?;
    let path = home.config();
    let shown = Shown {
        home: home.path.clone(),
        home_origin: home.origin.clone(),
        exists: path.exists(),
        path,
        settings: resolved.chosen,
    };
    session.out.say(&shown, |look| render::config::all(home, &shown.settings, look))
}

/// Writes a setting to the settings file, or takes it out. Returns whether the file changed, and a stronger layer that decides the
/// value.
pub fn put(home: &Home, key: &str, value: Option<&str>, session: &Session) -> Result<(bool, Option<Origin>)> {
    let changed = match value {
        Some(value) => set(home, key, value)?,
        None => unset(home, key)?,
    };
    Ok((changed, present(home, key, session).1))
}

/// Takes a setting out of the settings file; returns whether it was there.
fn unset(home: &Home, key: &str) -> Result<bool> {
    let old = config_text(home)?;
    let new = settings::unset(&home.config(), old.as_deref().unwrap_or_default(), key)?;
    if let Some(new) = &new {
        write(home, new)?;
    }
    Ok(new.is_some())
}

/// Writes a setting to the settings file; returns whether the file changed.
fn set(home: &Home, key: &str, value: &str) -> Result<bool> {
    let old = config_text(home)?;
    let new = settings::set(&home.config(), old.as_deref().unwrap_or_default(), key, value)?;
    let changed = old.as_deref() != Some(&new);
    if changed {
        write(home, &new)?;
    }
    Ok(changed)
}

/// Returns a setting with its present value, and the layer above the settings file that decides it, if there is one.
fn present(home: &Home, key: &str, session: &Session) -> (Option<Chosen>, Option<Origin>) {
    let chosen = match session.settings(home) {
        Ok(resolved) => resolved.chosen.into_iter().find(|chosen| chosen.key == key.trim()),
        // The file is written. An error in another of its lines must be reported, but does not make this command fail.
        Err(failure) => {
            session.out.note(&format!("another setting is wrong: {}", failure.line()));
            None
        }
    };
    let overridden_by = chosen.as_ref().map(|chosen| chosen.origin.clone()).filter(|origin| match origin {
        Origin::BuiltIn | Origin::File(_) => false,
        Origin::Environment(_) | Origin::Flag(_) => true,
    });
    (chosen, overridden_by)
}

/// Prints the setting's present value: a stronger layer may override the written one.
fn written(home: &Home, key: String, changed: bool, session: &Session) -> Result<()> {
    let (chosen, overridden_by) = present(home, &key, session);
    let written = Written {
        path: home.config(),
        key,
        changed,
        value: chosen.map(|chosen| chosen.value),
        overridden_by,
    };
    session.out.say(&written, |_| {
        let value = written.value.as_ref().map_or_else(|| "gone".to_string(), render::config::value);
        let by = written
            .overridden_by
            .as_ref()
            .map(|origin| format!(", which {origin} decides"))
            .unwrap_or_default();
        format!("{} is {value}{by} ({})", written.key, written.path.display())
    })
}

/// Writes a temporary file, syncs it and renames it: a reader sees the old file or the new one.
fn write(home: &Home, text: &str) -> Result<()> {
    use std::io::Write;
    let path = home.config();
    // The target of a link is written, so that a settings file elsewhere stays one file.
    let target = std::fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
    let fail =
        |doing: &'static str, path: &Path, source| Failure::from(bower_core::Error::io(doing, path, source));
    files::create_folder(&home.path).map_err(|source| fail("create the folder", &home.path, source))?;
    let aside = target.with_extension(format!("toml.{}.new", std::process::id()));
    let attempt = || -> std::io::Result<()> {
        // A file that a killed process left may have other permissions.
        let _ = std::fs::remove_file(&aside);
        let mut file = files::create_new(&aside)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&aside, &target)
    };
    attempt().map_err(|source| {
        let _ = std::fs::remove_file(&aside);
        fail("write", &target, source)
    })
}
