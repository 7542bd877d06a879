//! Holds the paths of all documents, folders apart from names, and finds those that a written path means.
//! A document takes about 70 bytes. A look-up reads no name whose letters cannot fit.

use std::cmp::Ordering;
use std::collections::HashSet;

use super::written::{FoldedPart, Letters, PathFit, WrittenPath, fold_part, split_extension};
use crate::error::Result;
use crate::store::{DocumentRow, PathChanges, Store};

/// The documents' paths, folders apart from names.
#[derive(Debug, Default)]
pub struct Paths {
    folders: Vec<Folder>,
    names: String,
    files: Vec<File>,
    /// The letters of each file's name without the extension, by which a look-up passes over the others.
    letters: Vec<Letters>,
}

#[derive(Clone, Debug)]
struct Folder {
    path: String,
    /// The folded parts, each behind a `/`.
    folded: String,
    /// Number of parts.
    depth: u16,
}

#[derive(Clone, Copy, Debug)]
struct File {
    document: DocumentRow,
    /// Index of its folder in `folders`.
    folder: u32,
    /// End of its name in `names`; the name begins where the previous one ends.
    end: usize,
}

/// A document whose path fits what was written; the nearest is the least.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FoundPath {
    /// How it fits.
    pub nearness: PathFit,
    /// Number of folders above the file.
    depth: u16,
    /// The path.
    pub path: String,
    /// The document.
    pub document: DocumentRow,
}

/// How a folder fits the folders of a written path.
#[derive(Clone, Copy, Debug, Default)]
struct FolderFit {
    /// It ends with them, except for case, accents and separators.
    ends: bool,
    /// It lies so many folders below the whole written path.
    below: Option<u16>,
    /// It lies below a folder whose name begins like the last written part.
    begins: bool,
}

impl Folder {
    /// Compares all paths in this folder with a path; equal if that depends on the name.
    fn order_against(&self, path: &str) -> Ordering {
        let folder = self.path.as_bytes();
        let start = path.as_bytes().get(..folder.len()).unwrap_or(path.as_bytes());
        folder.cmp(start)
    }
}

impl Paths {
    /// Reads the current paths.
    pub(crate) fn load(store: &dyn Store) -> Result<Self> {
        let mut paths = Self::default();
        store.paths(&mut |document, path| paths.push(document, path))?;
        Ok(paths)
    }

    /// Returns the paths after `changes`.
    pub(crate) fn changed(&self, changes: &PathChanges) -> Self {
        let came = changes.came.iter().map(|(document, _)| document);
        let stale: HashSet<&DocumentRow> = came.chain(&changes.went).collect();
        let mut paths = Self::default();
        let mut last = None;
        for at in (0..self.files.len()).filter(|at| !stale.contains(&self.files[*at].document)) {
            let (file, folder, name) = self.file(at);
            if last != Some(file.folder) {
                last = Some(file.folder);
                paths.folders.push(folder.clone());
            }
            paths.push_file(file.document, name, self.letters[at]);
        }
        changes.came.iter().for_each(|(document, path)| paths.push(*document, path));
        paths
    }

    fn push(&mut self, document: DocumentRow, path: &str) {
        let (folder, name) = path.rsplit_once(['/', '\\']).unwrap_or(("", path));
        if self.folders.last().is_none_or(|last| last.path != folder) {
            let parts = folder.split(['/', '\\']).filter(|part| !part.is_empty());
            let mut folded = String::with_capacity(folder.len() + 1);
            let mut depth = 0;
            for part in parts {
                folded.push('/');
                folded.push_str(&fold_part(part));
                depth += 1;
            }
            self.folders.push(Folder { path: folder.to_owned(), folded, depth });
        }
        self.push_file(document, name, Letters::of(split_extension(name).0));
    }

    /// Adds a file of the last folder.
    fn push_file(&mut self, document: DocumentRow, name: &str, letters: Letters) {
        self.names.push_str(name);
        let folder = u32::try_from(self.folders.len() - 1).expect("a store has fewer than 2^32 documents");
        self.files.push(File { document, folder, end: self.names.len() });
        self.letters.push(letters);
    }

