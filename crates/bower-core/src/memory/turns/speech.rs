//! Extracts the sentences that a turn's speaker said, without text of the host, code and quotations.
//! Text of the host is what the agent's program put into the turn. Nothing of what is said here is judged.

/// What hosts put into a turn as if somebody had said it; it goes with all that stands within.
const BLOCKS: &[&str] = &[
    "bowerbird",
    "memory-context",
    "system-reminder",
    "environment_context",
    "user_instructions",
    "instructions",
    "attached_files",
    "additional_context",
    "hook_context",
    "session_context",
    "local-command-stdout",
    "local-command-stderr",
    "local-command-caveat",
    "command-name",
    "command-message",
    "command-args",
    "bash-input",
    "bash-stdout",
    "bash-stderr",
    "task-notification",
    "context",
    "file",
    "document",
    "thinking",
];

/// A turn without what its host put into it, without code and without what it quotes.
pub(super) fn own_words(said: &str) -> String {
    let mut text = said.to_owned();
    // Each of them is looked for in all of the turn; most turns have none.
    for name in BLOCKS.iter().filter(|_| said.contains('<')) {
        text = without_block(&text, name);
    }
    for tag in ["<user_query>", "</user_query>"] {
        text = text.replace(tag, "\n");
    }
    let mut out = String::with_capacity(text.len());
    let mut fence: Option<&str> = None;
    let mut in_evidence = false;
    for line in text.lines() {
        let body = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| body.starts_with(mark));
        match (fence, mark) {
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, Some(mark)) => fence = Some(mark),
            (Some(_), _) => {}
            (None, None) => {
                // A block of evidence that somebody pasted: its documents are not the speaker's words.
                if let Some(title) = body.strip_prefix("## ") {
                    in_evidence = title.trim() == "Relevant Knowledge";
                }
                let is_quoted =
                    body.starts_with(['>', '|', '#']) || line.starts_with("    ") || line.starts_with('\t');
                if !in_evidence && !is_quoted {
                    out.push_str(line);
                }
            }
        }
        out.push('\n');
    }
    out
}

/// A text without what stands between `<name …>` and `</name>`, in any case; without an end, all that follows goes.
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

/// Lines that belong together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Paragraph {
    pub(super) text: String,
    /// Whether it is an item of a list, which is read for itself.
    pub(super) is_item: bool,
}

/// The paragraphs of a text that say something.
pub(super) fn paragraphs(text: &str) -> Vec<Paragraph> {
    let mut all: Vec<Paragraph> = vec![Paragraph::default()];
    for line in text.lines() {
        let body = line.trim();
        let bare = body.trim_start_matches(|c: char| c.is_ascii_digit());
        let numbered = (bare.len() < body.len()).then(|| bare.strip_prefix(['.', ')'])).flatten();
        let item = ["- ", "* ", "+ ", "• "].iter().find_map(|mark| body.strip_prefix(mark));
        let item = item.or_else(|| numbered.filter(|rest| rest.starts_with(' ')));
        if body.is_empty() || item.is_some() {
            all.push(Paragraph { text: String::new(), is_item: item.is_some() });
        }
        if let Some(open) = all.last_mut() {
            if !open.text.is_empty() {
                open.text.push(' ');
            }
            open.text.push_str(item.unwrap_or(body).trim());
        }
    }
    all.retain(|paragraph| !paragraph.text.trim().is_empty());
    all
}

/// Sentences, each without spaces around it: people who chat begin them with small letters, so a mark with a space behind it
/// ends one, unless it belongs to a short form.
pub(super) fn sentences(paragraph: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut from = 0;
    for (at, mark) in paragraph.char_indices().filter(|(_, c)| matches!(c, '.' | '!' | '?' | '…')) {
        // A mark that the sentence before took along ("?.", "...") ends nothing more.
        if at < from {
            continue;
        }
        let end = at + mark.len_utf8();
        let rest = paragraph[end..].trim_start_matches(['.', '!', '?', '"', '\'', ')', '`', '*', '_']);
        let before =
            paragraph[from..at].rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or_default();
        let is_short = mark == '.'
            && (before.chars().count() == 1 && before.chars().all(char::is_alphabetic)
                || SHORT.split('|').any(|short| before.eq_ignore_ascii_case(short)));
        if !is_short && rest.starts_with(char::is_whitespace) {
            found.push(paragraph[from..paragraph.len() - rest.len()].trim());
            from = paragraph.len() - rest.len();
        }
    }
    found.push(paragraph[from..].trim());
    found.retain(|sentence| !sentence.is_empty());
    found
}

/// Short forms that a full stop ends.
const SHORT: &str =
    "e.g|i.e|eg|ie|etc|vs|cf|approx|incl|resp|mr|mrs|ms|dr|st|jr|fig|no|nr|ca|al|dept|min|max";
