//! Groups near-duplicate hits: the best of a group represents it and the others are listed with it.
//! Nothing is dropped. Texts of close meaning that differ in a number, a name or a negation are not grouped for it: "port 8080"
//! and "port 9090" are similar, and one is wrong. Of long chunks, one that mostly repeats another is a duplicate all the same.

use std::collections::HashSet;
use std::hash::Hasher;
use std::ops::Range;

use super::words::{LEAST_RUNS, runs};

/// Least cosine of texts with the same content (Bowerbird's first version: from .95 one supersedes the other).
pub const SAME: f32 = 0.95;

/// Returns the numbers of a text as one hash: its words with a digit, ignoring case, order and repetition. A
/// date, a time, a version or a decimal is one number. Two sets share a hash once in 2^64; 0 is a text without numbers.
pub fn numbers(text: &str) -> u64 {
    let mut numbers: Vec<String> = Vec::new();
    for word in text.split(|letter: char| !letter.is_alphanumeric() && !JOINTS.contains(&letter)) {
        if !word.contains(char::is_numeric) {
            continue;
        }
        // "port:8080" is a word and a number, "10:30" a number, "8080." the end of a sentence.
        let mut start = 0;
        for (at, joint) in word.char_indices().filter(|(_, letter)| JOINTS.contains(letter)) {
            let end = at + joint.len_utf8();
            let is_within =
                word[..at].ends_with(char::is_numeric) && word[end..].starts_with(char::is_numeric);
            if !is_within {
                numbers.push(word[start..at].to_lowercase());
                start = end;
            }
        }
        numbers.push(word[start..].to_lowercase());
    }
    numbers.retain(|number| number.contains(char::is_numeric));
    numbers.sort_unstable();
    numbers.dedup();
    if numbers.is_empty() { 0 } else { hash(numbers.iter().map(String::as_str)) }
}

/// The parts of a text that must be equal in a duplicate: numbers, negations, names.
#[derive(Clone, Debug, Default)]
pub struct Print {
    numbers: u64,
    denials: usize,
    /// The words in lower case, a space around each.
    words: String,
    /// Ranges of words with a capital within a sentence, spaces included.
    names: Vec<Range<usize>>,
}

impl Print {
    /// Reads a text's parts.
    pub fn of(text: &str) -> Self {
        let mut print = Self { numbers: numbers(text), words: " ".to_owned(), ..Self::default() };
        let mut opens = true;
        for word in text.split_whitespace() {
            let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
            let bare = ["'s", "’s"].iter().find_map(|tail| bare.strip_suffix(tail)).unwrap_or(bare);
            let start = print.words.len();
            if bare.is_ascii() {
                print.words.push_str(bare);
                print.words[start..].make_ascii_lowercase();
            } else {
                print.words.push_str(&bare.to_lowercase());
            }
            let lower = &print.words[start..];
            print.denials += usize::from(DENIALS.contains(&lower) || lower.ends_with("n't"));
            if !lower.is_empty() {
                print.words.push(' ');
            }
            if !opens && bare.starts_with(char::is_uppercase) && bare.chars().count() > 1 {
                print.names.push(start - 1..print.words.len());
            }
            opens = word.ends_with(['.', '!', '?', ':']);
        }
        print
    }

    /// Whether two texts have the same numbers, names and negations.
    pub fn fits(&self, other: &Self) -> bool {
        let says = |one: &Self, two: &Self| {
            one.names.iter().all(|name| two.words.contains(&one.words[name.clone()]))
        };
        self.numbers == other.numbers
            && self.denials == other.denials
            && says(self, other)
            && says(other, self)
    }
}

/// Words that negate.
const DENIALS: [&str; 7] = ["cannot", "neither", "never", "no", "nor", "not", "without"];

/// Characters that may join the digits of one number.
const JOINTS: [char; 5] = ['.', ',', ':', '-', '/'];

fn hash<'a>(terms: impl Iterator<Item = &'a str>) -> u64 {
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    for term in terms {
        hash.write(term.as_bytes());
        hash.write(&[0xFF]); // no byte of UTF-8: ends the term
    }
    hash.finish()
}

/// Least cosine of two chunks of which one may repeat the other. It saves reading the texts of all others.
pub const OVERLAPS: f32 = 0.7;
/// Least share of a chunk's runs that the other has if it repeats the other.
const REPEATED: f32 = 0.5;

/// The runs of five words of a text, as hashes. They find the same text again whatever its borders are, such as in a copy of a
/// page in another format.
///
/// Source: Broder, "On the resemblance and containment of documents", SEQUENCES 1997 (containment of shingles).
#[derive(Clone, Debug)]
pub struct Runs(HashSet<u64>);

