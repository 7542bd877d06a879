//! Imports the memories of other programs: each passes admission and is compared, as every text that is told.
//! The report of a dry run comes from the same steps; only the writes are left out, and what they would have written is held in
//! memory. The same source again changes nothing.

mod planned;
pub(crate) mod state;

use jiff::Timestamp;
use serde_json::{Map, Value, json};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::engine::ACTOR;
use crate::engine::curate::choice::Choice;
use crate::engine::curate::neighbours::neighbours;
use crate::engine::curate::relations::Relations;
use crate::engine::curate::write::{ANYTHING, MAX_CONTENT_BYTES, foreign_tags, free_id};
use crate::engine::curate::{AdmissionOutcome, Admitted, admit, choose, keep};
use crate::engine::transfer::import::batch::{BATCH, Import};
use crate::engine::transfer::import::relations::{relation, write_relations};
use crate::error::Result;
use crate::ingest::{
    FORMATS, ForeignForm, ForeignFormat, ForeignMemory, ForeignPage, ForeignTable, Pages, Stale,
    content_hash, read,
};
use crate::item::{Author, CurateOutcome, Kind, Scope, Status, Visibility};
use crate::memory::analysis::Analysis;
use crate::memory::gate;
use crate::request::moving::{FindingKind, ImportFinding, ImportProgress, ImportedSource};
use crate::request::{CurateRequest, Curated, Item, Selection};
use crate::store::sqlite::foreign::ForeignDatabase;
use crate::store::{Decided, Namespace, Stamp, WriteAction};

/// Memories that are sorted by time at once, so that an older one comes before what replaces it: 10 MB of usual ones.
pub(crate) const SORTED: usize = 10_000;
/// Largest page, in bytes, and most bytes of all pages of a folder that are read at once.
const LARGEST_PAGE: u64 = 4 << 20;
const LARGEST_FOLDER: usize = 64 << 20;
/// What is said of a page beyond that.
const TOO_LARGE: &str =
    "the pages before it have 64 MB, the most that one folder may have; import the folder in parts";
/// Page size that includes every row.
const ALL: usize = usize::MAX >> 1;
/// Characters of a text that a finding shows: one line of a terminal.
const SHOWN: usize = 100;
/// Field of a memory's metadata that has its id in the other program.
const SOURCE_ID: &str = "source_id";

/// What became of a memory that admission accepted.
enum Outcome {
    /// It has this id; the choice says beside what.
    Kept(String, Box<Choice>, WriteAction),
    /// It has this id, and is history, which is compared with nothing.
    Archived(String),
    /// A memory with this id has the same text.
    Repeats(String),
}

/// A program's memories on their way into the store.
pub(crate) struct Moving<'i, 'a> {
    import: &'i mut Import<'a>,
    format: &'static ForeignFormat,
    name: String,
    place: Namespace,
    known: HashMap<String, Item>,
    waiting: Vec<ForeignMemory>,
    /// Our ids of the memories, by their ids in the other program.
    ids: HashMap<String, String>,
    related: Vec<(String, Vec<String>)>,
}

