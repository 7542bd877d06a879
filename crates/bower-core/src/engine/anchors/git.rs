//! Reads a git repository's head, and whether it has a commit, without a git process.
//! Layouts: gitrepository-layout(5), gitformat-pack(5).

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::ingest::git_folders;

/// Longest file of references that is read, in bytes.
const MOST_BYTES: u64 = 16 << 20;
/// Head of a version-2 index of a pack: magic number, version, and 256 counts of 4 bytes.
const FANOUT: u64 = 8;
const NAMES: u64 = FANOUT + 256 * 4;
/// Bytes of an object's name (SHA-1).
const NAME: u64 = 20;

/// A repository on this machine.
pub(crate) struct GitObjects {
    /// The folder of this work tree's head.
    own: PathBuf,
    /// The folder of objects and references, which work trees share.
    common: PathBuf,
}

impl GitObjects {
    /// Opens the repository whose work tree has this folder at its top, if there is one.
    pub(crate) fn at(root: &Path) -> Option<Self> {
        let (own, common) = git_folders(root)?;
        Some(Self { own, common })
    }

    /// Whether two folders are work trees of one repository.
    pub(crate) fn is_shared(one: &Path, other: &Path) -> bool {
        let common =
            |root: &Path| Self::at(root).and_then(|repository| repository.common.canonicalize().ok());
        common(one).is_some_and(|one| common(other) == Some(one))
    }

    /// Returns the commit that is checked out, in hex digits; `None` before the first commit.
    pub(crate) fn head(&self) -> Option<String> {
        let head = line(&self.own.join("HEAD"))?;
        let Some(name) = head.strip_prefix("ref: ") else { return digits(&head) };
        let loose = || [&self.own, &self.common].into_iter().find_map(|folder| line(&folder.join(name)));
        loose().as_deref().and_then(digits).or_else(|| {
            let packed = text(&self.common.join("packed-refs"))?;
            packed.lines().find_map(|entry| digits(entry.strip_suffix(name)?.strip_suffix(' ')?))
        })
    }

    /// Whether it has an object whose name begins with these hex digits; `None` if its objects cannot be read.
    pub(crate) fn has(&self, digits: &str) -> Option<bool> {
        let objects = self.common.join("objects");
        let (folder, rest) = digits.split_at_checked(2)?;
        let is_loose = |entry: std::fs::DirEntry| entry.file_name().to_string_lossy().starts_with(rest);
        if let Ok(entries) = objects.join(folder).read_dir()
            && entries.flatten().any(is_loose)
        {
            return Some(true);
        }
        let packs = match objects.join("pack").read_dir() {
            Ok(packs) => packs,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && objects.is_dir() => {
                return Some(false);
            }
            Err(_) => return None,
        };
        let is_index = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "idx");
        for path in packs.flatten().map(|entry| entry.path()).filter(is_index) {
            if pack_has(&path, digits).ok()?? {
                return Some(true);
            }
        }
        Some(false)
    }
}

/// Searches the sorted names of a pack's index; `None` if it is of another version.
fn pack_has(index: &Path, digits: &str) -> std::io::Result<Option<bool>> {
    let mut file = File::open(index)?;
    let mut head = [0; 8];
    file.read_exact(&mut head)?;
    let Some(Ok(first)) = digits.get(..2).map(|pair| u64::from_str_radix(pair, 16)) else {
        return Ok(None);
    };
    if head != *b"\xfftOc\0\0\0\x02" {
        return Ok(None);
    }
    let mut count = |nth: u64| -> std::io::Result<u64> {
        let mut number = [0; 4];
        file.seek(SeekFrom::Start(FANOUT + nth * 4))?;
        file.read_exact(&mut number)?;
        Ok(u64::from(u32::from_be_bytes(number)))
    };
    let end = count(first)?;
    let mut low = if first == 0 { 0 } else { count(first - 1)? };
    let mut high = end;
    let mut name_at = |nth: u64| -> std::io::Result<String> {
        let mut name = [0; NAME as usize];
        file.seek(SeekFrom::Start(NAMES + nth * NAME))?;
        file.read_exact(&mut name)?;
        Ok(crate::item::hex(&name))
    };
    while low < high {
        let middle = low + (high - low) / 2;
        if name_at(middle)?.as_str() < digits {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Ok(Some(low < end && name_at(low)?.starts_with(digits)))
}

fn text(path: &Path) -> Option<String> {
    let mut text = String::new();
    File::open(path).ok()?.take(MOST_BYTES).read_to_string(&mut text).ok()?;
    Some(text)
}

/// Returns the only line of a small file.
fn line(path: &Path) -> Option<String> {
    path.is_file().then(|| text(path)).flatten().map(|text| text.trim_end().to_owned())
}

fn digits(text: &str) -> Option<String> {
    (text.len() >= 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit())).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_head_and_the_objects_of_a_repository_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let git = folder.path().join(".git");
        assert!(GitObjects::at(folder.path()).is_none());
        fs::create_dir_all(git.join("objects/ab")).unwrap();
        fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        let of = |path: &Path| GitObjects::at(path).unwrap();
        assert_eq!(of(folder.path()).head(), None, "no commit yet");
        let (one, two) = ("a".repeat(40), "b".repeat(40));
        fs::write(git.join("packed-refs"), format!("# pack-refs\n{one} refs/heads/main\n")).unwrap();
        assert_eq!(of(folder.path()).head(), Some(one.clone()));
        fs::create_dir_all(git.join("refs/heads")).unwrap();
        fs::write(git.join("refs/heads/main"), format!("{two}\n")).unwrap();
        assert_eq!(of(folder.path()).head(), Some(two.clone()));

        fs::write(git.join("objects/ab").join("c".repeat(38)), "").unwrap();
        assert_eq!(of(folder.path()).has("abccccc"), Some(true));
        assert_eq!(of(folder.path()).has("abccccd"), Some(false));
        // An index of two objects: 0100... and ab12...
        let mut index = b"\xfftOc\0\0\0\x02".to_vec();
        for first in 0..256_u32 {
            index.extend((u32::from(first >= 1) + u32::from(first >= 0xab)).to_be_bytes());
        }
        for name in [[1, 0], [0xab, 0x12]] {
            index.extend([&name[..], &[0; 18]].concat());
        }
        fs::create_dir_all(git.join("objects/pack")).unwrap();
        fs::write(git.join("objects/pack/pack-1.idx"), &index).unwrap();
        for (digits, expected) in
            [("ab12000", true), ("0100000", true), ("0200000", false), ("ab13000", false), ("ffa0000", false)]
        {
            assert_eq!(of(folder.path()).has(digits), Some(expected), "{digits}");
        }
        fs::write(git.join("objects/pack/pack-2.idx"), b"short").unwrap();
        assert_eq!(of(folder.path()).has("0200000"), None, "a torn index says nothing");

        let tree = tempfile::tempdir().unwrap();
        let own = git.join("worktrees/w");
        fs::create_dir_all(&own).unwrap();
        fs::write(own.join("commondir"), "../..\n").unwrap();
        fs::write(own.join("HEAD"), format!("{one}\n")).unwrap();
        fs::write(tree.path().join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
        assert_eq!(of(tree.path()).head(), Some(one));
        assert_eq!(of(tree.path()).has("abccccc"), Some(true));
        assert!(GitObjects::is_shared(tree.path(), folder.path()));
        assert!(!GitObjects::is_shared(tree.path(), &git));
    }
}
