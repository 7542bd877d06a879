//! Every setting of the engine with its meaning, range and default.
//! Layers (file, environment, flags) belong to the binary.

mod canonical;

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::item::{Briefing, Gate, LlmProvider, Profile, Rerank, Scope, Statistics, Switch};

pub use canonical::CanonicalFiles;
pub(crate) use canonical::CanonicalMatcher;

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
    /// WAL with `synchronous=NORMAL`: a killed process loses nothing; a power failure may lose the last commits.
    #[default]
    Normal,
    /// `synchronous=FULL`: a power failure loses no acknowledged commit either. Each write waits for the disk.
    Full,
}

/// Admission settings by collection, written as `tickets=strict, scratch=off`.
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

/// Limits for one client of `bower serve`; only the server reads them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Serve {
    /// Requests a second for each token, or for each address without one; 0 is no limit. A client that posted in a loop
    /// over one loopback connection made at most 5,400 (`GET /api/v1/models`, two busy cores). The default is about
    /// four times that.
    pub rate: u32,
    /// Concurrent requests for each token or address; more than a connection pool has.
    pub requests_each: usize,
    /// Concurrent requests of all programs on this machine together, if they need no token. Equals the number that may queue.
    pub requests_local: usize,
    /// Concurrent connections, 1 to 65,536.
    pub connections: usize,
    /// Concurrent connections for each token. Without a token: for each address except the loopback.
    pub connections_each: usize,
    /// Seconds that a client may take to send a request's head, or pause within a body.
    pub head_s: u64,
    /// Seconds that a connection may idle between two requests. Longer than clients keep idle connections (Go 90, Node
    /// 5, Python 15 or none).
    pub idle_s: u64,
    /// Seconds after which a connection ends with its next answer.
    pub connection_s: u64,
    /// Concurrent streams of changes.
    pub streams: usize,
    /// Concurrent streams for each token. Without a token: for each address except the loopback.
    pub streams_each: usize,
    /// Seconds after which the server ends a stream and its client reconnects.
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
    /// Page cache of idle connections to the store in MB, 1 to 65,536. At 64 a question over 100,000 passages reads an
    /// eighth fewer pages than at 16.
    pub cache_mb: u64,
    /// The name of the model that makes vectors, or `none` to search by words alone. `PROVIDER/MODEL` is a model at a service.
    pub model: String,
    /// The address of that service, if it is not the provider's own.
    pub model_url: Option<String>,
    /// The numbers of a vector that the service makes; 0 is the model's own.
    pub model_dimensions: usize,
    /// The environment variable that holds the service's key; `None` is the provider's own. The key itself is never stored.
    pub model_key_variable: Option<String>,
    /// A command that prints the service's key, such as `pass show gemini`.
    pub model_key_command: Option<String>,
    /// A file that holds the service's key, which only its owner may read.
    pub model_key_file: Option<std::path::PathBuf>,
    /// The only host that the key of these three may be sent to. `bower model use` sets it at the first use.
    pub model_key_host: Option<String>,
    /// The service that `model = auto` may use while its key is in the environment. `bower model use auto` sets it.
    pub model_auto: Option<String>,
    /// The local model whose vectors are kept beside those of a service, and answer while it gives none; `none` for words alone.
    pub model_offline: String,
    /// The models' folder; `None` is `models` in the home.
    pub models_folder: Option<std::path::PathBuf>,
    /// Threads that embed while indexing; 0 is one per core.
    pub threads: usize,
    /// The collection that `index` writes to when none is named.
    pub document_collection: String,
    /// The collection that `curate` writes to when none is named.
    pub memory_collection: String,
    /// Strictness of admission in collections without their own setting.
    pub gate: Gate,
    /// Strictness of admission by collection.
    pub gates: Gates,
    /// Hours for which a repetition of an answer's text is refused as an echo, 0 to 8,760. An agent works with what it
    /// received for about a day.
    pub echo_hours: u32,
    /// Hours between sweeps, 0 to 8,760; 0 is never (ADE: daily).
    pub sweep_hours: u32,
    /// Most memories of scope `project` that a sweep leaves one owner, as far as they may fade; 0 is no limit. (This
    /// and the next two: ADE.)
    pub limit_project: usize,
    /// The limit for scope `agent`.
    pub limit_agent: usize,
    /// The limit for scope `mission`.
    pub limit_mission: usize,
    /// The limit for scope `user`. No source names a number, so it equals the project's.
    pub limit_user: usize,
    /// Longest chunk of Markdown and HTML, in characters (Atlas: 2,000).
    pub markdown_chunk_max: usize,
    /// Shorter sections of Markdown and HTML join their neighbour, in characters (Atlas: 200).
    pub markdown_chunk_min: usize,
    /// Longest chunk of source code, in characters (Atlas: 2,500).
    pub code_chunk_max: usize,
    /// Longest chunk of plain text, in characters (Atlas: 1,000).
    pub text_chunk_max: usize,
    /// Overlap of consecutive chunks of plain text, in characters (Atlas: 200).
    pub text_chunk_overlap: usize,
    /// Larger files are skipped and listed, in bytes.
    pub max_file_bytes: u64,
    /// Commit messages of a repository that `index` takes, the newest, at most 1,000,000; 0 is none. They are read by
    /// running `git`, and they are other people's words, so they are taken only if asked for.
    pub index_commits: usize,
    /// The files whose lines are canonical facts: names, or ends of paths, with the wildcards of a .gitignore. (Athena:
    /// `CANONICAL.md`.) They decide at each question, so nothing is indexed again after a change.
    pub canonical_files: CanonicalFiles,
    /// Candidates that each channel but the graph returns; at least the number of hits wanted. The graph returns 50
    /// (`engine/query/graph.rs`), and the profiles ade and seed have their own depths.
    /// With 200, nDCG@10 was .0004 lower on locomo, .0014 on cranfield and .0002 on cosqa, and .0012 higher on scifact.
    /// A question over 100,000 items took a tenth longer.
    pub candidates: usize,
    /// The constant k of the reciprocal rank fusion that `eval` compares with (Cormack, Clarke & Büttcher, SIGIR 2009: 60).
    pub rrf_k: f32,
    /// The time zone of times in questions and texts: an IANA name such as `Europe/Berlin`, or `UTC`. The command uses
    /// the system's zone unless it is set.
    pub time_zone: String,
    /// Weight of a time in the question, 0 to 10. 1 is the measured weight (`rank::time::TimeWeights`), 0 is none.
    pub time_weight: f32,
    /// How far tests, changelogs, licences and generated files rank below what explains a thing, in standard deviations of
    /// the candidates' scores, 0 to 10. 0 ranks them like all others.
    pub side_file_weight: f32,
    /// Size of the delta at which a process with spare time compacts; less in small stores. While 1,000 items a second
    /// are added, a delta of 1,000 costs the median question 1.5 (100,000 items) to 1.8 times (10,000) the processor
    /// time of a quiet one. A delta of 2,000 costs up to twice (`bower-bench scale-folding`).
    pub compact_after: usize,
    /// Number of query vectors in the store's cache.
    pub cached_queries: usize,
    /// The reranker, used if the order of the best hits is not settled.
    pub rerank: Rerank,
    /// The cross-encoder's folder within the models' folder, or the model of a reranker at a service as `PROVIDER/MODEL`.
    pub rerank_model: String,
    /// The address of the reranker's service, if it is not the provider's own.
    pub rerank_url: Option<String>,
    /// The environment variable that holds the key of the reranker's service; `None` is the provider's own, at the provider's own
    /// address alone.
    pub rerank_key_variable: Option<String>,
    /// Number of hits that are reranked, at most 1,000. 0 is 50 for a cross-encoder (Athena) or a service and 20 for
    /// a language model (section 1).
    pub rerank_top: usize,
    /// Most tokens of question and text that a cross-encoder reads, 16 to 512 (Athena: 512).
    pub rerank_tokens: usize,
    /// Time limit of a cross-encoder in milliseconds; after it the order is kept.
    pub rerank_deadline_ms: u64,
    /// Calibrated score from which a hit counts as found, 0..1; at 1 every answer is reranked.
    pub rerank_sure: f64,
    /// Least distance of the found hits from the next one for a settled order, 0..1.
    pub rerank_gap: f64,
    /// The protocol of the language model. Nothing leaves the machine while this is `none`.
    pub llm: LlmProvider,
    /// The address of the language model's server: for `openai` the URL before `/chat/completions`. The default is a local
    /// server's; with it, `gemini`, `anthropic` and `ollama` are reached at their own addresses.
    pub llm_url: String,
    /// The language model's name at that address.
    pub llm_model: String,
    /// The environment variable that holds the key. If it is not set, the provider's own variable counts, at the provider's own
    /// address alone. The key itself is never stored.
    pub llm_key_variable: String,
    /// The model of tier `local`, as `PROVIDER/MODEL`; `None` is `llm_model`. The providers are those of `llm`, and `compatible` for
    /// a server at `llm_url`. Another provider than that of `llm` is reached at its own address, with its own key.
    pub llm_local: Option<String>,
    /// The model of tier `lite`.
    pub llm_lite: Option<String>,
    /// The model of tier `flash`.
    pub llm_flash: Option<String>,
    /// The model of tier `pro`.
    pub llm_pro: Option<String>,
    /// The most that one request may cost, in dollars, with the repetition of an unusable answer and the models that stand in;
    /// `None` is no limit. With a limit, a model of unknown price is not asked.
    pub llm_budget_call: Option<f64>,
    /// The most that all requests of a day may cost, in dollars, for all processes together; `None` is no limit. The day is that
    /// of `time_zone`.
    pub llm_budget_day: Option<f64>,
    /// Days for which answers of language models are kept and used again, 0 to 3,650; 0 is not at all.
    pub llm_cache_days: u32,
    /// Time limit of a language model, or of a reranker at a service, in milliseconds; after it the order is kept.
    pub llm_timeout_ms: u64,
    /// Number of open pairs of memories that the language model may settle in one run of maintenance; 0 settles none.
    pub llm_settle: usize,
    /// The profile of questions that name none.
    pub profile: Profile,
    /// The constants of the default profile.
    pub bower: BowerConstants,
    /// The constants that turn scores into probabilities.
    pub calibration: CalibrationConstants,
    /// Relevance against diversity among the hits, 0..1; 1 is relevance alone. (ADE's profile has its own value.)
    pub diversity: f32,
    /// The constants of the athena profile.
    pub athena: AthenaConstants,
    /// The constants of the atlas profile.
    pub atlas: AtlasConstants,
    /// The constants of the ade profile.
    pub ade: AdeConstants,
    /// The constants of the seed profile.
    pub seed: SeedConstants,
    /// Days for which a session's received items are remembered, 1 to 3,650; longer than a conversation lasts.
    pub session_days: u32,
    /// Default token budget of a block for a prompt (Bowerbird's first version: 2,048).
    pub context_tokens: usize,
    /// Default number of documents in a block for a prompt (Atlas: 3).
    pub context_documents: usize,
    /// The size of the briefing that a host receives when a session begins.
    pub hook_brief: Briefing,
    /// Tokens of evidence that a host receives unasked with each prompt, 0 or 32 to 2,048; 0 is none. Half of an
    /// answer's budget, because nobody asked.
    pub hook_tokens: usize,
    /// Whether decisions, corrections and findings of sessions are kept automatically as candidates.
    pub keep_sessions: Switch,
    /// The rows from which term rarity and text length are computed if a question or its caller is restricted to a
    /// collection, scope or owner. `own` costs a look at each row with one of the question's words, see
    /// `docs/scopes.md`.
    pub statistics: Statistics,
    /// Limits for one client of `bower serve`.
    pub serve: Serve,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            sync: Sync::Normal,
            busy_timeout_ms: 30_000,
            cache_mb: 16,
            model: "all-MiniLM-L6-v2".into(),
            model_url: None,
            model_dimensions: 0,
            model_auto: None,
            model_offline: "all-MiniLM-L6-v2".into(),
            model_key_variable: None,
            model_key_command: None,
            model_key_file: None,
            model_key_host: None,
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
            index_commits: 0,
            canonical_files: CanonicalFiles::default(),
            candidates: 128,
            rrf_k: 60.0,
            time_zone: "UTC".into(),
            time_weight: 1.0,
            side_file_weight: 1.0,
            compact_after: 1_000,
            cached_queries: 10_000,
            rerank: Rerank::None,
            rerank_model: "ms-marco-MiniLM-L6-v2".into(),
            rerank_url: None,
            rerank_key_variable: None,
            rerank_top: 0,
            rerank_tokens: 512,
            rerank_deadline_ms: 300,
            rerank_sure: 0.8,
            rerank_gap: 0.2,
            llm: LlmProvider::None,
            llm_url: "http://127.0.0.1:11434/v1".into(),
            llm_model: "llama3.2".into(),
            llm_key_variable: "BOWER_LLM_KEY".into(),
            llm_local: None,
            llm_lite: None,
            llm_flash: None,
            llm_pro: None,
            llm_budget_call: None,
            llm_budget_day: None,
            llm_cache_days: 30,
            llm_timeout_ms: 5_000,
            llm_settle: 0,
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
    /// Returns the most memories of this scope that a sweep leaves one owner, as far as they may fade; 0 is no limit.
    pub fn limit_of(&self, scope: Scope) -> usize {
        match scope {
            Scope::Project => self.limit_project,
            Scope::Agent => self.limit_agent,
            Scope::Mission => self.limit_mission,
            Scope::User => self.limit_user,
        }
    }

    /// Returns the strictness of admission in a collection.
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
