//! Imports `brv`'s context tree: each file and each of its facts becomes a memory, related as the files are.
//! The same tree again changes nothing.

use jiff::Timestamp;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::engine::curate::class::TextClass;
use crate::engine::curate::secrets::CleanItem;
use crate::engine::curate::write::{CONFIDENCE, MAX_CONTENT_BYTES, foreign_tags};
use crate::engine::transfer::import::batch::{BATCH, new_item};
use crate::engine::transfer::import::relations::{relation, write_relations};
use crate::engine::{ACTOR, Engine};
use crate::error::{Error, Missing, Result};
use crate::ingest::{Topic, TopicFile, read, read_topic, topic_file};
use crate::item::{Author, Kind, MemoryType, Provenance, Scope, Status, Tier, Visibility};
use crate::request::CompactWhen;
use crate::request::moving::{MigrateRequest, Migrated, Problem};
use crate::store::copies::{ItemCopy, NewPiece, PieceOutcome, RelationCopy};
use crate::store::{Namespace, Stamp};

/// Largest file of a context tree, in bytes: four of the longest memories.
const LARGEST_TOPIC: u64 = 4 << 20;
/// Longest file that names the place of a context tree, in bytes: a few paths.
const LONGEST_POINTER: u64 = 64 << 10;

/// State of a migration.
struct Migration<'a> {
    engine: &'a Engine,
    now: Timestamp,
    report: Migrated,
    /// Id of the memory of each file, by its path in the tree.
    ids: HashMap<String, String>,
    /// Ids of memories, each with the paths of related files in the tree.
    related: Vec<(String, Vec<String>)>,
    relations: Vec<RelationCopy>,
    batch: Vec<NewPiece>,
}

pub(crate) fn migrate(
    engine: &Engine,
    path: &Path,
    &MigrateRequest { dry_run }: &MigrateRequest,
    now: Timestamp,
) -> Result<Migrated> {
    let tree = tree(path)?;
    let mut migration = Migration {
        engine,
        now,
        report: Migrated { dry_run, ..Migrated::default() },
        ids: HashMap::new(),
        related: Vec::new(),
        relations: Vec::new(),
        batch: Vec::new(),
    };
    for file in files(&tree)? {
        let parts = file.strip_prefix(&tree).unwrap_or(&file).components();
        let name = parts.map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/");
        migration.file(&file, &name)?;
    }
    migration.write()?;
    migration.relate()?;
    if !dry_run {
        engine.embed_pending(now, &|_| {})?;
        if migration.report.migrated > 0 {
            let detail = Map::from_iter([
                ("from".to_owned(), json!("brv")),
                ("added".to_owned(), json!(migration.report.migrated)),
                ("errors".to_owned(), json!(migration.report.errors.len())),
            ]);
            engine.store.note("import", &detail, Stamp { now, actor: ACTOR })?;
        }
        engine.compact(CompactWhen::Due)?;
    }
    Ok(migration.report)
}

/// Returns the context tree of a project or of its `.brv`; `path` may be the tree itself. `.brv` may be a file that names the
/// folder.
fn tree(path: &Path) -> Result<PathBuf> {
    if path.file_name().is_some_and(|name| name == "context-tree") && path.is_dir() {
        return Ok(path.to_path_buf());
    }
    let mut at = path.join(".brv");
    if path.file_name().is_some_and(|name| name == ".brv")
        || (!at.exists() && path.join("context-tree").is_dir())
    {
        at = path.to_path_buf();
    }
    // A file may point to a file that points to another; a few steps are enough.
    for _ in 0..8 {
        if !at.is_file() {
            break;
        }
        let mut text = String::new();
        let opened = std::fs::File::open(&at).map(|file| file.take(LONGEST_POINTER));
        opened
            .and_then(|mut file| file.read_to_string(&mut text))
            .map_err(|source| Error::io("read", &at, source))?;
        let to = target(&text).ok_or_else(|| {
            Error::invalid(at.display().to_string(), "it names no folder; give the folder itself with --path")
        })?;
        at = at.parent().unwrap_or(Path::new(".")).join(to);
        if at.join(".brv").exists() {
            at = at.join(".brv");
        }
    }
    let tree =
        if at.file_name().is_some_and(|name| name == "context-tree") { at } else { at.join("context-tree") };
    if tree.is_dir() {
        return Ok(tree);
    }
    Err(Error::NotFound { what: Missing::Path("file or folder"), id: tree.display().to_string() })
}

