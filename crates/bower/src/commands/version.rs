//! Implements `bower version`: prints the version and the commit.
//! It reads nothing, so it works even when everything else is broken.

use serde::Serialize;

use super::Session;
use crate::failure::Result;

#[derive(Serialize)]
struct Version {
    version: &'static str,
    commit: &'static str,
}

/// Prints the version and the commit.
pub fn run(session: &Session) -> Result<()> {
    let version = Version { version: env!("CARGO_PKG_VERSION"), commit: env!("BOWER_COMMIT") };
    session.out.say(&version, |_| format!("bower {} ({})", version.version, version.commit))
}
