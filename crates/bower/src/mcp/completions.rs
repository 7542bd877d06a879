//! Completes ids, sessions, collections, types and tags that begin with the typed text.

use bower_core::item::{Kind, MemoryType, Status};
use jiff::Timestamp;
use rmcp::model::{CompleteResult, CompletionInfo, Reference};
use std::collections::BTreeMap;

use super::{prompts, resources, session};
use crate::service::{Bounds, ListBody, SelectBody, Served, Service};

/// Maximum number of items whose names are considered: the newest.
const LOOKED_AT: u32 = 500;

/// Kind of value to complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    Id,
    Session,
    Collection,
    Type,
    Tag,
    /// A value without suggestions.
    Free,
}

/// Returns the kind of an argument's values; none if its prompt or resource does not exist.
pub fn what(reference: &Reference, argument: &str) -> Option<What> {
    match reference {
        Reference::Prompt(prompt) if [prompts::RECALL, prompts::SAVE].contains(&prompt.name.as_str()) => {
            Some(match argument {
                "collection" => What::Collection,
                "type" => What::Type,
                "tag" => What::Tag,
                _ => What::Free,
            })
        }
        Reference::Resource(resource) if resource.uri.starts_with(resources::ITEM) => Some(What::Id),
        Reference::Resource(resource) if resource.uri.starts_with(session::SESSION) => Some(What::Session),
        // Another resource, or a kind of reference that a later protocol adds.
        _ => None,
    }
}

/// Returns the matching values: those of most items first, ids and sessions newest first.
pub fn values(
    what: What,
    typed: &str,
    service: &Service,
    bounds: &Bounds,
    now: Timestamp,
) -> Served<Vec<String>> {
    let newest = |select: SelectBody| {
        let body = ListBody { limit: Some(LOOKED_AT), select, ..ListBody::default() };
        service.list(&body, bounds, now).map(|listing| listing.memories)
    };
    let all = match what {
        What::Free => Vec::new(),
        What::Type => MemoryType::ALL.iter().map(ToString::to_string).collect(),
        What::Collection => most_first(service.status(bounds)?.by_collection().clone()),
        What::Id => newest(SelectBody::default())?.into_iter().map(|item| item.id).collect(),
        What::Session => {
            let select = SelectBody {
                kind: Some(Kind::Memory),
                statuses: Status::ALL.to_vec(),
                ..SelectBody::default()
            };
            newest(select)?.into_iter().filter_map(|item| item.source_conv_id).collect()
        }
        What::Tag => {
            let mut counts = BTreeMap::new();
            for tag in newest(SelectBody::default())?.into_iter().flat_map(|item| item.tags) {
                *counts.entry(tag).or_insert(0) += 1;
            }
            most_first(counts)
        }
    };
    let typed = typed.trim().trim_start_matches('#').to_lowercase();
    let mut found = Vec::new();
    for value in all {
        if value.to_lowercase().starts_with(&typed) && !found.contains(&value) {
            found.push(value);
        }
    }
    Ok(found)
}

fn most_first(counts: BTreeMap<String, u64>) -> Vec<String> {
    let mut all: Vec<_> = counts.into_iter().filter(|(_, count)| *count > 0).collect();
    all.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    all.into_iter().map(|(name, _)| name).collect()
}

/// Returns the values in the form of the protocol: a hundred at most, with the total number.
pub fn told(mut values: Vec<String>) -> CompleteResult {
    let total = values.len() as u32;
    values.truncate(CompletionInfo::MAX_VALUES);
    let more = (total as usize) > values.len();
    let info = CompletionInfo::with_pagination(values, Some(total), more).unwrap_or_default();
    CompleteResult::new(info)
}
