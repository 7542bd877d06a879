//! Snippets: the part of a text that shows why it was found, with its matches marked.
//! Marks are on character boundaries, never overlap and ascend.

use std::collections::HashMap;
use std::ops::{ControlFlow, Range};

use super::analyze::{Analyzer, Purpose};
use super::delta::forms;
use super::language::Language;
use super::query::QueryTerm;

/// A window of a text with the words that matched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snippet {
    /// The window; `…` marks text before or after it.
    pub text: String,
    /// The matched words, as byte ranges of `text`.
    pub marks: Vec<Range<usize>>,
}

/// A mark with the query's terms that it matches.
struct Match {
    at: Range<usize>,
    term: usize,
}

/// Returns the window of at most `max_chars` characters (ellipses not counted) with the most distinct terms, then the
/// most matches, then the earliest. It begins with a sentence if one starts nearby. It is cut at spaces if there are
/// any, never inside a character. Terms match by their stem in `language`, the text's, as in the index. Line breaks and other white space become single
/// spaces.
pub fn snippet(text: &str, terms: &[QueryTerm], language: Language, max_chars: usize) -> Snippet {
    let text = one_line(text);
    let matches = matches(&text, terms, language);
    let chars: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let total = chars.len() - 1;
    if max_chars == 0 || total == 0 {
        return Snippet::default();
    }
    let (mut from, mut to) = (0, total);
    let mut begins_sentence = false;
    if total > max_chars {
        let nth = |at: usize| chars.partition_point(|&start| start < at);
        let spans: Vec<_> = matches.iter().map(|m| (nth(m.at.start), nth(m.at.end), m.term)).collect();
        let (first, last) = best_window(&spans, terms.len(), max_chars);
        let spare = max_chars.saturating_sub(last - first);
        let sentence = sentence_start(&text, &chars, first.saturating_sub(spare), first);
        from = sentence.unwrap_or(first.saturating_sub(spare / 3).min(total - max_chars));
        to = (from + max_chars).min(total);
        (from, to) = to_words(&text, &chars, (from, to), (first, last));
        begins_sentence = sentence == Some(from);
    }
    let (start, end) = (chars[from], chars[to]);
    let mut shown = Snippet::default();
    if start > 0 && !begins_sentence {
        shown.text.push('…');
    }
    let shift = shown.text.len();
    shown.text.push_str(&text[start..end]);
    for at in matches.into_iter().map(|m| m.at).filter(|at| at.start >= start && at.end <= end) {
        let at = at.start - start + shift..at.end - start + shift;
        match shown.marks.last_mut() {
            Some(last) if at.start < last.end => last.end = last.end.max(at.end),
            Some(_) | None => shown.marks.push(at),
        }
    }
    if end < text.len() {
        shown.text.push('…');
    }
    shown
}

/// Replaces white space of any kind and length by one space; none at the ends.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// Returns the matches by start, then longest first. Merging the marks removes parts of a compound that matches as a whole.
fn matches(text: &str, terms: &[QueryTerm], language: Language) -> Vec<Match> {
    let wanted: HashMap<&str, usize> = forms(terms).map(|(nth, form)| (form, nth)).collect();
    let mut found = Vec::new();
    Analyzer::new(language).each(text, Purpose::Index, |term| {
        if let Some(&nth) = wanted.get(term.term) {
            found.push(Match { at: term.at, term: nth });
        }
        ControlFlow::Continue(())
    });
    found.sort_by_key(|found| (found.at.start, std::cmp::Reverse(found.at.end)));
    found
}

