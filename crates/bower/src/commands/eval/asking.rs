//! Asks an indexed set for more than its figures: probabilities, evidence, and the reasons for one question's ranking.
//! Each pass asks the engine as a user would, and passes plain values to `crate::eval`.

use std::collections::{BTreeMap, BTreeSet};

use bower_core::engine::MAX_LIMIT;
use bower_core::engine::evaluation::{Depth, Ranked, Ranking, reciprocal_rank};
use bower_core::item::{Channel, Profile, RowId, RowSet, Scored, Visibility};
use bower_core::request::QueryRequest;

use super::bench::{Bench, Put, Rows, selection};
use crate::eval::calibration::{Asked, HITS, Hit, Told};
use crate::eval::evidence::{self, BUDGETS, Budget};
use crate::eval::explain::{self, ABOVE, Above, Explained, Explanation, Fate, Placed, because};
use crate::eval::factors::{self, RankedCandidate, RankedQuestion};
use crate::eval::judged_queries;
use crate::eval::metrics::Grades;
use crate::eval::set::{Document, Query};
use crate::failure::Result;

/// Asks each judged question twice: as it is, and with all its judged documents hidden. Documents that a question excludes are
/// hidden both times. An answer is judged by its best hits, and a note whose links are asked for would be the best hit of its
/// own question. Blank questions are not asked.
pub(super) fn both_ways(bench: &Bench<'_>, profile: Profile) -> Result<Vec<Asked>> {
    let rows = bench.rows()?;
    let highest = bench.set.grades.values().flat_map(Grades::values).copied().max().unwrap_or(1);
    let groups: BTreeMap<&str, &Option<String>> =
        bench.set.documents.iter().map(|document| (document.id.as_str(), &document.group)).collect();
    let mut asked = Vec::new();
    for (at, query) in judged_queries(bench.set) {
        if query.text.trim().is_empty() {
            continue;
        }
        let grades = &bench.set.grades[&query.id];
        let told = |hide: Option<&RowSet>| -> bower_core::Result<Told> {
            let put = Put { profile, depth: Depth::Hits(bench.cutoff), hide, without: None };
            let ranking = bench.rank(&bench.engine, query, &put)?;
            Ok(Told {
                hits: hits(&ranking, query, grades, highest, &rows),
                answerable: ranking.answerable.unwrap_or(0.0),
            })
        };
        let searched = |document: &&String| {
            query.group.is_none() || groups.get(document.as_str()) == Some(&&query.group)
        };
        let judged: RowSet = grades.keys().filter(searched).flat_map(|one| rows.of(one)).copied().collect();
        let dropped = rows.of_all(&query.exclude);
        let removed = if judged.is_empty() {
            None
        } else {
            Some(told(Some(&judged.iter().chain(dropped.iter()).collect()))?)
        };
        asked.push(Asked { query: at, whole: told(Some(&dropped))?, removed });
    }
    Ok(asked)
}

/// Returns the best documents of a ranking with the features of their probabilities.
fn hits(ranking: &Ranking, query: &Query, grades: &Grades, highest: i32, rows: &Rows) -> Vec<Hit> {
    let documents = documents(ranking, query, rows);
    let known = documents.into_iter().take(HITS).zip(1..);
    known
        .filter_map(|((document, at), rank)| {
            let features = ranking.features.get(at)?;
            let grade = grades.get(document).copied().unwrap_or(0);
            Some(Hit {
                document: document.to_owned(),
                rank,
                place: features.rank,
                probability: ranking.probabilities.get(at).copied()?,
                standing: features.standing,
                share: features.share,
                coverage: features.coverage,
                closeness: features.closeness,
                relevant: grade == highest && grade > 0,
                graded: grade > 0,
            })
        })
        .collect()
}

/// Returns the documents of a ranking, each once with the position of its best row.
fn documents<'r>(ranking: &Ranking, query: &Query, rows: &'r Rows) -> Vec<(&'r str, usize)> {
    let mut seen = BTreeSet::new();
    ranking
        .fused
        .iter()
        .enumerate()
        .filter_map(|(at, one)| Some((rows.document(one.row)?, at)))
        .filter(|(document, _)| !query.exclude.contains(*document) && seen.insert(*document))
        .collect()
}

