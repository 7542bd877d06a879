//! Recognises the attribute that a statement speaks of, by the common English words for it.
//! So "looked after by", "is in charge of" and "owner" are one. General English of work, machines and people, from general
//! knowledge; where a word may mean two of them it is both, and what the table has not is unknown, which decides nothing.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::OnceLock;

use super::parts::{Part, Role, Sort};

/// An attribute with the words and phrases that speak of it, in their base form.
struct Attribute {
    words: &'static [&'static str],
    values: Values,
}

/// What values an attribute has.
#[derive(Clone, Copy)]
enum Values {
    /// One at a time, which can be told from other words.
    One,
    /// Plain words ("payments", "in review").
    Plain,
    /// Several at a time.
    Several,
    /// One at a time, hardly ever a name: addresses, paths, commands, codes.
    Coded,
}

const fn of(words: &'static [&'static str]) -> Attribute {
    Attribute { words, values: Values::One }
}

const fn plain(words: &'static [&'static str]) -> Attribute {
    Attribute { words, values: Values::Plain }
}

const fn several(words: &'static [&'static str]) -> Attribute {
    Attribute { words, values: Values::Several }
}

const fn coded(words: &'static [&'static str]) -> Attribute {
    Attribute { words, values: Values::Coded }
}

/// The attributes with such values, as bits.
const fn with(values: Values) -> u128 {
    let (mut bits, mut at) = (0, 0);
    while at < ATTRIBUTES.len() {
        if ATTRIBUTES[at].values as u8 == values as u8 {
            bits |= 1 << at;
        }
        at += 1;
    }
    bits
}

