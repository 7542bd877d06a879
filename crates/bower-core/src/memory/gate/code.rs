//! Recognises lines of source code by marks that no sentence has.
//! They are braces, calls, assignments and the heads of definitions.

/// How sure one line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Code {
    /// No sentence is written so.
    Sure,
    /// It is code if the lines around it are.
    Maybe,
    /// It is not.
    No,
}

/// So many plain words in a row are a sentence, whatever stands around them.
const SENTENCE: usize = 4;

/// Judges one line without its indentation.
pub(super) fn of(body: &str) -> Code {
    if body.is_empty() {
        return Code::No;
    }
    if body.bytes().all(|b| b"{}[]();,<>".contains(&b)) {
        return Code::Maybe;
    }
    let bare = bare(body);
    let bare = bare.trim();
    if is_statement_of_sql(bare) {
        return Code::Sure;
    }
    if is_loop(bare) || is_clause_of_sql(bare) || is_shell(body) {
        return Code::Maybe;
    }
    // `npm ci && npm test`, `.card { padding: 8px; }`
    let is_chain = bare.contains(" && ")
        && bare.starts_with(|c: char| c.is_ascii_lowercase() || matches!(c, '.' | '/'))
        && !bare.contains(": ");
    let is_style = bare.ends_with('}') && bare.contains(" { ") && bare.contains(';');
    if is_chain || is_style {
        return Code::Sure;
    }
    if is_prose(bare) {
        return Code::No;
    }
    if is_definition(bare) || is_tag(body) {
        return Code::Sure;
    }
    let ends = |tails: &[&str]| tails.iter().any(|tail| bare.ends_with(tail));
    let has = |signs: &[&str]| signs.iter().any(|sign| bare.contains(sign));
    if ends(&["{", "});", "};", "})", "=> {", "){", "()", "();", "))", "\\"])
        && has(&["(", "=", "}", "{", "->", "::", "\\"])
    {
        // `foo()` within words is a name in a sentence (`it calls foo()`).
        let words = bare.split_whitespace().count();
        return if words > 2 && ends(&["()", "))", "\\"]) && !has(&["=", ";", "{"]) {
            Code::Maybe
        } else {
            Code::Sure
        };
    }
    if bare.ends_with(';') && bare.len() > 2 {
        return if has(&["=", "(", "::", ".", "->", "<", "*", "return", "break", "import", "++"]) {
            Code::Sure
        } else {
            Code::Maybe
        };
    }
    if let Some((left, right)) = assignment(bare) {
        let is_built = right.contains(['(', '[', '{', '"', '\'', '`']) || right.contains("::");
        let is_target = left.contains(['[', '.']) || left.split_whitespace().count() == 1;
        if is_target {
            // `PORT=8080` is a fact, `port = config["port"]` is code.
            return if is_built && right.contains(['(', '[', '{']) { Code::Sure } else { Code::No };
        }
    }
    if is_call(bare) {
        return Code::Sure;
    }
    // `"key": value,` of JSON; `"key": {` was caught above.
    if body.starts_with('"') && (body.contains("\": ") || body.ends_with("\",") || body.contains("\":")) {
        return Code::Maybe;
    }
    if body
        .strip_prefix("$ ")
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase() || c == '.'))
    {
        return Code::Maybe;
    }
    Code::No
}

/// Whether a line has a row of plain words.
pub(super) fn is_prose(line: &str) -> bool {
    let mut run = 0;
    for word in line.split(' ') {
        let bare = word.trim_matches(|c: char| ",.;:!?'\"()…’“”*_".contains(c));
        let is_plain = !bare.is_empty()
            && bare.chars().all(|c| c.is_alphabetic() || matches!(c, '\'' | '’' | '-'))
            && !word.contains("()")
            && !is_keyword(bare);
        run = if is_plain { run + 1 } else { 0 };
        if run >= SENTENCE {
            return true;
        }
    }
    false
}

