//! Tokenizes text with BERT's uncased WordPiece, over a table that is used in place from the packed file.
//! The ids equal those of the reference tokenizer, except that text never becomes a control token: a literal `[SEP]` is
//! three words.
//!
//! The reference is the Python package `tokenizers` with the model's own settings. It drops controls, puts spaces
//! around Chinese characters, decomposes (NFD) and drops accents, lower-cases, and splits at white space and around
//! punctuation. Then it applies longest match first (Devlin et al. 2018). Before all that it looks for `[SEP]` and the
//! like; this step is left out here and in the golden ids.
//!
//! ```
//! use bower_core::parts::embed::wordpiece::{WordPiece, pack_vocabulary};
//! let section = pack_vocabulary(b"[UNK]\n[CLS]\n[SEP]\nbower\n##bird\n!").unwrap();
//! let mut ids = Vec::new();
//! WordPiece::open(&section).unwrap().encode("Bowerbird!", &mut ids);
//! assert_eq!(ids, [3, 4, 5]);
//! ```

mod unicode;

use std::collections::HashMap;

use unicode_normalization::char::decompose_canonical;

use crate::error::{Error, Result};

/// The section's first four bytes.
const MAGIC: [u8; 4] = *b"BWPV";
/// Raised when the layout below changes; other numbers are refused.
const FORMAT: u32 = 1;
/// Magic, format, then eight `u32`: pieces, slots, longest, probes, unknown, first, last, bytes of all pieces; zeros.
const HEADER_BYTES: usize = 64;
/// A slot of the hash table: 4 bytes of hash, 4 bytes of id + 1 (0: empty).
const SLOT_BYTES: usize = 8;
/// Longest key of a vocabulary in bytes (BERT's own: 18), so that scratch space is fixed.
const LONGEST_KEY: usize = 128;
/// Longest word in characters; longer ones are unknown (`max_input_chars_per_word` in the model's tokenizer.json).
const MAX_WORD_CHARS: usize = 100;
/// The top bit of a stored hash, which hashes do not use: whether a piece continues a word.
const CONTINUES: u32 = 1 << 31;

/// A vocabulary, borrowed from the output of [`pack_vocabulary`]. Opening reads 64 bytes, so it can be opened for each text.
///
/// Every access is checked against the section's end. Damaged bytes give other ids, all below [`WordPiece::pieces`],
/// and never a panic.
#[derive(Clone, Copy, Debug)]
pub struct WordPiece<'a> {
    slots: &'a [u8],
    ends: &'a [u8],
    keys: &'a [u8],
    mask: u32,
    longest: usize,
    probes: u32,
    unknown: u32,
    first: u32,
    last: u32,
}

