//! Checks that a store is sound: its pages and indexes, and what its tables must have in common.

use super::halves::damaged;
use super::life::broken_chains;
use super::lives::is_miscounted;
use super::read::read_counts;
use super::{SqliteStore, checksums, schema};
use crate::error::Result;

impl SqliteStore {
    /// What is wrong, in words; nothing where all is sound.
    pub(super) fn read_findings(&self) -> Result<Vec<String>> {
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
                findings.extend(checksums::findings(connection)?);
            }
            if self.schema >= schema::KEEPS_LIFE {
                findings.extend(broken_chains(connection)?);
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
}
