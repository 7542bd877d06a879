//! Cuts a text into the units that a budget takes or leaves.
//! Units are sentences, list items, labelled lines, lines of code and of tables. They ascend, do not overlap, and
//! contain every character that is not white space.

use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

/// Widest line of wrapped text, in characters. Longer lines were not wrapped by hand: each is its own paragraph.
const WIDEST_WRAP: usize = 120;

/// Longest label such as `Caroline:` or `Note:`, in bytes.
const LONGEST_LABEL: usize = 32;

/// Abbreviations whose full stop does not end a sentence, in lower case, without it.
const SHORT_FORMS: &[&str] = &[
    "al", "approx", "art", "ca", "cf", "ch", "col", "dept", "dr", "e.g", "ed", "eq", "est", "fig", "figs",
    "gen", "gov", "i.e", "jr", "lt", "mr", "mrs", "ms", "no", "nos", "op", "p", "pp", "prof", "ref", "rev",
    "sec", "sect", "sen", "sgt", "sr", "st", "viz", "vol", "vols", "vs",
];

/// The kind of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnitShape {
    /// A sentence, a list item or a labelled line.
    Sentence,
    /// A heading, which the citation already contains.
    Heading,
    /// A line of code or of a table, which may be needed although it equals another.
    Line,
}

/// A part of a text that is taken whole or not at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TextUnit {
    /// Its bytes, without surrounding white space (a line keeps its indentation).
    pub range: Range<usize>,
    /// Its kind.
    pub shape: UnitShape,
    /// Indexes of units that must accompany it: the marks of its fence, the head of its table.
    pub frame: [Option<u32>; 2],
}

/// Cuts a text into units; with `code` they are lines.
pub(super) fn cut(text: &str, code: bool) -> Vec<TextUnit> {
    let mut cutter = Cutter { text, units: Vec::new() };
    if code {
        for line in lines(text) {
            cutter.line(line, [None; 2]);
        }
    } else {
        cutter.prose();
    }
    cutter.units
}

struct Cutter<'a> {
    text: &'a str,
    units: Vec<TextUnit>,
}

