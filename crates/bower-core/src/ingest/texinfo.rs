//! Converts Texinfo to Markdown and chunks it.
//! One pass over the lines; each line of output remembers its source line. Menus, indexes and what is for another output than plain
//! text are left out. Files that are included are not followed.
//!
//! Source: the manual of GNU Texinfo 7.1.

use super::blocks::{Blocks, Row};
use super::draft::ParsedFile;
use super::texinfo_inline::{TexinfoValues, shown};
use crate::config::Settings;

/// Environments whose content is not for readers of plain text.
const SILENT: &[&str] = &[
    "copying",
    "detailmenu",
    "direntry",
    "docbook",
    "documentdescription",
    "html",
    "ifdocbook",
    "ifhtml",
    "ifnotplaintext",
    "iftex",
    "ifxml",
    "ignore",
    "latex",
    "macro",
    "menu",
    "rmacro",
    "tex",
    "titlepage",
    "xml",
];

/// Environments whose lines are kept as they are.
const CODE: &[&str] = &[
    "display",
    "example",
    "format",
    "lisp",
    "smalldisplay",
    "smallexample",
    "smallformat",
    "smalllisp",
    "verbatim",
];

/// Converts and chunks a document.
pub(super) fn parse(source: &str, settings: &Settings) -> ParsedFile {
    let mut document = Document::default();
    document.read(source);
    let (heading, drafts) = document.blocks.out.chunks(settings);
    ParsedFile { title: document.title.or(heading), drafts, ..ParsedFile::default() }
}

/// A list or table that is open.
enum List {
    Items(&'static str),
    /// The items are terms, each an argument of a command such as `@code`.
    Terms(String),
    /// The items are rows.
    Rows(Vec<(Row, u32)>),
}

#[derive(Default)]
struct Document {
    blocks: Blocks,
    title: Option<String>,
    values: TexinfoValues,
    /// The environment that is left out, and how often it is opened inside itself.
    silent: Option<(String, usize)>,
    /// The environment whose lines are code.
    code: Option<String>,
    lists: Vec<List>,
    /// Whether the last line was a term, which the next text explains.
    is_term: bool,
}

impl Document {
    fn read(&mut self, source: &str) {
        for (line, number) in source.lines().zip(1..) {
            self.blocks.at(number);
            self.line(line.trim_end());
        }
        self.flush();
        self.blocks.close_code();
        while !self.lists.is_empty() {
            self.end_list();
        }
    }

    fn line(&mut self, line: &str) {
        let (name, rest) = command(line.trim_start()).unwrap_or(("", ""));
        if let Some((silent, depth)) = &mut self.silent {
            if name == silent {
                *depth += 1;
            } else if name == "end" && rest == silent {
                *depth -= 1;
                if *depth == 0 {
                    self.silent = None;
                }
            }
            return;
        }
        if let Some(code) = &self.code {
            if name == "end" && rest == code {
                self.code = None;
                self.blocks.close_code();
            } else if code == "verbatim" {
                self.blocks.code(line);
            } else if !(is_index(name)
                || matches!(
                    name,
                    "c" | "comment" | "group" | "noindent" | "need" | "page" | "anchor" | "end"
                ))
            {
                self.blocks.code(&shown(line, &self.values, true));
            }
            return;
        }
        if line.trim().is_empty() {
            return self.flush();
        }
        if line.starts_with("\\input ") {
            return;
        }
        if name.is_empty() {
            return self.text(line);
        }
        self.command(name, rest, line);
    }

    fn text(&mut self, line: &str) {
        if let Some(List::Rows(rows)) = self.lists.last_mut() {
            // A cell goes on in the next lines.
            if let Some((row, _)) = rows.last_mut() {
                add_cells(row, line, &self.values);
            }
            return;
        }
        if !self.blocks.is_open() && !std::mem::take(&mut self.is_term) {
            self.blocks.gap();
        }
        self.blocks.add(line);
    }

