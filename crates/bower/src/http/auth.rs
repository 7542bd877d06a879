//! Authenticates callers, and decides what each may see and do.
//! While no token was ever made, a server on the loopback serves all programs of this machine, but no page that its
//! browsers show. Any other caller needs a token.
//! No argument reaches beyond a token's bounds: what a request leaves out is filled in, and a value outside is refused.

use axum::http::{HeaderMap, StatusCode, header};
use jiff::Timestamp;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use super::problem::Problem;
use super::tokens::{Standing, Token, Tokens};
use crate::failure::{Failure, Result};
use crate::service::{Access, Bounds};

/// Identity that the limits count by: a token, or an address where there is no token.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    /// Hash of the token.
    Token(String),
    /// An address, or its IPv6 network ([`place_of`]).
    Address(IpAddr),
}

impl Key {
    /// Returns the key of a caller without a token.
    pub fn of(address: IpAddr) -> Self {
        Self::Address(place_of(address))
    }

    /// Whether the key covers all programs of this machine. A limit that one of them exceeds must not bind the others.
    pub fn is_everybody(&self) -> bool {
        match self {
            Self::Address(address) => address.is_loopback(),
            Self::Token(_) => false,
        }
    }
}

/// Returns the address that limits count by. An IPv6 address is reduced to its /64 network, because its holder usually
/// has all of it.
pub fn place_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(six) if !six.is_loopback() => {
            let [a, b, c, d, ..] = six.segments();
            std::net::Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        other => other,
    }
}

/// An authenticated caller.
#[derive(Clone, Debug)]
pub struct Caller {
    /// Name for the log: the token's name, or `local`.
    pub name: String,
    /// Key for the limits.
    pub key: Key,
    /// The caller's access and visibility.
    pub bounds: Bounds,
    folders: Vec<PathBuf>,
}

impl Caller {
    /// Creates the caller for a program of this machine, while no token was ever made.
    pub(super) fn local(address: IpAddr) -> Self {
        Self {
            name: "local".into(),
            key: Key::of(address),
            bounds: Bounds { host: Some("http".to_owned()), ..Bounds::default() },
            folders: Vec::new(),
        }
    }

    /// Creates a caller whose token has these bounds and folders.
    #[cfg(test)]
    pub(super) fn bound(bounds: Bounds, folders: Vec<PathBuf>) -> Self {
        Self { name: "bound".into(), key: Key::Token("00ff".into()), bounds, folders }
    }

    fn of(token: Token) -> Self {
        Self {
            bounds: token.bounds(),
            name: token.name,
            key: Key::Token(token.sha256),
            folders: token.folders,
        }
    }

    /// Returns the bounds for MCP, which has no list of allowed folders: nothing of this machine may be indexed there.
    pub fn bounds_elsewhere(&self) -> Bounds {
        Bounds { access: self.bounds.access.min(Access::Write), ..self.bounds.clone() }
    }

    /// Refuses a caller who sees only a part of the store, for requests that concern the whole store.
    pub fn must_see_all(&self) -> Result<(), Problem> {
        if self.bounds.is_everything() { Ok(()) } else { Err(sees_a_part()) }
    }

    /// Returns the canonical path of a folder or file to index, if the token allows it. Links are resolved first, so a
    /// link that leads out of an allowed folder is refused.
    pub fn folder(&self, path: &Path) -> Result<PathBuf, Problem> {
        let refused = || {
            Problem::forbidden(
                format!("{} may not be indexed", path.display()),
                "bower token create NAME --access admin --folder DIR allows a folder; \
                 or run bower index on the server, or send the documents themselves",
            )
        };
        if self.folders.is_empty() || !path.is_absolute() {
            return Err(refused());
        }
        // Only callers with allowed folders learn whether a path exists.
        let real = path.canonicalize().map_err(|_| refused())?;
        let mut allowed = self.folders.iter().filter_map(|folder| folder.canonicalize().ok());
        if allowed.any(|folder| real.starts_with(&folder)) { Ok(real) } else { Err(refused()) }
    }
}

/// Returns the refusal for a caller whose token is limited to a part of the store.
pub fn sees_a_part() -> Problem {
    Problem::forbidden(
        "this needs the whole store; the token is limited to part of it",
        "ask with a token that has no collection, scope or owner",
    )
}

