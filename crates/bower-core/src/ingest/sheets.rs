//! Reads workbooks: XLSX (Office Open XML) and ODS (`OpenDocument`), each sheet as a section with its rows.
//! Formulas have their last values, dates are ISO 8601, and the lines of a chunk are the numbers of its rows.
//!
//! Sources: ECMA-376, part 1, 18.2 to 18.8; `OpenDocument` 1.3, part 3, 9.1.

use jiff::ToSpan;
use jiff::civil::{Date, date};
use std::collections::HashMap;

use super::draft::ParsedFile;
use super::read::unpacks_too_much;
use super::rows::{Grid, Packer};
use super::zipped::{XmlElement, XmlEvent, Zipped, each_event, first_text};
use crate::config::Settings;

/// Most times that a repeated cell of ODS is written: one element may declare thousands.
const REPEATED_MAX: u32 = 64;

/// The first bytes of a compound file, in which Office keeps encrypted workbooks (MS-CFB, 2.2).
const COMPOUND: &[u8] = &[0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];

/// Reads a whole XLSX file; the error is the reason why it is skipped.
pub(super) fn parse_xlsx(bytes: &[u8], settings: &Settings) -> Result<ParsedFile, String> {
    if bytes.starts_with(COMPOUND) {
        return Err(
            "an encrypted workbook, or one in the format XLS: save it as XLSX without a password".into()
        );
    }
    let mut zipped = Zipped::open(bytes, settings.max_file_bytes)?;
    let package = zipped.text("_rels/.rels")?.unwrap_or_default();
    let links = links(&package)?;
    let main = links.into_values().find(|link| link.kind.ends_with("/officeDocument"));
    let main = main.map_or_else(|| "xl/workbook.xml".to_owned(), |link| part_name("", &link.target));
    let (folder, name) = main.rsplit_once('/').unwrap_or(("", &main));
    let workbook = zipped.text(&main)?.ok_or_else(|| format!("damaged: the workbook has no {main}"))?;
    let links =
        self::links(&zipped.text(&part_name(folder, &format!("_rels/{name}.rels")))?.unwrap_or_default())?;
    let (sheets, has_1904) = sheets(&workbook)?;
    let styles = match zipped.text(&part_name(folder, "styles.xml"))? {
        Some(styles) => number_formats(&styles)?,
        None => Vec::new(),
    };
    let strings = links.values().find(|link| link.kind.ends_with("/sharedStrings"));
    let strings = strings.map_or("sharedStrings.xml", |link| &link.target);
    let strings = match zipped.text(&part_name(folder, strings))? {
        Some(strings) => shared_strings(&strings)?,
        None => Vec::new(),
    };
    let book = Xlsx { strings, styles, has_1904, most: settings.max_file_bytes };
    let mut packer = Packer::new(settings.text_chunk_max);
    let mut problems = Vec::new();
    let mut left = settings.max_file_bytes;
    for (name, link) in sheets {
        let part = links.get(&link).map(|link| part_name(folder, &link.target));
        let xml = match &part {
            Some(part) => zipped.text(part)?,
            None => None,
        };
        let Some(xml) = xml else {
            problems.push(format!("the sheet {name} is missing"));
            continue;
        };
        let grid = book.sheet(&xml, left)?;
        left -= grid.bytes() as u64;
        packer.section(&name);
        grid.write(" | ", &mut packer);
    }
    let title = zipped.text("docProps/core.xml")?.and_then(|xml| first_text(&xml, "dc:title"));
    Ok(ParsedFile { title, drafts: packer.drafts(), problems, ..ParsedFile::default() })
}

/// Returns a name without its prefix: some programs write one before every element.
fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}

