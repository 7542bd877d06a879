//! Defines what a tool is: how it is described, what a call of it is given, and what it does to the store.

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

/// One call, on the thread that works for it.
pub struct Call<'a> {
    /// The operations.
    pub service: &'a Service,
    /// What the caller may reach.
    pub bounds: &'a Bounds,
    /// The clock.
    pub now: Timestamp,
    /// The conversation that this server belongs to, where it belongs to one.
    pub session: Option<&'a str>,
    /// How far an index run is.
    pub progress: &'a (dyn Fn(IndexProgress) + Sync),
    /// False once the caller has cancelled.
    pub go_on: &'a (dyn Fn() -> bool + Sync),
}

impl Call<'_> {
    /// Runs an operation of the service on what was sent, and tells its answer.
    pub fn run<B: DeserializeOwned, A>(
        &self,
        given: Given<'_>,
        run: fn(&Service, &B, &Bounds, Timestamp) -> Served<A>,
        tell: impl FnOnce(&A, Timestamp) -> Response,
    ) -> Served<Response> {
        Ok(tell(&run(self.service, &given.understood()?, self.bounds, self.now)?, self.now))
    }
}

/// What a caller sent, with what it may be.
pub struct Given<'a> {
    /// The tool's name.
    pub tool: &'static str,
    /// As sent.
    pub arguments: Map<String, Value>,
    /// The body's schema.
    pub body: &'a Value,
}

impl Given<'_> {
    /// As the operation takes it.
    pub fn understood<T: DeserializeOwned>(self) -> Result<T> {
        arguments::understood(self.tool, self.arguments, self.body)
    }
}

/// What a tool does to the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    Reads,
    /// It adds, or sets a mark or takes it out: nothing is lost by it.
    Keeps,
    /// What is there is replaced, archived or deleted.
    Changes,
}

impl Effect {
    /// Whether it only reads, else whether it destroys; what keeps says that it reaches nobody outside, for Codex asks before it runs
    /// what may. Beyond that each word is paid for.
    pub fn hints(self) -> ToolAnnotations {
        let hints = ToolAnnotations::new();
        match self {
            Self::Reads => hints.read_only(true),
            Self::Keeps => hints.destructive(false).open_world(false),
            Self::Changes => hints.destructive(true),
        }
    }
}

/// A tool as it is written down.
pub struct Tool {
    /// What it is called.
    pub name: &'static str,
    /// What a model is told.
    pub about: &'static str,
    /// The arguments that a model is told of.
    pub shown: &'static [(&'static str, &'static str)],
    /// Those that must be there.
    pub required: &'static [&'static str],
    /// What it does.
    pub effect: Effect,
    /// Its body's schema.
    pub body: fn() -> Value,
    /// Its answer's schema.
    pub answer: fn() -> Value,
    /// The fields of the answer that a model is told of, see [`schema::of_told`](super::schema::of_told).
    pub told: &'static [&'static str],
    /// Does it.
    pub call: fn(&Call<'_>, Given<'_>) -> Served<Response>,
}

impl Tool {
    /// Whether somebody with these bounds may ever be served by it: what is always refused is not offered.
    pub fn is_within(&self, bounds: &Bounds) -> bool {
        match self.name {
            "memory_index" => bounds.access >= Access::Admin,
            "memory_prune" => bounds.may_all(self.name).is_ok(),
            _ => self.effect == Effect::Reads || bounds.access >= Access::Write,
        }
    }
}

/// No arguments.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}
