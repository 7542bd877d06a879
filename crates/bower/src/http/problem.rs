//! Defines every way in which a request can fail, in one shape: what failed, and what to do.
//! Messages go to the client. Only the causes of the server's own faults go to the log, and these never contain a text.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bower_core::Error;
use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::{API, Exit, Failure, Hint};
use crate::service::Refused;

/// A failed request.
#[derive(Debug)]
pub struct Problem {
    /// The HTTP status.
    pub status: StatusCode,
    /// One line that names the failure and its subject.
    pub message: String,
    /// Advice on what to do about it.
    pub hint: Option<String>,
    /// Seconds after which a retry makes sense.
    pub retry_after_s: Option<u64>,
    /// Whether the connection ends with this response.
    pub ends_connection: bool,
    /// Cause of the server's own fault, only for the log.
    pub cause: Option<String>,
}

/// Body of every response that is not a success.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Problem")]
pub struct Wrong {
    /// One line in lower case that names the failure and its subject.
    error: String,
    /// Always `error`.
    status: &'static str,
    /// Advice on what to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

/// Cause of a response, for the log.
#[derive(Clone, Debug)]
pub struct Cause(pub String);

impl Problem {
    /// Creates a problem from a status, a message and a hint.
    pub fn new(status: StatusCode, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            status,
            message: message.into(),
            hint: Some(hint.into()),
            retry_after_s: None,
            ends_connection: false,
            cause: None,
        }
    }

    /// Creates a problem for a request that cannot be acted on.
    pub fn bad(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message, API)
    }

    /// Creates a problem for a caller who may not do this.
    pub fn forbidden(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, message, hint)
    }

    /// Creates a problem for a busy server; the request may be retried after this many seconds.
    pub fn later(status: StatusCode, message: impl Into<String>, seconds: u64) -> Self {
        let mut problem = Self::new(status, message, format!("try again in {seconds} s"));
        problem.retry_after_s = Some(seconds);
        problem
    }

    /// Returns the problem with its connection ended after the response.
    pub fn ending_connection(self) -> Self {
        Self { ends_connection: true, ..self }
    }

    /// Returns the body of the response for the client.
    pub fn told(self) -> Wrong {
        Wrong { error: self.message, status: "error", hint: self.hint }
    }

    /// Creates a problem for a fault of the server itself.
    pub fn internal(cause: impl Into<String>) -> Self {
        Self {
            status: StatusCode::INTERNAL_SERVER_ERROR,
            message: "internal error".into(),
            hint: Some(
                "this is a fault in bower; nothing acknowledged is lost; the log has this request's id"
                    .into(),
            ),
            retry_after_s: None,
            ends_connection: false,
            cause: Some(cause.into()),
        }
    }
}

/// Returns a hint in its form for HTTP clients.
fn http_hint(hint: &Hint) -> &str {
    match hint {
        Hint::Same(words) | Hint::Person(words) => words,
        Hint::Each { command, http, .. } => http.unwrap_or(command),
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        Refused::from(error).into()
    }
}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        let cause = || {
            let all = std::iter::once(&failure.message).chain(&failure.causes);
            all.map(String::as_str).collect::<Vec<_>>().join(": ")
        };
        let hint = failure.hint.as_ref().map(http_hint);
        match failure.exit {
            Exit::Usage => Self::new(StatusCode::BAD_REQUEST, failure.message, hint.unwrap_or(API)),
            Exit::Nothing => Self::new(
                StatusCode::NOT_FOUND,
                failure.message,
                "GET /api/v1/items and GET /api/v1/reviews list what there is",
            ),
            Exit::Environment => {
                let later = Self::later(StatusCode::SERVICE_UNAVAILABLE, failure.message.as_str(), 1);
                Self { hint: hint.map(str::to_owned), cause: Some(cause()), ..later }
            }
            Exit::Internal => Self::internal(cause()),
        }
    }
}

impl From<Refused> for Problem {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Failed(failure) => failure.into(),
            Refused::Outside(failure) => {
                Self::forbidden(failure.message, failure.hint.as_ref().map_or("", http_hint))
            }
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(mut self) -> Response {
        let (status, retry_after_s, cause) = (self.status, self.retry_after_s, self.cause.take());
        let ends_connection = self.ends_connection;
        let body =
            serde_json::to_vec(&self.told()).unwrap_or_else(|_| br#"{"error":"","status":"error"}"#.to_vec());
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(seconds) = retry_after_s {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"bower\""));
        }
        if ends_connection {
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        if let Some(cause) = cause {
            response.extensions_mut().insert(Cause(cause));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::table;
    use bower_core::error::Missing;
    use std::path::PathBuf;

    #[test]
    fn every_error_has_its_status_and_hint() {
        for row in table::rows() {
            let problem = Problem::from((row.error)());
            assert_eq!(problem.status.as_u16(), row.status, "{problem:?}");
            assert_eq!(problem.hint.as_deref(), Some(row.http), "{problem:?}");
        }
    }

    #[test]
    fn every_failure_has_its_status_and_a_hint_without_flags() {
        let check = |problem: Problem, status: u16| {
            assert_eq!(problem.status.as_u16(), status, "{problem:?}");
            assert_eq!(problem.cause.is_some(), status >= 500, "{problem:?}");
            assert!(problem.hint.as_ref().is_some_and(|hint| !hint.contains("--")), "{problem:?}");
        };
        let at = || PathBuf::from("/h/memory.db").into();
        check(Error::invalid("limit", "1 to 50").into(), 400);
        check(Error::NotFound { what: Missing::Item, id: "ff".into() }.into(), 404);
        check(Error::Busy { at: at(), waited_ms: 9 }.into(), 503);
        check(Error::Corrupt { at: at(), reason: "x".into() }.into(), 503);
        check(Failure::internal("x").into(), 500);
        check(Refused::Outside(Failure::usage("x", "y")).into(), 403);
    }
}
