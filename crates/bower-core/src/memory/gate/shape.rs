//! Classifies a text line by line as prose or as the output of a program.
//! One pass, each line looked at on its own and by what stands above it.

use super::code::{self, Code};
use super::{Constants, Refusal, output};

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    /// Nothing, or a mark between parts.
    Blank,
    /// A sentence that says something.
    Saying,
    /// A heading, a label, a few words.
    Talk,
    /// Printed by a program; `true` where this line alone leaves no doubt.
    Printed(Kind, bool),
}

/// What a program printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Diff,
    Trace,
    Git,
    Log,
    Path,
    Code,
}

const KINDS: [Kind; 6] = [Kind::Diff, Kind::Trace, Kind::Git, Kind::Log, Kind::Path, Kind::Code];

impl Kind {
    /// How many lines without a sure one make it what it is: two may be quoted by chance, paths are named in lists.
    const fn least(self) -> usize {
        match self {
            Self::Trace | Self::Git | Self::Log => 2,
            Self::Diff | Self::Path | Self::Code => 3,
        }
    }

    const fn refusal(self) -> Refusal {
        match self {
            Self::Diff => Refusal::Diff,
            Self::Trace => Refusal::StackTrace,
            Self::Git => Refusal::GitHistory,
            Self::Log => Refusal::Log,
            Self::Path => Refusal::Paths,
            Self::Code => Refusal::Code,
        }
    }
}

/// So many printed lines of any kind, with nothing said, are no list of names.
const LEAST_SCREEN: usize = 3;

/// Why a text is no memory if it is mostly what a program printed.
///
/// A sentence may bring along as much as [`Constants::most_quoted_lines`]; without one nothing may be most of the text.
pub(super) fn printed(text: &str, constants: &Constants) -> Option<Refusal> {
    let lines = classify(text, constants);
    let mut counts = [0_usize; 6];
    let mut sure = [false; 6];
    let mut saying = 0;
    let mut talk = 0;
    for line in &lines {
        match *line {
            Line::Blank => {}
            Line::Saying => saying += 1,
            Line::Talk => talk += 1,
            Line::Printed(kind, is_sure) => {
                counts[kind as usize] += 1;
                sure[kind as usize] |= is_sure;
            }
        }
    }
    // Three unsure lines of several kinds are a screen of a terminal.
    let is_screen = saying == 0 && counts.iter().sum::<usize>() >= LEAST_SCREEN;
    for kind in KINDS.into_iter().filter(|_| !is_screen) {
        let at = kind as usize;
        if !sure[at] && counts[at] < kind.least() {
            talk += std::mem::take(&mut counts[at]);
        }
    }
    let all: usize = counts.iter().sum();
    // What begins as a program's output ends as one: the sentences below are the program's.
    let begins = lines.iter().find(|line| **line != Line::Blank);
    let is_printed = matches!(begins, Some(Line::Printed(Kind::Log | Kind::Git | Kind::Trace, true)));
    let is_junk = (is_printed && all >= 2 * saying)
        || all > 0 && if saying == 0 { all >= talk } else { all > saying * constants.most_quoted_lines };
    if !is_junk {
        return None;
    }
    // The first of the most: what comes earlier in the list is the more telling.
    let most = counts.iter().max().copied().unwrap_or(0);
    KINDS.into_iter().find(|kind| counts[*kind as usize] == most).map(Kind::refusal)
}

/// What the lines above have begun.
#[derive(Default)]
struct Above {
    fence: Option<Fence>,
    inside: Inside,
    after_panic: bool,
    after_code: bool,
}

/// What goes on over several lines.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Inside {
    #[default]
    Nothing,
    Hunk,
    Commit,
    Trace,
    Comment,
}

struct Fence {
    mark: char,
    length: usize,
    is_diff: bool,
    is_prose: bool,
}

