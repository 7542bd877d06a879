//! Finds the document to which a link leads, among all documents by their paths, titles and other names.
//! Names are compared as the graph compares them. Where several documents have a name, the nearest folder decides.

use std::collections::{HashMap, HashSet};

use super::entity::{EntityKey, fold};
use super::extract::{file_name, title_names};
use super::links::{LinkForm, WrittenLink};
use crate::item::linked_path;

/// A document to which links may lead.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkDocument {
    /// Its path.
    pub path: String,
    /// Its title.
    pub title: Option<String>,
    /// Its other names.
    pub aliases: Vec<String>,
}

/// Where a link leads. Numbers are positions in the list of documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkEnd {
    /// A document.
    Document(usize),
    /// A folder that has documents.
    Folder,
    /// Several documents of that name in equally near folders, the first of each path, ascending.
    Ambiguous(Vec<usize>),
    /// No document. Some have the same file name at another path; none if there are too many.
    Nowhere(Vec<usize>),
}

/// Documents by the names that links may use.
#[derive(Debug, Default)]
pub struct LinkIndex {
    /// Paths in lower case with `/` between their parts and none at the start.
    paths: Vec<String>,
    /// Paths as written, to tell apart files that differ in case only.
    exact: Vec<String>,
    by_path: HashMap<String, Vec<usize>>,
    /// By file name, with and without its extension.
    by_file: HashMap<String, Vec<usize>>,
    by_title: HashMap<String, Vec<usize>>,
    by_alias: HashMap<String, Vec<usize>>,
    /// By the entity of file names, titles and aliases.
    by_entity: HashMap<EntityKey, Vec<usize>>,
    folders: HashSet<String>,
    /// The ends of their paths.
    folder_ends: HashSet<String>,
}

/// Most documents that are offered for a link that leads nowhere.
const MOST_OFFERED: usize = 5;

impl LinkIndex {
    /// Reads the names of documents.
    pub fn new(documents: &[LinkDocument]) -> Self {
        let mut index = Self::default();
        for (at, document) in documents.iter().enumerate() {
            index.push(at, document);
        }
        index
    }

    fn push(&mut self, at: usize, document: &LinkDocument) {
        let exact = normal(&document.path);
        let path = exact.to_lowercase();
        let (mut folder, file) = path.rsplit_once('/').unwrap_or(("", &path));
        let (_, stem) = file_name(file);
        add(&mut self.by_path, path.clone(), at);
        add(&mut self.by_file, file.to_owned(), at);
        add(&mut self.by_file, stem.to_owned(), at);
        let title = document.title.as_deref().unwrap_or_default().trim();
        if !title.is_empty() {
            add(&mut self.by_title, title.to_lowercase(), at);
        }
        for alias in &document.aliases {
            add(&mut self.by_alias, alias.trim().to_lowercase(), at);
        }
        let names = title_names(title).chain([stem]).chain(document.aliases.iter().map(String::as_str));
        for folded in names.map(fold).filter(|folded| !folded.is_empty()) {
            add(&mut self.by_entity, EntityKey::of(&folded), at);
        }
        while !folder.is_empty() && self.folders.insert(folder.to_owned()) {
            let ends = folder.match_indices('/').map(|(slash, _)| &folder[slash + 1..]).chain([folder]);
            self.folder_ends.extend(ends.map(str::to_owned));
            folder = folder.rsplit_once('/').map_or("", |(above, _)| above);
        }
        self.paths.push(path);
        self.exact.push(exact);
    }

    /// Finds where a link in the document at a path leads.
    pub fn resolve(&self, from: &str, link: &WrittenLink<'_>) -> LinkEnd {
        let from = normal(from);
        let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
        match link.form {
            LinkForm::Wiki => self.named(folder, link.target),
            LinkForm::Markdown => self.addressed(&from, link.target),
        }
    }

