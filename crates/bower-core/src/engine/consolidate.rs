//! Patterns in the place of memories that say much the same: near by meaning, of one place and type, with no claim that
//! differs. Each cluster is one transaction of its own, so that a run that was stopped goes on where it was.

use jiff::Timestamp;
use serde_json::{Map, json};
use std::cell::OnceCell;
use std::collections::HashMap;
use std::time::Instant;

use super::answer::milliseconds;
use super::curate::free_id;
use super::late::vector_of;
use super::{ACTOR, Engine, LANGUAGE};
use crate::embed::Embedder;
use crate::error::{Error, Result};
use crate::item::{MemoryType, Reach, RowId, Status, Tier, strictest};
use crate::memory::claims::Claims;
use crate::memory::consolidate::{LEAST_MEMBERS, LONGEST, Pattern, clusters, joins, numbers, pattern};
use crate::memory::judge::{self, judge_text};
use crate::request::{Cluster, ConsolidateRequest, Consolidated, Item};
use crate::store::{IndexedText, NewMemory, Place, Stamp};
use crate::text;
use crate::vector::{NearPair, Quantised, floats, near_pairs};

/// Memories that may be compared: of one place and type, none of them pinned.
type Group = (Place, Option<MemoryType>);

pub(super) fn consolidate(
    engine: &Engine,
    request: &ConsolidateRequest,
    now: Timestamp,
) -> Result<Consolidated> {
    let start = Instant::now();
    if !(request.similarity > 0.0 && request.similarity <= 1.0) {
        let what = format!("similarity {}", request.similarity);
        return Err(Error::invalid(what, "use more than 0 and at most 1; .9 is usual"));
    }
    let embedder = engine.model.get().map_err(|state| {
        Error::invalid("consolidate", format!("it compares meanings, and there is no model: {}", state.why()))
    })?;
    let mut groups = groups(engine, &request.reach)?;
    groups.retain(|(_, rows)| rows.len() >= LEAST_MEMBERS);
    let mut done = Consolidated { dry_run: request.dry_run, ..Consolidated::default() };
    for ((place, memory_type), rows) in groups {
        let (rows, vectors) = vectors(engine, embedder, &rows)?;
        done.without_vector += rows.missing;
        done.compared += rows.found.len();
        let pairs = near_pairs(&vectors, request.similarity);
        if pairs.is_empty() {
            continue;
        }
        let mut texts = Texts::default();
        texts.load(engine, &rows.found, &pairs, memory_type)?;
        let found = clusters(rows.found.len(), &pairs, &mut |one, other| texts.join(one, other, memory_type));
        for members in found {
            if start.elapsed().as_millis() >= u128::from(request.most_ms) {
                done.waiting += 1;
                continue;
            }
            let told: Vec<(&str, &Claims)> = members.iter().filter_map(|&at| texts.of(at)).collect();
            let Some(pattern) = pattern(&told) else { continue };
            let asked: Vec<RowId> = pattern.members.iter().map(|&at| rows.found[members[at]]).collect();
            let items: Vec<Item> = engine.store.items(&asked)?.into_iter().flatten().collect();
            if items.len() < asked.len() {
                // One of them was forgotten meanwhile.
                continue;
            }
            if let Some(cluster) = keep(engine, embedder, &place, &pattern, &items, request.dry_run, now)? {
                done.merged += cluster.members.len();
                done.patterns_created += 1;
                done.clusters.push(cluster);
            }
        }
    }
    done.took_ms = milliseconds(start);
    Ok(done)
}

/// Rows by place and type, each in the order in which they were written.
fn groups(engine: &Engine, reach: &Reach) -> Result<Vec<(Group, Vec<RowId>)>> {
    let mut groups: HashMap<Group, Vec<RowId>> = HashMap::new();
    engine.store.lives(&mut |life| {
        if life.facts.tier == Tier::Pinned || !reach.holds(life.scope, life.owner) {
            return;
        }
        let place = Place {
            collection: life.collection.to_owned(),
            scope: life.scope,
            owner: life.owner.map(str::to_owned),
        };
        groups.entry((place, life.facts.memory_type)).or_default().push(life.row);
    })?;
    let mut groups: Vec<_> = groups.into_iter().collect();
    for (_, rows) in &mut groups {
        rows.sort_unstable();
    }
    groups.sort_unstable_by_key(|(_, rows)| rows.first().copied());
    Ok(groups)
}

/// Rows that can be compared, and how many cannot.
struct Compared {
    found: Vec<RowId>,
    missing: usize,
}

/// The vectors of rows: from the index, and from the store where it does not hold them.
fn vectors(engine: &Engine, embedder: &dyn Embedder, rows: &[RowId]) -> Result<(Compared, Vec<Quantised>)> {
    let index = engine.indexes.vector(embedder.model(), &*engine.store)?;
    let mut vectors = match index.good() {
        Some(index) => index.quantised(rows),
        None => vec![None; rows.len()],
    };
    let lacking: Vec<usize> = (0..rows.len()).filter(|&at| vectors[at].is_none()).collect();
    let asked: Vec<RowId> = lacking.iter().map(|&at| rows[at]).collect();
    for (at, half) in lacking.into_iter().zip(engine.store.vectors(embedder.model(), &asked)?) {
        vectors[at] = half.map(|half| Quantised::new(&floats(&half)));
    }
    let (found, vectors): (Vec<RowId>, Vec<Quantised>) =
        rows.iter().copied().zip(vectors).filter_map(|(row, vector)| Some((row, vector?))).unzip();
    let missing = rows.len() - found.len();
    Ok((Compared { found, missing }, vectors))
}

