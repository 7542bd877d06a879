//! Checks whether a text says what is so now, and not what was, will be, may be, or merely happened.

use super::super::claims::tokens::{Kind, Token};
use super::super::slot::words as known;

/// Words of what may be, is wanted, or is to come.
const ELSEWHEN: &[&str] = &[
    "aim",
    "aims",
    "become",
    "becomes",
    "consider",
    "considering",
    "could",
    "draft",
    "eventually",
    "expected",
    "future",
    "going",
    "guess",
    "hope",
    "hopes",
    "if",
    "intend",
    "intends",
    "maybe",
    "might",
    "once",
    "originally",
    "perhaps",
    "plan",
    "planned",
    "planning",
    "plans",
    "possibly",
    "probably",
    "proposal",
    "propose",
    "proposed",
    "proposes",
    "rumor",
    "rumour",
    "shall",
    "should",
    "soon",
    "still",
    "suggested",
    "suggests",
    "think",
    "thinks",
    "tomorrow",
    "unless",
    "upcoming",
    "want",
    "wanted",
    "wants",
    "will",
    "would",
    "wish",
    "wishes",
];

/// Words of what was.
const FORMERLY: &[&str] = &[
    "ago",
    "before",
    "earlier",
    "ended",
    "formerly",
    "had",
    "initially",
    "previously",
    "was",
    "were",
    "yesterday",
];

/// What was done, and is so since.
const DONE: &[&str] = &[
    "adopted",
    "agreed",
    "appointed",
    "approved",
    "assigned",
    "bumped",
    "changed",
    "chosen",
    "cut",
    "decided",
    "extended",
    "fixed",
    "given",
    "hired",
    "increased",
    "installed",
    "lowered",
    "made",
    "migrated",
    "moved",
    "named",
    "picked",
    "promoted",
    "raised",
    "reassigned",
    "reduced",
    "renamed",
    "replaced",
    "rescheduled",
    "resized",
    "selected",
    "set",
    "settled",
    "shifted",
    "switched",
    "triaged",
    "updated",
    "upgraded",
];

/// Words that say that something changed.
const CHANGES: &[&str] =
    &["correction", "instead", "longer", "new", "now", "replaces", "replacing", "update"];

