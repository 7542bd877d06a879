//! Arguments of `bower serve`, which serves the store over HTTP, and of `bower token`, which manages its tokens.

#![expect(
    clippy::doc_markdown,
    reason = "doc comments here are the help that a terminal shows: no backticks"
)]

use bower_core::item::Scope;
use clap::{Args, Subcommand};
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use super::{filled, words};
use crate::service::Access;

/// `bower serve`
///
/// Serves the store over HTTP until ctrl-c or SIGTERM: /api/v1/…, /health, /ready, /metrics, and /openapi.json, which describes
/// all of it. On the loopback, if no token was ever created, programs of this machine need none; pages in a browser are
/// refused. Any other address needs a token: bower token create.
#[derive(Args, Debug)]
pub struct ServeArgs {
    /// The port; 0 selects a free one
    #[arg(long, value_name = "PORT", default_value_t = 8787)]
    pub port: u16,
    /// The address to listen on; any but the loopback needs a token that is in force
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1", value_parser = address)]
    pub bind: IpAddr,
    /// The interval of archiving memories of low importance, an hour or more, e.g. 12h or 7d; never turns it off
    #[arg(long, value_name = "TIME", default_value = "24h", value_parser = interval)]
    pub prune_interval: Interval,
    /// Accept requests under this name too, e.g. that of a proxy; may be given again. Those of the loopback are always
    /// accepted. If it listens on another address and none is given, any name is accepted
    #[arg(long, value_name = "NAME", value_parser = host)]
    pub host: Vec<String>,
    /// Allow requests of pages of this origin, e.g. https://app.example; may be given again [default: none]
    #[arg(long, value_name = "ORIGIN", value_parser = origin)]
    pub cors: Vec<String>,
    /// Requests a second for each token, or each address without one; bursts may be twice as large; 0 is no limit [default: the
    /// setting serve.rate, 20000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    pub rate: Option<u32>,
    /// The longest body of a request, in KB
    #[arg(long, value_name = "KB", default_value_t = 8_192, value_parser = clap::value_parser!(u32).range(1..=131_072))]
    pub max_body: u32,
    /// Time limit for a request until its answer begins
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = span)]
    pub timeout: Duration,
    /// Time limit for a client to send the head of a request, and for silence within its body [default: the setting
    /// serve.head_s, 15s]
    #[arg(long, value_name = "TIME", value_parser = span)]
    pub header_timeout: Option<Duration>,
    /// Time limit for a connection between two requests [default: the setting serve.idle_s, 100s]
    #[arg(long, value_name = "TIME", value_parser = span)]
    pub idle_timeout: Option<Duration>,
    /// Time limit for running requests when the server is asked to end
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = span)]
    pub grace: Duration,
    /// Most connections at once; beyond that the one that has been idle longest is closed [default: the setting
    /// serve.connections, 1024]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub connections: Option<u32>,
}

/// `bower token`
#[derive(Args, Debug)]
pub struct TokenArgs {
    #[command(subcommand)]
    pub action: TokenAction,
}

/// Actions on tokens.
#[derive(Debug, Subcommand)]
pub enum TokenAction {
    /// Create a token for bower serve; it is shown once
    Create(TokenCreateArgs),
    /// List the tokens with their limits and whether they are in force, never the tokens themselves
    List,
    /// Revoke a token; a running server refuses it from its next request on
    Revoke {
        /// The token's name
        #[arg(value_name = "NAME")]
        name: String,
    },
}

/// `bower token create`
#[derive(Args, Debug)]
pub struct TokenCreateArgs {
    /// Its owner or purpose, as the log shows it
    #[arg(value_name = "NAME", value_parser = token_name)]
    pub name: String,
    /// What it allows; write includes read, and admin includes write
    #[arg(long, value_name = "ACCESS", default_value = "read")]
    pub access: Access,
    /// Only this collection; may be given again [default: all]
    #[arg(long, value_name = "NAME", value_parser = filled)]
    pub collection: Vec<String>,
    /// Only this scope [default: all]
    #[arg(long, value_name = "SCOPE", value_parser = words::<Scope>(Scope::ALL.iter().map(|v| v.word())))]
    pub scope: Option<Scope>,
    /// Only items of this owner [default: all]
    #[arg(long, value_name = "OWNER", value_parser = filled)]
    pub owner: Option<String>,
    /// A folder of this machine that may be indexed with it, with --access admin; may be given again [default: none]
    #[arg(long, value_name = "DIR")]
    pub folder: Vec<PathBuf>,
    /// How long it is valid, e.g. 12h or 90d [default: until it is revoked]
    #[arg(long, value_name = "TIME", value_parser = span)]
    pub expires: Option<Duration>,
}

