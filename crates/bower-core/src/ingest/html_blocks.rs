//! Reads the block elements of an HTML page in one pass, with the letters and the linked letters in each.
//!
//! Time is linear in the page, whatever its nesting, and memory is bounded. Links are measured in letters and digits, so that
//! languages without spaces count like all others.

use std::collections::HashMap;
use std::ops::Range;

use super::markup::{MarkupKind, RAW, attribute, is_landmark, is_silent, raw_end, self_closed, token};

/// Most blocks of a page; of a page with more only marked boilerplate is known. 262,144 blocks take 20 MB.
const MOST_BLOCKS: usize = 1 << 18;

/// Elements that are blocks besides paragraphs and headings.
const CONTAINERS: &[&str] = &[
    "address",
    "article",
    "aside",
    "blockquote",
    "center",
    "details",
    "div",
    "dl",
    "fieldset",
    "figure",
    "form",
    "header",
    "main",
    "ol",
    "pre",
    "section",
    "table",
    "td",
    "th",
    "ul",
];

/// What a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockKind {
    /// The page, or an element that may surround its content.
    Container,
    /// `<main>`, or an element with that role.
    Main,
    /// `<article>`.
    Article,
    /// A cell of a table.
    Cell,
    Table,
    /// A list or a quotation: its parts belong together.
    Unit,
    Code,
    Paragraph,
    Heading(u8),
    /// Text between blocks.
    Loose,
}

/// A block and its measures. Those of a block include those of the blocks in it, but for headings, which have none.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub kind: BlockKind,
    /// Its bytes in the page, with its tags.
    pub bytes: Range<usize>,
    /// The blocks in it: they follow it, up to this index.
    pub end: usize,
    /// Letters and digits.
    pub letters: usize,
    /// Those of links.
    pub linked: usize,
    /// Those of links within the page.
    pub linked_here: usize,
    /// The level of the first heading, 1 to 6.
    pub heading: Option<u8>,
    /// Whether the heading is the first of its text.
    pub begins_with_heading: bool,
    /// Whether a link says that it leads to the next page, the one before or the one above.
    pub turns_pages: bool,
    /// Whether it has code in lines of its own.
    pub has_code: bool,
    /// Letters and digits of tables and lists that are in no link.
    pub listed: usize,
}

/// The blocks of a page, each before the blocks in it. The first is the page.
pub(super) struct PageBlocks {
    pub blocks: Vec<Block>,
    /// The bytes of elements that are boilerplate by their name, role or attributes, in order.
    pub marked: Vec<Range<usize>>,
    /// Whether the page has more blocks than are kept.
    pub is_cut: bool,
}

impl PageBlocks {
    /// Returns the indexes of the blocks directly in a block.
    pub(super) fn children(&self, of: usize) -> impl Iterator<Item = usize> {
        let end = self.blocks[of].end;
        let within = move |at: usize| Some(at).filter(|&at| at < end);
        std::iter::successors(within(of + 1), move |&at| within(self.blocks[at].end))
    }
}

/// Reads the blocks of a page.
pub(super) fn blocks(html: &str) -> PageBlocks {
    let mut reader = Reader {
        read: PageBlocks { blocks: vec![block(BlockKind::Container, 0)], marked: Vec::new(), is_cut: false },
        open: vec![Open { name: String::new(), at: 0 }],
        by_name: HashMap::new(),
        tables: Vec::new(),
        link: None,
        run: None,
        run_start: 0,
    };
    reader.read(html);
    reader.read
}

/// The link around the text.
struct Link {
    /// How many elements were open where it begins: it ends with the last of them.
    depth: usize,
    is_here: bool,
    turns_pages: bool,
}

struct Open {
    name: String,
    /// Its index among the blocks.
    at: usize,
}

struct Reader {
    read: PageBlocks,
    open: Vec<Open>,
    /// For each name, which of the open elements have it.
    by_name: HashMap<String, Vec<usize>>,
    /// For each open table, its place among the open elements, and that of its open cell.
    tables: Vec<(usize, Option<usize>)>,
    link: Option<Link>,
    /// The block of the current text between blocks.
    run: Option<usize>,
    run_start: usize,
}

fn block(kind: BlockKind, start: usize) -> Block {
    Block {
        kind,
        bytes: start..start,
        end: 0,
        letters: 0,
        linked: 0,
        linked_here: 0,
        heading: None,
        begins_with_heading: false,
        turns_pages: false,
        has_code: kind == BlockKind::Code,
        listed: 0,
    }
}

