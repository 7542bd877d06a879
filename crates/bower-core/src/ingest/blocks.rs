//! Writes the blocks of Markdown that converters share: paragraphs, headings, items, code and tables.

use super::converted::{Converted, LIST_DEPTH, cell};

/// Markdown that is written block by block. A paragraph is collected first, because its marks may pair across lines.
#[derive(Default)]
pub(super) struct Blocks {
    pub(super) out: Converted,
    /// The lines of a paragraph that is not written yet.
    pending: String,
    /// The source line where it begins.
    begin: u32,
    /// The mark of the item that it opens.
    mark: String,
    /// Widths of the marks of the items around it.
    widths: Vec<usize>,
    code: Option<Code>,
}

struct Code {
    language: String,
    lines: Vec<(String, u32)>,
}

/// A row of cells, each with its columns and rows: `(text, columns, rows)`.
pub(super) type Row = Vec<(String, usize, usize)>;

/// Most columns of a table; further cells are dropped into the last column.
pub(super) const MOST_COLUMNS: usize = 64;

impl Blocks {
    /// Sets the number of the source line that is read.
    pub(super) fn at(&mut self, number: u32) {
        self.out.number = number;
    }

    /// Adds a line to the paragraph.
    pub(super) fn add(&mut self, line: &str) {
        if self.pending.is_empty() {
            self.begin = self.out.number;
        } else {
            self.pending.push('\n');
        }
        self.pending.push_str(line);
    }

    /// Whether a paragraph or an item is open, to which the next line may belong.
    pub(super) fn is_open(&self) -> bool {
        !self.pending.is_empty() || !self.mark.is_empty()
    }

    /// Takes the paragraph, so that its marks can be resolved and `write` can write it.
    pub(super) fn take(&mut self) -> Option<String> {
        self.is_open().then(|| std::mem::take(&mut self.pending))
    }

    /// Writes what `take` returned, as an item if one was opened.
    pub(super) fn write(&mut self, text: &str) {
        let mark = std::mem::take(&mut self.mark);
        let now = self.out.number;
        let mut is_first = true;
        for (line, number) in text.split('\n').zip(self.begin.max(1)..) {
            let line = line.trim();
            if line.is_empty() && (!is_first || mark.is_empty()) {
                continue;
            }
            let around = self.widths.len().saturating_sub(usize::from(is_first && !mark.is_empty()));
            let indent: usize = self.widths[..around].iter().sum();
            self.out.number = number.min(now).max(1);
            let shown = if is_first { format!("{mark}{}", escaped(line)) } else { escaped(line) };
            if !shown.trim().is_empty() {
                self.out.put(&format!("{:indent$}{}", "", shown.trim_end()));
            }
            is_first = false;
        }
        self.out.number = now;
    }

    /// Begins a new block with an empty line.
    pub(super) fn gap(&mut self) {
        if !self.out.text.is_empty() && !self.out.text.ends_with("\n\n") {
            self.out.put("");
        }
    }

    /// Writes a heading; levels beyond Markdown's six are written as the sixth.
    pub(super) fn heading(&mut self, level: usize, title: &str) {
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
        self.widths.clear();
        self.mark.clear();
        self.gap();
        if !title.is_empty() {
            self.out.put(&format!("{} {title}", "#".repeat(level.clamp(1, 6))));
            self.gap();
        }
    }

    /// Opens an item inside of `depth` others; its text is what `add` adds next.
    pub(super) fn item(&mut self, depth: usize, mark: &str) {
        let depth = depth.min(LIST_DEPTH).min(self.widths.len());
        if self.widths.is_empty() {
            self.gap();
        }
        self.widths.truncate(depth);
        self.mark = format!("{mark} ");
        self.widths.push(self.mark.chars().count());
        self.begin = self.out.number;
    }

    /// Leaves all but the outermost `depth` items.
    pub(super) fn leave(&mut self, depth: usize) {
        if depth < self.widths.len() {
            self.widths.truncate(depth);
            self.gap();
        }
    }

