//! Consolidates memories of one namespace and type that are close in meaning into patterns.
//! The model must not find that a member says anything else than the centre. One transaction writes several clusters, each
//! independent of the others, so a stopped run goes on where it was.

use jiff::Timestamp;
use serde_json::{Map, json};
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::embed::Embedder;
use crate::engine::curate::relations::relation;
use crate::engine::curate::write::free_id;
use crate::engine::late::vector_of;
use crate::engine::maintain::wording::Writer;
use crate::engine::mentions;
use crate::engine::model::embedder_threads;
use crate::engine::timing::milliseconds;
use crate::engine::{ACTOR, Engine};
use crate::error::{Error, Result};
use crate::item::{
    Author, Durability, MemoryType, Provenance, RowId, Scope, Status, Tier, Visibility, strictest,
};
use crate::memory::analysis::Analysis;
use crate::memory::consolidate::{LEAST_MEMBERS, LONGEST, Pattern, clusters, happens, joins, pattern};
use crate::memory::judge::{self, judge_text};
use crate::request::{Cluster, ConsolidateRequest, Consolidated, Item};
use crate::store::{IndexedText, LifecycleRow, Namespace, NewMemory, NewPattern, Stamp};
use crate::vector::{ByteRows, NearPair, Quantised, floats, in_order, near_pairs};

/// Most patterns of one transaction: it holds the store's write lock for some 20 ms, and a killed run loses the second that
/// the model took for them.
const TOGETHER: usize = 64;

/// Memories that may be compared: those of one namespace and sort, none of them pinned.
type Group = (Namespace, Sort);

/// Properties that all memories of a pattern share, beside their namespace. Reviewed and unreviewed memories are in no
/// pattern together, nor are a user's words and those from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Sort {
    memory_type: Option<MemoryType>,
    is_reviewed: bool,
    is_outside: bool,
}

/// A value with its sort.
type OfSort<T> = (Sort, T);

/// Whether memories of a scope and owner are consolidated.
pub(crate) type Within<'a> = &'a dyn Fn(Scope, Option<&str>) -> bool;

/// State of a run over all groups.
struct Run<'a> {
    engine: &'a Engine,
    embedder: &'a dyn Embedder,
    request: &'a ConsolidateRequest,
    /// The language model, if one writes the patterns' texts.
    writer: Option<Writer<'a>>,
    start: Instant,
    now: Timestamp,
    /// Whether the caller still waits for the run.
    go_on: &'a (dyn Fn() -> bool + Sync),
}

/// Consolidates the visible memories that `within` accepts, as long as `go_on` returns true. No cluster crosses a collection,
/// a scope or an owner.
pub(crate) fn consolidate(
    engine: &Engine,
    visibility: &Visibility,
    request: &ConsolidateRequest,
    within: Within<'_>,
    now: Timestamp,
    go_on: &(dyn Fn() -> bool + Sync),
) -> Result<Consolidated> {
    let start = Instant::now();
    if !(request.similarity > 0.0 && request.similarity <= 1.0) {
        let what = format!("similarity {}", request.similarity);
        return Err(Error::invalid(what, "use more than 0 and at most 1; .9 is usual"));
    }
    let embedder = engine.model.get().map_err(|state| Error::ModelNeeded {
        what: "consolidate",
        reason: format!("it compares meanings, and there is no model: {}", state.why()),
    })?;
    let writer = if request.llm { Some(Writer::of(engine, now)?) } else { None };
    let mut groups = groups(engine, &|life| {
        visibility.holds(life.collection, life.scope, life.owner) && within(life.scope, life.owner)
    })?;
    groups.retain(|(_, rows)| rows.len() >= LEAST_MEMBERS);
    let mut done = Consolidated { dry_run: request.dry_run, ..Consolidated::default() };
    let run = Run { engine, embedder, request, writer, start, now, go_on };
    run.groups(&groups, &mut done)?;
    if !visibility.is_everything() {
        done.clusters.iter_mut().for_each(|cluster| cluster.event = None);
    }
    done.llm = run.writer.map(Writer::report);
    done.took_ms = milliseconds(start);
    Ok(done)
}

/// Clusters found in a group.
struct Looked {
    /// Number of members without a vector.
    missing: usize,
    texts: Texts,
    /// Members by their position in the group, each cluster's centre first.
    clusters: Vec<Vec<usize>>,
}

