//! Searches every file for the bytes of some words: in UTF-8 and UTF-16, in any case and spacing.
//! It reads files as they are on the disk and trusts no index. It queries only the text index, whose words are not written
//! out.

use aho_corasick::{AhoCorasick, MatchKind};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use unicode_normalization::UnicodeNormalization;

use crate::engine::Engine;
use crate::engine::indexes::LANGUAGE;
use crate::error::{Error, Result};
use crate::graph;
use crate::item::{RowId, Visibility};
use crate::request::{Residue, ResidueFile, ResidueTerm};
use crate::store::AliasRow;
use crate::text::{Analyzer, Purpose};

/// Letters of a piece. A longer text is searched in pieces: a text that takes several pages of a file is not contiguous
/// there.
const PIECE: usize = 48;

/// Bytes around a position that decide whether a piece is there: four for each letter, and some white space.
const AROUND: usize = 8 << 10;

/// Bytes read at once.
const BLOCK: usize = 1 << 20;

/// Most items that are named.
const MOST_ITEMS: usize = 100;

/// Probability that a random byte is a certain letter, in either case.
const LETTER: f64 = 2.0 / 256.0;

/// If fewer matches by chance than this are expected in all that was read, any match counts.
const NO_CHANCE: f64 = 0.01;

/// Encoding of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    Utf8,
    Utf16Le,
    Utf16Be,
}

/// A part of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    /// A letter, in lower case.
    Letter(char),
    /// White space of any length, or its escape in JSON.
    Space,
}

/// A piece of one of the texts.
#[derive(Debug)]
struct SearchedText {
    text: usize,
    marks: Vec<Mark>,
}

/// The bytes by which a piece is noticed, and their position in it.
#[derive(Debug)]
struct Anchor {
    piece: usize,
    at: usize,
    encoding: Encoding,
}

/// Finds texts in bytes.
#[derive(Debug)]
pub(crate) struct Finder {
    texts: usize,
    pieces: Vec<SearchedText>,
    anchors: Vec<Anchor>,
    automaton: AhoCorasick,
}

impl Finder {
    /// Creates a finder for some texts; a text without a letter is found nowhere.
    pub(crate) fn new(texts: &[&str]) -> Result<Self> {
        let mut pieces = Vec::new();
        for (text, words) in texts.iter().enumerate() {
            // Text that looks the same may have two Unicode forms.
            let forms: BTreeSet<String> = [words.nfc().collect(), words.nfd().collect()].into();
            pieces.extend(
                forms.iter().flat_map(|form| pieces_of(form)).map(|marks| SearchedText { text, marks }),
            );
        }
        let (mut anchors, mut patterns) = (Vec::new(), Vec::new());
        for (piece, found) in pieces.iter().enumerate() {
            let (at, forms) = anchor(&found.marks);
            for form in forms {
                for encoding in [Encoding::Utf8, Encoding::Utf16Le, Encoding::Utf16Be] {
                    anchors.push(Anchor { piece, at, encoding });
                    patterns.push(encode(&form, encoding));
                }
            }
        }
        let automaton = automaton(&patterns)?;
        Ok(Self { texts: texts.len(), pieces, anchors, automaton })
    }

    /// Counts the pieces whose anchor begins in a range of the bytes, by encoding.
    fn look(&self, bytes: &[u8], within: std::ops::Range<usize>, found: &mut [[u64; 3]]) {
        let counts = found;
        for found in self.automaton.find_overlapping_iter(bytes) {
            let anchor = &self.anchors[found.pattern().as_usize()];
            let marks = &self.pieces[anchor.piece].marks;
            if within.contains(&found.start())
                && stands(bytes, found.start(), &marks[anchor.at..], anchor.encoding)
                && stood(bytes, found.start(), &marks[..anchor.at], anchor.encoding)
            {
                counts[anchor.piece][anchor.encoding as usize] += 1;
            }
        }
    }

    /// Returns for each text how often it is in the bytes.
    pub(crate) fn count(&self, bytes: &[u8]) -> Vec<u64> {
        let mut found = vec![[0; 3]; self.pieces.len()];
        self.look(bytes, 0..bytes.len(), &mut found);
        self.of_texts(&found)
    }

