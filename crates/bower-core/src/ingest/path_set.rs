//! A set of files and folders that answers whether a path is in one of them, or leads to one.

use std::path::{Path, PathBuf};

/// Files and folders, of which none is in another one, in order. What is in a folder stands directly behind it.
pub(crate) struct PathSet(Vec<PathBuf>);

impl PathSet {
    /// Takes paths of one kind: all absolute, without links.
    pub(crate) fn new(mut paths: Vec<PathBuf>) -> Self {
        paths.sort_unstable();
        paths.dedup_by(|path, before| path.starts_with(before));
        Self(paths)
    }

    /// Whether a path is one of them or in one of them.
    pub(crate) fn holds(&self, path: &Path) -> bool {
        let after = self.0.partition_point(|one| one.as_path() <= path);
        self.0[..after].last().is_some_and(|one| path.starts_with(one))
    }

    /// Whether a path is one of them or a folder above one.
    pub(crate) fn leads_to(&self, path: &Path) -> bool {
        let before = self.0.partition_point(|one| one.as_path() < path);
        self.0.get(before).is_some_and(|one| one.starts_with(path))
    }
}

/// Whether a path is, or ends with, another one, at a border between its parts. `/` is between the parts of both.
pub(crate) fn ends_with_path(path: &str, end: &str) -> bool {
    path.strip_suffix(end).is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_ends_between_its_parts() {
        for (path, end, expected) in [
            ("/w/notes/gamma.md", "notes/gamma.md", true),
            ("/w/notes/gamma.md", "gamma.md", true),
            ("/w/notes/gamma.md", "/w/notes/gamma.md", true),
            ("notes/gamma.md", "notes/gamma.md", true),
            ("/w/notes/gamma.md", "amma.md", false),
            ("/w/my-notes/gamma.md", "notes/gamma.md", false),
        ] {
            assert_eq!(ends_with_path(path, end), expected, "{path} {end}");
        }
    }

    #[test]
    fn a_path_is_in_the_set_or_leads_to_it() {
        let set = PathSet::new(["/w/b/c", "/w/a", "/w/b", "/w/b-c", "/x/y.md"].map(PathBuf::from).to_vec());
        for (path, holds, leads_to) in [
            ("/w/a", true, true),
            ("/w/a/z/y.md", true, false),
            ("/w/b/x.md", true, false),
            ("/w/b/c/x.md", true, false),
            ("/w/bc", false, false),
            ("/w", false, true),
            ("/", false, true),
            ("/x/y.md", true, true),
            ("/x/y.mdx", false, false),
            ("/x/z.md", false, false),
            ("/x/y", false, false),
        ] {
            let path = Path::new(path);
            assert_eq!((set.holds(path), set.leads_to(path)), (holds, leads_to), "{}", path.display());
        }
    }
}
