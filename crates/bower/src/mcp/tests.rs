//! Tests the handler over a transport of its own, with lines of JSON, on a store without a model.

mod graph;

use super::*;
use crate::failure::Failure;
use bower_core::config::Settings;
use bower_core::engine::Engine;
use bower_core::item::Scope;
use rmcp::ServiceExt;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};

/// A client that sends and receives lines of JSON.
struct Client {
    read: BufReader<ReadHalf<DuplexStream>>,
    write: WriteHalf<DuplexStream>,
    asked: i64,
    /// Received messages that are not responses.
    notes: Vec<Value>,
    /// Metadata that every request of the newer era carries.
    meta: Option<Value>,
}

impl Client {
    /// Connects without sending anything.
    fn of(handler: &Handler) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (read, write) = tokio::io::split(theirs);
        let stdio = Stdio::new(read, write);
        let handler = handler.clone();
        tokio::spawn(async move {
            if let Ok(running) = handler.serve(stdio).await {
                let _ = running.waiting().await;
            }
        });
        let (read, write) = tokio::io::split(ours);
        Self { read: BufReader::new(read), write, asked: 0, notes: Vec::new(), meta: None }
    }

    /// Connects and does the handshake of the older era.
    async fn initialized(handler: &Handler) -> Self {
        let mut client = Self::of(handler);
        client.initialize("2025-06-18").await;
        client
    }

    /// Connects in the newer era, which has no handshake.
    fn stateless(handler: &Handler) -> Self {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        Self { meta: Some(meta), ..Self::of(handler) }
    }

    async fn initialize(&mut self, version: &str) -> Value {
        let params = json!({
            "protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}
        });
        let answer = self.ask("initialize", params).await;
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        answer["result"].clone()
    }

    async fn send(&mut self, message: &Value) {
        self.write.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn hear(&mut self) -> Value {
        let mut line = String::new();
        let read = self.read.read_line(&mut line);
        tokio::time::timeout(Duration::from_secs(20), read).await.expect("an answer in time").unwrap();
        serde_json::from_str(&line).unwrap_or_else(|why| panic!("{why}: {line:?}"))
    }

    /// Sends a request, and returns its id without waiting for the response.
    async fn begin(&mut self, method: &str, mut params: Value) -> i64 {
        self.asked += 1;
        if let Some(meta) = &self.meta {
            let whole = params["_meta"].take();
            params["_meta"] = meta.clone();
            for (key, value) in whole.as_object().into_iter().flatten() {
                params["_meta"][key] = value.clone();
            }
        }
        let id = self.asked;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
        id
    }

    async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params).await;
        loop {
            let heard = self.hear().await;
            if heard["id"] == id {
                return heard;
            }
            self.notes.push(heard);
        }
    }

    /// Returns the result of a tool.
    async fn call(&mut self, name: &str, arguments: Value) -> Value {
        let answer = self.ask("tools/call", json!({"name": name, "arguments": arguments})).await;
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].clone()
    }

    /// Returns the fields of a successful result.
    async fn fields(&mut self, name: &str, arguments: Value) -> Value {
        let result = self.call(name, arguments).await;
        assert_eq!(result["isError"], false, "{result}");
        assert!(!result["content"][0]["text"].as_str().unwrap().trim().is_empty(), "{result}");
        result["structuredContent"].clone()
    }

    /// Returns the text of a failed result.
    async fn trouble(&mut self, name: &str, arguments: Value) -> String {
        let result = self.call(name, arguments).await;
        assert_eq!(result["isError"], true, "{result}");
        assert!(result.get("structuredContent").is_none(), "{result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }
}

fn store(home: &Path) -> Result<Service> {
    let settings = Settings { model: "none".into(), ..Settings::default() };
    Ok(Service::new(Engine::open(home, settings, Timestamp::now()).map_err(Failure::from)?))
}

fn lazily(home: &Path, options: Options) -> Handler {
    let place = home.to_path_buf();
    handler(Arc::new(Workers::lazy(home.join("memory.db"), move || store(&place))), options).unwrap()
}

/// Runs a test with a handler on an empty store.
fn with<F: Future<Output = ()>>(options: Options, story: impl FnOnce(Handler, PathBuf) -> F) {
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let home = folder.path().join("home");
    runtime.block_on(story(lazily(&home, options), folder.path().to_path_buf()));
    runtime.shutdown_timeout(Duration::from_secs(20));
}

#[test]
fn the_list_of_tools_says_what_it_must_and_costs_no_more() {
    with(Options::default(), async |handler, _| {
        let answer = Client::initialized(&handler).await.ask("tools/list", json!({})).await;
        let listed = &answer["result"];
        insta::assert_json_snapshot!("tools", listed);
        // About 4.3 bytes each of o200k_base's tokens, which scripts/clients.sh counts where Node is installed.
        let bytes = serde_json::to_string(listed).unwrap().len();
        assert!(bytes <= 7_300, "{bytes} bytes: more than 1,700 tokens are too dear");
        for tool in listed["tools"].as_array().unwrap() {
            assert!(tool["annotations"].is_object() && tool["outputSchema"]["type"] == "object", "{tool}");
            let name = tool["name"].as_str().unwrap();
            let reads = ["search", "get", "list", "history", "status"].contains(&&name["memory_".len()..]);
            assert_eq!(tool["annotations"]["readOnlyHint"] == true, reads, "{tool}");
            // Every tool that writes has an explicit hint, so that a host need not know the protocol's default.
            assert_ne!(tool["annotations"]["destructiveHint"].is_boolean(), reads, "{tool}");
        }
    });
}

#[test]
fn every_version_of_the_handshake_is_answered_in_kind() {
    with(Options::default(), async |handler, _| {
        for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
            let mut client = Client::of(&handler);
            let answer = client.initialize(version).await;
            assert_eq!(answer["protocolVersion"], version);
            assert_eq!(answer["serverInfo"]["name"], "bowerbird");
            let found = client.fields("memory_search", json!({"query": "anything"})).await;
            assert_eq!(found["results"], json!([]));
        }
        // An unknown version gets the newest one that has a handshake.
        assert_eq!(Client::of(&handler).initialize("2099-01-01").await["protocolVersion"], "2025-11-25");
    });
}

