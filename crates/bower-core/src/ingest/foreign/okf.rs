//! Reads a bundle of the Open Knowledge Format, version 0.1 and 0.2: each concept is a memory.
//! The specification is `okf/SPEC.md` in `GoogleCloudPlatform/knowledge-catalog`; the sections below are its sections.

use serde_json::{Map, Value, json};

use super::form::{ForeignMemory, ForeignPage, Pages, Stale, copied, list, paragraphs, plain};
use crate::ingest::fields::moment;
use crate::item::MemoryType;

/// Whether the root declares the format's version (section 12), or most concepts have a type, and a title or description that
/// our own files lack (section 4.1).
pub(super) fn is(pages: &Pages) -> bool {
    let declares = pages.get("index.md").is_some_and(|page| page.field("okf_version").is_some());
    let is_type = |page: &ForeignPage| page.field("type").and_then(plain).is_some();
    let has_more = |page: &ForeignPage| page.field("title").is_some() || page.field("description").is_some();
    let is_ours = |page: &ForeignPage| page.field("id").is_some();
    let concepts = |page: &ForeignPage| !is_reserved(page);
    pages.mostly(concepts, |page| is_type(page) && (declares || (has_more(page) && !is_ours(page))))
}

/// Whether a file is an index or a log (section 3.1).
fn is_reserved(page: &ForeignPage) -> bool {
    matches!(page.name(), "index.md" | "log.md")
}

/// Reads a concept.
pub(super) fn read(page: &ForeignPage, pages: &Pages) -> Result<Vec<ForeignMemory>, String> {
    if is_reserved(page) {
        return Ok(Vec::new());
    }
    let read = page.page()?;
    let kind = page.field("type").and_then(plain).ok_or("its front matter has no type, as a concept must")?;
    let stem = page.stem().rsplit('/').next().unwrap_or_default();
    let title = page.field("title").and_then(plain).unwrap_or_else(|| stem.replace(['-', '_'], " "));
    let body = Some(read.body.trim().to_owned()).filter(|body| !body.is_empty());
    let said = [page.field("description").and_then(plain), body];
    if said.iter().all(Option::is_none) {
        return Err("it says nothing: no description and no text".to_owned());
    }
    let fields = Value::Object(read.fields.clone());
    let mut metadata: Map<String, Value> =
        copied(&fields, &["resource", "sources", "generated", "verified", "status", "stale_after"]);
    metadata.insert("title".to_owned(), json!(title));
    metadata.insert("category".to_owned(), json!(kind));
    metadata.insert("file".to_owned(), json!(page.path));
    let written = fields.pointer("/generated/at").or_else(|| fields.get("timestamp")).and_then(moment);
    let is_deprecated = fields.get("status").and_then(plain).is_some_and(|status| status == "deprecated");
    Ok(vec![ForeignMemory {
        id: page.stem().to_owned(),
        text: paragraphs([Some(title)].into_iter().chain(said)),
        memory_type: kind.to_lowercase().parse::<MemoryType>().ok(),
        tags: fields.get("tags").map(list).unwrap_or_default(),
        created: written.or(page.modified),
        expires: fields.get("stale_after").and_then(moment),
        metadata,
        related: links(&read.body, page, pages),
        stale: is_deprecated.then(|| Stale::Archived("it is deprecated in its bundle".to_owned())),
        ..ForeignMemory::default()
    }])
}

/// Returns the concepts that a text links to: from the root of the bundle if the link begins with `/`, else from the file
/// (section 6.1).
fn links(text: &str, page: &ForeignPage, pages: &Pages) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (at, _) in text.match_indices("](") {
        let rest = &text[at + 2..];
        let end = rest.find([')', ' ', '#', '\n']).unwrap_or(rest.len());
        let path = match rest[..end].strip_prefix('/') {
            Some(path) => joined("", path),
            None => joined(page.path.rsplit_once('/').map_or("", |(folder, _)| folder), &rest[..end]),
        };
        let to = path.as_deref().and_then(|path| pages.get(path)).filter(|to| !is_reserved(to));
        if let Some(to) =
            to.map(ForeignPage::stem).filter(|to| *to != page.stem() && found.iter().all(|one| one != to))
        {
            found.push(to.to_owned());
        }
    }
    found
}

/// Joins a folder and a relative path; `None` if it leaves the bundle.
fn joined(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn concepts_are_memories_and_links_are_relations() {
        let page = |path: &str, text: &str| ForeignPage::new(path.to_owned(), text, None);
        let orders = "---\ntype: BigQuery Table\ntitle: Orders\ndescription: One row per order.\ntags: [sales]\n\
                      generated: { by: human:ada, at: 2026-05-28T14:30:00Z }\nstale_after: 2026-09-23\n---\n\nJoined with \
                      [customers](/tables/customers.md) and [itself](./orders.md).\n";
        let old =
            "---\ntype: Metric\ntitle: Old\nstatus: deprecated\n---\nSee [orders](tables/orders.md#x).\n";
        let pages = Pages::new(vec![
            page("index.md", "---\nokf_version: \"0.2\"\n---\n# All\n"),
            page("tables/orders.md", orders),
            page("tables/customers.md", "---\ntype: BigQuery Table\n---\n"),
            page("old.md", old),
        ]);
        assert!(is(&pages));
        let read: Vec<_> = pages.all().iter().map(|page| read(page, &pages)).collect();
        assert_eq!(read[0], Ok(Vec::new()));
        let [old] = &read[1].as_ref().unwrap()[..] else { panic!("one concept") };
        assert_eq!(old.stale, Some(Stale::Archived("it is deprecated in its bundle".to_owned())));
        assert_eq!(old.related, ["tables/orders"]);
        assert!(read[2].is_err());
        let [orders] = &read[3].as_ref().unwrap()[..] else { panic!("one concept") };
        assert!(orders.text.starts_with("Orders\n\nOne row per order.\n\nJoined with"));
        assert_eq!(orders.related, ["tables/customers"]);
        assert_eq!(orders.created.unwrap().to_string(), "2026-05-28T14:30:00Z");
        assert_eq!(orders.expires.unwrap().to_string(), "2026-09-23T00:00:00Z");
        assert_eq!(joined("a/b", "../../../x"), None);
    }

    #[test]
    fn our_own_files_are_no_bundle() {
        let text = "---\nid: \"6e8486fb82e25cc3\"\ntype: fact\nsummary: x\n---\nThe API.\n";
        assert!(!is(&Pages::new(vec![ForeignPage::new("fact/a.md".to_owned(), text, None)])));
        let text = "---\ntype: fact\n---\nThe API.\n";
        assert!(!is(&Pages::new(vec![ForeignPage::new("a.md".to_owned(), text, None)])));
    }
}
