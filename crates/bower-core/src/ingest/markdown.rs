//! Markdown: front matter, then chunks by heading. Blocks (fences, tables, paragraphs) are cut only when one alone is too long.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use std::ops::Range;

use super::parse::{Draft, Reading};
use super::split::{Lines, fits, length, pieces};
use super::{frontmatter, tags};
use crate::config::Settings;

/// A heading with the text up to the next heading of any level, or the text before the first.
#[derive(Debug)]
struct Section {
    /// Level 1..6 and plain text; none before the first heading.
    heading: Option<(u8, String)>,
    /// The section that holds this one.
    parent: Option<usize>,
    /// All of it, and where the text after the heading begins.
    range: Range<usize>,
    body: usize,
    blocks: Vec<Block>,
    /// Characters, outer white space aside.
    length: usize,
}

#[derive(Debug)]
struct Block {
    start: usize,
    kind: Shape,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Fence,
    Table,
    Other,
}

/// What one pass over the events finds.
#[derive(Debug)]
struct Outline {
    sections: Vec<Section>,
    /// Where `#word` is no tag: code, links, HTML. Ascending, apart.
    masked: Vec<Range<usize>>,
}

/// A longer title is cut in paths and not repeated.
const TITLE_MAX: usize = 160;

/// Parses a whole file.
pub(super) fn parse(text: &str, settings: &Settings) -> Reading {
    let head = frontmatter::parse(text);
    let (title, drafts) = chunks(text, head.body, head.broken.max(head.body), settings);
    let mut reading = Reading {
        title: head.title.or(title),
        tags: head.tags,
        metadata: head.metadata,
        drafts,
        notes: head.note.into_iter().collect(),
    };
    let always = reading.tags.clone();
    for draft in &mut reading.drafts {
        let found = std::mem::replace(&mut draft.tags, always.clone());
        for tag in found {
            tags::add(&mut reading.tags, &tag);
            tags::add(&mut draft.tags, &tag);
        }
    }
    reading
}

/// The first heading of level 1, and the chunks of `text[start..]`, of which `text[start..markdown]` is kept as it is.
pub(super) fn chunks(text: &str, start: usize, markdown: usize, settings: &Settings) -> (Option<String>, Vec<Draft>) {
    let outline = outline(text, start, markdown);
    let (min, max) = (settings.markdown_chunk_min, settings.markdown_chunk_max);
    let lines = Lines::new(text);
    let mut drafts = Vec::new();
    for group in groups(&outline.sections, min, max) {
        let sections = &outline.sections[group.clone()];
        let path = path(&outline.sections, group.clone());
        let range = sections[0].range.start..sections[sections.len() - 1].range.end;
        let mut push = |content: String, range: Range<usize>| {
            let tags = tags::inline(text, range.clone(), &outline.masked);
            drafts.push(Draft { content, section: path.clone(), lines: lines.of(&range), tags });
        };
        let range = trim(text, range);
        if fits(&text[range.clone()], max) {
            if !range.is_empty() {
                push(text[range.clone()].to_owned(), range);
            }
        } else {
            split(text, &sections[0], max, &mut push);
        }
    }
    let title = outline.sections.iter().find_map(|section| match &section.heading {
        Some((1, title)) if !title.is_empty() => Some(title.clone()),
        _ => None,
    });
    (title, drafts)
}

fn outline(text: &str, start: usize, markdown: usize) -> Outline {
    let root = |range: Range<usize>| Section {
        heading: None,
        parent: None,
        body: range.start,
        range,
        blocks: Vec::new(),
        length: 0,
    };
    let mut sections = vec![root(start..text.len())];
    if markdown > start {
        sections[0].blocks.push(Block { start, kind: Shape::Other });
    }
    let mut masked: Vec<Range<usize>> = Vec::new();
    let mut depth = 0_usize;
    let mut title: Option<String> = None;
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    for (event, range) in Parser::new_ext(&text[markdown..], options).into_offset_iter() {
        let range = range.start + markdown..range.end + markdown;
        if masks(&event) && masked.last().is_none_or(|last| last.end <= range.start) {
            masked.push(range.clone());
        }
        match &event {
            Event::Start(tag) => {
                depth += 1;
                match tag {
                    Tag::Heading { level, .. } if depth == 1 => {
                        title = Some(String::new());
                        open(&mut sections, *level as u8, range);
                        continue;
                    }
                    _ if depth > 1 => continue,
                    _ => {}
                }
                let kind = match tag {
                    Tag::CodeBlock(CodeBlockKind::Fenced(_)) => Shape::Fence,
                    Tag::Table(_) => Shape::Table,
                    _ => Shape::Other,
                };
                block(&mut sections, range.start, kind);
            }
            Event::End(end) => {
                depth -= 1;
                if depth == 0
                    && matches!(end, TagEnd::Heading(_))
                    && let Some(title) = title.take()
                    && let Some((_, known)) = sections.last_mut().and_then(|section| section.heading.as_mut())
                {
                    *known = short(&title);
                }
            }
            Event::Text(piece) | Event::Code(piece) => {
                if let Some(title) = &mut title {
                    title.push_str(piece);
                }
            }
            Event::SoftBreak | Event::HardBreak => {
                if let Some(title) = &mut title {
                    title.push(' ');
                }
            }
            _ if depth == 0 => block(&mut sections, range.start, Shape::Other),
            _ => {}
        }
    }
    for section in &mut sections {
        section.length = length(text[section.range.clone()].trim());
    }
    Outline { sections, masked }
}

