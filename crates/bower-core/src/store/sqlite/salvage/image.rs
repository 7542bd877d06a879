//! An image of a database with its write-ahead log applied: the file's pages with the log's over them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::log::{FrameTrust, Log, LogFrame};

/// First bytes of a database file.
const MAGIC: &[u8] = b"SQLite format 3\0";
/// Position in the header of the file format's write and read versions: 1 is without a log, 2 with one.
const FORMAT: std::ops::Range<usize> = 18..20;
/// Position in the header of the database's length in pages.
const PAGES: std::ops::Range<usize> = 28..32;
/// Page size if neither file nor log has a valid one: that of this program's stores.
const USUAL_PAGE: usize = 4_096;

/// Treatment of frames beyond the damage of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// They are used: something is missing.
    Take,
    /// They are left out: nothing is missing, and they were given up before.
    Leave,
}

/// The pages of a database.
#[derive(Debug)]
pub struct Image {
    file: Option<File>,
    /// The size of a page, in bytes.
    pub page_size: usize,
    /// Number of pages.
    pub pages: u32,
    over: BTreeMap<u32, LogFrame>,
    /// Whether the log holds more than `SQLite` would read.
    pub holds_more: bool,
    /// Number of ways in which one frame of the log may be repaired, if there is one frame whose damage several words
    /// explain.
    pub alternatives: usize,
}

/// Whether there is a log without its database: `SQLite` would remove the log.
fn is_all_there_is(length: u64, log: &Log) -> bool {
    length == 0 && !log.frames.is_empty()
}

impl Image {
    /// Reads a database's file with the bytes of its log, as far as they exist.
    pub fn open(database: &Path, log: &[u8], beyond: Beyond) -> io::Result<Self> {
        Self::choosing(database, log, beyond, None)
    }

    /// Reads an image with one of the [`Image::alternatives`].
    pub fn choosing(database: &Path, log: &[u8], beyond: Beyond, choice: Option<usize>) -> io::Result<Self> {
        let mut file = match File::open(database) {
            Ok(file) => Some(file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let mut head = Vec::new();
        let mut length = 0;
        if let Some(file) = &mut file {
            length = file.metadata()?.len();
            file.take(100).read_to_end(&mut head)?;
        }
        let page_size = page_size(&head);
        let mut log = Log::of(log, page_size);
        if beyond == Beyond::Leave {
            log.frames.truncate(log.read);
        }
        let page_size = if log.frames.is_empty() { page_size.unwrap_or(USUAL_PAGE) } else { log.page_size };
        let mut pages = u32::try_from(length / page_size as u64).unwrap_or(u32::MAX);
        let holds_more = log.holds_more() || is_all_there_is(length, &log);
        let mut open = log.frames.iter_mut().filter(|frame| frame.trust == FrameTrust::Open);
        let mut alternatives = 0;
        if let (Some(frame), None) = (open.next(), open.next()) {
            alternatives = frame.alternatives.len();
            if let Some(choice) = choice {
                *frame = frame.alternatives.swap_remove(choice);
            }
        }
        let mut over = BTreeMap::new();
        for frame in log.frames {
            if frame.commit > 0 && matches!(frame.trust, FrameTrust::Whole | FrameTrust::Mended) {
                pages = frame.commit;
            }
            over.insert(frame.page, frame);
        }
        if let Some(&last) = over.keys().next_back().filter(|last| **last > pages && **last < 1 << 30) {
            pages = last;
        }
        Ok(Self { file, page_size, pages, over, holds_more, alternatives })
    }

    /// Returns a page by its number, from 1; `None` if the file ends before it. A truncated page is padded with zeros.
    pub fn page(&mut self, number: u32) -> io::Result<Option<Vec<u8>>> {
        if let Some(frame) = self.over.get(&number) {
            return Ok(Some(frame.bytes.clone()));
        }
        let Some(file) = &mut self.file else { return Ok(None) };
        file.seek(SeekFrom::Start((u64::from(number) - 1) * self.page_size as u64))?;
        let mut page = Vec::with_capacity(self.page_size);
        file.take(self.page_size as u64).read_to_end(&mut page)?;
        if page.is_empty() {
            return Ok(None);
        }
        page.resize(self.page_size, 0);
        Ok(Some(page))
    }

    /// Whether every page from the log is as it was written.
    pub fn is_exact(&self) -> bool {
        self.over.values().all(|frame| matches!(frame.trust, FrameTrust::Whole | FrameTrust::Mended))
    }

    /// Writes it as a database that needs no log.
    pub fn write(&mut self, to: &Path) -> io::Result<()> {
        let mut out = io::BufWriter::with_capacity(1 << 20, crate::files::create_new(to)?);
        for number in 1..=self.pages {
            let mut page = self.page(number)?.unwrap_or_else(|| vec![0; self.page_size]);
            if number == 1 && page.starts_with(MAGIC) {
                page[FORMAT].copy_from_slice(&[1, 1]);
                page[PAGES].copy_from_slice(&self.pages.to_be_bytes());
            }
            out.write_all(&page)?;
        }
        out.into_inner()?.sync_all()
    }
}

/// Returns the page size from the file's header.
fn page_size(head: &[u8]) -> Option<usize> {
    let two: [u8; 2] = head.get(16..18).filter(|_| head.starts_with(MAGIC))?.try_into().ok()?;
    match u16::from_be_bytes(two) {
        1 => Some(65_536),
        size if size >= 512 && size.is_power_of_two() => Some(usize::from(size)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::Connection;

    /// Pages that `SQLite` drops after a damaged frame are in the image, and `SQLite` finds it sound.
    #[test]
    fn an_image_holds_what_the_log_says_behind_its_damage() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let file = Connection::open(&path).unwrap();
        file.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (n INTEGER PRIMARY KEY, text TEXT)")
            .unwrap();
        for n in 0..200 {
            file.execute("INSERT INTO t VALUES (?1, ?2)", (n, format!("sentence {n} ").repeat(9))).unwrap();
        }
        let log = std::fs::read(folder.path().join("x.db-wal")).unwrap();
        let copy = folder.path().join("copy.db");
        std::fs::copy(&path, &copy).unwrap();
        let check = |log: &[u8], exact: bool| {
            let to = folder.path().join("image.db");
            let mut image = Image::open(&copy, log, Beyond::Take).unwrap();
            assert_eq!(image.is_exact(), exact);
            image.write(&to).unwrap();
            let read = Connection::open(&to).unwrap();
            let count: i64 = read.query_row("SELECT count(*) FROM t", [], |row| row.get(0)).unwrap();
            let found: String = read.pragma_query_value(None, "integrity_check", |row| row.get(0)).unwrap();
            assert_eq!((count, found.as_str()), (200, "ok"));
            std::fs::remove_file(&to).unwrap();
        };
        check(&log, true);
        let mut damaged = log.clone();
        damaged[5_000] ^= 0xFF;
        check(&damaged, true);
        // A later frame holds the page again.
        damaged[32 + 24 + 100..32 + 24 + 400].fill(0);
        check(&damaged, true);
    }
}
