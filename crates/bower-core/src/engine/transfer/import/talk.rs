//! Imports conversations: each turn becomes a document with its speaker and its time.
//! All turns of a conversation are of one session, so that each counts for the others. That is how a question for one
//! sentence of a long conversation finds it (`bower eval` on LoCoMo). As chunks of one document, turns would lose their
//! times.

use jiff::tz::TimeZone;
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::io::{BufRead, Read};

use crate::engine::ACTOR;
use crate::engine::curate::class::TextClass;
use crate::engine::curate::secrets::CleanItem;
use crate::engine::curate::write::{CONFIDENCE, MAX_CONTENT_BYTES};
use crate::engine::index;
use crate::engine::index::sources::DocumentInput;
use crate::engine::query::when::zone;
use crate::engine::session::conversation::{SESSIONS, document, fields, stem};
use crate::engine::transfer::import::batch::{BATCH, Import, new_item};
use crate::engine::transfer::import::foreign::{Moving, SORTED};
use crate::error::{Error, Result};
use crate::ingest::{
    Element, ForeignFormat, ForeignMemory, Line, MOST_VALUES, Transcript, Turn, check_values, conversation,
    each_element, each_value, line_too_long, listed, object_format, read_line,
};
use crate::item::{Author, Gate, Kind, Provenance, Scope, Status, Tier, Visibility};
use crate::memory::gate;
use crate::request::moving::{ImportProgress, ImportRequest};
use crate::store::copies::{ItemCopy, NewPiece, PieceOutcome};
use crate::store::{Namespace, Stamp};

/// Provenance of text from another program's file: nobody here has reviewed it.
const IMPORTED: Provenance =
    Provenance { said_by: Author::User, least_trusted: Author::Import, reviewed: false };

/// Bytes of turns after which they are written: a few long ones, or hundreds of short ones.
const BATCH_BYTES: usize = 8 << 20;

/// Most conversations in one file: the name of each is held until the end.
const MOST_CONVERSATIONS: usize = 1_000_000;

/// State of reading a file of conversations, with the turns that are not written yet.
struct Talk<'i, 'a> {
    import: &'i mut Import<'a>,
    name: String,
    zone: TimeZone,
    turns: Vec<Turn>,
    /// Bytes of text in them.
    bytes: usize,
    conversations: HashSet<String>,
    /// Memories of another program that are not written yet.
    memories: Vec<ForeignMemory>,
    /// The program that they are from.
    format: Option<&'static ForeignFormat>,
    /// Whether more conversations came than one file may have: nothing more is read.
    is_full: bool,
}

impl<'i, 'a> Talk<'i, 'a> {
    fn new(import: &'i mut Import<'a>, name: &str) -> Result<Self> {
        let zone = zone(import.engine)?;
        Ok(Self {
            import,
            name: name.to_owned(),
            zone,
            turns: Vec::new(),
            bytes: 0,
            conversations: HashSet::new(),
            memories: Vec::new(),
            format: None,
            is_full: false,
        })
    }
}

/// Imports a list of conversations, or of the turns of one.
pub(crate) fn array(import: &mut Import<'_>, name: &str, reader: impl BufRead) -> Result<()> {
    let mut talk = Talk::new(import, name)?;
    let mut transcript = Transcript::new(stem(name));
    let (mut number, mut failed) = (0_u64, None);
    let outcome = each_element(reader, &mut |value| {
        number += 1;
        let taken = talk.read(&format!("{name}: element {number}"), value, &mut transcript);
        failed = taken.err();
        failed.is_none() && !talk.is_full
    });
    talk.end(outcome, failed)
}

