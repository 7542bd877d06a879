//! Implements `bower token`: creates, lists and revokes the access tokens of `bower serve`.
//! It opens no store.

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use std::path::PathBuf;

use super::{Session, now};
use crate::cli::{TokenAction, TokenArgs, TokenCreateArgs};
use crate::failure::{Failure, Result};
use crate::http::tokens::{self, Standing, Token};
use crate::render;
use crate::service::Access;

/// A token for display, without its hash.
#[derive(Debug, Serialize)]
pub struct Shown {
    /// Name of the token.
    pub name: String,
    /// Access that it grants.
    pub access: Access,
    /// Whether it is in force.
    pub standing: Standing,
    /// Collections that it is limited to; empty means all.
    pub collections: Vec<String>,
    /// Scope that it is limited to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<bower_core::item::Scope>,
    /// Owner that it is limited to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Folders that may be indexed with it.
    pub folders: Vec<PathBuf>,
    /// Time of its creation.
    pub create_time: Timestamp,
    /// Time from which it is expired.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expire_time: Option<Timestamp>,
    /// Time of its revocation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revoke_time: Option<Timestamp>,
}

impl Shown {
    fn new(token: Token, now: Timestamp) -> Self {
        Self {
            standing: token.standing(now),
            name: token.name,
            access: token.access,
            collections: token.collections,
            scope: token.scope,
            owner: token.owner,
            folders: token.folders,
            create_time: token.create_time,
            expire_time: token.expire_time,
            revoke_time: token.revoke_time,
        }
    }
}

/// A new token; this is the only time that it is shown.
#[derive(Debug, Serialize)]
pub struct Created {
    /// The token itself.
    pub token: String,
    /// Its limits.
    #[serde(flatten)]
    pub shown: Shown,
}

/// List of all tokens.
#[derive(Debug, Serialize)]
pub struct Tokens {
    /// Oldest first.
    pub tokens: Vec<Shown>,
}

/// Runs the command.
pub fn run(arguments: TokenArgs, session: &Session) -> Result<()> {
    let (home, now) = (session.home()?, now());
    match arguments.action {
        TokenAction::Create(arguments) => {
            let (token, secret) = tokens::create(&home.path, token(arguments, now)?)?;
            let created = Created { token: secret, shown: Shown::new(token, now) };
            session.out.say(&created, |look| render::token::created(&created, look))
        }
        TokenAction::List => {
            let all = tokens::list(&home.path)?;
            let tokens = Tokens { tokens: all.into_iter().map(|token| Shown::new(token, now)).collect() };
            session.out.say(&tokens, |look| render::token::list(&tokens, look))
        }
        TokenAction::Revoke { name } => {
            let shown = Shown::new(tokens::revoke(&home.path, &name, now)?, now);
            session.out.say(&shown, |_| format!("token {name} is revoked\n"))
        }
    }
}

fn token(arguments: TokenCreateArgs, now: Timestamp) -> Result<Token> {
    if !arguments.folder.is_empty() && arguments.access != Access::Admin {
        return Err(Failure::usage("--folder is for --access admin", "add --access admin, or leave it out"));
    }
    if !arguments.folder.is_empty() && (arguments.scope.is_some() || arguments.owner.is_some()) {
        return Err(Failure::usage(
            "--folder is not for a token of one scope or owner",
            "a document belongs to its last indexer: limit such a token by --collection instead",
        ));
    }
    let folders = arguments.folder.iter().map(|folder| {
        let real = folder.canonicalize().map_err(|source| bower_core::Error::io("find", folder, source))?;
        if real.is_dir() {
            return Ok(real);
        }
        Err(Failure::usage(format!("{} is no folder", folder.display()), "name a folder"))
    });
    let expire_time = arguments.expires.map(|span| {
        let span = SignedDuration::try_from(span).unwrap_or(SignedDuration::MAX);
        now.checked_add(span)
            .map_err(|_| Failure::usage("--expires is too far away", "leave it out for no end"))
    });
    if arguments.collection.iter().any(|name| name.trim().is_empty()) {
        return Err(Failure::usage("--collection is empty", "name a collection, or leave it out for all"));
    }
    Ok(Token {
        name: arguments.name,
        sha256: String::new(),
        access: arguments.access,
        collections: arguments.collection,
        scope: arguments.scope,
        owner: arguments.owner,
        folders: folders.collect::<Result<_>>()?,
        create_time: now,
        expire_time: expire_time.transpose()?,
        revoke_time: None,
    })
}
