//! Adds entries to a host's file, and removes them again.
//! A change is stored as splices, so that it can be reverted to the byte. If the file was changed since, our entries are found
//! by name.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{json, toml, yaml};

/// Name of the server in hosts' files.
pub const NAME: &str = "bower";

/// One entry of a host's file.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// A member `bower` of the object at a path of names.
    Member {
        /// Names from the root on.
        at: Vec<&'static str>,
        /// Value of the member.
        value: Value,
    },
    /// A member of the root, added if the root has none of this name. It is not removed, because other entries may need it by
    /// then.
    Absent {
        /// Name of the member.
        name: &'static str,
        /// Value of the member.
        value: Value,
    },
    /// An element of the list at a path of names, which contains a command of ours.
    Item {
        /// Names from the root on.
        at: Vec<&'static str>,
        /// The element.
        value: Value,
    },
    /// Removes an element that an older version added to the list at a path of names.
    Gone {
        /// Names from the root on.
        at: Vec<&'static str>,
    },
    /// A TOML table `bower` in the table of this name.
    Table {
        /// Name of the outer table.
        at: &'static str,
        /// Program of the server.
        command: String,
        /// Arguments of the program.
        arguments: Vec<String>,
    },
    /// A name in a block of a YAML file's root.
    Line {
        /// Name of the block.
        block: &'static str,
        /// Name to set.
        name: &'static str,
        /// Value to set.
        value: &'static str,
    },
    /// A file that is wholly ours.
    Whole(String),
}

impl Edit {
    /// Returns an edit for a member `bower` of the object at a path.
    pub fn member(at: &[&'static str], value: Value) -> Self {
        Self::Member { at: at.to_vec(), value }
    }
}

/// A replaced piece of a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Splice {
    /// Offset in bytes, in the text after the change.
    pub at: usize,
    /// Text before the change.
    pub old: String,
    /// Text after the change.
    pub new: String,
}

impl Splice {
    /// Returns the one piece in which two texts differ.
    pub fn between(old: &str, new: &str) -> Self {
        let mut start = old.bytes().zip(new.bytes()).take_while(|(a, b)| a == b).count();
        while !old.is_char_boundary(start) || !new.is_char_boundary(start) {
            start -= 1;
        }
        let most = old.len().min(new.len()) - start;
        let tails = old.bytes().rev().zip(new.bytes().rev());
        let mut end = tails.take(most).take_while(|(a, b)| a == b).count();
        while !old.is_char_boundary(old.len() - end) || !new.is_char_boundary(new.len() - end) {
            end -= 1;
        }
        Self {
            at: start,
            old: old[start..old.len() - end].to_owned(),
            new: new[start..new.len() - end].to_owned(),
        }
    }

    /// Returns the text before the change; `None` if the text at the offset is not the new piece.
    fn back(&self, text: &str) -> Option<String> {
        let end = self.at.checked_add(self.new.len())?;
        (text.get(self.at..end)? == self.new)
            .then(|| format!("{}{}{}", &text[..self.at], self.old, &text[end..]))
    }

    /// Reverts the change wherever the new piece is now, if it occurs exactly once and contains our name.
    fn back_anywhere(&self, text: &str) -> Option<String> {
        let mut found = text.match_indices(&self.new);
        let (at, _) = found.next().filter(|_| self.new.contains(NAME))?;
        found.next().is_none().then(|| Self { at, ..self.clone() }.back(text)).flatten()
    }
}

/// Applies the edits. Returns the new text and the splices that revert them. The error is one line with its position.
pub fn put(text: &str, edits: &[Edit]) -> Result<(String, Vec<Splice>), String> {
    let mut splices = Vec::new();
    let mut text = text.to_owned();
    for edit in edits {
        let next = match edit {
            Edit::Member { at, value } => json::set(&text, at, NAME, value)?,
            Edit::Absent { name, value } => json::set_absent(&text, name, value)?,
            Edit::Item { at, value } => json::add(&text, at, value)?,
            Edit::Gone { .. } => text.clone(),
            Edit::Table { at, command, arguments } => toml::set(&text, at, NAME, command, arguments)?,
            Edit::Line { block, name, value } => yaml::set(&text, block, name, value)?,
            Edit::Whole(whole) => whole.clone(),
        };
        if next != text {
            splices.push(Splice::between(&text, &next));
        }
        text = next;
    }
    Ok((text, splices))
}

/// Reverts the splices, to the byte; `None` if the text has changed and a piece is not found in it. `exactly` requires
/// unchanged offsets.
pub fn take_back(text: &str, splices: &[Splice], exactly: bool) -> Option<String> {
    let back = |text: String, splice: &Splice| {
        if exactly { splice.back(&text) } else { splice.back_anywhere(&text) }
    };
    splices.iter().rev().try_fold(text.to_owned(), back)
}

/// Whether we wrote the whole file: each such file contains the command that removes it.
pub fn is_whole_ours(text: &str) -> bool {
    text.contains("bower setup")
}

/// Removes our entries by their names. A file that is wholly ours becomes empty.
pub fn take_out(text: &str, edits: &[Edit]) -> Result<String, String> {
    edits.iter().try_fold(text.to_owned(), |text, edit| match edit {
        Edit::Member { at, .. } => json::remove(&text, at, NAME),
        Edit::Item { at, .. } | Edit::Gone { at } => json::remove_items(&text, at),
        Edit::Table { at, .. } => toml::remove(&text, at, NAME),
        Edit::Line { block, name, value } => yaml::remove(&text, block, name, value),
        Edit::Whole(_) if is_whole_ours(&text) => Ok(String::new()),
        Edit::Whole(_) | Edit::Absent { .. } => Ok(text),
    })
}

/// Whether a text has an entry of ours.
pub fn is_in(text: &str, edits: &[Edit]) -> bool {
    take_out(text, edits).is_ok_and(|without| without != text)
}
