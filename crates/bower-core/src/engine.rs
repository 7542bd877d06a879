//! The engine: index, query, curate, forget, maintain as straight lines, top to bottom. It calls the rooms in order and
//! does little else; nobody knows the engine but the programs that use it.

mod answer;
mod brief;
mod channels;
mod consolidate;
mod curate;
mod echoes;
mod evidence;
mod export;
mod fold;
mod forget;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
mod health;
mod house;
mod import;
mod indexes;
mod keep;
mod known;
mod late;
mod lookup;
mod missing;
mod model;
mod neighbours;
mod order;
mod pipeline;
mod ranking;
mod rerank;
mod residue;
mod retrieve;
mod review;
mod scorers;
mod scores;
mod secrets;
mod tails;
mod transcript;
mod when;
mod wording;

use jiff::Timestamp;
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use known::Known;

use crate::config::Settings;
use crate::embed::Embedder;
use crate::error::Result;
use crate::item::{Change, Channel, Origin, Rerank, RowId, RowSet, Scope, Scored, Verdict, Visibility};
use crate::llm::Llm;
use crate::request::moving::{ExportRequest, Exported, ImportProgress, ImportRequest, Migrated};
use crate::request::{
    Answer, Brief, BriefRequest, Check, Clocks, ConsolidateRequest, Consolidated, CurateRequest, Curated,
    Degraded, Documents, Feedback, Forgetting, Forgotten, History, House, Housekeeping, IndexProgress,
    IndexReport, IndexRequest, Item, Listing, Loss, Pruned, QueryRequest, Residue, Review, Salvaged,
    Selection, SessionRead, SessionRequest, Settlement, StatusReport, StoreChange, StoreCopy, Swept,
    TurnsRequest, Undone, VisibleStatus,
};
use crate::store::{Given, NewVector, SqliteStore, Stamp, Store, salvage};
use crate::text::Language;

pub use answer::{Depth, MAX_LIMIT, RankRequest, Ranking};
pub use evidence::LEAST_BUDGET;
pub use import::Import;
pub use pipeline::DocumentInput;
pub use rerank::Reranking;

/// The language of the text index. One a store for now; the index carries it, so a change rebuilds the index.
const LANGUAGE: Language = Language::English;

/// Who writes, in events.
const ACTOR: &str = "bower";

/// A store with its indexes and its model, opened in one folder. Cheap to open: nothing is read before it is needed.
pub struct Engine {
    home: PathBuf,
    settings: Settings,
    store: Box<dyn Store>,
    indexes: indexes::Indexes,
    model: model::LocalModel,
    paths: Known<channels::Paths>,
    /// Opened when something is to be reranked.
    cross: rerank::LocalCross,
    /// Handed in by the program, where its user chose one.
    llm: Option<Box<dyn Llm>>,
    /// Query vectors made since the last [`Engine::maintain`], for the cache.
    fresh_queries: Mutex<Vec<(String, NewVector)>>,
    /// Rows that are superseded or archived, or were at the last time that was asked about.
    hidden: Known<RowSet, Clocks>,
    /// Whether some items have no vector yet.
    waits: Known<bool>,
    /// Which.
    waiting: Known<RowSet>,
    /// What the indexes lack, as the last question saw it.
    tails: tails::Tails,
    /// Rows of the places that memories were told to.
    places: Mutex<neighbours::Places>,
    /// Vectors of what was compared without names and values.
    masked: neighbours::Masked,
    /// What answers gave since the last [`Engine::maintain`].
    fresh_exposed: Mutex<Vec<(RowId, Timestamp)>>,
    /// Whether a memory was kept since the last [`Engine::maintain`].
    has_kept: AtomicBool,
    /// Whether an answer missed token codes.
    lacks_codes: AtomicBool,
    /// Whose memories [`Engine::keep_house`] consolidated, and up to which change.
    consolidated: Mutex<house::Upto>,
    /// What was used since the last [`Engine::keep_given`].
    fresh_used: Mutex<Vec<(RowId, Timestamp)>>,
    /// The words of what they gave, to know an echo.
    heard: Mutex<echoes::HeardRows>,
    /// What sessions were given since the last [`Engine::keep_given`].
    fresh_given: Mutex<Vec<(String, Vec<Given>)>>,
}

