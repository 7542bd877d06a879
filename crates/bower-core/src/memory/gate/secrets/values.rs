//! Judges the values beside words that name a secret: passwords, keys, PINs, door codes, pairs of user and password.
//! The nearer and plainer a value is named, the less it must look like one; `random.tsv` has the bars.

use std::ops::Range;

use super::super::random::{RarityBar, is_chosen, is_common, is_made, is_state};
use super::found::{Found, LONGEST, SecretKind};
use super::labels::{LabelClass, LabelHit, is_joining, is_label, is_wide};
use super::placeholder::is_placeholder;
use super::words::{After, SentenceWord, after, before, read};

/// A text with the words of the tables that stand in it.
pub(super) struct Labelled<'a> {
    pub(super) text: &'a str,
    pub(super) hits: &'a [LabelHit],
}

/// What says that a value follows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Told {
    Not,
    /// A word that tells, one word earlier: `is now X`.
    Earlier,
    /// A word that tells, behind others that say how the label is: `is hashed with X`.
    Late,
    /// A word that tells, right before it.
    Word,
    /// A sign that assigns, right before it.
    Sign,
}

/// How a value stands to its label.
struct Standing {
    /// How many words stand between.
    nth: usize,
    told: Told,
    /// The sentence asks for it, or the label is part of a longer name.
    is_doubtful: bool,
}

impl Standing {
    fn is_assigned(&self) -> bool {
        self.nth == 0 && self.told == Told::Sign
    }

    /// Whether what tells stands right before it.
    fn is_next(&self) -> bool {
        self.told >= Told::Late
    }
}

/// The judge of one class of labels: the value that the first of the words begins, if it is one.
type Judge<'a> = fn(&Labelled<'a>, &LabelHit, &[SentenceWord], &Standing) -> Option<Range<usize>>;

impl<'a> Labelled<'a> {
    /// The class of the word of the tables at a place, if it is one of `classes`.
    fn is_at(&self, at: usize, classes: &[LabelClass]) -> bool {
        let from = self.hits.partition_point(|hit| hit.at.start < at);
        self.hits[from..].iter().take_while(|hit| hit.at.start == at).any(|hit| classes.contains(&hit.class))
    }

    /// Whether a word of a class stands within a few words of a place, on its line.
    pub(super) fn is_near(&self, at: &Range<usize>, class: LabelClass) -> bool {
        const NEAR: usize = 48;
        let from = self.hits.partition_point(|hit| hit.at.end + NEAR < at.start);
        let near = self.hits[from..].iter().take_while(|hit| hit.at.start <= at.end + NEAR);
        near.filter(|hit| hit.class == class).any(|hit| {
            let between = if hit.at.start < at.start { hit.at.end..at.start } else { at.end..hit.at.start };
            between.start >= between.end || !self.text[between].contains(['\n', ';', '。'])
        })
    }

    /// Whether a word says that a value follows.
    pub(super) fn tells(&self, word: &SentenceWord) -> bool {
        let value = &word.value;
        let from = self.hits.partition_point(|hit| hit.at.start < value.start);
        self.text[word.at.clone()].ends_with([':', '=', '→', '：', '>', '—', '–'])
            || &self.text[word.at.clone()] == "-"
            || self.hits[from..].iter().take_while(|hit| hit.at.end <= value.end).any(|hit| {
                hit.class == LabelClass::Tells
                    && hit.at.end == value.end
                    && (hit.at.start == value.start || self.text[value.clone()].chars().all(is_joining))
            })
    }

    /// All values beside labels.
    pub(super) fn values(&self, found: &mut Vec<Found>) {
        for hit in self.hits {
            let kind = match hit.class {
                LabelClass::Key | LabelClass::Recovery => SecretKind::TOKEN,
                LabelClass::AwsSecret => SecretKind("AWS secret key"),
                _ => SecretKind::PASSWORD,
            };
            let at = match hit.class {
                LabelClass::Password => self
                    .behind(hit, Self::password)
                    .or_else(|| {
                        self.is_near(&hit.at, LabelClass::Lock)
                            .then(|| self.behind(hit, Self::digits))
                            .flatten()
                    })
                    .or_else(|| self.ahead(hit)),
                LabelClass::Key if self.is_near(&hit.at, LabelClass::Pair) => {
                    self.behind(hit, Self::key).or_else(|| self.behind(hit, Self::network_key))
                }
                LabelClass::Key | LabelClass::AwsSecret | LabelClass::Recovery => self.behind(hit, Self::key),
                LabelClass::Pin | LabelClass::Lock => self.behind(hit, Self::digits),
                LabelClass::Number if self.is_near(&hit.at, LabelClass::Lock) => {
                    self.behind(hit, Self::digits)
                }
                LabelClass::Code
                    if self.is_near(&hit.at, LabelClass::Lock) || self.is_near(&hit.at, LabelClass::Once) =>
                {
                    self.behind(hit, Self::digits).or_else(|| self.ahead(hit))
                }
                LabelClass::Code if self.is_near(&hit.at, LabelClass::Pair) => {
                    self.behind(hit, Self::password)
                }
                // What no word for a lock stands beside may be the code of an error or a place.
                LabelClass::Code if !self.is_near(&hit.at, LabelClass::Plain) => {
                    self.behind(hit, Self::told_digits)
                }
                LabelClass::Pair => self.pair(hit),
                _ => None,
            };
            found.extend(at.map(|at| Found { at, kind }));
        }
    }

