//! Tests of the text index: its results, its refusals, and damage that it must detect.

use super::super::compact::{CompactionPlan, FreshText, compact};
use super::super::delta::{DeltaScan, encode_terms, examine_delta, search_delta};
use super::super::query::query_terms;
use super::*;
use crate::item::{Change, RowSet};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn coverage(change: u64) -> Coverage {
    Coverage { store: "s".into(), change: Change(change), mark: change * 7 }
}

/// Returns a row whose parent is its number without the last digit.
fn fresh(row: u32, text: &str) -> FreshText {
    FreshText { row: RowId(row), parent: u64::from(row / 10), terms: encode_terms(text) }
}

pub(super) fn put(dir: &Path, change: u64, gone: &[u32], rows: &[(u32, &str)]) {
    let gone = gone.iter().map(|&row| RowId(row)).collect();
    let plan = CompactionPlan { next: coverage(change), gone: &gone, memory_bytes: 0, purge: false };
    compact(dir, &plan, &mut rows.iter().map(|&(row, text)| Ok(fresh(row, text)))).unwrap();
}

fn ask(dir: &Path, question: &str) -> Vec<u32> {
    let index = TextIndex::open(dir).unwrap().unwrap();
    let all = Allowed { keep: None, drop: &RowSet::new() };
    let question = index.prepare(&query_terms(question, &[]), &Delta::empty(), None).unwrap();
    let found = index.search(&question, 10, all, &Delta::empty()).unwrap();
    found.iter().map(|scored| scored.row.0).collect()
}

#[test]
fn rows_ascend_in_a_merged_segment() {
    let dir = tempfile::tempdir().unwrap();
    // Each next segment is small enough to be merged with those before, and the smallest come last.
    put(dir.path(), 1, &[], &[(1, "cod"), (2, "cod"), (3, "cod")]);
    put(dir.path(), 2, &[], &[(4, "cod"), (5, "cod")]);
    put(dir.path(), 3, &[], &[(6, "cod")]);
    let index = TextIndex::open(dir.path()).unwrap().unwrap();
    for segment in index.searcher.segment_readers() {
        let column = Columns::open(segment).unwrap().rows;
        let rows: Vec<u64> = (0..segment.max_doc()).map(|doc| column.get_val(doc)).collect();
        assert!(rows.is_sorted(), "{rows:?}");
    }
}

#[test]
fn rows_are_added_replaced_and_removed_with_their_coverage() {
    let dir = tempfile::tempdir().unwrap();
    let dir = &dir.path().join("text");
    assert!(TextIndex::open(dir).unwrap().is_none());
    put(dir, 3, &[], &[(5, "a red house"), (2, "red red wine"), (9, "nothing"), (1, "")]);
    assert_eq!(ask(dir, "what is red?"), [2, 5]);
    put(dir, 4, &[2, 77], &[(5, "a blue house"), (6, "a red house")]);
    assert_eq!((ask(dir, "red"), ask(dir, "houses")), (vec![6], vec![5, 6]));
    let index = TextIndex::open(dir).unwrap().unwrap();
    assert_eq!((index.coverage(), index.len()), (&coverage(4), 4));
    index.verify().unwrap();
}

