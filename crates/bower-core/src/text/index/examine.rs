//! Examines given rows in the text index: their BM25 scores for a question, their speakers and their parents.
//! A parent contains the row, as a document contains a chunk.

use tantivy::index::{InvertedIndexReader, SegmentReader};
use tantivy::postings::Postings;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, TERMINATED, TantivyError, Term};

use super::super::delta::Delta;
use super::super::examined::Examined;
use super::super::speaker;
use super::columns::{Columns, first_not_below};
use super::{Prepared, TextIndex};
use crate::error::{Error, Result};
use crate::item::RowId;

impl TextIndex {
    /// Returns the results of given rows, in order: the BM25 score that [`TextIndex::search`] returns, and what each
    /// term adds to it. Rows in neither index nor delta have no terms.
    ///
    /// `delta` belongs to `question`. A row of the delta is read from there.
    pub fn examine(&self, question: &Prepared, rows: &[RowId], delta: &Delta) -> Result<Examined> {
        let failed = |cause: TantivyError| Error::index("examine rows of", &self.dir, cause);
        let Prepared { used, terms, bm25, idf_sum, .. } = question;
        let mut examined = Examined::new(rows.len(), bm25.weights(used.len()), *idf_sum);
        examined.names = terms.iter().map(|term| term.is_name).collect();
        let mut wanted = delta.examine(bm25, used, rows, &mut examined);
        for (ord, (segment, columns)) in self.searcher.segment_readers().iter().zip(&self.columns).enumerate()
        {
            let mut found = self.find(segment, columns, rows, &mut wanted).map_err(failed)?;
            found.sort_unstable();
            for &(doc, place) in &found {
                examined.rows[place].parent = Some(columns.parents.get_val(doc));
            }
            let mut add = |place: usize, nth: usize, part: f32| examined.add(place, nth, part);
            self.parts(ord, &found, question, &mut add).map_err(failed)?;
            self.each_language(segment, |language, postings| {
                for &(doc, place) in &found {
                    if postings.doc() < doc {
                        postings.seek(doc);
                    }
                    if postings.doc() == doc {
                        examined.rows[place].language = language;
                    }
                }
            })
            .map_err(failed)?;
            self.speakers(segment, question, &found, &mut examined).map_err(failed)?;
        }
        Ok(examined)
    }

    /// Finds the wanted rows in a segment, as documents with their positions in `rows`; rows that were found are
    /// removed from the wanted ones.
    ///
    /// Rows ascend within a segment, except in segments of an older version. A row that bisection does not find is
    /// looked up as a term.
    fn find(
        &self,
        segment: &SegmentReader,
        columns: &Columns,
        rows: &[RowId],
        wanted: &mut Vec<usize>,
    ) -> tantivy::Result<Vec<(u32, usize)>> {
        let column = &columns.rows;
        let range = column.min_value()..=column.max_value();
        let inverted = segment.inverted_index(self.fields.row)?;
        let alive = segment.alive_bitset();
        let is_alive = |doc: u32| alive.is_none_or(|alive| alive.is_alive(doc));
        let mut found = Vec::with_capacity(wanted.len());
        let mut failed = None;
        let mut last = (0, 0);
        wanted.retain(|&place| {
            let row = u64::from(rows[place].0);
            if segment.max_doc() == 0 || !range.contains(&row) {
                return true;
            }
            let from = if last.0 <= row { last.1 } else { 0 };
            let at = first_not_below(&**column, row, from..segment.max_doc());
            last = (row, at.min(segment.max_doc() - 1));
            let doc = if at < segment.max_doc() && column.get_val(at) == row && is_alive(at) {
                Some(at)
            } else {
                self.look_up(&inverted, row, &is_alive).unwrap_or_else(|error| {
                    failed = Some(error);
                    None
                })
            };
            found.extend(doc.map(|doc| (doc, place)));
            doc.is_none()
        });
        failed.map_or(Ok(found), Err)
    }

    fn look_up(
        &self,
        inverted: &InvertedIndexReader,
        row: u64,
        is_alive: &dyn Fn(u32) -> bool,
    ) -> tantivy::Result<Option<u32>> {
        let Some(info) = inverted.get_term_info(&Term::from_field_u64(self.fields.row, row))? else {
            return Ok(None);
        };
        let mut postings = inverted.read_postings_from_terminfo(&info, IndexRecordOption::Basic)?;
        while postings.doc() != TERMINATED {
            if is_alive(postings.doc()) {
                return Ok(Some(postings.doc()));
            }
            postings.advance();
        }
        Ok(None)
    }

