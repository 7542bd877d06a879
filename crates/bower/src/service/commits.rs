//! Reads the commit messages of a repository as dated documents, by running the user's `git log`.
//!
//! A message is known by its repository and its commit, so it is the same document in every clone and worktree. Settings
//! of the repository cannot make git start another program here, and git fetches nothing.

use bower_core::engine::{DocumentInput, DocumentSeries};
use bower_core::item::Scope;
use bower_core::request::Skipped;
use bower_core::shared::Repository;
use serde_json::{Map, Value};
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// The fields of a commit, each ended by a zero byte, which no message contains: hash, date of the author, author, message.
const FORMAT: &str = "--format=%H%x00%aI%x00%an%x00%B%x00";
/// Number of those fields.
const FIELDS: usize = 4;

/// Variables that say which repository git works on; a hook of git sets them.
const ELSEWHERE: &[&str] = &[
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_NAMESPACE",
];

/// Returns the documents that hold a repository's messages in a collection, for a scope and owner.
pub(super) fn series(
    repository: &Repository,
    collection: Option<String>,
    scope: Scope,
    owner: Option<String>,
) -> DocumentSeries {
    DocumentSeries { collection, scope, owner, prefix: format!("git:{}/commit/", repository.identity) }
}

/// Reads the newest messages, at most `most` of them. If git cannot be run, the error says why.
pub(super) fn read(
    repository: &Repository,
    most: usize,
    prefix: &str,
) -> Result<Vec<DocumentInput>, Skipped> {
    if most == 0 {
        return Ok(Vec::new());
    }
    let failed = |reason: String| Skipped { path: repository.root.clone(), reason };
    let count = format!("--max-count={most}");
    let log = ["log", "--no-merges", "--no-show-signature", "--no-color", "--encoding=UTF-8", &count, FORMAT];
    let output = git(&repository.root, &log).map_err(failed)?;
    if output.status.success() {
        return Ok(documents(&String::from_utf8_lossy(&output.stdout), repository, prefix));
    }
    // A repository without a commit has no messages.
    let head = git(&repository.root, &["rev-parse", "--verify", "--quiet", "HEAD"]).map_err(failed)?;
    if !head.status.success() && head.stderr.is_empty() {
        return Ok(Vec::new());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let reason = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("it says nothing");
    Err(failed(format!("commit messages cannot be read: git log failed: {}", reason.trim())))
}

fn git(root: &Path, arguments: &[&str]) -> Result<Output, String> {
    let mut command = Command::new("git");
    for variable in ELSEWHERE {
        command.env_remove(variable);
    }
    command
        // Another program that the repository's settings name: to verify signatures, to watch files.
        .args(["--no-pager", "-c", "log.showSignature=false", "-c", "core.fsmonitor=false", "-C"])
        .arg(root)
        .args(arguments)
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()
        .map_err(|cause| {
            format!("commit messages cannot be read: cannot run git: {cause}; install git, or set index_commits to 0")
        })
}

/// Makes a document of each commit, except for those that say nothing.
fn documents(log: &str, repository: &Repository, prefix: &str) -> Vec<DocumentInput> {
    let fields: Vec<&str> = log.split('\0').collect();
    let commits = fields.chunks_exact(FIELDS);
    commits
        .filter_map(|commit| {
            // Each commit ends with the end of a line, which stands before the hash of the next one.
            let (hash, date, author, message) =
                (commit[0].trim_start(), commit[1], commit[2], commit[3].trim());
            let (subject, body) = message.split_once('\n').unwrap_or((message, ""));
            let is_one_word = !message.contains(char::is_whitespace);
            if is_one_word {
                return None;
            }
            let field = |name: &str, value: &str| (name.to_owned(), Value::from(value));
            let metadata = Map::from_iter([
                field("repository", &repository.identity),
                field("commit", hash),
                field("author", author),
                field("date", date),
            ]);
            Some(DocumentInput {
                id: format!("{prefix}{hash}"),
                title: Some(subject.trim().to_owned()),
                text: body.trim().to_owned(),
                metadata,
                ..DocumentInput::default()
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_become_documents_and_single_words_do_not() {
        let repository = Repository {
            root: "/w/garden".into(),
            common: "/w/garden/.git".into(),
            identity: "example.com/ada/garden".into(),
            branch: None,
        };
        let log = "aa11\x002026-03-01T09:00:00+01:00\0Ada\0Water the tomatoes less\n\nThe roots were rotting.\n\0\n\
                   bb22\x002026-02-01T09:00:00Z\0Bob\0wip\n\0\ncc33\x002026-01-01T09:00:00Z\0Bob\0Plant tomatoes\n\0\n";
        let series = series(&repository, None, Scope::Project, None);
        let found = documents(log, &repository, &series.prefix);
        let told: Vec<_> = found
            .iter()
            .map(|one| (one.id.as_str(), one.title.as_deref().unwrap_or(""), one.text.as_str()))
            .collect();
        assert_eq!(
            told,
            [
                (
                    "git:example.com/ada/garden/commit/aa11",
                    "Water the tomatoes less",
                    "The roots were rotting."
                ),
                ("git:example.com/ada/garden/commit/cc33", "Plant tomatoes", ""),
            ]
        );
        assert_eq!(found[0].metadata["date"], "2026-03-01T09:00:00+01:00");
        assert_eq!(found[0].metadata["author"], "Ada");
    }
}
