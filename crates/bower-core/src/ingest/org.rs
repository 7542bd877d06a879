//! Converts Org files to Markdown and chunks them.
//! One pass over the lines; each line of output remembers its source line. Comments, drawers of properties and includes are left out.
//!
//! Source: the Org syntax specification of orgmode.org, 2024.

use serde_json::Value;

use super::blocks::{Blocks, Row};
use super::draft::ParsedFile;
use super::org_inline::shown;
use super::tags;
use crate::config::Settings;

/// Converts and chunks a document.
pub(super) fn parse(source: &str, settings: &Settings) -> ParsedFile {
    let mut document = Document::default();
    document.read(source);
    let (heading, drafts) = document.blocks.out.chunks(settings);
    let mut file = ParsedFile { drafts, tags: document.tags, ..ParsedFile::default() };
    for (name, value) in document.fields {
        match name.as_str() {
            "title" => {
                file.title = Some(file.title.map_or(value.clone(), |title| format!("{title} {value}")));
            }
            _ => {
                file.metadata.insert(name, Value::String(value));
            }
        }
    }
    file.title = file.title.or(heading);
    file
}

/// What the lines up to an end belong to.
enum Region {
    /// Lines that are not shown, up to this one (in lower case).
    Skipped(String),
    /// Lines of a subtree that is a comment, up to a heading of this level or above.
    Subtree(usize),
    /// Lines of code, up to this one (in lower case).
    Code(String),
    /// A formula, up to this line.
    Math(String),
    /// Lines with a colon before the code.
    Fixed,
    Table(Vec<(Row, u32)>),
}

#[derive(Default)]
struct Document {
    blocks: Blocks,
    fields: Vec<(String, String)>,
    tags: Vec<String>,
    region: Option<Region>,
    /// Indentation of the mark of each open item.
    items: Vec<usize>,
}

impl Document {
    fn read(&mut self, source: &str) {
        for (line, number) in source.lines().zip(1..) {
            self.blocks.at(number);
            self.line(line.trim_end());
        }
        self.flush();
        self.end_region();
    }

    fn line(&mut self, line: &str) {
        let text = line.trim_start();
        let level = stars(line);
        match &mut self.region {
            Some(Region::Skipped(end)) => {
                if text.eq_ignore_ascii_case(end) {
                    self.region = None;
                }
                if level.is_none() || self.region.is_none() {
                    return;
                }
                self.region = None;
            }
            Some(Region::Subtree(outer)) => {
                if level.is_none_or(|level| level > *outer) {
                    return;
                }
                self.region = None;
            }
            Some(Region::Code(end)) if !text.eq_ignore_ascii_case(end) => {
                // A comma protects what Org would read as a heading or a keyword.
                let code = text
                    .strip_prefix(',')
                    .filter(|code| code.trim_start_matches(',').starts_with(['*', '#']));
                return match code {
                    Some(code) => self.blocks.code(&format!("{}{code}", &line[..line.len() - text.len()])),
                    None => self.blocks.code(line),
                };
            }
            Some(Region::Math(end)) if text != end => return self.blocks.code(line),
            Some(Region::Code(_) | Region::Math(_)) => return self.end_region(),
            Some(Region::Fixed) => match fixed(text) {
                Some(code) => return self.blocks.code(code),
                None => self.end_region(),
            },
            Some(Region::Table(rows)) => {
                if text.starts_with('|') {
                    if let Some(row) = row(text) {
                        rows.push((row, self.blocks.out.number));
                    }
                    return;
                }
                self.end_region();
            }
            None => {}
        }
        if let Some(level) = level {
            return self.heading(level, line[level..].trim());
        }
        if text.is_empty() {
            return self.flush();
        }
        self.block_line(line, text);
    }

    /// Reads a line outside of code and tables.
    fn block_line(&mut self, line: &str, text: &str) {
        let indent = line.len() - text.len();
        if text == "#" || text.starts_with("# ") {
            return self.flush();
        }
        if let Some(keyword) = text.strip_prefix("#+") {
            return self.keyword(keyword, indent);
        }
        if let Some(name) = drawer(text) {
            self.flush();
            if matches!(name.to_ascii_lowercase().as_str(), "properties" | "logbook") {
                self.region = Some(Region::Skipped(":end:".to_owned()));
            }
            return;
        }
        if let Some((mark, rest)) = item(text, indent) {
            return self.item(mark, rest, indent);
        }
        let is_behind = self.items.last().is_some_and(|outer| indent <= *outer);
        if is_behind || !self.blocks.is_open() {
            self.flush();
            self.leave(indent);
        }
        if let Some(code) = fixed(text) {
            self.flush();
            self.blocks.open_code("");
            self.blocks.code(code);
            self.region = Some(Region::Fixed);
        } else if text.starts_with('|') {
            self.flush();
            self.region =
                Some(Region::Table(row(text).into_iter().map(|row| (row, self.blocks.out.number)).collect()));
        } else if let Some(name) = environment(text).filter(|_| !self.blocks.is_open()) {
            self.blocks.open_code("");
            self.blocks.code(line);
            self.region = Some(Region::Math(format!("\\end{{{name}}}")));
        } else if text.len() >= 5 && text.bytes().all(|byte| byte == b'-') {
            self.flush();
        } else {
            if !self.blocks.is_open() {
                self.blocks.gap();
            }
            self.blocks.add(text);
        }
    }