/// The table; a place in it is the attribute.
const ATTRIBUTES: &[Attribute] = &[
    // Who answers for something.
    of(&[
        "owner",
        "own",
        "ownership",
        "maintainer",
        "maintain",
        "maintenance",
        "steward",
        "custodian",
        "responsible",
        "responsibility",
        "accountable",
        "in charge",
        "look after",
        "take care",
        "caretaker",
        "point person",
        "go to person",
    ]),
    of(&[
        "lead",
        "leader",
        "head",
        "leadership",
        "in command",
        "captain",
        "last word",
        "final say",
        "who decide",
    ]),
    of(&["manager", "manage", "boss", "supervisor", "supervise", "report to", "line manager", "superior"]),
    of(&[
        "contact",
        "representative",
        "represent",
        "speak for",
        "liaison",
        "point of contact",
        "account manager",
        "talk to",
    ]),
    of(&["assignee", "assign", "assigned to", "handle", "work on", "pick up"]),
    of(&["reviewer", "approver", "review by", "sign off"]),
    of(&["mentor", "coach", "buddy"]),
    of(&["deputy", "substitute", "stand in", "backup person", "fill in for"]),
    of(&["on call", "on-call", "oncall", "pager duty"]),
    // People.
    plain(&[
        "team",
        "squad",
        "group",
        "department",
        "crew",
        "division",
        "tribe",
        "guild",
        "belong",
        "member",
    ]),
    plain(&[
        "role",
        "job title",
        "job",
        "title",
        "position",
        "work as",
        "for a living",
        "hire as",
        "occupation",
        "profession",
        "designation",
        "employ as",
    ]),
    of(&[
        "live",
        "reside",
        "residence",
        "home",
        "hometown",
        "town",
        "home city",
        "city",
        "base in",
        "office",
        "work from",
        "located",
        "location",
    ]),
    of(&["employer", "work at", "work for", "employ by", "employ at"]),
    of(&[
        "phone",
        "telephone",
        "extension",
        "dial",
        "call on",
        "phone number",
        "mobile number",
        "cell",
        "pick up at",
    ]),
    of(&["email", "e-mail", "mail", "mail address", "email address"]),
    of(&["birthday", "birth", "born"]),
    of(&["age", "years old"]),
    of(&["editor", "ide", "edit", "write code", "code in", "code editor"]),
    of(&["timezone", "time zone"]),
    of(&["salary", "earn", "wage", "pay grade"]),
    several(&["diet", "allergic", "allergy", "vegetarian", "vegan"]),
    of(&[
        "leave",
        "vacation",
        "holiday",
        "return",
        "return date",
        "come back",
        "away",
        "out of office",
        "absent",
        "off until",
    ]),
    // Services.
    of(&["port", "listen", "listen on", "listening port", "tcp port", "bind", "bound", "answer on"]),
    coded(&["url", "base url", "endpoint", "uri", "served at", "reachable at", "address", "point to"]),
    coded(&["ip", "ip address", "address", "resolve to"]),
    of(&["timeout", "time out", "give up", "abort", "cut off", "request timeout", "cancel", "wait"]),
    of(&["interval", "poll", "polling interval", "every", "period", "frequency"]),
    of(&["rate limit", "throttle", "throttling", "request limit", "request quota", "call limit"]),
    of(&["memory", "ram", "memory limit", "memory size"]),
    of(&["disk", "storage", "disk size", "disk space", "size", "volume", "ssd"]),
    of(&["cpu", "core", "vcpu", "processor"]),
    of(&["replica", "replica count", "instance", "copy", "pod", "scale to", "number of replicas"]),
    of(&["worker", "thread", "concurrency", "parallelism", "worker count"]),
    of(&[
        "runtime",
        "language",
        "programming language",
        "language version",
        "interpreter",
        "build with",
        "built with",
        "run on",
        "write in",
        "written in",
        "need",
        "require",
    ]),
    of(&["operating system", "os", "distribution", "distro", "boot", "run on"]),
    of(&[
        "database",
        "db",
        "data store",
        "datastore",
        "persistence",
        "write to",
        "store its data",
        "store its record",
        "keep its data",
        "storage engine",
    ]),
    of(&["cache ttl", "ttl", "time to live", "cache", "cached", "cache lifetime"]),
    of(&["log level", "logging", "verbosity", "verbose", "log at", "logging level"]),
    of(&["retention", "log retention", "retain", "keep for", "kept for", "delete after", "remove after"]),
    coded(&["health check", "healthcheck", "probe", "liveness", "readiness"]),
    coded(&[
        "config file",
        "configuration file",
        "settings file",
        "configuration",
        "configure",
        "config",
        "settings",
    ]),
    of(&["queue", "job queue", "topic", "consume", "work queue", "read its job", "get its work"]),
    of(&["alert", "alarm", "alert channel", "alerting", "notify", "page people", "pager"]),
    several(&["dashboard", "monitoring page"]),
    coded(&[
        "region",
        "data center",
        "data centre",
        "availability zone",
        "hosting region",
        "hosted in",
        "live",
        "location",
        "located",
    ]),
    of(&["certificate", "tls certificate", "ssl certificate"]),
    several(&["depend", "dependency", "need", "require", "rely", "talk to"]),
    of(&["upload limit", "upload size", "upload", "payload size", "body size", "request size", "file size"]),
    of(&["retry", "retries", "attempt"]),
    of(&["batch size", "page size", "chunk size"]),
    of(&["session", "session lifetime", "session timeout"]),
    of(&["budget", "spending limit", "much money"]),
    of(&["price", "cost", "fee", "charge"]),
    of(&[
        "deploy",
        "deployment",
        "deploy slot",
        "deployment window",
        "deploy window",
        "release window",
        "ship",
        "roll out",
        "rollout",
    ]),
    of(&["backup", "back up", "backup time"]),
    // Projects.
    coded(&[
        "branch",
        "default branch",
        "main branch",
        "merge into",
        "branch off",
        "develop on",
        "pull request",
        "integration branch",
    ]),
    of(&["licence", "license", "license as", "licensing", "terms"]),
    of(&["version", "release number", "release", "newest", "latest"]),
    of(&["release date", "launch", "launch date", "go live", "go public", "come out", "release", "ship"]),
    of(&["deadline", "due", "due date"]),
    of(&[
        "ci",
        "ci system",
        "build system",
        "continuous integration",
        "build on",
        "built by",
        "build run",
        "build",
    ]),
    coded(&["test", "test command", "run the test", "test runner", "testing"]),
    of(&["coverage", "coverage threshold", "test coverage", "line tested", "be tested"]),
    of(&["formatter", "linter", "format code", "lint"]),
    of(&["package manager"]),
    of(&["repository", "repo", "source code"]),
    several(&["convention", "naming"]),
    several(&[
        "decision",
        "decide",
        "choice",
        "choose",
        "chose",
        "chosen",
        "settle on",
        "go with",
        "went with",
        "opt for",
        "drop",
        "move away",
        "alternative",
    ]),
    several(&[
        "gotcha",
        "careful",
        "beware",
        "watch out",
        "go wrong",
        "wrong",
        "pitfall",
        "trap",
        "workaround",
        "caution",
        "warning",
        "what help",
    ]),
    // Tickets.
    plain(&["status", "state", "condition", "far along", "in review", "in progress", "waiting for"]),
    plain(&["priority", "severity", "urgency", "urgent", "triage as"]),
    of(&["estimate", "size", "effort", "story point", "point", "much work"]),
    several(&["block", "blocker", "blocked by"]),
    of(&["milestone", "sprint"]),
    // Machines and data.
    of(&[
        "rack",
        "rack position",
        "in the data centre",
        "in the data center",
        "slot",
        "position",
        "location",
        "located",
    ]),
    of(&["warranty", "guarantee", "support contract"]),
    of(&["kernel"]),
    coded(&["bucket", "storage path", "export to", "exported to", "stored in"]),
    of(&["format", "file format", "encoding", "encode"]),
    of(&["refresh", "update schedule", "refresh schedule"]),
    // Customers.
    plain(&["plan", "subscription", "tier", "package", "pay for", "subscribe to"]),
    of(&["seat", "seat count", "licence count", "license count"]),
    of(&["contract", "contract end", "renewal", "renew", "bound until"]),
    of(&["discount", "rebate"]),
    of(&["currency"]),
    of(&["sla", "uptime", "availability"]),
    of(&["meeting", "one-to-one", "weekly call", "daily call", "standup", "meet", "talk on", "one on one"]),
];

