//! What is worth keeping of what was said in a session: what its user decided, ruled, corrected or stated, and what an agent
//! found out. A pick is a sentence that can be read alone; it is no memory yet, and the gate looks at it as at any other text.
//!
//! ```
//! use bower_core::memory::turns::{Cue, Voice, picks};
//!
//! let picks = picks("Can you fix the login? From now on we use pnpm, not npm.", Voice::User);
//! assert_eq!(picks.len(), 1);
//! assert_eq!((picks[0].cue, picks[0].text.as_str()), (Cue::Decided, "From now on we use pnpm, not npm."));
//! ```
//!
//! The rules are narrow on purpose: what they miss can be told with `bower curate`, what they keep must be looked through by
//! somebody. They know English only; of a turn in another language nothing is picked.

use super::cues::Cues;
use super::slot::slot;

/// Who speaks, as far as the rules differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Voice {
    /// Whoever uses the program: their word decides.
    User,
    /// The program: what it found out counts, what it plans or does does not.
    Assistant,
}

/// Why a sentence was picked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cue {
    /// Somebody asked for it to be remembered.
    Told,
    /// A choice.
    Decided,
    /// A rule or a preference.
    Ruled,
    /// What was said before is not so.
    Corrected,
    /// One thing has one value.
    Stated,
    /// A cause, a limit or a cure that came out of the work.
    Found,
}

impl Cue {
    /// The word for it in a memory's fields.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Told => "told",
            Self::Decided => "decided",
            Self::Ruled => "ruled",
            Self::Corrected => "corrected",
            Self::Stated => "stated",
            Self::Found => "found",
        }
    }
}

/// A sentence, or two that belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pick {
    /// What to keep.
    pub text: String,
    /// Why.
    pub cue: Cue,
}

/// A turn that says more than this is no list of memories; what comes first in it is most of it.
const MOST_OF_USER: usize = 6;
/// An agent says much; of one answer little outlives the task.
const MOST_OF_ASSISTANT: usize = 3;
/// Shorter sentences hang on what was said around them.
const FEWEST_WORDS: usize = 4;
/// Longer ones are no single thought.
const MOST_WORDS: usize = 60;

/// What asks to be remembered, taken off.
const TELLS: &[&str] = &[
    "please remember that",
    "please remember",
    "remember that",
    "remember",
    "please note that",
    "note that",
    "for the record",
    "keep in mind that",
    "keep in mind",
    "don't forget that",
    "do not forget that",
    "be aware that",
    "just so you know",
    "so you know",
    "fyi",
    "heads up",
];

/// What an agent says before what it found, taken off.
const FINDS: &[&str] = &[
    "note that",
    "it turns out that",
    "it turns out",
    "it turned out that",
    "turns out that",
    "turns out",
    "i found out that",
    "i found that",
    "i confirmed that",
    "i've confirmed that",
    "i verified that",
    "i've verified that",
    "confirmed",
];

/// What says that something said before is not so, taken off.
const CORRECTS: &[&str] = &[
    "no",
    "nope",
    "actually",
    "correction",
    "wrong",
    "not quite",
    "sorry",
    "that's wrong",
    "that is wrong",
    "that's not right",
    "that is not right",
    "that's not true",
    "that's incorrect",
    "this is wrong",
];

const DECIDES: &str = "we decided|i decided|i've decided|we've decided|we have decided|we agreed|we settled on|let's use|\
    let's go with|let's stick with|let's stick to|let's switch to|we'll use|we will use|we'll go with|we will go with|\
    we're going with|we are going with|we're going to use|we are going to use|i chose|we chose|we're switching to|\
    we are switching to|we switched to|we moved to|we're moving to|we are moving to|from now on|going forward|decision :";

const RULES: &str = "always|never|i prefer|we prefer|i'd rather|i would rather|i want you to|must not|must be|our convention|\
    by convention|in this repo|in this repository|in this project|in this codebase|we use|we don't use|we do not use|\
    we only use|don't ever|do not ever|i like|i don't like|i hate|our policy|our rule is";

