//! The graph of items and the entities that they mention: extraction without a model, its index, and a walk over it.
//!
//! An entity is a name, title, link target, tag or rare word, and is known by a 56-bit hash of its folded form. `extract`
//! finds an item's mentions. A generation of segments stores them (`segment`), and [`MentionDelta`] holds those of rows
//! that the index lacks. `walk` ranks items by personalised `PageRank` from given entities and items.

mod aliases;
mod asked;
mod communities;
mod compact;
mod delta;
mod entity;
mod extract;
mod links;
mod path;
mod resolve;
mod scan;
mod segment;
mod terms;
#[cfg(any(test, feature = "fuzzing"))]
#[cfg_attr(not(test), allow(dead_code, unused_imports, reason = "fuzzers use a part of it"))]
#[allow(clippy::unwrap_used, reason = "it is made for tests, which fuzzers share")]
mod testing;
mod triples;
mod view;
mod walk;

pub use crate::generation::MANIFEST;
pub use aliases::{EntityAliases, alias_form};
pub use asked::{asked_names, content_words, entities_of, keys_of};
pub use communities::{
    Community, CommunityLevel, CommunityOptions, WeightedGraph, describe, detect_communities,
};
#[cfg(feature = "parts")]
pub use communities::{CommunityMember, connected_components, modularity};
pub use compact::compact;
pub use delta::{EntityOrder, MentionDelta};
pub use entity::{EntityKey, NodeId, Role, StoredMention, fold};
pub use extract::{ItemText, encode, mentions_and_edges};
pub use links::{LinkForm, WrittenLink, written_links};
pub use path::likeliest;
pub use resolve::{LinkDocument, LinkEnd, LinkIndex, tried_paths};
pub use segment::GraphIndex;
pub use terms::{ComparedTexts, TextFrequencies, TextWords, Vocabulary};
#[cfg(any(test, feature = "fuzzing"))]
pub use testing::damaged;
pub use triples::{TriplesRead, read_triples, relation_type};
pub use view::{Graph, ItemLink, KnownEntities, add_links, hub_limit};
pub use walk::{Seeds, Walked, walk};
