-- A store of schema 9, dumped by Python's sqlite3: the store of schema-8.sql, opened by `bower` when 9 was the newest schema, and
-- told on 20 September 2026 without a model that "The port of the demo server is 8080", and an hour later that it is 9090.
-- Never written again: every later version opens it.
PRAGMA application_id=1112495954;
PRAGMA user_version=9;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE counts (
  kind TEXT NOT NULL,
  collection TEXT NOT NULL,
  type TEXT NOT NULL,
  status TEXT NOT NULL,
  number INTEGER NOT NULL,
  importance INTEGER NOT NULL,
  PRIMARY KEY (kind, collection, type, status)
) STRICT, WITHOUT ROWID;
INSERT INTO "counts" VALUES('chunk','documents','','active',3,1649267441664);
INSERT INTO "counts" VALUES('document','documents','','',3,0);
INSERT INTO "counts" VALUES('memory','memories','convention','active',1,611988209664);
INSERT INTO "counts" VALUES('memory','memories','decision','active',2,1013090025472);
INSERT INTO "counts" VALUES('memory','memories','fact','active',4,1348880867328);
INSERT INTO "counts" VALUES('memory','memories','fact','superseded',2,252008062976);
CREATE TABLE document_fields (
  name TEXT NOT NULL,
  value ANY NOT NULL,
  document INTEGER NOT NULL,
  PRIMARY KEY (name, value, document)
) STRICT, WITHOUT ROWID;
INSERT INTO "document_fields" VALUES('lang','en',3);
INSERT INTO "document_fields" VALUES('level',2,3);
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
INSERT INTO "documents" VALUES(1,'bde37858a7601917','documents','/notes/garden.md','garden.md','Garden','current','6f5a483ec888490880d6afb08de347e177305548a2ed7602fc5ac6e73056003f','1:2000:200:2500:1000:200',75,'{}',1795327007937077,1795327007937077);
INSERT INTO "documents" VALUES(2,'31a3677c2a88013c','documents','/notes/gateway.md','gateway.md','Gateway','current','37f46874676e2468ced5577fb06556ff62a0baa63e4859a91fb331b34035c65a','1:2000:200:2500:1000:200',67,'{}',1795327007937077,1795327007937077);
INSERT INTO "documents" VALUES(3,'7cc489dd71c14525','documents','/notes/harbour.md','harbour.md','Harbour','current','54bef39100760bc5465d9e4c3b823e9d389b9e807f97fe4323b535ed56e31fa6','1:2000:200:2500:1000:200',76,'{"lang":"en","level":2}',1795343435977167,1795343435977167);
CREATE TABLE embedding_cache (
  key BLOB PRIMARY KEY,
  model INTEGER NOT NULL REFERENCES models (row),
  used_time INTEGER NOT NULL,
  vector BLOB NOT NULL
, tokens_model INTEGER REFERENCES models (row), tokens BLOB) STRICT, WITHOUT ROWID;
INSERT INTO "embedding_cache" VALUES(X'34B18FA1D9A4BDC306ACC75E7AB8C141344649456BB447B8FDD7293B2C7E51E5',1,1795327037446526,X'09090909090909090909090909090909',2,X'09090909090909090909090909090909');
CREATE TABLE events (
  event INTEGER PRIMARY KEY AUTOINCREMENT,
  change INTEGER NOT NULL,
  time INTEGER NOT NULL,
  action TEXT NOT NULL,
  subject TEXT,
  actor TEXT NOT NULL,
  detail TEXT NOT NULL
) STRICT;
INSERT INTO "events" VALUES(1,1,1795327007937077,'index','bde37858a7601917','bower','{"added":1,"kept":0,"path":"/notes/garden.md","removed":0}');
INSERT INTO "events" VALUES(2,1,1795327007937077,'index','31a3677c2a88013c','bower','{"added":1,"kept":0,"path":"/notes/gateway.md","removed":0}');
INSERT INTO "events" VALUES(3,2,1795327014165118,'curate','8572156529d25f2a','bower','{"collection":"memories","type":"decision"}');
INSERT INTO "events" VALUES(4,3,1795327014834760,'curate','64fe56caf3d1208f','bower','{"collection":"memories","type":"fact"}');
INSERT INTO "events" VALUES(5,4,1795327030664824,'forget','64fe56caf3d1208f','bower','{}');
INSERT INTO "events" VALUES(6,4,1795327030664824,'forget',NULL,'bower','{"documents":0,"items":1,"sha256":"26c544cf5d0cd76054caca2f9ab533628c55fe7c76003f14a6362bd71270b604","vectors":0}');
INSERT INTO "events" VALUES(7,5,1795327072485162,'curate','4abf1b835c792c56','bower','{"collection":"memories","type":"fact"}');
INSERT INTO "events" VALUES(8,6,1795343435968212,'curate','fde4a5c3ddae9291','bower','{"collection":"memories","type":"fact"}');
INSERT INTO "events" VALUES(9,7,1795343435977167,'index','7cc489dd71c14525','bower','{"added":1,"kept":0,"path":"/notes/harbour.md","removed":0}');
INSERT INTO "events" VALUES(10,8,1795376535806266,'curate','7a7ab71191b223e3','bower','{"collection":"memories","type":"fact"}');
INSERT INTO "events" VALUES(11,9,1795376535831205,'curate','7988bd8f0fa0f019','bower','{"collection":"memories","type":"fact"}');
INSERT INTO "events" VALUES(12,9,1795376535831205,'superseded','7a7ab71191b223e3','bower','{"by":"7988bd8f0fa0f019","rule":"new_value"}');
INSERT INTO "events" VALUES(13,9,1795376535831205,'supersede','7988bd8f0fa0f019','bower','{"replaces":"7a7ab71191b223e3","rule":"new_value"}');
INSERT INTO "events" VALUES(14,10,1795508222166700,'curate','5919bb7754424edd','bower','{"collection":"memories","is":{"confidence":0.5,"observations":1,"status":"active","tier":2},"type":"decision"}');
INSERT INTO "events" VALUES(15,11,1795508222177413,'sweep',NULL,'bower','{"turned":0,"waiting":0}');
INSERT INTO "events" VALUES(16,12,1795508222194960,'curate','be242e7b7ab2631b','bower','{"collection":"memories","is":{"confidence":0.5,"observations":1,"status":"active","tier":1},"type":"convention"}');
INSERT INTO "events" VALUES(17,13,1789905600840059,'curate','84655d6a0db2feb8','bower','{"collection":"memories","is":{"confidence":0.5,"observations":1,"status":"active","tier":2},"type":"fact"}');
INSERT INTO "events" VALUES(18,14,1789909200856836,'curate','f7da519a74c20c1b','bower','{"collection":"memories","is":{"confidence":0.5,"observations":1,"status":"active","tier":2},"type":"fact"}');
INSERT INTO "events" VALUES(19,14,1789909200856836,'superseded','84655d6a0db2feb8','bower','{"by":"f7da519a74c20c1b","is":{"hidden_time":1789909200856836,"status":"superseded","valid_to":1789909200856836},"rule":"new_value","was":{"hidden_time":null,"status":"active","valid_to":null}}');
INSERT INTO "events" VALUES(20,14,1789909200856836,'supersede','f7da519a74c20c1b','bower','{"added":[],"is":{"supersedes_id":"84655d6a0db2feb8"},"replaces":"84655d6a0db2feb8","rule":"new_value","was":{"supersedes_id":null}}');
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
INSERT INTO "holders" VALUES('project','',7);
CREATE TABLE injections (
  session TEXT NOT NULL,
  row INTEGER NOT NULL REFERENCES items (row),
  text_hash INTEGER NOT NULL,
  time INTEGER NOT NULL,
  PRIMARY KEY (session, row)
) STRICT, WITHOUT ROWID;
INSERT INTO "injections" VALUES('s1',1,-6513466708306700757,1795327037446526);
INSERT INTO "injections" VALUES('s1',2,4483831182323069976,1795327037446526);
CREATE TABLE item_fields (
  name TEXT NOT NULL,
  value ANY NOT NULL,
  row INTEGER NOT NULL,
  PRIMARY KEY (name, value, row)
) STRICT, WITHOUT ROWID;
INSERT INTO "item_fields" VALUES('n',7,6);
INSERT INTO "item_fields" VALUES('open',X'01',6);
INSERT INTO "item_fields" VALUES('team','core',6);
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
, slot TEXT, hidden_time INTEGER) STRICT;
INSERT INTO "items" VALUES(1,'204682ef929550b1','chunk','documents',NULL,0.5,1.0,0.01,0,1,1795327007937077,1795327007937077,1795327007937077,NULL,NULL,'project',NULL,'active',2,'{}','index',NULL,NULL,1,0,1,3,1,NULL,NULL);
INSERT INTO "items" VALUES(2,'c7dcb9d76813058d','chunk','documents',NULL,0.5,1.0,0.01,0,1,1795327007937077,1795327007937077,1795327007937077,NULL,NULL,'project',NULL,'active',2,'{}','index',NULL,NULL,2,0,4,6,1,NULL,NULL);
INSERT INTO "items" VALUES(3,'8572156529d25f2a','memory','memories','decision',0.5,0.5,9.99999977648258209228e-03,0,1,1795327014165118,1795327014165118,1795327014165118,NULL,NULL,'project',NULL,'active',2,'{}','bower',NULL,NULL,NULL,NULL,NULL,NULL,2,NULL,NULL);
INSERT INTO "items" VALUES(5,'4abf1b835c792c56','memory','memories','fact',0.5,0.5,9.99999977648258209228e-03,0,1,1795327072485162,1795327072485162,1795327072485162,NULL,NULL,'project',NULL,'active',2,'{}','bower',NULL,NULL,NULL,NULL,NULL,NULL,5,NULL,NULL);
INSERT INTO "items" VALUES(6,'fde4a5c3ddae9291','memory','memories','fact',0.5,0.5,9.99999977648258209228e-03,0,1,1795343435968212,1795343435968212,1795343435968212,NULL,NULL,'project',NULL,'active',2,'{"n":7,"open":true,"team":"core"}','bower',NULL,NULL,NULL,NULL,NULL,NULL,6,NULL,NULL);
INSERT INTO "items" VALUES(7,'6362b3adf0e73719','chunk','documents',NULL,0.5,1.0,0.01,0,1,1795343435977167,1795343435977167,1795343435977167,NULL,NULL,'project',NULL,'active',2,'{}','index',NULL,NULL,3,0,5,7,7,NULL,NULL);
INSERT INTO "items" VALUES(8,'7a7ab71191b223e3','memory','memories','fact',1.22199997305870056152e-01,0.5,9.99999977648258209228e-03,0,1,1795376535806266,1795376535806266,1795376535831205,NULL,1795376535831205,'project',NULL,'superseded',2,'{}','bower',NULL,NULL,NULL,NULL,NULL,NULL,8,'api port staging',1795376535831205);
INSERT INTO "items" VALUES(9,'7988bd8f0fa0f019','memory','memories','fact',1.19800001382827758789e-01,0.5,9.99999977648258209228e-03,0,1,1795376535831205,1795376535831205,1795376535831205,NULL,NULL,'project',NULL,'active',2,'{}','bower',NULL,'7a7ab71191b223e3',NULL,NULL,NULL,NULL,9,'api port staging',NULL);
INSERT INTO "items" VALUES(10,'5919bb7754424edd','memory','memories','decision',4.21400010585784912109e-01,0.5,2.00000009499490261077e-03,0,1,1795508222166700,1795508222166700,1795508222166700,NULL,NULL,'project',NULL,'active',2,'{}','bower',NULL,NULL,NULL,NULL,NULL,NULL,10,NULL,NULL);
INSERT INTO "items" VALUES(11,'be242e7b7ab2631b','memory','memories','convention',0.556600034236908,0.5,0.0,0,1,1795508222194960,1795508222194960,1795508222194960,NULL,NULL,'project',NULL,'active',1,'{}','bower',NULL,NULL,NULL,NULL,NULL,NULL,12,NULL,NULL);
INSERT INTO "items" VALUES(12,'84655d6a0db2feb8','memory','memories','fact',1.0700000077486038208e-01,0.5,9.99999977648258209228e-03,0,1,1789905600840059,1789905600840059,1789909200856836,NULL,1789909200856836,'project',NULL,'superseded',2,'{}','bower',NULL,NULL,NULL,NULL,NULL,NULL,13,'demo port server',1789909200856836);
INSERT INTO "items" VALUES(13,'f7da519a74c20c1b','memory','memories','fact',1.0700000077486038208e-01,0.5,9.99999977648258209228e-03,0,1,1789909200856836,1789909200856836,1789909200856836,NULL,NULL,'project',NULL,'active',2,'{}','bower',NULL,'84655d6a0db2feb8',NULL,NULL,NULL,NULL,14,'demo port server',NULL);
CREATE TABLE models (
  row INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE
) STRICT;
INSERT INTO "models" VALUES(1,'test-model');
INSERT INTO "models" VALUES(2,'test-model.t1');
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
INSERT INTO "removals" VALUES(4,4);
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
) STRICT;
INSERT INTO "store" VALUES(1,'aef3c5950b1dea38',14,1795327007393522);
CREATE TABLE tags (
  tag TEXT NOT NULL,
  row INTEGER NOT NULL REFERENCES items (row),
  PRIMARY KEY (tag, row)
) STRICT, WITHOUT ROWID;
INSERT INTO "tags" VALUES('ports',2);
INSERT INTO "tags" VALUES('release',3);
CREATE TABLE tail (
  row INTEGER PRIMARY KEY REFERENCES items (row),
  change INTEGER NOT NULL,
  terms BLOB NOT NULL
) STRICT;
INSERT INTO "tail" VALUES(8,8,X'0301000007000000040138303830030161706906016C697374656E02016F6E0401706F7274050173746167650301746865');
INSERT INTO "tail" VALUES(9,9,X'03010000050000000401393039300301617069020169730401706F727405017374616765');
INSERT INTO "tail" VALUES(10,10,X'030200000600000006016465706C6F79060166726964617907016761746577617902016F6E030174686502017765');
INSERT INTO "tail" VALUES(11,12,X'03020000060000000201617407016761746577617905016E6576657204016E6F6F6E0701726573746172740301746865');
INSERT INTO "tail" VALUES(12,13,X'0302000008000000040138303830040164656D6F0201697302016F660401706F727406017365727665720302746865');
INSERT INTO "tail" VALUES(13,14,X'0302000008000000040139303930040164656D6F0201697302016F660401706F727406017365727665720302746865');
CREATE TABLE texts (
  row INTEGER PRIMARY KEY REFERENCES items (row),
  summary TEXT NOT NULL,
  section TEXT,
  key TEXT,
  content TEXT NOT NULL,
  keywords TEXT NOT NULL
) STRICT;
INSERT INTO "texts" VALUES(1,'','Garden','268303eb5edeecd7','# Garden

Tomatoes want water at dawn. The gateway to the garden is green.','[]');
INSERT INTO "texts" VALUES(2,'','Gateway','aca234464fd23844','# Gateway

The gateway listens on port 8080.','[]');
INSERT INTO "texts" VALUES(3,'The release train leaves on Tuesday.',NULL,NULL,'The release train leaves on Tuesday.','[]');
INSERT INTO "texts" VALUES(5,'The old harbour is closed.',NULL,NULL,'The old harbour is closed.','[]');
INSERT INTO "texts" VALUES(6,'The lighthouse keeps a log.',NULL,NULL,'The lighthouse keeps a log.','[]');
INSERT INTO "texts" VALUES(7,'','Harbour','0e7638fd47bff86e','# Harbour

The harbour wall was rebuilt in stone.','[]');
INSERT INTO "texts" VALUES(8,'The staging API listens on port 8080',NULL,NULL,'The staging API listens on port 8080','["api","staging","listens","port","8080"]');
INSERT INTO "texts" VALUES(9,'staging API port is 9090',NULL,NULL,'staging API port is 9090','["api","staging","port","9090"]');
INSERT INTO "texts" VALUES(10,'We deploy the gateway on Fridays',NULL,NULL,'We deploy the gateway on Fridays','["fridays","gateway","deploy"]');
INSERT INTO "texts" VALUES(11,'Never restart the gateway at noon',NULL,NULL,'Never restart the gateway at noon','["never","restart","gateway","noon"]');
INSERT INTO "texts" VALUES(12,'The port of the demo server is 8080',NULL,NULL,'The port of the demo server is 8080','["server","port","demo","8080"]');
INSERT INTO "texts" VALUES(13,'The port of the demo server is 9090',NULL,NULL,'The port of the demo server is 9090','["server","port","demo","9090"]');
CREATE TABLE token_tail (
  row INTEGER PRIMARY KEY REFERENCES items (row),
  model INTEGER NOT NULL REFERENCES models (row),
  change INTEGER NOT NULL,
  codes BLOB NOT NULL
) STRICT;
INSERT INTO "token_tail" VALUES(5,2,5,X'05050505050505050505050505050505');
CREATE TABLE vectors (
  row INTEGER PRIMARY KEY REFERENCES items (row),
  model INTEGER NOT NULL REFERENCES models (row),
  change INTEGER NOT NULL,
  vector BLOB NOT NULL
) STRICT;
INSERT INTO "vectors" VALUES(3,1,2,X'01010101010101010101010101010101');
INSERT INTO "vectors" VALUES(7,1,7,X'3000268A2C0C2A8600F80E62F4C4D21EA87076BA3CFCFA36B0685E9204B4A2CE38E0C6EA4CECCAE640D8AEC214A4727EC850161A5CDC9A96D048FEF22494422E58C0664A6CCC6A0160B84E22348412DEE830B67A7CBC3AF6F0289E524474E28E78A006AA8CAC0AA68098EE825464B23E081056DA9C9CDA5610083EB2645482EE9880A60AAC8CAA06A0788EE27444529E28F0F63ABC7C7AB630E8DE128434224EB860466ACC6C4A66C0582E009424F2FE48D0969ADC5C1A1650C87E72A414C2AED840E6CAEC4CEAC6E038CEA2B404925E68B036FAFC3CBA7670A81ED2C4F4620EF820862A0C2C8A2600186E02D4E432BE8890D65A1C1C5AD69088BE32E4D4026E1800268A2C0C2A8620F80E62F4C4D200A87076BA3CFCFA36B0685E9204B4A2CE38E0C6EA4CECCAE640D8AEC214A4727EC850161A5CDC9A96D048FEF22494422E58C0664A6CCC6A4660B84E22348412DEE830B67A7CBC3AF6F0289E524474E28E78A006AA8CAC0AA68098EE825464B23E081056DA9C9CDA5610083EB2645482EE0100A201131460DB800C823225205BBFA67B07008068315FDE4D1211795FBA0180D4ECBB60525B7BC8F2F20E00D4679695B792D86796956E00B215F2BE98DA263A3AA8770092885E43B913908D5E437881FD036BE8E65402602376998BD9D20FBDCB1DECDE8E90823BB949ADD1EB855B69E423CF7A85D8897A30C4AB048954E872E1932D1F3DCC15B3648DD1B3E20E0942EFDCBCCFB979EFDCBC776EDE3B37EF9D9BF7CECD7BE7E6BD73F3DEB9799F73F3DEB979EFDCBC776EDE3B37EF9D9BF7CECD7BE7E6BD73F3DEB979EFDCBC776EDE3B37EF9D9BF7EEFF6FF3DEB979EFDCBC776EDE3B37EF9D9BF7CECD7BE7E6BD73F3DEB979EFDCBC776EDE3B37EF9D9BF7CEFDFF7BEFDCBC776EDE3B37EF9D9BF7CECD7BE7E6BD73F3DEB979EFDCBC776EDE3B37EF9D9BF7CECD7BE7E6BD73F3DEB9FDFF03');
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
CREATE INDEX items_newest ON items (status, type, create_time, scope, owner) WHERE kind = 'memory';
CREATE INDEX items_pinned ON items (status) WHERE kind = 'memory' AND tier = 1;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('documents',3);
INSERT INTO "sqlite_sequence" VALUES('models',2);
INSERT INTO "sqlite_sequence" VALUES('items',13);
INSERT INTO "sqlite_sequence" VALUES('events',20);
COMMIT;