impl Engine {
    /// Opens the store in `home`, making the folder and the store where there are none.
    pub fn open(home: &Path, settings: Settings, now: Timestamp) -> Result<Self> {
        let store = SqliteStore::open(&store_file(home), &settings, now)?;
        let model = model::LocalModel::new(home, &settings);
        let cross = rerank::LocalCross::new(home, &settings);
        let indexes = indexes::Indexes::new(home.join("index").join(store.identity()));
        Ok(Self {
            home: home.to_path_buf(),
            settings,
            store: Box::new(store),
            indexes,
            model,
            paths: Known::default(),
            cross,
            llm: None,
            fresh_queries: Mutex::default(),
            hidden: Known::default(),
            waits: Known::default(),
            waiting: Known::default(),
            tails: tails::Tails::default(),
            places: Mutex::default(),
            masked: neighbours::Masked::default(),
            fresh_exposed: Mutex::default(),
            has_kept: AtomicBool::new(false),
            lacks_codes: AtomicBool::new(false),
            consolidated: Mutex::default(),
            fresh_used: Mutex::default(),
            heard: Mutex::default(),
            fresh_given: Mutex::default(),
        })
    }

    /// The engine with a language model: for reranking, where somebody asks for it.
    #[must_use]
    pub fn with_llm(self, llm: Box<dyn Llm>) -> Self {
        Self { llm: Some(llm), ..self }
    }

    /// The engine with an embedder of the program's own instead of the local model: one that remembers what it made, say.
    ///
    /// Its [`Embedder::model`] says whose vectors its are; they are compared with those and no others.
    #[must_use]
    pub fn with_embedder(mut self, embedder: Box<dyn Embedder>) -> Self {
        self.model.given(embedder);
        self
    }

