//! Reaches language models and rerankers at services, only if the settings name them.
//! A key comes from the environment. It is sent in one header, and appears in no file, message or error.

mod plan;

use std::time::Duration;

use bower_core::config::Settings;
use bower_core::item::LlmTier;
use bower_core::llm::{Ask, Completion, Llm, LlmTiers, NoAnswer, Reranker, TokenPrices};
use bower_providers::{ChatRequest, Connection, Failure, RemoteChat, RemoteReranker};

pub use plan::{
    KeyState, Place, host_of, is_this_machine, is_tier_model, place_of, reranker_place, split_name,
};

/// A language model at a service. With settings that cannot work, every request fails with the reason.
pub struct Chat {
    model: String,
    address: String,
    identity: String,
    prices: Option<TokenPrices>,
    client: std::result::Result<RemoteChat, String>,
}

/// A reranker at a service. With settings that cannot work, every request fails with the reason.
struct Scorer {
    model: String,
    address: String,
    price: Option<f64>,
    client: std::result::Result<RemoteReranker, String>,
}

/// Returns the language models that the settings name, if any. `variable` reads an environment variable.
pub fn chosen(settings: &Settings, variable: impl Fn(&str) -> Option<String>) -> Option<LlmTiers> {
    let chat = |tier| Some(Chat::new(place_of(settings, tier)?, &variable));
    let mut tiers = LlmTiers::one(Box::new(chat(None)?));
    for tier in LlmTier::ALL {
        if let Some(own) = plan::own(settings, *tier).and_then(|_| chat(Some(*tier))) {
            tiers = tiers.with(*tier, Box::new(own));
        }
    }
    Some(tiers)
}

/// Returns the reranker at a service that the settings name, if they name one.
pub fn chosen_reranker(
    settings: &Settings,
    variable: impl Fn(&str) -> Option<String>,
) -> Option<Box<dyn Reranker>> {
    let place = reranker_place(settings)?;
    let connection = place.connection(&variable);
    let client = RemoteReranker::new(connection, &place.model).map_err(|failure| reason(&failure));
    let model = format!("{}/{}", place.provider, place.model);
    Some(Box::new(Scorer { model, price: place.rerank_price(), address: place.address(), client }))
}

impl Chat {
    fn new(place: Place, variable: &impl Fn(&str) -> Option<String>) -> Self {
        let connection: Connection = place.connection(variable);
        let client = RemoteChat::new(connection, &place.model).map_err(|failure| reason(&failure));
        let (address, prices) = (place.address(), place.prices());
        let identity = format!("{} {address} {}", place.provider, place.model);
        Self { model: place.model, address, identity, prices, client }
    }
}

impl Llm for Chat {
    fn model(&self) -> &str {
        &self.model
    }

    fn identity(&self) -> String {
        self.identity.clone()
    }

    fn prices(&self) -> Option<TokenPrices> {
        self.prices
    }

    fn most_tries(&self) -> u32 {
        RemoteChat::TRIES
    }

    fn complete(&self, ask: &Ask, timeout: Duration) -> Result<Completion, NoAnswer> {
        let client =
            self.client.as_ref().map_err(|reason| no_answer(&self.model, &self.address, reason, false))?;
        let most = u32::try_from(ask.most_tokens).unwrap_or(u32::MAX);
        let mut request = ChatRequest::new(ask.system.as_str(), ask.user.as_str(), most);
        request.schema.clone_from(&ask.schema);
        request.must_be_limited = self.prices.is_some_and(|prices| prices.output > 0.0);
        let answer = client.complete(&request, timeout).map_err(|failure| {
            no_answer(&self.model, &self.address, &reason(&failure), failure.may_be_billed)
        })?;
        Ok(Completion {
            text: answer.text,
            input_tokens: answer.usage.input_tokens,
            output_tokens: answer.usage.output_tokens,
            unanswered_tries: answer.unanswered_tries,
        })
    }
}

impl Reranker for Scorer {
    fn model(&self) -> &str {
        &self.model
    }

    fn price(&self) -> Option<f64> {
        self.price
    }

    fn score(&self, question: &str, texts: &[&str], timeout: Duration) -> Result<Vec<f32>, NoAnswer> {
        let client =
            self.client.as_ref().map_err(|reason| no_answer(&self.model, &self.address, reason, false))?;
        client.rerank(question, texts, timeout).map_err(|failure| {
            no_answer(&self.model, &self.address, &reason(&failure), failure.may_be_billed)
        })
    }
}

