//! Reads basic-memory's notes: each observation of a note is a memory, and so is the rest of its text.
//! An observation is a list item `[category] statement #tag (context)`, a relation one like `type [[Target]] (context)`.

use serde_json::{Map, Value, json};

use super::form::{ForeignMemory, ForeignPage, Pages, about, copied, list, plain, wiki_links};
use crate::ingest::fields::moment;
use crate::item::MemoryType;

/// Whether most pages have a permalink beside a title, as the program writes into every note.
pub(super) fn is(pages: &Pages) -> bool {
    pages.mostly(|_| true, |page| page.field("permalink").is_some() && page.field("title").is_some())
}

/// A part of a line that is an observation.
#[derive(Debug, PartialEq)]
struct Observation {
    category: Option<String>,
    text: String,
    tags: Vec<String>,
    context: Option<String>,
}

/// Reads a note.
pub(super) fn read(page: &ForeignPage, pages: &Pages) -> Result<Vec<ForeignMemory>, String> {
    let body = &page.page()?.body;
    let title = page.field("title").and_then(plain).unwrap_or_else(|| page.stem().to_owned());
    let id = permalink(page);
    let (mut rest, mut observations, mut related) = (String::new(), Vec::new(), Vec::new());
    let mut in_code = false;
    for line in body.lines() {
        in_code ^= line.trim_start().starts_with("```");
        let item = line.trim_start().strip_prefix(['-', '*', '+']).and_then(|item| item.strip_prefix(' '));
        let item = item.map(str::trim).filter(|_| !in_code);
        if let Some(target) = item.and_then(relation) {
            related.push(target);
        } else if let Some(observation) = item.and_then(observation) {
            observations.push(observation);
        } else {
            rest.push_str(line);
            rest.push('\n');
        }
    }
    related.extend(wiki_links(&rest));
    let rest = without_empty_sections(&rest, &title);
    let related: Vec<String> = related.iter().filter_map(|target| note(target, pages)).collect();
    let base = base(page, &title);
    let mut found = Vec::new();
    if !rest.is_empty() {
        found.push(ForeignMemory {
            id: id.clone(),
            text: format!("{title}\n\n{rest}"),
            related: related.clone(),
            ..base.clone()
        });
    }
    let whole = id.clone();
    for observation in observations {
        let mut memory = base.clone();
        memory.id = format!("{id}: {}", observation.text);
        memory.text = about(&title, &observation.text);
        memory.memory_type = observation.category.as_deref().and_then(type_of);
        memory.tags.extend(observation.tags);
        memory.metadata.extend(observation.category.map(|category| ("category".to_owned(), json!(category))));
        memory.metadata.extend(observation.context.map(|context| ("context".to_owned(), json!(context))));
        memory.related = match found.first() {
            Some(first) if first.id == whole => vec![whole.clone()],
            Some(_) => Vec::new(),
            // The note has no text, so its first observation has its relations and its name.
            None => related.clone(),
        };
        memory.also_named = found.is_empty().then(|| whole.clone());
        found.push(memory);
    }
    Ok(found)
}

/// Returns what all memories of a note share.
fn base(page: &ForeignPage, title: &str) -> ForeignMemory {
    let fields = Value::Object(page.page().map_or_else(|_| Map::new(), |page| page.fields.clone()));
    let mut metadata = copied(&fields, &["permalink", "type"]);
    metadata.insert("title".to_owned(), json!(title));
    metadata.insert("file".to_owned(), json!(page.path));
    let time = |names: [&str; 3]| names.iter().find_map(|name| moment(fields.get(*name)?));
    let updated = time(["modified", "updated", "updated_at"]);
    metadata.extend(updated.map(|time| ("updated_at".to_owned(), json!(time.to_string()))));
    ForeignMemory {
        tags: fields.get("tags").map(list).unwrap_or_default(),
        created: time(["created", "created_at", "date"]).or(updated).or(page.modified),
        metadata,
        ..ForeignMemory::default()
    }
}

fn permalink(page: &ForeignPage) -> String {
    page.field("permalink").and_then(plain).unwrap_or_else(|| page.stem().to_owned())
}

/// Returns the id of the note that a link names, by its title, permalink or path.
fn note(target: &str, pages: &Pages) -> Option<String> {
    pages.named(target).map(permalink)
}

/// Parses `type [[Target]]` or `"a type" [[Target]] (context)`. Any other line with a link is a sentence.
fn relation(item: &str) -> Option<String> {
    let (before, rest) = item.split_once("[[")?;
    let (target, after) = rest.split_once("]]")?;
    let (before, after) = (before.trim(), after.trim());
    let is_quoted = before.len() > 1
        && ['"', '\''].iter().any(|&mark| before.starts_with(mark) && before.ends_with(mark));
    let is_type = !before.is_empty() && (is_quoted || !before.contains(char::is_whitespace));
    let is_end = after.is_empty() || (after.starts_with('(') && after.ends_with(')'));
    (is_type && is_end && !before.starts_with('[')).then(|| target.trim().to_owned())
}

