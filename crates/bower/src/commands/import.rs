//! Implements `bower import`: reads files into the store, each in the format that its content has.
//! A file that cannot be read does not stop the others.

use bower_core::engine::Import;
use bower_core::item::Visibility;
use bower_core::request::moving::{ImportProgress, ImportRequest};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufReader, IsTerminal, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::rc::Rc;
use std::time::Duration;

use super::{Session, now};
use crate::cli::ImportArgs;
use crate::failure::{Exit, Failure, Hint, Result};
use crate::render;

/// Longest directory of a zip file, in bytes: a hundred thousand files' names. It takes about five times as much memory.
const LARGEST_DIRECTORY: u64 = 16 << 20;
/// Largest ratio of unpacked to packed size. JSON conversations are packed to a fifth or a tenth; deflate packs zeros to a
/// thousandth.
const MOST_UNPACKED: u64 = 100;
/// Bytes that any archive may unpack to.
const LEAST_UNPACKED: u64 = 64 << 20;

/// First bytes of a zip file.
const ZIP: &[u8] = b"PK\x03\x04";
/// First bytes of an SQLite database.
const DATABASE: &[u8] = b"SQLite format 3\0";

/// Reason for leaving out a database without memories.
const NO_MEMORIES: &str =
    "it is a database of no program whose memories can be imported; bower restore reads a backup of a store";

/// Reads all named files and prints the result. If nothing could be read, the exit status shows it.
pub fn run(arguments: &ImportArgs, session: &Session) -> Result<ExitCode> {
    if arguments.as_memories && arguments.delete {
        return Err(Failure::usage(
            "--as-memories is for conversations, --delete for edited folders",
            "give one of them",
        ));
    }
    for path in &arguments.paths {
        if path != Path::new("-") && !path.exists() {
            return Err(Failure {
                message: format!("no file or folder {}", path.display()),
                hint: Some(Hint::same("check the path; relative paths start at the current folder")),
                exit: Exit::Nothing,
                causes: Vec::new(),
            });
        }
    }
    let request = ImportRequest {
        owner: arguments.owner.clone(),
        scope: arguments.scope,
        collection: arguments.collection.clone(),
        as_memories: arguments.as_memories,
        me: arguments.me.clone(),
        delete: arguments.delete,
        dry_run: arguments.dry_run,
    };
    let service = session.service()?;
    let bar = bar(session);
    let items = bar.clone();
    let progress = move |step: ImportProgress| match step {
        ImportProgress::Items(dealt) => {
            items.inc(dealt);
            items.set_message(format!("{} items", items.position()));
        }
        ImportProgress::Vectors(made) => {
            items.inc(made as u64);
            items.set_message("making vectors");
        }
        ImportProgress::Compacting => items.set_message("bringing the indexes up to date"),
    };
    let ended = (|| {
        let engine = service.engine();
        let mut import = engine.import(&Visibility::everything(), request, now(), &progress)?;
        for path in &arguments.paths {
            if path == Path::new("-") {
                import.file("standard input", std::io::stdin().lock())?;
            } else if path.is_dir() {
                folder(&mut import, path)?;
            } else {
                file(&mut import, path)?;
            }
        }
        Ok::<_, Failure>(import.finish()?)
    })();
    bar.finish_and_clear();
    let imported = ended?;
    session.out.say(&imported, |look| render::moving::imported(&imported, look))?;
    session.maintain(&service);
    let read: u64 = imported.sources.iter().map(|source| source.memories).sum();
    let dealt = imported.added + imported.updated + imported.unchanged + imported.newer + read;
    let nothing = imported.failed > 0 && dealt == 0;
    Ok(if nothing { ExitCode::from(Exit::Environment as u8) } else { ExitCode::SUCCESS })
}

fn bar(session: &Session) -> ProgressBar {
    if session.out.quiet || !std::io::stderr().is_terminal() {
        return ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
    }
    let bar = ProgressBar::new_spinner();
    bar.set_style(
        ProgressStyle::with_template("{spinner} {msg}, {elapsed}")
            .expect("the template is a constant that was tried"),
    );
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}

