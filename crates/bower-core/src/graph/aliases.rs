//! Resolves names that people state to mean one entity: all names that statements connect have one key.
//! The key is the least of them, so it does not depend on the order of the statements. A circle of them connects no more.

use std::collections::{BTreeMap, HashMap};

use super::asked::keys_of;
use super::entity::{EntityKey, fold};

/// The entities that aliases connect.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntityAliases {
    /// The key of the whole entity, by the key of each of its names.
    whole: HashMap<EntityKey, EntityKey>,
    /// All keys of an entity, ascending, by the least.
    members: HashMap<EntityKey, Vec<EntityKey>>,
}

impl EntityAliases {
    /// Connects each pair of names.
    pub fn new<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut whole: HashMap<EntityKey, EntityKey> = HashMap::new();
        for (name, other) in pairs {
            let keys: Vec<EntityKey> = [alias_keys(name), alias_keys(other)].concat();
            let Some(first) = keys.first() else { continue };
            let mut least = root(&whole, *first);
            for key in &keys {
                let other = root(&whole, *key);
                let (low, high) = (least.min(other), least.max(other));
                whole.insert(high, low);
                least = low;
            }
        }
        let mut members: HashMap<EntityKey, Vec<EntityKey>> = HashMap::new();
        let resolved: BTreeMap<EntityKey, EntityKey> =
            whole.keys().chain(whole.values()).map(|key| (*key, root(&whole, *key))).collect();
        for (key, least) in &resolved {
            members.entry(*least).or_default().push(*key);
        }
        Self { whole: resolved.into_iter().collect(), members }
    }

    /// Returns the key of the entity to which a key belongs: itself, unless an alias connects it.
    pub fn resolve(&self, key: EntityKey) -> EntityKey {
        self.whole.get(&key).copied().unwrap_or(key)
    }

    /// Returns all keys of the entity to which a key belongs; `None` if no alias connects it with another.
    pub fn members(&self, key: EntityKey) -> Option<&[EntityKey]> {
        self.members.get(self.whole.get(&key)?).map(Vec::as_slice)
    }
}

/// Returns the end of the links from a key.
fn root(whole: &HashMap<EntityKey, EntityKey>, mut key: EntityKey) -> EntityKey {
    // Each link leads to a lesser key, so there is an end.
    while let Some(next) = whole.get(&key).filter(|next| **next != key) {
        key = *next;
    }
    key
}

/// Returns the entities that a name of an alias means: all that a person may mean by it, but a tag only if it is written with `#`.
/// Tags have renamings of their own.
fn alias_keys(name: &str) -> Vec<EntityKey> {
    let mut keys = keys_of(name);
    if !name.trim().starts_with('#') {
        let tag = EntityKey::of_tag(&name.trim().to_lowercase());
        keys.retain(|key| *key != tag);
    }
    keys
}

/// Returns the form by which names of aliases are compared: a tag with its `#`, an address in lower case, any other name folded.
/// `None` for a name without a letter or digit.
pub fn alias_form(name: &str) -> Option<String> {
    let name = name.trim();
    let folded = fold(name);
    if folded.is_empty() {
        return None;
    }
    let is_written = name.starts_with('#') || name.contains('@') || name.contains("://");
    Some(if is_written { name.to_lowercase() } else { folded })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> EntityKey {
        EntityKey::of(&fold(name))
    }

    #[test]
    fn names_that_statements_connect_have_one_key() {
        let pairs =
            [("K8s", "Kubernetes"), ("Kube", "kubernetes"), ("Ann", "Ann Marsh"), ("Marsh", "Ann Marsh")];
        let aliases = EntityAliases::new(pairs);
        let all = ["K8s", "Kubernetes", "Kube"].map(key);
        let least = all.into_iter().map(|key| aliases.resolve(key)).min().unwrap();
        assert!(all.iter().all(|key| aliases.resolve(*key) == least));
        assert!(all.iter().all(|key| aliases.members(least).unwrap().contains(key)));
        assert_ne!(aliases.resolve(key("Ann")), least);
        assert_eq!(aliases.resolve(key("Bob")), key("Bob"));
        assert_eq!(aliases.members(key("Bob")), None);
        let reversed = EntityAliases::new(pairs.into_iter().rev().map(|(name, other)| (other, name)));
        assert_eq!(aliases, reversed, "in whatever order they are stated");
        let circle = EntityAliases::new(pairs.into_iter().chain([("Kube", "K8s"), ("K8s", "K8S")]));
        assert_eq!(aliases, circle, "a circle connects no more");
        assert_eq!(EntityAliases::new([("", "?")]), EntityAliases::new([("", "?"), ("?", "")]));
    }

    #[test]
    fn a_word_belongs_to_its_name_and_a_tag_only_if_it_is_written() {
        let aliases = EntityAliases::new([("k8s", "Kubernetes"), ("#prod", "Production")]);
        assert_eq!(aliases.resolve(EntityKey::of_word("k8s")), aliases.resolve(key("Kubernetes")));
        assert_eq!(aliases.resolve(EntityKey::of_tag("kubernetes")), EntityKey::of_tag("kubernetes"));
        assert_eq!(aliases.resolve(EntityKey::of_tag("prod")), aliases.resolve(key("production")));
        assert_eq!(aliases.resolve(key("prod")), key("prod"));
    }

    #[test]
    fn forms_are_folded() {
        assert_eq!(alias_form(" Jean-Luc "), Some("jean luc".to_owned()));
        assert_eq!(alias_form("'; DROP TABLE"), Some("drop table".to_owned()));
        assert_eq!(alias_form("#Ops"), Some("#ops".to_owned()));
        assert_eq!(alias_form("Ann@B.org"), Some("ann@b.org".to_owned()));
        assert_eq!((alias_form("?!"), alias_form("#")), (None, None));
    }
}