/// Parses an observation: it has a category or a tag. Tasks, times and links in brackets are no categories.
fn observation(item: &str) -> Option<Observation> {
    let bracketed = item.strip_prefix('[').and_then(|rest| rest.split_once("] "));
    let is_category = |name: &str| {
        let name = name.trim();
        let is_mark =
            name.chars().count() == 1 && !name.chars().any(|c| c.is_alphanumeric() && !"xX".contains(c));
        let is_time = name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_digit() || " :.,-".contains(c));
        !name.is_empty() && !is_mark && !is_time && !name.contains(['[', ']', '(', ')'])
    };
    let (category, said) = match bracketed.filter(|(name, _)| is_category(name)) {
        Some((name, said)) => (Some(name.trim().to_owned()), said.trim()),
        None => (None, item),
    };
    let (said, context) = match said.strip_suffix(')').and_then(|rest| rest.rsplit_once('(')) {
        Some((before, context)) if !before.trim().is_empty() => {
            (before.trim(), Some(context.trim().to_owned()))
        }
        Some(_) | None => (said, None),
    };
    let is_tag =
        |word: &&str| word.strip_prefix('#').is_some_and(|tag| !tag.is_empty() && !tag.starts_with('#'));
    let tags = said.split_whitespace().filter(is_tag);
    let tags: Vec<String> =
        tags.flat_map(|tag| tag.split('#')).filter(|tag| !tag.is_empty()).map(str::to_owned).collect();
    if category.is_none() && (tags.is_empty() || item.starts_with('[')) {
        return None;
    }
    // Tags at the end are no part of the sentence; one within it is a word of it.
    let mut text = said;
    while let Some((before, last)) = text.rsplit_once(char::is_whitespace).filter(|(_, last)| is_tag(last)) {
        let _ = last;
        text = before.trim_end();
    }
    let text = text.to_owned();
    (!text.is_empty()).then_some(Observation { category, text, tags, context })
}

/// Returns the memory type of a category. Categories are free words, so only names of our types count.
fn type_of(category: &str) -> Option<MemoryType> {
    category.to_lowercase().parse().ok()
}

/// Removes headings that have no text below them, and the heading that repeats the title.
fn without_empty_sections(text: &str, title: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    for line in text.lines().chain(["# "]) {
        if line.starts_with('#') {
            let level = |line: &str| line.bytes().take_while(|&byte| byte == b'#').count();
            // Whatever is below the last heading decides whether it stays; a heading of a higher level has its own text.
            while let Some(at) = kept.iter().rposition(|kept| !kept.trim().is_empty()) {
                if !kept[at].starts_with('#') || level(kept[at]) < level(line) {
                    break;
                }
                kept.truncate(at);
            }
        }
        kept.push(line);
    }
    kept.pop();
    let first = kept.iter().position(|line| !line.trim().is_empty());
    if let Some(at) = first.filter(|&at| kept[at].trim_start_matches('#').trim() == title) {
        kept.drain(..=at);
    }
    kept.join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_read_in_its_parts() {
        let text = "---\ntitle: Coffee\ntype: note\npermalink: drinks/coffee\ntags:\n- brewing\n---\n\n# Coffee\n\nHow we brew.\n\n\
                    ## Observations\n- [method] Pour over is clearest #clarity (tried twice)\n- [preference] Ada drinks coffee black\n\
                    - [ ] buy beans\n- [00:01:02] hello\n\n## Relations\n- relates_to [[Tea]]\n- \"made in\" [[drinks/kitchen]] (daily)\n";
        let page = |path: &str, text: &str| ForeignPage::new(path.to_owned(), text, None);
        let pages = Pages::new(vec![
            page("coffee.md", text),
            page("tea.md", "---\ntitle: Tea\npermalink: drinks/tea\n---\n- [fact] Green\n"),
        ]);
        assert!(is(&pages));
        let read: Vec<ForeignMemory> =
            pages.all().iter().flat_map(|page| read(page, &pages).unwrap()).collect();
        let said: Vec<(&str, &str)> = read.iter().map(|one| (one.id.as_str(), one.text.as_str())).collect();
        let expected = [
            (
                "drinks/coffee",
                "Coffee\n\nHow we brew.\n\n## Observations\n- [ ] buy beans\n- [00:01:02] hello",
            ),
            ("drinks/coffee: Pour over is clearest", "Coffee: Pour over is clearest"),
            ("drinks/coffee: Ada drinks coffee black", "Ada drinks coffee black"),
            ("drinks/tea: Green", "Tea: Green"),
        ];
        assert_eq!(said, expected);
        assert_eq!(read[0].related, ["drinks/tea"]);
        assert_eq!(read[1].related, ["drinks/coffee"]);
        assert_eq!(read[1].tags, ["brewing", "clarity"]);
        assert_eq!(
            (&read[1].metadata["category"], &read[1].metadata["context"]),
            (&json!("method"), &json!("tried twice"))
        );
        assert_eq!(read[2].memory_type, Some(MemoryType::Preference));
    }

    #[test]
    fn observations_and_relations_have_their_forms() {
        let check = |item: &str, expected: Option<(&str, &str)>| {
            let found = observation(item);
            let found = found.as_ref().map(|one| (one.category.as_deref().unwrap_or(""), one.text.as_str()));
            assert_eq!(found, expected, "{item}");
        };
        check("[tech] uses SQLite #db#local", Some(("tech", "uses SQLite")));
        check("all #green tea is fine #tea", Some(("", "all #green tea is fine")));
        check("[link](x.md)", None);
        check("[x] done #now", None);
        check("plain words", None);
        check("# ", None);
        assert_eq!(relation("depends_on [[A]]").as_deref(), Some("A"));
        assert_eq!(relation("a sentence with [[A]]"), None);
        assert_eq!(relation("uses [[A]] and [[B]]"), None);
        assert_eq!(relation("[[A]]"), None);
    }
}