fn file(import: &mut Import<'_>, path: &Path) -> Result<()> {
    let name = path.display().to_string();
    let mut opened = match File::open(path) {
        Ok(opened) => opened,
        Err(source) => {
            import.unreadable(&name, &format!("cannot be read: {source}"));
            return Ok(());
        }
    };
    let start = start_of(&mut opened);
    if start.starts_with(ZIP) {
        return archive(import, &name, opened);
    }
    if start.starts_with(DATABASE) {
        if !import.database(&name, path)? {
            import.unreadable(&name, NO_MEMORIES);
        }
        return Ok(());
    }
    let opened = match File::open(path) {
        Ok(opened) => opened,
        Err(source) => {
            import.unreadable(&name, &format!("cannot be read: {source}"));
            return Ok(());
        }
    };
    Ok(import.file(&name, opened)?)
}

/// Returns the first bytes of a file, as many as there are.
fn start_of(file: &mut File) -> Vec<u8> {
    let mut start = Vec::with_capacity(DATABASE.len());
    // A file that cannot be read on is reported by its reader.
    let _ = file.take(DATABASE.len() as u64).read_to_end(&mut start);
    start
}

/// Reads the conversations in a zip file; other files in it are ignored.
fn archive(import: &mut Import<'_>, name: &str, opened: File) -> Result<()> {
    let packed = opened.metadata().map_or(0, |file| file.len());
    let (metered, allowed) = metered(opened, LARGEST_DIRECTORY);
    let mut archive = match zip::ZipArchive::new(metered) {
        Ok(archive) => archive,
        Err(error) => {
            let reason = if allowed.get() == 0 {
                format!(
                    "its list of files is longer than {} MB; unpack it and import what is in it",
                    LARGEST_DIRECTORY >> 20
                )
            } else {
                format!("it is no whole zip file: {error}; fetch it again")
            };
            import.unreadable(name, &reason);
            return Ok(());
        }
    };
    // From here on, the unpacked bytes are limited instead.
    allowed.set(u64::MAX);
    let names: Vec<String> = archive.file_names().filter_map(|name| Some(name.ok()?.into_owned())).collect();
    let chosen = wanted(names.iter().map(String::as_str));
    if chosen.is_empty() {
        import.unreadable(
            name,
            "no conversations.json and no .jsonl in it; is it an export of ChatGPT or Claude?",
        );
        return Ok(());
    }
    let unpacked = Cell::new(packed.saturating_mul(MOST_UNPACKED).max(LEAST_UNPACKED));
    for inner in chosen {
        let label = format!("{name}/{inner}");
        match archive.by_name(inner) {
            Ok(entry) => import.file(&label, Unpacked { entry, left: &unpacked })?,
            Err(error) => import.unreadable(&label, &format!("cannot be unpacked: {error}")),
        }
        if unpacked.get() == 0 {
            // All further entries would be refused for the same reason.
            break;
        }
    }
    Ok(())
}

/// A file with a limit on the bytes that may be read.
struct Metered {
    file: File,
    left: Rc<Cell<u64>>,
}

/// Limits the bytes that may be read from a file; also returns the counter of remaining bytes.
fn metered(file: File, most: u64) -> (BufReader<Metered>, Rc<Cell<u64>>) {
    let left = Rc::new(Cell::new(most));
    (BufReader::new(Metered { file, left: Rc::clone(&left) }), left)
}

impl Read for Metered {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        let left = self.left.get();
        self.left.set(left.saturating_sub(read as u64));
        if read as u64 > left { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(read) }
    }
}

impl Seek for Metered {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// An entry that is being unpacked. All entries of an archive share one limit in bytes, even if they overlap.
struct Unpacked<'a, R> {
    entry: R,
    left: &'a Cell<u64>,
}

