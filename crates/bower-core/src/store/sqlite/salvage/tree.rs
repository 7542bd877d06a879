//! Reads the rows of a database from its pages alone, past any damage.
//! Every valid part of a page is used; the rest is skipped and reported. No length, pointer or type that it reads is
//! trusted.
//!
//! The format is that of <https://www.sqlite.org/fileformat.html>, sections 1.6 and 2.

use rusqlite::types::Value;
use std::collections::BTreeSet;
use std::io;

use super::image::Image;

/// Kinds of pages that hold rows.
const TABLE_LEAF: u8 = 13;
const TABLE_INTERIOR: u8 = 5;
const INDEX_LEAF: u8 = 10;
const INDEX_INTERIOR: u8 = 2;

/// Longest record that is read, in bytes. No text, vector or event of a store is nearly as long, and a damaged length may
/// be anything.
const LONGEST: u64 = 256 << 20;

/// A row as read.
#[derive(Clone, Debug, PartialEq)]
pub struct Raw {
    /// The row number, for tables that have one.
    pub row: i64,
    /// The values, in the order of the columns.
    pub values: Vec<Value>,
    /// Whether its end could not be read, or a text is not valid UTF-8: the last value may be incomplete.
    pub is_cut: bool,
}

/// A table, with its root page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    pub name: String,
    pub root: u32,
}

/// Reads rows, and marks the pages that it has read.
pub struct TableReader<'a> {
    image: &'a mut Image,
    /// Number of usable bytes of a page.
    usable: usize,
    seen: BTreeSet<u32>,
    /// Pages that should have held rows and could not be read.
    pub unread: BTreeSet<u32>,
    /// Rows that could not be read, by page.
    pub unread_rows: Vec<u32>,
}

impl<'a> TableReader<'a> {
    pub fn new(image: &'a mut Image) -> io::Result<Self> {
        let reserved = image.page(1)?.map_or(0, |page| usize::from(page[20]));
        // No store reserves bytes, but a damaged header may claim so.
        let usable =
            if reserved == 0 || reserved > 32 { image.page_size } else { image.page_size - reserved };
        let mut reader =
            Self { image, usable, seen: BTreeSet::new(), unread: BTreeSet::new(), unread_rows: Vec::new() };
        reader.pass_over_free()?;
        Ok(reader)
    }

    /// Marks the pages of the free list as read: their rows were deleted.
    fn pass_over_free(&mut self) -> io::Result<()> {
        let Some(first) = self.image.page(1)? else { return Ok(()) };
        let mut trunk = u32_at(&first, 32).unwrap_or(0);
        while trunk > 1 && trunk <= self.image.pages && self.seen.insert(trunk) {
            let Some(page) = self.image.page(trunk)? else { break };
            let leaves = u32_at(&page, 4).unwrap_or(0) as usize;
            if leaves > self.image.page_size / 4 {
                break;
            }
            let leaves = (0..leaves).filter_map(|at| u32_at(&page, 8 + 4 * at));
            self.seen.extend(leaves.filter(|leaf| *leaf > 1));
            trunk = u32_at(&page, 0).unwrap_or(0);
        }
        Ok(())
    }

    /// Returns the tables that the schema names; none if it cannot be read.
    pub fn tables(&mut self) -> io::Result<Vec<Table>> {
        let mut tables = Vec::new();
        self.rows(1, &mut |raw| {
            let [Value::Text(sort), Value::Text(name), _, Value::Integer(root), ..] = &raw.values[..] else {
                return;
            };
            if sort == "table"
                && let Ok(root) = u32::try_from(*root)
            {
                tables.push(Table { name: name.clone(), root });
            }
        })?;
        Ok(tables)
    }

