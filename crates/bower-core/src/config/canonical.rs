//! Says which documents are canonical: patterns of file names and paths, as lines of a .gitignore have them.
//! Letter case never counts.

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use serde::{Deserialize, Serialize};
use std::path::Path;

use crate::error::{Error, Result};

/// The files whose lines are canonical facts. A pattern without `/` is the name of a file in any folder. One with `/` is the end of
/// a path, or a whole path if it begins with `/`. `*`, `?`, `[a-z]` and `**` are those of a .gitignore.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct CanonicalFiles(Vec<String>);

impl Default for CanonicalFiles {
    fn default() -> Self {
        Self(vec!["CANONICAL.md".to_owned()])
    }
}

impl CanonicalFiles {
    /// Checks patterns. An empty list names no file.
    pub fn new(patterns: Vec<String>) -> Result<Self> {
        for pattern in &patterns {
            check(pattern)?;
        }
        let files = Self(patterns.into_iter().map(|pattern| pattern.trim().to_owned()).collect());
        files.compiled()?;
        Ok(files)
    }

    /// Returns the patterns.
    pub fn patterns(&self) -> &[String] {
        &self.0
    }

    /// Compiles the patterns.
    pub(crate) fn matcher(&self) -> CanonicalMatcher {
        // Patterns that do not compile are refused when they are set.
        CanonicalMatcher(self.compiled().unwrap_or_else(|_| Gitignore::empty()))
    }

    fn compiled(&self) -> Result<Gitignore> {
        // Paths are given without the slash that they begin with, so the root is the folder that all are relative to.
        let mut builder = GitignoreBuilder::new("");
        let invalid = |what: &str, source: &ignore::Error| {
            Error::invalid(format!("canonical file {what:?}"), source.to_string().replace('\n', " "))
        };
        builder.case_insensitive(true).map_err(|source| invalid("", &source))?;
        for pattern in &self.0 {
            builder.add_line(None, &as_line(pattern)).map_err(|source| invalid(pattern, &source))?;
        }
        builder.build().map_err(|source| invalid(&self.0.join(", "), &source))
    }
}

/// Refuses a pattern that could not match any file.
fn check(pattern: &str) -> Result<()> {
    let refuse =
        |hint: &'static str| Err(Error::invalid(format!("canonical file {:?}", pattern.trim()), hint));
    let pattern = pattern.trim().replace('\\', "/");
    if pattern.trim_matches('/').is_empty() {
        return refuse("write the name of a file, such as CANONICAL.md, or a path, such as rules/*.md");
    }
    if pattern.starts_with('!') {
        return refuse("the list says which files are canonical; it has no exceptions");
    }
    if pattern.split('/').any(|part| part == "..") {
        return refuse("a pattern has no .. in it: write the end of the path, or all of it from /");
    }
    Ok(())
}

/// Returns a pattern as a line of a .gitignore.
fn as_line(pattern: &str) -> String {
    let pattern = pattern.trim().replace('\\', "/");
    let pattern = pattern.trim_start_matches("./");
    // Such a line would be a comment.
    let escaped = if pattern.starts_with('#') { format!("\\{pattern}") } else { pattern.to_owned() };
    // In a .gitignore, a pattern with a slash begins at its folder.
    let is_inside = pattern.trim_end_matches('/').contains('/') && !pattern.starts_with(['/', '*']);
    if is_inside { format!("**/{escaped}") } else { escaped }
}

impl TryFrom<Vec<String>> for CanonicalFiles {
    type Error = Error;

    fn try_from(patterns: Vec<String>) -> Result<Self> {
        Self::new(patterns)
    }
}

impl From<CanonicalFiles> for Vec<String> {
    fn from(files: CanonicalFiles) -> Self {
        files.0
    }
}

/// Compiled [`CanonicalFiles`].
#[derive(Debug)]
pub(crate) struct CanonicalMatcher(Gitignore);

impl CanonicalMatcher {
    /// Whether the document at a path is canonical.
    pub(crate) fn matches(&self, path: &str) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let path = path.replace('\\', "/");
        let path = path.trim_start_matches('/');
        // A pattern may name a folder: then all files below it count.
        let parts = path.match_indices('/').map(|(end, _)| &path[..end]);
        self.0.matched(Path::new(path), false).is_ignore()
            || parts.into_iter().any(|folder| self.0.matched(Path::new(folder), true).is_ignore())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(patterns: &str) -> Result<CanonicalFiles> {
        let patterns = patterns.split(',').filter(|pattern| !pattern.is_empty());
        CanonicalFiles::new(patterns.map(str::to_owned).collect())
    }

    #[test]
    fn patterns_name_files_and_ends_of_paths() {
        let check = |patterns: &str, path: &str, expected: bool| {
            assert_eq!(files(patterns).unwrap().matcher().matches(path), expected, "{patterns} {path}");
        };
        check("CANONICAL.md", "/home/ann/notes/canonical.MD", true);
        check("CANONICAL.md", "CANONICAL.md", true);
        check("CANONICAL.md", "/notes/MY-CANONICAL.md", false);
        check("rules/*.md", "/home/ann/notes/rules/ports.md", true);
        check("./rules/*.md", "rules/ports.md", true);
        check("rules/*.md", "/notes/rules/old/ports.md", false);
        check("rules/*.md", "/notes/overrules/ports.md", false);
        check("/notes/rules/*.md", "/home/notes/rules/ports.md", false);
        check("/notes/rules/*.md", "/notes/rules/ports.md", true);
        check("rules/", "/notes/rules/old/ports.md", true);
        check("rules/**", "/notes/rules/old/ports.md", true);
        check("rules\\ports.md", "C:\\notes\\rules\\ports.md", true);
        check("facts-?.md, # house.md", "/notes/# house.md", true);
        check("facts-?.md", "/notes/facts-1.md", true);
        check("ファクト.md", "/メモ/ファクト.md", true);
        check("", "/notes/CANONICAL.md", false);
        check("*.md", "", false);
    }

    #[test]
    fn what_no_file_could_match_is_refused() {
        for (text, reason) in [
            ("CANONICAL.md, /", "the name of a file"),
            ("!CANONICAL.md", "no exceptions"),
            ("../CANONICAL.md", "no .. in it"),
            ("rules/{a.md", "unclosed alternate group"),
        ] {
            let error = files(text).unwrap_err().to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
        let files = files("a.md, b/*.md").unwrap();
        assert_eq!(Vec::from(files.clone()), ["a.md", "b/*.md"]);
        assert_eq!(serde_json::to_string(&files).unwrap(), r#"["a.md","b/*.md"]"#);
        assert!(serde_json::from_str::<CanonicalFiles>(r#"[" "]"#).is_err());
    }
}
