//! Reranks the best hits by a cross-encoder or a language model, if one is chosen, before a deadline.
//! A reranker that fails or takes too long leaves the order as it was, and the result names the reason.

use jiff::Timestamp;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::engine::Engine;
use crate::engine::llm::{AskError, AskTime, NO_LLM};
use crate::engine::model::embedder_threads;
use crate::engine::timing::milliseconds;
use crate::item::{LlmOperation, Rerank, RowId, Scored, Step};
use crate::llm::rerank_prompt;
use crate::rank::rerank::{Gate, Reordered, Reranked, is_open, parse_scores, reorder};
use crate::request::{Degraded, LlmUses, RerankEffort};
use crate::vector::in_order;

/// Default numbers of hits that are reranked: 50 by a cross-encoder or a service, as in Athena, and 20 by a language model.
const CROSS_TOP: usize = 50;
const LLM_TOP: usize = 20;

/// Result of reranking.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reranking {
    /// For each new position, the old one, both from 0: a permutation of the whole list.
    pub order: Vec<usize>,
    /// Rows that were scored, in their new order; empty if the order did not change.
    pub changes: Vec<Reranked>,
    /// Reason why the order did not change, though reranking was wanted and worth it.
    pub degraded: Option<Degraded>,
    /// Time and work; `None` if nothing was tried.
    pub effort: Option<RerankEffort>,
    /// Requests to language models or to a reranker at a service.
    pub uses: LlmUses,
}

/// Reranks the best of a list.
///
/// `ranked` is best first, its scores calibrated (0..1); `limit` is the number of them that will be shown. Nothing is done or
/// reported if `how` is `Rerank::None`, or if the order is settled already ([`is_open`]). The scores stay at their positions:
/// a reranker decides the order, not how likely a hit is to answer.
pub(crate) fn rerank(
    engine: &Engine,
    question: &str,
    ranked: &[Scored],
    limit: usize,
    how: Rerank,
    now: Timestamp,
) -> Reranking {
    let start = Instant::now();
    let settings = &engine.settings;
    let top = match (how, settings.rerank_top) {
        (Rerank::None, _) => return standing(ranked),
        (Rerank::CrossEncoder | Rerank::Service, 0) => CROSS_TOP,
        (Rerank::Llm, 0) => LLM_TOP,
        (Rerank::CrossEncoder | Rerank::Service | Rerank::Llm, top) => top,
    };
    let best = &ranked[..ranked.len().min(top)];
    let scores: Vec<f32> = best.iter().map(|hit| hit.score).collect();
    let gate = Gate { sure: settings.rerank_sure as f32, gap: settings.rerank_gap as f32 };
    if !is_open(&scores, limit, gate) {
        return standing(ranked);
    }
    let rows: Vec<RowId> = best.iter().map(|hit| hit.row).collect();
    let (mut effort, mut uses) = (None, LlmUses::default());
    let scored = texts(engine, &rows).and_then(|texts| match how {
        Rerank::None => Ok(Vec::new()),
        Rerank::CrossEncoder => by_cross_encoder(engine, question, &texts, start, &mut effort),
        Rerank::Service => by_service(engine, question, &texts, now, (&mut effort, &mut uses)),
        Rerank::Llm => by_language_model(engine, question, &texts, now, (&mut effort, &mut uses)),
    });
    if let Some(effort) = &mut effort {
        effort.took_ms = milliseconds(start);
    }
    match scored {
        Ok(scores) => {
            let rows: Vec<RowId> = ranked.iter().map(|hit| hit.row).collect();
            let Reordered { order, changes } = reorder(&rows, &scores);
            Reranking { order, changes, degraded: None, effort, uses }
        }
        Err(reason) => {
            let degraded = Some(Degraded { channel: Step::Rerank.into(), reason });
            Reranking { degraded, effort, uses, ..standing(ranked) }
        }
    }
}

/// Returns the unchanged order.
fn standing(ranked: &[Scored]) -> Reranking {
    Reranking { order: (0..ranked.len()).collect(), ..Reranking::default() }
}

