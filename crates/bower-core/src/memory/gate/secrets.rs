//! Finds keys, tokens, passwords and personal numbers in a text, by tables of formats and words and by learned weights.
//! What is found is only ever a place and a kind: no value leaves this file.

mod blocks;
mod found;
mod issuers;
mod labels;
mod numbers;
mod phrases;
mod placeholder;
mod syntax;
mod values;
mod words;

use std::ops::Range;

use super::constants::Constants;
pub use found::SecretKind;
use found::cut;
pub(super) use found::{Found, STAND_IN};
use labels::hits;
pub(super) use labels::{is_holder, is_namer};
use values::Labelled;

/// A text without its secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redacted {
    /// Each secret is replaced by what it is: `[redacted: AWS access key]`.
    pub text: String,
    /// What was cut out, in the order of the text.
    pub found: Vec<SecretKind>,
}

/// The text without its secrets; `None` where it holds none.
pub fn redact(text: &str, constants: &Constants) -> Option<Redacted> {
    let found = find(text, constants);
    if found.is_empty() {
        return None;
    }
    Some(Redacted { text: cut(text, &found), found: found.iter().map(|secret| secret.kind).collect() })
}

/// Every secret of a text, in its order, none inside another.
pub(super) fn find(text: &str, constants: &Constants) -> Vec<Found> {
    until_none(text, Some(constants.least_bare))
}

/// The same but for random characters and words that nothing announces.
pub(super) fn find_announced(text: &str) -> Vec<Found> {
    until_none(text, None)
}

/// Searches again without what was found, for a label that stood before two values; so what was cut once holds nothing more.
fn until_none(text: &str, least_bare: Option<usize>) -> Vec<Found> {
    // Each round finds what the ones before hid; more than three were never seen.
    const MOST_ROUNDS: usize = 6;
    let mut found = search(text, least_bare);
    for _ in 0..MOST_ROUNDS {
        if found.is_empty() {
            break;
        }
        let rest = cut(text, &found);
        let more = search(&rest, least_bare);
        if more.is_empty() {
            break;
        }
        // Places of the rest are those of the text, moved by what was cut before them.
        let mut known = found.iter().peekable();
        let (mut grown, mut shrunk) = (0, 0);
        let back: Vec<Found> = more
            .into_iter()
            .map(|secret| {
                while let Some(next) = known.next_if(|next| next.at.start + grown - shrunk < secret.at.start)
                {
                    grown += STAND_IN.len() + next.kind.label().len() + 1;
                    shrunk += next.at.len();
                }
                Found {
                    at: secret.at.start + shrunk - grown..secret.at.end + shrunk - grown,
                    kind: secret.kind,
                }
            })
            .collect();
        found.extend(back);
        found = apart(found);
    }
    found
}

fn search(text: &str, least_bare: Option<usize>) -> Vec<Found> {
    let (mut sure, mut public) = (Vec::new(), Vec::new());
    blocks::armour(text, &mut sure, &mut public);
    issuers::scan(text, &mut sure, &mut public);
    blocks::web_tokens(text, &mut sure);
    blocks::urls(text, &mut sure);
    let mut likely = Vec::new();
    // The words that stand in for secrets name none.
    let mut hits = hits(text);
    let stand_ins = redacted(text);
    hits.retain(|hit| !is_in(&stand_ins, &hit.at));
    let labelled = Labelled { text, hits: &hits };
    labelled.syntax(&mut likely);
    labelled.values(&mut likely);
    labelled.entries(&mut likely);
    labelled.restoring(&mut likely);
    labelled.personal(&mut likely);
    numbers::cards(text, &mut likely);
    numbers::accounts(text, &mut likely);
    if let Some(least) = least_bare {
        values::bare(text, &hits, least, &mut likely);
        phrases::bare_seeds(text, &mut likely);
    }
    public.sort_by_key(|range| range.start);
    likely.retain(|found| !is_in(&public, &found.at));
    sure.append(&mut likely);
    sure.retain(|found| !found.at.is_empty() && !is_in(&stand_ins, &found.at));
    apart(sure)
}

/// Where secrets were cut out before.
fn redacted(text: &str) -> Vec<Range<usize>> {
    let ends = text.match_indices(STAND_IN).filter_map(|(at, _)| Some(at..at + text[at..].find(']')? + 1));
    ends.collect()
}

/// Whether a range shares a place with one of several that are in order.
fn is_in(ranges: &[Range<usize>], at: &Range<usize>) -> bool {
    let next = ranges.partition_point(|range| range.end <= at.start);
    ranges.get(next).is_some_and(|range| range.start < at.end)
}

/// In the order of the text, those that overlap as one.
fn apart(mut found: Vec<Found>) -> Vec<Found> {
    // The first rule to find a place names it: it is the most certain.
    found.sort_by(|a, b| a.at.start.cmp(&b.at.start).then(b.at.end.cmp(&a.at.end)));
    let mut kept: Vec<Found> = Vec::with_capacity(found.len());
    for next in found {
        match kept.last_mut() {
            Some(last) if next.at.start < last.at.end => last.at.end = last.at.end.max(next.at.end),
            Some(_) | None => kept.push(next),
        }
    }
    kept
}

#[cfg(test)]
mod tests;
