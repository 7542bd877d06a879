//! Computes for `bower eval` how good the ranking is on a labelled set.
//! It judges the answers of the real query path and does not depend on the engine, which is passed as a function.
//!
//! A document that was cut into chunks ranks as its best chunk. Figures are means over all queries that have a judged document,
//! whether or not anything was found for them.

pub mod bootstrap;
pub mod calibration;
pub mod evidence;
pub mod explain;
pub mod factors;
pub mod features;
pub mod metrics;
pub mod paired;
pub mod report;
pub mod set;
pub mod tables;

use std::collections::{BTreeMap, BTreeSet};

use bower_core::error::Missing;
use bower_core::{Error, Result};

use self::metrics::Figures;
use self::set::{Query, Set};

/// Name of the answer's ranking, beside those of the channels.
pub const FUSED: &str = "fused";

/// One query's rankings: ids of corpus documents, best first. An id may repeat, once for each of its chunks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunLists {
    /// The answer as a user gets it.
    pub fused: Vec<String>,
    /// Each channel's own list by its name; a channel that did not take part is left out.
    pub channels: BTreeMap<String, Vec<String>>,
    /// Wall time of the query inside the engine, in milliseconds.
    pub took_ms: f64,
}

/// Figures of one query's rankings.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// Position in the set's queries.
    pub query: usize,
    /// Figures of `fused` and of each channel that took part.
    pub figures: BTreeMap<String, Figures>,
}

impl Judged {
    /// Returns the figures of a ranking; zero for a channel that did not take part.
    pub fn of(&self, ranking: &str) -> Figures {
        self.figures.get(ranking).copied().unwrap_or_default()
    }
}

/// Figures of all judged queries of a set, in the set's order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// One for each query that has a judged document.
    pub judged: Vec<Judged>,
    /// Wall time of each query that was run, in milliseconds.
    pub times: Vec<f64>,
}

/// Returns the judged queries of a set, with their positions.
pub fn judged_queries(set: &Set) -> impl Iterator<Item = (usize, &Query)> {
    set.queries.iter().enumerate().filter(|(_, query)| set.grades.contains_key(&query.id))
}

/// Passes every judged query to `run` and computes the figures of its answers; `cutoff` is the k of nDCG@k, Recall@k and MRR@k,
/// 1..=100.
///
/// `run` must search only the query's group and should return [`metrics::DEEP`] documents plus the excluded ones. A blank query
/// is not run: it finds nothing. Errors of `run` end the evaluation.
pub fn judge(set: &Set, cutoff: usize, mut run: impl FnMut(&Query) -> Result<RunLists>) -> Result<Outcome> {
    if !(1..=metrics::DEEP).contains(&cutoff) {
        return Err(Error::invalid("limit-k", format!("use 1 to {}", metrics::DEEP)));
    }
    let groups = Groups::of(set);
    let mut outcome = Outcome::default();
    for (at, query) in judged_queries(set) {
        let lists = if query.text.trim().is_empty() {
            RunLists::default()
        } else {
            let lists = run(query)?;
            outcome.times.push(lists.took_ms);
            lists
        };
        let grades = &set.grades[&query.id];
        let mut figures = BTreeMap::new();
        let rankings = lists.channels.iter().map(|(channel, ids)| (channel.as_str(), ids));
        for (name, ids) in rankings.chain([(FUSED, &lists.fused)]) {
            let ranking = groups.ranking(query, ids)?;
            figures.insert(name.to_owned(), Figures::of(&ranking, grades, cutoff));
        }
        outcome.judged.push(Judged { query: at, figures });
    }
    Ok(outcome)
}

/// Groups of the set's documents, by id.
pub struct Groups<'a>(BTreeMap<&'a str, Option<&'a str>>);

impl<'a> Groups<'a> {
    /// Collects the groups of all documents.
    pub fn of(set: &'a Set) -> Self {
        Self(set.documents.iter().map(|document| (document.id.as_str(), document.group.as_deref())).collect())
    }

    /// Returns each document once, at its best chunk, without the excluded ones.
    pub fn ranking<'b>(&self, query: &Query, ids: &'b [String]) -> Result<Vec<&'b str>> {
        let mut seen = BTreeSet::new();
        let mut ranking = Vec::new();
        for id in ids {
            let Some(group) = self.0.get(id.as_str()) else {
                let what = Missing::Named("document of the set with the id");
                return Err(Error::NotFound { what, id: id.clone() });
            };
            if query.group.is_some() && *group != query.group.as_deref() {
                // The engine's filter has failed, so figures would be meaningless.
                return Err(Error::invalid(
                    format!("answer to {}", query.id),
                    format!("document {id} is not of group {}", query.group.as_deref().unwrap_or_default()),
                ));
            }
            if !query.exclude.contains(id) && seen.insert(id.as_str()) {
                ranking.push(id.as_str());
            }
        }
        Ok(ranking)
    }
}

