//! Finds circles of imports between the files of a crate.

use std::collections::{BTreeMap, BTreeSet};

use super::source::{Named, module_of, named, tokens, without_tests};

/// A module by its path in the crate: `["engine", "query"]`; the root is empty.
type Module = Vec<String>;

/// The files of each group that import one another in a circle, by path; the groups and their files in order.
///
/// `files` are paths below one `src/` with their texts. Tests count for nothing. A name that a module exports from another counts
/// as that module's, and `pub use` of a submodule is no import.
pub fn circles(files: &[(&str, &str)]) -> Vec<Vec<String>> {
    let is_built = |module: &Module| !module.iter().any(|part| part == "tests" || part == "testing");
    let modules: BTreeMap<Module, usize> = files
        .iter()
        .enumerate()
        .filter_map(|(nth, (path, _))| Some((module_of(path).filter(is_built)?, nth)))
        .collect();
    let read: Vec<Vec<Named>> = files.iter().map(|(_, text)| named(&without_tests(&tokens(text)))).collect();
    let mut exports: BTreeMap<(Module, String), Module> = BTreeMap::new();
    for (here, &nth) in &modules {
        for path in read[nth].iter().filter(|path| path.is_exported) {
            if let Some((target, rest)) = resolve(here, path, &modules)
                && let (Some(name), false) = (rest.last(), target == *here)
            {
                exports.insert((here.clone(), name.clone()), target);
            }
        }
    }
    let mut edges: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for (here, &nth) in &modules {
        for path in &read[nth] {
            // A macro's name is no module's.
            if path.parts.last().is_some_and(|part| part == "!") {
                continue;
            }
            let Some((mut target, rest)) = resolve(here, path, &modules) else { continue };
            if path.is_exported && target.starts_with(here) {
                continue;
            }
            if let Some(name) = rest.first() {
                let mut seen = BTreeSet::new();
                while let Some(origin) = exports.get(&(target.clone(), name.clone()))
                    && seen.insert(target.clone())
                {
                    target.clone_from(origin);
                }
            }
            if let Some(&other) = modules.get(&target).filter(|other| **other != nth) {
                edges.entry(nth).or_default().insert(other);
            }
        }
    }
    let reaches = |from: usize| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(at) = open.pop() {
            open.extend(edges.get(&at).into_iter().flatten().copied().filter(|next| seen.insert(*next)));
        }
        seen
    };
    let reached: Vec<BTreeSet<usize>> = (0..files.len()).map(reaches).collect();
    let mut groups = BTreeSet::new();
    for (one, all) in reached.iter().enumerate().filter(|(one, all)| all.contains(one)) {
        let both = all.iter().filter(|two| reached[**two].contains(&one));
        groups.insert(both.map(|two| files[*two].0.to_owned()).collect::<BTreeSet<_>>());
    }
    groups.into_iter().map(|group| group.into_iter().collect()).collect()
}

/// The module that a path leads to, and what of the path is left there; `None` where it leads out of the crate.
fn resolve(here: &Module, named: &Named, modules: &BTreeMap<Module, usize>) -> Option<(Module, Vec<String>)> {
    let of_child = || {
        let path: Module = here.iter().chain(&named.inside).chain(&named.parts).cloned().collect();
        let first = here.len() + named.inside.len() + 1;
        path.get(..first).is_some_and(|child| modules.contains_key(child)).then_some(path)
    };
    let mut path = named.absolute(here).or_else(of_child)?;
    let length = (0..=path.len()).rev().find(|length| modules.contains_key(&path[..*length]))?;
    let rest = path.split_off(length);
    Some((path, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_import_one_another_are_a_circle() {
        let parent = "mod a;\nmod b;\nmod c;\npub use a::A;\nuse c::C;\n#[cfg(test)]\nmod tests { use super::b::B; }\n";
        let a = "use super::b::B;\npub struct A;\n";
        let b = "pub struct B;\nfn f() { crate::room::c::g(); room!(); }\n";
        let files = |c: &'static str| {
            [
                ("lib.rs", "mod room;"),
                ("room.rs", parent),
                ("room/a.rs", a),
                ("room/b.rs", b),
                ("room/c.rs", c),
            ]
        };
        assert_eq!(circles(&files("pub struct C;")), Vec::<Vec<String>>::new());
        // `A` is a's, whoever exports it.
        assert_eq!(circles(&files("use crate::room::A;")), [["room/a.rs", "room/b.rs", "room/c.rs"]]);
        assert_eq!(circles(&files("use super::X;")), [["room.rs", "room/c.rs"]]);
        assert_eq!(circles(&files("fn f() { super::x() }")), [["room.rs", "room/c.rs"]]);
    }
}