#[test]
fn the_era_without_a_handshake() {
    with(Options::default(), async |handler, _| {
        let mut client = Client::stateless(&handler);
        let found = client.ask("server/discover", json!({})).await["result"].clone();
        assert!(found["supportedVersions"].as_array().unwrap().contains(&json!("2026-07-28")), "{found}");
        assert!(found["capabilities"]["tools"].is_object() && found["instructions"].is_string(), "{found}");
        let kept = client.fields("memory_store", json!({"content": "The API port is 9090"})).await;
        assert_eq!((&kept["outcome"], &kept["accepted"]), (&json!("create"), &json!(true)));
        let listed = client.ask("tools/list", json!({})).await["result"].clone();
        assert_eq!((&listed["ttlMs"], &listed["cacheScope"]), (&json!(3_600_000), &json!("private")));
        assert_eq!(listed["resultType"], "complete");
        // Without its metadata a request does not state its version.
        client.meta = None;
        let refused = client.ask("tools/list", json!({})).await;
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
    });
}

#[test]
fn a_memory_lives_its_life_by_tools() {
    with(Options { session: Some("one".into()), ..Options::default() }, async |handler, folder| {
        let mut client = Client::initialized(&handler).await;
        let kept = client
            .fields(
                "memory_store",
                json!({"content": "The API port is 8080", "type": "fact", "tags": ["api"]}),
            )
            .await;
        let id = kept["id"].as_str().unwrap().to_owned();
        let newer =
            client.fields("memory_store", json!({"content": "The API port is 9090", "tags": ["api"]})).await;
        assert_eq!(newer["outcome"], "supersede");
        let found = client.fields("memory_search", json!({"query": "which port has the API?"})).await;
        let first = &found["results"][0];
        assert!(first["text"].as_str().unwrap().contains("9090"), "{found}");
        assert_eq!((&first["id"], &first["tags"]), (&newer["id"], &json!(["api"])));
        assert!(first["score"].to_string().len() <= 5, "{first}");
        assert!(first["source"].as_str().unwrap().contains("fact"), "{first}");
        assert!(found["notes"][0].as_str().unwrap().contains("vector not searched"), "{found}");
        let past = client.fields("memory_history", json!({"id": id})).await;
        assert_eq!(past["chain"].as_array().unwrap().len(), 2);
        assert_eq!(past["chain"][1]["changed"], "8080 -> 9090");
        let got = client.fields("memory_get", json!({"id": newer["id"]})).await;
        assert_eq!(
            (&got["memory"]["content"], &got["memory"]["source_conv_id"]),
            (&json!("The API port is 9090"), &json!("one"))
        );
        let judged = client.fields("memory_feedback", json!({"id": newer["id"], "verdict": "useful"})).await;
        assert!(judged["confidence"].as_f64() > judged["confidence_before"].as_f64(), "{judged}");
        let page = client.fields("memory_list", json!({"tags": "api"})).await;
        assert_eq!((&page["total"], &page["memories"][0]["type"]), (&json!(1), &json!("fact")));
        assert_eq!(client.fields("memory_review", json!({})).await["reviews"], json!([]));
        assert_eq!(client.fields("memory_prune", json!({"dry_run": true})).await["pruned"], 0);
        let told = client.trouble("memory_consolidate", json!({"dry_run": true})).await;
        assert!(
            told.contains("there is no model") && told.contains("tell the user: bower model pull"),
            "{told}"
        );
        std::fs::create_dir(folder.join("docs")).unwrap();
        std::fs::write(folder.join("docs/CANONICAL.md"), "# Rules\n\n## Water\n\nNever at noon.\n").unwrap();
        let report = client.fields("memory_index", json!({"paths": [folder.join("docs")]})).await;
        assert_eq!((&report["files"], &report["indexed"]), (&json!(1), &json!(1)));
        let state = client.fields("memory_status", json!({})).await;
        assert_eq!((&state["total_memories"], &state["total_documents"]), (&json!(1), &json!(1)));
        let gone = client.fields("memory_forget", json!({"ids": [newer["id"]]})).await;
        assert!(gone["receipt"]["items"].as_u64().unwrap() >= 1, "{gone}");
        assert!(
            client.trouble("memory_get", json!({"id": newer["id"]})).await.contains("memory_list shows ids")
        );
    });
}

