//! Parses numbers with their units into one normal form.
//! So 1,000 is 1000, 16GB is 16 GB, and half a minute is not guessed. Nothing is rounded.

use super::tokens::{Kind, Token};

/// A number as a text gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::memory) struct Number {
    /// Its digits without grouping; `#3` is the third.
    pub digits: String,
    /// Its unit, where it has one that is known.
    pub unit: Option<&'static str>,
    /// Nanoseconds or bytes, in millionths, where that is its unit: 60 seconds are a minute.
    base: Option<(Dimension, u128)>,
    /// The word before it, to say what was counted.
    pub label: Option<String>,
    /// Whether it is the word "one", which is an article as often as a number.
    pub is_one: bool,
}

impl Number {
    /// Whether both say the same; a number without a unit is not one with.
    pub fn same(&self, other: &Self) -> bool {
        match (self.base, other.base) {
            (Some(one), Some(two)) => one == two,
            _ => self.digits == other.digits && self.unit == other.unit,
        }
    }

    /// The number and its unit, in the one form that all spellings of them share.
    pub fn normal(&self) -> String {
        match self.base {
            Some((dimension, amount)) => {
                let (amount, rest) = (amount / 1_000_000, amount % 1_000_000);
                let rest = if rest == 0 { String::new() } else { format!(".{rest:06}") };
                format!("{amount}{rest} {}", dimension.unit())
            }
            None => self.shown(),
        }
    }

    /// The number for people.
    pub fn shown(&self) -> String {
        match self.unit {
            Some(unit) => format!("{} {unit}", self.digits),
            None => self.digits.clone(),
        }
    }

    /// What its unit counts, so that 16 GB and 32 GB, but not 16 GB and 16 cores, are values of one thing.
    pub fn dimension(&self) -> &'static str {
        match (self.base, self.unit) {
            (Some((dimension, _)), _) => dimension.word(),
            (None, Some(unit)) => unit,
            (None, None) => "",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dimension {
    Time,
    Data,
}

impl Dimension {
    fn word(self) -> &'static str {
        match self {
            Self::Time => "duration",
            Self::Data => "data",
        }
    }

    fn unit(self) -> &'static str {
        match self {
            Self::Time => "ns",
            Self::Data => "B",
        }
    }
}

