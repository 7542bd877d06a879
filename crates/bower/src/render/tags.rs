//! Renders tags for people: counts, renamings, and what a tag index did.

use bower_core::request::{RenamedTags, TagAlias, TagIndexRead, TagIndexWritten, TagList};
use std::fmt::Write as _;
use std::path::Path;

use super::{Look, columns, count, line, memories, style, thousands, wrapped};

/// Most paths that are listed one by one.
const FEW: usize = 20;

/// Renders `bower tags`: each tag with its items, nested ones indented below their parents.
pub fn list(list: &TagList, look: &Look) -> String {
    if list.tags.is_empty() {
        return look.paint(style::DIM, "no tags") + "\n";
    }
    let mut above: Vec<&str> = Vec::new();
    let mut rows = Vec::with_capacity(list.tags.len());
    for tag in &list.tags {
        above.retain(|parent| tag.tag.strip_prefix(parent).is_some_and(|rest| rest.starts_with('/')));
        let name = format!("{}{}", "  ".repeat(above.len()), line(&tag.tag));
        let parts = [
            Some(memories(tag.memories)).filter(|_| tag.memories > 0),
            Some(count(tag.documents, "document")).filter(|_| tag.documents > 0),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        rows.push((name, thousands(tag.items), parts.join(", ")));
        above.push(&tag.tag);
    }
    let widest = rows.iter().map(|(name, ..)| columns(name)).max().unwrap_or_default();
    let digits = rows.iter().map(|(_, items, _)| items.len()).max().unwrap_or_default();
    let mut out = String::new();
    for (name, items, parts) in rows {
        let space = " ".repeat(widest - columns(&name));
        let name = look.paint(style::NAME, &name);
        let _ = writeln!(out, "{name}{space}  {items:>digits$}  {}", look.paint(style::DIM, &parts));
    }
    let shown = list.tags.len();
    let foot = if shown < list.total {
        format!("{} of {}", thousands(shown as u64), count(list.total as u64, "tag"))
    } else {
        count(list.total as u64, "tag")
    };
    out += &(look.paint(style::DIM, &foot) + "\n");
    for alias in &list.renamed {
        out += &(look.paint(style::DIM, &format!("renamed: {}", arrow(alias))) + "\n");
    }
    out
}

fn arrow(alias: &TagAlias) -> String {
    format!("{} -> {}", line(&alias.from), line(&alias.to))
}

/// Renders `bower tags rename` and `bower tags merge`.
pub fn renamed(renamed: &RenamedTags, look: &Look) -> String {
    let would = if renamed.dry_run { "would be " } else { "" };
    let mut out = String::new();
    for alias in &renamed.renamed {
        let _ = writeln!(out, "{}", look.paint(style::NAME, &arrow(alias)));
    }
    let _ = writeln!(
        out,
        "{would}changed: {}, {} of {}",
        memories(renamed.memories),
        count(renamed.chunks, "chunk"),
        count(renamed.documents, "document")
    );
    out + &undo(renamed.event, look)
}

/// Renders `bower tags export`.
pub fn written(written: &TagIndexWritten, folder: &Path, look: &Look) -> String {
    let folder = line(&folder.display().to_string());
    let mut out = format!(
        "{} across {} in {} below {folder}\n",
        count(written.tags as u64, "tag"),
        count(written.documents as u64, "document"),
        count(written.files as u64, "file")
    );
    let foot = format!("{} written, {} removed", written.written, written.removed);
    out += &(look.paint(style::DIM, &foot) + "\n");
    out
}

/// Renders `bower tags import`.
pub fn read(read: &TagIndexRead, folder: &Path, look: &Look) -> String {
    let would = if read.dry_run { "would get" } else { "got" };
    let mut out = format!(
        "{} read below {}: {} {would} {}, {} had theirs\n",
        count(read.files as u64, "file"),
        line(&folder.display().to_string()),
        count(read.changed, "document"),
        count(read.added, "tag"),
        thousands(read.unchanged)
    );
    if read.kept > 0 {
        let foot = format!("{} that the index lacks: kept", count(read.kept, "tag"));
        out += &(look.paint(style::DIM, &foot) + "\n");
    }
    let most = if look.verbose { usize::MAX } else { FEW };
    for path in read.missing.iter().take(most) {
        out += &wrapped("! ", &format!("no document {}", line(path)), look);
    }
    if let Some(more) = read.missing.len().checked_sub(most).filter(|&more| more > 0) {
        let _ = writeln!(out, "  and {} more (--verbose lists them)", thousands(more as u64));
    }
    out + &undo(read.event, look)
}

fn undo(event: u64, look: &Look) -> String {
    if event == 0 {
        return String::new();
    }
    look.paint(style::DIM, &format!("bower undo {event} takes it back")) + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use bower_core::request::TagCount;

    #[test]
    fn nested_tags_are_indented_below_those_in_the_list() {
        let tag =
            |tag: &str, items, memories, documents| TagCount { tag: tag.into(), items, memories, documents };
        let tags = vec![
            tag("infra", 3, 1, 2),
            tag("infra/db", 1, 1, 0),
            tag("infra/db/a", 1, 0, 1),
            tag("infra-x", 1_200, 0, 40),
            tag("z/y", 1, 1, 0),
        ];
        let renamed = vec![TagAlias { from: "ops".into(), to: "infra".into() }];
        let shown = list(&TagList { tags, total: 5, renamed }, &Look::now());
        assert_eq!(
            shown,
            "\
infra               3  1 memory, 2 documents
  infra/db          1  1 memory
    infra/db/a      1  1 document
infra-x         1,200  40 documents
z/y                 1  1 memory
5 tags
renamed: ops -> infra
"
        );
        assert_eq!(
            list(&TagList { tags: Vec::new(), total: 0, renamed: Vec::new() }, &Look::now()),
            "no tags\n"
        );
    }

    #[test]
    fn a_renaming_and_an_import_say_what_changed() {
        let done = RenamedTags {
            event: 7,
            renamed: vec![TagAlias { from: "ops".into(), to: "infra".into() }],
            memories: 1,
            chunks: 3,
            documents: 2,
            dry_run: false,
        };
        let dry = RenamedTags { event: 0, dry_run: true, ..done.clone() };
        let taken = TagIndexRead {
            event: 8,
            files: 2,
            changed: 1,
            added: 2,
            unchanged: 4,
            kept: 1,
            missing: vec!["/n/gone.md".into()],
            dry_run: false,
        };
        let made = TagIndexWritten { tags: 2, documents: 1, files: 1, written: 1, removed: 0, bytes: 9 };
        let folder = Path::new("tags");
        let look = Look::now();
        let told = [
            renamed(&done, &look),
            renamed(&dry, &look),
            read(&taken, folder, &look),
            written(&made, folder, &look),
        ];
        let expected = "\
ops -> infra
changed: 1 memory, 3 chunks of 2 documents
bower undo 7 takes it back
ops -> infra
would be changed: 1 memory, 3 chunks of 2 documents
2 files read below tags: 1 document got 2 tags, 4 had theirs
1 tag that the index lacks: kept
! no document /n/gone.md
bower undo 8 takes it back
2 tags across 1 document in 1 file below tags
1 written, 0 removed
";
        assert_eq!(told.concat(), expected);
    }
}
