//! Decides which parts of an HTML page surround its content: navigation, sidebars, footers, notes.
//! A page that has nothing but lists, tables or code keeps them all: losing content is worse than keeping what surrounds it.
//!
//! What a page says of itself comes first: elements, roles, attributes and `<main>`. For the rest, blocks are judged by their
//! link density, as in Kohlschütter, Fankhauser and Nejdl, "Boilerplate Detection using Shallow Text Features" (WSDM 2010),
//! which is the best single feature there. Their limits on the words of a block are left out: signatures, options and cells of
//! tables are short.

use std::ops::Range;

use super::html_blocks::{Block, BlockKind, PageBlocks, blocks};

/// A block is navigation if more than this part of its letters are links: the upper limit of link density in both decision trees
/// of Kohlschütter et al. (algorithms 1 and 2: .555556). Their lower limit drops sentences that have several links.
const NAVIGATION: (usize, usize) = (5, 9);

/// A page is an index if more than this part of its letters are links: their lower limit (.333333).
const INDEX: (usize, usize) = (1, 3);

/// What is around the content, and has no heading, is at most this part of the page's text without links. Of seven documentation
/// packages of Debian, values from a twentieth to a fifth keep the same text but for 0.6 % of one.
const AROUND: (usize, usize) = (1, 10);

/// Most letters, not in links, of a bar that names pages beside its links. It is of any part of a page: short pages have
/// them too. (16 words: the limit of a short block in algorithm 2 of Kohlschütter et al.)
const BAR: usize = 16 * 6;

/// Part of the page's text that `<main>` or `<article>` need, or they are not believed: pages exist that mark an empty one.
const LEAST_MARKED: (usize, usize) = (1, 4);

/// Returns the bytes of a page that are no content, in order and apart from each other.
pub(super) fn around_content(html: &str) -> Vec<Range<usize>> {
    let page = Page { read: blocks(html) };
    let mut dropped = page.read.marked.clone();
    if !page.read.is_cut {
        let mains = page.marked_main();
        if mains.is_empty() {
            let main = page.main(&mut dropped);
            page.repeated(main, &mut dropped);
            // The links of an index are its content.
            let block = &page.read.blocks[main];
            if !is_more(block.linked, INDEX, block.letters) {
                page.leading(main, &mut dropped);
                page.trailing(main, &mut dropped);
            }
        } else {
            page.outside(&mains, &mut dropped);
            for main in mains {
                page.repeated(main, &mut dropped);
            }
        }
    }
    apart(dropped)
}

/// Returns the bytes of a page that it marks as no content, in order and apart from each other.
pub(super) fn marked(html: &str) -> Vec<Range<usize>> {
    let page = Page { read: blocks(html) };
    let mut dropped = page.read.marked.clone();
    page.outside(&page.marked_main(), &mut dropped);
    apart(dropped)
}

/// Sorts ranges and joins those that touch.
fn apart(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_unstable_by_key(|range| (range.start, range.end));
    let mut joined: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            Some(_) | None => joined.push(range),
        }
    }
    joined
}

fn is_more(part: usize, (over, under): (usize, usize), whole: usize) -> bool {
    part * under > whole * over
}

impl Block {
    /// Returns how many letters are in no link.
    fn unlinked(&self) -> usize {
        self.letters - self.linked
    }

    /// Whether the block is navigation by its links. Signatures whose types are links are none, and neither is the title.
    fn is_navigation(&self) -> bool {
        let is_apart = match self.kind {
            BlockKind::Container
            | BlockKind::Article
            | BlockKind::Table
            | BlockKind::Unit
            | BlockKind::Paragraph
            | BlockKind::Loose => true,
            // Without a cell, a row would be another.
            BlockKind::Cell | BlockKind::Main | BlockKind::Code | BlockKind::Heading(_) => false,
        };
        is_apart && !self.has_code && self.heading != Some(1) && self.is_linked()
    }

    fn is_linked(&self) -> bool {
        is_more(self.linked, NAVIGATION, self.letters)
    }

    /// Whether the block is a bar of links with few other words.
    fn is_bar(&self) -> bool {
        self.is_note() && self.linked > 0 && self.unlinked() <= BAR
    }

