//! Renders text for people: widths, colours, ages, tables.
//! Stored and external content passes through `clean` before it is printed, so that it cannot drive a terminal.

pub mod agents;
pub mod anchors;
pub mod bench;
pub mod cache;
pub mod config;
pub mod doctor;
pub mod evidence;
pub mod excerpt;
pub mod forget;
pub mod graph;
pub mod graph_file;
pub mod index;
pub mod item;
pub mod life;
pub mod llm;
pub mod model;
pub mod moving;
mod prose;
pub mod query;
pub mod review;
#[cfg(test)]
pub mod sample;
pub mod store;
pub mod table;
pub mod tags;
pub mod token;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::borrow::Cow;
use std::path::PathBuf;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Format of text on this run's output.
#[derive(Clone, Debug)]
pub struct Look {
    /// Width in columns.
    pub width: usize,
    /// Whether to colour.
    pub color: bool,
    /// Whether the output is a terminal.
    pub terminal: bool,
    /// Whether every detail is printed.
    pub verbose: bool,
    /// Time from which ages are counted.
    pub now: Timestamp,
    /// Current folder, to which paths are shown relative.
    pub here: Option<PathBuf>,
    /// Time zone in which times are shown.
    pub zone: fn() -> TimeZone,
}

impl Look {
    /// Returns the format of plain text at the present time.
    pub fn now() -> Self {
        Self {
            width: 100,
            color: false,
            terminal: false,
            verbose: false,
            now: Timestamp::now(),
            here: None,
            zone: TimeZone::system,
        }
    }

    /// Returns the text in a style, if this run colours.
    pub fn paint(&self, style: anstyle::Style, text: &str) -> String {
        style::paint(style, text, self.color)
    }

    /// Formats a time like `2026-11-21 14:03` in the reader's time zone.
    pub fn time(&self, time: Timestamp) -> String {
        time.to_zoned((self.zone)()).strftime("%Y-%m-%d %H:%M").to_string()
    }

    /// Formats an age like `3 days ago`. A future time is `just now`, because clocks differ.
    pub fn age(&self, time: Timestamp) -> String {
        let seconds = self.now.as_second().saturating_sub(time.as_second());
        let (count, unit) = match seconds {
            ..60 => return "just now".into(),
            60..3_600 => (seconds / 60, "minute"),
            3_600..86_400 => (seconds / 3_600, "hour"),
            86_400..1_209_600 => (seconds / 86_400, "day"),
            1_209_600..5_184_000 => (seconds / 604_800, "week"),
            5_184_000..63_072_000 => (seconds / 2_629_746, "month"),
            _ => (seconds / 31_556_952, "year"),
        };
        format!("{count} {unit}{} ago", if count == 1 { "" } else { "s" })
    }
}

/// The styles: terminal colours that are readable on light and dark backgrounds.
pub mod style {
    use anstyle::{AnsiColor, Style};

    /// Text that the eye should find first.
    pub const TITLE: Style = Style::new().bold();
    /// Text that the eye may skip.
    pub const DIM: Style = Style::new().dimmed();
    /// Words of the question.
    pub const MARK: Style = AnsiColor::Magenta.on_default().bold();
    /// A good result.
    pub const GOOD: Style = AnsiColor::Green.on_default();
    /// A weaker result.
    pub const WEAK: Style = AnsiColor::Yellow.on_default();
    /// A failure.
    pub const BAD: Style = AnsiColor::Red.on_default().bold();
    /// Tags and names.
    pub const NAME: Style = AnsiColor::Cyan.on_default();

    /// Returns the text in a style.
    pub fn paint(style: Style, text: &str, color: bool) -> String {
        if color && !text.is_empty() { format!("{style}{text}{style:#}") } else { text.to_string() }
    }
}

