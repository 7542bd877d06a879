//! Reads a file as text after checking its size, kind and encoding.
//! A file that is not text is refused with a reason that a user understands.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::Encoding;
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::item::hex;
use crate::request::Skipped;

/// Number of first bytes in which a NUL marks a binary file (as in git, `buffer_is_binary` in its xdiff-interface.c).
const SNIFF_BYTES: usize = 8_000;
/// Number of first bytes that may declare an encoding (as in HTML, "prescan a byte stream").
const DECLARATION_BYTES: usize = 1_024;

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

/// The text of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Decoded<'a> {
    /// It has `\n` line ends and no byte order mark.
    pub text: Cow<'a, str>,
    /// What was guessed or lost, in words.
    pub problem: Option<String>,
}

/// Returns the text of a file, or why it is no text.
///
/// Text that is neither UTF-8 nor UTF-16 is read in the encoding that it declares, else in the one that chardetng finds, the
/// detector of Firefox.
pub(super) fn decode(bytes: &[u8]) -> Result<Decoded<'_>, &'static str> {
    if bytes.is_empty() {
        return Err("empty");
    }
    let (text, problem) = match bytes {
        [0xFF, 0xFE, 0, 0, ..] | [0, 0, 0xFE, 0xFF, ..] => return Err("UTF-32 text; save it as UTF-8"),
        [0xFF, 0xFE, rest @ ..] => (Cow::Owned(utf16(rest, u16::from_le_bytes)?), None),
        [0xFE, 0xFF, rest @ ..] => (Cow::Owned(utf16(rest, u16::from_be_bytes)?), None),
        [0xEF, 0xBB, 0xBF, rest @ ..] => utf8_or_older(rest)?,
        _ => utf8_or_older(bytes)?,
    };
    if text.trim().is_empty() {
        return Err("empty: only white space");
    }
    Ok(Decoded { text: clean(text), problem })
}

/// Reads UTF-8, or an encoding from before it.
fn utf8_or_older(bytes: &[u8]) -> Result<(Cow<'_, str>, Option<String>), &'static str> {
    if bytes.starts_with(b"%PDF-") {
        return Err("a PDF file; name it .pdf, and it is read");
    }
    if bytes[..bytes.len().min(SNIFF_BYTES)].contains(&0) {
        return Err("binary file");
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Ok((Cow::Borrowed(text), None));
    }
    if bytes.iter().any(|byte| byte.is_ascii_control() && !b"\t\n\r\x0c\x1b".contains(byte)) {
        return Err("not UTF-8 text: binary or damaged");
    }
    // Characters of several bytes hardly ever occur by chance: a text that has more of them than other bytes is damaged UTF-8.
    let valid: usize =
        bytes.utf8_chunks().map(|chunk| chunk.valid().chars().filter(|one| !one.is_ascii()).count()).sum();
    let invalid = bytes.utf8_chunks().filter(|chunk| !chunk.invalid().is_empty()).count();
    if valid > invalid {
        let problem = format!("{invalid} places are not valid UTF-8; they are shown as \u{FFFD}");
        return Ok((Cow::Owned(String::from_utf8_lossy(bytes).into_owned()), Some(problem)));
    }
    let encoding = declared(bytes).unwrap_or_else(|| {
        let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
        detector.feed(bytes, true);
        detector.guess(None, Utf8Detection::Deny)
    });
    let (text, _) = encoding.decode_without_bom_handling(bytes);
    Ok((text, Some(format!("not UTF-8; read as {}", encoding.name()))))
}

/// Returns the encoding that a file names in its first bytes: `charset=` in HTML (WHATWG), `encoding=` in XML, `coding:` in Python
/// (PEP 263) and Emacs. `None` for UTF-8 and UTF-16, which it is not.
fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = bytes[..bytes.len().min(DECLARATION_BYTES)].to_ascii_lowercase();
    let is_label = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.:+".contains(byte);
    let after =
        |mark: &[u8]| head.windows(mark.len()).position(|found| found == mark).map(|at| at + mark.len());
    let at = after(b"charset").or_else(|| after(b"coding"))?;
    let rest = head[at..].trim_ascii_start();
    let rest = rest.strip_prefix(b"=").or_else(|| rest.strip_prefix(b":"))?.trim_ascii_start();
    let rest = rest.strip_prefix(b"\"").or_else(|| rest.strip_prefix(b"'")).unwrap_or(rest);
    let end = rest.iter().position(|byte| !is_label(byte)).unwrap_or(rest.len());
    Encoding::for_label(&rest[..end])
        .filter(|encoding| encoding.is_ascii_compatible() && *encoding != encoding_rs::UTF_8)
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
        let decoded = decode(bytes);
        let got = decoded.as_ref().map(|decoded| &*decoded.text).map_err(|reason| *reason);
        assert_eq!(got, expected, "{bytes:?}");
    }

    #[track_caller]
    fn check_guess(bytes: &[u8], text: &str, problem: &str) {
        let decoded = decode(bytes).expect("text");
        assert_eq!((&*decoded.text, decoded.problem.as_deref()), (text, Some(problem)));
    }

    #[test]
    fn older_encodings_are_declared_or_found() {
        // The bytes are those of Python's codecs.
        check_guess(
            b"Die V\xf6gel br\xfcten in gro\xdfen H\xf6hlen.",
            "Die Vögel brüten in großen Höhlen.",
            "not UTF-8; read as windows-1252",
        );
        check_guess(
            b"\x82\xb1\x82\xea\x82\xcd\x93\xfa\x96{\x8c\xea\x82\xcc\x95\xb6\x8f\xcd\x82\xc5\x82\xb7\x81B",
            "これは日本語の文章です。",
            "not UTF-8; read as Shift_JIS",
        );
        check_guess(
            b"<meta charset=\"iso-8859-5\">\xbf\xe0\xd8\xd2\xd5\xe2",
            "<meta charset=\"iso-8859-5\">Привет",
            "not UTF-8; read as ISO-8859-5",
        );
        check_guess(
            b"# -*- coding: cp1251 -*-\n# \xcf\xf0\xe8\xe2\xe5\xf2",
            "# -*- coding: cp1251 -*-\n# Привет",
            "not UTF-8; read as windows-1251",
        );
    }

    #[test]
    fn damaged_utf8_stays_utf8() {
        let text = ["Die Vögel brüten, ".as_bytes(), b"\xfc", "äöü".as_bytes()].concat();
        check_guess(
            &text,
            "Die Vögel brüten, \u{FFFD}äöü",
            "1 places are not valid UTF-8; they are shown as \u{FFFD}",
        );
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
        check(b"gr\xFCn", Ok("grün"));
        check(b"gr\xFCn\x01", Err("not UTF-8 text: binary or damaged"));
        check(b"\x7FELF\0\0", Err("binary file"));
        check(b"%PDF-1.7 ...", Err("a PDF file; name it .pdf, and it is read"));
        check(b"", Err("empty"));
        check(b" \r\n\t", Err("empty: only white space"));
        check(b"\xEF\xBB\xBF", Err("empty: only white space"));
        let late = [&[b'a'; SNIFF_BYTES][..], b"\0"].concat();
        assert!(decode(&late).expect("text").text.ends_with("a\u{FFFD}"));
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
