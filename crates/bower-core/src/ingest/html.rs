//! Converts HTML to Markdown without a tree, and chunks it like Markdown.
//! It is linear in the input, whatever its nesting, and records the source line of each line. (`htmd` overflows the
//! stack on 20,000 `<div>`, takes quadratic time for attributes, and drops the lines.)

use super::converted::{self, LIST_DEPTH};
use super::draft::ParsedFile;
use super::main_content::{around_content, marked};
use super::markup::{
    BLOCKS, Boilerplate, MarkupKind, RAW, References, attribute, is_silent, language, raw_end, self_closed,
    token,
};
use super::split::one_line;
use crate::config::Settings;

/// Converts and chunks the content of a page of the web. Its title is `<title>`, else its first heading.
pub(super) fn parse(text: &str, settings: &Settings) -> ParsedFile {
    chunked(text, Boilerplate::Dropped, settings)
}

/// Converts and chunks a chapter of a book.
pub(super) fn parse_chapter(text: &str, settings: &Settings) -> ParsedFile {
    chunked(text, Boilerplate::MarkedDropped, settings)
}

fn chunked(text: &str, boilerplate: Boilerplate, settings: &Settings) -> ParsedFile {
    let page = Page::read_any(text, boilerplate);
    let (heading, drafts) = converted::chunks(&page.out, &page.lines, settings);
    let title = one_line(&page.title);
    ParsedFile {
        title: Some(title).filter(|title| !title.is_empty()).or(heading),
        drafts,
        ..ParsedFile::default()
    }
}

/// Converts a message to Markdown.
pub(super) fn markdown(text: &str) -> String {
    Page::read_any(text, Boilerplate::MarkedDropped).out
}

/// The state of a page's conversion.
struct Page {
    out: String,
    /// The source line of each line of `out`.
    lines: Vec<u32>,
    title: String,
    /// The current line.
    line: u32,
    /// Output that waits for the next text: white space, line ends, a heading's or list item's mark.
    space: bool,
    breaks: usize,
    mark: String,
    lists: Vec<Option<u32>>,
    lists_too_deep: usize,
    code: usize,
    /// The text of `<pre>`, its language, and the line where it began.
    pre: Option<(String, String, u32)>,
    heading: bool,
    /// Whether a link to a place in the page is open.
    in_page_link: bool,
    table: Table,
    references: References,
}

/// The state of tables. A table that contains headings, lists or tables is a layout: its cells become paragraphs.
#[derive(Default)]
struct Table {
    depth: usize,
    layout: bool,
    cells: usize,
    rows: usize,
    in_row: bool,
}

