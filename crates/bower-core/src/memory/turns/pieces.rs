//! Cuts a turn into pieces: the sentences and lines that may be its speaker's own words, in any language.
//! Text of the host is removed. Code, tables and marked quotations stay in the text, but are no pieces.

use std::borrow::Cow;
use std::ops::Range;

/// What hosts put into a turn as if somebody had said it; it goes with all that stands within.
const BLOCKS: &str = include_str!("blocks.txt");

/// Most pieces of a turn. Of a longer turn the first and the last count, because pasted text is usually in the middle.
const MOST_PIECES: usize = 128;
/// Most bytes of a turn that are cut, for the same reason.
const MOST_TURN_BYTES: usize = 64 << 10;
/// Longer pieces are no single thought.
const MOST_BYTES: usize = 1_000;
/// A line of so many bytes may have been wrapped.
const WRAPPED_BYTES: usize = 60;
/// A quotation of so many words, or with the end of a sentence, is no mere name or term.
const QUOTED_WORDS: usize = 5;
/// Bytes of a turn within which a quotation ends.
const QUOTED_BYTES: usize = 4_000;
/// Bytes around a piece that its classifier receives: more than it reads.
const BEFORE_START_BYTES: usize = 400;
const BEFORE_BYTES: usize = 2_000;
const AFTER_BYTES: usize = 800;

/// A turn, cut into pieces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutTurn {
    /// The turn without text of the host. Of a very long one, the middle is missing.
    pub text: String,
    /// The pieces, in order.
    pub pieces: Vec<TurnPiece>,
}

/// A sentence or a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnPiece {
    /// The place in the text.
    pub range: Range<usize>,
    /// The number of the paragraph.
    pub paragraph: usize,
}

impl CutTurn {
    /// Returns the text of a piece in one line.
    pub fn piece(&self, at: usize) -> Cow<'_, str> {
        let text = &self.text[self.pieces[at].range.clone()];
        if text.contains('\n') {
            return text.split_whitespace().collect::<Vec<_>>().join(" ").into();
        }
        text.into()
    }

    /// Returns the text before a piece. The middle of a long text is missing.
    pub fn before(&self, at: usize) -> Cow<'_, str> {
        let before = &self.text[..self.pieces[at].range.start];
        if before.len() <= BEFORE_START_BYTES + BEFORE_BYTES {
            return before.into();
        }
        let first = before.floor_char_boundary(BEFORE_START_BYTES);
        let last = before.ceil_char_boundary(before.len() - BEFORE_BYTES);
        format!("{} {}", &before[..first], &before[last..]).into()
    }

    /// Returns the text after a piece. The end of a long text is missing.
    pub fn after(&self, at: usize) -> &str {
        let after = &self.text[self.pieces[at].range.end..];
        &after[..after.floor_char_boundary(AFTER_BYTES)]
    }

    /// Whether nothing stands in the turn but one piece, marks and spaces.
    pub(super) fn is_one_piece(&self) -> bool {
        let [piece] = &self.pieces[..] else { return false };
        let around = [&self.text[..piece.range.start], &self.text[piece.range.end..]];
        around.iter().all(|text| !text.contains(char::is_alphanumeric))
    }

    /// Whether nothing stands between two pieces but marks and spaces.
    pub(super) fn follows(&self, before: usize, at: usize) -> bool {
        let between = self.pieces[before].range.end..self.pieces[at].range.start;
        !self.text[between].contains(char::is_alphanumeric)
    }

    /// Returns neighbouring pieces as one text.
    pub(super) fn joined(&self, range: Range<usize>) -> String {
        range.map(|at| self.piece(at)).collect::<Vec<_>>().join(" ")
    }
}

/// A part of a turn that its speaker may have said, before it is cut into sentences.
struct Stretch {
    range: Range<usize>,
    paragraph: usize,
}

/// Cuts a turn into pieces.
pub fn pieces(said: &str) -> CutTurn {
    let mut text = without_host(said);
    if text.len() > MOST_TURN_BYTES {
        let (first, last) = (MOST_TURN_BYTES / 2, text.len() - MOST_TURN_BYTES / 2);
        text.replace_range(text.floor_char_boundary(first)..text.ceil_char_boundary(last), "\n");
    }
    let quoted = quotations(&text);
    let mut pieces = Vec::new();
    for stretch in stretches(&text) {
        for range in without(stretch.range, &quoted) {
            for range in sentences(&text, range) {
                let is_said = text[range.clone()].contains(char::is_alphanumeric);
                if is_said && range.len() <= MOST_BYTES {
                    pieces.push(TurnPiece { range, paragraph: stretch.paragraph });
                }
            }
        }
    }
    if pieces.len() > MOST_PIECES {
        pieces.drain(MOST_PIECES / 2..pieces.len() - MOST_PIECES / 2);
    }
    CutTurn { text, pieces }
}