/// A text that is near another. What it claims is read when somebody has to know.
struct Near {
    text: String,
    numbers: Option<u64>,
    claims: OnceCell<Claims>,
}

/// The texts that are near others, read once.
#[derive(Default)]
struct Texts(HashMap<usize, Near>);

impl Texts {
    fn load(
        &mut self,
        engine: &Engine,
        rows: &[RowId],
        pairs: &[NearPair],
        memory_type: Option<MemoryType>,
    ) -> Result<()> {
        let mut near = vec![0_usize; rows.len()];
        for &(one, two, _) in pairs {
            near[one as usize] += 1;
            near[two as usize] += 1;
        }
        // Who is near a centre of three is near somebody who is near two.
        let is_centre = |at: u32| near[at as usize] + 1 >= LEAST_MEMBERS;
        let mut wanted: Vec<usize> = pairs
            .iter()
            .filter(|(one, two, _)| is_centre(*one) || is_centre(*two))
            .flat_map(|&(one, two, _)| [one as usize, two as usize])
            .collect();
        wanted.sort_unstable();
        wanted.dedup();
        let asked: Vec<RowId> = wanted.iter().map(|&at| rows[at]).collect();
        let places: HashMap<RowId, usize> = asked.iter().copied().zip(wanted).collect();
        for IndexedText { row, text, .. } in engine.store.texts(&asked)? {
            let numbers = numbers(memory_type, &text);
            self.0.insert(places[&row], Near { text, numbers, claims: OnceCell::new() });
        }
        Ok(())
    }

    fn of(&self, at: usize) -> Option<(&str, &Claims)> {
        let near = self.0.get(&at)?;
        Some((&near.text, near.claims.get_or_init(|| Claims::of(&near.text))))
    }

    /// Whether two may stand in one pattern: what is cheap to tell first.
    fn join(&self, one: usize, other: usize, memory_type: Option<MemoryType>) -> bool {
        let (Some(first), Some(second)) = (self.0.get(&one), self.0.get(&other)) else { return false };
        if first.numbers != second.numbers || first.text.len().max(second.text.len()) > LONGEST {
            return false;
        }
        match (self.of(one), self.of(other)) {
            (Some((_, one)), Some((_, other))) => joins(memory_type, one, other),
            (None, _) | (_, None) => false,
        }
    }
}

/// Writes a pattern, unless this is only looked at; `None` where a member changed meanwhile, or somebody took this very pattern
/// back before.
fn keep(
    engine: &Engine,
    embedder: &dyn Embedder,
    place: &Place,
    pattern: &Pattern,
    items: &[Item],
    dry_run: bool,
    now: Timestamp,
) -> Result<Option<Cluster>> {
    let mut oldest_first: Vec<&Item> = items.iter().collect();
    oldest_first.sort_by_key(|item| (item.create_time, item.row));
    let (Some(first), Some(last)) = (oldest_first.first(), oldest_first.last()) else { return Ok(None) };
    let mut cluster = Cluster {
        pattern: None,
        event: None,
        content: pattern.content.clone(),
        memory_type: first.memory_type,
        members: oldest_first.iter().map(|item| item.id.clone()).collect(),
    };
    if dry_run {
        return Ok(Some(cluster));
    }
    let surest = items.iter().map(|item| item.confidence).fold(0.0, f32::max);
    let judged =
        judge_text(&pattern.content, Some(MemoryType::Pattern), surest, &judge::Constants::default());
    let mut tags: Vec<String> = items.iter().flat_map(|item| item.tags.iter().cloned()).collect();
    tags.sort_unstable();
    tags.dedup();
    let memory = NewMemory {
        id: free_id(engine, place, &pattern.content)?,
        collection: place.collection.clone(),
        memory_type: MemoryType::Pattern,
        terms: text::encode_terms(&pattern.content, LANGUAGE),
        content: pattern.content.clone(),
        summary: judged.summary,
        importance: items.iter().map(|item| item.importance).fold(judged.importance, f32::max),
        confidence: surest,
        decay_rate: items.iter().map(|item| item.decay_rate).fold(judged.decay_rate, f32::min),
        tags,
        keywords: judged.keywords,
        metadata: Map::from_iter([
            ("examples".to_owned(), json!(items.len())),
            ("first_told".to_owned(), json!(first.create_time)),
            ("last_told".to_owned(), json!(last.create_time)),
        ]),
        scope: strictest(&items.iter().map(|item| item.scope).collect::<Vec<_>>()).unwrap_or(place.scope),
        owner: place.owner.clone(),
        status: Status::Active,
        tier: Tier::Active,
        source: crate::store::OWN.to_owned(),
        source_conv_id: None,
        slot: None,
        valid_from: None,
        valid_to: None,
        vector: Some(vector_of(embedder, &pattern.content)?),
    };
    let rows: Vec<RowId> = oldest_first.iter().map(|item| item.row).collect();
    let Some(kept) = engine.store.put_pattern(&memory, &rows, Stamp { now, actor: ACTOR })? else {
        return Ok(None);
    };
    cluster.pattern = Some(memory.id);
    cluster.event = Some(kept);
    Ok(Some(cluster))
}
