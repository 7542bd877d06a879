//! Briefs an agent that begins: loads the entries that `rank/brief.rs` chooses, within a budget of tokens.

use jiff::Timestamp;
use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::time::Instant;

use crate::engine::anchors::{AnchorCheck, remark};
use crate::engine::curate::review;
use crate::engine::query::evidence::ESTIMATE;
use crate::engine::query::plan::MAX_LIMIT;
use crate::engine::query::record::{SessionTexts, note_given_to, note_shown, questions_of, session_name};
use crate::engine::timing::milliseconds;
use crate::engine::{Engine, missing, query};
use crate::error::{Error, Result};
use crate::item::{Admission, CheckedAnchor, Kind, MemoryType, RowId, Status, Visibility};
use crate::prompt::{PromptText, one_line};
use crate::rank::brief::{self, BriefLine, Nearness, Section, nearness};
use crate::rank::budget::estimate_tokens;
use crate::request::{Brief, BriefRequest, Degraded, Item, QueryRequest, Review, Selection};
use crate::strength::strength;

/// Field of a memory's metadata with the folder in which the memory was written.
pub(crate) const FOLDER: &str = "folder";

/// Types of memories that record a choice.
const DECIDED: [MemoryType; 3] = [MemoryType::Decision, MemoryType::Convention, MemoryType::Preference];
/// Types of memories that record a way of doing things.
const PROCEDURES: [MemoryType; 2] = [MemoryType::Procedure, MemoryType::Gotcha];

/// Most of the newest memories of a kind that are searched for those of a folder.
const LOOKED_AT: usize = 256;
/// Budgets of tokens that a request may have.
const TOKENS: RangeInclusive<usize> = 64..=100_000;
/// Shortest name of a folder that is searched in texts: a shorter one is in too many.
const SHORTEST_NAME: usize = 4;

/// Returns a selection of active memories of some types.
fn memories(types: &[MemoryType]) -> Selection {
    Selection {
        kinds: vec![Kind::Memory],
        types: types.to_vec(),
        statuses: vec![Status::Active],
        ..Selection::default()
    }
}

fn near(item: &Item, request: &BriefRequest) -> Nearness {
    let folder = request.folder.as_deref();
    let told = nearness(item.metadata.get(FOLDER).and_then(|told| told.as_str()), folder);
    let name = folder.and_then(|folder| folder.rsplit(['/', '\\']).find(|part| !part.is_empty()));
    match (told, name) {
        // The memory has no folder, but its text names this one.
        (Nearness::Anywhere, Some(name))
            if name.len() >= SHORTEST_NAME && item.content.to_lowercase().contains(&name.to_lowercase()) =>
        {
            Nearness::Here
        }
        (told, _) => told,
    }
}

/// Whether a briefing may show an item without a question: items from outside only after a person kept them.
fn is_admitted(item: &Item) -> bool {
    item.provenance.admission(item.kind, item.status) != Admission::Held
}

/// Returns the note of an item, with the mark that it must have.
fn note_of(item: &Item, told: String) -> String {
    match item.provenance.mark(item.kind, item.status) {
        Some(mark) => format!("{told}; {mark}"),
        None => told,
    }
}

/// Returns pinned memories of this folder and of none, newest first.
fn pinned(engine: &Engine, visibility: &Visibility, request: &BriefRequest) -> Result<Vec<Item>> {
    let items = engine.store.items(&engine.store.pinned()?)?.into_iter().flatten();
    Ok(items
        .filter(|item| !item.damaged && item.status == Status::Active && item.is_visible(visibility))
        .filter(is_admitted)
        .filter(|item| near(item, request) != Nearness::Elsewhere)
        .collect())
}

