//! Tests with real git repositories: moves, clones, worktrees, branches and commit messages.

use crate::command::{Home, until};
use crate::watching::Watcher;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Whether git can be run; without it these tests prove nothing, and say so.
fn has_git() -> bool {
    let has_git = Command::new("git").arg("--version").output().is_ok();
    if !has_git {
        eprintln!("NOT TESTED: there is no git here, which makes the repositories of this test");
    }
    has_git
}

/// Runs git as Ada, on a day of May 2026, without anybody's settings.
fn git<const N: usize>(at: &Path, day: u8, arguments: [&str; N]) {
    let mut command = Command::new("git");
    command.args(["-c", "init.defaultBranch=main"]).args(arguments).current_dir(at);
    let day = format!("2026-05-{day:02}T10:00:00+02:00");
    for (name, value) in [
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_AUTHOR_NAME", "Ada"),
        ("GIT_AUTHOR_EMAIL", "ada@example.com"),
        ("GIT_AUTHOR_DATE", &day),
        ("GIT_COMMITTER_NAME", "Ada"),
        ("GIT_COMMITTER_EMAIL", "ada@example.com"),
        ("GIT_COMMITTER_DATE", &day),
    ] {
        command.env(name, value);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Makes the repository `garden` with three notes, and a remote if one is given.
fn garden(home: &Home, remote: Option<&str>) {
    home.write("garden/soil.md", "# Soil\n\nThe zymurgy of compost takes a winter.\n");
    home.write(
        "garden/beds/tomato.md",
        "# Tomatoes\n\nAardvarks like tomatoes.\n\n## Water\n\nOnce a day.\n",
    );
    home.write("garden/beds/bean.md", "# Beans\n\nBeans climb a quokka.\n");
    let root = home.path("garden");
    git(&root, 1, ["init", "--quiet"]);
    if let Some(url) = remote {
        git(&root, 1, ["remote", "add", "origin", url]);
    }
    git(&root, 1, ["add", "."]);
    git(&root, 1, ["commit", "--quiet", "-m", "Plant the garden\n\nThe beds face south."]);
}

/// The stored documents: id, path below the temporary folder and branch, by path.
fn documents(home: &Home) -> Vec<(String, String, String)> {
    let exported = home.run(["export", "-", "--documents"]);
    assert_eq!(exported.status, 0, "{exported:?}");
    let folder = home.path("").canonicalize().unwrap();
    let text = |value: &Value| value.as_str().unwrap_or("").to_owned();
    let lines = exported.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut all: Vec<_> = lines
        .filter(|line| line["line"] == "document")
        .map(|one| {
            let path = text(&one["path"]);
            let below = Path::new(&path).strip_prefix(&folder).map(|path| path.display().to_string());
            (text(&one["id"]), below.unwrap_or(path), text(&one["metadata"]["branch"]))
        })
        .collect();
    all.sort_by(|one, other| one.1.cmp(&other.1));
    all
}

fn paths(home: &Home) -> Vec<String> {
    documents(home).into_iter().map(|(_, path, _)| path).collect()
}

/// The paths of the hits of a question with a filter.
fn found(home: &Home, filter: &str, question: &str) -> Vec<String> {
    let answer = home.data(["query", "--fast", "--filter", filter, question]);
    let hits = answer["results"].as_array().unwrap();
    hits.iter().map(|hit| hit["memory"]["metadata"]["path"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_moved_repository_keeps_its_documents_and_vectors() {
    if !has_git() {
        return;
    }
    let home = Home::with_model();
    garden(&home, Some("git@example.com:ada/garden.git"));
    let report = home.data(["index", "garden"]);
    assert!(report["embedded"].as_u64().unwrap() >= 3, "{report}");
    let before = documents(&home);
    assert_eq!(before[0].1, "garden/beds/bean.md");

    std::fs::rename(home.path("garden"), home.path("orchard")).unwrap();
    let report = home.data(["index", "orchard"]);
    assert_eq!((&report["moved"], &report["unchanged"]), (&3.into(), &3.into()), "{report}");
    assert_eq!((&report["embedded"], &report["removed"]), (&0.into(), &0.into()), "{report}");
    let after = documents(&home);
    assert_eq!(
        after.iter().map(|one| &one.0).collect::<Vec<_>>(),
        before.iter().map(|one| &one.0).collect::<Vec<_>>()
    );
    assert_eq!(paths(&home), ["orchard/beds/bean.md", "orchard/beds/tomato.md", "orchard/soil.md"]);
    let hits = found(&home, "{\"relative_path\":\"soil.md\"}", "zymurgy");
    assert!(hits.len() == 1 && hits[0].ends_with("orchard/soil.md"), "{hits:?}");
    assert_eq!(home.data(["index", "orchard"])["moved"], 0);

    // Moved, changed and deleted at once: only the changed part is embedded again.
    std::fs::rename(home.path("orchard"), home.path("field")).unwrap();
    home.write(
        "field/beds/tomato.md",
        "# Tomatoes\n\nAardvarks like tomatoes.\n\n## Water\n\nTwice a day, in the morning.\n",
    );
    std::fs::remove_file(home.path("field/soil.md")).unwrap();
    let report = home.data(["index", "field"]);
    assert_eq!((&report["moved"], &report["removed"]), (&1.into(), &1.into()), "{report}");
    assert_eq!((&report["indexed"], &report["embedded"]), (&1.into(), &1.into()), "{report}");
    assert_eq!(paths(&home), ["field/beds/bean.md", "field/beds/tomato.md"]);
}

#[test]
fn files_of_a_repository_have_the_same_ids_on_every_machine() {
    if !has_git() {
        return;
    }
    let ids = |url: &str, name: &str| {
        let home = Home::new();
        garden(&home, Some(url));
        std::fs::rename(home.path("garden"), home.path(name)).unwrap();
        home.data(["index", name]);
        documents(&home).into_iter().map(|(id, ..)| id).collect::<Vec<_>>()
    };
    let here = ids("git@example.com:ada/garden.git", "garden");
    assert_eq!(here, ids("https://ada:secret@example.com/ada/garden", "elsewhere"));
    assert_ne!(here, ids("https://example.com/bob/garden", "garden"));
}

#[test]
fn a_folder_without_git_is_moved_by_its_content() {
    let home = Home::with_model();
    home.write("notes/a.md", "# Apples\n\nApples ripen in autumn.\n");
    home.write("notes/deep/same.md", "# Same\n\nThe same in both.\n");
    home.write("notes/other/same.md", "# Same\n\nThe same in both.\n");
    home.data(["index", "notes"]);
    std::fs::rename(home.path("notes"), home.path("moved")).unwrap();
    let report = home.data(["index", "moved"]);
    assert_eq!((&report["moved"], &report["embedded"]), (&3.into(), &0.into()), "{report}");
    assert_eq!(paths(&home), ["moved/a.md", "moved/deep/same.md", "moved/other/same.md"]);
    // A copy is no move.
    home.write("copy/a.md", "# Apples\n\nApples ripen in autumn.\n");
    assert_eq!(home.data(["index", "copy"])["moved"], 0);
    assert_eq!(paths(&home).len(), 4);
    // Words and files find the documents where they are now.
    assert!(found(&home, "{}", "apples ripen")[0].ends_with("a.md"));
    let health = home.run(["doctor"]);
    assert_eq!(health.status, 0, "{health:?}");
}

#[test]
fn worktrees_share_their_documents_and_a_branch_is_a_filter() {
    if !has_git() {
        return;
    }
    let home = Home::new();
    garden(&home, None);
    home.data(["index", "garden"]);
    let before = documents(&home);
    assert!(before.iter().all(|one| one.2 == "main"), "{before:?}");

    git(&home.path("garden"), 2, ["worktree", "add", "--quiet", "-b", "feature/beans", "../beans"]);
    home.write("beans/beds/bean.md", "# Beans\n\nBeans climb a pole.\n");
    home.write("beans/beds/pea.md", "# Peas\n\nPeas climb a pole too.\n");
    let report = home.data(["index", "beans"]);
    assert_eq!((&report["moved"], &report["indexed"]), (&2.into(), &2.into()), "{report}");
    let paths_now = ["beans/beds/bean.md", "beans/beds/pea.md", "beans/beds/tomato.md", "beans/soil.md"];
    assert_eq!(paths(&home), paths_now);
    assert_eq!(documents(&home)[0].0, before[0].0, "a changed file is still the same document");
    assert_eq!(found(&home, "{\"branch\":\"feature/beans\"}", "climb").len(), 2);
    assert!(found(&home, "{\"branch\":\"main\"}", "climb").is_empty());

    // A switch of the branch changes no file here, only what is known of it.
    git(&home.path("beans"), 2, ["switch", "--quiet", "-c", "later"]);
    let report = home.data(["index", "beans"]);
    assert_eq!((&report["moved"], &report["unchanged"]), (&0.into(), &4.into()), "{report}");
    assert!(documents(&home).iter().all(|one| one.2 == "later"));

    // Another collection has documents of its own.
    home.data(["index", "garden", "--collection", "stable"]);
    assert_eq!(documents(&home).len(), 7);
}

#[test]
fn a_second_clone_has_documents_of_its_own() {
    if !has_git() {
        return;
    }
    let home = Home::new();
    garden(&home, Some("https://example.com/ada/garden"));
    home.data(["index", "garden"]);
    assert!(
        Command::new("cp")
            .args(["-r", "garden", "copy"])
            .current_dir(home.path(""))
            .status()
            .unwrap()
            .success()
    );
    for _ in 0..2 {
        home.data(["index", "copy"]);
        assert_eq!(home.data(["index", "garden"])["unchanged"], 3);
        assert_eq!(paths(&home).len(), 6);
    }
    // Where one is deleted, the other remains.
    std::fs::remove_dir_all(home.path("garden")).unwrap();
    let report = home.data(["index", "copy"]);
    assert_eq!((&report["removed"], &report["unchanged"]), (&3.into(), &3.into()), "{report}");
    assert_eq!(paths(&home), ["copy/beds/bean.md", "copy/beds/tomato.md", "copy/soil.md"]);
}

#[test]
fn files_that_are_known_by_their_paths_become_files_of_a_repository() {
    if !has_git() {
        return;
    }
    let home = Home::with_model();
    home.write("garden/soil.md", "# Soil\n\nThe zymurgy of compost takes a winter.\n");
    home.data(["index", "garden"]);
    let before = documents(&home);
    garden(&home, Some("https://example.com/ada/garden"));
    home.data(["index", "garden"]);
    let now = documents(&home);
    assert_eq!((&now[2].0, now[2].2.as_str()), (&before[0].0, "main"));
    std::fs::rename(home.path("garden"), home.path("field")).unwrap();
    let report = home.data(["index", "field"]);
    assert_eq!((&report["moved"], &report["embedded"]), (&3.into(), &0.into()), "{report}");
}

#[test]
fn commit_messages_are_dated_documents() {
    if !has_git() {
        return;
    }
    let home = Home::new();
    garden(&home, Some("https://example.com/ada/garden"));
    let root = home.path("garden");
    for (day, message) in
        [(3, "Water the tomatoes less\n\nTheir roots were rotting."), (4, "wip"), (5, "Try a narwhal")]
    {
        git(&root, day, ["commit", "--quiet", "--allow-empty", "-m", message]);
    }
    assert_eq!(home.data(["index", "garden"])["commits"], 0);
    let report = home.data(["index", "garden", "--set", "index_commits=10"]);
    assert_eq!((&report["commits"], &report["unchanged"]), (&3.into(), &3.into()), "{report}");
    let answer = home.data(["query", "--fast", "why were roots rotting"]);
    let metadata = &answer["results"][0]["memory"]["metadata"];
    assert!(metadata["path"].as_str().unwrap().starts_with("git:example.com/ada/garden/commit/"), "{answer}");
    assert_eq!(
        (&metadata["date"], &metadata["author"]),
        (&"2026-05-03T10:00:00+02:00".into(), &"Ada".into())
    );

    // A commit that a rebase or an amendment replaced goes.
    git(&root, 6, ["commit", "--quiet", "--allow-empty", "--amend", "-m", "Try a walrus"]);
    let report = home.data(["index", "garden", "--set", "index_commits=10"]);
    assert_eq!((&report["commits"], &report["chunks_added"]), (&3.into(), &1.into()), "{report}");
    assert!(found(&home, "{}", "narwhal").is_empty());
    assert_eq!(found(&home, "{}", "walrus").len(), 1);
    assert_eq!(home.data(["index", "garden", "--set", "index_commits=1"])["commits"], 1);
    assert_eq!(documents(&home).len(), 4);
    home.data(["index", "garden"]);
    assert_eq!(documents(&home).len(), 3);

    // Without git the files are indexed all the same, and the reason is given.
    std::fs::create_dir(home.path("empty")).unwrap();
    let empty = home.path("empty");
    let home = home.with("PATH", empty.to_str().unwrap());
    let report = home.data(["index", "garden", "--set", "index_commits=10"]);
    let reason = report["skipped"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("cannot run git") && reason.contains("index_commits"), "{report}");
}

#[test]
fn a_repository_without_a_commit_has_no_messages() {
    if !has_git() {
        return;
    }
    let home = Home::new();
    home.write("new/a.md", "# A\n\nNothing is committed.\n");
    git(&home.path("new"), 1, ["init", "--quiet"]);
    let report = home.data(["index", "new", "--set", "index_commits=10"]);
    assert_eq!((&report["commits"], &report["indexed"]), (&0.into(), &1.into()), "{report}");
    assert_eq!(report["skipped"].as_array().map(Vec::len), Some(0), "{report}");
}

#[test]
fn a_watched_repository_follows_its_branch() {
    if !has_git() {
        return;
    }
    let home = Home::new();
    garden(&home, None);
    let _watcher = Watcher::start(&home, "garden");
    git(&home.path("garden"), 2, ["checkout", "--quiet", "-b", "beans"]);
    until("the new branch", || documents(&home).iter().all(|(_, _, branch)| branch == "beans"));
}
