//! Sends requests to a language model by the chat completions API, only if the settings name one.
//! The key comes from the environment. It is sent in one header, and appears in no file, message or error.

use std::io::Read;
use std::time::{Duration, Instant};

use bower_core::config::Settings;
use bower_core::item::LlmProvider;
use bower_core::llm::{Ask, Llm};
use bower_core::{Error, Result};
use serde::Deserialize;
use serde_json::json;
use ureq::Agent;

/// Bytes after which an answer is cut off: a list of scores has some hundreds.
const MOST_BYTES: u64 = 1 << 20;
/// Characters of a server's error that are passed on.
const REFUSAL_CHARS: usize = 200;

/// A client of the chat completions API over HTTP.
pub struct Chat {
    url: String,
    model: String,
    key: Option<String>,
}

/// The parts of a completion that are needed here.
#[derive(Deserialize)]
struct Completion {
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    message: Message,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    content: Option<String>,
}

/// Returns the language model that the settings name, if any. `variable` reads an environment variable.
pub fn chosen(settings: &Settings, variable: impl FnOnce(&str) -> Option<String>) -> Option<Box<dyn Llm>> {
    match settings.llm {
        LlmProvider::None => None,
        LlmProvider::OpenAi => Some(Box::new(Chat {
            url: format!("{}/chat/completions", settings.llm_url.trim_end_matches('/')),
            model: settings.llm_model.clone(),
            key: variable(&settings.llm_key_variable).filter(|key| !key.trim().is_empty()),
        })),
    }
}

impl Llm for Chat {
    fn model(&self) -> &str {
        &self.model
    }

    fn complete(&self, ask: &Ask, timeout: Duration) -> Result<String> {
        let start = Instant::now();
        self.ask(ask, timeout).map_err(|reason| {
            // An error after the timeout was caused by it.
            let reason = if start.elapsed() >= timeout {
                format!("no answer from {} in {} ms", self.url, timeout.as_millis())
            } else {
                reason
            };
            Error::Model { model: self.model.clone(), reason }
        })
    }
}

impl Chat {
    fn ask(&self, ask: &Ask, timeout: Duration) -> Result<String, String> {
        let failed = |cause: &dyn std::fmt::Display| format!("cannot ask {}: {cause}", self.url);
        let agent: Agent = Agent::config_builder()
            .timeout_global(Some(timeout))
            .user_agent(concat!("bowerbird/", env!("CARGO_PKG_VERSION")))
            .http_status_as_error(false)
            .build()
            .into();
        let body = json!({
            "model": self.model,
            "messages": [{"role": "system", "content": ask.system}, {"role": "user", "content": ask.user}],
            "temperature": 0,
            "max_tokens": ask.most_tokens,
            "stream": false,
        });
        let mut call = agent.post(&self.url).header("Content-Type", "application/json");
        if let Some(key) = &self.key {
            call = call.header("Authorization", format!("Bearer {}", key.trim()));
        }
        let answer = call.send(body.to_string()).map_err(|cause| failed(&cause))?;
        let status = answer.status();
        let mut text = Vec::new();
        let reader = answer.into_body().into_reader();
        reader.take(MOST_BYTES).read_to_end(&mut text).map_err(|cause| failed(&cause))?;
        if !status.is_success() {
            let said: String = String::from_utf8_lossy(&text).chars().take(REFUSAL_CHARS).collect();
            let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
            return Err(format!("{} answered {status}: {said}", self.url));
        }
        let completion: Completion = serde_json::from_slice(&text)
            .map_err(|cause| format!("{} did not answer with a chat completion: {cause}", self.url))?;
        let first = completion.choices.into_iter().next();
        first
            .and_then(|choice| choice.message.content)
            .ok_or_else(|| format!("{} answered with no text", self.url))
    }
}

#[cfg(test)]
mod tests {
    mod triples;

    use super::*;
    use bower_core::Engine;
    use bower_core::item::{Gate, MemoryType, Rerank, Scored, Visibility};
    use bower_core::prompt::PromptText;
    use bower_core::request::{ConsolidateRequest, Consolidated, CurateRequest};
    use serde_json::Value;
    use std::net::SocketAddr;

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

    fn ask(settings: &Settings, key: Option<&str>, timeout_ms: u64) -> Result<String> {
        let ask = Ask {
            system: PromptText::own("be brief"),
            user: PromptText::own("hello \"there\""),
            most_tokens: 7,
        };
        let llm = chosen(settings, |name| {
            assert_eq!(name, "BOWER_LLM_KEY");
            key.map(str::to_owned)
        });
        llm.unwrap().complete(&ask, Duration::from_millis(timeout_ms))
    }

    fn fails(settings: &Settings, timeout_ms: u64, expected: &str) {
        let error = ask(settings, Some("secret-key"), timeout_ms).unwrap_err().to_string();
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
            assert_eq!((&body["max_tokens"], &body["stream"]), (&json!(7), &json!(false)));
        }
    }

    #[test]
    fn whatever_a_server_does_wrong_is_one_line() {
        let check = |status, said: String, expected: &str| {
            fails(&settings(answers(Some((status, said))).address()), 20_000, expected);
        };
        let refusal = "{\n  \"error\": \"bad key\"\n}".to_owned();
        check("401 Unauthorized", refusal, "answered 401 Unauthorized: { \"error\": \"bad key\" }");
        check("200 OK", "<html>hello</html>".into(), "did not answer with a chat completion");
        check("200 OK", json!({"choices": []}).to_string(), "answered with no text");
        let tool = json!({"choices": [{"message": {"content": null}}]});
        check("200 OK", tool.to_string(), "answered with no text");
        fails(&settings(nobody()), 20_000, "cannot ask http://127.0.0.1:");
    }

    #[test]
    fn a_slow_server_is_left_after_the_time_that_it_has() {
        let start = Instant::now();
        fails(&settings(answers(None).address()), 60, "no answer from http://127.0.0.1:");
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
                Some(llm) => engine.with_llm(llm),
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
        refused(settings(answers(None).address()), "no answer from http://127.0.0.1:");
        refused(settings(nobody()), "cannot ask http://127.0.0.1:");
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
                .with_llm(llm)
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
        let got = engine.rerank(&Visibility::everything(), "where?", &ranked, 10, Rerank::Llm).unwrap();
        assert_eq!((got.order, got.degraded), (vec![1, 0], None));
        let asked = body(&server)["messages"][1]["content"].to_string();
        assert!(asked.contains("Question: where?") && asked.contains("[2] the bridge"), "{asked}");
        let server = says("As a language model, I cannot.");
        let got = home(settings(server.address()))
            .rerank(&Visibility::everything(), "where?", &ranked, 10, Rerank::Llm)
            .unwrap();
        assert_eq!(got.order, [0, 1]);
        assert!(got.degraded.unwrap().reason.contains("no [N]:score"));
    }
}
