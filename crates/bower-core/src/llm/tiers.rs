//! Decides which model is asked: the tier of each operation, and the order in which other tiers stand in.

use super::{Ask, Llm};
use crate::item::{LlmOperation, LlmTier};

/// Bytes of data from which a request is complex. Small models mix up more than about four texts of 2,000 characters.
const COMPLEX_BYTES: usize = 8_000;

/// The tier of an operation: for a short request, and for a complex one.
///
/// Rules check every pattern and every triple against the texts, so the cheapest model may try. A wrong ruling hides a memory,
/// so pairs are settled by a better one.
const fn tiers(operation: LlmOperation) -> [LlmTier; 2] {
    match operation {
        LlmOperation::Pattern | LlmOperation::Triples => [LlmTier::Local, LlmTier::Lite],
        LlmOperation::Rerank => [LlmTier::Lite, LlmTier::Flash],
        LlmOperation::Settle => [LlmTier::Flash, LlmTier::Pro],
        LlmOperation::Test => [LlmTier::Lite, LlmTier::Lite],
    }
}

/// Returns the tier of a request.
pub(crate) fn tier_of(operation: LlmOperation, ask: &Ask) -> LlmTier {
    let [simple, complex] = tiers(operation);
    if ask.user.len() < COMPLEX_BYTES { simple } else { complex }
}

/// The language models of a user, one for each tier. Tiers may share one.
pub struct LlmTiers {
    models: Vec<Box<dyn Llm>>,
    /// The model of each tier, in the order of [`LlmTier::ALL`].
    of_tier: [usize; LlmTier::ALL.len()],
}

impl LlmTiers {
    /// Makes one model that of all tiers.
    pub fn one(model: Box<dyn Llm>) -> Self {
        Self { models: vec![model], of_tier: [0; LlmTier::ALL.len()] }
    }

    /// Gives a tier its own model.
    #[must_use]
    pub fn with(mut self, tier: LlmTier, model: Box<dyn Llm>) -> Self {
        let same = self.models.iter().position(|known| known.identity() == model.identity());
        self.of_tier[tier as usize] = same.unwrap_or(self.models.len());
        if same.is_none() {
            self.models.push(model);
        }
        self
    }

    /// Returns the operations whose simple requests are for a tier, with those whose complex ones are.
    pub fn operations(tier: LlmTier) -> Vec<LlmOperation> {
        let is_for = |operation: &LlmOperation| tiers(*operation).contains(&tier);
        LlmOperation::ALL.iter().copied().filter(is_for).collect()
    }

    /// Returns the model of a tier.
    pub fn model(&self, tier: LlmTier) -> &dyn Llm {
        &*self.models[self.of_tier[tier as usize]]
    }

    /// Returns the model that is asked first for a simple request of an operation.
    pub(crate) fn first(&self, operation: LlmOperation) -> &dyn Llm {
        let [simple, _] = tiers(operation);
        self.model(simple)
    }

    /// Returns all models, in the order in which they are asked for a simple request of an operation.
    pub(crate) fn all(&self, operation: LlmOperation) -> impl Iterator<Item = &dyn Llm> {
        let [simple, _] = tiers(operation);
        self.route(simple).into_iter()
    }

    /// Returns the models in the order in which they are asked: that of the tier, those of higher tiers, then those of lower
    /// ones, the nearest first. No model comes twice.
    pub(crate) fn route(&self, tier: LlmTier) -> Vec<&dyn Llm> {
        let at = tier as usize;
        let mut order: Vec<usize> = Vec::new();
        for tier in (at..self.of_tier.len()).chain((0..at).rev()) {
            let model = self.of_tier[tier];
            if !order.contains(&model) {
                order.push(model);
            }
        }
        order.into_iter().map(|at| &*self.models[at]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::{Completion, NoAnswer};
    use crate::prompt::PromptText;
    use std::time::Duration;

    struct Named(&'static str);

    impl Llm for Named {
        fn model(&self) -> &'static str {
            self.0
        }

        fn complete(&self, _: &Ask, _: Duration) -> Result<Completion, NoAnswer> {
            unreachable!("no model is asked here")
        }
    }

    fn route(tiers: &LlmTiers, tier: LlmTier) -> Vec<&str> {
        tiers.route(tier).iter().map(|model| model.model()).collect()
    }

    #[test]
    fn higher_tiers_stand_in_first_and_then_lower_ones() {
        let named = |name| Box::new(Named(name));
        let all = LlmTiers::one(named("a"))
            .with(LlmTier::Lite, named("b"))
            .with(LlmTier::Flash, named("c"))
            .with(LlmTier::Pro, named("d"));
        assert_eq!(route(&all, LlmTier::Lite), ["b", "c", "d", "a"]);
        assert_eq!(route(&all, LlmTier::Pro), ["d", "c", "b", "a"]);
        assert_eq!(all.model(LlmTier::Local).model(), "a");
    }

    #[test]
    fn one_model_is_that_of_all_tiers_and_is_asked_once() {
        let one = LlmTiers::one(Box::new(Named("a"))).with(LlmTier::Pro, Box::new(Named("a")));
        assert!(LlmTier::ALL.iter().all(|tier| route(&one, *tier) == ["a"]));
    }

    #[test]
    fn a_long_request_is_for_the_next_tier() {
        let ask = |length: usize| Ask {
            system: PromptText::own(""),
            user: PromptText::line(&"x".repeat(length)),
            most_tokens: 1,
            schema: None,
        };
        let tier = |operation, length| tier_of(operation, &ask(length));
        assert_eq!(tier(LlmOperation::Rerank, 7_999), LlmTier::Lite);
        assert_eq!(tier(LlmOperation::Rerank, 8_000), LlmTier::Flash);
        assert_eq!(tier(LlmOperation::Settle, 10), LlmTier::Flash);
        assert_eq!(tier(LlmOperation::Triples, 10), LlmTier::Local);
    }
}
