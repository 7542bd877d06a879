//! Reads PDF files: the text of each page in reading order, as Markdown.
//! The lines of a chunk are the numbers of its pages.
//!
//! Source: ISO 32000-2. The file's syntax and its fonts are read by `hayro-syntax` and `hayro-font`.

mod body;
mod content;
mod fonts;
mod headings;
mod layout;
mod marginal;
mod outline;
mod prose;
mod strings;
mod unpack;
mod words;

use hayro_syntax::{DecryptionError, LoadPdfError, Pdf};

use super::draft::ParsedFile;
use crate::config::Settings;
use body::PageLines;

/// Most lines of a file: ten thousand pages have as many.
const MOST_LINES: usize = 500_000;

/// Most bytes of text of a file, for the same number of pages.
const MOST_TEXT: usize = 32 << 20;

/// Reads a whole file; the error is the reason why it is skipped.
pub(super) fn parse(bytes: &[u8], settings: &Settings) -> Result<ParsedFile, String> {
    unpack::check_objects(bytes)?;
    // The libraries index what the file says, and do not promise to check all of it first. One file must not end the program.
    let read = std::panic::catch_unwind(|| read(bytes, settings));
    read.unwrap_or_else(|_| Err("damaged: its structure contradicts itself; save it again as PDF".into()))
}