    /// Whether the block may be a note to the page. A paragraph beside the content may be its introduction, and lists, tables and
    /// code may be what the page is for.
    fn is_note(&self) -> bool {
        match self.kind {
            BlockKind::Container | BlockKind::Article | BlockKind::Unit => {
                let listed = if self.kind == BlockKind::Unit { self.unlinked() } else { self.listed };
                self.heading.is_none() && !self.has_code && listed <= BAR
            }
            BlockKind::Main
            | BlockKind::Table
            | BlockKind::Cell
            | BlockKind::Code
            | BlockKind::Heading(_)
            | BlockKind::Paragraph
            | BlockKind::Loose => false,
        }
    }

    /// Whether the block is dropped beside the content.
    fn is_around(&self, is_below_title: bool) -> bool {
        self.is_navigation() || if is_below_title { self.is_bar() } else { self.is_note() }
    }

    /// Whether the block may hold the content and what surrounds it.
    fn is_frame(&self) -> bool {
        match self.kind {
            BlockKind::Container | BlockKind::Main | BlockKind::Article | BlockKind::Cell => true,
            BlockKind::Table
            | BlockKind::Unit
            | BlockKind::Code
            | BlockKind::Heading(_)
            | BlockKind::Paragraph
            | BlockKind::Loose => false,
        }
    }
}

struct Page {
    read: PageBlocks,
}

impl Page {
    /// Returns the outermost `<main>` elements, else the outermost articles; none if they have too little of the text.
    fn marked_main(&self) -> Vec<usize> {
        let blocks = &self.read.blocks;
        for kind in [BlockKind::Main, BlockKind::Article] {
            let (mut found, mut letters, mut at) = (Vec::new(), 0, 1);
            while at < blocks.len() {
                if blocks[at].kind == kind {
                    found.push(at);
                    letters += blocks[at].letters;
                    at = blocks[at].end;
                } else {
                    at += 1;
                }
            }
            let is_believed = letters * LEAST_MARKED.1 >= blocks[0].letters * LEAST_MARKED.0;
            if letters > 0 && is_believed {
                return found;
            }
        }
        Vec::new()
    }

    /// Drops what is outside of some blocks, if there are any.
    fn outside(&self, mains: &[usize], dropped: &mut Vec<Range<usize>>) {
        let blocks = &self.read.blocks;
        let mut rest = mains.iter().copied().peekable();
        let mut at = 1;
        while !mains.is_empty() && at < blocks.len() {
            match rest.peek() {
                Some(&main) if main == at => {
                    rest.next();
                    at = blocks[at].end;
                }
                Some(&main) if main < blocks[at].end => at += 1,
                Some(_) | None => {
                    dropped.push(blocks[at].bytes.clone());
                    at = blocks[at].end;
                }
            }
        }
    }

    /// Returns the smallest element that has nearly all text without links, and drops what is around it.
    fn main(&self, dropped: &mut Vec<Range<usize>>) -> usize {
        let blocks = &self.read.blocks;
        let mut main = 0;
        let mut around = 0;
        let mut is_below_title = false;
        while let Some(next) = self.read.children(main).max_by_key(|&child| blocks[child].unlinked()) {
            let beside =
                || self.read.children(main).filter(move |&child| child != next).map(|child| &blocks[child]);
            around += beside().filter(|block| !block.is_bar()).map(Block::unlinked).sum::<usize>();
            let section = |block: &Block| block.heading.filter(|_| block.begins_with_heading);
            let of_next = section(&blocks[next]);
            let is_one_of_several = of_next.is_some() && beside().any(|block| section(block) == of_next);
            // A table is a layout if one of its cells has the page.
            let may_hold = blocks[next].is_frame() || blocks[next].kind == BlockKind::Table;
            if !may_hold || is_more(around, AROUND, blocks[0].unlinked()) || is_one_of_several {
                break;
            }
            // What is beside a section and below the page's title is its introduction.
            let level = blocks[next].heading.unwrap_or(u8::MAX);
            is_below_title |= beside().any(|block| block.heading.is_some_and(|above| above < level));
            let cells = |block: &&Block| block.kind == BlockKind::Cell;
            let notes = beside().filter(|block| block.is_around(is_below_title));
            dropped.extend(notes.map(|block| block.bytes.clone()));
            dropped.extend(
                beside().filter(cells).filter(|cell| cell.is_linked()).map(|cell| cell.bytes.clone()),
            );
            main = next;
        }
        main
    }

