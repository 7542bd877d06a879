//! The store's head: its last change and that change's fingerprint, kept in a file beside the database.
//!
//! `SQLite` reads a log only as far as its checksums hold, and does not report the rest. The head shows that something is
//! missing: if it is ahead of the database, it names an acknowledged change that is not there. A head that is behind
//! proves nothing: its writer may have been killed between the commit and the write of the head.

use std::cmp::Reverse;
use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::item::Change;

/// Suffix of the head's file, after the name of the store's file.
const SUFFIX: &str = "-head";
const MAGIC: &[u8; 8] = b"BOWRHD01";
/// A record, its checksum included, in bytes.
const RECORD: usize = 64;
/// Distance between the two records, in bytes: a write that is torn at a disk sector leaves the other record whole.
const APART: usize = 512;
/// Length of the whole file, in bytes.
const LENGTH: usize = APART + RECORD;
/// Number of digits of a store's identity.
const IDENTITY: usize = 16;

/// Number of tries for the lock of the head, and the pause between them. Its holder needs microseconds; a head that is
/// not written is behind, which is allowed.
const TRIES: u32 = 20;
const PAUSE: Duration = Duration::from_micros(50);

/// A state of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Head {
    /// The store's identity.
    pub identity: String,
    /// Random number of this copy of the store; a backup draws another.
    pub copy: i64,
    /// The last change.
    pub change: Change,
    /// The fingerprint of the last change; 0 if it left no event.
    pub mark: u64,
}

impl Head {
    /// Whether both heads belong to the same copy of the same store.
    pub fn is_of(&self, other: &Self) -> bool {
        (&self.identity, self.copy) == (&other.identity, other.copy)
    }

    fn record(&self, sequence: u64) -> Option<[u8; RECORD]> {
        let identity: [u8; IDENTITY] = self.identity.as_bytes().try_into().ok()?;
        let mut record = [0; RECORD];
        record[..8].copy_from_slice(MAGIC);
        record[8..24].copy_from_slice(&identity);
        record[24..32].copy_from_slice(&self.copy.to_le_bytes());
        record[32..40].copy_from_slice(&self.change.0.to_le_bytes());
        record[40..48].copy_from_slice(&self.mark.to_le_bytes());
        record[48..56].copy_from_slice(&sequence.to_le_bytes());
        let checksum = crc32fast::hash(&record[..56]);
        record[56..60].copy_from_slice(&checksum.to_le_bytes());
        Some(record)
    }

    /// Parses a record and its sequence number; `None` if it is damaged or was never written.
    fn of_record(record: &[u8]) -> Option<(u64, Self)> {
        let number = |at: usize| record[at..at + 8].try_into().map(u64::from_le_bytes).ok();
        let sound = &record[..8] == MAGIC && record[56..60] == crc32fast::hash(&record[..56]).to_le_bytes();
        let identity = str::from_utf8(&record[8..24]).ok().filter(|_| sound)?.to_owned();
        let head = Self {
            identity,
            copy: number(24)?.cast_signed(),
            change: Change(number(32)?),
            mark: number(40)?,
        };
        Some((number(48)?, head))
    }
}

/// The whole records of a head file, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Heads([Option<Head>; 2]);

impl Heads {
    /// Returns the record that was written last.
    pub fn newest(&self) -> Option<&Head> {
        self.0[0].as_ref()
    }

    /// Returns the newest record of the same copy of the same store. It is not always the last one written. A restore
    /// writes the record of the copy; if the disk loses the restored store, the record before it counts.
    pub fn of(&self, store: &Head) -> Option<&Head> {
        self.0.iter().flatten().find(|head| head.is_of(store))
    }
}

/// The file of the head.
#[derive(Debug)]
pub(super) struct HeadFile {
    path: PathBuf,
    file: Option<File>,
}

/// The exclusive right to settle losses. It ends when dropped, or with its process.
pub(super) struct HeadLock(File);

impl Drop for HeadLock {
    fn drop(&mut self) {
        // Closing the file ends it too.
        let _ = self.0.unlock();
    }
}

