//! Tests what `bower setup` does to the files of hosts, and that nothing is left of it after removal.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::command::{Ended, Home};

const HOSTS: [&str; 7] = ["claude-code", "codex", "copilot", "cursor", "gemini", "opencode", "vscode"];

/// A user's home beside Bowerbird's.
fn user() -> Home {
    let home = Home::new();
    let user = home.path("user");
    std::fs::create_dir_all(&user).unwrap();
    let user = user.to_str().unwrap().to_owned();
    home.with("HOME", &user)
}

fn setup(home: &Home, arguments: &[&str]) -> Ended {
    let mut all = vec!["setup"];
    all.extend(arguments);
    Ended::from(home.command(all).output().unwrap())
}

#[track_caller]
fn done(home: &Home, arguments: &[&str]) -> Value {
    let ended = setup(home, &[arguments, &["--yes"]].concat());
    assert_eq!(ended.status, 0, "{arguments:?}: {ended:?}");
    serde_json::from_str::<Value>(&ended.out).unwrap()["data"].clone()
}

/// Every file and folder below, with what is in it.
fn tree(folder: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut all = BTreeMap::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                all.insert(path.clone(), None);
                open.push(path);
            } else {
                all.insert(path.clone(), Some(std::fs::read(&path).unwrap()));
            }
        }
    }
    all
}

/// Files as people have them: comments, tabs, line ends of another system, no end of line.
const THERE: [(&str, &str); 9] = [
    ("user/.claude.json", "{\"numStartups\":7,\"mcpServers\":{\"other\":{\"command\":\"o\"}},\"tips\":{}}"),
    (
        "user/.claude/settings.json",
        "{\r\n  \"model\": \"opus\",\r\n  \"hooks\": {\r\n    \"Stop\": [\r\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]}\r\n    ]\r\n  }\r\n}\r\n",
    ),
    (
        "user/.codex/config.toml",
        "model = \"gpt\" # mine\n\n[mcp_servers.other]\ncommand = 'o'\n\n[tui]\nnotifications = true",
    ),
    (
        "user/.gemini/settings.json",
        "// mine\n{\n\t\"theme\": \"dark\", /* it */\n\t\"mcpServers\": {},\n}\n\n",
    ),
    ("user/.cursor/mcp.json", ""),
    ("user/.cursor/hooks.json", "{\n    \"version\": 1,\n    \"hooks\": { }\n}\n"),
    (
        "user/.config/opencode/opencode.jsonc",
        "{\n  // models\n  \"$schema\": \"https://opencode.ai/config.json\"\n}\n",
    ),
    ("user/.config/Code/User/mcp.json", "{\"servers\":{},\"inputs\":[]}\n"),
    ("user/.config/opencode/plugins/mine.js", "export const Mine = async () => ({});\n"),
];

#[test]
fn setup_and_removal_leave_files_as_they_were() {
    let home = user();
    for (name, text) in THERE {
        home.write(name, text);
    }
    let before = tree(&home.path("user"));
    for host in HOSTS {
        let changed = done(&home, &[host]);
        assert!(
            changed["files"].as_array().unwrap().iter().all(|file| file["change"] != "unchanged"),
            "{changed}"
        );
        let again = done(&home, &[host]);
        assert!(
            again["files"].as_array().unwrap().iter().all(|file| file["change"] == "unchanged"),
            "{again}"
        );
        // With other wishes, and back.
        done(&home, &[host, "--tools"]);
        done(&home, &[host, "--no-server"]);
    }
    assert_ne!(tree(&home.path("user")), before);
    for host in HOSTS {
        done(&home, &[host, "--remove"]);
    }
    assert_eq!(tree(&home.path("user")), before);
    assert!(!home.home().join("hosts").exists(), "nothing is remembered any more");
    for host in HOSTS {
        let none = done(&home, &[host, "--remove"]);
        assert!(none["files"].as_array().unwrap().iter().all(|file| file["change"] == "unchanged"), "{none}");
    }
    assert_eq!(tree(&home.path("user")), before);
}

