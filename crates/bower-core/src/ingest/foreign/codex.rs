//! Reads Codex' own memory folder, `~/.codex/memories`: statements of its handbook, and notes that users asked for.
//! Its other files are made from the same sessions, or are the work in progress of Codex itself.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::form::{ForeignMemory, ForeignPage, Pages};
use crate::ingest::fields::moment;
use crate::item::MemoryType;

const HANDBOOK: &str = "MEMORY.md";
/// The start of a block of the handbook.
const GROUP: &str = "# Task Group:";
/// The folder of notes that a user asked for.
const NOTES: &str = "extensions/ad_hoc/notes/";
/// The sections of statements that the format names, each with their memory type if it says one.
const SECTIONS: [(&str, Option<MemoryType>); 3] = [
    ("User preferences", Some(MemoryType::Preference)),
    ("Reusable knowledge", None),
    ("Failures and how to do differently", Some(MemoryType::Gotcha)),
];

/// Whether the folder has a handbook of task groups beside its summary, whose first line is its version.
pub(super) fn is(pages: &Pages) -> bool {
    let begins = |path: &str, with: &dyn Fn(&str) -> bool| {
        pages.get(path).and_then(|page| page.page().ok()).is_some_and(|page| with(&page.body))
    };
    begins(HANDBOOK, &|text| text.lines().any(|line| line.starts_with(GROUP)))
        || (begins("memory_summary.md", &|text| text.lines().next().is_some_and(|line| line.trim() == "v1"))
            && pages.get(HANDBOOK).is_some())
}

/// Reads the statements of the handbook, or a note.
pub(super) fn read(page: &ForeignPage, _: &Pages) -> Result<Vec<ForeignMemory>, String> {
    let text = page.page()?.body.trim();
    if page.path == HANDBOOK {
        return Ok(handbook(text, page));
    }
    if !page.path.starts_with(NOTES) || text.is_empty() {
        return Ok(Vec::new());
    }
    Ok(vec![ForeignMemory {
        id: page.path.clone(),
        text: text.to_owned(),
        created: page.modified,
        metadata: Map::from_iter([("file".to_owned(), json!(page.path))]),
        ..ForeignMemory::default()
    }])
}

/// A block of the handbook, as far as it was read.
#[derive(Default)]
struct Group {
    title: String,
    applies_to: Option<String>,
    /// When its newest session ended.
    updated: Option<Timestamp>,
    /// Where its statements begin in the list of all.
    first: usize,
}

fn handbook(text: &str, page: &ForeignPage) -> Vec<ForeignMemory> {
    let (mut group, mut section, mut found) = (Group::default(), "", Vec::<ForeignMemory>::new());
    for line in text.lines().chain([GROUP]) {
        if let Some(title) = line.strip_prefix(GROUP) {
            // The sessions of a block follow on its first line, so its statements get their time at its end.
            for memory in &mut found[group.first..] {
                memory.created = group.updated.or(page.modified);
            }
            group = Group { title: title.trim().to_owned(), first: found.len(), ..Group::default() };
            section = "";
        } else if let Some(title) = line.strip_prefix("## ").or_else(|| line.strip_prefix("### ")) {
            section = title.trim();
        } else if let Some(applies_to) = line.strip_prefix("applies_to:") {
            group.applies_to = Some(applies_to.trim().to_owned());
        } else if let Some(item) = line.strip_prefix("- ").map(str::trim).filter(|item| !item.is_empty()) {
            if section == "rollout_summary_files" {
                let updated = item.split("updated_at=").nth(1).and_then(|rest| rest.split([',', ')']).next());
                let updated = updated.and_then(|time| moment(&Value::from(time.trim())));
                group.updated = group.updated.max(updated);
            } else if let Some((_, memory_type)) = section_of(section) {
                found.push(statement(item, *memory_type, &group, page));
            }
        } else if line.starts_with("  ")
            && let Some(last) = found[group.first..].last_mut().filter(|_| section_of(section).is_some())
        {
            // The rest of a statement that was wrapped.
            last.text = format!("{}\n{}", last.text, line.trim_end());
        }
    }
    found
}

/// Returns the section of statements with a title.
fn section_of(title: &str) -> Option<&'static (&'static str, Option<MemoryType>)> {
    SECTIONS.iter().find(|(name, _)| *name == title)
}

fn statement(
    item: &str,
    memory_type: Option<MemoryType>,
    group: &Group,
    page: &ForeignPage,
) -> ForeignMemory {
    let (mut text, mut tasks) = (item, Vec::new());
    // The tasks of the block that a statement is from: `[Task 1][Task 2]`.
    while let Some((before, task)) = text.strip_suffix(']').and_then(|rest| rest.rsplit_once("[Task ")) {
        tasks.insert(0, format!("Task {task}"));
        text = before.trim_end();
    }
    let mut metadata = Map::from_iter([
        ("file".to_owned(), json!(page.path)),
        ("task_group".to_owned(), json!(group.title)),
    ]);
    metadata.extend(group.applies_to.as_ref().map(|to| ("applies_to".to_owned(), json!(to))));
    if !tasks.is_empty() {
        metadata.insert("tasks".to_owned(), json!(tasks));
    }
    ForeignMemory {
        id: format!("{}: {text}", group.title),
        text: text.to_owned(),
        memory_type,
        metadata,
        ..ForeignMemory::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_of_the_handbook_and_notes_are_memories() {
        let text = "# Task Group: api / releases\n\nscope: how releases are made\napplies_to: cwd=/srv/api; reuse_rule=safe\n\n\
                    ## Task 1: publish, done\n\n### rollout_summary_files\n\n- rollout_summaries/a.md (cwd=/srv/api, \
                    updated_at=2026-03-02T10:00:00Z, thread_id=t1)\n\n### keywords\n\n- tag, publish\n\n## User preferences\n\n\
                    - when releasing, the user asked for a signed tag [Task 1][Task 2]\n\n## Reusable knowledge\n\n\
                    - The changelog is checked\n  before the tag. [Task 1]\n\n## Failures and how to do differently\n\n- a push fails -> rebase\n";
        let page = |path: &str, text: &str| ForeignPage::new(path.to_owned(), text, None);
        let pages = Pages::new(vec![
            page("MEMORY.md", text),
            page("memory_summary.md", "v1\n"),
            page("raw_memories.md", "# Raw"),
            page("extensions/ad_hoc/notes/2026-note.md", "Remember the milk."),
        ]);
        assert!(is(&pages));
        let read: Vec<ForeignMemory> =
            pages.all().iter().flat_map(|page| read(page, &pages).unwrap()).collect();
        let said: Vec<_> = read.iter().map(|one| (one.text.as_str(), one.memory_type)).collect();
        let expected = [
            ("when releasing, the user asked for a signed tag", Some(MemoryType::Preference)),
            ("The changelog is checked\n  before the tag. [Task 1]", None),
            ("a push fails -> rebase", Some(MemoryType::Gotcha)),
            ("Remember the milk.", None),
        ];
        assert_eq!(said, expected);
        assert_eq!(read[0].created.unwrap().to_string(), "2026-03-02T10:00:00Z");
        assert_eq!(read[0].metadata["tasks"], json!(["Task 1", "Task 2"]));
        assert_eq!(read[0].metadata["applies_to"], "cwd=/srv/api; reuse_rule=safe");
        assert!(!is(&Pages::new(vec![page("MEMORY.md", "- a\n")])));
    }
}