/// Time between two runs, or never.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval(pub Option<Duration>);

/// Parses an IP address, or localhost.
fn address(text: &str) -> Result<IpAddr, String> {
    if text.eq_ignore_ascii_case("localhost") {
        return Ok(IpAddr::from([127, 0, 0, 1]));
    }
    let inner = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    inner.parse().map_err(|_| "give an address such as 127.0.0.1, ::1 or 0.0.0.0".into())
}

fn interval(text: &str) -> Result<Interval, String> {
    match text.trim() {
        "never" | "0" => Ok(Interval(None)),
        text => match span(text)? {
            span if span >= Duration::from_hours(1) => Ok(Interval(Some(span))),
            _ => Err("an hour is the least".into()),
        },
    }
}

/// Parses `90`, `90s`, `15m`, `24h`, `7d`, `2w`: more than zero, and ten years at most.
pub(super) fn span(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let seconds = match unit.trim() {
        "" | "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        "w" => 7 * 86_400,
        _ => return Err("write a number with s, m, h, d or w, such as 30s or 24h".into()),
    };
    let whole = number.parse::<u64>().ok().and_then(|number| number.checked_mul(seconds));
    let whole = whole.filter(|seconds| (1..=3_650 * 86_400).contains(seconds));
    whole.map(Duration::from_secs).ok_or_else(|| "from 1s to 3650d".into())
}

/// Parses a host's name or address, without a port.
fn host(text: &str) -> Result<String, String> {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    if let Ok(address) = text.parse::<IpAddr>() {
        Ok(address.to_string())
    } else if !text.is_empty() && text.bytes().all(is_name) {
        Ok(text.to_owned())
    } else {
        Err("the name or the address alone, e.g. memory.example or fd00::5".into())
    }
}

/// Parses an origin as a browser sends it: scheme, host and port, and nothing else.
fn origin(text: &str) -> Result<String, String> {
    let wrong = || {
        "give scheme, host and port alone, such as https://app.example or http://localhost:3000".to_owned()
    };
    let text = text.trim().trim_end_matches('/');
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://")).ok_or_else(wrong)?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':' | '[' | ']');
    if host.is_empty() || !host.chars().all(is_plain) {
        return Err(wrong());
    }
    Ok(text.to_ascii_lowercase())
}

fn token_name(text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '@');
    if (1..=64).contains(&text.chars().count()) && text.chars().all(is_plain) {
        return Ok(text.to_owned());
    }
    Err("1 to 64 letters, digits, . - _ or @".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_numbers_with_a_unit() {
        let check = |text: &str, seconds: Option<u64>| {
            assert_eq!(span(text).ok(), seconds.map(Duration::from_secs), "{text}");
        };
        check("90", Some(90));
        check("30s", Some(30));
        check("15m", Some(900));
        check("24h", Some(86_400));
        check("7 d", Some(604_800));
        check("2w", Some(1_209_600));
        for wrong in ["", "0", "h", "-1h", "1.5h", "3651d", "99999999999999999999d", "1y"] {
            check(wrong, None);
        }
        assert_eq!(interval("never"), Ok(Interval(None)));
        assert_eq!(interval("0"), Ok(Interval(None)));
        assert!(interval("sometimes").is_err() && interval("59m").is_err());
    }

    #[test]
    fn a_host_has_no_port() {
        for good in ["memory.example", "10.0.0.7", "fd00::5"] {
            assert_eq!(host(good).as_deref(), Ok(good));
        }
        assert_eq!(host("FD00:0:0:0::5").as_deref(), Ok("fd00::5"));
        for wrong in ["", "memory.example:80", "[fd00::5]", "http://memory.example", "a b"] {
            assert!(host(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_origin_is_what_a_browser_sends() {
        assert_eq!(origin("https://App.example/").as_deref(), Ok("https://app.example"));
        assert_eq!(origin("http://localhost:3000").as_deref(), Ok("http://localhost:3000"));
        for wrong in ["*", "null", "app.example", "https://", "https://a/b", "https://a b", "ftp://a"] {
            assert!(origin(wrong).is_err(), "{wrong}");
        }
    }
}
