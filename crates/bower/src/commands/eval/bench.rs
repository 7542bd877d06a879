//! Runs a labelled set in the real engine: indexes it once into a temporary home, then asks its questions.
//! Questions are asked as by `bower query`, with the whole ranking or without one part. Only the models of the user's own home
//! are read; nothing in it is written.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Instant;

use bower_core::config::Settings;
use bower_core::engine::evaluation::{Depth, RankRequest, Ranking, channels, reciprocal_rank};
use bower_core::engine::{DocumentInput, Engine};
use bower_core::item::{Channel, Profile, RowId, RowSet, Scope, Scored, Visibility, When};
use bower_core::request::Selection;
use jiff::Timestamp;
use tempfile::TempDir;

use crate::commands::{Session, now};
use crate::eval::set::{Query, Set};
use crate::eval::{self, Outcome, RunLists};
use crate::failure::{Failure, Result};

/// Collection of documents that belong to no group.
const UNGROUPED: &str = "eval";

/// Prior weight in rows that no real number of rows outweighs.
const ALWAYS: f32 = 1e12;

/// An indexed set.
pub(super) struct Bench<'a> {
    /// The labelled set.
    pub(super) set: &'a Set,
    /// Settings of the whole ranking.
    pub(super) settings: Settings,
    /// Engine with these settings.
    pub(super) engine: Engine,
    /// Present time of all questions.
    pub(super) now: Timestamp,
    /// The k of the figures: number of hits.
    pub(super) cutoff: usize,
    folder: TempDir,
}

/// Assignment of rows to documents.
#[derive(Debug, Default)]
pub(super) struct Rows {
    documents: HashMap<RowId, String>,
    rows: HashMap<String, Vec<RowId>>,
}

impl Rows {
    /// Returns the document of a row.
    pub(super) fn document(&self, row: RowId) -> Option<&str> {
        self.documents.get(&row).map(String::as_str)
    }

    /// Returns the rows of a document.
    pub(super) fn of(&self, document: &str) -> &[RowId] {
        self.rows.get(document).map_or(&[], Vec::as_slice)
    }

    /// Returns the rows of some documents.
    pub(super) fn of_all(&self, documents: &BTreeSet<String>) -> RowSet {
        documents.iter().flat_map(|document| self.of(document)).copied().collect()
    }

    /// Returns the number of rows.
    pub(super) fn len(&self) -> usize {
        self.documents.len()
    }
}

/// Options of one question.
#[derive(Clone, Copy, Debug)]
pub(super) struct Put<'a> {
    /// Profile that ranks.
    pub(super) profile: Profile,
    /// Number of rows that each channel returns.
    pub(super) depth: Depth,
    /// Rows that are hidden.
    pub(super) hide: Option<&'a RowSet>,
    /// Channel that is left out.
    pub(super) without: Option<Channel>,
}

/// Part of the ranking that is left out; by default, none.
#[derive(Clone, Copy, Default)]
pub(super) struct Parts {
    /// `channel` or `factor`.
    pub(super) kind: &'static str,
    /// Name of the part for display.
    pub(super) removed: &'static str,
    /// Channel that is left out.
    without: Option<Channel>,
    /// Change to the settings that removes the part.
    change: Option<fn(&mut Settings)>,
}

/// Returns the parts of a profile that can be left out: the channels, and the factors of the default profile. (The formulas of
/// the source systems are not changed.)
pub(super) fn parts_of(profile: Profile) -> Vec<Parts> {
    let channel = |channel: Channel| Parts {
        kind: "channel",
        removed: channel.word(),
        without: Some(channel),
        change: None,
    };
    let factor = |removed: &'static str, change: fn(&mut Settings)| Parts {
        kind: "factor",
        removed,
        without: None,
        change: Some(change),
    };
    // Only the default profile walks the graph: leaving it out of another changes nothing.
    let walks = profile == Profile::Bower;
    let asked = channels(profile).iter().filter(|one| walks || **one != Channel::Graph);
    let mut parts: Vec<Parts> = asked.map(|one| channel(*one)).collect();
    if profile == Profile::Bower {
        parts.extend([
            factor("words", |settings| settings.bower.text_weight = 0.0),
            factor("meaning", |settings| settings.bower.vector_weight = 0.0),
            factor("trust", |settings| {
                // With a prior that nothing outweighs, trust is 1 for every question.
                settings.bower.trust_prior = 1.0;
                settings.bower.trust_prior_rows = ALWAYS;
            }),
            factor("word by word", |settings| settings.bower.tokens_weight = 0.0),
            factor("context", |settings| settings.bower.parent_weight = 0.0),
            factor("speaker", |settings| settings.bower.speaker_weight = 0.0),
            factor("every word", |settings| settings.bower.complete_weight = 0.0),
            factor("time", |settings| settings.time_weight = 0.0),
            factor("turn beside it", |settings| settings.bower.adjacent_weight = 0.0),
            factor("neighbours", |settings| settings.bower.neighbour_weight = 0.0),
        ]);
    }
    parts
}

