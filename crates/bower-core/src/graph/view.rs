//! Reads the graph of the items that may be found: what an item mentions, and which items mention an entity.

use std::ops::Range;

use foldhash::{HashMap, HashMapExt};

use super::aliases::EntityAliases;
use super::delta::MentionDelta;
use super::entity::{EntityKey, NodeId, Role, StoredMention};
use super::segment::{GraphIndex, MentionSegment, read};
use crate::error::Result;
use crate::item::{Allowed, RowId, RowSet};

/// Most items of an entity: those that mention it most strongly.
const MOST_ITEMS: usize = 200;
/// Most items of one document to which an entity leads.
const MOST_OF_A_DOCUMENT: u32 = 3;
/// An entity that more than this share of the items mention is no node. In a store of fewer than 1,600 items, the limit for names
/// is twice the square root of their number.
const HUB_SHARE: f64 = 0.05;
/// An entity that more items mention is no node in any store: [`MOST_ITEMS`] of them say little about the others.
const MOST_MENTIONING: f64 = 1_000.0;
/// Least rarity of an entity.
const LEAST_RARITY: f64 = 0.01;
/// Occurrences that a title counts in addition.
const TITLE_COUNT: u32 = 2;

/// The entities that were read, by key.
pub type KnownEntities = HashMap<EntityKey, Entity>;

/// The segment that has an item, and where in it the mentions of each entity that the item mentions begin.
pub type StoredStarts<'a> = (&'a MentionSegment, &'a [u32]);

/// A mention by an item that may be found, with the item's row and the number of its document, 0 for none.
type Mentioned = (StoredMention, RowId, u32);

/// The mentions of all items that may be found.
#[derive(Clone, Copy, Debug)]
pub struct Graph<'a> {
    /// The index, if there is one.
    pub index: Option<&'a GraphIndex>,
    /// The rows that it lacks.
    pub delta: &'a MentionDelta<'a>,
    /// The rows that may be found.
    pub allowed: Allowed<'a>,
    /// Rows of the index that were replaced or removed.
    pub stale: &'a RowSet,
    /// Number of rows that may be found.
    pub items: usize,
    /// Relations between items that may be found.
    pub links: &'a [ItemLink],
    /// Names that mean one entity.
    pub aliases: &'a EntityAliases,
}

/// A relation from one item to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ItemLink {
    /// The item that leads to the other one.
    pub from: RowId,
    /// The other item.
    pub to: RowId,
    /// Its weight, 0..1. All that an item mentions weighs 1 together.
    pub weight: f64,
}

/// Adds an item's relations, among some, to the nodes to which it leads, which have their shares of all ways.
pub fn add_links(edges: &mut Vec<(NodeId, f64)>, row: RowId, links: &[ItemLink]) {
    let links: Vec<&ItemLink> = links.iter().filter(|link| link.from == row && link.weight > 0.0).collect();
    if links.is_empty() {
        return;
    }
    let mentioned = if edges.is_empty() { 0.0 } else { 1.0 };
    let total = mentioned + links.iter().map(|link| link.weight).sum::<f64>();
    for (_, share) in &mut *edges {
        *share /= total;
    }
    edges.extend(links.into_iter().map(|link| (NodeId::Item(link.to), link.weight / total)));
}

/// An entity with its visible items.
#[derive(Clone, Debug, PartialEq)]
pub struct Entity {
    /// Number of items that mention it; not known of a hub.
    pub df: usize,
    /// The strongest role in which any of them does.
    pub role: Role,
    /// Whether an item mentions it in its text, or links to it. A title alone is often no name (`Getting started`).
    pub is_name: bool,
    /// Whether items of more than one document mention it. A memory counts as a document of its own.
    pub is_shared: bool,
    /// Whether too many items mention it for a walk.
    pub is_hub: bool,
    /// The items with their mentions, strongest first: at most 200, and three of a document.
    items: Vec<(RowId, StoredMention)>,
}