/// Clusters of one transaction, and the patterns to write for them.
type Together = (Vec<Cluster>, Vec<NewPattern>);

/// State of a cluster before it is written.
enum Prepared {
    /// Not examined: time is up.
    Late,
    /// Nothing to do: too little fits into a text, a member is gone, or this very pattern exists already (it may have been
    /// undone).
    Void,
    /// To be written, unless the run is dry.
    Ready(Box<Cluster>, Option<Box<NewPattern>>),
}

impl Run<'_> {
    /// Returns the time that the run may still take; zero if the caller no longer waits.
    fn left(&self) -> Duration {
        if !(self.go_on)() {
            return Duration::ZERO;
        }
        Duration::from_millis(self.request.most_ms).saturating_sub(self.start.elapsed())
    }

    /// Examines groups, prepares transactions and writes them at the same time, because a part of each runs on one thread
    /// alone. Results are taken in the groups' order, whichever comes first.
    fn groups(&self, groups: &[(Group, Vec<RowId>)], done: &mut Consolidated) -> Result<()> {
        let (give, take) = sync_channel::<Together>(1);
        let (tells, told): (Vec<_>, Vec<_>) =
            groups.iter().map(|_| sync_channel::<Result<Looked>>(1)).unzip();
        let work = Mutex::new(groups.iter().zip(tells));
        let next = || work.lock().unwrap_or_else(PoisonError::into_inner).next();
        let (looked, written) = std::thread::scope(|scope| {
            let writer = scope.spawn(move || {
                take.into_iter()
                    .map(|(clusters, patterns)| self.keep(clusters, &patterns))
                    .collect::<Result<Vec<_>>>()
            });
            for _ in 0..embedder_threads(&self.engine.settings).min(groups.len()) {
                scope.spawn(|| {
                    while let Some(((group, rows), tell)) = next() {
                        // If nobody receives it, an earlier group failed.
                        if tell.send(self.look(group, rows)).is_err() {
                            return;
                        }
                    }
                });
            }
            // A thread that panicked sends nothing, and the panic is passed on at the end.
            let mut found =
                groups.iter().zip(told).map_while(|(group, told)| Some((group, told.recv().ok()?)));
            let looked = found.try_for_each(|(((place, _), rows), looked)| {
                let looked = looked?;
                done.without_vector += looked.missing;
                done.compared += rows.len() - looked.missing;
                done.waiting += self.prepare_all(place, rows, &looked, &give)?;
                Ok(())
            });
            drop(found);
            drop(give);
            (looked, writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        });
        for cluster in written?.into_iter().flatten() {
            done.merged += cluster.members.len();
            done.patterns_created += 1;
            done.clusters.push(cluster);
        }
        looked
    }

    /// Finds the clusters of a group.
    fn look(&self, (_, Sort { memory_type, .. }): &Group, rows: &[RowId]) -> Result<Looked> {
        let threads = embedder_threads(&self.engine.settings);
        let (vectors, missing) = vectors(self.engine, self.embedder, rows)?;
        let pairs = near_pairs(&vectors, self.request.similarity, threads);
        drop(vectors);
        if pairs.is_empty() {
            return Ok(Looked { missing, texts: Texts(Vec::new()), clusters: Vec::new() });
        }
        let texts = Texts::load(self.engine, rows, &pairs)?;
        let may: Vec<NearPair> = pairs
            .into_iter()
            .filter(|(one, two, _)| texts.may_join(*one as usize, *two as usize, *memory_type))
            .collect();
        let failed = RefCell::new(None);
        let joins = |centre: usize, other: usize| {
            self.join(&texts, centre, other, *memory_type).unwrap_or_else(|error| {
                failed.borrow_mut().get_or_insert(error);
                false
            })
        };
        let clusters = clusters(rows.len(), &may, &joins);
        match failed.into_inner() {
            Some(error) => Err(error),
            None => Ok(Looked { missing, texts, clusters }),
        }
    }

    /// Whether the model lets a text stand in the pattern of a centre. Of what happened, each telling may be about another
    /// time; all else has to say the same. A model without classifiers objects to nothing. When time is up nobody is asked, and
    /// the cluster waits.
    fn join(
        &self,
        texts: &Texts,
        centre: usize,
        other: usize,
        memory_type: Option<MemoryType>,
    ) -> Result<bool> {
        let Some((centre, other)) = texts.of(centre).zip(texts.of(other)) else { return Ok(false) };
        if self.left().is_zero() {
            return Ok(true);
        }
        let relation = relation(self.engine, centre.text(), other.text())?;
        Ok(relation.is_none_or(|relation| {
            !relation.is_contradiction() && (happens(memory_type) || relation.is_same_or_more())
        }))
    }

    /// Prepares clusters, some at a time, and sends them until the writer ends. Returns the number that wait, because time is
    /// up.
    fn prepare_all(
        &self,
        place: &Namespace,
        rows: &[RowId],
        looked: &Looked,
        give: &SyncSender<Together>,
    ) -> Result<usize> {
        let mut late = 0;
        for together in looked.clusters.chunks(TOGETHER) {
            let prepared = in_order(embedder_threads(&self.engine.settings), together.len(), |nth| {
                if self.left().is_zero() {
                    Ok(Prepared::Late)
                } else {
                    self.prepare(place, &looked.texts, rows, &together[nth])
                }
            });
            let (mut clusters, mut patterns) = (Vec::new(), Vec::new());
            for prepared in prepared {
                match prepared? {
                    Prepared::Late => late += 1,
                    Prepared::Void => {}
                    Prepared::Ready(cluster, pattern) => {
                        clusters.push(*cluster);
                        patterns.extend(pattern.map(|pattern| *pattern));
                    }
                }
            }
            // If nobody receives them, writing failed and returns the error.
            if !clusters.is_empty() && give.send((clusters, patterns)).is_err() {
                break;
            }
        }
        Ok(late)
    }

    /// Reads the members of a cluster, and creates the pattern to write.
    fn prepare(
        &self,
        place: &Namespace,
        texts: &Texts,
        rows: &[RowId],
        members: &[usize],
    ) -> Result<Prepared> {
        let told: Vec<&Analysis> = members.iter().filter_map(|&at| texts.of(at)).collect();
        let Some(mut pattern) = pattern(&told) else { return Ok(Prepared::Void) };
        let asked: Vec<RowId> = pattern.members.iter().map(|&at| rows[members[at]]).collect();
        let mut items: Vec<Item> = self.engine.store.items(&asked)?.into_iter().flatten().collect();
        items.retain(|item| !item.damaged);
        items.sort_by_key(|item| (item.create_time, item.row));
        // The id comes from the members' own words, whoever writes the text: an undone pattern is not made again in other
        // words.
        let id = free_id(self.engine, place, &pattern.content)?;
        let is_there = !self.engine.store.rows_by_id(&id, &Visibility::everything(), 1)?.is_empty();
        if items.len() < asked.len() || is_there {
            return Ok(Prepared::Void);
        }
        let mut cluster = Cluster {
            pattern: None,
            event: None,
            content: pattern.content.clone(),
            memory_type: items[0].memory_type,
            members: items.iter().map(|item| item.id.clone()).collect(),
            written_by: None,
        };
        if self.request.dry_run {
            return Ok(Prepared::Ready(Box::new(cluster), None));
        }
        let written = self.writer.as_ref().and_then(|writer| writer.write(&pattern, &told, self.left()));
        if let Some((text, model)) = written {
            cluster.content.clone_from(&text);
            (pattern.content, cluster.written_by) = (text, Some(model));
        }
        let mut memory = memory(self.embedder, place, &pattern, &items, id)?;
        if let Some(model) = &cluster.written_by {
            memory.metadata.insert("written_by".to_owned(), json!(model));
            // Whatever the members' provenance, these words are a model's.
            let by_model = Provenance { reviewed: true, ..Provenance::told(Author::Agent) };
            memory.provenance = memory.provenance.and(by_model);
        }
        let members = items.iter().map(|item| item.row).collect();
        Ok(Prepared::Ready(Box::new(cluster), Some(Box::new(NewPattern { memory, members }))))
    }

    /// Writes the patterns of some clusters; a dry run has none. Returns the clusters that were written: one of which a
    /// member changed meanwhile is left out.
    fn keep(&self, clusters: Vec<Cluster>, patterns: &[NewPattern]) -> Result<Vec<Cluster>> {
        if patterns.is_empty() {
            return Ok(clusters);
        }
        let events = self.engine.store.put_patterns(patterns, Stamp { now: self.now, actor: ACTOR })?;
        let all = clusters.into_iter().zip(patterns).zip(events);
        Ok(all
            .filter_map(|((cluster, pattern), event)| {
                Some(Cluster { pattern: Some(pattern.memory.id.clone()), event: Some(event?), ..cluster })
            })
            .collect())
    }
}

