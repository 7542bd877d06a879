//! Judges by learned weights whether a machine made a value or a person chose it as a password.
//! `tools/fit_random.py` computes the same features and writes the weights; a change here needs the same change there.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;
use unicode_normalization::UnicodeNormalization;

/// The weights; the script says what they were fitted to.
const FITTED: &str = include_str!("random.tsv");

/// How many features of a value are weighed, in the order in which the script lists them.
const FEATURES: usize = 33;

/// Signs that join words, numbers and paths as often as they stand in passwords.
const JOINTS: &str = "-_./,:'@";

/// Longer values are judged by their beginning: no feature of a value changes after that.
const MOST_JUDGED: usize = 128;

struct Weights {
    made: [f32; FEATURES],
    chosen: [f32; FEATURES],
    /// Weights of the last letters of a word; `base` and `length` are among them.
    state: HashMap<&'static str, f32>,
    common: HashSet<&'static str>,
    /// Scores below which a share of the values of other kinds stays: `chosen_97`.
    made_bars: [f32; 4],
    chosen_bars: [f32; 4],
    /// Surprise in bits of a letter (column; 0 ends the word) behind another (row; 0 begins the word).
    pairs: Vec<[f32; 27]>,
}

static WEIGHTS: LazyLock<Weights> =
    LazyLock::new(|| parse(FITTED).expect("the weights are for the features"));

/// Reads the weights; none where they are for other features.
fn parse(text: &'static str) -> Option<Weights> {
    let mut weights = Weights {
        made: [0.0; FEATURES],
        chosen: [0.0; FEATURES],
        state: HashMap::new(),
        common: HashSet::new(),
        made_bars: [0.0; 4],
        chosen_bars: [0.0; 4],
        pairs: Vec::new(),
    };
    let (mut made, mut chosen) = (weights.made.iter_mut(), weights.chosen.iter_mut());
    let (mut made_bars, mut chosen_bars) = (weights.made_bars.iter_mut(), weights.chosen_bars.iter_mut());
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut cells = line.split('\t');
        let (table, name, value) = (cells.next()?, cells.next()?, cells.next()?);
        match table {
            "made" => *made.next()? = value.parse().ok()?,
            "chosen" => *chosen.next()? = value.parse().ok()?,
            "state" => drop(weights.state.insert(name, value.parse().ok()?)),
            "common" => drop(weights.common.insert(name)),
            "bar" => {
                let bars = if name.starts_with("made") { &mut made_bars } else { &mut chosen_bars };
                *bars.next()? = value.parse().ok()?;
            }
            "sample" => {}
            "pairs" => {
                let row: Option<Vec<f32>> = value.split(' ').map(|bits| bits.parse().ok()).collect();
                weights.pairs.push(row?.try_into().ok()?);
            }
            _ => return None,
        }
    }
    let is_whole = made.next().is_none()
        && chosen.next().is_none()
        && made_bars.next().is_none()
        && chosen_bars.next().is_none()
        && weights.pairs.len() == 27;
    is_whole.then_some(weights)
}

/// How rare a score must be among values that are no secrets, judged on values that the weights were not fitted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RarityBar {
    /// One of five other values reaches it.
    OneInFive,
    /// One of ten.
    OneInTen,
    /// Three of a hundred.
    ThreeInHundred,
    /// One of a hundred.
    OneInHundred,
}

/// Whether a value looks made, as keys and tokens do.
pub(super) fn is_made(value: &str, bar: RarityBar) -> bool {
    made(value) >= WEIGHTS.made_bars[bar as usize]
}

/// Whether a value looks made or chosen as a password.
pub(super) fn is_chosen(value: &str, bar: RarityBar) -> bool {
    chosen(value) >= WEIGHTS.chosen_bars[bar as usize]
}

/// Log-odds that a machine made the value, as keys and tokens are.
fn made(value: &str) -> f32 {
    score(value, &WEIGHTS.made)
}

/// Log-odds that a machine made the value or a person chose it as a password, against words, numbers and names.
fn chosen(value: &str) -> f32 {
    score(value, &WEIGHTS.chosen)
}

fn score(value: &str, weights: &[f32]) -> f32 {
    let value: Vec<char> = value.chars().take(MOST_JUDGED).collect();
    if value.is_empty() {
        return f32::MIN;
    }
    features(&value, &WEIGHTS.pairs).iter().zip(weights).map(|(feature, weight)| feature * weight).sum()
}

/// Whether a word rather says how a password is (`stored`, `abgelaufen`) than that people choose it as one.
pub(super) fn is_state(word: &str) -> bool {
    is_common(&word.to_lowercase()) || state(word) > 0.0
}

