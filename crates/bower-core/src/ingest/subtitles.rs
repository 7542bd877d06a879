//! Reads subtitles (SRT, `WebVTT`, SBV, ASS) as prose, without markup and repetitions.
//! The section of a chunk is its time, and its lines are those of its cues.
//!
//! Sources: `WebVTT` (W3C Candidate Recommendation), section 4; Matroska's descriptions of SRT and ASS.

use super::draft::{Draft, ParsedFile};
use super::markup::References;
use super::split::{one_line, pieces};
use super::text;
use crate::config::Settings;

/// Silence after which a new paragraph begins, if a sentence has ended, and in any case; in milliseconds.
const PAUSE_MS: u64 = 2_000;
const LONG_PAUSE_MS: u64 = 6_000;

/// Most lines that are on a screen at once (CEA-608 captions roll up by two to four).
const SCREEN_LINES: usize = 4;

/// Longest tag in bytes.
const TAG_MAX: usize = 256;

/// What is said at one time.
struct Cue {
    /// First and last line in the file.
    lines: (u32, u32),
    /// Milliseconds from the beginning.
    from: u64,
    to: u64,
    /// Without markup. A speaker's name stands before what is said.
    text: Vec<String>,
}

/// Reads a whole file of SRT, `WebVTT` or SBV.
pub(super) fn parse(text: &str, settings: &Settings) -> ParsedFile {
    parsed(&cues(text), text, settings)
}

/// Reads a whole file of ASS or its older form SSA.
pub(super) fn parse_events(text: &str, settings: &Settings) -> ParsedFile {
    parsed(&events(text), text, settings)
}

fn parsed(cues: &[Cue], text: &str, settings: &Settings) -> ParsedFile {
    // Another format may have the same extension.
    let drafts = match cues {
        [] => text::drafts(text, settings.text_chunk_max, settings.text_chunk_overlap),
        cues => drafts(cues, settings),
    };
    ParsedFile { drafts, ..ParsedFile::default() }
}

/// Reads the cues of SRT, `WebVTT` and SBV: a line of times, and the lines of text up to an empty one.
fn cues(text: &str) -> Vec<Cue> {
    let is_vtt = text.starts_with("WEBVTT");
    let mut cues: Vec<Cue> = Vec::new();
    let mut is_open = false;
    let mut lines = text.lines().zip(1_u32..).peekable();
    let times = |line: &str| {
        let (from, to) = line.split_once("-->").or_else(|| line.split_once(','))?;
        Some((time(from.trim())?, time(to.split_whitespace().next()?)?))
    };
    while let Some((line, number)) = lines.next() {
        if let Some((from, to)) = times(line) {
            cues.push(Cue { lines: (number, number), from, to, text: Vec::new() });
            is_open = true;
            continue;
        }
        if line.trim().is_empty() {
            is_open = false;
            continue;
        }
        // The number of a cue, or its name.
        let is_name = lines.peek().is_some_and(|(next, _)| times(next).is_some())
            && (is_vtt && !is_open || line.trim().bytes().all(|byte| byte.is_ascii_digit()));
        // In WebVTT what follows an empty line is a note or a style. In SRT it is text with an empty line inside.
        if is_name || is_vtt && !is_open {
            continue;
        }
        if let Some(cue) = cues.last_mut() {
            cue.lines.1 = number;
            cue.text.push(plain(line));
        }
    }
    cues
}

/// Reads the events of ASS: the text is the tenth field.
fn events(text: &str) -> Vec<Cue> {
    let event = |(line, number): (&str, u32)| {
        let mut fields = line.strip_prefix("Dialogue:")?.splitn(10, ',');
        let (from, to) = (time(fields.nth(1)?.trim())?, time(fields.next()?.trim())?);
        let name = fields.nth(1)?.trim();
        let said = plain(&fields.nth(4)?.replace("\\N", " ").replace("\\n", " ").replace("\\h", " "));
        let said = if name.is_empty() { said } else { format!("{name}: {said}") };
        Some(Cue { lines: (number, number), from, to, text: vec![said] })
    };
    let mut cues: Vec<Cue> = text.lines().zip(1_u32..).filter_map(event).collect();
    cues.sort_by_key(|cue| cue.from);
    cues
}

