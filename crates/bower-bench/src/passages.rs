//! Loads real text for measurements: passages from a JSON Lines file, or cut from this machine's documents.
//! Each passage becomes one small Markdown file, so that one passage is one chunk.

use std::collections::{BTreeSet, HashSet};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::options::{Failed, Options};

/// Least length of a passage in characters. Passages are short enough to be one chunk each.
const SHORTEST: usize = 200;
const LONGEST: usize = 1_200;
/// Passages per folder.
const FOLDER: usize = 500;

/// Writes `options.count` passages below `folder`, which is emptied first. Returns their number of characters.
pub fn write(options: &Options, folder: &Path) -> Result<usize, Failed> {
    if folder.exists() {
        std::fs::remove_dir_all(folder)?;
    }
    let (mut count, mut characters) = (0, 0);
    let mut keep = |title: &str, text: &str| -> Result<bool, Failed> {
        let part = folder.join(format!("{:03}", count / FOLDER));
        if count % FOLDER == 0 {
            std::fs::create_dir_all(&part)?;
        }
        std::fs::write(part.join(format!("{count:06}.md")), Passage::new(title, text).markdown())?;
        count += 1;
        characters += text.chars().count();
        Ok(count < options.count)
    };
    read(options, &mut keep)?;
    if count < options.count {
        let from = options.passages.first().map_or("this machine".into(), |file| file.display().to_string());
        return Err(format!(
            "only {count} passages of {} in {from}; name a file with --passages or ask for fewer with --count",
            options.count
        )
        .into());
    }
    Ok(characters)
}

/// A text with a title.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Passage {
    pub title: String,
    pub text: String,
}

impl Passage {
    pub fn new(title: &str, text: &str) -> Self {
        Self { title: title.split_whitespace().collect::<Vec<_>>().join(" "), text: text.to_owned() }
    }

    /// Returns the Markdown file that is indexed for the passage.
    pub fn markdown(&self) -> String {
        format!("# {}\n\n{}\n", self.title, self.text)
    }
}

/// Loads at most `most` different passages, in the order of the files.
pub fn load(options: &Options, most: usize) -> Result<Vec<Passage>, Failed> {
    let (mut passages, mut seen) = (Vec::new(), HashSet::new());
    read(options, &mut |title, text| {
        let passage = Passage::new(title, text);
        if seen.insert(passage.clone()) {
            passages.push(passage);
        }
        Ok(passages.len() < most)
    })?;
    Ok(passages)
}

fn read(options: &Options, keep: &mut Keep<'_>) -> Result<(), Failed> {
    if options.passages.is_empty() {
        return from_machine(keep);
    }
    for file in &options.passages {
        let mut more = true;
        from_lines(file, &mut |title, text| {
            more = keep(title, text)?;
            Ok(more)
        })?;
        if !more {
            break;
        }
    }
    Ok(())
}

/// Returns `count` new questions: consecutive words of a passage; each `salt` gives different ones.
pub fn questions(folder: &Path, count: usize, salt: usize) -> Result<Vec<String>, Failed> {
    let mut files = Vec::new();
    for part in std::fs::read_dir(folder)? {
        for file in std::fs::read_dir(part?.path())? {
            files.push(file?.path());
        }
    }
    files.sort();
    (0..count)
        .map(|at| {
            // A stride that shares no factor with the number of files visits them in a scattered order.
            let file = &files[(at * 7_919 + salt * 104_729) % files.len()];
            let text = std::fs::read_to_string(file)?;
            let words: Vec<&str> = text.split_whitespace().skip(3).collect();
            let start = (at * 31 + salt * 17) % words.len().saturating_sub(9).max(1);
            Ok(words.iter().skip(start).take(9).copied().collect::<Vec<_>>().join(" "))
        })
        .collect()
}

type Keep<'a> = dyn FnMut(&str, &str) -> Result<bool, Failed> + 'a;

