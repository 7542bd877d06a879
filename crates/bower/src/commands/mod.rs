//! Holds one module for each command, and what they share: the home, the settings, the engine and the clock.
//! Each command converts its arguments into a request body, calls the service once and prints once.

pub mod backup;
pub mod bench;
pub mod brief;
pub mod cache;
pub mod completions;
pub mod config;
pub mod curate;
pub mod doctor;
pub mod eval;
pub mod export;
pub mod feedback;
pub mod forget;
pub mod get;
pub mod graph;
pub mod history;
pub mod hook;
pub mod import;
pub mod index;
pub mod list;
pub mod llm;
pub mod mcp;
pub mod migrate;
pub mod model;
pub mod query;
pub mod review;
pub mod serve;
pub mod setup;
pub mod status;
pub mod sweep;
pub mod tags;
pub mod token;
pub mod version;
mod watch;

use bower_core::Error;
use bower_core::config::Settings;
use bower_core::engine::Engine;
use bower_core::filter::Filter;
use bower_core::request::StatusReport;
use jiff::Timestamp;
use std::ffi::OsString;
use std::io::{BufRead, BufWriter, IsTerminal, Read, Write};
use std::path::Path;

use crate::background::Background;
use crate::cli::{Global, SelectArgs, VisibilityArgs};
use crate::failure::{Failure, Hint, Result};
use crate::llm::{chosen, chosen_reranker};
use crate::remote;
use crate::service::{Bounds, SelectBody, Service, Via};
use crate::settings::{self, Chosen, Home, Layers, Origin, Resolved};
use crate::when;
use crate::wire::Output;

/// Longest accepted standard input in bytes; texts that the engine keeps or asks are far shorter.
const MAX_INPUT: u64 = 16 << 20;

/// One run of the program.
#[derive(Clone, Debug)]
pub struct Session {
    /// Output of the program.
    pub out: Output,
    global: Global,
}

impl Session {
    /// Creates a session for a parsed command line. Nothing is read yet.
    pub fn new(out: Output, global: Global) -> Self {
        Self { out, global }
    }

    /// Returns the folder that holds everything.
    pub fn home(&self) -> Result<Home> {
        let variable = std::env::var_os("BOWER_HOME");
        Home::find(self.global.home.as_deref(), variable.as_deref(), std::env::home_dir())
    }

    /// Returns the settings after all layers.
    pub fn settings(&self, home: &Home) -> Result<Resolved> {
        let path = home.config();
        let text = config_text(home)?;
        let environment: Vec<(OsString, OsString)> = std::env::vars_os()
            .filter(|(name, _)| name.to_str().is_some_and(|name| name.starts_with("BOWER_")))
            .collect();
        let mut resolved = settings::resolve(&Layers {
            file: text.as_deref().map(|text| (path.as_path(), text)),
            environment: &environment,
            flags: &self.global.set,
        })?;
        for (former, present) in &resolved.renamed {
            self.out.note(&format!("{former} is now called {present}; the old name still works"));
        }
        for name in &resolved.retired {
            self.out.note(&format!("{name} has no effect any more; take it out of {}", path.display()));
        }
        fill_in_zone(&mut resolved);
        if resolved.settings.model == remote::AUTO {
            let variable = |name: &str| std::env::var(name).ok();
            resolved.settings.model = remote::agreed(&resolved.settings, variable);
        }
        Ok(resolved)
    }

    /// Opens the store in its home.
    pub fn service(&self) -> Result<Service> {
        let home = self.home()?;
        let settings = self.settings(&home)?.settings;
        Self::service_of(&home, settings)
    }

    /// Opens the store in a home with these settings.
    fn service_of(home: &Home, settings: Settings) -> Result<Service> {
        let variable = |variable: &str| std::env::var(variable).ok();
        let (llms, reranker) = (chosen(&settings, variable), chosen_reranker(&settings, variable));
        let mut engine = Self::engine_of(home, settings)?;
        if let Some(llms) = llms {
            engine = engine.with_llms(llms);
        }
        if let Some(reranker) = reranker {
            engine = engine.with_reranker(reranker);
        }
        Ok(Service::new(engine))
    }

    /// Opens the engine in a home with these settings, and with the service that they name, if they name one.
    fn engine_of(home: &Home, settings: Settings) -> bower_core::Result<Engine> {
        let remote = remote::chosen(&settings, |variable| std::env::var(variable).ok());
        let engine = Engine::open(&home.path, settings, now())?;
        Ok(match remote {
            Some(remote) => engine.with_embedder(Box::new(remote)).with_stand_in(),
            None => engine,
        })
    }