/// Returns the rows' texts as the text channel indexes them, in the order of `rows`; a row that is gone has none.
fn texts(engine: &Engine, rows: &[RowId]) -> Result<Vec<Option<String>>, String> {
    let mut found = engine.store.texts(rows).map_err(|error| error.to_string())?;
    Ok(rows
        .iter()
        .map(|row| {
            let at = found.iter().position(|text| text.row == *row)?;
            Some(found.swap_remove(at).text)
        })
        .collect())
}

/// Compares every text with the question, on as many threads as embed, until all are scored, one fails, or time is up.
fn by_cross_encoder(
    engine: &Engine,
    question: &str,
    texts: &[Option<String>],
    start: Instant,
    effort: &mut Option<RerankEffort>,
) -> Result<Vec<Option<f32>>, String> {
    if engine.reranker.is_some() {
        let why = "rerank_model names a service, not a cross-encoder: set rerank to service, or rerank_model to another model";
        return Err(why.into());
    }
    let model = engine.cross.get()?;
    let deadline = Duration::from_millis(engine.settings.rerank_deadline_ms);
    let stop = AtomicBool::new(false);
    // No text is begun after the deadline.
    let read = in_order(embedder_threads(&engine.settings), texts.len(), |at| {
        let text = texts[at].as_ref()?;
        if stop.load(Ordering::Relaxed) || start.elapsed() >= deadline {
            return None;
        }
        let relevance = model.relevance(question, text);
        stop.fetch_or(relevance.is_err(), Ordering::Relaxed);
        Some(relevance)
    });
    let scored = read.iter().flatten().filter(|relevance| relevance.is_ok()).count();
    let reranker = Rerank::CrossEncoder;
    *effort = Some(RerankEffort { reranker, model: model.name().to_owned(), scored, took_ms: 0.0 });
    let scores = read
        .into_iter()
        .map(|one| Ok(one.transpose()?.map(|relevance| relevance.logit)))
        .collect::<crate::Result<Vec<_>>>()
        .map_err(|error| error.to_string())?;
    let wanted = texts.iter().flatten().count();
    if scored < wanted {
        return Err(format!(
            "{} read {scored} of {wanted} texts in {} ms, so the order is kept: raise rerank_deadline_ms, or lower rerank_top or \
             rerank_tokens",
            model.name(),
            deadline.as_millis()
        ));
    }
    Ok(scores)
}

/// Scores all texts with one request to the reranker at a service.
fn by_service(
    engine: &Engine,
    question: &str,
    texts: &[Option<String>],
    now: Timestamp,
    (effort, uses): (&mut Option<RerankEffort>, &mut LlmUses),
) -> Result<Vec<Option<f32>>, String> {
    let Some(service) = &engine.reranker else {
        return Err(
            "no service is chosen: set rerank_model to PROVIDER/MODEL, such as cohere/rerank-v5.0-fast"
                .into(),
        );
    };
    let shown: Vec<&str> = texts.iter().flatten().map(String::as_str).collect();
    let reranker = Rerank::Service;
    *effort = Some(RerankEffort { reranker, model: service.model().to_owned(), scored: 0, took_ms: 0.0 });
    let timeout = Duration::from_millis(engine.settings.llm_timeout_ms);
    let given = engine.score_by_service(&**service, question, &shown, AskTime { timeout, now }, uses)?;
    if let Some(effort) = effort {
        effort.scored = given.len();
    }
    Ok(of_texts(texts, given.into_iter().map(Some)))
}

/// Scores all texts with one request to a language model.
fn by_language_model(
    engine: &Engine,
    question: &str,
    texts: &[Option<String>],
    now: Timestamp,
    (effort, uses): (&mut Option<RerankEffort>, &mut LlmUses),
) -> Result<Vec<Option<f32>>, String> {
    let Some(tiers) = &engine.llm else { return Err(NO_LLM.into()) };
    let shown: Vec<&str> = texts.iter().flatten().map(String::as_str).collect();
    let within = AskTime { timeout: Duration::from_millis(engine.settings.llm_timeout_ms), now };
    let (reranker, operation) = (Rerank::Llm, LlmOperation::Rerank);
    let mut asked =
        RerankEffort { reranker, model: tiers.first(operation).model().to_owned(), scored: 0, took_ms: 0.0 };
    let read = |answer: &str| {
        let given = parse_scores(answer, shown.len());
        if given.iter().flatten().next().is_none() {
            Err("it has no score of a text".to_owned())
        } else {
            Ok(given)
        }
    };
    let ask = rerank_prompt(question, &shown);
    let told = engine.ask_llm(tiers, operation, &ask, within, uses, &read);
    let told = told.map(|told| {
        asked.model = told.model;
        asked.scored = told.value.iter().flatten().count();
        of_texts(texts, told.value.into_iter())
    });
    *effort = Some(asked);
    told.map_err(|error| match error {
        AskError::NoAnswer(reason) => reason,
        AskError::Unusable(reason) => format!("{reason}, so the order is kept"),
    })
}

