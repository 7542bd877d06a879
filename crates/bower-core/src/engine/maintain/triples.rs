//! Lets the language model of the settings read triples off the texts of items, if the user requested that.
//! A text is sent once for each model and version of the prompt. Each answer is written at once, so a stopped run goes on.

use jiff::Timestamp;
use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use crate::engine::llm::{AskError, NO_LLM};
use crate::engine::maintain::bounded_llm::BoundedLlm;
use crate::engine::query::plan::{Depth, FoundRows};
use crate::engine::{ACTOR, Engine};
use crate::error::{Error, Result};
use crate::graph::{TriplesRead, read_triples};
use crate::item::{Change, LlmOperation, Profile, RowId, Visibility};
use crate::llm::{TRIPLES_PROMPT, triples_prompt};
use crate::request::{
    ExtractProgress, ExtractReport, ExtractRequest, FailedRequests, RemovedTriples, TripleSource,
};
use crate::store::{Extractor, MentionSource, NewTriples, Stamp};

/// Rows whose texts are read at once.
const BATCH: usize = 256;
/// Most texts of one request: a small model mixes up more.
const MOST_TEXTS: usize = 4;
/// Most bytes of the texts of one request, unless it has one text only.
const MOST_BYTES: usize = 4_000;

/// Divides texts, by their lengths in bytes, into requests: ranges in their order.
fn requests(lengths: &[usize]) -> Vec<std::ops::Range<usize>> {
    let mut requests: Vec<std::ops::Range<usize>> = Vec::new();
    let mut bytes = 0;
    for (at, length) in lengths.iter().enumerate() {
        match requests.last_mut() {
            Some(last) if last.len() < MOST_TEXTS && bytes + length <= MOST_BYTES => last.end = at + 1,
            Some(_) | None => {
                requests.push(at..at + 1);
                bytes = 0;
            }
        }
        bytes += length;
    }
    requests
}

/// Takes the texts that are equal to an earlier one from a list, and returns their rows: one of them is sent.
fn take_twins(sources: &mut Vec<MentionSource>) -> Vec<RowId> {
    let mut seen: HashSet<String> = HashSet::new();
    let mut twins = Vec::new();
    sources.retain(|source| {
        let is_first = seen.insert(source.content.clone());
        if !is_first {
            twins.push(source.row);
        }
        is_first
    });
    twins
}

/// Returns the source of the triples that a model reads.
fn source_of(model: &str) -> String {
    format!("llm:{model}")
}

/// State of a run.
struct Run<'a> {
    engine: &'a Engine,
    llm: BoundedLlm<'a>,
    stamp: Stamp<'a>,
    report: ExtractReport,
    failures: BTreeMap<String, usize>,
}

impl Run<'_> {
    /// Asks about some texts in one request, and writes the triples. If the answer has not the form that was asked for, it asks
    /// about each text alone; one that has no such answer alone either counts as read.
    fn ask(&mut self, sources: &[MentionSource]) -> Result<()> {
        let texts: Vec<&str> = sources.iter().map(|source| source.content.as_str()).collect();
        let read = |answer: &str| {
            let read = read_triples(answer, &texts);
            if read.is_readable { Ok(read) } else { Err("it has no list of relations".to_owned()) }
        };
        let (read, by) = match self.llm.complete(&triples_prompt(&texts), Duration::MAX, &read) {
            Ok(told) => (told.value, told.model),
            Err(AskError::NoAnswer(why)) => {
                *self.failures.entry(why).or_default() += 1;
                return Ok(());
            }
            Err(AskError::Unusable(_)) if sources.len() > 1 => {
                return sources.iter().try_for_each(|source| self.ask(std::slice::from_ref(source)));
            }
            Err(AskError::Unusable(_)) => {
                let of_texts = vec![Vec::new(); texts.len()];
                (TriplesRead { of_texts, ..TriplesRead::default() }, self.llm.model().to_owned())
            }
        };
        let TriplesRead { of_texts, dropped, is_readable } = read;
        let source = source_of(&by);
        let by = Extractor { source: &source, prompt: TRIPLES_PROMPT };
        let new = |(source, triples): (&MentionSource, _)| NewTriples { row: source.row, triples };
        let new: Vec<NewTriples> = sources.iter().zip(of_texts).map(new).collect();
        self.report.items += self.engine.store.put_triples(by, &new, self.stamp)?;
        self.report.triples += new.iter().map(|one| one.triples.len()).sum::<usize>();
        let all = &mut self.report.dropped;
        all.unreadable += usize::from(!is_readable);
        all.malformed += if is_readable { dropped.malformed } else { 0 };
        all.invented += dropped.invented;
        all.surplus += dropped.surplus;
        Ok(())
    }

    /// Returns the results. `rows` is the number of items that the model had not read before.
    fn ended(mut self, rows: usize) -> ExtractReport {
        self.report.uses = self.llm.uses();
        self.report.requests += self.report.uses.iter().map(|one| one.requests).sum::<usize>();
        self.report.waiting = rows.saturating_sub(self.report.cached + self.report.items);
        let failures = self.failures.into_iter().map(|(why, requests)| FailedRequests { why, requests });
        self.report.failures = failures.collect();
        self.report.failures.sort_by_key(|one| std::cmp::Reverse(one.requests));
        self.report
    }
}

