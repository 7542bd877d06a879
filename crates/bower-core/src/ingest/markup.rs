//! Tokenizes HTML into tags, attributes and character references.
//! Each byte is read a bounded number of times, even if tags are never closed.

use pulldown_cmark::{Event, Parser};
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

/// Elements whose text is not for readers.
const SILENT: &[&str] = &["canvas", "datalist", "object", "select", "svg", "template"];
/// Elements that surround the content of a page.
const AROUND: &[&str] = &["button", "dialog", "footer", "menu", "nav"];
/// Roles of elements that surround the content of a page.
const ROLES_AROUND: &[&str] = &[
    "alertdialog",
    "complementary",
    "contentinfo",
    "dialog",
    "doc-toc",
    "menu",
    "menubar",
    "navigation",
    "search",
];
/// Elements whose content is no HTML: only their end tag ends it (HTML standard, 13.2.5.1 and 13.2.6.4).
pub(super) const RAW: &[&str] =
    &["iframe", "noembed", "noframes", "script", "style", "textarea", "title", "xmp"];
/// Elements that begin a paragraph.
pub(super) const BLOCKS: &[&str] = &[
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "center",
    "dd",
    "details",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "form",
    "header",
    "hgroup",
    "hr",
    "main",
    "optgroup",
    "option",
    "p",
    "search",
    "section",
    "summary",
];
/// Which text that is not the content of a page leaves no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Boilerplate {
    /// What is marked as such or stands where it usually stands: for pages of the web.
    Dropped,
    /// What is marked as such by a name, role or attribute: for chapters and messages, which nothing surrounds.
    MarkedDropped,
    Kept,
}

/// A cache of decoded character references, because decoding each one with the Markdown parser is slow.
#[derive(Default)]
pub(super) struct References {
    known: HashMap<String, String>,
}

impl References {
    /// Decodes character references with the table of the Markdown parser.
    pub(super) fn decode(&mut self, html: &str) -> String {
        let mut text = String::with_capacity(html.len());
        let mut rest = html;
        while let Some(at) = rest.find('&') {
            text.push_str(&rest[..at]);
            rest = &rest[at..];
            // The longest name of the standard has 31 letters.
            let end = rest.bytes().take(34).position(|byte| byte == b';');
            let Some(end) = end.filter(|&end| {
                end > 1 && rest[1..end].bytes().all(|b| b.is_ascii_alphanumeric() || b == b'#')
            }) else {
                text.push('&');
                rest = &rest[1..];
                continue;
            };
            let reference = &rest[..=end];
            if let Some(known) = self.known.get(reference) {
                text.push_str(known);
            } else {
                let decoded = decode_reference(reference);
                text.push_str(&decoded);
                if self.known.len() < 4_096 {
                    self.known.insert(reference.to_owned(), decoded);
                }
            }
            rest = &rest[end + 1..];
        }
        text.push_str(rest);
        text
    }
}

fn decode_reference(reference: &str) -> String {
    let mut text = String::new();
    for event in Parser::new(reference) {
        if let Event::Text(piece) = event {
            text.push_str(&piece);
        }
    }
    // References to white space alone would make an empty paragraph.
    match reference {
        "&nbsp;" | "&#160;" | "&#32;" | "&ensp;" | "&emsp;" | "&thinsp;" => " ".into(),
        "&Tab;" | "&#9;" => "\t".into(),
        "&NewLine;" | "&#10;" => "\n".into(),
        "&shy;" | "&#173;" => String::new(),
        _ if text.is_empty() => reference.into(),
        _ => text,
    }
}

/// Whether an element's text is not for readers.
pub(super) fn is_silent(name: &str) -> bool {
    SILENT.contains(&name)
}

/// Whether an element surrounds the content of a page, by its name, its role (WAI-ARIA 1.2, DPUB-ARIA 1.1) or its attributes.
///
/// An `<aside>` in a section of the text is a part of that.
pub(super) fn is_landmark(name: &str, attributes: &str, in_section: bool) -> bool {
    let void = matches!(
        name,
        "img"
            | "br"
            | "hr"
            | "input"
            | "meta"
            | "link"
            | "area"
            | "base"
            | "col"
            | "embed"
            | "source"
            | "track"
            | "wbr"
    );
    // Their end tags may be omitted, so content inside and after them cannot be distinguished.
    let open_ended =
        matches!(name, "p" | "li" | "td" | "th" | "tr" | "dt" | "dd" | "body" | "html" | "option");
    let role = |role: &str| ROLES_AROUND.contains(&role);
    !void
        && !open_ended
        && (AROUND.contains(&name)
            || name == "aside" && !in_section
            || attribute(attributes, "role").is_some_and(role)
            || attribute(attributes, "aria-hidden") == Some("true")
            || attribute(attributes, "hidden").is_some_and(|how| !how.eq_ignore_ascii_case("until-found")))
}

pub(super) fn self_closed(attributes: &str) -> bool {
    attributes.trim_end().ends_with('/')
}

