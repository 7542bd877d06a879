//! Finds keys, tokens and passwords in a text by their published forms and by the words beside them.
//! The forms are those that their issuers publish. What is found is only ever a place and a kind: no value leaves this file.

mod named;

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;

use super::Constants;
use super::random::is_placeholder;
use named::{bare, named, pairs, pins};

/// What a secret opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)] // `label` says of each what it is
pub enum SecretKind {
    PrivateKey,
    AwsAccessKey,
    AwsSecretKey,
    GoogleApiKey,
    GoogleToken,
    GitHubToken,
    GitLabToken,
    SlackToken,
    StripeKey,
    OpenAiKey,
    AnthropicKey,
    HuggingFaceToken,
    NpmToken,
    PyPiToken,
    JsonWebToken,
    UrlPassword,
    Authorization,
    Password,
    Token,
}

impl SecretKind {
    /// What stands in the secret's place: `AWS access key`.
    pub const fn label(self) -> &'static str {
        match self {
            Self::PrivateKey => "private key",
            Self::AwsAccessKey => "AWS access key",
            Self::AwsSecretKey => "AWS secret key",
            Self::GoogleApiKey => "Google API key",
            Self::GoogleToken => "Google token",
            Self::GitHubToken => "GitHub token",
            Self::GitLabToken => "GitLab token",
            Self::SlackToken => "Slack token",
            Self::StripeKey => "Stripe key",
            Self::OpenAiKey => "OpenAI key",
            Self::AnthropicKey => "Anthropic key",
            Self::HuggingFaceToken => "Hugging Face token",
            Self::NpmToken => "npm token",
            Self::PyPiToken => "PyPI token",
            Self::JsonWebToken => "JSON web token",
            Self::UrlPassword => "password in a URL",
            Self::Authorization => "authorization header",
            Self::Password => "password",
            Self::Token => "token",
        }
    }
}

impl fmt::Display for SecretKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.label())
    }
}

/// Where a secret stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) at: Range<usize>,
    pub(super) kind: SecretKind,
}

/// Which characters follow a prefix.
#[derive(Clone, Copy)]
enum Alphabet {
    /// `A-Z0-9`
    Upper,
    /// `A-Za-z0-9`
    Base62,
    /// `A-Za-z0-9_-`
    Url,
    /// `A-Za-z0-9_.-`
    Dotted,
}

impl Alphabet {
    const fn has(self, byte: u8) -> bool {
        match self {
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Base62 => byte.is_ascii_alphanumeric(),
            Self::Url => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Dotted => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'),
        }
    }
}

/// A published form: what it begins with, and how much of which alphabet follows.
struct Form {
    kind: SecretKind,
    prefixes: &'static [&'static str],
    alphabet: Alphabet,
    least: usize,
    most: usize,
}

/// No key of a published form is longer; a scan for one stops here, which keeps the whole linear.
const LONGEST: usize = 512;

