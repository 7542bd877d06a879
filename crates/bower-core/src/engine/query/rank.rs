//! Ranks the candidates of all channels by a profile's formula.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Instant;

use crate::engine::languages::languages;
use crate::engine::query::copies::Copies;
use crate::engine::query::facts::FactCitation;
use crate::engine::query::graph::{GraphFound, graph_channel};
use crate::engine::query::likeness::Likeness;
use crate::engine::query::names::{NamedDocument, named};
use crate::engine::query::plan::{FoundRows, MAX_LIMIT, RankRequest, Scope, Words};
use crate::engine::query::references::references;
use crate::engine::query::retrieve::{
    self, Retrieved, TextFound, VectorFound, Vectors, text_channel, vector_channel,
};
use crate::engine::query::score::{Scorers, Scores};
use crate::engine::query::scorers::VectorScorer;
use crate::engine::query::spelling::{self, Corrected};
use crate::engine::query::wordings::Wordings;
use crate::engine::query::{channels, when};
use crate::engine::timing::milliseconds;
use crate::engine::{Engine, late};
use crate::error::Result;
use crate::graph::Walked;
use crate::ingest::FileRole;
use crate::item::{Channel, Profile, RowId, Scored, Step, When};
use crate::rank::calibrate::{self, Basis, Features};
use crate::rank::candidate::{self, Candidate, Places, Ranked};
use crate::rank::profile::{self, ade, athena, atlas, native, seed};
use crate::rank::time::meets;
use crate::request::{ChannelEffort, Degraded, Effort};
use crate::store::DocumentRow;
use crate::tokens::TokenQuery;
use crate::vector;

/// Athena's time factor for an item that does not fit the time in the question; it replaces the factor for age.
const ANOTHER_TIME: f32 = 0.5;

/// Score in the channel of file names from which the question names a document without typing errors.
const CERTAIN_NAME: f32 = 0.9;

/// A canonical fact answers a question if it has more than this share of its words, by their rarity: most of it.
const MOST_OF_A_QUESTION: f32 = 0.5;

/// Number of best candidates whose texts are read for times; each costs about 5 to 10 microseconds.
const TIMES_DEPTH: usize = 100;

/// Results of the channels for one question.
pub(crate) struct ChannelResults<'a> {
    pub(crate) words: &'a Words,
    pub(crate) text: Option<TextFound>,
    pub(crate) vector: Option<VectorFound<'a>>,
    /// Scores that the channels' threads computed.
    pub(crate) known: Vec<Scores>,
}

impl ChannelResults<'_> {
    fn vector(&self) -> Option<&VectorScorer<'_>> {
        self.vector.as_ref().map(|vector| &*vector.scorer)
    }

    /// Returns the scores of candidates, which ascend by row.
    fn scores(&mut self, engine: &Engine, gathered: &[(RowId, Places)]) -> Result<Scores> {
        let known = std::mem::take(&mut self.known);
        let text = self.text.as_ref().map(|text| &*text.scorer);
        let scorers = Scorers { engine, words: self.words, text, vector: self.vector() };
        Scores::complete(scorers, gathered, known)
    }
}

