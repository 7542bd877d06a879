//! From what the channels found to one order: true scores for every candidate, then the profile's formula.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::time::Instant;

use super::answer::{MAX_LIMIT, RankRequest, Ranking, milliseconds, note};
use super::order::Likeness;
use super::retrieve::{Scope, TextFound, VectorFound, Words};
use super::scorers::VectorScorer;
use super::scores::{Scorers, Scores};
use super::{Engine, channels, late, when};
use crate::error::Result;
use crate::item::{Channel, Profile, RowId, Scored, Step, When};
use crate::memory::frame::{Frame, Question, Worth};
use crate::rank::calibrate::{self, Basis, Features};
use crate::rank::candidate::{self, Candidate, Places, Ranked};
use crate::rank::profile::{self, ade, athena, atlas, native, seed};
use crate::rank::time::meets;
use crate::request::Degraded;

/// What an item's age leaves of its place where it does not fit the time that Athena is asked for.
const ANOTHER_TIME: f32 = 0.5;

/// Times are read from the texts of so many of the best: each costs some 5 to 10 microseconds.
const TIMES_DEPTH: usize = 100;

/// So many of the best are read for whether they fit the question, some 10 microseconds each: of one thing a store may know more
/// than 24, which hid .04 % of what a made month of 20,000 writes should find.
const FITS_DEPTH: usize = 64;

/// What the channels found for one question.
pub(super) struct Found<'a> {
    pub(super) words: &'a Words,
    pub(super) text: Option<TextFound>,
    pub(super) vector: Option<VectorFound<'a>>,
    /// True scores that the channels' threads made.
    pub(super) known: Vec<Scores>,
}

impl Found<'_> {
    fn vector(&self) -> Option<&VectorScorer<'_>> {
        self.vector.as_ref().map(|vector| &*vector.scorer)
    }

    /// The true scores of candidates that ascend by row.
    fn scores(&mut self, engine: &Engine, gathered: &[(RowId, Places)]) -> Result<Scores> {
        let known = std::mem::take(&mut self.known);
        let text = self.text.as_ref().map(|text| &*text.scorer);
        let scorers = Scorers { engine, words: self.words, text, vector: self.vector() };
        Scores::complete(scorers, gathered, known)
    }
}

/// Ranks by the default profile, and says how likely each of the best answers.
pub(super) fn by_default(
    engine: &Engine,
    request: &RankRequest<'_>,
    found: &mut Found<'_>,
    ranking: &mut Ranking,
) -> Result<()> {
    let gathered = gather(ranking);
    let scores = found.scores(engine, &gathered)?;
    note_missing_codes(engine, found, &scores, ranking)?;
    let background = found.vector().map(VectorScorer::background).transpose()?.unwrap_or_default();
    let background = native::Background {
        rows: background.rows,
        mean: background.mean,
        deviation: background.deviation(),
    };
    let constants = &engine.settings.bower;
    let mut ranked = native::rank(&scores.seen(), &background, constants);
    take_times(engine, request, &mut ranked)?;
    if let Some(vector) = found.vector() {
        let best: Vec<RowId> = ranked.iter().take(constants.neighbourhood).map(|one| one.row).collect();
        let likenesses = vector.likenesses(engine, &best)?;
        native::gain_from_neighbours(&mut ranked, &likenesses, constants);
        ranking.likeness = Likeness::new(&best, likenesses);
    }
    let named: Vec<Option<f32>> = ranked.iter().map(|one| scores.named(one.row)).collect();
    native::gain_from_names(&mut ranked, &named, constants);
    ranking.frames = take_fits(engine, request, &scores, &mut ranked)?;
    ranking.fused = ranked;
    judge(engine, found, &scores, ranking);
    scores.take_places(gathered, ranking);
    Ok(())
}

