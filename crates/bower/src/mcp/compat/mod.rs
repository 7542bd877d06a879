//! Offers the tools of other memory systems under their own names, so that what was written for them works unchanged.
//! Each answers in the shape of its own system, out of the same store.

pub mod ade;
pub mod athena;
mod brv;
mod system;

use super::tool::Tool;

pub use system::System;

impl System {
    /// Its tools.
    pub fn tools(self) -> &'static [Tool] {
        match self {
            Self::Athena => athena::TOOLS,
            Self::Ade => ade::TOOLS,
            Self::Brv => brv::TOOLS,
        }
    }
}
