//! Computes every candidate's score in each channel, whichever channel found it.

use std::sync::{Mutex, PoisonError};

use crate::engine::Engine;
use crate::engine::query::plan::Words;
use crate::engine::query::scorers::{TextScorer, VectorScorer};
use crate::error::Result;
use crate::item::{Channel, RowId, Scored};
use crate::rank::calibrate;
use crate::rank::candidate::{self, ChannelScore, Places};
use crate::rank::profile::native;
use crate::store::SESSION;
use crate::text::{Examined, Language};

/// Number of best rows of a channel that late interaction scores: 128 rows at most of two channels. It is the most expensive
/// part of ranking, and no labelled set distinguishes 64 from 100 (mean nDCG@10 .6137 and .6141 over six).
const TOKENS_DEPTH: usize = 64;

/// A question's scorers; `None` for a channel that takes no part.
#[derive(Clone, Copy)]
pub(crate) struct Scorers<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) words: &'a Words,
    pub(crate) text: Option<&'a TextScorer>,
    pub(crate) vector: Option<&'a VectorScorer<'a>>,
}

/// Scores of some candidates, ascending by row.
pub(crate) struct Scores {
    rows: Vec<RowId>,
    pub(crate) words: Examined,
    parents: Vec<u64>,
    cosines: Vec<Option<f32>>,
    pub(crate) tokens: Vec<Option<f32>>,
    /// Whether late interaction was computed for a row.
    compared: Vec<bool>,
    /// The question's language, if that is certain.
    asked_in: Option<Language>,
}

/// Rows that are scored before both channels are done: the first channel to finish scores its own rows, the other those that
/// are left.
#[derive(Default)]
pub(crate) struct EagerScores {
    taken: Mutex<Vec<RowId>>,
}

impl EagerScores {
    /// Scores the rows of a channel that the other channel has not taken.
    pub(crate) fn score(&self, scorers: Scorers<'_>, channel: Channel, rows: &[Scored]) -> Result<Scores> {
        let mut gathered = candidate::gather(&[(channel, rows)]);
        {
            let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
            gathered.retain(|(row, _)| taken.binary_search(row).is_err());
            taken.extend(gathered.iter().map(|(row, _)| *row));
            taken.sort_unstable();
        }
        Scores::of(scorers, &gathered)
    }
}

fn is_high(places: &Places) -> bool {
    Channel::ALL.iter().any(|&channel| places.rank(channel).is_some_and(|rank| rank <= TOKENS_DEPTH))
}

impl Scores {
    /// Computes the scores of candidates, which ascend by row.
    fn of(scorers: Scorers<'_>, gathered: &[(RowId, Places)]) -> Result<Self> {
        let rows: Vec<RowId> = gathered.iter().map(|(row, _)| *row).collect();
        let words = match scorers.text {
            Some(text) => text.examine(scorers.words, &rows)?,
            None => Examined::unknown(rows.len()),
        };
        // The index has the parents of its rows; only those of newer rows are read from the store.
        let newer: Vec<usize> = (0..rows.len()).filter(|&at| words.rows[at].parent.is_none()).collect();
        let mut parents: Vec<u64> = words.rows.iter().map(|row| row.parent.unwrap_or(0)).collect();
        if !newer.is_empty() {
            let asked: Vec<RowId> = newer.iter().map(|&at| rows[at]).collect();
            for (at, parent) in newer.into_iter().zip(scorers.engine.store.parents(&asked)?) {
                parents[at] = parent;
            }
        }
        let mut cosines: Vec<Option<f32>> =
            gathered.iter().map(|(_, places)| places.score(Channel::Vector)).collect();
        if let Some(vector) = scorers.vector {
            let (places, unknown): (Vec<usize>, Vec<RowId>) =
                (0..rows.len()).filter(|&at| cosines[at].is_none()).map(|at| (at, rows[at])).unzip();
            for (at, cosine) in places.into_iter().zip(vector.cosines(&unknown)?) {
                cosines[at] = cosine;
            }
        }
        let (tokens, compared) = (vec![None; rows.len()], vec![false; rows.len()]);
        let asked_in = scorers.words.language;
        let mut scores = Self { rows, words, parents, cosines, tokens, compared, asked_in };
        scores.compare_tokens(scorers, gathered)?;
        Ok(scores)
    }

