//! Detects echoes: texts that only repeat what the store has just returned to their writer.
//!
//! Each sentence must be covered by the runs of words (shingles, after Broder, "On the resemblance and containment of
//! documents", 1997) of one returned sentence, or be made of whole ones; their order and the words that introduce them do
//! not matter. What is left over may only be small words, nothing may be denied that was not, and nothing may be left out
//! in the middle, so that a text with one digit, name or word changed is news.

use std::borrow::Borrow;
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use super::constants::Constants;
use crate::text::{Analyzer, Language, Purpose, TermShape};
use words::{Weight, WordClass, is, weight};

mod words;

/// Sentences of returned texts that are compared word by word for one sentence.
const CANDIDATES: usize = 4;

/// A run of words may begin so many returned sentences that are looked at; more say the same.
const MOST_SAME: usize = 8;

/// Shorter clauses are no statements: `in staging`, borrowed from another sentence, would be news.
const LEAST_CLAUSE: usize = 4;

#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "what a word is decides by itself where it may stand")]
struct Word {
    hash: u64,
    weight: Weight,
    /// A mark stands before it, which ends the clause above.
    begins: bool,
    /// It tells one thing from another: a name, a word with digits, or what is said of one of several.
    parts: bool,
    /// It may not begin a noun: a number, an auxiliary, a verb in `-s`.
    goes_on: bool,
    /// It is a pronoun, has a digit or begins with a capital, and tells none of several of a kind.
    is_name: bool,
    /// `'s` follows it, and it tells none of several of a kind.
    owns: bool,
    /// It is an auxiliary: what follows is said of what stands before.
    is_verb: bool,
}

/// A text as far as an echo of it could be known: the words of its sentences as numbers.
#[derive(Clone, Debug, Default)]
pub struct Heard {
    sentences: Vec<Vec<Word>>,
}

impl Heard {
    /// Analyses a text; of what was returned this is worth keeping.
    pub fn of(text: &str) -> Self {
        Self { sentences: sentences(text, &mut Analyzer::new(Language::English)) }
    }
}

/// Whether nearly all of a text comes from what was returned, and nothing in it is new.
pub fn is_echo<H: Borrow<Heard>>(text: &str, returned: &[H], constants: &Constants) -> bool {
    if returned.is_empty() {
        return false;
    }
    // A sentence may have been broken into lines anywhere.
    let flat = text.trim().contains('\n').then(|| text.replace('\n', " "));
    let tellings: Vec<(&str, Vec<Vec<Word>>)> = std::iter::once(text)
        .chain(flat.as_deref())
        .map(|text| (text, statements(text)))
        // A word or two are an echo of anything.
        .filter(|(_, told)| told.iter().map(Vec::len).sum::<usize>() >= constants.shingle)
        .collect();
    if tellings.is_empty() {
        return false;
    }
    let known: Vec<&[Word]> =
        returned.iter().flat_map(|one| one.borrow().sentences.iter().map(Vec::as_slice)).collect();
    let index = Index::of(&known, constants.shingle);
    tellings.iter().any(|(text, told)| is_said_again(text, told, &known, &index, constants))
}

/// The sentences of a text that tell something: `Here is what I know so far:` is no part of it.
fn statements(text: &str) -> Vec<Vec<Word>> {
    let mut told = Heard::of(text).sentences;
    told.retain(|sentence| !sentence.iter().all(introduces));
    told
}

fn is_said_again(
    text: &str,
    told: &[Vec<Word>],
    known: &[&[Word]],
    index: &Index,
    constants: &Constants,
) -> bool {
    if is_scrap(text, told, known, constants) {
        return true;
    }
    let mut long = false;
    let all = told.iter().all(|sentence| {
        let is_long = sentence.len() >= constants.shingle;
        long |= is_long;
        if is_long { is_known(sentence, known, index, constants) } else { is_inside(sentence, known) }
    });
    // Scraps alone are no echo, unless one was returned as it is.
    all && (long || told.iter().all(|sentence| known.iter().any(|other| is_same(other, sentence))))
}

