//! Defines the steps and limits that all writers of memories share.

use jiff::Timestamp;

use crate::engine::curate::class::TextClass;
use crate::engine::late::vector_for;
use crate::engine::mentions;
use crate::engine::{ACTOR, Engine};
use crate::error::{Error, Missing, Result};
use crate::item::{Author, Change, Gate, Provenance, Status, Tier, Visibility, derive_id};
use crate::memory::gate;
use crate::memory::judge::Judged;
use crate::request::{CurateRequest, Item};
use crate::store::{Decided, Namespace, NewMemory, NewVector, Stamp, WriteAction};

/// Longest text of a memory, in bytes: longer texts are documents and belong to `index`.
pub(crate) const MAX_CONTENT_BYTES: usize = 1 << 20;

/// Confidence of a new memory, which was said once.
pub(crate) const CONFIDENCE: f32 = 0.5;

/// Change number of a decision that no later write makes void.
pub(crate) const ANYTHING: Change = Change(i64::MAX.unsigned_abs());

/// Returns the id of a text in a namespace, derived from both. If the text was superseded and is written again, the id also
/// depends on the number of times.
pub(crate) fn free_id(engine: &Engine, place: &Namespace, content: &str) -> Result<String> {
    let mut id = place.memory_id(content);
    for again in 2_u32.. {
        let row = engine.store.rows_by_id(&id, &Visibility::everything(), 1)?.pop();
        // A wording has the fate of its memory.
        let item = row.map_or(Ok(None), |(row, _)| {
            let row = engine.store.worded_by(&[row])?.pop().flatten().unwrap_or(row);
            Ok(engine.store.items(&[row])?.pop().flatten())
        })?;
        if item.is_none_or(|item: Item| item.status != Status::Superseded) {
            break;
        }
        id = place.later_id(content, again);
    }
    Ok(id)
}

/// Writes a text in the place of a memory, in the caller's words: nothing is refused or compared.
pub(crate) fn replace(
    engine: &Engine,
    item: &Item,
    content: &str,
    said_by: Author,
    now: Timestamp,
) -> Result<Item> {
    check(content.trim())?;
    // The text is the caller's, but without secrets.
    let redacted = match engine.settings.gate_of(&item.collection) {
        Gate::Off => None,
        Gate::Normal | Gate::Strict => gate::redact(content.trim(), &gate::Constants::default()),
    };
    let content = redacted.as_ref().map_or(content, |redacted| &redacted.text).trim();
    let request = CurateRequest {
        said_by,
        memory_type: item.memory_type,
        source_conv_id: item.source_conv_id.clone(),
        ..CurateRequest::new(content)
    };
    let judged = TextClass::of(engine, content)?.judge(content, item.memory_type, item.confidence);
    let vector = vector_for(engine, content)?;
    let place =
        Namespace { collection: item.collection.clone(), scope: item.scope, owner: item.owner.clone() };
    let id = free_id(engine, &place, content)?;
    let mut memory = new_memory(&request, &place, content.to_owned(), Vec::new(), judged, vector);
    memory.id = id;
    let decided = Decided::by_rule(WriteAction::Replaces(item.row), "told", ANYTHING);
    let kept = engine.store.put_memory(&memory, &decided, Stamp { now, actor: ACTOR })?;
    let gone = || Error::NotFound { what: Missing::Item, id: item.id.clone() };
    engine.store.items(&[kept.ok_or_else(gone)?.row])?.pop().flatten().ok_or_else(gone)
}

/// Most characters of a tag: a longer one is a sentence, or the rest of a broken file.
pub(crate) const MAX_TAG_CHARS: usize = 200;

/// Returns a tag as it is stored: without `#`, lower case.
pub(crate) fn normal_tag(tag: &str) -> Result<String> {
    let normal = tag.trim().trim_start_matches('#').to_lowercase();
    if normal.chars().count() > MAX_TAG_CHARS {
        let start: String = normal.chars().take(20).collect();
        let what = format!("tag {start:?}… of {} characters", normal.chars().count());
        return Err(Error::invalid(what, format!("use at most {MAX_TAG_CHARS}")));
    }
    if normal.is_empty() || normal.chars().any(|c| c.is_whitespace() || c.is_control() || c == ',') {
        return Err(Error::invalid(format!("tag {normal:?}"), "use one word, such as release or api/v2"));
    }
    Ok(normal)
}

/// Returns tags as they are stored: without `#`, lower case, sorted, each once.
pub(crate) fn normal_tags(tags: &[String]) -> Result<Vec<String>> {
    let mut normal = Vec::with_capacity(tags.len());
    for tag in tags {
        normal.push(normal_tag(tag)?);
    }
    normal.sort_unstable();
    normal.dedup();
    Ok(normal)
}

/// Returns another program's tags in the form of ours: words are joined by `-`, and what is no tag then is left out.
pub(crate) fn foreign_tags(tags: &[String]) -> Vec<String> {
    let joined =
        tags.iter().map(|tag| tag.replace(',', " ").split_whitespace().collect::<Vec<_>>().join("-"));
    let mut normal: Vec<String> = joined.filter_map(|tag| normal_tags(&[tag]).ok()).flatten().collect();
    normal.sort_unstable();
    normal.dedup();
    normal
}

/// Returns a review's number for a caller. The store's number counts all callers' reviews. A caller that sees a part of the
/// store gets a number derived from the two sides: 48 bits, which any JSON reader keeps whole.
pub(crate) fn number(visibility: &Visibility, review: u64, newer: &str, older: &str) -> u64 {
    if visibility.is_everything() {
        return review;
    }
    let id = derive_id(&["review", newer, older]);
    u64::from_str_radix(&id[..12], 16).expect("an id is 16 hex digits")
}

pub(crate) fn check(content: &str) -> Result<()> {
    if content.is_empty() {
        return Err(Error::invalid("memory", "the text is empty; write what to remember"));
    }
    if content.len() > MAX_CONTENT_BYTES {
        let reason = format!(
            "{} bytes are more than {MAX_CONTENT_BYTES}; put it in a file and index that",
            content.len()
        );
        return Err(Error::invalid("memory", reason));
    }
    Ok(())
}

pub(crate) fn new_memory(
    request: &CurateRequest,
    place: &Namespace,
    content: String,
    tags: Vec<String>,
    judged: Judged,
    vector: Option<NewVector>,
) -> NewMemory {
    NewMemory {
        id: String::new(),
        collection: place.collection.clone(),
        memory_type: judged.memory_type,
        delta: mentions::of_memory(&content, &tags),
        content,
        summary: judged.summary,
        importance: judged.importance,
        confidence: CONFIDENCE,
        decay_rate: judged.decay_rate,
        tags,
        keywords: judged.keywords,
        metadata: request.metadata.clone(),
        scope: place.scope,
        owner: place.owner.clone(),
        status: Status::Active,
        tier: if request.pinned { Tier::Pinned } else { Tier::Active },
        source: ACTOR.to_owned(),
        source_conv_id: request.source_conv_id.clone(),
        provenance: Provenance::told(request.said_by),
        host: request.host.clone(),
        valid_from: None,
        valid_to: None,
        create_time: None,
        anchors: Vec::new(),
        vector,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_have_one_form() {
        let tags = |list: &[&str]| normal_tags(&list.iter().map(|tag| (*tag).to_owned()).collect::<Vec<_>>());
        assert_eq!(tags(&["#Beta", "alpha", " beta "]).unwrap(), ["alpha", "beta"]);
        assert!(tags(&["two words"]).is_err() && tags(&["#"]).is_err());
    }
}
