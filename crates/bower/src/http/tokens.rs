//! Stores the tokens of callers other than this machine's own programs, in `tokens.json` in the home.
//! The file contains only hashes of tokens. It is not part of the store, so neither exports nor backups contain it.
//!
//! A token is 256 random bits, so a plain SHA-256 of it is enough. There is no dictionary to try, as there is for
//! passwords, and a slow hash would only slow down every request.

use bower_core::files;
use bower_core::item::{Scope, hex};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;
use subtle::ConstantTimeEq;

use crate::failure::{Exit, Failure, Hint, Result};
use crate::service::{Access, Bounds};

/// Name of the file in the home.
pub const FILE: &str = "tokens.json";

/// Prefix of every token, so that people and secret scanners recognize it.
const PREFIX: &str = "bower_";

/// Version of the file format. A newer one is refused.
const VERSION: u32 = 1;

/// A stored token: everything but the secret itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Token {
    /// Name of its holder or purpose, unique among active tokens.
    pub name: String,
    /// SHA-256 of the token, hex.
    pub sha256: String,
    /// Operations that it allows.
    pub access: Access,
    /// Allowed collections; empty allows all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub collections: Vec<String>,
    /// Allowed scope; none allows all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// Allowed owner; none allows all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Folders of this machine that it allows to index.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<PathBuf>,
    /// Time of its creation.
    pub create_time: Timestamp,
    /// Time at which it expires; none if it never does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expire_time: Option<Timestamp>,
    /// Time at which it was revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoke_time: Option<Timestamp>,
}

/// Whether a token is active.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// It is valid.
    Active,
    /// It has expired.
    Expired,
    /// It was revoked.
    Revoked,
}

impl Standing {
    /// Returns its name as text.
    pub fn word(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Expired => "expired",
            Self::Revoked => "revoked",
        }
    }
}

impl Token {
    /// Returns its standing at a time.
    pub fn standing(&self, now: Timestamp) -> Standing {
        if self.revoke_time.is_some() {
            Standing::Revoked
        } else if self.expire_time.is_some_and(|end| end <= now) {
            Standing::Expired
        } else {
            Standing::Active
        }
    }

    /// Returns the access bounds of its callers.
    pub fn bounds(&self) -> Bounds {
        Bounds {
            scope: self.scope,
            owner: self.owner.clone(),
            collections: self.collections.clone(),
            access: self.access,
            host: Some(self.name.clone()),
            ..Bounds::default()
        }
    }
}

/// Content of the file.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    version: u32,
    tokens: Vec<Token>,
}

/// Returns the tokens of a home, oldest first; none where there is no file.
pub fn list(home: &Path) -> Result<Vec<Token>> {
    read(&home.join(FILE))
}

/// Creates a token. The secret is returned here and never shown again.
pub fn create(home: &Path, mut token: Token) -> Result<(Token, String)> {
    let mut secret = [0_u8; 32];
    getrandom::fill(&mut secret).map_err(|source| {
        Failure::environment(format!("the system returned no random numbers: {source}"), "run it again")
    })?;
    let secret = format!("{PREFIX}{}", hex(&secret));
    token.sha256 = hash(&secret);
    let now = token.create_time;
    change(home, |tokens| {
        if tokens.iter().any(|other| other.name == token.name && other.standing(now) == Standing::Active) {
            return Err(Failure::usage(
                format!("a token named {} is in force", token.name),
                "give another name, or bower token revoke it first",
            ));
        }
        tokens.push(token.clone());
        Ok(())
    })?;
    Ok((token, secret))
}

/// Revokes the token of this name. A running server refuses it from the next request on.
pub fn revoke(home: &Path, name: &str, now: Timestamp) -> Result<Token> {
    let mut revoked = None;
    change(home, |tokens| {
        let found = tokens.iter_mut().rev().find(|token| token.name == name && token.revoke_time.is_none());
        let token = found.ok_or_else(|| Failure {
            message: format!("no token {name}"),
            hint: Some(Hint::same("bower token list shows them")),
            exit: Exit::Nothing,
            causes: Vec::new(),
        })?;
        token.revoke_time = Some(now);
        revoked = Some(token.clone());
        Ok(())
    })?;
    revoked.ok_or_else(|| Failure::internal("a token was revoked and is not there"))
}

/// Returns the hash that is stored for a token.
fn hash(token: &str) -> String {
    hex(&Sha256::digest(token.as_bytes()))
}

fn read(path: &Path) -> Result<Vec<Token>> {
    let failed = |source| Failure::from(bower_core::Error::io("read", path, source));
    let mut text = String::new();
    match File::open(path) {
        Ok(mut file) => file.read_to_string(&mut text).map_err(failed)?,
        Err(source) if source.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) if source.kind() == std::io::ErrorKind::NotADirectory => return Ok(Vec::new()),
        Err(source) => return Err(failed(source)),
    };
    let hint = "put a copy of it back, or delete it and make new tokens";
    let broken = |why: String| Failure::environment(format!("{}: {why}", path.display()), hint);
    let kept: Kept = serde_json::from_str(&text).map_err(|source| broken(source.to_string()))?;
    if kept.version != VERSION {
        return Err(broken(format!("its form is {}, and {VERSION} is known", kept.version)));
    }
    Ok(kept.tokens)
}