fn masks(event: &Event<'_>) -> bool {
    match event {
        Event::Code(_) | Event::Html(_) | Event::InlineHtml(_) => true,
        Event::Start(tag) => {
            matches!(tag, Tag::CodeBlock(_) | Tag::HtmlBlock | Tag::Link { .. } | Tag::Image { .. })
        }
        _ => false,
    }
}

fn open(sections: &mut Vec<Section>, level: u8, range: Range<usize>) {
    let mut parent = sections.len().checked_sub(1);
    while let Some(at) = parent {
        match &sections[at].heading {
            Some((above, _)) if *above < level => break,
            Some(_) => parent = sections[at].parent,
            None => parent = None,
        }
    }
    let end = match sections.last_mut() {
        Some(last) => std::mem::replace(&mut last.range.end, range.start),
        None => range.end,
    };
    let heading = Some((level, String::new()));
    sections.push(Section { heading, parent, range: range.start..end, body: range.end, blocks: Vec::new(), length: 0 });
}

fn block(sections: &mut [Section], start: usize, kind: Shape) {
    if let Some(section) = sections.last_mut() {
        section.blocks.push(Block { start, kind });
    }
}

/// A title in one line, cut where it would fill a chunk by itself.
fn short(title: &str) -> String {
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    match title.char_indices().nth(TITLE_MAX) {
        Some((end, _)) => format!("{}…", &title[..end]),
        None => title,
    }
}

/// Neighbouring sections that make one chunk: short ones join the next one under the same parent (or inside them), and what is
/// then still short joins the one before.
fn groups(sections: &[Section], min: usize, max: usize) -> Vec<Range<usize>> {
    let mut groups: Vec<(Range<usize>, usize)> = Vec::new();
    for (at, section) in sections.iter().enumerate() {
        if section.length == 0 {
            // Only the text before the first heading can be empty: a heading counts.
            continue;
        }
        if let Some((last, length)) = groups.last_mut()
            && *length < min
            && *length + 2 + section.length <= max
            && belongs(sections, last.start, at)
        {
            last.end = at + 1;
            *length += 2 + section.length;
            continue;
        }
        settle(sections, &mut groups, min, max);
        groups.push((at..at + 1, section.length));
    }
    settle(sections, &mut groups, min, max);
    groups.into_iter().map(|(range, _)| range).collect()
}

/// The last group can grow no more: if it is short, it joins the one before, where that is of the same parent.
fn settle(sections: &[Section], groups: &mut Vec<(Range<usize>, usize)>, min: usize, max: usize) {
    let [.., (before, before_length), (last, last_length)] = groups.as_mut_slice() else { return };
    if *last_length < min && *before_length + 2 + *last_length <= max && belongs(sections, before.start, last.start) {
        before.end = last.end;
        *before_length += 2 + *last_length;
        groups.pop();
    }
}

/// Whether a section is a sibling of `first` or inside it.
fn belongs(sections: &[Section], first: usize, section: usize) -> bool {
    let parent = sections[section].parent;
    parent == sections[first].parent
        || std::iter::successors(parent, |&at| sections[at].parent).any(|at| at == first)
}