/// German words are found in German texts by their German stems, from the index and from the delta alike.
#[test]
fn a_text_is_found_by_the_stems_of_its_language() {
    let german = "Die Häuser am Fluss stehen seit dem Hochwasser leer, sagt der alte Hausmeister.";
    let english = "The houses at the river have stood empty since the flood, says the old janitor.";
    let dir = tempfile::tempdir().unwrap();
    put(dir.path(), 1, &[], &[(1, german), (2, english), (3, "house rules")]);
    let index = TextIndex::open(dir.path()).unwrap().unwrap();
    let languages = index.languages(None).unwrap();
    assert_eq!(languages, BTreeMap::from([(Language::German, 1)]));
    let others: RowSet = [RowId(2), RowId(3)].into_iter().collect();
    let nothing = RowSet::new();
    let counted = Allowed { keep: Some(&others), drop: &nothing };
    assert_eq!(index.languages(Some(counted)).unwrap(), BTreeMap::new());
    let found = |question: &str, languages: &[Language]| {
        let terms = query_terms(question, languages);
        let prepared = index.prepare(&terms, &Delta::empty(), None).unwrap();
        let indexed = index.search(&prepared, 10, counted_all(&nothing), &Delta::empty()).unwrap();
        let mut scan = DeltaScan::new(&terms, None);
        for (row, text) in [(1, german), (2, english), (3, "house rules")] {
            scan.push(RowId(row), &encode_terms(text)).unwrap();
        }
        let delta = scan.finish();
        let waiting = search_delta(&terms, 10, &delta);
        assert_eq!(indexed, waiting, "{question}");
        let rows = [RowId(3), RowId(1), RowId(2)];
        let expected = [Language::English, Language::German, Language::English];
        for examined in
            [index.examine(&prepared, &rows, &Delta::empty()).unwrap(), examine_delta(&terms, &rows, &delta)]
        {
            assert_eq!(examined.rows.iter().map(|row| row.language).collect::<Vec<_>>(), expected);
        }
        indexed.iter().map(|hit| hit.row.0).collect::<Vec<_>>()
    };
    assert_eq!(found("bei den Häusern", &[Language::German]), [1]);
    assert_eq!(found("Häusern", &[]), [0; 0]);
    assert_eq!(found("housing", &[Language::German]), [3, 2]);
}

fn counted_all(nothing: &RowSet) -> Allowed<'_> {
    Allowed { keep: None, drop: nothing }
}

#[test]
fn a_compaction_that_fails_leaves_the_last_one() {
    let dir = tempfile::tempdir().unwrap();
    put(dir.path(), 1, &[], &[(1, "one")]);
    let plan = CompactionPlan { next: coverage(2), gone: &RowSet::new(), memory_bytes: 0, purge: false };
    let rows = [Ok(fresh(2, "one two")), Err(Error::invalid("row 3", "gone"))];
    assert!(compact(dir.path(), &plan, &mut rows.into_iter()).is_err());
    assert_eq!(TextIndex::open(dir.path()).unwrap().unwrap().coverage(), &coverage(1));
    put(dir.path(), 2, &[], &[(2, "two")]);
    assert_eq!(ask(dir.path(), "two"), [2]);
}

#[test]
fn damage_is_an_error_and_not_an_empty_answer() {
    let dir = tempfile::tempdir().unwrap();
    put(dir.path(), 1, &[], &[(1, "one")]);
    std::fs::write(dir.path().join(META), "{}").unwrap();
    assert!(TextIndex::open(dir.path()).is_err());
    let payload =
        r#"{"format":1,"analysis":0,"language":"english","coverage":{"store":"s","change":1,"mark":1}}"#;
    assert!(read_payload(dir.path(), payload).unwrap_err().to_string().contains("its format is 1.0"));
}