    /// Reads the share of each document's lines that is spoken by a person whom the question names, for each term.
    fn speakers(
        &self,
        segment: &SegmentReader,
        question: &Prepared,
        found: &[(u32, usize)],
        examined: &mut Examined,
    ) -> tantivy::Result<()> {
        let inverted = segment.inverted_index(self.fields.speaker)?;
        let read = |name: &str, each: &mut dyn FnMut(usize, u32)| -> tantivy::Result<()> {
            let term = Term::from_field_text(self.fields.speaker, name);
            let Some(info) = inverted.get_term_info(&term)? else { return Ok(()) };
            let mut postings = inverted.read_postings_from_terminfo(&info, IndexRecordOption::WithFreqs)?;
            for (at, &(doc, _)) in found.iter().enumerate() {
                if postings.doc() < doc {
                    postings.seek(doc);
                }
                if postings.doc() == doc {
                    each(at, postings.term_freq());
                }
            }
            Ok(())
        };
        // A document, a term, and the lines spoken.
        let mut spoken: Vec<(usize, usize, u32)> = Vec::new();
        for (nth, term) in question.terms.iter().enumerate() {
            for name in &term.speaker {
                read(name, &mut |at, frequency| spoken.push((at, nth, frequency)))?;
            }
        }
        if !spoken.is_empty() {
            let mut lines = vec![0; found.len()];
            read(speaker::LINES, &mut |at, frequency| lines[at] = frequency)?;
            for (at, nth, spoken) in spoken {
                examined.add_spoken(found[at].1, nth, spoken, lines[at]);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::delta::{DeltaScan, encode_terms, examine_delta};
    use super::super::super::query::query_terms;
    use super::super::tests::put;
    use super::*;
    use crate::item::{Allowed, RowSet};

    #[test]
    fn rows_are_examined_wherever_they_are() {
        let dir = tempfile::tempdir().unwrap();
        let (ada, both) = ("Ada: the cod is red", "Title\nAda: a cod\nBo: an elf\nBo: a cod");
        put(dir.path(), 1, &[], &[(31, ada), (40, both), (41, "Cod: red")]);
        put(dir.path(), 2, &[41], &[(12, "red cod"), (7, "nothing")]);
        let terms = query_terms("What did Ada say of red cod?", &[]);
        let mut scan = DeltaScan::new(&terms, None);
        scan.push(RowId(50), &encode_terms(both)).unwrap();
        scan.push(RowId(51), &encode_terms("Ada: nothing")).unwrap();
        let delta = scan.finish();
        let index = TextIndex::open(dir.path()).unwrap().unwrap();
        let rows = [50, 12, 31, 41, 40, 7, 51].map(RowId);
        let question = index.prepare(&terms, &delta, None).unwrap();
        let found = index.examine(&question, &rows, &delta).unwrap();
        let all = Allowed { keep: None, drop: &RowSet::new() };
        for hit in index.search(&question, 10, all, &delta).unwrap() {
            let place = rows.iter().position(|row| *row == hit.row).unwrap();
            assert_eq!(found.rows[place].score.to_bits(), hit.score.to_bits(), "{hit:?}");
            let sum: f32 = found.parts_of(place).iter().sum();
            assert!((sum - hit.score).abs() < 1e-6);
        }
        let parents: Vec<_> = found.rows.iter().map(|row| row.parent).collect();
        assert_eq!(parents, [None, Some(1), Some(3), None, Some(4), Some(0), None]);
        let speakers: Vec<_> = found.speakers(|_| true).iter().map(|share| (share * 3.0).round()).collect();
        assert_eq!(speakers, [1.0, 0.0, 3.0, 0.0, 1.0, 0.0, 3.0]);
        assert!(found.rows[3].score.abs() < 1e-9, "a row that is gone has no words");
        let alone = examine_delta(&terms, &rows, &delta);
        assert!(alone.rows[0].score > 0.0 && alone.rows[1].score.abs() < 1e-9);
    }
}
