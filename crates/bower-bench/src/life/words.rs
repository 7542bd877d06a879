//! Provides seeded random choices, and the names of what the simulated agent writes about.
//! All of it follows from one seed; every list is our own, and names are combined, so that a seed draws a few hundred of many thousands.

use std::collections::HashSet;

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

    /// A seed for somebody else.
    pub fn seed(&mut self) -> u64 {
        self.0.next()
    }

    /// Characters of an alphabet.
    pub fn letters(&mut self, alphabet: &str, count: usize) -> String {
        let alphabet: Vec<char> = alphabet.chars().collect();
        (0..count).map(|_| *self.pick(&alphabet)).collect()
    }

    pub fn hex(&mut self, count: usize) -> String {
        self.letters("0123456789abcdef", count)
    }
}

const SERVICE_FIRST: &[&str] = &[
    "harbor", "quill", "ember", "lantern", "pebble", "thistle", "cobalt", "juniper", "saffron", "marble",
    "willow", "copper", "falcon", "meadow", "garnet", "cinder", "acorn", "breeze", "canyon", "dahlia",
    "elder", "fennel", "glacier", "hazel", "indigo", "jasper", "kelp", "lilac", "magnet", "nectar", "onyx",
    "poppy", "quartz", "raven", "sable", "tundra", "umber", "velvet", "walnut", "yarrow", "zephyr", "basalt",
    "clover", "drift", "fjord", "granite", "heron", "iris", "kestrel", "larch", "mosaic", "nimbus", "otter",
    "pollen", "reed", "sorrel", "timber", "vesper", "wren", "amber",
];
const SERVICE_SECOND: &[&str] = &[
    "relay",
    "indexer",
    "gateway",
    "ledger",
    "mailer",
    "scheduler",
    "resolver",
    "proxy",
    "worker",
    "broker",
    "importer",
    "exporter",
    "notifier",
    "renderer",
    "sampler",
    "crawler",
    "billing",
    "search",
    "auth",
    "sync",
    "cache",
    "router",
    "archiver",
    "planner",
    "matcher",
    "scorer",
    "uploader",
    "watcher",
    "invoicer",
    "translator",
    "checkout",
    "profile",
    "tracker",
    "dispatcher",
    "pricing",
    "catalog",
    "signup",
    "reports",
    "webhooks",
    "images",
];
const PLACE_FIRST: &[&str] = &[
    "Nor", "Kest", "Bel", "Tar", "Wyn", "Dor", "Lark", "Mor", "Sil", "Har", "Elm", "Quen", "Ash", "Brin",
    "Cal", "Fen", "Gal", "Hol", "Ist", "Jor", "Kel", "Lor", "Mar", "Nel", "Orr", "Pel", "Ros", "Sten",
    "Thal", "Ul", "Ver", "Wex", "Yar", "Zan", "Ald", "Brook", "Crest", "Dun", "Ever", "Frost",
];
const PLACE_SECOND: &[&str] = &[
    "vane", "mere", "wick", "spur", "dale", "ford", "haven", "moor", "crest", "field", "mont", "rath",
    "stead", "brook", "gate", "holm", "ridge", "by", "worth", "lin", "nova", "dyne", "quist", "bury",
    "hurst", "more", "thorn", "well", "den", "tarn",
];
const FIRST_NAMES: &[&str] = &[
    "Ana", "Bilal", "Chloe", "Dmitri", "Elif", "Farid", "Greta", "Hana", "Ivo", "Jonas", "Keiko", "Lucia",
    "Mateo", "Nadia", "Oskar", "Priya", "Quentin", "Rosa", "Samir", "Tomas", "Uma", "Viktor", "Wanda",
    "Ximena", "Yusuf", "Zofia", "Aaron", "Beatriz", "Cedric", "Dalia", "Emil", "Fiona", "Gustav", "Helena",
    "Imran", "Judith", "Karim", "Leila", "Milos", "Nina", "Olga", "Pavel", "Rania", "Stefan", "Tessa",
    "Umar", "Vera", "Wim", "Yara", "Zeno", "Agnes", "Boris", "Carla", "Derek",
];
const SURNAMES: &[&str] = &[
    "Abara",
    "Brandt",
    "Castellan",
    "Dorsey",
    "Eklund",
    "Farkas",
    "Grimaldi",
    "Hofer",
    "Ibarra",
    "Janssen",
    "Kowal",
    "Lindqvist",
    "Marchetti",
    "Novak",
    "Okafor",
    "Petrov",
    "Quispe",
    "Rahmani",
    "Sorensen",
    "Takeda",
    "Ulrich",
    "Varga",
    "Weiland",
    "Xu",
    "Yilmaz",
    "Zeller",
    "Almeida",
    "Bergmann",
    "Chowdhury",
    "Delacroix",
    "Engstrom",
    "Fontaine",
    "Gallo",
    "Haddad",
    "Iversen",
    "Jankowski",
    "Keller",
    "Laurent",
    "Mendoza",
    "Nakamura",
    "Oduya",
    "Palmer",
    "Reinholt",
    "Sandoval",
    "Thorne",
    "Ueda",
    "Vasquez",
    "Whitlock",
    "Yamada",
    "Zhang",
    "Achterberg",
    "Bellamy",
    "Corrigan",
    "Dunmore",
    "Escobar",
    "Fairchild",
];
const MACHINES: &[&str] = &[
    "edge", "db", "gpu", "build", "cache", "node", "rack", "web", "backup", "proxy", "mail", "pve", "store",
    "lab", "worker", "queue", "bastion", "mon", "ci", "render",
];
const TICKETS: &[&str] = &[
    "PAY", "OPS", "WEB", "DATA", "AUTH", "MOB", "INFRA", "SEC", "API", "DOC", "UX", "QA", "BILL", "CRM",
    "NET", "PLAT",
];
const COMPANIES: &[&str] = &[
    "Foods",
    "Labs",
    "Logistics",
    "Health",
    "Energy",
    "Media",
    "Textiles",
    "Robotics",
    "Insurance",
    "Travel",
    "Motors",
    "Optics",
    "Paper",
    "Farms",
    "Games",
    "Bank",
];
const DATASET_FIRST: &[&str] = &[
    "orders",
    "clicks",
    "invoices",
    "sessions",
    "returns",
    "shipments",
    "refunds",
    "signups",
    "sensors",
    "payments",
    "tickets",
    "surveys",
    "prices",
    "stock",
    "visits",
    "calls",
    "ratings",
    "leads",
    "claims",
    "trips",
];
const DATASET_SECOND: &[&str] = &[
    "daily", "hourly", "raw", "clean", "eu", "us", "apac", "2024", "2025", "v2", "v3", "sample", "full",
    "archive", "joined", "weekly", "gold", "silver", "mobile", "partner",
];
/// Where a service can run more than once.
pub const STAGES: &[&str] = &["staging", "production", "dev", "preview", "canary"];

