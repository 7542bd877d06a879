//! Implements `bower setup`: writes the configuration of an agent's host, or removes it.
//! The change is shown first, and nothing else is written.

use bower_core::shared::{GateConstants, redact};
use serde::Serialize;
use similar::TextDiff;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::{Session, agreed};
use crate::cli::{Format, SetupArgs};
use crate::failure::{Failure, Result};
use crate::hosts::{
    Call, Change, Edit, Ground, Host, Places, Plan, VARIABLES, Wants, apply, brv, may_hold_ours, plan,
};
use crate::render;
use crate::settings::{Home, Origin};
use crate::wire::Output;

/// Changes to a host's files, made or planned.
#[derive(Debug, Serialize)]
pub struct Done {
    /// The host.
    pub host: &'static str,
    /// Whether our entries were removed.
    pub remove: bool,
    /// Whether nothing was written.
    pub dry_run: bool,
    /// Changes to each file.
    pub files: Vec<FileDone>,
    /// Next steps for the user.
    pub next: Vec<&'static str>,
    /// The host's name for people.
    #[serde(skip)]
    pub name: &'static str,
}

/// Change to one file.
#[derive(Debug, Serialize)]
pub struct FileDone {
    /// The file.
    pub path: PathBuf,
    /// Path after links are followed, if a link leads to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub real_path: Option<PathBuf>,
    /// Kind of change.
    pub change: Change,
    /// Changed lines in the format of `diff -u`; secrets near them are redacted.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub diff: String,
}

/// Shows the changes, asks for confirmation and writes them.
pub fn run(arguments: &SetupArgs, session: &Session) -> Result<()> {
    let home = session.home()?;
    let places = places(arguments)?;
    let call = call(arguments, &home)?;
    let all = Wants { server: true, hooks: true, tools: true };
    let wants = Wants { server: !arguments.no_server, hooks: !arguments.no_hooks, tools: arguments.tools };
    let host = arguments.host;
    if arguments.project.is_some() && matches!(host, Host::Brv | Host::Hermes) {
        return Err(Failure::usage(
            format!("{} has no files of a project", host.name()),
            "leave --project out: it is set up for its user",
        ));
    }
    // Entries of an earlier setup are removed, and the wanted ones are added.
    let wanted: HashMap<PathBuf, Vec<Edit>> = if arguments.remove {
        HashMap::new()
    } else {
        host.files(&places, &call, wants).into_iter().collect()
    };
    let ground = places.project.as_deref().map_or(Ground::User(&places.user), Ground::Project);
    let mut plans = Vec::new();
    for (path, all) in &host.files(&places, &call, all) {
        let wanted = wanted.get(path).map(Vec::as_slice);
        // A file without wanted entries and without ours is not parsed.
        let is_named = arguments.remove || wanted.is_some();
        if !is_named && !may_hold_ours(path, &home.path)? {
            continue;
        }
        let plan = plan(path, all, wanted, &home.path, ground)?;
        if is_named || plan.change != Change::Unchanged {
            plans.push(plan);
        }
    }
    let link =
        (host == Host::Brv).then(|| brv::plan(Path::new(&call.program), arguments.remove)).transpose()?;
    let changes = plans.iter().map(|plan| plan.change).chain(link.iter().map(|link| link.change));
    let is_change = changes.into_iter().any(|change| change != Change::Unchanged);
    let linked = link.iter().map(|link| FileDone {
        path: link.path.clone(),
        real_path: None,
        change: link.change,
        diff: link.diff(),
    });
    let done = Done {
        host: host.word(),
        remove: arguments.remove,
        dry_run: arguments.dry_run,
        files: plans.iter().map(done).chain(linked).collect(),
        next: if arguments.remove || !is_change { Vec::new() } else { host.next(&places) },
        name: host.name(),
    };
    let write = || {
        plans.iter().try_for_each(apply)?;
        link.as_ref().map_or(Ok(()), brv::Link::apply)
    };
    if arguments.dry_run {
        return session.out.say(&done, |look| render::agents::diffs(&done, look));
    }
    if !is_change {
        write()?;
        return session.out.say(&done, |look| render::agents::set_up(&done, look));
    }
    if session.out.format == Format::Text {
        Output::put(&render::agents::diffs(&done, &session.out.look()))?;
    }
    let hint = "--yes does it without asking, --dry-run only shows what would change";
    if !arguments.yes && !agreed(&format!("change the files of {}", host.name()), hint)? {
        session.out.note("nothing was changed");
        return Ok(());
    }
    write()?;
    session.out.say(&done, |look| render::agents::set_up(&done, look))
}