/// Returns the sheets, each with the id of its link, and whether days count from 1904.
fn sheets(workbook: &str) -> Result<(Vec<(String, String)>, bool), String> {
    let (mut sheets, mut has_1904) = (Vec::new(), false);
    each_event(workbook, &mut |event| {
        let XmlEvent::Open(element) = event else { return };
        match local(element.name()) {
            "sheet" => {
                let link = element.get_prefixed("id").unwrap_or_default();
                sheets.push((element.get("name").unwrap_or_default(), link));
            }
            "workbookPr" => {
                has_1904 = element.get("date1904").is_some_and(|value| value != "0" && value != "false");
            }
            _ => {}
        }
    })?;
    Ok((sheets, has_1904))
}

/// A link from one part to another.
struct Link {
    kind: String,
    target: String,
}

/// Returns the links of a part by their ids.
fn links(xml: &str) -> Result<HashMap<String, Link>, String> {
    let mut links = HashMap::new();
    each_event(xml, &mut |event| {
        if let XmlEvent::Open(element) = event
            && let (Some(id), Some(target)) = (element.get("Id"), element.get("Target"))
        {
            links.insert(id, Link { kind: element.get("Type").unwrap_or_default(), target });
        }
    })?;
    Ok(links)
}

/// Returns the name of a part that is linked from a folder, or absolutely.
fn part_name(folder: &str, target: &str) -> String {
    match target.strip_prefix('/') {
        Some(absolute) => absolute.to_owned(),
        None if folder.is_empty() => target.to_owned(),
        None => format!("{folder}/{target}"),
    }
}

/// Returns the strings that cells refer to by their numbers, without phonetic hints.
fn shared_strings(xml: &str) -> Result<Vec<String>, String> {
    let mut strings: Vec<String> = Vec::new();
    let (mut is_text, mut is_hint) = (false, false);
    each_event(xml, &mut |event| match event {
        XmlEvent::Open(element) => match local(element.name()) {
            "si" => strings.push(String::new()),
            "t" => is_text = true,
            "rPh" => is_hint = true,
            _ => {}
        },
        XmlEvent::Close(name) => match local(name) {
            "t" => is_text = false,
            "rPh" => is_hint = false,
            _ => {}
        },
        XmlEvent::Text(piece) if is_text && !is_hint => {
            if let Some(last) = strings.last_mut() {
                last.push_str(piece);
            }
        }
        XmlEvent::Text(_) => {}
    })?;
    // A line end before another one is written so (ECMA-376, 22.9.2.19).
    strings
        .iter_mut()
        .filter(|text| text.contains("_x000D_"))
        .for_each(|text| *text = text.replace("_x000D_", ""));
    Ok(strings)
}

/// What a number stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Shown {
    #[default]
    Number,
    Date,
    Duration,
}

impl Shown {
    /// Returns the meaning of a format (ECMA-376, 18.8.30 and 18.8.31).
    fn of(id: u32, code: Option<&String>) -> Self {
        let Some(code) = code else {
            return match id {
                14..=22 | 27..=36 | 45 | 47 | 50..=58 => Self::Date,
                46 => Self::Duration,
                _ => Self::Number,
            };
        };
        let (mut is_quoted, mut is_escaped, mut bracket) = (false, false, None::<String>);
        let mut shown = Self::Number;
        // Further parts are for negative numbers and for text.
        for letter in code.to_ascii_lowercase().chars() {
            match letter {
                _ if std::mem::take(&mut is_escaped) => {}
                '"' => is_quoted = !is_quoted,
                _ if is_quoted => {}
                '\\' | '_' | '*' => is_escaped = true,
                ';' => break,
                '[' => bracket = Some(String::new()),
                ']' => {
                    let inside = bracket.take().unwrap_or_default();
                    if !inside.is_empty() && inside.bytes().all(|letter| b"hms".contains(&letter)) {
                        return Self::Duration;
                    }
                }
                letter => match &mut bracket {
                    Some(inside) => inside.push(letter),
                    None if matches!(letter, 'd' | 'm' | 'y' | 'h' | 's') => shown = Self::Date,
                    None if letter == 'g' => return Self::Number, // General
                    None => {}
                },
            }
        }
        shown
    }
}

