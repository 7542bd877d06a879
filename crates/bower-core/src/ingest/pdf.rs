//! Reads PDF files: the text of each page in reading order, as Markdown.
//! The lines of a chunk are the numbers of its pages.
//!
//! Source: ISO 32000-2. The file's syntax and its fonts are read by `hayro-syntax` and `hayro-font`.

mod content;
mod fonts;
mod layout;
mod prose;
mod unpack;
mod words;

use hayro_syntax::{DecryptionError, LoadPdfError, Pdf};

use super::draft::ParsedFile;
use crate::config::Settings;
use prose::PageLines;

/// Reads a whole file; the error is the reason why it is skipped.
pub(super) fn parse(bytes: &[u8], settings: &Settings) -> Result<ParsedFile, String> {
    let pdf = Pdf::new(bytes.to_vec()).map_err(|source| match source {
        LoadPdfError::Decryption(DecryptionError::PasswordProtected) => {
            "an encrypted PDF: save it without a password".to_owned()
        }
        LoadPdfError::Decryption(_) => {
            "an encrypted PDF of an unknown kind: save it without a password".to_owned()
        }
        LoadPdfError::Invalid => "damaged: it is no whole PDF file".to_owned(),
    })?;
    let mut fonts = fonts::Fonts::new();
    let mut budget = unpack::Budget::new();
    let mut pages = Vec::new();
    for (page, number) in pdf.pages().iter().zip(1_u32..) {
        let words = content::words(page, &mut fonts, &mut budget);
        pages.push(PageLines { number, lines: layout::lines(words) });
        if !budget.is_left() {
            break;
        }
    }
    if pages.iter().all(|page| page.lines.is_empty()) {
        return Err(
            "no text on any page, as in scanned pages: recognise its text (OCR), and save it as PDF".into()
        );
    }
    let out = prose::write(&pages);
    let (heading, drafts) = out.chunks(settings);
    Ok(ParsedFile { title: heading, drafts, ..ParsedFile::default() })
}

/// Returns a text string (ISO 32000-2, 7.9.2.2): UTF-16, UTF-8, or one byte a letter, read here as Latin-1.
fn text_string(bytes: &[u8]) -> String {
    match bytes {
        [0xFE, 0xFF, rest @ ..] => {
            let units = rest.as_chunks::<2>().0.iter().map(|&pair| u16::from_be_bytes(pair));
            char::decode_utf16(units).map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
        }
        [0xEF, 0xBB, 0xBF, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        _ => bytes.iter().map(|&byte| char::from(byte)).collect(),
    }
}