    /// Returns a file with its folder and name.
    fn file(&self, at: usize) -> (&File, &Folder, &str) {
        let file = &self.files[at];
        let start = at.checked_sub(1).map_or(0, |before| self.files[before].end);
        (file, &self.folders[file.folder as usize], &self.names[start..file.end])
    }

    /// Iterates over the documents, each with its folder and name.
    pub fn iter(&self) -> impl Iterator<Item = (DocumentRow, &str, &str)> {
        (0..self.files.len()).map(|at| {
            let (file, folder, name) = self.file(at);
            (file.document, folder.path.as_str(), name)
        })
    }

    /// Returns at most `most` documents whose path ends with a written one, lies below it, or goes on where it ends; the nearest
    /// first. A written path without a folder is the name of a file, with or without its extension.
    pub(crate) fn find(&self, written: &WrittenPath, most: usize) -> Vec<FoundPath> {
        let mut nearest = NearestPaths::new(most);
        let mut fit = (u32::MAX, FolderFit::default());
        let is_name_alone = written.folders.is_empty();
        for (at, letters) in self.letters.iter().enumerate() {
            let is_named = written.name.as_ref().is_some_and(|part| part.has_letters(*letters));
            if is_name_alone && !is_named {
                continue;
            }
            if fit.0 != self.files[at].folder {
                fit = (
                    self.files[at].folder,
                    folder_fit(&self.folders[self.files[at].folder as usize], written),
                );
            }
            let fit = fit.1;
            if !fit.ends && !fit.begins && fit.below.is_none() {
                continue;
            }
            let (file, folder, name) = self.file(at);
            let nearness = match &written.name {
                Some(part) if fit.ends => {
                    let named = nearness_of(part, name, *letters).map(|nearness| {
                        let is_exact = nearness == PathFit::Exact && written.is_exact(&folder.path);
                        if nearness == PathFit::Exact && !is_exact { PathFit::Folded } else { nearness }
                    });
                    let goes_on = || (!is_name_alone && part.begins(name)).then_some(PathFit::Begins);
                    named.or_else(goes_on)
                }
                Some(_) | None => None,
            };
            let above = fit.below.map(PathFit::Below);
            if let Some(nearness) = nearness.or(above).or(fit.begins.then_some(PathFit::Begins)) {
                nearest.push(nearness, file, folder, name);
            }
        }
        nearest.finish()
    }

    /// Returns at most `most` documents whose path ends with a written one except for typing errors, those with the fewest first.
    /// Each part of the path has the errors that its length allows, and its numbers are as written.
    pub(crate) fn mistyped(&self, written: &WrittenPath, most: usize) -> Vec<FoundPath> {
        let mut nearest = NearestPaths::new(most);
        let (mut errors, mut folded) = ((u32::MAX, None), String::new());
        let part = written.name.as_ref();
        let wanted = part.map(FoldedPart::wanted);
        for (at, letters) in self.letters.iter().enumerate() {
            if wanted.is_some_and(|(wanted, errors)| !wanted.could_be(*letters, errors)) {
                continue;
            }
            let (file, folder, name) = self.file(at);
            if errors.0 != file.folder {
                errors = (file.folder, written.errors_in(&folder.folded));
            }
            let Some(in_folders) = errors.1 else { continue };
            let in_name = part.map_or(Some(0), |part| part.errors(name, &mut folded));
            if let Some(count) = in_name.map(|in_name| in_folders + in_name) {
                nearest.push(PathFit::Mistyped(count), file, folder, name);
            }
        }
        nearest.finish()
    }
}

