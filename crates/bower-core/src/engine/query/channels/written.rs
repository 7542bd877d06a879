//! Reads a path or file name as a person writes it, and compares its parts with the names of folders and files.
//! Parts are compared without case and accents, and a hyphen, an underscore, a dot and a space are the same.

use crate::graph::fold;
use crate::text::{allowed_edits, edits_within};

/// Most characters of a written path; a longer text is no path.
const LONGEST: usize = 400;

/// Longest extension of a file name, in bytes.
const LONGEST_EXTENSION: usize = 10;

/// How a document's path fits what was written; an earlier one is nearer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathFit {
    /// It ends with it, letter by letter.
    Exact,
    /// It ends with it, except for case, accents and separators.
    Folded,
    /// Its part before the extension does.
    Stem,
    /// It lies so many folders below the written one.
    Below(u16),
    /// The written part is the beginning of a longer name.
    Begins,
    /// It ends with it, except for so many typing errors.
    Mistyped(usize),
}

/// A path or file name as a person writes it.
#[derive(Clone, Debug)]
pub(crate) struct WrittenPath {
    /// The folders, as they are written.
    pub(crate) folders: Vec<String>,
    /// The last part; `None` if the path ends with `/`.
    pub(crate) name: Option<FoldedPart>,
    /// The folded folders, each behind a `/`.
    pub(crate) folded_folders: String,
    /// All parts so.
    pub(crate) folded: String,
}

/// The last part of a written path.
#[derive(Clone, Debug)]
pub(crate) struct FoldedPart {
    pub(crate) written: String,
    folded: String,
    /// The letters of all of it.
    pub(crate) letters: Letters,
    /// The folded part before the extension, and the extension.
    stem: String,
    extension: String,
    /// The letters of the part before the extension.
    pub(crate) stem_letters: Letters,
}

impl WrittenPath {
    /// Reads a path; `None` if nothing but signs is written, or too much.
    pub(crate) fn of(text: &str) -> Option<Self> {
        if text.chars().count() > LONGEST || text.contains('\n') {
            return None;
        }
        let text = text.replace('\\', "/");
        let mut folders: Vec<String> = text
            .split('/')
            .map(str::trim)
            .filter(|part| !part.is_empty() && !matches!(*part, "." | ".."))
            .map(str::to_owned)
            .collect();
        if folders.iter().any(|part| fold_part(part).is_empty()) {
            return None;
        }
        let name = if text.ends_with('/') { None } else { folders.pop() };
        let name = name.map(|name| FoldedPart::of(&name));
        if folders.is_empty() && name.is_none() {
            return None;
        }
        let mut folded_folders = String::new();
        for part in &folders {
            folded_folders.push('/');
            folded_folders.push_str(&fold_part(part));
        }
        let folded = match &name {
            Some(name) => format!("{folded_folders}/{}", name.folded),
            None => folded_folders.clone(),
        };
        Some(Self { folders, name, folded_folders, folded })
    }

    /// Whether a folder's path ends with the written folders, letter by letter.
    pub(crate) fn is_exact(&self, folder: &str) -> bool {
        let mut parts = folder.rsplit(['/', '\\']).filter(|part| !part.is_empty());
        self.folders.iter().rev().all(|written| parts.next() == Some(written.as_str()))
    }

    /// Returns the typing errors in the last folders of a folded path; `None` if they are more than allowed.
    pub(crate) fn errors_in(&self, folded: &str) -> Option<usize> {
        let mut parts = folded.rsplit('/');
        let written = self.folded_folders.rsplit('/').filter(|part| !part.is_empty());
        let mut errors = 0;
        for part in written {
            errors += errors_between(part, parts.next().filter(|part| !part.is_empty())?)?;
        }
        Some(errors)
    }
}

impl FoldedPart {
    fn of(written: &str) -> Self {
        let (stem, extension) = split_extension(written);
        Self {
            folded: fold_part(written),
            letters: Letters::of(written),
            stem: fold_part(stem),
            extension: extension.to_lowercase(),
            stem_letters: Letters::of(stem),
            written: written.to_owned(),
        }
    }

    /// Whether a file with these letters in its name may have it, with or without its extension.
    pub(crate) fn has_letters(&self, letters: Letters) -> bool {
        self.stem_letters == letters || self.letters == letters
    }

