//! `bower eval`: how good the ranking is on a labelled set. It judges what the real query path answers and knows
//! nothing of how the answer came about: the engine is handed in as a function.
//!
//! A document that was cut into chunks ranks as its best chunk. Figures are means over all queries that have a judged
//! document, whether or not anything was found for them.

pub mod metrics;
pub mod set;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use bower_core::{Error, Result};
use serde::Serialize;

use self::metrics::{Figures, percentile};
use self::set::{Query, Set};

/// What to evaluate and how.
#[derive(Clone, Debug)]
pub struct Task<'a> {
    /// The retrieval profile's name, for the report.
    pub profile: &'a str,
    /// The k of nDCG@k, Recall@k and MRR@k, 1..=100.
    pub cutoff: usize,
}

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

/// The figures of one ranking as they are printed: `ndcg@10`, `recall@10`, `recall@100`, `mrr@10`.
pub type Named = BTreeMap<String, f64>;

/// What `bower eval` prints.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The retrieval profile.
    pub profile: String,
    /// Documents in the corpus.
    pub documents: usize,
    /// Queries that have a judged document.
    pub queries: usize,
    /// Figures of `fused` and of each channel.
    pub figures: BTreeMap<String, Named>,
    /// The same by category of query, where the set has categories.
    pub by_category: BTreeMap<String, BTreeMap<String, Named>>,
    /// Time for one query.
    pub latency_ms: Latency,
    /// Queries in each category.
    #[serde(skip)]
    category_sizes: BTreeMap<String, usize>,
    /// The k of the figures' names.
    #[serde(skip)]
    cutoff: usize,
}

/// Time for one query, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Latency {
    /// Half of the queries took at most this.
    pub p50: f64,
    /// 95 of 100 queries took at most this.
    pub p95: f64,
}

const FUSED: &str = "fused";

/// Puts every judged query to `run` and sums up what it answers.
///
/// `run` must search only the query's group and should give [`metrics::DEEP`] documents plus the excluded ones. A blank query is
/// not run: it finds nothing. Errors of `run` end the evaluation.
pub fn evaluate(
    set: &Set,
    task: &Task<'_>,
    mut run: impl FnMut(&Query) -> Result<RunLists>,
) -> Result<Report> {
    if !(1..=metrics::DEEP).contains(&task.cutoff) {
        return Err(Error::invalid("limit-k", format!("use 1 to {}", metrics::DEEP)));
    }
    let groups: BTreeMap<&str, Option<&str>> =
        set.documents.iter().map(|document| (document.id.as_str(), document.group.as_deref())).collect();
    let mut total = Sums::default();
    let mut by_category: BTreeMap<String, Sums> = BTreeMap::new();
    let mut times = Vec::new();
    for query in &set.queries {
        let Some(grades) = set.grades.get(&query.id) else { continue };
        let lists = if query.text.trim().is_empty() {
            RunLists::default()
        } else {
            let lists = run(query)?;
            times.push(lists.took_ms);
            lists
        };
        let mut one = BTreeMap::new();
        let rankings = lists.channels.iter().map(|(channel, ids)| (channel.as_str(), ids));
        for (name, ids) in rankings.chain([(FUSED, &lists.fused)]) {
            let ranking = ranking(query, ids, &groups)?;
            one.insert(name, Figures::of(&ranking, grades, task.cutoff));
        }
        total.add(&one);
        if let Some(category) = &query.category {
            by_category.entry(category.clone()).or_default().add(&one);
        }
    }
    Ok(Report {
        profile: task.profile.to_owned(),
        documents: set.documents.len(),
        queries: total.queries,
        figures: total.means(task.cutoff),
        by_category: by_category.iter().map(|(name, sums)| (name.clone(), sums.means(task.cutoff))).collect(),
        latency_ms: Latency { p50: percentile(&mut times, 0.50), p95: percentile(&mut times, 0.95) },
        category_sizes: by_category.into_iter().map(|(name, sums)| (name, sums.queries)).collect(),
        cutoff: task.cutoff,
    })
}

/// The report as aligned tables for a person. It ends with a line feed.
pub fn render(report: &Report) -> String {
    let mut text = String::new();
    let columns = [
        format!("nDCG@{}", report.cutoff),
        format!("Recall@{}", report.cutoff),
        format!("Recall@{}", metrics::DEEP),
        format!("MRR@{}", report.cutoff),
    ];
    let keys = keys(report.cutoff);
    let width = report.figures.keys().map(|name| name.chars().count() + 2).max().unwrap_or(0);
    let put = |text: &mut String, label: &str, cells: &[String]| {
        let line = cells.iter().fold(format!("{label:width$}"), |line, cell| format!("{line}  {cell:>10}"));
        text.push_str(line.trim_end());
        text.push('\n');
    };
    let row = |text: &mut String, label: &str, figures: &Named| {
        let cells: Vec<String> =
            keys.iter().map(|key| format!("{:.3}", figures.get(key).copied().unwrap_or(0.0))).collect();
        put(text, label, &cells);
    };
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "profile {} · {} documents · {} judged queries · p50 {:.1} ms · p95 {:.1} ms\n",
        report.profile, report.documents, report.queries, report.latency_ms.p50, report.latency_ms.p95
    );
    put(&mut text, "", &columns);
    for (name, figures) in fused_first(&report.figures) {
        row(&mut text, name, figures);
    }
    for (category, figures) in &report.by_category {
        let size = report.category_sizes.get(category).copied().unwrap_or(0);
        let _ = writeln!(text, "\n{category} ({size})");
        for (name, figures) in fused_first(figures) {
            row(&mut text, &format!("  {name}"), figures);
        }
    }
    text
}