impl Runs {
    /// Reads a text's runs.
    pub fn of(text: &str) -> Self {
        Self(runs(text).into_iter().collect())
    }

    /// Whether most of the text stands in another.
    pub fn repeat(&self, other: &Self) -> bool {
        let repeated = self.0.intersection(&other.0).count();
        self.0.len() >= LEAST_RUNS && repeated as f32 >= REPEATED * self.0.len() as f32
    }
}

/// FNV-1a, 64 bits (Fowler, Noll, Vo). It is equal on every machine and in every version, because the order of hits
/// depends on it.
struct Fnv(u64);

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// Groups a list of `count` hits, best first, by a similarity of their positions. Returns the positions of each group's
/// members, best first; groups are in the order of their best members.
///
/// A hit joins the first group whose best member it resembles. Similarity is not transitive (a like b, b like c), so
/// that a chain of small changes does not merge many hits. At most n * groups comparisons.
pub fn groups(count: usize, is_same: &dyn Fn(usize, usize) -> bool) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for hit in 0..count {
        match groups.iter_mut().find(|group| is_same(group[0], hit)) {
            Some(group) => group.push(hit),
            None => groups.push(vec![hit]),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(a: &str, b: &str, expected: bool) {
        assert_eq!(numbers(a) == numbers(b), expected, "{a} / {b}");
    }

    #[test]
    fn texts_with_the_same_numbers_may_be_the_same() {
        check("a b c", "nothing at all", true);
        check("port 8080", "port 9090", false);
        check("port 8080", "the port was 8080, port: 8080.", true);
        check("port 8080", "port", false);
        check("version 1.5 of 2", "version 2 of 1.5", true);
        check("version 1.5", "version 5.1", false);
        check("on 2023-05-08 at 10:30", "on 2023-08-05 at 10:30", false);
        check("it takes 1,000 s", "it takes 1 000 s", false);
        check("model M4", "model m4", true);
        check("(8080)", "`8080`", true);
        check("½ a cup", "¼ a cup", false);
        check("٣ cups", "٤ cups", false);
        assert_eq!((numbers(""), numbers("no. of items: many - or few")), (0, 0));
    }

    #[test]
    fn names_and_denials_tell_apart() {
        let fits = |one: &str, two: &str| Print::of(one).fits(&Print::of(two));
        assert!(fits("The relay is safe to restart", "it is safe to restart the relay!"));
        assert!(!fits("The relay is safe to restart", "The relay is not safe to restart"));
        assert!(!fits("The contact is Bo Lind", "The contact is Bo Lind. Ada Brandt set it up."));
        assert!(fits("we use redis", "We use Redis's") && !fits("port 8080", "port 9090"));
        assert!(fits("", "") && fits("A b", "a B"));
        // Words match only as a whole, and ignoring case.
        assert!(!fits("ask Bo", "ask Bob") && !fits("ask Bob", "ask Bo") && !fits("ask Ann", "ask Joann"));
        assert!(fits("in ΟΔΟΣ", "in οδος") && fits("'(-) in Bern", "bern in"));
    }

    #[test]
    fn a_text_is_found_again_in_a_longer_one() {
        let runs = |words: Range<usize>, mark: &str| {
            let words: Vec<String> = words.map(|nth| format!("w{nth}{mark}")).collect();
            Runs::of(&words.join(" "))
        };
        // 26 of the copy's 36 runs stand in the page, and 26 of the page's 56 in the copy.
        let (page, copy) = (runs(0..60, ""), runs(30..70, ","));
        assert!(copy.repeat(&page) && !page.repeat(&copy));
        assert!(runs(0..24, "").repeat(&page) && !runs(0..23, "").repeat(&page));
        assert!(!Runs::of("").repeat(&page));
    }

    #[test]
    fn prints_are_the_published_fnv() {
        // FNV-1a of "a" is af63dc4c8601ec8c (draft-eastlake-fnv, test vectors).
        let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
        hash.write(b"a");
        assert_eq!(hash.finish(), 0xaf63_dc4c_8601_ec8c);
    }

    #[test]
    fn the_best_stands_for_its_group_and_likeness_is_not_handed_on() {
        // 0 ~ 1 ~ 2, but 0 is not like 2; 3 is like 2.
        let like = |one: usize, two: usize| [(0, 1), (1, 2), (2, 3)].contains(&(one, two));
        assert_eq!(groups(4, &like), [vec![0, 1], vec![2, 3]]);
        assert!(groups(0, &like).is_empty());
    }
}
