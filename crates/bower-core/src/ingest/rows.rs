//! Writes the rows of a table as chunks, each value with the name of its column, and never cuts a row that fits.
//! Tables, records and sheets of all formats share it. The output is at most a few times as long as the cells.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::draft::Draft;
use super::split::{fits, length, one_line, pieces};

/// Most characters of a head's cell. A longer one is a text, not a name.
const NAME_MAX: usize = 160;

/// Number of first rows among which the head is searched, and from which the usual number of cells is taken.
const FIRST_ROWS: usize = 200;

/// Chunks of rows that hold only figures; further such rows are summarised. Nobody searches the ten thousandth
/// measurement by its words, and a log of a year would be most of an index.
const FIGURES_MAX: usize = 100;

/// Widest gap between two cells that is shown as empty cells: a sheet may have values in its first and its last column.
const GAP_MAX: usize = 64;

/// The cells of rows, in one buffer: a file of ten million bytes may have five million cells.
#[derive(Default)]
pub(super) struct Grid {
    text: String,
    cells: Vec<GridCell>,
    rows: Vec<GridRow>,
}

struct GridCell {
    column: u32,
    /// Length of its text in bytes.
    length: u32,
}

struct GridRow {
    lines: (u32, u32),
    /// Where it begins in `cells` and in `text`.
    cell: usize,
    byte: usize,
}

impl Grid {
    /// Begins a row that stands on these lines of its source.
    pub(super) fn row(&mut self, lines: (u32, u32)) {
        self.rows.push(GridRow { lines, cell: self.cells.len(), byte: self.text.len() });
    }

    /// Adds a cell to the last row, right of its other cells. `column` counts from 0.
    pub(super) fn cell(&mut self, column: u32, value: &str) {
        let value = value.trim();
        let value = &value[..value.floor_char_boundary(u32::MAX as usize)];
        if !value.is_empty() && !self.rows.is_empty() {
            self.text.push_str(value);
            self.cells.push(GridCell { column, length: value.len() as u32 });
        }
    }

    /// Returns the number of bytes of all cells.
    pub(super) fn bytes(&self) -> usize {
        self.text.len()
    }

    /// Returns the cells of a row that are not empty, each with its column.
    fn cells(&self, row: usize) -> impl Iterator<Item = (usize, &str)> {
        let mut byte = self.rows[row].byte;
        self.cells[self.range(row)].iter().map(move |cell| {
            let start = byte;
            byte += cell.length as usize;
            (cell.column as usize, &self.text[start..byte])
        })
    }

    fn range(&self, row: usize) -> std::ops::Range<usize> {
        self.rows[row].cell..self.rows.get(row + 1).map_or(self.cells.len(), |next| next.cell)
    }

    /// Returns the row with the names of the columns: the first one that is as full as the others, if its cells look like names.
    fn head(&self) -> Option<usize> {
        let filled: Vec<usize> =
            (0..self.rows.len().min(FIRST_ROWS)).map(|row| self.range(row).len()).collect();
        let mut sorted: Vec<usize> = filled.iter().copied().filter(|&count| count > 0).collect();
        sorted.sort_unstable();
        let usual = *sorted.get(sorted.len() / 2)?;
        // A row above the table is its title, or names groups of columns. The column of numbers of rows may have no name.
        let head = filled.into_iter().position(|count| count >= usual.saturating_sub(1).max(2))?;
        let names: HashMap<usize, &str> = self.cells(head).collect();
        let distinct: HashSet<&str> = names.values().copied().collect();
        let figures: Vec<&str> =
            self.cells(head).map(|(_, name)| name).filter(|name| is_figure(name)).collect();
        // Figures are values, unless they are years in a row.
        let are_years = figures.len() > 1
            && figures.len() < names.len()
            && figures.windows(2).all(|pair| match (year(pair[0]), year(pair[1])) {
                (Some(one), Some(next)) => one.abs_diff(next) == 1,
                _ => false,
            });
        let end = (head + FIRST_ROWS).min(self.rows.len());
        // A name does not stand among the values below it.
        let mut below = (head + 1..end).flat_map(|row| self.cells(row));
        let are_names = distinct.len() == names.len()
            && distinct.iter().all(|name| fits(name, NAME_MAX))
            && (figures.is_empty() || are_years)
            && !below.any(|(column, value)| names.get(&column) == Some(&value));
        (are_names && self.range(head).end < self.cells.len()).then_some(head)
    }

