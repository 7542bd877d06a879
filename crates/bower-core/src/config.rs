//! Every setting of the engine with its meaning, range and default.
//! Layers (file, environment, flags) belong to the binary.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::item::{Briefing, Gate, LlmProvider, Profile, Rerank, Scope, Statistics, Switch};

pub use crate::rank::calibrate::Constants as CalibrationConstants;
pub use crate::rank::profile::ade::Constants as AdeConstants;
pub use crate::rank::profile::athena::Constants as AthenaConstants;
pub use crate::rank::profile::atlas::{Constants as AtlasConstants, Fusion as AtlasFusion};
pub use crate::rank::profile::native::Constants as BowerConstants;
pub use crate::rank::profile::seed::Constants as SeedConstants;

/// How long a commit waits for the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sync {
    /// WAL with `synchronous=NORMAL`: nothing is lost when a process dies; the last commits may be when the power does.
    #[default]
    Normal,
    /// `synchronous=FULL`: nothing acknowledged is lost when the power goes either; each write waits for the disk.
    Full,
}

/// Gates by collection, written as `tickets=strict, scratch=off`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Gates(BTreeMap<String, Gate>);

impl FromStr for Gates {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let pair = |part: &str| -> Result<(String, Gate)> {
            let (name, gate) = part
                .split_once('=')
                .map(|(name, gate)| (name.trim(), gate.trim()))
                .filter(|(name, _)| !name.is_empty())
                .ok_or_else(|| {
                    Error::invalid(
                        format!("gates {part:?}"),
                        "write COLLECTION=off|normal|strict, separated by commas",
                    )
                })?;
            Ok((name.to_owned(), gate.parse()?))
        };
        text.split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty())
            .map(pair)
            .collect::<Result<_>>()
            .map(Self)
    }
}

impl TryFrom<String> for Gates {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<Gates> for String {
    fn from(gates: Gates) -> Self {
        gates.0.iter().map(|(name, gate)| format!("{name}={gate}")).collect::<Vec<_>>().join(", ")
    }
}

/// How much one caller of `bower serve` may take, and for how long; the server reads it, the engine does not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Serve {
    /// Requests a second for each token, or address without one; 0 is no limit. A client that posts in a loop over one connection
    /// of the loopback asked 5,400 times a second at most (`GET /api/v1/models`, two busy cores), so four times that.
    pub rate: u32,
    /// Requests at once for each token or address; more than a pool of connections has.
    pub requests_each: usize,
    /// The same for all programs of this machine together, where they need no token: as many as may wait for their turn.
    pub requests_local: usize,
    /// Connections at once, 1 to 65,536.
    pub connections: usize,
    /// Connections at once for each token, and without one for each address but the loopback.
    pub connections_each: usize,
    /// Seconds that a client may take to send the head of a request, or be silent within a body.
    pub head_s: u64,
    /// Seconds that a connection may rest between two requests: longer than clients keep theirs (Go 90, Node 5, Python 15 or none).
    pub idle_s: u64,
    /// Seconds after which a connection ends with its next answer.
    pub connection_s: u64,
    /// Streams of changes at once.
    pub streams: usize,
    /// Streams at once for each token, and without one for each address but the loopback.
    pub streams_each: usize,
    /// Seconds after which a stream ends and its client comes back.
    pub stream_s: u64,
}

impl Default for Serve {
    fn default() -> Self {
        Self {
            rate: 20_000,
            requests_each: 128,
            requests_local: 512,
            connections: 1_024,
            connections_each: 256,
            head_s: 15,
            idle_s: 100,
            connection_s: 3_600,
            streams: 256,
            streams_each: 32,
            stream_s: 3_600,
        }
    }
}

