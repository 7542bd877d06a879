//! Examines a model's files on disk, and names a fetched file only if its checksum is right.
//! Files are received under a temporary name.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use bower_core::files;
use bower_core::item::hex;
use bower_core::{Error, Result};
use sha2::{Digest, Sha256};

use super::known::KnownFile;
use super::told::{Fetched, FileState, PullStep};

/// Reason why a stream was not received completely.
pub(super) enum Cut {
    /// The source failed; the received bytes are kept.
    Source(io::Error),
    /// The source sent more bytes than the file has.
    TooLong,
    /// The local disk failed.
    Disk(Error),
}

/// Bytes copied at a time.
const BUFFER_BYTES: usize = 256 << 10;

/// Returns the path of a file that is not complete yet.
pub(super) fn part_path(folder: &Path, file: &str) -> PathBuf {
    folder.join(format!("{file}.part"))
}

/// Returns the length of a file; `None` if there is no file.
pub(super) fn length(path: &Path) -> Result<Option<u64>> {
    match fs::metadata(path) {
        Ok(found) => Ok(Some(found.len())),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(cause) => Err(Error::io("read", path, cause)),
    }
}

/// Examines a file, or its incomplete form if there is no file. Reads the whole file for its checksum.
pub(super) fn examine(folder: &Path, file: &KnownFile) -> Result<FileState> {
    let path = folder.join(&*file.name);
    let Some(bytes) = length(&path)? else {
        return Ok(match length(&part_path(folder, &file.name))? {
            Some(bytes) if bytes > 0 => FileState::Partial { bytes },
            Some(_) | None => FileState::Missing,
        });
    };
    Ok(match difference(&path, bytes, file)? {
        Some(reason) => FileState::Damaged { bytes, reason },
        None => FileState::Whole { bytes },
    })
}

/// Appends a stream to the incomplete file, at most up to the file's length.
pub(super) fn pour(
    from: &mut dyn Read,
    part: &mut File,
    path: &Path,
    file: &KnownFile,
    mut have: u64,
    report: &mut dyn FnMut(PullStep<'_>),
) -> Result<(), Cut> {
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        let count = match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => count,
            Err(cause) if cause.kind() == io::ErrorKind::Interrupted => continue,
            Err(cause) => return Err(Cut::Source(cause)),
        };
        have += count as u64;
        if have > file.bytes {
            return Err(Cut::TooLong);
        }
        part.write_all(&buffer[..count]).map_err(|cause| Cut::Disk(Error::io("write", path, cause)))?;
        report(PullStep::Bytes { have });
    }
}

/// Renames a received file to its final name. If it is not the expected file, removes it and returns the reason.
pub(super) fn land(
    folder: &Path,
    file: &KnownFile,
    report: &mut dyn FnMut(PullStep<'_>),
) -> Result<Option<String>> {
    let (part, path) = (part_path(folder, &file.name), folder.join(&*file.name));
    let bytes = length(&part)?.unwrap_or(0);
    if let Some(reason) = difference(&part, bytes, file)? {
        remove(&part)?;
        return Ok(Some(reason));
    }
    let synced = files::open_or_create(&part).and_then(|opened| opened.sync_all());
    synced.map_err(|cause| Error::io("sync", &part, cause))?;
    fs::rename(&part, &path).map_err(|cause| Error::io("rename to", &path, cause))?;
    #[cfg(unix)]
    File::open(folder)
        .and_then(|opened| opened.sync_all())
        .map_err(|cause| Error::io("sync the folder", folder, cause))?;
    report(PullStep::Checked { file: &file.name });
    Ok(None)
}

/// Copies files from a folder.
pub(super) fn copy(
    from: &Path,
    missing: &[&KnownFile],
    folder: &Path,
    report: &mut dyn FnMut(PullStep<'_>),
) -> Result<Fetched> {
    // All files are checked first, so that nothing is copied if one is missing.
    for file in missing {
        let path = from.join(&*file.name);
        if length(&path)?.is_none() {
            return Err(error(format!("{} has no {}", from.display(), file.name)));
        }
    }
    let mut fetched = Fetched::default();
    for file in missing {
        let path = from.join(&*file.name);
        let mut source = File::open(&path).map_err(|cause| Error::io("read", &path, cause))?;
        report(PullStep::File { file: &file.name, bytes: file.bytes, have: 0 });
        take(&mut source, &path.display().to_string(), file, folder, report)?;
        fetched.fetched_bytes += file.bytes;
    }
    Ok(fetched)
}

/// Receives a whole file from a stream; `words` names the stream in errors.
pub(super) fn take(
    from: &mut dyn Read,
    words: &str,
    file: &KnownFile,
    folder: &Path,
    report: &mut dyn FnMut(PullStep<'_>),
) -> Result<()> {
    let path = part_path(folder, &file.name);
    let mut part = files::create(&path).map_err(|cause| Error::io("write", &path, cause))?;
    let poured = pour(from, &mut part, &path, file, 0, report);
    drop(part);
    let reason = match poured {
        Ok(()) => match land(folder, file, report)? {
            None => return Ok(()),
            Some(reason) => reason,
        },
        Err(Cut::Disk(error)) => {
            remove(&path)?;
            return Err(error);
        }
        Err(Cut::Source(cause)) => cause.to_string(),
        Err(Cut::TooLong) => format!("has more than {} bytes", file.bytes),
    };
    remove(&path)?;
    Err(error(format!("{words} is not the model's {}: {reason}", file.name)))
}

pub(super) fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Ok(()) => Ok(()),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(cause) => Err(Error::io("remove", path, cause)),
    }
}

/// Returns how a file differs from the published one; `None` if it does not.
fn difference(path: &Path, bytes: u64, file: &KnownFile) -> Result<Option<String>> {
    if bytes != file.bytes {
        return Ok(Some(format!("has {bytes} bytes, not {}", file.bytes)));
    }
    let Some(sha256) = &file.sha256 else { return Ok(None) };
    let failed = |cause| Error::io("read", path, cause);
    let mut opened = File::open(path).map_err(failed)?;
    let mut sum = Sha256::new();
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        match opened.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => sum.update(&buffer[..count]),
            Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
            Err(cause) => return Err(failed(cause)),
        }
    }
    let found = hex(&sum.finalize());
    Ok((found != **sha256).then(|| format!("has SHA-256 {found}, not {sha256}")))
}

/// Returns an error without a model's name, which the caller adds.
fn error(reason: String) -> Error {
    Error::Model { model: String::new(), reason }
}

/// Locks a file until the result is dropped; the system releases the lock when the process ends.
pub(super) fn lock(path: &Path, report: &mut dyn FnMut(PullStep<'_>)) -> Result<File> {
    let failed = |cause| Error::io("lock", path, cause);
    let file = files::append(path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(fs::TryLockError::WouldBlock) => {
            report(PullStep::Waiting);
            file.lock().map_err(failed)?;
        }
        Err(fs::TryLockError::Error(cause)) => return Err(failed(cause)),
    }
    Ok(file)
}
