//! Parses one file of `brv`'s context tree: its text, its facts, and the files that it refers to.

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::fields::moment;
use super::page::read_page;
use crate::item::MemoryType;

/// How the tree's files end; it is case-sensitive about that.
const PAGE: &str = ".md";

/// A file of the tree.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Topic {
    /// Its title; its file's name unless told.
    pub title: Option<String>,
    /// What it says in short.
    pub summary: Option<String>,
    /// Its tags, as they stand.
    pub tags: Vec<String>,
    /// Its keywords.
    pub keywords: Vec<String>,
    /// Files that it speaks of, by their place in the tree: `domain/topic/title.md`.
    pub related: Vec<String>,
    /// When it was made.
    pub created: Option<Timestamp>,
    /// When it was last changed.
    pub updated: Option<Timestamp>,
    /// 0..1.
    pub importance: Option<f32>,
    /// How often it was read.
    pub access_count: u64,
    /// How often it was changed.
    pub update_count: u64,
    /// The other fields of its head.
    pub metadata: Map<String, Value>,
    /// Its text without the facts.
    pub text: String,
    /// The facts.
    pub facts: Vec<TopicFact>,
}

/// One line of a file's facts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicFact {
    /// What it says, its subject included.
    pub text: String,
    /// What it is about, by its category.
    pub memory_type: MemoryType,
    /// The category as it stands.
    pub category: Option<String>,
}

/// What a file of the tree is, by its path below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TopicFile {
    /// Written by people and agents.
    Told,
    /// The whole text of something that was archived.
    Archived,
    /// Stands in for an archived text.
    Stub,
    /// Made by the program itself.
    Made,
}

/// Judges a file by its path, parts joined by `/`.
pub fn topic_file(path: &str) -> TopicFile {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_archived = path.split('/').any(|part| part == "_archived");
    if name.ends_with(".full.md") && is_archived {
        TopicFile::Archived
    } else if name.ends_with(".stub.md") && is_archived {
        TopicFile::Stub
    } else if !name.ends_with(PAGE)
        || name == "_index.md"
        || name == "context.md"
        || name.ends_with(".abstract.md")
        || name.ends_with(".overview.md")
    {
        TopicFile::Made
    } else {
        TopicFile::Told
    }
}

/// Reads a file; the error says what is wrong with its head.
pub fn read_topic(text: &str) -> Result<Topic, String> {
    let page = read_page(text)?;
    let mut topic = Topic::default();
    for (name, value) in page.fields {
        match (name.as_str(), value) {
            ("title", value) => topic.title = word(&value),
            ("summary" | "description", value) => topic.summary = word(&value),
            ("tags", value) => topic.tags = words(&value),
            ("keywords", value) => topic.keywords = words(&value),
            ("related" | "relations", value) => {
                topic.related = words(&value).iter().map(|to| place(to)).collect();
            }
            ("createdAt" | "created", value) => topic.created = moment(&value),
            ("updatedAt" | "updated", value) => topic.updated = moment(&value),
            ("importance", value) => {
                // Older files count to a hundred.
                topic.importance = value.as_f64().map(|number| (number / 100.0).clamp(0.0, 1.0) as f32);
            }
            ("accessCount", value) => topic.access_count = value.as_u64().unwrap_or(0),
            ("updateCount", value) => topic.update_count = value.as_u64().unwrap_or(0),
            (_, Value::Null) => {}
            (_, value) => {
                topic.metadata.insert(name, value);
            }
        }
    }
    let mut in_facts = false;
    let mut text = String::new();
    for line in page.body.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            in_facts = heading.trim().eq_ignore_ascii_case("facts");
            if in_facts {
                continue;
            }
        }
        match in_facts.then(|| fact(line)).flatten() {
            Some(fact) => topic.facts.push(fact),
            None if in_facts && line.trim().is_empty() => {}
            None => {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    for found in mentions(&page.body) {
        if !topic.related.contains(&found) {
            topic.related.push(found);
        }
    }
    text.trim().clone_into(&mut topic.text);
    Ok(topic)
}

/// `- **subject**: statement [category]`
fn fact(line: &str) -> Option<TopicFact> {
    let line = line.trim().strip_prefix(['-', '*'])?.strip_prefix(' ')?.trim();
    let (said, category) = match line.rfind(" [") {
        Some(at) if line.ends_with(']') => {
            (line[..at].trim(), Some(line[at + 2..line.len() - 1].trim().to_owned()))
        }
        Some(_) | None => (line, None),
    };
    let (subject, statement) = match said.strip_prefix("**").and_then(|rest| rest.split_once("**")) {
        Some((subject, rest)) => (subject.trim().trim_end_matches(':'), rest.trim_start_matches(':').trim()),
        None => ("", said),
    };
    if statement.is_empty() {
        return None;
    }
    let names_it = statement.to_lowercase().contains(&subject.to_lowercase());
    let text = if names_it { statement.to_owned() } else { format!("{subject}: {statement}") };
    let memory_type = category.as_deref().map_or(MemoryType::Fact, type_of);
    Some(TopicFact { text, memory_type, category })
}

/// Its categories are personal, project, preference, convention, team, environment and other; ours are taken as they are.
fn type_of(category: &str) -> MemoryType {
    let category = category.to_lowercase();
    match category.as_str() {
        "preferences" => MemoryType::Preference,
        "conventions" => MemoryType::Convention,
        "decisions" => MemoryType::Decision,
        _ => category.parse().unwrap_or(MemoryType::Fact),
    }
}

/// `@domain/topic/title.md` in a text.
fn mentions(text: &str) -> Vec<String> {
    let part = |c: char| c.is_alphanumeric() || matches!(c, '/' | '_' | '-' | '.');
    let mut found = Vec::new();
    for (at, _) in text.match_indices('@') {
        let rest = &text[at + 1..];
        let end = rest.find(|c| !part(c)).unwrap_or(rest.len());
        let path = rest[..end].trim_end_matches('.');
        if path.contains('/') && path.ends_with(PAGE) && !found.iter().any(|known| known == path) {
            found.push(path.to_owned());
        }
    }
    found
}

/// A reference as a place in the tree.
fn place(reference: &str) -> String {
    let path = reference.trim().trim_start_matches('@').trim_start_matches("./").trim_matches('/');
    if path.ends_with(PAGE) { path.to_owned() } else { format!("{path}.md") }
}

fn word(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Bool(_) | Value::Null | Value::Array(_) | Value::Object(_) => String::new(),
    };
    (!text.is_empty()).then_some(text)
}

