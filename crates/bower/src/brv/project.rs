//! Whose memories a run speaks of: the project around the current folder. Each has a collection of its own, so that what was told
//! in one project never shows up in another.

use bower_core::item::hex;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

use crate::failure::Result;

/// The other program's folder: its presence marks a project, and its context tree is taken over.
const FOLDER: &str = ".brv";
/// Names of collections are shown: a folder's name is cut to so many letters.
const LONGEST_NAME: usize = 32;

/// A project.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Project {
    /// Its folder.
    pub root: PathBuf,
    /// Why that one.
    pub found_by: &'static str,
    /// The name of its collection.
    pub collection: String,
    /// What the other program kept there, where it did.
    pub tree: Option<PathBuf>,
}

impl Project {
    /// The one around a folder, or around the current one: the nearest above with a `.brv`, else with a `.git`, else itself.
    pub(super) fn find(folder: Option<&Path>) -> Result<Self> {
        let (start, is_named) = match folder {
            Some(folder) => (std::path::absolute(folder), true),
            None => (std::env::current_dir(), false),
        };
        let start = start.map_err(|source| bower_core::Error::io("find", Path::new("."), source))?;
        // One folder has one name, whatever link led there.
        let start = start.canonicalize().unwrap_or(start);
        let above = |name: &str| start.ancestors().find(|folder| folder.join(name).exists());
        let (root, found_by) = if is_named {
            (start.as_path(), "--project-root")
        } else if let Some(root) = above(FOLDER) {
            (root, FOLDER)
        } else if let Some(root) = above(".git") {
            (root, ".git")
        } else {
            (start.as_path(), "the current folder")
        };
        let marked = root.join(FOLDER);
        let tree = marked.exists().then_some(marked);
        Ok(Self { root: root.to_owned(), found_by, collection: collection_of(root), tree })
    }
}

/// A name that tells people which project it is, and is another for each folder.
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
