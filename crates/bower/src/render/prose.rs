//! Converts Markdown to running text for an excerpt.
//! The marks of headings, lists, tables, quotes and emphasis are removed. All words stay in their order.

/// Distance in bytes within which the end of a mark is searched. Anything longer is no link, and the limit bounds time and
/// recursion.
const REACH: usize = 400;

/// Kind of a block, as far as it decides how the next one is joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Block {
    Heading,
    Paragraph,
    Item,
    Row,
    Code,
}

/// Returns the text of `markdown` on one line. Blocks that do not end a sentence are separated by ` · `, a heading by a colon.
///
/// ```text
/// ## Retries\n\n| code | wait |\n|---|---|\n| 503 | 2 s |   ->   Retries: code, wait · 503, 2 s
/// ```
pub fn prose(markdown: &str) -> String {
    let mut out = String::with_capacity(markdown.len());
    let mut last: Option<Block> = None;
    // True if the next line continues the last block.
    let mut open = false;
    let mut fence: Option<(char, usize)> = None;
    for line in markdown.lines() {
        let line = unquoted(line);
        if let Some(mark) = fence_of(line) {
            match fence {
                Some(begun) if begun.0 == mark.0 && begun.1 <= mark.1 => fence = None,
                Some(_) => {}
                None => fence = Some(mark),
            }
            open = false;
            continue;
        }
        if fence.is_some() {
            add(&mut out, last, open && last == Some(Block::Code), line.trim());
            (last, open) = (Some(Block::Code), true);
            continue;
        }
        if line.is_empty() || is_rule(line) {
            open = false;
            continue;
        }
        let (block, text) = block_of(line);
        let text = inline(&text);
        if text.is_empty() {
            continue;
        }
        let goes_on = open && block == Block::Paragraph && last != Some(Block::Heading);
        add(&mut out, last, goes_on, &text);
        if !goes_on {
            last = Some(block);
        }
        open = true;
    }
    out
}

fn add(out: &mut String, last: Option<Block>, goes_on: bool, text: &str) {
    if text.is_empty() {
        return;
    }
    if !out.is_empty() {
        let ended = out.ends_with(['.', '!', '?', ':', ';', ',', '…', '。', '！', '？', '：', '；', '·']);
        out.push_str(match last {
            _ if goes_on || ended => " ",
            Some(Block::Heading) => ": ",
            Some(Block::Paragraph | Block::Item | Block::Row | Block::Code) | None => " · ",
        });
    }
    out.push_str(text);
}

/// Removes the indent and the quotation marks (`>`) of a line.
fn unquoted(line: &str) -> &str {
    let mut line = line.trim();
    while let Some(rest) = line.strip_prefix('>') {
        line = rest.trim_start();
    }
    line
}

/// Returns the character and length of a code fence.
fn fence_of(line: &str) -> Option<(char, usize)> {
    let mark = line.chars().next().filter(|&c| c == '`' || c == '~')?;
    let length = line.chars().take_while(|&c| c == mark).count();
    // Three backticks with another one later in the line are code within a sentence.
    (length >= 3 && !(mark == '`' && line[length..].contains('`'))).then_some((mark, length))
}

/// Whether a line is a thematic break, the underline of a heading, or the one below a table's head. None has text.
fn is_rule(line: &str) -> bool {
    let bare = || line.chars().filter(|c| !c.is_whitespace());
    let first = bare().next().unwrap_or_default();
    (matches!(first, '-' | '=' | '*' | '_') && bare().count() >= 3 && bare().all(|c| c == first))
        || (line.contains('-') && line.contains('|') && bare().all(|c| matches!(c, '|' | '-' | ':')))
}

fn block_of(line: &str) -> (Block, String) {
    let marks = line.chars().take_while(|&c| c == '#').count();
    if (1..=6).contains(&marks) && line[marks..].chars().next().is_none_or(char::is_whitespace) {
        return (Block::Heading, line[marks..].trim().trim_end_matches('#').trim_end().to_string());
    }
    if let Some(rest) = line.strip_prefix('|') {
        let cells = rest.trim_end_matches('|').replace("\\|", "\u{1}");
        let cells: Vec<_> = cells.split('|').map(str::trim).filter(|cell| !cell.is_empty()).collect();
        return (Block::Row, cells.join(", ").replace('\u{1}', "|"));
    }
    for bullet in ["- ", "* ", "+ "] {
        if let Some(rest) = line.strip_prefix(bullet) {
            let rest = rest.trim_start();
            let boxes = ["[ ] ", "[x] ", "[X] "];
            let rest = boxes.iter().find_map(|tick| rest.strip_prefix(tick)).unwrap_or(rest);
            return (Block::Item, rest.to_string());
        }
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let numbered =
        (1..=4).contains(&digits) && (line[digits..].starts_with(". ") || line[digits..].starts_with(") "));
    (if numbered { Block::Item } else { Block::Paragraph }, line.to_string())
}

/// Returns the text of a line without marks of emphasis and code; links are replaced by their words.
fn inline(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let before = out.chars().next_back();
        let (shown, taken) = match first {
            '\\' => escaped(rest),
            '`' => Some(code(rest)),
            '!' | '[' => link(rest),
            '*' | '_' | '~' => emphasis(rest, before),
            _ => None,
        }
        .unwrap_or_else(|| (rest[..first.len_utf8()].to_string(), first.len_utf8()));
        out.push_str(&shown);
        rest = &rest[taken..];
    }
    out.trim().to_string()
}

/// Returns the character after a backslash: `\*` is `*`.
fn escaped(rest: &str) -> Option<(String, usize)> {
    let next = rest[1..].chars().next().filter(char::is_ascii_punctuation)?;
    // A Windows path is no row of escapes.
    (next != '\\' || rest.starts_with("\\\\*")).then(|| (next.to_string(), 2))
}

