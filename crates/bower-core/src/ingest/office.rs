//! Reads documents of office programs: DOCX and PPTX (Office Open XML), ODT and ODP (`OpenDocument`).
//! They are converted to Markdown with their headings, lists and tables, and chunked like it. The lines of a chunk are the
//! numbers of its paragraphs, or of its slide.
//!
//! Sources: ECMA-376, part 1; `OpenDocument` 1.3, part 3.

use std::collections::HashMap;

use super::converted::{Converted, LIST_DEPTH, cell};
use super::draft::ParsedFile;
use super::split::one_line;
use super::zipped::{XmlElement, XmlEvent, Zipped, each_event, first_text};
use crate::config::Settings;

/// The formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Office {
    Docx,
    Pptx,
    OpenDocument,
}

/// Reads a whole document; the error is the reason why it is skipped.
pub(super) fn parse(bytes: &[u8], format: Office, settings: &Settings) -> Result<ParsedFile, String> {
    let mut zipped = Zipped::open(bytes, settings.max_file_bytes)?;
    let (page, about) = match format {
        Office::Docx => (docx(&mut zipped)?, "docProps/core.xml"),
        Office::Pptx => (pptx(&mut zipped)?, "docProps/core.xml"),
        Office::OpenDocument => (open_document(&mut zipped)?, "meta.xml"),
    };
    let title = zipped.text(about)?.and_then(|xml| first_text(&xml, "dc:title"));
    let (heading, drafts) = page.out.chunks(settings);
    Ok(ParsedFile { title: title.or(heading), drafts, ..ParsedFile::default() })
}

/// A paragraph that is open. One may stand inside another: in a frame, or in a text box.
#[derive(Default)]
struct Paragraph {
    text: String,
    /// Its level, if it is a heading.
    level: Option<usize>,
    /// Its depth, if it is an item of a list.
    list: Option<usize>,
}

/// Adds text to the innermost paragraph.
fn add(open: &mut [Paragraph], piece: &str) {
    if let Some(paragraph) = open.last_mut() {
        paragraph.text.push_str(piece);
    }
}

/// Markdown as it is written.
#[derive(Default)]
struct Page {
    /// The number is that of the paragraph or slide.
    out: Converted,
    /// Whether the last block was an item of a list.
    is_list: bool,
    /// The rows of the open table, and how many tables are open: a table inside a cell is text of the cell.
    rows: Vec<Vec<String>>,
    tables: usize,
}

impl Page {
    /// Writes a paragraph that ended.
    fn paragraph(&mut self, Paragraph { text, level, list }: &Paragraph) {
        let lines: Vec<String> = text.lines().map(one_line).filter(|line| !line.is_empty()).collect();
        if lines.is_empty() {
            return;
        }
        if self.tables > 0 {
            if let Some(open) = self.rows.last_mut().and_then(|row| row.last_mut()) {
                if !open.is_empty() {
                    open.push(' ');
                }
                open.push_str(&cell(&lines.join(" ")));
            }
            return;
        }
        if !(self.out.text.is_empty() || list.is_some() && self.is_list) {
            self.out.put("");
        }
        self.is_list = list.is_some();
        match (level, list) {
            (Some(level), _) => {
                self.out.put(&format!("{} {}", "#".repeat((*level).clamp(1, 6)), lines.join(" ")));
            }
            (None, Some(depth)) => {
                self.out.put(&format!("{}- {}", "  ".repeat((*depth).min(LIST_DEPTH)), lines.join(" ")));
            }
            (None, None) => lines.iter().for_each(|line| self.out.put(line)),
        }
    }

    fn end_table(&mut self) {
        self.tables = self.tables.saturating_sub(1);
        if self.tables > 0 {
            return;
        }
        let rows = std::mem::take(&mut self.rows);
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0).min(MOST_COLUMNS);
        if columns == 0 {
            return;
        }
        if !self.out.text.is_empty() {
            self.out.put("");
        }
        self.is_list = false;
        for (at, row) in rows.iter().enumerate() {
            let cells: Vec<&str> =
                (0..columns).map(|column| row.get(column).map_or("", String::as_str)).collect();
            self.out.put_row(&cells, at == 0);
        }
    }

    fn cell(&mut self) {
        if self.tables == 1 {
            match self.rows.last_mut() {
                Some(row) => row.push(String::new()),
                None => self.rows.push(vec![String::new()]),
            }
        }
    }

    fn row(&mut self) {
        if self.tables == 1 {
            self.rows.push(Vec::new());
        }
    }
}

