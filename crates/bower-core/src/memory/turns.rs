//! Picks the sentences of a session that are worth keeping.
//! They are what its user decided, ruled, corrected or stated, and what an agent found out. A pick is a sentence that can be read
//! alone; it is no memory yet, and has to pass admission like any other text.
//!
//! ```
//! use bower_core::parts::memory::turns::{Cue, Voice, picks};
//!
//! let picks = picks("Can you fix the login? From now on we use pnpm, not npm.", Voice::User);
//! assert_eq!(picks.len(), 1);
//! assert_eq!((picks[0].cue, picks[0].text.as_str()), (Cue::Decided, "From now on we use pnpm, not npm."));
//! ```
//!
//! Narrow rules say why a sentence would be kept (`rules.rs`), a scorer how likely it is that somebody would keep it
//! (`scorer.rs`); what they miss can be told with `bower curate`, what they keep must be looked through by somebody. They know
//! English; of another language what is written alike (names, numbers, code, marks) tells them something still.

mod rules;
mod scorer;
mod signs;
mod speech;

use rules::{Read, carries, looks_back, only_corrects};
use signs::signs;
use speech::{own_words, paragraphs, sentences};

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

/// A sentence of a turn.
struct Sentence {
    /// As it was said.
    said: String,
    /// What would be kept of it and what can be seen of it; none where it cannot be worth keeping.
    read: Option<(Read, Vec<f32>)>,
    /// Whether it is the first of its paragraph.
    is_first: bool,
}

/// The sentences of a turn that are worth keeping, in its order.
pub fn picks(said: &str, voice: Voice) -> Vec<Pick> {
    let sentences = hear(said, voice);
    let found: Vec<Option<(Cue, f32)>> = sentences
        .iter()
        .map(|one| one.read.as_ref().and_then(|(read, signs)| keep(read, signs, voice)))
        .collect();
    chosen(&sentences, &found, voice)
}

/// Why a sentence is kept, if it is, and how sure that is. Whoever asks for something to be remembered is heard, and a plain decision
/// or rule is kept however short it is: the scorer finds too little in it to see.
fn keep(read: &Read, signs: &[f32], voice: Voice) -> Option<(Cue, f32)> {
    let score = scorer::score(voice, signs);
    let bar = scorer::bar(voice);
    match (read.cue, voice) {
        (Some(Cue::Told), _) => Some((Cue::Told, 1.0)),
        (Some(cue), _) => Some((cue, score)),
        (None, Voice::User) => (score >= bar).then_some((Cue::Stated, score)),
        (None, Voice::Assistant) => (score >= bar).then_some((Cue::Found, score)),
    }
}

/// A sentence as a scorer sees it, for whoever fits one.
#[cfg(feature = "parts")]
#[derive(Clone, Debug)]
pub struct Seen {
    /// What would be kept of it.
    pub text: String,
    /// One number for each of [`sign_names`].
    pub signs: Vec<f32>,
    /// Whether a rule keeps it.
    pub is_ruled: bool,
}

/// The sentences of a turn that could be kept.
#[cfg(feature = "parts")]
pub fn seen(said: &str, voice: Voice) -> Vec<Seen> {
    let all = hear(said, voice).into_iter().filter_map(|one| one.read);
    all.map(|(read, signs)| Seen { is_ruled: read.cue.is_some(), text: read.text, signs }).collect()
}

/// What the numbers of [`Seen`] are called.
#[cfg(feature = "parts")]
pub fn sign_names() -> &'static [String] {
    &signs::NAMES
}

/// What a turn says, sentence by sentence.
fn hear(said: &str, voice: Voice) -> Vec<Sentence> {
    let said = own_words(said);
    let paragraphs = paragraphs(&said);
    let all: Vec<(&str, bool, bool)> = paragraphs
        .iter()
        .flat_map(|paragraph| {
            let sentences = sentences(&paragraph.text).into_iter().enumerate();
            sentences.map(|(nth, sentence)| (sentence, nth == 0, paragraph.is_item))
        })
        .collect();
    let mut is_corrected = false;
    let mut heard = Vec::with_capacity(all.len());
    for (sentence, is_first, is_item) in all {
        let read = rules::read(sentence, voice, is_corrected && !is_first).map(|read| {
            let signs = signs(sentence, &read, voice, is_item);
            (read, signs)
        });
        is_corrected = voice == Voice::User && only_corrects(sentence);
        heard.push(Sentence { said: sentence.to_owned(), read, is_first });
    }
    heard
}

/// What is kept of those that were found, each with how sure that is: one that looks back brings the sentence before it, none
/// comes twice, and no more than a turn's share.
fn chosen(sentences: &[Sentence], found: &[Option<(Cue, f32)>], voice: Voice) -> Vec<Pick> {
    let mut all: Vec<(Pick, f32)> = Vec::new();
    for (at, one) in sentences.iter().enumerate() {
        let (Some((read, _)), Some((cue, sure))) = (&one.read, found[at]) else { continue };
        let mut pick = Pick { text: read.text.clone(), cue };
        if looks_back(&pick.text) {
            let before = at.checked_sub(1).filter(|_| !one.is_first).map(|before| &sentences[before].said);
            let Some(before) = before.filter(|before| carries(before)) else { continue };
            pick.text = format!("{before} {}", pick.text);
            if let Some((last, last_sure)) = all.last_mut().filter(|(last, _)| last.text == *before) {
                pick.cue = pick.cue.min(last.cue);
                (*last, *last_sure) = (pick, last_sure.max(sure));
                continue;
            }
        }
        all.push((pick, sure));
    }
    let mut seen = std::collections::HashSet::new();
    all.retain(|(pick, _)| seen.insert(pick.text.to_lowercase()));
    let most = match voice {
        Voice::User => MOST_OF_USER,
        Voice::Assistant => MOST_OF_ASSISTANT,
    };
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by(|&one, &two| all[two].1.total_cmp(&all[one].1).then(one.cmp(&two)));
    order.truncate(most);
    order.sort_unstable();
    order.into_iter().map(|at| all[at].0.clone()).collect()
}

#[cfg(test)]
mod tests;