fn no_answer(model: &str, address: &str, reason: &str, may_be_billed: bool) -> NoAnswer {
    NoAnswer { reason: format!("model {model}: {address}: {reason}"), may_be_billed }
}

/// Returns a failure in words that follow the model's name.
pub fn reason(failure: &Failure) -> String {
    let text = failure.to_string();
    let named = format!("{} {}: ", failure.provider, failure.model);
    text.strip_prefix(&named).map_or_else(|| text.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    mod routed;
    mod triples;

    use super::*;
    use bower_core::item::LlmProvider;
    use bower_core::item::{Gate, MemoryType, Rerank, Scored, Visibility};
    use bower_core::prompt::PromptText;
    use bower_core::request::{ConsolidateRequest, Consolidated, CurateRequest};
    use bower_core::{Engine, Result};
    use serde_json::{Value, json};
    use std::net::SocketAddr;
    use std::time::Instant;

    use crate::loopback::{Reply, Server, nobody};

    /// Returns a server that gives one answer, or none.
    fn answers(answer: Option<(&'static str, String)>) -> Server {
        Server::start(move |_, _| answer.clone().map(|(status, body)| Reply::new(status, body)))
    }

    fn says(text: &str) -> Server {
        let body = json!({"choices": [{"index": 0, "message": {"role": "assistant", "content": text}}]});
        answers(Some(("200 OK", body.to_string())))
    }

    /// Returns the body of the only request.
    fn body(server: &Server) -> Value {
        let [request] = &server.seen()[..] else { panic!("one request") };
        serde_json::from_slice(&request.body).unwrap()
    }

    fn settings(address: SocketAddr) -> Settings {
        Settings {
            llm: LlmProvider::OpenAi,
            llm_url: format!("http://{address}/v1/"),
            llm_model: "tiny".into(),
            model: "none".into(),
            ..Settings::default()
        }
    }

    fn ask(settings: &Settings, key: Option<&str>, timeout_ms: u64) -> std::result::Result<String, NoAnswer> {
        let ask = Ask {
            system: PromptText::own("be brief"),
            user: PromptText::own("hello \"there\""),
            most_tokens: 7,
            schema: None,
        };
        let llms = chosen(settings, |name| {
            assert_eq!(name, "BOWER_LLM_KEY");
            key.map(str::to_owned)
        });
        let llms = llms.unwrap();
        llms.model(LlmTier::Lite).complete(&ask, Duration::from_millis(timeout_ms)).map(|done| done.text)
    }

    fn fails(settings: &Settings, timeout_ms: u64, expected: &str) {
        let error = ask(settings, Some("secret-key"), timeout_ms).unwrap_err().reason;
        assert!(error.starts_with("model tiny: ") && error.contains(expected), "{error}");
        assert!(!error.contains("secret-key") && !error.contains('\n'), "{error}");
    }

    #[test]
    fn nothing_is_asked_unless_a_provider_is_named() {
        assert!(chosen(&Settings::default(), |_| panic!("no key is looked for")).is_none());
    }

    #[test]
    fn a_question_is_one_completion_and_the_key_is_a_header() {
        for key in [Some(" secret-key\n"), None] {
            let server = says("[1]:4");
            assert_eq!(ask(&settings(server.address()), key, 20_000).unwrap(), "[1]:4");
            let body = body(&server);
            let seen = &server.seen()[0];
            assert_eq!((seen.method.as_str(), seen.path.as_str()), ("POST", "/v1/chat/completions"));
            assert_eq!(seen.header("authorization"), key.map(|_| "Bearer secret-key"));
            assert_eq!(body["model"], "tiny");
            assert_eq!(body["messages"][1], json!({"role": "user", "content": "hello \"there\""}));
            assert_eq!((&body["max_tokens"], body.get("temperature")), (&json!(7), None));
        }
    }

    /// Each provider's own protocol, spoken by a server that knows all of them.
    #[test]
    fn each_provider_is_asked_in_its_own_protocol() {
        use bower_providers::fake::{FakeOptions, FakeServer};
        let says = |provider: LlmProvider, base: &str, path: &str, header: &str| {
            let server = FakeServer::start(FakeOptions { answer: "[1]:4".into(), ..FakeOptions::default() });
            let settings = Settings {
                llm: provider,
                llm_url: server.url(base),
                llm_model: "tiny".into(),
                ..Settings::default()
            };
            assert_eq!(ask(&settings, Some("secret-key"), 20_000).unwrap(), "[1]:4");
            let [request] = &server.requests()[..] else { panic!("one request") };
            assert_eq!(request.path, path);
            assert!(request.head.contains(header), "{}", request.head);
        };
        says(LlmProvider::OpenAi, "/v1", "/v1/chat/completions", "Bearer secret-key");
        says(LlmProvider::Gemini, "/v1beta", "/v1beta/models/tiny:generateContent", "secret-key");
        says(LlmProvider::Anthropic, "", "/v1/messages", "secret-key");
        says(LlmProvider::Ollama, "", "/api/chat", "secret-key");
    }

    /// The provider's own variable counts at its own address alone.
    #[test]
    fn a_vendors_key_is_not_sent_to_another_address() {
        use bower_providers::fake::{FakeOptions, FakeServer};
        let server = FakeServer::start(FakeOptions::default());
        let settings =
            Settings { llm: LlmProvider::Anthropic, llm_url: server.url(""), ..Settings::default() };
        let llm = chosen(&settings, |name| (name == "ANTHROPIC_API_KEY").then(|| "secret-key".into()));
        let (system, user) = (PromptText::own("be brief"), PromptText::own("hello"));
        let ask = Ask { system, user, most_tokens: 7, schema: None };
        let _ = llm.unwrap().model(LlmTier::Pro).complete(&ask, Duration::from_secs(20));
        assert!(!String::from_utf8_lossy(&server.bytes()).contains("secret-key"));
    }

    #[test]
    fn whatever_a_server_does_wrong_is_one_line() {
        let check = |status, said: String, expected: &str| {
            fails(&settings(answers(Some((status, said))).address()), 20_000, expected);
        };
        let refusal = "{\n  \"error\": \"bad key\"\n}".to_owned();
        check("401 Unauthorized", refusal, "the key is missing or refused");
        check("200 OK", "<html>hello</html>".into(), "the answer has another format");
        check("200 OK", json!({"choices": []}).to_string(), "the answer has another format");
        let tool = json!({"choices": [{"message": {"content": null}}]});
        check("200 OK", tool.to_string(), "the answer has another format");
        fails(&settings(nobody()), 20_000, "/v1/: the connection failed");
    }

    #[test]
    fn a_slow_server_is_left_after_the_time_that_it_has() {
        let start = Instant::now();
        fails(&settings(answers(None).address()), 60, "no answer in time");
        assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    }

    /// Tests with the engine and the real model that the server's text becomes the pattern if the memories support it. If it
    /// says anything else, or nothing, the memories' own words are used.
    #[test]
    fn an_engine_consolidates_in_the_servers_words_where_the_memories_say_them() {
        let now = jiff::Timestamp::UNIX_EPOCH;
        let texts = ["4 May", "11 May", "18 May"]
            .map(|on| format!("The nightly export of the ledger ran out of disk space on {on}"));
        let consolidated = |settings: Settings| -> Result<Consolidated> {
            let folder = tempfile::tempdir().unwrap();
            let llm = chosen(&settings, |_| None);
            let settings = Settings {
                model: Settings::default().model,
                models_folder: Some(models()),
                llm_timeout_ms: 1_000,
                ..settings
            };
            let engine = Engine::open(folder.path(), settings, now).unwrap();
            let engine = match llm {
                Some(llm) => engine.with_llms(llm),
                None => engine,
            };
            for text in &texts {
                let memory_type = Some(MemoryType::Episode);
                let request =
                    CurateRequest { memory_type, gate: Some(Gate::Off), ..CurateRequest::new(text) };
                engine.curate(&Visibility::everything(), &request, now).unwrap();
            }
            let request = ConsolidateRequest { llm: true, ..ConsolidateRequest::default() };
            let look = ConsolidateRequest { dry_run: true, ..request.clone() };
            let would = engine.consolidate(&Visibility::everything(), &look, now, &|| true);
            let done = engine.consolidate(&Visibility::everything(), &request, now, &|| true)?;
            // A dry run shows the memories' own words and sends no request.
            let would = would.unwrap();
            assert_eq!((would.patterns_created, &would.clusters[0].written_by), (1, &None));
            let pattern =
                engine.get(&Visibility::everything(), done.clusters[0].pattern.as_ref().unwrap()).unwrap();
            assert_eq!(pattern.content, done.clusters[0].content);
            assert_eq!(pattern.metadata.get("written_by").is_some(), done.clusters[0].written_by.is_some());
            // After an undo the pattern is not made again, whoever wrote its text.
            engine.undo(&Visibility::everything(), done.clusters[0].event.unwrap(), now).unwrap();
            assert_eq!(
                engine
                    .consolidate(&Visibility::everything(), &request, now, &|| true)
                    .unwrap()
                    .patterns_created,
                0
            );
            Ok(done)
        };
        let good = "The nightly export of the ledger ran out of disk space on 4 May, 11 May and 18 May.";
        let server = says(good);
        let done = consolidated(settings(server.address())).unwrap();
        assert_eq!(done.clusters[0].content, good);
        assert_eq!(done.clusters[0].written_by.as_deref(), Some("tiny"));
        let llm = done.llm.unwrap();
        assert_eq!((llm.model.as_str(), llm.written, llm.refused), ("tiny", 1, Vec::new()));
        let asked = body(&server)["messages"][1]["content"].to_string();
        assert!(asked.contains("[1] The nightly export") && asked.contains("[3] "), "{asked}");

        let refused = |settings: Settings, expected: &str| {
            let done = consolidated(settings).unwrap();
            assert!(texts.iter().all(|text| done.clusters[0].content.contains(text)), "{done:?}");
            assert_eq!(done.clusters[0].written_by, None);
            let llm = done.llm.unwrap();
            assert_eq!((llm.written, llm.refused.len(), llm.refused[0].patterns), (0, 1, 1));
            assert!(llm.refused[0].why.contains(expected), "{llm:?}");
        };
        let wrong = says("Ignore the notes: the export failed on 5 May and is owned by Mallory.");
        refused(settings(wrong.address()), "it has a number or a name that none of them has");
        refused(settings(says(" \n").address()), "it wrote nothing");
        refused(settings(answers(None).address()), "no answer in time");
        refused(settings(nobody()), "the connection failed");
        let none = Settings { llm: LlmProvider::None, ..settings(nobody()) };
        let error = consolidated(none).unwrap_err().to_string();
        assert!(error.contains("no language model is chosen: set llm"), "{error}");
    }

    /// Returns the folder of the test models.
    fn models() -> std::path::PathBuf {
        let model = std::env::var_os("BOWER_TEST_MODEL").map(std::path::PathBuf::from);
        let here =
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/model/all-MiniLM-L6-v2");
        model.unwrap_or(here).parent().unwrap().to_path_buf()
    }

    /// Tests with the engine that a valid answer reorders the hits; any other answer leaves the order and is reported.
    #[test]
    fn an_engine_reranks_by_what_the_server_says() {
        let (folder, now) = (tempfile::tempdir().unwrap(), jiff::Timestamp::UNIX_EPOCH);
        let home = |settings: Settings| {
            let llm = chosen(&settings, |_| None).unwrap();
            Engine::open(folder.path(), Settings { llm_timeout_ms: 20_000, ..settings }, now)
                .unwrap()
                .with_llms(llm)
        };
        let server = says("Scores:\n[1]: 2\n[2]: 5");
        let engine = home(settings(server.address()));
        let ranked: Vec<Scored> = ["the market", "the bridge"]
            .iter()
            .map(|text| {
                let id = engine
                    .curate(&Visibility::everything(), &CurateRequest::new(*text), now)
                    .unwrap()
                    .id
                    .unwrap();
                Scored { row: engine.get(&Visibility::everything(), &id).unwrap().row, score: 0.4 }
            })
            .collect();
        let got = engine.rerank(&Visibility::everything(), "where?", &ranked, 10, Rerank::Llm, now).unwrap();
        assert_eq!((got.order, got.degraded), (vec![1, 0], None));
        let asked = body(&server)["messages"][1]["content"].to_string();
        assert!(asked.contains("Question: where?") && asked.contains("[2] the bridge"), "{asked}");
        let server = says("As a language model, I cannot.");
        let got = home(settings(server.address()))
            .rerank(&Visibility::everything(), "where?", &ranked, 10, Rerank::Llm, now)
            .unwrap();
        assert_eq!(got.order, [0, 1]);
        assert!(got.degraded.unwrap().reason.contains("it has no score of a text, also when asked again"));
    }
}
