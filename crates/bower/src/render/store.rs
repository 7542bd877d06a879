//! Renders the state of the store for people: kept memories, status, checks and copies.

use bower_core::item::{CurateOutcome, Part, Step};
use bower_core::request::{
    AnchorsReport, Curated, Degraded, Held, Loss, ModelState, NearCopies, Salvaged, StatusReport, StoreCopy,
    WorkerActivity, WorkerStatus,
};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use super::review::possible;
use super::table::{Column, Table};
use super::{Look, bytes, count, duration, line, style, thousands, wrapped};
use crate::service::StorePart;

/// Digits of another memory's id; `bower get` accepts that many.
const SHORT_ID: usize = 6;

const KEY: Column = Column::new().style(style::DIM);

/// Renders `bower curate`: the id first, because the user needs it, then the outcome and its reason.
pub fn curated(curated: &Curated, look: &Look) -> String {
    let mut out =
        curated.id.as_ref().map_or_else(String::new, |id| format!("{}  ", look.paint(style::NAME, id)));
    let kept = if curated.is_candidate { "waits as" } else { "kept as" };
    let kept = format!("{kept} {}", curated.memory_type);
    let other = curated.other.as_ref().map(|other| {
        let age = look.age(other.create_time);
        let id = look.paint(style::NAME, &other.id[..other.id.len().min(SHORT_ID)]);
        (format!("{id}… ({age})"), line(&other.why), other.stands)
    });
    let what = match (curated.outcome, other) {
        (CurateOutcome::Refuse, _) => look.paint(style::WEAK, "not kept"),
        (CurateOutcome::Create, _) | (_, None) => kept,
        (_, Some((other, why, true))) => format!("kept as history: {other} holds, {why}"),
        (CurateOutcome::Confirm, Some((_, why, _))) => format!("confirmed: {why}"),
        (CurateOutcome::Link, Some((other, why, _))) => format!("{kept}, beside {other}: {why}"),
        (CurateOutcome::Append, Some((other, ..))) => format!("updated: says all of {other} and more"),
        (CurateOutcome::Supersede, Some((other, why, _))) => format!("updated: replaces {other}, {why}"),
        (CurateOutcome::Contradict, Some((other, why, _))) => {
            format!("{kept}, but it contradicts {other}: {why}")
        }
    };
    out += &what;
    if curated.anchors > 0 {
        let _ = write!(out, ", with {} in the code", count(curated.anchors as u64, "anchor"));
    }
    if let Some(reason) = &curated.reason {
        let _ = write!(out, ": {}", line(reason));
    }
    let _ = writeln!(out, " {}", look.paint(style::DIM, &format!("({})", duration(curated.took_ms))));
    if let Some(review) = curated.review {
        out += &wrapped("? ", &format!("which is right? bower review accept|reject|both {review}"), look);
    }
    if let Some(id) = &curated.id {
        out += &possible(id, &curated.possible, look);
    }
    if !curated.redacted.is_empty() {
        let mut note = format!("cut out before it was kept: {}", line(&curated.redacted.join(", ")));
        if !curated.redacted_fields.is_empty() {
            let _ = write!(note, " (fields: {})", curated.redacted_fields.join(", "));
        }
        out += &wrapped("! ", &note, look);
    }
    if let Some(id) = curated.id.as_ref().filter(|_| curated.is_candidate) {
        let note = format!("it comes from outside: bower review keep|drop {id}");
        out += &wrapped("? ", &note, look);
    }
    out + &degraded(&curated.degraded, "cannot be found yet by", look)
}

/// Renders the channels that cannot find the new items.
pub fn degraded(degraded: &[Degraded], what: &str, look: &Look) -> String {
    degraded.iter().fold(String::new(), |all, one| {
        let note = match one.channel {
            Part::Step(Step::Pick | Step::Store | Step::Language) => line(&one.reason),
            Part::Channel(_) | Part::Step(Step::Rerank | Step::Tokens) => {
                format!("{what} {}: {}", one.channel, line(&one.reason))
            }
        };
        all + &wrapped("! ", &note, look)
    })
}