/// Imports objects one after the other.
pub(crate) fn objects(import: &mut Import<'_>, name: &str, mut reader: impl BufRead) -> Result<()> {
    let mut talk = Talk::new(import, name)?;
    let mut transcript = Transcript::new(stem(name));
    let mut line = Vec::new();
    for number in 1_u64.. {
        let place = format!("{name}:{number}");
        match read_line(&mut reader, &mut line) {
            Ok(Line::End) => break,
            Ok(Line::Whole(_)) => {}
            // The line may be the whole file: one object that is too large to be read at once.
            Ok(Line::TooLong(bytes)) => {
                talk.import.report.error(place, line_too_long(bytes));
                continue;
            }
            Err(source) => {
                talk.import.report.error(place, format!("cannot be read on: {source}"));
                break;
            }
        }
        let text = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line).trim_ascii();
        if text.is_empty() {
            continue;
        }
        if let Err(reason) = check_values(text, MOST_VALUES) {
            talk.import.report.error(place, format!("{reason}; the line was left out"));
            continue;
        }
        match serde_json::from_slice::<Value>(text) {
            Ok(value) => talk.element(&place, value, &mut transcript)?,
            // One object over many lines.
            Err(error) if number == 1 && error.is_eof() => {
                let whole = std::io::Cursor::new(std::mem::take(&mut line)).chain(reader);
                let (mut number, mut failed) = (0_u64, None);
                let outcome = each_value(whole, &mut |value| {
                    number += 1;
                    let taken = talk.read(&format!("{name}: object {number}"), value, &mut transcript);
                    failed = taken.err();
                    failed.is_none() && !talk.is_full
                });
                return talk.end(outcome, failed);
            }
            Err(error) => talk.import.report.error(place, format!("{error}; the line was left out")),
        }
        if talk.is_full {
            break;
        }
    }
    talk.end(Ok(()), None)
}

impl Talk<'_, '_> {
    /// Reads one element, or reports why it could not be parsed.
    fn read(
        &mut self,
        place: &str,
        value: std::result::Result<Value, String>,
        transcript: &mut Transcript,
    ) -> Result<()> {
        match value {
            Ok(value) => self.element(place, value, transcript),
            Err(reason) => {
                self.import.report.error(place, format!("{reason}; it was left out"));
                Ok(())
            }
        }
    }

    fn element(&mut self, place: &str, value: Value, transcript: &mut Transcript) -> Result<()> {
        let value = match listed(value) {
            Ok(list) => {
                let mut list = list.into_iter().enumerate();
                return list.try_for_each(|(number, value)| {
                    let place = format!("{place}, memory {}", number + 1);
                    let Some((format, read)) = object_format(&value) else {
                        let reason = "it is no memory, as the others of its list are; it was left out";
                        self.import.report.error(place, reason);
                        return Ok(());
                    };
                    self.memory(&place, format, read(&value))
                });
            }
            Err(value) => value,
        };
        if let Some((format, read)) = object_format(&value) {
            return self.memory(place, format, read(&value));
        }
        match conversation(value) {
            Ok(Element::Conversation(turns)) => {
                for turn in turns {
                    self.turn(turn)?;
                }
            }
            Ok(Element::Other(Value::Object(mut fields))) if fields.contains_key("conversations") => {
                let inner = fields.remove("conversations").unwrap_or_default();
                let Value::Array(inner) = inner else { return Ok(()) };
                for (number, value) in inner.into_iter().enumerate() {
                    self.element(&format!("{place}, conversation {}", number + 1), value, transcript)?;
                }
            }
            Ok(Element::Other(value)) => match transcript.line(&value) {
                Ok(Some(turn)) => self.turn(turn)?,
                Ok(None) => {}
                Err(reason) => self.import.report.error(place, reason),
            },
            Err(reason) => {
                self.import.report.error(place, format!("{reason}; the conversation was left out"));
            }
        }
        Ok(())
    }

    /// Takes what a reader made of a memory of another program.
    fn memory(
        &mut self,
        place: &str,
        format: &'static ForeignFormat,
        read: std::result::Result<Option<ForeignMemory>, String>,
    ) -> Result<()> {
        if self.format.is_some_and(|before| before.source != format.source) || self.memories.len() >= SORTED {
            self.move_in()?;
        }
        self.format = Some(format);
        match read {
            Ok(memory) => self.memories.extend(memory),
            Err(reason) => self.import.report.error(place, format!("{reason}; it was left out")),
        }
        Ok(())
    }

