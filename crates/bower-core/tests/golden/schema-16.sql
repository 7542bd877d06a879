-- A store of schema 16, dumped by Python's sqlite3: written by `bower curate` and `bower tags rename` without a model when 16 was the
-- newest schema. One memory has a renamed tag. Never written again: every later version opens it.
PRAGMA application_id=1112495954;
PRAGMA user_version=16;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
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
CREATE TABLE checksums (
  row INTEGER PRIMARY KEY REFERENCES items (row),
  text INTEGER NOT NULL,
  item INTEGER NOT NULL,
  vector INTEGER
) STRICT;
INSERT INTO "checksums" VALUES(1,2868802525,1000964979,NULL);
INSERT INTO "checksums" VALUES(2,1326513674,2980612077,NULL);
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
INSERT INTO "clock" VALUES(1,1795899405776212,1,NULL,NULL,NULL,NULL,0);
CREATE TABLE clock_repairs (
  wrong INTEGER PRIMARY KEY,
  time INTEGER NOT NULL
) STRICT;
CREATE TABLE counts (
  kind TEXT NOT NULL,
  collection TEXT NOT NULL,
  type TEXT NOT NULL,
  status TEXT NOT NULL,
  number INTEGER NOT NULL,
  importance INTEGER NOT NULL,
  PRIMARY KEY (kind, collection, type, status)
) STRICT, WITHOUT ROWID;
INSERT INTO "counts" VALUES('memory','memories','fact','active',2,303905013760);
CREATE TABLE document_fields (
  name TEXT NOT NULL,
  value ANY NOT NULL,
  document INTEGER NOT NULL,
  PRIMARY KEY (name, value, document)
) STRICT, WITHOUT ROWID;
CREATE TABLE document_tags (
  document INTEGER NOT NULL,
  tag TEXT NOT NULL,
  PRIMARY KEY (document, tag)
) STRICT, WITHOUT ROWID;
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
, checksum INTEGER) STRICT;
CREATE TABLE embedding_cache (
  key BLOB PRIMARY KEY,
  model INTEGER NOT NULL REFERENCES models (row),
  used_time INTEGER NOT NULL,
  vector BLOB NOT NULL
, tokens_model INTEGER REFERENCES models (row), tokens BLOB, checksum INTEGER) STRICT, WITHOUT ROWID;
CREATE TABLE events (
  event INTEGER PRIMARY KEY AUTOINCREMENT,
  change INTEGER NOT NULL,
  time INTEGER NOT NULL,
  action TEXT NOT NULL,
  subject TEXT,
  actor TEXT NOT NULL,
  detail TEXT NOT NULL
, checksum INTEGER) STRICT;
INSERT INTO "events" VALUES(1,1,1795899405752014,'curate','50d15019739c8b62','bower','{"collection":"memories","is":{"confidence":0.5,"least_trusted":"user","observations":1,"reviewed":true,"said_by":"user","status":"active","tier":2},"type":"fact"}',3183496657);
INSERT INTO "events" VALUES(2,2,1795899405776212,'sweep',NULL,'bower','{"turned":0,"waiting":0}',1058789150);
INSERT INTO "events" VALUES(3,3,1795899405804757,'curate','d9f732aaca551891','bower','{"collection":"memories","is":{"confidence":0.5,"least_trusted":"user","observations":1,"reviewed":true,"said_by":"user","status":"active","tier":2},"type":"fact"}',2394831897);
INSERT INTO "events" VALUES(4,4,1795899405846934,'retag','50d15019739c8b62','bower','{"added":["water"],"removed":["river"]}',2409625752);
INSERT INTO "events" VALUES(5,4,1795899405846934,'retag',NULL,'bower','{"items":1,"renamed":[{"from":"river","to":"water"}]}',1568709367);
CREATE TABLE exposures (
  row INTEGER PRIMARY KEY REFERENCES items (row),
  time INTEGER NOT NULL,
  times INTEGER NOT NULL
) STRICT;
CREATE TABLE holders (
  scope TEXT NOT NULL,
  owner TEXT NOT NULL,
  number INTEGER NOT NULL,
  PRIMARY KEY (scope, owner)
) STRICT, WITHOUT ROWID;
INSERT INTO "holders" VALUES('project','',2);
CREATE TABLE injections (
  session TEXT NOT NULL,
  row INTEGER NOT NULL REFERENCES items (row),
  text_hash INTEGER NOT NULL,
  time INTEGER NOT NULL,
  PRIMARY KEY (session, row)
) STRICT, WITHOUT ROWID;
CREATE TABLE item_fields (
  name TEXT NOT NULL,
  value ANY NOT NULL,
  row INTEGER NOT NULL,
  PRIMARY KEY (name, value, row)
) STRICT, WITHOUT ROWID;
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
, slot TEXT, hidden_time INTEGER, said_by TEXT, least_trusted TEXT, reviewed INTEGER NOT NULL DEFAULT 1, host TEXT) STRICT;
INSERT INTO "items" VALUES(1,'50d15019739c8b62','memory','memories','fact',1.38799995183944702148e-01,0.5,9.99999977648258209228e-03,0,1,1795899405752014,1795899405752014,1795899405752014,NULL,NULL,'project',NULL,'active',2,'{}','bower',NULL,NULL,NULL,NULL,NULL,NULL,1,NULL,NULL,'user','user',1,NULL);
INSERT INTO "items" VALUES(2,'d9f732aaca551891','memory','memories','fact',1.3760000467300415039e-01,0.5,9.99999977648258209228e-03,0,1,1795899405804757,1795899405804757,1795899405804757,NULL,NULL,'project',NULL,'active',2,'{}','bower',NULL,NULL,NULL,NULL,NULL,NULL,3,NULL,NULL,'user','user',1,NULL);
CREATE TABLE losses (
  loss INTEGER PRIMARY KEY AUTOINCREMENT,
  first_change INTEGER NOT NULL,
  last_change INTEGER NOT NULL,
  time INTEGER NOT NULL,
  aside TEXT,
  accept_time INTEGER
) STRICT;
CREATE TABLE mention_tail (
  row INTEGER PRIMARY KEY REFERENCES items (row),
  change INTEGER NOT NULL,
  mentions BLOB NOT NULL,
  checksum INTEGER
) STRICT;
INSERT INTO "mention_tail" VALUES(2,3,X'0000000041FA284AFBFFBC1341F6F57B4FEB627961E813D98DC0427E41A8A1FF219D6F8A41EE1458F429B98C4149F4FD1CA6C1DF61D4ECAF9AFDC7E0',1802437176);
CREATE TABLE models (
  row INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE relations (
  row INTEGER NOT NULL REFERENCES items (row),
  relation TEXT NOT NULL,
  other INTEGER NOT NULL REFERENCES items (row),
  strength REAL NOT NULL,
  create_time INTEGER NOT NULL,
  PRIMARY KEY (row, relation, other)
) STRICT, WITHOUT ROWID;
CREATE TABLE removals (
  change INTEGER NOT NULL,
  row INTEGER NOT NULL,
  PRIMARY KEY (change, row)
) STRICT, WITHOUT ROWID;
CREATE TABLE retagged (
  row INTEGER PRIMARY KEY REFERENCES items (row),
  change INTEGER NOT NULL
) STRICT;
INSERT INTO "retagged" VALUES(1,4);
CREATE TABLE reviews (
  review INTEGER PRIMARY KEY AUTOINCREMENT,
  row INTEGER NOT NULL REFERENCES items (row),
  other INTEGER NOT NULL REFERENCES items (row),
  reason TEXT NOT NULL,
  create_time INTEGER NOT NULL,
  outcome TEXT,
  close_time INTEGER
) STRICT;
CREATE TABLE store (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  identity TEXT NOT NULL,
  change INTEGER NOT NULL,
  create_time INTEGER NOT NULL
, copy INTEGER NOT NULL DEFAULT 0, open_losses INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO "store" VALUES(1,'8cd3e16ecc38fafa',4,1795899405680264,-8384848873672948971,0);
CREATE TABLE tag_aliases (
  tag TEXT PRIMARY KEY,
  target TEXT NOT NULL,
  change INTEGER NOT NULL,
  create_time INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "tag_aliases" VALUES('river','water',4,1795899405846934);
CREATE TABLE tags (
  tag TEXT NOT NULL,
  row INTEGER NOT NULL REFERENCES items (row),
  PRIMARY KEY (tag, row)
) STRICT, WITHOUT ROWID;
INSERT INTO "tags" VALUES('water',1);
CREATE TABLE tail (
  row INTEGER PRIMARY KEY REFERENCES items (row),
  change INTEGER NOT NULL,
  terms BLOB NOT NULL
, checksum INTEGER) STRICT;
INSERT INTO "tail" VALUES(1,1,X'03020000080000000201617405016772696E6404016D696C6C03016F6C6402016F6E07016F72736C616E64030174686509017765646E6573646179',190064161);
INSERT INTO "tail" VALUES(2,3,X'03020000070000000301616461060162616B6572690801666F726E686F6C740201696E05016D61727368040172656E740301746865',1332264600);
CREATE TABLE texts (
  row INTEGER PRIMARY KEY REFERENCES items (row),
  summary TEXT NOT NULL,
  section TEXT,
  key TEXT,
  content TEXT NOT NULL,
  keywords TEXT NOT NULL
) STRICT;
INSERT INTO "texts" VALUES(1,'The old mill at Orsland grinds on Wednesdays',NULL,NULL,'The old mill at Orsland grinds on Wednesdays','["wednesdays","orsland","grinds","mill","old"]');
INSERT INTO "texts" VALUES(2,'Ada Marsh rents the bakery in Fornholt',NULL,NULL,'Ada Marsh rents the bakery in Fornholt','["fornholt","marsh","ada","bakery","rents"]');
CREATE TABLE token_tail (
  row INTEGER PRIMARY KEY REFERENCES items (row),
  model INTEGER NOT NULL REFERENCES models (row),
  change INTEGER NOT NULL,
  codes BLOB NOT NULL
, checksum INTEGER) STRICT;
CREATE TABLE vectors (
  row INTEGER PRIMARY KEY REFERENCES items (row),
  model INTEGER NOT NULL REFERENCES models (row),
  change INTEGER NOT NULL,
  vector BLOB NOT NULL
) STRICT;
CREATE TABLE written_tags (
  row INTEGER NOT NULL REFERENCES items (row),
  written TEXT NOT NULL,
  tag TEXT NOT NULL,
  PRIMARY KEY (row, written)
) STRICT, WITHOUT ROWID;
INSERT INTO "written_tags" VALUES(1,'river','water');
CREATE INDEX documents_path ON documents (collection, path);
CREATE INDEX items_text_change ON items (text_change);
CREATE INDEX items_document ON items (document, position) WHERE document IS NOT NULL;
CREATE INDEX items_collection ON items (collection);
CREATE INDEX items_create_time ON items (create_time);
CREATE INDEX items_memory ON items (type) WHERE kind = 'memory';
CREATE INDEX items_hidden ON items (status) WHERE status IN ('superseded', 'archived');
CREATE INDEX tags_row ON tags (row);
CREATE INDEX vectors_change ON vectors (model, change);
CREATE INDEX embedding_cache_used ON embedding_cache (used_time);
CREATE INDEX events_change ON events (change);
CREATE INDEX events_subject ON events (subject) WHERE subject IS NOT NULL;
CREATE INDEX token_tail_change ON token_tail (model, change);
CREATE INDEX injections_row ON injections (row);
CREATE INDEX injections_time ON injections (time);
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
CREATE TRIGGER fields_item_added AFTER INSERT ON items WHEN new.metadata <> '{}' BEGIN
  INSERT OR IGNORE INTO item_fields SELECT j.key, CASE j.type WHEN 'true' THEN x'01' WHEN 'false' THEN x'00' WHEN 'null' THEN x''
  WHEN 'text' THEN CASE WHEN length(CAST(j.atom AS BLOB)) > 200
    THEN CAST(substr(CAST(j.atom AS BLOB), 1, 200) AS TEXT) ELSE j.atom END
  ELSE j.atom END, new.row FROM json_each(new.metadata) j WHERE j.type NOT IN ('array', 'object');
END;
CREATE TRIGGER fields_item_removed AFTER DELETE ON items WHEN old.metadata <> '{}' BEGIN
  DELETE FROM item_fields WHERE (name, value, row) IN (SELECT j.key, CASE j.type WHEN 'true' THEN x'01' WHEN 'false' THEN x'00' WHEN 'null' THEN x''
  WHEN 'text' THEN CASE WHEN length(CAST(j.atom AS BLOB)) > 200
    THEN CAST(substr(CAST(j.atom AS BLOB), 1, 200) AS TEXT) ELSE j.atom END
  ELSE j.atom END, old.row FROM json_each(old.metadata) j WHERE j.type NOT IN ('array', 'object'));
END;
CREATE TRIGGER fields_item_changed AFTER UPDATE OF metadata ON items WHEN old.metadata <> new.metadata BEGIN
  DELETE FROM item_fields WHERE (name, value, row) IN (SELECT j.key, CASE j.type WHEN 'true' THEN x'01' WHEN 'false' THEN x'00' WHEN 'null' THEN x''
  WHEN 'text' THEN CASE WHEN length(CAST(j.atom AS BLOB)) > 200
    THEN CAST(substr(CAST(j.atom AS BLOB), 1, 200) AS TEXT) ELSE j.atom END
  ELSE j.atom END, old.row FROM json_each(old.metadata) j WHERE j.type NOT IN ('array', 'object'));
  INSERT OR IGNORE INTO item_fields SELECT j.key, CASE j.type WHEN 'true' THEN x'01' WHEN 'false' THEN x'00' WHEN 'null' THEN x''
  WHEN 'text' THEN CASE WHEN length(CAST(j.atom AS BLOB)) > 200
    THEN CAST(substr(CAST(j.atom AS BLOB), 1, 200) AS TEXT) ELSE j.atom END
  ELSE j.atom END, new.row FROM json_each(new.metadata) j WHERE j.type NOT IN ('array', 'object');
END;
CREATE TRIGGER fields_document_added AFTER INSERT ON documents WHEN new.metadata <> '{}' BEGIN
  INSERT OR IGNORE INTO document_fields SELECT j.key, CASE j.type WHEN 'true' THEN x'01' WHEN 'false' THEN x'00' WHEN 'null' THEN x''
  WHEN 'text' THEN CASE WHEN length(CAST(j.atom AS BLOB)) > 200
    THEN CAST(substr(CAST(j.atom AS BLOB), 1, 200) AS TEXT) ELSE j.atom END
  ELSE j.atom END, new.row FROM json_each(new.metadata) j WHERE j.type NOT IN ('array', 'object');
END;
CREATE TRIGGER fields_document_removed AFTER DELETE ON documents WHEN old.metadata <> '{}' BEGIN
  DELETE FROM document_fields WHERE (name, value, document) IN (SELECT j.key, CASE j.type WHEN 'true' THEN x'01' WHEN 'false' THEN x'00' WHEN 'null' THEN x''
  WHEN 'text' THEN CASE WHEN length(CAST(j.atom AS BLOB)) > 200
    THEN CAST(substr(CAST(j.atom AS BLOB), 1, 200) AS TEXT) ELSE j.atom END
  ELSE j.atom END, old.row FROM json_each(old.metadata) j WHERE j.type NOT IN ('array', 'object'));
END;
CREATE TRIGGER fields_document_changed AFTER UPDATE OF metadata ON documents WHEN old.metadata <> new.metadata BEGIN
  DELETE FROM document_fields WHERE (name, value, document) IN (SELECT j.key, CASE j.type WHEN 'true' THEN x'01' WHEN 'false' THEN x'00' WHEN 'null' THEN x''
  WHEN 'text' THEN CASE WHEN length(CAST(j.atom AS BLOB)) > 200
    THEN CAST(substr(CAST(j.atom AS BLOB), 1, 200) AS TEXT) ELSE j.atom END
  ELSE j.atom END, old.row FROM json_each(old.metadata) j WHERE j.type NOT IN ('array', 'object'));
  INSERT OR IGNORE INTO document_fields SELECT j.key, CASE j.type WHEN 'true' THEN x'01' WHEN 'false' THEN x'00' WHEN 'null' THEN x''
  WHEN 'text' THEN CASE WHEN length(CAST(j.atom AS BLOB)) > 200
    THEN CAST(substr(CAST(j.atom AS BLOB), 1, 200) AS TEXT) ELSE j.atom END
  ELSE j.atom END, new.row FROM json_each(new.metadata) j WHERE j.type NOT IN ('array', 'object');
END;
CREATE INDEX items_place ON items (collection, scope, owner) WHERE kind = 'memory';
CREATE INDEX items_slot ON items (slot) WHERE slot IS NOT NULL;
CREATE INDEX items_valid_from ON items (valid_from) WHERE valid_from IS NOT NULL;
CREATE INDEX items_valid_to ON items (valid_to) WHERE valid_to IS NOT NULL;
CREATE INDEX items_supersedes ON items (supersedes_id) WHERE supersedes_id IS NOT NULL;
CREATE INDEX relations_other ON relations (other);
CREATE INDEX reviews_row ON reviews (row);
CREATE INDEX reviews_other ON reviews (other);
CREATE INDEX reviews_open ON reviews (review) WHERE outcome IS NULL;
CREATE INDEX exposures_time ON exposures (time);
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
CREATE INDEX items_pinned ON items (status) WHERE kind = 'memory' AND tier = 1;
CREATE INDEX items_newest ON items (status, type, create_time, scope, owner, reviewed, least_trusted)
WHERE kind = 'memory';
CREATE INDEX items_variants ON items (status) WHERE status = 'variant';
CREATE INDEX written_tags_written ON written_tags (written);
CREATE TRIGGER document_tags_removed AFTER DELETE ON documents BEGIN
  DELETE FROM document_tags WHERE document = old.row;
END;
CREATE INDEX retagged_change ON retagged (change);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('items',2);
INSERT INTO "sqlite_sequence" VALUES('events',5);
COMMIT;