    /// Returns the scores of all candidates, ascending by row: `known` ones are reused, the rest are computed.
    ///
    /// `known` were computed by the same scorers; their scores of rows that are not candidates are ignored.
    pub(crate) fn complete(
        scorers: Scorers<'_>,
        gathered: &[(RowId, Places)],
        known: Vec<Self>,
    ) -> Result<Self> {
        if known.is_empty() {
            return Self::of(scorers, gathered);
        }
        let is_known = |row: &RowId| known.iter().any(|part| part.rows.binary_search(row).is_ok());
        let rest: Vec<(RowId, Places)> = gathered.iter().filter(|(row, _)| !is_known(row)).copied().collect();
        let mut parts = known;
        parts.push(Self::of(scorers, &rest)?);
        let first = &parts[0].words;
        let mut all = Self {
            rows: Vec::with_capacity(gathered.len()),
            words: Examined {
                names: first.names.clone(),
                ..Examined::new(0, first.weights.clone(), first.idf_sum)
            },
            parents: Vec::with_capacity(gathered.len()),
            cosines: Vec::with_capacity(gathered.len()),
            tokens: Vec::with_capacity(gathered.len()),
            compared: Vec::with_capacity(gathered.len()),
            asked_in: scorers.words.language,
        };
        for (row, places) in gathered {
            let place = |part: &Self| part.rows.binary_search(row).ok();
            let Some((part, at)) = parts.iter().find_map(|part| Some((part, place(part)?))) else { continue };
            all.rows.push(*row);
            all.words.push(&part.words, at);
            all.parents.push(part.parents[at]);
            // The channel's own score is exact for its best rows.
            all.cosines.push(places.score(Channel::Vector).or(part.cosines[at]));
            all.tokens.push(part.tokens[at]);
            all.compared.push(part.compared[at]);
        }
        // A row that ranks low in the channel that was scored first may rank high in the other.
        all.compare_tokens(scorers, gathered)?;
        Ok(all)
    }

    /// Computes late interaction for the candidates that rank high in a channel and were not compared yet.
    fn compare_tokens(&mut self, scorers: Scorers<'_>, gathered: &[(RowId, Places)]) -> Result<()> {
        let Some(vector) = scorers.vector else { return Ok(()) };
        let (places, rows): (Vec<usize>, Vec<RowId>) = (0..self.rows.len())
            .filter(|&at| !self.compared[at] && is_high(&gathered[at].1))
            .map(|at| (at, self.rows[at]))
            .unzip();
        for (at, score) in places.into_iter().zip(vector.tokens(scorers.engine, &rows)?) {
            (self.tokens[at], self.compared[at]) = (score, true);
        }
        Ok(())
    }

    /// Returns how many candidates were compared token by token, and how many of them have a vector but no codes.
    pub(crate) fn without_codes(&self) -> (usize, usize) {
        let compared = (0..self.rows.len()).filter(|&at| self.compared[at]);
        let missing = compared.clone().filter(|&at| self.tokens[at].is_none() && self.cosines[at].is_some());
        (compared.count(), missing.count())
    }

    /// Returns the share of the question's words that a candidate has, weighted by rarity.
    pub(crate) fn coverage(&self, at: usize) -> f32 {
        calibrate::coverage(self.words.idf_found(at), self.words.idf_sum)
    }