fn classify(text: &str, constants: &Constants) -> Vec<Line> {
    let raw: Vec<&str> = text.lines().collect();
    let mut above = Above::default();
    let mut lines = Vec::with_capacity(raw.len());
    let columns = output::in_columns(&raw);
    for (at, line) in raw.iter().enumerate() {
        // Comments belong to the code below them.
        let below = raw.get(at + 1).copied().unwrap_or("");
        let seen = one(line, below, &mut above, constants);
        let is_own = matches!(seen, Line::Saying | Line::Talk | Line::Printed(_, false));
        lines.push(if columns[at] && is_own { Line::Printed(Kind::Log, true) } else { seen });
    }
    lines
}

fn one(line: &str, below: &str, above: &mut Above, constants: &Constants) -> Line {
    let body = line.trim();
    if body.is_empty() {
        return Line::Blank;
    }
    if let Some((mark, length, info)) = fence(body) {
        match &above.fence {
            Some(open) if open.mark == mark && length >= open.length && info.is_empty() => above.fence = None,
            Some(_) => {}
            None => {
                let language = info.split_whitespace().next().unwrap_or("").to_ascii_lowercase();
                above.fence = Some(Fence {
                    mark,
                    length,
                    is_diff: matches!(language.as_str(), "diff" | "patch"),
                    is_prose: matches!(language.as_str(), "" | "text" | "txt" | "md" | "markdown" | "quote"),
                });
            }
        }
        return Line::Blank;
    }
    if above.fence.as_ref().is_some_and(|fence| fence.is_diff) {
        return Line::Printed(Kind::Diff, true);
    }
    let printed = diff(line, below, above)
        .or_else(|| git(line, above))
        .or_else(|| trace(line, above))
        .or_else(|| log(body).max(output::of(line)).map(|sure| Line::Printed(Kind::Log, sure)))
        .or_else(|| path(line).map(|sure| Line::Printed(Kind::Path, sure)))
        .or_else(|| source(line, below, above));
    if let Some(printed) = printed {
        return printed;
    }
    let prose = if says(body, constants) { Line::Saying } else { Line::Talk };
    match &above.fence {
        Some(fence) if !(fence.is_prose && prose == Line::Saying) => Line::Printed(Kind::Code, true),
        Some(_) | None => prose,
    }
}

/// The mark, length and rest of a line that opens or closes a fence.
fn fence(body: &str) -> Option<(char, usize, &str)> {
    let mark = body.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let rest = body.trim_start_matches(mark);
    let length = body.len() - rest.len();
    (length >= 3 && !rest.contains(mark)).then_some((mark, length, rest.trim()))
}

/// Unified diffs as `diff -u` and git write them.
fn diff(line: &str, below: &str, above: &mut Above) -> Option<Line> {
    let begins = |heads: &[&str]| heads.iter().any(|head| line.starts_with(head));
    if line.starts_with("@@ -") && line[4..].contains(" @@") {
        above.inside = Inside::Hunk;
        return Some(Line::Printed(Kind::Diff, true));
    }
    if begins(&["diff --git ", "diff -u", "Index: "])
        || (line.starts_with("--- ") && below.starts_with("+++ "))
    {
        above.inside = Inside::Nothing;
        return Some(Line::Printed(Kind::Diff, !line.starts_with("Index")));
    }
    let is_index = line.strip_prefix("index ").is_some_and(|rest| {
        rest.split("..")
            .next()
            .is_some_and(|hash| hash.len() >= 7 && hash.bytes().all(|b| b.is_ascii_hexdigit()))
    });
    if is_index
        || begins(&["+++ b/", "+++ /dev/null", "new file mode ", "deleted file mode ", "similarity index "])
    {
        return Some(Line::Printed(Kind::Diff, false));
    }
    if above.inside == Inside::Hunk {
        if line.starts_with(['+', '-', ' ', '\\', '\t']) {
            return Some(Line::Printed(Kind::Diff, false));
        }
        above.inside = Inside::Nothing;
    }
    // Changed lines without a head: only where what is changed is code.
    let changed = line.strip_prefix(['+', '-']).filter(|rest| !rest.starts_with(['+', '-']))?;
    (code::of(changed.trim()) == Code::Sure).then_some(Line::Printed(Kind::Diff, false))
}

