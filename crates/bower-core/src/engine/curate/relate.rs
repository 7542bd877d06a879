//! States relations: between two memories as a row of the store, between two names as a memory that states it.
//! A statement links both names, so the graph connects them, and it is found, forgotten and exported like any other memory.

use jiff::Timestamp;
use serde_json::{Map, Value, json};
use std::sync::atomic::Ordering;

use crate::engine::curate::write::{ANYTHING, free_id};
use crate::engine::curate::{AdmissionOutcome, admit};
use crate::engine::query::lookup::{looks_like_id, resolve};
use crate::engine::query::paths::{RELATION_FROM, RELATION_TO, RELATION_TYPE};
use crate::engine::{ACTOR, Engine};
use crate::error::{Error, Missing, Result};
use crate::filter::Filter;
use crate::graph::{fold, relation_type};
use crate::item::{Gate, Kind, MemoryType, Relation, RowId, Verdict, Visibility};
use crate::request::{CurateRequest, RelateOutcome, RelateRequest, Related, Selection};
use crate::store::{Decided, PairOutcome, Stamp, WriteAction};

/// Most owners who state the same relation.
const MOST_OWNERS: usize = 1_000;
/// Longest name, in bytes: as long as the name in a link may be.
const LONGEST_NAME: usize = 200;

/// Field with the id of the item that proves a relation between names.
const PROOF: &str = "relation_proof";

