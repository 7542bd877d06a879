//! Compares the public API of the crate with its committed listing, `api.txt`.
//!
//! The listing is read from the sources: what `pub mod` and `pub use` reach from `lib.rs`, without features. A line has a module or a
//! type, then a kind, a name and a signature.

use quote::ToTokens;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use syn::{Attribute, Field, Fields, Ident, ImplItem, Item, TraitItem, Type, UseTree, Visibility};

/// A module by its path from the crate's root, which is empty.
type Module = Vec<String>;

/// Where an item is defined: its module and its name there.
type Place = (Module, String);

/// The crate's modules with their items, private ones too, and the methods of its types by where each type is defined.
#[derive(Default)]
struct Sources {
    modules: BTreeMap<Module, Vec<Item>>,
    methods: BTreeMap<Place, Vec<ImplItem>>,
}

impl Sources {
    fn read(root: &Path) -> Self {
        let mut sources = Self::default();
        sources.add(Vec::new(), items(&root.join("lib")), root);
        let mut methods: BTreeMap<_, Vec<ImplItem>> = BTreeMap::new();
        for (module, items) in &sources.modules {
            let impls = items.iter().filter_map(|item| match item {
                Item::Impl(one) if one.trait_.is_none() => Some(one),
                _ => None,
            });
            for one in impls {
                let Type::Path(path) = &*one.self_ty else { continue };
                let path = path.path.segments.iter().map(|part| part.ident.to_string()).collect::<Vec<_>>();
                if let Some(place) = sources.find(module, &path) {
                    methods.entry(place).or_default().extend(one.items.iter().cloned());
                }
            }
        }
        sources.methods = methods;
        sources
    }

    /// Adds a module and those below it, which are in `folder`.
    fn add(&mut self, module: Module, items: Vec<Item>, folder: &Path) {
        let mut kept = Vec::new();
        for item in items.into_iter().filter(|item| !is_conditional(head(item).2)) {
            match item {
                Item::Macro(made) if made.mac.path.is_ident("words") => {
                    kept.extend(words(&made.mac.tokens.to_string()));
                }
                Item::Mod(mut inner) => {
                    let name = inner.ident.to_string();
                    let below = folder.join(&name);
                    let found = inner.content.take().map_or_else(|| self::items(&below), |(_, items)| items);
                    self.add([&module[..], &[name]].concat(), found, &below);
                    kept.push(Item::Mod(inner));
                }
                other => kept.push(other),
            }
        }
        self.modules.insert(module, kept);
    }

    /// The module and name where what a path names in a module is defined; `None` outside of the crate.
    fn find(&self, here: &[String], path: &[String]) -> Option<Place> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => return self.find(&[], rest),
            "self" => return self.find(here, rest),
            "super" => return self.find(&here[..here.len() - 1], rest),
            _ => {}
        }
        let child = [here, std::slice::from_ref(first)].concat();
        if self.modules.contains_key(&child) && !rest.is_empty() {
            return self.find(&child, rest);
        }
        let items = &self.modules[here];
        // A private module may have the name of what it exports.
        let is_hidden = |item: &&Item| matches!(item, Item::Mod(one) if !is_visible(&one.vis));
        let mut names = items.iter().filter(|item| !is_hidden(item)).filter_map(|item| head(item).0);
        if rest.is_empty() && names.any(|name| name == first) {
            return Some((here.to_vec(), first.clone()));
        }
        let is_it = |(name, path): &(String, Vec<String>)| {
            name == first && (path[0] != *first || self.modules.contains_key(&child))
        };
        let import = items.iter().flat_map(imports).find(is_it)?;
        self.find(here, &[&import.1[..], rest].concat())
    }

    /// Adds the lines of a module that is shown by a path: its modules first, so that a type is listed where it is defined.
    fn list(&self, module: &[String], shown: &str, listing: &mut Listing) {
        let mut names: Vec<(String, Result<Place, Vec<String>>)> = Vec::new();
        for item in self.modules[module].iter().filter(|item| head(item).1.is_some_and(is_visible)) {
            names
                .extend(head(item).0.map(|name| (name.to_string(), Ok((module.to_vec(), name.to_string())))));
            let found = |path: Vec<String>| self.find(module, &path).ok_or(path);
            names.extend(imports(item).into_iter().map(|(name, path)| (name, found(path))));
        }
        let inner = |(parent, own): &Place| [&parent[..], std::slice::from_ref(own)].concat();
        let is_module = |place: &Place| self.modules.contains_key(&inner(place));
        names.sort_by_key(|(_, place)| !place.as_ref().is_ok_and(is_module));
        for (name, place) in names {
            match place {
                Err(path) => listing.line(shown, &format!("use {} as {name}", path.join("::"))),
                Ok(place) if is_module(&place) => {
                    listing.line(shown, &format!("mod {name}"));
                    self.list(&inner(&place), &format!("{shown}::{name}"), listing);
                }
                Ok(place) => self.list_item(&place, shown, &name, listing),
            }
        }
    }

    /// Adds the lines of an item; where it is listed already, a line that says so.
    fn list_item(&self, place: &Place, shown: &str, name: &str, listing: &mut Listing) {
        let inside = format!("{shown}::{name}");
        if let Some(other) = listing.listed.get(place) {
            let line = format!("use {} as {name}", other.trim_start_matches(':'));
            return listing.line(shown, &line);
        }
        for item in
            self.modules[&place.0].iter().filter(|item| head(item).0.is_some_and(|own| *own == place.1))
        {
            let (line, members) = lines(item, name);
            listing.line(shown, &line);
            for line in &members {
                listing.line(&inside, line);
            }
        }
        for item in self.methods.get(place).into_iter().flatten() {
            match item {
                ImplItem::Fn(one) if is_visible(&one.vis) && !is_conditional(&one.attrs) => {
                    listing.line(&inside, &text(&one.sig));
                }
                ImplItem::Const(one) if is_visible(&one.vis) => {
                    listing.line(&inside, &format!("const {}: {}", one.ident, text(&one.ty)));
                }
                _ => {}
            }
        }
        listing.listed.insert(place.clone(), inside);
    }
}