/// Makes the section of a packed model file from a `vocab.txt` (UTF-8, one piece a line, the id is the line's number).
///
/// Layout, all numbers little-endian `u32`, no alignment needed: a header of 64 bytes, an open-addressing hash table
/// with at most half of its slots taken, the end of each piece's key, the concatenated keys (without `##`). Control
/// pieces (`[CLS]`, `[unused7]`, …) have an id and no key. Fails with [`Error::Model`] on text that is no such
/// vocabulary.
pub fn pack_vocabulary(vocab_txt: &[u8]) -> Result<Vec<u8>> {
    let text = std::str::from_utf8(vocab_txt).map_err(|cause| damaged(format!("is not UTF-8: {cause}")))?;
    let lines: Vec<&str> = text.lines().collect();
    let count = u32::try_from(lines.len()).map_err(|_| damaged("has too many lines"))?;
    let mut ids = HashMap::with_capacity(lines.len());
    for (id, line) in (0..).zip(&lines) {
        if line.is_empty() {
            return Err(damaged(format!("line {} is empty", id + 1)));
        }
        if let Some(before) = ids.insert(*line, id) {
            return Err(damaged(format!("line {} repeats line {}", id + 1, before + 1)));
        }
    }
    let control = |name: &str| ids.get(name).copied().ok_or_else(|| damaged(format!("has no {name}")));
    let (unknown, first, last) = (control("[UNK]")?, control("[CLS]")?, control("[SEP]")?);

    let slots = (lines.len() * 2).next_power_of_two();
    let mut table = vec![0_u8; slots * SLOT_BYTES];
    let mut ends = Vec::with_capacity(lines.len() * 4);
    let mut keys = Vec::with_capacity(text.len());
    let (mut longest, mut probes) = (0, 0);
    for (id, line) in (0_u32..).zip(&lines) {
        if !is_control(line) {
            let (continues, key) = match line.strip_prefix("##") {
                Some(rest) if !rest.is_empty() => (CONTINUES, rest),
                Some(_) | None => (0, *line),
            };
            if key.len() > LONGEST_KEY {
                return Err(damaged(format!("line {} is longer than {LONGEST_KEY} bytes", id + 1)));
            }
            longest = longest.max(key.len());
            keys.extend_from_slice(key.as_bytes());
            let (tag, mut slot) = place(key.bytes().fold(seed(continues), mix), continues);
            for probe in 1.. {
                let at = (slot as usize & (slots - 1)) * SLOT_BYTES;
                if table[at + 4..at + 8] == [0; 4] {
                    table[at..at + 4].copy_from_slice(&tag.to_le_bytes());
                    table[at + 4..at + 8].copy_from_slice(&(id + 1).to_le_bytes());
                    probes = probes.max(probe);
                    break;
                }
                slot = slot.wrapping_add(1);
            }
        }
        let end = u32::try_from(keys.len()).map_err(|_| damaged("is larger than 4 GiB"))?;
        ends.extend_from_slice(&end.to_le_bytes());
    }

    let mut section = Vec::with_capacity(HEADER_BYTES + table.len() + ends.len() + keys.len());
    section.extend_from_slice(&MAGIC);
    for number in
        [FORMAT, count, slots as u32, longest as u32, probes, unknown, first, last, keys.len() as u32]
    {
        section.extend_from_slice(&number.to_le_bytes());
    }
    section.resize(HEADER_BYTES, 0);
    section.extend_from_slice(&table);
    section.extend_from_slice(&ends);
    section.extend_from_slice(&keys);
    Ok(section)
}

impl<'a> WordPiece<'a> {
    /// Opens a section, whose length must be exactly that of [`pack_vocabulary`]'s output. Checks the header against
    /// the length; fails with [`Error::Model`].
    pub fn open(section: &'a [u8]) -> Result<Self> {
        let short = || damaged(format!("section of {} bytes is cut short", section.len()));
        let header = section.get(..HEADER_BYTES).ok_or_else(short)?;
        if header[..4] != MAGIC {
            return Err(damaged("section is something else"));
        }
        // The header has 16 numbers, so the default is never used.
        let number = |index: usize| read(header, index + 1).unwrap_or_default();
        if number(0) != FORMAT {
            return Err(damaged(format!("section has format {}, not {FORMAT}", number(0))));
        }
        let (count, slots, longest, probes) = (number(1), number(2), number(3), number(4));
        let (unknown, first, last, key_bytes) = (number(5), number(6), number(7), number(8));
        let sizes = [
            HEADER_BYTES as u64,
            u64::from(slots) * SLOT_BYTES as u64,
            u64::from(count) * 4,
            u64::from(key_bytes),
        ];
        if sizes.iter().sum::<u64>() != section.len() as u64 {
            return Err(damaged(format!(
                "section has {} bytes, not {}",
                section.len(),
                sizes.iter().sum::<u64>()
            )));
        }
        let sound = slots.is_power_of_two()
            && probes <= slots
            && longest as usize <= LONGEST_KEY
            && [unknown, first, last].iter().all(|&id| id < count);
        if !sound {
            return Err(damaged("section's header contradicts itself"));
        }
        let (slots_bytes, rest) = section[HEADER_BYTES..].split_at(sizes[1] as usize);
        let (ends, keys) = rest.split_at(sizes[2] as usize);
        Ok(Self {
            slots: slots_bytes,
            ends,
            keys,
            mask: slots - 1,
            longest: longest as usize,
            probes,
            unknown,
            first,
            last,
        })
    }

    /// Returns the number of ids: every id is below it.
    pub fn pieces(&self) -> usize {
        self.ends.len() / 4
    }

    /// Returns the id of `[CLS]`, which the model expects before a text.
    pub fn first(&self) -> u32 {
        self.first
    }

    /// Returns the id of `[SEP]`, which the model expects after a text.
    pub fn last(&self) -> u32 {
        self.last
    }

