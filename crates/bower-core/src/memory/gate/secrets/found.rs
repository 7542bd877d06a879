//! Where a secret stands in a text, what it is, and the text without it.

use std::fmt;
use std::ops::Range;

/// No key of a published format is longer; a scan for one stops here, which keeps the whole linear.
pub(super) const LONGEST: usize = 512;

/// What a secret is: a label of the tables of formats and numbers, or one of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SecretKind(pub(super) &'static str);

impl SecretKind {
    /// What people choose, or a PIN.
    pub const PASSWORD: Self = Self("password");
    /// What a machine made and no format tells more about.
    pub const TOKEN: Self = Self("token");
    /// The private half of a pair of keys.
    pub const PRIVATE_KEY: Self = Self("private key");

    /// What stands in the secret's place: `AWS access key`.
    pub const fn label(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for SecretKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.label())
    }
}

/// Where a secret stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) at: Range<usize>,
    pub(crate) kind: SecretKind,
}

/// What the words begin with that stand in for a secret.
pub(crate) const STAND_IN: &str = "[redacted: ";

/// The text with what each secret is in its place.
pub(super) fn cut(text: &str, found: &[Found]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for secret in found {
        out.push_str(&text[from..secret.at.start]);
        out.push_str(STAND_IN);
        out.push_str(secret.kind.label());
        out.push(']');
        from = secret.at.end;
    }
    out.push_str(&text[from..]);
    out
}