#[test]
fn what_is_wanted_no_more_goes() {
    let home = user();
    done(&home, &["opencode", "--tools"]);
    let tools = home.path("user/.config/opencode/plugins/bowerbird-tools.js");
    assert!(std::fs::read_to_string(&tools).unwrap().contains("tool.execute.after"));
    let without = done(&home, &["opencode"]);
    assert_eq!(without["files"][2]["change"], "delete", "{without}");
    assert!(!tools.exists() && home.path("user/.config/opencode/plugins/bowerbird.js").exists());
    done(&home, &["copilot"]);
    done(&home, &["copilot", "--no-hooks"]);
    assert!(
        !home.path("user/.copilot/hooks").exists() && home.path("user/.copilot/mcp-config.json").exists()
    );
    // Others may have written the file anew meanwhile.
    done(&home, &["claude-code", "--tools"]);
    let settings = home.path("user/.claude/settings.json");
    let mut value: Value = serde_json::from_slice(&std::fs::read(&settings).unwrap()).unwrap();
    value["permissions"] = serde_json::json!({ "allow": [] });
    std::fs::write(&settings, value.to_string()).unwrap();
    done(&home, &["claude-code"]);
    let text = std::fs::read_to_string(&settings).unwrap();
    assert!(!text.contains("tool-use") && text.contains("hook stop"), "{text}");
    done(&home, &["claude-code", "--remove"]);
    assert_eq!(std::fs::read_to_string(&settings).unwrap(), r#"{"permissions":{"allow":[]}}"#);
    // What is not wanted is not even read.
    home.write("user/.claude/settings.json", "{ broken");
    done(&home, &["claude-code", "--no-hooks"]);
    // Of others nothing goes.
    home.write("user/.config/opencode/plugins/bowerbird-tools.js", "// somebody else's\n");
    done(&home, &["opencode"]);
    assert!(tools.exists());
}

#[test]
fn what_was_not_there_is_gone_again() {
    for project in [false, true] {
        let home = user();
        std::fs::create_dir_all(home.path("project")).unwrap();
        let arguments =
            |host: &'static str| if project { vec![host, "--project", "project"] } else { vec![host] };
        for host in HOSTS {
            let created = done(&home, &arguments(host));
            assert!(
                created["files"].as_array().unwrap().iter().all(|file| file["change"] == "create"),
                "{created}"
            );
        }
        let there = tree(&home.path(if project { "project" } else { "user" }));
        assert!(there.values().filter(|file| file.is_some()).count() >= 9, "{there:?}");
        if project {
            let text: Vec<u8> = there.values().flatten().flatten().copied().collect();
            let text = String::from_utf8(text).unwrap();
            assert!(text.contains("\"bower\"") && !text.contains(env!("CARGO_BIN_EXE_bower")), "{text}");
        }
        for host in HOSTS {
            done(&home, &[&arguments(host)[..], &["--remove"]].concat());
        }
        assert_eq!((tree(&home.path("user")), tree(&home.path("project"))), Default::default());
    }
}

#[test]
fn what_others_wrote_meanwhile_stays() {
    let home = user();
    home.write("user/.claude.json", "{\n  \"numStartups\": 7\n}\n");
    done(&home, &["claude-code"]);
    // Claude Code writes its file anew all the time.
    let path = home.path("user/.claude.json");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("\"numStartups\": 7", "\"numStartups\": 8")).unwrap();
    done(&home, &["claude-code", "--remove"]);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "{\n  \"numStartups\": 8\n}\n");
    // In another form altogether.
    done(&home, &["claude-code"]);
    let value: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    std::fs::write(&path, value.to_string()).unwrap();
    done(&home, &["claude-code", "--remove"]);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "{\"numStartups\":8}");
    // A file of ours that somebody added to stays, without us.
    done(&home, &["cursor"]);
    let mcp = home.path("user/.cursor/mcp.json");
    let text = std::fs::read_to_string(&mcp).unwrap();
    std::fs::write(&mcp, text.replacen("\"mcpServers\": {", "\"mcpServers\": {\n    \"other\": {},", 1))
        .unwrap();
    done(&home, &["cursor", "--remove"]);
    let left: Value = serde_json::from_slice(&std::fs::read(&mcp).unwrap()).unwrap();
    assert_eq!(left, serde_json::json!({ "mcpServers": { "other": {} } }));
    assert!(!home.path("user/.cursor/hooks.json").exists());
}