/// Names a token index that cannot be asked, and candidates that have a vector and no codes: late interaction passed them over.
fn note_missing_codes(
    engine: &Engine,
    found: &Found<'_>,
    scores: &Scores,
    ranking: &mut Ranking,
) -> Result<()> {
    if found.vector().is_none_or(|vector| vector.tokens.is_none()) {
        return Ok(());
    }
    let (compared, missing) = scores.without_codes();
    let reason = match late::unusable(engine)? {
        Some(reason) => format!("{reason}; bower index makes anew what is missing"),
        None if missing == 0 => return Ok(()),
        None => format!("{missing} of {compared} candidates have no token codes: run bower index"),
    };
    engine.lacks_codes.store(true, Ordering::Relaxed);
    ranking.degraded.push(Degraded { channel: Step::Tokens.into(), reason });
    Ok(())
}

/// Raises what fits the time that the question asks for, or keeps nothing else.
fn take_times(engine: &Engine, request: &RankRequest<'_>, ranked: &mut Vec<Ranked>) -> Result<()> {
    if request.when == When::Off || ranked.is_empty() {
        return Ok(());
    }
    let asked = when::asked(engine, request.text, request.now)?;
    if asked.is_empty() {
        return Ok(());
    }
    let rows: Vec<RowId> = ranked.iter().map(|one| one.row).collect();
    if request.when == When::Strict {
        let fits: HashMap<RowId, bool> = rows
            .iter()
            .zip(when::times(engine, &rows)?)
            .map(|(row, times)| (*row, meets(&asked, &times)))
            .collect();
        ranked.retain(|one| fits.get(&one.row).copied().unwrap_or(false));
    }
    let rows: Vec<RowId> = ranked.iter().take(TIMES_DEPTH).map(|one| one.row).collect();
    native::gain_from_times(ranked, &when::gains(engine, &asked, &rows)?);
    Ok(())
}

/// Raises memories that fit what the question wants: beside others about the same thing neither words nor meanings tell them apart.
/// The frames of what it read.
fn take_fits(
    engine: &Engine,
    request: &RankRequest<'_>,
    scores: &Scores,
    ranked: &mut [Ranked],
) -> Result<HashMap<RowId, Frame>> {
    let constants = &engine.settings.bower;
    let best: Vec<RowId> = ranked.iter().take(FITS_DEPTH).map(|one| one.row).collect();
    let rows: Vec<RowId> = best.iter().copied().filter(|row| scores.is_memory(*row)).collect();
    let mut frames = HashMap::new();
    if rows.len() < 2 || constants.fit_weight == 0.0 {
        return Ok(frames);
    }
    let question = Question::of(request.text);
    let clocks = &request.select.clocks;
    let asked_of = clocks.valid_at.or(clocks.as_of).unwrap_or(request.now);
    let mut fits = HashMap::with_capacity(rows.len());
    for indexed in engine.store.texts(&rows)? {
        let frame = Frame::of(&indexed.text);
        let holds = indexed.holds_at(asked_of);
        fits.insert(indexed.row, question.fit(&frame, &indexed.text, holds, &Worth::default()));
        frames.insert(indexed.row, frame);
    }
    let fits: Vec<Option<f32>> = best.iter().map(|row| fits.get(row).copied()).collect();
    native::gain_from_fit(ranked, &fits, constants);
    Ok(frames)
}

/// Says how likely each of the best answers, and whether any does.
fn judge(engine: &Engine, found: &Found<'_>, scores: &Scores, ranking: &mut Ranking) {
    let constants = &engine.settings.calibration;
    let best = &ranking.fused[..ranking.fused.len().min(MAX_LIMIT)];
    let points: Vec<f32> = best.iter().map(|one| one.score).collect();
    let basis = if found.vector.is_some() { Basis::Meaning } else { Basis::Words };
    let standings = calibrate::standings(&points, basis, constants);
    let words = &scores.words;
    ranking.features = best
        .iter()
        .zip(standings)
        .enumerate()
        .map(|(at, (one, standing))| {
            let place = scores.place(one.row);
            Features {
                standing,
                share: place.map_or(0.0, |at| calibrate::share(words.rows[at].score, words.idf_sum)),
                coverage: place.map_or(0.0, |at| scores.coverage(at)),
                closeness: place.and_then(|at| scores.tokens[at]),
                rank: at + 1,
            }
        })
        .collect();
    ranking.probabilities =
        ranking.features.iter().map(|one| calibrate::probability(one, constants)).collect();
    calibrate::level(&mut ranking.probabilities);
    ranking.answerable = Some(calibrate::answerable(ranking.features.first(), constants));
}

