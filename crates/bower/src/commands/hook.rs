//! Implements `bower hook`: answers the calls that an agent's host makes by itself.
//! A failed hook must never keep a person from working. After any failure, standard output is empty, standard error has one
//! line, and the status is 0 (`hook/guard.rs`).

mod guard;

use bower_core::engine::LEAST_BUDGET;
use bower_core::evidence::block;
use bower_core::item::{Briefing, Kind, RowId, Switch};
use bower_core::prompt::{PromptText, wrapped};
use bower_core::request::SessionRead;
use bower_core::shared::{briefing_block as briefing, briefing_tokens as tokens};
use serde_json::{Map, Value};
use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use super::{MAX_INPUT, Session, now};
use crate::cli::HookArgs;
use crate::failure::{Failure, Result};
use crate::hosts::{Event, Told, answer, told};
use crate::service::{Bounds, BriefBody, QueryBody, SelectBody, Service, TranscriptBody};
use crate::wire::Output;

use guard::Guard;
pub use guard::{guarded, is_called};

/// Time limit for hooks that return context: `bower setup` writes 10 seconds into hosts' files.
const GIVING: Duration = Duration::from_secs(8);
/// Time limit for hooks that keep memories: `bower setup` writes 60 seconds.
const KEEPING: Duration = Duration::from_secs(50);
/// Longest time for reading a transcript in one call; the next hook continues from there.
const READING: Duration = Duration::from_secs(25);
/// Bytes that are read after that, to store the position.
const READ_AFTER: u64 = 64 << 10;
/// Time that a hook which returns context waits for another process's write. It writes only what it has returned.
const QUICK_MS: u64 = 250;
/// Time that a hook which keeps memories waits for another process's write; hosts let such hooks run for a minute.
const PATIENT_MS: u64 = 10_000;
/// Longest context in characters: of a longer one, hosts show the agent only the beginning (Claude Code, Codex: 10,000).
const MOST_CHARS: usize = 9_500;
/// Largest budget of a briefing, in tokens, which stays below [`MOST_CHARS`].
const MOST_BRIEF_TOKENS: usize = 2_048;
/// Number of hits from which evidence is packed.
const HITS: u16 = 8;
/// Characters of each end of a long prompt that are used as the question: pasted text is usually in the middle.
const END_CHARS: usize = 1_000;
/// Least number of letters and digits of a question; shorter prompts ("ok", "go on") are not asked.
const FEWEST_LETTERS: usize = 8;
/// Most memories about a file, and their budget in tokens.
const FILE_HITS: u16 = 3;
const FILE_TOKENS: usize = 300;
/// Waits for a transcript that the host writes only after it calls the hook.
const LATE: [Duration; 4] = [
    Duration::from_millis(50),
    Duration::from_millis(100),
    Duration::from_millis(200),
    Duration::from_millis(400),
];

/// Runs the hook and returns status 0.
pub fn run(arguments: &HookArgs, session: &Session) -> ExitCode {
    guarded(|guard| answered(arguments, session, guard))
}

fn answered(arguments: &HookArgs, session: &Session, guard: &Guard) -> Result<()> {
    let told = input()?;
    guard.allow(match arguments.event {
        Event::SessionStart | Event::UserPrompt | Event::ToolUse => GIVING,
        Event::PreCompact | Event::Stop => KEEPING,
    });
    let context = match arguments.event {
        Event::SessionStart | Event::UserPrompt | Event::ToolUse => give(arguments, &told, session)?,
        Event::PreCompact | Event::Stop => return keep(arguments, &told, session),
    };
    match answer(arguments.host, arguments.event, &context.text) {
        Some(line) => {
            Output::put(&line)?;
            context.service.map_or(Ok(()), |service| Ok(service.engine().keep_given(now())?))
        }
        None => Ok(()),
    }
}

