//! Finds secrets without a published form: named values, pairs of user and password, random characters.
//! A named value stands beside a word that names a secret; a row of random characters counts where nobody announced it.

use super::super::Constants;
use super::super::list::List;
use super::super::random::{is_placeholder, is_random, is_short_run};
use super::{Found, LONGEST, SecretKind};

/// What follows a word that names a secret is looked at for so many words.
const NEAR: usize = 6;

/// What a word names, as far as it names a secret.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Names {
    Password,
    Token,
    AwsSecret,
    Authorization,
}

/// The secret that a name promises: `DB_PASSWORD`, `client_secret`, `apiKey`.
fn names(word: &str, before: &str) -> Option<Names> {
    let mut flat = [0_u8; 64];
    let mut length = 0;
    for byte in word.bytes().filter(u8::is_ascii_alphanumeric) {
        if length == flat.len() {
            return None;
        }
        flat[length] = byte.to_ascii_lowercase();
        length += 1;
    }
    let flat = std::str::from_utf8(&flat[..length]).ok()?;
    let ends = |names: &[&str]| names.iter().any(|name| flat.ends_with(name));
    if ends(&["password", "passwd", "passphrase", "passcode", "pwd", "passwort", "kennwort", "motdepasse"])
        || (flat.ends_with("pass") && (word.contains('_') || word == "pass"))
        || matches!(flat, "pw")
    {
        return Some(Names::Password);
    }
    if ends(&["secretaccesskey"]) {
        return Some(Names::AwsSecret);
    }
    if flat == "authorization" {
        return Some(Names::Authorization);
    }
    let keys = [
        "apikey",
        "accesskey",
        "secretkey",
        "privatekey",
        "authkey",
        "encryptionkey",
        "signingkey",
        "accountkey",
    ];
    if ends(&["secret", "token", "credential", "credentials"]) || ends(&keys) {
        return Some(Names::Token);
    }
    let kinds = [
        "api",
        "access",
        "secret",
        "private",
        "auth",
        "encryption",
        "signing",
        "account",
        "license",
        "master",
    ];
    (flat == "key" && kinds.iter().any(|kind| before.eq_ignore_ascii_case(kind))).then_some(Names::Token)
}

/// Values beside a word that names a secret: `password=...`, `token: ...`, `the API key is ...`, `--password ...`.
pub(super) fn named(text: &str, constants: &Constants, found: &mut Vec<Found>) {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let bytes = text.as_bytes();
    // The second half of an AWS pair has no form of its own, so it is looked for behind the first.
    let pairs: Vec<usize> = found
        .iter()
        .filter(|found| found.kind == SecretKind::AwsAccessKey)
        .map(|found| found.at.end)
        .collect();
    for end in pairs {
        near(text, end, SecretKind::AwsSecretKey, constants, found);
    }
    let mut before = 0..0;
    let mut at = 0;
    while at < bytes.len() {
        if !is_name(bytes[at]) {
            at += 1;
            continue;
        }
        let start = at;
        while at < bytes.len() && is_name(bytes[at]) {
            at += 1;
        }
        let last = std::mem::replace(&mut before, start..at);
        let Some(what) = names(&text[start..at], &text[last]) else { continue };
        if let Some(value) = assigned(text, start, at, what, constants) {
            at = value.at.end;
            found.push(value);
        } else if what != Names::Authorization {
            let kind = if what == Names::AwsSecret { SecretKind::AwsSecretKey } else { SecretKind::Token };
            near(text, at, kind, constants, found);
            if what == Names::Password {
                told_of(text, at, constants, found);
            }
        }
    }
}

/// What a password may have that is no password.
const ABOUT: &[&str] = &[
    "policy",
    "policies",
    "store",
    "manager",
    "hash",
    "hashes",
    "hashing",
    "field",
    "reset",
    "length",
    "rules",
    "prompt",
    "file",
    "rotation",
    "change",
    "generator",
    "vault",
    "strength",
    "form",
    "page",
    "dialog",
    "column",
    "expiry",
    "history",
    "minimum",
    "maximum",
    "algorithm",
    "scheme",
    "entry",
];

