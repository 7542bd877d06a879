//! Reads a session's transcript: its new turns become candidates, at most once.
//!
//! `memory/turns.rs` decides what is worth keeping, and the gate checks it. How far a transcript was read is stored, so
//! reading it again adds nothing. Without a model nothing is picked or stored, so a later reading picks it.

use jiff::Timestamp;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::time::Instant;

use crate::engine::curate::class::TextClass;
use crate::engine::curate::write::CONFIDENCE;
use crate::engine::curate::{Unasked, curate_as};
use crate::engine::query::record::session_name;
use crate::engine::session::brief::FOLDER;
use crate::engine::session::conversation::stem;
use crate::engine::session::pick::{not_picked, worth_keeping};
use crate::engine::timing::milliseconds;
use crate::engine::{ACTOR, Engine};
use crate::error::{Error, Result};
use crate::ingest::{
    Element, Form, Line, MOST_VALUES, Speaker, Transcript, Turn, check_values, conversation, each_element,
    each_value, line_too_long, read_line, recognise,
};
use crate::item::{Author, CurateOutcome, Gate, RowId, Scope, Visibility, derive_id, hex};
use crate::memory::gate;
use crate::memory::turns::Voice;
use crate::request::moving::Problem;
use crate::request::{CurateRequest, Degraded, KeptSentence, SessionRead, SessionRequest};
use crate::store::{Namespace, Stamp};

/// Bytes from which the form and the session of a transcript are recognised.
const PEEK: u64 = 256 << 10;
/// Bytes before the end of the last reading, by which the transcript is recognised.
const CHECKED: u64 = 512;
/// Most problems that are listed.
const LISTED: usize = 100;
/// Action of the event that stores a mark.
const READ: &str = "read-session";
/// Field of a mark with the least trusted source that was read.
const AMONG: &str = "least_trusted";

/// Position up to which a conversation was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ReadMark {
    pub(crate) turns: u64,
    pub(crate) bytes: u64,
    pub(crate) check: String,
    /// The least trusted source in the conversation so far, if it came from outside.
    pub(crate) among: Option<Author>,
}

/// State of one conversation while it is read.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// Mark of the earlier reading.
    pub(crate) mark: ReadMark,
    /// Number of turns so far.
    pub(crate) turns: u64,
    /// Rows that the session was given.
    pub(crate) given: Vec<RowId>,
}

/// State of one reading of a transcript.
pub(crate) struct TranscriptReader<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) visibility: &'a Visibility,
    pub(crate) request: &'a SessionRequest,
    pub(crate) now: Timestamp,
    /// Namespace of the candidates.
    pub(crate) place: Namespace,
    pub(crate) conversations: HashMap<String, Progress>,
    /// Bytes before this position were read earlier.
    pub(crate) from: u64,
    /// Whether a turn was read without the model that picks.
    pub(crate) is_unpicked: bool,
    pub(crate) report: SessionRead,
}

/// Parses the lines that are whole.
fn lines_of(head: &[u8]) -> impl Iterator<Item = Value> + '_ {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    head.split(|&byte| byte == b'\n').filter_map(|line| serde_json::from_slice(line.trim_ascii()).ok())
}

/// Returns a hash of the bytes before a position of a transcript.
fn check(reader: &mut (impl Read + Seek), upto: u64) -> std::io::Result<String> {
    let from = upto.saturating_sub(CHECKED);
    reader.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    reader.take(upto - from).read_to_end(&mut bytes)?;
    Ok(hex(&Sha256::digest(&bytes)[..16]))
}

impl<'a> TranscriptReader<'a> {
    pub(crate) fn new(
        engine: &'a Engine,
        visibility: &'a Visibility,
        request: &'a SessionRequest,
        now: Timestamp,
    ) -> Result<Self> {
        let collection = request.collection.clone();
        let place = Namespace {
            collection: collection.unwrap_or_else(|| engine.settings.memory_collection.clone()),
            scope: request.scope.unwrap_or(Scope::Project),
            owner: request.owner.clone(),
        };
        let report = SessionRead { dry_run: request.dry_run, ..SessionRead::default() };
        visibility.check_place(&place.collection, place.scope, place.owner.as_deref())?;
        Ok(Self {
            engine,
            visibility,
            request,
            now,
            place,
            conversations: HashMap::new(),
            from: 0,
            is_unpicked: false,
            report,
        })
    }

    /// Returns the subject of a conversation's marks. It includes the namespace: reading into another namespace begins anew.
    fn subject(&self, conversation: &str) -> String {
        let Namespace { collection, scope, owner } = &self.place;
        derive_id(&[READ, collection, scope.word(), owner.as_deref().unwrap_or(""), conversation])
    }