/// The attributes that a statement speaks of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::memory) struct Attributes {
    /// Those that it may mean.
    may: u128,
    /// Those of them that its words can mean alone.
    sure: u128,
    /// Words that say something beside them, sorted.
    rest: Vec<String>,
}

/// How the attributes of two statements stand to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::memory) enum Kinship {
    /// Both speak of the same ones for sure.
    Same,
    /// No word of either speaks against it.
    Open,
    /// They speak of others.
    Apart,
}

impl Attributes {
    /// Reads what is so now of a statement. `words` are its parts in lower case.
    pub(super) fn of(parts: &[Part], words: &[String]) -> Self {
        // How often is a value by itself, and a word of "weekly call".
        let is_time = |part: &Part| matches!(part.role, Role::Value(Sort::When(_)));
        let is_word =
            |part: &Part| matches!(part.role, Role::Word | Role::Grammar | Role::Opener | Role::Idle);
        let may_speak = |part: &Part| (is_word(part) || is_time(part)) && !part.is_former;
        let all = parts.iter().zip(words);
        let words: Vec<Option<&String>> = all.map(|(part, word)| may_speak(part).then_some(word)).collect();
        let mut found = Self::default();
        let mut at = 0;
        while at < words.len() {
            if let Some((bits, length)) = lookup(&words[at..])
                && (length > 1 || !is_time(&parts[at]))
            {
                found.may |= bits;
                if bits.is_power_of_two() {
                    found.sure |= bits;
                }
                at += length;
                continue;
            }
            if matches!(parts[at].role, Role::Word) && !parts[at].is_former {
                found.rest.push(parts[at].normal.clone());
            }
            at += 1;
        }
        if found.may == 0 {
            found.may =
                parts.iter().filter(|part| !part.is_former).fold(0, |bits, part| bits | implied(part));
        }
        found.rest.sort_unstable();
        found.rest.dedup();
        found
    }

    fn is_several(&self) -> bool {
        self.sure & const { with(Values::Several) } != 0
    }

    /// Whether the values of what it speaks of are plain words.
    pub(super) fn is_plain(&self) -> bool {
        self.sure & const { with(Values::Plain) } != 0
    }

    /// Whether the values of what it speaks of are hardly ever names.
    pub(super) fn are_coded(&self) -> bool {
        self.sure & const { with(Values::Coded) } != 0
    }

