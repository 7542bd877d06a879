//! Checks that the files a document names exist, and that the changelog has the version of the workspace.

/// Endings of our own files: a document that names one means a file of the repository.
const OURS: &[&str] = &[".rs", ".py", ".sh", ".toml", ".yml"];

/// Names that belong to users' machines or to other programs.
const OTHERS: &[&str] = &["config.toml", "pyproject.toml", "config.yml", "docker-compose.yml"];

/// The files of the repository that a document names in backticks and that do not exist.
///
/// `paths` are all files of the repository. A name may leave out the folders before it: `rank/fuse.rs`, or `fuse.rs`. A folder ends in `/`
/// and stands below a source folder. Names with placeholders are passed over.
pub fn missing_files(document: &str, text: &str, paths: &[&str]) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut is_code = false;
    for (line, nth) in text.lines().zip(1..) {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        if is_code {
            continue;
        }
        for name in line.split('`').skip(1).step_by(2) {
            let name = name.trim_start_matches("./");
            if is_of_repository(name) && !exists(name, paths) {
                wrong.push(format!("{document}:{nth}: there is no {name}"));
            }
        }
    }
    wrong
}

/// Whether a name in backticks means a file of the repository.
fn is_of_repository(name: &str) -> bool {
    let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c));
    let file = name.rsplit('/').next().unwrap_or(name);
    let is_placeholder =
        name.split(['/', '.']).any(|part| part.len() > 2 && part.chars().all(|c| c.is_ascii_uppercase()));
    is_plain
        && !name.starts_with(['/', '.', '~'])
        && !is_placeholder
        && !OTHERS.contains(&file)
        && OURS.iter().any(|ending| file.len() > ending.len() && file.ends_with(ending))
}

fn exists(name: &str, paths: &[&str]) -> bool {
    paths
        .iter()
        .any(|path| path.strip_suffix(name).is_some_and(|before| before.is_empty() || before.ends_with('/')))
}

/// The changelog begins with changes that are not released, and its newest version is that of the workspace.
pub fn changelog_version(changelog: &str, manifest: &str) -> Vec<String> {
    let mut headings = changelog.lines().filter_map(|line| line.strip_prefix("## "));
    let mut wrong = Vec::new();
    if headings.next() != Some("[Unreleased]") {
        wrong.push("CHANGELOG.md: the first section must be [Unreleased]".to_owned());
    }
    let version = manifest.lines().find_map(|line| line.strip_prefix("version = \"")?.strip_suffix('"'));
    let newest = headings.next().and_then(|heading| heading.strip_prefix('[')?.split_once("] - "));
    if version.is_none() || newest.map(|(newest, _)| newest) != version {
        wrong.push(format!("CHANGELOG.md: the newest version is {newest:?}, Cargo.toml's {version:?}"));
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_changelog_has_the_version_of_the_workspace() {
        let manifest = "[workspace.package]\nversion = \"0.2.0\"\n";
        let good = "# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-11-25\n\n### Added\n";
        assert_eq!(changelog_version(good, manifest), Vec::<String>::new());
        assert_eq!(changelog_version(&good.replace("0.2.0", "0.1.0"), manifest).len(), 1);
        assert_eq!(changelog_version(&good.replace("## [Unreleased]\n\n", ""), manifest).len(), 2);
    }

    #[test]
    fn a_document_names_files_that_exist() {
        let paths = ["crates/a/src/rank/fuse.rs", "tools/x.py"];
        let text = "See `rank/fuse.rs`, `fuse.rs`, `tools/x.py`, `config.toml`, `rank/profile/NAME.rs`, `a.b()`.\n```\n`gone.rs`\n```\n";
        assert!(missing_files("A.md", text, &paths).is_empty());
        let wrong = missing_files("A.md", "x\n`rank/gone.rs` and `use.rs`", &paths);
        assert_eq!(wrong, ["A.md:2: there is no rank/gone.rs", "A.md:2: there is no use.rs"]);
    }
}
