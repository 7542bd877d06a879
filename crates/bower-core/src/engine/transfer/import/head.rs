//! Parses the head of a memory's file, and compares it with the memory in the store.

use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::engine::ACTOR;
use crate::engine::curate::class::TextClass;
use crate::engine::curate::write::{CONFIDENCE, normal_tags};
use crate::engine::transfer::import::batch::Import;
use crate::error::Error;
use crate::ingest::moment;
use crate::item::{Author, Kind, MemoryType, Provenance, Scope, Status, Tier};
use crate::store::copies::ItemCopy;

/// Fields of a head. A missing field has no value if an export would have left it out; else the stored value stays.
pub(crate) struct HeadFields {
    pub(crate) memory_type: Option<MemoryType>,
    pub(crate) tags: Vec<String>,
    pub(crate) keywords: Option<Vec<String>>,
    pub(crate) metadata: Map<String, Value>,
    pub(crate) tier: Tier,
    pub(crate) status: Option<Status>,
    pub(crate) summary: Option<String>,
    pub(crate) importance: Option<f32>,
    pub(crate) confidence: Option<f32>,
    pub(crate) decay_rate: Option<f32>,
    pub(crate) valid_from: Option<Timestamp>,
    pub(crate) valid_to: Option<Timestamp>,
    pub(crate) collection: Option<String>,
    pub(crate) scope: Option<Scope>,
    pub(crate) owner: Option<String>,
    pub(crate) conversation: Option<String>,
    pub(crate) source: Option<String>,
    pub(crate) host: Option<String>,
    pub(crate) said_by: Option<Author>,
    pub(crate) least_trusted: Option<Author>,
    pub(crate) reviewed: Option<bool>,
    pub(crate) replaces: Option<String>,
    pub(crate) observations: Option<u64>,
    pub(crate) uses: Option<u64>,
    pub(crate) used: Option<Timestamp>,
    pub(crate) hidden: Option<Timestamp>,
    pub(crate) created: Option<Timestamp>,
    pub(crate) updated: Option<Timestamp>,
}

/// Names of all fields that a head may have.
const NAMES: &[&str] = &[
    "id",
    "type",
    "tags",
    "pinned",
    "fading",
    "status",
    "summary",
    "keywords",
    "importance",
    "confidence",
    "decay_rate",
    "valid_from",
    "valid_to",
    "metadata",
    "collection",
    "scope",
    "owner",
    "conversation",
    "source",
    "host",
    "said_by",
    "least_trusted",
    "reviewed",
    "replaces",
    "observations",
    "uses",
    "used",
    "hidden",
    "created",
    "updated",
];

/// Value of a field, or the reason why it is invalid.
type Field<T> = std::result::Result<T, String>;

/// Reads fields by their types. A missing field and null are `None`.
struct Fields<'a>(&'a Map<String, Value>);

impl Fields<'_> {
    fn value(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    fn text(&self, name: &str) -> Field<Option<String>> {
        self.value(name).map(|value| plain(name, value)).transpose()
    }

    fn word<T: std::str::FromStr<Err = Error>>(&self, name: &str) -> Field<Option<T>> {
        let text = self.text(name)?;
        text.map(|text| text.trim().parse().map_err(|error: Error| error.to_string())).transpose()
    }

    /// Reads a list, or one line with commas.
    fn list(&self, name: &str) -> Field<Option<Vec<String>>> {
        match self.value(name) {
            None => Ok(None),
            Some(Value::Array(values)) => {
                values.iter().map(|value| plain(name, value)).collect::<Field<_>>().map(Some)
            }
            Some(one) => {
                let text = plain(name, one)?;
                let words = text.split(',').map(|word| word.trim().to_owned());
                Ok(Some(words.filter(|word| !word.is_empty()).collect()))
            }
        }
    }

    fn truth(&self, name: &str) -> Field<Option<bool>> {
        match self.value(name) {
            None => Ok(None),
            Some(Value::Bool(truth)) => Ok(Some(*truth)),
            Some(other) => Err(format!("{name}: {other} is not true or false")),
        }
    }

    /// Reads a number from 0 to `most`.
    fn share(&self, name: &str, most: f64) -> Field<Option<f32>> {
        match self.value(name).map(Value::as_f64) {
            None => Ok(None),
            Some(Some(number)) if (0.0..=most).contains(&number) => Ok(Some(number as f32)),
            Some(_) => Err(format!("{name}: not a number from 0 to {most}")),
        }
    }

    fn count(&self, name: &str) -> Field<Option<u64>> {
        match self.value(name).map(Value::as_u64) {
            None => Ok(None),
            Some(Some(number)) => Ok(Some(number)),
            Some(None) => Err(format!("{name}: not a whole number")),
        }
    }

    fn time(&self, name: &str) -> Field<Option<Timestamp>> {
        match self.value(name) {
            None => Ok(None),
            Some(value) => moment(value).map(Some).ok_or_else(|| {
                format!("{name}: {value} is no time; write 2025-03-01 or 2025-03-01T09:00:00Z")
            }),
        }
    }

    fn map(&self, name: &str) -> Field<Map<String, Value>> {
        match self.value(name) {
            None => Ok(Map::new()),
            Some(Value::Object(map)) => Ok(map.clone()),
            Some(_) => Err(format!("{name}: not a list of `key: value` lines")),
        }
    }
}