/// Returns what the numbers of each cell style stand for.
fn number_formats(xml: &str) -> Result<Vec<Shown>, String> {
    let (mut codes, mut styles, mut is_cells) = (HashMap::new(), Vec::new(), false);
    each_event(xml, &mut |event| match event {
        XmlEvent::Open(element) => match local(element.name()) {
            "numFmt" => {
                if let (Some(id), Some(code)) = (number(element, "numFmtId"), element.get("formatCode")) {
                    codes.insert(id, code);
                }
            }
            "cellXfs" => is_cells = true,
            "xf" if is_cells => {
                let id = number(element, "numFmtId").unwrap_or(0);
                styles.push(Shown::of(id, codes.get(&id)));
            }
            _ => {}
        },
        XmlEvent::Close(name) if local(name) == "cellXfs" => is_cells = false,
        XmlEvent::Close(_) | XmlEvent::Text(_) => {}
    })?;
    Ok(styles)
}

fn number(element: &XmlElement<'_>, name: &str) -> Option<u32> {
    element.get(name)?.parse().ok()
}

/// What the cells of a workbook refer to.
struct Xlsx {
    strings: Vec<String>,
    styles: Vec<Shown>,
    has_1904: bool,
    most: u64,
}

/// An open cell.
#[derive(Default)]
struct OpenCell {
    column: u32,
    kind: String,
    shown: Shown,
    text: String,
}

impl Xlsx {
    /// Reads a sheet with at most `left` bytes of text.
    fn sheet(&self, xml: &str, left: u64) -> Result<Grid, String> {
        let mut grid = Grid::default();
        let (mut row, mut next, mut is_text, mut is_hint) = (0_u32, 0_u32, false, false);
        let mut cell = OpenCell::default();
        let mut is_full = false;
        each_event(xml, &mut |event| match event {
            XmlEvent::Open(element) => match local(element.name()) {
                "row" => {
                    row = number(element, "r").unwrap_or(row.saturating_add(1));
                    next = 0;
                    grid.row((row, row));
                }
                "c" => {
                    let style = number(element, "s").unwrap_or(0) as usize;
                    cell = OpenCell {
                        column: element.get("r").and_then(|place| column(&place)).unwrap_or(next),
                        kind: element.get("t").unwrap_or_default(),
                        shown: self.styles.get(style).copied().unwrap_or_default(),
                        text: String::new(),
                    };
                    next = cell.column.saturating_add(1);
                }
                "v" | "t" => is_text = true,
                "rPh" => is_hint = true,
                _ => {}
            },
            XmlEvent::Close(name) => match local(name) {
                "v" | "t" => is_text = false,
                "rPh" => is_hint = false,
                "c" if !is_full => {
                    let value = std::mem::take(&mut cell.text);
                    grid.cell(cell.column, &self.value(&value, &cell));
                    is_full = grid.bytes() as u64 > left;
                }
                _ => {}
            },
            XmlEvent::Text(piece) if is_text && !is_hint => cell.text.push_str(piece),
            XmlEvent::Text(_) => {}
        })?;
        if is_full { Err(unpacks_too_much(self.most)) } else { Ok(grid) }
    }

    /// Returns what a cell shows (ECMA-376, 18.18.11).
    fn value(&self, text: &str, cell: &OpenCell) -> String {
        match cell.kind.as_str() {
            "s" => text
                .trim()
                .parse()
                .ok()
                .and_then(|at: usize| self.strings.get(at))
                .cloned()
                .unwrap_or_default(),
            "b" => if text.trim() == "1" { "TRUE" } else { "FALSE" }.to_owned(),
            "d" => iso(text),
            "str" | "inlineStr" | "e" => text.to_owned(),
            _ => match text.trim().parse::<f64>() {
                Ok(number) => {
                    shown(number, cell.shown, self.has_1904).unwrap_or_else(|| plain(number, text.trim()))
                }
                Err(_) => text.to_owned(),
            },
        }
    }
}

