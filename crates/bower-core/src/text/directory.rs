//! The text index's folder as a tantivy directory: mapped files, readable where nothing may be written.
//! Each block of a file is verified when it is first read. A wrong checksum is an error to tantivy, and is recorded.
//!
//! The checksums are in one file beside their commit. Its name is the SHA-256 of the commit's `meta.json`, and its own
//! checksum covers that hash: a commit cannot be combined with other checksums. It is written before the commit; files
//! of older commits are removed after it. An index of an older version has none. It is read without them, and the next
//! compaction adds them after verifying the whole index.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tantivy::directory::error::{DeleteError, LockError, OpenDirectoryError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    AntiCallToken, DirectoryLock, FileHandle, Lock, META_LOCK, MmapDirectory, OwnedBytes, TerminatingWrite,
    WatchCallback, WatchHandle, WritePtr,
};
use tantivy::{Directory, HasLen};

use crate::checksum::{BLOCK, BlockSums, Checked, Summing};
use crate::error::Error;
use crate::files;
use crate::item::hex;

/// The commit file. tantivy writes it last; without it there is no index.
pub const META: &str = "meta.json";

/// The suffix of a file with checksums.
const KIND: &str = "sums";

/// Most times that `meta.json` is read again because another process committed meanwhile.
const COMMITTED_MEANWHILE: usize = 8;

/// Mapped files. Unlike tantivy's own directory it opens in a read-only folder. There, tantivy's lock against the
/// removal of files cannot be created and is not needed: this program, as this user, cannot remove files.
#[derive(Clone, Debug)]
pub(super) struct Files {
    inner: MmapDirectory,
    dir: PathBuf,
    known: Arc<Known>,
}

/// The state of one opened folder's files.
#[derive(Debug, Default)]
struct Known {
    state: RwLock<State>,
    /// The first damage that was read: file and reason.
    damage: OnceLock<(PathBuf, String)>,
}

#[derive(Debug, Default)]
struct State {
    /// The SHA-256 of the last read `meta.json`.
    commit: Option<[u8; 32]>,
    /// The verified blocks of each file with checksums: those of that commit and those written since. They are shared
    /// by all openers of a file.
    files: BTreeMap<PathBuf, Arc<Checked>>,
}

fn unread(sums: BlockSums) -> Arc<Checked> {
    Arc::new(Checked::new(Some(sums)))
}

/// The header of a file with checksums: a line of JSON before the concatenated sums of its files.
#[derive(Serialize, Deserialize)]
struct Head {
    /// Name and length of each file.
    files: Vec<(String, usize)>,
}

/// The parts of `meta.json` that are used here.
#[derive(Deserialize)]
struct Meta {
    segments: Vec<MetaSegment>,
    payload: Option<String>,
}

#[derive(Deserialize)]
struct MetaSegment {
    segment_id: String,
    deletes: Option<MetaDeletes>,
}

/// The removed rows of a segment; the number is a part of their file's name.
#[derive(Deserialize)]
struct MetaDeletes {
    opstamp: u64,
}

impl MetaSegment {
    /// Whether a file belongs to the segment in this commit. The removed rows of an earlier commit stay in the folder until
    /// tantivy deletes them, and longer where a process was killed.
    fn has(&self, name: &str) -> bool {
        let Some(kind) = name.strip_prefix(&self.segment_id.replace('-', "")) else { return false };
        let Some(opstamp) = kind.strip_prefix('.').and_then(|kind| kind.strip_suffix(".del")) else {
            return true;
        };
        self.deletes.as_ref().is_some_and(|deletes| opstamp == deletes.opstamp.to_string())
    }
}

/// The part of a commit's payload about its checksums.
#[derive(Deserialize)]
struct HasSums {
    #[serde(default)]
    sums: bool,
}

impl Files {
    /// Opens an existing folder.
    pub fn open(dir: &Path) -> Result<Self, OpenDirectoryError> {
        Ok(Self { inner: MmapDirectory::open(dir)?, dir: dir.to_path_buf(), known: Arc::default() })
    }

    /// Returns the first damage that was read.
    pub fn damage(&self) -> Option<Error> {
        let (path, reason) = self.known.damage.get()?;
        Some(Error::Corrupt { at: self.dir.join(path).into(), reason: reason.clone() })
    }

    /// Whether the last read commit has checksums.
    pub fn has_sums(&self) -> bool {
        self.known.read(|state| state.commit.is_some())
    }

    /// Returns the files of the last read commit that queries read, if they have checksums.
    pub fn paths(&self) -> Vec<PathBuf> {
        let is_read = |name: &Path| !name.extension().is_some_and(|kind| kind == "pos" || kind == "store");
        self.known.read(|state| {
            state.files.keys().filter(|name| is_read(name)).map(|name| self.dir.join(name)).collect()
        })
    }