/// Reads `{"title", "text"}` per line, compressed with gzip or not.
fn from_lines(file: &Path, keep: &mut Keep<'_>) -> Result<(), Failed> {
    let packed = file.extension().is_some_and(|extension| extension == "gz");
    let mut child = None;
    let reader: Box<dyn Read> = if packed {
        let mut gzip = Command::new("gzip").arg("-dc").arg(file).stdout(Stdio::piped()).spawn()?;
        let out = gzip.stdout.take().ok_or("gzip has no output")?;
        child = Some(gzip);
        Box::new(out)
    } else {
        Box::new(
            std::fs::File::open(file).map_err(|error| format!("cannot read {}: {error}", file.display()))?,
        )
    };
    for (at, line) in BufReader::new(reader).lines().enumerate() {
        let value: Value = serde_json::from_str(&line?)
            .map_err(|error| format!("{}:{}: {error}", file.display(), at + 1))?;
        let text = value["text"].as_str().unwrap_or_default();
        if (SHORTEST..=LONGEST).contains(&text.chars().count())
            && !keep(value["title"].as_str().unwrap_or_default(), text)?
        {
            break;
        }
    }
    if let Some(mut gzip) = child {
        // It may still be writing output that is no longer read.
        let _ = gzip.kill();
        gzip.wait()?;
    }
    Ok(())
}

/// Reads paragraphs of text files in the folders where systems keep documents.
fn from_machine(keep: &mut Keep<'_>) -> Result<(), Failed> {
    let mut places =
        vec![PathBuf::from("/usr/share/doc"), "/usr/share/perl".into(), "/usr/lib/python3".into()];
    if let Some(home) = std::env::home_dir() {
        places.push(home.join(".cargo/registry/src"));
    }
    places.push("/usr/share".into());
    let mut seen = BTreeSet::new();
    while let Some(place) = (!places.is_empty()).then(|| places.remove(0)) {
        let Ok(entries) = std::fs::read_dir(&place) else { continue };
        let mut entries: Vec<_> = entries.flatten().collect();
        entries.sort_by_key(std::fs::DirEntry::path);
        for entry in entries {
            let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
            if kind.is_dir() {
                places.push(path);
            } else if kind.is_file() && is_prose(&path) {
                let Ok(text) = std::fs::read_to_string(&path) else { continue };
                let title = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                for passage in cut(&text) {
                    if seen.insert(passage.clone()) && !keep(&title, &passage)? {
                        return Ok(());
                    }
                }
            }
        }
    }
    Ok(())
}

fn is_prose(path: &Path) -> bool {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    matches!(extension.as_deref(), Some("md" | "txt" | "rst" | "pod"))
}

/// Returns paragraphs with their white space collapsed, short neighbours joined.
fn cut(text: &str) -> Vec<String> {
    let mut passages = Vec::new();
    let mut held = String::new();
    for paragraph in text.replace("\r\n", "\n").split("\n\n") {
        let paragraph = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
        let length = held.chars().count() + paragraph.chars().count();
        if length >= LONGEST && !held.is_empty() {
            passages.push(std::mem::take(&mut held));
        }
        if paragraph.chars().count() < LONGEST {
            if !held.is_empty() {
                held.push(' ');
            }
            held.push_str(&paragraph);
        }
        if held.chars().count() >= LONGEST / 2 {
            passages.push(std::mem::take(&mut held));
        }
    }
    passages.push(held);
    passages.retain(|passage| (SHORTEST..=LONGEST).contains(&passage.chars().count()));
    passages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passages_are_neither_too_short_nor_too_long() {
        let text =
            format!("short\n\n{}\n\n{}\n\n{}", "word ".repeat(60), "long ".repeat(400), "end ".repeat(120));
        let passages = cut(&text);
        let lengths: Vec<usize> = passages.iter().map(|passage| passage.chars().count()).collect();
        // By hand: "short" joins 60 words of 5; the long paragraph pushes that out and is left out; 120 words of 4 follow.
        assert_eq!(lengths, [5 + 1 + 60 * 5 - 1, 120 * 4 - 1]);
    }
}