/// Returns a turn without what its host put into it.
fn without_host(said: &str) -> String {
    let mut text = said.to_owned();
    // Each of them is looked for in all of the turn; most turns have none.
    for name in BLOCKS.lines().filter(|_| said.contains('<')) {
        text = without_block(&text, name);
    }
    for tag in ["<user_query>", "</user_query>"] {
        text = text.replace(tag, "\n");
    }
    text.trim().to_owned()
}

/// Returns a text without what stands between `<name …>` and `</name>`, in any case; without an end, all that follows goes.
fn without_block(text: &str, name: &str) -> String {
    // ASCII alone is folded, so that places stay where they are.
    let lower = text.to_ascii_lowercase();
    let (open, close) = (format!("<{name}"), format!("</{name}>"));
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    while let Some(found) = lower[from..].find(&open) {
        let start = from + found;
        let after = start + open.len();
        if !lower[after..].starts_with(|c: char| c == '>' || c.is_whitespace()) {
            out.push_str(&text[from..after]);
            from = after;
            continue;
        }
        out.push_str(&text[from..start]);
        out.push('\n');
        let Some(end) = lower[after..].find(&close) else { return out };
        from = after + end + close.len();
    }
    out.push_str(&text[from..]);
    out
}

/// What a line belongs to, if it is not its speaker's.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quoted<'a> {
    /// Code between fences.
    Fence(&'a str),
    /// A block of evidence that somebody pasted.
    Evidence,
    /// What stands between `<name>` and `</name>`.
    Tag(&'a str),
}

/// Returns the lines that their speaker may have said, without marks of a list. A wrapped line goes with the one before it.
fn stretches(text: &str) -> Vec<Stretch> {
    let mut all: Vec<Stretch> = Vec::new();
    // One number alone is no list: `7. Klasse`.
    let has_numbers = text.lines().filter(|line| numbered(line.trim()).is_some()).nth(1).is_some();
    let (mut quoted, mut paragraph, mut start) = (None, 0, 0);
    for line in text.split_inclusive('\n') {
        let from = start;
        start += line.len();
        let body = line.trim();
        let mark = ["```", "~~~"].into_iter().find(|mark| body.starts_with(mark));
        let ends = match (quoted, mark) {
            (Some(Quoted::Fence(open)), _) => Some(mark == Some(open)),
            (Some(Quoted::Tag(name)), _) => Some(closes(body, name)),
            (Some(Quoted::Evidence), None) if body.starts_with("## ") => Some(!is_evidence(body)),
            (Some(Quoted::Evidence), _) => Some(false),
            (None, Some(mark)) => {
                quoted = Some(Quoted::Fence(mark));
                Some(false)
            }
            (None, None) => None,
        };
        if let Some(ends) = ends {
            quoted = quoted.filter(|_| !ends);
            paragraph += 1;
            continue;
        }
        if is_evidence(body) {
            quoted = Some(Quoted::Evidence);
        } else if let Some(name) = tag(body) {
            quoted = text[start..].contains(&format!("</{name}>")).then_some(Quoted::Tag(name));
        }
        let is_marked =
            body.starts_with(['>', '|', '#']) || line.starts_with("    ") || line.starts_with('\t');
        if body.is_empty() || is_marked || quoted.is_some() {
            paragraph += 1;
            continue;
        }
        let item = item(body, has_numbers);
        let at = from + line.find(body).unwrap_or_default() + (body.len() - item.len());
        let range = at..at + item.len();
        match all.last_mut() {
            Some(last)
                if last.paragraph == paragraph
                    && item == body
                    && is_wrapped(&text[last.range.clone()], body) =>
            {
                last.range.end = range.end;
            }
            _ => all.push(Stretch { range, paragraph }),
        }
    }
    all
}

/// Whether a line is the heading of pasted evidence.
fn is_evidence(body: &str) -> bool {
    body.strip_prefix("## ").is_some_and(|title| title.trim() == "Relevant Knowledge")
}

/// Whether a line ends with the end of a tag.
fn closes(body: &str, name: &str) -> bool {
    body.strip_suffix('>').and_then(|body| body.strip_suffix(name)).is_some_and(|body| body.ends_with("</"))
}

/// Returns the name of the tag that a line begins with, if that tag does not end in the line.
fn tag(body: &str) -> Option<&str> {
    let rest = body.strip_prefix('<')?;
    let name = &rest[..rest.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_')))?];
    let is_tag = name.starts_with(|c: char| c.is_ascii_alphabetic());
    (is_tag && rest[name.len()..].contains('>') && !body.contains(&format!("</{name}>"))).then_some(name)
}

/// Returns a line without the mark of a list.
fn item(body: &str, has_numbers: bool) -> &str {
    let item = ["- ", "* ", "+ ", "• ", "– ", "— "].iter().find_map(|mark| body.strip_prefix(mark));
    let item = item.or_else(|| numbered(body).filter(|_| has_numbers));
    item.map_or(body, str::trim_start)
}

/// Returns what follows the number of an item of a list.
fn numbered(body: &str) -> Option<&str> {
    let bare = body.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = bare.strip_prefix(['.', ')']).filter(|_| bare.len() < body.len())?;
    rest.starts_with(' ').then_some(rest)
}

/// Whether a line was broken only because it was long.
fn is_wrapped(before: &str, body: &str) -> bool {
    let last = before.rsplit('\n').next().unwrap_or_default().trim();
    last.len() >= WRAPPED_BYTES && !last.ends_with(is_end) && body.starts_with(char::is_lowercase)
}

/// Whether a mark ends a sentence.
const fn is_end(mark: char) -> bool {
    matches!(mark, '.' | '!' | '?' | '…' | '؟' | '۔' | '।' | '॥') || is_unspaced_end(mark)
}

/// Whether a mark ends a sentence and no space follows it.
const fn is_unspaced_end(mark: char) -> bool {
    matches!(mark, '。' | '！' | '？' | '｡')
}

/// Marks that may follow the end of a sentence.
const CLOSING: &[char] = &['"', '\'', '”', '’', '»', '“', ')', ']', '」', '』', '`', '*', '_'];

/// Returns the sentences of a part of a text, without spaces around them.
fn sentences(text: &str, part: Range<usize>) -> Vec<Range<usize>> {
    let said = &text[part.clone()];
    let mut found = Vec::new();
    let mut from = 0;
    for (at, mark) in said.char_indices().filter(|(_, mark)| is_end(*mark)) {
        // A mark that the sentence before took along ("?.", "...") ends nothing more.
        if at < from {
            continue;
        }
        let rest = said[at + mark.len_utf8()..].trim_start_matches(|c| is_end(c) || CLOSING.contains(&c));
        let is_spaced = rest.starts_with(char::is_whitespace);
        if (is_spaced || is_unspaced_end(mark)) && !(mark == '.' && is_short(&said[from..at], rest)) {
            found.push(from..said.len() - rest.len());
            from = said.len() - rest.len();
        }
    }
    found.push(from..said.len());
    found.iter().map(|range| trimmed(text, part.start + range.start..part.start + range.end)).collect()
}

/// Whether a full stop belongs to a number or a short form, by the form of the words alone: `3. Mai`, `z.B. so`, `Dr. Ott`,
/// `ext. 214`, `5 min. later`.
fn is_short(before: &str, after: &str) -> bool {
    let mut words = before.rsplit(|c: char| c.is_whitespace() || c == '(');
    let word = words.next().unwrap_or_default();
    let is_amount = words.next().is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    let after = after.trim_start();
    let letters = word.chars().count();
    if word.chars().all(|c| c.is_ascii_digit()) {
        return letters <= 2;
    }
    let has_vowel = word.contains(|c: char| !c.is_ascii() || "aeiouyAEIOUY".contains(c));
    letters == 1
        || (word.contains('.') && word.split('.').all(|part| part.chars().count() <= 2))
        || (letters <= 4
            && (!has_vowel
                || after.starts_with(|c: char| c.is_ascii_digit())
                || (is_amount && after.starts_with(char::is_lowercase))))
}

/// Returns a range without white space at its ends, and without marks that end what stands before it.
fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let said = &text[range.clone()];
    let body = said.trim_start_matches(|c: char| {
        c.is_whitespace() || is_end(c) || matches!(c, ',' | ';' | ')' | '，' | '、')
    });
    let start = range.end - body.len();
    start..start + body.trim_end().len()
}

/// Returns a range without other ranges, which are sorted.
fn without(range: Range<usize>, others: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut left = Vec::new();
    let mut from = range.start;
    for other in others.iter().filter(|other| other.start < range.end && other.end > range.start) {
        left.extend((from < other.start).then_some(from..other.start));
        from = from.max(other.end);
    }
    left.extend((from < range.end).then_some(from..range.end));
    left
}

/// Returns the quotations in a text, with their marks. A mere name or term is none.
fn quotations(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let (mut before, mut upto) = (' ', 0);
    for (at, mark) in text.char_indices() {
        let is_free =
            before.is_whitespace() || matches!(before, '(' | '[' | ':') || !matches!(mark, '"' | '»');
        before = mark;
        let Some(closing) = closing(mark).filter(|_| is_free && at >= upto) else { continue };
        let from = at + mark.len_utf8();
        let within = &text[from..text.floor_char_boundary(from + QUOTED_BYTES)];
        let end = within.char_indices().find(|(at, c)| {
            let after = within[at + c.len_utf8()..].chars().next();
            closing.contains(c) && (*c != '"' || after.is_none_or(|c| !c.is_alphanumeric()))
        });
        let Some((end, last)) = end else { continue };
        upto = from + end + last.len_utf8();
        let inner = within[..end].trim();
        if inner.ends_with(is_end) || inner.split_whitespace().count() >= QUOTED_WORDS {
            found.push(at..upto);
        }
    }
    found
}

/// Returns the marks that may close what a mark opens.
const fn closing(mark: char) -> Option<&'static [char]> {
    match mark {
        '"' => Some(&['"']),
        '“' => Some(&['”']),
        '„' => Some(&['“', '”', '"']),
        '«' => Some(&['»']),
        '»' => Some(&['«']),
        '「' => Some(&['」']),
        '『' => Some(&['』']),
        _ => None,
    }
}
