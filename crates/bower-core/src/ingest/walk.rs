//! Walks paths and yields the files to index, with ripgrep's ignore rules.
//! A path that does not exist fails before the first file is returned.

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::path_set::PathSet;
use super::read;
use crate::error::{Error, Missing, Result};
use crate::request::Skipped;

/// The filters of a walk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalkOptions {
    /// Globs in gitignore syntax, relative to each walked folder; a file must match one of them. An empty list lets all pass.
    pub include: Vec<String>,
    /// Globs in gitignore syntax; matching files are left out, and matching folders with all their contents.
    pub exclude: Vec<String>,
    /// Larger files are listed as skipped, in bytes.
    pub max_bytes: u64,
    /// Canonical paths of files and folders below the walked ones; nothing else is returned. An empty list lets all pass.
    pub only: Vec<PathBuf>,
}

impl Default for WalkOptions {
    fn default() -> Self {
        Self { include: Vec::new(), exclude: Vec::new(), max_bytes: u64::MAX, only: Vec::new() }
    }
}

/// One entry of a walk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WalkEntry {
    /// A file to read.
    File {
        /// Absolute and canonical.
        path: PathBuf,
        /// Its size in bytes.
        bytes: u64,
    },
    /// A file or folder that is left out for a reason worth reporting (not: ignored, hidden or excluded).
    Skipped(Skipped),
}

/// A running walk, made by [`walk`]; reads folders on demand.
pub struct Walk {
    roots: std::vec::IntoIter<Root>,
    current: Option<ignore::Walk>,
    include: Option<Gitignore>,
    options: WalkOptions,
    /// Files already returned, recorded only if roots may overlap.
    seen: Option<HashSet<PathBuf>>,
    /// The paths to which it is limited.
    only: Option<Arc<PathSet>>,
}

enum Root {
    File(PathBuf),
    Folder(PathBuf),
}

/// Names of files that tools write and people do not read.
const LOCK_FILES: &[&str] = &[
    "bun.lock",
    "cargo.lock",
    "composer.lock",
    "flake.lock",
    "gemfile.lock",
    "go.sum",
    "mix.lock",
    "npm-shrinkwrap.json",
    "package-lock.json",
    "pipfile.lock",
    "pnpm-lock.yaml",
    "poetry.lock",
    "pubspec.lock",
    "uv.lock",
    "yarn.lock",
];

/// Name of the files that say what not to index, in the syntax of `.gitignore`.
pub const IGNORE_FILE: &str = ".bowerignore";

/// Walks files and folders.
///
/// Within a root, files are in the order of their paths (bytes, part by part). Roots are sorted too, and a file is
/// returned once even if roots overlap. `.bowerignore`, `.gitignore`, `.ignore` and `.git/info/exclude` apply, also
/// those in folders above a root, in repositories or not. Where they disagree, the first of them decides: a
/// `.bowerignore` can bring back with `!` what git ignores. The user's global excludes do not (they are in the home folder). Hidden files,
/// `.git` and `.bowerbird` among them, copies that editors keep, and symbolic links inside folders are skipped. A file that is itself among the
/// paths is always returned, or listed as skipped if it is too large.
///
/// # Errors
/// [`Error::NotFound`] for a path that does not exist, [`Error::Invalid`] for a glob, both before anything is read.
pub fn walk(paths: &[PathBuf], options: &WalkOptions) -> Result<Walk> {
    // Globs are checked here so that a typing error is reported before an hour of indexing.
    matcher(Path::new("/"), "include", &options.include)?;
    matcher(Path::new("/"), "exclude", &options.exclude)?;
    let mut roots = paths.iter().map(|path| canonical(path)).collect::<Result<Vec<_>>>()?;
    roots.sort();
    roots.dedup();
    let seen = (roots.len() > 1).then(HashSet::new);
    let roots: Vec<Root> = roots
        .into_iter()
        .map(|path| if path.is_dir() { Root::Folder(path) } else { Root::File(path) })
        .collect();
    let only = (!options.only.is_empty()).then(|| Arc::new(PathSet::new(options.only.clone())));
    Ok(Walk { roots: roots.into_iter(), current: None, include: None, options: options.clone(), seen, only })
}

fn canonical(path: &Path) -> Result<PathBuf> {
    std::fs::canonicalize(path).map_err(|source| match source.kind() {
        std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => {
            Error::NotFound { what: Missing::Path("file or folder"), id: path.display().to_string() }
        }
        _ => Error::io("find", path, source),
    })
}

/// Matches what any of the globs would ignore as a line of a .gitignore in `root`.
fn matcher(root: &Path, what: &str, globs: &[String]) -> Result<Option<Gitignore>> {
    if globs.is_empty() {
        return Ok(None);
    }
    let mut builder = GitignoreBuilder::new(root);
    let invalid = |glob: &str, source: ignore::Error| {
        Error::invalid(format!("{what} glob {glob:?}"), source.to_string().replace('\n', " "))
    };
    for glob in globs {
        builder.add_line(None, glob).map_err(|source| invalid(glob, source))?;
    }
    builder.build().map(Some).map_err(|source| invalid(&globs.join(" "), source))
}

