//! Reads the files of one project for one answer: each at most once, and all of them within limits.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::fs;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::git::GitObjects;
use crate::ingest::{Definition, definitions, has_definitions};

/// Largest file that is read, in bytes. Larger ones were generated, and nobody remembers their lines.
const LARGEST: u64 = 1 << 20;
/// Most files that are listed to find what was moved. Git's own repository has 4,600.
const MOST_FILES: usize = 50_000;
/// Most bytes that an answer reads to find what was moved.
const MOST_SEARCHED: usize = 16 << 20;
/// Most bytes of source that an answer parses. A tree takes 0.2 microseconds a byte (`ingest/code.rs`).
const MOST_PARSED: usize = 1 << 20;

/// The content of a path.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// A file's text; what is not UTF-8 in it is replaced.
    Text(Rc<str>),
    /// A folder.
    Folder,
    /// It exists, but is too large, no plain file, or cannot be read.
    Unknown,
    /// Nothing is there.
    Missing,
}

/// The files of a project.
pub(crate) struct ProjectFiles {
    root: PathBuf,
    list: OnceCell<Vec<String>>,
    contents: RefCell<HashMap<String, Content>>,
    parsed: RefCell<HashMap<String, Rc<[Definition]>>>,
    searched: Cell<usize>,
    words: OnceCell<HashMap<u64, Vec<u32>>>,
    parsed_bytes: Cell<usize>,
    repository: OnceCell<Option<GitObjects>>,
}

/// Returns the project's folder around a working folder: the nearest one with a `.git`, else the folder itself. Links are
/// resolved, so that a folder has one name.
pub(crate) fn root_of(folder: &Path) -> Option<PathBuf> {
    let start = folder.canonicalize().ok().filter(|folder| folder.is_dir())?;
    let root = start.ancestors().find(|folder| folder.join(".git").exists()).map(Path::to_path_buf);
    Some(root.unwrap_or(start))
}

impl ProjectFiles {
    /// Creates the reader of a project with this folder.
    pub(crate) fn new(root: PathBuf) -> Self {
        Self {
            root,
            list: OnceCell::new(),
            contents: RefCell::default(),
            parsed: RefCell::default(),
            searched: Cell::new(0),
            words: OnceCell::new(),
            parsed_bytes: Cell::new(0),
            repository: OnceCell::new(),
        }
    }

    /// Returns its folder.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns its git repository, if it has one.
    pub(crate) fn repository(&self) -> Option<&GitObjects> {
        self.repository.get_or_init(|| GitObjects::at(&self.root)).as_ref()
    }

    /// Returns the content of a path below its folder.
    pub(crate) fn content(&self, path: &str) -> Content {
        if let Some(content) = self.contents.borrow().get(path) {
            return content.clone();
        }
        let content = read(&self.root.join(path));
        self.contents.borrow_mut().insert(path.to_owned(), content.clone());
        content
    }

    /// Returns the text of a file for a search, as long as there is room for more.
    pub(crate) fn searched_text(&self, path: &str) -> Option<Rc<str>> {
        let is_read = self.contents.borrow().contains_key(path);
        if !is_read && self.searched.get() > MOST_SEARCHED {
            return None;
        }
        let Content::Text(text) = self.content(path) else { return None };
        if !is_read {
            self.searched.set(self.searched.get() + text.len());
        }
        Some(text)
    }

    /// Returns the source files that contain an identifier as a whole word, in order.
    pub(crate) fn files_with(&self, name: &str) -> impl Iterator<Item = &String> {
        let words = self.words.get_or_init(|| {
            let mut words: HashMap<u64, Vec<u32>> = HashMap::new();
            for (nth, path) in self.list().iter().enumerate() {
                if !has_definitions(Path::new(path)) {
                    continue;
                }
                let Some(text) = self.searched_text(path) else { continue };
                let nth = nth as u32;
                each_word(&text, |word| {
                    let files = words.entry(word).or_default();
                    if files.last() != Some(&nth) {
                        files.push(nth);
                    }
                });
            }
            words
        });
        let mut wanted = None;
        each_word(name, |word| wanted = Some(word));
        let files = wanted.and_then(|word| words.get(&word)).into_iter().flatten();
        files.map(|&nth| &self.list()[nth as usize])
    }

    /// Returns the definitions of a file, or `None` if too much was parsed already.
    pub(crate) fn definitions(&self, path: &str, text: &str) -> Option<Rc<[Definition]>> {
        if let Some(parsed) = self.parsed.borrow().get(path) {
            return Some(Rc::clone(parsed));
        }
        let bytes = self.parsed_bytes.get() + text.len();
        if bytes > MOST_PARSED {
            return None;
        }
        self.parsed_bytes.set(bytes);
        let parsed: Rc<[Definition]> = definitions(Path::new(path), text).into();
        self.parsed.borrow_mut().insert(path.to_owned(), Rc::clone(&parsed));
        Some(parsed)
    }

    /// Returns its files as paths below its folder, in order. Ignored and hidden ones are left out.
    pub(crate) fn list(&self) -> &[String] {
        self.list.get_or_init(|| {
            let walk = ignore::WalkBuilder::new(&self.root).build().flatten();
            let files = walk.filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
            let below = |entry: ignore::DirEntry| {
                let path = entry.path().strip_prefix(&self.root).ok()?.to_str()?;
                Some(if cfg!(windows) { path.replace('\\', "/") } else { path.to_owned() })
            };
            let mut list: Vec<String> = files.take(MOST_FILES).filter_map(below).collect();
            list.sort_unstable();
            list
        })
    }
}

/// Calls a function with the hash of each identifier and number in a text (FNV-1a: Fowler, Noll, Vo).
fn each_word(text: &str, mut each: impl FnMut(u64)) {
    const START: u64 = 0xcbf2_9ce4_8422_2325;
    let mut hash = START;
    for &byte in text.as_bytes().iter().chain(b" ") {
        if byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80 {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        } else if hash != START {
            each(hash);
            hash = START;
        }
    }
}

/// Reads a file. A pipe or a device is never opened, because reading it might not end.
fn read(path: &Path) -> Content {
    let found = match fs::metadata(path) {
        Ok(found) => found,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Content::Missing;
        }
        Err(_) => return Content::Unknown,
    };
    if found.is_dir() {
        return Content::Folder;
    }
    if !found.is_file() || found.len() > LARGEST {
        return Content::Unknown;
    }
    let mut bytes = Vec::with_capacity(found.len() as usize + 1);
    let read = fs::File::open(path).and_then(|file| file.take(LARGEST).read_to_end(&mut bytes));
    match read {
        Ok(_) => Content::Text(String::from_utf8_lossy(&bytes).into()),
        Err(error) if error.kind() == ErrorKind::NotFound => Content::Missing,
        Err(_) => Content::Unknown,
    }
}
