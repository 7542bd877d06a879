//! Parses a server's address and refuses those that a key or a text must not be sent to.

use std::fmt::Write;
use std::net::IpAddr;

use ureq::http::Uri;

/// The address that all requests of a client begin with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    base: String,
    host: String,
    port: Option<u16>,
    loopback: bool,
}

impl Address {
    /// Parses an address. Plain http is only for this machine; names, queries and passwords within it are refused.
    pub fn parse(text: &str) -> Result<Self, String> {
        let base = text.trim().trim_end_matches('/');
        if base.contains(['?', '#', '@', '\\']) {
            return Err("it has a query, a fragment or a password".to_owned());
        }
        let uri: Uri = base.parse().map_err(|cause| format!("{base:?} is no address: {cause}"))?;
        let host =
            uri.host().filter(|host| !host.is_empty()).ok_or_else(|| format!("{base:?} has no host"))?;
        let host = host.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
        let ip: Option<IpAddr> = host.parse().ok();
        let loopback = host == "localhost" || ip.is_some_and(|ip| ip.is_loopback());
        match uri.scheme_str() {
            Some("https") => (),
            Some("http") if loopback => (),
            Some("http") => return Err(format!("plain http to {host} would show the texts to the network")),
            Some(_) | None => return Err(format!("{base:?} begins with neither https:// nor http://")),
        }
        Ok(Self { base: base.to_owned(), host, port: uri.port_u16(), loopback })
    }

    /// Returns the address of a path, which begins with a slash.
    pub fn join(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    /// Returns the host, without brackets and port.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Returns the host with its port, if one is named.
    pub fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        self.port.map_or(host.clone(), |port| format!("{host}:{port}"))
    }

    /// Returns whether the host is this machine.
    pub fn is_loopback(&self) -> bool {
        self.loopback
    }
}

/// Returns a model's name as one part of a path.
pub(crate) fn path_part(text: &str) -> String {
    let mut part = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'~') {
            part.push(char::from(byte));
        } else if byte == b'.' && text != "." && text != ".." {
            part.push('.');
        } else {
            write!(part, "%{byte:02X}").expect("a string can be written to");
        }
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_http_reaches_this_machine_only() {
        let check = |text: &str, expected: Option<(&str, bool)>| {
            let address = Address::parse(text);
            let got = address.as_ref().ok().map(|address| (address.host(), address.is_loopback()));
            assert_eq!(got, expected, "{text}");
        };
        check("https://api.example/v1/", Some(("api.example", false)));
        check("https://API.example:8443", Some(("api.example", false)));
        check("http://localhost:11434", Some(("localhost", true)));
        check("http://127.8.0.1:1", Some(("127.8.0.1", true)));
        check("http://[::1]:8080/v1", Some(("::1", true)));
        for refused in [
            "http://api.example/v1",
            "http://192.168.1.5:11434",
            "http://0.0.0.0:1",
            "http://127.0.0.1.evil.example",
            "http://localhost.evil.example",
            "https://127.0.0.1@evil.example",
            "https://a.example/?key=1",
            "https://a.example/#x",
            "ftp://localhost",
            "localhost:1",
            "https://",
            "",
        ] {
            check(refused, None);
        }
    }

    #[test]
    fn an_address_is_joined_without_doubled_slashes() {
        let address = Address::parse("https://a.example:1/v1/").unwrap();
        assert_eq!(address.join("/embeddings"), "https://a.example:1/v1/embeddings");
        assert_eq!(address.authority(), "a.example:1");
        assert_eq!(Address::parse("http://[::1]:8080").unwrap().authority(), "[::1]:8080");
    }

    #[test]
    fn a_model_cannot_leave_its_part_of_the_path() {
        assert_eq!(path_part("gemini-embedding-001"), "gemini-embedding-001");
        assert_eq!(path_part("../x?key=1#a b"), "..%2Fx%3Fkey%3D1%23a%20b");
        assert_eq!(path_part(".."), "%2E%2E");
    }
}
