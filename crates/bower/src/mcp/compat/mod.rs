//! Offers the tools of other memory systems under their own names, so that their clients work unchanged.
//! Each tool responds in the format of its own system, from the same store.

pub mod ade;
pub mod athena;
mod brv;
mod system;

use super::tool::Tool;

pub use system::System;

impl System {
    /// Returns the system's tools.
    pub fn tools(self) -> &'static [Tool] {
        match self {
            Self::Athena => athena::TOOLS,
            Self::Ade => ade::TOOLS,
            Self::Brv => brv::TOOLS,
        }
    }
}