#[cfg(test)]
mod tests {
    use super::metrics::Grades;
    use super::report::Report;
    use super::set::Document;
    use super::tables;
    use super::*;

    fn evaluate(set: &Set, run: impl FnMut(&Query) -> Result<RunLists>) -> Result<Report> {
        Ok(Report::of(set, "bower", 10, &judge(set, 10, run)?))
    }

    fn query(id: &str, group: Option<&str>, category: Option<&str>, exclude: &[&str]) -> Query {
        Query {
            id: id.into(),
            text: "text".into(),
            group: group.map(Into::into),
            exclude: exclude.iter().map(ToString::to_string).collect(),
            category: category.map(Into::into),
        }
    }

    fn ids(words: &str) -> Vec<String> {
        words.split_whitespace().map(Into::into).collect()
    }

    /// Returns a set of documents a, b, c (group g) and z (group h). The judgements are `query document grade`.
    fn set(queries: Vec<Query>, judged: &[(&str, &str, i32)]) -> Set {
        let document = |id: &str, group: &str| Document {
            id: id.into(),
            title: String::new(),
            text: id.into(),
            group: Some(group.into()),
        };
        let mut grades: BTreeMap<String, Grades> = BTreeMap::new();
        for (query, document, grade) in judged {
            grades.entry((*query).into()).or_default().insert((*document).into(), *grade);
        }
        let documents = vec![document("a", "g"), document("b", "g"), document("c", "g"), document("z", "h")];
        Set { documents, queries, grades }
    }

    fn close(figure: f64, expected: f64) {
        assert!((figure - expected).abs() < 1e-9, "{figure} is not {expected}");
    }

    #[test]
    fn figures_are_means_over_the_judged_queries() {
        let queries = vec![
            query("q1", Some("g"), Some("one"), &[]),
            query("q2", None, Some("two"), &["a"]),
            query("unjudged", None, None, &[]),
        ];
        let set = set(queries, &[("q1", "b", 1), ("q2", "b", 1), ("q2", "gone", 1)]);
        let mut asked = Vec::new();
        let report = evaluate(&set, |query| {
            asked.push(query.id.clone());
            Ok(RunLists {
                // Document a has two chunks; the second one changes nothing.
                fused: ids("a a b c"),
                channels: BTreeMap::from([("text".into(), ids("b a"))]),
                took_ms: asked.len() as f64,
            })
        })
        .unwrap();
        assert_eq!(asked, ["q1", "q2"]);
        assert_eq!((report.documents, report.queries), (4, 2));
        // By hand: q1 finds b second; q2 drops a, finds b first and misses one of two.
        let q1 = 1.0 / 3.0_f64.log2();
        let q2 = 1.0 / (1.0 + 1.0 / 3.0_f64.log2());
        close(report.figures["fused"]["ndcg@10"], f64::midpoint(q1, q2));
        close(report.figures["fused"]["recall@10"], 0.75);
        close(report.figures["fused"]["recall@100"], 0.75);
        close(report.figures["fused"]["mrr@10"], 0.75);
        close(report.figures["text"]["mrr@10"], 1.0);
        close(report.by_category["one"]["fused"]["ndcg@10"], q1);
        close(report.by_category["two"]["fused"]["ndcg@10"], q2);
        close(report.latency_ms.p50, 1.0);
        close(report.latency_ms.p95, 2.0);
    }

    #[test]
    fn a_channel_that_is_sometimes_silent_is_judged_over_all() {
        let set = set(
            vec![query("q1", None, None, &[]), query("q2", None, None, &[])],
            &[("q1", "a", 1), ("q2", "a", 1)],
        );
        let report = evaluate(&set, |query| {
            let vector = (query.id == "q1").then(|| ("vector".to_owned(), ids("a")));
            Ok(RunLists { fused: ids("a"), channels: vector.into_iter().collect(), took_ms: 1.0 })
        })
        .unwrap();
        close(report.figures["vector"]["recall@10"], 0.5);
        close(report.figures["fused"]["recall@10"], 1.0);
    }

    #[test]
    fn a_blank_query_finds_nothing_and_is_not_run() {
        let mut blank = query("q", None, None, &[]);
        blank.text = " \n".into();
        let report = evaluate(&set(vec![blank], &[("q", "a", 1)]), |_| unreachable!()).unwrap();
        assert_eq!(report.queries, 1);
        close(report.figures["fused"]["recall@100"], 0.0);
    }

