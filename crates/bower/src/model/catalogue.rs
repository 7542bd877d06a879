//! Lists sentence encoders that people use beside the default one, with what their model cards say of them.
//!
//! The figures are the mean nDCG@10 over the 15 public sets of BEIR (Thakur et al., 2021), as the cards publish them.

use bower_core::model::Prompts;

/// A published sentence encoder.
pub(super) struct Offered {
    /// Its name here: the last part of the repository.
    pub name: &'static str,
    /// Owner and name at the hub.
    pub repository: &'static str,
    /// Licence, as an SPDX identifier.
    pub licence: &'static str,
    /// Numbers in a vector.
    pub dimension: usize,
    /// Megabytes of its files, roughly.
    pub megabytes: u64,
    /// Mean nDCG@10 over BEIR in per cent; `None` if the card has none.
    pub beir: Option<f32>,
    /// Languages that it was trained on.
    pub languages: &'static str,
    /// Prompts, if the published files do not name them: before a question and before a text.
    prompts: Option<(&'static str, &'static str)>,
    /// The shorter lengths to which vectors may be cut, as the card says.
    pub cuts: &'static [usize],
}

/// The prompt of several English encoders, before a question.
const PASSAGES: &str = "Represent this sentence for searching relevant passages: ";

/// The encoders, best English figure first, then those of many languages.
pub(super) static OFFERED: [Offered; 8] = [
    Offered {
        name: "mdbr-leaf-ir",
        repository: "MongoDB/mdbr-leaf-ir",
        licence: "Apache-2.0",
        dimension: 768,
        megabytes: 92,
        beir: Some(53.6),
        languages: "English",
        prompts: Some((PASSAGES, "")),
        cuts: &[512, 256, 128],
    },
    Offered {
        name: "bge-base-en-v1.5",
        repository: "BAAI/bge-base-en-v1.5",
        licence: "MIT",
        dimension: 768,
        megabytes: 438,
        beir: Some(53.3),
        languages: "English",
        prompts: Some((PASSAGES, "")),
        cuts: &[],
    },
    Offered {
        name: "snowflake-arctic-embed-s",
        repository: "Snowflake/snowflake-arctic-embed-s",
        licence: "Apache-2.0",
        dimension: 384,
        megabytes: 133,
        beir: Some(52.0),
        languages: "English",
        prompts: Some((PASSAGES, "")),
        cuts: &[],
    },
    Offered {
        name: "bge-small-en-v1.5",
        repository: "BAAI/bge-small-en-v1.5",
        licence: "MIT",
        dimension: 384,
        megabytes: 134,
        beir: Some(51.7),
        languages: "English",
        prompts: Some((PASSAGES, "")),
        cuts: &[],
    },
    Offered {
        name: "snowflake-arctic-embed-xs",
        repository: "Snowflake/snowflake-arctic-embed-xs",
        licence: "Apache-2.0",
        dimension: 384,
        megabytes: 91,
        beir: Some(50.2),
        languages: "English",
        prompts: Some((PASSAGES, "")),
        cuts: &[],
    },
    Offered {
        name: "gte-small",
        repository: "thenlper/gte-small",
        licence: "MIT",
        dimension: 384,
        megabytes: 67,
        beir: Some(49.5),
        languages: "English",
        prompts: None,
        cuts: &[],
    },
    Offered {
        name: "multilingual-e5-small",
        repository: "intfloat/multilingual-e5-small",
        licence: "MIT",
        dimension: 384,
        megabytes: 488,
        beir: None,
        languages: "100 languages",
        prompts: Some(("query: ", "passage: ")),
        cuts: &[],
    },
    Offered {
        name: "paraphrase-multilingual-MiniLM-L12-v2",
        repository: "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2",
        licence: "Apache-2.0",
        dimension: 384,
        megabytes: 480,
        beir: None,
        languages: "50 languages",
        prompts: None,
        cuts: &[],
    },
];

/// Returns an encoder by its name here or by its repository.
pub(super) fn offered(name: &str) -> Option<&'static Offered> {
    OFFERED.iter().find(|offered| offered.name == name || offered.repository == name)
}

impl Offered {
    /// Returns the prompts that the published files leave out.
    pub fn prompts(&self) -> Option<Prompts> {
        self.prompts.map(|(question, text)| Prompts { question: question.into(), text: text.into() })
    }
}
