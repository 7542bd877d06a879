//! Finds the stored document of a file: at the file's path, elsewhere in its repository, or by its content.
//!
//! A document of a repository is known by the repository's identity and the path below its root, so that its id is the same
//! on every machine and after a move. A collection holds a repository once: if it is indexed in another worktree, or after
//! its working tree is gone, the documents move there. A second clone beside the first has documents of its own.

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::Result;
use crate::ingest::{self, PathSet, Repository};
use crate::item::derive_id;
use crate::store::{KnownDocument, MovedDocument, Namespace, RepositoryFile, Store};

/// The stored documents of a collection that are files, and the repositories that a run has met.
pub(crate) struct StoredFiles {
    collection: String,
    /// What the request names.
    roots: PathSet,
    /// What this run looks at: the same, or only some paths below.
    looked_at: PathSet,
    by_path: HashMap<String, Arc<KnownDocument>>,
    /// Files of repositories that still have the ids of their paths, as earlier versions gave them, by the ids that they would
    /// get now.
    by_later_id: HashMap<String, Arc<KnownDocument>>,
    /// Roots of working trees that have documents of their own beside those of another clone.
    own_trees: HashSet<PathBuf>,
    /// The document with each id; `None` if it has its path by this run. Made when a file is met that is not stored at its
    /// path: most runs meet none.
    by_id: Option<HashMap<String, Option<Arc<KnownDocument>>>>,
    /// Documents by content hash and file name, in the order of their paths. Made when such a file is not known by its
    /// repository either.
    by_content: Option<ByContent>,
    /// The repository of each folder.
    folders: HashMap<PathBuf, Option<Arc<Repository>>>,
    /// Roots of the working trees of this run, by the identity of their repository.
    trees: HashMap<String, PathBuf>,
    /// Whether documents below a root may move to the worktrees of a common folder.
    movable: HashMap<(PathBuf, PathBuf), bool>,
    /// Ids of documents that only other scopes and owners see. Read when a document is found that may move: one question
    /// for all of them, because a question for each took a third of the time of a moved repository.
    of_others: Option<HashSet<String>>,
}

/// Documents by content hash and file name.
type ByContent = HashMap<(String, String), VecDeque<Arc<KnownDocument>>>;

/// A file with its stored document.
pub(crate) struct Match {
    /// The document, as it is stored.
    pub stored: Option<Arc<KnownDocument>>,
    /// The id that it should have.
    pub id: String,
    /// The place in a repository that it should have.
    pub file: Option<RepositoryFile>,
}

impl Match {
    /// Returns how the stored document moves to a path; `None` if it is there already.
    pub(crate) fn moved(&self, path: &Path, name: &str) -> Option<MovedDocument> {
        let stored = self.stored.as_ref()?;
        let is_there = stored.path == name && stored.id == self.id && stored.repository_file == self.file;
        (!is_there).then(|| MovedDocument {
            from_id: stored.id.clone(),
            from_path: stored.path.clone(),
            id: self.id.clone(),
            path: name.to_owned(),
            file_name: path.file_name().map_or_else(|| name.to_owned(), |name| name_of(Path::new(name))),
            version: ingest::version_of(path),
            repository_file: self.file.clone(),
        })
    }

    /// Whether the stored document has another path, which gives a file without a title another one.
    pub(crate) fn is_renamed(&self, path: &Path, name: &str) -> bool {
        let stored = self.stored.as_ref().filter(|stored| stored.path != name);
        stored.is_some_and(|stored| {
            ingest::title_of_name(Path::new(&stored.path)) != ingest::title_of_name(path)
        })
    }
}

impl StoredFiles {
    /// Takes the documents of a collection; those that a caller passed under a name of its own are left out.
    ///
    /// `roots` are what the request names. The run looks only at the paths `only`, if there are any.
    pub(crate) fn new(
        collection: &str,
        documents: Vec<KnownDocument>,
        roots: Vec<PathBuf>,
        only: Vec<PathBuf>,
    ) -> Self {
        let looked_at = PathSet::new(if only.is_empty() { roots.clone() } else { only });
        let mut files = Self {
            collection: collection.to_owned(),
            roots: PathSet::new(roots),
            looked_at,
            by_path: HashMap::with_capacity(documents.len()),
            by_later_id: HashMap::new(),
            own_trees: HashSet::new(),
            by_id: None,
            by_content: None,
            folders: HashMap::new(),
            trees: HashMap::new(),
            movable: HashMap::new(),
            of_others: None,
        };
        for mut document in documents {
            let is_at_path = || document.id == files.id_of_path(&document.path);
            let tree = document.repository_file.as_ref().and_then(|file| tree_of(&document.path, file));
            let mut later_id = None;
            if let (Some(file), Some(tree)) = (&document.repository_file, tree) {
                let shared = files.id_in_repository(file);
                if document.id != shared {
                    if is_at_path() {
                        later_id = Some(shared);
                    } else if document.id == files.id_in_tree(file, tree) {
                        files.own_trees.insert(tree.to_path_buf());
                    } else {
                        continue;
                    }
                }
            } else if is_at_path() {
                // Front matter may have fields with these names.
                document.repository_file = None;
            } else {
                continue;
            }
            let document = Arc::new(document);
            if let Some(later_id) = later_id {
                files.by_later_id.insert(later_id, Arc::clone(&document));
            }
            files.by_path.insert(document.path.clone(), document);
        }
        files
    }

