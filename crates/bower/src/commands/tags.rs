//! Implements `bower tags`: lists, renames and merges tags, and writes and reads the tag index of documents.

use bower_core::item::Visibility;
use bower_core::request::TagImportRequest;
use std::path::Path;

use super::{Session, hint_if_empty, now, selection};
use crate::cli::{Format, TagListArgs, TagsAction, TagsArgs};
use crate::failure::{Failure, Result};
use crate::render;
use crate::service::{Bounds, RenameTagsBody, TagsBody};

/// Runs an action on tags.
pub fn run(arguments: TagsArgs, session: &Session) -> Result<()> {
    let visibility = Visibility::everything();
    match arguments.action {
        None => list(&arguments.list, session),
        Some(TagsAction::List(arguments)) => list(&arguments, session),
        Some(TagsAction::Rename { old, new, dry_run }) => {
            rename(&RenameTagsBody { tags: vec![old], to: new, merge: false, dry_run }, session)
        }
        Some(TagsAction::Merge { tags, into, dry_run }) => {
            rename(&RenameTagsBody { tags, to: into, merge: true, dry_run }, session)
        }
        Some(TagsAction::Export { dir, root, select }) => {
            let now = now();
            let select = selection(&select, now)?.selection(Bounds::local().via, now)?;
            let root = root.as_deref().map(whole).transpose()?;
            let service = session.service()?;
            let written = service.engine().export_tags(&visibility, &select, root.as_deref(), &dir)?;
            session.out.say(&written, |look| render::tags::written(&written, &dir, look))
        }
        Some(TagsAction::Import { dir, root, dry_run }) => {
            let root = Some(whole(root.as_deref().unwrap_or(Path::new(".")))?);
            let service = session.service()?;
            let request = TagImportRequest { root, dry_run };
            let read = service.engine().import_tags(&visibility, &request, &dir, now())?;
            session.out.say(&read, |look| render::tags::read(&read, &dir, look))?;
            session.maintain(&service);
            Ok(())
        }
    }
}

fn list(arguments: &TagListArgs, session: &Session) -> Result<()> {
    let now = now();
    let select = selection(&arguments.select, now)?;
    let body = TagsBody { under: arguments.under.clone(), limit: None, offset: None, select };
    let service = session.service()?;
    let list = service.tags(&body, &Bounds::local(), now)?;
    session.out.say(&list, |look| render::tags::list(&list, look))?;
    if session.out.format == Format::Text && list.total == 0 {
        hint_if_empty(&service.report()?, session);
    }
    Ok(())
}

fn rename(body: &RenameTagsBody, session: &Session) -> Result<()> {
    let service = session.service()?;
    let renamed = service.rename_tags(body, &Bounds::local(), now())?;
    session.out.say(&renamed, |look| render::tags::renamed(&renamed, look))?;
    session.maintain(&service);
    Ok(())
}

/// Returns a folder as the store knows it: absolute, and without links where it exists.
fn whole(folder: &Path) -> Result<String> {
    let found = folder.canonicalize().or_else(|_| std::path::absolute(folder)).ok();
    found.as_deref().and_then(Path::to_str).map(str::to_owned).ok_or_else(|| {
        Failure::usage(
            format!("--root {}: its name is empty or not UTF-8", folder.display()),
            "name a folder, such as .",
        )
    })
}
