//! Extracts the entities that an item mentions, without a model.
//! They are titles, links, tags, addresses, identifiers, quoted phrases and capitalised names. Memories and turns of
//! conversations also mention their words.
//!
//! A name is a run of capitalised words, with particles (`of`, `van`) between them. A single capitalised word counts as a
//! name inside a sentence. At the start of one it is a weak mention ([`Role::Start`]). Parts of longer names (`Isaac Newton`
//! in `Sir Isaac Newton`) are weak too ([`Role::Part`]), and so are two names joined by a comma or a conjunction
//! (`Springfield, Illinois`). A weak mention counts only if some item mentions the entity as more. Japanese has no capitals: words in
//! katakana are names, and compounds of ideographs are weak mentions, which count where a title or a link has them.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::{ControlFlow, Range};

use unicode_normalization::char::is_combining_mark;

use super::entity::{EntityKey, Role, StoredMention, fold};
use super::links::{LinkForm, written_links};
use super::scan::{Before, Kind, ScannedWord, scan};
use crate::item::{SourcedTriple, linked_path};
use crate::text::{self, Analyzer, Language, Purpose, TermOccurrence, TermShape};

/// Most mentions that are kept of one item: the strongest, in the order of the text.
const MOST_MENTIONS: usize = 96;
/// Longest name in words: more capitalised words in a row are a heading or shouting.
const LONGEST_NAME: usize = 8;
/// Longest name whose parts are weak mentions.
const LONGEST_PARTED: usize = 5;
/// Most words of a compound of ideographs, katakana, letters and digits.
const LONGEST_COMPOUND: usize = 4;
/// Words between two names that may be one (`Romeo and Juliet`, `Alice in Wonderland`).
const JOINS: &[&str] = &["and", "at", "for", "in", "on", "to", "with"];
/// Most words of a quoted phrase.
const LONGEST_PHRASE: usize = 6;

/// The data of an item from which its mentions are extracted.
#[derive(Clone, Copy, Debug, Default)]
pub struct ItemText<'a> {
    /// The id of its document.
    pub document: Option<&'a str>,
    /// The title of its document.
    pub title: Option<&'a str>,
    /// The path of its document.
    pub path: Option<&'a str>,
    /// Other names of its document.
    pub aliases: &'a [String],
    /// Its heading path or symbol.
    pub section: Option<&'a str>,
    /// Its text.
    pub content: &'a str,
    /// Its tags.
    pub tags: &'a [String],
    /// The relations that language models read off its text.
    pub triples: &'a [SourcedTriple],
    /// Whether its words are entities too: it is a memory or a turn of a conversation.
    pub has_words: bool,
}

/// An entity that an item mentions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention<'a> {
    /// The entity.
    pub key: EntityKey,
    /// Its name as the item first writes it in that role; a folded word for [`Role::Word`].
    pub name: Cow<'a, str>,
    /// The strongest role in which it is mentioned.
    pub role: Role,
    /// Number of occurrences.
    pub count: u32,
}

/// Returns an item's mentions encoded for the index: four bytes for its document, then eight for each mention, ascending by
/// entity.
pub fn encode(source: &ItemText<'_>) -> Vec<u8> {
    let mut stored: Vec<u64> = mentions(source)
        .iter()
        .map(|mention| StoredMention::new(mention.key, mention.role, mention.count).0)
        .collect();
    stored.sort_unstable();
    let document = source.document.map_or(0, document_number);
    let stored = stored.iter().flat_map(|mention| mention.to_le_bytes());
    document.to_le_bytes().into_iter().chain(stored).collect()
}

/// Returns the number of a document, never 0: the lowest 32 bits of the hash of its id.
fn document_number(id: &str) -> u32 {
    (text::hash(id) as u32).max(1)
}

/// A relation between two entities that an item mentions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypedEdge<'a> {
    /// The entity that has the relation.
    pub from: EntityKey,
    /// The relation with its names and its source.
    pub stated: &'a SourcedTriple,
    /// The entity to which it leads.
    pub to: EntityKey,
}

/// Returns the entities that an item mentions, each once: strongest role first, then in the order of the text.
pub fn mentions<'a>(source: &ItemText<'a>) -> Vec<Mention<'a>> {
    mentions_and_edges(source).0
}

