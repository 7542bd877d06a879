//! Downloads files from the model hub over HTTP.
//! An interrupted transfer keeps its bytes, and the next request asks only for the rest.

use std::borrow::Cow;
use std::path::Path;
use std::time::Duration;

use bower_core::{Error, Result, files};
use ureq::http::{Response, StatusCode};
use ureq::{Agent, Body};

use super::files::{Cut, land, length, part_path, pour, remove};
use super::known::KnownFile;
use super::told::{FetchError, Fetched, PullStep};

/// Time limit for connecting. It is short, because without a network the next source waits for it.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Longest silence before a server counts as gone. A slow server that keeps sending does not.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(30);
/// Most interrupted transfers that are continued in one pull. Each must have received something.
const RESUMES: usize = 8;

/// Reason why a request did not return the rest of a file.
enum Refused {
    /// Another request may succeed.
    Broken(String),
    /// Another request will fail too.
    Final(String),
    /// The server sent something else than the file.
    WrongContent(String),
    /// The local disk failed.
    Disk(Error),
}

/// Fetches files of a repository into a folder.
pub(super) fn fetch(
    repository: &str,
    base_url: &str,
    missing: &[&KnownFile],
    folder: &Path,
    report: &mut dyn FnMut(PullStep<'_>),
) -> Result<Fetched, FetchError> {
    let agent = agent();
    let mut fetched = Fetched::default();
    for file in missing {
        let url = address(base_url, repository, &file.name);
        let told = |reason| format!("cannot fetch {url}: {reason}");
        fetch_file(&agent, &url, file, folder, report, &mut fetched).map_err(|refused| match refused {
            Refused::Broken(reason) | Refused::Final(reason) => FetchError::Unavailable(told(reason)),
            Refused::WrongContent(reason) => FetchError::WrongContent(told(reason)),
            Refused::Disk(error) => FetchError::Local(error),
        })?;
    }
    Ok(fetched)
}

/// Returns the length of a file of a repository, and its checksum if it is stored as a large file; `None` if the repository has
/// no such file.
pub(super) fn describe(repository: &str, base_url: &str, name: &str) -> Result<Option<KnownFile>> {
    let url = address(base_url, repository, name);
    let found = length_and_sum(&agent(), &url).map_err(|reason| Error::Model {
        model: repository.into(),
        reason: format!("cannot fetch {url}: {reason}"),
    })?;
    let known = |(bytes, sha256): (u64, Option<String>)| KnownFile {
        name: Cow::Owned(name.to_owned()),
        bytes,
        sha256: sha256.map(Cow::Owned),
    };
    Ok(found.map(known))
}

/// Returns a file's length and SHA-256. For a large file, the hub sends both in the redirect to its location; for others it
/// sends only the length. `None` if it has no such file.
fn length_and_sum(agent: &Agent, url: &str) -> Result<Option<(u64, Option<String>)>, String> {
    let first = agent.head(url).config().max_redirects(0).build().call().map_err(|cause| words(&cause))?;
    let text = |answer: &Response<Body>, name: &str| {
        answer.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
    };
    if first.status().is_success() || first.status().is_redirection() {
        let sum = text(&first, "x-linked-etag").map(|sum| sum.trim_matches('"').to_lowercase());
        let sum = sum.filter(|sum| sum.len() == 64 && sum.bytes().all(|byte| byte.is_ascii_hexdigit()));
        if let Some(bytes) = text(&first, "x-linked-size").and_then(|bytes| bytes.parse().ok()) {
            return Ok(Some((bytes, sum)));
        }
    }
    let last = if first.status().is_redirection() {
        agent.head(url).call().map_err(|cause| words(&cause))?
    } else {
        first
    };
    if last.status() == StatusCode::NOT_FOUND {
        return Ok(None);
    }
    if !last.status().is_success() {
        return Err(format!("the server answered {}", last.status()));
    }
    let bytes = text(&last, "content-length").and_then(|bytes| bytes.parse().ok());
    bytes.map(|bytes| Some((bytes, None))).ok_or_else(|| "the server does not say how long it is".into())
}

fn address(base_url: &str, repository: &str, file: &str) -> String {
    format!("{}/{repository}/resolve/main/{file}", base_url.trim_end_matches('/'))
}

fn agent() -> Agent {
    Agent::config_builder()
        .timeout_resolve(Some(CONNECT_TIMEOUT))
        .timeout_connect(Some(CONNECT_TIMEOUT))
        .timeout_recv_response(Some(SILENCE_TIMEOUT))
        .timeout_per_read(Some(SILENCE_TIMEOUT))
        // With a compressed answer, lengths and ranges would not apply.
        .accept_encoding("identity")
        .user_agent(concat!("bowerbird/", env!("CARGO_PKG_VERSION")))
        .http_status_as_error(false)
        .build()
        .into()
}

fn fetch_file(
    agent: &Agent,
    url: &str,
    file: &KnownFile,
    folder: &Path,
    report: &mut dyn FnMut(PullStep<'_>),
    fetched: &mut Fetched,
) -> Result<(), Refused> {
    let part = part_path(folder, &file.name);
    let kept = || length(&part).map(|found| found.unwrap_or(0)).map_err(Refused::Disk);
    if kept()? > file.bytes {
        remove(&part).map_err(Refused::Disk)?;
    }
    // Bytes of an earlier pull may belong to another file; only the checksum at the end can show that.
    let mut inherited = kept()?;
    let mut resumes = 0;
    loop {
        let before = kept()?;
        if before < file.bytes {
            let mut from = before;
            let answer = request(agent, url, file, &part, &mut from, report);
            let now = kept()?;
            inherited = inherited.min(from);
            fetched.fetched_bytes += now.saturating_sub(from);
            match answer {
                Ok(()) if now == file.bytes => {}
                Ok(()) | Err(Refused::Broken(_)) if now > from && resumes < RESUMES => {
                    resumes += 1;
                    continue;
                }
                Ok(()) => return Err(Refused::Broken(kept_words("the server stopped", now, file))),
                Err(Refused::Broken(reason)) => return Err(Refused::Broken(kept_words(&reason, now, file))),
                Err(other) => return Err(other),
            }
        }
        match land(folder, file, report).map_err(Refused::Disk)? {
            None => {
                fetched.resumed_bytes += inherited;
                return Ok(());
            }
            // The old beginning may be the reason: the file is fetched once more from the start.
            Some(_) if inherited > 0 => inherited = 0,
            Some(reason) => return Err(Refused::WrongContent(format!("what came {reason}"))),
        }
    }
}

/// Requests the file from `from` on and appends the answer. Sets `from` to 0 if the server sends the whole file.
fn request(
    agent: &Agent,
    url: &str,
    file: &KnownFile,
    part: &Path,
    from: &mut u64,
    report: &mut dyn FnMut(PullStep<'_>),
) -> Result<(), Refused> {
    let mut call = agent.get(url);
    if *from > 0 {
        call = call.header("Range", format!("bytes={from}-"));
    }
    let answer = call.call().map_err(|cause| Refused::Broken(words(&cause)))?;
    let failed = |cause| Refused::Disk(Error::io("write", part, cause));
    let mut opened = match answer.status() {
        StatusCode::OK => {
            *from = 0;
            files::create(part).map_err(failed)?
        }
        StatusCode::PARTIAL_CONTENT if *from > 0 => {
            let range = answer.headers().get("content-range").and_then(|value| value.to_str().ok());
            let range = range.unwrap_or("nothing");
            if !range.starts_with(&format!("bytes {from}-")) {
                return Err(Refused::Final(format!("asked for bytes {from}-, the server gave {range}")));
            }
            files::append(part).map_err(failed)?
        }
        StatusCode::RANGE_NOT_SATISFIABLE => {
            remove(part).map_err(Refused::Disk)?;
            let reason = format!("the server has a file of at most {from} bytes, not {}", file.bytes);
            return Err(Refused::Final(reason));
        }
        status if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS => {
            return Err(Refused::Broken(format!("the server answered {status}")));
        }
        status => return Err(Refused::Final(format!("the server answered {status}"))),
    };
    report(PullStep::File { file: &file.name, bytes: file.bytes, have: *from });
    match pour(&mut answer.into_body().into_reader(), &mut opened, part, file, *from, report) {
        Ok(()) => Ok(()),
        Err(Cut::Source(cause)) => Err(Refused::Broken(cause.to_string())),
        Err(Cut::Disk(error)) => Err(Refused::Disk(error)),
        Err(Cut::TooLong) => {
            drop(opened);
            remove(part).map_err(Refused::Disk)?;
            Err(Refused::WrongContent(format!("the server sends more than {} bytes", file.bytes)))
        }
    }
}

fn kept_words(reason: &str, have: u64, file: &KnownFile) -> String {
    if have == 0 {
        return reason.to_owned();
    }
    format!("{reason}; {have} of {} bytes are kept, pull again to continue", file.bytes)
}

/// Formats an error of the HTTP library so that network problems are recognised.
fn words(cause: &ureq::Error) -> String {
    match cause {
        ureq::Error::HostNotFound => "the host is unknown: no network?".into(),
        ureq::Error::Timeout(_) => format!("no answer in time ({cause})"),
        other => other.to_string(),
    }
}
