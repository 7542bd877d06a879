//! Keeping a memory: check it, embed it, write all of it in one transaction.

use jiff::Timestamp;
use std::time::Instant;
use unicode_segmentation::UnicodeSegmentation;

use super::answer::milliseconds;
use super::late::vector_of;
use super::{ACTOR, Engine, LANGUAGE};
use crate::error::{Error, Result};
use crate::item::{Channel, MemoryType, Status, Tier, derive_id};
use crate::request::{CurateRequest, Curated, Degraded};
use crate::store::{NewMemory, Stamp};
use crate::text;

/// A memory is a thought, not a file: longer texts are documents and belong to `index`.
const MAX_CONTENT_BYTES: usize = 1 << 20;

/// Summaries end here, in characters.
const MAX_SUMMARY: usize = 200;

/// A new memory's importance, confidence and decay, until they are judged from its text.
const IMPORTANCE: f32 = 0.5;
const CONFIDENCE: f32 = 0.5;
const DECAY_RATE: f32 = 0.01;

pub(super) fn curate(engine: &Engine, request: &CurateRequest, now: Timestamp) -> Result<Curated> {
    let start = Instant::now();
    let content = request.content.trim();
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
    let memory_type = request.memory_type.unwrap_or(MemoryType::Fact);
    let collection = request.collection.clone().unwrap_or_else(|| engine.settings.memory_collection.clone());
    let summary = first_sentence(content);
    let (vector, degraded) = match engine.model.get() {
        Ok(embedder) => (Some(vector_of(embedder, content)?), Vec::new()),
        Err(state) => {
            let reason = state.why();
            (None, vec![Degraded { channel: Channel::Vector.into(), reason }])
        }
    };
    let owner = request.owner.as_deref();
    // Who may see it is part of what it is: two owners who keep the same words keep two memories.
    let id = derive_id(&["memory", &collection, request.scope.word(), owner.unwrap_or(""), content]);
    let memory = NewMemory {
        id: id.clone(),
        collection,
        memory_type,
        content: content.to_owned(),
        summary: summary.clone(),
        importance: IMPORTANCE,
        confidence: CONFIDENCE,
        decay_rate: DECAY_RATE,
        tags: normal_tags(&request.tags)?,
        keywords: Vec::new(),
        metadata: request.metadata.clone(),
        scope: request.scope,
        owner: request.owner.clone(),
        status: Status::Active,
        tier: if request.pinned { Tier::Pinned } else { Tier::Active },
        source: ACTOR.to_owned(),
        source_conv_id: request.source_conv_id.clone(),
        terms: text::encode_terms(content, LANGUAGE),
        vector,
    };
    let kept = engine.store.put_memory(&memory, Stamp { now, actor: ACTOR })?;
    Ok(Curated {
        id,
        summary,
        memory_type,
        took_ms: milliseconds(start),
        is_update: kept.is_update,
        accepted: true,
        reason: None,
        degraded,
    })
}

/// Tags as they are kept: without `#`, lower case, sorted, each once.
pub(super) fn normal_tags(tags: &[String]) -> Result<Vec<String>> {
    let mut normal = Vec::with_capacity(tags.len());
    for tag in tags {
        let tag = tag.trim().trim_start_matches('#').to_lowercase();
        if tag.is_empty() || tag.chars().any(|c| c.is_whitespace() || c.is_control() || c == ',') {
            return Err(Error::invalid(format!("tag {tag:?}"), "use one word, such as release or api/v2"));
        }
        normal.push(tag);
    }
    normal.sort_unstable();
    normal.dedup();
    Ok(normal)
}

/// The first sentence of the first line that has one, at most 200 characters.
fn first_sentence(content: &str) -> String {
    let line = content.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let line = line.trim_start_matches('#').trim_start();
    let sentence = line.unicode_sentences().next().unwrap_or(line).trim();
    match sentence.char_indices().nth(MAX_SUMMARY) {
        Some((end, _)) => format!("{}…", sentence[..end].trim_end()),
        None => sentence.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_is_the_first_sentence() {
        let check = |content: &str, expected: &str| assert_eq!(first_sentence(content), expected);
        check("We chose PostgreSQL. It has pgvector.", "We chose PostgreSQL.");
        check("\n\n# Ports\n8080", "Ports");
        check("版本是二。下一句。", "版本是二。");
        check(&"word ".repeat(100), &format!("{}…", "word ".repeat(40).trim_end()));
    }

    #[test]
    fn tags_have_one_form() {
        let tags = |list: &[&str]| normal_tags(&list.iter().map(|tag| (*tag).to_owned()).collect::<Vec<_>>());
        assert_eq!(tags(&["#Beta", "alpha", " beta "]).unwrap(), ["alpha", "beta"]);
        assert!(tags(&["two words"]).is_err() && tags(&["#"]).is_err());
    }
}