/// User and password as a pair: `creds admin/hunter2`, `login: deploy / Xy12!ab`.
pub(super) fn pairs(text: &str, constants: &Constants, found: &mut Vec<Found>) {
    for (at, word) in words_of(text) {
        let name = word.trim_end_matches(':').to_ascii_lowercase();
        if !matches!(name.as_str(), "creds" | "credentials" | "login" | "logins" | "credential") {
            continue;
        }
        // The pair is among the next few words.
        let end = at + word.len();
        for (from, value) in
            words_of(&text[end..]).take(NEAR).take_while(|(from, _)| !text[end..end + from].contains('\n'))
        {
            let value = value.trim_matches(|c: char| "\"'`(),;.".contains(c));
            let Some((user, password)) = value.split_once(['/', ':']) else { continue };
            let is_user = !user.is_empty()
                && user.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'@'));
            if is_user
                && !value.contains("//")
                && is_password(password, false, constants)
                && is_mixed(password)
            {
                let start = text[end + from..].find(password).map_or(end + from, |at| end + from + at);
                found.push(Found { at: start..start + password.len(), kind: SecretKind::Password });
            }
        }
    }
}

/// `The PIN is 4821`, `door pin: 4821`: four digits and more beside their name.
pub(super) fn pins(text: &str, found: &mut Vec<Found>) {
    for (at, word) in words_of(text) {
        if !(word.trim_end_matches(':').eq_ignore_ascii_case("pin")
            || word.trim_end_matches(':').eq_ignore_ascii_case("pin-code"))
        {
            continue;
        }
        let end = at + word.len();
        let mut is_told = word.ends_with(':');
        for (from, next) in words_of(&text[end..])
            .take(NEAR + 2)
            .take_while(|(from, _)| !text[end..end + from].contains('\n'))
        {
            let value = next.trim_matches(|c: char| !c.is_alphanumeric());
            if is_told && (4..=8).contains(&value.len()) && value.bytes().all(|b| b.is_ascii_digit()) {
                let start = end + from + next.find(value).unwrap_or(0);
                found.push(Found { at: start..start + value.len(), kind: SecretKind::Password });
                break;
            }
            is_told = matches!(next, "is" | "was" | "code" | "=" | ":") || next.ends_with(':');
        }
    }
}

/// Words between white space, with their places.
fn words_of(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split_ascii_whitespace().map(move |word| (word.as_ptr() as usize - text.as_ptr() as usize, word))
}