impl Walk {
    fn enter(&mut self, root: &Path) {
        // `walk` compiled the globs once; another root changes only what they are relative to.
        let compile = |what, globs: &[String]| matcher(root, what, globs).ok().flatten();
        self.include = compile("include", &self.options.include);
        let exclude = compile("exclude", &self.options.exclude).map(Arc::new);
        let only = self.only.clone();
        let mut builder = ignore::WalkBuilder::new(root);
        builder
            .git_global(false) // it is found through the environment and the home folder
            .require_git(false)
            .add_custom_ignore_filename(IGNORE_FILE)
            .current_dir(root) // else the process's own would be asked for
            .sort_by_file_name(std::ffi::OsStr::cmp)
            .filter_entry(move |entry| {
                let folder = entry.file_type().is_some_and(|kind| kind.is_dir());
                let out =
                    exclude.as_ref().is_some_and(|globs| globs.matched(entry.path(), folder).is_ignore());
                let is_wanted =
                    only.as_ref().is_none_or(|only| only.holds(entry.path()) || only.leads_to(entry.path()));
                entry.depth() == 0 || (is_wanted && !out)
            });
        self.current = Some(builder.build());
    }

    fn entry(&mut self, entry: Result<ignore::DirEntry, ignore::Error>) -> Option<WalkEntry> {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => return Some(WalkEntry::Skipped(unreadable(&error))),
        };
        if !entry.file_type().is_some_and(|kind| kind.is_file()) {
            return None;
        }
        let included = |globs: &Gitignore| globs.matched_path_or_any_parents(entry.path(), false).is_ignore();
        if self.include.as_ref().is_some_and(|globs| !included(globs)) {
            return None;
        }
        let name = entry.file_name().to_string_lossy().to_ascii_lowercase();
        if is_backup(&name) {
            return None;
        }
        if LOCK_FILES.contains(&name.as_str()) {
            let reason = "lock file, written by a tool; name it to index it".into();
            return Some(WalkEntry::Skipped(Skipped { path: entry.into_path(), reason }));
        }
        self.file(entry.into_path())
    }

    fn file(&mut self, path: PathBuf) -> Option<WalkEntry> {
        if self.seen.as_mut().is_some_and(|seen| !seen.insert(path.clone())) {
            return None;
        }
        Some(match path.metadata() {
            Err(source) => WalkEntry::Skipped(Skipped { path, reason: format!("cannot be read: {source}") }),
            Ok(metadata) if metadata.len() > self.options.max_bytes => {
                let reason = read::too_large(metadata.len(), self.options.max_bytes);
                WalkEntry::Skipped(Skipped { path, reason })
            }
            Ok(metadata) => WalkEntry::File { path, bytes: metadata.len() },
        })
    }
}

impl Iterator for Walk {
    type Item = WalkEntry;

    fn next(&mut self) -> Option<WalkEntry> {
        loop {
            while let Some(entry) = self.current.as_mut().and_then(Iterator::next) {
                if let Some(found) = self.entry(entry) {
                    return Some(found);
                }
            }
            self.current = None;
            match self.roots.next()? {
                Root::Folder(path) => self.enter(&path),
                Root::File(path) if self.only.as_ref().is_some_and(|only| !only.holds(&path)) => {}
                Root::File(path) => {
                    if let Some(found) = self.file(path) {
                        return Some(found);
                    }
                }
            }
        }
    }
}

/// Whether an editor keeps a copy or unsaved text under this name: `a.md~` (Emacs, Vim, gedit) or `#a.md#` (Emacs).
fn is_backup(name: &str) -> bool {
    name.ends_with('~') || (name.len() > 1 && name.starts_with('#') && name.ends_with('#'))
}

