//! Builds the `OpenAPI` document from the table of operations.
//! `utoipa` builds the paths. Schemas come from the same derives that write the JSON, so that no type is described
//! twice.

use schemars::generate::SchemaSettings;
use schemars::{Schema as JsonSchemaValue, SchemaGenerator};
use serde_json::{Map, Value};
use utoipa::openapi::path::{
    HttpMethod, Operation as Described, OperationBuilder, ParameterBuilder, ParameterIn,
};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{
    ComponentsBuilder, ContentBuilder, HeaderBuilder, InfoBuilder, LicenseBuilder, ObjectBuilder,
    OpenApiBuilder, PathItem, Paths, Ref, RefOr, Required, ResponseBuilder, Schema, Type,
};

use super::app::Work;
use super::events::EventsQuery;
use super::operations::{self, Input, Operation};
use super::problem::Wrong;
use super::runs::RunState;
use crate::service::ExportBody;

/// Location of the schemas in the document.
const SCHEMAS: &str = "#/components/schemas/";

/// Statuses of refusals that every route may return, with their reasons.
const REFUSALS: [(u16, &str); 12] = [
    (400, "The request cannot be acted on."),
    (401, "No token, or none that is in force."),
    (403, "Another Host or Origin, or outside of what the token reaches."),
    (404, "Not found, or outside of what the caller may see."),
    (405, "The route does not take this method."),
    (429, "Too many requests; Retry-After says when to come back."),
    (500, "A fault in bower; the log has the request's id."),
    (503, "The store, the disk or the model does not serve now; Retry-After says when to come back."),
    (504, "It took too long; what was to be written may still be."),
    (408, "Nothing more of the body came for too long; the connection ends."),
    (413, "The body is too long."),
    (415, "The request does not say that its body is JSON."),
];

/// Statuses that only routes with a body return.
const BODY_REFUSALS: [u16; 3] = [408, 413, 415];

/// Generators that collect the schemas by name.
struct Schemas {
    bodies: SchemaGenerator,
    answers: SchemaGenerator,
}

impl Schemas {
    fn new() -> Self {
        let settings = || {
            SchemaSettings::draft2020_12().with(|settings| {
                settings.definitions_path = SCHEMAS.trim_start_matches('#').into();
                settings.meta_schema = None;
            })
        };
        Self {
            bodies: settings().for_deserialize().into_generator(),
            answers: settings().for_serialize().into_generator(),
        }
    }

    /// Returns all schemas. Panics if a type has different schemas in a body and in a response.
    fn finish(mut self) -> Map<String, Value> {
        let mut all = self.answers.take_definitions(true);
        for (name, schema) in self.bodies.take_definitions(true) {
            let same = all.get(&name).is_none_or(|there| *there == schema);
            assert!(same, "{name} is one thing in a body and another in an answer");
            all.insert(name, schema);
        }
        all
    }
}

/// Builds the document as JSON.
pub fn document() -> Value {
    let mut schemas = Schemas::new();
    let mut paths = Paths::new();
    let problem = reference(&schemas.answers.subschema_for::<Wrong>());
    for operation in operations::all() {
        let method = if operation.takes_body() { HttpMethod::Post } else { HttpMethod::Get };
        let described = describe(&operation, &mut schemas, &problem);
        add(&mut paths, operation.path, method, described);
    }
    for (path, method, described) in others(&mut schemas, &problem) {
        add(&mut paths, path, method, described);
    }
    let bearer = SecurityScheme::Http(
        HttpBuilder::new()
            .scheme(HttpAuthScheme::Bearer)
            .description(Some(
                "Made by bower token create. On the loopback none is needed until one is made.",
            ))
            .build(),
    );
    let license =
        LicenseBuilder::new().name("MIT OR Apache-2.0").identifier(Some("MIT OR Apache-2.0")).build();
    let info = InfoBuilder::new()
        .title("Bowerbird")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(
            "A memory and a library for AI agents. Every answer that is no success has one shape: Problem.",
        ))
        .license(Some(license))
        .build();
    let document = OpenApiBuilder::new()
        .info(info)
        .paths(paths)
        .components(Some(ComponentsBuilder::new().security_scheme("token", bearer).build()))
        .security(Some([
            SecurityRequirement::new("token", Vec::<String>::new()),
            SecurityRequirement::default(),
        ]))
        .build();
    let mut document = serde_json::to_value(document).expect("the document is data");
    document["components"]["schemas"] = Value::Object(schemas.finish());
    document
}

fn add(paths: &mut Paths, path: &str, method: HttpMethod, described: Described) {
    match paths.paths.get_mut(path) {
        Some(item) => item.merge_operations(PathItem::new(method, described)),
        None => {
            paths.paths.insert(path.to_owned(), PathItem::new(method, described));
        }
    }
}

