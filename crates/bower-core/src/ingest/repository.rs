//! Reads which git repository a folder belongs to, from the files of `.git` and without running git.
//!
//! A repository keeps its identity when it is moved, when it is cloned again, and in each of its worktrees. Only the first
//! lines of a few small files are read, and nothing in them is executed. What is read follows gitrepository-layout(5),
//! git-config(1) and "GIT URLS" in git-fetch(1).

use std::io::Read;
use std::path::{Path, PathBuf};

/// Most bytes of a file of `.git` that are read. A configuration with a thousand remotes is shorter.
const MOST_BYTES: u64 = 1 << 20;

/// The working tree of a git repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository {
    /// The topmost folder of the working tree.
    pub root: PathBuf,
    /// The folder of `.git` that all worktrees of the repository share.
    pub common: PathBuf,
    /// Name of the repository on every machine, such as `github.com/ada/garden`. Without a remote it is the path of the
    /// repository.
    pub identity: String,
    /// The checked-out branch; `None` if none is.
    pub branch: Option<String>,
}

/// Returns the repository whose working tree has its root here. A `.git` that git would not accept, or that this process may
/// not read, is none.
pub fn repository_at(root: &Path) -> Option<Repository> {
    let (git, common) = git_folders(root)?;
    let head = read(&git.join("HEAD"))?;
    let branch = branch_of(&head, &git)?;
    let common = std::fs::canonicalize(common).ok()?;
    let here = tree_of(&common);
    let remote = read(&common.join("config")).and_then(|config| remote_of(&config));
    let identity = remote.and_then(|url| identity_of(&url, here)).unwrap_or_else(|| plain(here));
    Some(Repository { root: root.to_path_buf(), common, identity, branch })
}

/// Returns the folder of a working tree's head, and the folder of objects and references, which all working trees of the
/// repository share. `None` where no working tree has its root.
pub(crate) fn git_folders(root: &Path) -> Option<(PathBuf, PathBuf)> {
    let git = git_folder(root)?;
    let common = read(&git.join("commondir")).map_or_else(|| git.clone(), |line| git.join(line.trim_end()));
    Some((git, common))
}

/// Returns the folder that `.git` is, or that it names: a worktree's or a submodule's `.git` is a file.
fn git_folder(root: &Path) -> Option<PathBuf> {
    let git = root.join(".git");
    let kind = std::fs::metadata(&git).ok()?;
    if kind.is_dir() {
        return Some(git);
    }
    if !kind.is_file() {
        return None;
    }
    let line = read(&git)?;
    Some(root.join(line.strip_prefix("gitdir: ")?.trim_end_matches(['\r', '\n'])))
}

/// Returns the checked-out branch; the outer `None` says that this is no `HEAD`. While a branch is rebased, no branch is
/// checked out, and git notes its name.
#[expect(clippy::option_option, reason = "no HEAD, and a HEAD without a branch, are different findings")]
fn branch_of(head: &str, git: &Path) -> Option<Option<String>> {
    let name = |text: &str| text.trim_end().strip_prefix("refs/heads/").map(str::to_owned);
    if let Some(reference) = head.strip_prefix("ref:") {
        // A repository with reftables has this name in place of a branch.
        return Some(name(reference.trim_start()).filter(|branch| branch != ".invalid"));
    }
    let is_commit =
        head.trim_end().len() >= 40 && head.trim_end().bytes().all(|byte| byte.is_ascii_hexdigit());
    is_commit.then(|| {
        let mut notes = ["rebase-merge/head-name", "rebase-apply/head-name"].into_iter();
        notes.find_map(|note| name(&read(&git.join(note))?))
    })
}

/// Returns the folder of a repository: the one that holds its `.git`.
fn tree_of(common: &Path) -> &Path {
    let is_git = common.file_name().is_some_and(|name| name == ".git");
    common.parent().filter(|_| is_git).unwrap_or(common)
}

fn read(path: &Path) -> Option<String> {
    // Opening what is no file, such as a named pipe, could wait for ever.
    if !std::fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path).ok()?.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the URL of the remote `origin`, else that of the only remote.
fn remote_of(config: &str) -> Option<String> {
    let mut remotes: Vec<(String, String)> = Vec::new();
    let mut section = None;
    for line in logical_lines(config) {
        let line = line.trim();
        if let Some(header) = line.strip_prefix('[') {
            section = remote_name(header);
        } else if let (Some(name), Some((key, value))) = (&section, line.split_once('='))
            && key.trim().eq_ignore_ascii_case("url")
            // The first URL is the one that git fetches from.
            && remotes.iter().all(|(known, _)| known != name)
        {
            remotes.push((name.clone(), unquoted(value)));
        }
    }
    let origin = remotes.iter().position(|(name, _)| name == "origin");
    let at = origin.or((remotes.len() == 1).then_some(0))?;
    Some(remotes.swap_remove(at).1)
}