impl Cutter<'_> {
    fn prose(&mut self) {
        let lines: Vec<Range<usize>> = lines(self.text).collect();
        let mut at = 0;
        while at < lines.len() {
            let body = self.text[lines[at].clone()].trim();
            at = if body.is_empty() {
                at + 1
            } else if let Some(mark) = fence(body) {
                self.fenced(&lines, at, mark)
            } else if body.starts_with('|') {
                self.table(&lines, at)
            } else if is_heading(body) {
                self.push(lines[at].clone(), UnitShape::Heading);
                at + 1
            } else if is_item(body) {
                self.item(&lines, at)
            } else {
                self.paragraph(&lines, at)
            };
        }
    }

    /// Adds a fenced block; each of its lines has the marks as its frame.
    fn fenced(&mut self, lines: &[Range<usize>], from: usize, mark: &str) -> usize {
        let inside = &lines[from + 1..];
        let length = inside.iter().position(|line| {
            let body = self.text[line.clone()].trim();
            body.starts_with(mark) && body.bytes().all(|byte| byte == mark.as_bytes()[0])
        });
        let open = self.units.len() as u32;
        self.line(lines[from].clone(), [None; 2]);
        let inner = &inside[..length.unwrap_or(inside.len())];
        let shown = inner.iter().filter(|line| !self.text[(*line).clone()].trim().is_empty()).count() as u32;
        let frame = [Some(open), length.map(|_| open + shown + 1)];
        for line in inner {
            self.line(line.clone(), frame);
        }
        let Some(length) = length else { return lines.len() };
        self.line(inside[length].clone(), [Some(open), None]);
        self.units[open as usize].frame = [frame[1], None];
        from + length + 2
    }

    /// Adds the rows of a table; each has the head as its frame, if there is one.
    fn table(&mut self, lines: &[Range<usize>], from: usize) -> usize {
        let is_row = |line: &Range<usize>| self.text[line.clone()].trim_start().starts_with('|');
        let rows = lines[from..].iter().take_while(|line| is_row(line)).count();
        let has_head = rows > 1 && {
            let rule = self.text[lines[from + 1].clone()].trim();
            rule.contains('-') && rule.bytes().all(|byte| matches!(byte, b'|' | b'-' | b':' | b' ' | b'\t'))
        };
        let head = self.units.len() as u32;
        for (at, line) in lines[from..from + rows].iter().enumerate() {
            let frame = match (has_head, at) {
                (false, _) => [None; 2],
                (true, 0) => [Some(head + 1), None],
                (true, 1) => [Some(head), None],
                (true, _) => [Some(head), Some(head + 1)],
            };
            self.line(line.clone(), frame);
        }
        from + rows
    }

    /// Adds a list item with its continuation lines.
    fn item(&mut self, lines: &[Range<usize>], from: usize) -> usize {
        let goes_on = |line: &Range<usize>| {
            let body = self.text[line.clone()].trim();
            !begins_block(body) && !is_item(body)
        };
        let more = lines[from + 1..].iter().take_while(|line| goes_on(line)).count();
        self.push(lines[from].start..lines[from + more].end, UnitShape::Sentence);
        from + more + 1
    }

    /// Adds lines of text: joins wrapped lines, then cuts them into sentences. A labelled line stays whole.
    fn paragraph(&mut self, lines: &[Range<usize>], from: usize) -> usize {
        let goes_on = |line: &Range<usize>| {
            let body = self.text[line.clone()].trim();
            !begins_block(body) && !is_item(body)
        };
        let count = 1 + lines[from + 1..].iter().take_while(|line| goes_on(line)).count();
        let lines = &lines[from..from + count];
        let length = |line: &Range<usize>| self.text[line.clone()].trim().chars().count();
        let widest = lines.iter().map(length).max().unwrap_or(0);
        let mut start = 0;
        for at in 0..count {
            let wrapped = at + 1 < count && widest <= WIDEST_WRAP && {
                let next = self.text[lines[at + 1].clone()].trim_start();
                let word = next.split_whitespace().next().unwrap_or_default();
                // A line was wrapped if the next word would hardly have fitted on it.
                length(&lines[at]) + 1 + word.chars().count() > widest * 7 / 8 && !is_labelled(next)
            };
            if !wrapped {
                self.sentences(lines[start].start..lines[at].end);
                start = at + 1;
            }
        }
        from + count
    }

    fn sentences(&mut self, range: Range<usize>) {
        let text = &self.text[range.clone()];
        if is_labelled(text.trim_start()) {
            self.push(range, UnitShape::Sentence);
            return;
        }
        let mut start = 0;
        for end in sentence_ends(text) {
            if end < text.len() && ends_short(&text[start..end]) {
                continue;
            }
            self.push(range.start + start..range.start + end, UnitShape::Sentence);
            start = end;
        }
    }

    /// Adds a unit without surrounding white space; none if there is only white space.
    fn push(&mut self, range: Range<usize>, shape: UnitShape) {
        let part = &self.text[range.clone()];
        let start = range.start + part.len() - part.trim_start().len();
        let end = range.start + part.trim_end().len();
        if start < end {
            self.units.push(TextUnit { range: start..end, shape, frame: [None; 2] });
        }
    }

    /// Adds a line with its indentation; none if it is blank.
    fn line(&mut self, range: Range<usize>, frame: [Option<u32>; 2]) {
        let end = range.start + self.text[range.clone()].trim_end().len();
        if range.start < end {
            self.units.push(TextUnit { range: range.start..end, shape: UnitShape::Line, frame });
        }
    }
}

/// Returns the lines of a text without their line ends.
fn lines(text: &str) -> impl Iterator<Item = Range<usize>> {
    text.split_inclusive('\n').scan(0, |at, line| {
        let start = *at;
        *at += line.len();
        Some(start..start + line.trim_end_matches(['\n', '\r']).len())
    })
}

/// Returns the ends of sentences (UAX #29), including the text's end. A line break within counts as a space.
fn sentence_ends(text: &str) -> Vec<usize> {
    let joined;
    let text = if text.contains(['\n', '\r']) {
        joined = text.replace(['\n', '\r'], " ");
        &joined
    } else {
        text
    };
    text.split_sentence_bound_indices().map(|(at, part)| at + part.len()).collect()
}

/// Whether the full stop at the end belongs to an abbreviation (`Dr.`, `e.g.`) or an initial (`J.`).
fn ends_short(sentence: &str) -> bool {
    let Some(body) = sentence.trim_end().strip_suffix('.') else { return false };
    let word =
        body.rsplit(|c: char| c.is_whitespace() || matches!(c, '(' | '[' | '"')).next().unwrap_or_default();
    let mut letters = word.chars();
    let initial = letters.next().is_some_and(char::is_uppercase) && letters.next().is_none();
    initial || SHORT_FORMS.contains(&word.to_lowercase().as_str())
}

/// Returns the mark of a line that opens a fence.
fn fence(body: &str) -> Option<&str> {
    let mark = body.bytes().next().filter(|byte| matches!(byte, b'`' | b'~'))?;
    let length = body.bytes().take_while(|&byte| byte == mark).count();
    (length >= 3 && !body[length..].contains('`')).then(|| &body[..length])
}

fn is_heading(body: &str) -> bool {
    let marks = body.bytes().take_while(|&byte| byte == b'#').count();
    (1..=6).contains(&marks) && body[marks..].starts_with([' ', '\t'])
}