    /// Reads a headline: its title is shown, its tags become tags of the document.
    fn heading(&mut self, level: usize, title: &str) {
        self.flush();
        self.items.clear();
        if title == "COMMENT" || title.starts_with("COMMENT ") {
            self.region = Some(Region::Subtree(level));
            return;
        }
        let title = match title.rsplit_once([' ', '\t']) {
            Some((before, last)) if is_tags(last) => {
                last.split(':').for_each(|tag| tags::add(&mut self.tags, tag));
                before
            }
            _ => title,
        };
        self.blocks.heading(level, &shown(title));
    }

    /// Reads `#+NAME: value` or `#+BEGIN_NAME`.
    fn keyword(&mut self, keyword: &str, indent: usize) {
        self.flush();
        self.leave(indent);
        let lower = keyword.to_ascii_lowercase();
        if let Some(block) = lower.strip_prefix("begin_") {
            let name = block.split_whitespace().next().unwrap_or_default();
            let argument = keyword.split_whitespace().nth(1).unwrap_or_default();
            let end = format!("#+end_{name}");
            match name {
                "src" | "example" => {
                    self.blocks.open_code(if name == "src" { argument } else { "" });
                    self.region = Some(Region::Code(end));
                }
                "comment" | "export" => self.region = Some(Region::Skipped(end)),
                "quote" | "verse" | "center" => {}
                _ => {
                    // Special blocks are notes, warnings, definitions: their name says what they are.
                    self.blocks.gap();
                    self.blocks.write(&format!(
                        "{}{}:",
                        name[..1.min(name.len())].to_uppercase(),
                        name.get(1..).unwrap_or_default()
                    ));
                }
            }
            return;
        }
        let Some((name, value)) =
            lower.split_once(':').map(|(name, _)| (name, keyword[name.len() + 1..].trim()))
        else {
            return;
        };
        match name {
            "filetags" => value.split([':', ' ']).for_each(|tag| tags::add(&mut self.tags, tag)),
            "keywords" => value.split(',').for_each(|tag| tags::add(&mut self.tags, tag)),
            "title" | "subtitle" | "author" | "email" | "date" | "description" | "category" | "language" => {
                let value = shown(value);
                if name == "title" && !value.is_empty() {
                    // Headlines stand below the title.
                    self.blocks.gap();
                    self.blocks.write(&value);
                }
                if !value.is_empty() {
                    self.fields.push((name.to_owned(), value));
                }
            }
            "caption" => {
                self.blocks.gap();
                self.blocks.write(&shown(value));
            }
            _ => {}
        }
    }

    fn item(&mut self, mark: &str, rest: &str, indent: usize) {
        self.flush();
        while self.items.last().is_some_and(|outer| *outer >= indent) {
            self.items.pop();
        }
        self.blocks.item(self.items.len(), mark);
        self.items.push(indent);
        let rest = rest.trim_start();
        let rest = rest
            .strip_prefix("[@")
            .and_then(|rest| rest.split_once(']'))
            .map_or(rest, |(_, rest)| rest.trim_start());
        match rest.split_once(" ::").filter(|(_, text)| text.is_empty() || text.starts_with(' ')) {
            Some((term, text)) => {
                self.blocks.add(term);
                self.flush();
                if !text.trim().is_empty() {
                    self.blocks.add(text.trim());
                }
            }
            None => self.blocks.add(rest),
        }
    }

    /// Leaves the items whose marks are not left of a line.
    fn leave(&mut self, indent: usize) {
        while self.items.last().is_some_and(|outer| *outer >= indent) {
            self.items.pop();
        }
        self.blocks.leave(self.items.len());
    }

    fn flush(&mut self) {
        if let Some(text) = self.blocks.take() {
            self.blocks.write(&shown(&text));
        }
    }

    fn end_region(&mut self) {
        match self.region.take() {
            Some(Region::Code(_) | Region::Fixed) => self.blocks.close_code(),
            Some(Region::Math(end)) => {
                self.blocks.code(&end);
                self.blocks.close_math();
            }
            Some(Region::Table(rows)) => self.blocks.table(&rows),
            Some(Region::Skipped(_) | Region::Subtree(_)) | None => {}
        }
    }
}

/// Returns the level of a headline.
fn stars(line: &str) -> Option<usize> {
    let level = line.len() - line.trim_start_matches('*').len();
    (level > 0 && line[level..].starts_with([' ', '\t'])).then_some(level)
}

/// Whether a word is the tags of a headline: `:a:b:`.
fn is_tags(word: &str) -> bool {
    let inside = word.strip_prefix(':').and_then(|word| word.strip_suffix(':'));
    inside.is_some_and(|inside| {
        !inside.is_empty()
            && inside.chars().all(|letter| letter.is_alphanumeric() || "_@#%:".contains(letter))
    })
}