    /// Returns the counts for all bytes of a reader, and the number of bytes.
    pub(crate) fn count_in(&self, mut file: impl Read) -> io::Result<(Vec<u64>, u64)> {
        let mut found = vec![[0; 3]; self.pieces.len()];
        let (mut window, mut from, mut total) = (Vec::new(), 0, 0);
        loop {
            let before = window.len();
            (&mut file).take(BLOCK as u64).read_to_end(&mut window)?;
            let read = window.len() - before;
            total += read as u64;
            // A match at the end may continue in the next block.
            let until = if read == 0 { window.len() } else { window.len().saturating_sub(AROUND).max(from) };
            self.look(&window, from..until, &mut found);
            if read == 0 {
                return Ok((self.of_texts(&found), total));
            }
            let gone = until.saturating_sub(AROUND);
            window.drain(..gone);
            from = until - gone;
        }
    }

    /// Returns the count of each text: that of its most frequent piece, if at least half of its pieces are found.
    fn of_texts(&self, found: &[[u64; 3]]) -> Vec<u64> {
        let (mut all, mut here, mut most) =
            (vec![0_usize; self.texts], vec![0_usize; self.texts], vec![0; self.texts]);
        for (piece, [narrow, little, big]) in self.pieces.iter().zip(found) {
            // One position may match in both byte orders, a byte apart.
            let count = narrow + little.max(big);
            all[piece.text] += 1;
            here[piece.text] += usize::from(count > 0);
            most[piece.text] = most[piece.text].max(count);
        }
        (0..self.texts).map(|text| if 2 * here[text] >= all[text] { most[text] } else { 0 }).collect()
    }

    /// Returns how often the first piece of a text is expected by chance in that many random bytes.
    fn by_chance(&self, bytes: u64) -> f64 {
        let letters = self.pieces.first().map_or(0, |piece| {
            piece.marks.iter().map(|mark| if let Mark::Letter(c) = mark { c.len_utf8() } else { 1 }).sum()
        });
        bytes as f64 * LETTER.powf(letters as f64)
    }
}

/// Builds an automaton that finds all patterns, ASCII letters in either case.
pub(crate) fn automaton(patterns: &[Vec<u8>]) -> Result<AhoCorasick> {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::Standard)
        .build(patterns)
        .map_err(|cause| Error::invalid("the words to look for", cause.to_string()))
}

/// Joins words up to the length of a piece; divides a longer word.
fn pieces_of(text: &str) -> Vec<Vec<Mark>> {
    let mut pieces: Vec<Vec<Mark>> = Vec::new();
    let mut piece: Vec<Mark> = Vec::new();
    for word in text.split_whitespace() {
        let letters: Vec<Mark> = word.chars().map(|c| Mark::Letter(lower(c))).collect();
        if !piece.is_empty() && piece.len() + 1 + letters.len() > PIECE {
            pieces.push(std::mem::take(&mut piece));
        }
        if !piece.is_empty() {
            piece.push(Mark::Space);
        }
        piece.extend(letters);
        while piece.len() > PIECE {
            let rest = piece.split_off(PIECE);
            pieces.push(std::mem::replace(&mut piece, rest));
        }
    }
    pieces.extend((!piece.is_empty()).then_some(piece));
    pieces
}

/// Returns the position and text of the longest run of ASCII; or the first letter that is not ASCII, in both cases.
fn anchor(marks: &[Mark]) -> (usize, Vec<String>) {
    let (mut best, mut run) = (0..0, 0..0);
    for (at, mark) in marks.iter().enumerate() {
        match mark {
            Mark::Letter(c) if c.is_ascii() => {
                run = if run.end == at && !run.is_empty() { run.start..at + 1 } else { at..at + 1 }
            }
            Mark::Letter(_) | Mark::Space => run = at + 1..at + 1,
        }
        if run.len() > best.len() {
            best = run.clone();
        }
    }
    let letter = |mark: &Mark| if let Mark::Letter(c) = mark { *c } else { ' ' };
    // One or two letters are too frequent, so a letter that is not ASCII is a better anchor.
    let other = marks.iter().position(|mark| !letter(mark).is_ascii());
    match other {
        Some(at) if best.len() < 3 => {
            let c = letter(&marks[at]);
            let forms: BTreeSet<String> = [c.to_string(), c.to_uppercase().collect()].into();
            (at, forms.into_iter().collect())
        }
        _ => (best.start, vec![marks[best].iter().map(letter).collect()]),
    }
}

fn encode(text: &str, encoding: Encoding) -> Vec<u8> {
    match encoding {
        Encoding::Utf8 => text.as_bytes().to_vec(),
        Encoding::Utf16Le => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        Encoding::Utf16Be => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
    }
}