    /// Whether a word says something beside them.
    pub(super) fn leaves(&self, word: &str) -> bool {
        self.rest.iter().any(|one| one == word)
    }

    /// How well they fit those of a question: 1 where both are sure of one, half of it where a word may mean it, -1 where they are
    /// others.
    pub(super) fn answers(&self, asked: &Self) -> f32 {
        if self.sure & asked.sure != 0 {
            1.0
        } else if self.may & asked.may != 0 {
            0.5
        } else if self.sure != 0 && asked.sure != 0 {
            -1.0
        } else {
            0.0
        }
    }

    /// Whether two statements both tell what these ask for: beside it they speak of nothing else, unless its values are plain words,
    /// which may be those of anything ("support lead").
    pub(super) fn are_told_by(&self, one: &Self, other: &Self) -> bool {
        let told = self.sure & one.sure & other.sure;
        told & const { with(Values::Plain) } != 0 || (told != 0 && one.beside(other) == Kinship::Same)
    }

    /// Beside those of another statement.
    pub(in crate::memory) fn beside(&self, other: &Self) -> Kinship {
        if self.may == 0 || other.may == 0 {
            Kinship::Open
        } else if self.may & other.may == 0 {
            Kinship::Apart
        } else if self.sure == other.sure && self.sure != 0 && !self.is_several() {
            Kinship::Same
        } else {
            Kinship::Open
        }
    }

    /// Whether neither says more of which one it is than the other where both say something.
    pub(super) fn is_as_near(&self, other: &Self) -> bool {
        let within = |one: &Self, two: &Self| one.rest.iter().all(|word| two.rest.contains(word));
        within(self, other) || within(other, self)
    }
}

/// The phrases of the table that begin so (two letters of a word, which every form of it keeps), each with the bits of its attributes.
fn phrases(head: &[u8]) -> &'static [(&'static str, u128)] {
    static SORTED: OnceLock<Vec<(&str, u128)>> = OnceLock::new();
    let sorted = SORTED.get_or_init(|| {
        let mut sorted: BTreeMap<&str, u128> = BTreeMap::new();
        for (at, attribute) in ATTRIBUTES.iter().enumerate() {
            for phrase in attribute.words {
                *sorted.entry(phrase).or_default() |= 1 << at;
            }
        }
        sorted.into_iter().collect()
    });
    let from = sorted.partition_point(|(phrase, _)| phrase.as_bytes() < head);
    let count = sorted[from..].iter().take_while(|(phrase, _)| phrase.as_bytes().starts_with(head)).count();
    &sorted[from..from + count]
}

/// The attributes that the longest phrase at the head of some words speaks of, as bits, and its length; `None` in the words is what
/// ends a phrase.
fn lookup(words: &[Option<&String>]) -> Option<(u128, usize)> {
    let first = (*words.first()?)?;
    let mut best: Option<(u128, usize)> = None;
    for (phrase, bits) in phrases(first.as_bytes().get(..2)?) {
        let mut length = 0;
        let is_said = phrase.split(' ').all(|base| {
            length += 1;
            words.get(length - 1).is_some_and(|word| word.is_some_and(|word| is_form(word, base)))
        });
        best = match best {
            _ if !is_said => best,
            Some((known, longest)) if longest == length => Some((known | bits, length)),
            Some((_, longest)) if longest > length => best,
            _ => Some((*bits, length)),
        };
    }
    best
}

/// What a value may be a value of where no word tells, as bits: "10.1.2.3 is web-07".
fn implied(part: &Part) -> u128 {
    let phrase = match part.role {
        Role::Value(Sort::Place("address")) if part.text.parse::<IpAddr>().is_ok() => "ip address",
        Role::Value(Sort::Place("mail")) => "email address",
        Role::Value(Sort::Place("url")) => "base url",
        _ => return 0,
    };
    phrases(phrase.as_bytes()).iter().find(|(one, _)| *one == phrase).map_or(0, |(_, bits)| *bits)
}

