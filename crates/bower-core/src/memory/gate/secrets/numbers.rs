//! Finds numbers that belong to one person: payment cards, bank accounts, national ids, passports, driving licences.
//! Cards and accounts carry their check digits; other numbers count beside a word for them (`ids.tsv`).

use std::ops::Range;

use super::found::{Found, SecretKind};
use super::labels::{LabelClass, PersonalNumber, personal_number};
use super::values::Labelled;
use super::words::after;

/// Card numbers anywhere: their issuer's first digits and Luhn's check digit (ISO/IEC 7812).
pub(super) fn cards(text: &str, found: &mut Vec<Found>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let groups = groups(text, at);
        let end = groups.last().map_or(at + 1, |group| group.end);
        let is_open = !text[..at]
            .ends_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | ',' | '+' | '_' | '-'))
            && !text[end..].starts_with(|c: char| c.is_alphabetic() || c == '_');
        at = end;
        if !is_open {
            continue;
        }
        let mut first = 0;
        while first < groups.len() {
            let ends = (first..groups.len().min(first + 8)).rev();
            let card = ends.map(|last| first..last + 1).find(|part| is_card(text, &groups[part.clone()]));
            let Some(part) = card else {
                first += 1;
                continue;
            };
            found.push(Found {
                at: groups[part.start].start..groups[part.end - 1].end,
                kind: SecretKind("payment card"),
            });
            first = part.end;
        }
    }
}

/// Groups of digits with one space or hyphen between them.
fn groups(text: &str, from: usize) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut groups = Vec::new();
    let mut at = from;
    loop {
        let end = at + bytes[at..].iter().take_while(|b| b.is_ascii_digit()).count();
        if end == at {
            return groups;
        }
        groups.push(at..end);
        if !bytes.get(end).is_some_and(|b| matches!(b, b' ' | b'-')) {
            return groups;
        }
        at = end + 1;
    }
}

fn is_card(text: &str, groups: &[Range<usize>]) -> bool {
    let length: usize = groups.iter().map(Range::len).sum();
    // One group, four of four, or 4-6-5 and 4-6-4: what is cut otherwise is another number.
    let is_cut = groups.len() == 1
        || groups.iter().all(|group| (4..=6).contains(&group.len())) && groups[0].len() == 4;
    if !is_cut || !(13..=19).contains(&length) {
        return false;
    }
    let digits: String = groups.iter().map(|group| &text[group.clone()]).collect();
    is_issued(&digits) && luhn(&digits) && !is_shown(&digits)
}

/// Whether one group is repeated: `4242 4242 4242 4242` is what payment services print in their manuals.
fn is_shown(digits: &str) -> bool {
    digits.as_bytes().chunks(4).all(|four| digits.as_bytes().starts_with(four))
}

/// Whether a row of digits begins as the cards of the large issuers do, at their length.
fn is_issued(digits: &str) -> bool {
    let first = |count: usize| digits.get(..count).and_then(|first| first.parse::<u32>().ok()).unwrap_or(0);
    match digits.len() {
        13 | 19 if first(1) == 4 => true,
        14 => matches!(first(2), 36 | 38 | 39) || (300..=305).contains(&first(3)),
        15 => matches!(first(2), 34 | 37),
        16 => {
            first(1) == 4
                || (51..=55).contains(&first(2))
                || (2221..=2720).contains(&first(4))
                || first(4) == 6011
                || (644..=659).contains(&first(3))
                || (3528..=3589).contains(&first(4))
                || first(2) == 62
                || (2200..=2204).contains(&first(4))
        }
        _ => (17..=19).contains(&digits.len()) && first(2) == 62,
    }
}

/// Account numbers anywhere: the check of ISO 13616, at the length at which it holds.
pub(super) fn accounts(text: &str, found: &mut Vec<Found>) {
    const LENGTHS: Range<usize> = 15..35;
    let bytes = text.as_bytes();
    for at in 0..bytes.len().saturating_sub(4) {
        let is_head = bytes[at].is_ascii_uppercase()
            && bytes[at + 1].is_ascii_uppercase()
            && bytes[at + 2].is_ascii_digit()
            && bytes[at + 3].is_ascii_digit();
        if !is_head || at > 0 && bytes[at - 1].is_ascii_alphanumeric() {
            continue;
        }
        let (mut all, mut end, mut best) = (String::new(), at, None);
        while all.len() < LENGTHS.end && end < bytes.len() {
            let byte = bytes[end];
            let is_gap = matches!(byte, b' ' | b'-') && all.len() >= 4;
            if byte.is_ascii_digit() || byte.is_ascii_uppercase() {
                all.push(char::from(byte));
            } else if !(is_gap
                && bytes.get(end + 1).is_some_and(|b| b.is_ascii_digit() || b.is_ascii_uppercase()))
            {
                break;
            }
            end += 1;
            let closes = !bytes.get(end).is_some_and(u8::is_ascii_alphanumeric);
            if closes && LENGTHS.contains(&all.len()) && mod97(&all) {
                best = Some(end);
            }
        }
        found.extend(best.map(|end| Found { at: at..end, kind: SecretKind("IBAN") }));
    }
}