/// Changes each byte of each file: the answer is the same or the damage is reported, and no compaction accepts it.
#[test]
fn a_changed_byte_is_told_or_not_read_and_never_compacted() {
    let dir = tempfile::tempdir().unwrap();
    let words: Vec<String> =
        (0..400).map(|row| format!("cod {} {}", row % 7, "elf ".repeat(row % 5))).collect();
    let rows: Vec<(u32, &str)> = (0..).zip(words.iter().map(String::as_str)).collect();
    put(dir.path(), 1, &[], &rows);
    put(dir.path(), 2, &[3], &[]);
    let sound = ask(dir.path(), "elf 3");
    let names = std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let files: Vec<_> = names.filter(|name| !name.to_string_lossy().starts_with('.')).collect();
    let mut told = 0;
    for path in files.iter().map(|name| dir.path().join(name)) {
        let whole = std::fs::read(&path).unwrap();
        for at in (0..whole.len()).step_by(whole.len() / 12 + 1) {
            let mut changed = whole.clone();
            changed[at] ^= 0x21;
            std::fs::write(&path, &changed).unwrap();
            let what = format!("byte {at} of {}", path.display());
            match TextIndex::open(dir.path()) {
                Err(_) => told += 1,
                Ok(None) => panic!("{what}: gone"),
                Ok(Some(index)) => {
                    let all = Allowed { keep: None, drop: &RowSet::new() };
                    let found = index
                        .prepare(&query_terms("elf 3", &[]), &Delta::empty(), None)
                        .and_then(|question| index.search(&question, 10, all, &Delta::empty()));
                    let found: Result<Vec<u32>> =
                        found.map(|hits| hits.iter().map(|hit| hit.row.0).collect());
                    let is_told = found.is_err() || index.damage().is_some();
                    assert!(is_told || found.unwrap() == sound, "{what}");
                    assert!(index.verify().is_err(), "{what}");
                    told += usize::from(is_told);
                }
            }
            let gone = RowSet::new();
            let plan = CompactionPlan { next: coverage(3), gone: &gone, memory_bytes: 0, purge: true };
            assert!(
                compact(dir.path(), &plan, &mut std::iter::once(Ok(fresh(900, "cod")))).is_err(),
                "{what}"
            );
            std::fs::write(&path, &whole).unwrap();
        }
    }
    assert!(told > 20, "{told}");
    assert_eq!(ask(dir.path(), "elf 3"), sound);
    put(dir.path(), 3, &[], &[(900, "cod")]);
    TextIndex::open(dir.path()).unwrap().unwrap().verify().unwrap();
}

/// tantivy deletes the removed rows of the commit before only after the commit, and a killed compaction leaves them. So the
/// checksums must not name that file.
#[test]
fn the_removed_rows_of_an_earlier_commit_are_no_part_of_the_next() {
    let dir = tempfile::tempdir().unwrap();
    let rows: Vec<(u32, &str)> = (0..40).map(|row| (row, "cod")).collect();
    let verify = || TextIndex::open(dir.path()).unwrap().unwrap().verify().unwrap();
    put(dir.path(), 1, &[], &rows);
    put(dir.path(), 2, &[1], &[]);
    let of_kind = |kind: &str| {
        let names = std::fs::read_dir(dir.path()).unwrap().map(|file| file.unwrap().path());
        names.filter(|path| path.extension().is_some_and(|end| end == kind)).collect::<Vec<_>>()
    };
    let removed = of_kind("del").remove(0);
    let older = std::fs::read(&removed).unwrap();
    put(dir.path(), 3, &[2], &[]);
    verify();
    let sums = std::fs::read(of_kind("sums").remove(0)).unwrap();
    let name = removed.file_name().unwrap().as_encoded_bytes();
    assert!(!sums.windows(name.len()).any(|part| part == name), "the checksums name a deleted file");
    std::fs::write(&removed, older).unwrap();
    put(dir.path(), 4, &[], &[(900, "cod")]);
    verify();
}

/// An index of an older version has no checksums. It is verified as a whole before it is compacted, and has them afterwards.
#[test]
fn the_next_compaction_gives_checksums_to_an_older_index() {
    let dir = tempfile::tempdir().unwrap();
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/text-2.3");
    let copy = || {
        for file in std::fs::read_dir(&golden).unwrap() {
            let file = file.unwrap();
            std::fs::copy(file.path(), dir.path().join(file.file_name())).unwrap();
        }
    };
    copy();
    let old = TextIndex::open(dir.path()).unwrap().unwrap();
    assert!(!old.has_sums());
    let gone = RowSet::new();
    let add = |change: u64| {
        let plan = CompactionPlan { next: coverage(change), gone: &gone, memory_bytes: 0, purge: false };
        compact(dir.path(), &plan, &mut std::iter::once(Ok(fresh(900, "zebu"))))
    };
    add(70).unwrap();
    let new = TextIndex::open(dir.path()).unwrap().unwrap();
    assert_eq!((new.has_sums(), new.len()), (true, old.len() + 1));
    new.verify().unwrap();
    // A commit that an older version added has no checksums of its own, and is not accepted as verified.
    std::fs::copy(golden.join(META), dir.path().join(META)).unwrap();
    assert!(TextIndex::open(dir.path()).is_err());
}

