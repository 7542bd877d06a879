//! Analyses a text into its terms.
//! The index, the delta, the query and the highlighter get the same terms from the same text.

use rust_stemmers::{Algorithm, Stemmer};
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Write;
use std::ops::{ControlFlow, Range};

use super::chars::{self, Class};
use super::detect::language_of;
use super::language::Language;
use super::split;

/// Version of these rules. An index of another version is rebuilt, because its terms would not be found.
pub const ANALYSIS: u32 = 3;

/// Longest term in bytes. A longer one is cut and ends in its hash; the longest words of natural languages are shorter.
const LONGEST_TERM: usize = 64;

/// Most readable bytes of a cut term.
const CUT_TERM: usize = 40;

/// Longest compound of words joined by separators, in bytes. Bounds the cost of `a.b.c…` to linear time.
const LONGEST_COMPOUND: usize = 256;

/// The use of the terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// For the index: every term that a question may contain.
    Index,
    /// For a question: a run of ideographs gives only its pairs, not each character as well.
    Query,
}

/// The origin of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TermShape {
    /// A word, or a part of an identifier or hyphenated word.
    Word,
    /// A whole identifier or compound, in addition to its parts.
    Joined,
    /// One or two characters of a script without spaces.
    Gram,
    /// An emoji or, in a text that contains nothing else, any other sign.
    Sign,
}

/// One occurrence of a term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TermOccurrence<'a> {
    /// The indexed term: folded and stemmed, never empty, at most 64 bytes.
    pub term: &'a str,
    /// The term before stemming.
    pub folded: &'a str,
    /// Its position in the text, in bytes; terms of one compound overlap.
    pub at: Range<usize>,
    /// Its origin.
    pub shape: TermShape,
}

/// The analysis of one language, with its buffers. Any string is valid; the result depends on nothing else.
///
/// Rules: compatibility forms, case and accents are folded. Words are stemmed (Snowball), except words with digits.
/// Apostrophes vanish (`don't` is `dont`, `dog's` is `dog`). Words joined by `_ - . @ &`, camel case or digits give
/// their parts, and also the whole without separators. So `getUserName`, `get_user_name` and `get-user-name` share
/// `getusername`, `e-mail` matches `email`, and `node.js` matches `nodejs`. A separator between two digits stays
/// (`1.2.3`, `2023-05-08`). A hyphenated phrase of three or more plain words (`state-of-the-art`) has no whole: it is a
/// phrase, and its rare whole would outweigh its words. `C++`, `C#` and `.NET` are terms beside `c` and `net`. Scripts
/// without spaces and Hangul give pairs of characters (Lee and Ahn 1996 for Korean); ideographs also single ones.
pub struct Analyzer {
    language: Language,
    latin: Option<Stemmer>,
    cyrillic: Stemmer,
    greek: Stemmer,
    arabic: Stemmer,
    tamil: Stemmer,
    buffers: Buffers,
}

#[derive(Default)]
struct Buffers {
    words: Vec<Range<usize>>,
    parts: Vec<Range<usize>>,
    units: Vec<(Range<usize>, char)>,
    lower: String,
    folded: String,
    term: String,
    whole: String,
}

impl std::fmt::Debug for Analyzer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Analyzer").field("language", &self.language).finish_non_exhaustive()
    }
}

impl Analyzer {
    /// Creates the analysis of a text in its own language.
    pub fn of(text: &str) -> Self {
        Self::new(language_of(text))
    }

    /// Creates the analysis of a language.
    pub fn new(language: Language) -> Self {
        Self {
            language,
            latin: language.latin().map(Stemmer::create),
            cyrillic: Stemmer::create(Algorithm::Russian),
            greek: Stemmer::create(Algorithm::Greek),
            arabic: Stemmer::create(Algorithm::Arabic),
            tamil: Stemmer::create(Algorithm::Tamil),
            buffers: Buffers::default(),
        }
    }

    /// Returns the language passed to [`Analyzer::new`].
    pub fn language(&self) -> Language {
        self.language
    }

