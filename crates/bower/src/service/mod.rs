//! What agents may ask, whatever the wire: a body in, the engine's answer out. MCP and HTTP call the same functions, so that what
//! one of them refuses the other refuses too.
//!
//! Every call blocks: a server hands it to a thread.

mod answers;
mod bodies;
mod bounds;

use bower_core::engine::Engine;
use bower_core::item::{Briefing, Kind, MemoryType, Reach};
use bower_core::request::{
    Answer, Brief, BriefRequest, ConsolidateRequest, Consolidated, CurateRequest, Curated, Documents,
    Feedback, ForgetRequest, Forgetting, Forgotten, History, IndexProgress, IndexReport, IndexRequest, Item,
    Listing, ModelState, Pruned, QueryRequest, Review, Selection, SessionRead, SessionRequest, Swept,
    ToldTurn, TurnsRequest, Undone,
};
use jiff::Timestamp;

use crate::failure::{Failure, Result};

pub use answers::{BoundTo, Got, Pinned, Reviews, StorePart, StoreState};
pub use bodies::{
    BriefBody, ConsolidateBody, CurateBody, FeedbackBody, ForgetBody, IndexBody, ListBody, PRUNE_THRESHOLD,
    PinBody, PruneBody, QueryBody, SelectBody, SettleBody, SweepBody, TurnBody, TurnsBody, UndoBody, Words,
    select, what_goes,
};
pub use bounds::{Access, Bounds, Place, Refused};

/// Hits, unless told otherwise.
pub const SHOWN: usize = 10;

/// One store, for whoever asks over a wire.
pub struct Service {
    engine: Engine,
}

impl std::fmt::Debug for Service {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Service").finish_non_exhaustive()
    }
}

/// What a service answers: the engine's answer, or why not.
pub type Served<T> = std::result::Result<T, Refused>;

impl Service {
    /// For a store that is open.
    pub fn new(engine: Engine) -> Self {
        Self { engine }
    }