    #[test]
    fn what_the_engine_may_not_answer_ends_the_evaluation() {
        let set = set(vec![query("q", Some("g"), None, &[])], &[("q", "a", 1)]);
        let run = |answer: &str| {
            let fused = ids(answer);
            evaluate(&set, |_| Ok(RunLists { fused: fused.clone(), ..RunLists::default() }))
                .unwrap_err()
                .to_string()
        };
        assert_eq!(run("a z"), "answer to q: document z is not of group g");
        assert_eq!(run("a stranger"), "no document of the set with the id stranger");
        let failed = evaluate(&set, |_| Err(Error::invalid("query", "fails"))).unwrap_err();
        assert_eq!(failed.to_string(), "query: fails");
        for cutoff in [0, 101] {
            assert!(judge(&set, cutoff, |_| unreachable!()).is_err());
        }
    }

    #[test]
    fn the_report_has_the_promised_shape() {
        let set = set(vec![query("q", None, Some("kind"), &[])], &[("q", "a", 1)]);
        let report = evaluate(&set, |_| {
            let channels = ["text", "vector"].map(|name| (name.to_owned(), ids("b a")));
            Ok(RunLists { fused: ids("a b"), channels: channels.into(), took_ms: 2.0 })
        })
        .unwrap();
        let one = serde_json::json!({"ndcg@10": 1.0, "recall@10": 1.0, "recall@100": 1.0, "mrr@10": 1.0});
        let half = serde_json::json!(
            {"ndcg@10": 1.0 / 3.0_f64.log2(), "recall@10": 1.0, "recall@100": 1.0, "mrr@10": 0.5});
        let figures = serde_json::json!({"fused": one, "text": half, "vector": half});
        let sure = serde_json::json!({"ndcg@10": [1.0, 1.0], "recall@10": [1.0, 1.0], "recall@100": [1.0, 1.0], "mrr@10": [1.0, 1.0]});
        let low = 1.0 / 3.0_f64.log2();
        let unsure = serde_json::json!(
            {"ndcg@10": [low, low], "recall@10": [1.0, 1.0], "recall@100": [1.0, 1.0], "mrr@10": [0.5, 0.5]});
        let intervals = serde_json::json!({"fused": sure, "text": unsure, "vector": unsure});
        assert_eq!(
            serde_json::to_value(&report).unwrap(),
            serde_json::json!({
                "profile": "bower", "documents": 4, "queries": 1, "figures": figures, "intervals": intervals,
                "by_category": {"kind": figures}, "category_intervals": {"kind": intervals},
                "category_queries": {"kind": 1}, "latency_ms": {"p50": 2.0, "p95": 2.0},
            })
        );
        insta::assert_snapshot!(tables::render(&report));
    }

    /// Both optional parts of the report follow the figures.
    #[test]
    fn comparison_and_ablation_stand_below_the_figures() {
        let set = set(
            vec![query("q1", None, Some("kind"), &[]), query("q2", None, None, &[])],
            &[("q1", "a", 1), ("q2", "a", 1)],
        );
        let found = |words: &'static str| {
            judge(&set, 10, |_| Ok(RunLists { fused: ids(words), ..RunLists::default() })).unwrap()
        };
        let (first, second) = (found("b a"), found("a b"));
        let mut report = Report::of(&set, "bower", 10, &first);
        report.comparison = Some(paired::compare(&set, 10, ["bower", "atlas"], &first, &second));
        report.ablation = Some(vec![
            paired::ablated("channel", "text", 10, &first, &second),
            paired::ablated("factor", "meaning", 10, &first, &found("b")),
        ]);
        insta::assert_snapshot!(tables::render(&report));
        insta::assert_json_snapshot!(serde_json::to_value(&report).unwrap()["ablation"]);
    }

    #[test]
    fn probabilities_and_evidence_stand_last() {
        let set = set(vec![query("q1", None, None, &[])], &[("q1", "a", 1)]);
        let outcome = judge(&set, 10, |_| Ok(RunLists { fused: ids("a"), ..RunLists::default() })).unwrap();
        let mut report = Report::of(&set, "bower", 10, &outcome);
        let hit = |rank: usize, probability: f32, relevant: bool| calibration::Hit {
            document: "a".into(),
            rank,
            place: rank,
            probability,
            standing: -0.5,
            share: 0.5,
            coverage: 0.5,
            closeness: None,
            relevant,
            graded: true,
        };
        let whole =
            calibration::Told { hits: vec![hit(1, 0.75, true), hit(2, 0.125, false)], answerable: 0.5 };
        let removed = calibration::Told { hits: Vec::new(), answerable: 0.125 };
        let asked = [calibration::Asked { query: 0, whole, removed: Some(removed) }];
        report.calibration = Some(calibration::calibrate(&asked, 0.25, true));
        let held = evidence::Held { cited: 1.0, words: 0.5, tokens: 250 };
        report.evidence = Some(vec![evidence::budget(256, &[held]), evidence::budget(1_024, &[held])]);
        insta::assert_snapshot!(tables::render(&report));
        let json = serde_json::to_value(&report).unwrap();
        insta::assert_json_snapshot!((&json["calibration"], &json["evidence"]));
    }
}