    /// Digits before the sign that ends an entry (`4471#`) and the turns of a dial (`18-42-07`), near a word for a lock.
    pub(super) fn entries(&self, found: &mut Vec<Found>) {
        for word in self.text.split(|c: char| c.is_whitespace() || is_wide(c) || c == ',') {
            let value = word.trim_end_matches(['.', ')', ';', ':']).trim_start_matches('(');
            let start = value.as_ptr() as usize - self.text.as_ptr() as usize;
            let at = start..start + value.len();
            let digits = value.trim_end_matches(['#', '*']);
            let is_entry = digits.len() < value.len()
                && (3..9).contains(&digits.len())
                && digits.bytes().all(|b| b.is_ascii_digit());
            let turns: Vec<u8> =
                value.split('-').map_while(|turn| turn.parse().ok().filter(|_| turn.len() <= 2)).collect();
            let is_date = turns.len() == 3 && turns[1] <= 31 && (turns[0] <= 12 || turns[1] <= 12);
            let is_dial = turns.len() >= 3 && turns.len() == value.split('-').count() && !is_date;
            if (is_entry || is_dial) && self.is_near(&at, LabelClass::Lock) {
                found.push(Found { at, kind: SecretKind::PASSWORD });
            }
        }
    }

    /// The value behind a label, by the judge of its class.
    fn behind(&self, hit: &LabelHit, judge: Judge<'a>) -> Option<Range<usize>> {
        let After { is_assigned, is_told, is_doubtful, words } = after(self.text, &hit.at);
        let mut first_told = is_told.then_some(0);
        for nth in 0..words.len() {
            let word = &words[nth];
            // What a password has: `password policy`, `token id`.
            if nth == 0
                && !is_assigned
                && self.is_at(word.value.start, &[LabelClass::About, LabelClass::Plain])
            {
                return None;
            }
            let last = nth.checked_sub(1).map(|last| &words[last]);
            let is_told = last.is_some_and(|last| self.tells(last)) || nth == 0 && is_told;
            if is_told {
                first_told = first_told.or(Some(nth));
            }
            let signed =
                last.map_or(is_assigned, |last| self.text[last.at.clone()].ends_with([':', '=', '：']));
            let told = match first_told {
                _ if signed => Told::Sign,
                Some(first) if is_told && nth <= first + 1 => Told::Word,
                Some(_) if is_told => Told::Late,
                Some(first) if nth == first + 1 => Told::Earlier,
                _ => Told::Not,
            };
            let standing = Standing { nth, told, is_doubtful };
            if word.value.is_empty() {
                continue;
            }
            if self.text[word.at.clone()].contains("[redacted:") {
                return None;
            }
            let value = &self.text[word.value.clone()];
            if is_placeholder(value) || is_reference(value) || is_label(value) {
                if standing.is_assigned() {
                    return None;
                }
                continue;
            }
            if let Some(at) = judge(self, hit, &words[nth..], &standing) {
                return Some(at);
            }
        }
        None
    }