/// Returns a line of JSON for each judged question, with the factors of all candidates in the default profile.
pub(super) fn factors(bench: &Bench<'_>) -> Result<String> {
    let rows = bench.rows()?;
    let mut lines = String::new();
    for (_, query) in judged_queries(bench.set) {
        let dropped = rows.of_all(&query.exclude);
        let hide = Some(&dropped);
        let put = Put { profile: Profile::Bower, depth: Depth::Hits(bench.cutoff), hide, without: None };
        let ranking = bench.rank(&bench.engine, query, &put)?;
        let score = |row: RowId, channel| {
            let at = ranking.places.binary_search_by_key(&row, |(row, _)| *row).ok()?;
            ranking.places[at].1.score(channel)
        };
        let candidate = |one: &Ranked| {
            Some(RankedCandidate {
                document: rows.document(one.row)?.to_owned(),
                text: score(one.row, Channel::Text),
                vector: score(one.row, Channel::Vector),
                factors: one.factors.iter().map(|factor| (factor.name, factor.value)).collect(),
            })
        };
        let both = [Channel::Text, Channel::Vector];
        let lists: Vec<&[Scored]> = ranking
            .channels
            .iter()
            .filter(|(channel, _)| both.contains(channel))
            .map(|(_, list)| list.as_slice())
            .collect();
        let fused = reciprocal_rank(&lists, bench.settings.rrf_k);
        let best = fused.iter().filter_map(|hit| rows.document(hit.row).map(str::to_owned));
        lines.push_str(&factors::line(&RankedQuestion {
            question: &query.id,
            category: query.category.as_deref(),
            grades: &bench.set.grades[&query.id],
            candidates: ranking.fused.iter().filter_map(candidate).collect(),
            fusion: best.take(bench.cutoff).collect(),
        }));
    }
    Ok(lines)
}

/// Measures the evidence that fits each budget, packed as by `bower query --budget`. (Documents that a question excludes take
/// part: packing has no exclusion.)
pub(super) fn budgets(bench: &Bench<'_>, profile: Profile) -> Result<Vec<Budget>> {
    let rows = bench.rows()?;
    let texts: BTreeMap<&str, &str> =
        bench.set.documents.iter().map(|document| (document.id.as_str(), document.text.as_str())).collect();
    let mut budgets = Vec::new();
    for budget_tokens in BUDGETS {
        let mut held = Vec::new();
        for (_, query) in judged_queries(bench.set) {
            let grades = &bench.set.grades[&query.id];
            let evidence = if query.text.trim().is_empty() {
                None
            } else {
                let request = QueryRequest {
                    text: query.text.clone(),
                    limit: MAX_LIMIT,
                    profile: Some(profile),
                    select: selection(query),
                    budget_tokens: Some(budget_tokens),
                    ..QueryRequest::default()
                };
                bench.engine.query(&Visibility::everything(), &request, bench.now)?.evidence
            }
            .unwrap_or_default();
            let pieces: Vec<(String, String)> = evidence
                .pieces
                .into_iter()
                .filter_map(|piece| Some((rows.document(*piece.rows.first()?)?.to_owned(), piece.text)))
                .collect();
            held.push(evidence::held(&pieces, evidence.tokens, grades, &texts));
        }
        budgets.push(evidence::budget(budget_tokens, &held));
    }
    Ok(budgets)
}

/// Explains the ranks of the judged documents of one question.
pub(super) fn explain(bench: &Bench<'_>, profile: Profile, query: &Query) -> Result<Explanation> {
    let grades = &bench.set.grades[&query.id];
    let rows = bench.rows()?;
    let put = Put { profile, depth: Depth::Hits(bench.cutoff), hide: None, without: None };
    let ranking = bench.rank(&bench.engine, query, &put)?;
    let all = Depth::Rows(rows.len().max(1));
    let everything = bench.rank(&bench.engine, query, &Put { depth: all, ..put })?;
    let case = Case { bench, query, grades, rows: &rows, ranking: &ranking, everything: &everything };
    let listed = documents(&ranking, query, &rows);
    let among_all = documents(&everything, query, &rows);
    let mut documents: Vec<Explained> =
        grades.iter().map(|(id, grade)| case.explain(id, *grade, &listed, &among_all)).collect();
    documents.sort_by_key(|one| (-one.grade, one.rank.unwrap_or(usize::MAX)));
    Ok(Explanation {
        query: query.id.clone(),
        text: query.text.clone(),
        group: query.group.clone(),
        category: query.category.clone(),
        profile: profile.word().to_owned(),
        answerable: ranking.answerable,
        depth: bench.settings.candidates,
        candidates: listed.len(),
        documents,
    })
}

