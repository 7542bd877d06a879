//! Out of the store: as JSON lines that lose nothing, as a folder of files that people edit, or as files that agents load.

mod digest;
pub(super) mod folder;

use jiff::Timestamp;
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;

use super::Engine;
use crate::error::{Error, Result};
use crate::item::{Kind, RowId, Visibility};
use crate::request::Selection;
use crate::request::moving::{ExportRequest, Exported};
use crate::store::copies::Piece;

pub(super) use digest::digest;
pub(super) use folder::folder;

/// Everything in a number that the store can hold.
const ALL: usize = usize::MAX >> 1;

/// Writes one piece a line. `name` is where to, for errors.
pub(super) fn lines(
    engine: &Engine,
    visibility: &Visibility,
    request: &ExportRequest,
    out: &mut dyn Write,
    name: &Path,
    now: Timestamp,
) -> Result<Exported> {
    let rows = rows(engine, request)?;
    let mut bytes = 0_u64;
    let mut failed = None;
    let mut numbers = Vec::new();
    let counts = engine.store.give_pieces(&rows, request.vectors, now, &mut |mut piece| {
        if !visibility.is_everything() {
            number_anew(&mut piece, &mut numbers);
        }
        let written = serde_json::to_vec(&piece).map_err(std::io::Error::from).and_then(|mut line| {
            line.push(b'\n');
            bytes += line.len() as u64;
            out.write_all(&line)
        });
        failed = written.err();
        failed.is_none()
    })?;
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
        bytes,
        ..Exported::default()
    })
}

/// Takes out of a piece what counts the changes and reviews of the whole store. `numbers` are the reviews so far.
fn number_anew(piece: &mut Piece, numbers: &mut Vec<u64>) {
    match piece {
        Piece::Header(header) => header.change = 0,
        Piece::Review(review) => {
            numbers.push(review.review);
            review.review = numbers.len() as u64;
        }
        Piece::Event(event) => {
            if let Value::Object(detail) = &mut event.detail {
                detail.remove("undoes");
                let number = detail.remove("review").and_then(|number| number.as_u64());
                let at = number.and_then(|number| numbers.iter().position(|other| *other == number));
                detail.extend(at.map(|at| ("review".to_owned(), json!(at + 1))));
            }
        }
        Piece::Document(_) | Piece::Item(_) | Piece::Relation(_) => {}
    }
}

/// The rows that are asked for. Chunks go where documents are wanted, or chunks were asked for by name.
fn rows(engine: &Engine, request: &ExportRequest) -> Result<Vec<RowId>> {
    let mut select = request.select.clone();
    if select.kinds.is_empty() && !request.documents {
        select.kinds = vec![Kind::Memory];
    }
    Ok(engine.store.page(&select, ALL, 0)?.0)
}

/// Memories of a selection, ascending by row.
fn memories(engine: &Engine, select: &Selection) -> Result<Vec<RowId>> {
    let select = Selection { kinds: vec![Kind::Memory], ..select.clone() };
    let mut rows = engine.store.page(&select, ALL, 0)?.0;
    rows.sort_unstable();
    Ok(rows)
}