/// What git prints of its history and of the state of a tree.
fn git(line: &str, above: &mut Above) -> Option<Line> {
    let is_sure = commit(line, above)
        .or_else(|| status(line).then_some(false))
        .or_else(|| one_commit(line.trim()))
        .or_else(|| changed_files(line.trim()))
        .or_else(|| short_status(line).then_some(false))?;
    Some(Line::Printed(Kind::Git, is_sure))
}

/// Whether a word is the hash of a commit, or the beginning of one.
fn is_hash(word: &str) -> bool {
    (7..=40).contains(&word.len())
        && word.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
        && word.bytes().any(|b| b.is_ascii_digit())
}

/// `git log`: the head of a commit, surely, and the lines below it.
fn commit(line: &str, above: &mut Above) -> Option<bool> {
    if let Some(rest) = line.strip_prefix("commit ")
        && is_hash(rest.split([' ', '\t']).next().unwrap_or(""))
        && rest.split_whitespace().nth(1).is_none_or(|next| next.starts_with('('))
    {
        above.inside = Inside::Commit;
        return Some(true);
    }
    if above.inside == Inside::Commit {
        let heads = ["Author:", "Date:", "Merge:", "AuthorDate:", "Commit:", "CommitDate:", "    "];
        if heads.iter().any(|head| line.starts_with(head)) {
            return Some(false);
        }
        above.inside = Inside::Nothing;
    }
    None
}

/// `git status`, and what `git commit` says of files.
fn status(line: &str) -> bool {
    let heads = [
        "Changes not staged for commit",
        "Changes to be committed",
        "no changes added to commit",
        "nothing to commit, working tree clean",
        "nothing added to commit",
        "(use \"git ",
        "modified:   ",
        "new file:   ",
        "deleted:    ",
        "renamed:    ",
        "both modified:   ",
        "Your branch is up to date with '",
        "Your branch is ahead of '",
        "Your branch is behind '",
        "create mode 100",
        "delete mode 100",
    ];
    let body = line.trim();
    heads.iter().any(|head| body.starts_with(head))
        || matches!(body, "Untracked files:" | "Unmerged paths:")
        || (body.starts_with("On branch ") && body.split_whitespace().count() == 3)
}

/// `3f2a91c fix the parser`, with the lines of a graph before it; `[main 3f2a91c] fix the parser`, surely.
fn one_commit(body: &str) -> Option<bool> {
    let plain = body.trim_start_matches(['*', '|', '/', '\\', ' ', '_']);
    let mut first = plain.split_whitespace();
    if first.next().is_some_and(is_hash) && first.next().is_some() {
        return Some(body.starts_with("* ") && body.contains(" (HEAD"));
    }
    let (inside, _) = body.strip_prefix('[')?.split_once(']')?;
    let is_made =
        inside.split_whitespace().count() >= 2 && inside.split_whitespace().last().is_some_and(is_hash);
    is_made.then_some(true)
}

/// ` src/main.rs | 12 ++--`; ` 3 files changed, 12 insertions(+)`, surely.
fn changed_files(body: &str) -> Option<bool> {
    let is_number = |word: Option<&str>| word.is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()));
    if let Some((_, counts)) = body.rsplit_once(" | ") {
        let mut counts = counts.split_whitespace();
        if is_number(counts.next())
            && counts.next().is_some_and(|marks| marks.bytes().all(|b| matches!(b, b'+' | b'-')))
        {
            return Some(false);
        }
    }
    let mut parts = body.split_whitespace();
    let is_total = (body.contains("insertion") || body.contains("deletion"))
        && is_number(parts.next())
        && parts.next().is_some_and(|word| word.starts_with("file"))
        && parts.next() == Some("changed,");
    is_total.then_some(true)
}

/// `git status --short`: two letters of state, a space, a path.
fn short_status(line: &str) -> bool {
    let short = line.as_bytes();
    let is_state = |byte: u8| b" MADRCU?!".contains(&byte);
    short.len() > 4
        && is_state(short[0])
        && is_state(short[1])
        && short[2] == b' '
        && (short[0] != b' ' || short[1] != b' ')
        && !short[3].is_ascii_whitespace()
        && line.split_whitespace().count() == 2
        && line[3..].contains(['/', '.'])
}

