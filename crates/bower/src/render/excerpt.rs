//! The part of an item's text that a person is shown, with the question's words marked.
//! Marks are byte ranges of the excerpt, ascending, and never overlap.

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

/// The `max` characters of `content` that hold most of the question's words.
pub fn excerpt(content: &str, question: &str, max: usize) -> Excerpt {
    let text = super::line(&without_heading(content));
    let terms = terms(question);
    let marks: Vec<Range<usize>> = text
        .unicode_word_indices()
        .filter(|(_, word)| {
            let word = word.to_lowercase();
            terms.iter().any(|term| alike(term, &word))
        })
        .map(|(at, word)| at..at + word.len())
        .collect();
    let window = window(&text, &marks, max);
    let (start, end) = (window.start, window.end);
    let before = if start > 0 { "… " } else { "" };
    let after = if end < text.len() { " …" } else { "" };
    let marks = marks
        .into_iter()
        .filter(|mark| start <= mark.start && mark.end <= end)
        .map(|mark| mark.start - start + before.len()..mark.end - start + before.len())
        .collect();
    Excerpt { text: format!("{before}{}{after}", &text[start..end]), marks }
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

/// Words that mark nothing: they are in every text.
const COMMON: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "by", "can", "did", "do", "does", "for", "from", "has",
    "have", "how", "i", "in", "is", "it", "my", "of", "on", "or", "our", "that", "the", "their", "there",
    "this", "to", "was", "we", "were", "what", "when", "where", "which", "who", "why", "will", "with", "you",
    "your",
];

fn terms(question: &str) -> Vec<String> {
    // A longer question is a document; its first words are enough to mark by.
    let all = question.unicode_words().take(64).map(str::to_lowercase);
    let (common, telling): (Vec<_>, Vec<_>) = all.partition(|word| COMMON.contains(&word.as_str()));
    if telling.is_empty() { common } else { telling }
}

/// Whether two words differ by an ending at most: `retry` and `retries`, `index` and `indexing`.
fn alike(term: &str, word: &str) -> bool {
    if term == word {
        return true;
    }
    let shared = term.chars().zip(word.chars()).take_while(|(a, b)| a == b).count();
    let longest = term.chars().count().max(word.chars().count());
    shared >= 4 && longest - shared <= 3
}

/// The stretch of at most `max` characters, between words, that holds most marks; the earliest such.
fn window(text: &str, marks: &[Range<usize>], max: usize) -> Range<usize> {
    // Boundaries between words, by bytes, each with its count of characters before it.
    let mut cuts = vec![(0, 0)];
    let mut characters = 0;
    for (at, segment) in text.split_word_bound_indices() {
        characters += segment.chars().count();
        cuts.push((at + segment.len(), characters));
    }
    let total = characters;
    if total <= max {
        return 0..text.len();
    }
    let before = |byte: usize| cuts[cuts.partition_point(|&(at, _)| at < byte).min(cuts.len() - 1)].1;
    let mut best = (0, 0);
    for (first, mark) in marks.iter().enumerate() {
        let start = before(mark.start).saturating_sub(max / 4);
        let held = marks[first..].iter().take_while(|mark| before(mark.end) <= start + max).count();
        if held > best.0 {
            best = (held, start);
        }
    }
    // Near the end the window is filled up from before.
    let start = best.1.min(total.saturating_sub(max));
    let from = cuts[cuts.partition_point(|&(_, count)| count < start)].0;
    let first = before(from);
    let to = cuts[cuts.partition_point(|&(_, count)| count <= first + max) - 1].0;
    // A word longer than the window is cut between characters.
    let to = if to > from {
        to
    } else {
        text[from..].char_indices().nth(max).map_or(text.len(), |(at, _)| from + at)
    };
    let kept = &text[from..to];
    let from = from + (kept.len() - kept.trim_start().len());
    let to = from + text[from..to].trim_end().len();
    from..to
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
        let found = excerpt(content, question, max);
        let mut shown = found.text.clone();
        for mark in found.marks.iter().rev() {
            shown.insert(mark.end, ']');
            shown.insert(mark.start, '[');
        }
        assert_eq!(shown, expected);
    }

    #[test]
    fn the_window_holds_the_words_of_the_question() {
        check("## Retries\n\nAll is well.", "retry", 40, "All is well.");
        check("# Only a heading", "heading", 40, "# Only a [heading]");
        check("How retries work here", "how does retry work?", 40, "How [retries] [work] here");
        check("to be or not", "to be", 40, "[to] [be] or not");
        check(
            "one two three four five six seven eight nine ten eleven twelve",
            "Eleven nine",
            24,
            "… [nine] ten [eleven] twelve",
        );
        check("aaaaaaaaaaaaaaaaaaaaaaaa", "b", 10, "aaaaaaaaaa …");
        check("再試行のポリシー", "試", 40, "再[試]行のポリシー");
    }

    proptest! {
        #[test]
        fn any_text_gives_lines_that_fit(content in "\\PC{0,300}", question in "\\PC{0,40}", max in 1_usize..120) {
            let found = excerpt(&content, &question, max);
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