    /// Verifies every byte of the commit's files.
    pub fn check_all(&self) -> Result<(), Error> {
        let files: Vec<PathBuf> = self.known.read(|state| state.files.keys().cloned().collect());
        for path in files {
            let whole = self
                .get_file_handle(&path)
                .map_err(|cause| cause.to_string())
                .and_then(|file| file.read_bytes(0..file.len()).map(drop).map_err(|cause| cause.to_string()));
            if let Err(reason) = whole {
                self.known.damage.get_or_init(|| (path, reason));
                break;
            }
        }
        self.damage().map_or(Ok(()), Err)
    }

    /// Creates checksums for a commit that has none, after verifying its files by tantivy's own checksums.
    pub fn adopt(&self) -> Result<(), Error> {
        for (path, bytes) in self.whole_files()? {
            self.known.write(|state| state.files.insert(path, unread(BlockSums::of(&bytes))));
        }
        Ok(())
    }

    /// Verifies the files of a commit without checksums by tantivy's own: each file ends with the CRC-32 of everything
    /// before it.
    pub fn verify_whole(&self) -> Result<(), Error> {
        self.whole_files().map(drop)
    }

    fn whole_files(&self) -> Result<Vec<(PathBuf, OwnedBytes)>, Error> {
        let failed = |path: &Path, reason: String| Error::Corrupt { at: self.dir.join(path).into(), reason };
        let meta = self.inner.atomic_read(Path::new(META));
        let meta = meta.map_err(|cause| failed(Path::new(META), cause.to_string()))?;
        let files = parse(&meta).and_then(|meta| self.files_of(&meta));
        let mut whole = Vec::new();
        for path in files.map_err(|cause| failed(Path::new(META), cause.to_string()))? {
            let file = self.inner.get_file_handle(&path).map_err(|cause| failed(&path, cause.to_string()))?;
            let bytes = file.read_bytes(0..file.len()).map_err(|cause| failed(&path, cause.to_string()))?;
            if !has_its_own_checksum(&bytes) {
                return Err(failed(&path, "its checksum does not match".into()));
            }
            whole.push((path, bytes));
        }
        Ok(whole)
    }

    /// Returns the files of a commit's segments that exist in the folder.
    fn files_of(&self, meta: &Meta) -> io::Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        for entry in std::fs::read_dir(&self.dir)? {
            let name = entry?.file_name();
            if name.to_str().is_some_and(|name| meta.segments.iter().any(|segment| segment.has(name))) {
                found.push(PathBuf::from(name));
            }
        }
        found.sort();
        Ok(found)
    }

    /// Removes files that belong to no commit: those of a killed compaction, or those that tantivy no longer tracks. No
    /// process may be writing, or be reading between `meta.json` and the files that it names.
    pub fn remove_strangers(&self) -> io::Result<()> {
        let _lock = self.inner.acquire_lock(&META_LOCK).map_err(io::Error::other)?;
        let meta = self.inner.atomic_read(Path::new(META)).map_err(io::Error::other)?;
        let ours = self.files_of(&parse(&meta)?)?;
        let sums = sums_path(&key_of(&meta));
        for entry in std::fs::read_dir(&self.dir)? {
            let name = PathBuf::from(entry?.file_name());
            let is_hidden = name.to_str().is_some_and(|name| name.starts_with('.'));
            if !(is_hidden || name == Path::new(META) || name == sums || ours.contains(&name)) {
                std::fs::remove_file(self.dir.join(name))?;
            }
        }
        Ok(())
    }

    /// Loads the checksums of a commit; false if it has none and needs none.
    fn load(&self, meta: &[u8]) -> io::Result<bool> {
        let key = key_of(meta);
        if self.known.read(|state| state.commit == Some(key)) {
            return Ok(true);
        }
        let path = sums_path(&key);
        match std::fs::read(self.dir.join(&path)) {
            Ok(bytes) => {
                let files = from_bytes(&bytes, &key).ok_or_else(|| damaged("its checksums are damaged"))?;
                self.known.write(|state| {
                    state.commit = Some(key);
                    for (name, sums) in files {
                        state.files.entry(name).or_insert_with(|| unread(sums));
                    }
                });
                Ok(true)
            }
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => {
                let has_any = std::fs::read_dir(&self.dir)?
                    .flatten()
                    .any(|entry| Path::new(&entry.file_name()).extension().is_some_and(|kind| kind == KIND));
                if has_any || claims_sums(meta) {
                    return Err(damaged("it does not match its checksum, or that is missing"));
                }
                self.known.write(|state| state.commit = None);
                Ok(false)
            }
            Err(cause) => Err(cause),
        }
    }

    /// Writes the checksums of a commit before the commit. They are not synced: losing them in a power failure costs a
    /// rebuild of the index.
    fn store(&self, meta: &[u8]) -> io::Result<[u8; 32]> {
        let key = key_of(meta);
        let of = self.files_of(&parse(meta)?)?;
        let files: Vec<(PathBuf, Arc<Checked>)> = self.known.read(|state| {
            of.iter().filter_map(|path| Some((path.clone(), state.files.get(path)?.clone()))).collect()
        });
        let files = files.iter().filter_map(|(path, file)| Some((path, file.sums()?)));
        let bytes = to_bytes(files, &key)?;
        let (path, aside) = (self.dir.join(sums_path(&key)), self.dir.join(format!("{KIND}.new")));
        files::create(&aside)?.write_all(&bytes)?;
        std::fs::rename(&aside, path)?;
        Ok(key)
    }

    /// Removes the checksums of other commits. Files that cannot be removed now are removed after the next commit.
    fn remove_older(&self, key: &[u8; 32]) {
        let Ok(entries) = std::fs::read_dir(&self.dir) else { return };
        for entry in entries.flatten() {
            let name = PathBuf::from(entry.file_name());
            if name.extension().is_some_and(|kind| kind == KIND) && name != sums_path(key) {
                let _ = std::fs::remove_file(self.dir.join(name));
            }
        }
    }
}