/// Whether a text is a piece that was cut out of what was returned, and no statement any more: cut off with an ellipsis, in brackets
/// or where no sentence ends, in the middle of a name, or behind whoever it belongs to; or the end of a sentence to the letter.
/// Nothing that was left out of it makes it news. Sentences beside the cut one were returned whole.
fn is_scrap(text: &str, told: &[Vec<Word>], known: &[&[Word]], constants: &Constants) -> bool {
    let text = text.trim();
    let begins_lower = text.starts_with(char::is_lowercase);
    let is_broken = ["...", "…", "->", "→", "=>"].iter().any(|end| text.ends_with(end))
        || text.matches('(').count() != text.matches(')').count()
        || leads_on(text);
    let is_whole = |one: &Vec<Word>| is_row(one, known);
    let stands = |piece: &[Word], fits: &dyn Fn(&[Word], usize) -> bool| {
        known.iter().any(|other| {
            let mut places = other.windows(piece.len()).enumerate();
            places.any(|(at, run)| is_same(run, piece) && fits(other, at))
        })
    };
    let is_part = |piece: &[Word], is_broken: bool| {
        stands(piece, &|other, at| {
            is_broken
                || is_unended(other, at, piece, constants)
                || (at == 0 && is_subject(other, piece, constants))
                || (at > 0 && (is_end(other, at, piece, constants) || is_cut(other, at, piece, begins_lower)))
        })
    };
    // However short: what follows it follows it here too.
    let is_rest = |piece: &[Word]| stands(piece, &|other, at| at > 0 && is_tail(other, at, piece));
    match told {
        [] => false,
        [one] => is_part(one, is_broken),
        [first, rest @ ..] if rest.iter().all(is_whole) => is_part(first, false) || is_rest(first),
        [whole @ .., last] => is_broken && whole.iter().all(is_whole) && is_part(last, true),
    }
}

/// Whether words are whole returned sentences, one behind the other and nothing between, however short: what had lines of its own
/// may stand in one. [`is_made_of_whole`] lets small words stand between, and so asks for longer ones.
fn is_row(words: &[Word], known: &[&[Word]]) -> bool {
    let mut rest = words;
    while !rest.is_empty() {
        let begins = |other: &&&[Word]| {
            !other.is_empty() && rest.get(..other.len()).is_some_and(|head| is_same(other, head))
        };
        let Some(longest) = known.iter().filter(begins).map(|other| other.len()).max() else { return false };
        rest = &rest[longest..];
    }
    true
}

/// Whether a text ends where no statement does.
fn leads_on(text: &str) -> bool {
    let mut words = text.split_whitespace().rev();
    let last = words.next().unwrap_or_default();
    is(last, WordClass::LeadsOn)
        || is(last, WordClass::Auxiliary)
        || (is(last, WordClass::StandsIn) && words.next().is_some_and(|word| is(word, WordClass::LeadsOn)))
}

/// Whether a piece that begins at a word is the larger part of a returned sentence up to its last word, and what stands before it
/// does not deny it: "staging | API listens on port 8080". Who means another thing of the same name and value has said it with not
/// one word of his own.
fn is_end(other: &[Word], at: usize, piece: &[Word], constants: &Constants) -> bool {
    is_tail(other, at, piece) && piece.len() >= at && piece.len() > constants.shingle
}

/// Whether a piece goes on to the last word of a returned sentence, and nothing before it denies it.
fn is_tail(other: &[Word], at: usize, piece: &[Word]) -> bool {
    at + piece.len() == other.len() && other[..at].iter().all(|word| word.weight != Weight::Denies)
}

/// Whether a piece ends before an auxiliary of its clause: "... when the user | has no name".
fn is_unended(other: &[Word], at: usize, piece: &[Word], constants: &Constants) -> bool {
    piece.len() > constants.shingle
        && other.get(at + piece.len()).is_some_and(|next| next.is_verb && !next.begins)
}

/// Whether a piece at the head of a returned sentence is only what that speaks of: "Restarting owl-mailer in production | loses mail".
fn is_subject(other: &[Word], piece: &[Word], constants: &Constants) -> bool {
    let goes_on = |word: &Word| word.is_verb || word.goes_on;
    piece.len() > constants.shingle
        && other.get(piece.len()).is_some_and(|next| goes_on(next) && !next.begins)
        && !piece.iter().any(goes_on)
}

