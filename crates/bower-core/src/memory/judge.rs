//! Judges a memory of a known type: keywords, summary, importance and decay rate.
//! The same text is always judged alike.
//!
//! ```
//! use bower_core::item::{Durability, MemoryType};
//! use bower_core::parts::memory::judge::{Constants, judge_text};
//!
//! let text = "We decided to keep invoices in PostgreSQL.";
//! let judged = judge_text(text, MemoryType::Decision, Durability::Lasting, 0.5, &Constants::default());
//! assert_eq!(judged.keywords[0], "postgresql");
//! ```

mod keywords;

use unicode_segmentation::UnicodeSegmentation;

use crate::item::{Durability, MemoryType};

/// The numbers of the judgement. Importance is as the first source system has it (`min(length/500, 1) * .10` and so on);
/// what is ours says so.
#[derive(Clone, Debug, PartialEq)]
pub struct Constants {
    /// More keywords describe nothing: the best ones come first.
    pub most_keywords: usize,
    /// Summaries end here, in characters.
    pub most_summary: usize,
    /// Weight of a text's length, full at `full_length` characters.
    pub length: f32,
    /// See `length`.
    pub full_length: usize,
    /// Weight of names, identifiers and quoted words, full at `full_entities` of them.
    pub entities: f32,
    /// See `entities`.
    pub full_entities: usize,
    /// What a decision adds.
    pub decision: f32,
    /// What a pattern adds; preferences and conventions, which that system did not have, are rules as patterns are.
    pub pattern: f32,
    /// What a procedure adds; a gotcha, which that system did not have, is one in the negative.
    pub procedure: f32,
    /// Multiplies the confidence.
    pub confidence: f32,
    /// Importance is never less.
    pub least: f32,
    /// Below this effective importance a memory is pruned.
    pub prune_below: f32,
    /// How much of the importance an unused memory loses to its age, a day.
    pub age_rate: f32,
    /// Days that a memory stays above the prune threshold though nobody uses it (ours: that system pruned a short fact
    /// after one day). A quarter of a year is the shortest in which yearly work, such as releases, comes round twice.
    pub days_lasting: f32,
    /// The same for one that names its end, and for notes to whoever goes on.
    pub days_dated: f32,
    /// The same for the state of a moment.
    pub days_passing: f32,
}

impl Default for Constants {
    fn default() -> Self {
        Self {
            most_keywords: 8,
            most_summary: 200,
            length: 0.10,
            full_length: 500,
            entities: 0.15,
            full_entities: 10,
            decision: 0.30,
            pattern: 0.25,
            procedure: 0.20,
            confidence: 0.20,
            least: 0.05,
            prune_below: 0.05,
            age_rate: 0.001,
            days_lasting: 90.0,
            days_dated: 30.0,
            days_passing: 7.0,
        }
    }
}

/// What a text was judged to be.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// As it was given.
    pub memory_type: MemoryType,
    /// The best first, in lower case, each once.
    pub keywords: Vec<String>,
    /// The first sentence.
    pub summary: String,
    /// 0..1, high enough to outlive the days of its durability.
    pub importance: f32,
    /// How much of the importance goes with each day without use; none where it never fades.
    pub decay_rate: f32,
}

/// Judges a text of a type that is likely to hold for a time; `confidence` is how sure the teller is, 0..1.
pub fn judge_text(
    text: &str,
    memory_type: MemoryType,
    durability: Durability,
    confidence: f32,
    constants: &Constants,
) -> Judged {
    let words = keywords::of(text);
    let decay_rate = decay_rate(memory_type, durability);
    let entities = words.iter().filter(|word| word.is_entity).count();
    let importance = importance(text, memory_type, entities, confidence, constants).max(floor(
        memory_type,
        durability,
        decay_rate,
        constants,
    ));
    Judged {
        memory_type,
        keywords: words.into_iter().take(constants.most_keywords).map(|word| word.shown).collect(),
        summary: first_sentence(text, constants.most_summary),
        importance,
        decay_rate,
    }
}

fn importance(
    text: &str,
    memory_type: MemoryType,
    entities: usize,
    confidence: f32,
    constants: &Constants,
) -> f32 {
    let share = |part: usize, full: usize| (part as f32 / full.max(1) as f32).min(1.0);
    let by_type = match memory_type {
        MemoryType::Decision => constants.decision,
        MemoryType::Pattern | MemoryType::Preference | MemoryType::Convention => constants.pattern,
        MemoryType::Procedure | MemoryType::Gotcha => constants.procedure,
        MemoryType::Fact
        | MemoryType::Episode
        | MemoryType::Context
        | MemoryType::Handoff
        | MemoryType::Digest => 0.0,
    };
    let confidence = if confidence.is_nan() { 0.0 } else { confidence.clamp(0.0, 1.0) };
    let sum = share(text.chars().take(constants.full_length).count(), constants.full_length)
        * constants.length
        + share(entities, constants.full_entities) * constants.entities
        + by_type
        + confidence * constants.confidence;
    sum.clamp(constants.least, 1.0)
}

