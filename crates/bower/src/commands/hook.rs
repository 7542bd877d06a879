//! Implements `bower hook`: answers the calls that an agent's host makes by itself.
//! It must never be the reason why somebody cannot work: whatever fails, nothing is printed on standard output, one line says so on
//! standard error, and the status is 0 (`hook/guard.rs`).

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

/// Hosts wait so long for what is given to them: `bower setup` writes 10 seconds into their files.
const GIVING: Duration = Duration::from_secs(8);
/// And so long for what is kept: it writes 60.
const KEEPING: Duration = Duration::from_secs(50);
/// A transcript is read so long in one go; the next hook goes on from there.
const READING: Duration = Duration::from_secs(25);
/// Bytes that are read of it after that, to remember how far it was read.
const READ_AFTER: u64 = 64 << 10;
/// Whoever gives context waits so long for another process's write: only what was given is written.
const QUICK_MS: u64 = 250;
/// Whoever keeps findings may wait longer; a host lets its hooks run for a minute.
const PATIENT_MS: u64 = 10_000;
/// Hosts show an agent the beginning alone of more characters (Claude Code, Codex: 10,000).
const MOST_CHARS: usize = 9_500;
/// Tokens of a briefing that stay below that.
const MOST_BRIEF_TOKENS: usize = 2_048;
/// Evidence is drawn from so many hits.
const HITS: u16 = 8;
/// Characters of each end of a long prompt that are asked: what is pasted stands between.
const END_CHARS: usize = 1_000;
/// Fewer letters and digits ask nothing ("ok", "go on").
const FEWEST_LETTERS: usize = 8;
/// Memories of a file, and their tokens.
const FILE_HITS: u16 = 3;
const FILE_TOKENS: usize = 300;
/// Who calls before its transcript is written is waited for so often.
const LATE: [Duration; 4] = [
    Duration::from_millis(50),
    Duration::from_millis(100),
    Duration::from_millis(200),
    Duration::from_millis(400),
];

/// Does what the host called for.
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

/// What the host tells. Nobody has to close standard input: the object's end is the end.
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

/// What is given, and the store that has to remember it.
#[derive(Default)]
struct Context {
    text: PromptText,
    service: Option<Service>,
}

/// What the session is told.
fn give(arguments: &HookArgs, told: &Told, session: &Session) -> Result<Context> {
    let home = session.home()?;
    // Where nothing was ever kept, nothing is made.
    if !home.path.join("memory.db").exists() {
        return Ok(Context::default());
    }
    let mut settings = session.settings(&home)?.settings;
    settings.busy_timeout_ms = settings.busy_timeout_ms.min(QUICK_MS);
    let (budget, hook_tokens) = (settings.hook_brief, settings.hook_tokens);
    let bounds = bounds(arguments);
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

/// Evidence that nobody asked for, in so many tokens.
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

/// Of whoever is given something.
fn bounds(arguments: &HookArgs) -> Bounds {
    Bounds { scope: arguments.scope, owner: arguments.owner.clone(), ..Bounds::local() }
}

/// The session has lost what it was given.
fn lose(service: &Service, told: &Told, bounds: &Bounds) -> Result<()> {
    let Some(name) = &told.session else { return Ok(()) };
    Ok(service.engine().lose_given(&bounds.visibility(), name)?)
}

/// What somebody who begins is told.
fn brief(service: &Service, bounds: &Bounds, body: &BriefBody) -> Result<PromptText> {
    Ok(wrapped(&briefing(&service.brief(body, bounds, now())?.entries)))
}

/// Whole pieces of evidence, in so many characters. What is left out for want of room was not given.
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

/// What of a prompt is asked; none where it asks nothing, or is for the host itself.
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

/// What the session found out becomes candidates, and what is about to be compacted is lost to it.
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
    // Where there is nothing to read, no store is made.
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

/// A transcript that ends for its reader when the time is up.
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

/// The transcript, where there is one. What is no plain file may never end, or make its reader wait.
fn transcript(path: &Path) -> Result<Option<File>> {
    let failed = |doing, source| Failure::from(bower_core::Error::io(doing, path, source));
    // A host may name it before it has written anything.
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

/// Reads a transcript, and where its host writes it late waits until something new is in it. None where there is no file.
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

/// Turns one a line, as a transcript has them.
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
