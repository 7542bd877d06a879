//! Plans and makes the changes to the files of hosts on disk.
//! A file appears under its name only when it is complete. The home stores the previous state of each file, so that removing
//! our entries restores it to the byte.

use bower_core::files;
use bower_core::item::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::edit::{self, Edit, Splice};
use crate::failure::{Failure, Result};

/// Change to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[expect(clippy::enum_variant_names, reason = "it is the word that people are told")]
pub enum Change {
    /// The file is created.
    Create,
    /// Its content changes.
    Change,
    /// The file is removed: we made it, and it contains nothing else.
    Delete,
    /// The file stays as it is.
    Unchanged,
}

/// Planned change of one file.
#[derive(Debug)]
pub struct Plan {
    /// Path as the user names it.
    pub path: PathBuf,
    /// Path after links are followed.
    place: PathBuf,
    /// The path after links, if a link of the user or of the project leads to it.
    pub real: Option<PathBuf>,
    /// Whether the file belongs to a project, whose other users read it too.
    is_shared: bool,
    /// Kind of change.
    pub change: Change,
    /// Text before the change, if the file exists.
    pub before: Option<String>,
    /// Text after the change; `None` if the file is removed.
    pub after: Option<String>,
    memory: Option<Memory>,
    /// File in the home that stores `memory`.
    note: PathBuf,
}

/// Stored state of a file that we changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Memory {
    /// Path of the file.
    file: PathBuf,
    /// Whether it existed before.
    existed: bool,
    /// Folders that were made for it, innermost first.
    made: Vec<PathBuf>,
    /// Hash of its text after the change.
    after: String,
    /// Changes in order.
    splices: Vec<Splice>,
}

/// Base folder of a host's files: the user's folder, or a project, whose content may come from others.
#[derive(Clone, Copy, Debug)]
pub enum Ground<'a> {
    /// The user's folder. Its links were made by the user.
    User(&'a Path),
    /// A project's folder. Anybody may have made its links, so none is followed out of the project.
    Project(&'a Path),
}

impl Ground<'_> {
    /// Returns the real path of a file, and the same path again if a link below this folder leads to it.
    fn place(self, path: &Path) -> Result<(PathBuf, Option<PathBuf>)> {
        let place = followed(path);
        let (Self::User(base) | Self::Project(base)) = self;
        let base_place = base.canonicalize().unwrap_or_else(|_| base.to_path_buf());
        let unlinked =
            path.strip_prefix(base).map_or_else(|_| path.to_path_buf(), |rest| base_place.join(rest));
        let is_inside = |place: &Path| {
            // Paths through `.git` belong to git, not to the project.
            let rest = place.strip_prefix(&base_place).ok();
            rest.is_some_and(|rest| rest.components().all(|part| part.as_os_str() != ".git"))
        };
        match self {
            Self::Project(_) if !is_inside(&place) => Err(Failure::environment(
                format!(
                    "{} is reached by a link that leads out of the project, to {}",
                    path.display(),
                    place.display()
                ),
                "put a file or folder in the link's place; nothing was changed in any file",
            )),
            Self::User(_) | Self::Project(_) => {
                let real = (place != unlinked).then(|| place.clone());
                Ok((place, real))
            }
        }
    }
}

/// Whether a file may contain entries of ours: state is stored for it, or its text contains our name.
pub fn may_hold_ours(path: &Path, home: &Path) -> Result<bool> {
    let place = followed(path);
    Ok(note_of(&place, home).exists() || read(&place)?.is_some_and(|text| text.contains(edit::NAME)))
}

fn note_of(place: &Path, home: &Path) -> PathBuf {
    home.join("hosts").join(format!("{}.json", &hash(&place.to_string_lossy())[..16]))
}

