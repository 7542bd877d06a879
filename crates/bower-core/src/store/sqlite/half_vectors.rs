//! Vectors in their stored form: half floats, packed where that is shorter.
//! Callers of the store only see half floats.

use std::borrow::Cow;

use rusqlite::{Connection, Error, Result, Row};

use crate::vector::{pack, unpack};

/// Returns the stored form of half floats; fails if the length is not that of half floats.
pub(super) fn kept(half: &[u8]) -> Result<Cow<'_, [u8]>> {
    let odd = || Error::ToSqlConversionFailure(format!("a vector of {} bytes", half.len()).into());
    pack(half).ok_or_else(odd)
}

/// Returns the half floats of a column, unpacked into `buffer` if they were packed. `None` if they are damaged. Such a
/// row counts as having no vector, so that one flipped bit does not keep others from being compacted; [`damaged`] names
/// it.
pub(super) fn half<'a>(row: &'a Row<'_>, column: usize, buffer: &'a mut Vec<u8>) -> Result<Option<&'a [u8]>> {
    Ok(unpack(row.get_ref(column)?.as_blob()?, buffer))
}

/// Returns a sentence for each item whose vector is damaged, for `doctor`.
pub(super) fn damaged(connection: &Connection) -> Result<Vec<String>> {
    let mut statement =
        connection.prepare("SELECT v.vector, i.id FROM vectors v JOIN items i ON i.row = v.row")?;
    let (mut rows, mut buffer, mut found) = (statement.query([])?, Vec::new(), Vec::new());
    while let Some(row) = rows.next()? {
        if half(row, 0, &mut buffer)?.is_none() {
            let id: String = row.get(1)?;
            found.push(format!("the vector of item {id} is damaged: forget it and keep it again"));
        }
    }
    Ok(found)
}