/// Ranks by the default profile, and computes the probability that each of the best answers the question.
pub(crate) fn by_default(
    engine: &Engine,
    request: &RankRequest<'_>,
    found: &mut ChannelResults<'_>,
    (scope, worded): (&Scope<'_>, &Wordings),
    ranking: &mut Ranking,
) -> Result<()> {
    let start = Instant::now();
    let referred = references(engine, request.text, scope, |channel| request.without != Some(channel))?;
    for (channel, rows) in &referred.found {
        note_references(ranking, *channel, rows, milliseconds(start));
    }
    let mut gathered = gather(ranking);
    let mut scores = found.scores(engine, &gathered)?;
    let background = found.vector().map(VectorScorer::background).transpose()?.unwrap_or_default();
    let background = native::QuestionSpread {
        rows: background.rows,
        mean: background.mean,
        deviation: background.deviation(),
    };
    let constants = &engine.settings.bower;
    let pieces = found.vector().and_then(|vector| vector.tokens.as_ref()).map(TokenQuery::count);
    let pieces = native::pieces_per_letter(request.text, pieces);
    let rank = |scores: &Scores, gathered: &[(RowId, Places)]| {
        native::rank(&scores.seen(gathered), &background, pieces, constants)
    };
    let (mut ranked, mut siblings) = rank(&scores, &gathered);
    let walked = walk(engine, request, scope, (&ranked, &scores), ranking);
    if let Some(walked) = &walked {
        note(ranking, Channel::Graph, &walked.rows, walked.delta_rows, walked.took_ms);
        gathered = gather(ranking);
        found.known = vec![scores];
        scores = found.scores(engine, &gathered)?;
        (ranked, siblings) = rank(&scores, &gathered);
    }
    note_missing_codes(engine, found, &scores, ranking)?;
    take_times(engine, request, &mut ranked)?;
    let has_between = |row: RowId, next: RowId| scope.has_between(row, next);
    native::gain_from_adjacent(&mut ranked, |row| scores.session(row), has_between, siblings, constants);
    if let Some(vector) = found.vector() {
        let best: Vec<RowId> = ranked.iter().take(constants.neighbourhood).map(|one| one.row).collect();
        let likenesses = vector.likenesses(engine, &best)?;
        native::gain_from_neighbours(
            &mut ranked,
            &likenesses,
            |row| !scores.is_memory(row),
            siblings,
            constants,
        );
        ranking.likeness = Likeness::new(&best, likenesses);
    }
    let named: Vec<Option<f32>> = ranked.iter().map(|one| scores.named(one.row)).collect();
    native::gain_from_names(&mut ranked, &named, constants);
    let paths = BestPaths::load(engine, &ranked, &scores)?;
    lower_side_files(engine, request.text, &paths, &mut ranked);
    let facts = canonical_shares(engine, request, (scope, &scores), &paths, ranking)?;
    if let Some(walked) = &walked {
        let weight = f64::from(constants.graph_weight) * walked.about;
        let scale = if found.vector.is_some() { 1.0 } else { engine.settings.calibration.words_scale };
        native::gain_from_graph(&mut ranked, |row| walked.share(row), weight, scale.into());
    }
    // The graph's gain is relative to the best item. After references it would lift what a walk reached above an item that the
    // question names.
    if !facts.is_empty() {
        // The same candidates, now with the places of the canonical channel.
        gathered = gather(ranking);
    }
    let fact = |row: RowId| facts.get(&row).copied().unwrap_or(0.0);
    native::gain_from_references(&mut ranked, |row| referred.share(row).max(fact(row)), constants);
    candidate::put_first(&mut ranked, &ranking.named);
    ranking.walked = walked.map(|walked| walked.walked);
    worded.fold(&mut ranked, &mut ranking.found_by);
    ranking.fused = ranked;
    judge(engine, found, &scores, ranking)?;
    ranking.take_places(&scores, gathered);
    Ok(())
}

/// Finds the documents that a whole question names, whose beginnings become candidates. A failure is reported in `degraded`.
fn ask_names(engine: &Engine, question: &str, scope: &Scope<'_>, ranking: &mut Ranking) {
    let start = Instant::now();
    match named(engine, question, scope) {
        Ok(documents) if documents.is_empty() => {}
        Ok(documents) => {
            let hit = |one: &NamedDocument| Scored { row: one.first, score: one.score };
            let rows: Vec<Scored> = documents.iter().map(hit).collect();
            note(ranking, Channel::Filename, &rows, 0, milliseconds(start));
            ranking.named = rows.into_iter().map(|hit| hit.row).collect();
        }
        Err(error) => {
            ranking.degraded.push(Degraded { channel: Channel::Filename.into(), reason: error.to_string() });
        }
    }
}

/// Records rows to which the question refers, behind those that the channel has already.
fn note_references(ranking: &mut Ranking, channel: Channel, rows: &[Scored], took_ms: f64) {
    match ranking.channels.iter_mut().find(|(one, _)| *one == channel) {
        Some((_, known)) => {
            let seen: HashSet<RowId> = known.iter().map(|one| one.row).collect();
            known.extend(rows.iter().filter(|one| !seen.contains(&one.row)));
        }
        None => note(ranking, channel, rows, 0, took_ms),
    }
}

/// Walks over the graph from the best candidates; a failure is reported in `degraded`.
fn walk(
    engine: &Engine,
    request: &RankRequest<'_>,
    scope: &Scope<'_>,
    (ranked, scores): (&[Ranked], &Scores),
    ranking: &mut Ranking,
) -> Option<GraphFound> {
    let constants = &engine.settings.bower;
    if constants.graph_weight <= 0.0 || request.without == Some(Channel::Graph) {
        return None;
    }
    match graph_channel(engine, request.text, scope, ranked, |row| scores.is_memory(row)) {
        Ok(found) => found,
        Err(error) => {
            ranking.degraded.push(Degraded { channel: Channel::Graph.into(), reason: error.to_string() });
            None
        }
    }
}

/// Reports a token index that cannot be searched, and candidates with a vector but no token codes: late interaction skipped
/// them.
fn note_missing_codes(
    engine: &Engine,
    found: &ChannelResults<'_>,
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
    engine.pending.lacks_codes.store(true, Ordering::Relaxed);
    ranking.degraded.push(Degraded { channel: Step::Tokens.into(), reason });
    Ok(())
}

/// Raises candidates that fit the time in the question; with [`When::Strict`], removes all others.
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
    native::gain_deviations(ranked, "time", &when::gains(engine, &asked, &rows)?);
    Ok(())
}