    /// Whether a file is in a folder below what the request names.
    pub(crate) fn is_in_folder(&self, path: &Path) -> bool {
        path.parent().is_some_and(|folder| folder.parent().is_some_and(|above| self.roots.holds(above)))
    }

    /// Whether the stored document of a file is in another folder, which gives a file without tags another one. Folders with a
    /// name for the machine, such as the root of a repository, give none.
    pub(crate) fn is_in_other_folder(&self, found: &Match, path: &Path, name: &str) -> bool {
        let stored = found.stored.as_ref().filter(|stored| stored.path != name);
        stored.is_some_and(|stored| {
            let at = Path::new(&stored.path);
            ingest::folder_tag(at) != ingest::folder_tag(path)
                && (self.is_in_folder(at) || self.is_in_folder(path))
        })
    }

    /// Returns all documents, those of this run at their new paths.
    pub(crate) fn documents(&self) -> impl Iterator<Item = &KnownDocument> {
        self.by_path.values().map(Arc::as_ref)
    }

    /// Finds the stored document of a file with this content, and the id and place that it should have.
    pub(crate) fn find(
        &mut self,
        store: &dyn Store,
        path: &Path,
        name: &str,
        hash: &str,
        namespace: &Namespace,
    ) -> Result<Match> {
        let repository = self.repository_of(path);
        let file = repository.as_deref().and_then(|repository| repository_file(repository, path));
        let tree = repository.as_deref().map(|repository| repository.root.clone());
        if let Some(stored) = self.by_path.get(name) {
            let stored = stored.clone();
            // Nothing is computed for the usual file, which has not moved.
            let id = if stored.repository_file == file {
                stored.id.clone()
            } else {
                self.prepare();
                self.id_at(name, file.as_ref(), tree.as_deref(), Some(&stored.id))
            };
            return Ok(Match { stored: Some(stored), id, file });
        }
        self.prepare();
        let mut stored = None;
        if let (Some(file), Some(repository)) = (&file, repository.as_deref()) {
            stored = self.elsewhere(file, repository, name);
        }
        let stored = match stored.or_else(|| self.of_content(path, hash)) {
            Some(stored) if self.is_of_others(store, namespace, &stored.id)? => None,
            stored => stored,
        };
        let stored_id = stored.as_ref().map(|stored| stored.id.as_str());
        let id = self.id_at(name, file.as_ref(), tree.as_deref(), stored_id);
        Ok(Match { stored, id, file })
    }

    /// Whether a document has chunks, but none in a namespace.
    fn is_of_others(&mut self, store: &dyn Store, namespace: &Namespace, id: &str) -> Result<bool> {
        let of_others = match &mut self.of_others {
            Some(read) => read,
            unread => unread.insert(store.documents_outside(namespace)?.into_iter().collect()),
        };
        Ok(of_others.contains(id))
    }

    /// Remembers that a file's document is at its path now.
    pub(crate) fn keep(&mut self, name: &str, found: Match) {
        let Match { stored, id, file } = found;
        if let Some(stored) = stored
            && (stored.path != name || stored.id != id)
        {
            self.by_path.remove(&stored.path);
            let mut moved = Arc::unwrap_or_clone(stored);
            moved.id.clone_from(&id);
            name.clone_into(&mut moved.path);
            moved.repository_file = file;
            self.by_path.insert(name.to_owned(), Arc::new(moved));
        }
        if let Some(by_id) = &mut self.by_id {
            by_id.insert(id, None);
        }
    }

    /// Returns the roots of working trees that are gone, of the repositories that this run has met.
    pub(crate) fn gone_trees(&self) -> HashSet<PathBuf> {
        let mut trees: HashSet<(&Path, &str)> = HashSet::new();
        for document in self.by_path.values() {
            if let Some(file) = &document.repository_file
                && self.trees.contains_key(&file.repository)
                && let Some(root) = tree_of(&document.path, file)
            {
                trees.insert((root, &file.repository));
            }
        }
        let gone = trees.into_iter().filter(|(root, identity)| is_gone(root, identity));
        gone.map(|(root, _)| root.to_path_buf()).collect()
    }

