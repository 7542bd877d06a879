//! Fact keys: the subject and attribute of a text that says one thing, with its value.
//! They are read without a model: "API port is 8080" and "the API listens on port 9090" have one fact key, here called a slot.
//! Where anything is unsure there is none: a wrong slot hides what is still true.

mod parts;
mod verbs;
pub(super) mod words;

use std::ops::ControlFlow;

use super::claims::tokens::{Kind, Token, tokens};
use parts::{Subject, value};

/// A longer text says more than one thing.
const LONGEST: usize = 240;

/// What a text says of one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Subject, attribute and every qualifier in one form and order; texts that share it speak of one thing.
    pub key: String,
    /// The value in one form: "30 seconds" and "30s" are one.
    pub value: String,
    /// What the text says that the value was before.
    pub former: Option<String>,
    /// Whether the text itself says that this is new ("now", "changed", "instead of").
    pub says_update: bool,
    /// How many values there can be at a time.
    pub holds: Holds,
    /// The attribute for people ("port").
    pub label: String,
    /// The value as it is written.
    pub shown: String,
    /// Whether a reason or a remark follows the value ("because ...").
    pub has_remark: bool,
}

/// How many values a slot can have at a time, and hence when another one ends the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Holds {
    /// One: a port, a deadline, an employer.
    One,
    /// Mostly one ("we use X for billing"): another value ends it where its text says that something changed.
    Mostly,
    /// Several ("Alice likes"): a value ends only where a text names it as the one that was.
    Several,
}

impl Slot {
    /// Whether both values are the same; a quantity without a unit is the same quantity with one.
    pub fn same_value(&self, other: &Self) -> bool {
        let (one, two) = ((&*self.value, &*self.shown), (&*other.value, &*other.shown));
        self.value == other.value || is_bare(one.0, two.1) || is_bare(two.0, one.1)
    }

    /// Whether the text says that this value was there before.
    pub fn ends(&self, earlier: &Self) -> bool {
        self.former.as_ref().is_some_and(|former| *former == earlier.value || is_bare(former, &earlier.shown))
    }

    /// Whether both values are one thing in two versions or sizes: "PostgreSQL 16", "PostgreSQL 17".
    pub fn is_variant(&self, other: &Self) -> bool {
        let is_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit() || c == 'v');
        let (mut one, mut two) = (self.value.split(' '), other.value.split(' '));
        let head = one.next();
        if head != two.next() || head.is_none_or(is_number) {
            return false;
        }
        let (one, two): (Vec<_>, Vec<_>) = (one.collect(), two.collect());
        one != two
            && one.len() == two.len()
            && one.iter().zip(&two).all(|(one, two)| one == two || (is_number(one) && is_number(two)))
    }
}

/// Whether a value is a number without a unit, and what is written elsewhere is the same number with one: "30" and "30s".
fn is_bare(value: &str, shown: &str) -> bool {
    let digits = |c: char| c.is_ascii_digit() || c == '.';
    let is_number = !value.is_empty() && value.chars().all(digits);
    let shown = shown.trim_start_matches(['$', '€', '£']).replace(',', "");
    let rest = shown.strip_prefix(value).filter(|rest| !rest.starts_with(|c: char| digits(c)));
    is_number && rest.is_some_and(|unit| unit.split_whitespace().count() <= 1)
}

/// The slot of a text; none where it says several things, nothing single, nothing certain or nothing of the present. Several
/// sentences have none; a reason ("because ..."), a remark in brackets or a date ("since March") may follow the one statement.
pub fn slot(text: &str) -> Option<Slot> {
    read(text, &tokens(text))
}

/// The slot of a text whose tokens are known.
pub(super) fn read(text: &str, tokens: &[Token<'_>]) -> Option<Slot> {
    let text = text.trim();
    if text.is_empty()
        || text.len() > LONGEST
        || text.lines().filter(|line| !line.trim().is_empty()).count() > 1
    {
        return None;
    }
    let mut clause = Clause { tokens: tokens.to_vec(), ..Clause::default() };
    clause.strip()?;
    clause.assigned().or_else(|| clause.said()).or_else(|| clause.headed())
}

/// One statement on its way to a slot.
#[derive(Debug, Default)]
struct Clause<'a> {
    tokens: Vec<Token<'a>>,
    /// Key words of what was said before or after the statement itself ("in staging").
    around: Vec<String>,
    former: Option<String>,
    says_update: bool,
    has_remark: bool,
}

/// What was found before it is a slot.
struct Found {
    terms: Vec<String>,
    label: String,
    value: String,
    shown: String,
    holds: Holds,
    former: Option<String>,
    says_update: bool,
}

