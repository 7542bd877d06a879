//! Generates what the simulated agent learns apart from attributes, such as decisions, procedures and rules.
//! It learns decisions with reasons, gotchas, procedures, rules, and claims that somebody may deny. It also learns what happened on a
//! day, where a secret lies (never the secret), what an error means, and notes in other languages.
//!
//! A small letter in braces is how a text says a thing, the capital how a question does.

use std::sync::LazyLock;

use jiff::civil::Date;

use super::families::sayings;
use super::tables::table;
use super::values::day;
use super::words::{Draw, Fields, rule};

/// Statements by value, and questions.
pub struct Prose {
    pub name: &'static str,
    /// What makes it another fact than any other of its name.
    pub key: String,
    pub fields: Fields,
    /// Ways to say it, for each of its values.
    pub says: Vec<&'static [&'static str]>,
    pub asks: &'static [&'static str],
    /// Ways to say that it changed; empty where it does not.
    pub turns: &'static [&'static str],
    /// The values, where it has any in its text.
    pub value: Option<Vec<String>>,
}

/// A kind of prose: a row of `prose.tsv`.
struct Sort {
    name: &'static str,
    /// Whose statements in `sayings.tsv` say it; it is asked for by its name's.
    said_as: &'static str,
    /// How often it comes, in twentieths.
    share: u64,
    /// What is drawn for it, in this order.
    draws: &'static str,
    /// The values that its sentences have. Where a name is written as code, it is the first of these.
    fields: &'static str,
    key: &'static str,
}

static SORTS: LazyLock<Vec<Sort>> = LazyLock::new(|| {
    let rows = table!("prose.tsv", "prose", "said_as", "share", "draws", "fields", "key").into_iter();
    rows.map(|[name, said_as, share, draws, fields, key]| Sort {
        name,
        said_as,
        share: share.parse().expect("prose.tsv: a share is a number"),
        draws,
        fields,
        key,
    })
    .collect()
});

/// Something new that is no attribute. `service` and `project` are what it is about.
pub fn draw(draw: &mut Draw, service: &[String], project: &[String], today: Date) -> Prose {
    let sort = &SORTS[draw.share(SORTS.iter().map(|sort| sort.share))];
    make(draw, sort, service, project, today)
}

/// A note in another language than English.
pub fn foreign(draw: &mut Draw, service: &[String], today: Date) -> Prose {
    let sort = SORTS.iter().find(|sort| sort.name == "foreign").expect("prose.tsv has notes");
    // The name as it is: an article or the word "service" would be English.
    let name = service[0].split(" in ").next().unwrap_or_default();
    make(draw, sort, &[name.to_owned()], &[], today)
}

fn make(draw: &mut Draw, sort: &Sort, service: &[String], project: &[String], today: Date) -> Prose {
    let mut drawn = Fields::from([("s", service.to_vec()), ("p", project.to_vec())]);
    draw.write(sort.draws, &mut drawn);
    if let Some(back) = drawn.usual("back") {
        let back: i64 = back.parse().expect("a number of days");
        drawn.set("d", day(today.saturating_sub(jiff::Span::new().days(back))));
    }
    let mut fields = Fields::default();
    for name in sort.fields.split(' ') {
        fields.set(name, drawn.forms(name).expect("prose.tsv draws its fields").to_vec());
    }
    let (mut says, mut asks) = (vec![sayings(sort.said_as, "says")], sayings(sort.name, "asks"));
    if let Some(claim) = drawn.usual("claim") {
        // Said with its opposite: who claims the one denies the other.
        says = vec![sayings(claim, "says"), sayings(claim, "denies")];
        asks = sayings(claim, "asks");
        if draw.chance(0.5) {
            says.reverse();
        }
    } else if let Some(note) = drawn.usual("note") {
        (says, asks) = (vec![sayings(note, "says")], sayings(note, "asks"));
    }
    Prose {
        name: sort.name,
        fields,
        says,
        asks,
        turns: sayings(sort.name, "changes"),
        value: drawn.forms("v").map(<[String]>::to_vec),
        key: draw.write(sort.key, &mut drawn),
    }
}

/// A decision's value other than those it had, with a reason of its own.
pub fn redecide(draw: &mut Draw, topic: &str) -> Option<(String, String)> {
    let is_topic = |row: &str| row.split_once(" | ").is_some_and(|(known, _)| known == topic);
    rule("topics").iter().any(|row| is_topic(row)).then(|| {
        let options = rule(&format!("options_for_{topic}"));
        (draw.word(options).to_owned(), draw.text("reasons"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_letter_is_left_open() {
        let mut chance = Draw::new(5);
        let names = [vec!["harbor-relay".to_owned()], vec!["Norvane".to_owned()]];
        let today = Date::constant(2026, 2, 3);
        for _ in 0..500 {
            let known = draw(&mut chance, &names[0], &names[1], today);
            let other = foreign(&mut chance, &names[0], today);
            for prose in [known, other] {
                let open = |template: &str| {
                    super::super::words::fill(template, |name| {
                        let is_known = prose.fields.forms(name).is_some() || ["v", "o"].contains(&name);
                        is_known.then(String::new)
                    })
                    .contains('{')
                };
                for template in prose.says.iter().copied().flatten().chain(prose.turns).chain(prose.asks) {
                    assert!(!open(template), "{}: {template}", prose.name);
                }
                assert!(
                    prose.says.iter().all(|says| !says.is_empty()) && !prose.asks.is_empty(),
                    "{}",
                    prose.name
                );
            }
        }
    }
}