#[test]
fn a_caller_says_what_a_memory_is_to_an_earlier_one() {
    with(Options { tools: Choice::All, ..Options::default() }, async |handler, _| {
        let mut client = Client::initialized(&handler).await;
        let mut store = async |body: Value| client.fields("memory_store", body).await;
        let old = store(json!({"content": "Deploys happen on Friday night"})).await["id"].clone();
        let new = store(json!({"content": "We ship when the zephyr shift ends"})).await["id"].clone();
        let settled = client.fields("memory_settle", json!({"id": new, "confirms": old})).await;
        assert_eq!(
            (&settled["ruling"], &settled["memory"]["status"]),
            (&json!("confirms"), &json!("variant")),
            "{settled}"
        );
        let found = client.fields("memory_search", json!({"query": "zephyr shift"})).await;
        assert_eq!((&found["results"][0]["id"], found["results"].as_array().unwrap().len()), (&old, 1));
        let past = client.fields("memory_history", json!({"id": old})).await;
        assert_eq!(past["wordings"][0]["text"], "We ship when the zephyr shift ends", "{past}");
        let undone = client.fields("memory_undo", json!({"event": settled["event"]})).await;
        assert_eq!(undone["unmoved"], json!([]));
        let replaced = client
            .fields("memory_store", json!({"content": "Deploys happen at noon", "replaces": old}))
            .await;
        assert_eq!((&replaced["outcome"], &replaced["other"]["id"]), (&json!("supersede"), &old));
        let trouble = client.trouble("memory_settle", json!({"id": new, "replaces": old})).await;
        assert!(trouble.contains(replaced["id"].as_str().unwrap()), "{trouble}");
        assert!(client.trouble("memory_settle", json!({"id": new})).await.contains("name one"));
    });
}

#[test]
fn what_was_kept_is_pinned_and_taken_back() {
    with(Options { tools: Choice::All, ..Options::default() }, async |handler, _| {
        let mut client = Client::initialized(&handler).await;
        let kept = client.fields("memory_store", json!({"content": "The API port is 8080"})).await;
        let id = kept["id"].clone();
        let pinned = client.fields("memory_pin", json!({"id": id})).await;
        assert_eq!(pinned["memory"]["tier"], 1);
        let brief = client.fields("memory_brief", json!({"task": "find the API", "budget": "lite"})).await;
        assert_eq!(brief["entries"][0]["id"], id, "{brief}");
        let judged = client.fields("memory_feedback", json!({"id": id, "verdict": "stale"})).await;
        let undone = client.fields("memory_undo", json!({"event": judged["event"]})).await;
        assert_eq!((&undone["items"], &undone["unmoved"]), (&json!([id]), &json!([])));
        assert!(client.trouble("memory_undo", json!({"event": 9_999})).await.contains("no event 9999"));
        client.fields("memory_store", json!({"content": "The lamp is blue", "tags": ["lamp"]})).await;
        let renamed = client.fields("memory_tags_rename", json!({"tags": ["lamp"], "to": "light"})).await;
        let tags = client.fields("memory_tags", json!({})).await;
        assert_eq!((&renamed["memories"], &tags["tags"][0]["tag"]), (&json!(1), &json!("light")), "{tags}");
        // A turn may be long, because it is a text and not a name.
        let said = format!("We decided to water at dawn. {}", "It was hot all week. ".repeat(500));
        let turns = json!({"conversation": "c1", "turns": [{"speaker": "user", "text": said}]});
        assert_eq!(client.fields("memory_turns", turns.clone()).await["turns"], 1);
        assert_eq!(client.fields("memory_turns", turns).await["turns"], 0);
    });
}

