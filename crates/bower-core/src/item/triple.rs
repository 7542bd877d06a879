//! A relation that a text states between two names, as a language model reads it.

use serde::{Deserialize, Serialize};

/// A subject, a relation and an object. Both names occur in the text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Triple {
    /// The name that has the relation, on one line.
    pub subject: String,
    /// A verb in lower case, such as `works_at`.
    pub relation: String,
    /// The name to which the relation leads, on one line.
    pub object: String,
}

/// A triple with its source, from which it is told apart from what people stated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcedTriple {
    /// Who read it off the text: `llm:` and the model's name.
    pub source: String,
    /// The triple.
    pub triple: Triple,
}
