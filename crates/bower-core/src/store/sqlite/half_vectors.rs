//! Vectors as the file keeps them: half floats, packed where that is shorter.
//! Whoever reads or writes them through the store sees half floats.

use std::borrow::Cow;

use rusqlite::{Connection, Error, Result, Row};

use crate::vector::{pack, unpack};

/// What is kept of half floats; fails where they are none.
pub(super) fn kept(half: &[u8]) -> Result<Cow<'_, [u8]>> {
    let odd = || Error::ToSqlConversionFailure(format!("a vector of {} bytes", half.len()).into());
    pack(half).ok_or_else(odd)
}

/// The half floats of a column, in `buffer` where they were packed. `None` where they are damaged: such a row has no vector,
/// as if its model had never seen it, and [`damaged`] names it; one flipped bit must not keep others from being compacted.
pub(super) fn half<'a>(row: &'a Row<'_>, column: usize, buffer: &'a mut Vec<u8>) -> Result<Option<&'a [u8]>> {
    Ok(unpack(row.get_ref(column)?.as_blob()?, buffer))
}

/// A sentence for each item whose vector is damaged, for `doctor`.
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