    /// Reads files into a collection: walk, parse, compare, embed, commit, fold.
    ///
    /// Only what changed is read again; what vanished is removed; a run that was killed is continued by the next. A path belongs
    /// to one scope and owner, so whoever is bound to one may index nothing.
    ///
    /// It goes on as long as `go_on` says so: asked between documents, from several threads. Then it is [`Error::Cancelled`],
    /// what was committed stays, and the next run goes on from there.
    ///
    /// [`Error::Cancelled`]: crate::error::Error::Cancelled
    pub fn index(
        &self,
        visibility: &Visibility,
        request: &IndexRequest,
        now: Timestamp,
        progress: &(dyn Fn(IndexProgress) + Sync),
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Result<IndexReport> {
        let collection = request.collection.as_ref().unwrap_or(&self.settings.document_collection);
        visibility.check_place(collection, request.scope, request.owner.as_deref())?;
        Visibility { collections: None, ..visibility.clone() }.check_everything("indexing files")?;
        let mut report = pipeline::index_files(self, request, now, progress, go_on)?;
        report.embedded += pipeline::embed_pending(self, now, progress, go_on)?;
        progress(IndexProgress::Folding);
        self.fold(fold::When::Always)?;
        Ok(report)
    }

    /// Adds documents that are not files (a BEIR corpus, a page from elsewhere), the same way as [`Engine::index`]; they are
    /// folded when enough of them wait, so that a few at a time cost what they are. All of them go to one scope and owner.
    pub fn add_documents(
        &self,
        visibility: &Visibility,
        documents: Vec<DocumentInput>,
        (scope, owner): (Scope, Option<String>),
        now: Timestamp,
    ) -> Result<IndexReport> {
        for document in &documents {
            let collection = document.collection.as_ref().unwrap_or(&self.settings.document_collection);
            visibility.check_place(collection, scope, owner.as_deref())?;
        }
        let report = pipeline::add_documents(self, documents, scope, owner, now)?;
        self.fold(fold::When::Due)?;
        Ok(report)
    }

    /// Answers a question: analyse, retrieve from both channels side by side, fuse by row, load.
    pub fn query(&self, visibility: &Visibility, request: &QueryRequest, now: Timestamp) -> Result<Answer> {
        answer::query(self, visibility, request, now)
    }

    /// The ranked rows behind an answer, deeper than an answer goes, channel by channel. For evaluation.
    pub fn rank(&self, visibility: &Visibility, request: &RankRequest<'_>) -> Result<Ranking> {
        let select = request.select.within(visibility)?;
        answer::rank(self, &RankRequest { select: &select, ..*request })
    }

    /// How close the tokens of some rows are to a question's, in the order of `rows`: about -1 to 1, higher is closer; `None`
    /// for rows without token codes, and for all where there is no model. For evaluation: of the whole store alone.
    pub fn late(&self, visibility: &Visibility, text: &str, rows: &[RowId]) -> Result<Vec<Option<f32>>> {
        visibility.check_everything("scoring rows")?;
        let Ok(embedder) = self.model.get() else { return Ok(vec![None; rows.len()]) };
        match late::question(self, embedder, text)?.tokens {
            Some(query) => late::late_interaction(self, &query, rows),
            None => Ok(vec![None; rows.len()]),
        }
    }

    /// What the tags, filename or canonical channel finds by itself, best first, scores 0..1, each with its citation where
    /// the channel cites; other channels are refused. For evaluation and explanation.
    pub fn ask_channel(
        &self,
        visibility: &Visibility,
        channel: Channel,
        question: &str,
        depth: usize,
        select: &Selection,
    ) -> Result<Vec<(Scored, Option<String>)>> {
        let select = &select.within(visibility)?;
        let keep = self.store.select(select)?;
        let hidden = if keep.is_some() { RowSet::new() } else { self.store.hidden(select.clocks)? };
        let allowed = |row| keep.as_ref().is_none_or(|keep| keep.contains(row)) && !hidden.contains(row);
        let counted = answer::counted(self, select)?;
        channels::ask(self, channel, question, depth, &allowed, counted.as_deref())
    }

    /// Reorders the best of a ranking by a cross-encoder or a language model, where their order is still open. `ranked` is best
    /// first, its scores calibrated (0..1); `limit` is how many of them somebody will see. Whatever fails or takes longer than
    /// the settings allow leaves the order as it was, and is named. For evaluation: of the whole store alone.
    pub fn rerank(
        &self,
        visibility: &Visibility,
        question: &str,
        ranked: &[Scored],
        limit: usize,
        how: Rerank,
    ) -> Result<Reranking> {
        visibility.check_everything("scoring rows")?;
        Ok(rerank::rerank(self, question, ranked, limit, how))
    }

    /// The path (or caller's id) of the document of each ranked chunk; rows that are no chunks are passed over. For evaluation:
    /// of the whole store alone.
    pub fn sources(&self, visibility: &Visibility, rows: &[Scored]) -> Result<Vec<String>> {
        visibility.check_everything("looking up rows")?;
        let rows: Vec<_> = rows.iter().map(|hit| hit.row).collect();
        Ok(self.store.documents_of(&rows)?.into_iter().flatten().collect())
    }

    /// Keeps a memory. When this returns, every process finds it.
    pub fn curate(
        &self,
        visibility: &Visibility,
        request: &CurateRequest,
        now: Timestamp,
    ) -> Result<Curated> {
        let curated = curate::curate(self, visibility, request, now)?;
        self.has_kept.fetch_or(curated.accepted, Ordering::Relaxed);
        Ok(curated)
    }

    /// What somebody who begins should know: what is pinned, decided, open, and how things are done. [`Engine::keep_given`] writes
    /// down what a session was given.
    pub fn brief(&self, visibility: &Visibility, request: &BriefRequest, now: Timestamp) -> Result<Brief> {
        brief::brief(self, visibility, request, now)
    }

    /// Reads what is new in the transcript of a session: what was decided, corrected, stated and found out in it becomes
    /// candidates. The same transcript again adds nothing.
    pub fn read_session<R: Read + Seek>(
        &self,
        visibility: &Visibility,
        name: &str,
        reader: R,
        request: &SessionRequest,
        now: Timestamp,
    ) -> Result<SessionRead> {
        transcript::read_session(self, visibility, name, reader, request, now)
    }

    /// Keeps turns of a conversation that a host hands over: each can be found, and what is worth keeping in it becomes a candidate.
    /// The same turn again adds nothing.
    pub fn keep_turns(
        &self,
        visibility: &Visibility,
        request: &TurnsRequest,
        now: Timestamp,
    ) -> Result<SessionRead> {
        transcript::keep_turns(self, visibility, request, now)
    }

    /// A candidate is a memory from now on, or leaves answers: somebody looked at it.
    pub fn judge_candidate(
        &self,
        visibility: &Visibility,
        id: &str,
        keeps: bool,
        now: Timestamp,
    ) -> Result<Item> {
        keep::judge_candidate(self, visibility, id, keeps, now)
    }

    /// An item by its id or a prefix of at least 6 digits that only it has. What is not visible is not found, and makes no prefix
    /// ambiguous; so it is in every method that takes an id.
    pub fn get(&self, visibility: &Visibility, id: &str) -> Result<Item> {
        lookup::get(self, visibility, id)
    }

    /// Items of a selection, newest first.
    pub fn list(
        &self,
        visibility: &Visibility,
        select: &Selection,
        limit: usize,
        offset: usize,
    ) -> Result<Listing> {
        lookup::list(self, &select.within(visibility)?, limit, offset)
    }

    /// Removes items from every table and index, with what was made of them, and says what went. When it returns, no file of the
    /// store and its indexes holds a trace, or the answer says what stood in the way. Whoever sees a part of the store is told
    /// nothing of other files.
    pub fn forget(&self, visibility: &Visibility, how: &Forgetting, now: Timestamp) -> Result<Forgotten> {
        forget::forget(self, visibility, how, now)
    }

    /// Where some words stand below the home, in whatever file.
    pub fn residue(&self, visibility: &Visibility, words: &str) -> Result<Residue> {
        visibility.check_everything("a search of all files")?;
        residue::search(self, words)
    }

    /// What a memory said at each time, and what happened to it, oldest first. Works for items that are gone, where everything is
    /// visible: whose they were nobody knows any more.
    pub fn history(&self, visibility: &Visibility, id: &str) -> Result<History> {
        lookup::history(self, visibility, id)
    }

    /// The number of the store's last change, whoever made it. It counts what everybody does: not to be told to whoever sees a
    /// part of the store.
    pub fn last_change(&self) -> Result<u64> {
        Ok(self.store.coverage()?.change.0)
    }

    /// What was done to visible items after a change, by any process, oldest first, and the last change that was looked at; at
    /// most `most` changes are looked at. Of what was forgotten nobody knows any more whose it was.
    pub fn changes_after(
        &self,
        visibility: &Visibility,
        change: u64,
        most: usize,
    ) -> Result<(Vec<StoreChange>, u64)> {
        let (changes, last) = self.store.changes(visibility, Change(change), most)?;
        Ok((changes, last.0))
    }

    /// A page of the documents that have a chunk in a selection, the last changed first.
    pub fn documents(
        &self,
        visibility: &Visibility,
        select: &Selection,
        limit: usize,
        offset: usize,
    ) -> Result<Documents> {
        self.store.document_page(&select.within(visibility)?, limit, offset)
    }

    /// Contradictions that nothing could settle and of which both sides are visible: the open ones, or all, oldest first.
    pub fn reviews(&self, visibility: &Visibility, all: bool) -> Result<Vec<Review>> {
        review::list(self, visibility, all)
    }

    /// Ends a review.
    pub fn settle(
        &self,
        visibility: &Visibility,
        review: u64,
        how: &Settlement,
        now: Timestamp,
    ) -> Result<Review> {
        review::settle(self, visibility, review, how, now)
    }

    /// What somebody says of a memory moves its confidence; one that is stale leaves answers.
    pub fn feedback(
        &self,
        visibility: &Visibility,
        id: &str,
        verdict: Verdict,
        now: Timestamp,
    ) -> Result<Feedback> {
        keep::feedback(self, visibility, id, verdict, now)
    }

    /// Pins a memory, so that it never fades, or takes the pin out.
    pub fn pin(&self, visibility: &Visibility, id: &str, pinned: bool, now: Timestamp) -> Result<Item> {
        keep::pin(self, visibility, id, pinned, now)
    }

    /// How often answers gave an item, and when last; none where they never did, or it is not visible. That is no use of it.
    pub fn exposure(&self, visibility: &Visibility, item: &Item) -> Result<Option<(u64, Timestamp)>> {
        if item.is_visible(visibility) { self.store.exposure(item.row) } else { Ok(None) }
    }

    /// Notes that somebody opened an item: that is a use. [`Engine::keep_given`] writes it down.
    pub fn note_used(&self, visibility: &Visibility, item: &Item, now: Timestamp) {
        let visible = item.is_visible(visibility).then_some(item.row);
        keep::note_used(self, visible.into_iter(), now);
    }

    /// What the day brings: candidates are promoted, what nobody uses fades and is archived, scopes keep their limits.
    pub fn sweep(&self, visibility: &Visibility, dry_run: bool, now: Timestamp) -> Result<Swept> {
        visibility.check_everything("a sweep")?;
        keep::sweep(self, dry_run, now)
    }

    /// Archives memories whose effective importance is below a threshold, 0..1; never decisions, procedures, what is pinned or
    /// never decays.
    pub fn prune(
        &self,
        visibility: &Visibility,
        threshold: f64,
        dry_run: bool,
        now: Timestamp,
    ) -> Result<Pruned> {
        visibility.check_everything("pruning")?;
        keep::prune(self, threshold, dry_run, now)
    }

    /// Patterns in the place of memories that say much the same; these are archived as its examples. As long as `go_on` says so: then
    /// it stops at its next transaction, and tells what it did.
    pub fn consolidate(
        &self,
        visibility: &Visibility,
        request: &ConsolidateRequest,
        now: Timestamp,
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Result<Consolidated> {
        consolidate::consolidate(self, visibility, request, &|_, _| true, now, go_on)
    }

    /// Takes back what the transaction of an event did, as far as nothing changed it since.
    pub fn undo(&self, visibility: &Visibility, event: u64, now: Timestamp) -> Result<Undone> {
        visibility.check_everything("undo")?;
        keep::undo(self, event, now)
    }

    /// Takes back all that one origin wrote, as far as it is visible: its memories and turns
    /// leave answers, what they had replaced comes back. The event of it is undone as a whole.
    pub fn undo_origin(
        &self,
        visibility: &Visibility,
        origin: &Origin,
        dry_run: bool,
        now: Timestamp,
    ) -> Result<Undone> {
        keep::undo_origin(self, visibility, origin, dry_run, now)
    }

    /// Counts, sizes and the state of the indexes.
    pub fn status(&self, visibility: &Visibility) -> Result<StatusReport> {
        visibility.check_everything("status")?;
        health::status(self)
    }

    /// The same for whoever sees a part of the store: counts of what is visible, and nothing of the rest.
    pub fn visible_status(&self, visibility: &Visibility) -> Result<VisibleStatus> {
        health::visible_status(self, visibility)
    }

    /// The indexes (`text`, `vectors`, `tokens`) that cannot be asked and wait to be made anew, each with the reason. Until then the
    /// store answers, slowly.
    pub fn unusable_indexes(&self) -> Result<Vec<(&'static str, String)>> {
        health::unusable(self)
    }

    /// Copies the store into a new file, as it is at one moment; writers go on meanwhile. The copy is examined before it gets its
    /// name.
    pub fn backup(&self, visibility: &Visibility, to: &Path) -> Result<StoreCopy> {
        visibility.check_everything("a backup")?;
        self.store.backup(to)
    }

    /// Puts a copy in the place of the store in `home`, once it was found whole; what was there is kept beside it. Who has the
    /// store open sees the copy from then on. The indexes are built anew.
    pub fn restore(home: &Path, from: &Path, settings: Settings, now: Timestamp) -> Result<StoreCopy> {
        let copied = SqliteStore::restore(&store_file(home), from, &settings, now)?;
        Self::open(home, settings, now)?.fold(fold::When::Always)?;
        Ok(copied)
    }

    /// Writes a selection as JSON lines that lose nothing: a header, then one piece a line. `name` is where to, for errors.
    pub fn export_lines(
        &self,
        visibility: &Visibility,
        request: &ExportRequest,
        out: &mut dyn Write,
        name: &Path,
        now: Timestamp,
    ) -> Result<Exported> {
        export::lines(self, visibility, &request.within(visibility)?, out, name, now)
    }

    /// Writes the memories of a selection into a folder, one file each, to be read and edited; [`Engine::import_folder`] takes
    /// the edits back.
    pub fn export_folder(
        &self,
        visibility: &Visibility,
        request: &ExportRequest,
        folder: &Path,
    ) -> Result<Exported> {
        export::folder(self, &request.within(visibility)?, folder)
    }

    /// Writes what agents load at their start: `MEMORY.md`, and a file for each type, in so many tokens.
    pub fn export_digest(
        &self,
        visibility: &Visibility,
        request: &ExportRequest,
        folder: &Path,
        budget_tokens: usize,
    ) -> Result<Exported> {
        export::digest(self, &request.within(visibility)?, folder, budget_tokens)
    }

    /// Begins an import: files are given to it one after the other, and [`Import::finish`] ends it. Files say themselves where
    /// their items go, so it is for whoever sees the whole store.
    pub fn import<'a>(
        &'a self,
        visibility: &Visibility,
        request: ImportRequest,
        now: Timestamp,
        progress: &'a (dyn Fn(ImportProgress) + Sync),
    ) -> Result<Import<'a>> {
        visibility.check_everything("an import")?;
        Ok(Import::new(self, request, now, progress))
    }

