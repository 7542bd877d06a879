//! Holds the vector and the token codes of a text, as they are kept.

/// A vector to keep: unit length, little-endian IEEE half floats (an error of at most 2^-11 a component).
#[derive(Clone, Debug, PartialEq)]
pub struct NewVector {
    /// The model's identity, scheme included.
    pub model: String,
    /// Two bytes a dimension.
    pub half: Vec<u8>,
    /// What late interaction needs, made in the same pass; `None` where the model gives no token states.
    pub tokens: Option<NewTokens>,
}

/// Tokens to keep: an item's codes, or a question's tokens.
#[derive(Clone, Debug, PartialEq)]
pub struct NewTokens {
    /// The scheme's identity, its model included.
    pub model: String,
    /// An item: eight bytes a token. A question: as `tokens::to_bytes` gives them.
    pub bytes: Vec<u8>,
}
