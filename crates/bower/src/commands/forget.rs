//! `bower forget`: deletes for good, with a receipt. It never deletes everything for want of a selection.

use bower_core::request::{ForgetRequest, Forgetting, Selection};

use std::process::ExitCode;

use super::{Session, agreed, now, selection};
use crate::cli::ForgetArgs;
use crate::failure::{Exit, Failure, Result};
use crate::render;
use crate::service::holds_everything;

/// Asks where many may go, deletes, prints the receipt. Files that could not be purged show in the exit status.
pub fn run(arguments: &ForgetArgs, session: &Session) -> Result<ExitCode> {
    let now = now();
    let select = selection(&arguments.select, now)?;
    let reach = select.reach();
    // A scope or an owner says who asks; beside ids it selects nothing by itself.
    let bare = Selection { scope: None, owner: None, ..select.clone() };
    let selects =
        if arguments.ids.is_empty() { !holds_everything(&select) } else { !holds_everything(&bare) };
    let what = match (arguments.ids.is_empty(), selects) {
        (false, false) => {
            if let Some(short) = arguments.ids.iter().find(|id| id.trim().chars().count() < 6) {
                return Err(Failure::usage(
                    format!("id {short:?} is shorter than 6 digits"),
                    "bower list shows whole ids",
                ));
            }
            ForgetRequest::Ids(arguments.ids.iter().map(|id| id.trim().to_string()).collect())
        }
        (true, true) => ForgetRequest::Selected(Box::new(select)),
        (false, true) => {
            return Err(Failure::usage("both ids and a selection are given", "give one of them"));
        }
        (true, false) => {
            return Err(Failure::usage(
                "nothing says what to forget",
                "give ids, or narrow it down, e.g. with --tag or --collection; add --dry-run to see it first",
            ));
        }
    };
    let how = Forgetting { what, keep_derived: arguments.keep_derived, reach, dry_run: arguments.dry_run };
    let engine = session.engine()?;
    // Ids were typed one by one; a selection may hold more than its writer thinks.
    if matches!(how.what, ForgetRequest::Selected(_)) && !arguments.dry_run && !arguments.yes {
        let would = engine.forget_as(&Forgetting { dry_run: true, ..how.clone() }, now)?;
        let (items, documents) = (would.receipt.items, would.receipt.documents);
        let whole = if documents > 0 { format!(" and {documents} documents") } else { String::new() };
        let what = format!("delete {items} items{whole} for good");
        if items > 0 && !agreed(&what, "add --yes to delete them, or --dry-run to see them")? {
            session.out.note("nothing was deleted");
            return Ok(ExitCode::SUCCESS);
        }
    }
    let forgotten = engine.forget_as(&how, now)?;
    session.out.say(&forgotten, |look| render::forget::forgotten(&forgotten, look))?;
    let is_whole = forgotten.erased.as_ref().is_none_or(|erased| erased.complete);
    Ok(if is_whole { ExitCode::SUCCESS } else { ExitCode::from(Exit::Environment as u8) })
}