    /// Returns the features of the candidates, whose places are `gathered`, for the default profile.
    pub(crate) fn seen(&self, gathered: &[(RowId, Places)]) -> Vec<native::CandidateFeatures<'_>> {
        let counts = |at: usize| {
            let places = &gathered[at].1;
            Channel::ALL.iter().any(|&one| one != Channel::Graph && places.rank(one).is_some())
        };
        let speakers = self.words.speakers(counts).into_iter().enumerate();
        speakers.map(|(at, speaker)| self.seen_at(at, speaker, counts(at))).collect()
    }

    fn seen_at(&self, at: usize, speaker: f32, counts: bool) -> native::CandidateFeatures<'_> {
        let words = self.words.rows[at];
        native::CandidateFeatures {
            row: self.rows[at],
            text: words.score,
            parts: self.words.parts_of(at),
            coverage: self.coverage(at),
            is_foreign: self.asked_in.is_some_and(|asked| asked != words.language),
            speaker,
            parent: self.parents[at],
            vector: self.cosines[at],
            tokens: self.tokens[at],
            counts,
        }
    }

    /// Returns the share of the names in the question that a memory has; `None` for a chunk, or where the question has no
    /// names.
    pub(crate) fn named(&self, row: RowId) -> Option<f32> {
        let at = self.place(row).filter(|&at| self.parents[at] == 0)?;
        self.words.named(at)
    }

    /// Returns the session of a candidate that is a turn of one.
    pub(crate) fn session(&self, row: RowId) -> Option<u64> {
        self.place(row).map(|at| self.parents[at]).filter(|parent| parent & SESSION != 0)
    }

    /// Whether a candidate is a memory: it belongs to no document.
    pub(crate) fn is_memory(&self, row: RowId) -> bool {
        self.place(row).is_some_and(|at| self.parents[at] == 0)
    }

    /// Returns the position of a candidate among the rows.
    pub(crate) fn place(&self, row: RowId) -> Option<usize> {
        self.rows.binary_search(&row).ok()
    }

    /// Sets every candidate's score in the channels that took part and did not list it.
    pub(crate) fn fill_places(&self, gathered: &mut [(RowId, Places)], took_part: impl Fn(Channel) -> bool) {
        let (text, vector) = (took_part(Channel::Text), took_part(Channel::Vector));
        for (at, (_, places)) in gathered.iter_mut().enumerate() {
            let score = self.words.rows[at].score;
            if text && places.get(Channel::Text).is_none() && score > 0.0 {
                places.set(Channel::Text, ChannelScore { rank: None, score });
            }
            if let (true, None, Some(score)) = (vector, places.get(Channel::Vector), self.cosines[at]) {
                places.set(Channel::Vector, ChannelScore { rank: None, score });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::{Arc, OnceLock};

    use jiff::Timestamp;

    use super::*;
    use crate::config::Settings;
    use crate::engine::indexes::IndexState;
    use crate::engine::query::plan::{Depth, Scope};
    use crate::engine::query::retrieve::text_channel;
    use crate::item::Visibility;
    use crate::item::{Profile, RowSet};
    use crate::request::CurateRequest;

    fn list(rows: impl IntoIterator<Item = (u32, f32)>) -> Vec<Scored> {
        rows.into_iter().map(|(row, score)| Scored { row: RowId(row), score }).collect()
    }

    /// The scores do not depend on which rows were scored early, or by which channel.
    #[test]
    fn scores_made_ahead_are_those_made_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let now: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
        let engine = Engine::open(folder.path(), Settings::default(), now).unwrap();
        for at in 0..90 {
            let fish = if at % 3 == 0 { "red cod" } else { "an elf" };
            engine
                .curate(&Visibility::everything(), &CurateRequest::new(format!("note {at}: {fish}")), now)
                .unwrap();
        }
        let (words, hidden) = (Words::of("red cod note", &[]), RowSet::new());
        let (newest, profile) = (engine.store.coverage().unwrap(), Profile::Bower);
        let scope = Scope {
            keep: None,
            hidden: &hidden,
            profile,
            depth: Depth::Hits(10),
            newest: &newest,
            counted: None,
        };
        let text = text_channel(&engine, &words, &scope, &mut drop).unwrap();
        let vector = VectorScorer {
            model: "made".into(),
            vector: vec![1.0],
            tokens: None,
            index: IndexState::Absent,
            delta: (1..80).map(|row| (RowId(row), row as f32 / 100.0)).collect::<BTreeMap<_, _>>(),
            keep: None,
            drop: RowSet::new(),
            background: OnceLock::new(),
        };
        let text_scorer = Arc::clone(&text.scorer);
        let scorers =
            Scorers { engine: &engine, words: &words, text: Some(&text_scorer), vector: Some(&vector) };
        // The channel's own score is exact; the scorer's may differ from it.
        let near = list((20..88).rev().map(|row| (row, row as f32 / 100.0 + 0.001)));
        let told = &text.rows[..75];
        let gathered = candidate::gather(&[(Channel::Text, told), (Channel::Vector, near.as_slice())]);
        let at_once = Scores::of(scorers, &gathered).unwrap();
        assert!(at_once.words.rows.iter().any(|row| row.score > 0.0) && at_once.rows.len() > 75);
        for first in [Channel::Text, Channel::Vector] {
            let ahead = EagerScores::default();
            let score = |channel| {
                let rows = if channel == Channel::Text { told } else { &near };
                ahead.score(scorers, channel, rows).unwrap()
            };
            let second = if first == Channel::Text { Channel::Vector } else { Channel::Text };
            let known = vec![score(first), score(second)];
            assert!(known[1].rows.iter().all(|row| known[0].rows.binary_search(row).is_err()));
            for known in [known, Vec::new()] {
                let done = Scores::complete(scorers, &gathered, known).unwrap();
                assert_eq!((&done.rows, &done.words), (&at_once.rows, &at_once.words));
                assert_eq!((&done.parents, &done.cosines), (&at_once.parents, &at_once.cosines));
                assert_eq!((&done.tokens, &done.compared), (&at_once.tokens, &at_once.compared));
            }
        }
    }
}
