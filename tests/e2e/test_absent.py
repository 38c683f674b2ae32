"""What a schema names and no SQLite but its own program's has."""
import sqlite3
import struct

import stock
from holdfast import (NO, NOT_CHECKED, YES, diff, each, folder, has, make,
                      patch, put, recover, run, same)

PAGE = 4096


def backwards(a, b):
    return (a < b) - (a > b)


def own_program(c):
    """The program whose database it is has these."""
    c.create_collation('foo', backwards)
    c.create_function('myfn', -1, lambda *a: (a or [0])[0],
                      deterministic=True)


NO_FOO = 'no such collation sequence: foo'
NO_FN = 'unknown function: myfn()'
ROWS = "insert into t(a, b) values('x', 'p'), ('y', 'o')"

# name: (statements, not_checked, whether the whole fingerprint is that of
# the own program)
ABSENT = {
    'collation of a column': (
        'create table t(a text collate foo, b)', {}, True),
    'collation of a key': (
        'create table t(a text collate foo primary key, b)',
        {'integrity of table t': NO_FOO}, True),
    'collation of a key without rowid': (
        'create table t(a text collate foo primary key, b) without rowid',
        {'integrity of table t': NO_FOO}, True),
    'collation of an index': (
        'create table t(a, b); create index i on t(b collate foo)',
        {'integrity of table t': NO_FOO}, True),
    'collation of a partial index': (
        "create table t(a, b); create index i on t(b) where a > 'x' collate "
        'foo', {'integrity of table t': NO_FOO}, True),
    'collation of a CHECK': (
        "create table t(a collate foo check (a <> 'q'), b)",
        {'integrity of table t': NO_FOO}, True),
    'collation of a generated column': (
        'create table t(a text collate foo, b, g as (a < b))',
        {'table t, column g': NO_FOO}, False),
    'collation of a generated column without rowid': (
        'create table t(a text collate foo primary key, b, g as (a < b)) '
        'without rowid', {'table t, column g': NO_FOO,
                          'integrity of table t': NO_FOO}, False),
    'collation of a parent key': (
        'create table t(a text collate foo primary key, b); create table '
        "c(r text references t(a)); insert into t values('z', 1); "
        "insert into c values('z')",
        {'integrity of table t': NO_FOO,
         'foreign keys of table c': NO_FOO}, True),
    'function of a generated column': (
        'create table t(a, b, g as (myfn(a)))',
        {'table t, column g': NO_FN}, False),
    'function of a stored column': (
        'create table t(a, b, g as (myfn(a)) stored)', {}, True),
    'function of a CHECK': (
        'create table t(a check (myfn(a) <> 1), b)',
        {'integrity of table t': NO_FN}, True),
    'function of an index': (
        'create table t(a, b); create index i on t(myfn(a), b)',
        {'integrity of table t': NO_FN}, True),
    'function of a partial index': (
        'create table t(a, b); create index i on t(b) where myfn(a) > 0',
        {'integrity of table t': NO_FN}, True),
    'function of a view': (
        'create table t(a, b); create view v as select myfn(a) from t', {},
        True),
    'function of a trigger': (
        'create table t(a, b); create trigger g after delete on t begin '
        'select myfn(old.a); end', {}, True),
    'function of a DEFAULT': (
        'create table t(a, b, c default (myfn(1)))', {}, True),
}


def absent(db, sql):
    c = sqlite3.connect(db, isolation_level=None)
    own_program(c)
    c.executescript(sql + ';' + ROWS)
    c.executescript('create table sound(x unique); insert into sound '
                    'values(1), (2)')
    c.close()
    return db


@each(*ABSENT)
def test_what_is_not_there_leaves_rows_read_and_is_named(which):
    sql, missing, whole = ABSENT[which]
    with folder() as d:
        db = absent(f'{d}/app.db', sql)
        got = recover(db, status=(NOT_CHECKED if missing else YES,))
        same({x['what']: x['why'] for x in got['not_checked']}, missing)
        checked = not any('integrity' in x for x in missing)
        same(got['integrity'], 'ok' if checked else 'ok where checked')
        with stock.opened(db, own_program) as c:
            same({t['name']: t['rows'] for t in got['tables']}, stock.rows(c))
        if whole:
            stock.agrees(db, setup=own_program)
        else:
            with stock.opened(db) as c:     # as who does not have it either
                if 'without rowid' not in which:
                    same(got['fingerprint'],
                         stock.fingerprint_oracle.fingerprints(c)[0])
        status, _, summary = diff(db, db)
        same((status, summary['equal']), (NOT_CHECKED if not whole else YES,
                                          True))


@each('an index row is missing', 'a page is used twice')
def test_damage_beside_an_unknown_collation_is_found(which):
    with folder() as d:
        db = absent(f'{d}/app.db', 'create table t(a text collate foo primary'
                    ' key, b)')
        c = sqlite3.connect(db)
        root = dict(c.execute('select name, rootpage from sqlite_master'))
        c.close()
        with open(db, 'rb') as f:
            raw = f.read()
        index = (root['sqlite_autoindex_sound_1'] - 1) * PAGE
        entry = raw.index(b'\3\1\1\2\2', index)
        assert entry < index + PAGE
        if which == 'a page is used twice':
            # The freelist has a page of a table, too.
            put(db, 32, struct.pack('>2I', root['sound'], 1))
        else:                   # 5 in place of 2, in good order
            put(db, entry + 3, b'\5')
        got = recover(db, status=(NO,))
        has(got['integrity'], '*** in database main ***' if 'page' in which
            else 'row 2 missing from index sqlite_autoindex_sound_1')


def test_an_unknown_module_leaves_its_shadow_tables_read():
    with folder() as d:
        db = make(f'{d}/app.db', 'create virtual table f using fts5(body)',
                  "insert into f values('one'), ('two')",
                  'create table t(x); insert into t values(1)')
        c = sqlite3.connect(db, isolation_level=None)
        c.executescript('pragma writable_schema=1; update sqlite_schema set '
                        "sql='create virtual table f using nosuch(body)' "
                        "where name='f'")
        c.close()
        got = stock.agrees(db)
        rows = {t['name']: t['rows'] for t in got['tables']}
        same((rows['f_content'], rows['t']), (2, 1))
        r = run('query', db, 'select * from f')
        assert r.status not in (YES, NOT_CHECKED), r.out
        has(r.err, 'no such module: nosuch')


def test_a_view_that_can_not_be_read_is_text():
    with folder() as d:
        db = make(f'{d}/app.db', 'create table t(x); insert into t values(1)',
                  'create view v as select x from t',
                  'create view w as select * from v')
        patch(db, b'select x from t', b'select y from u')
        stock.agrees(db, status=(YES,))
