//! Implements `bower index`: brings the store up to date with files.
//! Progress goes to standard error; the summary is data.

mod bar;

use bower_core::request::IndexRequest;

use super::{Session, watch};
use crate::cli::IndexArgs;
use crate::failure::{Failure, Result};
use crate::render;

pub use bar::{embed, once};

/// Indexes once, and goes on with `--watch`.
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
    let request = IndexRequest {
        paths,
        collection: arguments.collection.clone(),
        include: arguments.include.clone(),
        exclude: arguments.exclude.clone(),
        scope: arguments.scope,
        owner: arguments.owner.clone(),
    };
    let engine = session.engine()?;
    if arguments.watch {
        return watch::run(&engine, &request, session);
    }
    let report = once(&engine, &request, session)?;
    session.out.say(&report, |look| render::index::report(&report, look))?;
    session.maintain(&engine);
    Ok(())
}