/// Long values of capitals, small letters and digits that no word announces: who pastes one pasted a key. Ids and sums are
/// said to be such, or stand in a path or URL.
pub(super) fn bare(text: &str, constants: &Constants, found: &mut Vec<Found>) {
    const NAMES: &[&str] = &[
        "ids",
        "sha1",
        "sha512",
        "integrity",
        "revision",
        "document",
        "sheet",
        "doc",
        "spreadsheet",
        "video",
        "uuid",
        "etag",
        "image",
        "cid",
        "address",
        "wallet",
        "txid",
        "transaction",
        "block",
        "playlist",
        "public",
    ];
    let mut before: [&str; 3] = [""; 3];
    for (at, word) in words_of(text) {
        let value = word.trim_matches(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=')));
        let is_named = before.iter().any(|name| {
            let name = name.trim_matches(|c: char| !c.is_ascii_alphanumeric()).to_ascii_lowercase();
            NAMES.contains(&name.as_str()) || is_id(&name)
        });
        let has = |test: fn(&u8) -> bool| value.as_bytes().iter().any(test);
        if !is_named
            && value.len() >= constants.least_bare
            && value.len() <= LONGEST
            && value
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=' | b'_' | b'-'))
            && value.matches('/').count() * 16 <= value.len()
            && has(u8::is_ascii_lowercase)
            && has(u8::is_ascii_uppercase)
            && has(u8::is_ascii_digit)
            && is_token(value, constants)
        {
            let start = at + word.find(value).unwrap_or(0);
            found.push(Found { at: start..start + value.len(), kind: SecretKind::Token });
        }
        before = [before[1], before[2], word];
    }
}

/// `The password for the staging cluster is ...`: what a password is said to be some words later on its line.
fn told_of(text: &str, from: usize, constants: &Constants, found: &mut Vec<Found>) {
    // `The password policy is ...` speaks of something else.
    let next = text[from..].trim_start().split(|c: char| !c.is_alphanumeric()).next().unwrap_or("");
    if ABOUT.contains(&next) {
        return;
    }
    let mut at = from;
    let mut is_told = false;
    for _ in 0..2 * NEAR {
        at = text.len() - text[at..].trim_start_matches([' ', '\t']).len();
        let rest = &text[at..];
        let length = rest.bytes().take(LONGEST).take_while(|byte| !byte.is_ascii_whitespace()).count();
        let length = (0..=length).rev().find(|end| rest.is_char_boundary(*end)).unwrap_or(0);
        if length == 0 {
            return;
        }
        let word = &rest[..length];
        let head = word.len() - word.trim_start_matches(['"', '\'', '`', '(', '*']).len();
        let value = word[head..].trim_end_matches(['.', ',', ';', ')', '"', '\'', '`', '*']);
        let inner = value.trim_end_matches(|c: char| !c.is_alphanumeric());
        let has_sign = inner.chars().any(|c| c.is_ascii_punctuation() && !"-_/.,:'".contains(c));
        let is_digit = |byte: u8| byte.is_ascii_digit();
        // This far from the name only what nobody takes for a word or number.
        let ends = ends_clause(&rest[length..]) || word.ends_with(['.', ',', ';']);
        let is_odd = value.bytes().any(is_digit)
            && (has_sign
                || is_short_run(value, constants)
                || (ends && is_mixed(value) && !value.contains('-')));
        let is_camel = ends
            && value.bytes().skip(1).any(|b| b.is_ascii_uppercase())
            && value.bytes().any(|b| b.is_ascii_lowercase())
            && is_chosen(value, false, constants);
        if is_told && ((is_odd && is_password(value, false, constants)) || is_camel) {
            found.push(Found { at: at + head..at + head + value.len(), kind: SecretKind::Password });
            return;
        }
        is_told = matches!(word, "is" | "was" | "=" | ":") || word.ends_with([':', '=']);
        at += length;
    }
}

/// The value that is given to the name at `start..end`, if it is one that keeps something shut.
fn assigned(text: &str, start: usize, end: usize, what: Names, constants: &Constants) -> Option<Found> {
    let is_flag = text[start..end].starts_with("--");
    let rest = text[end..].trim_start_matches(['"', '\'', '`', '*']);
    let spaced = rest.trim_start_matches([' ', '\t']);
    let words = [" is ", " was ", " to ", " = "];
    let is_told = words.iter().any(|word| rest.starts_with(word));
    // `the password hunter2`: what is no word of a language may stand beside its name.
    let is_beside = what == Names::Password && rest.starts_with(' ') && !is_told;
    let behind = if let Some(rest) = spaced.strip_prefix("=>").or_else(|| spaced.strip_prefix(":=")) {
        rest
    } else if let Some(rest) = spaced.strip_prefix(['=', ':', '：']) {
        rest
    } else if let Some(rest) = words.iter().find_map(|word| rest.strip_prefix(word)) {
        rest
    } else if (is_flag || is_beside) && rest.starts_with(' ') {
        rest
    } else {
        return None;
    };
    let mut value = behind.trim_start_matches([' ', '\t']);
    if what == Names::Authorization {
        // RFC 6750 (Bearer) and RFC 7617 (Basic) name the scheme first.
        let scheme = value.trim_start_matches(['"', '\'', '`']);
        let (name, rest) = scheme.split_once(' ')?;
        if !["bearer", "basic", "token"].iter().any(|scheme| name.eq_ignore_ascii_case(scheme)) {
            return None;
        }
        value = rest.trim_start();
    }
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\'' | '`' | '“' | '*'));
    let value = value.trim_start_matches(['"', '\'', '`', '“', '*']);
    // It is still the rest of the text.
    let from = text.len() - value.len();
    let stop = value
        .char_indices()
        .take(LONGEST)
        .find(|(_, c)| c.is_whitespace() || matches!(c, '"' | '`' | '”' | '<') || (quote == Some(*c)))
        .map_or_else(|| value.char_indices().nth(LONGEST).map_or(value.len(), |(at, _)| at), |(at, _)| at);
    let value = value[..stop].trim_end_matches(['.', ',', ';', ')', '\'', '*', ']', '}']);
    let (is_secret, kind) = match what {
        Names::Password => {
            let digits = value.bytes().any(|b| b.is_ascii_digit());
            let is_made = is_password(value, quote.is_some(), constants);
            let ends = ends_clause(&text[from + value.len()..]);
            // `pass` is a verb too, and stands for a password behind a user alone.
            let is_verb = text[start..end].eq_ignore_ascii_case("pass")
                && !["user", "login"].iter().any(|name| text[..start].to_lowercase().contains(name));
            let is_secret = if is_beside && !is_flag {
                is_made && is_mixed(value) && !is_verb
            } else if is_told {
                (is_made && digits) || (is_chosen(value, quote.is_some(), constants) && ends)
            } else {
                is_made || is_chosen(value, quote.is_some(), constants)
            };
            (is_secret, SecretKind::Password)
        }
        Names::Token => {
            // A name in capitals or with an `=` behind it is a setting: its value is what it says.
            let is_setting = rest.starts_with(['=', ':']) || text[start..end].contains('_');
            let is_short = is_setting
                && value.chars().count() >= constants.least_setting
                && !is_reference(value)
                && is_password(value, quote.is_some(), constants)
                && is_mixed(value);
            (is_token(value, constants) || is_short, SecretKind::Token)
        }
        Names::AwsSecret => (is_token(value, constants), SecretKind::AwsSecretKey),
        Names::Authorization => {
            (value.len() >= constants.least_token && !is_placeholder(value), SecretKind::Authorization)
        }
    };
    is_secret.then(|| Found { at: from..from + value.len(), kind })
}

