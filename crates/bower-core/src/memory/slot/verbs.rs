//! Reads a statement by its verb, which tells the subject, the words behind it and their value apart.
//! The first verb from the left that is known decides, and may decide that there is no slot.

use std::ops::ControlFlow;

use super::super::claims::dates;
use super::super::claims::tokens::{Kind, Token};
use super::parts::{self, Sort, Subject, Value, qualifiers, qualifiers_of_change, value};
use super::words::{self, Change};
use super::{Found, Holds};

/// Goes on where the verb is none that is known, or breaks with what it says.
type Reading = ControlFlow<Option<Found>>;

/// Reads the statement whose verb is the token at `at`.
pub(super) fn read(tokens: &[Token<'_>], at: usize) -> Reading {
    let word = tokens[at].lower.as_str();
    if let Some((_, change)) = words::CHANGES.iter().find(|(verb, _)| *verb == word) {
        return Reading::Break(changed(tokens, at, *change));
    }
    if matches!(word, "has" | "have" | "is" | "are")
        && let Some(participle) = participle(tokens, at)
    {
        return Reading::Break(changed(tokens, participle.0, participle.1));
    }
    let (subject, behind) = (&tokens[..at], &tokens[at + 1..]);
    if let Some((_, attribute)) = words::VALUE_FIRST.iter().find(|(verb, _)| *verb == word) {
        return Reading::Break(turned(subject, attribute, behind));
    }
    match word {
        "is" | "are" | "equals" | "remains" | "stays" => Reading::Break(is(subject, behind)),
        "has" | "have" => Reading::Break(has(subject, behind)),
        "works" | "work" => Reading::Break(works(subject, behind)),
        "lives" | "live" | "resides" => {
            Reading::Break(Subject::of(subject).and_then(|subject| placed(&subject, behind)))
        }
        "reports" | "report" if behind.first().is_some_and(|next| next.is("to")) => {
            let named = |subject: Subject| named(&subject, "manager", &behind[1..], Holds::One);
            Reading::Break(Subject::of(subject).and_then(named))
        }
        "studies" if behind.first().is_some_and(|next| next.is("at")) => {
            let named = |subject: Subject| named(&subject, "school", &behind[1..], Holds::One);
            Reading::Break(Subject::of(subject).and_then(named))
        }
        "relies" | "depends" => Reading::Break(None),
        _ => acts(subject, word, behind),
    }
}

/// "has been moved", "was changed" behind an auxiliary.
fn participle(tokens: &[Token<'_>], at: usize) -> Option<(usize, Change)> {
    let been = usize::from(tokens.get(at + 1).is_some_and(|next| next.is("been")));
    let next = tokens.get(at + 1 + been)?;
    // "is set to 8080" is a state, "is moved to" a change.
    if next.is("set") {
        return None;
    }
    words::CHANGES.iter().find(|(verb, _)| next.is(verb)).map(|(_, change)| (at + 1 + been, *change))
}

/// "Alice owns billing": the subject is the value.
fn turned(front: &[Token<'_>], attribute: &str, behind: &[Token<'_>]) -> Option<Found> {
    let (value, []) = value(front)? else { return None };
    let object = Subject::of(behind)?;
    let fits = value.sort == Sort::Name && object.is_definite && !object.is_plural;
    fits.then(|| found(&object, &[attribute], Vec::new(), value, Holds::One, attribute))
}

/// "8080 is the port of the API".
fn inverted(front: &[Token<'_>], behind: &[Token<'_>]) -> Option<Found> {
    let first = behind.first()?;
    let (value, []) = value(front)? else { return None };
    let subject = Subject::of(behind)?;
    let fits = (first.is("the") || first.owns) && subject.is_unique() && subject.is_attribute();
    let fits = fits && value.sort != Sort::Plain;
    let label = subject.head.clone();
    fits.then(|| found(&subject, &[], Vec::new(), value, Holds::One, &label))
}

/// "X is ...".
fn is(subject: &[Token<'_>], behind: &[Token<'_>]) -> Option<Found> {
    if let Some(found) = inverted(subject, behind) {
        return Some(found);
    }
    let subject = Subject::of(subject)?;
    let first = behind.first()?;
    let second = behind.get(1);
    let two = |word: &str| second.is_some_and(|second| second.is(word));
    match first.lower.as_str() {
        "set" | "configured" | "fixed" | "pinned" if two("to") || two("as") || two("at") => {
            equals(&subject, &behind[2..], false)
        }
        "called" | "named" => named(&subject, "name", &behind[1..], Holds::One),
        // One product is installed on many machines.
        "installed" => None,
        "hosted" | "deployed" | "located" | "based" | "stored" | "kept" | "saved" => {
            placed(&subject, &behind[1..])
        }
        "running" if two("on") || two("at") => placed(&subject, &behind[1..]),
        "bound" if two("to") => carried(&subject, &behind[1..]),
        "owned" if two("by") => named(&subject, "owner", &behind[2..], Holds::One),
        "led" | "headed" if two("by") => named(&subject, "lead", &behind[2..], Holds::One),
        "managed" if two("by") => named(&subject, "manager", &behind[2..], Holds::One),
        "maintained" if two("by") => named(&subject, "maintainer", &behind[2..], Holds::Mostly),
        "written" if two("in") => named(&subject, "language", &behind[2..], Holds::Mostly),
        "due" | "scheduled" | "held" => scheduled(&subject, &behind[1..]),
        "at" | "on" | "in" | "by" => state(&subject, behind)
            .or_else(|| scheduled(&subject, behind))
            .or_else(|| carried(&subject, behind))
            .or_else(|| placed(&subject, behind).filter(|found| found.label == "host")),
        _ => state(&subject, behind).or_else(|| equals(&subject, behind, false)),
    }
}

/// "X is enabled (in staging)".
fn state(subject: &Subject, behind: &[Token<'_>]) -> Option<Found> {
    let first = behind.first()?;
    let (_, name) = words::STATES.iter().find(|(state, _)| first.is(state))?;
    let around = match behind.get(1..) {
        Some([]) | None => Vec::new(),
        // "is on port 8080" is no state.
        Some(rest) if first.is("on") && !parts::is_preposition(&rest[0]) => return None,
        Some(rest) => qualifiers(rest)?,
    };
    if !subject.is_definite || subject.is_one_of_several() {
        return None;
    }
    let normal = match first.lower.as_str() {
        "on" => "enabled",
        "off" => "disabled",
        state => state,
    };
    let value =
        Value { normal: normal.to_owned(), shown: first.text.to_owned(), sort: Sort::Plain, has_noun: false };
    Some(found(subject, &[&format!("~{name}")], around, value, Holds::One, &subject.head))
}

/// "X is VALUE", and whatever says the same; `is_change` where a verb says that it became so.
fn equals(subject: &Subject, behind: &[Token<'_>], is_change: bool) -> Option<Found> {
    let (value, rest) = value(behind)?;
    let around = if is_change { qualifiers_of_change(rest)? } else { qualifiers(rest)? };
    if subject.is_one_of_several() || !(subject.is_definite || subject.is_attribute()) {
        return None;
    }
    let is_attribute = subject.is_attribute();
    let label = subject.head.as_str();
    match value.sort.clone() {
        Sort::When(kind) => {
            let extra = if is_attribute { Vec::new() } else { vec![kind.as_str()] };
            Some(found(subject, &extra, around, value, Holds::One, label))
        }
        Sort::Number(counted) => {
            let is_plain = is_attribute || counted.is_empty() || (subject.is_unique() && !value.has_noun);
            let extra = if is_plain { Vec::new() } else { vec![counted.as_str()] };
            Some(found(subject, &extra, around, value, Holds::One, label))
        }
        Sort::Code if is_attribute && !words::HOSTED.contains(&label) => {
            Some(found(subject, &[], around, value, Holds::One, label))
        }
        Sort::Code if subject.is_unique() && !is_attribute => {
            Some(found(subject, &[], around, value, Holds::One, label))
        }
        // More words than an identifier are no place.
        Sort::Code if subject.is_plural || value.normal.contains(' ') => None,
        Sort::Code => Some(found(subject, &["host"], around, value, Holds::One, label)),
        Sort::Name | Sort::Plain if !value.is_named(subject) || (subject.is_name && !is_attribute) => None,
        Sort::Name | Sort::Plain if is_attribute => {
            Some(found(subject, &[], around, value, Holds::One, label))
        }
        Sort::Name => {
            let holds = if subject.is_unique() { Holds::One } else { Holds::Mostly };
            Some(found(subject, &[], around, value, holds, label))
        }
        Sort::Plain => None,
    }
}

/// "X has 16 GB of memory", "X has a timeout of 30 s".
fn has(subject: &[Token<'_>], behind: &[Token<'_>]) -> Option<Found> {
    let subject = Subject::of(subject)?;
    let article = usize::from(behind.first().is_some_and(|first| first.among(&["a", "an", "the"])));
    // "has 8080 as its port"
    let owners = ["its", "their", "his", "her", "the"];
    let as_its = behind.windows(2).position(|two| two[0].is("as") && two[1].among(&owners));
    if let Some(at) = as_its {
        let (value, []) = value(&behind[..at])? else { return None };
        let noun = Subject::of(behind.get(at + 2..)?)?;
        let fits = subject.is_definite && !noun.is_one_of_several() && !noun.is_plural;
        let is_named = value.is_named(&noun) && (value.sort != Sort::Plain || noun.is_attribute());
        let terms: Vec<&str> = noun.terms.iter().map(String::as_str).collect();
        return (fits && is_named)
            .then(|| found(&subject, &terms, Vec::new(), value, Holds::One, &noun.head));
    }
    if let Some(found) = carried(&subject, &behind[article..]) {
        return Some(found);
    }
    if article > 0 { None } else { counted(&subject, behind) }
}

/// "(has) 16 GB of memory", "(runs with) three replicas".
fn counted(subject: &Subject, behind: &[Token<'_>]) -> Option<Found> {
    let (value, rest) = value(behind)?;
    let Sort::Number(counted) = value.sort.clone() else { return None };
    let is_several = counted.is_empty() || words::SEVERAL.contains(&counted.as_str());
    if is_several || !subject.is_definite || subject.is_plural {
        return None;
    }
    Some(found(subject, &[&counted], qualifiers(rest)?, value, Holds::One, &counted))
}

/// An attribute with its value: "(on) port 8080", "a timeout of 30 s", "version 1.2.3".
fn carried(subject: &Subject, behind: &[Token<'_>]) -> Option<Found> {
    let mut at = 0;
    while behind.get(at).is_some_and(|token| token.among(&["on", "at", "with", "to", "in", "a", "an", "the"]))
    {
        at += 1;
    }
    // Up to two words before the attribute qualify it: "a connection timeout of".
    let length = behind[at..].iter().take(3).position(|token| {
        token.kind == Kind::Word
            && parts::terms_of(token).first().is_some_and(|term| words::ATTRIBUTES.contains(&term.as_str()))
    })?;
    let noun = &behind[at..=at + length];
    if noun.iter().any(|token| token.kind != Kind::Word || parts::is_preposition(token)) {
        return None;
    }
    let mut next = at + length + 1;
    while behind.get(next).is_some_and(|token| token.among(&["of", "is"])) {
        next += 1;
    }
    let (value, rest) = value(behind.get(next..)?)?;
    if !value.is_literal() {
        return None;
    }
    let label = parts::terms_of(noun.last()?).concat();
    let terms: Vec<String> = noun.iter().flat_map(parts::terms_of).collect();
    let extra: Vec<&str> = terms.iter().map(String::as_str).collect();
    if subject.is_one_of_several() || !subject.is_definite {
        return None;
    }
    Some(found(subject, &extra, qualifiers(rest)?, value, Holds::One, &label))
}

/// "(is) on Friday", "at 10:30", "for May 5".
fn scheduled(subject: &Subject, behind: &[Token<'_>]) -> Option<Found> {
    let skip = usize::from(behind.first()?.among(&["on", "at", "in", "for", "by", "every"]));
    dates::read(behind, skip)?;
    equals(subject, &behind[skip..], false)
}

/// "(is) in Berlin", "on db-02": a host by its identifier, any other place by its name.
fn placed(subject: &Subject, behind: &[Token<'_>]) -> Option<Found> {
    let first = behind.first()?;
    if !first.among(&["in", "on", "at", "under"]) || subject.is_one_of_several() || !subject.is_definite {
        return None;
    }
    let (value, rest) = value(&behind[1..])?;
    let around = qualifiers(rest)?;
    match value.sort {
        Sort::Code => Some(found(subject, &["host"], around, value, Holds::One, "host")),
        Sort::Name if !subject.is_plural => {
            Some(found(subject, &["location"], around, value, Holds::One, "location"))
        }
        Sort::Name | Sort::Plain | Sort::Number(_) | Sort::When(_) => None,
    }
}

/// An attribute that the verb implies, with a name as its value.
fn named(subject: &Subject, attribute: &str, behind: &[Token<'_>], holds: Holds) -> Option<Found> {
    let (value, rest) = value(behind)?;
    let fits = match value.sort {
        Sort::Name | Sort::Code => true,
        Sort::Plain => attribute == "name",
        Sort::Number(_) | Sort::When(_) => false,
    };
    if !fits || !subject.is_definite || subject.is_plural {
        return None;
    }
    Some(found(subject, &[attribute], qualifiers(rest)?, value, holds, attribute))
}

/// "works at Acme", "works as a nurse", "works from Berlin".
fn works(subject: &[Token<'_>], behind: &[Token<'_>]) -> Option<Found> {
    let subject = Subject::of(subject)?;
    let first = behind.first()?;
    match first.lower.as_str() {
        "at" | "for" => named(&subject, "employer", &behind[1..], Holds::One),
        "as" => {
            let article = usize::from(behind.get(1).is_some_and(|next| next.among(&["a", "an", "the"])));
            let (value, rest) = value(&behind[1 + article..])?;
            let named = value.sort == Sort::Name || (value.sort == Sort::Plain && article == 1);
            let fits = named && subject.is_definite;
            let around = qualifiers(rest)?;
            fits.then(|| found(&subject, &["role"], around, value, Holds::One, "role"))
        }
        _ => None,
    }
}

/// Every other verb, by its infinitive. Most are nouns too ("the start time"): one subject needs the ending of the verb.
fn acts(subject: &[Token<'_>], word: &str, behind: &[Token<'_>]) -> Reading {
    const GO_ON: Reading = Reading::Continue(());
    let verb = words::infinitive(word);
    let verb = verb.as_str();
    let is = |list: &[&str]| list.contains(&verb);
    if !(is(words::CARRIES) || is(words::MEASURES) || is(words::HAPPENS) || is(words::MANY)) {
        return GO_ON;
    }
    let (Some(subject), Some(first)) = (Subject::of(subject), behind.first()) else { return GO_ON };
    let is_many = subject.is_plural || matches!(subject.head.as_str(), "we" | "i");
    let is_preposition = verb == "like" && subject.is_plural;
    if is_preposition
        || is_many != (verb == word)
        || first.among(&["is", "are", "has", "have", "was", "were"])
    {
        return GO_ON;
    }
    let tried = |fits: bool, read: &dyn Fn() -> Option<Found>| if fits { read() } else { None };
    // A thing may run on several hosts.
    let on_hosts = |found: Found| Found {
        holds: if found.label == "host" { Holds::Mostly } else { found.holds },
        ..found
    };
    if let Some(found) = tried(is(words::CARRIES), &|| carried(&subject, behind).map(on_hosts))
        .or_else(|| tried(is(words::HAPPENS), &|| happens(&subject, verb, behind)))
    {
        return Reading::Break(Some(found));
    }
    // "runs with three replicas" is "has three replicas"
    if is(words::CARRIES) && first.is("with") {
        return Reading::Break(counted(&subject, &behind[1..]));
    }
    if verb == "run" && first.among(&["on", "at"]) {
        let placed = placed(&subject, behind).filter(|found| found.label == "host").map(on_hosts);
        return Reading::Break(placed.or_else(|| many(&subject, verb, &behind[1..])));
    }
    Reading::Break(
        tried(is(words::MEASURES), &|| measures(&subject, verb, behind))
            .or_else(|| tried(is(words::MANY), &|| many(&subject, verb, behind))),
    )
}

/// "meets on Tuesdays", "runs daily".
fn happens(subject: &Subject, verb: &str, behind: &[Token<'_>]) -> Option<Found> {
    let mut at = 0;
    while behind.get(at).is_some_and(|token| token.among(&["on", "at", "in", "by"])) {
        at += 1;
    }
    dates::read(behind, at)?;
    let (value, rest) = value(&behind[at..])?;
    let Sort::When(kind) = value.sort.clone() else { return None };
    if !subject.is_definite || subject.is_one_of_several() {
        return None;
    }
    Some(found(subject, &[verb, &kind], qualifiers(rest)?, value, Holds::One, verb))
}

/// "costs 20 euros", "times out after 30 s".
fn measures(subject: &Subject, verb: &str, behind: &[Token<'_>]) -> Option<Found> {
    let mut at = 0;
    while behind.get(at).is_some_and(|token| token.among(&["out", "after", "in", "for", "up", "to", "every"]))
    {
        at += 1;
    }
    let (value, rest) = value(&behind[at..])?;
    let Sort::Number(counted) = value.sort.clone() else { return None };
    if !subject.is_definite || subject.is_one_of_several() {
        return None;
    }
    Some(found(subject, &[verb, &counted], qualifiers(rest)?, value, Holds::One, verb))
}

/// "uses X for Y", "likes X": several may hold at a time.
fn many(subject: &Subject, verb: &str, behind: &[Token<'_>]) -> Option<Found> {
    let (value, rest) = value(behind)?;
    let (former, rest) = match rest.first() {
        Some(first) if first.is("over") && verb == "prefer" => {
            let (former, rest) = super::parts::value(&rest[1..])?;
            (Some(former.normal), rest)
        }
        Some(_) | None => (None, rest),
    };
    let is_for = rest.first().is_some_and(|first| first.is("for"));
    let around = qualifiers(rest)?;
    if !subject.is_definite || value.sort == Sort::Number(String::new()) {
        return None;
    }
    let holds = if is_for && matches!(verb, "use" | "prefer") { Holds::Mostly } else { Holds::Several };
    let mut found = found(subject, &[verb], around, value, holds, verb);
    // What is preferred to something replaces it where the text says that this is new.
    found.former = former;
    Some(found)
}

/// "X changed (from A) to B", "we moved X to B".
fn changed(tokens: &[Token<'_>], at: usize, change: Change) -> Option<Found> {
    let mut front = &tokens[..at];
    while let [rest @ .., last] = front
        && last.among(&["has", "have", "was", "were", "been", "is", "are", "got", "recently"])
    {
        front = rest;
    }
    let behind = &tokens[at + 1..];
    let turn = behind.iter().position(|token| token.among(&["from", "to"]))?;
    let is_switch = change == Change::Use;
    let subject = match behind.first() {
        _ if turn == 0 => Subject::of(front)?,
        // "X switched its port to 9090"
        Some(first) if first.among(&["its", "their", "his", "her"]) => {
            Subject::of(&[front, &behind[1..turn]].concat())?
        }
        Some(_) | None => Subject::of(&behind[..turn])?,
    };
    // What is switched has a value; who switches uses one.
    let change =
        if turn > 0 && change == Change::Use && subject.is_attribute() { Change::Value } else { change };
    let mut behind = &behind[turn..];
    let mut former = None;
    if behind.first()?.is("from") {
        let to = behind.iter().position(|token| token.among(&["to", "into"]))?;
        let (value, rest) = value(&behind[1..to])?;
        if !rest.is_empty() {
            return None;
        }
        former = Some(value.normal);
        behind = &behind[to..];
    }
    let mut behind = behind.get(1..)?;
    // "to 9090 from 8080"
    if former.is_none()
        && let Some(from) = behind.iter().position(|token| token.is("from"))
        && let Some((value, [])) = value(&behind[from + 1..])
    {
        former = Some(value.normal);
        behind = &behind[..from];
    }
    let (new, rest) = value(behind)?;
    let around = || qualifiers_of_change(rest);
    let is_personal = matches!(subject.head.as_str(), "we" | "i");
    let is_literal = new.is_literal();
    let mut found = match change {
        _ if is_personal && !is_switch => return None,
        Change::Name => found(&subject, &["name"], around()?, new, Holds::One, "name"),
        Change::Version if !subject.is_attribute() && is_literal => {
            found(&subject, &["version"], around()?, new, Holds::One, "version")
        }
        Change::Place if new.sort == Sort::Name && !subject.is_attribute() && !subject.is_plural => {
            found(&subject, &["location"], around()?, new, Holds::One, "location")
        }
        Change::Use if new.sort == Sort::Name || is_personal || new.sort == Sort::Plain => {
            let is_for = rest.first().is_some_and(|first| first.is("for"));
            let holds = if is_for { Holds::Mostly } else { Holds::Several };
            found(&subject, &["use"], around()?, new, holds, "use")
        }
        Change::Version if !is_literal => return None,
        Change::Value | Change::Place | Change::Version | Change::Use => equals(&subject, behind, true)?,
    };
    found.former = former;
    found.says_update = true;
    Some(found)
}

fn found(
    subject: &Subject,
    extra: &[&str],
    around: Vec<String>,
    value: Value,
    holds: Holds,
    label: &str,
) -> Found {
    let mut terms = subject.terms.clone();
    terms.extend(extra.iter().filter(|term| !term.is_empty()).map(|term| term.to_lowercase()));
    terms.extend(around);
    Found {
        terms,
        label: label.to_owned(),
        value: value.normal,
        shown: value.shown,
        holds,
        former: None,
        says_update: subject.is_new,
    }
}