impl Reader {
    fn read(&mut self, html: &str) {
        let mut at = 0;
        // The element whose content is left out, its start, how many of its name are open in it, and whether it is marked.
        let mut silent: Option<(String, usize, usize, bool)> = None;
        while at < html.len() {
            let next = html[at..].find('<').map_or(html.len(), |found| at + found);
            if silent.is_none() {
                self.text(&html[at..next]);
            }
            if next == html.len() {
                break;
            }
            let token = token(html, next);
            at = token.end;
            match token.kind {
                MarkupKind::Text | MarkupKind::Nothing => {}
                MarkupKind::Open(name) => {
                    let attributes = &html[token.attributes];
                    if RAW.contains(&name.as_str()) {
                        at = raw_end(html, token.end, &name);
                    } else if let Some((outer, _, depth, _)) = &mut silent {
                        *depth += usize::from(*outer == name);
                    } else if !self_closed(attributes)
                        && (is_silent(&name) || is_landmark(&name, attributes, self.is_in_section()))
                    {
                        let is_marked = !is_silent(&name);
                        silent = Some((name, next, 1, is_marked));
                    } else {
                        self.open(&name, attributes, next, token.end);
                    }
                }
                MarkupKind::Close(name) => match &mut silent {
                    Some((outer, start, depth, is_marked)) if *outer == name => {
                        *depth -= 1;
                        if *depth == 0 {
                            // An element that is never closed says nothing: the page may be in it.
                            if *is_marked {
                                self.read.marked.push(*start..token.end);
                            }
                            silent = None;
                        }
                    }
                    Some(_) => {}
                    None => self.close(&name, next, token.end),
                },
            }
        }
        self.end_run(html.len());
        self.pop_to(0, html.len(), html.len());
        self.end_block(0, html.len());
    }

    /// Whether an `<aside>` here is a part of the text and not of the page (HTML Accessibility API Mappings, "aside").
    fn is_in_section(&self) -> bool {
        ["main", "article", "section"]
            .iter()
            .any(|name| self.by_name.get(*name).is_some_and(|of| !of.is_empty()))
    }

    fn open(&mut self, name: &str, attributes: &str, start: usize, end: usize) {
        let heading = heading_level(name);
        if name == "a" {
            if let Some(address) = attribute(attributes, "href") {
                let rel = attribute(attributes, "rel").unwrap_or_default();
                let turns_pages = rel.split_whitespace().any(|word| {
                    ["next", "prev", "previous", "up"].contains(&word.to_ascii_lowercase().as_str())
                });
                self.link =
                    Some(Link { depth: self.open.len(), is_here: address.starts_with('#'), turns_pages });
            }
            return;
        }
        if heading.is_none() && name != "p" && !CONTAINERS.contains(&name) {
            return;
        }
        self.end_run(start);
        self.end_paragraph(start);
        if matches!(name, "td" | "th")
            && let Some(&(_, Some(cell))) = self.tables.last()
        {
            self.pop_to(cell - 1, start, start);
        }
        self.run_start = end;
        let is_main = attribute(attributes, "role") == Some("main");
        let kind = match (heading, name) {
            (Some(level), _) => BlockKind::Heading(level),
            (None, "p") => BlockKind::Paragraph,
            (None, "td" | "th") => BlockKind::Cell,
            (None, "table") => BlockKind::Table,
            (None, "ul" | "ol" | "dl" | "blockquote") => BlockKind::Unit,
            (None, "pre") => BlockKind::Code,
            (None, "main") => BlockKind::Main,
            (None, _) if is_main => BlockKind::Main,
            (None, "article") => BlockKind::Article,
            (None, _) => BlockKind::Container,
        };
        let at = self.push(kind, start);
        let place = self.open.len();
        self.by_name.entry(name.to_owned()).or_default().push(place);
        self.open.push(Open { name: name.to_owned(), at });
        match name {
            "table" => self.tables.push((place, None)),
            "td" | "th" => {
                if let Some((_, cell)) = self.tables.last_mut() {
                    *cell = Some(place);
                }
            }
            _ => {}
        }
    }

    fn close(&mut self, name: &str, start: usize, end: usize) {
        if name == "a" {
            self.link = None;
            return;
        }
        let is_heading = heading_level(name).is_some();
        if !is_heading && name != "p" && !CONTAINERS.contains(&name) {
            return;
        }
        self.end_run(start);
        self.run_start = end;
        let cell = self.tables.last().and_then(|(_, cell)| *cell);
        let place = match name {
            "td" | "th" => cell,
            "table" => self.tables.last().map(|(table, _)| *table),
            // An end tag in a cell ends nothing outside of it (HTML standard, 13.2.4.2, "scope").
            _ => self.by_name.get(name).and_then(|of| of.last().copied()).filter(|&place| Some(place) > cell),
        };
        if let Some(place) = place {
            self.pop_to(place - 1, start, end);
        }
    }

