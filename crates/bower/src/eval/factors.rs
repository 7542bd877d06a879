//! Writes the data that `tools/fit_rank.py` fits the weights of the default profile to.
//! It has one line per question, with all candidates in the order of the ranking. That program defines the field names.

use std::collections::BTreeMap;

use serde::Serialize;

use super::metrics::Grades;

/// One question with its candidates.
#[derive(Debug, Serialize)]
pub struct RankedQuestion<'a> {
    /// Id of the question.
    pub question: &'a str,
    /// Its category; `None` if the set has none.
    pub category: Option<&'a str>,
    /// Grades of all its judged documents, also of those that were not found.
    pub grades: &'a Grades,
    /// The candidates, best first.
    pub candidates: Vec<RankedCandidate>,
    /// The best documents by reciprocal rank fusion of the text and the vector channel, for comparison.
    pub fusion: Vec<String>,
}

/// One candidate.
#[derive(Debug, Serialize)]
pub struct RankedCandidate {
    /// Id of its document.
    pub document: String,
    /// BM25; `None` if it contains no word of the question.
    pub text: Option<f32>,
    /// Cosine; `None` if it has no vector.
    pub vector: Option<f32>,
    /// The factors of its score by name.
    pub factors: BTreeMap<&'static str, f32>,
}

/// Returns one line of JSON.
pub fn line(question: &RankedQuestion<'_>) -> String {
    serde_json::to_string(question).expect("text and numbers are JSON") + "\n"
}
