//! Tokenizes a text into words, codes, numbers and marks, from which claims and fact keys are read.
//! One pass, and any string has tokens.

use super::numbers;
use super::words::ABBREVIATIONS;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::memory) enum Kind {
    /// A plain word.
    Word,
    /// What only a name can look like: letters with digits, `snake_case`, camelCase, hosts, paths, dates, addresses.
    Code,
    /// A number, with its unit where that is written on to it.
    Number,
    /// Punctuation. Arrows are `->`, dashes `-`, quotes `"`, and those of other scripts as the keyboard has them.
    Mark,
}

/// One token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::memory) struct Token<'a> {
    /// As it is written, without a possessive `'s`.
    pub text: &'a str,
    /// The same in lower case; of a mark its keyboard form.
    pub lower: String,
    /// Where it begins, in bytes.
    pub at: usize,
    /// What it is.
    pub kind: Kind,
    /// Whether `'s` followed it.
    pub owns: bool,
    /// Whether it is the first word of a sentence or line, where a capital says nothing.
    pub opens: bool,
    /// Whether it is written as a name: `#room`, `@person`.
    pub marked: bool,
}

impl Token<'_> {
    /// Whether it is this word or mark.
    pub fn is(&self, word: &str) -> bool {
        self.lower == word
    }

    /// Whether it is one of these.
    pub fn among(&self, words: &[&str]) -> bool {
        words.contains(&self.lower.as_str())
    }

    /// Whether it begins with a capital.
    pub fn is_capital(&self) -> bool {
        self.text.chars().next().is_some_and(char::is_uppercase)
    }

    /// Whether it is punctuation.
    pub fn is_mark(&self) -> bool {
        self.kind == Kind::Mark
    }

    /// Where it ends, in bytes; a possessive `'s` is outside.
    pub fn end(&self) -> usize {
        self.at + self.text.len()
    }
}

/// Longer runs without a space are one code: nothing within them is looked at twice.
const LONGEST: usize = 256;

/// Words with `'s` that own nothing: "it's" is "it is".
const CONTRACTED: &[&str] =
    &["he", "here", "how", "it", "let", "she", "that", "there", "what", "when", "where", "who"];

/// The tokens of a text in its order.
pub(in crate::memory) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut reader = Reader { text, found: Vec::new(), opens: true };
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let next = at + c.len_utf8();
        if c.is_whitespace() {
            reader.opens |= c == '\n';
            at = next;
        } else if let Some(length) = arrow(&text[at..]) {
            reader.mark(at, at + length, "->");
            at += length;
        } else if divides(c) {
            reader.mark(at, next, keyboard(c).unwrap_or(&text[at..next]));
            at = next;
        } else {
            let end = chunk_end(text, at);
            reader.chunk(at, end);
            at = end;
        }
    }
    reader.found
}

struct Reader<'a> {
    text: &'a str,
    found: Vec<Token<'a>>,
    opens: bool,
}

