//! Reads the links that a Markdown text writes to other documents, in time linear in its length.

/// Longest target of a wiki link in bytes.
const LONGEST_WIKI: usize = 200;
/// Longest address of a Markdown link in bytes.
const LONGEST_ADDRESS: usize = 2_000;
/// Longest text of an embedded Markdown link in bytes.
const LONGEST_TEXT: usize = 1_000;

/// How a link is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkForm {
    /// `[[Name]]`, `[[folder/name|text]]`.
    Wiki,
    /// `[text](../folder/name.md)`.
    Markdown,
}

/// A link to another document as a text writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrittenLink<'a> {
    /// How it is written.
    pub form: LinkForm,
    /// The name or address of the document. An address may have a part behind `#`.
    pub target: &'a str,
    /// Where it begins in the text, in bytes.
    pub at: usize,
    /// Whether its content is shown in place: `![[name]]`, `![text](name.png)`.
    pub is_embedded: bool,
}

/// Returns the links of a text to other documents: wiki links first, then Markdown links, each in the order of the text. Links to the
/// web, and those within the text itself, are left out.
pub fn written_links(text: &str) -> Vec<WrittenLink<'_>> {
    let mut links = Vec::new();
    for (at, _) in text.match_indices("[[") {
        let Some((inside, _)) = start(&text[at + 2..], LONGEST_WIKI + 2).split_once("]]") else { continue };
        if inside.contains(['\n', '[']) {
            continue;
        }
        // In a table the mark before the shown text is escaped.
        let target = inside.split(['|', '#']).next().unwrap_or(inside).trim_end_matches('\\').trim();
        if !target.is_empty() && !target.contains("://") {
            let is_embedded = text[..at].ends_with('!');
            links.push(WrittenLink { form: LinkForm::Wiki, target, at, is_embedded });
        }
    }
    for (at, _) in text.match_indices("](") {
        let Some(target) = address(start(&text[at + 2..], LONGEST_ADDRESS)).filter(|target| is_file(target))
        else {
            continue;
        };
        let before = &text.as_bytes()[at.saturating_sub(LONGEST_TEXT)..at];
        let opens = before.iter().rposition(|&byte| byte == b'[');
        let is_embedded = opens.is_some_and(|open| before[..open].ends_with(b"!"));
        links.push(WrittenLink { form: LinkForm::Markdown, target, at, is_embedded });
    }
    links
}

/// Returns at most the first bytes of a text, in whole characters.
fn start(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

/// Returns the address at the start of a text, up to the bracket that closes it, a blank or the end of the line.
fn address(text: &str) -> Option<&str> {
    if let Some(text) = text.strip_prefix('<') {
        return text.split_once(['>', '\n']).map(|(address, _)| address);
    }
    let mut open = 0;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => open += 1,
            ')' if open > 0 => open -= 1,
            ')' | ' ' | '\n' => return Some(&text[..at]),
            _ => {}
        }
    }
    None
}

/// Whether an address is that of a file: no web address, no other scheme (`mailto:`), and no place in the same text.
fn is_file(address: &str) -> bool {
    let scheme = address.split(['/', '?', '#']).next().and_then(|part| part.split_once(':'));
    // A drive of Windows has one letter.
    let has_scheme = scheme.is_some_and(|(scheme, _)| scheme.len() > 1);
    !(address.is_empty() || has_scheme || address.starts_with('#') || address.starts_with("//"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn targets(text: &str) -> Vec<&str> {
        written_links(text).into_iter().map(|link| link.target).collect()
    }

    #[test]
    fn links_are_read_as_they_are_written() {
        assert_eq!(targets("[[A b|x]], [[c/d#e]] and ![[p.png]] [[#here]] [[]]"), ["A b", "c/d", "p.png"]);
        assert_eq!(targets("| [[A\\|x]] |"), ["A"]);
        assert_eq!(
            targets("[a](b.md) [c](<d e.md>) [f](g_(h).md \"i\") ![j](k.png)"),
            ["b.md", "d e.md", "g_(h).md", "k.png"]
        );
        assert_eq!(targets("[a](https://b.org) [c](mailto:d@e.f) [g](#h) [i](//j.org) [k](tel:1)"), [""; 0]);
        assert_eq!(targets("[[a\nb]] [[ [[c]] [d]( [[e"), ["c"]);
        assert_eq!(targets(&format!("[[{}]]", "x".repeat(300))), [""; 0]);
        let embedded: Vec<bool> =
            written_links("![[a]] [[b]] ![c](d) [e](f)").iter().map(|link| link.is_embedded).collect();
        assert_eq!(embedded, [true, false, true, false]);
        assert_eq!(written_links("é [[a]]")[0].at, 3);
    }
}