#[test]
fn a_broken_file_changes_nothing() {
    let home = user();
    home.write("user/.claude/settings.json", "{\n  \"hooks\": {},,\n}\n");
    let before = tree(&home.path("user"));
    let ended = setup(&home, &["claude-code", "--yes", "--format", "text"]);
    assert_eq!(ended.status, 3, "{ended:?}");
    assert!(ended.talk.contains("settings.json") && ended.talk.contains("line 2 column 15"), "{ended:?}");
    assert_eq!(tree(&home.path("user")), before, "nor did the other file");
    home.write("user/.codex/config.toml", "model = = 1\n");
    let ended = setup(&home, &["codex", "--yes", "--format", "text"]);
    assert!(ended.status == 3 && ended.talk.contains("line 1 column 9"), "{ended:?}");
    home.write("user/.gemini/settings.json", b"{\"a\": \"\xff\"}");
    assert_eq!(setup(&home, &["gemini", "--yes"]).status, 3);
    home.write("user/.config/opencode/plugins/bowerbird.js", "// somebody else's\n");
    let ended = setup(&home, &["opencode", "--yes", "--format", "text"]);
    assert!(ended.status == 3 && ended.talk.contains("another program's file"), "{ended:?}");
}

/// A repository that somebody else made may hold anything in the place of a host's file: reading a pipe or a device never ends.
#[cfg(unix)]
#[test]
fn what_is_no_file_is_not_read() {
    let home = user();
    let refused = |arguments: &[&str]| {
        let ended = setup(&home, &[&["claude-code", "--yes", "--format", "text"][..], arguments].concat());
        assert!(
            ended.status == 3 && ended.talk.contains("is not a file that a host would read"),
            "{ended:?}"
        );
    };
    std::fs::create_dir_all(home.path("project")).unwrap();
    let pipe = std::process::Command::new("mkfifo").arg(home.path("project/.mcp.json")).status().unwrap();
    assert!(pipe.success());
    refused(&["--project", "project"]);
    assert!(!home.path("project/.claude/settings.json").exists(), "nor was the other file written");
    std::fs::create_dir_all(home.path("user/.claude")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", home.path("user/.claude/settings.json")).unwrap();
    refused(&[]);
}

#[test]
fn nothing_is_written_unasked() {
    let home = user();
    let dry = setup(&home, &["claude-code", "--dry-run", "--format", "text"]);
    assert_eq!(dry.status, 0);
    assert!(
        dry.out.contains("+++ ")
            && dry.out.contains("+      \"command\": ")
            && dry.out.contains("hook user-prompt"),
        "{dry:?}"
    );
    let asked = setup(&home, &["claude-code"]);
    assert!(asked.status == 2 && asked.out.contains("--yes"), "{asked:?}");
    assert!(tree(&home.path("user")).is_empty());
    assert_eq!(setup(&home, &["emacs", "--yes"]).status, 2);
    assert_eq!(setup(&home, &["codex", "--yes", "--project", "no-such-folder"]).status, 2);
    let text = setup(&home, &["codex", "--yes", "--format", "text"]).out;
    assert!(text.contains("Codex is set up\n1. ") && text.contains("/hooks"), "{text}");
}

#[test]
fn secrets_of_others_are_not_shown() {
    let home = user();
    home.write(
        "user/.cursor/mcp.json",
        "{\n  \"mcpServers\": {\n    \"other\": { \"env\": { \"GITHUB_TOKEN\": \"ghp_0123456789abcdefghijABCDEFGHIJ012345\" } }\n  }\n}\n",
    );
    let dry = setup(&home, &["cursor", "--dry-run", "--format", "text"]);
    assert!(!dry.out.contains("ghp_0123") && dry.out.contains("[redacted"), "{dry:?}");
}

#[test]
fn a_home_of_its_own_is_named() {
    let home = user();
    done(&home, &["claude-code"]);
    let text = std::fs::read_to_string(home.path("user/.claude.json")).unwrap();
    let value: Value = serde_json::from_str(&text).unwrap();
    let server = &value["mcpServers"]["bower"];
    assert_eq!(server["args"], serde_json::json!(["--home", home.home(), "mcp"]), "{server}");
    assert_eq!(server["command"], env!("CARGO_BIN_EXE_bower"));
}

#[cfg(unix)]
#[test]
fn links_and_permissions_are_kept() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let home = user();
    let real = home.write("dotfiles/claude.json", "{}");
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o600)).unwrap();
    symlink("../dotfiles/claude.json", home.path("user/.claude.json")).unwrap();
    std::fs::create_dir_all(home.path("user/.claude")).unwrap();
    symlink("../../dotfiles/settings.json", home.path("user/.claude/settings.json")).unwrap();
    done(&home, &["claude-code"]);
    assert!(std::fs::symlink_metadata(home.path("user/.claude.json")).unwrap().is_symlink());
    assert!(std::fs::read_to_string(&real).unwrap().contains("bower"));
    assert_eq!(std::fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(home.path("dotfiles/settings.json").exists(), "written where the link leads");
    done(&home, &["claude-code", "--remove"]);
    assert_eq!(std::fs::read_to_string(&real).unwrap(), "{}");
    assert!(!home.path("dotfiles/settings.json").exists());
    assert!(std::fs::symlink_metadata(home.path("user/.claude/settings.json")).unwrap().is_symlink());
}