/// Returns the path and cause inside the walker's nested error.
fn unreadable(error: &ignore::Error) -> Skipped {
    let mut path = PathBuf::new();
    let mut inner = error;
    loop {
        match inner {
            ignore::Error::WithPath { path: at, err } => {
                path.clone_from(at);
                inner = err;
            }
            ignore::Error::WithLineNumber { err, .. } | ignore::Error::WithDepth { err, .. } => inner = err,
            other => {
                return Skipped {
                    path,
                    reason: format!("cannot be read: {}", other.to_string().replace('\n', " ")),
                };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> tempfile::TempDir {
        // Without the dot of the default prefix, which would make it hidden.
        let root = tempfile::Builder::new().prefix("walk").tempdir().expect("a folder");
        for (path, text) in [
            (".gitignore", "build/\n*.tmp\n"),
            (".git/config", "x"),
            (".hidden.md", "x"),
            ("Cargo.lock", "x"),
            ("a.md", "x"),
            ("a.md~", "x"),
            ("b/#c.rs#", "x"),
            ("b/c.rs", "x"),
            ("b/big.txt", "0123456789"),
            ("build/out.md", "x"),
            ("d.tmp", "x"),
            ("drafts/e.md", "x"),
        ] {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            std::fs::write(path, text).expect("written");
        }
        root
    }

    #[track_caller]
    fn check(root: &Path, paths: &[&str], options: &WalkOptions, expected: &[&str]) {
        let paths: Vec<_> = paths.iter().map(|path| root.join(path)).collect();
        let root = root.canonicalize().expect("there");
        let shown = |path: &Path| path.strip_prefix(&root).expect("below").display().to_string();
        let got: Vec<_> = walk(&paths, options)
            .expect("a walk")
            .map(|found| match found {
                WalkEntry::File { path, .. } => shown(&path),
                WalkEntry::Skipped(skipped) => format!("{}: {}", shown(&skipped.path), skipped.reason),
            })
            .collect();
        assert_eq!(got, expected);
    }

    const LOCK: &str = "Cargo.lock: lock file, written by a tool; name it to index it";

    #[test]
    fn a_folder_is_walked_as_ripgrep_would() {
        let root = tree();
        let root = root.path();
        let all = WalkOptions::default();
        check(root, &["."], &all, &[LOCK, "a.md", "b/big.txt", "b/c.rs", "drafts/e.md"]);
        // A file in overlapping roots is returned once; a file among the paths is always returned.
        check(
            root,
            &["b", ".", "a.md", "b/../d.tmp", ".hidden.md"],
            &all,
            &[LOCK, "a.md", "b/big.txt", "b/c.rs", "drafts/e.md", ".hidden.md", "d.tmp"],
        );
        check(root, &["build", "Cargo.lock"], &all, &["Cargo.lock", "build/out.md"]);
        let some = WalkOptions {
            include: vec!["*.md".into(), "b/".into()],
            exclude: vec!["drafts".into()],
            max_bytes: 5,
            only: Vec::new(),
        };
        check(
            root,
            &["."],
            &some,
            &["a.md", "b/big.txt: too large: 0.0 MiB, the limit is 0.0 MiB", "b/c.rs"],
        );
    }

    #[test]
    fn a_walk_is_limited_to_some_paths_with_the_rules_of_all() {
        let folder = tree();
        let root = folder.path().canonicalize().expect("there");
        let only = |paths: &[&str]| WalkOptions {
            only: paths.iter().map(|path| root.join(path)).collect(),
            ..WalkOptions::default()
        };
        check(&root, &["."], &only(&["b/c.rs", "d.tmp", "build/out.md", "gone.md"]), &["b/c.rs"]);
        check(&root, &["."], &only(&["b"]), &["b/big.txt", "b/c.rs"]);
        check(&root, &[".", "a.md"], &only(&["drafts"]), &["drafts/e.md"]);
    }

    #[test]
    fn a_bowerignore_adds_to_what_git_ignores_and_takes_from_it() {
        let folder = tree();
        let root = folder.path();
        std::fs::write(root.join(IGNORE_FILE), "drafts/\n/a.md\n!d.tmp\n").expect("written");
        std::fs::write(root.join("b").join(IGNORE_FILE), "*.txt\n").expect("written");
        check(root, &["."], &WalkOptions::default(), &[LOCK, "b/c.rs", "d.tmp"]);
        // It applies without a repository, and in folders above the walked one too.
        std::fs::remove_dir_all(root.join(".git")).expect("removed");
        std::fs::remove_file(root.join(".gitignore")).expect("removed");
        check(root, &["b"], &WalkOptions::default(), &["b/c.rs"]);
        std::fs::write(root.join(IGNORE_FILE), "b/c.rs\n").expect("written");
        check(root, &["b"], &WalkOptions::default(), &[]);
    }

    #[test]
    fn a_walk_fails_before_it_begins() {
        let root = tree();
        let missing = walk(&[root.path().into(), root.path().join("nothing")], &WalkOptions::default());
        let error = missing.err().expect("an error").to_string();
        assert!(error.starts_with("no file or folder ") && error.ends_with("nothing"), "{error}");
        let options = WalkOptions { include: vec!["a{".into()], ..Default::default() };
        let error = walk(&[root.path().into()], &options).err().expect("an error").to_string();
        assert!(error.starts_with("include glob \"a{\": "), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn links_inside_a_folder_are_passed_over() {
        let root = tree();
        std::os::unix::fs::symlink(root.path(), root.path().join("b/loop")).expect("linked");
        std::os::unix::fs::symlink(root.path().join("a.md"), root.path().join("b/z.md")).expect("linked");
        check(root.path(), &["b"], &WalkOptions::default(), &["b/big.txt", "b/c.rs"]);
    }
}