/// Joins the lines that end with a backslash with the next ones.
fn logical_lines(config: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in config.lines() {
        let body = line.strip_suffix('\\');
        match lines.last_mut().filter(|_| goes_on) {
            Some(last) => last.push_str(body.unwrap_or(line)),
            None => lines.push(body.unwrap_or(line).to_owned()),
        }
        goes_on = body.is_some();
    }
    lines
}

/// Returns the name in `remote "NAME"]`; `None` for another section.
fn remote_name(header: &str) -> Option<String> {
    let (kind, rest) = header.split_once('"')?;
    kind.trim().eq_ignore_ascii_case("remote").then_some(())?;
    rest.rsplit_once('"').map(|(name, _)| name.replace("\\\"", "\"").replace("\\\\", "\\"))
}

/// Returns a value without its quotes and comment.
fn unquoted(value: &str) -> String {
    let (mut text, mut is_quoted) = (String::new(), false);
    let mut letters = value.trim().chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => is_quoted = !is_quoted,
            '\\' => text.extend(letters.next()),
            '#' | ';' if !is_quoted => break,
            other => text.push(other),
        }
    }
    text.trim_end().to_owned()
}

/// Returns what all URLs of one repository have in common: host and path, without user, password and `.git`. `None` if the
/// URL belongs to a program that git would start. A path is relative to `here`.
fn identity_of(url: &str, here: &Path) -> Option<String> {
    if let Some((scheme, rest)) = url.split_once("://") {
        let scheme = scheme.to_ascii_lowercase();
        if scheme == "file" {
            return Some(plain(Path::new(rest)));
        }
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let server = authority.rsplit_once('@').map_or(authority, |(_, server)| server);
        let (host, port) = match server.rsplit_once(':') {
            // The colons within brackets belong to an IPv6 address.
            Some((host, port)) if !port.contains(']') => (host, port),
            Some(_) | None => (server, ""),
        };
        // The port of SSH says nothing: the same server serves the same repositories over HTTPS on another.
        let is_usual = match scheme.as_str() {
            "https" => ["", "443"].contains(&port),
            "http" => ["", "80"].contains(&port),
            _ => true,
        };
        let port = if is_usual { String::new() } else { format!(":{port}") };
        return joined(&format!("{}{port}", host.to_ascii_lowercase()), path);
    }
    if url.contains("::") {
        return None;
    }
    match url.split_once(':') {
        // As git has it: a slash before the colon, or a drive's letter, makes it a path.
        Some((server, path)) if !server.contains('/') && server.len() > 1 => {
            let host = server.rsplit_once('@').map_or(server, |(_, host)| host);
            joined(&host.to_ascii_lowercase(), path)
        }
        Some(_) | None if url.is_empty() => None,
        Some(_) | None => {
            let path = here.join(url);
            Some(plain(&std::fs::canonicalize(&path).unwrap_or(path)))
        }
    }
}

/// Joins a host and a path of a URL; `None` if one of them is empty.
fn joined(host: &str, path: &str) -> Option<String> {
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let path = parts.join("/");
    let path = path.strip_suffix(".git").unwrap_or(&path).trim_end_matches('/');
    (!host.is_empty() && !path.is_empty()).then(|| format!("{host}/{path}"))
}