    /// Opens a block of code.
    pub(super) fn open_code(&mut self, language: &str) {
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"+-#_.".contains(&byte);
        let language = if language.len() < 30 && language.bytes().all(is_name) { language } else { "" };
        self.code = Some(Code { language: language.to_owned(), lines: Vec::new() });
    }

    /// Adds a line of code.
    pub(super) fn code(&mut self, line: &str) {
        let number = self.out.number;
        if let Some(code) = &mut self.code {
            code.lines.push((line.to_owned(), number));
        }
    }

    /// Writes the block of code, with its common indentation removed. Its fence is longer than any run of backticks inside.
    pub(super) fn close_code(&mut self) {
        self.close("`");
    }

    /// Writes the block of code as a formula between `$$`.
    pub(super) fn close_math(&mut self) {
        self.close("$$");
    }

    fn close(&mut self, sign: &str) {
        let Some(Code { language, mut lines }) = self.code.take() else { return };
        while lines.last().is_some_and(|(line, _)| line.trim().is_empty()) {
            lines.pop();
        }
        let first = lines.iter().position(|(line, _)| !line.trim().is_empty()).unwrap_or(lines.len());
        if first == lines.len() {
            return;
        }
        let is_blank = |letter: char| letter == ' ' || letter == '\t';
        let indents = lines.iter().filter(|(line, _)| !line.trim().is_empty());
        let common = indents.map(|(line, _)| line.len() - line.trim_start_matches(is_blank).len()).min();
        let run = |line: &str| line.len() - line.trim_start_matches('`').len();
        let longest = lines.iter().map(|(line, _)| run(line.trim_start())).max().unwrap_or(0);
        let fence = if sign == "`" { sign.repeat((longest + 1).max(3)) } else { sign.to_owned() };
        let indent: usize = self.widths.iter().sum();
        let now = self.out.number;
        self.gap();
        self.out.number = lines[first].1;
        self.out.put(&format!("{:indent$}{fence}{language}", ""));
        for (line, number) in &lines[first..] {
            self.out.number = *number;
            let code = line.get(common.unwrap_or(0)..).unwrap_or_default().trim_end();
            self.out.put(format!("{:indent$}{code}", "").trim_end());
        }
        self.out.put(&format!("{:indent$}{fence}", ""));
        self.out.number = now;
        self.gap();
    }

    /// Writes a table, each row with the source line where it begins. A cell of several rows or columns stands in the first of them.
    pub(super) fn table(&mut self, rows: &[(Row, u32)]) {
        self.gap();
        let now = self.out.number;
        let mut below = [0_usize; MOST_COLUMNS];
        let mut is_head = true;
        for (row, number) in rows {
            let mut cells: Vec<String> = Vec::new();
            let mut waiting = row.iter();
            loop {
                let at = cells.len().min(MOST_COLUMNS - 1);
                if below[at] > 0 && cells.len() < MOST_COLUMNS {
                    below[at] -= 1;
                    cells.push(String::new());
                    continue;
                }
                let Some((text, columns, rows)) = waiting.next() else { break };
                let text = cell(&text.split_whitespace().collect::<Vec<_>>().join(" "));
                if cells.len() >= MOST_COLUMNS {
                    let last = &mut cells[MOST_COLUMNS - 1];
                    last.push(' ');
                    last.push_str(&text);
                    continue;
                }
                for column in 0..(*columns).clamp(1, MOST_COLUMNS - cells.len()) {
                    below[cells.len()] = rows.saturating_sub(1);
                    cells.push(if column == 0 { text.clone() } else { String::new() });
                }
            }
            if cells.iter().all(String::is_empty) {
                continue;
            }
            self.out.number = *number;
            let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
            self.out.put_row(&cells, std::mem::take(&mut is_head));
        }
        self.out.number = now;
        self.gap();
    }
}

