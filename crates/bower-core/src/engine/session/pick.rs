//! Asks the local model which pieces of a turn are worth keeping.
//! Without a model nothing is picked, because no other part can tell a user's words from those that a turn quotes.

use crate::embed::{Classifier, Statements};
use crate::engine::Engine;
use crate::error::Result;
use crate::item::Step;
use crate::memory::turns::{CutTurn, Odds, Voice, picks, pieces};
use crate::request::Degraded;

/// Returns the texts of a turn that are worth keeping; `None` if no model can tell.
pub(crate) fn worth_keeping(engine: &Engine, said: &str, voice: Voice) -> Result<Option<Vec<String>>> {
    let cut = pieces(said);
    let mut all = Vec::with_capacity(cut.pieces.len());
    for at in 0..cut.pieces.len() {
        let Some(odds) = odds(engine, &cut, at, voice)? else { return Ok(None) };
        all.push(odds);
    }
    Ok(Some(picks(&cut, &all, voice)))
}

/// Returns what the classifier says of a piece; `None` if the model has none.
fn odds(engine: &Engine, cut: &CutTurn, at: usize, voice: Voice) -> Result<Option<Odds>> {
    let input = Statements::Piece {
        role: voice.word(),
        before: &cut.before(at),
        piece: &cut.piece(at),
        after: cut.after(at),
    };
    let classes = engine.model.classify(&input, &[Classifier::Piece])?;
    let classes = classes.and_then(|mut classes| classes.pop());
    Ok(classes.and_then(|classes| classes.try_into().ok()).map(Odds::of))
}

/// Returns the line of an answer that picked nothing.
pub(crate) fn not_picked(engine: &Engine) -> Degraded {
    let state = engine.model.classifier_state();
    let why = match state.reason {
        Some(_) => state.why(),
        None => format!("model {} cannot classify sentences", state.name),
    };
    Degraded { channel: Step::Pick.into(), reason: format!("no sentence was picked: {why}") }
}