/// Formats a missing part of an answer in one line.
pub fn lacks(one: &Degraded, what: &str) -> String {
    match one.channel {
        Part::Channel(channel) => format!("not {what}: {channel}: {}", line(&one.reason)),
        Part::Step(Step::Rerank | Step::Tokens) => {
            format!("not done: {}: {}", one.channel, line(&one.reason))
        }
        Part::Step(Step::Pick | Step::Store | Step::Language) => line(&one.reason),
    }
}

/// Renders `bower doctor --salvage`.
pub fn salvaged(salvaged: &Salvaged, look: &Look) -> String {
    let into = salvaged.into.display();
    let mut out = format!(
        "{into}: {}, {} in {}\n",
        super::memories(salvaged.memories),
        count(salvaged.chunks, "chunk"),
        count(salvaged.documents, "document"),
    );
    for id in &salvaged.damaged {
        out += &wrapped(
            "! ",
            &format!("the text of item {id} is not as it was written: it has the tag damaged"),
            look,
        );
    }
    if let Some(file) = &salvaged.unplaced_file {
        let texts = count(salvaged.unplaced as u64, "text");
        let file = line(&file.display().to_string());
        out += &wrapped("! ", &format!("{texts} of items that could not be read: {file}"), look);
    }
    for what in salvaged.unreadable.iter().chain(&salvaged.findings) {
        out += &wrapped("! ", &line(what), look);
    }
    out + &format!(
        "look at it with bower --home {into} list; bower restore {into}/memory.db puts it in the home's place\n"
    )
}

/// Renders `bower doctor --accept-loss`.
pub fn accepted(losses: &[Loss]) -> String {
    if losses.is_empty() {
        return "nothing is missing\n".to_owned();
    }
    losses.iter().fold(String::new(), |all, loss| {
        all + &format!("accepted: changes {} to {} are missing\n", loss.first_change, loss.last_change)
    })
}

/// Renders `bower backup`.
pub fn backed_up(copied: &StoreCopy, to: &Path) -> String {
    format!("{}: {}\n", to.display(), what(copied))
}

/// Renders `bower restore`.
pub fn restored(copied: &StoreCopy, from: &Path) -> String {
    let kept = copied
        .replaced
        .as_ref()
        .map_or_else(String::new, |path| format!("what was there is kept as {}\n", path.display()));
    format!("restored from {}: {}\n{kept}", from.display(), what(copied))
}

fn what(copied: &StoreCopy) -> String {
    format!("{} ({}, change {})", count(copied.items, "item"), bytes(copied.bytes), copied.change)
}