/// Access control of the server: its tokens, host names and origins.
#[derive(Debug)]
pub struct Door {
    tokens: Tokens,
    /// Whether requests need a token. Once set, it stays set: revoking the last token does not open the server.
    takes_tokens: AtomicBool,
    /// Accepted host names beside the loopback's.
    hosts: Vec<String>,
    /// Whether the Host header is checked although requests need a token. The loopback has few names; a server that
    /// others can reach has the names that the user configured.
    checks_hosts: bool,
    /// Other origins whose pages may send requests, as the user configured them.
    origins: Vec<String>,
}

impl Door {
    /// Creates the access control for a listen address. An address beyond the loopback is refused while no token is
    /// active.
    pub fn new(home: &Path, bind: IpAddr, origins: Vec<String>, now: Timestamp) -> Result<Self> {
        let tokens = Tokens::of(home);
        let all = tokens.all()?;
        let in_force = all.iter().filter(|token| token.standing(now) == Standing::Active).count();
        if !bind.is_loopback() && in_force == 0 {
            return Err(Failure::usage(
                format!("{bind} can be reached from elsewhere, and no token is in force"),
                "make one with bower token create NAME, or leave --bind out to serve this machine alone",
            ));
        }
        let takes_tokens = AtomicBool::new(!bind.is_loopback() || !all.is_empty());
        Ok(Self { tokens, takes_tokens, hosts: Vec::new(), checks_hosts: bind.is_loopback(), origins })
    }

    /// Adds accepted host names.
    pub fn under(self, hosts: Vec<String>) -> Self {
        Self { checks_hosts: self.checks_hosts || !hosts.is_empty(), hosts, ..self }
    }

    /// Whether requests need a token.
    pub fn takes_tokens(&self) -> bool {
        if self.takes_tokens.load(Ordering::Relaxed) {
            return true;
        }
        // A token may have been made since the start. A file that cannot be read may hold tokens.
        let some = self.tokens.all().map_or(true, |all| !all.is_empty());
        self.takes_tokens.fetch_or(some, Ordering::Relaxed) || some
    }

    /// Refuses a request that a browser sends for a page of another origin, or to a host name that is not accepted.
    pub fn check_origin(&self, headers: &HeaderMap) -> Result<(), Problem> {
        let texts = |name: header::HeaderName| {
            headers.get_all(name).iter().map(|value| value.to_str().unwrap_or("")).collect::<Vec<_>>()
        };
        let hosts = texts(header::HOST);
        let takes_tokens = self.takes_tokens();
        if !takes_tokens || self.checks_hosts {
            // DNS rebinding: a foreign name that resolves to this machine brings its page's requests here, with that
            // name as Host.
            let is_told = |host: &str| {
                // An address has several spellings.
                let name = name_of(host).map(|name| {
                    name.parse::<IpAddr>().map_or_else(|_| name.to_owned(), |address| address.to_string())
                });
                takes_tokens
                    && name.is_some_and(|name| self.hosts.iter().any(|told| told.eq_ignore_ascii_case(&name)))
            };
            if hosts.is_empty() || !hosts.iter().all(|host| is_loopback_name(host) || is_told(host)) {
                return Err(Problem::forbidden(
                    format!("this server does not answer as {:?}", hosts.first().unwrap_or(&"")),
                    "ask for 127.0.0.1, [::1] or localhost; behind another name, make a token (bower token create NAME) and tell \
                     the name: bower serve --host NAME",
                ));
            }
        }
        let is_allowed = |origin: &str| {
            let same = |scheme| {
                let of = origin.strip_prefix(scheme);
                of.is_some_and(|of| hosts.iter().any(|host| host.eq_ignore_ascii_case(of)))
            };
            same("http://") || same("https://") || self.origins.iter().any(|allowed| allowed == origin)
        };
        let origins = texts(header::ORIGIN);
        if let Some(other) = origins.iter().find(|origin| !is_allowed(origin)) {
            return Err(Problem::forbidden(
                format!("pages of {other} may not ask"),
                "bower serve --cors ORIGIN lets the pages of an origin ask",
            ));
        }
        // Browsers omit Origin when a page of another site loads a URL as an image or a script.
        let site = headers.get("sec-fetch-site").and_then(|value| value.to_str().ok());
        if origins.is_empty() && site.is_some_and(|site| !matches!(site, "same-origin" | "none")) {
            return Err(Problem::forbidden(
                "pages from elsewhere may not ask",
                "bower serve --cors ORIGIN lets the pages of an origin ask",
            ));
        }
        Ok(())
    }

    /// Returns the origins whose pages may send requests.
    pub fn origins(&self) -> &[String] {
        &self.origins
    }

