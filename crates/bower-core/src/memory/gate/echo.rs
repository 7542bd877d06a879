//! Whether a text only says again what the store has just said: a reader that writes down what it was given.
//!
//! Each sentence must be covered by the runs of words (shingles, after Broder, "On the resemblance and containment of
//! documents", 1997) of one returned sentence, or be made of whole ones. What is left over may only be small words, and
//! nothing may be denied that was not, so that a text with one digit, name or word changed is news.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use super::Constants;
use crate::text::{Analyzer, Language, Purpose, Shape};

/// Sentences of returned texts that are compared word by word for one sentence.
const CANDIDATES: usize = 4;

/// A run of words may begin so many returned sentences that are looked at; more say the same.
const MOST_SAME: usize = 8;

/// Lead-ins that a writer puts before what it was given. A sentence loses them before it is compared.
const LEAD_INS: &[&str] = &[
    "according to my memory",
    "according to memory",
    "according to the memory",
    "according to our memory",
    "according to the knowledge base",
    "according to the store",
    "according to the context",
    "according to the notes",
    "according to my notes",
    "according to previous context",
    "from memory",
    "from my memory",
    "memory says that",
    "memory says",
    "the memory says that",
    "the memory says",
    "the memory states that",
    "my memory says",
    "based on memory",
    "based on my memory",
    "based on the memory",
    "based on the retrieved context",
    "based on the provided context",
    "based on retrieved knowledge",
    "based on the knowledge base",
    "based on past conversations",
    "as mentioned before",
    "as mentioned earlier",
    "as you mentioned",
    "as i mentioned",
    "as noted before",
    "as noted earlier",
    "as noted",
    "i remember that",
    "i recall that",
    "i remember",
    "i recall",
    "recall that",
    "remember that",
    "note that",
    "reminder that",
    "reminder",
    "the user previously said that",
    "the user previously mentioned that",
    "the user mentioned that",
    "the user said that",
    "previously",
    "relevant knowledge",
    "retrieved memory",
    "memory",
    "context",
    "known fact",
    "fact",
    "it is known that",
    "we know that",
    "it was noted that",
    "it was mentioned that",
];

/// What a word is worth to an echo.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Weight {
    /// Small words come and go without a change of meaning.
    Small,
    /// Denies something.
    Denies,
    /// All others.
    Says,
}

struct Word {
    hash: u64,
    weight: Weight,
}

/// Whether nearly all of a text comes from what was returned, and nothing in it is new.
pub(super) fn is_echo(text: &str, returned: &[&str], constants: &Constants) -> bool {
    if returned.is_empty() {
        return false;
    }
    let mut analyzer = Analyzer::new(Language::English);
    let told = sentences(text, &mut analyzer);
    // A word or two are an echo of anything.
    if told.iter().map(Vec::len).sum::<usize>() < constants.shingle {
        return false;
    }
    let known: Vec<Vec<Word>> = returned.iter().flat_map(|text| sentences(text, &mut analyzer)).collect();
    let index = Index::of(&known, constants.shingle);
    told.iter().all(|sentence| is_known(sentence, &known, &index, constants))
}

/// Where runs of words stand in the returned sentences.
struct Index {
    /// Sentences that have a run somewhere.
    having: HashMap<u64, Vec<u32>>,
    /// Sentences that begin with one.
    beginning: HashMap<u64, Vec<u32>>,
}

