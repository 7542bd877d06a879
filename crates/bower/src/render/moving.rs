//! Renders export, import and migration for people: the items that were moved, and those that were not.

use bower_core::request::moving::{
    Exported, FileChange, FindingKind, ImportFinding, Imported, ImportedSource, Migrated, Problem,
};
use std::fmt::Write as _;

use super::store::degraded;
use super::{Look, bytes, count, duration, line, memories, style, thousands, wrapped};

/// Number of problems and changed files that are listed without `--verbose`.
const LISTED: usize = 20;

/// Renders `bower export`.
pub fn exported(exported: &Exported, to: &str, look: &Look) -> String {
    let held = [
        (exported.memories, "memory", "memories"),
        (exported.documents, "document", "documents"),
        (exported.chunks, "chunk", "chunks"),
        (exported.relations, "relation", "relations"),
        (exported.reviews, "review", "reviews"),
        (exported.events, "event", "events"),
        (exported.aliases, "alias", "aliases"),
    ];
    let held: Vec<String> = held
        .iter()
        .enumerate()
        .filter(|(nth, (number, ..))| *nth == 0 || *number > 0)
        .map(|(_, (number, one, many))| {
            format!("{} {}", thousands(*number), if *number == 1 { one } else { many })
        })
        .collect();
    let mut out =
        format!("{} to {} ({})", look.paint(style::TITLE, &held.join(", ")), line(to), bytes(exported.bytes));
    if exported.files > 0 {
        let _ = write!(out, ": {}", count(exported.files as u64, "file"));
        let _ = write!(out, ", {} written", thousands(exported.written as u64));
        if exported.removed > 0 {
            let _ = write!(out, ", {} removed", thousands(exported.removed as u64));
        }
    }
    if exported.wordings > 0 {
        let _ = write!(
            out,
            "; without {}, which JSON lines keep",
            count(exported.wordings as u64, "other wording")
        );
    }
    if exported.left_out > 0 {
        let _ = write!(out, "; {} left out, the budget is full", thousands(exported.left_out as u64));
    }
    out + "\n"
}

/// Renders `bower import`.
pub fn imported(imported: &Imported, look: &Look) -> String {
    let would = if imported.dry_run { "would be " } else { "" };
    let mut parts = vec![format!("{} {would}added", thousands(imported.added))];
    let mut some = |number: u64, what: &str| {
        if number > 0 {
            parts.push(format!("{} {what}", thousands(number)));
        }
    };
    some(imported.updated, &format!("{would}changed"));
    some(imported.unchanged, "unchanged");
    some(imported.newer, "newer here");
    some(imported.refused, "refused by the gate");
    some(imported.aliases, if imported.aliases == 1 { "alias" } else { "aliases" });
    some(imported.redacted, &format!("{would}without their secrets"));
    some(imported.conflicting, "in conflict");
    some(imported.failed, "not understood");
    let mut out =
        format!("{} in {}", look.paint(style::TITLE, &parts.join(", ")), duration(imported.took_ms));
    let mut from = count(imported.files as u64, "file");
    if imported.conversations > 0 {
        from = format!(
            "{} of {} in {from}",
            count(imported.turns, "turn"),
            count(imported.conversations, "conversation")
        );
    }
    let _ = writeln!(out, " {}", look.paint(style::DIM, &format!("({from})")));
    for source in &imported.sources {
        out += &moved_in(source, imported.dry_run, look);
    }
    for change in imported.changes.iter().take(most(look)) {
        out += &changed(change, look);
    }
    more(&mut out, imported.changes.len() as u64, look);
    problems(
        &mut out,
        "in conflict, and left as it is here",
        &imported.conflicts,
        imported.conflicting,
        look,
    );
    problems(&mut out, "not understood", &imported.errors, imported.failed, look);
    out + &degraded(&imported.degraded, "what is new cannot be found by", look)
}

/// Renders what was found in the memories of another program.
fn moved_in(source: &ImportedSource, is_dry: bool, look: &Look) -> String {
    let would = if is_dry { "would be " } else { "" };
    let mut head = format!("{} of {} {would}kept", thousands(source.kept), memories(source.memories));
    if source.unchanged > 0 {
        let _ = write!(head, ", {} here already", thousands(source.unchanged));
    }
    if source.archived > 0 {
        let _ = write!(head, " ({} stay archived; see bower undo)", thousands(source.archived));
    }
    if source.relations > 0 {
        let _ = write!(head, ", {} between them", count(source.relations, "relation"));
    }
    let mut out = format!("{}: {head}\n", look.paint(style::NAME, &source.title));
    for kind in FindingKind::ALL {
        let all = source.count(kind);
        if all == 0 {
            continue;
        }
        let (what, fate) = match kind {
            FindingKind::Junk => ("junk", "left out"),
            FindingKind::Double => ("doubles", "not kept twice"),
            FindingKind::Contradiction => ("contradictions", "both sides stay; bower review decides"),
            FindingKind::Stale => ("stale", "not among the answers"),
        };
        let head = format!("  {what}: {} ({fate})", thousands(all));
        let _ = writeln!(out, "{}", look.paint(style::WEAK, &head));
        let mut listed = 0;
        for finding in source.findings.iter().filter(|finding| finding.what == kind).take(most(look)) {
            listed += 1;
            out += &wrapped("    ", &found(finding), look);
        }
        if all > listed {
            let _ = writeln!(out, "    and {} more", thousands(all - listed));
        }
    }
    if source.kept > 0 && !is_dry {
        let note = format!(
            "briefings leave them out until you keep them: bower review keep --source {}, or ID by ID",
            source.source
        );
        out += &wrapped("? ", &note, look);
    }
    out
}