/// A unit: its one spelling, what it measures and how much of the base it is, and its other spellings.
struct Unit(&'static str, Option<(Dimension, u128)>, &'static [&'static str]);

const UNITS: &[Unit] = &[
    Unit("ns", Some((Dimension::Time, 1)), &["ns", "nanosecond", "nanoseconds"]),
    Unit("us", Some((Dimension::Time, 1_000)), &["us", "µs", "μs", "microsecond", "microseconds"]),
    Unit("ms", Some((Dimension::Time, 1_000_000)), &["ms", "msec", "millisecond", "milliseconds"]),
    Unit("s", Some((Dimension::Time, 1_000_000_000)), &["s", "sec", "secs", "second", "seconds"]),
    Unit("min", Some((Dimension::Time, 60_000_000_000)), &["min", "mins", "minute", "minutes"]),
    Unit("h", Some((Dimension::Time, 3_600_000_000_000)), &["h", "hr", "hrs", "hour", "hours"]),
    Unit("days", Some((Dimension::Time, 86_400_000_000_000)), &["d", "day", "days"]),
    Unit("weeks", Some((Dimension::Time, 604_800_000_000_000)), &["week", "weeks", "wk", "wks"]),
    Unit("months", None, &["month", "months"]),
    Unit("years", None, &["year", "years", "yr", "yrs"]),
    Unit("B", Some((Dimension::Data, 1)), &["byte", "bytes"]),
    Unit("KB", Some((Dimension::Data, 1_000)), &["kb", "kilobyte", "kilobytes"]),
    Unit("MB", Some((Dimension::Data, 1_000_000)), &["mb", "megabyte", "megabytes"]),
    Unit("GB", Some((Dimension::Data, 1_000_000_000)), &["gb", "gigabyte", "gigabytes"]),
    Unit("TB", Some((Dimension::Data, 1_000_000_000_000)), &["tb", "terabyte", "terabytes"]),
    Unit("PB", Some((Dimension::Data, 1_000_000_000_000_000)), &["pb", "petabyte", "petabytes"]),
    Unit("KiB", Some((Dimension::Data, 1 << 10)), &["kib", "kibibyte", "kibibytes"]),
    Unit("MiB", Some((Dimension::Data, 1 << 20)), &["mib", "mebibyte", "mebibytes"]),
    Unit("GiB", Some((Dimension::Data, 1 << 30)), &["gib", "gibibyte", "gibibytes"]),
    Unit("TiB", Some((Dimension::Data, 1 << 40)), &["tib", "tebibyte", "tebibytes"]),
    Unit("Mbit", None, &["mbit", "mbits", "mbps", "megabit", "megabits"]),
    Unit("Gbit", None, &["gbit", "gbits", "gbps", "gigabit", "gigabits"]),
    Unit("Hz", None, &["hz", "hertz"]),
    Unit("kHz", None, &["khz", "kilohertz"]),
    Unit("MHz", None, &["mhz", "megahertz"]),
    Unit("GHz", None, &["ghz", "gigahertz"]),
    Unit("%", None, &["%", "percent", "pct"]),
    Unit("USD", None, &["usd", "dollar", "dollars"]),
    Unit("EUR", None, &["eur", "euro", "euros"]),
    Unit("GBP", None, &["gbp", "pound", "pounds"]),
    Unit("mg", None, &["mg", "milligram", "milligrams"]),
    Unit("g", None, &["g", "gram", "grams"]),
    Unit("kg", None, &["kg", "kilo", "kilos", "kilogram", "kilograms"]),
    Unit("mm", None, &["mm", "millimeter", "millimeters", "millimetre", "millimetres"]),
    Unit("cm", None, &["cm", "centimeter", "centimeters", "centimetre", "centimetres"]),
    Unit("m", None, &["m", "meter", "meters", "metre", "metres"]),
    Unit("km", None, &["km", "kilometer", "kilometers", "kilometre", "kilometres"]),
    Unit("mi", None, &["mi", "mile", "miles"]),
    Unit("ft", None, &["ft", "foot", "feet"]),
    Unit("ml", None, &["ml", "milliliter", "milliliters", "millilitre", "millilitres"]),
    Unit("l", None, &["l", "liter", "liters", "litre", "litres"]),
    Unit("°C", None, &["°c", "℃", "celsius"]),
    Unit("°F", None, &["°f", "℉", "fahrenheit"]),
    Unit("W", None, &["w", "watt", "watts"]),
    Unit("kW", None, &["kw", "kilowatt", "kilowatts"]),
    Unit("V", None, &["v", "volt", "volts"]),
    Unit("px", None, &["px", "pixel", "pixels"]),
    Unit("rpm", None, &["rpm"]),
    Unit("rps", None, &["rps"]),
    Unit("qps", None, &["qps"]),
    Unit("fps", None, &["fps"]),
    Unit("times", None, &["x", "times"]),
];

/// Number words. "one" is an article as often, and "second" a unit.
const WORDS: &[(&str, &str)] = &[
    ("zero", "0"),
    ("one", "1"),
    ("two", "2"),
    ("three", "3"),
    ("four", "4"),
    ("five", "5"),
    ("six", "6"),
    ("seven", "7"),
    ("eight", "8"),
    ("nine", "9"),
    ("ten", "10"),
    ("eleven", "11"),
    ("twelve", "12"),
    ("thirteen", "13"),
    ("fourteen", "14"),
    ("fifteen", "15"),
    ("sixteen", "16"),
    ("seventeen", "17"),
    ("eighteen", "18"),
    ("nineteen", "19"),
    ("twenty", "20"),
    ("thirty", "30"),
    ("forty", "40"),
    ("fifty", "50"),
    ("sixty", "60"),
    ("seventy", "70"),
    ("eighty", "80"),
    ("ninety", "90"),
    ("hundred", "100"),
    ("thousand", "1000"),
    ("million", "1000000"),
    ("billion", "1000000000"),
    ("first", "#1"),
    ("third", "#3"),
    ("fourth", "#4"),
    ("fifth", "#5"),
    ("sixth", "#6"),
    ("seventh", "#7"),
    ("eighth", "#8"),
    ("ninth", "#9"),
    ("tenth", "#10"),
];

/// More digits are a code, not a quantity.
const MOST_DIGITS: usize = 30;

/// Units of one letter that are no unit as words of their own: "5 m" is, "section 5 a" and "class 5 b" are not.
const BARE_LETTERS: &[&str] = &["d", "x", "w", "v", "l"];

/// A number that is one word: its digits and its unit.
pub(super) fn parse(text: &str) -> Option<(String, Option<&'static str>)> {
    let (text, currency) = match text.chars().next()? {
        '$' => (&text[1..], Some("USD")),
        '€' => (&text['€'.len_utf8()..], Some("EUR")),
        '£' => (&text['£'.len_utf8()..], Some("GBP")),
        _ => (text, None),
    };
    let (sign, text) = match text.strip_prefix('-') {
        Some(text) => ("-", text),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == ',' || c == '.')).unwrap_or(text.len());
    let (figures, suffix) = text.split_at(end);
    if !figures.starts_with(|c: char| c.is_ascii_digit()) || figures.len() > MOST_DIGITS {
        return None;
    }
    let (mut digits, unit) = (plain(figures)?, currency);
    match suffix {
        "" => {}
        "st" | "nd" | "rd" | "th" if unit.is_none() && sign.is_empty() => {
            return Some((format!("#{digits}"), None));
        }
        "k" | "K" => digits = times(&digits, 3)?,
        "M" | "mn" => digits = times(&digits, 6)?,
        "bn" => digits = times(&digits, 9)?,
        _ if unit.is_some() => return None,
        _ => return Some((format!("{sign}{digits}"), Some(unit_of(suffix)?.0))),
    }
    Some((format!("{sign}{digits}"), unit))
}

/// Digits without grouping: "1,000" is 1000, "1,5" is 1.5, "1.000,5" is none.
fn plain(figures: &str) -> Option<String> {
    if figures.ends_with(['.', ',']) || figures.matches('.').count() > 1 {
        return None;
    }
    let (whole, part) = figures.split_once('.').map_or((figures, None), |(whole, part)| (whole, Some(part)));
    let mut groups = whole.split(',');
    let head = groups.next()?;
    let groups: Vec<&str> = groups.collect();
    let digits = match groups.as_slice() {
        [] => head.to_owned(),
        groups if head.len() <= 3 && groups.iter().all(|group| group.len() == 3) => {
            format!("{head}{}", groups.concat())
        }
        [part] if figures.len() == whole.len() => return Some(format!("{head}.{part}")),
        _ => return None,
    };
    match part {
        Some(part) if part.is_empty() || part.contains(',') => None,
        Some(part) => Some(format!("{digits}.{part}")),
        None => Some(digits),
    }
}

/// Digits with the point moved to the right.
fn times(digits: &str, zeros: usize) -> Option<String> {
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let filled = format!("{part:0<zeros$}");
    (part.len() <= zeros && whole.len() + zeros <= MOST_DIGITS).then(|| {
        let moved = format!("{whole}{filled}");
        let bare = moved.trim_start_matches('0');
        if bare.is_empty() { "0".to_owned() } else { bare.to_owned() }
    })
}

fn unit_of(word: &str) -> Option<&'static Unit> {
    if word.len() > 16 {
        return None;
    }
    let lower = word.to_lowercase();
    UNITS.iter().find(|unit| unit.2.contains(&lower.as_str()))
}

