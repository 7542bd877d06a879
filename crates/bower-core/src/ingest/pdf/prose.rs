//! Writes the lines of all pages as Markdown: paragraphs, headings, lists and code.

use super::super::converted::Converted;
use super::body::{BodyStyle, PageLines};
use super::headings::{self, Heading};
use super::layout::TextLine;
use super::outline::Bookmark;

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Text,
    Item,
    Heading(usize),
    Code,
}

/// A block of Markdown.
#[derive(Debug)]
struct Block {
    kind: Kind,
    text: String,
    page: u32,
    size: f32,
    font: u32,
    /// Of each line of code its left edge, and the width of its letters.
    lefts: Vec<(f32, f32)>,
}

impl Block {
    fn new(kind: Kind, line: &TextLine, page: u32) -> Self {
        let mut block =
            Self { kind, text: String::new(), page, size: line.size, font: line.font, lefts: Vec::new() };
        if block.kind == Kind::Item {
            block.text.push_str(bullet(&line.text).unwrap_or(&line.text));
        } else {
            block.add(line);
        }
        block
    }

    fn add(&mut self, line: &TextLine) {
        if self.kind == Kind::Code {
            if !self.text.is_empty() {
                self.text.push('\n');
            }
            self.text.push_str(&line.text);
            self.lefts.push((line.x0, (line.x1 - line.x0) / line.text.chars().count().max(1) as f32));
        } else {
            join(&mut self.text, &line.text);
        }
    }

    /// Returns the lines of code, indented.
    fn code(&self) -> impl Iterator<Item = String> {
        // As deep as code is ever set; wild input has lines of no width.
        const DEEPEST: f32 = 80.0;
        let left = self.lefts.iter().map(|(left, _)| *left).fold(f32::INFINITY, f32::min);
        self.text.lines().zip(&self.lefts).map(move |(line, (x0, width))| {
            let blanks = ((x0 - left) / width).round();
            let blanks = if blanks.is_finite() { blanks.clamp(0.0, DEEPEST) } else { 0.0 };
            format!("{}{line}", " ".repeat(blanks as usize))
        })
    }
}

/// Writes the text of all pages. `monospaced` has the fonts of code by their numbers.
pub(super) fn write(pages: &[PageLines], bookmarks: &[Bookmark], monospaced: &[bool]) -> Converted {
    let body = BodyStyle::of(pages);
    let headings = headings::find(pages, bookmarks, &body, monospaced);
    let is_code_font =
        |font: u32| font != body.font && monospaced.get(font as usize).copied().unwrap_or(false);
    let mut blocks: Vec<Block> = Vec::new();
    let mut at = 0;
    for page in pages {
        let edges = edges(&page.lines);
        let mut before: Option<&TextLine> = None;
        for (place, line) in page.lines.iter().enumerate() {
            let heading = headings.get(&at).copied();
            // A line of code with a sign of another font is code among others.
            let is_code = before.is_some() && blocks.last().is_some_and(|open| open.kind == Kind::Code);
            let kind = match heading {
                Some(Heading { level, .. }) => Kind::Heading(level),
                None if is_code_font(line.font) && (line.is_pure || is_code) => Kind::Code,
                None if bullet(&line.text).is_some() => Kind::Item,
                None => Kind::Text,
            };
            let next = page.lines.get(place + 1).unwrap_or(line);
            let goes_on = before.zip(blocks.last()).is_some_and(|(last, open)| match heading {
                Some(heading) => heading.goes_on && matches!(open.kind, Kind::Heading(_)),
                None => goes_on(last, [line, next], open, &kind, &body, edges[last.block as usize]),
            });
            if let Some(open) = blocks.last_mut().filter(|_| goes_on) {
                open.add(line);
            } else {
                blocks.push(Block::new(kind, line, page.number));
                // The first block of a column may go on with a sentence of the column before.
                if before.is_none_or(|last| last.block != line.block) {
                    unite(&mut blocks);
                }
            }
            before = Some(line);
            at += 1;
        }
    }
    let mut out = Converted::default();
    for (at, block) in blocks.iter().enumerate() {
        let is_list = block.kind == Kind::Item && at > 0 && blocks[at - 1].kind == Kind::Item;
        put(&mut out, block, is_list);
    }
    out
}

/// Returns the left and the right edge of each block.
fn edges(lines: &[TextLine]) -> Vec<(f32, f32)> {
    let blocks = lines.iter().map(|line| line.block + 1).max().unwrap_or(0);
    let mut edges = vec![(f32::INFINITY, f32::NEG_INFINITY); blocks as usize];
    for line in lines {
        let edge = &mut edges[line.block as usize];
        *edge = (edge.0.min(line.x0), edge.1.max(line.x1));
    }
    edges
}