/// Reads the host's input. It ends with the JSON object, so standard input need not be closed.
fn input() -> Result<Told> {
    let mut stdin = io::stdin().lock().take(MAX_INPUT + 1);
    told(&mut stdin).map_err(|why| {
        if stdin.limit() == 0 {
            let what = format!("standard input is longer than {} MB", MAX_INPUT >> 20);
            return Failure::usage(what, "nothing was given and nothing kept");
        }
        Failure::usage(why, "a host gives one JSON object on standard input")
    })
}

/// Context for the host, and the store that has to record it as given.
#[derive(Default)]
struct Context {
    text: PromptText,
    service: Option<Service>,
}

/// Returns the context for a session.
fn give(arguments: &HookArgs, told: &Told, session: &Session) -> Result<Context> {
    let home = session.home()?;
    // If nothing was ever kept, no store is created.
    if !home.path.join("memory.db").exists() {
        return Ok(Context::default());
    }
    let mut settings = session.settings(&home)?.settings;
    settings.busy_timeout_ms = settings.busy_timeout_ms.min(QUICK_MS);
    let (budget, hook_tokens) = (settings.hook_brief, settings.hook_tokens);
    let bounds = Bounds { folder: told.folder.clone().map(Into::into), ..bounds(arguments) };
    let about = BriefBody {
        budget: Some(budget),
        budget_tokens: u32::try_from(tokens(budget).min(MOST_BRIEF_TOKENS)).ok(),
        folder: told.folder.clone().map(Into::into),
        session: told.session.clone(),
        fast: true,
        ..BriefBody::default()
    };
    match arguments.event {
        Event::SessionStart if budget != Briefing::Off || told.is_fresh => {
            let service = Session::service_of(&home, settings)?;
            if told.is_fresh {
                lose(&service, told, &bounds)?;
            }
            let mut text = PromptText::default();
            if budget != Briefing::Off {
                let repeat = told.is_fresh || !arguments.host.keeps_its_beginning();
                text = brief(&service, &bounds, &BriefBody { repeat, ..about })?;
            }
            Ok(Context { text, service: Some(service) })
        }
        Event::UserPrompt => {
            let asked = told.prompt.as_deref().and_then(asked).filter(|_| hook_tokens > 0);
            let begins = arguments.host.begins_with_a_prompt() && budget != Briefing::Off;
            if asked.is_none() && !begins {
                return Ok(Context::default());
            }
            let service = Session::service_of(&home, settings)?;
            let mut context = PromptText::default();
            if begins
                && let Some(name) = &told.session
                && !service.engine().was_given(&bounds.visibility(), name)?
            {
                context = brief(&service, &bounds, &about)?;
            }
            if let Some(query) = asked {
                let body = prefetch(told, query, HITS, hook_tokens.max(LEAST_BUDGET));
                let room = MOST_CHARS.saturating_sub(context.chars().count());
                context.push(&evidence(&service, &bounds, &body, room)?);
            }
            Ok(Context { text: context, service: Some(service) })
        }
        Event::ToolUse if hook_tokens > 0 => {
            let name =
                told.file.as_deref().and_then(|file| file.rsplit(['/', '\\']).find(|part| !part.is_empty()));
            let Some(name) = name else { return Ok(Context::default()) };
            let filter = Map::from_iter([("$contains".to_owned(), name.into())]);
            let select =
                SelectBody { kind: Some(Kind::Memory), filter: Some(filter), ..SelectBody::default() };
            let tokens = FILE_TOKENS.min(hook_tokens.max(LEAST_BUDGET));
            let body = QueryBody { fast: true, select, ..prefetch(told, name.to_owned(), FILE_HITS, tokens) };
            let service = Session::service_of(&home, settings)?;
            let text = evidence(&service, &bounds, &body, MOST_CHARS)?;
            Ok(Context { text, service: Some(service) })
        }
        Event::SessionStart | Event::ToolUse | Event::PreCompact | Event::Stop => Ok(Context::default()),
    }
}