impl Reader<'_> {
    fn mark(&mut self, at: usize, end: usize, lower: &str) {
        self.opens |= matches!(lower, "." | "!" | "?" | ":");
        let text = &self.text[at..end];
        self.found.push(Token {
            text,
            lower: lower.to_owned(),
            at,
            kind: Kind::Mark,
            owns: false,
            opens: false,
            marked: false,
        });
    }

    /// What stands between two spaces or dividing marks.
    fn chunk(&mut self, at: usize, end: usize) {
        let whole = &self.text[at..end];
        let mut core = whole.trim_start_matches(['\'', '‘', '’', '#', '@', ':', '&', '^', '_']);
        if !core.starts_with("~/") {
            core = core.trim_start_matches('~');
        }
        if core.starts_with('-') {
            let bare = core.trim_start_matches('-');
            let is_sign = core.len() == bare.len() + 1 && bare.starts_with(|c: char| c.is_ascii_digit());
            core = if is_sign { core } else { bare };
        }
        if core.chars().all(|c| c == '.') {
            core = "";
        }
        let start = end - core.len();
        let core = core.trim_end_matches(['.', ':', '\'', '‘', '’', '-', ',', '^', '~', '&', '@', '#', '_']);
        if core.is_empty() {
            let first = whole.chars().next().map_or(0, char::len_utf8);
            let lower = if whole.starts_with(['.', ':', '-', '&', ',']) { &whole[..first] } else { "'" };
            self.mark(at, at + first, lower);
            return;
        }
        let core_end = start + core.len();
        if is_port(whole, core) {
            let text = &self.text[at..=at];
            let (lower, kind, opens) = ("port".to_owned(), Kind::Word, self.opens);
            self.found.push(Token { text, lower, at, kind, owns: false, opens, marked: false });
        }
        let first = self.found.len();
        self.pieces(start, core_end);
        if whole.starts_with(['#', '@'])
            && let Some(token) = self.found.get_mut(first)
        {
            token.marked = true;
        }
        let tail = &self.text[core_end..end];
        if tail.contains(':') {
            self.mark(core_end, end, ":");
        } else if tail.contains('.') && !self.is_abbreviated(core) && !is_command(core, &self.text[end..]) {
            self.mark(core_end, end, ".");
        }
    }

    /// Whether a full stop after the word ends no sentence: "e.g.", the initial of "J. Smith".
    fn is_abbreviated(&self, core: &str) -> bool {
        let is_initial = core.chars().count() == 1 && core.chars().all(char::is_uppercase);
        is_initial || self.found.last().is_some_and(|last| last.among(ABBREVIATIONS))
    }

    /// Cuts what is held together by a colon or a slash: `port:8080`, `and/or`, not `10:30` or `src/main.rs`.
    fn pieces(&mut self, at: usize, end: usize) {
        let core = &self.text[at..end];
        match cut(core) {
            Some(cut) => {
                let mark = if core[cut..].starts_with(':') { ":" } else { "/" };
                self.piece(at, at + cut);
                self.mark(at + cut, at + cut + 1, mark);
                self.pieces(at + cut + 1, end);
            }
            None => self.piece(at, end),
        }
    }

    fn piece(&mut self, at: usize, end: usize) {
        let whole = &self.text[at..end];
        let bare = ["'s", "’s", "'S", "’S"].iter().find_map(|tail| whole.strip_suffix(tail));
        let bare = bare.filter(|bare| {
            !bare.is_empty() && !CONTRACTED.iter().any(|word| bare.eq_ignore_ascii_case(word))
        });
        let text = bare.unwrap_or(whole);
        let mut lower = text.to_lowercase();
        if lower.contains('’') {
            lower = lower.replace('’', "'");
        }
        let kind = if numbers::parse(text).is_some() {
            Kind::Number
        } else if is_code(text) && !ABBREVIATIONS.contains(&lower.as_str()) {
            Kind::Code
        } else if text.chars().any(char::is_alphanumeric) {
            Kind::Word
        } else {
            self.mark(at, end, whole);
            return;
        };
        self.found.push(Token {
            text,
            lower,
            at,
            kind,
            owns: bare.is_some(),
            opens: self.opens,
            marked: false,
        });
        self.opens = false;
    }
}

/// Whether the colon at the head of a chunk stands for the word: "answers on :8080".
fn is_port(whole: &str, core: &str) -> bool {
    let digits = whole.strip_prefix(':').and_then(|rest| rest.strip_prefix(core));
    digits.is_some_and(|rest| !rest.contains(':'))
        && (2..=5).contains(&core.len())
        && core.bytes().all(|b| b.is_ascii_digit())
}

/// Whether full stops behind it are of a command and end no sentence: "`bazel test //...` tests it", "ls ./...".
fn is_command(core: &str, rest: &str) -> bool {
    rest.starts_with('`') || !core.contains(char::is_alphanumeric)
}

/// Whether only a name, an address, a date or the like is written so.
fn is_code(text: &str) -> bool {
    let mut before = ' ';
    let (mut digits, mut letters, mut joints) = (false, false, false);
    for (at, c) in text.char_indices() {
        let next = text[at + c.len_utf8()..].chars().next().unwrap_or(' ');
        digits |= c.is_numeric();
        letters |= c.is_alphabetic();
        joints |= matches!(c, '_' | '/' | '\\' | '@' | ':' | '$');
        joints |= matches!(c, '.') && next.is_alphanumeric();
        joints |= before.is_lowercase() && c.is_uppercase();
        before = c;
    }
    (digits && (letters || text.len() > 1)) || (joints && (letters || digits))
}

/// Where a chunk is cut in two, if it is.
fn cut(core: &str) -> Option<usize> {
    if core.len() > LONGEST || core.contains("://") || core.contains("::") {
        return None;
    }
    if let Some(at) = core.find(':') {
        let (left, right) = (&core[..at], &core[at + 1..]);
        let digits = |side: &str| side.bytes().all(|b| b.is_ascii_digit());
        let is_clock = left.ends_with(|c: char| c.is_ascii_digit())
            && right.starts_with(|c: char| c.is_ascii_digit())
            && left.trim_start_matches('0').len() <= 15
            && !left.contains(char::is_alphabetic);
        let is_host = digits(right) && (left == "localhost" || left.contains('.'));
        let is_drive = left.len() == 1 && right.starts_with(['\\', '/']);
        let is_many = core.matches(':').count() > 2;
        let is_whole = is_clock || is_host || is_drive || is_many || left.is_empty() || right.is_empty();
        return (!is_whole).then_some(at);
    }
    let at = core.find('/')?;
    let words = |side: &str| !side.is_empty() && side.chars().all(char::is_alphabetic);
    (words(&core[..at]) && words(&core[at + 1..])).then_some(at)
}

