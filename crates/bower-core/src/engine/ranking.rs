//! From what the channels found to one order: true scores for every candidate, then the profile's formula.

use jiff::Timestamp;

use super::Engine;
use super::answer::Ranking;
use super::retrieve::{TextFound, VectorFound, Words};
use crate::error::Result;
use crate::item::{Channel, Facts, Profile, RowId, Scored};
use crate::rank::candidate::{self, Candidate, Place, Places};
use crate::rank::profile::{ade, athena, atlas, bower, seed};
use crate::text::Examined;

/// What the channels found for one question.
pub(super) struct Found<'a> {
    pub(super) words: &'a Words,
    pub(super) text: Option<TextFound>,
    pub(super) vector: Option<Box<VectorFound>>,
}

/// Ranks by the default profile.
pub(super) fn by_default(engine: &Engine, found: &Found<'_>, ranking: &mut Ranking) -> Result<()> {
    let gathered = gather(ranking);
    let rows: Vec<RowId> = gathered.iter().map(|(row, _)| *row).collect();
    let scores = Scores::of(engine, found, &rows)?;
    let seen: Vec<bower::Seen<'_>> = (0..rows.len()).map(|at| scores.seen(at, rows[at])).collect();
    let background = found.vector.as_ref().map(|vector| vector.background).unwrap_or_default();
    let background =
        bower::Background { rows: background.rows, mean: background.mean, deviation: background.deviation() };
    let constants = &engine.settings.bower;
    ranking.fused = bower::rank(&seen, &background, constants);
    if let Some(vector) = &found.vector {
        let best: Vec<RowId> =
            ranking.fused.iter().take(constants.neighbourhood).map(|one| one.row).collect();
        bower::gain_from_neighbours(&mut ranking.fused, &vector.likenesses(engine, &best)?, constants);
    }
    scores.complete(gathered, ranking);
    Ok(())
}

/// Ranks by a source system's formula.
pub(super) fn by_formula(
    engine: &Engine,
    profile: Profile,
    found: &Found<'_>,
    now: Timestamp,
    ranking: &mut Ranking,
) -> Result<()> {
    let gathered = gather(ranking);
    let rows: Vec<RowId> = gathered.iter().map(|(row, _)| *row).collect();
    Scores::of(engine, found, &rows)?.complete(gathered, ranking);
    let items = engine.store.items(&rows)?;
    let candidates: Vec<Candidate> = rows
        .iter()
        .zip(items)
        .filter_map(|(row, item)| {
            let item = item?;
            let facts = Facts {
                kind: item.kind,
                memory_type: item.memory_type,
                importance: item.importance,
                confidence: item.confidence,
                access_count: item.access_count,
                decay_rate: item.decay_rate,
                created: item.create_time,
                accessed: item.access_time,
                tier: item.tier,
                asked_time: None,
            };
            let places = ranking.places.get(row).copied().unwrap_or_default();
            Some(Candidate { row: *row, places, facts })
        })
        .collect();
    let settings = &engine.settings;
    ranking.fused = match profile {
        Profile::Athena => athena::rank(&candidates, &settings.athena, now),
        Profile::Atlas => atlas::rank(&candidates, &settings.atlas),
        Profile::Ade => ade::rank(&candidates, &settings.ade, now),
        Profile::Seed | Profile::Bower => seed::rank(&candidates, &settings.seed, now),
    };
    Ok(())
}

/// The channels' candidates, each once, with its places, ascending by row.
fn gather(ranking: &Ranking) -> Vec<(RowId, Places)> {
    let lists: Vec<(Channel, &[Scored])> =
        ranking.channels.iter().map(|(channel, rows)| (*channel, rows.as_slice())).collect();
    candidate::gather(&lists)
}

/// True scores of all candidates, in their order.
struct Scores {
    words: Examined,
    parents: Vec<u64>,
    cosines: Vec<Option<f32>>,
    tokens: Vec<Option<f32>>,
}

impl Scores {
    fn of(engine: &Engine, found: &Found<'_>, rows: &[RowId]) -> Result<Self> {
        let words = match &found.text {
            Some(text) => text.examine(found.words, rows)?,
            None => Examined { rows: vec![Default::default(); rows.len()], ..Examined::default() },
        };
        // The index knows the parents of what it holds; only those of newer rows are asked of the store.
        let newer: Vec<usize> = (0..rows.len()).filter(|&at| words.rows[at].parent.is_none()).collect();
        let mut parents: Vec<u64> = words.rows.iter().map(|row| row.parent.unwrap_or(0)).collect();
        if !newer.is_empty() {
            let asked: Vec<RowId> = newer.iter().map(|&at| rows[at]).collect();
            for (at, parent) in newer.into_iter().zip(engine.store.parents(&asked)?) {
                parents[at] = parent;
            }
        }
        let cosines =
            found.vector.as_ref().map_or_else(|| vec![None; rows.len()], |vector| vector.cosines(rows));
        let tokens = match &found.vector {
            Some(vector) => vector.tokens(engine, rows)?,
            None => vec![None; rows.len()],
        };
        Ok(Self { words, parents, cosines, tokens })
    }

    fn seen(&self, at: usize, row: RowId) -> bower::Seen<'_> {
        let words = self.words.rows[at];
        bower::Seen {
            row,
            text: words.score,
            parts: self.words.parts_of(at),
            speaker: words.speaker,
            parent: self.parents[at],
            vector: self.cosines[at],
            tokens: self.tokens[at],
            time: 0.0,
        }
    }

    /// Gives every candidate its score in the channels that did not list it.
    fn complete(&self, gathered: Vec<(RowId, Places)>, ranking: &mut Ranking) {
        let took_part = |channel| ranking.channels.iter().any(|(one, _)| *one == channel);
        let (text, vector) = (took_part(Channel::Text), took_part(Channel::Vector));
        for (at, (row, mut places)) in gathered.into_iter().enumerate() {
            let score = self.words.rows[at].score;
            if text && places.get(Channel::Text).is_none() && score > 0.0 {
                places.set(Channel::Text, Place { rank: None, score });
            }
            if let (true, None, Some(score)) = (vector, places.get(Channel::Vector), self.cosines[at]) {
                places.set(Channel::Vector, Place { rank: None, score });
            }
            ranking.places.insert(row, places);
        }
    }
}

/// A score on the scale 0..1.
pub(super) fn shown(score: f32) -> f32 {
    1.0 / (1.0 + (-score).exp())
}