impl<'a> Bench<'a> {
    /// Indexes a set's documents; `cutoff` is the k of the figures.
    pub(super) fn new(
        set: &'a Set,
        cutoff: usize,
        mut settings: Settings,
        session: &Session,
    ) -> Result<Self> {
        settings.models_folder.get_or_insert(session.home()?.models());
        // Each question is asked several times; its vector is computed once.
        settings.cached_queries = settings.cached_queries.max(set.queries.len());
        let folder = tempfile::tempdir().map_err(|source| {
            Failure::environment(
                format!("cannot create a temporary folder: {source}"),
                "set TMPDIR to a folder with room",
            )
        })?;
        let now = now();
        let engine = Engine::open(folder.path(), settings.clone(), now)?;
        session.out.note(&format!("indexing {} documents …", set.documents.len()));
        let report =
            engine.add_documents(&Visibility::everything(), documents(set), (Scope::Project, None), now)?;
        for skipped in &report.skipped {
            session.out.note(&format!("left out {}: {}", skipped.path.display(), skipped.reason));
        }
        for degraded in &report.degraded {
            session.out.note(&format!("{} is not judged: {}", degraded.channel, degraded.reason));
        }
        session.out.note(&format!("{} chunks in {:.1} s", report.chunks_added, report.took_ms / 1e3));
        Ok(Self { set, settings, engine, now, cutoff, folder })
    }

    /// Computes the figures of a profile without some part of the ranking.
    pub(super) fn judge(&self, profile: Profile, parts: &Parts) -> Result<Outcome> {
        let changed = match parts.change {
            Some(change) => {
                let mut settings = self.settings.clone();
                change(&mut settings);
                Some(Engine::open(self.folder.path(), settings, self.now)?)
            }
            None => None,
        };
        let engine = changed.as_ref().unwrap_or(&self.engine);
        let excludes = self.set.queries.iter().any(|query| !query.exclude.is_empty());
        let rows = excludes.then(|| self.rows()).transpose()?.unwrap_or_default();
        let outcome = eval::judge(self.set, self.cutoff, |query| {
            // An excluded document is hidden, not only left out of the list: its links would lead to the documents sought.
            let hidden = rows.of_all(&query.exclude);
            let hide = (!hidden.is_empty()).then_some(&hidden);
            let start = Instant::now();
            let put = Put { profile, depth: Depth::Hits(self.cutoff), hide, without: parts.without };
            let ranking = self.rank(engine, query, &put)?;
            lists(engine, self.settings.rrf_k, &ranking, start.elapsed().as_secs_f64() * 1e3)
        })?;
        // Writes the questions' vectors to the cache for the next run.
        engine.maintain(self.now)?;
        Ok(outcome)
    }

    /// Ranks one question as `bower query` would.
    pub(super) fn rank(&self, engine: &Engine, query: &Query, put: &Put<'_>) -> bower_core::Result<Ranking> {
        engine.rank(
            &Visibility::everything(),
            &RankRequest {
                text: &query.text,
                depth: put.depth,
                fast: false,
                profile: Some(put.profile),
                select: &selection(query),
                hide: put.hide,
                when: When::Soft,
                without: put.without,
                now: self.now,
            },
        )
    }

    /// Returns the assignment of rows to documents.
    pub(super) fn rows(&self) -> Result<Rows> {
        let everything =
            self.engine.list(&Visibility::everything(), &Selection::default(), usize::MAX >> 1, 0)?.memories;
        let all: Vec<Scored> = everything.iter().map(|item| Scored { row: item.row, score: 0.0 }).collect();
        let mut rows = Rows::default();
        for (hit, document) in all.iter().zip(self.engine.sources(&Visibility::everything(), &all)?) {
            rows.rows.entry(document.clone()).or_default().push(hit.row);
            rows.documents.insert(hit.row, document);
        }
        Ok(rows)
    }
}

/// Returns a selection of the query's own group.
pub(super) fn selection(query: &Query) -> Selection {
    match &query.group {
        Some(group) => {
            Selection { collections: vec![collection(Some(group)).into_owned()], ..Selection::default() }
        }
        None => Selection::default(),
    }
}

/// The documents of each list, best first.
fn lists(engine: &Engine, rrf_k: f32, ranking: &Ranking, took_ms: f64) -> bower_core::Result<RunLists> {
    let mut channels = BTreeMap::new();
    for (channel, rows) in &ranking.channels {
        channels.insert(channel.word().to_owned(), engine.sources(&Visibility::everything(), rows)?);
    }
    if ranking.channels.len() > 1 {
        // Reciprocal rank fusion is the usual way to merge lists; it is reported for comparison.
        let all: Vec<&[Scored]> = ranking.channels.iter().map(|(_, rows)| rows.as_slice()).collect();
        channels.insert(
            "rrf".to_owned(),
            engine.sources(&Visibility::everything(), &reciprocal_rank(&all, rrf_k))?,
        );
    }
    let fused: Vec<Scored> =
        ranking.fused.iter().map(|one| Scored { row: one.row, score: one.score }).collect();
    Ok(RunLists { fused: engine.sources(&Visibility::everything(), &fused)?, channels, took_ms })
}

fn documents(set: &Set) -> Vec<DocumentInput> {
    // Documents of one group with the same title (a date or a name) are turns of one session.
    let mut titled: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for document in &set.documents {
        if let Some(group) = &document.group {
            *titled.entry((group.as_str(), document.title.as_str())).or_default() += 1;
        }
    }
    let session = |group: &str, title: &str| {
        (!title.is_empty() && titled.get(&(group, title)).is_some_and(|&count| count > 1))
            .then(|| title.to_owned())
    };
    set.documents
        .iter()
        .map(|document| DocumentInput {
            id: document.id.clone(),
            title: Some(document.title.clone()),
            text: document.text.clone(),
            collection: Some(collection(document.group.as_deref()).into_owned()),
            metadata: serde_json::Map::new(),
            session: document.group.as_deref().and_then(|group| session(group, &document.title)),
            ..DocumentInput::default()
        })
        .collect()
}

fn collection(group: Option<&str>) -> Cow<'static, str> {
    group.map_or(Cow::Borrowed(UNGROUPED), |group| Cow::Owned(format!("{UNGROUPED} {group}")))
}