    /// Takes over the memories that `brv` keeps below a folder.
    pub fn migrate_from_brv(
        &self,
        visibility: &Visibility,
        path: &Path,
        dry_run: bool,
        now: Timestamp,
    ) -> Result<Migrated> {
        visibility.check_everything("an import")?;
        import::migrate(self, path, dry_run, now)
    }

    /// Changes that were acknowledged and are missing, and that nobody has accepted.
    pub fn losses(&self) -> Result<Vec<Loss>> {
        self.store.losses()
    }

    /// What of the store is missing or damaged, as answers tell it.
    pub fn degraded(&self) -> Result<Vec<Degraded>> {
        missing::degraded(self)
    }

    /// Ends the telling of what is missing, and removes what was kept of it; how many losses that were.
    pub fn accept_losses(&self, now: Timestamp) -> Result<u64> {
        self.store.accept_losses(Stamp { now, actor: ACTOR })
    }

    /// Writes what can be read of the store in `home`, whose files may be damaged, into a new store in the folder `into`. Nothing in
    /// `home` is changed.
    pub fn salvage(home: &Path, into: &Path, settings: &Settings, now: Timestamp) -> Result<Salvaged> {
        salvage::salvage(&store_file(home), into, settings, now)
    }

    /// Examines store, indexes and model.
    pub fn doctor(&self, visibility: &Visibility) -> Result<Vec<Check>> {
        visibility.check_everything("an examination")?;
        health::doctor(self)
    }

