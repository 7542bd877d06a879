//! Forgets items: selects them and those derived from them, deletes them in one transaction, then purges every file.
//! The next process that runs maintenance finishes a run that was cut short.

use aho_corasick::AhoCorasick;
use jiff::Timestamp;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use crate::engine::indexes::{IndexState, LANGUAGE};
use crate::engine::maintain::residue::{Finder, automaton, files, open};
use crate::engine::query::lookup::resolve;
use crate::engine::{ACTOR, Engine};
use crate::error::{Error, Result};
use crate::filter::{Filter, Test};
use crate::item::{Kind, RowId, Status, Visibility};
use crate::request::{
    Clocks, CompactWhen, Elsewhere, Erased, ForgetRequest, Forgetting, Forgotten, Item, Selection,
};
use crate::store::{Stamp, Store};
use crate::text::{Analyzer, Purpose, TextIndex};

/// Fewest words of a sentence that is compared: "It works." is in many texts.
const LEAST_WORDS: usize = 3;

/// Number of words at the end of a chunk that are near the beginning of the next where the two overlap.
const OVERLAP_WORDS: usize = 3;
/// Number of words that are near the beginning: an overlap of 200 characters, behind a repeated heading.
const NEAR_BEGINNING: usize = 80;

/// Fewest letters of a word that is a trace: a shorter one is anywhere.
const LEAST_LETTERS: usize = 4;
/// Number of letters of a part of a text that is a trace by itself.
const PART: usize = 16;

/// Number of letters by which a copy of a text is noticed.
const BEGINNING: usize = 48;

/// Most items with the same text that are named.
const MOST_HOLDERS: usize = 100;

/// Returns items that were derived from some others, or contain the whole text of one of them:
///
/// - another form of the same memory, or one that a relation ties to it, that contains each of its sentences;
/// - an item that was made from it as one of its examples, if it contains one of its sentences;
/// - the chunk before or after it in its document, where the two overlap.
///
/// Texts are compared word by word; case and punctuation are ignored. The same statement in other words is not noticed.
fn derived(engine: &Engine, visibility: &Visibility, items: &[Item]) -> Result<Vec<Item>> {
    let mut taken: BTreeSet<RowId> = items.iter().map(|item| item.row).collect();
    let mut found = Vec::new();
    for item in items {
        let sentences = sentences(&item.content);
        let mut near = vec![item.row];
        while !near.is_empty() {
            let links = engine.store.linked(&near)?;
            near.clear();
            let rows: Vec<RowId> = links.iter().map(|link| link.row).collect();
            for (link, other) in links.iter().zip(engine.store.items(&rows)?) {
                let is_there = |other: &Item| !taken.contains(&other.row) && other.is_visible(visibility);
                let Some(other) = other.filter(is_there) else { continue };
                let words = words(&other.content);
                let mut held = sentences.iter().map(|sentence| holds(&words, sentence));
                if if link.is_made_of_it { held.any(|held| held) } else { held.all(|held| held) } {
                    taken.insert(other.row);
                    near.push(other.row);
                    found.push(other);
                }
            }
        }
        if item.kind == Kind::Chunk {
            for other in beside(engine, item)? {
                if other.is_visible(visibility) && taken.insert(other.row) {
                    found.push(other);
                }
            }
        }
    }
    Ok(found)
}

/// Returns the chunks before and after one that repeat a part of it.
fn beside(engine: &Engine, item: &Item) -> Result<Vec<Item>> {
    let around = engine.store.around(item.row, 1)?;
    let Some(&(place, _)) = around.iter().find(|(_, row)| *row == item.row) else { return Ok(Vec::new()) };
    let rows: Vec<RowId> = around.iter().map(|(_, row)| *row).filter(|row| *row != item.row).collect();
    let places = around.iter().filter(|(_, row)| *row != item.row).map(|(place, _)| *place);
    let own = words(&item.content);
    let others = places.zip(engine.store.items(&rows)?);
    Ok(others
        .filter_map(|(at, other)| {
            let other = other?;
            let theirs = words(&other.content);
            let (first, second) = if at < place { (&theirs, &own) } else { (&own, &theirs) };
            overlap(first, second).then_some(other)
        })
        .collect())
}

/// Whether the end of a text is near the beginning of the next.
fn overlap(first: &[String], second: &[String]) -> bool {
    let Some(end) = first.len().checked_sub(OVERLAP_WORDS) else { return false };
    holds(&second[..second.len().min(NEAR_BEGINNING)], &first[end..])
}

