//! Reads mail (.eml, .mbox): each message is a section of its own with its subject, sender, recipients, date and text.
//! What other messages of the mailbox say already, signatures and files are left out; files are named.
//!
//! Sources: RFC 5322 (messages), RFC 2045 to 2047 (MIME), RFC 4155 (mailboxes), RFC 3676, section 4.3 (signatures).

use mail_parser::{Address, Message, MessageParser, MimeHeaders, PartType};
use serde_json::{Map, Value};
use std::collections::HashSet;

use super::draft::{Draft, ParsedFile};
use super::html;
use super::split::{Lines, fits, length, one_line, pieces};
use crate::config::Settings;

/// Most types of compound parts in one message. `mail-parser` frees messages in messages by recursion.
const COMPOUND_MAX: usize = 1_000;

/// Most lines of one message that may begin a part: each part takes some hundred bytes in memory.
const BOUNDARIES_MAX: usize = 100_000;

/// Deepest message in a message that is read.
const DEPTH_MAX: usize = 8;

/// Most lines of a signature: a longer text below its mark is a text.
const SIGNATURE_LINES: usize = 15;

/// Reads one message; the error is the reason why it is skipped.
pub(super) fn parse_message(bytes: &[u8], settings: &Settings) -> Result<ParsedFile, String> {
    let mut mailbox = Mailbox::new(settings);
    mailbox.message(bytes, 1, false)?;
    let Mailbox { drafts, title, metadata, .. } = mailbox;
    Ok(ParsedFile { title, metadata, drafts, ..ParsedFile::default() })
}

/// Reads a mailbox; the error is the reason why it is skipped.
pub(super) fn parse_mailbox(bytes: &[u8], settings: &Settings) -> Result<ParsedFile, String> {
    let messages = messages(bytes);
    if messages.is_empty() {
        return Err("no mailbox: no line begins with `From ` and has a time".into());
    }
    let mut mailbox = Mailbox::new(settings);
    let mut problems = Vec::new();
    for (message, line) in messages {
        if let Err(why) = mailbox.message(message, line, true) {
            problems.push(format!("line {line}: {why}"));
        }
    }
    Ok(ParsedFile { drafts: mailbox.drafts, problems, ..ParsedFile::default() })
}

/// Returns the messages of a mailbox, each with the number of its first line. A message follows a line `From sender date`
/// after an empty line.
fn messages(bytes: &[u8]) -> Vec<(&[u8], u32)> {
    let mut found: Vec<(usize, u32)> = Vec::new();
    let mut ends = Vec::new();
    let (mut at, mut is_after_gap) = (0, true);
    for (line, number) in bytes.split_inclusive(|&byte| byte == b'\n').zip(1_u32..) {
        if is_after_gap && line.starts_with(b"From ") && line.contains(&b':') {
            ends.push(at);
            found.push((at + line.len(), number + 1));
        }
        is_after_gap = line.iter().all(u8::is_ascii_whitespace);
        at += line.len();
    }
    ends.push(at);
    found.iter().zip(ends.iter().skip(1)).map(|(&(start, line), &end)| (&bytes[start..end], line)).collect()
}

/// What has been read of a mailbox.
struct Mailbox {
    max: usize,
    /// Hashes of all runs of words in the messages so far: a quotation of them says nothing new.
    known: HashSet<u64>,
    drafts: Vec<Draft>,
    title: Option<String>,
    /// Sender, recipients and date of the first message.
    metadata: Map<String, Value>,
}

impl Mailbox {
    fn new(settings: &Settings) -> Self {
        Self {
            max: settings.text_chunk_max,
            known: HashSet::new(),
            drafts: Vec::new(),
            title: None,
            metadata: Map::new(),
        }
    }