/// A value that somebody chose: letters with digits or signs among them.
fn is_password(value: &str, is_quoted: bool, constants: &Constants) -> bool {
    if value.chars().count() < constants.least_password || is_placeholder(value) || is_reference(value) {
        return false;
    }
    let letters = value.chars().any(char::is_alphabetic);
    let digits = value.bytes().any(|b| b.is_ascii_digit());
    // A hyphen or slash joins words (`case-sensitive`, `and/or`), a mark at the end ends them: they make no password.
    let inner = value.trim_end_matches(|c: char| !c.is_alphanumeric());
    let signs = inner.chars().any(|c| !c.is_alphanumeric() && !"-_/.,:'’()…".contains(c));
    if letters { digits || signs } else { digits && is_quoted }
}

/// Whether letters and digits stand among each other, as nobody writes a word.
fn is_mixed(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let letters = value.bytes().filter(u8::is_ascii_alphabetic).count();
    let is_version =
        value.starts_with(['v', 'V']) && value[1..].bytes().all(|b| b.is_ascii_digit() || b == b'.');
    digits > 0 && letters > 1 && !is_version && !value.contains('/')
}

/// Ends of words that say how a password is, or how it is kept: `rotated`, `stored`, `mandatory`.
const HOW_ENDS: &[&str] = &[
    "ed", "en", "ing", "able", "ible", "al", "ive", "ic", "ous", "ful", "less", "ly", "ary", "ory", "ent",
    "ant", "wn", "st", "ty",
];

/// Words that stand behind "the password is" and are none.
static HOW: List = List::of(
    "correct|unique|wrong|strong|simple|secure|insecure|private|common|similar|another|\
     different|longer|shorter|better|visible|obsolete|unsafe|stored|sticky|vanilla|either|\
     neither|nothing|something|anything|always|inside|outside|within|without|whatever|\
     usually|likely|only|yours|theirs|before|behind|below|under|complex|random|default|\
     mandatory|global|shared|weaker|stronger|not|never|password|passwords|email|e-mail|\
     username|because|unset|disabled|reused",
);

