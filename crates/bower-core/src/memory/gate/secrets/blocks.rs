//! Finds key blocks and web tokens: PEM and `OpenPGP` armour, `PuTTY` keys, JSON web tokens, passwords in URLs.
//! Blocks of public keys and certificates are told apart, so that no other rule cuts into them.

use std::ops::Range;

use super::found::{Found, LONGEST, SecretKind};
use super::issuers::starts_word;
use super::labels::is_label;
use super::placeholder::is_placeholder;

/// PEM blocks (RFC 7468) and armoured `OpenPGP` keys (RFC 9580, section 6.2) with a body: the line alone is spoken of in
/// many a text. Private ones are secrets, the others are public.
pub(super) fn armour(text: &str, found: &mut Vec<Found>, public: &mut Vec<Range<usize>>) {
    const BEGIN: &str = "-----BEGIN ";
    const LEAST_BODY: usize = 40;
    const MOST_NAME: usize = 64;
    let is_name = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b' ';
    let mut from = 0;
    while let Some(start) = text[from..].find(BEGIN).map(|at| from + at) {
        let name = start + BEGIN.len();
        from = name;
        let dashes =
            name + text.as_bytes()[name..].iter().take(MOST_NAME).take_while(|byte| is_name(byte)).count();
        let what = &text[name..dashes];
        if !text[dashes..].starts_with("-----") {
            continue;
        }
        let body = dashes + 5;
        let length = body_length(&text[body..]);
        // A body has no words: its longest run of base64 is a line of 64 (RFC 7468) or the whole.
        let longest = text[body..body + length]
            .split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=')))
            .map(str::len)
            .max()
            .unwrap_or(0);
        if longest < LEAST_BODY {
            continue;
        }
        let mut end = body + text[body..body + length].trim_end().len();
        if let Some(rest) = text[body + length..].strip_prefix("-----END ") {
            let close = rest.bytes().take(MOST_NAME).take_while(|byte| is_name(byte)).count();
            if rest[close..].starts_with("-----") {
                end = body + length + "-----END ".len() + close + 5;
            }
        }
        if what.ends_with("PRIVATE KEY") || what.ends_with("PRIVATE KEY BLOCK") {
            found.push(Found { at: start..end, kind: SecretKind::PRIVATE_KEY });
        } else {
            public.push(start..end);
        }
        from = end;
    }
    // PuTTY's manual, appendix "PPK file format": the private part follows its count of lines.
    for (at, line) in text.match_indices("Private-Lines: ") {
        let head = text[at..].find('\n').map_or(text.len(), |end| at + end + 1);
        let length = body_length(&text[head..]);
        if head > at + line.len() && length >= LEAST_BODY {
            found.push(Found {
                at: head..head + text[head..head + length].trim_end().len(),
                kind: SecretKind::PRIVATE_KEY,
            });
        }
    }
}

fn body_length(text: &str) -> usize {
    text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || b"+/=\\ \t\r\n:,".contains(byte)).count()
}

/// JSON web tokens (RFC 7519): parts of base64url between dots, of which the first begins with `{"` as `eyJ`. One part alone,
/// or encrypted ones (RFC 7516, five parts), are as secret.
pub(super) fn web_tokens(text: &str, found: &mut Vec<Found>) {
    // The shortest header, `{"alg":"none"}`, has 19 characters in base64.
    const LEAST_HEAD: usize = 19;
    // RFC 7515 signs with 32 bytes or more: 43 characters. Less than a third of that is no part of a token.
    const LEAST_PART: usize = 14;
    let is_url = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let part = |from: usize| from + text.as_bytes()[from..].iter().take_while(|byte| is_url(byte)).count();
    let mut from = 0;
    while let Some(start) = text[from..].find("eyJ").map(|at| from + at) {
        let head = part(start);
        from = head;
        if !starts_word(text, start) {
            continue;
        }
        let mut end = head;
        let mut parts = 1;
        while parts < 5 && text[end..].starts_with('.') {
            let next = part(end + 1);
            if next - end - 1 < LEAST_PART {
                break;
            }
            end = next;
            parts += 1;
        }
        from = end;
        let has = |test: fn(&u8) -> bool| text.as_bytes()[start..head].iter().any(test);
        let is_head = head - start >= LEAST_HEAD && has(u8::is_ascii_digit) && has(u8::is_ascii_lowercase);
        if is_head || (parts >= 3 && head - start >= 8) {
            found.push(Found { at: start..end, kind: SecretKind("JSON web token") });
        }
    }
}

/// Passwords of URLs: the part of the user information behind its colon (RFC 3986, section 3.2.1).
pub(super) fn urls(text: &str, found: &mut Vec<Found>) {
    for (at, _) in text.match_indices("://") {
        if !text[..at].ends_with(|c: char| c.is_ascii_alphanumeric()) {
            continue;
        }
        let start = at + 3;
        let rest = &text.as_bytes()[start..];
        let length = rest
            .iter()
            .take(LONGEST)
            .take_while(|b| !b.is_ascii_whitespace() && !b"/\"'`<>".contains(b))
            .count();
        let authority = &rest[..length];
        let Some(user) = authority.iter().rposition(|b| *b == b'@') else { continue };
        let Some(colon) = authority[..user].iter().position(|b| *b == b':') else { continue };
        let at = start + colon + 1..start + user;
        let Some(password) = text.get(at.clone()) else { continue };
        // Signs that end a URL's authority are written into passwords all the same; behind a port they are what they are.
        let is_port =
            password.split(['?', '#']).next().is_some_and(|port| port.bytes().all(|b| b.is_ascii_digit()))
                && password.contains(['?', '#']);
        if !password.is_empty() && !is_port && !is_placeholder(password) && !is_label(password) {
            found.push(Found { at, kind: SecretKind("password in a URL") });
        }
    }
}
