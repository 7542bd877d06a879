//! Scores how much of a question stands in a short text: a path, a file's name, a line, a tag.
//! Stop words of the question do not count. All texts are compared in one scan, so a word's rarity is its rarity among
//! the scanned texts.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use super::analyze::{Analyzer, Purpose, TermShape};
use super::language::Language;
use super::query::query_terms;

/// Most words of a question that are used; the rest of a pasted text names no file.
const MOST_WORDS: usize = 32;

/// Match of words of which one begins with the other, and the least number of letters (`config` and `configuration`).
const BEGINS: (f32, usize) = (0.75, 4);

/// Match of words with one typing error, and the least number of letters.
const MISTYPED: (f32, usize) = (0.7, 5);

/// Weight of the text's surroundings (folders, headings).
const AROUND: f32 = 0.5;

/// Weight of a word in no scanned text, relative to a word in one text. The question is about more than the texts
/// contain, but most words of a natural question name no file.
const UNKNOWN: f32 = 0.5;

/// A word of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedWord {
    /// The indexed term.
    pub term: String,
    /// The folded word before stemming.
    pub folded: String,
    /// The written word, in lower case.
    pub shown: String,
}

/// Returns the distinct words of a question without its stop words, in order. Wholes of compounds are left out, their
/// parts are kept.
pub fn asked_words(question: &str, language: Language) -> Vec<AskedWord> {
    let kept: HashSet<String> =
        query_terms(question, &[language]).into_iter().map(|term| term.term).collect();
    let mut seen = HashSet::new();
    let mut words = Vec::new();
    Analyzer::new(language).each(question, Purpose::Query, |found| {
        if found.shape != TermShape::Joined && kept.contains(found.term) && seen.insert(found.term.to_owned())
        {
            words.push(AskedWord {
                term: found.term.to_owned(),
                folded: found.folded.to_owned(),
                shown: question[found.at.clone()].to_lowercase(),
            });
        }
        if words.len() < MOST_WORDS { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    words
}

/// How a scan compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    /// Names of files: prefixes and typing errors match too, and other words in the name lower the score.
    Names,
    /// Lines of text: only whole words match.
    Lines,
}

/// Byte classes for the quick check.
const SIGN: u8 = 0;
const LOWER: u8 = 1;
const UPPER: u8 = 2;
const DIGIT: u8 = 3;
const BEYOND: u8 = 4;
const KINDS: [u8; 256] = {
    let mut kinds = [SIGN; 256];
    let mut byte = 0;
    while byte < 256 {
        kinds[byte] = match byte as u8 {
            b'a'..=b'z' => LOWER,
            b'A'..=b'Z' => UPPER,
            b'0'..=b'9' => DIGIT,
            0x80..=0xFF => BEYOND,
            _ => SIGN,
        };
        byte += 1;
    }
    kinds
};

/// A scan over many short texts for one question. Push each text once, then [`AskedScan::finish`].
#[derive(Debug)]
pub struct AskedScan {
    words: Vec<AskedWord>,
    compare: Compare,
    analyzer: Analyzer,
    /// For each first byte, the words that begin with it: bit n is word n.
    firsts: [u32; 256],
    /// For each word, the number of its first letters that every word with its stem shares.
    needs: Vec<usize>,
    /// The last surroundings, with each word's match in them.
    around: (String, Vec<f32>),
    /// Cached comparisons of runs of letters and digits in names, because names repeat their words.
    known: HashMap<String, Compared>,
    scanned: u64,
    /// Number of texts with each word, surroundings included.
    frequencies: Vec<u64>,
    hits: Vec<Hit>,
    /// For each hit, one match (0..1) per word.
    matches: Vec<f32>,
}

/// The comparison of a text with the question.
#[derive(Clone, Debug, Default)]
struct Compared {
    /// The words in it, with their match.
    matches: Vec<(usize, f32)>,
    /// Number of its own words.
    count: u32,
    /// Sum of the matches of its own words.
    covered: f32,
}

#[derive(Clone, Copy, Debug)]
struct Hit {
    id: u64,
    /// The share of the text's own words that match.
    covered: f32,
}

impl AskedScan {
    /// Starts a scan for a question.
    pub fn new(question: &str, language: Language, compare: Compare) -> Self {
        let words = asked_words(question, language);
        let mut firsts = [0; 256];
        for (nth, word) in words.iter().enumerate() {
            firsts[usize::from(word.folded.as_bytes()[0])] |= 1 << nth;
        }
        Self {
            around: (String::new(), vec![0.0; words.len()]),
            frequencies: vec![0; words.len()],
            needs: words.iter().map(needs).collect(),
            words,
            compare,
            analyzer: Analyzer::new(language),
            firsts,
            known: HashMap::new(),
            scanned: 0,
            hits: Vec::new(),
            matches: Vec::new(),
        }
    }

    /// Whether the question has no usable word.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Adds a text with the caller's number for it and its surroundings. Consecutive texts with the same surroundings
    /// are cheapest.
    pub fn push(&mut self, id: u64, text: &str, around: &str) {
        self.scanned += 1;
        if self.around.0 != around {
            let mut matches = vec![0.0; self.words.len()];
            if self.touches(around) {
                for (nth, part) in self.compared(around).matches {
                    matches[nth] = part;
                }
            }
            self.around = (around.to_owned(), matches);
        }
        let touches = self.touches(text);
        if !touches && self.around.1.iter().all(|&part| part == 0.0) {
            return;
        }
        let compared = if touches { self.compared(text) } else { Compared::default() };
        let covered = compared.covered / compared.count.max(1) as f32;
        let base = self.matches.len();
        self.matches.resize(base + self.words.len(), 0.0);
        for (nth, part) in compared.matches {
            self.matches[base + nth] = part;
        }
        let mut any = false;
        for (nth, part) in self.matches[base..].iter_mut().enumerate() {
            *part = part.max(AROUND * self.around.1[nth]);
            self.frequencies[nth] += u64::from(*part > 0.0);
            any |= *part > 0.0;
        }
        if any {
            self.hits.push(Hit { id, covered });
        } else {
            self.matches.truncate(base);
        }
    }

    /// Returns every text that contains a word of the question, best first, ties by number; scores are 0..1.
    ///
    /// The score is the matched share of the question over the scanned texts. Words are weighted by ln(1 + (n - f + .5)
    /// / (f + .5)) (the rarity of BM25). For names it is multiplied by (1 + the matched share of the name) / 2.
    pub fn finish(self) -> Vec<(u64, f32)> {
        let rarity = |frequency: u64| {
            let (all, with) = (self.scanned as f32, frequency as f32);
            (1.0 + (all - with + 0.5) / (with + 0.5)).ln()
        };
        let weights: Vec<f32> = self
            .frequencies
            .iter()
            .map(|&frequency| if frequency == 0 { UNKNOWN * rarity(1) } else { rarity(frequency) })
            .collect();
        let sum: f32 = weights.iter().sum();
        let width = self.words.len().max(1);
        let mut scored: Vec<(u64, f32)> = self
            .hits
            .iter()
            .zip(self.matches.chunks_exact(width))
            .map(|(hit, parts)| {
                let asked: f32 =
                    weights.iter().zip(parts).map(|(weight, part)| weight * part).sum::<f32>() / sum;
                let score = match self.compare {
                    Compare::Names => asked * f32::midpoint(1.0, hit.covered),
                    Compare::Lines => asked,
                };
                (hit.id, score.clamp(0.0, 1.0))
            })
            .collect();
        scored.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        scored
    }

    /// Whether any word of the text could match: a quick check without analysis. It may be true too often, but is never
    /// wrongly false.
    fn touches(&self, text: &str) -> bool {
        let bytes = text.as_bytes();
        let asks_beyond_ascii = self.firsts[0x80..].iter().any(|&words| words != 0);
        let mut before = SIGN;
        for (at, &byte) in bytes.iter().enumerate() {
            let kind = KINDS[usize::from(byte)];
            // A word begins after a sign, at every capital, and between letters and digits.
            let begins = kind == UPPER || (kind != before && (before, kind) != (UPPER, LOWER));
            before = kind;
            if kind == SIGN || !begins {
                continue;
            }
            if kind == BEYOND {
                // Latin letters and compatibility forms may fold to ASCII; other characters match only themselves.
                if asks_beyond_ascii || (text.is_char_boundary(at) && folds(&text[at..])) {
                    return true;
                }
                before = SIGN;
                continue;
            }
            let mut words = self.firsts[usize::from(byte.to_ascii_lowercase())];
            while words != 0 {
                let nth = words.trailing_zeros() as usize;
                words &= words - 1;
                if self.could_match(&bytes[at..word_end(bytes, at)], nth) {
                    return true;
                }
            }
        }
        false
    }

    /// Whether a word (ASCII) begins like word `nth` or, in names, may equal it except for a typing error.
    fn could_match(&self, word: &[u8], nth: usize) -> bool {
        let asked = self.words[nth].folded.as_bytes();
        let shared = word.iter().zip(asked).take_while(|(a, b)| a.to_ascii_lowercase() == **b).count();
        shared >= self.needs[nth].min(word.len())
            || (self.compare == Compare::Names && is_mistyped(word, asked))
    }

    /// Compares a text with the question. Plain names are compared run by run, because nearly all of their words are cached.
    fn compared(&mut self, text: &str) -> Compared {
        if self.compare == Compare::Lines || !text.is_ascii() {
            return self.analysed(text);
        }
        let mut all = Compared::default();
        for run in text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|run| !run.is_empty()) {
            if !self.touches(run) {
                all.count += pieces(run);
                continue;
            }
            if !self.known.contains_key(run) {
                let compared = self.analysed(run);
                self.known.insert(run.to_owned(), compared);
            }
            let known = &self.known[run];
            all.count += known.count;
            all.covered += known.covered;
            for &(nth, part) in &known.matches {
                match all.matches.iter_mut().find(|(word, _)| *word == nth) {
                    Some((_, best)) => *best = best.max(part),
                    None => all.matches.push((nth, part)),
                }
            }
        }
        all
    }

    /// Compares a text by analysing all of it.
    fn analysed(&mut self, text: &str) -> Compared {
        let Self { words, compare, analyzer, .. } = self;
        let mut matches = vec![0.0_f32; words.len()];
        let mut all = Compared::default();
        analyzer.each(text, Purpose::Index, |found| {
            let mut best = 0.0_f32;
            for (word, known) in words.iter().zip(&mut matches) {
                let part = if found.term == word.term {
                    1.0
                } else if *compare == Compare::Names {
                    likeness(found.folded, &word.folded)
                } else {
                    0.0
                };
                *known = known.max(part);
                best = best.max(part);
            }
            if found.shape != TermShape::Joined {
                all.count += 1;
                all.covered += best;
            }
            ControlFlow::Continue(())
        });
        all.matches = matches.into_iter().enumerate().filter(|(_, part)| *part > 0.0).collect();
        all
    }
}

/// Returns the number of words in a run of letters and digits that matches nothing: its humps, or one if digits make it a name.
fn pieces(run: &str) -> u32 {
    if run.bytes().any(|byte| byte.is_ascii_digit()) {
        return 1;
    }
    let (mut at, mut count) = (0, 0);
    while at < run.len() {
        at = word_end(run.as_bytes(), at);
        count += 1;
    }
    count
}

/// Returns the number of letters that a word shares with its stem, without a final i (`tries` and `trying` share `tri`).
/// It is at most 4, which is selective enough, and 1 for the English stemmer's few exceptions (`dying` is `die`).
fn needs(word: &AskedWord) -> usize {
    if word.term.len() <= 3 && word.term.ends_with("ie") {
        return 1;
    }
    let shared = word.term.bytes().zip(word.folded.bytes()).take_while(|(a, b)| a == b).count();
    let shared = shared - usize::from(word.term.as_bytes()[..shared].ends_with(b"i"));
    shared.clamp(1, 4)
}

/// Returns the similarity of two different words in names.
fn likeness(a: &str, b: &str) -> f32 {
    let shorter = a.len().min(b.len());
    if shorter >= BEGINS.1 && (a.starts_with(b) || b.starts_with(a)) {
        return BEGINS.0;
    }
    if is_mistyped(a.as_bytes(), b.as_bytes()) { MISTYPED.0 } else { 0.0 }
}

/// Whether one inserted, missing, wrong or swapped letter turns `a` into `b`, ignoring case. The words must have at
/// least five letters, begin alike and be no numbers: `8080` is not a mistyped `8081`.
fn is_mistyped(a: &[u8], b: &[u8]) -> bool {
    if a.len().min(b.len()) < MISTYPED.1 || a.len().abs_diff(b.len()) > 1 {
        return false;
    }
    let same = |(a, b): (&u8, &u8)| a.eq_ignore_ascii_case(b);
    let head = a.iter().zip(b).take_while(|&(a, b)| same((a, b))).count();
    let (rest_a, rest_b) = (&a[head..], &b[head..]);
    if head == 0 || rest_a.iter().chain(rest_b).take(2).any(u8::is_ascii_digit) {
        return false;
    }
    let deltas = |a: &[u8], b: &[u8]| a.len() == b.len() && a.iter().zip(b).all(same);
    match (rest_a, rest_b) {
        ([], []) => false,
        (longer, shorter) if longer.len() > shorter.len() => deltas(&longer[1..], shorter),
        (shorter, longer) if shorter.len() < longer.len() => deltas(shorter, &longer[1..]),
        ([a0, a1, a_rest @ ..], [b0, b1, b_rest @ ..])
            if same((a0, b1)) && same((a1, b0)) && !same((a0, a1)) =>
        {
            deltas(a_rest, b_rest)
        }
        (a, b) => deltas(&a[1..], &b[1..]),
    }
}

/// Returns the end of the run of letters or of digits at `at`. The words of `getUserName` and `HTTPServer` are their humps.
fn word_end(bytes: &[u8], at: usize) -> usize {
    let mut end = at + 1;
    while end < bytes.len() && bytes[end].is_ascii_alphanumeric() {
        let (before, here) = (bytes[end - 1], bytes[end]);
        let next_is_lower = bytes.get(end + 1).is_some_and(u8::is_ascii_lowercase);
        let hump = here.is_ascii_uppercase() && (before.is_ascii_lowercase() || next_is_lower);
        if hump || before.is_ascii_digit() != here.is_ascii_digit() {
            break;
        }
        end += 1;
    }
    end
}

/// Whether the text's first character may fold to ASCII letters: Latin letters and compatibility forms.
fn folds(text: &str) -> bool {
    text.chars().next().is_some_and(|c| {
        matches!(u32::from(c), 0x80..=0x24F | 0x1D00..=0x1FFF | 0x2070..=0x24FF | 0xFB00..=0xFB06 | 0xFF00..=0xFF5E)
            || matches!(u32::from(c), 0x300..=0x36F | 0x1_D400..=0x1_D7FF | 0x1_F100..=0x1_F1FF)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ENGLISH: Language = Language::English;

    fn scan(question: &str, compare: Compare, texts: &[(&str, &str)]) -> Vec<(u64, f32)> {
        let mut scan = AskedScan::new(question, ENGLISH, compare);
        for (nth, (text, around)) in texts.iter().enumerate() {
            scan.push(nth as u64, text, around);
        }
        scan.finish()
    }

    fn names(question: &str, texts: &[(&str, &str)]) -> Vec<u64> {
        scan(question, Compare::Names, texts).into_iter().map(|(id, _)| id).collect()
    }

    #[test]
    fn a_question_keeps_its_words_with_their_shapes() {
        let words = asked_words("What are the Policies of getUserName, policies?", ENGLISH);
        let shown: Vec<_> = words.iter().map(|word| format!("{}/{}", word.term, word.folded)).collect();
        assert_eq!(shown, ["polici/policies", "get/get", "user/user", "name/name"]);
        assert_eq!(asked_words("Ärger", ENGLISH)[0].shown, "ärger");
        assert_eq!(asked_words(&"w1 w2 ".repeat(9), ENGLISH).len(), 2);
        assert!(asked_words(" ", ENGLISH).is_empty());
    }

    #[test]
    fn the_score_by_hand() {
        // Two texts; retri in one, polici in one, gateway in none.
        // Rarity of 1 in 2: ln(1 + 1.5/1.5) = ln 2 = w; of the unknown: w/2. Sum: 2.5 w.
        // 0: both words, the whole name: 2/2.5 = .8. 1: nothing.
        let found = scan("retry policy gateway", Compare::Names, &[("retry-policy", ""), ("notes", "")]);
        assert_eq!(found.len(), 1);
        assert!(found[0].0 == 0 && (found[0].1 - 0.8).abs() < 1e-6, "{found:?}");
        // A name with as many other words: (1 + .5)/2 of it.
        let found =
            scan("retry policy gateway", Compare::Names, &[("retry-policy-for-all", ""), ("notes", "")]);
        assert!((found[0].1 - 0.6).abs() < 1e-6, "{found:?}");
        // As a line, its other words do not lower the score.
        let found =
            scan("retry policy gateway", Compare::Lines, &[("retry policy for all", ""), ("notes", "")]);
        assert!((found[0].1 - 0.8).abs() < 1e-6, "{found:?}");
        // In the folder alone: half of each word and no share of the name: .4 * .5.
        let found =
            scan("retry policy gateway", Compare::Names, &[("readme", "retry/policy"), ("notes", "")]);
        assert!((found[0].1 - 0.2).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn names_match_by_words_beginnings_and_with_an_error() {
        let files = [
            ("retryPolicy", "src"),
            ("RetryingPolicies", "src"),
            ("configuration", "etc"),
            ("CANONICAL", "memory"),
            ("résumé", "docs"),
            ("東京都", "docs"),
            ("report-8081", "docs"),
        ];
        for (question, expected) in [
            ("retry policy", vec![0, 1]),
            ("config", vec![2]),
            ("configuraiton", vec![2]),
            ("canonicl", vec![3]),
            ("resume", vec![4]),
            ("Résumés", vec![4]),
            ("東京", vec![5]),
            ("8080", vec![]),
            ("8081", vec![6]),
            ("docs", vec![4, 5, 6]),
            ("con", vec![]),
            ("the", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(names(question, &files), expected, "{question}");
        }
    }

    #[test]
    fn lines_match_by_whole_words() {
        let lines = [("| port | 8080 |", "Ports"), ("| hosts | alpha |", "Hosts"), ("configured", "Hosts")];
        let found = scan("which port?", Compare::Lines, &lines);
        assert_eq!(found.iter().map(|hit| hit.0).collect::<Vec<_>>(), [0]);
        assert!(scan("config", Compare::Lines, &lines).is_empty(), "a beginning is no word");
        assert_eq!(scan("host", Compare::Lines, &lines).iter().map(|hit| hit.0).collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn one_error_is_one_error() {
        for (a, b, expected) in [
            ("policy", "polixy", true),
            ("policy", "poilcy", true),
            ("policy", "policyy", true),
            ("policy", "polcy", true),
            ("policy", "policy", false),
            ("policy", "pulixy", false),
            ("policy", "olicy", false),
            ("port", "pors", false),
            ("v20240", "v20241", false),
            ("abcde", "abced", true),
            ("abcdef", "abdecf", false),
        ] {
            assert_eq!(is_mistyped(a.as_bytes(), b.as_bytes()), expected, "{a} {b}");
            assert_eq!(is_mistyped(b.as_bytes(), a.as_bytes()), expected, "{b} {a}");
        }
    }

    /// The definition of [`is_mistyped`] after its guards: optimal string alignment distance 1.
    fn distance(a: &[u8], b: &[u8]) -> usize {
        let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
        for i in 0..=a.len() {
            for j in 0..=b.len() {
                table[i][j] = if i == 0 || j == 0 {
                    i + j
                } else {
                    let differs = usize::from(a[i - 1] != b[j - 1]);
                    let mut least =
                        (table[i - 1][j] + 1).min(table[i][j - 1] + 1).min(table[i - 1][j - 1] + differs);
                    if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                        least = least.min(table[i - 2][j - 2] + 1);
                    }
                    least
                };
            }
        }
        table[a.len()][b.len()]
    }

    proptest! {
        #[test]
        fn the_quick_error_check_is_the_definition(a in "x[ab]{4,7}", b in "x[ab]{4,7}") {
            prop_assert_eq!(is_mistyped(a.as_bytes(), b.as_bytes()), distance(a.as_bytes(), b.as_bytes()) == 1);
        }

        #[test]
        fn the_quick_look_never_loses_a_match(
            question in "(policy|policies|retry|tries|tie|get|Config|naïve|東京|v2|8080|going|c|x){1} ?[a-zé]{0,7}",
            text in "[a-zA-Z0-9é東京 ._-]{0,6}(policy|Policies|retries|trying|tying|GetUser|configs|naive|東京都|V2|8080|goes|polciy)[a-zA-Z0-9_-]{0,3}",
        ) {
            for compare in [Compare::Names, Compare::Lines] {
                let mut scan = AskedScan::new(&question, ENGLISH, compare);
                let matches = scan.analysed(&text).matches;
                prop_assert!(matches.is_empty() || scan.touches(&text), "{} / {}: {:?}", question, text, matches);
            }
        }

        #[test]
        fn names_run_by_run_match_as_the_analysis_has_it(
            name in "((retry|Policies|getUser|HTTPServer|config|polciy|notes|v20|p53)[-_ ]){1,5}(polic|x20|GOING|tries)",
        ) {
            let mut scan = AskedScan::new("retry policy user server configuration v20 going", ENGLISH, Compare::Names);
            let (mut fast, mut slow) = (scan.compared(&name), scan.analysed(&name));
            fast.matches.sort_unstable_by_key(|(word, _)| *word);
            slow.matches.sort_unstable_by_key(|(word, _)| *word);
            prop_assert_eq!(fast.matches, slow.matches);
        }

        #[test]
        fn no_text_is_too_strange(question in "\\PC{0,40}", text in "\\PC{0,40}", around in "\\PC{0,20}") {
            for (_, score) in scan(&question, Compare::Names, &[(&text, &around), (&around, &text)]) {
                prop_assert!((0.0..=1.0).contains(&score));
            }
        }
    }
}