/// Whether a piece of a returned sentence that begins at a word is cut off from what it belongs to: "Lucia | Nakamura",
/// "Ada's | port", "we | like", "not | accept", "can be | run", "not accept | files beyond 28 MB", "Without | Redis, it is down".
fn is_cut(other: &[Word], at: usize, piece: &[Word], begins_lower: bool) -> bool {
    let before = &other[at - 1];
    if other[at].begins {
        return false;
    }
    let is_split = before.is_name && piece[0].is_name && other[at].is_name;
    let lacks_head = begins_lower && (before.is_name || before.is_verb || before.weight == Weight::Denies);
    let from = (0..at).rev().find(|&at| other[at].begins).unwrap_or(0);
    // What was denied is left of it, and nothing that could make it a statement.
    let is_object = begins_lower
        && before.weight == Weight::Says
        && other[from..at].iter().any(|word| word.weight == Weight::Denies)
        && !piece.iter().any(|word| word.is_verb);
    let clause = piece.iter().skip(1).position(|word| word.begins).map_or(piece.len(), |at| at + 1);
    let is_rest = clause < piece.len()
        && clause < LEAST_CLAUSE
        && other[at + clause].begins
        && !piece[..clause].iter().any(|word| word.is_verb);
    before.owns || is_split || lacks_head || is_object || is_rest
}

/// Where runs of words stand in the returned sentences.
struct Index {
    /// Sentences that have a run somewhere.
    having: HashMap<u64, Vec<u32>>,
    /// Sentences that begin with one.
    beginning: HashMap<u64, Vec<u32>>,
}

impl Index {
    fn of(known: &[&[Word]], shingle: usize) -> Self {
        let mut index = Self { having: HashMap::new(), beginning: HashMap::new() };
        for (nth, sentence) in known.iter().enumerate() {
            for (at, run) in runs(sentence, shingle).enumerate() {
                let list = index.having.entry(run).or_default();
                if list.len() < MOST_SAME && list.last() != Some(&(nth as u32)) {
                    list.push(nth as u32);
                }
                if at == 0 {
                    let list = index.beginning.entry(run).or_default();
                    if list.len() < MOST_SAME {
                        list.push(nth as u32);
                    }
                }
            }
        }
        index
    }
}

/// Whether a short sentence stands in a returned one, word for word.
fn is_inside(sentence: &[Word], known: &[&[Word]]) -> bool {
    known.iter().any(|other| other.windows(sentence.len().max(1)).any(|run| is_same(run, sentence)))
}

fn is_known(sentence: &[Word], known: &[&[Word]], index: &Index, constants: &Constants) -> bool {
    let is_whole = || is_made_of_whole(sentence, known, index, constants) || is_row(sentence, known);
    is_covered(sentence, known, index, constants) || is_whole() || {
        // `A; B`, where each was returned.
        let clauses: Vec<&[Word]> = clauses(sentence);
        clauses.len() > 1
            && clauses.iter().all(|clause| {
                clause.iter().all(introduces)
                    || (clause.len() >= LEAST_CLAUSE && is_covered(clause, known, index, constants))
            })
    }
}

/// The clauses of a sentence, without the `and` that joins them.
fn clauses(sentence: &[Word]) -> Vec<&[Word]> {
    let mut found = Vec::new();
    let mut from = 0;
    for at in 1..=sentence.len() {
        if at == sentence.len() || sentence[at].begins {
            found.push(&sentence[from..at]);
            from = at;
        }
    }
    found
}

/// Whether one returned sentence says all that these words do.
fn is_covered(sentence: &[Word], known: &[&[Word]], index: &Index, constants: &Constants) -> bool {
    let mut votes: HashMap<u32, usize> = HashMap::new();
    for run in runs(sentence, constants.shingle) {
        for nth in index.having.get(&run).into_iter().flatten() {
            *votes.entry(*nth).or_default() += 1;
        }
    }
    let mut best: Vec<(u32, usize)> = votes.into_iter().collect();
    best.sort_unstable_by_key(|(nth, votes)| (std::cmp::Reverse(*votes), *nth));
    best.truncate(CANDIDATES);
    best.iter().any(|(nth, _)| covers(known[*nth as usize], sentence, constants))
}