    /// Feeds the rows of the tree with this root page, as far as its pages can be read.
    pub fn rows(&mut self, root: u32, each: &mut dyn FnMut(Raw)) -> io::Result<()> {
        let mut ahead = vec![root];
        while let Some(number) = ahead.pop() {
            if number == 0 || number > self.image.pages || !self.seen.insert(number) {
                // The pointer leads to no page, or to one that another tree has.
                continue;
            }
            let Some(page) = self.image.page(number)? else {
                self.unread.insert(number);
                continue;
            };
            let start = if number == 1 { 100 } else { 0 };
            let Some(cells) = Cells::of(&page, start) else {
                self.unread.insert(number);
                continue;
            };
            let mut children = cells.children(&page);
            children.reverse();
            ahead.extend(children);
            self.cells(number, &page, &cells, each)?;
        }
        Ok(())
    }

    /// Feeds the rows on table pages that no tree led to, because a page above them is damaged.
    pub fn orphans(&mut self, each: &mut dyn FnMut(Raw)) -> io::Result<()> {
        for number in 2..=self.image.pages {
            if self.seen.contains(&number) {
                continue;
            }
            let Some(page) = self.image.page(number)? else { continue };
            if page[0] == TABLE_LEAF
                && let Some(cells) = Cells::of(&page, 0)
            {
                self.seen.insert(number);
                self.cells(number, &page, &cells, each)?;
            }
        }
        Ok(())
    }

    fn cells(
        &mut self,
        number: u32,
        page: &[u8],
        cells: &Cells,
        each: &mut dyn FnMut(Raw),
    ) -> io::Result<()> {
        for &at in &cells.at {
            match self.cell(page, cells.sort, at)? {
                Some(raw) => each(raw),
                None if cells.sort == TABLE_INTERIOR => {}
                None => self.unread_rows.push(number),
            }
        }
        Ok(())
    }

    fn cell(&mut self, page: &[u8], sort: u8, mut at: usize) -> io::Result<Option<Raw>> {
        if sort == TABLE_INTERIOR {
            return Ok(None);
        }
        if sort == INDEX_INTERIOR {
            at += 4;
        }
        let Some((length, after)) = varint(page, at) else { return Ok(None) };
        at = after;
        let mut row = 0;
        if sort == TABLE_LEAF {
            let Some((number, after)) = varint(page, at) else { return Ok(None) };
            (row, at) = (number.cast_signed(), after);
        }
        if length > LONGEST {
            return Ok(None);
        }
        let (payload, is_whole) = self.payload(page, sort, at, length as usize)?;
        Ok(record(&payload, is_whole).map(|(values, is_cut)| Raw { row, values, is_cut }))
    }

    /// Returns a record's bytes, and whether they are complete.
    fn payload(&mut self, page: &[u8], sort: u8, at: usize, length: usize) -> io::Result<(Vec<u8>, bool)> {
        let usable = self.usable;
        let most = if sort == TABLE_LEAF { usable - 35 } else { (usable - 12) * 64 / 255 - 23 };
        let least = (usable - 12) * 32 / 255 - 23;
        let local = if length <= most {
            length
        } else {
            let spread = least + (length - least) % (usable - 4);
            if spread <= most { spread } else { least }
        };
        let Some(part) = page.get(at..at + local) else {
            return Ok((page.get(at..).unwrap_or_default().to_vec(), false));
        };
        let mut payload = part.to_vec();
        let mut next = if length > local { u32_at(page, at + local).unwrap_or(0) } else { 0 };
        while payload.len() < length && next > 0 && next <= self.image.pages && self.seen.insert(next) {
            let Some(page) = self.image.page(next)? else { break };
            let part = &page[4..usable];
            payload.extend_from_slice(&part[..part.len().min(length - payload.len())]);
            next = u32_at(&page, 0).unwrap_or(0);
        }
        let is_whole = payload.len() == length;
        Ok((payload, is_whole))
    }
}

/// Positions of the cells of a page.
struct Cells {
    sort: u8,
    at: Vec<usize>,
    last_child: Option<u32>,
}

