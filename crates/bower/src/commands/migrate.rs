//! Implements `bower migrate`: imports the memories of another program.

use super::{Session, now};
use crate::cli::{MigrateArgs, MigrateFrom};
use crate::failure::Result;
use crate::render;
use bower_core::item::Visibility;
use bower_core::request::moving::MigrateRequest;

/// Reads the other store and prints the result.
pub fn run(arguments: &MigrateArgs, session: &Session) -> Result<()> {
    let MigrateFrom::FromBrv { path, dry_run } = &arguments.from;
    let request = MigrateRequest { dry_run: *dry_run };
    let service = session.service()?;
    let migrated = service.engine().migrate_from_brv(&Visibility::everything(), path, &request, now())?;
    session.out.say(&migrated, |look| render::moving::migrated(&migrated, look))?;
    session.maintain(&service);
    Ok(())
}