/// Renders `bower status`.
pub fn status(report: &StatusReport, look: &Look) -> String {
    let mut table = Table::new(0, [KEY, Column::new().shrinks()]);
    let memories = match report.total_memories {
        0 => "0".to_string(),
        _ => format!(
            "{}; mean importance {:.2}",
            memories(report.total_memories, &report.by_type),
            report.avg_importance
        ),
    };
    let documents =
        format!("{} in {}", thousands(report.total_documents), count(report.total_chunks, "chunk"));
    table.row(["memories", &memories]).row(["documents", &documents]);
    let in_collections = collections(&report.by_collection);
    if !in_collections.is_empty() {
        table.row(["collections", &in_collections]);
    }
    if !report.languages.is_empty() {
        let counted = report.languages.iter().map(|one| format!("{} {}", one.language, thousands(one.items)));
        table.row(["languages", &counted.collect::<Vec<_>>().join(", ")]);
    }
    let size = bytes(report.total_size_bytes);
    table.row([
        "store",
        &format!("{} ({size}, schema {}, change {})", report.db_path.display(), report.schema, report.change),
    ]);
    let waiting = match (report.text_delta, report.vector_delta) {
        (0, 0) => "everything indexed".to_string(),
        (text, vector) => {
            format!(
                "not indexed yet, searched directly: {} text, {} vector rows",
                thousands(text),
                thousands(vector)
            )
        }
    };
    table.row(["indexes", &format!("{}; {waiting}", health(report.index_healthy))]);
    if !report.scopes.is_empty() {
        table.row(["scopes", &held(&report.scopes)]);
    }
    let runs: Vec<_> = ["sweep", "prune", "consolidate"]
        .into_iter()
        .filter_map(|run| Some(format!("{run} {}", look.age(*report.last_runs.get(run)?))))
        .collect();
    if !runs.is_empty() {
        table.row(["last runs", &runs.join(", ")]);
    }
    let unembedded = match report.unembedded {
        0 => String::new(),
        number => format!("; {} without a vector", count(number, "item")),
    };
    table.row(["vectors", &format!("{}{unembedded}", report.vector_index_tier)]);
    table.row(["model", &model(&report.model)]);
    if report.cache.entries + report.cache.hits + report.cache.misses > 0 {
        table.row(["cache", &super::cache::summary(&report.cache)]);
    }
    if let Some(status) = &report.worker {
        table.row(["worker", &worker(status, look)]);
    }
    let lost = report.losses.iter().map(|loss| wrapped("! ", &line(&loss.sentence()), look));
    let unknown = report.unknown_languages.iter().map(|told| wrapped("! ", told, look));
    table.print(look) + &lost.chain(unknown).collect::<String>()
}

/// Renders the status for a caller that is limited to part of the store.
pub fn part(part: &StorePart, look: &Look) -> String {
    let mut table = Table::new(0, [KEY, Column::new().shrinks()]);
    table.row(["memories", &memories(part.total_memories, &part.by_type)]);
    table.row(["chunks", &thousands(part.total_chunks)]);
    if !part.by_collection.is_empty() {
        table.row(["collections", &collections(&part.by_collection)]);
    }
    if !part.scopes.is_empty() {
        table.row(["scopes", &held(&part.scopes)]);
    }
    table.row(["indexes", health(part.index_healthy)]).row(["model", &model(&part.model)]);
    table.print(look)
}

fn most_first(counts: &BTreeMap<String, u64>) -> Vec<(String, u64)> {
    let some = counts.iter().filter(|(_, number)| **number > 0);
    let mut all: Vec<_> = some.map(|(name, number)| (line(name), *number)).collect();
    all.sort_by_key(|(name, number)| (std::cmp::Reverse(*number), name.clone()));
    all
}

fn memories(total: u64, by_type: &BTreeMap<String, u64>) -> String {
    let types: Vec<_> =
        most_first(by_type).iter().map(|(name, number)| format!("{} {name}", thousands(*number))).collect();
    if types.is_empty() { thousands(total) } else { format!("{} ({})", thousands(total), types.join(", ")) }
}

fn collections(counts: &BTreeMap<String, u64>) -> String {
    let all = most_first(counts);
    let all: Vec<_> = all.iter().map(|(name, number)| format!("{name} ({})", thousands(*number))).collect();
    all.join(", ")
}

fn health(is_healthy: bool) -> &'static str {
    if is_healthy { "match the store" } else { "do not match the store: bower doctor" }
}

fn held(scopes: &[Held]) -> String {
    let held = scopes.iter().map(|held| {
        let owner = held.owner.as_deref().map(|owner| format!(" of {}", line(owner))).unwrap_or_default();
        let limit = match held.limit {
            0 => String::new(),
            limit => format!(" of {} ({} %)", thousands(limit), 100 * held.memories / limit),
        };
        format!("{}{owner} {}{limit}", held.scope, thousands(held.memories))
    });
    held.collect::<Vec<_>>().join(", ")
}

