//! Implements `bower forget`: deletes items for good, and prints a receipt.
//! It never deletes everything for want of a selection.

use bower_core::item::Visibility;
use bower_core::request::{ForgetRequest, Forgetting};
use std::process::ExitCode;

use super::{Session, agreed, now, selection};
use crate::cli::ForgetArgs;
use crate::failure::{Exit, Failure, Result};
use crate::render;
use crate::service::{Words, what_goes};

/// Asks where many may go, deletes, prints the receipt. Files that could not be purged show in the exit status.
pub fn run(arguments: &ForgetArgs, session: &Session) -> Result<ExitCode> {
    let now = now();
    let select = selection(&arguments.select, now)?;
    let visibility = Visibility::of(select.scope, select.owner.clone());
    let what = what_goes(&arguments.ids, select, Words::Flags)?;
    // Said before anything is opened, for nothing is made for what cannot be acted on.
    if let Some(short) = arguments.ids.iter().find(|id| id.trim().chars().count() < 6) {
        return Err(Failure::usage(
            format!("id {short:?} is shorter than 6 digits"),
            "bower list shows whole ids",
        ));
    }
    let how = Forgetting { what, keep_derived: arguments.keep_derived, dry_run: arguments.dry_run };
    let engine = session.engine()?;
    // Ids were typed one by one; a selection may hold more than its writer thinks.
    if matches!(how.what, ForgetRequest::Selected(_)) && !arguments.dry_run && !arguments.yes {
        let would = engine.forget(&visibility, &Forgetting { dry_run: true, ..how.clone() }, now)?;
        let (items, documents) = (would.receipt.items, would.receipt.documents);
        let whole = if documents > 0 { format!(" and {documents} documents") } else { String::new() };
        let what = format!("delete {items} items{whole} for good");
        if items > 0 && !agreed(&what, "add --yes to delete them, or --dry-run to see them")? {
            session.out.note("nothing was deleted");
            return Ok(ExitCode::SUCCESS);
        }
    }
    let forgotten = engine.forget(&visibility, &how, now)?;
    session.out.say(&forgotten, |look| render::forget::forgotten(&forgotten, look))?;
    let is_whole = forgotten.erased.as_ref().is_none_or(|erased| erased.complete);
    Ok(if is_whole { ExitCode::SUCCESS } else { ExitCode::from(Exit::Environment as u8) })
}