impl Page {
    /// Reads a page without its boilerplate, unless that is all it has.
    fn read_any(html: &str, boilerplate: Boilerplate) -> Self {
        let page = Self::read(html, boilerplate);
        if page.out.trim().is_empty() { Self::read(html, Boilerplate::Kept) } else { page }
    }

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
            in_page_link: false,
            table: Table::default(),
            references: References::default(),
        };
        page.convert(html, boilerplate);
        page.end_pre();
        page
    }

    fn convert(&mut self, html: &str, boilerplate: Boilerplate) {
        let mut at = 0;
        let mut dropped = match boilerplate {
            Boilerplate::Dropped => around_content(html),
            Boilerplate::MarkedDropped => marked(html),
            Boilerplate::Kept => Vec::new(),
        }
        .into_iter()
        .peekable();
        // The current element whose content is left out, and how many of that name are open inside it.
        let mut silent: Option<(String, usize)> = None;
        while at < html.len() {
            if let Some(range) = dropped.next_if(|range| range.start <= at) {
                // It lies between two tags: the text before and after it is not one word.
                self.count_lines(&html[at..range.end.max(at)]);
                at = range.end.max(at);
                self.paragraph();
                continue;
            }
            let next = html[at..].find('<').map_or(html.len(), |found| at + found);
            let next = dropped.peek().map_or(next, |range| next.min(range.start));
            if silent.is_none() {
                self.text(&html[at..next]);
            } else {
                self.count_lines(&html[at..next]);
            }
            if next == html.len() {
                break;
            }
            if !html[next..].starts_with('<') || dropped.peek().is_some_and(|range| range.start == next) {
                at = next;
                continue;
            }
            let token = token(html, next);
            match &token.kind {
                MarkupKind::Text => {
                    if silent.is_none() {
                        self.text(&html[next..token.end]);
                    }
                }
                MarkupKind::Nothing => {}
                MarkupKind::Open(name) => {
                    let attributes = &html[token.attributes.clone()];
                    let mut end = token.end;
                    if RAW.contains(&name.as_str()) {
                        end = raw_end(html, token.end, name);
                        if name == "title" && silent.is_none() && self.title.is_empty() {
                            self.title = self.references.decode(&html[token.end..end]);
                        }
                        if name == "textarea" || name == "xmp" {
                            self.paragraph();
                        }
                    } else if let Some((outer, depth)) = &mut silent {
                        *depth += usize::from(outer == name);
                    } else if !self_closed(attributes) && is_silent(name) {
                        silent = Some((name.clone(), 1));
                    } else {
                        self.open(name, attributes);
                    }
                    self.count_lines(&html[next..end]);
                    at = end;
                    continue;
                }
                MarkupKind::Close(name) => match &mut silent {
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
            if token.kind != MarkupKind::Text || silent.is_some() {
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
            "code" | "kbd" | "samp" | "tt" => {
                if let Some((_, known, _)) = &mut self.pre {
                    if known.is_empty() {
                        *known = language(attributes);
                    }
                } else {
                    self.code += 1;
                    if self.code == 1 {
                        self.put("`");
                    }
                }
            }
            "a" => {
                self.in_page_link =
                    attribute(attributes, "href").is_some_and(|to| to.trim().starts_with('#'));
            }
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
                self.table =
                    Table { depth: self.table.depth + 1, layout: self.table.depth > 0, ..Table::default() };
            }
            "td" | "th" => self.cell(),
            "tr" | "caption" | "thead" | "tbody" | "tfoot" => self.end_row(),
            _ if BLOCKS.contains(&name) => self.paragraph(),
            _ => {}
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.paragraph();
                self.heading = false;
                self.mark.clear();
            }
            "a" => self.in_page_link = false,
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
                // The rest of a table around this one is a layout.
                self.table =
                    Table { depth: self.table.depth.saturating_sub(1), layout: true, ..Table::default() };
            }
            _ if BLOCKS.contains(&name) => self.paragraph(),
            _ => {}
        }
    }

    /// Makes the next text begin a paragraph (in a row of a table or a heading: after a space).
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

    /// Handles a block inside a cell: from here on the table is a layout.
    fn leave_row(&mut self) {
        if self.table.depth > 0 {
            self.table.layout = true;
            if self.table.in_row {
                self.table.in_row = false;
                if self.table.cells == 1 && self.out.ends_with("| ") {
                    self.out.truncate(self.out.len() - 2);
                }
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
        for (at, row) in
            [format!("{fence}{language}").as_str()].into_iter().chain(code.split('\n')).enumerate()
        {
            if at > 0 {
                self.newline();
                // Code usually begins right after its tag.
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

    /// Adds text between tags: decodes entities, and collapses white space outside `<pre>`.
    fn text(&mut self, html: &str) {
        if self.pre.is_some() {
            let decoded = self.references.decode(html);
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
        let decoded = self.references.decode(html);
        if let Some((code, _, _)) = &mut self.pre {
            code.push_str(&decoded);
            return;
        }
        // The sign beside a heading that links to it, such as a pilcrow, is no part of the heading.
        if self.heading && self.in_page_link && !decoded.contains(char::is_alphanumeric) {
            return;
        }
        self.space |= decoded.starts_with(|letter: char| letter.is_whitespace());
        for (at, word) in decoded.split_whitespace().enumerate() {
            self.space |= at > 0;
            self.put(word);
        }
        self.space |= decoded.ends_with(|letter: char| letter.is_whitespace());
    }

    /// Adds one word after the output that waits for it.
    fn put(&mut self, word: &str) {
        self.flush_breaks();
        let at_start = self.out.is_empty() || self.out.ends_with('\n');
        if at_start {
            if let Some(last) = self.lines.last_mut() {
                *last = self.line;
            }
            if self.mark.is_empty() {
                // Text must not become a heading, quotation, fence or comment.
                if word.starts_with(['#', '>', '<', '~', '='])
                    || word.starts_with("```")
                    || word.starts_with("--")
                {
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
}

fn longest_run(text: &str, mark: char) -> usize {
    text.split(|letter| letter != mark).map(str::len).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(html: &str, expected: &str) {
        let page = Page::read(html, Boilerplate::Dropped);
        assert_eq!(page.out.trim_end(), expected);
        assert_eq!(page.lines.len(), page.out.matches('\n').count() + 1, "a source line for each line");
    }

    #[test]
    fn pages_become_markdown() {
        check(
            "<h1>A &amp; <b>B</b></h1><p>One\n two<br>three&nbsp;&eacute;</p>x",
            "# A & B\n\nOne two\nthree é\n\nx",
        );
        check("<ul><li>a<li>b<ol><li>c</ol></ul>d", "- a\n- b\n  1. c\n\nd");
        check(
            "<pre><code class=\"x language-rust\">fn a() {\n  b &lt; c\n}\n</code></pre>",
            "```rust\nfn a() {\n  b < c\n}\n```",
        );
        check("Use <code>a  b</code>, <a href='x'>this</a>.", "Use `a b`, this.");
        check("<table><tr><th>k<th>v<tr><td>a|b<td>1</table>", "| k | v |\n| --- | --- |\n| a\\|b | 1 |");
        check("<table><tr><td><h2>H</h2>p</td><td>q</td></tr></table>", "## H\n\np\n\nq");
        check("<nav>menu<div>x</div></nav><p># no\n&gt; x</p><script>if (a<b) '</p>'</script>", "\\# no > x");
        check(
            "<header>top</header><main><p>the text of the page</p></main><footer>f</footer>",
            "the text of the page",
        );
        check("a < b <!-- <p>no</p> --> c<3 <svg><text>no</text></svg>", "a < b c<3");
    }

    #[test]
    fn a_sign_that_links_to_its_heading_leaves_no_text() {
        check(
            "<h2>Sort <a href='#top'>C</a><a class=x href='#sort' title='Link'><b>¶</b></a></h2><p>§ 1 <a href='#a'>#</a></p>",
            "## Sort C\n\n§ 1 #",
        );
        check("<h2><a href='#sort'>#</a> Sort</h2>a", "## Sort\n\na");
    }

    #[test]
    fn chunks_know_their_lines_and_title() {
        let html = "<html><head>\n<title>The\n page</title>\n</head><body>\n<h1>H</h1>\n<p>one</p>\n\n<p>two #a</p></body>";
        let reading = parse(html, &Settings::default());
        assert_eq!(reading.title.as_deref(), Some("The page"));
        assert_eq!(reading.drafts.len(), 1);
        assert_eq!(
            (reading.drafts[0].content.as_str(), reading.drafts[0].lines),
            ("# H\n\none\n\ntwo #a", (5, 8))
        );
        assert_eq!(parse("<nav>only this", &Settings::default()).drafts[0].content, "only this");
    }
}
