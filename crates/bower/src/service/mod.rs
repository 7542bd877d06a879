//! Runs every operation, whatever its source: takes a request body and returns the engine's answer.
//! The command line, hooks, MCP and HTTP call the same functions, so defaults, limits and refusals are decided once.
//!
//! Every call blocks; a server runs it on a thread.

mod answers;
mod bodies;
mod bounds;
mod commits;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
mod graph;
mod tags;

use bower_core::engine::Engine;
use bower_core::item::{Briefing, Origin, Visibility};
use bower_core::request::{
    Answer, Brief, BriefRequest, ConsolidateRequest, Consolidated, CurateRequest, Curated, Documents,
    Feedback, ForgetRequest, Forgetting, Forgotten, History, IndexProgress, IndexReport, IndexRequest, Item,
    Listing, Pinning, PruneRequest, Pruned, QueryRequest, Review, ReviewsRequest, SessionRead,
    SessionRequest, SettledPair, StatusReport, SweepRequest, Swept, ToldTurn, TurnsRequest, UndoRequest,
    Undone,
};
use bower_core::shared::repository_at;
use jiff::Timestamp;
use std::collections::HashSet;
use std::io::{Read, Seek};
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use crate::failure::{Failure, Result};

pub use answers::{Got, HealthReport, Pinned, Reviews, StorePart, StoreState};
pub use bodies::{
    BriefBody, ConsolidateBody, CurateBody, ExportBody, FeedbackBody, ForgetBody, IndexBody, LISTED,
    ListBody, PRUNE_THRESHOLD, PairBody, PinBody, PruneBody, QueryBody, SelectBody, SettleBody, SweepBody,
    TranscriptBody, TurnBody, TurnsBody, UndoBody,
};
pub use bounds::{Access, Bounds, Refused, Served, Via};
pub use graph::{
    AliasBody, AliasesBody, COMMUNITIES, CommunitiesBody, EntityBody, GraphBody, NeighboursBody, PathBody,
    RESOLUTION, RelateBody,
};
pub use tags::{RenameTagsBody, TagsBody};

/// Default number of hits.
const SHOWN: usize = 10;
/// Default tokens of evidence for a model: a budget of 2,048 tokens over 8 results.
pub const EVIDENCE_TOKENS: u32 = 2_048;

/// The operations on one store.
pub struct Service {
    /// Replaced as a whole when another model answers: a request keeps the one that it began with.
    engine: RwLock<Arc<Engine>>,
}

impl std::fmt::Debug for Service {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Service").finish_non_exhaustive()
    }
}

impl Service {
    /// Creates the service for an open store.
    pub fn new(engine: Engine) -> Self {
        Self { engine: RwLock::new(Arc::new(engine)) }
    }