/// Returns the entities that an item mentions as [`mentions`] does, and the relations between them that language models read
/// off its text.
pub fn mentions_and_edges<'a>(source: &ItemText<'a>) -> (Vec<Mention<'a>>, Vec<TypedEdge<'a>>) {
    let mut found = Found::default();
    if let Some(title) = source.title {
        found.add_title(title);
    }
    for alias in source.aliases {
        found.add_named(alias.trim(), Role::Title);
    }
    if let Some(path) = source.path {
        found.add_file(path);
    }
    for tag in source.tags {
        found.add(EntityKey::of_tag(&tag.to_lowercase()), Role::Tag, || tag.into());
    }
    if let Some(section) = source.section {
        found.add_names(section, Role::Part);
    }
    found.add_links(source.content, source.path);
    found.add_names(source.content, Role::Name);
    found.join_surnames();
    let mut edges = found.add_triples(source.triples);
    if source.has_words {
        found.add_words(source.content);
    }
    let mut mentions = found.mentions;
    mentions.sort_by_key(|mention| std::cmp::Reverse(mention.role));
    mentions.truncate(MOST_MENTIONS);
    let is_kept = |key: EntityKey| mentions.iter().any(|mention| mention.key == key);
    edges.retain(|edge| is_kept(edge.from) && is_kept(edge.to));
    (mentions, edges)
}

/// Mentions found so far, in the order of the text.
#[derive(Default)]
struct Found<'a> {
    mentions: Vec<Mention<'a>>,
    places: HashMap<EntityKey, usize>,
    /// Names of one word, and the last words of longer names with these names, for [`Found::join_surnames`].
    singles: Vec<(EntityKey, String)>,
    within: HashMap<String, EntityKey>,
}

impl<'a> Found<'a> {
    /// Adds a mention. `name` is called only where the entity is new or its role gets stronger.
    fn add(&mut self, key: EntityKey, role: Role, name: impl FnOnce() -> Cow<'a, str>) {
        if let Some(&at) = self.places.get(&key) {
            let mention = &mut self.mentions[at];
            mention.count += 1;
            if role > mention.role {
                mention.role = role;
                mention.name = name();
            }
            return;
        }
        self.places.insert(key, self.mentions.len());
        self.mentions.push(Mention { key, name: name(), role, count: 1 });
    }

    /// Adds a name that a triple has, or makes a weaker mention of it one. It is no further occurrence.
    fn raise(&mut self, key: EntityKey, name: &'a str) {
        match self.places.get(&key) {
            Some(&at) if self.mentions[at].role >= Role::Triple => {}
            Some(&at) => {
                let mention = &mut self.mentions[at];
                (mention.role, mention.name) = (Role::Triple, name.into());
            }
            None => self.add(key, Role::Triple, || name.into()),
        }
    }

    fn add_named(&mut self, name: &'a str, role: Role) {
        let folded = fold(name);
        if folded.is_empty() || (role < Role::Link && text::is_stop(&folded)) {
            return;
        }
        let key = EntityKey::of(&folded);
        match folded.rsplit_once(' ') {
            None if role <= Role::Name => self.singles.push((key, folded)),
            Some((_, last)) if role >= Role::Name => {
                self.within.entry(last.to_owned()).or_insert(key);
            }
            None | Some(_) => {}
        }
        self.add(key, role, || name.into());
    }

    /// Adds a title by its names.
    fn add_title(&mut self, title: &'a str) {
        for name in title_names(title) {
            self.add_named(name, Role::Title);
        }
    }

    /// Adds the names of a file: its stem, and its stem with its folder.
    fn add_file(&mut self, path: &'a str) {
        let (folder, stem) = file_name(path);
        self.add_named(stem, Role::Title);
        if let Some(folder) = folder {
            self.add(file_key(folder, stem), Role::Title, || format!("{folder}/{stem}").into());
        }
    }