/// Returns memories of some types, the best first: those that the task finds, then those of the folder, then the rest.
/// Decisions are ordered by age, ways of doing things by strength. With a task, the latter are only those that the task finds
/// or that are of the folder.
fn of_types(
    engine: &Engine,
    visibility: &Visibility,
    request: &BriefRequest,
    types: &[MemoryType],
    degraded: &mut Vec<Degraded>,
    now: Timestamp,
) -> Result<Vec<Item>> {
    let select = memories(types);
    let rows = engine.store.newest(types, Status::Active, visibility, LOOKED_AT)?;
    let mut items: Vec<(Nearness, Item)> = engine
        .store
        .items(&rows)?
        .into_iter()
        .flatten()
        .filter(|item| !item.damaged && is_admitted(item))
        .map(|item| (near(&item, request), item))
        .filter(|(near, _)| *near != Nearness::Elsewhere)
        .collect();
    if types == PROCEDURES {
        let strength = |item: &Item| strength(&item.facts(), now);
        items.sort_by(|(_, a), (_, b)| strength(b).total_cmp(&strength(a)).then(b.row.cmp(&a.row)));
        if request.task.is_some() {
            items.retain(|(near, _)| *near == Nearness::Here);
        }
    }
    items.sort_by_key(|(near, _)| *near);
    let Some(task) = request.task.as_deref().filter(|task| !task.trim().is_empty()) else {
        return Ok(items.into_iter().map(|(_, item)| item).collect());
    };
    let asked = QueryRequest {
        text: task.to_owned(),
        limit: brief::entries(request.budget).clamp(1, MAX_LIMIT),
        fast: request.fast,
        select,
        strict: true,
        prefetch: true,
        ..QueryRequest::default()
    };
    let answer = query::search(engine, visibility, &asked, now)?;
    degraded.extend(answer.degraded.into_iter().filter(|one| !degraded.contains(one)).collect::<Vec<_>>());
    let found = answer.hits.into_iter().map(|hit| hit.memory);
    let mut best: Vec<Item> = found.filter(|item| near(item, request) != Nearness::Elsewhere).collect();
    let had: HashSet<RowId> = best.iter().map(|item| item.row).collect();
    best.extend(items.into_iter().map(|(_, item)| item).filter(|item| !had.contains(&item.row)));
    Ok(best)
}

/// Returns open reviews that the session was not asked, of which a side is of this folder or of none: newest first, as many
/// as there is room for.
fn reviews(
    engine: &Engine,
    visibility: &Visibility,
    request: &BriefRequest,
    asked: &SessionTexts,
) -> Result<Vec<Review>> {
    let is_wanted = |review: &Review| {
        let sides = [&review.newer, &review.older];
        sides.into_iter().any(|side| near(side, request) != Nearness::Elsewhere)
            && sides.into_iter().all(is_admitted)
            && !asked.has_text(&question(review).text)
    };
    let newest = review::newest(engine, visibility)?;
    newest
        .filter(|review| review.as_ref().map_or(true, is_wanted))
        .take(brief::entries(request.budget))
        .collect()
}

fn entry(section: Section, item: &Item, anchors: Vec<CheckedAnchor>) -> BriefLine {
    let kind = item.memory_type.map_or("memory", MemoryType::word);
    let day = item.create_time.strftime("%F");
    let code = remark(&anchors).map_or_else(String::new, |remark| format!("; {remark}"));
    BriefLine {
        section,
        id: item.id.clone(),
        review: None,
        text: PromptText::line(&item.content),
        note: PromptText::line(&note_of(item, format!("{kind} {}, {day}{code}", short(&item.id)))),
        is_cut: false,
        anchors,
    }
}

/// Returns both sides of a contradiction, and the command that settles it.
fn question(review: &Review) -> BriefLine {
    let number = review.review;
    let mark = |side: &Item| {
        let mark = side.provenance.mark(side.kind, side.status);
        mark.map_or_else(String::new, |mark| format!(" ({mark})"))
    };
    BriefLine {
        section: Section::Review,
        id: review.newer.id.clone(),
        review: Some(number),
        text: PromptText::line(&format!(
            "\u{201c}{}\u{201d}{} or, as said before, \u{201c}{}\u{201d}{}?",
            one_line(&review.newer.summary),
            mark(&review.newer),
            one_line(&review.older.summary),
            mark(&review.older)
        )),
        note: PromptText::line(&format!("bower review accept|reject|both {number}")),
        is_cut: false,
        anchors: Vec::new(),
    }
}

/// Returns enough of an id to find the item.
fn short(id: &str) -> &str {
    id.get(..8).unwrap_or(id)
}