    /// Gives vectors to items that have none of the present model; how many it gave.
    pub fn embed_pending(&self, now: Timestamp, progress: &(dyn Fn(IndexProgress) + Sync)) -> Result<usize> {
        pipeline::embed_pending(self, now, progress, &|| true)
    }

    /// Whether a session has anything that it was given, as far as that is remembered.
    pub fn was_given(&self, visibility: &Visibility, session: &str) -> Result<bool> {
        let name = evidence::session_name(session, visibility);
        Ok(!evidence::Known::of_session(self, &name)?.is_empty()
            || !evidence::Known::of_session(self, &evidence::questions_of(&name))?.is_empty())
    }

    /// A session that was cleared or compacted has lost what it was given, and is given it again where it is asked for. Best effort:
    /// a store that is busy or read-only changes nothing. Nobody else keeps what this engine gave ([`Engine::keep_given`]) meanwhile.
    pub fn lose_given(&self, visibility: &Visibility, session: &str) -> Result<()> {
        let name = evidence::session_name(session, visibility);
        for name in [evidence::questions_of(&name), name] {
            if evidence::Known::of_session(self, &name)?.is_empty() {
                continue;
            }
            let mut fresh = self.fresh_given.lock().unwrap_or_else(PoisonError::into_inner);
            let lost = fresh.iter_mut().filter(|(of, _)| *of == name).flat_map(|(_, given)| given);
            lost.for_each(|given| given.text_hash = Given::LOST);
            drop(fresh);
            answer::best_effort(self.store.lose_given(&name))?;
        }
        Ok(())
    }