/// Returns the column of a place such as `AB12`, counted from 0.
fn column(place: &str) -> Option<u32> {
    let letters = place.bytes().take_while(u8::is_ascii_alphabetic);
    let number = letters
        .take(4)
        .fold(0, |number, letter| number * 26 + u32::from(letter.to_ascii_uppercase() - b'A') + 1);
    number.checked_sub(1)
}

/// Returns a number with 15 digits, as spreadsheet programs show it: files have `0.30000000000000004` for 0.1 + 0.2.
fn plain(number: f64, written: &str) -> String {
    if number != 0.0 && !(1e-5..1e15).contains(&number.abs()) {
        return written.to_owned();
    }
    format!("{number:.14e}").parse().unwrap_or(number).to_string()
}

/// Returns a date and time of ISO 8601 without the time if that is midnight.
fn iso(text: &str) -> String {
    let text = text.trim().trim_end_matches('Z');
    text.strip_suffix("T00:00:00").map_or_else(|| text.replace('T', " "), str::to_owned)
}

/// Returns the date, time or duration that a number stands for; `None` for other numbers, and those that are no date.
fn shown(number: f64, shown: Shown, has_1904: bool) -> Option<String> {
    // The last day is 9999-12-31.
    if shown == Shown::Number || !(0.0..2_958_466.0).contains(&number) {
        return None;
    }
    let seconds = (number * 86_400.0).round() as i64;
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let clock = |hours: i64| format!("{hours:02}:{:02}:{:02}", second / 60 % 60, second % 60);
    if shown == Shown::Duration {
        return Some(clock(seconds / 3_600));
    }
    if days == 0 {
        return Some(clock(second / 3_600));
    }
    let first = match (has_1904, days) {
        (true, _) => date(1904, 1, 1),
        // Day 60 is 1900-02-29, which never was: days before it count from a day later.
        (false, ..60) => date(1899, 12, 31),
        (false, _) => date(1899, 12, 30),
    };
    let day: Date = first.checked_add(days.days()).ok()?;
    Some(if second == 0 { day.to_string() } else { format!("{day} {}", clock(second / 3_600)) })
}

/// Reads a whole ODS file; the error is the reason why it is skipped.
pub(super) fn parse_ods(bytes: &[u8], settings: &Settings) -> Result<ParsedFile, String> {
    let mut zipped = Zipped::open(bytes, settings.max_file_bytes)?;
    if zipped.text("META-INF/manifest.xml")?.is_some_and(|manifest| manifest.contains("encryption-data")) {
        return Err("an encrypted workbook: save it without a password".into());
    }
    let body = zipped.text("content.xml")?.ok_or("damaged: the workbook has no content.xml")?;
    let mut ods = Ods::new(settings);
    each_event(&body, &mut |event| match event {
        XmlEvent::Open(element) => ods.open(element),
        XmlEvent::Close(name) => ods.close(name),
        XmlEvent::Text(piece) => {
            if ods.silent == 0 && ods.is_text {
                ods.text.push_str(piece);
            }
        }
    })?;
    if ods.is_full {
        return Err(unpacks_too_much(settings.max_file_bytes));
    }
    let title = zipped.text("meta.xml")?.and_then(|xml| first_text(&xml, "dc:title"));
    Ok(ParsedFile { title, drafts: ods.packer.drafts(), ..ParsedFile::default() })
}

/// The state of reading ODS.
struct Ods {
    packer: Packer,
    grid: Grid,
    /// How many more bytes of text may be read, and whether there were more.
    left: u64,
    is_full: bool,
    /// How many elements are open whose text is no value: notes, changes, drawings.
    silent: usize,
    /// The next row, counted from 1, and the next column, counted from 0.
    row: u32,
    column: u32,
    /// The value of the open cell if it is no text, how often it is repeated, and its text.
    value: Option<String>,
    repeated: u32,
    text: String,
    is_text: bool,
    rows: u32,
}

