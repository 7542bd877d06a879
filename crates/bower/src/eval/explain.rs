//! Explains for one question why each judged document has its rank, or was missed.
//! The explanation is data, and text for a reader. All functions are pure; the engine's results are passed as values.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::ControlFlow;

use bower_core::engine::evaluation::{Analyzer, Purpose};
use bower_core::request::{Factor, FactorStep};
use bower_core::shared::{Language, query_terms};
use serde::Serialize;

/// Most documents above another one that are shown.
pub const ABOVE: usize = 5;

/// Length of the shown beginning of a text, in characters.
const SHOWN: usize = 96;

/// One question with its judged documents.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// Id of the query.
    pub query: String,
    /// Text of the question.
    pub text: String,
    /// Group that it searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Category of the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// The retrieval profile.
    pub profile: String,
    /// Probability that the answer contains something relevant, if the profile computes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answerable: Option<f32>,
    /// Number of rows that each channel returns, unless the profile sets another number.
    pub depth: usize,
    /// Number of documents that were candidates.
    pub candidates: usize,
    /// The judged documents, by highest grade, then by rank.
    pub documents: Vec<Explained>,
}

/// Outcome for a judged document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// The document has a rank.
    Ranked,
    /// No channel returned it.
    NoCandidate,
    /// The document is not in the corpus.
    NotInCorpus,
    /// The document belongs to a group that the question does not search.
    AnotherGroup,
    /// The question excludes it.
    Excluded,
}

/// One judged document.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explained {
    /// Id of the document.
    pub document: String,
    /// Grade of its judgement.
    pub grade: i32,
    /// Beginning of its text.
    pub begins: String,
    /// Outcome for the document.
    pub fate: Fate,
    /// Rank among documents, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<usize>,
    /// Rank that it would have if every row were a candidate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank_among_all: Option<usize>,
    /// Score by the profile, at its best row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f32>,
    /// Probability that it answers; only the best hits have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probability: Option<f32>,
    /// Factors of its score.
    pub factors: Vec<Factor>,
    /// Its place in each channel, at its best row there.
    pub channels: Vec<Placed>,
    /// Words of the question that the document contains in no form.
    pub missing_words: Vec<String>,
    /// The best documents above it.
    pub above: Vec<Above>,
}

/// Place of a document in a channel.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Placed {
    /// Name of the channel.
    pub channel: String,
    /// Rank among all rows, from 1; `None` if the channel does not find the document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<usize>,
    /// Score in the channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f32>,
    /// Whether the channel returned it as a candidate.
    pub is_candidate: bool,
    /// Score of the last returned row, which is the score that it would have needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_score: Option<f32>,
    /// Number of rows that the channel returned.
    pub given: usize,
}

/// A document above another one, with the reason.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Above {
    /// Id of the document.
    pub document: String,
    /// Rank among documents, from 1.
    pub rank: usize,
    /// Score by the profile.
    pub score: f32,
    /// Grade of its judgement, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grade: Option<i32>,
    /// Beginning of its text.
    pub begins: String,
    /// Factor with the largest lead; `None` if it leads in none (a tie).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<Because>,
    /// Factors of its score.
    pub factors: Vec<Factor>,
}

/// The factor with the largest difference, in points of the score.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Because {
    /// Name of the factor.
    pub factor: &'static str,
    /// Contribution for the document above.
    pub theirs: f32,
    /// Contribution for the document below.
    pub ours: f32,
    /// Contribution above minus contribution below.
    pub difference: f32,
}