    /// Adds the targets of `[[wiki links]]` and of Markdown links to files, and e-mail and web addresses.
    fn add_links(&mut self, content: &'a str, path: Option<&str>) {
        for link in written_links(content) {
            match (link.form, link.target.rsplit_once('/')) {
                (LinkForm::Wiki, None) => self.add_named(link.target, Role::Link),
                (LinkForm::Wiki, Some((folder, name))) => {
                    let (_, stem) = file_name(name);
                    let folder = folder.rsplit('/').next().unwrap_or(folder);
                    self.add(file_key(folder, stem), Role::Link, || format!("{folder}/{stem}").into());
                }
                (LinkForm::Markdown, _) => {
                    let own = path.and_then(|path| path.rsplit_once('/')).map_or("", |(folder, _)| folder);
                    let own = if link.target.starts_with('/') { "" } else { own };
                    let whole = linked_path(own, link.target);
                    if let (Some(folder), stem) = file_name(&whole) {
                        self.add(file_key(folder, stem), Role::Link, || format!("{folder}/{stem}").into());
                    }
                }
            }
        }
        let is_around = |c: char| {
            c.is_whitespace() || matches!(c, '<' | '>' | '(' | ')' | '[' | ']' | '"' | ',' | ';' | '`')
        };
        for word in content.split(is_around).filter(|word| word.contains(['@', ':'])) {
            let word = word.trim_end_matches(['.', ':', '!', '?', '\'']);
            let is_mail = word
                .split_once('@')
                .is_some_and(|(user, host)| !user.is_empty() && host.contains('.') && !host.contains('@'));
            let is_handle = word.strip_prefix('@').is_some_and(|name| name.starts_with(char::is_alphabetic));
            let address = word.split_once("://").filter(|(scheme, _)| matches!(*scheme, "http" | "https"));
            if let Some((_, address)) = address {
                let address = address.trim_end_matches('/');
                self.add(EntityKey::of(&address.to_lowercase()), Role::Name, || address.into());
            } else if is_mail || is_handle {
                self.add(EntityKey::of(&word.to_lowercase()), Role::Name, || word.into());
            }
        }
    }

    /// Adds the names, identifiers and quoted phrases of a text.
    fn add_names(&mut self, text: &'a str, role: Role) {
        let words = scan(text);
        let smalls: HashSet<&str> =
            words.iter().filter(|word| word.kind == Kind::Other).map(|word| &text[word.at.clone()]).collect();
        let mut at = 0;
        while at < words.len() {
            let word = &text[words[at].at.clone()];
            if is_identifier(word) {
                self.add(EntityKey::of(&fold(word)), role, || word.into());
                at += 1;
                continue;
            }
            let end = run_end(text, &words, at);
            if end == at {
                at += 1;
                continue;
            }
            // A word that the text also has in lower case is no name (`Information is ... of information`).
            let is_common = end == at + 1 && smalls.contains(word.to_lowercase().as_str());
            if !is_common {
                self.add_run(text, &words, at..end, role);
            }
            at = end;
        }
        self.add_compounds(text, &words);
        self.add_phrases(text, role);
    }

    /// Adds the compounds of a Japanese text as weak mentions: ideographs in a row, and words that stand beside them without a space
    /// (`自動車`, `トヨタ自動車`). Between them are particles in hiragana. In a text without hiragana, whole clauses are in a row.
    fn add_compounds(&mut self, text: &'a str, words: &[ScannedWord]) {
        let has_ideographs = words.iter().any(|word| word.kind == Kind::Ideograph);
        if !has_ideographs || !text.chars().any(|c| matches!(c, 'ぁ'..='ゖ')) {
            return;
        }
        let is_part = |word: &ScannedWord| word.kind != Kind::Other;
        let is_beside =
            |one: &ScannedWord, two: &ScannedWord| one.at.end == two.at.start && is_part(one) && is_part(two);
        for run in words.chunk_by(is_beside).filter(|run| run.len() <= LONGEST_COMPOUND) {
            let ideographs =
                run.iter().filter(|word| word.kind == Kind::Ideograph).map(|word| word.at.clone());
            let whole = run[0].at.start..run[run.len() - 1].at.end;
            let is_compound = run.len() > 1 && run.iter().any(|word| word.kind == Kind::Ideograph);
            for at in ideographs.chain(is_compound.then_some(whole)) {
                let name = &text[at];
                // One ideograph is a word, but seldom a name.
                if (2..=LONGEST_NAME).contains(&name.chars().count()) {
                    self.add_named(name, Role::Part);
                }
            }
        }
    }