/// Stack traces of Rust, Python, Java and its kin, JavaScript, Go, C# and Ruby.
fn trace(line: &str, above: &mut Above) -> Option<Line> {
    let body = line.trim();
    let found = |sure| Some(Line::Printed(Kind::Trace, sure));
    let is_indented = line.starts_with([' ', '\t']);
    if std::mem::take(&mut above.after_panic) {
        return found(false);
    }
    let is_panic = body.starts_with("thread '") && body.contains("' panicked at ");
    let heads = ["Traceback (most recent call last)", "stack backtrace:", "Exception in thread \""];
    if is_panic || heads.iter().any(|head| body.starts_with(head)) {
        above.inside = Inside::Trace;
        above.after_panic = is_panic && body.ends_with(':');
        return found(true);
    }
    if (body.starts_with("goroutine ") && body.ends_with(':') && body.contains(" ["))
        || body.starts_with("Caused by: ")
        || body.starts_with("note: run with `RUST_BACKTRACE")
        || body.starts_with("Uncaught ")
        || body.starts_with("Unhandled exception")
        || (body.starts_with("panic: ") && !body.contains(". "))
    {
        above.inside = Inside::Trace;
        return found(false);
    }
    let ends_in_line = |text: &str| {
        let text = text.trim_end_matches([')', '\'', '"', ',']);
        let digits = text.len() - text.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        digits > 0 && text[..text.len() - digits].ends_with(':')
    };
    let is_python = body.starts_with("File \"") && body.contains("\", line ");
    let is_frame = body.strip_prefix("at ").is_some_and(|rest| {
        let name = rest.split_whitespace().next().unwrap_or("");
        (rest.ends_with(')')
            && rest.contains('(')
            && (name.contains(['.', '/', '<', ':']) || ends_in_line(rest)))
            || (ends_in_line(rest) && rest.contains(['/', '\\', '.']) && !code::is_prose(rest))
            || rest.contains(" in /")
    });
    let is_more = body.starts_with("... ") && body.ends_with(" more");
    let is_go = body.contains(".go:") && (body.contains(" +0x") || is_indented);
    let is_ruby = body.starts_with("from ") && body.contains(":in `");
    if is_python || is_frame || is_more || is_go || is_ruby {
        above.inside = Inside::Trace;
        return found(is_python || (is_frame && ends_in_line(body)));
    }
    let name = body.split([':', ' ']).next().unwrap_or("");
    let is_named = ["Error", "Exception", "Warning", "Interrupt"].iter().any(|end| name.ends_with(end));
    if is_named && name.len() > 7 && name.contains(char::is_lowercase) && body[name.len()..].starts_with(": ")
    {
        return found(false);
    }
    if above.inside == Inside::Trace {
        // Source lines, carets, and Rust's or Go's names of functions.
        let is_numbered = body.split_once(": ").is_some_and(|(n, _)| n.bytes().all(|b| b.is_ascii_digit()));
        let is_call = body.ends_with(')') && body.contains('(') && !body.contains(' ');
        if is_indented || is_numbered || is_call {
            return found(false);
        }
        above.inside = Inside::Nothing;
    }
    None
}

