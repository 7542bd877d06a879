//! One question, top to bottom: analyse, retrieve from the channels side by side, rank by the profile, load the best.

use jiff::Timestamp;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError};
use std::time::Instant;

use super::retrieve::{
    self, Retrieved, Scope, TextFound, VectorFound, Vectors, Words, text_channel, vector_channel,
};
use super::{ACTOR, Engine, evidence, keep, missing, order, ranking};
use crate::error::{Error, Result};
use crate::item::{
    Channel, Coverage, Kind, Profile, RowId, RowSet, Scored, Statistics, Status, Visibility, When,
};
use crate::memory::frame::{Frame, Question, seems_to_replace};
use crate::memory::slot::{Slot, slot};
use crate::rank::candidate::{Places, Ranked};
use crate::request::{
    Answer, ChannelEffort, Clocks, Degraded, Effort, Hit, Item, QueryRequest, Selection, Signal,
};
use crate::store::Stamp;
use crate::vector;

/// Rows without a vector that are looked through for those of a selection.
const MOST_WAITING: usize = 1 << 20;

/// Hits that one answer may hold.
pub const MAX_LIMIT: usize = 50;

/// How many rows the channels are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// What the profile asks of each channel for so many hits, or else the settings' `candidates`; never fewer than these.
    Hits(usize),
    /// So many of each, whatever the profile says.
    Rows(usize),
}

/// A request for whole rankings.
#[derive(Clone, Copy, Debug)]
pub struct RankRequest<'a> {
    /// Any Unicode text.
    pub text: &'a str,
    /// How many rows the channels are asked for.
    pub depth: Depth,
    /// Words alone.
    pub fast: bool,
    /// The profile that ranks; the settings' `profile` unless told.
    pub profile: Option<Profile>,
    /// What may be found.
    pub select: &'a Selection,
    /// Rows that are not there for this question.
    pub hide: Option<&'a RowSet>,
    /// What the times in the question do.
    pub when: When,
    /// A channel that is not asked, to see what it is worth.
    pub without: Option<Channel>,
    /// The present: "last week", and profiles in which age counts.
    pub now: Timestamp,
}

impl<'a> RankRequest<'a> {
    /// All channels, by the settings' profile, as for ten hits.
    pub fn new(text: &'a str, select: &'a Selection, now: Timestamp) -> Self {
        let when = When::Soft;
        let depth = Depth::Hits(10);
        Self { text, depth, fast: false, profile: None, select, hide: None, when, without: None, now }
    }
}

/// Rankings by channel and in all.
#[derive(Clone, Debug, Default)]
pub struct Ranking {
    /// Each channel's own list, best first; a channel that did not take part has none.
    pub channels: Vec<(Channel, Vec<Scored>)>,
    /// The answer, best first, each score with its factors.
    pub fused: Vec<Ranked>,
    /// For the first of `fused` (50 at most): the probability that it answers. None in profiles that are not calibrated.
    pub probabilities: Vec<f32>,
    /// What those probabilities were made of.
    pub features: Vec<crate::rank::calibrate::Features>,
    /// The probability that the best ten hold an answer.
    pub answerable: Option<f32>,
    /// What each channel says of each candidate, whichever channel found it, ascending by row.
    pub places: Vec<(RowId, Places)>,
    /// Where a channel cites: the place of a row.
    pub citations: HashMap<RowId, String>,
    /// How similar the question is to the rows at large, where vectors were compared.
    pub background: Option<vector::Background>,
    /// Channels that did not take part, with the reason.
    pub degraded: Vec<Degraded>,
    /// What it cost.
    pub effort: Effort,
    /// The model whose vectors were compared.
    pub model_used: Option<String>,
    pub(super) likeness: order::Likeness,
    /// The frames of memories among the best that were read for whether they fit the question.
    pub(super) frames: HashMap<RowId, Frame>,
}

impl Ranking {
    /// What each channel says of a candidate.
    pub fn places(&self, row: RowId) -> Places {
        let at = self.places.binary_search_by_key(&row, |(row, _)| *row);
        at.map_or_else(|_| Places::default(), |at| self.places[at].1)
    }

