//! Compares canonical facts with memories: which memories say something else about the same thing.
//! Only the nearest memories of each fact are compared, by the rules that `curate` has for two statements.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashSet};

use crate::config::CanonicalFiles;
use crate::engine::Engine;
use crate::engine::curate::neighbours::{Neighbour, nearest};
use crate::engine::curate::relations::{most_alike, relation};
use crate::engine::late::vector_for;
use crate::engine::maintain::links::MOST_FINDINGS;
use crate::engine::model::embedder_threads;
use crate::engine::query::facts::{Statement, canonical_documents, canonical_text, facts, statements};
use crate::error::Result;
use crate::item::{Coverage, Kind, RowId, RowSet, Status};
use crate::memory::analysis::Analysis;
use crate::memory::conflict::{FactConflict, fact_conflict};
use crate::memory::consolidate::happens;
use crate::request::{Check, CheckFinding, CheckProblem, ConflictKind, ConflictingMemory, Item, Selection};
use crate::vector::in_order;

/// Most statements that are compared. Each takes some 10 ms: its vector, two searches, and a few pairs for the model.
const MOST_STATEMENTS: usize = 500;

/// Most characters of a memory's text in a finding.
const MOST_SHOWN: usize = 200;

/// A fact of a document.
struct DocumentFact {
    path: String,
    statement: Statement,
}

/// Compares the canonical facts with the memories. `None` if no document is canonical, and nobody named any.
pub(super) fn canonical_check(engine: &Engine) -> Result<Option<Check>> {
    let documents = canonical_documents(engine)?;
    let files = &engine.settings.canonical_files;
    if documents.is_empty() {
        let is_own = *files != CanonicalFiles::default() && !files.patterns().is_empty();
        return Ok(is_own.then(|| {
            let detail =
                format!("no indexed document is one of canonical_files ({})", files.patterns().join(", "));
            Check::weak("canonical", detail, "index the file, or correct the setting canonical_files")
        }));
    }
    let mut all = Vec::new();
    for document in documents.iter() {
        let Some((name, passages)) = canonical_text(&*engine.store, *document)? else { continue };
        let said = statements(&facts(&name.id, &passages)).into_iter();
        all.extend(said.map(|statement| DocumentFact { path: name.path.clone(), statement }));
    }
    all.sort_by(|one, two| (&one.path, one.statement.cited.line).cmp(&(&two.path, two.statement.cited.line)));
    let total = number(&all);
    all.truncate(MOST_STATEMENTS);
    let findings = conflicts(engine, &all)?;
    Ok(Some(check(engine, documents.len(), total, number(&all), findings)))
}

/// Returns the number of different facts.
fn number(statements: &[DocumentFact]) -> usize {
    statements.iter().map(|one| one.statement.cited.id.as_str()).collect::<HashSet<_>>().len()
}

/// Returns the conflicts of facts with memories, by fact.
fn conflicts(engine: &Engine, facts: &[DocumentFact]) -> Result<Vec<CheckFinding>> {
    let newest = engine.store.coverage()?;
    let memories = Selection {
        kinds: vec![Kind::Memory],
        // A memory is found by its other wordings too.
        statuses: vec![Status::Candidate, Status::Active, Status::Variant],
        ..Selection::default()
    };
    let Some(memories) = engine.store.select(&memories)?.filter(|rows| !rows.is_empty()) else {
        return Ok(Vec::new());
    };
    let found = in_order(embedder_threads(&engine.settings), facts.len(), |at| {
        engine.indexes.again(|| conflicts_of(engine, &facts[at], &memories, &newest))
    });
    let mut compared = Vec::new();
    for (at, pairs) in found.into_iter().enumerate() {
        compared.extend(pairs?.into_iter().map(|pair| ComparedPair { fact: at, ..pair }));
    }
    let mut told = told(compared);
    told.truncate(MOST_FINDINGS);
    Ok(told.into_iter().map(|(fact, memory, conflict)| finding(&facts[fact], &memory, conflict)).collect())
}

/// A fact and a memory that is about the same thing.
struct ComparedPair {
    /// Position of the fact.
    fact: usize,
    memory: Item,
    /// Their likeness in meaning; `None` without a model.
    cosine: Option<f32>,
    /// The conflict; `None` if they say the same.
    conflict: Option<FactConflict>,
}

