//! Narrow rules for English that say whether a sentence is worth keeping, and why.
//! They go by its words alone, and read what else these say of how the sentence is meant.

use super::super::cues::Cues;
use super::super::slot::slot;
use super::{Cue, FEWEST_WORDS, MOST_WORDS, Voice};

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
pub(super) const CORRECTS: &[&str] = &[
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

pub(super) const DECIDES: &str = "we decided|i decided|i've decided|we've decided|we have decided|we agreed|we settled on|let's use|\
    let's go with|let's stick with|let's stick to|let's switch to|we'll use|we will use|we'll go with|we will go with|\
    we're going with|we are going with|we're going to use|we are going to use|i chose|we chose|we're switching to|\
    we are switching to|we switched to|we moved to|we're moving to|we are moving to|from now on|going forward|decision :";

pub(super) const RULES: &str = "always|never|i prefer|we prefer|i'd rather|i would rather|i want you to|must not|must be|our convention|\
    by convention|in this repo|in this repository|in this project|in this codebase|we use|we don't use|we do not use|\
    we only use|don't ever|do not ever|i like|i don't like|i hate|our policy|our rule is";

pub(super) const FOUND: &str = "root cause|turns out|turned out|the problem is that|the problem was that|the issue is that|\
    the issue was that|was caused by|is caused by|the cause is|the cause was|the reason is|the reason was|only works when|\
    only works if|only works with|does not work with|doesn't work with|does not support|doesn't support|is not supported|\
    requires|needs to be|must be|the fix is|the fix was|the workaround is|a workaround is|fails because|failed because|\
    fails when|fails if|breaks because|breaks when|breaks if|is deprecated|was removed in|defaults to|the default is|gotcha";

/// What somebody says of themselves.
pub(super) const OWN: &str = "my name is|i work on|i work at|i work for|i work as|i live in|my role is|my job is|my team is|our team is";

/// Who says so is not sure, or asks.
pub(super) const HEDGES: &str = "i think|i guess|i suppose|i assume|maybe|perhaps|might|probably|not sure|i wonder|could be|seems to|\
    seems like|looks like|appears to|apparently|presumably|likely|if you want|if you'd like|if you like|would you|should i|\
    should we|shall i|shall we|let me know|do you|can you|could you|will you|never mind|i'm not certain|i am not certain";

/// A sentence that begins so tells somebody what to do now.
pub(super) const REQUESTS: &str = "add|adjust|apply|ask|build|bump|change|check|clean|commit|compare|continue|convert|copy|create|debug|\
    delete|deploy|describe|do|don't|document|draft|drop|edit|ensure|explain|extend|extract|fetch|figure|find|finish|fix|\
    format|generate|get|give|go|help|implement|improve|include|inspect|install|introduce|investigate|keep|let|let's|list|\
    look|make|merge|move|open|optimise|optimize|please|point|print|push|put|read|rebase|refactor|release|remove|rename|\
    replace|rerun|restart|retry|return|revert|review|rewrite|run|save|search|see|send|set|show|simplify|skip|split|start|\
    stop|summarise|summarize|take|tell|test|think|try|turn|undo|update|upgrade|use|verify|wait|walk|work|write";

/// An agent that begins so tells what it does.
pub(super) const PLANS: &str = "i|i'll|i'm|i've|i'd|let|let's|now|next|first|then|finally|done|here|we|we'll|you|you'll|your|to|after|\
    once|before|should|would|could|all|ok|okay|great|good|perfect|looking";

/// A sentence that begins so speaks of the one before it.
const BACK: &str = "it|it's|its|this|that|that's|these|those|they|they're|them|their|he|she|his|her|which|so|because|and|but|\
    or|also|then|there's|both|same|such|otherwise|instead|therefore|hence|however";

/// What may follow `this` in a sentence that stands alone.
const HERE: &str =
    "repo|repository|project|codebase|service|app|application|machine|server|team|crate|package|library|host";

/// A sentence without what only leads to it, and why a rule keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Read {
    /// What would be kept.
    pub(super) text: String,
    /// Why, where a rule says so.
    pub(super) cue: Option<Cue>,
    /// Somebody asked for it to be remembered, or said that something was not so.
    pub(super) is_led: bool,
}

/// A sentence that may be worth keeping; none where it asks, announces, or is no single thought.
pub(super) fn read(sentence: &str, voice: Voice, after_correction: bool) -> Option<Read> {
    let sentence = &*sentence.replace('\u{2019}', "'");
    let whole = Cues::of(sentence);
    if !(FEWEST_WORDS..=MOST_WORDS).contains(&whole.words())
        || sentence.ends_with(['?', ':'])
        || quotes(sentence)
        || is_logged(sentence)
    {
        return None;
    }
    let is_open =
        whole.any_of(HEDGES) || whole.begins(&[" . if ", " . when you ", " . what ", " . how ", " . why "]);
    match voice {
        Voice::User => user(sentence, &whole, after_correction, is_open),
        Voice::Assistant => assistant(sentence, &whole, is_open),
    }
}