fn words(text: &str) -> Vec<String> {
    let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    text.split_whitespace().map(bare).filter(|word| !word.is_empty()).collect()
}

/// Returns the sentences of a text that have enough words; the whole text if there are none. Headings belong to the document
/// and are skipped.
fn sentences(text: &str) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut rest = line;
        while !rest.is_empty() {
            let end = rest
                .char_indices()
                .find(|(at, c)| {
                    let behind = &rest[at + c.len_utf8()..];
                    matches!(c, '。' | '！' | '？')
                        || (matches!(c, '.' | '!' | '?') && behind.starts_with(char::is_whitespace))
                })
                .map_or(rest.len(), |(at, c)| at + c.len_utf8());
            all.push(words(&rest[..end]));
            rest = &rest[end..];
        }
    }
    all.retain(|sentence| sentence.len() >= LEAST_WORDS);
    if all.is_empty() {
        all.push(words(text));
    }
    all
}

fn holds(text: &[String], part: &[String]) -> bool {
    !part.is_empty() && text.windows(part.len()).any(|window| window == part)
}

/// Returns the ids of visible items that still contain all of a forgotten text. Short texts are skipped, as many items
/// contain them.
fn holders(engine: &Engine, visibility: &Visibility, items: &[Item], gone: &[RowId]) -> Result<Vec<String>> {
    let texts: Vec<&str> = items
        .iter()
        .map(|item| item.content.as_str())
        .filter(|text| text.split_whitespace().count() >= LEAST_WORDS)
        .collect();
    if texts.is_empty() {
        return Ok(Vec::new());
    }
    let whole: Vec<Vec<String>> = texts.iter().map(|text| words(text)).collect();
    // Of 100,000 texts few have the beginning of one of these; only those are compared.
    let beginnings: Vec<Vec<u8>> = texts.iter().map(|text| beginning(text).as_bytes().to_vec()).collect();
    let finder = automaton(&beginnings)?;
    let gone: BTreeSet<RowId> = gone.iter().copied().collect();
    // Only visible items count as the first hundred.
    let visible = if visibility.is_everything() {
        None
    } else {
        let whatever = Selection { statuses: Status::ALL.to_vec(), ..Selection::default() };
        engine.store.select(&whatever.within(visibility)?)?
    };
    let mut rows = Vec::new();
    engine.store.each_text(&mut |row, text| {
        let is_visible = visible.as_ref().is_none_or(|visible| visible.contains(row));
        if rows.len() >= MOST_HOLDERS || gone.contains(&row) || !is_visible {
            return;
        }
        let suspects: BTreeSet<usize> =
            finder.find_overlapping_iter(text).map(|found| found.pattern().as_usize()).collect();
        if !suspects.is_empty() {
            let words = words(text);
            if suspects.iter().any(|&at| holds(&words, &whole[at])) {
                rows.push(row);
            }
        }
    })?;
    let items = engine.store.items(&rows)?.into_iter().flatten();
    let mut ids: Vec<String> = items.filter(|item| item.is_visible(visibility)).map(|item| item.id).collect();
    ids.sort_unstable();
    Ok(ids)
}

/// Returns the beginning of a text's longest line: every copy of the text contains it, however its lines are joined.
fn beginning(text: &str) -> &str {
    let line = text.lines().map(str::trim).max_by_key(|line| line.len()).unwrap_or(text);
    let end = line.char_indices().nth(BEGINNING).map_or(line.len(), |(at, _)| at);
    &line[..end]
}

/// Removes all traces of forgotten items from files. Failures are in the result: the items are gone, and the next maintenance
/// goes on.
fn erase(engine: &Engine, items: &[Item], now: Timestamp) -> Result<Erased> {
    engine.forget_questions(items);
    let traces = Traces::of(items);
    let mut erased = Erased::default();
    match engine.purge(CompactWhen::Always, Some(&traces), now) {
        Ok(Some(purged)) => erased = purged,
        // Another process has done it all meanwhile.
        Ok(None) => {}
        Err(error) => erased.waits.push(error.to_string()),
    }
    erased.complete = erased.waits.is_empty();
    erased.elsewhere = elsewhere(engine, items)?;
    Ok(erased)
}

