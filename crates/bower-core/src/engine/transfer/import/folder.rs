//! Imports an edited folder: only the changes since the export.
//! A changed text replaces the old one, which stays in its history. Fields are changed in place. Changes of the store
//! meanwhile are never overwritten.

use jiff::Timestamp;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use crate::engine::ACTOR;
use crate::engine::curate::secrets::CleanItem;
use crate::engine::curate::write::{ANYTHING, MAX_CONTENT_BYTES, free_id};
use crate::engine::mentions;
use crate::engine::transfer::export::folder::{ExportEntry, ExportManifest};
use crate::engine::transfer::import::batch::{Import, new_item, put_in_place};
use crate::engine::transfer::import::head::{HeadFields, differences};
use crate::error::{Error, Result};
use crate::ingest::{Page, content_hash, read, read_page};
use crate::item::{Author, CurateOutcome, MemoryType, RowId, Scope, Status, Tier, Visibility};
use crate::memory::analysis::changed;
use crate::request::CurateRequest;
use crate::request::moving::{FileChange, ImportProgress};
use crate::store::copies::{FORMAT, ItemCopy, NewPiece, PieceOutcome};
use crate::store::{Decided, Namespace, NewMemory, Stamp, WriteAction};

/// Largest file of a memory, in bytes: text and fields together.
const MAX_FILE_BYTES: u64 = 4 << 20;

/// State of reading a folder.
struct FolderImport<'i, 'a> {
    import: &'i mut Import<'a>,
    before: ExportManifest,
    after: ExportManifest,
    /// Whether it is known to be an export of this store.
    is_ours: bool,
    /// Ids of memories that a file of the folder represents.
    seen: HashSet<String>,
}

impl Import<'_> {
    /// Reads a folder that [`Engine::export_folder`](super::Engine::export_folder) wrote and a person edited, or any folder
    /// of such files.
    pub fn folder(&mut self, path: &Path) -> Result<()> {
        folder(self, path)
    }
}

/// Imports the edits of a folder.
fn folder(import: &mut Import<'_>, path: &Path) -> Result<()> {
    let identity = import.engine.store.identity().to_owned();
    // The folder of another store, or an import for another owner, is not a set of edits: its memories are new here.
    let is_ours = import.request.owner.is_none() && import.request.scope.is_none();
    let manifest = ExportManifest::read(path)?.filter(|manifest| is_ours && manifest.store == identity);
    let had_manifest = manifest.is_some();
    let before =
        manifest.unwrap_or_else(|| ExportManifest { bower: FORMAT, store: identity, files: BTreeMap::new() });
    let mut folder =
        FolderImport { import, after: before.clone(), before, is_ours: had_manifest, seen: HashSet::new() };
    let mut there = BTreeSet::new();
    for file in files(path)? {
        let name = name_of(path, &file);
        folder.import.report.files += 1;
        there.insert(name.clone());
        match read_file(&file) {
            Ok(bytes) => folder.file(&name, &bytes)?,
            Err(reason) => folder.import.report.error(&name, reason),
        }
        (folder.import.progress)(ImportProgress::Items(1));
    }
    if had_manifest {
        folder.missing(&there)?;
    }
    if had_manifest && !folder.import.request.dry_run && folder.after != folder.before {
        folder.after.write(path)?;
    }
    Ok(())
}

/// Returns the Markdown files below a folder, in order; hidden ones and links are skipped.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let failed = |path: &Path| {
        let path = path.to_path_buf();
        move |source| Error::io("read the folder", &path, source)
    };
    let (mut open, mut found) = (vec![folder.to_path_buf()], Vec::new());
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).map_err(failed(&folder))? {
            let entry = entry.map_err(failed(&folder))?;
            let (path, kind) = (entry.path(), entry.file_type().map_err(failed(&folder))?);
            if entry.file_name().to_string_lossy().starts_with('.') {
                continue;
            }
            if kind.is_dir() {
                open.push(path);
            } else if kind.is_file()
                && path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("md"))
            {
                found.push(path);
            }
        }
    }
    found.sort_unstable();
    Ok(found)
}

