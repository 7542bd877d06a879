//! The database schema as numbered migration steps.
//! A step that has been released is never edited; a change is a new step at the end.

/// `PRAGMA application_id` of every Bowerbird store: "BOWR".
pub const APPLICATION_ID: i32 = 0x424F_5752;

/// The steps; step `n` brings a store from schema `n` to `n + 1`.
pub const MIGRATIONS: &[&str] = &[
    SCHEMA_1, SCHEMA_2, INJECTIONS, COUNTS, FIELDS, PACKED, LIFE, HOLDERS, NEWS, CLOCK, CHECKSUMS, PROVENANCE,
];

/// The schema from which on numbers are kept.
pub const KEEPS_COUNTS: u32 = 4;

/// The schema from which on fields are found by their values.
pub const KEEPS_FIELDS: u32 = 5;

/// The schema from which on the life of a memory is kept.
pub const KEEPS_LIFE: u32 = 7;

/// The schema from which on holders are counted.
pub const KEEPS_HOLDERS: u32 = 8;

/// The schema from which on the newest memories and the pinned ones have indexes.
pub const KEEPS_NEWS: u32 = 9;

/// The schema from which on a store remembers the time that it trusts.
pub const KEEPS_CLOCK: u32 = 10;
/// The schema from which on rows have checksums, and what was lost is written down.
pub const KEEPS_CHECKSUMS: u32 = 11;
/// The schema from which on provenance is kept.
pub const KEEPS_PROVENANCE: u32 = 12;

/// The number of the newest schema.
pub const NEWEST: u32 = MIGRATIONS.len() as u32;

/// Items are narrow and their texts apart, so that a filter over a million rows reads megabytes, not gigabytes.
/// Times are microseconds since 1970. `AUTOINCREMENT` keeps a row number from ever being used again, which is what
/// lets an index mask a removed row. Events have no foreign key: history outlives what it describes.
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

/// Token codes wait here until the token index holds them; unlike vectors they are kept nowhere else afterwards, being made
/// anew from the text where the index is lost. The cache keeps a question's tokens beside its vector.
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

/// What each session was given. The text is there as a hash alone, and goes with its item.
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

/// What `counts` must hold, but for what it holds 0 of.
macro_rules! counted {
    () => {
        "SELECT kind, collection, coalesce(type, '') AS type, status, count(*) AS number,
  sum(CAST(round(importance * 1099511627776.0) AS INTEGER)) AS importance FROM items GROUP BY 1, 2, 3, 4
UNION ALL SELECT 'document', collection, '', '', count(*), 0 FROM documents GROUP BY 2"
    };
}

/// Counts everything anew.
pub const COUNTED: &str = counted!();

/// How many items and documents there are of each sort, kept by the transactions that change them, so that nobody has to
/// count a million rows to tell. `importance` is a sum in steps of 2^-40, of which every `f32` from 2^-17 to 1 is a whole
/// number: sums of integers do not drift. A sort that has no items any more stays, with 0.
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

/// The fields of a metadata column: name, value and row. JSON has no blobs, so they stand for what SQLite would take for
/// numbers or for nothing. Of a long text its beginning is enough to tell it from every shorter one; see [`LONG_TEXT`].
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

/// Bytes of a text that fields keep. One of fewer bytes equals, and stands before or after, a kept beginning exactly where
/// it does the whole text.
pub const LONG_TEXT: usize = 200;

/// What each table of fields must hold.
pub const ALL_FIELDS: &[(&str, &str)] = &[
    ("item_fields", fields!("i.row", "items i, json_each(i.metadata) j")),
    ("document_fields", fields!("d.row", "documents d, json_each(d.metadata) j")),
];

/// Metadata by value, so that a filter costs by the rows it keeps. A chunk's are those of its document, once for all its
/// chunks. Most items have none: a comparison of two characters is all that they pay.
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

/// No table changes. From here on a vector may be packed, which older programs would read as one of another dimension.
const PACKED: &str = "";

/// The life of a memory. `slot` is the subject and attribute of a memory that says one thing, in a normal form; `hidden_time`
/// is since when an item is superseded or archived. An item's successor is the one whose `supersedes_id` names it.
/// A review keeps the two sides by row and goes with either of them. `exposures` is when and how often answers gave an item, which
/// is not use; what was given lately is known again when somebody tells it back.
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

/// What `holders` must hold, but for what it holds 0 of.
macro_rules! held {
    () => {
        "SELECT scope, ifnull('=' || owner, '') AS owner, count(*) AS number FROM items
  WHERE kind = 'memory' AND status IN ('candidate', 'active') GROUP BY 1, 2"
    };
}

/// Counts everything anew.
pub const HELD: &str = held!();

/// How many candidate and active memories each scope and owner holds, kept by the transactions that change them: a limit is
/// compared with it at each `status`. An owner stands behind a `=`, so that none differs from an empty one. Runs over many
/// memories are found by their events, which have no subject.
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

/// A briefing reads the newest memories of some types and the pinned ones, and counts candidates: over 100,000 memories that took
/// 140 ms without these. Scope and owner are in the index, so that whose a memory is costs no look at its row.
const NEWS: &str = "
CREATE INDEX items_newest ON items (status, type, create_time, scope, owner) WHERE kind = 'memory';
CREATE INDEX items_pinned ON items (status) WHERE kind = 'memory' AND tier = 1;
";

/// The last time that the store trusted, with its last change then, and where the clock has been since it jumped away from there;
/// an older store trusts its last event. `clock_repairs` is what a wrong clock wrote and what stands in its place, so that events,
/// which keep what they said, can still be taken back.
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

/// Checksums of rows; whoever brings a store here gives old rows theirs. `copy` is a random number that each backup gets anew, so that
/// the head beside the file is never compared with another copy of the same store. A loss is a range of changes that were acknowledged
/// and are not there; `open_losses` counts those that nobody has accepted, so that a question learns of them from the row that it reads
/// anyway. `aside` names the folder beside the file that keeps what could be read.
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

/// Whose words an item is. The words of the columns are those of `Author`; nothing stands for `document`, for most items are
/// chunks of files, and a filter reads all of their rows. What is there already is told by its source, with as little trust as fits
/// (`Provenance::of_source` says the same): nobody knows whether a person told it or an agent, what was picked from a session is
/// reviewed where somebody kept it, and a pattern where nothing that was picked is among its examples.
///
/// A briefing reads the newest memories that somebody reviewed or that came from nowhere else: both are in its index.
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
