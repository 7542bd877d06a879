//! Unpacks streams within limits, because a packed stream may be far smaller than its content.

use hayro_syntax::Filter;
use hayro_syntax::object::{Dict, Object, Stream};
use std::io::Read;

use super::super::read::unpacks_too_much;

/// Most bytes of one unpacked stream: fonts of all Chinese characters have 20 MiB, the content of the fullest drawings less.
const MOST_STREAM: u64 = 32 << 20;

/// Most bytes that are unpacked in all, most of them for a page only.
const MOST_UNPACKED: u64 = 512 << 20;

/// Most bytes that are unpacked and kept while the file is read: fonts, and objects that are packed together.
const MOST_KEPT: u64 = 64 << 20;

/// Longest stream that is unpacked by LZW, whose result is not counted before: it is at most about 3,000 times longer.
const MOST_LZW: usize = 16 << 10;

/// Most steps of all kinds. A page of text takes about 5,000, so that this is enough for five thousand pages.
const MOST_STEPS: u64 = 25_000_000;

/// What may still be done for a file.
pub(super) struct Budget {
    bytes: u64,
    kept: u64,
    steps: u64,
}

impl Budget {
    pub(super) fn new() -> Self {
        Self { bytes: MOST_UNPACKED, kept: MOST_KEPT, steps: MOST_STEPS }
    }

    /// Takes steps; `false` if none are left.
    pub(super) fn step(&mut self, steps: u64) -> bool {
        self.steps = self.steps.saturating_sub(steps);
        self.steps > 0
    }

    /// Returns whether the file may be read on.
    pub(super) fn is_left(&self) -> bool {
        self.steps > 0 && self.bytes > 0
    }
}

/// Returns the content of a page. Streams that cannot be unpacked are left out.
pub(super) fn page(page: &Dict<'_>, budget: &mut Budget) -> Vec<u8> {
    let parts: Vec<Stream<'_>> = match page.get::<Object<'_>>(b"Contents") {
        Some(Object::Stream(one)) => vec![one],
        Some(Object::Array(several)) => several.iter::<Stream<'_>>().collect(),
        _ => Vec::new(),
    };
    let mut content = Vec::new();
    for part in parts {
        content.extend(stream(&part, budget).unwrap_or_default());
        content.push(b'\n');
        if content.len() as u64 > MOST_STREAM {
            break;
        }
    }
    content
}

/// Returns whether a stream unpacks to what may be kept, and takes its size from that.
pub(super) fn fits(stream: &Stream<'_>, budget: &mut Budget) -> bool {
    let size = self::stream(stream, budget).map_or(0, |data| data.len() as u64);
    let fits = size <= budget.kept;
    budget.kept -= if fits { size } else { 0 };
    fits
}

/// Unpacks a stream; `None` if it is damaged from its first byte on, too large, or an image.
pub(super) fn stream(stream: &Stream<'_>, budget: &mut Budget) -> Option<Vec<u8>> {
    let most = budget.bytes.min(MOST_STREAM);
    let mut data = stream.raw_data().into_owned();
    let filters = stream.filters();
    let mut has_other = ["DecodeParms", "DP"].iter().any(|key| stream.dict().contains_key(key));
    for (at, filter) in filters.iter().enumerate() {
        let is_last = at + 1 == filters.len();
        data = match filter {
            Filter::FlateDecode => inflate(&data, most)?,
            Filter::Ascii85Decode | Filter::AsciiHexDecode => ascii(&data, *filter),
            // A run is two bytes for at most 128.
            Filter::RunLengthDecode if is_last && data.len() as u64 <= most / 64 => data,
            Filter::LzwDecode if is_last && data.len() <= MOST_LZW => data,
            Filter::Crypt => data,
            Filter::RunLengthDecode
            | Filter::LzwDecode
            | Filter::CcittFaxDecode
            | Filter::Jbig2Decode
            | Filter::DctDecode
            | Filter::JpxDecode => return None,
        };
        has_other |= matches!(filter, Filter::RunLengthDecode | Filter::LzwDecode);
    }
    if has_other {
        // Its size is known to be bounded now.
        data = stream.decoded_data().ok()?.into_owned();
    }
    budget.bytes = budget.bytes.saturating_sub(data.len() as u64);
    Some(data)
}