    /// What the last answer gave a session and nobody was shown: some rows of it. It is given where it is asked for again. To be
    /// called before [`Engine::keep_given`].
    pub fn not_shown(&self, visibility: &Visibility, session: &str, rows: &[RowId]) {
        let name = evidence::session_name(session, visibility);
        let mut fresh = self.fresh_given.lock().unwrap_or_else(PoisonError::into_inner);
        for (_, given) in fresh.iter_mut().filter(|(of, _)| *of == name) {
            given.retain(|given| !rows.contains(&given.row));
        }
    }

    /// Remembers what sessions were given since the last time, so that they are not given it again. [`Engine::maintain`]
    /// does this too; whoever does not call that calls this after the answer is out.
    pub fn keep_given(&self, now: Timestamp) -> Result<()> {
        keep::keep_uses(self)?;
        evidence::keep_given(self, now)
    }

    /// Does what an answer must not wait for: keeps the vectors of recent queries, folds the indexes' tails where they are long,
    /// sweeps once a day where a memory was kept, and notes the time that the store trusts.
    ///
    /// True where something was folded; false where nothing was due or another process is at it.
    pub fn maintain(&self, now: Timestamp) -> Result<bool> {
        self.keep_given(now)?;
        answer::keep_query_vectors(self, now)?;
        keep::note_time(self, now)?;
        if self.has_kept.swap(false, Ordering::Relaxed) {
            keep::sweep_when_due(self, now)?;
        }
        // What somebody who was killed began to forget comes first.
        let purged = answer::best_effort(self.purge(fold::When::Due, None, now).map(drop));
        let folded = self.fold(fold::When::Due)?;
        self.store.trim_log()?;
        self.model.add_sums();
        purged.map(|()| folded)
    }

    /// What a process that lives long does from time to time, beside its answers: sweeps once a day, prunes where that is
    /// wished, consolidates whoever holds 80 % of a limit (once, until something is told again), and does what
    /// [`Engine::maintain`] does. A part that fails is named, and the others are done.
    pub fn keep_house(&self, house: &House, now: Timestamp) -> Housekeeping {
        house::keep(self, house, now)
    }
}

/// The truth, in its home.
fn store_file(home: &Path) -> PathBuf {
    home.join("memory.db")
}
