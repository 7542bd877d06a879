//! Implements `brv`: `ByteRover`'s command line, answered from the store of this program.
//! The program behaves as `brv` when it is called by that name (a link that `bower setup brv` makes): it takes `ByteRover`'s
//! arguments and prints its formats. The contract is what Hermes' plugin calls, and JSON lines.
//!
//! Unlike the original, a failed run ends with a status other than 0, so that no error becomes context of a prompt.

mod cli;
mod curate;
mod lines;
mod note;
mod project;
mod queue;

use bower_core::item::Visibility;
use bower_core::request::moving::MigrateRequest;
use bower_core::request::{Answer, Hit};
use clap::Parser;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use crate::cli::{Color, Format, Global, McpArgs};
use crate::commands::{Session, now};
use crate::failure::{Exit, Failure, Result, one_line};
use crate::mcp::compat::System;
use crate::render::{count, memories};
use crate::service::{Bounds, EVIDENCE_TOKENS, ListBody, QueryBody, SelectBody, Service};
use crate::wire::{Output, complain};

use cli::{Action, Brv, CurateArgs, Form, QueryArgs, SearchArgs, StatusArgs};
use lines::{Lines, path_of};
use queue::Queue;

pub use curate::{Changes, Kept, keep, with_files};
pub use lines::{Match, result_of};
pub use project::Project;

/// Number of hits of a query. All of them are named beside its result.
const MATCHED: u16 = bower_core::engine::MAX_LIMIT as u16;

/// Whether the program was called as `brv`.
pub fn is_called(program: Option<&OsString>) -> bool {
    program
        .and_then(|path| Path::new(path).file_stem())
        .and_then(|stem| stem.to_str())
        .is_some_and(|stem| stem.eq_ignore_ascii_case("brv"))
}

/// Runs `brv` with these arguments and returns its exit status.
pub fn main(arguments: &[OsString]) -> ExitCode {
    let brv = match Brv::try_parse_from(arguments) {
        Ok(brv) => brv,
        Err(error) => {
            if error.use_stderr() && cli::asks_for_json(arguments) {
                let told = error.to_string();
                let line = told.lines().next().unwrap_or_default();
                let failure =
                    Failure::usage(line.trim_start_matches("error: "), "brv --help shows what it takes");
                Lines::new(&cli::action_of(arguments), Form::Json).fail(&failure);
                return ExitCode::from(Exit::Usage as u8);
            }
            let code = if error.use_stderr() { Exit::Usage as u8 } else { 0 };
            // A failure to print the message is not worth a panic.
            let _ = error.print();
            return ExitCode::from(code);
        }
    };
    let lines = Lines::new(brv.action.word(), brv.action.form());
    match crate::whole(|| run(&brv, &lines)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            lines.fail(&failure);
            ExitCode::from(failure.exit as u8)
        }
    }
}

fn run(brv: &Brv, lines: &Lines) -> Result<()> {
    if let Action::Init(_) = brv.action {
        return lines.end(&json!({"status": "completed"}), "Nothing to set up: the store makes itself.");
    }
    let mut project = Project::find(brv.action.root())?;
    if let Some(collection) = &brv.collection {
        project.collection.clone_from(collection);
    }
    let global = Global {
        home: brv.home.clone(),
        set: vec![format!("memory_collection={}", project.collection)],
        quiet: true,
        color: Color::Never,
        format: Some(Format::Text),
        verbose: false,
    };
    let brv_session =
        BrvSession { session: Session::new(Output::new(brv.action.word(), &global), global), project };
    match &brv.action {
        Action::Query(arguments) => brv_session.query(arguments, lines),
        Action::Curate(arguments) => brv_session.curate(arguments, lines),
        Action::Search(arguments) => brv_session.search(arguments, lines),
        Action::Status(arguments) => brv_session.status(arguments, lines),
        Action::Mcp(_) => brv_session.serve(brv.collection.clone()),
        Action::Init(_) => Ok(()),
    }
}

/// One run for one project.
struct BrvSession {
    session: Session,
    project: Project,
}