/// Where the chunk that begins at `at` ends.
fn chunk_end(text: &str, at: usize) -> usize {
    let first = text[at..].chars().next().unwrap_or(' ');
    let unspaced = is_unspaced(first);
    let (mut before, mut is_address) = (' ', false);
    for (offset, c) in text[at..].char_indices() {
        let here = at + offset;
        if c.is_whitespace() || is_unspaced(c) != unspaced {
            return here;
        }
        if is_address {
            if matches!(c, '"' | '<' | '>' | ')' | ']' | '`' | ',') {
                return here;
            }
        } else if (divides(c) || arrow(&text[here..]).is_some()) && offset > 0 {
            let next = text[here + c.len_utf8()..].chars().next().unwrap_or(' ');
            if !(c == ',' && before.is_ascii_digit() && next.is_ascii_digit()) {
                return here;
            }
        }
        is_address |= before == '/' && c == '/' && text[at..here].ends_with(":/");
        before = c;
    }
    text.len()
}

/// Length of the arrow that a text begins with.
fn arrow(text: &str) -> Option<usize> {
    ["->", "=>", "→", "⇒"].iter().find(|arrow| text.starts_with(**arrow)).map(|arrow| arrow.len())
}

/// Whether a character is a token by itself wherever it stands; a comma is not between two digits.
fn divides(c: char) -> bool {
    const DIVIDING: &str = "()[]{}<>\"“”„«»;!?…—–|*`=,。，、；：！？「」『』（）";
    if c.is_ascii() && (c.is_ascii_alphanumeric() || c.is_ascii_whitespace()) {
        return false;
    }
    DIVIDING.contains(c)
}

/// A mark as the keyboard has it, where it differs.
fn keyboard(c: char) -> Option<&'static str> {
    Some(match c {
        '“' | '”' | '„' | '«' | '»' | '「' | '」' | '『' | '』' => "\"",
        '—' | '–' => "-",
        '。' | '…' => ".",
        '，' | '、' => ",",
        '；' => ";",
        '：' => ":",
        '！' => "!",
        '？' => "?",
        '（' => "(",
        '）' => ")",
        _ => return None,
    })
}

/// Whether the script of a letter puts no spaces between words: a number within such a text is a token all the same.
fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c), 0xE00..=0xEFF | 0x1000..=0x109F | 0x1780..=0x17FF | 0x2E80..=0x2FDF | 0x3005..=0x3007
        | 0x3021..=0x312F | 0x31A0..=0x31FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF
        | 0xFF66..=0xFF9F | 0x1_B000..=0x1_B16F | 0x2_0000..=0x3_FFFF)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let shown: Vec<String> = tokens(text)
            .iter()
            .map(|token| {
                let kind = match token.kind {
                    Kind::Word => "w",
                    Kind::Code => "c",
                    Kind::Number => "n",
                    Kind::Mark => "m",
                };
                format!("{kind}:{}{}", token.lower, if token.owns { "+s" } else { "" })
            })
            .collect();
        assert_eq!(shown.join(" "), expected, "{text}");
    }

    #[test]
    fn a_text_falls_into_words_codes_numbers_and_marks() {
        check("The API's port is 8080.", "w:the w:api+s w:port w:is n:8080 m:.");
        check("port:8080", "w:port m:: n:8080");
        check("API_PORT=8080", "c:api_port m:= n:8080");
        check("at 10:30 on 2024-05-01", "w:at c:10:30 w:on c:2024-05-01");
        check("1,000 users, 16GB", "n:1,000 w:users m:, n:16gb");
        check("web-041 moved -> db.prod.example", "c:web-041 w:moved m:-> c:db.prod.example");
        check("see https://a.example/x?y=1, then", "w:see c:https://a.example/x?y=1 m:, w:then");
        check("and/or TCP/IP src/main.rs", "w:and m:/ w:or w:tcp m:/ w:ip c:src/main.rs");
        check("don’t, e.g. J. Smith’s", "w:don't m:, w:e.g w:j w:smith+s");
        check("localhost:8080 C:\\x a::b", "c:localhost:8080 c:c:\\x c:a::b");
        check("(GitHub) `PostgreSQL` v1.2.3", "m:( c:github m:) m:` c:postgresql m:` c:v1.2.3");
        check("`go ./...` runs it.", "m:` w:go m:./ m:` w:runs w:it m:.");
        check("端口是8080。", "w:端口是 n:8080 m:.");
        check("--port 8080 -5 — ...", "w:port n:8080 n:-5 m:- m:.");
        check("", "");
    }

    #[test]
    fn a_sentence_opens_after_its_end_and_on_a_new_line() {
        let found = tokens("Alice met Bob. Carol\nDan: Eve (fay)");
        let opening: Vec<&str> = found.iter().filter(|token| token.opens).map(|token| token.text).collect();
        assert_eq!(opening, ["Alice", "Carol", "Dan", "Eve"]);
    }
}
