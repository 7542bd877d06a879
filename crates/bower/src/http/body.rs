//! Reads JSON request bodies and writes JSON responses, both within size limits.

use axum::body::{Body, Bytes, HttpBody};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bower_core::shared;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::Write;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;

use super::app::{App, BODIES_KIB};
use super::problem::Problem;

/// Step in which a body reserves memory, in KiB.
const ROOM_KIB: usize = 64;
/// Maximum number of JSON values in a body: a thousand documents with two hundred fields each. In memory they take
/// about 30 MB.
const MOST_VALUES: usize = 250_000;
/// Longest response in bytes. Responses are held in memory whole, so longer ones are refused.
const MOST_ANSWERED: usize = 64 << 20;

/// Reads the whole body of a request; returns it with the memory permit that it holds. Only bytes that have arrived
/// reserve memory: a client that announces a body and does not send it blocks no other.
pub async fn read_body(
    app: &App,
    headers: &HeaderMap,
    mut body: Body,
) -> Result<(Bytes, Option<OwnedSemaphorePermit>), Problem> {
    let most = app.options.body_bytes;
    let too_long = || {
        Problem::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("the body is longer than {most} bytes"),
            "send less at a time; bower serve --max-body raises it",
        )
    };
    let told =
        headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    if told.is_some_and(|told| told > most) {
        return Err(too_long());
    }
    let mut room = None;
    let mut bytes: Vec<u8> = Vec::new();
    // Time limit for the next bytes. The request's time limit covers the whole body.
    let patience = app.options.connections.head_time;
    loop {
        let next = std::future::poll_fn(|context| Pin::new(&mut body).poll_frame(context));
        let Some(frame) = tokio::time::timeout(patience, next).await.map_err(|_| too_slow(patience))? else {
            break;
        };
        let frame = frame.map_err(|_| Problem::bad("the body broke off"))?;
        if let Ok(data) = frame.into_data() {
            if bytes.len() + data.len() > most {
                return Err(too_long());
            }
            let needed = bytes.len() + data.len();
            if needed > bytes.capacity() {
                // Reserved capacity counts, not only the bytes in it.
                let wanted = needed.max(2 * bytes.len()).min(most);
                widen(app, &mut room, wanted)?;
                bytes.reserve_exact(wanted - bytes.len());
            }
            bytes.extend_from_slice(&data);
        }
    }
    let form = headers.get(header::CONTENT_TYPE).map(|value| value.to_str().unwrap_or(""));
    let essence = form.map(|form| form.split(';').next().unwrap_or("").trim().to_ascii_lowercase());
    let is_json = match essence.as_deref() {
        None => bytes.is_empty(),
        Some(essence) => essence == "application/json" || essence.ends_with("+json"),
    };
    if !is_json {
        return Err(Problem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "the request does not say that its body is JSON",
            "send it with Content-Type: application/json",
        ));
    }
    Ok((bytes.into(), room))
}

fn too_slow(patience: Duration) -> Problem {
    let what = format!("nothing more of the body came for {} s", patience.as_secs_f64());
    Problem::new(StatusCode::REQUEST_TIMEOUT, what, "send it again, without a pause").ending_connection()
}

/// Reserves the memory that `bytes` need beyond what `room` holds. It fails at once instead of waiting: two requests
/// that each hold a part could otherwise wait for each other.
fn widen(app: &App, room: &mut Option<OwnedSemaphorePermit>, bytes: usize) -> Result<(), Problem> {
    let taken = room.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
    let wanted = (bytes / 1_024 + 1).next_multiple_of(ROOM_KIB).min(BODIES_KIB);
    let more = wanted.saturating_sub(taken) as u32;
    if more == 0 {
        return Ok(());
    }
    let permit = Arc::clone(&app.bodies).try_acquire_many_owned(more).map_err(|_| {
        Problem::later(
            StatusCode::SERVICE_UNAVAILABLE,
            "the bodies of other requests fill the memory for them",
            1,
        )
    })?;
    match room {
        Some(room) => room.merge(permit),
        None => *room = Some(permit),
    }
    Ok(())
}

/// Serializes a response to JSON, up to the size limit.
pub fn to_json<T: Serialize>(value: &T) -> Result<Vec<u8>, Problem> {
    let mut bounded = Bounded { bytes: Vec::with_capacity(512), most: MOST_ANSWERED };
    match serde_json::to_writer(&mut bounded, value) {
        Ok(()) => Ok(bounded.bytes),
        Err(error) if error.is_io() => {
            Err(Problem::bad(format!("the answer is longer than {} MB: ask for less", MOST_ANSWERED >> 20)))
        }
        Err(error) => Err(Problem::internal(format!("cannot write JSON: {error}"))),
    }
}

struct Bounded {
    bytes: Vec<u8>,
    most: usize,
}

impl Write for Bounded {
    fn write(&mut self, more: &[u8]) -> std::io::Result<usize> {
        if self.bytes.len() + more.len() > self.most {
            return Err(std::io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(more);
        Ok(more.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Refuses a body with too many JSON values: in memory they would take many times its length.
pub fn check_values(json: &[u8]) -> Result<(), Problem> {
    shared::check_values(json, MOST_VALUES).map_err(|why| {
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, format!("body: {why}"), "send less at a time")
    })
}

/// Parses a request body, which must be a JSON object; an empty body is an object without fields. Serde would accept an
/// array as the fields in order, and an empty array would run a prune.
pub fn body_of<B: DeserializeOwned>(bytes: &[u8]) -> Result<B, Problem> {
    let text: &[u8] = if bytes.is_empty() { b"{}" } else { bytes };
    if !text.trim_ascii_start().starts_with(b"{") {
        return Err(Problem::bad("body: it is no JSON object"));
    }
    check_values(text)?;
    serde_json::from_slice(text).map_err(|why| Problem::bad(format!("body: {why}")))
}

/// Builds a successful response with a JSON body.
pub fn json(bytes: impl Into<Body>) -> Response {
    ([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], bytes.into()).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_an_end() {
        let mut bounded = Bounded { bytes: Vec::new(), most: 8 };
        assert!(serde_json::to_writer(&mut bounded, "123456").is_ok());
        let mut bounded = Bounded { bytes: Vec::new(), most: 8 };
        assert!(serde_json::to_writer(&mut bounded, "1234567").unwrap_err().is_io());
    }
}