    /// A channel's own list, best first.
    pub fn of(&self, channel: Channel) -> &[Scored] {
        self.channels.iter().find(|(one, _)| *one == channel).map_or(&[], |(_, rows)| rows)
    }
}

pub(super) fn query(
    engine: &Engine,
    visibility: &Visibility,
    request: &QueryRequest,
    now: Timestamp,
) -> Result<Answer> {
    let answer = look(engine, visibility, request, now)?;
    evidence::note_shown(engine, answer.hits.iter().map(|hit| hit.memory.row), now);
    keep::note_found(engine, request, &answer.hits, now);
    Ok(answer)
}

/// The same for whoever may show less of it: what is shown is noted by him.
pub(super) fn look(
    engine: &Engine,
    visibility: &Visibility,
    request: &QueryRequest,
    now: Timestamp,
) -> Result<Answer> {
    let start = Instant::now();
    // From here on the selection holds nothing that the caller may not see.
    let request = &QueryRequest { select: request.select.within(visibility)?, ..request.clone() };
    if request.text.trim().is_empty() {
        return Err(Error::invalid("query", "the question is empty; write what you look for"));
    }
    if !(1..=MAX_LIMIT).contains(&request.limit) {
        return Err(Error::invalid(format!("limit {}", request.limit), format!("use 1 to {MAX_LIMIT}")));
    }
    evidence::check(request)?;
    let mut ranking = rank(
        engine,
        &RankRequest {
            text: &request.text,
            depth: Depth::Hits(request.limit),
            fast: request.fast,
            profile: request.profile,
            select: &request.select,
            hide: None,
            when: request.when,
            without: None,
            // Age counts from the past that is asked about, and so does "last week".
            now: request.select.clocks.as_of.unwrap_or(now),
        },
    )?;
    let shown = order::shown(engine, request, &mut ranking)?;
    let known = evidence::Known::of(engine, visibility, request)?;
    let mut unreviewed = 0;
    let mut already_given = request.session.as_ref().map(|_| 0);
    let mut left_out = Vec::new();
    let mut hits = load(engine, &ranking, &shown.hits, request.limit, &mut |item| {
        let given = known.has(item);
        already_given = already_given.map(|count| count + usize::from(given));
        let admitted = evidence::admits(request, item);
        unreviewed += usize::from(!given && !admitted);
        !given && admitted && !leaves_out(item, &mut left_out)
    })?;
    below_successors(&mut hits);
    below_newer(&mut hits, &request.text, &ranking, now);
    let terms = evidence::Terms::of(engine, request);
    let held_back = evidence::hold_back(request, &terms, &ranking, &mut hits)?.map(|held| held + unreviewed);
    let evidence = evidence::pack(engine, visibility, request, &terms, &hits)?;
    ranking.degraded.append(&mut left_out);
    ranking.degraded.extend(missing::degraded(engine)?);
    Ok(Answer {
        query: request.text.clone(),
        hits,
        answerable: ranking.answerable,
        abstained: shown.abstained,
        evidence,
        already_given,
        held_back,
        total_found: ranking.fused.len(),
        took_ms: milliseconds(start),
        model_used: ranking.model_used,
        degraded: ranking.degraded,
        effort: if visibility.is_everything() { ranking.effort } else { ranking.effort.of_a_part() },
    })
}

/// The rows of which a word's rarity is told, where the settings say that these are not all: those of the collections, the scope and
/// the owner that a question names or is bound to, whatever became of them.
pub(super) fn counted(engine: &Engine, select: &Selection) -> Result<Option<Arc<RowSet>>> {
    if engine.settings.statistics == Statistics::Shared {
        return Ok(None);
    }
    let place = Selection {
        collections: select.collections.clone(),
        scope: select.scope,
        owner: select.owner.clone(),
        ..Selection::default()
    };
    if place == Selection::default() {
        return Ok(None);
    }
    engine.store.select(&Selection { statuses: Status::ALL.to_vec(), ..place })
}

/// Whether an item is not as it was written; such a one is named instead of being given.
fn leaves_out(item: &Item, named: &mut Vec<Degraded>) -> bool {
    if item.damaged {
        named.push(missing::left_out(item));
    }
    item.damaged
}