impl Entity {
    /// Makes an entity of its mentions.
    fn of(mut mentions: Vec<Mentioned>) -> Self {
        let df = mentions.len();
        let by_strength = |(mention, row, _): &Mentioned| (mention.order(), *row);
        if !mentions.is_sorted_by_key(by_strength) {
            mentions.sort_unstable_by_key(by_strength);
        }
        let role = mentions.first().map_or(Role::Start, |(mention, ..)| mention.role());
        let is_name = mentions.iter().any(|(mention, ..)| mention.role().is_name());
        let mut of_document: HashMap<u32, u32> = HashMap::with_capacity(df.min(MOST_ITEMS));
        let mut memories = 0;
        let mut items = Vec::with_capacity(df.min(MOST_ITEMS));
        for (mention, row, document) in mentions {
            if document == 0 {
                memories += 1;
            } else {
                // Chunks of one document that share its title would lead to nothing but each other.
                let count = of_document.entry(document).or_insert(0);
                *count += 1;
                if *count > MOST_OF_A_DOCUMENT {
                    continue;
                }
            }
            items.push((row, mention));
            if items.len() == MOST_ITEMS {
                break;
            }
        }
        // The first 200 items have more than one document in any case.
        let is_shared = of_document.len() + memories > 1;
        Self { df, role, is_name, is_shared, is_hub: false, items }
    }

    /// Makes an entity of the only mention of it. Most entities have only one.
    fn of_one((mention, row, _): Mentioned) -> Self {
        let role = mention.role();
        let is_name = role.is_name();
        Self { df: 1, role, is_name, is_shared: false, is_hub: false, items: vec![(row, mention)] }
    }

    /// Makes an entity that too many items mention. Nothing else about it counts.
    fn hub() -> Self {
        Self {
            df: usize::MAX,
            role: Role::Title,
            is_name: true,
            is_shared: true,
            is_hub: true,
            items: Vec::new(),
        }
    }

    /// Whether items mention it as more than a part of a longer name.
    pub fn is_known(&self) -> bool {
        self.df > 0 && self.role > Role::Part
    }

    /// Whether a walk can pass it.
    fn is_node(&self) -> bool {
        self.is_shared && !self.is_hub && self.is_known()
    }
}

/// Returns the most items that may mention an entity which is no hub, of a number of items.
pub fn hub_limit(items: usize) -> usize {
    let items = items as f64;
    (HUB_SHARE * items).max(2.0 * items.sqrt()).min(MOST_MENTIONING) as usize
}

impl<'a> Graph<'a> {
    /// Returns an entity.
    pub fn entity(&self, key: EntityKey) -> Entity {
        self.entity_from(key, None)
    }

    /// Returns an entity. `start` is where its mentions begin in a segment, if that is known.
    fn entity_from(&self, key: EntityKey, start: Option<(&MentionSegment, u32)>) -> Entity {
        let limit = hub_limit(self.items);
        let items = if let Some(members) = self.aliases.members(key) {
            self.joined(self.aliases.resolve(key), members)
        } else {
            let ranges = self.ranges(key, start);
            if self.is_surely_hub(&ranges, limit) {
                return Entity::hub();
            }
            self.mentions_in(key, ranges, limit + 1)
        };
        let entity = match items.as_slice() {
            [only] => Entity::of_one(*only),
            all if all.len() > limit => return Entity::hub(),
            _ => Entity::of(items),
        };
        // In a small store every other word is in more than 5 % of the items.
        let is_common = entity.role == Role::Word && entity.df as f64 > HUB_SHARE * self.items as f64;
        if is_common { Entity::hub() } else { entity }
    }

    /// Whether an entity has so many mentions that more items than `limit` mention it, whichever rows may not be found.
    fn is_surely_hub(&self, ranges: &[(&MentionSegment, Range<usize>)], limit: usize) -> bool {
        let most: usize = ranges.iter().map(|(segment, range)| range.len().min(segment.live())).sum();
        if self.allowed.keep.is_some() || most <= limit {
            return false;
        }
        let dead: usize = self.segments().map(|segment| segment.rows() - segment.live()).sum();
        most > limit + dead + self.stale.len() + self.allowed.drop.len()
    }

    /// Returns the mentions of an entity by items that may be found: each with the row of its item and the number of its document.
    /// An item that mentions it by several names has one mention.
    pub fn mentions_of(&self, key: EntityKey) -> Vec<Mentioned> {
        match self.aliases.members(key) {
            Some(members) => self.joined(self.aliases.resolve(key), members),
            None => self.mentions_in(key, self.ranges(key, None), usize::MAX),
        }
    }

