//! Names the entities and items on paths over the graph, with the text in which each item mentions its neighbours.
//! Names are read from the items' texts, so a path shows only what its reader may see.

use std::collections::HashMap;

use crate::engine::Engine;
use crate::engine::mentions::text_of;
use crate::engine::query::rank::Ranking;
use crate::error::Result;
use crate::graph::{EntityKey, NodeId, Role, keys_of, mentions_and_edges};
use crate::item::{EntityKind, Relation, RowId, SourcedTriple, Triple};
use crate::request::{EntityRelation, Hit, Hop, Proof};
use crate::store::MentionSource;
use crate::text::{language_of, query_terms, snippet};

/// Fields of a memory that states a relation between two names.
pub(crate) const RELATION_FROM: &str = "relation_from";
pub(crate) const RELATION_TYPE: &str = "relation_type";
pub(crate) const RELATION_TO: &str = "relation_to";

/// Most characters of a proof's text.
const PROOF_CHARS: usize = 160;

/// A mention as it is named to people.
#[derive(Clone, Debug)]
pub(crate) struct NamedMention {
    /// The key of the name itself, whatever an alias makes of it.
    written: EntityKey,
    pub(crate) name: String,
    pub(crate) role: Role,
    pub(crate) count: u32,
}

/// An item with the names of all that it mentions.
#[derive(Debug)]
pub(crate) struct NamedItem {
    id: String,
    title: String,
    content: String,
    mentions: HashMap<EntityKey, NamedMention>,
    /// The relation that it states, with the names that it connects.
    statement: Option<(Vec<EntityKey>, String, Vec<EntityKey>)>,
    /// The relations that language models read off it.
    triples: Vec<NamedTriple>,
}

/// A relation that a language model read off an item.
#[derive(Clone, Debug)]
pub(crate) struct NamedTriple {
    pub(crate) from: EntityKey,
    pub(crate) to: EntityKey,
    pub(crate) stated: SourcedTriple,
}

/// A relation between two names with its source; `None` if somebody stated it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SourcedRelation {
    pub(crate) relation: String,
    pub(crate) source: Option<String>,
}

/// Relations between memories, by the row that has the relation and the other one.
pub(crate) type RelationsByRows = HashMap<(RowId, RowId), Relation>;

impl NamedItem {
    /// Returns the item's mention of an entity.
    pub(crate) fn mention(&self, key: EntityKey) -> Option<&NamedMention> {
        self.mentions.get(&key)
    }

    /// Returns the longest name that it shares with another item and that has a shared word in it: `Otterbach Pump` for `pump`. A name
    /// tells a reader more. Anything but a word is returned as it is.
    fn shared_name(&self, other: &Self, key: EntityKey) -> EntityKey {
        let Some(word) = self.mention(key).filter(|mention| mention.role == Role::Word) else { return key };
        let has_word = |name: &str| name.to_lowercase().split_whitespace().any(|one| one == word.name);
        let shared = self.mentions.iter().filter(|(key, mention)| {
            mention.role > Role::Word && has_word(&mention.name) && other.mention(**key).is_some()
        });
        let longest = shared.max_by_key(|(key, mention)| (mention.name.len(), std::cmp::Reverse(**key)));
        longest.map_or(key, |(key, _)| *key)
    }

    /// Returns the relation that it states between two names, in either direction; else one that a language model read off it.
    pub(crate) fn relation(&self, one: EntityKey, two: EntityKey) -> Option<SourcedRelation> {
        let stated = self.statement.as_ref().filter(|(from, _, to)| {
            let connects = |one, two| from.contains(&one) && to.contains(&two);
            connects(one, two) || connects(two, one)
        });
        if let Some((_, relation, _)) = stated {
            return Some(SourcedRelation { relation: relation.clone(), source: None });
        }
        let connects = |triple: &&NamedTriple| {
            (triple.from, triple.to) == (one, two) || (triple.from, triple.to) == (two, one)
        };
        let SourcedTriple { source, triple } = &self.triples.iter().find(connects)?.stated;
        Some(SourcedRelation { relation: triple.relation.clone(), source: Some(source.clone()) })
    }