impl BrvSession {
    /// Opens the store. The first time, it imports the project's own context tree.
    fn service(&self) -> Result<Service> {
        let service = self.session.service()?;
        if let Some(tree) = &self.project.tree
            && self.held(&service)? == 0
        {
            let engine = service.engine();
            let migrated = engine.migrate_from_brv(
                &Visibility::everything(),
                tree,
                &MigrateRequest::default(),
                now(),
            )?;
            self.session.out.detail(&format!(
                "took over {} memories of {}",
                migrated.migrated,
                tree.display()
            ));
        }
        Ok(service)
    }

    /// Selects all items of the project.
    fn everything(&self) -> SelectBody {
        SelectBody { collections: vec![self.project.collection.clone()], ..SelectBody::default() }
    }

    /// Counts the items of the project.
    fn held(&self, service: &Service) -> Result<usize> {
        let body = ListBody { limit: Some(1), offset: None, select: self.everything() };
        Ok(service.list(&body, &bounds(), now())?.total)
    }

    fn query(&self, arguments: &QueryArgs, lines: &Lines) -> Result<()> {
        let body = QueryBody {
            query: joined(&arguments.text, "query")?,
            limit: Some(MATCHED),
            select: self.everything(),
            // Hosts call this before each turn to fill prompts, without a user's request. A hit that is merely nearest is no
            // answer.
            prefetch: true,
            budget_tokens: Some(EVIDENCE_TOKENS),
            ..QueryBody::default()
        };
        let service = self.service()?;
        let answer = service.query(&body, &bounds(), now())?;
        let result = result_of(&answer);
        lines.line(&json!({"event": "response", "content": result, "taskId": lines.task}))?;
        let mut data = json!({
            "event": "completed", "status": "completed", "taskId": lines.task, "result": result,
            "durationMs": answer.took_ms.round(), "tier": lines::TIER,
            "matchedDocs": answer.hits.iter().map(Match::of).collect::<Vec<_>>(),
        });
        if let Some(best) = answer.hits.first() {
            data["topScore"] = json!(best.score);
        }
        note_degraded(&mut data, &answer);
        lines.end(&data, &result)?;
        self.session.maintain(&service);
        Ok(())
    }

    fn search(&self, arguments: &SearchArgs, lines: &Lines) -> Result<()> {
        let sources = arguments.scope.iter().cloned().collect();
        let body = QueryBody {
            query: joined(&arguments.text, "search")?,
            limit: Some(arguments.limit),
            select: SelectBody { sources, ..self.everything() },
            ..QueryBody::default()
        };
        let service = self.service()?;
        let answer = service.query(&body, &bounds(), now())?;
        let results: Vec<Value> = answer
            .hits
            .iter()
            .map(|hit| {
                let mut found = json!(Match::of(hit));
                found["excerpt"] = json!(excerpt(hit));
                found
            })
            .collect();
        let message = match results.len() {
            0 => "No results.".to_owned(),
            some => count(some, "result"),
        };
        let told = answer.hits.iter().fold(message.clone(), |told, hit| {
            format!("{told}\n\n{}  {:.2}\n  {}", path_of(hit), hit.score, excerpt(hit))
        });
        let mut data = json!({
            "status": "completed", "message": message, "results": results, "totalFound": answer.total_found,
        });
        note_degraded(&mut data, &answer);
        lines.end(&data, &told)?;
        self.session.maintain(&service);
        Ok(())
    }

    fn curate(&self, arguments: &CurateArgs, lines: &Lines) -> Result<()> {
        let home = self.session.home()?.path;
        let waiting = Queue::of(&home, &self.project.collection);
        if let Some(entry) = &arguments.queued {
            let service = self.service()?;
            self.drain(&service, &waiting, entry)?;
            self.session.maintain(&service);
            return Ok(());
        }
        let text = told_text(arguments)?;
        if arguments.detach {
            let entry = waiting.push(&text)?;
            queue::spawn(&entry, &self.project.root, &self.project.collection, &home)?;
            let data = json!({
                "status": "queued", "taskId": lines.task, "logId": entry, "message": "Queued for curation.",
            });
            return lines.end(&data, &format!("Queued for curation ({entry})."));
        }
        let service = self.service()?;
        let kept = self.keep(&service, &text)?;
        let data = json!({
            "event": "completed", "status": "completed", "taskId": lines.task, "logId": lines.task,
            "message": kept.message, "pendingReview": kept.review,
            "changes": kept.changes,
        });
        lines.end(&data, &kept.message)?;
        // The new text is kept and acknowledged. A failure to keep an older queued text must not fail this run.
        match waiting.left_behind(std::time::SystemTime::now()) {
            Ok(left) => {
                for entry in left {
                    if let Err(failure) = self.drain(&service, &waiting, &entry) {
                        complain(&format!("brv: {entry} still waits in the queue: {}", failure.line()));
                    }
                }
            }
            Err(failure) => complain(&format!("brv: {}", failure.line())),
        }
        self.session.maintain(&service);
        Ok(())
    }

