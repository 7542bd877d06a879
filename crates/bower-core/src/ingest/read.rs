//! Reads a file as text after checking its size, kind and encoding.
//! A file that is not text is refused with a reason that a user understands.

use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::item::hex;
use crate::request::Skipped;

/// Number of first bytes in which a NUL marks a binary file (as in git, `buffer_is_binary` in its xdiff-interface.c).
const SNIFF_BYTES: usize = 8_000;

/// Length and average line length from which on a text counts as generated for machines.
const MINIFIED_BYTES: usize = 20_000;
const MINIFIED_LINE: usize = 2_000;

/// Reads a whole file of at most `max_bytes` bytes.
///
/// Anything but a regular file, a larger file, or an unreadable one is returned as [`Skipped`] with the reason.
pub fn read(path: &Path, max_bytes: u64) -> Result<Vec<u8>, Skipped> {
    let skip = |reason: String| Skipped { path: path.to_path_buf(), reason };
    let failed = |source: std::io::Error| skip(format!("cannot be read: {source}"));
    // Checked before opening, because opening a named pipe would wait for its writer for ever.
    let metadata = path.metadata().map_err(failed)?;
    if !metadata.is_file() {
        return Err(skip("not a regular file".into()));
    }
    if metadata.len() > max_bytes {
        return Err(skip(too_large(metadata.len(), max_bytes)));
    }
    // The limit also holds for files that grow while they are read, and for those that report no length (/proc).
    let bytes = at_most(File::open(path).map_err(failed)?, metadata.len(), max_bytes).map_err(failed)?;
    bytes.ok_or_else(|| skip(too_large(max_bytes + 1, max_bytes)))
}

/// Reads to the end of what has at most `most` bytes; `None` if it has more. Memory for `expected` bytes is reserved at once.
pub(super) fn at_most(reader: impl Read, expected: u64, most: u64) -> std::io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::with_capacity(expected as usize);
    reader.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= most).then_some(bytes))
}

/// Returns the SHA-256 of a file's bytes, as 64 hex digits.
pub fn content_hash(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

pub(super) fn too_large(bytes: u64, max_bytes: u64) -> String {
    format!("too large: {:.1} MiB, the limit is {:.1} MiB", mib(bytes), mib(max_bytes))
}

fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

/// Unpacks a gzip file of at most `max_bytes` bytes, of one or several members; the error is the reason why it is skipped.
pub(super) fn gunzip(bytes: &[u8], max_bytes: u64) -> Result<Vec<u8>, String> {
    at_most(flate2::read::MultiGzDecoder::new(bytes), 0, max_bytes)
        .map_err(|source| format!("damaged gzip file: {source}"))?
        .ok_or_else(|| unpacks_too_much(max_bytes))
}

/// Why a file that unpacks to more than `max_bytes` is skipped.
pub(super) fn unpacks_too_much(max_bytes: u64) -> String {
    format!("too large: more than {:.1} MiB when unpacked", mib(max_bytes))
}

/// Returns the text of a file with `\n` line ends and no byte order mark, or why it is no text.
pub(super) fn decode(bytes: &[u8]) -> Result<Cow<'_, str>, &'static str> {
    if bytes.is_empty() {
        return Err("empty");
    }
    let text = match bytes {
        [0xFF, 0xFE, 0, 0, ..] | [0, 0, 0xFE, 0xFF, ..] => return Err("UTF-32 text; save it as UTF-8"),
        [0xFF, 0xFE, rest @ ..] => Cow::Owned(utf16(rest, u16::from_le_bytes)?),
        [0xFE, 0xFF, rest @ ..] => Cow::Owned(utf16(rest, u16::from_be_bytes)?),
        [0xEF, 0xBB, 0xBF, rest @ ..] => Cow::Borrowed(utf8(rest)?),
        _ => Cow::Borrowed(utf8(bytes)?),
    };
    if text.trim().is_empty() {
        return Err("empty: only white space");
    }
    Ok(clean(text))
}

fn utf8(bytes: &[u8]) -> Result<&str, &'static str> {
    if bytes.starts_with(b"%PDF-") {
        return Err("a PDF file; name it .pdf, and it is read");
    }
    if bytes[..bytes.len().min(SNIFF_BYTES)].contains(&0) {
        return Err("binary file");
    }
    std::str::from_utf8(bytes).map_err(|_| "not UTF-8 text: binary or another encoding")
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<String, &'static str> {
    const DAMAGED: &str = "damaged UTF-16 text";
    let (pairs, rest) = bytes.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(DAMAGED);
    }
    char::decode_utf16(pairs.iter().map(|&pair| unit(pair))).collect::<Result<_, _>>().map_err(|_| DAMAGED)
}