/// Removes everything that a terminal would act on: control characters become their pictures, and marks that reorder the text
/// become U+FFFD. Tabs and line breaks stay.
pub fn clean(text: &str) -> Cow<'_, str> {
    let acts = |c: char| {
        (c.is_control() && c != '\n' && c != '\t')
            || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    // Some systems end lines with a carriage return before the line break.
    let text = text.replace("\r\n", "\n");
    Cow::Owned(
        text.chars()
            .map(|c| match c {
                '\u{7f}' => '\u{2421}',
                c if acts(c) && c < ' ' => char::from_u32(0x2400 + c as u32).unwrap_or('\u{fffd}'),
                c if acts(c) => '\u{fffd}',
                c => c,
            })
            .collect(),
    )
}

/// Returns clean text on one line, with white space collapsed.
pub fn line(text: &str) -> String {
    let mut line = String::new();
    for word in clean(text).split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// Returns the number of columns that the text takes.
pub fn columns(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// Cuts the text to at most `width` columns, with `…` between graphemes.
pub fn cut(text: &str, width: usize) -> Cow<'_, str> {
    if columns(text) <= width {
        return Cow::Borrowed(text);
    }
    let mut kept = String::new();
    let mut taken = 1;
    for grapheme in text.graphemes(true) {
        taken += columns(grapheme);
        if taken > width {
            break;
        }
        kept.push_str(grapheme);
    }
    let mut kept = kept.trim_end().to_string();
    if width > 0 {
        kept.push('…');
    }
    Cow::Owned(kept)
}

/// Wraps the text into rows of at most `width` columns, broken at spaces; a longer word is cut.
pub fn rows(text: &str, width: usize) -> Vec<String> {
    let mut rows = vec![String::new()];
    for word in text.split(' ') {
        let last = rows.last_mut().expect("there is a row from the beginning");
        if !last.is_empty() && columns(last) + 1 + columns(word) > width {
            rows.push(cut(word, width).into_owned());
        } else {
            if !last.is_empty() {
                last.push(' ');
            }
            last.push_str(&cut(word, width));
        }
    }
    rows
}

/// Wraps a note into as many lines as it needs, because its end says what to do.
pub fn wrapped(lead: &str, note: &str, look: &Look) -> String {
    let room = look.width.saturating_sub(columns(lead)).max(16);
    rows(note, room)
        .iter()
        .fold(String::new(), |all, row| all + &look.paint(style::WEAK, &format!("{lead}{row}")) + "\n")
}

/// Wraps a text with a hanging indent: later lines start below its first word.
pub fn hanging(lead: &str, text: &str, look: &Look) -> String {
    let indent = columns(lead);
    let rows = rows(text, look.width.saturating_sub(indent).max(16));
    let line = |(at, row): (usize, &String)| {
        let before = if at == 0 { lead.to_owned() } else { " ".repeat(indent) };
        format!("{before}{row}\n")
    };
    rows.iter().enumerate().map(line).collect()
}

/// Cuts the text at its start to at most `width` columns: the end of a path says more.
pub fn cut_start(text: &str, width: usize) -> Cow<'_, str> {
    if columns(text) <= width {
        return Cow::Borrowed(text);
    }
    let mut kept: Vec<&str> = Vec::new();
    let mut taken = 1;
    for grapheme in text.graphemes(true).rev() {
        taken += columns(grapheme);
        if taken > width {
            break;
        }
        kept.push(grapheme);
    }
    if width > 0 {
        kept.push("…");
    }
    kept.reverse();
    Cow::Owned(kept.concat())
}

/// Formats `1 file`, `2 files`, `12,345 files`.
pub fn count(number: impl TryInto<u64>, one: &str) -> String {
    let number = number.try_into().unwrap_or(u64::MAX);
    format!("{} {one}{}", thousands(number), if number == 1 { "" } else { "s" })
}

/// Formats `1 memory`, `2 memories`.
pub fn memories(number: u64) -> String {
    counted(number, "memory", "memories")
}

/// Formats a number with the word for one or for several: `1 entity`, `2 entities`.
pub fn counted(number: u64, one: &str, several: &str) -> String {
    format!("{} {}", thousands(number), if number == 1 { one } else { several })
}