/// Sums of figures by ranking, over some queries.
#[derive(Default)]
struct Sums {
    queries: usize,
    sums: BTreeMap<String, Figures>,
}

impl Sums {
    /// A channel that said nothing of a query adds nothing: its mean is still over all queries.
    fn add(&mut self, one: &BTreeMap<&str, Figures>) {
        self.queries += 1;
        for (name, figures) in one {
            let sum = self.sums.entry((*name).to_owned()).or_default();
            *sum = sum.plus(*figures);
        }
    }

    fn means(&self, cutoff: usize) -> BTreeMap<String, Named> {
        let named = |sum: &Figures| {
            let mean = sum.over(self.queries);
            keys(cutoff).into_iter().zip([mean.ndcg, mean.recall, mean.recall_deep, mean.mrr]).collect()
        };
        self.sums.iter().map(|(name, sum)| (name.clone(), named(sum))).collect()
    }
}

fn keys(cutoff: usize) -> [String; 4] {
    [
        format!("ndcg@{cutoff}"),
        format!("recall@{cutoff}"),
        format!("recall@{}", metrics::DEEP),
        format!("mrr@{cutoff}"),
    ]
}

fn fused_first<T>(figures: &BTreeMap<String, T>) -> impl Iterator<Item = (&str, &T)> {
    let fused = figures.get_key_value(FUSED).into_iter();
    fused
        .chain(figures.iter().filter(|(name, _)| *name != FUSED))
        .map(|(name, figures)| (name.as_str(), figures))
}

/// Each document once, at its best chunk, without the excluded ones.
fn ranking<'a>(
    query: &Query,
    ids: &'a [String],
    groups: &BTreeMap<&str, Option<&str>>,
) -> Result<Vec<&'a str>> {
    let mut seen = BTreeSet::new();
    let mut ranking = Vec::new();
    for id in ids {
        let Some(group) = groups.get(id.as_str()) else {
            return Err(Error::NotFound { what: "document of the set with the id", id: id.clone() });
        };
        if query.group.is_some() && *group != query.group.as_deref() {
            // The engine's filter let it through: figures over it would be worth nothing.
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

#[cfg(test)]
mod tests {
    use super::metrics::Grades;
    use super::set::Document;
    use super::*;

    const TASK: Task<'_> = Task { profile: "bower", cutoff: 10 };

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

    /// Documents a, b, c (group g) and z (group h); the judgements are `query document grade`.
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
        let report = evaluate(&set, &TASK, |query| {
            asked.push(query.id.clone());
            Ok(RunLists {
                // Document a has two chunks: the second one moves nothing.
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
        let report = evaluate(&set, &TASK, |query| {
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
        let report = evaluate(&set(vec![blank], &[("q", "a", 1)]), &TASK, |_| unreachable!()).unwrap();
        assert_eq!(report.queries, 1);
        close(report.figures["fused"]["recall@100"], 0.0);
    }

    #[test]
    fn what_the_engine_may_not_answer_ends_the_evaluation() {
        let set = set(vec![query("q", Some("g"), None, &[])], &[("q", "a", 1)]);
        let run = |answer: &str| {
            let fused = ids(answer);
            evaluate(&set, &TASK, |_| Ok(RunLists { fused: fused.clone(), ..RunLists::default() }))
                .unwrap_err()
                .to_string()
        };
        assert_eq!(run("a z"), "answer to q: document z is not of group g");
        assert_eq!(run("a stranger"), "no document of the set with the id stranger");
        let failed = evaluate(&set, &TASK, |_| Err(Error::invalid("query", "fails"))).unwrap_err();
        assert_eq!(failed.to_string(), "query: fails");
        for cutoff in [0, 101] {
            assert!(evaluate(&set, &Task { cutoff, ..TASK }, |_| unreachable!()).is_err());
        }
    }

    #[test]
    fn the_report_has_the_promised_shape() {
        let set = set(vec![query("q", None, Some("kind"), &[])], &[("q", "a", 1)]);
        let report = evaluate(&set, &TASK, |_| {
            let channels = ["text", "vector"].map(|name| (name.to_owned(), ids("b a")));
            Ok(RunLists { fused: ids("a b"), channels: channels.into(), took_ms: 2.0 })
        })
        .unwrap();
        let one = serde_json::json!({"ndcg@10": 1.0, "recall@10": 1.0, "recall@100": 1.0, "mrr@10": 1.0});
        let half = serde_json::json!(
            {"ndcg@10": 1.0 / 3.0_f64.log2(), "recall@10": 1.0, "recall@100": 1.0, "mrr@10": 0.5});
        let figures = serde_json::json!({"fused": one, "text": half, "vector": half});
        assert_eq!(
            serde_json::to_value(&report).unwrap(),
            serde_json::json!({
                "profile": "bower", "documents": 4, "queries": 1, "figures": figures,
                "by_category": {"kind": figures}, "latency_ms": {"p50": 2.0, "p95": 2.0},
            })
        );
        assert_eq!(
            render(&report),
            "profile bower · 4 documents · 1 judged queries · p50 2.0 ms · p95 2.0 ms\n\n\
             \x20            nDCG@10   Recall@10  Recall@100      MRR@10\n\
             fused          1.000       1.000       1.000       1.000\n\
             text           0.631       1.000       1.000       0.500\n\
             vector         0.631       1.000       1.000       0.500\n\
             \n\
             kind (1)\n\
             \x20 fused        1.000       1.000       1.000       1.000\n\
             \x20 text         0.631       1.000       1.000       0.500\n\
             \x20 vector       0.631       1.000       1.000       0.500\n"
        );
    }
}