fn mod97(account: &str) -> bool {
    let turned = account[4..].bytes().chain(account[..4].bytes());
    let rest = turned.fold(0_u32, |rest, byte| match byte {
        b'0'..=b'9' => (rest * 10 + u32::from(byte - b'0')) % 97,
        _ => (rest * 100 + u32::from(byte - b'A') + 10) % 97,
    });
    rest == 1
}

impl Labelled<'_> {
    /// Numbers behind the words of `ids.tsv`.
    pub(super) fn personal(&self, found: &mut Vec<Found>) {
        const NEAR: usize = 8;
        for hit in self.hits {
            let LabelClass::Id(row) = hit.class else { continue };
            let words = after(self.text, &hit.at).words;
            let mut nth = 0;
            while nth < words.len().min(NEAR) {
                let number = (nth..words.len()).rev().find_map(|last| {
                    let at = words[nth].value.start..words[last].value.end;
                    Self::is_row(&words[nth..=last], self.text).then_some(())?;
                    is_number(&self.text[at.clone()], personal_number(row)).then_some(at)
                });
                if let Some(at) = number {
                    found.push(Found { at, kind: personal_number(row).kind });
                    break;
                }
                nth += 1;
            }
        }
    }

    /// Whether words are groups of one number: each has a digit or is of capitals, with one space between.
    fn is_row(words: &[super::words::SentenceWord], text: &str) -> bool {
        const MOST_GROUPS: usize = 9;
        let is_group = |word: &super::words::SentenceWord| {
            let value = &text[word.value.clone()];
            !value.is_empty()
                && value.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_uppercase() || b"-./+".contains(&b))
        };
        words.len() <= MOST_GROUPS
            && words.iter().all(is_group)
            && words.windows(2).all(|pair| pair[0].value.end + 1 == pair[1].value.start)
    }
}

/// Whether a text is a number of the kind that a row of the table describes.
fn is_number(text: &str, kind: &PersonalNumber) -> bool {
    // Passports of some countries have two digits alone.
    let least_digits = if kind.most_letters > 3 && !text.contains(' ') { 2 } else { 5 };
    let all: String = text.chars().filter(|c| !" -./+".contains(*c)).collect();
    let digits = all.bytes().filter(u8::is_ascii_digit).count();
    let is_date = text.len() == 10 && all.len() == 8 && digits == 8;
    kind.length.contains(&all.len())
        && all.len() - digits <= kind.most_letters
        && digits >= least_digits
        && !is_date
        && !is_shown(&all)
}

/// Luhn's check (ISO/IEC 7812-1, annex B).
fn luhn(digits: &str) -> bool {
    let sum = digits.bytes().rev().enumerate().try_fold(0_u32, |sum, (at, byte)| {
        let digit = char::from(byte).to_digit(10)?;
        Some(sum + if at % 2 == 0 { digit } else { digit * 2 / 10 + digit * 2 % 10 })
    });
    sum.is_some_and(|sum| sum % 10 == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_digits_are_those_of_their_publishers() {
        // The examples of ISO/IEC 7812 and of the IBAN registry.
        assert!(luhn("79927398713") && !luhn("79927398710") && !luhn("7992739871x"));
        assert!(mod97("GB82WEST12345698765432") && mod97("DE89370400440532013000"));
        assert!(!mod97("DE88370400440532013000"));
    }

    #[test]
    fn numbers_have_the_shape_of_their_kind() {
        let kind = PersonalNumber { kind: SecretKind("x"), length: 9..12, most_letters: 1 };
        for text in ["523-45-6789", "5234567 8901", "12345678Z"] {
            assert!(is_number(text, &kind), "{text}");
        }
        for text in ["12345678", "523-45-67890123", "1234567ZZ", "2024-05-01", "111111111"] {
            assert!(!is_number(text, &kind), "{text}");
        }
    }
}
