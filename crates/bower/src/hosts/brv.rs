//! Sets up programs that call `brv`, by a link of that name beside the program.
//! The program reads from the name that it is called as `brv`.

use std::path::{Path, PathBuf};

use super::files::Change;
use crate::failure::{Failure, Result};

/// Next steps for the user, one line each.
pub const NEXT: &[&str] = &["see that it is the one that is called: brv --version"];

/// Planned change of the link.
#[derive(Debug)]
pub struct Link {
    /// Path of the link.
    pub path: PathBuf,
    /// Kind of change.
    pub change: Change,
    program: PathBuf,
}

/// Plans to make or remove the link beside a program. A file there that is not ours is never touched.
pub fn plan(program: &Path, remove: bool) -> Result<Link> {
    let name = if cfg!(windows) { "brv.exe" } else { "brv" };
    let path = program.with_file_name(name);
    let is_ours = path.canonicalize().ok().zip(program.canonicalize().ok()).is_some_and(|(a, b)| a == b);
    let is_there = path.symlink_metadata().is_ok();
    let change = match (is_there, is_ours, remove) {
        (false, _, false) => Change::Create,
        (true, true, true) => Change::Delete,
        (true, true, false) | (false, _, true) | (true, false, true) => Change::Unchanged,
        (true, false, false) => {
            return Err(Failure::environment(
                format!("{} is another program", path.display()),
                "move it away, or put bower into another folder of your PATH and name it with --program",
            ));
        }
    };
    Ok(Link { path, change, program: program.to_path_buf() })
}

impl Link {
    /// Formats the change as `diff -u` would, if it showed links.
    pub fn diff(&self) -> String {
        let sign = match self.change {
            Change::Create | Change::Change => '+',
            Change::Delete => '-',
            Change::Unchanged => return String::new(),
        };
        format!("{sign}{} -> {}\n", self.path.display(), self.program.display())
    }

    /// Makes or removes the link.
    pub fn apply(&self) -> Result<()> {
        let done = match self.change {
            Change::Create | Change::Change => link(&self.program, &self.path),
            Change::Delete => std::fs::remove_file(&self.path),
            Change::Unchanged => Ok(()),
        };
        done.map_err(|source| bower_core::Error::io("make or remove the link", &self.path, source).into())
    }
}

#[cfg(unix)]
fn link(program: &Path, path: &Path) -> std::io::Result<()> {
    // The link holds the name alone, because program and link are moved together.
    let name = program.file_name().map_or(program, Path::new);
    std::os::unix::fs::symlink(name, path)
}

#[cfg(not(unix))]
fn link(program: &Path, path: &Path) -> std::io::Result<()> {
    std::fs::hard_link(program, path)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_link_comes_and_goes_and_nothing_else_is_touched() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("bower");
        std::fs::write(&program, "x").unwrap();
        assert_eq!(plan(&program, true).unwrap().change, Change::Unchanged);
        let made = plan(&program, false).unwrap();
        assert_eq!(made.change, Change::Create);
        made.apply().unwrap();
        assert_eq!(std::fs::read(folder.path().join("brv")).unwrap(), b"x");
        assert_eq!(plan(&program, false).unwrap().change, Change::Unchanged);
        plan(&program, true).unwrap().apply().unwrap();
        assert!(!folder.path().join("brv").exists());
        std::fs::write(folder.path().join("brv"), "the other").unwrap();
        assert!(plan(&program, false).is_err());
        assert_eq!(plan(&program, true).unwrap().change, Change::Unchanged);
    }
}