/// Most columns of a table: spreadsheets in a document declare thousands of empty ones.
const MOST_COLUMNS: usize = 64;

/// Reads the body of a DOCX file.
fn docx(zipped: &mut Zipped<'_>) -> Result<Page, String> {
    let levels = match zipped.text("word/styles.xml")? {
        Some(styles) => heading_styles(&styles)?,
        None => HashMap::new(),
    };
    let body = zipped.text("word/document.xml")?.ok_or("damaged: the document has no word/document.xml")?;
    let mut page = Page::default();
    open_xml(&body, WORDS, &levels, &mut page)?;
    Ok(page)
}

/// Prefixes of the elements of text in DOCX and in PPTX, which are otherwise named alike.
const WORDS: &str = "w:";
const DRAWING: &str = "a:";

/// Reads the paragraphs and tables of a part of Office Open XML. `levels` has the styles that are headings.
fn open_xml(xml: &str, prefix: &str, levels: &HashMap<String, usize>, page: &mut Page) -> Result<(), String> {
    let mut open: Vec<Paragraph> = Vec::new();
    let (mut is_text, mut is_title, mut is_number) = (false, false, false);
    each_event(xml, &mut |event| match event {
        XmlEvent::Open(element) => match element.name().strip_prefix(prefix) {
            Some("p") => {
                page.out.number += u32::from(prefix == WORDS);
                open.push(Paragraph { level: is_title.then_some(2), ..Paragraph::default() });
            }
            Some("pStyle" | "outlineLvl" | "ilvl" | "numPr") => {
                if let Some(paragraph) = open.last_mut() {
                    style(element, levels, paragraph);
                }
            }
            Some("t") => is_text = true,
            Some("tab") => add(&mut open, " "),
            Some("br" | "cr") => add(&mut open, "\n"),
            Some("tbl") => page.tables += 1,
            Some("tr") => page.row(),
            Some("tc") => page.cell(),
            Some(_) => {}
            None => match element.name() {
                "p:sp" => (is_title, is_number) = (false, false),
                "p:ph" => {
                    let kind = element.get("type");
                    is_title = matches!(kind.as_deref(), Some("title" | "ctrTitle"));
                    is_number = matches!(kind.as_deref(), Some("sldNum" | "dt" | "ftr"));
                }
                _ => {}
            },
        },
        XmlEvent::Close(name) => match name.strip_prefix(prefix) {
            Some("t") => is_text = false,
            Some("p") => {
                if let Some(paragraph) = open.pop().filter(|_| !is_number) {
                    page.paragraph(&paragraph);
                }
            }
            Some("tbl") => page.end_table(),
            Some(_) | None => {}
        },
        XmlEvent::Text(piece) if is_text => add(&mut open, piece),
        XmlEvent::Text(_) => {}
    })
}

/// Takes a property of a paragraph in DOCX.
fn style(element: &XmlElement<'_>, levels: &HashMap<String, usize>, paragraph: &mut Paragraph) {
    match element.name() {
        "w:pStyle" => {
            paragraph.level = element.get("w:val").and_then(|style| levels.get(&style).copied());
        }
        "w:outlineLvl" => paragraph.level = paragraph.level.or_else(|| outline_level(element)),
        "w:ilvl" => paragraph.list = element.get("w:val").and_then(|depth| depth.parse().ok()),
        "w:numPr" => paragraph.list = paragraph.list.or(Some(0)),
        _ => {}
    }
}

/// Returns the level of each style that is a heading.
fn heading_styles(styles: &str) -> Result<HashMap<String, usize>, String> {
    let (mut levels, mut id) = (HashMap::new(), None);
    each_event(styles, &mut |event| {
        let XmlEvent::Open(element) = event else { return };
        let level = match element.name() {
            "w:style" => {
                id = element.get("w:styleId");
                None
            }
            "w:name" => element.get("w:val").and_then(|name| {
                let name = name.to_lowercase();
                let number = name.strip_prefix("heading ").and_then(|level| level.parse().ok());
                number.or_else(|| (name == "title").then_some(1))
            }),
            "w:outlineLvl" => outline_level(element),
            _ => None,
        };
        if let (Some(id), Some(level)) = (&id, level) {
            levels.entry(id.clone()).or_insert(level);
        }
    })?;
    Ok(levels)
}

/// Returns the level of a heading: level 9 is body text (ECMA-376, 17.3.1.20).
fn outline_level(element: &XmlElement<'_>) -> Option<usize> {
    let level: usize = element.get("w:val")?.parse().ok()?;
    (level < 9).then_some(level + 1)
}

