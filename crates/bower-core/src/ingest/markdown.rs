//! Parses and chunks Markdown: front matter, then one chunk for each heading with its text.
//! Short neighbours share a chunk. Blocks (fences, tables, paragraphs) are cut only when one alone is too long.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use std::ops::Range;

use super::draft::{Draft, ParsedFile};
use super::markup::without_open_brackets;
use super::split::{Lines, fits, length, one_line, pieces, trim};
use super::visible::visible;
use super::{frontmatter, tags};
use crate::config::Settings;

/// A heading with the text up to the next heading of any level, or the text before the first.
#[derive(Debug)]
struct Section {
    /// Level 1..6 and plain text; `None` before the first heading.
    heading: Option<(u8, String)>,
    /// The parent section.
    parent: Option<usize>,
    /// The whole section, and where the text after the heading begins.
    range: Range<usize>,
    body: usize,
    blocks: Vec<Block>,
    /// Number of characters without outer white space.
    length: usize,
}

#[derive(Clone, Copy, Debug)]
struct Block {
    start: usize,
    kind: Shape,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Fence,
    Table,
    List,
    /// Paragraphs and all else.
    Other,
}

/// The result of one pass over the events.
#[derive(Debug)]
struct Outline {
    sections: Vec<Section>,
    /// Ranges where `#word` is no tag: code, links, HTML. Ascending, not overlapping.
    masked: Vec<Range<usize>>,
}

/// Parts of Markdown that the standard lacks.
const OPTIONS: Options =
    Options::ENABLE_TABLES.union(Options::ENABLE_STRIKETHROUGH).union(Options::ENABLE_TASKLISTS);

/// Longest title; a longer one is cut in paths and not repeated.
const TITLE_MAX: usize = 160;