/// Returns a letter in lower case, as one character.
fn lower(c: char) -> char {
    c.to_lowercase().next().unwrap_or(c)
}

/// Returns the character at a position, and its length in bytes.
fn next(bytes: &[u8], at: usize, encoding: Encoding) -> Option<(char, usize)> {
    let unit = |at: usize| {
        let pair = bytes.get(at..at + 2)?;
        let pair = [pair[0], pair[1]];
        Some(if encoding == Encoding::Utf16Le { u16::from_le_bytes(pair) } else { u16::from_be_bytes(pair) })
    };
    if encoding == Encoding::Utf8 {
        let length = match bytes.get(at)? {
            0..0x80 => 1,
            0xC0..0xE0 => 2,
            0xE0..0xF0 => 3,
            0xF0.. => 4,
            _ => return None,
        };
        let c = str::from_utf8(bytes.get(at..at + length)?).ok()?.chars().next()?;
        return Some((c, length));
    }
    let units = std::iter::once(unit(at)?).chain(unit(at + 2));
    let c = char::decode_utf16(units).next()?.ok()?;
    Some((c, 2 * c.len_utf16()))
}

/// Returns the character that ends at a position, and its length in bytes.
fn previous(bytes: &[u8], end: usize, encoding: Encoding) -> Option<(char, usize)> {
    let lengths: &[usize] = if encoding == Encoding::Utf8 { &[1, 2, 3, 4] } else { &[2, 4] };
    lengths.iter().find_map(|&length| {
        let found = next(bytes, end.checked_sub(length)?, encoding)?;
        (found.1 == length).then_some(found)
    })
}

/// Whether a letter behind a backslash means white space in JSON and in source code.
fn is_escaped_space(c: char) -> bool {
    matches!(c, 'n' | 'r' | 't')
}

/// Whether the marks match from a position on.
fn stands(bytes: &[u8], start: usize, marks: &[Mark], encoding: Encoding) -> bool {
    let mut at = start;
    for mark in marks {
        match mark {
            Mark::Letter(wanted) => match next(bytes, at, encoding) {
                Some((c, length)) if lower(c) == *wanted => at += length,
                _ => return false,
            },
            Mark::Space => {
                let begin = at;
                while let Some((c, length)) = next(bytes, at, encoding) {
                    let escaped = || next(bytes, at + length, encoding).filter(|(c, _)| is_escaped_space(*c));
                    if c.is_whitespace() {
                        at += length;
                    } else if let Some((_, more)) = (c == '\\').then(escaped).flatten() {
                        at += length + more;
                    } else {
                        break;
                    }
                    if at - begin > AROUND / 2 {
                        return false;
                    }
                }
                if at == begin {
                    return false;
                }
            }
        }
    }
    true
}

/// Whether the marks match up to a position.
fn stood(bytes: &[u8], end: usize, marks: &[Mark], encoding: Encoding) -> bool {
    let mut at = end;
    for mark in marks.iter().rev() {
        match mark {
            Mark::Letter(wanted) => match previous(bytes, at, encoding) {
                Some((c, length)) if lower(c) == *wanted => at -= length,
                _ => return false,
            },
            Mark::Space => {
                let begin = at;
                while let Some((c, length)) = previous(bytes, at, encoding) {
                    let escape = || previous(bytes, at - length, encoding).filter(|(c, _)| *c == '\\');
                    if c.is_whitespace() {
                        at -= length;
                    } else if let Some((_, more)) = is_escaped_space(c).then(escape).flatten() {
                        at -= length + more;
                    } else {
                        break;
                    }
                    if begin - at > AROUND / 2 {
                        return false;
                    }
                }
                if at == begin {
                    return false;
                }
            }
        }
    }
    true
}

/// Returns every file below a folder, in order; links are not followed.
pub(crate) fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            // It was removed meanwhile.
            Err(source) if source.kind() == io::ErrorKind::NotFound => continue,
            Err(source) => return Err(Error::io("list", &folder, source)),
        };
        for entry in entries {
            let entry = entry.map_err(|source| Error::io("list", &folder, source))?;
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(kind) if kind.is_file() => all.push(entry.path()),
                // A pipe or a socket holds nothing; a link's file is elsewhere, or is found by itself.
                Ok(_) => {}
                Err(source) if source.kind() == io::ErrorKind::NotFound => {}
                Err(source) => return Err(Error::io("read", &entry.path(), source)),
            }
        }
    }
    all.sort_unstable();
    Ok(all)
}

