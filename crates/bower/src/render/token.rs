//! Renders access tokens for people.

use std::fmt::Write as _;

use super::{Look, style};
use crate::commands::token::{Created, Shown, Tokens};
use crate::http::tokens::Standing;

/// Renders `bower token create`.
pub fn created(created: &Created, look: &Look) -> String {
    format!(
        "{}\n{}: {}\nThis is the only time that it is shown. Send it as: Authorization: Bearer TOKEN\n",
        created.token,
        look.paint(style::NAME, &created.shown.name),
        reaches(&created.shown)
    )
}

/// Renders `bower token list`.
pub fn list(tokens: &Tokens, look: &Look) -> String {
    if tokens.tokens.is_empty() {
        return "no token was made: bower token create NAME makes one\n".into();
    }
    let widest = tokens.tokens.iter().map(|token| token.name.chars().count()).max().unwrap_or(0);
    let mut out = String::new();
    for token in &tokens.tokens {
        let name = format!("{:<widest$}", token.name);
        let standing = match token.standing {
            Standing::Active => style::GOOD,
            Standing::Expired | Standing::Revoked => style::BAD,
        };
        let _ = writeln!(
            out,
            "{}  {}  {}; made {}",
            look.paint(style::NAME, &name),
            look.paint(standing, &format!("{:<7}", token.standing.word())),
            reaches(token),
            look.age(token.create_time)
        );
    }
    out
}

/// Formats a token's limits.
fn reaches(token: &Shown) -> String {
    let mut parts = vec![token.access.word().to_owned()];
    if !token.collections.is_empty() {
        parts.push(format!("collections {}", token.collections.join(", ")));
    }
    parts.extend(token.scope.map(|scope| format!("scope {scope}")));
    parts.extend(token.owner.as_ref().map(|owner| format!("owner {owner}")));
    if parts.len() == 1 {
        parts.push("everything".into());
    }
    for folder in &token.folders {
        parts.push(format!("may index {}", folder.display()));
    }
    parts.extend(token.expire_time.map(|end| format!("until {end:.0}")));
    parts.join(", ")
}
