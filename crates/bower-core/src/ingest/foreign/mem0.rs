//! Reads mem0's memories: the objects that `get_all` and its exports return, and its local history of changes.

use serde_json::{Value, json};

use super::form::{ForeignMemory, ForeignTable, Stale, copied, list, object, words};
use crate::ingest::fields::moment;

/// The local history, `~/.mem0/history.db`: a row for each change of a memory.
pub(super) const HISTORY: &[ForeignTable] = &[ForeignTable {
    needs: &[(
        "history",
        &["id", "memory_id", "old_memory", "new_memory", "event", "created_at", "updated_at"],
    )],
    // `next` is what became of a text.
    query: "SELECT *, LEAD(event) OVER (PARTITION BY memory_id ORDER BY rowid) AS next FROM history ORDER BY rowid",
    read: read_change,
}];

/// Whether an object is a memory: it has an id and its text in `memory`, and a field that transcripts lack.
pub(super) fn is(value: &Value) -> bool {
    let has = |name: &str| value.get(name).is_some();
    value.get("memory").is_some_and(Value::is_string)
        && value.get("id").is_some_and(Value::is_string)
        && ["hash", "user_id", "agent_id", "run_id", "created_at"].into_iter().any(has)
}

/// Reads a memory.
pub(super) fn read(value: &Value) -> Result<Option<ForeignMemory>, String> {
    let id = words(value, "id").ok_or("it has no id")?;
    let Some(text) = words(value, "memory") else { return Ok(None) };
    let mut metadata = object(value, "metadata");
    metadata.extend(copied(
        value,
        &["user_id", "agent_id", "app_id", "actor_id", "role", "updated_at", "categories"],
    ));
    let tags = ["categories", "tags"].into_iter().filter_map(|name| metadata.get(name)).flat_map(list);
    let category = metadata.get("category").map(list).unwrap_or_default();
    Ok(Some(ForeignMemory {
        id,
        text,
        memory_type: None,
        tags: tags.chain(category).collect(),
        created: value
            .get("created_at")
            .and_then(moment)
            .or_else(|| value.get("updated_at").and_then(moment)),
        expires: value.get("expiration_date").and_then(moment),
        conversation: words(value, "run_id"),
        metadata,
        ..ForeignMemory::default()
    }))
}

/// Reads one change: a text is current unless another change of the same memory follows.
fn read_change(row: &Value) -> Result<Option<ForeignMemory>, String> {
    let memory = words(row, "memory_id").ok_or("it has no memory_id")?;
    let Some(text) = words(row, "new_memory") else { return Ok(None) };
    let next = words(row, "next");
    let stale = match next.as_deref() {
        Some("DELETE") => Some(Stale::Deleted),
        Some(_) => Some(Stale::Archived("mem0 replaced it".to_owned())),
        None => None,
    };
    let mut metadata = copied(row, &["updated_at", "actor_id", "role"]);
    let change = words(row, "id").unwrap_or_default();
    // A text that was replaced has the id of its change, so that the current one has the id of the memory, as exports have it.
    let id = if stale.is_some() { change } else { memory.clone() };
    if stale.is_some() {
        metadata.insert("memory_id".to_owned(), json!(memory));
    }
    let said = if next.is_none() { "updated_at" } else { "created_at" };
    Ok(Some(ForeignMemory {
        id,
        text,
        created: row.get("created_at").and_then(moment).or_else(|| row.get(said).and_then(moment)),
        metadata,
        stale,
        ..ForeignMemory::default()
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_memory_is_read_with_its_fields() {
        let value = json!({"id": "m1", "memory": "Ada prefers tabs.", "hash": "x", "user_id": "ada", "run_id": "r1",
            "metadata": {"category": "style", "team": "shop"}, "categories": ["user preferences"],
            "created_at": "2026-01-02T03:04:05.5-07:00", "updated_at": "2026-02-02T00:00:00+00:00"});
        assert!(is(&value));
        let read = read(&value).unwrap().unwrap();
        assert_eq!((read.id.as_str(), read.text.as_str()), ("m1", "Ada prefers tabs."));
        assert_eq!(read.tags, ["user preferences", "style"]);
        assert_eq!(read.created.unwrap().to_string(), "2026-01-02T10:04:05.5Z");
        assert_eq!(read.conversation.as_deref(), Some("r1"));
        assert_eq!(read.metadata["user_id"], "ada");
        for other in
            [json!({"role": "user", "content": "x", "id": "1"}), json!({"id": "1", "memory": "x"}), json!([])]
        {
            assert!(!is(&other), "{other}");
        }
    }

    #[test]
    fn the_history_tells_what_was_replaced_and_deleted() {
        let row = |id: &str, text: Value, next: Value| json!({"id": id, "memory_id": "m", "new_memory": text, "created_at": "2026-01-02 03:04:05", "next": next});
        let stale = |row: Value| read_change(&row).unwrap().map(|memory| (memory.id, memory.stale));
        let replaced = Some(Stale::Archived("mem0 replaced it".to_owned()));
        assert_eq!(stale(row("a", json!("8080"), json!("UPDATE"))), Some(("a".to_owned(), replaced)));
        assert_eq!(stale(row("b", json!("9090"), Value::Null)), Some(("m".to_owned(), None)));
        assert_eq!(
            stale(row("c", json!("x"), json!("DELETE"))),
            Some(("c".to_owned(), Some(Stale::Deleted)))
        );
        assert_eq!(stale(row("d", Value::Null, Value::Null)), None);
    }
}