fn read(bytes: &[u8], settings: &Settings) -> Result<ParsedFile, String> {
    let pdf = Pdf::new(bytes.to_vec()).map_err(|source| match source {
        LoadPdfError::Decryption(DecryptionError::PasswordProtected) => {
            "an encrypted PDF: save it without a password"
        }
        LoadPdfError::Decryption(_) => "an encrypted PDF of an unknown kind: save it without a password",
        LoadPdfError::Invalid => "damaged: it is no whole PDF file",
    })?;
    let mut problems = Vec::new();
    let mut fonts = fonts::Fonts::new();
    let mut budget = unpack::Budget::new();
    let mut pages: Vec<PageLines> = Vec::new();
    let (mut lines, mut text) = (0, 0);
    for (page, number) in pdf.pages().iter().zip(1_u32..) {
        let words = content::words(page, &mut fonts, &mut budget);
        let of_page = layout::lines(words, &fonts.monospaced(), &mut budget);
        lines += of_page.len();
        text += of_page.iter().map(|line| line.text.len()).sum::<usize>();
        pages.push(PageLines { number, lines: of_page });
        if (!budget.is_left() || lines > MOST_LINES || text > MOST_TEXT) && pages.len() < pdf.pages().len() {
            problems.push(format!("read up to page {number} of {}: the rest is too much", pdf.pages().len()));
            break;
        }
    }
    if lines == 0 {
        return Err(
            "no text on any page, as in scans: recognise it (OCR), and save it as PDF with text".into()
        );
    }
    let empty = pages.iter().filter(|page| page.lines.is_empty()).count();
    if empty * 2 > pages.len() {
        problems.push(format!("{empty} of {} pages have no text: they may be scans", pages.len()));
    }
    if let Some(share) = fonts.unknown() {
        problems.push(format!("{share} % of its letters are unknown: its fonts do not say which they are"));
    }
    let title = headings::title(&pages, outline::title(&pdf));
    marginal::remove(&mut pages);
    let out = prose::write(&pages, &outline::bookmarks(&pdf), &fonts.monospaced());
    let (heading, drafts) = out.chunks(settings);
    Ok(ParsedFile { title: title.or(heading), drafts, problems, ..ParsedFile::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::fmt::Write;

    /// Returns a file of pages with this content. Its fonts are Helvetica (`F`) and Courier (`C`).
    fn file(pages: &[&str], more: &str) -> Vec<u8> {
        let mut objects = vec![format!("<< /Type /Catalog /Pages 2 0 R {more} >>")];
        let kids = (0..pages.len()).map(|at| format!("{} 0 R ", 5 + 2 * at)).collect::<Vec<_>>().concat();
        objects.push(format!("<< /Type /Pages /Kids [{kids}] /Count {} >>", pages.len()));
        for font in ["Helvetica", "Courier"] {
            objects.push(format!("<< /Type /Font /Subtype /Type1 /BaseFont /{font} >>"));
        }
        for (content, at) in pages.iter().zip(6..) {
            objects.push(format!(
                "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents {} 0 R \
                 /Resources << /Font << /F 3 0 R /C 4 0 R >> >> >>",
                4 + 2 * (at - 5)
            ));
            objects.push(format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()));
        }
        let mut text = String::from("%PDF-1.4\n");
        let mut places = String::from("0000000000 65535 f \n");
        for (object, number) in objects.iter().zip(1..) {
            writeln!(places, "{:010} 00000 n ", text.len()).unwrap();
            writeln!(text, "{number} 0 obj\n{object}\nendobj").unwrap();
        }
        let (start, count) = (text.len(), objects.len() + 1);
        write!(
            text,
            "xref\n0 {count}\n{places}trailer << /Size {count} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF"
        )
        .unwrap();
        text.into_bytes()
    }

    /// Returns content that shows a text at a place in a font and size.
    fn show(x: u32, y: u32, font: &str, text: &str) -> String {
        format!("BT /{font} Tf {x} {y} Td ({text}) Tj ET\n")
    }

    fn read_texts(bytes: &[u8]) -> Vec<(String, (u32, u32))> {
        let read = parse(bytes, &Settings::default()).unwrap();
        read.drafts.into_iter().map(|draft| (draft.content.trim().to_owned(), draft.lines)).collect()
    }

    #[test]
    fn words_lines_and_paragraphs_are_joined() {
        let page = [
            "BT /F 10 Tf 50 700 Td [(The ti) -20 (de) -300 (turns at noon and the har-)] TJ\n",
            "0 -12 Td (bour fills. The next sen-) Tj 0 -12 Td (tence ends.) Tj\n",
            "0 -30 Td (A paragraph goes on) Tj ET\n",
        ];
        let next = "BT /F 10 Tf 50 700 Td (over the page.) Tj ET";
        let texts = read_texts(&file(&[&page.concat(), next], ""));
        let expected = "The tide turns at noon and the harbour fills. The next sentence ends.\n\nA paragraph goes on over the page.";
        assert_eq!(texts, [(expected.to_owned(), (1, 1))]);
    }

    #[test]
    fn columns_are_read_one_after_the_other() {
        let mut page = show(50, 750, "F 20", "Tides");
        for row in 0..6 {
            page += &show(50, 700 - 12 * row, "F 10", &format!("left line number {row} of this long column"));
            page +=
                &show(320, 700 - 12 * row, "F 10", &format!("right line number {row} of this long column"));
        }
        let texts = read_texts(&file(&[&page], ""));
        let text = &texts[0].0;
        assert!(text.starts_with("# Tides\n\nleft line number 0"), "{text}");
        assert!(
            text.find("left line number 5").unwrap() < text.find("right line number 0").unwrap(),
            "{text}"
        );
    }

    #[test]
    fn heads_and_contents_are_left_out_and_code_is_kept() {
        let page = |(number, word): (usize, &str)| {
            let head = show(50, 780, "F 8", &format!("The book of tides {number}"));
            let body = show(50, 700, "F 10", &format!("This page speaks of {word} and of water."));
            head + &body + &show(50, 600, "F 10", "Neap tides . . . . . . . . . . 3")
        };
        let mut pages: Vec<String> =
            ["ebb", "flow", "slack", "surge"].into_iter().enumerate().map(page).collect();
        pages[2] += &(show(50, 660, "C 9", "fn tide\\(\\) {") + &show(61, 648, "C 9", "return high_water;"));
        let pages: Vec<&str> = pages.iter().map(String::as_str).collect();
        let texts = read_texts(&file(&pages, ""));
        let all: String = texts.iter().map(|(text, _)| text.as_str()).collect();
        assert!(!all.contains("book of tides") && !all.contains("Neap"), "{all}");
        let code = "of slack and of water.\n\n```\nfn tide() {\n  return high_water;\n```";
        assert!(all.contains(code), "{all}");
    }

    #[test]
    fn what_cannot_be_read_is_refused_with_its_cause() {
        let why = |bytes: &[u8]| parse(bytes, &Settings::default()).unwrap_err();
        assert_eq!(why(b"%PDF-1.4 and nothing"), "damaged: it is no whole PDF file");
        assert!(why(&file(&["0 0 m 10 10 l S"], "")).starts_with("no text on any page, as in scans"));
        let mut packed = b"%PDF-1.5\n1 0 obj << /Type /ObjStm /First 4 /N 1 >> stream\n".to_vec();
        let zeros = vec![0; 80 << 20];
        let mut packer = flate2::write::ZlibEncoder::new(&mut packed, flate2::Compression::fast());
        std::io::Write::write_all(&mut packer, &zeros).unwrap();
        packer.finish().unwrap();
        packed.extend(b"\nendstream endobj");
        assert_eq!(why(&packed), "too large: more than 64.0 MiB when unpacked");
    }

    #[test]
    fn forms_that_show_each_other_end() {
        let form = "<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Length 36 >>\nstream\n/X Do /X Do /X Do /X Do /X Do /X Do \nendstream";
        let mut bytes = file(&[&"/X Do ".repeat(9)], "");
        let text = String::from_utf8(std::mem::take(&mut bytes)).unwrap();
        let text = text.replace("/C 4 0 R >>", "/C 4 0 R >> /XObject << /X 7 0 R >>");
        // The table of objects is wrong now, and is made again from the objects.
        let text = text.replace("xref\n", &format!("7 0 obj\n{form}\nendobj\nxref\n"));
        assert!(parse(text.as_bytes(), &Settings::default()).unwrap_err().starts_with("no text"));
    }

    proptest! {
        #[test]
        fn damage_never_makes_it_panic(
            changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..9),
            length in any::<prop::sample::Index>(),
            is_cut in any::<bool>(),
        ) {
            let page = show(50, 700, "F 10", "Some words here.") + &show(50, 600, "C 10", "and more of them");
            let mut bytes = file(&[&page, &page], "/Outlines << /First << /Title (Some words here.) >> >>");
            for (at, byte) in changes {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            if is_cut {
                bytes.truncate(length.index(bytes.len()));
            }
            if let Err(why) = parse(&bytes, &Settings::default()) {
                prop_assert!(!why.contains("contradicts"), "{why}");
            }
        }
    }
}