/// The heading path of a group: that of its first section with more than a heading.
fn path(sections: &[Section], group: Range<usize>) -> Option<String> {
    let named = || group.clone().filter(|&at| sections[at].heading.is_some());
    let at = named().find(|&at| !sections[at].blocks.is_empty()).or_else(|| named().next())?;
    let mut titles: Vec<&str> = std::iter::successors(Some(at), |&at| sections[at].parent)
        .filter_map(|at| sections[at].heading.as_ref())
        .map(|(_, title)| title.as_str())
        .filter(|title| !title.is_empty())
        .collect();
    titles.reverse();
    Some(titles.join(" > ")).filter(|path| !path.is_empty())
}

/// Cuts one section that is too long, at its blocks where that is enough. Each part begins with the heading.
fn split(text: &str, section: &Section, max: usize, push: &mut impl FnMut(String, Range<usize>)) {
    let heading = match &section.heading {
        Some((level, title)) if !title.is_empty() => format!("{} {title}\n\n", "#".repeat((*level).into())),
        _ => String::new(),
    };
    let heading = if length(&heading) * 2 > max { String::new() } else { heading };
    let room = max - length(&heading);
    let mut first = true;
    let mut push = |piece: &str, mut range: Range<usize>| {
        if std::mem::take(&mut first) {
            range.start = section.range.start.min(range.start);
        }
        push(format!("{heading}{piece}"), range);
    };
    let mut pending = section.body..section.body;
    for (at, block) in section.blocks.iter().enumerate() {
        let end = section.blocks.get(at + 1).map_or(section.range.end, |next| next.start);
        // What stands between blocks (link definitions, blank lines) goes with the block before it.
        if fits(text[pending.start..end].trim(), room) {
            pending.end = end;
            continue;
        }
        let before = trim(text, pending.start..pending.end.max(block.start));
        if !before.is_empty() {
            push(&text[before.clone()], before);
        }
        pending = block.start..end;
        if !fits(text[pending.clone()].trim(), room) {
            split_block(text, pending, block.kind, room, &mut push);
            pending = end..end;
        }
    }
    let rest = trim(text, pending.start..section.range.end);
    if fits(&text[rest.clone()], room) {
        if !rest.is_empty() {
            push(&text[rest.clone()], rest);
        }
    } else {
        split_block(text, rest, Shape::Other, room, &mut push);
    }
}

/// Cuts one block: a fence at its lines, each part fenced again; a table at its rows, each part with the header; other text
/// at paragraphs, lines, sentences.
fn split_block(text: &str, range: Range<usize>, kind: Shape, room: usize, push: &mut impl FnMut(&str, Range<usize>)) {
    let range = trim(text, range);
    let block = &text[range.clone()];
    let (before, inside, after) = match kind {
        Shape::Fence => fence(block),
        Shape::Table => {
            let rows = block.match_indices('\n').nth(1).map_or(block.len(), |(at, _)| at + 1);
            (&block[..rows], rows..block.len(), "")
        }
        Shape::Other => ("", 0..block.len(), ""),
    };
    let frame = length(before) + length(after);
    let (before, inside, after, frame) =
        if frame * 2 > room { ("", 0..block.len(), "", 0) } else { (before, inside, after, frame) };
    for piece in pieces(&block[inside.clone()], room - frame, 0) {
        let piece = inside.start + piece.start..inside.start + piece.end;
        let place = range.start + piece.start..range.start + piece.end;
        push(&format!("{before}{}{after}", &block[piece]), place);
    }
}

/// The opening line of a fenced block, the place of its code, and a closing line with the newline before it.
fn fence(block: &str) -> (&str, Range<usize>, &str) {
    let Some(open) = block.find('\n').map(|at| at + 1) else { return ("", 0..block.len(), "") };
    let mark = block.trim_start();
    let run = mark.len() - mark.trim_start_matches(['`', '~']).len();
    let last = block.rfind('\n').unwrap_or(open);
    let closing = block[last..].trim();
    if run >= 3 && last >= open && closing.len() >= run && closing.bytes().all(|byte| mark.as_bytes()[0] == byte) {
        return (&block[..open], open..last, &block[last..]);
    }
    // Never closed: it ends with the file, and so does each part.
    (&block[..open], open..block.len(), "")
}

/// A range without outer blank lines and trailing white space; the first line keeps its indentation.
fn trim(text: &str, range: Range<usize>) -> Range<usize> {
    let part = &text[range.clone()];
    let visible = part.len() - part.trim_start().len();
    let start = part[..visible].rfind('\n').map_or(0, |newline| newline + 1);
    let end = part.trim_end().len();
    if end <= start { range.start..range.start } else { range.start + start..range.start + end }
}