pub(super) fn rank(engine: &Engine, request: &RankRequest<'_>) -> Result<Ranking> {
    // Who meets a damaged index answers by the store.
    engine.indexes.again(|| rank_once(engine, request))
}

fn rank_once(engine: &Engine, request: &RankRequest<'_>) -> Result<Ranking> {
    let words = Words::of(request.text);
    let keep = engine.store.select(request.select)?;
    let newest = engine.store.coverage()?;
    let mut hidden =
        if keep.is_some() { Arc::default() } else { hidden(engine, &newest, request.select.clocks)? };
    if let Some(others) = request.hide {
        Arc::make_mut(&mut hidden).add_all(others);
    }
    let profile = request.profile.unwrap_or(engine.settings.profile);
    let counted = counted(engine, request.select)?;
    let scope = Scope {
        keep: keep.as_deref(),
        hidden: &hidden,
        profile,
        depth: request.depth,
        newest: &newest,
        counted: counted.as_deref(),
    };
    let asks = |channel| request.without != Some(channel);

    let (with_text, with_vectors) = (asks(Channel::Text), asks(Channel::Vector) && !request.fast);
    let Retrieved { text, vectors, known } = if with_text && with_vectors {
        retrieve::both(engine, request.text, &words, &scope)?
    } else {
        let text = (with_text || request.fast).then(|| text_channel(engine, &words, &scope, &mut drop));
        let vectors = with_vectors.then(|| vector_channel(engine, request.text, &scope, &mut drop));
        Retrieved { text, vectors, known: Vec::new() }
    };
    let mut ranking = Ranking::default();
    let text = text.map(|text| take_text(text, &mut ranking));
    let asked_text = text.as_ref().and_then(|text| text.as_ref().ok());
    let vector = vectors.and_then(|vectors| take_vector(engine, vectors, asked_text, &scope, &mut ranking));
    let text = match (text, &vector) {
        (Some(Ok(text)), _) => Some(text),
        (Some(Err(error)), None) => return Err(error),
        (Some(Err(_)) | None, _) => None,
    };
    let start = Instant::now();
    let mut found = ranking::Found { words: &words, text, vector, known };
    match profile {
        Profile::Bower => ranking::by_default(engine, request, &mut found, &mut ranking)?,
        Profile::Athena | Profile::Atlas | Profile::Ade | Profile::Seed => {
            ranking::by_formula(engine, request, &mut found, &scope, &mut ranking)?;
        }
    }
    ranking.background = found.vector.as_ref().map(|vector| vector.scorer.background()).transpose()?;
    ranking.effort.candidates = ranking.fused.len();
    ranking.effort.rank_ms = milliseconds(start);
    Ok(ranking)
}

/// What was replaced stands below what replaced it, where both were asked for.
fn below_successors(hits: &mut Vec<Hit>) {
    // Chains end, so each move is made once.
    while let Some((old, new)) = hits.iter().enumerate().find_map(|(old, hit)| {
        let by = hit.memory.superseded_by_id.as_ref()?;
        let new = hits.iter().rposition(|other| other.memory.id == *by)?;
        (new > old).then_some((old, new))
    }) {
        let hit = hits.remove(old);
        hits.insert(new, hit);
    }
}

