//! Generates the values of facts: numbers with units, dates, people, places, tools.
//! A value knows the spellings that mean the same.

use std::sync::LazyLock;

use jiff::civil::Date;

use super::tables::{several, table, variant};
use super::words::{Draw, Fields, other_digit, rule};

/// A kind of value: a row of `values.tsv`.
#[derive(Debug)]
pub struct Holds {
    name: &'static str,
    near: Near,
    /// Whether only one thing can have a value of this kind: two machines have no address in common.
    pub is_exclusive: bool,
    /// Templates of the spellings, the usual one first; of a date, the days until it comes.
    spellings: Vec<&'static str>,
}

/// How a value is changed a little.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Near {
    /// One digit is another.
    Digit,
    /// It is a date, and comes a few days later.
    Date,
    /// The last part of the address is another.
    Address,
    /// Not at all.
    Never,
}

static KINDS: LazyLock<Vec<Holds>> = LazyLock::new(|| {
    let near = [Near::Digit, Near::Date, Near::Address, Near::Never];
    let rows = table!("values.tsv", "value", "near", "exclusive", "spellings").into_iter();
    rows.map(|[name, how, exclusive, spellings]| Holds {
        name,
        near: variant(&near, how),
        is_exclusive: variant(&[true, false], exclusive),
        spellings: several(spellings),
    })
    .collect()
});

/// A day in the spellings of it.
pub fn day(date: Date) -> Vec<String> {
    let month = rule("months")[usize::from(date.month().unsigned_abs()) - 1];
    let (day, year) = (date.day(), date.year());
    vec![date.to_string(), format!("{day} {month} {year}"), format!("{month} {day}, {year}")]
}

impl Holds {
    /// The kind of this name.
    pub fn named(name: &str) -> &'static Self {
        KINDS.iter().find(|kind| kind.name == name).unwrap_or_else(|| panic!("values.tsv has no {name:?}"))
    }

    /// A value in its spellings, the usual one first. `about` is whom it belongs to, `today` the day it is told.
    pub fn draw(&self, draw: &mut Draw, about: &str, today: Date) -> Vec<String> {
        let topic = about.split(" in ").next().unwrap_or_default();
        let mut fields = Fields::default();
        fields.bind("topic", topic);
        let spelled: Vec<String> =
            self.spellings.iter().map(|template| draw.write(template, &mut fields)).collect();
        if self.near == Near::Date {
            let ahead: i64 = spelled[0].parse().expect("a number of days");
            return day(today.saturating_add(jiff::Span::new().days(ahead)));
        }
        spelled
    }

    /// A value with one digit changed, where that is a value of this kind.
    pub fn near(&self, draw: &mut Draw, value: &str) -> Option<Vec<String>> {
        match self.near {
            Near::Date => {
                let date: Date = value.parse().ok()?;
                Some(day(date.saturating_add(draw.days(1, 9))))
            }
            Near::Address => {
                let (net, last) = value.rsplit_once('.')?;
                let last: u64 = last.parse().ok()?;
                Some(vec![format!("{net}.{}", (last + draw.between(1, 9)) % 255)])
            }
            Near::Never => None,
            Near::Digit => other_digit(draw, value).map(|near| vec![near]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_their_spellings() {
        assert_eq!(day(Date::constant(2026, 3, 4)), ["2026-03-04", "4 March 2026", "March 4, 2026"]);
        let mut draw = Draw::new(3);
        let taste =
            Holds::named("taste").draw(&mut draw, "line width in Norvane", Date::constant(2026, 1, 1));
        assert!(taste[0].ends_with("columns"), "{taste:?}");
        for kind in &*KINDS {
            for _ in 0..50 {
                let value = kind.draw(&mut draw, "dates in Norvane", Date::constant(2026, 1, 1));
                assert!(
                    !value.is_empty() && value.iter().all(|form| !form.contains(['{', '<'])),
                    "{value:?}"
                );
            }
        }
    }
}
