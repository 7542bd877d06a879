//! Makes the anchors of a text: looks up the names in it in the files of a project.

use std::ops::Range;
use std::path::Path;

use super::check::{DISTINCT, start_of};
use super::project::{Content, ProjectFiles};
use super::symbols::{has_word, may_define};
use crate::ingest::{Definition, defined_name, ends_with_path, has_definitions};
use crate::item::{Anchor, MOST_ANCHORS, TextHash};
use crate::memory::anchors::{CodeName, code_names};

/// A file that a text names.
struct NamedFile {
    path: String,
    lines: Option<(u32, u32)>,
}

/// Returns the anchors of a text. `folder` is the working folder, at or below the project's.
pub(super) fn anchors(project: &ProjectFiles, folder: &Path, text: &str) -> Vec<Anchor> {
    let names = code_names(text);
    if names.is_empty() {
        return Vec::new();
    }
    let Some(root) = project.root().to_str().map(str::to_owned) else { return Vec::new() };
    let empty = Anchor { root, path: None, symbol: None, lines: None, text: None, commit: None };
    let mut found: Vec<Anchor> = Vec::new();
    let mut add = |anchor: Anchor| {
        if !found.contains(&anchor) {
            found.push(anchor);
        }
    };
    let files: Vec<NamedFile> = names
        .iter()
        .filter_map(|name| match name {
            CodeName::File { path, lines } => {
                let path = existing(project, folder, path)?;
                Some(NamedFile { path, lines: *lines })
            }
            CodeName::Symbol { .. } | CodeName::Commit(_) => None,
        })
        .collect();
    let mut with_symbols: Vec<String> = Vec::new();
    for name in &names {
        let CodeName::Symbol { parts, is_distinct } = name else { continue };
        let in_named = files.iter().find_map(|file| in_file(project, &file.path, parts));
        let anywhere = || if *is_distinct { in_project(project, parts) } else { None };
        if let Some((path, definition, text)) = in_named.or_else(anywhere) {
            with_symbols.push(path.clone());
            add(of_definition(&empty, &path, &definition, text));
        }
    }
    for NamedFile { path, lines } in files {
        match (project.content(&path), lines) {
            (Content::Text(source), Some(lines)) => add(of_lines(project, &empty, &path, &source, lines)),
            (Content::Text(source), None) if !with_symbols.contains(&path) => {
                add(Anchor {
                    text: Some(TextHash::of(source.as_bytes())),
                    path: Some(path),
                    ..empty.clone()
                });
            }
            (Content::Folder | Content::Unknown, _) => add(Anchor { path: Some(path), ..empty.clone() }),
            (Content::Text(_) | Content::Missing, _) => {}
        }
    }
    let head = project.repository().and_then(super::git::GitObjects::head);
    for anchor in &mut found {
        anchor.commit.clone_from(&head);
    }
    let commits = names.into_iter().filter_map(|name| match name {
        CodeName::Commit(digits) => {
            let has = project.repository()?.has(&digits)?;
            has.then(|| Anchor { commit: Some(digits), ..empty.clone() })
        }
        CodeName::File { .. } | CodeName::Symbol { .. } => None,
    });
    found.extend(commits);
    found.truncate(MOST_ANCHORS);
    found
}

/// Returns the path below the project's folder of an existing file that a text names: from the working folder, from the
/// project's, or as the end of exactly one path.
fn existing(project: &ProjectFiles, folder: &Path, named: &str) -> Option<String> {
    let below = |path: &Path| {
        // A link may lead out of the project.
        let real = path.canonicalize().ok()?;
        let path = real.strip_prefix(project.root()).ok()?.to_str()?.to_owned();
        let path = if cfg!(windows) { path.replace('\\', "/") } else { path };
        (!path.is_empty()).then_some(path)
    };
    if let Some(path) = below(&folder.join(named)).or_else(|| below(&project.root().join(named))) {
        return Some(path);
    }
    let is_end = |path: &&String| ends_with_path(path, named);
    let has_extension = named.rsplit('/').next().is_some_and(|name| name.contains('.'));
    let mut all = project.list().iter().filter(|_| has_extension).filter(is_end);
    all.next().cloned().filter(|_| all.next().is_none())
}

type Resolved = (String, Definition, TextHash);

/// Returns the definition of a symbol in a file. A qualifier names what is around the definition, its receiver or type
/// (`func (c *Command) Find`), the file, or the file's package.
fn in_file(project: &ProjectFiles, path: &str, parts: &[String]) -> Option<Resolved> {
    let (name, qualifiers) = parts.split_last()?;
    let Content::Text(source) = project.content(path) else { return None };
    if !has_definitions(Path::new(path)) || !has_word(&source, name) {
        return None;
    }
    let all = project.definitions(path, &source)?;
    let is_qualified = |one: &&Definition| {
        qualifiers.last().is_none_or(|last| {
            has_word(&one.symbol, last) || has_word(path, last) || is_package(&source, last)
        })
    };
    let mut same = all.iter().filter(|one| one.name == *name && !one.is_addition()).filter(is_qualified);
    let first = same.next()?;
    let text = TextHash::of(source.get(first.range.clone())?.as_bytes());
    Some((path.to_owned(), first.clone(), text))
}

/// Whether a file says that it belongs to a package, module or namespace of this name.
fn is_package(source: &str, name: &str) -> bool {
    source.lines().any(|line| {
        let declared =
            line.split_once(' ').filter(|(word, _)| matches!(*word, "package" | "module" | "namespace"));
        declared.is_some_and(|(_, declared)| has_word(declared, name))
    })
}

/// Returns the definition of a symbol in the whole project, if there is exactly one.
fn in_project(project: &ProjectFiles, parts: &[String]) -> Option<Resolved> {
    let name = parts.last()?;
    let mut found: Option<Resolved> = None;
    for path in project.files_with(name) {
        let Some(source) = project.searched_text(path) else { continue };
        if !may_define(&source, name) {
            continue;
        }
        if let Some(one) = in_file(project, path, parts)
            && found.replace(one).is_some()
        {
            return None;
        }
    }
    found
}

fn of_definition(empty: &Anchor, path: &str, definition: &Definition, text: TextHash) -> Anchor {
    Anchor {
        path: Some(path.to_owned()),
        symbol: Some(definition.symbol.clone()),
        lines: Some(definition.lines),
        text: Some(text),
        ..empty.clone()
    }
}

/// Returns the anchor of lines: the innermost definition around them, whose name finds it again; else the lines themselves;
/// else the file.
fn of_lines(
    project: &ProjectFiles,
    empty: &Anchor,
    path: &str,
    source: &str,
    (first, last): (u32, u32),
) -> Anchor {
    let bytes = |range: Range<usize>| TextHash::of(source.as_bytes().get(range).unwrap_or_default());
    let is_around = |one: &&Definition| one.lines.0 <= first && last <= one.lines.1;
    let all = project.definitions(path, source);
    let around = all.iter().flat_map(|all| all.iter()).rfind(is_around);
    if let Some(definition) = around.filter(|one| !defined_name(&one.symbol).is_empty()) {
        return of_definition(empty, path, definition, bytes(definition.range.clone()));
    }
    let text = bytes(start_of(source, first)..start_of(source, last.saturating_add(1)));
    if text.bytes >= DISTINCT {
        let lines = Some((first, last));
        return Anchor { path: Some(path.to_owned()), lines, text: Some(text), ..empty.clone() };
    }
    Anchor { path: Some(path.to_owned()), text: Some(bytes(0..source.len())), ..empty.clone() }
}
