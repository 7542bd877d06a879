//! Extracts the claims of a text: numbers, dates, versions, names, denials and limits.
//! Two texts that differ in one of these do not say the same, however close their meanings are. Any string has claims, in time
//! linear in its length.

mod among;
pub(super) mod dates;
pub(super) mod numbers;
pub(super) mod tokens;
pub(super) mod words;

use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::ops::{ControlFlow, Range};

use serde::{Deserialize, Serialize};

use crate::text::{Analyzer, Language, Purpose, TermShape};
use dates::When;
use numbers::Number;
use tokens::{Kind, Token, tokens};
use words::OPPOSITES;

/// A text with more claims of one kind is no statement, but a document: it is like no other text unless it is the same text.
const MOST_CLAIMS: usize = 128;

/// So many words of a text are compared by their order; of longer ones only whether it is the same.
const MOST_ORDERED: usize = 64;

/// What one text claims.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Claims {
    numbers: Vec<Number>,
    times: Vec<When>,
    versions: Vec<String>,
    names: Vec<String>,
    openers: Vec<String>,
    limits: BTreeSet<&'static str>,
    poles: BTreeSet<(usize, bool)>,
    places: BTreeSet<&'static str>,
    colors: BTreeSet<&'static str>,
    denials: usize,
    is_passive: bool,
    is_crowded: bool,
    says_update: bool,
    spoken: HashSet<String>,
    terms: BTreeSet<String>,
    content: Vec<String>,
    plain: String,
}

/// What two texts say differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// One denies what the other says.
    Negation,
    /// One says the opposite where only one of the two can be so ("enabled", "disabled").
    Opposite,
    /// A quantity.
    Number,
    /// The unit of a quantity.
    Unit,
    /// A date, a day, a time of day, or how often.
    Date,
    /// A version.
    Version,
    /// A person, a place, a product, an identifier.
    Name,
    /// Opposites of which neither need be so ("left", "right").
    Contrary,
    /// When, how far or how surely it holds ("only", "always", "might", "was").
    Limit,
    /// Who does what to whom: the same words in another order.
    Order,
    /// The value of a slot.
    Value,
    /// Too many claims to compare.
    Crowded,
}

/// One difference between two texts, from the earlier to the later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// What differs.
    pub what: What,
    /// What it is about, in a word, where a text says so ("port").
    pub label: Option<String>,
    /// What the earlier text says; nothing where only the later one says something.
    pub from: Option<String>,
    /// What the later text says.
    pub to: Option<String>,
}

impl Difference {
    pub(super) fn new(what: What, from: Option<String>, to: Option<String>) -> Self {
        Self { what, label: None, from, to }
    }

    /// Whether one text denies the other.
    pub fn is_denial(&self) -> bool {
        matches!(self.what, What::Negation | What::Opposite)
    }
}

impl fmt::Display for Difference {
    /// `port 8080 -> 9090`; one side alone is `only before: X` or `only now: X`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(label) = &self.label {
            write!(f, "{label} ")?;
        }
        match (&self.from, &self.to) {
            (Some(from), Some(to)) => write!(f, "{from} -> {to}"),
            (Some(from), None) => write!(f, "only before: {from}"),
            (None, Some(to)) => write!(f, "only now: {to}"),
            (None, None) => match self.what {
                What::Order => f.write_str("the same words in another order"),
                What::Crowded => f.write_str("too many claims to compare"),
                What::Negation | What::Opposite => f.write_str("one denies the other"),
                What::Number
                | What::Unit
                | What::Date
                | What::Version
                | What::Name
                | What::Contrary
                | What::Limit
                | What::Value => f.write_str("another claim"),
            },
        }
    }
}

impl Claims {
    /// Reads a text. Rules are for English; numbers, codes and dates in digits are found in any language.
    pub fn of(text: &str) -> Self {
        Self::read(text, &tokens(text))
    }

