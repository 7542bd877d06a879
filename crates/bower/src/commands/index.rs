//! Implements `bower index`: brings the store up to date with files.
//! Progress goes to standard error; the summary is data.

mod bar;

use super::{Session, watch};
use crate::cli::IndexArgs;
use crate::failure::{Failure, Result};
use crate::render;
use crate::service::IndexBody;

pub use bar::{embed, once};

/// Indexes once, and continues with `--watch`.
pub fn run(arguments: &IndexArgs, session: &Session) -> Result<()> {
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