/// Returns rows by namespace and sort, each in the order in which they were written.
fn groups(engine: &Engine, within: &dyn Fn(&LifecycleRow<'_>) -> bool) -> Result<Vec<(Group, Vec<RowId>)>> {
    let mut places: HashMap<Namespace, Vec<OfSort<Vec<RowId>>>> = HashMap::new();
    let mut rows: Vec<(Namespace, Vec<OfSort<RowId>>)> = Vec::new();
    engine.store.lives(&mut |life| {
        if life.facts.tier == Tier::Pinned || !within(&life) {
            return;
        }
        // Most rows follow others of their namespace: those need no key of their own.
        let is_here = |place: &Namespace| {
            (place.collection.as_str(), place.scope, place.owner.as_deref())
                == (life.collection, life.scope, life.owner)
        };
        let sort = Sort {
            memory_type: life.facts.memory_type,
            is_reviewed: life.provenance.reviewed && life.status == Status::Active,
            is_outside: life.provenance.is_outside(),
        };
        let of = (sort, life.row);
        match rows.last_mut() {
            Some((place, rows)) if is_here(place) => rows.push(of),
            Some(_) | None => {
                let place = Namespace {
                    collection: life.collection.to_owned(),
                    scope: life.scope,
                    owner: life.owner.map(str::to_owned),
                };
                rows.push((place, vec![of]));
            }
        }
    })?;
    for (place, rows) in rows {
        let sorts = places.entry(place).or_default();
        for (sort, row) in rows {
            match sorts.iter_mut().find(|(other, _)| *other == sort) {
                Some((_, rows)) => rows.push(row),
                None => sorts.push((sort, vec![row])),
            }
        }
    }
    let mut groups: Vec<(Group, Vec<RowId>)> = places
        .into_iter()
        .flat_map(|(place, sorts)| sorts.into_iter().map(move |(sort, rows)| ((place.clone(), sort), rows)))
        .collect();
    for (_, rows) in &mut groups {
        rows.sort_unstable();
    }
    groups.sort_unstable_by_key(|(_, rows)| rows.first().copied());
    Ok(groups)
}

/// Returns the vectors of rows, from the index or else from the store, and the number of rows that have none.
fn vectors(engine: &Engine, embedder: &dyn Embedder, rows: &[RowId]) -> Result<(ByteRows, usize)> {
    let (mut vectors, left) = engine.indexes.again(|| {
        let index = engine.indexes.vector(embedder.model(), &*engine.store)?;
        let mut vectors = ByteRows::new(embedder.dimension(), rows.len());
        let left = index.ask(|index| Ok(index.pack(rows, &mut vectors)))?;
        Ok((vectors, left.unwrap_or_else(|| (0..rows.len()).collect())))
    })?;
    let asked: Vec<RowId> = left.iter().map(|&at| rows[at]).collect();
    let mut missing = 0;
    for (at, half) in left.into_iter().zip(engine.store.vectors(embedder.model(), &asked)?) {
        let vector = half.map(|half| Quantised::new(&floats(&half)));
        let is_there = vector.is_some_and(|vector| vectors.put(at, &vector.bytes, vector.scale));
        missing += usize::from(!is_there);
    }
    Ok((vectors, missing))
}

/// Texts that are near others, each at the position of its row.
struct Texts(Vec<Option<Analysis>>);

impl Texts {
    fn load(engine: &Engine, rows: &[RowId], pairs: &[NearPair]) -> Result<Self> {
        let is_centre = centres(rows.len(), pairs.iter());
        // Only possible centres of clusters, and texts near them, are read.
        let wanted = of_centres(pairs.iter(), &is_centre);
        let asked: Vec<RowId> = wanted.iter().map(|&at| rows[at]).collect();
        let places: HashMap<RowId, usize> = asked.iter().copied().zip(wanted).collect();
        let mut texts: Vec<Option<Analysis>> = vec![None; rows.len()];
        for IndexedText { row, text, .. } in engine.store.texts(&asked)? {
            texts[places[&row]] = Some(Analysis::of(&text)).filter(|text| text.text().len() <= LONGEST);
        }
        Ok(Self(texts))
    }

    fn of(&self, at: usize) -> Option<&Analysis> {
        self.0[at].as_ref()
    }

    /// Whether the numbers of two texts let them stand in one pattern.
    fn may_join(&self, one: usize, other: usize, memory_type: Option<MemoryType>) -> bool {
        self.of(one).zip(self.of(other)).is_some_and(|(one, other)| joins(memory_type, one, other))
    }
}

/// Returns for each text whether it is near enough others to be the centre of a cluster.
fn centres<'a>(count: usize, pairs: impl Iterator<Item = &'a NearPair>) -> Vec<bool> {
    let mut near = vec![0_usize; count];
    for &(one, two, _) in pairs {
        near[one as usize] += 1;
        near[two as usize] += 1;
    }
    near.into_iter().map(|near| near + 1 >= LEAST_MEMBERS).collect()
}

