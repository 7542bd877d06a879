//! Parses the parts of a statement: subject, value in one normal form, and the phrases behind it.
//! The subject has the words of its key.

use super::super::claims::dates;
use super::super::claims::numbers;
use super::super::claims::tokens::{Kind, Token};
use super::super::frame::parts::GENERIC;
use super::words;

/// More words are not a subject or a value, but a story.
const MOST_TERMS: usize = 9;
const MOST_VALUE: usize = 5;

/// What a statement is about.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is one thing that its words say, in any combination")]
pub(super) struct Subject {
    /// The words of the key.
    pub terms: Vec<String>,
    /// Its main noun, in canonical form.
    pub head: String,
    /// Whether it is definite: "the", "our", "Alice's", or a name.
    pub is_definite: bool,
    /// Whether it is nothing but a name.
    pub is_name: bool,
    /// Whether it is in the plural.
    pub is_plural: bool,
    /// Whether it says "new".
    pub is_new: bool,
    /// Whether it says whose it is ("the owner of billing", "Alice's editor"): English says so of what there is one of.
    pub is_owned: bool,
}

impl Subject {
    /// Reads a subject; `None` where it is indefinite, several, or not a noun with its phrases.
    pub fn of(tokens: &[Token<'_>]) -> Option<Self> {
        let mut subject = Self {
            terms: Vec::new(),
            head: String::new(),
            is_definite: false,
            is_name: true,
            is_plural: false,
            is_new: false,
            is_owned: false,
        };
        let first = tokens.first()?;
        let indefinite = [
            "a", "an", "another", "any", "each", "few", "he", "her", "here", "his", "it", "its", "many",
            "one", "several", "she", "some", "that", "their", "there", "these", "they", "this", "those",
            "what", "you", "your",
        ];
        // "it's", "let's", "I'm"
        if first.kind == Kind::Word && first.lower.contains('\'') {
            return None;
        }
        let is_time = dates::read(tokens, 0).is_some_and(|(when, _)| !matches!(when, dates::When::Every(_)));
        if first.among(&indefinite) || is_time {
            return None;
        }
        let mut role: Option<&str> = None;
        let mut heads = true;
        for (at, token) in tokens.iter().enumerate() {
            let word = token.lower.as_str();
            // "project Norby" is Norby, whatever it is.
            let is_named = |next: &Token<'_>| {
                next.kind == Kind::Code || (next.is_capital() && !next.opens) || next.lower.contains('-')
            };
            if GENERIC.contains(&word) && tokens.get(at + 1).is_some_and(is_named) {
                continue;
            }
            if token.is_mark() || words::REFUSED.contains(&word) {
                return None;
            }
            match word {
                "the" => subject.is_definite = true,
                "our" if tokens.len() > 1 => subject.is_definite = true,
                "new" => subject.is_new = true,
                "a" | "an" | "current" | "actual" => {}
                "we" | "us" | "our" | "i" | "me" | "my" => {
                    let term = if matches!(word, "i" | "me" | "my") { "i" } else { "we" };
                    subject.terms.push(term.to_owned());
                    subject.is_definite = true;
                    subject.is_name = false;
                    if heads {
                        term.clone_into(&mut subject.head);
                    }
                }
                _ if token.kind == Kind::Word && words::LOOSE_PREPOSITIONS.contains(&word) => {
                    subject.is_owned |= heads && matches!(word, "of" | "for") && !subject.head.is_empty();
                    heads = false;
                    role = None;
                }
                _ if token.kind == Kind::Word && words::TIGHT_PREPOSITIONS.contains(&word) => {
                    heads = false;
                    role = Some(word);
                }
                _ => {
                    let terms = terms_of(token);
                    if heads {
                        subject.head.clone_from(terms.last()?);
                        subject.is_plural = token.kind == Kind::Word
                            && words::singular(word) != word
                            && (token.opens || !token.is_capital());
                    }
                    subject.is_definite |= token.owns || token.kind == Kind::Code;
                    subject.is_owned |= token.owns && heads;
                    subject.is_name &= token.is_capital() || token.kind == Kind::Code;
                    subject.terms.extend(terms.into_iter().map(|term| match role {
                        Some(role) => format!("{role}~{term}"),
                        None => term,
                    }));
                }
            }
        }
        // "billing", without an article, is one; "servers" are some.
        subject.is_definite |= subject.is_name || !subject.is_plural;
        subject.is_definite |= subject.is_owned;
        let is_short = (1..=MOST_TERMS).contains(&subject.terms.len());
        (is_short && !subject.head.is_empty()).then_some(subject)
    }

    /// Whether its main noun has one value at a time.
    pub fn is_attribute(&self) -> bool {
        words::ATTRIBUTES.contains(&self.head.as_str()) || self.is_singled()
    }

