//! Lets a language model settle what nobody did: what a memory is to an earlier one that it may replace or repeat.
//! Only the maintenance of a long-lived process does this, and only where the settings name a model and a number of pairs.

use jiff::{SignedDuration, Timestamp};
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use crate::engine::Engine;
use crate::engine::llm::AskError;
use crate::engine::maintain::bounded_llm::BoundedLlm;
use crate::error::Result;
use crate::item::{LlmOperation, PairRuling};
use crate::llm::{field, settle_prompt};
use crate::memory::relation::ruling_of;
use crate::request::{Item, SettledByModel};
use crate::store::{OpenPair, PairOutcome, Stamp};

/// Who settles, as events name it.
const ACTOR: &str = "llm";
/// The caller who told a memory has so long to settle what it is.
const GRACE: SignedDuration = SignedDuration::from_hours(1);

/// Asks the language model about open pairs, as many as the setting `llm_settle` says, within some milliseconds. `None` if no
/// model is chosen, or the setting is 0.
///
/// Both memories must be active and reviewed, none may be pinned, and what came from outside ends nothing that did not. Each
/// answer is an event of its own, which `undo` takes back. A pair whose answer cannot be read stays open, and this process does
/// not ask about it again.
pub(crate) fn settle_open(engine: &Engine, most_ms: u64, now: Timestamp) -> Result<Option<SettledByModel>> {
    let most = engine.settings.llm_settle;
    let Some(llm) = BoundedLlm::of(engine, LlmOperation::Settle, now).filter(|_| most > 0) else {
        return Ok(None);
    };
    let start = Instant::now();
    let mut done = SettledByModel { model: llm.model().to_owned(), ..SettledByModel::default() };
    let mut left_open = engine.pending.left_open.lock().unwrap_or_else(PoisonError::into_inner);
    let mut open = engine.store.open_pairs(now - GRACE, most + left_open.len())?;
    open.retain(|pair| !left_open.contains(&(pair.newer, pair.older)));
    for pair in open.into_iter().take(most) {
        let left = Duration::from_millis(most_ms).saturating_sub(start.elapsed());
        if left.is_zero() || llm.gave_up() {
            break;
        }
        let mut sides = engine.store.items(&[pair.newer, pair.older])?;
        let (Some(older), Some(newer)) = (sides.pop().flatten(), sides.pop().flatten()) else { continue };
        if !may_settle(&newer, &older) {
            left_open.insert((pair.newer, pair.older));
            continue;
        }
        let read = |answer: &str| {
            let word = field(answer, "ruling")?;
            ruling_of(&word).ok_or_else(|| "it is none of replaces, repeats and both".to_owned())
        };
        match llm.complete(&settle_prompt(&older.content, &newer.content), left, &read) {
            Ok(told) => settle(engine, pair, told.value, &mut done, now)?,
            Err(AskError::Unusable(_)) => {
                done.unread += 1;
                left_open.insert((pair.newer, pair.older));
            }
            Err(AskError::NoAnswer(why)) => {
                done.failed += 1;
                done.failure = Some(why);
            }
        }
    }
    done.uses = llm.uses();
    Ok(Some(done))
}

/// Whether a model may settle an open pair.
fn may_settle(newer: &Item, older: &Item) -> bool {
    !newer.damaged && !older.damaged && (older.provenance.is_outside() || !newer.provenance.is_outside())
}

fn settle(
    engine: &Engine,
    pair: OpenPair,
    ruling: PairRuling,
    done: &mut SettledByModel,
    now: Timestamp,
) -> Result<()> {
    let stamp = Stamp { now, actor: ACTOR };
    if let PairOutcome::Settled(event) = engine.store.settle_pair(pair.newer, pair.older, ruling, stamp)? {
        done.events.push(event);
        match ruling {
            PairRuling::Replaces => done.replaced += 1,
            PairRuling::Confirms => done.confirmed += 1,
            PairRuling::DifferentFrom => done.different += 1,
        }
    }
    Ok(())
}
