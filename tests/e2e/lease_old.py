"""A stand-in for the engine from before: its schema, its statements.

lease_old.py DB SESSION PATH: acquires as the old program did, prints
ACQUIRED or BUSY, and ends with 1 and the error where SQLite gives one.
"""
import sqlite3
import sys
import time

SCHEMA = '''CREATE TABLE IF NOT EXISTS leases(resource TEXT PRIMARY KEY,
 session TEXT NOT NULL, agent TEXT, host TEXT, cwd TEXT,
 acquired REAL NOT NULL, expires REAL NOT NULL, note TEXT{})'''
EPOCH = ", epoch TEXT NOT NULL DEFAULT ''"
UPSERT = '''INSERT INTO leases(resource, session, acquired, expires)
 VALUES(?, ?, ?, ?) ON CONFLICT(resource) DO UPDATE SET
 expires = excluded.expires'''


def make(path, rows, epochs=False, ttl=600):
    """rows: (resource, session) or (resource, session, epoch)."""
    c = sqlite3.connect(path, isolation_level=None)
    c.execute(SCHEMA.format(EPOCH if epochs else ''))
    now = time.time()
    c.execute('begin')
    for resource, session, *epoch in rows:
        c.execute(UPSERT, (resource, session, now, now + ttl))
        if epoch:
            c.execute('UPDATE leases SET epoch = ? WHERE resource = ?',
                      (epoch[0], resource))
    c.execute('commit')
    c.close()
    return path


def acquire(db, session, path):
    c = sqlite3.connect(db, isolation_level=None, timeout=10)
    c.execute(SCHEMA.format(''))
    c.execute('CREATE INDEX IF NOT EXISTS leases_expires ON leases(expires)')
    c.execute('BEGIN IMMEDIATE')
    now = time.time()
    c.execute('DELETE FROM leases WHERE expires <= ?', (now,))
    row = c.execute('SELECT session FROM leases WHERE resource = ?',
                    (path,)).fetchone()
    if row and row[0] != session:
        c.execute('COMMIT')
        print('BUSY')
        return
    c.execute(UPSERT, (path, session, now, now + 600))
    c.execute('COMMIT')
    print('ACQUIRED')


if __name__ == '__main__':
    try:
        acquire(*sys.argv[1:])
    except sqlite3.Error as e:
        sys.exit(f'old: {e}')