/// What somebody has a taste in, and what can be preferred there.
pub const TASTES: &[(&str, &[&str])] = &[
    ("indentation", &["tabs", "two spaces", "four spaces", "eight spaces"]),
    (
        "commit messages",
        &["imperative mood", "conventional prefixes", "one short line", "a ticket number first"],
    ),
    ("string quotes", &["single quotes", "double quotes", "backticks"]),
    ("error handling", &["early returns", "result types", "exceptions", "error codes"]),
    ("naming tests", &["full sentences", "given-when-then", "short verbs", "the function's name"]),
    ("diagrams", &["Mermaid", "PlantUML", "plain ASCII", "Excalidraw"]),
    (
        "answers to questions",
        &["short bullet points", "full paragraphs", "code first", "a summary at the top"],
    ),
    ("dates", &["ISO format", "day-month-year", "month names", "relative dates"]),
    ("pull requests", &["small ones", "one per feature", "stacked branches", "squashed commits"]),
    ("logging", &["structured JSON", "plain lines", "key=value pairs", "as little as possible"]),
    ("imports", &["absolute paths", "relative paths", "grouped by origin", "alphabetical order"]),
    ("comments", &["only the why", "doc comments everywhere", "none at all", "full sentences"]),
    ("line width", &["80 columns", "100 columns", "110 columns", "120 columns"]),
    ("code review", &["written comments", "pairing", "a call", "suggested edits"]),
    ("test data", &["factories", "fixtures", "builders", "recorded samples"]),
    ("configuration", &["TOML", "YAML", "environment variables", "JSON"]),
];

/// Who or what a fact is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Subject {
    Service,
    Project,
    Person,
    Machine,
    Ticket,
    Customer,
    Dataset,
    Taste,
}

/// A name in the spellings that people use for it, the usual one first.
pub type Forms = Vec<String>;

/// Makes names, none twice.
#[derive(Default)]
pub struct Names {
    used: HashSet<String>,
}

impl Names {
    /// A name that nothing has yet, with its spellings.
    pub fn fresh(&mut self, draw: &mut Draw, subject: Subject) -> Forms {
        for _ in 0..10_000 {
            let name = Self::any(draw, subject);
            if self.used.insert(name.clone()) {
                return forms(draw, subject, &name);
            }
        }
        // More names than the lists give: a number makes it another.
        let name = format!("{}-{}", Self::any(draw, subject), self.used.len());
        self.used.insert(name.clone());
        vec![name]
    }