#[test]
fn segments_stay_few() {
    let dir = tempfile::tempdir().unwrap();
    for change in 0..24 {
        put(dir.path(), change, &[], &[(change as u32, "same words")]);
        let index = TextIndex::open(dir.path()).unwrap().unwrap();
        assert!(index.searcher.segment_readers().len() <= 3, "after {change}");
    }
    assert_eq!(ask(dir.path(), "words"), (0..10).collect::<Vec<_>>());
}

/// Many windows of documents, terms of every rarity, filters and deleted rows. `MaxScore` must give the same bits as
/// scoring each row, which the delta does.
#[test]
fn the_best_of_many_rows_are_those_of_all() {
    // Term n is in about one of n + 1 rows.
    let mut seed = 1_u64;
    let mut dice = move |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let word = |nth: u64| char::from(b'a' + (nth % 26) as u8).to_string().repeat(2 + nth as usize / 26);
    let texts: Vec<String> = (0..30_000)
        .map(|_| {
            let mut words = String::new();
            for nth in 0..40 {
                if dice(nth * nth / 2 + 1) == 0 {
                    let times = 1 + dice(3) as usize * dice(2) as usize;
                    words += &format!("{} ", word(nth)).repeat(times);
                }
            }
            format!("{words}{}", "zzzz ".repeat(dice(60) as usize))
        })
        .collect();
    let rows: Vec<(u32, &str)> = (0..).zip(&texts).map(|(at, text)| (at * 2 + 1, text.as_str())).collect();
    let dir = tempfile::tempdir().unwrap();
    put(dir.path(), 1, &[], &rows[..27_000]);
    put(dir.path(), 2, &[41, 43, 8_001], &rows[27_000..]);
    let index = TextIndex::open(dir.path()).unwrap().unwrap();
    assert!(index.searcher.segment_readers().iter().any(|segment| segment.max_doc() > 3 * 4_096));
    let drop: RowSet = [RowId(5), RowId(40_001), RowId(41), RowId(43), RowId(8_001)].into_iter().collect();
    // One row in 102, in nine, and a run of rows that no segment has.
    let keeps = [
        rows.iter().map(|(row, _)| RowId(*row)).filter(|row| row.0 % 51 == 0).collect(),
        rows.iter().map(|(row, _)| RowId(*row)).filter(|row| row.0 % 9 == 0).collect(),
        (53_800..54_100).chain(59_990..60_100).map(RowId).collect(),
        RowSet::new(),
    ];
    let is_narrow = |keep: &RowSet| {
        let segment = index.searcher.segment_reader(0);
        let allowed = Allowed { keep: Some(keep), drop: &drop };
        index.columns[0].kept(segment, index.docs, allowed).is_some()
    };
    assert_eq!(keeps.each_ref().map(is_narrow), [true, false, true, true]);
    let questions =
        [vec![0], vec![39], vec![0, 1, 2], vec![1, 5, 20, 38], vec![0, 1, 2, 3, 4, 7, 9, 12, 30, 39]];
    for question in questions {
        let question: Vec<String> = question.into_iter().map(word).collect();
        let terms = query_terms(&question.join(" "), &[]);
        assert_eq!(terms.len(), question.len());
        let prepared = index.prepare(&terms, &Delta::empty(), None).unwrap();
        for keep in keeps.iter().map(Some).chain([None]) {
            let mut scan = DeltaScan::new(&terms, keep);
            // Rows that are dropped, or deleted and not yet compacted away, count in the statistics.
            for (row, text) in &rows {
                scan.push(RowId(*row), &encode_terms(text)).unwrap();
            }
            let delta = scan.finish();
            for k in [1, 10, 200, 3_000] {
                let found =
                    index.search(&prepared, k, Allowed { keep, drop: &drop }, &Delta::empty()).unwrap();
                let mut all = search_delta(&terms, rows.len(), &delta);
                all.retain(|hit| !drop.contains(hit.row));
                all.truncate(k);
                assert_eq!(found, all, "{question:?} {k}");
            }
        }
    }
}