    /// Returns where the file of a document would be if this run looks at it.
    ///
    /// The documents of a working tree that is `gone` are looked for in the one that is indexed now.
    pub(crate) fn path_below(&self, document: &KnownDocument, gone: &HashSet<PathBuf>) -> Option<PathBuf> {
        let path = PathBuf::from(&document.path);
        if self.looked_at.holds(&path) {
            return Some(path);
        }
        let file = document.repository_file.as_ref()?;
        let root = self.trees.get(&file.repository)?;
        let is_gone = gone.contains(tree_of(&document.path, file)?);
        Some(root.join(&file.relative_path)).filter(|path| is_gone && self.looked_at.holds(path))
    }

    /// Returns the repository of a file.
    fn repository_of(&mut self, path: &Path) -> Option<Arc<Repository>> {
        let folder = path.parent()?;
        if let Some(known) = self.folders.get(folder) {
            return known.clone();
        }
        let repository = match ingest::repository_at(folder) {
            Some(repository) => {
                self.trees.entry(repository.identity.clone()).or_insert_with(|| repository.root.clone());
                Some(Arc::new(repository))
            }
            None => self.repository_of(folder),
        };
        self.folders.insert(folder.to_path_buf(), repository.clone());
        repository
    }

    /// Makes the lookup by id.
    fn prepare(&mut self) {
        if self.by_id.is_none() {
            let documents = self.by_path.values();
            self.by_id =
                Some(documents.map(|document| (document.id.clone(), Some(Arc::clone(document)))).collect());
        }
    }

    /// Returns the document of this file of a repository in another working tree, if it may move.
    fn elsewhere(
        &mut self,
        file: &RepositoryFile,
        to: &Repository,
        name: &str,
    ) -> Option<Arc<KnownDocument>> {
        if self.own_trees.contains(&to.root) {
            return None;
        }
        let id = self.id_in_repository(file);
        let known = self.by_id.as_ref()?.get(&id).and_then(Option::as_ref);
        let known = known.or_else(|| self.by_later_id.get(&id))?;
        // A document that has moved is at its old path no more.
        let stored = self.by_path.get(&known.path).filter(|stored| stored.path != name)?.clone();
        let from = tree_of(&stored.path, stored.repository_file.as_ref()?)?.to_path_buf();
        let is_below = self.roots.holds(&from);
        let may_move = || match ingest::repository_at(&from) {
            Some(other) if other.identity == to.identity => other.common == to.common && !is_below,
            Some(_) | None => true,
        };
        let key = (from.clone(), to.common.clone());
        (*self.movable.entry(key).or_insert_with(may_move)).then_some(stored)
    }

    /// Returns a document with this content and file name whose own file is gone.
    fn of_content(&mut self, path: &Path, hash: &str) -> Option<Arc<KnownDocument>> {
        let key = (hash.to_owned(), name_of(Path::new(path.file_name()?)));
        let by_path = &self.by_path;
        let waiting = self.by_content.get_or_insert_with(|| by_content(by_path)).get_mut(&key)?;
        // Each is taken once, in order: the files of a moved folder are met in the order that they had.
        while let Some(candidate) = waiting.pop_front() {
            let Some(stored) = by_path.get(&candidate.path) else { continue };
            let at = Path::new(&stored.path);
            let is_gone = at.is_absolute()
                && std::fs::symlink_metadata(at)
                    .is_err_and(|source| source.kind() == std::io::ErrorKind::NotFound);
            if is_gone && ingest::title_of_name(at) == ingest::title_of_name(path) {
                return Some(stored.clone());
            }
        }
        None
    }

    /// Returns the id of a file's document. A document keeps the id that it has if that fits, also the one by its path
    /// that earlier versions gave to files of repositories.
    fn id_at(
        &self,
        name: &str,
        file: Option<&RepositoryFile>,
        tree: Option<&Path>,
        stored: Option<&str>,
    ) -> String {
        let (Some(file), Some(tree)) = (file, tree) else { return self.id_of_path(name) };
        let shared = self.id_in_repository(file);
        let own = || self.id_in_tree(file, tree);
        let fits = |stored: &&str| *stored == shared || *stored == own() || *stored == self.id_of_path(name);
        let is_taken = || self.by_id.as_ref().is_some_and(|by_id| by_id.contains_key(&shared));
        match stored.filter(fits) {
            Some(stored) => stored.to_owned(),
            None if self.own_trees.contains(tree) || is_taken() => own(),
            None => shared,
        }
    }

    fn id_of_path(&self, name: &str) -> String {
        derive_id(&["document", &self.collection, name])
    }

    fn id_in_repository(&self, file: &RepositoryFile) -> String {
        derive_id(&["file", &self.collection, &file.repository, &file.relative_path])
    }

