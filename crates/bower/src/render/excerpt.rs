//! Selects the part of an item's text that a person sees, with the question's words marked.
//! Marks are byte ranges of the excerpt, ascending, and never overlap.

use bower_core::shared::{Language, QueryTerm, Snippet, language_of, query_terms, snippet};
use std::collections::{BTreeSet, HashSet};
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

use super::prose::prose;
use super::{Look, clean, columns, style};

/// A text and its marked ranges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// Clean text; it contains line breaks only if the lines are the original ones.
    pub text: String,
    /// Ranges of the question's words.
    pub marks: Vec<Range<usize>>,
}

/// Layout of an item's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Markdown or plain text: it may be wrapped anew.
    Prose,
    /// Source code or tables of values: lines stay as they are.
    Lines,
}

impl Layout {
    /// Returns the layout for a file's name; prose if there is no extension.
    pub fn of(file_name: &str) -> Self {
        let name = file_name.to_ascii_lowercase();
        match name.rsplit_once('.').map_or("", |(_, extension)| extension) {
            "" | "md" | "markdown" | "mdx" | "mdown" | "mkd" | "html" | "htm" | "xhtml" | "txt" | "text"
            | "rst" | "adoc" | "org" | "tex" => Self::Prose,
            _ => Self::Lines,
        }
    }
}

/// Returns the question's words in the forms that the text channel searches in texts like these.
pub fn terms<'a>(question: &str, contents: impl Iterator<Item = &'a str>) -> Vec<QueryTerm> {
    let languages: BTreeSet<Language> = contents.map(language_of).collect();
    query_terms(question, &languages.into_iter().collect::<Vec<_>>())
}

/// Returns the part of `content` that matches `question` best: at most `max` characters of prose, or `lines` lines.
pub fn excerpt(content: &str, layout: Layout, question: &[QueryTerm], max: usize, lines: usize) -> Excerpt {
    match layout {
        Layout::Prose => {
            let text = prose(&without_heading(content));
            let Snippet { text, marks } = snippet(&text, question, language_of(content), max);
            Excerpt { text, marks }
        }
        Layout::Lines => best_lines(&clean(content), question, lines),
    }
}

/// Removes a chunk's heading, which the line above the excerpt already shows.
fn without_heading(content: &str) -> String {
    let content = clean(content);
    let mut rest = content.trim_start();
    while rest.starts_with('#') {
        match rest.split_once('\n') {
            Some((_, below)) if !below.trim().is_empty() => rest = below.trim_start(),
            Some(_) | None => break,
        }
    }
    rest.to_string()
}

/// Returns the first `most` consecutive lines (blank ones not counted) that contain the most different words of the question,
/// starting at the first line that contains any. Their common indent is removed.
fn best_lines(content: &str, question: &[QueryTerm], most: usize) -> Excerpt {
    /// Most lines that are searched. Chunks are far shorter; a memory may be a whole log.
    const LOOKED_AT: usize = 500;
    let language = language_of(content);
    let mut rows = Vec::new();
    for line in content.lines().filter(|line| !line.trim().is_empty()).take(LOOKED_AT) {
        let words = line.trim_start();
        let indent: usize =
            line[..line.len() - words.len()].chars().map(|c| if c == '\t' { 4 } else { 1 }).sum();
        rows.push((indent, snippet(words, question, language, usize::MAX)));
    }
    indent_first(&mut rows);
    let most = most.clamp(1, rows.len().max(1));
    let different = |window: &[(usize, Snippet)]| {
        let words: HashSet<String> = window
            .iter()
            .flat_map(|(_, row)| row.marks.iter().map(|mark| row.text[mark.clone()].to_lowercase()))
            .collect();
        words.len()
    };
    let mut best = (0, 0);
    for (start, window) in rows.windows(most).enumerate() {
        let words = different(window);
        if words > best.0 {
            best = (words, start);
        }
    }
    let mut start = best.1;
    while start + most < rows.len() && best.0 > 0 && rows[start].1.marks.is_empty() {
        start += 1;
    }
    let window = rows.get(start..start + most).unwrap_or_default();
    let common = window.iter().map(|(indent, _)| *indent).min().unwrap_or_default();
    let mut excerpt = Excerpt { text: String::new(), marks: Vec::new() };
    for (nth, (indent, row)) in window.iter().enumerate() {
        if nth > 0 {
            excerpt.text.push('\n');
        }
        excerpt.text.push_str(&" ".repeat((indent - common).min(24)));
        let shift = excerpt.text.len();
        excerpt.marks.extend(row.marks.iter().map(|mark| mark.start + shift..mark.end + shift));
        excerpt.text.push_str(&row.text);
    }
    excerpt
}