impl Import<'_> {
    /// Reads a database of another program. Returns whether it has memories of a program that is known; a database that is
    /// damaged is reported.
    pub fn database(&mut self, name: &str, path: &Path) -> Result<bool> {
        self.foreign.databases += 1;
        let number = self.foreign.databases;
        let folder = self.engine.home.join(format!("import-{}-{number}", std::process::id()));
        let read = match ForeignDatabase::copy(path, &folder) {
            Ok(database) => {
                let read = self.tables(name, &database)?;
                read.map_err(|reason| format!("{reason}; every row before it was imported"))
            }
            Err(reason) => Err(reason),
        };
        if let Err(reason) = &read {
            self.report.error(name, reason);
        }
        let is_known = read.unwrap_or(true);
        self.report.files += usize::from(is_known);
        Ok(is_known)
    }

    /// Reads the tables that some format knows; the result is whether there are any, or what is wrong with the database.
    fn tables(
        &mut self,
        name: &str,
        database: &ForeignDatabase,
    ) -> Result<std::result::Result<bool, String>> {
        let mut is_known = false;
        for format in FORMATS {
            let tables = format.forms.iter().filter_map(|form| match form {
                ForeignForm::Tables(tables) => Some(*tables),
                ForeignForm::Folder { .. } | ForeignForm::Objects { .. } => None,
            });
            for table in tables.flatten() {
                match has_all(database, table) {
                    Ok(true) => {}
                    Ok(false) => continue,
                    Err(reason) => return Ok(Err(reason)),
                }
                is_known = true;
                let mut moving = Moving::new(self, format, name)?;
                let (mut number, mut failed) = (0_u64, Ok(()));
                let outcome = database.rows(table.query, &mut |row| {
                    number += 1;
                    failed = moving.parsed(&format!("row {number}"), (table.read)(&row));
                    failed.is_ok()
                });
                failed?;
                moving.finish()?;
                if let Err(reason) = outcome {
                    return Ok(Err(reason));
                }
            }
        }
        Ok(Ok(is_known))
    }

    /// Reads the folders of other programs' memories at or below a folder. Returns these folders: the files in them were
    /// read.
    pub fn foreign_folders(&mut self, path: &Path) -> Result<Vec<PathBuf>> {
        let pages = pages(path);
        let folders = folders(&pages);
        let mut taken: Vec<String> = Vec::new();
        // Format by format: what a strict format recognises deep in a tree is not for a loose one further up.
        for format in FORMATS {
            for form in format.forms {
                let ForeignForm::Folder { is, read } = form else { continue };
                for folder in &folders {
                    let is_free = |path: &str| !taken.iter().any(|taken| is_within(path, taken));
                    let below =
                        pages.iter().filter(|page| is_within(&page.path, folder) && is_free(&page.path));
                    let below = Pages::new(below.map(|page| page_below(page.clone(), folder)).collect());
                    if below.all().is_empty() || !is(&below) {
                        continue;
                    }
                    self.report.files += below.all().len();
                    let mut moving = Moving::new(self, format, &path.join(folder).display().to_string())?;
                    for page in below.all() {
                        match read(page, &below) {
                            Ok(memories) => memories.into_iter().try_for_each(|memory| moving.add(memory))?,
                            Err(reason) => moving.error(&page.path, &reason),
                        }
                    }
                    moving.finish()?;
                    taken.push(folder.clone());
                }
            }
        }
        Ok(taken.into_iter().map(|folder| path.join(folder)).collect())
    }
}

/// Reads the Markdown files below a folder; hidden ones and links are skipped.
fn pages(folder: &Path) -> Vec<ForeignPage> {
    let (mut open, mut found, mut bytes) = (vec![folder.to_path_buf()], Vec::new(), 0);
    while let Some(at) = open.pop() {
        // A folder that cannot be read is reported by the walk that follows.
        let mut entries: Vec<_> = std::fs::read_dir(&at).into_iter().flatten().flatten().collect();
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
            let name = entry.file_name().to_string_lossy().into_owned();
            if kind.is_dir() && !name.starts_with('.') {
                open.push(path);
            } else if kind.is_file() && path.extension().is_some_and(|ending| ending == "md") {
                let parts = path.strip_prefix(folder).unwrap_or(&path).components();
                let parts: Vec<_> = parts.map(|part| part.as_os_str().to_string_lossy()).collect();
                let text = if bytes < LARGEST_FOLDER { text_of(&path) } else { Err(TOO_LARGE.to_owned()) };
                bytes += text.as_ref().map_or(0, String::len);
                found.push(match text {
                    Ok(text) => ForeignPage::new(parts.join("/"), &text, modified(&entry)),
                    Err(reason) => ForeignPage::unreadable(parts.join("/"), reason),
                });
            }
        }
    }
    found
}

