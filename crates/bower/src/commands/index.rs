//! Implements `bower index`: brings the store up to date with files and with pages of the web.
//! Progress goes to standard error; the summary is data.

mod bar;
mod web;

use std::path::PathBuf;

use super::{Session, watch};
use crate::cli::IndexArgs;
use crate::failure::{Failure, Result};
use crate::render;
use crate::service::IndexBody;
use crate::web::is_address;

pub use bar::{embed, once, with_bar};

/// Indexes once, and continues with `--watch`.
pub fn run(arguments: &IndexArgs, session: &Session) -> Result<()> {
    let is_address = |path: &&PathBuf| path.to_str().is_some_and(is_address);
    let addresses: Vec<String> =
        arguments.paths.iter().filter(is_address).map(|path| path.to_string_lossy().into_owned()).collect();
    if !addresses.is_empty() {
        return pages(&addresses, arguments, session);
    }
    let paths = arguments
        .paths
        .iter()
        .map(|path| {
            std::path::absolute(path).map_err(|source| {
                Failure::usage(format!("cannot find {}: {source}", path.display()), "name a file or folder")
            })
        })
        .collect::<Result<Vec<_>>>()?;
    let body = IndexBody {
        paths,
        only: Vec::new(),
        collection: arguments.collection.clone(),
        include: arguments.include.clone(),
        exclude: arguments.exclude.clone(),
        scope: Some(arguments.scope),
        owner: arguments.owner.clone(),
    };
    let service = session.service()?;
    if arguments.watch {
        return watch::run(&service, &body, session);
    }
    let report = once(&service, &body, session)?;
    session.out.say(&report, |look| render::index::report(&report, look))?;
    session.maintain(&service);
    Ok(())
}

/// Indexes pages of the web.
fn pages(addresses: &[String], arguments: &IndexArgs, session: &Session) -> Result<()> {
    if addresses.len() < arguments.paths.len() {
        return Err(Failure::usage("addresses and paths are given together", "index them with two commands"));
    }
    if arguments.watch || !arguments.include.is_empty() || !arguments.exclude.is_empty() {
        return Err(Failure::usage("--watch, --include and --exclude are for files", "leave them out"));
    }
    let service = session.service()?;
    let report = web::run(addresses, arguments, &service)?;
    session.out.say(&report, |look| render::index::report(&report, look))?;
    session.maintain(&service);
    Ok(())
}
