//! Holds the Markdown that a converter of another format writes, each line with the number of its source.

use super::draft::Draft;
use super::markdown;
use crate::config::Settings;

/// Deepest indentation of lists; deeper ones are written at this depth, because indentation would grow with its square.
pub(super) const LIST_DEPTH: usize = 8;

/// Markdown that is written line by line.
#[derive(Default)]
pub(super) struct Converted {
    pub(super) text: String,
    /// The number of each line of `text`: a line, paragraph or slide of the source.
    pub(super) numbers: Vec<u32>,
    /// The current number.
    pub(super) number: u32,
}

impl Converted {
    /// Writes a line.
    pub(super) fn put(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
        self.numbers.push(self.number);
    }

    /// Writes a row of a table; the first one is its head.
    pub(super) fn put_row(&mut self, cells: &[&str], is_first: bool) {
        self.put(&format!("| {} |", cells.join(" | ")));
        if is_first {
            self.put(&format!("|{}", "---|".repeat(cells.len())));
        }
    }

    /// Checks what was written of a source, and that each line has a number.
    #[cfg(test)]
    #[track_caller]
    pub(super) fn check(&self, source: &str, expected: &str) {
        assert_eq!(self.text.trim(), expected, "{source}");
        assert_eq!(self.numbers.len(), self.text.lines().count());
    }

    /// Returns the first heading, and the chunks with the numbers of their source.
    pub(super) fn chunks(&self, settings: &Settings) -> (Option<String>, Vec<Draft>) {
        chunks(&self.text, &self.numbers, settings)
    }
}

/// Returns a cell's text, in which no sign ends the cell.
pub(super) fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// Returns the first heading and the chunks of converted Markdown. `numbers` has the number of each line in the source.
pub(super) fn chunks(text: &str, numbers: &[u32], settings: &Settings) -> (Option<String>, Vec<Draft>) {
    let (heading, mut drafts) = markdown::chunks(text, 0, 0, settings);
    for draft in &mut drafts {
        // A `#word` is text or a link's address there, not a tag.
        draft.tags.clear();
        let source = |line: u32| numbers.get(line as usize - 1).copied().unwrap_or(1).max(1);
        let (first, last) = (source(draft.lines.0), source(draft.lines.1));
        draft.lines = (first.min(last), first.max(last));
    }
    (heading, drafts)
}
