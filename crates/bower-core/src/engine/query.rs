//! Answers a question in stages: plan, retrieve, score, rank, select, load, evidence.
//!
//! `plan` determines which rows may be found. `retrieve` searches the text and vector channels in parallel. `score` computes
//! each candidate's score in every channel. `rank` applies the profile. `select` groups and reorders. `load` reads the
//! selected items. `evidence` packs them.

pub(crate) mod channels;
mod copies;
pub mod evaluation;
pub(crate) mod evidence;
pub(crate) mod facts;
pub(crate) mod graph;
mod likeness;
mod load;
pub(crate) mod lookup;
mod names;
pub(crate) mod paths;
pub(crate) mod plan;
pub(crate) mod possible;
pub(crate) mod rank;
pub(crate) mod record;
mod references;
pub(crate) mod rerank;
pub(crate) mod retrieve;
mod score;
mod scorers;
mod select;
mod spelling;
mod time_order;
pub(crate) mod when;
pub(crate) mod wordings;

use jiff::Timestamp;
use std::time::Instant;

use crate::embed::IDENTITY;
use crate::engine::query::load::{add_neighbours, below_successors, load};
use crate::engine::query::plan::{Depth, MAX_LIMIT, RankRequest};
use crate::engine::query::record::{SessionTexts, note_found, note_shown};
use crate::engine::query::time_order::by_time;
use crate::engine::timing::milliseconds;
use crate::engine::{Engine, languages, missing};
use crate::error::{Error, Result};
use crate::item::{Channel, Profile, Visibility};
use crate::request::{Answer, Degraded, QueryRequest};

/// Most neighbours on each side of a hit: more are a document, which can be opened.
const MOST_AROUND: u32 = 10;

/// Searches without recording exposure: the caller records what it shows.
pub(crate) fn search(
    engine: &Engine,
    visibility: &Visibility,
    request: &QueryRequest,
    now: Timestamp,
) -> Result<Answer> {
    let start = Instant::now();
    // From here on the selection is limited to what the caller may see.
    let request = &QueryRequest { select: request.select.within(visibility)?, ..request.clone() };
    if request.text.trim().is_empty() {
        return Err(Error::invalid("query", "the question is empty; write what you look for"));
    }
    if !(1..=MAX_LIMIT).contains(&request.limit) {
        return Err(Error::invalid(format!("limit {}", request.limit), format!("use 1 to {MAX_LIMIT}")));
    }
    if request.around > MOST_AROUND {
        return Err(Error::invalid(format!("around {}", request.around), format!("use 0 to {MOST_AROUND}")));
    }
    evidence::check(request)?;
    let mut ranking = rank::rank(
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
            // Ages, and words such as "last week", are relative to `as_of` where the selection sets it.
            now: request.select.clocks.as_of.unwrap_or(now),
        },
    )?;
    let corrected = ranking.corrected.take();
    let read_as = corrected.as_ref().map(|one| QueryRequest { text: one.text.clone(), ..request.clone() });
    let (query, request) = (&request.text, read_as.as_ref().unwrap_or(request));
    let shown = select::shown(engine, request, &mut ranking, now)?;
    let known = SessionTexts::of(engine, visibility, request)?;
    let mut unreviewed = 0;
    let mut already_given = request.session.as_ref().map(|_| 0);
    let mut left_out = Vec::new();
    let mut hits = load(engine, &ranking, &shown.hits, request.limit, &mut |item| {
        let given = known.has(item);
        already_given = already_given.map(|count| count + usize::from(given));
        let admitted = evidence::admits(request, item);
        unreviewed += usize::from(!given && !admitted);
        !given && admitted && !load::leaves_out(item, &mut left_out)
    })?;
    below_successors(&mut hits);
    by_time(engine, &mut hits, &request.text, now)?;
    load::check_anchors(engine, request.root.as_deref(), &mut hits)?;
    if request.explain {
        paths::explain(engine, &ranking, &mut hits)?;
    }
    let terms = evidence::Terms::of(engine, request);
    let held_back = evidence::hold_back(request, &terms, &ranking, &mut hits)?.map(|held| held + unreviewed);
    add_neighbours(engine, request, &mut hits)?;
    let evidence = evidence::pack(engine, visibility, request, &terms, &hits)?;
    ranking.degraded.append(&mut left_out);
    ranking.degraded.extend(missing::degraded(engine)?);
    ranking.degraded.extend(languages::degraded(engine, query, visibility.is_everything())?);
    Ok(Answer {
        query: query.clone(),
        corrections: corrected.map(|one| one.words).unwrap_or_default(),
        hits,
        answerable: ranking.answerable,
        abstained: shown.abstained,
        evidence,
        already_given,
        held_back,
        total_found: ranking.fused.len(),
        took_ms: milliseconds(start),
        not_calibrated: not_calibrated(request.profile, ranking.model_used.as_deref(), engine),
        model_used: ranking.model_used,
        degraded: ranking.degraded,
        effort: if visibility.is_everything() { ranking.effort } else { ranking.effort.of_a_part() },
    })
}

/// Returns the fields of an answer that are not calibrated for a model: `rank/calibrate.rs` was fitted to answers of the default
/// model, and to answers by words alone.
fn not_calibrated(profile: Option<Profile>, model: Option<&str>, engine: &Engine) -> Vec<String> {
    let is_ours = profile.unwrap_or(engine.settings.profile) == Profile::Bower;
    let fields: &[&str] = if is_ours && model.is_some_and(|model| model != IDENTITY) {
        &["score", "band", "answerable", "abstained"]
    } else {
        &[]
    };
    fields.iter().map(|&field| field.to_owned()).collect()
}

/// Returns the answer of a stand-in if the model's service gave no vector of the question, and the stand-in has one.
fn instead(answer: Answer, ask: impl FnOnce() -> Result<Answer>) -> Result<Answer> {
    let is_missing = |one: &Degraded| one.channel == Channel::Vector.into();
    let Some(missing) = answer.degraded.iter().find(|one| answer.model_used.is_none() && is_missing(one))
    else {
        return Ok(answer);
    };
    let mut other = ask()?;
    let Some(model) = other.model_used.clone() else { return Ok(answer) };
    let reason = format!("{}; the vectors of {model} were compared instead", missing.reason);
    other.degraded.insert(0, Degraded { channel: Channel::Vector.into(), reason });
    Ok(other)
}

impl Engine {
    /// Answers a question. Exposures and uses of the hits are noted, and written by [`Engine::keep_given`].
    pub fn query(&self, visibility: &Visibility, request: &QueryRequest, now: Timestamp) -> Result<Answer> {
        let answer = search(self, visibility, request, now)?;
        let answer = match self.stand_in() {
            Some(stand_in) => instead(answer, || search(stand_in, visibility, request, now))?,
            None => answer,
        };
        note_shown(self, answer.hits.iter().map(|hit| hit.memory.row), now);
        note_found(self, request, &answer.hits, now);
        Ok(answer)
    }
}
