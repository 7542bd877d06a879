//! Recognises values made by a machine: evenly spread characters in short runs of one class.
//! Names, paths and words joined by signs are long too, but they are read in pieces.

use super::Constants;

/// What stands for a secret in a text that shows how one is used.
const PLACEHOLDERS: &[&str] = &[
    "***",
    "...",
    "…",
    "your",
    "example",
    "changeme",
    "change-me",
    "placeholder",
    "redacted",
    "dummy",
    "insert",
    "replace",
    "todo",
    "foobar",
    "process.env",
    "os.environ",
    "getenv",
    "env.",
    "vault",
    "sha256",
    "sha512",
    "bcrypt",
    "argon2",
    "scrypt",
    "pbkdf2",
    "oauth2",
    "base64",
    "hs256",
    "rs256",
    "ed25519",
    "required",
    "optional",
    "1234567890",
    "aes128",
    "aes256",
    "aes-256",
    "sha-256",
    "rsa2048",
    "fido2",
    "pbkdf",
    "rfc",
    "utf8",
    "utf-8",
    "iso8859",
];

/// Whether a value only stands for one: `<password>`, `${TOKEN}`, `your-key-here`, `********`.
pub(super) fn is_placeholder(value: &str) -> bool {
    if value.starts_with(['<', '$', '{', '%', '[']) {
        return true;
    }
    let mut letters = value.chars();
    if let Some(first) = letters.next()
        && letters.all(|c| c == first)
    {
        return true;
    }
    let lower = value.to_ascii_lowercase();
    matches!(lower.as_str(), "password" | "pass" | "passwd" | "pwd" | "pw" | "token" | "none" | "null")
        || PLACEHOLDERS
            .iter()
            .any(|word| lower.match_indices(word).any(|(at, _)| is_written(value, at, word)))
        || is_crossed_out(value)
}

/// Whether a word that stands in a value was written there and did not come about: in letters of one case or with one capital
/// before small ones, and where it is short as a word of its own. A made key of 20 signs has "your" in any case once in 9,000 times.
fn is_written(value: &str, at: usize, word: &str) -> bool {
    const SHORT: usize = 3;
    let shown = &value.as_bytes()[at..at + word.len()];
    let is_cased =
        !shown[1..].iter().any(u8::is_ascii_uppercase) || !shown.iter().any(u8::is_ascii_lowercase);
    let is_short = word.len() <= SHORT && word.bytes().all(|b| b.is_ascii_alphabetic());
    is_cased && !(is_short && value[..at].ends_with(|c: char| c.is_alphanumeric()))
}

/// Whether a row of `x` stands in it. A made key of 20 signs has three of them in mixed cases once in 1,700 times, four of one case
/// once in 400,000; what is short is shown with fewer.
fn is_crossed_out(value: &str) -> bool {
    const SHORT: usize = 12;
    let row = if value.len() <= SHORT { ["xxx", "XXX"] } else { ["xxxx", "XXXX"] };
    row.iter().any(|row| value.contains(row))
}

/// Whether a value has a long piece of letters and digits and is, as a whole, spread evenly and cut into short runs.
pub(super) fn is_random(value: &str, constants: &Constants) -> bool {
    let pieces = || value.split(|c: char| !c.is_ascii_alphanumeric());
    pieces().any(|piece| piece.len() >= constants.least_piece)
        && value.bytes().filter(u8::is_ascii_digit).count() >= 2
        && value.bytes().any(|b| b.is_ascii_alphabetic())
        && mean_run(pieces()) <= constants.most_run
        && bits(value) >= constants.least_bits
}

/// Whether a short value is cut into runs as a made one is: `Xk9mQ2v`, but not `AES256` or `hunter2`.
pub(super) fn is_short_run(value: &str, constants: &Constants) -> bool {
    mean_run(value.split(|c: char| !c.is_ascii_alphanumeric())) <= constants.most_run - 1.0
}

/// Whether a long row of letters and digits is no row of names: base64 has runs of one class that are half as long.
pub(super) fn is_noise(value: &str, constants: &Constants) -> bool {
    value.bytes().filter(u8::is_ascii_digit).count() >= 2
        && mean_run(value.split(|c: char| !c.is_ascii_alphanumeric())) <= constants.most_run + 1.0
        && bits(value) >= constants.least_bits
}

/// Mean length of the runs that a reader sees: digits, capitals, and small letters with the capital before them.
fn mean_run<'a>(pieces: impl Iterator<Item = &'a str>) -> f32 {
    let class = |byte: u8| match byte {
        b'0'..=b'9' => 0,
        b'A'..=b'Z' => 1,
        _ => 2,
    };
    let mut letters = 0;
    let mut runs = 0;
    for piece in pieces {
        let bytes = piece.as_bytes();
        letters += bytes.len();
        runs += usize::from(!bytes.is_empty());
        for (at, pair) in bytes.windows(2).enumerate() {
            let (a, b) = (class(pair[0]), class(pair[1]));
            // One capital begins a word (`User`); of several the last does (`HTTPServer`).
            let begins = a == 1 && b == 2 && (at == 0 || class(bytes[at - 1]) != 1);
            runs += usize::from(a != b && !begins);
        }
    }
    letters as f32 / runs.max(1) as f32
}

/// Shannon's entropy of the characters, in bits each.
fn bits(value: &str) -> f32 {
    let mut counts = [0_u32; 256];
    for byte in value.bytes() {
        counts[usize::from(byte)] += 1;
    }
    let all = value.len().max(1) as f32;
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| {
            let share = *count as f32 / all;
            -share * share.log2()
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_make_short_runs() {
        let check = |value: &str, expected: bool| {
            assert_eq!(is_random(value, &Constants::default()), expected, "{value} {}", bits(value));
        };
        check("7Gk2pQ9xVb4LmT8wZc1R", true);
        check("3f2a91c07be45d6688a1f0c2", true);
        check("123e4567-e89b-12d3-a456-426614174000", true);
        check("getUserAccessToken2FromVault1", false);
        check("kubernetes-cluster-24-east-1", false);
        check("HTTPServerErrorHandler20", false);
        check("aaaaaaaaaaaaaaaa11", false);
        check("", false);
    }

    #[test]
    fn entropy_is_shannons() {
        // One of four equally likely signs is two bits; one sign alone none.
        assert!((bits("abcd") - 2.0).abs() < 1e-6 && bits("aaaa") == 0.0 && bits("") == 0.0);
    }

    #[test]
    fn what_stands_for_a_secret_is_none() {
        for value in
            ["<password>", "${TOKEN}", "your-api-key-here", "********", "AKIAIOSFODNN7EXAMPLE", "xxxx1xxxx"]
        {
            assert!(is_placeholder(value), "{value}");
        }
        for value in ["sk-xxx", "XXXX-1", "ghp_xxxxxxxxxxxxxxxxxxxx"] {
            assert!(is_placeholder(value), "{value}");
        }
        assert!(!is_placeholder("hunter2"));
        // Made keys may have three of them.
        // "your" and "rfc" came about.
        assert!(!is_placeholder("gItJjhVOOWYouRYSB3SC") && !is_placeholder("k2RfcVOOW0Yi8RYSB3SC"));
        assert!(is_placeholder("YOUR_KEY") && is_placeholder("aYourKey") && is_placeholder("RFC6238"));
        assert!(is_placeholder("sk-abc...") && is_placeholder("ghp_aB3…"));
        assert!(!is_placeholder("glpat-UG9PlnG6O90fEXXxmWwN") && !is_placeholder("Q3xxxW2LT5NVX8RDab"));
    }
}