/// Parses a whole file.
pub(super) fn parse(text: &str, settings: &Settings) -> ParsedFile {
    let head = frontmatter::parse(text);
    let (title, drafts) = chunks(text, head.body, head.broken.max(head.body), settings);
    let mut reading = ParsedFile {
        title: head.title.or(title),
        tags: head.tags,
        metadata: head.metadata,
        drafts,
        problems: head.note.into_iter().collect(),
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

/// Returns the first heading of level 1, else the first of any level, and the chunks of `text[start..]`.
/// `text[start..markdown]` is kept unchanged.
pub(super) fn chunks(
    text: &str,
    start: usize,
    markdown: usize,
    settings: &Settings,
) -> (Option<String>, Vec<Draft>) {
    let text = &*visible(text, markdown, OPTIONS);
    let outline = outline(text, start, markdown);
    let (min, max) = (settings.markdown_chunk_min, settings.markdown_chunk_max);
    let lines = Lines::new(text);
    let mut drafts = Vec::new();
    for group in groups(text, &outline.sections, min, max) {
        let sections = &outline.sections[group.clone()];
        let range = trim(text, sections[0].range.start..sections[sections.len() - 1].range.end);
        let (path, parts) = if fits(&text[range.clone()], max) {
            (path(&outline.sections, group), vec![(text[range.clone()].to_owned(), range)])
        } else {
            // Such a group has one long section, with short ones around it.
            let long = group.max_by_key(|&at| outline.sections[at].length).unwrap_or_default();
            (path(&outline.sections, long..long + 1), split(text, range, &outline.sections[long], max))
        };
        for (content, range) in parts.into_iter().filter(|(content, _)| !content.is_empty()) {
            let tags = tags::inline(text, range.clone(), &outline.masked);
            drafts.push(Draft { content, section: path.clone(), lines: lines.of(&range), tags });
        }
    }
    let headings = || outline.sections.iter().filter_map(|section| section.heading.as_ref());
    let titles = || headings().filter(|(_, title)| !title.is_empty());
    let title = titles().find(|(level, _)| *level == 1).or_else(|| titles().next());
    (title.map(|(_, title)| title.clone()), drafts)
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
    let readable = without_open_brackets(&text[markdown..]);
    for (event, range) in Parser::new_ext(&readable, OPTIONS).into_offset_iter() {
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
                    Tag::List(_) => Shape::List,
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

/// Returns the ranges of a Markdown text that are code, ascending.
pub(crate) fn code_ranges(text: &str) -> Vec<Range<usize>> {
    let readable = without_open_brackets(text);
    let code = |(event, range): (Event<'_>, Range<usize>)| {
        matches!(event, Event::Code(_) | Event::Start(Tag::CodeBlock(_))).then_some(range)
    };
    Parser::new_ext(&readable, OPTIONS).into_offset_iter().filter_map(code).collect()
}

/// Returns what a reader sees of a piece of Markdown, in one line: no marks of emphasis, links or code.
pub(crate) fn plain_line(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for event in Parser::new_ext(&without_open_brackets(text), OPTIONS) {
        match event {
            Event::Text(piece) | Event::Code(piece) => plain.push_str(&piece),
            Event::SoftBreak | Event::HardBreak => plain.push(' '),
            _ => {}
        }
    }
    one_line(&plain)
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
    sections.push(Section {
        heading,
        parent,
        range: range.start..end,
        body: range.end,
        blocks: Vec::new(),
        length: 0,
    });
}

fn block(sections: &mut [Section], start: usize, kind: Shape) {
    if let Some(section) = sections.last_mut() {
        section.blocks.push(Block { start, kind });
    }
}

/// Returns a title as one line, cut if it would fill a chunk by itself.
fn short(title: &str) -> String {
    let title = one_line(title);
    match title.char_indices().nth(TITLE_MAX) {
        Some((end, _)) => format!("{}…", &title[..end]),
        None => title,
    }
}

/// Groups adjacent sections into chunks. Short ones join the next one under the same parent (or inside them). Those
/// that are still short then join the one before. They also join a section that is too long, because its parts take them. A heading without its own text joins its first subsection. If it does
/// not fit there it is left out, because that chunk's path contains it.
fn groups(text: &str, sections: &[Section], min: usize, max: usize) -> Vec<Range<usize>> {
    let mut groups: Vec<(Range<usize>, usize)> = Vec::new();
    let mut at = 0;
    while at < sections.len() {
        let mut unit = at..at + 1;
        while sections[unit.end - 1].blocks.is_empty()
            && sections.get(unit.end).is_some_and(|next| next.parent == Some(unit.end - 1))
        {
            unit.end += 1;
        }
        let mut length = joined(&sections[unit.clone()]);
        if length > max && unit.len() > 1 {
            let told = sections[unit.start..unit.end - 1].iter().all(|section| repeats(text, section));
            unit = if told { unit.end - 1..unit.end } else { unit.start..unit.end - 1 };
            length = joined(&sections[unit.clone()]);
        }
        at = unit.end;
        if length == 0 {
            // Only the text before the first heading can be empty, because a heading counts.
            continue;
        }
        if let Some((last, known)) = groups.last_mut()
            && *known < min
            && (*known + 2 + length <= max || length > max)
            && last.end == unit.start
            && belongs(sections, last, unit.start)
        {
            last.end = unit.end;
            *known += 2 + length;
            continue;
        }
        settle(sections, &mut groups, min, max);
        groups.push((unit, length));
    }
    settle(sections, &mut groups, min, max);
    groups.into_iter().map(|(range, _)| range).collect()
}

/// Number of characters of adjacent sections with an empty line between them.
fn joined(sections: &[Section]) -> usize {
    sections.iter().map(|section| section.length).sum::<usize>() + 2 * (sections.len() - 1)
}

/// Completes the last group: if it is short, it joins the one before, if that has the same parent.
fn settle(sections: &[Section], groups: &mut Vec<(Range<usize>, usize)>, min: usize, max: usize) {
    let [.., (before, before_length), (last, last_length)] = groups.as_mut_slice() else { return };
    if *last_length < min
        && (*before_length + 2 + *last_length <= max || *before_length > max)
        && before.end == last.start
        && belongs(sections, before, last.start)
    {
        before.end = last.end;
        *before_length += 2 + *last_length;
        groups.pop();
    }
}

/// Whether a section is a sibling of a group's first section or inside one of the group.
fn belongs(sections: &[Section], group: &Range<usize>, section: usize) -> bool {
    let parent = sections[section].parent;
    parent == sections[group.start].parent
        || std::iter::successors(parent, |&at| sections[at].parent).any(|at| group.contains(&at))
}

/// Whether a section's title contains every word of its heading: no link address, no markup, not shortened.
fn repeats(text: &str, section: &Section) -> bool {
    fn words(text: &str) -> impl Iterator<Item = &str> {
        text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty())
    }
    let heading = &text[section.range.start..section.body];
    let title = section.heading.as_ref().map_or("", |(_, title)| title.as_str());
    words(heading).eq(words(title))
}

/// Returns the heading path of a group: that of its first section with more than a heading.
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

/// The parts of a section that is too long: their text, and their range in the file.
struct Parts<'a> {
    section: &'a Section,
    all: Vec<(String, Range<usize>)>,
    /// Begins each part. It is the section's heading as Markdown, with an empty line below.
    heading: String,
    /// Number of characters of the longest part, and of what the first part leaves free.
    max: usize,
    free: usize,
}

impl Parts<'_> {
    /// Returns the number of characters below the heading of the next part.
    fn room(&self) -> usize {
        self.max - length(&self.heading) - if self.all.is_empty() { self.free } else { 0 }
    }

    fn push(&mut self, piece: &str, mut range: Range<usize>) {
        let heading = if range.start < self.section.body { "" } else { self.heading.as_str() };
        if self.all.is_empty() {
            range.start = self.section.range.start.min(range.start);
        }
        self.all.push((format!("{heading}{piece}"), range));
    }
}

/// Splits a range with a section that is too long, and short sections around it. The first and the last part of the long section
/// take the short ones, unless these have more than half of a part.
fn split(text: &str, range: Range<usize>, section: &Section, max: usize) -> Vec<(String, Range<usize>)> {
    let before = trim(text, range.start..section.range.start.max(range.start));
    let after = trim(text, section.range.end.min(range.end)..range.end);
    let needed = |range: &Range<usize>| if range.is_empty() { 0 } else { length(&text[range.clone()]) + 2 };
    let joins = (needed(&before) + needed(&after)) * 2 <= max;
    let free = if joins { needed(&before) } else { 0 };
    let mut parts = split_section(text, section, max, free);
    if joins && parts.last().is_some_and(|(content, _)| length(content) + needed(&after) > max) {
        parts = split_section(text, section, max - needed(&after), free);
    }
    if !before.is_empty() {
        match parts.first_mut() {
            Some((content, first)) if joins => {
                *content = format!("{}\n\n{content}", &text[before.clone()]);
                first.start = before.start;
            }
            _ => parts.insert(0, (text[before.clone()].to_owned(), before)),
        }
    }
    if !after.is_empty() {
        match parts.last_mut() {
            Some((content, last)) if joins => {
                *content = format!("{content}\n\n{}", &text[after.clone()]);
                last.end = after.end;
            }
            _ => parts.push((text[after.clone()].to_owned(), after)),
        }
    }
    parts
}

/// Splits a section that is too long, at its blocks if that is enough. Each part begins with the heading, and the first one
/// leaves `free` characters.
fn split_section(text: &str, section: &Section, max: usize, free: usize) -> Vec<(String, Range<usize>)> {
    let heading = match &section.heading {
        Some((level, title)) if !title.is_empty() => format!("{} {title}\n\n", "#".repeat((*level).into())),
        _ => String::new(),
    };
    let heading = if length(&heading) * 2 + free > max { String::new() } else { heading };
    let mut parts = Parts { section, all: Vec::new(), heading, max, free };
    // A heading with more than its title, or without text below it, is kept as written.
    let written = (section.blocks.is_empty() || !repeats(text, section))
        .then_some(Block { start: section.range.start, kind: Shape::Other });
    let blocks: Vec<Block> = written.into_iter().chain(section.blocks.iter().copied()).collect();
    let begin = blocks.first().map_or(section.body, |block| block.start.min(section.body));
    let mut pending = begin..begin;
    for (at, block) in blocks.iter().enumerate() {
        let end = blocks.get(at + 1).map_or(section.range.end, |next| next.start);
        // Text between blocks (link definitions, blank lines) belongs to the block before it.
        if fits(&text[trim(text, pending.start..end)], parts.room()) {
            pending.end = end;
            continue;
        }
        // The paragraph before a fence, a table or a list often introduces it.
        let lead = at.checked_sub(1).map(|before| blocks[before]).filter(|lead| {
            block.kind != Shape::Other
                && lead.kind == Shape::Other
                && lead.start > pending.start
                && fits(&text[trim(text, lead.start..end)], parts.room())
        });
        let next = lead.map_or(block.start, |lead| lead.start);
        let before = trim(text, pending.start..if lead.is_some() { next } else { pending.end.max(next) });
        if !before.is_empty() {
            parts.push(&text[before.clone()], before);
        }
        pending = next..end;
        if !fits(&text[trim(text, pending.clone())], parts.room()) {
            split_block(text, pending, block.kind, &mut parts);
            pending = end..end;
        }
    }
    let rest = trim(text, pending.start..section.range.end);
    if fits(&text[rest.clone()], parts.room()) {
        if !rest.is_empty() {
            parts.push(&text[rest.clone()], rest);
        }
    } else {
        split_block(text, rest, Shape::Other, &mut parts);
    }
    parts.all
}

/// Splits one block: a fence at its lines, each part fenced again; a table at its rows, each part with the header;
/// other text at paragraphs, lines, sentences.
fn split_block(text: &str, range: Range<usize>, kind: Shape, parts: &mut Parts<'_>) {
    let range = trim(text, range);
    let block = &text[range.clone()];
    let room = parts.room();
    let (before, inside, after) = match kind {
        Shape::Fence => fence(block),
        Shape::Table => {
            let rows = block.match_indices('\n').nth(1).map_or(block.len(), |(at, _)| at + 1);
            (&block[..rows], rows..block.len(), "")
        }
        Shape::List | Shape::Other => ("", 0..block.len(), ""),
    };
    let frame = length(before) + length(after);
    let (before, inside, after, frame) =
        if frame * 2 > room { ("", 0..block.len(), "", 0) } else { (before, inside, after, frame) };
    let pieces = pieces(&block[inside.clone()], room - frame, 0);
    for (at, piece) in pieces.iter().enumerate() {
        let piece = inside.start + piece.start..inside.start + piece.end;
        // The frame's lines belong to the first and the last part.
        let start = if at == 0 { range.start } else { range.start + piece.start };
        let end = if at + 1 == pieces.len() { range.end } else { range.start + piece.end };
        parts.push(&format!("{before}{}{after}", &block[piece]), start..end);
    }
}

/// Returns the opening line of a fenced block, the range of its code, and a closing line with the newline before it.
fn fence(block: &str) -> (&str, Range<usize>, &str) {
    let Some(open) = block.find('\n').map(|at| at + 1) else { return ("", 0..block.len(), "") };
    let mark = block.trim_start();
    let run = mark.len() - mark.trim_start_matches(['`', '~']).len();
    let last = block.rfind('\n').unwrap_or(open);
    let closing = block[last..].trim();
    if run >= 3
        && last >= open
        && closing.len() >= run
        && closing.bytes().all(|byte| mark.as_bytes()[0] == byte)
    {
        return (&block[..open], open..last, &block[last..]);
    }
    // Never closed: it ends with the file, and so does each part.
    (&block[..open], open..block.len(), "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, (min, max): (usize, usize), expected: &[(&str, &str, (u32, u32))]) {
        let settings = Settings { markdown_chunk_min: min, markdown_chunk_max: max, ..Settings::default() };
        let reading = parse(text, &settings);
        let got: Vec<_> = reading
            .drafts
            .iter()
            .map(|draft| (draft.section.as_deref().unwrap_or_default(), draft.content.as_str(), draft.lines))
            .collect();
        assert_eq!(got, expected);
    }

    const GUIDE: &str = "---\ntitle: The guide\ntags: [setup]\n---\n\n# Guide\n\n## Install\n\nFetch it. #linux\n\n\
        ### Linux\n\nRun `make #no`.\n\n```sh\n# not a heading\nmake\n```\n\nUse\n---\n\nAsk [it #no](x#no).\n";

    #[test]
    fn a_document_is_cut_at_its_headings() {
        check(
            GUIDE,
            (0, 200),
            &[
                ("Guide > Install", "# Guide\n\n## Install\n\nFetch it. #linux", (6, 10)),
                (
                    "Guide > Install > Linux",
                    "### Linux\n\nRun `make #no`.\n\n```sh\n# not a heading\nmake\n```",
                    (12, 19),
                ),
                ("Guide > Use", "Use\n---\n\nAsk [it #no](x#no).", (21, 24)),
            ],
        );
        let reading = parse(GUIDE, &Settings::default());
        assert_eq!(reading.title.as_deref(), Some("The guide"));
        assert_eq!(reading.tags, ["setup", "linux"]);
        assert_eq!(reading.drafts.len(), 1);
        assert_eq!(reading.drafts[0].section.as_deref(), Some("Guide > Install"));
    }

    #[test]
    fn short_sections_join_under_one_parent_only() {
        let text = "# A\n\n## B\n\nshort\n\n## C\n\nalso\n\n# D\n\nother words, a few more\n";
        check(
            text,
            (20, 200),
            &[
                ("A > B", "# A\n\n## B\n\nshort\n\n## C\n\nalso", (1, 9)),
                ("D", "# D\n\nother words, a few more", (11, 13)),
            ],
        );
    }

    #[test]
    fn long_sections_repeat_their_heading_and_keep_blocks_whole() {
        let text = "# T\n\nOne two three four.\n\n```rs\nlet a = 1;\nlet b = 2;\n```\n\n\
                    | a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n| 5 | 6 |\n";
        check(
            text,
            (0, 45),
            &[
                ("T", "# T\n\nOne two three four.", (1, 3)),
                ("T", "# T\n\n```rs\nlet a = 1;\nlet b = 2;\n```", (5, 8)),
                ("T", "# T\n\n| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |", (10, 13)),
                ("T", "# T\n\n| a | b |\n|---|---|\n| 5 | 6 |", (14, 14)),
            ],
        );
        check(
            text,
            (0, 30),
            &[
                ("T", "# T\n\nOne two three four.", (1, 3)),
                ("T", "# T\n\n```rs\nlet a = 1;\n```", (5, 6)),
                ("T", "# T\n\n```rs\nlet b = 2;\n```", (7, 8)),
                ("T", "# T\n\n| a | b |\n|---|---|", (10, 11)),
                ("T", "# T\n\n| 1 | 2 |", (12, 12)),
                ("T", "# T\n\n| 3 | 4 |\n| 5 | 6 |", (13, 14)),
            ],
        );
    }

    #[test]
    fn a_heading_goes_with_the_text_below_it() {
        // If both do not fit, only the path contains it; a sibling's heading never ends a chunk.
        check(
            "# Two\n\n## Fixed\n\nOne thing and another.\n\n# One\n\n## Fixed\n\nMuch more.\n",
            (60, 50),
            &[
                ("Two > Fixed", "# Two\n\n## Fixed\n\nOne thing and another.", (1, 5)),
                ("One > Fixed", "# One\n\n## Fixed\n\nMuch more.", (7, 11)),
            ],
        );
        check(
            "# T\n\n## Longer\n\nOne two three.\n",
            (0, 25),
            &[("T > Longer", "## Longer\n\nOne two three.", (3, 5))],
        );
    }

    #[test]
    fn a_heading_loses_nothing_where_its_section_is_cut() {
        check(
            "# [A](b/c)\n\nOne two three four.\n\nFive six seven.\n",
            (0, 30),
            &[
                ("A", "# [A](b/c)", (1, 1)),
                ("A", "# A\n\nOne two three four.", (3, 3)),
                ("A", "# A\n\nFive six seven.", (5, 5)),
            ],
        );
    }

    #[test]
    fn a_long_heading_without_text_is_kept() {
        check(
            "begin\n\none two three\nfour five six\n===\n",
            (0, 20),
            &[
                ("", "begin", (1, 1)),
                ("one two three four five six", "one two three", (3, 3)),
                ("one two three four five six", "four five six\n===", (4, 5)),
            ],
        );
    }

    #[test]
    fn a_broken_head_stays_text() {
        let reading = parse("---\ntitle: [x\n---\n# H\n\ntext\n", &Settings::default());
        assert_eq!(reading.title.as_deref(), Some("H"));
        assert_eq!(reading.drafts[0].content, "---\ntitle: [x\n---\n# H\n\ntext");
        assert_eq!(reading.problems.len(), 1);
    }

    #[test]
    fn a_long_section_takes_the_short_ones_around_it() {
        let text = "# Shelf\n\n## Name\n\nshelf\n\n## Use\n\nThe first line, which is long.\n\nThe second line of it.\n\n\
                    The third line of it, which is long too.\n\n## See\n\nbook\n";
        check(
            text,
            (30, 80),
            &[
                (
                    "Shelf > Use",
                    "# Shelf\n\n## Name\n\nshelf\n\n## Use\n\nThe first line, which is long.",
                    (1, 9),
                ),
                // The third line has room here, but then the section below would not.
                ("Shelf > Use", "## Use\n\nThe second line of it.", (11, 11)),
                (
                    "Shelf > Use",
                    "## Use\n\nThe third line of it, which is long too.\n\n## See\n\nbook",
                    (13, 17),
                ),
            ],
        );
    }
}
