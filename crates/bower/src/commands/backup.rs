//! Implements `bower backup` and `bower restore`: copies the whole store into a file, and back.

use bower_core::engine::Engine;
use bower_core::item::Visibility;
use bower_core::request::CompactWhen;
use bower_core::sqlite;

use super::{Session, agreed, now};
use crate::cli::{BackupArgs, RestoreArgs};
use crate::failure::Result;
use crate::render;

/// Copies the store while other processes write.
pub fn backup(arguments: &BackupArgs, session: &Session) -> Result<()> {
    let copied = session.service()?.engine().backup(&Visibility::everything(), &arguments.file)?;
    session.out.say(&copied, |_| render::store::backed_up(&copied, &arguments.file))
}

/// Replaces the store by a copy.
pub fn restore(arguments: &RestoreArgs, session: &Session) -> Result<()> {
    let home = session.home()?;
    let settings = session.settings(&home)?.settings;
    let now = now();
    if !arguments.yes {
        let there = Engine::open(&home.path, settings.clone(), now)
            .and_then(|engine| engine.status(&Visibility::everything()));
        let what = match there {
            Ok(status) => {
                let items = status.total_memories + status.total_chunks;
                let what =
                    format!("replace {} and its {}", status.db_path.display(), render::count(items, "item"));
                (items > 0).then_some(what)
            }
            Err(error) => {
                Some(format!("replace the store in {}, which cannot be read ({error})", home.path.display()))
            }
        };
        if let Some(what) = what
            && !agreed(&what, "add --yes; what is there is kept beside it")?
        {
            session.out.note("nothing was replaced");
            return Ok(());
        }
    }
    let file = sqlite::file_in(&home.path);
    let copied = sqlite::restore(&file, &arguments.file, &settings, now)?;
    Engine::open(&home.path, settings, now)?.compact(CompactWhen::Always)?;
    session.out.say(&copied, |_| render::store::restored(&copied, &arguments.file))
}
