//! Keeps turns that a host passes while a session runs, so that each can be found.
//! Sentences worth keeping are extracted as from a transcript. The same turn again adds nothing, however often it comes.

use jiff::Timestamp;
use std::collections::HashSet;
use std::time::Instant;

use crate::engine::query::when::zone;
use crate::engine::session::conversation::{SESSIONS, document};
use crate::engine::session::transcript::{ReadMark, TranscriptReader};
use crate::engine::timing::milliseconds;
use crate::engine::{Engine, index};
use crate::error::{Error, Result};
use crate::ingest::{Speaker, Turn};
use crate::item::{Author, Gate, Switch, Visibility, derive_id};
use crate::memory::gate;
use crate::request::moving::ImportRequest;
use crate::request::{SessionRead, TurnsRequest};
use crate::store::Namespace;

/// Name of the assistant in turns that do not name their agent.
const ASSISTANT: &str = "Assistant";

/// Returns the turns that have text, each with an id derived from its words.
fn turns<'a>(
    request: &'a TurnsRequest,
    conversation: &'a str,
    now: Timestamp,
) -> impl Iterator<Item = Turn> + 'a {
    request.turns.iter().filter_map(move |told| {
        let speaker = Speaker::of(&told.speaker, ASSISTANT).filter(|_| !told.text.trim().is_empty())?;
        // No person reviews what a host passes: secrets are redacted, and a turn that is little else is not kept at all.
        let verdict = gate::judge(told.text.trim(), Gate::Normal, &gate::Constants::default());
        if verdict.refused == Some(gate::Refusal::Secret) {
            return None;
        }
        let redacted = verdict.redacted.map(|redacted| redacted.text);
        let text = redacted.as_deref().unwrap_or(told.text.trim());
        Some(Turn {
            origin: request.origin,
            conversation: conversation.to_owned(),
            title: None,
            id: derive_id(&["turn", &speaker.name(None), text]),
            speaker,
            time: Some(told.time.unwrap_or(now)),
            text: text.to_owned(),
            among: told.least_trusted.unwrap_or(Author::Tool),
            holds: Author::User,
        })
    })
}

impl Engine {
    /// Keeps turns of a conversation that a host passes: each can be found, and sentences worth keeping in it become
    /// candidates. The same turn again adds nothing.
    pub fn keep_turns(
        &self,
        visibility: &Visibility,
        request: &TurnsRequest,
        now: Timestamp,
    ) -> Result<SessionRead> {
        let start = Instant::now();
        let conversation = request.conversation.trim();
        if conversation.is_empty() {
            return Err(Error::invalid("conversation", "give its name, the same with each turn"));
        }
        if self.settings.keep_sessions == Switch::Off {
            return Ok(SessionRead::default());
        }
        let session = &request.session;
        let mut reading = TranscriptReader::new(self, visibility, session, now)?;
        let begun = reading.begun(conversation, ReadMark::default())?;
        reading.conversations.insert(conversation.to_owned(), begun);
        reading.report.conversations.push(conversation.to_owned());

        let collection = request.documents.as_deref().unwrap_or(SESSIONS);
        visibility.check_collection(collection)?;
        let place = ImportRequest {
            scope: session.scope,
            owner: session.owner.clone(),
            collection: Some(collection.to_owned()),
            ..ImportRequest::default()
        };
        let zone = zone(self)?;
        let mut seen = HashSet::new();
        let (turns, documents): (Vec<Turn>, Vec<_>) = turns(request, conversation, now)
            .map(|turn| {
                let mut document = document(self, &place, &zone, turn.clone());
                document.host = session.host.clone().or(document.host);
                (turn, document)
            })
            .filter(|(_, document)| seen.insert(document.id.clone()))
            .unzip();
        let ids: Vec<&str> = documents.iter().map(|document| document.id.as_str()).collect();
        let at = Namespace { collection: collection.to_owned(), ..reading.place.clone() };
        let known = self.store.documents_at(&at, &ids)?;
        let (mut fresh, mut said) = (Vec::new(), Vec::new());
        for ((turn, document), known) in turns.into_iter().zip(documents).zip(known) {
            if known.is_some() {
                reading.report.known += 1;
            } else {
                fresh.push(document);
                said.push(turn);
            }
        }
        reading.report.turns = fresh.len() as u64;
        // Sentences first: a turn counts as known once its document is written. After a kill between the two, the host passes
        // it again.
        said.iter().try_for_each(|turn| reading.pick(turn))?;
        if !fresh.is_empty() && !session.dry_run {
            let Namespace { scope, owner, .. } = reading.place.clone();
            let indexed = index::add_documents(self, fresh, scope, owner, now)?;
            reading.degraded(indexed.degraded);
        }
        reading.report.took_ms = milliseconds(start);
        Ok(reading.report)
    }
}