/// What tells another value of what a newer memory tells stands below it, though nobody could say for sure that it was replaced.
///
/// A wrong clock may have dated one later than now: it was told before now all the same. Of two of one time the later row was told
/// later.
fn below_newer(hits: &mut Vec<Hit>, question: &str, ranking: &Ranking, now: Timestamp) {
    let is_memory = |hit: &Hit| hit.memory.kind == Kind::Memory;
    if hits.iter().filter(|hit| is_memory(hit)).count() < 2 {
        return;
    }
    let question = Question::of(question);
    let read = |hit: &Hit| {
        let (row, text) = (hit.memory.row, &hit.memory.content);
        let frame = || ranking.frames.get(&row).cloned().unwrap_or_else(|| Frame::of(text));
        is_memory(hit).then(|| (frame(), slot(text)))
    };
    let said: Vec<Option<(Frame, Option<Slot>)>> = hits.iter().map(read).collect();
    let yields = |old: usize, new: usize| {
        let (one, two) = (&hits[old].memory, &hits[new].memory);
        let told = |item: &Item| (item.create_time.min(now), item.row);
        let is_later = told(one) < told(two)
            && (&one.collection, one.scope, &one.owner) == (&two.collection, two.scope, &two.owner);
        let texts = said[old].as_ref().zip(said[new].as_ref()).filter(|_| is_later);
        texts.is_some_and(|((earlier, earlier_slot), (later, later_slot))| {
            let likeness = ranking.likeness.of(one.row, two.row);
            seems_to_replace((earlier, earlier_slot.as_ref()), (later, later_slot.as_ref()), likeness)
                || question.is_answered_anew(earlier, later)
        })
    };
    let order = yielding(hits.len(), yields);
    let mut kept: Vec<Option<Hit>> = std::mem::take(hits).into_iter().map(Some).collect();
    hits.extend(order.into_iter().filter_map(|at| kept[at].take()));
}

/// The order of so many places in which each that yields to a later one stands right behind the last of those.
fn yielding(count: usize, yields: impl Fn(usize, usize) -> bool) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    let mut place = 0;
    // Each step settles a place or moves one down; what would go round ends here.
    for _ in 0..count * 2 {
        let Some(&old) = order.get(place) else { break };
        match (place + 1..count).rev().find(|&new| yields(old, order[new])) {
            Some(new) => order[place..=new].rotate_left(1),
            None => place += 1,
        }
    }
    order
}

/// Rows that no question by these clocks sees.
pub(super) fn hidden(engine: &Engine, newest: &Coverage, clocks: Clocks) -> Result<Arc<RowSet>> {
    engine.hidden.get_of(newest, clocks, || engine.store.hidden(clocks))
}

/// Notes what the text channel did; a failure is named.
fn take_text(found: Result<TextFound>, ranking: &mut Ranking) -> Result<TextFound> {
    match found {
        Ok(found) => {
            note(ranking, Channel::Text, &found.rows, found.tail_rows, found.took_ms);
            note_unusable(ranking, Channel::Text, found.scorer.index.unusable());
            Ok(found)
        }
        Err(error) => {
            ranking.degraded.push(Degraded { channel: Channel::Text.into(), reason: error.to_string() });
            Err(error)
        }
    }
}

/// Names a channel whose index cannot be asked, though its rows were found in the store.
fn note_unusable(ranking: &mut Ranking, channel: Channel, reason: Option<&str>) {
    if let Some(reason) = reason {
        let reason = format!("every row was compared without the index, which is made anew: {reason}");
        ranking.degraded.push(Degraded { channel: channel.into(), reason });
    }
}

/// Notes what the vector channel did; a failure, or rows that it could not have found, are named.
fn take_vector<'a>(
    engine: &Engine,
    found: Result<Vectors<'a>>,
    text: Option<&TextFound>,
    scope: &Scope<'_>,
    ranking: &mut Ranking,
) -> Option<VectorFound<'a>> {
    let reason = match found {
        Ok(Vectors::Found(found)) => {
            note(ranking, Channel::Vector, &found.rows, found.tail_rows, found.took_ms);
            note_unusable(ranking, Channel::Vector, found.scorer.index.unusable());
            ranking.effort.embed_ms = found.embed_ms;
            ranking.effort.vector_cached = found.cached;
            ranking.model_used = Some(found.scorer.model.clone());
            // The counts are cheap and may be off while rows come and go; the store is asked only when they differ.
            if text.is_some_and(|text| found.searched < text.searched)
                && waits(engine, &found.scorer.model, scope)
            {
                let reason = "some items have no vector yet: run bower index, or bower model pull".to_owned();
                ranking.degraded.push(Degraded { channel: Channel::Vector.into(), reason });
            }
            return Some(found);
        }
        Ok(Vectors::Missing(reason)) => reason,
        Err(error) => error.to_string(),
    };
    ranking.degraded.push(Degraded { channel: Channel::Vector.into(), reason });
    None
}