    /// Returns the mentions of several entities as those of the one entity that they are, by row.
    fn joined(&self, whole: EntityKey, members: &[EntityKey]) -> Vec<Mentioned> {
        let mut all: Vec<Mentioned> = members
            .iter()
            .flat_map(|key| self.mentions_in(*key, self.ranges(*key, None), usize::MAX))
            .collect();
        all.sort_unstable_by_key(|(mention, row, document)| (*row, *document, mention.order()));
        let mut joined: Vec<Mentioned> = Vec::with_capacity(all.len());
        for (mention, row, document) in all {
            match joined.last_mut().filter(|(_, last, _)| *last == row) {
                Some((last, ..)) => *last = last.joined(mention, whole),
                None => joined.push((mention.of(whole), row, document)),
            }
        }
        joined
    }

    /// Returns the items that may be found and whose document has an entity as its title or file name, each with the number of
    /// the document.
    pub fn titled(&self, key: EntityKey) -> Vec<(RowId, u32)> {
        let one = [key];
        let members = self.aliases.members(key).unwrap_or(&one);
        members.iter().flat_map(|key| self.titled_so(*key)).collect()
    }

    fn titled_so(&self, key: EntityKey) -> impl Iterator<Item = (RowId, u32)> + '_ {
        // The strongest mentions are first.
        let new = self.delta.of_entity(key).take_while(|(mention, _)| mention.role() == Role::Title);
        let new = new.filter(|(_, row)| self.allowed.contains(*row));
        let new = new.map(|(_, row)| (row, self.delta.document(row)));
        let stored = self.ranges(key, None).into_iter().flat_map(move |(segment, range)| {
            let view = segment.view();
            let titles = segment.mentions(range).take_while(|(mention, _)| mention.role() == Role::Title);
            titles.filter_map(move |(_, at)| {
                let row = RowId(view.ids[at]);
                let is_found = !view.is_dead(at) && !self.stale.contains(row) && self.allowed.contains(row);
                is_found.then(|| (row, segment.document(at)))
            })
        });
        new.chain(stored)
    }

    /// Returns where each segment has the mentions of an entity. `start` is where they begin in one of them, if that is known.
    fn ranges(
        &self,
        key: EntityKey,
        start: Option<(&MentionSegment, u32)>,
    ) -> Vec<(&'a MentionSegment, Range<usize>)> {
        let range = |segment: &MentionSegment| match start {
            Some((known, start)) if std::ptr::eq(known, segment) => segment.range_from(key, start),
            _ => segment.range(key),
        };
        let all = self.segments().map(|segment| (segment, range(segment)));
        all.filter(|(_, range)| !range.is_empty()).collect()
    }

    /// Returns at most `most` mentions of one name by items that may be found: those of new items, then those of each segment, the
    /// strongest first.
    fn mentions_in(
        &self,
        key: EntityKey,
        ranges: Vec<(&MentionSegment, Range<usize>)>,
        most: usize,
    ) -> Vec<Mentioned> {
        let new = self.delta.of_entity(key).filter(|(_, row)| self.allowed.contains(*row));
        let new = new.map(|(mention, row)| (mention, row, self.delta.document(row)));
        let mut found: Vec<Mentioned> = new.take(most).collect();
        for (segment, range) in ranges {
            found.reserve(range.len().min(most - found.len()));
            let view = segment.view();
            for (mention, at) in segment.mentions(range) {
                if found.len() == most {
                    return found;
                }
                let row = RowId(view.ids[at]);
                if !view.is_dead(at) && !self.stale.contains(row) && self.allowed.contains(row) {
                    found.push((mention, row, segment.document(at)));
                }
            }
        }
        found
    }

    /// Returns the nodes to which a node leads, each with its share of all ways. `known` keeps the entities that were read.
    ///
    /// Fails if the index is damaged.
    pub fn edges(&self, id: NodeId, known: &mut KnownEntities) -> Result<Vec<(NodeId, f64)>> {
        let mut weighted: Vec<(NodeId, f64)> = Vec::new();
        let items = self.items.max(2) as f64;
        match id {
            NodeId::Item(row) => {
                let (mentions, place) = self.item(row)?;
                for (at, mention) in mentions.into_iter().enumerate() {
                    let key = mention.key();
                    let start = || place.and_then(|(segment, starts)| Some((segment, *starts.get(at)?)));
                    let entity = known.entry(key).or_insert_with(|| self.entity_from(key, start()));
                    let counts = mention.role() > Role::Start || entity.is_name;
                    if entity.is_node() && counts {
                        // In a store of a few notes, all may mention it.
                        let idf = (items / entity.df as f64).ln().max(LEAST_RARITY);
                        weighted.push((NodeId::Entity(key), strength(mention) * idf));
                    }
                }
            }
            NodeId::Entity(key) => {
                let entity = known.entry(key).or_insert_with(|| self.entity(key));
                weighted.extend(
                    entity.items.iter().map(|(row, mention)| (NodeId::Item(*row), strength(*mention))),
                );
            }
        }
        let total: f64 = weighted.iter().map(|(_, weight)| weight).sum();
        if total <= 0.0 {
            weighted.clear();
        }
        for (_, weight) in &mut weighted {
            *weight /= total;
        }
        if let NodeId::Item(row) = id {
            add_links(&mut weighted, row, self.links);
        }
        Ok(weighted)
    }

    /// Returns the mentions of an item, each entity once. With them: the segment that has the item, and where the mentions of
    /// each of these entities begin in it, unless names were joined.
    pub fn item(&self, row: RowId) -> Result<(Vec<StoredMention>, Option<StoredStarts<'a>>)> {
        let (mut mentions, place): (Vec<StoredMention>, _) = match self.place(row) {
            Some(Place::New) => (self.delta.of_row(row).into_iter().flatten().collect(), None),
            Some(Place::Stored(segment, at)) => {
                (read(segment.row(at)?).collect(), Some((segment, segment.starts(at)?)))
            }
            None => (Vec::new(), None),
        };
        if mentions.iter().all(|mention| self.aliases.members(mention.key()).is_none()) {
            return Ok((mentions, place));
        }
        for mention in &mut mentions {
            *mention = mention.of(self.aliases.resolve(mention.key()));
        }
        mentions.sort_unstable_by_key(|mention| mention.order());
        mentions.dedup_by(|next, kept| {
            let is_same = next.key() == kept.key();
            if is_same {
                *kept = kept.joined(*next, kept.key());
            }
            is_same
        });
        Ok((mentions, None))
    }

    /// Returns the number of an item's mentions and of its relations with other items: at least that of the nodes to which it
    /// leads. No entity is read for it.
    pub fn most_edges(&self, row: RowId) -> Result<usize> {
        let links = self.links.iter().filter(|link| link.from == row).count();
        let mentions = match self.place(row) {
            Some(Place::New) => self.delta.of_row(row).into_iter().flatten().count(),
            Some(Place::Stored(segment, at)) => segment.count(at)?,
            None => 0,
        };
        Ok(mentions + links)
    }

    /// Returns where an item's mentions are.
    fn place(&self, row: RowId) -> Option<Place<'a>> {
        if self.delta.rows.contains_key(&row) {
            return Some(Place::New);
        }
        if self.stale.contains(row) {
            return None;
        }
        self.segments().find_map(|segment| {
            let view = segment.view();
            let at = view.find(row, 0).ok().filter(|at| !view.is_dead(*at))?;
            Some(Place::Stored(segment, at))
        })
    }

    fn segments(&self) -> impl Iterator<Item = &'a MentionSegment> + use<'a> {
        self.index.into_iter().flat_map(|index| &index.segments)
    }
}

/// Where the mentions of an item are.
#[derive(Clone, Copy)]
enum Place<'a> {
    /// Among the rows that the index lacks.
    New,
    /// In a segment, at the position of its row.
    Stored(&'a MentionSegment, usize),
}

/// Returns the weight of a mention without the entity's rarity.
fn strength(mention: StoredMention) -> f64 {
    let more = if mention.role() == Role::Title { TITLE_COUNT } else { 0 };
    1.0 + f64::from(mention.count() + more).ln()
}
