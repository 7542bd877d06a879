//! Erases, compacts, copies and verifies the store.

use rusqlite::params;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::backup::PARTIAL;
use super::chains::broken_chains;
use super::columns::timestamp;
use super::events::{next_change, record};
use super::forget::MARK;
use super::half_vectors::damaged;
use super::loss::{aside_folder, remove_folder, state};
use super::schema::KEEPS_CHECKSUMS;
use super::selections::{is_miscounted, read_counts};
use super::{LOG_BYTES, SqliteStore, checksums, empty_log, is_busy, lock, log_of, pages, schema, with_end};
use crate::error::{Error, Result};
use crate::item::{Change, RowId};
use crate::request::{CompactWhen, Erased, Loss, Receipt, StoreCopy};
use crate::store::{Stamp, Upkeep};

impl Upkeep for SqliteStore {
    fn forget(&self, rows: &[RowId], dry_run: bool, stamp: Stamp<'_>) -> Result<Receipt> {
        let receipt = self.remove_items(rows, dry_run, stamp)?;
        if !dry_run {
            // The log still holds the old pages. The end of the purge makes sure that they are gone.
            self.tidy(CompactWhen::Always)?;
        }
        Ok(receipt)
    }

    fn erasure_due(&self) -> Result<Option<Change>> {
        self.read("read what is to be purged", |connection| {
            let last: Option<u64> = connection
                .prepare_cached("SELECT max(change) FROM removals WHERE row = ?1")?
                .query_row([MARK], |row| row.get(0))?;
            Ok(last.map(Change))
        })
    }

    fn erase(&self, is_trace: &dyn Fn(&[u8]) -> bool, stamp: Stamp<'_>) -> Result<Erased> {
        let mut erased = Erased::default();
        let mut is_gone = self.empty_log()?;
        let mut is_left = false;
        pages::free_space(&self.path, &mut |bytes| is_left = is_left || is_trace(bytes))
            .map_err(|source| Error::io("read", &self.path, source))?;
        if is_left {
            self.write_anew()?;
            erased.compacted = true;
            is_gone &= self.empty_log()?;
        }
        if !is_gone {
            erased.waits.push("another process still reads what the store's log holds".to_owned());
        }
        self.forget_in_copies(&mut erased, stamp)?;
        Ok(erased)
    }

    fn end_erasure(&self, upto: Change) -> Result<()> {
        self.write("end the purge", |connection| {
            connection
                .prepare_cached("DELETE FROM removals WHERE row = ?1 AND change <= ?2")?
                .execute(params![MARK, upto.0])?;
            Ok(())
        })
    }

    fn tidy(&self, when: CompactWhen) -> Result<()> {
        let is_long = || std::fs::metadata(log_of(&self.path)).is_ok_and(|log| log.len() >= LOG_BYTES);
        if self.is_read_only() || (when == CompactWhen::Due && !is_long()) {
            return Ok(());
        }
        match when {
            // If readers still use older pages, less is emptied; the next call does the rest.
            CompactWhen::Always => self.empty_log().map(drop),
            // Waits for nothing. A log that is never emptied makes each new process read all of it, and copy all of it
            // into the file when it writes.
            CompactWhen::Due => {
                let reader = self.reader()?;
                let trimmed = reader.busy_timeout(Duration::ZERO).and_then(|()| empty_log(&reader));
                let waits = reader.busy_timeout(self.busy_timeout());
                trimmed.and(waits).or_else(|error| {
                    if is_busy(&error) { Ok(()) } else { Err(self.failed("empty the log", error)) }
                })
            }
        }
    }