/// Words that stand in rows in code alone.
fn is_keyword(word: &str) -> bool {
    matches!(
        word,
        "public"
            | "private"
            | "protected"
            | "static"
            | "final"
            | "void"
            | "const"
            | "let"
            | "var"
            | "fn"
            | "func"
            | "def"
            | "async"
            | "await"
            | "pub"
            | "impl"
            | "struct"
            | "enum"
            | "import"
            | "export"
            | "extends"
            | "implements"
            | "throws"
            | "return"
            | "int"
            | "float"
            | "bool"
            | "elif"
            | "lambda"
            | "yield"
            | "mut"
            | "unsigned"
            | "interface"
    )
}

/// The line without what stands in quotes and behind `//`: a message in code is a sentence, but not the line's.
fn bare(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut before = ' ';
    let mut at = 0;
    // A quote that is never closed is an apostrophe, and is searched for once.
    let mut unclosed = [false; 128];
    while let Some(letter) = line[at..].chars().next() {
        let next = at + letter.len_utf8();
        let is_open = matches!(letter, '"' | '`') || (letter == '\'' && !before.is_alphanumeric());
        if is_open && !unclosed[letter as usize] {
            if let Some(end) = line[next..].find(letter) {
                out.push(letter);
                out.push(letter);
                at = next + end + 1;
                before = letter;
                continue;
            }
            unclosed[letter as usize] = true;
        }
        if letter == '/' && line[next..].starts_with('/') && before != ':' {
            break;
        }
        out.push(letter);
        before = letter;
        at = next;
    }
    out
}

/// The two sides of a single `=` (or `:=`, `+=`) that is no comparison.
fn assignment(line: &str) -> Option<(&str, &str)> {
    let at = line.find('=')?;
    let (left, right) = (&line[..at], &line[at + 1..]);
    if left.is_empty()
        || right.is_empty()
        || right.starts_with(['=', '>', '~'])
        || left.ends_with(['!', '<', '>', '='])
    {
        return None;
    }
    let left = left.trim_end_matches([':', '+', '-', '*', '/', '|', '&', '?']).trim();
    let left = ["let mut ", "let ", "const ", "var ", "export ", "static ", "final ", "auto "]
        .iter()
        .find_map(|head| left.strip_prefix(head))
        .unwrap_or(left);
    let left = left.split(':').next().unwrap_or(left).trim();
    let is_name = left.chars().all(|c| {
        c.is_ascii_alphanumeric()
            || matches!(c, '_' | '.' | '[' | ']' | '"' | '\'' | '$' | ',' | ' ' | '-' | '>')
    });
    (is_name && left.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '$')))
        .then_some((left, right.trim()))
}

/// The whole line is one call: `client.send(message, 3)`.
fn is_call(line: &str) -> bool {
    let line = line.strip_prefix("await ").unwrap_or(line);
    let Some(open) = line.find('(') else { return false };
    let (name, inside) = (&line[..open], &line[open + 1..]);
    let is_name = !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ':' | '!' | '$'))
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '$'));
    // `option(s)` and `colour(optional)` are words.
    is_name
        && inside.trim_end_matches(';').ends_with(')')
        && (name.contains(['.', '_', ':', '!']) || inside.contains(['"', '=', '\'']) || inside.contains(", "))
}

/// `for row in rows:`, which is plain words throughout.
fn is_loop(line: &str) -> bool {
    // `for i in range(10): print(i)`
    if let Some((head, body)) = line.split_once("): ")
        && head.starts_with("for ")
        && head.contains(" in ")
        && is_call(body)
    {
        return true;
    }
    let mut words = line.strip_suffix(':').unwrap_or("").split(' ');
    words.next() == Some("for") && words.nth(1) == Some("in") && words.count() == 1
}

/// Words that stand before the head of a definition.
const MODIFIERS: &[&str] = &[
    "pub ",
    "pub(crate) ",
    "export ",
    "default ",
    "async ",
    "public ",
    "private ",
    "protected ",
    "static ",
    "final ",
    "abstract ",
    "override ",
    "unsafe ",
    "const ",
    "virtual ",
    "inline ",
];

