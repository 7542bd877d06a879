//! Tells what a file is for by its path: it explains, or is a test, a changelog, a licence or generated.
//!
//! The names are those that projects agree on: GNU's standard files (`NEWS`, `ChangeLog`, `COPYING`), the folders of the test
//! frameworks, and the folders and endings that GitHub's linguist calls vendored or generated. A part of a path counts without its
//! digits and signs, so `RelNotes/2.1.txt`, `release-notes-2.1.md` and `CHANGELOG.Debian.gz` are all found.

use std::path::Path;

/// What a file is for, where it does not explain what it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileRole {
    /// Tests and their data.
    Test,
    /// Changelogs and release notes.
    History,
    /// Licences, and lists of authors.
    Legal,
    /// Lists of what is elsewhere: an index, a table of contents, a search page.
    Navigation,
    /// Files that a program wrote, recorded or copied from another project.
    Generated,
}

/// The names of one role, in small letters without digits and signs.
struct Names {
    role: FileRole,
    folders: &'static [&'static str],
    /// Names of files, without their extension.
    files: &'static [&'static str],
    /// Words in the name of a file beside its subject.
    words: &'static [&'static str],
    /// Beginnings of words by which a question asks for such files.
    asked: &'static [&'static str],
}

const NAMES: &[Names] = &[
    Names {
        role: FileRole::Test,
        folders: &["test", "tests", "testdata", "testsuite", "spec", "specs", "fixtures"],
        files: &["test", "tests", "conftest"],
        words: &["test", "tests", "spec"],
        asked: &["test", "spec", "fixture", "mock"],
    },
    Names {
        role: FileRole::History,
        folders: &["changelogs", "relnotes", "releasenotes", "whatsnew"],
        files: &[
            "changelog",
            "changes",
            "history",
            "news",
            "releasenotes",
            "releases",
            "relnotes",
            "whatsnew",
        ],
        words: &["changelog"],
        asked: &["chang", "releas", "version", "new", "histor", "upgrad"],
    },
    Names {
        role: FileRole::Legal,
        folders: &["licenses", "licences"],
        files: &[
            "license",
            "licensemit",
            "licenseapache",
            "licence",
            "copying",
            "copyinglesser",
            "copyright",
            "notice",
            "authors",
        ],
        words: &[],
        asked: &["licen", "copy", "notice", "author", "legal", "right"],
    },
    Names {
        role: FileRole::Navigation,
        folders: &[],
        files: &["genindex", "bookindex", "pymodindex", "sitemap", "toc", "tableofcontents"],
        words: &[],
        asked: &["index", "search", "content"],
    },
    Names {
        role: FileRole::Generated,
        folders: &["vendor", "vendored", "thirdparty", "nodemodules", "dist", "logs", "snapshots"],
        files: &["packagelock", "output", "stdout", "stderr"],
        words: &["min", "lock", "log", "map", "snap", "generated", "pb"],
        asked: &["vendor", "generat", "lock", "log", "output", "print", "snapshot", "dependenc"],
    },
];

impl FileRole {
    /// Returns the role of a file by its path below the folder that all files share; `None` for one that explains, or is code.
    pub fn of(path: &Path) -> Option<Self> {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_lowercase();
        let stem = letters(name.split('.').next().unwrap_or_default());
        let folders: Vec<String> = path
            .parent()
            .into_iter()
            .flat_map(Path::components)
            .filter_map(|part| part.as_os_str().to_str().map(letters))
            .collect();
        // `a.min.js` and `a.lock` by their dots, `a_test.go` and `test_a.py` by the sign that joins a word to the subject.
        let mut parts = name.split('.');
        let joined: Vec<&str> = parts.next().unwrap_or_default().split('_').collect();
        let outer = [joined.first(), joined.last()].into_iter().flatten().filter(|_| joined.len() > 1);
        let beside: Vec<&str> = outer.copied().chain(parts).collect();
        let fits = |names: &&Names| {
            names.files.contains(&stem.as_str())
                || folders.iter().any(|folder| names.folders.contains(&folder.as_str()))
                || beside.iter().any(|word| names.words.contains(word))
        };
        NAMES.iter().find(fits).map(|names| names.role)
    }

    /// Whether a question names such files, so that they answer it as well as others.
    pub fn is_asked(self, question: &str) -> bool {
        let asked = || NAMES.iter().filter(|names| names.role == self).flat_map(|names| names.asked);
        let mut words = question.split(|letter: char| !letter.is_alphanumeric()).map(str::to_lowercase);
        words.any(|word| asked().any(|begin| word.starts_with(begin)))
    }
}

/// Returns the letters of a name, in small letters.
fn letters(name: &str) -> String {
    name.chars().filter(|letter| letter.is_alphabetic()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_a_file_tells_what_it_is_for() {
        for (path, expected) in [
            ("tests/suite/main.rs", Some(FileRole::Test)),
            ("pkg/server_test.go", Some(FileRole::Test)),
            ("test_app.py", Some(FileRole::Test)),
            ("web/button.spec.ts", Some(FileRole::Test)),
            ("CHANGELOG.md", Some(FileRole::History)),
            ("changelog.Debian.gz", Some(FileRole::History)),
            ("RelNotes/2.39.1.txt", Some(FileRole::History)),
            ("whatsnew/3.11.html", Some(FileRole::History)),
            ("release-notes-1.2.md", Some(FileRole::History)),
            ("LICENSE-MIT", Some(FileRole::Legal)),
            ("COPYING", Some(FileRole::Legal)),
            ("html/genindex.html", Some(FileRole::Navigation)),
            ("web/vendor/jquery.js", Some(FileRole::Generated)),
            ("app.min.js", Some(FileRole::Generated)),
            ("Cargo.lock", Some(FileRole::Generated)),
            ("package-lock.json", Some(FileRole::Generated)),
            ("listing-04/output.txt", Some(FileRole::Generated)),
            ("server.log", Some(FileRole::Generated)),
            ("src/log.rs", None),
            ("src/map.rs", None),
            ("docs/testing.md", None),
            ("docs/lock.md", None),
            ("howto/logging.rst", None),
            ("git-log.html", None),
            ("", None),
        ] {
            assert_eq!(FileRole::of(Path::new(path)), expected, "{path}");
        }
    }

    #[test]
    fn a_question_may_ask_for_such_files() {
        assert!(FileRole::History.is_asked("What changed in 2.1?"));
        assert!(FileRole::Legal.is_asked("under which licence is it"));
        assert!(!FileRole::Test.is_asked("How do I undo a commit?"));
    }
}