impl Index {
    fn of(known: &[Vec<Word>], shingle: usize) -> Self {
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

fn is_known(sentence: &[Word], known: &[Vec<Word>], index: &Index, constants: &Constants) -> bool {
    let shingle = constants.shingle.min(sentence.len());
    if shingle < constants.shingle {
        return known.iter().any(|other| is_same(other, sentence));
    }
    let mut votes: HashMap<u32, usize> = HashMap::new();
    for run in runs(sentence, shingle) {
        for nth in index.having.get(&run).into_iter().flatten() {
            *votes.entry(*nth).or_default() += 1;
        }
    }
    let mut best: Vec<(u32, usize)> = votes.into_iter().collect();
    best.sort_unstable_by_key(|(nth, votes)| (std::cmp::Reverse(*votes), *nth));
    best.truncate(CANDIDATES);
    best.iter().any(|(nth, _)| covers(&known[*nth as usize], sentence, constants))
        || is_made_of_whole(sentence, known, index, constants)
}

/// Whether one returned sentence says all that this one does.
fn covers(other: &[Word], sentence: &[Word], constants: &Constants) -> bool {
    let theirs: HashSet<u64> = runs(other, constants.shingle).collect();
    let mut covered = vec![false; sentence.len()];
    for (at, run) in runs(sentence, constants.shingle).enumerate() {
        if theirs.contains(&run) {
            covered[at..at + constants.shingle].fill(true);
        }
    }
    let denials = |words: &[Word]| words.iter().filter(|word| word.weight == Weight::Denies).count();
    denials(other) == denials(sentence) && nothing_new(sentence, &covered, true, constants)
}

/// Whether a sentence is put together from whole returned ones (`A, and B`).
fn is_made_of_whole(sentence: &[Word], known: &[Vec<Word>], index: &Index, constants: &Constants) -> bool {
    let mut covered = vec![false; sentence.len()];
    let mut at = 0;
    let starts: Vec<u64> = runs(sentence, constants.shingle).collect();
    while at < starts.len() {
        let whole = index.beginning.get(&starts[at]).into_iter().flatten().find_map(|nth| {
            let other = &known[*nth as usize];
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
    nothing_new(sentence, &covered, false, constants)
}

/// Whether only small words are left over. Denials in other words (`don't` for `do not`) may be, where as much is denied.
fn nothing_new(sentence: &[Word], covered: &[bool], denies_alike: bool, constants: &Constants) -> bool {
    let known = covered.iter().filter(|covered| **covered).count();
    let is_small = |(word, covered): (&Word, &bool)| {
        *covered
            || match word.weight {
                Weight::Small => true,
                Weight::Denies => denies_alike,
                Weight::Says => false,
            }
    };
    known as f32 >= constants.least_echo * sentence.len() as f32 && sentence.iter().zip(covered).all(is_small)
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

/// The words of each sentence, without frames, bullets and lead-ins.
fn sentences(text: &str, analyzer: &mut Analyzer) -> Vec<Vec<Word>> {
    let mut out = Vec::new();
    for line in text.lines() {
        let line = line.trim();
        // The frame of evidence, and what was left out of it.
        if line.starts_with("## ") || line.starts_with("### ") || line == "[…]" {
            continue;
        }
        for sentence in split(line) {
            let sentence = without_lead_in(sentence);
            let mut words = Vec::new();
            let mut end = 0;
            analyzer.each(sentence, Purpose::Index, |found| {
                // The whole of a compound stands beside its parts; its parts are enough.
                let is_new = found.at.start >= end || found.shape == Shape::Gram;
                if found.shape != Shape::Sign && is_new {
                    end = found.at.end;
                    words.push(Word { hash: hash(found.term), weight: weight(found.folded) });
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

fn without_lead_in(sentence: &str) -> &str {
    let sentence = sentence.trim_start_matches(|c: char| !c.is_alphanumeric());
    let longest = LEAD_INS
        .iter()
        .filter(|lead| {
            sentence.get(..lead.len()).is_some_and(|head| head.eq_ignore_ascii_case(lead))
                && sentence[lead.len()..].starts_with([',', ':', ' '])
                // One word alone leads in before a colon only: `Memory: ...`, but not `Memory is cheap`.
                && (lead.contains(' ') || sentence[lead.len()..].starts_with([',', ':']))
        })
        .max_by_key(|lead| lead.len());
    longest.map_or(sentence, |lead| &sentence[lead.len()..])
}

/// `folded` is as the analysis gives it: lower case, without apostrophes.
fn weight(folded: &str) -> Weight {
    match folded {
        "not" | "no" | "never" | "none" | "nobody" | "nothing" | "neither" | "nor" | "without" | "cannot"
        | "cant" | "dont" | "doesnt" | "didnt" | "isnt" | "arent" | "wasnt" | "werent" | "wont"
        | "wouldnt" | "shouldnt" | "couldnt" | "hasnt" | "havent" | "hadnt" | "mustnt" | "longer"
        | "except" | "unless" => Weight::Denies,
        "a" | "an" | "the" | "and" | "is" | "are" | "was" | "were" | "be" | "it" | "its" | "that"
        | "this" | "of" | "to" | "in" | "on" | "at" | "for" | "with" | "as" | "by" | "our" | "their"
        | "your" | "my" | "his" | "her" | "we" | "they" | "you" | "i" | "he" | "she" | "has" | "have"
        | "also" | "so" | "too" | "then" | "which" | "there" | "do" | "does" => Weight::Small,
        _ => Weight::Says,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RETURNED: &[&str] = &[
        "The billing API listens on port 8080. The admin API listens on port 9090.",
        "We do not use Redis for the session cache in production.",
        "Anna prefers green tea in the morning.",
        "版本是二，发布日期是五月一日。",
    ];

    #[track_caller]
    fn check(expected: bool, texts: &[&str]) {
        for text in texts {
            assert_eq!(is_echo(text, RETURNED, &Constants::default()), expected, "{text}");
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
            ],
        );
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
                "8080",
                "",
            ],
        );
        assert!(!is_echo("The billing API listens on port 8080.", &[], &Constants::default()));
    }
}