/// Whether a database has all tables that a query reads.
fn has_all(database: &ForeignDatabase, table: &ForeignTable) -> std::result::Result<bool, String> {
    for (name, columns) in table.needs {
        if !database.has(name, columns)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns the folders of some pages, each after those that contain it; the empty path is the root.
fn folders(pages: &[ForeignPage]) -> Vec<String> {
    let of = |page: &ForeignPage| {
        let mut folders: Vec<String> =
            page.path.match_indices('/').map(|(at, _)| page.path[..at].to_owned()).collect();
        folders.push(String::new());
        folders
    };
    let all: HashSet<String> = pages.iter().flat_map(of).collect();
    let mut all: Vec<String> = all.into_iter().collect();
    all.sort_unstable();
    all
}

/// Whether a path is at or below a folder.
fn is_within(path: &str, folder: &str) -> bool {
    folder.is_empty()
        || path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Makes a page's path relative to a folder that contains it.
fn page_below(page: ForeignPage, folder: &str) -> ForeignPage {
    let path = page.path[folder.len()..].trim_start_matches('/').to_owned();
    ForeignPage { path, ..page }
}

fn text_of(path: &Path) -> std::result::Result<String, String> {
    let bytes = read(path, LARGEST_PAGE).map_err(|skipped| skipped.reason)?;
    String::from_utf8(bytes).map_err(|_| "it is not valid UTF-8".to_owned())
}

fn modified(entry: &std::fs::DirEntry) -> Option<Timestamp> {
    let time = entry.metadata().ok()?.modified().ok()?;
    let since = time.duration_since(UNIX_EPOCH).ok()?;
    Timestamp::from_second(since.as_secs().cast_signed()).ok()
}

impl<'i, 'a> Moving<'i, 'a> {
    /// Begins to import memories of a program; `name` names their file in the report.
    pub(crate) fn new(
        import: &'i mut Import<'a>,
        format: &'static ForeignFormat,
        name: &str,
    ) -> Result<Self> {
        let request = &import.request;
        let settings = &import.engine.settings;
        let place = Namespace {
            collection: request.collection.clone().unwrap_or_else(|| settings.memory_collection.clone()),
            scope: request.scope.unwrap_or(Scope::Project),
            owner: request.owner.clone(),
        };
        if import.report.sources.iter().all(|source| source.source != format.source) {
            let (source, title) = (format.source.to_owned(), format.title.to_owned());
            import.report.sources.push(ImportedSource { source, title, ..ImportedSource::default() });
        }
        let known = match import.foreign.known.remove(format.source) {
            Some(known) => known,
            None => known(import, &place, format.source)?,
        };
        Ok(Self {
            import,
            format,
            name: name.to_owned(),
            place,
            known,
            waiting: Vec::new(),
            ids: HashMap::new(),
            related: Vec::new(),
        })
    }

    fn report(&mut self) -> &mut ImportedSource {
        let source = self.format.source;
        let found = self.import.report.sources.iter_mut().find(|one| one.source == source);
        found.expect("new put the source into the report")
    }

    /// Reports a memory that could not be read.
    pub(crate) fn error(&mut self, place: &str, reason: &str) {
        let place = format!("{}: {place}", self.name);
        self.import.report.error(place, format!("{reason}; it was left out"));
    }

    /// Takes what a reader returned.
    pub(crate) fn parsed(
        &mut self,
        place: &str,
        read: std::result::Result<Option<ForeignMemory>, String>,
    ) -> Result<()> {
        match read {
            Ok(Some(memory)) => self.add(memory)?,
            Ok(None) => {}
            Err(reason) => self.error(place, &reason),
        }
        Ok(())
    }

    /// Takes a memory.
    pub(crate) fn add(&mut self, memory: ForeignMemory) -> Result<()> {
        self.waiting.push(memory);
        if self.waiting.len() >= SORTED { self.tell() } else { Ok(()) }
    }

    /// Tells what is waiting, writes the relations, and ends.
    pub(crate) fn finish(mut self) -> Result<()> {
        self.tell()?;
        self.relate()?;
        let known = std::mem::take(&mut self.known);
        self.import.foreign.known.insert(self.format.source, known);
        Ok(())
    }

    /// Tells the waiting memories in the order of their times, as their authors did.
    fn tell(&mut self) -> Result<()> {
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.sort_by_key(|memory| memory.created);
        for memory in waiting {
            let identity = format!("{}\0{}\0{}", self.format.source, memory.id, memory.text);
            if !self.import.foreign.read.insert(content_hash(identity.as_bytes())) {
                continue;
            }
            self.report().memories += 1;
            self.memory(&memory)?;
            (self.import.progress)(ImportProgress::Items(1));
        }
        Ok(())
    }

    fn find(&mut self, memory: &ForeignMemory, what: FindingKind, reason: &str, other: Option<String>) {
        let text = shown(&memory.text);
        let finding = ImportFinding { what, id: memory.id.clone(), text, reason: reason.to_owned(), other };
        self.report().find(finding);
    }

    fn memory(&mut self, memory: &ForeignMemory) -> Result<()> {
        if memory.stale == Some(Stale::Deleted) {
            let reason = format!("it was deleted in {}; left out", self.format.title);
            self.find(memory, FindingKind::Stale, &reason, None);
            return Ok(());
        }
        let earlier = self.known.get(&memory.id).cloned();
        if let Some(item) = earlier.as_ref().filter(|item| item.content == memory.text.trim()) {
            self.unchanged(memory, item);
            return Ok(());
        }
        if memory.text.len() > MAX_CONTENT_BYTES {
            self.refused(memory, "it is longer than a memory may be; bower index takes documents");
            return Ok(());
        }
        let mut request = self.request(memory);
        // Its program changed the text, and so the new one replaces the one that an earlier import brought.
        let is_standing = |item: &&Item| matches!(item.status, Status::Candidate | Status::Active);
        request.replaces = earlier.as_ref().filter(is_standing).map(|item| item.id.clone());
        let engine = self.import.engine;
        let mut admitted = match admit(engine, &Visibility::everything(), &request, None, self.import.now)? {
            AdmissionOutcome::Refused(curated) => {
                self.refused(memory, curated.reason.as_deref().unwrap_or("admission refused it"));
                return Ok(());
            }
            AdmissionOutcome::Admitted(admitted) => admitted,
        };
        if let Some(item) = earlier.filter(|item| item.content == admitted.memory.content) {
            self.unchanged(memory, &item);
            return Ok(());
        }
        self.format.source.clone_into(&mut admitted.memory.source);
        // Whoever moves in keeps all that the other program kept; prompts leave it out until somebody reviews it.
        admitted.memory.status = if memory.stale.is_some() { Status::Archived } else { Status::Active };
        admitted.memory.valid_to = memory.expires.or(admitted.memory.valid_to);
        match self.decide(&mut admitted)? {
            Outcome::Repeats(id) => {
                if let Some(item) = self.imported_before(&id)? {
                    self.unchanged(memory, &item);
                } else {
                    self.find(memory, FindingKind::Double, "the same text", Some(id.clone()));
                    self.placed(memory, id);
                }
            }
            Outcome::Archived(id) => {
                self.admitted(&admitted.curated);
                self.archived(memory, id);
            }
            Outcome::Kept(id, choice, action) => {
                self.admitted(&admitted.curated);
                self.kept(memory, id, &choice, action);
            }
        }
        Ok(())
    }

    /// Reports what admission cut out of a memory, and what it had to do without.
    fn admitted(&mut self, curated: &Curated) {
        let report = &mut self.import.report;
        report.redacted += u64::from(!curated.redacted.is_empty() || !curated.redacted_fields.is_empty());
        if report.degraded.is_empty() {
            report.degraded.clone_from(&curated.degraded);
        }
    }

    /// Returns the request to keep a memory.
    fn request(&self, memory: &ForeignMemory) -> CurateRequest {
        let mut metadata: Map<String, Value> = memory.metadata.clone();
        metadata.insert(SOURCE_ID.to_owned(), json!(memory.id));
        CurateRequest {
            memory_type: memory.memory_type,
            tags: foreign_tags(&memory.tags),
            metadata,
            collection: Some(self.place.collection.clone()),
            scope: self.place.scope,
            owner: self.place.owner.clone(),
            source_conv_id: memory.conversation.clone(),
            told_time: memory.created,
            said_by: Author::Import,
            ..CurateRequest::new(memory.text.trim())
        }
    }

    /// Decides what becomes of a memory, and writes it unless this is a dry run.
    fn decide(&mut self, admitted: &mut Admitted) -> Result<Outcome> {
        let (engine, now) = (self.import.engine, self.import.now);
        let is_dry = self.import.request.dry_run;
        let text = Analysis::of(&admitted.memory.content);
        let same = admitted.place.memory_id(&admitted.memory.content);
        let is_there = self.import.foreign.planned.has(&same)
            || self.item(&same)?.is_some_and(|item| {
                // A text that was replaced and is current again is told again.
                item.status != Status::Superseded && !self.import.foreign.planned.is_replaced(item.row)
            });
        if is_there && admitted.word.main.is_none() {
            return Ok(Outcome::Repeats(same));
        }
        if admitted.memory.status == Status::Archived {
            let memory = &mut admitted.memory;
            memory.id = free_id(engine, &admitted.place, &memory.content)?;
            let decided = Decided::by_rule(WriteAction::Alone, "import", ANYTHING);
            if is_dry {
                self.import.foreign.planned.archive(same);
            } else {
                engine.store.put_memory(memory, &decided, Stamp { now, actor: ACTOR })?;
                self.import.foreign.written.insert(memory.id.clone());
            }
            return Ok(Outcome::Archived(memory.id.clone()));
        }
        if !is_dry {
            let (kept, choice) = keep(engine, admitted, now)?;
            let action = choice.action(&admitted.memory);
            self.import.foreign.written.insert(kept.id.clone());
            return Ok(Outcome::Kept(kept.id, Box::new(choice), action));
        }
        let newest = engine.store.coverage()?;
        let memory = &mut admitted.memory;
        memory.id.clone_from(&same);
        let planned = &mut self.import.foreign.planned;
        let near = if admitted.word.main.is_some() {
            Vec::new()
        } else {
            let mut near =
                neighbours(engine, &admitted.place, &memory.content, memory.vector.as_ref(), &newest)?;
            near.retain(|one| !planned.is_replaced(one.item.row));
            near.extend(planned.near(&text, memory.vector.as_ref()));
            near
        };
        let choice = choose(engine, memory, &text, &admitted.word, &near, &mut Relations::default())?;
        let action = choice.action(memory);
        planned.write(memory, text, action, now);
        Ok(Outcome::Kept(same, Box::new(choice), action))
    }

    /// Returns a memory that an earlier import of the same program brought.
    fn imported_before(&self, id: &str) -> Result<Option<Item>> {
        if self.import.foreign.written.contains(id) || self.import.foreign.planned.has(id) {
            return Ok(None);
        }
        Ok(self.item(id)?.filter(|item| item.source == self.format.source))
    }

    /// Returns the item with an id.
    fn item(&self, id: &str) -> Result<Option<Item>> {
        let store = &self.import.engine.store;
        let Some((row, _)) = store.rows_by_id(id, &Visibility::everything(), 1)?.pop() else {
            return Ok(None);
        };
        Ok(store.items(&[row])?.pop().flatten())
    }

    fn unchanged(&mut self, memory: &ForeignMemory, item: &Item) {
        // What somebody archived here stays so: only undo brings it back.
        let is_archived = item.status == Status::Archived && memory.stale.is_none();
        self.report().archived += u64::from(is_archived);
        self.report().unchanged += 1;
        self.import.report.unchanged += 1;
        self.placed(memory, item.id.clone());
    }

    fn refused(&mut self, memory: &ForeignMemory, reason: &str) {
        self.import.report.refused += 1;
        self.find(memory, FindingKind::Junk, reason, None);
    }

    /// Remembers where a memory is, for the relations.
    fn placed(&mut self, memory: &ForeignMemory, id: String) {
        if !memory.related.is_empty() {
            self.related.push((id.clone(), memory.related.clone()));
        }
        if let Some(name) = &memory.also_named {
            self.ids.entry(name.clone()).or_insert_with(|| id.clone());
        }
        self.ids.insert(memory.id.clone(), id);
    }

    /// Counts a memory by what became of it.
    fn kept(&mut self, memory: &ForeignMemory, id: String, choice: &Choice, action: WriteAction) {
        let other = choice.other.as_ref().map(|other| other.id.clone());
        match action {
            WriteAction::Confirms(_) | WriteAction::Rewords(_) => {
                self.find(memory, FindingKind::Double, &choice.why, other.clone());
                self.placed(memory, other.unwrap_or(id));
                return;
            }
            WriteAction::Yields(_) => {
                self.import.report.added += 1;
                let reason = format!("{}; kept in the history", choice.why);
                self.find(memory, FindingKind::Stale, &reason, other);
            }
            WriteAction::Alone | WriteAction::Relates(..) => {
                self.import.report.added += 1;
                self.report().kept += 1;
            }
            WriteAction::Disputes(_) => {
                self.import.report.added += 1;
                self.report().kept += 1;
                self.find(memory, FindingKind::Contradiction, &choice.why, other);
            }
            WriteAction::Replaces(_) => {
                self.import.report.updated += 1;
                self.report().kept += 1;
                if let Some(other) = &choice.other {
                    self.replaced(other, choice, &id);
                }
            }
        }
        self.placed(memory, id);
    }

    /// Counts a memory that is not current in its program.
    fn archived(&mut self, memory: &ForeignMemory, id: String) {
        self.import.report.added += 1;
        if let Some(Stale::Archived(reason)) = &memory.stale {
            self.find(memory, FindingKind::Stale, &format!("{reason}; kept as archived"), None);
        }
        self.placed(memory, id);
    }

    /// Reports a memory that another one replaces.
    fn replaced(&mut self, other: &Item, choice: &Choice, by: &str) {
        let id = other.metadata.get(SOURCE_ID).and_then(Value::as_str).unwrap_or(&other.id).to_owned();
        let what =
            if choice.fate == CurateOutcome::Append { FindingKind::Double } else { FindingKind::Stale };
        let reason = format!("replaced by a later one: {}", choice.why);
        let (text, by) = (shown(&other.content), Some(by.to_owned()));
        self.report().find(ImportFinding { what, id, text, reason, other: by });
    }

    /// Writes the relations between the memories.
    fn relate(&mut self) -> Result<()> {
        let now = self.import.now;
        let mut pairs: BTreeSet<(&String, &String)> = BTreeSet::new();
        for (from, targets) in &self.related {
            let found = targets.iter().filter_map(|target| self.ids.get(target)).filter(|to| *to != from);
            pairs.extend(found.map(|to| (from, to)));
        }
        self.report().relations += if self.import.request.dry_run {
            pairs.len() as u64
        } else {
            let relations = pairs.into_iter().map(|(from, to)| relation(from, to, now));
            write_relations(self.import.engine, relations, now)?
        };
        Ok(())
    }
}

/// Returns the memories that earlier imports of a program brought into a namespace, by their ids in that program.
fn known(import: &Import<'_>, place: &Namespace, source: &str) -> Result<HashMap<String, Item>> {
    let select = Selection {
        kinds: vec![Kind::Memory],
        collections: vec![place.collection.clone()],
        scope: Some(place.scope),
        owner: place.owner.clone(),
        sources: vec![source.to_owned()],
        statuses: Status::ALL.to_vec(),
        ..Selection::default()
    };
    let store = &import.engine.store;
    let mut found: HashMap<String, Item> = HashMap::new();
    for rows in store.page(&select, ALL, 0)?.0.chunks(BATCH) {
        for item in store.items(rows)?.into_iter().flatten() {
            // A source may also be the name of a conversation.
            let id = item.metadata.get(SOURCE_ID).and_then(Value::as_str).map(str::to_owned);
            if let Some(id) = id.filter(|_| item.source == source && item.owner == place.owner) {
                // Of several texts under one id, the last one written is what the program had at the last import.
                let is_newer = |known: &Item| known.row < item.row;
                if found.get(&id).is_none_or(is_newer) {
                    found.insert(id, item);
                }
            }
        }
    }
    Ok(found)
}

/// Returns the beginning of a text in one line, without secrets.
fn shown(text: &str) -> String {
    let redacted = gate::redact(text, &gate::Constants::default());
    let text = redacted.as_ref().map_or(text, |redacted| &redacted.text);
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", line[..at].trim_end()),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_come_after_those_that_contain_them() {
        let page = |path: &str| ForeignPage::new(path.to_owned(), "x", None);
        assert_eq!(folders(&[page("a/b/c.md"), page("d.md"), page("a/e.md")]), ["", "a", "a/b"]);
        assert!(is_within("a/b.md", "a") && is_within("a", "a") && is_within("x", ""));
        assert!(!is_within("ab/c.md", "a"));
        assert_eq!(page_below(page("a/b/c.md"), "a/b").path, "c.md");
    }

    #[test]
    fn what_is_shown_is_one_line_without_secrets() {
        assert_eq!(shown("one\n two"), "one two");
        assert_eq!(shown(&"word ".repeat(50)).chars().count(), 100);
        assert!(!shown("the key is AKIAIOSFODNN7EXAMPLQ").contains("AKIAIOSFODNN7EXAMPLQ"));
    }
}
