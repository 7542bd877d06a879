//! A model as it is asked for vectors: its names, prompts and limits.

use crate::prices::{ModelTable, Prompts};
use crate::provider::Provider;

/// What a text is embedded for. Many models treat the two differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// A question that is compared with documents.
    Question,
    /// A text that is stored.
    Document,
}

/// The most that one request, and one text of it, may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Texts a request.
    pub texts: usize,
    /// Estimated tokens a request.
    pub tokens: usize,
    /// Bytes of text a request.
    pub bytes: usize,
    /// Estimated tokens a text. A longer one is embedded in windows, and its vector is their mean.
    pub text_tokens: usize,
}

/// A model as it is asked for vectors.
#[derive(Clone, Debug)]
pub(crate) struct EmbedSpec {
    pub provider: Provider,
    pub model: String,
    /// The model for questions, if it is another one with the same vector space.
    pub question_model: Option<String>,
    /// The dimension that the server is asked for; `None` if it is the model's own.
    pub asked: Option<usize>,
    pub prompts: Prompts,
    pub matryoshka: bool,
}

/// Bytes of an answer for a number, at most: a sign, 17 digits, an exponent and white space of pretty printers.
const NUMBER_BYTES: u64 = 40;
/// Numbers of a vector, at most: the longest known one has 4,096.
const MOST_DIMENSION: usize = 8_192;

impl EmbedSpec {
    /// Returns the model for texts of a role.
    pub fn model_for(&self, role: Role) -> &str {
        match (role, &self.question_model) {
            (Role::Question, Some(model)) => model,
            (Role::Question | Role::Document, _) => &self.model,
        }
    }

    /// Returns the prompt for texts of a role.
    pub fn prompt(&self, role: Role) -> &str {
        match role {
            Role::Question => &self.prompts.question,
            Role::Document => &self.prompts.document,
        }
    }

    /// Returns the most bytes of an answer with vectors of some texts.
    pub(super) fn most_bytes(&self, count: usize) -> u64 {
        let known = ModelTable::get().embedding(self.provider, &self.model).and_then(|known| known.dimension);
        let dimension = known.max(self.asked).unwrap_or(MOST_DIMENSION).min(MOST_DIMENSION);
        // Beside the numbers: names of fields, usage, and a whole page of an error.
        (count * (dimension + 64)) as u64 * NUMBER_BYTES + (1 << 20)
    }
}
