//! The vector and the token codes of a text, as they are stored.

/// A vector to keep: unit length, little-endian IEEE half floats (an error of at most 2^-11 a component).
#[derive(Clone, Debug, PartialEq)]
pub struct NewVector {
    /// The model's identity, scheme included.
    pub model: String,
    /// Two bytes a dimension.
    pub half: Vec<u8>,
    /// Tokens for late interaction, computed in the same pass; `None` if the model returns no token states.
    pub tokens: Option<NewTokens>,
}

/// Tokens to keep: an item's codes, or a question's tokens.
#[derive(Clone, Debug, PartialEq)]
pub struct NewTokens {
    /// The scheme's identity, its model included.
    pub model: String,
    /// For an item, eight bytes a token. For a question, the bytes of `tokens::to_bytes`.
    pub bytes: Vec<u8>,
}
