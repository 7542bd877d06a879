//! Exports items: as JSON lines that lose nothing, as a folder of files to edit, or as files that agents load.

mod digest;
pub(crate) mod folder;
mod select;

use jiff::Timestamp;
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;

use crate::engine::Engine;
use crate::engine::transfer::export::select::rows;
use crate::error::{Error, Result};
use crate::item::Visibility;
use crate::request::Selection;
use crate::request::moving::{ExportRequest, Exported};
use crate::store::AliasRow;
use crate::store::copies::{AliasCopy, ExportPiece};

/// Replaces the numbers in a piece that count changes and reviews of the whole store. `numbers` are the reviews so far.
fn number_anew(piece: &mut ExportPiece, numbers: &mut Vec<u64>) {
    match piece {
        ExportPiece::Header(header) => header.change = 0,
        ExportPiece::Review(review) => {
            numbers.push(review.review);
            review.review = numbers.len() as u64;
        }
        ExportPiece::Event(event) => {
            if let Value::Object(detail) = &mut event.detail {
                detail.remove("undoes");
                let number = detail.remove("review").and_then(|number| number.as_u64());
                let at = number.and_then(|number| numbers.iter().position(|other| *other == number));
                detail.extend(at.map(|at| ("review".to_owned(), json!(at + 1))));
            }
        }
        ExportPiece::Document(_)
        | ExportPiece::Item(_)
        | ExportPiece::Relation(_)
        | ExportPiece::Alias(_) => {}
    }
}

impl Engine {
    /// Writes a selection as JSON lines that lose nothing: a header, then one piece a line. `name` is the destination, for
    /// errors.
    pub fn export_lines(
        &self,
        visibility: &Visibility,
        request: &ExportRequest,
        out: &mut dyn Write,
        name: &Path,
        now: Timestamp,
    ) -> Result<Exported> {
        let request = &request.within(visibility)?;
        let rows = rows(self, request)?;
        let mut bytes = 0_u64;
        let mut failed = None;
        let mut numbers = Vec::new();
        // Names may be those of items that a part of the store leaves out.
        let any_status = Selection { statuses: Vec::new(), ..request.select.clone() };
        let is_whole = visibility.is_everything() && any_status == Selection::default();
        let aliases = if is_whole { self.store.aliases()? } else { Vec::new() };
        let mut write = |piece: &ExportPiece| {
            let written = serde_json::to_vec(piece).map_err(std::io::Error::from).and_then(|mut line| {
                line.push(b'\n');
                bytes += line.len() as u64;
                out.write_all(&line)
            });
            failed = written.err();
            failed.is_none()
        };
        let mut goes_on = true;
        let counts = self.store.give_pieces(&rows, request.vectors, now, &mut |mut piece| {
            if !visibility.is_everything() {
                number_anew(&mut piece, &mut numbers);
            }
            if let ExportPiece::Header(header) = &mut piece {
                header.counts.aliases = aliases.len() as u64;
            }
            goes_on = write(&piece);
            goes_on
        })?;
        for AliasRow { name, other, time, .. } in &aliases {
            let copy = AliasCopy { name: name.clone(), other: other.clone(), time: *time };
            goes_on = goes_on && write(&ExportPiece::Alias(copy));
        }
        if let Some(source) = failed.or_else(|| out.flush().err()) {
            return Err(Error::io("write", name, source));
        }
        Ok(Exported {
            memories: counts.memories,
            documents: counts.documents,
            chunks: counts.chunks,
            relations: counts.relations,
            reviews: counts.reviews,
            events: counts.events,
            aliases: aliases.len() as u64,
            bytes,
            ..Exported::default()
        })
    }

    /// Writes the memories of a selection into a folder, one file each, to be read and edited;
    /// [`Import::folder`](crate::engine::Import::folder) imports the edits.
    pub fn export_folder(
        &self,
        visibility: &Visibility,
        request: &ExportRequest,
        folder: &Path,
    ) -> Result<Exported> {
        folder::folder(self, &request.within(visibility)?, folder)
    }

    /// Writes the files that agents load at their start: `MEMORY.md`, and a file for each type, within a budget of tokens.
    pub fn export_digest(
        &self,
        visibility: &Visibility,
        request: &ExportRequest,
        folder: &Path,
        budget_tokens: usize,
    ) -> Result<Exported> {
        digest::digest(self, &request.within(visibility)?, folder, budget_tokens)
    }
}