fn state(word: &str) -> f32 {
    let weight = |name: &str| WEIGHTS.state.get(name).copied().unwrap_or(0.0);
    let letters: Vec<char> = word.chars().filter_map(plain).collect();
    let mut sum = weight("base") + weight("length") * word.chars().count() as f32 / 10.0;
    for size in 1..=4 {
        if letters.len() > size {
            let ending: String = letters[letters.len() - size..].iter().chain(&['$']).collect();
            sum += weight(&ending);
        }
    }
    sum
}

/// Whether a word is among the most frequent of the texts that the weights come from.
pub(super) fn is_common(word: &str) -> bool {
    WEIGHTS.common.contains(word)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Digit,
    Capital,
    Small,
    Sign,
}

fn class(c: char) -> Class {
    if c.is_ascii_digit() {
        Class::Digit
    } else if !c.is_alphabetic() {
        Class::Sign
    } else if c.is_uppercase() {
        Class::Capital
    } else {
        Class::Small
    }
}

/// The letter a to z of a character without its marks.
fn plain(c: char) -> Option<char> {
    let base = std::iter::once(c).nfd().next()?.to_ascii_lowercase();
    base.is_ascii_lowercase().then_some(base)
}

/// How many runs a reader sees: digits, capitals, small letters with the capital before them; signs end them.
fn runs(classes: &[Class]) -> usize {
    let (mut count, mut last, mut before) = (0, Class::Sign, Class::Sign);
    for now in classes {
        let begins = last == Class::Capital && *now == Class::Small && before != Class::Capital;
        count += usize::from(*now != Class::Sign && *now != last && !begins);
        (before, last) = (last, *now);
    }
    count
}

/// Mean surprise of the letters of a value, and the mean of the three highest inside its words; those that are missing count as 0.
fn surprise(value: &[char], classes: &[Class], pairs: &[[f32; 27]]) -> (f32, f32) {
    let (mut total, mut count, mut row) = (0.0_f32, 0_u32, 0);
    let mut high = [0.0_f32; 3];
    for at in 0..=value.len() {
        let letter = value.get(at).and_then(|c| plain(*c)).map(|c| usize::from(c as u8 - b'a') + 1);
        let begins_word =
            at > 0 && at < value.len() && classes[at - 1] == Class::Small && classes[at] == Class::Capital;
        if row > 0 && (letter.is_none() || begins_word) {
            total += pairs[row][0];
            count += 1;
            row = 0;
        }
        let Some(letter) = letter else { continue };
        let bits = pairs[row][letter];
        total += bits;
        count += 1;
        if row > 0 {
            high.sort_by(f32::total_cmp);
            high[0] = high[0].max(bits);
        }
        row = letter;
    }
    let mean = if count == 0 { 0.0 } else { total / count as f32 };
    (mean, high.iter().sum::<f32>() / 3.0)
}

/// Shannon's entropy of the characters, in bits each.
fn entropy(value: &[char]) -> f32 {
    let mut sorted = value.to_vec();
    sorted.sort_unstable();
    let all = value.len().max(1) as f32;
    sorted
        .chunk_by(|a, b| a == b)
        .map(|same| {
            let share = same.len() as f32 / all;
            -share * share.log2()
        })
        .sum()
}

fn digits_last(value: &[char]) -> usize {
    value.iter().rev().take_while(|c| c.is_ascii_digit()).count()
}

