//! Scores any row for one question: by words, by vectors and by token codes.

use std::sync::OnceLock;

use crate::engine::indexes::IndexState;
use crate::engine::query::plan::Words;
use crate::engine::{Engine, late};
use crate::error::Result;
use crate::item::{Allowed, RowId, RowSet};
use crate::text::{self, Delta, Examined, Prepared, TextIndex};
use crate::tokens::TokenQuery;
use crate::vector::{self, Background, DeltaScores, Quantised, VectorIndex};

/// Compares the words of a question with the words of rows.
pub(crate) struct TextScorer {
    pub(crate) index: IndexState<TextIndex>,
    /// The question, prepared for that index.
    pub(crate) prepared: Option<Prepared>,
    pub(crate) delta: Delta,
}

impl TextScorer {
    /// Returns how the question's words match some rows.
    pub(crate) fn examine(&self, words: &Words, rows: &[RowId]) -> Result<Examined> {
        match (self.index.good(), &self.prepared) {
            (Some(index), Some(question)) => index.ask(|index| index.examine(question, rows, &self.delta)),
            _ => Ok(text::examine_delta(&words.terms, rows, &self.delta)),
        }
    }
}

/// Compares the meaning of a question with that of rows.
pub(crate) struct VectorScorer<'a> {
    pub(crate) model: String,
    pub(crate) vector: Vec<f32>,
    pub(crate) tokens: Option<TokenQuery>,
    pub(crate) index: IndexState<VectorIndex>,
    /// Rows of the delta that may be found, with their cosines by int8.
    pub(crate) delta: DeltaScores,
    pub(crate) keep: Option<&'a RowSet>,
    /// Rows that the index must leave out.
    pub(crate) drop: RowSet,
    pub(crate) background: OnceLock<Background>,
}

impl VectorScorer<'_> {
    pub(crate) fn allowed(&self) -> Allowed<'_> {
        Allowed { keep: self.keep, drop: &self.drop }
    }

    /// Returns the cosine of each row to the question, by int8; `None` where a row has no vector.
    pub(crate) fn cosines(&self, rows: &[RowId]) -> Result<Vec<Option<f32>>> {
        let indexed = self.index.ask(|index| Ok(index.cosines(&self.vector, rows)))?;
        let mut cosines = indexed.unwrap_or_else(|| vec![None; rows.len()]);
        if !self.delta.is_empty() {
            for (row, cosine) in rows.iter().zip(&mut cosines) {
                *cosine = self.delta.get(row).map(|score| score.clamp(-1.0, 1.0)).or(*cosine);
            }
        }
        Ok(cosines)
    }

    /// Returns how close each row's tokens are to the question's; `None` where a row has no codes.
    pub(crate) fn tokens(&self, engine: &Engine, rows: &[RowId]) -> Result<Vec<Option<f32>>> {
        match &self.tokens {
            Some(tokens) => late::late_interaction(engine, tokens, rows),
            None => Ok(vec![None; rows.len()]),
        }
    }

    /// Returns how similar the question is to the rows at large. The first caller computes it.
    pub(crate) fn background(&self) -> Result<Background> {
        if let Some(background) = self.background.get() {
            return Ok(*background);
        }
        let indexed = self.index.ask(|index| Ok(index.background(&self.vector, self.allowed())))?;
        Ok(*self.background.get_or_init(|| self.with_delta(indexed.unwrap_or_default())))
    }

    /// Stores the index's part of the background, if a search computed it.
    pub(crate) fn know(&self, indexed: Option<Background>) {
        if let Some(indexed) = indexed {
            // An earlier caller computed the same value.
            self.background.get_or_init(|| self.with_delta(indexed));
        }
    }

    fn with_delta(&self, indexed: Background) -> Background {
        indexed.with(Background::of(self.delta.values().copied()))
    }

    /// Returns the cosine of each pair of rows, row by row; 0 where one has no vector.
    pub(crate) fn likenesses(&self, engine: &Engine, rows: &[RowId]) -> Result<Vec<f32>> {
        let indexed = self.index.ask(|index| Ok(index.quantised(rows)))?;
        let mut vectors = indexed.unwrap_or_else(|| vec![None; rows.len()]);
        let newer: Vec<RowId> = rows
            .iter()
            .zip(&vectors)
            .filter(|(row, vector)| vector.is_none() || self.delta.contains_key(row))
            .map(|(row, _)| *row)
            .collect();
        if !newer.is_empty() {
            let mut stored = newer.iter().zip(engine.store.vectors(&self.model, &newer)?);
            let mut next = stored.next();
            for (row, vector) in rows.iter().zip(&mut vectors) {
                if let Some((_, half)) = next.take_if(|(newer, _)| *newer == row) {
                    *vector = half.map(|half| Quantised::new(&vector::floats(&half)));
                    next = stored.next();
                }
            }
        }
        Ok(vector::likenesses(&vectors))
    }
}
