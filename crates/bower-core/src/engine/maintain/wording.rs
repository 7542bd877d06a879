//! Lets a language model write the text of a pattern, if the user requested that.
//! Its text is used only if its numbers and names are those of the memories.

use jiff::Timestamp;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::engine::Engine;
use crate::engine::llm::{AskError, LlmReply};
use crate::engine::maintain::bounded_llm::BoundedLlm;
use crate::error::{Error, Result};
use crate::item::LlmOperation;
use crate::llm::{field, pattern_prompt};
use crate::memory::analysis::Analysis;
use crate::memory::consolidate::{Pattern, worded};
use crate::request::{Refused, Wording};

/// The model that writes, and its results so far.
pub(crate) struct Writer<'a> {
    llm: BoundedLlm<'a>,
    done: Mutex<Done>,
}

#[derive(Default)]
struct Done {
    written: usize,
    refused: BTreeMap<String, usize>,
}

impl<'a> Writer<'a> {
    pub(crate) fn of(engine: &'a Engine, now: Timestamp) -> Result<Self> {
        let Some(llm) = BoundedLlm::of(engine, LlmOperation::Pattern, now) else {
            let hint = "no language model is chosen: set llm and llm_model, or leave out --llm";
            return Err(Error::invalid("consolidate with a language model", hint));
        };
        Ok(Self { llm, done: Mutex::default() })
    }

    fn done(&self) -> MutexGuard<'_, Done> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the model's text for a pattern and the model's name, within the time `left`; `None` if the pattern keeps its
    /// own text. `told` are the texts from which the pattern was made.
    pub(crate) fn write(
        &self,
        pattern: &Pattern,
        told: &[&Analysis],
        left: Duration,
    ) -> Option<(String, String)> {
        if pattern.said.len() < 2 {
            return None;
        }
        let written = self.ask(pattern, told, left);
        let mut done = self.done();
        match written {
            Ok(told) => {
                done.written += 1;
                Some((told.value, told.model))
            }
            Err(why) => {
                *done.refused.entry(why).or_default() += 1;
                None
            }
        }
    }

    fn ask(&self, pattern: &Pattern, told: &[&Analysis], left: Duration) -> Result<LlmReply<String>, String> {
        let texts: Vec<&str> = pattern.said.iter().map(|&at| told[at].text()).collect();
        let members: Vec<&Analysis> = pattern.members.iter().map(|&at| told[at]).collect();
        let read =
            |answer: &str| worded(&field(answer, "note")?, &members).map_err(|unfit| unfit.why().to_owned());
        self.llm.complete(&pattern_prompt(&texts), left, &read).map_err(AskError::reason)
    }

    /// Returns its results, the most frequent refusal first.
    pub(crate) fn report(self) -> Wording {
        let uses = self.llm.uses();
        let done = self.done.into_inner().unwrap_or_else(PoisonError::into_inner);
        let refused = done.refused.into_iter().map(|(why, patterns)| Refused { why, patterns });
        let mut refused: Vec<Refused> = refused.collect();
        refused.sort_by_key(|refused| std::cmp::Reverse(refused.patterns));
        Wording { model: self.llm.model().to_owned(), written: done.written, refused, uses }
    }
}