/// Returns the files below the home that are not the store's and contain a forgotten text.
fn elsewhere(engine: &Engine, items: &[Item]) -> Result<Vec<Elsewhere>> {
    let texts: Vec<&str> = items
        .iter()
        .map(|item| item.content.as_str())
        .filter(|text| text.chars().count() >= PART || text.split_whitespace().count() >= LEAST_WORDS)
        .collect();
    if texts.is_empty() {
        return Ok(Vec::new());
    }
    let ours = engine.store.files();
    let derived = ["index", "models"].map(|name| engine.home.join(name));
    let mut finder = None;
    let mut found = Vec::new();
    for path in files(&engine.home)? {
        if ours.contains(&path) || derived.iter().any(|folder| path.starts_with(folder)) {
            continue;
        }
        let Some(file) = open(&path)? else { continue };
        let finder: &Finder = match &mut finder {
            Some(finder) => finder,
            none => none.insert(Finder::new(&texts)?),
        };
        let (counts, _) = finder.count_in(file).map_err(|source| Error::io("read", &path, source))?;
        let matches = counts.iter().sum();
        if matches > 0 {
            found.push(Elsewhere { path, matches });
        }
    }
    Ok(found)
}

/// Bytes that would reveal a forgotten text in unused parts of files.
#[derive(Debug, Default)]
pub(crate) struct Traces {
    /// Parts of texts, long enough to be unique.
    parts: BTreeSet<Vec<u8>>,
    /// Each word in lower case, with its terms.
    words: BTreeMap<String, Vec<String>>,
    tags: BTreeSet<String>,
    fields: BTreeSet<(String, String)>,
}

impl Traces {
    fn of(items: &[Item]) -> Self {
        let mut traces = Self::default();
        for item in items {
            for line in item.content.lines().map(str::trim) {
                let letters: Vec<char> = line.chars().collect();
                let parts = letters.chunks(PART).filter(|part| part.len() == PART);
                traces.parts.extend(parts.map(|part| part.iter().collect::<String>().into_bytes()));
            }
            let written = item.content.split(|c: char| !c.is_alphanumeric());
            for word in written.filter(|word| word.chars().count() >= LEAST_LETTERS) {
                traces.words.entry(word.to_lowercase()).or_insert_with_key(|word| terms(word));
            }
            traces.tags.extend(item.tags.iter().filter(|tag| tag.len() >= LEAST_LETTERS).cloned());
            // A chunk's fields are those of its document, and its position there.
            let own = item.metadata.iter().filter(|_| item.kind == Kind::Memory);
            traces.fields.extend(own.filter_map(|(name, value)| {
                let text = value.as_str().filter(|text| text.len() >= LEAST_LETTERS)?;
                Some((name.clone(), text.to_owned()))
            }));
        }
        traces
    }

    /// Returns an automaton for the traces that no kept item has any more; `None` where there are none.
    pub(crate) fn finder(
        &self,
        store: &dyn Store,
        index: &IndexState<TextIndex>,
    ) -> Result<Option<AhoCorasick>> {
        let mut patterns: BTreeSet<Vec<u8>> = self.parts.clone();
        let mut put = |text: &str| patterns.insert(text.as_bytes().to_vec());
        let terms: Vec<String> =
            self.words.values().flatten().cloned().collect::<BTreeSet<_>>().into_iter().collect();
        let kept: BTreeSet<&String> = match index.ask(|index| index.kept_with(&terms))? {
            Some(counts) => {
                terms.iter().zip(counts).filter(|(_, count)| *count > 0).map(|(term, _)| term).collect()
            }
            None => BTreeSet::new(),
        };
        for (word, terms) in &self.words {
            if terms.iter().any(|term| !kept.contains(term)) {
                put(word);
            }
        }
        for term in terms.iter().filter(|term| term.len() >= LEAST_LETTERS && !kept.contains(term)) {
            put(term);
        }
        let tags: Vec<String> = self.tags.iter().cloned().collect();
        for (tag, count) in tags.iter().zip(store.tag_counts(&tags)?) {
            if count == 0 {
                put(tag);
            }
        }
        for (name, value) in &self.fields {
            let test = Test::Equal(Value::String(value.clone()));
            let filter = Some(Filter::Field { name: name.clone(), test });
            let statuses = crate::item::Status::ALL.to_vec();
            let select = Selection { filter, statuses, clocks: Clocks::default(), ..Selection::default() };
            if store.select(&select)?.is_some_and(|rows| rows.is_empty()) {
                put(value);
            }
        }
        if patterns.is_empty() {
            return Ok(None);
        }
        automaton(&patterns.into_iter().collect::<Vec<_>>()).map(Some)
    }
}