impl Engine {
    /// Sends the texts of visible items to the language model of the settings, and keeps the triples that it reads off them, as long
    /// as `go_on` returns true. Texts that it read before are not sent again.
    ///
    /// Fails with [`Error::Invalid`] if the settings name no model.
    pub fn extract_triples(
        &self,
        visibility: &Visibility,
        request: &ExtractRequest,
        now: Timestamp,
        progress: &dyn Fn(ExtractProgress),
        go_on: &dyn Fn() -> bool,
    ) -> Result<ExtractReport> {
        let Some(llm) = BoundedLlm::of(self, LlmOperation::Triples, now) else {
            return Err(Error::invalid("extract triples", NO_LLM));
        };
        let select = request.select.within(visibility)?;
        let found = FoundRows::of(self, &select, None)?;
        let scope = found.scope(Profile::Bower, Depth::Hits(1));
        let sources: Vec<String> = llm.models().into_iter().map(source_of).collect();
        let by_all = || sources.iter().map(|source| Extractor { source, prompt: TRIPLES_PROMPT });
        let mut rows = self.store.text_rows(Change(0), scope.newest.change)?;
        rows.retain(|row| scope.contains(*row));
        let all = rows.len();
        // What a model that stood in has read is not sent again.
        for by in by_all() {
            let known = self.store.extracted_rows(by)?;
            rows.retain(|row| !known.contains(*row));
        }
        let report = ExtractReport {
            source: sources.first().cloned().unwrap_or_default(),
            dry_run: request.dry_run,
            known: all - rows.len(),
            ..ExtractReport::default()
        };
        let stamp = Stamp { now, actor: ACTOR };
        let mut run = Run { engine: self, llm, stamp, report, failures: BTreeMap::new() };
        let most = request.limit.unwrap_or(usize::MAX);
        let mut sent = 0;
        for batch in rows.chunks(BATCH) {
            if sent >= most || run.llm.gave_up() || !go_on() {
                break;
            }
            let mut wanted: Vec<RowId> = batch.to_vec();
            for by in by_all() {
                let cached = self.store.cached_rows(by, &wanted)?;
                run.report.cached += cached.len();
                if !cached.is_empty() && !request.dry_run {
                    self.store.link_triples(by, &cached, stamp)?;
                }
                wanted.retain(|row| !cached.contains(row));
            }
            let mut sources = self.store.mention_sources(&wanted)?;
            let twins = take_twins(&mut sources);
            sources.truncate(most - sent);
            let lengths: Vec<usize> = sources.iter().map(|source| source.content.len()).collect();
            for range in requests(&lengths) {
                if run.llm.gave_up() || !go_on() {
                    break;
                }
                sent += range.len();
                if request.dry_run {
                    run.report.requests += 1;
                    run.report.items += range.len();
                    continue;
                }
                run.ask(&sources[range])?;
                let total = most.min(rows.len() - run.report.cached);
                progress(ExtractProgress { items: sent, total, triples: run.report.triples });
            }
            if request.dry_run {
                run.report.cached += twins.len();
            } else if !twins.is_empty() {
                for by in by_all() {
                    let cached = self.store.cached_rows(by, &twins)?;
                    run.report.cached += self.store.link_triples(by, &cached, stamp)?;
                }
            }
        }
        Ok(run.ended(rows.len()))
    }

    /// Removes all triples of a source, such as `llm:` and a model's name. What people stated stays.
    ///
    /// Fails with [`Error::Invalid`] if there is no such source.
    pub fn remove_triples(&self, source: &str, now: Timestamp) -> Result<RemovedTriples> {
        let sources = self.triple_sources()?;
        if !sources.iter().any(|one| one.source == source) {
            let names: Vec<&str> = sources.iter().map(|one| one.source.as_str()).collect();
            let reason = if names.is_empty() {
                "the store has no triples".to_owned()
            } else {
                format!("the store has triples of {}", names.join(", "))
            };
            return Err(Error::invalid(format!("source {source}"), reason));
        }
        self.store.remove_triples(source, Stamp { now, actor: ACTOR })
    }

    /// Returns the sources of triples with their numbers.
    pub fn triple_sources(&self) -> Result<Vec<TripleSource>> {
        self.store.triple_sources()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_texts_share_a_request_and_a_long_one_has_its_own() {
        assert_eq!(requests(&[10, 10, 10, 10, 10]), [0..4, 4..5]);
        assert_eq!(requests(&[3_000, 1_000, 1, 5_000, 1]), [0..2, 2..3, 3..4, 4..5]);
        assert!(requests(&[]).is_empty());
    }
}