    /// Adds the name at some words, and its parts.
    fn add_run(&mut self, text: &'a str, words: &[ScannedWord], run: Range<usize>, role: Role) {
        let Range { start, end } = run;
        let name = |from: usize, to: usize| &text[words[from].at.start..words[to - 1].at.end];
        let count = end - start;
        if count > LONGEST_NAME {
            return;
        }
        let is_weak = count == 1 && (is_by_position(&words[start]) || words[start].kind == Kind::Number);
        self.add_named(name(start, end), if is_weak { Role::Start } else { role });
        if (3..=LONGEST_PARTED).contains(&count) {
            for from in start..end {
                for to in from + 2..=end {
                    let is_whole = (from, to) == (start, end);
                    if !is_whole && is_end(text, &words[from]) && is_end(text, &words[to - 1]) {
                        self.add_named(name(from, to), Role::Part);
                    }
                }
            }
        }
        // A name behind a comma or a conjunction may be the rest of this one.
        let next = match words.get(end) {
            Some(word) if word.before == Before::Comma => end,
            Some(word) if word.before == Before::Space && JOINS.contains(&&text[word.at.clone()]) => end + 1,
            _ => return,
        };
        let rest = run_end(text, words, next);
        let is_joined = rest > next && (next == end || words[next].before == Before::Space);
        if is_joined && rest - start <= LONGEST_NAME {
            self.add_named(name(start, rest), Role::Part);
        }
    }

    /// Adds phrases of two to six words in quotation marks.
    fn add_phrases(&mut self, text: &'a str, role: Role) {
        for (open, close) in
            [('"', '"'), ('“', '”'), ('「', '」'), ('『', '』'), ('《', '》'), ('«', '»'), ('„', '“')]
        {
            let mut at = 0;
            while let Some(start) = text[at..].find(open).map(|offset| at + offset + open.len_utf8()) {
                at = start;
                if open == close && !opens(text, start - open.len_utf8(), start) {
                    continue;
                }
                let Some(end) = text[start..].find(close).map(|offset| start + offset) else { break };
                let inside = &text[start..end];
                if open != close && inside.contains(open) {
                    continue;
                }
                let is_unspaced = !open.is_ascii() && !matches!(open, '“' | '«' | '„');
                let name = without_marks(inside);
                let words = name.split_whitespace().filter(|word| word.contains(char::is_alphanumeric));
                let is_phrase = !inside.contains('\n')
                    && if is_unspaced {
                        inside.chars().count() <= 24
                    } else {
                        (2..=LONGEST_PHRASE).contains(&words.count())
                    };
                if is_phrase {
                    self.add_named(name, role);
                }
                // The mark that ends a quotation begins none, however long it is. A line break says that a mark is missing.
                if is_phrase || !inside.contains('\n') {
                    at = end + close.len_utf8();
                }
            }
        }
    }

    /// Counts a name of one word as an occurrence of the longer name that it ends, where the item has both (`Newton`, `Isaac
    /// Newton`).
    fn join_surnames(&mut self) {
        for (single, folded) in std::mem::take(&mut self.singles) {
            let Some(whole) = self.within.get(&folded) else { continue };
            let (Some(&from), Some(&to)) = (self.places.get(&single), self.places.get(whole)) else {
                continue;
            };
            if self.mentions[from].role <= Role::Name && self.mentions[from].count > 0 {
                self.mentions[from].count -= 1;
                self.mentions[to].count += 1;
            }
        }
        self.mentions.retain(|mention| mention.count > 0);
        self.places = self.mentions.iter().enumerate().map(|(at, mention)| (mention.key, at)).collect();
    }