impl<R: Read> Read for Unpacked<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.entry.read(buffer)?;
        let left = self.left.get();
        self.left.set(left.saturating_sub(read as u64));
        if read as u64 > left {
            return Err(io::Error::other(format!(
                "the archive unpacks to more than {MOST_UNPACKED} times its size, as no export does; if you trust it, unpack it \
                 yourself and import the files"
            )));
        }
        Ok(read)
    }
}

/// Returns the files of an archive or a folder that hold conversations: `conversations.json` (or its parts) if there is one,
/// else all JSON lines, else all JSON.
fn wanted<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut names: Vec<&str> = names.filter(|name| !name.ends_with('/')).collect();
    names.sort_unstable();
    let last = |name: &'a str| name.rsplit(['/', '\\']).next().unwrap_or(name);
    let ends = |name: &str, endings: &[&str]| {
        let lower = name.to_lowercase();
        endings.iter().any(|ending| lower.ends_with(ending))
    };
    let sorts: [&dyn Fn(&'a str) -> bool; 3] = [
        &|name| last(name).starts_with("conversations") && ends(name, &[".json"]),
        &|name| ends(name, &[".jsonl", ".ndjson"]),
        &|name| ends(name, &[".json"]) && !last(name).starts_with('.'),
    ];
    for is_wanted in sorts {
        let found: Vec<&str> = names.iter().copied().filter(|name| is_wanted(name)).collect();
        if !found.is_empty() {
            return found;
        }
    }
    Vec::new()
}

/// Reads a folder of memories as files, of other programs' memories, or of conversations.
fn folder(import: &mut Import<'_>, path: &Path) -> Result<()> {
    if path.join(".bower-export.json").exists() {
        return Ok(import.folder(path)?);
    }
    let taken = import.foreign_folders(path)?;
    let mut files = Vec::new();
    below(path, &mut files).map_err(|source| bower_core::Error::io("read the folder", path, source))?;
    files.retain(|file| taken.iter().all(|folder| !file.starts_with(folder)));
    let names: Vec<String> = files.iter().map(|file| file.to_string_lossy().into_owned()).collect();
    let mut chosen = wanted(names.iter().map(String::as_str));
    let ends = |name: &str, ending: &str| name.to_lowercase().ends_with(ending);
    chosen.extend(names.iter().map(String::as_str).filter(|name| ends(name, ".zip")));
    let mut is_known = !taken.is_empty() || !chosen.is_empty();
    chosen.into_iter().try_for_each(|name| file(import, Path::new(name)))?;
    // A folder may have databases of anything, so only those with memories count.
    for name in names.iter().filter(|name| is_database(name)) {
        is_known |= import.database(name, Path::new(name))?;
    }
    if is_known {
        return Ok(());
    }
    if names.iter().any(|name| ends(name, ".md")) {
        return Ok(import.folder(path)?);
    }
    import.unreadable(
        &path.display().to_string(),
        "nothing in it is an export, an archive, a memory or a transcript",
    );
    Ok(())
}

/// Whether a file is a database by its name and its first bytes.
fn is_database(name: &str) -> bool {
    let is_named = [".db", ".sqlite", ".sqlite3"].iter().any(|ending| name.to_lowercase().ends_with(ending));
    is_named && File::open(name).is_ok_and(|mut file| start_of(&mut file) == DATABASE)
}

/// Collects the files below a folder; links are not followed.
fn below(folder: &Path, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            below(&entry.path(), found)?;
        } else if kind.is_file() {
            found.push(entry.path());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversations_are_found_among_what_lies_beside_them() {
        let check = |names: &[&str], expected: &[&str]| {
            assert_eq!(wanted(names.iter().copied()), expected, "{names:?}");
        };
        check(&["user.json", "conversations.json", "chat.html", "x/"], &["conversations.json"]);
        check(
            &["a/conversations-001.json", "a/conversations-000.json", "b.jsonl"],
            &["a/conversations-000.json", "a/conversations-001.json"],
        );
        check(&["b.jsonl", "a.JSONL", "c.json"], &["a.JSONL", "b.jsonl"]);
        check(&["c.json", ".hidden.json", "d.md"], &["c.json"]);
        check(&["d.md"], &[]);
    }
}