/// Normalises line ends and removes NUL (databases and terminals truncate text there). Keeps the number of lines.
fn clean(text: Cow<'_, str>) -> Cow<'_, str> {
    if !text.bytes().any(|byte| byte == b'\r' || byte == 0) {
        return text;
    }
    let mut clean = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(letter) = rest.next() {
        match letter {
            '\r' => {
                rest.next_if_eq(&'\n');
                clean.push('\n');
            }
            '\0' => clean.push(char::REPLACEMENT_CHARACTER),
            other => clean.push(other),
        }
    }
    Cow::Owned(clean)
}

/// Returns why a text is not worth reading: bundles, source maps, dumps in one line.
pub(super) fn minified(text: &str, is_code: bool) -> Option<String> {
    let lines = text.bytes().filter(|&byte| byte == b'\n').count() + 1;
    let average = text.len() / lines;
    // Prose may have one line per chapter, with a space after each word; nobody writes a program so.
    let spaces = || text.bytes().filter(|&byte| byte == b' ').count();
    let is_prose = || !is_code && (!text.is_ascii() || spaces() * 12 >= text.len());
    (text.len() >= MINIFIED_BYTES && average >= MINIFIED_LINE && !is_prose())
        .then(|| format!("minified: {average} characters a line"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], expected: Result<&str, &str>) {
        assert_eq!(decode(bytes).as_deref().map_err(|reason| *reason), expected, "{bytes:?}");
    }

    #[test]
    fn encodings_are_read_or_named() {
        check(b"a\r\nb\rc\n", Ok("a\nb\nc\n"));
        check(b"\xEF\xBB\xBFgr\xC3\xBCn", Ok("grün"));
        check(b"\xFF\xFEa\0\xFC\0\r\0\n\0", Ok("aü\n"));
        check(b"\xFE\xFF\0a\xD8\x3D\xDE\x00", Ok("a😀"));
        check(b"\xFF\xFEa", Err("damaged UTF-16 text"));
        check(b"\xFF\xFE\0\xD8", Err("damaged UTF-16 text"));
        check(b"\xFF\xFE\0\0a\0\0\0", Err("UTF-32 text; save it as UTF-8"));
        check(b"gr\xFCn", Err("not UTF-8 text: binary or another encoding"));
        check(b"\x7FELF\0\0", Err("binary file"));
        check(b"%PDF-1.7 ...", Err("a PDF file; name it .pdf, and it is read"));
        check(b"", Err("empty"));
        check(b" \r\n\t", Err("empty: only white space"));
        check(b"\xEF\xBB\xBF", Err("empty: only white space"));
        let late = [&[b'a'; SNIFF_BYTES][..], b"\0"].concat();
        assert!(decode(&late).expect("text").ends_with("a\u{FFFD}"));
    }

    #[test]
    fn a_hash_is_of_the_bytes() {
        // FIPS 180-2, appendix B.1.
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(content_hash(b"abc"), expected);
        assert_ne!(content_hash(b"a\r\n"), content_hash(b"a\n"));
    }

    #[test]
    fn files_that_cannot_be_read_say_why() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("a.txt");
        std::fs::write(&file, "12345").expect("written");
        assert_eq!(read(&file, 5).expect("read"), b"12345");
        assert_eq!(read(&file, 4).unwrap_err().reason, "too large: 0.0 MiB, the limit is 0.0 MiB");
        assert_eq!(read(folder.path(), 9).unwrap_err().reason, "not a regular file");
        assert!(read(&folder.path().join("b"), 9).unwrap_err().reason.starts_with("cannot be read: No such"));
    }

    #[test]
    fn machine_made_lines_are_recognised() {
        assert_eq!(
            minified(&"a={b:1};".repeat(4_000), false).as_deref(),
            Some("minified: 32000 characters a line")
        );
        let prose = "some words in one long paragraph. ".repeat(4_000);
        assert_eq!(minified(&prose, false), None);
        assert_eq!(minified(&prose, true).as_deref(), Some("minified: 136000 characters a line"));
        for code in ["a={b:1};\n".repeat(4_000), "a={b:1};".to_owned()] {
            assert_eq!(minified(&code, true), None);
        }
    }
}