    fn id_in_tree(&self, file: &RepositoryFile, tree: &Path) -> String {
        derive_id(&["file", &self.collection, &file.repository, &file.relative_path, &name_of(tree)])
    }
}

/// Whether a repository has no working tree here any more.
fn is_gone(root: &Path, identity: &str) -> bool {
    ingest::repository_at(root).is_none_or(|repository| repository.identity != identity)
}

fn repository_file(repository: &Repository, path: &Path) -> Option<RepositoryFile> {
    let relative = name_of(path.strip_prefix(&repository.root).ok()?);
    Some(RepositoryFile {
        repository: repository.identity.clone(),
        branch: repository.branch.clone(),
        relative_path: if cfg!(windows) { relative.replace('\\', "/") } else { relative },
    })
}

/// Returns the root of the working tree: a path without the part below the root. Both separators have one byte.
fn tree_of<'a>(path: &'a str, file: &RepositoryFile) -> Option<&'a Path> {
    let end = path.len().checked_sub(file.relative_path.len() + 1)?;
    let below = path.get(end..)?.strip_prefix(['/', '\\'])?;
    let is_same = below == file.relative_path || below.replace('\\', "/") == file.relative_path;
    is_same.then(|| Path::new(&path[..end]))
}

/// Returns documents by content hash and file name, in the order of their paths.
fn by_content(by_path: &HashMap<String, Arc<KnownDocument>>) -> ByContent {
    let mut documents: Vec<_> = by_path.values().collect();
    documents.sort_unstable_by(|one, other| one.path.cmp(&other.path));
    let mut found = ByContent::new();
    for document in documents {
        let key = (document.hash.clone(), last_part(&document.path).to_owned());
        found.entry(key).or_default().push_back(Arc::clone(document));
    }
    found
}

fn last_part(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Returns the name of a file: its path, with `\xff` for each byte that is not text, so that two such files are two
/// documents.
#[cfg(unix)]
pub(crate) fn name_of(path: &Path) -> String {
    use std::fmt::Write as _;
    use std::os::unix::ffi::OsStrExt;
    let mut name = String::new();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        name.push_str(chunk.valid());
        for byte in chunk.invalid() {
            // Writing to a string never fails.
            let _ = write!(name, "\\x{byte:02x}");
        }
    }
    name
}

#[cfg(not(unix))]
pub(crate) fn name_of(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(id: &str, path: &str, file: Option<(&str, &str)>) -> KnownDocument {
        let repository_file = file.map(|(repository, relative_path)| RepositoryFile {
            repository: repository.to_owned(),
            branch: None,
            relative_path: relative_path.to_owned(),
        });
        let (hash, recipe) = (String::new(), String::new());
        KnownDocument { id: id.to_owned(), path: path.to_owned(), hash, recipe, repository_file }
    }

    #[test]
    fn a_path_is_a_working_tree_and_the_part_below_it() {
        for (path, relative, expected) in [
            ("/w/garden/docs/a.md", "docs/a.md", Some("/w/garden")),
            ("C:\\w\\garden\\docs\\a.md", "docs/a.md", Some("C:\\w\\garden")),
            ("/w/garden/docs/a.md", "cs/a.md", None),
            ("/w/é.md", "x.md", None),
            ("a.md", "docs/a.md", None),
        ] {
            let stored = document("", path, Some(("r", relative)));
            let file = stored.repository_file.as_ref().expect("one was given");
            assert_eq!(tree_of(path, file), expected.map(Path::new), "{path}");
        }
    }

    #[test]
    fn only_an_id_that_fits_makes_a_document_a_file() {
        let path = "/w/garden/docs/a.md";
        let by_path = derive_id(&["document", "notes", path]);
        let shared = derive_id(&["file", "notes", "r", "docs/a.md"]);
        let own = derive_id(&["file", "notes", "r", "docs/a.md", "/w/garden"]);
        let is_file = |id: &str, file| {
            let files = StoredFiles::new("notes", vec![document(id, path, file)], Vec::new(), Vec::new());
            files.documents().count() == 1
        };
        // Earlier versions knew files of repositories by their paths alone.
        for (id, file) in [
            (&by_path, None),
            (&by_path, Some(("r", "docs/a.md"))),
            (&shared, Some(("r", "docs/a.md"))),
            (&own, Some(("r", "docs/a.md"))),
        ] {
            assert!(is_file(id, file), "{id} {file:?}");
        }
        // A front matter that claims to be a file of a repository is not believed.
        for (id, file) in [
            (&shared, None),
            (&shared, Some(("other", "docs/a.md"))),
            (&shared, Some(("r", "a.md"))),
            (&own, Some(("r", "a.md"))),
        ] {
            assert!(!is_file(id, file), "{id} {file:?}");
        }
    }
}