/// Plans the change after which a file has the edits in `wanted`, or no entry of ours if there are none. `all` lists the edits
/// that an earlier setup may have made.
pub fn plan(
    path: &Path,
    all: &[Edit],
    wanted: Option<&[Edit]>,
    home: &Path,
    ground: Ground<'_>,
) -> Result<Plan> {
    let (place, real) = ground.place(path)?;
    let is_shared = matches!(ground, Ground::Project(_));
    let before = read(&place)?;
    let note = note_of(&place, home);
    let memory = remembered(&note).filter(|memory| memory.file == place);
    let wrong = |why: String| {
        Failure::environment(
            format!("cannot change {}: {why}", path.display()),
            "put that right first; nothing was changed in any file",
        )
    };
    let base = original(before.as_deref(), memory.as_ref(), all).map_err(wrong)?;
    let existed = memory.as_ref().map_or(before.is_some(), |memory| memory.existed);
    let is_whole = matches!(all, [Edit::Whole(_)]);
    let (after, memory) = if let Some(edits) = wanted {
        if let (true, Some(before), None) = (is_whole, &before, &memory)
            && !before.trim().is_empty()
            && !edit::is_whole_ours(before)
        {
            return Err(wrong("another program's file has this name".to_owned()));
        }
        let (after, splices) = edit::put(&base, edits).map_err(wrong)?;
        let made = memory.map_or_else(|| missing_folders(&place), |memory| memory.made);
        let memory = Memory { file: place.clone(), existed, made, after: hash(&after), splices };
        (Some(after), Some(memory))
    } else {
        // A file that we made and that is empty without our entries is removed.
        let is_gone = base.trim().is_empty() && (!existed || is_whole);
        (before.as_ref().filter(|_| !is_gone).map(|_| base), None)
    };
    let change = match (&before, &after) {
        (None, Some(_)) => Change::Create,
        (Some(_), None) => Change::Delete,
        (before, after) if before == after => Change::Unchanged,
        _ => Change::Change,
    };
    Ok(Plan { path: path.to_path_buf(), place, real, is_shared, change, before, after, memory, note })
}

/// Returns the text without our entries: the original to the byte if it can be restored.
fn original(
    text: Option<&str>,
    memory: Option<&Memory>,
    edits: &[Edit],
) -> std::result::Result<String, String> {
    let Some(text) = text else { return Ok(String::new()) };
    if let Some(memory) = memory {
        let is_same = memory.after == hash(text);
        let back = edit::take_back(text, &memory.splices, is_same);
        // The text may have been changed since. Then our entries are found by name.
        if let Some(back) = back.filter(|back| is_same || !edit::is_in(back, edits)) {
            return Ok(back);
        }
    }
    edit::take_out(text, edits)
}

/// Writes the planned change. Fails if the file was changed since it was planned.
pub fn apply(plan: &Plan) -> Result<()> {
    let failed = |what: &'static str, path: &Path, source| bower_core::Error::io(what, path, source);
    if read(&plan.place)? != plan.before {
        return Err(Failure::environment(
            format!("{} was changed by another program meanwhile", plan.path.display()),
            "run it again",
        ));
    }
    // The data for the reversal is written first.
    if let Some(memory) = &plan.memory {
        let bytes = serde_json::to_vec(memory).map_err(|source| Failure::internal(source.to_string()))?;
        if let Some(folder) = plan.note.parent() {
            files::create_folder(folder).map_err(|source| failed("make the folder", folder, source))?;
        }
        replace(&plan.note, &bytes, false)?;
    }
    match (plan.change, &plan.after) {
        (Change::Create | Change::Change, Some(text)) => {
            if let Some(folder) = plan.place.parent() {
                let create = if plan.is_shared { files::create_shared_folder } else { files::create_folder };
                create(folder).map_err(|source| failed("make the folder", folder, source))?;
            }
            replace(&plan.place, text.as_bytes(), plan.is_shared)?;
        }
        (Change::Delete, _) => {
            std::fs::remove_file(&plan.place).map_err(|source| failed("remove", &plan.place, source))?;
        }
        (Change::Unchanged | Change::Create | Change::Change, _) => {}
    }
    if plan.memory.is_none() && plan.note.exists() {
        forget(plan);
    }
    Ok(())
}

