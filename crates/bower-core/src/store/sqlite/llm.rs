//! Stores answers of language models and what requests cost. No answer of the engine depends on this data.

use jiff::{SignedDuration, Timestamp};
use rusqlite::{Connection, OptionalExtension, Result, params};

use super::SqliteStore;
use super::checksums::of_answer;
use super::columns::timestamp;
use super::schema::KEEPS_LLM;
use super::trust::outlasts;
use crate::item::Dollars;
use crate::request::{LlmFailure, LlmModelDay, LlmReport};
use crate::store::{
    LlmAnswer, LlmCacheBounds, LlmCall, LlmCallEnd, LlmDesk, LlmLookup, NewLlmAnswer, NewLlmCall, Reserved,
    Stamp,
};

/// How long a request is remembered: the longest month.
const KEPT: SignedDuration = SignedDuration::from_hours(31 * 24);

impl LlmDesk for SqliteStore {
    fn llm_answer(&self, key: &[u8; 32], keep_after: Timestamp) -> crate::Result<LlmLookup> {
        if self.schema < KEEPS_LLM {
            return Ok(LlmLookup::default());
        }
        self.read("look up the language model's answer", |connection| {
            let forgotten = forgotten(connection)?;
            let found: Option<(String, u32)> = connection
                .prepare_cached(
                    "SELECT answer, checksum FROM llm_answers WHERE key = ?1 AND create_time >= ?2",
                )?
                .query_row(params![key, keep_after.as_microsecond()], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?;
            // A damaged answer is asked for again.
            let found = found.filter(|(text, sum)| of_answer(key, text) == *sum);
            Ok(LlmLookup { answer: found.map(|(text, _)| LlmAnswer { text }), forgotten })
        })
    }

    fn note_llm_hit(&self, key: &[u8; 32], stamp: Stamp<'_>) -> crate::Result<()> {
        self.write("note the use of a cached answer", |connection| {
            connection
                .prepare_cached("UPDATE llm_answers SET hits = hits + 1, used_time = ?2 WHERE key = ?1")?
                .execute(params![key, stamp.now.as_microsecond()])
                .map(drop)
        })
    }

    fn keep_llm_answer(
        &self,
        answer: &NewLlmAnswer<'_>,
        bounds: LlmCacheBounds,
        stamp: Stamp<'_>,
    ) -> crate::Result<()> {
        self.write("keep the language model's answer", |connection| {
            if forgotten(connection)? != answer.forgotten {
                return Ok(());
            }
            connection
                .prepare_cached(
                    "INSERT OR REPLACE INTO llm_answers (key, answer, create_time, used_time, hits, checksum)
                     VALUES (?1, ?2, ?3, ?3, 0, ?4)",
                )?
                .execute(params![
                    answer.key,
                    answer.text,
                    stamp.now.as_microsecond(),
                    of_answer(answer.key, answer.text)
                ])?;
            // With a clock that jumped ahead, all of them would seem old.
            if outlasts(connection, stamp.now)? {
                connection
                    .prepare_cached("DELETE FROM llm_answers WHERE create_time < ?1")?
                    .execute([bounds.keep_after.as_microsecond()])?;
            }
            let held: usize = connection
                .prepare_cached("SELECT count(*) FROM llm_answers")?
                .query_row([], |row| row.get(0))?;
            if let Some(over) = held.checked_sub(bounds.most).filter(|over| *over > 0) {
                connection
                    .prepare_cached(
                        "DELETE FROM llm_answers WHERE key IN
                         (SELECT key FROM llm_answers ORDER BY used_time > ?2 DESC, used_time, key LIMIT ?1)",
                    )?
                    .execute(params![over, stamp.now.as_microsecond()])?;
            }
            Ok(())
        })
    }

    fn reserve_llm(&self, call: &NewLlmCall<'_>, stamp: Stamp<'_>) -> crate::Result<Reserved> {
        self.write("reserve the cost of a request", |connection| {
            if let Some((budget, since)) = call.budget.filter(|_| call.most > Dollars::ZERO) {
                let left = budget.minus(spent(connection, since)?);
                if call.most > left {
                    return Ok(Reserved::TooLittle(left));
                }
            }
            if outlasts(connection, stamp.now)? {
                connection
                    .prepare_cached("DELETE FROM llm_calls WHERE time < ?1")?
                    .execute([(stamp.now - KEPT).as_microsecond()])?;
            }
            connection
                .prepare_cached(
                    "INSERT INTO llm_calls (time, operation, model, billionths, is_open) VALUES (?1, ?2, ?3, ?4, 1)",
                )?
                .execute(params![
                    stamp.now.as_microsecond(),
                    call.operation.word(),
                    call.model,
                    billionths(call.most)
                ])?;
            Ok(Reserved::Call(LlmCall(connection.last_insert_rowid())))
        })
    }

    fn book_llm(&self, call: LlmCall, end: &LlmCallEnd) -> crate::Result<()> {
        self.write("book the cost of a request", |connection| {
            connection
                .prepare_cached(
                    "UPDATE llm_calls SET billionths = ?2, input_tokens = ?3, output_tokens = ?4, failure = ?5, is_open = 0
                     WHERE call = ?1",
                )?
                .execute(params![
                    call.0,
                    billionths(end.cost),
                    end.input_tokens.map(u64::cast_signed),
                    end.output_tokens.map(u64::cast_signed),
                    end.failure,
                ])
                .map(drop)
        })
    }

    fn llm_report(&self, since: Timestamp) -> crate::Result<LlmReport> {
        if self.schema < KEEPS_LLM {
            return Ok(LlmReport { day_began: since, ..LlmReport::default() });
        }
        self.read("read what language models cost", |connection| {
            let models = connection
                .prepare_cached(
                    "SELECT model, count(*), count(failure), coalesce(sum(input_tokens), 0), coalesce(sum(output_tokens), 0),
                       total(billionths)
                     FROM llm_calls WHERE time >= ?1 GROUP BY model ORDER BY 6 DESC, model",
                )?
                .query_map([since.as_microsecond()], |row| {
                    Ok(LlmModelDay {
                        model: row.get(0)?,
                        requests: row.get(1)?,
                        failed: row.get(2)?,
                        input_tokens: row.get(3)?,
                        output_tokens: row.get(4)?,
                        cost_dollars: Dollars::of_billionths(row.get::<_, f64>(5)? as u64),
                    })
                })?
                .collect::<Result<_>>()?;
            let reserved_today = connection
                .prepare_cached("SELECT total(billionths) FROM llm_calls WHERE time >= ?1 AND is_open = 1")?
                .query_row([since.as_microsecond()], |row| row.get::<_, f64>(0))?;
            let (cached_answers, cache_hits) = connection
                .prepare_cached("SELECT count(*), coalesce(sum(hits), 0) FROM llm_answers")?
                .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            let last_failure = connection
                .prepare_cached(
                    "SELECT time, model, failure FROM llm_calls WHERE failure IS NOT NULL ORDER BY call DESC LIMIT 1",
                )?
                .query_row([], |row| {
                    Ok(LlmFailure { time: timestamp(row.get(0)?)?, model: row.get(1)?, reason: row.get(2)? })
                })
                .optional()?;
            Ok(LlmReport {
                spent_today: spent(connection, since)?,
                reserved_today: Dollars::of_billionths(reserved_today as u64),
                budget_day: None,
                budget_call: None,
                day_began: since,
                models,
                cached_answers,
                cache_hits,
                last_failure,
            })
        })
    }
}

/// Removes all answers, and the reasons of failures: a service may repeat a part of the request in them. Returns the number of
/// answers.
pub(super) fn forget_answers(connection: &Connection) -> Result<usize> {
    connection.prepare_cached("UPDATE llm_calls SET failure = '' WHERE failure <> ''")?.execute([])?;
    connection.prepare_cached("DELETE FROM llm_answers")?.execute([])
}

/// Returns the number of the event that last forgot something.
fn forgotten(connection: &Connection) -> Result<u64> {
    connection
        .prepare_cached(
            "SELECT coalesce(max(event), 0) FROM events WHERE action = 'forget' AND subject IS NULL",
        )?
        .query_row([], |row| row.get(0))
}

/// Returns what requests cost since a time. Those that a wrong clock dated later count too.
fn spent(connection: &Connection, since: Timestamp) -> Result<Dollars> {
    // A sum of integers would fail if it were too large.
    let spent: f64 = connection
        .prepare_cached("SELECT total(billionths) FROM llm_calls WHERE time >= ?1")?
        .query_row([since.as_microsecond()], |row| row.get(0))?;
    Ok(Dollars::of_billionths(spent as u64))
}

/// Returns an amount as the column holds it.
fn billionths(amount: Dollars) -> i64 {
    i64::try_from(amount.billionths()).unwrap_or(i64::MAX)
}
