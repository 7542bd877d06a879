//! Lists every setting with the values that it takes, and finds one by its name.

use bower_core::item::{Briefing, Gate, Rerank, Switch};

use super::knob::{Form, Knob, knob};
use super::profiles;

/// Returns every setting: those of no profile, then those of the profiles. Reading, checking, help and `bower config`
/// all use this table. A test compares it with the engine's own type.
pub fn knobs() -> impl Iterator<Item = &'static Knob> {
    KNOBS.iter().chain(profiles::KNOBS)
}

/// The settings that belong to no profile.
const KNOBS: &[Knob] = &[
    knob(
        "sync",
        Form::Word(&["normal", "full"]),
        "full also survives a power cut: each write waits for the disk",
    ),
    knob("busy_timeout_ms", Form::Whole(0, 3_600_000), "how long a write waits for another process's write"),
    knob("cache_mb", Form::Whole(1, 65_536), "memory for pages of the store, in MB"),
    knob(
        "model",
        Form::Text,
        "the model that makes vectors; none for words alone, PROVIDER/MODEL for a service",
    ),
    knob("model_url", Form::Text, "the address of that service, if it is not the provider's own"),
    knob("model_auto", Form::Text, "the service that model = auto may use; bower model use auto sets it"),
    knob(
        "model_offline",
        Form::Text,
        "the local model that answers while the service gives no vectors; none for words alone",
    ),
    knob(
        "model_dimensions",
        Form::Whole(0, 65_536),
        "numbers of a vector from the service; 0 is the model's own",
    ),
    knob(
        "model_key_variable",
        Form::Text,
        "the environment variable that holds its key, which is never stored",
    ),
    knob("model_key_command", Form::Text, "a command that prints its key, such as: pass show gemini"),
    knob("model_key_file", Form::Folder, "a file that holds its key, which only its owner may read"),
    knob("model_key_host", Form::Text, "the only host that such a key is sent to; set at its first use"),
    knob("models_folder", Form::Folder, "where models are kept; by default models in the home"),
    knob("threads", Form::Whole(0, 1_024), "threads that embed while indexing; 0 is one per core"),
    knob("document_collection", Form::Text, "the collection that index writes to"),
    knob("memory_collection", Form::Text, "the collection that curate writes to"),
    knob("gate", Form::Word(Gate::WORDS), "how strictly texts are admitted as memories"),
    knob("gates", Form::Gates, "gates of single collections, such as tickets=strict, scratch=off"),
    knob("sweep_hours", Form::Whole(0, 8_760), "hours after which memories are swept again; 0 is never"),
    knob(
        "limit_project",
        Form::Whole(0, 100_000_000),
        "memories of scope project that a sweep leaves, as far as they fade; 0 is no limit",
    ),
    knob("limit_agent", Form::Whole(0, 100_000_000), "the same of scope agent"),
    knob("limit_mission", Form::Whole(0, 100_000_000), "the same of scope mission"),
    knob("limit_user", Form::Whole(0, 100_000_000), "the same of scope user"),
    knob("echo_hours", Form::Whole(0, 8_760), "hours in which text from an answer is refused as an echo"),
    knob(
        "markdown_chunk_max",
        Form::Whole(100, 100_000),
        "longest chunk of Markdown and HTML, in characters",
    ),
    knob(
        "markdown_chunk_min",
        Form::Whole(0, 100_000),
        "shorter sections join their neighbour, in characters",
    ),
    knob("code_chunk_max", Form::Whole(100, 100_000), "longest chunk of source code, in characters"),
    knob("text_chunk_max", Form::Whole(100, 100_000), "longest chunk of plain text, in characters"),
    knob("text_chunk_overlap", Form::Whole(0, 100_000), "characters that a chunk of plain text repeats"),
    knob("max_file_bytes", Form::Whole(1, 1 << 40), "larger files are skipped and listed"),
    knob(
        "index_commits",
        Form::Whole(0, 1_000_000),
        "newest commit messages of a repository that index takes; 0 is none",
    ),
    knob(
        "canonical_files",
        Form::Files,
        "files whose lines are canonical facts: names or ends of paths, such as rules/*.md",
    ),
    knob("candidates", Form::Whole(1, 10_000), "candidates that each channel but the graph retrieves"),
    knob("rrf_k", Form::Real(0.0, 10_000.0), "the constant of the rank fusion that eval compares with"),
    knob("time_zone", Form::Text, "the zone of times in questions; by default the system's"),
    knob("time_weight", Form::Real(0.0, 10.0), "how much an asked time moves an answer; 0 is not at all"),
    knob(
        "side_file_weight",
        Form::Real(0.0, 10.0),
        "how far tests, changelogs, licences and generated files rank below others; 0 is not at all",
    ),
    knob("compact_after", Form::Whole(1, 10_000_000), "changed rows that may wait outside an index")
        .formerly("fold_after"),
    knob("cached_queries", Form::Whole(0, 10_000_000), "query vectors kept in the cache"),
    knob("rerank", Form::Word(Rerank::WORDS), "what reorders the best hits"),
    knob(
        "rerank_model",
        Form::Text,
        "the cross-encoder: a folder below the models' folder; PROVIDER/MODEL for a service",
    ),
    knob("rerank_url", Form::Text, "the address of that service, if it is not the provider's own"),
    knob(
        "rerank_key_variable",
        Form::Text,
        "the environment variable that holds its key; else the provider's own",
    ),
    knob(
        "rerank_top",
        Form::Whole(0, 1_000),
        "hits to rerank; 0 is 50 for a cross-encoder or a service, 20 for a language model",
    ),
    knob("rerank_tokens", Form::Whole(16, 512), "tokens that a cross-encoder reads of question and text"),
    knob(
        "rerank_deadline_ms",
        Form::Whole(0, 600_000),
        "how long a cross-encoder may take; after that the order is kept",
    ),
    knob(
        "rerank_sure",
        Form::Real(0.0, 1.0),
        "score from which a hit counts as found; 1 reranks every order",
    ),
    knob("rerank_gap", Form::Real(0.0, 1.0), "how far found hits must lead for their order to be settled"),
    knob(
        "llm",
        Form::Word(&["none", "openai", "gemini", "anthropic", "ollama"]),
        "how a language model is reached; none: nothing leaves the machine",
    ),
    knob(
        "llm_url",
        Form::Text,
        "the address of its server; for gemini and anthropic their own, unless another is set",
    ),
    knob("llm_model", Form::Text, "the language model's name there"),
    knob(
        "llm_key_variable",
        Form::Text,
        "the environment variable that holds the key, which is never stored; else the provider's own variable",
    ),
    knob(
        "llm_local",
        Form::LanguageModel,
        "the model of tier local, as PROVIDER/MODEL; llm_model unless it is set",
    ),
    knob("llm_lite", Form::LanguageModel, "the same of tier lite"),
    knob("llm_flash", Form::LanguageModel, "the same of tier flash"),
    knob("llm_pro", Form::LanguageModel, "the same of tier pro"),
    knob(
        "llm_budget_call",
        Form::Dollars,
        "most dollars of one request to language models, with those that stand in; unset is no limit",
    ),
    knob("llm_budget_day", Form::Dollars, "most dollars of all requests of a day; unset is no limit"),
    knob(
        "llm_cache_days",
        Form::Whole(0, 3_650),
        "days for which answers of language models are used again; 0 is not at all",
    ),
    knob(
        "llm_timeout_ms",
        Form::Whole(1, 600_000),
        "how long a language model, or a reranker at a service, may take",
    ),
    knob(
        "llm_settle",
        Form::Whole(0, 1_000),
        "pairs of memories that a server lets the language model settle in one run of maintenance",
    ),
    knob("session_days", Form::Whole(1, 3_650), "days that what a session was given is remembered"),
    knob(
        "context_tokens",
        Form::Whole(32, 1_000_000),
        "tokens of a block for a prompt where no budget is given",
    ),
    knob("context_documents", Form::Whole(1, 50), "documents in such a block"),
    knob(
        "hook_brief",
        Form::Word(Briefing::WORDS),
        "the briefing that an agent's host gets when a session begins",
    ),
    knob("hook_tokens", Form::Whole(0, 2_048), "tokens of evidence with each prompt of an agent; 0 is none"),
    knob(
        "keep_sessions",
        Form::Word(Switch::WORDS),
        "whether hooks keep what was decided and found in a session",
    ),
    knob(
        "statistics",
        Form::Word(&["shared", "own"]),
        "whether a word's rarity counts the whole store or what the caller may see",
    ),
    knob(
        "serve.rate",
        Form::Whole(0, 1_000_000),
        "requests a second of each token, or address without one; 0 is no limit",
    ),
    knob("serve.requests_each", Form::Whole(1, 65_536), "requests at once of each token or address"),
    knob(
        "serve.requests_local",
        Form::Whole(1, 65_536),
        "requests at once of this machine's programs together, where they need no token",
    ),
    knob(
        "serve.connections",
        Form::Whole(1, 65_536),
        "connections at once; half where tokens are needed and none was shown",
    ),
    knob(
        "serve.connections_each",
        Form::Whole(1, 65_536),
        "connections of each token, or address that is not the loopback",
    ),
    knob(
        "serve.head_s",
        Form::Whole(1, 3_600),
        "seconds for a request's head, and of silence within its body",
    ),
    knob("serve.idle_s", Form::Whole(1, 86_400), "seconds that a connection may rest between two requests"),
    knob(
        "serve.connection_s",
        Form::Whole(1, 31_536_000),
        "seconds after which a connection ends with its next answer",
    ),
    knob("serve.streams", Form::Whole(1, 65_536), "streams of changes at once"),
    knob(
        "serve.streams_each",
        Form::Whole(1, 65_536),
        "streams of each token, or address that is not the loopback",
    ),
    knob(
        "serve.stream_s",
        Form::Whole(1, 31_536_000),
        "seconds after which a stream ends and its client comes back",
    ),
];

/// Settings of earlier versions that have no effect any more. A file may still contain them.
pub const RETIRED: &[&str] = &["bower.fit_weight"];

/// Finds a setting by its name, or by its name in an earlier version. The error is a hint with the nearest name.
pub fn known(key: &str) -> Result<&'static Knob, String> {
    let key = key.trim();
    knobs().find(|knob| knob.key == key || knob.former == Some(key)).ok_or_else(|| {
        let in_tables: Vec<_> = knobs()
            .filter(|knob| knob.key.split_once('.').is_some_and(|(_, last)| last == key))
            .map(|knob| knob.key)
            .collect();
        if !in_tables.is_empty() {
            return format!("did you mean {}? bower config lists them all", in_tables.join(" or "));
        }
        let distance = |knob: &&Knob| (strsim::damerau_levenshtein(knob.key, key), knob.key);
        match knobs().min_by_key(distance).filter(|knob| distance(knob).0 <= 2.max(key.len() / 3)) {
            Some(near) => format!("did you mean {}? bower config lists them all", near.key),
            None => "bower config lists them all".to_string(),
        }
    })
}