/// Removes the stored state of a file and the folders that are empty without the file. A folder that holds another file of ours
/// is recorded for that file, and removed with it.
fn forget(plan: &Plan) {
    let made = if plan.after.is_none() { remembered(&plan.note).map(|memory| memory.made) } else { None };
    let _ = std::fs::remove_file(&plan.note);
    let mut left = Vec::new();
    for folder in made.unwrap_or_default() {
        if !left.is_empty() || std::fs::remove_dir(&folder).is_err() {
            left.push(folder);
        }
    }
    let Some(notes) = plan.note.parent() else { return };
    let others = std::fs::read_dir(notes).into_iter().flatten().flatten().map(|entry| entry.path());
    for note in others.filter(|_| !left.is_empty()) {
        let Some(mut memory) = remembered(&note) else { continue };
        let before = memory.made.len();
        let file = memory.file.clone();
        memory.made.extend(left.iter().filter(|folder| file.starts_with(folder)).cloned());
        // Innermost first, because an outer folder is not empty before.
        memory.made.sort_unstable_by(|one, two| {
            two.components().count().cmp(&one.components().count()).then_with(|| one.cmp(two))
        });
        memory.made.dedup();
        if memory.made.len() > before
            && let Ok(bytes) = serde_json::to_vec(&memory)
        {
            let _ = replace(&note, &bytes, false);
        }
    }
    let _ = std::fs::remove_dir(notes);
}

/// Reads the stored state of a file.
fn remembered(note: &Path) -> Option<Memory> {
    std::fs::read(note).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok())
}

/// Follows the links of a path: the target of a link is written, the link is not replaced.
fn followed(path: &Path) -> PathBuf {
    let mut place = path.to_path_buf();
    // The target of a link may not exist yet. A cycle is reported when the file is read.
    for _ in 0..16 {
        let Ok(target) = std::fs::read_link(&place) else { break };
        place = place.parent().map_or_else(|| target.clone(), |folder| folder.join(&target));
    }
    // The file and its folder may not exist yet; the name must stay the same when they do.
    let there = place.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)));
    match there {
        Some((above, real)) => match place.strip_prefix(above) {
            Ok(rest) if !rest.as_os_str().is_empty() => real.join(rest),
            Ok(_) | Err(_) => real,
        },
        None => place,
    }
}

/// Largest size of a host's file in bytes. One of Claude Code with a history of years has some MB.
const MOST_BYTES: u64 = 64 << 20;

/// Reads the text of a host's file; `None` if there is no file. A repository may contain a named pipe or a link to a device in
/// its place, and reading that would never end.
fn read(place: &Path) -> Result<Option<String>> {
    if let Ok(found) = std::fs::metadata(place)
        && !found.is_dir()
        && (!found.is_file() || found.len() > MOST_BYTES)
    {
        return Err(Failure::environment(
            format!("{} is not a file that a host would read", place.display()),
            "look at what it is and remove it; nothing was changed in any file",
        ));
    }
    match std::fs::read(place) {
        Ok(bytes) => String::from_utf8(bytes).map(Some).map_err(|source| {
            Failure::environment(
                format!(
                    "{} is not valid UTF-8 (byte {})",
                    place.display(),
                    source.utf8_error().valid_up_to()
                ),
                "save it as UTF-8; nothing was changed in any file",
            )
        }),
        Err(source) if source.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(bower_core::Error::io("read", place, source).into()),
    }
}

/// Replaces a file by these bytes and keeps its permissions. A new file is readable by its owner only, unless it is shared.
fn replace(place: &Path, bytes: &[u8], is_shared: bool) -> Result<()> {
    let failed = |source| Failure::from(bower_core::Error::io("write", place, source));
    let folder = place.parent().unwrap_or(Path::new("."));
    let mut aside = tempfile::Builder::new();
    #[cfg(unix)]
    if is_shared {
        use std::os::unix::fs::PermissionsExt;
        // Others may read it, as far as the process's umask allows; only its owner may write it.
        aside.permissions(std::fs::Permissions::from_mode(0o644));
    }
    let mut aside = aside.prefix(".bower-").tempfile_in(folder).map_err(failed)?;
    aside.write_all(bytes).map_err(failed)?;
    if let Ok(there) = std::fs::metadata(place) {
        aside.as_file().set_permissions(there.permissions()).map_err(failed)?;
    }
    aside.as_file().sync_all().map_err(failed)?;
    aside.persist(place).map_err(|error| failed(error.error))?;
    Ok(())
}

/// Returns the missing folders above a path, innermost first.
fn missing_folders(place: &Path) -> Vec<PathBuf> {
    place.ancestors().skip(1).take_while(|folder| !folder.exists()).map(Path::to_path_buf).collect()
}

fn hash(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}