impl<'a> Clause<'a> {
    /// Takes off what stands around the statement. `None` where it is not one statement.
    fn strip(&mut self) -> Option<()> {
        let tokens = std::mem::take(&mut self.tokens);
        let mut kept: Vec<Token<'a>> = Vec::with_capacity(tokens.len());
        let mut is_quoted = false;
        for mut token in tokens {
            token.marked |= is_quoted;
            // Emphasis and quotes say nothing here; brackets of other kinds and rules are markup of something larger.
            match (token.kind, token.lower.as_str()) {
                (Kind::Mark, "`" | "\"") => is_quoted = !is_quoted,
                (Kind::Mark, "*" | "'") => {}
                (Kind::Mark, "-" | "->") if kept.is_empty() => {}
                (Kind::Mark, "?" | ";" | "|" | "<" | ">" | "[" | "]" | "{" | "}" | "/") => {
                    return None;
                }
                _ => kept.push(token),
            }
        }
        if let [first, second, _, ..] = kept.as_slice()
            && second.is(".")
            && first.among(words::LABELS_ALONE)
        {
            kept.drain(..2);
        }
        while kept.last().is_some_and(|last| last.is(".") || last.is("!")) {
            kept.pop();
        }
        if kept.iter().any(|token| token.is_mark() && token.among(&[".", "!"])) {
            return None;
        }
        self.tokens = kept;
        self.take_labels();
        self.take_brackets()?;
        self.take_lead()?;
        self.take_tail()?;
        self.take_adverbs();
        let is_bad =
            |token: &Token<'_>| token.kind == Kind::Word && super::claims::words::denies(&token.lower);
        let intends = self.tokens.windows(2).any(|two| two[1].is("to") && two[0].among(&["plan", "plans"]));
        (!self.tokens.is_empty() && !intends && !self.tokens.iter().any(is_bad)).then_some(())
    }

    /// "Note: ...", "Update: ...".
    fn take_labels(&mut self) {
        // "FYI Update: ...", "Reminder - Correction: ..."
        for _ in 0..3 {
            let length = self.tokens.len();
            while let [first, second, ..] = self.tokens.as_slice()
                && second.is(":")
                && first.kind == Kind::Word
            {
                let is_update = first.among(words::UPDATE_LABELS);
                if !is_update && !first.among(words::LABELS) {
                    return;
                }
                self.says_update |= is_update;
                self.tokens.drain(..2);
            }
            if self.tokens.first().is_some_and(|first| first.is("actually")) {
                self.says_update = true;
                self.drop_first(1);
            }
            let begins = |phrase: &&&[&str]| {
                self.tokens.len() > phrase.len()
                    && phrase.iter().zip(&self.tokens).all(|(word, token)| token.is(word))
            };
            if let Some(phrase) = words::OPENINGS.iter().find(begins) {
                self.drop_first(phrase.len());
            }
            if self.tokens.len() == length {
                break;
            }
        }
        // "From now on", "as of today"
        let opening: Vec<&str> = self.tokens.iter().take(3).map(|token| token.lower.as_str()).collect();
        if matches!(opening.as_slice(), ["from", "now", "on"] | ["as", "of", "today" | "now"]) {
            self.says_update = true;
            self.drop_first(3);
        }
    }

    /// Drops the first tokens and a comma, colon or dash behind them.
    fn drop_first(&mut self, count: usize) {
        let joints = [",", ":", "-"];
        let comma = usize::from(self.tokens.get(count).is_some_and(|token| token.among(&joints)));
        self.tokens.drain(..count + comma);
    }

    /// A remark in brackets at the end; brackets elsewhere are too much.
    fn take_brackets(&mut self) -> Option<()> {
        let Some(open) = self.tokens.iter().position(|token| token.is("(")) else {
            return (!self.tokens.iter().any(|token| token.is(")"))).then_some(());
        };
        // "f(x)" is a call.
        if open > 0 && self.tokens[open - 1].end() == self.tokens[open].at {
            return None;
        }
        let close = self.tokens.iter().position(|token| token.is(")"))?;
        let inner = self.tokens.get(open + 1..close)?.to_vec();
        if self.tokens[close + 1..].iter().any(|token| token.is("(") || token.is(")")) {
            return None;
        }
        if self.tokens.get(close + 1).is_some_and(|next| next.is(":") || next.is("=")) {
            // "port (staging): 8080"
            self.around.extend(Subject::of(&inner)?.terms);
            self.tokens.drain(open..=close);
            return Some(());
        }
        if open == 0 && inner.len() == 1 {
            self.tokens.drain(..=close);
            return Some(());
        }
        let is_last = close + 1 == self.tokens.len();
        if !is_last || inner.iter().any(|token| token.is("(") || token.is(")")) {
            return None;
        }
        self.tokens.truncate(open);
        if !self.take_former(&inner) {
            // "(confirmed)" says no more than that.
            self.has_remark |= inner.len() > 2;
        }
        Some(())
    }