/// Returns the path in a `.brv` that is a file: JSON with a path, `key: path`, or the path alone.
fn target(text: &str) -> Option<String> {
    if let Ok(value) = serde_json::from_str::<Value>(text) {
        let names = ["path", "target", "brvDir", "projectRoot", "root"];
        return names.iter().find_map(|name| value.get(name)?.as_str().map(str::to_owned));
    }
    let line = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'))?;
    let path = match line.split_once(": ") {
        Some((key, path)) if key.chars().all(char::is_alphanumeric) => path,
        Some(_) | None => line,
    };
    Some(path.trim().trim_matches('"').to_owned())
}

fn files(tree: &Path) -> Result<Vec<PathBuf>> {
    let (mut open, mut found) = (vec![tree.to_path_buf()], Vec::new());
    while let Some(folder) = open.pop() {
        let failed = |source| Error::io("read the folder", &folder, source);
        for entry in std::fs::read_dir(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let kind = entry.file_type().map_err(failed)?;
            if kind.is_dir() {
                open.push(entry.path());
            } else if kind.is_file() {
                found.push(entry.path());
            }
        }
    }
    found.sort_unstable();
    Ok(found)
}

impl Migration<'_> {
    fn error(&mut self, place: &str, reason: impl Into<String>) {
        self.report.errors.push(Problem { place: place.to_owned(), reason: reason.into() });
    }

    fn file(&mut self, path: &Path, name: &str) -> Result<()> {
        let status = match topic_file(name) {
            TopicFile::Made => {
                self.report.skipped += 1;
                return Ok(());
            }
            TopicFile::Stub => {
                self.report.skipped += 1;
                let whole = name.replace(".stub.md", ".full.md");
                let file = path.with_file_name(whole.rsplit('/').next().unwrap_or(&whole));
                if !file.is_file() {
                    self.error(name, format!("the archived text that it refers to, {whole}, is missing"));
                }
                return Ok(());
            }
            TopicFile::Archived => Status::Archived,
            TopicFile::Told => Status::Active,
        };
        let bytes = match read(path, LARGEST_TOPIC) {
            Ok(bytes) => bytes,
            Err(skipped) => {
                self.error(name, skipped.reason);
                return Ok(());
            }
        };
        let topic = match std::str::from_utf8(&bytes)
            .map_err(|_| "it is not valid UTF-8".to_owned())
            .and_then(read_topic)
        {
            Ok(topic) => topic,
            Err(reason) => {
                self.error(name, reason);
                return Ok(());
            }
        };
        let modified = std::fs::metadata(path).and_then(|found| found.modified()).ok();
        let modified = modified.and_then(|time| Timestamp::try_from(time).ok()).unwrap_or(self.now);
        self.topic(name, &topic, status, modified)
    }

    fn topic(&mut self, name: &str, topic: &Topic, status: Status, modified: Timestamp) -> Result<()> {
        // Relations refer to an archived file by the name that it had.
        let place = name.trim_start_matches("_archived/").replace(".full.md", ".md");
        let stem = place.rsplit('/').next().unwrap_or(&place).trim_end_matches(".md");
        let title = topic.title.clone().unwrap_or_else(|| stem.replace(['-', '_'], " "));
        let mut metadata = topic.metadata.clone();
        metadata.insert("brv".to_owned(), json!(place));
        metadata.insert("title".to_owned(), json!(title));
        if let Some(domain) = place.split('/').next().filter(|_| place.contains('/')) {
            metadata.insert("domain".to_owned(), json!(domain));
        }
        let said = [topic.summary.as_deref(), Some(topic.text.as_str()).filter(|text| !text.is_empty())];
        let said: Vec<&str> = said.into_iter().flatten().collect();
        if said.is_empty() && topic.facts.is_empty() {
            self.error(name, "it says nothing: no text and no facts");
            return Ok(());
        }
        let tags = foreign_tags(&topic.tags);
        let memory = |content: String, memory_type, metadata| {
            let mut item = self.memory(content, memory_type, topic, modified);
            (item.tags, item.metadata) = (tags.clone(), metadata);
            if status == Status::Archived {
                (item.status, item.hidden_time) = (status, Some(item.update_time));
            }
            item
        };
        let mut whole = None;
        if !said.is_empty() {
            let content = format!("{title}\n\n{}", said.join("\n\n"));
            if content.len() > MAX_CONTENT_BYTES {
                self.error(name, "it is longer than a memory may be; bower index takes documents");
                return Ok(());
            }
            let mut item = memory(content, Some(MemoryType::Context), metadata.clone());
            if !topic.keywords.is_empty() {
                item.keywords.clone_from(&topic.keywords);
            }
            whole = Some(item);
        }
        let facts: Vec<ItemCopy> = topic
            .facts
            .iter()
            .map(|fact| {
                let mut metadata = metadata.clone();
                metadata
                    .extend(fact.category.clone().map(|category| ("category".to_owned(), json!(category))));
                memory(fact.text.clone(), Some(fact.memory_type), metadata)
            })
            .collect();
        if let Some(whole) = whole {
            self.ids.insert(place, whole.id.clone());
            self.related.push((whole.id.clone(), topic.related.clone()));
            for fact in facts.iter().filter(|fact| fact.id != whole.id) {
                self.relations.push(relation(&fact.id, &whole.id, whole.create_time));
            }
            self.put(whole)?;
        }
        facts.into_iter().try_for_each(|fact| self.put(fact))
    }

    fn memory(
        &self,
        content: String,
        memory_type: Option<MemoryType>,
        topic: &Topic,
        modified: Timestamp,
    ) -> ItemCopy {
        let judged = TextClass::UNKNOWN.judge(&content, memory_type, CONFIDENCE);
        let collection = self.engine.settings.memory_collection.clone();
        let place = Namespace { collection, scope: Scope::Project, owner: None };
        let updated = topic.updated.or(topic.created).unwrap_or(modified);
        ItemCopy {
            id: place.memory_id(&content),
            kind: Kind::Memory,
            memory_type: Some(judged.memory_type),
            slot: None,
            content,
            summary: judged.summary,
            importance: topic.importance.unwrap_or(judged.importance),
            confidence: CONFIDENCE,
            decay_rate: judged.decay_rate,
            access_count: topic.access_count,
            observations: topic.update_count + 1,
            create_time: topic.created.unwrap_or(updated),
            access_time: updated,
            update_time: updated,
            valid_from: None,
            valid_to: None,
            hidden_time: None,
            supersedes_id: None,
            source_conv_id: None,
            tags: Vec::new(),
            keywords: judged.keywords,
            metadata: Map::new(),
            collection: place.collection,
            scope: place.scope,
            owner: place.owner,
            status: Status::Active,
            tier: Tier::Active,
            source: "brv".to_owned(),
            // A tree comes with its project, so the sender of the project may have written it.
            provenance: Some(Provenance::picked(Author::Import, Author::Import)),
            host: None,
            exposed: None,
            anchors: Vec::new(),
            part: None,
            vector: None,
        }
    }

    fn put(&mut self, item: ItemCopy) -> Result<()> {
        // An existing memory may have changed since its import, so it is not compared.
        let is_waiting = |piece: &NewPiece| matches!(piece, NewPiece::Item(new) if new.item.id == item.id);
        if self.batch.iter().any(is_waiting)
            || !self.engine.store.rows_by_id(&item.id, &Visibility::everything(), 1)?.is_empty()
        {
            self.report.unchanged += 1;
            return Ok(());
        }
        let id = item.id.clone();
        let clean = match CleanItem::of(self.engine, item) {
            Ok(clean) => clean,
            Err(reason) => {
                self.error(&id, reason);
                return Ok(());
            }
        };
        self.report.redacted += u64::from(clean.is_cut);
        let why = Map::from_iter([("from".to_owned(), json!("brv"))]);
        self.batch.push(NewPiece::Item(Box::new(new_item(self.engine, clean, None, "import", why, false)?)));
        if self.batch.len() >= BATCH { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> Result<()> {
        let pieces = std::mem::take(&mut self.batch);
        let stamp = Stamp { now: self.now, actor: ACTOR };
        let fates = self.engine.store.take_pieces(&pieces, self.report.dry_run, stamp)?;
        for (piece, fate) in pieces.iter().zip(fates) {
            match (fate, piece) {
                (PieceOutcome::Conflict(why), NewPiece::Item(new)) => self.error(&new.item.id, why),
                (PieceOutcome::Added | PieceOutcome::Updated, _) => self.report.migrated += 1,
                (PieceOutcome::Same | PieceOutcome::Newer | PieceOutcome::Conflict(_), _) => {
                    self.report.unchanged += 1;
                }
            }
        }
        Ok(())
    }

    fn relate(&mut self) -> Result<()> {
        let mut relations = std::mem::take(&mut self.relations);
        for (from, places) in &self.related {
            let found = places.iter().filter_map(|place| self.ids.get(place)).filter(|to| *to != from);
            relations.extend(found.map(|to| relation(from, to, self.now)));
        }
        if self.report.dry_run {
            self.report.relations = relations.len() as u64;
            return Ok(());
        }
        self.report.relations += write_relations(self.engine, relations, self.now)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_is_read_in_its_forms() {
        let check =
            |text: &str, expected: Option<&str>| assert_eq!(target(text).as_deref(), expected, "{text}");
        check("../shared/.brv\n", Some("../shared/.brv"));
        check("path: /srv/brv\n", Some("/srv/brv"));
        check("{\"path\": \"/srv/brv\"}", Some("/srv/brv"));
        check("{\"other\": 1}", None);
        check("\n# nothing\n", None);
    }
}