#[test]
fn what_goes_wrong_is_told_to_whom_it_concerns() {
    with(Options::default(), async |handler, _| {
        let mut client = Client::initialized(&handler).await;
        let told = client.trouble("memory_search", json!({"query": "x", "top_k": 3})).await;
        assert!(told.starts_with("memory_search failed: wrong arguments: unknown field `top_k`"), "{told}");
        assert!(told.contains("\nwhat to do: call memory_search again; it takes"), "{told}");
        assert!(client.trouble("memory_search", json!({})).await.contains("query is empty"));
        assert!(
            client.trouble("memory_search", json!({"query": "x", "limit": 99})).await.contains("1 to 50")
        );
        assert!(client.trouble("memory_store", json!({"content": " "})).await.contains("content is empty"));
        assert!(
            client
                .trouble("memory_store", json!({"content": "x".repeat(1_100_000)}))
                .await
                .contains("1048576 bytes")
        );
        assert!(client.trouble("memory_forget", json!({"ids": []})).await.contains("name those to forget"));
        assert!(client.trouble("memory_forget", json!({"ids": ["ffffff"]})).await.contains("no item ffffff"));
        assert!(client.trouble("memory_review", json!({"review": 7})).await.contains("add ruling"));
        assert!(
            client
                .trouble("memory_review", json!({"review": 7, "ruling": "both"}))
                .await
                .contains("no open review 7")
        );
        assert!(
            client
                .trouble("memory_index", json!({"paths": ["notes"]}))
                .await
                .contains("path notes is relative")
        );
        // Errors outside a tool call are protocol errors.
        for (method, params, code) in [
            ("tools/call", json!({"name": "memory_serach"}), -32602),
            ("tools/call", json!({"arguments": {}}), -32602),
            ("resources/read", json!({"uri": "bower://item/ffffff"}), -32002),
            ("resources/read", json!({"uri": "file:///etc/passwd"}), -32002),
            ("prompts/get", json!({"name": "recall"}), -32602),
            ("prompts/get", json!({"name": "unknown"}), -32602),
            ("tools/explode", json!({}), -32601),
        ] {
            let answer = client.ask(method, params.clone()).await;
            assert_eq!(answer["error"]["code"], code, "{method} {params}: {answer}");
        }
        assert!(client.fields("memory_status", json!({})).await["index_healthy"].is_boolean());
    });
}

#[test]
fn a_store_that_cannot_be_opened_is_a_failed_call_and_no_more() {
    with(Options::default(), async |_, folder| {
        let home = folder.join("broken");
        std::fs::write(&home, "a file where a folder should be").unwrap();
        let handler = lazily(&home, Options::default());
        let mut client = Client::initialized(&handler).await;
        let told = client.trouble("memory_search", json!({"query": "x"})).await;
        assert!(told.contains("memory_search failed: cannot"), "{told}");
        assert_eq!(
            client.ask("tools/list", json!({})).await["result"]["tools"].as_array().unwrap().len(),
            13
        );
        let read = client.ask("resources/read", json!({"uri": "bower://memory/canonical"})).await;
        assert_eq!(read["error"]["code"], -32603, "{read}");
        let typed = json!({"ref": {"type": "ref/prompt", "name": "recall"}, "argument": {"name": "tag", "value": ""}});
        assert_eq!(
            client.ask("completion/complete", typed).await["result"]["completion"]["values"],
            json!([])
        );
        // Once the problem is fixed, calls work without a restart.
        std::fs::remove_file(&home).unwrap();
        client.fields("memory_store", json!({"content": "The pump is in the shed"})).await;
        // A new store at the same path is opened as such.
        std::fs::rename(&home, folder.join("aside")).unwrap();
        assert_eq!(client.fields("memory_status", json!({})).await["total_memories"], 0);
        client.fields("memory_store", json!({"content": "The hose is in the cellar"})).await;
        let other = store(&home).unwrap();
        assert_eq!(other.status(&Bounds::default()).unwrap().by_collection()["memories"], 1);
    });
}

#[test]
fn a_panic_is_one_failed_call() {
    with(Options::default(), async |_, folder| {
        let (calls, home) = (AtomicUsize::new(0), folder.join("home"));
        let place = home.clone();
        let workers = Workers::lazy(home.join("memory.db"), move || {
            assert!(calls.fetch_add(1, Ordering::Relaxed) > 0, "the first one is unlucky");
            store(&place)
        });
        let handler = handler(Arc::new(workers), Options::default()).unwrap();
        let mut client = Client::initialized(&handler).await;
        let told = client.trouble("memory_status", json!({})).await;
        assert!(told.contains("internal error: the first one is unlucky"), "{told}");
        assert_eq!(client.fields("memory_status", json!({})).await["total_memories"], 0);
    });
}