    /// Imports the memories that are waiting.
    fn move_in(&mut self) -> Result<()> {
        let Some(format) = self.format.take() else { return Ok(()) };
        let mut moving = Moving::new(self.import, format, &self.name)?;
        std::mem::take(&mut self.memories).into_iter().try_for_each(|memory| moving.add(memory))?;
        moving.finish()
    }

    fn turn(&mut self, turn: Turn) -> Result<()> {
        let most = self.import.engine.settings.max_file_bytes;
        if turn.text.len() as u64 > most {
            let reason = format!(
                "{} bytes of text are more than {most}; --set max_file_bytes=N takes longer ones",
                turn.text.len()
            );
            self.import.report.error(format!("{}: turn {}", self.name, turn.id), reason);
            return Ok(());
        }
        if !self.conversations.contains(&turn.conversation) {
            if self.conversations.len() >= MOST_CONVERSATIONS {
                let reason = format!(
                    "it has more than {MOST_CONVERSATIONS} conversations; those before were imported: split the file"
                );
                self.import.report.error(&self.name, reason);
                self.is_full = true;
                return Ok(());
            }
            self.conversations.insert(turn.conversation.clone());
            self.import.report.conversations += 1;
        }
        self.import.report.turns += 1;
        self.bytes += turn.text.len();
        self.turns.push(turn);
        if self.turns.len() >= BATCH || self.bytes >= BATCH_BYTES { self.write() } else { Ok(()) }
    }

    /// Writes the rest; `outcome` is the error of the file itself, `failed` that of the store.
    fn end(mut self, outcome: std::result::Result<(), String>, failed: Option<Error>) -> Result<()> {
        if let Some(error) = failed {
            return Err(error);
        }
        if let Err(reason) = outcome {
            let reason = format!("{reason}; everything before it was imported; is the file complete?");
            self.import.report.error(&self.name, reason);
        }
        self.move_in()?;
        self.write()
    }

    fn write(&mut self) -> Result<()> {
        let turns = std::mem::take(&mut self.turns);
        self.bytes = 0;
        let dealt = turns.len() as u64;
        if self.import.request.as_memories {
            self.keep(turns)?;
        } else {
            self.index(turns)?;
        }
        (self.import.progress)(ImportProgress::Items(dealt));
        Ok(())
    }

    fn index(&mut self, turns: Vec<Turn>) -> Result<()> {
        let mut seen = HashSet::new();
        let documents: Vec<DocumentInput> = turns
            .into_iter()
            .map(|turn| document(self.import.engine, &self.import.request, &self.zone, turn))
            .filter(|document| seen.insert(document.id.clone()))
            .collect();
        let import = &mut *self.import;
        if import.request.dry_run {
            let ImportRequest { collection, scope, owner, .. } = &import.request;
            let place = Namespace {
                collection: collection.clone().unwrap_or_else(|| SESSIONS.to_owned()),
                scope: scope.unwrap_or(Scope::Project),
                owner: owner.clone(),
            };
            let paths: Vec<&str> = documents.iter().map(|document| document.id.as_str()).collect();
            let known = import.engine.store.documents_at(&place, &paths)?;
            let there = known.iter().flatten().count() as u64;
            import.report.unchanged += there;
            import.report.added += known.len() as u64 - there;
            return Ok(());
        }
        let (scope, owner) = (import.request.scope.unwrap_or(Scope::Project), import.request.owner.clone());
        let report = index::add_documents(import.engine, documents, scope, owner, import.now)?;
        import.report.added += report.indexed as u64;
        import.report.unchanged += report.unchanged as u64;
        import.report.embedded += report.embedded;
        for skipped in report.skipped {
            import.report.error(format!("{}: turn {}", self.name, skipped.path.display()), skipped.reason);
        }
        if import.report.degraded.is_empty() {
            import.report.degraded = report.degraded;
        }
        Ok(())
    }