/// Opens a file for reading; `None` if it was removed meanwhile.
pub(crate) fn open(path: &Path) -> Result<Option<File>> {
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(source) if source.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(Error::io("read", path, source)),
    }
}

/// Returns the most matches that count as chance, if `expected` are expected.
fn by_chance_at_most(expected: f64) -> u64 {
    3 + (10.0 * expected) as u64
}

/// Queries the text index: it stores stems with shared beginnings packed, so its bytes do not show them.
fn ask_index(engine: &Engine, words: &str, residue: &mut Residue) -> Result<()> {
    let mut terms: Vec<String> = Vec::new();
    Analyzer::new(LANGUAGE).each(words, Purpose::Index, |found| {
        if !terms.iter().any(|term| term == found.term) {
            terms.push(found.term.to_owned());
        }
        ControlFlow::Continue(())
    });
    let asked = engine.indexes.again(|| {
        let index = engine.indexes.text(&*engine.store)?;
        index.ask(|index| Ok((index.kept_with(&terms)?, index.keeps_dead())))
    })?;
    let Some((rows, keeps_dead)) = asked else { return Ok(()) };
    let has_all = rows.iter().all(|rows| *rows > 0);
    residue.terms = terms.into_iter().zip(rows).map(|(term, rows)| ResidueTerm { term, rows }).collect();
    if has_all && residue.terms.len() > 1 && keeps_dead {
        residue.untold.push(
            "the text index has each of these words, and rows that were replaced since: whether one of those had them all \
             cannot be told"
                .to_owned(),
        );
    }
    Ok(())
}

/// Queries the graph index, which has names and words as numbers: whether a removed row mentions one of the words, or all of them
/// as one name.
fn ask_graph(engine: &Engine, words: &str) -> Result<bool> {
    let keys = graph::entities_of(words);
    let dead = engine.indexes.again(|| {
        let index = engine.indexes.graph(&*engine.store)?;
        index.ask(|index| Ok(index.has_removed(&keys)))
    })?;
    Ok(dead.unwrap_or(false))
}

