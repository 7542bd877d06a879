//! Cuts a long text into pieces at the best places, such as ends of paragraphs, lines and sentences.
//! Every character is read a bounded number of times.

use std::ops::Range;
use unicode_normalization::char::is_combining_mark;

/// Returns a text as one line with single blanks.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A kind of place where a text may be cut, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Break {
    Character,
    Word,
    Sentence,
    Line,
    Paragraph,
}

/// Cuts a text into pieces of at most `max` characters, each repeating at most `overlap` of the one before (and never
/// more than a quarter of `max`).
///
/// The ranges are trimmed (indentation of a first line stays), ascending, and cover every character that is not white space.
pub(super) fn pieces(text: &str, max: usize, overlap: usize) -> Vec<Range<usize>> {
    let max = max.max(1);
    let overlap = overlap.min(max / 4);
    let mut pieces = Vec::new();
    let mut start = trim_start(text, 0, text.len());
    let mut covered = 0;
    while start < text.len() {
        let (mut end, last, place) = cut(text, start, max);
        // A piece that repeats the end of the one before is never tiny, and better places matter more.
        if !last
            && overlap == 0
            && place < Break::Paragraph
            && let Some(shorter) = without_crumb(&text[start..], max)
            && let (sooner, _, as_good) = cut(text, start, shorter)
            && as_good >= place
        {
            end = sooner;
        }
        let trimmed = start + text[start..end].trim_end().len();
        // The rest may be white space after the part that would be repeated.
        if trimmed > start.max(covered) {
            pieces.push(start..trimmed);
            covered = trimmed;
        }
        if last {
            break;
        }
        let next = trim_start(text, end, text.len());
        let repeated = if overlap == 0 { end } else { step_back(text, start, end, overlap) };
        start = if repeated < end { repeated } else { next };
        if next == text.len() {
            break;
        }
    }
    pieces
}

/// Returns a cut slightly after the middle if little more than one piece is left, so that the last piece is not tiny.
fn without_crumb(rest: &str, max: usize) -> Option<usize> {
    let little = max + max / 4;
    // A character has at most four bytes.
    if rest.len() > little * 4 {
        return None;
    }
    let left = length(rest.trim_end());
    (left > max && left < little).then_some(left * 3 / 5)
}

/// Returns the end of the piece that begins at `start`, whether nothing is left after it, and the kind of place.
fn cut(text: &str, start: usize, max: usize) -> (usize, bool, Break) {
    // The best kind of place wins, the latest among equals. Only the second half of the piece counts: pieces stay long,
    // and each character is read at most twice.
    let mut best = [None; 5];
    let (mut before, mut visible, mut newlines) = ('\n', '\n', 0);
    for (count, (at, letter)) in text[start..].char_indices().enumerate() {
        if count * 2 >= max
            && count > 0
            && let Some(kind) = break_between(before, visible, letter, newlines)
        {
            best[kind as usize] = Some((start + at, kind));
        }
        if count == max {
            let (end, place) =
                best.iter().rev().find_map(|place| *place).unwrap_or((start + at, Break::Character));
            return (end, false, place);
        }
        if letter == '\n' {
            newlines += 1;
        } else if !letter.is_whitespace() {
            (visible, newlines) = (letter, 0);
        }
        before = letter;
    }
    (text.len(), true, Break::Paragraph)
}

/// Returns how good a cut between two characters is. `visible` is the last character that is no white space, `newlines`
/// the number of line ends since then.
fn break_between(before: char, visible: char, next: char, newlines: u32) -> Option<Break> {
    if before == '\n' {
        return Some(if newlines > 1 { Break::Paragraph } else { Break::Line });
    }
    if next.is_whitespace() || joins_the_character_before(next) || before == '\u{200D}' {
        // White space belongs to what is before it.
        return None;
    }
    if before.is_whitespace() {
        return match (newlines, ends_sentence(visible) && !next.is_lowercase()) {
            (0, true) => Some(Break::Sentence),
            (0, false) => Some(Break::Word),
            _ => None, // inside a line's indentation
        };
    }
    // The full stops of scripts that put no space after them.
    let stop = matches!(before, '。' | '！' | '？' | '；' | '．');
    Some(if stop { Break::Sentence } else { Break::Character })
}

fn ends_sentence(mark: char) -> bool {
    matches!(
        mark,
        '.' | '!' | '?' | ':' | ';' | '"' | ')' | '\u{201D}' | '…' | '।' | '؟' | '。' | '！' | '？'
    )
}

fn joins_the_character_before(letter: char) -> bool {
    is_combining_mark(letter)
        || matches!(letter, '\u{200D}' | '\u{FE00}'..='\u{FE0F}' | '\u{1F3FB}'..='\u{1F3FF}')
}

/// Returns where the next piece begins, so that it repeats up to `overlap` characters: at the first start of a line or
/// sentence there, else of a word. If there is none, nothing is repeated.
fn step_back(text: &str, start: usize, end: usize, overlap: usize) -> usize {
    let first = text[start..end].char_indices().rev().take(overlap).last().map_or(end, |(at, _)| start + at);
    let mut word = None;
    let (mut before, mut visible) = (text[..first].chars().next_back().unwrap_or('\n'), '\n');
    for (at, letter) in text[first..end].char_indices() {
        if !letter.is_whitespace() {
            if before == '\n' || (before.is_whitespace() && ends_sentence(visible) && !letter.is_lowercase())
            {
                return first + at;
            }
            if before.is_whitespace() {
                word.get_or_insert(first + at);
            }
            visible = letter;
        }
        before = letter;
    }
    word.unwrap_or(end)
}