fn terms(word: &str) -> Vec<String> {
    let mut terms = Vec::new();
    Analyzer::new(LANGUAGE).each(word, Purpose::Index, |found| {
        terms.push(found.term.to_owned());
        ControlFlow::Continue(())
    });
    terms
}

impl Engine {
    /// Drops questions that wait for the cache and equal a forgotten text.
    fn forget_questions(&self, items: &[Item]) {
        let mut uses = self.pending.cache_uses.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if !uses.added.is_empty() {
            let gone: BTreeSet<Vec<String>> = items.iter().map(|item| words(&item.content)).collect();
            uses.added.retain(|added| !gone.contains(&words(&added.text)));
        }
        drop(uses);
        self.recent.clear();
    }
}

impl Engine {
    /// Removes items and those derived from them from every table and index, and reports what was removed. When it returns,
    /// no file of the store and its indexes has a trace, or the report names the obstacle. A caller that sees a part of the
    /// store learns nothing of other files.
    pub fn forget(&self, visibility: &Visibility, how: &Forgetting, now: Timestamp) -> Result<Forgotten> {
        let (named, asks) = match &how.what {
            // Each must be visible before any of them is removed.
            ForgetRequest::Ids(ids) => {
                let mut rows =
                    ids.iter().map(|id| Ok(resolve(self, visibility, id)?.0)).collect::<Result<Vec<_>>>()?;
                rows.sort_unstable();
                rows.dedup();
                (rows, visibility.clone())
            }
            ForgetRequest::Selected(select) if **select == Selection::default() => {
                return Err(Error::invalid("forget", "nothing is selected; name ids or a filter"));
            }
            ForgetRequest::Selected(select) => {
                let asks = visibility.narrowed(select.scope, select.owner.as_deref())?;
                (self.store.page(&select.within(visibility)?, usize::MAX >> 1, 0)?.0, asks)
            }
        };
        let mut items: Vec<Item> = self.store.items(&named)?.into_iter().flatten().collect();
        let derived = if how.keep_derived { Vec::new() } else { derived(self, visibility, &items)? };
        let mut derived_ids: Vec<String> = derived.iter().map(|item| item.id.clone()).collect();
        derived_ids.sort_unstable();
        let told = items.len();
        items.extend(derived);
        let rows: Vec<RowId> = items.iter().map(|item| item.row).collect();
        // The store removes the wordings of a memory with it; their traces go too.
        let worded = self.store.wordings_of(&rows)?;
        let worded: Vec<RowId> = worded.into_iter().filter(|row| !rows.contains(row)).collect();
        items.extend(self.store.items(&worded)?.into_iter().flatten());
        let rows: Vec<RowId> = items.iter().map(|item| item.row).collect();
        let mut forgotten: Vec<String> = items.iter().map(|item| item.id.clone()).collect();
        forgotten.sort_unstable();

        let receipt = self.store.forget(&rows, how.dry_run, Stamp { now, actor: ACTOR })?;
        let erased = if how.dry_run { None } else { Some(erase(self, &items, now)?) };
        let (receipt, erased) = if visibility.is_everything() {
            (receipt, erased)
        } else {
            (receipt.of_a_part(), erased.map(Erased::of_a_part))
        };
        let held_by = holders(self, &asks, &items[..told], &rows)?;
        Ok(Forgotten { forgotten, derived: derived_ids, held_by, receipt, erased })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<String> {
        words(text)
    }

    #[test]
    fn a_text_is_held_by_its_sentences_whatever_stands_around_them() {
        let all = |text: &str, other: &str| sentences(text).iter().all(|one| holds(&of(other), one));
        assert!(all("The API runs on 8080.", "the API runs on 8080, and it runs on Debian."));
        assert!(!all("The API runs on 8080.", "The API runs on 9090."));
        assert!(all("It works.", "“It works”, they said."));
        assert!(!all("It works.", "It never works."));
        assert!(all("One is a number. Two is one too.", "Two is one too. And: one is a number!"));
        assert!(!all("One is a number. Two is one too.", "One is a number."));
        assert!(all("# Title of it\nthe door is green", "The door is green"));
        assert_eq!(sentences("v1.2 is out. Node.js too is out").len(), 2);
        assert_eq!(
            sentences("東京は首都です。大阪は違います。").len(),
            1,
            "words are what white space divides"
        );
    }

    fn kept(engine: &Engine, text: &str) -> RowId {
        let request = crate::request::CurateRequest::new(text);
        let id =
            engine.curate(&Visibility::everything(), &request, Timestamp::UNIX_EPOCH).unwrap().id.unwrap();
        engine.get(&Visibility::everything(), &id).unwrap().row
    }

    fn bytes(home: &std::path::Path) -> Vec<u8> {
        files(home).unwrap().iter().flat_map(|path| std::fs::read(path).unwrap()).collect()
    }

    /// A run that was killed between the commit and the purge is finished by the next maintenance, once.
    #[test]
    fn what_was_cut_short_is_done_by_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let settings = crate::config::Settings { model: "none".into(), ..Default::default() };
        let open = || Engine::open(folder.path(), settings.clone(), Timestamp::UNIX_EPOCH).unwrap();
        let engine = open();
        let row = kept(&engine, "The quagga is in the cellar of the museum.");
        let other = kept(&engine, "The okapi is in the garden of the palace.");
        engine.compact(CompactWhen::Always).unwrap();
        let stamp = Stamp { now: Timestamp::UNIX_EPOCH, actor: "test" };
        engine.store.forget(&[row], false, stamp).unwrap();
        let due = engine.store.erasure_due().unwrap();
        assert!(due.is_some());
        // A compaction alone leaves the mark.
        engine.compact(CompactWhen::Always).unwrap();
        engine.store.forget(&[other], true, stamp).unwrap();
        assert_eq!(engine.store.erasure_due().unwrap(), due);
        drop(engine);

        let index = |engine: &Engine| {
            let found = engine.indexes.text(&*engine.store).unwrap();
            let words = ["quagga".to_owned(), "okapi".to_owned()];
            found.ask(|index| Ok((index.kept_with(&words)?, index.keeps_dead()))).unwrap().unwrap()
        };
        let engine = open();
        engine.maintain(Timestamp::UNIX_EPOCH).unwrap();
        assert_eq!(engine.store.erasure_due().unwrap(), None);
        assert_eq!(index(&engine), (vec![0, 1], false));
        let all = bytes(folder.path());
        let finder = Finder::new(&["quagga", "okapi"]).unwrap();
        let found = finder.count(&all);
        assert!(found[0] == 0 && found[1] > 0, "{found:?}");
        assert!(engine.purge(CompactWhen::Always, None, Timestamp::UNIX_EPOCH).unwrap().is_none());
        assert_eq!(engine.store.verify().unwrap(), Vec::<String>::new());
    }