const FOUND: &str = "root cause|turns out|turned out|the problem is that|the problem was that|the issue is that|\
    the issue was that|was caused by|is caused by|the cause is|the cause was|the reason is|the reason was|only works when|\
    only works if|only works with|does not work with|doesn't work with|does not support|doesn't support|is not supported|\
    requires|needs to be|must be|the fix is|the fix was|the workaround is|a workaround is|fails because|failed because|\
    fails when|fails if|breaks because|breaks when|breaks if|is deprecated|was removed in|defaults to|the default is|gotcha";

/// What somebody says of themselves.
const OWN: &str = "my name is|i work on|i work at|i work for|i work as|i live in|my role is|my job is|my team is|our team is";

/// Who says so is not sure, or asks.
const HEDGES: &str = "i think|i guess|i suppose|i assume|maybe|perhaps|might|probably|not sure|i wonder|could be|seems to|\
    seems like|looks like|appears to|apparently|presumably|likely|if you want|if you'd like|if you like|would you|should i|\
    should we|shall i|shall we|let me know|do you|can you|could you|will you|never mind|i'm not certain|i am not certain";

/// A sentence that begins so tells somebody what to do now.
const REQUESTS: &str = "add|adjust|apply|ask|build|bump|change|check|clean|commit|compare|continue|convert|copy|create|debug|\
    delete|deploy|describe|do|don't|document|draft|drop|edit|ensure|explain|extend|extract|fetch|figure|find|finish|fix|\
    format|generate|get|give|go|help|implement|improve|include|inspect|install|introduce|investigate|keep|let|let's|list|\
    look|make|merge|move|open|optimise|optimize|please|point|print|push|put|read|rebase|refactor|release|remove|rename|\
    replace|rerun|restart|retry|return|revert|review|rewrite|run|save|search|see|send|set|show|simplify|skip|split|start|\
    stop|summarise|summarize|take|tell|test|think|try|turn|undo|update|upgrade|use|verify|wait|walk|work|write";

/// An agent that begins so tells what it does.
const PLANS: &str = "i|i'll|i'm|i've|i'd|let|let's|now|next|first|then|finally|done|here|we|we'll|you|you'll|your|to|after|\
    once|before|should|would|could|all|ok|okay|great|good|perfect|looking";

/// A sentence that begins so speaks of the one before it.
const BACK: &str = "it|it's|its|this|that|that's|these|those|they|they're|them|their|he|she|his|her|which|so|because|and|but|\
    or|also|then|there's|both|same|such|otherwise|instead|therefore|hence|however";

/// What may follow `this` in a sentence that stands alone.
const HERE: &str =
    "repo|repository|project|codebase|service|app|application|machine|server|team|crate|package|library|host";

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

/// The sentences of a turn that are worth keeping, in its order.
pub fn picks(said: &str, voice: Voice) -> Vec<Pick> {
    let said = own_words(said);
    let mut found: Vec<Pick> = Vec::new();
    for paragraph in paragraphs(&said) {
        let mut before: Option<&str> = None;
        let mut is_corrected = false;
        for sentence in sentences(&paragraph) {
            let picked = pick(sentence, voice, is_corrected);
            is_corrected = voice == Voice::User && only_corrects(sentence);
            if let Some(mut picked) = picked {
                if !looks_back(&picked.text) {
                    found.push(picked);
                } else if let Some(before) = before.filter(|before| carries(before)) {
                    picked.text = format!("{before} {}", picked.text);
                    if let Some(last) = found.last_mut().filter(|last| last.text == before) {
                        picked.cue = picked.cue.min(last.cue);
                        *last = picked;
                    } else {
                        found.push(picked);
                    }
                }
            }
            before = Some(sentence);
        }
    }
    let mut seen = std::collections::HashSet::new();
    found.retain(|pick| seen.insert(pick.text.to_lowercase()));
    let most = match voice {
        Voice::User => MOST_OF_USER,
        Voice::Assistant => MOST_OF_ASSISTANT,
    };
    if found.len() > most {
        // The surest cues stay, in the order of the turn.
        let mut order: Vec<usize> = (0..found.len()).collect();
        order.sort_by_key(|&at| (found[at].cue, at));
        order.truncate(most);
        order.sort_unstable();
        found = order.into_iter().map(|at| found[at].clone()).collect();
    }
    found
}