/// Returns the reference to a named schema.
fn reference(schema: &JsonSchemaValue) -> RefOr<Schema> {
    let name =
        schema.get("$ref").and_then(Value::as_str).expect("a body and an answer are types with a name");
    RefOr::Ref(Ref::new(name))
}

fn describe(operation: &Operation, schemas: &mut Schemas, problem: &RefOr<Schema>) -> Described {
    let mut builder =
        OperationBuilder::new().operation_id(Some(operation.id)).summary(Some(operation.summary));
    if let Some((_, rest)) = operation.path.split_once('{') {
        let name = rest.split('}').next().unwrap_or(rest);
        builder = builder.parameter(
            ParameterBuilder::new()
                .name(name)
                .parameter_in(ParameterIn::Path)
                .required(Required::True)
                .description(Some(
                    "An id, or its first digits where they are unique; of a review its number, of a run the whole id.",
                ))
                .schema(Some(text())),
        );
    }
    match operation.input {
        Input::Body { schema, is_required } => {
            let required = if is_required { Required::True } else { Required::False };
            let schema = reference(&schema(&mut schemas.bodies));
            builder = builder.request_body(Some(
                RequestBodyBuilder::new()
                    .content("application/json", ContentBuilder::new().schema(Some(schema)).build())
                    .required(Some(required))
                    .build(),
            ));
        }
        Input::Query(schema) => {
            builder = query_parameters(builder, &schema(&mut schemas.bodies), &schemas.bodies);
        }
    }
    let answer = reference(&(operation.answer)(&mut schemas.answers));
    let good = ResponseBuilder::new()
        .description("Done.")
        .content("application/json", ContentBuilder::new().schema(Some(answer)).build());
    let mut builder = builder.response("200", good);
    if operation.work == Work::Long {
        let schema = reference(&schemas.answers.subschema_for::<RunState>());
        let place =
            HeaderBuilder::new().description(Some("Where to ask how it goes on.")).schema(Some(plain_text()));
        let going_on = ResponseBuilder::new()
            .description("It takes longer than a request may, and goes on.")
            .content("application/json", ContentBuilder::new().schema(Some(schema)).build())
            .header("Location", place.build());
        builder = builder.response("202", going_on);
    }
    refusals(builder, problem, operation.takes_body()).build()
}

fn plain_text() -> Schema {
    Schema::Object(ObjectBuilder::new().schema_type(Type::String).build())
}

fn text() -> RefOr<Schema> {
    RefOr::T(plain_text())
}

/// Adds the fields of a type as query parameters.
fn query_parameters(
    mut builder: OperationBuilder,
    schema: &JsonSchemaValue,
    generator: &SchemaGenerator,
) -> OperationBuilder {
    let name = schema.get("$ref").and_then(Value::as_str).and_then(|name| name.rsplit('/').next());
    let definition = name.and_then(|name| generator.definitions().get(name));
    let fields = definition.and_then(|definition| definition["properties"].as_object());
    for (name, field) in fields.into_iter().flatten() {
        builder = builder.parameter(
            ParameterBuilder::new()
                .name(name)
                .parameter_in(ParameterIn::Query)
                .required(Required::False)
                .description(field["description"].as_str().map(str::to_owned))
                .schema(Some(parameter_schema(field))),
        );
    }
    builder
}

/// Returns the schema of a field for a query parameter, which cannot be null.
fn parameter_schema(field: &Value) -> RefOr<Schema> {
    let named = |field: &Value| field["$ref"].as_str().map(str::to_owned);
    let in_any = || field["anyOf"].as_array()?.iter().find_map(named);
    if let Some(reference) = named(field).or_else(in_any) {
        return RefOr::Ref(Ref::new(reference));
    }
    let kind = match &field["type"] {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null"),
        kind => kind.as_str(),
    };
    let object = match kind {
        Some("integer") => {
            let object = ObjectBuilder::new().schema_type(Type::Integer);
            let least = field["minimum"].as_f64().unwrap_or(0.0);
            let most = field["maximum"].as_f64().unwrap_or(if field["format"] == "uint64" {
                9e15
            } else {
                4_294_967_295.0
            });
            object.minimum(Some(least)).maximum(Some(most))
        }
        Some("boolean") => ObjectBuilder::new().schema_type(Type::Boolean),
        _ => ObjectBuilder::new().schema_type(Type::String),
    };
    RefOr::T(Schema::Object(object.build()))
}

/// Adds the responses for refused requests.
fn refusals(mut builder: OperationBuilder, problem: &RefOr<Schema>, has_body: bool) -> OperationBuilder {
    for (status, when) in REFUSALS {
        if !has_body && BODY_REFUSALS.contains(&status) {
            continue;
        }
        let mut response = ResponseBuilder::new()
            .description(when)
            .content("application/json", ContentBuilder::new().schema(Some(problem.clone())).build());
        if matches!(status, 429 | 503) {
            let seconds = ObjectBuilder::new().schema_type(Type::Integer).build();
            let header = HeaderBuilder::new()
                .description(Some("Seconds."))
                .schema(Some(Schema::Object(seconds)))
                .build();
            response = response.header("Retry-After", header);
        }
        builder = builder.response(status.to_string(), response);
    }
    builder
}