fn is_item(body: &str) -> bool {
    let digits = body.bytes().take_while(u8::is_ascii_digit).count();
    let rest = match digits {
        0 => body.strip_prefix(['-', '*', '+', '•']),
        1..=9 => body[digits..].strip_prefix(['.', ')']),
        _ => None,
    };
    rest.is_some_and(|rest| rest.starts_with([' ', '\t']))
}

/// Whether a line ends the paragraph or item before it.
fn begins_block(body: &str) -> bool {
    body.is_empty() || fence(body).is_some() || body.starts_with('|') || is_heading(body)
}

/// Whether a line has a label: `Caroline: …`, `Step 2: …`. Without its first sentence such a line loses its speaker or topic.
fn is_labelled(body: &str) -> bool {
    let Some((label, rest)) = body.split_once(':') else { return false };
    label.len() <= LONGEST_LABEL
        && rest.starts_with([' ', '\t'])
        && label.chars().next().is_some_and(|c| c.is_uppercase() || matches!(c, '*' | '[' | '_'))
        && !label.contains(['.', ',', '!', '?', ';', '\n'])
        && label.split_whitespace().count() <= 3
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let units: Vec<_> = cut(text, false).into_iter().map(|unit| &text[unit.range]).collect();
        assert_eq!(units, expected);
    }

    #[test]
    fn prose_is_cut_into_sentences() {
        check("One is. Two is! Is three?", &["One is.", "Two is!", "Is three?"]);
        check(
            "Dr. Who met J. Smith, e.g. Today. Then left.",
            &["Dr. Who met J. Smith, e.g. Today.", "Then left."],
        );
        check("版本是二。下一句。", &["版本是二。", "下一句。"]);
        check("  \n\n ", &[]);
        check("It costs 3.50 a day. Cheap.", &["It costs 3.50 a day.", "Cheap."]);
        check("He said \"Go.\" She went.", &["He said \"Go.\"", "She went."]);
    }

    #[test]
    fn wrapped_lines_are_one_paragraph_and_short_lines_are_not() {
        check(
            "The retry policy waits two seconds and then\ndoubles the wait. After ten attempts it\nis parked.",
            &[
                "The retry policy waits two seconds and then\ndoubles the wait.",
                "After ten attempts it\nis parked.",
            ],
        );
        check("ports\n8080 for the api gateway", &["ports", "8080 for the api gateway"]);
        check("Mel: Hey! How are you?\nCaro: Good. You?", &["Mel: Hey! How are you?", "Caro: Good. You?"]);
    }

    #[test]
    fn lists_and_headings_stay_whole() {
        check(
            "# Retry\n\n- First. It waits.\n  And waits.\n- Second\n1. Third. Yes.\n\nText. More.",
            &["# Retry", "- First. It waits.\n  And waits.", "- Second", "1. Third. Yes.", "Text.", "More."],
        );
    }

    #[test]
    fn lines_bring_their_frame() {
        let text = "Do:\n```sh\n  ls\n\n  cd\n```\n| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |";
        let units = cut(text, false);
        let shown: Vec<_> = units
            .iter()
            .map(|unit| (&text[unit.range.clone()], unit.frame.map(|at| at.map_or(-1, u32::cast_signed))))
            .collect();
        assert_eq!(
            shown,
            [
                ("Do:", [-1, -1]),
                ("```sh", [4, -1]),
                ("  ls", [1, 4]),
                ("  cd", [1, 4]),
                ("```", [1, -1]),
                ("| a | b |", [6, -1]),
                ("|---|---|", [5, -1]),
                ("| 1 | 2 |", [5, 6]),
                ("| 3 | 4 |", [5, 6]),
            ]
        );
        let code = "def f():\n    return 1\n\nx = 2";
        let units: Vec<_> = cut(code, true).into_iter().map(|unit| &code[unit.range]).collect();
        assert_eq!(units, ["def f():", "    return 1", "x = 2"]);
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_nothing_stands_twice(text in "([-#|`a-cé。.!: A-C]{0,12}[\n ]{0,2}){0,20}", code: bool) {
            let units = cut(&text, code);
            let mut end = 0;
            for unit in &units {
                prop_assert!(unit.range.start >= end && unit.range.start < unit.range.end);
                prop_assert_eq!(text[end..unit.range.start].trim(), "");
                for with in unit.frame.into_iter().flatten() {
                    prop_assert!((with as usize) < units.len());
                }
                end = unit.range.end;
            }
            prop_assert_eq!(text[end..].trim(), "");
        }

        #[test]
        fn any_text_is_cut(text in any::<String>()) {
            let visible: String = text.split_whitespace().collect();
            let units = cut(&text, false);
            let kept: String = units.iter().flat_map(|unit| text[unit.range.clone()].split_whitespace()).collect();
            prop_assert_eq!(kept, visible);
        }
    }
}