    fn command(&mut self, name: &str, rest: &str, line: &str) {
        if let Some(level) = level(name) {
            self.flush();
            while !self.lists.is_empty() {
                self.end_list();
            }
            return self.blocks.heading(level, &shown(rest, &self.values, true));
        }
        if SILENT.contains(&name) {
            self.flush();
            self.silent = Some((name.to_owned(), 1));
            return;
        }
        if CODE.contains(&name) {
            self.flush();
            self.code = Some(name.to_owned());
            return self.blocks.open_code(rest.split(',').next().unwrap_or_default());
        }
        if is_index(name) {
            return;
        }
        match name {
            "settitle" | "title" => {
                let title = shown(rest, &self.values, true);
                self.title = self.title.take().or(Some(title)).filter(|title| !title.is_empty());
            }
            "set" => self.values.set(rest),
            "itemize" => self.begin_list(List::Items("-")),
            "enumerate" => self.begin_list(List::Items("1.")),
            "table" | "ftable" | "vtable" => self.begin_list(List::Terms(rest.trim().to_owned())),
            "multitable" => self.begin_list(List::Rows(Vec::new())),
            "item" | "itemx" | "headitem" => self.item(rest),
            "tab" => self.text(line),
            "end" => self.end(rest),
            "quotation" | "smallquotation" => {
                self.flush();
                self.blocks.gap();
                if !rest.is_empty() {
                    self.blocks.add(&format!("{rest}: "));
                }
            }
            "center" | "exdent" | "subtitle" | "author" => {
                self.flush();
                self.text(rest);
                self.flush();
            }
            "sp" | "page" | "need" | "noindent" | "indent" | "cartouche" | "group" | "raggedright"
            | "flushleft" | "flushright" => self.flush(),
            _ if name.starts_with("def") && name.len() > 4 => self.defined(name, rest),
            // A command inside of a paragraph.
            _ if line.trim_start()[1 + name.len()..].starts_with('{') || name.len() == 1 => self.text(line),
            _ => {}
        }
    }

    /// Reads the line of a definition: `@deffn {Kind} name arguments`, with its kind; `@defun name arguments`, without one.
    fn defined(&mut self, name: &str, rest: &str) {
        if matches!(name, "defindex" | "definfoenclose" | "defcodeindex") {
            return;
        }
        if !name.ends_with('x') || !self.is_term {
            self.flush();
            self.blocks.gap();
        }
        let words: String = rest.chars().filter(|letter| !matches!(letter, '{' | '}')).collect();
        let words = if rest.contains('@') { shown(rest, &self.values, true) } else { words };
        self.blocks.add(words.trim_start_matches('{').trim_end_matches('@'));
        self.blocks.take().map(|text| self.blocks.write(&text.replacen('}', ":", 1))).unwrap_or_default();
        self.blocks.gap();
    }

    fn begin_list(&mut self, list: List) {
        self.flush();
        self.is_term = false;
        self.lists.push(list);
    }

    fn item(&mut self, rest: &str) {
        self.flush();
        let depth = self.lists.iter().filter(|list| !matches!(list, List::Rows(_))).count().saturating_sub(1);
        let number = self.blocks.out.number;
        match self.lists.last_mut() {
            Some(List::Rows(rows)) => {
                let mut row = vec![(String::new(), 1, 1)];
                add_cells(&mut row, rest, &self.values);
                rows.push((row, number));
            }
            Some(List::Terms(command)) => {
                let term =
                    if command.starts_with('@') { format!("{command}{{{rest}}}") } else { rest.to_owned() };
                self.blocks.item(depth, "-");
                self.blocks.add(&term);
                self.flush();
                self.is_term = true;
            }
            Some(List::Items(mark)) => {
                self.blocks.item(depth, mark);
                if rest.is_empty() {
                    self.is_term = true;
                } else {
                    self.blocks.add(rest);
                }
            }
            None => self.text(rest),
        }
    }

    fn end(&mut self, name: &str) {
        self.flush();
        if matches!(name, "itemize" | "enumerate" | "table" | "ftable" | "vtable" | "multitable") {
            self.end_list();
        }
    }

    fn end_list(&mut self) {
        self.is_term = false;
        match self.lists.pop() {
            Some(List::Rows(rows)) => self.blocks.table(&rows),
            Some(List::Items(_) | List::Terms(_)) => {
                let depth = self.lists.iter().filter(|list| !matches!(list, List::Rows(_))).count();
                self.blocks.leave(depth);
            }
            None => {}
        }
    }

