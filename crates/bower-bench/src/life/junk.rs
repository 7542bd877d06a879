//! Generates texts that an agent writes down and a memory should refuse.
//! The kinds are those that admission is asked to refuse: raw diffs, code alone, stack traces, git history, path dumps, session
//! summaries, boot-file restatements, logs, chatter, output of tools, secrets. Nothing is derived from the rules of admission.
//! What they look like stands in `junk.tsv`; a secret is put together while it is drawn, so that none stands there.

use super::words::{Draw, Fields, rule};

/// A kind of junk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Junk {
    Diff,
    Code,
    Trace,
    History,
    Paths,
    Summary,
    BootFile,
    Log,
    Chatter,
    Output,
    Secret,
}

/// Each kind with how often it comes, in thousandths: most of it what agents are told at each start, over and over, then noise of
/// their own work. The shares are our own guess.
pub const KINDS: &[(Junk, u64)] = &[
    (Junk::BootFile, 250),
    (Junk::Chatter, 150),
    (Junk::Log, 120),
    (Junk::Summary, 110),
    (Junk::Output, 90),
    (Junk::Diff, 60),
    (Junk::Code, 60),
    (Junk::Trace, 50),
    (Junk::History, 40),
    (Junk::Paths, 40),
    (Junk::Secret, 30),
];

/// A piece of junk, and the secret in it, if any.
pub fn draw(draw: &mut Draw) -> (Junk, String, Option<String>) {
    let (kind, _) = KINDS[draw.share(KINDS.iter().map(|(_, share)| *share))];
    let mut fields = Fields::default();
    // Each kind has a rule of its name, with one row.
    let mut text = draw.write(rule(&format!("{kind:?}").to_lowercase())[0], &mut fields);
    if kind == Junk::Secret {
        // What a row binds ends with its rule, and the secret is needed here.
        let row = draw.word(rule("secrets"));
        text += &draw.write(row, &mut fields);
    }
    let secret = fields.usual("secret").map(str::to_owned);
    (kind, text, secret)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_kind_is_drawn_and_a_secret_stands_in_its_text() {
        let mut chance = Draw::new(11);
        let mut kinds = BTreeSet::new();
        for _ in 0..2_000 {
            let (kind, text, secret) = draw(&mut chance);
            assert!(!text.trim().is_empty());
            assert_eq!(secret.is_some(), kind == Junk::Secret);
            assert!(secret.is_none_or(|secret| text.contains(&secret) && secret.len() >= 13));
            kinds.insert(kind);
        }
        assert_eq!(kinds.len(), KINDS.len());
    }
}
