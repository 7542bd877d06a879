//! Calls the operations as one caller in tests, without a connection and at a time that the test sets.

use axum::body::Bytes;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::app::App;
use super::auth::Caller;
use super::clock::now;
use super::operations::{self, Operation, Raw};
use super::problem::Problem;
use super::{events, export, openapi};
use crate::service::{Bounds, Service};

pub use super::clock::set_clock;

/// Returns every route with its method, as the `OpenAPI` document lists them: `POST /api/v1/query`.
pub fn routes() -> Vec<String> {
    let document = openapi::document();
    let paths = document["paths"].as_object().expect("the document lists paths").iter();
    let methods = paths.flat_map(|(path, item)| {
        let methods = item.as_object().into_iter().flat_map(serde_json::Map::keys);
        methods.map(move |method| format!("{} {path}", method.to_uppercase()))
    });
    methods.collect()
}

/// A server as one caller sees it.
pub struct Probe {
    app: Arc<App>,
    caller: Caller,
    operations: Vec<Operation>,
}

impl Probe {
    /// Creates a server for a caller with these bounds who may index these folders.
    pub fn new(service: Service, home: &Path, bounds: Bounds, folders: Vec<PathBuf>) -> Self {
        let app = App::sample_of(service, home);
        Self { app, caller: Caller::bound(bounds, folders), operations: operations::all() }
    }

    /// Returns the service behind the server.
    pub fn service(&self) -> &Service {
        &self.app.service
    }

    /// Returns the operations: id in the `OpenAPI` document, and route.
    pub fn operations(&self) -> Vec<(&'static str, String)> {
        let method = |operation: &Operation| if operation.takes_body() { "POST" } else { "GET" };
        self.operations.iter().map(|one| (one.id, format!("{} {}", method(one), one.path))).collect()
    }

    /// Returns the response of an operation as text.
    pub fn call(&self, operation: &str, id: &str, query: &str, body: &Value) -> String {
        let run = self.operations.iter().find(|one| one.id == operation).map(|one| &one.run);
        let run = run.unwrap_or_else(|| panic!("no operation {operation}"));
        let body = Bytes::from(body.to_string());
        match run(&self.app, &self.caller, Raw { id: id.into(), query: query.into(), body }) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(problem) => told(problem),
        }
    }

    /// Returns all events of the stream of changes. Change numbers are set to 0, because they are opaque to the caller
    /// and only their order matters.
    pub fn events(&self) -> String {
        let (mut text, mut after) = (String::new(), 0);
        loop {
            match events::page(&self.app, Some(&self.caller), after) {
                Ok(page) => {
                    for mut change in page.changes {
                        change.change = 0;
                        let _ = writeln!(text, "{}", json!(change));
                    }
                    if page.last == after {
                        return text;
                    }
                    after = page.last;
                }
                Err(problem) => return text + &told(problem),
            }
        }
    }

    /// Returns the lines of an export.
    pub fn export(&self, body: &Value) -> String {
        let body = serde_json::from_value(body.clone()).expect("the test knows the body");
        let wanted = match export::wanted(&body, &self.caller.bounds) {
            Ok(wanted) => wanted,
            Err(problem) => return told(problem),
        };
        let mut out = Vec::new();
        let engine = self.service().engine();
        let visibility = self.caller.bounds.visibility();
        match engine.export_lines(&visibility, &wanted, &mut out, Path::new("the answer"), now()) {
            Ok(_) => String::from_utf8_lossy(&out).into_owned(),
            Err(error) => told(error.into()),
        }
    }
}

fn told(problem: Problem) -> String {
    let status = problem.status;
    format!("{status} {}", json!(problem.told()))
}
