//! Linear models over the words of a text, with weights that a script fitted to committed data.

use std::collections::{HashMap, HashSet};

/// Characters that part words, besides white space. `tools/fit_past.py` has the same.
const MARKS: &str = ".,;:!?'\"()[]{}<>/\\|*_`~@#%^&+=-–—…‘’“”«»¿¡、。，？！：；「」؟،।";

/// A logistic regression over the words of a text and its pairs of neighbouring words, each counted once.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct WordModel {
    base: f32,
    weights: HashMap<&'static str, f32>,
}

impl WordModel {
    /// Reads a table: on each line a word or a pair of words, a tab and its weight. `(base)` is the weight of every text; a line
    /// that begins with `#` is a comment. `None` if a line has no weight or stands twice.
    pub(crate) fn read(table: &'static str) -> Option<Self> {
        let mut model = Self::default();
        for line in table.lines().filter(|line| !line.starts_with("# ")) {
            let (name, weight) = line.rsplit_once('\t')?;
            let weight = weight.parse().ok()?;
            if name == "(base)" {
                model.base = weight;
            } else if model.weights.insert(name, weight).is_some() {
                return None;
            }
        }
        Some(model)
    }

    /// Returns the log odds that a text is of the kind that the model was fitted to.
    pub(crate) fn log_odds(&self, text: &str) -> f32 {
        let words = words(text);
        let ends = ["^"].into_iter().chain(words.iter().map(String::as_str)).chain(["$"]);
        let all: Vec<&str> = ends.collect();
        let pairs = all.windows(2).map(|pair| pair.join(" "));
        let features: HashSet<String> = words.iter().cloned().chain(pairs).collect();
        // The sum of floats depends on their order.
        let mut found: Vec<f32> =
            features.iter().filter_map(|name| self.weights.get(name.as_str()).copied()).collect();
        found.sort_unstable_by(f32::total_cmp);
        self.base + found.iter().sum::<f32>()
    }
}

/// Returns the words of a text in lower case. Each character of a script without spaces is a word.
fn words(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut word = String::new();
    let text = text.to_lowercase();
    for c in text.chars().chain([' ']) {
        let is_alone = matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}');
        if !is_alone && !c.is_whitespace() && !MARKS.contains(c) {
            word.push(c);
            continue;
        }
        if !word.is_empty() {
            found.push(std::mem::take(&mut word));
        }
        if is_alone {
            found.push(c.into());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_text_is_parted_at_marks_and_characters_without_spaces_stand_alone() {
        assert_eq!(words("Didn't we use X-Ray before?"), ["didn", "t", "we", "use", "x", "ray", "before"]);
        assert_eq!(words("以前は cron、今"), ["以", "前", "は", "cron", "今"]);
        assert_eq!(words(" . "), Vec::<String>::new());
    }

    #[test]
    fn log_odds_are_the_sum_of_the_weights_of_what_is_there() {
        let model =
            WordModel::read("# a comment\n(base)\t-1.00\nused\t0.50\nused to\t1.25\n^ who\t2.00\n").unwrap();
        // -1 + .5 + 1.25; a word that stands twice counts once.
        assert!((model.log_odds("Used to be used?") - 0.75).abs() < 1e-6);
        assert!((model.log_odds("who used it") - 1.5).abs() < 1e-6);
        assert!((model.log_odds("") + 1.0).abs() < 1e-6);
    }

    #[test]
    fn a_broken_table_is_refused() {
        assert_eq!(WordModel::read("used 0.5\n"), None);
        assert_eq!(WordModel::read("used\tmuch\n"), None);
        assert_eq!(WordModel::read("used\t0.5\nused\t0.6\n"), None);
    }

    proptest! {
        #[test]
        fn any_text_has_log_odds(text in ".{0,80}") {
            let model = WordModel::read("(base)\t0.10\na\t0.50\na b\t-0.50\n").unwrap();
            prop_assert!(model.log_odds(&text).is_finite());
        }
    }
}
