BEGIN;
INSERT INTO admissions VALUES (41, 'ada', 1700000001), (42, 'bob', 1700000002);
INSERT INTO events(admission, what) VALUES (41, 'admitted'), (42, 'admitted');
UPDATE counters SET value = value + 2, updated = 1700000002 WHERE name = 'admissions';
COMMIT;