/// Returns the first window (in characters) with the most distinct terms and then matches, from its first to its last match.
fn best_window(spans: &[(usize, usize, usize)], terms: usize, max_chars: usize) -> (usize, usize) {
    let mut counts = vec![0_u32; terms];
    let mut distinct = 0;
    let mut best = (0, 0, (0, 0));
    let mut left = 0;
    for (right, &(_, end, term)) in spans.iter().enumerate() {
        counts[term] += 1;
        distinct += u32::from(counts[term] == 1);
        while left <= right && end.saturating_sub(spans[left].0) > max_chars {
            let gone = spans[left].2;
            counts[gone] -= 1;
            distinct -= u32::from(counts[gone] == 0);
            left += 1;
        }
        if left <= right && (distinct, right - left + 1) > (best.0, best.1) {
            best = (distinct, right - left + 1, (spans[left].0, end));
        }
    }
    best.2
}

/// Returns the last beginning of a sentence from `least` to `first`; the text's own beginning counts.
fn sentence_start(text: &str, chars: &[usize], least: usize, first: usize) -> Option<usize> {
    (least..=first).rev().find(|&nth| {
        let before = &text[..chars[nth]];
        let ends = |text: &str| text.ends_with(['.', '!', '?', '…', '·']);
        before.is_empty()
            || before.ends_with(['。', '！', '？'])
            || before.strip_suffix(' ').is_some_and(ends)
    })
}

/// Moves the ends of the window inwards to spaces, by at most 20 characters and never into the matches `(first, last)`.
fn to_words(
    text: &str,
    chars: &[usize],
    (mut from, mut to): (usize, usize),
    (first, last): (usize, usize),
) -> (usize, usize) {
    const MOST: usize = 20;
    let is_space = |nth: usize| text.as_bytes().get(chars[nth]) == Some(&b' ');
    if from > 0 && !is_space(from - 1) {
        let limit = (from + MOST).min(first);
        from = (from..limit).find(|&nth| is_space(nth)).map_or(from, |nth| nth + 1);
    }
    if to < chars.len() - 1 && !is_space(to) {
        let limit = to.saturating_sub(MOST).max(last).max(from + 1);
        to = (limit..to).rev().find(|&nth| is_space(nth)).unwrap_or(to);
    }
    // A combining mark belongs to the character before it.
    while from > first.min(from) && text[chars[from]..].chars().next().is_some_and(is_mark) {
        from -= 1;
    }
    (from, to)
}

fn is_mark(c: char) -> bool {
    unicode_normalization::char::is_combining_mark(c)
}

#[cfg(test)]
mod tests {
    use super::super::query::query_terms;
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str, question: &str, max_chars: usize, expected: &str) {
        let terms = query_terms(question, &[]);
        let shown = snippet(text, &terms, Language::English, max_chars);
        let mut marked = shown.text.clone();
        for mark in shown.marks.iter().rev() {
            marked.insert(mark.end, ']');
            marked.insert(mark.start, '[');
        }
        assert_eq!(marked, expected);
    }

    #[test]
    fn the_window_shows_what_matched() {
        check("Running\n  fast is fun", "who runs", 100, "[Running] fast is fun");
        let text = "nothing at all here and there until the parser reads tokens, then nothing again for long";
        check(text, "token parsers", 30, "…[parser] reads [tokens], then…");
        check(text, "absent", 12, "nothing at…");
        check("call get_user_name now", "getUserName", 80, "call [get_user_name] now");
        check("吾輩は猫である。名前はまだ無い。", "名前", 6, "[名前]はまだ無…");
        check("One thing. Another is the parser. And", "parser", 26, "Another is the [parser]. And");
        check("", "x", 10, "");
    }

    proptest! {
        #[test]
        fn any_text_has_a_snippet(text in any::<String>(), question in any::<String>(), max in 0_usize..60) {
            let terms = query_terms(&question, &[]);
            let shown = snippet(&text, &terms, Language::English, max);
            prop_assert!(shown.text.chars().count() <= max + 2);
            let mut end = 0;
            for mark in &shown.marks {
                prop_assert!(mark.start >= end && mark.start < mark.end);
                prop_assert!(!shown.text[mark.clone()].is_empty());
                end = mark.end;
            }
        }
    }
}