/// A sentence that is worth keeping, without what only leads to it.
fn pick(sentence: &str, voice: Voice, after_correction: bool) -> Option<Pick> {
    let sentence = &*sentence.replace('\u{2019}', "'");
    let whole = Cues::of(sentence);
    if !(FEWEST_WORDS..=MOST_WORDS).contains(&whole.words())
        || sentence.ends_with(['?', ':'])
        || whole.any_of(HEDGES)
        || whole.begins(&[" . if ", " . when you ", " . what ", " . how ", " . why "])
    {
        return None;
    }
    match voice {
        Voice::User => user(sentence, &whole, after_correction),
        Voice::Assistant => assistant(sentence),
    }
}

fn user(sentence: &str, whole: &Cues, after_correction: bool) -> Option<Pick> {
    let (told, is_told) = without(sentence, TELLS);
    let (text, is_correction) = if is_told { (told, false) } else { without(sentence, CORRECTS) };
    let cues = Cues::of(&text);
    if cues.words() < FEWEST_WORDS {
        return None;
    }
    let is_request = begins_with(&cues, REQUESTS);
    let contrasts = cues.any(&[" instead of ", " , not ", " rather than "]);
    if is_told && begins_with(&cues, "to") {
        return None;
    }
    let cue = if is_told {
        Cue::Told
    } else if whole.any_of(DECIDES) {
        Cue::Decided
    } else if cues.any(&[" always ", " never "]) || (cues.any_of(RULES) && !is_request) {
        Cue::Ruled
    } else if is_request {
        // What holds beyond the task at hand says what it is chosen against.
        (begins_with(&cues, "use") && contrasts).then_some(Cue::Ruled)?
    } else if (is_correction || after_correction)
        && (slot(&text).is_some() || contrasts || is_specific(&text))
    {
        Cue::Corrected
    } else if slot(&text).is_some() || cues.any_of(OWN) || (contrasts && is_specific(&text)) {
        Cue::Stated
    } else {
        return None;
    };
    Some(Pick { text, cue })
}

fn assistant(sentence: &str) -> Option<Pick> {
    let (text, is_found) = without(sentence, FINDS);
    let cues = Cues::of(&text);
    let is_plan = begins_with(&cues, PLANS) || begins_with(&cues, REQUESTS);
    let tells = is_found || Cues::of(sentence).any_of(FOUND);
    (cues.words() >= FEWEST_WORDS && tells && !is_plan && is_specific(&text))
        .then_some(Pick { text, cue: Cue::Found })
}

/// The sentence without one of some leads, and whether it had one: `Actually, the port is 1.` is `The port is 1.`
fn without(sentence: &str, leads: &[&str]) -> (String, bool) {
    let mut rest = sentence.trim();
    let mut had = false;
    // "No, actually, ..."
    for _ in 0..3 {
        let begins =
            |lead: &&&str| rest.get(..lead.len()).is_some_and(|start| start.eq_ignore_ascii_case(lead));
        let Some(lead) = leads.iter().filter(begins).max_by_key(|lead| lead.len()) else { break };
        let after = &rest[lead.len()..];
        // "No tests", "correction fluid": a short lead is one where a mark follows it.
        let is_parted = after.starts_with([',', ':', ';', '.', '!', '-', '–', '—']);
        let is_open = lead.contains(' ') || matches!(*lead, "remember" | "actually" | "fyi");
        let left = after
            .trim_start_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '`' | '"' | '\'' | '$' | '/'));
        if left.is_empty() || !(is_parted || (is_open && after.starts_with(char::is_whitespace))) {
            break;
        }
        (rest, had) = (left, true);
    }
    let mut letters = rest.chars();
    let text = match letters.next() {
        Some(first) if had => first.to_uppercase().chain(letters).collect(),
        _ => rest.to_owned(),
    };
    (text, had)
}