/// Whether a sentence hands on what somebody else said, or is a part of that.
fn quotes(sentence: &str) -> bool {
    let marks = sentence.matches('"').count();
    marks % 2 == 1
        || sentence.contains('“') != sentence.contains('”')
        || [": \"", ": “"].iter().any(|mark| sentence.contains(mark))
}

/// Whether a program wrote it: it begins with a time.
fn is_logged(sentence: &str) -> bool {
    let first = sentence.split_whitespace().next().unwrap_or_default().trim_start_matches('[');
    let marks = first.matches([':', '-', 'T']).count();
    marks > 1 && first.starts_with(|c: char| c.is_ascii_digit())
}

fn user(sentence: &str, whole: &Cues, after_correction: bool, is_open: bool) -> Option<Read> {
    let (told, is_told) = without(sentence, TELLS);
    let (text, is_correction) = if is_told { (told, false) } else { without(sentence, CORRECTS) };
    let cues = Cues::of(&text);
    if cues.words() < FEWEST_WORDS {
        return None;
    }
    let is_request = begins_with(&cues, REQUESTS);
    let contrasts = cues.any(&[" instead of ", " , not ", " rather than "]);
    let cue = if is_open || (is_told && begins_with(&cues, "to")) {
        None
    } else if is_told {
        Some(Cue::Told)
    } else if whole.any_of(DECIDES) {
        Some(Cue::Decided)
    } else if cues.any(&[" always ", " never "]) || (cues.any_of(RULES) && !is_request) {
        Some(Cue::Ruled)
    } else if is_request {
        // What holds beyond the task at hand says what it is chosen against.
        (begins_with(&cues, "use") && contrasts).then_some(Cue::Ruled)
    } else if (is_correction || after_correction)
        && (slot(&text).is_some() || contrasts || is_specific(&text))
    {
        Some(Cue::Corrected)
    } else if slot(&text).is_some() || cues.any_of(OWN) || (contrasts && is_specific(&text)) {
        Some(Cue::Stated)
    } else {
        None
    };
    Some(Read { text, cue, is_led: is_told || is_correction })
}

fn assistant(sentence: &str, whole: &Cues, is_open: bool) -> Option<Read> {
    let (text, is_found) = without(sentence, FINDS);
    let cues = Cues::of(&text);
    if cues.words() < FEWEST_WORDS {
        return None;
    }
    let is_plan = begins_with(&cues, PLANS) || begins_with(&cues, REQUESTS);
    let tells = is_found || whole.any_of(FOUND);
    let is_kept = !is_open && tells && !is_plan && is_specific(&text);
    Some(Read { text, cue: is_kept.then_some(Cue::Found), is_led: is_found })
}

/// The sentence without one of some leads, and whether it had one: `Actually, the port is 1.` is `The port is 1.`
pub(super) fn without(sentence: &str, leads: &[&str]) -> (String, bool) {
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
pub(super) fn only_corrects(sentence: &str) -> bool {
    let cues = Cues::of(sentence);
    let said = cues.plain().strip_prefix(" . ").unwrap_or_default();
    cues.words() <= 5
        && CORRECTS.iter().any(|lead| said.strip_prefix(lead).is_some_and(|rest| rest.starts_with(' ')))
}

/// The words of a sentence without its marks.
pub(super) fn words(cues: &Cues) -> impl Iterator<Item = &str> {
    cues.each().filter(|word| !matches!(*word, "." | "," | ":"))
}

pub(super) fn begins_with(cues: &Cues, list: &str) -> bool {
    words(cues).next().is_some_and(|first| list.split('|').any(|word| word.trim() == first))
}

/// Whether a sentence cannot be read without the one before it.
pub(super) fn looks_back(text: &str) -> bool {
    let cues = Cues::of(text);
    let mut words = words(&cues);
    let (Some(first), second) = (words.next(), words.next()) else { return true };
    let is_here = first == "this" && second.is_some_and(|second| HERE.split('|').any(|word| word == second));
    BACK.split('|').any(|word| word.trim() == first) && !is_here
}

/// Whether a sentence can stand in front of one that speaks of it.
pub(super) fn carries(text: &str) -> bool {
    let words = Cues::of(text).words();
    (FEWEST_WORDS..=MOST_WORDS).contains(&words) && !text.ends_with(['?', ':']) && !looks_back(text)
}

/// Whether it names something: code, a number, a path, a compound, a name within the sentence.
pub(super) fn is_specific(text: &str) -> bool {
    text.split_whitespace().enumerate().any(|(nth, word)| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '`');
        let inner = |c: char| matches!(c, '_' | '/' | '`' | ':' | '=' | '@') || c.is_ascii_digit();
        word.chars().any(inner)
            || word.trim_end_matches('.').contains(['.', '-'])
            || word.chars().skip(1).any(char::is_uppercase)
            || (nth > 0 && word.len() > 1 && word.starts_with(char::is_uppercase))
    })
}
