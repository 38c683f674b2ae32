"""What stock SQLite says of a private copy of a database with its sidecars."""
import contextlib
import os
import sqlite3
import subprocess

import fingerprint_oracle
from holdfast import NOT_CHECKED, SIDECARS, YES, folder, recover, same


def copy(db, to):
    """db and its sidecars, writable, in the folder."""
    target = os.path.join(to, os.path.basename(db))
    for s in SIDECARS:
        if os.path.exists(db + s):
            subprocess.run(['cp', '--sparse=always', db + s, target + s],
                           check=True)
            os.chmod(target + s, 0o600)
    return target


@contextlib.contextmanager
def opened(db, setup=None):
    """A connection to a private copy; setup may teach it functions."""
    with folder() as d:
        c = sqlite3.connect(copy(db, d), isolation_level=None)
        c.text_factory = bytes
        if setup:
            setup(c)
        try:
            yield c
        finally:
            c.close()


def name_of(raw):
    """A name in the schema as SQL takes it."""
    return fingerprint_oracle.quoted(raw).decode('utf-8', 'surrogateescape')


def integrity(c):
    """The messages, or the error in place of the rest of them."""
    said = []
    try:
        for line, in c.execute('pragma integrity_check'):
            said.append(line.decode('utf-8', 'replace'))
    except UnicodeDecodeError:
        said.append('an error whose text is not UTF-8')
    except sqlite3.Error as e:
        said.append(f'error: {e}')
    return '\n'.join(said)


def rows(c):
    """{table: rows}, or {table: None} where it can't be read; None: no table
    is known at all."""
    try:
        names = c.execute("select name from sqlite_master where rootpage <> 0"
                          " and type = 'table'").fetchall()
    except (sqlite3.Error, UnicodeDecodeError):
        return None
    found = {}
    for raw, in names:
        try:
            # All of each row: a count alone does not read long ones.
            n = sum(1 for _ in c.execute(
                f'select * from {name_of(raw)} as x not indexed'))
        except (sqlite3.Error, UnicodeDecodeError):
            n = None
        found[shown(raw)] = n
    return found


def foreign_keys(c):
    """How many violations; 0 where nothing can be asked."""
    try:
        return len(c.execute('pragma foreign_key_check').fetchall())
    except (sqlite3.Error, UnicodeDecodeError):
        return 0


def shown(raw):
    """As holdfast writes a name: \\xNN for each byte that is no UTF-8."""
    return raw.decode('utf-8', 'backslashreplace')


def agrees(db, *options, setup=None, status=(YES, NOT_CHECKED)):
    """
    recover's answer, whose integrity, rows and fingerprint are those of stock
    SQLite and of the oracle. setup gives the connection what only the
    database's own program has.
    """
    got = recover(db, *options, status=status)
    with opened(db, setup) as c:
        same({t['name']: t['rows'] for t in got['tables']}, rows(c), 'rows')
        if got['integrity'] != 'ok where checked':
            same(got['integrity'], integrity(c), 'integrity')
        prints = fingerprint_oracle.fingerprints(c)
    same(got['fingerprint'], prints[0], 'fingerprint')
    same(got['fingerprint_stat'], prints[1], 'fingerprint of stat tables')
    return got