/// Whether a word in lower case is a form of another: "ports", "maintained", "throttling", "copies", "mapped".
fn is_form(word: &str, base: &str) -> bool {
    let tail = |stem: &str, tails: &[&str]| word.strip_prefix(stem).is_some_and(|rest| tails.contains(&rest));
    let (stem, last) = base.split_at(base.len() - 1);
    let is_doubled = || {
        let rest = word.strip_prefix(base).and_then(|rest| rest.strip_prefix(last));
        rest.is_some_and(|rest| rest == "ed" || rest == "ing")
    };
    word == base
        || base.len() > 2
            && (tail(base, &["s", "es", "d", "ed", "ing"])
                || (last == "e" && tail(stem, &["ing", "ed"]))
                || (last == "y" && tail(stem, &["ies", "ied"]))
                || is_doubled())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::super::said::Said;
    use super::*;

    #[track_caller]
    fn check(one: &str, two: &str, expected: Kinship) {
        let (one, two) = (Said::of(one), Said::of(two));
        assert_eq!(one.frame.attributes.beside(&two.frame.attributes), expected, "{one:?}\n{two:?}");
    }

    #[test]
    fn one_attribute_is_told_in_many_words() {
        check("Ada Brandt looks after owl-mailer", "The steward of owl-mailer is Bo Lind", Kinship::Same);
        check("owl-mailer gives up after 11 s", "owl-mailer's request timeout: 18 s", Kinship::Same);
        check("owl-mailer throttles at 300 calls", "The rate limit of owl-mailer is 200", Kinship::Same);
        check("Cy Roe is in the payments squad", "Cy Roe's department is search", Kinship::Same);
        check("We keep 3 copies of owl-mailer", "owl-mailer has 5 replicas", Kinship::Same);
        check("owl-mailer gives up after 11 s", "owl-mailer throttles at 300 calls", Kinship::Apart);
        check("owl-mailer answers on :8438", "there are 37 instances of owl-mailer", Kinship::Apart);
        check("owl-mailer answers on :8438", "the port of owl-mailer is 8080", Kinship::Same);
        check("Cy Roe lives in Oslo", "Cy Roe edits in Emacs", Kinship::Apart);
        // What may be two things is neither for sure.
        check("web-07 runs on Debian 12", "The operating system of web-07 is Alpine 3", Kinship::Open);
        check("I meet Cy Roe on Tuesdays", "The weekly call of Cy Roe is on Fridays", Kinship::Same);
        check("owl-mailer is fine", "owl-mailer has 5 replicas", Kinship::Open);
        // A person is talked to as the contact, a service because it is needed.
        check("owl-mailer talks to Envoy", "owl-mailer talks to MinIO", Kinship::Open);
    }

    #[test]
    fn a_word_is_known_in_its_forms() {
        for (word, base) in [
            ("ports", "port"),
            ("maintained", "maintain"),
            ("throttling", "throttle"),
            ("copies", "copy"),
            ("mapped", "map"),
            ("managed", "manage"),
        ] {
            assert!(is_form(word, base), "{word}");
        }
        for (word, base) in [("portal", "port"), ("as", "a"), ("teammate", "team"), ("ownership", "own")] {
            assert!(!is_form(word, base), "{word}");
        }
    }

    #[test]
    fn the_table_fits_its_bits() {
        assert!(ATTRIBUTES.len() <= 128);
    }

    /// The slow twin: every phrase of the table is tried.
    #[test]
    fn phrases_are_found_by_their_first_letters() {
        let mut heads: Vec<&str> = ATTRIBUTES.iter().flat_map(|one| one.words).copied().collect();
        heads.extend(["", "a", "é", "zz", "ports", "copies", "throttling", "mapped", "os's"]);
        for head in heads {
            let first = head.split(' ').next().unwrap_or("");
            let is_its = |phrase: &&str| is_form(first, phrase.split(' ').next().unwrap_or(""));
            let all = ATTRIBUTES.iter().flat_map(|one| one.words).filter(|phrase| is_its(phrase));
            let expected: BTreeSet<&str> = all.copied().collect();
            let found = first.as_bytes().get(..2).map_or(&[][..], phrases);
            let found: BTreeSet<&str> = found.iter().map(|(phrase, _)| *phrase).filter(is_its).collect();
            assert_eq!(found, expected, "{first}");
        }
    }
}