    /// Drops links to the next page and lists of links within the page, which only repeat its headings.
    fn repeated(&self, main: usize, dropped: &mut Vec<Range<usize>>) {
        let blocks = &self.read.blocks;
        let (mut lists, mut letters) = (Vec::new(), 0);
        let mut at = main + 1;
        while at < blocks[main].end {
            let block = &blocks[at];
            let is_text = matches!(block.kind, BlockKind::Paragraph | BlockKind::Loose);
            let is_list = !is_text && block.is_navigation() && block.linked == block.linked_here;
            let turns_pages = |at: usize| blocks[at].turns_pages;
            let is_turning = block.turns_pages
                && block.is_navigation()
                && (!block.is_frame() || !self.read.children(at).any(turns_pages));
            if is_turning {
                dropped.push(block.bytes.clone());
                at = block.end;
            } else if is_list {
                lists.push(block.bytes.clone());
                letters += block.letters;
                at = block.end;
            } else {
                at = if block.is_frame() { at + 1 } else { block.end };
            }
        }
        // A list that is longer than the page does not repeat its headings.
        if letters <= blocks[main].unlinked() {
            dropped.extend(lists);
        }
    }

    /// Drops links before the first text, unless a heading below the title introduces them.
    fn leading(&self, main: usize, dropped: &mut Vec<Range<usize>>) {
        let mut frame = Some(main);
        while let Some(of) = frame.take() {
            for child in self.read.children(of) {
                let block = &self.read.blocks[child];
                if block.kind == BlockKind::Heading(1) {
                    continue;
                }
                if !block.is_navigation() {
                    frame = Some(child).filter(|_| block.is_frame());
                    break;
                }
                dropped.push(block.bytes.clone());
            }
        }
    }