/// The paths of the documents of the best candidates, by their places.
struct BestPaths(Vec<(usize, RowId, String)>);

impl BestPaths {
    fn load(engine: &Engine, ranked: &[Ranked], scores: &Scores) -> Result<Self> {
        let best = ranked.iter().take(MAX_LIMIT).map(|one| one.row).enumerate();
        let (places, rows): (Vec<usize>, Vec<RowId>) =
            best.filter(|(_, row)| !scores.is_memory(*row)).unzip();
        let paths = engine.store.documents_of(&rows)?;
        let all = places.into_iter().zip(rows).zip(paths);
        Ok(Self(all.filter_map(|((place, row), path)| Some((place, row, path?))).collect()))
    }
}

/// Lowers chunks of tests, changelogs, licences and generated files, unless the question asks for such.
fn lower_side_files(engine: &Engine, question: &str, best: &BestPaths, ranked: &mut [Ranked]) {
    let weight = engine.settings.side_file_weight;
    if weight <= 0.0 {
        return;
    }
    // A folder that they all share says nothing about one of them.
    let shared = shared_folder(best.0.iter().map(|(.., path)| Path::new(path)));
    let mut gains = vec![0.0; ranked.len().min(MAX_LIMIT)];
    for (place, _, path) in &best.0 {
        let below = Path::new(path).strip_prefix(&shared).ok();
        if below.and_then(FileRole::of).is_some_and(|role| !role.is_asked(question)) {
            gains[*place] = -weight;
        }
    }
    native::gain_deviations(ranked, "side file", &gains);
}

