//! Finds passwords by the syntax around them: headers of HTTP, flags of commands, files of clients, Wi-Fi codes.
//! Each rule is that of a published format, named beside it.

use super::super::random::{RarityBar, is_chosen};
use super::found::{Found, SecretKind};
use super::labels::{LabelClass, is_label};
use super::placeholder::is_placeholder;
use super::values::{Labelled, is_reference, words_behind};

impl Labelled<'_> {
    /// All of them.
    pub(super) fn syntax(&self, found: &mut Vec<Found>) {
        headers(self.text, found);
        accounts(self.text, found);
        pgpass(self.text, found);
        wifi(self.text, found);
        for hit in self.hits {
            if hit.class == LabelClass::Command {
                self.flags(hit.at.end, found);
            }
        }
    }

    /// `curl -u user:password` (its manual: the user and the password, parted by a colon) and `mysql -ppassword` (its manual: no
    /// space between), `sshpass -p password`.
    fn flags(&self, from: usize, found: &mut Vec<Found>) {
        let words = words_behind(self.text, from);
        for (nth, word) in words.iter().enumerate() {
            let raw = self.text[word.at.clone()].trim_end_matches(['.', ',', ')', '`']);
            let at = if matches!(raw, "-u" | "--user" | "--proxy-user" | "-a")
                && words.get(nth + 1).is_some_and(|next| self.text[next.value.clone()].contains(':'))
            {
                words.get(nth + 1).and_then(|next| {
                    let (_, password) = self.text[next.value.clone()].split_once(':')?;
                    Some(next.value.end - password.len()..next.value.end)
                })
            } else if matches!(raw, "-p" | "-P" | "-a") {
                words.get(nth + 1).map(|next| next.value.clone())
            } else {
                raw.strip_prefix("-p").map(|password| {
                    let password = password.trim_matches(['\'', '"']);
                    let start = word.at.start + raw.find(password).unwrap_or(2).max(2);
                    start..start + password.len()
                })
            };
            let Some(at) = at else { continue };
            let value = &self.text[at.clone()];
            let is_value = value.len() >= 4
                && !value.starts_with('-')
                && !value.bytes().all(|b| b.is_ascii_digit() || matches!(b, b':' | b'.'))
                && (word.at.len() != 2
                    || value.chars().any(|c| c.is_ascii_digit())
                    || words.get(nth + 1).is_some_and(|next| next.is_quoted))
                && !is_placeholder(value)
                && !is_reference(value)
                && !is_label(value);
            if is_value {
                found.push(Found { at, kind: SecretKind::PASSWORD });
            }
        }
    }
}

/// A mail address and what follows a slash: `mira@acme.org / Trout77lake`.
fn accounts(text: &str, found: &mut Vec<Found>) {
    for (at, slash) in text.match_indices(" / ") {
        let user = text[..at].rsplit(char::is_whitespace).next().unwrap_or("");
        let words = words_behind(text, at + slash.len());
        let Some(word) = words.first().filter(|_| user.contains('@') && user.contains('.')) else { continue };
        let value = &text[word.value.clone()];
        if value.chars().any(|c| c.is_ascii_digit())
            && is_chosen(value, RarityBar::OneInTen)
            && !is_placeholder(value)
        {
            found.push(Found { at: word.value.clone(), kind: SecretKind::PASSWORD });
        }
    }
}

/// `Authorization: Bearer …` (RFC 6750) and `Basic …` (RFC 7617).
fn headers(text: &str, found: &mut Vec<Found>) {
    const LEAST: usize = 8;
    for (at, name) in text.match_indices("uthorization").chain(text.match_indices("UTHORIZATION")) {
        let rest = text[at + name.len()..].trim_start_matches(['"', '\'', '`', ' ']);
        let Some(rest) = rest.strip_prefix([':', '=']) else { continue };
        let rest = rest.trim_start_matches(['"', '\'', '`', ' ']);
        let Some((scheme, rest)) = rest.split_once(' ') else { continue };
        if !["bearer", "basic", "token"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
            continue;
        }
        let value = rest.trim_start_matches(' ');
        let end = value
            .find(|c: char| !(c.is_ascii_alphanumeric() || "-._~+/=:".contains(c)))
            .unwrap_or(value.len());
        let value = value[..end].trim_end_matches('.');
        if value.len() >= LEAST && !is_placeholder(value) {
            let start = text.len() - rest.trim_start_matches(' ').len();
            found.push(Found { at: start..start + value.len(), kind: SecretKind("authorization header") });
        }
    }
}

/// `host:port:database:user:password` of `PostgreSQL`'s password file (its manual, "The Password File").
fn pgpass(text: &str, found: &mut Vec<Found>) {
    for word in text.split_ascii_whitespace() {
        let fields: Vec<&str> = word.splitn(5, ':').collect();
        let is_port = |port: &str| {
            port == "*" || port.len() >= 2 && port.len() <= 5 && port.bytes().all(|b| b.is_ascii_digit())
        };
        if let [host, port, base, user, password] = fields[..]
            && is_port(port)
            && [host, base, user]
                .iter()
                .all(|field| !field.is_empty() && !field.bytes().all(|b| b.is_ascii_digit()))
            && password.len() >= 3
            && !password.bytes().all(|b| b.is_ascii_digit() || b == b':')
            && !is_placeholder(password)
        {
            let end = word.as_ptr() as usize - text.as_ptr() as usize + word.len();
            found.push(Found { at: end - password.len()..end, kind: SecretKind::PASSWORD });
        }
    }
}

/// `WIFI:T:WPA;S:name;P:password;;` of a Wi-Fi code (WPA3 specification, section 7).
fn wifi(text: &str, found: &mut Vec<Found>) {
    const MOST: usize = 160;
    for (at, name) in text.match_indices("WIFI:") {
        let start = at + name.len();
        let code = &text.as_bytes()[start..text.len().min(start + MOST)];
        let mark = (0..code.len().saturating_sub(1))
            .find(|at| code[*at..].starts_with(b"P:") && (*at == 0 || code[at - 1] == b';'));
        let Some(from) = mark.map(|at| at + 2) else { continue };
        let Some(length) = code[from..].iter().position(|b| *b == b';') else { continue };
        if length > 0 && text.is_char_boundary(start + from) {
            found.push(Found { at: start + from..start + from + length, kind: SecretKind::PASSWORD });
        }
    }
}