    /// Finds the document of a wiki link: by its path or file name, else its title, else an alias, else a name that the graph takes
    /// for the same.
    fn named(&self, folder: &str, target: &str) -> LinkEnd {
        let target = target.replace('\\', "/");
        let lower = target.to_lowercase();
        let found = if lower.contains('/') {
            let is_relative = is_relative(&lower);
            let written =
                if is_relative { linked_path(&folder.to_lowercase(), &lower) } else { normal(&lower) };
            let (_, last) = lower.rsplit_once('/').unwrap_or(("", &lower));
            let mut found = with(&self.by_file, last).to_vec();
            found.retain(|&at| ends_with(&self.paths[at], &written));
            let is_titled = !with(&self.by_title, &lower).is_empty();
            if found.is_empty() && !is_titled && self.folder_ends.contains(&written) {
                return LinkEnd::Folder;
            }
            found
        } else {
            with(&self.by_file, &lower).to_vec()
        };
        let key = EntityKey::of(&fold(&target));
        let entity = || self.by_entity.get(&key).map(Vec::as_slice).unwrap_or_default();
        let found = [found.as_slice(), with(&self.by_title, &lower), with(&self.by_alias, &lower), entity()]
            .into_iter()
            .find(|found| !found.is_empty());
        if let Some(found) = found {
            return self.nearest(folder, found);
        }
        let last = lower.rsplit('/').next().unwrap_or(&lower);
        LinkEnd::Nowhere(self.offered(with(&self.by_file, last)))
    }

    /// Finds the document at an address.
    fn addressed(&self, from: &str, address: &str) -> LinkEnd {
        for path in tried_paths(from, address) {
            if let Some(end) = self.at(from, &path) {
                return end;
            }
        }
        let whole = tried_paths(from, address).next().unwrap_or_default().to_lowercase();
        let file = whole.rsplit('/').next().unwrap_or_default();
        LinkEnd::Nowhere(self.offered(with(&self.by_file, file)))
    }

    /// Returns the document at a path, with another extension or none too (`guide`, `guide.html`), or its folder.
    fn at(&self, from: &str, path: &str) -> Option<LinkEnd> {
        let lower = path.to_lowercase();
        let all = with(&self.by_path, &lower);
        let exact: Vec<usize> = all.iter().copied().filter(|&at| self.exact[at] == path).collect();
        let found = if exact.is_empty() { all } else { &exact };
        if !found.is_empty() {
            return Some(self.one_of(found.to_vec()));
        }
        if self.folders.contains(&lower) {
            return Some(LinkEnd::Folder);
        }
        let (folder, file) = lower.rsplit_once('/').unwrap_or(("", &lower));
        if file.is_empty() {
            return None;
        }
        let beside = |name: &str| -> Vec<usize> {
            let here =
                |at: &usize| self.paths[*at].rsplit_once('/').map_or("", |(folder, _)| folder) == folder;
            with(&self.by_file, name).iter().copied().filter(here).collect()
        };
        let mut found = beside(file);
        if found.is_empty() {
            found = beside(file_name(file).1);
        }
        // Of several formats, that of the linking text is meant.
        let extension = |path: &str| path.rsplit_once('.').map(|(_, extension)| extension.to_lowercase());
        let same: Vec<usize> =
            found.iter().copied().filter(|&at| extension(&self.paths[at]) == extension(from)).collect();
        let found = if same.is_empty() { found } else { same };
        (!found.is_empty()).then(|| self.one_of(found))
    }

    /// Chooses the documents in the nearest folder.
    fn nearest(&self, folder: &str, found: &[usize]) -> LinkEnd {
        let folder = folder.to_lowercase();
        let distance =
            |at: usize| steps(&folder, self.paths[at].rsplit_once('/').map_or("", |(folder, _)| folder));
        let least = found.iter().map(|&at| distance(at)).min().unwrap_or_default();
        self.one_of(found.iter().copied().filter(|&at| distance(at) == least).collect())
    }

    /// A path that several collections have is one document.
    fn one_of(&self, mut found: Vec<usize>) -> LinkEnd {
        let mut seen = HashSet::new();
        found.sort_unstable();
        found.retain(|&at| seen.insert(self.exact[at].as_str()));
        match *found.as_slice() {
            [one] => LinkEnd::Document(one),
            _ => LinkEnd::Ambiguous(found),
        }
    }

    fn offered(&self, found: &[usize]) -> Vec<usize> {
        match self.one_of(found.to_vec()) {
            LinkEnd::Document(one) => vec![one],
            LinkEnd::Ambiguous(all) if all.len() <= MOST_OFFERED => all,
            LinkEnd::Ambiguous(_) | LinkEnd::Folder | LinkEnd::Nowhere(_) => Vec::new(),
        }
    }
}

fn add<K: std::hash::Hash + Eq>(names: &mut HashMap<K, Vec<usize>>, name: K, at: usize) {
    let all = names.entry(name).or_default();
    if all.last() != Some(&at) {
        all.push(at);
    }
}

