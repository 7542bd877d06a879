//! Removes HTML tags and comments, badges and lists of links within the page from Markdown.
//! Lines keep their numbers, because every line end stays.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use super::markup::{MarkupKind, RAW, raw_end, self_closed, token, without_open_brackets};

/// Elements without content and without an end tag that stand between words.
const VOID: [&str; 4] = ["br", "hr", "img", "wbr"];

/// Returns the text without what readers do not see; `text[..start]` is kept unchanged.
pub(super) fn visible(text: &str, start: usize, options: Options) -> Cow<'_, str> {
    let markdown = &text[start..];
    if !markdown.contains('<') && !markdown.contains("](#") && !markdown.contains("[![") {
        return Cow::Borrowed(text);
    }
    let hidden = hidden(markdown, options);
    if hidden.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    kept.push_str(&text[..start]);
    let mut at = 0;
    for range in hidden {
        if range.end <= at {
            continue;
        }
        kept.push_str(&markdown[at..range.start.max(at)]);
        kept.extend(markdown[range.start.max(at)..range.end].chars().filter(|&letter| letter == '\n'));
        at = range.end;
    }
    kept.push_str(&markdown[at..]);
    Cow::Owned(kept)
}

/// A paragraph or list that may be nothing but badges or links within the page.
#[derive(Default)]
struct Candidate {
    has_text: bool,
    has_badge: bool,
    has_inner_link: bool,
    /// Whether the open link leads to a place in this page; `None` outside of links.
    link: Option<bool>,
    /// Number of images that are open.
    images: usize,
}

impl Candidate {
    fn is_hidden(&self) -> bool {
        (self.has_badge || self.has_inner_link) && !self.has_text
    }
}

/// Returns the ranges that readers do not see, ascending by their start.
fn hidden(markdown: &str, options: Options) -> Vec<Range<usize>> {
    let (mut html, mut hidden) = (Vec::new(), Vec::new());
    let mut depth = 0_usize;
    let mut candidate = Candidate::default();
    for (event, range) in Parser::new_ext(&without_open_brackets(markdown), options).into_offset_iter() {
        match &event {
            Event::Start(tag) => {
                if depth == 0 {
                    candidate = Candidate::default();
                }
                depth += 1;
                match tag {
                    Tag::HtmlBlock => html.push((range, true)),
                    Tag::Link { dest_url, .. } => {
                        let is_inner = dest_url.starts_with('#');
                        candidate.link = Some(is_inner);
                        candidate.has_inner_link |= is_inner;
                    }
                    Tag::Image { .. } => {
                        candidate.images += 1;
                        // An image that is no link may be a diagram, whose label describes it.
                        candidate.has_badge |= candidate.link.is_some();
                        candidate.has_text |= candidate.link.is_none();
                    }
                    _ => {}
                }
            }
            Event::End(end) => {
                depth -= 1;
                match end {
                    TagEnd::Link => candidate.link = None,
                    TagEnd::Image => candidate.images -= 1,
                    TagEnd::Paragraph | TagEnd::List(_) if depth == 0 && candidate.is_hidden() => {
                        hidden.push(range);
                    }
                    _ => {}
                }
            }
            Event::Text(piece) | Event::Code(piece) => {
                let is_label = candidate.images > 0 || candidate.link == Some(true);
                candidate.has_text |= !is_label && !piece.trim().is_empty();
            }
            Event::InlineHtml(_) => html.push((range, false)),
            Event::TaskListMarker(_) => candidate.has_text = true,
            _ => {}
        }
    }
    tags(markdown, &html, &mut hidden);
    hidden.sort_unstable_by_key(|range| (range.start, range.end));
    hidden
}

