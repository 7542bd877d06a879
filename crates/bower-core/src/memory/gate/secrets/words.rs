//! Reads the words of a sentence behind or before a place, as far as a value may stand from its label.
//! Every read is bounded, so that a text of labels takes time in proportion to its length.

use std::ops::Range;

use super::found::LONGEST;
use super::labels::is_wide;

/// A label's value stands at most so many words from it,
const MOST_WORDS: usize = 12;
/// and at most so many bytes.
const MOST_BYTES: usize = 240;
/// Quotes that hold a value, each with what closes it.
const QUOTES: [(char, &[char]); 8] = [
    ('"', &['"']),
    ('\'', &['\'']),
    ('`', &['`']),
    ('“', &['”']),
    ('„', &['“', '”']),
    ('«', &['»']),
    ('「', &['」']),
    ('『', &['』']),
];
/// Marks around a value that are none of it.
const OPENS: &[char] = &['"', '\'', '`', '(', '*', '“', '„', '«', '‚', '‘', '|', '[', '（', '_', '「', '『'];
const CLOSES: &[char] = &[
    '.', ',', ';', ':', ')', '"', '\'', '`', '*', ']', '}', '”', '“', '»', '」', '』', '。', '、', '，',
    '）', '’', '|', '_',
];

/// A word of a sentence.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SentenceWord {
    /// With all marks on it.
    pub(super) at: Range<usize>,
    /// Without them; what stands in quotes may have spaces.
    pub(super) value: Range<usize>,
    pub(super) is_quoted: bool,
    /// Whether a clause ends behind it.
    pub(super) ends: bool,
    /// Whether the sentence ends behind it.
    is_last: bool,
}

/// What follows a label.
#[derive(Debug)]
pub(super) struct After {
    /// Whether a sign that assigns stands between the label and the first word.
    pub(super) is_assigned: bool,
    /// Whether `'s` stands there, as in `the password's …`.
    pub(super) is_told: bool,
    /// Whether the sentence asks, the label is a function that is called, or only the beginning of a longer name (`PASSWORD_PROD`).
    pub(super) is_doubtful: bool,
    pub(super) words: Vec<SentenceWord>,
}

/// Reads what follows a label that stands at `label`.
pub(super) fn after(text: &str, label: &Range<usize>) -> After {
    // A label may be the beginning of a compound (`lockbox`).
    let rest = text[label.end..].chars().take_while(|c| c.is_alphabetic() && !is_wide(*c));
    let mut at = label.end + rest.map(char::len_utf8).sum::<usize>();
    let name =
        text[at..].bytes().take(64).take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
    let name = name.count();
    let is_longer = name > 0
        && text[at..].starts_with(['_', '-'])
        && text[at..at + name].contains(|c: char| c.is_ascii_alphanumeric());
    at += if is_longer { name } else { 0 };
    let marks = text[at..].bytes().take(3).take_while(|b| b"\"'`*])".contains(b)).count();
    let rest = text[at + marks..].trim_start_matches([' ', '\t']);
    let in_tag = rest.starts_with('>') && text[..label.start].ends_with('<');
    let signs = ["=>", ":=", "->", "=", ":", "：", "→", "|", "/ ", "\t"];
    let sign = signs.iter().find(|sign| rest.starts_with(**sign)).filter(|_| !rest.starts_with("=="));
    let is_called = text[label.end..].starts_with('(');
    let is_assigned =
        in_tag || sign.is_some() || text[..label.start].ends_with("--") && rest.len() < text[at..].len();
    if is_assigned {
        at = text.len() - rest.len() + sign.map_or(usize::from(in_tag), |sign| sign.len());
    }
    let is_short = ["'s ", "’s "].iter().find(|is| text[at..].starts_with(**is));
    at += is_short.map_or(0, |is| is.len());
    let mut words = read(text, at, sign.copied());
    // `Password:` alone on its line names what stands on the next.
    let line = text[at..].trim_start_matches([' ', '\t', '*']);
    if words.is_empty() && is_assigned && line.starts_with(['\n', '\r']) {
        words = read(text, text.len() - line.trim_start_matches(['\n', '\r']).len(), None);
    }
    let asks = words.last().is_some_and(|word| text[word.at.clone()].ends_with(['?', '？']));
    After { is_assigned, is_told: is_short.is_some(), is_doubtful: is_longer || is_called || asks, words }
}

/// The words of the sentence from `from` on, behind a sign that assigns. A value that `=` sets ends where the next setting begins.
pub(super) fn read(text: &str, from: usize, sign: Option<&str>) -> Vec<SentenceWord> {
    let mut words: Vec<SentenceWord> = Vec::new();
    let mut at = from;
    while words.len() < MOST_WORDS && at - from < MOST_BYTES {
        at = text.len() - text[at..].trim_start_matches([' ', '\t', '\u{3000}', '\u{a0}']).len();
        if text[at..].is_empty()
            || text[at..].starts_with(['\n', '\r'])
            || words.last().is_some_and(|word| word.is_last)
        {
            break;
        }
        let word = one(text, at, sign.filter(|_| words.is_empty()));
        at = word.at.end;
        words.push(word);
    }
    if let Some(last) = words.last_mut()
        && text[last.at.end..]
            .trim_start_matches([' ', '\t'])
            .chars()
            .next()
            .is_none_or(|c| matches!(c, '\n' | '\r'))
    {
        last.ends = true;
    }
    words
}

