//! Plans a pair of runs by its seed: the bounds of the caller and the others, and the settings of the store.

use bower_core::item::{Scope, Statistics};

use super::random::Random;
use crate::service::{Access, Bounds};

/// Parameters of a pair of runs.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Seed of the pair.
    pub seed: u64,
    /// Bounds of the caller.
    pub bounds: Bounds,
    /// Bounds of the others. Nothing within them is visible to the caller.
    pub others: Bounds,
    /// Setting `statistics`: whether word rarities come from the whole store or from visible items only.
    pub statistics: Statistics,
    /// Whether the store has vectors.
    pub vectors: bool,
}

impl Plan {
    /// Derives the plan from a seed.
    pub fn new(seed: u64) -> Self {
        let random = &mut Random::new(seed);
        let (ann, bob) = (Some("ann".to_owned()), Some("bob".to_owned()));
        let free = Bounds { access: Access::Admin, ..Bounds::default() };
        let anywhere = |random: &mut Random| vec![random.of(&["attic", "cellar", "memories"]).to_owned()];
        // Bounds by scope, owner or collection, or by two of them at once.
        let (bounds, others) = match random.below(6) {
            0 => (
                Bounds { owner: ann, ..free.clone() },
                Bounds { owner: bob, collections: anywhere(random), ..free },
            ),
            1 => (
                Bounds { scope: Some(Scope::Agent), ..free.clone() },
                Bounds {
                    scope: Some(random.of(&[Scope::Project, Scope::User, Scope::Mission])),
                    owner: random.of(&[None, ann]),
                    collections: anywhere(random),
                    ..free
                },
            ),
            2 => (
                Bounds { collections: vec!["attic".into()], ..free.clone() },
                Bounds { collections: vec!["cellar".into()], owner: random.of(&[None, ann, bob]), ..free },
            ),
            3 => (
                Bounds { collections: vec!["attic".into(), "loft".into()], ..free.clone() },
                Bounds { collections: vec!["cellar".into()], ..free },
            ),
            4 => (
                Bounds { owner: ann.clone(), collections: vec!["attic".into()], ..free.clone() },
                if random.one_in(2) {
                    Bounds { owner: ann, collections: vec!["cellar".into()], ..free }
                } else {
                    Bounds { owner: bob, collections: vec!["attic".into()], ..free }
                },
            ),
            _ => (
                Bounds { scope: Some(Scope::User), owner: ann.clone(), ..free.clone() },
                Bounds {
                    scope: Some(Scope::Project),
                    owner: random.of(&[ann, bob]),
                    collections: anywhere(random),
                    ..free
                },
            ),
        };
        let statistics = random.of(&[Statistics::Own, Statistics::Own, Statistics::Shared]);
        Self { seed, bounds, others, statistics, vectors: random.one_in(2) }
    }
}