/// Adds the tags and comments in ranges of HTML. A tag without attributes that is never closed may be a placeholder, such as
/// `<branch>` or `Vec<T>`, and stays.
fn tags(markdown: &str, html: &[(Range<usize>, bool)], hidden: &mut Vec<Range<usize>>) {
    let mut closed = HashSet::new();
    each_token(markdown, html, &mut |_, _, kind, _| {
        if let MarkupKind::Close(name) = kind {
            closed.insert(name.clone());
        }
        None
    });
    each_token(markdown, html, &mut |from, end, kind, attributes| {
        let mut end = end;
        let is_markup = match kind {
            MarkupKind::Text => false,
            // A comment that never ends would hide the rest of the file.
            MarkupKind::Nothing => markdown[from..end].ends_with('>'),
            MarkupKind::Close(_) => true,
            MarkupKind::Open(name) => {
                if RAW.contains(&name.as_str()) && closed.contains(name) {
                    end = raw_end(markdown, end, name);
                }
                attributes.contains('=')
                    || self_closed(attributes)
                    || VOID.contains(&name.as_str())
                    || closed.contains(name)
            }
        };
        if is_markup {
            hidden.push(from..end);
        }
        is_markup.then_some(end)
    });
    // The indentation of HTML would make its text a block of code.
    for (range, is_block) in html {
        let mut at = range.start;
        for line in markdown[range.clone()].split_inclusive('\n').filter(|_| *is_block) {
            let indentation = line.len() - line.trim_start_matches([' ', '\t']).len();
            if indentation > 0 {
                hidden.push(at..at + indentation);
            }
            at += line.len();
        }
    }
}

/// Visits every token in ranges of HTML: its start, its end, its kind and its attributes. The visitor may return where to go on.
fn each_token(
    markdown: &str,
    html: &[(Range<usize>, bool)],
    visit: &mut dyn FnMut(usize, usize, &MarkupKind, &str) -> Option<usize>,
) {
    let mut at = 0;
    for (range, _) in html {
        at = range.start.max(at);
        while at < range.end {
            let Some(found) = markdown[at..range.end].find('<') else { break };
            let from = at + found;
            let token = token(markdown, from);
            let attributes = &markdown[token.attributes.clone()];
            at = visit(from, token.end, &token.kind, attributes).unwrap_or(token.end).max(from + 1);
            while !markdown.is_char_boundary(at) {
                at += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(visible(text, 0, Options::ENABLE_TABLES), expected, "{text}");
    }

    #[test]
    fn tags_and_comments_go_and_their_text_stays() {
        check("# A\n\n<a id=\"x\"></a>\n\ntext\n", "# A\n\n\n\ntext\n");
        check("<!-- Old\nheadings -->\ntext\n", "\n\ntext\n");
        check("one <b>two</b> <br> three<br/>\n", "one two  three\n");
        check("<details>\n    <summary>More</summary>\n\nInside.\n\n</details>\n", "\nMore\n\nInside.\n\n\n");
        check("<style>\np { color: red }\n</style>\n\ntext\n", "\n\n\n\ntext\n");
        check("<p align=\"center\"><img src=\"a.png\" alt=\"logo\"></p>\n", "\n");
    }

    #[test]
    fn placeholders_and_code_stay() {
        for text in [
            "git checkout <branch> and Vec<T>\n",
            "`<b>bold</b>` is HTML\n",
            "```html\n<!-- a -->\n<b>x</b>\n```\n",
            "1 < 2 and 3 > 2\n",
            "<https://example.org> is a link\n",
        ] {
            check(text, text);
        }
    }

    #[test]
    fn badges_and_contents_go() {
        check("# A\n\n[![ci](b.svg)](https://x) [![docs](d.svg)](https://y)\n\ntext\n", "# A\n\n\n\ntext\n");
        check("- [One](#one)\n- [Two](#two)\n  - [Three](#three)\n\ntext\n", "\n\n\n\ntext\n");
        for text in [
            "![The store feeds the index](a.png)\n",
            "See [![ci](b.svg)](https://x) first.\n",
            "- [One](one.md)\n- [Two](#two)\n",
            "- [One](#one): the first\n",
            "[Other page](b.md)\n",
        ] {
            check(text, text);
        }
    }
}