/// Returns a repository's path without `.git`, so that a repository and its clones on this machine agree.
fn plain(path: &Path) -> String {
    let text = tree_of(path).to_string_lossy().into_owned();
    let text = text.trim_end_matches(['/', '\\']);
    text.strip_suffix(".git").unwrap_or(text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Writes files below a new folder; the folder's name does not begin with a dot.
    fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::Builder::new().prefix("tree").tempdir().expect("a folder");
        for (path, text) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            std::fs::write(path, text).expect("written");
        }
        let root = folder.path().canonicalize().expect("there");
        (folder, root)
    }

    /// Returns the innermost repository that contains a path.
    fn repository_of(path: &Path) -> Option<Repository> {
        path.ancestors().find_map(repository_at)
    }

    const ORIGIN: &str =
        "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = git@GitHub.com:ada/garden.git\n";
    const COMMIT: &str = "8f3c2a6d0b1e4f5a6b7c8d9e0f1a2b3c4d5e6f70\n";

    #[track_caller]
    fn check(url: &str, expected: Option<&str>) {
        assert_eq!(identity_of(url, Path::new("/srv/here")).as_deref(), expected, "{url}");
    }

    #[test]
    fn all_urls_of_a_repository_have_one_identity() {
        for url in [
            "https://github.com/ada/garden.git",
            "https://github.com/ada/garden/",
            "https://ada:secret@GitHub.com:443/ada/garden",
            "http://github.com:80//ada/garden.git/",
            "ssh://git@github.com:2222/ada/garden.git",
            "git://github.com/ada/garden",
            "git@github.com:ada/garden.git",
            "github.com:/ada/garden",
            "git+ssh://github.com/ada/garden.git?x#y",
        ] {
            check(url, Some("github.com/ada/garden"));
        }
        check("https://git.example.com:8443/Ada/Garden", Some("git.example.com:8443/Ada/Garden"));
        check("ssh://git@[::1]:22/srv/x.git", Some("[::1]/srv/x"));
        check("file:///srv/git/garden.git", Some("/srv/git/garden"));
        check("/srv/git/garden/.git", Some("/srv/git/garden"));
        check("../a:b", Some("/srv/here/../a:b"));
        check("ext::sh -c x", None);
        for empty in ["", "https://", "https://host", "host:", "https:///a"] {
            check(empty, None);
        }
    }

    #[test]
    fn a_configuration_names_its_remote() {
        for (config, expected) in [
            (ORIGIN, Some("git@GitHub.com:ada/garden.git")),
            ("[remote \"a\"]\nurl=x\n[remote \"origin\"]\nURL = \"y # z\" ; why\nurl = w\n", Some("y # z")),
            ("[Remote \"a\"]\n  url = x\\\ny\n[branch \"b\"]\nurl = n\n", Some("xy")),
            ("[remote \"a\"]\nurl = x\n[remote \"b\"]\nurl = y\n", None),
            ("[remote \"a\"]\nfetch = x\n", None),
            ("", None),
        ] {
            assert_eq!(remote_of(config).as_deref(), expected, "{config}");
        }
    }

    #[test]
    fn a_path_belongs_to_the_innermost_repository() {
        let (_folder, root) = tree(&[
            (".git/HEAD", "ref: refs/heads/feature/soil\n"),
            (".git/config", ORIGIN),
            ("vendor/lib/.git/HEAD", COMMIT),
            ("vendor/lib/.git/config", "[core]\n"),
            ("vendor/broken/.git/HEAD", "nothing\n"),
        ]);
        let outer = Repository {
            root: root.clone(),
            common: root.join(".git"),
            identity: "github.com/ada/garden".to_owned(),
            branch: Some("feature/soil".to_owned()),
        };
        assert_eq!(repository_of(&root.join("docs/a.md")), Some(outer.clone()));
        assert_eq!(repository_of(&root.join("vendor/broken")), Some(outer));
        let inner = repository_of(&root.join("vendor/lib/src")).expect("a repository");
        assert_eq!(inner.identity, root.join("vendor/lib").to_string_lossy());
        assert_eq!(inner.branch, None);
    }

    #[test]
    fn a_worktree_shares_its_repository() {
        let (_folder, root) = tree(&[
            ("main/.git/HEAD", "ref: refs/heads/main\n"),
            ("main/.git/worktrees/x/HEAD", COMMIT),
            ("main/.git/worktrees/x/commondir", "../..\n"),
            ("main/.git/worktrees/x/rebase-merge/head-name", "refs/heads/fix\n"),
            ("main/.git/modules/sub/HEAD", "ref: refs/heads/trunk\n"),
            ("main/.git/modules/sub/config", ORIGIN),
            ("main/sub/.git", "gitdir: ../.git/modules/sub\n"),
        ]);
        std::fs::create_dir(root.join("x")).expect("made");
        let names = format!("gitdir: {}\n", root.join("main/.git/worktrees/x").display());
        std::fs::write(root.join("x/.git"), names).expect("written");
        let (main, worktree) = (repository_at(&root.join("main")), repository_at(&root.join("x")));
        let (main, worktree) = (main.expect("a repository"), worktree.expect("a repository"));
        assert_eq!((&main.common, &main.identity), (&worktree.common, &worktree.identity));
        assert_eq!((main.branch.as_deref(), worktree.branch.as_deref()), (Some("main"), Some("fix")));
        let sub = repository_at(&root.join("main/sub")).expect("a repository");
        assert_eq!((sub.identity.as_str(), sub.branch.as_deref()), ("github.com/ada/garden", Some("trunk")));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "(\\[remote \"|\"\\]|url ?=|\\\\|\n|://|::|[@:/#;\" ]|[a-zé]{1,5}){0,40}") {
            if let Some(url) = remote_of(&text) {
                identity_of(&url, Path::new("/srv"));
            }
            identity_of(&text, Path::new("/srv"));
            branch_of(&text, Path::new("/nowhere"));
        }
    }
}