    /// The engine, for what has no bounds: maintenance, health.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Answers a question.
    pub fn query(&self, body: &QueryBody, bounds: &Bounds, now: Timestamp) -> Served<Answer> {
        let select = bounds.narrow(select(&body.select, Words::Fields, now)?)?;
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
        };
        let mut answer = self.engine.query(&request, now).map_err(Failure::from)?;
        // The budget drew on more hits than a list of them shows.
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
        };
        Ok(self.engine.curate(&request, now).map_err(Failure::from)?)
    }

    /// Keeps turns of a conversation, and what is worth keeping in them as candidates. Whoever is bound to collections keeps the
    /// turns in that of the candidates.
    pub fn keep_turns(&self, body: &TurnsBody, bounds: &Bounds, now: Timestamp) -> Served<SessionRead> {
        bounds.may(Access::Write)?;
        let place = bounds.place(body.collection.as_deref(), body.scope, body.owner.as_deref())?;
        let told = |turn: &TurnBody| ToldTurn {
            speaker: turn.speaker.clone(),
            text: turn.text.clone(),
            time: turn.time,
        };
        let request = TurnsRequest {
            conversation: body.conversation.clone(),
            turns: body.turns.iter().map(told).collect(),
            origin: "agent",
            documents: if bounds.collections.is_empty() { None } else { place.collection.clone() },
            session: SessionRequest {
                scope: place.named_scope(),
                collection: place.collection,
                owner: place.owner,
                ..SessionRequest::default()
            },
        };
        Ok(self.engine.keep_turns(&request, now).map_err(Failure::from)?)
    }

    /// One whole item. Who opens an item uses it.
    pub fn get(&self, id: &str, bounds: &Bounds, now: Timestamp) -> Served<Got> {
        let memory = self.item(id, bounds)?;
        let got = Got::new(&self.engine, memory, now)?;
        self.engine.note_used(&got.memory, now);
        Ok(got)
    }

    /// A page of items, newest first.
    pub fn list(&self, body: &ListBody, bounds: &Bounds, now: Timestamp) -> Served<Listing> {
        let select = bounds.narrow(select(&body.select, Words::Fields, now)?)?;
        let (limit, offset) = body.page()?;
        Ok(self.engine.list(&select, limit, offset).map_err(Failure::from)?)
    }

    /// A page of documents, the last changed first.
    pub fn documents(&self, body: &ListBody, bounds: &Bounds, now: Timestamp) -> Served<Documents> {
        let select = bounds.narrow(select(&body.select, Words::Fields, now)?)?;
        let (limit, offset) = body.page()?;
        Ok(self.engine.documents(&select, limit, offset).map_err(Failure::from)?)
    }

    /// Removes items for good. Without `dry_run` a selection needs `confirm`: it may hold more than its writer thinks.
    pub fn forget(&self, body: &ForgetBody, bounds: &Bounds, now: Timestamp) -> Served<Forgotten> {
        bounds.may(Access::Write)?;
        let wanted = select(&body.select, Words::Fields, now)?;
        let what = match what_goes(&body.ids, wanted, Words::Fields)? {
            ForgetRequest::Selected(_) if !body.dry_run && !body.confirm => {
                return Err(Failure::usage(
                    "a selection is forgotten only with confirm",
                    "look with dry_run first, then ask again with confirm true",
                )
                .into());
            }
            ForgetRequest::Selected(wanted) => ForgetRequest::Selected(Box::new(bounds.narrow(*wanted)?)),
            // Each must be within the bounds before any of them goes.
            ForgetRequest::Ids(ids) => {
                let found = ids.iter().map(|id| self.item(id, bounds)).collect::<Served<Vec<_>>>()?;
                ForgetRequest::Ids(found.into_iter().map(|item| item.id).collect())
            }
        };
        let how = Forgetting {
            what,
            keep_derived: body.keep_derived,
            reach: bounds.reach(),
            dry_run: body.dry_run,
        };
        Ok(self.engine.forget_as(&how, now).map_err(Failure::from)?)
    }

    /// What a memory said at each time, and what happened to it.
    pub fn history(&self, id: &str, bounds: &Bounds) -> Served<History> {
        if !bounds.collections.is_empty() {
            self.item(id, bounds)?;
        }
        Ok(self.engine.history_within(id.trim(), &bounds.reach()).map_err(Failure::from)?)
    }

    /// Contradictions that nothing could settle: the open ones, or all.
    pub fn reviews(&self, all: bool, bounds: &Bounds) -> Served<Reviews> {
        let mut reviews = self.engine.reviews_within(all, &bounds.reach()).map_err(Failure::from)?;
        reviews.retain(|review| bounds.holds(&review.newer) && bounds.holds(&review.older));
        Ok(Reviews { reviews })
    }

    /// Ends a review.
    pub fn settle(&self, review: u64, body: &SettleBody, bounds: &Bounds, now: Timestamp) -> Served<Review> {
        bounds.may(Access::Write)?;
        let how = body.settlement()?;
        if !bounds.collections.is_empty()
            && !self.reviews(false, bounds)?.reviews.iter().any(|open| open.review == review)
        {
            let missing = bower_core::Error::NotFound { what: "open review", id: review.to_string() };
            return Err(Failure::from(missing).into());
        }
        Ok(self.engine.settle_within(review, &how, now, &bounds.reach()).map_err(Failure::from)?)
    }

    /// Keeps what somebody says of a memory.
    pub fn feedback(&self, body: &FeedbackBody, bounds: &Bounds, now: Timestamp) -> Served<Feedback> {
        bounds.may(Access::Write)?;
        let item = self.item(&body.id, bounds)?;
        Ok(self.engine.feedback(&item.id, body.verdict, &bounds.reach(), now).map_err(Failure::from)?)
    }

    /// Pins a memory, or takes the pin out.
    pub fn pin(&self, body: &PinBody, bounds: &Bounds, now: Timestamp) -> Served<Pinned> {
        bounds.may(Access::Write)?;
        let item = self.item(&body.id, bounds)?;
        let memory = self.engine.pin(&item.id, body.pinned, &bounds.reach(), now).map_err(Failure::from)?;
        Ok(Pinned { memory })
    }

    /// Counts, sizes and the state of the indexes. Whoever is bound is told what is within the bounds, counted there.
    pub fn status(&self, bounds: &Bounds) -> Served<StoreState> {
        let report = self.engine.status().map_err(Failure::from)?;
        if bounds.is_everything() {
            return Ok(StoreState::Whole(Box::new(report)));
        }
        let within = bounds.narrow(Selection::default())?;
        let count = |select: Selection| -> Served<u64> {
            Ok(self.engine.list(&select, 0, 0).map_err(Failure::from)?.total as u64)
        };
        let of_kind = |kind| Selection { kinds: vec![kind], ..within.clone() };
        let by_type = MemoryType::ALL.iter().map(|&memory_type| {
            let select = Selection { types: vec![memory_type], ..of_kind(Kind::Memory) };
            Ok((memory_type.to_string(), count(select)?))
        });
        let names = report.by_collection.into_keys().filter(|name| bounds.has_collection(name));
        let by_collection = names.map(|name| {
            let select = Selection { collections: vec![name.clone()], ..within.clone() };
            Ok((name, count(select)?))
        });
        let some = |counted: Served<(String, u64)>| {
            counted.map(|one| Some(one).filter(|(_, count)| *count > 0)).transpose()
        };
        // What a scope holds in all its collections is more than somebody reaches who is bound to some.
        let mut scopes = if bounds.collections.is_empty() { report.scopes } else { Vec::new() };
        scopes.retain(|held| bounds.reach().holds(held.scope, held.owner.as_deref()));
        Ok(StoreState::Part(Box::new(StorePart {
            total_memories: count(of_kind(Kind::Memory))?,
            total_chunks: count(of_kind(Kind::Chunk))?,
            by_type: by_type.filter_map(some).collect::<Served<_>>()?,
            by_collection: by_collection.filter_map(some).collect::<Served<_>>()?,
            scopes,
            index_healthy: report.index_healthy,
            // Why a model is not there names folders of this machine.
            model: ModelState { reason: None, ..report.model },
            bound_to: BoundTo {
                scope: bounds.scope,
                owner: bounds.owner.clone(),
                collections: bounds.collections.clone(),
            },
        })))
    }

    /// What the day brings, to the whole store.
    pub fn sweep(&self, body: &SweepBody, bounds: &Bounds, now: Timestamp) -> Served<Swept> {
        bounds.may_all("a sweep")?;
        Ok(self.engine.sweep(body.dry_run, now).map_err(Failure::from)?)
    }

    /// Archives what is too weak, in the whole store.
    pub fn prune(&self, body: &PruneBody, bounds: &Bounds, now: Timestamp) -> Served<Pruned> {
        bounds.may_all("pruning")?;
        let threshold = body.threshold.unwrap_or(PRUNE_THRESHOLD);
        Ok(self.engine.prune(threshold, body.dry_run, now).map_err(Failure::from)?)
    }

    /// What somebody who begins should know.
    pub fn brief(&self, body: &BriefBody, bounds: &Bounds, now: Timestamp) -> Served<Brief> {
        bounds.all_collections("a briefing")?;
        let budget = body.budget.unwrap_or(Briefing::Standard);
        if budget == Briefing::Off {
            return Err(Failure::usage("budget off", "use lite, standard or deep").into());
        }
        let folder = body.folder.as_deref().map(bodies::whole).transpose()?;
        let wanted = Reach { scope: body.scope, owner: body.owner.clone() };
        let request = BriefRequest {
            budget,
            budget_tokens: body.budget_tokens.map(|tokens| tokens as usize),
            task: body.task.clone(),
            folder: folder.map(|folder| folder.to_string_lossy().into_owned()),
            reach: bounds.within(&wanted)?,
            session: body.session.clone(),
            repeat: body.repeat,
            fast: body.fast,
        };
        Ok(self.engine.brief(&request, now).map_err(Failure::from)?)
    }

    /// Patterns in the place of memories that say much the same, as long as `go_on` says so.
    pub fn consolidate(
        &self,
        body: &ConsolidateBody,
        bounds: &Bounds,
        now: Timestamp,
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Served<Consolidated> {
        bounds.may(Access::Write)?;
        bounds.all_collections("consolidation")?;
        if let Some(seconds) = body.seconds.filter(|seconds| !(1..=3_600).contains(seconds)) {
            return Err(Failure::usage(format!("seconds {seconds}"), "use 1 to 3,600").into());
        }
        let wanted = Reach { scope: body.scope, owner: body.owner.clone() };
        let default = ConsolidateRequest::default();
        let request = ConsolidateRequest {
            similarity: body.similarity.unwrap_or(default.similarity),
            dry_run: body.dry_run,
            reach: bounds.within(&wanted)?,
            most_ms: body.seconds.map_or(default.most_ms, |seconds| u64::from(seconds) * 1_000),
            llm: body.llm,
        };
        Ok(self.engine.consolidate(&request, now, go_on).map_err(Failure::from)?)
    }

    /// Takes back what an event did, in the whole store.
    pub fn undo(&self, body: &UndoBody, bounds: &Bounds, now: Timestamp) -> Served<Undone> {
        bounds.may_all("undo")?;
        Ok(self.engine.undo(body.event, now).map_err(Failure::from)?)
    }

    /// Indexes files of this machine, as long as `go_on` says so: for whoever may read whatever this process may read.
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
        let paths = bodies::absolute(&body.paths)?;
        let request = IndexRequest {
            paths,
            collection: place.collection,
            include: body.include.clone(),
            exclude: body.exclude.clone(),
            scope: place.scope,
            owner: place.owner,
        };
        Ok(self.engine.index_while(&request, now, progress, go_on).map_err(Failure::from)?)
    }

    /// Does what an answer must not wait for.
    pub fn maintain(&self, now: Timestamp) -> Result<bool> {
        Ok(self.engine.maintain(now)?)
    }

    /// An item within the bounds, by its id; anything else is not found.
    pub fn item(&self, id: &str, bounds: &Bounds) -> Served<Item> {
        let item = self.engine.get_within(id.trim(), &bounds.reach()).map_err(Failure::from)?;
        if bounds.holds(&item) {
            Ok(item)
        } else {
            let missing = bower_core::Error::NotFound { what: "item", id: id.trim().to_string() };
            Err(Failure::from(missing).into())
        }
    }
}

#[cfg(test)]
mod tests;