impl Engine {
    /// Returns a briefing for an agent that begins: pinned memories, decisions, open reviews, and how things are done.
    /// [`Engine::keep_given`] records what the session was given.
    pub fn brief(&self, visibility: &Visibility, request: &BriefRequest, now: Timestamp) -> Result<Brief> {
        let start = Instant::now();
        if let Some(tokens) = request.budget_tokens.filter(|tokens| !TOKENS.contains(tokens)) {
            let (least, most) = (TOKENS.start(), TOKENS.end());
            return Err(Error::invalid(format!("budget {tokens}"), format!("use {least} to {most} tokens")));
        }
        let session = request.session.as_ref().map(|session| session_name(session, visibility));
        let known = |name: &str| {
            if request.repeat { Ok(SessionTexts::default()) } else { SessionTexts::of_session(self, name) }
        };
        let (known, asked) = match &session {
            Some(session) => (known(session)?, known(&questions_of(session))?),
            None => (SessionTexts::default(), SessionTexts::default()),
        };
        let mut degraded = missing::degraded(self)?;
        let mut already_given = 0;
        let mut fresh = |items: Vec<Item>| -> Vec<Item> {
            let before = items.len();
            let fresh: Vec<Item> = items.into_iter().filter(|item| !known.has(item)).collect();
            already_given += before - fresh.len();
            fresh
        };

        let pinned = fresh(pinned(self, visibility, request)?);
        let mut seen: HashSet<RowId> = pinned.iter().map(|item| item.row).collect();
        let decided = fresh(of_types(self, visibility, request, &DECIDED, &mut degraded, now)?);
        let decided: Vec<Item> = decided.into_iter().filter(|item| seen.insert(item.row)).collect();
        let procedures = fresh(of_types(self, visibility, request, &PROCEDURES, &mut degraded, now)?);
        let procedures: Vec<Item> = procedures.into_iter().filter(|item| seen.insert(item.row)).collect();
        let reviews = reviews(self, visibility, request, &asked)?;

        let room = brief::entries(request.budget).saturating_sub(pinned.len());
        let [some, ways, open] = brief::deal([decided.len(), procedures.len(), reviews.len()], room);
        let chosen = [
            (Section::Pinned, &pinned[..]),
            (Section::Decided, &decided[..some]),
            (Section::Procedure, &procedures[..ways]),
        ];
        let mut items: Vec<&Item> = chosen.iter().flat_map(|(_, items)| items.iter()).collect();
        let sections = chosen.iter().flat_map(|(section, items)| items.iter().map(|_| *section));
        let checked = match &request.root {
            Some(folder) => AnchorCheck::new(folder).of_items(self, &items)?,
            None => vec![Vec::new(); items.len()],
        };
        let told = sections.zip(&items).zip(checked);
        let mut entries: Vec<BriefLine> =
            told.map(|((section, item), anchors)| entry(section, item, anchors)).collect();
        entries.extend(reviews[..open].iter().map(question));

        let embedder = if request.fast { None } else { self.model.counter() };
        let count = |text: &str| {
            let pieces = embedder.and_then(|embedder| embedder.count_pieces(text).ok());
            pieces.unwrap_or_else(|| estimate_tokens(text))
        };
        let budget_tokens = request.budget_tokens.unwrap_or_else(|| brief::tokens(request.budget));
        let (entries, left_out) = brief::pack(entries, budget_tokens, &count);
        let shown: HashSet<&str> = entries.iter().map(|entry| entry.id.as_str()).collect();
        items.retain(|item| shown.contains(item.id.as_str()));
        note_shown(self, items.iter().map(|item| item.row), now);
        if let Some(session) = session {
            let is_shown = |review: &&Review| entries.iter().any(|entry| entry.review == Some(review.review));
            let asked = reviews[..open].iter().filter(is_shown);
            let asked = asked.map(|review| (review.newer.row, String::from(question(review).text)));
            note_given_to(self, questions_of(&session), asked);
            note_given_to(self, session, items.iter().map(|item| (item.row, item.content.as_str())));
        }
        let candidates = self.store.number(Status::Candidate, visibility)?;
        Ok(Brief {
            budget: request.budget,
            task: request.task.clone(),
            folder: request.folder.clone(),
            tokens: count(&brief::block(&entries)),
            entries,
            budget_tokens,
            counted_by: embedder.map_or(ESTIMATE, |embedder| embedder.model()).to_owned(),
            left_out,
            already_given,
            candidates: usize::try_from(candidates).unwrap_or(usize::MAX),
            took_ms: milliseconds(start),
            degraded,
        })
    }
}