impl HeadFile {
    /// Returns the head file of the store at `store`.
    pub fn of(store: &Path) -> Self {
        let mut path = store.as_os_str().to_owned();
        path.push(SUFFIX);
        Self { path: PathBuf::from(path), file: None }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the whole records; empty if there is no file.
    pub fn read(&mut self) -> io::Result<Heads> {
        let read = match &mut self.file {
            Some(file) => records(file),
            None => File::open(&self.path).and_then(|mut file| records(&mut file)),
        };
        match read {
            Ok(records) => Ok(Heads(records.map(|record| record.map(|(_, _, head)| head)))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Heads::default()),
            Err(error) => Err(error),
        }
    }

    /// Writes a head, unless the file has one of a later change of the same copy. Overwrites in place, and waits for the
    /// disk only if `synced`.
    pub fn write(&mut self, head: &Head, synced: bool) -> io::Result<()> {
        let file = self.opened()?;
        if !try_lock(file)? {
            return Ok(());
        }
        let written = put(file, head, synced);
        file.unlock()?;
        written
    }

    /// Writes a head while the caller holds the lock.
    pub fn write_locked(&mut self, head: &Head, synced: bool) -> io::Result<()> {
        put(self.opened()?, head, synced)
    }

    /// Waits for the exclusive right to settle losses.
    pub fn lock(&mut self) -> io::Result<HeadLock> {
        self.opened()?;
        // The lock belongs to this separate file handle.
        let file = crate::files::open_or_create(&self.path)?;
        file.lock()?;
        Ok(HeadLock(file))
    }

    /// Removes the file: an independent copy has none.
    pub fn remove(&mut self) -> io::Result<()> {
        self.file = None;
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    fn opened(&mut self) -> io::Result<&mut File> {
        if self.file.is_none() {
            self.file = Some(crate::files::open_or_create(&self.path)?);
        }
        Ok(self.file.as_mut().expect("it was just opened"))
    }
}

fn try_lock(file: &File) -> io::Result<bool> {
    for _ in 0..TRIES {
        match file.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Ok(false)
}

/// Reads the whole records, newest first: the position of each, its sequence number, and its head.
fn records(file: &mut File) -> io::Result<[Option<(usize, u64, Head)>; 2]> {
    let mut bytes = [0; LENGTH];
    file.seek(SeekFrom::Start(0))?;
    let mut read = 0;
    while read < LENGTH {
        match file.read(&mut bytes[read..]) {
            Ok(0) => break,
            Ok(more) => read += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let record = |at: usize| {
        let (sequence, head) = Head::of_record(&bytes[at * APART..at * APART + RECORD])?;
        Some((at, sequence, head))
    };
    let mut records = [0, 1].map(record);
    records.sort_by_key(|record| Reverse(record.as_ref().map(|(_, sequence, _)| *sequence)));
    Ok(records)
}

fn put(file: &mut File, head: &Head, synced: bool) -> io::Result<()> {
    let [there, _] = records(file)?;
    if there.as_ref().is_some_and(|(_, _, there)| there.is_of(head) && there.change >= head.change) {
        return Ok(());
    }
    let (at, sequence) = there.map_or((0, 1), |(at, sequence, _)| (1 - at, sequence + 1));
    let Some(record) = head.record(sequence) else {
        return Err(io::Error::other("a store's identity has 16 digits"));
    };
    file.seek(SeekFrom::Start((at * APART) as u64))?;
    file.write_all(&record)?;
    if synced { file.sync_data() } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(change: u64) -> Head {
        Head { identity: "0123456789abcdef".into(), copy: -7, change: Change(change), mark: change * 3 }
    }

    #[test]
    fn the_newest_whole_record_counts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        let mut file = HeadFile::of(&path);
        assert_eq!(file.read().unwrap(), Heads::default());
        file.write(&head(4), false).unwrap();
        file.write(&head(6), true).unwrap();
        // A slower writer comes later: its older change is not written.
        file.write(&head(5), false).unwrap();
        assert_eq!(HeadFile::of(&path).read().unwrap().newest(), Some(&head(6)));
        // Another copy of the store starts again, even with an older change.
        let other = Head { copy: 8, ..head(2) };
        file.write(&other, false).unwrap();
        let heads = file.read().unwrap();
        assert_eq!(heads.newest(), Some(&other));
        // The disk may lose the copy: the record of the store before it still counts.
        assert_eq!((heads.of(&head(1)), heads.of(&other)), (Some(&head(6)), Some(&other)));
        assert_eq!(heads.of(&Head { copy: 9, ..head(1) }), None);
        assert_eq!(std::fs::metadata(file.path()).unwrap().len(), LENGTH as u64);
    }

    /// Damages one byte at a time: the other record is still read.
    #[test]
    fn a_damaged_record_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = HeadFile::of(&folder.path().join("memory.db"));
        for change in 1..=2 {
            file.write(&head(change), false).unwrap();
        }
        let whole = std::fs::read(file.path()).unwrap();
        for at in 0..LENGTH {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x10;
            std::fs::write(file.path(), &bytes).unwrap();
            let change =
                HeadFile::of(&folder.path().join("memory.db")).read().unwrap().newest().unwrap().change;
            let is_newest = (APART..APART + 60).contains(&at);
            assert_eq!(change, Change(if is_newest { 1 } else { 2 }), "byte {at}");
        }
        for length in [0, 10, RECORD - 5] {
            std::fs::write(file.path(), &whole[..length]).unwrap();
            assert_eq!(
                HeadFile::of(&folder.path().join("memory.db")).read().unwrap(),
                Heads::default(),
                "{length}"
            );
        }
    }

    #[test]
    fn whoever_finds_the_head_locked_leaves_it() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = HeadFile::of(&folder.path().join("memory.db"));
        file.write(&head(1), false).unwrap();
        let held = file.lock().unwrap();
        HeadFile::of(&folder.path().join("memory.db")).write(&head(2), false).unwrap();
        assert_eq!(file.read().unwrap().newest(), Some(&head(1)));
        file.write_locked(&head(3), false).unwrap();
        drop(held);
        file.write(&head(4), false).unwrap();
        assert_eq!(file.read().unwrap().newest(), Some(&head(4)));
    }
}