/// Logs, and what builds and tests print. The answer is whether the line alone leaves no doubt.
fn log(body: &str) -> Option<bool> {
    let rest = body.trim_start_matches(['[', '(']);
    let stamp = rest
        .find(|c: char| !(c.is_ascii_digit() || "-/:.,TZ+ ".contains(c)))
        .map_or(rest, |end| &rest[..end]);
    let has_time = stamp.matches(':').count() >= 2 && stamp.trim_end().len() >= 8;
    let level = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_ascii_alphabetic());
        matches!(
            word,
            "TRACE"
                | "DEBUG"
                | "INFO"
                | "WARN"
                | "WARNING"
                | "ERROR"
                | "FATAL"
                | "CRITICAL"
                | "NOTICE"
                | "info"
                | "debug"
                | "warn"
                | "error"
                | "trace"
        )
    };
    if has_time {
        let behind = rest[stamp.len()..].trim_start_matches([']', ')', ' ']);
        if behind.split_whitespace().take(3).any(level) {
            return Some(true);
        }
        // `10:02:11 Anna: we ship on Friday` is a talk that somebody wrote down.
        let label = behind.split(": ").next().unwrap_or("");
        let is_speaker = label.len() < behind.len()
            && label.split(' ').count() <= 2
            && label
                .split(' ')
                .all(|name| name.starts_with(char::is_uppercase) && name.chars().all(char::is_alphabetic));
        return Some(false).filter(|_| !is_speaker);
    }
    if body.contains("level=") && body.contains("msg=") {
        return Some(true);
    }
    // The common log format of web servers, syslog's `Nov 22 16:00:01 host program[12]:`.
    if body.contains(" - - [") && body.contains("] \"") {
        return Some(true);
    }
    let mut words = body.split_whitespace();
    let first = words.next().unwrap_or("");
    let is_month =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"].contains(&first);
    if is_month
        && words.next().is_some_and(|day| day.bytes().all(|b| b.is_ascii_digit()))
        && words.next().is_some_and(|time| time.matches(':').count() == 2)
        && body.contains("]: ")
    {
        return Some(true);
    }
    let is_level = (first.starts_with('[') && first.ends_with(']') && level(first))
        || (first.len() > 3 && level(first) && first.bytes().all(|b| b.is_ascii_uppercase() || b == b':'));
    let is_test = (body.starts_with("test ") && (body.ends_with("... ok") || body.ends_with("... FAILED")))
        || body.starts_with("test result: ")
        || (body.starts_with("running ") && body.ends_with(" tests"))
        || body.starts_with("✓ ")
        || body.starts_with("✗ ")
        || body.starts_with("--- PASS:")
        || body.starts_with("--- FAIL:")
        || (body.starts_with("=== RUN") || body.starts_with("PASSED ") || body.starts_with("FAILED "));
    let is_build = (body.starts_with("Compiling ") && body.contains(" v"))
        || ["Finished `", "Finished dev", "Finished release"].iter().any(|head| body.starts_with(head))
        || (body.starts_with("added ") && body.contains(" packages"))
        || (body.starts_with("Step ") && body.contains('/') && body.contains(" : "))
        || body.starts_with("npm WARN")
        || body.starts_with("npm ERR!")
        || body.starts_with("error[E")
        || (body.starts_with("--> ") && body.contains(':'))
        || body.starts_with("Collecting ") && body.split_whitespace().count() == 2
        || body.starts_with("Successfully installed ");
    (is_level || is_test || is_build).then_some(false)
}