/// Whether every verb of a text is of the present.
pub(super) fn is_of_now(tokens: &[Token<'_>]) -> bool {
    let lower = |at: usize| tokens.get(at).map_or("", |token| token.lower.as_str());
    let says_update = || {
        tokens.iter().any(|token| {
            token.is("->") || token.among(CHANGES) || token.among(DONE) || token.among(known::UPDATE_LABELS)
        })
    };
    for (at, token) in tokens.iter().enumerate() {
        // A name is no verb: "May", "Will".
        let word = token.lower.as_str();
        if token.kind != Kind::Word
            || (token.is_capital() && (!token.opens || matches!(word, "may" | "will")))
        {
            continue;
        }
        // A decision is of now, whenever it is carried out.
        let is_decided = word == "will" && tokens.iter().any(|token| token.among(&["decision", "decided"]));
        // "As soon as it is full" tells when, whenever.
        let is_whenever = word == "soon" && lower(at.wrapping_sub(1)) == "as";
        let is_thing = word == "plan" && is_noun(tokens, at);
        // "No longer wants tabs but spaces" is the wish of now.
        let is_ended = matches!(word, "want" | "wants") && lower(at.wrapping_sub(1)) == "longer";
        let is_elsewhen = is_elsewhen(word) && !(is_decided || is_whenever || is_thing || is_ended);
        // "is being restarted", "is slow right now": so for the moment.
        let is_passing = word == "being" && matches!(lower(at.wrapping_sub(1)), "is" | "are")
            || word == "now" && matches!(lower(at.wrapping_sub(1)), "right" | "just")
            || word == "moment" && matches!(lower(at.wrapping_sub(1)), "the");
        let is_modal = word == "may"
            && !matches!(lower(at + 1), "use" | "have" | "take" | "cost" | "hold" | "only" | "be");
        let was_used =
            word == "used" && lower(at + 1) == "to" && !matches!(lower(at.wrapping_sub(1)), "is" | "are");
        // "no longer", "was chosen" and what is said of a change are of the present.
        let was = FORMERLY.contains(&word) && !is_done(tokens, at) && !says_update();
        // "From May on", "starting Monday".
        let is_dated = matches!(word, "from" | "starting" | "effective" | "after")
            && super::super::claims::dates::read(tokens, at + 1)
                .is_some_and(|(_, used)| word != "from" || lower(at + 1 + used) == "on");
        if is_elsewhen || is_modal || was_used || was || is_dated || is_passing {
            return false;
        }
    }
    true
}

/// Whether a word is one of what may be or is to come, or a long one of them with a slip of the pen ("propoal").
fn is_elsewhen(word: &str) -> bool {
    let is_it = |one: &&str| *one == word || one.len() > 6 && super::parts::is_slip(word, one);
    ELSEWHEN.iter().any(is_it)
}

/// "The plan of Acme", "the Pro plan".
fn is_noun(tokens: &[Token<'_>], at: usize) -> bool {
    let before = at.checked_sub(1).map(|before| &tokens[before]);
    let next = tokens.get(at + 1);
    before.is_none_or(|before| {
        before.is_mark() || before.owns || before.is_capital() || before.among(&["the", "its", "as", "new"])
    }) && next.is_none_or(|next| !next.is("to"))
        || next.is_some_and(|next| next.is_mark() || next.among(&["of", "for", "is"]))
}

/// "was chosen": what was done is so since.
fn is_done(tokens: &[Token<'_>], at: usize) -> bool {
    tokens[at].among(&["was", "were", "had"])
        && tokens.get(at + 1).is_some_and(|next| next.among(DONE) || next.is("been"))
}

/// Verbs in the past tense that do not end as such.
const HAPPENED: &[&str] = &[
    "became", "began", "broke", "brought", "came", "caught", "did", "drank", "drove", "ate", "fell", "felt",
    "flew", "forgot", "found", "gave", "got", "grew", "heard", "knew", "left", "lost", "met", "paid", "ran",
    "said", "sat", "saw", "sent", "slept", "sold", "spent", "spoke", "stood", "stole", "swam", "taught",
    "thought", "threw", "told", "took", "went", "won", "wore", "wrote",
];

/// Whether a sentence tells of something that happened: such an amount is one of many.
pub(super) fn is_event(tokens: &[Token<'_>]) -> bool {
    tokens.iter().enumerate().any(|(at, token)| {
        let word = token.lower.as_str();
        if token.kind != Kind::Word || token.is_capital() && !token.opens {
            return false;
        }
        let before = at.checked_sub(1).map_or("", |before| tokens[before].lower.as_str());
        let is_state =
            matches!(
                before,
                "is" | "are" | "be" | "been" | "gets" | "get" | "not" | "now" | "the" | "its" | "a"
            ) || (at > 0 && !tokens[at - 1].is_mark() && at + 1 < tokens.len() && before.ends_with("ly"));
        let is_past = word.len() > 4
            && word.ends_with("ed")
            && !word.ends_with("eed")
            && !DONE.contains(&word)
            && !super::parts::AROUND.contains(&word);
        // A participle before its noun: "failed calls".
        let is_adjective =
            tokens.get(at + 1).is_some_and(|next| next.kind == Kind::Word && next.lower.ends_with('s'));
        HAPPENED.contains(&word) || (is_past && !is_state && !is_adjective)
    })
}

/// The first sentence, without what merely opens the text, and whether more is told than remarks on it.
pub(super) fn first_sentence<'t, 'a>(text: &str, tokens: &'t [Token<'a>]) -> (&'t [Token<'a>], bool) {
    let ends = |at: usize| {
        let token = &tokens[at];
        let is_line = at > 0 && text[tokens[at - 1].end()..token.at].contains('\n');
        // "; 8080 is gone" belongs to what is told.
        let is_end = token.among(&[".", "!", "?"])
            || (token.is(";")
                && !tokens[at..]
                    .iter()
                    .any(|next| next.among(&["gone", "out", "was", "longer", "previously"])));
        (token.is_mark() && is_end, is_line)
    };
    let mut sentences: Vec<&[Token<'a>]> = Vec::new();
    let mut start = 0;
    for at in 0..tokens.len() {
        let (is_mark, is_line) = ends(at);
        if is_mark || is_line {
            sentences.push(&tokens[start..at]);
            start = at + usize::from(is_mark);
        }
    }
    sentences.push(&tokens[start.min(tokens.len())..]);
    sentences.retain(|sentence| sentence.iter().any(|token| !token.is_mark()));
    let is_label = |sentence: &&[Token<'a>]| matches!(sentence, [one] if one.among(known::LABELS_ALONE) || one.among(known::LABELS));
    let first = sentences.iter().position(|sentence| !is_label(sentence)).unwrap_or(0);
    let Some(core) = sentences.get(first) else { return (&[], false) };
    let is_remark = |sentence: &&[Token<'a>]| {
        sentence.iter().any(|token| {
            token.among(&[
                "it", "this", "that", "its", "these", "them", "gone", "out", "because", "reason", "see",
            ])
        })
    };
    let has_more =
        sentences[first + 1..].iter().any(|sentence| !is_clause(tokens, sentence) && !is_remark(sentence));
    (without_reason(core), has_more)
}

/// Whether a part of a text follows a semicolon.
fn is_clause(tokens: &[Token<'_>], sentence: &[Token<'_>]) -> bool {
    let Some(first) = sentence.first() else { return true };
    let at = tokens.partition_point(|token| token.at < first.at);
    at > 0 && tokens[at - 1].is(";")
}

/// A sentence without a reason or a remark in brackets behind it.
fn without_reason<'t, 'a>(core: &'t [Token<'a>]) -> &'t [Token<'a>] {
    let starts = |at: &usize| {
        let after_comma = core[at - 1].is(",");
        match core[*at].lower.as_str() {
            "because" => true,
            "since" | "as" | "which" | "so" => after_comma,
            "due" => core.get(at + 1).is_some_and(|next| next.is("to")),
            _ => false,
        }
    };
    let core = &core[..(2..core.len()).find(starts).unwrap_or(core.len())];
    let Some(open) = core.iter().rposition(|token| token.is("(")).filter(|open| *open > 1) else {
        return core;
    };
    let inner = &core[open + 1..];
    let tells = |token: &Token<'_>| {
        token.kind == Kind::Code
            || token.lower.contains('-')
            || token.is_capital()
            || token.among(&[
                "was",
                "not",
                "no",
                "previously",
                "formerly",
                "from",
                "replaces",
                "replacing",
                "instead",
            ])
    };
    let is_last = inner.iter().position(|token| token.is(")")).is_none_or(|close| close + 1 == inner.len());
    if is_last && inner.len() > 2 && !inner.iter().any(tells) { &core[..open] } else { core }
}