    /// Writes all rows. Cells without names stand between separators.
    pub(super) fn write(&self, separator: &str, packer: &mut Packer) {
        let head = self.head();
        for row in 0..head.unwrap_or(0) {
            self.put(row, None, separator, packer);
        }
        let names: Names = match head {
            Some(head) => self.cells(head).map(|(column, name)| (column, one_line(name))).collect(),
            None => Names::new(),
        };
        let begin = head.map_or(0, |head| head + 1);
        if let Some(head) = head {
            if self.are_worth_it(&names, begin) {
                let used: HashSet<usize> = (begin..self.rows.len())
                    .flat_map(|row| self.cells(row))
                    .map(|(column, _)| column)
                    .collect();
                // The name of an empty column stands nowhere else.
                if names.keys().any(|column| !used.contains(column)) {
                    self.put(head, None, separator, packer);
                }
                for row in begin..self.rows.len() {
                    self.put(row, Some(&names), "; ", packer);
                }
                return;
            }
            let cells = self.spread(head);
            let line = cells.iter().map(|cell| one_line(cell.value)).collect::<Vec<_>>().join(separator);
            if !packer.repeat(&line) {
                self.put(head, None, separator, packer);
            }
        }
        self.put_figures(begin, &names, separator, packer);
    }

    /// Whether each value shall have its name: if the table is mostly words, and the names would at most double it.
    /// In a table of measurements the head above the rows says the same in less space.
    fn are_worth_it(&self, names: &Names, begin: usize) -> bool {
        let (mut labels, mut words, mut values, mut count) = (0, 0, 0, 0);
        for (column, value) in (begin..self.rows.len()).flat_map(|row| self.cells(row)) {
            labels += names.get(&column).map_or(0, |name| name.len() + 2);
            words += if is_figure(value) { 0 } else { value.len() };
            values += value.len();
            count += 1;
        }
        // Each value has a sign and a space after it.
        labels <= values + 2 * count && words * 2 >= values
    }

    /// Writes a row, with the names of its values or as cells between separators.
    fn put(&self, row: usize, names: Option<&Names>, separator: &str, packer: &mut Packer) {
        let cells: Vec<Cell<'_>> = match names {
            Some(names) => {
                let name = |column| names.get(&column).map_or("", String::as_str);
                self.cells(row).map(|(column, value)| Cell { name: name(column), value }).collect()
            }
            None => self.spread(row),
        };
        packer.put(&cells, separator, self.rows[row].lines);
    }

    /// Returns the cells of a row, with empty ones between them.
    fn spread(&self, row: usize) -> Vec<Cell<'_>> {
        let (mut cells, mut next) = (Vec::new(), 0);
        for (column, value) in self.cells(row) {
            let gap = column.saturating_sub(next).min(GAP_MAX);
            cells.extend(std::iter::repeat_n(Cell { name: "", value: "" }, gap));
            cells.push(Cell { name: "", value });
            next = column + 1;
        }
        cells
    }

    /// Writes the rows of a table below its head. After [`FIGURES_MAX`] chunks, rows that hold only figures are summarised.
    fn put_figures(&self, begin: usize, names: &Names, separator: &str, packer: &mut Packer) {
        let most = packer.drafts.len() + FIGURES_MAX;
        let mut left_out = Summary::default();
        for row in begin..self.rows.len() {
            if packer.drafts.len() >= most && self.cells(row).all(|(_, value)| is_figure(value)) {
                left_out.add(self.cells(row), self.rows[row].lines);
            } else {
                self.put(row, None, separator, packer);
            }
        }
        if let Some((text, lines)) = left_out.text(names) {
            packer.put(&[Cell { name: "", value: &text }], separator, lines);
        }
    }
}