/// Returns a query that is no user's question, with a budget in tokens.
fn prefetch(told: &Told, query: String, limit: u16, tokens: usize) -> QueryBody {
    QueryBody {
        query,
        limit: Some(limit),
        budget_tokens: u32::try_from(tokens).ok(),
        session: told.session.clone(),
        prefetch: true,
        ..QueryBody::default()
    }
}

/// Returns the bounds of a session that gets context.
fn bounds(arguments: &HookArgs) -> Bounds {
    Bounds { scope: arguments.scope, owner: arguments.owner.clone(), ..Bounds::local() }
}

/// Marks all items that the session was given as lost to it.
fn lose(service: &Service, told: &Told, bounds: &Bounds) -> Result<()> {
    let Some(name) = &told.session else { return Ok(()) };
    Ok(service.engine().lose_given(&bounds.visibility(), name)?)
}

/// Returns the briefing for a session that begins.
fn brief(service: &Service, bounds: &Bounds, body: &BriefBody) -> Result<PromptText> {
    Ok(wrapped(&briefing(&service.brief(body, bounds, now())?.entries)))
}

/// Returns whole pieces of evidence within a number of characters. Pieces that do not fit are not recorded as given.
fn evidence(service: &Service, bounds: &Bounds, body: &QueryBody, most_chars: usize) -> Result<PromptText> {
    let answer = service.query(body, bounds, now())?;
    let mut pieces = answer.evidence.map(|evidence| evidence.pieces).unwrap_or_default();
    let mut left_out: Vec<RowId> = Vec::new();
    let mut text = wrapped(&block(&pieces));
    while text.chars().count() > most_chars
        && let Some(piece) = pieces.pop()
    {
        left_out.extend(piece.rows);
        text = wrapped(&block(&pieces));
    }
    if let Some(session) = &body.session {
        left_out.retain(|row| !pieces.iter().any(|piece| piece.rows.contains(row)));
        service.engine().not_shown(&bounds.visibility(), session, &left_out);
    }
    Ok(text)
}

/// Returns the question in a prompt; `None` if it asks nothing, or is a command for the host.
fn asked(prompt: &str) -> Option<String> {
    let prompt = prompt.trim();
    let is_word = |c: char| c.is_alphanumeric();
    let is_unspaced = |c: char| c >= '\u{2e80}' && c.is_alphanumeric();
    if prompt.starts_with('/') && !prompt.contains(char::is_whitespace)
        || (prompt.chars().filter(|c| is_word(*c)).count() < FEWEST_LETTERS && !prompt.contains(is_unspaced))
    {
        return None;
    }
    let length = prompt.chars().count();
    if length <= 2 * END_CHARS {
        return Some(prompt.to_owned());
    }
    let first: String = prompt.chars().take(END_CHARS).collect();
    let last: String = prompt.chars().skip(length - END_CHARS).collect();
    Some(format!("{first}\n{last}"))
}

/// Keeps findings of the session as candidates. Before a compaction it marks what the session was given as lost.
fn keep(arguments: &HookArgs, told: &Told, session: &Session) -> Result<()> {
    let until = Instant::now() + READING;
    let home = session.home()?;
    let mut settings = session.settings(&home)?.settings;
    settings.busy_timeout_ms = settings.busy_timeout_ms.min(PATIENT_MS);
    if arguments.event == Event::PreCompact
        && arguments.host.loses_by_compacting(told.is_automatic)
        && home.path.join("memory.db").exists()
    {
        lose(&Session::service_of(&home, settings.clone())?, told, &bounds(arguments))?;
    }
    if settings.keep_sessions == Switch::Off {
        return Ok(());
    }
    let mut body = TranscriptBody {
        name: told.session.clone().unwrap_or_else(|| "session".to_owned()),
        collection: arguments.collection.clone(),
        scope: arguments.scope,
        owner: arguments.owner.clone(),
        folder: told.folder.clone(),
        session: told.session.clone(),
        ..TranscriptBody::default()
    };
    let bounds = Bounds { host: Some(arguments.host.word().to_owned()), ..Bounds::local() };
    // If there is nothing to read, no store is created.
    let open = || Session::service_of(&home, settings.clone());
    let read = match (&told.transcript, &told.messages) {
        (Some(path), _) => {
            body.name = path.to_string_lossy().into_owned();
            read_file(path, arguments.host.writes_late(), &body, &bounds, until, &open)?
        }
        (None, Some(messages)) => {
            let service = open()?;
            Some((service.read_session(&body, Cursor::new(lines(messages)), &bounds, now())?, service))
        }
        (None, None) => None,
    };
    let Some((read, service)) = read else { return Ok(()) };
    session.out.detail(&format!("{} of {} new turns were kept", read.kept.len(), read.turns));
    if arguments.event == Event::Stop && Instant::now() < until {
        session.maintain(&service);
    }
    Ok(())
}

