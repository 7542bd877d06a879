//! Queues on disk the texts that `brv` has accepted and not kept yet.
//! An entry is on disk before the caller gets the reply that it is queued. A separate process keeps it; if that process died,
//! the next run does.

use bower_core::Error;
use bower_core::files;
use bower_core::item::hex;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use crate::failure::{Failure, Result};

/// Age from which an entry is abandoned: keeping one takes a second at most.
const LEFT_BEHIND: Duration = Duration::from_mins(1);

/// The folder of the entries.
pub(super) struct Queue {
    folder: PathBuf,
}

impl Queue {
    /// Returns the queue of a project. Its entries are kept in the project's collection, never in that of a later run's
    /// project.
    pub(super) fn of(home: &Path, collection: &str) -> Self {
        Self { folder: home.join("queue").join(digits(collection)) }
    }

    /// Writes a text to disk and returns the name of its entry.
    pub(super) fn push(&self, text: &str) -> Result<String> {
        files::create_folder(&self.folder)
            .map_err(|source| Error::io("create the folder", &self.folder, source))?;
        let name = name_of(text);
        let written = tempfile::NamedTempFile::new_in(&self.folder).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.as_file().sync_all()?;
            file.persist(self.folder.join(&name)).map_err(|error| error.error)?;
            // The name is durable only after its folder is synced.
            File::open(&self.folder).and_then(|folder| folder.sync_all())
        });
        written.map_err(|source| Error::io("write", &self.folder.join(&name), source))?;
        Ok(name)
    }

    /// Returns the text of an entry; `None` if another process has handled it.
    pub(super) fn read(&self, entry: &str) -> Result<Option<String>> {
        let path = self.path(entry)?;
        match std::fs::read_to_string(&path) {
            Ok(text) => Ok(Some(text)),
            Err(source) if source.kind() == ErrorKind::NotFound => Ok(None),
            Err(source) => Err(Error::io("read", &path, source).into()),
        }
    }

    /// Removes an entry. It is no error if another process removed it.
    pub(super) fn remove(&self, entry: &str) -> Result<()> {
        let path = self.path(entry)?;
        match std::fs::remove_file(&path) {
            Err(source) if source.kind() != ErrorKind::NotFound => {
                Err(Error::io("remove", &path, source).into())
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Returns the entries whose process must have died, sorted by name.
    pub(super) fn left_behind(&self, now: SystemTime) -> Result<Vec<String>> {
        let listed = match std::fs::read_dir(&self.folder) {
            Ok(listed) => listed,
            Err(source) if source.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(Error::io("read the folder", &self.folder, source).into()),
        };
        let mut left = Vec::new();
        for entry in listed.flatten() {
            // A file time after `now` comes from a wrong clock, and counts as an age too.
            let gap = |time| now.duration_since(time).unwrap_or_else(|later| later.duration());
            let age = entry.metadata().and_then(|about| about.modified()).map(gap);
            let is_old = age.is_ok_and(|age| age >= LEFT_BEHIND);
            let name = entry.file_name().to_string_lossy().into_owned();
            if is_old && is_name(&name) {
                left.push(name);
            }
        }
        left.sort_unstable();
        Ok(left)
    }

    fn path(&self, entry: &str) -> Result<PathBuf> {
        if is_name(entry) {
            Ok(self.folder.join(entry))
        } else {
            Err(Failure::usage(format!("{entry:?} is no entry of the queue"), "curate prints their names"))
        }
    }
}

/// Starts a process that keeps an entry and outlives this one.
pub(super) fn spawn(entry: &str, root: &Path, collection: &str, home: &Path) -> Result<()> {
    let program = std::env::current_exe()
        .map_err(|source| Error::io("find the program that runs", Path::new("brv"), source))?;
    let mut command = Command::new(&program);
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt as _;
        // The name selects `brv`. In its own process group, no key of this terminal ends it.
        command.arg0("brv").process_group(0);
    }
    command.arg("--home").arg(home).args(["--collection", collection, "curate", "--queued", entry]);
    command.current_dir(root).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().map(drop).map_err(|source| Error::io("start", &program, source).into())
}

/// Returns the entry's name; the same text gives the same entry.
fn name_of(text: &str) -> String {
    format!("cur-{}", digits(text))
}

/// Returns sixteen hexadecimal digits of a hash; two texts practically never share them.
fn digits(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes())[..8])
}

fn is_name(name: &str) -> bool {
    name.strip_prefix("cur-")
        .is_some_and(|rest| rest.len() == 16 && rest.bytes().all(|b| b.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_waits_until_somebody_deals_with_it() {
        let home = tempfile::tempdir().unwrap();
        let queue = Queue::of(home.path(), "one");
        let now = SystemTime::now();
        assert_eq!(queue.left_behind(now).unwrap(), [""; 0]);
        let entry = queue.push("the port is 8080").unwrap();
        assert_eq!(queue.push("the port is 8080").unwrap(), entry);
        assert_eq!(queue.left_behind(now).unwrap(), [""; 0], "its process may be at it");
        assert_eq!(queue.left_behind(now + LEFT_BEHIND * 2).unwrap(), std::slice::from_ref(&entry));
        assert_eq!(
            queue.left_behind(now - LEFT_BEHIND * 2).unwrap(),
            std::slice::from_ref(&entry),
            "set back"
        );
        assert_eq!(queue.read(&entry).unwrap().as_deref(), Some("the port is 8080"));
        queue.remove(&entry).unwrap();
        queue.remove(&entry).unwrap();
        assert_eq!(queue.read(&entry).unwrap(), None);
        assert!(queue.read("../config.toml").is_err());
        let (entry, other) = (queue.push("the port is 8080").unwrap(), Queue::of(home.path(), "../two"));
        assert_eq!(other.left_behind(now + LEFT_BEHIND * 2).unwrap(), [""; 0], "another project's");
        assert_eq!(other.push("the port is 8080").unwrap(), entry);
        other.remove(&entry).unwrap();
        assert!(queue.read(&entry).unwrap().is_some());
    }
}