/// The words of the sentence that ends at `to`, the nearest first.
pub(super) fn before(text: &str, to: usize) -> Vec<SentenceWord> {
    let mut from = to.saturating_sub(MOST_BYTES / 2);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let start = ["\n", ". ", "! ", "? ", "。"]
        .iter()
        .filter_map(|end| text[from..to].rfind(end).map(|at| at + end.len()))
        .max();
    let mut at = from + start.unwrap_or(0);
    // A piece of a word is no word.
    if start.is_none() && from > 0 {
        at += text[at..to].find(' ').unwrap_or(to - at);
    }
    let mut words = Vec::new();
    while at < to {
        at = to - text[at..to].trim_start().len();
        if at >= to {
            break;
        }
        let word = one(&text[..to], at, None);
        at = word.at.end;
        words.push(word);
    }
    words.reverse();
    words
}

/// The word that begins at `at`, where no space stands.
fn one(text: &str, at: usize, sign: Option<&str>) -> SentenceWord {
    let rest = &text[at..];
    let first = rest.chars().next().unwrap_or(' ');
    if let Some((_, closers)) = QUOTES.iter().find(|(open, _)| *open == first)
        && let Some(length) = quoted(rest, first, closers)
    {
        let value = at + first.len_utf8()..at + length;
        let end = value.end + text[value.end..].chars().next().map_or(0, char::len_utf8);
        let marks = text[end..]
            .chars()
            .take_while(|c| CLOSES.contains(c) || matches!(c, '!' | '?'))
            .map(char::len_utf8);
        let end = end + marks.sum::<usize>();
        return finish(text, at..end, value, true);
    }
    let wide = is_wide(first);
    let stops = |c: char| {
        c.is_whitespace()
            || (is_wide(c) != wide && (sign.is_none() || "。、，；（）".contains(c)))
            || matches!(c, '<' | '「' | '『')
            || (sign == Some("=") && matches!(c, ';' | '&' | '"' | '\''))
            || c == '・'
    };
    let skip = first.len_utf8();
    let length = rest[skip..].char_indices().take(LONGEST).find(|(_, c)| stops(*c)).map_or_else(
        || rest[skip..].char_indices().nth(LONGEST).map_or(rest.len(), |(at, _)| at + skip),
        |(at, _)| at + skip,
    );
    let raw = &rest[..length];
    let head = length - raw.trim_start_matches(OPENS).len();
    let mut inner = raw[head..].trim_end_matches(CLOSES);
    let bare = inner.trim_end_matches(['!', '?', '！', '？']);
    // The mark of a sentence is none of a plain word; it may well be one of a password.
    if !bare.contains(|c: char| c.is_ascii_digit()) {
        inner = bare.trim_end_matches(CLOSES);
    }
    finish(text, at..at + length, at + head..at + head + inner.len(), false)
}

/// Where the quotation ends that `rest` begins with.
fn quoted(rest: &str, open: char, closers: &[char]) -> Option<usize> {
    const MOST_QUOTED: usize = 80;
    let skip = open.len_utf8();
    let mut letters = rest[skip..].char_indices().take(MOST_QUOTED).take_while(|(_, c)| *c != '\n');
    let (at, close) = letters.find(|(_, c)| closers.contains(c))?;
    let next = rest[skip + at + close.len_utf8()..].chars().next();
    let is_end = next.is_none_or(|c| !c.is_alphanumeric() || is_wide(c));
    (at > 0 && is_end).then_some(skip + at)
}

fn finish(text: &str, at: Range<usize>, value: Range<usize>, is_quoted: bool) -> SentenceWord {
    let raw = &text[at.clone()];
    let tail = &text[value.end..at.end];
    let next = text[at.end..].trim_start_matches([' ', '\t']);
    // `no. 5` goes on.
    let is_short = tail == "." && next.starts_with(|c: char| c.is_ascii_digit());
    let is_last = !is_short && tail.contains(['.', '!', '?', '。', '！', '？', ';'])
        || raw.ends_with(['!', '?', '。', '！', '？']);
    let ends = is_last
        || tail.contains([',', ';', ')', '、', '，', '）'])
        || next.is_empty()
        || next.starts_with(['\n', '\r', '(', '（', '<', '–', '—', '/', '|', '。', '、', '，', ';', '&'])
        || next.starts_with("- ")
        || next.starts_with("//");
    SentenceWord { at, value, is_quoted, ends, is_last }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, label: &str, is_assigned: bool, expected: &[&str]) {
        let start = text.find(label).unwrap();
        let after = after(text, &(start..start + label.len()));
        let words: Vec<&str> = after.words.iter().map(|word| &text[word.value.clone()]).collect();
        assert_eq!((after.is_assigned, words.as_slice()), (is_assigned, expected), "{text}");
    }

    #[test]
    fn words_follow_a_label() {
        check("pw: hunter2, then", "pw", true, &["hunter2", "then"]);
        check("The password is \"a b c\". Next", "password", false, &["is", "a b c"]);
        check("Pwd=abc;Database=x", "Pwd", true, &["abc", ";Database=x"]);
        check("{\"password\": \"p@ss\"}", "password", true, &["p@ss"]);
        check("パスワードはsakura24です。", "パスワード", false, &["は", "sakura24", "です"]);
        check("<password>abc</password>", "password", true, &["abc", "</password>"]);
        check("Password:\n  hunter2\nx", "Password", true, &["hunter2"]);
        check("passwords == x", "passwords", false, &["==", "x"]);
    }

    #[test]
    fn words_before_come_nearest_first() {
        let text = "One. Use abc as the password";
        let words: Vec<&str> =
            before(text, text.len() - 9).into_iter().map(|word| &text[word.value]).collect();
        assert_eq!(words, ["the", "as", "abc", "Use"]);
    }
}