/// The engine's settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// How long a commit waits for the disk.
    pub sync: Sync,
    /// How long a write waits for another process's write, in milliseconds.
    pub busy_timeout_ms: u64,
    /// Memory that connections at rest keep the store's pages in, in MB, 1 to 65,536. At 64 a question over 100,000 passages
    /// reads an eighth fewer pages than at 16.
    pub cache_mb: u64,
    /// The local model's name, or `none` for words alone.
    pub model: String,
    /// Where models are kept; `models` in the home unless told.
    pub models_folder: Option<std::path::PathBuf>,
    /// Threads that embed while indexing; 0 is one per core.
    pub threads: usize,
    /// The collection that `index` writes to when none is named.
    pub document_collection: String,
    /// The collection that `curate` writes to when none is named.
    pub memory_collection: String,
    /// How closely what wants to become a memory is looked at, in collections that have no gate of their own.
    pub gate: Gate,
    /// The gates of collections that have one of their own.
    pub gates: Gates,
    /// What answers gave is known again for so many hours, 0 to 8,760: told back, it is an echo and no memory. Within a day an
    /// agent works on from what it was given.
    pub echo_hours: u32,
    /// Hours after which memories are swept again by whoever keeps one, 0 to 8,760; 0 is never (ADE: daily).
    pub sweep_hours: u32,
    /// The most memories of scope `project` that a sweep leaves to one owner, as far as they fade; 0 is no limit. (This and the
    /// next two: systems.md, section 2.)
    pub limit_project: usize,
    /// The same of scope `agent`.
    pub limit_agent: usize,
    /// The same of scope `mission`.
    pub limit_mission: usize,
    /// The same of scope `user`; nobody's example says how many, so as many as of a project.
    pub limit_user: usize,
    /// Markdown and HTML: the longest chunk, in characters (Atlas: 2,000).
    pub markdown_chunk_max: usize,
    /// Markdown and HTML: sections shorter than this join their neighbour, in characters (Atlas: 200).
    pub markdown_chunk_min: usize,
    /// Source code: the longest chunk, in characters (Atlas: 2,500).
    pub code_chunk_max: usize,
    /// Plain text: the longest chunk, in characters (Atlas: 1,000).
    pub text_chunk_max: usize,
    /// Plain text: characters that a chunk repeats of the one before (Atlas: 200).
    pub text_chunk_overlap: usize,
    /// Files larger than this are skipped and listed, in bytes.
    pub max_file_bytes: u64,
    /// Candidates that each channel gives to fusion, and never fewer than hits wanted. (systems.md, section 1, has 200 of each.)
    /// The profiles ade and seed have pools of their own.
    /// Where 200 were asked for, nDCG@10 was .0004 less on locomo, .0014 on cranfield, .0002 on cosqa and .0012 more on scifact,
    /// and a question over 100,000 items took a tenth longer.
    pub candidates: usize,
    /// The constant of the reciprocal rank fusion that `eval` compares with (Cormack, Clarke & Büttcher, SIGIR 2009: 60).
    pub rrf_k: f32,
    /// The time zone in which times in questions and texts are read: an IANA name such as `Europe/Berlin`, or `UTC`. The
    /// command fills in the system's where nothing else was said.
    pub time_zone: String,
    /// How much an asked time moves an answer, 0 to 10; 1 is as measured (`rank::time::TimeWeights`), 0 is not at all.
    pub time_weight: f32,
    /// Changed rows that may wait outside an index before a process with time compacts them in; fewer in small stores. While
    /// 1,000 items a second are added, 1,000 make the median question cost 1.5 (100,000 items) to 1.8 times (10,000) the
    /// processor time of a quiet one, 2,000 up to twice (`bower-bench scale-folding`).
    pub compact_after: usize,
    /// Query vectors kept in the store's cache.
    pub cached_queries: usize,
    /// Who reorders the best hits, where their order is still open.
    pub rerank: Rerank,
    /// The cross-encoder's folder below the models' folder.
    pub rerank_model: String,
    /// Hits that are reranked, at most 1,000; 0 is 50 for a cross-encoder (systems.md, section 4) and 20 for a language model
    /// (section 1).
    pub rerank_top: usize,
    /// Tokens of question and text that a cross-encoder reads at most, 16 to 512 (systems.md, section 4: 512).
    pub rerank_tokens: usize,
    /// How long a cross-encoder may take, in milliseconds; after it the order stands.
    pub rerank_deadline_ms: u64,
    /// Calibrated score from which a hit counts as found, 0..1; at 1 every order is reranked.
    pub rerank_sure: f64,
    /// How far the found hits must stand above the next for the order to be settled, 0..1.
    pub rerank_gap: f64,
    /// How a language model is reached. Nothing leaves the machine while this is `none`.
    pub llm: LlmProvider,
    /// The address before `/chat/completions`; the default is a local server's.
    pub llm_url: String,
    /// The language model's name at that address.
    pub llm_model: String,
    /// The environment variable that holds the key. The key itself is never kept.
    pub llm_key_variable: String,
    /// How long a language model may take, in milliseconds; after it the order stands.
    pub llm_timeout_ms: u64,
    /// The profile that answers when a question names none.
    pub profile: Profile,
    /// The constants of the default profile.
    pub bower: BowerConstants,
    /// How scores become probabilities.
    pub calibration: CalibrationConstants,
    /// Relevance against diversity among the hits, 0..1; 1 is relevance alone. (ADE's profile has its own.)
    pub diversity: f32,
    /// The constants of the athena profile.
    pub athena: AthenaConstants,
    /// The constants of the atlas profile.
    pub atlas: AtlasConstants,
    /// The constants of the ade profile.
    pub ade: AdeConstants,
    /// The constants of the seed profile.
    pub seed: SeedConstants,
    /// What a session was given is remembered for so many days, 1 to 3,650: longer than a conversation lasts.
    pub session_days: u32,
    /// Tokens of a block for a prompt where no budget is told (systems.md, section 1: 2,048).
    pub context_tokens: usize,
    /// Documents in a block for a prompt where no budget is told (systems.md, section 3: 3).
    pub context_documents: usize,
    /// What an agent's host is told by itself when a session begins.
    pub hook_brief: Briefing,
    /// Tokens of evidence that an agent's host is given by itself with each prompt, 0 or 32 to 2,048; 0 is none. Half of what a
    /// question is answered with: nobody asked.
    pub hook_tokens: usize,
    /// Whether what was decided, corrected and found out in a session is kept by itself, as candidates.
    pub keep_sessions: Switch,
    /// Of which rows a word's rarity and a text's length are told, where a question names a collection, a scope or an owner, or its
    /// caller is bound to some. `own` costs a look at each row with one of the question's words, see `docs/scopes.md`.
    pub statistics: Statistics,
    /// How much one caller of `bower serve` may take.
    pub serve: Serve,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            sync: Sync::Normal,
            busy_timeout_ms: 30_000,
            cache_mb: 16,
            model: "all-MiniLM-L6-v2".into(),
            models_folder: None,
            threads: 0,
            document_collection: "documents".into(),
            memory_collection: "memories".into(),
            gate: Gate::Normal,
            gates: Gates::default(),
            echo_hours: 24,
            sweep_hours: 24,
            limit_project: 2_000,
            limit_agent: 500,
            limit_mission: 200,
            limit_user: 2_000,
            markdown_chunk_max: 2_000,
            markdown_chunk_min: 200,
            code_chunk_max: 2_500,
            text_chunk_max: 1_000,
            text_chunk_overlap: 200,
            max_file_bytes: 10 << 20,
            candidates: 128,
            rrf_k: 60.0,
            time_zone: "UTC".into(),
            time_weight: 1.0,
            compact_after: 1_000,
            cached_queries: 10_000,
            rerank: Rerank::None,
            rerank_model: "ms-marco-MiniLM-L6-v2".into(),
            rerank_top: 0,
            rerank_tokens: 512,
            rerank_deadline_ms: 300,
            rerank_sure: 0.8,
            rerank_gap: 0.2,
            llm: LlmProvider::None,
            llm_url: "http://127.0.0.1:11434/v1".into(),
            llm_model: "llama3.2".into(),
            llm_key_variable: "BOWER_LLM_KEY".into(),
            llm_timeout_ms: 5_000,
            profile: Profile::Bower,
            bower: BowerConstants::default(),
            calibration: CalibrationConstants::default(),
            diversity: 1.0,
            athena: AthenaConstants::default(),
            atlas: AtlasConstants::default(),
            ade: AdeConstants::default(),
            seed: SeedConstants::default(),
            session_days: 90,
            context_tokens: 2_048,
            context_documents: 3,
            hook_brief: Briefing::Standard,
            hook_tokens: 1_024,
            keep_sessions: Switch::On,
            statistics: Statistics::Shared,
            serve: Serve::default(),
        }
    }
}

impl Settings {
    /// The most memories that a sweep leaves to one owner of a scope, as far as they fade; 0 is no limit.
    pub fn limit_of(&self, scope: Scope) -> usize {
        match scope {
            Scope::Project => self.limit_project,
            Scope::Agent => self.limit_agent,
            Scope::Mission => self.limit_mission,
            Scope::User => self.limit_user,
        }
    }

    /// The gate of a collection.
    pub fn gate_of(&self, collection: &str) -> Gate {
        self.gates.0.get(collection).copied().unwrap_or(self.gate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collection_may_have_a_gate_of_its_own() {
        let settings =
            Settings { gates: " tickets=strict,scratch = off ".parse().unwrap(), ..Settings::default() };
        let gates = ["tickets", "scratch", "memories"].map(|name| settings.gate_of(name));
        assert_eq!(gates, [Gate::Strict, Gate::Off, Gate::Normal]);
        assert_eq!(String::from(settings.gates), "scratch=off, tickets=strict");
        assert_eq!("".parse::<Gates>().unwrap(), Gates::default());
        for wrong in ["tickets", "=off", "tickets=closed"] {
            assert!(wrong.parse::<Gates>().is_err(), "{wrong}");
        }
    }
}