/// The head of a definition, an import or a branch.
fn is_definition(line: &str) -> bool {
    let mut rest = line;
    let mut modifiers = 0;
    while let Some(next) = MODIFIERS.iter().find_map(|word| rest.strip_prefix(word)) {
        rest = next;
        modifiers += 1;
    }
    let is_modified = modifiers >= 2 || (modifiers == 1 && line.ends_with([';', '{', '(']));
    defines(line, rest)
        .or_else(|| is_modified.then(|| line.contains(['(', '=', '{', ';'])))
        .or_else(|| imports(line))
        .or_else(|| branches(line))
        .unwrap_or(false)
}

/// Whether a line defines a function or a type, by what is left of it behind its modifiers; `None` where that begins neither.
fn defines(line: &str, rest: &str) -> Option<bool> {
    let name_len = |text: &str| {
        text.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '$'))).unwrap_or(text.len())
    };
    for head in ["fn ", "def ", "func ", "function ", "fun ", "sub "] {
        if let Some(name) = rest.strip_prefix(head) {
            let name = name.trim_start_matches(['(', '*', ' ']);
            let end = name_len(name);
            return Some(end > 0 && name[end..].starts_with(['(', '<', ' ']) && name.contains('('));
        }
    }
    for head in
        ["class ", "struct ", "enum ", "trait ", "interface ", "impl", "namespace ", "module ", "mod "]
    {
        if let Some(name) = rest.strip_prefix(head) {
            return Some(
                line.ends_with(['{', ':'])
                    && !line.ends_with("::")
                    && name.split_whitespace().count() <= 6
                    && (line.ends_with('{') || (head == "class " && name.split_whitespace().count() <= 2)),
            );
        }
    }
    None
}

/// Whether a line imports or is an attribute; `None` where it begins neither.
fn imports(line: &str) -> Option<bool> {
    let one_name = |text: &str| {
        let text = text.trim_end_matches(';');
        let mut words = text.split_whitespace();
        words
            .next()
            .is_some_and(|name| name.chars().all(|c| c.is_ascii_alphanumeric() || "_.*:{},/@".contains(c)))
            && matches!((words.next(), words.next(), words.next()), (None, ..) | (Some("as"), Some(_), None))
    };
    if let Some(name) = line.strip_prefix("import ") {
        return Some(
            line.ends_with(';')
                || name.contains(['"', '\'', '{'])
                || (one_name(name) && name.contains(['.', '_', ' ']))
                || (one_name(name) && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())),
        );
    }
    if let Some(name) = line.strip_prefix("from ") {
        let parts = name.split_once(" import ");
        return Some(parts.is_some_and(|(module, what)| !module.contains(' ') && !what.is_empty()));
    }
    if let Some(name) = line.strip_prefix("use ") {
        return Some(name.contains("::"));
    }
    ["#include ", "#define ", "#!/", "#["].iter().any(|head| line.starts_with(head)).then_some(true)
}

/// Whether a line opens a branch, leaves a function or is a decorator; `None` where it begins none of them.
fn branches(line: &str) -> Option<bool> {
    let blocks = [
        "if ", "elif ", "else:", "for ", "while ", "try:", "except ", "except:", "with ", "finally:",
        "switch ", "match ",
    ];
    if blocks.iter().any(|head| line.starts_with(head)) && (line.ends_with(':') || line.ends_with('{')) {
        return Some(
            line.contains(['(', '=', '<', '>', '_', '{', '[', '.'])
                || line.split_whitespace().count() <= 5 && !line.contains(','),
        );
    }
    if let Some(value) = line.strip_prefix("return ") {
        return Some(
            value.contains(['(', '[', '{', '=', ';', '_'])
                || value.split_whitespace().count() == 1 && value.contains(['.', ';']),
        );
    }
    if let Some(value) = line.strip_prefix("raise ").or_else(|| line.strip_prefix("throw ")) {
        return Some(value.ends_with([')', ';']) && value.contains('('));
    }
    let name = line.strip_prefix('@')?;
    Some(!name.contains(' ') && name.ends_with(')') && name.contains('('))
}

