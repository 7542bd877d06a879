//! HTML to Markdown in one pass without a tree, then chunks as for Markdown. Linear in the input, whatever its nesting.

use pulldown_cmark::{Event, Parser};
use std::collections::HashMap;
use std::ops::Range;

use super::markdown;
use super::parse::Reading;
use crate::config::Settings;

/// Converts and chunks a page. Its title is `<title>`, else the first heading of level 1.
pub(super) fn parse(text: &str, settings: &Settings) -> Reading {
    let mut page = Page::read(text, Boilerplate::Dropped);
    if page.out.trim().is_empty() {
        // A page that is nothing but navigation, or whose <nav> is never closed.
        page = Page::read(text, Boilerplate::Kept);
    }
    let (heading, mut drafts) = markdown::chunks(&page.out, 0, 0, settings);
    for draft in &mut drafts {
        // A `#word` on a page is text or a link's address, not somebody's tag.
        draft.tags.clear();
        let source = |line: u32| page.lines.get(line as usize - 1).copied().unwrap_or(1);
        let (first, last) = (source(draft.lines.0), source(draft.lines.1));
        draft.lines = (first.min(last), first.max(last));
    }
    let title = page.title.split_whitespace().collect::<Vec<_>>().join(" ");
    Reading { title: Some(title).filter(|title| !title.is_empty()).or(heading), drafts, ..Reading::default() }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Boilerplate {
    Dropped,
    Kept,
}

/// Elements whose text is not for readers.
const SILENT: &[&str] = &["canvas", "datalist", "object", "select", "svg", "template"];
/// Elements that surround the content of a page.
const AROUND: &[&str] = &["button", "dialog", "footer", "menu", "nav"];
/// Elements whose content is no HTML: it ends at their end tag only (HTML standard, 13.2.5.1 and 13.2.6.4).
const RAW: &[&str] =
    &["iframe", "noembed", "noframes", "script", "style", "textarea", "title", "xmp"];
/// Elements that begin a paragraph of their own.
const BLOCKS: &[&str] = &[
    "address", "article", "aside", "blockquote", "body", "center", "dd", "details", "div", "dl", "dt", "fieldset",
    "figcaption", "figure", "form", "header", "hgroup", "hr", "main", "optgroup", "option", "p", "search", "section",
    "summary",
];
/// Deeper lists are written at this depth: indentation would grow with the square of the depth.
const LIST_DEPTH: usize = 8;

/// A page while it is converted.
struct Page {
    out: String,
    /// The source line of each line of `out`.
    lines: Vec<u32>,
    title: String,
    /// The line being read.
    line: u32,
    /// Text that has no place of its own yet: white space, line ends, a heading's or list item's mark.
    space: bool,
    breaks: usize,
    mark: String,
    lists: Vec<Option<u32>>,
    lists_too_deep: usize,
    code: usize,
    /// The text of `<pre>`, its language, and the line where it began.
    pre: Option<(String, String, u32)>,
    heading: bool,
    table: Table,
    /// Output inside the outermost `<main>` or `<article>`.
    main: Vec<Range<usize>>,
    main_depth: usize,
    main_start: usize,
    entities: HashMap<String, String>,
}

/// Where a table is. A table that holds headings, lists or tables is a layout: its cells become paragraphs.
#[derive(Default)]
struct Table {
    depth: usize,
    layout: bool,
    cells: usize,
    rows: usize,
    in_row: bool,
}

impl Page {
    fn read(html: &str, boilerplate: Boilerplate) -> Self {
        let mut page = Self {
            out: String::with_capacity(html.len() / 2),
            lines: vec![1],
            title: String::new(),
            line: 1,
            space: false,
            breaks: 0,
            mark: String::new(),
            lists: Vec::new(),
            lists_too_deep: 0,
            code: 0,
            pre: None,
            heading: false,
            table: Table::default(),
            main: Vec::new(),
            main_depth: 0,
            main_start: 0,
            entities: HashMap::new(),
        };
        page.convert(html, boilerplate);
        page.end_pre();
        if page.main_depth > 0 {
            page.main.push(page.main_start..page.out.len());
        }
        page.keep_main();
        page
    }

    fn convert(&mut self, html: &str, boilerplate: Boilerplate) {
        let mut at = 0;
        // An element whose content is left out, and how many of that name are open inside it.
        let mut silent: Option<(String, usize)> = None;
        while at < html.len() {
            let next = html[at..].find('<').map_or(html.len(), |found| at + found);
            if silent.is_none() {
                self.text(&html[at..next]);
            } else {
                self.count_lines(&html[at..next]);
            }
            if next == html.len() {
                break;
            }
            let token = token(html, next);
            match &token.kind {
                Kind::Text => {
                    if silent.is_none() {
                        self.text(&html[next..token.end]);
                    }
                }
                Kind::Nothing => {}
                Kind::Open(name) => {
                    let attributes = &html[token.attributes.clone()];
                    let mut end = token.end;
                    if RAW.contains(&name.as_str()) {
                        end = raw_end(html, token.end, name);
                        if name == "title" && silent.is_none() && self.title.is_empty() {
                            self.title = self.decode(&html[token.end..end]);
                        }
                        if name == "textarea" || name == "xmp" {
                            self.paragraph();
                        }
                    } else if let Some((outer, depth)) = &mut silent {
                        *depth += usize::from(outer == name);
                    } else if !self_closed(attributes) && is_silent(name, attributes, boilerplate) {
                        silent = Some((name.clone(), 1));
                    } else {
                        self.open(name, attributes);
                    }
                    self.count_lines(&html[next..end]);
                    at = end;
                    continue;
                }
                Kind::Close(name) => match &mut silent {
                    Some((outer, depth)) if outer == name => {
                        *depth -= 1;
                        if *depth == 0 {
                            silent = None;
                        }
                    }
                    Some(_) => {}
                    None => self.close(name),
                },
            }
            if token.kind != Kind::Text || silent.is_some() {
                self.count_lines(&html[next..token.end]);
            }
            at = token.end;
        }
    }

    fn count_lines(&mut self, html: &str) {
        self.line += html.bytes().filter(|&byte| byte == b'\n').count() as u32;
    }

    fn open(&mut self, name: &str, attributes: &str) {
        match name {
            "main" | "article" => {
                self.paragraph();
                if self.main_depth == 0 {
                    self.main_start = self.out.len();
                }
                self.main_depth += 1;
            }
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.leave_row();
                self.paragraph();
                self.heading = true;
                self.mark = format!("{} ", "#".repeat(usize::from(name.as_bytes()[1] - b'0')));
            }
            "ul" | "ol" => {
                self.leave_row();
                self.line_break(if self.lists.is_empty() { 2 } else { 1 });
                if self.lists.len() < LIST_DEPTH {
                    self.lists.push((name == "ol").then_some(1));
                } else {
                    self.lists_too_deep += 1;
                }
            }
            "li" => {
                self.line_break(1);
                let indent = "  ".repeat(self.lists.len().saturating_sub(1));
                self.mark = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        format!("{indent}{}. ", *number - 1)
                    }
                    _ => format!("{indent}- "),
                };
            }
            "pre" => {
                self.leave_row();
                self.paragraph();
                let _ = self.pre.get_or_insert_with(|| (String::new(), language(attributes), self.line));
            }
            "code" | "kbd" | "samp" | "tt" => match &mut self.pre {
                Some((_, known, _)) => {
                    if known.is_empty() {
                        *known = language(attributes);
                    }
                }
                None => {
                    self.code += 1;
                    if self.code == 1 {
                        self.put("`");
                    }
                }
            },
            "br" => match &mut self.pre {
                Some((code, _, _)) => code.push('\n'),
                None => self.line_break(1),
            },
            "img" => {
                if let Some(alt) = attribute(attributes, "alt") {
                    self.text_without_lines(alt);
                }
            }
            "table" => {
                self.leave_row();
                self.paragraph();
                self.table = Table { depth: self.table.depth + 1, layout: self.table.depth > 0, ..Table::default() };
            }
            "tr" => self.end_row(),
            "td" | "th" => self.cell(),
            "caption" | "thead" | "tbody" | "tfoot" => self.end_row(),
            _ if BLOCKS.contains(&name) => self.paragraph(),
            _ => {}
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "main" | "article" => {
                self.paragraph();
                if self.main_depth == 1 {
                    self.main.push(self.main_start..self.out.len());
                }
                self.main_depth = self.main_depth.saturating_sub(1);
            }
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.paragraph();
                self.heading = false;
                self.mark.clear();
            }
            "ul" | "ol" => {
                if self.lists_too_deep > 0 {
                    self.lists_too_deep -= 1;
                } else {
                    self.lists.pop();
                }
                self.line_break(if self.lists.is_empty() { 2 } else { 1 });
                self.mark.clear();
            }
            "pre" => self.end_pre(),
            "code" | "kbd" | "samp" | "tt" if self.pre.is_none() && self.code > 0 => {
                self.code -= 1;
                if self.code == 0 {
                    self.space = false;
                    self.out.push('`');
                }
            }
            "tr" => self.end_row(),
            "table" => {
                self.end_row();
                self.paragraph();
                // What is left of a table around this one is a layout.
                self.table = Table { depth: self.table.depth.saturating_sub(1), layout: true, ..Table::default() };
            }
            _ if BLOCKS.contains(&name) => self.paragraph(),
            _ => {}
        }
    }

    /// The next text begins a paragraph (in a row of a table or a heading: after a space).
    fn paragraph(&mut self) {
        self.line_break(2);
    }

    fn line_break(&mut self, breaks: usize) {
        if self.pre.is_some() {
            return;
        }
        if self.table.in_row || (self.heading && self.mark.is_empty()) && breaks == 1 {
            self.space = true;
        } else {
            self.breaks = self.breaks.max(breaks);
        }
    }

    fn cell(&mut self) {
        if self.table.depth == 0 || self.table.layout {
            return self.paragraph();
        }
        if !self.table.in_row {
            self.breaks = self.breaks.max(if self.table.rows == 0 { 2 } else { 1 });
            self.mark.clear();
            self.table.in_row = true;
            self.table.cells = 0;
            self.flush_breaks();
        }
        self.table.cells += 1;
        self.space = false;
        self.out.push_str(if self.table.cells == 1 { "| " } else { " | " });
    }

    fn end_row(&mut self) {
        if !self.table.in_row {
            return self.line_break(2);
        }
        self.out.push_str(" |");
        self.table.in_row = false;
        self.table.rows += 1;
        self.space = false;
        if self.table.rows == 1 {
            self.newline();
            self.out.push('|');
            for _ in 0..self.table.cells {
                self.out.push_str(" --- |");
            }
        }
        self.breaks = 1;
    }

    /// A block inside a cell: from here on the table is a layout.
    fn leave_row(&mut self) {
        if self.table.depth > 0 {
            self.table.layout = true;
            if self.table.in_row {
                self.table.in_row = false;
                self.breaks = 2;
            }
        }
    }

    fn end_pre(&mut self) {
        let Some((code, language, line)) = self.pre.take() else { return };
        let code = code.trim_matches('\n').trim_end();
        if code.is_empty() {
            return;
        }
        let fence = "`".repeat(longest_run(code, '`').max(2) + 1);
        self.paragraph();
        self.mark.clear();
        self.flush_breaks();
        let now = std::mem::replace(&mut self.line, line);
        for (at, row) in [format!("{fence}{language}").as_str()].into_iter().chain(code.split('\n')).enumerate() {
            if at > 0 {
                self.newline();
                // Code begins right after its tag, as a rule.
                self.line = (line + at as u32 - 1).min(now);
                if let Some(last) = self.lines.last_mut() {
                    *last = self.line;
                }
            }
            self.out.push_str(row);
        }
        self.line = now;
        self.newline();
        self.out.push_str(&fence);
        self.paragraph();
    }

    /// Text between tags: entities decoded, white space collapsed outside `<pre>`.
    fn text(&mut self, html: &str) {
        if self.pre.is_some() {
            let decoded = self.decode(html);
            if let Some((code, _, _)) = &mut self.pre {
                code.push_str(&decoded);
            }
            self.count_lines(html);
            return;
        }
        let mut rest = html;
        while !rest.is_empty() {
            let end = rest.find('\n').map_or(rest.len(), |at| at + 1);
            self.text_without_lines(&rest[..end]);
            self.count_lines(&rest[..end]);
            rest = &rest[end..];
        }
    }

    fn text_without_lines(&mut self, html: &str) {
        let decoded = self.decode(html);
        if let Some((code, _, _)) = &mut self.pre {
            code.push_str(&decoded);
            return;
        }
        self.space |= decoded.starts_with(|letter: char| letter.is_whitespace());
        for (at, word) in decoded.split_whitespace().enumerate() {
            self.space |= at > 0;
            self.put(word);
        }
        self.space |= decoded.ends_with(|letter: char| letter.is_whitespace());
    }

    /// One word, after what was waiting for it.
    fn put(&mut self, word: &str) {
        self.flush_breaks();
        let at_start = self.out.is_empty() || self.out.ends_with('\n');
        if at_start {
            if let Some(last) = self.lines.last_mut() {
                *last = self.line;
            }
            if self.mark.is_empty() {
                // Text must not become a heading, quotation, fence or comment.
                if word.starts_with(['#', '>', '<', '~', '=']) || word.starts_with("```") || word.starts_with("--") {
                    self.out.push('\\');
                }
            } else {
                let mark = std::mem::take(&mut self.mark);
                self.out.push_str(&mark);
            }
        } else if self.space && !self.out.ends_with(' ') {
            self.out.push(' ');
        }
        self.space = false;
        if self.table.in_row && word.contains('|') {
            self.out.push_str(&word.replace('|', "\\|"));
        } else {
            self.out.push_str(word);
        }
    }

    fn flush_breaks(&mut self) {
        if self.breaks > 0 {
            if !self.out.is_empty() {
                let have = self.out.len() - self.out.trim_end_matches('\n').len();
                for _ in have.min(2)..self.breaks {
                    self.newline();
                }
            }
            self.breaks = 0;
            self.space = false;
        }
    }

    fn newline(&mut self) {
        self.out.push('\n');
        self.lines.push(self.line);
    }

    /// Where `<main>` or `<article>` hold a good part of the text, the rest is dropped.
    fn keep_main(&mut self) {
        let inside: usize = self.main.iter().map(Range::len).sum();
        if self.main.is_empty() || inside * 4 < self.out.len() {
            return;
        }
        let (mut out, mut lines) = (String::with_capacity(inside + 2), Vec::new());
        let mut line = 0;
        let mut counted = 0;
        for range in &self.main {
            // A range begins before the line ends that were still waiting.
            let skipped = self.out[range.clone()].len() - self.out[range.clone()].trim_start_matches('\n').len();
            let range = range.start + skipped..range.end;
            let part = self.out[range.clone()].trim_end();
            if part.is_empty() {
                continue;
            }
            line += self.out[counted..range.start].matches('\n').count();
            counted = range.start;
            if !out.is_empty() {
                out.push_str("\n\n");
                lines.push(self.lines[line]);
            }
            out.push_str(part);
            lines.extend(&self.lines[line..=line + part.matches('\n').count()]);
        }
        (self.out, self.lines) = (out, lines);
    }

    /// Character references decoded, with the table of the Markdown parser.
    fn decode(&mut self, html: &str) -> String {
        let mut text = String::with_capacity(html.len());
        let mut rest = html;
        while let Some(at) = rest.find('&') {
            text.push_str(&rest[..at]);
            rest = &rest[at..];
            // The longest name of the standard has 31 letters.
            let end = rest.bytes().take(34).position(|byte| byte == b';');
            let Some(end) = end.filter(|&end| end > 1 && rest[1..end].bytes().all(|b| b.is_ascii_alphanumeric() || b == b'#'))
            else {
                text.push('&');
                rest = &rest[1..];
                continue;
            };
            let reference = &rest[..=end];
            match self.entities.get(reference) {
                Some(known) => text.push_str(known),
                None => {
                    let decoded = decode_reference(reference);
                    text.push_str(&decoded);
                    if self.entities.len() < 4_096 {
                        self.entities.insert(reference.to_owned(), decoded);
                    }
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
    // References to white space alone make an empty paragraph.
    match reference {
        "&nbsp;" | "&#160;" | "&#32;" | "&ensp;" | "&emsp;" | "&thinsp;" => " ".into(),
        "&Tab;" | "&#9;" => "\t".into(),
        "&NewLine;" | "&#10;" => "\n".into(),
        "&shy;" | "&#173;" => String::new(),
        _ if text.is_empty() => reference.into(),
        _ => text,
    }
}

fn longest_run(text: &str, mark: char) -> usize {
    text.split(|letter| letter != mark).map(str::len).max().unwrap_or_default()
}

fn is_silent(name: &str, attributes: &str, boilerplate: Boilerplate) -> bool {
    if SILENT.contains(&name) {
        return true;
    }
    let void = matches!(name, "img" | "br" | "hr" | "input" | "meta" | "link" | "area" | "base" | "col" | "embed" | "source" | "track" | "wbr");
    // Their end tags may be left out, so what follows could not be told from what is inside.
    let open_ended = matches!(name, "p" | "li" | "td" | "th" | "tr" | "dt" | "dd" | "body" | "html" | "option");
    boilerplate == Boilerplate::Dropped
        && !void
        && !open_ended
        && (AROUND.contains(&name)
            || attribute(attributes, "role").is_some_and(|role| matches!(role, "navigation" | "search" | "contentinfo"))
            || attribute(attributes, "aria-hidden") == Some("true")
            || attribute(attributes, "hidden").is_some())
}

fn self_closed(attributes: &str) -> bool {
    attributes.trim_end().ends_with('/')
}

/// `rust` of `class="language-rust"` or `lang-rust`; only letters, digits and a few signs, so that the fence stays one.
fn language(attributes: &str) -> String {
    let classes = attribute(attributes, "class").unwrap_or_default();
    let name = classes
        .split_whitespace()
        .find_map(|class| class.strip_prefix("language-").or_else(|| class.strip_prefix("lang-")))
        .unwrap_or_default();
    let plain = name.len() < 30 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-#_.".contains(&b));
    if plain { name.to_owned() } else { String::new() }
}

#[derive(Debug, PartialEq, Eq)]
enum Kind {
    /// `<` that opens no tag.
    Text,
    /// Comments, declarations, tags that never end.
    Nothing,
    Open(String),
    Close(String),
}

struct Token {
    kind: Kind,
    attributes: Range<usize>,
    end: usize,
}

/// The tag or comment at a `<`.
fn token(html: &str, at: usize) -> Token {
    let rest = &html[at + 1..];
    let nothing = |end: usize| Token { kind: Kind::Nothing, attributes: end..end, end };
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
        return Token { kind: Kind::Text, attributes: at..at, end: at + 1 };
    }
    let name_end = name.find(|letter: char| letter.is_whitespace() || matches!(letter, '>' | '/')).unwrap_or(name.len());
    let attributes_start = name_start + name_end;
    let bytes = html.as_bytes();
    let mut end = attributes_start;
    let mut quote = None;
    let mut before = b' ';
    while end < bytes.len() {
        let byte = bytes[end];
        match quote {
            Some(mark) if byte == mark => quote = None,
            Some(_) => {}
            // A quotation mark opens a value only after `=`.
            None if matches!(byte, b'"' | b'\'') && before == b'=' => quote = Some(byte),
            None if byte == b'>' => break,
            None => {}
        }
        if !byte.is_ascii_whitespace() {
            before = byte;
        }
        end += 1;
    }
    if end == bytes.len() {
        return nothing(end);
    }
    // No element has a longer name; a megabyte of letters is not copied.
    let name = if name_end <= 32 { name[..name_end].to_ascii_lowercase() } else { String::new() };
    let kind = if closing { Kind::Close(name) } else { Kind::Open(name) };
    Token { kind, attributes: attributes_start..end, end: end + 1 }
}

/// Where the end tag of an element with raw content begins.
fn raw_end(html: &str, from: usize, name: &str) -> usize {
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

/// The value of an attribute; empty where it has none.
fn attribute<'a>(attributes: &'a str, wanted: &str) -> Option<&'a str> {
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