    /// Calls `emit` with each term in the order of the text until it breaks.
    pub fn each(
        &mut self,
        text: &str,
        purpose: Purpose,
        mut emit: impl FnMut(TermOccurrence<'_>) -> ControlFlow<()>,
    ) {
        let mut buffers = std::mem::take(&mut self.buffers);
        let _ = self.walk(text, purpose, &mut buffers, &mut emit);
        self.buffers = buffers;
    }

    fn walk(
        &self,
        text: &str,
        purpose: Purpose,
        buffers: &mut Buffers,
        emit: &mut dyn FnMut(TermOccurrence<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut at = 0;
        let mut found = false;
        while let Some(c) = text[at..].chars().next() {
            match chars::class(c) {
                Class::Word => {
                    at = compound(text, at, &mut buffers.words);
                    at = self.words(text, at, buffers, emit, &mut found)?;
                }
                kind @ (Class::Unspaced | Class::Hangul) => {
                    let end = run_end(text, at, kind);
                    grams(text, at..end, purpose, buffers, emit)?;
                    found = true;
                    at = end;
                }
                Class::Pictograph => {
                    let end = at + c.len_utf8();
                    sign(c, at..end, &mut buffers.term, emit)?;
                    found = true;
                    at = end;
                }
                Class::Other if chars::ascii_twin(c) == '.' && is_dot_net(text, at) => {
                    let end = at + c.len_utf8() + 3;
                    emit(TermOccurrence { term: "net", folded: "net", at: at..end, shape: TermShape::Word })?;
                    emit(TermOccurrence {
                        term: ".net",
                        folded: ".net",
                        at: at..end,
                        shape: TermShape::Joined,
                    })?;
                    found = true;
                    at = end;
                }
                Class::Mark | Class::Ignored | Class::Other => at += c.len_utf8(),
            }
        }
        if !found {
            for (at, c) in text.char_indices().filter(|(_, c)| is_sign(*c)) {
                sign(c, at..at + c.len_utf8(), &mut buffers.term, emit)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Emits the terms of the compound whose words are in `buffers.words`; returns where the text continues.
    fn words(
        &self,
        text: &str,
        end: usize,
        buffers: &mut Buffers,
        emit: &mut dyn FnMut(TermOccurrence<'_>) -> ControlFlow<()>,
        found: &mut bool,
    ) -> ControlFlow<(), usize> {
        let Buffers { words, parts, lower, folded, term, whole, .. } = buffers;
        let fold = |word: &str, lower: &mut String, folded: &mut String| {
            lower.clear();
            folded.clear();
            chars::lower(self.bare(word), lower);
            chars::unaccent(lower, folded);
        };
        let start = words[0].start;
        let is_acronym = is_acronym(text, words);
        whole.clear();
        let mut alone = String::new();
        for (nth, word) in words.iter().enumerate() {
            fold(&text[word.clone()], lower, folded);
            if folded.is_empty() {
                continue;
            }
            *found = true;
            if nth > 0 && keeps_separator(text, words[nth - 1].end, word.start, whole, folded) {
                whole.push(chars::ascii_twin(text[words[nth - 1].end..].chars().next().unwrap_or('-')));
            }
            whole.push_str(folded);
            if is_acronym {
                continue;
            }
            split::parts(&text[word.clone()], parts);
            if parts.is_empty() {
                self.stem(lower, folded, term);
                emit(TermOccurrence { term, folded, at: word.clone(), shape: TermShape::Word })?;
                continue;
            }
            alone.clear();
            alone.push_str(folded);
            for part in parts.iter() {
                let at = word.start + part.start..word.start + part.end;
                fold(&text[at.clone()], lower, folded);
                if !folded.is_empty() {
                    self.stem(lower, folded, term);
                    emit(TermOccurrence { term, folded, at, shape: TermShape::Word })?;
                }
            }
            if words.len() == 1 {
                continue; // the whole is emitted below
            }
            self.stem(&alone, &alone, term);
            emit(TermOccurrence { term, folded: &alone, at: word.clone(), shape: TermShape::Joined })?;
        }
        if whole.is_empty() {
            return ControlFlow::Continue(end);
        }
        let has_parts = words.len() > 1 || !parts.is_empty();
        if has_parts && !is_phrase(text, words) {
            self.stem(whole, whole, term);
            emit(TermOccurrence { term, folded: whole, at: start..end, shape: TermShape::Joined })?;
        }
        let Some(suffix) = suffix(text, words) else { return ControlFlow::Continue(end) };
        let last = words[words.len() - 1].clone();
        fold(&text[last.clone()], lower, folded);
        folded.push_str(suffix);
        let end = end + text[end..].chars().take(suffix.len()).map(char::len_utf8).sum::<usize>();
        emit(TermOccurrence { term: folded, folded, at: last.start..end, shape: TermShape::Joined })?;
        ControlFlow::Continue(end)
    }

    /// Removes possessive `'s` and, in French and Italian, an elided article (`l'homme`).
    fn bare<'a>(&self, word: &'a str) -> &'a str {
        let Some((at, quote)) = word.char_indices().find(|&(_, c)| chars::ascii_twin(c) == '\'') else {
            return word;
        };
        let (head, delta) = (&word[..at], &word[at + quote.len_utf8()..]);
        if matches!(delta, "s" | "S") {
            return head;
        }
        let elides = match self.language {
            Language::French => {
                ["l", "d", "j", "m", "n", "s", "t", "c", "qu", "jusqu", "lorsqu", "puisqu"].as_slice()
            }
            Language::Italian => {
                ["l", "d", "c", "un", "all", "dall", "dell", "nell", "sull", "quell", "quest"].as_slice()
            }
            _ => &[],
        };
        if elides.iter().any(|article| head.eq_ignore_ascii_case(article)) { delta } else { word }
    }

    /// Writes the indexed form of a word to `term`: its stem without accents, cut if it is too long.
    fn stem(&self, lower: &str, folded: &str, term: &mut String) {
        term.clear();
        if folded.len() > LONGEST_TERM {
            let cut = (0..=CUT_TERM).rev().find(|&at| folded.is_char_boundary(at)).unwrap_or(0);
            term.push_str(&folded[..cut]);
            write!(term, "~{:016x}", hash(folded)).expect("a string can always be written to");
            return;
        }
        let Some(first) = lower.chars().next() else { return };
        if lower.chars().any(|c| c.is_numeric() || (c.is_ascii() && !c.is_ascii_alphanumeric())) {
            term.push_str(folded);
            return;
        }
        let stem = match u32::from(first) {
            0..=0x24F | 0x1E00..=0x1EFF if self.language.latin() == Some(Algorithm::English) => {
                // English words lose their accents before stemming, all others after it, because their stemmers use accents.
                if folded.is_ascii() {
                    self.stem_english(folded, term);
                } else {
                    term.push_str(folded);
                }
                return;
            }
            0..=0x24F | 0x1E00..=0x1EFF => {
                self.latin.as_ref().map_or_else(|| lower.into(), |latin| latin.stem(lower))
            }
            0x370..=0x3FF | 0x1F00..=0x1FFF => self.greek.stem(lower),
            0x400..=0x52F => self.cyrillic.stem(lower),
            0x600..=0x6FF => self.arabic.stem(lower),
            0xB80..=0xBFF => self.tamil.stem(lower),
            _ => lower.into(),
        };
        chars::unaccent(&stem, term);
        if term.is_empty() {
            term.push_str(folded);
        }
    }

    /// Stems an English word, with a cache. Stemming takes two thirds of the analysis, and a look-up a tenth of stemming.
    fn stem_english(&self, folded: &str, term: &mut String) {
        STEMS.with_borrow_mut(|stems| {
            if let Some(stem) = stems.get(folded) {
                term.push_str(stem);
                return;
            }
            let stem = self.latin.as_ref().map_or_else(|| folded.into(), |latin| latin.stem(folded));
            term.push_str(&stem);
            if stems.len() >= REMEMBERED {
                stems.clear();
            }
            stems.insert(folded.to_owned(), stem.into_owned());
        });
    }
}

/// Most stems in a thread's cache; when it is full it is cleared. Most words of a text occur in the text before it.
const REMEMBERED: usize = 8_192;

thread_local! {
    static STEMS: RefCell<HashMap<String, String>> = RefCell::default();
}

/// Returns 64 bits of a string: FNV-1a, then the finaliser of `MurmurHash3` so that every bit depends on every byte. It
/// must never change: deltas, cut terms and the keys of entities store it.
pub fn hash(text: &str) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in text.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    }
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}

/// Collects the words of the compound that starts at `at` into `words`, cleared first; returns its end.
fn compound(text: &str, mut at: usize, words: &mut Vec<Range<usize>>) -> usize {
    words.clear();
    let start = at;
    loop {
        let end = word_end(text, at);
        words.push(at..end);
        if end - start > LONGEST_COMPOUND {
            return end;
        }
        let mut rest = text[end..].chars();
        let Some(separator) = rest.next() else { return end };
        let mut next = end + separator.len_utf8();
        let joins = match chars::ascii_twin(separator) {
            '_' => {
                let run: usize = rest.take_while(|c| chars::ascii_twin(*c) == '_').map(char::len_utf8).sum();
                next += run;
                true
            }
            '-' | '.' | '@' | '&' => true,
            ':' => digit_before(text, end) && digit_after(text, next),
            '/' => {
                is_single(&text[at..end]) && next < text.len() && is_single(&text[next..word_end(text, next)])
            }
            _ => false,
        };
        if !joins || !word_starts(text, next) {
            return end;
        }
        at = next;
    }
}

/// Returns the end of the word at `at`: letters, digits, their marks, apostrophes inside, commas between thousands.
fn word_end(text: &str, at: usize) -> usize {
    let mut end = at;
    for (offset, c) in text[at..].char_indices() {
        let next = at + offset + c.len_utf8();
        let inside = match chars::class(c) {
            Class::Word | Class::Mark | Class::Ignored => true,
            Class::Other => match chars::ascii_twin(c) {
                '\'' => word_starts(text, next) && !digit_before(text, at + offset),
                ',' => is_thousands(&text[at..at + offset], &text[next..]),
                _ => false,
            },
            Class::Unspaced | Class::Hangul | Class::Pictograph => false,
        };
        if !inside {
            break;
        }
        end = next;
    }
    end
}

fn word_starts(text: &str, at: usize) -> bool {
    text[at..].chars().next().is_some_and(|c| chars::class(c) == Class::Word)
}

fn digit_before(text: &str, at: usize) -> bool {
    text[..at].chars().next_back().is_some_and(char::is_numeric)
}

fn digit_after(text: &str, at: usize) -> bool {
    text[at..].chars().next().is_some_and(char::is_numeric)
}

fn is_single(word: &str) -> bool {
    word.chars().filter(|c| chars::class(*c) == Class::Word).take(2).count() == 1
}

/// Whether a comma between these is that of `1,000`: up to three digits before it, exactly three after it.
fn is_thousands(before: &str, after: &str) -> bool {
    let group = before.rsplit(',').next().unwrap_or("");
    let is_first = group.len() == before.len();
    let digits = after.bytes().take(4).take_while(u8::is_ascii_digit).count();
    let good = if is_first { (1..=3).contains(&group.len()) } else { group.len() == 3 };
    good && group.bytes().all(|b| b.is_ascii_digit()) && digits == 3
}

/// Whether single letters are joined by dots to one word: `U.S.A.`, `e.g.`.
fn is_acronym(text: &str, words: &[Range<usize>]) -> bool {
    words.len() > 1
        && words.iter().all(|word| is_single(&text[word.clone()]) && !digit_after(text, word.start))
        && words.windows(2).all(|pair| &text[pair[0].end..pair[1].start] == ".")
}

/// Whether three or more lower-case words are joined by hyphens: `state-of-the-art`.
fn is_phrase(text: &str, words: &[Range<usize>]) -> bool {
    words.len() > 2
        && words.iter().all(|word| text[word.clone()].chars().all(|c| !c.is_numeric()))
        && words
            .windows(2)
            .all(|pair| text[pair[0].end..pair[1].start].chars().all(|c| chars::ascii_twin(c) == '-'))
}

/// Whether the joined form keeps the separator: between digits, because `1.23` and `12.3` would be equal, and `&`.
fn keeps_separator(text: &str, from: usize, to: usize, before: &str, after: &str) -> bool {
    let digits = before.ends_with(char::is_numeric) && after.starts_with(char::is_numeric);
    digits || text[from..to].starts_with(['&', '＆'])
}

/// Returns `++` or `#` directly after the compound if that makes a name: `C++`, `g++`, `C#`, `F#`.
fn suffix(text: &str, words: &[Range<usize>]) -> Option<&'static str> {
    let last = words.last()?;
    let mut rest = text[last.end..].chars().map(chars::ascii_twin);
    let found = match (rest.next()?, rest.next()) {
        ('+', Some('+')) if last.len() <= LONGEST_TERM - 2 => "++",
        ('#', next) if is_single(&text[last.clone()]) => {
            return (!next.is_some_and(|c| chars::class(c) == Class::Word)).then_some("#");
        }
        _ => return None,
    };
    (!rest.next().is_some_and(|c| chars::class(c) == Class::Word || c == '+')).then_some(found)
}

/// Whether this is a separate `.NET`; after a word it is part of the compound (`ASP.NET`).
fn is_dot_net(text: &str, dot: usize) -> bool {
    let after = &text[dot..][text[dot..].chars().next().map_or(0, char::len_utf8)..];
    after.get(..3).is_some_and(|name| matches!(name, "NET" | "Net" | "net"))
        && !word_starts(after, 3)
        && !text[..dot].ends_with(|c: char| chars::class(c) == Class::Word || c == '.')
}

fn is_sign(c: char) -> bool {
    !c.is_whitespace() && !c.is_control() && chars::class(c) != Class::Ignored
}

fn sign(
    c: char,
    at: Range<usize>,
    term: &mut String,
    emit: &mut dyn FnMut(TermOccurrence<'_>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    term.clear();
    term.push(chars::ascii_twin(c));
    emit(TermOccurrence { term, folded: term, at, shape: TermShape::Sign })
}

fn run_end(text: &str, at: usize, kind: Class) -> usize {
    let inside = |c: char| chars::class(c) == kind || chars::is_attached(c);
    text[at..].find(|c| !inside(c)).map_or(text.len(), |len| at + len)
}

/// Emits pairs of characters of a run of one script without spaces; a run of one character gives it alone.
fn grams(
    text: &str,
    run: Range<usize>,
    purpose: Purpose,
    buffers: &mut Buffers,
    emit: &mut dyn FnMut(TermOccurrence<'_>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    use unicode_normalization::UnicodeNormalization;
    let Buffers { units, term, .. } = buffers;
    units.clear();
    let mut at = run.start;
    while at < run.end {
        let mut rest = text[at..run.end].chars();
        let mut end = at + rest.next().map_or(0, char::len_utf8);
        for c in rest.take_while(|c| chars::is_attached(*c)) {
            end += c.len_utf8();
        }
        let shown = text[at..end].chars().filter(|c| chars::class(*c) != Class::Ignored);
        units.extend(shown.nfkc().map(|c| (at..end, c)));
        at = end;
    }
    let single = units.len() == 1;
    for (nth, (at, c)) in units.iter().enumerate() {
        if single || (purpose == Purpose::Index && chars::is_ideograph(*c)) {
            term.clear();
            term.push(*c);
            emit(TermOccurrence { term, folded: term, at: at.clone(), shape: TermShape::Gram })?;
        }
        if let Some((next, second)) = units.get(nth + 1) {
            term.clear();
            term.extend([*c, *second]);
            emit(TermOccurrence { term, folded: term, at: at.start..next.end, shape: TermShape::Gram })?;
        }
    }
    ControlFlow::Continue(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn terms(text: &str, language: Language) -> Vec<String> {
        let mut all = Vec::new();
        Analyzer::new(language).each(text, Purpose::Index, |found| {
            all.push(found.term.to_owned());
            ControlFlow::Continue(())
        });
        all
    }

    fn check(text: &str, expected: &str) {
        assert_eq!(terms(text, Language::English).join(" "), expected, "{text}");
    }

    /// Uses more different words than the cache holds, each twice: the result always equals the stemmer's.
    #[test]
    fn a_stem_that_is_remembered_is_the_stem() {
        let letters = |mut n: usize| -> String {
            std::iter::repeat_with(|| (char::from(b'b' + (n % 20) as u8), n /= 20).0).take(4).collect()
        };
        let words: Vec<String> = (0..10_000)
            .flat_map(|n| ["s", "ing", "ed", "ness"].map(|end| letters(n / 2) + "a" + end))
            .collect();
        let stemmer = Stemmer::create(Algorithm::English);
        let mut at = 0;
        Analyzer::new(Language::English).each(&words.join(" "), Purpose::Index, |found| {
            assert_eq!(found.term, stemmer.stem(&words[at]));
            at += 1;
            ControlFlow::Continue(())
        });
        assert_eq!(at, words.len());
    }

    #[test]
    fn words_are_folded_and_stemmed() {
        check("The Réunions, of CAFÉS: running!", "the reunion of cafe run");
        check("Straße STRASSE ｆｕｌｌ　ｗｉｄｔｈ", "strass strass full width");
        check("don't dog's dogs’ O'Reilly", "dont dog dog reilli oreilli");
        check("1,000 12,34 1,000,000", "1000 12 34 1000000");
        check("Привет миру мир", "привет мир мир");
        check("", "");
    }

    #[test]
    fn identifiers_are_found_whole_and_by_parts() {
        check("getUserName get_user_name", "get user name getusernam get user name getusernam");
        check("HTTPServer2", "http server 2 httpserver2");
        check("e-mail email", "e mail email email");
        check("kebab-case", "kebab case kebabcas");
        check("state-of-the-art", "state of the art");
        check("C++ C# F# g++ c", "c c++ c c# f f# g g++ c");
        check(".NET ASP.NET", "net .net asp net aspnet");
        check("node.js v1.2.3", "node js nodej v1 2 3 v1.2.3");
        check("a/b TCP/IP", "a b ab tcp ip");
        check("pve-01 2023-05-08 10:30", "pve 01 pve01 2023 05 08 2023-05-08 10 30 10:30");
        check("U.S.A. e.g. R&D", "usa eg r d r&d");
        check("john.doe@example.com", "john doe exampl com johndoeexamplecom");
        check("https://docs.rs/a_b", "https doc rs docsr a b ab");
        check("3f2a9bc41d iPhone PCRs", "3f2a9bc41d phone iphon pcrs");
    }

    #[test]
    fn scripts_without_spaces_give_pairs() {
        check("東京都", "東 東京 京 京都 都");
        check("ｶﾞﾗｽ", "ガラ ラス");
        check("猫", "猫");
        check("학교에서 집", "학교 교에 에서 집");
        check("ภาษา", "ภา าษ ษา");
        check("日本のRust言語", "日 日本 本 本の rust 言 言語 語");
    }

    #[test]
    fn signs_are_terms_where_nothing_else_is() {
        check("*", "*");
        check("\" =>", "\" = >");
        check("party 🎉👍🏽", "parti 🎉 👍");
        check("a * b", "a b");
        check(" \t\n\u{200b}", "");
    }

    #[test]
    fn other_languages_keep_their_accents_until_stemmed() {
        assert_eq!(terms("l'école des élèves", Language::French), ["ecol", "de", "elev"]);
        assert_eq!(terms("Häuser Haus", Language::German), ["haus", "haus"]);
    }

    #[test]
    fn long_words_are_cut_but_stay_distinct() {
        let (a, b) = (format!("{}1", "x".repeat(5_000)), format!("{}2", "x".repeat(5_000)));
        let (a, b) = (terms(&a, Language::English), terms(&b, Language::English));
        assert!(a.iter().chain(&b).all(|term| term.len() <= LONGEST_TERM), "{a:?}");
        assert_ne!(a.last(), b.last());
        let chain = "ab.".repeat(100_000);
        assert!(terms(&chain, Language::English).len() < 102_000);
    }

    #[test]
    fn the_hash_never_changes() {
        // FNV-1a of "" and "a" (its published test vectors), through MurmurHash3's published finaliser.
        assert_eq!(hash(""), 0xefd0_1f60_ba99_2926);
        assert_eq!(hash("a"), 0x82a2_a958_a9be_ce5b);
    }

    proptest! {
        #[test]
        fn any_text_is_valid(text in any::<String>(), language in prop::sample::select(Language::ALL)) {
            Analyzer::new(language).each(&text, Purpose::Index, |found| {
                assert!(!found.term.is_empty() && found.term.len() <= LONGEST_TERM);
                assert!(!text[found.at.clone()].is_empty());
                ControlFlow::Continue(())
            });
        }

        #[test]
        fn any_mix_of_what_matters_is_valid(
            text in "[a-zA-Z0-9_.'’,#+&@/: \u{301}éßıİğñöüżабвйёαβςाкिकதமிழ்عرب東カｶﾞ한🎉👍\u{200d}-]{0,60}",
            language in prop::sample::select(Language::ALL),
        ) {
            let first = terms(&text, language);
            prop_assert_eq!(&first, &terms(&text, language));
            if text.chars().any(char::is_alphanumeric) {
                prop_assert!(!first.is_empty());
            }
        }
    }
}