    /// The claims of a text whose tokens are known.
    pub(super) fn read(text: &str, tokens: &[Token<'_>]) -> Self {
        let mut claims = Self { plain: plain(text), ..Self::default() };
        let mut spans: Vec<(Range<usize>, String)> = Vec::new();
        let capitals_say_nothing = is_title(tokens);
        let mut at = 0;
        while at < tokens.len() {
            let used = claims.measure(tokens, at, &mut spans);
            if used > 0 {
                at += used;
                continue;
            }
            let token = &tokens[at];
            match token.kind {
                Kind::Code if is_version(token.text) => {
                    claims.versions.push(token.lower.trim_start_matches('v').to_owned());
                    claims.spoken.insert(token.lower.clone());
                }
                Kind::Code => claims.names.push(token.text.to_owned()),
                Kind::Word => claims.word(tokens, at, capitals_say_nothing),
                Kind::Number | Kind::Mark => {}
            }
            if !token.is_mark() {
                claims.spoken.insert(singular(&token.lower).to_owned());
            }
            at += 1;
        }
        claims.is_passive = is_passive(tokens);
        // Each of these is compared with each of another text's.
        let lists = [claims.numbers.len(), claims.times.len(), claims.names.len(), claims.versions.len()];
        claims.is_crowded = lists.into_iter().any(|claimed| claimed > MOST_CLAIMS);
        claims.read_terms(text, &spans);
        claims
    }

    /// Takes a date or a number at a token; returns how many tokens it took.
    fn measure(&mut self, tokens: &[Token<'_>], at: usize, spans: &mut Vec<(Range<usize>, String)>) -> usize {
        let span = |used: usize| tokens[at].at..tokens[at + used - 1].end();
        if let Some((when, used)) = dates::read(tokens, at) {
            spans.push((span(used), when.normal()));
            self.times.push(when);
            return used;
        }
        let Some((number, used)) = numbers::read(tokens, at) else { return 0 };
        if !number.is_one {
            spans.push((span(used), number.normal()));
        }
        self.numbers.push(number);
        used
    }

    fn word(&mut self, tokens: &[Token<'_>], at: usize, capitals_say_nothing: bool) {
        let token = &tokens[at];
        let word = token.lower.as_str();
        let before = at.checked_sub(1).map(|before| &tokens[before]);
        let next = tokens.get(at + 1);
        // "8080, not 9090" corrects; "no more than" and "not only" measure.
        let is_correction = before.is_some_and(|before| before.is(","));
        let is_measure = next.is_some_and(|next| {
            next.among(&["more", "less", "fewer", "later", "sooner", "only", "just", "doubt"])
        });
        if words::denies(word) && !is_correction && !is_measure {
            self.denials += 1;
        }
        let stops = matches!(word, "stopped" | "stops" | "ceased" | "quit");
        if stops && next.is_some_and(|next| next.lower.ends_with("ing")) {
            self.denials += 1;
        }
        self.says_update |= words::CHANGES.contains(&word)
            || (word == "longer" && before.is_some_and(|before| before.is("no")))
            || (matches!(word, "instead" | "more") && before.is_some_and(|before| before.is("any")))
            || (word == "instead" && next.is_none_or(|next| next.is_mark() || next.is("of")));
        if let Some(limit) = words::limit(word) {
            self.limits.insert(limit);
        }
        if !is_state(tokens, at) {
            self.places.extend(words::place(word));
        }
        self.colors.extend(words::COLORS.iter().find(|color| **color == word));
        if !matches!(word, "on" | "off") || is_state(tokens, at) {
            self.poles.extend(words::opposites(word));
        }
        if token.is_capital() && !matches!(word, "i" | "i'm" | "i've" | "i'll" | "ok") {
            if !token.opens && !capitals_say_nothing {
                self.names.push(token.text.to_owned());
            } else if !words::is_function(word) && !words::denies(word) {
                self.openers.push(token.text.to_owned());
            }
        }
    }

    /// The words of the text as they are indexed; a number or a date stands in one form for its words.
    fn read_terms(&mut self, text: &str, spans: &[(Range<usize>, String)]) {
        let mut spans = spans.iter().peekable();
        let mut taken: Option<usize> = None;
        Analyzer::new(Language::English).each(text, Purpose::Index, |found| {
            while spans.next_if(|(span, _)| span.end <= found.at.start).is_some() {}
            if let Some((span, normal)) = spans.peek()
                && span.start < found.at.end
            {
                if taken != Some(span.start) {
                    taken = Some(span.start);
                    self.terms.insert(normal.clone());
                    self.content.push(normal.clone());
                }
                return ControlFlow::Continue(());
            }
            if found.shape != TermShape::Joined {
                self.terms.insert(found.term.to_owned());
                if !words::is_function(found.folded) && !words::denies(found.folded) {
                    self.content.push(found.term.to_owned());
                }
            }
            ControlFlow::Continue(())
        });
    }

    /// The text without case, surplus space and closing punctuation.
    pub fn plain(&self) -> &str {
        &self.plain
    }

    /// Whether the text itself says that something is no longer so, or is so from now on.
    pub fn says_update(&self) -> bool {
        self.says_update
    }

    /// How often the text denies something.
    pub(super) fn denials(&self) -> usize {
        self.denials
    }

    /// Words that say what it is about and that another text lacks.
    pub(super) fn beyond<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = &'a str> {
        self.content.iter().map(String::as_str).filter(|word| !other.terms.contains(*word))
    }

    /// Shared words of all words, 0..1: the token Jaccard index. Two texts without words have nothing in common.
    pub fn jaccard(&self, other: &Self) -> f32 {
        let shared = self.terms.intersection(&other.terms).count();
        let all = self.terms.len() + other.terms.len() - shared;
        if all == 0 { 0.0 } else { shared as f32 / all as f32 }
    }

    /// What another, later text says differently; nothing where all that is claimed in one is claimed in the other.
    pub fn differences(&self, later: &Self) -> Vec<Difference> {
        if self.is_crowded || later.is_crowded {
            return vec![Difference::new(What::Crowded, None, None)];
        }
        let mut found = Vec::new();
        self.denied(later, &mut found);
        self.counted(later, &mut found);
        let (lost, fresh) = parted(&self.times, &later.times, When::fits);
        pair(What::Date, &lost, &fresh, |when| when.shown(), &mut found);
        let (lost, fresh) = parted(&self.versions, &later.versions, |one, two| one == two);
        pair(What::Version, &lost, &fresh, |version| (*version).clone(), &mut found);
        self.named(later, &mut found);
        let (lost, fresh) = apart(&self.limits, &later.limits);
        pair(What::Limit, &lost, &fresh, |limit| (**limit).to_owned(), &mut found);
        // A place or a colour alone adds; exchanged for another it is something else.
        for exchanged in [apart(&self.places, &later.places), apart(&self.colors, &later.colors)] {
            let (lost, fresh) = exchanged;
            if !lost.is_empty() && !fresh.is_empty() {
                pair(What::Contrary, &lost[..1], &fresh[..1], |word| (**word).to_owned(), &mut found);
            }
        }
        if self.is_reordered(later) {
            found.push(Difference::new(What::Order, None, None));
        }
        found
    }

    /// Denials and opposites: a denial and an exclusive opposite cancel each other ("not enabled", "disabled").
    fn denied(&self, later: &Self, found: &mut Vec<Difference>) {
        let mut flipped = None;
        for &(at, side) in &self.poles {
            let (pole, other) = ((at, side), (at, !side));
            if self.poles.contains(&other) || later.poles.contains(&pole) || !later.poles.contains(&other) {
                continue;
            }
            let opposites = &OPPOSITES[at];
            let (from, to) =
                if side { (opposites.one, opposites.two) } else { (opposites.two, opposites.one) };
            let (from, to) = (Some(from.to_owned()), Some(to.to_owned()));
            if !opposites.exclusive {
                found.push(Difference::new(What::Contrary, from, to));
            } else if flipped.is_none() {
                flipped = Some(Difference::new(What::Opposite, from, to));
            }
        }
        match (self.denials.abs_diff(later.denials), flipped) {
            (0, Some(flipped)) => found.push(flipped),
            (0, None) | (1, Some(_)) => {}
            (1.., _) => found.push(Difference::new(What::Negation, None, None)),
        }
    }

    fn counted(&self, later: &Self, found: &mut Vec<Difference>) {
        let (mut lost, mut fresh) = parted(&self.numbers, &later.numbers, Number::same);
        // "one man" may be "a man".
        if fresh.is_empty() {
            lost.retain(|number| !number.is_one);
        } else if lost.is_empty() {
            fresh.retain(|number| !number.is_one);
        }
        for at in 0..lost.len().max(fresh.len()) {
            let (from, to) = (lost.get(at), fresh.get(at));
            let is_unit = from.zip(to).is_some_and(|(from, to)| from.digits == to.digits);
            let shown = |number: &&Number| number.shown();
            let label = from.or(to).and_then(|number| number.label.clone());
            found.push(Difference {
                what: if is_unit { What::Unit } else { What::Number },
                label: label.filter(|label| !words::is_function(label)),
                from: from.map(shown),
                to: to.map(shown),
            });
        }
    }

    fn named(&self, later: &Self, found: &mut Vec<Difference>) {
        let missing = |names: &[String], to: &Self| -> Vec<String> {
            let mut seen = HashSet::new();
            let unsaid = |name: &&String| !to.spoken.contains(singular(&name.to_lowercase()));
            names.iter().filter(unsaid).filter(|name| seen.insert(name.to_lowercase())).cloned().collect()
        };
        let (mut lost, mut fresh) = (missing(&self.names, later), missing(&later.names, self));
        // A capital at the head of a sentence may be a name: only where the other text has another word there.
        let (heads, later_heads) = (missing(&self.openers, later), missing(&later.openers, self));
        if (!heads.is_empty() || !lost.is_empty()) && (!later_heads.is_empty() || !fresh.is_empty()) {
            lost.extend(heads);
            fresh.extend(later_heads);
        }
        let (lost, fresh): (Vec<_>, Vec<_>) = (lost.iter().collect(), fresh.iter().collect());
        pair(What::Name, &lost, &fresh, |name| (*name).clone(), found);
    }

    /// Whether words that both share stand in another order, so that somebody else does it: "Alice manages Bob". A part that
    /// moved as a whole ("in staging the port is") is none, nor is a passive that turned round what did it.
    fn is_reordered(&self, later: &Self) -> bool {
        let (one, two) = (self.shared(later), later.shared(self));
        if one.len() != two.len() || one.len() < 2 {
            return false;
        }
        let is_moved = !is_rotated(&one, &two);
        let turned = self.is_passive != later.is_passive;
        if turned || !is_moved || one.len() > MOST_ORDERED {
            return turned != is_moved;
        }
        // One plain word that changed places with its neighbour changes nothing ("a child who is young").
        let differing: Vec<usize> = (0..one.len()).filter(|&at| one[at] != two[at]).collect();
        let is_swap = matches!(differing.as_slice(), [first, second] if first + 1 == *second);
        let is_plain = |at: &usize| {
            let named = |claims: &Self| claims.names.iter().any(|name| name.to_lowercase() == one[*at]);
            !named(self) && !named(later)
        };
        !(is_swap && differing.iter().all(is_plain))
    }

    /// Its words that another text has too, each once, in its own order.
    pub(super) fn shared<'a>(&'a self, other: &Self) -> Vec<&'a str> {
        let mut seen = HashSet::new();
        let words = self.content.iter().map(String::as_str);
        words.filter(|word| other.terms.contains(*word) && seen.insert(*word)).collect()
    }
}