    fn backup(&self, to: &Path) -> Result<StoreCopy> {
        if to.exists() {
            return Err(Error::invalid(
                format!("backup {}", to.display()),
                "there is a file of that name; name another",
            ));
        }
        let partial = with_end(to, PARTIAL);
        match std::fs::remove_file(&partial) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::io("replace", &partial, source));
            }
            _ => {}
        }
        let copied = self.copy_through(&partial, to);
        if copied.is_err() {
            // An incomplete copy is no backup; the error says why.
            let _ = std::fs::remove_file(&partial);
        }
        copied
    }

    fn files(&self) -> Vec<PathBuf> {
        ["", "-wal", "-shm"].map(|end| with_end(&self.path, end)).into()
    }

    fn size_bytes(&self) -> Result<u64> {
        // The last file is the log's index in shared memory.
        let kept = self.files().into_iter().take(2);
        Ok(kept.filter_map(|path| std::fs::metadata(path).ok()).map(|file| file.len()).sum())
    }

    fn verify(&self) -> Result<Vec<String>> {
        let mut examined = self.read("examine the store", |connection| {
            let mut findings = connection
                .prepare("PRAGMA integrity_check(20)")?
                .query_map([], |row| row.get::<_, String>(0))?
                .filter(|line| !matches!(line, Ok(line) if line == "ok"))
                .collect::<rusqlite::Result<Vec<_>>>()?;
            let mut orphans = connection.prepare("PRAGMA foreign_key_check")?;
            let mut rows = orphans.query([])?;
            while let Some(row) = rows.next()? {
                let (table, parent): (String, String) = (row.get(0)?, row.get(2)?);
                findings.push(format!("a row of {table} names a row of {parent} that is not there"));
            }
            findings.extend(damaged(connection)?);
            if self.schema >= schema::KEEPS_CHECKSUMS {
                findings.extend(checksums::findings(connection, self.schema)?);
            }
            if self.schema >= schema::KEEPS_LIFE {
                findings.extend(broken_chains(connection)?);
            }
            if self.schema >= schema::KEEPS_RENAMED_TAGS {
                findings.extend(super::tags::findings(connection)?);
            }
            if self.schema >= schema::KEEPS_TRIPLES {
                findings.extend(super::triples::findings(connection)?);
            }
            let bare: u64 = connection.query_row(
                "SELECT count(*) FROM items i LEFT JOIN texts t ON t.row = i.row WHERE t.row IS NULL",
                [],
                |row| row.get(0),
            )?;
            if bare > 0 {
                findings.push(format!("{bare} items have no text"));
            }
            if self.schema >= schema::KEEPS_COUNTS
                && read_counts(connection, "SELECT * FROM counts")?
                    != read_counts(connection, schema::COUNTED)?
            {
                findings.push("the numbers of items that are kept are wrong".to_owned());
            }
            if self.schema >= schema::KEEPS_HOLDERS && is_miscounted(connection)? {
                findings.push("the numbers of memories that scopes hold are wrong".to_owned());
            }
            for (table, all) in schema::ALL_FIELDS {
                if self.schema >= schema::KEEPS_FIELDS {
                    let wrong: u64 = connection.query_row(
                        &format!(
                            "SELECT (SELECT count(*) FROM (SELECT * FROM {table} EXCEPT {all}))
                             + (SELECT count(*) FROM ({all} EXCEPT SELECT * FROM {table}))"
                        ),
                        [],
                        |row| row.get(0),
                    )?;
                    if wrong > 0 {
                        findings.push(format!("{table} differs from the metadata in {wrong} places"));
                    }
                }
            }
            Ok(findings)
        })?;
        examined.extend(self.head_findings());
        Ok(examined)
    }

    fn losses(&self) -> Result<Vec<Loss>> {
        if self.schema < KEEPS_CHECKSUMS {
            return Ok(Vec::new());
        }
        let mut losses: Vec<Loss> = self.read("read what is missing", |connection| {
            if state(connection)?.1 == 0 {
                return Ok(Vec::new());
            }
            connection
                .prepare_cached(
                    "SELECT first_change, last_change, time, aside FROM losses WHERE accept_time IS NULL ORDER BY loss",
                )?
                .query_map([], |row| {
                    let aside: Option<String> = row.get(3)?;
                    Ok(Loss {
                        first_change: row.get::<_, i64>(0)?.unsigned_abs(),
                        last_change: row.get::<_, i64>(1)?.unsigned_abs(),
                        time: timestamp(row.get(2)?)?,
                        kept: aside.map(|name| aside_folder(&self.path).join(name)).filter(|kept| kept.exists()),
                    })
                })?
                .collect()
        })?;
        losses.extend(self.missing.clone());
        Ok(losses)
    }

    fn accept_losses(&self, stamp: Stamp<'_>) -> Result<u64> {
        let accepted = self.write("accept what is missing", |connection| {
            let open = state(connection)?.1;
            if open == 0 {
                return Ok(0);
            }
            let change = next_change(connection)?;
            connection.execute(
                "UPDATE losses SET accept_time = ?1 WHERE accept_time IS NULL",
                [stamp.now.as_microsecond()],
            )?;
            connection.execute("UPDATE store SET open_losses = 0", [])?;
            record(connection, change, stamp, "accept_loss", None, &json!({ "losses": open }))?;
            Ok(open)
        })?;
        remove_folder(&aside_folder(&self.path))?;
        Ok(accepted)
    }

    fn damage(&self) -> usize {
        lock(&self.damaged).len()
    }
}