    /// Appends the ids of a text's pieces, without `[CLS]` and `[SEP]`. Allocates only to grow `ids`.
    pub fn encode(&self, text: &str, ids: &mut Vec<u32>) {
        let mut word = Word::new();
        for c in text.chars() {
            if !c.is_ascii() {
                self.encode_char(c, &mut word, ids);
                continue;
            }
            match ASCII[c as usize] {
                Ascii::DROP => {}
                Ascii::SPACE => self.finish(&mut word, ids),
                Ascii::ALONE => {
                    self.finish(&mut word, ids);
                    word.push_ascii(c as u8);
                    self.finish(&mut word, ids);
                }
                letter => word.push_ascii(letter),
            }
        }
        self.finish(&mut word, ids);
    }

    /// Processes one character outside ASCII, in the reference's order: clean, separate Chinese, decompose, drop, lower, split.
    ///
    /// NFD also sorts adjacent marks, which is left out. The marks that are not dropped (newer than the reference's
    /// tables) are in no piece, so their word is unknown in any order.
    fn encode_char(&self, c: char, word: &mut Word, ids: &mut Vec<u32>) {
        if is_in(c, &unicode::DROPPED) {
            return;
        }
        if c.is_whitespace() {
            self.finish(word, ids);
            return;
        }
        let chinese = is_chinese(c);
        if chinese {
            self.finish(word, ids);
        }
        decompose_canonical(c, |part| {
            // A part below U+0300 cannot be a mark.
            if part >= '\u{300}' && is_in(part, &unicode::DROPPED) {
                return;
            }
            for lower in part.to_lowercase() {
                let alone = lower.is_ascii_punctuation() || is_in(lower, &unicode::PUNCTUATION);
                if alone {
                    self.finish(word, ids);
                }
                word.push(lower);
                if alone {
                    self.finish(word, ids);
                }
            }
        });
        if chinese {
            self.finish(word, ids);
        }
    }

    /// Ends a word: appends its pieces by longest match first, or one `[UNK]` for all of it.
    fn finish(&self, word: &mut Word, ids: &mut Vec<u32>) {
        if word.chars == 0 {
            return;
        }
        let before = ids.len();
        if word.chars > MAX_WORD_CHARS || !self.split(word, ids) {
            ids.truncate(before);
            ids.push(self.unknown);
        }
        word.chars = 0;
        word.len = 0;
    }

    /// Appends a word's pieces; `false` if some rest of it has none.
    fn split(&self, word: &mut Word, ids: &mut Vec<u32>) -> bool {
        let Word { bytes, len, hashes, .. } = word;
        let mut rest = &bytes[..*len];
        let mut continues = 0;
        while !rest.is_empty() {
            let reach = rest.len().min(self.longest);
            let mut hash = seed(continues);
            for (kept, &byte) in hashes.iter_mut().zip(&rest[..reach]) {
                hash = mix(hash, byte);
                *kept = hash;
            }
            // A key that ends inside a character is in no vocabulary, so boundaries need no check.
            let found = (1..=reach)
                .rev()
                .find_map(|end| Some((self.find(hashes[end - 1], continues, &rest[..end])?, end)));
            let Some((id, end)) = found else { return false };
            ids.push(id);
            rest = &rest[end..];
            continues = CONTINUES;
        }
        true
    }

    /// Returns the id of a key, if it is in the table.
    fn find(&self, hash: u64, continues: u32, key: &[u8]) -> Option<u32> {
        let (tag, mut slot) = place(hash, continues);
        for _ in 0..self.probes {
            let at = (slot & self.mask) as usize * 2;
            let id = read(self.slots, at + 1)?.checked_sub(1)?;
            if read(self.slots, at)? == tag && self.key(id) == Some(key) {
                return Some(id);
            }
            slot = slot.wrapping_add(1);
        }
        None
    }

    /// Returns the bytes of a piece without `##`; `None` for an id that the table lacks.
    fn key(&self, id: u32) -> Option<&'a [u8]> {
        let id = id as usize;
        let start = if id == 0 { 0 } else { read(self.ends, id - 1)? };
        self.keys.get(start as usize..read(self.ends, id)? as usize)
    }
}

/// A word being read, lower-case and without accents, and the hashes of its prefixes.
struct Word {
    bytes: [u8; MAX_WORD_CHARS * 4],
    len: usize,
    /// Number of characters. It may exceed the limit; bytes beyond it are not kept, because they are not needed.
    chars: usize,
    hashes: [u64; LONGEST_KEY],
}

