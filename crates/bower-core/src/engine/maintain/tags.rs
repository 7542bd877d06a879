//! Lists and renames tags. A renaming holds for what is written later too, until it is undone.

use jiff::Timestamp;

use crate::engine::curate::write::normal_tag;
use crate::engine::{ACTOR, Engine};
use crate::error::{Error, Missing, Result};
use crate::item::Visibility;
use crate::request::{RenameTags, RenamedTags, Selection, TagList};
use crate::store::{RenameOutcome, Stamp, TagRenaming};

impl Engine {
    /// Returns the tags of visible items of a selection, sorted by name; with `under` only that tag and those nested below
    /// it.
    pub fn tags(
        &self,
        visibility: &Visibility,
        select: &Selection,
        under: Option<&str>,
        limit: usize,
        offset: usize,
    ) -> Result<TagList> {
        let under = under.map(|tag| normal_tag(tag.trim_end_matches('/'))).transpose()?;
        let mut tags = self.store.tag_list(&select.within(visibility)?, under.as_deref())?;
        let total = tags.len();
        tags.drain(..offset.min(total));
        tags.truncate(limit);
        // Names of renamed tags may be those of items that the caller does not see.
        let renamed = if visibility.is_everything() { self.store.tag_aliases()? } else { Vec::new() };
        Ok(TagList { tags, total, renamed })
    }

    /// Renames tags, with those nested below them, on all memories and chunks, in one transaction. What is written later
    /// under an old name gets the new one, so that indexing a file again does not bring the old name back.
    pub fn rename_tags(
        &self,
        visibility: &Visibility,
        request: &RenameTags,
        now: Timestamp,
    ) -> Result<RenamedTags> {
        visibility.check_everything("renaming tags")?;
        let to = whole_tag(&request.to)?;
        let mut from: Vec<String> = request.from.iter().map(|tag| old_tag(tag)).collect::<Result<_>>()?;
        from.sort_unstable();
        from.dedup();
        if from.is_empty() {
            return Err(Error::invalid("tags", "name at least one to rename"));
        }
        if from.contains(&to) {
            let why = if request.merges {
                "it is the target and among the tags to merge; leave it out of these"
            } else {
                "the new name is the same as the old one"
            };
            return Err(Error::invalid(format!("tag {to}"), why));
        }
        let renaming = TagRenaming { from: &from, to: &to, merges: request.merges, dry_run: request.dry_run };
        match self.store.rename_tags(renaming, Stamp { now, actor: ACTOR })? {
            RenameOutcome::Renamed(renamed) => Ok(renamed),
            RenameOutcome::Unknown { tag, now } => {
                let id = match now {
                    Some(now) => format!("{tag}: it was renamed to {now}"),
                    None => shortened(&tag),
                };
                Err(Error::NotFound { what: Missing::Named("item with the tag"), id })
            }
            RenameOutcome::Taken { items } => {
                let old = shortened(&from[0]);
                let why = format!(
                    "{items} {} it already; bower tags merge {old} --into {to} makes one of the two",
                    if items == 1 { "item has" } else { "items have" }
                );
                Err(Error::invalid(format!("tag {to}"), why))
            }
            RenameOutcome::Circle { tag, event: Some(event) } => {
                let why = format!(
                    "an earlier renaming leads back to {tag}, so that it would have no end; bower undo {event} reverses that \
                     one"
                );
                Err(Error::invalid(format!("tag {to}"), why))
            }
            RenameOutcome::Circle { tag, event: None } => {
                let why = format!(
                    "it is nested below {tag}, so that the renaming would have no end; use another name"
                );
                Err(Error::invalid(format!("tag {to}"), why))
            }
        }
    }
}

/// Returns a new name in normal form. Each part between its `/` has at least one character.
fn whole_tag(tag: &str) -> Result<String> {
    let normal = normal_tag(tag)?;
    if normal.split('/').any(str::is_empty) {
        return Err(Error::invalid(format!("tag {normal:?}"), "use one word, such as release or api/v2"));
    }
    Ok(normal)
}

/// Returns the name of a tag that may be there: an older version, or an import, may have written longer ones.
fn old_tag(tag: &str) -> Result<String> {
    let normal = tag.trim().trim_start_matches('#').to_lowercase();
    if normal.is_empty() {
        return Err(Error::invalid(
            format!("tag {tag:?}"),
            "it is empty; use one word, such as release or api/v2",
        ));
    }
    Ok(normal)
}

/// Returns the beginning of a tag, for messages.
fn shortened(tag: &str) -> String {
    const MOST: usize = 60;
    match tag.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}… ({} characters)", &tag[..end], tag.chars().count()),
        None => tag.to_owned(),
    }
}