/// Whether a sentence says no more than that something was not so.
fn only_corrects(sentence: &str) -> bool {
    let cues = Cues::of(sentence);
    let said = cues.plain().strip_prefix(" . ").unwrap_or_default();
    cues.words() <= 5
        && CORRECTS.iter().any(|lead| said.strip_prefix(lead).is_some_and(|rest| rest.starts_with(' ')))
}

/// The words of a sentence without its marks.
fn words(cues: &Cues) -> impl Iterator<Item = &str> {
    cues.each().filter(|word| !matches!(*word, "." | "," | ":"))
}

fn begins_with(cues: &Cues, list: &str) -> bool {
    words(cues).next().is_some_and(|first| list.split('|').any(|word| word.trim() == first))
}

/// Whether a sentence cannot be read without the one before it.
fn looks_back(text: &str) -> bool {
    let cues = Cues::of(text);
    let mut words = words(&cues);
    let (Some(first), second) = (words.next(), words.next()) else { return true };
    let is_here = first == "this" && second.is_some_and(|second| HERE.split('|').any(|word| word == second));
    BACK.split('|').any(|word| word.trim() == first) && !is_here
}

/// Whether a sentence can stand in front of one that speaks of it.
fn carries(text: &str) -> bool {
    let words = Cues::of(text).words();
    (FEWEST_WORDS..=MOST_WORDS).contains(&words) && !text.ends_with(['?', ':']) && !looks_back(text)
}

/// Whether it names something: code, a number, a path, a compound, a name within the sentence.
fn is_specific(text: &str) -> bool {
    text.split_whitespace().enumerate().any(|(nth, word)| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '`');
        let inner = |c: char| matches!(c, '_' | '/' | '`' | ':' | '=' | '@') || c.is_ascii_digit();
        word.chars().any(inner)
            || word.trim_end_matches('.').contains(['.', '-'])
            || word.chars().skip(1).any(char::is_uppercase)
            || (nth > 0 && word.len() > 1 && word.starts_with(char::is_uppercase))
    })
}

/// A turn without what its host put into it, without code and without what it quotes.
fn own_words(said: &str) -> String {
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

/// Lines that belong together; each item of a list is for itself.
fn paragraphs(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut open = String::new();
    let mut close = |open: &mut String| {
        if !open.trim().is_empty() {
            all.push(std::mem::take(open));
        }
        open.clear();
    };
    for line in text.lines() {
        let body = line.trim();
        let bare = body.trim_start_matches(|c: char| c.is_ascii_digit());
        let numbered = (bare.len() < body.len()).then(|| bare.strip_prefix(['.', ')'])).flatten();
        let item = ["- ", "* ", "+ ", "• "].iter().find_map(|mark| body.strip_prefix(mark));
        let item = item.or_else(|| numbered.filter(|rest| rest.starts_with(' ')));
        if body.is_empty() || item.is_some() {
            close(&mut open);
        }
        if !open.is_empty() {
            open.push(' ');
        }
        open.push_str(item.unwrap_or(body).trim());
    }
    close(&mut open);
    all
}

/// Sentences, each without spaces around it: people who chat begin them with small letters, so a mark with a space behind it
/// ends one, unless it belongs to a short form.
fn sentences(paragraph: &str) -> Vec<&str> {
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

#[cfg(test)]
mod tests;
