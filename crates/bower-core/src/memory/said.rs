//! Reads a text in the three ways that texts are compared: its claims, its fact key and its frame.
//! All three come from the same tokens.

use super::claims::Claims;
use super::claims::tokens::tokens;
use super::frame::Frame;
use super::slot::{self, Slot};

/// What a text says, in the three ways that texts are compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Said {
    /// What it claims beside its words.
    pub claims: Claims,
    /// The one thing that it says, where it says one.
    pub slot: Option<Slot>,
    /// Its first sentence, taken apart.
    pub frame: Frame,
}

impl Said {
    /// Reads a text.
    pub fn of(text: &str) -> Self {
        let tokens = tokens(text);
        Self {
            claims: Claims::read(text, &tokens),
            slot: slot::read(text, &tokens),
            frame: Frame::read(text, &tokens),
        }
    }
}