    /// Authenticates the caller of a request. A header or token file that cannot be read admits no one.
    pub fn admit(&self, headers: &HeaderMap, peer: SocketAddr, now: Timestamp) -> Result<Caller, Problem> {
        if !self.takes_tokens() {
            return Ok(Caller::local(peer.ip()));
        }
        let refused = |why: String| {
            Problem::new(
                StatusCode::UNAUTHORIZED,
                why,
                "send a token: Authorization: Bearer …; bower token create NAME makes one",
            )
        };
        let Some(shown) = headers.get(header::AUTHORIZATION) else {
            return Err(refused("no token".into()));
        };
        let shown = shown.to_str().ok().and_then(|text| {
            let (scheme, token) = text.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
        });
        let Some(shown) = shown else { return Err(refused("the authorization is no bearer token".into())) };
        let found = self.tokens.find(shown).map_err(|failure| {
            let mut problem = Problem::from(failure);
            problem.message = "tokens cannot be read".into();
            problem
        })?;
        let Some(token) = found else { return Err(refused("no such token".into())) };
        match token.standing(now) {
            Standing::Active => Ok(Caller::of(token)),
            Standing::Expired => Err(refused(format!("token {} has expired", token.name))),
            Standing::Revoked => Err(refused(format!("token {} was revoked", token.name))),
        }
    }

    /// Whether an admitted caller would be admitted again. A stream outlives the request that began it.
    pub fn still_admits(&self, caller: &Caller, now: Timestamp) -> bool {
        match &caller.key {
            Key::Address(_) => !self.takes_tokens(),
            Key::Token(sha256) => self.tokens.all().is_ok_and(|all| {
                all.iter().any(|token| token.sha256 == *sha256 && token.standing(now) == Standing::Active)
            }),
        }
    }
}

/// Whether a Host header names the loopback: `localhost` or a loopback address, with any port. A forwarded port differs
/// from ours.
fn is_loopback_name(host: &str) -> bool {
    name_of(host).is_some_and(|name| {
        name.eq_ignore_ascii_case("localhost")
            || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    })
}

/// Returns the name in a Host header without its port; none if the header is malformed.
fn name_of(host: &str) -> Option<&str> {
    match host.strip_prefix('[') {
        Some(rest) => {
            let (address, port) = rest.split_once(']')?;
            (port.is_empty() || port.strip_prefix(':').is_some_and(is_port)).then_some(address)
        }
        None => match host.split_once(':') {
            Some((name, port)) => is_port(port).then_some(name),
            None => Some(host),
        },
    }
}