impl Engine {
    /// Finds the places below the home that have some words, in any file.
    pub fn residue(&self, visibility: &Visibility, words: &str) -> Result<Residue> {
        visibility.check_everything("a search of all files")?;
        let words = words.trim();
        if !words.contains(char::is_alphanumeric) {
            return Err(Error::invalid("residue", "there is no word to look for"));
        }
        let finder = Finder::new(&[words])?;
        let mut residue = Residue::default();
        let models = self.home.join("models");
        for path in files(&self.home)? {
            let Some(file) = open(&path)? else { continue };
            let (matches, bytes) =
                finder.count_in(file).map_err(|source| Error::io("read", &path, source))?;
            residue.searched_files += 1;
            residue.searched_bytes += bytes;
            if matches[0] > 0 {
                let counts = !path.starts_with(&models);
                residue.files.push(ResidueFile { path, matches: matches[0], counts });
            }
        }
        let by_chance = finder.by_chance(residue.searched_bytes);
        if by_chance > NO_CHANCE {
            residue.untold.push(format!(
                "so few letters stand about {} times by chance in {} bytes of numbers: files count from {} matches on",
                by_chance.ceil(),
                residue.searched_bytes,
                by_chance_at_most(by_chance) + 1
            ));
            for file in &mut residue.files {
                file.counts &= file.matches > by_chance_at_most(by_chance);
            }
        }
        if residue.files.iter().any(|file| file.path.starts_with(&models)) {
            residue.untold.push(
                "models/ has the words of every language model's vocabulary; they do not count".to_owned(),
            );
        }
        ask_index(self, words, &mut residue)?;
        if ask_graph(self, words)? {
            residue
                .untold
                .push("the graph index has rows that were replaced or removed, and mention this".to_owned());
        }
        let mut rows: Vec<RowId> = Vec::new();
        self.store.each_text(&mut |row, text| {
            if rows.len() < MOST_ITEMS && finder.count(text.as_bytes())[0] > 0 {
                rows.push(row);
            }
        })?;
        residue.items = self.store.items(&rows)?.into_iter().flatten().map(|item| item.id).collect();
        let quotes =
            |row: &AliasRow| [&row.name, &row.other].iter().any(|name| finder.count(name.as_bytes())[0] > 0);
        let aliases = self.store.aliases()?.into_iter().filter(quotes);
        residue.aliases = aliases.map(|row| format!("{} = {}", row.name, row.other)).collect();
        let is_word = residue.terms.len() == 1 && residue.terms[0].rows > 0;
        residue.found = is_word || !residue.items.is_empty() || residue.files.iter().any(|file| file.counts);
        Ok(residue)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(words: &str, bytes: &[u8]) -> u64 {
        let finder = Finder::new(&[words]).unwrap();
        let whole = finder.count(bytes)[0];
        assert_eq!(finder.count_in(bytes).unwrap(), (vec![whole], bytes.len() as u64), "{words}");
        whole
    }

    fn utf16(text: &str, big: bool) -> Vec<u8> {
        let bytes = |unit: u16| if big { unit.to_be_bytes() } else { unit.to_le_bytes() };
        text.encode_utf16().flat_map(bytes).collect()
    }

    #[test]
    fn words_are_found_in_any_case_encoding_and_spacing() {
        let check = |words: &str, text: &str, times: u64| {
            assert_eq!(count(words, text.as_bytes()), times, "{words} in {text}");
            for big in [false, true] {
                // At an odd position too.
                let wide = [b"x".to_vec(), utf16(text, big)].concat();
                assert_eq!(count(words, &wide), times, "{words} in {text} as UTF-16");
            }
        };
        check("Spare Valve", "the spare\n\tVALVE, a spare valve; sparevalve", 2);
        check("spare valve", r#"{"text":"spare\nvalve spare\\valve"}"#, 1);
        check("ÉTÉ", "l'été Été ÉtÉ ete", 3);
        check("été", "l'e\u{301}te\u{301}", 1);
        check("東京都 の", "東京都\u{3000}の 東京", 1);
        check("😀", "a😀b", 1);
        check("straße", "Straße STRASSE", 1);
        check("valve", "", 0);
        assert_eq!(count("a", b"banAna"), 3);
    }

    #[test]
    fn a_long_text_is_found_though_pages_divide_it() {
        let words: Vec<String> = (0..2_000).map(|n| format!("word{n}x")).collect();
        let text = words.join(" ");
        let torn: Vec<u8> =
            text.as_bytes().chunks(700).flat_map(|part| [part, &[0, 0, 1, 7]].concat()).collect();
        assert_eq!(count(&text, &torn), 1);
        assert_eq!(count(&text, &torn[..torn.len() / 3]), 0, "a third of it is not it");
        let word = "0123456789abcdef".repeat(600);
        assert!(count(&word, &[&b"x".repeat(5_000), word.as_bytes()].concat()) > 0);
    }

    #[test]
    fn blocks_divide_nothing() {
        let mut bytes = vec![b'.'; 3 * BLOCK + 1_000];
        let places = [0, BLOCK - 7, BLOCK - AROUND, 2 * BLOCK - AROUND - 3, 3 * BLOCK - 1, bytes.len() - 11];
        for place in places {
            bytes[place..place + 11].copy_from_slice(b"spare valve");
        }
        assert_eq!(count("spare valve", &bytes), places.len() as u64);
    }

    /// The slow reference: each position and each encoding by itself, without an automaton.
    #[test]
    fn the_automaton_finds_what_each_place_by_itself_does() {
        let mut seed: u64 = 11;
        let mut random = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) as usize % below
        };
        let letters = ['a', 'B', 'é', 'É', ' ', '\n', '東', '😀', '\\', 'n'];
        for _ in 0..400 {
            let mut text =
                |most: usize| (0..random(most)).map(|_| letters[random(letters.len())]).collect::<String>();
            let (words, hay) = (text(4), text(60));
            let mut bytes = hay.clone().into_bytes();
            bytes.extend(utf16(&hay, random(2) == 0));
            let finder = Finder::new(&[&words]).unwrap();
            let times = |piece: &SearchedText, encoding| {
                (0..bytes.len()).filter(|place| stands(&bytes, *place, &piece.marks, encoding)).count() as u64
            };
            let slow: Vec<[u64; 3]> = finder
                .pieces
                .iter()
                .map(|piece| {
                    [Encoding::Utf8, Encoding::Utf16Le, Encoding::Utf16Be].map(|one| times(piece, one))
                })
                .collect();
            assert_eq!(finder.count(&bytes), finder.of_texts(&slow), "{words:?} in {hay:?}");
        }
    }
}
