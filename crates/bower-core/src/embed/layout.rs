//! The packed model file: a header of whole pages, then 64-byte-aligned sections that are used in place.
//! A file whose header is inconsistent, or does not match the file's length, is refused before anything else is read.

use sha2::{Digest, Sha256};

use crate::error::{Error, Result};

// The sections are arrays of little-endian numbers, used in place.
const _: () = assert!(cfg!(target_endian = "little"), "the packed model is little-endian");

/// The file's first eight bytes.
const MAGIC: [u8; 8] = *b"BOWERMLM";
/// Raised when the layout changes; other numbers are refused.
pub(super) const FORMAT: u32 = 1;
/// Unit of the header's length in bytes; the first section follows the header.
const PAGE: usize = 4096;
/// Most sections of one file: a hundred layers.
const SECTIONS: usize = 4096;
/// Alignment of a section's start.
const ALIGN: usize = 64;
/// Longest name of a model, in bytes.
const NAME: usize = 64;
/// Byte positions in the header: magic, format, number of sections, file length, name, SHA-256 of everything after the
/// header, offset and length of each section. The header ends with the SHA-256 of its other bytes.
const AT_FORMAT: usize = 8;
const AT_COUNT: usize = 12;
const AT_LENGTH: usize = 16;
const AT_NAME: usize = 24;
const AT_CONTENTS: usize = AT_NAME + NAME;
const AT_TABLE: usize = AT_CONTENTS + 32;
const CHECK: usize = 32;

/// A checked header.
#[derive(Clone, Debug)]
pub(super) struct PackedLayout {
    /// The model's identity: its name and the arithmetic it is used with.
    pub(super) name: String,
    contents: [u8; 32],
    /// Bytes of the header.
    header: usize,
    /// Offset and length of each section.
    sections: Vec<(usize, usize)>,
}

impl PackedLayout {
    /// Reads and checks the header of a whole packed file, and none of the sections.
    pub(super) fn read(file: &[u8]) -> Result<Self> {
        let short = || damaged(format!("has {} bytes, no header", file.len()));
        let header = file.get(..PAGE).ok_or_else(short)?;
        if header[..8] != MAGIC {
            return Err(damaged("is not a packed model"));
        }
        let format = u32_at(header, AT_FORMAT);
        if format != FORMAT {
            return Err(damaged(format!("has format {format}, not {FORMAT}: pack the model again")));
        }
        let count = u32_at(header, AT_COUNT) as usize;
        if count > SECTIONS {
            return Err(damaged(format!("names {count} sections")));
        }
        let header = file.get(..header_bytes(count)).ok_or_else(short)?;
        let (said, check) = header.split_at(header.len() - CHECK);
        if Sha256::digest(said)[..] != *check {
            return Err(damaged("has a damaged header"));
        }
        let length = u64_at(header, AT_LENGTH);
        if length != file.len() as u64 {
            return Err(damaged(format!("has {} bytes instead of {length}", file.len())));
        }
        let name = &header[AT_NAME..AT_CONTENTS];
        let name = &name[..name.iter().position(|b| *b == 0).unwrap_or(NAME)];
        let name = String::from_utf8(name.to_vec()).map_err(|_| damaged("has a damaged name"))?;
        let mut sections = Vec::with_capacity(count);
        for index in 0..count {
            let offset = u64_at(header, AT_TABLE + 16 * index);
            let len = u64_at(header, AT_TABLE + 16 * index + 8);
            let inside =
                offset >= header.len() as u64 && offset.checked_add(len).is_some_and(|end| end <= length);
            if !inside || !offset.is_multiple_of(ALIGN as u64) {
                return Err(damaged(format!("has section {index} out of place")));
            }
            sections.push((offset as usize, len as usize));
        }
        let contents = header[AT_CONTENTS..AT_TABLE].try_into().expect("32 bytes");
        Ok(Self { name, contents, header: header.len(), sections })
    }

    /// Verifies all bytes after the header, which reads the whole file.
    pub(super) fn verify(&self, file: &[u8]) -> Result<()> {
        match file.get(self.header..).map(Sha256::digest) {
            Some(sum) if sum[..] == self.contents => Ok(()),
            Some(_) | None => Err(damaged("has damaged contents: its checksum differs")),
        }
    }

    /// Returns the number of sections.
    pub(super) fn count(&self) -> usize {
        self.sections.len()
    }

    /// Returns the SHA-256 of everything after the header.
    pub(super) fn contents(&self) -> &[u8; 32] {
        &self.contents
    }