impl Ods {
    fn new(settings: &Settings) -> Self {
        Self {
            packer: Packer::new(settings.text_chunk_max),
            grid: Grid::default(),
            left: settings.max_file_bytes,
            is_full: false,
            silent: 0,
            row: 1,
            column: 0,
            value: None,
            repeated: 1,
            text: String::new(),
            is_text: false,
            rows: 1,
        }
    }

    fn open(&mut self, element: &XmlElement<'_>) {
        match element.name() {
            name if is_silent(name) => self.silent += 1,
            _ if self.silent > 0 => {}
            "table:table" => {
                self.packer.section(&element.get("table:name").unwrap_or_default());
                (self.row, self.grid) = (1, Grid::default());
            }
            "table:table-row" => {
                self.rows = number(element, "table:number-rows-repeated").unwrap_or(1).max(1);
                self.column = 0;
                // Repeated rows say the same: they are written once.
                self.grid.row((self.row, self.row.saturating_add(self.rows - 1)));
            }
            "table:table-cell" | "table:covered-table-cell" => {
                self.repeated = number(element, "table:number-columns-repeated").unwrap_or(1).max(1);
                self.text.clear();
                self.value = match element.get("office:value-type").as_deref() {
                    Some("float" | "percentage" | "currency") => element.get("office:value").map(|value| {
                        value.parse().map_or_else(|_| value.clone(), |number| plain(number, &value))
                    }),
                    Some("date") => element.get("office:date-value").map(|date| iso(&date)),
                    Some("boolean") => element.get("office:boolean-value").map(|value| value.to_uppercase()),
                    Some("string") => element.get("office:string-value"),
                    _ => None,
                };
            }
            "text:p" => {
                self.is_text = true;
                if !self.text.is_empty() {
                    self.text.push('\n');
                }
            }
            "text:s" | "text:tab" => self.text.push(' '),
            "text:line-break" => self.text.push('\n'),
            _ => {}
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            name if is_silent(name) => self.silent = self.silent.saturating_sub(1),
            _ if self.silent > 0 => {}
            "text:p" => self.is_text = false,
            "table:table-cell" | "table:covered-table-cell" => {
                let value = self.value.take().unwrap_or_else(|| std::mem::take(&mut self.text));
                for at in 0..self.repeated.min(REPEATED_MAX) {
                    if !self.is_full && !value.trim().is_empty() {
                        self.grid.cell(self.column.saturating_add(at), &value);
                        self.is_full = self.grid.bytes() as u64 > self.left;
                    }
                }
                self.column = self.column.saturating_add(self.repeated);
            }
            "table:table-row" => self.row = self.row.saturating_add(self.rows),
            "table:table" => {
                let grid = std::mem::take(&mut self.grid);
                self.left = self.left.saturating_sub(grid.bytes() as u64);
                grid.write(" | ", &mut self.packer);
            }
            _ => {}
        }
    }
}

/// Whether the text of an element is no value of a cell.
fn is_silent(name: &str) -> bool {
    matches!(
        name,
        "office:annotation" | "table:tracked-changes" | "table:shapes" | "office:forms" | "draw:frame"
    )
}

#[cfg(test)]
mod tests {
    use super::super::zipped::testing::packed;
    use super::*;
    use proptest::prelude::*;

    type Read = Result<ParsedFile, String>;

    #[track_caller]
    fn check(read: &Read, title: Option<&str>, expected: &[(&str, &str, (u32, u32))]) {
        let read = read.as_ref().unwrap();
        assert_eq!((read.title.as_deref(), read.parts().as_slice()), (title, expected));
    }

