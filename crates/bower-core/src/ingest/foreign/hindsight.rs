//! Reads Hindsight's memory units: the list of its API, and the facts and observations of its exported archive.

use serde_json::{Value, json};

use super::form::{ForeignMemory, Stale, copied, list, object, words};
use crate::ingest::fields::moment;
use crate::item::MemoryType;

/// Whether an object is a memory unit. An observation of an archive has no type, but the number of its proofs.
pub(super) fn is(value: &Value) -> bool {
    let has = |name: &str| value.get(name).is_some();
    value.get("text").is_some_and(Value::is_string)
        && (has("fact_type") || (has("proof_count") && has("observation_scopes")))
}

/// Reads a memory unit.
#[expect(clippy::unnecessary_wraps, reason = "the readers of all programs have this form")]
pub(super) fn read(value: &Value) -> Result<Option<ForeignMemory>, String> {
    let Some(text) = words(value, "text") else { return Ok(None) };
    // Archives name the unit's id `source_id`, and older ones have none.
    let id = words(value, "id").or_else(|| words(value, "source_id")).unwrap_or_else(|| text.clone());
    let mut metadata = object(value, "metadata");
    metadata.extend(copied(
        value,
        &[
            "context",
            "document_id",
            "occurred_start",
            "occurred_end",
            "mentioned_at",
            "proof_count",
            "updated_at",
        ],
    ));
    let kind = words(value, "fact_type");
    metadata.extend(kind.iter().map(|kind| ("category".to_owned(), json!(kind))));
    let entities = value.get("entities").map(list).unwrap_or_default();
    if !entities.is_empty() {
        metadata.insert("entities".to_owned(), json!(entities));
    }
    let is_invalid = words(value, "state").is_some_and(|state| state == "invalidated");
    let reason = words(value, "invalidation_reason");
    let stale = is_invalid.then(|| {
        let why = reason.map_or_else(String::new, |reason| format!(": {reason}"));
        Stale::Archived(format!("Hindsight marked it as invalid{why}"))
    });
    let time = |name: &str| value.get(name).and_then(moment);
    let times = ["mentioned_at", "event_date", "date", "created_at", "occurred_start"];
    Ok(Some(ForeignMemory {
        id,
        text,
        // An experience is what the agent did.
        memory_type: kind.filter(|kind| kind == "experience").map(|_| MemoryType::Episode),
        tags: value.get("tags").map(list).unwrap_or_default(),
        created: times.into_iter().find_map(time),
        conversation: words(value, "document_id"),
        metadata,
        stale,
        ..ForeignMemory::default()
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_the_list_and_of_the_archive_are_read() {
        let unit = json!({"id": "u1", "text": "Ada prefers tabs.", "fact_type": "world", "entities": "Ada, Go", "tags": ["style"],
            "mentioned_at": "2026-01-02T03:04:05Z", "state": "invalidated", "invalidation_reason": "wrong"});
        assert!(is(&unit));
        let read_unit = read(&unit).unwrap().unwrap();
        assert_eq!((read_unit.id.as_str(), &read_unit.metadata["entities"]), ("u1", &json!(["Ada", "Go"])));
        assert_eq!(
            read_unit.stale,
            Some(Stale::Archived("Hindsight marked it as invalid: wrong".to_owned()))
        );
        let fact = json!({"source_id": "f1", "text": "I moved the port.", "fact_type": "experience", "entities": ["API"]});
        let read_fact = read(&fact).unwrap().unwrap();
        assert_eq!((read_fact.id.as_str(), read_fact.memory_type), ("f1", Some(MemoryType::Episode)));
        assert!(is(&json!({"text": "x", "proof_count": 2, "observation_scopes": null})));
        assert!(!is(&json!({"text": "x", "speaker": "ada"})));
    }
}
