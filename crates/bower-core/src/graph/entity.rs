//! Identifies entities: a name is folded, and its hash is the entity's key.
//! Two spellings of one name that differ only in case, accents, punctuation or a possessive have one key.

use super::scan::KATAKANA_DOT;
use crate::item::RowId;
use crate::text;

/// Bits of a mention that hold its role and its number of occurrences.
const CODE_BITS: u32 = 8;
/// Bits of the number of occurrences.
const COUNT_BITS: u32 = 5;
/// Largest stored number of occurrences; more count as this many.
const MOST_COUNTED: u32 = (1 << COUNT_BITS) - 1;

/// Key of an entity: the upper 56 bits of the hash of its folded name. With a million entities, two of them share a key with
/// a probability of 1 in 140,000.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntityKey(u64);

impl EntityKey {
    /// Returns the key of a folded name.
    pub fn of(folded: &str) -> Self {
        Self(text::hash(folded) >> CODE_BITS << CODE_BITS)
    }

    /// Returns the key as 16 hex digits.
    pub fn hex(self) -> String {
        format!("{:016x}", self.0)
    }

    /// Returns the key of a stemmed word, which is never that of a name.
    pub fn of_word(stem: &str) -> Self {
        Self::of(&format!("~{stem}"))
    }

    /// Returns the key of a tag, which is never that of a name.
    pub fn of_tag(tag: &str) -> Self {
        Self::of(&format!("#{tag}"))
    }
}

/// A node of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NodeId {
    /// An item.
    Item(RowId),
    /// An entity.
    Entity(EntityKey),
}

/// How an item mentions an entity. A later role is stronger evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// A single word with a capital that begins a sentence: counts if an item mentions it inside a sentence, or links to it.
    Start,
    /// A part of a longer name, or a name in a heading: counts if an item mentions it as more.
    Part,
    /// A word of a memory or of a turn of a conversation.
    Word,
    /// A subject or object of a relation that a language model read off the text.
    Triple,
    /// A name in the text.
    Name,
    /// A tag.
    Tag,
    /// The target of a link.
    Link,
    /// The title or the file name of the item's document.
    Title,
}

impl Role {
    const ALL: [Self; 8] =
        [Self::Start, Self::Part, Self::Word, Self::Triple, Self::Name, Self::Tag, Self::Link, Self::Title];

    /// Whether the text itself mentions the entity as a name. A title alone is often none (`Getting started`).
    pub fn is_name(self) -> bool {
        matches!(self, Self::Triple | Self::Name | Self::Link)
    }
}

/// A mention as stored: the entity's key, and in the lowest 8 bits the role and the number of occurrences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StoredMention(pub u64);

impl StoredMention {
    /// Packs a mention.
    pub fn new(key: EntityKey, role: Role, count: u32) -> Self {
        Self(key.0 | (role as u64) << COUNT_BITS | u64::from(count.clamp(1, MOST_COUNTED)))
    }

    /// Returns the entity.
    pub fn key(self) -> EntityKey {
        EntityKey(self.0 >> CODE_BITS << CODE_BITS)
    }

    /// Returns the role. A damaged mention has the weakest.
    pub fn role(self) -> Role {
        let at = (self.0 >> COUNT_BITS) & ((1 << (CODE_BITS - COUNT_BITS)) - 1);
        Role::ALL.get(at as usize).copied().unwrap_or(Role::Start)
    }

    /// Returns the number of occurrences, at least 1.
    pub fn count(self) -> u32 {
        ((self.0 as u32) & MOST_COUNTED).max(1)
    }

    /// Returns the mention as one of another entity.
    #[must_use]
    pub fn of(self, key: EntityKey) -> Self {
        Self(key.0 | (self.0 & ((1 << CODE_BITS) - 1)))
    }

    /// Returns this mention and another one of the same item as one mention of an entity, in the stronger role.
    #[must_use]
    pub fn joined(self, other: Self, key: EntityKey) -> Self {
        Self::new(key, self.role().max(other.role()), self.count() + other.count())
    }

    /// Returns a number by which mentions are ordered: by entity, then strongest role and most occurrences first.
    pub fn order(self) -> u64 {
        self.0 ^ ((1 << CODE_BITS) - 1)
    }

    /// Returns the mention of an [`StoredMention::order`].
    pub fn from_order(order: u64) -> Self {
        Self(order ^ ((1 << CODE_BITS) - 1))
    }

    /// Returns the least order of an entity's mentions.
    pub fn first_order(key: EntityKey) -> u64 {
        key.0
    }

    /// Returns the greatest order of an entity's mentions.
    pub fn last_order(key: EntityKey) -> u64 {
        key.0 | ((1 << CODE_BITS) - 1)
    }
}

/// Returns a word without its possessive ending (`Ada's`).
pub(super) fn without_possessive(word: &str) -> &str {
    word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(word)
}

/// Folds a name: its words in lower case, without accents, punctuation and possessive `'s`, joined by single spaces.
pub fn fold(name: &str) -> String {
    let mut folded = String::with_capacity(name.len());
    for word in
        name.split(|c: char| c.is_whitespace() || matches!(c, '-' | '/' | ',' | ':' | '·' | KATAKANA_DOT))
    {
        let word = text::fold_word(without_possessive(word));
        if !word.is_empty() {
            if !folded.is_empty() {
                folded.push(' ');
            }
            folded.push_str(&word);
        }
    }
    folded
}
