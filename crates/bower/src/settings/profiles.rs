//! Defines the settings of the ranking profiles, including those of the source systems.
//! Each profile is a table of its own in the file.

use bower_core::item::Profile;

use super::knob::{Form, Knob, knob};

/// A weight or another number from 0 on.
const WEIGHT: Form = Form::Real(0.0, 10_000.0);
/// A term of log odds.
const ODDS: Form = Form::Real(-100.0, 100.0);
/// A fraction from 0 to 1.
const SHARE: Form = Form::Real(0.0, 1.0);
/// Days, at most a hundred years.
const DAYS: Form = Form::Real(0.01, 36_500.0);

/// The settings, in the order in which `bower config` lists them.
pub const KNOBS: &[Knob] = &[
    knob("profile", Form::Word(Profile::WORDS), "what ranks when a question names no profile"),
    knob("bower.text_weight", WEIGHT, "weight of words"),
    knob("bower.vector_weight", WEIGHT, "weight of meaning where it is trusted"),
    knob("bower.tokens_weight", WEIGHT, "weight of late interaction; less where meaning is trusted"),
    knob("bower.parent_weight", WEIGHT, "weight of the words of the document or session"),
    knob(
        "bower.other_language",
        SHARE,
        "share of both where all texts are in another language than the question",
    ),
    knob("bower.speaker_weight", WEIGHT, "weight of a text spoken by a person whom the question names"),
    knob("bower.memory_text_weight", WEIGHT, "a memory's weight of words; squared by how many it has"),
    knob("bower.memory_vector_weight", WEIGHT, "a memory's weight of meaning"),
    knob("bower.memory_tokens_weight", WEIGHT, "a memory's weight of late interaction"),
    knob("bower.name_weight", WEIGHT, "what it is worth for a memory to say all that the question names"),
    knob(
        "bower.complete_weight",
        WEIGHT,
        "what it is worth to have every word of the question, one of them rare",
    ),
    knob("bower.complete_few", Form::Whole(0, 200), "how many candidates have a rare word at most"),
    knob(
        "bower.graph_weight",
        WEIGHT,
        "weight of what names and links connect, for a question of names alone",
    ),
    knob("bower.adjacent_weight", SHARE, "the share of the better score beside it that a turn gains"),
    knob("bower.neighbour_weight", SHARE, "the share of its neighbours' scores that an item gains"),
    knob("bower.neighbours", Form::Whole(0, 50), "neighbours in meaning that count"),
    knob("bower.neighbourhood", Form::Whole(0, 200), "among how many of the best neighbours are looked for"),
    knob("bower.trust_scale", Form::Real(0.1, 100.0), "deviations at which meaning is trusted fully"),
    knob("bower.trust_most", WEIGHT, "deviations beyond which trust does not grow"),
    knob("bower.trust_prior", WEIGHT, "the trust in a store too small to tell"),
    knob("bower.trust_prior_rows", WEIGHT, "how many rows that prior is worth"),
    knob("calibration.base", ODDS, "log odds of a first hit far ahead; more where many documents answer"),
    knob("calibration.standing", ODDS, "what being ahead of the others adds to the odds"),
    knob("calibration.share", ODDS, "what having the question's words adds"),
    knob("calibration.rank", ODDS, "what the logarithm of the rank takes away"),
    knob("calibration.memory_standing", WEIGHT, "how much more the standing of a memory counts"),
    knob("calibration.answer_base", ODDS, "log odds that an answer holds something"),
    knob("calibration.answer_standing", ODDS, "what a first hit far ahead adds to them"),
    knob("calibration.answer_coverage", ODDS, "what a first hit with the question's words adds"),
    knob("calibration.answer_tokens", ODDS, "what a first hit that matches word by word adds"),
    knob("calibration.words_scale", Form::Real(0.0, 100.0), "the scale of scores that words alone made"),
    knob("calibration.high", SHARE, "the least probability of band HIGH"),
    knob("calibration.medium", SHARE, "the least probability of band MED; strict drops what is below"),
    knob("calibration.abstain", SHARE, "below this probability nothing answers"),
    knob("diversity", SHARE, "relevance against diversity among the hits; 1 is relevance alone"),
    knob("athena.vector_weight", WEIGHT, "weight of meaning"),
    knob("athena.tags_weight", WEIGHT, "weight of tags"),
    knob("athena.graph_weight", WEIGHT, "weight of the graph"),
    knob("athena.filename_weight", WEIGHT, "weight of file names"),
    knob("athena.text_weight", WEIGHT, "weight of words"),
    knob("athena.canonical_weight", WEIGHT, "weight of canonical facts"),
    knob("athena.rrf_k", WEIGHT, "the constant of rank fusion"),
    knob("athena.base", WEIGHT, "what a place is worth before its score"),
    knob("athena.oldest", SHARE, "what the oldest item keeps of its score; 1 turns age off"),
    knob("athena.half_life_days", DAYS, "days after which half of the rest is gone"),
    knob("athena.high", WEIGHT, "the least score of band HIGH"),
    knob("athena.medium", WEIGHT, "the least score of band MED; strict drops what is below"),
    knob("atlas.semantic_weight", WEIGHT, "weight of meaning; both are normalised to 1"),
    knob("atlas.keyword_weight", WEIGHT, "weight of words"),
    knob(
        "atlas.fusion",
        Form::Word(&["weighted", "add", "multiply", "rank"]),
        "how one score is made of two",
    ),
    knob("atlas.rank_k", WEIGHT, "the constant of fusion by rank"),
    knob("atlas.min_relevance", SHARE, "what is less relevant is left out"),
    knob("ade.text_weight", WEIGHT, "the words' part of the hybrid score"),
    knob("ade.vector_weight", WEIGHT, "the meaning's part of the hybrid score"),
    knob("ade.hybrid_share", SHARE, "the hybrid score's part of the whole"),
    knob("ade.recency_share", SHARE, "the part of how recent it is"),
    knob("ade.importance_share", SHARE, "the part of importance"),
    knob("ade.confidence_share", SHARE, "the part of confidence"),
    knob("ade.use_share", SHARE, "the part of how often it was used"),
    knob("ade.half_life_days", DAYS, "days after which recency is half"),
    knob("ade.uses_full", Form::Real(1.0, 10_000.0), "uses that count as often"),
    knob("ade.pinned_boost", Form::Real(1.0, 10.0), "multiplies the score of what is pinned"),
    knob("ade.fading_boost", SHARE, "multiplies the score of what fades (tier 3)"),
    knob("ade.mmr_lambda", SHARE, "relevance against diversity; 1 is relevance alone"),
    knob("ade.pool_least", Form::Whole(1, 10_000), "the least number of candidates by meaning"),
    knob("ade.pool_per_hit", Form::Whole(1, 1_000), "candidates by meaning for each hit wanted"),
    knob("seed.text_weight", WEIGHT, "weight of words"),
    knob("seed.vector_weight", WEIGHT, "weight of meaning"),
    knob("seed.graph_weight", WEIGHT, "weight of the graph"),
    knob("seed.text_pool", Form::Whole(1, 10_000), "candidates by words"),
    knob("seed.vector_pool", Form::Whole(1, 10_000), "candidates by meaning"),
    knob("seed.graph_pool", Form::Whole(1, 10_000), "candidates by the graph"),
    knob("seed.rrf_k", WEIGHT, "the constant of rank fusion"),
    knob("seed.age_decay", SHARE, "how importance falls with age, per day"),
    knob("seed.importance_share", SHARE, "the share of the score that importance decides"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use bower_core::item::Profile;

    #[test]
    fn every_profile_may_be_the_usual_one() {
        let words: Vec<_> = Profile::ALL.iter().map(|profile| profile.word()).collect();
        assert_eq!(KNOBS[0].form, Form::Word(words.leak()));
    }
}