/// A transcript whose reading ends when the time is up.
struct Timed {
    file: File,
    until: Instant,
    left: u64,
}

impl Read for Timed {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if Instant::now() < self.until {
            return self.file.read(into);
        }
        let read = (&mut self.file).take(self.left).read(into)?;
        self.left -= read as u64;
        Ok(read)
    }
}

impl Seek for Timed {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        if Instant::now() >= self.until {
            self.left = READ_AFTER;
        }
        self.file.seek(to)
    }
}

/// Opens the transcript, if it exists. Reading something other than a plain file may block or never end, so that is an error.
fn transcript(path: &Path) -> Result<Option<File>> {
    let failed = |doing, source| Failure::from(bower_core::Error::io(doing, path, source));
    // A host may pass the path before it has written the file.
    let found = match std::fs::metadata(path) {
        Ok(found) => found,
        Err(source) if source.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(failed("find", source)),
    };
    if !found.is_file() {
        return Err(Failure::usage(
            format!("transcript {} is no file", path.display()),
            "a host names the file in which it keeps the session",
        ));
    }
    File::open(path).map(Some).map_err(|source| failed("open", source))
}

/// Reads a transcript. If the host writes it late, waits until it has a new turn. Returns `None` if there is no file.
fn read_file(
    path: &Path,
    is_late: bool,
    body: &TranscriptBody,
    bounds: &Bounds,
    until: Instant,
    open: &dyn Fn() -> Result<Service>,
) -> Result<Option<(SessionRead, Service)>> {
    let waits = if is_late { &LATE[..] } else { &[] };
    let mut done: Option<(SessionRead, Service)> = None;
    for wait in std::iter::once(&Duration::ZERO).chain(waits) {
        std::thread::sleep(*wait);
        let Some(file) = transcript(path)? else { continue };
        let file = Timed { file, until, left: 0 };
        let service = match done {
            Some((_, service)) => service,
            None => open()?,
        };
        let read = service.read_session(body, file, bounds, now())?;
        let is_there = read.turns > 0;
        done = Some((read, service));
        if is_there {
            break;
        }
    }
    Ok(done)
}

/// Formats the turns as one JSON object per line, like a transcript.
fn lines(messages: &Value) -> Vec<u8> {
    let all = messages.as_array().into_iter().flatten();
    all.flat_map(|turn| [turn.to_string(), "\n".to_owned()]).collect::<String>().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_asks_nothing_is_not_asked() {
        for prompt in ["", "  ", "ok", "yes do", "/clear", "y", "👍👍👍👍👍👍👍👍👍"] {
            assert_eq!(asked(prompt), None, "{prompt}");
        }
        for prompt in ["which port has the API", "/compact keep the port of the API", "端口是多少"] {
            assert_eq!(asked(prompt).as_deref(), Some(prompt));
        }
        let long = format!("{}{}{}", "a".repeat(1_500), "b".repeat(50_000), "c".repeat(1_500));
        assert_eq!(asked(&long).unwrap(), format!("{}\n{}", "a".repeat(1_000), "c".repeat(1_000)));
    }
}