    /// Adds the subjects and objects of triples, and returns the edges between them. A surname is the whole name here too.
    fn add_triples(&mut self, triples: &'a [SourcedTriple]) -> Vec<TypedEdge<'a>> {
        let mut edges = Vec::with_capacity(triples.len());
        for stated in triples {
            let [from, to] = [&stated.triple.subject, &stated.triple.object].map(|name| {
                let folded = fold(name);
                let whole =
                    self.within.get(&folded).filter(|whole| self.places.contains_key(*whole)).copied();
                let key = whole.unwrap_or_else(|| EntityKey::of(&folded));
                self.raise(key, name);
                key
            });
            if from != to {
                edges.push(TypedEdge { from, stated, to });
            }
        }
        edges
    }

    /// Adds the stems of the words of a text, without stop words.
    fn add_words(&mut self, content: &str) {
        each_word(content, Purpose::Index, |key, word| self.add(key, Role::Word, || word.to_owned().into()));
    }
}

/// Emits the entity of each word of a text, which is that of its stem, with the folded word. Stop words and numbers have none.
pub fn each_word(text: &str, purpose: Purpose, mut emit: impl FnMut(EntityKey, &str)) {
    Analyzer::new(Language::English).each(text, purpose, |found| {
        if is_content_word(&found) {
            emit(EntityKey::of_word(found.term), found.folded);
        }
        ControlFlow::Continue(())
    });
}

/// Whether a term is a word, and neither a stop word nor a number.
pub(super) fn is_content_word(found: &TermOccurrence<'_>) -> bool {
    let is_word = found.shape == TermShape::Word && !found.term.bytes().all(|b| b.is_ascii_digit());
    is_word && !text::is_stop(found.folded)
}

/// Returns the end of the name that starts at a word; the word itself if none does.
fn run_end(text: &str, words: &[ScannedWord], start: usize) -> usize {
    let Some(first) = words.get(start) else { return start };
    let begins = match first.kind {
        Kind::Capital => is_end(text, first),
        // `20th Century Fox`, but not `In 1994 Clinton`.
        Kind::Number => {
            let is_ordinal = text[first.at.clone()].contains(char::is_alphabetic);
            is_ordinal && words.get(start + 1).is_some_and(|next| is_next(next, Kind::Capital))
        }
        Kind::Katakana => true,
        Kind::Ideograph | Kind::Other => false,
    };
    if !begins {
        return start;
    }
    let mut end = start + 1;
    let mut at = end;
    while let Some(word) = words.get(at).filter(|word| word.before == Before::Space) {
        match word.kind {
            Kind::Capital | Kind::Katakana => {
                at += 1;
                // A stop word with a capital (`The`) goes on, and does not end the name.
                if is_end(text, word) {
                    end = at;
                }
            }
            Kind::Number => {
                at += 1;
                end = at;
            }
            Kind::Other if at < end + 2 && text::is_particle(&text[word.at.clone()]) => at += 1,
            Kind::Ideograph | Kind::Other => break,
        }
    }
    end
}

/// Whether a word may have its capital only because it begins a sentence.
pub(super) fn is_by_position(word: &ScannedWord) -> bool {
    word.before == Before::Sentence && word.kind == Kind::Capital
}

fn is_next(word: &ScannedWord, kind: Kind) -> bool {
    word.before == Before::Space && word.kind == kind
}

/// Whether a name can begin and end with a word: it is no particle, and a stop word only if it is an acronym (`US`).
fn is_end(text: &str, word: &ScannedWord) -> bool {
    let word = &text[word.at.clone()];
    let is_acronym = word.chars().filter(|c| c.is_uppercase()).count() > 1;
    let folded = text::fold_word(word);
    is_acronym || !(text::is_stop(&folded) || text::is_particle(word) || folded.len() < 2)
}

/// Whether a quotation mark that looks the same on both sides begins a quotation: behind a space or another mark, and before a word.
/// `start` is where it begins, in bytes, and `end` where it ends.
fn opens(text: &str, start: usize, end: usize) -> bool {
    let follows_word = text[..start].chars().next_back().is_some_and(char::is_alphanumeric);
    !follows_word && text[end..].chars().next().is_some_and(|next| !next.is_whitespace())
}

/// Returns a quoted phrase without the punctuation around it. Brackets stay, and the last signs of names such as `C++`.
fn without_marks(phrase: &str) -> &str {
    let is_mark = |c: char| {
        !(c.is_alphanumeric() || is_combining_mark(c) || matches!(c, '(' | ')' | '[' | ']' | '（' | '）'))
    };
    phrase.trim_start_matches(is_mark).trim_end_matches(|c| is_mark(c) && !matches!(c, '+' | '#'))
}

/// Whether a word is an identifier: `snake_case`, `camelCase`, but no `Name` or `ACRONYM`.
fn is_identifier(word: &str) -> bool {
    let has_inner_capital =
        word.chars().zip(word.chars().skip(1)).any(|(one, two)| one.is_lowercase() && two.is_uppercase());
    word.trim_matches('_').contains('_') || (has_inner_capital && !word.contains(['-', '.', '’', '\'']))
}

/// Returns the names that a title gives its document: the title without what stands in parentheses, and its part before a comma.
pub(super) fn title_names(title: &str) -> impl Iterator<Item = &str> {
    let mut plain = title.trim();
    if let Some((before, rest)) = plain.split_once(['(', '（'])
        && rest.ends_with([')', '）'])
        && !before.trim().is_empty()
    {
        plain = before.trim();
    }
    [Some(plain), plain.split_once(',').map(|(before, _)| before)].into_iter().flatten()
}

/// Returns the folder's name, if there is one, and the name without its extension of the file at a path.
pub(super) fn file_name(path: &str) -> (Option<&str>, &str) {
    let (folder, name) = match path.trim_end_matches('/').rsplit_once('/') {
        Some((folder, name)) => (folder.rsplit('/').next(), name),
        None => (None, path),
    };
    let stem = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map_or(name, |(stem, _)| stem);
    (folder.filter(|folder| !folder.is_empty()), stem)
}

/// Returns the key of the file at a path with a folder; `None` for a name without one.
pub fn path_key(path: &str) -> Option<EntityKey> {
    let (folder, stem) = file_name(path);
    folder.map(|folder| file_key(folder, stem))
}

/// Returns the key of a file, which is its stem with the name of its folder: it stays when a tree of folders moves.
fn file_key(folder: &str, stem: &str) -> EntityKey {
    EntityKey::of(&format!("{}/{}", folder.to_lowercase(), stem.to_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The entities that a text mentions in a role.
    fn names(content: &str, role: Role) -> Vec<EntityKey> {
        let found = mentions(&ItemText { content, ..ItemText::default() });
        found.into_iter().filter(|one| one.role == role).map(|one| one.key).collect()
    }

    fn key(name: &str) -> EntityKey {
        EntityKey::of(&fold(name))
    }

    #[track_caller]
    fn check(content: &str, role: Role, expected: &[&str]) {
        let expected: Vec<EntityKey> = expected.iter().map(|name| key(name)).collect();
        assert_eq!(names(content, role), expected, "{content}");
    }

    #[test]
    fn capitalised_runs_are_names() {
        check("We met Ada in Port Blair.", Role::Name, &["Ada", "Port Blair"]);
        check("We met Ada in Port Blair.", Role::Part, &["Ada in Port Blair"]);
        check("Walking is fun.", Role::Name, &[]);
        check("Walking is fun.", Role::Start, &["Walking"]);
        check("Information is more than a sum of information.", Role::Start, &[]);
        check("The Bay of Bengal is deep", Role::Name, &["Bay of Bengal"]);
        check("it was Springfield, Illinois", Role::Part, &["Springfield, Illinois"]);
        check("the 20th Century Fox logo of 1994", Role::Name, &["20th Century Fox"]);
        check("he calls find_user and parseTree for NASA", Role::Name, &["find_user", "parseTree", "NASA"]);
        check("A song “a hard rain” by X", Role::Name, &["a hard rain"]);
        check("映画「七人の侍」を見た", Role::Name, &["七人の侍"]);
        check(
            "昨日レオナルド・ダ・ヴィンチのモナ・リザを見た",
            Role::Name,
            &["レオナルド・ダ・ヴィンチ", "モナ・リザ"],
        );
        check("トヨタ自動車は東京に工場を持つ", Role::Name, &["トヨタ"]);
        check("トヨタ自動車は東京に工場を持つ", Role::Part, &["自動車", "トヨタ自動車", "東京", "工場"]);
        check("北京大学位于北京市海淀区", Role::Part, &[]);
        check("", Role::Name, &[]);
    }

    /// The quoted phrases of a text without capitals, in order.
    #[track_caller]
    fn check_phrases(content: &str, expected: &[&str]) {
        let found = mentions(&ItemText { content, ..ItemText::default() });
        let names: Vec<&str> =
            found.iter().filter(|one| one.role == Role::Name).map(|one| &*one.name).collect();
        assert_eq!(names, expected, "{content}");
    }

    /// What stands between two quotations is none.
    #[test]
    fn a_quotation_ends_where_its_mark_does() {
        check_phrases(
            "\"the seven long words of this one sentence\", german: \"der lange satz\"",
            &["der lange satz"],
        );
        check_phrases("so \"love\", that is, \"a hard rain\" falls", &["a hard rain"]);
        check_phrases("\"really?\", he said, \"a hard rain\" falls", &["a hard rain"]);
        check_phrases("a 5\" pipe with \"a hard rain\" in it", &["a hard rain"]);
        check_phrases("a missing \"mark\nand \"a hard rain\" in it", &["a hard rain"]);
        check_phrases("the mark \" alone, \"a hard rain\", the end \"", &["a hard rain"]);
        check_phrases("“one “two words” more” and “a hard rain”", &["two words", "a hard rain"]);
    }

    #[test]
    fn a_quoted_name_has_no_punctuation_around_it() {
        check_phrases("\"a hard rain,\" he said", &["a hard rain"]);
        check_phrases("“... a hard rain!” and \"— so it ends.\"", &["so it ends", "a hard rain"]);
        check_phrases("\", german\" and “german:  ” and \"? !\"", &[]);
        check_phrases("\"love (a song)\" in \"modern c++\"", &["love (a song)", "modern c++"]);
        check_phrases("「七人の侍！」", &["七人の侍"]);
    }

    #[test]
    fn a_surname_counts_as_the_whole_name_within_one_text() {
        let found = mentions(&ItemText {
            content: "it was Sir Isaac Newton, and Newton knew",
            ..ItemText::default()
        });
        let found: Vec<_> = found.iter().map(|one| (one.key, one.role, one.count)).collect();
        let expected = [
            (key("Sir Isaac Newton"), Role::Name, 2),
            (key("Sir Isaac"), Role::Part, 1),
            (key("Isaac Newton"), Role::Part, 1),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn titles_links_tags_and_addresses_are_entities() {
        let source = ItemText {
            document: Some("d"),
            title: Some("Gamma (Greek), a letter"),
            path: Some("vault/notes/gamma.md"),
            content: "See [[Beta|the second]], [[notes/delta#top]], [e](../other/eps%20ilon.md#x), [web](https://a.org/b/) and \
                      ann@b.org, @bob.",
            tags: &["infra/db".to_owned()],
            ..ItemText::default()
        };
        let found = mentions(&source);
        let of = |role: Role| -> Vec<EntityKey> {
            let mut keys: Vec<_> = found.iter().filter(|one| one.role == role).map(|one| one.key).collect();
            keys.sort_unstable();
            keys
        };
        let keys = |folded: &[&str]| -> Vec<EntityKey> {
            let mut keys: Vec<_> = folded.iter().map(|name| EntityKey::of(name)).collect();
            keys.sort_unstable();
            keys
        };
        // What is not at the title's end is no comment on it.
        assert_eq!(of(Role::Title), keys(&["gamma greek a letter", "gamma greek", "gamma", "notes/gamma"]));
        assert_eq!(of(Role::Link), keys(&["beta", "notes/delta", "other/eps ilon"]));
        assert_eq!(of(Role::Tag), [EntityKey::of_tag("infra/db")]);
        let addresses = keys(&["a.org/b", "ann@b.org", "@bob"]);
        assert!(addresses.iter().all(|key| of(Role::Name).contains(key)), "{found:?}");
    }

    #[test]
    fn spellings_of_one_name_are_one_entity() {
        assert_eq!(key("Gödel's"), key("godel"));
        assert_eq!(key("Jean-Luc  Picard"), key("jean luc picard"));
        assert_eq!(key("find_user"), key("findUser"));
        assert_ne!(key("find_user"), key("find user"));
        assert!(fold("...").is_empty());
    }

    #[test]
    fn wild_input_is_bounded() {
        let long = "A".repeat(10_000);
        for content in [
            "It",
            "'; DROP TABLE",
            "[[",
            "](",
            "\"\"\"",
            "[[a|",
            "@",
            "://",
            &long,
            &"Ada Lovelace ".repeat(500),
        ] {
            let source =
                ItemText { title: Some(content), path: Some(content), content, ..ItemText::default() };
            let encoded = encode(&ItemText { tags: std::slice::from_ref(&long), has_words: true, ..source });
            assert!(encoded.len() <= 4 + 8 * MOST_MENTIONS, "{} bytes", encoded.len());
        }
        assert!(
            mentions(&ItemText { title: Some("It"), content: "", ..ItemText::default() })
                .iter()
                .all(|one| one.role == Role::Title)
        );
    }

    proptest::proptest! {
        #[test]
        fn no_text_is_refused(content in "\\PC{0,200}", title in "\\PC{0,20}", path in "[a-z/.]{0,20}") {
            let source = ItemText { title: Some(&title), path: Some(&path), content: &content, ..ItemText::default() };
            let encoded = encode(&ItemText { has_words: true, ..source });
            proptest::prop_assert!(super::super::segment::split(&encoded).is_some());
        }
    }
}
