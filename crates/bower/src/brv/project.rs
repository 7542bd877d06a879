//! Finds the project of a `brv` run: the one around the current folder.
//! Each project has its own collection, so that texts of one project never appear in another.

use bower_core::item::hex;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

use crate::failure::Result;

/// `ByteRover`'s folder: it marks a project, and its context tree is imported.
const FOLDER: &str = ".brv";
/// Length in characters to which a folder's name is cut, because names of collections are shown.
const LONGEST_NAME: usize = 32;

/// A project with its collection.
#[derive(Debug, PartialEq, Eq)]
pub struct Project {
    /// The project's folder.
    pub root: PathBuf,
    /// Name of the rule that chose the folder.
    pub found_by: &'static str,
    /// Name of its collection.
    pub collection: String,
    /// `ByteRover`'s folder, if the project has one.
    pub tree: Option<PathBuf>,
}

impl Project {
    /// Returns the project in the named folder, or else the one around the current folder.
    pub(super) fn find(named: Option<&Path>) -> Result<Self> {
        let find = |source| bower_core::Error::io("find", Path::new("."), source);
        Ok(match named {
            Some(folder) => Self::at(&real(&std::path::absolute(folder).map_err(find)?), "--project-root"),
            None => Self::around(&std::env::current_dir().map_err(find)?),
        })
    }

    /// Returns the project around a folder: the nearest folder above with a `.brv`, else with a `.git`, else the folder itself.
    pub fn around(folder: &Path) -> Self {
        let start = real(folder);
        let above = |name: &str| start.ancestors().find(|folder| folder.join(name).exists());
        if let Some(root) = above(FOLDER) {
            Self::at(root, FOLDER)
        } else if let Some(root) = above(".git") {
            Self::at(root, ".git")
        } else {
            Self::at(&start, "the current folder")
        }
    }

    fn at(root: &Path, found_by: &'static str) -> Self {
        let marked = root.join(FOLDER);
        let tree = marked.exists().then_some(marked);
        Self { root: root.to_owned(), found_by, collection: collection_of(root), tree }
    }
}

/// Resolves links, so that a folder has one name whatever link led to it.
fn real(folder: &Path) -> PathBuf {
    folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf())
}

/// Returns a collection name that people recognise and that differs for each folder.
fn collection_of(root: &Path) -> String {
    let folder = root.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let plain: String = folder
        .chars()
        .map(|letter| if letter.is_alphanumeric() { letter } else { '-' })
        .take(LONGEST_NAME)
        .collect();
    let digest = Sha256::digest(root.as_os_str().as_encoded_bytes());
    format!("brv-{}-{}", plain.trim_matches('-'), hex(&digest[..4]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_is_the_nearest_marked_folder() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let deep = top.join("a/b/c");
        std::fs::create_dir_all(&deep).unwrap();
        std::fs::create_dir(top.join("a/.git")).unwrap();
        let above = |start: &Path| {
            let start = start.to_owned();
            Project::find(Some(&start)).unwrap()
        };
        assert_eq!(above(&deep).root, deep, "a folder that is named is the project");
        assert_eq!(above(&deep).tree, None);
        std::fs::create_dir_all(top.join("a/.brv/context-tree")).unwrap();
        assert_eq!(above(&top.join("a")).tree, Some(top.join("a/.brv")));
        assert_eq!(Project::around(&deep), Project { found_by: FOLDER, ..above(&top.join("a")) });
    }

    #[test]
    fn two_folders_of_one_name_have_two_collections() {
        let (one, two) = (collection_of(Path::new("/x/My App!")), collection_of(Path::new("/y/My App!")));
        assert!(
            one.starts_with("brv-my-app-") && two.starts_with("brv-my-app-") && one != two,
            "{one} {two}"
        );
    }
}