/// BM25 in double precision, straight from its definition; lengths up to 40 are not quantised.
fn by_hand(rows: &BTreeMap<u32, String>, terms: &[QueryTerm]) -> Vec<(u32, f64)> {
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let rows: Vec<_> = rows.iter().map(|(row, text)| (*row, words(text))).collect();
    let docs = rows.len() as f64;
    let average = rows.iter().map(|(_, words)| words.len() as f64).sum::<f64>() / docs;
    let mut scored = Vec::new();
    for (row, words) in &rows {
        let mut score = 0.0;
        for term in terms {
            let n = rows.iter().filter(|(_, words)| words.contains(&term.term)).count() as f64;
            let tf = words.iter().filter(|word| **word == term.term).count() as f64;
            let norm = 1.2 * (0.25 + 0.75 * words.len() as f64 / average);
            score +=
                f64::from(term.weight) * (1.0 + (docs - n + 0.5) / (n + 0.5)).ln() * 2.2 * tf / (tf + norm);
        }
        if score > 0.0 {
            scored.push((*row, score));
        }
    }
    scored.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    scored
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn a_row_scores_the_same_in_index_and_delta(
        texts in prop::collection::vec(prop::collection::vec(0_usize..9, 1..30), 1..400),
        split in any::<u64>(), k in 1_usize..40, kept in 0_usize..4, question in 0_usize..4,
    ) {
        const WORDS: [&str; 9] = ["ax", "bo", "cod", "dun", "elf", "fig", "gum", "hat", "ink"];
        let question = ["gum", "ax bo", "cod cod dun elf", "ink hat fig gum elf dun cod bo ax"][question];
        let terms = query_terms(question, &[]);
        let rows: BTreeMap<u32, String> = texts.iter().enumerate().map(|(nth, words)| {
            let words: Vec<_> = words.iter().map(|&word| WORDS[word * word / 9]).collect();
            (nth as u32 * 3, words.join(" "))
        }).collect();
        let keep: RowSet = rows.keys().filter(|row| *row / 3 % 4 >= kept as u32).map(|&row| RowId(row)).collect();
        let keep = (kept > 0).then_some(&keep);
        let drop = RowSet::new();
        let allowed = Allowed { keep, drop: &drop };
        let search = |in_main: &dyn Fn(u32) -> bool| {
            let dir = tempfile::tempdir().unwrap();
            for part in 0..2 {
                let main: Vec<_> = rows.iter().filter(|(row, _)| in_main(**row) && **row % 2 == part)
                    .map(|(row, text)| (*row, text.as_str())).collect();
                put(dir.path(), 1, &[], &main);
            }
            let mut scan = DeltaScan::new(&terms, keep);
            for (row, text) in rows.iter().filter(|(row, _)| !in_main(**row)) {
                scan.push(RowId(*row), &encode_terms(text)).unwrap();
            }
            let index = TextIndex::open(dir.path()).unwrap().unwrap();
            let delta = scan.finish();
            index.search(&index.prepare(&terms, &delta, None).unwrap(), k, allowed, &delta).unwrap()
        };
        let all = search(&|_| true);
        prop_assert_eq!(&search(&|row| split >> (row % 61) & 1 == 1), &all);
        let mut scan = DeltaScan::new(&terms, keep);
        for (row, text) in &rows {
            scan.push(RowId(*row), &encode_terms(text)).unwrap();
        }
        prop_assert_eq!(&search_delta(&terms, k, &scan.finish()), &all);
        let mut expected = by_hand(&rows, &terms);
        expected.retain(|(row, _)| keep.is_none_or(|keep| keep.contains(RowId(*row))));
        expected.truncate(k);
        prop_assert_eq!(all.len(), expected.len());
        for (found, (_, score)) in all.iter().zip(&expected) {
            prop_assert!((f64::from(found.score) - score).abs() < 1e-4, "{:?} {}", found, score);
        }
    }
}