/// Renders what the last worker recorded, in one line.
fn worker(status: &WorkerStatus, look: &Look) -> String {
    let rate = status.rate.map(|rate| format!(" at {rate:.0} a second")).unwrap_or_default();
    let waiting = thousands(status.queue);
    let mut out = match status.activity {
        WorkerActivity::Idle => "nothing waits for a vector".to_owned(),
        WorkerActivity::Embedding => {
            format!("{waiting} wait for a vector, {} done{rate}", thousands(status.done))
        }
        WorkerActivity::Deferred => format!("{waiting} wait for a vector; it gives way to requests"),
        WorkerActivity::Elsewhere => "another process makes the vectors".to_owned(),
        WorkerActivity::Waiting => "it waits to try again".to_owned(),
    };
    if status.is_coming {
        let _ = write!(out, "; then {} answers", line(&status.model));
    }
    if let Some(reason) = &status.reason {
        let _ = write!(out, ": {}", line(reason));
    }
    let _ = write!(out, " (process {}, {})", status.process, look.age(status.time));
    out
}

fn model(state: &ModelState) -> String {
    state.reason.as_deref().map_or_else(|| format!("{} is {}", state.name, state.state), line)
}

/// Renders `bower doctor --copies`: each group with its first document, and how like it the others are.
pub fn copies(copies: &NearCopies, look: &Look) -> String {
    let mut out = String::new();
    for group in &copies.groups {
        let _ = writeln!(out, "{}", look.paint(style::NAME, &line(&group.path)));
        for copy in &group.copies {
            let share = format!("{:>4.0} %", copy.likeness * 100.0);
            let _ = writeln!(out, "  {}  {}", look.paint(style::DIM, &share), line(&copy.path));
        }
    }
    let found: usize = copies.groups.iter().map(|group| group.copies.len()).sum();
    let summary = match found {
        0 => format!("no near copies among {}", count(copies.compared, "document")),
        _ => format!(
            "{} of {} repeat most of another; answers show such text once",
            thousands(found as u64),
            count(copies.compared, "document")
        ),
    };
    out + &look.paint(style::TITLE, &summary) + "\n"
}