/// Returns whether a line of text or code goes on with the open block, whose last line is `last`.
fn goes_on(
    last: &TextLine,
    [line, next]: [&TextLine; 2],
    open: &Block,
    kind: &Kind,
    body: &BodyStyle,
    (left, right): (f32, f32),
) -> bool {
    let size = last.size.max(line.size);
    let down = line.y - last.y;
    if last.block != line.block || last.angle != line.angle || down < 0.0 {
        return false;
    }
    if *kind == Kind::Code || open.kind == Kind::Code {
        // Blank lines inside of code are part of it.
        return *kind == open.kind && down < 3.0 * body.leading * size;
    }
    if *kind == Kind::Item || matches!(open.kind, Kind::Heading(_)) {
        return false;
    }
    // A footnote's size differs by a tenth or more; single large words do not begin a paragraph.
    let is_other_size = last.size.min(line.size) < 0.92 * size && last.is_pure && line.is_pure;
    if down > 1.3 * body.leading * size || is_other_size {
        return false;
    }
    let ends = ends_sentence(&last.text);
    let is_short = last.x1 < right - 0.2 * (right - left);
    let is_indented = line.x0 > last.x0 + 0.8 * size;
    let returns = next.block == line.block && next.x0 < line.x0 - 0.8 * size;
    !(is_indented && (ends || is_short) && (returns || ends) || ends && is_short)
}

/// Joins the last block with the one before it on the page or column before, if a sentence goes on there.
fn unite(blocks: &mut Vec<Block>) {
    // Footnotes and a figure's caption stand between.
    const BETWEEN: usize = 6;
    let Some(last) = blocks.last() else { return };
    let goes_on = last.kind == Kind::Text && last.text.chars().next().is_some_and(char::is_lowercase);
    if !goes_on {
        return;
    }
    let end = blocks.len() - 1;
    let before = (end.saturating_sub(BETWEEN)..end).rev().find(|&at| {
        let block = &blocks[at];
        matches!(block.kind, Kind::Text | Kind::Item)
            && (block.size - last.size).abs() < 0.5
            && block.font == last.font
            && !ends_sentence(&block.text)
            && last.page - block.page <= 1
    });
    let Some(before) = before else { return };
    let Some(last) = blocks.pop() else { return };
    join(&mut blocks[before].text, &last.text);
}

fn ends_sentence(text: &str) -> bool {
    let text = text.trim_end_matches([')', '"', '\'', '\u{201D}', '\u{2019}', ']']);
    text.ends_with(['.', '!', '?', ':', '\u{3002}', '\u{FF1F}', '\u{FF01}'])
}

/// Returns what follows a bullet at the start of a line.
fn bullet(text: &str) -> Option<&str> {
    let (mark, rest) = text.split_once(' ')?;
    let mut letters = mark.chars();
    let (letter, None) = (letters.next()?, letters.next()) else { return None };
    // Bullets, dashes, geometric shapes and the dingbats of symbol fonts.
    let is_bullet = matches!(letter,
        '-' | '*' | '\u{B7}' | '\u{2013}' | '\u{2014}' | '\u{2022}'..='\u{2023}' | '\u{2043}' | '\u{2217}' | '\u{2219}'
        | '\u{25A0}'..='\u{25FF}' | '\u{2700}'..='\u{27BF}' | '\u{F000}'..='\u{F0FF}');
    is_bullet.then(|| rest.trim_start())
}

/// Adds a line to a paragraph; a word that was divided at the line's end is whole again.
fn join(open: &mut String, text: &str) {
    let is_divided = open
        .strip_suffix(['-', '\u{AD}', '\u{2010}'])
        .is_some_and(|rest| rest.chars().next_back().is_some_and(char::is_alphabetic))
        && text.chars().next().is_some_and(char::is_lowercase);
    if is_divided {
        open.pop();
    } else if !open.is_empty() {
        open.push(' ');
    }
    open.push_str(text);
}

fn put(out: &mut Converted, block: &Block, is_list: bool) {
    out.number = block.page;
    if !(out.text.is_empty() || is_list) {
        out.put("");
    }
    match block.kind {
        Kind::Text => out.put(&block.text),
        Kind::Item => out.put(&format!("- {}", block.text)),
        Kind::Heading(level) => out.put(&format!("{} {}", "#".repeat(level.clamp(1, 6)), block.text)),
        Kind::Code => {
            let fence = if block.text.contains("```") { "````" } else { "```" };
            out.put(fence);
            block.code().for_each(|line| out.put(&line));
            out.put(fence);
        }
    }
}
