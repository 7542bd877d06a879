//! Reads claude-mem's database: its observations and its summaries of sessions.

use serde_json::{Value, json};

use super::form::{ForeignMemory, ForeignTable, copied, list, paragraphs, words};
use crate::ingest::fields::moment;
use crate::item::MemoryType;

pub(super) const TABLES: &[ForeignTable] = &[
    ForeignTable {
        needs: &[(
            "observations",
            &[
                "id",
                "memory_session_id",
                "project",
                "type",
                "title",
                "facts",
                "narrative",
                "created_at_epoch",
            ],
        )],
        query: "SELECT * FROM observations ORDER BY created_at_epoch, id",
        read: read_observation,
    },
    ForeignTable {
        needs: &[(
            "session_summaries",
            &[
                "id",
                "memory_session_id",
                "project",
                "request",
                "learned",
                "completed",
                "next_steps",
                "created_at_epoch",
            ],
        )],
        query: "SELECT * FROM session_summaries ORDER BY created_at_epoch, id",
        read: read_summary,
    },
];

/// Sections of a summary, each with its title.
const SECTIONS: [(&str, &str); 6] = [
    ("request", "Request"),
    ("investigated", "Investigated"),
    ("learned", "Learned"),
    ("completed", "Completed"),
    ("next_steps", "Next steps"),
    ("notes", "Notes"),
];

/// Reads an observation: its title, its narrative or subtitle, and its facts.
fn read_observation(row: &Value) -> Result<Option<ForeignMemory>, String> {
    let facts = row.get("facts").map(list).unwrap_or_default();
    let facts: Vec<String> = facts.iter().map(|fact| format!("- {fact}")).collect();
    let narrative = words(row, "narrative").or_else(|| words(row, "subtitle"));
    let facts = (!facts.is_empty()).then(|| facts.join("\n"));
    // The earliest version had one text.
    let text = paragraphs([words(row, "title"), narrative, facts]);
    let text = if text.is_empty() { words(row, "text").unwrap_or_default() } else { text };
    Ok(memory(row, "observation", text)?.map(|memory| {
        let kind = words(row, "type");
        let tags = row.get("concepts").map(list).unwrap_or_default().into_iter().chain(kind.clone());
        ForeignMemory { tags: tags.collect(), memory_type: kind.as_deref().and_then(type_of), ..memory }
    }))
}

/// Reads the summary of a session.
fn read_summary(row: &Value) -> Result<Option<ForeignMemory>, String> {
    let sections = SECTIONS.iter().map(|(name, title)| Some(format!("{title}: {}", words(row, name)?)));
    let memory = memory(row, "summary", paragraphs(sections))?;
    Ok(memory.map(|memory| ForeignMemory { memory_type: Some(MemoryType::Digest), ..memory }))
}

fn memory(row: &Value, kind: &str, text: String) -> Result<Option<ForeignMemory>, String> {
    let id = words(row, "id").ok_or("it has no id")?;
    let session = words(row, "memory_session_id");
    let mut metadata = copied(row, &["project", "merged_into_project", "agent_type", "prompt_number"]);
    for name in ["files_read", "files_modified", "files_edited"] {
        let files = row.get(name).map(list).unwrap_or_default();
        if !files.is_empty() {
            metadata.insert(name.to_owned(), json!(files));
        }
    }
    metadata.extend(words(row, "type").map(|kind| ("category".to_owned(), json!(kind))));
    // Rows are numbered anew in each database, so the session is a part of the id.
    let id = format!("{kind} {id} of {}", session.as_deref().unwrap_or("no session"));
    Ok((!text.is_empty()).then(|| ForeignMemory {
        id,
        text,
        created: row
            .get("created_at_epoch")
            .and_then(moment)
            .or_else(|| row.get("created_at").and_then(moment)),
        conversation: session,
        metadata,
        ..ForeignMemory::default()
    }))
}

/// Returns the memory type of an observation's type. What a discovery or a change is, its text says.
fn type_of(kind: &str) -> Option<MemoryType> {
    match kind {
        "decision" => Some(MemoryType::Decision),
        "bugfix" => Some(MemoryType::Gotcha),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn observations_and_summaries_are_read() {
        let row = json!({"id": 7, "memory_session_id": "s1", "project": "shop", "type": "decision", "title": "Port 9090",
            "subtitle": "moved", "facts": "[\"The API listens on 9090\", \"8080 was taken\"]", "narrative": null,
            "concepts": "[\"how-it-works\"]", "files_read": "[]", "files_modified": "[\"api.go\"]",
            "created_at_epoch": 1_767_322_800_000_i64});
        let read = read_observation(&row).unwrap().unwrap();
        assert_eq!(read.text, "Port 9090\n\nmoved\n\n- The API listens on 9090\n- 8080 was taken");
        assert_eq!((read.id.as_str(), read.memory_type), ("observation 7 of s1", Some(MemoryType::Decision)));
        assert_eq!(read.tags, ["how-it-works", "decision"]);
        assert_eq!(read.created.unwrap().to_string(), "2026-01-02T03:00:00Z");
        assert_eq!(read.metadata["files_modified"], json!(["api.go"]));
        let row = json!({"id": 1, "memory_session_id": "s1", "request": "Move the port", "learned": "8080 was taken", "notes": ""});
        let read = read_summary(&row).unwrap().unwrap();
        assert_eq!(read.text, "Request: Move the port\n\nLearned: 8080 was taken");
        assert_eq!(read.memory_type, Some(MemoryType::Digest));
        assert_eq!(read_summary(&json!({"id": 2})), Ok(None));
    }
}
