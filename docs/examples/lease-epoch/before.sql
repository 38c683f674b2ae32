CREATE TABLE leases(
    path TEXT PRIMARY KEY,
    session TEXT NOT NULL,
    expires INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX leases_by_session ON leases(session);
INSERT INTO leases VALUES
    ('/srv/a', 'ada', 1700000900),
    ('/srv/b', 'bob', 1700000950);