    /// Keeps one entry of the queue and removes it.
    fn drain(&self, service: &Service, waiting: &Queue, entry: &str) -> Result<()> {
        let Some(text) = waiting.read(entry)? else { return Ok(()) };
        match self.keep(service, &text) {
            Ok(_) => waiting.remove(entry),
            // A text that the gate refuses is removed too: it would be refused again.
            Err(failure) if failure.exit == Exit::Nothing => waiting.remove(entry),
            Err(failure) => Err(failure),
        }
    }

    fn keep(&self, service: &Service, text: &str) -> Result<Kept> {
        Ok(keep(service, &bounds(), &self.project, &self.project.collection, text, now())?)
    }

    /// Serves agents by MCP with `ByteRover`'s tools. The project's context tree is imported when the store is opened.
    fn serve(self, collection: Option<String>) -> Result<()> {
        let arguments = McpArgs {
            tools: None,
            compat: Some(System::Brv),
            scope: None,
            owner: None,
            collection: collection.into_iter().collect(),
            read_only: false,
            session: None,
        };
        let session = self.session.clone();
        crate::commands::mcp::serve_from(arguments, &session, move || self.service())
    }

    fn status(&self, arguments: &StatusArgs, lines: &Lines) -> Result<()> {
        let service = self.service()?;
        let (held, report) = (self.held(&service)?, service.report()?);
        let home = self.session.home()?.path;
        let data = json!({
            "status": "completed", "cliVersion": env!("CARGO_PKG_VERSION"), "provider": "bowerbird",
            "projectRoot": self.project.root, "collection": self.project.collection, "items": held,
            "totalMemories": report.total_memories, "home": home, "indexHealthy": report.index_healthy,
            "model": report.model,
        });
        let mut told = format!(
            "bowerbird {} as brv\nProject: {}\nCollection: {} ({})\nStore: {} ({})",
            env!("CARGO_PKG_VERSION"),
            self.project.root.display(),
            self.project.collection,
            count(held, "item"),
            home.display(),
            memories(report.total_memories),
        );
        if report.model.state != "ready" {
            let _ = write!(told, "\nModel: {}", one_line(&report.model.why()));
        }
        if arguments.verbose {
            let _ = write!(told, "\nFound by: {}", self.project.found_by);
        }
        lines.end(&data, &told)
    }
}

/// Returns the bounds of a caller that is an agent. Agents call this program; people have `bower`.
fn bounds() -> Bounds {
    Bounds { is_agent: true, folder: std::env::current_dir().ok(), ..Bounds::local() }
}

/// Returns the beginning of a hit's text on one line.
fn excerpt(hit: &Hit) -> String {
    const LETTERS: usize = 240;
    let text = one_line(&hit.memory.content);
    if text.chars().count() <= LETTERS {
        return text;
    }
    text.chars().take(LETTERS).chain(['…']).collect()
}

/// Adds the missing parts of the answer to `data`.
fn note_degraded(data: &mut Value, answer: &Answer) {
    if !answer.degraded.is_empty() {
        data["degraded"] = json!(answer.degraded);
    }
}

/// Joins the words of a text. An empty text is an error.
fn joined(words: &[String], command: &str) -> Result<String> {
    let text = words.join(" ");
    if text.trim().is_empty() {
        return Err(Failure::usage(format!("{command} is empty"), format!("brv {command} -- \"some text\"")));
    }
    Ok(text)
}

/// Returns the text to keep: the words, and the files that were passed with them.
fn told_text(arguments: &CurateArgs) -> Result<String> {
    let text = with_files(&arguments.text.join(" "), &arguments.files, Path::new(""))?;
    if text.is_empty() {
        return Err(Failure::usage("curate is empty", "brv curate -- \"something to keep\""));
    }
    Ok(text)
}