fn with<'a>(names: &'a HashMap<String, Vec<usize>>, name: &str) -> &'a [usize] {
    names.get(name).map(Vec::as_slice).unwrap_or_default()
}

/// Returns a path with `/` between its parts, and none at its ends.
fn normal(path: &str) -> String {
    path.replace('\\', "/").trim_matches('/').to_owned()
}

/// Returns the paths that the address of a Markdown link may mean, without the slash at their start: from the folder of the linking
/// document, else from the folders above it, the nearest first. One of these may be the root of a vault or a site.
pub fn tried_paths(from: &str, address: &str) -> impl Iterator<Item = String> {
    let from = normal(from);
    let address = address.split('?').next().unwrap_or(address).replace('\\', "/");
    let own = from.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
    let bases = std::iter::successors(Some(own), {
        // The way up from the text's own folder is written.
        let goes_up = !is_relative(&address);
        move |base| above(base).filter(|_| goes_up).map(str::to_owned)
    });
    bases.map(move |base| linked_path(&base, &address))
}

/// Whether an address begins at the text's own folder.
fn is_relative(address: &str) -> bool {
    matches!(address.split('/').next(), Some("." | ".."))
}

/// Returns the folder above a folder; `None` for the topmost.
fn above(folder: &str) -> Option<&str> {
    if folder.is_empty() { None } else { Some(folder.rsplit_once('/').map_or("", |(above, _)| above)) }
}

/// Whether a path, with or without its extension, ends with a written one.
fn ends_with(path: &str, written: &str) -> bool {
    let stem = path.len() - path.rsplit('/').next().map_or(0, str::len) + file_name(path).1.len();
    ends_with_parts(path, written) || ends_with_parts(&path[..stem], written)
}