/// Returns a line of text that Markdown would read as a heading or a fence, with its first sign escaped.
fn escaped(line: &str) -> String {
    let is_rule = line.len() >= 2 && line.bytes().all(|byte| byte == b'=' || byte == b'-');
    let is_heading = line.starts_with('#') && line.trim_start_matches('#').starts_with([' ', '\t']);
    if is_rule || is_heading || line.starts_with("```") || line.starts_with("~~~") {
        format!("\\{line}")
    } else {
        line.to_owned()
    }
}

/// Returns a paragraph without its paired marks of emphasis, such as `*` around words. Code between backticks stays as it is.
/// A single mark opens before a word and closes behind one; a double mark may stand inside a word.
pub(super) fn without_marks(text: &str, marks: &[char]) -> String {
    let mut removed: Vec<usize> = Vec::new();
    let mut open: Vec<(char, usize, usize)> = Vec::new();
    let mut before = ' ';
    let mut at = 0;
    let mut is_code_closed = true;
    while let Some(letter) = text[at..].chars().next() {
        let width = letter.len_utf8();
        let run = text[at..].chars().take_while(|&other| other == letter).count();
        let after = text[at + run * width..].chars().next().unwrap_or(' ');
        if letter == '`' && is_code_closed {
            let fence = &text[at..at + run];
            match text[at + run..].find(fence) {
                Some(end) => {
                    at += run + end + run;
                    before = '`';
                    continue;
                }
                None => is_code_closed = false,
            }
        }
        if letter == '\\' && run == 1 && marks.contains(&after) {
            removed.push(at);
            at += 1 + after.len_utf8();
            before = after;
            continue;
        }
        if marks.contains(&letter) && run <= 2 {
            let opened = open.iter().rposition(|&(mark, length, _)| mark == letter && length == run);
            let may_close = !before.is_whitespace() && (run == 2 || !after.is_alphanumeric());
            let may_open = !after.is_whitespace() && (run == 2 || !before.is_alphanumeric());
            if let Some(opened) = opened.filter(|_| may_close) {
                let (_, _, start) = open.remove(opened);
                removed.extend((0..run).map(|more| start + more * width));
                removed.extend((0..run).map(|more| at + more * width));
            } else if may_open && opened.is_none() {
                open.push((letter, run, at));
            }
        }
        before = letter;
        at += run * width;
    }
    removed.sort_unstable();
    let mut removed = removed.into_iter().peekable();
    text.char_indices().filter(|(at, _)| removed.next_if_eq(at).is_none()).map(|(_, letter)| letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_removed_in_pairs() {
        for (text, expected) in [
            ("a *bold* and **very b**old word", "a bold and very bold word"),
            ("2 * 3 * 4, *open, a*b*c", "2 * 3 * 4, *open, a*b*c"),
            ("code `*x*` and *x `y*` z*", "code `*x*` and x `y*` z"),
            ("*over\nlines* \\*not\\*", "over\nlines *not*"),
            ("****", "****"),
        ] {
            assert_eq!(without_marks(text, &['*']), expected);
        }
    }

    #[test]
    fn a_cell_of_several_rows_keeps_the_columns_below_it() {
        let mut blocks = Blocks::default();
        let cell = |text: &str, columns, rows| (text.to_owned(), columns, rows);
        blocks.table(&[
            (vec![cell("a", 1, 2), cell("b|c", 2, 1)], 1),
            (vec![cell("d", 1, 1), cell("e", 1, 1)], 2),
        ]);
        assert_eq!(blocks.out.text, "| a | b\\|c |  |\n|---|---|---|\n|  | d | e |\n\n");
    }

    #[test]
    fn a_fence_is_longer_than_what_stands_in_it() {
        let mut blocks = Blocks::default();
        blocks.open_code("md");
        for line in ["  ```", "", "    x", "  ```", ""] {
            blocks.code(line);
        }
        blocks.close_code();
        assert_eq!(blocks.out.text, "````md\n```\n\n  x\n```\n````\n\n");
    }
}
