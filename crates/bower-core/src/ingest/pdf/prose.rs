//! Writes the lines of all pages as Markdown: paragraphs, headings, lists and code.

use super::super::converted::Converted;
use super::layout::Line;

/// The lines of a page in reading order.
pub(super) struct PageLines {
    pub(super) number: u32,
    pub(super) lines: Vec<Line>,
}

/// Writes the text of all pages.
pub(super) fn write(pages: &[PageLines]) -> Converted {
    let mut out = Converted::default();
    for page in pages {
        out.number = page.number;
        let mut open = String::new();
        let mut before: Option<&Line> = None;
        for line in &page.lines {
            if let Some(last) = before
                && starts_paragraph(last, line)
            {
                put(&mut out, &mut open);
            }
            join(&mut open, &line.text);
            before = Some(line);
        }
        put(&mut out, &mut open);
    }
    out
}

fn put(out: &mut Converted, open: &mut String) {
    if !open.is_empty() {
        out.put(open);
        out.put("");
        open.clear();
    }
}

fn starts_paragraph(last: &Line, line: &Line) -> bool {
    last.block != line.block
        || line.y - last.y > 1.5 * last.size.max(line.size)
        || line.x0 > last.x0 + line.size
}

/// Adds a line to a paragraph; a word that was divided at the line's end is whole again.
fn join(open: &mut String, text: &str) {
    let is_divided = open
        .strip_suffix(['-', '\u{AD}', '\u{2010}'])
        .is_some_and(|rest| rest.chars().next_back().is_some_and(char::is_alphabetic))
        && text.chars().next().is_some_and(char::is_lowercase);
    if is_divided {
        open.pop();
    } else if !open.is_empty() {
        open.push(' ');
    }
    open.push_str(text);
}