fn covers(other: &[Word], sentence: &[Word], constants: &Constants) -> bool {
    let theirs: HashSet<u64> = runs(other, constants.shingle).collect();
    let ours: HashSet<u64> = runs(sentence, constants.shingle).collect();
    let covered = cover(sentence, &theirs, constants.shingle);
    let quoted = cover(other, &ours, constants.shingle);
    let denied = sentence
        .iter()
        .zip(&covered)
        .filter(|(word, covered)| word.weight == Weight::Denies && !**covered)
        .count();
    left_out(other, &quoted).is_some_and(|left| left == denied)
        && nothing_new(sentence, &covered, true, constants)
}

/// Which words stand in one of the runs.
fn cover(sentence: &[Word], runs_of_other: &HashSet<u64>, shingle: usize) -> Vec<bool> {
    let mut covered = vec![false; sentence.len()];
    for (at, run) in runs(sentence, shingle).enumerate() {
        if runs_of_other.contains(&run) {
            covered[at..at + shingle].fill(true);
        }
    }
    covered
}

/// How many denials were left out of the clauses that are quoted; `None` where a word that says something was left out of the
/// middle, or right before the beginning: `the staging API` is another than `the API`.
fn left_out(other: &[Word], quoted: &[bool]) -> Option<usize> {
    let first = quoted.iter().position(|quoted| *quoted)?;
    let last = quoted.iter().rposition(|quoted| *quoted)?;
    if other[first..last]
        .iter()
        .zip(&quoted[first..last])
        .any(|(word, quoted)| !quoted && !matches!(word.weight, Weight::Small | Weight::Denies))
    {
        return None;
    }
    // `other[first]` may open a noun (`the ...`); a word before it would have been a part of it otherwise.
    if first > 0
        && other[first - 1].parts
        && !other[first].begins
        && !other[first].goes_on
        && other[first].weight != Weight::Small
    {
        return None;
    }
    let from = (1..=first).rev().find(|at| other[*at].begins).unwrap_or(0);
    let to = (last + 1..other.len()).find(|at| other[*at].begins).unwrap_or(other.len());
    Some(
        other[from..to]
            .iter()
            .zip(&quoted[from..to])
            .filter(|(word, quoted)| word.weight == Weight::Denies && !**quoted)
            .count(),
    )
}

/// Whether a sentence is put together from whole returned ones (`A, and B`).
fn is_made_of_whole(sentence: &[Word], known: &[&[Word]], index: &Index, constants: &Constants) -> bool {
    let mut covered = vec![false; sentence.len()];
    let mut at = 0;
    let starts: Vec<u64> = runs(sentence, constants.shingle).collect();
    while at < starts.len() {
        let whole = index.beginning.get(&starts[at]).into_iter().flatten().find_map(|nth| {
            let other = known[*nth as usize];
            let end = at + other.len();
            (end <= sentence.len() && is_same(other, &sentence[at..end])).then_some(end)
        });
        if let Some(end) = whole {
            covered[at..end].fill(true);
            at = end;
        } else {
            at += 1;
        }
    }
    // Between two of them the writer may vouch (`A (confirmed) B`).
    for (word, covered) in sentence.iter().zip(&mut covered) {
        *covered |= word.weight == Weight::Vouches;
    }
    nothing_new(sentence, &covered, false, constants)
}

fn introduces(word: &Word) -> bool {
    matches!(word.weight, Weight::Small | Weight::Vouches | Weight::Frames)
}

/// Whether only small words are left over, and at the ends what introduces. Denials in other words (`don't` for `do not`) may
/// be, where as much is denied.
fn nothing_new(sentence: &[Word], covered: &[bool], denies_alike: bool, constants: &Constants) -> bool {
    let (Some(first), Some(last)) =
        (covered.iter().position(|covered| *covered), covered.iter().rposition(|covered| *covered))
    else {
        return false;
    };
    // `As noted, the API ...`, `I recall the API ...`, but not `the session API ...`.
    let is_apart = first == 0
        || sentence[first].begins
        || matches!(sentence[first - 1].weight, Weight::Small | Weight::Vouches);
    let from = if is_apart && sentence[..first].iter().all(introduces) { first } else { 0 };
    let vouches = |word: &Word| matches!(word.weight, Weight::Small | Weight::Vouches);
    let to = if sentence[last + 1..].iter().all(vouches) { last + 1 } else { sentence.len() };
    let known = covered[from..to].iter().filter(|covered| **covered).count();
    let is_small = |(word, covered): (&Word, &bool)| {
        *covered
            || match word.weight {
                Weight::Small => true,
                Weight::Denies => denies_alike,
                Weight::Vouches | Weight::Frames | Weight::Says => false,
            }
    };
    known as f32 >= constants.least_echo * (to - from) as f32
        && sentence[from..to].iter().zip(&covered[from..to]).all(is_small)
}