/// A line that is a tag of HTML or XML from its first sign to its last.
fn is_tag(line: &str) -> bool {
    line.starts_with('<')
        && line.ends_with('>')
        && line.len() > 2
        && line[1..].starts_with(|c: char| c.is_ascii_alphabetic() || c == '/' || c == '?')
        && !line.contains("://")
        && !line.contains('@')
}

/// SQL is written in plain words, but in capitals.
fn is_statement_of_sql(line: &str) -> bool {
    let pairs = [
        ("SELECT ", " FROM "),
        ("INSERT INTO ", " VALUES"),
        ("UPDATE ", " SET "),
        ("DELETE FROM ", " WHERE "),
        ("CREATE TABLE ", "("),
        ("ALTER TABLE ", " ADD "),
        ("CREATE INDEX ", " ON "),
        ("DROP TABLE ", ""),
    ];
    pairs.iter().any(|(head, then)| line.strip_prefix(head).is_some_and(|rest| rest.contains(then)))
        && !line.ends_with('.')
}

/// `FROM orders`, `GROUP BY 1`: a statement goes on over lines, each of which begins in capitals.
fn is_clause_of_sql(line: &str) -> bool {
    let heads = [
        "SELECT ",
        "FROM ",
        "WHERE ",
        "GROUP BY ",
        "ORDER BY ",
        "HAVING ",
        "LIMIT ",
        "JOIN ",
        "LEFT JOIN ",
        "INNER JOIN ",
        "RIGHT JOIN ",
        "INSERT INTO ",
        "VALUES",
        "SET ",
        "UPDATE ",
        "DELETE FROM ",
        "CREATE ",
        "ALTER ",
        "RETURNING ",
        "ON CONFLICT ",
        "AND ",
        "OR ",
        "UNION",
        "WITH ",
    ];
    heads.iter().any(|head| line.starts_with(head)) && !line.ends_with('.')
}

/// Lines of shell scripts: `for f in *.txt; do`, `done`, `save "$f" >> out.txt`, `set -euo pipefail`.
fn is_shell(line: &str) -> bool {
    matches!(line, "done" | "fi" | "esac" | "do" | "then" | "else" | ";;")
        || [" do", ";do", " then", ";then"].iter().any(|end| line.ends_with(end) && line.contains(';'))
        || line.starts_with("set -")
        || line.contains("\"$")
        || line.contains(" >> ")
        || line.contains(" 2>&1")
        || line.contains(" | grep ")
        || line.contains(" $(")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_known_from_sentences() {
        let check = |expected: Code, lines: &[&str]| {
            for line in lines {
                assert_eq!(of(line), expected, "{line}");
            }
        };
        check(
            Code::Sure,
            &[
                "fn main() {",
                "let x = parse(input)?;",
                "def write(self, n):",
                "class Parser:",
                "import java.util.List;",
                "import os",
                "from typing import Any",
                "use std::fmt;",
                "if (x == null) {",
                "return a + foo(b)",
                "raise ValueError(\"the port must be a number\")",
                "public static void main(String[] args)",
                "SELECT name FROM users WHERE id = 3",
                "client.send(message)",
                "const x = () => {",
                "port = config[\"port\"]",
                "<div class=\"a\">",
                "#include <stdio.h>",
            ],
        );
        check(Code::Maybe, &["}", "});", "\"name\": \"a\",", "$ cargo test", "for row in rows:"]);
        check(
            Code::No,
            &[
                "We use tabs (see docs);",
                "import tariffs rose in May",
                "from Berlin to Paris by train",
                "Use the class Parser for this.",
                "If the build fails, run make clean;",
                "The port is 8080.",
                "PORT=8080",
                "x = 5",
                "return the book to Anna",
                "for the whole family:",
                "option(s)",
                "with love, Anna:",
                "A man is playing a guitar",
                "don't call it 'x' here",
                "",
            ],
        );
    }
}
