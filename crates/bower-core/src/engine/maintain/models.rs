//! Reports which models a store has vectors of, estimates what another model's vectors take, and removes vectors.

use jiff::Timestamp;

use crate::embed::Embedder;
use crate::engine::index::compact::remove_folder;
use crate::engine::model::embedder_threads;
use crate::engine::{ACTOR, Engine};
use crate::error::{Error, Result};
use crate::item::RowId;
use crate::request::{EmbeddingCost, ModelVectors};
use crate::store::Stamp;
use crate::vector::{check_dimension, in_order};

/// Texts that are embedded on trial, at most.
const MOST_SAMPLED: usize = 32;
/// Rows of which a sample is drawn, at most.
const MOST_LISTED: usize = 1 << 22;

impl Engine {
    /// Returns the identity of the vectors that this engine compares, such as `all-MiniLM-L6-v2.i8-2`; `None` without a model.
    pub fn vector_identity(&self) -> Option<&str> {
        self.model.get().ok().map(Embedder::model)
    }

    /// Returns the models that the store has vectors of; the one that was written last comes first.
    pub fn vector_models(&self) -> Result<Vec<ModelVectors>> {
        let identity = self.vector_identity();
        let kept = self.store.vector_models()?.into_iter();
        Ok(kept
            .map(|(name, vectors)| ModelVectors {
                answers: identity == Some(name.as_str()),
                identity: name,
                vectors,
            })
            .collect())
    }

    /// Removes the vectors of a model from the store, and their index. Returns the number of vectors.
    ///
    /// Fails with [`Error::Invalid`] for the model that answers questions.
    pub fn drop_vectors(&self, identity: &str, now: Timestamp) -> Result<u64> {
        if self.vector_identity() == Some(identity) {
            let reason = "answers questions here: use another model first";
            return Err(Error::invalid(format!("model {identity}"), reason));
        }
        let known = self.store.vector_models()?;
        if !known.iter().any(|(name, _)| name == identity) {
            return Ok(0);
        }
        let dropped = self.store.drop_vectors(identity, Stamp { now, actor: ACTOR })?;
        remove_folder(&self.indexes.vector_dir(identity))?;
        Ok(dropped)
    }

    /// Embeds a sample of the items that have no vector of this engine's model, to tell what all of them take. Nothing is
    /// written. `None` without a model, and if no item waits.
    ///
    /// Fails with [`Error::Invalid`] if the index cannot hold vectors of the model's dimension.
    pub fn embedding_cost(&self) -> Result<Option<EmbeddingCost>> {
        let Ok(embedder) = self.model.get() else { return Ok(None) };
        // The length of a service's vectors may not be known before it is asked.
        if embedder.dimension() > 0 {
            check_dimension(embedder.dimension())?;
        }
        let waiting = self.store.unembedded(embedder.model(), RowId(0), MOST_LISTED)?;
        if waiting.is_empty() {
            return Ok(None);
        }
        let chosen: Vec<RowId> =
            waiting.iter().copied().step_by(waiting.len().div_ceil(MOST_SAMPLED)).collect();
        let texts = self.store.texts(&chosen)?;
        let start = std::time::Instant::now();
        // A service would charge for a trial, so its texts are only counted.
        let is_service = embedder.batch_texts().is_some();
        let counts = in_order(embedder_threads(&self.settings), texts.len(), |at| {
            if !is_service {
                embedder.embed_text(&texts[at].text)?;
            }
            embedder.count_pieces(&texts[at].text)
        });
        let took_ms = start.elapsed().as_secs_f64() * 1_000.0;
        let pieces = counts.into_iter().sum::<Result<usize>>()?;
        Ok(Some(EmbeddingCost { waiting: waiting.len() as u64, sampled: texts.len(), pieces, took_ms }))
    }
}
