//! Serves the fixtures of the protocol's conformance suite beside the server's own tools at /mcp.
//! It is `bower serve` with the tools, prompts and resources that the suite calls. `scripts/clients.sh` runs this test
//! with an address to listen on; without one the test does nothing.

use rmcp::ServerHandler;
use rmcp::model::*;
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::Duration;

use super::Handler;
use crate::http::{self, Options, connections, followers, limits};
use crate::service::Service;
use bower_core::config::{Serve, Settings};
use bower_core::engine::Engine;
use jiff::Timestamp;

/// Environment variable with the address to listen on; the script sets it.
const ADDRESS: &str = "BOWER_TEST_CONFORMANCE";
/// Longest run of the suite. The server exits after it, in case the script was killed before it could end the server.
const LONGEST: Duration = Duration::from_mins(10);

/// A PNG of one grey pixel, in base64.
const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==";
/// A WAV without samples, in base64.
const SILENCE: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

type Answer<T> = std::result::Result<T, ErrorData>;
type Context = RequestContext<RoleServer>;

/// The handler with the suite's fixtures.
#[derive(Clone)]
struct Fixtures(Handler);

/// Returns a tool of the suite without arguments.
fn plain(name: &'static str) -> Tool {
    Tool::new(name, "For the conformance suite", object(json!({"type": "object", "properties": {}})))
}

fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(fields) => fields,
        _ => JsonObject::new(),
    }
}

impl ServerHandler for Fixtures {
    fn get_info(&self) -> ServerConfig {
        self.0.get_info()
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        if name == "test_custom_header" { Some(custom_header()) } else { self.0.get_tool(name) }
    }