    fn password(&self, hit: &LabelHit, words: &[SentenceWord], standing: &Standing) -> Option<Range<usize>> {
        const LEAST: usize = 4;
        let word = &words[0];
        let value = &self.text[word.value.clone()];
        let digits = value.bytes().filter(u8::is_ascii_digit).count();
        let letters = value.chars().filter(|c| c.is_alphabetic()).count();
        let is_odd = digits > 0 && letters > 0
            || value.chars().any(|c| c.is_ascii_punctuation() && !"-_/.,:'".contains(c))
            || value.chars().skip(1).any(char::is_uppercase) && value.chars().any(char::is_lowercase);
        let is_long = value.chars().count() >= LEAST;
        let near = standing.told > Told::Not || standing.nth == 0;
        // Letters and digits alone, as in `amapola22`: no path, date or version.
        let joints =
            value.chars().filter(|c| *c == '_' || *c == '-' && value.contains(char::is_uppercase)).count();
        let is_plain_mix = digits > 0 && letters > 1 && digits + letters + joints == value.chars().count();
        let is_name = value.starts_with(char::is_uppercase) && standing.nth > 4;
        let is_value = if standing.is_doubtful || self.is_verb(hit, value) {
            is_odd && near && is_chosen(value, RarityBar::OneInHundred)
        } else if word.is_quoted && near {
            is_long && (is_odd || digits > 0 || value.contains(' ') || !is_state(value))
        } else if digits == value.len() {
            is_long
                && (standing.is_next() && (word.ends || standing.is_assigned())
                    || standing.nth == 0 && word.ends && !is_year(value))
        } else if standing.is_assigned() && word.ends {
            is_long && (is_odd || !is_state(value))
        } else if standing.told > Told::Not {
            let bar = if standing.is_assigned() { RarityBar::OneInFive } else { RarityBar::OneInTen };
            is_odd && (is_chosen(value, bar) || word.ends && standing.is_next() && is_plain_mix)
                || word.ends
                    && standing.is_next()
                    && standing.told > Told::Late
                    && is_long
                    && digits == 0
                    && !is_state(value)
                    && !is_name
                    && !value.contains(['/', '.'])
        } else if standing.nth == 0 {
            is_odd && digits > 0 && is_chosen(value, RarityBar::OneInTen)
                || word.ends
                    && is_long
                    && (is_plain_mix
                        || letters == value.chars().count() && !is_state(value) && self.is_paired(hit))
        } else {
            let bar = match (word.ends, standing.nth <= 1) {
                (true, true) => RarityBar::OneInTen,
                (true, false) => RarityBar::ThreeInHundred,
                (false, _) => RarityBar::OneInHundred,
            };
            is_odd && digits > 0 && is_chosen(value, bar)
        };
        if standing.is_next()
            && !standing.is_doubtful
            && let Some(at) = self.phrase(words)
        {
            return Some(at);
        }
        is_value.then(|| word.value.clone())
    }

    /// Whether a label is the verb `pass` rather than the short word for a password, which stands behind a user.
    fn is_verb(&self, hit: &LabelHit, value: &str) -> bool {
        let name = &self.text[hit.at.clone()];
        name.eq_ignore_ascii_case("pass")
            && !self.is_paired(hit)
            && !self.text[..hit.at.start].ends_with('_')
            && (name == "PASS" || !value.contains(|c: char| c.is_ascii_digit()))
    }

    /// Whether a word for a user stands before a label.
    fn is_paired(&self, hit: &LabelHit) -> bool {
        self.is_near(&(hit.at.start..hit.at.start), LabelClass::Pair)
    }

    /// Three small words and more to the end of the clause, none of which joins others: a passphrase.
    fn phrase(&self, words: &[SentenceWord]) -> Option<Range<usize>> {
        const LEAST: usize = 3;
        let last = words.iter().position(|word| word.ends)?;
        let is_word = |word: &SentenceWord| {
            let value = &self.text[word.value.clone()];
            value.chars().count() >= 3
                && value.chars().all(char::is_lowercase)
                && !is_common(value)
                && !self.tells(word)
        };
        (last + 1 >= LEAST && words[..=last].iter().all(is_word))
            .then(|| words[0].value.start..words[last].value.end)
    }

    /// The key of a wireless network, which people choose.
    fn network_key(
        &self,
        hit: &LabelHit,
        words: &[SentenceWord],
        standing: &Standing,
    ) -> Option<Range<usize>> {
        // IEEE 802.11: a passphrase has 8 to 63 characters.
        const LEAST: usize = 8;
        let is_key = |at: &Range<usize>| {
            let value = &self.text[at.clone()];
            value.len() >= LEAST
                && value.contains(|c: char| c.is_ascii_digit())
                && !value.contains([':', '/', '_'])
        };
        self.password(hit, words, standing).filter(is_key)
    }

