//! Reads a labelled set from a BEIR folder: documents, queries, judgements.
//! A malformed line is an error that names the file and the line; nothing is skipped silently.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use bower_core::{Error, Result};
use serde_json::{Map, Value};

use super::metrics::Grades;

/// One line of corpus.jsonl.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Id, unique in the set.
    pub id: String,
    /// Title; may be empty.
    pub title: String,
    /// Text of the document.
    pub text: String,
    /// Group of the document; a query searches only its own group.
    pub group: Option<String>,
}

/// One line of queries.jsonl.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// Id, unique in the set.
    pub id: String,
    /// Text of the question.
    pub text: String,
    /// Group that it searches; without one it searches everything.
    pub group: Option<String>,
    /// Ids that are removed from its ranking.
    pub exclude: BTreeSet<String>,
    /// Category of the question.
    pub category: Option<String>,
}

/// A labelled set.
#[derive(Clone, Debug, Default)]
pub struct Set {
    /// Documents in the order of the file.
    pub documents: Vec<Document>,
    /// Queries in the order of the file.
    pub queries: Vec<Query>,
    /// Judgements by query id. Documents that are not in the corpus stay: they count as missed.
    pub grades: BTreeMap<String, Grades>,
}

impl Set {
    /// Reads `corpus.jsonl`, `queries.jsonl` and `qrels.tsv` (or `qrels/test.tsv`) of a folder.
    pub fn load(dir: &Path) -> Result<Self> {
        let mut set = Self::default();
        let mut groups = BTreeMap::new();
        let corpus = dir.join("corpus.jsonl");
        for (at, object) in objects(&corpus)? {
            let id = required(&corpus, at, &object, "_id")?;
            let group = optional(&corpus, at, &object, "group")?;
            if groups.insert(id.clone(), group.clone()).is_some() {
                return Err(bad(&corpus, at, &format!("document {id:?} is there twice")));
            }
            set.documents.push(Document {
                id,
                title: optional(&corpus, at, &object, "title")?.unwrap_or_default(),
                text: required(&corpus, at, &object, "text")?,
                group,
            });
        }
        let queries = dir.join("queries.jsonl");
        let mut seen = BTreeSet::new();
        for (at, object) in objects(&queries)? {
            let id = required(&queries, at, &object, "_id")?;
            if !seen.insert(id.clone()) {
                return Err(bad(&queries, at, &format!("query {id:?} is there twice")));
            }
            set.queries.push(Query {
                id,
                text: required(&queries, at, &object, "text")?,
                group: optional(&queries, at, &object, "group")?,
                exclude: excluded(&queries, at, &object)?,
                category: optional(&queries, at, &object, "category")?,
            });
        }
        let flat = dir.join("qrels.tsv");
        let beir = dir.join("qrels").join("test.tsv");
        let qrels = if !flat.exists() && beir.exists() { beir } else { flat };
        set.grades = judgements(&qrels)?;
        if set.documents.is_empty() {
            return Err(bad(&corpus, 1, "no document"));
        }
        if !set.queries.iter().any(|query| set.grades.contains_key(&query.id)) {
            return Err(bad(&qrels, 1, "no query of queries.jsonl is judged"));
        }
        Ok(set)
    }
}

/// Reads `query-id TAB corpus-id TAB score`, with an optional header line.
fn judgements(path: &Path) -> Result<BTreeMap<String, Grades>> {
    let mut grades: BTreeMap<String, Grades> = BTreeMap::new();
    for (at, line) in lines(path)? {
        let parts: Vec<&str> = line.split('\t').map(str::trim).collect();
        let &[query, document, grade] = parts.as_slice() else {
            return Err(bad(
                path,
                at,
                &format!("{} columns, expected query-id, corpus-id and score", parts.len()),
            ));
        };
        let Ok(grade) = grade.parse::<i32>() else {
            if at == 1 {
                continue;
            }
            return Err(bad(path, at, &format!("the score {grade:?} is not a whole number")));
        };
        if query.is_empty() || document.is_empty() {
            return Err(bad(path, at, "an id is empty"));
        }
        let before = grades.entry(query.to_owned()).or_default().insert(document.to_owned(), grade);
        if before.is_some_and(|before| before != grade) {
            return Err(bad(
                path,
                at,
                &format!("document {document:?} was judged differently for {query:?} before"),
            ));
        }
    }
    Ok(grades)
}

fn excluded(path: &Path, at: usize, object: &Map<String, Value>) -> Result<BTreeSet<String>> {
    match object.get("exclude") {
        None | Some(Value::Null) => Ok(BTreeSet::new()),
        Some(Value::Array(ids)) => ids
            .iter()
            .map(|id| word(id).ok_or_else(|| bad(path, at, "\"exclude\" holds something that is not an id")))
            .collect(),
        Some(_) => Err(bad(path, at, "\"exclude\" is not a list")),
    }
}

fn required(path: &Path, at: usize, object: &Map<String, Value>, key: &str) -> Result<String> {
    optional(path, at, object, key)?.ok_or_else(|| bad(path, at, &format!("no \"{key}\"")))
}

fn optional(path: &Path, at: usize, object: &Map<String, Value>, key: &str) -> Result<Option<String>> {
    match object.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => word(value)
            .map(Some)
            .ok_or_else(|| bad(path, at, &format!("\"{key}\" is neither text nor a number"))),
    }
}