/// The lines so far, and where each item is listed.
#[derive(Default)]
struct Listing {
    lines: BTreeSet<String>,
    listed: BTreeMap<Place, String>,
}

impl Listing {
    fn line(&mut self, inside: &str, what: &str) {
        self.lines.insert(format!("{inside} {what}").trim_start_matches([':', ' ']).to_owned());
    }
}

/// An item's line under a name, and the lines of what is public in it.
fn lines(item: &Item, name: &str) -> (String, Vec<String>) {
    match item {
        Item::Struct(one) => {
            let visible = one.fields.iter().enumerate().filter(|(_, field)| is_visible(&field.vis));
            let members = visible.map(|(nth, field)| format!("field {}", named(nth, field))).collect();
            (format!("struct {name}{}", text(&one.generics)), members)
        }
        Item::Enum(one) => {
            let members =
                one.variants.iter().map(|one| format!("variant {}{}", one.ident, fields(&one.fields)));
            (format!("enum {name}{}", text(&one.generics)), members.collect())
        }
        Item::Trait(one) => {
            let methods = one.items.iter().filter_map(|item| match item {
                TraitItem::Fn(method) => Some(text(&method.sig)),
                _ => None,
            });
            (format!("trait {name}{}: {}", text(&one.generics), text(&one.supertraits)), methods.collect())
        }
        Item::Fn(one) => {
            let (own, shown) = (format!("fn {}", one.sig.ident), format!("fn {name}"));
            (text(&one.sig).replacen(&own, &shown, 1), Vec::new())
        }
        Item::Const(one) => (format!("const {name}: {}", text(&one.ty)), Vec::new()),
        Item::Type(one) => (format!("type {name}{} = {}", text(&one.generics), text(&one.ty)), Vec::new()),
        other => panic!("the listing has no line for {}", text(other)),
    }
}

/// The items of the module whose folder would be `below`.
fn items(below: &Path) -> Vec<Item> {
    let beside = below.with_extension("rs");
    let file = if beside.exists() { beside } else { below.join("mod.rs") };
    let source = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    syn::parse_file(&source).unwrap_or_else(|error| panic!("{}: {error}", file.display())).items
}

/// What `words!` of `item.rs` makes: an enum with its words.
fn words(tokens: &str) -> Vec<Item> {
    let (head, body) = tokens.split_once('{').expect("a list of words");
    let name = head.rsplit(',').nth(1).and_then(|name| name.split_whitespace().last()).expect("a name");
    let made = "pub const ALL: &'static [Self] = &[]; pub const fn word(self) -> &'static str {}";
    let source = format!("pub enum {name} {{ {body} impl {name} {{ {made} }}");
    syn::parse_file(&source).unwrap_or_else(|error| panic!("{source}: {error}")).items
}