/// Finds facts of canonical documents that have most of the question, among the best candidates. Returns for each of their chunks
/// the share of the question that it has, and notes the fact, which the hit cites.
///
/// Words count by their rarity in the whole store: in a canonical document of two lines, every word is frequent.
fn canonical_shares(
    engine: &Engine,
    request: &RankRequest<'_>,
    (scope, scores): (&Scope<'_>, &Scores),
    best: &BestPaths,
    ranking: &mut Ranking,
) -> Result<HashMap<RowId, f32>> {
    let start = Instant::now();
    if request.without == Some(Channel::Canonical) {
        return Ok(HashMap::new());
    }
    let matcher = engine.caches.canonical_matcher(&engine.settings.canonical_files);
    let coverage = |row: RowId| scores.place(row).map_or(0.0, |at| scores.coverage(at));
    let has_most = |row: RowId| coverage(row) > MOST_OF_A_QUESTION && scope.contains(row);
    let canonical = best.0.iter().filter(|(_, row, path)| has_most(*row) && matcher.matches(path));
    let rows: Vec<RowId> = canonical.map(|(_, row, _)| *row).collect();
    if rows.is_empty() {
        return Ok(HashMap::new());
    }
    let names = engine.store.document_names(&rows)?;
    let mut documents: Vec<DocumentRow> = names.into_iter().flatten().map(|names| names.document).collect();
    documents.sort_unstable();
    documents.dedup();
    let is_candidate = |row: RowId| rows.contains(&row);
    let mut cited = channels::canonical_facts(engine, request.text, &documents, rows.len(), &is_candidate)?;
    // Its words may be in several lines.
    cited.retain(|one| one.hit.score > MOST_OF_A_QUESTION);
    let found: Vec<Scored> = cited.iter().map(|one| one.hit).collect();
    if !found.is_empty() {
        note_references(ranking, Channel::Canonical, &found, milliseconds(start));
    }
    ranking.citations.extend(cited.into_iter().map(|one| (one.hit.row, one.fact)));
    Ok(found.into_iter().map(|hit| (hit.row, coverage(hit.row))).collect())
}

/// Returns the deepest folder that all paths are in.
fn shared_folder<'a>(mut paths: impl Iterator<Item = &'a Path>) -> PathBuf {
    let first = paths.next().and_then(Path::parent).unwrap_or(Path::new(""));
    paths.fold(first.to_owned(), |shared, path| {
        shared
            .components()
            .zip(path.components())
            .take_while(|(one, two)| one == two)
            .map(|(one, _)| one)
            .collect()
    })
}

/// Computes the probability that each of the best answers the question, and that any does. A copy does not compete with what
/// it repeats, and is as likely to answer.
fn judge(engine: &Engine, found: &ChannelResults<'_>, scores: &Scores, ranking: &mut Ranking) -> Result<()> {
    let constants = &engine.settings.calibration;
    let best = &ranking.fused[..ranking.fused.len().min(MAX_LIMIT)];
    let rows: Vec<RowId> = best.iter().map(|one| one.row).collect();
    let copies = Copies::load(engine, &ranking.likeness, &rows)?;
    let groups = copies.groups(&ranking.likeness, &rows, |_| false);
    let basis = if found.vector.is_some() { Basis::Meaning } else { Basis::Words };
    let points: Vec<f32> = groups.iter().map(|group| best[group[0]].score).collect();
    let standings = calibrate::standings(&points, basis, constants);
    let words = &scores.words;
    let is_certain = |hit: &&Scored| hit.score >= CERTAIN_NAME && ranking.named.contains(&hit.row);
    let certain: HashSet<RowId> =
        ranking.of(Channel::Filename).iter().filter(is_certain).map(|hit| hit.row).collect();
    let features_of = |row: RowId, standing: f32, rank: usize| {
        let row = ranking.found_by.get(&row).copied().unwrap_or(row);
        let place = scores.place(row);
        let features = Features {
            standing,
            share: place.map_or(0.0, |at| calibrate::share(words.rows[at].score, words.idf_sum)),
            coverage: place.map_or(0.0, |at| scores.coverage(at)),
            closeness: place.and_then(|at| scores.tokens[at]),
            rank,
        };
        // Who writes a name means every document of that name, so these do not compete.
        if certain.contains(&row) {
            return Features { standing: 0.0, rank: 1, ..features };
        }
        match basis {
            Basis::Meaning if scores.is_memory(row) => features.of_memory(constants),
            Basis::Meaning | Basis::Words => features,
        }
    };
    let mut features = vec![None; best.len()];
    for ((group, standing), rank) in groups.iter().zip(standings).zip(1..) {
        for &at in group {
            features[at] = Some(features_of(rows[at], standing, rank));
        }
    }
    ranking.features = features.into_iter().flatten().collect();
    ranking.probabilities =
        ranking.features.iter().map(|one| calibrate::probability(one, constants)).collect();
    calibrate::level(&mut ranking.probabilities);
    ranking.answerable = Some(calibrate::answerable(ranking.features.first(), constants));
    // A wording's place goes to its memory later, so then the texts are read again.
    ranking.copies = ranking.found_by.is_empty().then_some(copies);
    Ok(())
}