    /// "was 8080", "not 8080", "instead of 8080": true where it was that.
    fn take_former(&mut self, tokens: &[Token<'a>]) -> bool {
        let opening: Vec<&str> = tokens.iter().take(2).map(|token| token.lower.as_str()).collect();
        let skip = match opening.as_slice() {
            ["instead" | "rather" | "up" | "down", "of" | "than" | "from"]
            | ["no", "longer"]
            | ["it", "was"] => 2,
            ["replacing" | "was" | "not" | "formerly" | "previously" | "from", _] => 1,
            _ => return false,
        };
        let behind = match tokens {
            [_, _, rest @ .., last] if last.is("before") && !rest.is_empty() => {
                &tokens[skip..tokens.len() - 1]
            }
            _ => &tokens[skip..],
        };
        let Some((value, rest)) = value(behind) else { return false };
        if !rest.is_empty() {
            return false;
        }
        self.former = Some(value.normal);
        self.says_update = true;
        true
    }

    /// "In staging, ...", "Since March, ...": a few words and a comma.
    fn take_lead(&mut self) -> Option<()> {
        let Some(comma) = self.tokens.iter().take(7).position(|token| token.is(",")) else { return Some(()) };
        let Some(first) = self.tokens.first() else { return Some(()) };
        if first.among(&["since", "starting", "effective"])
            || (first.is("as") && self.tokens.get(1).is_some_and(|token| token.is("of")))
        {
            self.drop_first(comma);
        } else if first.among(words::LOOSE_PREPOSITIONS) {
            let around = parts::qualifiers(&self.tokens[..comma])?;
            self.around.extend(around);
            self.drop_first(comma);
        } else if first.among(&["now", "currently"]) && comma == 1 {
            self.says_update |= first.is("now");
            self.drop_first(1);
        }
        Some(())
    }

    /// What follows the statement: a reason, a date from which it holds, what was before.
    fn take_tail(&mut self) -> Option<()> {
        self.take_correction();
        let mut cut = None;
        for at in 2..self.tokens.len() {
            let is_next = |word: &str| self.tokens.get(at + 1).is_some_and(|next| next.is(word));
            let after_comma = self.tokens[at - 1].is(",");
            let is_reason = match self.tokens[at].lower.as_str() {
                "because" | "since" | "starting" | "effective" => true,
                // In an assignment it is a minus.
                "-" => !self.tokens.iter().any(|token| token.is("=")),
                "due" | "thanks" | "according" => is_next("to"),
                "as" => after_comma || is_next("of"),
                "in" => is_next("order"),
                "so" => after_comma || is_next("that"),
                "which" | "btw" | "just" | "fyi" => after_comma,
                _ => false,
            };
            let is_former = match self.tokens[at].lower.as_str() {
                "instead" => is_next("of"),
                "rather" => is_next("than"),
                "up" | "down" => is_next("from"),
                "no" => after_comma && is_next("longer"),
                "not" => after_comma || self.tokens[at - 1].is("and"),
                "was" | "formerly" | "previously" | "replacing" => after_comma,
                "it" => after_comma && is_next("was"),
                _ => false,
            };
            if is_reason || is_former {
                cut = Some((at, is_former));
                break;
            }
        }
        let Some((at, is_former)) = cut else { return Some(()) };
        let tail = self.tokens.split_off(at);
        while self.tokens.last().is_some_and(|last| last.is(",") || last.is("and")) {
            self.tokens.pop();
        }
        if is_former {
            return self.take_former(&tail).then_some(());
        }
        let is_aside = tail.len() <= 2 || tail[0].among(&["btw", "as", "just", "fyi"]);
        self.has_remark |= !is_aside;
        Some(())
    }

    /// "is no longer 8080, it is 9090": the same as "is 9090, not 8080".
    fn take_correction(&mut self) {
        let ends = |three: &[Token<'_>]| {
            three[0].among(&["is", "are"]) && three[1].is("no") && three[2].is("longer")
        };
        let Some(at) = self.tokens.windows(3).position(ends) else { return };
        let comma = self.tokens[at..].iter().position(|token| token.is(",")).map(|comma| at + comma);
        let Some(comma) = comma.filter(|comma| *comma >= at + 3) else { return };
        let is_told = self.tokens.get(comma + 1).is_some_and(|token| token.among(&["it", "but", "they"]));
        let skip = comma + 1 + usize::from(is_told);
        let is_verb = self.tokens.get(skip).is_some_and(|token| token.among(&["is", "are"]));
        let Some((former, [])) = value(&self.tokens[at + 3..comma]) else { return };
        self.former = Some(former.normal);
        self.says_update = true;
        self.tokens.drain(at + 1..skip + usize::from(is_verb));
    }

    /// "now" says that it is new, "still" says nothing.
    fn take_adverbs(&mut self) {
        let count = self.tokens.len();
        let (mut at, mut says_update) = (0, false);
        self.tokens.retain(|token| {
            let is_last = at + 1 == count;
            at += 1;
            let is_update = token.is("now") || (is_last && token.among(&["instead", "anymore"]));
            says_update |= is_update;
            let is_idle = token.kind == Kind::Word && token.among(words::IDLE);
            !is_update && !is_idle
        });
        self.says_update |= says_update;
    }

    /// `API_PORT=8080`, "api port: 8080".
    fn assigned(&self) -> Option<Slot> {
        let at = self.tokens.iter().position(|token| token.is("=") || token.is(":"))?;
        let subject = Subject::of(&self.tokens[..at])?;
        let mut behind = &self.tokens[at + 1..];
        let mut former = None;
        if let Some(arrow) = behind.iter().position(|token| token.is("->")) {
            let (value, []) = value(&behind[..arrow])? else { return None };
            former = Some(value.normal);
            behind = &behind[arrow + 1..];
        }
        let (value, rest) = value(behind)?;
        let is_equal = self.tokens[at].is("=");
        // A line of code assigns too: calls, sums, strings with escapes.
        let is_code = |token: &Token<'_>| token.text.contains(['\\', '$', '%', '+', '^', '.']);
        let is_program =
            is_equal && (self.has_remark || !rest.is_empty() || self.tokens[..at].iter().any(is_code));
        if subject.terms.len() > 5 || is_program {
            return None;
        }
        let around = parts::qualifiers(rest)?;
        let is_attribute = subject.is_attribute();
        let is_literal = value.is_literal();
        if !(is_literal || is_equal || (is_attribute && value.is_named(&subject))) {
            return None;
        }
        // One word alone does not say whose it is.
        let is_whole = subject.terms.len() + around.len() + self.around.len() > 1;
        let holds = if is_whole { Holds::One } else { Holds::Mostly };
        let label = subject.head.clone();
        let mut terms = subject.terms;
        terms.extend(around);
        let says_update = subject.is_new;
        self.whole(Found {
            terms,
            label,
            value: value.normal,
            shown: value.shown,
            holds,
            former,
            says_update,
        })
    }

    /// "billing: the port is now 9090": a heading of a few words says whose.
    fn headed(&self) -> Option<Slot> {
        let at = self.tokens.iter().position(|token| token.is(":"))?;
        let heading = Subject::of(&self.tokens[..at])?;
        let around = [self.around.as_slice(), heading.terms.as_slice()].concat();
        let rest = Clause {
            tokens: self.tokens[at + 1..].to_vec(),
            around,
            former: self.former.clone(),
            says_update: self.says_update,
            has_remark: self.has_remark,
        };
        let slot = if heading.terms.len() <= 3 { rest.said()? } else { return None };
        words::ATTRIBUTES.contains(&slot.label.as_str()).then_some(slot)
    }

    /// A sentence: the first verb from the left that takes it.
    fn said(&self) -> Option<Slot> {
        if self.tokens.iter().any(|token| token.is_mark() && !token.is(",")) {
            return None;
        }
        let verbs = (1..self.tokens.len().saturating_sub(1)).filter(|at| self.tokens[*at].kind == Kind::Word);
        let mut read = verbs.map(|at| verbs::read(&self.tokens, at));
        let found = read.find_map(ControlFlow::break_value)?;
        self.whole(found?)
    }

    fn whole(&self, found: Found) -> Option<Slot> {
        let mut terms = found.terms;
        terms.extend(self.around.iter().cloned());
        if terms.iter().any(|term| words::REFUSED.contains(&term.as_str())) || found.value.is_empty() {
            return None;
        }
        terms.sort_unstable();
        terms.dedup();
        // "We are on X 1.2" says of X which version it is; "we" are on many things.
        let is_self = |term: &str| matches!(term, "we" | "i");
        if terms.iter().all(|term| is_self(term) || matches!(term.as_str(), "host" | "location")) {
            return None;
        }
        // "We run billing on port 8080" says of billing what its port is.
        let is_number = |term: &String| term.bytes().all(|b| b.is_ascii_digit());
        if terms.iter().any(|term| is_self(term)) && terms.iter().any(is_number) {
            return None;
        }
        let former = found.former.or_else(|| self.former.clone());
        Some(Slot {
            key: terms.join(" "),
            says_update: self.says_update || found.says_update || former.is_some(),
            value: found.value,
            former,
            holds: found.holds,
            label: found.label,
            shown: found.shown,
            has_remark: self.has_remark,
        })
    }
}

#[cfg(test)]
mod tests;