fn found(finding: &ImportFinding) -> String {
    let other = finding.other.as_ref().map_or_else(String::new, |other| format!(" ({other})"));
    format!("\"{}\": {}{other}", line(&finding.text), line(&finding.reason))
}

fn changed(change: &FileChange, look: &Look) -> String {
    let id = change.id.as_ref().map_or_else(String::new, |id| look.paint(style::NAME, id) + "  ");
    let detail = if change.detail.is_empty() { String::new() } else { format!(": {}", line(&change.detail)) };
    format!("  {id}{} {}{detail}\n", change.what, line(&change.file))
}

/// Renders `bower migrate`.
pub fn migrated(migrated: &Migrated, look: &Look) -> String {
    let would = if migrated.dry_run { " would be" } else { "" };
    let head = format!("{}{would} migrated", memories(migrated.migrated));
    let mut out = look.paint(style::TITLE, &head);
    if migrated.unchanged > 0 {
        let _ = write!(out, ", {} here already", thousands(migrated.unchanged));
    }
    if migrated.relations > 0 {
        let _ = write!(out, ", {} between them", count(migrated.relations, "relation"));
    }
    let _ = writeln!(
        out,
        "{}",
        look.paint(style::DIM, &format!(" ({} passed over)", count(migrated.skipped, "made file")))
    );
    if migrated.redacted > 0 {
        let note = format!("{} without the secrets that they held", memories(migrated.redacted));
        out += &wrapped("! ", &note, look);
    }
    if migrated.migrated > 0 && !migrated.dry_run {
        let note =
            "briefings leave them out until you keep them: bower review keep --source brv, or ID by ID";
        out += &wrapped("? ", note, look);
    }
    problems(&mut out, "not understood", &migrated.errors, migrated.errors.len() as u64, look);
    out
}

fn most(look: &Look) -> usize {
    if look.verbose { usize::MAX } else { LISTED }
}

fn more(out: &mut String, all: u64, look: &Look) {
    if let Some(more) = all.checked_sub(most(look) as u64).filter(|&more| more > 0) {
        let _ = writeln!(out, "  and {} more (--verbose lists them)", thousands(more));
    }
}

fn problems(out: &mut String, what: &str, problems: &[Problem], all: u64, look: &Look) {
    if problems.is_empty() {
        return;
    }
    let _ = writeln!(out, "{}", look.paint(style::WEAK, &format!("{what}:")));
    for problem in problems.iter().take(most(look)) {
        *out += &wrapped("  ", &format!("{}: {}", line(&problem.place), line(&problem.reason)), look);
    }
    let listed = problems.len().min(most(look)) as u64;
    if all > listed {
        let _ = writeln!(out, "  and {} more", thousands(all - listed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::sample;

    /// Returns the report of a dry run over another program's memories.
    fn moved_in_dry() -> Imported {
        let mut source = ImportedSource {
            source: "mem0".into(),
            title: "mem0".into(),
            memories: 12,
            kept: 6,
            unchanged: 2,
            archived: 1,
            relations: 1,
            ..ImportedSource::default()
        };
        let mut find = |what, text: &str, reason: &str, other: Option<&str>| {
            let (id, other) = ("m1".to_owned(), other.map(str::to_owned));
            source.find(ImportFinding { what, id, text: text.into(), reason: reason.into(), other });
        };
        find(FindingKind::Junk, "ok thanks", "it reads like chatter, output or a step of the work", None);
        find(
            FindingKind::Double,
            "The staging server is in Rome.",
            "the same text",
            Some("0123456789abcdef"),
        );
        find(
            FindingKind::Contradiction,
            "The shop is open on Sundays.",
            "contradicts it",
            Some("1123456789abcdef"),
        );
        find(
            FindingKind::Stale,
            "The API listens on port 8080.",
            "replaced by a later one: 8080 -> 9090",
            None,
        );
        Imported {
            files: 1,
            added: 6,
            took_ms: 62.0,
            unchanged: 2,
            refused: 1,
            dry_run: true,
            sources: vec![source],
            ..Imported::default()
        }
    }

    #[test]
    fn what_left_and_what_came_in() {
        let look = sample::look(80);
        let left = Exported {
            memories: 1,
            documents: 2,
            chunks: 1_200,
            events: 4,
            bytes: 40_000,
            ..Exported::default()
        };
        insta::assert_snapshot!("exported", exported(&left, "all.jsonl", &look));
        let folder =
            Exported { memories: 12, files: 12, written: 3, removed: 1, bytes: 9_000, ..Exported::default() };
        insta::assert_snapshot!("exported_folder", exported(&folder, "notes", &look));
        let mut came = Imported {
            files: 3,
            added: 2,
            updated: 1,
            unchanged: 40,
            conversations: 1,
            turns: 42,
            took_ms: 12.0,
            changes: vec![FileChange {
                file: "fact/api-port.md".into(),
                what: "superseded".into(),
                id: Some("0123456789abcdef".into()),
                detail: "port 8080 -> 9090".into(),
            }],
            ..Imported::default()
        };
        came.conflict("notes/a.md", "0123456789abcdef was changed here since the export; export again");
        came.error("chat.jsonl:7", "expected value at line 1 column 3; the line was left out");
        insta::assert_snapshot!("imported", imported(&came, &look));
        insta::assert_snapshot!("imported_memories", imported(&moved_in_dry(), &look));
        let moved = Migrated { migrated: 3, unchanged: 1, skipped: 2, relations: 1, ..Migrated::default() };
        insta::assert_snapshot!("migrated", migrated(&moved, &look));
    }
}