/// Returns an id or a category as text; files often contain numbers.
fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Returns the JSON objects of a file, one per line, with their line numbers.
fn objects(path: &Path) -> Result<Vec<(usize, Map<String, Value>)>> {
    lines(path)?
        .into_iter()
        .map(|(at, line)| match serde_json::from_str(&line) {
            Ok(Value::Object(object)) => Ok((at, object)),
            Ok(_) => Err(bad(path, at, "not a JSON object")),
            Err(error) => Err(bad(path, at, &error.to_string().replace(" at line 1 column", ", column"))),
        })
        .collect()
}

/// Returns the lines that are not blank, numbered from 1.
fn lines(path: &Path) -> Result<Vec<(usize, String)>> {
    let bytes = std::fs::read(path).map_err(|error| Error::io("read", path, error))?;
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes);
    let mut lines = Vec::new();
    for (at, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        let line = std::str::from_utf8(line).map_err(|_| bad(path, at + 1, "not UTF-8"))?;
        let line = line.strip_suffix('\r').unwrap_or(line);
        if !line.trim().is_empty() {
            lines.push((at + 1, line.to_owned()));
        }
    }
    Ok(lines)
}

fn bad(path: &Path, line: usize, reason: &str) -> Error {
    let mut at = PathBuf::from(path).into_os_string();
    at.push(format!(":{line}"));
    Error::invalid(at.to_string_lossy(), reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORPUS: &str = "{\"_id\": \"a\", \"title\": \"T\", \"text\": \"x\"}\n\n{\"_id\": 7, \"text\": \"\", \"group\": null}\n";
    const QUERIES: &str =
        "{\"_id\": \"q\", \"text\": \"y\", \"category\": 3, \"exclude\": [\"a\", 7], \"answer\": [1]}\r\n";
    const QRELS: &str = "query-id\tcorpus-id\tscore\nq\ta\t2\nq\tgone\t0\n";

    fn load(corpus: &str, queries: &str, qrels: &str) -> Result<Set> {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("corpus.jsonl"), corpus).unwrap();
        std::fs::write(dir.path().join("queries.jsonl"), queries).unwrap();
        std::fs::write(dir.path().join("qrels.tsv"), qrels).unwrap();
        Set::load(dir.path())
    }

    /// Returns the error about a folder with one bad file, from the file's name on.
    fn told(corpus: &str, queries: &str, qrels: &str) -> String {
        let text = load(corpus, queries, qrels).unwrap_err().to_string();
        text.rsplit(std::path::MAIN_SEPARATOR).next().unwrap_or_default().to_owned()
    }

    #[test]
    fn a_set_is_read_as_written() {
        let set = load(CORPUS, QUERIES, QRELS).unwrap();
        assert_eq!(set.documents[0].title, "T");
        assert_eq!((set.documents[1].id.as_str(), set.documents[1].group.as_deref()), ("7", None));
        assert_eq!(set.queries[0].category.as_deref(), Some("3"));
        assert_eq!(set.queries[0].exclude, BTreeSet::from(["7".to_owned(), "a".to_owned()]));
        assert_eq!(set.grades["q"], Grades::from([("a".to_owned(), 2), ("gone".to_owned(), 0)]));
        assert_eq!(
            load(CORPUS, QUERIES, "q\ta\t1\n").unwrap().grades["q"]["a"],
            1,
            "the header may be missing"
        );
    }

    #[test]
    fn a_malformed_line_is_named() {
        for (corpus, queries, qrels, expected) in [
            ("[1]\n", QUERIES, QRELS, "corpus.jsonl:1: not a JSON object"),
            ("\n{\"_id\": 1,\n", QUERIES, QRELS, "corpus.jsonl:2: EOF while parsing a value, column 10"),
            ("{\"_id\": 1}", QUERIES, QRELS, "corpus.jsonl:1: no \"text\""),
            (
                "{\"_id\": [], \"text\": \"\"}",
                QUERIES,
                QRELS,
                "corpus.jsonl:1: \"_id\" is neither text nor a number",
            ),
            ("", QUERIES, QRELS, "corpus.jsonl:1: no document"),
            (
                CORPUS,
                "{\"_id\": 1, \"text\": \"\", \"exclude\": \"a\"}",
                QRELS,
                "queries.jsonl:1: \"exclude\" is not a list",
            ),
            (
                CORPUS,
                QUERIES,
                "h\th\th\nq\ta\n",
                "qrels.tsv:2: 2 columns, expected query-id, corpus-id and score",
            ),
            (
                CORPUS,
                QUERIES,
                "h\th\th\nq\ta\thigh\n",
                "qrels.tsv:2: the score \"high\" is not a whole number",
            ),
            (
                CORPUS,
                QUERIES,
                "h\th\th\nq\ta\t1\nq\ta\t2",
                "qrels.tsv:3: document \"a\" was judged differently for \"q\" before",
            ),
            (CORPUS, QUERIES, "h\th\th\nother\ta\t1\n", "qrels.tsv:1: no query of queries.jsonl is judged"),
        ] {
            assert_eq!(told(corpus, queries, qrels), expected);
        }
        let twice = format!("{CORPUS}{{\"_id\": \"a\", \"text\": \"\"}}");
        assert_eq!(told(&twice, QUERIES, QRELS), "corpus.jsonl:4: document \"a\" is there twice");
    }

    #[test]
    fn a_missing_file_and_foreign_bytes_are_named() {
        let dir = tempfile::tempdir().unwrap();
        assert!(Set::load(dir.path()).unwrap_err().to_string().contains("corpus.jsonl"));
        std::fs::write(dir.path().join("corpus.jsonl"), b"{\"_id\": 1, \"text\": \"a\"}\n\xFF\n").unwrap();
        assert!(Set::load(dir.path()).unwrap_err().to_string().ends_with("corpus.jsonl:2: not UTF-8"));
    }
}