impl HeadFields {
    pub(crate) fn read(fields: &Map<String, Value>) -> Field<Self> {
        if let Some(name) = fields.keys().find(|name| !NAMES.contains(&name.as_str())) {
            return Err(format!("{name}: no field of a memory; put fields of your own below `metadata:`"));
        }
        let fields = Fields(fields);
        let metadata = fields.map("metadata")?;
        let tags =
            normal_tags(&fields.list("tags")?.unwrap_or_default()).map_err(|error| error.to_string())?;
        Ok(Self {
            memory_type: fields.word("type")?,
            tags,
            keywords: fields.list("keywords")?,
            metadata,
            tier: match (fields.truth("pinned")?, fields.truth("fading")?) {
                (Some(true), _) => Tier::Pinned,
                (None | Some(false), Some(true)) => Tier::Fading,
                (None | Some(false), None | Some(false)) => Tier::Active,
            },
            status: fields.word("status")?,
            summary: fields.text("summary")?,
            importance: fields.share("importance", 1.0)?,
            confidence: fields.share("confidence", 1.0)?,
            decay_rate: fields.share("decay_rate", 100.0)?,
            valid_from: fields.time("valid_from")?,
            valid_to: fields.time("valid_to")?,
            collection: fields.text("collection")?,
            scope: fields.word("scope")?,
            owner: fields.text("owner")?,
            conversation: fields.text("conversation")?,
            source: fields.text("source")?,
            host: fields.text("host")?,
            said_by: fields.word("said_by")?,
            least_trusted: fields.word("least_trusted")?,
            reviewed: fields.truth("reviewed")?,
            replaces: fields.text("replaces")?,
            observations: fields.count("observations")?,
            uses: fields.count("uses")?,
            used: fields.time("used")?,
            hidden: fields.time("hidden")?,
            created: fields.time("created")?,
            updated: fields.time("updated")?,
        })
    }

    /// Returns a memory that the store does not have: what the head leaves out is judged from the text.
    pub(crate) fn copy(&self, id: &str, body: &str, import: &Import<'_>) -> crate::Result<ItemCopy> {
        let confidence = self.confidence.unwrap_or(CONFIDENCE);
        let class = match self.memory_type {
            Some(_) => TextClass::UNKNOWN,
            None => TextClass::of(import.engine, body)?,
        };
        let judged = class.judge(body, self.memory_type, confidence);
        let create_time = self.created.unwrap_or(import.now);
        let settings = &import.engine.settings;
        Ok(ItemCopy {
            id: id.to_owned(),
            kind: Kind::Memory,
            memory_type: Some(judged.memory_type),
            content: body.to_owned(),
            summary: self.summary.clone().unwrap_or(judged.summary),
            importance: self.importance.unwrap_or(judged.importance),
            confidence,
            decay_rate: self.decay_rate.unwrap_or(judged.decay_rate),
            access_count: self.uses.unwrap_or(0),
            observations: self.observations.unwrap_or(1),
            create_time,
            access_time: self.used.unwrap_or(create_time),
            update_time: self.updated.unwrap_or(create_time),
            valid_from: self.valid_from,
            valid_to: self.valid_to,
            hidden_time: self.hidden,
            supersedes_id: self.replaces.clone(),
            source_conv_id: self.conversation.clone(),
            slot: None,
            tags: self.tags.clone(),
            keywords: self.keywords.clone().unwrap_or(judged.keywords),
            metadata: self.metadata.clone(),
            collection: self.collection.clone().unwrap_or_else(|| settings.memory_collection.clone()),
            scope: self.scope.unwrap_or(Scope::Project),
            owner: self.owner.clone(),
            status: self.status.unwrap_or(Status::Active),
            tier: self.tier,
            source: self.source.clone().unwrap_or_else(|| ACTOR.to_owned()),
            // The author of a file that names neither its speaker nor its source is unknown.
            provenance: self.provenance().or_else(|| {
                self.source.is_none().then(|| Provenance::picked(Author::Import, Author::Import))
            }),
            host: self.host.clone(),
            exposed: None,
            anchors: Vec::new(),
            part: None,
            vector: None,
        })
    }

