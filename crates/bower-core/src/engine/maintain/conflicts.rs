//! Compares canonical facts with memories: which memories say something else about the same thing.
//! Only the nearest memories of each fact are compared, by the rules that `curate` has for two statements.

use std::collections::HashSet;

use crate::engine::Engine;
use crate::engine::curate::neighbours::{Neighbour, nearest};
use crate::engine::curate::relations::Relations;
use crate::engine::late::vector_for;
use crate::engine::maintain::links::MOST_FINDINGS;
use crate::engine::model::embedder_threads;
use crate::engine::query::facts::{Statement, canonical_documents, canonical_text, facts, statements};
use crate::error::Result;
use crate::item::{Coverage, Kind, RowSet, Status};
use crate::memory::analysis::Analysis;
use crate::memory::conflict::{FactConflict, fact_conflict};
use crate::memory::consolidate::happens;
use crate::request::{
    Check, CheckFinding, CheckProblem, ConflictKind, ConflictingMemory, Outcome, Selection,
};
use crate::vector::in_order;

/// Most facts that are compared. Each takes some 10 ms: its vector, two searches, and four pairs for the model.
const MOST_FACTS: usize = 500;

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
        let is_own = *files != Default::default() && !files.patterns().is_empty();
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
    let total = all.len();
    all.truncate(MOST_FACTS);
    let findings = conflicts(engine, &all)?;
    Ok(Some(check(engine, documents.len(), total, all.len(), findings)))
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
    let mut all = Vec::new();
    // A fact that stands in two files contradicts a memory once.
    let mut seen = HashSet::new();
    for (fact, found) in facts.iter().zip(found) {
        let is_new = |one: &CheckFinding| {
            let memory = one.memory.as_ref().map(|memory| memory.id.clone());
            seen.insert((fact.statement.text.clone(), memory))
        };
        all.extend(found?.into_iter().filter(is_new));
    }
    all.truncate(MOST_FINDINGS);
    Ok(all)
}

fn conflicts_of(
    engine: &Engine,
    fact: &DocumentFact,
    memories: &RowSet,
    newest: &Coverage,
) -> Result<Vec<CheckFinding>> {
    let text = &fact.statement.text;
    let vector = vector_for(engine, text)?;
    let near = nearest(engine, memories, &|_| true, text, vector.as_ref(), newest)?;
    let said = Analysis::of(text);
    let mut relations = Relations::default();
    relations.ask(engine, &said, &near)?;
    let conflict = |one: &Neighbour| {
        let memory = &one.item;
        let conflict =
            fact_conflict(&said, &one.text, happens(memory.memory_type), relations.of(memory.row))?;
        let (why, difference) = match conflict {
            FactConflict::Value(difference) => (ConflictKind::Value, difference),
            FactConflict::Contradiction => (ConflictKind::Contradiction, None),
        };
        Some(CheckFinding {
            problem: CheckProblem::Conflict,
            path: fact.path.clone(),
            line: fact.statement.cited.line,
            text: text.clone(),
            candidates: Vec::new(),
            memory: Some(ConflictingMemory {
                id: memory.id.clone(),
                text: shortened(&memory.content),
                why,
                difference: difference.map(|difference| difference.to_string()),
            }),
        })
    };
    Ok(near.iter().filter_map(conflict).collect())
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
    let mut detail = format!("{} of {}", plural(total, "canonical fact"), plural(documents, "document"));
    if compared < total {
        detail += &format!(", the first {compared} compared");
    }
    let memories: HashSet<&str> =
        findings.iter().filter_map(|one| one.memory.as_ref()).map(|memory| memory.id.as_str()).collect();
    detail += &match memories.len() {
        0 => ": no memory says something else".to_owned(),
        1 => ": 1 memory says something else".to_owned(),
        some => format!(": {some} memories say something else"),
    };
    if let Err(state) = engine.model.get() {
        detail += &format!("; only numbers were compared: {}", state.why());
        let hint = "run bower model pull, then bower doctor compares their meaning";
        return Check { findings, ..Check::weak("canonical", detail, hint) };
    }
    if findings.is_empty() {
        return Check::good("canonical", detail);
    }
    let hint = "if the file is right: bower curate TEXT --replaces ID, or bower forget ID; if the memory is: edit the file";
    Check { outcome: Outcome::Weak, findings, ..Check::weak("canonical", detail, hint) }
}