    /// The name with one digit changed, or another stage or first name: as near as a different thing can be called.
    pub fn near(&mut self, draw: &mut Draw, subject: Subject, name: &str) -> Option<Forms> {
        for _ in 0..20 {
            let near = match subject {
                Subject::Service => {
                    let base = name.split(" in ").next().unwrap_or(name);
                    format!("{base} in {}", draw.word(STAGES))
                }
                Subject::Person => {
                    let surname = name.split(' ').next_back().unwrap_or(name);
                    format!("{} {surname}", draw.word(FIRST_NAMES))
                }
                Subject::Taste => {
                    let project = name.split(" in ").nth(1).unwrap_or(name);
                    format!("{} in {project}", draw.pick(TASTES).0)
                }
                Subject::Project | Subject::Customer => return None,
                Subject::Machine | Subject::Ticket | Subject::Dataset => other_digit(draw, name)?,
            };
            if self.used.insert(near.clone()) {
                return Some(forms(draw, subject, &near));
            }
        }
        None
    }

    /// A name that something may have already.
    pub fn any(draw: &mut Draw, subject: Subject) -> String {
        let place = |draw: &mut Draw| format!("{}{}", draw.word(PLACE_FIRST), draw.word(PLACE_SECOND));
        match subject {
            Subject::Service => {
                let name = format!("{}-{}", draw.word(SERVICE_FIRST), draw.word(SERVICE_SECOND));
                if draw.chance(0.25) { format!("{name} in {}", draw.word(STAGES)) } else { name }
            }
            Subject::Project => place(draw),
            Subject::Person => format!("{} {}", draw.word(FIRST_NAMES), draw.word(SURNAMES)),
            Subject::Machine => format!("{}-{:02}", draw.word(MACHINES), draw.between(1, 99)),
            Subject::Ticket => format!("{}-{}", draw.word(TICKETS), draw.between(101, 9_899)),
            Subject::Customer => format!("{} {}", place(draw), draw.word(COMPANIES)),
            Subject::Dataset => {
                format!("{}_{}_{}", draw.word(DATASET_FIRST), draw.word(DATASET_SECOND), draw.between(10, 99))
            }
            Subject::Taste => format!("{} in {}", draw.pick(TASTES).0, place(draw)),
        }
    }
}

/// The spellings of a name that stay recognisable.
fn forms(draw: &mut Draw, subject: Subject, name: &str) -> Forms {
    let mut forms = vec![name.to_owned()];
    match subject {
        Subject::Service => {
            if let Some((base, stage)) = name.split_once(" in ") {
                forms.push(format!("{stage} {base}"));
                forms.push(format!("{base} ({stage})"));
            } else {
                forms.push(name.replace('-', " "));
                forms.push(format!("the {name} service"));
                if draw.chance(0.3) {
                    forms.push(camel(name));
                }
            }
        }
        Subject::Project => forms.push(format!("project {name}")),
        Subject::Machine => forms.push(format!("host {name}")),
        Subject::Ticket => forms.push(format!("ticket {name}")),
        Subject::Dataset => forms.push(format!("the {name} table")),
        Subject::Person | Subject::Customer | Subject::Taste => {}
    }
    forms
}

fn camel(name: &str) -> String {
    name.split('-')
        .map(|part| {
            let mut letters = part.chars();
            letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
        })
        .collect()
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

/// Puts what `of` says for each letter in the place of `{letter}`. A brace that holds anything else stays.
pub fn fill(template: &str, mut of: impl FnMut(char) -> Option<String>) -> String {
    let mut text = String::with_capacity(template.len() + 32);
    let mut rest = template;
    while let Some(at) = rest.find('{') {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let mut letters = rest.chars().skip(1);
        let letter = letters.next().filter(|_| letters.next() == Some('}'));
        if let Some((letter, filling)) = letter.and_then(|letter| Some((letter, of(letter)?))) {
            text.push_str(&filling);
            rest = &rest[2 + letter.len_utf8()..];
        } else {
            text.push('{');
            rest = &rest[1..];
        }
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_name_differs_and_stays_near() {
        let mut draw = Draw::new(1);
        let mut names = Names::default();
        for _ in 0..200 {
            let old = Names::any(&mut draw, Subject::Ticket);
            let new = other_digit(&mut draw, &old).unwrap();
            let differ = old.chars().zip(new.chars()).filter(|(old, new)| old != new).count();
            assert_eq!((differ, old.len()), (1, new.len()), "{old} {new}");
        }
        let stage = names.near(&mut draw, Subject::Service, "harbor-relay in dev").unwrap();
        assert!(stage[0].starts_with("harbor-relay in "), "{stage:?}");
    }

    #[test]
    fn places_are_filled_and_other_braces_stay() {
        let of = |letter| (letter == 's').then(|| "X{s}".to_owned());
        assert_eq!(fill("{s} = {} {zz} {q} é{s}{", of), "X{s} = {} {zz} {q} éX{s}{");
    }
}