    /// Whether it is the name of a file, up to case, accents and separators.
    pub(crate) fn is_name(&self, name: &str) -> bool {
        let (stem, extension) = split_extension(name);
        self.extension == extension.to_lowercase() && self.stem == fold_part(stem)
    }

    /// Whether it is the name of a file without the extension.
    pub(crate) fn is_stem(&self, name: &str) -> bool {
        self.folded == fold_part(split_extension(name).0)
    }

    /// Whether the name of a file goes on where it ends.
    pub(crate) fn begins(&self, name: &str) -> bool {
        let is_plain = name.is_ascii() && self.written.is_ascii();
        if is_plain {
            let start = name.as_bytes().get(..self.written.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(self.written.as_bytes()))
        } else {
            fold_part(name).starts_with(&self.folded)
        }
    }

    /// Returns the letters that a mistyped name has, but for the returned number of errors.
    pub(crate) fn wanted(&self) -> (Letters, usize) {
        let letters = if self.extension.is_empty() { self.letters } else { self.stem_letters };
        (letters, allowed_edits(self.stem.chars().count()))
    }

    /// Returns its typing errors as the name of a file; `None` if they are more than allowed, or if the extension differs.
    /// `folded` is overwritten.
    pub(crate) fn errors(&self, name: &str, folded: &mut String) -> Option<usize> {
        let (stem, extension) = split_extension(name);
        let is_other = |extension: &str| {
            !self.extension.eq_ignore_ascii_case(extension) && self.extension != extension.to_lowercase()
        };
        if !self.extension.is_empty() && is_other(extension) {
            return None;
        }
        fold_into(stem, folded);
        errors_between(&self.stem, folded)
    }
}

/// Returns the typing errors in a folded part of a path; `None` if they are more than its length allows, or in a number.
fn errors_between(written: &str, part: &str) -> Option<usize> {
    let errors = edits_within(written, part, allowed_edits(written.chars().count()))?;
    let digits = |text: &'_ str| text.chars().filter(|c| c.is_numeric()).collect::<String>();
    (errors == 0 || digits(written) == digits(part)).then_some(errors)
}

/// Folds a part of a path: its words in lower case and without accents, with single spaces between them.
pub(crate) fn fold_part(part: &str) -> String {
    let mut folded = String::with_capacity(part.len());
    fold_into(part, &mut folded);
    folded
}

/// Whether a name has neither an accent nor a possessive ending that folding removes.
fn is_plain(name: &str) -> bool {
    name.is_ascii() && !name.contains('\'')
}

/// Writes a folded part over `folded`.
fn fold_into(part: &str, folded: &mut String) {
    folded.clear();
    // Most names are plain, and take a fifth of the time so.
    if !is_plain(part) {
        folded.push_str(&fold(&part.replace(['_', '.'], " ")));
        return;
    }
    let mut begins = false;
    for byte in part.bytes() {
        match byte {
            b'_' | b'.' | b'-' | b'/' | b',' | b':' | b' ' | b'\t'..=b'\r' => begins = true,
            _ if byte.is_ascii_alphanumeric() => {
                if begins && !folded.is_empty() {
                    folded.push(' ');
                }
                begins = false;
                folded.push(char::from(byte.to_ascii_lowercase()));
            }
            _ => {}
        }
    }
}

/// Returns a file name without its extension, and the extension. An extension has a letter: `v1.2` has none.
pub(crate) fn split_extension(name: &str) -> (&str, &str) {
    let is_extension = |stem: &str, extension: &str| {
        !stem.is_empty() && extension.len() <= LONGEST_EXTENSION && extension.contains(char::is_alphabetic)
    };
    let found = name.rsplit_once('.').filter(|(stem, extension)| is_extension(stem, extension));
    found.unwrap_or((name, ""))
}

/// The letters of a name and their number in eight bytes, by which most names are told apart before they are read. Equal folded
/// names have equal letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Letters(u64);

/// Bits of the letters from a to z: one says that the name has the letter, and a second that it has it twice.
const PAIRS: u32 = 52;
/// Bits that all other characters share.
const OTHERS: u32 = 6;
/// Bits below the number of letters, which has the rest and counts up to 63.
const BELOW_COUNT: u32 = PAIRS + OTHERS;