/// What only one of two lists has, by a likeness.
fn parted<'a, T>(one: &'a [T], two: &'a [T], same: fn(&T, &T) -> bool) -> (Vec<&'a T>, Vec<&'a T>) {
    let only = |these: &'a [T], those: &'a [T]| -> Vec<&'a T> {
        these.iter().filter(|this| !those.iter().any(|that| same(this, that))).collect()
    };
    (only(one, two), only(two, one))
}

/// What only one of two sets has.
fn apart<'a>(
    one: &'a BTreeSet<&'static str>,
    two: &'a BTreeSet<&'static str>,
) -> (Vec<&'a &'static str>, Vec<&'a &'static str>) {
    (one.difference(two).collect(), two.difference(one).collect())
}

/// Writes down what was lost beside what is fresh, one by one.
fn pair<T>(
    what: What,
    lost: &[&T],
    fresh: &[&T],
    shown: impl Fn(&&T) -> String,
    found: &mut Vec<Difference>,
) {
    for at in 0..lost.len().max(fresh.len()) {
        found.push(Difference::new(what, lost.get(at).map(&shown), fresh.get(at).map(&shown)));
    }
}

/// Whether a list is another from some place on, and then from its start.
fn is_rotated(one: &[&str], two: &[&str]) -> bool {
    let Some(start) = two.iter().position(|word| *word == one[0]) else { return false };
    one.iter().enumerate().all(|(at, word)| two[(start + at) % two.len()] == *word)
}