    /// Returns the work of a long-lived process beside its answers.
    pub fn background(&self, home: &Home) -> Background {
        let (session, of) = (self.clone(), home.clone());
        Background::new(home.config(), move || Ok(session.settings(&of)?.settings))
    }

    /// Compacts the indexes if due, after the answer is printed. A failure here affects nothing that was acknowledged.
    pub fn maintain(&self, service: &Service) {
        match service.engine().maintain(now()) {
            Ok(true) => self.out.detail("wrote new changes into the indexes"),
            Ok(false) => {}
            Err(error) => self.out.detail(&format!("could not write new changes into the indexes: {error}")),
        }
    }
}

/// Sets the system's time zone if no layer names one.
fn fill_in_zone(resolved: &mut Resolved) {
    let unsaid = |chosen: &&mut Chosen| chosen.key == "time_zone" && chosen.origin == Origin::BuiltIn;
    let Some(chosen) = resolved.chosen.iter_mut().find(unsaid) else { return };
    let variable = std::env::var("TZ").ok();
    let local = std::fs::read_link("/etc/localtime").ok();
    if let Some(name) = when::zone_name(variable.as_deref(), local.as_deref()) {
        chosen.value = name.as_str().into();
        resolved.settings.time_zone = name;
    }
}

/// Reads the text of the settings file, if it exists.
fn config_text(home: &Home) -> Result<Option<String>> {
    let path = home.config();
    // Reading something other than a file, such as a pipe, may never end.
    if std::fs::metadata(&path).is_ok_and(|found| !found.is_file()) {
        let what = format!("{} is no file", path.display());
        return Err(Failure::environment(
            what,
            Hint::person("move it away; bower config set writes a new one"),
        ));
    }
    match std::fs::read(&path) {
        Ok(bytes) => String::from_utf8(bytes).map(Some).map_err(|_| {
            Failure::environment(format!("{} is not valid UTF-8", path.display()), "save it as UTF-8")
        }),
        Err(source) if source.kind() == std::io::ErrorKind::NotFound => Ok(None),
        // The home is not a folder; opening the store gives the better message.
        Err(source) if source.kind() == std::io::ErrorKind::NotADirectory => Ok(None),
        Err(source) => Err(bower_core::Error::io("read", &path, source).into()),
    }
}

/// Returns the current time. Each command reads it once.
pub fn now() -> Timestamp {
    Timestamp::now()
}

/// Reads standard input up to [`MAX_INPUT`]. `hint` says what to do instead if it is longer.
fn standard_input(hint: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(MAX_INPUT + 1).read_to_end(&mut bytes).map_err(|source| {
        Failure::environment(format!("cannot read standard input: {source}"), "run it again")
    })?;
    if bytes.len() as u64 > MAX_INPUT {
        return Err(Failure::usage(format!("standard input is longer than {} MB", MAX_INPUT >> 20), hint));
    }
    Ok(bytes)
}

/// Returns a folder's absolute path for the engine.
fn folder(path: &Path) -> Result<String> {
    let whole = std::path::absolute(path).ok().and_then(|path| path.to_str().map(str::to_owned));
    whole.ok_or_else(|| {
        Failure::usage(
            format!("--folder {}: its name is empty or not UTF-8", path.display()),
            "name a folder, such as .",
        )
    })
}

/// Returns the words of a text joined by spaces, or standard input for a single `-`.
fn text_of(words: &[String], what: &str) -> Result<String> {
    let text = match words {
        [dash] if dash == "-" => {
            let bytes = standard_input("bower index takes large files")?;
            let text = String::from_utf8(bytes).map_err(|source| {
                Failure::usage(
                    format!("standard input is not valid UTF-8 (byte {})", source.utf8_error().valid_up_to()),
                    "convert it first, e.g. with iconv",
                )
            })?;
            text.strip_prefix('\u{feff}').unwrap_or(&text).trim_end_matches(['\n', '\r']).to_string()
        }
        words => words.join(" "),
    };
    if text.trim().is_empty() {
        return Err(Failure::usage(
            format!("{what} is empty"),
            format!("bower {what} \"some text\", or - to read it from standard input"),
        ));
    }
    Ok(text)
}

