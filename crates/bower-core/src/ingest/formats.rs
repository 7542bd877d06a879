//! Selects the reader of a file by its extension.

use super::draft::ParsedFile;
use super::office::Office;
use super::{
    asciidoc, delimited, epub, html, info, json_lines, latex, mail, markdown, notebook, office, org, pdf,
    rst, rtf, sheets, subtitles, texinfo,
};
use crate::config::Settings;

/// Reads a whole file of one format.
pub(super) enum Reader {
    /// Reads bytes that are no text; the error is the reason why the file is skipped.
    Bytes(fn(&[u8], &Settings) -> Result<ParsedFile, String>),
    /// Reads decoded text.
    Text(fn(&str, &Settings) -> ParsedFile),
}

/// Returns the reader for an extension in lower case; `None` for source code, manual pages and all other text.
pub(super) fn reader(extension: &str) -> Option<Reader> {
    Some(match extension {
        "md" | "markdown" | "mdx" | "mdown" | "mkd" => Reader::Text(markdown::parse),
        "html" | "htm" | "xhtml" => Reader::Text(html::parse),
        "adoc" | "asciidoc" | "asc" => Reader::Text(asciidoc::parse),
        "rst" | "rest" => Reader::Text(rst::parse),
        "org" => Reader::Text(org::parse),
        "tex" | "ltx" => Reader::Text(latex::parse),
        "texi" | "texinfo" => Reader::Text(texinfo::parse),
        "rtf" => Reader::Bytes(rtf::parse),
        "epub" => Reader::Bytes(epub::parse),
        "pdf" => Reader::Bytes(pdf::parse),
        "docx" | "docm" | "dotx" => Reader::Bytes(|bytes, of| office::parse(bytes, Office::Docx, of)),
        "pptx" | "pptm" | "ppsx" => Reader::Bytes(|bytes, of| office::parse(bytes, Office::Pptx, of)),
        "odt" | "ott" | "odp" | "otp" => {
            Reader::Bytes(|bytes, of| office::parse(bytes, Office::OpenDocument, of))
        }
        "csv" | "tsv" | "tab" | "psv" => Reader::Text(delimited::parse),
        "jsonl" | "ndjson" => Reader::Text(json_lines::parse),
        "ipynb" => Reader::Bytes(notebook::parse),
        "xlsx" | "xlsm" | "xltx" | "xls" => Reader::Bytes(sheets::parse_xlsx),
        "ods" | "ots" => Reader::Bytes(sheets::parse_ods),
        "eml" => Reader::Bytes(mail::parse_message),
        "mbox" | "mbx" => Reader::Bytes(mail::parse_mailbox),
        "srt" | "vtt" | "sbv" => Reader::Text(subtitles::parse),
        info if info::is_extension(info) => Reader::Bytes(info::parse),
        "ass" | "ssa" => Reader::Text(subtitles::parse_events),
        _ => return None,
    })
}

/// Whether the reader of this extension gives each chunk its own tags. Those of other readers are the whole document's.
pub(super) fn tags_chunks(extension: &str) -> bool {
    matches!(extension, "md" | "markdown" | "mdx" | "mdown" | "mkd")
}

/// Whether files with this extension in lower case are what people write for people: notes, pages, papers, slides. They get
/// the tags of their folders. Source code, tables, mail and subtitles do not: their folders are names of modules or of
/// machines, and would be the tags of most of a repository.
pub(super) fn is_prose(extension: &str) -> bool {
    matches!(
        extension,
        "md" | "markdown"
            | "mdx"
            | "mdown"
            | "mkd"
            | "html"
            | "htm"
            | "xhtml"
            | "adoc"
            | "asciidoc"
            | "asc"
            | "rst"
            | "rest"
            | "org"
            | "tex"
            | "ltx"
            | "texi"
            | "texinfo"
            | "rtf"
            | "epub"
            | "pdf"
            | "docx"
            | "docm"
            | "dotx"
            | "pptx"
            | "pptm"
            | "ppsx"
            | "odt"
            | "ott"
            | "odp"
            | "otp"
            | "txt"
            | "text"
    )
}