/// Reads the slides of a PPTX file with their notes.
fn pptx(zipped: &mut Zipped<'_>) -> Result<Page, String> {
    let number = |name: &str, folder: &str| -> Option<u32> {
        name.strip_prefix(folder)?.strip_suffix(".xml")?.parse().ok()
    };
    let mut slides: Vec<u32> =
        zipped.names().iter().filter_map(|name| number(name, "ppt/slides/slide")).collect();
    slides.sort_unstable();
    if slides.is_empty() {
        return Err("damaged: the presentation has no slides".into());
    }
    let mut page = Page::default();
    for slide in slides {
        page.out.number = slide;
        for part in [format!("ppt/slides/slide{slide}.xml"), format!("ppt/notesSlides/notesSlide{slide}.xml")]
        {
            if let Some(xml) = zipped.text(&part)? {
                open_xml(&xml, DRAWING, &HashMap::new(), &mut page)?;
            }
        }
    }
    Ok(page)
}

/// Reads the body of an ODT or ODP file.
fn open_document(zipped: &mut Zipped<'_>) -> Result<Page, String> {
    if zipped.text("META-INF/manifest.xml")?.is_some_and(|manifest| manifest.contains("encryption-data")) {
        return Err("an encrypted document: save it without a password".into());
    }
    let body = zipped.text("content.xml")?.ok_or("damaged: the document has no content.xml")?;
    let mut page = Page::default();
    let mut open: Vec<Paragraph> = Vec::new();
    let (mut lists, mut silent, mut is_first) = (0_usize, 0_usize, false);
    each_event(&body, &mut |event| match event {
        XmlEvent::Open(element) => match element.name() {
            "office:annotation" | "text:tracked-changes" | "office:forms" => silent += 1,
            _ if silent > 0 => {}
            "text:h" => {
                page.out.number += 1;
                let level = element.get("text:outline-level").and_then(|level| level.parse().ok());
                open.push(Paragraph { level: level.or(Some(1)), ..Paragraph::default() });
            }
            "text:p" => {
                page.out.number += u32::from(open.is_empty());
                open.push(Paragraph::default());
            }
            "text:list" => lists += 1,
            "text:list-item" => is_first = true,
            "text:s" | "text:tab" => add(&mut open, " "),
            "text:line-break" => add(&mut open, "\n"),
            "table:table" => page.tables += 1,
            "table:table-row" => page.row(),
            "table:table-cell" | "table:covered-table-cell" => page.cell(),
            _ => {}
        },
        XmlEvent::Close(name) => match name {
            "office:annotation" | "text:tracked-changes" | "office:forms" => {
                silent = silent.saturating_sub(1);
            }
            _ if silent > 0 => {}
            "text:h" | "text:p" => {
                if let Some(mut paragraph) = open.pop() {
                    paragraph.list = (lists > 0 && std::mem::take(&mut is_first)).then(|| lists - 1);
                    page.paragraph(&paragraph);
                }
            }
            "text:list" => lists = lists.saturating_sub(1),
            "table:table" => page.end_table(),
            _ => {}
        },
        XmlEvent::Text(piece) if silent == 0 => add(&mut open, piece),
        XmlEvent::Text(_) => {}
    })?;
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::super::zipped::testing::packed;
    use super::*;

    #[track_caller]
    fn check(parts: &[(&str, &str)], format: Office, title: Option<&str>, expected: &[(&str, (u32, u32))]) {
        let settings = Settings { markdown_chunk_min: 0, ..Settings::default() };
        let read = parse(&packed(parts), format, &settings).unwrap();
        let got: Vec<_> = read.drafts.iter().map(|draft| (draft.content.as_str(), draft.lines)).collect();
        assert_eq!((read.title.as_deref(), got.as_slice()), (title, expected));
    }

    #[test]
    fn a_docx_keeps_headings_lists_and_tables() {
        let styles = r#"<w:styles><w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>
            <w:style w:styleId="Own"><w:name w:val="own"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style></w:styles>"#;
        let body = r#"<w:document><w:body><w:p><w:pPr><w:pStyle w:val="berschrift1"/></w:pPr><w:r><w:t>Har</w:t></w:r><w:r><w:t>bour</w:t></w:r></w:p>
            <w:p><w:r><w:t xml:space="preserve">Moor &amp; </w:t><w:tab/><w:t>wait.</w:t></w:r><w:del><w:r><w:delText>gone</w:delText></w:r></w:del></w:p>
            <w:p><w:pPr><w:numPr><w:ilvl w:val="0"/></w:numPr></w:pPr><w:r><w:t>one</w:t></w:r></w:p>
            <w:p><w:pPr><w:numPr><w:ilvl w:val="1"/></w:numPr></w:pPr><w:r><w:t>two</w:t></w:r></w:p>
            <w:p><w:pPr><w:pStyle w:val="Own"/></w:pPr><w:r><w:t>Fees</w:t></w:r></w:p>
            <w:tbl><w:tr><w:tc><w:p><w:r><w:t>Boat</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>Fee</w:t></w:r></w:p></w:tc></w:tr>
            <w:tr><w:tc><w:p><w:r><w:t>10 m</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>20</w:t></w:r></w:p></w:tc></w:tr></w:tbl></w:body></w:document>"#;
        let core = "<cp:coreProperties><dc:title>Rules</dc:title></cp:coreProperties>";
        check(
            &[("word/styles.xml", styles), ("word/document.xml", body), ("docProps/core.xml", core)],
            Office::Docx,
            Some("Rules"),
            &[
                ("# Harbour\n\nMoor & wait.\n\n- one\n  - two", (1, 4)),
                ("## Fees\n\n| Boat | Fee |\n|---|---|\n| 10 m | 20 |", (5, 9)),
            ],
        );
    }

    #[test]
    fn a_text_box_does_not_end_the_paragraph_around_it() {
        let body = "<w:p><w:r><w:t>Before </w:t></w:r><w:r><w:p><w:r><w:t>In the box.</w:t></w:r></w:p></w:r><w:r><w:t>and after.</w:t></w:r></w:p>";
        let expected = [("In the box.\n\nBefore and after.", (2, 2))];
        check(&[("word/document.xml", body)], Office::Docx, None, &expected);
    }

    #[test]
    fn an_odt_keeps_headings_lists_and_tables() {
        let body = r#"<office:document-content><office:body><office:text><text:tracked-changes><text:p>gone</text:p></text:tracked-changes>
            <text:h text:outline-level="2">Harbour</text:h><text:p>Moor<text:s/>at <text:span>low</text:span> water.</text:p>
            <text:list><text:list-item><text:p>one</text:p><text:list><text:list-item><text:p>two</text:p></text:list-item></text:list></text:list-item></text:list>
            <table:table><table:table-row><table:table-cell><text:p>a|b</text:p></table:table-cell></table:table-row></table:table>
            </office:text></office:body></office:document-content>"#;
        check(
            &[("content.xml", body)],
            Office::OpenDocument,
            Some("Harbour"),
            &[("## Harbour\n\nMoor at low water.\n\n- one\n  - two\n\n| a\\|b |\n|---|", (1, 5))],
        );
    }

    #[test]
    fn a_slide_begins_with_its_title() {
        let slide = |title: &str, text: &str| {
            format!(
                r#"<p:sld><p:sp><p:nvPr><p:ph type="title"/></p:nvPr><a:p><a:r><a:t>{title}</a:t></a:r></a:p></p:sp>
                <p:sp><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:sp><p:sp><p:nvPr><p:ph type="sldNum"/></p:nvPr><a:p><a:t>7</a:t></a:p></p:sp></p:sld>"#
            )
        };
        let (one, two) = (slide("Tides", "Twice a day."), slide("Moorings", "Use two lines."));
        check(
            &[("ppt/slides/slide10.xml", &two), ("ppt/slides/slide2.xml", &one)],
            Office::Pptx,
            Some("Tides"),
            &[("## Tides\n\nTwice a day.", (2, 2)), ("## Moorings\n\nUse two lines.", (10, 10))],
        );
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let why =
            |parts: &[(&str, &str)], format| parse(&packed(parts), format, &Settings::default()).unwrap_err();
        assert_eq!(why(&[], Office::Docx), "damaged: the document has no word/document.xml");
        assert_eq!(why(&[], Office::Pptx), "damaged: the presentation has no slides");
        let deep = format!("{}{}", "<a>".repeat(5_000), "</a>".repeat(5_000));
        assert_eq!(
            why(&[("content.xml", &deep)], Office::OpenDocument),
            "damaged: its elements nest deeper than 4000"
        );
        assert!(
            why(&[("content.xml", "<a><b></a>")], Office::OpenDocument)
                .starts_with("damaged: its XML cannot be read")
        );
        let locked = [("META-INF/manifest.xml", "<manifest:encryption-data/>"), ("content.xml", "")];
        assert_eq!(why(&locked, Office::OpenDocument), "an encrypted document: save it without a password");
    }
}