fn ends_with_parts(path: &str, end: &str) -> bool {
    path.strip_suffix(end).is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

/// Returns the number of steps up and down from one folder to another.
fn steps(from: &str, to: &str) -> usize {
    let parts = |folder: &str| folder.split('/').filter(|part| !part.is_empty()).count();
    let shared =
        from.split('/').zip(to.split('/')).take_while(|(one, two)| one == two && !one.is_empty()).count();
    parts(from) + parts(to) - 2 * shared
}

#[cfg(test)]
mod tests {
    use super::super::links::written_links;
    use super::*;

    fn documents(all: &[(&str, &str, &[&str])]) -> Vec<LinkDocument> {
        let document = |(path, title, aliases): &(&str, &str, &[&str])| LinkDocument {
            path: (*path).to_owned(),
            title: Some((*title).to_owned()).filter(|title| !title.is_empty()),
            aliases: aliases.iter().map(|&alias| alias.to_owned()).collect(),
        };
        all.iter().map(document).collect()
    }

    /// Where a link leads: paths, `folder`, or `nowhere` with the offered paths.
    fn end(all: &[LinkDocument], from: &str, written: &str) -> String {
        let links = written_links(written);
        let paths =
            |ends: &[usize]| ends.iter().map(|&at| all[at].path.as_str()).collect::<Vec<_>>().join(" or ");
        match LinkIndex::new(all).resolve(from, &links[0]) {
            LinkEnd::Document(at) => all[at].path.clone(),
            LinkEnd::Folder => "folder".to_owned(),
            LinkEnd::Ambiguous(ends) => paths(&ends),
            LinkEnd::Nowhere(near) => format!("nowhere {}", paths(&near)).trim().to_owned(),
        }
    }

    #[test]
    fn a_wiki_link_leads_to_a_name_in_the_nearest_folder() {
        let all = documents(&[
            ("/v/gamma.md", "The Third", &["Tertia"]),
            ("/v/a/gamma.md", "It", &[]),
            ("/v/b/gamma.md", "It", &[]),
            ("/v/b/delta.md", "Gamma ray", &[]),
            ("/v/b/node.js.md", "", &[]),
            ("/v/a/it's.md", "Ports, of old", &["'; DROP TABLE"]),
        ]);
        let check = |from: &str, written: &str, expected: &str| {
            assert_eq!(end(&all, from, written), expected, "{from} {written}");
        };
        check("/v/a/x.md", "[[Gamma]]", "/v/a/gamma.md");
        check("/v/x.md", "[[gamma.md]]", "/v/gamma.md");
        check("/v/c/d/x.md", "[[Gamma]]", "/v/gamma.md");
        check("/v/x.md", "[[It]]", "/v/a/gamma.md or /v/b/gamma.md");
        check("/v/b/x.md", "[[It]]", "/v/b/gamma.md");
        check("/v/b/gamma.md", "[[It]]", "/v/b/gamma.md");
        check("/v/x.md", "[[tertia]]", "/v/gamma.md");
        check("/v/x.md", "[[a/Gamma]]", "/v/a/gamma.md");
        check("/v/b/x.md", "[[../a/gamma]]", "/v/a/gamma.md");
        check("/v/b/x.md", "[[v/gamma.md]]", "/v/gamma.md");
        check("/v/x.md", "[[Node.js]]", "/v/b/node.js.md");
        check("/v/x.md", "[[Gamma-Ray]]", "/v/b/delta.md");
        check("/v/x.md", "[['; DROP TABLE]]", "/v/a/it's.md");
        check("/v/x.md", "[[Ports]]", "/v/a/it's.md");
        check("/v/x.md", "[[v/b]]", "folder");
        check("/v/x.md", "[[c/gamma]]", "nowhere /v/gamma.md or /v/a/gamma.md or /v/b/gamma.md");
        check("/v/x.md", "[[Epsilon]]", "nowhere");
        check("/v/x.md", "[[!!!]]", "nowhere");
    }

    #[test]
    fn a_name_of_its_own_goes_before_a_title() {
        let all = documents(&[("/v/it.md", "Foo", &[]), ("/w/foo.md", "Bar", &["It"])]);
        assert_eq!(end(&all, "/v/x.md", "[[Foo]]"), "/w/foo.md");
        assert_eq!(end(&all, "/w/x.md", "[[it]]"), "/v/it.md");
        let same = documents(&[("/v/a.md", "T", &[]), ("/v/a.md", "T", &[]), ("/v/b.md", "T", &[])]);
        assert_eq!(end(&same, "/v/x.md", "[[a]]"), "/v/a.md", "a path in two collections");
        assert_eq!(end(&same, "/v/a.md", "[[T]]"), "/v/a.md or /v/b.md");
    }

    #[test]
    fn an_address_leads_to_a_path() {
        let all = documents(&[
            ("/v/guide/README.md", "", &[]),
            ("/v/guide/a b.md", "", &[]),
            ("/v/api.rst", "", &[]),
            ("/v/api.md", "", &[]),
            ("/v/Case.md", "", &[]),
            ("/v/case.md", "", &[]),
            ("C:\\w\\x.md", "", &[]),
        ]);
        let check = |from: &str, address: &str, expected: &str| {
            assert_eq!(end(&all, from, &format!("[x]({address})")), expected, "{from} {address}");
        };
        check("/v/x.md", "guide/README.md#top", "/v/guide/README.md");
        check("/v/x.md", "./guide/a%20b.md", "/v/guide/a b.md");
        check("/v/guide/x.md", "../api.rst", "/v/api.rst");
        check("/v/guide/x.md", "../api", "/v/api.md");
        check("/v/guide/x.rst", "../api.html?x=1", "/v/api.rst");
        check("/v/guide/x.txt", "../api", "/v/api.rst or /v/api.md");
        check("/v/x.md", "guide/", "folder");
        check("/v/x.md", "Case.md", "/v/Case.md");
        check("/v/x.md", "CASE.md", "/v/Case.md or /v/case.md");
        check("/v/guide/deep/x.md", "guide/README.md", "/v/guide/README.md");
        check("/v/guide/deep/x.md", "/guide/readme.md", "/v/guide/README.md");
        check("/v/guide/deep/x.md", "./README.md", "nowhere /v/guide/README.md");
        check("/v/x.md", "../../../../gone.md", "nowhere");
        check("C:\\w\\y.md", "x.md", "C:\\w\\x.md");
        check("", "x.md", "nowhere C:\\w\\x.md");
    }

    proptest::proptest! {
        #[test]
        fn any_link_is_resolved(text in "(\\[\\[|\\]\\]|\\]\\(|[a-z./\\\\#|é( )]){0,40}", from in "[a-z/.\\\\]{0,12}") {
            let all = documents(&[("/a/b.md", "C", &["d"]), ("b", "", &[]), ("", "", &[""])]);
            let index = LinkIndex::new(&all);
            for link in written_links(&text) {
                proptest::prop_assert!(text[link.at..].starts_with('[') || text[link.at..].starts_with(']'));
                index.resolve(&from, &link);
            }
        }
    }
}