/// Ranks by a source system's formula.
pub(super) fn by_formula(
    engine: &Engine,
    request: &RankRequest<'_>,
    found: &mut Found<'_>,
    scope: &Scope<'_>,
    ranking: &mut Ranking,
) -> Result<()> {
    for &channel in profile::channels(scope.profile) {
        ask(engine, request, channel, scope, ranking);
    }
    let gathered = gather(ranking);
    let rows: Vec<RowId> = gathered.iter().map(|(row, _)| *row).collect();
    let scores = found.scores(engine, &gathered)?;
    note_missing_codes(engine, found, &scores, ranking)?;
    scores.take_places(gathered, ranking);
    let facts = engine.store.facts(&rows)?;
    let mut candidates: Vec<Candidate> = ranking
        .places
        .iter()
        .zip(facts)
        .filter_map(|(&(row, places), facts)| Some(Candidate { row, places, facts: facts? }))
        .collect();
    if request.when != When::Off {
        let asked = when::asked(engine, request.text, request.now)?;
        if !asked.is_empty() {
            let rows: Vec<RowId> = candidates.iter().map(|one| one.row).collect();
            let times = when::times(engine, &rows)?;
            for (candidate, times) in candidates.iter_mut().zip(&times) {
                candidate.facts.asked_time = Some(if meets(&asked, times) { 1.0 } else { ANOTHER_TIME });
            }
            if request.when == When::Strict {
                candidates.retain(|one| one.facts.asked_time == Some(1.0));
            }
        }
    }
    let settings = &engine.settings;
    ranking.fused = match scope.profile {
        Profile::Athena => athena::rank(&candidates, &settings.athena, request.now),
        Profile::Atlas => atlas::rank(&candidates, &settings.atlas),
        Profile::Ade => ade::rank(&candidates, &settings.ade, request.now),
        Profile::Seed | Profile::Bower => seed::rank(&candidates, &settings.seed, request.now),
    };
    if let Some(vector) = found.vector() {
        let best: Vec<RowId> = ranking.fused.iter().take(MAX_LIMIT).map(|one| one.row).collect();
        ranking.likeness = Likeness::new(&best, vector.likenesses(engine, &best)?);
    }
    Ok(())
}

/// Asks one of the smaller channels; a failure is named.
fn ask(
    engine: &Engine,
    request: &RankRequest<'_>,
    channel: Channel,
    scope: &Scope<'_>,
    ranking: &mut Ranking,
) {
    match channel {
        // Text and vector were asked already; there is no graph yet.
        Channel::Text | Channel::Vector | Channel::Graph => {}
        Channel::Tags | Channel::Filename | Channel::Canonical => {
            if request.without == Some(channel) {
                return;
            }
            let start = Instant::now();
            let depth = scope.depth(channel, &engine.settings);
            match channels::ask(
                engine,
                channel,
                request.text,
                depth,
                &|row| scope.contains(row),
                scope.counted,
            ) {
                Ok(found) => {
                    let rows: Vec<Scored> = found.iter().map(|(hit, _)| *hit).collect();
                    note(ranking, channel, &rows, 0, milliseconds(start));
                    for (hit, citation) in found {
                        ranking.citations.extend(citation.map(|citation| (hit.row, citation)));
                    }
                }
                Err(error) => {
                    ranking.degraded.push(Degraded { channel: channel.into(), reason: error.to_string() });
                }
            }
        }
    }
}

/// The channels' candidates, each once, with its places, ascending by row.
fn gather(ranking: &Ranking) -> Vec<(RowId, Places)> {
    let lists: Vec<(Channel, &[Scored])> =
        ranking.channels.iter().map(|(channel, rows)| (*channel, rows.as_slice())).collect();
    candidate::gather(&lists)
}