    fn xlsx(sheet: &str) -> Vec<u8> {
        packed(&[
            (
                "xl/workbook.xml",
                r#"<x:workbook><x:sheets><x:sheet name="Moorings" x:id="a" state="hidden"/><x:sheet name="Gone" x:id="b"/></x:sheets></x:workbook>"#,
            ),
            (
                "xl/_rels/workbook.xml.rels",
                r#"<Relationships><Relationship Id="a" Target="/xl/worksheets/one.xml"/></Relationships>"#,
            ),
            (
                "xl/styles.xml",
                r#"<styleSheet><numFmts><numFmt numFmtId="164" formatCode="dd\.mm\.yyyy;@"/></numFmts><cellStyleXfs><xf numFmtId="9"/></cellStyleXfs>
                <cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="22"/><xf numFmtId="46"/></cellXfs></styleSheet>"#,
            ),
            (
                "xl/sharedStrings.xml",
                "<sst><si><t>boat</t></si><si><r><t>own</t></r><r><t>er</t></r><rPh><t>hint</t></rPh></si><si><t>until</t></si></sst>",
            ),
            ("xl/worksheets/one.xml", sheet),
            ("docProps/core.xml", "<cp:coreProperties><dc:title>Harbour</dc:title></cp:coreProperties>"),
        ])
    }

    #[test]
    fn an_xlsx_file_is_read_by_its_rows() {
        let sheet = r#"<worksheet><sheetData>
            <row r="2"><c r="A2" t="s"><v>0</v></c><c r="B2" t="s"><v>1</v></c><c r="D2" t="s"><v>2</v></c></row>
            <row r="3"><c r="A3" t="inlineStr"><is><t>Seagull &amp; Tern</t></is></c><c r="B3" t="str"><f>A1</f><v>Ann of the pier</v></c><c r="D3" s="1"><v>45292</v></c></row>
            <row><c t="s"><v>99</v></c><c t="b"><v>1</v></c><c><v>0.30000000000000004</v></c><c s="2"><v>45292.5</v></c><c s="3"><v>1.25</v></c></row>
            </sheetData></worksheet>"#;
        check(
            &parse_xlsx(&xlsx(sheet), &Settings::default()),
            Some("Harbour"),
            &[(
                "Moorings",
                "# Moorings\n\nboat | owner |  | until\nSeagull & Tern | Ann of the pier |  | 2024-01-01\n \
                 | TRUE | 0.3 | 2024-01-01 12:00:00 | 30:00:00",
                (3, 4),
            )],
        );
    }

    #[test]
    fn numbers_become_dates() {
        let date = |number, has_1904| shown(number, Shown::Date, has_1904).unwrap_or_default();
        // ECMA-376, 18.17.4.1: day 1 is 1900-01-01, and day 60 does not exist.
        assert_eq!(
            [date(1.0, false), date(59.0, false), date(61.0, false)],
            ["1900-01-01", "1900-02-28", "1900-03-01"]
        );
        assert_eq!(
            [date(0.0, true), date(1.0, true), date(2_958_465.0, false)],
            ["00:00:00", "1904-01-02", "9999-12-31"]
        );
        let kind = |code: &str| Shown::of(164, Some(&code.to_owned()));
        assert_eq!(["General", "0.00", "\"d\"0", "[Red]0", "0\\d"].map(kind), [Shown::Number; 5]);
        assert_eq!(
            [kind("yyyy-mm-dd"), kind("[$-409]h:mm AM/PM"), kind("[hh]:mm")],
            [Shown::Date, Shown::Date, Shown::Duration]
        );
    }

