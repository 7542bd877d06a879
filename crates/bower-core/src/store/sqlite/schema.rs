//! The database schema as numbered migration steps.
//! A step that has been released is never edited; a change is a new step at the end.

/// `PRAGMA application_id` of every Bowerbird store: "BOWR".
pub const APPLICATION_ID: i32 = 0x424F_5752;

/// The steps; step `n` brings a store from schema `n` to `n + 1`.
pub const MIGRATIONS: &[&str] = &[
    SCHEMA_1,
    SCHEMA_2,
    INJECTIONS,
    COUNTS,
    FIELDS,
    PACKED,
    LIFE,
    HOLDERS,
    NEWS,
    CLOCK,
    CHECKSUMS,
    PROVENANCE,
    WORDINGS,
    ANCHORS,
    MENTIONS,
    RENAMED_TAGS,
    ALIASES,
    TRIPLES,
    VECTORS_BY_MODEL,
    CACHE_USE,
    LLM,
];

/// First schema that keeps counts of items and documents.
pub const KEEPS_COUNTS: u32 = 4;

/// First schema that finds metadata by value.
pub const KEEPS_FIELDS: u32 = 5;

/// First schema that keeps the life of a memory.
pub const KEEPS_LIFE: u32 = 7;

/// First schema that counts the memories of each scope and owner.
pub const KEEPS_HOLDERS: u32 = 8;

/// First schema with indexes of the newest and the pinned memories.
pub const KEEPS_NEWS: u32 = 9;

/// First schema that stores the time that the store trusts.
pub const KEEPS_CLOCK: u32 = 10;
/// First schema with checksums of rows and a record of losses.
pub const KEEPS_CHECKSUMS: u32 = 11;
/// First schema that keeps provenance.
pub const KEEPS_PROVENANCE: u32 = 12;
/// First schema that keeps wordings of memories, and what a memory may replace or repeat.
pub const KEEPS_WORDINGS: u32 = 13;

/// First schema that keeps anchors.
pub const KEEPS_ANCHORS: u32 = 14;

/// First schema that keeps the mentions of new rows.
pub const KEEPS_MENTIONS: u32 = 15;

/// First schema that keeps renamed tags.
pub const KEEPS_RENAMED_TAGS: u32 = 16;

/// First schema that keeps aliases of entities.
pub const KEEPS_ALIASES: u32 = 17;
/// First schema that keeps triples.
pub const KEEPS_TRIPLES: u32 = 18;
/// First schema that keeps a vector of each model of an item.
pub const KEEPS_VECTORS_BY_MODEL: u32 = 19;
/// First schema that counts the uses of cached vectors.
pub const KEEPS_CACHE_USE: u32 = 20;
/// First schema that keeps answers of language models, and what requests cost.
pub const KEEPS_LLM: u32 = 21;

/// The number of the newest schema.
pub const NEWEST: u32 = MIGRATIONS.len() as u32;

/// Rows of `items` are narrow and their texts are in another table: a filter over a million rows reads megabytes, not
/// gigabytes. Times are microseconds since 1970. `AUTOINCREMENT` keeps a row number from being used again, so an index
/// can mask a removed row. Events have no foreign key, because they outlive their subjects.
const SCHEMA_1: &str = "
CREATE TABLE store (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  identity TEXT NOT NULL,
  change INTEGER NOT NULL,
  create_time INTEGER NOT NULL
) STRICT;

CREATE TABLE documents (
  row INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  collection TEXT NOT NULL,
  path TEXT NOT NULL,
  file_name TEXT NOT NULL,
  title TEXT,
  version TEXT NOT NULL,
  hash TEXT NOT NULL,
  recipe TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  metadata TEXT NOT NULL,
  create_time INTEGER NOT NULL,
  update_time INTEGER NOT NULL
) STRICT;
CREATE INDEX documents_path ON documents (collection, path);