/// One question with its rankings.
struct Case<'a> {
    bench: &'a Bench<'a>,
    query: &'a Query,
    grades: &'a Grades,
    rows: &'a Rows,
    /// The ranking that a user gets.
    ranking: &'a Ranking,
    /// The ranking with every row as a candidate.
    everything: &'a Ranking,
}

impl Case<'_> {
    /// Explains one judged document. `listed` and `among_all` are the documents of both rankings, best first, with the
    /// positions of their rows.
    fn explain(
        &self,
        id: &str,
        grade: i32,
        listed: &[(&str, usize)],
        among_all: &[(&str, usize)],
    ) -> Explained {
        let known = self.document(id);
        let place = listed.iter().position(|(document, _)| *document == id);
        let at = place.map(|place| listed[place].1);
        let own = at.map(|at| &self.ranking.fused[at]);
        let fate = match known {
            None => Fate::NotInCorpus,
            Some(_) if self.query.exclude.contains(id) => Fate::Excluded,
            Some(document) if self.query.group.is_some() && document.group != self.query.group => {
                Fate::AnotherGroup
            }
            Some(_) if own.is_some() => Fate::Ranked,
            Some(_) => Fate::NoCandidate,
        };
        let is_searched = matches!(fate, Fate::Ranked | Fate::NoCandidate);
        let text = known.map(|document| format!("{}\n{}", document.title, document.text)).unwrap_or_default();
        Explained {
            document: id.to_owned(),
            grade,
            begins: self.begins(id),
            fate,
            rank: place.map(|place| place + 1),
            rank_among_all: among_all.iter().position(|(document, _)| *document == id).map(|at| at + 1),
            score: own.map(|own| own.score),
            probability: at.and_then(|at| self.ranking.probabilities.get(at)).copied(),
            factors: own.map(|own| own.factors.clone()).unwrap_or_default(),
            channels: if is_searched { self.channels(id) } else { Vec::new() },
            missing_words: if is_searched {
                explain::missing_words(&self.query.text, &text)
            } else {
                Vec::new()
            },
            above: match (place, own) {
                (Some(place), Some(own)) => (0..place.min(ABOVE))
                    .map(|other| {
                        let (document, at) = listed[other];
                        let theirs = &self.ranking.fused[at];
                        Above {
                            document: document.to_owned(),
                            rank: other + 1,
                            score: theirs.score,
                            grade: self.grades.get(document).copied(),
                            begins: self.begins(document),
                            because: because(&theirs.factors, &own.factors),
                            factors: theirs.factors.clone(),
                        }
                    })
                    .collect(),
                (Some(_) | None, _) => Vec::new(),
            },
        }
    }

    /// Returns a document's place in each channel that took part, at its best row there.
    fn channels(&self, id: &str) -> Vec<Placed> {
        let rows: BTreeSet<RowId> = self.rows.of(id).iter().copied().collect();
        let place = |channel: Channel| {
            let asked = self.ranking.of(channel);
            let all = self.everything.of(channel);
            let at = all.iter().position(|hit| rows.contains(&hit.row));
            Placed {
                channel: channel.word().to_owned(),
                rank: at.map(|at| at + 1),
                score: at.map(|at| all[at].score),
                is_candidate: asked.iter().any(|hit| rows.contains(&hit.row)),
                last_score: asked.last().map(|hit| hit.score),
                given: asked.len(),
            }
        };
        self.everything.channels.iter().map(|(channel, _)| place(*channel)).collect()
    }

    fn document(&self, id: &str) -> Option<&Document> {
        self.bench.set.documents.iter().find(|document| document.id == id)
    }

    fn begins(&self, id: &str) -> String {
        self.document(id).map(|document| explain::begins(&document.title, &document.text)).unwrap_or_default()
    }
}
