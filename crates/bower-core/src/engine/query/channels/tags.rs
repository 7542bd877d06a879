//! Searches the tag channel: items whose tags the question names, in words or as `#tag`.
//! A rare tag counts more than a common one.

use std::collections::{HashMap, HashSet};

use crate::engine::Engine;
use crate::engine::indexes::LANGUAGE;
use crate::error::Result;
use crate::item::{RowId, RowSet, Scored};
use crate::store::Store;
use crate::text::{asked_words, query_terms};

/// Most allowed items of one tag that are read, the newest. A tag that more items have decides nothing among them, and
/// reading all of 100,000 would take longer than the rest of the question.
pub(crate) const MOST_TAGGED: usize = 2_000;

/// Returns the items with tags that the question names.
///
/// A question names a tag if it has all words of the tag (`machine-learning` by "learning machines"; stems are compared), or
/// if it writes the tag as `#tag`. The rarity of a named tag is ln(1 + n / f) / ln(1 + n), where f of n items have it: 1 for
/// a tag of a single item, about .06 for one that all of 100,000 have. A tag that is written as `#tag` has rarity 1. An
/// item's score is 1 - the product of (1 - rarity) over its tags: more than by the rarest alone, never more than 1.
pub fn tags(
    engine: &Engine,
    question: &str,
    depth: usize,
    allowed: &dyn Fn(RowId) -> bool,
    counted: Option<&RowSet>,
) -> Result<Vec<Scored>> {
    let store = &*engine.store;
    let written = written(question);
    let asked: HashSet<String> = query_terms(question, &[]).into_iter().map(|term| term.term).collect();
    let mut named = store.tags(&beginnings(question))?;
    named.retain(|tag| is_named(tag, &asked));
    named.extend(written.iter().cloned());
    named.sort_unstable();
    named.dedup();
    if named.is_empty() {
        return Ok(Vec::new());
    }
    let wanted = MOST_TAGGED.max(depth);
    let (all, counts, tagged) = match counted {
        Some(counted) => {
            let tagged = store.tagged(&named, usize::MAX)?;
            let count = |rows: &Vec<RowId>| rows.iter().filter(|row| counted.contains(**row)).count() as u64;
            (counted.len() as u64, tagged.iter().map(count).collect(), tagged)
        }
        None => (store.items_at_most()?, store.tag_counts(&named)?, newest(store, &named, wanted, allowed)?),
    };
    let all = all.max(1) as f64;
    let mut missing: HashMap<RowId, f64> = HashMap::new();
    for ((tag, count), rows) in named.iter().zip(counts).zip(tagged) {
        let share = (all / count.max(1) as f64).ln_1p() / all.ln_1p();
        let rarity = if written.contains(tag) { 1.0 } else { share.min(1.0) };
        for row in rows.into_iter().filter(|row| allowed(*row)).take(wanted) {
            *missing.entry(row).or_insert(1.0) *= 1.0 - rarity;
        }
    }
    let scored = missing.into_iter().map(|(row, missing)| Scored { row, score: (1.0 - missing) as f32 });
    Ok(Scored::best(scored.collect(), depth))
}

/// Reads the newest rows of each tag: enough that `wanted` of them are allowed, or all.
fn newest(
    store: &dyn Store,
    tags: &[String],
    wanted: usize,
    allowed: &dyn Fn(RowId) -> bool,
) -> Result<Vec<Vec<RowId>>> {
    let mut most = wanted;
    loop {
        let tagged = store.tagged(tags, most)?;
        let has_enough = |rows: &Vec<RowId>| {
            rows.len() < most || rows.iter().filter(|row| allowed(**row)).nth(wanted - 1).is_some()
        };
        if tagged.iter().all(has_enough) {
            return Ok(tagged);
        }
        most *= 8;
    }
}

/// Whether the question has all words of a tag, and the whole term where signs are part of it (`c++`, `1.2`).
fn is_named(tag: &str, asked: &HashSet<String>) -> bool {
    let words = asked_words(tag, LANGUAGE);
    let has_sign = |term: &str| term.contains(|c: char| !c.is_alphanumeric());
    words.iter().all(|word| asked.contains(&word.term))
        && query_terms(tag, &[]).iter().all(|term| !has_sign(&term.term) || asked.contains(&term.term))
        && !words.is_empty()
}

