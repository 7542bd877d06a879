//! Compares an anchor with the files of its project as they are now.

use super::project::{Content, ProjectFiles};
use super::symbols::{has_word, is_same, plainly_defined};
use crate::ingest::defined_name;
use crate::item::{Anchor, AnchorState, CheckedAnchor, TextHash};

/// Least bytes, without white space, of a text that is recognised in another file. Shorter ones are in many.
pub(super) const DISTINCT: u32 = 16;

/// What a file has of an anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InFile {
    /// The same text, on this line.
    Same(u32),
    /// The symbol with another text, on this line.
    Other(u32),
    /// Neither.
    Absent,
}

/// Checks an anchor; `None` if it cannot be compared with anything here.
pub(super) fn check(project: &ProjectFiles, anchor: &Anchor) -> Option<CheckedAnchor> {
    let found = |state, now_at| Some(CheckedAnchor::new(anchor, state, now_at));
    let Some(path) = &anchor.path else {
        let has = project.repository()?.has(anchor.commit.as_deref()?)?;
        return found(if has { AnchorState::Holds } else { AnchorState::Gone }, None);
    };
    match (project.content(path), anchor.text, anchor.lines) {
        (Content::Unknown, ..) => None,
        (Content::Missing, Some(text), None) => {
            let moved = file_elsewhere(project, path, text);
            found(if moved.is_some() { AnchorState::Moved } else { AnchorState::Gone }, moved)
        }
        (Content::Missing, None, _) => found(AnchorState::Gone, None),
        // A file is the same file after its content changed: a memory that names no place in it is about its purpose.
        (Content::Folder, ..) | (Content::Text(_), None, _) | (Content::Text(_), _, None) => {
            found(AnchorState::Holds, None)
        }
        (Content::Missing, Some(_), Some(_)) => elsewhere(project, anchor, path),
        (Content::Text(source), Some(_), Some((first, _))) => match in_file(project, anchor, path, &source) {
            InFile::Same(line) if anchor.symbol.is_some() || line == first => found(AnchorState::Holds, None),
            InFile::Same(line) => found(AnchorState::Moved, Some(format!("{path}:{line}"))),
            InFile::Other(line) => found(
                AnchorState::Changed,
                (anchor.symbol.is_some() && line != first).then(|| format!("{path}:{line}")),
            ),
            InFile::Absent => elsewhere(project, anchor, path),
        },
    }
}

/// Returns what a file has of an anchor with lines.
fn in_file(project: &ProjectFiles, anchor: &Anchor, path: &str, source: &str) -> InFile {
    let (Some(text), Some((first, _))) = (anchor.text, anchor.lines) else { return InFile::Absent };
    // Most code stays where it is. A blank line there is no part of the text, which begins below it.
    let here = &source[start_of(source, first)..];
    let is_blank = here.lines().next().is_none_or(|line| line.trim().is_empty());
    if !is_blank && text.begins(here.as_bytes()) {
        return InFile::Same(first);
    }
    let name = anchor.symbol.as_deref().map(defined_name);
    if name.is_some_and(|name| !source.contains(name)) {
        return InFile::Absent;
    }
    if let Some(at) = text.find(source.as_bytes()) {
        return InFile::Same(line_of(source, at));
    }
    let (Some(symbol), Some(name)) = (&anchor.symbol, name) else { return InFile::Other(first) };
    if let Some(at) = plainly_defined(source, symbol) {
        return InFile::Other(line_of(source, at));
    }
    if !has_word(source, name) {
        return InFile::Absent;
    }
    match project.definitions(path, source) {
        Some(all) => match all.iter().find(|one| is_same(one, symbol)) {
            Some(one) => InFile::Other(one.lines.0),
            None => InFile::Absent,
        },
        // Nothing says whether the name that stands there is defined there.
        None => InFile::Other(first),
    }
}

/// Returns what became of an anchor with lines whose file has nothing of it any more.
fn elsewhere(project: &ProjectFiles, anchor: &Anchor, path: &str) -> Option<CheckedAnchor> {
    let found = |state, now_at| Some(CheckedAnchor::new(anchor, state, now_at));
    let name = anchor.symbol.as_deref().map(defined_name);
    let is_distinct = anchor.text.is_some_and(|text| text.bytes >= DISTINCT);
    let mut others = Vec::new();
    let candidates: Vec<&String> = match name {
        Some(name) => project.files_with(name).filter(|other| is_alike(other, path)).collect(),
        None => alike(project, path).collect(),
    };
    for other in candidates {
        let Some(source) = project.searched_text(other) else { continue };
        if let Some(at) = anchor.text.filter(|_| is_distinct).and_then(|text| text.find(source.as_bytes())) {
            return found(AnchorState::Moved, Some(format!("{other}:{}", line_of(&source, at))));
        }
        if let Some(at) = anchor.symbol.as_deref().and_then(|symbol| plainly_defined(&source, symbol)) {
            others.push(format!("{other}:{}", line_of(&source, at)));
        }
    }
    // A name that several files define says nothing about which of them it went to.
    match <[String; 1]>::try_from(others) {
        Ok([at]) => found(AnchorState::Changed, Some(at)),
        Err(_) => found(AnchorState::Gone, None),
    }
}

/// Returns the place of a file that is not where it was: the only one whose path ends most like its own, from the name on, or
/// one with the same content.
fn file_elsewhere(project: &ProjectFiles, path: &str, text: TextHash) -> Option<String> {
    let same_name = || project.list().iter().filter(|other| file_name(other) == file_name(path));
    let longest = same_name().map(|other| common_end(other, path)).max();
    let mut likest = same_name().filter(|other| Some(common_end(other, path)) == longest);
    if let (Some(only), None) = (likest.next(), likest.next()) {
        return Some(only.clone());
    }
    let has_content = |other: &&String| {
        text.bytes >= DISTINCT
            && project.searched_text(other).is_some_and(|source| TextHash::of(source.as_bytes()) == text)
    };
    alike(project, path).find(has_content).cloned()
}

/// Returns the other files with the extension of a path.
fn alike<'a>(project: &'a ProjectFiles, path: &'a str) -> impl Iterator<Item = &'a String> {
    project.list().iter().filter(move |other| is_alike(other, path))
}

/// Whether a path is another one with the same extension.
fn is_alike(other: &str, path: &str) -> bool {
    let extension = |path: &str| file_name(path).rsplit_once('.').map(|(_, extension)| extension.to_owned());
    other != path && extension(other) == extension(path)
}

/// Returns how many parts two paths share from the end.
fn common_end(one: &str, two: &str) -> usize {
    one.rsplit('/').zip(two.rsplit('/')).take_while(|(one, two)| one == two).count()
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns the byte at which a line begins, or the end of a text with fewer lines.
pub(super) fn start_of(source: &str, line: u32) -> usize {
    let ends = source.match_indices('\n').map(|(at, _)| at + 1);
    match line.checked_sub(2) {
        Some(before) => ends.into_iter().nth(before as usize).unwrap_or(source.len()),
        None => 0,
    }
}

/// Returns the line of a byte, from 1.
fn line_of(source: &str, at: usize) -> u32 {
    u32::try_from(source[..at].matches('\n').count() + 1).unwrap_or(u32::MAX)
}