fn name_of(folder: &Path, file: &Path) -> String {
    let parts = file.strip_prefix(folder).unwrap_or(file).components();
    parts.map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

fn read_file(path: &Path) -> std::result::Result<Vec<u8>, String> {
    read(path, MAX_FILE_BYTES).map_err(|skipped| format!("{}; bower index takes documents", skipped.reason))
}

impl FolderImport<'_, '_> {
    fn stamp(&self) -> Stamp<'static> {
        Stamp { now: self.import.now, actor: ACTOR }
    }

    fn tell(&mut self, file: &str, what: &str, id: Option<String>, detail: impl Into<String>) {
        let change = FileChange { file: file.to_owned(), what: what.to_owned(), id, detail: detail.into() };
        self.import.report.changes.push(change);
    }

    fn file(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        let sha256 = content_hash(bytes);
        if let Some(entry) = self.before.files.get(name).filter(|entry| entry.sha256 == sha256) {
            self.seen.insert(entry.id.clone());
            self.import.report.unchanged += 1;
            return Ok(());
        }
        let page = match std::str::from_utf8(bytes)
            .map_err(|_| "it is not valid UTF-8".to_owned())
            .and_then(read_page)
        {
            Ok(page) => page,
            Err(reason) => {
                // The file exists, even if it cannot be parsed: its memory was not deleted.
                self.seen.extend(self.before.files.get(name).map(|entry| entry.id.clone()));
                self.import.report.error(name, reason);
                return Ok(());
            }
        };
        let told = page.fields.get("id").and_then(Value::as_str).map(str::to_lowercase);
        let known = self.before.files.get(name).cloned().or_else(|| {
            let mut entries = self.before.files.values();
            entries.find(|entry| Some(&entry.id) == told.as_ref()).cloned()
        });
        let id = known.as_ref().map(|entry| entry.id.clone()).or(told);
        self.seen.extend(id.clone());
        let outcome = match &id {
            None => self.fresh(name, &page)?,
            Some(id) => self.known(name, &page, id, known.as_ref())?,
        };
        match outcome {
            Ok(Some((id, updated))) => {
                self.seen.insert(id.clone());
                if !self.import.request.dry_run {
                    self.after.files.insert(name.to_owned(), ExportEntry { id, sha256, updated });
                }
            }
            Ok(None) => {}
            Err(reason) => self.import.report.error(name, reason),
        }
        Ok(())
    }

    /// Imports a file that represents no memory yet, as a new memory.
    fn fresh(&mut self, name: &str, page: &Page) -> Result<Stands> {
        // Notes of a folder must not all become memories, so a file that is not from an export needs a type.
        if !self.is_ours && !page.fields.contains_key("type") {
            let reason = "no memory: its head has neither an id nor a type; bower index reads documents";
            return Ok(Err(reason.to_owned()));
        }
        let fields = match HeadFields::read(&page.fields) {
            Ok(fields) => fields,
            Err(reason) => return Ok(Err(reason)),
        };
        if page.body.trim().is_empty() {
            return Ok(Err("it has no text; write one below the second ---, or delete the file".to_owned()));
        }
        let request = &self.import.request;
        let told = CurateRequest {
            memory_type: fields.memory_type,
            tags: fields.tags,
            metadata: fields.metadata,
            collection: fields.collection.or_else(|| request.collection.clone()),
            scope: request.scope.or(fields.scope).unwrap_or(Scope::Project),
            owner: request.owner.clone().or(fields.owner),
            pinned: fields.tier == Tier::Pinned,
            source_conv_id: fields.conversation,
            told_time: fields.created,
            said_by: fields.said_by.unwrap_or(if self.is_ours { Author::User } else { Author::Import }),
            ..CurateRequest::new(page.body.trim())
        };
        if request.dry_run {
            self.import.report.added += 1;
            self.tell(name, "added", None, "it would be curated, as bower curate does it");
            return Ok(Ok(None));
        }
        let curated = self.import.engine.curate(&Visibility::everything(), &told, self.import.now)?;
        let Some(id) = curated.id else {
            self.import.report.refused += 1;
            let reason = curated.reason.unwrap_or_default();
            self.tell(name, "refused", None, reason);
            return Ok(Ok(None));
        };
        let detail =
            curated.other.map_or(String::new(), |other| format!("beside {}: {}", other.id, other.why));
        if curated.outcome == CurateOutcome::Confirm {
            self.import.report.unchanged += 1;
            self.tell(name, "confirmed", Some(id.clone()), detail);
        } else {
            self.import.report.added += 1;
            self.tell(name, "added", Some(id.clone()), detail);
        }
        let updated = self.here(&id)?.map_or(self.import.now, |(_, item)| item.update_time);
        Ok(Ok(Some((id, updated))))
    }

    fn here(&self, id: &str) -> Result<Option<(RowId, ItemCopy)>> {
        let found = self.import.engine.store.rows_by_id(id, &Visibility::everything(), 2)?;
        let Some((row, _)) = found.into_iter().find(|(_, found)| found == id) else { return Ok(None) };
        Ok(self.import.engine.store.copies(&[row])?.pop().flatten().map(|item| (row, item)))
    }

    /// Imports a file that represents a memory.
    fn known(&mut self, name: &str, page: &Page, id: &str, entry: Option<&ExportEntry>) -> Result<Stands> {
        let fields = match memory_fields(page, id) {
            Ok(fields) => fields,
            Err(reason) => return Ok(Err(reason)),
        };
        let mut foreign = fields.copy(id, &page.body, self.import)?;
        put_in_place(&self.import.request, &mut foreign);
        let Some((row, there)) = self.here(&foreign.id)? else {
            if entry.is_some() {
                self.import.report.conflict(
                    name,
                    format!("{id} was forgotten here; delete the file, or its id line to tell it anew"),
                );
                return Ok(Ok(None));
            }
            return self.adopt(name, foreign);
        };
        let base = entry.map(|entry| entry.updated).or(fields.updated);
        let (row, there) = match self.head(row, there, &page.body)? {
            Ok(found) => found,
            Err(head) => {
                self.import.report.conflict(
                    name,
                    format!("{id} was replaced by {head} here; export again, then edit that"),
                );
                return Ok(Ok(None));
            }
        };
        if self.is_moved(&fields, page, &there) {
            let reason = "collection, scope and owner of a memory stay as they are; to move it to another owner, import with --scope and --owner";
            return Ok(Err(reason.to_owned()));
        }
        let is_same_text = page.body == there.content || page.body.trim() == there.content.trim();
        let told = ItemCopy {
            content: page.body.trim().to_owned(),
            ..fields.onto(&there, &page.body, is_same_text)
        };
        let clean = match CleanItem::of(self.import.engine, told) {
            Ok(clean) => clean,
            Err(reason) => return Ok(Err(reason)),
        };
        self.import.report.redacted += u64::from(clean.is_cut);
        let body = clean.item.content.clone();
        let wanted = ItemCopy { content: there.content.clone(), ..clean.item };
        let is_same_text = is_same_text || body == there.content.trim();
        let differs = differences(&there, &wanted);
        if is_same_text && differs.is_empty() {
            self.import.report.unchanged += 1;
            return Ok(Ok(Some((there.id, there.update_time))));
        }
        if base.is_none_or(|base| base != there.update_time) {
            let what = if is_same_text { differs.join(", ") } else { "text".to_owned() };
            self.import.report.conflict(
                name,
                format!(
                    "{} was changed here since the export, and the file has another {what}; export again",
                    there.id
                ),
            );
            return Ok(Ok(None));
        }
        if is_same_text {
            self.edit(name, &there, wanted, &differs)
        } else {
            self.replace(name, &body, row, &there, &wanted)
        }
    }

    /// Whether a file names another collection, scope or owner than its memory has, which the request does not set.
    fn is_moved(&self, fields: &HeadFields, page: &Page, there: &ItemCopy) -> bool {
        let request = &self.import.request;
        fields.collection.as_ref().is_some_and(|name| *name != there.collection)
            || (request.scope.is_none() && fields.scope.is_some_and(|scope| scope != there.scope))
            || (request.owner.is_none() && page.fields.contains_key("owner") && fields.owner != there.owner)
    }

    /// Returns the memory that a file represents: itself, or its successor if that has the file's own text. The error is the
    /// id of a successor with another text.
    fn head(
        &self,
        row: RowId,
        there: ItemCopy,
        body: &str,
    ) -> Result<std::result::Result<(RowId, ItemCopy), String>> {
        if there.status != Status::Superseded || there.content.trim() == body.trim() {
            return Ok(Ok((row, there)));
        }
        let store = &self.import.engine.store;
        let Some(&head) = store.chain(row)?.last().filter(|head| **head != row) else {
            return Ok(Ok((row, there)));
        };
        Ok(match store.copies(&[head])?.pop().flatten() {
            Some(item) if item.content.trim() == body.trim() => Ok((head, item)),
            Some(item) => Err(item.id),
            None => Ok((row, there)),
        })
    }

    /// Imports a memory of another store.
    fn adopt(&mut self, name: &str, item: ItemCopy) -> Result<Stands> {
        let (id, updated) = (item.id.clone(), item.update_time);
        let clean = match CleanItem::of(self.import.engine, item) {
            Ok(clean) => clean,
            Err(reason) => return Ok(Err(reason)),
        };
        self.import.report.redacted += u64::from(clean.is_cut);
        // An event never contains a text, and a file's name is made from one, so the event does not name the file.
        let new = new_item(self.import.engine, clean, None, "import", Map::new(), false)?;
        let piece = NewPiece::Item(Box::new(new));
        let fate =
            self.import.engine.store.take_pieces(&[piece], self.import.request.dry_run, self.stamp())?.pop();
        match fate {
            Some(PieceOutcome::Conflict(why)) => self.import.report.conflict(name, format!("{id}: {why}")),
            Some(PieceOutcome::Added | PieceOutcome::Updated | PieceOutcome::Same | PieceOutcome::Newer)
            | None => {
                self.import.report.added += 1;
                self.tell(name, "added", Some(id.clone()), "with its own id and times");
                return Ok(Ok(Some((id, updated))));
            }
        }
        Ok(Ok(None))
    }

    /// Changes the fields of a memory whose text is the same.
    fn edit(&mut self, name: &str, there: &ItemCopy, wanted: ItemCopy, differs: &[&str]) -> Result<Stands> {
        let id = there.id.clone();
        Ok(match self.put_fields(there, wanted)? {
            Ok(updated) => {
                self.import.report.updated += 1;
                self.tell(name, "changed", Some(id.clone()), differs.join(", "));
                Ok(Some((id, updated)))
            }
            Err(why) => {
                self.import.report.conflict(name, format!("{id}: {why}"));
                Ok(None)
            }
        })
    }

    fn put_fields(
        &self,
        there: &ItemCopy,
        mut wanted: ItemCopy,
    ) -> Result<std::result::Result<Timestamp, String>> {
        // Strictly later than the stored time, or the store would take it for older.
        let next = there.update_time + jiff::SignedDuration::from_micros(1);
        wanted.update_time = self.import.now.max(next);
        let updated = wanted.update_time;
        if matches!(wanted.status, Status::Archived) && there.status != Status::Archived {
            wanted.hidden_time = Some(updated);
        }
        // The file was examined for secrets when it was read; the text stays.
        let clean = CleanItem { item: wanted, is_other_text: false, is_cut: false };
        let new = new_item(self.import.engine, clean, None, "edit", Map::new(), false)?;
        let pieces = [NewPiece::Item(Box::new(new))];
        let fate =
            self.import.engine.store.take_pieces(&pieces, self.import.request.dry_run, self.stamp())?.pop();
        Ok(match fate {
            Some(PieceOutcome::Conflict(why)) => Err(why),
            Some(PieceOutcome::Newer) => Err("it was changed here at the same time".to_owned()),
            Some(PieceOutcome::Added | PieceOutcome::Updated | PieceOutcome::Same) | None => Ok(updated),
        })
    }

    /// Replaces the text of a memory: the old version stays in the chain.
    fn replace(
        &mut self,
        name: &str,
        content: &str,
        row: RowId,
        there: &ItemCopy,
        wanted: &ItemCopy,
    ) -> Result<Stands> {
        if !matches!(there.status, Status::Candidate | Status::Active) {
            let reason = format!(
                "{} is {} here: its text stays; set `status: active` first, or leave the id out",
                there.id, there.status
            );
            self.import.report.conflict(name, reason);
            return Ok(Ok(None));
        }
        let detail = changed(&there.content, content).unwrap_or_default();
        let engine = self.import.engine;
        let place = Namespace {
            collection: there.collection.clone(),
            scope: there.scope,
            owner: there.owner.clone(),
        };
        let id = free_id(engine, &place, content)?;
        if self.here(&id)?.is_some() {
            self.import
                .report
                .conflict(name, format!("{id} says this already; delete the file, or change its text"));
            return Ok(Ok(None));
        }
        self.import.report.updated += 1;
        if self.import.request.dry_run {
            self.tell(name, "superseded", Some(there.id.clone()), detail);
            return Ok(Ok(None));
        }
        let memory = NewMemory {
            create_time: None,
            id,
            collection: there.collection.clone(),
            memory_type: wanted.memory_type.unwrap_or(MemoryType::Fact),
            delta: mentions::of_memory(content, &wanted.tags),
            content: content.to_owned(),
            summary: wanted.summary.clone(),
            importance: wanted.importance,
            confidence: wanted.confidence,
            decay_rate: wanted.decay_rate,
            tags: wanted.tags.clone(),
            keywords: wanted.keywords.clone(),
            metadata: wanted.metadata.clone(),
            scope: there.scope,
            owner: there.owner.clone(),
            status: wanted.status,
            tier: wanted.tier,
            source: ACTOR.to_owned(),
            source_conv_id: there.source_conv_id.clone(),
            provenance: wanted.provenance(),
            host: there.host.clone(),
            valid_from: wanted.valid_from,
            valid_to: wanted.valid_to,
            anchors: Vec::new(),
            vector: None,
        };
        let decided = Decided::by_rule(WriteAction::Replaces(row), "edited", ANYTHING);
        let Some(kept) = engine.store.put_memory(&memory, &decided, self.stamp())? else {
            self.import.report.updated -= 1;
            self.import
                .report
                .conflict(name, format!("{} was replaced by another process just now", there.id));
            return Ok(Ok(None));
        };
        let mut updated = self.import.now;
        // A successor inherits tags and a pin; here the file sets them.
        if let Some((_, new)) = self.here(&kept.id)? {
            updated = new.update_time;
            let exact = ItemCopy { tags: wanted.tags.clone(), tier: wanted.tier, ..new.clone() };
            if exact != new
                && let Ok(later) = self.put_fields(&new, exact)?
            {
                updated = later;
            }
        }
        self.tell(name, "superseded", Some(kept.id.clone()), detail);
        Ok(Ok(Some((kept.id, updated))))
    }

    /// Handles memories whose files are gone.
    fn missing(&mut self, there: &BTreeSet<String>) -> Result<()> {
        let gone: Vec<(String, ExportEntry)> = self
            .before
            .files
            .iter()
            .filter(|(name, entry)| !there.contains(*name) && !self.seen.contains(&entry.id))
            .map(|(name, entry)| (name.clone(), entry.clone()))
            .collect();
        // A renamed file has its entry under the new name.
        self.after.files.retain(|name, entry| there.contains(name) || !self.seen.contains(&entry.id));
        for (name, entry) in gone {
            let Some((_, item)) = self.here(&entry.id)? else {
                self.after.files.remove(&name);
                continue;
            };
            if matches!(item.status, Status::Archived | Status::Superseded) {
                self.after.files.remove(&name);
            } else if !self.import.request.delete {
                self.tell(&name, "deleted", Some(entry.id), "its memory stays; --delete archives it");
            } else if item.update_time != entry.updated {
                let reason = format!(
                    "{} was changed here since the export: it stays, though its file is gone",
                    entry.id
                );
                self.import.report.conflict(&name, reason);
            } else {
                let wanted = ItemCopy { status: Status::Archived, ..item.clone() };
                match self.put_fields(&item, wanted)? {
                    Ok(_) => {
                        self.import.report.updated += 1;
                        self.after.files.remove(&name);
                        self.tell(&name, "archived", Some(entry.id), "its file is gone");
                    }
                    Err(why) => self.import.report.conflict(&name, format!("{}: {why}", entry.id)),
                }
            }
        }
        Ok(())
    }
}

/// Returns the fields of a file that represents a memory, or the reason why it cannot.
fn memory_fields(page: &Page, id: &str) -> std::result::Result<HeadFields, String> {
    let is_id = id.len() == 16 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_id {
        return Err(format!("id: {id:?} is not 16 hex digits; leave the line out for a new memory"));
    }
    let fields = HeadFields::read(&page.fields)?;
    if page.body.trim().is_empty() {
        let reason = "its text is gone; delete the file (and import with --delete) to archive the memory";
        return Err(reason.to_owned());
    }
    if page.body.len() > MAX_CONTENT_BYTES {
        return Err("its text is longer than a memory may be; bower index takes documents".to_owned());
    }
    Ok(fields)
}

/// The memory that a file now represents and the time of its last change; `None` if the file has no such memory, for example
/// after a conflict. The error is the reason why the file could not be read.
type Stands = std::result::Result<Option<(String, Timestamp)>, String>;
