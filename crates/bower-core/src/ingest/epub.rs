//! Reads EPUB books: the chapters in the order of the spine, each read as a page of HTML.
//! The lines of a chunk are the number of its chapter.
//!
//! Source: EPUB 3.3 (W3C Recommendation), sections 4 and 5.

use super::draft::ParsedFile;
use super::html;
use super::zipped::{XmlEvent, Zipped, each_event, first_text};
use crate::config::Settings;
use crate::item::linked_path;

/// Reads a whole book; the error is the reason why it is skipped.
pub(super) fn parse(bytes: &[u8], settings: &Settings) -> Result<ParsedFile, String> {
    let mut zipped = Zipped::open(bytes, settings.max_file_bytes)?;
    // Fonts alone may be obfuscated, without rights; chapters that are encrypted are no UTF-8, and are named below.
    let encrypted = zipped.text("META-INF/encryption.xml")?;
    let rights = zipped.text("META-INF/rights.xml")?;
    if encrypted.is_some_and(|xml| xml.contains("EncryptedData")) && rights.is_some() {
        return Err("an encrypted book: its text is protected".into());
    }
    let container =
        zipped.text("META-INF/container.xml")?.ok_or("damaged: the book has no META-INF/container.xml")?;
    let mut package = None;
    each_event(&container, &mut |event| {
        if let XmlEvent::Open(element) = event
            && element.name().ends_with("rootfile")
            && package.is_none()
        {
            package = element.get("full-path");
        }
    })?;
    let package = package.ok_or("damaged: the book's container names no package")?;
    let xml = zipped.text(&package)?.ok_or_else(|| format!("damaged: the book has no {package}"))?;
    let folder = package.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut book = ParsedFile { title: first_text(&xml, "dc:title"), ..ParsedFile::default() };
    for (chapter, number) in chapters(&xml)?.iter().zip(1_u32..) {
        let Some(page) = zipped.text(&linked_path(folder, chapter))? else {
            book.problems.push(format!("the chapter {chapter} is missing"));
            continue;
        };
        let read = html::parse_chapter(&page, settings);
        book.title = book.title.or_else(|| read.title.clone());
        book.drafts.extend(read.drafts.into_iter().map(|mut draft| {
            draft.lines = (number, number);
            draft.section = draft.section.or_else(|| read.title.clone());
            draft
        }));
    }
    Ok(book)
}

/// Returns the files of the chapters in reading order.
fn chapters(package: &str) -> Result<Vec<String>, String> {
    let (mut files, mut spine) = (std::collections::HashMap::new(), Vec::new());
    each_event(package, &mut |event| {
        let XmlEvent::Open(element) = event else { return };
        match element.name().rsplit(':').next().unwrap_or_default() {
            "item" => {
                let is_page = element.get("media-type").is_some_and(|kind| kind.contains("html"));
                if let (Some(id), Some(file), true) = (element.get("id"), element.get("href"), is_page) {
                    files.insert(id, file);
                }
            }
            "itemref" => spine.extend(element.get("idref")),
            _ => {}
        }
    })?;
    Ok(spine.iter().filter_map(|id| files.get(id).cloned()).collect())
}

#[cfg(test)]
mod tests {
    use super::super::zipped::testing::packed;
    use super::*;

    const CONTAINER: &str =
        r#"<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>"#;
    const PACKAGE: &str = r#"<package xmlns:dc="x"><metadata><dc:title>On  Harbours &amp; tides</dc:title></metadata><manifest>
        <item id="b" href="two%20b.xhtml" media-type="application/xhtml+xml"/><item id="a" href="../one.xhtml" media-type="application/xhtml+xml"/>
        <item id="i" href="i.png" media-type="image/png"/></manifest><spine><itemref idref="a"/><itemref idref="i"/><itemref idref="b"/></spine></package>"#;

    #[test]
    fn chapters_are_read_in_the_order_of_the_spine() {
        let book = packed(&[
            ("META-INF/container.xml", CONTAINER),
            ("OPS/book.opf", PACKAGE),
            (
                "OPS/two b.xhtml",
                "<html><head><title>Second</title></head><body><p>Neap tides are weak.</p></body></html>",
            ),
            ("one.xhtml", "<html><body><h1>First</h1><p>Moor at low water.</p></body></html>"),
        ]);
        let read = parse(&book, &Settings::default()).unwrap();
        let drafts: Vec<_> =
            read.drafts.iter().map(|one| (one.section.as_deref(), one.content.as_str(), one.lines)).collect();
        assert_eq!(read.title.as_deref(), Some("On Harbours & tides"));
        assert_eq!(
            drafts,
            [
                (Some("First"), "# First\n\nMoor at low water.", (1, 1)),
                (Some("Second"), "Neap tides are weak.", (2, 2))
            ]
        );
        let without = packed(&[("META-INF/container.xml", CONTAINER), ("OPS/book.opf", PACKAGE)]);
        let read = parse(&without, &Settings::default()).unwrap();
        assert_eq!(
            read.problems,
            ["the chapter ../one.xhtml is missing", "the chapter two%20b.xhtml is missing"]
        );
    }

    #[test]
    fn what_is_no_book_is_named() {
        let why = |bytes: &[u8], most: u64| {
            parse(bytes, &Settings { max_file_bytes: most, ..Settings::default() }).unwrap_err()
        };
        assert!(why(b"PK no zip", 1 << 20).starts_with("damaged: it is no whole zip file"));
        assert_eq!(why(&packed(&[("a", "b")]), 1 << 20), "damaged: the book has no META-INF/container.xml");
        let long = "x".repeat(3 << 20);
        let bomb = packed(&[("META-INF/container.xml", &long)]);
        assert_eq!(why(&bomb, 1 << 20), "too large: more than 1.0 MiB when unpacked");
    }
}