impl Known {
    fn read<R>(&self, look: impl FnOnce(&State) -> R) -> R {
        look(&self.state.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn write<R>(&self, change: impl FnOnce(&mut State) -> R) -> R {
        change(&mut self.state.write().unwrap_or_else(PoisonError::into_inner))
    }

    fn note(&self, path: &Path, reason: String) -> io::Error {
        let (_, reason) = self.damage.get_or_init(|| (path.to_path_buf(), reason));
        damaged(reason)
    }
}

fn damaged(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason.to_owned())
}

fn key_of(meta: &[u8]) -> [u8; 32] {
    Sha256::digest(meta).into()
}

fn sums_path(key: &[u8; 32]) -> PathBuf {
    PathBuf::from(format!("{}.{KIND}", hex(&key[..8])))
}

fn parse(meta: &[u8]) -> io::Result<Meta> {
    serde_json::from_slice(meta).map_err(io::Error::other)
}

/// tantivy's footer of each file: JSON with its CRC-32, the length of the JSON, and a number.
#[derive(Deserialize)]
struct Footer {
    crc: u32,
}

/// The number at the end of each of tantivy's files.
const FOOTER: u32 = 1337;

fn has_its_own_checksum(bytes: &[u8]) -> bool {
    let number = |bytes: &[u8; 4]| u32::from_le_bytes(*bytes);
    let Some((rest, last)) = bytes.split_last_chunk::<4>() else { return false };
    let Some((rest, len)) = rest.split_last_chunk::<4>() else { return false };
    let Some(body) = rest.len().checked_sub(number(len) as usize) else { return false };
    let (body, footer) = rest.split_at(body);
    let footer = serde_json::from_slice::<Footer>(footer);
    number(last) == FOOTER && footer.is_ok_and(|footer| footer.crc == crc32fast::hash(body))
}

/// Whether a commit's payload declares checksums. False for one that cannot be parsed, because tantivy refuses it.
fn claims_sums(meta: &[u8]) -> bool {
    let payload = parse(meta).ok().and_then(|meta| meta.payload);
    payload.and_then(|payload| serde_json::from_str::<HasSums>(&payload).ok()).is_some_and(|said| said.sums)
}

/// Serialises checksums as one block with a checksum of its own.
fn to_bytes<'a>(
    files: impl Iterator<Item = (&'a PathBuf, &'a BlockSums)> + Clone,
    key: &[u8; 32],
) -> io::Result<Vec<u8>> {
    let named = files.clone().map(|(path, sums)| (path.to_string_lossy().into_owned(), sums.file_len()));
    let mut bytes = serde_json::to_vec(&Head { files: named.collect() })?;
    bytes.push(b'\n');
    for (_, sums) in files {
        bytes.extend(sums.sums().iter().flat_map(|sum| sum.to_le_bytes()));
    }
    let own = BlockSums::of(&bytes).to_bytes(key);
    let len = (own.len() as u64).to_le_bytes();
    Ok([&len[..], &own, &bytes].concat())
}

fn from_bytes(bytes: &[u8], key: &[u8; 32]) -> Option<Vec<(PathBuf, BlockSums)>> {
    let (len, rest) = bytes.split_first_chunk::<8>()?;
    let (own, body) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*len)).ok()?)?;
    let own = BlockSums::from_bytes(own, key).filter(|own| own.file_len() == body.len())?;
    if !Checked::new(Some(own)).check(body, 0..body.len()) {
        return None;
    }
    let end = body.iter().position(|byte| *byte == b'\n')?;
    let head: Head = serde_json::from_slice(&body[..end]).ok()?;
    let mut sums = body[end + 1..].as_chunks::<4>().0.iter().map(|sum| u32::from_le_bytes(*sum));
    let file = |(name, len): (String, usize)| {
        let of = sums.by_ref().take(len.div_ceil(BLOCK)).collect();
        Some((PathBuf::from(name), BlockSums::from_sums(len, of)?))
    };
    head.files.into_iter().map(file).collect()
}