/// Whether some items that the question may find have no vector of the engine's model yet.
fn waits(engine: &Engine, model: &str, scope: &Scope<'_>) -> bool {
    let waits = || engine.store.unembedded(model, 1).map(|rows| !rows.is_empty());
    let some_wait = engine.waits.get(scope.newest, waits).is_ok_and(|waits| *waits);
    let Some(keep) = scope.keep.filter(|_| some_wait) else { return some_wait };
    let waiting = || Ok(engine.store.unembedded(model, MOST_WAITING)?.into_iter().collect());
    let waiting = engine.waiting.get(scope.newest, waiting);
    waiting.is_ok_and(|rows| rows.iter().any(|row| keep.contains(row)))
}

pub(super) fn note(ranking: &mut Ranking, channel: Channel, rows: &[Scored], tail: usize, took_ms: f64) {
    ranking.effort.channels.push(ChannelEffort { channel, candidates: rows.len(), took_ms });
    ranking.effort.tail = ranking.effort.tail.max(tail);
    ranking.channels.push((channel, rows.to_vec()));
}

/// The best hits that are `wanted` as items, with what made them hits.
fn load(
    engine: &Engine,
    ranking: &Ranking,
    shown: &[order::Shown],
    limit: usize,
    wanted: &mut dyn FnMut(&Item) -> bool,
) -> Result<Vec<Hit>> {
    let mut hits = Vec::with_capacity(limit);
    // A row that was removed between search and loading, or is not wanted, gives way to the next.
    for best in shown.chunks(limit) {
        let rows: Vec<_> = best.iter().map(|hit| hit.row).collect();
        for (hit, item) in best.iter().zip(engine.store.items(&rows)?) {
            let Some(memory) = item.filter(&mut *wanted) else { continue };
            let places = ranking.places(hit.row);
            let signal = |&channel: &Channel| {
                places.get(channel).map(|place| Signal { channel, rank: place.rank, score: place.score })
            };
            let same = if hit.same.is_empty() { Vec::new() } else { engine.store.items(&hit.same)? };
            hits.push(Hit {
                memory,
                score: hit.score,
                band: hit.band,
                citation: ranking.citations.get(&hit.row).cloned(),
                duplicates: same.into_iter().flatten().map(|item| item.id).collect(),
                reranked: hit.reranked,
                bm25: places.score(Channel::Text),
                semantic: places.score(Channel::Vector),
                signals: Channel::ALL.iter().filter_map(signal).collect(),
                factors: hit.factors.clone(),
                odds: hit.odds.clone(),
            });
            if hits.len() == limit {
                return Ok(hits);
            }
        }
    }
    Ok(hits)
}

/// Writes the vectors of recent queries to the cache. Best effort: a store that is busy or read-only keeps none.
pub(super) fn keep_query_vectors(engine: &Engine, now: Timestamp) -> Result<()> {
    let fresh = std::mem::take(&mut *engine.fresh_queries.lock().unwrap_or_else(PoisonError::into_inner));
    if fresh.is_empty() {
        return Ok(());
    }
    let stamp = Stamp { now, actor: ACTOR };
    best_effort(engine.store.cache_vectors(&fresh, engine.settings.cached_queries, stamp))
}

/// A write that an answer does not depend on: where the store cannot take it now, it is let go.
pub(super) fn best_effort(written: Result<()>) -> Result<()> {
    match written {
        Ok(()) | Err(Error::ReadOnly { .. } | Error::Busy { .. } | Error::DiskFull { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

pub(super) fn milliseconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_yields_stands_right_behind_the_last_it_yields_to() {
        let newer = |pairs: &'static [(usize, usize)]| move |old, new| pairs.contains(&(old, new));
        assert_eq!(yielding(4, newer(&[(0, 2)])), [1, 2, 0, 3]);
        assert_eq!(yielding(4, newer(&[(0, 1), (0, 3), (1, 3)])), [2, 3, 1, 0]);
        assert_eq!(yielding(3, newer(&[])), [0, 1, 2]);
        assert_eq!(yielding(0, newer(&[])), [0; 0]);
        // Nobody is lost where both yield.
        let mut round = yielding(2, newer(&[(0, 1), (1, 0)]));
        round.sort_unstable();
        assert_eq!(round, [0, 1]);
    }
}
