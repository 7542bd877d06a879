//! Reads the classes of words by which an echo is detected.

use std::collections::HashMap;
use std::sync::LazyLock;

/// A class of words, as the table describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WordClass {
    /// Makes a statement of what stands before and behind.
    Auxiliary,
    /// Goes on with a sentence and begins no noun.
    GoesOn,
    /// Tells one of several things of a kind from the others.
    Parts,
    /// Ends no statement.
    LeadsOn,
    /// Ends none behind one that leads on.
    StandsIn,
}

/// What a word is worth to an echo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weight {
    /// Small words come and go without a change of meaning.
    Small,
    /// Denies something.
    Denies,
    /// Says where something is known from, at the ends of a sentence; inside it says what all others do.
    Vouches,
    /// The same before a sentence only.
    Frames,
    /// All others.
    Says,
}

/// The weight and the classes of a word.
type Known = (Weight, Vec<WordClass>);

static WORDS: LazyLock<HashMap<&'static str, Known>> = LazyLock::new(|| read(include_str!("words.tsv")));

/// Reads the table. Of several weights the first counts.
fn read(table: &'static str) -> HashMap<&'static str, Known> {
    let mut words: HashMap<&'static str, Known> = HashMap::new();
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let (name, all) = line.split_once('\t').expect("each line has a class and its words");
        for word in all.split('|') {
            let (weight, classes) = words.entry(word).or_insert((Weight::Says, Vec::new()));
            let known = match name {
                "small" => Weight::Small,
                "denies" => Weight::Denies,
                "vouches" => Weight::Vouches,
                "frames" => Weight::Frames,
                name => {
                    classes.push(class(name));
                    continue;
                }
            };
            if *weight == Weight::Says {
                *weight = known;
            }
        }
    }
    words
}

fn class(name: &str) -> WordClass {
    match name {
        "auxiliary" => WordClass::Auxiliary,
        "goes on" => WordClass::GoesOn,
        "parts" => WordClass::Parts,
        "leads on" => WordClass::LeadsOn,
        "stands in" => WordClass::StandsIn,
        other => unreachable!("no class {other}"),
    }
}

/// Whether a word is of a class. `folded` is as the analysis gives it: lower case, without apostrophes.
pub(super) fn is(folded: &str, class: WordClass) -> bool {
    WORDS.get(folded).is_some_and(|(_, classes)| classes.contains(&class))
}

/// Returns the weight of a word.
pub(super) fn weight(folded: &str) -> Weight {
    WORDS.get(folded).map_or(Weight::Says, |(weight, _)| *weight)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_has_a_weight_and_classes() {
        assert_eq!(
            ["the", "never", "recall", "note", "port"].map(weight),
            [Weight::Small, Weight::Denies, Weight::Vouches, Weight::Frames, Weight::Says]
        );
        // "before" vouches at an end, and goes on with a sentence.
        assert_eq!((weight("before"), is("before", WordClass::GoesOn)), (Weight::Vouches, true));
        assert!(is("will", WordClass::Auxiliary) && is("staging", WordClass::Parts));
        assert!(
            is("with", WordClass::LeadsOn) && is("she", WordClass::StandsIn) && !is("", WordClass::Parts)
        );
    }
}