    /// Imports each turn as a candidate, if the gate admits it. Nothing is compared or replaced: an old statement is no news.
    fn keep(&mut self, turns: Vec<Turn>) -> Result<()> {
        let (mut pieces, mut seen) = (Vec::new(), HashSet::new());
        for turn in turns {
            let (id, item) = match self.candidate(&turn)? {
                Ok(found) => found,
                Err(true) => {
                    self.import.report.refused += 1;
                    continue;
                }
                Err(false) => {
                    let place = format!("{}: turn {}", self.name, turn.id);
                    self.import
                        .report
                        .error(place, "it is longer than a memory may be; import it as a document");
                    continue;
                }
            };
            if !seen.insert(id.clone())
                || !self.import.engine.store.rows_by_id(&id, &Visibility::everything(), 1)?.is_empty()
            {
                self.import.report.unchanged += 1;
                continue;
            }
            let why = Map::from_iter([("conversation".to_owned(), json!(turn.conversation))]);
            let Ok(clean) = CleanItem::of(self.import.engine, item) else {
                self.import.report.refused += 1;
                continue;
            };
            self.import.report.redacted += u64::from(clean.is_cut);
            let new = new_item(self.import.engine, clean, None, "import", why, false)?;
            pieces.push(NewPiece::Item(Box::new(new)));
        }
        let import = &mut *self.import;
        let stamp = Stamp { now: import.now, actor: ACTOR };
        for fate in import.engine.store.take_pieces(&pieces, import.request.dry_run, stamp)? {
            match fate {
                PieceOutcome::Added | PieceOutcome::Updated => import.report.added += 1,
                PieceOutcome::Same | PieceOutcome::Newer => import.report.unchanged += 1,
                PieceOutcome::Conflict(why) => import.report.conflict(self.name.clone(), why),
            }
        }
        Ok(())
    }

    /// Returns a turn as a candidate; the error is true if the gate refused it, false if it is too long.
    fn candidate(&self, turn: &Turn) -> Result<std::result::Result<(String, ItemCopy), bool>> {
        let (request, settings) = (&self.import.request, &self.import.engine.settings);
        let place = Namespace {
            collection: request.collection.clone().unwrap_or_else(|| settings.memory_collection.clone()),
            scope: request.scope.unwrap_or(Scope::Project),
            owner: request.owner.clone(),
        };
        let strictness = settings.gate_of(&place.collection);
        let verdict = gate::judge(turn.text.trim(), strictness, &gate::Constants::default());
        if verdict.refused.is_some() {
            return Ok(Err(true));
        }
        let said = verdict.redacted.as_ref().map_or(turn.text.trim(), |redacted| redacted.text.as_str());
        let class = TextClass::of(self.import.engine, said)?;
        // Whoever imports a talk as memories wants its turns, unless the gate is strict.
        if strictness == Gate::Strict && class.is_junk(strictness) {
            return Ok(Err(true));
        }
        let name = turn.speaker.name(request.me.as_deref());
        let content = format!("{name}: {said}");
        if content.len() > MAX_CONTENT_BYTES {
            return Ok(Err(false));
        }
        let judged = class.judge(&content, None, CONFIDENCE);
        let id = place.memory_id(&content);
        let time = turn.time.unwrap_or(self.import.now);
        let item = ItemCopy {
            id: id.clone(),
            kind: Kind::Memory,
            memory_type: Some(judged.memory_type),
            slot: None,
            content,
            summary: judged.summary,
            importance: judged.importance,
            confidence: CONFIDENCE,
            decay_rate: judged.decay_rate,
            access_count: 0,
            observations: 1,
            create_time: time,
            access_time: time,
            update_time: time,
            valid_from: None,
            valid_to: None,
            hidden_time: None,
            supersedes_id: None,
            source_conv_id: Some(turn.conversation.clone()),
            tags: Vec::new(),
            keywords: judged.keywords,
            metadata: fields(turn, &name),
            collection: place.collection,
            scope: place.scope,
            owner: place.owner,
            status: Status::Candidate,
            tier: Tier::Active,
            source: turn.origin.to_owned(),
            provenance: Some(turn.provenance(request.me.as_deref()).and(IMPORTED)),
            host: None,
            exposed: None,
            anchors: Vec::new(),
            part: None,
            vector: None,
        };
        Ok(Ok((id, item)))
    }
}
