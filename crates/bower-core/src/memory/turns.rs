//! Picks the sentences of a session that are worth keeping, in their speaker's own words.
//! A turn is cut into [`pieces`]. A classifier gives each piece probabilities, and [`picks`] decides by them. A pick is no
//! memory yet: it has to pass admission like any other text.
//!
//! ```
//! use bower_core::parts::memory::turns::{Odds, Voice, picks, pieces};
//!
//! let cut = pieces("Can you fix the login? From now on we use pnpm, not npm.");
//! assert_eq!(cut.pieces.len(), 2);
//! let odds = [Odds::of([0.1, 0.0, 0.8, 0.1, 0.0]), Odds::of([0.9, 0.0, 0.1, 0.0, 0.0])];
//! assert_eq!(picks(&cut, &odds, Voice::User), ["From now on we use pnpm, not npm."]);
//! ```

mod pieces;

use std::ops::Range;

pub use pieces::{CutTurn, TurnPiece, pieces};

/// Who speaks, as far as the classifier distinguishes speakers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Voice {
    /// The user of the program.
    User,
    /// Somebody in a group.
    Person,
    /// The program.
    Assistant,
}

impl Voice {
    /// Returns the classifier's word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Person => "person",
            Self::Assistant => "assistant",
        }
    }

    /// Returns the probability from which a piece is kept. `tools/fit_turns.py` chose it on texts of authors that the
    /// classifier had not been fitted to: the lowest at which 82 % of the kept pieces are right. Of what a user quotes, at most
    /// 4 % is kept.
    const fn bar(self) -> f64 {
        match self {
            Self::User => 0.63,
            Self::Person => 0.51,
            Self::Assistant => 0.49,
        }
    }
}

/// Weight of the other pieces of a paragraph: whoever quotes mostly quotes more than one sentence. `tools/fit_turns.py`
/// compares weights.
const SHARED: f64 = 0.3;
/// Keeps logarithms finite.
const LEAST: f64 = 1e-6;

/// What a classifier says of a piece.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Odds {
    /// Probability that it is worth keeping, if the words are the speaker's own.
    worth: f64,
    /// Whether it needs the sentence before it.
    is_part: bool,
    /// Probability that the words are the speaker's own; that they are somebody else's; that they are somebody else's orders.
    own: f64,
    foreign: f64,
    orders: f64,
}

impl Odds {
    /// Reads the probabilities of the classes: worth keeping; the same with the sentence before it; not worth keeping;
    /// somebody else's words; somebody else's orders.
    pub fn of([keep, part, drop, foreign, orders]: [f32; 5]) -> Self {
        let [keep, part, drop, foreign, orders] = [keep, part, drop, foreign, orders].map(f64::from);
        let own = keep + part + drop;
        Self { worth: (keep + part) / (own + LEAST), is_part: part > keep, own, foreign, orders }
    }

    /// Returns the logarithm of the odds that the words are somebody else's. A turn of one sentence quotes nobody, but an
    /// order to whatever reads it stays one.
    fn log_foreign(&self, is_alone: bool) -> f64 {
        let foreign = if is_alone { self.orders } else { self.foreign + self.orders };
        ((foreign + LEAST) / (self.own + LEAST)).ln()
    }
}

/// Returns the texts worth keeping, in the turn's order. `odds` has one value for each piece.
///
/// A piece that needs the sentence before it comes with it. Other people's words never come along.
pub fn picks(cut: &CutTurn, odds: &[Odds], voice: Voice) -> Vec<String> {
    let own = owned(cut, odds);
    let mut found: Vec<Range<usize>> = Vec::new();
    for at in 0..cut.pieces.len().min(odds.len()) {
        if own[at] * odds[at].worth < voice.bar() {
            continue;
        }
        let before = at
            .checked_sub(1)
            .filter(|before| odds[at].is_part && own[*before] >= voice.bar() && cut.follows(*before, at));
        match found.last_mut() {
            Some(last) if before.is_some_and(|before| last.end > before) => last.end = at + 1,
            _ => found.push(before.unwrap_or(at)..at + 1),
        }
    }
    found.into_iter().map(|range| cut.joined(range)).collect()
}

/// Returns the probability of each piece that the words are the speaker's own.
fn owned(cut: &CutTurn, odds: &[Odds]) -> Vec<f64> {
    let mut all = Vec::with_capacity(odds.len());
    let is_alone = cut.is_one_piece();
    let foreign = odds.iter().map(|odds| odds.log_foreign(is_alone));
    let judged: Vec<(&TurnPiece, f64)> = cut.pieces.iter().zip(foreign).collect();
    for paragraph in judged.chunk_by(|one, two| one.0.paragraph == two.0.paragraph) {
        let total: f64 = paragraph.iter().map(|(_, foreign)| foreign).sum();
        let others = (paragraph.len() - 1).max(1) as f64;
        all.extend(paragraph.iter().map(|(_, foreign)| {
            let foreign = foreign + SHARED * (total - foreign) / others;
            1.0 / (1.0 + foreign.exp())
        }));
    }
    all
}

#[cfg(test)]
mod tests;