impl Word {
    fn new() -> Self {
        Self { bytes: [0; MAX_WORD_CHARS * 4], len: 0, chars: 0, hashes: [0; LONGEST_KEY] }
    }

    #[inline]
    fn push_ascii(&mut self, byte: u8) {
        if self.chars < MAX_WORD_CHARS {
            self.bytes[self.len] = byte;
            self.len += 1;
        }
        self.chars += 1;
    }

    fn push(&mut self, c: char) {
        if self.chars < MAX_WORD_CHARS {
            self.len += c.encode_utf8(&mut self.bytes[self.len..]).len();
        }
        self.chars += 1;
    }
}

/// Values in [`ASCII`] for bytes that are not simply lower-cased.
struct Ascii;

impl Ascii {
    const DROP: u8 = 0;
    const SPACE: u8 = 1;
    const ALONE: u8 = 2;
}

/// For each ASCII byte one of [`Ascii`]'s values, or the byte in lower case.
static ASCII: [u8; 128] = {
    let mut table = [Ascii::DROP; 128];
    let mut byte = 0_u8;
    while byte < 128 {
        table[byte as usize] = match byte {
            b'\t' | b'\n' | b'\r' | b' ' => Ascii::SPACE,
            b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => byte.to_ascii_lowercase(),
            0..=0x1f | 0x7f.. => Ascii::DROP,
            b'!'..=b'~' => Ascii::ALONE,
        };
        byte += 1;
    }
    table
};

/// Whether the reference treats a character as Chinese. Its last but two block starts at U+2B920, not at U+2B820 as in
/// the original BERT code: the 256 characters between stay together.
fn is_chinese(c: char) -> bool {
    matches!(u32::from(c),
        0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x2A6DF | 0x2A700..=0x2B81F
        | 0x2B920..=0x2CEAF | 0x2F800..=0x2FA1F)
}

fn is_in(c: char, ranges: &[(u32, u32)]) -> bool {
    let code = u32::from(c);
    let after = ranges.partition_point(|&(first, _)| first <= code);
    after > 0 && code <= ranges[after - 1].1
}

/// Whether a piece is a control piece: `[CLS]`, `[unused12]`. Text cannot produce them anyway, because brackets are words.
fn is_control(piece: &str) -> bool {
    piece.len() > 2 && piece.starts_with('[') && piece.ends_with(']')
}

/// Returns FNV-1a's 64-bit offset (Fowler, Noll & Vo); another value for pieces that continue a word.
fn seed(continues: u32) -> u64 {
    0xcbf2_9ce4_8422_2325 ^ u64::from(continues)
}

/// Does one step of FNV-1a.
#[inline]
fn mix(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
}