/// Ranks by a source system's formula.
pub(crate) fn by_formula(
    engine: &Engine,
    request: &RankRequest<'_>,
    found: &mut ChannelResults<'_>,
    (scope, worded): (&Scope<'_>, &Wordings),
    ranking: &mut Ranking,
) -> Result<()> {
    for &channel in profile::channels(scope.profile) {
        ask(engine, request, channel, scope, ranking);
    }
    let gathered = gather(ranking);
    let rows: Vec<RowId> = gathered.iter().map(|(row, _)| *row).collect();
    let scores = found.scores(engine, &gathered)?;
    note_missing_codes(engine, found, &scores, ranking)?;
    ranking.take_places(&scores, gathered);
    // A wording has the importance and the age of its memory.
    let memories: Vec<RowId> = rows.iter().map(|row| worded.memory(*row).unwrap_or(*row)).collect();
    let facts = engine.store.facts(&memories)?;
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
        // [`by_default`] ranks by the profile `bower`, which never gets here.
        Profile::Seed | Profile::Bower => seed::rank(&candidates, &settings.seed, request.now),
    };
    worded.fold(&mut ranking.fused, &mut ranking.found_by);
    if let Some(vector) = found.vector() {
        let best: Vec<RowId> = ranking.fused.iter().take(MAX_LIMIT).map(|one| one.row).collect();
        ranking.likeness = Likeness::new(&best, vector.likenesses(engine, &best)?);
    }
    Ok(())
}