const FORMS: &[Form] = &[
    // AWS, IAM user guide, "IAM identifiers", unique ID prefixes: AKIA and ASIA are access keys, ABIA and ACCA other
    // credentials; the rest (AIDA, AROA, ...) name things and are no secrets. 20 characters in all.
    Form {
        kind: SecretKind::AwsAccessKey,
        prefixes: &["AKIA", "ASIA", "ABIA", "ACCA"],
        alphabet: Alphabet::Upper,
        least: 16,
        most: 16,
    },
    // Google Cloud, "API keys overview": keys begin with AIza and have 39 characters.
    Form {
        kind: SecretKind::GoogleApiKey,
        prefixes: &["AIza"],
        alphabet: Alphabet::Url,
        least: 35,
        most: 35,
    },
    // Google, "Token types" (access tokens, ya29.) and the client secrets of its console (GOCSPX-, 28 more).
    Form {
        kind: SecretKind::GoogleToken,
        prefixes: &["ya29.", "GOCSPX-"],
        alphabet: Alphabet::Url,
        least: 24,
        most: LONGEST,
    },
    // GitHub, changelog of 31 March 2021, "Authentication token format updates": five prefixes, 40 characters in all
    // then, up to 255 later.
    Form {
        kind: SecretKind::GitHubToken,
        prefixes: &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"],
        alphabet: Alphabet::Base62,
        least: 36,
        most: 251,
    },
    // GitHub, "Managing your personal access tokens": fine-grained tokens begin with github_pat_; 82 characters follow.
    Form {
        kind: SecretKind::GitHubToken,
        prefixes: &["github_pat_"],
        alphabet: Alphabet::Url,
        least: 36,
        most: LONGEST,
    },
    // GitLab, "Token overview", table of prefixes; a personal token has 20 characters behind its prefix.
    Form {
        kind: SecretKind::GitLabToken,
        prefixes: &[
            "glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "gloas-",
            "glsoat-",
        ],
        alphabet: Alphabet::Dotted,
        least: 20,
        most: LONGEST,
    },
    // Slack, "Tokens": bot xoxb-, user xoxp-, configuration xoxe-, app-level xapp-, workflow xwfp-; xoxa, xoxr, xoxs are
    // of older apps, xoxc and xoxd of its own web client.
    Form {
        kind: SecretKind::SlackToken,
        prefixes: &[
            "xoxb-",
            "xoxp-",
            "xoxe-",
            "xoxa-",
            "xoxr-",
            "xoxs-",
            "xoxc-",
            "xoxd-",
            "xapp-",
            "xwfp-",
            "xoxe.xoxp-",
            "xoxe.xoxb-",
        ],
        alphabet: Alphabet::Url,
        least: 20,
        most: LONGEST,
    },
    // Stripe, "API keys": secret sk_, restricted rk_, live or test; pk_ keys are meant to be published. Stripe names 10
    // to 128 characters to GitLab (issue 458019).
    Form {
        kind: SecretKind::StripeKey,
        prefixes: &["sk_live_", "rk_live_", "sk_test_", "rk_test_"],
        alphabet: Alphabet::Base62,
        least: 10,
        most: 247,
    },
    // Stripe, "Receive events in your webhook endpoint": signing secrets begin with whsec_.
    Form {
        kind: SecretKind::StripeKey,
        prefixes: &["whsec_"],
        alphabet: Alphabet::Base62,
        least: 24,
        most: LONGEST,
    },
    // Anthropic, "API overview": keys begin with sk-ant-.
    Form {
        kind: SecretKind::AnthropicKey,
        prefixes: &["sk-ant-"],
        alphabet: Alphabet::Url,
        least: 24,
        most: LONGEST,
    },
    // OpenAI, "Production best practices" and its console: sk-proj-, sk-svcacct-, sk-admin-.
    Form {
        kind: SecretKind::OpenAiKey,
        prefixes: &["sk-proj-", "sk-svcacct-", "sk-admin-"],
        alphabet: Alphabet::Url,
        least: 24,
        most: LONGEST,
    },
    // OpenAI's first keys: sk- and 48 characters; compatible services give shorter ones of the same form.
    Form {
        kind: SecretKind::OpenAiKey,
        prefixes: &["sk-"],
        alphabet: Alphabet::Base62,
        least: 32,
        most: 128,
    },
    // Hugging Face, "User access tokens": hf_; 34 characters follow.
    Form {
        kind: SecretKind::HuggingFaceToken,
        prefixes: &["hf_"],
        alphabet: Alphabet::Base62,
        least: 30,
        most: 64,
    },
    // GitHub's blog, 23 September 2021, "Announcing npm's new access token format": npm_, then as GitHub's own.
    Form { kind: SecretKind::NpmToken, prefixes: &["npm_"], alphabet: Alphabet::Base62, least: 36, most: 36 },
    // PyPI's help page, "API tokens": pypi- before a macaroon, which begins with Ag in base64 (version 2, its location).
    Form {
        kind: SecretKind::PyPiToken,
        prefixes: &["pypi-Ag"],
        alphabet: Alphabet::Url,
        least: 50,
        most: LONGEST,
    },
];

/// Every secret of a text, in its order, none inside another.
pub(super) fn find(text: &str, constants: &Constants) -> Vec<Found> {
    let mut found = announced(text, constants);
    bare(text, constants, &mut found);
    apart(found)
}

/// The same but for random characters that neither a form nor a word announces.
pub(super) fn find_announced(text: &str, constants: &Constants) -> Vec<Found> {
    apart(announced(text, constants))
}

fn announced(text: &str, constants: &Constants) -> Vec<Found> {
    let mut found = Vec::new();
    private_keys(text, &mut found);
    for form in FORMS {
        published(text, form, &mut found);
    }
    web_tokens(text, &mut found);
    urls(text, &mut found);
    named(text, constants, &mut found);
    pairs(text, constants, &mut found);
    pins(text, &mut found);
    found
}

/// In the order of the text, those that overlap as one.
fn apart(mut found: Vec<Found>) -> Vec<Found> {
    found.sort_by(|a, b| a.at.start.cmp(&b.at.start).then(b.at.end.cmp(&a.at.end)).then(a.kind.cmp(&b.kind)));
    let mut kept: Vec<Found> = Vec::with_capacity(found.len());
    for next in found {
        match kept.last_mut() {
            Some(last) if next.at.start < last.at.end => last.at.end = last.at.end.max(next.at.end),
            Some(_) | None => kept.push(next),
        }
    }
    kept
}