#[test]
fn no_argument_leaves_the_bounds_of_a_server() {
    with(Options::default(), async |handler, folder| {
        let mut all = Client::initialized(&handler).await;
        let kept = |owner: &str, collection: &str| json!({"content": format!("{owner} waters in {collection} at dawn"), "owner": owner, "collection": collection, "scope": "agent"});
        let theirs = all.fields("memory_store", kept("bob", "garden")).await["id"].clone();
        let other = all.fields("memory_store", kept("ann", "work")).await["id"].clone();
        let mine = all.fields("memory_store", kept("ann", "garden")).await["id"].clone();
        let bounds = Bounds {
            scope: Some(Scope::Agent),
            owner: Some("ann".into()),
            collections: vec!["garden".into()],
            ..Bounds::default()
        };
        let bound =
            lazily(&folder.join("home"), Options { within: Within::These(bounds), ..Options::default() });
        let mut ann = Client::initialized(&bound).await;
        let listed = ann.ask("tools/list", json!({})).await["result"]["tools"].to_string();
        assert!(!listed.contains("memory_prune"), "{listed}");
        let found = ann.fields("memory_search", json!({"query": "who waters at dawn?"})).await;
        assert_eq!(found["results"].as_array().unwrap().len(), 1, "{found}");
        assert_eq!(found["results"][0]["id"], mine);
        for outside in
            [json!({"owner": "bob"}), json!({"scope": "project"}), json!({"collections": ["work"]})]
        {
            let mut arguments = json!({"query": "dawn"});
            arguments.as_object_mut().unwrap().extend(outside.as_object().unwrap().clone());
            assert!(ann.trouble("memory_search", arguments).await.contains("is outside of"));
            assert!(ann.trouble("memory_list", outside).await.contains("is outside of"));
        }
        for id in [&theirs, &other] {
            for (tool, arguments) in [
                ("memory_get", json!({"id": id})),
                ("memory_history", json!({"id": id})),
                ("memory_feedback", json!({"id": id, "verdict": "wrong"})),
                ("memory_forget", json!({"ids": [id]})),
            ] {
                let told = ann.trouble(tool, arguments).await;
                assert!(told.contains(&format!("no item {}", id.as_str().unwrap())), "{tool}: {told}");
            }
            let read = ann
                .ask("resources/read", json!({"uri": format!("bower://item/{}", id.as_str().unwrap())}))
                .await;
            assert_eq!(read["error"]["code"], -32002, "{read}");
        }
        assert!(
            ann.trouble("memory_store", json!({"content": "Bob's secret", "owner": "bob"}))
                .await
                .contains("outside of")
        );
        let place =
            ann.fields("memory_store", json!({"content": "The shed is locked at night"})).await["id"].clone();
        let got = all.fields("memory_get", json!({"id": place})).await["memory"].clone();
        assert_eq!(
            (&got["owner"], &got["scope"], &got["collection"]),
            (&json!("ann"), &json!("agent"), &json!("garden"))
        );
        let ids = json!({"ref": {"type": "ref/resource", "uri": "bower://item/{id}"}, "argument": {"name": "id", "value": ""}});
        let ids = ann.ask("completion/complete", ids).await["result"]["completion"]["values"].clone();
        assert_eq!(ids.as_array().unwrap().len(), 2, "{ids}");
    });
}

#[test]
fn a_server_that_only_reads_offers_nothing_else() {
    let bounds = Bounds { access: crate::service::Access::Read, ..Bounds::default() };
    with(Options { within: Within::These(bounds), ..Options::default() }, async |handler, _| {
        let mut client = Client::initialized(&handler).await;
        let listed = client.ask("tools/list", json!({})).await["result"]["tools"].clone();
        let names: Vec<_> =
            listed.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["memory_search", "memory_get", "memory_list", "memory_history", "memory_status"]);
        let prompts = client.ask("prompts/list", json!({})).await["result"]["prompts"].clone();
        assert_eq!((prompts.as_array().unwrap().len(), &prompts[0]["name"]), (1, &json!("recall")));
        let refused =
            client.ask("tools/call", json!({"name": "memory_store", "arguments": {"content": "x"}})).await;
        assert_eq!(refused["error"]["code"], -32602);
    });
}

#[test]
fn which_tools_a_server_has() {
    let names = |choice: &str, compat| -> Result<Vec<&'static str>> {
        let choice = if choice.is_empty() { Choice::Usual } else { choice.parse()? };
        Ok(tools::offered(&choice, compat)?.iter().map(|offered| offered.tool.name).collect())
    };
    let core = ["memory_search", "memory_store", "memory_get", "memory_list", "memory_forget"];
    assert_eq!(names("core", None).unwrap(), core);
    assert_eq!(names("", None).unwrap().len(), 13);
    assert_eq!(names("memory_status, memory_search", None).unwrap(), ["memory_search", "memory_status"]);
    assert_eq!(names("", Some(compat::System::Ade)).unwrap(), ["memorySearch", "memoryAdd", "memoryPin"]);
    assert_eq!(names("all", Some(compat::System::Athena)).unwrap().len(), 28);
    assert_eq!(names("", Some(compat::System::Brv)).unwrap(), ["brv-query", "brv-curate"]);
    assert_eq!(names("memory_undo", None).unwrap(), ["memory_undo"]);
    assert!(names("memory_nap", None).unwrap_err().message.contains("no tool memory_nap"));
    assert!(names(",", None).unwrap_err().message.contains("names no tool"));
}