    fn flush(&mut self) {
        if let Some(text) = self.blocks.take() {
            self.blocks.write(&shown(&text, &self.values, false));
        }
    }
}

/// Adds the text of a line to the last cell, and a cell for each `@tab`.
fn add_cells(row: &mut Row, line: &str, values: &TexinfoValues) {
    for (text, at) in line.split("@tab").zip(0..) {
        if at > 0 {
            row.push((String::new(), 1, 1));
        }
        if let Some((cell, ..)) = row.last_mut() {
            cell.push(' ');
            cell.push_str(&shown(text.trim(), values, false));
        }
    }
}

/// Returns the name of the command that a line begins with, and the rest of the line.
fn command(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_prefix('@')?;
    let length = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
    (length > 0).then(|| (&rest[..length], rest[length..].trim()))
}

/// Whether a command adds to an index or sets up one.
fn is_index(name: &str) -> bool {
    name.ends_with("index") || matches!(name, "c" | "comment" | "node" | "anchor")
}

/// Returns the level of a heading.
fn level(name: &str) -> Option<usize> {
    Some(match name {
        "top" | "part" | "chapter" | "unnumbered" | "appendix" | "chapheading" | "majorheading"
        | "centerchap" => 1,
        "section" | "unnumberedsec" | "appendixsec" | "appendixsection" | "heading" => 2,
        "subsection" | "unnumberedsubsec" | "appendixsubsec" | "subheading" => 3,
        "subsubsection" | "unnumberedsubsubsec" | "appendixsubsubsec" | "subsubheading" => 4,
        _ => return None,
    })
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
    fn headings_and_what_is_left_out() {
        let mut document = Document::default();
        document.read("\\input texinfo\n@settitle The @code{x} Manual\n@set V 2.1\n");
        assert_eq!(document.title.as_deref(), Some("The x Manual"));
        check(
            "@node A\n@chapter First\n@cindex a\n@menu\n* B::\n@end menu\nText @c\n@section Next @value{V}\n@ignore\nhidden\n@end ignore\n@tex\nhidden\n@end tex\nmore\n",
            "# First\n\nText\n\n## Next {V}\n\nmore",
        );
    }

    #[test]
    fn lists_code_and_tables() {
        check(
            "@itemize @bullet\n@item one\n@itemize\n@item\ninner\n@end itemize\n@end itemize\n@table @code\n@item -a\n@itemx --all\nShow all.\n@end table\nend\n",
            "- one\n  - inner\n\n- `-a`\n- `--all`\n  Show all.\n\nend",
        );
        check(
            "@example\n@group\na @var{b}\n  c@{@}\n@end group\n@end example\n@verbatim\n@x{\n@end verbatim\n",
            "```\na b\n  c{}\n```\n\n```\n@x{\n```",
        );
        check(
            "@multitable @columnfractions .5 .5\n@headitem Name @tab Age\n@item Ann\n@tab 40\n@end multitable\n",
            "| Name | Age |\n|---|---|\n| Ann | 40 |",
        );
        check(
            "@deffn Command go place\nGoes.\n@end deffn\n@quotation Note\nMind.\n@end quotation\n",
            "Command go place\n\nGoes.\n\nNote:\nMind.",
        );
    }

    #[test]
    fn commands_inside_a_paragraph_are_resolved() {
        for (source, expected) in [
            (
                "@emph{a} @code{b @var{c}} @samp{d}@footnote{Why.} @@ @{e@} x@dots{}",
                "a `b c` `d` (Why.) @ {e} x…",
            ),
            (
                "@xref{Node, , The title}. @pxref{B}; @url{https://a.org, page} @email{x@@y}",
                "See The title. see B; page x@y",
            ),
            ("@'e @\"{o} @,{c} @ss{} 1--2 ``q'' @math{x^2} @image{a,,,A cat}", "é ö ç ß 1–2 “q” $x^2$ A cat"),
            ("@unknown{w} @code{never closed", "w `never closed`"),
        ] {
            check(source, expected);
        }
    }
}
