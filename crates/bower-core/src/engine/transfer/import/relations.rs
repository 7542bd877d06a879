//! Writes the relations between imported memories, as people or other programs wrote them down.

use jiff::Timestamp;

use crate::engine::transfer::import::batch::BATCH;
use crate::engine::{ACTOR, Engine};
use crate::error::Result;
use crate::item::Relation;
use crate::store::Stamp;
use crate::store::copies::{NewPiece, PieceOutcome, RelationCopy};

/// Strength of a relation that a person or program wrote down: the highest.
const WRITTEN: f32 = 1.0;

/// Creates the relation from one memory to another, by their ids.
pub(crate) fn relation(from: &str, to: &str, create_time: Timestamp) -> RelationCopy {
    RelationCopy {
        from: from.to_owned(),
        relation: Relation::RelatedTo,
        to: to.to_owned(),
        strength: WRITTEN,
        create_time,
    }
}

/// Writes relations, and returns how many of them are new.
pub(crate) fn write_relations(
    engine: &Engine,
    relations: impl IntoIterator<Item = RelationCopy>,
    now: Timestamp,
) -> Result<u64> {
    let pieces: Vec<NewPiece> = relations.into_iter().map(NewPiece::Relation).collect();
    let mut added = 0;
    for pieces in pieces.chunks(BATCH) {
        let fates = engine.store.take_pieces(pieces, false, Stamp { now, actor: ACTOR })?;
        added += fates.iter().filter(|fate| **fate == PieceOutcome::Added).count() as u64;
    }
    Ok(added)
}