/// The names of columns.
type Names = HashMap<usize, String>;

/// What rows hold that are not written: their number, and the least and greatest value of each column.
#[derive(Default)]
struct Summary<'a> {
    rows: usize,
    lines: (u32, u32),
    ranges: BTreeMap<usize, (&'a str, &'a str)>,
}

impl<'a> Summary<'a> {
    fn add(&mut self, cells: impl Iterator<Item = (usize, &'a str)>, lines: (u32, u32)) {
        self.lines = (if self.rows == 0 { lines.0 } else { self.lines.0 }, lines.1);
        self.rows += 1;
        for (column, value) in cells {
            let (least, most) = self.ranges.entry(column).or_insert((value, value));
            if order(value, least).is_lt() {
                *least = value;
            } else if order(value, most).is_gt() {
                *most = value;
            }
        }
    }

    /// Returns the summary, and the lines of the rows.
    fn text(&self, names: &Names) -> Option<(String, (u32, u32))> {
        let ranges = self.ranges.iter().map(|(column, (least, most))| {
            let name = names.get(column).cloned().unwrap_or_else(|| format!("column {}", column + 1));
            if least == most { format!("{name}: {least}") } else { format!("{name}: {least} to {most}") }
        });
        let ranges = ranges.collect::<Vec<_>>().join("; ");
        (self.rows > 0).then(|| (format!("{} more rows of figures: {ranges}", self.rows), self.lines))
    }
}

/// Orders numbers by value, and dates and times by their digits.
fn order(one: &str, other: &str) -> std::cmp::Ordering {
    match (one.parse::<f64>(), other.parse::<f64>()) {
        (Ok(one), Ok(other)) => one.total_cmp(&other),
        _ => one.cmp(other),
    }
}

/// Whether a cell is empty, a number, or a date or time in digits: a run of letters would be a word.
pub(super) fn is_figure(cell: &str) -> bool {
    let has_digit = cell.bytes().any(|byte| byte.is_ascii_digit());
    let mut before = false;
    let is_word = cell
        .chars()
        .any(|letter| std::mem::replace(&mut before, letter.is_alphabetic()) && letter.is_alphabetic());
    cell.is_empty() || has_digit && !is_word || cell.parse::<f64>().is_ok()
}

fn year(cell: &str) -> Option<u32> {
    cell.parse().ok().filter(|year| (1_000..=9_999).contains(year))
}

/// A value, and the name of its column or key if it is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell<'a> {
    pub(super) name: &'a str,
    pub(super) value: &'a str,
}

impl Cell<'_> {
    fn text(&self) -> String {
        if self.name.is_empty() { self.value.to_owned() } else { format!("{}: {}", self.name, self.value) }
    }
}

/// Collects rows in chunks.
pub(super) struct Packer {
    max: usize,
    section: Option<String>,
    /// What each chunk begins with: a heading, the head of the table.
    frame: String,
    drafts: Vec<Draft>,
    /// The open chunk without its frame, its number of characters, and its lines.
    open: String,
    open_length: usize,
    lines: (u32, u32),
}

impl Packer {
    /// Returns a packer of chunks of at most `max` characters.
    pub(super) fn new(max: usize) -> Self {
        Self {
            max,
            section: None,
            frame: String::new(),
            drafts: Vec::new(),
            open: String::new(),
            open_length: 0,
            lines: (1, 1),
        }
    }

    /// Begins a section, with its name above each of its chunks.
    pub(super) fn section(&mut self, name: &str) {
        self.close();
        let name = one_line(name);
        let frame = format!("# {name}\n\n");
        self.frame = if fits(&frame, self.max / 4) { frame } else { String::new() };
        self.section = Some(name).filter(|name| !name.is_empty());
    }