    fn mark(&self, conversation: &str) -> Result<ReadMark> {
        let Some(event) = self.engine.store.events(&self.subject(conversation))?.pop() else {
            return Ok(ReadMark::default());
        };
        let number = |name: &str| event.detail.get(name).and_then(Value::as_u64).unwrap_or(0);
        let check = event.detail.get("check").and_then(Value::as_str).unwrap_or_default().to_owned();
        let among = event.detail.get(AMONG).and_then(Value::as_str).and_then(|word| word.parse().ok());
        Ok(ReadMark { turns: number("turns"), bytes: number("bytes"), check, among })
    }

    /// Returns the position to read from: behind the earlier reading, if the transcript before it did not change.
    fn resume(
        &mut self,
        head: &[u8],
        transcript: &Transcript,
        reader: &mut (impl Read + Seek),
    ) -> Result<u64> {
        let mut peeked = transcript.clone();
        let first = lines_of(head).find_map(|value| peeked.line(&value).ok().flatten());
        let Some(first) = first else { return Ok(0) };
        let mark = self.mark(&first.conversation)?;
        if mark.bytes == 0 {
            return Ok(0);
        }
        let is_there = reader.seek(SeekFrom::End(0)).is_ok_and(|length| length >= mark.bytes);
        if is_there && check(reader, mark.bytes).is_ok_and(|check| check == mark.check) {
            self.from = mark.bytes;
            self.report.known = mark.turns;
            self.report.conversations.push(first.conversation.clone());
            self.conversations.insert(first.conversation.clone(), self.begun(&first.conversation, mark)?);
        }
        Ok(self.from)
    }

    /// Returns the state of a conversation that this reading meets for the first time.
    pub(crate) fn begun(&self, conversation: &str, mark: ReadMark) -> Result<Progress> {
        // The session may have received items with the visibility of the caller, or with that of this namespace alone.
        let place = self.visibility.narrowed(self.request.scope, self.request.owner.as_deref())?;
        let mut given = Vec::new();
        for session in [Some(conversation), self.request.session.as_deref()].into_iter().flatten() {
            for visibility in [&place, self.visibility] {
                let rows = self.engine.desk.given(&session_name(session, visibility))?;
                given.extend(rows.iter().map(|given| given.row));
            }
        }
        given.sort_unstable();
        given.dedup();
        let turns = if self.from > 0 { mark.turns } else { 0 };
        Ok(Progress { mark, turns, given })
    }

    fn array(&mut self, name: &str, reader: impl BufRead, transcript: &mut Transcript) -> Result<()> {
        let (mut number, mut failed) = (0_u64, None);
        let outcome = each_element(reader, &mut |value| {
            number += 1;
            failed = self.read(&format!("{name}: element {number}"), value, transcript).err();
            failed.is_none()
        });
        if let Some(error) = failed {
            return Err(error);
        }
        if let Err(error) = outcome {
            self.problem(name.to_owned(), format!("{error}; everything before it was read"));
        }
        Ok(())
    }