/// Returns the factor in which `theirs` exceeds `ours` most; of equal ones the first. `None` if it exceeds in none.
pub fn because(theirs: &[Factor], ours: &[Factor]) -> Option<Because> {
    let (theirs, ours) = (contributions(theirs), contributions(ours));
    let value = |of: &[(&'static str, f32)], name| {
        of.iter().filter(|(other, _)| *other == name).map(|(_, value)| value).sum::<f32>()
    };
    let mut names: Vec<&'static str> = Vec::new();
    for (name, _) in theirs.iter().chain(&ours) {
        if !names.contains(name) {
            names.push(name);
        }
    }
    let mut best: Option<Because> = None;
    for factor in names {
        let (theirs, ours) = (value(&theirs, factor), value(&ours, factor));
        let difference = theirs - ours;
        if difference > best.map_or(0.0, |best| best.difference) {
            best = Some(Because { factor, theirs, ours, difference });
        }
    }
    best
}

/// Returns the amount that each factor adds to the score at its step; the sum is the score.
fn contributions(factors: &[Factor]) -> Vec<(&'static str, f32)> {
    let mut score = 0.0;
    let mut parts = Vec::with_capacity(factors.len());
    for factor in factors {
        let part = match factor.step {
            FactorStep::Plus => factor.value,
            FactorStep::Times => score * factor.value - score,
            FactorStep::Note => continue,
        };
        score += part;
        parts.push((factor.name, part));
    }
    parts
}

/// Returns the words of a question that a text contains in no form, as the question spells them.
pub fn missing_words(question: &str, text: &str) -> Vec<String> {
    let mut analyzer = Analyzer::new(Language::English);
    let mut had: BTreeSet<String> = BTreeSet::new();
    analyzer.each(text, Purpose::Index, |found| {
        had.insert(found.term.to_owned());
        ControlFlow::Continue(())
    });
    let wanted: BTreeSet<String> = query_terms(question, &[]).into_iter().map(|term| term.term).collect();
    let mut missing: Vec<String> = Vec::new();
    let mut told = BTreeSet::new();
    analyzer.each(question, Purpose::Query, |found| {
        let is_missing = wanted.contains(found.term) && !had.contains(found.term);
        if is_missing && told.insert(found.term.to_owned()) {
            missing.push(question[found.at.clone()].to_owned());
        }
        ControlFlow::Continue(())
    });
    missing
}

/// Returns the beginning of a document on one line.
pub fn begins(title: &str, text: &str) -> String {
    let words = title.split_whitespace().chain(text.split_whitespace());
    let mut line = String::new();
    for word in words {
        if line.chars().count() + word.chars().count() >= SHOWN {
            line.push_str(" …");
            break;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// Renders the explanation for a reader. The text ends with a line feed.
pub fn render(explanation: &Explanation) -> String {
    let mut text = format!("{}  {}\n", explanation.query, explanation.text);
    let mut about = vec![format!("profile {}", explanation.profile)];
    about.extend(explanation.group.as_ref().map(|group| format!("group {group}")));
    about.extend(explanation.category.as_ref().map(|category| format!("category {category}")));
    about.push(format!("{} candidates", explanation.candidates));
    about.extend(explanation.answerable.map(|likely| format!("answerable {likely:.2}")));
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{}", about.join(" · "));
    for document in &explanation.documents {
        text.push('\n');
        put(&mut text, document);
    }
    text
}

fn put(text: &mut String, one: &Explained) {
    let fate = match (one.fate, one.rank, one.rank_among_all) {
        (Fate::Ranked, Some(rank), _) => format!("rank {rank}"),
        (Fate::Ranked | Fate::NoCandidate, _, Some(rank)) => {
            format!("no candidate; it would be {} if everything were", ordinal(rank))
        }
        (Fate::Ranked | Fate::NoCandidate, _, None) => "no candidate".to_owned(),
        (Fate::NotInCorpus, _, _) => "not in the corpus".to_owned(),
        (Fate::AnotherGroup, _, _) => "of a group that the question does not search".to_owned(),
        (Fate::Excluded, _, _) => "dropped by the question itself".to_owned(),
    };
    let _ = write!(text, "{}  grade {} · {fate}", one.document, one.grade);
    let _ = one.score.map(|score| write!(text, " · score {score:+.3}"));
    let _ = one.probability.map(|likely| write!(text, " · probability {likely:.2}"));
    text.push('\n');
    if !one.begins.is_empty() {
        let _ = writeln!(text, "  {}", one.begins);
    }
    for placed in &one.channels {
        let _ = write!(text, "  {:<9} ", placed.channel);
        let _ = match (placed.rank, placed.score) {
            (Some(rank), Some(score)) if placed.is_candidate => writeln!(text, "rank {rank}, {score:.3}"),
            (Some(rank), Some(score)) => {
                let last = placed.last_score.unwrap_or(score);
                let short = last - score;
                writeln!(
                    text,
                    "rank {rank}, beyond the {} asked for: {score:.3}, {short:.3} short of the last, {last:.3}",
                    placed.given
                )
            }
            (Some(_) | None, _) => writeln!(text, "nothing"),
        };
    }
    if !one.factors.is_empty() {
        let factors: Vec<String> = one.factors.iter().map(shown).collect();
        let _ = writeln!(text, "  made of   {}", factors.join(" · "));
    }
    if !one.missing_words.is_empty() {
        let _ = writeln!(text, "  lacks     {}", one.missing_words.join(", "));
    }
    if !one.above.is_empty() {
        text.push_str("  above it\n");
    }
    for above in &one.above {
        let grade = above.grade.map_or(String::new(), |grade| format!(" (grade {grade})"));
        let _ = write!(text, "  {:>4}  {:+.3}  {}{grade}", above.rank, above.score, above.document);
        if let Some(because) = above.because {
            let Because { factor, theirs, ours, difference } = because;
            let _ = write!(text, ": {factor} {difference:+.3} ({theirs:+.3} against {ours:+.3})");
        }
        let _ = writeln!(text, "\n                {}", above.begins);
    }
}

fn shown(factor: &Factor) -> String {
    match factor.step {
        FactorStep::Plus => format!("{} {:+.3}", factor.name, factor.value),
        FactorStep::Times => format!("{} x{:.3}", factor.name, factor.value),
        FactorStep::Note => format!("{} {:.3}", factor.name, factor.value),
    }
}

fn ordinal(rank: usize) -> String {
    let end = match (rank % 10, rank % 100) {
        (1, 0..=10 | 14..) => "st",
        (2, 0..=10 | 14..) => "nd",
        (3, 0..=10 | 14..) => "rd",
        (_, _) => "th",
    };
    format!("{rank}{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_difference_is_named() {
        let ours = [Factor::plus("words", 0.5), Factor::note("trust", 2.0), Factor::plus("meaning", 0.25)];
        let theirs = [Factor::plus("words", 0.25), Factor::note("trust", 9.0), Factor::plus("meaning", 1.0)];
        let found = because(&theirs, &ours).unwrap();
        assert_eq!((found.factor, found.theirs, found.ours, found.difference), ("meaning", 1.0, 0.25, 0.75));
        assert_eq!(because(&ours, &ours), None);
        // A multiplier counts as the amount that it adds: 2 x 1.5 adds 1, 3 x .5 subtracts 1.5.
        let high = [Factor::plus("base", 2.0), Factor::times("recent", 1.5)];
        let low = [Factor::plus("base", 3.0), Factor::times("recent", 0.5)];
        let found = because(&high, &low).unwrap();
        assert_eq!((found.factor, found.theirs, found.ours, found.difference), ("recent", 1.0, -1.5, 2.5));
    }

    #[test]
    fn missing_words_are_those_of_the_question_in_no_form() {
        let missing = missing_words("When did Caroline adopt her dogs?", "Caroline: I was adopting a cat.");
        assert_eq!(missing, ["dogs"]);
        assert_eq!(missing_words("who is it", "nothing"), ["who", "is", "it"]);
        assert_eq!(missing_words("", "x"), Vec::<String>::new());
    }

    #[test]
    fn ranks_are_spoken() {
        let spoken = [1, 2, 3, 4, 11, 12, 13, 21, 101, 111].map(ordinal);
        assert_eq!(spoken.join(" "), "1st 2nd 3rd 4th 11th 12th 13th 21st 101st 111th");
    }

    /// Returns a ranked document with two others above it.
    fn found() -> Explained {
        Explained {
            document: "D1:3".into(),
            grade: 1,
            begins: begins("8 May 2023", "Caroline: I went to a support group yesterday."),
            fate: Fate::Ranked,
            rank: Some(4),
            rank_among_all: Some(5),
            score: Some(0.75),
            probability: Some(0.043),
            factors: vec![
                Factor::plus("words", 0.5),
                Factor::note("trust in meaning", 1.2),
                Factor::plus("meaning", 0.25),
            ],
            channels: vec![
                Placed {
                    channel: "text".into(),
                    rank: Some(2),
                    score: Some(7.25),
                    is_candidate: true,
                    last_score: Some(1.5),
                    given: 200,
                },
                Placed {
                    channel: "vector".into(),
                    rank: Some(231),
                    score: Some(0.301),
                    is_candidate: false,
                    last_score: Some(0.332),
                    given: 80,
                },
            ],
            missing_words: vec!["counselling".into()],
            above: vec![
                Above {
                    document: "D2:1".into(),
                    rank: 1,
                    score: 1.5,
                    grade: Some(1),
                    begins: "Melanie: hello".into(),
                    because: Some(Because { factor: "meaning", theirs: 1.0, ours: 0.25, difference: 0.75 }),
                    factors: Vec::new(),
                },
                Above {
                    document: "D2:2".into(),
                    rank: 2,
                    score: 0.75,
                    grade: None,
                    begins: "Melanie: bye".into(),
                    because: None,
                    factors: Vec::new(),
                },
            ],
        }
    }

    #[test]
    fn a_reader_sees_where_it_went_wrong() {
        let found = found();
        let missed = Explained {
            document: "D9:9".into(),
            fate: Fate::NoCandidate,
            rank: None,
            rank_among_all: Some(412),
            score: None,
            probability: None,
            factors: Vec::new(),
            channels: vec![Placed {
                channel: "text".into(),
                rank: None,
                score: None,
                is_candidate: false,
                last_score: Some(1.5),
                given: 200,
            }],
            above: Vec::new(),
            begins: begins("", &"word ".repeat(40)),
            ..found.clone()
        };
        let gone = Explained {
            document: "D0".into(),
            fate: Fate::NotInCorpus,
            rank_among_all: None,
            channels: Vec::new(),
            missing_words: Vec::new(),
            begins: String::new(),
            ..missed.clone()
        };
        let explanation = Explanation {
            query: "q12".into(),
            text: "When did Caroline go to counselling?".into(),
            group: Some("conv-26".into()),
            category: Some("temporal".into()),
            profile: "bower".into(),
            answerable: Some(0.617),
            depth: 200,
            candidates: 312,
            documents: vec![found, missed, gone],
        };
        insta::assert_snapshot!(render(&explanation));
        insta::assert_json_snapshot!(explanation);
    }
}