impl Cells {
    fn of(page: &[u8], start: usize) -> Option<Self> {
        let sort = *page.get(start)?;
        let pointers = match sort {
            TABLE_LEAF | INDEX_LEAF => start + 8,
            TABLE_INTERIOR | INDEX_INTERIOR => start + 12,
            _ => return None,
        };
        let count = usize::from(u16_at(page, start + 3)?);
        // Each cell has at least four bytes, and its pointer two.
        if count * 6 > page.len() {
            return None;
        }
        let all = (0..count).map(|nth| u16_at(page, pointers + 2 * nth).map(usize::from));
        let at = all.flatten().filter(|at| (pointers + 2 * count..page.len()).contains(at)).collect();
        let last_child = if pointers == start + 12 { u32_at(page, start + 8) } else { None };
        Some(Self { sort, at, last_child })
    }

    fn children(&self, page: &[u8]) -> Vec<u32> {
        let Some(last) = self.last_child else { return Vec::new() };
        self.at.iter().filter_map(|at| u32_at(page, *at)).chain(std::iter::once(last)).collect()
    }
}

fn u16_at(page: &[u8], at: usize) -> Option<u16> {
    page.get(at..at + 2)?.try_into().map(u16::from_be_bytes).ok()
}

fn u32_at(page: &[u8], at: usize) -> Option<u32> {
    page.get(at..at + 4)?.try_into().map(u32::from_be_bytes).ok()
}

/// Reads a number of one to nine bytes; returns it and its end.
fn varint(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    let mut number = 0;
    for nth in 0..8 {
        let byte = *bytes.get(at + nth)?;
        number = number << 7 | u64::from(byte & 0x7F);
        if byte < 0x80 {
            return Some((number, at + nth + 1));
        }
    }
    Some((number << 8 | u64::from(*bytes.get(at + 8)?), at + 9))
}

/// Returns the values of a record, and whether any of them is not as it was written; `None` if its header is invalid.
fn record(payload: &[u8], is_whole: bool) -> Option<(Vec<Value>, bool)> {
    let (head, mut at) = varint(payload, 0)?;
    let head = usize::try_from(head).ok().filter(|head| *head <= payload.len())?;
    let (mut values, mut body, mut is_cut) = (Vec::new(), head, !is_whole);
    while at < head {
        let (sort, after) = varint(payload, at)?;
        at = after;
        let length = match sort {
            0 | 8 | 9 => 0,
            1..=4 => sort as usize,
            5 => 6,
            6 | 7 => 8,
            10 | 11 => return None,
            _ => usize::try_from((sort - 12) / 2).ok()?,
        };
        let end = body.checked_add(length)?;
        if end > payload.len() {
            // The record is complete, so its header is damaged.
            if is_whole {
                return None;
            }
            is_cut = true;
        }
        let bytes = &payload[body.min(payload.len())..end.min(payload.len())];
        values.push(match sort {
            0 => Value::Null,
            8 => Value::Integer(0),
            9 => Value::Integer(1),
            7 => bytes.try_into().map_or(Value::Null, |bytes| Value::Real(f64::from_be_bytes(bytes))),
            1..=6 => integer(bytes),
            _ if sort % 2 == 0 => Value::Blob(bytes.to_vec()),
            _ => {
                let text = String::from_utf8_lossy(bytes);
                is_cut |= matches!(text, std::borrow::Cow::Owned(_));
                Value::Text(text.into_owned())
            }
        });
        body = end;
    }
    Some((values, is_cut))
}

