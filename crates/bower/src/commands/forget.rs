//! Implements `bower forget`: deletes items for good, and prints a receipt.
//! Without a selection it deletes nothing.

use std::process::ExitCode;

use super::{Session, agreed, now, selection};
use crate::cli::ForgetArgs;
use crate::failure::{Exit, Failure, Result};
use crate::render;
use crate::service::{Bounds, ForgetBody, Via};

/// Asks for confirmation where many items may be deleted, deletes them and prints the receipt. Files that could not be purged
/// show in the exit status.
pub fn run(arguments: &ForgetArgs, session: &Session) -> Result<ExitCode> {
    let now = now();
    let mut body = ForgetBody {
        ids: arguments.ids.clone(),
        keep_derived: arguments.keep_derived,
        dry_run: arguments.dry_run,
        confirm: true,
        select: selection(&arguments.select, now)?,
    };
    // An invalid request is reported before the store is opened, because opening may create it.
    body.what(Via::CommandLine, now)?;
    if let Some(short) = arguments.ids.iter().find(|id| id.trim().chars().count() < 6) {
        return Err(Failure::usage(
            format!("id {short:?} is shorter than 6 digits"),
            "bower list shows whole ids",
        ));
    }
    let bounds = Bounds { scope: body.select.scope, owner: body.select.owner.clone(), ..Bounds::local() };
    let service = session.service()?;
    // Ids were typed one by one; a selection may match more items than its author expects.
    if body.ids.is_empty() && !arguments.dry_run && !arguments.yes {
        body.dry_run = true;
        let would = service.forget(&body, &bounds, now)?;
        body.dry_run = false;
        let (items, documents) = (would.receipt.items, would.receipt.documents);
        let whole = if documents > 0 { format!(" and {documents} documents") } else { String::new() };
        let what = format!("delete {items} items{whole} for good");
        if items > 0 && !agreed(&what, "add --yes to delete them, or --dry-run to see them")? {
            session.out.note("nothing was deleted");
            return Ok(ExitCode::SUCCESS);
        }
    }
    let forgotten = service.forget(&body, &bounds, now)?;
    session.out.say(&forgotten, |look| render::forget::forgotten(&forgotten, look))?;
    let is_whole = forgotten.erased.as_ref().is_none_or(|erased| erased.complete);
    Ok(if is_whole { ExitCode::SUCCESS } else { ExitCode::from(Exit::Environment as u8) })
}