    /// Reads a message that begins on a line of its file.
    fn message(&mut self, bytes: &[u8], line: u32, is_in_mailbox: bool) -> Result<(), String> {
        let count =
            |word: &[u8]| bytes.windows(word.len()).filter(|part| part.eq_ignore_ascii_case(word)).count();
        if count(b"message/") + count(b"multipart/") > COMPOUND_MAX || count(b"\n--") > BOUNDARIES_MAX {
            return Err("damaged: the message has too many parts".into());
        }
        let message = MessageParser::default().parse(bytes).filter(|message| !message.parts.is_empty());
        let message = message.ok_or("no mail: it has no header")?;
        let is_mail =
            |header: &mail_parser::Header<'_>| !matches!(header.name, mail_parser::HeaderName::Other(_));
        if !message.headers().iter().any(is_mail) {
            return Err("no mail: it has no header".into());
        }
        let ends: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at] == b'\n').collect();
        self.read(&message, Source { ends: &ends, line }, (None, 0), is_in_mailbox);
        Ok(())
    }

    /// Writes a message, and those inside it.
    fn read(
        &mut self,
        message: &Message<'_>,
        source: Source<'_>,
        outer: (Option<&str>, usize),
        is_in_mailbox: bool,
    ) {
        let (outer, depth) = outer;
        let subject = one_line(message.subject().unwrap_or_default());
        let from = message.from().map(people).unwrap_or_default();
        let to: Vec<String> = message.all_to().chain(message.all_cc()).map(people).collect();
        let (to, date) = (
            to.join(", "),
            message
                .date()
                .filter(|date| date.is_valid())
                .map(mail_parser::DateTime::to_rfc3339)
                .unwrap_or_default(),
        );
        let files: Vec<String> =
            message.attachments().filter_map(|part| part.attachment_name()).map(one_line).collect();
        let files = files.join(", ");
        if self.drafts.is_empty() && self.title.is_none() {
            self.title = Some(subject.clone()).filter(|subject| !subject.is_empty());
            for (name, value) in [("from", &from), ("to", &to), ("date", &date)] {
                if !value.is_empty() {
                    self.metadata.insert(name.to_owned(), Value::String(value.clone()));
                }
            }
        }
        let section = match outer {
            Some(outer) if !outer.is_empty() => format!("{outer} > {subject}"),
            _ => subject.clone(),
        };
        let heading = if subject.is_empty() { String::new() } else { format!("# {subject}\n\n") };
        let heads = [("From", from), ("To", to), ("Date", date), ("Files", files)];
        let head: Vec<String> = heads
            .iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| format!("{name}: {value}"))
            .collect();
        let mut body = Body { heading, head: head.join("\n"), text: String::new(), lines: Vec::new() };
        let first = source.line(message.parts.first().map_or(0, |part| part.offset_header));
        for part in message.text_bodies() {
            let (from, last) =
                (source.line(part.offset_body), source.line(part.offset_end.max(part.offset_body)));
            match &part.body {
                PartType::Text(text) => self.text(text, (from, last), is_in_mailbox, &mut body),
                PartType::Html(page) => body.put(&html::markdown(page), (from, last)),
                PartType::Binary(_)
                | PartType::InlineBinary(_)
                | PartType::Message(_)
                | PartType::Multipart(_) => {}
            }
        }
        self.drafts.extend(body.drafts(self.max, first, &section));
        for part in message.attachments() {
            if let PartType::Message(inner) = &part.body
                && depth < DEPTH_MAX
            {
                // The places inside an encoded message are none of the file.
                let is_encoded = part.encoding != mail_parser::Encoding::None;
                let line = source.line(part.offset_body);
                let own = if is_encoded { Source { ends: &[], line } } else { source };
                self.read(inner, own, (Some(&section), depth + 1), is_in_mailbox);
            }
        }
    }

    /// Writes plain text without its signature, and without quotations of what the mailbox holds.
    fn text(&mut self, text: &str, numbers: (u32, u32), is_in_mailbox: bool, body: &mut Body) {
        let lines: Vec<&str> = text.lines().collect();
        // The space after the mark is often lost.
        let signature = lines.iter().position(|line| line.trim_end() == "--");
        let is_short = |at: &usize| {
            lines[*at..].iter().filter(|line| !line.trim().is_empty()).count() <= SIGNATURE_LINES + 1
        };
        let lines = &lines[..signature.filter(is_short).unwrap_or(lines.len())];
        let is_hidden = if is_in_mailbox { self.quotations(lines) } else { vec![false; lines.len()] };
        for ((line, number), is_hidden) in lines.iter().zip(numbers.0..).zip(is_hidden) {
            // Mailboxes mark `From ` at the beginning of a line.
            let marked = line.strip_prefix('>').filter(|rest| is_in_mailbox && rest.starts_with("From "));
            if !is_hidden {
                body.put_line(marked.unwrap_or(line).trim_end(), number.min(numbers.1));
            }
        }
        if is_in_mailbox {
            let own = lines.iter().filter(|line| !line.starts_with('>'));
            self.known.extend(runs(own.copied()));
        }
    }

    /// Returns which lines quote what the mailbox holds, or name whom they quote.
    fn quotations(&self, lines: &[&str]) -> Vec<bool> {
        let mut is_hidden = vec![false; lines.len()];
        let mut at = 0;
        while at < lines.len() {
            let quoted = lines[at..].iter().take_while(|line| line.starts_with('>')).count();
            let block = at..at + quoted;
            let said = runs(lines[block.clone()].iter().map(|line| line.trim_start_matches(['>', ' '])));
            let known = said.iter().filter(|run| self.known.contains(run)).count();
            // Names of those who were quoted in the quotation are new.
            if known > 0 && known * 4 >= said.len() * 3 {
                is_hidden[block].fill(true);
                // Above it is who said that and when, in any language: a short paragraph with a colon at its end.
                let above =
                    lines[..at].iter().rposition(|line| !line.trim().is_empty()).map_or(0, |last| last + 1);
                let begin =
                    lines[..above].iter().rposition(|line| line.trim().is_empty() || line.starts_with('>'));
                let begin = begin.map_or(0, |gap| gap + 1);
                if above.checked_sub(1).is_some_and(|last| lines[last].trim_end().ends_with(':'))
                    && above - begin <= 3
                {
                    is_hidden[begin..above].fill(true);
                }
            }
            at += quoted.max(1);
        }
        is_hidden
    }
}