    /// Returns the relations of an entity that language models read off the item.
    pub(crate) fn relations_of(&self, key: EntityKey) -> impl Iterator<Item = EntityRelation> + '_ {
        let of_entity = move |triple: &&NamedTriple| triple.from == key || triple.to == key;
        self.triples.iter().filter(of_entity).map(|triple| self.shown_relation(triple))
    }

    /// Returns all relations that language models read off the item.
    pub(crate) fn relations(&self) -> impl Iterator<Item = EntityRelation> + '_ {
        self.triples.iter().map(|triple| self.shown_relation(triple))
    }

    fn shown_relation(&self, NamedTriple { stated, .. }: &NamedTriple) -> EntityRelation {
        let Triple { subject, relation, object } = stated.triple.clone();
        let proof = self.proof(&[&subject, &object]);
        EntityRelation { subject, relation, object, source: stated.source.clone(), proof }
    }

    /// Returns its mentions, in no order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &NamedMention> {
        self.mentions.values()
    }

    /// Returns the title of its document, or the memory's first sentence.
    pub(crate) fn title(&self) -> &str {
        &self.title
    }

    /// Returns the item with the words around some names.
    pub(crate) fn proof(&self, names: &[&str]) -> Proof {
        let language = language_of(&self.content);
        let terms = query_terms(&names.join(" "), &[language]);
        let text = snippet(&self.content, &terms, language, PROOF_CHARS).text;
        Proof { id: self.id.clone(), title: self.title.clone(), text }
    }
}

/// Returns the word for how an item mentions an entity.
pub(crate) fn kind_of(role: Role) -> EntityKind {
    match role {
        Role::Start | Role::Part => EntityKind::Part,
        Role::Word => EntityKind::Word,
        Role::Triple => EntityKind::Triple,
        Role::Name => EntityKind::Name,
        Role::Tag => EntityKind::Tag,
        Role::Link => EntityKind::Link,
        Role::Title => EntityKind::Title,
    }
}

/// Returns a name as people read it: on one line, with `#` before a tag and without a possessive ending.
pub(crate) fn shown(name: &str, role: Role) -> String {
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    match role {
        Role::Tag => format!("#{name}"),
        _ => name.trim_end_matches("'s").trim_end_matches("’s").to_owned(),
    }
}

/// Reads items with the names of what they mention. Removed rows are left out.
pub(crate) fn named_items(engine: &Engine, rows: &[RowId]) -> Result<HashMap<RowId, NamedItem>> {
    let mut rows = rows.to_vec();
    rows.sort_unstable();
    rows.dedup();
    let found = engine.store.items(&rows)?;
    let aliases = engine.caches.aliases(&*engine.store, &engine.store.coverage()?)?;
    let keys_of = |name: &str| keys_of(name).into_iter().map(|key| aliases.resolve(key)).collect::<Vec<_>>();
    let mut sources = engine.store.mention_sources(&rows)?.into_iter().peekable();
    let mut items = HashMap::with_capacity(rows.len());
    for (row, item) in rows.into_iter().zip(found) {
        let Some(source) = sources.next_if(|source| source.row == row) else { continue };
        let Some(item) = item else { continue };
        let field = |name: &str| item.metadata.get(name).and_then(|value| value.as_str());
        let statement = || {
            let (from, relation, to) = (field(RELATION_FROM)?, field(RELATION_TYPE)?, field(RELATION_TO)?);
            Some((keys_of(from), relation.to_owned(), keys_of(to)))
        };
        let (statement, title) = (statement(), title_of(&source, item.summary));
        let (mentions, edges) = mentions_and_edges(&text_of(&source));
        let mut named: HashMap<EntityKey, NamedMention> = HashMap::new();
        // The strongest mention of an entity is the first.
        for mention in mentions {
            let (name, role, count) = (shown(&mention.name, mention.role), mention.role, mention.count);
            let one = named.entry(aliases.resolve(mention.key)).or_insert(NamedMention {
                written: mention.key,
                name,
                role,
                count: 0,
            });
            one.count += count;
        }
        let triples = edges
            .into_iter()
            .map(|edge| NamedTriple {
                from: aliases.resolve(edge.from),
                to: aliases.resolve(edge.to),
                stated: edge.stated.clone(),
            })
            .collect();
        let (id, content) = (item.id, source.content);
        items.insert(row, NamedItem { id, title, content, mentions: named, statement, triples });
    }
    Ok(items)
}

/// Returns the title of an item: of its document, with its section, or the memory's first sentence.
pub(crate) fn title_of(source: &MentionSource, summary: String) -> String {
    let document = source.title.as_ref().or(source.path.as_ref()).or(source.document.as_ref());
    match (document, &source.section) {
        (Some(document), Some(section)) if !section.is_empty() && section != document => {
            format!("{document} > {section}")
        }
        (Some(document), _) => document.clone(),
        (None, _) => summary,
    }
}