    /// Returns the engine that answers now. A request that calls it more than once asks for it once, so that one model answers.
    pub fn engine(&self) -> Arc<Engine> {
        Arc::clone(&self.engine.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Answers by another engine on the same store from now on. Requests that have begun end with the one before.
    pub fn answer_by(&self, engine: Arc<Engine>) {
        *self.engine.write().unwrap_or_else(PoisonError::into_inner) = engine;
    }

    /// Returns whether the models, the cache and the maintenance are well, for a caller that sees the whole store.
    pub fn health(&self, bounds: &Bounds) -> Served<HealthReport> {
        let engine = self.engine();
        let report = engine.status(&bounds.visibility())?;
        Ok(HealthReport::new(report, engine.degraded()?))
    }

    /// Answers a question.
    pub fn query(&self, body: &QueryBody, bounds: &Bounds, now: Timestamp) -> Served<Answer> {
        let select = body.select.selection(bounds.via, now)?;
        let limit = body.limit.map(usize::from);
        let budget_tokens = body.budget_tokens.map(|tokens| tokens as usize);
        let default = QueryRequest::default();
        let request = QueryRequest {
            text: body.query.clone(),
            limit: limit.unwrap_or(if budget_tokens.is_some() {
                bower_core::engine::MAX_LIMIT
            } else {
                SHOWN
            }),
            fast: body.fast,
            profile: body.profile,
            rerank: body.rerank,
            select,
            when: body.when.unwrap_or(default.when),
            diversity: body.diversity,
            min_score: body.min_score.unwrap_or(default.min_score),
            strict: body.strict,
            budget_tokens,
            session: body.session.clone(),
            prefetch: body.prefetch,
            around: body.around.unwrap_or(0).into(),
            explain: body.explain,
            root: bounds.folder.clone(),
        };
        let mut answer = self.engine().query(&bounds.visibility(), &request, now)?;
        // Evidence may draw on more hits than a list shows by default.
        answer.hits.truncate(limit.unwrap_or(SHOWN));
        Ok(answer)
    }

    /// Keeps a memory.
    pub fn curate(&self, body: &CurateBody, bounds: &Bounds, now: Timestamp) -> Served<Curated> {
        bounds.may(Access::Write)?;
        let place = bounds.place(body.collection.as_deref(), body.scope, body.owner.as_deref())?;
        let request = CurateRequest {
            content: body.content.clone(),
            memory_type: body.memory_type,
            tags: body.tags.clone(),
            metadata: body.metadata.clone(),
            collection: place.collection,
            scope: place.scope,
            owner: place.owner,
            pinned: body.pinned,
            source_conv_id: body.conversation.clone(),
            gate: body.gate,
            told_time: None,
            said_by: bounds.author(body.said_by)?,
            host: bounds.host.clone(),
            replaces: body.replaces.clone(),
            confirms: body.confirms.clone(),
            different_from: body.different_from.clone(),
            root: bounds.folder.clone(),
        };
        Ok(self.engine().curate(&bounds.visibility(), &request, now)?)
    }

    /// Keeps turns of a conversation, and extracts candidates from them. For a caller bound to collections, the turns
    /// go to the candidates' collection.
    pub fn keep_turns(&self, body: &TurnsBody, bounds: &Bounds, now: Timestamp) -> Served<SessionRead> {
        bounds.may(Access::Write)?;
        let place = bounds.place(body.collection.as_deref(), body.scope, body.owner.as_deref())?;
        let told = |turn: &TurnBody| ToldTurn {
            speaker: turn.speaker.clone(),
            text: turn.text.clone(),
            time: turn.time,
            least_trusted: turn.least_trusted,
        };
        let request = TurnsRequest {
            conversation: body.conversation.clone(),
            turns: body.turns.iter().map(told).collect(),
            origin: body.origin.unwrap_or("agent"),
            documents: body
                .documents
                .clone()
                .or_else(|| place.collection.clone().filter(|_| !bounds.collections.is_empty())),
            session: SessionRequest {
                scope: place.named_scope(),
                collection: place.collection,
                owner: place.owner,
                host: bounds.host.clone(),
                folder: body.folder.clone(),
                ..SessionRequest::default()
            },
        };
        Ok(self.engine().keep_turns(&bounds.visibility(), &request, now)?)
    }

    /// Reads the transcript of a session, and extracts candidates. Parts that were read before are not read again.
    pub fn read_session(
        &self,
        body: &TranscriptBody,
        transcript: impl Read + Seek,
        bounds: &Bounds,
        now: Timestamp,
    ) -> Served<SessionRead> {
        bounds.may(Access::Write)?;
        let request = SessionRequest {
            collection: body.collection.clone(),
            scope: body.scope,
            owner: body.owner.clone(),
            folder: body.folder.clone(),
            session: body.session.clone(),
            host: bounds.host.clone(),
            me: body.me.clone(),
            dry_run: body.dry_run,
        };
        Ok(self.engine().read_session(&bounds.visibility(), &body.name, transcript, &request, now)?)
    }

    /// Returns one whole item. Opening an item counts as a use.
    pub fn get(&self, id: &str, bounds: &Bounds, now: Timestamp) -> Served<Got> {
        let visibility = bounds.visibility();
        let engine = self.engine();
        let memory = engine.get(&visibility, id.trim())?;
        let given = engine.exposure(&visibility, &memory)?;
        engine.note_used(&visibility, &memory, now);
        let wordings = engine.wordings(&visibility, &memory)?;
        let check = |folder: &PathBuf| engine.checked_anchors(&memory, folder);
        let anchors = bounds.folder.as_ref().map(check).transpose()?.unwrap_or_default();
        Ok(Got { wordings, anchors, ..Got::new(memory, given, now) })
    }

    /// Returns a page of items, newest first.
    pub fn list(&self, body: &ListBody, bounds: &Bounds, now: Timestamp) -> Served<Listing> {
        let select = body.select.selection(bounds.via, now)?;
        let (limit, offset) = body.page(bounds.via)?;
        Ok(self.engine().list(&bounds.visibility(), &select, limit, offset)?)
    }

    /// Returns at most `most` chunks of the canonical documents, by path and in the order of each document.
    pub fn canonical(&self, bounds: &Bounds, most: usize) -> Served<Vec<Item>> {
        Ok(self.engine().canonical(&bounds.visibility(), most)?)
    }

    /// Returns a page of documents, the last changed first.
    pub fn documents(&self, body: &ListBody, bounds: &Bounds, now: Timestamp) -> Served<Documents> {
        let select = body.select.selection(bounds.via, now)?;
        let (limit, offset) = body.page(bounds.via)?;
        Ok(self.engine().documents(&bounds.visibility(), &select, limit, offset)?)
    }

    /// Deletes items for good. Without `dry_run` a selection needs `confirm`, because it may match more than its writer
    /// expects.
    pub fn forget(&self, body: &ForgetBody, bounds: &Bounds, now: Timestamp) -> Served<Forgotten> {
        bounds.may(Access::Write)?;
        let what = match body.what(bounds.via, now)? {
            ForgetRequest::Selected(_) if !body.dry_run && !body.confirm => {
                return Err(Failure::usage(
                    "a selection is forgotten only with confirm",
                    "look with dry_run first, then ask again with confirm true",
                )
                .into());
            }
            what => what,
        };
        let how = Forgetting { what, keep_derived: body.keep_derived, dry_run: body.dry_run };
        Ok(self.engine().forget(&bounds.visibility(), &how, now)?)
    }

    /// Returns the past versions of a memory, and its events.
    pub fn history(&self, id: &str, bounds: &Bounds) -> Served<History> {
        Ok(self.engine().history(&bounds.visibility(), id.trim())?)
    }

    /// Returns the open reviews, or all.
    pub fn reviews(&self, all: bool, bounds: &Bounds) -> Served<Reviews> {
        Ok(Reviews { reviews: self.engine().reviews(&bounds.visibility(), &ReviewsRequest { all })? })
    }

    /// Settles a review.
    pub fn settle(&self, review: u64, body: &SettleBody, bounds: &Bounds, now: Timestamp) -> Served<Review> {
        bounds.may(Access::Write)?;
        let how = body.settlement(bounds.author(None)?)?;
        Ok(self.engine().settle(&bounds.visibility(), review, &how, now)?)
    }

    /// Settles what a memory is to an earlier one.
    pub fn settle_pair(
        &self,
        id: &str,
        body: &PairBody,
        bounds: &Bounds,
        now: Timestamp,
    ) -> Served<SettledPair> {
        bounds.may(Access::Write)?;
        Ok(self.engine().settle_pair(&bounds.visibility(), &body.request(id)?, now)?)
    }

    /// Applies a person's or an agent's verdict on a memory.
    pub fn feedback(&self, body: &FeedbackBody, bounds: &Bounds, now: Timestamp) -> Served<Feedback> {
        bounds.may(Access::Write)?;
        Ok(self.engine().feedback(&bounds.visibility(), &body.id, body.verdict, now)?)
    }

    /// Pins a memory, or removes its pin.
    pub fn pin(&self, body: &PinBody, bounds: &Bounds, now: Timestamp) -> Served<Pinned> {
        bounds.may(Access::Write)?;
        let how = if body.pinned { Pinning::Pin } else { Pinning::Unpin };
        Ok(Pinned { memory: self.engine().pin(&bounds.visibility(), &body.id, how, now)? })
    }

    /// Returns counts, sizes and the state of the indexes. For a caller with bounds, only items within them are
    /// counted.
    pub fn status(&self, bounds: &Bounds) -> Served<StoreState> {
        let visibility = bounds.visibility();
        if visibility.is_everything() {
            return Ok(StoreState::Whole(Box::new(self.engine().status(&visibility)?)));
        }
        let counted = self.engine().visible_status(&visibility)?;
        Ok(StoreState::Part(Box::new(StorePart::new(bounds, counted))))
    }

    /// Returns the state of the whole store, for the process itself.
    pub fn report(&self) -> Result<StatusReport> {
        Ok(self.engine().status(&Visibility::everything())?)
    }

    /// Runs the daily sweep of the whole store: promotes, fades and archives memories.
    pub fn sweep(&self, body: &SweepBody, bounds: &Bounds, now: Timestamp) -> Served<Swept> {
        bounds.may_all("a sweep")?;
        Ok(self.engine().sweep(&bounds.visibility(), &SweepRequest { dry_run: body.dry_run }, now)?)
    }

    /// Archives memories of low importance, in the whole store.
    pub fn prune(&self, body: &PruneBody, bounds: &Bounds, now: Timestamp) -> Served<Pruned> {
        bounds.may_all("pruning")?;
        let threshold = body.threshold.unwrap_or(PRUNE_THRESHOLD);
        let request = PruneRequest { threshold, dry_run: body.dry_run };
        Ok(self.engine().prune(&bounds.visibility(), &request, now)?)
    }

    /// Returns a briefing for the start of a session.
    pub fn brief(&self, body: &BriefBody, bounds: &Bounds, now: Timestamp) -> Served<Brief> {
        let budget = body.budget.unwrap_or(Briefing::Standard);
        if budget == Briefing::Off {
            return Err(Failure::usage("budget off", "use lite, standard or deep").into());
        }
        body.folder.iter().try_for_each(|folder| bodies::check_absolute(folder, bounds.via))?;
        let visibility = bounds.visibility().narrowed(body.scope, body.owner.as_deref())?;
        let request = BriefRequest {
            budget,
            budget_tokens: body.budget_tokens.map(|tokens| tokens as usize),
            task: body.task.clone(),
            folder: body.folder.as_ref().map(|folder| folder.to_string_lossy().into_owned()),
            root: bounds.folder.as_ref().map(|here| body.folder.as_ref().unwrap_or(here).clone()),
            session: body.session.clone(),
            repeat: body.repeat,
            fast: body.fast,
        };
        Ok(self.engine().brief(&visibility, &request, now)?)
    }

    /// Makes patterns of similar memories, while `go_on` returns true.
    pub fn consolidate(
        &self,
        body: &ConsolidateBody,
        bounds: &Bounds,
        now: Timestamp,
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Served<Consolidated> {
        bounds.may(Access::Write)?;
        let wrong = |seconds: &u32| bounds.via == Via::Wire && !(1..=3_600).contains(seconds);
        if let Some(seconds) = body.seconds.filter(wrong) {
            return Err(Failure::usage(format!("seconds {seconds}"), "use 1 to 3,600").into());
        }
        let visibility = bounds.visibility().narrowed(body.scope, body.owner.as_deref())?;
        let default = ConsolidateRequest::default();
        let request = ConsolidateRequest {
            similarity: body.similarity.unwrap_or(default.similarity),
            dry_run: body.dry_run,
            most_ms: body.seconds.map_or(default.most_ms, |seconds| u64::from(seconds) * 1_000),
            llm: body.llm,
        };
        Ok(self.engine().consolidate(&visibility, &request, now, go_on)?)
    }

    /// Undoes one event, in the whole store; or all that an origin wrote, within the bounds.
    pub fn undo(&self, body: &UndoBody, bounds: &Bounds, now: Timestamp) -> Served<Undone> {
        let UndoBody { event, session, host, source, dry_run } = body.clone();
        let origin = Origin { session, host, source };
        match (event, origin.is_nothing()) {
            (Some(event), true) if !dry_run => {
                bounds.may_all("undo")?;
                Ok(self.engine().undo(&bounds.visibility(), event, now)?)
            }
            (None, false) => {
                bounds.may(Access::Write)?;
                Ok(self.engine().undo_origin(&bounds.visibility(), &UndoRequest { origin, dry_run }, now)?)
            }
            (Some(_), true) => Err(Failure::usage(
                "dry_run is for an origin",
                "memory_history or the event's own answer tells what it did",
            )
            .into()),
            (Some(_), false) => {
                Err(Failure::usage("both an event and an origin are named", "name one of them").into())
            }
            (None, true) => Err(Failure::usage(
                "nothing says what to take back",
                "name an event, or a session, host or source",
            )
            .into()),
        }
    }

    /// Indexes files of this machine, while `go_on` returns true. The caller needs admin access, because it can read
    /// any file that this process can.
    pub fn index(
        &self,
        body: &IndexBody,
        bounds: &Bounds,
        now: Timestamp,
        progress: &(dyn Fn(IndexProgress) + Sync),
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Served<IndexReport> {
        bounds.may(Access::Admin)?;
        let place = bounds.place(body.collection.as_deref(), body.scope, body.owner.as_deref())?;
        if body.paths.is_empty() {
            return Err(Failure::usage("no path is given", "name files or folders").into());
        }
        body.paths.iter().try_for_each(|path| bodies::check_absolute(path, bounds.via))?;
        let request = IndexRequest {
            paths: body.paths.clone(),
            only: body.only.clone(),
            collection: place.collection,
            include: body.include.clone(),
            exclude: body.exclude.clone(),
            scope: place.scope,
            owner: place.owner,
        };
        let engine = self.engine();
        let messages = index_commits(&engine, &request, bounds, now, go_on)?;
        let mut report = engine.index(&bounds.visibility(), &request, now, progress, go_on)?;
        for of_repository in messages {
            report.commits += of_repository.commits;
            report.chunks_added += of_repository.chunks_added;
            report.chunks_removed += of_repository.chunks_removed;
            report.embedded += of_repository.embedded;
            report.took_ms += of_repository.took_ms;
            report.skipped.extend(of_repository.skipped);
        }
        Ok(report)
    }

    /// Does the maintenance that answers do not wait for. Returns whether it wrote to the indexes.
    pub fn maintain(&self, now: Timestamp) -> Result<bool> {
        Ok(self.engine().maintain(now)?)
    }
}

/// Brings the commit messages of the repositories whose roots a request names up to date. A repository that git
/// cannot read is listed as skipped.
fn index_commits(
    engine: &Engine,
    request: &IndexRequest,
    bounds: &Bounds,
    now: Timestamp,
    go_on: &(dyn Fn() -> bool + Sync),
) -> Result<Vec<IndexReport>> {
    let roots = request.paths.iter().filter_map(|path| std::fs::canonicalize(path).ok());
    let repositories: Vec<_> = roots.filter_map(|root| repository_at(&root)).collect();
    // Worktrees have the same messages.
    let mut met = HashSet::new();
    let repositories = repositories.into_iter().filter(|one| met.insert(one.identity.clone()));
    let mut reports = Vec::new();
    for repository in repositories {
        let series =
            commits::series(&repository, request.collection.clone(), request.scope, request.owner.clone());
        let most = engine.settings().index_commits;
        reports.push(match commits::read(&repository, most, &series.prefix) {
            Ok(documents) => {
                let commits = documents.len();
                let report = engine.put_series(&bounds.visibility(), &series, documents, now, go_on)?;
                IndexReport { commits, ..report }
            }
            Err(skipped) => IndexReport { skipped: vec![skipped], ..IndexReport::default() },
        });
    }
    Ok(reports)
}

#[cfg(test)]
mod tests;
