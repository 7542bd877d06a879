//! Finds codes and words that restore an account: recovery codes, backup codes, seed phrases of wallets.
//! A seed phrase may stand alone: twelve small words and more in a row, none of which joins others.

use std::ops::Range;

use super::super::random::{RarityBar, is_chosen, is_common};
use super::found::{Found, SecretKind};
use super::labels::{LabelClass, LabelHit};
use super::values::Labelled;
use super::words::after;

/// BIP 39: 12 to 24 words.
const LEAST_SEED: usize = 12;
const MOST_SEED: usize = 24;
/// Where a text names the phrase, some may be missing.
const LEAST_NAMED: usize = 6;
/// Among twelve words of a list of 2,048 a few are frequent ones.
const MOST_COMMON: usize = 2;
/// Codes stand at most so many bytes behind their name; services print ten or sixteen.
const MOST_BYTES: usize = 800;

impl Labelled<'_> {
    /// Codes and phrases behind words for them.
    pub(super) fn restoring(&self, found: &mut Vec<Found>) {
        let mut done = 0;
        for hit in self.hits {
            if hit.at.start < done || !self.is_near(&hit.at, LabelClass::Recovery) {
                continue;
            }
            let is_seed = matches!(hit.class, LabelClass::Phrase | LabelClass::Recovery);
            match hit.class {
                LabelClass::Code => self.codes(hit.at.end, found),
                LabelClass::Key if self.is_behind(hit, LabelClass::Recovery) => self.codes(hit.at.end, found),
                _ if is_seed => {
                    if let Some(at) = self.named_seed(hit) {
                        done = at.end;
                        found.push(Found { at, kind: SecretKind("recovery phrase") });
                    }
                }
                _ => {}
            }
        }
    }

    /// Whether a word of a class stands right before another: `recovery key`.
    fn is_behind(&self, hit: &LabelHit, class: LabelClass) -> bool {
        let at = self.hits.partition_point(|other| other.at.start < hit.at.start);
        self.hits[..at].last().is_some_and(|other| other.class == class && other.at.end + 1 >= hit.at.start)
    }

    /// Groups of letters and digits in a row, over lines and bullets.
    fn codes(&self, from: usize, found: &mut Vec<Found>) {
        const FAR: usize = 8;
        let mut end = self.text.len().min(from + MOST_BYTES);
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let (mut first, mut other, mut is_told) = (true, 0, true);
        for word in self.text[from..end]
            .split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '/' | '、' | '|'))
        {
            let value = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
            let is_number = value.len() <= 2 && value.bytes().all(|b| b.is_ascii_digit());
            if is_code(value) && (!first || is_told || is_chosen(value, RarityBar::OneInTen)) {
                let at = value.as_ptr() as usize - self.text.as_ptr() as usize;
                found.push(Found { at: at..at + value.len(), kind: SecretKind("recovery code") });
                (first, other) = (false, 0);
            } else if !is_number {
                other += 1;
                // A sentence may stand between the name and the codes; between codes only a word that joins.
                if other > if first { FAR } else { 1 } {
                    return;
                }
            }
            let at = word.as_ptr() as usize - self.text.as_ptr() as usize;
            is_told = is_number && is_told || word.ends_with([':', '：', '=']) || self.is_told_at(at);
        }
    }

    fn is_told_at(&self, at: usize) -> bool {
        let from = self.hits.partition_point(|hit| hit.at.start < at);
        self.hits.get(from).is_some_and(|hit| hit.at.start == at && hit.class == LabelClass::Tells)
    }

    /// The words behind `seed phrase:` or `recovery phrase is`, which numbers and commas may part.
    fn named_seed(&self, label: &LabelHit) -> Option<Range<usize>> {
        let after = after(self.text, &label.at);
        let told =
            after.words.iter().take(6).position(|word| self.tells(word)).map(|nth| after.words[nth].at.end);
        let least = if label.class == LabelClass::Phrase { LEAST_NAMED } else { LEAST_SEED };
        let first = after.words.first()?.at.start;
        let from = if after.is_assigned { first } else { told.unwrap_or(first) };
        if label.class == LabelClass::Recovery && !after.is_assigned {
            return None;
        }
        let mut end = self.text.len().min(from + MOST_BYTES);
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let (mut range, mut count, mut common): (Option<Range<usize>>, usize, usize) = (None, 0, 0);
        for word in self.text[from..end].split_whitespace() {
            let value = word.trim_matches(|c: char| !c.is_alphabetic());
            let at = value.as_ptr() as usize - self.text.as_ptr() as usize;
            let is_word =
                value.chars().count() >= 3 && value.chars().all(|c| c.is_alphabetic() && !c.is_uppercase());
            common += usize::from(is_common(value));
            if is_word && common <= MOST_COMMON {
                range = Some(range.map_or(at, |range| range.start)..at + value.len());
                count += 1;
            } else if !value.is_empty() {
                break;
            }
            if word.ends_with('.') && is_word {
                break;
            }
        }
        range.filter(|_| count >= least)
    }
}

/// Letters and digits in one to eight groups: a digit or only capitals in it, and no date or time.
fn is_code(value: &str) -> bool {
    let letters = value.bytes().filter(u8::is_ascii_alphabetic).count();
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let joints = value.len() - letters - digits;
    let groups = value.split(['-', '.']).collect::<Vec<_>>();
    let is_date = letters == 0
        && groups.len() == 3
        && groups.iter().all(|group| group.len() <= 4)
        && digits <= 8
        && groups[0].len() != groups[1].len();
    let is_year = letters == 0 && joints == 0 && value.len() == 4 && value.starts_with("20");
    (4..=64).contains(&value.len())
        && value.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.'))
        && joints <= 8
        && (digits > 0 || value.bytes().all(|b| !b.is_ascii_lowercase()) && letters >= 8)
        && !is_date
        && !is_year
}

/// Seed phrases that nothing names: they fill a line, or what a colon or quotation mark opens; numbers may stand between.
pub(super) fn bare_seeds(text: &str, found: &mut Vec<Found>) {
    for line in text.split(['\n', ':', '"', '\'', '`', '“', '”']) {
        let mut words: Vec<&str> = Vec::new();
        let is_row = line.split_ascii_whitespace().all(|word| {
            let value = word.trim_end_matches('.');
            let is_word = (3..=8).contains(&value.len()) && value.bytes().all(|b| b.is_ascii_lowercase());
            if is_word {
                words.push(value);
            }
            is_word || word.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b')'))
        });
        let is_row = is_row && !line.trim().contains("  ");
        let common = words.iter().filter(|word| is_common(word)).count();
        let mut distinct = words.clone();
        distinct.sort_unstable();
        distinct.dedup();
        if is_row
            && (LEAST_SEED..=MOST_SEED).contains(&words.len())
            && common <= MOST_COMMON
            && distinct.len() + 2 >= words.len()
        {
            let place = |word: &str| word.as_ptr() as usize - text.as_ptr() as usize;
            let last = words[words.len() - 1];
            found.push(Found {
                at: place(words[0])..place(last) + last.len(),
                kind: SecretKind("recovery phrase"),
            });
        }
    }
}