/// Returns the conflicts to tell, by fact: of several facts that a memory is about, only the most alike counts. The other one may be of
/// another thing with the same attribute.
fn told(compared: Vec<ComparedPair>) -> Vec<(usize, Item, FactConflict)> {
    let mut best: BTreeMap<RowId, ComparedPair> = BTreeMap::new();
    for pair in compared {
        match best.entry(pair.memory.row) {
            Entry::Vacant(free) => {
                free.insert(pair);
            }
            Entry::Occupied(mut taken) => {
                if pair.cosine > taken.get().cosine {
                    taken.insert(pair);
                }
            }
        }
    }
    let conflicts = best.into_values().filter_map(|pair| Some((pair.fact, pair.memory, pair.conflict?)));
    let mut told: Vec<_> = conflicts.collect();
    told.sort_by_key(|(fact, memory, _)| (*fact, memory.row));
    told
}

fn conflicts_of(
    engine: &Engine,
    fact: &DocumentFact,
    memories: &RowSet,
    newest: &Coverage,
) -> Result<Vec<ComparedPair>> {
    let Statement { text, headed, .. } = &fact.statement;
    let searched = headed.as_ref().unwrap_or(text);
    let vector = vector_for(engine, searched)?;
    let near = nearest(engine, memories, &|_| true, searched, vector.as_ref(), newest)?;
    let alike: HashSet<RowId> = most_alike(&near).into_iter().map(|one| one.item.row).collect();
    let mut pairs = Vec::new();
    for one in near {
        let is_alike = alike.contains(&one.item.row);
        let conflict = match compared(engine, &fact.statement, &one, is_alike)? {
            FactVerdict::Conflict(conflict) => Some(conflict),
            FactVerdict::Same => None,
            FactVerdict::Unrelated => continue,
        };
        pairs.push(ComparedPair { fact: 0, memory: one.item, cosine: one.cosine, conflict });
    }
    Ok(pairs)
}

/// What a memory is to a fact.
enum FactVerdict {
    Conflict(FactConflict),
    Same,
    Unrelated,
}

/// Compares a fact with one memory. Whether it `is_alike` decides whether the model is asked where the form tells nothing.
fn compared(engine: &Engine, statement: &Statement, one: &Neighbour, is_alike: bool) -> Result<FactVerdict> {
    let happened = happens(one.item.memory_type);
    for said in std::iter::once(&statement.text).chain(&statement.headed) {
        let fact = Analysis::of(said);
        let is_asked = !happened && (is_alike || fact.has_other_number(&one.text));
        let relation = if is_asked { relation(engine, said, one.text.text())? } else { None };
        if let Some(conflict) = fact_conflict(&fact, &one.text, happened, relation) {
            return Ok(FactVerdict::Conflict(conflict));
        }
        if fact.plain() == one.text.plain() || relation.is_some_and(|relation| relation.is_same_or_more()) {
            return Ok(FactVerdict::Same);
        }
    }
    Ok(FactVerdict::Unrelated)
}

fn finding(fact: &DocumentFact, memory: &Item, conflict: FactConflict) -> CheckFinding {
    let (why, difference) = match conflict {
        FactConflict::Value(difference) => (ConflictKind::Value, difference),
        FactConflict::Contradiction => (ConflictKind::Contradiction, None),
    };
    CheckFinding {
        problem: CheckProblem::Conflict,
        path: fact.path.clone(),
        line: fact.statement.cited.line,
        text: fact.statement.text.clone(),
        candidates: Vec::new(),
        memory: Some(ConflictingMemory {
            id: memory.id.clone(),
            text: shortened(&memory.content),
            why,
            difference: difference.map(|difference| difference.to_string()),
        }),
    }
}

/// Returns a text as one line, cut after a number of characters.
fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MOST_SHOWN) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

fn check(
    engine: &Engine,
    documents: usize,
    total: usize,
    compared: usize,
    findings: Vec<CheckFinding>,
) -> Check {
    let plural = |number: usize, what: &str| format!("{number} {what}{}", if number == 1 { "" } else { "s" });
    let facts = format!("{} of {}", plural(total, "canonical fact"), plural(documents, "document"));
    let bound = if compared < total { format!(", the first {compared} compared") } else { String::new() };
    // A memory has one finding.
    let told = match findings.len() {
        0 => "no memory says something else".to_owned(),
        1 => "1 memory says something else".to_owned(),
        some => format!("{some} memories say something else"),
    };
    let detail = format!("{facts}{bound}: {told}");
    if let Err(state) = engine.model.get() {
        let detail = format!("{detail}; only numbers were compared: {}", state.why());
        let hint = "run bower model pull, then bower doctor compares their meaning";
        return Check { findings, ..Check::weak("canonical", detail, hint) };
    }
    if findings.is_empty() {
        return Check::good("canonical", detail);
    }
    let hint = "if the file is right: bower curate TEXT --replaces ID, or bower forget ID; if the memory is: edit the file";
    Check { findings, ..Check::weak("canonical", detail, hint) }
}
