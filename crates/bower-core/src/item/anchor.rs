//! Describes an anchor: the place in a project's files that a memory names, with a hash of the text that was there.
//! A later check compares it with the files as they are then.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::{Component, Path};
use std::str::FromStr;

use crate::error::Error;

words! {
    /// What became of the code that a memory names.
    AnchorState, "state" {
        /// It is where it was, with the same text.
        Holds = "holds",
        /// The same text is at another place.
        Moved = "moved",
        /// It is there with another text.
        Changed = "changed",
        /// It is nowhere in the project.
        Gone = "gone",
    }
}

/// Most anchors of a memory. A text that names more is a list, and no single place is what it is about.
pub const MOST_ANCHORS: usize = 8;

/// Hash of a text without its white space, so that another indentation or line width is the same text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextHash {
    /// The polynomial of its bytes, white space left out, modulo 2^64.
    pub hash: u64,
    /// Number of those bytes.
    pub bytes: u32,
}

/// The base of the polynomial: any odd number with bits all over. The golden ratio as a fraction of 2^64 (Knuth, The Art of
/// Computer Programming, 6.4).
const BASE: u64 = 0x9E37_79B9_7F4A_7C15;

impl TextHash {
    /// Hashes a text.
    pub fn of(text: &[u8]) -> Self {
        let (mut hash, mut bytes) = (0_u64, 0_u32);
        for &byte in text.iter().filter(|byte| is_ink(**byte)) {
            hash = added(hash, byte);
            bytes = bytes.saturating_add(1);
        }
        Self { hash, bytes }
    }

    /// Returns the first byte of the first place where a text contains the hashed one, in linear time.
    pub fn find(self, text: &[u8]) -> Option<usize> {
        let wanted = self.bytes as usize;
        if wanted == 0 || wanted > text.len() {
            return None;
        }
        let power = (1..wanted).fold(1_u64, |power, _| power.wrapping_mul(BASE));
        let mut oldest = text.iter().enumerate().filter(|(_, byte)| is_ink(**byte));
        let (mut hash, mut held) = (0_u64, 0);
        for &byte in text.iter().filter(|byte| is_ink(**byte)) {
            hash = added(hash, byte);
            held += 1;
            if held < wanted {
                continue;
            }
            let (at, &gone) = oldest.next()?;
            if hash == self.hash {
                return Some(at);
            }
            hash = hash.wrapping_sub(power.wrapping_mul(u64::from(gone) + 1));
        }
        None
    }

    /// Whether a text begins with the hashed one.
    pub fn begins(self, text: &[u8]) -> bool {
        let ink = text.iter().copied().filter(|byte| is_ink(*byte));
        let (hash, bytes) =
            ink.take(self.bytes as usize).fold((0, 0), |(hash, bytes), byte| (added(hash, byte), bytes + 1));
        self == Self { hash, bytes }
    }
}

/// Appends a byte. One is added, so that bytes of 0 at the beginning count.
fn added(hash: u64, byte: u8) -> u64 {
    hash.wrapping_mul(BASE).wrapping_add(u64::from(byte) + 1)
}

/// Whether a byte is no white space.
fn is_ink(byte: u8) -> bool {
    !byte.is_ascii_whitespace()
}

/// The text is `bytes:hash` in hex, for the store and exports.
impl fmt::Display for TextHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}:{:016x}", self.bytes, self.hash)
    }
}

impl FromStr for TextHash {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let parts = text.split_once(':').and_then(|(bytes, hash)| {
            let bytes = u32::from_str_radix(bytes, 16).ok()?;
            Some(Self { hash: u64::from_str_radix(hash, 16).ok()?, bytes })
        });
        parts.ok_or_else(|| Error::invalid(format!("hash {text:?}"), "it is two hex numbers with a colon"))
    }
}

/// A place in the files of a project, or one of its commits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Anchor {
    /// The project's folder when the anchor was made, as an absolute path.
    pub root: String,
    /// The file or folder below it, its parts separated by `/`; `None` if the memory names a commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The definition in the file, as a symbol path: `impl Foo > fn parse`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
    /// First and last line of the definition or of the named lines, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<(u32, u32)>,
    /// Hash of those lines, or of the whole file; `None` for a folder or a commit.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "as_text")]
    pub text: Option<TextHash>,
    /// The commit of the project's head when the anchor was made, or the named commit; hex digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

/// Longest root, path or symbol in bytes: paths of Linux have at most 4,096.
const LONGEST: usize = 4_096;

impl Anchor {
    /// Returns what is wrong with it, if anything. It may come from a file that somebody wrote.
    pub fn flaw(&self) -> Option<&'static str> {
        let is_short = |text: &str| text.len() <= LONGEST && !text.contains('\0');
        let is_below = |path: &str| {
            !path.is_empty() && Path::new(path).components().all(|part| matches!(part, Component::Normal(_)))
        };
        let is_commit = |digits: &String| {
            (7..=64).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
        };
        if !is_short(&self.root) || !Path::new(&self.root).is_absolute() {
            Some("the root of an anchor is no absolute path")
        } else if self.path.as_ref().is_some_and(|path| !is_short(path) || !is_below(path)) {
            Some("the path of an anchor is not below its root")
        } else if self.symbol.as_ref().is_some_and(|symbol| !is_short(symbol) || self.path.is_none()) {
            Some("the symbol of an anchor is in no file")
        } else if self.lines.is_some_and(|(first, last)| first == 0 || first > last) {
            Some("the lines of an anchor are no range")
        } else if self.commit.as_ref().is_some_and(|digits| !is_commit(digits)) {
            Some("the commit of an anchor is not 7 to 64 hex digits")
        } else if self.path.is_none() && self.commit.is_none() {
            Some("an anchor names neither a file nor a commit")
        } else {
            None
        }
    }
}