/// Paths, listings of folders, and what `grep` finds. The answer is whether the line alone leaves no doubt.
fn path(line: &str) -> Option<bool> {
    let body = line.trim();
    let plain = body.trim_start_matches(['│', '├', '└', '─', '┬', '|', '`', '+', ' ', '\u{a0}']);
    if body.contains("├──") || body.contains("└──") || body.starts_with("|-- ") || body.starts_with("`-- ")
    {
        // A tree with remarks behind its names explains itself (`# the parser`).
        return (!plain.contains(['#', '—']) && !plain.contains(" - ")).then_some(false);
    }
    // `ls -l`: the type and three triples of rights.
    let rights = body.split_whitespace().next().unwrap_or("");
    if rights.len() >= 10
        && rights.starts_with(['d', '-', 'l'])
        && rights.bytes().skip(1).take(9).all(|b| b"rwxsStT-".contains(&b))
        && body.split_whitespace().count() >= 6
    {
        return Some(true);
    }
    // Several in one line, and nothing else.
    let is_file = |word: &str| {
        word.contains('/')
            && !word.contains("://")
            && word.rsplit('/').next().is_some_and(|name| name.contains('.'))
    };
    let mut words = body.split_whitespace();
    if body.split_whitespace().count() > 1 && words.all(|word| is_file(word.trim_end_matches(','))) {
        return Some(true);
    }
    let word = body.strip_prefix("- ").or_else(|| body.strip_prefix("* ")).unwrap_or(body).trim_matches('`');
    if word.contains(char::is_whitespace) || word.contains("://") || word.starts_with('@') {
        // `src/main.rs:12: let x = 1;`
        let (head, rest) = word.split_once(':')?;
        let is_place = head.contains('.') && !head.contains(char::is_whitespace) && !head.contains("//");
        let (number, _) = rest.split_once([':', '-'])?;
        return (is_place && !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
            .then_some(false);
    }
    if word.contains(['<', '>', '{', '}']) {
        return None;
    }
    let word = word.trim_end_matches(['/', ',', ':']);
    let is_extension = |end: &str| {
        (1..=5).contains(&end.len())
            && end.bytes().all(|b| b.is_ascii_alphanumeric())
            && end.bytes().any(|b| b.is_ascii_alphabetic())
    };
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    let is_file = name
        .rsplit_once('.')
        .is_some_and(|(stem, end)| is_extension(end) && !name.ends_with('.') && stem.len() < 80);
    let is_path = word.matches(['/', '\\']).count() >= 2 || (word.contains(['/', '\\']) && is_file);
    (is_path || is_file).then_some(false)
}

/// Source code, with the comments and indented lines that belong to it.
fn source(line: &str, below: &str, above: &mut Above) -> Option<Line> {
    let body = line.trim();
    let is_indented = line.starts_with("  ") || line.starts_with('\t');
    if above.inside == Inside::Comment {
        if body.contains("*/") || body.contains("\"\"\"") || body.contains("'''") {
            above.inside = Inside::Nothing;
        }
        above.after_code = true;
        return Some(Line::Printed(Kind::Code, false));
    }
    let opens = body.starts_with("/*") && !body.contains("*/");
    let quotes =
        ["\"\"\"", "'''"].iter().any(|quote| body.starts_with(quote) && body.matches(quote).count() == 1);
    if opens || (quotes && (above.after_code || above.fence.is_some())) {
        above.inside = Inside::Comment;
        return Some(Line::Printed(Kind::Code, false));
    }
    let is_comment = body.starts_with("//") || body.starts_with("#!") || body.starts_with("<!--");
    let is_remark = body.starts_with("# ") || body.starts_with("-- ") || body.starts_with('@');
    let is_code = match code::of(body) {
        Code::Sure => Some(true),
        Code::Maybe => Some(false),
        Code::No if is_comment => Some(false),
        Code::No if is_remark && (above.after_code || code::of(below.trim()) == Code::Sure) => Some(false),
        Code::No if is_indented && above.after_code && !is_item(body) => Some(false),
        Code::No => None,
    };
    above.after_code = is_code.is_some();
    is_code.map(|sure| Line::Printed(Kind::Code, sure))
}

/// An item of a Markdown list.
fn is_item(body: &str) -> bool {
    body.starts_with("- ")
        || body.starts_with("* ")
        || body.split_once(". ").is_some_and(|(n, _)| n.parse::<u16>().is_ok())
}

/// Whether a line of prose says something: a few words that are no heading and do not only announce what follows.
fn says(body: &str, constants: &Constants) -> bool {
    if body.starts_with('#') {
        return false;
    }
    let words = body.split_whitespace().filter(|word| word.chars().any(char::is_alphabetic)).count();
    let unspaced = body.chars().filter(|c| super::super::cues::is_unspaced(*c)).count();
    if words + unspaced / 2 < constants.least_saying_words {
        return false;
    }
    if !body.ends_with([':', '：']) {
        return true;
    }
    // `To restart the worker run:` says what its code does, `Here is the output of the failing test:` does not.
    let lower = body.to_lowercase();
    let announces = [
        "here is",
        "here's",
        "here are",
        "this is the",
        "these are",
        "below is",
        "below are",
        "see ",
        "output",
        "the output",
        "result",
        "the result",
        "the following",
        "stack trace",
        "full ",
        "log",
        "the log",
        "diff",
        "the diff",
        "code",
        "the code",
        "current ",
        "git ",
        "recent ",
        "latest ",
        "contents of",
        "the contents",
        "files ",
        "list of",
        "directory",
        "the error",
        "error",
        "i got ",
        "it says",
        "it printed",
        "the stack",
        "changes",
    ];
    !announces.iter().any(|head| lower.starts_with(head))
}