/// Gives the texts that are there their scores, in order.
fn of_texts(texts: &[Option<String>], given: impl Iterator<Item = Option<f32>>) -> Vec<Option<f32>> {
    let mut given = given;
    texts.iter().map(|text| text.as_ref().and_then(|_| given.next().flatten())).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::config::Settings;
    use crate::embed::pack_cross;
    use crate::embed::testing::{Published, SMALL};
    use crate::embed::{CROSS_PACKED, CrossEncoder};
    use crate::item::Visibility;
    use crate::llm::{Ask, Completion, Llm, NoAnswer};
    use crate::request::{CurateRequest, ForgetRequest, Forgetting};

    const TEXTS: [&str; 5] = [
        "the old bridge is under the river",
        "a cold winter market",
        "who built the stone engine",
        "paper letter in the window",
        "the garden",
    ];
    const QUESTION: &str = "where is the bridge ?";

    /// A language model that always gives the same answer.
    struct Says(&'static str);

    impl Llm for Says {
        fn model(&self) -> &'static str {
            "says"
        }

        fn complete(&self, ask: &Ask, timeout: Duration) -> Result<Completion, NoAnswer> {
            assert!(ask.user.contains(QUESTION) && ask.user.contains("[5] the garden"), "{}", ask.user);
            assert!(timeout <= Duration::from_secs(5), "{timeout:?}");
            match self.0 {
                "" => {
                    Err(NoAnswer { reason: "model says: no answer in 5000 ms".into(), may_be_billed: false })
                }
                text => Ok(Completion { text: text.into(), ..Completion::default() }),
            }
        }
    }

    /// An engine with the texts as memories, and their rows in order with open scores.
    struct Home {
        folder: tempfile::TempDir,
        engine: Engine,
        ranked: Vec<Scored>,
    }

    impl Home {
        fn new(change: impl FnOnce(&mut Settings)) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let mut settings =
                Settings { model: "none".into(), rerank_model: "small".into(), ..Settings::default() };
            settings.rerank_deadline_ms = 60_000;
            change(&mut settings);
            let engine = Engine::open(folder.path(), settings, now()).unwrap();
            let mut ranked = Vec::new();
            for (place, text) in TEXTS.iter().enumerate() {
                let id =
                    engine.curate(&Visibility::everything(), &CurateRequest::new(*text), now()).unwrap().id;
                let row = engine.get(&Visibility::everything(), &id.unwrap()).unwrap().row;
                ranked.push(Scored { row, score: 0.5 - place as f32 / 100.0 });
            }
            Self { folder, engine, ranked }
        }

        fn with_cross(self) -> Self {
            let models = self.folder.path().join("models/small");
            Published::new(3, SMALL).write(&models, &Value::Null);
            pack_cross("small", &models, &models.join(CROSS_PACKED)).unwrap();
            self
        }

        fn rerank(&self, how: Rerank) -> Reranking {
            self.engine.rerank(&Visibility::everything(), QUESTION, &self.ranked, 10, how, now()).unwrap()
        }

        /// Asserts that the order does not change and that the result contains the reason.
        fn stands(&self, how: Rerank, expected: &str) {
            let got = self.rerank(how);
            assert_eq!((got.order, got.changes.len()), (vec![0, 1, 2, 3, 4], 0));
            let degraded = got.degraded.unwrap();
            assert_eq!(degraded.channel.to_string(), "rerank");
            assert!(degraded.reason.contains(expected), "{}", degraded.reason);
        }
    }

    fn now() -> jiff::Timestamp {
        jiff::Timestamp::UNIX_EPOCH
    }

    #[test]
    fn a_cross_encoder_orders_the_best_and_says_how_they_moved() {
        let home = Home::new(|settings| settings.rerank_top = 4).with_cross();
        let packed = home.folder.path().join("models/small").join(CROSS_PACKED);
        let model = CrossEncoder::open("small", &packed).unwrap();
        let logit = |place: usize| model.relevance(QUESTION, TEXTS[place]).unwrap().logit;
        let mut expected = vec![0, 1, 2, 3];
        expected.sort_by(|a, b| logit(*b).total_cmp(&logit(*a)));
        assert_ne!(expected, [0, 1, 2, 3], "the model has another opinion");
        expected.push(4);
        let got = home.rerank(Rerank::CrossEncoder);
        assert_eq!((&got.order, &got.degraded), (&expected, &None));
        for change in &got.changes {
            assert_eq!(change.row, home.ranked[expected[change.to - 1]].row);
            assert_eq!(change.from - 1, expected[change.to - 1]);
            assert_eq!(change.score.to_bits(), logit(change.from - 1).to_bits());
        }
        let effort = got.effort.unwrap();
        assert_eq!(
            (effort.reranker, effort.model.as_str(), effort.scored),
            (Rerank::CrossEncoder, "small", 4)
        );
    }

    #[test]
    fn what_is_settled_or_not_wanted_is_left_alone() {
        let mut home = Home::new(|_| ());
        let untouched = Reranking { order: vec![0, 1, 2, 3, 4], ..Reranking::default() };
        assert_eq!(home.rerank(Rerank::None), untouched);
        home.ranked[0].score = 0.95;
        // Neither reranker is installed, and neither is needed.
        assert_eq!(home.rerank(Rerank::CrossEncoder), untouched);
        assert_eq!(home.rerank(Rerank::Llm), untouched);
        assert_eq!(
            home.engine.rerank(&Visibility::everything(), QUESTION, &[], 10, Rerank::Llm, now()).unwrap(),
            Reranking::default()
        );
    }

    #[test]
    fn a_reranker_that_is_missing_damaged_or_late_changes_nothing() {
        let home = Home::new(|_| ());
        home.stands(Rerank::CrossEncoder, "small is not installed: run bower model pull cross-encoder/small");
        home.stands(Rerank::Llm, "no language model is chosen: set llm");
        let late = Home::new(|settings| settings.rerank_deadline_ms = 0).with_cross();
        late.stands(Rerank::CrossEncoder, "small read 0 of 5 texts in 0 ms, so the order is kept");
        let damaged = Home::new(|_| ()).with_cross();
        std::fs::write(damaged.folder.path().join("models/small").join(CROSS_PACKED), b"x").unwrap();
        damaged.stands(Rerank::CrossEncoder, "no header: run bower model pull");
    }

    #[test]
    fn a_row_that_is_gone_keeps_its_place() {
        let home = Home::new(|_| ()).with_cross();
        let id = home.engine.store.items(&[home.ranked[2].row]).unwrap()[0].as_ref().unwrap().id.clone();
        home.engine
            .forget(&Visibility::everything(), &Forgetting::of(ForgetRequest::Ids(vec![id])), now())
            .unwrap();
        let got = home.rerank(Rerank::CrossEncoder);
        assert_eq!((got.order[2], got.changes.len(), got.degraded), (2, 4, None));
    }

    #[test]
    fn a_language_model_orders_by_its_answer_or_not_at_all() {
        let with = |says| {
            let mut home = Home::new(|_| ());
            home.engine = home.engine.with_llm(Box::new(Says(says)));
            home
        };
        let got = with("Here: [5]:5, [3]: 4.5\n[1]:1").rerank(Rerank::Llm);
        assert_eq!((got.order, got.degraded), (vec![4, 1, 2, 3, 0], None));
        assert_eq!(got.effort.unwrap().scored, 3);
        with("I would rather not.").stands(
            Rerank::Llm,
            "model says: it has no score of a text, also when asked again, so the order",
        );
        with("").stands(Rerank::Llm, "model says: no answer in 5000 ms");
    }
}
