//! Finds numbers that belong to one person: payment cards, bank accounts, national ids, passports, driving licences.
//! Cards and accounts carry their check digits; other numbers count beside a word for them (`ids.tsv`).

use std::ops::Range;

use super::labels::{LabelClass, personal_number, personal_numbers};
use super::values::Labelled;
use super::words::after;
use super::{Found, SecretKind};

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
                    is_number(&self.text[at.clone()], row).then_some(at)
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
    fn is_row(words: &[super::words::Word], text: &str) -> bool {
        const MOST_GROUPS: usize = 9;
        let is_group = |word: &super::words::Word| {
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
fn is_number(text: &str, row: usize) -> bool {
    let kind = personal_number(row);
    let all: String = text.chars().filter(|c| !" -./+".contains(*c)).collect();
    let digits = all.bytes().filter(u8::is_ascii_digit).count();
    let is_date =
        text.len() == 10 && all.len() == 8 && text.bytes().filter(|b| b"-./".contains(b)).count() == 2;
    let is_shape = kind.length.contains(&all.len())
        && all.is_ascii()
        && all.len() - digits <= kind.most_letters
        && digits >= 5
        && !is_date
        && !is_shown(&all);
    is_shape
        && match kind.check {
            "card" => is_issued(&all),
            "any" => personal_numbers().iter().any(|other| {
                other.check != "any"
                    && other.length.contains(&all.len())
                    && checks(&all, other.check) == Some(true)
            }),
            _ => true,
        }
}

/// Whether the check digits of a number are right, by the name of the check in the table; `None` for no check.
fn checks(all: &str, check: &str) -> Option<bool> {
    let digits: Option<Vec<i32>> =
        all.chars().map(|c| c.to_digit(10).and_then(|digit| i32::try_from(digit).ok())).collect();
    Some(match check {
        "-" | "card" | "any" => return None,
        "luhn" => luhn(all),
        "dni" => dni(all),
        "verhoeff" => verhoeff(&digits?),
        "pure11" => pure11(&digits?),
        weights => {
            let (weights, modulus) = weights.split_once('/')?;
            let weights: Vec<i32> =
                weights.split(' ').map(|weight| weight.parse().ok()).collect::<Option<_>>()?;
            let digits = digits?;
            // Of two check digits (CPF) the row has the weights of the last.
            digits.len() == weights.len()
                && digits.iter().zip(&weights).map(|(digit, weight)| digit * weight).sum::<i32>()
                    % modulus.parse::<i32>().ok()?
                    == 0
        }
    })
}

/// Luhn's check (ISO/IEC 7812-1, annex B).
fn luhn(digits: &str) -> bool {
    let sum = digits.bytes().rev().enumerate().try_fold(0_u32, |sum, (at, byte)| {
        let digit = char::from(byte).to_digit(10)?;
        Some(sum + if at % 2 == 0 { digit } else { digit * 2 / 10 + digit * 2 % 10 })
    });
    sum.is_some_and(|sum| sum % 10 == 0)
}

/// The letter of Spain's DNI and NIE: the number modulo 23 picks it; X, Y and Z stand for 0, 1 and 2.
fn dni(all: &str) -> bool {
    let (number, letter) = all.split_at(all.len().saturating_sub(1));
    let number = number.replacen('X', "0", 1).replacen('Y', "1", 1).replacen('Z', "2", 1);
    let at = number.parse::<usize>().ok().map(|number| number % 23);
    at.is_some_and(|at| letter.as_bytes() == &b"TRWAGMYFPDXBNJZSQVHLCKE"[at..=at])
}

/// Verhoeff's check: multiplication in the dihedral group of order ten, after a permutation for each place.
fn verhoeff(digits: &[i32]) -> bool {
    const TURN: [i32; 10] = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4];
    let times = |a: i32, b: i32| match (a < 5, b < 5) {
        (true, true) => (a + b) % 5,
        (true, false) => (a + b) % 5 + 5,
        (false, true) => (a - b).rem_euclid(5) + 5,
        (false, false) => (a - b).rem_euclid(5),
    };
    let rest = digits.iter().rev().enumerate().fold(0, |rest, (at, digit)| {
        let turned = (0..at % 8).fold(*digit, |digit, _| TURN[usize::try_from(digit).unwrap_or(0)]);
        times(rest, turned)
    });
    rest == 0
}

/// ISO 7064, mod 11,10: Germany's tax id.
fn pure11(digits: &[i32]) -> bool {
    let Some((check, digits)) = digits.split_last() else { return false };
    let product = digits.iter().fold(10, |product, digit| {
        let sum = (digit + product) % 10;
        (if sum == 0 { 10 } else { sum }) * 2 % 11
    });
    (11 - product) % 10 == *check
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_digits_are_those_of_their_publishers() {
        // ISO/IEC 7812's and IBAN registry's examples; BZSt's test number; UIDAI's sample; Verhoeff's 236; a DNI of the Spanish police.
        assert!(luhn("79927398713") && !luhn("79927398710") && !luhn("7992739871x"));
        assert!(
            mod97("GB82WEST12345698765432")
                && mod97("DE89370400440532013000")
                && !mod97("DE88370400440532013000")
        );
        assert_eq!(checks("86095742719", "pure11"), Some(true));
        assert_eq!(checks("86095742718", "pure11"), Some(false));
        assert_eq!(checks("2363", "verhoeff"), Some(true));
        assert_eq!(checks("2364", "verhoeff"), Some(false));
        assert_eq!(checks("12345678Z", "dni"), Some(true));
        assert_eq!(checks("12345678A", "dni"), Some(false));
        let check =
            |label: &str| personal_numbers().iter().find(|row| row.kind.label() == label).unwrap().check;
        assert_eq!(checks("44051401359", check("PESEL")), Some(true));
        assert_eq!(checks("7569217076985", check("AHV number")), Some(true));
        assert_eq!(checks("111222333", check("BSN")), Some(true));
        assert_eq!(checks("12345678909", check("CPF")), Some(true));
        assert_eq!(checks("9434765919", check("NHS number")), Some(true));
    }

    #[test]
    fn every_row_has_a_check_or_none() {
        for row in personal_numbers() {
            let is_known = matches!(row.check, "-" | "card" | "any")
                || checks("123456789012", row.check).is_some()
                || row.check == "dni";
            assert!(is_known, "{row:?}");
        }
    }
}