    fn key(&self, hit: &LabelHit, words: &[SentenceWord], standing: &Standing) -> Option<Range<usize>> {
        const LEAST: usize = 16;
        const LEAST_SETTING: usize = 8;
        const LEAST_HEX: usize = 24;
        let word = &words[0];
        let value = &self.text[word.value.clone()];
        let has = |test: fn(&u8) -> bool| value.as_bytes().iter().any(test);
        let is_mixed = has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
        let is_hex = value.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
        let long = value.len() >= LEAST;
        let is_setting = standing.is_assigned() || word.is_quoted && standing.told > Told::Not;
        let is_value = if self.is_near(&hit.at, LabelClass::Plain) && !standing.is_assigned() {
            false
        } else if standing.told > Told::Not && !standing.is_doubtful {
            long && is_made(value, RarityBar::ThreeInHundred)
                || is_uuid(value)
                || is_setting
                    && value.len() >= LEAST_SETTING
                    && is_mixed
                    && is_chosen(value, RarityBar::OneInTen)
                    && !value.contains(['/', '.', ':', '+'])
        } else {
            let is_sum = is_hex && !(standing.nth == 0 && value.len() >= LEAST_HEX && !is_uuid(value));
            long && !is_sum && is_mixed && is_made(value, RarityBar::OneInHundred)
        };
        is_value.then(|| word.value.clone())
    }

    /// A PIN or the code of a door: digits, perhaps in groups, with a letter or two.
    fn digits(&self, hit: &LabelHit, words: &[SentenceWord], standing: &Standing) -> Option<Range<usize>> {
        const COUNT: Range<usize> = 3..11;
        let is_code = |text: &str| {
            text.chars().all(|c| c.is_ascii_digit() || "-*#".contains(c) || c.is_ascii_uppercase())
                && text.bytes().filter(u8::is_ascii_alphabetic).count() <= 2
        };
        let count = |text: &str| text.bytes().filter(u8::is_ascii_digit).count();
        let word = &words[0];
        let mut at = word.value.clone();
        // Groups of digits: `44 17`.
        for next in &words[1..] {
            let group = &self.text[next.value.clone()];
            if next.value.start != at.end + 1
                || !group.bytes().all(|b| b.is_ascii_digit())
                || group.is_empty()
            {
                break;
            }
            at.end = next.value.end;
        }
        if self.text[at.end..].starts_with(['#', '*']) {
            at.end += 1;
        }
        let value: String = self.text[at.clone()].split(' ').collect();
        let name = &self.text[hit.at.clone()];
        // `GPIO pin 1345 is high` is a pin, `PIN 1345` a number.
        let is_named = matches!(hit.class, LabelClass::Code | LabelClass::Number | LabelClass::Password)
            || name.chars().all(|c| !c.is_lowercase())
            || !name.is_ascii()
            || name.len() > 4
            || words[0].ends;
        let is_phone = value.contains('-') && value.split('-').any(|group| group.len() > 2);
        let is_told = if hit.class == LabelClass::Lock {
            let is_named =
                standing.told == Told::Sign || standing.is_next() && standing.nth <= 2 && word.ends;
            is_named && !is_year(&value) && value.len() > 3 && !is_phone
        } else {
            let is_far = standing.nth == 0 || !is_year(&value) && count(&value) > 3 && count(&value) < 9;
            standing.is_next() || is_named && is_far
        };
        let is_short = count(&value) == 3
            && !(hit.class == LabelClass::Pin && name.len() == 3)
            && !(value.len() == 3 && (standing.nth == 0 || standing.is_next()) && words[0].ends);
        let is_value = is_code(&value)
            && COUNT.contains(&count(&value))
            && !(is_short && (value.len() == 3 || !standing.is_next()))
            && is_told;
        is_value.then_some(at)
    }

    /// Four digits and more that end a clause and are told to be the code.
    fn told_digits(
        &self,
        hit: &LabelHit,
        words: &[SentenceWord],
        standing: &Standing,
    ) -> Option<Range<usize>> {
        const LEAST: usize = 4;
        let digits = self
            .digits(hit, words, standing)
            .filter(|at| at.len() >= LEAST && words[0].ends && standing.is_next());
        digits.filter(|at| {
            let value = self.text[at.clone()].trim_end_matches(['#', '*']);
            value.bytes().all(|b| b.is_ascii_digit()) && !is_year(value)
        })
    }

    /// The value before its label: `hunter2 is the password`, `with hunter2 as password`.
    fn ahead(&self, hit: &LabelHit) -> Option<Range<usize>> {
        const NEAR: usize = 6;
        let words = before(self.text, hit.at.start);
        let tells = words.iter().take(NEAR).position(|word| self.tells(word))?;
        let word = words.get(tells + 1)?;
        let value = &self.text[word.value.clone()];
        let digits = value.bytes().filter(u8::is_ascii_digit).count();
        let is_value = !value.is_empty()
            && !is_placeholder(value)
            && !is_reference(value)
            && if hit.class == LabelClass::Code {
                (4..11).contains(&digits) && value.bytes().all(|b| b.is_ascii_digit() || b"-#*".contains(&b))
            } else {
                let is_plain_mix = tells <= 1 && value.chars().all(char::is_alphanumeric);
                word.is_quoted && !is_state(value)
                    || digits > 0
                        && digits < value.len()
                        && (is_plain_mix || is_chosen(value, RarityBar::OneInTen))
            };
        is_value.then(|| word.value.clone())
    }

