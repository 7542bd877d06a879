//! Implements `bower index --watch`: indexes, then repeats it for each changed root, until it is interrupted.
//! Every batch is an ordinary index run, so .gitignore, renames and deletions are treated as without it.

use bower_core::error::{Error, Missing};
use bower_core::shared::IGNORE_FILE;
use notify_debouncer_full::notify::{EventKind, RecursiveMode};
use notify_debouncer_full::{DebounceEventResult, DebouncedEvent, new_debouncer};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use super::Session;
use super::index::once;
use crate::cli::Format;
use crate::failure::{FROM_HERE, Failure, Hint, Result};
use crate::render;
use crate::service::{IndexBody, Service};
use crate::wire::Output;

/// Time without events after which a batch is complete: editors write in bursts.
const QUIET: Duration = Duration::from_millis(400);

/// Starts watching before it indexes, so that no change in between is missed.
pub fn run(service: &Service, body: &IndexBody, session: &Session) -> Result<()> {
    let home = real(&session.home()?.path);
    let roots: Vec<PathBuf> = body.paths.iter().map(|path| real(path)).collect();
    let (sender, events) = channel();
    let mut debouncer =
        new_debouncer(QUIET, None, sender).map_err(|source| cannot("start watching", &source))?;
    for root in &roots {
        // Files are often replaced by a rename, which a watch on the file would not survive, so its folder is watched.
        let (path, mode) = match root.parent() {
            Some(folder) if root.is_file() => (folder, RecursiveMode::NonRecursive),
            Some(_) | None => (root.as_path(), RecursiveMode::Recursive),
        };
        if let Err(source) = debouncer.watch(path, mode) {
            if !root.exists() {
                let id = root.display().to_string();
                return Err(Error::NotFound { what: Missing::Path("path"), id }.into());
            }
            return Err(cannot(&format!("watch {}", root.display()), &source));
        }
    }
    let report = once(service, body, session)?;
    session.out.say(&report, |look| render::index::report(&report, look))?;
    session.maintain(service);
    session.out.note("watching for changes; Ctrl-C ends it");
    while let Some(batch) = next(&events, session) {
        let (changed, affected) = sort_out(&batch, &roots, &home);
        if affected.is_empty() {
            continue;
        }
        let paths = affected.into_iter().collect();
        match once(service, &IndexBody { paths, ..body.clone() }, session) {
            Ok(report) if session.out.format == Format::Text => {
                if report.indexed + report.removed > 0 || session.out.verbose {
                    Output::put(&render::index::batch(changed, &report, &session.out.look()))?;
                }
                session.maintain(service);
            }
            Ok(report) => {
                session.out.say(&report, |_| String::new())?;
                session.maintain(service);
            }
            // A missing root may come back, and a full disk may be cleared: the failure is printed and watching continues.
            Err(failure) => session.out.fail(&failure),
        }
    }
    Err(Failure::internal("the watcher ended"))
}

/// Waits for a batch, and joins the batches that are waiting already.
fn next(events: &Receiver<DebounceEventResult>, session: &Session) -> Option<Vec<DebouncedEvent>> {
    let mut batch = Vec::new();
    let first = events.recv().ok()?;
    for result in std::iter::once(first).chain(std::iter::from_fn(|| events.try_recv().ok())) {
        match result {
            Ok(events) => batch.extend(events),
            Err(errors) => {
                for error in errors {
                    session.out.note(&format!("the watcher says: {error}"));
                }
            }
        }
    }
    Some(batch)
}

/// Returns the number of changed files, and the roots that they belong to.
fn sort_out(batch: &[DebouncedEvent], roots: &[PathBuf], home: &Path) -> (usize, BTreeSet<PathBuf>) {
    let mut changed = BTreeSet::new();
    let mut affected = BTreeSet::new();
    for event in batch {
        match event.kind {
            // Reading changes nothing, and indexing itself reads.
            EventKind::Access(_) => continue,
            // Events were lost, so all roots are indexed.
            EventKind::Other if event.need_rescan() => affected.extend(roots.iter().cloned()),
            EventKind::Any
            | EventKind::Create(_)
            | EventKind::Modify(_)
            | EventKind::Remove(_)
            | EventKind::Other => {}
        }
        for path in event.paths.iter().filter(|path| !path.starts_with(home)) {
            for root in roots.iter().filter(|root| concerns(path, root)) {
                changed.insert(path.clone());
                affected.insert(root.clone());
            }
        }
    }
    (changed.len(), affected)
}

/// Whether a change of `path` can change the indexed content of `root`. Hidden files are never indexed; .gitignore, .ignore
/// and .bowerignore count, because they decide which files are.
fn concerns(path: &Path, root: &Path) -> bool {
    let Ok(inside) = path.strip_prefix(root) else { return false };
    let decides = |name: &OsStr| [".gitignore", ".ignore", IGNORE_FILE].iter().any(|one| name == *one);
    inside.components().all(|part| match part {
        Component::Normal(name) => !name.as_encoded_bytes().starts_with(b".") || decides(name),
        Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => true,
    })
}

/// Returns the path as the system reports it in events; unchanged if it does not exist.
fn real(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
}

fn cannot(doing: &str, source: &notify_debouncer_full::notify::Error) -> Failure {
    use notify_debouncer_full::notify::ErrorKind;
    let hint = match source.kind {
        ErrorKind::MaxFilesWatch => {
            Hint::same("raise fs.inotify.max_user_watches, or watch a smaller folder")
        }
        ErrorKind::PathNotFound => FROM_HERE,
        ErrorKind::Generic(_) | ErrorKind::Io(_) | ErrorKind::WatchNotFound | ErrorKind::InvalidConfig(_) => {
            Hint::same("index without --watch from time to time")
        }
    };
    Failure::environment(format!("cannot {doing}: {source}"), hint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use notify_debouncer_full::notify::Event;
    use notify_debouncer_full::notify::event::{AccessKind, Flag, ModifyKind};
    use std::time::Instant;

    fn check(kind: EventKind, paths: &[&str], changed: usize, affected: &[&str]) {
        let mut event = Event::new(kind);
        event.paths = paths.iter().map(PathBuf::from).collect();
        if kind == EventKind::Other {
            event = event.set_flag(Flag::Rescan);
        }
        let roots = ["/w/a", "/w/b.md"].map(PathBuf::from);
        let batch = [DebouncedEvent::new(event, Instant::now())];
        let got = sort_out(&batch, &roots, Path::new("/w/a/store"));
        assert_eq!(got, (changed, affected.iter().map(PathBuf::from).collect()), "{kind:?} {paths:?}");
    }

    #[test]
    fn only_what_may_change_the_index_starts_a_run() {
        let modify = EventKind::Modify(ModifyKind::Any);
        check(modify, &["/w/a/x.md"], 1, &["/w/a"]);
        check(modify, &["/w/a/x.md", "/w/b.md"], 2, &["/w/a", "/w/b.md"]);
        check(modify, &["/w/b.md~", "/w/c.md"], 0, &[]);
        check(modify, &["/w/a/.git/index", "/w/a/.x.swp"], 0, &[]);
        check(modify, &["/w/a/deep/.gitignore"], 1, &["/w/a"]);
        check(modify, &["/w/a/.bowerignore"], 1, &["/w/a"]);
        check(modify, &["/w/a/store/memory.db-wal"], 0, &[]);
        check(EventKind::Access(AccessKind::Any), &["/w/a/x.md"], 0, &[]);
        check(EventKind::Other, &[], 0, &["/w/a", "/w/b.md"]);
    }
}