    #[test]
    fn an_ods_file_is_read_by_its_rows() {
        let body = r#"<office:document-content><office:body><office:spreadsheet><table:table table:name="Tides">
            <table:table-row table:number-rows-repeated="2"><table:table-cell table:number-columns-repeated="16384"/></table:table-row>
            <table:table-row><table:table-cell><text:p>place</text:p></table:table-cell><table:table-cell><text:p>low water</text:p></table:table-cell></table:table-row>
            <table:table-row><table:table-cell office:value-type="string"><text:p>Outer<text:s/>harbour</text:p><office:annotation><text:p>note</text:p></office:annotation></table:table-cell>
            <table:table-cell office:value-type="date" office:date-value="2024-01-02T00:00:00"><text:p>2.1.</text:p></table:table-cell></table:table-row>
            <table:table-row table:number-rows-repeated="1048576"><table:table-cell office:value-type="float" office:value="1.50" table:number-columns-repeated="2"><text:p>2</text:p></table:table-cell></table:table-row>
            </table:table></office:spreadsheet></office:body></office:document-content>"#;
        check(
            &parse_ods(&packed(&[("content.xml", body)]), &Settings::default()),
            None,
            &[(
                "Tides",
                "# Tides\n\nplace | low water\nOuter harbour | 2024-01-02\n1.5 | 1.5",
                (4, 1_048_580),
            )],
        );
    }

    #[test]
    fn a_small_file_cannot_fill_the_memory() {
        let settings = Settings { max_file_bytes: 100_000, ..Settings::default() };
        let cell = r#"<c t="s"><v>0</v></c>"#.repeat(2_000);
        let strings = format!("<sst><si><t>{}</t></si></sst>", "x".repeat(1_000));
        let parts = [
            (
                "xl/workbook.xml",
                r#"<workbook><sheets><sheet name="a" r:id="a"/></sheets></workbook>"#.to_owned(),
            ),
            ("xl/_rels/workbook.xml.rels", r#"<a><b Id="a" Target="s.xml"/></a>"#.to_owned()),
            ("xl/sharedStrings.xml", strings),
            ("xl/s.xml", format!("<sheetData><row>{cell}</row></sheetData>")),
        ];
        let parts: Vec<(&str, &str)> = parts.iter().map(|(name, text)| (*name, text.as_str())).collect();
        assert_eq!(
            parse_xlsx(&packed(&parts), &settings).unwrap_err(),
            "too large: more than 0.1 MiB when unpacked"
        );
        // Cells in the last column of many rows.
        let rows = r#"<row r="1048576"><c r="XFD1"><v>1</v></c></row>"#.repeat(1_000);
        let read =
            parse_xlsx(&xlsx(&format!("<sheetData>{rows}</sheetData>")), &Settings::default()).unwrap();
        assert!(read.drafts.iter().map(|draft| draft.content.len()).sum::<usize>() < 400_000);
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let why = |read: Read| read.unwrap_err();
        assert_eq!(
            why(parse_xlsx(&packed(&[]), &Settings::default())),
            "damaged: the workbook has no xl/workbook.xml"
        );
        assert!(why(parse_xlsx(COMPOUND, &Settings::default())).starts_with("an encrypted workbook"));
        assert_eq!(
            why(parse_ods(&packed(&[]), &Settings::default())),
            "damaged: the workbook has no content.xml"
        );
    }

    proptest! {
        #[test]
        fn no_sheet_makes_it_panic(
            sheet in "(<row( r=\"[0-9]{0,10}\")?>|</row>|<c( r=\"[A-Z]{0,5}[0-9]{0,3}\")?( t=\"[sbned]\")?( s=\"[0-9]\")?>|</c>|<v>-?[0-9.eE]{0,9}</v>|<t>[a-z ]{0,9}</t>){0,40}",
        ) {
            let _ = parse_xlsx(&xlsx(&sheet), &Settings::default());
        }

        #[test]
        fn no_table_makes_it_panic(
            body in "(<table:table>|<table:table-row( table:number-rows-repeated=\"[0-9]{0,11}\")?>|<table:table-cell( table:number-columns-repeated=\"[0-9]{0,11}\")?( office:value-type=\"(date|float)\" office:value=\"[0-9e]{0,5}\")?>|<text:p>a</text:p>|</table:table-cell>|</table:table-row>|</table:table>){0,40}",
        ) {
            let _ = parse_ods(&packed(&[("content.xml", &body)]), &Settings::default());
        }
    }
}