/// Number of words in a run by which texts are compared: those of a shorter one stand in many texts by chance.
const RUN: usize = 5;

/// Returns a hash of each run of words, across the lines: a quotation may be broken elsewhere.
fn runs<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<u64> {
    use std::hash::{Hash, Hasher};
    let words: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
    let hash = |run: &[&str]| {
        let mut hasher = std::hash::DefaultHasher::new();
        run.hash(&mut hasher);
        hasher.finish()
    };
    words.windows(RUN).map(hash).collect()
}

/// Returns names with addresses.
fn people(address: &Address<'_>) -> String {
    let one = |one: &mail_parser::Addr<'_>| match (one.name(), one.address()) {
        (Some(name), Some(address)) => format!("{name} <{address}>"),
        (Some(one), None) | (None, Some(one)) => one.to_owned(),
        (None, None) => String::new(),
    };
    one_line(&address.iter().map(one).filter(|one| !one.is_empty()).collect::<Vec<_>>().join(", "))
}

/// Where a message stands in its file.
#[derive(Clone, Copy)]
struct Source<'a> {
    /// Where its lines end.
    ends: &'a [usize],
    /// Its first line.
    line: u32,
}

impl Source<'_> {
    /// Returns the line in the file of an offset in the message.
    fn line(self, offset: u32) -> u32 {
        self.line.saturating_add(self.ends.partition_point(|&end| end < offset as usize) as u32)
    }
}

