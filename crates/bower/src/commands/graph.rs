//! Implements `bower graph`, which shows entities, neighbours and paths and exports the graph, and `bower relate`.

use bower_core::request::ExtractProgress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;

use super::{Session, bounds, check_free, local, now, write_file};
use crate::cli::{Format, GraphAction, GraphArgs, GraphForm, RelateArgs};
use crate::failure::{Exit, Failure, Result};
use crate::render::{graph, graph_file};
use crate::service::{
    AliasBody, AliasesBody, Bounds, CommunitiesBody, EntityBody, GraphBody, NeighboursBody, PathBody,
    RelateBody, Service,
};

/// Nodes of a drawing: more cannot be told apart.
const DRAWN: u32 = 300;

/// Prints or writes what was asked for. A path that does not exist ends with status 1.
pub fn run(arguments: &GraphArgs, session: &Session) -> Result<ExitCode> {
    let (now, bounds) = (now(), bounds(&arguments.visibility));
    let service = session.service()?;
    match &arguments.action {
        GraphAction::Entity { name, limit } => {
            let body = EntityBody { name: name.clone(), limit: Some(*limit), ..EntityBody::default() };
            let report = service.graph_entity(&body, &bounds, now)?;
            session.out.say(&report, |look| graph::entity(&report, look))?;
        }
        GraphAction::Neighbours { name, depth, kinds, limit } => {
            let body = NeighboursBody {
                name: name.clone(),
                depth: Some(*depth),
                kinds: kinds.clone(),
                limit: Some(*limit),
                ..NeighboursBody::default()
            };
            let near = service.graph_neighbours(&body, &bounds, now)?;
            session.out.say(&near, |look| graph::neighbours(&near, look))?;
        }
        GraphAction::Path { from, to } => {
            let body = PathBody { from: from.clone(), to: to.clone(), ..PathBody::default() };
            let path = service.graph_path(&body, &bounds, now)?;
            session.out.say(&path, |look| graph::path(&path, look))?;
            if path.path.is_empty() {
                return Ok(ExitCode::from(Exit::Nothing as u8));
            }
        }
        GraphAction::Communities { resolution, level, limit } => {
            let body = CommunitiesBody {
                resolution: Some(*resolution),
                level: Some(*level),
                limit: Some(*limit),
                ..CommunitiesBody::default()
            };
            let report = service.graph_communities(&body, &bounds, now)?;
            session.out.say(&report, |look| graph::communities(&report, look))?;
        }
        GraphAction::Alias { name, other, undo } => {
            let body = AliasBody { name: name.clone(), other: other.clone(), undo: *undo };
            let stated = service.alias(&body, &bounds, now)?;
            session.out.say(&stated, |look| graph::alias(&stated, look))?;
            session.maintain(&service);
        }
        GraphAction::Aliases { name } => {
            let list = service.aliases(&AliasesBody { name: name.clone() }, &bounds, now)?;
            session.out.say(&list, |look| graph::aliases(&list, look))?;
        }
        GraphAction::Extract { remove: Some(source), .. } => {
            let removed = service.remove_triples(source, &bounds, now)?;
            session.out.say(&removed, |look| graph::removed(&removed, look))?;
            session.maintain(&service);
        }
        GraphAction::Extract { limit, dry_run, remove: None } => {
            return extract(session, &service, &bounds, *limit, *dry_run);
        }
        GraphAction::Export { form, output, force, limit, kinds } => {
            check_export(output.as_deref(), *force, *form, *limit)?;
            let limit = limit.or((*form == GraphForm::Html).then_some(DRAWN));
            let body = GraphBody { kinds: kinds.clone(), limit, communities: true, ..GraphBody::default() };
            let whole = service.graph(&body, &bounds, now)?;
            let Some(file) = output else {
                if *form == GraphForm::Json && session.out.format == Format::Json {
                    session.out.say(&whole, |_| String::new())?;
                } else {
                    crate::wire::Output::put(&graph_file::text(&whole, *form)?)?;
                }
                return Ok(ExitCode::SUCCESS);
            };
            let text = graph_file::text(&whole, *form)?;
            write_file(file, |out| {
                out.write_all(text.as_bytes())
                    .map_err(|source| bower_core::Error::io("write", file, source).into())
            })?;
            let report = graph::Exported::new(&whole, file);
            session.out.say(&report, |look| graph::exported(&report, look))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Checks an export before the graph is read.
fn check_export(output: Option<&Path>, force: bool, form: GraphForm, limit: Option<u32>) -> Result<()> {
    if let Some(file) = output {
        check_free(file, force, "name a file")?;
    }
    match (form, limit) {
        (GraphForm::Html, Some(limit @ 2_001..)) => Err(Failure::usage(
            format!("--limit {limit} for a page"),
            "use at most 2000; a browser cannot draw more",
        )),
        _ => Ok(()),
    }
}

/// Lets the language model read triples off the texts, with a bar.
fn extract(
    session: &Session,
    service: &Service,
    bounds: &Bounds,
    limit: Option<u32>,
    dry_run: bool,
) -> Result<ExitCode> {
    let bar = extract_bar(session);
    let show = |step: ExtractProgress| {
        bar.set_length(step.total as u64);
        bar.set_position(step.items as u64);
        bar.set_message(format!("{} of {} items, {} triples", step.items, step.total, step.triples));
    };
    let ended = service.graph_extract(limit, dry_run, bounds, now(), &show);
    bar.finish_and_clear();
    let report = ended?;
    session.out.say(&report, |look| graph::extracted(&report, look))?;
    session.maintain(service);
    Ok(if report.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(Exit::Environment as u8) })
}

/// Returns a bar for an extraction; it is hidden if standard error is no terminal.
fn extract_bar(session: &Session) -> ProgressBar {
    if session.out.quiet || !std::io::stderr().is_terminal() {
        return ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
    }
    let style = ProgressStyle::with_template("{bar:24.green/dim} {percent:>3}% {msg}, {eta} left");
    ProgressBar::new(0).with_style(style.expect("the template is a constant"))
}

/// States a relation, or takes it back, and prints it.
pub fn relate(arguments: &RelateArgs, session: &Session) -> Result<()> {
    let body = RelateBody {
        from: arguments.from.clone(),
        relation: arguments.relation.clone(),
        to: arguments.to.clone(),
        strength: arguments.strength,
        proof: arguments.proof.clone(),
        undo: arguments.undo,
        collection: arguments.collection.clone(),
        scope: arguments.scope,
        owner: arguments.owner.clone(),
    };
    let service = session.service()?;
    let related = service.relate(&body, &local(), now())?;
    session.out.say(&related, |look| graph::related(&related, look))?;
    session.maintain(&service);
    Ok(())
}