/// Returns how a folder fits the folders of a written path.
fn folder_fit(folder: &Folder, written: &WrittenPath) -> FolderFit {
    if written.folders.is_empty() {
        return FolderFit { ends: true, ..FolderFit::default() };
    }
    let mut fit =
        FolderFit { ends: folder.folded.ends_with(&written.folded_folders), ..FolderFit::default() };
    // Most folders are shorter than a whole path.
    if folder.folded.len() < written.folded.len() {
        return fit;
    }
    for (at, whole) in folder.folded.match_indices(&written.folded) {
        let rest = &folder.folded[at + whole.len()..];
        if rest.is_empty() || rest.starts_with('/') {
            let below = rest.bytes().filter(|byte| *byte == b'/').count();
            fit.below.get_or_insert(u16::try_from(below).unwrap_or(u16::MAX));
        } else {
            fit.begins |= written.name.is_some();
        }
    }
    fit
}

/// Returns how the name of a file is that of a written part: with its extension, or without.
fn nearness_of(part: &FoldedPart, name: &str, letters: Letters) -> Option<PathFit> {
    if part.stem_letters == letters && part.is_name(name) {
        return Some(if part.written == name { PathFit::Exact } else { PathFit::Folded });
    }
    (part.letters == letters && part.is_stem(name)).then_some(PathFit::Stem)
}

/// The nearest of many paths.
struct NearestPaths {
    most: usize,
    /// In no order, but the first is the farthest once there are `most`.
    kept: std::collections::BinaryHeap<FoundPath>,
}

impl NearestPaths {
    fn new(most: usize) -> Self {
        Self { most, kept: std::collections::BinaryHeap::new() }
    }

    fn push(&mut self, nearness: PathFit, file: &File, folder: &Folder, name: &str) {
        let is_full = self.kept.len() >= self.most;
        // Of a hundred thousand that are equally near, few are written out.
        let is_farther = |farthest: &FoundPath| {
            let order = (nearness, folder.depth).cmp(&(farthest.nearness, farthest.depth));
            order.then_with(|| folder.order_against(&farthest.path)).is_gt()
        };
        if is_full && self.kept.peek().is_some_and(is_farther) {
            return;
        }
        let path = if folder.path.is_empty() { name.to_owned() } else { format!("{}/{name}", folder.path) };
        self.kept.push(FoundPath { nearness, depth: folder.depth, path, document: file.document });
        if is_full {
            self.kept.pop();
        }
    }

    fn finish(self) -> Vec<FoundPath> {
        self.kept.into_sorted_vec()
    }
}