/// Restores the first line's indent, which a chunk lacks, from that of the other lines.
fn indent_first(rows: &mut [(usize, Snippet)]) {
    let Some((first, others)) = rows.split_first_mut() else { return };
    let Some(least) = others.iter().map(|(indent, _)| *indent).min() else { return };
    if first.0 == 0 {
        // The body of a block without braces (Python) is indented deeper. With braces, a closing line has the first line's
        // indent.
        first.0 = if first.1.text.ends_with(':') { least.saturating_sub(4) } else { least };
    }
}

/// Wraps the excerpt into lines of `width` columns, with marks if this run colours.
pub fn wrap(excerpt: &Excerpt, indent: usize, lines: usize, look: &Look) -> String {
    let width = look.width.saturating_sub(indent).max(16);
    let mut rows = rows(&excerpt.text, width);
    let more = rows.len() > lines;
    rows.truncate(lines);
    let mut out = String::new();
    let last = rows.len() - 1;
    for (number, row) in rows.into_iter().enumerate() {
        let whole = &excerpt.text[row.clone()];
        let ends = more && number == last && !whole.trim_end().ends_with('…');
        let kept =
            if ends { cut_for_more(whole, width) } else { super::cut(whole.trim_end(), width).into_owned() };
        let shown = kept.trim_end_matches('…').len().min(whole.len());
        out.push_str(&" ".repeat(indent));
        let mut at = 0;
        for mark in &excerpt.marks {
            let (from, to) = (mark.start.max(row.start), mark.end.min(row.start + shown));
            if from < to {
                let (from, to) = (from - row.start, to - row.start);
                out.push_str(&kept[at..from]);
                out.push_str(&look.paint(style::MARK, &kept[from..to]));
                at = to;
            }
        }
        out.push_str(&kept[at..]);
        out.push('\n');
    }
    out
}

/// Returns the ranges of the rows of `text`, each at most `width` columns if it can be broken. A row ends at a space, or beside
/// a character of a script without spaces; punctuation stays with the preceding character.
fn rows(text: &str, width: usize) -> Vec<Range<usize>> {
    if text.contains('\n') {
        let mut at = 0;
        return text
            .split_inclusive('\n')
            .map(|row| {
                at += row.len();
                at - row.len()..at - usize::from(row.ends_with('\n'))
            })
            .collect();
    }
    let mut rows = Vec::new();
    let (mut start, mut taken) = (0, 0);
    let mut last_break = None;
    let mut before = "";
    for (at, segment) in text.split_word_bound_indices() {
        let wide = columns(segment);
        if !segment.trim().is_empty() {
            if at > start && may_break(before, segment) {
                last_break = Some((at, taken));
            }
            // Twice, because the carried-over part may be too long by itself.
            for _ in 0..2 {
                if taken > 0 && taken + wide > width {
                    let (end, before_end) = last_break.take().unwrap_or((at, taken));
                    rows.push(start..end);
                    (start, taken) = (end, taken - before_end);
                }
            }
        }
        taken += wide;
        before = segment;
    }
    rows.push(start..text.len());
    rows
}

fn may_break(before: &str, after: &str) -> bool {
    let wide = |c: Option<char>| c.is_some_and(|c| columns(c.encode_utf8(&mut [0; 4])) == 2);
    before.ends_with(char::is_whitespace)
        || (after.starts_with(char::is_alphanumeric)
            && (wide(before.chars().next_back()) || wide(after.chars().next())))
}