fn words(value: &Value) -> Vec<String> {
    match value {
        Value::Array(values) => values.iter().filter_map(word).collect(),
        Value::String(list) => {
            list.split(',').map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned).collect()
        }
        Value::Bool(_) | Value::Null | Value::Number(_) | Value::Object(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_is_read_in_its_parts() {
        let text = "---\ntitle: Token rotation\nsummary: How tokens are rotated\ntags: [auth, security]\nrelated:\n  - '@ops/deploy/steps.md'\n\
                    keywords: ['jwt']\nimportance: 70\nrecency: 0.9\nmaturity: validated\naccessCount: 4\nupdateCount: 2\n\
                    createdAt: '2026-01-02T03:04:05.678Z'\nupdatedAt: '2026-02-02T00:00:00.000Z'\n---\n\
                    ## Reason\nAsked twice.\n\n## Facts\n- **token_ttl**: Tokens live for 15 minutes [project]\n- **Ada**: prefers tabs [preference]\n\
                    - no category here\n\n## Narrative\nSee @auth/jwt/keys.md, and @nobody.\n---\nA snippet.\n";
        let topic = read_topic(text).unwrap();
        assert_eq!(topic.title.as_deref(), Some("Token rotation"));
        assert_eq!(topic.related, ["ops/deploy/steps.md", "auth/jwt/keys.md"]);
        assert_eq!((topic.importance, topic.access_count, topic.update_count), (Some(0.7), 4, 2));
        assert_eq!(topic.created.unwrap().to_string(), "2026-01-02T03:04:05.678Z");
        assert_eq!(
            Value::Object(topic.metadata),
            serde_json::json!({"recency": 0.9, "maturity": "validated"})
        );
        assert_eq!(
            topic.text,
            "## Reason\nAsked twice.\n\n## Narrative\nSee @auth/jwt/keys.md, and @nobody.\n---\nA snippet."
        );
        let facts: Vec<_> = topic.facts.iter().map(|fact| (fact.text.as_str(), fact.memory_type)).collect();
        let expected = [
            ("token_ttl: Tokens live for 15 minutes", MemoryType::Fact),
            ("Ada: prefers tabs", MemoryType::Preference),
            ("no category here", MemoryType::Fact),
        ];
        assert_eq!(facts, expected);
    }

    #[test]
    fn what_the_program_made_itself_is_left_out() {
        let check = |path: &str, expected: TopicFile| assert_eq!(topic_file(path), expected, "{path}");
        check("auth/jwt/keys.md", TopicFile::Told);
        check("auth/context.md", TopicFile::Made);
        check("auth/_index.md", TopicFile::Made);
        check("_manifest.json", TopicFile::Made);
        check("auth/jwt/keys.abstract.md", TopicFile::Made);
        check("auth/jwt/keys.overview.md", TopicFile::Made);
        check("_archived/auth/jwt/old.stub.md", TopicFile::Stub);
        check("_archived/auth/jwt/old.full.md", TopicFile::Archived);
    }
}