#[allow(clippy::cast_precision_loss, reason = "a value has at most 128 characters")]
fn features(value: &[char], pairs: &[[f32; 27]]) -> [f32; FEATURES] {
    let n = value.len();
    let classes: Vec<Class> = value.iter().map(|c| class(*c)).collect();
    let count = |class: Class| classes.iter().filter(|one| **one == class).count();
    let flag = |is: bool| f32::from(u8::from(is));
    let share = |part: usize| part as f32 / n as f32;
    let (digits, capitals, small) = (count(Class::Digit), count(Class::Capital), count(Class::Small));
    let letters = capitals + small;
    let is_letter = |at: usize| matches!(classes[at], Class::Capital | Class::Small);
    let is_joint = |c: char| JOINTS.contains(c);
    let joints = value.iter().filter(|c| is_joint(**c)).count();
    let (mean, top) = surprise(value, &classes, pairs);
    let per = share(runs(&classes));
    let is_hex = n >= 6
        && digits > 0
        && !(capitals > 0 && small > 0)
        && value.iter().all(|c| c.is_ascii_hexdigit() || *c == '-');
    let inside = (1..n).filter(|at| classes[*at] == Class::Capital && is_letter(at - 1)).count();
    let leet = (1..n.saturating_sub(1))
        .filter(|at| classes[*at] == Class::Digit && is_letter(at - 1) && is_letter(at + 1))
        .count();
    let spread = (1..n.saturating_sub(1)).filter(|at| classes[*at] == Class::Sign && !is_joint(value[*at]));
    let core = n - value.iter().rev().take_while(|c| "!?*#$%&+.".contains(**c)).count();
    let core = &value[..core];
    let is_year = digits_last(core) == 4
        && letters >= 3
        && matches!(core[core.len() - 4..core.len() - 2], ['1', '9'] | ['2', '0']);
    let longest =
        classes.split(|c| matches!(c, Class::Digit | Class::Sign)).map(<[Class]>::len).max().unwrap_or(0);
    let vowels = value.iter().filter(|c| plain(**c).is_some_and(|c| "aeiouy".contains(c))).count();
    let long = n.saturating_sub(12).min(20) as f32 / 20.0;
    let words = value.split(|c| matches!(c, '-' | '_' | '.'));
    let words = words.filter(|word| word.len() >= 3 && word.iter().all(|c| c.is_alphabetic())).count();
    [
        1.0,
        (n as f32).ln(),
        flag(n >= 16),
        mean,
        top,
        share(digits),
        per,
        flag(per > 1.0 / 3.0),
        share(inside),
        (n - digits - letters - joints).min(3) as f32,
        joints.min(4) as f32,
        flag(is_hex),
        flag(digits == n),
        entropy(value),
        flag(capitals > 0 && small > 0 && digits > 0),
        flag(is_year),
        flag((1..=3).contains(&digits_last(value)) && letters >= 3),
        leet.min(3) as f32 / 3.0,
        flag(small == 0 && letters > 0),
        flag(digits > 0 && letters == 0 && joints > 0),
        share(longest),
        flag(classes[n - 1] == Class::Sign && !is_joint(value[n - 1])),
        share(letters),
        mean * long,
        per * long,
        flag(is_hex && n >= 20),
        flag(letters >= 4 && vowels * 5 < letters),
        spread.count().min(3) as f32,
        flag(value.iter().any(|c| !c.is_ascii() && c.is_alphabetic() && plain(*c).is_none())),
        flag(letters == n),
        flag(classes[0] == Class::Capital),
        flag(letters == 1 && digits > 1),
        flag(words >= 3),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_those_of_the_script() {
        let samples = FITTED.lines().filter_map(|line| line.strip_prefix("sample\t"));
        let mut count = 0;
        for sample in samples {
            let (value, scores) = sample.split_once('\t').unwrap();
            let scores: Vec<f32> = scores.split(' ').map(|score| score.parse().unwrap()).collect();
            assert!((made(value) - scores[0]).abs() < 0.02, "{value}: {} is not {}", made(value), scores[0]);
            assert!(
                (chosen(value) - scores[1]).abs() < 0.02,
                "{value}: {} is not {}",
                chosen(value),
                scores[1]
            );
            count += 1;
        }
        assert!(count > 10);
    }

    #[test]
    fn weights_of_other_features_are_refused() {
        assert!(parse(FITTED).is_some());
        let more: &'static str = FITTED.replacen("\nchosen", "\nmade\tother\t1.0\nchosen", 1).leak();
        assert!(parse(more).is_none());
        assert!(parse(FITTED.split_once("pairs").unwrap().0).is_none());
        assert!(parse("").is_none());
    }

    #[test]
    fn machines_make_what_nobody_reads() {
        let check = |value: &str, expected: bool| {
            assert_eq!(is_made(value, RarityBar::OneInHundred), expected, "{value}");
        };
        check("7Gk2pQ9xVb4LmT8wZc1R", true);
        check("3f2a91c07be45d6688a1f0c2", true);
        check("getUserAccessToken2FromVault1", false);
        check("kubernetes-cluster-24-east-1", false);
        check("HTTPServerErrorHandler20", false);
        check("aaaaaaaaaaaaaaaa11", false);
        check("", false);
    }

    #[test]
    fn people_choose_what_they_can_type() {
        let check = |value: &str, expected: bool| {
            assert_eq!(is_chosen(value, RarityBar::ThreeInHundred), expected, "{value}");
        };
        for value in ["Sommer2024!", "Tr0ub4dor&3", "p@ssw0rd1", "Xk9#mQ2v!"] {
            check(value, true);
        }
        for value in ["gespeichert", "2026-03-01", "v1.24.0", "web-01", "src/main.rs", "8080", "ada@acme.org"]
        {
            check(value, false);
        }
    }

    #[test]
    fn entropy_is_shannons() {
        // One of four equally likely signs is two bits; one sign alone none.
        let bits = |text: &str| entropy(&text.chars().collect::<Vec<_>>());
        assert!((bits("abcd") - 2.0).abs() < 1e-6 && bits("aaaa") == 0.0 && bits("") == 0.0);
    }
}
