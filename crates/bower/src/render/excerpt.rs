//! The part of an item's text that a person is shown, with the question's words marked.
//! Marks are byte ranges of the excerpt, ascending, and never overlap.

use bower_core::text::{Language, QueryTerm, Snippet, query_terms, snippet};
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::{Look, clean, columns, style};

/// One line of text and what to mark in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// Clean, its spaces joined.
    pub text: String,
    /// Words of the question.
    pub marks: Vec<Range<usize>>,
}

/// The part of `content`, at most `max` characters, that shows best why `question` found it.
pub fn excerpt(content: &str, question: &[QueryTerm], max: usize) -> Excerpt {
    let Snippet { text, marks } = snippet(&without_heading(content), question, Language::English, max);
    Excerpt { text, marks }
}

/// The question's words as the text channel searches them.
pub fn terms(question: &str) -> Vec<QueryTerm> {
    query_terms(question, Language::English)
}

/// A chunk repeats its heading, which the line above the excerpt shows already.
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

/// The excerpt in lines of `width` columns, marked where this run colours.
pub fn wrap(excerpt: &Excerpt, indent: usize, lines: usize, look: &Look) -> String {
    let width = look.width.saturating_sub(indent).max(16);
    let mut rows: Vec<Range<usize>> = Vec::new();
    let (mut start, mut taken) = (0, 0);
    for (at, segment) in excerpt.text.split_word_bound_indices() {
        let wide = UnicodeWidthStr::width(segment);
        if taken + wide > width && taken > 0 && !segment.trim().is_empty() {
            rows.push(start..at);
            (start, taken) = (at, 0);
        }
        taken += wide;
    }
    rows.push(start..excerpt.text.len());
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

    fn check(content: &str, question: &str, max: usize, expected: &str) {
        let found = excerpt(content, &terms(question), max);
        let mut shown = found.text.clone();
        for mark in found.marks.iter().rev() {
            shown.insert(mark.end, ']');
            shown.insert(mark.start, '[');
        }
        assert_eq!(shown, expected);
    }

    #[test]
    fn an_excerpt_marks_words_and_leaves_out_the_heading() {
        check("## Retries\n\nAll is well.", "retry", 40, "All is well.");
        check("# Only a heading", "heading", 40, "# Only a [heading]");
        check("How retries work here", "how does retry work?", 40, "How [retries] [work] here");
        check("retry \u{1b}[2J", "retry", 40, "[retry] ␛[2J");
    }

    proptest! {
        #[test]
        fn any_text_gives_lines_that_fit(content in "\\PC{0,300}", question in "\\PC{0,40}", max in 1_usize..120) {
            let found = excerpt(&content, &terms(&question), max);
            prop_assert!(found.text.chars().count() <= max + 4, "{found:?}");
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