/// Returns the start of the first non-blank line at or after `from`, its indentation included.
fn trim_start(text: &str, from: usize, to: usize) -> usize {
    let rest = &text[from..to];
    let visible = rest.len() - rest.trim_start().len();
    match rest[..visible].rfind('\n') {
        Some(newline) if from + visible < to => from + newline + 1,
        None if from + visible < to && (from == 0 || text.as_bytes()[from - 1] == b'\n') => from,
        _ => from + visible,
    }
}

/// Line numbers of a text by byte offset.
pub(super) struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    pub(super) fn new(text: &str) -> Self {
        let ends = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
        Self { starts: std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect() }
    }

    /// Returns the line, counted from 1, of the byte at this offset.
    pub(super) fn at(&self, offset: usize) -> u32 {
        self.starts.partition_point(|&start| start <= offset) as u32
    }

    /// Returns the first and last line of a range of bytes.
    pub(super) fn of(&self, range: &Range<usize>) -> (u32, u32) {
        (self.at(range.start), self.at(range.end.saturating_sub(1).max(range.start)))
    }
}

/// Whether a text has at most `max` characters; counts no further than necessary.
pub(super) fn fits(text: &str, max: usize) -> bool {
    text.len() <= max || (text.len() <= max.saturating_mul(4) && text.chars().count() <= max)
}

/// Returns a text's length in characters (Unicode scalar values).
pub(super) fn length(text: &str) -> usize {
    text.chars().count()
}

/// Returns a range without outer blank lines and trailing white space; the first line keeps its indentation.
pub(super) fn trim(text: &str, range: Range<usize>) -> Range<usize> {
    let part = &text[range.clone()];
    let visible = part.len() - part.trim_start().len();
    let start = part[..visible].rfind('\n').map_or(0, |newline| newline + 1);
    let end = part.trim_end().len();
    if end <= start { range.start..range.start } else { range.start + start..range.start + end }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, max: usize, overlap: usize, expected: &[&str]) {
        let got: Vec<&str> = pieces(text, max, overlap).into_iter().map(|range| &text[range]).collect();
        assert_eq!(got, expected);
    }

    #[test]
    fn a_text_is_cut_at_the_best_place() {
        check("", 10, 0, &[]);
        check(" \n ", 10, 0, &[]);
        check("short", 10, 0, &["short"]);
        check("one two.\n\nthree four", 14, 0, &["one two.", "three four"]);
        check("one two three\nfour five six", 20, 0, &["one two three", "four five six"]);
        check("It is so. But is it? Yes", 16, 0, &["It is so.", "But is it? Yes"]);
        check("alpha beta gamma", 12, 0, &["alpha beta", "gamma"]);
        check("abcdefghij", 4, 0, &["abcd", "efgh", "ij"]);
        check("今日は雨。明日は晴れ。", 8, 0, &["今日は雨。", "明日は晴れ。"]);
        check(
            "    if a:\n        b()\n    else:\n        c()",
            26,
            0,
            &["    if a:\n        b()", "    else:\n        c()"],
        );
        // Little more than one piece: two similar ones instead of a tiny one at the end.
        check("aaa bbb ccc ddd eee", 17, 0, &["aaa bbb", "ccc ddd eee"]);
        // e with an acute as two characters is not split.
        check("abce\u{301}fgh", 4, 0, &["abc", "e\u{301}fg", "h"]);
    }

    #[test]
    fn a_piece_repeats_the_end_of_the_one_before() {
        check(
            "One is. Two is. Three is. Four is.",
            20,
            5,
            &["One is. Two is.", "is. Three is.", "is. Four is."],
        );
        check("a b c d e f g h i j k l m n", 16, 4, &["a b c d e f g h", "g h i j k l m n"]);
        check(&"x".repeat(12), 8, 2, &["xxxxxxxx", "xxxx"]);
    }

    proptest! {
        #[test]
        fn nothing_visible_is_lost_and_nothing_is_too_long(
            text in "([a-z.é。\u{301}😀]{0,9}[ \n\t]{0,3}){0,40}", max in 1usize..40, overlap in 0usize..20,
        ) {
            let ranges = pieces(&text, max, overlap);
            let mut covered = 0;
            for range in &ranges {
                prop_assert!(length(&text[range.clone()]) <= max, "{:?}", &text[range.clone()]);
                prop_assert!(range.start < range.end);
                if range.start > covered {
                    prop_assert_eq!(text[covered..range.start].trim(), "");
                }
                prop_assert!(range.end > covered);
                if overlap == 0 {
                    prop_assert!(range.start >= covered);
                }
                covered = range.end;
            }
            prop_assert_eq!(text[covered..].trim(), "");
        }
    }

    #[test]
    fn lines_are_counted_from_one() {
        let text = "a\nbc\n\nd";
        let lines = Lines::new(text);
        assert_eq!([0, 1, 2, 5, 6].map(|at| lines.at(at)), [1, 1, 2, 3, 4]);
        assert_eq!(lines.of(&(0..5)), (1, 2));
    }
}
