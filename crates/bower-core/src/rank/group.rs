//! Near-duplicates: the best of a group stands for it and the others are listed with it. Nothing is dropped, and two texts
//! that differ in a number are never one.

use std::hash::Hasher;

use crate::item::{RowId, Scored};

/// Texts at least this close in meaning say the same (systems.md, section 1: from a cosine of .95 one supersedes the other).
pub const SAME: f32 = 0.95;

/// What two texts must share to be called one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Print {
    /// Of the set of its terms.
    words: u64,
    /// Of the set of its terms that hold a digit.
    numbers: u64,
}

impl Print {
    /// The print of a text's terms, in any order, with repetitions. Two sets share a print once in 2^64.
    pub fn of<'a>(terms: impl IntoIterator<Item = &'a str>) -> Self {
        let mut words: Vec<&str> = terms.into_iter().collect();
        words.sort_unstable();
        words.dedup();
        let numbers = words.iter().copied().filter(|term| term.contains(char::is_numeric));
        Self { numbers: hash(numbers), words: hash(words.iter().copied()) }
    }
}

fn hash<'a>(terms: impl Iterator<Item = &'a str>) -> u64 {
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    for term in terms {
        hash.write(term.as_bytes());
        hash.write(&[0xFF]); // no byte of UTF-8: ends the term
    }
    hash.finish()
}

/// FNV-1a, 64 bits (Fowler, Noll, Vo): the same on every machine and in every version, as the order of hits depends on it.
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

/// Whether two texts say the same: the same set of terms, or a cosine of at least `same` and no number in only one of them
/// ("port 8080" and "port 9090" are near in meaning, and one is wrong).
pub fn is_same(a: &Print, b: &Print, cosine: Option<f32>, same: f32) -> bool {
    a.words == b.words || (a.numbers == b.numbers && cosine.is_some_and(|cosine| cosine >= same))
}

/// Hits that say the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The best of them.
    pub best: Scored,
    /// The rest, best first.
    pub others: Vec<Scored>,
}

/// Groups a list, best first, by a likeness of rows; groups stand in the order of their best.
///
/// A hit joins the first group whose best it is like. Likeness is never handed on (a like b, b like c), so that a chain of
/// small changes does not make one of many. At most n * groups comparisons.
pub fn groups(list: &[Scored], is_same: &dyn Fn(RowId, RowId) -> bool) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for &hit in list {
        match groups.iter_mut().find(|group| is_same(group.best.row, hit.row)) {
            Some(group) => group.others.push(hit),
            None => groups.push(Group { best: hit, others: Vec::new() }),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print(text: &str) -> Print {
        Print::of(text.split(' '))
    }

    #[track_caller]
    fn check(a: &str, b: &str, cosine: Option<f32>, expected: bool) {
        assert_eq!(is_same(&print(a), &print(b), cosine, SAME), expected, "{a} / {b}");
        assert_eq!(is_same(&print(b), &print(a), cosine, SAME), expected, "{b} / {a}");
    }

    #[test]
    fn the_same_is_said_in_the_same_words_or_in_the_same_sense() {
        check("a b c", "c a b a", None, true);
        check("a b c", "a b", Some(0.94), false);
        check("a b c", "a b", Some(0.95), true);
        check("port 8080", "port 9090", Some(0.99), false);
        check("port 8080", "port 8080 now", Some(0.99), true);
        check("ab c", "a bc", None, false);
        check("", "", None, true);
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
        let list: Vec<_> = [(5, 0.9), (2, 0.8), (7, 0.7), (1, 0.6)]
            .map(|(row, score)| Scored { row: RowId(row), score })
            .to_vec();
        // 5 ~ 2 ~ 7, but 5 is not like 7; 1 is like 7.
        let like = |a: RowId, b: RowId| [(5, 2), (2, 7), (7, 1)].contains(&(a.0, b.0));
        let got = groups(&list, &like);
        let rows: Vec<_> = got
            .iter()
            .map(|group| (group.best.row.0, group.others.iter().map(|hit| hit.row.0).collect::<Vec<_>>()))
            .collect();
        assert_eq!(rows, [(5, vec![2]), (7, vec![1])]);
        assert_eq!(groups(&[], &like), []);
    }
}