/// Describes the routes that are not in the table of operations.
fn others(schemas: &mut Schemas, problem: &RefOr<Schema>) -> Vec<(&'static str, HttpMethod, Described)> {
    let plain = |id: &str, summary: &str, form: &str, what: &str, schema: RefOr<Schema>| {
        let good = ResponseBuilder::new()
            .description(what)
            .content(form, ContentBuilder::new().schema(Some(schema)).build());
        OperationBuilder::new().operation_id(Some(id)).summary(Some(summary)).response("200", good)
    };
    let health = || {
        let field = || ObjectBuilder::new().schema_type(Type::String);
        let object = ObjectBuilder::new().property("status", field()).property("version", field());
        RefOr::T(Schema::Object(object.required("status").required("version").build()))
    };
    let any = || RefOr::T(Schema::Object(ObjectBuilder::new().schema_type(Type::Object).build()));
    let health_route = plain("health", "Whether the process runs", "application/json", "It does.", health());
    let ready = plain("ready", "Whether the store answers", "application/json", "It does.", health());
    let metrics =
        plain("metrics", "Counters and gauges, as Prometheus reads them", "text/plain", "The text.", text());
    let document = plain("openapi", "This document", "application/json", "The document.", any());
    let events = plain(
        "events",
        "Follow the changes of the store, whichever process makes them",
        "text/event-stream",
        "Events named change, whose id is the change's number and whose data is a StoreChange; \
         reset where the store was put back to an earlier change.",
        text(),
    );
    // Clients need the schema of the events' data.
    let _ = schemas.answers.subschema_for::<bower_core::request::StoreChange>();
    let query = schemas.bodies.subschema_for::<EventsQuery>();
    let events = query_parameters(events, &query, &schemas.bodies);
    let body = reference(&schemas.bodies.subschema_for::<ExportBody>());
    let export = plain(
        "export",
        "Write a selection as JSON lines that lose nothing",
        "application/x-ndjson",
        "A header, then one piece a line, as bower export writes them.",
        text(),
    )
    .request_body(Some(
        RequestBodyBuilder::new()
            .content("application/json", ContentBuilder::new().schema(Some(body)).build())
            .required(Some(Required::False))
            .build(),
    ));
    let refused = |builder, has_body| refusals(builder, problem, has_body).build();
    vec![
        ("/health", HttpMethod::Get, refused(health_route, false)),
        ("/ready", HttpMethod::Get, refused(ready, false)),
        ("/metrics", HttpMethod::Get, refused(metrics, false)),
        ("/openapi.json", HttpMethod::Get, refused(document, false)),
        ("/api/v1/events", HttpMethod::Get, refused(events, false)),
        ("/api/v1/export", HttpMethod::Post, refused(export, true)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that every `$ref` resolves, and that every operation has a response and refusals.
    #[test]
    fn the_document_holds_together() {
        let document = document();
        assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
        let mut references = Vec::new();
        collect(&document, &mut references);
        for reference in references {
            let pointer = reference.strip_prefix('#').unwrap_or_else(|| panic!("{reference}"));
            assert!(document.pointer(pointer).is_some(), "{reference} leads nowhere");
        }
        let paths = document["paths"].as_object().unwrap();
        for path in [
            "/api/v1/query",
            "/api/v1/curate",
            "/api/v1/prune",
            "/api/v1/status",
            "/health",
            "/api/v1/events",
        ] {
            assert!(paths.contains_key(path), "{path}");
        }
        for (path, item) in paths {
            for (method, operation) in item.as_object().unwrap() {
                let responses = operation["responses"].as_object().unwrap();
                assert!(responses.contains_key("200") && responses.contains_key("401"), "{method} {path}");
                assert_eq!(responses.contains_key("415"), method == "post", "{method} {path}");
                let is_long = [
                    "/documents",
                    "/index",
                    "/forget",
                    "/sweep",
                    "/prune",
                    "/consolidate",
                    "/graph",
                    "/communities",
                ]
                .iter()
                .any(|long| method == "post" && path.ends_with(long));
                assert_eq!(responses.contains_key("202"), is_long, "{method} {path}");
            }
        }
        let status = &document["components"]["schemas"]["StatusReport"]["properties"];
        assert!(status["total_memories"].is_object(), "{status}");
        assert_eq!(document["paths"]["/api/v1/items"]["get"]["parameters"][0]["in"], "query");
    }

    fn collect(value: &Value, into: &mut Vec<String>) {
        match value {
            Value::Object(fields) => {
                into.extend(fields.get("$ref").and_then(Value::as_str).map(str::to_owned));
                fields.values().for_each(|value| collect(value, into));
            }
            Value::Array(all) => all.iter().for_each(|value| collect(value, into)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}