impl Letters {
    pub(crate) fn of(name: &str) -> Self {
        let (mut set, mut count) = (0_u64, 0_u64);
        let mut add = |c: u32| {
            count += 1;
            set |= match c {
                0x61..=0x7A => {
                    let first = 1 << (2 * (c - 0x61));
                    if set & first == 0 { first } else { first << 1 }
                }
                _ => 1 << (PAIRS + c % OTHERS),
            };
        };
        if is_plain(name) {
            let plain = name.bytes().filter(u8::is_ascii_alphanumeric);
            plain.for_each(|byte| add(byte.to_ascii_lowercase().into()));
        } else {
            fold_part(name).chars().filter(|c| *c != ' ').for_each(|c| add(c.into()));
        }
        Self(set | count.min(u64::MAX >> BELOW_COUNT) << BELOW_COUNT)
    }

    /// Whether names with these letters may be equal but for so many errors. An error adds a letter, takes one away, or both.
    pub(crate) fn could_be(self, others: Self, errors: usize) -> bool {
        let differing = ((self.0 ^ others.0) << (u64::BITS - BELOW_COUNT)).count_ones();
        let counts = (self.0 >> BELOW_COUNT).abs_diff(others.0 >> BELOW_COUNT);
        differing as usize <= 2 * errors && counts as usize <= errors
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_path_is_read_as_it_is_written() {
        let read = |text: &str| {
            let path = WrittenPath::of(text)?;
            Some((path.folders.join("|"), path.name.map(|name| name.written), path.folded))
        };
        let path = |folders: &str, name: Option<&str>, folded: &str| {
            Some((folders.to_owned(), name.map(str::to_owned), folded.to_owned()))
        };
        assert_eq!(read("./My Notes/a_b.md"), path("My Notes", Some("a_b.md"), "/my notes/a b md"));
        assert_eq!(read("C:\\docs\\"), path("C:|docs", None, "/c/docs"));
        assert_eq!(read("../x"), path("", Some("x"), "/x"));
        assert_eq!((read(""), read("//"), read("?/x"), read("a\nb")), (None, None, None, None));
        assert_eq!(read(&"a".repeat(LONGEST + 1)), None);
    }

    #[test]
    fn extensions_have_a_letter() {
        let check = |name, expected| assert_eq!(split_extension(name), expected);
        check("a.tar.gz", ("a.tar", "gz"));
        check("v1.2", ("v1.2", ""));
        check(".env", (".env", ""));
        check("notes", ("notes", ""));
        check("a.averylongending", ("a.averylongending", ""));
    }

    #[test]
    fn names_with_few_errors_share_their_letters() {
        let mut folded = String::new();
        for (written, name) in
            [("gama.md", "gamma.md"), ("größen", "grossen.txt"), ("qarterly", "quarterly.md")]
        {
            let part = FoldedPart::of(written);
            let (letters, errors) = part.wanted();
            assert!(letters.could_be(Letters::of(split_extension(name).0), errors), "{written}");
            assert!(part.errors(name, &mut folded).is_some(), "{written}");
        }
        assert!(!Letters::of("gamma").could_be(Letters::of("delta"), 1));
        assert!(Letters::of(&"ab".repeat(99)).could_be(Letters::of(&"ab".repeat(98)), 2));
        assert_eq!(Letters::of("A-b_C 1"), Letters::of("cab1"));
        assert_ne!(Letters::of("aa"), Letters::of("ab"));
    }

    proptest! {
        #[test]
        fn letters_tell_no_near_names_apart(one in "[a-d1é _-]{0,9}", two in "[a-d1é _-]{0,9}") {
            let (folded, other) = (fold_part(&one), fold_part(&two));
            // A space is no letter.
            let bare = |text: &str| text.replace(' ', "");
            if let Some(errors) = edits_within(&bare(&folded), &bare(&other), 4) {
                prop_assert!(Letters::of(&one).could_be(Letters::of(&two), errors));
            }
        }

        #[test]
        fn plain_parts_are_folded_as_all_others(part in "[a-cA-C0-1 _.,:'/é-]{0,12}") {
            prop_assert_eq!(fold_part(&part), fold(&part.replace(['_', '.'], " ")));
        }
    }
}