/// Returns beginnings of tags that the question's words may name. A beginning is the part that a word shares with its stem,
/// without a last i: the stem of `policies` is `polici`, and the tag may be `policy`. Each is returned folded and as it is written.
fn beginnings(question: &str) -> Vec<String> {
    let mut beginnings = Vec::new();
    for word in asked_words(question, LANGUAGE) {
        let shared = word.term.chars().zip(word.folded.chars()).take_while(|(a, b)| a == b).count();
        let cut = |text: &str| text.chars().take(shared).collect::<String>();
        let folded = cut(&word.folded);
        let shared = folded.strip_suffix('i').filter(|rest| !rest.is_empty()).map(str::to_owned);
        let folded = shared.unwrap_or(folded);
        let shown: String = word.shown.chars().take(folded.chars().count()).collect();
        beginnings.extend([folded, shown].into_iter().filter(|beginning| !beginning.is_empty()));
    }
    beginnings.sort_unstable();
    beginnings.dedup();
    beginnings
}

/// Returns the tags that the question writes with `#`, in the form in which they are stored.
pub(crate) fn written(question: &str) -> Vec<String> {
    let mut tags = Vec::new();
    let mut before = ' ';
    for (at, c) in question.char_indices() {
        let opens = c == '#' && !before.is_alphanumeric() && before != '#';
        before = c;
        if !opens {
            continue;
        }
        let rest = &question[at + 1..];
        let end = rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '/' | '.' | '+')));
        let tag = rest[..end.unwrap_or(rest.len())].trim_end_matches(['.', '-', '/']).to_lowercase();
        if !tag.is_empty() && !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    tags
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;
    use crate::item::Visibility;
    use crate::request::CurateRequest;
    use jiff::Timestamp;

    #[test]
    fn rows_that_are_not_allowed_take_no_room() {
        let (folder, now) = (tempfile::tempdir().unwrap(), Timestamp::UNIX_EPOCH);
        let settings = Settings { model: "none".into(), ..Settings::default() };
        let engine = Engine::open(folder.path(), settings, now).unwrap();
        for thing in ["cod", "eel", "perch", "trout", "salmon", "herring", "carp", "pike", "tench", "bream"] {
            // Memories of different owners are not compared.
            let request = CurateRequest {
                tags: vec!["fish".to_owned()],
                owner: Some(thing.to_owned()),
                ..CurateRequest::new(format!("The {thing} swims in the pond."))
            };
            engine.curate(&Visibility::everything(), &request, now).unwrap().id.unwrap();
        }
        let (store, named) = (&*engine.store, ["fish".to_owned()]);
        let all = store.tagged(&named, 99).unwrap().remove(0);
        assert_eq!(all.len(), 10);
        let (oldest, none) = (all[9], RowId(0));
        for only in [oldest, none] {
            assert_eq!(newest(store, &named, 1, &|row| row == only).unwrap(), std::slice::from_ref(&all));
        }
        assert_eq!(newest(store, &named, 1, &|row| row == all[0]).unwrap(), [all[..1].to_vec()]);
    }

    #[test]
    fn tags_are_written_with_a_hash() {
        assert_eq!(
            written("what of #API/v2, (#Ärger) and #a-b.? C# #c++ a#b ## # #api/v2"),
            ["api/v2", "ärger", "a-b", "c++"]
        );
    }

    #[test]
    fn a_tag_is_named_by_all_its_words() {
        let check = |tag: &str, question: &str, expected: bool| {
            let asked = query_terms(question, &[]).into_iter().map(|term| term.term).collect();
            assert_eq!(is_named(tag, &asked), expected, "{tag} by {question}");
        };
        check("machine-learning", "how do machines learn?", true);
        check("machine-learning", "machine room", false);
        check("api/v2", "the v2 api", true);
        check("policies", "our policy", true);
        check("c++", "vitamin c", false);
        check("c++", "templates in C++", true);
        check("c", "templates in C++", true);
        check("how-to", "how do I?", false);
        check("東京", "東京都", true);
        check("-", "a - b", false);
    }

    #[test]
    fn a_beginning_is_what_all_forms_of_a_word_share() {
        assert_eq!(beginnings("policies"), ["polic"]);
        assert_eq!(beginnings("databases tagging"), ["databas", "tag"]);
        assert_eq!(beginnings("Ärger"), ["arger", "ärger"]);
        assert_eq!(beginnings("the C"), ["c"]);
        assert!(beginnings("?").len() <= 1);
    }
}