fn is_same(a: &[Word], b: &[Word]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.hash == b.hash)
}

/// The runs of so many words, each as a number.
fn runs(sentence: &[Word], shingle: usize) -> impl Iterator<Item = u64> {
    sentence.windows(shingle.max(1)).map(|run| {
        run.iter().fold(0xcbf2_9ce4_8422_2325, |hash, word| (hash ^ word.hash).wrapping_mul(0x0100_0000_01b3))
    })
}

/// FNV-1a in 64 bits: equal for equal bytes on every machine.
fn hash(term: &str) -> u64 {
    term.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The words of each sentence, without headings, bullets, numbers of lists and scores.
fn sentences(text: &str, analyzer: &mut Analyzer) -> Vec<Vec<Word>> {
    let mut out = Vec::new();
    let text = without_numbers(text);
    for line in text.lines() {
        let line = line.trim();
        // The frame of evidence, and what was left out of it.
        if line.starts_with("## ") || line.starts_with("### ") || line == "[…]" {
            continue;
        }
        for sentence in split(without_marks(line)) {
            let sentence = without_marks(sentence);
            let mut words: Vec<Word> = Vec::new();
            let mut end = 0;
            let mut is_joined = false;
            analyzer.each(sentence, Purpose::Index, |found| {
                // The whole of a compound stands beside its parts; its parts are enough.
                let is_new = found.at.start >= end || found.shape == TermShape::Gram;
                if found.shape != TermShape::Sign && is_new {
                    let between = sentence.get(end..found.at.start).unwrap_or("");
                    let begins = between.contains([';', '—', '–', '(', ')', '\n'])
                        || between.contains(", ")
                        || between.contains(": ")
                        || between.contains(" - ")
                        // "and not days" takes nothing back of what stands before it.
                        || (is_joined && found.folded == "not");
                    is_joined = matches!(found.folded, "and" | "but");
                    end = found.at.end;
                    let shown = &sentence[found.at.clone()];
                    let has_digit = shown.bytes().any(|b| b.is_ascii_digit());
                    let is_name = has_digit || (!words.is_empty() && shown.starts_with(char::is_uppercase));
                    let is_one_of = is(found.folded, WordClass::Parts);
                    let behind = &sentence[end..];
                    let is_pronoun = matches!(found.folded, "i" | "we" | "you" | "he" | "she" | "they");
                    words.push(Word {
                        is_name: (has_digit || shown.starts_with(char::is_uppercase) || is_pronoun)
                            && !is_one_of,
                        owns: !is_one_of
                            && ["'s", "’s"]
                                .iter()
                                .any(|tail| shown.ends_with(tail) || behind.starts_with(tail)),
                        hash: hash(found.term),
                        is_verb: is(found.folded, WordClass::Auxiliary),
                        weight: weight(found.folded),
                        begins,
                        parts: is_name || is(found.folded, WordClass::Parts),
                        goes_on: shown.bytes().all(|b| b.is_ascii_digit())
                            || (shown.len() > 3
                                && found.folded.ends_with('s')
                                && !shown.starts_with(char::is_uppercase))
                            || is(found.folded, WordClass::GoesOn),
                    });
                }
                ControlFlow::Continue(())
            });
            if !words.is_empty() {
                out.push(words);
            }
        }
    }
    out
}

/// A text without the numbers of its lists, written in lines or in one, and without brackets that hold a score or an id.
fn without_numbers(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    // What the next number of each list is that was begun and may go on, the innermost last.
    let mut next: Vec<usize> = Vec::new();
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        if matches!(letter, '(' | '[')
            && let Some(inside) = score(rest)
        {
            rest = &rest[inside..];
            continue;
        }
        if let Some((number, is_round, length)) = ordinal(rest)
            && (out.is_empty() || out.ends_with(char::is_whitespace))
        {
            // A list begins behind a mark; a value may end a sentence too (`it has 1. Then ...`).
            // So does the piece of a list whose head is cut off: `1) open it 2)`, `open it 2. close it 3. go`.
            let begins = (number == 1
                && (is_round
                    || out.trim_end_matches(' ').is_empty()
                    || out.trim_end_matches(' ').ends_with(['.', '!', '?', ':', ';', '\n'])))
                || (number > 1 && next.is_empty() && is_followed(&rest[length..], number + 1, is_round));
            let goes_on = next.iter().rposition(|expected| *expected == number);
            if let Some(at) = goes_on {
                next.truncate(at + 1);
                next[at] += 1;
            } else if begins && next.len() < MOST_NESTED {
                next.push(number + 1);
            }
            if goes_on.is_some() || begins {
                out.push('\n');
                rest = &rest[length..];
                continue;
            }
        }
        out.push(letter);
        rest = &rest[letter.len_utf8()..];
    }
    out
}