#[test]
fn resources_prompts_and_completions() {
    with(Options { session: Some("a b".into()), ..Options::default() }, async |handler, folder| {
        let mut client = Client::initialized(&handler).await;
        let kept = client
            .fields(
                "memory_store",
                json!({"content": "Ines is allergic to bee stings", "tags": ["people", "bees"]}),
            )
            .await;
        std::fs::create_dir(folder.join("docs")).unwrap();
        let canonical = "# Rules\n\n## Water\n\nNever at noon.\n\n## Bees\n\nAsk Ines first.\n";
        std::fs::write(folder.join("docs/CANONICAL.md"), canonical).unwrap();
        client.fields("memory_index", json!({"paths": [folder.join("docs")], "collection": "rules"})).await;
        let listed = client.ask("resources/list", json!({})).await["result"]["resources"].clone();
        insta::assert_json_snapshot!("resources", listed);
        let templates =
            client.ask("resources/templates/list", json!({})).await["result"]["resourceTemplates"].clone();
        insta::assert_json_snapshot!("templates", templates);
        insta::assert_json_snapshot!(
            "prompts",
            client.ask("prompts/list", json!({})).await["result"]["prompts"]
        );
        let mut text = async |uri: &str| {
            let answer = client.ask("resources/read", json!({"uri": uri})).await;
            assert_eq!(answer["result"]["contents"][0]["uri"], uri, "{answer}");
            answer["result"]["contents"][0]["text"].as_str().unwrap().to_owned()
        };
        let id = kept["id"].as_str().unwrap();
        assert!(text(&format!("bower://item/{}", &id[..8])).await.contains("Ines is allergic"));
        let rules = text("bower://memory/canonical").await;
        assert!(rules.find("Never at noon.").unwrap() < rules.find("Ask Ines first.").unwrap(), "{rules}");
        for uri in ["bower://session/current", "bower://session/a%20b"] {
            let log = text(uri).await;
            assert!(log.starts_with("# Session a b\n") && log.contains("Ines is allergic"), "{log}");
        }
        let recall = json!({"name": "recall", "arguments": {"topic": "bee stings"}});
        let message = client.ask("prompts/get", recall).await["result"]["messages"][0].clone();
        assert_eq!(message["role"], "user");
        let told = message["content"]["text"].as_str().unwrap();
        assert!(told.contains("## Relevant Knowledge") && told.contains("Ines is allergic"), "{told}");
        let nothing = json!({"name": "recall", "arguments": {"topic": "quokka"}});
        let told =
            client.ask("prompts/get", nothing).await["result"]["messages"][0]["content"]["text"].clone();
        assert!(told.as_str().unwrap().starts_with("The memory has nothing about: quokka"), "{told}");
        let wrong = json!({"name": "recall", "arguments": {"topic": "bees", "type": "idea"}});
        let wrong = client.ask("prompts/get", wrong).await["error"].clone();
        assert!(
            wrong["code"] == -32602 && wrong["message"].as_str().unwrap().contains("decision"),
            "{wrong}"
        );
        let save = client.ask("prompts/get", json!({"name": "save", "arguments": {"tag": "bees"}})).await;
        assert!(
            save["result"]["messages"][0]["content"]["text"].as_str().unwrap().contains("memory_store"),
            "{save}"
        );
        let mut complete = async |reference: Value, name: &str, value: &str| {
            let params = json!({"ref": reference, "argument": {"name": name, "value": value}});
            client.ask("completion/complete", params).await["result"]["completion"]["values"].clone()
        };
        let recall = || json!({"type": "ref/prompt", "name": "recall"});
        assert_eq!(complete(recall(), "tag", "#b").await, json!(["bees"]));
        assert_eq!(complete(recall(), "collection", "r").await, json!(["rules"]));
        assert_eq!(complete(recall(), "type", "p").await, json!(["preference", "pattern", "procedure"]));
        let item = json!({"type": "ref/resource", "uri": "bower://item/{id}"});
        assert_eq!(complete(item, "id", &id[..4]).await, json!([id]));
        let session = json!({"type": "ref/resource", "uri": "bower://session/{name}"});
        assert_eq!(complete(session, "name", "").await, json!(["a b"]));
    });
}

