//! Reads Claude Code's own memory folder: a file for each memory, and the index `MEMORY.md`.
//! Each project has its folder, `~/.claude/projects/PROJECT/memory`. `CLAUDE.md` is written by people and stays a document.

use serde_json::{Map, Value, json};

use super::form::{ForeignMemory, ForeignPage, Pages, about, copied, plain, wiki_links};
use crate::item::MemoryType;

/// The index of the folder.
const INDEX: &str = "MEMORY.md";

/// Whether the folder has an index beside files most of which name themselves and a type. An index alone may be anybody's file.
pub(super) fn is(pages: &Pages) -> bool {
    if pages.get(INDEX).is_none_or(|index| index.page().is_ok_and(|page| !page.fields.is_empty())) {
        return false;
    }
    let others = pages.all().iter().any(|page| page.name() != INDEX);
    others
        && pages
            .mostly(|page| page.name() != INDEX, |page| page.field("name").is_some() && kind(page).is_some())
}

/// Returns the type of a memory: below `metadata` today, at the top in earlier versions.
fn kind(page: &ForeignPage) -> Option<&str> {
    page.field("metadata").and_then(|fields| fields.get("type")).or_else(|| page.field("type"))?.as_str()
}

/// Reads a memory, or the statements of the index.
pub(super) fn read(page: &ForeignPage, pages: &Pages) -> Result<Vec<ForeignMemory>, String> {
    if page.name() == INDEX {
        return index(page, pages);
    }
    let text = page.page()?.body.trim();
    let description = page.field("description").and_then(plain);
    let text = match &description {
        Some(description) if text.is_empty() => description.clone(),
        Some(_) | None => text.to_owned(),
    };
    let mut metadata = Map::new();
    if let Some(fields) = page.field("metadata") {
        // `type` is in the memory's own type, and `node_type` is the same for all.
        metadata.extend(copied(fields, &["originSessionId", "modified"]));
    }
    metadata.extend(description.map(|description| ("description".to_owned(), json!(description))));
    metadata.extend(kind(page).map(|kind| ("category".to_owned(), json!(kind))));
    metadata.insert("file".to_owned(), json!(page.path));
    let conversation = metadata.get("originSessionId").and_then(plain);
    let name = page.field("name").and_then(plain).unwrap_or_else(|| page.stem().to_owned());
    let related = wiki_links(&text);
    Ok(vec![ForeignMemory {
        id: name,
        memory_type: kind(page).and_then(type_of),
        created: page.modified,
        conversation,
        metadata,
        related,
        text,
        ..ForeignMemory::default()
    }])
}

/// Returns the memory type of one of the program's four types. What a `user` or `reference` memory is, its text says.
fn type_of(kind: &str) -> Option<MemoryType> {
    match kind {
        "feedback" => Some(MemoryType::Convention),
        "project" => Some(MemoryType::Context),
        _ => None,
    }
}

/// Returns the statements of the index. Its lines that link to files of the folder only repeat what the files say.
fn index(page: &ForeignPage, pages: &Pages) -> Result<Vec<ForeignMemory>, String> {
    let read = page.page()?;
    let (mut heading, mut found) = (String::new(), Vec::new());
    for line in read.body.lines() {
        if line.starts_with('#') {
            let title = line.trim_start_matches('#').trim();
            // The title of the whole file is no subject.
            heading = if line.starts_with("# ") { String::new() } else { title.to_owned() };
            continue;
        }
        let Some(statement) = line.trim_start().strip_prefix("- ").map(str::trim) else { continue };
        let link = statement.split_once("](").and_then(|(_, rest)| rest.split_once(')')).map(|(to, _)| to);
        if statement.is_empty() || link.is_some_and(|to| pages.get(to).is_some()) {
            continue;
        }
        let text = if heading.is_empty() { statement.to_owned() } else { about(&heading, statement) };
        found.push(ForeignMemory {
            id: format!("{INDEX}: {statement}"),
            created: page.modified,
            metadata: Map::from_iter([("file".to_owned(), Value::from(page.path.as_str()))]),
            related: wiki_links(&text),
            text,
            ..ForeignMemory::default()
        });
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(path: &str, text: &str) -> ForeignPage {
        ForeignPage::new(path.to_owned(), text, Some("2026-05-01T10:00:00Z".parse().unwrap()))
    }

    fn folder() -> Pages {
        Pages::new(vec![
            page(
                "MEMORY.md",
                "# Memory\n- [Tabs](tabs.md) — indent\n\n## Ports\n- The API listens on 8080.\n",
            ),
            page(
                "tabs.md",
                "---\nname: tabs\ndescription: Indent with tabs\nmetadata:\n  node_type: memory\n  type: feedback\n  \
                 originSessionId: s1\n---\n\nIndent with tabs.\n\n**Why:** the linter. See [[api-port]].\n",
            ),
            page("api-port.md", "---\nname: api-port\ndescription: The port\ntype: reference\n---\n"),
        ])
    }

    #[test]
    fn files_and_statements_of_the_index_are_memories() {
        let pages = folder();
        assert!(is(&pages));
        let read: Vec<ForeignMemory> =
            pages.all().iter().flat_map(|page| read(page, &pages).unwrap()).collect();
        let texts: Vec<(&str, &str)> = read.iter().map(|one| (one.id.as_str(), one.text.as_str())).collect();
        let expected = [
            ("MEMORY.md: The API listens on 8080.", "Ports: The API listens on 8080."),
            ("api-port", "The port"),
            ("tabs", "Indent with tabs.\n\n**Why:** the linter. See [[api-port]]."),
        ];
        assert_eq!(texts, expected);
        assert_eq!(read[2].memory_type, Some(MemoryType::Convention));
        assert_eq!(read[2].conversation.as_deref(), Some("s1"));
        assert_eq!(read[2].related, ["api-port"]);
    }

    #[test]
    fn other_folders_are_not_taken_for_one() {
        assert!(!is(&Pages::new(vec![page("MEMORY.md", "- a\n")])));
        assert!(!is(&Pages::new(vec![page("MEMORY.md", "- a\n"), page("notes.md", "Some notes.\n")])));
        assert!(!is(&Pages::new(vec![page("tabs.md", "---\nname: tabs\ntype: user\n---\nx\n")])));
    }
}