/// Whether the next number of a list stands in a text.
fn is_followed(text: &str, number: usize, is_round: bool) -> bool {
    let places = text.match_indices(char::is_whitespace);
    places
        .filter_map(|(at, space)| ordinal(&text[at + space.len()..]))
        .any(|(other, other_is_round, _)| other == number && other_is_round == is_round)
}

/// Lists in lists are not told deeper.
const MOST_NESTED: usize = 4;

/// The end of a bracket that the text begins with, if it holds a score or an id.
fn score(text: &str) -> Option<usize> {
    let end = text.char_indices().take(MOST_BRACKET).find(|(_, c)| matches!(c, ')' | ']'))?.0;
    let inside = &text[1..end];
    (inside.contains(|c: char| c.is_ascii_digit()) && says_nothing(inside)).then_some(end + 1)
}

/// The number of a list that the text begins with, whether it is `1)`, and its length.
fn ordinal(text: &str) -> Option<(usize, bool, usize)> {
    let digits = text.bytes().take(3).take_while(u8::is_ascii_digit).count();
    let behind = &text[digits..];
    let is_one = (1..=2).contains(&digits)
        && behind.starts_with(['.', ')'])
        && (behind[1..].starts_with(char::is_whitespace) || behind == ")");
    is_one.then(|| (text[..digits].parse().unwrap_or(0), behind.starts_with(')'), digits + 1))
}

/// A bracket with more characters holds more than a score.
const MOST_BRACKET: usize = 40;

/// A line without its bullet or number, and without what a list of results adds in brackets: `1. `, `[0.92] `, `(score .87)`.
fn without_marks(line: &str) -> &str {
    let mut rest = line.trim_start_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '[' | '('));
    loop {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        if (1..=3).contains(&digits)
            && rest[digits..].starts_with(['.', ')', ':'])
            && rest[digits + 1..].starts_with(char::is_whitespace)
        {
            rest = rest[digits + 1..].trim_start();
            continue;
        }
        if let Some(inside) = rest.strip_prefix(['[', '('])
            && let Some(end) = inside.find([']', ')'])
            && says_nothing(&inside[..end])
        {
            rest = inside[end + 1..]
                .trim_start_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '[' | '('));
            continue;
        }
        break;
    }
    loop {
        let trimmed =
            rest.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '.' | '*' | '_' | '"'));
        let open = trimmed.ends_with([']', ')']).then(|| trimmed.rfind(['[', '('])).flatten();
        match open {
            Some(open) if open > 0 && says_nothing(&trimmed[open + 1..trimmed.len() - 1]) => {
                rest = &trimmed[..open];
            }
            Some(_) | None => return rest,
        }
    }
}

/// Whether a bracket holds a score, an id or what introduces.
fn says_nothing(inside: &str) -> bool {
    inside.split(|c: char| !(c.is_alphanumeric() || c == '.')).filter(|word| !word.is_empty()).all(|word| {
        let is_score = word.parse::<f32>().is_ok_and(|score| score <= 1.0 && word.contains('.'));
        let is_id = word.len() >= 6
            && word.bytes().all(|b| b.is_ascii_hexdigit())
            && word.bytes().any(|b| b.is_ascii_digit());
        let lower = word.to_ascii_lowercase();
        is_score || is_id || matches!(weight(&lower), Weight::Small | Weight::Vouches | Weight::Frames)
    })
}