/// Parses `1:02:03,456`, `02:03.456` or `1:02:03.45`, in milliseconds.
fn time(text: &str) -> Option<u64> {
    let (clock, fraction) = text.split_once([',', '.']).unwrap_or((text, ""));
    let mut seconds = 0_u64;
    let mut parts = 0;
    for part in clock.split(':') {
        let part: u64 = part.parse().ok().filter(|&part| part < 1_000_000)?;
        seconds = seconds.checked_mul(60)?.checked_add(part)?;
        parts += 1;
    }
    let fraction: u64 = format!("{fraction:0<3}").get(..3)?.parse().ok()?;
    (parts > 1 && parts < 4).then_some(seconds * 1_000 + fraction)
}

/// Returns a line without markup: tags, codes in braces, references to characters.
fn plain(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find(['<', '{']) {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        let is_tag = rest.starts_with("{\\")
            || rest[1..].starts_with(|next: char| next.is_ascii_alphanumeric() || next == '/')
                && rest.starts_with('<');
        let close = if rest.starts_with('<') { b'>' } else { b'}' };
        // A tag is short. The limit keeps the time linear.
        if let Some(end) = rest.bytes().take(if is_tag { TAG_MAX } else { 0 }).position(|byte| byte == close)
        {
            // `<v.loud Mary>` names who speaks.
            let voice = rest[1..end].strip_prefix('v').filter(|voice| voice.starts_with(['.', ' ', '\t']));
            if let Some((_, name)) = voice.and_then(|voice| voice.split_once([' ', '\t'])) {
                plain.push_str(name.trim());
                plain.push_str(": ");
            }
            rest = &rest[end + 1..];
        } else {
            plain.push_str(&rest[..1]);
            rest = &rest[1..];
        }
    }
    plain.push_str(rest);
    one_line(&References::default().decode(&plain))
}

/// Joins cues to paragraphs and cuts these.
fn drafts(cues: &[Cue], settings: &Settings) -> Vec<Draft> {
    let mut text = String::new();
    // Where the text of each cue begins.
    let mut starts: Vec<(usize, &Cue)> = Vec::new();
    let mut before: Option<&Cue> = None;
    for cue in cues {
        // Rolling captions show the last line again above the next.
        let shown = before.map_or(&[][..], |cue| &cue.text[cue.text.len().saturating_sub(SCREEN_LINES)..]);
        let said: Vec<&str> = cue
            .text
            .iter()
            .filter(|line| !line.is_empty() && !shown.contains(line))
            .map(String::as_str)
            .collect();
        let pause = before.map_or(0, |before| cue.from.saturating_sub(before.to));
        before = Some(cue);
        for line in said {
            let is_ended = text.ends_with(['.', '!', '?', '…', '"', ')', ']', '。', '！', '？', '♪']);
            let is_turn = line.starts_with(['-', '–', '—']) || speaker(line).is_some();
            if !text.is_empty() {
                let is_new = starts.last().is_none_or(|(_, last)| !std::ptr::eq(*last, cue));
                let is_paragraph = is_new && (pause > PAUSE_MS && is_ended || pause > LONG_PAUSE_MS);
                text.push_str(if is_paragraph {
                    "\n\n"
                } else if is_turn {
                    "\n"
                } else {
                    " "
                });
            }
            starts.push((text.len(), cue));
            text.push_str(line);
        }
    }
    let draft = |range: std::ops::Range<usize>| {
        let last = starts.partition_point(|(start, _)| *start < range.end).saturating_sub(1);
        let first = starts.partition_point(|(start, _)| *start <= range.start).saturating_sub(1);
        let cues = &starts[first..=last.max(first)];
        let from = cues.iter().map(|(_, cue)| cue.from).min().unwrap_or(0);
        let to = cues.iter().map(|(_, cue)| cue.to).max().unwrap_or(0);
        let lines = |of: fn(&Cue) -> u32| cues.iter().map(move |(_, cue)| of(cue));
        Draft {
            content: text[range].to_owned(),
            section: Some(format!("{} to {}", clock(from), clock(to))),
            lines: (lines(|cue| cue.lines.0).min().unwrap_or(1), lines(|cue| cue.lines.1).max().unwrap_or(1)),
            tags: Vec::new(),
        }
    };
    pieces(&text, settings.text_chunk_max, settings.text_chunk_overlap).into_iter().map(draft).collect()
}