/// PEM blocks (RFC 7468) and armoured `OpenPGP` keys (RFC 9580, section 6.2) that are private, with a body: the line alone
/// is spoken of in many a text.
fn private_keys(text: &str, found: &mut Vec<Found>) {
    const BEGIN: &str = "-----BEGIN ";
    const LEAST_BODY: usize = 40;
    const MOST_NAME: usize = 64;
    let mut from = 0;
    while let Some(start) = text[from..].find(BEGIN).map(|at| from + at) {
        let name = start + BEGIN.len();
        from = name;
        let is_name = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b' ';
        let dashes =
            name + text.as_bytes()[name..].iter().take(MOST_NAME).take_while(|byte| is_name(byte)).count();
        let what = &text[name..dashes];
        if !text[dashes..].starts_with("-----") {
            continue;
        }
        if !(what.ends_with("PRIVATE KEY") || what.ends_with("PRIVATE KEY BLOCK")) {
            continue;
        }
        let body = dashes + 5;
        let is_body = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=\\ \t\r\n:,".contains(&byte);
        let length = text.as_bytes()[body..].iter().take_while(|byte| is_body(**byte)).count();
        let letters =
            text.as_bytes()[body..body + length].iter().filter(|b| b.is_ascii_alphanumeric()).count();
        // A body has no words: its longest run of base64 is a line of 64 (RFC 7468) or the whole.
        let longest = text[body..body + length]
            .split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=')))
            .map(str::len)
            .max()
            .unwrap_or(0);
        if letters < LEAST_BODY || longest < LEAST_BODY {
            continue;
        }
        let mut end = body + text[body..body + length].trim_end().len();
        if let Some(rest) = text[body + length..].strip_prefix("-----END ") {
            let close = rest.bytes().take(MOST_NAME).take_while(|byte| is_name(byte)).count();
            if rest[close..].starts_with("-----") {
                end = body + length + "-----END ".len() + close + 5;
            }
        }
        found.push(Found { at: start..end, kind: SecretKind::PrivateKey });
        from = end;
    }
}

/// Whether a key may begin here: not inside a longer word.
fn starts_word(text: &str, at: usize) -> bool {
    !text[..at].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-'))
}

fn published(text: &str, form: &Form, found: &mut Vec<Found>) {
    for prefix in form.prefixes {
        for (start, _) in text.match_indices(prefix) {
            if !starts_word(text, start) {
                continue;
            }
            let rest = &text.as_bytes()[start + prefix.len()..];
            let length = rest.iter().take(form.most + 1).take_while(|byte| form.alphabet.has(**byte)).count();
            let is_whole = length <= form.most || form.most == LONGEST;
            let end = start + prefix.len() + length;
            let value = &text[start + prefix.len()..end];
            if length >= form.least && is_whole && !is_placeholder(value) && is_varied(value) {
                let end = start + text[start..end].trim_end_matches(['.', '-', '_']).len();
                found.push(Found { at: start..end, kind: form.kind });
            }
        }
    }
}

/// Whether a value is neither one letter repeated nor a row of plain words (`sk-proj-my-first-little-test-project`).
fn is_varied(value: &str) -> bool {
    let mut seen = [false; 128];
    for byte in value.bytes().filter(u8::is_ascii) {
        seen[usize::from(byte)] = true;
    }
    let distinct = seen.iter().filter(|seen| **seen).count();
    distinct >= 6 && value.bytes().any(|b| b.is_ascii_digit() || b.is_ascii_uppercase())
}

/// JSON web tokens (RFC 7519): parts of base64url between dots, of which the first begins with `{"` as `eyJ`. One part alone,
/// or encrypted ones (RFC 7516, five parts), are as secret.
fn web_tokens(text: &str, found: &mut Vec<Found>) {
    // The shortest header, `{"alg":"none"}`, has 19 characters in base64.
    const LEAST_HEAD: usize = 19;
    // RFC 7515 signs with 32 bytes or more: 43 characters. Less than a third of that is no part of a token.
    const LEAST_PART: usize = 14;
    let part = |from: usize| {
        from + text.as_bytes()[from..].iter().take_while(|byte| Alphabet::Url.has(**byte)).count()
    };
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
            found.push(Found { at: start..end, kind: SecretKind::JsonWebToken });
        }
    }
}

/// Passwords of URLs: the part of the user information behind its colon (RFC 3986, section 3.2.1).
fn urls(text: &str, found: &mut Vec<Found>) {
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
        let password = &text[at.clone()];
        // Signs that end a URL's authority are written into passwords all the same; behind a port they are what they are.
        let is_port =
            password.split(['?', '#']).next().is_some_and(|port| port.bytes().all(|b| b.is_ascii_digit()))
                && password.contains(['?', '#']);
        if !password.is_empty() && !is_port && !is_placeholder(password) {
            found.push(Found { at, kind: SecretKind::UrlPassword });
        }
    }
}