CREATE TABLE items (
  row INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  collection TEXT NOT NULL,
  type TEXT,
  importance REAL NOT NULL,
  confidence REAL NOT NULL,
  decay_rate REAL NOT NULL,
  access_count INTEGER NOT NULL DEFAULT 0,
  observations INTEGER NOT NULL DEFAULT 1,
  create_time INTEGER NOT NULL,
  access_time INTEGER NOT NULL,
  update_time INTEGER NOT NULL,
  valid_from INTEGER,
  valid_to INTEGER,
  scope TEXT NOT NULL,
  owner TEXT,
  status TEXT NOT NULL,
  tier INTEGER NOT NULL,
  metadata TEXT NOT NULL,
  source TEXT NOT NULL,
  source_conv_id TEXT,
  supersedes_id TEXT,
  document INTEGER REFERENCES documents (row),
  position INTEGER,
  first_line INTEGER,
  last_line INTEGER,
  text_change INTEGER NOT NULL
) STRICT;
CREATE INDEX items_text_change ON items (text_change);
CREATE INDEX items_document ON items (document, position) WHERE document IS NOT NULL;
CREATE INDEX items_collection ON items (collection);
CREATE INDEX items_create_time ON items (create_time);
CREATE INDEX items_memory ON items (type) WHERE kind = 'memory';
CREATE INDEX items_hidden ON items (status) WHERE status IN ('superseded', 'archived');

CREATE TABLE texts (
  row INTEGER PRIMARY KEY REFERENCES items (row),
  summary TEXT NOT NULL,
  section TEXT,
  key TEXT,
  content TEXT NOT NULL,
  keywords TEXT NOT NULL
) STRICT;

CREATE TABLE tags (
  tag TEXT NOT NULL,
  row INTEGER NOT NULL REFERENCES items (row),
  PRIMARY KEY (tag, row)
) STRICT, WITHOUT ROWID;
CREATE INDEX tags_row ON tags (row);