    /// Reads lines from a position on; returns the end of the last whole one.
    fn lines(
        &mut self,
        name: &str,
        from: u64,
        mut reader: impl BufRead,
        transcript: &mut Transcript,
    ) -> Result<u64> {
        let mut upto = from;
        let mut line = Vec::new();
        for number in 1_u64.. {
            let place = if from == 0 { format!("{name}:{number}") } else { format!("{name}: byte {upto}") };
            let read = read_line(&mut reader, &mut line);
            let read = match read.map_err(|source| Error::io("read", Path::new(name), source))? {
                Line::End => break,
                Line::Whole(read) => read,
                Line::TooLong(read) => {
                    self.problem(place, line_too_long(read));
                    upto += read;
                    continue;
                }
            };
            let text = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line).trim_ascii();
            if let Err(reason) = check_values(text, MOST_VALUES) {
                self.problem(place, format!("{reason}; the line was left out"));
                upto += read;
                continue;
            }
            match serde_json::from_slice::<Value>(text) {
                _ if text.is_empty() => {}
                Ok(value) => self.element(&place, value, transcript)?,
                // One object over many lines.
                Err(error) if from == 0 && number == 1 && error.is_eof() && line.ends_with(b"\n") => {
                    let whole = std::io::Cursor::new(std::mem::take(&mut line)).chain(reader);
                    let mut failed = None;
                    let outcome = each_value(whole, &mut |value| {
                        failed = self.read(name, value, transcript).err();
                        failed.is_none()
                    });
                    if let Some(error) = failed {
                        return Err(error);
                    }
                    if let Err(reason) = outcome {
                        self.problem(name.to_owned(), format!("{reason}; is the file complete?"));
                    }
                    return Ok(0);
                }
                // The line is still being written: the next reading begins with it.
                Err(_) if !line.ends_with(b"\n") => break,
                Err(error) => self.problem(place, format!("{error}; the line was left out")),
            }
            upto += read;
        }
        Ok(upto)
    }

    /// Reads one element, or records why it could not be parsed.
    fn read(
        &mut self,
        place: &str,
        value: std::result::Result<Value, String>,
        transcript: &mut Transcript,
    ) -> Result<()> {
        match value {
            Ok(value) => self.element(place, value, transcript),
            Err(reason) => {
                self.problem(place.to_owned(), reason);
                Ok(())
            }
        }
    }

    fn problem(&mut self, place: String, reason: String) {
        self.report.failed += 1;
        if self.report.errors.len() < LISTED {
            self.report.errors.push(Problem { place, reason });
        }
    }

    fn element(&mut self, place: &str, value: Value, transcript: &mut Transcript) -> Result<()> {
        match conversation(value) {
            Ok(Element::Conversation(turns)) => turns.into_iter().try_for_each(|turn| self.turn(&turn)),
            Ok(Element::Other(value)) => match transcript.line(&value) {
                Ok(Some(turn)) => self.turn(&turn),
                Ok(None) => Ok(()),
                Err(reason) => {
                    self.problem(place.to_owned(), reason);
                    Ok(())
                }
            },
            Err(reason) => {
                self.problem(place.to_owned(), reason);
                Ok(())
            }
        }
    }

    fn turn(&mut self, turn: &Turn) -> Result<()> {
        if !self.conversations.contains_key(&turn.conversation) {
            let begun = self.begun(&turn.conversation, self.mark(&turn.conversation)?)?;
            self.report.known += begun.turns;
            self.report.conversations.push(turn.conversation.clone());
            self.conversations.insert(turn.conversation.clone(), begun);
        }
        let Some(progress) = self.conversations.get_mut(&turn.conversation) else { return Ok(()) };
        progress.turns += 1;
        if progress.turns <= progress.mark.turns {
            self.report.known += 1;
            return Ok(());
        }
        self.report.turns += 1;
        self.pick(turn)
    }

    /// Keeps the sentences of a turn that are worth keeping.
    pub(crate) fn pick(&mut self, turn: &Turn) -> Result<()> {
        let voice = match turn.speaker {
            Speaker::User => Voice::User,
            Speaker::Named(_) => Voice::Person,
            Speaker::Assistant(_) => Voice::Assistant,
        };
        if self.is_unpicked {
            return Ok(());
        }
        let Some(texts) = worth_keeping(self.engine, &turn.text, voice)? else {
            self.is_unpicked = true;
            self.report.degraded.push(not_picked(self.engine));
            return Ok(());
        };
        texts.iter().try_for_each(|text| self.keep(turn, text))
    }

    /// Keeps a text as a candidate, if the gate admits it and it was not kept or forgotten before.
    fn keep(&mut self, turn: &Turn, text: &str) -> Result<()> {
        let verdict = gate::judge(text, Gate::Strict, &gate::Constants::default());
        if verdict.refused.is_some() {
            self.report.refused += 1;
            return Ok(());
        }
        let content = verdict.redacted.map_or_else(|| text.to_owned(), |redacted| redacted.text);
        if !self.engine.store.events(&self.place.memory_id(content.trim()))?.is_empty() {
            self.report.unchanged += 1;
            return Ok(());
        }
        let speaker = turn.speaker.name(None);
        let mut metadata = Map::new();
        metadata.insert("speaker".to_owned(), json!(speaker));
        metadata.insert("origin".to_owned(), json!(turn.origin));
        if let Some(time) = turn.time {
            metadata.insert("date".to_owned(), json!(time.to_string()));
        }
        if let Some(folder) = &self.request.folder {
            metadata.insert(FOLDER.to_owned(), json!(folder));
        }
        let request = CurateRequest {
            metadata,
            collection: Some(self.place.collection.clone()),
            scope: self.place.scope,
            owner: self.place.owner.clone(),
            source_conv_id: Some(turn.conversation.clone()),
            gate: Some(Gate::Strict),
            host: self.request.host.clone().or_else(|| Some(turn.origin.to_owned())),
            root: self.request.folder.as_ref().map(Into::into),
            ..CurateRequest::new(content.clone())
        };
        let said = turn.provenance(self.request.me.as_deref());
        let kept = |id, memory_type, outcome, review, possible| KeptSentence {
            id,
            said_by: said.said_by,
            least_trusted: said.least_trusted,
            text: content.clone(),
            memory_type,
            speaker: speaker.clone(),
            outcome,
            review,
            possible,
        };
        if self.request.dry_run {
            let class = TextClass::of(self.engine, &content)?;
            if class.is_junk(Gate::Strict) {
                self.report.refused += 1;
                return Ok(());
            }
            let judged = class.judge(&content, None, CONFIDENCE);
            self.report.kept.push(kept(None, judged.memory_type, CurateOutcome::Create, None, Vec::new()));
            return Ok(());
        }
        let given = self.conversations.get(&turn.conversation).map_or(&[][..], |progress| &progress.given);
        let unasked = Unasked { source: turn.origin, given, provenance: said };
        let curated = curate_as(self.engine, self.visibility, &request, Some(unasked), self.now)?;
        if curated.accepted {
            let (outcome, review) = (curated.outcome, curated.review);
            let kept = kept(curated.id, curated.memory_type, outcome, review, curated.possible);
            self.report.kept.push(kept);
            self.engine.pending.has_kept.store(true, std::sync::atomic::Ordering::Relaxed);
        } else {
            self.report.refused += 1;
        }
        self.degraded(curated.degraded);
        Ok(())
    }

    /// Adds missing parts to the report, each once.
    pub(crate) fn degraded(&mut self, missing: Vec<Degraded>) {
        for one in missing {
            if !self.report.degraded.contains(&one) {
                self.report.degraded.push(one);
            }
        }
    }

    /// Stores how far each conversation was read.
    fn end(&mut self, place: Option<&(u64, String)>, transcript: &Transcript) -> Result<()> {
        if self.request.dry_run || self.is_unpicked {
            return Ok(());
        }
        let mut names: Vec<&String> = self.conversations.keys().collect();
        names.sort_unstable();
        for name in names {
            let progress = &self.conversations[name];
            if progress.turns <= progress.mark.turns {
                continue;
            }
            let mut detail = Map::from_iter([("turns".to_owned(), json!(progress.turns))]);
            if let Some((bytes, check)) = place.filter(|(bytes, _)| *bytes > 0) {
                detail.insert("bytes".to_owned(), json!(bytes));
                detail.insert("check".to_owned(), json!(check));
            }
            let among = transcript.among(name).less_trusted(progress.mark.among.unwrap_or(Author::User));
            if among.is_outside() {
                detail.insert(AMONG.to_owned(), json!(among));
            }
            let stamp = Stamp { now: self.now, actor: ACTOR };
            self.engine.store.mark(&self.subject(name), READ, &detail, stamp)?;
        }
        Ok(())
    }
}