/// Returns the row and the id of a memory; `None` if the text is no id of a visible one.
fn memory(engine: &Engine, visibility: &Visibility, text: &str) -> Result<Option<(RowId, String)>> {
    match resolve(engine, visibility, text) {
        Ok((row, id)) => {
            let item = engine.store.items(&[row])?.pop().flatten();
            let is_memory = item.is_some_and(|item| item.kind == Kind::Memory);
            if !is_memory {
                let reason =
                    "it is a chunk of a document; only memories are related by id, documents by their titles";
                return Err(Error::invalid(format!("item {id}"), reason));
            }
            Ok(Some((row, id)))
        }
        Err(Error::InvalidId { .. } | Error::NotFound { .. }) if !looks_like_id(text) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Checks a name, and returns it on one line.
fn name(text: &str) -> Result<String> {
    let name = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let reason = if fold(&name).is_empty() {
        "it has no letter or digit"
    } else if name.len() > LONGEST_NAME {
        "it is longer than 200 bytes"
    } else if name.contains(['[', ']', '|', '#']) {
        "it has one of [ ] | #, which end the name of a link"
    } else {
        return Ok(name);
    };
    let shown: String = name.chars().take(40).collect();
    Err(Error::invalid(format!("name {shown:?}"), reason))
}

/// Checks the type of a relation between names, and returns it in lower case.
fn verb(text: &str) -> Result<String> {
    if let Some(verb) = relation_type(text) {
        return Ok(verb);
    }
    let shown: String = text.chars().take(40).collect();
    Err(Error::invalid(
        format!("type {shown:?}"),
        "use a verb such as works_at: at most 40 letters, digits and _",
    ))
}

/// Relates two memories.
fn relate_memories(
    engine: &Engine,
    visibility: &Visibility,
    request: &RelateRequest,
    (from, to): ((RowId, String), (RowId, String)),
    now: Timestamp,
) -> Result<Related> {
    let word = request.relation.trim().to_lowercase();
    let relation =
        RelateRequest::TYPES.contains(&word.as_str()).then(|| word.parse::<Relation>()).transpose()?;
    let Some(relation) = relation else {
        let types = RelateRequest::TYPES.join(", ");
        let reason =
            format!("between memories use {types}; bower settle says which of two replaces the other");
        return Err(Error::invalid(format!("type {word:?}"), reason));
    };
    if from.0 == to.0 {
        return Err(Error::invalid(format!("memory {}", from.1), "the two ids are of one memory; name two"));
    }
    if request.proof.is_some() {
        return Err(Error::invalid("proof", "only relations between names have one; leave it out"));
    }
    let namespaces = engine.store.items(&[from.0, to.0])?;
    let namespaces: Vec<_> =
        namespaces.iter().flatten().map(|item| (&item.collection, item.scope, &item.owner)).collect();
    if namespaces.windows(2).any(|pair| pair[0] != pair[1]) {
        // Whoever sees one of them may not see the other.
        return Err(Error::invalid(
            "relation",
            "the two memories differ in their collection, scope or owner",
        ));
    }
    let strength = request.strength.unwrap_or(1.0);
    if !(strength > 0.0 && strength <= 1.0) {
        return Err(Error::invalid(format!("strength {strength}"), "use a number above 0 and up to 1"));
    }
    let stamp = Stamp { now, actor: ACTOR };
    let strength = (!request.undo).then_some(strength);
    let (outcome, event) = match engine.store.relate(from.0, relation, to.0, strength, stamp)? {
        PairOutcome::Settled(event) => {
            (if request.undo { RelateOutcome::Ended } else { RelateOutcome::Stated }, Some(event))
        }
        PairOutcome::Unchanged if request.undo => {
            let id = format!("{} {word} {}", from.1, to.1);
            return Err(Error::NotFound { what: Missing::Named("relation"), id });
        }
        PairOutcome::Unchanged => (RelateOutcome::Unchanged, None),
        PairOutcome::Void => {
            let reason =
                "one of the two memories was replaced or archived; bower history ID shows what happened";
            return Err(Error::invalid("relation", reason));
        }
    };
    // The number counts the events of the whole store.
    let event = event.filter(|_| visibility.is_everything());
    Ok(Related { from: from.1, relation: word, to: to.1, outcome, memory: None, event })
}

/// States a relation between two names, or takes it back.
fn relate_names(
    engine: &Engine,
    visibility: &Visibility,
    request: &RelateRequest,
    now: Timestamp,
) -> Result<Related> {
    let (from, to, relation) = (name(&request.from)?, name(&request.to)?, verb(&request.relation)?);
    if fold(&from) == fold(&to) {
        return Err(Error::invalid("relation", "both sides are the same name; give two"));
    }
    if request.strength.is_some() {
        return Err(Error::invalid("strength", "only relations between memories have one; leave it out"));
    }
    let mut fields = Map::from_iter([
        (RELATION_FROM.to_owned(), json!(from)),
        (RELATION_TYPE.to_owned(), json!(relation)),
        (RELATION_TO.to_owned(), json!(to)),
    ]);
    let collection = request.collection.clone().unwrap_or_else(|| engine.settings.memory_collection.clone());
    let same = Selection {
        kinds: vec![Kind::Memory],
        filter: Some(Filter::from_value(&Value::Object(fields.clone()))?),
        scope: Some(request.scope),
        owner: request.owner.clone(),
        collections: vec![collection],
        ..Selection::default()
    };
    let mut stated = engine.list(visibility, &same, MOST_OWNERS, 0)?.memories;
    // A selection without an owner selects those of all owners.
    stated.retain(|memory| memory.owner == request.owner);
    let stated = stated.pop();
    let related = |outcome, memory| Related {
        from: from.clone(),
        relation: relation.clone(),
        to: to.clone(),
        outcome,
        memory,
        event: None,
    };
    match (stated, request.undo) {
        (Some(memory), false) => Ok(related(RelateOutcome::Unchanged, Some(memory.id))),
        (Some(memory), true) => {
            engine.feedback(visibility, &memory.id, Verdict::Stale, now)?;
            Ok(related(RelateOutcome::Ended, Some(memory.id)))
        }
        (None, true) => {
            let id = format!("{from} {relation} {to}");
            Err(Error::NotFound { what: Missing::Named("relation"), id })
        }
        (None, false) => {
            if let Some(proof) = &request.proof {
                let (_, id) = resolve(engine, visibility, proof)?;
                fields.insert(PROOF.to_owned(), json!(id));
            }
            let keep = CurateRequest {
                memory_type: Some(MemoryType::Fact),
                metadata: fields,
                collection: request.collection.clone(),
                scope: request.scope,
                owner: request.owner.clone(),
                said_by: request.said_by,
                host: request.host.clone(),
                gate: Some(Gate::Off),
                ..CurateRequest::new(format!("[[{from}]] {} [[{to}]].", relation.replace('_', " ")))
            };
            let id = keep_alone(engine, visibility, &keep, now)?;
            // An earlier memory may have the same words without being a statement of this relation.
            let is_stated = engine.get(visibility, &id)?.metadata.contains_key(RELATION_TYPE);
            let outcome = if is_stated { RelateOutcome::Stated } else { RelateOutcome::Unchanged };
            Ok(related(outcome, Some(id)))
        }
    }
}

/// Keeps a statement beside all other memories, and returns its id. It is not compared with them: two relations of the same names
/// read alike, and the model took one for another wording of the other.
fn keep_alone(
    engine: &Engine,
    visibility: &Visibility,
    request: &CurateRequest,
    now: Timestamp,
) -> Result<String> {
    let (mut memory, place) = match admit(engine, visibility, request, None, now)? {
        AdmissionOutcome::Admitted(admitted) => (admitted.memory, admitted.place),
        AdmissionOutcome::Refused(curated) => {
            let reason = curated.reason.unwrap_or_else(|| "it was refused".to_owned());
            return Err(Error::invalid("relation", reason));
        }
    };
    memory.id = free_id(engine, &place, &memory.content)?;
    let decided = Decided::by_rule(WriteAction::Alone, "told", ANYTHING);
    let kept = engine.store.put_memory(&memory, &decided, Stamp { now, actor: ACTOR })?;
    engine.pending.has_kept.store(true, Ordering::Relaxed);
    // Nothing that happens meanwhile makes the decision void.
    kept.map(|kept| kept.id).ok_or_else(|| Error::NotFound { what: Missing::Item, id: memory.id })
}

impl Engine {
    /// States a relation between two memories or two names, or takes it back. Stating it again changes nothing.
    ///
    /// Fails with [`Error::Invalid`] for a type, name or strength that is none, for the id of a chunk, and if one of the two is an id
    /// and the other a name; with [`Error::NotFound`] if a relation is to be taken back that nobody stated.
    pub fn relate(
        &self,
        visibility: &Visibility,
        request: &RelateRequest,
        now: Timestamp,
    ) -> Result<Related> {
        let sides = (memory(self, visibility, &request.from)?, memory(self, visibility, &request.to)?);
        match sides {
            (Some(from), Some(to)) => relate_memories(self, visibility, request, (from, to), now),
            (None, None) => relate_names(self, visibility, request, now),
            (Some(_), None) | (None, Some(_)) => Err(Error::invalid(
                "relation",
                "one side is the id of a memory and the other a name; give two ids or two names",
            )),
        }
    }
}