    /// Ends a paragraph or heading that is open, as the start of a block does.
    fn end_paragraph(&mut self, at: usize) {
        let top = self.open.len() - 1;
        let is_text = self.open[top].name == "p" || heading_level(&self.open[top].name).is_some();
        if is_text {
            self.pop_to(top - 1, at, at);
        }
    }

    /// Ends the open elements after a place. The first of them ends at `last`, those in it at `at`.
    fn pop_to(&mut self, place: usize, at: usize, last: usize) {
        while self.open.len() > place + 1 {
            let Some(open) = self.open.pop() else { return };
            if let Some(of) = self.by_name.get_mut(&open.name) {
                of.pop();
            }
            if self.tables.last().is_some_and(|(table, _)| *table == self.open.len()) {
                self.tables.pop();
            }
            if let Some((_, cell)) = self.tables.last_mut()
                && *cell == Some(self.open.len())
            {
                *cell = None;
            }
            if self.link.as_ref().is_some_and(|link| link.depth > self.open.len()) {
                self.link = None;
            }
            let is_first = self.open.len() == place + 1;
            self.end_block(open.at, if is_first { last } else { at });
            self.add(open.at);
        }
    }

    fn push(&mut self, kind: BlockKind, start: usize) -> usize {
        if self.read.blocks.len() >= MOST_BLOCKS {
            // All further text is of the page as a whole.
            self.read.is_cut = true;
            return 0;
        }
        self.read.blocks.push(block(kind, start));
        self.read.blocks.len() - 1
    }

    fn end_block(&mut self, at: usize, end: usize) {
        let after = self.read.blocks.len();
        let block = &mut self.read.blocks[at];
        block.bytes.end = end;
        block.end = after;
    }

    /// Adds a block that has ended to the one around it. One without text is forgotten.
    fn add(&mut self, at: usize) {
        if at == 0 {
            return;
        }
        let around = self.open.last().map_or(0, |open| open.at);
        let own = self.read.blocks[at].clone();
        if own.letters == 0 && own.heading.is_none() {
            if at + 1 == self.read.blocks.len() {
                self.read.blocks.pop();
            }
            return;
        }
        let outer = &mut self.read.blocks[around];
        let is_first = outer.letters == 0 && outer.heading.is_none();
        outer.begins_with_heading |= is_first && own.begins_with_heading;
        outer.heading = outer.heading.or(own.heading);
        outer.turns_pages |= own.turns_pages;
        outer.has_code |= own.has_code;
        outer.listed += match own.kind {
            BlockKind::Table | BlockKind::Unit => own.letters - own.linked,
            BlockKind::Container | BlockKind::Main | BlockKind::Article | BlockKind::Cell => own.listed,
            BlockKind::Code | BlockKind::Paragraph | BlockKind::Heading(_) | BlockKind::Loose => 0,
        };
        if !matches!(own.kind, BlockKind::Heading(_)) {
            outer.letters += own.letters;
            outer.linked += own.linked;
            outer.linked_here += own.linked_here;
        }
    }

    /// Counts text, which is without tags.
    fn text(&mut self, text: &str) {
        let letters = text.chars().filter(|letter| letter.is_alphanumeric()).count();
        if letters == 0 {
            return;
        }
        let top = self.open.last().map_or(0, |open| open.at);
        let at = match self.read.blocks[top].kind {
            BlockKind::Paragraph | BlockKind::Heading(_) => top,
            BlockKind::Container
            | BlockKind::Main
            | BlockKind::Article
            | BlockKind::Cell
            | BlockKind::Table
            | BlockKind::Unit
            | BlockKind::Code
            | BlockKind::Loose => {
                if let Some(run) = self.run {
                    run
                } else {
                    let run = self.push(BlockKind::Loose, self.run_start);
                    self.run = Some(run);
                    run
                }
            }
        };
        let block = &mut self.read.blocks[at];
        if let BlockKind::Heading(level) = block.kind {
            block.heading = Some(level);
            block.begins_with_heading = true;
            return;
        }
        block.letters += letters;
        if let Some(link) = &self.link {
            block.linked += letters;
            block.linked_here += if link.is_here { letters } else { 0 };
            block.turns_pages |= link.turns_pages;
        }
    }

    /// Ends the text between blocks.
    fn end_run(&mut self, at: usize) {
        if let Some(run) = self.run.take() {
            self.end_block(run, at);
            self.add(run);
        }
    }
}

fn heading_level(name: &str) -> Option<u8> {
    match name.as_bytes() {
        [b'h', level @ b'1'..=b'6'] => Some(level - b'0'),
        _ => None,
    }
}
