//! Holds the paths of all documents in about 40 bytes each, folders apart from names.

use std::collections::HashSet;

use crate::error::Result;
use crate::store::{DocumentRow, PathChanges, Store};

/// The documents' paths, folders apart from names: about 40 bytes a document.
#[derive(Debug, Default)]
pub struct Paths {
    folders: Vec<String>,
    names: String,
    files: Vec<File>,
}

#[derive(Clone, Copy, Debug)]
struct File {
    document: DocumentRow,
    /// Index of its folder in `folders`.
    folder: u32,
    /// End of its name in `names`; the name begins where the previous one ends.
    end: usize,
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
        for (document, folder, name) in self.iter().filter(|(document, ..)| !stale.contains(document)) {
            paths.push_file(document, folder, name);
        }
        changes.came.iter().for_each(|(document, path)| paths.push(*document, path));
        paths
    }

    fn push(&mut self, document: DocumentRow, path: &str) {
        let (folder, name) = path.rsplit_once(['/', '\\']).unwrap_or(("", path));
        self.push_file(document, folder, name);
    }

    fn push_file(&mut self, document: DocumentRow, folder: &str, name: &str) {
        if self.folders.last().is_none_or(|last| last != folder) {
            self.folders.push(folder.to_owned());
        }
        self.names.push_str(name);
        let folder = u32::try_from(self.folders.len() - 1).expect("a store has fewer than 2^32 documents");
        self.files.push(File { document, folder, end: self.names.len() });
    }

    /// Iterates over the documents, each with its folder and name.
    pub fn iter(&self) -> impl Iterator<Item = (DocumentRow, &str, &str)> {
        let mut start = 0;
        self.files.iter().map(move |file| {
            let name = &self.names[start..file.end];
            start = file.end;
            (file.document, self.folders[file.folder as usize].as_str(), name)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_a_folder_and_a_name() {
        let mut paths = Paths::default();
        for (row, path) in ["/a/b/x.md", "/a/b/y.md", "C:\\docs\\z.txt", "id-7", ""].iter().enumerate() {
            paths.push(DocumentRow(row as u64), path);
        }
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
}
