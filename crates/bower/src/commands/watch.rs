//! Implements `bower index --watch`: indexes, then repeats it for what has changed, until it is interrupted.
//! Every batch is an index run of the changed paths, so .gitignore, renames and deletions are treated as without it.

use bower_core::engine::Activity;
use bower_core::error::{Error, Missing};
use bower_core::shared::IGNORE_FILE;
use notify_debouncer_full::notify::{EventKind, RecursiveMode};
use notify_debouncer_full::{DebounceEventResult, DebouncedEvent, new_debouncer};
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use super::index::once;
use super::{Session, now};
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
    let (began, mut background) = (Instant::now(), session.background(&session.home()?));
    let mut has_written = false;
    let mut work = || {
        let stepped = background.step(service, &|| Activity::Idle, began.elapsed(), now());
        if let Some(news) = &stepped.news {
            session.out.note(&news.to_string());
        }
        has_written |= stepped.has_written;
        if stepped.is_drained && std::mem::take(&mut has_written) {
            session.maintain(service);
        }
        stepped.wait
    };
    while let Some(batch) = next(&events, &mut work, session) {
        let changes = Changes::of(&batch, &roots, &home);
        if changes.roots.is_empty() {
            continue;
        }
        let paths = changes.roots.into_iter().collect();
        let only = changes.only.into_iter().collect();
        match once(service, &IndexBody { paths, only, ..body.clone() }, session) {
            Ok(report) if session.out.format == Format::Text => {
                if report.indexed + report.removed > 0 || session.out.verbose {
                    let batch = render::index::batch(changes.changed.len(), &report, &session.out.look());
                    Output::put(&batch)?;
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

/// Waits for a batch, and joins the batches that are waiting already. Meanwhile it calls `work`, which returns when it is to be
/// called again.
fn next(
    events: &Receiver<DebounceEventResult>,
    work: &mut dyn FnMut() -> Duration,
    session: &Session,
) -> Option<Vec<DebouncedEvent>> {
    let mut batch = Vec::new();
    let first = loop {
        match events.recv_timeout(work()) {
            Ok(first) => break first,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return None,
        }
    };
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

/// What a batch of events says.
#[derive(Debug, Default, PartialEq, Eq)]
struct Changes {
    /// The changed files and folders.
    changed: BTreeSet<PathBuf>,
    /// The roots that they belong to.
    roots: BTreeSet<PathBuf>,
    /// What has to be looked at: the changed files and folders, and those whose rules have changed.
    only: BTreeSet<PathBuf>,
}

impl Changes {
    fn of(batch: &[DebouncedEvent], roots: &[PathBuf], home: &Path) -> Self {
        let mut changes = Self::default();
        for event in batch {
            match event.kind {
                // Reading changes nothing, and indexing itself reads.
                EventKind::Access(_) => continue,
                // Events were lost, so all roots are indexed.
                EventKind::Other if event.need_rescan() => {
                    changes.roots.extend(roots.iter().cloned());
                    changes.only.extend(roots.iter().cloned());
                }
                EventKind::Any
                | EventKind::Create(_)
                | EventKind::Modify(_)
                | EventKind::Remove(_)
                | EventKind::Other => {}
            }
            for path in event.paths.iter().filter(|path| !path.starts_with(home)) {
                for root in roots {
                    if let Some(look_at) = affected(path, root) {
                        changes.changed.insert(path.clone());
                        changes.roots.insert(root.clone());
                        changes.only.insert(look_at.to_path_buf());
                    }
                }
            }
        }
        changes
    }
}

/// Returns what has to be looked at below `root` after a change of `path`; `None` if nothing has.
///
/// Hidden files are never indexed. But .gitignore, .ignore and .bowerignore decide which files of their folder are, and `.git/HEAD`
/// names the branch of a repository, which its documents have as a field.
fn affected<'a>(path: &'a Path, root: &'a Path) -> Option<&'a Path> {
    let inside = path.strip_prefix(root).ok()?;
    let is_hidden = |part: Component<'_>| match part {
        Component::Normal(name) => name.as_encoded_bytes().starts_with(b"."),
        Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => false,
    };
    if !inside.components().any(is_hidden) {
        return Some(path);
    }
    let rules = [".gitignore", ".ignore", IGNORE_FILE, ".git/HEAD"];
    let rule = rules.iter().find(|rule| inside.ends_with(rule))?;
    let folder = path.ancestors().nth(Path::new(rule).components().count())?;
    let is_seen = folder.strip_prefix(root).is_ok_and(|below| !below.components().any(is_hidden));
    is_seen.then_some(folder)
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

    fn check(kind: EventKind, paths: &[&str], changed: usize, roots: &[&str], only: &[&str]) {
        let mut event = Event::new(kind);
        event.paths = paths.iter().map(PathBuf::from).collect();
        if kind == EventKind::Other {
            event = event.set_flag(Flag::Rescan);
        }
        let watched = ["/w/a", "/w/b.md"].map(PathBuf::from);
        let batch = [DebouncedEvent::new(event, Instant::now())];
        let got = Changes::of(&batch, &watched, Path::new("/w/a/store"));
        let set = |paths: &[&str]| paths.iter().map(PathBuf::from).collect::<BTreeSet<_>>();
        assert_eq!(
            (got.changed.len(), got.roots, got.only),
            (changed, set(roots), set(only)),
            "{kind:?} {paths:?}"
        );
    }

    #[test]
    fn only_what_may_change_the_index_starts_a_run() {
        let modify = EventKind::Modify(ModifyKind::Any);
        check(modify, &["/w/a/x.md"], 1, &["/w/a"], &["/w/a/x.md"]);
        check(modify, &["/w/a/x.md", "/w/b.md"], 2, &["/w/a", "/w/b.md"], &["/w/a/x.md", "/w/b.md"]);
        check(modify, &["/w/b.md~", "/w/c.md"], 0, &[], &[]);
        check(modify, &["/w/a/.git/index", "/w/a/.x.swp"], 0, &[], &[]);
        check(modify, &["/w/a/deep/.gitignore"], 1, &["/w/a"], &["/w/a/deep"]);
        check(modify, &["/w/a/.bowerignore"], 1, &["/w/a"], &["/w/a"]);
        check(modify, &["/w/a/r/.git/HEAD"], 1, &["/w/a"], &["/w/a/r"]);
        check(modify, &["/w/a/.cache/.gitignore", "/w/a/r/.git/x/.ignore"], 0, &[], &[]);
        check(modify, &["/w/a/store/memory.db-wal"], 0, &[], &[]);
        check(EventKind::Access(AccessKind::Any), &["/w/a/x.md"], 0, &[], &[]);
        check(EventKind::Other, &[], 0, &["/w/a", "/w/b.md"], &["/w/a", "/w/b.md"]);
    }
}
