//! Defines the arguments of `bower llm`.

use bower_core::item::LlmTier;
use clap::{Args, Subcommand};

use super::words;

/// `bower llm`
#[derive(Args, Debug)]
pub struct LlmArgs {
    #[command(subcommand)]
    pub action: LlmAction,
}

/// Actions on language models.
#[derive(Debug, Subcommand)]
pub enum LlmAction {
    /// Show the model of each tier, where its key would come from, what today's requests cost, and the cache of answers
    Status,
    /// Send one tiny request, and print its time, tokens and cost
    Test {
        /// The tier whose model is asked
        #[arg(long, value_name = "TIER", default_value = "lite", value_parser = words::<LlmTier>(LlmTier::ALL.iter().map(|v| v.word())))]
        tier: LlmTier,
    },
}