/// Ends a sentence at a mark that white space follows, and at those of scripts without spaces.
fn split(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest
            .char_indices()
            .find(|(at, c)| match c {
                '。' | '！' | '？' => true,
                '.' | '!' | '?' | ';' => rest[at + c.len_utf8()..].starts_with(char::is_whitespace),
                _ => false,
            })
            .map_or(rest.len(), |(at, c)| at + c.len_utf8());
        let (sentence, behind) = rest.split_at(end);
        rest = behind;
        Some(sentence)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const RETURNED: &[&str] = &[
        "The billing API listens on port 8080. The admin API listens on port 9090.",
        "We do not use Redis for the session cache in production.",
        "Anna prefers green tea in the morning.",
        "版本是二，发布日期是五月一日。",
        "The staging cluster of the shop runs Kubernetes 1.29, and Ada owns it.",
        "It is not true that Ben left the company.",
        "The shop has 2. The rest is sold.",
    ];

    #[track_caller]
    fn check(expected: bool, texts: &[&str]) {
        let returned: Vec<Heard> = RETURNED.iter().map(|text| Heard::of(text)).collect();
        for text in texts {
            assert_eq!(is_echo(text, &returned, &Constants::default()), expected, "{text}");
        }
    }

    #[test]
    fn what_was_returned_is_an_echo_in_other_dress() {
        check(
            true,
            &[
                "The billing API listens on port 8080.",
                "According to memory: the billing API listens on port 8080.",
                "## Relevant Knowledge\n\n### Document 1: fact 3f2a\n\n> - **The billing API listens on port 8080.**\n",
                "The admin API listens on port 9090, and the billing API listens on port 8080",
                "I remember that Anna prefers green tea in the morning. The admin API listens on port 9090.",
                "We don't use Redis for the session cache in production.",
                "版本是二，发布日期是五月一日。",
                // Framed, in part, in another order, as a list.
                "Recalled: Anna prefers green tea in the morning.",
                "What I know so far: the billing API listens on port 8080.",
                "As I remember, Anna prefers green tea in the morning",
                "Here is what memory has on this:\n1. Anna prefers green tea in the morning. (score 0.87)\n2. The billing API listens on port 8080.",
                "- The admin API listens on port 9090\n- Anna prefers green tea in the morning\n- We do not use Redis for the session cache",
                "[0.92] The billing API listens on port 8080. [a66e5e70]",
                "The billing API listens on port 8080 (from memory).",
                "You told me earlier that Anna prefers green tea in the morning.",
                "The billing API still listens on port 8080.",
                "The staging cluster of the shop runs Kubernetes 1.29",
                "Anna prefers green tea in the morning; the admin API listens on port 9090.",
                "Confirmed: Ada owns it. The staging cluster of the shop runs Kubernetes 1.29.",
                "It is not true that Ben left the company, as noted before.",
                "Relevant memory (score 0.79): Anna prefers green tea in the morning.",
                "prefers green tea in the morning.",
                "API listens on port 8080.",
                "1. Here is what I know: 1) the billing API listens on port 8080 2) Anna prefers green tea in the morning",
            ],
        );
    }

    #[test]
    fn a_piece_that_was_cut_out_is_an_echo() {
        let returned: Vec<Heard> = [
            "Note: Lucia Varga's phone extension is 7696!",
            "Iststead Bank, talk to Zofia Varga.",
            "Learned today: copper-billing keeps no personal data.",
            "We do not accept files beyond 28 MB.",
            "The staging API listens on port 8080.",
            "No aceptamos archivos de más de 22 megas; lo decidió Rania Sorensen.",
            "Failed calls are repeated by nobody.",
            "To release Crestwick: 1. open the gate 2. watch the dashboard for five minutes 3. close the ticket 4. tag it.",
            "If you add a tenant: 1) delete the old pods 2) scale it down.",
            "You add a tenant to AmberMailer like this: `make seed`, then `docker compose pull`. It takes 2 minutes.",
            "You stop owl-mailer in production like this: `make stop`, then `docker compose down`. It takes 3 minutes.",
            "2026-04-01 is the last day of leave of Viktor Yamada",
            "Everden: Vault was chosen for secrets; debugging it takes minutes and not days",
            "Commit 6a60 broke mail: since then owl-mailer in preview fills the disk when the user has no last name",
            "Nobody may assume that the cache is shared.",
            "Without Redis, willow-mailer does not come up.",
            "Pelbury dropped jiff: sessions will be done with Postgres, since it can be run on a laptop.",
            "The state of PAY-2031 is no longer open, it is blocked",
            "Restarting owl-mailer in production during a job loses mail",
            "Owl-mailer in staging request quota: 40 requests per minute -> 60 requests per minute",
            "plan (Elm Logistics): Starter",
            "For owl-mailer there is a short way to resize its disk:\n1. `make disk`\n2. `make renew`\nIt takes 39 minutes.",
        ]
        .iter()
        .map(|text| Heard::of(text))
        .collect();
        let is_scrap = |text: &str| is_echo(text, &returned, &Constants::default());
        for text in [
            "phone extension is 7696!",
            "Varga's phone extension is 7696",
            "Bank, talk to Zofia Varga",
            "Learned today: copper-billing keeps...",
            "accept files beyond 28 MB.",
            "files beyond 28 MB.",
            "archivos de más de 22 megas; lo decidió Rania Sorensen.",
            "Failed calls are repeated by",
            "the dashboard for five minutes 3. close the ticket 4. tag it.",
            "If you add a tenant: 1) delete the old pods 2)",
            "like this: `make seed`, then `docker compose pull`. It takes 2 minutes.",
            "like this: `make stop`, then `docker compose down`. It takes 3 minutes.",
            "API listens on port 8080",
            "day of leave of Viktor Yamada",
            "Everden: Vault was chosen for secrets; debugging it takes minutes",
            "Redis, willow-mailer does not come up.",
            "Pelbury dropped jiff: sessions will be done with Postgres, since it",
            "run on a laptop.",
            "The state of PAY-2031 is no",
            "restarting owl-mailer in production during a job",
            "Owl-mailer in staging request quota: 40 requests per minute ->",
            "owl-mailer in preview fills the disk when the user has",
            "Commit 6a60 broke mail: since then owl-mailer in preview fills the disk when the user",
            "to resize its disk: 1. `make disk` 2. `make renew` It takes 39 minutes.",
            "short way to resize its disk: 1. `make disk` 2. `make renew` It takes 39 minutes.",
            "plan\n(Elm\nLogistics):\nStarter",
        ] {
            assert!(is_scrap(text), "{text}");
        }
        for text in [
            "Copper-billing keeps personal data",
            "We accept files beyond 28 MB.",
            "The API listens on port 8080",
            "the cache is shared",
            "files beyond 28 MB are accepted",
            "Files beyond 28 MB",
            "failed calls are repeated",
            "the dashboard for five minutes 3. close the ticket 4. tag this.",
        ] {
            assert!(!is_scrap(text), "{text}");
        }
    }

    #[test]
    fn one_change_is_news() {
        check(
            false,
            &[
                "The billing API listens on port 8081.",
                "The billing API listens on port 9090.",
                "We use Redis for the session cache in production.",
                "We do use Redis for the session cache in production.",
                "Anna prefers black tea in the morning.",
                "Ben prefers green tea in the morning.",
                "Anna prefers green tea in the morning, Ben coffee.",
                "The billing API listens on port 8080 since May.",
                "The billing API no longer listens on port 8080.",
                "版本是三，发布日期是五月一日。",
                "Recalled: Anna prefers black tea in the morning.",
                "The cluster of the shop runs Kubernetes 1.29.",
                "Cluster of the shop runs Kubernetes 1.29.",
                "The staging cluster runs Kubernetes 1.29, and Ada owns it.",
                "Ben left the company.",
                "We use Redis for the session cache.",
                "The billing API listens on port 8080, in staging.",
                "Here is what memory has on this:",
                "The shop has 1. The rest is sold.",
                "Ada prefers green tea in the morning, as noted before.",
                "8080",
                "",
            ],
        );
        let none: &[Heard] = &[];
        assert!(!is_echo("The billing API listens on port 8080.", none, &Constants::default()));
    }
}
