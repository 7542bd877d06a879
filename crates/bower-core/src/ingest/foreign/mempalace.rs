//! Reads `MemPalace`'s palace: the drawers in its Chroma database, with their wing and room.

use serde_json::{Map, Value, json};

use super::form::{ForeignMemory, ForeignTable, list, plain, words};
use crate::ingest::fields::moment;

/// Chroma keeps a row for each field of an entry, and its text in the field `chroma:document`. Closets only point to drawers.
pub(super) const TABLES: &[ForeignTable] = &[ForeignTable {
    needs: &[
        ("embeddings", &["id", "segment_id", "embedding_id"]),
        ("embedding_metadata", &["id", "key", "string_value", "int_value", "float_value"]),
        ("segments", &["id", "collection"]),
        ("collections", &["id", "name"]),
    ],
    query: "SELECT e.embedding_id AS id, c.name AS collection,
            (SELECT json_group_object(key, coalesce(string_value, int_value, float_value))
             FROM embedding_metadata m WHERE m.id = e.id) AS fields
            FROM embeddings e JOIN segments s ON s.id = e.segment_id JOIN collections c ON c.id = s.collection
            WHERE c.name LIKE '%drawers' ORDER BY e.id",
    read,
}];

/// Fields that only the program itself uses.
const OWN: [&str; 6] =
    ["chroma:document", "normalize_version", "id_recipe", "source_dir_ino", "source_mtime", "hlc"];

/// Reads a drawer.
fn read(row: &Value) -> Result<Option<ForeignMemory>, String> {
    let id = words(row, "id").ok_or("it has no id")?;
    let fields: Map<String, Value> = match row.get("fields") {
        Some(Value::String(text)) => {
            serde_json::from_str(text).map_err(|error| format!("its fields are no JSON: {error}"))?
        }
        Some(Value::Object(fields)) => fields.clone(),
        Some(_) | None => return Err("it has no fields".to_owned()),
    };
    let Some(text) = fields.get("chroma:document").and_then(plain) else { return Ok(None) };
    let time = |name: &str| fields.get(name).and_then(moment);
    let created = time("content_date").or_else(|| time("filed_at"));
    let tags = ["wing", "room"].into_iter().filter_map(|name| fields.get(name).and_then(plain));
    let metadata = fields.iter().filter(|(name, value)| !OWN.contains(&name.as_str()) && !value.is_null());
    let mut metadata: Map<String, Value> =
        metadata.map(|(name, value)| (name.clone(), value.clone())).collect();
    if let Some(entities) = metadata
        .get("entities")
        .map(|value| list(&json!(value.as_str().unwrap_or_default().replace(';', ","))))
    {
        metadata.insert("entities".to_owned(), json!(entities));
    }
    Ok(Some(ForeignMemory { id, text, tags: tags.collect(), created, metadata, ..ForeignMemory::default() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drawer_is_read_with_its_place() {
        let fields = json!({"chroma:document": "The API listens on 9090.", "wing": "wing_shop", "room": "ports",
            "filed_at": "2026-01-02T03:04:05.5", "entities": "Ada;API", "id_recipe": 3});
        let read = read(&json!({"id": "drawer_1", "fields": fields.to_string()})).unwrap().unwrap();
        assert_eq!((read.id.as_str(), read.text.as_str()), ("drawer_1", "The API listens on 9090."));
        assert_eq!(read.tags, ["wing_shop", "ports"]);
        assert_eq!(read.created.unwrap().to_string(), "2026-01-02T03:04:05.5Z");
        assert_eq!(read.metadata["entities"], json!(["Ada", "API"]));
        assert!(!read.metadata.contains_key("id_recipe"));
    }
}