/// An item's name, visibility and attributes.
fn head(item: &Item) -> (Option<&Ident>, Option<&Visibility>, &[Attribute]) {
    match item {
        Item::Const(one) => (Some(&one.ident), Some(&one.vis), &one.attrs),
        Item::Enum(one) => (Some(&one.ident), Some(&one.vis), &one.attrs),
        Item::Fn(one) => (Some(&one.sig.ident), Some(&one.vis), &one.attrs),
        Item::Impl(one) => (None, None, &one.attrs),
        Item::Mod(one) => (Some(&one.ident), Some(&one.vis), &one.attrs),
        Item::Struct(one) => (Some(&one.ident), Some(&one.vis), &one.attrs),
        Item::Trait(one) => (Some(&one.ident), Some(&one.vis), &one.attrs),
        Item::Type(one) => (Some(&one.ident), Some(&one.vis), &one.attrs),
        Item::Use(one) => (None, Some(&one.vis), &one.attrs),
        _ => (None, None, &[]),
    }
}

/// Whether it is there for tests or with a feature alone.
fn is_conditional(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|one| {
        let condition = text(one);
        condition.starts_with("#[cfg(") && (condition.contains("test") || condition.contains("feature"))
    })
}

fn is_visible(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// The names that a `use` brings into its module, each with the path that it stands for.
fn imports(item: &Item) -> Vec<(String, Vec<String>)> {
    fn leaves(tree: &UseTree, before: &[String], found: &mut Vec<(String, Vec<String>)>) {
        let path = |name: &Ident| [before, &[name.to_string()]].concat();
        match tree {
            UseTree::Path(one) => leaves(&one.tree, &path(&one.ident), found),
            UseTree::Name(one) => found.push((one.ident.to_string(), path(&one.ident))),
            UseTree::Rename(one) => found.push((one.rename.to_string(), path(&one.ident))),
            UseTree::Glob(_) => {}
            UseTree::Group(group) => group.items.iter().for_each(|one| leaves(one, before, found)),
        }
    }
    let mut found = Vec::new();
    if let Item::Use(one) = item {
        leaves(&one.tree, &[], &mut found);
    }
    found
}

/// A field's name, or its place, with its type.
fn named(nth: usize, field: &Field) -> String {
    let name = field.ident.as_ref().map_or_else(|| nth.to_string(), ToString::to_string);
    format!("{name}: {}", text(&field.ty))
}

fn fields(fields: &Fields) -> String {
    let all: Vec<String> = fields.iter().enumerate().map(|(nth, field)| named(nth, field)).collect();
    if all.is_empty() { String::new() } else { format!(" {{ {} }}", all.join(", ")) }
}

/// Source text as people write it, on one line.
fn text(tokens: impl ToTokens) -> String {
    let spaces = [
        " :: ", "::", " < ", "<", "< ", "<", " >", ">", "& ", "&", " ,", ",", " :", ":", " (", "(", " ;",
        ";", "# [", "#[", ",(", ", (", ",)", ")", ":(", ": (", "->(", "-> (",
    ];
    let text = tokens.to_token_stream().to_string();
    spaces.chunks(2).fold(text, |text, pair| text.replace(pair[0], pair[1]))
}

#[test]
fn the_public_api_is_the_committed_one() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut listing = Listing::default();
    Sources::read(&root.join("src")).list(&[], "", &mut listing);
    let got = listing.lines.iter().fold(String::new(), |text, line| text + line + "\n");
    let committed = root.join("api.txt");
    if std::env::var_os("BOWER_RENEW_API").is_some() {
        std::fs::write(&committed, &got).expect("the listing can be written");
    }
    let expected = std::fs::read_to_string(&committed).unwrap_or_default();
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<BTreeSet<_>>();
    let (old, new) = (lines(&expected), lines(&got));
    let gone = old.difference(&new).map(|line| format!("- {line}"));
    let changes: Vec<String> = gone.chain(new.difference(&old).map(|line| format!("+ {line}"))).collect();
    assert!(
        changes.is_empty(),
        "the public API is not that of api.txt; if it is meant, renew the listing with\n\
         BOWER_RENEW_API=1 cargo test -p bower-core --test suite api\n{}",
        changes.join("\n")
    );
}
