-- A store of schema 12, dumped by Python's sqlite3: written by `bower curate` without a model when 12 was the newest schema. One memory
-- was superseded, and one comes from the web and is a candidate. Never written again: every later version opens it.
PRAGMA application_id=1112495954;
PRAGMA user_version=12;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE checksums (
  row INTEGER PRIMARY KEY REFERENCES items (row),
  text INTEGER NOT NULL,
  item INTEGER NOT NULL,
  vector INTEGER
) STRICT;
INSERT INTO "checksums" VALUES(1,4245635577,156307833,NULL);
INSERT INTO "checksums" VALUES(2,3118267045,568336992,NULL);
INSERT INTO "checksums" VALUES(3,669683711,848103552,NULL);
INSERT INTO "checksums" VALUES(4,2103613264,401220750,NULL);
INSERT INTO "checksums" VALUES(5,1466449339,827267020,NULL);
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
INSERT INTO "clock" VALUES(1,1795656114947163,1,NULL,NULL,NULL,NULL,0);
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
INSERT INTO "counts" VALUES('memory','memories','fact','active',2,251348369408);
INSERT INTO "counts" VALUES('memory','memories','fact','candidate',1,136999149568);
INSERT INTO "counts" VALUES('memory','memories','fact','superseded',1,131061792768);
INSERT INTO "counts" VALUES('memory','memories','procedure','active',1,337330176000);
CREATE TABLE document_fields (
  name TEXT NOT NULL,
  value ANY NOT NULL,
  document INTEGER NOT NULL,
  PRIMARY KEY (name, value, document)
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
INSERT INTO "events" VALUES(1,1,1795656114922917,'curate','e57be951ce8e5f6b','bower','{"collection":"memories","is":{"confidence":0.5,"least_trusted":"user","observations":1,"reviewed":true,"said_by":"user","status":"active","tier":2},"type":"fact"}',3020980625);
INSERT INTO "events" VALUES(2,2,1795656114947163,'sweep',NULL,'bower','{"turned":0,"waiting":0}',2519593605);
INSERT INTO "events" VALUES(3,3,1795656114981558,'curate','17e68bea182f46a7','bower','{"collection":"memories","is":{"confidence":0.5,"least_trusted":"user","observations":1,"reviewed":true,"said_by":"user","status":"active","tier":2},"type":"fact"}',3117786356);
INSERT INTO "events" VALUES(4,3,1795656114981558,'superseded','e57be951ce8e5f6b','bower','{"by":"17e68bea182f46a7","is":{"hidden_time":1795656114981558,"status":"superseded","valid_to":1795656114981558},"rule":"new_value","was":{"hidden_time":null,"status":"active","valid_to":null}}',424433929);
INSERT INTO "events" VALUES(5,3,1795656114981558,'supersede','17e68bea182f46a7','bower','{"added":[],"is":{"supersedes_id":"e57be951ce8e5f6b"},"replaces":"e57be951ce8e5f6b","rule":"new_value","was":{"supersedes_id":null}}',709771789);
INSERT INTO "events" VALUES(6,4,1795656115083488,'curate','75a883f7fac2226d','bower','{"collection":"memories","is":{"confidence":0.5,"least_trusted":"web","observations":1,"reviewed":false,"said_by":"web","status":"candidate","tier":2},"type":"fact"}',1228937354);
INSERT INTO "events" VALUES(7,5,1795656115112034,'curate','2f637819115135a9','bower','{"collection":"memories","is":{"confidence":0.5,"least_trusted":"user","observations":1,"reviewed":true,"said_by":"user","status":"active","tier":2},"type":"procedure"}',241260546);
INSERT INTO "events" VALUES(8,6,1795656115153538,'curate','4a4b65b55d451182','bower','{"collection":"memories","is":{"confidence":0.5,"least_trusted":"user","observations":1,"reviewed":true,"said_by":"user","status":"active","tier":2},"type":"fact"}',3305634614);
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
INSERT INTO "holders" VALUES('project','',4);
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
INSERT INTO "items" VALUES(1,'e57be951ce8e5f6b','memory','memories','fact',1.1920000612735748291e-01,0.5,9.99999977648258209228e-03,0,1,1795656114922917,1795656114922917,1795656114981558,NULL,1795656114981558,'project',NULL,'superseded',2,'{}','bower',NULL,NULL,NULL,NULL,NULL,NULL,1,'api port',1795656114981558,'user','user',1,NULL);
INSERT INTO "items" VALUES(2,'17e68bea182f46a7','memory','memories','fact',1.1920000612735748291e-01,0.5,9.99999977648258209228e-03,0,1,1795656114981558,1795656114981558,1795656114981558,NULL,NULL,'project',NULL,'active',2,'{}','bower',NULL,'e57be951ce8e5f6b',NULL,NULL,NULL,NULL,3,'api port',NULL,'user','user',1,NULL);
INSERT INTO "items" VALUES(3,'75a883f7fac2226d','memory','memories','fact',1.24600000679492950439e-01,0.5,9.99999977648258209228e-03,0,1,1795656115083488,1795656115083488,1795656115083488,NULL,NULL,'project',NULL,'candidate',2,'{}','bower',NULL,NULL,NULL,NULL,NULL,NULL,4,NULL,NULL,'web','web',0,NULL);
INSERT INTO "items" VALUES(4,'2f637819115135a9','memory','memories','procedure',3.06800007820129394531e-01,0.5,2.00000009499490261077e-03,0,1,1795656115112034,1795656115112034,1795656115112034,NULL,NULL,'project',NULL,'active',2,'{}','bower',NULL,NULL,NULL,NULL,NULL,NULL,5,NULL,NULL,'user','user',1,NULL);
INSERT INTO "items" VALUES(5,'4a4b65b55d451182','memory','memories','fact',1.09400004148483276367e-01,0.5,9.99999977648258209228e-03,0,1,1795656115153538,1795656115153538,1795656115153538,NULL,NULL,'project',NULL,'active',2,'{}','bower',NULL,NULL,NULL,NULL,NULL,NULL,6,NULL,NULL,'user','user',1,NULL);
CREATE TABLE losses (
  loss INTEGER PRIMARY KEY AUTOINCREMENT,
  first_change INTEGER NOT NULL,
  last_change INTEGER NOT NULL,
  time INTEGER NOT NULL,
  aside TEXT,
  accept_time INTEGER
) STRICT;
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
INSERT INTO "store" VALUES(1,'5aa80a1bb1d2b22a',6,1795656114787043,4431210269877830779,0);
CREATE TABLE tags (
  tag TEXT NOT NULL,
  row INTEGER NOT NULL REFERENCES items (row),
  PRIMARY KEY (tag, row)
) STRICT, WITHOUT ROWID;
CREATE TABLE tail (
  row INTEGER PRIMARY KEY REFERENCES items (row),
  change INTEGER NOT NULL,
  terms BLOB NOT NULL
, checksum INTEGER) STRICT;
INSERT INTO "tail" VALUES(1,1,X'03020000050000000401383038300301617069020169730401706F72740301746865',796796587);
INSERT INTO "tail" VALUES(2,3,X'03020000050000000401393039300301617069020169730401706F72740301746865',1010906552);
INSERT INTO "tail" VALUES(3,4,X'030200000800000005016772696E6404016D696C6C02016F6E03017361790401746861740301746865070176697369746F7209017765646E6573646179',3295743250);
INSERT INTO "tail" VALUES(4,5,X'030200000600000005016265666F72040170756D700701726573746172740302746865040176616C76',171426880);
INSERT INTO "tail" VALUES(5,6,X'030200000A0000000301616E6403016172650201626503016E6F74040170756D7007017265737461727403027468650201746F040176616C76',152105635);
CREATE TABLE texts (
  row INTEGER PRIMARY KEY REFERENCES items (row),
  summary TEXT NOT NULL,
  section TEXT,
  key TEXT,
  content TEXT NOT NULL,
  keywords TEXT NOT NULL
) STRICT;
INSERT INTO "texts" VALUES(1,'The API port is 8080.',NULL,NULL,'The API port is 8080.','["api","port","8080"]');
INSERT INTO "texts" VALUES(2,'The API port is 9090.',NULL,NULL,'The API port is 9090.','["api","port","9090"]');
INSERT INTO "texts" VALUES(3,'Visitors say that the mill grinds on Wednesdays.',NULL,NULL,'Visitors say that the mill grinds on Wednesdays.','["wednesdays","visitors","grinds","mill","say"]');
INSERT INTO "texts" VALUES(4,'Restart the pump before the valve.',NULL,NULL,'Restart the pump before the valve.','["restart","before","valve","pump"]');
INSERT INTO "texts" VALUES(5,'The pump and the valve are not to be restarted.',NULL,NULL,'The pump and the valve are not to be restarted.','["restarted","valve","pump"]');
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
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('items',5);
INSERT INTO "sqlite_sequence" VALUES('events',8);
COMMIT;