/// Unpacks what zlib packed; what comes before damage is kept, as other readers do.
fn inflate(packed: &[u8], most: u64) -> Option<Vec<u8>> {
    let mut data = Vec::new();
    let result = flate2::read::ZlibDecoder::new(packed).take(most + 1).read_to_end(&mut data);
    ((result.is_ok() || !data.is_empty()) && data.len() as u64 <= most).then_some(data)
}

/// Decodes text of bytes (ISO 32000-2, 7.4.2 and 7.4.3), up to its end mark.
fn ascii(text: &[u8], filter: Filter) -> Vec<u8> {
    let (base, digits): (u32, usize) =
        if matches!(filter, Filter::Ascii85Decode) { (85, 5) } else { (16, 2) };
    let mut data = Vec::with_capacity(text.len() / 5 * 4);
    let mut group: Vec<u32> = Vec::with_capacity(digits);
    let mut flush = |group: &mut Vec<u32>| {
        let present = group.len();
        // A group that is cut off is filled with its largest digit in base 85, and with zero in base 16.
        group.resize(digits, if base == 85 { 84 } else { 0 });
        let value = group.iter().fold(0_u32, |value, digit| value.wrapping_mul(base).wrapping_add(*digit));
        if base == 85 {
            data.extend_from_slice(&value.to_be_bytes()[..present.saturating_sub(1)]);
        } else if present > 0 {
            data.push(value as u8);
        }
        group.clear();
    };
    for &letter in text {
        let digit = match (base, letter) {
            (85, b'~') | (16, b'>') => break,
            (85, b'z') if group.is_empty() => {
                group.extend([0; 5]);
                flush(&mut group);
                continue;
            }
            (85, b'!'..=b'u') => u32::from(letter - b'!'),
            (16, _) => match char::from(letter).to_digit(16) {
                Some(digit) => digit,
                None => continue,
            },
            _ => continue,
        };
        group.push(digit);
        if group.len() == digits {
            flush(&mut group);
        }
    }
    flush(&mut group);
    data
}

/// Refuses a file whose packed objects and tables of objects unpack to more than may be kept.
///
/// The library unpacks these when it opens a file, without a limit. They are found here before, by the words of their
/// dictionary. Those of an encrypted file cannot be counted.
pub(super) fn check_objects(bytes: &[u8]) -> Result<(), String> {
    const STREAM: &[u8] = b"stream";
    let starts: Vec<usize> = occurrences(bytes, STREAM);
    let (mut left, mut before) = (MOST_KEPT, 0);
    for at in starts {
        let dictionary = &bytes[before.min(at)..at];
        let after = at + STREAM.len();
        before = after;
        let has = |word: &[u8]| dictionary.windows(word.len()).any(|part| part == word);
        // A name may be written with numbers for letters, after a number sign.
        if dictionary.ends_with(b"end")
            || !(has(b"/First") || has(b"/Size") || has(b"/W") || has(b"#"))
            || is_image(dictionary)
        {
            continue;
        }
        let packed = bytes[after..].trim_ascii_start();
        let mut unpacked = flate2::read::ZlibDecoder::new(packed).take(left + 1);
        let size = std::io::copy(&mut unpacked, &mut std::io::sink()).unwrap_or(0);
        left = left.checked_sub(size).ok_or_else(|| unpacks_too_much(MOST_KEPT))?;
    }
    Ok(())
}

/// Returns whether a dictionary is an image's, in plain letters: those are the longest streams, and are not unpacked.
fn is_image(dictionary: &[u8]) -> bool {
    let has = |word: &[u8]| dictionary.windows(word.len()).any(|part| part == word);
    has(b"/Width") && has(b"/Height") && !has(b"/First") && !has(b"/Index") && !has(b"/Root") && !has(b"#")
}

fn occurrences(bytes: &[u8], word: &[u8]) -> Vec<usize> {
    let finder = aho_corasick::AhoCorasick::new([word]).ok();
    finder.iter().flat_map(|finder| finder.find_iter(bytes)).map(|found| found.start()).collect()
}