    /// Whether there is one of it, whatever it is called.
    pub fn is_unique(&self) -> bool {
        self.is_owned && !self.is_plural && !self.is_one_of_several()
    }

    /// Whether it says which of several: the favourite, the default.
    pub fn is_singled(&self) -> bool {
        self.terms.iter().any(|term| words::SINGLING.contains(&term.as_str()))
    }

    /// Whether there are several of what it names.
    pub fn is_one_of_several(&self) -> bool {
        words::SEVERAL.contains(&self.head.as_str()) && !self.is_singled()
    }
}

/// The key words of one token: an identifier gives its parts, a name stays as it is, a noun loses its plural.
pub(super) fn terms_of(token: &Token<'_>) -> Vec<String> {
    match token.kind {
        Kind::Code if token.text.contains('_') || token.text.contains('.') && !token.text.contains('/') => {
            // `API_PORT` and `api.port` are "api port"; hosts, versions and paths keep their form.
            let parts: Vec<&str> = token.lower.split(['_', '.']).filter(|part| !part.is_empty()).collect();
            let is_words = parts.iter().all(|part| part.bytes().all(|b| b.is_ascii_alphabetic()));
            if is_words && (token.text.contains('_') || parts.len() == 2) {
                return parts.into_iter().map(|part| words::canonical(part).to_owned()).collect();
            }
            vec![token.lower.clone()]
        }
        Kind::Code => vec![words::canonical(&token.lower).to_owned()],
        Kind::Number => vec![token.lower.clone()],
        Kind::Word | Kind::Mark => {
            let known = words::canonical(&token.lower);
            if token.is_capital() || known != token.lower {
                return vec![known.to_owned()];
            }
            let bare = words::singular(&token.lower);
            vec![words::canonical(&bare).to_owned()]
        }
    }
}

/// What kind of value it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    /// A quantity: what it counts ("data", "core", nothing).
    Number(String),
    /// A time, by its kind ("day").
    When(String),
    /// An identifier with digits or separators: a host, a path, an address, a version.
    Code,
    /// A name.
    Name,
    /// Words in lower case.
    Plain,
}

/// A value.
#[derive(Clone, Debug)]
pub(super) struct Value {
    /// Its one form.
    pub normal: String,
    /// As it is written.
    pub shown: String,
    /// What kind it is.
    pub sort: Sort,
    /// Whether a quantity says what it counts in a word of its own ("16 cores", "30 years old"), not by its unit alone.
    pub has_noun: bool,
}

impl Value {
    /// Whether it can be nothing but a value.
    pub fn is_literal(&self) -> bool {
        match self.sort {
            Sort::Number(_) | Sort::When(_) | Sort::Code => true,
            Sort::Name | Sort::Plain => false,
        }
    }

    /// Whether it names a value of the subject instead of describing it.
    pub fn is_named(&self, subject: &Subject) -> bool {
        match self.sort {
            Sort::Number(_) | Sort::When(_) | Sort::Code => true,
            Sort::Name => !subject.is_plural,
            Sort::Plain => {
                let takes_words =
                    words::PLAIN_VALUES.contains(&subject.head.as_str()) || subject.is_singled();
                takes_words && !subject.is_plural && !self.normal.split(' ').any(words::describes)
            }
        }
    }
}

