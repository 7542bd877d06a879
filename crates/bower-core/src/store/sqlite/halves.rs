//! Vectors as the file keeps them: packed where that is shorter. Whoever reads or writes them through the store sees half floats.

use std::borrow::Cow;

use rusqlite::types::Type;
use rusqlite::{Error, Result, Row};

use crate::vector::{pack, unpack};

/// What is kept of half floats; fails where they are none.
pub(super) fn kept(half: &[u8]) -> Result<Cow<'_, [u8]>> {
    let odd = || Error::ToSqlConversionFailure(format!("a vector of {} bytes", half.len()).into());
    pack(half).ok_or_else(odd)
}

/// The half floats of a column, in `buffer` where they were packed.
pub(super) fn half<'a>(row: &'a Row<'_>, column: usize, buffer: &'a mut Vec<u8>) -> Result<&'a [u8]> {
    let damaged = || Error::FromSqlConversionFailure(column, Type::Blob, "a packed vector is damaged".into());
    unpack(row.get_ref(column)?.as_blob()?, buffer).ok_or_else(damaged)
}