/// Formats `12,345`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Formats `512 B`, `3.4 MB`: powers of 1,000.
pub fn bytes(number: u64) -> String {
    let mut value = number as f64;
    for unit in ["B", "kB", "MB", "GB"] {
        if value < 999.5 {
            let digits = usize::from(unit != "B" && value < 9.95);
            return format!("{value:.digits$} {unit}");
        }
        value /= 1_000.0;
    }
    format!("{value:.1} TB")
}

/// Formats `0.4 ms`, `12 ms`, `3.2 s`, `4 min 10 s`.
pub fn duration(ms: f64) -> String {
    match ms {
        ms if ms < 9.95 => format!("{ms:.1} ms"),
        ms if ms < 999.5 => format!("{ms:.0} ms"),
        ms if ms < 59_950.0 => format!("{:.1} s", ms / 1_000.0),
        ms => {
            let seconds = (ms / 1_000.0).round() as u64;
            format!("{} min {} s", seconds / 60, seconds % 60)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_stored_can_drive_a_terminal() {
        assert_eq!(clean("a\tb\nc"), "a\tb\nc");
        assert_eq!(clean("\u{1b}]0;x\u{7}y\u{9b}2J\u{7f}"), "␛]0;x␇y\u{fffd}2J␡");
        assert_eq!(clean("one\r\ntwo\rthree"), "one\ntwo␍three");
        assert_eq!(clean("abc\u{202e}fed"), "abc\u{fffd}fed");
        assert_eq!(line(" a \n\t b\u{1b} "), "a b␛");
    }

    #[test]
    fn text_is_cut_by_columns() {
        assert_eq!(cut("abcdef", 6), "abcdef");
        assert_eq!(cut("abcdefg", 6), "abcde…");
        assert_eq!(cut("記憶と図書館", 7), "記憶と…");
        assert_eq!(cut("e\u{301}e\u{301}e\u{301}", 2), "e\u{301}…");
        assert_eq!(cut("ab", 0), "");
        assert_eq!(cut_start("a/long/path.md", 8), "…path.md");
        assert_eq!(columns(&cut("👩‍👩‍👧 family", 5)), 5);
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!(
            (thousands(0), thousands(999), thousands(1_234_567)),
            ("0".into(), "999".into(), "1,234,567".into())
        );
        assert_eq!(count(1_usize, "file"), "1 file");
        assert_eq!(count(1_000_usize, "file"), "1,000 files");
        let sizes = [0, 999, 1_000, 9_949, 9_960, 3_400_000, 999_600_000, 2_000_000_000_000];
        assert_eq!(
            sizes.map(bytes),
            ["0 B", "999 B", "1.0 kB", "9.9 kB", "10 kB", "3.4 MB", "1.0 GB", "2.0 TB"].map(String::from)
        );
        let times = [0.04, 9.94, 12.3, 999.4, 1_000.0, 59_940.0, 59_960.0, 250_000.0];
        assert_eq!(
            times.map(duration),
            ["0.0 ms", "9.9 ms", "12 ms", "999 ms", "1.0 s", "59.9 s", "1 min 0 s", "4 min 10 s"]
                .map(String::from)
        );
    }

    #[test]
    fn ages_are_whole_units() {
        let look = Look { now: "2026-11-21T12:00:00Z".parse().unwrap(), ..Look::now() };
        let check =
            |time: &str, expected: &str| assert_eq!(look.age(time.parse().unwrap()), expected, "{time}");
        check("2026-11-21T12:00:30Z", "just now");
        check("2026-11-21T11:59:00Z", "1 minute ago");
        check("2026-11-21T09:00:00Z", "3 hours ago");
        check("2026-11-18T12:00:00Z", "3 days ago");
        check("2026-11-01T12:00:00Z", "2 weeks ago");
        check("2026-08-01T12:00:00Z", "3 months ago");
        check("2023-11-21T00:00:00Z", "3 years ago");
    }
}