    /// User and password as a pair: `creds admin/hunter2`, `login: deploy / Xy12!ab`.
    fn pair(&self, hit: &LabelHit) -> Option<Range<usize>> {
        const NEAR: usize = 6;
        const LEAST: usize = 6;
        let After { words, is_assigned, .. } = after(self.text, &hit.at);
        for (nth, word) in words.iter().take(NEAR).enumerate() {
            let value = &self.text[word.value.clone()];
            let at = if matches!(value, "/" | "")
                && nth > 0
                && let Some(next) = words.get(nth + 1)
            {
                next.value.clone()
            } else if let Some((user, password)) = value.split_once(['/', ':']) {
                let is_user = !user.is_empty()
                    && user.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.@".contains(&b));
                if !is_user || password.starts_with('/') {
                    continue;
                }
                word.value.end - password.len()..word.value.end
            } else if nth == 0 && is_assigned && self.text[hit.at.end..word.at.start].contains('/')
                || (nth == 0 && is_assigned || nth > 1 && self.tells(&words[nth - 1]))
                    && value.contains(['!', '?', '#', '$', '*', '&', '%'])
            {
                word.value.clone()
            } else {
                continue;
            };
            let password = &self.text[at.clone()];
            let has_letter = password.chars().any(char::is_alphabetic);
            let is_value = has_letter
                && !is_placeholder(password)
                && !is_reference(password)
                && password.chars().any(|c| c.is_ascii_digit())
                && (is_chosen(password, RarityBar::OneInTen)
                    || password.len() >= LEAST && password.chars().all(char::is_alphanumeric));
            if is_value {
                return Some(at);
            }
        }
        None
    }
}

/// Whether a value only says where the secret is: a variable, a path, a call.
pub(super) fn is_reference(value: &str) -> bool {
    value.starts_with(['/', '{', '<', '(', '[', '~'])
        || value
            .strip_prefix(['@', '%'])
            .is_some_and(|name| name.chars().all(|c| c.is_alphabetic() || "%_.-/".contains(c)))
        || value.starts_with("./")
        || value.contains("::")
        || value.contains("://")
        || value.contains("()")
        || value.ends_with('(')
        || value.strip_prefix('$').is_some_and(|name| {
            name.starts_with(['{', '(']) || name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_')
        })
}

/// Whether four digits may be a year of our days.
fn is_year(value: &str) -> bool {
    value.len() == 4
        && (value.starts_with("19") || value.starts_with("20"))
        && value.bytes().all(|b| b.is_ascii_digit())
}

/// Groups of 8, 4, 4, 4 and 12 hex digits (RFC 9562).
fn is_uuid(value: &str) -> bool {
    let groups = value
        .split('-')
        .map(|group| if group.bytes().all(|b| b.is_ascii_hexdigit()) { group.len() } else { 0 });
    groups.eq([8, 4, 4, 4, 12])
}

/// Long values of capitals, small letters and digits that no word announces: who pastes one pasted a key. Ids and sums are
/// said to be such, or stand in a path or URL.
pub(super) fn bare(text: &str, hits: &[LabelHit], least: usize, found: &mut Vec<Found>) {
    let labelled = Labelled { text, hits };
    for word in text.split_ascii_whitespace() {
        if word.len() < least {
            continue;
        }
        let at = word.as_ptr() as usize - text.as_ptr() as usize;
        let value = word.trim_matches(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=')));
        let has = |test: fn(&u8) -> bool| value.as_bytes().iter().any(test);
        if value.len() >= least
            && value.len() <= LONGEST
            && value
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=' | b'_' | b'-'))
            && value.matches('/').count() * 16 <= value.len()
            && !value.trim_end_matches('=').contains('=')
            && has(u8::is_ascii_lowercase)
            && has(u8::is_ascii_uppercase)
            && has(u8::is_ascii_digit)
            && !is_placeholder(value)
            && is_made(value, RarityBar::OneInHundred)
        {
            let start = at + word.find(value).unwrap_or(0);
            let is_plain = labelled.is_near(&(start..start + value.len()), LabelClass::Plain);
            if !is_plain {
                found.push(Found { at: start..start + value.len(), kind: SecretKind::TOKEN });
            }
        }
    }
}

/// The words behind a place, for rules of other files.
pub(super) fn words_behind(text: &str, at: usize) -> Vec<SentenceWord> {
    read(text, at, None)
}
