//! Converts values to columns of a row, and columns to values.

use jiff::Timestamp;
use rusqlite::{Result, Row};

use crate::error::Error;
use crate::item::{Author, RowId};

pub(super) fn first(row: &Row<'_>) -> Result<RowId> {
    row_id(row.get(0)?)
}

/// Converts a row number to the type of the indexes. Fails only after four billion inserts.
pub(super) fn row_id(row: i64) -> Result<RowId> {
    u32::try_from(row).map(RowId).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(0, row))
}

pub(super) fn timestamp(microseconds: i64) -> Result<Timestamp> {
    Timestamp::from_microsecond(microseconds).map_err(|source| {
        rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Integer, source.into())
    })
}

pub(super) fn word<T: std::str::FromStr<Err = Error>>(row: &Row<'_>, column: &str) -> Result<T> {
    parse_word(&row.get::<_, String>(column)?)
}

pub(super) fn parse_word<T: std::str::FromStr<Err = Error>>(word: &str) -> Result<T> {
    word.parse().map_err(|source: Error| {
        rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, source.into())
    })
}

pub(super) fn json_field<T: serde::de::DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|source| {
        rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, source.into())
    })
}

pub(super) fn json_text(value: &impl serde::Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|source| rusqlite::Error::ToSqlConversionFailure(source.into()))
}

/// Returns an author in its stored form: NULL stands for `document`.
pub(super) fn author(author: Author) -> Option<&'static str> {
    (author != Author::Document).then(|| author.word())
}
