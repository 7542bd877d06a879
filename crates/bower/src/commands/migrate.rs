//! Implements `bower migrate`: takes over the memories that another program keeps.

use super::{Session, now};
use crate::cli::{MigrateArgs, MigrateFrom};
use crate::failure::Result;
use crate::render;
use bower_core::item::Visibility;

/// Reads the other store, and says what came of it.
pub fn run(arguments: &MigrateArgs, session: &Session) -> Result<()> {
    let MigrateFrom::FromBrv { path, dry_run } = &arguments.from;
    let service = session.service()?;
    let migrated = service.engine().migrate_from_brv(&Visibility::everything(), path, *dry_run, now())?;
    session.out.say(&migrated, |look| render::moving::migrated(&migrated, look))?;
    session.maintain(&service);
    Ok(())
}