    async fn list_tools(
        &self,
        page: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Answer<ListToolsResult> {
        let mut listed = self.0.list_tools(page, context).await?;
        listed.tools.extend(
            [
                "test_simple_text",
                "test_image_content",
                "test_audio_content",
                "test_embedded_resource",
                "test_multiple_content_types",
                "test_error_handling",
                "test_tool_with_progress",
                "test_logging_tool",
                "test_missing_capability",
                "test_streaming_elicitation",
                "test_reconnection",
            ]
            .map(plain),
        );
        listed.tools.extend([custom_header(), json_schema()]);
        Ok(listed)
    }

    async fn call_tool(&self, request: CallToolRequestParams, context: Context) -> Answer<CallToolResponse> {
        let text = |text: &str| CallToolResult::success(vec![ContentBlock::text(text)]);
        let resource = || {
            ContentBlock::resource(
                ResourceContents::text("An embedded resource.", "test://embedded-resource")
                    .with_mime_type("text/plain"),
            )
        };
        let result = match request.name.as_ref() {
            "test_simple_text" => text("This is a simple text response for testing."),
            "test_image_content" => CallToolResult::success(vec![ContentBlock::image(PIXEL, "image/png")]),
            "test_audio_content" => CallToolResult::success(vec![ContentBlock::audio(SILENCE, "audio/wav")]),
            "test_embedded_resource" => CallToolResult::success(vec![resource()]),
            "test_multiple_content_types" => CallToolResult::success(vec![
                ContentBlock::text("Several kinds:"),
                ContentBlock::image(PIXEL, "image/png"),
                resource(),
            ]),
            "test_error_handling" => CallToolResult::error(vec![ContentBlock::text(
                "This tool intentionally returns an error for testing",
            )]),
            "test_tool_with_progress" => {
                for done in [0.0, 50.0, 100.0] {
                    if let Some(token) = context.meta.get_progress_token() {
                        let step = ProgressNotificationParam::new(token, done).with_total(100.0);
                        let _ = context.peer.notify_progress(step).await;
                    }
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
                text("done")
            }
            "test_custom_header" => {
                let arguments = request.arguments.unwrap_or_default();
                text(arguments.get("value").and_then(Value::as_str).unwrap_or_default())
            }
            "json_schema_2020_12_tool" => text("understood"),
            "test_logging_tool" | "test_reconnection" => text("nothing to say"),
            "test_missing_capability" => {
                let mut needed = ClientCapabilities::default();
                needed.sampling = Some(SamplingCapability::default());
                return Err(ErrorData::missing_required_client_capability(needed));
            }
            "test_streaming_elicitation" => {
                return Ok(InputRequiredResult::from_input_requests(question()).into());
            }
            _ => return self.0.call_tool(request, context).await,
        };
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        page: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Answer<ListResourcesResult> {
        let mut listed = self.0.list_resources(page, context).await?;
        listed.resources.push(Resource::new("test://static-text", "text").with_mime_type("text/plain"));
        listed.resources.push(Resource::new("test://static-binary", "bytes").with_mime_type("image/png"));
        Ok(listed)
    }

    async fn list_resource_templates(
        &self,
        page: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Answer<ListResourceTemplatesResult> {
        let mut listed = self.0.list_resource_templates(page, context).await?;
        let template =
            ResourceTemplate::new("test://template/{id}/data", "data").with_mime_type("application/json");
        listed.resource_templates.push(template);
        Ok(listed)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: Context,
    ) -> Answer<ReadResourceResponse> {
        let uri = request.uri.clone();
        let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
        let contents = match (uri.as_str(), id) {
            ("test://static-text", _) => {
                ResourceContents::text("A text that stays.", &uri).with_mime_type("text/plain")
            }
            ("test://static-binary", _) => ResourceContents::blob(PIXEL, &uri).with_mime_type("image/png"),
            (_, Some(id)) => {
                let data = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
                ResourceContents::text(data.to_string(), &uri).with_mime_type("application/json")
            }
            _ => return self.0.read_resource(request, context).await,
        };
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn list_prompts(
        &self,
        page: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Answer<ListPromptsResult> {
        let mut listed = self.0.list_prompts(page, context).await?;
        let argument = |name: &str| PromptArgument::new(name).with_required(true);
        let prompt = |name: &str, arguments: Option<Vec<PromptArgument>>| {
            Prompt::new(name, Some("For the conformance suite"), arguments)
        };
        listed.prompts.extend([
            prompt("test_simple_prompt", None),
            prompt("test_prompt_with_arguments", Some(vec![argument("arg1"), argument("arg2")])),
            prompt("test_prompt_with_embedded_resource", Some(vec![argument("resourceUri")])),
            prompt("test_prompt_with_image", None),
        ]);
        Ok(listed)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: Context,
    ) -> Answer<GetPromptResponse> {
        let argument =
            |name: &str| super::prompts::argument(request.arguments.as_ref(), name).unwrap_or_default();
        let text = |text: String| PromptMessage::new_text(Role::User, text);
        let messages = match request.name.as_str() {
            "test_simple_prompt" => vec![text("This is a simple prompt for testing.".into())],
            "test_prompt_with_arguments" => {
                vec![text(format!(
                    "Prompt with arguments: arg1='{}', arg2='{}'",
                    argument("arg1"),
                    argument("arg2")
                ))]
            }
            "test_prompt_with_embedded_resource" => {
                let resource =
                    ResourceContents::text("Embedded resource content for testing.", argument("resourceUri"))
                        .with_mime_type("text/plain");
                vec![
                    PromptMessage::new(Role::User, ContentBlock::resource(resource)),
                    text("Please process the embedded resource above.".into()),
                ]
            }
            "test_prompt_with_image" => vec![
                PromptMessage::new(Role::User, ContentBlock::image(PIXEL, "image/png")),
                text("Please analyze the image above.".into()),
            ],
            _ => return self.0.get_prompt(request, context).await,
        };
        Ok(GetPromptResult::new(messages).into())
    }

    async fn complete(&self, request: CompleteRequestParams, context: Context) -> Answer<CompleteResult> {
        match request.r#ref.as_prompt_name() {
            Some(name) if name.starts_with("test_") => {
                let values = ["paris", "park", "party"].map(String::from);
                let values = values.into_iter().filter(|value| value.starts_with(&request.argument.value));
                Ok(super::completions::told(values.collect()))
            }
            _ => self.0.complete(request, context).await,
        }
    }
}

/// Returns a tool with an argument that is also sent as a header.
fn custom_header() -> Tool {
    let schema = json!({
        "type": "object",
        "properties": {"value": {"type": "string", "x-mcp-header": "Value"}},
        "required": ["value"],
    });
    Tool::new("test_custom_header", "For the conformance suite", object(schema))
}

/// Returns a question to the client's user.
fn question() -> InputRequests {
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
    let form = ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: "What is your name?".into(),
        requested_schema: serde_json::from_value(schema).unwrap(),
    };
    InputRequests::from_iter([("name".to_owned(), InputRequest::Elicitation(ElicitRequest::new(form)))])
}

/// Returns a tool whose schema has keywords of JSON Schema 2020-12 that must reach the client unchanged.
fn json_schema() -> Tool {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            },
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false,
    });
    Tool::new("json_schema_2020_12_tool", "For the conformance suite", object(schema))
}

#[test]
fn serves_the_conformance_suite_where_it_is_told_to() {
    let Ok(address) = std::env::var(ADDRESS) else { return };
    let address: SocketAddr = address.parse().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    let settings = Settings { model: "none".into(), ..Settings::default() };
    let service = Service::new(Engine::open(&home, settings, Timestamp::now()).unwrap());
    let serve = Serve::default();
    let options = Options {
        bind: address.ip(),
        port: address.port(),
        hosts: Vec::new(),
        origins: Vec::new(),
        body_bytes: 8 << 20,
        request_time: Duration::from_mins(1),
        grace: Duration::from_secs(1),
        limits: limits::Rules { rate: 0, ..limits::Rules::of(&serve) },
        connections: connections::Rules::of(&serve),
        followers: followers::Rules::of(&serve),
        prune_every: None,
    };
    std::thread::spawn(|| {
        std::thread::sleep(LONGEST);
        std::process::exit(1);
    });
    let models = home.join("models");
    http::serve(|app| http::handler(app).map(Fixtures), service, &home, models, options, None, |_, _| Ok(()))
        .unwrap();
}