    /// Writes a line above each further chunk of the section; false if it is too long for that.
    fn repeat(&mut self, line: &str) -> bool {
        let is_short = fits(line, self.max / 4);
        if is_short {
            self.close();
            self.frame.push_str(line);
            self.frame.push('\n');
        }
        is_short
    }

    /// Writes a row. One that alone is too long is cut between its cells, and each part repeats the first cell if that is short.
    pub(super) fn put(&mut self, cells: &[Cell<'_>], separator: &str, lines: (u32, u32)) {
        let mut row = String::new();
        let mut is_prose = false;
        for (at, cell) in cells.iter().enumerate() {
            let is_text = cell.value.contains('\n');
            if at > 0 {
                row.push_str(if is_text || is_prose { "\n" } else { separator });
            }
            row.push_str(&cell.text());
            is_prose = is_text;
        }
        if row.trim().is_empty() {
            return;
        }
        let room = self.max.saturating_sub(length(&self.frame)).max(1);
        if fits(&row, room) {
            self.add(&row, lines, room);
        } else {
            self.close();
            self.cut(cells, separator, lines, room);
        }
    }

    /// Adds text to the open chunk, or begins the next.
    fn add(&mut self, row: &str, lines: (u32, u32), room: usize) {
        // Rows of several lines are set apart.
        let gap = if self.open.contains('\n') && row.contains('\n') { "\n\n" } else { "\n" };
        let length = length(row);
        if !self.open.is_empty() && self.open_length + gap.len() + length > room {
            self.close();
        }
        if self.open.is_empty() {
            self.lines = lines;
        } else {
            self.open.push_str(gap);
            self.open_length += gap.len();
        }
        self.open.push_str(row);
        self.open_length += length;
        self.lines = (self.lines.0.min(lines.0), self.lines.1.max(lines.1));
    }

    /// Cuts a row that is too long for one chunk.
    fn cut(&mut self, cells: &[Cell<'_>], separator: &str, lines: (u32, u32), room: usize) {
        let lead = cells.first().map(Cell::text).filter(|lead| fits(lead, room / 4)).unwrap_or_default();
        let lead = if lead.is_empty() { lead } else { lead + separator };
        let within = room - length(&lead);
        let (mut part, mut is_first) = (String::new(), true);
        // The number of characters of the part that the next cell would continue.
        let mut held = within;
        for cell in cells {
            let text = cell.text();
            held += length(separator) + length(&text);
            if held <= within {
                part.push_str(separator);
                part.push_str(&text);
                continue;
            }
            self.part(&mut part, &lead, &mut is_first, lines);
            if fits(&text, within) {
                held = length(&text);
                part = text;
                continue;
            }
            held = within;
            let label = if cell.name.is_empty() { String::new() } else { format!("{}: ", cell.name) };
            let label = if fits(&label, within / 2) { label } else { String::new() };
            let value = if label.is_empty() { text.as_str() } else { cell.value };
            for range in pieces(value, within - length(&label), 0) {
                self.part(&mut part, &lead, &mut is_first, lines);
                part = format!("{label}{}", &value[range]);
            }
        }
        self.part(&mut part, &lead, &mut is_first, lines);
    }

    /// Ends a part of a row that was cut, as a chunk of its own.
    fn part(&mut self, part: &mut String, lead: &str, is_first: &mut bool, lines: (u32, u32)) {
        if part.trim().is_empty() {
            return;
        }
        self.open = std::mem::take(part);
        if !std::mem::take(is_first) {
            self.open.insert_str(0, lead);
        }
        self.lines = lines;
        self.close();
    }

    fn close(&mut self) {
        let open = std::mem::take(&mut self.open);
        self.open_length = 0;
        if !open.trim().is_empty() {
            let content = format!("{}{open}", self.frame);
            let section = self.section.clone();
            self.drafts.push(Draft { content, section, lines: self.lines, tags: Vec::new() });
        }
    }

    /// Returns the chunks of all rows.
    pub(super) fn drafts(mut self) -> Vec<Draft> {
        self.close();
        self.drafts
    }
}
