//! Provides seeded random choices, and writes texts by the rules of the tables.
//! All of it follows from one seed. `data/life/README.md` explains how a rule is written.

use std::sync::LazyLock;

use jiff::Span;

use super::tables::{Groups, table};
use crate::tokens::Dice;

/// Chance that follows from a seed.
pub struct Draw(Dice);

impl Draw {
    pub fn new(seed: u64) -> Self {
        let mut dice = Dice(seed);
        // Seeds that are neighbours must not begin alike.
        dice.next();
        Self(Dice(dice.next()))
    }

    /// A number below `count`; 0 of none.
    pub fn below(&mut self, count: usize) -> usize {
        (self.0.next() % count.max(1) as u64) as usize
    }

    /// A number of a range, its ends included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.0.next() % (high - low + 1)
    }

    pub fn chance(&mut self, share: f64) -> bool {
        ((self.0.next() >> 11) as f64 / (1u64 << 53) as f64) < share
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    pub fn word(&mut self, from: &[&'static str]) -> &'static str {
        from[self.below(from.len())]
    }

    /// A place among shares, each as likely as its share is large; 0 of none.
    pub fn share(&mut self, mut shares: impl Iterator<Item = u64> + Clone) -> usize {
        let all: u64 = shares.clone().sum();
        let mut left = self.between(0, all.max(1) - 1);
        let is_chosen = |share: u64| {
            let is_chosen = left < share;
            left = left.saturating_sub(share);
            is_chosen
        };
        shares.position(is_chosen).unwrap_or_default()
    }

    /// A number of days of a range, its ends included.
    pub fn days(&mut self, low: u32, high: u32) -> Span {
        Span::new().days(i64::try_from(self.between(low.into(), high.into())).expect("below u32::MAX"))
    }

    /// A seed for somebody else.
    pub fn seed(&mut self) -> u64 {
        self.0.next()
    }

    /// A text by a rule that needs no values.
    pub fn text(&mut self, name: &str) -> String {
        self.text_with(name, &mut Fields::default())
    }

    /// A text by one of a rule's rows, with these values. What the row binds ends with it.
    pub fn text_with(&mut self, name: &str, fields: &mut Fields) -> String {
        let rows = rule(name);
        let row = if let [row] = rows { *row } else { self.word(rows) };
        let outer = fields.0.len();
        let text = self.write(row, fields);
        fields.0.truncate(outer);
        text
    }

    /// A template with its holes filled. What it binds stays in `fields`.
    pub fn write(&mut self, template: &str, fields: &mut Fields) -> String {
        fill(template, |hole| {
            if !is_hole(hole) {
                return None;
            }
            let Some((name, made)) = hole.split_once('=') else { return Some(self.hole(hole, fields)) };
            let text = self.hole(made, fields);
            let (said, asked) =
                text.split_once(" | ").map_or((&*text, None), |(said, asked)| (said, Some(asked)));
            fields.bind(name, said);
            if let Some(asked) = asked {
                fields.bind(&name.to_uppercase(), asked);
            }
            Some(String::new())
        })
    }

    fn hole(&mut self, hole: &str, fields: &mut Fields) -> String {
        if let Some((before, rest)) = hole.split_once('<')
            && let Some((name, after)) = rest.split_once('>')
        {
            let made = format!("{before}{}{after}", fields.usual(name).unwrap_or_default());
            self.hole(&made, fields)
        } else if let Some((made, how)) = hole.split_once(':') {
            respelled(&self.hole(made, fields), how)
        } else if let Some((made, rest)) = hole.split_once('?') {
            let (share, other) = rest.split_once('|').unwrap_or((rest, ""));
            let made = if self.chance(share.parse().expect("a share")) { made } else { other };
            if made.is_empty() { String::new() } else { self.hole(made, fields) }
        } else if let Some((made, times)) = hole.split_once('*') {
            let times = times.parse().unwrap_or_else(|_| number(&self.hole(times, fields)));
            let mut text = String::new();
            for at in 0..times {
                fields.bind("at", at.to_string());
                text += &self.hole(made, fields);
                fields.0.pop();
            }
            text
        } else if let Some((low, high)) = hole.split_once("..") {
            let (high, step) = high.split_once('/').unwrap_or((high, "1"));
            let (low, high, step) = (number(low), number(high), number(step));
            (low + step * self.between(0, (high - low) / step)).to_string()
        } else if let Some(made) = hole.strip_suffix('!') {
            loop {
                let text = self.hole(made, fields);
                if fields.all().all(|form| form != text) {
                    return text;
                }
            }
        } else {
            let known = fields.usual(hole).map(str::to_owned);
            known.unwrap_or_else(|| self.text_with(hole, fields))
        }
    }
}

/// Whether braces hold something to be filled in; anything else in braces is a part of the text.
fn is_hole(hole: &str) -> bool {
    hole.bytes().all(|byte| byte.is_ascii_alphanumeric() || b" _=*?|:./,+-%^<>!".contains(&byte))
}

/// The values that fill the holes of a template: each by its name, in its spellings, the usual one first.
#[derive(Clone, Debug, Default)]
pub struct Fields(Vec<(String, Vec<String>)>);

impl<const N: usize> From<[(&str, Vec<String>); N]> for Fields {
    fn from(fields: [(&str, Vec<String>); N]) -> Self {
        Self(fields.map(|(name, forms)| (name.to_owned(), forms)).to_vec())
    }
}

impl Fields {
    /// Gives a name its value, in the place of any that it had.
    pub fn set(&mut self, name: &str, forms: Vec<String>) {
        match self.0.iter_mut().rev().find(|(known, _)| known == name) {
            Some((_, old)) => *old = forms,
            None => self.0.push((name.to_owned(), forms)),
        }
    }

    /// Gives a name a value with one spelling; one that it has already comes back when this one is taken away.
    pub fn bind(&mut self, name: &str, text: impl Into<String>) {
        self.0.push((name.to_owned(), vec![text.into()]));
    }

    /// The spellings of a value.
    pub fn forms(&self, name: &str) -> Option<&[String]> {
        self.0.iter().rev().find(|(known, _)| known == name).map(|(_, forms)| &forms[..])
    }

    /// The usual spelling of a value.
    pub fn usual(&self, name: &str) -> Option<&str> {
        self.forms(name)?.first().map(String::as_str)
    }

    /// The spellings of all values.
    pub fn all(&self) -> impl Iterator<Item = &str> {
        self.0.iter().flat_map(|(_, forms)| forms).map(String::as_str)
    }
}

static RULES: LazyLock<Groups> = LazyLock::new(|| {
    let mut rules = Groups::new();
    let tables = [
        table!("names.tsv", "rule", "text"),
        table!("words.tsv", "rule", "text"),
        table!("junk.tsv", "rule", "text"),
        table!("surface.tsv", "rule", "text"),
    ];
    for [name, text] in tables.into_iter().flatten() {
        rules.entry(name.to_owned()).or_default().push(text);
    }
    for [name, letters] in table!("alphabets.tsv", "rule", "letters") {
        rules.insert(name.to_owned(), letters.split("").filter(|letter| !letter.is_empty()).collect());
    }
    rules
});

/// The rows of a rule.
pub fn rule(name: &str) -> &'static [&'static str] {
    RULES.get(name).unwrap_or_else(|| panic!("data/life has no rule {name:?}, and no value has this name"))
}

fn number(text: &str) -> u64 {
    text.parse().unwrap_or_else(|_| panic!("{text:?} is no number"))
}

/// A text in another spelling: `,` groups a number's digits, `bare` is a service without its stage, `env` the name of a variable,
/// `mail` that of a mailbox. The rest is a sign and a number: arithmetic, the most that it may be (`^`), the width to fill.
fn respelled(text: &str, how: &str) -> String {
    match how {
        "," => return thousands(text),
        "bare" => return text.split(" in ").next().unwrap_or_default().to_owned(),
        "env" => return text.to_uppercase().replace('-', "_"),
        "mail" => return text.to_lowercase().replace(' ', "."),
        _ => {}
    }
    let (sign, by) = how.split_at(1);
    let (old, by) = (number(text), number(by));
    let new = match sign {
        "+" => old + by,
        "-" => old - by,
        "%" => old % by,
        "/" => old / by,
        "^" => old.min(by),
        "0" => return format!("{text:0>width$}", width = by as usize),
        "_" => return format!("{text:>width$}", width = by as usize),
        _ => panic!("no spelling is called {how:?}"),
    };
    new.to_string()
}

fn thousands(digits: &str) -> String {
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// The text with one of its digits changed; none where it has none.
pub fn other_digit(draw: &mut Draw, text: &str) -> Option<String> {
    let places: Vec<usize> =
        text.char_indices().filter(|(_, c)| c.is_ascii_digit()).map(|(at, _)| at).collect();
    if places.is_empty() {
        return None;
    }
    let at = *draw.pick(&places);
    let old = text.as_bytes()[at] - b'0';
    // A leading zero would make another kind of number of it.
    let new = (u64::from(old) + draw.between(1, 8)) % 9 + 1;
    let new = if new == u64::from(old) { 1 + new % 9 } else { new };
    Some(format!("{}{new}{}", &text[..at], &text[at + 1..]))
}

/// Puts what `of` says for each name in the place of `{name}`. A brace that holds anything else stays.
pub fn fill(template: &str, mut of: impl FnMut(&str) -> Option<String>) -> String {
    let mut text = String::with_capacity(template.len() + 32);
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        text.push_str(before);
        let end = after.find(['{', '}']).filter(|end| *end > 0 && after[*end..].starts_with('}'));
        if let Some((end, filling)) = end.and_then(|end| Some((end, of(&after[..end])?))) {
            text.push_str(&filling);
            rest = &after[end + 1..];
        } else {
            text.push('{');
            rest = after;
        }
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_digit_is_one_digit_away() {
        let mut draw = Draw::new(1);
        for _ in 0..200 {
            let old = draw.text("ticket");
            let new = other_digit(&mut draw, &old).unwrap();
            let differ = old.chars().zip(new.chars()).filter(|(old, new)| old != new).count();
            assert_eq!((differ, old.len()), (1, new.len()), "{old} {new}");
        }
    }

    #[test]
    fn places_are_filled_and_other_braces_stay() {
        let of = |name: &str| (name == "s").then(|| "X{s}".to_owned());
        assert_eq!(fill("{s} = {} {zz} {q} é{s}{ {s}", of), "X{s} = {} {zz} {q} éX{s}{ X{s}");
    }

    #[test]
    fn each_kind_of_hole_is_filled() {
        let mut draw = Draw::new(5);
        let mut check = |template: &str, given: &[(&str, &str)], is_good: &dyn Fn(&str) -> bool| {
            for _ in 0..50 {
                let mut fields = Fields::default();
                for (name, text) in given {
                    fields.bind(name, *text);
                }
                let text = draw.write(template, &mut fields);
                assert!(is_good(&text), "{template}: {text}");
            }
        };
        check("{a} { {\"b\": {a}}", &[("a", "1")], &|text| text == "1 { {\"b\": 1}");
        check("{n=3..5}{n}{n}", &[], &|text| ["33", "44", "55"].contains(&text));
        check("{10..30/10}", &[], &|text| ["10", "20", "30"].contains(&text));
        check("{a*2}{at*n}", &[("a", "x"), ("n", "3")], &|text| text == "xx012");
        check("{a?0.0|b}{a?0.0}{a?1.0}", &[("a", "x"), ("b", "y")], &|text| text == "yx");
        check("{<kind>_hour}", &[("kind", "half")], &|text| text == "30");
        check("{e=effects}{e} {E}", &[], &|text| !text.contains(['|', '{']) && text.len() > 10);
        check("{full_hour} {u=full_hour}{u}", &[("u", "z")], &|text| text == "00 00");
        check("{half_hour?0.5|full_hour}", &[], &|text| ["00", "30"].contains(&text));
        let others: &[(&str, &str)] = &[("a", "Monday"), ("b", "Tuesday"), ("c", "Friday")];
        check("{weekdays!}", others, &|text| ["Wednesday", "Thursday"].contains(&text));
        let number: &[(&str, &str)] = &[("n", "1234567")];
        check("{n:,} {n:+1} {n:-1} {n:%60} {n:/7}", number, &|text| {
            text == "1,234,567 1234568 1234566 7 176366"
        });
        check("{a:^4} {a:_4} {a:04}", &[("a", "7")], &|text| text == "4    7 0007");
        check("{s:bare} {s:env}", &[("s", "a-b in c")], &|text| text == "a-b A_B IN C");
        check("{s:mail}", &[("s", "Ana Xu")], &|text| text == "ana.xu");
    }

    /// The names that a template needs, and those that it binds.
    fn names(template: &'static str) -> (Vec<&'static str>, Vec<&'static str>) {
        let (mut needed, mut bound) = (Vec::new(), Vec::new());
        let holes = template.split('{').filter_map(|hole| hole.split_once('}')).map(|(hole, _)| hole);
        for hole in holes.filter(|hole| !hole.is_empty() && is_hole(hole)) {
            let (name, made) = hole.split_once('=').unwrap_or(("", hole));
            bound.push(name);
            let made = made.split(':').next().unwrap_or_default();
            let atoms = made.split(['?', '|', '*', '!']).filter(|atom| !atom.contains(['.', '<']));
            needed.extend(atoms.filter(|atom| atom.contains(|letter: char| letter.is_alphabetic())));
        }
        (needed, bound)
    }

    #[test]
    fn every_hole_of_a_rule_has_something_to_fill_it() {
        // What the code gives.
        let mut known: Vec<&str> = vec!["at", "bare", "name", "text"];
        let rows = || RULES.iter().flat_map(|(name, rows)| rows.iter().map(move |row| (name, *row)));
        known.extend(rows().flat_map(|(_, row)| names(row).1));
        for (name, row) in rows() {
            for needed in names(row).0 {
                let is_known = known.contains(&needed) || RULES.contains_key(needed);
                assert!(is_known, "{name}: there is no {needed:?} for {row:?}");
            }
        }
    }
}
