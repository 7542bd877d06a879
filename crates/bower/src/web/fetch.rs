//! Fetches one address over HTTP: the only file that opens connections for `bower index`.
//!
//! An address that is not on the public internet is refused after its name is resolved. The connection goes to the addresses
//! that were checked, so a name that resolves differently a moment later changes nothing.

use std::collections::HashMap;
use std::io::Read;
use std::time::{Duration, Instant};

use ureq::config::Config;
use ureq::http::{Response, Uri};
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};
use ureq::{Agent, Body, Error};
use url::Url;

use super::address::is_global;

/// Time limit for resolving a name and for connecting.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Longest silence of a server.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(30);
/// Time limit for one answer: a server that sends a byte a minute holds a run no longer.
const ANSWER_TIMEOUT: Duration = Duration::from_mins(5);

/// Fetches addresses, one after the other, with a pause between two requests to one host.
pub struct Fetcher {
    agent: Agent,
    pause: Duration,
    last: HashMap<String, Instant>,
}

/// What an earlier answer said by which a server can tell that nothing changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Validators {
    /// Of its version.
    pub etag: Option<String>,
    /// Of its time.
    pub last_modified: Option<String>,
}

/// The answer to a request.
#[derive(Debug)]
pub(super) enum Answer {
    Content(Content),
    /// The content is what it was (304).
    Unchanged,
    /// There is no such page any more (404, 410).
    Gone,
    /// Another client error: of robots.txt it means that there are no rules.
    Refused(String),
    /// The page is elsewhere.
    Moved(String),
    /// There is no usable answer, for this reason.
    Failed(String),
}

/// Content with what its headers say.
#[derive(Debug)]
pub(super) struct Content {
    pub bytes: Vec<u8>,
    pub media_type: String,
    pub robots: Vec<String>,
    pub validators: Validators,
}

impl Fetcher {
    /// Makes a fetcher that waits for `pause` between two requests to one host. `private` allows addresses that are not on the
    /// public internet.
    pub fn new(pause: Duration, private: bool) -> Self {
        let config = Agent::config_builder()
            .timeout_resolve(Some(CONNECT_TIMEOUT))
            .timeout_connect(Some(CONNECT_TIMEOUT))
            .timeout_recv_response(Some(SILENCE_TIMEOUT))
            .timeout_per_read(Some(SILENCE_TIMEOUT))
            .timeout_global(Some(ANSWER_TIMEOUT))
            .user_agent(concat!(
                "bowerbird/",
                env!("CARGO_PKG_VERSION"),
                " (bower index, started by a person)"
            ))
            .http_status_as_error(false)
            // Each new address is checked by the caller, and a proxy would resolve names where nobody checks them.
            .max_redirects(0)
            .proxy(None)
            .build();
        let resolver = CheckedResolver { inner: DefaultResolver::default(), private };
        let agent = Agent::with_parts(config, DefaultConnector::default(), resolver);
        Self { agent, pause, last: HashMap::new() }
    }

    /// Fetches an address, unless it is as `known`; content of more than `most` bytes, when unpacked, is a failure. The host
    /// itself may ask for a longer pause than the fetcher's.
    pub(super) fn get(
        &mut self,
        address: &Url,
        known: &Validators,
        most: u64,
        pause: Option<Duration>,
    ) -> Answer {
        self.wait(address, pause);
        let mut request = self.agent.get(address.as_str());
        if let Some(etag) = &known.etag {
            request = request.header("If-None-Match", etag);
        }
        if let Some(time) = &known.last_modified {
            request = request.header("If-Modified-Since", time);
        }
        match request.call() {
            Ok(answer) => read(answer, most),
            Err(error) => Answer::Failed(words(&error)),
        }
    }

    fn wait(&mut self, address: &Url, pause: Option<Duration>) {
        let host = address.host_str().unwrap_or_default().to_owned();
        let pause = self.pause.max(pause.unwrap_or_default());
        if let Some(last) = self.last.get(&host) {
            std::thread::sleep(pause.saturating_sub(last.elapsed()));
        }
        self.last.insert(host, Instant::now());
    }
}

fn read(mut answer: Response<Body>, most: u64) -> Answer {
    let status = answer.status();
    let texts = |name: &str| -> Vec<String> {
        let values = answer.headers().get_all(name).iter();
        values.filter_map(|value| value.to_str().ok().map(str::to_owned)).collect()
    };
    let text = |name: &str| texts(name).into_iter().next();
    match status.as_u16() {
        200 => {}
        304 => return Answer::Unchanged,
        404 | 410 => return Answer::Gone,
        301 | 302 | 303 | 307 | 308 => {
            return text("location")
                .map_or_else(|| Answer::Failed(format!("{status} to nowhere")), Answer::Moved);
        }
        400..=499 if status.as_u16() != 429 => {
            return Answer::Refused(format!("the server answered {status}"));
        }
        _ => return Answer::Failed(format!("the server answered {status}")),
    }
    let validators = Validators { etag: text("etag"), last_modified: text("last-modified") };
    let (media_type, robots) = (text("content-type").unwrap_or_default(), texts("x-robots-tag"));
    let mut bytes = Vec::new();
    let body = answer.body_mut().with_config().limit(u64::MAX).reader();
    match body.take(most.saturating_add(1)).read_to_end(&mut bytes) {
        Ok(_) if bytes.len() as u64 > most => Answer::Failed(format!("it has more than {most} bytes")),
        Ok(_) => Answer::Content(Content { bytes, media_type, robots, validators }),
        Err(cause) => Answer::Failed(format!("the answer broke off: {cause}")),
    }
}

/// Why an address is refused.
const PRIVATE: &str = "it is not on the public internet; --private-addresses allows it";

fn words(error: &Error) -> String {
    match error {
        Error::Timeout(_) => "no answer in time".into(),
        Error::HostNotFound => "its host is not known".into(),
        Error::Other(other) if other.to_string() == PRIVATE => PRIVATE.into(),
        other => other.to_string(),
    }
}

/// Resolves names like the default resolver, and refuses a name of which any address is not on the public internet.
#[derive(Debug)]
struct CheckedResolver {
    inner: DefaultResolver,
    private: bool,
}

impl Resolver for CheckedResolver {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, Error> {
        let found = self.inner.resolve(uri, config, timeout)?;
        if self.private || found.iter().all(|address| is_global(address.ip())) {
            Ok(found)
        } else {
            Err(Error::Other(PRIVATE.into()))
        }
    }
}
