//! Gives `bower version` the commit it was built from, and links the program to a fixed address on Linux.
//! A source archive without git builds all the same, as `unknown`.

use std::process::Command;

fn main() {
    let git = |arguments: &[&str]| {
        let output =
            Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
        Some(String::from_utf8(output.stdout).ok()?.trim().to_string())
    };
    println!("cargo::rerun-if-changed=build.rs");
    // The log of HEAD grows with every commit and checkout, on any branch and in any worktree.
    if let Some(log) = git(&["rev-parse", "--path-format=absolute", "--git-path", "logs/HEAD"])
        && std::path::Path::new(&log).exists()
    {
        println!("cargo::rerun-if-changed={log}");
    }
    fixed_address();
    let commit = git(&["rev-parse", "--short=12", "HEAD"]).unwrap_or_else(|| "unknown".into());
    println!("cargo::rustc-env=BOWER_COMMIT={commit}");
}

/// On Linux the program is linked to a fixed address: 44,000 pointers in the tables of its grammars need not be moved at each
/// start, nor their 200 pages copied, which was a quarter of the time that `bower version` takes. What it reads from others
/// is handled by safe code; libraries, stack and heap keep their random addresses.
fn fixed_address() {
    let of = |name: &str| std::env::var(name).unwrap_or_default();
    if of("CARGO_CFG_TARGET_OS") == "linux" && of("CARGO_CFG_TARGET_ENV") == "gnu" {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