    /// Returns the provenance that the head states, which is trusted; `None` if it names no speaker.
    fn provenance(&self) -> Option<Provenance> {
        let said_by = self.said_by?;
        Some(Provenance {
            said_by,
            least_trusted: said_by.less_trusted(self.least_trusted.unwrap_or(said_by)),
            reviewed: self.reviewed.unwrap_or(!said_by.is_outside()),
        })
    }

    /// Returns a memory with the fields of this head. Its namespace, source, chain, counts and times stay those of the store.
    pub(crate) fn onto(&self, there: &ItemCopy, body: &str, is_same_text: bool) -> ItemCopy {
        let memory_type = self.memory_type.or(there.memory_type);
        let confidence = self.confidence.unwrap_or(there.confidence);
        let mut wanted = ItemCopy {
            memory_type,
            tags: self.tags.clone(),
            keywords: self.keywords.clone().unwrap_or_else(|| there.keywords.clone()),
            metadata: self.metadata.clone(),
            tier: self.tier,
            status: match (self.status, there.status) {
                // Only a successor makes a memory superseded, and a superseded one stays so.
                (_, Status::Superseded) => Status::Superseded,
                (Some(Status::Superseded), there) => there,
                (told, _) => told.unwrap_or(Status::Active),
            },
            importance: self.importance.unwrap_or(there.importance),
            confidence,
            decay_rate: self.decay_rate.unwrap_or(there.decay_rate),
            summary: self.summary.clone().unwrap_or_else(|| there.summary.clone()),
            valid_from: self.valid_from,
            valid_to: self.valid_to,
            ..there.clone()
        };
        if !is_same_text {
            // The person who edits the file is the author of the new text.
            wanted.provenance = Some(Provenance::told(Author::User));
            // Values that were derived from the old text do not fit the new one; values that the head sets do.
            let judged = TextClass::UNKNOWN.judge(body.trim(), memory_type, confidence);
            if wanted.keywords == there.keywords {
                wanted.keywords = judged.keywords;
            }
            if self.summary.is_none() {
                wanted.summary = judged.summary;
            }
            if wanted.importance.to_bits() == there.importance.to_bits() {
                wanted.importance = there.importance.max(judged.importance);
            }
            // The old text held until now; the file does not state since when the new one holds.
            if wanted.valid_to == there.valid_to && wanted.valid_from == there.valid_from {
                (wanted.valid_from, wanted.valid_to) = (None, None);
            }
        }
        wanted
    }
}

fn plain(name: &str, value: &Value) -> Field<String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(truth) => Ok(truth.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => Err(format!("{name}: {value} is no plain text")),
    }
}

/// Returns the names of the fields that a file changes.
pub(crate) fn differences(there: &ItemCopy, wanted: &ItemCopy) -> Vec<&'static str> {
    let other = |one: f32, other: f32| one.to_bits() != other.to_bits();
    [
        ("type", there.memory_type != wanted.memory_type),
        ("tags", there.tags != wanted.tags),
        ("keywords", there.keywords != wanted.keywords),
        ("metadata", there.metadata != wanted.metadata),
        ("pinned", there.tier != wanted.tier),
        ("status", there.status != wanted.status),
        ("importance", other(there.importance, wanted.importance)),
        ("confidence", other(there.confidence, wanted.confidence)),
        ("decay_rate", other(there.decay_rate, wanted.decay_rate)),
        ("summary", there.summary != wanted.summary),
        ("valid_from", there.valid_from != wanted.valid_from),
        ("valid_to", there.valid_to != wanted.valid_to),
    ]
    .into_iter()
    .filter_map(|(name, differs)| differs.then_some(name))
    .collect()
}