CREATE TABLE models (
  row INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE vectors (
  row INTEGER PRIMARY KEY REFERENCES items (row),
  model INTEGER NOT NULL REFERENCES models (row),
  change INTEGER NOT NULL,
  vector BLOB NOT NULL
) STRICT;
CREATE INDEX vectors_change ON vectors (model, change);

CREATE TABLE tail (
  row INTEGER PRIMARY KEY REFERENCES items (row),
  change INTEGER NOT NULL,
  terms BLOB NOT NULL
) STRICT;

CREATE TABLE removals (
  change INTEGER NOT NULL,
  row INTEGER NOT NULL,
  PRIMARY KEY (change, row)
) STRICT, WITHOUT ROWID;

CREATE TABLE embedding_cache (
  key BLOB PRIMARY KEY,
  model INTEGER NOT NULL REFERENCES models (row),
  used_time INTEGER NOT NULL,
  vector BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX embedding_cache_used ON embedding_cache (used_time);

CREATE TABLE events (
  event INTEGER PRIMARY KEY AUTOINCREMENT,
  change INTEGER NOT NULL,
  time INTEGER NOT NULL,
  action TEXT NOT NULL,
  subject TEXT,
  actor TEXT NOT NULL,
  detail TEXT NOT NULL
) STRICT;
CREATE INDEX events_change ON events (change);
CREATE INDEX events_subject ON events (subject) WHERE subject IS NOT NULL;
";

/// Token codes are kept here until the token index holds them. Unlike vectors they are not kept in the store afterwards:
/// if the index is lost, they are computed again from the text. The cache keeps a question's tokens beside its vector.
const SCHEMA_2: &str = "
CREATE TABLE token_tail (
  row INTEGER PRIMARY KEY REFERENCES items (row),
  model INTEGER NOT NULL REFERENCES models (row),
  change INTEGER NOT NULL,
  codes BLOB NOT NULL
) STRICT;
CREATE INDEX token_tail_change ON token_tail (model, change);

ALTER TABLE embedding_cache ADD COLUMN tokens_model INTEGER REFERENCES models (row);
ALTER TABLE embedding_cache ADD COLUMN tokens BLOB;
";

/// Items that each session was given. The text is stored only as a hash, which is removed with the item.
const INJECTIONS: &str = "
CREATE TABLE injections (
  session TEXT NOT NULL,
  row INTEGER NOT NULL REFERENCES items (row),
  text_hash INTEGER NOT NULL,
  time INTEGER NOT NULL,
  PRIMARY KEY (session, row)
) STRICT, WITHOUT ROWID;
CREATE INDEX injections_row ON injections (row);
CREATE INDEX injections_time ON injections (time);
";

/// Selects the contents of `counts`, except for its rows with 0.
macro_rules! counted {
    () => {
        "SELECT kind, collection, coalesce(type, '') AS type, status, count(*) AS number,
  sum(CAST(round(importance * 1099511627776.0) AS INTEGER)) AS importance FROM items GROUP BY 1, 2, 3, 4
UNION ALL SELECT 'document', collection, '', '', count(*), 0 FROM documents GROUP BY 2"
    };
}

/// Counts all items and documents.
pub const COUNTED: &str = counted!();

/// Numbers of items and documents of each kind, kept up to date by triggers, so that no query has to count a million
/// rows. `importance` is a sum in steps of 2^-40, in which every `f32` from 2^-17 to 1 is a whole number. Sums of
/// integers do not drift. A kind that has no items any more keeps its row, with 0.
const COUNTS: &str = concat!(
    "
CREATE TABLE counts (
  kind TEXT NOT NULL,
  collection TEXT NOT NULL,
  type TEXT NOT NULL,
  status TEXT NOT NULL,
  number INTEGER NOT NULL,
  importance INTEGER NOT NULL,
  PRIMARY KEY (kind, collection, type, status)
) STRICT, WITHOUT ROWID;

INSERT INTO counts ",
    counted!(),
    ";

CREATE TRIGGER counts_item_added AFTER INSERT ON items BEGIN
  INSERT INTO counts VALUES (new.kind, new.collection, coalesce(new.type, ''), new.status, 1,
    CAST(round(new.importance * 1099511627776.0) AS INTEGER))
  ON CONFLICT DO UPDATE SET number = number + 1, importance = importance + excluded.importance;
END;

CREATE TRIGGER counts_item_removed AFTER DELETE ON items BEGIN
  UPDATE counts SET number = number - 1,
    importance = importance - CAST(round(old.importance * 1099511627776.0) AS INTEGER)
  WHERE kind = old.kind AND collection = old.collection AND type = coalesce(old.type, '') AND status = old.status;
END;

CREATE TRIGGER counts_item_changed AFTER UPDATE OF kind, collection, type, status, importance ON items
WHEN (old.kind, old.collection, old.type, old.status, old.importance)
  IS NOT (new.kind, new.collection, new.type, new.status, new.importance) BEGIN
  UPDATE counts SET number = number - 1,
    importance = importance - CAST(round(old.importance * 1099511627776.0) AS INTEGER)
  WHERE kind = old.kind AND collection = old.collection AND type = coalesce(old.type, '') AND status = old.status;
  INSERT INTO counts VALUES (new.kind, new.collection, coalesce(new.type, ''), new.status, 1,
    CAST(round(new.importance * 1099511627776.0) AS INTEGER))
  ON CONFLICT DO UPDATE SET number = number + 1, importance = importance + excluded.importance;
END;

CREATE TRIGGER counts_document_added AFTER INSERT ON documents BEGIN
  INSERT INTO counts VALUES ('document', new.collection, '', '', 1, 0)
  ON CONFLICT DO UPDATE SET number = number + 1;
END;

CREATE TRIGGER counts_document_removed AFTER DELETE ON documents BEGIN
  UPDATE counts SET number = number - 1 WHERE kind = 'document' AND collection = old.collection;
END;
"
);

/// Selects the fields of a metadata column: name, value and row. JSON has no blobs, so blobs stand for the values that
/// SQLite would take for numbers or NULL: true, false and null. Only the beginning of a long text is kept, enough to tell
/// it from every shorter one; see [`LONG_TEXT`].
macro_rules! fields {
    ($row:literal, $from:literal) => {
        concat!(
            "SELECT j.key, CASE j.type WHEN 'true' THEN x'01' WHEN 'false' THEN x'00' WHEN 'null' THEN x''
  WHEN 'text' THEN CASE WHEN length(CAST(j.atom AS BLOB)) > 200
    THEN CAST(substr(CAST(j.atom AS BLOB), 1, 200) AS TEXT) ELSE j.atom END
  ELSE j.atom END, ",
            $row,
            " FROM ",
            $from,
            " WHERE j.type NOT IN ('array', 'object')"
        )
    };
}

/// Number of bytes of a text that fields keep. A shorter text compares with the kept beginning exactly as it does with
/// the whole text.
pub const LONG_TEXT: usize = 200;

/// Tables of fields, each with the query that selects its correct contents.
pub const ALL_FIELDS: &[(&str, &str)] = &[
    ("item_fields", fields!("i.row", "items i, json_each(i.metadata) j")),
    ("document_fields", fields!("d.row", "documents d, json_each(d.metadata) j")),
];

/// Metadata by value, so that the cost of a filter depends on the rows that it keeps. A chunk's metadata is that of its
/// document, stored once for all its chunks. Most items have none, for which the triggers only compare two characters.
const FIELDS: &str = concat!(
    "
CREATE TABLE item_fields (
  name TEXT NOT NULL,
  value ANY NOT NULL,
  row INTEGER NOT NULL,
  PRIMARY KEY (name, value, row)
) STRICT, WITHOUT ROWID;

CREATE TABLE document_fields (
  name TEXT NOT NULL,
  value ANY NOT NULL,
  document INTEGER NOT NULL,
  PRIMARY KEY (name, value, document)
) STRICT, WITHOUT ROWID;

INSERT OR IGNORE INTO item_fields ",
    fields!("i.row", "items i, json_each(i.metadata) j"),
    " ORDER BY 1, 2, 3;
INSERT OR IGNORE INTO document_fields ",
    fields!("d.row", "documents d, json_each(d.metadata) j"),
    " ORDER BY 1, 2, 3;

CREATE TRIGGER fields_item_added AFTER INSERT ON items WHEN new.metadata <> '{}' BEGIN
  INSERT OR IGNORE INTO item_fields ",
    fields!("new.row", "json_each(new.metadata) j"),
    ";
END;
CREATE TRIGGER fields_item_removed AFTER DELETE ON items WHEN old.metadata <> '{}' BEGIN
  DELETE FROM item_fields WHERE (name, value, row) IN (",
    fields!("old.row", "json_each(old.metadata) j"),
    ");
END;
CREATE TRIGGER fields_item_changed AFTER UPDATE OF metadata ON items WHEN old.metadata <> new.metadata BEGIN
  DELETE FROM item_fields WHERE (name, value, row) IN (",
    fields!("old.row", "json_each(old.metadata) j"),
    ");
  INSERT OR IGNORE INTO item_fields ",
    fields!("new.row", "json_each(new.metadata) j"),
    ";
END;

CREATE TRIGGER fields_document_added AFTER INSERT ON documents WHEN new.metadata <> '{}' BEGIN
  INSERT OR IGNORE INTO document_fields ",
    fields!("new.row", "json_each(new.metadata) j"),
    ";
END;
CREATE TRIGGER fields_document_removed AFTER DELETE ON documents WHEN old.metadata <> '{}' BEGIN
  DELETE FROM document_fields WHERE (name, value, document) IN (",
    fields!("old.row", "json_each(old.metadata) j"),
    ");
END;
CREATE TRIGGER fields_document_changed AFTER UPDATE OF metadata ON documents WHEN old.metadata <> new.metadata BEGIN
  DELETE FROM document_fields WHERE (name, value, document) IN (",
    fields!("old.row", "json_each(old.metadata) j"),
    ");
  INSERT OR IGNORE INTO document_fields ",
    fields!("new.row", "json_each(new.metadata) j"),
    ";
END;
"
);

/// No table changes. From this schema on a vector may be packed; older programs would read it as one of another
/// dimension.
const PACKED: &str = "";

/// The life of a memory. `slot` is a key that earlier versions derived from the text; new memories have none.
/// `hidden_time` is the time at which an item was superseded or archived. An item's successor is the one whose
/// `supersedes_id` names it. A review refers to its two sides by row and is removed with either of them. `exposures`
/// holds the last time and number of an item's exposures, which are not uses; a text that repeats a recent exposure is
/// recognised.
const LIFE: &str = "
ALTER TABLE items ADD COLUMN slot TEXT;
ALTER TABLE items ADD COLUMN hidden_time INTEGER;
UPDATE items SET hidden_time = update_time WHERE status IN ('superseded', 'archived');
CREATE INDEX items_place ON items (collection, scope, owner) WHERE kind = 'memory';
CREATE INDEX items_slot ON items (slot) WHERE slot IS NOT NULL;
CREATE INDEX items_valid_from ON items (valid_from) WHERE valid_from IS NOT NULL;
CREATE INDEX items_valid_to ON items (valid_to) WHERE valid_to IS NOT NULL;
CREATE INDEX items_supersedes ON items (supersedes_id) WHERE supersedes_id IS NOT NULL;

CREATE TABLE relations (
  row INTEGER NOT NULL REFERENCES items (row),
  relation TEXT NOT NULL,
  other INTEGER NOT NULL REFERENCES items (row),
  strength REAL NOT NULL,
  create_time INTEGER NOT NULL,
  PRIMARY KEY (row, relation, other)
) STRICT, WITHOUT ROWID;
CREATE INDEX relations_other ON relations (other);

CREATE TABLE reviews (
  review INTEGER PRIMARY KEY AUTOINCREMENT,
  row INTEGER NOT NULL REFERENCES items (row),
  other INTEGER NOT NULL REFERENCES items (row),
  reason TEXT NOT NULL,
  create_time INTEGER NOT NULL,
  outcome TEXT,
  close_time INTEGER
) STRICT;
CREATE INDEX reviews_row ON reviews (row);
CREATE INDEX reviews_other ON reviews (other);
CREATE INDEX reviews_open ON reviews (review) WHERE outcome IS NULL;

CREATE TABLE exposures (
  row INTEGER PRIMARY KEY REFERENCES items (row),
  time INTEGER NOT NULL,
  times INTEGER NOT NULL
) STRICT;
CREATE INDEX exposures_time ON exposures (time);
";

/// Selects the contents of `holders`, except for its rows with 0.
macro_rules! held {
    () => {
        "SELECT scope, ifnull('=' || owner, '') AS owner, count(*) AS number FROM items
  WHERE kind = 'memory' AND status IN ('candidate', 'active') GROUP BY 1, 2"
    };
}

/// Counts the candidate and active memories of each scope and owner.
pub const HELD: &str = held!();

/// Numbers of candidate and active memories of each scope and owner, kept up to date by triggers: every `status` compares
/// them with a limit. An owner is stored after a `=`, so that a missing owner differs from an empty one. Runs over many memories
/// are found by their events, which have no subject.
const HOLDERS: &str = concat!(
    "
CREATE TABLE holders (
  scope TEXT NOT NULL,
  owner TEXT NOT NULL,
  number INTEGER NOT NULL,
  PRIMARY KEY (scope, owner)
) STRICT, WITHOUT ROWID;

INSERT INTO holders ",
    held!(),
    ";

CREATE TRIGGER holders_added AFTER INSERT ON items
WHEN new.kind = 'memory' AND new.status IN ('candidate', 'active') BEGIN
  INSERT INTO holders VALUES (new.scope, ifnull('=' || new.owner, ''), 1)
  ON CONFLICT DO UPDATE SET number = number + 1;
END;

CREATE TRIGGER holders_removed AFTER DELETE ON items
WHEN old.kind = 'memory' AND old.status IN ('candidate', 'active') BEGIN
  UPDATE holders SET number = number - 1 WHERE scope = old.scope AND owner = ifnull('=' || old.owner, '');
END;

CREATE TRIGGER holders_changed AFTER UPDATE OF status, scope, owner ON items
WHEN new.kind = 'memory' AND (old.status, old.scope, old.owner) IS NOT (new.status, new.scope, new.owner) BEGIN
  UPDATE holders SET number = number - 1 WHERE old.status IN ('candidate', 'active')
    AND scope = old.scope AND owner = ifnull('=' || old.owner, '');
  INSERT INTO holders SELECT new.scope, ifnull('=' || new.owner, ''), 1 WHERE new.status IN ('candidate', 'active')
  ON CONFLICT DO UPDATE SET number = number + 1;
END;

CREATE INDEX events_runs ON events (action, event) WHERE subject IS NULL;
"
);

/// A briefing reads the newest memories of some types and the pinned ones, and counts candidates. Without these indexes
/// that took 140 ms over 100,000 memories. Scope and owner are in the index, so that visibility needs no access to the
/// row.
const NEWS: &str = "
CREATE INDEX items_newest ON items (status, type, create_time, scope, owner) WHERE kind = 'memory';
CREATE INDEX items_pinned ON items (status) WHERE kind = 'memory' AND tier = 1;
";

/// The last time that the store trusted, with its last change then, and the clock's readings since it jumped. An older
/// store trusts the time of its last event. `clock_repairs` maps times of a wrong clock to their replacements: events
/// keep their times, and can still be undone.
const CLOCK: &str = "
CREATE TABLE clock (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  time INTEGER NOT NULL,
  change INTEGER NOT NULL,
  jump_time INTEGER,
  jump_change INTEGER,
  first_time INTEGER,
  mark_time INTEGER,
  is_trusted INTEGER NOT NULL
) STRICT;
INSERT INTO clock (one, time, change, is_trusted)
  SELECT 1, coalesce((SELECT time FROM events ORDER BY event DESC LIMIT 1), create_time), change, 0 FROM store;

CREATE TABLE clock_repairs (
  wrong INTEGER PRIMARY KEY,
  time INTEGER NOT NULL
) STRICT;
";

/// Checksums of rows; the migration computes those of existing rows. `copy` is a random number that each backup draws
/// again, so that a head is never compared with another copy of the same store. A loss is a range of changes that were
/// acknowledged and are missing. `open_losses` counts the losses that are not accepted, so that a question finds out from
/// a row that it reads anyway. `aside` names the folder beside the file that keeps the readable part.
const CHECKSUMS: &str = "
CREATE TABLE checksums (
  row INTEGER PRIMARY KEY REFERENCES items (row),
  text INTEGER NOT NULL,
  item INTEGER NOT NULL,
  vector INTEGER
) STRICT;
ALTER TABLE documents ADD COLUMN checksum INTEGER;
ALTER TABLE events ADD COLUMN checksum INTEGER;
ALTER TABLE tail ADD COLUMN checksum INTEGER;
ALTER TABLE token_tail ADD COLUMN checksum INTEGER;
ALTER TABLE embedding_cache ADD COLUMN checksum INTEGER;

ALTER TABLE store ADD COLUMN copy INTEGER NOT NULL DEFAULT 0;
ALTER TABLE store ADD COLUMN open_losses INTEGER NOT NULL DEFAULT 0;
CREATE TABLE losses (
  loss INTEGER PRIMARY KEY AUTOINCREMENT,
  first_change INTEGER NOT NULL,
  last_change INTEGER NOT NULL,
  time INTEGER NOT NULL,
  aside TEXT,
  accept_time INTEGER
) STRICT;
";

/// Provenance of an item. The columns hold the words of `Author`. NULL stands for `document`: most items are chunks of
/// files, and a filter reads all of their rows. The provenance of existing items is derived from their source
/// (`Provenance::of_source` does the same). It has as little trust as fits, because it is unknown whether a person or an
/// agent stated them. A memory extracted from a session counts as reviewed if a person kept it. A pattern counts as
/// reviewed if none of its examples was extracted without review.
///
/// A briefing reads the newest memories that a person reviewed or that have no outside source: both columns are in its
/// index.
const PROVENANCE: &str = "
ALTER TABLE items ADD COLUMN said_by TEXT;
ALTER TABLE items ADD COLUMN least_trusted TEXT;
ALTER TABLE items ADD COLUMN reviewed INTEGER NOT NULL DEFAULT 1;
ALTER TABLE items ADD COLUMN host TEXT;

UPDATE items SET said_by = 'import', least_trusted = 'import', reviewed = 0
WHERE kind = 'chunk' AND source_conv_id IS NOT NULL;

UPDATE items SET
  said_by = CASE
    WHEN source IN ('bower', 'cli', 'consolidate') THEN 'agent'
    WHEN source IN ('claude-code', 'codex', 'copilot', 'gemini', 'transcript', 'agent')
      THEN CASE WHEN lower(json_extract(metadata, '$.speaker')) = 'user' THEN 'user' ELSE 'agent' END
    ELSE 'import' END,
  reviewed = status <> 'candidate'
WHERE kind = 'memory';
UPDATE items SET least_trusted = said_by WHERE kind = 'memory';
UPDATE items SET host = source
WHERE source IN ('claude-code', 'codex', 'copilot', 'gemini') AND kind = 'memory';

UPDATE items SET reviewed = 0
WHERE kind = 'memory' AND source IN ('claude-code', 'codex', 'copilot', 'gemini', 'transcript', 'agent')
  AND NOT EXISTS (SELECT 1 FROM events e WHERE e.subject = items.id AND e.action = 'promote'
    AND json_extract(e.detail, '$.rule') = 'told');
UPDATE items SET reviewed = 0
WHERE kind = 'memory' AND source = 'consolidate' AND EXISTS (
  SELECT 1 FROM relations r JOIN items m ON m.row = r.row
  WHERE r.other = items.row AND r.relation = 'example_of' AND m.reviewed = 0);

DROP INDEX items_newest;
CREATE INDEX items_newest ON items (status, type, create_time, scope, owner, reviewed, least_trusted)
WHERE kind = 'memory';
";

/// Wordings: rows of status `variant`, each tied to its memory by the relation `variant_of`. Older programs know neither
/// word. The index holds wordings alone, so a store without any pays nothing.
const WORDINGS: &str = "
CREATE INDEX items_variants ON items (status) WHERE status = 'variant';
";

/// Anchors of memories: the places in a project's files that they name. `text_hash` is the text of
/// [`TextHash`](crate::item::TextHash).
const ANCHORS: &str = "
CREATE TABLE anchors (
  row INTEGER NOT NULL REFERENCES items (row),
  number INTEGER NOT NULL,
  root TEXT NOT NULL,
  path TEXT,
  symbol TEXT,
  first_line INTEGER,
  last_line INTEGER,
  text_hash TEXT,
  commit_hash TEXT,
  PRIMARY KEY (row, number)
) STRICT, WITHOUT ROWID;
";

/// Mentions of entities by new rows, kept here until the graph index holds them. Those of older rows are extracted from the
/// text.
const MENTIONS: &str = "
CREATE TABLE mention_tail (
  row INTEGER PRIMARY KEY REFERENCES items (row),
  change INTEGER NOT NULL,
  mentions BLOB NOT NULL,
  checksum INTEGER
) STRICT;
";

/// Renamed tags. `tag_aliases` maps a tag to its new name; it is applied to every tag that is written, so that a renaming
/// outlives the next reading of a file. `tags` holds the names that are shown. `written_tags` holds those that the writer
/// gave, for rows with a renamed one, so that a renaming can be undone. `document_tags` are tags that a person gave a
/// document: its next chunks get them too. `retagged` lists rows whose tags changed after they were written, until the
/// graph index holds the change.
const RENAMED_TAGS: &str = "
CREATE TABLE tag_aliases (
  tag TEXT PRIMARY KEY,
  target TEXT NOT NULL,
  change INTEGER NOT NULL,
  create_time INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE written_tags (
  row INTEGER NOT NULL REFERENCES items (row),
  written TEXT NOT NULL,
  tag TEXT NOT NULL,
  PRIMARY KEY (row, written)
) STRICT, WITHOUT ROWID;
CREATE INDEX written_tags_written ON written_tags (written);

CREATE TABLE document_tags (
  document INTEGER NOT NULL,
  tag TEXT NOT NULL,
  PRIMARY KEY (document, tag)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER document_tags_removed AFTER DELETE ON documents BEGIN
  DELETE FROM document_tags WHERE document = old.row;
END;

CREATE TABLE retagged (
  row INTEGER PRIMARY KEY REFERENCES items (row),
  change INTEGER NOT NULL
) STRICT;
CREATE INDEX retagged_change ON retagged (change);
";

/// Aliases: statements of people that two names mean one entity. The forms are the folded names, the lesser one first, so that
/// a pair is kept once. `name` and `other` are as they were written.
const ALIASES: &str = "
CREATE TABLE entity_aliases (
  first_form TEXT NOT NULL,
  second_form TEXT NOT NULL,
  name TEXT NOT NULL,
  other TEXT NOT NULL,
  change INTEGER NOT NULL,
  create_time INTEGER NOT NULL,
  PRIMARY KEY (first_form, second_form)
) STRICT, WITHOUT ROWID;
";

/// Triples that language models read off texts. An extraction is the answer of a source for one text, which is known by its
/// SHA-256; `extracted` has the rows with that text. An answer stays if its rows are removed, so that the same text is not sent
/// again. One for a text that was forgotten goes with its last row.
const TRIPLES: &str = "
CREATE TABLE extractions (
  extraction INTEGER PRIMARY KEY AUTOINCREMENT,
  source TEXT NOT NULL,
  prompt INTEGER NOT NULL,
  text_hash BLOB NOT NULL,
  triples TEXT NOT NULL,
  create_time INTEGER NOT NULL,
  is_forgotten INTEGER NOT NULL DEFAULT 0,
  UNIQUE (source, prompt, text_hash)
) STRICT;
CREATE INDEX extractions_text ON extractions (text_hash);

CREATE TABLE extracted (
  row INTEGER NOT NULL REFERENCES items (row),
  extraction INTEGER NOT NULL REFERENCES extractions (extraction),
  PRIMARY KEY (row, extraction)
) STRICT, WITHOUT ROWID;
CREATE INDEX extracted_extraction ON extracted (extraction);

CREATE TRIGGER extracted_removed AFTER DELETE ON extracted BEGIN
  DELETE FROM extractions WHERE extraction = old.extraction AND is_forgotten = 1
    AND NOT EXISTS (SELECT 1 FROM extracted WHERE extraction = old.extraction);
END;
";

/// An item may have a vector of several models: while another model's vectors are made, and afterwards, so that the earlier model
/// can be chosen again. Each row of the table has its own checksum.
const VECTORS_BY_MODEL: &str = "
CREATE TABLE vectors_by_model (
  row INTEGER NOT NULL REFERENCES items (row),
  model INTEGER NOT NULL REFERENCES models (row),
  change INTEGER NOT NULL,
  vector BLOB NOT NULL,
  checksum INTEGER,
  PRIMARY KEY (row, model)
) STRICT;
INSERT INTO vectors_by_model (row, model, change, vector, checksum)
  SELECT v.row, v.model, v.change, v.vector, c.vector FROM vectors v LEFT JOIN checksums c ON c.row = v.row ORDER BY v.row;
DROP TABLE vectors;
ALTER TABLE vectors_by_model RENAME TO vectors;
CREATE INDEX vectors_change ON vectors (model, change);
ALTER TABLE checksums DROP COLUMN vector;
";

/// What each cached vector is for (a question or a document), its size and its number of hits. `cache_counts` counts hits and
/// misses for each model; they outlive the entries. `cache_drops` counts removals by people, so that other processes drop their copies
/// too. The index holds all that totals and the choice of entries to drop need.
const CACHE_USE: &str = "
ALTER TABLE embedding_cache ADD COLUMN role TEXT NOT NULL DEFAULT 'question';
ALTER TABLE embedding_cache ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE embedding_cache ADD COLUMN hits INTEGER NOT NULL DEFAULT 0;
UPDATE embedding_cache SET bytes = length(key) + length(vector) + ifnull(length(tokens), 0);
DROP INDEX embedding_cache_used;
CREATE INDEX embedding_cache_used ON embedding_cache (role, used_time, model, bytes);

CREATE TABLE cache_counts (
  model INTEGER NOT NULL REFERENCES models (row),
  role TEXT NOT NULL,
  hits INTEGER NOT NULL,
  misses INTEGER NOT NULL,
  PRIMARY KEY (model, role)
) STRICT, WITHOUT ROWID;

CREATE TABLE cache_drops (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  times INTEGER NOT NULL
) STRICT;
INSERT INTO cache_drops VALUES (1, 0);
";

/// Answers of language models by the hash of everything that they depend on, and what requests cost. A request is recorded before it
/// is sent, with the most that it may cost (`is_open`), and booked when it ends. Money is in billionths of a dollar.
const LLM: &str = "
CREATE TABLE llm_answers (
  key BLOB PRIMARY KEY,
  answer TEXT NOT NULL,
  create_time INTEGER NOT NULL,
  used_time INTEGER NOT NULL,
  hits INTEGER NOT NULL,
  checksum INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX llm_answers_used ON llm_answers (used_time);

CREATE TABLE llm_calls (
  call INTEGER PRIMARY KEY AUTOINCREMENT,
  time INTEGER NOT NULL,
  operation TEXT NOT NULL,
  model TEXT NOT NULL,
  billionths INTEGER NOT NULL,
  is_open INTEGER NOT NULL,
  input_tokens INTEGER,
  output_tokens INTEGER,
  failure TEXT
) STRICT;
CREATE INDEX llm_calls_time ON llm_calls (time);
";