/// An anchor, compared with the files as they are now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CheckedAnchor {
    /// The file or folder, relative to the project's folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The definition in it, as a symbol path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
    /// First and last line when the anchor was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<(u32, u32)>,
    /// The commit that the memory names; else the project's head when the anchor was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// What became of it.
    pub state: AnchorState,
    /// Its new place, if that is another: `src/b.rs:12`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now_at: Option<String>,
}

impl CheckedAnchor {
    /// Creates the finding about an anchor.
    pub fn new(anchor: &Anchor, state: AnchorState, now_at: Option<String>) -> Self {
        Self {
            path: anchor.path.clone(),
            symbol: anchor.symbol.clone(),
            lines: anchor.lines,
            commit: anchor.commit.clone(),
            state,
            now_at,
        }
    }

    /// Whether a reader of the memory has to look again.
    pub fn is_doubtful(&self) -> bool {
        self.state != AnchorState::Holds
    }

    /// Returns it as one phrase: `src/a.rs fn parse: changed, now at src/b.rs:12`.
    pub fn phrase(&self) -> String {
        let name = match (&self.path, &self.symbol, self.lines, &self.commit) {
            (Some(path), Some(symbol), ..) => format!("{path} {symbol}"),
            (Some(path), None, Some((first, last)), _) if first < last => format!("{path}:{first}-{last}"),
            (Some(path), None, Some((first, _)), _) => format!("{path}:{first}"),
            (Some(path), None, None, _) => path.clone(),
            (None, _, _, commit) => format!("commit {}", commit.as_deref().unwrap_or_default()),
        };
        let now = self.now_at.as_ref().map(|at| format!(", now at {at}")).unwrap_or_default();
        format!("{name}: {}{now}", self.state)
    }
}

/// Serialises a hash as its text.
mod as_text {
    use super::TextHash;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    #[expect(clippy::ref_option, reason = "serde calls it so")]
    pub(super) fn serialize<S: Serializer>(
        text: &Option<TextHash>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match text {
            Some(text) => serializer.collect_str(text),
            None => serializer.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<TextHash>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        text.map(|text| text.parse().map_err(D::Error::custom)).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn white_space_does_not_change_a_text() {
        let text = TextHash::of(b"fn a() {\n    b()\n}");
        assert_eq!(text, TextHash::of(b"fn a(){b()}\r\n"));
        assert_ne!(text, TextHash::of(b"fn a() { c() }"));
        assert_eq!(text.find(b"use x;\n\n  fn a() { b() }\n"), Some(10));
        assert_eq!(text.find(b"fn a() { b() "), None);
        assert!(text.begins(b" fn a() { b() } fn c() {}") && !text.begins(b"fn a() { b()"));
        assert_eq!(text.to_string().parse::<TextHash>().unwrap(), text);
        assert!("12".parse::<TextHash>().is_err());
        assert_eq!(TextHash::of(b" \n").find(b"x"), None, "nothing is found nowhere");
    }

    #[test]
    fn what_was_written_by_hand_is_checked() {
        let good = Anchor {
            root: "/srv/app".into(),
            path: Some("src/a.rs".into()),
            symbol: Some("fn a".into()),
            lines: Some((3, 4)),
            text: Some(TextHash::of(b"fn a() {}")),
            commit: None,
        };
        assert_eq!(good.flaw(), None);
        let json = serde_json::to_string(&good).unwrap();
        assert_eq!(serde_json::from_str::<Anchor>(&json).unwrap(), good);
        let bad = |change: &dyn Fn(&mut Anchor)| {
            let mut one = good.clone();
            change(&mut one);
            assert!(one.flaw().is_some(), "{one:?}");
        };
        bad(&|one| one.root = "srv".into());
        for path in ["", "/etc/passwd", "../a", "a/../../b", "./a"] {
            bad(&|one| one.path = Some(path.into()));
        }
        bad(&|one| one.path = None);
        bad(&|one| one.lines = Some((0, 2)));
        bad(&|one| one.lines = Some((3, 2)));
        bad(&|one| one.commit = Some("head".into()));
        bad(&|one| one.symbol = Some("a".repeat(5_000)));
    }

    proptest! {
        #[test]
        fn a_part_of_a_text_is_found_where_the_slow_search_finds_it(text in "[ab \n]{0,60}", at in 0_usize..60, length in 0_usize..20) {
            let bytes = text.as_bytes();
            let from = at.min(bytes.len());
            let part = &bytes[from..(from + length).min(bytes.len())];
            let hash = TextHash::of(part);
            let ink: Vec<usize> = (0..bytes.len()).filter(|at| is_ink(bytes[*at])).collect();
            let wanted: Vec<u8> = part.iter().copied().filter(|byte| is_ink(*byte)).collect();
            let slow = ink.windows(wanted.len().max(1)).find(|window| {
                !wanted.is_empty() && window.iter().map(|at| bytes[*at]).eq(wanted.iter().copied())
            });
            prop_assert_eq!(hash.find(bytes), slow.map(|window| window[0]));
        }
    }
}