/// A repository's links may be anybody's: whoever clones it must not write where they lead.
#[cfg(unix)]
#[test]
fn a_projects_links_lead_nowhere_else() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let home = user();
    let victim = home.write("user/.bashrc.json", "{}");
    std::fs::create_dir_all(home.path("user/.ssh")).unwrap();
    std::fs::create_dir_all(home.path("project/.git/hooks")).unwrap();
    let before = tree(&home.path("user"));
    let refused = |at: &str, to: &str, host: &str, words: &str| {
        symlink(to, home.path(at)).unwrap();
        for arguments in [&["--yes"][..], &["--dry-run"], &["--remove", "--yes"]] {
            let all = [&[host, "--project", "project", "--format", "text"], arguments].concat();
            let ended = setup(&home, &all);
            assert_eq!(ended.status, 3, "{at} -> {to}: {ended:?}");
            assert!(
                ended.talk.contains("leads out of the project") && ended.talk.contains(words),
                "{ended:?}"
            );
        }
        std::fs::remove_file(home.path(at)).unwrap();
        assert_eq!(tree(&home.path("user")), before, "{at} -> {to}");
    };
    let victim = victim.to_str().unwrap();
    refused("project/.mcp.json", victim, "claude-code", ".bashrc.json");
    refused("project/.mcp.json", "../user/not-there-yet.json", "claude-code", "not-there-yet.json");
    refused("project/.claude", "../user/.ssh", "claude-code", ".ssh/settings");
    refused("project/.cursor", "../user", "cursor", "user/");
    refused("project/.mcp.json", ".git/config.json", "claude-code", ".git/config.json");
    refused("project/.opencode", ".git/hooks", "opencode", ".git/hooks");
    // A link that stays inside is followed, and what really changes is said.
    std::fs::create_dir_all(home.path("project/config")).unwrap();
    symlink("config/mcp.json", home.path("project/.mcp.json")).unwrap();
    let real = home.path("project").canonicalize().unwrap().join("config/mcp.json");
    let dry = setup(&home, &["claude-code", "--project", "project", "--dry-run", "--format", "text"]);
    assert!(dry.out.contains(&format!("is a link: what changes is {}", real.display())), "{dry:?}");
    let made = done(&home, &["claude-code", "--project", "project"]);
    let files = made["files"].as_array().unwrap();
    let one = files.iter().find(|file| file["path"].as_str().unwrap().ends_with(".mcp.json")).unwrap();
    assert_eq!(one["real_path"], real.to_str().unwrap(), "{made}");
    assert!(files.iter().filter(|file| file.get("real_path").is_some()).count() == 1, "{made}");
    assert_eq!(std::fs::metadata(&real).unwrap().permissions().mode() & 0o600, 0o600);
    done(&home, &["claude-code", "--project", "project", "--remove"]);
    assert!(!real.exists() && tree(&home.path("user")) == before);
}