fn cut_for_more(row: &str, width: usize) -> String {
    let row = row.trim_end();
    if columns(row) + 2 <= width {
        format!("{row} …")
    } else {
        super::cut(&format!("{row}……"), width).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn marked(found: &Excerpt) -> String {
        let mut shown = found.text.clone();
        for mark in found.marks.iter().rev() {
            shown.insert(mark.end, ']');
            shown.insert(mark.start, '[');
        }
        shown
    }

    fn check(content: &str, question: &str, max: usize, expected: &str) {
        assert_eq!(
            marked(&excerpt(content, Layout::Prose, &terms(question, [content].into_iter()), max, 3)),
            expected
        );
    }

    #[test]
    fn an_excerpt_marks_words_and_leaves_out_the_heading() {
        check("## Retries\n\nAll is well.", "retry", 40, "All is well.");
        check("# Only a heading", "heading", 40, "Only a [heading]");
        check("How retries work here", "how does retry work?", 40, "How [retries] [work] here");
        check("retry \u{1b}[2J", "retry", 40, "[retry] ␛[2J");
    }

    #[test]
    fn an_excerpt_begins_with_a_sentence_where_one_is_near() {
        let text = "Nothing of use is said in this long opening. The **parser** reads tokens. Then it ends, and so on.";
        check(text, "parser", 40, "The [parser] reads tokens. Then it ends,…");
        check("| a | b |\n|---|---|\n| 1 | retry |", "retry", 40, "a, b · 1, [retry]");
    }

    #[test]
    fn code_keeps_its_lines() {
        let check = |content: &str, question: &str, expected: &str| {
            let found = excerpt(content, Layout::of("a.rs"), &terms(question, [content].into_iter()), 200, 3);
            assert_eq!(marked(&found), expected);
        };
        let code = "use x;\n\nimpl Parser {\n    fn next_token(&self) {\n\t\tself.next()\n    }\n}\n";
        check(code, "next token", "fn [next]_[token](&self) {\n    self.[next]()\n}");
        check(code, "absent", "use x;\nimpl Parser {\n    fn next_token(&self) {");
        let method = "/// Says so.\n    fn so(&self) {\n        self.x();\n    }";
        check(method, "so", "/// Says [so].\nfn [so](&self) {\n    self.x();");
        check("def so(self):\n        return 1", "so", "def [so](self):\n    return 1");
        check("one", "one", "[one]");
        check("\n", "one", "");
    }

    #[test]
    fn rows_end_at_spaces() {
        let check = |text: &str, width: usize, expected: &[&str]| {
            let rows: Vec<_> = rows(text, width).into_iter().map(|row| text[row].trim_end()).collect();
            assert_eq!(rows, expected);
        };
        check("salt the roads, and wet leaves", 14, &["salt the", "roads, and wet", "leaves"]);
        check("abc, and", 3, &["abc", ",", "and"]);
        check("don't (really) stop", 9, &["don't", "(really)", "stop"]);
        check("再試行のポリシー。二秒待つ", 10, &["再試行の", "ポリシー。", "二秒待つ"]);
        check("a\nbb\n", 1, &["a", "bb"]);
        check("", 5, &[""]);
    }

    proptest! {
        #[test]
        fn any_text_gives_lines_that_fit(content in "\\PC{0,300}", question in "\\PC{0,40}", max in 1_usize..120) {
            for layout in [Layout::Prose, Layout::Lines] {
                let found = excerpt(&content, layout, &terms(&question, [&*content].into_iter()), max, 3);
                prop_assert!(layout == Layout::Lines || found.text.chars().count() <= max + 4, "{found:?}");
                let mut end = 0;
                for mark in &found.marks {
                    prop_assert!(end <= mark.start && mark.start < mark.end);
                    prop_assert!(found.text.is_char_boundary(mark.start) && found.text.is_char_boundary(mark.end));
                    end = mark.end;
                }
                let look = Look { width: 40, color: true, ..Look::now() };
                for line in wrap(&found, 4, 3, &look).lines() {
                    let plain = anstream::adapter::strip_str(line).to_string();
                    prop_assert!(columns(&plain) <= 40, "{plain:?}");
                }
            }
        }
    }
}
