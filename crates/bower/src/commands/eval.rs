//! `bower eval`: the real engine in a folder of its own, judged on a labelled set.

use bower_core::config::Settings;
use bower_core::engine::{DocumentInput, Engine, RankRequest};
use bower_core::item::{Profile, Scored, When};
use bower_core::request::Selection;
use std::collections::BTreeMap;
use std::time::Instant;

use super::{Session, now};
use crate::cli::EvalArgs;
use crate::eval::set::{Query, Set};
use crate::eval::{self, RunLists, Task};
use crate::failure::{Failure, Result};

/// The collection of documents that belong to no group.
const UNGROUPED: &str = "eval";

/// Indexes the set's documents into a temporary home, puts its questions, prints the figures.
pub fn run(arguments: &EvalArgs, session: &Session) -> Result<()> {
    let set = Set::load(&arguments.dir)?;
    let home = session.home()?;
    let mut settings = session.settings(&home)?.settings;
    settings.models_folder.get_or_insert_with(|| home.models());
    let folder = tempfile::tempdir().map_err(|source| {
        Failure::environment(
            format!("cannot create a temporary folder: {source}"),
            "set TMPDIR to a folder with room",
        )
    })?;
    let engine = Engine::open(folder.path(), settings.clone(), now())?;
    session.out.note(&format!("indexing {} documents …", set.documents.len()));
    let report = engine.add_documents(documents(&set), now())?;
    for skipped in &report.skipped {
        session.out.note(&format!("left out {}: {}", skipped.path.display(), skipped.reason));
    }
    for degraded in &report.degraded {
        session.out.note(&format!("{} is not judged: {}", degraded.channel, degraded.reason));
    }
    session.out.note(&format!(
        "{} chunks in {:.1} s; asking {} questions …",
        report.chunks_added,
        report.took_ms / 1e3,
        set.queries.len()
    ));
    let profile = arguments.profile.unwrap_or(settings.profile);
    let task = Task { profile: profile.word(), cutoff: arguments.limit_k };
    let report = eval::evaluate(&set, &task, |query| ask(&engine, &settings, profile, query))?;
    session.out.say(&report, |_| eval::render(&report))
}

fn documents(set: &Set) -> Vec<DocumentInput> {
    // Turns of one conversation carry its date, or its name, as their title: they are parts of one session.
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
            collection: Some(collection(document.group.as_deref())),
            metadata: serde_json::Map::new(),
            session: document.group.as_deref().and_then(|group| session(group, &document.title)),
        })
        .collect()
}

fn collection(group: Option<&str>) -> String {
    group.map_or_else(|| UNGROUPED.to_owned(), |group| format!("{UNGROUPED} {group}"))
}

/// One question, as `bower query` would put it, in all channels.
fn ask(
    engine: &Engine,
    settings: &Settings,
    profile: Profile,
    query: &Query,
) -> bower_core::Result<RunLists> {
    let select = match &query.group {
        Some(group) => Selection { collections: vec![collection(Some(group))], ..Selection::default() },
        None => Selection::default(),
    };
    let start = Instant::now();
    let ranking = engine.rank(&RankRequest {
        text: &query.text,
        depth: settings.candidates,
        fast: false,
        profile: Some(profile),
        select: &select,
        hide: None,
        when: When::Soft,
        without: None,
        now: now(),
    })?;
    let took_ms = start.elapsed().as_secs_f64() * 1e3;
    let ids = |rows: &[Scored]| engine.sources(rows);
    let mut channels = BTreeMap::new();
    for (channel, rows) in &ranking.channels {
        channels.insert(channel.word().to_owned(), ids(rows)?);
    }
    let fused: Vec<Scored> =
        ranking.fused.iter().map(|one| Scored { row: one.row, score: one.score }).collect();
    Ok(RunLists { fused: ids(&fused)?, channels, took_ms })
}
