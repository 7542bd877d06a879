//! Writes the files that agents load when they start: `MEMORY.md`, and one file for each type, within a budget.
//! `MEMORY.md` has the most important memories, one line each. Each export writes all files; the same store gives the same
//! bytes.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use crate::engine::Engine;
use crate::engine::transfer::export::folder::{check_folder, put};
use crate::engine::transfer::export::select::memories;
use crate::error::{Error, Result};
use crate::item::{Admission, MemoryType, RowId, Tier};
use crate::prompt::PromptText;
use crate::rank::budget::estimate_tokens;
use crate::request::Item;
use crate::request::moving::{ExportRequest, Exported};

/// Line that marks a file as ours, and warns people.
const NOTE: &str = "<!-- made by bower export; do not edit: it is written anew, and edits are lost -->";

/// Largest share of the budget that `MEMORY.md` takes: the rest is for the files that it links to.
const INDEX_SHARE: f64 = 0.4;

/// Most characters of a line of `MEMORY.md`: it names a memory, and the linked file has the rest.
const LONGEST_LINE: usize = 160;

/// Smallest budget, in tokens: below it no memory fits.
const LEAST_BUDGET: usize = 64;

pub(crate) fn digest(
    engine: &Engine,
    request: &ExportRequest,
    folder: &Path,
    budget_tokens: usize,
) -> Result<Exported> {
    if budget_tokens < LEAST_BUDGET {
        return Err(Error::invalid("budget", format!("{LEAST_BUDGET} tokens or more")));
    }
    let index = folder.join("MEMORY.md");
    let is_ours = std::fs::read_to_string(&index).is_ok_and(|text| text.contains(NOTE));
    check_folder(folder, is_ours, request.force)?;
    let items = ranked(engine, &memories(engine, &request.select)?)?;
    let pages = pages(&items, budget_tokens);
    let mut report = Exported { left_out: items.len(), ..Exported::default() };
    for memory_type in MemoryType::ALL {
        let name = file_name(*memory_type);
        let path = folder.join(&name);
        if pages.files.contains_key(&name)
            || !std::fs::read_to_string(&path).is_ok_and(|text| text.contains(NOTE))
        {
            continue;
        }
        std::fs::remove_file(&path).map_err(|source| Error::io("delete", &path, source))?;
        report.removed += 1;
    }
    for (name, text) in &pages.files {
        let path = folder.join(name);
        report.files += 1;
        report.bytes += text.len() as u64;
        if std::fs::read(&path).is_ok_and(|there| there == text.as_bytes()) {
            continue;
        }
        put(&path, text.as_bytes())?;
        report.written += 1;
    }
    report.memories = pages.held as u64;
    report.left_out -= pages.held;
    Ok(report)
}

/// Returns active memories: pinned ones first, then by importance. Candidates are left out, and so are memories from outside
/// that no person kept: agents load these files without a question.
fn ranked(engine: &Engine, rows: &[RowId]) -> Result<Vec<Item>> {
    let mut items: Vec<Item> = engine.store.items(rows)?.into_iter().flatten().collect();
    items.retain(|item| {
        let admission = item.provenance.admission(item.kind, item.status);
        !item.damaged && item.status == crate::item::Status::Active && admission != Admission::Held
    });
    items.sort_by(|a, b| {
        let pinned = |item: &Item| item.tier != Tier::Pinned;
        (pinned(a).cmp(&pinned(b)))
            .then(b.importance.total_cmp(&a.importance))
            .then(b.create_time.cmp(&a.create_time))
            .then(a.id.cmp(&b.id))
    });
    Ok(items)
}

struct Pages {
    files: BTreeMap<String, PromptText>,
    /// Number of memories that are in one of them.
    held: usize,
}

fn pages(items: &[Item], budget_tokens: usize) -> Pages {
    let mut index = head("Memory");
    let (mut spent, mut indexed) = (estimate_tokens(&index), estimate_tokens(&index));
    let mut files: BTreeMap<MemoryType, PromptText> = BTreeMap::new();
    let mut held = 0;
    let most_index = (budget_tokens as f64 * INDEX_SHARE) as usize;
    for item in items {
        let memory_type = item.memory_type.unwrap_or(MemoryType::Fact);
        let head = match files.get(&memory_type) {
            Some(_) => PromptText::default(),
            None => head(&title(memory_type)),
        };
        let mut entry = PromptText::own("\n## ");
        entry.push(&PromptText::line(&(anchor(item) + &mark_of(item))));
        entry.push_own("\n\n");
        entry.push(&PromptText::prose(item.content.trim()));
        let cost = estimate_tokens(&head) + estimate_tokens(&entry);
        let line = line_of(item, memory_type);
        let line_cost = estimate_tokens(&line);
        let in_index = indexed + line_cost <= most_index;
        let cost = cost + if in_index { line_cost } else { 0 };
        if spent + cost > budget_tokens {
            // A shorter memory may still fit.
            continue;
        }
        spent += cost;
        held += 1;
        if in_index {
            if !index.contains("\n- ") {
                index.push_own("\n");
            }
            index.push(&line);
            indexed += line_cost;
        }
        let page = files.entry(memory_type).or_insert(head);
        page.push(&entry);
    }
    let mut named: BTreeMap<String, PromptText> =
        files.into_iter().map(|(memory_type, page)| (file_name(memory_type), page)).collect();
    named.insert("MEMORY.md".to_owned(), index);
    Pages { files: named, held }
}

/// Returns the beginning of a file.
fn head(title: &str) -> PromptText {
    let mut head = PromptText::own("# ");
    head.push(&PromptText::line(title));
    head.push_own("\n\n");
    head.push_own(NOTE);
    head.push_own("\n");
    head
}

/// Returns a memory's line in `MEMORY.md`.
fn line_of(item: &Item, memory_type: MemoryType) -> PromptText {
    let mut line = PromptText::own("- ");
    let link = format!("[{memory_type}]({}#{}): ", file_name(memory_type), anchor(item));
    line.push(&PromptText::lines(&link));
    line.push(&PromptText::line(&(short(item) + &mark_of(item))));
    line.push_own("\n");
    line
}

/// Returns the mark that shows a reader whose words a memory is.
fn mark_of(item: &Item) -> String {
    let mark = item.provenance.mark(item.kind, item.status);
    mark.map_or_else(String::new, |mark| format!(" [{mark}]"))
}

fn anchor(item: &Item) -> String {
    item.id.chars().take(8).collect()
}

fn short(item: &Item) -> String {
    let mut line = String::new();
    if item.tier == Tier::Pinned {
        line.push_str("(pinned) ");
    }
    let said = if item.summary.is_empty() { &item.content } else { &item.summary };
    let words: Vec<&str> = said.split_whitespace().collect();
    let said = words.join(" ");
    if said.chars().count() <= LONGEST_LINE {
        line.push_str(&said);
    } else {
        let _ = write!(line, "{}…", said.chars().take(LONGEST_LINE - 1).collect::<String>());
    }
    line
}

fn title(memory_type: MemoryType) -> String {
    let word = memory_type.word();
    word[..1].to_uppercase() + &word[1..]
}

fn file_name(memory_type: MemoryType) -> String {
    format!("{}.md", memory_type.word())
}