/// Returns the content of `` `code` ``.
fn code(rest: &str) -> (String, usize) {
    let marks = rest.bytes().take_while(|&b| b == b'`').count();
    let inside = reach(&rest[marks..]);
    match inside.find(&rest[..marks]).filter(|&end| end > 0 && marks <= REACH) {
        Some(end) => (inside[..end].trim().to_string(), marks + end + marks),
        None => (rest[..marks].to_string(), marks),
    }
}

/// Returns the part of the text that is searched.
fn reach(text: &str) -> &str {
    &text[..text.floor_char_boundary(REACH)]
}

/// Returns the words of `[words](address)`, `![words](address)`, `[words][name]`, `[[note|words]]`.
fn link(rest: &str) -> Option<(String, usize)> {
    let rest = reach(rest);
    let lead = if rest.starts_with("![") { 2 } else { 1 };
    if lead == 1 && !rest.starts_with('[') {
        return None;
    }
    if let Some(inside) = rest[lead..].strip_prefix('[') {
        let end = inside.find("]]")?;
        let words = inside[..end].rsplit('|').next().unwrap_or_default();
        return Some((words.to_string(), lead + 1 + end + 2));
    }
    let mut depth = 1;
    let end = rest[lead..].char_indices().find_map(|(at, c)| {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        (depth == 0).then_some(lead + at)
    })?;
    let after = &rest[end + 1..];
    let close = match after.chars().next()? {
        '(' => after.find(')')?,
        '[' => after.find(']')?,
        _ => return None,
    };
    Some((inline(&rest[lead..end]), end + 1 + close + 1))
}

/// Removes marks of emphasis that open before a word or close after one; `snake_case`, `2 * 3` and `~/x` have none.
fn emphasis(rest: &str, before: Option<char>) -> Option<(String, usize)> {
    let mark = rest.chars().next()?;
    let marks = rest.chars().take_while(|&c| c == mark).count();
    let after = rest[marks..].chars().next();
    let is_word = |c: Option<char>| c.is_some_and(|c| !c.is_whitespace());
    let is_letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let opens = is_word(after) && !is_letter(before) && closes_later(reach(&rest[marks..]), &rest[..marks]);
    let closes = is_word(before) && !is_letter(after);
    let emphasises = match mark {
        '*' => marks <= 3 && (opens || closes),
        '_' => marks <= 3 && opens,
        _ => marks == 2 && (opens || closes),
    };
    if !emphasises {
        // A rejected mark is skipped as a whole, or its second character would be examined alone.
        return Some((rest[..marks].to_string(), marks));
    }
    if mark == '_' {
        // A closing underscore is found from its opening one, so `_private` stays.
        let inside = reach(&rest[marks..]);
        let end = inside.find(&rest[..marks])?;
        return Some((inline(&inside[..end]), marks + end + marks));
    }
    Some((String::new(), marks))
}

fn closes_later(inside: &str, marks: &str) -> bool {
    inside.match_indices(marks).any(|(at, _)| {
        let before = inside[..at].chars().next_back();
        let after = inside[at + marks.len()..].chars().next();
        before.is_some_and(|c| !c.is_whitespace()) && !after.is_some_and(char::is_alphanumeric)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(markdown: &str, expected: &str) {
        assert_eq!(prose(markdown), expected, "{markdown:?}");
    }

    #[test]
    fn blocks_become_one_line() {
        check("## Retries\n\n| code | wait |\n|---|:-:|\n| 503 | 2 s |", "Retries: code, wait · 503, 2 s");
        check("One line\nand the next.\n\nAnother paragraph", "One line and the next. Another paragraph");
        check("Title\n=====\ntext\n\n---\nmore", "Title · text · more");
        check("- salt\n- wet leaves,\n  and ice\n\nSo", "salt · wet leaves, and ice · So");
        check("1. first\n2) second\n- [x] done", "1. first · 2) second · done");
        check("> quoted\n> > twice", "quoted twice");
        check(
            "Run:\n\n```sh\nbower index .\nbower query x\n```\nThen wait",
            "Run: bower index . bower query x · Then wait",
        );
        check("#hashtag stays\n# C# ##", "#hashtag stays · C#");
    }

    #[test]
    fn marks_within_a_line_go() {
        check("The **retry** policy is *not* __final__ and ~~old~~", "The retry policy is not final and old");
        check(
            "see [the guide](a/b.md) and ![a plan](p.png), [x][y], [[Note|words]], [[Note]]",
            "see the guide and a plan, x, words, Note",
        );
        check("call `get_user(*args)` or ``a`b``", "call get_user(*args) or a`b");
        check(
            "snake_case, _private, 2 * 3, a*b, ~/x, **kwargs, [1], f(x)[0], !",
            "snake_case, _private, 2 * 3, a*b, ~/x, **kwargs, [1], f(x)[0], !",
        );
        check(r"\*literal\* and C:\\x", r"*literal* and C:\\x");
    }

    proptest! {
        #[test]
        fn no_word_is_lost(text in "[a-c #>|`*_~!\\[\\]()\\\\\\n.-]{0,120}") {
            let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).count();
            let shown = prose(&text);
            prop_assert!(!shown.contains('\n'));
            // The address of a link and the info string of a fence are not words of the text.
            if !text.contains("](") && !text.contains("][") && !text.contains("[[") && !text.contains("```") && !text.contains("~~~") {
                prop_assert_eq!(letters(&shown), letters(&text), "{:?} from {:?}", shown, text);
            }
        }

        #[test]
        fn any_text_goes_through(text in any::<String>()) {
            prop_assert!(!prose(&text).contains('\n'));
        }
    }
}