#[test]
fn an_index_run_tells_how_far_it_is_and_stops_when_nobody_waits() {
    with(Options::default(), async |handler, folder| {
        let mut client = Client::initialized(&handler).await;
        let docs = folder.join("docs");
        std::fs::create_dir(&docs).unwrap();
        for at in 0..600 {
            std::fs::write(docs.join(format!("{at}.md")), format!("# Note {at}\n\nNumber {at} of many.\n"))
                .unwrap();
        }
        let params =
            json!({"name": "memory_index", "arguments": {"paths": [docs]}, "_meta": {"progressToken": "p1"}});
        let answer = client.ask("tools/call", params.clone()).await;
        assert_eq!(answer["result"]["structuredContent"]["indexed"], 600, "{answer}");
        let told: Vec<f64> = client
            .notes
            .iter()
            .inspect(|note| {
                assert_eq!(
                    (&note["method"], &note["params"]["progressToken"]),
                    (&json!("notifications/progress"), &json!("p1"))
                );
            })
            .map(|note| note["params"]["progress"].as_f64().unwrap())
            .collect();
        assert!(!told.is_empty() && told.windows(2).all(|pair| pair[0] < pair[1]), "{told:?}");
        assert_eq!(told.last(), Some(&601.0), "the last is told before the answer");
        // A call that is cancelled before it can have ended gets no response, and the store lacks a part of the files.
        let more = folder.join("more");
        std::fs::create_dir(&more).unwrap();
        for at in 0..4_000 {
            std::fs::write(more.join(format!("{at}.md")), format!("# More {at}\n\nAnother {at} of many.\n"))
                .unwrap();
        }
        let params =
            json!({"name": "memory_index", "arguments": {"paths": [more]}, "_meta": {"progressToken": "p2"}});
        let id = client.begin("tools/call", params).await;
        let step = client.hear().await;
        assert_eq!(step["params"]["progressToken"], "p2", "{step}");
        let cancelled =
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
        client.send(&cancelled).await;
        client.notes.clear();
        let state = client.fields("memory_status", json!({})).await;
        assert!(state["total_documents"].as_u64().unwrap() < 4_600, "{state}");
        assert!(client.notes.iter().all(|note| note["id"] != id), "{:?}", client.notes);
        // Its thread notices the cancellation: what it had not written by then is never written.
        let ended = tokio::time::timeout(Duration::from_secs(20), handler.inner.workers.idle());
        ended.await.expect("the thread ends");
        let later = client.fields("memory_status", json!({})).await["total_documents"].clone();
        assert!(later.as_u64().unwrap() < 4_600, "{later}");
        // The next run continues from there.
        let rest = client.fields("memory_index", json!({"paths": [more]})).await;
        assert_eq!(rest["files"], 4_000);
    });
}

#[test]
fn what_another_process_writes_is_found_by_the_next_call() {
    with(Options::default(), async |handler, folder| {
        let mut client = Client::initialized(&handler).await;
        assert_eq!(client.fields("memory_search", json!({"query": "quokka"})).await["results"], json!([]));
        let other = store(&folder.join("home")).unwrap();
        let body = crate::service::CurateBody {
            content: "The quokka sleeps in the shed".into(),
            ..Default::default()
        };
        let kept = other.curate(&body, &Bounds::default(), Timestamp::now()).unwrap();
        let found = client.fields("memory_search", json!({"query": "quokka"})).await;
        assert_eq!(found["results"][0]["id"], json!(kept.id));
        let gone = crate::service::ForgetBody { ids: vec![kept.id.unwrap()], ..Default::default() };
        other.forget(&gone, &Bounds::default(), Timestamp::now()).unwrap();
        assert_eq!(client.fields("memory_search", json!({"query": "quokka"})).await["results"], json!([]));
    });
}

#[test]
fn a_session_is_given_nothing_twice_also_by_the_next_process() {
    with(Options::default(), async |handler, folder| {
        let mut client = Client::initialized(&handler).await;
        client.fields("memory_store", json!({"content": "The quokka sleeps in the shed"})).await;
        let asked = json!({"query": "quokka shed", "session": "s1"});
        assert_eq!(
            client.fields("memory_search", asked.clone()).await["results"].as_array().unwrap().len(),
            1
        );
        let again = client.fields("memory_search", asked.clone()).await;
        assert_eq!(again["results"], json!([]));
        assert!(again["notes"].to_string().contains("given to this session before"), "{again}");
        // The text of a prefetch is evidence or empty, because it goes into a prompt unchanged.
        let silent = json!({"query": "quokka shed", "session": "s2", "prefetch": true});
        let given = client.call("memory_search", silent.clone()).await;
        let text = given["content"][0]["text"].as_str().unwrap();
        assert!(text.starts_with("## Relevant Knowledge\n") && !text.contains("not searched"), "{text}");
        let again = client.call("memory_search", silent).await;
        assert_eq!((&again["content"][0]["text"], &again["isError"]), (&json!(""), &json!(false)));
        handler.inner.workers.close(|text| panic!("{text}")).await;
        let next = lazily(&folder.join("home"), Options::default());
        assert_eq!(
            Client::initialized(&next).await.fields("memory_search", asked).await["results"],
            json!([])
        );
    });
}

#[test]
fn requests_without_bounds_are_refused_where_each_must_have_its_own() {
    with(Options::default(), async |_, folder| {
        let workers = Arc::new(Workers::of(Arc::new(store(&folder.join("home")).unwrap())));
        let handler = handler(workers, Options { within: Within::OfRequest, ..Options::default() }).unwrap();
        let mut client = Client::initialized(&handler).await;
        let refused = client.ask("tools/call", json!({"name": "memory_status", "arguments": {}})).await;
        assert_eq!(refused["error"]["code"], -32603, "{refused}");
    });
}