/// The text of a message as it is written.
struct Body {
    heading: String,
    head: String,
    text: String,
    /// The line of each line of `text` in the file.
    lines: Vec<u32>,
}

impl Body {
    fn put_line(&mut self, line: &str, number: u32) {
        self.text.push_str(line);
        self.text.push('\n');
        self.lines.push(number);
    }

    fn put(&mut self, text: &str, lines: (u32, u32)) {
        for (line, number) in text.lines().zip(lines.0..) {
            self.put_line(line, number.min(lines.1));
        }
    }

    /// Returns the chunks: each begins with the subject, the first one also with the names and the date.
    fn drafts(self, max: usize, first: u32, section: &str) -> Vec<Draft> {
        let heading = if fits(&self.heading, max / 4) { self.heading } else { String::new() };
        let head = if self.head.is_empty() { String::new() } else { format!("{}\n\n", self.head) };
        let section = Some(section.to_owned()).filter(|section| !section.is_empty());
        let draft =
            |content: String, lines| Draft { content, section: section.clone(), lines, tags: Vec::new() };
        let lines = Lines::new(&self.text);
        let number = |range: &std::ops::Range<usize>| {
            let place = lines.of(range);
            let line = |line: u32| self.lines.get(line as usize - 1).copied().unwrap_or(first);
            (line(place.0), line(place.1).max(line(place.0)))
        };
        let room = max - length(&heading);
        let mut drafts = Vec::new();
        let mut begin = 0;
        if fits(&head, room / 2) {
            // The first chunk has less room than the others.
            let ranges = pieces(&self.text, room - length(&head), 0);
            let range = ranges.first().cloned().unwrap_or(0..0);
            let content = format!("{heading}{head}{}", &self.text[range.clone()]);
            drafts.push(draft(content.trim_end().to_owned(), (first, number(&range).1.max(first))));
            begin = range.end;
        } else {
            // A message to hundreds of people.
            for range in pieces(&head, room, 0) {
                drafts.push(draft(format!("{heading}{}", &head[range]), (first, first)));
            }
        }
        for range in pieces(&self.text[begin..], room, 0) {
            let range = begin + range.start..begin + range.end;
            drafts.push(draft(format!("{heading}{}", &self.text[range.clone()]), number(&range)));
        }
        drafts.retain(|draft| !draft.content.trim().is_empty());
        drafts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(read: Result<ParsedFile, String>, expected: &[(&str, &str, (u32, u32))]) -> ParsedFile {
        let read = read.unwrap();
        assert_eq!(read.parts(), expected);
        read
    }

    const MESSAGE: &str = "From: Ann <ann@example.org>\nTo: bob@example.org\nSubject: =?utf-8?q?Fl=C3=BCt?=\n of May\n\
        Date: Thu, 2 May 2024 10:20:30 +0200\nContent-Type: multipart/mixed; boundary=x\n\n--x\n\
        Content-Type: multipart/alternative; boundary=y\n\n--y\nContent-Type: text/html\n\n<p>other</p>\n\n--y\n\
        Content-Transfer-Encoding: quoted-printable\n\nThe water r=\nose.\n\n> Did it?\n\n-- \nAnn of the pier\n\n--y--\n\
        --x\nContent-Type: image/png; name=chart.png\nContent-Transfer-Encoding: base64\n\niVBORw0KGgo=\n\n--x\n\
        Content-Type: message/rfc822\n\nSubject: Inner\nFrom: c@example.org\n\nInner text.\n\n--x--\n";

    #[test]
    fn a_message_has_its_text_and_names() {
        let head = "From: Ann <ann@example.org>\nTo: bob@example.org\nDate: 2024-05-02T10:20:30+02:00\nFiles: chart.png";
        let first = format!("# Fl\u{fc}t of May\n\n{head}\n\nThe water rose.\n\n> Did it?");
        let read = check(
            parse_message(MESSAGE.as_bytes(), &Settings::default()),
            &[
                ("Fl\u{fc}t of May", &first, (1, 21)),
                ("Fl\u{fc}t of May > Inner", "# Inner\n\nFrom: c@example.org\n\nInner text.", (37, 40)),
            ],
        );
        assert_eq!(read.title.as_deref(), Some("Fl\u{fc}t of May"));
        assert_eq!(read.metadata["date"], "2024-05-02T10:20:30+02:00");
    }

    #[test]
    fn a_message_of_html_alone_is_converted() {
        let message = "Subject: Tides\nContent-Type: text/html; charset=iso-8859-1\n\n<h1>Ebb</h1><p>Low <b>water</b>.</p>";
        check(
            parse_message(message.as_bytes(), &Settings::default()),
            &[("Tides", "# Tides\n\n# Ebb\n\nLow water.", (1, 4))],
        );
    }

    #[test]
    fn messages_of_a_mailbox_stand_apart_and_quote_nothing_twice() {
        let mailbox = "From a@example.org Thu May  2 10:20:30 2024\nSubject: Moor\nFrom: a@example.org\n\n\
            Shall we moor at the outer quay at low water?\n>From here it is near.\n\n\
            From b@example.org Thu May  2 11:20:30 2024\nSubject: Re: Moor\nFrom: b@example.org\n\n\
            On 2 May 2024 a wrote:\n> Shall we moor at the outer quay\n> at low water?\n\nYes.\n\n> a quotation of what is not here at all\n\nNo.\n";
        check(
            parse_mailbox(mailbox.as_bytes(), &Settings::default()),
            &[
                (
                    "Moor",
                    "# Moor\n\nFrom: a@example.org\n\nShall we moor at the outer quay at low water?\nFrom here it is near.",
                    (2, 6),
                ),
                (
                    "Re: Moor",
                    "# Re: Moor\n\nFrom: b@example.org\n\nYes.\n\n> a quotation of what is not here at all\n\nNo.",
                    (9, 20),
                ),
            ],
        );
    }

    #[test]
    fn what_is_no_mail_is_named() {
        let why = |read: Result<ParsedFile, String>| read.unwrap_err();
        assert_eq!(why(parse_message(b"some text", &Settings::default())), "no mail: it has no header");
        assert!(why(parse_mailbox(b"Subject: a\n\nb", &Settings::default())).starts_with("no mailbox"));
        let deep = "Content-Type: message/rfc822\n\n".repeat(5_000);
        assert_eq!(
            why(parse_message(deep.as_bytes(), &Settings::default())),
            "damaged: the message has too many parts"
        );
    }

    #[test]
    fn a_long_message_repeats_its_subject() {
        let message = format!("Subject: Log\n\n{}", "The wind turned west at noon.\n".repeat(80));
        let read = parse_message(message.as_bytes(), &Settings::default()).unwrap();
        assert_eq!(read.drafts.len(), 3);
        assert!(read.drafts.iter().all(|draft| draft.content.starts_with("# Log\n\nThe wind")));
        assert_eq!(read.drafts[2].lines.1, 82);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(
            bytes in "(From a b:c\n|Subject: [a-z]{0,5}\n|Content-Type: (text/html|multipart/mixed; boundary=x|message/rfc822)\n|Content-Transfer-Encoding: base64\n|--x(--)?\n|\n|> ?|[a-zé=<]{0,6}|-- \n|On 1 a:\n){0,60}",
        ) {
            for read in [parse_message(bytes.as_bytes(), &Settings::default()), parse_mailbox(bytes.as_bytes(), &Settings::default())].into_iter().flatten() {
                for draft in read.drafts {
                    prop_assert!(1 <= draft.lines.0 && draft.lines.0 <= draft.lines.1, "{draft:?}");
                    prop_assert!(length(&draft.content) <= 1_000);
                }
            }
        }
    }
}