fn places(arguments: &SetupArgs) -> Result<Places> {
    let user = std::env::home_dir().filter(|home| !home.as_os_str().is_empty());
    let project = arguments.project.as_deref().map(|folder| {
        let absolute = std::path::absolute(folder).ok().filter(|folder| folder.is_dir());
        absolute.ok_or_else(|| {
            Failure::usage(
                format!("--project {}: no such folder", folder.display()),
                "name the project's folder",
            )
        })
    });
    let project = project.transpose()?;
    let user = match (user, &project) {
        (Some(user), _) => user,
        // The files of a project lie in the project only.
        (None, Some(project)) => project.clone(),
        (None, None) => {
            return Err(Failure::environment(
                "cannot tell where your home folder is",
                "set HOME, or set up a project with --project",
            ));
        }
    };
    let variable = |name: &&'static str| {
        let value = std::env::var_os(name).filter(|value| !value.is_empty())?;
        Some((*name, PathBuf::from(value)))
    };
    Ok(Places { user, project, variables: VARIABLES.iter().filter_map(variable).collect() })
}

/// Returns the host's call of this program. A project's files must be valid for everybody who has the project.
fn call(arguments: &SetupArgs, home: &Home) -> Result<Call> {
    let is_project = arguments.project.is_some();
    let program = match (&arguments.program, is_project) {
        (Some(program), _) => program.clone(),
        (None, true) => "bower".to_owned(),
        (None, false) => this_program()?,
    };
    let path = home.path.to_str().filter(|_| home.origin != Origin::BuiltIn && !is_project);
    Ok(Call { program, home: path.map(str::to_owned) })
}

/// Returns the absolute path of this program. A path from the PATH variable is preferred, because it stays valid after an
/// upgrade. A host that was not started from a shell may have another PATH.
fn this_program() -> Result<String> {
    let unknown = |why: &str| {
        Failure::environment(format!("cannot tell where this program lies: {why}"), "name it with --program")
    };
    let exe = std::env::current_exe().map_err(|source| unknown(&source.to_string()))?;
    let real = exe.canonicalize().unwrap_or_else(|_| exe.clone());
    let path = std::env::var_os("PATH").unwrap_or_default();
    let name = if cfg!(windows) { "bower.exe" } else { "bower" };
    let is_this = |found: &Path| found.is_absolute() && found.canonicalize().is_ok_and(|found| found == real);
    let found = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|found| is_this(found));
    let whole = found.unwrap_or(exe);
    whole.to_str().map(str::to_owned).ok_or_else(|| unknown("its path is not UTF-8"))
}

fn done(plan: &Plan) -> FileDone {
    let (before, after) = (plan.before.as_deref().unwrap_or(""), plan.after.as_deref().unwrap_or(""));
    let path = plan.path.display().to_string();
    let diff = match plan.change {
        Change::Unchanged => String::new(),
        Change::Create | Change::Change | Change::Delete => {
            let diff = TextDiff::from_lines(before, after).unified_diff().header(&path, &path).to_string();
            redact(&diff, &GateConstants::default()).map_or(diff, |redacted| redacted.text)
        }
    };
    FileDone { path: plan.path.clone(), real_path: plan.real.clone(), change: plan.change, diff }
}