    /// Bytes that another version, which zeroed nothing, left in a page.
    #[test]
    fn what_an_older_version_left_behind_is_found_and_goes() {
        let folder = tempfile::tempdir().unwrap();
        let settings = crate::config::Settings { model: "none".into(), ..Default::default() };
        let engine = Engine::open(folder.path(), settings, Timestamp::UNIX_EPOCH).unwrap();
        let row = kept(&engine, "The quagga is in the cellar of the museum.");
        let older = rusqlite::Connection::open(folder.path().join("memory.db")).unwrap();
        older.execute_batch("PRAGMA secure_delete = OFF; CREATE TABLE x (text TEXT); INSERT INTO x VALUES ('a quagga was here'); DROP TABLE x").unwrap();
        drop(older);
        let how =
            ForgetRequest::Ids(vec![engine.store.items(&[row]).unwrap()[0].as_ref().unwrap().id.clone()]);
        let erased = engine
            .forget(&Visibility::everything(), &Forgetting::of(how), Timestamp::UNIX_EPOCH)
            .unwrap()
            .erased
            .unwrap();
        assert!(erased.complete && erased.compacted, "{erased:?}");
        assert_eq!(Finder::new(&["quagga"]).unwrap().count(&bytes(folder.path())), [0]);
    }

    #[test]
    fn chunks_overlap_where_one_ends_as_the_next_begins() {
        let check = |first: &str, second: &str| overlap(&of(first), &of(second));
        assert!(check("a b c d e f", "d e f g"));
        assert!(check("a b c d e f", "Heading of it d e f g"));
        assert!(!check("a b c d e f", "e f g h"));
        assert!(!check("a b c", "c b a") && !check("", "a") && !check("a b", "a b"));
    }
}