/// Returns a path with names: one hop for each item on it.
pub(crate) fn hops(
    path: &[NodeId],
    items: &HashMap<RowId, NamedItem>,
    relations: &RelationsByRows,
) -> Vec<Hop> {
    let node = |at: Option<usize>| at.and_then(|at| path.get(at)).copied();
    let mut hops = Vec::new();
    for (at, here) in path.iter().enumerate() {
        let NodeId::Item(row) = here else { continue };
        let Some(item) = items.get(row) else { continue };
        let (before, behind) = (node(at.checked_sub(1)), node(Some(at + 1)));
        let relation = match (before, behind) {
            (Some(NodeId::Entity(one)), Some(NodeId::Entity(two))) => item.relation(one, two),
            (_, Some(NodeId::Item(next))) => {
                let found = relations.get(&(*row, next)).or_else(|| relations.get(&(next, *row)));
                found.map(|relation| SourcedRelation { relation: relation.word().to_owned(), source: None })
            }
            (_, Some(NodeId::Entity(_)) | None) => None,
        };
        let mention = |node: Option<NodeId>, next: Option<NodeId>| match node {
            Some(NodeId::Entity(key)) => {
                let other = rows_of(next.iter()).first().and_then(|row| items.get(row));
                item.mention(other.map_or(key, |other| item.shared_name(other, key)))
            }
            Some(NodeId::Item(_)) | None => None,
        };
        let (before, behind) =
            (mention(before, node(at.checked_sub(2))), mention(behind, node(Some(at + 2))));
        let names: Vec<&str> = before.iter().chain(&behind).map(|one| one.name.as_str()).collect();
        // The next item may know the entity by another name.
        let next = rows_of(node(Some(at + 2)).iter()).first().and_then(|row| items.get(row));
        let alias = behind.zip(next).and_then(|(here, next)| {
            let Some(NodeId::Entity(key)) = node(Some(at + 1)) else { return None };
            let there = next.mention(key)?;
            let own = item.mention(key)?;
            (own.written != there.written && here.written == own.written).then(|| there.name.clone())
        });
        hops.push(Hop {
            alias,
            from: before.map(|one| one.name.clone()),
            kind: behind.or(before).map(|one| kind_of(one.role)),
            to: behind.map(|one| one.name.clone()),
            relation_source: relation.as_ref().and_then(|one| one.source.clone()),
            relation: relation.map(|one| one.relation),
            proof: item.proof(&names),
        });
    }
    hops
}

/// Returns the relations between the items that follow each other on a path.
pub(crate) fn relations_between(engine: &Engine, path: &[NodeId]) -> Result<RelationsByRows> {
    let pairs: Vec<[RowId; 2]> = path
        .windows(2)
        .filter_map(|pair| match pair {
            [NodeId::Item(one), NodeId::Item(two)] => Some([*one, *two]),
            _ => None,
        })
        .collect();
    if pairs.is_empty() {
        return Ok(RelationsByRows::new());
    }
    let mut found = engine.store.relations(&pairs.concat())?;
    found.retain(|one| one.relation.weight() > 0.0);
    Ok(found.into_iter().map(|one| ((one.row, one.other), one.relation)).collect())
}

/// Adds to each hit the path over which the walk of the question's ranking led to it.
pub(crate) fn explain(engine: &Engine, ranking: &Ranking, hits: &mut [Hit]) -> Result<()> {
    let Some(walked) = &ranking.walked else { return Ok(()) };
    // A memory may have been found by another of its wordings.
    let found = |hit: &Hit| ranking.found_by.get(&hit.memory.row).copied().unwrap_or(hit.memory.row);
    let paths = walked.paths(&hits.iter().map(found).collect::<Vec<_>>());
    let items = named_items(engine, &rows_of(paths.iter().flatten()))?;
    for (hit, path) in hits.iter_mut().zip(&paths) {
        hit.path = hops(path, &items, &relations_between(engine, path)?);
    }
    Ok(())
}

/// Returns the rows of the items among some nodes.
pub(crate) fn rows_of<'a>(nodes: impl Iterator<Item = &'a NodeId>) -> Vec<RowId> {
    let row = |node: &NodeId| match node {
        NodeId::Item(row) => Some(*row),
        NodeId::Entity(_) => None,
    };
    nodes.filter_map(row).collect()
}