impl Engine {
    /// Reads the new part of a session's transcript: its decisions, corrections, statements and findings become candidates.
    /// The same transcript again adds nothing.
    pub fn read_session<R: Read + Seek>(
        &self,
        visibility: &Visibility,
        name: &str,
        mut reader: R,
        request: &SessionRequest,
        now: Timestamp,
    ) -> Result<SessionRead> {
        let start = Instant::now();
        let failed = |source| Error::io("read", Path::new(name), source);
        let mut head = Vec::new();
        (&mut reader).take(PEEK).read_to_end(&mut head).map_err(failed)?;
        let mut reading = TranscriptReader::new(self, visibility, request, now)?;
        let mut transcript = Transcript::new(stem(name));
        match recognise(&head) {
            // A session that has only begun.
            Form::Unknown(_) if head.trim_ascii().is_empty() => {}
            Form::Unknown(_) | Form::Pieces => {
                let reason = "it is no transcript of one JSON object a line, nor a list of them";
                return Err(Error::invalid(format!("transcript {name}"), reason));
            }
            Form::Array => {
                reader.rewind().map_err(failed)?;
                reading.array(name, BufReader::new(reader), &mut transcript)?;
                reading.end(None, &transcript)?;
            }
            Form::Objects => {
                let from = reading.resume(&head, &transcript, &mut reader)?;
                // The head names the session; its turns are read again only if nothing of it was read.
                if from > 0 {
                    for value in lines_of(&head) {
                        let _ = transcript.line(&value);
                    }
                    for (conversation, progress) in &reading.conversations {
                        transcript.go_on(conversation, progress.mark.among.unwrap_or(Author::User));
                    }
                }
                reader.seek(SeekFrom::Start(from)).map_err(failed)?;
                let upto = reading.lines(name, from, BufReader::new(&mut reader), &mut transcript)?;
                let check = check(&mut reader, upto).map_err(failed)?;
                reading.end(Some(&(upto, check)), &transcript)?;
            }
        }
        reading.report.conversations.sort_unstable();
        reading.report.took_ms = milliseconds(start);
        Ok(reading.report)
    }
}