/// Converts selection flags into a request body. Errors in them are reported before the store is opened, because opening may
/// create it.
fn selection(arguments: &SelectArgs, now: Timestamp) -> Result<SelectBody> {
    let mut body = SelectBody {
        collections: arguments.collection.clone(),
        types: arguments.types.clone(),
        tags: arguments.tag.clone(),
        filter: None,
        since: arguments.since.clone(),
        until: arguments.until.clone(),
        as_of: arguments.as_of.clone(),
        valid_at: arguments.valid_at.clone(),
        version: arguments.version.clone(),
        scope: arguments.scope,
        owner: arguments.owner.clone(),
        sources: sources(&arguments.source)?,
        said_by: arguments.said_by.clone(),
        kind: arguments.kind,
        statuses: arguments.status.clone(),
    };
    if let Some(text) = &arguments.filter {
        // The text of a filter is parsed first, because these errors name the mistake. A valid filter is an object.
        Filter::parse(text)?;
        body.filter = serde_json::from_str(text).ok();
    }
    body.selection(Via::CommandLine, now)?;
    Ok(body)
}

/// Fails if a file cannot be written at a path: a folder is there, for which the hint is `instead`, or a file that may not be replaced.
fn check_free(file: &Path, force: bool, instead: &'static str) -> Result<()> {
    if file.is_dir() {
        return Err(Failure::usage(format!("{} is a folder", file.display()), instead));
    }
    if file.exists() && !force {
        return Err(Failure::usage(
            format!("{} is there already", file.display()),
            "name another file, or add --force",
        ));
    }
    Ok(())
}

/// Writes a temporary file, and renames it when it is complete. [`check_free`] was called before.
fn write_file<T>(file: &Path, write: impl FnOnce(&mut dyn Write) -> Result<T>) -> Result<T> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let failed = |source| Failure::from(Error::io("write", file, source));
    let mut aside = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    // A new file is readable by its owner only; a replaced file keeps its permissions.
    if let Ok(there) = std::fs::metadata(file) {
        aside.as_file().set_permissions(there.permissions()).map_err(failed)?;
    }
    let written = {
        let mut out = BufWriter::new(aside.as_file_mut());
        let written = write(&mut out)?;
        out.flush().map_err(failed)?;
        written
    };
    aside.as_file().sync_all().map_err(failed)?;
    aside.persist(file).map_err(|error| failed(error.error))?;
    Ok(written)
}

/// Returns the bounds of a person who works in the current folder.
fn local() -> Bounds {
    // In a folder that was removed, no code is looked up.
    Bounds { folder: std::env::current_dir().ok(), ..Bounds::local() }
}

/// Returns the bounds of a command's visibility.
fn bounds(arguments: &VisibilityArgs) -> Bounds {
    Bounds {
        scope: arguments.scope,
        owner: arguments.owner.clone(),
        collections: arguments.collection.clone(),
        ..local()
    }
}

/// Returns sources as they were typed, and as the paths that they may be: documents are stored under absolute paths.
fn sources(typed: &[String]) -> Result<Vec<String>> {
    let mut all = Vec::new();
    for source in typed {
        if source.trim().is_empty() {
            return Err(Failure::usage("--source is empty", "give a path, a source or a conversation"));
        }
        all.push(source.clone());
        let path = Path::new(source);
        // A link in a path may hide the name under which a file was indexed. A deleted file has only its name.
        let found = [std::path::absolute(path).ok(), path.canonicalize().ok()];
        all.extend(found.into_iter().flatten().filter_map(|path| path.to_str().map(str::to_owned)));
    }
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

/// Asks for confirmation before an action that cannot be undone. Without a terminal it is an error with this hint.
fn agreed(what: &str, hint: &str) -> Result<bool> {
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return Err(Failure::usage(
            format!("this would {what}, and there is no terminal to ask for a yes"),
            hint,
        ));
    }
    let mut talk = std::io::stderr().lock();
    let _ = write!(talk, "{what}? [y/N] ");
    let _ = talk.flush();
    let mut line = String::new();
    std::io::stdin()
        .lock()
        .read_line(&mut line)
        .map_err(|source| Failure::environment(format!("cannot read the reply: {source}"), hint))?;
    Ok(matches!(line.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// Prints a hint for a person whose store is empty, on standard error.
fn hint_if_empty(report: &StatusReport, session: &Session) {
    if report.total_memories + report.total_chunks == 0 {
        session.out.note("nothing is stored yet: bower index FOLDER, or bower curate \"something to keep\"");
    }
}