    /// Returns a section's range in the file; empty if there is no such section.
    pub(super) fn range(&self, index: usize) -> std::ops::Range<usize> {
        self.sections.get(index).map_or(0..0, |&(offset, len)| offset..offset + len)
    }

    /// Returns the bytes of a section of the file with this header.
    pub(super) fn section<'a>(&self, file: &'a [u8], index: usize) -> Result<&'a [u8]> {
        self.sections
            .get(index)
            .and_then(|&(offset, len)| file.get(offset..offset + len))
            .ok_or_else(|| damaged(format!("has no section {index}")))
    }
}

/// Returns sections as a packed file.
///
/// # Panics
/// If the name or the table does not fit the header: the caller has checked both.
pub(super) fn write(name: &str, sections: &[Vec<u8>]) -> Vec<u8> {
    assert!(name.len() <= NAME, "name of the model");
    assert!(sections.len() <= SECTIONS, "number of sections");
    let header = header_bytes(sections.len());
    let mut file = vec![0; header];
    for (index, section) in sections.iter().enumerate() {
        file.resize(file.len().next_multiple_of(ALIGN), 0);
        let at = AT_TABLE + 16 * index;
        let offset = file.len() as u64;
        file[at..at + 8].copy_from_slice(&offset.to_le_bytes());
        file[at + 8..at + 16].copy_from_slice(&(section.len() as u64).to_le_bytes());
        file.extend_from_slice(section);
    }
    let length = file.len() as u64;
    file[..8].copy_from_slice(&MAGIC);
    file[AT_FORMAT..AT_FORMAT + 4].copy_from_slice(&FORMAT.to_le_bytes());
    file[AT_COUNT..AT_COUNT + 4].copy_from_slice(&(sections.len() as u32).to_le_bytes());
    file[AT_LENGTH..AT_LENGTH + 8].copy_from_slice(&length.to_le_bytes());
    file[AT_NAME..AT_NAME + name.len()].copy_from_slice(name.as_bytes());
    let contents = Sha256::digest(&file[header..]);
    file[AT_CONTENTS..AT_TABLE].copy_from_slice(&contents);
    let check = Sha256::digest(&file[..header - CHECK]);
    file[header - CHECK..header].copy_from_slice(&check);
    file
}

/// Returns the bytes of the header of a file with this many sections.
fn header_bytes(sections: usize) -> usize {
    (AT_TABLE + 16 * sections + CHECK).next_multiple_of(PAGE)
}

/// Returns an error about a packed file; a caller that knows its path adds it.
pub(super) fn damaged(reason: impl Into<String>) -> Error {
    Error::Model { model: "packed file".into(), reason: reason.into() }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("4 bytes"))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> Vec<u8> {
        write("m.i8-2", &[vec![1, 2, 3], vec![], vec![7; 100]])
    }

    #[test]
    fn sections_come_back_aligned() {
        let file = file();
        let layout = PackedLayout::read(&file).unwrap();
        assert_eq!(layout.name, "m.i8-2");
        assert_eq!(layout.section(&file, 0).unwrap(), [1, 2, 3]);
        assert!(layout.section(&file, 1).unwrap().is_empty());
        assert_eq!(layout.section(&file, 2).unwrap(), [7; 100]);
        assert!(layout.section(&file, 3).is_err());
        layout.verify(&file).unwrap();
    }

    #[test]
    fn many_sections_have_a_longer_header() {
        for (count, header) in [(246, 4096), (247, 8192), (600, 12_288)] {
            let sections: Vec<Vec<u8>> = (0..count).map(|index| vec![index as u8; 3]).collect();
            let file = write("m.i8-2", &sections);
            let layout = PackedLayout::read(&file).unwrap();
            assert_eq!((layout.count(), layout.header), (count, header));
            assert_eq!(layout.section(&file, count - 1).unwrap(), sections[count - 1]);
            layout.verify(&file).unwrap();
            assert!(PackedLayout::read(&file[..header - 1]).is_err());
        }
    }

    #[test]
    fn every_cut_and_every_changed_byte_is_seen() {
        let whole = file();
        for len in 0..whole.len() {
            assert!(PackedLayout::read(&whole[..len]).is_err(), "cut to {len}");
        }
        for at in (0..whole.len()).step_by(7).chain([PAGE, whole.len() - 1]) {
            let mut file = whole.clone();
            file[at] ^= 0x40;
            let seen = PackedLayout::read(&file).and_then(|layout| layout.verify(&file));
            assert!(matches!(seen, Err(Error::Model { .. })), "byte {at} changed");
        }
    }
}