/// Changes the file atomically: readers see it before or after the change, and writers wait for each other.
fn change(home: &Path, body: impl FnOnce(&mut Vec<Token>) -> Result<()>) -> Result<()> {
    let path = home.join(FILE);
    let failed = |doing, path: &Path, source| Failure::from(bower_core::Error::io(doing, path, source));
    files::create_folder(home).map_err(|source| failed("create the folder", home, source))?;
    let lock_path = home.join("tokens.lock");
    let lock = files::open_or_create(&lock_path).map_err(|source| failed("open", &lock_path, source))?;
    lock.lock().map_err(|source| failed("lock", &lock_path, source))?;
    let mut tokens = read(&path)?;
    body(&mut tokens)?;
    let text = serde_json::to_string_pretty(&Kept { version: VERSION, tokens })
        .map_err(|source| Failure::internal(format!("cannot write JSON: {source}")))?;
    let aside = home.join("tokens.json.new");
    // A file that an earlier process left there may have other permissions.
    let _ = std::fs::remove_file(&aside);
    let written = files::create_new(&aside).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.write_all(b"\n")?;
        file.sync_all()
    });
    written.map_err(|source| failed("write", &aside, source))?;
    std::fs::rename(&aside, &path).map_err(|source| failed("write", &path, source))
}

/// The tokens as a server reads them. The file is read again when it has changed, so that a revoked token is refused at
/// once.
#[derive(Debug)]
pub struct Tokens {
    path: PathBuf,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    stamp: Option<Stamp>,
    tokens: Option<Arc<Vec<Token>>>,
}

/// Metadata that differs when the file or its content differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    bytes: u64,
    modified: Option<SystemTime>,
    number: u64,
}

impl Tokens {
    /// Reads the tokens of a home.
    pub fn of(home: &Path) -> Self {
        Self { path: home.join(FILE), known: Mutex::default() }
    }

    /// Returns all tokens, revoked ones too. Fails if the file cannot be read: an unreadable file admits no one.
    pub fn all(&self) -> Result<Arc<Vec<Token>>> {
        let stamp = std::fs::metadata(&self.path).ok().map(|file| Stamp {
            bytes: file.len(),
            modified: file.modified().ok(),
            #[cfg(unix)]
            number: std::os::unix::fs::MetadataExt::ino(&file),
            #[cfg(not(unix))]
            number: 0,
        });
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tokens) = known.tokens.as_ref().filter(|_| known.stamp == stamp) {
            return Ok(Arc::clone(tokens));
        }
        known.tokens = None;
        let tokens = Arc::new(read(&self.path)?);
        *known = Known { stamp, tokens: Some(Arc::clone(&tokens)) };
        Ok(tokens)
    }

    /// Finds a token by its secret, also an expired or revoked one. Every stored hash is compared in constant time, so
    /// that the duration reveals nothing.
    pub fn find(&self, shown: &str) -> Result<Option<Token>> {
        let shown = hash(shown);
        let mut found = None;
        for token in self.all()?.iter() {
            if bool::from(token.sha256.as_bytes().ct_eq(shown.as_bytes())) {
                found = Some(token.clone());
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn token(name: &str) -> Token {
        Token {
            name: name.into(),
            sha256: String::new(),
            access: Access::Read,
            collections: Vec::new(),
            scope: None,
            owner: None,
            folders: Vec::new(),
            create_time: at("2026-01-01T00:00:00Z"),
            expire_time: Some(at("2026-02-01T00:00:00Z")),
            revoke_time: None,
        }
    }

    #[test]
    fn a_token_is_kept_as_its_hash_alone_and_known_by_itself() {
        let home = tempfile::tempdir().unwrap();
        let tokens = Tokens::of(home.path());
        assert!(tokens.all().unwrap().is_empty());
        let (kept, secret) = create(home.path(), token("ci")).unwrap();
        assert!(secret.starts_with("bower_") && secret.len() == 70, "{} digits", secret.len());
        // printf %s "$secret" | sha256sum
        assert_eq!(kept.sha256, hex(&Sha256::digest(&secret)));
        let text = std::fs::read_to_string(home.path().join(FILE)).unwrap();
        assert!(!text.contains(&secret) && text.contains(&kept.sha256));
        assert_eq!(tokens.find(&secret).unwrap(), Some(kept));
        assert_eq!(tokens.find(&secret[..69]).unwrap(), None);
        assert_eq!(tokens.find("").unwrap(), None);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(home.path().join(FILE)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }

    #[test]
    fn a_token_is_in_force_until_it_expires_or_is_revoked_and_its_name_is_free_then() {
        let home = tempfile::tempdir().unwrap();
        let tokens = Tokens::of(home.path());
        let (kept, secret) = create(home.path(), token("ci")).unwrap();
        assert_eq!(kept.standing(at("2026-01-31T23:59:59Z")), Standing::Active);
        assert_eq!(kept.standing(at("2026-02-01T00:00:00Z")), Standing::Expired);
        assert!(create(home.path(), token("ci")).unwrap_err().message.contains("in force"));
        let now = at("2026-01-02T00:00:00Z");
        assert_eq!(revoke(home.path(), "ci", now).unwrap().standing(now), Standing::Revoked);
        // A reader that read the file before sees the change.
        assert_eq!(tokens.find(&secret).unwrap().unwrap().standing(now), Standing::Revoked);
        assert_eq!(revoke(home.path(), "ci", now).unwrap_err().exit, Exit::Nothing);
        create(home.path(), token("ci")).unwrap();
        assert_eq!(list(home.path()).unwrap().len(), 2);
    }

    #[test]
    fn a_file_that_cannot_be_understood_lets_nobody_in() {
        let home = tempfile::tempdir().unwrap();
        let tokens = Tokens::of(home.path());
        let (_, secret) = create(home.path(), token("ci")).unwrap();
        assert!(tokens.find(&secret).unwrap().is_some());
        for broken in ["{", r#"{"version":9,"tokens":[]}"#, r#"{"version":1,"tokens":[],"x":1}"#] {
            std::fs::write(home.path().join(FILE), broken).unwrap();
            assert!(tokens.find(&secret).is_err(), "{broken}");
            assert!(create(home.path(), token("another")).is_err(), "what is there is not written over");
        }
    }
}
