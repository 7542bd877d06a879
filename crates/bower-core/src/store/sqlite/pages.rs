//! Reads the free space of the pages of a store's file, as bytes.
//! A page that was split or refilled may keep former content in its free space, even where deleted cells are zeroed. Only
//! reading the pages finds it.
//!
//! Nothing here writes. For a file that is written meanwhile, the result shows some moment of it.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

/// Length of the file's header: it holds the page size, and the first page and length of the list of free pages.
const HEADER: usize = 100;

/// Number of bytes read at once.
const BUFFER: usize = 1 << 20;

/// Feeds the free space of each page, unless it is all zeros. Free space is the gap between a page's cell pointers and
/// its cells, the holes between cells, and pages on the free list.
///
/// The unused end of the last page of a long text is skipped: those pages were zeroed when they became free.
pub(super) fn free_space(path: &Path, each: &mut dyn FnMut(&[u8])) -> io::Result<()> {
    let mut file = File::open(path)?;
    let mut header = [0; HEADER];
    if let Err(error) = file.read_exact(&mut header) {
        // Nothing was ever written.
        return if error.kind() == io::ErrorKind::UnexpectedEof { Ok(()) } else { Err(error) };
    }
    let size = match u16::from_be_bytes([header[16], header[17]]) {
        1 => 65_536,
        size => usize::from(size),
    };
    if size < 512 {
        return Ok(());
    }
    let free = free_pages(&mut file, size, u32_at(&header, 32))?;
    file.seek(SeekFrom::Start(0))?;
    let mut reader = BufReader::with_capacity(BUFFER, file);
    let mut page = vec![0; size];
    for number in 1.. {
        match reader.read_exact(&mut page) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => break,
            Err(error) => return Err(error),
        }
        if free.contains(&number) {
            feed(&page, each);
        } else {
            let start = if number == 1 { HEADER } else { 0 };
            holes(&page, start, &mut |hole| feed(hole, each));
        }
    }
    Ok(())
}

fn feed(bytes: &[u8], each: &mut dyn FnMut(&[u8])) {
    if bytes.iter().any(|byte| *byte != 0) {
        each(bytes);
    }
}

fn u16_at(page: &[u8], at: usize) -> usize {
    page.get(at..at + 2).map_or(0, |bytes| usize::from(u16::from_be_bytes([bytes[0], bytes[1]])))
}

fn u32_at(page: &[u8], at: usize) -> u32 {
    page.get(at..at + 4).map_or(0, |bytes| u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
}

/// Returns the pages of the free list: trunks, each with its next trunk and its leaves.
fn free_pages(file: &mut File, size: usize, first: u32) -> io::Result<HashSet<u32>> {
    let mut free = HashSet::new();
    let mut page = vec![0; size];
    let mut trunk = first;
    // A damaged list may be a circle.
    while trunk != 0 && free.insert(trunk) {
        file.seek(SeekFrom::Start((u64::from(trunk) - 1) * size as u64))?;
        if let Err(error) = file.read_exact(&mut page) {
            return if error.kind() == io::ErrorKind::UnexpectedEof { Ok(free) } else { Err(error) };
        }
        let leaves = (u32_at(&page, 4) as usize).min(size / 4 - 2);
        free.extend((0..leaves).map(|at| u32_at(&page, 8 + 4 * at)));
        trunk = u32_at(&page, 0);
    }
    Ok(free)
}

/// Feeds the free space of a tree page; nothing for other kinds of pages. A page with an invalid header counts as all
/// free, so that nothing in it is missed.
fn holes(page: &[u8], start: usize, each: &mut dyn FnMut(&[u8])) {
    let pointers = match page[start] {
        2 | 5 => start + 12,
        10 | 13 => start + 8,
        _ => return,
    };
    let cells = u16_at(page, start + 3);
    let content = match u16_at(page, start + 5) {
        0 => 65_536,
        content => content,
    };
    match page.get(pointers + 2 * cells..content) {
        Some(gap) => each(gap),
        None => return each(page),
    }
    let mut hole = u16_at(page, start + 1);
    while hole != 0 {
        let (next, length) = (u16_at(page, hole), u16_at(page, hole + 2));
        match page.get(hole + 4..hole + length) {
            Some(bytes) => each(bytes),
            None => return each(page),
        }
        // Holes are in ascending order.
        if next <= hole {
            break;
        }
        hole = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::Connection;

    fn freed(path: &Path, word: &[u8]) -> bool {
        let mut found = false;
        free_space(path, &mut |bytes| found |= bytes.windows(word.len()).any(|part| part == word)).unwrap();
        found
    }

    #[test]
    fn what_was_deleted_is_free_and_what_is_kept_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let file = Connection::open(&path).unwrap();
        file.execute_batch("PRAGMA secure_delete = OFF; CREATE TABLE t (n INTEGER PRIMARY KEY, text TEXT)")
            .unwrap();
        for n in 0..400 {
            let text = format!("word{n:03}! {}", "filler ".repeat(n % 60));
            file.execute("INSERT INTO t VALUES (?1, ?2)", (n, text)).unwrap();
        }
        let long = format!("longest! {}", "sentence ".repeat(2_000));
        file.execute("INSERT INTO t VALUES (1000, ?1)", [&long]).unwrap();
        // Kept rows may have left a copy where their page was split; the long text had pages of its own.
        assert!(!freed(&path, b"sentence"));
        file.execute("DELETE FROM t WHERE n IN (7, 1000) OR n BETWEEN 100 AND 300", []).unwrap();
        // In a hole between cells, in pages on the free list, and in those of the long text.
        assert!(freed(&path, b"word007!") && freed(&path, b"word200!") && freed(&path, b"sentence"));
        file.execute_batch("VACUUM").unwrap();
        assert!(!freed(&path, b"word007!") && !freed(&path, b"word200!") && !freed(&path, b"sentence"));
    }

    #[test]
    fn any_bytes_are_looked_at_and_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let mut seed: u64 = 7;
        for length in [0, 99, 100, 511, 4_096, 20_000] {
            let mut bytes: Vec<u8> = (0..length)
                .map(|_| {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    (seed >> 56) as u8
                })
                .collect();
            if length > 100 {
                bytes[16..18].copy_from_slice(&512_u16.to_be_bytes());
                for page in bytes.chunks_mut(512).skip(1) {
                    page[0] = 13;
                }
                bytes[100] = 5;
            }
            std::fs::write(&path, &bytes).unwrap();
            free_space(&path, &mut |_| {}).unwrap();
        }
    }
}
