-- schema.sql - the lease database; the build embeds it, a new file gets it
--
-- at, acquired, renewed, expires: nanoseconds of CLOCK_BOOTTIME, on the boot
-- that the row names; they decide. Columns *_utc are wall time in nanoseconds,
-- for show. A fence is one number for each acquire; AUTOINCREMENT keeps the
-- highest that was ever given in sqlite_sequence, which DELETE and VACUUM
-- leave alone.

CREATE TABLE meta(
	id INTEGER PRIMARY KEY CHECK (id = 1),
	database_id TEXT NOT NULL,
	-- The highest fence of a migrated row; NULL while they are being migrated.
	legacy_fence INTEGER,
	handoff_closed INTEGER NOT NULL CHECK (handoff_closed IN (0, 1)),
	-- Events up to this one were pruned.
	pruned INTEGER NOT NULL
) STRICT;

-- One row for each acquire that was given something new; kept until its
-- events are pruned.
CREATE TABLE grants(
	fence INTEGER PRIMARY KEY AUTOINCREMENT,
	session TEXT NOT NULL CHECK (session <> ''),
	epoch TEXT NOT NULL,
	agent TEXT,
	host TEXT,
	cwd TEXT,
	note TEXT,
	boot TEXT NOT NULL,
	acquired INTEGER NOT NULL,
	acquired_utc INTEGER NOT NULL,
	ttl INTEGER NOT NULL CHECK (ttl > 0),
	-- Advice only: the process that asked, all or none.
	pid INTEGER,
	pid_start INTEGER,
	pid_ns INTEGER,
	pid_boot TEXT,
	CHECK ((pid IS NULL) = (pid_start IS NULL) AND
	       (pid IS NULL) = (pid_ns IS NULL) AND
	       (pid IS NULL) = (pid_boot IS NULL))
) STRICT;

-- One row for each path that is held.
CREATE TABLE held(
	resource TEXT PRIMARY KEY CHECK (resource GLOB '/?*'),
	fence INTEGER NOT NULL REFERENCES grants(fence),
	session TEXT NOT NULL CHECK (session <> ''),
	epoch TEXT NOT NULL,
	origin TEXT NOT NULL CHECK (origin IN ('native', 'legacy')),
	boot TEXT NOT NULL,
	acquired INTEGER NOT NULL,
	renewed INTEGER NOT NULL,
	expires INTEGER NOT NULL,
	expires_utc INTEGER NOT NULL,
	CHECK (acquired <= renewed AND renewed < expires)
) STRICT, WITHOUT ROWID;

CREATE INDEX held_owner ON held(session, epoch, fence);
CREATE INDEX held_expiry ON held(boot, expires);
CREATE INDEX held_legacy ON held(origin) WHERE origin = 'legacy';

-- What happened to each row, in the transaction in which it happened. op is
-- the seq of the operation's first event.
CREATE TABLE events(
	seq INTEGER PRIMARY KEY AUTOINCREMENT,
	op INTEGER NOT NULL CHECK (op <= seq),
	verb TEXT NOT NULL,
	kind TEXT NOT NULL CHECK (kind IN ('granted', 'migrated', 'renewed',
		'released', 'expired', 'forced', 'pruned')),
	fence INTEGER,
	resource TEXT,
	session TEXT,
	epoch TEXT,
	actor TEXT,
	reason TEXT,
	boot TEXT NOT NULL,
	at INTEGER NOT NULL,
	at_utc INTEGER NOT NULL,
	expires INTEGER,
	CHECK (kind = 'pruned' OR (fence IS NOT NULL AND resource IS NOT NULL
		AND session IS NOT NULL AND epoch IS NOT NULL))
) STRICT;

-- The handoff from rows whose empty epoch nobody chose ends for ever.
CREATE TRIGGER held_no_new_legacy BEFORE INSERT ON held
WHEN NEW.origin = 'legacy' AND
	(SELECT legacy_fence IS NOT NULL FROM meta)
BEGIN
	SELECT RAISE(ABORT, 'no new legacy row');
END;
CREATE TRIGGER held_stays_native BEFORE UPDATE OF origin ON held
WHEN NEW.origin = 'legacy' AND OLD.origin <> 'legacy'
BEGIN
	SELECT RAISE(ABORT, 'a native row stays native');
END;
CREATE TRIGGER meta_stays_closed BEFORE UPDATE ON meta
WHEN OLD.handoff_closed > NEW.handoff_closed OR OLD.pruned > NEW.pruned
	OR OLD.legacy_fence IS NOT NEW.legacy_fence
	AND OLD.legacy_fence IS NOT NULL OR OLD.database_id <> NEW.database_id
BEGIN
	SELECT RAISE(ABORT, 'what was closed stays closed');
END;

-- Programs from before this schema know a table of this name. They may look,
-- and fail loudly where they would write: without the view they would make
-- an empty table and grant everything twice.
CREATE VIEW leases AS
SELECT h.resource, h.session, g.agent, g.host, g.cwd,
	g.acquired_utc / 1e9 AS acquired, h.expires_utc / 1e9 AS expires,
	g.note, h.epoch
FROM held AS h JOIN grants AS g USING (fence);
CREATE TRIGGER leases_insert INSTEAD OF INSERT ON leases
BEGIN
	SELECT RAISE(ABORT, 'leases are kept by holdfast lease now');
END;
CREATE TRIGGER leases_update INSTEAD OF UPDATE ON leases
BEGIN
	SELECT RAISE(ABORT, 'leases are kept by holdfast lease now');
END;
CREATE TRIGGER leases_delete INSTEAD OF DELETE ON leases
BEGIN
	SELECT RAISE(ABORT, 'leases are kept by holdfast lease now');
END;