/// Returns a hash's tag (with the bit of [`CONTINUES`]) and its first slot, before the mask. FNV's last byte affects
/// only the bits above it, so the halves are folded and spread by one more multiplication (2^64 / golden ratio).
#[inline]
fn place(hash: u64, continues: u32) -> (u32, u32) {
    let spread = (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (spread as u32 & !CONTINUES | continues, (spread >> 32) as u32)
}

/// Returns the `index`-th little-endian number, if there are enough bytes.
#[inline]
fn read(bytes: &[u8], index: usize) -> Option<u32> {
    let start = index.checked_mul(4)?;
    let four = bytes.get(start..start.checked_add(4)?)?;
    Some(u32::from_le_bytes(four.try_into().ok()?))
}

fn damaged(reason: impl Into<String>) -> Error {
    Error::Model { model: "vocabulary".into(), reason: reason.into() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const VOCABULARY: &[u8] = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n[\n]\nsep\ncafe\nun\n##aff\n##able\n!\n中\n豈\n国\ns\n##s\nσ\n##σ\n##ς\ni\nß\nab\n=\n##b\na\n".as_bytes();

    fn check(text: &str, expected: &[&str]) {
        let section = pack_vocabulary(VOCABULARY).unwrap();
        let mut ids = Vec::new();
        WordPiece::open(&section).unwrap().encode(text, &mut ids);
        let names: Vec<&str> = std::str::from_utf8(VOCABULARY).unwrap().lines().collect();
        let pieces: Vec<&str> = ids.iter().map(|&id| names[id as usize]).collect();
        assert_eq!(pieces, expected, "{text:?}");
    }

    #[test]
    fn words_are_the_longest_pieces_or_unknown() {
        check("", &[]);
        check("unaffable!", &["un", "##aff", "##able", "!"]);
        check("unaffably !!", &["[UNK]", "!", "!"]);
        check("able", &["[UNK]"]);
        check("ab abb a", &["ab", "ab", "##b", "a"]);
    }

    #[test]
    fn text_is_folded_as_in_the_reference() {
        check("CAFÉ cafe\u{301} C\u{0}A\u{200b}\u{ad}F\u{7f}\u{fffd}E", &["cafe", "cafe", "cafe"]);
        check("un\u{a0}un\u{2003}un\u{3000}un\tun\r\nun\u{2028}un", &["un"; 7]);
        check("un\u{b}un", &["[UNK]"]);
        check("中国un", &["中", "国", "un"]);
        check("ẞ ß SS", &["ß", "ß", "s", "##s"]);
        check("ΣΣ", &["σ", "##σ"]);
        check("İ", &["i"]);
        check("≠", &["="]);
        check("un。un\u{2014}un", &["un", "[UNK]", "un", "[UNK]", "un"]);
    }

    #[test]
    fn text_never_becomes_a_control_token() {
        check("[SEP]", &["[", "sep", "]"]);
        check("a[MASK]a", &["a", "[", "[UNK]", "]", "a"]);
        check("[UNK] [CLS]", &["[", "[UNK]", "]", "[", "[UNK]", "]"]);
    }

    #[test]
    fn a_word_of_more_than_a_hundred_characters_is_unknown() {
        let word = |count: usize| format!("a{}", "b".repeat(count - 1));
        let section = pack_vocabulary(VOCABULARY).unwrap();
        let table = WordPiece::open(&section).unwrap();
        for (chars, pieces) in [(99, 98), (100, 99), (101, 1), (5_000, 1)] {
            let mut ids = Vec::new();
            table.encode(&word(chars), &mut ids);
            assert_eq!(ids.len(), pieces, "{chars} characters");
        }
        let mut ids = Vec::new();
        table.encode(&"\u{10348}".repeat(100), &mut ids);
        assert_eq!(ids, [table.unknown]);
    }

    #[test]
    fn a_text_that_is_no_vocabulary_is_refused() {
        for (bytes, expected) in [
            (&b"[UNK]\n[CLS]\n[SEP]\n\xff"[..], "is not UTF-8"),
            (b"[UNK]\n[CLS]\n", "has no [SEP]"),
            (b"[UNK]\n[CLS]\n[SEP]\na\nb\na\n", "line 6 repeats line 4"),
            (b"[UNK]\n\n[CLS]\n[SEP]\n", "line 2 is empty"),
            (b"", "has no [UNK]"),
        ] {
            let error = pack_vocabulary(bytes).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
        assert!(pack_vocabulary(format!("[UNK]\n[CLS]\n[SEP]\n{}", "x".repeat(129)).as_bytes()).is_err());
        let crlf = String::from_utf8(VOCABULARY.to_vec()).unwrap().replace('\n', "\r\n");
        assert_eq!(pack_vocabulary(VOCABULARY).unwrap(), pack_vocabulary(crlf.as_bytes()).unwrap());
    }

    #[test]
    fn every_cut_of_a_section_is_refused() {
        let section = pack_vocabulary(VOCABULARY).unwrap();
        for len in 0..section.len() {
            assert!(WordPiece::open(&section[..len]).is_err(), "{len}");
        }
        let mut longer = section.clone();
        longer.push(0);
        assert!(WordPiece::open(&longer).is_err());
    }

    proptest! {
        #[test]
        fn damaged_bytes_never_panic(
            damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40),
            text in "(\\PC|[a-z!中国]){0,60}",
        ) {
            let mut section = pack_vocabulary(VOCABULARY).unwrap();
            for (at, byte) in damage {
                let at = at.index(section.len());
                section[at] = byte;
            }
            if let Ok(table) = WordPiece::open(&section) {
                let mut ids = Vec::new();
                table.encode(&text, &mut ids);
                prop_assert!(ids.iter().all(|&id| (id as usize) < table.pieces()));
            }
        }
    }
}
