//! Puts entries into a host's file, and takes them out again.
//! A change is kept as splices, so that it can be taken back to the byte; where the file was changed since, what is ours is found by
//! its name.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{json, toml, yaml};

/// The name under which a host knows the server.
pub const NAME: &str = "bower";

/// One thing that stands in a host's file.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// A member `bower` of the object at a path of names.
    Member {
        /// The names from the root on.
        at: Vec<&'static str>,
        /// Its value.
        value: Value,
    },
    /// A member of the root, where it has none of this name. It stays where others came to need it.
    Absent {
        /// The name.
        name: &'static str,
        /// Its value.
        value: Value,
    },
    /// An element of the list at a path of names, which holds a command of ours.
    Item {
        /// The names from the root on.
        at: Vec<&'static str>,
        /// The element.
        value: Value,
    },
    /// Nothing, where an older version put an element of ours into the list at a path of names.
    Gone {
        /// The names from the root on.
        at: Vec<&'static str>,
    },
    /// A TOML table `bower` in the table of this name.
    Table {
        /// The outer table.
        at: &'static str,
        /// The server's program.
        command: String,
        /// Its arguments.
        arguments: Vec<String>,
    },
    /// A name in a block of a YAML file's root.
    Line {
        /// The block.
        block: &'static str,
        /// The name.
        name: &'static str,
        /// Its value.
        value: &'static str,
    },
    /// The whole file is ours.
    Whole(String),
}

impl Edit {
    /// A member `bower` of the object at a path.
    pub fn member(at: &[&'static str], value: Value) -> Self {
        Self::Member { at: at.to_vec(), value }
    }
}

/// A piece of a text that was replaced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Splice {
    /// Where, in bytes of the text as it was after the change.
    pub at: usize,
    /// What stood there.
    pub old: String,
    /// What stands there now.
    pub new: String,
}

impl Splice {
    /// The one piece in which two texts differ.
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

    /// The text before the change; none where something else stands there.
    fn back(&self, text: &str) -> Option<String> {
        let end = self.at.checked_add(self.new.len())?;
        (text.get(self.at..end)? == self.new)
            .then(|| format!("{}{}{}", &text[..self.at], self.old, &text[end..]))
    }

    /// The same wherever the new piece stands now, if that is one place.
    fn back_anywhere(&self, text: &str) -> Option<String> {
        let mut found = text.match_indices(&self.new);
        let (at, _) = found.next().filter(|_| self.new.contains(NAME))?;
        found.next().is_none().then(|| Self { at, ..self.clone() }.back(text)).flatten()
    }
}

/// Puts everything in: the new text, and how it is taken back. The error is one line, with its place.
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

/// Takes back what was put in, to the byte; none where the text is another by now and our pieces are not found in it.
pub fn take_back(text: &str, splices: &[Splice], exactly: bool) -> Option<String> {
    let back = |text: String, splice: &Splice| {
        if exactly { splice.back(&text) } else { splice.back_anywhere(&text) }
    };
    splices.iter().rev().try_fold(text.to_owned(), back)
}

/// Whether a whole file is one that we wrote: each says what takes it out again.
pub fn is_whole_ours(text: &str) -> bool {
    text.contains("bower setup")
}

/// Takes out whatever is ours, by its name. A file that is wholly ours is empty then.
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

/// Whether something of ours is in a text.
pub fn is_in(text: &str, edits: &[Edit]) -> bool {
    take_out(text, edits).is_ok_and(|without| without != text)
}