#[test]
fn athena_finds_its_own_tools() {
    let options = Options {
        compat: Some(compat::System::Athena),
        session: Some("2026-11-22-01".into()),
        ..Options::default()
    };
    with(options.clone(), async |handler, folder| {
        let mut client = Client::initialized(&handler).await;
        insta::assert_json_snapshot!("athena", client.ask("tools/list", json!({})).await["result"]["tools"]);
        assert!(client.trouble("recall_session", json!({})).await.contains("no session has a log yet"));
        let saved = client
            .fields(
                "quicksave",
                json!({"summary": "Moved the pump to the shed", "bullets": ["- bought a hose", "told Ines"]}),
            )
            .await;
        assert_eq!(
            (&saved["status"], &saved["log_file"]),
            (&json!("ok"), &json!("bower://session/2026-11-22-01"))
        );
        client.fields("quicksave", json!({"summary": "Watered the beans"})).await;
        let recalled = client.fields("recall_session", json!({})).await;
        assert_eq!(recalled["session_id"], "2026-11-22-01");
        let content = recalled["content"].as_str().unwrap();
        assert!(
            content.find("- told Ines").unwrap() < content.find("Watered the beans").unwrap(),
            "{content}"
        );
        assert_eq!(
            client.fields("recall_session", json!({"lines": 1})).await["content"],
            "Watered the beans"
        );
        std::fs::create_dir(folder.join("docs")).unwrap();
        std::fs::write(folder.join("docs/CANONICAL.md"), "# Rules\n\n## Water\n\nNever at noon.\n").unwrap();
        let all = lazily(&folder.join("home"), Options { tools: Choice::All, ..options.clone() });
        Client::initialized(&all).await.fields("memory_index", json!({"paths": [folder.join("docs")]})).await;
        let found = client.fields("smart_search", json!({"query": "when to water?", "strict": false})).await;
        let first = &found["results"][0];
        assert!(first["content"].as_str().unwrap().contains("Never at noon"), "{found}");
        assert!(
            first["rrf_score"].is_number() && first["signals"].is_object() && first["path"].is_string(),
            "{first}"
        );
        assert_eq!((&found["suppressed"], &found["degraded_recall"]), (&json!(0), &json!(true)));
        let health = client.fields("health_check", json!({})).await;
        assert_eq!(
            (&health["database"]["status"], &health["vector_api"]["status"]),
            (&json!("PASS"), &json!("FAIL"))
        );
        let paths = client.fields("list_memory_paths", json!({})).await;
        assert_eq!(paths["active_count"], 1);
        for (uri, words) in [
            ("athena://memory/canonical", "Never at noon"),
            ("athena://session/current", "Watered the beans"),
        ] {
            let read = client.ask("resources/read", json!({"uri": uri})).await;
            assert!(read["result"]["contents"][0]["text"].as_str().unwrap().contains(words), "{read}");
        }
        // A session that has saved nothing yet gets the log of the last one.
        let next = lazily(&folder.join("home"), Options { session: Some("next".into()), ..options });
        assert_eq!(
            Client::initialized(&next).await.fields("recall_session", json!({})).await["session_id"],
            "2026-11-22-01"
        );
    });
}

#[test]
fn ade_finds_its_own_tools() {
    with(Options { compat: Some(compat::System::Ade), ..Options::default() }, async |handler, _| {
        let mut client = Client::initialized(&handler).await;
        insta::assert_json_snapshot!("ade", client.ask("tools/list", json!({})).await["result"]["tools"]);
        let add = json!({"content": "The build needs Rust 1.95", "category": "gotcha", "importance": "high", "scope": "agent"});
        let added = client.fields("memoryAdd", add.clone()).await;
        assert_eq!((&added["saved"], &added["deduped"]), (&json!(true), &json!(false)));
        assert_eq!(client.fields("memoryAdd", add).await["deduped"], true);
        let found = client.fields("memorySearch", json!({"query": "which Rust?", "scope": "agent"})).await;
        let memory = &found["memories"][0];
        assert_eq!(
            (
                &memory["category"],
                &memory["scope"],
                &memory["importance"],
                &memory["status"],
                &memory["tier"]
            ),
            (&json!("gotcha"), &json!("agent"), &json!("high"), &json!("promoted"), &json!(2))
        );
        assert_eq!((&found["count"], &found["embeddings"]), (&json!(1), &json!(false)));
        assert_eq!(
            client.fields("memorySearch", json!({"query": "Rust", "scope": "mission"})).await["count"],
            0
        );
        let pinned = client.fields("memoryPin", json!({"id": memory["id"]})).await;
        assert_eq!((&pinned["pinned"], &pinned["tier"]), (&json!(true), &json!(1)));
        let long = json!({"content": "x".repeat(2_001), "category": "fact"});
        assert!(client.trouble("memoryAdd", long).await.contains("2001 characters"));
        let diff = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n";
        let refused = client.fields("memoryAdd", json!({"content": diff, "category": "fact"})).await;
        assert_eq!(refused["saved"], false);
        assert!(refused["reason"].is_string(), "{refused}");
    });
}
