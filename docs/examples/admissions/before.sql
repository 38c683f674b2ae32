CREATE TABLE admissions(id INTEGER PRIMARY KEY, name TEXT, at INTEGER);
CREATE TABLE events(id INTEGER PRIMARY KEY, admission INTEGER, what TEXT);
CREATE TABLE counters(name TEXT PRIMARY KEY, value INTEGER, updated INTEGER);
INSERT INTO admissions VALUES (40, 'eve', 1699999999);
INSERT INTO events VALUES (1, 40, 'admitted');
INSERT INTO counters VALUES ('admissions', 40, 1699999999), ('exits', 12, 1699999990);