/// What fades, a day: the importance of something unused halves after `1/rate` days.
///
/// Preferences and conventions never fade (ADE). Decisions and procedures, which are never pruned, fade to a half in 500
/// days, what warns or generalises in 200, facts in 100, what happened or is going on in 50, notes to a successor in 20.
fn decay_rate(memory_type: MemoryType, durability: Durability) -> f32 {
    let by_type = match memory_type {
        MemoryType::Preference | MemoryType::Convention => 0.0,
        MemoryType::Decision | MemoryType::Procedure => 0.002,
        MemoryType::Gotcha | MemoryType::Pattern => 0.005,
        MemoryType::Fact => 0.01,
        MemoryType::Episode | MemoryType::Context | MemoryType::Digest => 0.02,
        MemoryType::Handoff => 0.05,
    };
    // A named end or a moment outweighs the type: a preference for this sprint fades as the sprint does.
    let least: f32 = match durability {
        Durability::Lasting => 0.0,
        Durability::Dated => 0.03,
        Durability::Passing => 0.1,
    };
    least.max(by_type)
}

/// The least importance with which a memory stays above the prune threshold for the days of its durability.
///
/// `effective = importance / (1 + decay_rate * days) / (1 + age_rate * days)`: an unused fact of .10355 has, after 90
/// days, .10355 / 1.9 / 1.09 = .05.
fn floor(memory_type: MemoryType, durability: Durability, decay_rate: f32, constants: &Constants) -> f32 {
    let days = match (durability, memory_type) {
        (Durability::Passing, _) => constants.days_passing,
        (Durability::Dated, _) | (Durability::Lasting, MemoryType::Handoff) => constants.days_dated,
        (Durability::Lasting, _) => constants.days_lasting,
    };
    // A part in a thousand keeps the last day on the right side of rounding.
    let least = 1.001 * constants.prune_below * (1.0 + decay_rate * days) * (1.0 + constants.age_rate * days);
    least.min(1.0)
}

/// The first sentence of the first line that has one, at most so many characters.
pub fn first_sentence(content: &str, most: usize) -> String {
    let line = content.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let line = line.trim_start_matches('#').trim_start();
    let sentence = line.unicode_sentences().next().unwrap_or(line).trim();
    match sentence.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", sentence[..end].trim_end()),
        None => sentence.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn judge(text: &str, memory_type: MemoryType, durability: Durability, confidence: f32) -> Judged {
        judge_text(text, memory_type, durability, confidence, &Constants::default())
    }

    #[test]
    fn a_summary_is_the_first_sentence() {
        let check = |content: &str, expected: &str| assert_eq!(first_sentence(content, 200), expected);
        check("We chose PostgreSQL. It has pgvector.", "We chose PostgreSQL.");
        check("\n\n# Ports\n8080", "Ports");
        check("版本是二。下一句。", "版本是二。");
        check(&"word ".repeat(100), &format!("{}…", "word ".repeat(40).trim_end()));
        check("", "");
    }

    #[test]
    fn importance_is_the_sum_of_its_parts() {
        let check = |text: &str, told, confidence, expected: f32| {
            let got = judge(text, told, Durability::Lasting, confidence).importance;
            assert!((got - expected).abs() < 1e-4, "{text}: {got}");
        };
        // 30 characters of 500, one name of ten (Redis): .006 + .015, then decision .3 and half of .2.
        check("caches are kept in Redis today", MemoryType::Decision, 0.5, 0.006 + 0.015 + 0.3 + 0.1);
        check("caches are kept in Redis today", MemoryType::Pattern, 0.5, 0.006 + 0.015 + 0.25 + 0.1);
        check("caches are kept in Redis today", MemoryType::Procedure, 1.0, 0.006 + 0.015 + 0.2 + 0.2);
        check(&"word ".repeat(200), MemoryType::Procedure, 0.0, 0.1 + 0.2);
        check("x", MemoryType::Decision, f32::NAN, 0.0002 * 1.0 + 0.3);
    }

    #[test]
    fn nothing_is_pruned_before_its_days() {
        let effective = |judged: &Judged, days: f32| {
            judged.importance / (1.0 + judged.decay_rate * days) / (1.0 + 0.001 * days)
        };
        let check = |durability, told, days: f32| {
            let judged = judge("a small one", told, durability, 0.0);
            assert!(effective(&judged, days) >= 0.05, "{told}: {judged:?}");
        };
        for &told in MemoryType::ALL {
            let days = if told == MemoryType::Handoff { 30.0 } else { 90.0 };
            check(Durability::Lasting, told, days);
            check(Durability::Dated, told, 30.0);
            check(Durability::Passing, told, 7.0);
        }
        // The least fact is pruned some time, or nothing ever is.
        let fact = judge("a small one", MemoryType::Fact, Durability::Lasting, 0.0);
        assert!(effective(&fact, 100.0) < 0.05, "{fact:?}");
    }

    #[test]
    fn what_holds_longer_fades_slower() {
        let check = |durability, told, expected: f32| {
            let got = judge("tabs", told, durability, 0.5).decay_rate;
            assert!((got - expected).abs() < 1e-6, "{got}");
        };
        check(Durability::Lasting, MemoryType::Convention, 0.0);
        check(Durability::Lasting, MemoryType::Fact, 0.01);
        check(Durability::Dated, MemoryType::Convention, 0.03);
        check(Durability::Passing, MemoryType::Fact, 0.1);
        check(Durability::Passing, MemoryType::Decision, 0.1);
    }

    proptest! {
        #[test]
        fn any_text_is_judged(text in "\\PC{0,300}", confidence in -1.0_f32..2.0) {
            let judged = judge(&text, MemoryType::Fact, Durability::Lasting, confidence);
            prop_assert!((0.05..=1.0).contains(&judged.importance) && judged.keywords.len() <= 8);
            prop_assert!(judged.keywords.iter().all(|word| !word.trim().is_empty()));
        }
    }
}