/// Renders `bower doctor --anchors`.
pub fn anchors(report: &AnchorsReport, look: &Look) -> String {
    let mut out = String::new();
    for memory in &report.memories {
        let id = memory.id.get(..8).unwrap_or(&memory.id);
        let room = look.width.saturating_sub(super::columns(id) + 2).max(16);
        let summary = line(&memory.summary);
        let _ = writeln!(out, "{}  {}", look.paint(style::DIM, id), super::cut(&summary, room));
        out += &super::anchors::anchors(&memory.anchors, 2, look);
    }
    let all = format!("of {} that name code", super::memories(report.anchored as u64));
    let held = match report.memories.len() {
        0 => "nothing changed in the code".to_owned(),
        some => format!("look again at {}", super::memories(some as u64)),
    };
    let unchecked = match report.unchecked {
        0 => String::new(),
        some => format!("; {} could not be checked here", count(some as u64, "anchor")),
    };
    out + &look.paint(style::TITLE, &format!("{held} {all}{unchecked}")) + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::sample;
    use bower_core::item::{Channel, Durability, MemoryType, Scope};
    use bower_core::request::{CacheStatus, Held, ModelState, Other, ProcessCache, WorkerState};

    fn report() -> StatusReport {
        StatusReport {
            languages: Vec::new(),
            unknown_languages: None,
            total_memories: 1_042,
            total_chunks: 20_311,
            total_documents: 780,
            total_size_bytes: 123_400_000,
            by_type: [("fact".into(), 900), ("decision".into(), 142), ("digest".into(), 0)].into(),
            by_collection: [("documents".into(), 20_311), ("memories".into(), 1_042)].into(),
            avg_importance: 0.314,
            index_healthy: true,
            db_path: "/home/ada/.bowerbird/memory.db".into(),
            vector_index_tier: "two-stage".into(),
            schema: 1,
            change: 2_204,
            text_delta: 12,
            vector_delta: 1_400,
            token_delta: 0,
            uncoded: 0,
            unembedded: 3,
            model: ModelState {
                name: "all-MiniLM-L6-v2".into(),
                state: "missing".into(),
                reason: Some("run bower model pull".into()),
            },
            cache: CacheStatus {
                entries: 12,
                bytes: 13_920,
                hits: 30,
                misses: 12,
                hit_ratio: Some(0.714),
                process: ProcessCache { entries: 0, hits: 0, misses: 0, hit_ratio: None },
                models: Vec::new(),
            },
            worker: Some(WorkerStatus {
                state: WorkerState::Ready,
                activity: WorkerActivity::Embedding,
                model: "mdbr-leaf-ir.i8-2".into(),
                is_coming: true,
                queue: 12_000,
                done: 8_353,
                rate: Some(61.4),
                process: 4_711,
                time: sample::time("2026-10-31T23:59:00Z"),
                ..WorkerStatus::default()
            }),
            scopes: vec![
                Held { scope: Scope::Project, owner: None, memories: 1_000, limit: 2_000 },
                Held { scope: Scope::Agent, owner: Some("ada".into()), memories: 42, limit: 0 },
            ],
            last_runs: [("sweep".to_owned(), sample::time("2026-01-01T00:00:00Z"))].into(),
            losses: Vec::new(),
        }
    }

    #[test]
    fn a_store() {
        insta::assert_snapshot!("status", status(&report(), &sample::look(100)));
        let narrow = status(&report(), &sample::look(60));
        assert!(narrow.lines().all(|line| crate::render::columns(line) <= 60), "{narrow}");
    }

    #[test]
    fn what_was_written() {
        let kept = Curated {
            id: Some("9f2c41d07ab3e658".into()),
            summary: "x".into(),
            memory_type: MemoryType::Fact,
            took_ms: 0.71,
            is_update: false,
            accepted: true,
            reason: None,
            outcome: CurateOutcome::Create,
            durability: Durability::Lasting,
            other: None,
            possible: Vec::new(),
            redacted: Vec::new(),
            redacted_fields: Vec::new(),
            is_candidate: false,
            anchors: 0,
            review: None,
            degraded: vec![Degraded {
                channel: Channel::Vector.into(),
                reason: "no model; run bower model pull".into(),
            }],
        };
        let look = sample::look(80);
        assert_eq!(
            curated(&kept, &look),
            "9f2c41d07ab3e658  kept as fact (0.7 ms)\n! cannot be found yet by vector: no model; run bower model pull\n"
        );
        let other = |why: &str, stands: bool| {
            let create_time = sample::time("2026-05-17T12:00:00Z");
            Some(Other { id: "3f2a9c0011223344".into(), create_time, why: why.into(), stands })
        };
        let plain = Curated { degraded: Vec::new(), ..kept };
        let value = "port 8080 -> 9090";
        let all = [
            (CurateOutcome::Confirm, other("says the same (cosine .97)", false)),
            (CurateOutcome::Link, other("another fact: 16 GB -> 32 GB", false)),
            (CurateOutcome::Append, other("says more", false)),
            (CurateOutcome::Supersede, other(value, false)),
            (CurateOutcome::Supersede, other(value, true)),
            (CurateOutcome::Contradict, other("one denies the other", false)),
        ]
        .map(|(outcome, other)| {
            let review = (outcome == CurateOutcome::Contradict).then_some(7);
            curated(&Curated { outcome, other, review, ..plain.clone() }, &look)
        });
        let refused = Curated {
            id: None,
            accepted: false,
            outcome: CurateOutcome::Refuse,
            reason: Some("a raw diff is in git already; say in a sentence what changed and why".into()),
            redacted: vec!["AWS access key".into()],
            ..plain
        };
        insta::assert_snapshot!("curated", all.concat() + &curated(&refused, &look));
    }
}