    /// Drops links after the last text, unless a heading introduces them ("See also").
    fn trailing(&self, main: usize, dropped: &mut Vec<Range<usize>>) {
        let mut frame = Some(main);
        while let Some(of) = frame.take() {
            let children: Vec<usize> = self.read.children(of).collect();
            for (number, &child) in children.iter().enumerate().rev() {
                let block = &self.read.blocks[child];
                if !block.is_navigation() {
                    frame = Some(child).filter(|_| block.is_frame());
                    break;
                }
                let before = number.checked_sub(1).map(|before| self.read.blocks[children[before]].kind);
                if block.heading.is_some() || matches!(before, Some(BlockKind::Heading(_))) {
                    break;
                }
                dropped.push(block.bytes.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PROSE: &str = "A bower is a shelter in a garden, made of branches or of vines. The bird of that name builds one of \
                         twigs on the ground, and decorates it with all that is blue: berries, feathers, the caps of bottles. ";

    /// Compares the text of the page that is kept, without tags.
    #[track_caller]
    fn check(html: &str, expected: &str) {
        let mut kept = html.to_owned();
        for range in around_content(html).into_iter().rev() {
            kept.replace_range(range, " ");
        }
        let mut text = String::new();
        let mut in_tag = false;
        for letter in kept.chars() {
            match letter {
                '<' => in_tag = true,
                '>' => {
                    in_tag = false;
                    text.push(' ');
                }
                letter if !in_tag => text.push(letter),
                _ => {}
            }
        }
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(words(&text.replace(PROSE, "PROSE ")), expected);
    }

    fn links(count: usize) -> String {
        let link = |at| format!("<li><a href='p{at}.html'>Page number {at}</a></li>");
        (0..count).map(link).collect::<Vec<_>>().concat()
    }

    #[test]
    fn marked_boilerplate_leaves_no_text() {
        check(
            "<nav>n</nav><div role=navigation>r</div><p>a</p><aside>b</aside><footer>f</footer><p hidden>h</p>",
            "a h",
        );
        check("<div hidden>h</div><div aria-hidden=true>i</div><div role=complementary>c</div><p>a</p>", "a");
        check("<section><aside>a note</aside></section><div hidden=until-found>u</div>", "a note u");
        check(
            &format!("<div>top</div><main>{PROSE}<ul>{}</ul></main><div>end</div>", links(1)),
            "PROSE Page number 0",
        );
        check(&format!("<div>top</div><div role=main>{PROSE}</div>"), "PROSE");
        check("<main></main><p>a</p><nav>b", "a b");
    }

    #[test]
    fn unmarked_navigation_sidebars_footers_and_notes_leave_no_text() {
        let page = PROSE.repeat(4);
        let html = format!(
            "<body><div id=top><a href='/'>Home</a> | <a href='/b'>News</a></div><div id=side><h3>Recent</h3><ul>{}</ul></div>\
             <div id=text><h1>Title</h1><p>{page}</p></div><div id=foot>© 2024 A company</div><div>We use cookies. <a>OK</a></div>",
            links(9)
        );
        check(&html, &format!("Title {}", "PROSE ".repeat(4).trim()));
        let cells =
            format!("<table><tr><td><ul>{}</ul></td><td><h1>T</h1>{page}</td></tr></table>", links(9));
        check(&cells, &format!("T {}", "PROSE ".repeat(4).trim()));
        let flat = format!(
            "<p><a href=a>One</a> <a href=b>Two</a></p><h1>T</h1><p>{PROSE}</p><p>b</p><p><a href=c>Next</a></p>"
        );
        check(&flat, "T PROSE b");
        let turning = format!(
            "<h2>a</h2><p>{PROSE}</p><p>Next: <a rel=next href=x>Feathers</a></p><h2>b</h2><p>{PROSE}</p>"
        );
        check(&turning, "a PROSE b PROSE");
    }

    #[test]
    fn lists_of_links_within_the_page_leave_no_text() {
        let list =
            "<div><h2>On this page</h2><ul><li><a href='#a'>First</a><li><a href='#b'>Second</a></ul></div>";
        check(
            &format!("<h1>T</h1>{list}<h2 id=a>First</h2><p>{PROSE}</p><h2 id=b>Second</h2>{PROSE}"),
            "T First PROSE Second PROSE",
        );
        let sentence = "<p>How it is built is told in <a href='#a'>the first part</a>, and why in <a href='#b'>the second</a>.</p>";
        check(
            &format!("<h1>T</h1>{sentence}{PROSE}"),
            "T How it is built is told in the first part , and why in the second . PROSE",
        );
        // A list that is longer than the page repeats nothing.
        check("<ul><li><a href='#a'>First</a><li><a href='#b'>Second</a></ul><p>a", "First Second a");
    }

    #[test]
    fn pages_of_lists_tables_and_code_keep_their_text() {
        let index = format!("<h1>Index</h1><p>All pages.</p><ul>{}</ul>", links(3));
        check(&index, "Index All pages. Page number 0 Page number 1 Page number 2");
        let table = "<table><tr><th>Option<th>Meaning<tr><td><a href=a>-a</a><td>all<tr><td><a href=b>-b</a><td>bytes</table>";
        check(table, "Option Meaning -a all -b bytes");
        check(
            &format!("<div><h1>O</h1>{}</div><div><ul><li>{PROSE}</ul></div>", PROSE.repeat(12)),
            &format!("O {}", "PROSE ".repeat(13).trim()),
        );
        let code = "<div><pre>fn <a href=f>new</a>() -&gt; <a href=s>Self</a></pre></div><p>Makes one.</p>";
        check(code, "fn new () -&gt; Self Makes one.");
        let terms =
            "<dl><dt><a href=v>Vec</a><dd>A growable array<dt><a href=r>Rc</a><dd>A shared value</dl>";
        check(terms, "Vec A growable array Rc A shared value");
    }

    #[test]
    fn what_a_heading_introduces_is_kept() {
        let head = "<div id=head><h1>a(1)</h1><h2>NAME</h2><p>a - adds</p></div>";
        let see = "<div><h2>SEE ALSO</h2><p><a href=b>b(1)</a> <a href=c>c(1)</a></p></div>";
        let body = format!("<div id=content><div><h2>DESCRIPTION</h2><p>{PROSE}</p></div>{see}</div>");
        check(
            &format!("{head}{body}<div id=footer>Last updated 2024</div>"),
            "a(1) NAME a - adds DESCRIPTION PROSE SEE ALSO b(1) c(1) Last updated 2024",
        );
        let intro = format!(
            "<div><h1>Security</h1></div><div><p>Why it matters to all of us.</p></div><div><h2>Rules</h2>{}</div>",
            PROSE.repeat(3)
        );
        check(&intro, "Security Why it matters to all of us. Rules PROSE PROSE PROSE");
    }

    proptest! {
        #[test]
        fn no_markup_makes_it_panic(
            html in "([a-zé漢. \n]{1,9}|<(/?)(p|div|td|table|tr|main|article|aside|h1|h2|nav|ul|li|pre|section)( hidden| role=main)?>|<a href=(#x|y)( rel=next)?>|</a>){0,60}",
        ) {
            let mut last = 0;
            let end = html.len();
            for range in around_content(&html).into_iter().chain(std::iter::once(end..end)) {
                prop_assert!(last <= range.start && range.start <= range.end && range.end <= html.len());
                prop_assert!(html.is_char_boundary(range.start) && html.is_char_boundary(range.end));
                last = range.end;
            }
        }
    }
}