/// Whether a word without digits is a password that somebody chose: in quotes, words joined by hyphens, capitals inside, or at
/// least no word that says how a password is.
fn is_chosen(value: &str, is_quoted: bool, constants: &Constants) -> bool {
    let length = value.chars().count();
    if length < constants.least_password || is_placeholder(value) || is_reference(value) || !value.is_ascii()
    {
        return false;
    }
    if is_quoted {
        return !value.contains(' ');
    }
    let words = value.split('-').filter(|word| word.len() > 2).count();
    let capitals = value.bytes().skip(1).filter(u8::is_ascii_uppercase).count();
    let is_lower = value.bytes().all(|b| b.is_ascii_lowercase());
    let says_how = HOW_ENDS.iter().any(|end| value.ends_with(end)) || HOW.has(value);
    words >= 3
        || (capitals > 0
            && !value.bytes().all(|b| b.is_ascii_uppercase())
            && value.bytes().any(|b| b.is_ascii_lowercase()))
        || (is_lower && !says_how)
}

/// Whether a clause ends here.
fn ends_clause(rest: &str) -> bool {
    let rest = rest.trim_start_matches(['"', '\'', '`', '*', ')']);
    let behind = rest.trim_start_matches([' ', '\t']);
    behind.is_empty()
        || behind.starts_with(['.', ',', ';', '\n', '(', '!'])
        || ["and ", "but ", "for ", "on ", "since ", "until "].iter().any(|word| behind.starts_with(word))
}

/// A value that a machine made.
fn is_token(value: &str, constants: &Constants) -> bool {
    value.len() >= constants.least_token
        && !is_placeholder(value)
        && !is_reference(value)
        && is_random(value, constants)
}

/// Whether a value only says where the secret is: a variable, a path, a call.
fn is_reference(value: &str) -> bool {
    value.starts_with(['/', '$', '{', '%', '<', '(', '[', '~', '&', '@'])
        || value.starts_with("./")
        || value.contains("::")
        || value.contains("://")
        || value.contains(['(', '['])
}

/// Whether a word says that what follows is an id or a sum.
fn is_id(word: &str) -> bool {
    [
        "id",
        "hash",
        "digest",
        "sha",
        "sha256",
        "checksum",
        "sum",
        "commit",
        "fingerprint",
        "uuid",
        "thumbprint",
    ]
    .iter()
    .any(|name| word.eq_ignore_ascii_case(name))
}

/// A random value of capitals, small letters and digits within a few words behind `from`, on its line.
///
/// Hex digits in one case are ids and sums far more often than secrets, so they do not count here.
fn near(text: &str, from: usize, kind: SecretKind, constants: &Constants, found: &mut Vec<Found>) {
    let mut at = from;
    let mut is_told = false;
    for _ in 0..NEAR {
        at = text.len() - text[at..].trim_start_matches([' ', '\t']).len();
        let rest = &text[at..];
        if rest.is_empty() || rest.starts_with(char::is_whitespace) {
            return;
        }
        let length = rest
            .char_indices()
            .take(LONGEST)
            .find(|(_, c)| c.is_whitespace())
            .map_or_else(|| rest.char_indices().nth(LONGEST).map_or(rest.len(), |(at, _)| at), |(at, _)| at);
        let marks = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=' | '_' | '-'));
        let word = &rest[..length];
        let head = word.len() - word.trim_start_matches(marks).len();
        let value = word.trim_matches(marks);
        let has = |test: fn(&u8) -> bool| value.as_bytes().iter().any(test);
        let is_mixed = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_digit);
        // `The secret for the webhook is 9f86...`: what it is said to be may be in hex.
        let is_value = is_told && value.len() >= constants.least_token && kind == SecretKind::Token;
        is_told = matches!(word, "is" | "was" | "=" | ":");
        if is_id(value) {
            return;
        }
        if (is_value || (value.len() >= constants.least_near && is_mixed))
            && is_token(value, constants)
            && !value.contains("//")
        {
            found.push(Found { at: at + head..at + head + value.len(), kind });
            return;
        }
        at += length;
    }
}