/// A file whose blocks are verified when they are first read.
#[derive(Debug)]
struct CheckedFile {
    path: PathBuf,
    inner: Arc<dyn FileHandle>,
    checked: Arc<Checked>,
    known: Arc<Known>,
}

impl HasLen for CheckedFile {
    fn len(&self) -> usize {
        self.inner.len()
    }
}

impl FileHandle for CheckedFile {
    fn read_bytes(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        let read = |blocks: Range<usize>, sum: &mut dyn FnMut(&[u8])| {
            let end = (blocks.end * BLOCK).min(self.inner.len());
            self.inner.read_bytes(blocks.start * BLOCK..end)?.chunks(BLOCK).for_each(sum);
            Ok(())
        };
        if self.checked.check_by(range.clone(), read)? {
            return self.inner.read_bytes(range);
        }
        let at = self.checked.damaged().unwrap_or(range.start);
        Err(self.known.note(&self.path, format!("its bytes from {at} on do not match their checksum")))
    }
}

/// A file being written, with its checksums. Only the owner may read it, unlike tantivy's own files, which follow the umask.
struct SummedFile {
    file: File,
    summing: Summing,
    path: PathBuf,
    known: Arc<Known>,
}

impl Write for SummedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.summing.update(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl TerminatingWrite for SummedFile {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        self.file.sync_data()?;
        let sums = std::mem::take(&mut self.summing).finish();
        self.known.write(|state| state.files.insert(self.path.clone(), unread(sums)));
        Ok(())
    }
}

/// Replaces the lock that a read-only folder cannot have.
struct NoLock;

impl Directory for Files {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        let inner = self.inner.get_file_handle(path)?;
        let known = self.known.read(|state| state.files.get(path).cloned());
        let Some(checked) = known else { return Ok(inner) };
        let (len, want) = (inner.len(), checked.sums().map_or(0, BlockSums::file_len));
        if len != want {
            let cause = self.known.note(path, format!("{len} bytes instead of {want}"));
            return Err(OpenReadError::wrap_io_error(cause, path.to_path_buf()));
        }
        let known = Arc::clone(&self.known);
        Ok(Arc::new(CheckedFile { path: path.to_path_buf(), inner, checked, known }))
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.inner.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.inner.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        let file = files::create_new(&self.dir.join(path)).map_err(|cause| match cause.kind() {
            io::ErrorKind::AlreadyExists => OpenWriteError::FileAlreadyExists(path.to_path_buf()),
            _ => OpenWriteError::wrap_io_error(cause, path.to_path_buf()),
        })?;
        let (summing, known) = (Summing::default(), Arc::clone(&self.known));
        Ok(BufWriter::new(Box::new(SummedFile { file, summing, path: path.to_path_buf(), known })))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        let mut data = self.inner.atomic_read(path)?;
        if path != Path::new(META) {
            return Ok(data);
        }
        for _ in 0..COMMITTED_MEANWHILE {
            let loaded = self.load(&data);
            if loaded.is_ok() {
                return Ok(data);
            }
            let again = self.inner.atomic_read(path)?;
            if again == data {
                let cause = loaded.err().unwrap_or_else(|| damaged("it cannot be read"));
                let cause = self.known.note(path, cause.to_string());
                return Err(OpenReadError::wrap_io_error(cause, path.to_path_buf()));
            }
            data = again;
        }
        let cause = io::Error::other("it changes faster than it can be read");
        Err(OpenReadError::wrap_io_error(cause, path.to_path_buf()))
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        if path != Path::new(META) {
            return self.inner.atomic_write(path, data);
        }
        let key = self.store(data)?;
        self.inner.atomic_write(path, data)?;
        self.remove_older(&key);
        self.known.write(|state| state.commit = Some(key));
        Ok(())
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.inner.sync_directory()
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.inner.watch(callback)
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        // Created by tantivy, its mode would follow the umask. If it cannot be created, tantivy reports why.
        let _ = files::open_or_create(&self.dir.join(&lock.filepath));
        match self.inner.acquire_lock(lock) {
            Err(LockError::IoError(cause)) if lock.filepath == META_LOCK.filepath && is_read_only(&cause) => {
                Ok(DirectoryLock::from(Box::new(NoLock)))
            }
            taken => taken,
        }
    }
}

fn is_read_only(cause: &io::Error) -> bool {
    matches!(cause.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}