fn is_port(text: &str) -> bool {
    text.parse::<u16>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn token() -> Token {
        Token {
            name: "ci".into(),
            sha256: "00".into(),
            access: Access::Write,
            collections: Vec::new(),
            scope: None,
            owner: None,
            folders: Vec::new(),
            create_time: Timestamp::UNIX_EPOCH,
            expire_time: None,
            revoke_time: None,
        }
    }

    #[test]
    fn the_loopback_has_few_names() {
        for good in ["localhost", "LOCALHOST:1", "127.0.0.1:8787", "127.9.9.9", "[::1]:8787", "[::1]"] {
            assert!(is_loopback_name(good), "{good}");
        }
        for bad in [
            "",
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "10.0.0.1:8787",
            "[::2]:1",
            "localhost:x",
            "[::1",
            "[::1]x",
            "localhost:1:2",
            "0.0.0.0",
        ] {
            assert!(!is_loopback_name(bad), "{bad}");
        }
    }

    #[test]
    fn a_page_from_elsewhere_is_refused_and_one_that_was_named_is_not() {
        let home = tempfile::tempdir().unwrap();
        let bind = "127.0.0.1".parse().unwrap();
        let door =
            Door::new(home.path(), bind, vec!["https://app.example".into()], Timestamp::UNIX_EPOCH).unwrap();
        let check = |pairs: &[(&'static str, &'static str)], good: bool| {
            let mut headers = HeaderMap::new();
            for (name, value) in pairs {
                headers.append(*name, HeaderValue::from_static(value));
            }
            assert_eq!(door.check_origin(&headers).is_ok(), good, "{pairs:?}");
        };
        let host = ("host", "127.0.0.1:8787");
        check(&[host], true);
        check(&[], false);
        check(&[("host", "evil.example:8787")], false);
        check(&[host, ("host", "evil.example")], false);
        check(&[host, ("origin", "http://127.0.0.1:8787")], true);
        check(&[host, ("origin", "http://127.0.0.1:3000")], false);
        check(&[host, ("origin", "http://localhost:8787")], false);
        check(&[host, ("origin", "null")], false);
        check(&[host, ("origin", "https://app.example")], true);
        check(&[host, ("origin", "https://app.example.evil")], false);
        check(&[host, ("sec-fetch-site", "cross-site")], false);
        check(&[host, ("sec-fetch-site", "same-site")], false);
        check(&[host, ("sec-fetch-site", "none")], true);
    }

    #[test]
    fn a_token_is_taken_under_the_names_of_the_loopback_and_those_that_were_told() {
        let home = tempfile::tempdir().unwrap();
        let now = Timestamp::UNIX_EPOCH;
        let check = |door: &Door, host: &'static str, good: bool| {
            let headers = HeaderMap::from_iter([(header::HOST, HeaderValue::from_static(host))]);
            assert_eq!(door.check_origin(&headers).is_ok(), good, "{host}");
        };
        let door = |bind: &str| Door::new(home.path(), bind.parse().unwrap(), Vec::new(), now).unwrap();
        let told = || vec!["memory.example".to_owned()];
        check(&door("127.0.0.1").under(told()), "memory.example", false);
        super::super::tokens::create(home.path(), token()).unwrap();
        check(&door("127.0.0.1"), "localhost:8787", true);
        check(&door("127.0.0.1"), "evil.example:8787", false);
        check(&door("127.0.0.1").under(told()), "Memory.Example:443", true);
        check(&door("127.0.0.1").under(told()), "evil.example", false);
        check(&door("0.0.0.0"), "any.example", true);
        check(&door("0.0.0.0").under(told()), "any.example", false);
        check(&door("0.0.0.0").under(told()), "memory.example", true);
    }

    #[test]
    fn anything_but_the_loopback_takes_a_token_and_the_last_one_closes_no_door_behind_it() {
        let home = tempfile::tempdir().unwrap();
        let now = Timestamp::UNIX_EPOCH;
        let any: IpAddr = "0.0.0.0".parse().unwrap();
        assert!(Door::new(home.path(), any, Vec::new(), now).is_err());
        let loopback = "127.0.0.1".parse().unwrap();
        let door = Door::new(home.path(), loopback, Vec::new(), now).unwrap();
        assert!(!door.takes_tokens());
        let (_, secret) = super::super::tokens::create(home.path(), token()).unwrap();
        let mut headers = HeaderMap::new();
        let peer: SocketAddr = "127.0.0.1:9".parse().unwrap();
        assert_eq!(door.admit(&headers, peer, now).unwrap_err().status, 401);
        let bearer = HeaderValue::from_str(&format!("Bearer {secret}")).unwrap();
        headers.insert(header::AUTHORIZATION, bearer);
        let caller = door.admit(&headers, peer, now).unwrap();
        assert_eq!(caller.name, "ci");
        assert!(door.still_admits(&caller, now) && !door.still_admits(&Caller::local(peer.ip()), now));
        headers.insert(header::AUTHORIZATION, HeaderValue::from_static("Basic Y2k6eA=="));
        assert_eq!(door.admit(&headers, peer, now).unwrap_err().status, 401);
        super::super::tokens::revoke(home.path(), "ci", now).unwrap();
        assert!(!door.still_admits(&caller, now));
        assert!(Door::new(home.path(), any, Vec::new(), now).is_err());
        assert!(Door::new(home.path(), loopback, Vec::new(), now).unwrap().takes_tokens());
        std::fs::remove_file(home.path().join("tokens.json")).unwrap();
        assert!(door.takes_tokens(), "a running server goes on asking for one");
    }

    #[test]
    fn a_folder_is_indexed_where_the_token_names_it_and_links_lead_nowhere_else() {
        let root = tempfile::tempdir().unwrap();
        let (docs, other) = (root.path().join("docs"), root.path().join("other"));
        std::fs::create_dir_all(docs.join("sub")).unwrap();
        std::fs::create_dir(&other).unwrap();
        let caller = Caller::of(Token { folders: vec![docs.clone()], ..token() });
        assert!(caller.folder(&docs).is_ok() && caller.folder(&docs.join("sub")).is_ok());
        for outside in
            [other.clone(), docs.join("../other"), root.path().into(), docs.join("none"), "docs".into()]
        {
            assert_eq!(caller.folder(&outside).unwrap_err().status, 403, "{}", outside.display());
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&other, docs.join("link")).unwrap();
            assert!(caller.folder(&docs.join("link")).is_err());
        }
        assert!(Caller::of(token()).folder(&docs).is_err());
        assert!(Caller::local("127.0.0.1".parse().unwrap()).folder(&docs).is_err());
    }
}
