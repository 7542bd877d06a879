//! Fetches a model with a progress bar, and says what to do if no source provides it.

use bower_core::Error;
use bower_core::config::Settings;
use std::io::IsTerminal;
use std::path::Path;

use super::super::Session;
use crate::failure::{Failure, Hint, Result};
use crate::model::{self, Bar, Pulled, Source};

/// Hint if no source provides the model.
const WITHOUT: &str = "run it again later, or bring the files: bower model pull --from FOLDER; until then questions are \
                       answered by words alone";

/// Hint if no source provides a repository.
const WITHOUT_REPOSITORY: &str = "run it again later, or bring the files of the repository, model.safetensors among them: bower model pull \
                                  OWNER/NAME --from FOLDER";

/// Fetches, checks and packs a model, and shows the progress.
pub fn pull(
    folder: &Path,
    name: &str,
    dimension: Option<usize>,
    source: &Source,
    session: &Session,
) -> Result<Pulled> {
    let mut bar = Bar::new(std::io::stderr().is_terminal(), session.out.verbose);
    let quiet = session.out.quiet;
    let pulled = model::pull(folder, name, dimension, source, &mut |step| {
        if !quiet {
            bar.show(&step);
        }
    });
    pulled.map_err(|error| without_source(error, name))
}

/// Returns the failure of a pull, with what to do if no source provides the model.
fn without_source(error: Error, name: &str) -> Failure {
    let no_source = matches!(error, Error::Model { .. });
    let mut failure = Failure::from(error);
    if no_source {
        let is_default = name == Settings::default().model;
        failure.hint = Some(Hint::same(if is_default { WITHOUT } else { WITHOUT_REPOSITORY }));
    }
    failure
}