/// Searches tags, file names or canonical documents; a failure is reported in `degraded`.
fn ask(
    engine: &Engine,
    request: &RankRequest<'_>,
    channel: Channel,
    scope: &Scope<'_>,
    ranking: &mut Ranking,
) {
    match channel {
        // Text and vector were searched already. Only the default profile walks the graph, from its own ranking.
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

/// Returns the channels' candidates, each once, with its places, ascending by row.
fn gather(ranking: &Ranking) -> Vec<(RowId, Places)> {
    let lists: Vec<(Channel, &[Scored])> =
        ranking.channels.iter().map(|(channel, rows)| (*channel, rows.as_slice())).collect();
    candidate::gather(&lists)
}

/// The ranking of each channel, and the fused ranking.
#[derive(Clone, Debug, Default)]
pub struct Ranking {
    /// Each channel's own list, best first; a channel that did not take part is absent.
    pub channels: Vec<(Channel, Vec<Scored>)>,
    /// The fused ranking, best first, each score with its factors.
    pub fused: Vec<Ranked>,
    /// For the first of `fused` (50 at most): the probability that it answers. Empty in profiles that are not calibrated.
    pub probabilities: Vec<f32>,
    /// Features from which the probabilities were computed.
    pub features: Vec<crate::rank::calibrate::Features>,
    /// The probability that the best ten hold an answer.
    pub answerable: Option<f32>,
    /// Rank and score of each candidate in every channel, whichever channel found it, ascending by row.
    pub places: Vec<(RowId, Places)>,
    /// Canonical facts that were found, by row.
    pub citations: HashMap<RowId, FactCitation>,
    /// Similarity of the question to the rows at large, where vectors were compared.
    pub(crate) background: Option<vector::Background>,
    /// The question with other words in place of misspelled ones, if there were any.
    pub(crate) corrected: Option<Corrected>,
    /// The beginnings of the documents that the whole question names, nearest first. They are the first of `fused`.
    pub(crate) named: Vec<RowId>,
    /// The walk over the graph, if there was one.
    pub(crate) walked: Option<Walked>,
    /// Channels that did not take part, with the reason.
    pub degraded: Vec<Degraded>,
    /// Time and work that the ranking took.
    pub effort: Effort,
    /// Name of the model whose vectors were compared.
    pub model_used: Option<String>,
    pub(crate) likeness: Likeness,
    /// The texts of the best that may repeat each other, once they were read.
    pub(crate) copies: Option<Copies>,
    /// The wording that found a memory, where one did.
    pub(crate) found_by: HashMap<RowId, RowId>,
}

impl Ranking {
    /// Stores the candidates' places, each with its score in every channel that took part.
    fn take_places(&mut self, scores: &Scores, mut gathered: Vec<(RowId, Places)>) {
        scores.fill_places(&mut gathered, |channel| self.channels.iter().any(|(one, _)| *one == channel));
        self.places = gathered;
    }

    /// Replaces wordings by their memories in everything that it holds beside the order itself.
    fn rename(&mut self, worded: &Wordings) {
        if worded.is_empty() {
            return;
        }
        let found_by = &self.found_by;
        self.places.retain(|(row, _)| !found_by.contains_key(row));
        for (row, _) in &mut self.places {
            if let Some(memory) = worded.memory(*row).filter(|memory| found_by.get(memory) == Some(row)) {
                *row = memory;
            }
        }
        self.places.retain(|(row, _)| worded.memory(*row).is_none());
        self.places.sort_unstable_by_key(|(row, _)| *row);
        for (_, rows) in &mut self.channels {
            let mut seen = HashSet::with_capacity(rows.len());
            rows.retain_mut(|hit| {
                hit.row = worded.memory(hit.row).unwrap_or(hit.row);
                seen.insert(hit.row)
            });
        }
        for (memory, wording) in found_by {
            self.likeness.rename(*wording, *memory);
        }
    }

    /// Returns the rank and score of a candidate in each channel.
    pub fn places(&self, row: RowId) -> Places {
        let at = self.places.binary_search_by_key(&row, |(row, _)| *row);
        at.map_or_else(|_| Places::default(), |at| self.places[at].1)
    }

    /// Returns a channel's own list, best first.
    pub fn of(&self, channel: Channel) -> &[Scored] {
        self.channels.iter().find(|(one, _)| *one == channel).map_or(&[], |(_, rows)| rows)
    }
}

pub(crate) fn rank(engine: &Engine, request: &RankRequest<'_>) -> Result<Ranking> {
    // If an index turns out to be damaged, the second attempt answers from the store.
    engine.indexes.again(|| rank_once(engine, request))
}

fn rank_once(engine: &Engine, request: &RankRequest<'_>) -> Result<Ranking> {
    let found = FoundRows::of(engine, request.select, request.hide)?;
    let profile = request.profile.unwrap_or(engine.settings.profile);
    let scope = found.scope(profile, request.depth);
    let worded = &*found.worded;
    let asks = |channel| request.without != Some(channel);
    let mut ranking = Ranking::default();

    let (with_text, with_vectors) = (asks(Channel::Text), asks(Channel::Vector) && !request.fast);
    let names = profile == Profile::Bower && asks(Channel::Filename);
    if names {
        ask_names(engine, request.text, &scope, &mut ranking);
    }
    // What names a document is spelled as it is meant.
    let corrects = with_vectors && ranking.named.is_empty();
    let languages = languages(engine, scope.newest, scope.counted)?;
    let corrected =
        if corrects { spelling::corrected(engine, request.text, &languages, &scope)? } else { None };
    if let Some(corrected) = corrected.as_ref().filter(|_| names) {
        ask_names(engine, &corrected.text, &scope, &mut ranking);
    }
    let request = &RankRequest { text: corrected.as_ref().map_or(request.text, |one| &one.text), ..*request };
    let words = Words::of(request.text, &languages);
    let Retrieved { text, vectors, known } = if with_text && with_vectors {
        retrieve::both(engine, request.text, &words, &scope)?
    } else {
        let text = (with_text || request.fast).then(|| text_channel(engine, &words, &scope, &mut drop));
        let vectors = with_vectors.then(|| vector_channel(engine, request.text, &scope, &mut drop));
        Retrieved { text, vectors, known: Vec::new() }
    };
    let text = text.map(|text| take_text(text, &mut ranking));
    let asked_text = text.as_ref().and_then(|text| text.as_ref().ok());
    let vector = vectors.and_then(|vectors| take_vector(engine, vectors, asked_text, &scope, &mut ranking));
    let text = match (text, &vector) {
        (Some(Ok(text)), _) => Some(text),
        (Some(Err(error)), None) => return Err(error),
        (Some(Err(_)) | None, _) => None,
    };
    let start = Instant::now();
    let mut found = ChannelResults { words: &words, text, vector, known };
    match profile {
        Profile::Bower => by_default(engine, request, &mut found, (&scope, worded), &mut ranking)?,
        Profile::Athena | Profile::Atlas | Profile::Ade | Profile::Seed => {
            by_formula(engine, request, &mut found, (&scope, worded), &mut ranking)?;
        }
    }
    ranking.rename(worded);
    ranking.background = found.vector.as_ref().map(|vector| vector.scorer.background()).transpose()?;
    ranking.effort.candidates = ranking.fused.len();
    ranking.effort.rank_ms = milliseconds(start);
    ranking.corrected = corrected;
    Ok(ranking)
}

/// Records the text channel's result in the ranking; a failure is reported in `degraded`.
fn take_text(found: Result<TextFound>, ranking: &mut Ranking) -> Result<TextFound> {
    match found {
        Ok(found) => {
            note(ranking, Channel::Text, &found.rows, found.delta_rows, found.took_ms);
            note_unusable(ranking, Channel::Text, found.scorer.index.unusable());
            Ok(found)
        }
        Err(error) => {
            ranking.degraded.push(Degraded { channel: Channel::Text.into(), reason: error.to_string() });
            Err(error)
        }
    }
}

/// Reports a channel whose index cannot be searched, though its rows were found in the store.
fn note_unusable(ranking: &mut Ranking, channel: Channel, reason: Option<&str>) {
    if let Some(reason) = reason {
        let reason = format!("every row was compared without the index, which is being rebuilt: {reason}");
        ranking.degraded.push(Degraded { channel: channel.into(), reason });
    }
}

/// Records the vector channel's result in the ranking; a failure, and rows that it could not have found, are reported in
/// `degraded`.
fn take_vector<'a>(
    engine: &Engine,
    found: Result<Vectors<'a>>,
    text: Option<&TextFound>,
    scope: &Scope<'_>,
    ranking: &mut Ranking,
) -> Option<VectorFound<'a>> {
    let reason = match found {
        Ok(Vectors::Found(found)) => {
            note(ranking, Channel::Vector, &found.rows, found.delta_rows, found.took_ms);
            note_unusable(ranking, Channel::Vector, found.scorer.index.unusable());
            ranking.effort.embed_ms = found.embed_ms;
            ranking.effort.vector_cached = found.cached;
            ranking.model_used = Some(found.scorer.model.clone());
            // The counts are cheap and may be wrong while rows change, so the store is queried only when they differ.
            if text.is_some_and(|text| found.searched < text.searched)
                && waits(engine, &found.scorer.model, scope)
            {
                let reason = "some items have no vector yet: bower warm --all makes them".to_owned();
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
    let waits = || engine.store.unembedded(model, RowId(0), 1).map(|rows| !rows.is_empty());
    let some_wait = engine.caches.waits.get(scope.newest, waits).is_ok_and(|waits| *waits);
    let Some(keep) = scope.keep.filter(|_| some_wait) else { return some_wait };
    let waiting = || Ok(engine.store.unembedded(model, RowId(0), MOST_WAITING)?.into_iter().collect());
    let waiting = engine.caches.waiting.get(scope.newest, waiting);
    waiting.is_ok_and(|rows| rows.iter().any(|row| keep.contains(row)))
}

pub(crate) fn note(ranking: &mut Ranking, channel: Channel, rows: &[Scored], delta: usize, took_ms: f64) {
    ranking.effort.channels.push(ChannelEffort { channel, candidates: rows.len(), took_ms });
    ranking.effort.delta = ranking.effort.delta.max(delta);
    ranking.channels.push((channel, rows.to_vec()));
}

/// Most rows without a vector that are searched for those of a selection.
const MOST_WAITING: usize = 1 << 20;