/// A text without case, surplus space and closing punctuation: texts that share it are the same.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !plain.is_empty() {
            plain.push(' ');
        }
        plain.push_str(&word.to_lowercase());
    }
    let bare = plain.trim_end_matches(['.', '!', ' ', '。']).len();
    if bare > 0 {
        plain.truncate(bare);
    }
    plain
}

/// `v1.2.3`, `1.2.3-rc1`: not an address of four numbers.
pub(super) fn is_version(text: &str) -> bool {
    let bare = text.strip_prefix(['v', 'V']).unwrap_or(text);
    let mut parts = bare.split(['.', '-', '+']);
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let begins = parts.next().is_some_and(is_digits);
    if bare.len() < text.len() {
        return begins;
    }
    let digits = bare.split(['.', '-', '+']).take_while(|part| is_digits(part)).count();
    begins && bare.contains('.') && digits == 3
}

/// A word without a plural `s`: enough to find a name in another text.
fn singular(word: &str) -> &str {
    match word.strip_suffix('s') {
        Some(bare) if bare.len() > 2 && !bare.ends_with('s') => bare,
        _ => word,
    }
}

/// Whether most words are capitalised, as in a title: then a capital makes no name.
fn is_title(tokens: &[Token<'_>]) -> bool {
    let words = tokens.iter().filter(|token| token.kind == Kind::Word).count();
    let capitals = tokens.iter().filter(|token| token.kind == Kind::Word && token.is_capital()).count();
    words >= 4 && capitals * 10 >= words * 7
}

/// Whether "on" or "off" is a state where it stands ("is off", "turned on"), not a place.
fn is_state(tokens: &[Token<'_>], at: usize) -> bool {
    const STATES: &[&str] = &[
        "is", "are", "be", "was", "were", "turned", "switched", "turn", "switch", "stays", "remains", "kept",
    ];
    let before = at.checked_sub(1).is_some_and(|before| tokens[before].among(STATES))
        || (at > 1 && tokens[at - 1].among(&["now", "not", "always"]) && tokens[at - 2].among(STATES));
    let ends = tokens.get(at + 1).is_none_or(|next| {
        next.is_mark() || next.among(&["and", "for", "in", "by", "because", "again", "now"])
    });
    before && (ends || tokens[at - 1].among(&["turned", "switched", "turn", "switch"]))
}

/// Whether something is done by somebody in it ("is chased by").
fn is_passive(tokens: &[Token<'_>]) -> bool {
    // So many words may stand between the verb and who does it: "is put into a large box by".
    const REACH: usize = 8;
    tokens.windows(2).enumerate().any(|(at, two)| {
        let is_participle =
            ["ed", "en", "n", "t", "ade", "ung"].iter().any(|tail| two[1].lower.ends_with(tail));
        is_participle
            && two[0].among(&["is", "are", "was", "were", "been", "being", "be"])
            && tokens[at + 2..].iter().take(REACH).any(|token| token.is("by"))
    })
}

#[cfg(test)]
mod tests;