/// Returns `rust` for `class="language-rust"` or `lang-rust`. Only letters, digits and a few signs are accepted, so
/// that the fence stays intact.
pub(super) fn language(attributes: &str) -> String {
    let classes = attribute(attributes, "class").unwrap_or_default();
    let name = classes
        .split_whitespace()
        .find_map(|class| class.strip_prefix("language-").or_else(|| class.strip_prefix("lang-")))
        .unwrap_or_default();
    let plain = name.len() < 30 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-#_.".contains(&b));
    if plain { name.to_owned() } else { String::new() }
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum MarkupKind {
    /// A `<` that opens no tag.
    Text,
    /// Comments, declarations, tags that never end.
    Nothing,
    Open(String),
    Close(String),
}

pub(super) struct MarkupToken {
    pub kind: MarkupKind,
    pub attributes: Range<usize>,
    pub end: usize,
}

/// Returns the tag or comment at a `<`.
pub(super) fn token(html: &str, at: usize) -> MarkupToken {
    let rest = &html[at + 1..];
    let nothing = |end: usize| MarkupToken { kind: MarkupKind::Nothing, attributes: end..end, end };
    if let Some(comment) = rest.strip_prefix("!--") {
        let start = html.len() - comment.len();
        let end = if comment.starts_with('>') { Some(0) } else { comment.find("-->").map(|end| end + 2) };
        return nothing(end.map_or(html.len(), |end| start + end + 1));
    }
    if rest.starts_with("![CDATA[") {
        return nothing(rest.find("]]>").map_or(html.len(), |end| at + end + 4));
    }
    if rest.starts_with(['!', '?']) {
        return nothing(rest.find('>').map_or(html.len(), |end| at + end + 2));
    }
    let closing = rest.starts_with('/');
    let name_start = at + 1 + usize::from(closing);
    let name = &html[name_start..];
    if !name.starts_with(|letter: char| letter.is_ascii_alphabetic()) {
        return MarkupToken { kind: MarkupKind::Text, attributes: at..at, end: at + 1 };
    }
    let name_end =
        name.find(|letter: char| letter.is_whitespace() || matches!(letter, '>' | '/')).unwrap_or(name.len());
    let attributes_start = name_start + name_end;
    let bytes = html.as_bytes();
    let mut end = attributes_start;
    let mut quote = None;
    let mut before = b' ';
    while end < bytes.len() {
        let byte = bytes[end];
        match quote {
            Some(mark) if byte == mark => quote = None,
            // A quotation mark opens a value only after `=`.
            None if matches!(byte, b'"' | b'\'') && before == b'=' => quote = Some(byte),
            None if byte == b'>' => break,
            Some(_) | None => {}
        }
        if !byte.is_ascii_whitespace() {
            before = byte;
        }
        end += 1;
    }
    if end == bytes.len() {
        return nothing(end);
    }
    // No element has a longer name; this avoids copying a megabyte of letters.
    let name = if name_end <= 32 { name[..name_end].to_ascii_lowercase() } else { String::new() };
    let kind = if closing { MarkupKind::Close(name) } else { MarkupKind::Open(name) };
    MarkupToken { kind, attributes: attributes_start..end, end: end + 1 }
}

/// Replaces each `<` that is not soon followed by `>`. From every such bracket the parser searches for the end of a tag
/// (100 KB of `<a` and line ends took longer than 15 s). Texts with few of them are unchanged.
pub(super) fn without_open_brackets(text: &str) -> Cow<'_, str> {
    const FEW: usize = 500;
    const SOON: usize = 500;
    if text.bytes().filter(|&byte| byte == b'<').nth(FEW).is_none() {
        return Cow::Borrowed(text);
    }
    let mut closed = usize::MAX;
    let mut readable: Vec<u8> = text.bytes().collect();
    for (at, byte) in readable.iter_mut().enumerate().rev() {
        match *byte {
            b'>' => closed = at,
            b'<' if closed == usize::MAX || closed - at > SOON => *byte = b'.',
            _ => {}
        }
    }
    Cow::Owned(String::from_utf8(readable).expect("one ASCII byte took the place of another"))
}

/// Returns where the end tag of an element with raw content begins.
pub(super) fn raw_end(html: &str, from: usize, name: &str) -> usize {
    let mut at = from;
    while let Some(found) = html[at..].find("</") {
        at += found;
        let tag = &html.as_bytes()[at + 2..];
        if tag.len() >= name.len() && tag[..name.len()].eq_ignore_ascii_case(name.as_bytes()) {
            return at;
        }
        at += 2;
    }
    html.len()
}

/// Returns the value of an attribute; empty if it has none.
pub(super) fn attribute<'a>(attributes: &'a str, wanted: &str) -> Option<&'a str> {
    let mut rest = attributes.trim_start();
    while !rest.is_empty() {
        let end = rest.find(|letter: char| letter.is_whitespace() || letter == '=').unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        let after = after.trim_start();
        let (value, after) = match after.strip_prefix('=') {
            None => ("", after),
            Some(value) => {
                let value = value.trim_start();
                match value.chars().next() {
                    Some(mark @ ('"' | '\'')) => value[1..].split_once(mark).unwrap_or((&value[1..], "")),
                    _ => value.split_at(value.find(char::is_whitespace).unwrap_or(value.len())),
                }
            }
        };
        if name.eq_ignore_ascii_case(wanted) {
            return Some(value);
        }
        rest = after.trim_start();
    }
    None
}