/// Whether a word is a unit.
pub(in crate::memory) fn is_unit(word: &str) -> bool {
    unit_of(word).is_some()
}

/// The number that begins at a token, and how many tokens it takes with its unit.
pub(in crate::memory) fn read(tokens: &[Token<'_>], at: usize) -> Option<(Number, usize)> {
    let token = tokens.get(at)?;
    let (digits, mut unit, is_one) = match token.kind {
        Kind::Number => parse(token.text).map(|(digits, unit)| (digits, unit, false))?,
        Kind::Word => {
            let digits = number_word(tokens, at)?;
            (digits.to_owned(), None, token.is("one"))
        }
        Kind::Code | Kind::Mark => return None,
    };
    let mut used = 1;
    if unit.is_none()
        && !digits.starts_with('#')
        && let Some(next) = tokens.get(at + 1)
        && !token.owns
        && !next.among(BARE_LETTERS)
        && (next.kind == Kind::Word || next.text == "%")
        && let Some(Unit(name, _, _)) = unit_of(next.text)
    {
        unit = Some(name);
        used = 2;
    }
    let before = at.checked_sub(1).and_then(|before| tokens.get(before));
    let label = before.filter(|before| before.kind == Kind::Word).map(|before| before.lower.clone());
    let base = unit.and_then(|unit| base(&digits, unit));
    Some((Number { digits, unit, base, label, is_one }, used))
}

/// The digits of a word that is a number where it stands.
fn number_word(tokens: &[Token<'_>], at: usize) -> Option<&'static str> {
    let token = &tokens[at];
    let before = at.checked_sub(1).and_then(|before| tokens.get(before));
    if token.is("second") {
        // "the second floor", but not "30 second" and "a second".
        let is_ordinal = before.is_some_and(|before| before.among(&["the", "our", "my", "its"]));
        return is_ordinal.then_some("#2");
    }
    if token.is("one") {
        let next = tokens.get(at + 1);
        let is_pronoun = next
            .is_none_or(|next| next.is_mark() || next.among(&["of", "another", "is", "day"]))
            || before.is_some_and(|before| {
                before.among(&["no", "the", "this", "that", "any", "each", "every", "which", "another"])
            });
        if is_pronoun {
            return None;
        }
    }
    WORDS.iter().find(|(word, _)| token.is(word)).map(|(_, digits)| *digits)
}

/// A duration in nanoseconds or a size in bytes, in millionths.
fn base(digits: &str, unit: &str) -> Option<(Dimension, u128)> {
    let (dimension, factor) = UNITS.iter().find(|known| known.0 == unit)?.1?;
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    if part.len() > 6 || whole.len() > 12 {
        return None;
    }
    let amount: u128 = format!("{whole}{part:0<6}").parse().ok()?;
    Some((dimension, amount * factor))
}

#[cfg(test)]
mod tests {
    use super::super::tokens::tokens;
    use super::*;

    fn numbers(text: &str) -> Vec<Number> {
        let found = tokens(text);
        (0..found.len()).filter_map(|at| read(&found, at)).map(|(number, _)| number).collect()
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let shown: Vec<String> = numbers(text).iter().map(Number::shown).collect();
        assert_eq!(shown.join(" | "), expected, "{text}");
    }

    #[test]
    fn numbers_are_read_with_their_units() {
        check("1,000 users", "1000");
        check("16GB or 16 GB", "16 GB | 16 GB");
        check("after 30s, 30 seconds or 1.5 h", "30 s | 30 s | 1.5 h");
        check("10k and 1.5k and 2M", "10000 | 1500 | 2000000");
        check("$1,000.50 or 20 euros", "1000.50 USD | 20 EUR");
        check("50% or 50 percent", "50 % | 50 %");
        check("two of them, one by one, one of us", "2 | 1");
        check("the third, the 3rd, the second", "#3 | #3 | #2");
        check("a second", "");
        check("python 3.10 not 3.1", "3.10 | 3.1");
        check("1,5 m", "1.5 m");
        check("10:30, 1.2.3, web-041", "");
        check("-5 degrees", "-5");
    }

    #[test]
    fn one_amount_in_two_units_is_the_same() {
        let same = |one: &str, two: &str| numbers(one)[0].same(&numbers(two)[0]);
        assert!(same("60 seconds", "1 minute") && same("1.5h", "90 min") && same("1 GB", "1000 MB"));
        assert!(!same("30 s", "30 ms") && !same("30 s", "30") && !same("1 GB", "1 GiB"));
        assert_eq!(numbers("90 min")[0].normal(), numbers("1.5 hours")[0].normal());
    }
}