fn integer(bytes: &[u8]) -> Value {
    let Some(first) = bytes.first() else { return Value::Null };
    let sign = if *first < 0x80 { 0 } else { -1 };
    Value::Integer(bytes.iter().fold(sign, |number: i64, byte| number << 8 | i64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::sqlite::salvage::Beyond;
    use rusqlite::{Connection, params};
    use std::path::Path;

    const ROWS: i64 = 500;

    fn text(n: i64) -> String {
        format!("sentence {n}, ")
            .repeat(1 + usize::try_from(n % 40).unwrap() * usize::try_from(n % 23).unwrap())
    }

    fn sample(path: &Path) {
        let file = Connection::open(path).unwrap();
        file.execute_batch(
            "CREATE TABLE t (n INTEGER PRIMARY KEY, a TEXT, b REAL, c BLOB, d INTEGER);
             CREATE TABLE pairs (x TEXT, n INTEGER, PRIMARY KEY (x, n)) WITHOUT ROWID;",
        )
        .unwrap();
        for n in 0..ROWS {
            let numbers = [0, 1, -1, 300, -70_000, 1 << 40, i64::MIN];
            let number = numbers[usize::try_from(n).unwrap() % 7];
            file.execute(
                "INSERT INTO t VALUES (?1, ?2, ?3, ?4, ?5)",
                params![n, text(n), n as f64 / 3.0, vec![7_u8; usize::try_from(n % 50).unwrap()], number],
            )
            .unwrap();
            file.execute("INSERT INTO pairs VALUES (?1, ?2)", params![text(n % 9), n]).unwrap();
        }
        file.execute("DELETE FROM t WHERE n % 10 = 3", []).unwrap();
    }

    fn read(path: &Path) -> (Vec<Raw>, Vec<Raw>) {
        let mut image = Image::open(path, &[], Beyond::Take).unwrap();
        let mut reader = TableReader::new(&mut image).unwrap();
        let (mut rows, mut pairs) = (Vec::new(), Vec::new());
        for table in reader.tables().unwrap() {
            let into = if table.name == "t" { &mut rows } else { &mut pairs };
            reader.rows(table.root, &mut |raw| into.push(raw)).unwrap();
        }
        reader.orphans(&mut |raw| rows.push(raw)).unwrap();
        (rows, pairs)
    }

    #[test]
    fn what_sqlite_wrote_is_read_value_by_value() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        sample(&path);
        let (rows, pairs) = read(&path);
        let file = Connection::open(&path).unwrap();
        let mut statement = file.prepare("SELECT n, a, b, c, d FROM t ORDER BY n").unwrap();
        let mut expected = statement.query([]).unwrap();
        let mut count = 0;
        while let Some(row) = expected.next().unwrap() {
            let values: Vec<Value> = (1..5).map(|at| row.get(at).unwrap()).collect();
            assert_eq!(rows[count].row, row.get::<_, i64>(0).unwrap());
            // A whole real number is stored as an integer.
            let read: Vec<Value> = rows[count].values[1..]
                .iter()
                .enumerate()
                .map(|(at, value)| match value {
                    Value::Integer(whole) if at == 1 => Value::Real(*whole as f64),
                    other => other.clone(),
                })
                .collect();
            assert_eq!(read, values);
            assert!(!rows[count].is_cut);
            count += 1;
        }
        assert_eq!((rows.len(), pairs.len()), (count, usize::try_from(ROWS).unwrap()));
    }

    /// Random damage: no panic, no endless loop, and the rows of sound pages are read.
    #[test]
    fn damage_takes_what_it_hits_and_no_more() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        sample(&path);
        let whole = std::fs::read(&path).unwrap();
        let mut seed = 11_u64;
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(seed >> 33).unwrap()
        };
        let damaged = folder.path().join("y.db");
        for trial in 0..150 {
            let mut bytes = whole.clone();
            let at = random() % bytes.len();
            let length = [1, 16, 4_096][trial % 3].min(bytes.len() - at);
            for byte in &mut bytes[at..at + length] {
                *byte = (random() & 0xFF) as u8;
            }
            std::fs::write(&damaged, &bytes).unwrap();
            let (rows, _) = read(&damaged);
            let sound =
                rows.iter().filter(|raw| raw.values.get(1) == Some(&Value::Text(text(raw.row)))).count();
            assert!(sound > 350, "{sound} of 450 rows after {length} bytes at {at}");
        }
        for length in [0, 50, 100, 5_000] {
            std::fs::write(&damaged, &whole[..length]).unwrap();
            read(&damaged);
        }
    }
}