/// The value that a list of tokens begins with, and what follows it.
pub(super) fn value<'t, 'a>(tokens: &'t [Token<'a>]) -> Option<(Value, &'t [Token<'a>])> {
    let mut at = 0;
    while tokens.get(at).is_some_and(|token| {
        token.among(&["about", "around", "roughly", "approximately", "approx", "exactly", "the"])
    }) {
        at += 1;
    }
    let first = tokens.get(at)?;
    if first.is_mark() || first.among(&["a", "an", "another", "one", "some", "any"]) {
        return None;
    }
    if let Some((when, used)) = dates::read(tokens, at) {
        return Some(timed(tokens, at, &when, used));
    }
    if let Some((number, used)) = numbers::read(tokens, at) {
        if number.digits.starts_with('#') {
            return None;
        }
        let end = at + used;
        let mut counted = number.dimension().to_owned();
        let of = usize::from(tokens.get(end).is_some_and(|token| token.is("of")));
        let nouns = tokens[(end + of).min(tokens.len())..]
            .iter()
            .take_while(|token| token.kind == Kind::Word && !is_preposition(token))
            .count();
        if nouns > 2 || (of == 1 && nouns == 0) {
            return None;
        }
        let rest = if nouns == 0 { end } else { end + of + nouns };
        for token in &tokens[rest - nouns..rest] {
            if words::REFUSED.contains(&token.lower.as_str()) {
                return None;
            }
            counted = terms_of(token).concat();
        }
        let value = Value {
            normal: number.normal(),
            shown: written(&tokens[at..rest]),
            sort: Sort::Number(counted),
            has_noun: nouns > 0,
        };
        return Some((value, &tokens[rest..]));
    }
    let length = tokens[at..]
        .iter()
        .take_while(|token| !token.is_mark() && (!is_preposition(token) || token.is("of")))
        .count();
    let named = &tokens[at..at + length];
    if length == 0 || length > MOST_VALUE || named.last().is_some_and(|last| last.is("of")) {
        return None;
    }
    if named.iter().any(|token| token.kind == Kind::Word && words::REFUSED.contains(&token.lower.as_str())) {
        return None;
    }
    let is_code = |token: &Token<'_>| {
        token.kind == Kind::Code
            && token
                .text
                .contains(|c: char| c.is_ascii_digit() || matches!(c, '/' | '_' | '@' | '\\' | ':' | '.'))
    };
    let sort = if named.iter().any(is_code) {
        Sort::Code
    } else if named[0].is_capital() || named[0].kind == Kind::Code || named[0].marked {
        Sort::Name
    } else {
        Sort::Plain
    };
    let normal: Vec<String> = named
        .iter()
        .filter(|token| !token.among(&["the", "a", "an"]))
        .map(|token| {
            // "v1.2" is "1.2"
            let bare =
                token.lower.strip_prefix('v').filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
            words::canonical(bare.unwrap_or(&token.lower)).to_owned()
        })
        .collect();
    let value = Value { normal: normal.join(" "), shown: written(named), sort, has_noun: false };
    Some((value, &tokens[at + length..]))
}

/// A day with a time of day is one value: "Tuesday at 10:00".
fn timed<'t, 'a>(
    tokens: &'t [Token<'a>],
    at: usize,
    when: &dates::When,
    used: usize,
) -> (Value, &'t [Token<'a>]) {
    let (mut normal, mut kind, mut end) = (when.normal(), when.kind().to_owned(), at + used);
    let at_word = usize::from(tokens.get(end).is_some_and(|token| token.is("at") || token.is(",")));
    if let Some((second, more)) = dates::read(tokens, end + at_word) {
        normal = format!("{normal} {}", second.normal());
        kind = format!("{kind} {}", second.kind());
        end += at_word + more;
    }
    (
        Value { normal, shown: written(&tokens[at..end]), sort: Sort::When(kind), has_noun: false },
        &tokens[end..],
    )
}

/// Tokens as they are written.
pub(super) fn written(tokens: &[Token<'_>]) -> String {
    tokens.iter().map(|token| token.text).collect::<Vec<_>>().join(" ")
}

/// Whether a token begins a phrase.
pub(super) fn is_preposition(token: &Token<'_>) -> bool {
    token.kind == Kind::Word
        && (token.among(words::LOOSE_PREPOSITIONS) || token.among(words::TIGHT_PREPOSITIONS))
}

/// The key words of the phrases behind a value; `None` where anything else stands there.
pub(super) fn qualifiers(tokens: &[Token<'_>]) -> Option<Vec<String>> {
    let mut terms = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if !is_preposition(&tokens[at]) {
            return None;
        }
        let preposition = tokens[at].lower.as_str();
        let length = tokens[at + 1..].iter().take_while(|token| !is_preposition(token)).count();
        let phrase = &tokens[at + 1..at + 1 + length];
        if length == 0 || length > 5 {
            return None;
        }
        if let Some((when, used)) = dates::read(phrase, 0) {
            if used != phrase.len() {
                return None;
            }
            terms.push(when.normal());
        } else {
            let loose = words::LOOSE_PREPOSITIONS.contains(&preposition);
            for token in phrase {
                if token.is_mark()
                    || (token.kind == Kind::Word
                        && (words::REFUSED.contains(&token.lower.as_str())
                            || token.among(&["it", "them", "this", "that", "is", "are", "has"])))
                {
                    return None;
                }
                if token.among(&["the", "a", "an", "our"]) {
                    continue;
                }
                let found = terms_of(token);
                terms.extend(
                    found.into_iter().map(|term| if loose { term } else { format!("{preposition}~{term}") }),
                );
            }
        }
        at += 1 + length;
    }
    Some(terms)
}

/// The same behind a verb of change, where a time says only when it happened.
pub(super) fn qualifiers_of_change(tokens: &[Token<'_>]) -> Option<Vec<String>> {
    let mut end = tokens.len();
    for at in 0..tokens.len() {
        let from = at + usize::from(tokens[at].among(&["on", "in", "at"]));
        if let Some((_, used)) = dates::read(tokens, from)
            && from + used == tokens.len()
        {
            end = at;
            break;
        }
        if tokens[at].among(&["last", "this", "recently", "earlier"]) {
            end = at;
            break;
        }
    }
    qualifiers(&tokens[..end])
}
