//! Decides whether a question is about an earlier state of things ("What did we use before?").

use std::sync::LazyLock;

use super::linear::WordModel;

static MODEL: LazyLock<WordModel> =
    LazyLock::new(|| WordModel::read(include_str!("past.tsv")).expect("the table of weights is whole"));

/// Whether a question is about an earlier state rather than today's. `past.tsv` says how often that is right: it was measured on
/// the questions of authors that it was not fitted to.
pub(crate) fn is_about_the_past(question: &str) -> bool {
    MODEL.log_odds(question) > 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// None of these is in the data.
    #[test]
    fn questions_about_the_past_are_told_from_others() {
        for question in [
            "What did we use before Postgres?",
            "Who used to run the allotment?",
            "Where was the archive kept earlier?",
        ] {
            assert!(is_about_the_past(question), "{question}");
        }
        for question in
            ["Which database do we use?", "Who runs the allotment?", "Where is the archive?", "", "database"]
        {
            assert!(!is_about_the_past(question), "{question}");
        }
    }
}