/// Returns the name of `:NAME:`, which opens or ends a drawer.
fn drawer(text: &str) -> Option<&str> {
    let name = text.strip_prefix(':')?.strip_suffix(':')?;
    (!name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || "-_".contains(letter)))
        .then_some(name)
}

/// Returns the code of a line that a colon begins.
fn fixed(text: &str) -> Option<&str> {
    if text == ":" { Some("") } else { text.strip_prefix(": ") }
}

/// Returns the name of a LaTeX environment that a line opens.
fn environment(text: &str) -> Option<&str> {
    let name = text.strip_prefix("\\begin{")?.split_once('}')?.0;
    (!name.is_empty()).then_some(name)
}

/// Returns the mark of an item and its text. A star in the first column is a headline.
fn item(text: &str, indent: usize) -> Option<(&str, &str)> {
    let (mark, rest) = text.split_once([' ', '\t']).unwrap_or((text, ""));
    if mark == "-" || mark == "+" || (mark == "*" && indent > 0) {
        return Some(("-", rest));
    }
    let number = mark.strip_suffix(['.', ')'])?;
    let is_number =
        !number.is_empty() && number.len() <= 4 && number.bytes().all(|byte| byte.is_ascii_digit());
    let is_letter = number.len() == 1 && number.bytes().all(|byte| byte.is_ascii_alphabetic());
    (is_number || is_letter).then_some((if is_number && mark.ends_with('.') { mark } else { "1." }, rest))
}

/// Returns the cells of a row; `None` for a rule.
fn row(text: &str) -> Option<Row> {
    if text.starts_with("|-") {
        return None;
    }
    let inside = text.strip_prefix('|').unwrap_or(text);
    let inside = inside.strip_suffix('|').unwrap_or(inside);
    let cells: Row = inside.split('|').map(|text| (shown(text.trim()), 1, 1)).collect();
    // `<10>` and `<l>` say how wide a column is.
    let is_width =
        |text: &str| text.is_empty() || (text.len() < 6 && text.starts_with('<') && text.ends_with('>'));
    (!cells.iter().all(|(text, ..)| is_width(text))).then_some(cells)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, expected: &str) {
        let mut document = Document::default();
        document.read(source);
        document.blocks.out.check(source, expected);
    }

    #[test]
    fn keywords_and_headlines() {
        let mut document = Document::default();
        document.read(
            "#+TITLE: The *plan*\n#+filetags: :a:b:\n#+AUTHOR: Ann\n#+OPTIONS: toc:nil\n* TODO One :work:\n:PROPERTIES:\n:ID: x\n:END:\ntext\n\
             ** COMMENT Hidden\nhidden\n*** hidden\n** Two\n# comment\n#+begin_comment\nhidden\n#+end_comment\n",
        );
        assert_eq!(document.tags, ["a", "b", "work"]);
        assert_eq!(document.fields[0], ("title".to_owned(), "The plan".to_owned()));
        assert_eq!(document.blocks.out.text.trim(), "The plan\n\n# TODO One\n\ntext\n\n## Two");
    }

    #[test]
    fn lists_code_and_tables() {
        check(
            "- one\n  more\n  + [X] inner\n    #+begin_src rust\n    let a;\n    #+end_src\n- term :: text\n1) x\n\nend\n",
            "- one\n  more\n  - [X] inner\n\n    ```rust\n    let a;\n    ```\n\n- term\n  text\n1. x\n\nend",
        );
        check(
            ": fixed\n:   x\ntext\n#+begin_example\n,* star\n#+end_example\n",
            "```\nfixed\n  x\n```\n\ntext\n\n```\n* star\n```",
        );
        check(
            "#+CAPTION: Ages\n| Name | Age |\n|------+-----|\n| Ann | 40 |\n#+TBLFM: $2=1\n-----\n\\begin{equation}\nx^2\n\\end{equation}\n",
            "Ages\n\n| Name | Age |\n|---|---|\n| Ann | 40 |\n\n$$\n\\begin{equation}\nx^2\n\\end{equation}\n$$",
        );
        check(
            "#+begin_note\nMind.\n#+end_note\n#+begin_quote\nSaid.\n#+end_quote\n",
            "Note:\n\nMind.\n\nSaid.",
        );
    }

    #[test]
    fn marks_inside_a_paragraph_are_resolved() {
        for (source, expected) in [
            ("*a* /b/ _c_ =d*e*= ~f~ +g+ a/b/c x_y_z", "a b c `d*e*` `f` g a/b/c x_y_z"),
            ("[[https://a.org][the page]] [[file:b.org]] [fn:1] x[fn:: why]", "the page b.org [1] x (why)"),
            ("\\alpha{} \\nbsp{}a @@html:<b>@@ <<t>>x {{{kbd(C-c)}}} \\unknown", "α  a  x C-c \\unknown"),
            ("a = b and c ~ d [[open", "a = b and c ~ d [[open"),
        ] {
            check(source, expected);
        }
    }
}