/// Takes from the nearest paths what `take` wants of them. `find` returns as many as it is told: `most` at first, and eight times as
/// many for as long as `take` says that further ones could matter. So documents that may not be found take no room.
pub(crate) fn take_nearest<T>(
    mut most: usize,
    find: impl Fn(usize) -> Vec<FoundPath>,
    take: impl Fn(&[FoundPath]) -> Result<(T, bool)>,
) -> Result<T> {
    loop {
        let found = find(most);
        let (taken, is_whole) = take(&found)?;
        if is_whole || found.len() < most {
            return Ok(taken);
        }
        most *= 8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(all: &[&str]) -> Paths {
        let mut paths = Paths::default();
        for (row, path) in all.iter().enumerate() {
            paths.push(DocumentRow(row as u64), path);
        }
        paths
    }

    #[test]
    fn a_path_is_a_folder_and_a_name() {
        let paths = paths(&["/a/b/x.md", "/a/b/y.md", "C:\\docs\\z.txt", "id-7", ""]);
        let got: Vec<_> = paths.iter().map(|(row, folder, name)| (row.0, folder, name)).collect();
        assert_eq!(
            got,
            [
                (0, "/a/b", "x.md"),
                (1, "/a/b", "y.md"),
                (2, "C:\\docs", "z.txt"),
                (3, "", "id-7"),
                (4, "", "")
            ]
        );
        assert_eq!(paths.folders.len(), 3);
        let came = vec![(DocumentRow(1), "/a/b/y.md".to_owned()), (DocumentRow(7), "/a/new.md".to_owned())];
        let paths = paths.changed(&PathChanges { came, went: vec![DocumentRow(2), DocumentRow(9)] });
        let got: Vec<_> = paths.iter().map(|(row, folder, name)| (row.0, folder, name)).collect();
        assert_eq!(
            got,
            [(0, "/a/b", "x.md"), (3, "", "id-7"), (4, "", ""), (1, "/a/b", "y.md"), (7, "/a", "new.md")]
        );
    }

    /// The paths that are found, each with its nearness.
    #[track_caller]
    fn check(all: &[&str], written: &str, expected: &[(&str, PathFit)]) {
        let written = WrittenPath::of(written).unwrap();
        let paths = paths(all);
        let found = paths.find(&written, 99);
        let found = if found.is_empty() { paths.mistyped(&written, 99) } else { found };
        let found: Vec<(&str, PathFit)> = found.iter().map(|one| (one.path.as_str(), one.nearness)).collect();
        assert_eq!(found, expected, "{written:?}");
    }

    #[test]
    fn a_written_path_finds_what_ends_with_it_lies_below_it_or_goes_on() {
        use PathFit::{Begins, Below, Exact, Folded, Stem};
        let all = [
            "/v/projects/gamma.md",
            "/v/projects/gamma/plan.md",
            "/v/projects/gamma/old/plan.md",
            "/v/projects/gamma-two/plan.md",
            "/v/projects/gammas.md",
            "/v/my-projects/gamma.md",
            "/v/Notes/Ärger_im Büro.MD",
        ];
        check(&all, "projects/gamma.md", &[(all[0], Exact)]);
        check(&all, "Projects\\Gamma.md", &[(all[0], Folded)]);
        let below =
            [(all[0], Stem), (all[1], Below(0)), (all[2], Below(1)), (all[4], Begins), (all[3], Begins)];
        check(&all, "projects/gamma", &below);
        check(&all, "./projects/gamma/", &[(all[1], Below(0)), (all[2], Below(1))]);
        check(&all, "/v/projects/gamma/old", &[(all[2], Below(0))]);
        check(&all, "gamma.md", &[(all[5], Exact), (all[0], Exact)]);
        check(&all, "gamma", &[(all[5], Stem), (all[0], Stem)]);
        check(&all, "arger im buro.md", &[(all[6], Folded)]);
        check(&all, "amma.md", &[(all[5], PathFit::Mistyped(1)), (all[0], PathFit::Mistyped(1))]);
        check(&all, "delta.md", &[]);
        check(&[], "gamma.md", &[]);
    }

    #[test]
    fn errors_are_allowed_by_the_length_of_each_part() {
        use PathFit::{Exact, Mistyped};
        let all = [
            "/v/projects/ab.md",
            "/v/projects/plans.md",
            "/v/projects/quarterly-plan.md",
            "/d/2026-05-08.md",
        ];
        check(&all, "ac.md", &[]);
        check(&all, "planz.md", &[(all[1], Mistyped(1))]);
        check(&all, "plamz.md", &[]);
        check(&all, "qarterly_paln", &[(all[2], Mistyped(2))]);
        check(&all, "qarterlypaln", &[]);
        check(&all, "projcts/plan.md", &[(all[1], Mistyped(2))]);
        check(&all, "projcts/", &[(all[0], Mistyped(1)), (all[1], Mistyped(1)), (all[2], Mistyped(1))]);
        // Another day is no typing error, nor is another kind of file.
        check(&all, "2026-05-09.md", &[]);
        check(&all, "2026-05-08.md", &[(all[3], Exact)]);
        check(&all, "planz.txt", &[]);
    }

    #[test]
    fn the_nearest_of_many_are_kept() {
        let all: Vec<String> = (0..500).map(|at| format!("/v/p/{:03}.md", (at * 7) % 500)).collect();
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        let found = paths(&all).find(&WrittenPath::of("p/").unwrap(), 3);
        let found: Vec<&str> = found.iter().map(|one| one.path.as_str()).collect();
        assert_eq!(found, ["/v/p/000.md", "/v/p/001.md", "/v/p/002.md"]);
    }
}