/// Returns the name before a colon, as captions write it: in capitals.
fn speaker(line: &str) -> Option<&str> {
    let (name, _) = line.split_once(": ")?;
    (name.chars().any(char::is_alphabetic) && !name.chars().any(char::is_lowercase)).then_some(name)
}

/// Returns hours, minutes and seconds.
fn clock(ms: u64) -> String {
    let seconds = ms / 1_000;
    format!("{}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(read: &ParsedFile, expected: &[(&str, &str, (u32, u32))]) {
        assert_eq!(read.parts(), expected);
    }

    #[test]
    fn cues_of_srt_become_prose() {
        let text = "1\n00:00:01,000 --> 00:00:02,500\n<i>The tide</i> turns\n{\\an8}at noon.\n\n2\n00:00:03,000 --> 00:00:04,000\n- Does it?\n- It &amp; I do, if 1 < 2.\n\n\
            3\n00:01:10,000 --> 01:02:03,000\n1984\n";
        check(
            &parse(text, &Settings::default()),
            &[(
                "0:00:01 to 1:02:03",
                "The tide turns at noon.\n- Does it?\n- It & I do, if 1 < 2.\n\n1984",
                (2, 13),
            )],
        );
    }

    #[test]
    fn cues_of_webvtt_keep_their_speakers_and_roll_up() {
        let text = "WEBVTT - a title\n\nNOTE\nnot shown\n\nSTYLE\n::cue {}\n\nintro\n00:01.000 --> 00:02.000 align:start\n<v.loud Mary>The tide<00:01.500> turns\n\n\
            00:02.000 --> 00:03.000\n<v.loud Mary>The tide turns\nat noon.\n";
        check(
            &parse(text, &Settings::default()),
            &[("0:00:01 to 0:00:03", "Mary: The tide turns at noon.", (10, 15))],
        );
    }

    #[test]
    fn cues_of_sbv_and_ass_are_read() {
        check(
            &parse("0:00:01.000,0:00:02.000\nThe tide\nturns.\n", &Settings::default()),
            &[("0:00:01 to 0:00:02", "The tide turns.", (1, 3))],
        );
        let ass = "[Events]\nFormat: Layer, Start\nDialogue: 0,0:00:05.00,0:00:06.50,Default,,0,0,0,,at noon, {\\i1}says\\Nhe.\nDialogue: 0,0:00:01.00,0:00:04.00,Default,Ann,0,0,0,,The tide turns\n";
        check(
            &parse_events(ass, &Settings::default()),
            &[("0:00:01 to 0:00:06", "Ann: The tide turns at noon, says he.", (3, 4))],
        );
    }

    #[test]
    fn another_text_is_plain_text() {
        check(&parse("only words\n", &Settings::default()), &[("", "only words", (1, 1))]);
        assert_eq!(["1:02", "1:2:3:4", "x", "00:00:01,5"].map(time), [Some(62_000), None, None, Some(1_500)]);
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "(WEBVTT\n|[0-9]{0,9}:[0-9]{2}[,.][0-9]{0,4}( --> |,)|00:01.000 --> 00:02.000\n|<|>|\\{|\\}|\\\\|v |&amp;|[a-zé. ]{0,6}|\n){0,60}") {
            for read in [parse(&text, &Settings::default()), parse_events(&text, &Settings::default())] {
                for draft in read.drafts {
                    prop_assert!(1 <= draft.lines.0 && draft.lines.0 <= draft.lines.1, "{draft:?}");
                }
            }
        }
    }
}