/// Returns the centres and the texts near them, ascending.
fn of_centres<'a>(pairs: impl Iterator<Item = &'a NearPair>, is_centre: &[bool]) -> Vec<usize> {
    let mut wanted: Vec<usize> = pairs
        .map(|&(one, two, _)| [one as usize, two as usize])
        .filter(|pair| pair.iter().any(|&at| is_centre[at]))
        .flatten()
        .collect();
    wanted.sort_unstable();
    wanted.dedup();
    wanted
}

/// Creates the memory of a pattern from its members, oldest first.
fn memory(
    embedder: &dyn Embedder,
    place: &Namespace,
    pattern: &Pattern,
    items: &[Item],
    id: String,
) -> Result<NewMemory> {
    let surest = items.iter().map(|item| item.confidence).fold(0.0, f32::max);
    let judged = judge_text(
        &pattern.content,
        MemoryType::Pattern,
        Durability::Lasting,
        surest,
        &judge::Constants::default(),
    );
    let mut tags: Vec<String> = items.iter().flat_map(|item| item.tags.iter().cloned()).collect();
    tags.sort_unstable();
    tags.dedup();
    let told = |item: Option<&Item>| json!(item.map(|item| item.create_time));
    let provenance = Provenance::of_sources(items.iter().map(|item| item.provenance))
        .expect("a pattern stands for three and more");
    let waits = items.iter().any(|item| item.status == Status::Candidate);
    Ok(NewMemory {
        create_time: None,
        id,
        collection: place.collection.clone(),
        memory_type: MemoryType::Pattern,
        delta: mentions::of_memory(&pattern.content, &tags),
        content: pattern.content.clone(),
        summary: judged.summary,
        importance: items.iter().map(|item| item.importance).fold(judged.importance, f32::max),
        confidence: surest,
        decay_rate: items.iter().map(|item| item.decay_rate).fold(judged.decay_rate, f32::min),
        tags,
        keywords: judged.keywords,
        metadata: Map::from_iter([
            ("examples".to_owned(), json!(items.len())),
            ("first_told".to_owned(), told(items.first())),
            ("last_told".to_owned(), told(items.last())),
        ]),
        scope: strictest(&items.iter().map(|item| item.scope).collect::<Vec<_>>()).unwrap_or(place.scope),
        owner: place.owner.clone(),
        status: if waits { Status::Candidate } else { Status::Active },
        tier: Tier::Active,
        source: crate::store::OWN.to_owned(),
        source_conv_id: None,
        provenance,
        host: None,
        valid_from: None,
        valid_to: None,
        anchors: Vec::new(),
        vector: Some(vector_of(embedder, &pattern.content)?),
    })
}

impl Engine {
    /// Replaces memories that say much the same by patterns; the memories are archived as examples. When `go_on` returns
    /// false, it stops before its next transaction and reports what it did.
    pub fn consolidate(
        &self,
        visibility: &Visibility,
        request: &ConsolidateRequest,
        now: Timestamp,
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Result<Consolidated> {
        consolidate(self, visibility, request, &|_, _| true, now, go_on)
    }
}
