//! Defines the description of a tool, the context and arguments of its calls, and its effect on the store.

use bower_core::request::IndexProgress;
use jiff::Timestamp;
use rmcp::model::ToolAnnotations;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::arguments;
use super::responses::Response;
use crate::failure::Result;
use crate::service::{Access, Bounds, Served, Service};

/// Context of one call, on its working thread.
pub struct Call<'a> {
    /// The service that runs the operations.
    pub service: &'a Service,
    /// Access bounds of the caller.
    pub bounds: &'a Bounds,
    /// The current time.
    pub now: Timestamp,
    /// The server's conversation, if it belongs to one.
    pub session: Option<&'a str>,
    /// Receives the progress of an index run.
    pub progress: &'a (dyn Fn(IndexProgress) + Sync),
    /// Returns false once the caller has cancelled.
    pub go_on: &'a (dyn Fn() -> bool + Sync),
}

impl Call<'_> {
    /// Runs an operation of the service on the arguments, and renders its answer.
    pub fn run<B: DeserializeOwned, A>(
        &self,
        given: Given<'_>,
        run: fn(&Service, &B, &Bounds, Timestamp) -> Served<A>,
        tell: impl FnOnce(&A, Timestamp) -> Response,
    ) -> Served<Response> {
        Ok(tell(&run(self.service, &given.understood()?, self.bounds, self.now)?, self.now))
    }
}

/// Arguments of a call, with their schema.
pub struct Given<'a> {
    /// Name of the tool.
    pub tool: &'static str,
    /// The arguments as the caller sent them.
    pub arguments: Map<String, Value>,
    /// Schema of the operation's body.
    pub body: &'a Value,
}

impl Given<'_> {
    /// Parses the arguments into the operation's body.
    pub fn understood<T: DeserializeOwned>(self) -> Result<T> {
        arguments::understood(self.tool, self.arguments, self.body)
    }
}

/// Effect of a tool on the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Reads only.
    Reads,
    /// Adds something, or sets or removes a mark; nothing is lost.
    Keeps,
    /// Replaces, archives or deletes something.
    Changes,
}

impl Effect {
    /// Returns the annotations: whether the tool only reads, otherwise whether it destroys. Tools that add are also
    /// marked as closed to the outside, because Codex asks the user before it runs an open tool. There are no further
    /// hints, because each word costs tokens.
    pub fn hints(self) -> ToolAnnotations {
        let hints = ToolAnnotations::new();
        match self {
            Self::Reads => hints.read_only(true),
            Self::Keeps => hints.destructive(false).open_world(false),
            Self::Changes => hints.destructive(true),
        }
    }
}

/// Definition of a tool.
pub struct Tool {
    /// Name of the tool.
    pub name: &'static str,
    /// Description for the model.
    pub about: &'static str,
    /// Arguments in the listed schema, each with its description; see
    /// [`schema::of_arguments`](super::schema::of_arguments).
    pub shown: &'static [(&'static str, &'static str)],
    /// Required arguments.
    pub required: &'static [&'static str],
    /// Its effect on the store.
    pub effect: Effect,
    /// Returns the schema of its body.
    pub body: fn() -> Value,
    /// Returns the schema of its answer.
    pub answer: fn() -> Value,
    /// Fields of the answer in the listed output schema; see [`schema::of_told`](super::schema::of_told).
    pub told: &'static [&'static str],
    /// Runs the tool.
    pub call: fn(&Call<'_>, Given<'_>) -> Served<Response>,
}

impl Tool {
    /// Whether a caller with these bounds may use the tool for anything. A tool that is always refused is not listed.
    pub fn is_within(&self, bounds: &Bounds) -> bool {
        match self.name {
            "memory_index" => bounds.access >= Access::Admin,
            "memory_prune" | "memory_tags_rename" | "memory_alias" => bounds.may_all(self.name).is_ok(),
            "memory_aliases" => bounds.is_everything(),
            _ => self.effect == Effect::Reads || bounds.access >= Access::Write,
        }
    }
}

/// No arguments.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}
