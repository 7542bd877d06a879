//! Acts as callers whose items the tested caller may not see, differently in each of the two runs.

use bower_core::engine::DocumentInput;
use bower_core::item::{Gate, Ruling, Scope, Statistics, Verdict};
use jiff::Timestamp;

use super::random::Random;
use super::requests::{no_fields, sentence, shuffled};
use crate::service::{
    Bounds, BriefBody, CurateBody, FeedbackBody, ForgetBody, PairBody, PinBody, QueryBody, Service,
    SettleBody, TurnBody, TurnsBody,
};

/// Callers whose items the tested caller does not see.
#[derive(Debug)]
pub struct Others {
    bounds: Bounds,
    /// Source of their actions and texts; with `statistics = own` it differs in the second run.
    random: Random,
    /// Source of the order of words; it differs in the second run where the words must be the same.
    order: Random,
    statistics: Statistics,
    is_away: bool,
    documents: usize,
    /// Ids of the memories that they kept.
    pub ids: Vec<String>,
}

impl Others {
    /// Creates the others of a seed. With shared statistics they write the same words in both runs.
    pub fn new(seed: u64, bounds: &Bounds, second: bool, statistics: Statistics) -> Self {
        let another = if second { 0x5EED } else { 0xF1E1D };
        let own = Random::new(seed.wrapping_add(another));
        let (random, is_away) = match statistics {
            Statistics::Own => (own.clone(), second && seed.is_multiple_of(5)),
            Statistics::Shared => (Random::new(seed), false),
        };
        Self {
            bounds: bounds.clone(),
            random,
            order: own,
            statistics,
            is_away,
            documents: 0,
            ids: Vec::new(),
        }
    }

    /// Performs a few actions.
    pub fn act(&mut self, service: &Service, now: Timestamp) {
        if self.is_away {
            return;
        }
        match self.statistics {
            Statistics::Own => (0..self.random.below(4)).for_each(|_| self.anything(service, now)),
            Statistics::Shared => {
                if self.documents < 12 {
                    self.document(service, now);
                }
                self.ask(service, now);
            }
        }
    }

    fn ask(&mut self, service: &Service, now: Timestamp) {
        let body = QueryBody {
            query: sentence(&mut self.order),
            session: Some(self.order.of(&["monday", "tuesday"]).to_owned()),
            budget_tokens: self.order.one_in(2).then_some(300),
            ..QueryBody::default()
        };
        service.query(&body, &self.bounds, now).unwrap();
    }

    fn document(&mut self, service: &Service, now: Timestamp) {
        self.documents += 1;
        let mut text = format!("{} {}", sentence(&mut self.random), sentence(&mut self.random));
        let id = match self.statistics {
            Statistics::Own => self.random.of(&["wiki", "log", "/etc/motd"]).to_owned(),
            Statistics::Shared => {
                text = shuffled(&text, &mut self.order);
                format!("note {}", self.documents)
            }
        };
        let input = DocumentInput {
            file: None,
            id,
            title: None,
            text,
            collection: self.bounds.collections.first().cloned(),
            metadata: no_fields(),
            session: None,
            provenance: None,
            host: None,
        };
        let place = (self.bounds.scope.unwrap_or(Scope::Project), self.bounds.owner.clone());
        service.engine().add_documents(&self.bounds.visibility(), vec![input], place, now).unwrap();
    }

    fn id(&mut self) -> Option<String> {
        let at = self.random.below(self.ids.len());
        self.ids.get(at).cloned()
    }

    /// Returns a word about one of its memories, or none: replaces, confirms or different from.
    fn word(&mut self) -> (Option<String>, Option<String>, Vec<String>) {
        match self.random.below(6) {
            0 => (self.id(), None, Vec::new()),
            1 => (None, self.id(), Vec::new()),
            2 => (None, None, self.id().into_iter().collect()),
            _ => (None, None, Vec::new()),
        }
    }

    fn anything(&mut self, service: &Service, now: Timestamp) {
        let bounds = self.bounds.clone();
        let session = self.random.of(&["monday", "tuesday"]).to_owned();
        match self.random.below(11) {
            0..=3 => {
                let (replaces, confirms, different_from) = self.word();
                let body = CurateBody {
                    replaces,
                    confirms,
                    different_from,
                    content: sentence(&mut self.random),
                    tags: vec![self.random.of(&["ops", "build", "quicksave"]).to_owned()],
                    gate: Some(self.random.of(&[Gate::Off, Gate::Normal])),
                    pinned: self.random.one_in(6),
                    conversation: Some(session),
                    ..CurateBody::default()
                };
                // The named memory may have been forgotten or replaced.
                let told = service.curate(&body, &bounds, now);
                assert!(
                    told.is_ok()
                        || body.replaces.is_some()
                        || body.confirms.is_some()
                        || !body.different_from.is_empty()
                );
                self.ids.extend(told.ok().and_then(|told| told.id));
            }
            10 => {
                let (replaces, confirms, mut different_from) = self.word();
                let body = PairBody { replaces, confirms, different_from: different_from.pop() };
                if let Some(id) = self.id() {
                    drop(service.settle_pair(&id, &body, &bounds, now));
                }
            }
            4 => {
                self.order = self.random.clone();
                self.ask(service, now);
                self.random.below(2);
            }
            5 => self.document(service, now),
            6 => {
                let turn = |speaker: &str, text| TurnBody {
                    speaker: speaker.into(),
                    text,
                    time: None,
                    least_trusted: None,
                };
                let turns = vec![
                    turn("user", format!("{} Remember that.", sentence(&mut self.random))),
                    turn("assistant", sentence(&mut self.random)),
                ];
                let body = TurnsBody { conversation: session, turns, ..TurnsBody::default() };
                service.keep_turns(&body, &bounds, now).unwrap();
            }
            7 => {
                let body = BriefBody { session: Some(session), fast: true, ..BriefBody::default() };
                service.brief(&body, &bounds, now).unwrap();
                let open = service.reviews(false, &bounds).unwrap().reviews;
                if let Some(review) = open.first() {
                    let body =
                        SettleBody { ruling: self.random.of(&[Ruling::Accept, Ruling::Both]), text: None };
                    service.settle(review.review, &body, &bounds, now).unwrap();
                }
            }
            8 => {
                // The memory may have been forgotten or merged, so errors are ignored.
                if let Some(id) = self.id() {
                    let verdict = self.random.of(&[Verdict::Useful, Verdict::Wrong, Verdict::Stale]);
                    drop(service.feedback(&FeedbackBody { id: id.clone(), verdict }, &bounds, now));
                    drop(service.pin(&PinBody { id, pinned: true }, &bounds, now));
                }
            }
            _ => {
                if let Some(id) = self.id() {
                    let body = ForgetBody { ids: vec![id], ..ForgetBody::default() };
                    drop(service.forget(&body, &bounds, now));
                }
            }
        }
    }
}
