//! The caller's word about two memories: at once with a new one, or later. It beats every rule.

use jiff::Timestamp;

use crate::engine::query::lookup::resolve;
use crate::engine::{ACTOR, Engine};
use crate::error::{Error, Missing, Result};
use crate::item::{Kind, PairRuling, Status, Visibility};
use crate::request::{CurateRequest, Item, PairRequest, SettledPair};
use crate::store::{Namespace, PairOutcome, Stamp};

/// What the caller of a request says about earlier memories.
#[derive(Debug, Default)]
pub(crate) struct CallersWord {
    /// The memory that the text replaces or confirms.
    pub(crate) main: Option<(Item, PairRuling)>,
    /// Memories that are different facts.
    pub(crate) different: Vec<Item>,
}

impl CallersWord {
    /// Finds the memories that a request names. All are in its namespace and visible to the caller.
    pub(crate) fn of(
        engine: &Engine,
        visibility: &Visibility,
        place: &Namespace,
        request: &CurateRequest,
    ) -> Result<Self> {
        let CurateRequest { replaces, confirms, different_from, .. } = request;
        let (main, ruling) = match (replaces, confirms) {
            (Some(_), Some(_)) => {
                return Err(Error::invalid("replaces and confirms", "name one of the two"));
            }
            (Some(id), None) => (Some(id), PairRuling::Replaces),
            (None, confirms) => (confirms.as_ref(), PairRuling::Confirms),
        };
        let main = main.map(|id| earlier(engine, visibility, place, id)).transpose()?;
        if let Some(item) = main.as_ref().filter(|item| !is_seen(item)) {
            return Err(hidden(engine, item)?);
        }
        let different = different_from
            .iter()
            .map(|id| earlier(engine, visibility, place, id))
            .collect::<Result<Vec<_>>>()?;
        if let Some(item) =
            different.iter().find(|item| main.as_ref().is_some_and(|main| main.row == item.row))
        {
            let reason = format!("{} is named twice; name it once", item.id);
            return Err(Error::invalid("different_from", reason));
        }
        Ok(Self { main: main.map(|item| (item, ruling)), different })
    }

    /// Whether the caller says nothing.
    pub(crate) fn is_nothing(&self) -> bool {
        self.main.is_none() && self.different.is_empty()
    }

    /// Fails where a memory that the text is to replace, or differs from, has this very text.
    pub(crate) fn check(&self, content: &str) -> Result<()> {
        let replaced = self.main.iter().filter(|(_, ruling)| *ruling == PairRuling::Replaces);
        let others = replaced.map(|(item, _)| item).chain(&self.different);
        match others.into_iter().find(|item| item.content.trim() == content) {
            None => Ok(()),
            Some(item) => {
                Err(Error::invalid(format!("memory {}", item.id), "it has the same text; name another one"))
            }
        }
    }
}

fn is_seen(item: &Item) -> bool {
    matches!(item.status, Status::Candidate | Status::Active)
}

/// Returns a visible memory of a namespace; for a wording, its memory.
fn earlier(engine: &Engine, visibility: &Visibility, place: &Namespace, id: &str) -> Result<Item> {
    let (row, id) = resolve(engine, visibility, id)?;
    let row = engine.store.worded_by(&[row])?.pop().flatten().unwrap_or(row);
    let item = engine.store.items(&[row])?.pop().flatten();
    let is_of_place = |item: &Item| {
        item.kind == Kind::Memory
            && (&item.collection, item.scope, &item.owner) == (&place.collection, place.scope, &place.owner)
    };
    item.filter(is_of_place).ok_or(Error::NotFound { what: Missing::Item, id })
}

/// Returns the error for a memory that is superseded or archived.
fn hidden(engine: &Engine, item: &Item) -> Result<Error> {
    let id = &item.id;
    if item.status != Status::Superseded {
        let reason = "it is archived and in no answer; keep the text as a memory of its own";
        return Ok(Error::invalid(format!("memory {id}"), reason));
    }
    let last = engine.store.chain(item.row)?.pop().filter(|last| *last != item.row);
    let successor =
        last.map_or(Ok(None), |last| Ok::<_, Error>(engine.store.items(&[last])?.pop().flatten()))?;
    let reason = match successor {
        Some(successor) => format!("{} replaced it; name that one", successor.id),
        None => "it was rejected in a review; name another one".to_owned(),
    };
    Ok(Error::invalid(format!("memory {id}"), reason))
}

impl Engine {
    /// Settles what a memory is to an earlier one, by the caller's word: it replaces it, is another wording of it, or is a
    /// different fact. It ends what was possible between them, and their open review. Saying it again changes nothing.
    pub fn settle_pair(
        &self,
        visibility: &Visibility,
        request: &PairRequest,
        now: Timestamp,
    ) -> Result<SettledPair> {
        let gone = |id: &str| Error::NotFound { what: Missing::Item, id: id.to_owned() };
        let (newer, id) = resolve(self, visibility, &request.id)?;
        let item = self.store.items(&[newer])?.pop().flatten();
        let item = item.filter(|item| item.kind == Kind::Memory).ok_or_else(|| gone(&id))?;
        let place =
            Namespace { collection: item.collection.clone(), scope: item.scope, owner: item.owner.clone() };
        let other = earlier(self, visibility, &place, &request.other)?;
        if other.row == newer {
            return Err(Error::invalid(format!("memory {id}"), "the two ids are of one memory; name two"));
        }
        let stamp = Stamp { now, actor: ACTOR };
        let event = match self.store.settle_pair(newer, other.row, request.ruling, stamp)? {
            PairOutcome::Settled(event) => Some(event),
            PairOutcome::Unchanged => None,
            PairOutcome::Void => {
                let sides = self.store.items(&[newer, other.row])?.into_iter().flatten();
                let hidden_side = sides.into_iter().find(|item| !is_seen(item));
                return Err(hidden_side.map_or_else(|| Ok(gone(&other.id)), |item| hidden(self, &item))?);
            }
        };
        let mut sides = self.store.items(&[newer, other.row])?;
        let (Some(other), Some(memory)) = (sides.pop().flatten(), sides.pop().flatten()) else {
            return Err(gone(&id));
        };
        // The number counts the events of the whole store.
        let event = event.filter(|_| visibility.is_everything());
        Ok(SettledPair { ruling: request.ruling, memory, other, event })
    }
}
