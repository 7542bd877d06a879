//! English names of days and months in lower case, and checks whether a word is a date or a year.
//! The rules of `memory/` take these words for dates.

/// Monday first.
pub(super) const DAYS: [&str; 7] =
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// January first.
pub(super) const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Whether a word is a date as `2025-03-14`.
pub(super) fn is_iso(word: &str) -> bool {
    let digit_or_dash =
        |(at, b): (usize, u8)| if at == 4 || at == 7 { b == b'-' } else { b.is_ascii_digit() };
    word.len() == 10 && word.bytes().enumerate().all(digit_or_dash)
}

/// Whether a word is a year of one of these centuries (`20` for 2000 to 2099).
pub(super) fn is_year(word: &str, centuries: &[&str]) -> bool {
    word.len() == 4
        && word.bytes().all(|b| b.is_ascii_digit())
        && centuries.iter().any(|century| word.starts_with(century))
}
